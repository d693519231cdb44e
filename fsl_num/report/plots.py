"""Table 1 of the paper as maps over the plane of beta and s: what an optimal allocation gains, and where.

Matplotlib (the extra ``plot``) is imported only when something is drawn, and never through its global figures: a
figure belongs to whoever asked for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, lambdify

from fsl_num.results import axes_to_draw_on
from fsl_sym.allocation import Allocation, AllocationRegime
from fsl_sym.symbols import beta, s

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

TITLES: Final = {"constant": "constant", "exp-decay": "exponential decay", "wsd": "warmup-stable-decay"}
BETA_RANGE: Final = (1.0, 8.0)
S_RANGE: Final = (0.0, 1.6)

_POINTS = 281
_COLOURS = "YlGnBu"
_LOG_COLOUR = "#b3430a"
_POWERS = np.linspace(0.0, 1.0, 11)
_LOG_POWERS = np.array([0.2, 0.4, 0.6, 0.8])
_PLACES = {"easy": (4.6, 1.32), "hard": (4.9, 0.27), "all": (4.5, 0.8)}
"""Where the formula of a regime stands, in (beta, s)."""
_LABELS_AT = {"easy": 1.06, "hard": 7.45}
"""Where the dashed lines bear their numbers: at this s in the easy regime, at this beta in the hard one."""


def exponent_grid(allocation: Allocation, s_values: Any, beta_values: Any) -> tuple[Array, Array]:
    """The decay exponent p and log power q of the least excess risk N^-p (log N)^q on a grid.

    Parameters
    ----------
    allocation
        Of one schedule and budget.
    s_values, beta_values
        Numbers s > 0 and beta > 1. A point counts to the easy regime where s >= 1 - 1/beta in floats: use
        :meth:`fsl_sym.allocation.Allocation.at` for the exact edge.

    Returns
    -------
    tuple
        p and q, each of shape (len(s_values), len(beta_values)).

    Raises
    ------
    ValueError
        Outside s > 0, beta > 1.

    Examples
    --------
    >>> from fsl_sym.allocation import optimal_allocation
    >>> p, q = exponent_grid(optimal_allocation("wsd", "data"), [0.5], [4.0])
    >>> p.tolist(), q.tolist()
    ([[0.5]], [[0.0]])
    """
    rows, columns = np.asarray(s_values, dtype=np.float64), np.asarray(beta_values, dtype=np.float64)
    if not (rows > 0).all() or not (columns > 1).all():
        raise ValueError("s must be positive and beta above 1 at every point of the grid")
    s_grid, beta_grid = np.meshgrid(rows, columns, indexing="ij")
    easy = s_grid >= 1.0 - 1.0 / beta_grid

    def values(expressions: dict[str, Expr]) -> Array:
        by_regime = {
            name: lambdify((s, beta), expression, modules="numpy")(s_grid, beta_grid) + np.zeros_like(s_grid)
            for name, expression in expressions.items()
        }
        return np.asarray(np.where(easy, by_regime["easy"], by_regime["hard"]), dtype=np.float64)

    risks = {name: allocation.regime(name).excess_risk for name in ("easy", "hard")}
    powers = values({name: -risk.power for name, risk in risks.items()})
    return powers, values({name: risk.log_power for name, risk in risks.items()})


def exponent_map(allocation: Allocation, *, ax: Axes | None = None) -> Axes:
    """Draw the least excess risk N^-p (log N)^q of one schedule and budget over the plane of beta and s.

    Colour is p, dashed lines are q, the line between the regimes is s = 1 - 1/beta, and each regime bears its formula.

    Parameters
    ----------
    allocation
        Of one schedule and budget.
    ax
        Axes to draw on; those of a new figure, with the scale of its colours, if None.

    Returns
    -------
    Axes
        The axes drawn on; ``ax.figure`` is their figure.

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from fsl_sym.allocation import optimal_allocation
    >>> exponent_map(optimal_allocation("constant", "data")).get_xlabel()
    'capacity exponent $\\\\beta$'
    """
    alone = ax is None
    ax = new_figure((5.8, 4.0)).subplots() if ax is None else axes_to_draw_on(ax)
    betas = np.linspace(*BETA_RANGE, _POINTS)[1:]
    tasks = np.linspace(*S_RANGE, _POINTS)[1:]
    powers, logs = exponent_grid(allocation, tasks, betas)
    colours = ax.contourf(betas, tasks, powers, levels=_POWERS, cmap=_COLOURS)
    edge = 1.0 - 1.0 / betas
    one_formula = len({str(allocation.regime(name).excess_risk) for name in ("easy", "hard")}) == 1
    if not one_formula:
        ax.plot(betas, edge, color="black", linewidth=1.6)
        easy = tasks[:, None] >= edge
        for name, inside in (("easy", easy), ("hard", ~easy)):
            _draw_logs(ax, betas, tasks, np.where(inside, logs, np.nan), name)
    for name in ("all",) if one_formula else ("easy", "hard"):
        _write_formula(ax, allocation, allocation.regime("easy" if one_formula else name), name)
    ax.set(xlim=BETA_RANGE, ylim=S_RANGE, xlabel=r"capacity exponent $\beta$", ylabel="relative difficulty $s$")
    ax.set_title(f"{TITLES.get(allocation.schedule, allocation.schedule)}, {allocation.budget}-optimal", fontsize=10)
    if alone:
        base = allocation.base
        logs_drawn = "" if one_formula else ", dashed lines are $q$"
        ax.figure.colorbar(colours, ax=ax).set_label(rf"$p$ in ${base}^{{-p}}\,(\log {base})^{{q}}${logs_drawn}")
    return ax


def table_map(rows: Sequence[tuple[Allocation, Allocation]]) -> Figure:
    """Draw Table 1: a map for each schedule (columns) and budget (rows), with one scale of colours.

    Parameters
    ----------
    rows
        What :func:`fsl_sym.allocation.table` returns: for each schedule the allocation of data and that of compute.

    Returns
    -------
    Figure
        A figure of its own, ready for ``savefig``.

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from fsl_sym.allocation import table
    >>> len(table_map(table()[:1]).axes)
    3
    """
    figure = new_figure((3.4 * len(rows) + 0.6, 6.2))
    panels = figure.subplots(2, len(rows), sharex=True, sharey=True, squeeze=False)
    for column, pair in enumerate(rows):
        for row, allocation in enumerate(pair):
            ax = exponent_map(allocation, ax=panels[row, column])
            ax.label_outer()
    scale = figure.colorbar(panels[0, 0].collections[0], ax=panels, fraction=0.03, pad=0.015)
    scale.set_label(r"$p$ in the least excess risk  $N^{-p}\,(\log N)^{q}$,  $N$ the budget $D$ or $C$", fontsize=10)
    figure.suptitle(
        r"What a learning-rate schedule gains: colour is $p$, dashed lines are $q$, black is $s = 1 - 1/\beta$",
        fontsize=12,
    )
    return figure


def _draw_logs(ax: Axes, betas: Array, tasks: Array, logs: Array, regime: str) -> None:
    """Dashed lines of equal log power in one regime (nan elsewhere), numbered where they leave room for the formula."""
    from matplotlib.patheffects import withStroke

    if regime == "easy":
        line, along = logs[np.argmin(np.abs(tasks - _LABELS_AT["easy"]))], betas
    else:
        line, along = logs[:, np.argmin(np.abs(betas - _LABELS_AT["hard"]))], tasks
    known = np.isfinite(line)
    levels = _LOG_POWERS[(_LOG_POWERS > np.nanmin(logs)) & (_LOG_POWERS < np.nanmax(logs))]
    if not levels.size:
        return
    style: dict[str, Any] = {"colors": _LOG_COLOUR, "linewidths": 1.1, "linestyles": "dashed"}
    lines = ax.contour(betas, tasks, logs, levels=levels, **style)
    numbered = levels[(levels > line[known].min()) & (levels < line[known].max())]
    # Along the line the log power rises, so that the place of each number is read off by interpolation.
    where = [float(place) for place in np.interp(numbered, line[known], along[known])]
    places = [(place, _LABELS_AT["easy"]) if regime == "easy" else (_LABELS_AT["hard"], place) for place in where]
    # all levels may be numbered, each place lies on its own: a choice of them is misread before Matplotlib 3.11
    for label in ax.clabel(lines, fmt="%.1f", fontsize=8.5, inline=False, manual=places):
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        label.set_rotation(0)


def _write_formula(ax: Axes, allocation: Allocation, regime: AllocationRegime, place: str) -> None:
    formula = regime.excess_risk.as_latex(allocation.base)
    title = "" if place == "all" else f"{place}:  "
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 13, "math_fontfamily": "cm", "bbox": box}
    ax.text(*_PLACES[place], f"{title}${formula}$", **style)


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of ``size`` inches, without a window. Raises ImportError where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "a plot needs matplotlib, which is not installed: install the extra `plot` (in the clone: pip install "
            "'.[plot]')"
        ) from error
    return Figure(figsize=size, dpi=150, layout="constrained")


def plain_decimals(ax: Axes) -> None:
    """A logarithmic axis of few decades, numbered in plain decimals."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
