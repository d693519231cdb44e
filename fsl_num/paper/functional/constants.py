"""How far the loss is from the law in numbers: at constant rates to many digits, and under the adversary.

The limits at constant gamma come from the solvers of the package and from quadrature of the law; the adversary works on
the mesh of :mod:`fsl_num.paper.functional.instrument`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import functional_scaling_law
from fsl_num.model import Model
from fsl_num.paper.functional.adversary import worst_schedule
from fsl_num.paper.functional.instrument import Array, gaussian_march, instrument
from fsl_num.paper.functional.measurements import bound, moderate_size
from fsl_num.paper.functional.shapes import shape
from fsl_num.schedules import Constant
from fsl_num.spectrum import trace
from fsl_num.volterra import Problem, solve
from fsl_num.volterra.neumann import neumann_series

RATES = (0.2, 0.45)
"""gamma_max tr(H)/2 at which the adversary is let loose: far beyond what "sufficiently small" must mean."""
LOUD = 1e12
"""sigma^2 beside which no signal is seen."""
HORIZON = 1e24
"""Intrinsic time at which limits are read off: t^-(1-1/beta) is then 1e-6 for beta = 4/3."""
FARTHEST = 1e40


def excess_at_constant_rate(
    s: float, beta: float, stability: float, noise: float, horizon: float, rtol: float
) -> float:
    """Excess risk over law for constant gamma and M infinite at the horizon."""
    rate = 2.0 * stability / trace(beta)
    model = Model(s, beta, math.inf, noise)
    problem = Problem(model, gamma=rate, horizon=horizon)
    plan = Constant(peak=rate, steps=horizon / rate)
    law = functional_scaling_law(model, plan, rtol=rtol).total
    return float(solve(problem, horizon, rtol=rtol).excess_risk[0]) / law


def limits(sample: Sample) -> list[tuple[dict[str, Any], float]]:
    """Excess risk over law for label noise alone and for the signal alone, at several rates."""
    s, beta = sample.point
    return [
        ({"source": source, "c": stability}, excess_at_constant_rate(s, beta, stability, noise, HORIZON, 1e-11))
        for stability in (0.1, 0.5, 0.8)
        for source, noise in (("label noise", LOUD), ("signal", 0.0))
    ]


def threshold_rays(sample: Sample) -> dict[str, list[Ray]]:
    """Excess risk over law as gamma tr(H)/2 rises to 1, t = 1e40, for label noise alone and for the signal alone."""
    s, beta = sample.point
    # Drifts are judged to 1e-2: 1e-6 in each value cannot be seen.
    gaps = 2.0 ** -np.arange(2.0, 11.0)
    found = {}
    for source, noise in (("label noise", LOUD), ("signal", 0.0)):
        values = [excess_at_constant_rate(s, beta, 1.0 - gap, noise, FARTHEST, 1e-6) for gap in gaps]
        found[source] = [Ray(f"c to 1, {source}", -np.log(gaps), {"1 - c": np.log(gaps)}, np.log(values))]
    return found


@lru_cache(maxsize=128)
def resolvent_supremum(beta: float, size: float, stability: float, horizon: float) -> float:
    """sup over u <= horizon of R(u)/(gamma K_M(u)), R the resolvent of gamma K_M.

    R solves the equation whose source is gamma K_M: that of the signal at s = 2 - 1/beta, without delta. Its part that
    delta_M leaves is taken out by linearity.
    """
    s = 2.0 - 1.0 / beta
    gamma = 2.0 * stability / trace(beta, size)
    times = np.concatenate([np.geomspace(0.05, 50.0, 120), np.geomspace(60.0, max(horizon, 61.0), 60)])
    times = times[times <= horizon]
    problem = Problem(Model(s=s, beta=beta, size=size, noise=0.0), gamma=gamma, horizon=horizon)
    louder = Problem(Model(s=s, beta=beta, size=size, noise=1.0), gamma=gamma, horizon=horizon)
    quiet, loud = (2.0 * solve(each, times, rtol=1e-10).excess_risk for each in (problem, louder))
    # loud - quiet is the noise that a source of size 1 leaves; delta_M is such a source besides itself.
    signal = quiet - problem.model.approximation_error * (1.0 + loud - quiet)
    return float((signal / problem.model.kernel(times)).max())


@lru_cache(maxsize=64)
def adversary(sample: Sample) -> tuple[tuple[str, str, float], ...]:
    """Largest and smallest loss/law found at several times, noises and rates; both closures."""
    s, beta = sample.point
    size = moderate_size(beta)
    found = []
    searches = 1 if sample.effort == 0 else 4
    for stability in RATES:
        for horizon in spots(beta):
            device = instrument(s, beta, size, horizon)
            for noise in (0.0, 1e6):
                limit = bound(device, stability)
                high = worst_schedule(device, limit, noise, searches=searches)
                low = worst_schedule(device, limit, noise, largest=False, searches=1)
                place = f"t = {horizon:.3g}, sigma^2 = {noise:g}"
                name = names(stability, horizon)
                found.append((name, f"{place}: {high.words(device)[:80]}", math.exp(high.excess)))
                found.append((name, f"{place}, smallest", math.exp(low.excess)))
    return tuple(found)


def spots(beta: float) -> tuple[float, ...]:
    """Times at which the adversary is checked: early, inside the window, and beyond it."""
    return (4.0, 1e3, 3.0 * moderate_size(beta) ** beta)


def names(stability: float, horizon: float) -> str:
    """The name of one of the adversary's numbers."""
    return f"c = {stability:g}, t = {horizon:.3g}"


