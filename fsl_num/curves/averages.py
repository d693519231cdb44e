"""Long logs averaged over ranges of updates before a fit: the noise of single rows falls, the schedule is untouched.

A log of a million rows says no more to a fit than a thousand averages of them, and a thousand rows picked from it say
much less: with independent noise the averages of m rows each err by the square root of m less. What an average must not
do is to smear the curve itself. So no range crosses a jump of the learning rate, and ranges are short where the curve
bends: a third of them is spread evenly over the updates, a third over the logarithm of the age since warmup or the last
jump (a power law bends on the scale of its age), and a third over the gliding changes of the learning rate.

Averaged is the loss, not its logarithm: the loss of a batch is right on average. A row further from the median of its
range than four robust standard deviations (a spike) counts as if it lay there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fsl_num.validation import Array, whole_count

if TYPE_CHECKING:
    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.plan import Plan

_FEW = 8
_JUMP = 0.01  # of the peak, or of a batch size: a larger change from one update to the next is a jump
_SPIKE = 4.0
_SPIKY_ROWS = 5  # the median and the spread of fewer rows say nothing of spikes
FEWEST: Final = 16
"""Ranges at least: so many are needed to tell one part of a curve from another."""


def ranges(plan: Plan, steps: Any, count: int) -> Any:
    """Return the number of the range, 0, 1, ..., in which each of ``steps`` lies; at most ``count`` ranges.

    None where there would be too few ranges between the jumps of the learning rate: fewer than :data:`FEWEST`, or than
    jumps.

    >>> from fsl_num.curves.plan import Plan
    >>> plan = Plan([0.1] * 50 + [0.01] * 50)
    >>> label = ranges(plan, plan.recorded, 20)
    >>> bool(label[49] < label[50]), int(label[-1]) < 20  # the 50th loss is the last one before the jump
    (True, True)
    """
    change = np.abs(np.diff(plan.rates, prepend=plan.rates[:1]))
    jump = change > _JUMP * plan.peak
    batches = plan.new_batches(_JUMP)
    if batches.sum() <= count // _FEW:  # batches that change all the time, as those counted in tokens may, are averaged
        jump |= batches
    jump[: plan.warmup + 1] = False
    change[: plan.warmup + 1] = 0.0  # the last step of a warmup is no schedule that glides
    places = np.flatnonzero(jump)
    if max(places.size + FEWEST, 2 * places.size) > count:
        return None
    update = np.arange(plan.rates.size)
    age = update - np.maximum.accumulate(np.where(jump | (update == plan.warmup), update, 0))
    first, last = int(steps[0]), int(steps[-1])
    if len(steps) > 1 and first <= plan.warmup:  # no range is shorter than the gap behind the first row
        age = np.maximum(age, int(steps[1]) - first)
    densities = [np.ones(update.size), 1.0 / (1.0 + age), np.where(jump, 0.0, change)]
    place = np.zeros(len(steps))
    totals = [np.cumsum(density[first:last]) for density in densities if density[first:last].any()]
    for total in totals:
        place += np.concatenate([[0.0], total])[np.asarray(steps) - first] / (total[-1] * len(totals))
    # a jump at update u acts on the losses after u + 1 updates and more
    jumped = np.searchsorted(places, steps, side="left")
    free = count - int(jumped[-1] - jumped[0])
    label = jumped + np.minimum((place * free).astype(np.int64), free - 1)
    return np.concatenate([[0], np.cumsum(np.diff(label) > 0)])


def averaged(curve: LossCurve, rows: int) -> LossCurve:
    """Return the curve with at most ``rows`` rows after warmup, each the mean loss of a range of its rows.

    The step of an average is the mean of its steps, to the nearest update. Its number of rows is kept in ``counts``,
    by which a fit weighs it; ``scatter`` is the spread of the single rows about their averages, of log loss. A curve of
    no more rows is returned as it is, and one whose learning rate jumps too often for that is thinned.

    >>> from fsl_num.curves.curve import LossCurve
    >>> curve = LossCurve(range(1, 101), [3.0, 2.0] * 50, lr=[0.1] * 100)
    >>> short = averaged(curve, 20)
    >>> len(short) <= 20, int(short.counts.sum()), round(float(short.loss[-1]), 6)
    (True, 100, 2.5)
    """
    count = whole_count("rows", rows)
    used = curve.used
    if int(used.sum()) <= count:
        return curve
    step, loss = curve.step[used], curve.loss[used]
    label = ranges(curve.plan, step, count)
    if label is None:
        return curve.thinned(count)
    weights = np.ones(loss.size) if curve.counts is None else curve.counts[used]
    counted = np.bincount(label, weights)
    values = _without_spikes(loss, label)
    mean = np.bincount(label, weights * values) / counted
    middle = np.round(np.bincount(label, weights * step) / counted).astype(np.int64)
    first = np.flatnonzero(np.diff(label, prepend=-1))
    size = np.diff(np.append(first, label.size))
    shared = size[label] > 1
    scatter = 0.0
    if shared.any():
        # the mean of n rows has taken up 1/n of their variance
        free = np.sqrt(size / np.maximum(size - 1, 1))[label]
        # of a normal distribution 68.27 % lie within one standard deviation: no spike moves that
        scatter = float(np.quantile(np.abs((loss / mean[label] - 1.0) * free)[shared], 0.6827))
    return curve.replaced(
        middle,
        mean,
        rows=curve.rows[used][first],
        counts=counted,
        scatter=float(np.hypot(scatter, curve.scatter)),
        smoothing=_joined(curve.smoothing, f"averages of {loss.size} rows over {mean.size} ranges of updates"),
    )


def _without_spikes(loss: Array, label: Any) -> Array:
    """The losses, none of them further from the median of its range than four robust standard deviations."""
    median = _medians(loss, label)[label]
    reach = _SPIKE * 1.4826 * _medians(np.abs(loss - median), label)[label]
    many = np.bincount(label)[label] >= _SPIKY_ROWS
    return np.where(many, np.clip(loss, median - reach, median + reach), loss)


def _medians(values: Array, label: Any) -> Array:
    order = np.lexsort((values, label))
    first = np.flatnonzero(np.diff(label, prepend=-1))
    size = np.diff(np.append(first, label.size))
    return np.asarray(0.5 * (values[order][first + (size - 1) // 2] + values[order][first + size // 2]))


def _joined(before: str, now: str) -> str:
    return now if before == "none" else f"{before}; {now}"
