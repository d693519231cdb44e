"""ineq: inf_sum and ass:fsl: the best constants between the risk and the law, and how small the rate has to be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Abs, Function, Gt, Lt, Rational, Symbol, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Equivalent, Joint, Ray, Sharp
from fsl_num.claims.words import Where
from fsl_num.design.worst import worst_schedule
from fsl_num.functional import functional_scaling_law
from fsl_num.model import Model
from fsl_num.paper.block_constants import AS_A_POWER, exact_powers
from fsl_num.paper.functional.falling_rate import functionals
from fsl_num.paper.functional.formulas import LAW
from fsl_num.paper.functional.runs import VOLTERRA, bound, moderate_size
from fsl_num.paper.hypotheses import (
    INFINITE,
    MODEL,
    SCHEDULES,
    every,
    located,
    of_constant_rate,
    of_infinite_size,
)
from fsl_num.paper.statements import Between, multiple_of, power_law
from fsl_num.schedules import Constant
from fsl_num.spectrum import trace
from fsl_num.validation import Array
from fsl_num.volterra import Problem, solve
from fsl_num.volterra.mesh import mesh_equation
from fsl_sym.best_constants import best_constant_derivations, resolvent_limit
from fsl_sym.proof import AllOf, Formula, at_least, at_most, same_order, tends
from fsl_sym.symbols import E, beta, s, t

RATES = (0.2, 0.45)
"""gamma_max tr(H)/2 at which the adversary is let loose: far beyond what "sufficiently small" must mean."""
NOISES = (0.0, 1e6)
"""sigma^2 there."""
LOUD = 1e12
"""sigma^2 beside which no signal is seen."""
HORIZON = 1e24
"""Intrinsic time at which limits are read off: t^-(1-1/beta) is then 1e-6 for beta = 4/3."""
FARTHEST = 1e40
BEST, C_MAX = Symbol("A", positive=True), Symbol("c", positive=True)
"""sup_u R(u)/(gamma_max K_M(u)), R the resolvent of gamma_max K_M; gamma tr(H)/2."""
LABEL_RATIO, SIGNAL_RATIO = (Function(name, positive=True) for name in ("ratio_label", "ratio_signal"))
"""2 E over the law at an intrinsic time, with label noise alone and with the signal alone."""
MESH = 0.015
"""Slack of the adversary's ratios: the mesh is good to 1e-2 of 2 E/law - 1, which it drives to 1.4 at most."""


def excess_at_constant_rate(
    s: float, beta: float, stability: float, noise: float, horizon: float, rtol: float
) -> float:
    """Excess risk over law for constant gamma and M infinite at the horizon."""
    rate, model = _rate(beta, stability), Model(s, beta, math.inf, noise)
    law = functional_scaling_law(model, Constant(peak=rate, steps=horizon / rate), rtol=rtol).total
    return float(solve(Problem(model, gamma=rate, horizon=horizon), horizon, rtol=rtol).excess_risk[0]) / law


def _rate(beta: float, stability: float) -> float:
    """gamma, of infinitely many features."""
    return float(2.0 * stability / trace(beta))


def _quotients(sample: Sample) -> dict[str, Any]:
    """The ratios at a time, and the terms of the law and the risk, each from its own sum, at c = 1/2."""
    from scipy.special import zeta

    s, beta = sample.point
    known: dict[str, Any] = {"t": 30.0, "c": 0.5, "gamma": _rate(beta, 0.5), "tr(H)": float(zeta(beta))}
    for name, words, noise in (("ratio_label", "label noise", LOUD), ("ratio_signal", "the signal", 0.0)):
        model = Model(s, beta, math.inf, noise)
        law = functional_scaling_law(model, Constant(peak=known["gamma"], steps=30.0 / known["gamma"]))
        problem = Problem(model, gamma=known["gamma"], horizon=30.0)
        terms = float(model.signal(30.0)) + 2.0 * (law.batch_noise + law.label_noise)
        known |= {f"E of {words} alone": float(solve(problem, 30.0, rtol=1e-9).excess_risk[0]),
                  f"the law of {words} alone": terms,
                  name: lambda t, noise=noise: excess_at_constant_rate(s, beta, 0.5, noise, t, 1e-9)}  # fmt: skip
    return known


