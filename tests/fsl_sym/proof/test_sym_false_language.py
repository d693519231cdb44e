"""False statements by what a rule or a statement is made of: what changes while it is looked at, functions and letters
that are no numbers, two letters of one name, hypotheses said in other words; and by what is infinite or jumps."""

from __future__ import annotations

import pytest
from sympy import (
    Derivative,
    Expr,
    Function,
    I,
    Integer,
    Integral,
    Inverse,
    MatrixSymbol,
    Rational,
    Subs,
    Sum,
    Symbol,
    Trace,
    ZeroMatrix,
    cos,
    exp,
    log,
    oo,
    sin,
    sqrt,
)
from sympy.core.function import UndefinedFunction

from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.asymptotics.mellin_transform import Piece, pieces
from fsl_sym.domain import EASY
from fsl_sym.near_optimal import least_value
from fsl_sym.order import Order
from fsl_sym.proof import (
    Assumed,
    Counted,
    Defined,
    Derivation,
    FirstTerm,
    Identity,
    Instance,
    Limit,
    Linear,
    MatrixIdentity,
    Mean,
    ProofError,
    Rate,
    Residues,
    SameDerivative,
    Smaller,
    Step,
    equals,
    lemma,
)
from fsl_sym.symbols import M, N, T, beta, j, s, t, z


def same(side: Expr) -> Derivation:
    return lemma(side, side, Identity(), "same")


ZERO, ONE, TWO = Integer(0), Integer(1), Integer(2)
x, y, u = (Symbol(name, positive=True) for name in "xyu")
real, ANY = Symbol("r_", real=True), Symbol("q")
size = Symbol("n", integer=True, positive=True)
X, Y = MatrixSymbol("X", size, size), MatrixSymbol("Y", size, size)
f, g = Function("f", positive=True), Function("g")
WHOLE = Symbol("x", integer=True, positive=True)
SINGULAR = x * (x + x**2) ** (s - 3)
EXTENDED, INFINITE = Symbol("w", extended_positive=True), Function("h", extended_positive=True)
NOTHING = MatrixIdentity(relations=(((X, Y), ZeroMatrix(size, size)),))
CLOCK = Integral(f(z), (z, 0, T))
# of no number, and 1/(oo + 1) = 1/(oo + 2)
NOWHERE = equals(1 / (ANY + 1), 1 / (ANY + 2))
NEXT = Linear((((ANY + 1) * (ANY + 2), lemma(NOWHERE.left, NOWHERE.right, Assumed(NOWHERE), "assumed")),))
CLASH = Linear(((ONE, lemma(ANY + 2, ANY + 1, NEXT, "multiplied")), (-ONE, same(ANY + 1))))
BESIDE = lemma(1 + 1 / ANY, 1 / ANY, Linear(((ONE, lemma(ONE, ZERO, CLASH, "1 = 0")), (ONE, same(1 / ANY)))), "added")
HARMONIC = Sum(1 / j, (j, 1, oo))


class Changing(tuple):  # type: ignore[type-arg]
    """A definition that is gone when it is asked for what was assumed."""

    asked = 0

    def __iter__(self):  # type: ignore[no-untyped-def]
        Changing.asked += 1
        return iter(()) if Changing.asked == 3 else super().__iter__()


def with_methods() -> type:
    function = Function("h")
    function.is_positive = True
    return function


def residues(parts: Expr | tuple[Piece, ...], w: Expr, size_of: Expr = beta) -> tuple[Expr, Expr, Residues]:
    taken = parts if isinstance(parts, tuple) else pieces(parts, u)  # as harmonic_sum_asymptotics would not
    expansion = Expansion(taken, w, size_of, T, ONE, (), (), (), "").at({})
    return expansion.sum, expansion.expression, Residues(expansion)


