"""Statements about quantities of random features, one value a draw: equivalence in M, rare failures, bounds by numbers.

>>> OverDraws(lambda exponents, logs: exponents["M"] * logs["M"], {"M": -1.0}).mutants().keys()
dict_keys(['M + 0.05', 'M - 0.05', 'times M^0.1', 'times M^-0.1', 'times M^0.3', 'times M^-0.3'])"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from fsl_num.claims.records import Judgement, beside
from fsl_num.claims.statements import Direction, NothingCompared, OfFormulas, Ray, WithoutExponents, curves_of
from fsl_num.paper.model.statements import FailureRate
from fsl_num.validation import Array

Law = Callable[[Mapping[str, float], Mapping[str, Any]], Any]
FINITE_SIZE = 0.03
"""Largest slope of a ratio in log M that counts as none: from M = 32 to 128 terms of the relative order 1/M move it."""
ERRORS = 3.0
"""Standard errors of the slope that the draws may add."""
MUTATION = 0.05
COARSEST = 4
"""Multiple of a mutation that must be refused wherever the draws do not resolve the mutation itself."""
SHIFTS = (0.1, 0.3)
"""Powers of M by which every law is also made wrong as a whole: the same ones however much slope a claim allows."""
QUANTILE = 0.1
"""A fifth of the draws of the pilot size leave its bounds: a tenth on either side."""


@dataclass(frozen=True, eq=False)
class DrawnRay:
    """One positive quantity along growing model sizes, in natural logarithms, with one value a draw.

    ``sizes`` are the model sizes, ``values`` one array a size, and ``logs`` the log of every variable of a law, per
    size an array of one value a draw (or one number for all).
    """

    name: str
    sizes: tuple[int, ...]
    values: tuple[Array, ...]
    logs: Mapping[str, tuple[Any, ...]]

    def __post_init__(self) -> None:
        if len(self.sizes) < 3 or any(len(part) != len(self.sizes) for part in (self.values, *self.logs.values())):
            raise ValueError(f"ray {self.name!r}: needs values and logs for each of at least three model sizes")

    @property
    def drawn(self) -> str:
        """How many draws there are of each model size, in words."""
        counts = ", ".join(str(np.shape(values)[0]) for values in self.values)
        return f"{counts} draws at M = {', '.join(map(str, self.sizes))}"

    def ratios(self, law: Law, exponents: Mapping[str, float]) -> tuple[Array, ...]:
        """log(measured/claimed), per size an array like the values. Raises ValueError where it is not finite."""
        ratios = []
        for place, values in enumerate(self.values):
            claimed = law(exponents, {name: parts[place] for name, parts in self.logs.items()})
            ratio = values - claimed
            if not np.all(np.isfinite(ratio)):
                raise ValueError(f"the claimed law is not finite along the ray {self.name!r}: nothing can be judged")
            ratios.append(np.asarray(ratio))
        return tuple(ratios)


def _times_power(law: Law, power: float, exponents: Mapping[str, float], logs: Mapping[str, Any]) -> Any:
    return law(exponents, logs) + power * logs["M"]


def slope(sizes: Sequence[int], ratios: Sequence[Array]) -> tuple[float, float]:
    """The least-squares slope of the mean ratios against log M, and its standard error from the spread of the draws."""
    x = np.log(np.array(sizes, dtype=np.float64))
    x = x - x.mean()
    weights = x / (x @ x)
    means = np.array([part.mean() for part in ratios])
    errors = np.array([part.std(ddof=1) ** 2 / part.size if part.size > 1 else 0.0 for part in ratios])
    return float(weights @ means), math.sqrt(float(weights**2 @ errors))


@dataclass(frozen=True)
class OverDraws(OfFormulas):
    """measured is equivalent to law(exponents), with constants that do not drift with M.

    Judged by the slope of the mean log ratio over the last three quarters of the model sizes, within ``finite_size``
    (on the rays named in ``slack``, within that) and :data:`ERRORS` of its standard errors. ``wrong`` are other laws
    that the check must refuse, ``shifts`` the powers of M by which the whole law is made wrong.
    """

    law: Law
    exponents: Mapping[str, float]
    direction: Direction = "both"
    wrong: Mapping[str, Law] = field(default_factory=dict)
    finite_size: float = FINITE_SIZE
    slack: Mapping[str, float] = field(default_factory=dict)
    shifts: tuple[float, ...] = SHIFTS

    def judge(self, measured: Sequence[DrawnRay]) -> Judgement:
        """Constants over all draws, and the worst slope against what is allowed for it."""
        if not measured:
            raise NothingCompared("no ray was measured")
        low, high, worst, drift, note = math.inf, -math.inf, -math.inf, 0.0, ""
        paths = []
        for ray in measured:
            ratios = ray.ratios(self.law, self.exponents)
            measured_slope, error, allowed = self._slope(ray)
            signed = {"both": abs(measured_slope), "upper": measured_slope, "lower": -measured_slope}[self.direction]
            low = min(low, *(float(part.min()) for part in ratios))
            high = max(high, *(float(part.max()) for part in ratios))
            means = np.array([float(part.mean()) for part in ratios])
            scale = np.log(np.array(ray.sizes, dtype=np.float64))
            if scale.size >= 4:
                paths.append((Ray(ray.name, scale, {}, means), means))
            if signed / allowed > worst:
                worst, drift = signed / allowed, signed
                shown = beside(measured_slope, math.copysign(allowed, measured_slope))
                note = f"drift {shown} on {ray.name} (limit {allowed:.2g}, error {error:.1g}; {ray.drawn})"
        constants = (math.exp(max(low, -700.0)), math.exp(min(high, 700.0)))
        return Judgement(worst <= 1, max(worst, 0.0), constants, drift, note, partial(curves_of, paths))

    def _slope(self, ray: DrawnRay) -> tuple[float, float, float]:
        """The slope of the mean log ratio, its standard error, and how large it may be."""
        ratios = ray.ratios(self.law, self.exponents)
        first = len(ratios) // 4
        measured_slope, error = slope(ray.sizes[first:], ratios[first:])
        return measured_slope, error, self.slack.get(ray.name, self.finite_size) + ERRORS * error

    def unresolved(self, mutant: OverDraws, measured: Sequence[DrawnRay]) -> str:
        """Why these draws cannot refuse a wrong version; "" where they can.

        They cannot where the slopes of the two laws differ by at most twice what is allowed on every ray. A moved
        exponent is only then too small for them if one moved :data:`COARSEST` times as far is refused.
        """
        differences = []
        for ray in measured:
            (here, _, allowed), (there, _, _) = self._slope(ray), mutant._slope(ray)
            differences.append((abs(there - here) / allowed, abs(there - here), allowed))
        share, difference, allowed = max(differences)
        moved = {name: COARSEST * (mutant.exponents[name] - value) for name, value in self.exponents.items()}
        further = {name: value + moved[name] for name, value in self.exponents.items()}
        if share > 2 or (any(moved.values()) and replace(mutant, exponents=further).judge(measured).holds):
            return ""
        return f"the slope differs by {difference:.2g} at most, and the draws resolve {2 * allowed:.2g}"

    def mutants(self) -> Mapping[str, OverDraws]:
        """Every exponent off by 0.05, the whole law off by powers of M, the way that a bound does not allow; and the
        other laws."""
        signs = self._signs()
        mutants = {
            f"{name} {'+' if sign > 0 else '-'} {MUTATION}": self._moved(name, sign * MUTATION)
            for name in self.exponents
            for sign in signs
        }
        mutants |= {f"times M^{sign * size:g}": self._times(sign * size) for size in self.shifts for sign in signs}
        return mutants | {name: replace(self, law=law) for name, law in self.wrong.items()}

    def neighbours(self, kind: str, size: float) -> Sequence[OverDraws]:
        """Every exponent moved by ``size``; of a law without exponents the whole times M to this power."""
        if kind != "power":
            return ()
        if not self.exponents:
            return [self._times(sign * size) for sign in self._signs()]
        return [self._moved(name, sign * size) for name in self.exponents for sign in self._signs()]

    def _times(self, power: float) -> OverDraws:
        return replace(self, law=partial(_times_power, self.law, power))

    def _signs(self) -> tuple[int, ...]:
        # exponents are powers of M or of 1/kappa, which grow with M: a larger one makes the law larger
        return {"both": (1, -1), "upper": (-1,), "lower": (1,)}[self.direction]

    def _moved(self, name: str, step: float) -> OverDraws:
        return replace(self, exponents={**self.exponents, name: self.exponents[name] + step})


@dataclass(frozen=True)
class Between(OfFormulas, WithoutExponents):
    """measured/law(no exponents) lies in [``lower``, ``upper``] for every draw, up to ``rounding``."""

    law: Law
    lower: float
    upper: float
    wrong: Mapping[str, Law] = field(default_factory=dict)
    rounding: float = 1e-6

    def judge(self, measured: Sequence[DrawnRay]) -> Judgement:
        """The least and the largest ratio of all rays, sizes and draws."""
        extremes = [
            (float(ratio), ray.name)
            for ray in measured
            for part in ray.ratios(self.law, {})
            for ratio in np.ravel(part)
        ]
        (low, low_name), (high, high_name) = min(extremes), max(extremes)
        beyond = max(math.log(self.lower) - low, high - math.log(self.upper), 0.0)
        detail = f"from {math.exp(low):.4g} ({low_name}) to {math.exp(min(high, 700.0)):.4g} ({high_name})"
        constants = (math.exp(max(low, -700.0)), math.exp(min(high, 700.0)))
        return Judgement(beyond <= self.rounding, beyond / self.rounding, constants, None, detail)

    def tightened(self, size: float) -> Sequence[Between]:
        """Either end drawn in by this share of itself."""
        return [replace(self, lower=self.lower * (1.0 + size)), replace(self, upper=self.upper / (1.0 + size))]

    def mutants(self) -> Mapping[str, Between]:
        """The other laws."""
        return {name: replace(self, law=law) for name, law in self.wrong.items()}


@dataclass(frozen=True)
class RareFailures(OfFormulas, WithoutExponents):
    """The ratio to the law leaves the bounds of a pilot size, at some time, with a probability of at most exp(-rate M).

    The values of the ray are arrays (draws, times); the first size is the pilot, whose draws say the bounds.
    """

    law: Law
    exponents: Mapping[str, float]
    rate: float
    wrong: Mapping[str, Law] = field(default_factory=dict)

    def judge(self, measured: DrawnRay) -> Judgement:
        """Count the draws whose least or largest ratio over the times lies outside the pilot's."""
        ratios = measured.ratios(self.law, self.exponents)
        least, largest = [part.min(axis=1) for part in ratios], [part.max(axis=1) for part in ratios]
        low, high = float(np.quantile(least[0], QUANTILE)), float(np.quantile(largest[0], 1.0 - QUANTILE))
        counts = [
            (size, int(((below < low) | (above > high)).sum()), below.size)
            for size, below, above in zip(measured.sizes[1:], least[1:], largest[1:], strict=True)
        ]
        judged = FailureRate(self.rate).judge(counts)
        extremes = (min(float(part.min()) for part in least), max(float(part.max()) for part in largest))
        constants = (math.exp(max(extremes[0], -700.0)), math.exp(min(extremes[1], 700.0)))
        return replace(judged, constants=constants, detail=f"{judged.detail}; bounds {low:.2f} to {high:.2f} (logs)")

    def mutants(self) -> Mapping[str, RareFailures]:
        """A rate ten times as fast; and the other laws."""
        faster = {"ten times the rate": replace(self, rate=10.0 * self.rate)}
        return faster | {name: replace(self, law=law) for name, law in self.wrong.items()}


