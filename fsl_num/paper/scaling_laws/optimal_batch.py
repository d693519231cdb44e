"""Batch sizes along a run at a constant rate, under a budget of data: the best ones, and their laws. Ours.

At the rate a in intrinsic time the noise is the integral of K(T - t) a/B(t) and the data that of B(t)/a. By
Cauchy and Schwarz the best B(t) is in proportion to sqrt(K(T - t)), which grows like (T - t)^-(1 - 1/(2 beta)), and
leaves the noise (int sqrt K)^2/D. Where that falls below one sample a step, it is cut there (water filling: B is the
least of K/B + price B over B >= 1 at every t): the batch stays at 1 until little time is left, a late switch. Followers
of the paper find the same two shapes, growing throughout in the easy regime and a late switch in the hard one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Integral, Min, Rational, sqrt

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray
from fsl_num.claims.words import Assumed
from fsl_num.functional import integrate_graded
from fsl_num.paper.block_constants import (
    TWO_CLOCKS,
    UP_TO_CONSTANTS,
    Constants,
    exact_powers,
    given_constants,
    whole_periods,
)
from fsl_num.paper.block_spectra import block_modes, infinite_modes
from fsl_num.paper.hypotheses import INFINITE, LABELS, MODEL, SPECTRUM, of_unit_noise
from fsl_num.paper.scaling_laws.laws import other_orders
from fsl_num.paper.scaling_laws.training import LONGEST, even_grid, repeating_size, whole
from fsl_num.spectrum import forgetting_kernel, signal
from fsl_num.validation import Array
from fsl_sym.proof import at_least, same_order
from fsl_sym.spectrum import forgetting_kernel as exact_kernel
from fsl_sym.symbols import T2, D, E, M, T, beta, s, t

_RTOL: Final = 1e-6
"""Relative accuracy of a measured noise: drifts are judged to 1e-2 over tens of units of log(scale)."""
_FAR: Final = 125.0
"""Kernels are listed up to remaining times of 1e125, and budgets end five decades before."""
_FALL: Final = (1 - 1 / beta - s) / (2 - 1 / beta)
NOISE: Final = same_order(Integral(sqrt(exact_kernel(T - t)), (t, 0, T)) ** 2 / D, Min(M, T ** (1 / beta)) / D)
"""The least noise over sigma^2, in units of the rate 1."""
EASY: Final = same_order(E, D ** (-s * beta / (1 + s * beta)))
HARD: Final = same_order(E, D**-s)
SWITCH: Final = same_order(T2 / T, D**-_FALL)
"""The share of the run in which the batch grows."""


def _kernel_of(constants: Constants | None, beta: float, size: float, times: Array) -> Array:
    """K_M at times, of exact powers or of a spectrum up to constants."""
    if constants is None:
        return np.asarray(forgetting_kernel(times, beta, size))
    modes, _ = block_modes(constants, 1.0, beta, size, float(times.max()))
    return np.asarray(np.exp(-np.multiply.outer(times, modes.rates)) @ modes.weights)


@lru_cache(maxsize=16)
def _listed(beta: float, constants: Constants | None) -> tuple[Array, Array, Array]:
    """Logs of remaining times, of K there, and of the integral of sqrt K up to them, for M infinite."""
    left = np.linspace(math.log(1e-4), _FAR * math.log(10.0), 6001)
    size = math.inf if constants is None else 10.0 ** ((_FAR + 10.0) / beta)
    kernel = np.log(_kernel_of(constants, beta, size, np.exp(left)))
    density = np.exp(0.5 * kernel + left)
    grown = np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(left)) + density[0]
    return left, kernel, np.log(np.append(density[0], grown))


@dataclass(frozen=True)
class Plan:
    """The best horizon T, the time at its end in which the batch grows, and the excess risk, at the rate 1."""

    horizon: float
    growing: float
    excess_risk: float


@lru_cache(maxsize=256)
def best_plan(s: float, beta: float, data: float, constants: Constants | None = None) -> Plan:
    """The least (e(T) + int K(T - t)/B dt)/2 over T and B >= 1 with int B dt = data; rate and noise are 1, M infinite.

    ``constants``: those of the spectrum, if it is no exact power.

    Where the batch grows throughout, the derivative in T vanishes at -e'(T) = 2 G(T) sqrt(K(T))/data, G the integral of
    sqrt K; where it grows over the last R alone, T = data + R - G(R)/sqrt(K(R)), at -e'(T) = K(R) + K(T).
    """
    left, kernels, integrals = _listed(beta, constants)

    def kernel(log_left: float) -> float:
        return float(np.exp(np.interp(log_left, left, kernels)))

    def grown(log_left: float) -> float:
        return float(np.exp(np.interp(log_left, left, integrals)))

    def unlearned(horizon: float, power: float = 0.0) -> float:
        """The signal, each mode times a power of lambda."""
        if constants is None:
            return float(signal(horizon, s + power, beta))
        rates, _, signals = infinite_modes(constants, s, beta, 10.0**_FAR)
        return float(signals @ ((0.5 * rates) ** power * np.exp(-rates * horizon)))

    def slope(horizon: float) -> float:
        return max(2.0 * unlearned(horizon, 1.0), 1e-300)  # so far out nothing is learned

    def spent(log_left: float) -> float:
        """The data of a run whose batch is 1 at its start and grows throughout."""
        return grown(log_left) / math.sqrt(kernel(log_left))

    from scipy.optimize import brentq

    longest = brentq(lambda x: math.log(spent(x) / data), left[0], left[-1])

    def horizon_of(growing: float) -> float:
        return data + math.exp(growing) - spent(growing)

    def late(growing: float) -> float:
        horizon = horizon_of(growing)
        return math.log(slope(horizon) / (kernel(growing) + kernel(math.log(horizon))))

    def throughout(log_horizon: float) -> float:
        return math.log(slope(math.exp(log_horizon)) * data / (2 * grown(log_horizon) * math.sqrt(kernel(log_horizon))))

    if late(longest) > 0.0 > late(left[0]):  # more time is worth a batch of 1 at the start
        growing = float(brentq(late, left[0], longest, xtol=1e-13))
        horizon = horizon_of(growing)
        times = np.linspace(growing, math.log(horizon), 2001)
        inside = np.exp(np.interp(times, left, kernels) + times)
        flat = float(np.sum(0.5 * (inside[1:] + inside[:-1]) * np.diff(times)))
        noise = math.sqrt(kernel(growing)) * grown(growing) + flat
    else:
        log_horizon = float(brentq(throughout, left[0], longest, xtol=1e-13))
        horizon, growing = math.exp(log_horizon), log_horizon
        noise = grown(log_horizon) ** 2 / data
    return Plan(horizon, math.exp(growing), 0.5 * (unlearned(horizon) + noise))


def _budgets(sample: Sample, value: Any, *, exact: bool = False) -> tuple[Ray, ...]:
    """A property of the best plan along the data, up to horizons of about 1e40; ``exact``: of exact powers alone."""
    s, beta = sample.point
    longest = min(LONGEST * max(1.0, s + 1.0 / beta), _FAR - 7.0)
    decades = even_grid(longest, sample)[1:] + 2.0
    rays = []
    for constants in (None, *(() if exact else given_constants(sample.seed))):
        name = "D to infinity" if constants is None else f"D to infinity, {constants.name}"
        data = [10.0**decade for decade in decades]
        if constants is not None:
            data = [_repeating_data(sample, constants, samples) for samples in data]
        values = [value(best_plan(*sample.point, samples, constants)) for samples in data]
        rays.append(Ray(name, np.log(data), {"D": np.log(data)}, np.log(values)))
    return tuple(rays)


def _repeating_data(sample: Sample, constants: Constants, data: float) -> float:
    """Data near those given with a best horizon of whole periods, where a spectrum up to constants repeats itself.

    On hard tasks that is D; where the batch grows throughout D follows from it: 2 G(T) sqrt(K(T)) = -e'(T) D.
    """
    if sample.regime != "easy":
        return whole_periods(data)
    horizon = whole_periods(best_plan(*sample.point, data, constants).horizon)
    left, kernels, integrals = _listed(sample.point[1], constants)
    rates, _, signals = infinite_modes(constants, *sample.point, 10.0**_FAR)
    slope = float(signals @ (rates * np.exp(-rates * horizon)))
    kernel, grown = (float(np.exp(np.interp(math.log(horizon), left, table))) for table in (kernels, integrals))
    return 2.0 * grown * math.sqrt(kernel) / slope


def _noise(beta: float, size: float, horizon: float, constants: Constants | None = None) -> float:
    """The integral of K/B for the batch in proportion to sqrt K whose integral is 10 T."""

    def density(left: Array) -> Array:
        return np.sqrt(_kernel_of(constants, beta, size, left))

    return integrate_graded(density, horizon, rtol=_RTOL).value ** 2 / (10.0 * horizon)


def _noise_rays(sample: Sample, *, short: bool = False) -> tuple[Ray, ...]:
    """T far below M^beta, at it and beyond, for data of ten times the shortest; or ``short``: T to 0."""
    beta = sample.point[1]
    time, model = even_grid(LONGEST, sample), even_grid(LONGEST / (1.5 * beta), sample)

    def ray(name: str, scale: Array, pairs: list[tuple[float, float]], constants: Constants | None = None) -> Ray:
        if constants is not None:
            pairs = [(repeating_size(size, beta), whole_periods(time)) for size, time in pairs]
        sizes, times = (np.log(np.array(column, dtype=float)) for column in zip(*pairs, strict=True))
        values = np.log([_noise(beta, *pair, constants) for pair in pairs])
        return Ray(name, math.log(10.0) * scale, {"M": sizes, "T": times, "D": times + math.log(10.0)}, values)

    if short:
        return (ray("T to 0", time, [(1e250, 10**-u) for u in time]),)
    runs = {
        "T = M^(beta/2)": (time, [(whole(2 * u / beta + 1), 10**u) for u in time]),
        "T alone, M = 1e250": (time, [(whole(250), 10**u) for u in time]),
        "M far beyond T = 1e6": (time, [(whole(u + 6), 1e6) for u in time]),
        "T = M^beta": (model, [(m, m**beta) for m in map(whole, model + 1)]),
        "T = M^(3 beta/2)": (model, [(m, m ** (1.5 * beta)) for m in map(whole, model + 1)]),
        "T alone, M = 10": (time, [(10.0, 10 ** (1.5 * beta + u)) for u in time]),
        "T alone, M = 1": (time, [(1.0, 10**u) for u in time]),
    }
    repeating = [
        ray(f"{name}, {constants.name}", *arguments, constants)
        for constants in given_constants(sample.seed)
        for name, arguments in runs.items()
    ]
    return (*(ray(name, *arguments) for name, arguments in runs.items()), *repeating)


ANY_BATCH: Final = Assumed(
    "a batch may have any positive size",
    "beyond M^beta the best batches of the start are of far less than a sample: a density, which no run has",
)


def _from_the_edge(s: Any, beta: Any) -> tuple[Any, Any]:
    """Nearer to s = 1 - 1/beta what the noise adds to D^-s fades like D^-(1 - 1/beta - s), too slowly to be seen."""
    return min(s, Rational(3, 4) * (1 - 1 / Rational(beta))), beta


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "optimal-batch/noise", "eqn: fsl-simplified", 883, "the noise of the best batch sizes",
        NOISE, (SPECTRUM, at_least(T, 1), at_least(M, 1), ANY_BATCH, UP_TO_CONSTANTS),
        _noise_rays,
        mutants=other_orders(NOISE, a_constant_batch=T / D, no_memory=1 / D,
                             half_the_capacity=Min(M, T ** (1 / (2 * beta))) / D),
        beyond=lambda sample: {"T to 0": _noise_rays(sample, short=True)},
        instances=lambda sample: [{NOISE.left: _noise(sample.point[1], 3.0, 2.0), M: 3, T: 2.0, D: 20.0}],
        role="own", depends=("eqn: fsl-simplified",),
        remark="The batch grows throughout, and how large the rate is does not matter.",
    ),
    Claim(
        "optimal-batch/law-easy", "eqn: fsl-simplified", 883, "the law of the best batch sizes, easy regime",
        EASY, (MODEL, INFINITE, "s > 1 - 1/beta", LABELS, UP_TO_CONSTANTS),
        of_unit_noise(lambda sample: _budgets(sample, lambda plan: plan.excess_risk)), regimes=("easy",),
        mutants=other_orders(EASY, a_constant_batch=D ** (-s / (1 + s)), the_hard_regime=D**-s),
        role="own", depends=("eqn: fsl-simplified", "optimal-batch/noise"),
        remark="One control is worth the other: at a constant batch a power decay of the rate leaves the same order.",
    ),
    Claim(
        "optimal-batch/law-hard", "eqn: fsl-simplified", 883, "the law of the best batch sizes, hard regime",
        HARD, (MODEL, INFINITE, "s < 1 - 1/beta", LABELS, UP_TO_CONSTANTS),
        of_unit_noise(lambda sample: _budgets(sample, lambda plan: plan.excess_risk)), regimes=("hard",),
        mutants=other_orders(HARD, a_constant_batch=D ** (-s / (1 + s)), the_easy_regime=EASY.right),
        moved=_from_the_edge, role="own", depends=("eqn: fsl-simplified", "optimal-batch/noise"),
        remark="Up to a late switch every sample is a step.",
    ),
    Claim(
        "optimal-batch/late-switch", "eqn: fsl-simplified", 883, "the share of the run in which the batch grows",
        SWITCH, (MODEL, INFINITE, "s < 1 - 1/beta", LABELS,
                 exact_powers(f"{TWO_CLOCKS}optimal-batch/law-hard")),
        of_unit_noise(lambda sample: _budgets(sample, lambda plan: plan.growing / plan.horizon, exact=True)),
        regimes=("hard",),
        mutants=other_orders(SWITCH, the_noise_alone=D ** (-(1 - 1 / beta - s))),
        role="own", depends=("eqn: fsl-simplified", "optimal-batch/law-hard"),
        remark="The share vanishes: a late switch.",
    ),
)  # fmt: skip
