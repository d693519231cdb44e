"""ineq: inf_sum: is the law below the risk? For constant rates and finite models, in rigorous balls.

The risk is enclosed by the solver whose error is proven; the law is a finite sum over pairs of modes, evaluated in ball
arithmetic. Without python-flint the same numbers are floats, which support the claim and prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Sum, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.printed_values import PrintedBound
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import NothingCompared, WithoutExponents
from fsl_num.claims.words import Where
from fsl_num.paper.block_constants import exact_powers
from fsl_num.paper.functional.balls import DIGITS, enclosed_risk, exact_problem, flint_or_none, stability_of
from fsl_num.paper.functional.formulas import LAW
from fsl_num.paper.hypotheses import MODEL, SCHEDULES, every, located, of_constant_rate
from fsl_num.validation import Array
from fsl_num.volterra import Problem, solve
from fsl_sym.proof import at_most
from fsl_sym.symbols import E, M, beta, j, s, sigma, t

SIZES = (4, 12)
STABILITIES = (0.2, 0.9)
NOISES = (0, 1, 100)
ROUNDING = 1e-12
"""Relative, of sums of some ten positive terms, and of differences of exponentials over gaps of 1e-4 and more."""
SUMS = LAW - M ** (-s * beta) + Sum(j ** (-1 - s * beta), (j, M + 1, oo))
"""The functional scaling law with the exact approximation error."""


@dataclass(frozen=True)
class Quotient:
    """E/law at one problem and time: it lies in [low, high]; ``rigorous`` where that is proven."""

    place: str
    low: float
    high: float
    rigorous: bool


@dataclass(frozen=True)
class NotBelow(WithoutExponents):
    """Every quotient is at least ``factor``; decided where its whole ball is on one side.

    >>> NotBelow(1.0).judge([Quotient("t = 1", 1.25, 1.5, True)]).rigorous
    True
    """

    factor: float

    def judge(self, measured: tuple[Quotient, ...]) -> Judgement:
        """The lowest ball decides; a ball that holds the factor inside decides nothing, and does not pass."""
        if not measured:
            raise NothingCompared("no quotient was measured")
        worst = min(measured, key=lambda quotient: quotient.low)
        detail = f"E/law in [{worst.low:.12g}, {worst.high:.12g}] at {worst.place}, at least {self.factor:g} claimed"
        rigorous = all(quotient.rigorous for quotient in measured)
        constants = (worst.low, max(quotient.high for quotient in measured))
        holds = worst.low >= self.factor
        return Judgement(holds, self.factor / worst.low, constants, None, detail, rigorous=rigorous)

    def printed_bounds(self, sample: Sample) -> PrintedBound:
        """What is judged at M = 4, sigma^2 = 1 and t = 1."""
        problem = exact_problem(sample, SIZES[0], STABILITIES[0], 1, 1.0)
        model = problem.model
        letters = {s: model.s, beta: model.beta, M: model.size, sigma: math.sqrt(model.noise), t: 1.0}
        law = self.factor * _law(_Floats(), problem, Fraction(1))
        return PrintedBound(letters, problem.peak_gamma, (law,), ROUNDING)

    def tightened(self, size: float) -> tuple[NotBelow]:
        """The lower constant larger by this share."""
        return (NotBelow((1.0 + size) * self.factor),)

    def mutants(self) -> Mapping[str, NotBelow]:
        """A lower constant above 1."""
        return {"1.01 times the law": NotBelow(1.01 * self.factor)}


@lru_cache(maxsize=64)
def quotients(sample: Sample) -> tuple[Quotient, ...]:
    """E/law for constant rates, small and large models, noises and times, from t = 1/1000 on."""
    made = []
    for size in SIZES:
        for stability in STABILITIES:
            times = _times(size, sample)
            for noise in NOISES:
                made += _at(exact_problem(sample, size, stability, noise, float(times[-1])), times)
    return tuple(made)


def _times(size: int, sample: Sample) -> list[Fraction]:
    return [Fraction(1, 1000), Fraction(1), Fraction(math.ceil(float(size) ** float(sample.beta)))]


def _sizes_and_times(sample: Sample) -> dict[str, Array]:
    placed = [(size, float(time)) for size in SIZES for time in _times(size, sample)]
    return dict(zip(("M", "t"), np.transpose(placed), strict=True))


def _at(problem: Problem, times: list[Fraction]) -> list[Quotient]:
    flint = flint_or_none()
    if flint is None:
        values = solve(problem, [float(time) for time in times], rtol=1e-10).excess_risk
        law = [_law(_Floats(), problem, time) for time in times]
        ends = [(float(value / below), float(value / below)) for value, below in zip(values, law, strict=True)]
    else:
        with flint.ctx.workprec(40 + 4 * DIGITS):
            risks = enclosed_risk(flint, problem, times)
            balls = [risk / _law(_Balls(flint), problem, time) for risk, time in zip(risks, times, strict=True)]
            ends = [(float(ball.lower()), float(ball.upper())) for ball in balls]
        # the way to floats rounds to the nearest: one more unit on either side
        ends = [(math.nextafter(low, 0.0), math.nextafter(high, math.inf)) for low, high in ends]
    model = problem.model
    where = f"M = {model.size:g}, gamma = {problem.peak_gamma:.4g}, sigma^2 = {model.noise:g}, t = "
    return [Quotient(f"{where}{float(time):g}", *end, flint is not None) for time, end in zip(times, ends, strict=True)]


class _Floats:
    """Exact fractions as floats."""

    def number(self, value: Fraction) -> Any:
        return float(value)

    def power(self, base: int, exponent: Any) -> Any:
        return float(base) ** exponent

    def decay(self, value: Any) -> Any:
        return math.exp(-value)

    def tail(self, power: Any, start: int) -> Any:
        from scipy.special import zeta

        return float(zeta(power, start))


class _Balls:
    """Exact fractions as balls."""

    def __init__(self, flint: Any) -> None:
        self.flint = flint

    def number(self, value: Fraction) -> Any:
        return self.flint.arb(self.flint.fmpq(value.numerator, value.denominator))

    def power(self, base: int, exponent: Any) -> Any:
        return self.flint.arb(base) ** exponent

    def decay(self, value: Any) -> Any:
        return (-value).exp()

    def tail(self, power: Any, start: int) -> Any:
        return power.zeta(self.flint.arb(start))


def _law(by: Any, problem: Problem, time: Fraction) -> Any:
    """Half of delta_M + e_M(t) + gamma int_0^t K_M(t - z) (e_M(z) + sigma^2) dz, mode by mode, pair by pair."""
    s, beta = (problem.model.exact[name] for name in ("s", "beta"))
    size, noise = int(problem.model.size), int(problem.model.noise)
    rate, power, t = by.number(problem.exact["gamma"]), by.number(1 + s * beta), by.number(time)
    eigen = [by.power(j, -by.number(beta)) for j in range(1, size + 1)]
    signals = [by.power(j, -power) for j in range(1, size + 1)]
    fades = [by.decay(2 * eigenvalue * t) for eigenvalue in eigen]
    total = by.tail(power, size + 1) + sum(signal * fade for signal, fade in zip(signals, fades, strict=True))
    for mode in range(size):
        injected = noise * (1 - fades[mode]) / (2 * eigen[mode])
        for partner in range(size):
            gap = 2 * (eigen[mode] - eigen[partner])
            faded = t * fades[mode] if mode == partner else (fades[partner] - fades[mode]) / gap
            injected += signals[partner] * faded
        total += rate * eigen[mode] ** 2 * injected
    return total / 2


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "best-constants/law-below", "ineq: inf_sum", 732, "the law is at most twice the risk",
        at_most(SUMS, 2 * E),
        (MODEL, SCHEDULES("constant"), Where("c is gamma tr(H_M)/2", stability_of), "c = 0.2 and 0.9", "M = 4 and 12",
         "sigma^2 = 0, 1, 100",
         "t >= 1/1000", "t <= M^beta + 1",
         exact_powers("the terms are positive whatever the spectrum; balls decide it for these")),
        of_constant_rate(located(_sizes_and_times)(located(every({"c": STABILITIES, "sigma^2": NOISES}))(quotients))),
        lambda sample: NotBelow(1.0), role="own",
        remark="The law is the beginning of a series of positive terms.",
    ),
)  # fmt: skip