FALSE: dict[str, tuple[Expr, Expr, object]] = {
    # what a rule holds cannot change between one look and the next
    "a definition that is gone when hypotheses are made": (x, y, Defined(Changing(((x, y),)))),
    "a list": (x, y, Defined([(x, y)])),  # type: ignore[arg-type]
    # the hypotheses of matrices are those that were used
    "divided by a matrix that may be singular": (
        Y, ZeroMatrix(size, size),
        Linear(((Inverse(X), lemma(X * Y, ZeroMatrix(size, size), NOTHING, "nothing")),)),
    ),
    "a relation printed as another": (
        X * Y, ZeroMatrix(size, size),
        MatrixIdentity(relations=(((X, Y), ZeroMatrix(size, size)), ((X * Y,), X * Y))),
    ),
    "a transpose that is symmetric": (Trace(X.T * Y), Trace(X.T * Y.T), MatrixIdentity(symmetric=(X.T,))),
    "the derivative of a transpose": (Rate(X.T), Y, MatrixIdentity(derivatives=((X.T, Y),))),
    "a transpose that is random": (Mean(X.T), Y, MatrixIdentity(random=(X.T,), moments=(((X.T,), Y),))),
    "the mean of a product of letters": (
        Mean(x * X), x * Y,
        MatrixIdentity(random=(X,), moments=(((X,), Y),), scalar_moments=((x * y, Integer(5)),)),
    ),
    # letters and functions are numbers
    "a letter that is infinite": (1 / Symbol("w", infinite=True), ZERO, Smaller()),
    "a letter that may be infinite": (EXTENDED, EXTENDED, Identity()),
    "a letter with many logarithms": (log(Symbol("w", polar=True) ** 2), 2 * log(Symbol("w", polar=True)), Identity()),
    "letters that do not commute": (Symbol("w", commutative=False) * x, x * Symbol("w", commutative=False), Identity()),
    "a function with a method": (ZERO, UndefinedFunction("h", __dict__={"is_positive": True})(x), Smaller()),
    "a function that was changed": (ZERO, with_methods()(x), Smaller()),
    "a function that may be infinite": (INFINITE(x), INFINITE(x), Identity()),
    "a real letter that is I": (real**2, -ONE, Defined(((real, I),))),
    "a letter at infinity": (ONE, ZERO, Instance(BESIDE, ((ANY, oo),))),
    # names
    "three letters of one name": (
        Symbol("x", real=True), x + Symbol("x", real=True) + Sum(WHOLE, (WHOLE, 1, 3)), Smaller(),
    ),
    "two matrices of one name": (
        Trace(X) * Trace(MatrixSymbol("X", 3, 3)), Trace(MatrixSymbol("X", 3, 3)) * Trace(X), MatrixIdentity()),
    "a letter that is caught": (
        Integral(Subs(Derivative(g(ANY, t), ANY), ANY, TWO), (t, 0, 1)),
        Integral(Subs(Derivative(g(ANY, t), ANY), ANY, TWO), (t, 0, 1)), Identity(),
    ),
    # ranges
    "the capacity exponent from 0": (
        Integral(f(beta) * (beta - 1), (beta, 0, 2)), Integral(f(beta) * (beta - 1), (beta, 0, 2)), Identity()),
    "a positive letter below 0": (
        Integral(f(t) * log(t**2), (t, 0, real)), Integral(2 * f(t) * log(t), (t, 0, real)), Identity()),
    # derivatives and limits of what is infinite or jumps
    "the derivative of an integral that is infinite": (
        Derivative(Integral(SINGULAR, (x, 0, T)), T), SINGULAR.subs(x, T), Identity()),
    "the derivative of an endless sum": (
        Derivative(Sum(f(j) * sin(j * z) / j, (j, 1, oo)), z), Sum(f(j) * cos(j * z), (j, 1, oo)), Identity()),
    "the derivative of an endless integral": (
        Derivative(Integral(f(t) * sin(t * z) / t, (t, 0, oo)), z), Integral(f(t) * cos(t * z), (t, 0, oo)), Identity(),
    ),
    "the limit of what is infinite": (exp(-x) * HARMONIC, ZERO, Limit(x, oo)),
    "the limit of an endless integral": (Integral(1 / z, (z, 1, oo)) / x, ZERO, Limit(x, oo)),
}  # fmt: skip

FALSE_EXPANSIONS: dict[str, tuple[Expr | tuple[Piece, ...], Expr]] = {  # expanded where they are tested
    "a weight that grows with what is expanded": (exp(-2 * u), 1 + T),
    "a rate that grows with what is expanded": (exp(-T * u), 2 * beta),
    "a power that grows with what is expanded": (u**T * exp(-2 * u), 2 * beta),
    "a rate of which no sign is known": ((Piece(ONE, ZERO, ANY),), 2 * beta),
}