def limits(sample: Sample) -> list[tuple[dict[str, Any], float]]:
    """Excess risk over law for label noise alone and for the signal alone, at several rates."""
    s, beta = sample.point
    return [
        (
            {"source": source, "c": stability, "t": HORIZON},
            excess_at_constant_rate(s, beta, stability, noise, HORIZON, 1e-11),
        )
        for stability in (0.1, 0.5, 0.8)
        for source, noise in (("label noise", LOUD), ("signal", 0.0))
    ]


def threshold_rays(sample: Sample) -> dict[str, list[Ray]]:
    """Excess risk over law as gamma tr(H)/2 rises to 1, t = 1e40, for label noise alone and for the signal alone."""
    s, beta = sample.point
    # Drifts are judged to 1e-2: 1e-6 in each value cannot be seen.
    gaps = 2.0 ** -np.arange(2.0, 11.0)
    rays_of = {}
    for source, noise in (("label noise", LOUD), ("signal", 0.0)):
        values = [excess_at_constant_rate(s, beta, 1.0 - gap, noise, FARTHEST, 1e-6) for gap in gaps]
        logs = {"1 - c": np.log(gaps), "t": np.full(gaps.size, math.log(FARTHEST))}
        rays_of[source] = [Ray(f"c to 1, {source}", -np.log(gaps), logs, np.log(values))]
    return rays_of


@lru_cache(maxsize=128)
def resolvent_supremum(beta: float, size: float, stability: float, horizon: float) -> float:
    """sup over u <= horizon of R(u)/(gamma K_M(u)), R the resolvent of gamma K_M.

    R solves the equation whose source is gamma K_M: that of the signal at s = 2 - 1/beta, without delta. Its part that
    delta_M leaves is taken out by linearity.
    """
    gamma, resolvent, kernel = _resolvent(beta, size, stability, horizon)
    return float((resolvent / (gamma * kernel)).max())


def _resolvent(
    beta: float, size: float, stability: float, horizon: float, at: Array | None = None
) -> tuple[float, Array, Array]:
    """gamma, and R and K_M at times up to the horizon."""
    s = 2.0 - 1.0 / beta
    gamma = 2.0 * stability / trace(beta, size)
    times = np.concatenate([np.geomspace(0.05, 50.0, 120), np.geomspace(60.0, max(horizon, 61.0), 60)])
    times = times[times <= horizon] if at is None else at
    problem = Problem(Model(s=s, beta=beta, size=size, noise=0.0), gamma=gamma, horizon=horizon)
    louder = Problem(Model(s=s, beta=beta, size=size, noise=1.0), gamma=gamma, horizon=horizon)
    quiet, loud = (2.0 * solve(system, times, rtol=1e-10).excess_risk for system in (problem, louder))
    # loud - quiet is the noise that a source of size 1 leaves; delta_M is such a source besides itself.
    signal = quiet - problem.model.approximation_error * (1.0 + loud - quiet)
    return gamma, gamma * signal, np.asarray(problem.model.kernel(times))


def _supremum(sample: Sample) -> dict[str, Any]:
    """A for ten features, and at one time the equation of R."""
    beta, size = sample.point[1], 10.0
    gamma, resolvent, kernel = _resolvent(beta, size, RATES[0], 30.0)
    model = Model(1.0, beta, size, 0.0)
    return {
        "A": resolvent_supremum(beta, size, RATES[0], 30.0), "u": 2.0, "gamma_max": gamma, "K_M": model.kernel,
        "the quotients R(u)/(gamma_max K_M(u)) over u": resolvent / (gamma * kernel),
        "R": lambda times: _resolvent(beta, size, RATES[0], 30.0, np.atleast_1d(times))[1].reshape(np.shape(times)),
    }  # fmt: skip


