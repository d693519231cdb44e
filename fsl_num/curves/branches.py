"""Runs that went on from a checkpoint of another run at hand, recognised by where their logs begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from fsl_num.curves.curve import CurveError, LossCurve

LATE: Final = 0.1
"""Of a run: a log that begins behind so much of its steps rather is a branch of another run than one after a warmup."""

_ROWS = 5  # of the other run on either side of where a log begins, with which its first losses are compared
_FAR = 0.25  # of log loss: a branch of a run begins nearer to it
_LOSS = 0.01  # relative: they differ by less, or by less than the rows of either do among themselves
_SCATTER = 1.5  # times that, which of independent rows one in a hundred exceeds, and that itself one in fifteen
_CHANGES = 3.0  # the first rate is at most so many changes from row to row away: a decay 1 - sqrt begins with 2.4
_RATE = 1e-3  # relative: rates that differ by less are one


def with_branches(
    curves: Sequence[LossCurve], parent: LossCurve | None = None, at: int | None = None
) -> list[LossCurve]:
    """Return the curves, each that begins where another one was, in rate and loss, as a branch of that run.

    A log that begins behind a tenth of its steps says nothing of most learning rates; those before its first row are
    those of the one run that was there (:meth:`~fsl_num.curves.curve.LossCurve.branched`), and its ``notes`` say so.
    Where several with different rates were there, none is taken, and the notes name them. A curve whose warmup was said
    to be 0 is left as it is: its first rate held from the first update on.

    ``parent``: a run, given too or not, of which all curves are branches that begin late, or before the update ``at``
    from which they count, but for those that begin where another run was, or far from this one (with a loss that
    differs by a quarter, or a rate above its peak). Raises CurveError where none is a branch of it.

    >>> trunk = LossCurve(range(10, 110, 10), np.linspace(3.0, 2.5, 10), lr=[0.2] * 10, name="trunk")
    >>> decay = LossCurve(range(80, 120, 10), [2.65, 2.5, 2.4, 2.3], lr=[0.2, 0.15, 0.1, 0.05], name="decay")
    >>> with_branches([decay, trunk])[0].notes[0][:56]
    'begins where trunk was at step 80, in rate and loss: tak'
    >>> drop = LossCurve([90, 100, 110], [2.5, 2.48, 2.47], lr=[0.02] * 3, name="drop")
    >>> [curve.plan.rates[50].round(3).tolist() for curve in with_branches([drop, trunk], parent=trunk)]
    [0.2, 0.2]
    """
    resolved: dict[int, LossCurve] = {}
    for index in sorted(range(len(curves)), key=lambda index: int(curves[index].step[0])):
        curve, others = curves[index], list(resolved.values())
        resolved[index] = as_branch(curve, others) if parent is None else _of(parent, at, curve, others)
    branches = [resolved[index] for index in range(len(curves))]
    if parent is not None and all(curve is branch for curve, branch in zip(curves, branches, strict=True)):
        begins = "behind a tenth of its steps" if at is None else f"there or before update {at}, from which it counts"
        raise CurveError(
            f"none of the runs is a branch of {parent.name} (--branch-of, branch_of=): the log of a branch begins"
            f" {begins}, at a rate of at most its peak, and at a loss that differs from its own there by less than a"
            " quarter"
        )
    return branches


def as_branch(curve: LossCurve, others: Sequence[LossCurve]) -> LossCurve:
    """Return the curve, as a branch of the one of the ``others`` that was where it begins, where there is one.

    >>> trunk = LossCurve(range(10, 110, 10), np.linspace(3.0, 2.5, 10), lr=[0.2] * 10, name="trunk")
    >>> decay = LossCurve(range(80, 120, 10), [2.65, 2.5, 2.4, 2.3], lr=[0.2, 0.15, 0.1, 0.05], name="decay")
    >>> as_branch(decay, [trunk]).unseen, as_branch(decay, []).unseen
    (0, 80)
    """
    parents = _parents(curve, others)
    if not parents:
        return curve
    first = int(curve.step[0])
    names = " or ".join(dict.fromkeys(parent.name for parent in parents))
    if any(not _alike(parent, parents[0], first) for parent in parents):
        note = f"begins where {names} was at step {first}: --branch-of says of which it is a branch"
        return replace(curve, notes=(*curve.notes, note))
    parent = parents[0]
    note = (
        f"begins where {parent.name} was at step {first}, in rate and loss: taken for a branch of it, with its rates"
        " before (--warmup 0: its first rate held before)"
    )
    return replace(curve.branched(parent, min(first, parent.plan.rates.size)), notes=(*curve.notes, note))


def _of(parent: LossCurve, at: int | None, curve: LossCurve, others: Sequence[LossCurve]) -> LossCurve:
    """The curve as a branch of a run that was named, unless it is that run, or one of another kind."""
    if _is(curve, parent):
        return curve
    parent = next((other for other in others if _is(other, parent)), parent)  # which may be a branch itself
    places = _parents(curve, [*others, parent])
    if places and not any(place is parent for place in places):
        return as_branch(curve, others)
    first, size, spacing = int(curve.step[0]), curve.plan.rates.size, int(np.diff(curve.step).max(initial=1))
    anew = at is not None and first < at and first <= spacing
    off, off_as_whole = (
        abs(float(np.log(curve.loss[0]) - np.interp(step, parent.step, np.log(parent.loss))))
        for step in (first + (at or 0) * anew, first)
    )
    if off > _FAR or curve.plan.rates[min(first, size - 1)] > (1.0 + _RATE) * parent.plan.peak:
        return curve
    known = curve.lr is None and not curve.unseen  # the rate of every update
    late = first > max(LATE * size, parent.step[0] + spacing) and first >= (at or 0) and not known
    return curve.branched(parent, at) if (off < off_as_whole if anew else late) else curve


def _is(curve: LossCurve, other: LossCurve) -> bool:
    """Whether two curves are of one log."""
    return np.array_equal(curve.step, other.step) and np.array_equal(curve.loss, other.loss)


def _parents(curve: LossCurve, others: Sequence[LossCurve]) -> list[LossCurve]:
    """The runs that were, in rate and loss, where a curve begins late."""
    first, late = int(curve.step[0]), LATE * curve.plan.rates.size
    said = curve.lr is not None and 0 < curve.warmup < first  # a warmup, but not what came behind it
    if len(curve) < 2 or first <= late or not (said or (curve.unseen or 0) > late):
        return []
    return [other for other in others if _was_there(other, curve)]


def _was_there(other: LossCurve, curve: LossCurve) -> bool:
    """Whether another run was, where a log begins, at its rate and near its loss."""
    first, count, spacing = int(curve.step[0]), other.plan.rates.size, int(np.diff(curve.step[:_ROWS]).max())
    before = int(np.searchsorted(other.step, first))
    if before < _ROWS or (other.unseen or 0) > LATE * count or first - count > spacing:
        return False
    rates = curve.plan.rates[np.minimum(curve.step[:_ROWS], curve.plan.rates.size - 1)]
    rate = float(other.plan.rates[min(first, count) - 1])
    change = min(_CHANGES * float(np.abs(np.diff(rates)).max()), 0.5 * rate)
    near, own = np.log(other.loss[before - _ROWS : before + _ROWS]), np.log(curve.loss[:_ROWS])
    apart = abs(float(own[0] - np.median(near)))
    allowed = max(_LOSS, *(_SCATTER * float(np.abs(logs - np.median(logs)).max()) for logs in (near, own)))
    return abs(float(rates[0]) - rate) <= change + _RATE * rate and apart <= allowed


def _alike(run: LossCurve, other: LossCurve, first: int) -> bool:
    """Whether two runs had the same rates up to an update."""
    count = min(first, run.plan.rates.size, other.plan.rates.size)
    rates, others = run.plan.rates[:count], other.plan.rates[:count]
    return bool(np.abs(rates - others).max() <= 0.01 * others.max())
