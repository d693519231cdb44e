"""What the reports say of hearings and growths: nothing lost, nothing that was not there, and it fits the terminal."""

import dataclasses
import json
import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational, sympify

from fsl_num.report.allocations import allocation_latex, allocation_text
from fsl_num.report.claims import card, card_json, generic_test_place, labels_listing, source_place
from fsl_num.report.grid import Grid
from fsl_num.report.orders import order_range_json
from fsl_num.report.table import table, table_json
from fsl_num.report.terminal import (
    blunt,
    errata_text,
    failure_text,
    hearings_grid,
    resolution_note,
    summary,
    verification,
)
from fsl_num.theorems.records import (
    DerivationRecord,
    Erratum,
    Hearing,
    MutantHearing,
    PointHearing,
    RegimeHearing,
    Verdict,
)
from fsl_num.theorems.registry import claim
from fsl_sym.allocation import AllocationRegime, optimal_allocation
from fsl_sym.allocation import table as table_of_allocations
from fsl_sym.exponents.solve import OrderRange
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.order import Order
from fsl_sym.symbols import C, beta, s

# ---- grids -----------------------------------------------------------------------------------------------------------

CELLS = st.text("abc xyz-|", max_size=40).map(str.strip)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.integers(40, 120))
def test_a_grid_fits_and_loses_no_word(rows, width):
    grid = Grid(("one", "two", "three"), tuple(rows), flexible=(0, 1, 2))
    text = grid.text(width)
    assert max(map(len, text.splitlines())) <= width
    letters = sorted("".join(cell for row in rows for cell in row).replace(" ", ""))
    assert sorted("".join(text.splitlines()[2:]).replace(" ", "")) == letters


def test_a_grid_keeps_its_columns_apart_where_it_wraps():
    text = Grid(("a", "b"), (("one two three four", "5"),), right=(1,), flexible=(0,)).text(14)
    assert text.splitlines() == ["a            b", "───────────  ─", "one two      5", "three four"]


def test_a_grid_breaks_a_word_only_if_nothing_else_fits():
    grid = Grid(("a", "b"), (("unbreakable", "can be broken"),), flexible=(0, 1))
    assert grid.text(20).splitlines()[2:] == ["unbreakable  can be", "             broken"]
    assert grid.text(18).splitlines()[2:] == ["unbreakabl  can be", "e           broken"]


def test_a_grid_refuses_a_short_row():
    with pytest.raises(ValueError, match="row 1 has 1 cells, but there are 2 headings"):
        Grid(("a", "b"), (("1", "2"), ("3",)))


def test_a_grid_in_markdown_and_latex():
    grid = Grid(("a", "b"), (("x|y", "1"),), right=(1,))
    assert grid.markdown() == "| a | b |\n| --- | --: |\n| x\\|y | 1 |"
    assert grid.latex().splitlines()[0] == r"\begin{tabular}{lr}"
    assert r"x|y & 1 \\" in grid.latex()


# ---- hearings --------------------------------------------------------------------------------------------------------


def hearing(verdict=Verdict.SUPPORTED, passes=True, seconds=2.0):
    easy = RegimeHearing("easy", 4, True, (0.25, 0.5), 0.01, (MutantHearing("power + 0.05", True),), {"power": 0.01})
    edge = RegimeHearing(
        "edge",
        4,
        passes,
        (0.3, 12.0),
        0.02,
        (MutantHearing("no log", passes, "drift 0.1"),),
        {"power": 0.04, "log_power": 0.2},
    )
    derivation = DerivationRecord("I1 and I2", 5, 5 if passes else 4)
    return Hearing("thm:x", "A title", verdict, passes, (easy, edge), (derivation,), seconds, "the reason")


def test_a_row_shows_the_widest_constants_and_the_worst_resolution():
    (row,) = hearings_grid([hearing()]).rows
    assert row == ("thm:x", "SUPPORTED", "easy edge", "[0.25, 12]", "power 0.04, log power 0.2", "2/2", "2.0")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_fails_is_marked_and_what_passes_is_not(verdict):
    passing, failing = (hearings_grid([hearing(verdict, passes)]).rows[0][1] for passes in (True, False))
    assert failing == f"{verdict}, FAILED"
    assert "FAILED" not in passing
    assert ("corrected" in passing) == (verdict is Verdict.REFUTED)


def test_a_failure_names_every_objection():
    text = failure_text(hearing(passes=False), 200)
    assert "the reason" in text
    assert "derivation I1 and I2: 4 of 5 steps verified" in text
    assert "edge: does not hold, constants [0.3, 12]" in text
    assert "edge: the mutant 'no log' was not refuted. drift 0.1" in text
    assert "easy:" not in text


