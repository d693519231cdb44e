"""The best rates: the least risk is proved in every regime, neighbouring orders and laws are not."""

from dataclasses import replace

import pytest
from sympy import Rational, simplify

from fsl_sym.domain import EASY, HARD, REGIMES
from fsl_sym.optimal_rates import (
    BEST_RATE,
    LAWS,
    LEAST_PRICE,
    above_least_price,
    least_of_decay,
    least_orders,
    price,
    stationary_rate,
)
from fsl_sym.order import Order
from fsl_sym.proof import Derivation, Identity, Step
from fsl_sym.symbols import gamma


def test_the_cheapest_rate_is_where_the_square_vanishes():
    assert simplify(price(BEST_RATE) - LEAST_PRICE) == 0 == above_least_price(BEST_RATE)
    assert stationary_rate().verify().holds
    wrong = Step(price(gamma), above_least_price(gamma) + LEAST_PRICE / 2, Identity(), "half of it")
    assert not Derivation("wrong", "wrong", (wrong,)).verify().holds


@pytest.mark.parametrize("budget", LAWS)
def test_every_regime_has_its_proof(budget):
    assert [each.conclusion.where for each in least_orders(budget)] == [regime.condition for regime in REGIMES]


@pytest.mark.parametrize("proofs", [*map(least_orders, LAWS), [least_of_decay()]])
def test_neighbouring_orders_are_refused(proofs):
    for proof in proofs:
        other = HARD if proof.conclusion.where == EASY.condition else EASY
        assert proof.verify().holds
        (step,) = proof.steps
        for order in (Order(step.rule.order.power + Rational(1, 100)), Order(step.rule.order.power, Rational(1, 2))):
            wrong = replace(step, after=order.as_expr(step.rule.budget), rule=replace(step.rule, order=order))
            assert not replace(proof, steps=(wrong,)).verify().holds
        elsewhere = replace(step, rule=replace(step.rule, regime=other))
        assert not replace(proof, steps=(elsewhere,)).verify().holds