@dataclass(frozen=True)
class SharpOverDraws(OfFormulas):
    """The mean over draws of measured/claimed tends to 1: it is within ``remainder``/M and five standard errors of it.

    Five, so that the largest of a hundred means stays within them.
    """

    law: Law
    exponents: Mapping[str, float]
    remainder: float
    wrong: Mapping[str, Law] = field(default_factory=dict)

    def judge(self, measured: DrawnRay) -> Judgement:
        """The model size at which the mean is furthest from 1, in units of what is allowed there."""
        worst, note, means = -math.inf, "", []
        for size, ratios in zip(measured.sizes, measured.ratios(self.law, self.exponents), strict=True):
            plain = np.exp(np.clip(ratios, -100.0, 100.0))
            mean, error = float(plain.mean()), float(plain.std(ddof=1)) / math.sqrt(plain.size)
            means.append(mean)
            allowed = self.remainder / size + 5.0 * error
            if abs(mean - 1.0) / allowed > worst:
                worst = abs(mean - 1.0) / allowed
                note = f"mean ratio {mean:.4g} at M = {size}, allowed 1 +- {allowed:.2g}"
        return Judgement(worst <= 1, worst, (min(means), max(means)), None, note)

    def mutants(self) -> Mapping[str, SharpOverDraws]:
        """Every exponent off by 0.05; and the other laws."""
        moved = {
            f"{name} {step:+g}": self._moved(name, step) for name in self.exponents for step in (MUTATION, -MUTATION)
        }
        return moved | {name: replace(self, law=law) for name, law in self.wrong.items()}

    def neighbours(self, kind: str, size: float) -> Sequence[SharpOverDraws]:
        """Every exponent moved by ``size``."""
        return [self._moved(name, step) for name in self.exponents for step in (size, -size) if kind == "power"]

    def _moved(self, name: str, step: float) -> SharpOverDraws:
        return replace(self, exponents={**self.exponents, name: self.exponents[name] + step})


