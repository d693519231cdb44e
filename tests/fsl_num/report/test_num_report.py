"""What the reports say of verdicts and growths: nothing lost, nothing that was not there, and it fits the terminal."""

import dataclasses
import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sympy import Rational, sympify

from fsl_num.claims.errata import errata
from fsl_num.claims.records import (
    DerivationRecord,
    Erratum,
    MutantOutcome,
    Outcome,
    PointOutcome,
    RegimeOutcome,
    Verdict,
)
from fsl_num.claims.registry import claim
from fsl_num.report.allocations import allocation_latex, allocation_text, order_range_json
from fsl_num.report.claims import card, card_json, labels_listing
from fsl_num.report.table import FORMATS, table_json
from fsl_num.report.tables import fields, latex_table, markdown_table, rendered, table
from fsl_num.report.verification import records_table, resolution_note, unresolved, verification
from fsl_sym.allocation import AllocationRegime, optimal_allocation
from fsl_sym.allocation import table as table_of_allocations
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.order import Order, OrderRange
from fsl_sym.symbols import C, beta, s

# ---- tables ----------------------------------------------------------------------------------------------------------

CELLS = st.text("abc xyz-|[]:", max_size=40).map(str.strip)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.integers(40, 120))
@example([("x" * 40, "y" * 39 + "z", "short")], 40)
def test_a_table_fits_and_loses_no_letter(rows, width):
    text = rendered(table(("one", "two", "three"), rows), width=width)
    assert max(map(len, text.splitlines())) <= width
    letters = sorted("".join(cell for row in rows for cell in row).replace(" ", ""))
    assert sorted("".join(text.splitlines()[2:]).replace(" ", "")) == letters


@given(st.lists(st.text("abc", min_size=1, max_size=10), min_size=3, max_size=9), st.integers(10, 60))
@example(["abcabcabca"] * 3, 20)
def test_short_words_are_never_broken(words, width):
    text = rendered(table(("one", "two", "three"), [(" ".join(words),) * 3]), width=width)
    assert set(words) <= set(text.split())


def test_a_table_refuses_a_short_row():
    with pytest.raises(ValueError, match="row 1 has 1 cells, but there are 2 headings"):
        table(("a", "b"), (("1", "2"), ("3",)))


def test_a_table_in_markdown_and_latex():
    assert markdown_table(("a", "b"), [("x|y", "1")], right=(1,)) == "| a | b |\n| --- | --: |\n| x\\|y | 1 |"
    assert r"x|y & 1 \\" in latex_table(("a", "b"), [("x|y", "1")])


def test_colours_are_only_where_they_are_wanted():
    parts = records_table([record()])
    assert "\x1b[" not in rendered(parts) and "\x1b[32m" in rendered(parts, coloured=True)
    assert rendered(fields([("a", "[red]b[/red]")])).split() == ["a", "[red]b[/red]"]


# ---- verdicts --------------------------------------------------------------------------------------------------------


def record(verdict=Verdict.SUPPORTED, passes=True, seconds=2.0):
    easy = RegimeOutcome("easy", 4, True, (0.25, 0.5), 0.01, (MutantOutcome("power + 0.05", True),), {"power": 0.01})
    edge = RegimeOutcome(
        "edge",
        4,
        passes,
        (0.3, 12.0),
        0.02,
        (MutantOutcome("no log", passes, "drift 0.1"),),
        {"power": 0.04, "log_power": 0.2},
    )
    derivation = DerivationRecord("I1 and I2", 5, 5 if passes else 4)
    return Outcome("thm:x", "A title", verdict, passes, (easy, edge), (derivation,), seconds, "the reason")


def screen(records, errata=(), previous=None, width=120, **options):
    return rendered(*verification(records, errata, previous or {}, **options), width=width)


def test_a_row_shows_the_widest_constants_and_the_worst_resolution():
    text = " ".join(rendered(records_table([record()]), width=200).split())
    assert "thm:x SUPPORTED easy edge [0.25, 12] power 0.04, log power 0.2 2/2 2.0" in text


@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_fails_is_marked_and_what_passes_is_not(verdict):
    passing, failing = (rendered(records_table([record(verdict, passes)])) for passes in (True, False))
    assert f"{verdict}, FAILED" in failing
    assert "FAILED" not in passing
    assert ("corrected" in passing) == (verdict is Verdict.REFUTED)
    assert ("what corrects them holds" in screen([record(verdict)])) == (verdict is Verdict.REFUTED)


