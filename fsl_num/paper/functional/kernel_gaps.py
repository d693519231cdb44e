"""eq:Ke-gap and eq:Ksigma-gap: what K_infinity adds to K_M, beside the signal and beside label noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from sympy import Expr, Integer, Integral, Max, Rational, Sum, exp, log, oo, zeta

import fsl_num.spectrum as spectrum
from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.points import along_edge
from fsl_num.claims.statements import Equivalent, Ray, Statement
from fsl_num.functional import integrate_graded
from fsl_num.paper.block_constants import UP_TO_CONSTANTS, Constants, exact_powers, given_constants
from fsl_num.paper.block_spectra import block_modes, kernel_beyond
from fsl_num.paper.functional.formulas import GAMMA
from fsl_num.paper.functional.laws import power_of_size
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.kernel.rays import repeating_sizes
from fsl_num.spectrum import exponential_sum
from fsl_num.validation import Array
from fsl_sym.best_constants import tail_mass
from fsl_sym.proof import equals, order_at_most, same_order
from fsl_sym.spectrum import forgetting_kernel, signal
from fsl_sym.symbols import M as SIZE
from fsl_sym.symbols import beta, j, s, t, z

MULTIPLES = (1.0, 10.0)
"""t/M^beta at which the gap with the signal is measured: it is largest near t = M^beta."""
LATE = (1.0, 100.0, 1e30)
"""Those for the gap with constant noise, which grows to its limit."""
QUADRATURE = 1e-8
"""The quadrature's own error and what it leaves beyond its last time, relative (asked for 1e-10)."""


def gap(rate: Expr, *, with_signal: bool) -> Integral:
    """int_0^t (K_infinity - K_M)(t - z) gamma dz, times e_M(z) where ``with_signal``."""
    beyond = forgetting_kernel(t - z, oo) - forgetting_kernel(t - z)
    return Integral(beyond * rate * (signal(z) if with_signal else 1), (z, 0, t))


SIGNAL_GAP, GAP_ORDER = (
    gap(Integer(1), with_signal=True), SIZE ** (1 - 2 * beta) * Integral(z ** (beta - s * beta - 1), (z, 1, SIZE))
)  # fmt: skip


NOISE_GAP = gap(Integer(1), with_signal=False)
AT_ANY_RATE = {with_signal: gap(GAMMA(z), with_signal=with_signal) for with_signal in (True, False)}


def tail_kernel(t: Array, beta: float, size: float) -> Array:
    """K_infinity(t) - K_M(t), summed from M + 1 on."""
    return np.asarray(exponential_sum(2.0 * beta, t, beta, start=int(size) + 1))


def _unit_rate(z: Array) -> Array:
    return np.ones_like(z)


def _falling_rate(z: Any) -> Any:
    """A rate that falls from 1 to a half at t = 1."""
    return 1.0 - 0.5 * z


def signal_gap(t: float, s: float, beta: float, size: float, rate: Callable[[Array], Array] = _unit_rate) -> float:
    """int_0^t (K_infinity - K_M)(t - z) e_M(z) gamma(z) dz by graded quadrature of both halves."""

    def injected(z: Array) -> Array:
        return np.asarray(spectrum.signal(z, s, beta, size) * rate(z))

    def late(left: Array) -> Array:
        return np.asarray(tail_kernel(left, beta, size) * injected(np.maximum(t - left, 0.0)))

    def early(z: Array) -> Array:
        return np.asarray(tail_kernel(np.maximum(t - z, 0.0), beta, size) * injected(z))

    # Drifts are judged to 1e-2 per unit of log M; 1e-6 cannot be seen.
    return sum(integrate_graded(half, 0.5 * t, rtol=1e-6).value for half in (late, early))


def noise_gap(t: float, beta: float, size: float, rate: Callable[[Array], Array] = _unit_rate) -> float:
    """int_0^t (K_infinity - K_M)(t - z) gamma(z) dz by graded quadrature."""

    def injected(left: Array) -> Array:
        return np.asarray(tail_kernel(left, beta, size) * rate(t - left))

    # Drifts are judged to 1e-2 per unit of log M; 1e-6 cannot be seen.
    return integrate_graded(injected, t, rtol=1e-6).value


