"""What near-optimal choices have: every end that is true is proved, and what is nearly true of it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sympy import Expr, Integer, Max, Min, Rational, Symbol, log, oo

from fsl_sym.allocation import QUANTITIES, optimal_allocation
from fsl_sym.domain import EASY, EDGE, HARD, Regime
from fsl_sym.exponents.certificate import Certificate
from fsl_sym.laws import scaling_law
from fsl_sym.near_optimal import least_value, near_optimal, vanishing
from fsl_sym.order import Order, OrderRange
from fsl_sym.proof import (
    Assumed,
    AtMostBoth,
    Derivation,
    Formula,
    Identity,
    Instance,
    Linear,
    NearOptimal,
    OrderBetween,
    OrderIn,
    Rewrite,
    Step,
    Turned,
    equals,
)
from fsl_sym.proof.formulas import joined
from fsl_sym.symbols import C, D, K, M, N, beta, gamma, r, s

TINY = Rational(1, 50)
EASY_RISK = Order(-beta * s / (1 + beta * s), beta * s / (1 + beta * s))
"""The least risk of exponential decay under a data budget, for easy tasks: there a range of peak rates is optimal."""


def least_of(schedule: str, grown: Symbol, regime: Regime, order: Order) -> Derivation:
    return least_value(*scaling_law(schedule).under(grown), regime, order)


def holds(quantity: Expr, order: Order | None, end: str, like: NearOptimal) -> bool:
    """Whether the rule accepts this of a quantity, by the certificates of another step."""
    unbounded = oo if end == "up to" else Integer(0)
    after = unbounded if order is None else order.as_expr(like.program[3])
    return Step(quantity, after, replace(like, order=order, end=end), "so it is said").verify().holds


CASES = [(schedule, budget, place) for schedule in ("constant", "exp-decay", "wsd") for budget in ("data", "compute")
         for place in range(3)]  # fmt: skip
TELLING = [("constant", "compute", 0), ("exp-decay", "data", 0), ("wsd", "data", 1), ("wsd", "compute", 2)]


def true_ends(
    schedule: str, budget: str, place: int
) -> Iterator[tuple[Expr, OrderRange, tuple[Derivation, ...], NearOptimal]]:
    """Each quantity of an allocation, its ends, their theorems, and a rule with the certificates of all of them."""
    chosen, regime = optimal_allocation(schedule, budget).regimes[place], (EASY, EDGE, HARD)[place]
    least = least_of(schedule, N if budget == "data" else C, regime, chosen.excess_risk)
    ends = {QUANTITIES[name]: orders for name, orders in chosen.quantities.items() if name in QUANTITIES}
    proved = {letter: near_optimal(least, letter, orders, regime) for letter, orders in ends.items()}
    steps = [derivation[0] for derivations in proved.values() for derivation in derivations]
    pool: tuple[Certificate, ...] = tuple(certificate for step in steps for certificate in step.rule.certificates)
    for letter, orders in ends.items():
        yield letter, orders, proved[letter], NearOptimal(least, pool, regime, orders.lower, "from")


@pytest.mark.parametrize("case", [pytest.param(case, marks=() if case in TELLING else pytest.mark.slow)
                                  for case in CASES], ids=str)  # fmt: skip
def test_every_end_of_table_1_is_proved_and_no_neighbour_of_it(case: tuple[str, str, int]) -> None:
    for letter, ends, proved, rule in true_ends(*case):
        assert all(derivation.verify().holds for derivation in proved), letter
        for end, order in (("from", ends.lower), ("up to", ends.upper)):
            assert holds(letter, order, end, rule)
            moved = [(TINY, 0), (-TINY, 0), (0, TINY), (0, -TINY), (0, 1), (0, -1)]
            wrong = [] if order is None else [order * Order(*change) for change in moved]
            end_opposite = ends.upper if end == "from" else ends.lower
            wrong += [] if ends.is_point or end_opposite is None else [end_opposite]
            wrong += [None] if order is not None else [Order(0), Order(1)]
            assert not any(holds(letter, neighbour, end, rule) for neighbour in wrong), (letter, end)
        flat = [] if ends.is_point else [order for order in (ends.lower, ends.upper) if order is not None]
        assert not any(holds(letter, order, "at", rule) for order in flat), letter


def test_what_is_not_bounded_has_no_end_and_what_is_bounded_has_one() -> None:
    least = least_of("exp-decay", N, EASY, EASY_RISK)
    size = Order(1 / (1 + beta * s), -1 / (1 + beta * s))
    lower, upper = near_optimal(least, M, OrderRange(size, None), EASY)
    assert [derivation.prove().conclusion.right for derivation in (lower, upper)] == [size.as_expr(N), oo]
    # a larger rate than the largest, a bound where there is none, and none where there is one
    for quantity, orders in ((gamma, OrderRange(None, None)), (M, OrderRange(size, Order(3)))):
        assert not all(derivation.verify().holds for derivation in near_optimal(least, quantity, orders, EASY))
    assert not holds(M, None, "at", upper[0].rule)


def test_a_monomial_of_choices_has_an_order_and_a_constant_letter_none() -> None:
    least = least_of("constant", C, HARD, Order(-beta * s / (1 + beta + beta * s)))
    order = Order((beta * s + beta - 1) / (1 + beta + beta * s))
    (theorem,) = near_optimal(least, D / M, OrderRange(order, order), HARD)
    assert str(theorem.prove().conclusion).startswith("D/M near-optimal at")
    for quantity in (M / D, D * M, D / M * Symbol("q", positive=True), -D / M, log(M), D / M + 1 / gamma):
        assert not holds(quantity, order, "at", theorem[0].rule), quantity


def test_the_lemma_must_be_the_least_value_of_that_law_in_that_regime() -> None:
    least = least_of("exp-decay", N, EASY, EASY_RISK)
    rate = Order((beta - 1 - beta * s) / (1 + beta * s), (1 + beta * s - beta) / (1 + beta * s))
    (proof,) = near_optimal(least, gamma, OrderRange(rate, None), EASY, ("from",))
    rule = proof[0].rule
    assert proof.verify().holds
    law, program = scaling_law("exp-decay").under(N)
    larger, constant_law = (law.replace(Min, Max), program), scaling_law("constant").under(N)
    wrong = [
        # the law near more, or less, than its least value, or near none
        *(least_of("exp-decay", N, EASY, EASY_RISK * Order(*change)) for change in ((TINY, 0), (-TINY, 0), (0, TINY))),
        least_of("exp-decay", N, HARD, Order(-s, s)),
        least_value(*larger, EASY, EASY_RISK), least_value(*constant_law, EASY, Order(-s / (s + 1))),
        Derivation("x", "X", (Step(law, law, Identity(), "the same"),)),
    ]  # fmt: skip
    for lemma in wrong:
        assert not Step(gamma, proof[0].after, replace(rule, lemma=lemma), "so").verify().holds
    for changed in (
        replace(rule, regime=HARD), replace(rule, regime=replace(EASY, condition=s < 0)), replace(rule, end="near"),
        replace(rule, certificates=()), replace(rule, certificates=least[0].rule.certificates),
    ):  # fmt: skip
        assert not changed.check(gamma, proof[0].after, least.conclusion).holds


def test_a_least_value_that_is_assumed_is_a_hypothesis() -> None:
    law, program = scaling_law("constant").under(N)
    order = Order(-s / (s + 1))
    assumed = Formula(law, "optimum", order.as_expr(N), program=program, where=EASY.condition)
    true = least_value(law, program, EASY, order)
    rule = near_optimal(true, gamma, OrderRange(order, order), EASY)[0][0].rule
    lemma = Derivation("x", "X", (Step(law, assumed.right, Assumed(assumed), "assumed"),))
    # a step by assumption has no program, and so is no least value
    assert not Step(gamma, order.as_expr(N), replace(rule, lemma=lemma), "so").verify().holds


def test_a_tampered_certificate_proves_nothing() -> None:
    least = least_of("exp-decay", N, EASY, EASY_RISK)
    size = Order(1 / (1 + beta * s), -1 / (1 + beta * s))
    lower, upper = near_optimal(least, M, OrderRange(size, None), EASY)
    bound, endless = lower[0].rule, upper[0].rule
    (proof,) = bound.certificates
    smaller = Order(size.power - 1, size.log_power)
    value = (Integer(0), smaller.power, smaller.log_power)
    branch = proof.branches[proof.winner]
    without = replace(branch, coefficients=branch.coefficients[:-1], right=branch.right[:-1],
                      multipliers=branch.multipliers[:-1])  # fmt: skip
    for wrong in (
        replace(proof, value=value), replace(proof, value=value, point=(value, *proof.point[1:])),
        replace(proof, branches=proof.branches[:1]), replace(proof, branches=(without,) * len(proof.branches)),
        replace(proof, branches=tuple(replace(branch, infeasible=True) for branch in proof.branches)),
    ):  # fmt: skip
        assert not holds(M, smaller, "from", replace(bound, certificates=(wrong,)))
    # infinity in the place of the end of a quantity that has one
    (end,) = near_optimal(least, gamma, OrderRange(None, Order(0)), EASY, ("up to",))
    (proof,) = end[0].rule.certificates
    value = (Integer(-1), Integer(0), Integer(0))
    for point in (
        proof.point,
        (value, *proof.point[1:]),
        (value, (Integer(1), Integer(0), Integer(0)), *proof.point[2:]),
    ):
        wrong = replace(proof, value=value, point=point)
        assert not holds(gamma, None, "up to", replace(endless, certificates=(wrong,)))


def test_what_holds_of_near_optimal_choices_holds_of_no_others() -> None:
    order = Order(-s / (s + 1))
    least = least_of("constant", N, EASY, order)
    (theorem,) = near_optimal(least, gamma, OrderRange(order, order), EASY)
    assert theorem.verify().holds and joined(equals(K, gamma), theorem.conclusion) is None
    assert r not in theorem.conclusion.free_symbols
    rate = order.as_expr(N)
    for rule in (
        Rewrite(theorem), Instance(theorem), Instance(theorem, ((N, N**2),)), Turned(theorem), OrderIn((theorem,)),
        OrderBetween(theorem, theorem), OrderBetween(theorem), AtMostBoth(theorem, theorem),
        Linear(((Integer(1), theorem),)), NearOptimal(theorem, theorem[0].rule.certificates, EASY, order, "at"),
    ):  # fmt: skip
        for before, after in ((gamma, rate), (rate, gamma), (gamma, rate.subs(N, N**2)), (2 * gamma, 2 * rate)):
            assert not Step(before, after, rule, "so it is said").verify().holds, rule


def test_an_order_vanishes_where_its_first_power_is_negative_all_over_the_regime() -> None:
    falls = (1 - 1 / beta) - s
    for order, regime in ((Order(-s, 5), HARD), (Order(falls), EASY), (Order(falls, -1), EDGE), (Order(0, -1), EASY)):
        assert vanishing(order, N, regime).verify().holds
    for order, regime in (
        (Order(falls), HARD), (Order(falls), EDGE), (Order(falls, 1), EDGE), (Order(0, 1), EASY), (Order(0), EASY),
        (Order(s - 1), EASY), (Order(TINY - s), EASY), (Order(-s, -gamma), EASY),
        (Order(-gamma), EASY), (Order(-s), replace(EASY, condition=s < 0)),
    ):  # fmt: skip
        assert not vanishing(order, N, regime).verify().holds, (order, regime)
    step = vanishing(Order(-s), N, HARD)[0]
    assert not Step(step.before, Integer(1), step.rule, "so").verify().holds
    assert not Step(1 / step.before, Integer(0), step.rule, "so").verify().holds