@lru_cache(maxsize=64)
def closure_ratios(sample: Sample) -> tuple[tuple[str, str, float], ...]:
    """E over delta_M + e_M + int K_M gamma (E + sigma^2) for Gaussian features, E the measured risk itself.

    Several models, M = 1 among them (where rho_+ = 2 is reached), rates up to the edge of stability and noises.
    """
    s, beta = sample.point
    found = []
    for size, horizon in ((1.0, 30.0), (30.0, 3.0 * 30.0**beta), (1000.0, 1e3)):
        device = instrument(s, beta, size, horizon)
        # Stable: sum gamma lambda_j/(2 - gamma lambda_j) < 1 (0.9 for M = 1, at most 0.7 for the others).
        for gamma in (1e-6, 0.1, (0.95 if size == 1.0 else 0.8) / device.trace):
            for name in ("constant", "burst then zero"):
                gammas = gamma * shape(name, device)
                march = gaussian_march(device, [gammas])[:, 0, :]
                for noise in (0.0, 1.0):
                    ratio = _closure_ratio(device.operator(gammas)[-1], march, device.delta, noise, device.signal)
                    place = f"M = {size:g}, gamma = {gamma:.3g}, {name}, sigma^2 = {noise:g}"
                    found.append(("E/right side", place, ratio))
    return tuple(found)


def _closure_ratio(row: Array, march: Array, delta: float, noise: float, signal: Array) -> float:
    total = march[:, 0] + (delta + noise) * march[:, 1]
    risk = 0.5 * (total - noise)
    # The last node holds the modes alone, without the constant source: what is left there may be 1e-15 of the noise.
    risk[-1] = 0.5 * (total[-1] + delta)
    return float(risk[-1] / (delta + signal[-1] + row @ (risk + noise)))


def second_over_first(sample: Sample) -> list[tuple[str, str, float]]:
    """(T^2 g)/(gamma tr(H) T g) at t = 1e6 for the signal alone, constant gamma, M = 1e40; two rates."""
    s, beta = sample.point
    device = instrument(s, beta, 1e40, 1e6)
    found = []
    for stability in (0.02, 0.2):
        operator = device.operator(bound(device, stability) * shape("constant", device))
        first = operator @ device.signal
        ratio = float((operator[-1] @ first) / first[-1]) / (2.0 * stability)
        found.append(("ratio", f"c = {stability:g}", ratio))
    return found


def series(sample: Sample) -> list[tuple[dict[str, Any], float]]:
    """The excess risk at t = 1000 by the solver, beside the number of terms of the series that it is compared with."""
    solution = solve(_series_problem(sample), 1e3, rtol=1e-11)
    return [({"terms": terms}, float(solution.excess_risk[0])) for terms in (2, 4, 8)]


def _series_problem(sample: Sample) -> Problem:
    s, beta = sample.point
    return Problem(Model(s=s, beta=beta, size=50, noise=1.0), gamma=2.0 * 0.2 / trace(beta, 50), horizon=1e3)


@lru_cache(maxsize=64)
def partial_sums(sample: Sample) -> tuple[Array, float]:
    """Partial sums g', g' + T g, ... of the series at t = 1000 (g' = (delta + e)/2), and gamma_max tr(H)/2."""
    problem = _series_problem(sample)
    return neumann_series(problem, [1e3], terms=9).partial_sums[:, 0], problem.stability


@lru_cache(maxsize=64)
def sketch_rays(sample: Sample) -> tuple[Ray, ...]:
    """T^2 g/(gamma_max tr(H) T g) and T^3 g/(gamma_max tr(H) T^2 g), the larger, along M at t = M^beta and at t = 4.

    g = delta + e + noise (the constant source stands for sigma^2); schedules that switch on and off.
    """
    s, beta = sample.point
    # what M features lack of the trace fades like M^-(beta-1): the smaller beta, the longer the ray
    last = max(min(6.0, 16.0 / beta), min(4.0 / (beta - 1.0), 24.0))
    sizes = np.floor(np.geomspace(8.0, 10.0**last, 7))
    logs = np.log(sizes)
    found = []
    for name, noise in (("constant", 0.0), ("step down", 0.0), ("oscillation", 1.0)):
        for clock, power in (("t = M^beta", beta), ("t = 4", 0.0)):
            values = []
            for size in sizes:
                device = instrument(s, beta, float(size), max(float(size) ** power, 4.0))
                operator = device.operator(bound(device) * shape(name, device))
                first = operator @ (device.signal + device.delta + noise)
                second = operator @ first
                larger = max(float(second[-1] / first[-1]), float((operator @ second)[-1] / second[-1]))
                values.append(math.log(larger / (bound(device) * device.trace)))
            found.append(Ray(f"{clock}, {name}, sigma^2 = {noise:g}", logs, {"M": logs}, np.array(values)))
    return tuple(found)
