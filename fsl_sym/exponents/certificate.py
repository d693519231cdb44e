"""The proof that an exponent is optimal, and the short independent checker of that proof.

For every branch of the law there is either a non-negative combination of its rows that reads "loss exponent >= value",
or one that reads "0 >= something positive" (the branch is infeasible). Together with one feasible point that attains
the value this is a complete proof of optimality, and checking it takes sums and comparisons only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Rational, Symbol, sympify

from fsl_sym.domain import exact
from fsl_sym.exponents.law import Law
from fsl_sym.exponents.outcome import Outcome
from fsl_sym.values import FrozenMapping

Vector = tuple[Any, ...]


@dataclass(frozen=True)
class BranchProof:
    """The rows of one branch (coefficients . x >= right) and the multipliers that bound its loss from below."""

    coefficients: tuple[Vector, ...]
    right: tuple[Vector, ...]
    multipliers: Vector
    infeasible: bool


@dataclass(frozen=True)
class Certificate:
    """Proofs for all branches, the optimal value, a point of branch ``winner`` that attains it, and where they hold.

    Every entry is a sympy rational function of the parameters. Values are triples (o, p, q), read as
    o * Omega + p + q * epsilon with Omega beyond every number and epsilon below every positive one: p is the power of
    the budget, q that of its logarithm, and Omega belongs only to the box |x_i| <= Omega.

    >>> from fsl_sym.allocation import optimal_allocation
    >>> certificate = optimal_allocation("constant", "data").solution.regions[0].certificate
    >>> len(certificate.branches), certificate.value
    (1, (0, -s/(s + 1), 0))
    """

    branches: tuple[BranchProof, ...]
    value: Vector
    winner: int
    point: tuple[Vector, ...]
    witness: Mapping[Symbol, Rational]

    def __post_init__(self) -> None:
        object.__setattr__(self, "witness", FrozenMapping(self.witness))

    @classmethod
    def of(cls, outcome: Outcome, witness: Mapping[Symbol, Rational]) -> Certificate:
        """The certificate of a solved outcome, which holds in the cell of ``witness``."""
        proofs = []
        law = outcome.programmes[0][0].law
        for programme, basis in outcome.programmes:
            multipliers = [programme.law.field.zero] * len(programme.rows)
            for row, multiplier in zip(basis.rows, basis.multipliers, strict=True):
                multipliers[row] = multiplier
            proofs.append(
                BranchProof(
                    tuple(_expressions(law, row.coefficients) for row in programme.rows),
                    tuple(_expressions(law, row.right) for row in programme.rows),
                    _expressions(law, multipliers),
                    basis.infeasible is not None,
                )
            )
        optimum = outcome.programmes[outcome.winner][1]
        point = tuple(_expressions(law, triple) for triple in optimum.point)
        return cls(tuple(proofs), point[0], outcome.winner, point, witness)


def check(certificate: Certificate, parameters: Mapping[Symbol, Rational]) -> bool:
    """Whether the certificate proves optimality at exact parameter values. Sums and comparisons, nothing else.

    False also where an entry of the certificate has a pole. That the rows are those of the law is not its matter.
    Raises TypeError for a float, ValueError where a parameter is missing.

    >>> from sympy import Rational, symbols, Eq
    >>> from fsl_sym.exponents.solve import optimal_exponents
    >>> M, D, N, a, b = symbols("M D N a b", positive=True)
    >>> solution = optimal_exponents(M**-a + D**-b, [M, D], N, [Eq(M * D, N)], {a: (0, None), b: (0, None)})
    >>> check(solution.regions[0].certificate, {a: Rational(1, 3), b: Rational(2, 7)})
    True
    """
    try:
        return _proves(certificate, {symbol: exact(value) for symbol, value in parameters.items()})
    except ZeroDivisionError:
        return False


def _proves(certificate: Certificate, parameters: Mapping[Symbol, Rational]) -> bool:
    value, point = _at(certificate.value, parameters), [_at(triple, parameters) for triple in certificate.point]
    for proof in certificate.branches:
        rows, right, y = (
            [_at(row, parameters) for row in proof.coefficients],
            [_at(triple, parameters) for triple in proof.right],
            _at(proof.multipliers, parameters),
        )
        bound = tuple(sum(weight * triple[part] for weight, triple in zip(y, right, strict=True)) for part in range(3))
        combined = [sum(weight * row[k] for weight, row in zip(y, rows, strict=True)) for k in range(len(point))]
        wanted = [0 if proof.infeasible else int(k == 0) for k in range(len(point))]
        if min(y) < 0 or combined != wanted or (bound <= (0, 0, 0) if proof.infeasible else bound < value):
            return False
    best = certificate.branches[certificate.winner]
    rows = [_at(row, parameters) for row in best.coefficients]
    right = [_at(triple, parameters) for triple in best.right]
    reached = [
        tuple(sum(entry * triple[part] for entry, triple in zip(row, point, strict=True)) for part in range(3))
        for row in rows
    ]
    return point[0] == value and all(mine >= bound for mine, bound in zip(reached, right, strict=True))


def _at(entries: Vector, parameters: Mapping[Symbol, Rational]) -> Vector:
    # most entries are numbers, and putting parameters into these is most of the work
    values = tuple(entry if entry.is_Rational else entry.subs(parameters) for entry in map(sympify, entries))
    for value in values:
        if value.free_symbols:
            raise ValueError(f"{value} has no number: give values to {value.free_symbols} to check the certificate")
        if not value.is_Rational:
            raise ZeroDivisionError
    return values


def _expressions(law: Law, elements: Any) -> Vector:
    return tuple(law.expression(element) for element in elements)
