"""Pictures of designs; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsl_num.curves.pictures import as_drawn
from fsl_num.results import as_loss, axes_to_draw_on

if TYPE_CHECKING:
    from fsl_num.design.design import Design
    from fsl_num.design.theory import TheoryDesign


def draw_design(design: Design, ax: Any = None) -> Any:
    """Draw the rates of a design and its baselines; return the axes.

    A figure of its own has their predicted losses below: ``ax.figure.axes[1]``. On ``ax`` given stand the rates alone.

    >>> callable(draw_design)
    True
    """
    above, below = axes_to_draw_on(rows=2) if ax is None else (axes_to_draw_on(ax), None)
    step = np.arange(design.steps)
    for index, (name, baseline) in enumerate([("design", None), *design.baselines.items()]):
        rates = design.rates if baseline is None else baseline.rates
        loss = design.loss if baseline is None else baseline.loss
        style = {"color": "C0" if baseline is None else f"C{index}", "linewidth": 2.0 if baseline is None else 0.9}
        label = f"{as_drawn(name)}: {as_loss(loss)}"
        above.plot(step, rates, zorder=3 if baseline is None else 2, label=label, **style)
        if below is not None:
            prediction = design.predict(rates)
            below.plot(prediction.step, prediction.loss, label=label, **style)
            if baseline is None and prediction.lower is not None:
                below.fill_between(
                    prediction.step, prediction.lower, prediction.upper, color="C0", alpha=0.2, linewidth=0
                )
    if design.done > design.plan.warmup:
        above.axvline(design.done, color="0.5", linewidth=0.7)
    above.set_ylabel("learning rate")
    lowest = above if below is None else below
    lowest.set_xlabel("step")
    lowest.legend(loc="upper right", fontsize="small", title="final loss")
    if below is not None:
        last = prediction.loss[-1]
        below.set_ylim(top=float(last + 3.0 * abs(prediction.loss[prediction.loss.size // 4] - last)))
        below.set_ylabel("predicted loss")
    return above


def draw_theory(design: TheoryDesign, ax: Any = None) -> Any:
    """Draw gamma against the samples that are left, both on logarithmic axes, time from left to right; return the axes.

    >>> callable(draw_theory)
    True
    """
    axes = axes_to_draw_on(ax)
    left = np.cumsum(design.samples[::-1])[::-1]
    axes.loglog(left, design.gammas, label=f"excess risk {design.excess_risk:.3g}")
    axes.axhline(design.allowed, color="0.5", linewidth=0.7, linestyle="--", label="the largest allowed")
    axes.set_xlim(float(left[0]), min(1.0, 1e-3 * float(left[0])))
    axes.set_ylim(0.5 * float(design.gammas[left >= min(1.0, 1e-3 * left[0])].min()), 2.0 * design.allowed)
    axes.set_xlabel("samples left")
    axes.set_ylabel("learning rate over batch size")
    axes.legend(loc="lower left", fontsize="small")
    return axes