@lru_cache(maxsize=64)
def adversary(sample: Sample) -> tuple[tuple[str, str, float], ...]:
    """Largest and smallest loss/law found at several times, noises and rates; both closures."""
    s, beta = sample.point
    size = moderate_size(beta)
    ratios = []
    searches = 1 if sample.effort == 0 else 4
    for stability in RATES:
        for horizon in spots(beta):
            equation = mesh_equation(s, beta, size, horizon)
            for noise in NOISES:
                limit = bound(equation, stability)
                high = worst_schedule(equation, limit, noise, searches=searches)
                low = worst_schedule(equation, limit, noise, largest=False, searches=1)
                place = f"t = {horizon:.3g}, sigma^2 = {noise:g}"
                name = number_name(stability, horizon)
                ratios.append((name, f"{place}: {high.words(equation)[:80]}", math.exp(high.excess)))
                ratios.append((name, f"{place}, smallest", math.exp(low.excess)))
    return tuple(ratios)


def spots(beta: float) -> tuple[float, ...]:
    """Times at which the adversary is checked: early, inside the window, and beyond it."""
    return (4.0, 1e3, 3.0 * moderate_size(beta) ** beta)


def number_name(stability: float, horizon: float) -> str:
    """The name of one of the adversary's numbers."""
    return f"c = {stability:g}, t = {horizon:.3g}"


def _falling(sample: Sample) -> list[dict[Any, Any]]:
    """The law under a rate that falls, and a multiple of it."""
    return [{**known, BEST: 1.5, BEST * LAW: 1.5 * known[LAW]} for known in functionals(sample)]


def _best(sample: Sample) -> Between:
    beta = sample.point[1]
    size = moderate_size(beta)
    bounds, halved, lower, stable = {}, {}, {}, {}
    least = 2.0 * multiple_of(OF_TWICE[0].left, LAW) / multiple_of(OF_TWICE[0].right, E)  # of 2 E over the law
    for stability in RATES:
        for horizon in spots(beta):
            name = number_name(stability, horizon)
            high = resolvent_supremum(beta, size, stability, horizon)
            bounds[name] = (least, high)
            halved[name] = (1.0, 1.0 / (1.0 - 0.5 * stability))
            lower[name] = (1.0 + 2.0 * MESH, high)
            stable[name] = (1.0, 0.975 / (1.0 - stability))  # 1/(1 - c) is what label noise reaches in the end
    wrong = {
        "half of c in the upper constant": halved,
        "a lower constant above 1": lower,
        "2.5 % below 1/(1-c)": stable,
    }
    return Between(bounds, MESH, wrong, formulas=OF_TWICE)


OF_TWICE = (at_most(LAW, 2 * E), at_most(2 * E, BEST * LAW))
LIMITS = (
    tends(LABEL_RATIO(t), t, oo, 1 / (1 - C_MAX)),
    replace(tends(SIGNAL_RATIO(t), t, oo, 1 / (1 - C_MAX**2)), where=Lt(s, 2 - 1 / beta)),
    replace(tends(SIGNAL_RATIO(t), t, oo, 1 / (1 - C_MAX) ** 2), where=Gt(s, 2 - 1 / beta)),
)
THRESHOLDS = (
    same_order(LABEL_RATIO(oo), 1 / (1 - C_MAX)),
    replace(same_order(SIGNAL_RATIO(oo), 1 / (1 - C_MAX)), where=Lt(s, 2 - 1 / beta)),
    replace(same_order(SIGNAL_RATIO(oo), (1 - C_MAX) ** -2), where=Gt(s, 2 - 1 / beta)),
)


def _of_source(parts: Sequence[Formula], sample: Sample, source: str) -> list[Formula]:
    """What a claim says of the label noise or of the signal at a sample."""
    ratio = LABEL_RATIO if source == "label noise" else SIGNAL_RATIO
    here = {s: sample.s, beta: sample.beta}
    return [part for part in parts if part.left.func == ratio and (part.where is None or bool(part.where.subs(here)))]


def _factor(sample: Sample, source: str, c: float) -> float:
    (limit,) = _of_source(LIMITS, sample, source)
    return float(limit.right.subs(C_MAX, c))


