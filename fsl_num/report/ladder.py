"""The ladder from SGD to the scaling law as a picture and as text: how far each rung is from the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich.text import Text

from fsl_num.report.plots import new_figure, plain_decimals
from fsl_num.report.tables import table
from fsl_num.simulate.ladder_rungs import RUNGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fsl_num.simulate.ladder import Gap, Ladder
    from fsl_num.simulate.ladder_breaking import BreakingRate

_STYLES: Final[dict[str, dict[str, Any]]] = {
    "sgd": {"color": "#999999", "linewidth": 3.5, "alpha": 0.5},
    "expected": {"color": "black", "linewidth": 1.8},
    "sde-physical": {"color": "#0072b2", "linewidth": 1.3},
    "sde-intrinsic": {"color": "#56b4e9", "linewidth": 1.3, "linestyle": (0, (4, 4))},
    "volterra": {"color": "#009e73", "linewidth": 1.3},
    "fsl": {"color": "#d55e00", "linewidth": 1.3, "linestyle": "dashed"},
    "asymptotic": {"color": "#aa4499", "linewidth": 1.5, "linestyle": "dotted"},
}
_BELOW: Final[dict[str, Any]] = {
    "frameon": False,
    "fontsize": 8,
    "loc": "upper center",
    "bbox_to_anchor": (0.42, -0.22),
    "handlelength": 1.8,
}
_SHADES: Final = ("#fdae6b", "#f16913", "#a63603", "#4a1486")


def ladder_figure(ladder: Ladder, title: str) -> Figure:
    """Draw the risks of all rungs, the distance of each to the next, and the learning rates at which they break.

    The last panel is left out where the ladder has no breaking rates; ``title`` stands above the risks. Raises
    ImportError where matplotlib is not installed.
    """
    figure = new_figure((10.6, 7.0))
    breaking = bool(ladder.breaking)
    layout: list[Any] = [["risks", "gaps"], ["risks", "breaking"]] if breaking else [["risks", "gaps"]]
    axes = figure.subplot_mosaic(layout, width_ratios=[1.0, 1.15])
    risks, gaps = axes["risks"], axes["gaps"]
    for curve in ladder.curves:
        drawn = curve.step > 0  # a logarithmic axis has no place for step 0
        risks.loglog(curve.step[drawn], curve.excess_risk[drawn], label=RUNGS[curve.method], **_STYLES[curve.method])
    if max(curve.excess_risk.max() for curve in ladder.curves) < 300.0 * min(
        curve.excess_risk.min() for curve in ladder.curves
    ):
        plain_decimals(risks)
    risks.set(xlabel="step $k$", ylabel=r"excess risk $\mathcal{E}_k$")
    risks.set_title(title, fontsize=10)
    risks.legend(frameon=False, fontsize=9, loc="lower left")
    ladder.plot(gaps)
    for line in gaps.lines:
        line.set(linewidth=1.3)
    for gap, line in zip(_drawn_gaps(ladder), gaps.lines, strict=True):
        line.set(**{**_STYLES[gap.next_rung], "linewidth": 1.4, "alpha": 1.0, "label": _between(gap)})
    gaps.set_ylim(bottom=1e-5)
    gaps.legend(ncols=2, **_BELOW)
    gaps.set_title("relative distance of each rung to the next", fontsize=10)
    if breaking:
        _draw_breaking(axes["breaking"], ladder.breaking)
    for ax in axes.values():
        ax.grid(alpha=0.25, which="major")
    return figure


def ladder_text(ladder: Ladder) -> list[Any]:
    """A table of the distances of each rung to the next, and the learning rates at which the approximations break.

    >>> from fsl_num.model import Model
    >>> from fsl_num.report.tables import rendered
    >>> from fsl_num.simulate.ladder import ladder
    >>> from fsl_num.simulate.regression import Regression
    >>> model = Regression(Model(s=0.5, beta=2.0, size=8, noise=1.0))
    >>> rungs = ladder(model, "cosine", peak=0.1, steps=50, thresholds=())
    >>> rendered(*ladder_text(rungs)).splitlines()[0].split()[:4]
    ['rung', 'next', 'largest', 'distance']
    """
    rows = [
        (
            RUNGS[gap.rung] if gap.rung != gap.next_rung else "the same, simulated", RUNGS[gap.next_rung],
            f"{gap.largest:.2e}", str(gap.at), f"{gap.end:.2e}", f"{gap.noise:.2g}" if gap.noise else "-",
        )
        for gap in ladder.table
    ]  # fmt: skip
    headings = ("rung", "next", "largest distance", "at step", "at the end", "noise of sampling")
    parts: list[Any] = [table(headings, rows, right=range(2, 6))]
    if ladder.breaking:
        parts += ["", "peak learning rates at which a rung and the next are further apart, over the whole run"]
        parts += [
            Text(f"{RUNGS[broken.rung]} - {RUNGS[broken.next_rung]}, {broken.threshold:.0%}: {broken.message}")
            for broken in ladder.breaking
        ]
    return parts


def _drawn_gaps(ladder: Ladder) -> list[Gap]:
    """The gaps that :meth:`Ladder.plot` draws: those that are not 0 throughout."""
    return [gap for gap in ladder.table[: len(ladder.curves) - 1] if gap.largest > 0.0]


def _between(gap: Gap | BreakingRate) -> str:
    return f"{RUNGS[gap.rung]} – {RUNGS[gap.next_rung]}"


def _draw_breaking(ax: Axes, breaking: tuple[BreakingRate, ...]) -> None:
    pairs = list(dict.fromkeys((broken.rung, broken.next_rung) for broken in breaking))
    thresholds = sorted({broken.threshold for broken in breaking})
    shades = {threshold: _SHADES[k % len(_SHADES)] for k, threshold in enumerate(thresholds)}
    for broken in breaking:
        row = len(pairs) - 1 - pairs.index((broken.rung, broken.next_rung))
        ax.plot([broken.lowest, broken.limit], [row, row], color="#cccccc", linewidth=1.0, zorder=1)
        ax.plot([broken.limit], [row], "|", color="black", markersize=11, zorder=2)
        for rate, mark in ((broken.above, ">"), (broken.below, "<")):
            if rate is not None and np.isfinite(rate):
                ax.plot([rate], [row], mark, color=shades[broken.threshold], markersize=7, zorder=3)
    for threshold in thresholds:
        ax.plot([], [], ">", color=shades[threshold], label=f"over {threshold:.0%} apart")
    ax.plot([], [], "|", color="black", markersize=11, label="largest stable rate")
    ax.set_xscale("log")
    ax.set_yticks(range(len(pairs)), [f"{RUNGS[a]} –\n{RUNGS[b]}" for a, b in reversed(pairs)], fontsize=7.5)
    ax.set(xlabel="peak learning rate", ylim=(-0.6, len(pairs) - 0.4))
    ax.set_title("apart above (▸) or below (◂) these learning rates", fontsize=10)
    ax.legend(ncols=3, **_BELOW)
