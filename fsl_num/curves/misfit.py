r"""What a law misses: a process over the states of training, correlated from row to row and from run to run.

No law is exact, and it errs alike where training is in like states. The state of a run at a row has three coordinates:
the logarithms of the intrinsic time t and of the peak rate, and the share g of the reducible loss at a constant rate
that falling rates have removed. The misfit, of log loss, has the covariance

    size^2 r r' exp(-|log peak/peak'| - |log t/t'| - 2 |g - g'|),

with r the share of the loss that is reducible: far from all states that were fitted little is known of it, near them it
is what the residuals show. Each run differs by a constant more (seeds, data order), and rows scatter with a variance in
proportion to the learning rate, but for a steady share; neighbouring rows carry over a part of it, and runs after
equally many updates share half of it (they see the same batches).

How large the size is, the residuals say, as far as the parameters have not followed the misfit (marginal likelihood,
parameters and misfit integrated out), with a wide expectation beside them. That expectation is the same for all
families of runs; ``tests/fsl_num/curves_intervals.py settings`` compares some, and what they give on a family left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.plan import Plan
from fsl_num.curves.search import Residuals, Task, clipped
from fsl_num.curves.sizes import constant_loss
from fsl_num.results import Result
from fsl_num.validation import Array

EXPECTED: Final = 0.02
"""The size that is expected before any residual is seen: the standard deviation of the reducible loss, relative."""

UNSURE: Final = 0.5
"""The standard deviation of its logarithm: sizes of real families differ by a factor of forty."""

HIDDEN: Final = 2.5
"""The size in units of what residuals show, of which parameters hide a part."""

OWN: Final = 2e-6
"""The variance of log loss by which each run is off as a whole, all its rows alike."""

SAME_BATCHES: Final = 0.5
"""The correlation of the scatter of two runs after equally many updates."""

_SIZES = np.geomspace(5e-5, 0.8, 33)
_CARRIED = np.array([0.0, 0.3, 0.6, 0.8, 0.9])
_ROWS = 400  # of all runs, from which the size is estimated
_OF_GAINS = 2.0  # how fast errors become others with the share gained
_JITTER = 1e-6  # of the variance: runs that branch have rows in equal states


@dataclass(frozen=True, eq=False)
class States(Result):
    """The states of training at the recorded rows of plans: there a law may be wrong.

    ``time``, ``peak``: logarithms of the intrinsic time and of the peak rate. ``gained``: the share of the reducible
    loss of a constant peak rate, after the same intrinsic time, that falling rates have removed; 0 for laws of final
    losses, which know nothing of rates. ``left``: the share of the loss that more training or a lower rate removes.

    >>> from fsl_num.curves.laws import law
    >>> theta = np.array([2.0, 0.3, 0.5, 0.5, 0.9])
    >>> states = States.of(law("momentum"), [Plan([0.1] * 40 + [0.01] * 20, [40, 60])], theta)
    >>> states.gained.round(2).tolist(), states.left.round(3).tolist()
    ([0.0, 1.0], [0.07, 0.0])
    """

    time: Array
    gained: Array
    peak: Array
    left: Array

    @staticmethod
    def of(law: Law, plans: Sequence[Plan], theta: Array, losses: Array | None = None) -> States:
        """Return the states of all rows under a law with the parameters ``theta``; ``losses`` there, where known."""
        if losses is None:
            losses = np.concatenate([[], *(law.bind([plan], "coarse").losses(theta) for plan in plans)])
        ends = np.cumsum([plan.recorded.size for plan in plans])[:-1]
        rows = [_state(law, plan, theta, loss) for plan, loss in zip(plans, np.split(losses, ends), strict=False)]
        return States(*np.concatenate([np.zeros((4, 0)), *rows], axis=1))

    @staticmethod
    def at_end(time: float, peak: float, loss: float, constant: float, limit: float) -> States:
        """Return the state of a run at its end: intrinsic time, peak rate, its loss, that of a ``constant`` rate after
        the same intrinsic time, and the ``limit`` that no training removes.

        >>> States.at_end(1.0, 1.0, 2.5, 3.0, 2.0).gained.tolist()
        [0.5]
        """
        place, losses = np.log([[time], [peak]]), np.array([[loss], [constant]])
        return States(*_rows(place[0], place[1], losses[0], losses[1], limit))

    def covariance(self, states: States) -> Array:
        """Return the covariance of the misfits here and at others, in units of the size squared.

        >>> state = States(*np.ones((4, 1)))
        >>> state.covariance(States(*np.array([[1.0], [1.0], [2.0], [0.5]]))).round(3).tolist()
        [[0.184]]
        """
        time, gained, peak = (
            np.abs(np.subtract.outer(here, there))
            for here, there in ((self.time, states.time), (self.gained, states.gained), (self.peak, states.peak))
        )
        return np.asarray(np.outer(self.left, states.left) * np.exp(-peak - time - _OF_GAINS * gained))


def _state(law: Law, plan: Plan, theta: Array, loss: Array) -> Array:
    """The four rows of the states of one plan at its losses."""
    time, peak = np.log(plan.intrinsic_time), np.full(plan.recorded.size, np.log(plan.peak))
    limit = constant_loss(law, theta, plan.model_size)
    if law.final_only:
        return _rows(time, peak, loss, loss, limit)
    count = max(round(float(plan.intrinsic_time[-1]) / plan.peak), 1)
    step = np.clip(np.round(plan.intrinsic_time / plan.peak), 1, count).astype(np.int64)
    known, place = np.unique(step, return_inverse=True)
    flat = Plan(np.full(count, plan.peak), known, 0, float(np.mean(plan.batch_sizes)), plan.model_size)
    return _rows(time, peak, loss, law.bind([flat], "coarse").losses(theta)[place], limit)


def _rows(time: Array, peak: Array, loss: Array, constant: Array, limit: float) -> Array:
    """The four rows of states, from the losses there, those of a ``constant`` rate, and what no training removes."""
    loss, constant = np.maximum(loss, 1e-12), np.maximum(constant, 1e-12)
    left = np.maximum(1.0 - limit / loss, 0.0)
    gained = np.clip((constant - loss) / np.maximum(constant - limit, 1e-12), 0.0, 1.0)
    return np.stack([time, gained, peak, left])


@dataclass(frozen=True, eq=False)
class Misfit(Result):
    """What a law misses of the runs fitted, drawn, and what that says of others.

    ``size``: of the misfit, in units of the reducible loss. ``states``: of the rows fitted. ``normal``: independent
    normal numbers, one row a draw, of which the misfits are made.

    >>> misfit = Misfit.drawn(0.01, States(*np.ones((4, 3))), count=2)
    >>> misfit.at_fitted.shape, bool(np.ptp(misfit.at_fitted, axis=1).max() < 1e-4)
    ((2, 3), True)
    """

    size: float
    states: States
    normal: Array

    @staticmethod
    def drawn(size: float, states: States, count: int, seed: int = 0) -> Misfit:
        """Return ``count`` draws, deterministic for given arguments."""
        return Misfit(size, states, np.random.default_rng(seed).normal(size=(count, states.left.size)))

    @cached_property
    def factor(self) -> Array:
        """The lower triangle whose square is the covariance at the rows fitted, in units of the size squared."""
        jitter = np.diag(_JITTER * (self.states.left**2 + _JITTER))
        return np.asarray(np.linalg.cholesky(self.states.covariance(self.states) + jitter))

    @property
    def at_fitted(self) -> Array:
        """The draws at the rows fitted, of log loss: (draws, rows)."""
        return np.asarray(self.size * self.normal @ self.factor.T)

    def elsewhere(self, states: States) -> Array:
        """Return what the draws say of other states, of log loss: (draws, states).

        >>> misfit = Misfit.drawn(0.01, States(*np.ones((4, 1))), count=1)
        >>> bool(abs(misfit.elsewhere(States(*np.ones((4, 1)))) - misfit.at_fitted) < 1e-6)
        True
        """
        return np.asarray(self.size * self.normal @ self._projected(states))

    def conditional(self, states: States, states_beside: States) -> Array:
        """Return the covariance, of log loss, of what the draws do not say of states and those beside them.

        >>> misfit = Misfit.drawn(0.01, States(*np.ones((4, 1))), count=1)
        >>> far = States(*np.array([[9.0], [1.0], [1.0], [1.0]]))
        >>> [round(float(misfit.conditional(states, states)[0, 0]), 7) for states in (misfit.states, far)]
        [0.0, 0.0001]
        """
        known = self._projected(states).T @ self._projected(states_beside)
        return np.asarray(self.size**2 * (states.covariance(states_beside) - known))

    def _projected(self, states: States) -> Array:
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.factor, self.states.covariance(states), lower=True))


def size_of(fitted: Task, theta: Array, residuals: Residuals, widths: Array, states: States) -> tuple[float, float]:
    """Return the root mean square of the sizes that the residuals of a fit leave, and what rows carry over of scatter.

    ``fitted``: the law bound to few rows, of which ``states`` are the states. ``widths``: how far the coordinates of
    the parameters may be off. What is carried over is the correlation of the scatter of neighbouring rows.
    """
    every = slice(None, None, -(-states.left.size // _ROWS))
    values, jacobian = fitted.bound(theta)
    slopes = ((jacobian / values[:, None]) @ fitted.chart.slopes(fitted.chart.forward(theta)) * widths)[every]
    scatter = np.sqrt(residuals.turbulence * np.concatenate([residuals.rates(plan) for plan in fitted.plans]))[every]
    off = scatter * clipped((np.log(fitted.target.observed) - np.log(values))[every] / scatter)
    part = States(states.time[every], states.gained[every], states.peak[every], states.left[every])
    missed, same, apart = part.covariance(part), *_rows_apart(fitted.plans, residuals.rows, every)
    known = (OWN + residuals.seeds) * same + slopes @ slopes.T + 1e-3 * np.diag(scatter**2)
    shared = np.where(same, 1.0, SAME_BATCHES) * np.outer(scatter, scatter)
    logs = [_evidence(off, known + shared * carried**apart / (1.0 - carried), missed) for carried in _CARRIED]
    log = np.array(logs) - 0.5 * (np.log(_SIZES / EXPECTED) / UNSURE) ** 2
    probable = np.exp(log - log.max())
    probable /= probable.sum()
    return float(HIDDEN * np.sqrt(probable.sum(axis=0) @ _SIZES**2)), float(probable.sum(axis=1) @ _CARRIED)


def _rows_apart(plans: Sequence[Plan], count: int, every: slice) -> tuple[Array, Array]:
    """Which rows are of one run, and how far any two lie apart, in units of the mean distance of ``count`` in all."""
    run = np.repeat(np.arange(len(plans)), [plan.recorded.size for plan in plans])[every]
    step = np.concatenate([plan.recorded for plan in plans])[every]
    spacing = sum(float(np.ptp(plan.recorded)) for plan in plans) / count
    return run[:, None] == run, np.abs(np.subtract.outer(step, step)) / max(spacing, 1.0)


def _evidence(off: Array, known: Array, missed: Array) -> Array:
    """The logarithms of the likelihoods, but for a constant, of residuals with the covariance known + size^2 missed."""
    lower = np.linalg.cholesky(known)
    inverse = np.linalg.inv(lower)
    powers, frame = np.linalg.eigh(inverse @ missed @ inverse.T)
    spread = 1.0 + _SIZES[:, None] ** 2 * np.maximum(powers, 0.0)
    seen = (frame.T @ (inverse @ off)) ** 2 / spread
    return np.asarray(-0.5 * (seen + np.log(spread)).sum(axis=1) - np.log(np.diag(lower)).sum())
