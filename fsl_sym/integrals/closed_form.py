"""What a closed form carries: the exact expression, its asymptotics, its growth order, and how it was derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sympy import Eq, Expr, Integer, Min, Mul, Symbol, true
from sympy.logic.boolalg import Boolean

from fsl_sym.algebra.equality import equal
from fsl_sym.algebra.printing import latex
from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.proof import Derivation
from fsl_sym.spectrum import FiniteSize
from fsl_sym.symbols import M, beta
from fsl_sym.values import FrozenMapping, as_expression, assigned


@dataclass(frozen=True, slots=True)
class GrowthOrder:
    """A growth order up to two-sided constants: the least of several monomials, times a factor.

    Attributes
    ----------
    alternatives
        Mappings {base: exponent}; a base is a symbol, or an expression such as ``log(T)`` or ``a - b``.
    condition
        Where on (s, beta, p) it is the order.

    Examples
    --------
    >>> from fsl_sym.symbols import M, T, beta
    >>> GrowthOrder(({M: 1, T: -1}, {T: 1 / beta - 1})).expression
    Min(T**(-1 + 1/beta), M/T)
    """

    alternatives: tuple[Mapping[Expr, Expr], ...]
    condition: Boolean = true

    def __post_init__(self) -> None:
        if not self.alternatives:
            raise ValueError("a growth order needs at least one monomial; {} is the order 1")
        frozen: tuple[FrozenMapping[Expr, Expr], ...] = tuple(
            FrozenMapping(assigned(item)) for item in self.alternatives
        )
        object.__setattr__(self, "alternatives", frozen)

    def __str__(self) -> str:
        return f"{self.expression}{'' if self.condition == true else f' where {self.condition}'}"

    @property
    def expression(self) -> Expr:
        """The order as an expression."""
        return Min(*[Mul(*[base**exponent for base, exponent in item.items()]) for item in self.alternatives])

    def times(self, base: Expr, exponent: Expr | int = 1) -> GrowthOrder:
        """The order with a factor ``base^exponent``."""
        power = as_expression(exponent)
        return replace(self, alternatives=tuple({**x, base: x.get(base, 0) + power} for x in self.alternatives))


def cut_order(time: Expr) -> GrowthOrder:
    """min{M, time^(1/beta)}/time: the modes that an intrinsic time does not reach, or there are not, are cut off.

    >>> from fsl_sym.symbols import T
    >>> cut_order(T).expression
    Min(T**(-1 + 1/beta), M/T)
    """
    return GrowthOrder(({M: Integer(1), time: Integer(-1)}, {time: 1 / beta - 1}))


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line that the paper prints, per mode, against the right value; ``verdict`` is computed, not typed."""

    label: str
    printed: Expr
    right: Expr
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the printed line is right, exactly."""
        return equal(self.printed, self.right).proved

    @property
    def refuted(self) -> bool:
        """Whether numbers contradict it."""
        return equal(self.printed, self.right).refuted


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A noise integral or a part of one.

    Examples
    --------
    >>> from fsl_sym.integrals import I2
    >>> I2().order[0].expression
    Min(T**(-1 + 1/beta), M/T)

    Attributes
    ----------
    exact
        Exact for every M: sums over j = 1..M.
    derivation
        From the definition to ``exact``.
    order
        The sum of these growth orders, where their conditions hold.
    asymptotics
        M infinite, or None where ``parts`` carry it.
    finite
        The finite-M form with incomplete gamma functions and its error, or None.
    conditions, resonances
        Of the asymptotics.
    printed
        The lines that the paper prints for it.
    """

    name: str
    exact: Expr
    derivation: Derivation
    order: tuple[GrowthOrder, ...]
    asymptotics: Expansion | None = None
    finite: FiniteSize | None = None
    conditions: tuple[Boolean, ...] = ()
    resonances: tuple[Eq, ...] = ()
    printed: tuple[PrintedLine, ...] = ()

    def __str__(self) -> str:
        """The exact form, and its growth orders.

        >>> from fsl_sym import noise_integral
        >>> print(noise_integral("constant"))
        constant = a*Sum((1 - exp(-2*T/j**beta))/(2*j**beta), (j, 1, M)), of the order of a
        """
        return f"{self.name} = {self.exact}, of the order of {'; '.join(map(str, self.order))}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {latex(self.exact)}$"

    def at_resonance(self, values: Mapping[Symbol, Expr]) -> Expansion:
        """The asymptotics with parameters set, right at a resonance too.

        Raises
        ------
        ValueError
            If the closed form has no asymptotics of its own.

        Examples
        --------
        >>> from fsl_sym.integrals import I1
        >>> from fsl_sym.symbols import beta
        >>> print(I1().at_resonance({beta: 2}).expression)
        pi**2/12 - sqrt(2)*sqrt(pi)/(8*sqrt(T))
        """
        if self.asymptotics is None:
            raise ValueError(f"{self.name} has no expansion of its own; expand the parts that its derivation ends with")
        return self.asymptotics.at(values)
