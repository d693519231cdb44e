"""Texts of the page lose nothing, and what they mark is marked."""

import math
import re

import pytest
from html_reading import SIGNS, Reader, letters
from hypothesis import example, given
from hypothesis import strategies as st

from fsl_num.claims.errata import errata
from fsl_num.report.html.texts import Texts, anchors, number


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (r"\theta_j is not random", "θ<sub>j</sub> is not random"),
        ("e_M(t) <= C M^-(s beta) + 1", "e<sub>M</sub>(t) ≤ C M<sup>−s β</sup> + 1"),
        ("theta_j^2 = j^-1 lambda_j^(s-1)", "θ<sub>j</sub><sup>2</sup> = j<sup>−1</sup> λ<sub>j</sub><sup>s−1</sup>"),
        ("phi^_1, rho_- and rho_+", "φ\u0302<sub>1</sub>, ρ<sub>−</sub> and ρ<sub>+</sub>"),
        ("D^(-(beta - 1)/beta)", "D<sup>−(β − 1)/β</sup>"),
        ("K_infinity, t^-0.25", "K<sub>∞</sub>, t<sup>−0.25</sup>"),
        ("the integral of a finite sum", "the integral of a finite sum"),
        ("sum (lambda_j + 1) over sum j^-1", "∑ (λ<sub>j</sub> + 1) over ∑ j<sup>−1</sup>"),
        ("w_j ~ N(0, 1/M), M ~ C", "w<sub>j</sub> ∼ N(0, 1/M), M ≍ C"),
        ("sum_{j>M} j^-2", "∑<sub>j&gt;M</sub> j<sup>−2</sup>"),
        # no formulas
        ("peak_lr of file_name.py, 1e-60, theta*, an open (bracket^(", None),
    ],
)
def test_formulas_in_plain_letters_have_indices_and_powers(typed, shown):
    assert Texts()(typed) == (typed.replace("theta", "θ") if shown is None else shown)


def test_every_formula_of_the_errata_is_typeset():
    for erratum in errata():
        for text in (erratum.as_printed, erratum.wrong, erratum.corrected, erratum.evidence):
            root = Reader(Texts()(text)).root
            assert len(list(root.find("math"))) >= text.count("$") / 2, erratum.id  # a long one in pieces
            # none of them a formula in its source
            assert len(list(root.find("code"))) == text.count("`") / 2, erratum.id


def test_formulas_and_code_are_marked():
    root = Reader(Texts()("for $s > 0$ and `x < 1`, $5 each")).root
    assert [node.text for node in root.find("math")] == ["s>0"]
    assert [node.text for node in root.find("code")] == ["x < 1"]
    assert root.text == "for s>0 and x < 1, $5 each"


@given(st.text(st.sampled_from("ab Me_^-+(){}[]<>=~*'12.,:/&\"$`\\β"), max_size=40))
@example("$<b>$ `<b>` <b>")
@example("$^1$")
def test_any_text_stays_well_formed(text):
    root = Reader(Texts({"ab": "x"})(text)).root
    assert not list(root.find("b"))
    if "$" not in text and "`" not in text:
        assert letters(root.text, {}) == letters(text, SIGNS)


def test_names_are_linked_whole_and_not_in_formulas_or_other_code():
    text = Texts({"thm:x": "#one", "thm:x/y": "#two"})
    root = Reader(text("thm:x, thm:x/y, thm:x/z, athm:x, `f(thm:x)` and `thm:x` of $thm:x$.")).root
    assert [(node.text, node.attributes["href"]) for node in root.find("a")] == [
        ("thm:x", "#one"),
        ("thm:x/y", "#two"),
        ("thm:x", "#one"),
    ]
    assert not list(Reader(text.unlinked("thm:x")).root.find("a"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [("the law", "The law"), ("beta > 1", "beta > 1"), ("a law", "A law"), ("a = 1", "a = 1"), ("e_M(t)", "e_M(t)")],
)
def test_a_sentence_begins_with_a_capital_unless_with_a_formula(text, shown):
    assert Texts().sentence(text) == Texts()(shown)


@given(st.lists(st.text(max_size=8), unique=True, max_size=8))
def test_anchors_differ(names):
    found = anchors("claim", names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z][\w-]*", anchor, re.ASCII) for anchor in found.values())


@given(st.floats(-1e307, 1e307) | st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_number_reads_back(value):
    text = number(value).replace("−", "-")
    if math.isfinite(value):
        digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
        text = re.sub(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$", lambda power: "1e" + power[1].translate(digits), text)
        assert float(text.replace(" × 1e", "e")) == pytest.approx(value, rel=0.006)  # three digits