def block_signal_gap(constants: Constants, t: float, s: float, beta: float, size: float) -> float:
    """The same of a spectrum up to constants: a sum over pairs of modes, one beyond M and one of the signal."""
    slow, weights, _ = kernel_beyond(constants, beta, size, t)
    modes, _ = block_modes(constants, s, beta, size, t)
    # int_0^t exp(-slow (t - z) - fast z) dz = t exp(-x) (1 - exp(-y))/y: x the smaller turn, y their difference
    apart = t * np.abs(np.subtract.outer(slow, modes.rates))
    share = np.where(apart > 0.0, -np.expm1(-apart) / np.maximum(apart, 1e-300), 1.0)
    return float(weights @ (t * np.exp(-t * np.minimum.outer(slow, modes.rates)) * share) @ modes.start)


def block_noise_gap(constants: Constants, t: float, beta: float, size: float) -> float:
    """The gap with constant noise of a spectrum up to constants."""
    rates, weights, _ = kernel_beyond(constants, beta, size, t)
    return float(-np.expm1(-rates * t) @ (weights / rates))


def gap_sizes(beta: float, count: int) -> Array:
    """Model sizes up to t = M^beta = 1e60 (M at most 1e15, where whole numbers end)."""
    return np.floor(np.geomspace(10.0, 10.0 ** _decades_of_sizes(beta), count))


def _decades_of_sizes(beta: float) -> float:
    return min(15.0, 60.0 / beta)


def _periods(beta: float) -> Array:
    """Model sizes up to the same at which spectra up to constants repeat themselves, without M = 1."""
    return repeating_sizes(beta, 1.0, math.log(10.0) * beta * _decades_of_sizes(beta))[1:]


@lru_cache(maxsize=128)
def signal_gap_rays(sample: Sample) -> tuple[Ray, ...]:
    """The gap with the signal along M at t = M^beta and 10 M^beta."""
    s, beta = sample.point
    sizes = gap_sizes(beta, 7 + 3 * min(sample.effort, 1))
    gap_rays = []
    for multiple in MULTIPLES:
        values = [signal_gap(multiple * size**beta, s, beta, size) for size in sizes]
        logs = _with_unit_rate(sizes, multiple * sizes**beta)
        gap_rays.append(Ray(f"t = {multiple:g} M^beta", np.log(sizes), logs, np.log(values)))
    sizes = _periods(beta)
    for multiple, constants in product(MULTIPLES, given_constants(sample.seed)):
        times = multiple * sizes**beta
        values = [block_signal_gap(constants, time, s, beta, size) for time, size in zip(times, sizes, strict=True)]
        name = f"t = {multiple:g} M^beta, {constants.name}"
        gap_rays.append(Ray(name, np.log(sizes), _with_unit_rate(sizes, times), np.log(values)))
    return tuple(gap_rays)


def with_slower(rays: Sequence[Ray]) -> tuple[Ray, ...]:
    """With the first of them once more at gamma = 1/M: the gap is linear in a constant gamma."""
    first = rays[0]
    slower = replace(first, name=f"{first.name}, gamma = 1/M", logs={**first.logs, "gamma": -first.logs["M"]},
                     values=first.values - first.logs["M"])  # fmt: skip
    return (*rays, slower)


def _with_unit_rate(sizes: Array, times: Array) -> dict[str, Array]:
    """The letters of a gap at gamma = 1."""
    return {"M": np.log(sizes), "t": np.log(times), "gamma": np.zeros(sizes.size)}


