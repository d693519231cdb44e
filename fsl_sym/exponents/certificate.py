"""The proof that an exponent is optimal, and the short independent checker of that proof.

For every branch of the law there is either a non-negative combination of its rows that reads "loss exponent >= value",
or one that reads "0 >= something positive" (the branch is infeasible). Together with one feasible point that attains
the value this is a complete proof of optimality, and checking it takes sums and comparisons only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sympy import Add, Rational, Symbol

from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.law import Law
from fsl_sym.exponents.outcome import Outcome, optimal_bases
from fsl_sym.exponents.programme import Arithmetic, Basis, Programme, Values, programmes
from fsl_sym.exponents.walls import Walls
from fsl_sym.values import FrozenMapping, as_expression, exact, instance_of

Vector = tuple[Any, ...]
Rows = tuple[tuple[Vector, ...], tuple[Vector, ...]]


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


def certificate_of(outcome: Outcome, witness: Mapping[Symbol, Rational]) -> Certificate:
    """The certificate of a solved outcome, which holds in the cell of ``witness``."""
    return _certificate(outcome.programmes, outcome.winner, witness)


def certificate_at(law: Law, point: Mapping[Symbol, Fraction]) -> Certificate:
    """The certificate of a law at one exact point of its parameters, also where its loss has no bound from below.

    Such a loss has the value (-1, 0, 0): it falls below every power of the budget.

    >>> from sympy import symbols
    >>> from fsl_sym.domain import Domain
    >>> x, N = symbols("x N", positive=True)
    >>> [certificate_at(Law(loss, (x,), N, (N <= x,), Domain({})), {}).value for loss in (x, 1 / x)]
    [(0, 1, 0), (-1, 0, 0)]
    """
    clock = Clock()
    listed = tuple(programmes(law, Arithmetic.of(law.field), clock))
    bases, winner = optimal_bases(listed, Values(law, point, Walls(law.domain)), clock)
    witness = {symbol: exact(value) for symbol, value in point.items()}
    return _certificate(tuple(zip(listed, bases, strict=True)), winner, witness)


def _certificate(
    solved: Sequence[tuple[Programme, Basis]], winner: int, witness: Mapping[Symbol, Rational]
) -> Certificate:
    proofs = []
    law = solved[0][0].law
    for programme, basis in solved:
        multipliers = [programme.law.field.zero] * len(programme.rows)
        for row, multiplier in zip(basis.rows, basis.multipliers, strict=True):
            multipliers[row] = multiplier
        proofs.append(BranchProof(*_rows(programme), _expressions(law, multipliers), basis.infeasible is not None))
    point = tuple(_expressions(law, triple) for triple in solved[winner][1].point)
    return Certificate(tuple(proofs), point[0], winner, point, witness)


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
    instance_of("certificate", certificate, Certificate)
    instance_of("parameters", parameters, Mapping)
    values = {symbol: exact(value) for symbol, value in parameters.items()}
    try:
        there = _at(certificate, values)
    except ZeroDivisionError:
        return False
    return proves(there, lambda number: (number.p > 0) - (number.p < 0))


def proves(certificate: Certificate, sign: Callable[[Any], int | None]) -> bool:
    """Whether a certificate proves optimality, where ``sign`` gives the signs 1, -1, 0 of sums of its entries.

    None says that a sign is not known: then nothing is proved. That the rows are those of a law is not its matter.

    >>> from fsl_sym.allocation import optimal_allocation
    >>> from fsl_sym.domain import EASY, HARD
    >>> certificate = optimal_allocation("constant", "data").solution.regions[0].certificate
    >>> proves(certificate, HARD.sign_of), proves(certificate, lambda total: None)
    (True, False)
    """
    if not _fits(certificate) or not all(_is_finite(entry, sign) for place in certificate.point for entry in place):
        return False
    columns = range(len(certificate.point))
    for proof in certificate.branches:
        used = [place for place, weight in enumerate(proof.multipliers) if weight != 0]
        weights = [proof.multipliers[place] for place in used]
        combined = [_weighted(weights, [proof.coefficients[place][k] for place in used]) for k in columns]
        goals = [0 if proof.infeasible else int(k == 0) for k in columns]
        bound = [_weighted(weights, [proof.right[place][part] for place in used]) for part in range(3)]
        least, allowed = ((0, 0, 0), (1,)) if proof.infeasible else (certificate.value, (0, 1))
        if not (
            all(sign(weight) in (0, 1) for weight in weights)
            and all(sign(total - goal) == 0 for total, goal in zip(combined, goals, strict=True))
            and _lexicographic_sign(bound, least, sign) in allowed
        ):
            return False
    best = certificate.branches[certificate.winner]
    for row, right in zip(best.coefficients, best.right, strict=True):
        reached = [_weighted(row, [place[part] for place in certificate.point]) for part in range(3)]
        if _lexicographic_sign(reached, right, sign) not in (0, 1):
            return False
    return certificate.point[0] == certificate.value


def _weighted(weights: Sequence[Any], entries: Sequence[Any]) -> Any:
    """The sum of the products of entries with their weights, most of which are 0."""
    return Add(*(weight * entry for weight, entry in zip(weights, entries, strict=True) if weight != 0 and entry != 0))


def _fits(certificate: Certificate) -> bool:
    """Whether every row has a number for every variable, and a multiplier, and the winner is one of the branches."""
    triples = [certificate.value, *certificate.point]
    for proof in certificate.branches:
        triples += proof.right
        if not len(proof.coefficients) == len(proof.right) == len(proof.multipliers):
            return False
        if any(len(row) != len(certificate.point) for row in proof.coefficients):
            return False
    return 0 <= certificate.winner < len(certificate.branches) and all(len(triple) == 3 for triple in triples)


def _is_finite(entry: Any, sign: Callable[[Any], int | None]) -> bool:
    """Whether a rational function is shown to divide by nothing that may be 0: where it cancels, no pole is seen."""
    entry = as_expression(entry)
    if entry.is_Pow and entry.exp.is_Integer:
        return _is_finite(entry.base, sign) and (entry.exp > 0 or sign(entry.base) in (1, -1))
    if entry.is_Add or entry.is_Mul:
        return all(_is_finite(part, sign) for part in entry.args)
    return bool(entry.is_Rational or entry.is_Symbol)


def _lexicographic_sign(left: Sequence[Any], right: Sequence[Any], sign: Callable[[Any], int | None]) -> int | None:
    """The sign of the first component in which two triples differ; None where it is not known."""
    signs = (sign(mine - theirs) for mine, theirs in zip(left, right, strict=True))
    return next((component_sign for component_sign in signs if component_sign != 0), 0)


def _at(certificate: Certificate, parameters: Mapping[Symbol, Rational]) -> Certificate:
    """The certificate with numbers for its entries; ZeroDivisionError where one of them has a pole."""

    def number(entry: Any) -> Rational:
        # most entries are numbers, and putting parameters into these is most of the work
        entry = as_expression(entry)
        value = entry if entry.is_Rational else entry.subs(parameters)
        if value.free_symbols:
            raise ValueError(f"{value} has no number: give values to {value.free_symbols} to check the certificate")
        if not value.is_Rational:
            raise ZeroDivisionError
        return value

    def vector(entries: Vector) -> Vector:
        return tuple(map(number, entries))

    branches = tuple(
        replace(
            proof,
            coefficients=tuple(map(vector, proof.coefficients)),
            right=tuple(map(vector, proof.right)),
            multipliers=vector(proof.multipliers),
        )
        for proof in certificate.branches
    )
    point = tuple(map(vector, certificate.point))
    return replace(certificate, branches=branches, value=vector(certificate.value), point=point)


def branches_of(law: Law) -> tuple[Rows, ...]:
    """(coefficients, right sides) of every way to resolve the minima and the constraints of a law, written out anew.

    >>> from sympy import symbols
    >>> from fsl_sym.domain import Domain
    >>> x, N = symbols("x N", positive=True)
    >>> len(branches_of(Law(x + N / x, (x,), N, (), Domain({}))))
    1
    """
    return tuple(map(_rows, programmes(law, Arithmetic(law.field), Clock())))


def _rows(programme: Programme) -> Rows:
    law = programme.law
    return (
        tuple(_expressions(law, row.coefficients) for row in programme.rows),
        tuple(_expressions(law, row.right) for row in programme.rows),
    )


def _expressions(law: Law, elements: Any) -> Vector:
    return tuple(law.expression(element) for element in elements)
