r"""The phases of power-law random features: which terms of their law meet at the best size under a compute budget.

Without label noise, at rates and batches of order 1, M random features that are trained for the intrinsic time T leave
what they never learn, M^(-beta min(s, 1)), the signal T^-s, for s > 1 what leaks from the first features into later
ones, T^(1/beta - 1)/M, and the noise of the start, which the kernel remembers, T^(1/beta - 2).

Followers of the paper write eigenvalues j^(-2 alpha) and target coefficients j^(-beta): alpha is half of our beta,
their beta is (1 + s beta - beta)/2 of ours. Of their 4 + 3 phases three have a finite trace, 2 alpha > 1, and so lie
in our plane beta > 1: Ia (s < 1), II (1 < s < 2 - 1/beta) and III (s > 2 - 1/beta).

>>> for name, phase in phases().items():
...     print(f"{name}: {phase.formula.right}")
Ia: C**(-beta*s/(beta + 1))
II: C**(-beta*s/(beta*s + 1))
III: C**(-(2*beta - 1)/(2*beta))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sympy import And, Expr, Gt, Integer, Lt, Rational, factor

from fsl_sym.exponents.solve import ExponentSolution, Region, optimal_exponents
from fsl_sym.order import Order
from fsl_sym.power_regimes import PowerRegime, Threshold
from fsl_sym.proof import Derivation, Formula, Optimal, Step
from fsl_sym.symbols import RANGES, C, M, T, beta, s

HARDER: Final = M ** (-s * beta) + T**-s
"""The law for s < 1."""
EASIER: Final = M**-beta + T**-s + T ** (1 / beta - 1) / M + T ** (1 / beta - 2)
"""The law for s > 1."""
BUDGET: Final = ((M, T), C, (M * T <= C,))
"""Size and time are chosen under the compute C = M D, D = T."""
_REMEMBERED: Final = 2 - 1 / beta


@dataclass(frozen=True)
class Phase:
    """One phase: the followers' name, its condition, its law, what the engine finds, and its regime if it has one.

    >>> phases()["II"].regime is None
    True
    """

    name: str
    condition: Any
    law: Expr
    region: Region
    regime: PowerRegime | None

    @property
    def formula(self) -> Formula:
        """The least excess risk under the budget."""
        return Formula(self.law, "optimum", self.least.as_expr(C), program=BUDGET, where=self.condition)

    @property
    def least(self) -> Order:
        """The order of the least excess risk in C."""
        return Order(factor(self.region.loss.power), factor(self.region.loss.log_power))


@cache
def solution(law: Expr) -> ExponentSolution:
    """The engine's answer for a law, over the whole plane: where two terms meet follows from it.

    >>> len(solution(HARDER).regions)
    1
    """
    return optimal_exponents(law, *BUDGET, dict(RANGES))


@cache
def phases() -> dict[str, Phase]:
    """The three phases of the plane by name, each with the one region of the engine that holds it.

    >>> phases()["III"].region.conditions
    (beta*s - 2*beta + 1 >= 0,)
    """
    below, above = Threshold(Integer(1), Integer(0)), Threshold(_REMEMBERED, Integer(0))
    strip = And(Gt(s, 1), Lt(s, _REMEMBERED))
    wanted = (
        ("Ia", Lt(s, 1), HARDER, below.regimes[2], Rational(1, 2)),
        ("II", strip, EASIER, None, Rational(5, 4)),
        ("III", Gt(s, _REMEMBERED), EASIER, above.regimes[0], Integer(2)),
    )
    by_name = {}
    for name, condition, law, regime, inside in wanted:
        (region,) = (each for each in solution(law).regions if each.contains({s: inside, beta: Integer(2)}))
        by_name[name] = Phase(name, condition, law, region, regime)
    return by_name


@cache
def phase_optimum(name: str) -> tuple[Derivation, ...]:
    """The optimum of a phase as a theorem, by the engine's certificate; none for a strip of s, such as II.

    >>> phase_optimum("III")[0].verify().holds, phase_optimum("II")
    (True, ())
    """
    phase = phases()[name]
    if phase.regime is None:
        return ()
    rule = Optimal(phase.region.certificates, phase.regime, *BUDGET, phase.least)
    step = Step(phase.law, phase.least.as_expr(C), rule, f"phase {name}")
    return (Derivation(f"phase {name}", f"The optimum of random features in phase {name}", (step,)),)
