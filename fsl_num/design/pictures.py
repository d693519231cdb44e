"""The picture of a design; matplotlib is loaded when it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsl_num.curves.pictures import as_drawn, new_axes

if TYPE_CHECKING:
    from fsl_num.design.design import Design


def draw_design(design: Design, ax: Any = None) -> Any:
    """Draw rates above and predicted losses below, of the design and its baselines; return both axes.

    ``ax``: two axes, or None for a new figure.

    >>> callable(draw_design)
    True
    """
    above, below = new_axes(2) if ax is None else ax
    step = np.arange(design.steps)
    for index, (name, each) in enumerate([("design", None), *design.baselines.items()]):
        rates = design.rates if each is None else each.rates
        loss = design.loss if each is None else each.loss
        color, width = ("C0", 2.0) if each is None else (f"C{index}", 0.9)
        above.plot(step, rates, color=color, linewidth=width, zorder=3 if each is None else 2)
        found = design.predict(rates)
        below.plot(found.step, found.loss, color=color, linewidth=width, label=f"{as_drawn(name)}: {loss:.4f}")
        if each is None and found.lower is not None:
            below.fill_between(found.step, found.lower, found.upper, color=color, alpha=0.2, linewidth=0)
    last = found.loss[-1]
    below.set_ylim(top=float(last + 3.0 * abs(found.loss[found.loss.size // 4] - last)))
    if design.done > design.plan.warmup:
        above.axvline(design.done, color="0.5", linewidth=0.7)
    above.set_ylabel("learning rate")
    below.set_ylabel("predicted loss")
    below.set_xlabel("step")
    below.legend(loc="upper right", fontsize="small")
    return above, below
