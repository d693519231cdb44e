"""Runs that went on from a checkpoint of another run at hand, recognised by where their logs begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from fsl_num.curves.curve import LossCurve

LATE: Final = 0.1
"""Of a run: a log that begins behind so much of its steps rather is a branch of another run than one after a warmup."""

_ROWS = 5  # of the other run on either side of where a log begins, with which its first losses are compared
_LOSS = 0.01  # relative: they differ by less, or by less than those rows do among themselves
_CHANGES = 3.0  # the first rate is at most so many changes from row to row away: a decay 1 - sqrt begins with 2.4
_RATE = 1e-3  # relative: rates that differ by less are one


def with_branches(curves: Sequence[LossCurve]) -> list[LossCurve]:
    """Return the curves, each that begins where another one was, in rate and loss, as a branch of that run.

    A log that begins behind a tenth of its steps says nothing of most learning rates; those before its first row are
    those of the one run that was there (:meth:`~fsl_num.curves.curve.LossCurve.branched`), and its ``notes`` say so.
    Where several with different rates were there, none is taken, and the notes name them. A curve whose warmup was said
    to be 0 is left as it is: its first rate held from the first update on.

    >>> trunk = LossCurve(range(10, 110, 10), np.linspace(3.0, 2.5, 10), lr=[0.2] * 10, name="trunk")
    >>> decay = LossCurve(range(80, 120, 10), [2.65, 2.5, 2.4, 2.3], lr=[0.2, 0.15, 0.1, 0.05], name="decay")
    >>> with_branches([decay, trunk])[0].notes[0][:56]
    'begins where trunk was at step 80, in rate and loss: tak'
    """
    resolved: dict[int, LossCurve] = {}
    for at in sorted(range(len(curves)), key=lambda at: int(curves[at].step[0])):
        resolved[at] = _as_branch(curves[at], list(resolved.values()))
    return [resolved[at] for at in range(len(curves))]


def _as_branch(curve: LossCurve, others: Sequence[LossCurve]) -> LossCurve:
    first, late = int(curve.step[0]), LATE * curve.plan.rates.size
    said = curve.lr is not None and 0 < curve.warmup < first  # a warmup, but not what came behind it
    if len(curve) < 2 or first <= late or not (said or (curve.unseen or 0) > late):
        return curve
    parents = [other for other in others if _was_there(other, curve)]
    if not parents:
        return curve
    names = " or ".join(dict.fromkeys(parent.name for parent in parents))
    if any(not _alike(parent, parents[0], first) for parent in parents):
        note = f"begins where {names} was at step {first}: --branch-of says of which it is a branch"
        return replace(curve, notes=(*curve.notes, note))
    parent = parents[0]
    note = (
        f"begins where {parent.name} was at step {first}, in rate and loss: taken for a branch of it, with its rates"
        " before (--branch-of names another run; --warmup 0: its first rate held before)"
    )
    return replace(curve.branched(parent, min(first, parent.plan.rates.size)), notes=(*curve.notes, note))


def _was_there(other: LossCurve, curve: LossCurve) -> bool:
    """Whether another run was, where a log begins, at its rate and near its loss."""
    first, count, spacing = int(curve.step[0]), other.plan.rates.size, int(np.diff(curve.step[:_ROWS]).max())
    before = int(np.searchsorted(other.step, first))
    if before < _ROWS or (other.unseen or 0) > LATE * count or first - count > spacing:
        return False
    rates = curve.plan.rates[np.minimum(curve.step[:_ROWS], curve.plan.rates.size - 1)]
    rate = float(other.plan.rates[min(first, count) - 1])
    change = min(_CHANGES * float(np.abs(np.diff(rates)).max()), 0.5 * rate)
    near = np.log(other.loss[before - _ROWS : before + _ROWS])
    apart = abs(float(np.log(curve.loss[0]) - np.median(near)))
    allowed = max(_LOSS, float(np.abs(near - np.median(near)).max()))
    return abs(float(rates[0]) - rate) <= change + _RATE * rate and apart <= allowed


def _alike(run: LossCurve, other: LossCurve, first: int) -> bool:
    """Whether two runs had the same rates up to an update."""
    count = min(first, run.plan.rates.size, other.plan.rates.size)
    rates, others = run.plan.rates[:count], other.plan.rates[:count]
    return bool(np.abs(rates - others).max() <= 0.01 * others.max())
