"""Every rule accepts what is true, by an exact method, and refuses its nearest false neighbours."""

from __future__ import annotations

import pytest
from sympy import (
    Add,
    Derivative,
    Expr,
    Function,
    Integer,
    Integral,
    MatrixSymbol,
    Min,
    Mul,
    Rational,
    Sum,
    Symbol,
    exp,
    log,
    oo,
    uppergamma,
    zeta,
)

from fsl_sym.allocation import optimal_allocation
from fsl_sym.domain import HARD, REGIMES
from fsl_sym.near_optimal import at_values, in_all_regimes, near_optimal, vanishing
from fsl_sym.optimal_rates import least_orders
from fsl_sym.order import Order, OrderRange
from fsl_sym.proof import (
    Antiderivative,
    Assumed,
    AtMostBoth,
    Counted,
    Defined,
    Derivation,
    Evaluated,
    FirstTerm,
    HeadOfSum,
    Identity,
    Induction,
    Instance,
    IntegralTest,
    Interchange,
    Limit,
    Linear,
    MatrixIdentity,
    Maximum,
    Monotone,
    MoreTerms,
    OrderBetween,
    OrderIn,
    Residues,
    Rewrite,
    Rises,
    SameDerivative,
    Smaller,
    Step,
    Substitution,
    SumOfBounds,
    SumToIntegral,
    Termwise,
    Turned,
    WithinError,
    ZetaSeries,
    at_least,
    at_most,
    equals,
    less,
    same_order,
)
from fsl_sym.proof.rules import RULES
from fsl_sym.spectrum import kernel_asymptotics
from fsl_sym.symbols import D, M, T, a, b, beta, gamma, j, lam, s, t, tau, z
from fsl_sym.symbols import zeta_rate as rate

DECAY = Integral(exp(-2 * lam * t), (t, 0, T))
KERNEL = Sum(j ** (-2 * beta) * exp(-2 * j**-beta * t), (j, 1, M))
SMOOTH = Integral(z ** (-2 * beta) * exp(-2 * z**-beta * t), (z, 0, M))
POWERS = Sum(j**-beta, (j, 1, M))
LINEAR = Sum(j, (j, 1, M))
N = Symbol("n", integer=True, nonnegative=True)
U, V, W = (Symbol(name, positive=True) for name in "uvw")
F = Function("f")
SIZE = Symbol("d", integer=True, positive=True)
A, B = MatrixSymbol("A", SIZE, SIZE), MatrixSymbol("B", SIZE, SIZE)


def lemma(before: Expr, after: Expr, rule: object) -> Derivation:
    return Derivation("lemma", "A lemma", (Step(before, after, rule, "as its rule says"),))  # type: ignore[arg-type]


FALLS = lemma(exp(-U), Integer(1), Monotone(U, -exp(-U)))
HALF = lemma(1 / (1 + t), Integer(1), Smaller())
RISES = lemma(exp(-Integer(1)), exp(-1 / (1 + W)), Rises(V, exp(-1 / V), Integer(1), W))
CLOSE = lemma(KERNEL, SMOOTH, SumToIntegral(z**2 * exp(-2 * z * t), z, z**-beta, Maximum(z), exp(-2) / t**2))
SHARE = T + T / (1 + t)
OF_ORDER = OrderBetween(lemma(SHARE, 2 * T, Smaller()), lemma(SHARE, T, Turned(lemma(T, SHARE, Smaller()))))

