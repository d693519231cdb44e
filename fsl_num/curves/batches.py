"""Batch sizes of the runs fitted: whether they enter the law, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.laws.functional import FunctionalLaw
from fsl_num.curves.laws.shared import rescaled
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array, positive

_ALIKE = 1.25  # counts of tokens are rounded, and vary where sequences do
_CHANGES = 16


def batch_range(plans: Sequence[Plan]) -> tuple[float, float]:
    """Return the smallest and the largest batch size of any update of the plans.

    >>> batch_range([Plan([0.1]), Plan([0.1, 0.1], batch_sizes=[4, 8])])
    (1.0, 8.0)
    """
    return min(float(plan.batch_sizes.min()) for plan in plans), max(float(plan.batch_sizes.max()) for plan in plans)


def last_batch(plan: Plan) -> float:
    """Return the batch size with which a run goes on: the last; where it goes up and down all the time, the usual one.

    So it does where of its last sixteen changes a quarter at least goes either way; their geometric mean is then usual.

    >>> last_batch(Plan([0.1] * 4, batch_sizes=[8, 8, 8, 16])), last_batch(Plan([0.1] * 18, batch_sizes=[4, 9] * 9))
    (16.0, 6.0)
    """
    sizes, starts = plan.batch_sizes, np.flatnonzero(plan.new_batches())[-_CHANGES:]
    moves = np.diff(sizes[starts])
    either_way = min(np.count_nonzero(moves > 0.0), np.count_nonzero(moves < 0.0))
    if 4 * either_way < _CHANGES:
        return float(sizes[-1])
    return float(np.exp(np.log(sizes[starts[0] :]).mean()))


def knows_batches(law: Law) -> TypeGuard[FunctionalLaw]:
    """Return whether the batch size enters a law.

    >>> knows_batches(FunctionalLaw(batches=True)), knows_batches(FunctionalLaw())
    (True, False)
    """
    return isinstance(law, FunctionalLaw) and law.batches


def with_batches(law: FunctionalLaw, plans: Sequence[Plan]) -> FunctionalLaw:
    """Return the law with batch sizes where all plans say theirs; with the median of their last as reference.

    Where all are equal, the losses say nothing of how noise falls with them, but theory does: a schedule with others is
    predicted in an interval that knows it.

    >>> with_batches(FunctionalLaw(), [Plan([0.1], batch_sizes=8), Plan([0.1], batch_sizes=32)]).reference_batch
    20.0
    >>> with_batches(FunctionalLaw(), [Plan([0.1], batch_sizes=8), Plan([0.1])]).batches
    False
    """
    if any(plan.batches_unsaid for plan in plans):
        return law
    return replace(law, batches=True, reference_batch=float(np.median([last_batch(plan) for plan in plans])))


def batch_words(law: Law, plans: Sequence[Plan]) -> tuple[str, bool]:
    """Return what is done with batch sizes that differ, and whether that is a warning; "" where nothing is to be said.

    >>> batch_words(FunctionalLaw(), [Plan([0.1], batch_sizes=8), Plan([0.1], batch_sizes=32)])[0]
    'The law fsl knows no batch sizes: those of the runs, 8 to 32, are not used. The default law uses them.'
    """
    low, high = batch_range(plans)
    if law.final_only or high <= _ALIKE * low:
        return "", False
    if knows_batches(law):
        share = f"(B/{law.reference_batch:g})"
        form = f"steps lengthen as {share}^r, noise falls as {share}^-(q (1 - r))"
        return (
            f"Batch sizes, {low:g} to {high:g}: {form if law.paced else f'noise falls as {share}^-q'}; a schedule that"
            f" says none is taken at {law.reference_batch:g}."
        ), False
    silent = [plan.name for plan in plans if plan.batches_unsaid]
    if silent:
        return (
            f"No batch size is known of {', '.join(silent[:3])}{', ...' * (len(silent) > 3)}, or it is 1, so that those"
            f" of the others, up to {high:g}, are not used: say all of them (a column, batch_size=, --batch-size)."
        ), True
    return (
        f"The law {law.name} knows no batch sizes: those of the runs, {low:g} to {high:g}, are not used. The default"
        " law uses them."
    ), True


def other_batches(law: Law, plan: Plan, fitted: Sequence[Plan]) -> float:
    """Return how many times larger or smaller a batch of the plan is than all that a law with batches was fitted to.

    >>> law, fitted = FunctionalLaw(batches=True), [Plan([0.1], batch_sizes=8), Plan([0.1], batch_sizes=32)]
    >>> other_batches(law, Plan([0.1], batch_sizes=64), fitted), other_batches(law, Plan([0.1]), fitted)
    (2.0, 1.0)
    """
    if not knows_batches(law) or not fitted or plan.batches_unsaid:
        return 1.0
    (least, most), (low, high) = batch_range([plan]), batch_range(fitted)
    return max(most / high, low / least, 1.0)


def asked_batch(law: Law, batch_size: Any) -> float:
    """Return a batch size that is asked for, checked: of a law that knows them 1 says none, and is refused.

    >>> asked_batch(FunctionalLaw(batches=True, reference_batch=8.0), 16), asked_batch(FunctionalLaw(), 1)
    (16.0, 1.0)
    """
    size = positive("batch_size", batch_size)
    if knows_batches(law) and size == 1.0:
        raise ValueError(
            "batch_size must not be 1, which says none: this fit would take it for its reference,"
            f" {law.reference_batch:g}; where updates of one sample are meant, say all batch sizes in tokens, those of"
            " the runs fitted too"
        )
    return size


def said_batches(law: Law, batch_sizes: Array | float) -> Array:
    """Return the batch sizes of steps as a law takes them: where all are 1, which says none, its reference.

    >>> said_batches(FunctionalLaw(batches=True, reference_batch=8.0), np.array([1.0, 1.0])).tolist()
    [8.0, 8.0]
    """
    sizes = np.asarray(batch_sizes, dtype=np.float64)
    if knows_batches(law) and (sizes == 1.0).all():
        return np.full_like(sizes, law.reference_batch)
    return sizes


def alike_batches(plan: Plan, batch_size: float) -> bool:
    """Return whether all updates of a plan have that batch size, or nearly.

    >>> alike_batches(Plan([0.1, 0.1], batch_sizes=[8, 9]), 8.0), alike_batches(Plan([0.1], batch_sizes=16), 8.0)
    (True, False)
    """
    low, high = batch_range([plan])
    return batch_size <= _ALIKE * low and high <= _ALIKE * batch_size


def at_batch(law: Law, theta: Array, batch_size: float) -> tuple[Law, Array]:
    """Return a law of one batch size that equals ``law`` there, and its parameters, shape (..., parameters).

    A law that knows no batch sizes is returned as it is; ``batch_size`` 1 says none, and is the reference.

    >>> law = FunctionalLaw(batches=True, reference_batch=8.0)
    >>> single, scaled = at_batch(law, np.array([2, 0.5, 0.4, 0.5, 9, 0.5, 5, 0.8, 1.0, 0.5]), 32.0)
    >>> single.names, scaled.tolist()
    (('L0', 'A', 'B', 's', 'c', 'gamma', 'c_e', 'p'), [2.0, 0.5, 0.2, 0.5, 18.0, 0.5, 10.0, 0.8])
    """
    if not knows_batches(law):
        return law, theta
    values = dict(zip(law.names, np.moveaxis(np.asarray(theta), -1, 0), strict=True))
    larger = np.log((law.reference_batch if batch_size == 1.0 else batch_size) / law.reference_batch)
    r = values.get("r", 0.0)
    values_there = rescaled(law, theta, -values["q"] * (1.0 - r) * larger, r * larger, "q", "r")
    return replace(law, batches=False), values_there
