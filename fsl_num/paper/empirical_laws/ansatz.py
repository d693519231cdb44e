"""eqn: fsl-ansatz: the ansatz for loss curves, and how near it comes to the Multi-Power Law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Sum, Symbol, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Ray, Sharp
from fsl_num.claims.words import Where
from fsl_num.paper.empirical_laws import measurements
from fsl_num.paper.empirical_laws.formulas import L, kappa
from fsl_num.paper.empirical_laws.loops import intrinsic_times
from fsl_num.paper.empirical_laws.multi_power_law import multi_power
from fsl_num.paper.hypotheses import SCHEDULES, located
from fsl_sym import ansatz
from fsl_sym.ansatz import c, clock, i, k, rate, x
from fsl_sym.proof import AllOf, at_most, equals, same_order, tends
from fsl_sym.symbols import C, K, M, beta, s, t

_c0, _c1, _c2, _c3, _c4, _c5 = (Symbol(f"c_{place}", positive=True) for place in range(6))
_gamma = Symbol("gamma", positive=True)
ANSATZ: Final = equals(
    L,
    _c0
    + _c1 * clock(k) ** -s
    + _c2 * M ** (-s * beta)
    - _c3
    * Sum(
        (rate(i - 1) - rate(i)) * (_c4 + clock(i) ** -s) * (1 - (1 + _c5 * (clock(k) - clock(i))) ** -_gamma), (i, 1, k)
    ),
)
_of_one_drop = 1 - (1 + c * x) ** -kappa
NEARLY_ALL: Final = same_order(1 - Symbol("LRD") / Symbol("LD"), 1 / K)
NEARLY: Final = AllOf((tends(C / _c3 * (_c3 + t**-s) * _of_one_drop, _c3, oo, C * _of_one_drop), NEARLY_ALL))
"""One drop of the ansatz with c_2 c_3 = C; and all drops, against the Multi-Power Law."""


def ansatz_reduction(
    rates: Sequence[float], first: float, level: float, s: float, scale: float, power: float, *, at: str = "the drop"
) -> float:
    """sum_{i=1}^k (eta_{i-1} - eta_i) (level + T^-s) (1 - (1 + scale (T(k) - T(i)))^-power), as printed.

    ``at``: the signal is frozen at T(i) ("the drop", as printed) or at T(k) ("the end").
    """
    times = intrinsic_times(rates)
    before, total = first, 0.0
    for now, time in zip(rates, times[1:], strict=True):
        signal = (time if at == "the drop" else times[-1]) ** -s
        share = 1.0 - (1.0 + scale * (times[-1] - time)) ** -power
        total += (before - now) * (level + signal) * share
        before = now
    return total


@lru_cache(maxsize=64)
def _ansatz_curves(s: float, beta: float) -> tuple[tuple[Any, float], ...]:
    """In one pass over arrays: the reduction is what the drops would give at once, less what is not yet forgotten."""
    values = []
    for name in measurements.STEPWISE:
        rates = np.array(measurements.long_rates(name))
        time = np.cumsum(rates)
        drops = rates - np.append(rates[1:], 0.0)
        for level in (0.5, 20.0):
            for last in (100, measurements.LONG):
                whole, then = time[last - 1], time[1:last]
                weight = drops[: last - 1] * (level + then**-s)
                kept = np.exp((1.0 / beta - 1.0) * np.log1p(measurements.SCALE * (whole - then)))
                values.append(
                    ((name, last, level), float(measurements.SIGNAL * whole**-s - 0.3 * (weight.sum() - weight @ kept)))
                )
    return tuple(values)


def _ansatz_instances(sample: Sample) -> list[dict[Any, Any]]:
    known = {_c0: 0.0, _c1: measurements.SIGNAL, _c2: 0.0, _c3: 0.3, _c5: measurements.SCALE, M: 1.0,
             _gamma: 1.0 - 1.0 / sample.point[1]}  # fmt: skip
    instances = []
    for (name, count, level), loss in _ansatz_curves(*sample.point):
        if count < measurements.LONG:
            rates = measurements.long_rates(name)
            own = {rate: measurements.by_step(rates), clock: measurements.by_step(intrinsic_times(rates), 0)}
            instances.append({**known, **own, L: loss, k: count, _c4: level})
    return instances


def _ansatz_loop(sample: Sample, change: float = 0.0, sign: float = 1.0, **options: Any) -> measurements.Value:
    s, beta = sample.point

    def value(point: Any) -> float:
        name, k, level = point
        rates = measurements.long_rates(name)[:k]
        power = 1.0 - 1.0 / beta + change
        reduced = ansatz_reduction(rates, rates[0], level, s, measurements.SCALE, power, **options)
        return float(measurements.SIGNAL * math.fsum(rates) ** -s - sign * 0.3 * reduced)

    return value


def _ansatz_statement(sample: Sample) -> Sharp:
    wrong = {
        "the signal at T(k)": _ansatz_loop(sample, at="the end"),
        "the reduction added": _ansatz_loop(sample, sign=-1.0),
        "gamma = 2 - 1/beta": _ansatz_loop(sample, 1.0),
    }
    return Sharp(_ansatz_loop(sample), measurements.ONE_PASS, wrong)


def _both(count: int, gamma: float) -> tuple[float, float]:
    """The reductions of the ansatz without its signal and of the Multi-Power Law, of one schedule."""
    rates = measurements.linear_wsd(count)
    rates *= measurements.WHOLE / rates.sum()
    times, drops = np.cumsum(rates), -np.diff(rates)
    since = times[-1] - times[1:], times[-1] - times[:-1]
    first, second = (float(drops @ (1.0 - (1.0 + measurements.SCALE * time) ** -gamma)) for time in since)
    return first, second


def _two_laws(sample: Sample) -> dict[str, Any]:
    """Both reductions, and each by the loops of its law; of the ansatz what a level of 1 adds."""
    gamma, rates = 1.0 - 1.0 / sample.point[1], measurements.linear_wsd(64)
    rates = (rates * measurements.WHOLE / rates.sum()).tolist()
    first, second = _both(64, gamma)
    levels = [ansatz_reduction(rates, rates[0], level, sample.point[0], measurements.SCALE, gamma) for level in (0, 1)]
    return {"LRD": first, "LD": second, "the reduction of the ansatz without its signal": levels[1] - levels[0],
            "the reduction of the Multi-Power Law": multi_power(rates, measurements.SCALE, gamma)}  # fmt: skip


LAWS: Final = Where(
    "LD is the reduction of the Multi-Power Law; LRD is the reduction of the ansatz without its signal", _two_laws
)


def _near_rays(sample: Sample) -> list[Ray]:
    """How far the ansatz without its signal is from the Multi-Power Law with kappa' = 0, relative to the reduction."""
    gamma = 1.0 - 1.0 / sample.point[1]
    counts = np.array([2.0**j for j in range(9, 17)])
    values = []
    for count in counts:
        ansatz_value, multi_power = _both(int(count), gamma)
        values.append(math.log((multi_power - ansatz_value) / multi_power))
    scale = np.log(counts)
    return [Ray("WSD, linear decay", scale, {"K": scale}, np.array(values))]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: fsl-ansatz", "eqn: fsl-ansatz", 1517, "the ansatz",
        ANSATZ, (measurements.ALL_STEPWISE, at_most(s, 2), equals(_gamma, 1 - 1 / beta)),
        located(lambda sample: {"gamma": 1.0 - 1.0 / sample.point[1]})(lambda sample: _ansatz_curves(*sample.point)),
        _ansatz_statement, family="laws", moved=lambda s, beta: (min(s, 2), beta), extra_points={"easy": ((2, 3),)},
        instances=_ansatz_instances,
        quoted=r"\left(1 - (1+c_5(T(k)-T(i)))^{-\gamma}\right)",
    ),
    Claim(
        "eqn: fsl-ansatz/nearly-multi-power", "eqn: fsl-ansatz", 240, "nearly equivalent to the Multi-Power Law",
        NEARLY, (LAWS,
         measurements.LINEAR_WSD,
         "T(k) = 200", "512 <= K <= 65536"),
        located({"T(k)": measurements.WHOLE, SCHEDULES.name: "linear-wsd"})(_near_rays),
        lambda sample: order_statement(NEARLY_ALL, sample),
        derive=ansatz.multi_power_limit, family="laws",
        quoted="nearly equivalent to the MPL formulation",
    ),
)  # fmt: skip
