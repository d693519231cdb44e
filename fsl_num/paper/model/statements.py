"""Statements about matrices and about random draws: two-sided bounds of operators, trends in the model size, failures.

>>> Trend(0.0, 0.25).mutants().keys()
dict_keys(['power + 0.5', 'power - 0.5'])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Direction, NothingCompared, OfFormulas, Ray, WithoutExponents
from fsl_num.validation import Array

ROUNDING = 1e-9
"""What rounding may leave of an inequality between matrices of order 1: sums of at most 1e4 terms, conditioned by the
eigenvalues of H, which are at least 4^-6."""
ATTAINED = 1e-5
"""How close to its bound an extreme must be found: the search stops where an alternation gains less than 1e-13, and
gains are squares of what is left."""
MUTATION = 0.05
TREND_MUTATION = 0.5
CONFIDENCE = 0.999


@dataclass(frozen=True, eq=False)
class Operator:
    """A symmetric matrix ``value`` to be compared with multiples of the positive definite ``base``.

    ``size`` is tr(HA), or twice the excess risk; ``matrix`` is A where there is one, and ``noise`` sigma^2.
    """

    value: Array
    base: Array
    size: float
    matrix: Array | None = None
    noise: float = 0.0


Bound = Callable[[Operator, float], Array]


def extreme_directions(operator: Operator) -> tuple[Array, Array]:
    """Columns d for which d'value d is least and largest, in units of d'base d."""
    from scipy.linalg import eigh

    vectors = eigh(operator.value - operator.noise * operator.base, operator.base)[1]
    return vectors[:, :1], vectors[:, -1:]


def base_bound(operator: Operator, rho: float) -> Array:
    """rho size base: rho tr(HA) H."""
    return rho * operator.size * operator.base


@dataclass(frozen=True)
class Bracket(OfFormulas, WithoutExponents):
    """bound(lower) <= value <= bound(upper) for every operator measured, in the order of symmetric matrices.

    Where ``attained``, both constants must also be the best ones: some operator measured reaches each of them.
    ``wrong`` are other bounds, to be refuted with the same constants.
    """

    lower: float
    upper: float
    bound: Bound = base_bound
    attained: bool = True
    wrong: Mapping[str, Bound] = field(default_factory=dict)

    def judge(self, measured: Sequence[Operator]) -> Judgement:
        """What is left of each inequality, relative to size times base."""
        below, above, ratios = [], [], []
        for operator in measured:
            root = np.linalg.inv(np.linalg.cholesky(operator.base)) / math.sqrt(operator.size)
            below.append(_least(root, operator.value - self.bound(operator, self.lower)))
            above.append(_least(root, self.bound(operator, self.upper) - operator.value))
            own = np.linalg.eigvalsh(root @ (operator.value - operator.noise * operator.base) @ root.T)
            ratios += [float(own[0]), float(own[-1])]
        least = min(*below, *above)
        if not math.isfinite(least):
            raise ValueError("the operators measured are not finite: nothing can be judged")
        excess = max(0.0, -least) / ROUNDING
        detail = f"an inequality is missed by {-least:.2g}" if excess > 1 else f"the least slack is {least:.1e}"
        far = max(min(below), min(above))
        if self.attained and far > ATTAINED and excess <= 1:
            excess, detail = far / ATTAINED, f"a constant is {far:.2g} away from everything measured"
        return Judgement(excess <= 1, excess, (min(ratios), max(ratios)), None, detail)

    def tightened(self, size: float) -> Sequence[Bracket]:
        """Each constant drawn in by this share of the upper one."""
        by = size * abs(self.upper)
        return [replace(self, lower=self.lower + by), replace(self, upper=self.upper - by)]

    def mutants(self) -> Mapping[str, Bracket]:
        """Each constant tighter by 0.05 and, where attained, looser by it; and the other bounds."""
        mutants = {
            f"rho_- + {MUTATION}": replace(self, lower=self.lower + MUTATION),
            f"rho_+ - {MUTATION}": replace(self, upper=self.upper - MUTATION),
        }
        if self.attained:
            mutants[f"rho_- - {MUTATION}"] = replace(self, lower=self.lower - MUTATION)
            mutants[f"rho_+ + {MUTATION}"] = replace(self, upper=self.upper + MUTATION)
        return mutants | {name: replace(self, bound=bound) for name, bound in self.wrong.items()}


@dataclass(frozen=True)
class Trend:
    """A quantity grows like M^power along a ray, judged by the least-squares slope over all of its model sizes.

    For draws at small sizes, where a slope is known only to within ``allowance``: what is random in the values and
    what the finite sizes leave. The mutants are :data:`TREND_MUTATION` away, whatever the allowance.
    """

    power: float
    allowance: float
    direction: Direction = "both"

    @property
    def exponents(self) -> Mapping[str, float]:
        """The power of M, under the name of the letter."""
        return {"M": self.power}

    @staticmethod
    def law(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        """The log of the order that is judged, by which it is compared with that of the formula."""
        return np.asarray(exponents["M"] * logs["M"])

    def judge(self, measured: Ray) -> Judgement:
        """The slope against the power."""
        ratio = measured.values - self.power * measured.scale
        centred = measured.scale - measured.scale.mean()
        slope = float(centred @ ratio / (centred @ centred))
        excess = {"both": abs(slope), "upper": slope, "lower": -slope}[self.direction] / self.allowance
        constants = (float(np.exp(ratio.min())), float(np.exp(ratio.max())))
        return Judgement(excess <= 1, excess, constants, None, f"drift {slope:.2g} (allowed {self.allowance:g})")

    def mutants(self) -> Mapping[str, Trend]:
        """The power moved, the way that matters."""
        names = {1: f"power + {TREND_MUTATION}", -1: f"power - {TREND_MUTATION}"}
        steps = self._steps()
        return {
            names[step]: mutant for step, mutant in zip(steps, self.neighbours("power", TREND_MUTATION), strict=True)
        }

    def neighbours(self, kind: str, size: float) -> Sequence[Trend]:
        """The power moved by ``size``, the way that matters."""
        return [replace(self, power=self.power + step * size) for step in self._steps() if kind == "power"]

    def _steps(self) -> tuple[int, ...]:
        return {"both": (1, -1), "upper": (-1,), "lower": (1,)}[self.direction]

    def unresolved(self, mutant: Trend, measured: Ray | None) -> str:
        """Why a wrong version may pass as well; "" where no slope, or one alone, satisfies both.

        >>> Trend(-0.1, 0.25, "lower").unresolved(Trend(-0.5, 0.2, "upper"), None)
        'slopes from -0.35 to -0.3 satisfy both'
        """
        ends = [
            (
                -np.inf if version.direction == "upper" else version.power - version.allowance,
                np.inf if version.direction == "lower" else version.power + version.allowance,
            )
            for version in (self, mutant)
        ]
        low, high = max(low for low, _ in ends), min(high for _, high in ends)
        return f"slopes from {low:.3g} to {high:.3g} satisfy both" if high > low + 1e-9 else ""


@dataclass(frozen=True)
class FailureRate(WithoutExponents):
    """Draws at model size M fail with probability at most exp(-``rate`` M).

    Measured are (M, failures, draws); the upper ends of Clopper-Pearson intervals at 99.9 % decide, so that the bound
    is shown and not only not contradicted.
    """

    rate: float

    def judge(self, measured: Sequence[tuple[int, int, int]]) -> Judgement:
        """The worst model size, as the ratio of the logarithms of the two bounds."""
        from scipy.special import betaincinv

        if not measured:
            raise NothingCompared("no draws were counted")
        worst, note = -math.inf, ""
        for size, failures, draws in measured:
            outside = 0.5 * (1.0 + CONFIDENCE)
            above = 1.0 if failures == draws else float(betaincinv(failures + 1, draws - failures, outside))
            beyond = math.log(above) + self.rate * size
            if beyond > worst:
                shown = f"{failures} of {draws} fail, at {CONFIDENCE:.1%} with a probability of at most {above:.2g}"
                worst, note = beyond, f"M = {size}: {shown}"
        return Judgement(worst <= 0, math.exp(min(worst, 700.0)), None, None, note)

    def tightened(self, size: float) -> Sequence[FailureRate]:
        """The rate larger by this share of it."""
        return [FailureRate((1.0 + size) * self.rate)]

    def mutants(self) -> Mapping[str, FailureRate]:
        """A rate ten times as fast."""
        return {"ten times the rate": FailureRate(10.0 * self.rate)}


def _least(root: Array, matrix: Array) -> float:
    return float(np.linalg.eigvalsh(root @ matrix @ root.T)[0])
