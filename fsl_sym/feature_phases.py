r"""The phases of power-law random features: which terms of their law meet at the best size under a compute budget.

Without label noise and at batches of order 1, M random features that are trained for the intrinsic time T leave what
they never learn, M^(-beta min(s, 1)), the signal T^-s, for s > 1 what leaks from the first features into later ones,
T^(1/beta - 1)/M, and the noise of the start, which the kernel remembers, gamma T^(1/beta - 2).

Followers of the paper write eigenvalues j^(-2 alpha) and target coefficients j^(-beta): alpha is half of our beta,
their beta is (1 + s beta - beta)/2 of ours. Of their 4 + 3 phases three have a finite trace, 2 alpha > 1, and so lie
in our plane beta > 1: Ia (s < 1), II (1 < s < 2 - 1/beta) and III (s > 2 - 1/beta), all at rates of order 1. In the
other four, beta < 1, the trace of M features grows like M^(1 - beta): their rate is the largest that is stable,
M^(beta - 1), so that T = M^(beta - 1) D. What leaks is then below what is never learned, and so for beta < 1/2 is what
the kernel remembers: Ib (s < 1), Ic (s > 1, beta < 1/2), IVa and IVb (s > 1, beta > 1/2), which meet at 2 - sqrt(2).

Where the rate is tuned as well, the largest is best but in IV: there a smaller one does better than IVa and IVb.

>>> for name, phase in phases().items():
...     print(f"{name}: {phase.formula.right}")
Ia: C**(-beta*s/(beta + 1))
II: C**(-beta*s/(beta*s + 1))
III: C**(-(2*beta - 1)/(2*beta))
Ib: C**(-beta*s/2)
Ic: C**(beta*s/(beta*s - beta - 2*s))
IVa: C**(-beta/2)
IVb: C**(-beta*s*(beta - 1)/(beta**2*s - beta**2 - 2*beta*s + 4*beta - 2))
IV, tuned: C**(-beta*s/(beta*s - beta + s + 1))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sympy import And, Expr, Gt, Integer, Lt, Rational, Symbol

from fsl_sym.exponents.solve import ExponentSolution, Region, optimal_exponents
from fsl_sym.order import Order
from fsl_sym.power_regimes import PowerRegime, Threshold
from fsl_sym.proof import Derivation, Formula, Optimal, Step
from fsl_sym.symbols import RANGES, C, D, M, T, beta, gamma, s

HARDER: Final = M ** (-s * beta) + T**-s
"""The law for s < 1."""
EASIER: Final = M**-beta + T**-s + T ** (1 / beta - 1) / M + T ** (1 / beta - 2)
"""The law for s > 1."""
BUDGET: Final = ((M, T), C, (M * T <= C,))
"""Size and time are chosen under the compute C = M D, D = T."""
LARGEST_RATE: Final = M ** (beta - 1)
"""For beta < 1 the largest stable rate, over the batch: the trace of M features to the power -1."""
STABLE_BUDGET: Final = ((M, D), C, (M * D <= C,))
TUNED_BUDGET: Final = ((M, D, gamma), C, (M * D <= C, gamma <= LARGEST_RATE))
_REMEMBERED: Final = 2 - 1 / beta
_LEARNED: Final = M**-beta + (gamma * D) ** -s
DIVERGING: Final = _LEARNED + gamma * (gamma * D) ** (1 / beta - 2)
"""The law for s > 1 and 1/2 < beta < 1, at any rate."""


@dataclass(frozen=True)
class Phase:
    """One phase: the followers' name, its condition, its law, what the engine finds, and its regime if it has one.

    ``program`` are the variables, the budget and the constraints; ``finite_trace``: whether beta > 1.

    >>> phases()["II"].regime is None
    True
    """

    name: str
    condition: Any
    law: Expr
    region: Region
    regime: PowerRegime | None
    program: tuple[Any, ...] = BUDGET
    finite_trace: bool = True

    @property
    def formula(self) -> Formula:
        """The least excess risk under the budget."""
        return Formula(self.law, "optimum", self.least.as_expr(C), program=self.program, where=self.condition)

    @property
    def least(self) -> Order:
        """The order of the least excess risk in C."""
        return self.region.loss.factored()

    def contains(self, point: Mapping[Symbol, Any]) -> bool:
        """Whether an exact point (s, beta) lies in the phase."""
        return bool(self.condition.subs(point)) and bool(point[beta] > 1) == self.finite_trace


@cache
def solution(law: Expr, program: tuple[Any, ...] = BUDGET, *, finite_trace: bool = True) -> ExponentSolution:
    """The engine's answer for a law, for all s and beta: where two terms meet follows from it.

    >>> len(solution(HARDER).regions)
    1
    """
    variables, budget, constraints = program
    ranges = dict(RANGES) if finite_trace else {**RANGES, beta: (Integer(0), Integer(1))}
    return optimal_exponents(law, variables, budget, constraints, ranges)


@cache
def phases() -> dict[str, Phase]:
    """The phases by name, each with the one region of the engine that holds it.

    >>> phases()["III"].region.conditions
    (beta*s - 2*beta + 1 >= 0,)
    """
    below, above = Threshold(Integer(1), Integer(0)), Threshold(_REMEMBERED, Integer(0))
    strip = And(Gt(s, 1), Lt(s, _REMEMBERED))
    converging = (
        ("Ia", Lt(s, 1), HARDER, below.regimes[2], Rational(1, 2)),
        ("II", strip, EASIER, None, Rational(5, 4)),
        ("III", Gt(s, _REMEMBERED), EASIER, above.regimes[0], Integer(2)),
    )
    by_name = {}
    for name, condition, law, regime, inside in converging:
        (region,) = (region for region in solution(law).regions if region.contains({s: inside, beta: Integer(2)}))
        by_name[name] = Phase(name, condition, law, region, regime)
    half, meet = Rational(1, 2), beta**2 - 4 * beta + 2
    diverging = (
        ("Ib", (s < 1, beta < 1), M ** (-s * beta) + (gamma * D) ** -s, True, (half, half)),
        ("Ic", (s > 1, beta < half), _LEARNED, True, (2, half / 2)),
        ("IVa", (s > 1, beta < 1, meet < 0), DIVERGING, True, (2, 3 * half / 2)),
        ("IVb", (s > 1, beta > half, beta < 1, meet > 0), DIVERGING, True, (2, Rational(27, 50))),
        ("IV, tuned", (s > 1, beta > half, beta < 1), DIVERGING, False, (2, 3 * half / 2)),
    )
    for name, conditions, law, largest, inside in diverging:
        program = STABLE_BUDGET if largest else TUNED_BUDGET
        chosen = law.subs(gamma, LARGEST_RATE) if largest else law
        regions = solution(chosen, program, finite_trace=False).regions
        (region,) = (region for region in regions if region.contains(dict(zip((s, beta), inside, strict=True))))
        by_name[name] = Phase(name, And(*conditions), chosen, region, None, program, finite_trace=False)
    return by_name


@cache
def phase_optimum(name: str) -> tuple[Derivation, ...]:
    """The optimum of a phase as a theorem, by the engine's certificate; none for II, a strip of s, nor for beta < 1.

    >>> phase_optimum("III")[0].verify().holds, phase_optimum("II")
    (True, ())
    """
    phase = phases()[name]
    if phase.regime is None:
        return ()
    rule = Optimal(phase.region.certificates, phase.regime, *BUDGET, phase.least)
    step = Step(phase.law, phase.least.as_expr(C), rule, f"phase {name}")
    return (Derivation(f"phase {name}", f"The optimum of random features in phase {name}", (step,)),)