def test_the_report_has_failures_errata_and_the_sum():
    errata = (Erratum("err:x", "thm:x", 99, "typo", "(log D)^s", "D^-s", "the derivation " * 20),)
    text = verification([hearing(), hearing(passes=False)], errata, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "err:x, line 99 (typo)" in text
    assert "1 of 2 claims pass (1 SUPPORTED; 1 FAILED); 3 of 4 mutants refuted" in text
    assert "Errata of the paper (1)" in errata_text(errata, 80)
    assert summary([]) == "no claim was heard"


def test_a_check_that_resolves_less_than_it_should_is_named():
    sharp = dataclasses.replace(hearing(), claim_id="thm:sharp", regimes=hearing().regimes[:1])
    assert blunt([hearing(), sharp]) == {"thm:x": {"power": 0.04}}
    assert resolution_note([hearing(), sharp]).endswith("missed by thm:x (power 0.04)")
    assert resolution_note([sharp]).endswith("all checks reach it")
    assert blunt([hearing(Verdict.REFUTED)]) == {}
    note = resolution_note([hearing()])
    assert note in verification([hearing()], (), 200, [note])


def test_a_card_shows_role_probability_and_witnesses():
    place = PointHearing("1/2", "4", True, (0.2, 0.4), None, "")
    heard = dataclasses.replace(hearing(), regimes=(dataclasses.replace(hearing().regimes[0], points=(place,)),))
    subject = dataclasses.replace(
        claim("lemma:ke-power/crossover"), probability="with probability 1 - exp(-M), 100 draws"
    )
    text = card(subject, heard, 200)
    for words in (
        "stronger, strengthens lemma:ke-power/kernel-window",
        "with probability 1 - exp(-M), 100 draws",
        "s = 1/2, beta = 4, constants [0.2, 0.4]",
        "resolution power 0.01",
    ):
        assert words in text
    told = card_json(subject, heard)
    assert (told["role"], told["strengthens"]) == ("stronger", "lemma:ke-power/kernel-window")
    assert told["probability"] == subject.probability


def test_the_account_says_why_nobody_hears_a_place():
    place = {"label": "eqn: x", "line": 9, "kind": "formula", "claims": [], "not_checkable": "a definition"}
    text = labels_listing([place, place | {"not_checkable": None}, place | {"claims": ["thm:x", "thm:y"]}], 120)
    for words in ("not checkable: a definition", "by no claim", "thm:x, thm:y"):
        assert words in text


def test_a_number_that_is_not_finite_stays_readable_and_is_valid_json():
    one = RegimeHearing("hard", 1, False, (0.1, math.inf), math.nan, (), {})
    record = Hearing("thm:y", "t", Verdict.UNKNOWN, False, (one,), (), 0.1)
    assert "[0.1, inf]" in hearings_grid([record]).rows[0]
    assert json.loads(json.dumps(record.to_json(), allow_nan=False))["constants"] == [0.1, None]


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
    text = allocation_text(allocation, allocation.regimes)
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
    assert len(table(rows, "text").splitlines()) == 2 + 18
    assert len(table(rows, "markdown").splitlines()) == 2 + 9
    assert table(rows, "latex").count(r" \\") == 1 + 9
    with pytest.raises(ValueError, match="'html'"):
        table(rows, "html")


def test_the_table_does_not_pair_different_regimes():
    (data, compute), *_ = table_of_allocations()
    turned = dataclasses.replace(compute, regimes=compute.regimes[::-1])
    with pytest.raises(ValueError, match="different regimes"):
        table([(data, turned)], "latex")


def test_the_place_of_a_function_is_found_through_wrappers():
    assert source_place(None) is None
    assert source_place(partial(point, 1)) == source_place(point)
    assert source_place(point)["name"] == "point"


def test_the_generic_test_is_found_where_the_tests_are(tmp_path):
    nowhere = {"name": None, "file": "tests/test_theorems.py", "line": None}
    assert generic_test_place((tmp_path,)) == nowhere
    (tmp_path / "tests").mkdir()
    source = "def test_other(): ...\n\n\n\n@pytest.mark.parametrize('claim', claims())\ndef test_claim(claim): ...\n"
    (tmp_path / "tests" / "test_theorems.py").write_text(source, encoding="utf-8")
    assert generic_test_place((tmp_path / "missing", tmp_path)) == nowhere | {"name": "test_claim", "line": 6}
