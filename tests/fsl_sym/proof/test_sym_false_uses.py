"""False statements by a false use of true lemmas: at values and coefficients that are none, inside derivatives, by
letters that are gone; and by rules that do not look at one place."""

from __future__ import annotations

import pytest
from sympy import Derivative, Expr, Function, Integer, Integral, Min, Sum, Symbol, oo

from fsl_sym.proof import (
    Assumed,
    Defined,
    Derivation,
    Evaluated,
    Identity,
    Induction,
    Instance,
    Linear,
    ProofError,
    Rewrite,
    Smaller,
    Step,
    Substitution,
    equals,
    lemma,
)
from fsl_sym.symbols import T, j, s, t, z

ZERO, ONE, TWO = Integer(0), Integer(1), Integer(2)
x, y = Symbol("x", positive=True), Symbol("y", positive=True)
m, n = Symbol("m", integer=True, positive=True), Symbol("n", integer=True, nonnegative=True)
ANY = Symbol("q")


def same(side: Expr) -> Derivation:
    return lemma(side, side, Identity(), "the same")


def assumed(left: Expr, right: Expr) -> Derivation:
    return lemma(left, right, Assumed(equals(left, right)), "assumed")


ENDLESS = Integral(1, (t, 0, oo))
DOUBLED = lemma(ENDLESS, 2 * Integral(1, (z, 0, oo)), Substitution(t, z, 2 * z), "stretched")
DIFFERENCE = lemma(x - y, ZERO, Linear(((ONE, assumed(x, y)), (-ONE, same(y)))), "subtracted")
MULTIPLE = lemma((x - y) * ANY, ZERO, Linear(((ANY, DIFFERENCE),)), "multiplied")
DIVIDED = lemma(ONE, ZERO, Linear(((1 / (x - y), DIFFERENCE),)), "divided by what is 0")
ONLY_ZERO = lemma(ZERO, ANY, Linear(((ONE, assumed(ANY, 2 * ANY)), (-ONE, same(ANY)))), "0 alone is its double")
PRODUCT = Derivative(x**2 * y, x)
# near 0 like x^(s - 2): the integral is infinite for s < 1, and at 0 the factor x makes the product 0
SINGULAR = x * (x + x**2) ** (s - 3)

FALSE: dict[str, tuple[Expr, Expr, object]] = {
    "a product at a quotient by 0": (ONE, ZERO, Instance(DIVIDED, ((x, y),))),
    "a coefficient that is infinite": (ONE, TWO, Linear(((1 / ENDLESS, DOUBLED),))),
    "infinities that cancel": (ZERO, ENDLESS, Linear(((ONE, DOUBLED), (-ONE, same(ENDLESS))))),
    "a letter at infinity": (ZERO, ENDLESS, Instance(ONLY_ZERO, ((ANY, ENDLESS),))),
    "above what is infinite": (ENDLESS, ENDLESS + 1, Smaller(strict=True)),
    "above an endless sum": (Sum(1 / j, (j, 1, oo)), 1 + Sum(1 / j, (j, 1, oo)), Smaller(strict=True)),
    "a derivative at a value that moves": (
        Derivative(x**3, x), 2 * x**2, Instance(lemma(PRODUCT, 2 * x * y, Evaluated(), "taken"), ((y, x),)),
    ),
    "a derivative of what is defined": (PRODUCT, 3 * x**2, Defined(((y, x),))),
    "a derivative rewritten at one value": (Derivative(x * y, x), ZERO, Rewrite(assumed(x * y, ONE))),
    "an induction that leaves out the step to 1": (Min(m, 1, evaluate=False), ZERO, Induction(m)),
    "a singular integrand times 0": (Derivative(Integral(SINGULAR, (x, 0, T)), T), SINGULAR.subs(x, T), Evaluated()),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_a_false_use_is_refused(name: str) -> None:
    before, after, rule = FALSE[name]
    assert Step(before, after, rule, "a false statement").verify().holds is False  # type: ignore[arg-type]


def test_what_a_lemma_is_divided_by_is_not_0_by_hypothesis() -> None:
    for theorem in (DIVIDED.prove(), lemma(ONE, ZERO, Instance(MULTIPLE, ((ANY, 1 / (x - y)),)), "put").prove()):
        assert {"x = y", "x - y != 0"} <= set(map(str, theorem.hypotheses))  # of no two numbers is both true


def test_a_letter_that_is_gone_keeps_its_sign_where_more_is_asked_of_it() -> None:
    negative = Derivation(
        "a", "A", (Step(ZERO, x, Smaller(), "positive"), Step(x, -TWO, assumed(x, -TWO)[0].rule, "-"))
    )
    beside = lemma(x, x - 2, Linear(((ONE, negative), (ONE, same(x)))), "x added")
    gone = lemma(ZERO, -TWO, Linear(((ONE, beside), (-ONE, same(x)))), "x subtracted").prove()
    assert {"0 < x", "x = -2"} <= set(map(str, gone.hypotheses))


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        (Sum(2 * j - 1, (j, 1, m)), m**2, Induction(m, 1)),
        (Sum(2 * j - 1, (j, 1, n)), n**2, Induction(n)),
        (ENDLESS, ENDLESS + 1, Smaller()),
        (3 * ENDLESS, 3 * Integral(2, (z, 0, oo)),
         Linear(((Integer(3), lemma(ENDLESS, Integral(2, (z, 0, oo)), Substitution(t, z, 2 * z), "stretched")),))),
        (x * Derivative(Function("f")(t), t), y * Derivative(Function("f")(t), t), Rewrite(assumed(x, y))),
        (Derivative(Integral(x**s, (x, 0, T)), T), T**s, Evaluated()),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_true_is_not_hindered(before: Expr, after: Expr, rule: object) -> None:
    verdict = Step(before, after, rule, "a true statement").verify()  # type: ignore[arg-type]
    assert verdict.holds, verdict.detail


def test_a_derivative_takes_a_value_that_does_not_move() -> None:
    taken = lemma(PRODUCT, 2 * x * y, Evaluated(), "taken")
    assert lemma(Derivative(x**2 * T, x), 2 * x * T, Instance(taken, ((y, T),)), "put").prove()
    with pytest.raises(ProofError, match="by which the derivative is taken"):
        lemma(Derivative(x**3, x), 2 * x**2, Instance(taken, ((y, x),)), "put").prove()