TRUE: dict[str, tuple[Expr, Expr, object]] = {
    "identity": (exp(log(a / b)) * rate, a * rate / b, Identity()),
    "reparametrised": ((1 - t / T) ** s * T**s, (T - t) ** s, Identity(((t, T * (1 - z)),))),
    "sum": (2 * Sum(j**-beta, (j, 1, M)) + Sum(j, (j, 1, M)), Sum(2 * j**-beta + j, (j, 1, M)), Termwise()),
    "integral": (DECAY, (1 - exp(-2 * lam * T)) / (2 * lam), Antiderivative(-exp(-2 * lam * t) / (2 * lam))),
    "integral to infinity": (
        Integral(t ** (s - 1) * exp(-t), (t, T, oo)),
        uppergamma(s, T),
        Antiderivative(-uppergamma(s, t)),
    ),
    "interchange": (
        Integral(KERNEL * a, (t, 0, T)),
        Sum(Integral(a * j ** (-2 * beta) * exp(-2 * j**-beta * t), (t, 0, T)), (j, 1, M)),
        Interchange(),
    ),
    "substitution": (
        Integral(exp(-2 * z**-beta * t), (z, 0, M)),
        Integral(exp(-2 * T * t) * T ** (-1 / beta - 1) / beta, (T, M**-beta, oo)),
        Substitution(z, T, T ** (-1 / beta)),
    ),
    "limit": (1 + 3 * t ** (1 / beta - 1) + t**5 * exp(-lam * t), 1 + 0 * t, Limit(t, oo)),
    "limit at zero": ((1 - exp(-2 * t)) / t, 2 + 0 * t, Limit(t, 0 * t)),
    "maximum": (t * exp(-2 * t), exp(-1) / 2, Maximum(t)),
    "monotone": (
        1 - exp(-2 * t) - 2 * t * exp(-2 * t),
        1 + 0 * t,
        Monotone(t, 4 * t * exp(-2 * t)),
    ),
    "comparison": (
        KERNEL,
        SMOOTH,
        SumToIntegral(z**2 * exp(-2 * z * t), z, tau**0 * z**-beta, Maximum(z), exp(-2) / t**2),
    ),
    "a bracket of sums": (a * (POWERS + LINEAR) + b, Sum(a * j**-beta + a * j, (j, 1, M)) + b, Termwise()),
    "two sums over one range": (POWERS + 3 * LINEAR, Sum(j**-beta + 3 * j, (j, 1, M)), Termwise()),
    "sums over two ranges": (POWERS - Sum(j, (j, 1, T)), -Sum(j, (j, 1, T)) + POWERS, Termwise()),
    "a sum under an integral": (
        a * Integral(Sum(j**-beta * t, (j, 1, M)), (t, 0, T)),
        Sum(a * Integral(j**-beta * t, (t, 0, T)), (j, 1, M)),
        Interchange(),
    ),
    "a singular end": (Integral(t ** (s - 1), (t, 0, T)), T**s / s, Antiderivative(t**s / s)),
    "an end at infinity": (
        Integral(exp(-lam * t), (t, T, oo)), exp(-lam * T) / lam, Antiderivative(-exp(-lam * t) / lam),
    ),
    "a power that vanishes at infinity": (
        Integral(t**-beta, (t, T, oo)), T ** (1 - beta) / (beta - 1), Antiderivative(-(t ** (1 - beta)) / (beta - 1)),
    ),
    "both ends": (Integral(t * exp(-t), (t, 1, 2)), 2 / exp(1) - 3 * exp(-2), Antiderivative(-(1 + t) * exp(-t))),
    "a rising substitution to infinity": (
        Integral(exp(-t), (t, 0, oo)), Integral(2 * z * exp(-(z**2)), (z, 0, oo)), Substitution(t, z, z**2),
    ),
    "a falling substitution from infinity": (
        Integral(exp(-t), (t, 1, oo)), Integral(exp(-1 / z) / z**2, (z, 0, 1)), Substitution(t, z, 1 / z),
    ),
    "a power that falls to 0 at infinity": (
        Integral(exp(-t), (t, 0, 1)),
        Integral((1 - 1 / beta) * z ** (1 / beta - 2) * exp(-(z ** (1 / beta - 1))), (z, 1, oo)),
        Substitution(t, z, z ** (1 / beta - 1)),
    ),
    "a falling substitution": (
        Integral(t**2, (t, 0, T)), Integral((T - z) ** 2, (z, 0, T)), Substitution(t, z, T - z),
    ),
    "a substitution mode by mode": (
        Sum(Integral(t**j, (t, 0, 2)), (j, 1, M)), Sum(Integral(2 * (2 * z) ** j, (z, 0, 1)), (j, 1, M)),
        Substitution(t, z, 2 * z),
    ),
    "a falling function": (exp(-t) + 1, Integer(2), Monotone(t, -exp(-t))),
    "a rising function": (1 - exp(-t), Integer(1), Monotone(t, exp(-t))),
    "terms that cancel": (log(a * t) - log(a), log(t), Identity()),
    "a sum and its integral from one earlier": (
        Sum(j**-beta, (j, 2, M)), Integral(z**-beta, (z, 1, M)), IntegralTest(),
    ),
    "an infinite sum and its integral": (
        Sum(j**-beta, (j, M + 1, oo)), Integral(z**-beta, (z, M, oo)), IntegralTest(),
    ),
    "an integral and the sum below it": (
        Integral(z**-beta, (z, 1, M + 1)), Sum(j**-beta, (j, 1, M)), IntegralTest(),
    ),
    "definitions put in": (a / b, T, Defined(((a, b * T),))),
    "a function that is given": (F(t) + t, 3 * t, Defined(((F(t), 2 * t),))),
    "a derivative taken": (Derivative(t**2 * F(t), t), 2 * t * F(t) + t**2 * Derivative(F(t), t), Evaluated()),
    "an integral differentiated by its end": (Derivative(Integral(F(U), (U, 0, t)), t), F(t), Evaluated()),
    "one derivative and one value": (Integral(U / (V + 2), (U, 1, V)), (V**2 - 1) / (2 * V + 4),
                                     SameDerivative(V, Integer(1))),
    "equals for equals": (LINEAR**2, (M * (M + 1) / 2) ** 2, Rewrite(lemma(LINEAR, M * (M + 1) / 2, Assumed(
        equals(LINEAR, M * (M + 1) / 2))))),
    "a lemma at a value": (exp(-lam * T), Integer(1), Instance(FALLS, ((U, lam * T),))),
    "a lemma on a part of the range": (T * exp(1 - t), T, Instance(FALLS, ((U, t - 1),), T, ((t, 1 + W),))),
    "a bound of each term": (Sum(exp(-j), (j, 1, M)), Sum(1, (j, 1, M)),
                             SumOfBounds(lemma(exp(-j), Integer(1), Instance(FALLS, ((U, j),))))),
    "the first term": (POWERS, 0 * t + 1, FirstTerm()),
    "all terms": (POWERS, Sum(j**-beta, (j, 1, oo)), MoreTerms()),
    "the zeta function": (Sum(3 * j**-beta, (j, 1, oo)), 3 * zeta(beta), ZetaSeries()),
    "the zeta function from M on": (Sum(j**-beta, (j, M + 1, oo)), zeta(beta, M + 1), ZetaSeries()),
    "terms counted": (Sum(s, (j, 3, M + 2)), M * s, Counted()),
    "odd numbers": (Sum(2 * j - 1, (j, 1, N)), N**2, Induction(N)),
    "the smaller of two bounds": (1 / (1 + t), Min(1, 1 / t), AtMostBoth(HALF, lemma(1 / (1 + t), 1 / t, Smaller()))),
    "the head of a sum": (Sum(exp(-(j**beta) / T), (j, 1, M)), exp(-1) * Min(M, T ** (1 / beta)) / 2,
                          HeadOfSum(RISES, V, exp(-1 / V), T, beta)),
    "an error added": (KERNEL, SMOOTH + exp(-2) / t**2, WithinError(CLOSE)),
    "a bound turned": (Integer(1), 1 / (1 + t), Turned(HALF)),
    "bounds added": (2 / (1 + t) + exp(-U), Integer(3), Linear(((Integer(2), HALF), (Integer(1), FALLS)))),
    "errors added": (-2 * KERNEL, -2 * SMOOTH, Linear(((-Integer(2), CLOSE),))),
    "larger": (T / (1 + T), Integer(1), Smaller()),
    "strictly larger on a range": (Integer(2), t, Smaller(True, ((t, 2 + W),))),
    "between two constants times an order": (SHARE, T, OF_ORDER),
    "an order in a sum": (s / SHARE**2 + M, s / T**2 + M, OrderIn((lemma(SHARE, T, OF_ORDER),))),
    "what is assumed": (log(T), log(M), Assumed(same_order(log(T), log(M)))),
    "matrices multiplied": ((A + B) * (A - B), A * A - A * B + B * A - B * B, MatrixIdentity()),
    "residues": (kernel_asymptotics().sum, kernel_asymptotics().expression, Residues(kernel_asymptotics())),
    "a rise": (exp(-Integer(1)), exp(-1 / (1 + W)), Rises(V, exp(-1 / V), Integer(1), W)),
}  # fmt: skip