@lru_cache(maxsize=128)
def noise_gap_rays(sample: Sample, *, early: bool = False) -> tuple[Ray, ...]:
    """The gap with constant noise along M at t = M^beta, 100 M^beta and for t to infinity; and ``early``, at t = 1."""
    beta = sample.point[1]
    sizes = gap_sizes(beta, 10)
    times = {f"t = {multiple:g} M^beta": multiple * sizes**beta for multiple in LATE}
    if early:
        times["t = 1"] = np.ones_like(sizes)
    gap_rays = []
    for name, horizons in times.items():
        values = [noise_gap(float(time), beta, float(size)) for time, size in zip(horizons, sizes, strict=True)]
        gap_rays.append(Ray(name, np.log(sizes), _with_unit_rate(sizes, horizons), np.log(values)))
    sizes = _periods(beta)
    for multiple, constants in product(LATE, given_constants(sample.seed)):
        horizons = multiple * sizes**beta
        values = [block_noise_gap(constants, time, beta, size) for time, size in zip(horizons, sizes, strict=True)]
        name = f"t = {multiple:g} M^beta, {constants.name}"
        gap_rays.append(Ray(name, np.log(sizes), _with_unit_rate(sizes, horizons), np.log(values)))
    return tuple(gap_rays)


def gaps_outside(sample: Sample, *, with_signal: bool) -> dict[str, tuple[Ray, ...]]:
    """The gap at gamma = 1 before t = M^beta and long after it, and at t = M^beta for rates that grow."""
    beta = sample.point[1]
    along = {"t = M^(beta/2)": (0.5 * beta, 0.0), "t = M^(2 beta)": (2.0 * beta, 0.0), "gamma = M^beta": (beta, beta)}
    return {name: (_gap_ray(sample, name, *powers, with_signal),) for name, powers in along.items()}


def _gap_ray(sample: Sample, name: str, power: float, rate: float, with_signal: bool) -> Ray:
    """A gap along M at t = M^power and gamma = M^rate."""
    s, beta = sample.point
    sizes = gap_sizes(beta, 4 if sample.effort == 0 else 6)
    values = [
        signal_gap(float(size**power), s, beta, size) if with_signal else noise_gap(float(size**power), beta, size)
        for size in sizes
    ]
    logs = {**_with_unit_rate(sizes, sizes**power), "gamma": rate * np.log(sizes)}
    return Ray(name, np.log(sizes), logs, np.log(values) + rate * np.log(sizes))


@lru_cache(maxsize=64)
def all_times(sample: Sample) -> tuple[Ray, ...]:
    """The gap with the signal at t = 1, between that and M^beta, and long after it, beside the times of its largest."""
    powers = {"t = 1": 0.0, "t = M^(beta/2)": 0.5 * sample.point[1], "t = M^(2 beta)": 2.0 * sample.point[1]}
    between = (_gap_ray(sample, name, power, 0.0, True) for name, power in powers.items())
    return (*with_slower(signal_gap_rays(sample)), *between)


MIDDLE = order_at_most(SIZE ** (1 - 2 * beta) * Sum(j ** (beta - s * beta - 1), (j, 1, SIZE)),
                       SIZE ** Max(1 - s * beta - beta, 1 - 2 * beta))  # fmt: skip


def partial_sum_rays(beta: float) -> tuple[Ray, ...]:
    """M^(1-2 beta) sum_{j<=M} j^(beta - s beta - 1) at s = 1, where the sum is harmonic: the middle line of a proof."""
    sizes = np.geomspace(10.0, 1e15, 12)
    harmonic = np.log(sizes) + float(np.euler_gamma) + 0.5 / sizes
    logs = np.log(sizes)
    return (Ray("s = 1", logs, {"M": logs}, (1.0 - 2.0 * beta) * logs + np.log(harmonic)),)


def total_gap(sample: Sample) -> list[tuple[dict[str, Any], float]]:
    """The gap with constant noise at t = 1e60 M^beta by quadrature of the tail kernel, for several M."""
    beta = sample.point[1]
    gaps = []
    for size in (1, 7, 200):

        def tail(t: Array, start: int = size) -> Array:
            return tail_kernel(t, beta, float(start))

        # What is left beyond 1e60 M^beta is below 1e-60^(1 - 1/beta), 1e-12 of the whole for beta >= 4/3.
        gaps.append(({"M": size}, integrate_graded(tail, 1e60 * size**beta).value))
    return gaps


def signal_gap_order(sample: Sample) -> float:
    """max(1 - beta - s beta, 1 - 2 beta)."""
    s, beta = sample.point
    return max(1.0 - beta - s * beta, 1.0 - 2.0 * beta)


