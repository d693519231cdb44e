r"""How far a prediction may be off: a block bootstrap of the fit, calibrated by hiding the end of the training curves.

The spread of a prediction at one step is, in units of log loss,

    half-width = q max(1, T/T_reach) sqrt(noise^2 + spread^2),

with ``noise`` the robust spread of the residuals of the fit, ``spread`` that of the predictions of refits, and q a
quantile. Beyond the intrinsic time T_reach of the longest curve fitted the width grows in proportion to the horizon:
there what the law misses adds up unchecked.

The refits are made to resampled residuals (in blocks, since neighbouring losses err together), and each parameter is
held by a spring at a place drawn from its range (randomise, then optimise). Where the curves tell a parameter the
spring is too weak to matter; where they do not, refits without springs would all stay at the fit, and the prediction of
a schedule that needs this parameter would look sure. What the law itself takes for granted (p = 1, no noise from the
signal) is not identified by the curves either: as many refits are made with the widest law of its family. And where
there are too few model sizes, every split of their levels is drawn (:mod:`~fsl_num.curves.sizes`).

No bootstrap knows that the law is not the truth. So q is measured where that shows, on the training curves alone: the
law is fitted to the first part of every curve and predicts the rest, and, where there are three curves or more, it is
fitted to all but one and predicts that one. q is the quantile of |error| in units of the width above over all rows held
out, every held-out piece of a curve counting the same, with the correction for how few blocks of rows these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.laws.base import Law
from fsl_num.curves.plan import Plan
from fsl_num.curves.score import residual_spread
from fsl_num.curves.search import Settings, Task, quick_fit, task
from fsl_num.curves.sizes import respread
from fsl_num.curves.solve import Pull, Target, descend
from fsl_num.validation import Array

SPLITS: Final = (0.5, 0.6, 0.7, 0.8)
"""Where the training curves are cut to compare laws, as shares of their steps after warmup."""

HORIZONS: Final = (0.5, 0.65, 0.8)
"""Where they are cut to calibrate intervals."""

LEVELS: Final = np.concatenate([np.linspace(0.02, 0.98, 49), [0.99, 1.0]])
"""The levels at which the quantiles of the errors of held-out rows are kept."""

_REFITS = 24
_REFITS_OF_A_SPLIT = 8
_STEPS = 25  # of a descent that starts at the fit: with half of them it stops short of its springs
_BLOCKS = 8  # a curve: blocks long enough for the drift of the misfit, and still several of them
_PRIOR = 0.25  # of the range of a parameter: its standard deviation where the curves say nothing of it
_LEAST_ROWS = 8  # held-out or fitted
_ENOUGH_CURVES = 3  # to leave one out: what is left must still tell the law
_THINNED = 100  # rows of a curve that are held out or fitted here


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What intervals are made of.

    ``samples``: parameters of the refits, shape (refits, parameters). ``noise``: the spread of the residuals, of log
    loss. ``quantiles``: of the scaled errors of held-out rows at :data:`LEVELS`. ``held_out``: how many rows these
    were; 0 where the curves are too short to be cut, and the quantiles those of a normal distribution, times 2.
    ``scatter``: where the rows fitted are averages, the spread of single rows about them, of log loss; else 0.
    ``law``: the law whose parameters ``samples`` are, None where it is the one fitted.
    """

    samples: Array
    noise: float
    quantiles: Array
    held_out: int
    scatter: float = 0.0
    law: Law | None = None

    def of(self, law: Law) -> Array:
        """Return the parameters of ``law`` in the refits, shape (refits, parameters).

        >>> from fsl_num.curves.laws import law
        >>> Uncertainty(np.array([[1.0, 2.0]]), 0.1, LEVELS, 9).of(law("momentum")).tolist()
        [[1.0, 2.0]]
        """
        if self.law is None:
            return self.samples
        return np.asarray(self.samples[:, [self.law.names.index(name) for name in law.names]])

    def half_width(self, spread: Array, level: float) -> Array:
        """Return the half-width of an interval for single rows, of log loss, from what :meth:`spread` returns.

        What single rows scatter about averages is independent of the errors of the law: the squares add.

        >>> Uncertainty(np.zeros((1, 1)), 0.1, LEVELS, 9, 0.1).half_width(np.array([0.1]), 0.9).round(3).tolist()
        [0.233]
        """
        from scipy.special import ndtri

        return np.asarray(np.hypot(self.factor(level) * spread, float(ndtri(0.5 + 0.5 * level)) * self.scatter))

    def factor(self, level: float) -> float:
        """Return q for an interval of nominal ``level`` in (0, 1): at least that of a normal distribution.

        Held-out parts of the curves fitted may be easier than another schedule: they never make intervals narrower.

        >>> Uncertainty(np.zeros((1, 1)), 0.1, 9.0 * LEVELS, 9).factor(0.9)
        8.1
        >>> round(Uncertainty(np.zeros((1, 1)), 0.1, LEVELS, 9).factor(0.9), 3)
        1.645
        """
        from scipy.special import ndtri

        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie in (0, 1), as in 0.9 for 90 %, got {level!r}")
        return max(float(np.interp(level, LEVELS, self.quantiles)), float(ndtri(0.5 + 0.5 * level)))

    def spread(self, law: Law, plan: Plan, theta: Array, reach: float) -> Array:
        """Return max(1, T/reach) sqrt(noise^2 + spread^2) at the recorded steps of a plan, of log loss."""
        wide = law if self.law is None else self.law
        return _scale(wide, plan, wide.lifted(law, theta), self.samples, self.noise, reach)


