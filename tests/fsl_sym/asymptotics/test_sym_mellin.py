"""Sharp constants of harmonic sums, against sums evaluated without Mellin transforms."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from sym_reference import exponential_series, harmonic_sum, incomplete_series, remaining_series
from sympy import Eq, Expr, Gt, Integer, Rational, Symbol, exp, gamma, log, lowergamma, sin, true, zeta

from fsl_sym.algebra.equality import sign
from fsl_sym.asymptotics.contour import contour_disagreement
from fsl_sym.asymptotics.mellin import (
    Expansion,
    harmonic_sum_asymptotics,
)
from fsl_sym.asymptotics.mellin_transform import pieces
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.proof import Residues, Step
from fsl_sym.symbols import T, beta, p, s, t

u = Symbol("u", positive=True)
REST = 1 - exp(-2 * u) * (1 + 2 * u)
ORDER = p / (p + 1) + 1

TOLERANCE = Rational(1, 10**25)
"""The neglected part is exponentially small; its size is computed where the points are chosen."""


def kernel() -> Expansion:
    return harmonic_sum_asymptotics(exp(-2 * u), u, 2 * beta, beta, t)


def decay() -> Expansion:
    return harmonic_sum_asymptotics(lowergamma(ORDER, 2 * u), u, beta / (p + 1), beta, T)


@pytest.mark.parametrize("at", [{p: Rational(1, 4), beta: Rational(5, 4)}, {p: Integer(3), beta: Integer(6)}])
def test_terms_fall(at: dict[Symbol, Expr]) -> None:
    expansions = [decay(), decay().at(at), kernel(), harmonic_sum_asymptotics(REST, u, Integer(0), beta, t)]
    expansions.append(
        harmonic_sum_asymptotics(lowergamma(ORDER.subs(at), 2 * u), u, at[beta] / (at[p] + 1), at[beta], T)
    )
    for expansion in expansions:
        powers = [term.power for term in expansion.terms]
        assert not any(sign(later - earlier) == 1 for earlier, later in pairwise(powers)), powers


def close(left: Expr, right: Expr) -> bool:
    return bool(abs(left - right) < TOLERANCE * abs(right))


@pytest.mark.parametrize(
    ("f", "series", "w"), [(exp(-2 * u), exponential_series, 2 * beta), (REST, remaining_series, 0)]
)
def test_sharp_constants_to_25_digits(f: Expr, series: object, w: Expr) -> None:
    expansion = harmonic_sum_asymptotics(f, u, Integer(0) + w, beta, t)
    # 2 pi (1 + 1/beta) sin(pi/(2 beta + 2)) (beta x/pi)^(1/(beta + 1)) = 66 at beta = 5/4, x = 400: e^-66 = 2e-29
    point = {beta: Rational(5, 4), t: Integer(400)}
    exact = harmonic_sum(f, u, series, (0 * beta + w).subs(point), point[beta], point[t])  # type: ignore[arg-type]
    assert close(expansion.expression.subs(point).evalf(40), exact)


@pytest.mark.parametrize("at", [{p: Integer(1), beta: Rational(5, 4)}, {p: Rational(1, 4), beta: Rational(5, 4)}])
def test_incomplete_gamma_sums_to_25_digits_at_and_off_the_resonance(at: dict[Symbol, Expr]) -> None:
    expansion = decay().at(at)
    order, x = ORDER.subs(at), Integer(400)
    exact = harmonic_sum(lowergamma(order, 2 * u), u, incomplete_series(order), (beta / (p + 1)).subs(at), at[beta], x)
    assert close(expansion.expression.subs(T, x).evalf(40), exact)


def test_a_wrong_constant_is_seen_at_25_digits() -> None:
    point = {beta: Rational(5, 4), t: Integer(400)}
    exact = harmonic_sum(exp(-2 * u), u, exponential_series, 2 * point[beta], point[beta], point[t])
    assert not close((1 + Rational(1, 10**20)) * kernel().expression.subs(point).evalf(40), exact)


def test_the_kernel_has_one_term_and_no_condition() -> None:
    expansion = kernel()
    (term,) = expansion.terms
    assert (term.coefficient - gamma(2 - 1 / beta) / beta * Integer(2) ** (1 / beta - 2)).equals(0)
    assert expansion.conditions == () == expansion.resonances
    assert expansion.leading() == ((true, term),)


def test_the_resonance_is_found_and_a_logarithm_appears_there() -> None:
    expansion = decay()
    assert expansion.resonances == (Eq(beta - p - 1, 0),)
    conditions = {condition for condition, _ in expansion.leading()}
    assert conditions == {Gt(beta - p - 1, 0), Gt(p + 1 - beta, 0)}
    resonant = expansion.at({p: beta - 1})
    assert [term.log_power for term in resonant.terms] == [1, 0]
    assert resonant.resonances == ()
    # the leading coefficient is the limit of the difference quotient: both poles meet with opposite residues
    near = expansion.expression.subs({beta: 2, p: 1 + Rational(1, 10**12), T: 50}).evalf(60)
    assert abs(near / resonant.expression.subs({beta: 2, T: 50}).evalf(40) - 1) < Rational(1, 10**10)


def test_conditions_come_from_the_strip() -> None:
    w = Symbol("w", positive=True)
    expansion = harmonic_sum_asymptotics(REST, u, w, beta, t)
    assert expansion.conditions == ()
    expansion = harmonic_sum_asymptotics(exp(-u), u, w, beta, t)
    assert expansion.conditions == (Gt(w - 1, 0),)


@pytest.mark.parametrize("power", [Integer(1), Rational(3, 2)])
def test_powers_that_leave_no_strip_are_summed_by_themselves(power: Expr) -> None:
    """sum j^-2 (c u^k + exp(-u)) at u = x/j^2 converges for every k > -1/2, though its transform has no strip."""
    alone = harmonic_sum_asymptotics(3 * u**power, u, Integer(2), Integer(2), t)
    assert alone.expression == 3 * zeta(2 + 2 * power) * t**power and alone.error == 0
    whole = harmonic_sum_asymptotics(3 * u**power + exp(-u), u, Integer(2), Integer(2), t)
    exponential = harmonic_sum_asymptotics(exp(-u), u, Integer(2), Integer(2), t)
    assert whole.expression == alone.expression + exponential.expression and whole.error == exponential.error
    assert whole.function(u) == 3 * u**power + exp(-u)
    # 1 - exp(-u) converges at w = 1 together alone: there a power is split off, and the rest keeps its logarithm
    shifted = harmonic_sum_asymptotics(1 - exp(-u) + u, u, Integer(1), Integer(2), t, 2 * t)
    plain = harmonic_sum_asymptotics(1 - exp(-u), u, Integer(1), Integer(2), t, 2 * t)
    assert (shifted.expression - plain.expression - 2 * t**2 * zeta(3)).expand() == 0


def test_divergent_sums_and_unknown_functions_are_refused() -> None:
    with pytest.raises(ValueError, match="diverges"):
        harmonic_sum_asymptotics(exp(-u), u, Integer(1), beta, t)
    with pytest.raises(ValueError, match=r"its summands fall like j\^-\(1\)"):
        harmonic_sum_asymptotics(1 + u, u, Integer(1), beta, t)
    with pytest.raises(ValueError, match="no strip exists"):
        harmonic_sum_asymptotics(exp(-u) + u**2 * lowergamma(Rational(1, 3), u), u, Integer(2), Integer(2), t)
    with pytest.raises(ValueError, match="prefactor"):
        harmonic_sum_asymptotics(u, u, Integer(2), Integer(2), t, exp(-t))
    with pytest.raises(ValueError, match="outside the class"):
        pieces(sin(u), u)
    with pytest.raises(ValueError, match="outside the class"):
        pieces(exp(u), u)
    with pytest.raises(ValueError, match="prefactor"):
        harmonic_sum_asymptotics(exp(-u), u, 2 * beta, beta, t, exp(-t))
    with pytest.raises(TypeError, match="u must be a sympy Symbol"):
        harmonic_sum_asymptotics(exp(-u), 3, 2 * beta, beta, t)  # type: ignore[arg-type]


def test_what_tends_to_infinity_stands_in_no_exponent_and_has_no_value() -> None:
    for f, weight in ((exp(-u * t), 2 * beta), (exp(-u), 2 * beta + t)):
        with pytest.raises(ValueError, match="t tends to infinity"):
            harmonic_sum_asymptotics(f, u, weight, beta, t)
    with pytest.raises(ValueError, match=r"put 3 for it into .expression"):
        kernel().at({t: Integer(3)})


@pytest.mark.parametrize("make", [kernel, decay])
def test_contours_confirm_the_residues_and_refute_wrong_ones(make: object) -> None:
    expansion = make()  # type: ignore[operator]
    assert contour_disagreement(expansion) is None
    for i, term in enumerate(expansion.terms):
        for factor in (-1, 1 + Rational(1, 10**15)):
            wrong = (
                *expansion.terms[:i],
                replace(term, coefficient=factor * term.coefficient),
                *expansion.terms[i + 1 :],
            )
            assert contour_disagreement(replace(expansion, terms=wrong)) is not None


def test_residues_are_verified_and_wrong_ones_refused() -> None:
    expansion = harmonic_sum_asymptotics(REST, u, Integer(0), beta, T, 1 / (4 * T))
    derivation = expansion_derivation("x", "x", expansion)
    assert derivation.verify().holds
    (step,) = derivation
    for wrong in (-step.after, 2 * step.after, expansion.terms[0].expression(T), step.after * log(T)):
        assert not replace(step, after=wrong).verify().holds
    assert not Step(2 * step.before, step.after, Residues(expansion), "twice the sum").verify().holds
    wrong_terms = replace(expansion, terms=expansion.terms[:1])
    assert not Step(step.before, wrong_terms.expression, Residues(wrong_terms), "a pole left out").verify().holds


def test_two_poles_give_two_terms() -> None:
    expansion = harmonic_sum_asymptotics(REST, u, Integer(0), beta, T, 1 / (4 * T))
    assert [term.power.subs(beta, 2) for term in expansion.terms] == [-Rational(1, 2), -1]
    assert expansion.terms[1].coefficient == zeta(0) / 4


def test_signal_expansion_is_gamma_of_s() -> None:
    (term,) = harmonic_sum_asymptotics(exp(-2 * u), u, 1 + s * beta, beta, t).terms
    assert (term.coefficient - gamma(s) / beta * 2**-s).equals(0)
