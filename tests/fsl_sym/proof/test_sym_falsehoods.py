"""Attempts to make a theorem of what is false: refused, or the theorem prints a hypothesis that makes it true.

Each entry is (before, after, rule) and what is expected: None for a refusal, else a hypothesis as it is printed.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import (
    Derivative,
    Expr,
    Float,
    Function,
    I,
    Integer,
    Integral,
    MatrixSymbol,
    Min,
    Mul,
    Piecewise,
    Pow,
    Product,
    Rational,
    Sum,
    Symbol,
    Trace,
    ZeroMatrix,
    cos,
    exp,
    floor,
    log,
    nan,
    oo,
    sin,
    sqrt,
    uppergamma,
    zeta,
)
from sympy import (
    Identity as Unit,
)

from fsl_sym.allocation import optimal_allocation
from fsl_sym.asymptotics.mellin import harmonic_sum_asymptotics
from fsl_sym.integrals import I2
from fsl_sym.proof import (
    Antiderivative,
    Assumed,
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
    Mean,
    Monotone,
    Optimal,
    OrderBetween,
    OrderIn,
    ProofError,
    Rate,
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
    ZetaSeries,
    at_least,
    at_most,
    equals,
    order_at_most,
)
from fsl_sym.proof.language import foreign
from fsl_sym.symbols import M, T, a, b, beta, j, s, sigma, t, tau, z

ZERO, ONE, TWO, HALF = Integer(0), Integer(1), Integer(2), Rational(1, 2)
q, u, v, w, y, w1, w2 = (Symbol(name, positive=True) for name in ("q", "u", "v", "w", "y", "w_1", "w_2"))
k = Symbol("k", integer=True)
n = Symbol("n", integer=True, nonnegative=True)
real = Symbol("r_", real=True)
f = Function("f")
size = Symbol("d", integer=True, positive=True)
X, Y, H = (MatrixSymbol(name, size, size) for name in "XYH")
phi = MatrixSymbol("phi", size, 1)


def lemma(before: Expr, after: Expr, rule: object) -> Derivation:
    return Derivation("lemma", "A lemma", (Step(before, after, rule, "as its rule says"),))  # type: ignore[arg-type]


def letter(**assumptions: bool) -> Symbol:
    return Symbol("m", **assumptions)


OPTIMUM = optimal_allocation("constant", "data").derivations[-1][0]
RULE = OPTIMUM.rule
assert isinstance(RULE, Optimal)
SUM = I2().exact


class Shape:
    """What only looks like the proof of a supremum."""

    variable = v

    def check(self, before: Expr, after: Expr) -> object:
        return Step(a, a, Identity(), "the same").verify()


class Known(Function):  # type: ignore[misc]
    """A function that says of itself that it is positive."""

    is_positive = True


class Liar(Symbol):  # type: ignore[misc]
    """A letter that says of itself that it is positive."""

    is_positive = True


def index(name: str = "j_1") -> Symbol:
    return Symbol(name, integer=True, positive=True)


KINDS: dict[str, tuple[Expr, Expr, object, str | None]] = {
    # A. rules must read both sides of what they state
    "A: M^17 has the optimum of a law": (M**17, OPTIMUM.after, RULE, None),
    "A: the law has another optimum": (OPTIMUM.before, OPTIMUM.after**100, RULE, None),
    "A: a letter of the law is called a constant": (1 / M + 1 / q, 1 / RULE.budget, RULE, None),
    "A: I2 is of the order T^5": (SUM, T**5, OrderBetween(lemma(SUM, SUM, Identity())), None),
    "A: an upper bound used as a lower one": (
        1 / (1 + t), ONE, OrderBetween(*(lemma(1 / (1 + t), ONE, Smaller()),) * 2), None),
    # B. matrices
    "B: the inverse is the unit matrix": (X**-1, Unit(size), MatrixIdentity(), None),
    "B: X^(5/2) is X^2": (X ** Rational(5, 2), X**2, MatrixIdentity(), None),
    "B: a trace of random letters leaves the mean": (
        Mean(Trace(phi * phi.T) * phi * phi.T), Trace(phi * phi.T) * H,
        MatrixIdentity(random=(phi,), moments=(((phi, phi.T), H),)), None),
    "B: exp(t) X does not move": (Rate(exp(t) * X), ZeroMatrix(size, size), MatrixIdentity(), "t is constant in time"),
    "B: tr(X) X moves by its second factor": (
        Rate(Trace(X) * X), Trace(X) * Y, MatrixIdentity(derivatives=((X, Y),)), None),
    "B: matrices of two sizes and one name": (Trace(X), Trace(MatrixSymbol("X", 2, 2)), MatrixIdentity(), None),
    "B: a letter named like a trace": (Symbol("Trace(X)"), Trace(X), MatrixIdentity(), None),
    "B: a matrix named like a product": (Trace(MatrixSymbol("X*Y", size, size)), Trace(X * Y), MatrixIdentity(), None),
    # C. the declared sign of a bound letter against its range
    "C: the integral of a positive letter over (-1, 1)": (
        Integral(sqrt(t**2), (t, -1, 1)), ZERO, Antiderivative(t**2 / 2), None),
    "C: a positive old letter over (-1, 0)": (
        Integral(t * exp(-(t**2)), (t, -1, 0)), Integral(exp(-z) / 2, (z, 0, 1)), Substitution(t, z, sqrt(z)), None),
    "C: a negative letter": (
        Integral(letter(negative=True), (letter(negative=True), 0, 1)), HALF,
        Antiderivative(letter(negative=True) ** 2 / 2), None),
    "C: a whole letter of an integral": (
        Integral(cos(2 * t * letter(integer=True)), (letter(integer=True), 0, 1)), ONE,
        Antiderivative(letter(integer=True)), None),
    "C: a positive index from -3": (Sum(sqrt(j**2), (j, -3, 3)), Sum(j, (j, -3, 3)), Termwise(), None),
    "C: an index from 1/2": (Sum(j, (j, HALF, Rational(5, 2))), Sum(j, (j, HALF, Rational(5, 2))), Termwise(), None),
    "C: an index to 1/2": (Sum(1, (j, 1, HALF)), ONE, FirstTerm(), None),
    "C: an index that need not be whole": (Sum(q, (q, 1, 2)), Sum(q, (q, 1, 2)), Termwise(), None),
    "C: a nonzero index through 0": (
        Sum(k, (letter(integer=True, nonzero=True), -1, 1)), 2 * k, Counted(), None),
    "C: terms called nonnegative by a false declaration": (
        Integral(Sum(t * j, (j, -2, oo)), (t, -oo, oo)), Sum(Integral(t * j, (t, -oo, oo)), (j, -2, oo)),
        Interchange((t, j)), None),
    "C: monotone in a real letter": (exp(-real), ONE, Monotone(real, -exp(-real)), None),
    "C: a maximum over a real letter": (real**2 * exp(-real), 4 * exp(-TWO), Maximum(real), None),
    "C: an induction over what is not whole": (Sum(0 * j, (j, 1, q)), ZERO + 0 * q, Induction(q), None),
    # D. anchors at a pole
    "D: log v is log 2 v at 0": (log(v), log(2 * v), SameDerivative(v, ZERO), None),
    "D: 1/v + 1 is 1/v + 2 at infinity": (v + 5, v + 7, SameDerivative(v, oo), None),
    "D: agreement at nan": (1 / v + 1, 1 / v + 2, SameDerivative(v, nan), None),
    "D: an induction from a pole": (1 / n + 7, 1 / n, Induction(n), None),
    # E. what letters are replaced by
    "E: sin^2 + cos^2 for t": (t, ONE, Identity(((t, sin(q) ** 2 + cos(q) ** 2),)), None),
    "E: one letter for two": (t, z, Identity(((t, q + w), (z, q + w))), None),
    "E: exp(u) exp(-u) for t": (t, ONE, Identity(((t, Mul(exp(u), exp(-u), evaluate=False)),)), None),
    "E: 1^q for t": (t, ONE, Identity(((t, Pow(ONE, q, evaluate=False)),)), None),
    "E: |x| is x": (sqrt(real**2), real, Identity(((real, 0 * t + q),)), "0 < r_"),
    "E: a pole hidden by a cut range": (
        Integral((u - 2) ** -2, (u, 1, 3)), -TWO, Antiderivative(-1 / (u - 2), ((T, 2 - 1 / (1 + q)),)), None),
    "E: the letter of one range in another": (t - 1, z, Smaller(ranges=((t, 1 + w1), (z, w1 + w2))), None),
    "E: a bound letter in a range": (
        Integral(exp(z) * t, (z, 0, 1)), Integral(exp(z) * (z + 1), (z, 0, 1)), Identity(((t, z + w),)), None),
    # F. definitions
    "F: 2 is defined as 3": (2 * t, 3 * t, Defined(((TWO, Integer(3)),)), None),
    "F: x + 1 is defined as x": (t + 1, t, Defined(((t + 1, t),)), None),
    "F: 1 is known to be 2": (t + 1, t + 2, Rewrite(lemma(ONE, TWO, Assumed(equals(ONE, TWO)))), "1 = 2"),
    "F: 2 is given as 1": (v + 2, v + 1, SameDerivative(v, ONE, ((TWO, ONE),)), None),
    "F: a definition with a bound letter": (
        Integral(T * t, (t, 0, 1)), Integral(t**2, (t, 0, 1)), Defined(((T, t),)), None),
    "F: a true definition": (2 * T, 6 * t, Defined(((T, 3 * t),)), "T = 3*t"),
    # G. names
    "G: a prime": (beta, 1 + Symbol("beta'", positive=True), Smaller(), None),
    "G: a sum is not its name": (
        q + Sum(j, (j, 1, M)), 2 * Sum(j, (j, 1, M)), Rewrite(lemma(Symbol("_sum0"), q, Assumed(
            equals(Symbol("_sum0"), q)))), None),
    "G: a constant is not its name": (Symbol("_c0") + exp(-t), 1 / (1 + beta), Limit(t, oo), None),
    "G: a free letter named like a bound one": (
        Integral(Symbol("x_0") * t, (t, 0, 1)), Rational(1, 3), Antiderivative(Symbol("x_0") * t**2 / 2), None),
    "G: an index named like a bound one": (
        Sum(Sum(j * index(), (index(), 1, 3)), (j, 1, M)), Sum(14, (j, 1, M)), Termwise(), None),
    "G: two letters of one name": (Symbol("t", negative=True), t, Smaller(), None),
    # H. names carry no ranges
    "H: a negative beta": (ZERO, Symbol("beta", negative=True), Smaller(), None),
    "H: a beta of one's own": (ONE, Symbol("beta"), Smaller(), None),
    "H: b < a": (b, a, Smaller(), "b < a"),
    "H: b < a for letters of one's own": (Symbol("b", real=True), Symbol("a", real=True), Smaller(), None),
    # I. resonances
    "I: a power integrated through its resonance": (
        Integral(y ** (-beta / 2), (y, 1, M)), (M ** (1 - beta / 2) - 1) / (1 - beta / 2),
        Antiderivative(y ** (1 - beta / 2) / (1 - beta / 2)), "1 - beta/2 != 0"),
    "I: a factor cancelled": ((beta**2 - 4) / (beta - 2), beta + 2, Identity(), "beta - 2 != 0"),
    "I: a logarithm at 0": (Integral(1 / y, (y, tau, 1)), -log(tau), Antiderivative(log(y)), "tau != 0"),
    "I: a zeta function at 1": (zeta(s) / 2 + zeta(s) / 2, zeta(s), Identity(), "s != 1"),
    "I: a zeta function at its other poles": (
        zeta(beta, s - 1) * 2 / 2, zeta(beta, s - 1), Identity(), "s - 1 is none of 0, -1, -2, ..."),
    # J. finite sums of what diverges
    "J: incomplete gamma functions at 0": (
        Integral(Sum((-1) ** j * uppergamma(-s, t), (j, 1, 2)), (t, 0, 1)),
        Sum(Integral((-1) ** j * uppergamma(-s, t), (t, 0, 1)), (j, 1, 2)), Interchange(), None),
    "J: a function without a definition": (
        Integral(Sum(j * f(t), (j, 1, 2)), (t, 0, 1)), Sum(Integral(j * f(t), (t, 0, 1)), (j, 1, 2)), Interchange(),
        "f is a continuous function"),
    # L. incomplete gamma functions of what is not real
    "L: of a complex order": (ZERO, uppergamma(Symbol("k"), t), Smaller(), None),
    "L: of an imaginary order": (ZERO, uppergamma(letter(imaginary=True), t), Smaller(), None),
}  # fmt: skip

OWN: dict[str, tuple[Expr, Expr, object, str | None]] = {
    # what letters are declared to be is printed, all of it
    "a letter that is 0": (1 + letter(zero=True), ONE, Smaller(), "m is zero"),
    "a letter that is not positive": (letter(nonpositive=True), ONE, Smaller(), "m is nonpositive"),
    "a letter that is not 0": (ZERO, letter(nonzero=True) ** 2, Smaller(strict=True), "m is nonzero"),
    "an imaginary letter": (letter(imaginary=True) ** 2, ZERO, Smaller(), "m is imaginary"),
    "a positive function": (ZERO, Function("g", positive=True)(t), Smaller(), "g is a positive function"),
    # the language of statements
    "a rounded number": (Float("1.0") * t, t, Identity(), None),
    "a case distinction": (Piecewise((0, t < 1), (1, True)), ONE, Smaller(), None),
    "an integer part": (floor(t), t, Smaller(), None),
    "a product over an index": (Product(j, (j, 1, M)), Product(j, (j, 1, M)), Identity(), None),
    "the imaginary unit": (I * t, I * t, Identity(), None),
    "a function of one's own": (ZERO, Known(t), Smaller(), None),
    "a letter of one's own": (ZERO, Liar("m"), Smaller(), None),
    "a shape of one's own": (
        Sum(10 * T * j**-2, (j, 1, M)), Integral(10 * T * y**-2, (y, 0, M)),
        SumToIntegral(10 * T * v, v, y**-2, Shape(), Rational(1, 1000)), None),  # type: ignore[arg-type]
    # lemmas hold where their hypotheses do
    "a lemma for beta > 1 at 1/2": (ZERO, -ONE, Instance(lemma(ZERO, 1 - 1 / beta, Smaller()), ((beta, HALF),)), None),
    "a lemma for b < a at b > a": (TWO, ONE, Instance(lemma(b, a, Smaller()), ((a, ONE), (b, TWO))), None),
    "a lemma for t > 5 at 1": (
        Integer(5), ONE, Instance(lemma(Integer(5), t, Smaller(ranges=((t, 5 + w),))), ((t, ONE),)), None),
    "a lemma for t > 5 at a letter": (
        Integer(5), z, Instance(lemma(Integer(5), t, Smaller(ranges=((t, 5 + w),))), ((t, z),)), "5 < z"),
    "a lemma with a definition of its letter": (
        ONE, TWO, Instance(lemma(t, TWO, Defined(((t, TWO),))), ((t, ONE),)), None),
    "a lemma for even numbers": (
        exp(k), ONE, Instance(lemma(exp(letter(even=True)), ONE, Assumed(equals(exp(letter(even=True)), ONE))),
                              ((letter(even=True), k),)), None),
    "a bound of late terms for all": (
        Sum(3, (j, 1, M)), Sum(j, (j, 1, M)), SumOfBounds(lemma(Integer(3), j, Smaller(ranges=((j, 3 + w),)))), None),
    "an assumed bound of a term for all": (
        Sum(3, (j, 1, M)), Sum(j, (j, 1, M)), SumOfBounds(lemma(Integer(3), j, Assumed(at_most(Integer(3), j)))), None),
    "a rise at whole numbers alone": (
        Sum(exp(cos(2 * T / j)), (j, 1, M)), exp(ONE) * Min(M, T) / 2,
        HeadOfSum(lemma(exp(ONE), exp(ONE) + index("i"), Smaller()), v, exp(cos(2 * v)), T, ONE), None),
    "a rise that is assumed": (
        Sum(exp(-T * j**-2), (j, 1, M)), exp(-ONE) * Min(M, sqrt(T)) / 2,
        HeadOfSum(lemma(exp(-ONE), exp(-1 - w), Assumed(at_most(exp(-ONE), exp(-1 - w)))), v, exp(-v), T, TWO), None),
    "an approximation of what is infinite": (
        Sum(1 - exp(-T / sqrt(j)), (j, 1, oo)), Integral(1 - exp(-T / sqrt(y)), (y, 0, oo)),
        SumToIntegral(1 - exp(-T * v), v, 1 / sqrt(y), Monotone(v, T * exp(-T * v)), ONE), None),
    "a time that moves with the index": (
        Sum(exp(-j / t), (j, 1, M)), exp(-ONE) * Min(M, sqrt(j * t)) / 2,
        HeadOfSum(lemma(exp(-ONE), exp(-1 / (1 + w)), Rises(v, exp(-1 / v), ONE, w)), v, exp(-1 / v), t * j, TWO),
        None),
    # sums
    "a sum over a pole": (Sum((j**2 - 4) / (j - 2), (j, 1, M)), Sum(j + 2, (j, 1, M)), Termwise(), None),
    "a sum that runs downwards": (Sum(j, (j, 5, 2)), -Integer(7), Counted(), None),
    "a sum that may run downwards": (Sum(j**-beta, (j, 5, M)), Integral(y**-beta, (y, 4, M)), IntegralTest(), "4 <= M"),
    "an induction below the first term": (Sum(k, (k, 5, n)), n * (n + 1) / 2 - 10, Induction(n), "4 <= n"),
    "a count that may be negative": (Sum(1, (j, 1, M - 5)), M - 5, Counted(), None),
    "a zeta function where its series diverges": (Sum(j**-s, (j, 1, oo)), zeta(s), ZetaSeries(), None),
    # logarithms, derivatives
    "a logarithm of what may be negative": (log(1 - t), ZERO, Smaller(), None),
    "a logarithm of what is negative": (log(-1 - t), ZERO, Smaller(), None),
    "a derivative under an endless integral": (
        Derivative(Integral(sin(t * u) / u, (u, 0, oo)), t), Integral(cos(t * u), (u, 0, oo)), Evaluated(), None),
    "a derivative of an endless sum": (
        Derivative(Sum(sin(j * t) / j, (j, 1, oo)), t), Sum(cos(j * t), (j, 1, oo)), Evaluated(), None),
    "monotone across a pole": (-1 / (v - 2), ZERO, Monotone(v, (v - 2) ** -2), None),
    "a rise across a pole": (ONE, -1 / (w - 1), Rises(v, -1 / (v - 2), ONE, w), None),
    "a derivative on beta > 1 alone": (Min(beta, 1), ONE, SameDerivative(beta, TWO), None),
    # orders
    "an upper bound twice in a product": (
        real * (1 + real), z * (1 + z), OrderIn((lemma(real, z, Assumed(order_at_most(real, z))),)), None),
    "an upper bound that is negative": (
        t + real, t - 1, OrderIn((lemma(real, -ONE, Assumed(order_at_most(real, -ONE))),)), None),
    "an upper bound under a power": (
        1 / t, 1 / z, OrderIn((lemma(t, z, Assumed(order_at_most(t, z))),)), None),
    "orders that cancel": (
        2 * T / (1 + t) - T / (1 + t), ZERO, OrderIn((lemma(T / (1 + t), T, Assumed(order_at_most(T / (1 + t), T))),)),
        None),
    "a constant that grows": (M * T, T, OrderBetween(*(lemma(M * T, M * T, Identity()),) * 2), None),
    "a negative multiple of a bound": (
        -1 / (1 + t), -ONE, Linear(((-ONE, lemma(1 / (1 + t), ONE, Smaller())),)), None),
    "a bound as an equality": (ONE, 1 / (1 + t), Instance(lemma(1 / (1 + t), ONE, Smaller())), None),
}  # fmt: skip

FALSE = {**KINDS, **OWN}


@pytest.mark.parametrize("name", FALSE)
def test_a_falsehood_is_refused_or_made_true_by_a_hypothesis(name: str) -> None:
    before, after, rule, hypothesis = FALSE[name]
    verdict = Step(before, after, rule, "a false statement").verify()  # type: ignore[arg-type]
    if hypothesis is None:
        assert verdict.holds is False
    else:
        assert verdict.holds, verdict.detail
        assert hypothesis in map(str, Derivation("x", "X", (Step(before, after, rule, "so"),)).prove().hypotheses)  # type: ignore[arg-type]


def test_the_language_says_what_it_lacks() -> None:
    assert foreign(t + exp(-s)) == ""
    assert "Piecewise is no part" in foreign(FALSE["a case distinction"][0])
    assert "a letter of a class of its own" in foreign(t + Liar("m"))


def test_a_tampered_optimum_proves_nothing() -> None:
    (certificate, *_) = RULE.certificates
    lower = (certificate.value[0], certificate.value[1] - 100, certificate.value[2])
    for wrong in (replace(certificate, value=lower), replace(certificate, value=lower, point=(lower,) * 3)):
        rule = replace(RULE, certificates=(wrong,), order=RULE.order * RULE.order**100)
        assert Step(OPTIMUM.before, rule.order.as_expr(rule.budget), rule, "so").verify().holds is False
    nowhere = replace(RULE, regime=replace(RULE.regime, condition=s < 0))
    assert Step(OPTIMUM.before, OPTIMUM.after, nowhere, "another regime").verify().holds is False


def test_k_an_expansion_needs_its_exponent() -> None:
    """K: sum_j exp(-j T) is not of the order -1/T: for beta = -1 nothing is expanded."""
    with pytest.raises(ValueError, match="must be shown to fall"):
        harmonic_sum_asymptotics(exp(-u), u, ZERO, -ONE, T)


def test_m_relations_that_say_nothing_together_are_no_chain() -> None:
    """M: exp(-t) <= 1 and a limit of something; and what is at most, turned round."""
    bound, end = Step(exp(-t), ONE, Monotone(t, -exp(-t)), "falls"), Step(ONE + 0 * t, ONE, Limit(t, oo), "limit")
    up = Step(t, t + 1, Smaller(), "larger")
    down = Step(t + 1, t, Turned(lemma(t, t + 1, Smaller())), "smaller")
    for steps in ((bound, end), (up, down)):
        with pytest.raises(ProofError, match="does not continue"):
            Derivation("x", "X", steps).prove()
    assert at_least(a, b) != at_most(a, b) and sigma.is_nonnegative