def test_a_failure_names_every_objection():
    text = screen([record(passes=False)], whole=False)
    for words in (
        "thm:x: SUPPORTED. the reason",
        "derivation I1 and I2: 4 of 5 steps verified",
        "edge: does not hold, constants [0.3, 12]",
        "edge: the mutant 'no log' was not refuted. drift 0.1",
        'fsl show "thm:x"',
    ):
        assert words in text
    assert "easy:" not in text


def test_the_screen_stays_one_screen():
    texts = ("(log D)^s", "not so", "D^-s", "the derivation " * 20)
    errata = [Erratum(f"err:{k}", "thm:x", k, "typo", *texts) for k in range(99)]
    records = [dataclasses.replace(record(passes=False), claim_id=f"thm:{k}") for k in range(50)]
    previous = {outcome.claim_id: record(Verdict.PROVED) for outcome in records[:40]}
    text = screen(records, errata, previous, width=100)
    assert len(text.splitlines()) <= 48
    assert max(map(len, text.splitlines())) <= 100
    for words in (
        "0 of 50 claims pass",
        "and 42 more of these",
        "40 changed, 10 verified for the first time",
        "99 errata: 99 typos",
    ):
        assert words in text


def test_the_screen_names_the_erratum_and_the_sum():
    erratum = Erratum("err:x", "thm:x", 99, "typo", "(log D)^s", "not so", "D^-s", "the derivation")
    text = screen([record(), record(passes=False)], [erratum], notes=["a note"])
    for words in ("fsl errata err:x", "a note", "1 of 2 claims pass; 3 of 4 mutants refuted", "Not passing (1)"):
        assert words in text
    assert "no claim was checked" in screen([])


def test_what_was_found_before_is_compared():
    assert "run before" not in screen([record()])
    assert "No verdict differs from that of the run before." in screen([record()], previous={"thm:x": record()})
    moved = screen([record()], previous={"thm:x": record(Verdict.VACUOUS, False)})
    assert "1 changed, 0 verified for the first time" in moved and "thm:x: VACUOUS before, SUPPORTED now" in moved
    # whether a refuted claim passes is known only once its correction was checked, and is no change
    before = record(Verdict.REFUTED, False)
    assert "No verdict differs" in screen([record(Verdict.REFUTED)], previous={"thm:x": before})


def test_a_check_that_resolves_less_than_it_should_is_named():
    sharp = dataclasses.replace(record(), claim_id="thm:sharp", regimes=record().regimes[:1])
    assert unresolved([record(), sharp]) == {"thm:x": {"power": 0.04}}
    assert resolution_note([record(), sharp]).endswith("missed by thm:x (power 0.04)")
    assert resolution_note([sharp]).endswith("all checks reach it")
    assert unresolved([record(Verdict.REFUTED)]) == {}


def test_a_card_shows_role_probability_and_witnesses():
    place = PointOutcome("1/2", "4", True, (0.2, 0.4), None, "")
    found = dataclasses.replace(record(), regimes=(dataclasses.replace(record().regimes[0], points=(place,)),))
    subject = dataclasses.replace(
        claim("lemma:ke-power/crossover"), probability="at least 1 - exp(-0.03 M) over W"
    )
    text = rendered(card(subject, found), width=200)
    for words in (
        "stronger, strengthens lemma:ke-power/kernel-window",
        "at least 1 - exp(-0.03 M) over W",
        "s = 1/2, beta = 4, constants [0.2, 0.4]",
        "resolution power 0.01",
    ):
        assert words in text
    content = card_json(subject, found)
    assert (content["role"], content["strengthens"]) == ("stronger", "lemma:ke-power/kernel-window")
    assert content["probability"] == subject.probability


def test_a_card_names_the_errata_at_its_label_and_those_that_rest_on_it():
    for claim_id in ("thm: wsd", "lem:eig_ratio/corrected", "lemma:em-gap"):
        subject = claim(claim_id)
        near = [erratum for erratum in errata() if erratum.label == subject.label or claim_id in erratum.depends]
        told = {erratum.id: erratum.file for erratum in near}
        assert {entry["id"]: entry["file"] for entry in card_json(subject, None)["errata"]} == told
        shown = rendered(card(subject, None), width=80).splitlines()
        assert [line.split()[1] for line in shown if line.startswith("  erratum ")] == list(told.values())


