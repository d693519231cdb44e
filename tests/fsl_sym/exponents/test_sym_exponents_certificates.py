"""Certificates: they prove what they say, every tampered one is refused, and their rows are those of the law."""

from dataclasses import replace
from fractions import Fraction

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from sym_random_laws import VARIABLES, N, laws
from sympy import Add, Eq, Integer, Max, Min, Mul, Pow, Rational, Symbol, log, symbols

from fsl_sym.allocation import optimal_allocation
from fsl_sym.exponents.certificate import check
from fsl_sym.exponents.solve import optimal_exponents
from fsl_sym.symbols import beta, s

M, D, *_ = VARIABLES
a, b = symbols("a b")
POINT = {a: Rational(1, 3), b: Rational(2, 7)}
STEPS = st.builds(Rational, st.integers(-5, 5).filter(bool), st.integers(1, 9))


def product_law():
    return optimal_exponents(M**-a + D**-b, [M, D], N, [Eq(M * D, N)], {a: (0, None), b: (0, None)})


SMALL = product_law().regions[0].certificate
LARGE_POINT = {s: Rational(1, 2), beta: Rational(4)}
LARGE = optimal_allocation("exp-decay", "compute").solution.at(LARGE_POINT).certificate
CERTIFICATES = {"one branch": (SMALL, POINT), "two branches": (LARGE, LARGE_POINT)}


def changed(entries, place, step):
    entries = list(entries)
    entries[place] = entries[place] + step
    return tuple(entries)


def with_proof(certificate, index, **changes):
    proofs = list(certificate.branches)
    proofs[index] = replace(proofs[index], **changes)
    return replace(certificate, branches=tuple(proofs))


def used_rows(certificate, index, point):
    """The rows that carry weight in the proof of a branch."""
    multipliers = certificate.branches[index].multipliers
    return [row for row, weight in enumerate(multipliers) if weight.subs(point) != 0]


@pytest.mark.parametrize("name", CERTIFICATES)
def test_an_honest_certificate_is_accepted(name):
    assert check(*CERTIFICATES[name])


@pytest.mark.parametrize("name", CERTIFICATES)
@examples(15)
@given(data=st.data(), step=STEPS)
def test_a_changed_multiplier_is_refused(name, data, step):
    """One multiplier alone cannot change: the combination of rows would not read loss >= value any more."""
    certificate, point = CERTIFICATES[name]
    index = data.draw(st.integers(0, len(certificate.branches) - 1))
    multipliers = certificate.branches[index].multipliers
    row = data.draw(st.integers(0, len(multipliers) - 1))
    assert not check(with_proof(certificate, index, multipliers=changed(multipliers, row, step)), point)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_scaled_or_negated_proof_is_refused(name):
    certificate, point = CERTIFICATES[name]
    for index, proof in enumerate(certificate.branches):
        for factor in (Integer(0), Integer(-1), Rational(1, 2), Integer(2)):
            if proof.infeasible and factor > 0:
                continue  # a proof of infeasibility may be scaled
            scaled = tuple(factor * weight for weight in proof.multipliers)
            assert not check(with_proof(certificate, index, multipliers=scaled), point)


@pytest.mark.parametrize("name", CERTIFICATES)
@given(place=st.integers(0, 2), step=STEPS)
def test_a_changed_value_is_refused(name, place, step):
    certificate, point = CERTIFICATES[name]
    moved = changed(certificate.value, place, step)
    assert not check(replace(certificate, value=moved), point)
    # Nor does it help to move the point along.
    assert not check(replace(certificate, value=moved, point=(moved, *certificate.point[1:])), point)


@given(coordinate=st.integers(0, 2), place=st.integers(0, 2), step=STEPS)
def test_a_changed_point_is_refused_where_the_optimum_is_unique(coordinate, place, step):
    triple = changed(SMALL.point[coordinate], place, step)
    assert not check(replace(SMALL, point=changed_at(SMALL.point, coordinate, triple)), POINT)


def changed_at(entries, place, entry):
    return (*entries[:place], entry, *entries[place + 1 :])


@pytest.mark.parametrize("name", CERTIFICATES)
@examples(15)
@given(data=st.data(), step=STEPS)
def test_a_changed_row_is_refused_where_it_carries_weight(name, data, step):
    certificate, point = CERTIFICATES[name]
    index = data.draw(st.integers(0, len(certificate.branches) - 1))
    proof = certificate.branches[index]
    row = data.draw(st.sampled_from(used_rows(certificate, index, point)))
    column = data.draw(st.integers(0, len(proof.coefficients[row]) - 1))
    rows = changed_at(proof.coefficients, row, changed(proof.coefficients[row], column, step))
    assert not check(with_proof(certificate, index, coefficients=rows), point)
    # A weaker right-hand side proves less; a stronger one cuts the point off, or is no harm in a losing branch.
    weaker = changed_at(proof.right, row, changed(proof.right[row], 1, -abs(step)))
    if index == certificate.winner:
        assert not check(with_proof(certificate, index, right=weaker), point)
        stronger = changed_at(proof.right, row, changed(proof.right[row], 2, abs(step)))
        assert not check(with_proof(certificate, index, right=stronger), point)


