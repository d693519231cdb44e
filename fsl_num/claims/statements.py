"""What a claim says about numbers, in a form that one measurement can judge, together with all its wrong neighbours.

A statement knows the quantities it asserts (named exponents and constants), judges a measurement that knows nothing of
them, and produces its own mutants: the same statement with one exponent off by 0.05 or one log power off by 0.25.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sympy import Expr

from fsl_num.claims.records import Curve, Judgement, beside
from fsl_sym.proof import Formula

Array = NDArray[np.float64]
Direction = Literal["both", "upper", "lower"]

POWER_MUTATION = 0.05
LOG_MUTATION = 0.25
POWER_DRIFT = 0.01
"""Largest drift of log(measured / claimed) per unit of log(scale): a fifth of the exponent mutation."""
LOG_DRIFT = 0.01
"""Largest drift per unit of log log(scale): ten times what searches good to 1e-3 log units leave over a unit of it."""

SLOW_DRIFT = 0.15
"""Largest drift per unit of log log(scale) where powers are judged. Over a hundred decades a whole logarithm drifts by
only 0.006 per unit of log(scale); here it drifts by 1, its square root (the mutants) by 1/2, whatever the length."""
LOG_FACTOR = 0.5
"""Power of the logarithm by which mutants multiply or divide a power."""
CONSTANTS = 1e4
"""Largest C/c of the constants of an equivalence, over all rays together, unless the claim says another. Beyond it "up
to constants" says nothing: a term that is left out may be too small by exp(100) and keep the same power."""

CONSTANT_MUTATION = 0.02
"""By so much the constant of a sharp statement is wrong in its mutants, unless its remainder is larger everywhere."""

CURVE_POINTS = 24
"""How many places of a ratio a record keeps, for its plot."""


class NothingCompared(ValueError):
    """A check had nothing to compare: it proves nothing, whatever it says.

    >>> Sharp(claimed=abs, remainder=abs).judge([])
    Traceback (most recent call last):
    fsl_num.claims.statements.NothingCompared: no point was measured
    """


class Statement(Protocol):
    """A claim at one exact parameter point."""

    def judge(self, measured: Any) -> Judgement:
        """Whether the measurement agrees with the statement."""
        ...

    def mutants(self) -> Mapping[str, Statement]:
        """Wrong versions that the same judgement must refuse."""
        ...

    def neighbours(self, kind: str, size: float) -> Sequence[Statement]:
        """The statement with what is of one kind wrong by ``size``, one at a time.

        Exponents ("power", "log_power") are moved by it, sharp constants and exact numbers ("constant") multiplied by 1
        plus and minus it, the ends of ranges and of bounds ("bound") drawn in by this share of themselves.
        """
        ...


class WithoutExponents:
    """A statement that has no exponents which could be moved."""

    def neighbours(self, kind: str, size: float) -> Sequence[Any]:
        """Those with one end of a range drawn in."""
        return self.tightened(size) if kind == "bound" else ()

    def tightened(self, size: float) -> Sequence[Any]:
        """The statement with one end of a range drawn in by this share of it; none where it has no ranges."""
        return ()