def _limit(sample: Sample) -> Sharp:
    s, beta = sample.point
    label = 1.0 - 1.0 / beta
    powers = {"label noise": [label], "signal": [label, abs(s - 2.0 + 1.0 / beta) or 1.0]}

    def remainder(point: dict[str, Any]) -> float:
        # The next terms fall like these powers of t, with constants that grow like powers of 1/(1 - c).
        scale = 10.0 / (1.0 - point["c"]) ** 3
        return float(1e-8 + scale * sum(HORIZON**-power for power in powers[point["source"]]))

    def wrong(change: Callable[[float], float]) -> Callable[[dict[str, Any]], float]:
        return lambda point: change(_factor(sample, point["source"], point["c"]))

    return Sharp(
        lambda point: _factor(sample, point["source"], point["c"]), remainder,
        {"the square root of each": wrong(lambda value: value**0.5),
         "the square of each": wrong(lambda value: value**2),
         "1/(1 - c) for every source": lambda point: 1.0 / (1.0 - point["c"])},
        formulas=LIMITS,
    )  # fmt: skip


def _power_of_gap(power: float) -> Equivalent:
    return power_law(**{"1 - c": power})


def _threshold(sample: Sample) -> Joint:
    powers = {}
    for source in ("label noise", "signal"):
        (order,) = _of_source(THRESHOLDS, sample, source)
        powers[source] = _power_of_gap(float(order.right.as_base_exp()[1]))
    return Joint(powers)


def _parted(s: Any, beta: Any) -> tuple[Any, Any]:
    """A task away from s = 2 - 1/beta."""
    end = 2 - 1 / beta
    return (s if abs(s - end) >= Rational(1, 8) else end + Rational(1, 4)), beta


RESOLVENT = Where(
    "A is the largest of the quotients R(u)/(gamma_max K_M(u)) over u; "
    "R(u) is gamma_max (K_M(u) + the integral over z from 0 to u of K_M(u - z) R(z))", _supremum
)  # fmt: skip
RATIOS = Where(
    "ratio_label(t) is 2 (E of label noise alone)/(the law of label noise alone); "
    "ratio_signal(t) is 2 (E of the signal alone)/(the law of the signal alone); c is gamma tr(H)/2",
    _quotients,
)
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "best-constants", "ineq: inf_sum", 732, "the best constants between the risk and the law",
        AllOf(OF_TWICE),
        (MODEL, *VOLTERRA, RESOLVENT,
         "c = 0.2 and 0.45", "sigma^2 = 0 and 1e6", SCHEDULES("adversary"),
         exact_powers("R and K are those of whatever spectrum; the numbers are computed for these")),
        located({**every({"c": RATES, "sigma^2": NOISES}), SCHEDULES.name: "adversary"})(adversary),
        _best, derive=best_constant_derivations, instances=_falling, role="own", depends=("ineq: inf_sum",),
        remark="The lower constant is reached as the rate vanishes, the upper one by a signal that ends at once "
               "under a constant rate.",
    ),
    Claim(
        "best-constants/limits", "ineq: inf_sum", 732, "the risk over the law at constant rates, to many digits",
        AllOf(LIMITS),
        (MODEL, INFINITE, SCHEDULES("constant"), RATIOS, "c = 0.1, 0.5, 0.8", "t = 1e24", exact_powers(AS_A_POWER),
         at_least(Abs(s - 2 + 1 / beta), Rational(1, 8))),
        of_constant_rate(of_infinite_size(limits)), _limit, derive=resolvent_limit, role="own", moved=_parted,
    ),
    Claim(
        "ass:fsl/threshold", "ass:fsl", 472, "how small the learning rate has to be",
        AllOf(THRESHOLDS),
        (MODEL, INFINITE, SCHEDULES("constant"), RATIOS, "t = 1e40", exact_powers(AS_A_POWER),
         at_least(Abs(s - 2 + 1 / beta), Rational(1, 8))),
        of_constant_rate(of_infinite_size(threshold_rays)), _threshold, derive=resolvent_limit, role="own",
        moved=_parted,
        remark="This is what sufficiently small means; at the threshold itself the risk is no longer bounded by "
               "the law.",
    ),
)  # fmt: skip
