r"""What the curves leave open: draws of the parameters, and what the law itself may miss.

The spread of a prediction at one row is, in units of log loss,

    spread^2 = parameters^2 + discrepancy^2 + noise^2.

The parameters are drawn from their posterior: the law is fitted again to its own losses with noise added and to
expectations that are drawn as well (randomise, then optimise), which is exact for a linear law and follows a bent one.
The noise that is added has the size and the autocorrelation of the residuals. Parameters of which neither the curves
nor the theory say anything wander over their range: the prediction of a schedule that needs them is then wide.

No law is exact. The discrepancy is what fits to some runs of a family err on its other runs beyond the parameters. It
grows with what neighbouring rows of the curves fitted are off by together, with what falling rates gain, and beyond the
intrinsic times, the peak rates and the gains fitted. Its sizes are the likely ones, rounded, of fits to one, two, three
and five runs of seven families: models of 25M and 100M parameters, one of 124M within and across two peak rates, and
three small ones trained for this (a perceptron, convolutions, a transformer); that of other gains is the one of the
least interval score (``tests/fsl_num/curves_intervals.py share`` chooses it). They change little with one family left
out; where a law is wrong by several per cent, as on a perceptron at the edge of stability, intervals still cover too
little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.plan import Plan
from fsl_num.curves.search import Residuals, Task
from fsl_num.curves.sizes import constant_loss, respread
from fsl_num.curves.solve import Pull, Target, descend
from fsl_num.validation import Array

MISFIT: Final = 3e-7
"""What the law misses, as the variance of log loss by which each curve fitted is off as a whole, all its rows alike."""

DISCREPANCY: Final = 4e-4
"""The standard deviation of what any law misses on other curves beyond that, of log loss, within the intrinsic time of
the curves fitted; beyond it, it grows in proportion."""

SHARED: Final = 2.0
"""The same in units of what neighbouring stretches of the curves fitted are off by together."""

GAINED: Final = 0.03
"""The same for what falling rates gain, as a share of it: the law says least well how much a decay lowers the loss."""

OTHER_GAIN: Final = 0.9
"""The same for a gain that no run fitted had, by that intrinsic time or by its end: a share of the distance to the
nearest, times the share of the loss that training removes."""

OTHER_PEAK: Final = 0.15
"""The same for a peak rate e times larger or smaller than all peaks fitted, as a share of the loss that training
removes; in proportion to the logarithm."""

OWN_NOISE: Final = 1.2
"""The noise of rows that were not fitted, in units of that of the residuals of the fit."""

_DRAWS = 24
_LARGEST = 300.0
_STEPS = 15  # of a descent that starts at the fit
_SETTLED = 1e-2  # a share of the objective of a draw, which is of the order of one half a parameter
_RANGE = 0.25  # of a parameter: its standard deviation where nothing is known


@dataclass(frozen=True, eq=False)
class Reducible:
    """The reducible part of the loss that a law predicts at the recorded steps of a plan: there it may be wrong.

    ``gained``: by how much, of log loss, a constant peak rate would be worse after the same intrinsic times; 0 for laws
    of final losses, which know nothing of rates. ``left``: the share of the loss that more training or a lower rate
    would remove.

    >>> from fsl_num.curves.laws import law
    >>> theta = np.array([2.0, 0.3, 0.5, 0.5, 0.9])
    >>> found = Reducible.of(law("momentum"), Plan([0.1] * 40 + [0.01] * 20, [40, 60]), theta)
    >>> found.gained.round(3).tolist(), found.left.round(3).tolist()
    ([0.0, 0.204], [0.07, 0.0])
    """

    gained: Array
    left: Array

    @staticmethod
    def of(law: Law, plan: Plan, theta: Array) -> Reducible:
        """Return it for a law with the parameters ``theta``."""
        loss = np.maximum(law.bind([plan], "coarse")(theta)[0], 1e-12)
        left = np.maximum(1.0 - constant_loss(law, theta, plan.model_size) / loss, 0.0)
        if law.final_only:
            return Reducible(np.zeros(loss.size), left)
        count = max(round(float(plan.intrinsic_time[-1]) / plan.peak), 1)
        step = np.clip(np.round(plan.intrinsic_time / plan.peak), 1, count).astype(np.int64)
        known, place = np.unique(step, return_inverse=True)
        flat = Plan(np.full(count, plan.peak), known, 0, float(np.mean(plan.batch_sizes)), plan.model_size)
        constant = np.maximum(law.bind([flat], "coarse")(theta)[0], 1e-12)
        return Reducible(np.log(constant[place] / loss), left)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What intervals are made of.

    ``samples``: parameters, shape (draws, parameters). ``residuals``: what those of the fit say. ``peaks``: the peak
    rates of the curves fitted. ``scatter``: where the rows fitted are averages, the spread of single rows about them,
    of log loss; else 0. ``gains``: of each curve fitted intrinsic times and what falling rates had gained by then, see
    :func:`gains`; without any, the curves count as of constant rates.
    """

    samples: Array
    residuals: Residuals
    peaks: tuple[float, ...]
    scatter: float = 0.0
    gains: tuple[tuple[Array, Array], ...] = ()

    def other_peak(self, plan: Plan) -> float:
        """Return |log(peak of the plan/nearest peak fitted)|, 0 for a peak between those fitted.

        >>> round(Posterior(np.zeros((1, 1)), Residuals(1e-3, 9, 9), (0.1, 0.2)).other_peak(Plan([0.4])), 3)
        0.693
        """
        peak = plan.peak
        return max(float(np.log(peak / max(self.peaks))), float(np.log(min(self.peaks) / peak)), 0.0)

    def other_gain(self, plan: Plan, gained: Array) -> Array:
        """Return |gained - nearest gain fitted| at the recorded steps, of log loss.

        Of each curve fitted two gains count: that by the same intrinsic time, and that by its end.

        >>> fitted = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.1])
        >>> known = Posterior(np.zeros((1, 1)), Residuals(1e-3, 9, 9), (1.0,), gains=(fitted,))
        >>> known.other_gain(Plan([1.0, 1.0]), np.array([0.0, 0.3])).round(3).tolist()
        [0.0, 0.2]
        """
        apart = [np.abs(gained - np.interp(plan.intrinsic_time, time, gain)) for time, gain in self.gains]
        apart += [np.abs(gained - gain[-1]) for _, gain in self.gains]
        return np.asarray(np.min(apart or [np.abs(gained)], axis=0))

    def deviations(self, law: Law, plan: Plan, theta: Array) -> Array:
        """Return by how much the draws lie off ``theta`` at the recorded steps, of log loss: (draws, recorded)."""
        bound = law.bind([plan], "coarse")  # of a spread three digits are plenty
        return np.stack([np.log(np.maximum(bound(sample)[0], 1e-12)) for sample in self.samples]) - np.log(
            bound(theta)[0]
        )

    def parameters(self, law: Law, plan: Plan, theta: Array) -> Array:
        """Return the spread that the parameters leave at the recorded steps, of log loss."""
        return np.asarray(np.sqrt((self.deviations(law, plan, theta) ** 2).mean(axis=0)))

    @property
    def discrepancy(self) -> float:
        """The standard deviation of what the law misses within the intrinsic time of the curves fitted, of log loss."""
        return discrepancy(self.residuals.shared)

    def missed(self, plan: Plan, reach: float, reducible: Reducible) -> Array:
        """Return the standard deviation of what the law misses at the recorded steps, beyond its parameters.

        ``reach``: the longest intrinsic time of the curves fitted.

        >>> given = Posterior(np.zeros((1, 1)), Residuals(1e-3, 9, 9), (0.1,))
        >>> reducible = Reducible(np.zeros(2), np.ones(2))
        >>> given.missed(Plan([0.1] * 4, [2, 4]), 0.2, reducible).tolist() == [DISCREPANCY, 2 * DISCREPANCY]
        True
        """
        within = self.discrepancy * np.maximum(plan.intrinsic_time / reach, 1.0)
        peak = OTHER_PEAK * self.other_peak(plan) * reducible.left
        gain = OTHER_GAIN * self.other_gain(plan, reducible.gained) * reducible.left
        return np.asarray(np.sqrt(within**2 + peak**2 + gain**2 + (GAINED * reducible.gained) ** 2))

    def spread(self, law: Law, plan: Plan, theta: Array, reach: float) -> Array:
        """Return the standard deviation of the law's error at the recorded steps, without the noise of single rows."""
        missed = self.missed(plan, reach, Reducible.of(law, plan, theta))
        return np.asarray(np.sqrt(self.parameters(law, plan, theta) ** 2 + missed**2))

    def half_width(self, spread: Array, level: float, *, noise: bool = True) -> Array:
        """Return the half-width of an interval of ``level``, of log loss, from :meth:`spread`.

        Of single rows of one run; with ``noise`` false of their mean, over which neither rows nor seeds scatter.

        >>> given = Posterior(np.zeros((1, 1)), Residuals(0.01, 9, 9), (0.1,))
        >>> [given.half_width(np.array([0.1]), 0.9, noise=each).round(3).tolist() for each in (True, False)]
        [[0.166], [0.164]]
        """
        from scipy.special import ndtri

        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie in (0, 1), as in 0.9 for 90 %, got {level!r}")
        rows = (OWN_NOISE * self.residuals.noise) ** 2 + self.scatter**2 + self.residuals.seeds if noise else 0.0
        return np.asarray(float(ndtri(0.5 + 0.5 * level)) * np.sqrt(spread**2 + rows))


