"""Formulas of the page: all are typeset, with their source, and broken where a formula may be."""

import pytest
from html_reading import Reader, seen

from fsl_num.report.mathml import display, inline

LONG = "x" * 31


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\mathcal K \mathbf H \mathbb E \mathcal E", "𝒦𝐇𝔼ℰ"),
        (r"a \sim b", "a∼b"),
        (r"\mathrm{tr}(A)", "tr(A)"),
        (r"x \preceq y", "x⪯y"),
        (r"\Big\{a\Big\}", "{a}"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "a=bc=d"),
        (r"\begin{aligned} & a \\[6pt] & = b \\ [c] \end{aligned}", "a=b[c]"),
        (r"\max_j x_j", "maxjxj"),
    ],
)
def test_letters_and_signs_are_those_of_the_source(latex, shown):
    for html in (inline(latex), display(latex)):
        assert seen(html).replace(" ", "") == shown  # a space where a line may end
        assert "mathvariant" not in html  # browsers no longer know it


@pytest.mark.parametrize(
    ("latex", "rows", "pieces"),
    [
        (r"a \\ b", 2, 2),
        (r"a, \quad b", 1, 2),
        (r"a,\ b", 1, 2),
        (r"\{a, \quad b\}", 1, 1),
        ("x + y = z", 1, 1),
        (f"{LONG} + y = z", 1, 3),
        (f"(x + {LONG})^2 = z", 1, 2),
        (rf"[{LONG} + (y)^{{-2}}]^2", 1, 1),
        (f"f(x + {LONG})", 1, 1),
        (f"a, \\quad {LONG} = b, \\quad c = d", 1, 4),
        (f"-{LONG}", 1, 1),
    ],
)
def test_a_formula_may_be_broken_before_relations_outside_brackets(latex, rows, pieces):
    assert display(latex).count('class="row"') == rows
    assert display(latex).count("<math") == pieces
    assert inline(latex.replace(r"\\", "")).count("<math") == max(1, pieces - rows + 1)


@pytest.mark.parametrize("latex", [r"\nosuch{x}", r"\frac{1", "<b>", "", "}"])
def test_what_cannot_be_typeset_is_shown_or_typeset_but_never_raises(latex):
    for html in (inline(latex), display(latex)):
        Reader(html)
        assert "<b>" not in html


@pytest.mark.parametrize(
    ("latex", "stacked"),
    [
        (r"T^{\frac{1}{\beta}}", 0),
        (r"D^{- \frac{s}{2}}", 0),
        (r"D^{\frac{s}{s + 1}}", 1),  # more than a sign: stacked
        (r"\frac{1}{\beta}", 1),  # no exponent
    ],
)
def test_an_exponent_of_one_sign_over_another_stands_in_one_line(latex, stacked):
    assert inline(latex).count("<mfrac") == stacked
    assert (">/</mo>" in inline(latex)) is (not stacked)
