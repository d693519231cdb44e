"""The false statements that come closest to what each rule accepts, and are refused."""

from __future__ import annotations

import pytest
from sympy import Expr, Integer, Integral, Rational, Sum, exp, gamma, oo, uppergamma, zeta

from fsl_sym.proof import (
    Antiderivative,
    Identity,
    IntegralTest,
    Interchange,
    Limit,
    Maximum,
    Monotone,
    Step,
    Substitution,
    SumToIntegral,
    Termwise,
)
from fsl_sym.proof.rules.base import Rule
from fsl_sym.symbols import M, T, a, b, beta, j, lam, s, t, z

POWERS = Sum(j**-beta, (j, 1, M))
LINEAR = Sum(j, (j, 1, M))


def held(before: Expr, after: Expr, rule: Rule) -> bool:
    return Step(before, after, rule, "for all that is known").verify().holds


WRONG: dict[str, tuple[Expr, Expr, Rule]] = {
    "one symbol after the other": (a - b, Integer(0), Identity(((a, b), (b, a)))),
    "a summand of another range": (POWERS, Sum(j**-beta, (j, 1, T)), Termwise()),
    "a term beside the sum": (POWERS + a, POWERS + b, Termwise()),
    "a range on one side only": (POWERS + Sum(j, (j, 1, T)), POWERS, Termwise()),
    "a sum of 1 on the left alone": (POWERS + Sum(1, (j, 1, T)), POWERS, Termwise()),
    "a sum of -1 on the left alone": (POWERS + Sum(-1, (j, 1, T)), POWERS, Termwise()),
    "a sum of 1 on the right alone": (POWERS, POWERS + Sum(1, (j, 1, T)), Termwise()),
    "a sum of -1 on the right alone": (POWERS, POWERS + Sum(-1, (j, 1, T)), Termwise()),
    "another range of the integral": (
        Integral(Sum(j * t, (j, 1, M)), (t, 0, T)), Sum(Integral(j * t, (t, 0, 1)), (j, 1, M)), Interchange(),
    ),
    "another range of the sum": (
        Integral(Sum(j * t, (j, 1, M)), (t, 0, T)), Sum(Integral(j * t, (t, 0, T)), (j, 1, T)), Interchange(),
    ),
    "another integrand": (
        Integral(Sum(j * t, (j, 1, M)), (t, 0, T)), Sum(Integral(j * t**2, (t, 0, T)), (j, 1, M)), Interchange(),
    ),
    "a constant beside the sum of integrals": (
        Integral(Sum(j * t, (j, 1, M)), (t, 0, T)), 1 + Sum(Integral(j * t, (t, 0, T)), (j, 1, M)), Interchange(),
    ),
    "no integral in a term": (
        Integral(Sum(j * t, (j, 1, M)), (t, 0, T)), Sum(j * T**2 / 2, (j, 1, M)), Interchange(),
    ),
    "two integrals": (
        Integral(POWERS, (t, 0, 1)) + Integral(LINEAR, (t, 0, 2)), Integral(POWERS, (t, 0, 1)), Interchange(),
    ),
    "a constant under the integral": (
        Integral(1 + POWERS, (t, 0, T)), Sum(Integral(j**-beta, (t, 0, T)), (j, 1, M)), Interchange(),
    ),
    "an integral without a sum": (Integral(t, (t, 0, T)), Integral(t, (t, 0, T)), Interchange()),
    "signs that alternate": (
        Integral(Sum((-1) ** j * t, (j, 1, oo)), (t, 0, T)), Sum(Integral((-1) ** j * t, (t, 0, T)), (j, 1, oo)),
        Interchange(((-1) ** j, t)),
    ),
    "factors that are not the summand": (
        Integral(Sum(t / j**2, (j, 1, oo)), (t, 0, T)), Sum(Integral(t / j**2, (t, 0, T)), (j, 1, oo)),
        Interchange((t, 1 / j)),
    ),
    "no integral to evaluate": (T**2 / 2, T**2 / 2, Antiderivative(t**2 / 2)),
    "ends in the wrong order": (Integral(t, (t, 0, T)), -(T**2) / 2, Antiderivative(t**2 / 2)),
    "an antiderivative of another function": (Integral(t, (t, 0, T)), T**2, Antiderivative(t**2)),
    "an integral that diverges at 0": (Integral(1 / t**2, (t, 0, T)), -1 / T, Antiderivative(-1 / t)),
    "an integral that diverges at infinity": (Integral(t ** (s - 1), (t, 1, oo)), -1 / s, Antiderivative(t**s / s)),
    "no Jacobian": (
        Integral(exp(-t), (t, 0, 2)), Integral(exp(-2 * z), (z, 0, 1)), Substitution(t, z, 2 * z),
    ),
    "the wrong upper end": (
        Integral(exp(-t), (t, 0, 2)), Integral(2 * exp(-2 * z), (z, 0, 2)), Substitution(t, z, 2 * z),
    ),
    "the wrong lower end": (
        Integral(exp(-t), (t, 0, 2)), Integral(2 * exp(-2 * z), (z, Rational(1, 2), 1)), Substitution(t, z, 2 * z),
    ),
    "ends that do not change places": (
        Integral(t**2, (t, 1, T)), Integral((T + 1 - z) ** 2, (z, T, 1)), Substitution(t, z, T + 1 - z),
    ),
    "a finite end for infinity": (
        Integral(exp(-t), (t, 0, oo)), Integral(exp(-z), (z, 0, 1)), Substitution(t, z, z),
    ),
    "a function that falls to 0 for infinity": (
        Integral(exp(-t), (t, 1, oo)), Integral(exp(-1 / z) / z**2, (z, 1, oo)), Substitution(t, z, 1 / z),
    ),
    "infinity for a finite end": (
        Integral(exp(-t), (t, 0, 1)), Integral(exp(-z), (z, 0, oo)), Substitution(t, z, z),
    ),
    "a substitution that turns": (
        Integral(exp(-t), (t, 0, 1)), Integral((1 - 2 * z) * exp(z**2 - z), (z, 0, 1)), Substitution(t, z, z - z**2),
    ),
    "another variable": (
        Integral(exp(-t), (t, 0, 2)), Integral(2 * exp(-2 * z), (z, 0, 1)), Substitution(t, T, 2 * T),
    ),
    "another old variable": (
        Integral(exp(-t), (t, 0, 2)), Integral(2 * exp(-2 * z), (z, 0, 1)), Substitution(T, z, 2 * z),
    ),
    "a constant beside the integral": (
        1 + Integral(exp(-t), (t, 0, 2)), Integral(2 * exp(-2 * z), (z, 0, 1)), Substitution(t, z, 2 * z),
    ),
    "modes over different ranges": (
        Sum(Integral(t**j, (t, 0, 2)), (j, 1, M)), Sum(Integral(2 * (2 * z) ** j, (z, 0, 1)), (j, 1, T)),
        Substitution(t, z, 2 * z),
    ),
    "a limit that is not there": (t**s, Integer(0), Limit(t, oo)),
    "another limit": (2 + exp(-t), Integer(1), Limit(t, oo)),
    "a function without a peak": (exp(t) * t, exp(-1), Maximum(t)),
    "another derivative": (exp(-t) + 1, Integer(2), Monotone(t, exp(-t))),
    "the lower end of a falling function": (exp(-t) + 1, Integer(1), Monotone(t, -exp(-t))),
    "a function that turns": (t * exp(-t), Integer(0), Monotone(t, (1 - t) * exp(-t))),
    "a function without a bound": (t**2, Integer(0), Monotone(t, 2 * t)),
    "a factor that does not begin at 0": (
        exp(-t) + t, Integer(1), Monotone(t, 1 - exp(-t), 2 - exp(-t)),
    ),
    "a factor that falls": (1 - exp(-t), Integer(1), Monotone(t, exp(-t), exp(-t) - 1)),
    "a summand that rises": (Sum(j**beta, (j, 2, M)), Integral(z**beta, (z, 1, M)), IntegralTest()),
    "an integral that begins with the sum": (
        Sum(j**-beta, (j, 2, M)), Integral(z**-beta, (z, 2, M)), IntegralTest(),
    ),
    "an integral that ends too early": (
        Sum(j**-beta, (j, 2, M)), Integral(z**-beta, (z, 1, M - 1)), IntegralTest(),
    ),
    "an integral below that begins too early": (
        Integral(z**-beta, (z, 1, M)), Sum(j**-beta, (j, 2, M)), IntegralTest(),
    ),
    "an integral below that ends with the sum": (
        Integral(z**-beta, (z, 1, M)), Sum(j**-beta, (j, 1, M)), IntegralTest(),
    ),
    "a summand that is not the integrand": (
        Sum(j**-beta, (j, 2, M)), Integral(2 * z**-beta, (z, 1, M)), IntegralTest(),
    ),
    "a sum and a constant": (
        1 + Sum(j**-beta, (j, 2, M)), Integral(z**-beta, (z, 1, M)), IntegralTest(),
    ),
    "two sums": (
        Sum(j**-beta, (j, 2, M)) + Sum(j**-beta, (j, 2, T)), Integral(z**-beta, (z, 1, M)), IntegralTest(),
    ),
    "no integral": (Sum(j**-beta, (j, 2, M)), zeta(beta), IntegralTest()),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused(name: str) -> None:
    before, after, rule = WRONG[name]
    verdict = Step(before, after, rule, "a false statement").verify()
    assert not verdict.holds
    assert verdict.detail


PEAK = t**2 * exp(-2 * T * t)


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        (Sum(j ** (-2 * beta), (j, 2, M)), Integral(z ** (-2 * beta), (z, 0, M)), "the sum begins at 2"),
        (Sum(j ** (-2 * beta), (j, 1, M)), Integral(z ** (-2 * beta), (z, 1, M)), "the integral begins at 1"),
        (Sum(j ** (-2 * beta), (j, 1, M)), Integral(z ** (-2 * beta), (z, 0, T)), "the ends differ"),
        (Sum(j ** (-2 * beta), (j, 1, M)) + 1, Integral(z ** (-2 * beta), (z, 0, M)), "a constant"),
        (Sum(j ** (-2 * beta), (j, 1, M)), M, "no integral"),
        (Sum(j ** (-2 * beta), (j, 1, M)) + Sum(j, (j, 1, T)), Integral(z, (z, 0, M)), "two sums"),
        (Sum(2 * j ** (-2 * beta), (j, 1, M)), Integral(z ** (-2 * beta), (z, 0, M)), "twice the summand"),
        (Sum(j ** (-2 * beta), (j, 1, M)), Integral(2 * z ** (-2 * beta), (z, 0, M)), "twice the integrand"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_sum_is_compared_only_with_its_own_integral(before: Expr, after: Expr, rule: str) -> None:
    """The same factor exp(-2 T y^-beta) stands in every summand; the peak of v^2 exp(-2 T v) is (e T)^-2."""

    def damped(side: Expr) -> Expr:
        for total in side.atoms(Sum, Integral):
            index = total.limits[0][0]
            side = side.xreplace({total: total.func(total.function * exp(-2 * T * index**-beta), *total.limits)})
        return side

    proof = SumToIntegral(PEAK, t, z**-beta, Maximum(t), exp(-2) / T**2)
    right = Sum(j ** (-2 * beta), (j, 1, M)), Integral(z ** (-2 * beta), (z, 0, M))
    assert held(damped(right[0]), damped(right[1]), proof)
    assert not held(damped(before), damped(after), proof), rule


def test_a_comparison_needs_a_nonnegative_summand_that_falls() -> None:
    rises = Monotone(t, exp(-t))

    def compare(h: Expr, v_of_y: Expr, shape: Monotone, error: Expr) -> bool:
        before = Sum(h.subs(t, v_of_y).subs(z, j), (j, 1, M))
        return held(before, Integral(h.subs(t, v_of_y), (z, 0, M)), SumToIntegral(h, t, v_of_y, shape, error))

    assert compare(1 - exp(-t), z**-beta, rises, Integer(1))
    assert compare(2 - exp(-t), z**-beta, rises, Integer(2))
    assert not compare(1 - exp(-t), z**-beta, rises, Rational(1, 2))  # not the supremum
    assert not compare(1 - exp(-t), z**beta, rises, Integer(1))  # v rises with y, and the summand with it
    assert not compare(-exp(-t), z**-beta, rises, Integer(0))  # negative: the difference may be 1
    assert not compare(1 + exp(-t), z**-beta, Monotone(t, -exp(-t)), Integer(2))  # h falls in v
    assert not compare(1 - exp(-t), z**-beta, Monotone(t, 2 * exp(-t)), Integer(1))  # not its derivative


def test_a_rise_is_seen_once_a_factor_that_is_0_at_0_and_rises_is_taken_out() -> None:
    # 1 - e^-t is 0 at 0 and rises, so its square, the derivative, is positive
    primitive = 1 + t + 2 * exp(-t) - exp(-2 * t) / 2
    falling = Monotone(t, -exp(-t) * (1 - exp(-t)), 1 - exp(-t))
    assert not held(primitive, Integer(0), Monotone(t, (1 - exp(-t)) ** 2, (1 - exp(-t)) ** 2))
    before = exp(-t) - exp(-2 * t) / 2
    assert held(before, Rational(1, 2), falling) and not held(before, Integer(0), falling)


def test_incomplete_gamma_functions_are_antiderivatives_up_to_infinity() -> None:
    whole = Integral(t ** (s - 1) * exp(-lam * t), (t, 0, oo))
    primitive = -(lam**-s) * uppergamma(s, lam * t)
    assert held(whole, lam**-s * gamma(s), Antiderivative(primitive))
    assert not held(whole, lam ** (-s - 1) * gamma(s), Antiderivative(primitive))
    assert not held(whole, lam**-s * gamma(s), Antiderivative(-primitive))