STEPS = {name: Step(before, after, rule, "true") for name, (before, after, rule) in TRUE.items()}  # type: ignore[arg-type]
LEAST = optimal_allocation("constant", "data").derivations[-1]
STEPS["an optimum"] = LEAST[0]
RATE = Order(-s / (s + 1))
STEPS["near an optimum"] = near_optimal(LEAST, gamma, OrderRange(RATE, RATE), HARD)[0][0]
STEPS["an order that vanishes"] = vanishing(Order(0, -s), M, HARD)[0]
WHOLE = in_all_regimes(least_orders("data"), REGIMES, D ** -Min(s, s * beta / (1 + s * beta)))
STEPS["a least value in all regimes"] = WHOLE[0]
STEPS["a least value at a value"] = at_values(WHOLE, {s: 1 / beta}, D ** -Min(1 / beta, Rational(1, 2)))[0]


def test_every_rule_is_used() -> None:
    assert {type(step.rule) for step in STEPS.values()} == RULES


@pytest.mark.parametrize("name", STEPS)
def test_what_is_true_is_accepted_exactly(name: str) -> None:
    verdict = STEPS[name].verify()
    assert verdict.holds and verdict.method == "exact", verdict.detail


LARGER_IS_TRUE_TOO = {"larger", "strictly larger on a range", "between two constants times an order"}