def _printed_gap(sample: Sample) -> Equivalent:
    s, beta = sample.point
    return power_of_size(max(-s * beta, 1.0 - 2.0 * beta), "upper", fixed=True)


def _sharp_gap(sample: Sample) -> Equivalent:
    """M^(1 - 2 beta) int_1^M y^(beta - s beta - 1) dy: the two powers, and log M where they meet (s = 1)."""
    s, beta = sample.point
    order, rate = signal_gap_order(sample), beta * (1.0 - s)

    def law(powers: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        turn = rate * logs["M"]
        inner = np.log(np.expm1(turn) / rate) if rate else np.log(logs["M"])
        return powers["M"] * logs["M"] + inner - np.maximum(turn, 0.0)

    return Equivalent(law, {"M": order})


def _gap_instances(sample: Sample) -> list[dict[Any, Any]]:
    """The gap at t = 1, and its order as it is judged, for three sizes."""
    statement = _sharp_gap(sample)
    return [{t: 1.0, SIZE: size, SIGNAL_GAP: signal_gap(1.0, *sample.point, size),
             GAP_ORDER: float(np.exp(statement.law(statement.exponents, {"M": np.log(size)})))}
            for size in (2, 3, 5)]  # fmt: skip


def _noise_gaps(sample: Sample) -> list[dict[Any, Any]]:
    """The gap with constant noise at t = 1."""
    return [{t: 1.0, SIZE: size, NOISE_GAP: noise_gap(1.0, sample.point[1], size)} for size in (2, 3)]


def _falling(sample: Sample, *, with_signal: bool) -> list[dict[Any, Any]]:
    """The gap at t = 1 under a rate that falls."""
    s, beta = sample.point
    gaps = {size: signal_gap(1.0, s, beta, size, _falling_rate) if with_signal
            else noise_gap(1.0, beta, size, _falling_rate) for size in (2, 3)}  # fmt: skip
    return [{t: 1.0, SIZE: size, GAMMA: _falling_rate, AT_ANY_RATE[with_signal]: value} for size, value in gaps.items()]


def at_one(s: Any, beta: Any) -> tuple[Any, Any]:
    """The point s = 1 of the same beta, where the sum of the proof is harmonic."""
    return Integer(1), beta


def _tail_mass(sample: Sample) -> Statement:
    total = zeta(sample.beta, SIZE + 1) / 2
    wrong = {"twice it": 2 * total, "from M on": zeta(sample.beta, SIZE) / 2, "the features up to M":
             (zeta(sample.beta) - zeta(sample.beta, SIZE + 1)) / 2}  # fmt: skip
    return sharp(total, {"beta": sample.beta}, QUADRATURE, wrong)


def _above_four_thirds(s: Any, beta: Any) -> tuple[Any, Any]:
    """Smaller beta raised to 4/3, where the quadrature to t = 1e60 M^beta leaves too much; in the same regime."""
    raised = max(beta, Rational(4, 3))
    return along_edge(s, beta, raised), raised


def _printed_order(sample: Sample) -> float:
    s, beta = sample.point
    return max(-s * beta, 1.0 - 2.0 * beta)


def _attained(sample: Sample) -> dict[str, Statement]:
    """That the printed bound is attained, where it is larger than the true order (where it is not, this is true)."""
    printed = _printed_order(sample)
    return {"the printed order": power_of_size(printed)} if printed > signal_gap_order(sample) + 0.05 else {}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eq:Ke-gap", "eq:Ke-gap", 2348, "what K_infinity adds to the noise of the signal",
        order_at_most(AT_ANY_RATE[True], SIZE ** Max(-s * beta, 1 - 2 * beta)),
        (MODEL, "gamma <= 1", "t >= 0", UP_TO_CONSTANTS),
        all_times,
        _printed_gap,
        lambda sample: {"0.05 below the true order":
                        power_of_size(signal_gap_order(sample) - 0.05, "upper", fixed=True), **_attained(sample)},
        family="gaps", extra_points={"easy": ((Rational(5, 2), Rational(2)),)},
        instances=partial(_falling, with_signal=True),
        beyond=lambda sample: {"gamma = M^beta": gaps_outside(sample, with_signal=True)["gamma = M^beta"]},
        quoted=r"\lesssim M^{\max\{-s\beta, -2\beta+1\}}",
    ),
    Claim(
        "eq:Ke-gap/sharp", "eq:Ke-gap", 2348, "the true order of that gap",
        same_order(SIGNAL_GAP, GAP_ORDER),
        (MODEL, "gamma = 1", "M^beta <= t <= 10 M^beta",
         UP_TO_CONSTANTS),
        signal_gap_rays, _sharp_gap,
        _attained, instances=_gap_instances,
        role="stronger", strengthens="eq:Ke-gap", family="gaps", beyond=partial(gaps_outside, with_signal=True),
    ),
    Claim(
        "eq:Ke-gap/argument", "eq:Ke-gap", 2371, "the middle line of the proof, where its cases meet",
        MIDDLE, (MODEL, equals(s, 1), exact_powers("one spectrum is enough to refute it")),
        lambda sample: partial_sum_rays(sample.point[1]),
        lambda sample: power_of_size(signal_gap_order(sample), "upper"), moved=at_one, regimes=("easy",),
        role="argument", instances=lambda sample: [
            {MIDDLE.left: 2.0 ** (1.0 - 2.0 * sample.point[1]) * 1.5, SIZE: 2}],
        corrected_by="eq:Ke-gap/at-one", family="gaps",
    ),
    Claim(
        "eq:Ke-gap/at-one", "eq:Ke-gap", 2371, "the gap where its cases meet, with its logarithm",
        same_order(SIGNAL_GAP, SIZE ** (1 - 2 * beta) * log(SIZE)),
        (MODEL, equals(s, 1), "gamma = 1", "M^beta <= t <= 10 M^beta",
         UP_TO_CONSTANTS),
        signal_gap_rays, _sharp_gap,
        lambda sample: {"without the logarithm": power_of_size(signal_gap_order(sample))}, moved=at_one,
        regimes=("easy",), role="corrected", family="gaps", instances=_gap_instances,
        beyond=partial(gaps_outside, with_signal=True),
    ),
    Claim(
        "eq:Ksigma-gap", "eq:Ksigma-gap", 2400, "what K_infinity adds to the label noise",
        order_at_most(AT_ANY_RATE[False], SIZE ** (1 - beta)),
        (MODEL, "s <= 1 - 1/beta", "gamma <= 1", "t >= 0", UP_TO_CONSTANTS),
        lambda sample: with_slower(noise_gap_rays(sample, early=True)),
        regimes=("edge", "hard"), family="gaps", beyond=partial(gaps_outside, with_signal=False),
        instances=partial(_falling, with_signal=False),
        quoted=r"\gamma_\tau \dd \tau \lesssim M^{-\beta+1}",
    ),
    Claim(
        "eq:Ksigma-gap/sharp", "eq:Ksigma-gap", 2400, "the same in both directions, for every s",
        same_order(NOISE_GAP, SIZE ** (1 - beta)),
        (MODEL, "gamma = 1", "t >= M^beta", UP_TO_CONSTANTS), noise_gap_rays,
        role="stronger", strengthens="eq:Ksigma-gap", family="gaps", instances=_noise_gaps,
        beyond=partial(gaps_outside, with_signal=False),
        remark="No condition on s is needed.",
    ),
    Claim(
        "eq:Ksigma-gap/exact", "eq:Ksigma-gap", 2400, "the supremum of the gap in closed form",
        equals(Integral(Sum(j ** (-2 * beta) * exp(-2 * t * j**-beta), (j, SIZE + 1, oo)), (t, 0, oo)),
               Sum(j**-beta / 2, (j, SIZE + 1, oo))),
        (MODEL, "beta >= 4/3", exact_powers("the zeta function is theirs")),
        total_gap, _tail_mass, derive=tail_mass, moved=_above_four_thirds, role="stronger",
        strengthens="eq:Ksigma-gap", family="gaps",
    ),
)  # fmt: skip
