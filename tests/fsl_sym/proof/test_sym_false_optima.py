"""False least values, limits and orders of a part of the plane: every one is refused, with a true one beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Expr, Function, Integer, Max, Mul, Rational, Symbol, exp, oo

from fsl_sym.domain import EASY, HARD, PLANE
from fsl_sym.exponents.certificate import Certificate, certificate_at, check
from fsl_sym.exponents.law import Law
from fsl_sym.near_optimal import at_values, least_value, vanishing
from fsl_sym.optimal_rates import least_orders
from fsl_sym.order import Order
from fsl_sym.proof import (
    AllCases,
    Assumed,
    Defined,
    Derivation,
    Formula,
    Identity,
    Instance,
    Limit,
    Optimal,
    OptimalAt,
    OrderBetween,
    OrderIn,
    ProofError,
    Rewrite,
    Step,
    Vanishing,
    equals,
    less,
)
from fsl_sym.proof.formulas import Property
from fsl_sym.symbols import D, M, N, T, beta, s, t

ONE, HALF, QUARTER = Integer(1), Rational(1, 2), Rational(1, 4)
FROM_1_TO_N = (M <= N, M >= 1)


def certificate(
    loss: Expr, variables: tuple[Symbol, ...], constraints: tuple[Expr, ...], budget: Symbol
) -> Certificate:
    law = Law(loss, variables, budget, constraints, PLANE)
    return certificate_at(law, dict(zip(PLANE.symbols, (2, 3), strict=True)))  # type: ignore[arg-type]


def optimum(
    loss: Expr, order: Order, constraints: tuple[Expr, ...], variables: tuple[Symbol, ...] = (M,), budget: Symbol = N
) -> Step:
    proof = certificate(loss, variables, constraints, budget)
    rule = Optimal((proof,), EASY, variables, budget, constraints, order)
    return Step(loss, order.as_expr(budget), rule, "a least value")


LEAST = optimum(1 / M, Order(-1), FROM_1_TO_N)


def with_certificate(proof: Certificate, order: Order) -> Step:
    assert isinstance(LEAST.rule, Optimal)
    return Step(1 / M, order.as_expr(N), replace(LEAST.rule, certificates=(proof,), order=order), "another certificate")


def chain(*steps: tuple[Expr, Expr, object] | Step) -> Derivation:
    listed = tuple(step if isinstance(step, Step) else Step(*step, "a step") for step in steps)  # type: ignore[arg-type]
    return Derivation("chain", "A chain", listed)


def test_a_certificate_that_leaves_a_variable_out_is_none() -> None:
    """A point without M, a proof without its column: 1/M would be of order 1 from 1 to N."""
    assert LEAST.verify().holds
    assert isinstance(LEAST.rule, Optimal)
    (proof,) = LEAST.rule.certificates
    (branch,) = proof.branches
    zero = (Integer(0),) * 3
    alone = tuple(Integer(int(row == (1, 1))) for row in branch.coefficients)
    short = replace(proof, branches=(replace(branch, multipliers=alone),), value=zero, point=(zero,))
    assert sum(alone) == 1
    assert not with_certificate(short, Order(0)).verify().holds
    assert not check(short, {})


@pytest.mark.parametrize(
    "change",
    [
        lambda proof: {"point": (*proof.point, proof.point[0])},
        lambda proof: {"point": ()},
        lambda proof: {"point": tuple(triple[:2] for triple in proof.point)},
        lambda proof: {"winner": 5},
        lambda proof: {
            "branches": tuple(replace(branch, multipliers=(*branch.multipliers, ONE)) for branch in proof.branches)
        },
        lambda proof: {
            "branches": tuple(replace(branch, multipliers=branch.multipliers[:-1]) for branch in proof.branches)
        },
    ],
)
def test_a_certificate_of_another_shape_is_refused(change: object) -> None:
    assert isinstance(LEAST.rule, Optimal)
    (proof,) = LEAST.rule.certificates
    misshapen = replace(proof, **change(proof))  # type: ignore[operator]
    assert not with_certificate(misshapen, Order(-1)).verify().holds
    assert check(proof, {}) and not check(misshapen, {})


def test_a_point_with_a_pole_in_the_regime_attains_nothing_there() -> None:
    """1/D under D <= N and D <= M^(s-1): at s = 1 the least is 1, not 1/N, and M = N^(1/(s-1)) is no choice."""
    constraints = (D <= N, D <= M ** (s - 1))
    assert not optimum(1 / D, Order(-1), constraints, (D, M)).verify().holds
    assert optimum(1 / D, Order(-1), (D <= N, D <= M**s), (D, M)).verify().holds  # at M = N^(1/s)


@pytest.mark.parametrize("sign", [{}, {"negative": True}, {"real": True}, {"imaginary": True}])
def test_a_law_of_growth_is_one_of_positive_variables(sign: dict[str, bool]) -> None:
    """v + N/v falls below everything where v may be negative."""
    letter, positive = Symbol("v", **sign), Symbol("v", positive=True)
    assert not optimum(letter + N / letter, Order(HALF), (), (letter,)).verify().holds
    assert not optimum(M + letter / M, Order(HALF), (), (M,), letter).verify().holds
    assert optimum(positive + N / positive, Order(HALF), (), (positive,)).verify().holds
    assert not vanishing(Order(-1), letter).verify().holds
    assert vanishing(Order(-1), positive).verify().holds


@pytest.mark.parametrize("values", [(QUARTER, Integer(2)), (Integer(2), QUARTER)])
def test_a_letter_has_one_value(values: tuple[Expr, Expr]) -> None:
    """The law at s = 2 would be least like D^-2, where 1/4 < 1 - 1/beta."""
    hard = least_orders("data")[2]
    for value in values:
        law = hard[0].before.subs(s, value)
        rule = OptimalAt(hard, tuple((s, value) for value in values))
        assert not Step(law, D**-value, rule, "twice").verify().holds
        assert Step(law, D**-value, OptimalAt(hard, ((s, value),)), "once").verify().holds


def test_no_cases_are_no_proof() -> None:
    for rule in (AllCases((), ()), AllCases((), least_orders("data")), AllCases(least_orders("data"), ())):
        with pytest.raises(ProofError):
            chain((1 / M, 1 / N, rule)).prove()


FALLS = (1 / N, Integer(0), Vanishing(Order(-1), None, N))
ABOVE = Symbol("w", positive=True)


@pytest.mark.parametrize(
    "steps",
    [
        ((N, 1 / N, Defined(((N, ONE),))), FALLS),
        ((N, 1 / N, Assumed(equals(N, 1 / N))), FALLS),
        ((1 / T, 1 / t, Defined(((T, t),))), (1 / t, Integer(0), Limit(t, oo))),
        ((t, 1 / t, Defined(((t, ONE),))), (1 / t, Integer(0), Limit(t, oo))),
        ((exp(-Max(T, t)), exp(-t), Identity(((t, T + ABOVE),))), (exp(-t), exp(-t), Limit(T, oo))),
        ((M, 1 / M, Defined(((M, ONE),))), LEAST),
        (LEAST, (1 / N, N, Defined(((N, ONE),)))),
    ],
)
def test_what_runs_takes_no_value(steps: tuple[object, ...]) -> None:
    """N -> 0 as N -> oo where N = 1, min M of order 1/N where M = 1: no such hypothesis is one."""
    with pytest.raises(ProofError, match="is assumed of"):
        chain(*steps).prove()  # type: ignore[arg-type]


def test_a_limit_does_not_hold_what_tends() -> None:
    for rule in (Assumed(equals(0, t)), Identity()):
        end = t if isinstance(rule, Assumed) else Mul(0, t, evaluate=False)
        with pytest.raises(ProofError, match="stands in the limit"):
            chain((T / t, Integer(0), Limit(t, oo)), (Integer(0), end, rule)).prove()
    with pytest.raises(ProofError, match="T = t\\*\\*2 is assumed of t"):
        chain((1 / t, T / t**3, Defined(((T, t**2),))), (T / t**3, Integer(0), Limit(t, oo))).prove()


def test_what_tends_to_infinity_may_be_large() -> None:
    whole = chain((exp(-Max(T, t)), exp(-T), Identity(((T, t + ABOVE),))), (exp(-T), Integer(0), Limit(T, oo)))
    assert sorted(map(str, whole.prove().hypotheses)) == ["0 < T", "0 < t", "t < T"]


PART = Formula(M, "=", ONE, where=s < 1)


@pytest.mark.parametrize(
    "steps",
    [
        ((M, ONE, Assumed(PART)),),
        ((M + t, 1 + t, Rewrite(chain((M, ONE, Assumed(PART))))),),
        ((2 * M, Integer(2), Instance(chain((M, ONE, Assumed(PART))), (), Integer(2))),),
        ((M + t, 1 + t, OrderIn((chain((M, ONE, Assumed(replace(PART, relation="~")))),))),),
        ((M, ONE, OrderBetween(chain((M, ONE, Assumed(replace(PART, relation="<=")))))),),
    ],
)
def test_what_is_assumed_of_a_part_of_the_plane_is_not_said_of_all(steps: tuple[object, ...]) -> None:
    with pytest.raises(ProofError, match="alone is not assumed"):
        chain(*steps).prove()  # type: ignore[arg-type]


def test_what_letters_of_a_condition_alone_are_is_a_hypothesis() -> None:
    """M^-s + 1/N is least like N^-s for s < 1 alone, and at w = -2 the condition s < 1 - 1/(1 + w) would be s < 2."""
    program, order = ((M,), N, (M <= N,)), Order(-s)
    hard = least_value(M**-s + 1 / N, program, HARD, order)
    moved = at_values(hard, {beta: 1 + ABOVE}, N**-s).prove()
    assert less(0, ABOVE) in moved.hypotheses - hard.prove().hypotheses
    function = Function("f", positive=True)(ABOVE)
    assert Property("f", "a positive function") in at_values(hard, {beta: 1 + function}, N**-s).prove().hypotheses


def test_at_values_in_the_regime_nothing_is_left_of_its_condition() -> None:
    hard = least_orders("data")[2]
    assert at_values(hard, {s: HALF, beta: Integer(4)}, D**-HALF).prove().conclusion.where is None


def test_where_an_exponent_of_a_constraint_is_none_nothing_is_said() -> None:
    """Of M <= N^((s^2 - 1)/(s - 1)) at s = 1."""
    law = least_value(1 / M, ((M,), N, (M <= N ** ((s**2 - 1) / (s - 1)),)), EASY, Order(-s - 1))
    assert Formula(s - 1, "!=", Integer(0)) in law.prove().hypotheses