def gains(law: Law, plans: Sequence[Plan], theta: Array) -> tuple[tuple[Array, Array], ...]:
    """Return of each plan the intrinsic times of its recorded steps, and what falling rates had gained by then.

    >>> from fsl_num.curves.laws import law
    >>> ((time, gained),) = gains(law("momentum"), [Plan([0.1] * 40 + [0.01] * 20, [40, 60])], np.array([2, .3, .5, .5, .9]))
    >>> time.round(3).tolist(), gained.round(3).tolist()
    ([4.0, 4.2], [0.0, 0.204])
    """  # noqa: E501
    return tuple((plan.intrinsic_time, Reducible.of(law, plan, theta).gained) for plan in plans)


def discrepancy(shared: float) -> float:
    """Return the standard deviation of what a law misses, of log loss, from what neighbouring stretches share.

    >>> discrepancy(0.0) == DISCREPANCY
    True
    """
    return float(np.hypot(DISCREPANCY, SHARED * shared))


def draw(fitted: Task, theta: Array, residuals: Residuals, seed: int = 0, count: int = _DRAWS) -> Array:
    """Return draws of the parameters, shape (count, parameters), deterministic for given arguments.

    ``fitted``: the law bound to few rows, of which as much is known as the ``residuals`` of the fit to all of them say.
    """
    stream = np.random.default_rng(seed)
    values = fitted.bound(theta)[0]
    weights = fitted.target.influence(np.log(fitted.target.observed) - np.log(values))
    # of one unit of weight, so that all rows together say as much as the independent ones among the residuals
    spread = np.sqrt(
        (residuals.dispersion / residuals.rows + (MISFIT + residuals.seeds) / residuals.curves) * weights.sum()
    )
    centre, width = fitted.chart.forward(theta), _widths(fitted, theta)
    samples = []
    for moved in _directions(count, theta.size, stream):
        noise = stream.normal(size=values.size) * spread / np.sqrt(np.maximum(weights, 1e-12 * weights.max()))
        # rows of next to no weight may have any noise: only its logarithm counts, and that must stay a float
        again = Target(values * np.exp(np.clip(noise, -_LARGEST, _LARGEST)), weights, "log-squares")
        pull = Pull(centre + width * moved, (spread / width) ** 2)
        samples.append(
            descend(fitted.bound, again, fitted.chart, theta, _STEPS, pull=pull, settled_below=_SETTLED).theta
        )
    return respread(fitted.law, np.array(samples), fitted.plans, stream)


def _widths(fitted: Task, theta: Array) -> Array:
    """How far each coordinate may be off where the curves say nothing: as expected, else a quarter of its range.

    The range of a linear parameter is that over which its term grows from nothing to the whole loss. What moves nothing
    is left where it is.
    """
    x = fitted.bound.columns(theta[fitted.law.linear_count :])[0]
    span, size = fitted.chart.high - fitted.chart.low, np.abs(x).max(axis=0)
    span[: size.size] = np.where(size > 0.0, fitted.target.observed.max() / np.maximum(size, 1e-300), 1e-6)
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