@pytest.mark.parametrize("name", [*FALSE, *FALSE_EXPANSIONS])
def test_what_is_no_statement_or_no_rule_is_refused(name: str) -> None:
    before, after, rule = FALSE[name] if name in FALSE else residues(*FALSE_EXPANSIONS[name])
    assert Step(before, after, rule, "a false statement").verify().holds is False  # type: ignore[arg-type]


def test_an_integral_that_jumps_is_not_shown_to_be_continuous() -> None:
    # pi/2 above T = 1 and -pi/2 below: near 0 its integrand piles up as T passes 1
    jumping = Integral(f(1) * (T - 1) / ((T - 1) ** 2 + x**2), (x, 0, oo))
    verdict = Step(jumping, jumping.subs(T, 2), SameDerivative(T, TWO), "a jump").verify()
    assert not verdict.holds and "not shown to be continuous" in verdict.detail


def test_a_conclusion_is_that_of_the_steps_that_were_checked() -> None:
    terms = [(ONE, lemma(x, x + 1, Assumed(equals(x, x + 1)), "assumed"))]
    changing = lemma(x, x + 1, Linear(terms), "changed")  # type: ignore[arg-type]
    assert changing.conclusion.relation == "="
    terms[0] = (ONE, lemma(x, x + 1, Smaller(), "above"))
    with pytest.raises(ProofError):
        changing.prove()
    step = Step(ONE, TWO, Identity(), "false")
    derivation = Derivation("later", "Changed later", (step,))
    assert derivation.conclusion.right == 2
    step.__setstate__([ONE, ONE, Identity(), "true"])  # type: ignore[attr-defined]
    assert str(derivation.prove()) == "1 = 1"
    step.__setstate__([ONE, TWO, Identity(), "false"])  # type: ignore[attr-defined]
    assert str(derivation.prove()) == "1 = 1"


def test_letters_of_one_name_do_not_take_each_others_hypotheses() -> None:
    ends, whole = Symbol("w", positive=True), Symbol("w", integer=True)
    count = lemma(Sum(ONE, (j, 1, ends)), ends, Counted(), "counted")
    first = Step(Sum(ONE, (j, 1, ends)), ONE, FirstTerm(), "the first")
    at_least_one = Derivation("y", "At least 1", (
        Step(y, ends, Assumed(equals(y, ends)), "y"), Step(ends, first.before, Instance(count), "counted"), first,
    ))  # fmt: skip
    assert "w is a whole number" in map(str, at_least_one.prove().hypotheses)
    with pytest.raises(ProofError, match="two letters are named w"):
        lemma(y + whole, 1 + whole, Linear(((ONE, at_least_one), (ONE, same(whole)))), "added").prove()


def test_a_law_of_whole_variables_has_no_least_order() -> None:
    whole = Symbol("m", integer=True, positive=True)
    assert least_value(x + 1 / N, ((x,), N, ()), EASY, Order(-ONE)).prove()
    with pytest.raises(ProofError, match="m is a whole number"):
        least_value(whole + 1 / N, ((whole,), N, ()), EASY, Order(-ONE)).prove()


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        (Integral(t, (t, 0, CLOCK)) / 2, Integral(t / 2, (t, 0, CLOCK)), Identity()),
        (Integral(x**2 / (T + 2), (x, 1, T)), (T**3 - 1) / (3 * T + 6), SameDerivative(T, ONE)),
        (Derivative(Sum(x**j, (j, 1, M)), x), Sum(j * x ** (j - 1), (j, 1, M)), Identity()),
        (exp(-x) * Sum(1 / j, (j, 1, M)), ZERO, Limit(x, oo)),
        (ZERO, Function("h", positive=True, nargs=1)(x), Smaller()),
        (sqrt(Symbol("m", even=True) ** 2) / 2, sqrt(Symbol("m", even=True) ** 2) * Rational(1, 2), Identity()),
        (Trace(X.T * X), Trace(Y), MatrixIdentity(relations=(((X.T, X), Y),))),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_true_is_not_hindered(before: Expr, after: Expr, rule: object) -> None:
    verdict = Step(before, after, rule, "a true statement").verify()  # type: ignore[arg-type]
    assert verdict.holds, verdict.detail


def test_a_true_expansion_is_not_hindered() -> None:
    assert Step(*residues(exp(-2 * u), 2 * beta), "a true expansion").verify().holds
