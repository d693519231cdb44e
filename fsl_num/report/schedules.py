"""A schedule as text, as JSON, as CSV and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from fsl_num.curves.pictures import as_drawn
from fsl_num.report.tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsl_num.schedules.export import Export
    from fsl_num.validation import Array

_AT_PEAK = 1e-12  # of the peak
_ROWS = 9


def facts(rates: Array) -> dict[str, Any]:
    """What a schedule is in numbers: ``rates``, of every update.

    >>> found = facts(np.array([0.0, 0.2, 0.2, 0.1]))
    >>> found["warmup"], found["stable_fraction"], found["decay_fraction"], found["intrinsic_time"]
    (1, 0.5, 0.25, 0.5)
    """
    peak, steps = float(rates.max()), rates.size
    top = np.flatnonzero(rates >= peak * (1.0 - _AT_PEAK))
    sums = np.cumsum(rates)
    return {
        "steps": steps,
        "peak_lr": peak,
        "final_lr": float(rates[-1]),
        "warmup": int(top[0]),
        "stable_fraction": float(top.size / steps),
        "decay_fraction": float((steps - 1 - top[-1]) / steps),
        "intrinsic_time": float(sums[-1]),
        "share_of_constant": float(sums[-1] / (peak * steps)),
        "half_of_intrinsic_time": int(np.searchsorted(sums, 0.5 * sums[-1])) + 1,
    }


def schedule_text(rates: Array, name: str, made: Export | None) -> list[Any]:
    """The schedule in words, and its rates at a few updates."""
    known = facts(rates)
    at = np.unique(np.linspace(0, rates.size - 1, min(_ROWS, rates.size)).round().astype(int))
    rows = [(str(step), f"{rates[step]:.6g}", f"{float(rates[: step + 1].sum()):.6g}") for step in at]
    said = (
        f"{name}: {known['steps']} updates, peak {known['peak_lr']:.6g}, rate of the last one {known['final_lr']:.6g};"
        f" {known['warmup']} updates before the peak, {100 * known['stable_fraction']:.3g} % of them at it,"
        f" {100 * known['decay_fraction']:.3g} % after it. Intrinsic time (sum of the rates)"
        f" {known['intrinsic_time']:.6g}, {100 * known['share_of_constant']:.3g} % of a constant rate's; half of it is"
        f" reached after {known['half_of_intrinsic_time']} updates."
    )
    parts: list[Any] = [Text(said), "", table(("update", "lr", "intrinsic time after it"), rows, right=range(3))]
    if made is not None and made.name:
        parts += ["", Text(f"For {made.framework}, equal at every step: {made.name}")]
    return parts


def schedule_json(rates: Array, name: str, made: Export | None) -> dict[str, Any]:
    """The schedule as JSON-ready values."""
    exported = None
    if made is not None:
        plain = made.arguments is not None and all(map(_plain, made.arguments.values()))
        arguments = dict(made.arguments or {}) if plain else None
        exported = {"framework": made.framework, "name": made.name, "text": made.text, "arguments": arguments}
    return {"name": name, **facts(rates), "export": exported, "lr": rates.tolist()}


def _plain(value: Any) -> bool:
    """Whether a value is one of JSON: no scheduler within a scheduler."""
    if isinstance(value, (list, tuple)):
        return all(map(_plain, value))
    return value is None or isinstance(value, (int, float, str))


def schedule_csv(rates: Array) -> str:
    """The schedule as CSV: update (from 0) and its learning rate.

    >>> schedule_csv(np.array([0.1, 0.05]))
    'step,lr\\n0,0.1\\n1,0.05\\n'
    """
    return "".join(["step,lr\n", *(f"{step},{rate!r}\n" for step, rate in enumerate(rates.tolist()))])


def schedule_figure(rates: Array, name: str) -> Figure:
    """Draw the learning rate over the updates."""
    from fsl_num.report.plots import new_figure

    figure = new_figure((6.8, 3.2))
    axes = figure.subplots()
    axes.plot(np.arange(rates.size), rates, color="#1f5f8b", linewidth=1.6)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("update")
    axes.set_ylabel("learning rate")
    axes.set_title(as_drawn(name), fontsize=10)
    return figure
