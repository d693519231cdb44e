"""The parts of the page: words lose nothing, formulas are typeset, graphs and axes keep their order."""

import itertools
import math
import re
import unicodedata
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.report.html.axes import Axis, ratio_ticks, ticks
from fsl_num.report.html.elements import Html, anchors, element, number
from fsl_num.report.html.formula import formula
from fsl_num.report.html.layers import place
from fsl_num.report.html.prose import NAMES, Prose
from fsl_num.theorems.errata import errata
from fsl_num.theorems.registry import claims


def plain(html):
    """What a reader sees, without tags."""
    return unescape(re.sub(r"<[^>]+>", "", html))


# ---- formulas --------------------------------------------------------------------------------------------------------


def test_every_formula_of_the_claims_is_typeset():
    assert [each.id for each in claims() if 'class="formula source"' in formula(each.formula)] == []


def test_the_source_of_a_formula_stays_with_it():
    for each in claims():
        kept = "".join(
            unescape(text) for text in re.findall(r"<annotation[^>]*>(.*?)</annotation>", formula(each.formula))
        )
        wanted = re.sub(r"\\\\|\\q?quad|\\(?=\s)|\s", "", each.formula)
        assert re.sub(r"\\(?=\s)|\s", "", kept).replace("\\qquad", "").replace("\\quad", "") == wanted, each.id


@pytest.mark.parametrize(
    ("latex", "seen"),
    [
        (r"\mathcal K \mathbf H \mathbb E \mathcal E", "𝒦𝐇𝔼ℰ"),
        (r"a \sim b", "a∼b"),
        (r"\mathrm{tr}(A)", "tr(A)"),
        (r"x \preceq y", "x⪯y"),
        (r"\Big\{a\Big\}", "{a}"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "a=bc=d"),
    ],
)
def test_letters_and_signs_are_those_of_the_source(latex, seen):
    shown = formula(latex)
    assert plain(re.sub("<annotation.*?</annotation>", "", shown)) == seen
    assert "mathvariant" not in shown  # browsers no longer know it


@pytest.mark.parametrize(
    ("latex", "rows", "pieces"), [(r"a \\ b", 2, 2), (r"a, \quad b", 1, 2), (r"\{a, \quad b\}", 1, 1)]
)
def test_a_formula_breaks_only_outside_brackets(latex, rows, pieces):
    assert formula(latex).count('class="row"') == rows
    assert formula(latex).count("<math") == pieces


def test_a_long_formula_may_be_broken_before_its_relations():
    side = "".join("x" * 24)
    assert formula(f"{side} = {side}").count("<math") == 2
    assert formula(f"({side} = {side})").count("<math") == 1
    assert formula(f"{side} + {side} = {side}").count("<math") == 3
    assert formula("x + y = z").count("<math") == 1


@pytest.mark.parametrize("latex", [r"\nosuch{x}", r"\frac{1", "<b>", "", "}"])
def test_what_cannot_be_typeset_is_shown_or_typeset_but_never_raises(latex):
    shown = formula(latex)
    assert "<b>" not in shown
    assert shown.startswith("<div")


# ---- words -----------------------------------------------------------------------------------------------------------


def signs(text):
    """The letters and digits of a text, those that no typesetting may lose, add or reorder."""
    return "".join(letter for letter in text if letter.isalnum())


def in_greek(word):
    """A word, or the letter that it names."""
    name = word.removeprefix("d") if word not in {"delta", "d"} else word
    case = "CAPITAL" if name[:1].isupper() else "SMALL"
    letters = {"lambda": "LAMDA", "Lambda": "LAMDA"}
    if word in {"oo", "infinity", "int"}:
        return ""
    if name not in NAMES:
        return word
    try:
        letter = unicodedata.lookup(f"GREEK {case} LETTER {letters.get(name, name.upper())}")
    except KeyError:
        return word
    return ("d" if name != word else "") + letter


def spelled(text):
    """A text with the names of letters and the powers of ten written as they are shown."""
    wanted = re.sub(r"(?<![\w.])1e[+]?(-?)0*(\d+)(?![\w.])", r"10 \1\2", text)  # powers of ten are written out
    wanted = re.sub(r"(?<=\d)e[+]?(-?)0*(\d+)(?![\w.])", r" 10 \1\2", wanted)
    return re.sub("[A-Za-z]+", lambda word: in_greek(word[0]), re.sub(r"sum(?=_)", "", wanted))


def test_no_letter_of_a_claim_or_erratum_is_lost():
    texts = [each.wording for each in claims()]
    texts += [text for each in errata() for text in (each.as_printed, each.corrected, each.evidence)]
    assert len(texts) > 100
    assert [text for text in texts if signs(plain(Prose()(text))) != signs(spelled(text))] == []


@given(st.text(st.sampled_from("ab Me_^-+(){}[]<>=~*'12.,:/&\"\\β"), max_size=40))
def test_any_text_stays_well_formed(text):
    shown = Prose({"ab": "x"})(text)
    opened = []
    for slash, tag in re.findall(r"<(/?)(\w+)[^>]*>", shown):
        if slash:
            assert opened.pop() == tag
        else:
            opened.append(tag)
    assert not opened
    assert "&" not in re.sub(r"&(?:amp|lt|gt|quot|#x27);", "", shown)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("lambda_j^(s-1)", "λ<sub><i>j</i></sub><sup><i>s</i>−1</sup>"),
        ("D^-s", "<i>D</i><sup>−<i>s</i></sup>"),
        ("rho_- and rho_+", "ρ<sub>−</sub> and ρ<sub>+</sub>"),
        ("phi^_j", "φ\u0302<sub><i>j</i></sub>"),
        ("one-pass, N - M", "one-pass, <i>N</i> − <i>M</i>"),
        ("the paper's v'", "the paper’s <i>v</i>′"),
        ("1e-06, a case, i.e. that", "10<sup>−6</sup>, a case, i.e. that"),
        ("lem:eig_ratio of peak_lr", "<code>lem:eig_ratio</code> of <code>peak_lr</code>"),
        ("the 8-1-1 schedule", "the 8-1-1 schedule"),
        ("a <= 1", "<i>a</i>\u00a0≤ 1"),
    ],
)
def test_plain_formulas_are_set(text, html):
    assert Prose()(text) == html


def test_names_are_linked_whole_and_only_whole():
    prose = Prose({"thm:x": "one", "thm:x/y": "two", "a-b": "three"})
    targets = re.findall(r'href="#(\w+)"', prose("thm:x/y, thm:x. a-b a-b-c xa-b thm:xy (thm:x)"))
    assert targets == ["two", "one", "three", "one"]


def test_sentences_begin_with_a_capital_unless_with_a_formula():
    prose = Prose()
    assert plain(prose.sentence("the kernel")) == "The kernel"
    assert plain(prose.sentence("a bound")) == "A bound"
    assert plain(prose.sentence("log N grows")) == "log\u00a0N grows"
    assert plain(prose.sentence("e_M(t) falls")) == "eM(t) falls"


# ---- elements, graphs, axes ------------------------------------------------------------------------------------------


def test_texts_are_escaped_and_html_is_not():
    assert element("p", "<&>\"'", Html("<b>"), title='"') == '<p title="&quot;">&lt;&amp;&gt;&quot;&#x27;<b></p>'


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
