r"""The functional scaling law evaluated by quadrature, for any schedule.

The functional scaling law (equation labelled eqn: fsl-simplified of the paper; with the signal inside the convolution:
eqn: fsl) is, up to constants, the excess risk at the end of training,

    (1/2) [delta_M + e_M(T) + int_0^T K_M(T - t) gamma(t) (e_M(t) + sigma^2) dt],

and with the factor 1/2 it is what small learning rates tend to. Here gamma(t) = phi(T^-1(t))/B.
Everything is quadrature of that definition: Gauss-Legendre on panels that shrink geometrically towards the end of
training (where the forgetting kernel varies over intrinsic times of order 1 and gamma may vanish like a power) and
towards the start where e_M varies. Times near the end are held as remaining time T - t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.gauss_rules import legendre_rule
from fsl_num.model import Model
from fsl_num.schedules import Schedule
from fsl_num.validation import Array, positive

_FIRST_PANEL = 1e-4  # times rtol, in units of the time 1/lambda_1 = 1 on which K and e vary near 0, or of the range
_RATIO = 4.0
_NODES = (10, 16)
_ROUNDING = 1e-15  # of an antiderivative of a Legendre polynomial at a jump of gamma, a few units of its last digit
_LEAST_ERROR = 3e-14  # relative error of the kernel sums themselves, see fsl_num.exponential_sums
_STEEP = 1e3  # a jump of gamma by more is no correction to what is integrated across it
_MOST_STEEP = 2000  # of which so many, the steepest, are ends of panels
_LEVELS, _LEVELS_OF_JUMPS = 5, 9  # of refinement: right after a jump the kernel may fall by hundreds of e-folds
_UNKNOWN = 0.1  # relative error from which no digit of a value is known
_LARGEST = 1e280  # T, gamma T and their inverses at most: products with sums of a kernel are floats then


@dataclass(frozen=True)
class Integral:
    """A quadrature: its value, a bound on its absolute error as far as two rules can tell, and the points it took."""

    value: float
    error: float
    evaluations: int


@dataclass(frozen=True)
class FunctionalScalingLaw:
    """The terms of the functional scaling law at the end of training, in units of the excess risk.

    ``approximation``: delta_M/2. ``signal``: e_M(T)/2. ``label_noise``: sigma^2/2 int K_M gamma. ``batch_noise``: half
    of int K_M(T - t) gamma(t) e_M(t) dt, 0 where the simplified law leaves it out. ``error``: of the sum, absolute.
    """

    approximation: float
    signal: float
    label_noise: float
    batch_noise: float
    error: float

    @property
    def total(self) -> float:
        """The sum of the four terms."""
        return math.fsum((self.approximation, self.signal, self.label_noise, self.batch_noise))


def _panels(low: float, high: float, ratio: float) -> Array:
    """Return edges from low to high, each at most ``ratio`` times the one before it; low > 0."""
    span = math.log(high) - math.log(low)
    count = max(1, math.ceil(span / math.log(ratio)))
    edges = low * np.exp(span * (np.arange(count + 1) / count))
    edges[0], edges[-1] = low, high
    return np.asarray(edges)


@dataclass(frozen=True, eq=False)
class Pieces:
    """A density that is constant between edges: increasing ``edges`` (pieces + 1,) and its ``values`` (pieces,)."""

    edges: Array
    values: Array

    @property
    def steep(self) -> list[float]:
        """The edges at which the density changes by more than the factor :data:`_STEEP`, the steepest of many."""
        with np.errstate(divide="ignore", invalid="ignore"):
            jumps = np.abs(np.diff(np.log(self.values)))
        steepest = np.argsort(-jumps, kind="stable")[:_MOST_STEEP]
        chosen = np.sort(steepest[jumps[steepest] > math.log(_STEEP)])
        return [float(edge) for edge in self.edges[1:-1][chosen]]

    def mass(self, end: float) -> float:
        """The integral of the density over [0, end]."""
        return math.fsum(self.values * np.diff(np.minimum(self.edges, end)))

    def weights(self, panels: Array, nodes: int) -> tuple[Array, Array]:
        """Weights (panels, nodes) of Gauss nodes that integrate polynomials times the density exactly.

        A panel's moments of the Legendre polynomials come from their antiderivatives at the jumps in it, each times
        the jump: a million small steps round no worse than their jumps are large. Also that rounding, panel by panel,
        for a function bounded by 1.
        """
        inside = (self.edges > panels[0]) & (self.edges < panels[-1])
        at = np.union1d(panels, self.edges[inside])
        density = self.values[np.clip(np.searchsorted(self.edges, at[:-1], "right") - 1, 0, self.values.size - 1)]
        panel = np.searchsorted(panels, at[:-1], "right") - 1
        low, half = panels[panel], 0.5 * np.diff(panels)[panel]
        first = np.flatnonzero(np.diff(panel, prepend=-1))
        before = np.concatenate([[0.0], density[:-1]])
        before[first] = 0.0
        here, jump = (at[:-1] - low) / half - 1.0, density - before
        last = np.append(first[1:], panel.size) - 1
        x, gauss = legendre_rule(nodes)
        weights = np.zeros((panels.size - 1, nodes))
        # P_n and its antiderivative (P_{n+1} - P_{n-1})/(2n + 1), which vanishes at both ends for n > 0
        older, old, at_nodes_older, at_nodes = np.ones_like(here), here, np.ones_like(x), x
        weights += np.add.reduceat(-jump * (here - 1.0), first)[:, None] / 2.0
        for n in range(1, nodes):
            new = ((2 * n + 1) * here * old - n * older) / (n + 1)
            moment = -np.add.reduceat(jump * (new - older), first) / (2 * n + 1)
            weights += (n + 0.5) * moment[:, None] * at_nodes
            older, old = old, new
            at_nodes_older, at_nodes = at_nodes, ((2 * n + 1) * x * at_nodes - n * at_nodes_older) / (n + 1)
        scale = half[first]
        rounding = _ROUNDING * scale * (np.add.reduceat(np.abs(jump), first) + density[last])
        return scale[:, None] * weights * gauss, rounding


def _integrate(
    function: Callable[[Array], Array], edges: Array, density: Pieces | None
) -> tuple[float, float, float, float, int]:
    """The integral over the panels by either rule, a bound on the rounding of its weights, the largest value at the
    ends of the first panel, and the number of points."""
    rules = [legendre_rule(nodes) for nodes in _NODES]
    half = 0.5 * np.diff(edges)[:, None]
    points = edges[:-1, None] + half * (1.0 + np.concatenate([x for x, _ in rules]))
    every = function(np.append(points.ravel(), edges[:2]))
    values = np.split(every[:-2].reshape(points.shape), [_NODES[0]], axis=1)
    first = float(np.abs(every[-2:]).max())
    if density is None:
        coarse, fine = (math.fsum((part * (half * w)).sum(axis=1)) for part, (_, w) in zip(values, rules, strict=True))
        return coarse, fine, 0.0, first, every.size
    weighted = [density.weights(edges, nodes) for nodes in _NODES]
    coarse, fine = (math.fsum((part * w).sum(axis=1)) for part, (w, _) in zip(values, weighted, strict=True))
    return coarse, fine, float((weighted[1][1] * np.abs(values[1]).max(axis=1)).sum()), first, every.size


def _first_ratio(rtol: float) -> float:
    """The ratio of the ends of a panel in which ten nodes integrate a power of x to a tenth of ``rtol``; at least 4.

    Gauss rules of n nodes err like rho^(-2 n), where x = 0 lies on the ellipse of that rho around the panel.
    """
    rho = math.pow(0.1 * rtol, -0.5 / _NODES[0])
    return max(((rho + 1.0) / (rho - 1.0)) ** 2, _RATIO)


def integrate_graded(
    function: Callable[[Array], Array],
    upper: float,
    *,
    breaks: tuple[float, ...] = (),
    density: Pieces | None = None,
    rtol: float = 1e-10,
) -> Integral:
    """Integrate a function over [0, upper] on panels graded towards 0, where it may behave like a power.

    ``function`` maps arrays to arrays, is bounded, varies near 0 on the scale of x or on scale 1 (like a power or
    like the forgetting kernel), and is smooth between ``breaks`` on the scale of x. ``density``: a factor that is
    constant on any number of :class:`Pieces`, which cost no panels, but where it jumps by more than a factor 1000.
    Panels are refined until 10 and 16 nodes agree to ``rtol``. The error is their difference, plus the first panel
    [0, 1e-4 rtol] whole, plus 3e-14 relative for the integrand itself; it is reported even where ``rtol`` is missed.

    >>> result = integrate_graded(np.sqrt, 1.0)
    >>> abs(result.value - 2 / 3) <= result.error < 1e-10
    True
    """
    steep = [] if density is None else density.steep
    cuts = sorted({cut for cut in (*breaks, *steep) if 0.0 < cut < upper} | {upper})
    start = min(_FIRST_PANEL * rtol * min(upper, 1.0), 0.5 * cuts[0])
    mass = start if density is None else density.mass(start)
    evaluations, ratio = 0, _first_ratio(rtol)
    value = error = near_zero = math.inf
    for _ in range(_LEVELS_OF_JUMPS if steep else _LEVELS):
        pieces = [_panels(a, b, ratio) for a, b in zip([start, *cuts], cuts, strict=False)]
        edges = np.unique(np.concatenate([[0.0], *pieces]))
        coarse, value, rounding, first, count = _integrate(function, edges, density)
        evaluations, near_zero = evaluations + count, mass * first
        error = abs(value - coarse)
        if error <= rtol * abs(value):
            break
        ratio = math.sqrt(ratio)
    return Integral(value, error + rounding + 2.0 * near_zero + _LEAST_ERROR * abs(value), evaluations)


def noise_functional(model: Model, schedule: Schedule, *, rtol: float = 1e-10) -> Integral:
    """Return N(phi) = int_0^T K_M(T - t) phi(T^-1(t)) dt, the noise left at the end of training.

    ``model``: a :class:`~fsl_num.model.Model`, of which only the kernel counts; ``schedule``: any
    :class:`~fsl_num.schedules.Schedule`, whose batch size does not enter (N = B int K_M gamma); ``rtol``: the relative
    accuracy asked for, at least 1e-13. Works for intrinsic times up to 1e30 and sizes up to inf. Returns
    :class:`Integral`.

    Source: last term of the equation labelled eqn: fsl-simplified.

    >>> from fsl_num.schedules import Constant
    >>> from fsl_num.spectrum import kernel_integral
    >>> model = Model(s=1.0, beta=2.0, size=math.inf, noise=1.0)
    >>> found = noise_functional(model, Constant(peak=0.5, steps=2000.0))
    >>> abs(found.value - 0.5 * kernel_integral(0.0, 1000.0, 2.0)) <= found.error
    True
    """
    tolerance = _checked(model, schedule, rtol)
    remaining = schedule.breaks_before_end
    integral = _with_gamma(model.kernel, schedule.gamma_before_end, schedule, remaining, 1.0, tolerance)
    batch = schedule.batch_size
    _known(integral.value, integral.error, tolerance, "the noise left at the end of training")
    return Integral(batch * integral.value, batch * integral.error, integral.evaluations)


def batch_noise_functional(model: Model, schedule: Schedule, *, rtol: float = 1e-10) -> Integral:
    """Return int_0^T K_M(T - t) gamma(t) e_M(t) dt, the noise that the unlearned signal injects through mini-batches.

    Arguments as in :func:`noise_functional`. The two halves of [0, T] are integrated apart, each on
    panels graded towards its own end. Source: the e_M part of the convolution in the equation labelled eqn: fsl.

    >>> from fsl_num.schedules import Constant
    >>> model = Model(s=1.0, beta=2.0, size=math.inf, noise=0.0)
    >>> batch_noise_functional(model, Constant(peak=0.1, steps=100.0)).value > 0
    True
    """
    tolerance = _checked(model, schedule, rtol)
    total = schedule.total_intrinsic_time

    def late(remaining: Array) -> Array:
        return np.asarray(model.kernel(remaining) * model.signal(np.maximum(total - remaining, 0.0)))

    def early(t: Array) -> Array:
        return np.asarray(model.kernel(np.maximum(total - t, 0.0)) * model.signal(t))

    first = _with_gamma(early, schedule.gamma, schedule, schedule.breaks, 0.5, tolerance)
    second = _with_gamma(late, schedule.gamma_before_end, schedule, schedule.breaks_before_end, 0.5, tolerance)
    return Integral(first.value + second.value, first.error + second.error, first.evaluations + second.evaluations)


def _with_gamma(
    function: Callable[[Array], Array],
    gamma: Callable[[Array], Array],
    schedule: Schedule,
    breaks: tuple[float, ...],
    share: float,
    rtol: float,
) -> Integral:
    """Integrate ``function`` times gamma over a share of [0, T], from the end at which ``breaks`` are counted."""
    upper = share * schedule.total_intrinsic_time
    if not schedule.is_piecewise_constant:
        product = lambda x: np.asarray(function(x) * gamma(x))  # noqa: E731
        return integrate_graded(product, upper, breaks=breaks, rtol=rtol)
    inside = np.sort(np.array(breaks, dtype=np.float64))
    edges = np.concatenate([[0.0], inside[(inside > 0.0) & (inside < upper)], [upper]])
    pieces = Pieces(edges, np.asarray(gamma(0.5 * (edges[:-1] + edges[1:]))))
    return integrate_graded(function, upper, density=pieces, rtol=rtol)


def scaling_functional(model: Model, schedule: Schedule, *, rtol: float = 1e-10) -> FunctionalScalingLaw:
    """Return the simplified law, half of delta_M + e_M(T) + noise N(phi)/B at the end of training, and its parts.

    Arguments as in :func:`noise_functional`. Source: equation labelled eqn: fsl-simplified.

    >>> from fsl_num.schedules import schedule
    >>> plan = schedule("exp-decay", peak=0.5, final=0.005, steps=1e4)
    >>> law = scaling_functional(Model(s=0.5, beta=2.0, size=100, noise=1.0), plan)
    >>> law.total > law.label_noise > 0
    True
    """
    _checked(model, schedule, rtol)
    total = schedule.total_intrinsic_time
    injected = noise_functional(model, schedule, rtol=rtol)
    scale = 0.5 * model.noise / schedule.batch_size
    delta, unlearned = 0.5 * model.approximation_error, 0.5 * float(model.signal(total))
    error = scale * injected.error + _LEAST_ERROR * (delta + unlearned)
    return FunctionalScalingLaw(delta, unlearned, scale * injected.value, 0.0, error)


def functional_scaling_law(model: Model, schedule: Schedule, *, rtol: float = 1e-10) -> FunctionalScalingLaw:
    """Return the whole law, half of delta_M + e_M(T) + int K_M(T - t) gamma(t) (e_M(t) + noise) dt, and its parts.

    Arguments as in :func:`noise_functional`. Source: equation labelled eqn: fsl.

    >>> from fsl_num.schedules import schedule
    >>> model, plan = Model(s=0.5, beta=2.0, size=100, noise=1.0), schedule("cosine", peak=0.5, steps=1e4)
    >>> functional_scaling_law(model, plan).total > scaling_functional(model, plan).total
    True
    """
    simple = scaling_functional(model, schedule, rtol=rtol)
    batch = batch_noise_functional(model, schedule, rtol=rtol)
    law = replace(simple, batch_noise=0.5 * batch.value, error=simple.error + 0.5 * batch.error)
    _known(law.total, law.error, float(rtol), "the functional scaling law")
    return law


def _checked(model: Any, schedule: Any, rtol: Any) -> float:
    """The tolerance; a TypeError where there is no model or no schedule."""
    for name, value, kind in (("model", model, Model), ("schedule", schedule, Schedule)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}")
    number = positive("rtol", rtol)
    if not 1e-13 <= number < 1.0:
        raise ValueError(f"rtol must lie in [1e-13, 1) (the kernel itself is accurate to 1e-14), got {rtol!r}")
    largest, total = schedule.peak / schedule.batch_size, schedule.total_intrinsic_time
    if not all(1.0 / _LARGEST <= size <= _LARGEST for size in (total, largest * total)):
        raise ValueError(
            f"the schedule has the intrinsic time T = {total:g} (the sum of its rates) and gamma up to {largest:g}: "
            f"T and gamma T must lie between {1.0 / _LARGEST:g} and {_LARGEST:g}, where floats end; give rates near 1"
        )
    return number


def _known(value: float, error: float, rtol: float, quantity: str) -> None:
    """Raise ValueError where the error of something positive is no longer small against it."""
    if not (value == error == 0.0 or error <= max(_UNKNOWN, rtol) * value):
        raise ValueError(
            f"{quantity} is {value:.3g} with an error of {error:.1g}: it is not known. The rates change by orders of "
            "magnitude while the kernel falls by more; give a schedule that ends where they do, or a smaller rtol"
        )