@pytest.mark.parametrize("name", [name for name in STEPS if name not in LARGER_IS_TRUE_TOO])
def test_a_sign_a_factor_and_a_missing_term_are_refused(name: str) -> None:
    step = STEPS[name]
    if name == "matrices multiplied":
        wrong = [-step.after, 2 * step.after, step.after - A * B]
    else:
        fewer = Add(*step.after.args[1:]) if isinstance(step.after, Add) else step.after + Rational(1, 7)
        wrong = [-step.after, 2 * step.after, fewer]
    for after in set(wrong) - {step.after}:  # 0 has no sign
        assert not Step(step.before, after, step.rule, step.why).verify().holds, after


def test_what_is_told_is_a_hypothesis() -> None:
    told = {
        "definitions put in": {equals(a, b * T)},
        "a lemma on a part of the range": {less(Integer(1), t)},
        "equals for equals": {equals(LINEAR, M * (M + 1) / 2)},
        "the head of a sum": {at_least(T, 1), at_least(M, 1)},
        "what is assumed": {same_order(log(T), log(M))},
    }
    for name, expected in told.items():
        assert expected <= set(STEPS[name].verify().hypotheses), name
    hypotheses = STEPS["a lemma at a value"].verify().hypotheses
    assert set(map(str, hypotheses)) == {"0 < T", "0 < lambda"}  # u is gone: it got a value that is positive
    assert not Step(Integer(2), Integer(1), Assumed(at_most(Integer(1), Integer(2))), "another").verify().holds


def test_a_lemma_that_does_not_hold_is_no_lemma() -> None:
    wrong = lemma(Integer(2), Integer(1), Smaller())
    for rule in (Instance(wrong), Turned(wrong), Linear(((Integer(1), wrong),)), Rewrite(wrong)):
        verdict = Step(Integer(2), Integer(1), rule, "by a false lemma").verify()
        assert not verdict.holds and "lemma" in verdict.detail


def test_a_step_that_cannot_be_judged_is_refused_with_the_reason() -> None:
    for before, after, rule, reason in (
        (POWERS**2, POWERS, Termwise(), "does not enter linearly"),
        (Integral(exp(-t), (t, 0, T)), Integer(1), Limit(T, oo), ""),
        (Mul(POWERS, LINEAR), POWERS, Termwise(), "product of sums"),
    ):
        verdict = Step(before, after, rule, "not by this rule").verify()
        assert not verdict.holds and reason in verdict.detail
    with pytest.raises(ValueError, match="reason"):
        Step(a, a, Identity(), " ")
    with pytest.raises(TypeError, match="sympy expression"):
        Step(1, a, Identity(), "a number of Python")  # type: ignore[arg-type]
