r"""What the curves leave open: draws of the parameters, together with what the law itself may miss.

The error of a prediction has two parts, which are drawn together,

    parameters - misfit,

because the parameters followed what the law missed of the runs fitted (:mod:`~fsl_num.curves.misfit`). The law is
fitted again to its own losses with a drawn misfit and scatter added, and to expectations that are drawn as well
(randomise, then optimise), which is exact for a linear law and follows a bent one. Near the states that were fitted the
misfit drawn there cancels most of what the parameters follow; far from them it is added. Parameters of which neither
the curves nor the theory say anything wander over their range: the prediction of a schedule that needs them is wide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.misfit import OWN, Misfit, States, size_of
from fsl_num.curves.plan import Plan
from fsl_num.curves.search import Residuals, Task
from fsl_num.curves.sizes import respread
from fsl_num.curves.solve import Pull, Target, descend
from fsl_num.results import Result
from fsl_num.validation import Array, proper_share

FEWEST_DRAWS: Final = 24
"""Draws of the parameters where the curves are many; of one curve alone three times as many take as long."""

_LARGEST = 300.0
_STEPS = 15  # of a descent that starts at the fit
_SETTLED = 1e-2  # a share of the objective of a draw, which is of the order of one half a parameter
_NOTHING = 1e-290  # of the loss, moved by a unit of a coordinate
_RANGE = 0.25  # of a parameter: its standard deviation where nothing is known


@dataclass(frozen=True, eq=False)
class Posterior(Result):
    """What intervals are made of.

    ``samples``: parameters, shape (draws, parameters). ``residuals``: what those of the fit say. ``misfit``: what the
    law misses, one draw with each of the samples. ``scatter``: where the rows fitted are averages, the spread of single
    rows about them, of log loss; else 0.
    """

    samples: Array
    residuals: Residuals
    misfit: Misfit
    scatter: float = 0.0

    def errors(self, law: Law, plan: Plan, theta: Array) -> tuple[Array, Array, States]:
        """Return drawn errors of the law at the recorded steps, (draws, recorded), of log loss, divided by the root of
        their number; the covariance of what more the law may miss, (recorded, recorded); and the states there.
        """
        bound = law.bind([plan], "coarse")  # of a spread three digits are plenty
        moved = np.stack([np.log(np.maximum(bound.losses(sample), 1e-12)) for sample in self.samples])
        losses = bound.losses(theta)
        states = States.of(law, [plan], theta, losses)
        drawn = moved - np.log(losses) - self.misfit.elsewhere(states)
        return np.asarray(drawn / np.sqrt(len(drawn))), OWN + self.misfit.conditional(states, states), states

    def spread(self, law: Law, plan: Plan, theta: Array, known: tuple[Plan, Array, float] | None = None) -> Array:
        """Return the standard deviation of the law's error at the recorded steps, without the noise of single rows.

        ``known``: a plan with one row whose error is measured, the shares of it by which the predictions are moved, and
        the variance by which it is known.
        """
        drawn, conditional, states = self.errors(law, plan, theta)
        variance = np.diag(conditional)
        if known is not None:
            there, shares, noise = known
            seen, missed, end = self.errors(law, there, theta)
            drawn = drawn - seen * shares
            covariance = OWN + self.misfit.conditional(states, end)[:, 0]
            variance = variance - 2.0 * shares * covariance + shares**2 * (missed[0, 0] + noise)
        return np.asarray(np.sqrt((drawn**2).sum(axis=0) + variance))

    def noise(self, plan: Plan) -> Array:
        """Return the standard deviation of single rows of single runs, of log loss, at the recorded steps.

        >>> misfit = Misfit.drawn(0.01, States(*np.ones((4, 1))), 1)
        >>> posterior = Posterior(np.zeros((1, 1)), Residuals(1e-3, 9, 9, turbulence=1e-3), misfit)
        >>> posterior.noise(Plan([0.1, 0.025], [1, 2])).round(4).tolist()
        [0.01, 0.005]
        """
        rough = self.residuals.turbulence * self.residuals.rates(plan) / (1.0 - self.residuals.carried)
        return np.asarray(np.sqrt(rough + self.scatter**2 + self.residuals.seeds))


def half_width(spread: Array, level: float) -> Array:
    """Return the half-width of an interval of nominal ``level``, of log loss, from a standard deviation.

    >>> half_width(np.array([0.1]), 0.9).round(3).tolist()
    [0.164]
    """
    from scipy.special import ndtri

    return np.asarray(float(ndtri(0.5 + 0.5 * proper_share("level", level))) * spread)


def draw(
    fitted: Task, theta: Array, residuals: Residuals, seed: int = 0, count: int = FEWEST_DRAWS
) -> tuple[Array, Misfit, Residuals]:
    """Return draws of the parameters, shape (count, parameters), and of the misfit, and the residuals with what rows
    carry over of scatter; deterministic for given arguments.

    ``fitted``: the law bound to few rows, of which as much is known as the ``residuals`` of the fit to all of them say.
    """
    stream = np.random.default_rng((seed, 1))
    values, width = fitted.bound.losses(theta), widths(fitted, theta)
    weights = fitted.target.influence(np.log(fitted.target.observed) - np.log(values))
    states = States.of(fitted.law, fitted.plans, theta)
    size, carried = size_of(fitted, theta, residuals, width, states)
    misfit = Misfit.drawn(size, states, count, seed)
    sizes = [plan.recorded.size for plan in fitted.plans]
    few = values.size / residuals.rows  # each row stands for several, and scatter carried over for fewer
    long = few * residuals.turbulence * (1.0 + carried) / (1.0 - carried) ** 2
    rough = np.sqrt(long * np.concatenate([residuals.rates(plan) for plan in fitted.plans]))
    centre, strength = fitted.chart.forward(theta), few * residuals.dispersion * fitted.counted(theta) / width**2
    samples = []
    for moved, missed in zip(_directions(count, theta.size, stream), misfit.at_fitted, strict=True):
        apart = np.repeat(np.sqrt(OWN + residuals.seeds) * stream.normal(size=len(sizes)), sizes)
        noise = missed + apart + rough * stream.normal(size=values.size)
        again = Target(values * np.exp(np.clip(noise, -_LARGEST, _LARGEST)), weights, "log-squares")
        pull = Pull(centre + width * moved, strength)
        samples.append(
            descend(fitted.bound, again, fitted.chart, theta, _STEPS, pull=pull, settled_below=_SETTLED).theta
        )
    return respread(fitted.law, np.array(samples), fitted.plans, stream), misfit, replace(residuals, carried=carried)


def widths(fitted: Task, theta: Array) -> Array:
    """Return how far each coordinate may be off where the curves say nothing: as expected, else a quarter of its range.

    The range of a linear parameter is that over which its term grows from nothing to the whole loss. What moves nothing
    is left where it is.
    """
    x = fitted.bound.columns(theta[fitted.law.linear_count :])[0]
    span, moved = fitted.chart.high - fitted.chart.low, np.abs(x).max(axis=0)
    slopes = np.diag(fitted.chart.slopes(fitted.chart.forward(theta)))[: moved.size]
    moved = moved * slopes  # 0 for the noise from a signal that is nothing
    span[: moved.size] = np.divide(
        fitted.target.observed.max(), moved, out=np.full(moved.size, 1e-6), where=moved > _NOTHING
    )
    expected = fitted.widening * fitted.chart.width
    return np.where(np.isfinite(expected), expected, _RANGE * span)


def _directions(count: int, size: int, stream: np.random.Generator) -> Array:
    """Return vectors of ``size`` normal numbers, orthogonal in each group of ``size`` of them.

    So a few of them already reach into every direction as far as many independent ones would on average.
    """
    frames = []
    for _ in range(-(-count // size)):
        frame, upper = np.linalg.qr(stream.normal(size=(size, size)))
        frames.append(frame * np.sign(np.diag(upper)) * np.sqrt(size))
    return np.concatenate(frames)[:count]