def test_another_winner_or_a_false_infeasibility_is_refused():
    for certificate, point in CERTIFICATES.values():
        flipped = with_proof(certificate, certificate.winner, infeasible=True)
        assert not check(flipped, point)
    loser = 1 - LARGE.winner
    rows, right = LARGE.branches[loser].coefficients, LARGE.branches[loser].right
    alone = [
        all(
            tuple(
                sum(c.subs(LARGE_POINT) * p[k].subs(LARGE_POINT) for c, p in zip(row, LARGE.point, strict=True))
                for k in range(3)
            )
            >= tuple(order.subs(LARGE_POINT) for order in bound)
            for row, bound in zip(rows, right, strict=True)
        )
    ]
    assert check(replace(LARGE, winner=loser), LARGE_POINT) == alone[0]


def test_a_certificate_does_not_hold_outside_its_cell():
    solution = optimal_exponents(M * Min(N**-a, N**-b), [M], N, [M >= 1], {a: (0, None), b: (0, None)})
    (region,) = [region for region in solution.regions if region.contains({a: 1, b: 2})]
    assert check(region.certificates[0], {a: Integer(1), b: Integer(2)})
    assert not check(region.certificates[0], {a: Integer(2), b: Integer(1)})


def test_a_certificate_at_its_pole_proves_nothing():
    assert not check(SMALL, {a: Integer(1), b: Integer(-1)})


def test_a_bad_parameter_is_refused():
    with pytest.raises(TypeError, match="0.25 is a float"):
        check(SMALL, {a: 0.25, b: Rational(1, 2)})
    with pytest.raises(ValueError, match="give values to {b}"):
        check(SMALL, {a: Rational(1, 2)})


# ---- the rows are those of the law -----------------------------------------------------------------------------------


def growth(expression, point):
    """The pair (power, log power) of a law where each symbol of ``point`` has the pair given; numbers are constants."""
    if expression in point:
        return point[expression]
    if expression == log(N):
        return (Fraction(0), Fraction(1))
    if expression.is_Rational:
        return (Fraction(0), Fraction(0))
    parts = [growth(part, point) for part in expression.args[: 1 if isinstance(expression, Pow) else None]]
    if isinstance(expression, Add | Max):
        return max(parts)
    if isinstance(expression, Min):
        return min(parts)
    if isinstance(expression, Mul):
        return tuple(sum(part[k] for part in parts) for k in (0, 1))
    assert isinstance(expression, Pow)
    factor = Fraction(int(expression.exp.p), int(expression.exp.q))
    return tuple(factor * exponent for exponent in parts[0])


def holds(relation, point):
    left, right = growth(relation.lhs, point), growth(relation.rhs, point)
    return left == right if isinstance(relation, Eq) else left <= right


COORDINATES = st.lists(
    st.tuples(st.fractions(-2, 2, max_denominator=3), st.fractions(-2, 2, max_denominator=3)), min_size=5, max_size=5
)


@examples(25)
@given(laws(), st.lists(COORDINATES, min_size=6, max_size=6))
def test_the_rows_of_a_certificate_are_the_law(law, choices):
    """Read directly, the law is the least loss that some branch allows; where it forbids a point, all branches do."""
    try:
        solution = optimal_exponents(law.loss(), law.variables, N, law.constraints())
    except ValueError:
        return
    certificate = solution.regions[0].certificate
    boxes = 2 * (law.count + 1)
    for coordinates in choices:
        point = {N: (Fraction(1), Fraction(0)), **dict(zip(law.variables, coordinates, strict=False))}
        losses = []
        for proof in certificate.branches:
            rows = [
                ([Fraction(int(c.p), int(c.q)) for c in row], [Fraction(int(c.p), int(c.q)) for c in right[1:]])
                for row, right in zip(proof.coefficients[boxes:], proof.right[boxes:], strict=True)
            ]
            gaps = [
                (
                    row[0],
                    tuple(
                        r - sum(c * x[k] for c, x in zip(row[1:], coordinates, strict=False))
                        for k, r in enumerate(right)
                    ),
                )
                for row, right in rows
            ]
            if all(gap <= (0, 0) for loss, gap in gaps if not loss):
                losses.append(max(gap for loss, gap in gaps if loss))
        if all(holds(relation, point) for relation in law.constraints()):
            assert min(losses) == growth(law.loss(), point)
        else:
            assert not losses


def test_the_reading_used_here_knows_a_sum_from_a_minimum():
    point = {N: (Fraction(1), Fraction(0)), M: (Fraction(1, 2), Fraction(3))}
    assert growth(N + M, point) == (1, 0)
    assert growth(Min(N, M) ** -2 * log(N), point) == (-1, -5)
    assert holds(Eq(M, N), point) is False and holds(M <= N, point)
    assert Symbol("unused") not in point
