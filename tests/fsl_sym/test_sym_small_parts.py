"""Small parts of the symbolic layer, each at the values where a neighbouring version would differ."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from sympy import Expr, Integer, Min, Rational, Symbol, exp, gamma, lowergamma, oo, symbols, uppergamma

from fsl_sym.allocation import optimal_allocation
from fsl_sym.derivation import words_latex
from fsl_sym.domain import REGIMES
from fsl_sym.exponents.solve import optimal_exponents
from fsl_sym.integrals.exponential_decay import constant_noise, exponential_decay_noise, i1, i2, i2_bound
from fsl_sym.integrals.stable_phase import finite_stable_phase_noise, stable_phase_noise
from fsl_sym.integrals.warmup_stable_decay import warmup_stable_decay_noise
from fsl_sym.limits import limit_value
from fsl_sym.mellin import Term, _ordered, harmonic_sum_asymptotics
from fsl_sym.spectrum import X, finite_kernel, finite_signal, forgetting_kernel, signal
from fsl_sym.symbols import T2, M, T, a, b, beta, s, t
from fsl_sym.verification import _apart, equal, sample_points

ZERO, ONE = Integer(0), Integer(1)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # at s = 1 the order is 0, and there the constant 1/(s - 1) is none
        (lowergamma(s - 1, 2 * t) * t ** (1 - s), None),
        (lowergamma(s, 2 * t) * t ** (-s) * 3, 3 * Integer(2) ** s / s),
        (lowergamma(s, t**2) * t ** (-2 * s), None),
        (uppergamma(s, t) * exp(t) + 1, gamma(s) + 1),
        (uppergamma(1 - 1 / beta, t), gamma(1 - 1 / beta)),
        # five powers below 0 the remainder of the exponential counts
        ((exp(t) - 1 - t - t**2 / 2 - t**3 / 6 - t**4 / 24) / t**5, None),
        ((exp(t) - 1 - t - t**2 / 2 - t**3 / 6 - t**4 / 24) / t ** Rational(9, 2), ZERO),
    ],
    ids=str,
)
def test_limits_at_zero_near_the_edge_of_the_rules(expression: Expr, expected: Expr | None) -> None:
    value = limit_value(expression, t, ZERO)
    assert value is expected is None or (value - expected).simplify() == 0


def test_a_limit_is_taken_at_its_two_ends_alone() -> None:
    for point in (ONE, -oo):
        with pytest.raises(ValueError, match="shift the variable first"):
            limit_value(t, t, point)
    assert limit_value(s, t, ONE) == s


def test_terms_are_ordered_largest_first_whatever_order_they_come_in() -> None:
    terms = [Term(ONE, Integer(-k), 0, Integer(k)) for k in range(4)]
    for mixed in permutations(terms):
        assert _ordered(list(mixed)) == terms
    # one power twice, and one that cannot be compared with another: they stay in the order in which they came
    again = Term(ONE, Integer(-1), 1, ONE)
    assert _ordered([terms[1], again, terms[0]]) == [terms[0], terms[1], again]
    open_ = Term(ONE, -s, 0, s)
    assert _ordered([terms[1], open_]) == [terms[1], open_] and _ordered([open_, terms[1]]) == [open_, terms[1]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gamma function", r"\text{gamma function}"),
        ("gamma: a rate", r"\gamma :\ \text{a rate}"),
        ("a + b is a sum", r"a + b\ \text{is a sum}"),
        ("with a - b here", r"\text{with}\ a - b\ \text{here}"),
        ("T_1, a constant", r"T_{1},\ \text{a constant}"),
        ("a", r"\text{a}"),
        ("2 T", "2 T"),
        ("T 2", "T 2"),
        ("the 2 of them", r"\text{the 2 of them}"),
        ("at T: 2 modes", r"\text{at}\ T:\ \text{2 modes}"),
        ("2 j T", "2 j T"),
        ("T j 2", "T j 2"),
        ("M_1, M_2", "M_{1}, M_{2}"),
        ("I1 and I2", r"I_{1}\ \text{and}\ I_{2}"),
        ("(B)", "(B)"),
        ("s^(1/2), and t^2", r"s^{1/2},\ \text{and}\ t^{2}"),
    ],
)
def test_letters_beside_a_formula_belong_to_it_and_an_article_does_not(words: str, expected: str) -> None:
    assert words_latex(words) == expected


def test_regimes_are_sampled_up_to_the_stated_ends() -> None:
    """s in (0, 3) and beta in (1, 6], six included."""
    for regime in REGIMES:
        points = regime.samples(400, 5)
        assert all(0 < s_value < 3 and 1 < beta_value <= 6 for s_value, beta_value in points)
        assert max(beta_value for _, beta_value in points) == 6


def test_more_sample_points_than_there_are_values_begin_again() -> None:
    points = sample_points([beta, t], 7)
    assert points[:3] == points[3:6] and points[6] == points[0]


def test_an_expansion_names_the_sum_that_it_expands() -> None:
    """The kernel and the signal over all modes, and a prefactor in front."""
    mode = exp(-2 * Symbol("u", positive=True))
    (u,) = mode.free_symbols
    for w, known in ((2 * beta, forgetting_kernel(t, oo)), (1 + s * beta, signal(t, oo))):
        found = harmonic_sum_asymptotics(mode, u, w, beta, t).sum
        assert found.limits == known.limits and (found.function / known.function).simplify() == 1


@pytest.mark.parametrize("form", [finite_kernel(), finite_signal()], ids=["kernel", "signal"])
def test_the_window_of_a_finite_sum_holds_its_ends(form) -> None:
    """1 <= t <= M^beta, both ends included."""
    at = {M: Integer(3), beta: Integer(2)}
    seen = [bool(form.window.subs(at).subs(t, time)) for time in (Rational(99, 100), 1, 5, 9, Rational(901, 100))]
    assert seen == [False, True, True, True, False]


def test_a_crossover_has_one_power() -> None:
    """K_M(t) M^(2 beta - 1) is a function of t/M^beta alone, and no other power of M is."""
    shown = finite_kernel().crossover(2 * beta - 1)
    assert shown.free_symbols == {X, beta}
    at = {beta: Rational(3, 2), M: Integer(7), t: Rational(5, 2)}
    direct = (finite_kernel().approximation * M ** (2 * beta - 1)).subs(at).evalf(30)
    assert abs(shown.subs(X, t / M**beta).subs(at).evalf(30) / direct - 1) < Rational(1, 10**25)  # exact, 30 digits
    with pytest.raises(ValueError, match="is not the scale of this sum"):
        finite_kernel().crossover(2 * beta)


LEARNED, LEFT = Min(M / T, T ** (1 / beta - 1)), Min(M / T2, T2 ** (1 / beta - 1))


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (constant_noise().order, [a]),
        (i1().order, [ONE]),
        (i2().order, [LEARNED]),
        (exponential_decay_noise().order, [b, (a - b) * LEARNED]),
        (warmup_stable_decay_noise().order, [b, (a - b) * LEFT]),
        (stable_phase_noise().order, [LEFT]),
        (finite_stable_phase_noise().order, [a * LEFT]),
    ],
    ids=["constant", "I1", "I2", "exponential decay", "WSD-like", "stable phase", "finite stable phase"],
)
def test_orders_at_numbers_are_those_of_the_theorems(orders, expected) -> None:
    """On both sides of the change from few modes to many, M = T^(1/beta)."""
    assert len(orders) == len(expected)
    for size in (2, 50):
        at = {M: size, T: 100, T2: 90, beta: 2, a: 7, b: 3}
        for order, known in zip(orders, expected, strict=True):
            assert order.expression.subs(at) == known.subs(at)


def test_tables_have_as_many_columns_as_entries() -> None:
    x, n = symbols("x N", positive=True)
    for shown, columns in (
        (optimal_exponents(x + n / x, [x], n)._repr_latex_(), 3),
        (optimal_allocation("constant", "data")._repr_latex_(), 7),
    ):
        assert rf"\begin{{array}}{{{'l' * columns}}}" in shown
        body = shown.split("}", 2)[2].rsplit(r"\end", 1)[0]
        rows = [row for row in body.split(r"\\") if "&" in row]
        assert len(rows) >= 2 and all(row.count("&") == columns - 1 for row in rows)


def test_a_table_says_where_its_rows_hold() -> None:
    """x^-1 + N^-c with x at most N: the second term leads for c < 1."""
    x, n, c = symbols("x N c", positive=True)
    everywhere = optimal_exponents(x + n / x, [x], n)._repr_latex_()
    split = optimal_exponents(1 / x + n**-c, [x], n, [x <= n], {c: (0, None)})
    assert everywhere.count("everywhere") == 1 and "everywhere" not in split._repr_latex_()
    assert {region.loss.power for region in split.regions} == {-1, -c}
    for region in split.regions:
        assert region.contains({c: Rational(1, 2)}) == (region.loss.power == -c)
        assert r"c - 1" in split._repr_latex_()


@pytest.mark.parametrize(("size", "time"), [(4, 100), (50, 100)])
def test_the_second_integral_is_compared_with_the_least_of_its_two_powers(size: int, time: int) -> None:
    """I2 T/min{M, T^(1/beta)} at beta = 2, added mode by mode."""
    rates = [k**-2.0 for k in range(1, size + 1)]
    by_modes = sum(1.0 - (1.0 + 2.0 * rate * time) * math.exp(-2.0 * rate * time) for rate in rates) / 4.0
    found = float(i2_bound().quantity.subs({beta: 2, M: size, T: time}).doit())
    assert found == pytest.approx(by_modes / min(size, time**0.5), rel=1e-12)  # rounding of fifty terms


def test_a_root_of_a_square_is_the_letter_only_where_it_is_not_negative() -> None:
    free = Symbol("w", real=True)
    assert not equal((free**2) ** Rational(1, 2), free).proved
    assert not equal((free**2) ** s, free ** (2 * s)).proved
    assert equal((t**2) ** s, t ** (2 * s)).proved


@pytest.mark.parametrize("size", [Integer(10) ** 40, Integer(10) ** -40])
def test_numbers_are_compared_relative_to_their_size(size: Expr) -> None:
    """Thirty digits: 1e-29 apart differs, 1e-35 is rounding."""
    assert _apart(size, size * (1 + Rational(1, 10**29)))
    assert not _apart(size, size * (1 + Rational(1, 10**35)))