@dataclass(frozen=True)
class Within(OfFormulas, WithoutExponents):
    """Every number measured lies in [``lower``, ``upper``], and the largest reaches ``attained``.

    Measured are pairs (name, value); for inequalities that hold for every W. ``rounding`` is what both ends allow.
    """

    lower: float
    upper: float
    attained: float = -math.inf
    rounding: float = 1e-9

    def judge(self, measured: Sequence[tuple[str, float]]) -> Judgement:
        """The numbers that come nearest to the ends, or leave them; ValueError where one is not finite."""
        for name, value in measured:  # a nan is neither the largest nor the least
            if not math.isfinite(value):
                raise ValueError(f"{name}: {value}: nothing can be judged")
        high_name, high = max(measured, key=lambda pair: pair[1])
        low_name, low = min(measured, key=lambda pair: pair[1])
        beyond = max(high - self.upper, self.lower - low, self.attained - high)
        detail = f"from {low:.3g} ({low_name}) to {high:.3g} ({high_name})"
        return Judgement(beyond <= self.rounding, max(beyond, 0.0) / self.rounding, (low, high), None, detail)

    def tightened(self, size: float) -> Sequence[Within]:
        """The ends drawn in by this share of the range, or of themselves where the other end is infinite."""
        width = self.upper - self.lower
        by = size * (width if math.isfinite(width) else abs(self.lower if math.isfinite(self.lower) else self.upper))
        drawn = [replace(self, lower=self.lower + by), replace(self, upper=self.upper - by)]
        return [interval for interval in drawn if interval != self]

    def mutants(self) -> Mapping[str, Within]:
        """The upper end at 0.9 of what is attained, where something is."""
        return {"a tenth below": replace(self, upper=0.9 * self.upper)} if math.isfinite(self.attained) else {}
