"""More points a step until two solutions agree: the one loop of one schedule and of many side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.steps.step_rules import MOST_POINTS, Segment, segments


@dataclass(frozen=True, eq=False)
class Refined:
    """The finest ``values`` of u = f + sigma^2, along axis 0 in time; ``worst``, the largest relative difference of f
    from the solution before, up to each time; the ``plan`` that was taken, and all of its ``points``, also of coarser
    plans."""

    values: Array
    worst: Array
    plan: list[Segment]
    points: int


def refine_points(
    march: Callable[[list[Segment]], Array], lengths: Array, fastest: float, noise: float, accuracy: float
) -> Refined:
    """Return what ``march`` finds for a plan whose solution differs from the one before by ``accuracy`` at most.

    ``march``: u at rising times for a plan of points on steps of the ``lengths``, axis 0 the time, a new array each
    time. The last solution is returned where even the most points do not reach the accuracy.

    >>> found = refine_points(lambda plan: np.array([2.0]), np.array([0.1]), 2.0, 1.0, 1e-8)
    >>> float(found.worst[0])
    0.0
    """
    previous: Array | None = None
    points = 0
    for extra in range(MOST_POINTS):
        plan = segments(lengths, fastest, 0.3 * accuracy, extra)
        fine = march(plan)
        points += sum(run.points * (run.high - run.low) for run in plan)
        if previous is not None:
            # by chance two solutions agree at one step: the error is the largest relative one so far
            previous -= fine
            worst = np.maximum.accumulate(np.abs(previous, out=previous) / (fine - noise), axis=0)
            if worst[-1].max() <= accuracy or min(run.points for run in plan) == MOST_POINTS:
                break
        previous = fine
    return Refined(fine, worst, plan, points)
