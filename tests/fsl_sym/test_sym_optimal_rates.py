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
    best_quantity,
    least_of_decay,
    least_orders,
    price,
    samples_spent,
    stationary_rate,
)
from fsl_sym.order import Order
from fsl_sym.proof import Derivation, Identity, Step
from fsl_sym.symbols import M, T, beta, gamma, s


def test_the_cheapest_rate_is_where_the_square_vanishes():
    assert simplify(price(BEST_RATE) - LEAST_PRICE) == 0 == above_least_price(BEST_RATE)
    assert stationary_rate().verify().holds
    wrong = Step(price(gamma), above_least_price(gamma) + LEAST_PRICE / 2, Identity(), "half of it")
    assert not Derivation("wrong", "wrong", (wrong,)).verify().holds


@pytest.mark.parametrize("budget", LAWS)
def test_every_regime_has_its_proof(budget):
    proved = [derivation.conclusion.where for derivation in least_orders(budget)]
    assert proved == [regime.condition for regime in REGIMES]


@pytest.mark.parametrize("proofs", [*map(least_orders, LAWS), [least_of_decay()]])
def test_neighbouring_orders_are_refused(proofs):
    for proof in proofs:
        elsewhere_regime = HARD if proof.conclusion.where == EASY.condition else EASY
        assert proof.verify().holds
        (step,) = proof.steps
        for order in (Order(step.rule.order.power + Rational(1, 100)), Order(step.rule.order.power, Rational(1, 2))):
            wrong = replace(step, after=order.as_expr(step.rule.budget), rule=replace(step.rule, order=order))
            assert not replace(proof, steps=(wrong,)).verify().holds
        elsewhere = replace(step, rule=replace(step.rule, regime=elsewhere_regime))
        assert not replace(proof, steps=(elsewhere,)).verify().holds


def test_the_samples_of_the_best_rates_are_an_integral():
    (step,) = samples_spent().steps
    assert step.verify().holds
    assert not replace(step, after=2 * step.after).verify().holds


@pytest.mark.parametrize(("name", "regime", "quantity", "power"), [
    ("data", EASY, T, beta / (1 + s * beta)), ("data", HARD, T, Rational(1)), ("compute", EASY, M, 1 / (2 + s * beta)),
    ("compute", HARD, T, beta / (1 + beta)),
])  # fmt: skip
def test_what_is_best_has_one_order(name, regime, quantity, power):
    assert best_quantity(name, regime, quantity, Order(power)).verify().holds
    for wrong in (Order(power + Rational(1, 100)), Order(power, Rational(1, 2))):
        assert not best_quantity(name, regime, quantity, wrong).verify().holds


def test_beyond_m_to_the_beta_more_time_is_as_good():
    order = Order(beta / (2 + s * beta))
    samples = (1 + s * beta) / (2 + s * beta)
    assert best_quantity("compute", EASY, T, order, "from").verify().holds
    assert best_quantity("compute", EASY, T, Order(samples), "up to").verify().holds
    assert not best_quantity("compute", EASY, T, order).verify().holds
    assert not best_quantity("compute", EASY, T, order, "up to").verify().holds
    for wrong in (
        Order(samples - Rational(1, 100)),
        Order(samples + Rational(1, 100)),
        Order(samples, Rational(-1, 2)),
    ):
        assert not best_quantity("compute", EASY, T, wrong, "up to").verify().holds