def test_the_account_says_why_no_claim_covers_a_place():
    place = {"label": "eqn: x", "line": 9, "kind": "formula", "claims": [], "not_checkable": "a definition"}
    text = rendered(labels_listing([place, place | {"not_checkable": None}, place | {"claims": ["thm:x", "thm:y"]}]))
    for words in ("not checkable: a definition", "by no claim", "thm:x, thm:y"):
        assert words in text


def test_a_number_that_is_not_finite_stays_readable_and_is_valid_json():
    regime = RegimeOutcome("hard", 1, False, (0.1, math.inf), math.nan, (), {})
    found = Outcome("thm:y", "t", Verdict.UNKNOWN, False, (regime,), (), 0.1)
    assert "[0.1, inf]" in rendered(records_table([found]))
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["constants"] == [0.1, None]


# ---- orders and allocations ------------------------------------------------------------------------------------------


def point(power, log_power=0):
    return OrderRange(Order(power, log_power), Order(power, log_power))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (point(0), "1"),
        (point(1), "C"),
        (point(0, 1), "(log C)"),
        (point(-s / (1 + s), s), "C^(-s/(s + 1)) (log C)^s"),
        (point(Rational(-1, 2), s**2), "C^(-1/2) (log C)^(s^2)"),
        (OrderRange(None, None), "anything"),
        (OrderRange(Order(2), None), "at least C^2"),
        (OrderRange(None, Order(0)), "at most 1"),
        (OrderRange(Order(0), Order(1)), "from 1 to C"),
    ],
)
def test_an_order_reads_as_it_is_written(value, text):
    assert value.as_text(C) == text


def test_an_order_in_json_is_parsed_back_exactly():
    value = Order(-s * beta / (2 + s * beta), (s * beta - s) / (2 + s * beta))
    record = order_range_json(OrderRange(value, value))
    assert {name: sympify(text, {"s": s, "beta": beta}) for name, text in record.items()} == {
        "power": value.power,
        "log_power": value.log_power,
    }
    assert order_range_json(OrderRange(None, Order(1))) == {"lower": None, "upper": {"power": "1", "log_power": "0"}}


@pytest.fixture(
    scope="module", params=[(schedule, budget) for schedule in SCHEDULES for budget in BUDGETS], ids="-".join
)
def allocation(request):
    return optimal_allocation(*request.param)


def test_an_allocation_as_text_shows_every_regime_and_quantity(allocation):
    text = rendered(*allocation_text(allocation, allocation.regimes))
    assert text.startswith(f"{allocation.schedule} schedule, {allocation.budget}-optimal")
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith(("easy:", "edge:", "hard:"))] == [
        "easy",
        "edge",
        "hard",
    ]
    for name in ("excess risk", "effective peak learning rate", "model size", "data size"):
        assert text.count(f"\n{name} ") == 3
    assert text.count("\ndecay fraction ") == (3 if allocation.schedule == "wsd" else 0)


def test_an_allocation_as_latex_has_a_row_for_each(allocation):
    text = allocation_latex(allocation, allocation.regimes)
    assert text.count(r" \\") == 1 + 3 * (7 if allocation.schedule == "wsd" else 6)
    assert text.count("$") % 2 == 0
    assert text.count("{") == text.count("}")


def test_a_quantity_without_a_label_is_not_dropped_silently():
    regime = AllocationRegime("easy", s > 1, {"temperature": point(1)})
    with pytest.raises(ValueError, match="temperature"):
        allocation_text(optimal_allocation("wsd", "data"), (regime,))


def test_the_table_has_a_row_for_every_regime_in_every_format():
    rows = table_of_allocations()
    assert len(table_json(rows)["rows"]) == 18
    assert len(rendered(FORMATS["text"](rows)).splitlines()) == 2 + 18
    assert len(FORMATS["markdown"](rows).splitlines()) == 2 + 9
    assert FORMATS["latex"](rows).count(r" \\") == 1 + 9


def test_the_table_does_not_pair_different_regimes():
    (data, compute), *_ = table_of_allocations()
    turned = dataclasses.replace(compute, regimes=compute.regimes[::-1])
    with pytest.raises(ValueError, match="different regimes"):
        FORMATS["latex"]([(data, turned)])
