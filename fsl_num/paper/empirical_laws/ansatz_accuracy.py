"""eqn: fsl-ansatz: how near the ansatz comes to the functional, with the constants that its derivation gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from typing import Any, Final

import numpy as np
from sympy import Expr, Function, Integral, Sum

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import Where, joined
from fsl_num.paper.empirical_laws.formulas import POWER, power_kernel_at
from fsl_num.paper.empirical_laws.measurements import (
    NOISES,
    PEAK,
    POWERS,
    SCALE,
    Value,
    by_step,
    linear_wsd,
    reversed_gone,
)
from fsl_num.paper.hypotheses import SCHEDULES, every, located
from fsl_num.validation import Array
from fsl_sym.ansatz import c, clock, i, k, past, rate
from fsl_sym.proof import Formula, at_most, within
from fsl_sym.symbols import beta, s, sigma

COUNTS = (256, 2048, 16384)
NAMES = ("constant", "cosine", "wsd", "8-1-1", "early drop")
EARLY = 20
"""Steps before the early drop, whatever the number of steps."""
_whole, _effective = clock(k), Function("gamma", nonnegative=True)
_NOISE = Integral(power_kernel_at(_whole - past) * (sigma**2 + (1 + past) ** -s) * _effective(past), (past, 0, _whole))


_SHARE = (1 + s * beta) * (1 + c * _whole) ** -POWER


def _share(sample: Sample) -> Expr:
    return _SHARE.subs({s: sample.s, beta: sample.beta})


def _near(noise: Expr) -> Formula:
    """The noise of the functional is that of the ansatz, up to a share of signal and noise."""
    return within(_NOISE, noise / (c * POWER), _SHARE * (_whole**-s + _NOISE))


def _gone(time: Expr) -> Expr:
    return 1 - (1 + c * time) ** -POWER


_last = sigma**2 + (1 + _whole) ** -s
_drop = rate(i - 1) - rate(i)
PRINTED: Final = _near(
    rate(1) * _last - Sum(_drop * (sigma**2 + (1 + clock(i)) ** -s) * _gone(_whole - clock(i)), (i, 2, k))
)
CORRECTED: Final = _near(_last * (rate(1) * _gone(_whole) - Sum(_drop * _gone(_whole - clock(i - 1)), (i, 2, k))))


def _clocked(sample: Sample) -> dict[str, Any]:
    """The clock of a cosine, its rates, and what the noise is integrated with, near the end of a step."""
    rates = _named_rates("cosine", COUNTS[0])
    time = np.append(0.0, np.cumsum(rates))
    held = lambda t: float(rates[np.searchsorted(time, t) - 1])  # noqa: E731
    return {"T": by_step(time, 0), "eta": by_step(rates), "gamma": held, "i": 4, "t": time[4] - 0.1 * rates[3]}


HYPOTHESES = (
    POWERS,
    at_most(s, 1 - 1 / beta),
    Where("gamma(t) is eta(i) with T(i - 1) < t < T(i); T(i) is T(i - 1) + eta(i)", _clocked),
    SCHEDULES(*NAMES),
    "sigma = 0 and 3",
    f"K = {joined(COUNTS)}",
)


def _named_rates(name: str, steps: int) -> Array:
    """eta_1 .. eta_K: the peak, and from some step on a tenth of it."""
    k = np.arange(steps) / steps
    table: dict[str, Callable[[], Array]] = {
        "constant": lambda: np.full(steps, PEAK),
        "cosine": lambda: PEAK * (0.55 + 0.45 * np.cos(math.pi * k)),
        "wsd": lambda: linear_wsd(steps),
        "8-1-1": lambda: PEAK * np.where(k < 0.8, 1.0, np.where(k < 0.9, math.sqrt(0.1), 0.1)),
        "early drop": lambda: PEAK * np.where(np.arange(steps) < EARLY, 1.0, 0.1),
    }
    return table[name]()


@lru_cache(maxsize=512)
def _functional(point: tuple[str, int, float], s: float, beta: float) -> float:
    """T^-s + int K(T - t) (sigma^2 + (1 + t)^-s) gamma(t) dt, step by step."""
    name, steps, noise = point
    rates = _named_rates(name, steps)
    time = np.concatenate([[0.0], np.cumsum(rates)])
    return float(time[-1] ** -s - rates @ np.diff(reversed_gone(time, s, beta, noise)))


def functionals(sample: Sample) -> list[tuple[Any, float]]:
    """The functional for every schedule, number of steps and label noise."""
    points = [(name, steps, noise) for name in NAMES for steps in COUNTS for noise in NOISES]
    return [(point, _functional(point, *sample.point)) for point in points]


def ansatz_value(sample: Sample, *, at: str, held: float = 1.0, signal: float = 1.0) -> Value:
    """The ansatz with c_3 = 1/(c (1 - 1/beta)), c_4 = sigma^2, c_5 = c, gamma = 1 - 1/beta and the noise of eta_1 kept.

    ``at``: its signal and shares at T(i) ("the drop"), as printed, or at T(k) and since T(i-1) ("the end").
    """
    s, beta = sample.point
    power = 1.0 - 1.0 / beta

    def value(point: Any) -> float:
        name, steps, noise = point
        rates = _named_rates(name, steps)
        time = np.concatenate([[0.0], np.cumsum(rates)])
        whole, drops = time[-1], -np.diff(rates)

        def share(x: Any) -> Any:
            return -np.expm1(-power * np.log1p(SCALE * x))

        last = noise + (1.0 + whole) ** -s
        if at == "the drop":
            then = time[2:]
            reduced, first = float(drops @ ((noise + (1.0 + then) ** -s) * share(whole - then))), rates[0] * last
        else:
            reduced, first = last * float(drops @ share(whole - time[1:-1])), rates[0] * last * share(whole)
        return float(signal * whole**-s + (held * first - reduced) / (SCALE * power))

    return value


def _accuracy(at: str, sample: Sample) -> Sharp:
    s, beta = sample.point
    wrong = {
        "the signal at the drop, as printed": ansatz_value(sample, at="the drop"),
        "a tenth more noise of the first rate": ansatz_value(sample, at="the end", held=1.1),
        "without its first term": ansatz_value(sample, at="the end", signal=0.0),
    }

    share = _share(sample)

    def left(point: Any) -> float:
        """(1 + s beta) times what the kernel has not yet forgotten of the start.

        To first order e(T - x) - e(T) = s x T^(-s-1), and int x K dx over [0, T] is beta T of that share of int K.
        """
        whole = float(_named_rates(point[0], point[1]).sum())
        return float(share.subs({_whole: whole, c: SCALE}))

    return Sharp(ansatz_value(sample, at=at), left, wrong if at == "the end" else {}, off=0.1)


def _near_instances(at: str, sample: Sample) -> list[dict[Any, Any]]:
    """Both noises of the shortest runs as they are measured and judged; gamma of the constant one, which is smooth."""
    steps, instances = COUNTS[0], []
    for name, noise in product(NAMES, NOISES):
        rates, point = _named_rates(name, steps), (name, steps, noise)
        signal = float(rates.sum()) ** -sample.point[0]
        instances.append({
            c: SCALE, k: steps, sigma: math.sqrt(noise), rate: by_step(rates),
            clock: by_step(np.append(0.0, np.cumsum(rates)), 0),
            _NOISE: _functional(point, *sample.point) - signal,
            (PRINTED if at == "the drop" else CORRECTED).right: ansatz_value(sample, at=at)(point) - signal,
        } | ({_effective: lambda time: PEAK} if name == "constant" else {}))  # fmt: skip
    return instances


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: fsl-ansatz/accuracy", "eqn: fsl-ansatz", 1518, "the ansatz is near the functional, as printed",
        PRINTED, HYPOTHESES,
        located(every({"K": COUNTS, "sigma^2": NOISES}))(functionals), lambda sample: _accuracy("the drop", sample),
        regimes=("edge", "hard"), instances=partial(_near_instances, "the drop"),
        corrected_by="eqn: fsl-ansatz/accuracy/corrected", family="accuracy",
        quoted=r"\left(c_4 + \frac{1}{T(i)^s}\right)"
               r" \left(1 - (1+c_5(T(k)-T(i)))^{-\gamma}\right)",
        remark="Under cosine and steps it is further off, and an early drop takes it below zero.",
    ),
    Claim(
        "eqn: fsl-ansatz/accuracy/corrected", "eqn: fsl-ansatz", 1518, "an ansatz that is near the functional",
        CORRECTED,
        HYPOTHESES,
        located(every({"K": COUNTS, "sigma^2": NOISES}))(functionals), lambda sample: _accuracy("the end", sample),
        regimes=("edge", "hard"), instances=partial(_near_instances, "the end"),
        role="corrected", family="accuracy",
        remark="It is the functional with the signal frozen at its last value.",
    ),
)  # fmt: skip
