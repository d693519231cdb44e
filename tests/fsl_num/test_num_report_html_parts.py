"""The parts of the page: texts lose nothing, formulas are typeset, graphs and axes keep their order."""

import itertools
import math
import re
from html import unescape

import pytest
from html_reading import Reader
from hypothesis import example, given
from hypothesis import strategies as st

from fsl_num.claims.errata import errata
from fsl_num.claims.registry import all_claims
from fsl_num.report.html.drawings import Axis, ratio_ticks, ticks
from fsl_num.report.html.graph import place
from fsl_num.report.html.texts import Texts, anchors, number
from fsl_num.report.mathml import display, inline


def seen(html):
    """What a reader sees, without tags."""
    return unescape(re.sub(r"<[^>]+>", "", html))


LONG = "x" * 31

# ---- formulas --------------------------------------------------------------------------------------------------------


def test_every_formula_of_the_claims_is_typeset():
    assert [each.id for each in all_claims() if 'class="formula source"' in display(each.latex)] == []


def test_the_source_of_a_formula_stays_with_it():
    for each in all_claims():
        (node,) = Reader(display(each.latex)).root.children
        assert node.attributes["data-tex"] == each.latex


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\mathcal K \mathbf H \mathbb E \mathcal E", "𝒦𝐇𝔼ℰ"),
        (r"a \sim b", "a∼b"),
        (r"\mathrm{tr}(A)", "tr(A)"),
        (r"x \preceq y", "x⪯y"),
        (r"\Big\{a\Big\}", "{a}"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "a=bc=d"),
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


# ---- texts -----------------------------------------------------------------------------------------------------------


def test_what_is_not_marked_is_shown_as_it_was_written():
    texts = [each.wording for each in all_claims()]
    assert len(texts) > 100
    for text in texts:
        if not re.search(r"\$[^$]+\$|`[^`]+`", text):
            assert seen(Texts()(text)) == text
            assert seen(Texts().sentence(text)).lower() == text.lower()


def test_every_formula_of_the_errata_is_typeset():
    for each in errata():
        for text in (each.as_printed, each.corrected, each.evidence):
            root = Reader(Texts()(text)).root
            assert len(list(root.find("math"))) >= text.count("$") / 2, each.id  # a long one in pieces
            assert len(list(root.find("code"))) == text.count("`") / 2, each.id  # none of them a formula in its source


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
        assert root.text == text


def test_names_are_linked_whole_and_not_in_formulas_or_other_code():
    text = Texts({"thm:x": "one", "thm:x/y": "two"})
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


# ---- parts of drawings -----------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=8), unique=True, max_size=8))
def test_anchors_differ(names):
    found = anchors("claim", names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z][\w-]*", each, re.ASCII) for each in found.values())


@given(st.floats(-1e307, 1e307) | st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_number_reads_back(value):
    text = number(value).replace("−", "-")
    if math.isfinite(value):
        digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
        text = re.sub(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$", lambda power: "1e" + power[1].translate(digits), text)
        assert float(text.replace(" × 1e", "e")) == pytest.approx(value, rel=0.006)  # three digits


NODES = [f"n{number}" for number in range(9)]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1]), max_size=14))
def test_arrows_go_to_the_right_and_nothing_overlaps(pairs):
    links = list(dict.fromkeys((NODES[source], NODES[target]) for source, target in pairs))
    layout = place(NODES, links)
    assert set(layout.nodes) == set(NODES)
    for source, target in links:
        columns = [layout.nodes[source].column, *(at.column for at in layout.routes[source, target])]
        columns.append(layout.nodes[target].column)
        assert columns == list(range(columns[0], columns[-1] + 1))
        assert len(columns) >= 2
    for one, other in itertools.combinations(layout.nodes.values(), 2):
        assert one.column != other.column or abs(one.row - other.row) > 0.99
    for node in layout.nodes.values():
        assert 0 <= node.column < layout.columns and 0.49 < node.row < layout.rows
        for at in itertools.chain.from_iterable(layout.routes.values()):
            assert at.column != node.column or abs(at.row - node.row) > 0.69  # half a node and half a bend


def test_a_cycle_is_drawn_all_the_same():
    layout = place(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")])
    assert len({(at.column, at.row) for at in layout.nodes.values()}) == 3


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_inside_and_few(low, width):
    found = ticks(low, low + width)
    assert 1 <= len(found) <= 5
    assert all(low - 1e-6 * width <= each <= low + 1.000001 * width for each in found)


@given(st.floats(-600, 600), st.floats(0.01, 1200))
def test_ticks_of_ratios_are_inside_and_few(low, width):
    high = min(low + width, 650.0)
    found = ratio_ticks(low, high)
    assert len(found) <= 8
    assert all(low - 0.01 <= math.log(each) <= high + 0.01 for each in found)


def test_an_axis_keeps_what_lies_beyond_inside():
    axis = Axis(0.0, 1.0, 100.0, 0.0)
    assert [axis(value) for value in (-1.0, 0.25, 7.0)] == [100.0, 75.0, 0.0]