@dataclass(frozen=True)
class OfFormulas:
    """A statement that may be read from ``formulas``, or from a side of one: it judges what they say."""

    formulas: tuple[Formula | Expr, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class Ray:
    """Measured values of a positive quantity along a path to infinity, all in natural logarithms.

    ``scale`` is log of the growing scale (increasing), ``logs`` the log of every variable the law depends on, each an
    array as long as ``scale``, and ``values`` log of the measured quantity. Drifts are judged from the place number
    ``settled`` on: the middle of the ray, unless it is known to begin where everything has settled (0).
    """

    name: str
    scale: Array
    logs: Mapping[str, Array]
    values: Array
    settled: int | None = None

    def __post_init__(self) -> None:
        arrays = [self.scale, self.values, *self.logs.values()]
        if len({array.shape for array in arrays}) != 1 or self.scale.size < (4 if self.settled is None else 2):
            raise ValueError(f"ray {self.name!r}: scale, values and logs must have one length of at least 4")
        if not all(np.all(np.isfinite(array)) for array in arrays) or np.any(np.diff(self.scale) <= 0):
            raise ValueError(f"ray {self.name!r}: entries must be finite and the scale must increase")
        if self.settled is not None and not 0 <= self.settled <= self.scale.size - 2:
            raise ValueError(f"ray {self.name!r}: settled must leave at least two places, not {self.settled}")

    @property
    def judged_from(self) -> int:
        """The first place whose drift is judged."""
        return self.scale.size // 2 if self.settled is None else self.settled

    @cached_property
    def slope_weights(self) -> Array:
        """What the values judged are multiplied by for their slope against the scale."""
        return _slope_weights(self.scale[self.judged_from :])

    @cached_property
    def slow_weights(self) -> Array:
        """The same for all values and log(scale), of the places judged where the scale is above 1; 0 without two."""
        weights = np.zeros(self.scale.size)
        far = np.flatnonzero(self.scale > 1.0)
        far = far[far >= self.judged_from]
        if far.size > 1:
            weights[far] = _slope_weights(np.log(self.scale[far]))
        return weights


Law = Callable[[Mapping[str, float], Mapping[str, Array]], Array]


@dataclass(frozen=True)
class Equivalent(OfFormulas):
    """measured is equivalent to law(exponents) up to constants, along every ray.

    ``law(exponents, logs)`` returns the log of the claimed quantity, place by place: it is asked once, for all rays.
    The ratio must not drift over the last half of any
    ray: against log(scale) and, where that is above 1, against log log(scale), which shows what a power hides; against
    log log(scale) alone where ``logarithmic`` (rays then reach scales at which a log power shows). ``direction``
    "upper" (measured is at most of that order) forbids only growth, "lower" only decay.

    The constants c <= ratio <= C over all rays must have C/c <= ``constants``. Not so for a bound, whose ratio may
    tend to 0 or to infinity (its one constant is bounded by the drift along each ray, and is reported), nor where
    ``logarithmic``: there constants are powers 1/s of those of the law.

    ``absent`` are names of exponents that are 0 and not among ``exponents``: of letters in terms that lack them.
    """

    law: Law
    exponents: Mapping[str, float]
    log_exponents: frozenset[str] = frozenset()
    direction: Direction = "both"
    logarithmic: bool = False
    constants: float = CONSTANTS
    absent: frozenset[str] = frozenset()

    def judge(self, measured: Sequence[Ray]) -> Judgement:
        """Constants, and the worst drift over the last half of all rays.

        Raises ValueError where the ratio is not finite: a nan must never pass for agreement, nor for a refutation.
        """
        if len(measured) == 0:
            raise NothingCompared("no ray was measured")
        limit = LOG_DRIFT if self.logarithmic else POWER_DRIFT
        low, high, worst, worst_name, slowest, slowest_name = np.inf, -np.inf, 0.0, "", 0.0, ""
        reached: dict[str, tuple[float, Ray, Array]] = {}
        for ray, ratio in zip(measured, self._ratios(measured), strict=True):
            if not np.all(np.isfinite(ratio)):
                raise ValueError(f"the claimed law is not finite along the ray {ray.name!r}: nothing can be judged")
            half = ray.judged_from
            # Where logs decide, the first budgets are still under the spell of branches that lose by a log power.
            judged = ratio[half:] if self.logarithmic else ratio
            low, high = min(low, float(judged.min())), max(high, float(judged.max()))
            signed = self._forbidden(self.drift(ray, ratio))
            slow = self._forbidden(self._slow_drift(ray, ratio))
            if slow > slowest:
                slowest, slowest_name = slow, ray.name
            for key, size in (("drift", signed), ("low", -float(judged.min())), ("high", float(judged.max()))):
                if key not in reached or size > reached[key][0]:
                    reached[key] = (size, ray, ratio)
            if signed > worst or not worst_name:
                worst, worst_name = signed, ray.name
        constants = (float(np.exp(np.clip(low, -700, 700))), float(np.exp(np.clip(high, -700, 700))))
        shown = {ray.name: (ray, ratio) for _, ray, ratio in reached.values()}
        detail = f"drift {beside(worst, limit)} on {worst_name} (limit {limit:g})"
        excess = max(worst / limit, slowest / SLOW_DRIFT)
        if slowest / SLOW_DRIFT > max(worst / limit, 1):
            detail = f"drift {beside(slowest, SLOW_DRIFT)} per log log on {slowest_name} (limit {SLOW_DRIFT:g})"
        if self.direction == "both" and not self.logarithmic and high - low > excess * math.log(self.constants):
            excess = (high - low) / math.log(self.constants)
            if excess > 1:
                detail = (
                    f"constants from {constants[0]:.2g} to {constants[1]:.2g} (their ratio at most {self.constants:g})"
                )
        return Judgement(excess <= 1, excess, constants, worst, detail, partial(curves_of, shown.values()))

    def _ratios(self, measured: Sequence[Ray]) -> list[Array]:
        """log(measured / claimed) along each ray; the law is asked once, for all of them."""
        shared = set(measured[0].logs).intersection(*(ray.logs for ray in measured))
        logs = {key: np.concatenate([ray.logs[key] for ray in measured]) for key in shared}
        ratios = np.concatenate([ray.values for ray in measured]) - self.law(self.exponents, logs)
        return np.split(ratios, np.cumsum([ray.scale.size for ray in measured])[:-1])

    def drift(self, ray: Ray, values: Array) -> float:
        """The slope of values given along a ray, over its places that are judged, against the scale of the drifts."""
        judged = values[ray.judged_from :]
        weights = _slope_weights(np.log(ray.scale[ray.judged_from :])) if self.logarithmic else ray.slope_weights
        return float(weights @ judged)

    def _forbidden(self, drift: float) -> float:
        """How much of a drift the direction forbids."""
        return {"both": abs(drift), "upper": drift, "lower": -drift}[self.direction]

    def _slow_drift(self, ray: Ray, ratio: Array) -> float:
        """The slope against log log(scale) where powers are judged; 0 where the scale is too small for that."""
        return 0.0 if self.logarithmic else float(ray.slow_weights @ ratio)

    def mutants(self) -> Mapping[str, Equivalent]:
        """Every exponent off by 0.05 (a log power by 0.25), both ways, one at a time; and, where powers are judged,
        every power times the square root of a logarithm and over it. Of an equivalence those that are 0 too: the terms
        of a bound may lie far above what it bounds, and what tightens one depends on whether a letter is above 1."""
        mutants = {}
        zeros = sorted(self.absent) if self.direction == "both" else ()
        for name in (*self.exponents, *zeros):
            step = LOG_MUTATION if name in self.log_exponents else POWER_MUTATION
            for sign in self._signs(name):
                mutants[f"{name} {'+' if sign > 0 else '-'} {step}"] = self._moved(name, sign * step)
                if not self.logarithmic and name in self.exponents:
                    mutants[f"{name} {'times' if sign > 0 else 'over'} sqrt(log)"] = self._with_logarithm(name, sign)
        return mutants

    def of(self, *letters: str) -> Equivalent:
        """The same law, of which the powers of these letters alone are exponents: rays resolve no other."""
        kept = {name: power for name, power in self.exponents.items() if name.split(" in ")[0] in letters}

        def law(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
            return self.law({**self.exponents, **exponents}, logs)

        return replace(self, law=law, exponents=kept, absent=frozenset())

    def neighbours(self, kind: str, size: float) -> Sequence[Equivalent]:
        """Every exponent of the kind moved by ``size``."""
        if kind not in ("power", "log_power"):
            return ()
        names = [name for name in self.exponents if (name in self.log_exponents) == (kind == "log_power")]
        return [self._moved(name, sign * size) for name in names for sign in self._signs(name)]

    def _signs(self, name: str) -> tuple[int, ...]:
        """Both ways for an equivalence; for a bound the way that tightens it (the other is true and weaker)."""
        if self.direction == "both":
            return (1, -1)
        probe: Mapping[str, Array] = defaultdict(lambda: np.array([2.0]))
        grows = self.law(self._moved(name, 0.1).exponents, probe) > self.law(self.exponents, probe)
        return (-1,) if bool(grows[0]) == (self.direction == "upper") else (1,)

    def _moved(self, name: str, step: float) -> Equivalent:
        return replace(self, exponents={**self.exponents, name: self.exponents.get(name, 0.0) + step})

    def _with_logarithm(self, name: str, sign: int) -> Equivalent:
        """The law with x^p times (log x)^(+-1/2) for one of its powers: with p +- log(L)/(2 L), L = log x."""

        def law(exponents: Mapping[str, Any], logs: Mapping[str, Array]) -> Array:
            def at(power: Any) -> Array:
                return self.law({**exponents, name: power}, logs)

            power = exponents[name]
            size = np.maximum(np.abs(at(power + 5e-4) - at(power - 5e-4)) / 1e-3, math.e)
            return at(power + sign * LOG_FACTOR * np.log(size) / size)

        return replace(self, law=law)


def curves_of(paths: Iterable[tuple[Ray, Array]]) -> tuple[Curve, ...]:
    """Ratios (natural logs) along rays as records of at most :data:`CURVE_POINTS` places, ends included."""
    curves = []
    for ray, ratio in paths:
        kept = np.unique(np.linspace(0, ray.scale.size - 1, min(ray.scale.size, CURVE_POINTS)).round().astype(int))
        shortened = [tuple(float(f"{value:.4g}") for value in array[kept]) for array in (ray.scale, ratio)]
        curves.append(Curve(ray.name, shortened[0], shortened[1]))
    return tuple(curves)


@dataclass(frozen=True)
class Sharp(OfFormulas):
    """measured / claimed tends to 1: at each point the relative error is at most the remainder that theory allows.

    ``claimed`` maps the exact points of the measurement to numbers (mpmath or float); ``remainder`` is, or gives point
    by point, the largest relative error that the next order of the expansion and the rounding allow. ``wrong`` are the
    mutants: other claimed functions under the same remainders, beside the claimed one times 1 +- ``off``. ``rigorous``:
    values and claimed numbers are balls of Arb, the remainders proven: the far ends of the balls decide.
    """

    claimed: Callable[[Any], Any]
    remainder: Callable[[Any], float] | float
    wrong: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    perturbed: Callable[[str, float], Sequence[Callable[[Any], Any]]] | None = None
    off: float = CONSTANT_MUTATION
    rigorous: bool = False

    def judge(self, measured: Sequence[tuple[Any, Any]]) -> Judgement:
        """``measured`` is a sequence of (point, value)."""
        if len(measured) == 0:
            raise NothingCompared("no point was measured")
        worst, ratios, note = 0.0, [], ""
        for point, value in measured:
            ratio = value / self._at(point)
            error = float(abs(ratio - 1).upper()) if self.rigorous else abs(float(ratio - 1))
            allowed = self.remainder(point) if callable(self.remainder) else self.remainder
            ratios.append(float(ratio))
            if not (math.isfinite(error) and allowed > 0):
                raise ValueError(f"relative error {error} against {allowed} at {point}: nothing can be judged")
            if error / allowed >= worst:
                worst, note = error / allowed, f"relative error {error:.1e} at {point}, allowed {allowed:.1e}"
        constants = (min(ratios), max(ratios))
        return Judgement(worst <= 1, worst, constants, None, note, rigorous=self.rigorous)

    def mutants(self) -> Mapping[str, Sharp]:
        """The wrong functions given, and the claimed one with a constant that is off."""
        mutants = {name: replace(self, claimed=function) for name, function in self.wrong.items()}
        greater, less = self.neighbours("constant", self.off)
        return mutants | {f"{self.off:.0%} more": greater, f"{self.off:.0%} less": less}

    @cached_property
    def _known(self) -> dict[int, tuple[Any, Any]]:
        return {}

    def _at(self, point: Any) -> Any:
        """The claimed number, kept with its point: numbers that are off by a constant ask for it again and again."""
        if id(point) not in self._known:
            self._known[id(point)] = point, self.claimed(point)
        return self._known[id(point)][1]

    def _scaled(self, factor: float, point: Any) -> Any:
        return factor * self._at(point)

    def neighbours(self, kind: str, size: float) -> Sequence[Sharp]:
        """The claimed function times 1 + size and 1 - size, or with its exponents of the kind moved."""
        if kind == "constant":
            return [replace(self, claimed=partial(self._scaled, 1.0 + sign * size)) for sign in (1, -1)]
        return [replace(self, claimed=function) for function in (self.perturbed(kind, size) if self.perturbed else ())]


@dataclass(frozen=True)
class Joint:
    """Several statements about the parts of one measurement, all of which must hold."""

    parts: Mapping[str, Statement]

    def judge(self, measured: Mapping[str, Any]) -> Judgement:
        """The judgement of all parts is that of the worst."""
        if not self.parts:
            raise NothingCompared("the statement has no parts")
        judged = {name: part.judge(measured[name]) for name, part in self.parts.items()}
        name = max(judged, key=lambda name: (not judged[name].holds, judged[name].excess))
        pairs = [judgement.constants for judgement in judged.values() if judgement.constants is not None]
        constants = (min(low for low, _ in pairs), max(high for _, high in pairs)) if pairs else None
        drifts = [judgement.drift for judgement in judged.values() if judgement.drift is not None]
        return Judgement(
            all(judgement.holds for judgement in judged.values()),
            judged[name].excess,
            constants,
            max(drifts) if drifts else None,
            f"{name}: {judged[name].detail}",
            lambda: tuple(
                replace(curve, name=f"{part}: {curve.name}") for part in judged for curve in judged[part].draw()
            ),
        )

    def mutants(self) -> Mapping[str, Joint]:
        """Each part's mutants, one at a time and alone: the other parts hold where the whole does."""
        return {
            f"{name}: {label}": Joint({name: mutant})
            for name, part in self.parts.items()
            for label, mutant in part.mutants().items()
        }

    def neighbours(self, kind: str, size: float) -> Sequence[Joint]:
        """Each part's neighbours, one at a time and alone."""
        return [Joint({name: moved}) for name, part in self.parts.items() for moved in part.neighbours(kind, size)]


def _slope_weights(abscissa: Array) -> Array:
    """What ordinates are multiplied by, and summed, for the slope of the straight line nearest to them."""
    centred = abscissa - abscissa.mean()
    return np.asarray(centred / (centred @ centred))