def _scale(law: Law, plan: Plan, theta: Array, samples: Array, noise: float, reach: float) -> Array:
    bound = law.bind([plan], "fit")
    centre = np.log(bound(theta)[0])
    moved = np.stack([np.log(np.maximum(bound(sample)[0], 1e-12)) for sample in samples]) - centre
    beyond = np.maximum(plan.intrinsic_time / reach, 1.0)
    return np.asarray(beyond * np.sqrt(noise**2 + (moved**2).mean(axis=0)))


def refits(fitted: Task, theta: Array, count: int, stream: np.random.Generator) -> Array:
    """Return the parameters of refits to the fitted losses with the residuals resampled in blocks, curve by curve.

    Springs hold the parameters at places drawn from their ranges, see the module.
    """
    values = fitted.bound(theta)[0]
    strength, width = _springs(fitted, theta)
    centre = fitted.chart.forward(theta)
    residual = np.log(fitted.target.observed) - np.log(values)
    sizes = [plan.recorded.size for plan in fitted.plans]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # the error of an average falls with the root of its rows: what is moved is the error of one of mean size
    size = np.sqrt(np.concatenate([_counts(curve) for curve in fitted.curves]))
    samples = []
    for moved in _directions(count, width.size, stream):
        drawn = np.empty_like(residual)
        for low, high in zip(starts[:-1], starts[1:], strict=True):
            drawn[low:high] = _blocks((residual * size)[low:high], stream) / size[low:high]
        again = Target(values * np.exp(drawn), fitted.target.weights, fitted.target.loss, fitted.target.delta)
        pull = Pull(centre + width * moved, strength)
        samples.append(descend(fitted.bound, again, fitted.chart, theta, _STEPS, pull=pull).theta)
    return respread(fitted.law, np.array(samples), fitted.plans, stream)


def _springs(fitted: Task, theta: Array) -> tuple[Array, Array]:
    """The strength of springs that hold each parameter, and how far they let it go where the curves say nothing.

    A quarter of its range is the standard deviation; the range of a linear parameter is that over which its term grows
    from nothing to the whole loss. Against the noise of as many independent rows as there are blocks.
    """
    x = fitted.bound.columns(theta[fitted.law.linear_count :])[0]
    span = fitted.chart.high - fitted.chart.low
    acts = np.abs(x).max(axis=0) > 0.0
    span[: acts.size][acts] = fitted.target.observed.max() / np.abs(x).max(axis=0)[acts]
    span[: acts.size][~acts] = 0.0  # what moves nothing is left where it is
    width = _PRIOR * span
    objective = fitted.target.objective(fitted.bound(theta)[0])
    independent = _BLOCKS * len(fitted.plans)
    return 2.0 * objective / independent / np.where(width > 0.0, width, np.inf) ** 2, width


