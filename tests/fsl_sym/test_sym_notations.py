"""Exponents of other papers: round trips through every pair of notations, and what lies outside the range."""

from fractions import Fraction
from itertools import permutations, product

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from notebook_views import as_html, as_latex
from sympy import Rational, Symbol, simplify

from fsl_sym import convert, notation
from fsl_sym.notations import NOTATIONS
from fsl_sym.symbols import beta, s

OUTSIDE = {
    "fsl": {"s": 0, "beta": 2},
    "features": {"alpha": "1/2", "beta": 1},
    "capacity-source": {"a": 1, "b": 2},
    "control": {"a": 2, "b": 1},
    "kernel": {"r": 0, "alpha": 2},
    "quadratic": {"p": 1, "q": 2},
    "forgetting": {"s": 1, "q_K": 2},
}
POSITIVE = st.fractions(Fraction(1, 50), 20, max_denominator=60)


@examples(10)
@given(difficulty=POSITIVE, above=POSITIVE)
def test_every_round_trip_is_exact(difficulty, above):
    start = {"s": Rational(difficulty), "beta": 1 + Rational(above)}
    written = {name: convert(start, "fsl", name) for name in NOTATIONS}
    assert all(convert(written[name], name, "fsl") == start for name in NOTATIONS)
    assert all(
        convert(written[source], source, target) == written[target] for source, target in permutations(NOTATIONS, 2)
    )


@pytest.mark.parametrize("pair", list(product(NOTATIONS, repeat=2)), ids="-".join)
def test_symbols_come_back(pair):
    source, target = pair
    middle = convert(convert({"s": s, "beta": beta}, "fsl", source), source, target)
    back = convert(middle, target, "fsl")
    assert simplify(back["s"] - s) == 0 == simplify(back["beta"] - beta)


@pytest.mark.parametrize("name", list(NOTATIONS))
def test_eigenvalues_and_energies_are_those_of_this_paper(name):
    """lambda_j = j^-beta and lambda_j theta_j^2 = j^-(1 + s beta), whatever the letters."""
    notation = NOTATIONS[name]
    values = {letter: convert({"s": "2/3", "beta": 3}, "fsl", name)[letter.name] for letter in notation.letters}
    assert notation.eigenvalue.subs(values, simultaneous=True) == 3
    assert notation.energy.subs(values, simultaneous=True) == 1 + Rational(2, 3) * 3


def test_letters_may_be_symbols():
    """Those of fsl_sym.symbols, or any of that name."""
    named = convert({"s": 1, "beta": 4}, "fsl", "kernel")
    assert convert({s: 1, Symbol("beta"): 4}, "fsl", "kernel") == named


def test_known_points():
    """r = 1/2 is a target of finite norm, s = 1; g* = 1 - a/b is the exponent of the easy regime's peak rate."""
    assert convert({"s": 1, "beta": 4}, "fsl", "kernel") == {"r": Rational(1, 2), "alpha": 4}
    assert convert({"s": 1, "beta": 4}, "fsl", "features") == {"alpha": 2, "beta": Rational(1, 2)}
    found = convert({"s": s, "beta": beta}, "fsl", "capacity-source")
    assert simplify(1 - found["a"] / found["b"] - (1 + s * beta - beta) / (1 + s * beta)) == 0
    assert convert({"s": 0.5, "beta": 4}, "fsl", "kernel")["r"] == pytest.approx(0.25, rel=1e-15)


@pytest.mark.parametrize("name", list(NOTATIONS))
def test_points_outside_the_range_are_refused(name):
    with pytest.raises(ValueError, match="outside the range"):
        convert(OUTSIDE[name], name, "fsl")


@pytest.mark.parametrize(
    ("values", "source", "target", "error", "text"),
    [
        ({"s": 1, "beta": 2}, "fsl", "nobody", ValueError, "unknown notation 'nobody': choose fsl"),
        ({"s": 1}, "fsl", "kernel", ValueError, "letters s and beta, not s"),
        ({s: 1, "b": 2}, "fsl", "kernel", ValueError, "letters s and beta, not s, b"),
        ({1: 1, "beta": 2}, "fsl", "kernel", ValueError, "letters s and beta, not 1, beta"),
        ({"s": float("nan"), "beta": 2}, "fsl", "kernel", TypeError, "no number"),
        ({"s": float("inf"), "beta": 2}, "fsl", "kernel", TypeError, "no finite real"),
        ({"s": 1j, "beta": 2}, "fsl", "kernel", TypeError, "no real number"),
        ({"s": "x", "beta": 2}, "fsl", "kernel", TypeError, "'x' is text"),
    ],
)
def test_bad_input_is_refused(values, source, target, error, text):
    with pytest.raises(error, match=text):
        convert(values, source, target)


def test_the_table_shows_every_notation_in_every_form():
    table = notation()
    for text in (str(table), table.markdown(), as_html(table), as_latex(table)):
        assert all(name in text for name in NOTATIONS)
    assert table.markdown().count("\n") == 1 + len(NOTATIONS)
