"""Least values put together from regimes, and put to values: what the two rules and limits of orders refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Expr, Integer, Min, Rational, Symbol, log

from fsl_sym.domain import EASY, EDGE, HARD, REGIMES
from fsl_sym.near_optimal import at_values, in_all_regimes, least_value, vanishing
from fsl_sym.optimal_rates import LAWS, least_orders
from fsl_sym.order import Order
from fsl_sym.power_regimes import PowerRegime, Side
from fsl_sym.proof import AllCases, Derivation, Step
from fsl_sym.symbols import D, N, T, beta, gamma, p, s

LAW = LAWS["data"][0]
EXPONENT = Min(s, s * beta / (1 + s * beta))
ALPHA = Symbol("alpha", positive=True)
MORE = Symbol("x", positive=True)


def holds(derivation: Derivation) -> bool:
    return derivation.verify().holds


def test_one_order_of_the_whole_plane() -> None:
    whole = in_all_regimes(least_orders("data"), REGIMES, D**-EXPONENT)
    assert holds(whole) and whole.conclusion.where is None


@pytest.mark.parametrize(
    "order",
    [D**-s, D ** -(s * beta / (1 + s * beta)), D ** -Min(s, 1 - 1 / beta), D**-EXPONENT * log(D), 2 * D**-EXPONENT,
     N**-EXPONENT, D ** -(EXPONENT + Rational(1, 50)), D ** -Min(s, 2 * s * beta / (1 + s * beta)), D ** -Min(s, p)],
)  # fmt: skip
def test_another_order_is_refused(order: Expr) -> None:
    assert not holds(in_all_regimes(least_orders("data"), REGIMES, order))


@pytest.mark.parametrize(
    "regimes", [(EASY,), (EASY, HARD), (EASY, EDGE, EASY), (HARD, EDGE, EASY), Side(Integer(1), 1).regimes]
)
def test_regimes_left_out_or_exchanged_are_refused(regimes: tuple[object, ...]) -> None:
    least = least_orders("data")
    assert not holds(in_all_regimes(least[: len(regimes)], regimes, D**-EXPONENT))  # type: ignore[arg-type]


def test_least_values_of_two_laws_are_not_one() -> None:
    of_constant = least_value(gamma + (D * gamma) ** -s, ((gamma,), D, (gamma <= 1,)), HARD, Order(-s / (s + 1)))
    assert holds(of_constant)
    assert not holds(in_all_regimes((*least_orders("data")[:2], of_constant), REGIMES, D**-EXPONENT))


def test_the_lemma_must_be_proved() -> None:
    easy, edge, hard = least_orders("data")
    wrong = Derivation("wrong", "wrong", (replace(hard.steps[0], after=D ** (-2 * s)),))
    assert not holds(in_all_regimes((easy, edge, wrong), REGIMES, D**-EXPONENT))


def test_a_side_of_a_resonance_keeps_its_condition() -> None:
    side = Side(p, 1)
    program = ((T,), D, (T <= D,))
    orders = {1: Order(-s * (p + 1) / (1 + s * (p + 1))), 0: Order(-p / (p + 1)), -1: Order(-s)}
    law = T**-s + T ** (1 / (p + 1)) / D
    least = [least_value(law, program, PowerRegime(side, sign), order) for sign, order in orders.items()]
    order = D ** -Min(s, s * (p + 1) / (1 + s * (p + 1)))
    whole = in_all_regimes(least, side.regimes, order)
    assert holds(whole) and whole.conclusion.where == side.condition
    step = Step(law, order, AllCases(tuple(least), REGIMES), "under the regimes of the plane")
    assert not step.verify().holds


def test_a_least_value_at_values_of_one_task() -> None:
    easy, *_, hard = least_orders("data")
    assert holds(at_values(hard, {s: ALPHA / beta}, D ** -(ALPHA / beta)))
    assert holds(at_values(easy, {s: ALPHA / (beta + MORE), beta: beta + MORE}, D ** -(ALPHA / (1 + ALPHA))))


@pytest.mark.parametrize(
    ("values", "order"),
    [
        ({s: ALPHA / beta}, D**-ALPHA),  # another order
        ({s: ALPHA - beta}, D ** -(ALPHA - beta)),  # may be negative
        ({beta: MORE}, D**-s),  # may be below 1
        ({s: 1 / D}, D ** -(1 / D)),  # holds the budget
        ({s: 1 / T}, D ** -(1 / T)),  # holds what is chosen
        ({D: D**2}, D ** (-2 * s)),  # no parameter
    ],
)
def test_values_outside_the_plane_and_other_orders_are_refused(values: dict[Symbol, Expr], order: Expr) -> None:
    assert not holds(at_values(least_orders("data")[2], values, order))


def test_the_condition_goes_with_the_values() -> None:
    shown = at_values(least_orders("data")[2], {s: ALPHA / beta}, D ** -(ALPHA / beta)).prove().conclusion.where
    assert shown == (ALPHA / beta < 1 - 1 / beta)


@pytest.mark.parametrize(
    ("order", "falls"),
    [
        (Order(-MORE), True),
        (Order(0, -MORE), True),
        (Order(-MORE / (1 + MORE), ALPHA), True),
        (Order(0, 0), False),
        (Order(0, MORE), False),
        (Order(MORE - ALPHA), False),
        (Order(-N), False),
    ],
)
def test_orders_that_fall_for_all_values_of_their_letters(order: Order, falls: bool) -> None:
    assert holds(vanishing(order, N)) == falls