def _directions(count: int, size: int, stream: np.random.Generator) -> Array:
    """Return vectors of ``size`` normal numbers, orthogonal in each group of ``size`` of them.

    So a few of them already reach into every direction as far as many independent ones would on average.
    """
    frames = []
    for _ in range(-(-count // size)):
        frame, upper = np.linalg.qr(stream.normal(size=(size, size)))
        frames.append(frame * np.sign(np.diag(upper)) * np.sqrt(size))
    return np.concatenate(frames)[:count]


def _counts(curve: LossCurve) -> Array:
    return np.ones(curve.plan.recorded.size) if curve.counts is None else np.asarray(curve.counts[curve.used])


def _samples(
    law: Law, curves: Sequence[LossCurve], theta: Array, settings: Settings, count: int, stream: np.random.Generator
) -> tuple[Array, float]:
    """Return refits as parameters of the widest law of the family, and the spread of the residuals of the fit.

    ``count`` of them are made with the law itself and as many with the widest one, where that is another.
    """
    wide = law.wider()
    fitted = task(law, curves, settings, coarse=True)
    noise = residual_spread(np.log(fitted.target.observed) - np.log(fitted.bound(theta)[0]))
    if wide.names == law.names:
        return refits(fitted, theta, count, stream), noise
    own = [wide.lifted(law, sample) for sample in refits(fitted, theta, count, stream)]
    freed = task(wide, curves, settings, coarse=True)
    return np.concatenate([own, refits(freed, wide.lifted(law, theta), count, stream)]), noise


def _blocks(residual: Array, stream: np.random.Generator) -> Array:
    """Return residuals in blocks drawn with replacement from a circle, so that every row is drawn as often."""
    size = residual.size
    length = max(1, -(-size // _BLOCKS))
    starts = stream.integers(0, size, size=-(-size // length))
    index = (starts[:, None] + np.arange(length)).ravel()[:size] % size
    # a block keeps the misfit it comes from; its sign is drawn, as the next run's misfit may lie on the other side
    signs = np.repeat(stream.choice([-1.0, 1.0], size=starts.size), length)[:size]
    return np.asarray(residual[index] * signs)


def cut(curve: LossCurve, share: float) -> tuple[LossCurve, Any] | None:
    """Return the first ``share`` of the rows after warmup, and a mask of the others; None where either is too short.

    >>> curve = LossCurve(np.arange(1, 101), np.linspace(3, 2, 100), lr=np.full(100, 0.1))
    >>> first, rest = cut(curve, 0.6)
    >>> len(first), int(rest.sum())
    (60, 40)
    """
    steps = curve.plan.recorded
    last = steps[0] + share * (steps[-1] - steps[0])
    held = steps > last
    if held.sum() < _LEAST_ROWS or (~held).sum() < _LEAST_ROWS:
        return None
    return curve.between_steps(0, last), held


def horizon_errors(
    law: Law, curves: Sequence[LossCurve], settings: Settings, start: Array | None = None, share: float = 0.6
) -> tuple[Array, list[LossCurve], list[Any], list[Array]] | None:
    """Fit the first ``share`` of every curve and predict the rest; None where no curve is long enough.

    Returns the parameters, the shortened curves, for each curve the mask of its held-out rows (None: not cut), and
    the errors log(predicted) - log(measured) there.
    """
    cuts = [cut(curve, share) for curve in curves]
    if all(each is None for each in cuts):
        return None
    first = [curve if each is None else each[0] for curve, each in zip(curves, cuts, strict=True)]
    starts = None
    if start is not None:
        # the start of the whole fit knows the end; the starts of the law do not: both, and the lower objective wins
        grid = law.start_grid([curve.plan for curve in first])[:1]
        starts = np.concatenate([grid, start[None, law.linear_count :]])
    theta = quick_fit(law, first, settings, starts)
    errors, masks = [], []
    for curve, each in zip(curves, cuts, strict=True):
        masks.append(None if each is None else each[1])
        if each is not None:
            predicted = law.bind([curve.plan], "fit")(theta)[0]
            errors.append((np.log(np.maximum(predicted, 1e-12)) - np.log(curve.observed))[each[1]])
        else:
            errors.append(np.zeros(0))
    return theta, first, masks, errors


def _held_out(
    law: Law, curves: Sequence[LossCurve], theta: Array, settings: Settings
) -> Iterator[tuple[Array, Sequence[LossCurve], list[tuple[LossCurve, Any]]]]:
    """Yield fits to a part of the rows: parameters, the curves fitted, and what was held out of which curve."""
    for share in HORIZONS:
        tried = horizon_errors(law, curves, settings, theta, share)
        if tried is not None:
            held = [(curve, mask) for curve, mask in zip(curves, tried[2], strict=True) if mask is not None]
            yield tried[0], tried[1], held
    if len(curves) >= _ENOUGH_CURVES:
        for place, curve in enumerate(curves):
            rest = [other for index, other in enumerate(curves) if index != place]
            whole = np.ones(curve.plan.recorded.size, dtype=bool)
            yield quick_fit(law, rest, settings), rest, [(curve, whole)]


def measure(
    law: Law,
    curves: Sequence[LossCurve],
    theta: Array,
    settings: Settings,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Uncertainty:
    """Return the :class:`Uncertainty` of a fit: ``theta`` are the parameters fitted to ``curves``.

    ``seed``: of the resampling. Deterministic for given arguments. ``progress``: called with how many of how many parts
    are done.
    """
    report = progress or (lambda done, whole: None)
    parts = 1 if law.final_only else 1 + len(HORIZONS) + (len(curves) if len(curves) >= _ENOUGH_CURVES else 0)
    report(0, parts)
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2)]
    wide = law.wider()
    samples, noise = _samples(law, curves, theta, settings, _REFITS, streams[0])
    scatter = float(np.sqrt(np.mean([curve.scatter**2 for curve in curves])))
    short = [curve.thinned(_THINNED) for curve in curves]
    ratios, weights, blocks = [], [], 0.0
    if not law.final_only:
        for done, (inner, fitted_to, held) in enumerate(_held_out(law, short, theta, settings), 1):
            report(done, parts)
            some, inner_noise = _samples(law, fitted_to, inner, settings, _REFITS_OF_A_SPLIT, streams[1])
            inner = wide.lifted(law, inner)
            reach = max(float(curve.plan.times[-1]) for curve in fitted_to)
            for curve, mask in held:
                predicted = np.maximum(wide.bind([curve.plan], "fit")(inner)[0], 1e-12)
                error = np.abs(np.log(predicted) - np.log(curve.observed))[mask]
                scale = _scale(wide, curve.plan, inner, some, inner_noise, reach)[mask]
                ratios.append(error / np.maximum(scale, 1e-12))
                weights.append(np.full(error.size, 1.0 / error.size))
                blocks += _BLOCKS * error.size / mask.size
    report(parts, parts)
    if not ratios:
        from scipy.special import ndtri

        return Uncertainty(samples, noise, 2.0 * ndtri(0.5 + 0.5 * np.minimum(LEVELS, 0.999)), 0, scatter, wide)
    ratio, weight = np.concatenate(ratios), np.concatenate(weights)
    order = np.argsort(ratio)
    reached = np.cumsum(weight[order]) / weight.sum()
    # of n independent errors the quantile for the next one is that of level (n + 1)/n; independent are whole blocks
    quantiles = np.interp(np.minimum(LEVELS * (1.0 + 1.0 / blocks), 1.0), reached, ratio[order])
    return Uncertainty(samples, noise, np.asarray(quantiles), int(ratio.size), scatter, wide)
