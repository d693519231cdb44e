"""What the reports say of hearings and growths: nothing lost, nothing that was not there, and it fits the terminal."""

import json
import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer, Rational, sympify
from sympy.abc import beta, s

from fsl_num.report.allocations import allocation_json, allocation_text
from fsl_num.report.claims import source_place
from fsl_num.report.grid import Grid
from fsl_num.report.growth import growth_json, growth_latex, growth_text
from fsl_num.report.table import table, table_json
from fsl_num.report.terminal import errata_text, failure_text, hearings_grid, summary, verification
from fsl_num.theorems.records import (
    DerivationRecord,
    Erratum,
    Hearing,
    MutantHearing,
    RegimeHearing,
    Verdict,
)

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
        {"power": 0.04, "log": 0.2},
    )
    derivation = DerivationRecord("I1 and I2", 5, 5 if passes else 4)
    return Hearing("thm:x", "A title", verdict, passes, (easy, edge), (derivation,), seconds, "the reason")


def test_a_row_shows_the_widest_constants_and_the_worst_resolution():
    (row,) = hearings_grid([hearing()]).rows
    assert row == ("thm:x", "SUPPORTED", "easy edge", "[0.25, 12]", "power 0.04, log 0.2", "2/2", "2.0")


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
    errata = (Erratum("err:x", "thm:x", 99, "log power", "(log D)^s", "D^-s", "the derivation " * 20),)
    text = verification([hearing(), hearing(passes=False)], errata, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "err:x, line 99 (log power)" in text
    assert "1 of 2 claims pass (1 SUPPORTED; 1 FAILED); 3 of 4 mutants refuted" in text
    assert "Errata of the paper (1)" in errata_text(errata, 80)
    assert summary([]) == "no claim was heard"


def test_a_number_that_is_not_finite_stays_readable_and_is_valid_json():
    one = RegimeHearing("hard", 1, False, (0.1, math.inf), math.nan, (), {})
    record = Hearing("thm:y", "t", Verdict.UNKNOWN, False, (one,), (), 0.1)
    assert "[0.1, inf]" in hearings_grid([record]).rows[0]
    assert json.loads(json.dumps(record.to_json(), allow_nan=False))["constants"] == [0.1, None]


# ---- growths and allocations -----------------------------------------------------------------------------------------


def growth(power, log_power=0):
    return SimpleNamespace(power=sympify(power), log_power=sympify(log_power))


def reach(lower, upper):
    return SimpleNamespace(lower=lower, upper=upper)


@pytest.mark.parametrize(
    ("value", "text", "latex"),
    [
        (growth(0), "1", "1"),
        (growth(1), "C", "C"),
        (growth(0, 1), "(log C)", r"(\log C)"),
        (growth(-s / (1 + s), s), "C^(-s/(s + 1)) (log C)^s", r"C^{- \frac{s}{s + 1}} (\log C)^{s}"),
        (growth(Rational(-1, 2)), "C^(-1/2)", r"C^{- \frac{1}{2}}"),
        (reach(None, None), "anything", r"\text{any}"),
        (reach(growth(2), None), "at least C^2", r"\gtrsim C^{2}"),
        (reach(None, growth(0)), "at most 1", r"\lesssim 1"),
        (reach(growth(0), growth(1)), "from 1 to C", r"\text{from } 1 \text{ to } C"),
    ],
)
def test_a_growth_reads_as_it_is_written(value, text, latex):
    assert growth_text(value, "C") == text
    assert growth_latex(value, "C") == latex


def test_a_growth_in_json_is_parsed_back_exactly():
    value = growth(-s * beta / (2 + s * beta), (s * beta - s) / (2 + s * beta))
    back = {name: sympify(text, locals={"s": s, "beta": beta}) for name, text in growth_json(value).items()}
    assert back == {"power": value.power, "log_power": value.log_power}
    assert growth_json(reach(None, growth(1))) == {"lower": None, "upper": {"power": "1", "log_power": "0"}}


def allocation(*regimes):
    return SimpleNamespace(schedule="wsd", budget="data", base="D", regimes=regimes)


def regime(name, condition, **quantities):
    return SimpleNamespace(name=name, condition=condition, quantities=quantities)


EASY = regime("easy", s > 1 - 1 / beta, excess_risk=growth(-s), decay_fraction=reach(growth(-1, 1), None))
HARD = regime("hard", s < 1 - 1 / beta, excess_risk=growth(Integer(-1)), peak_lr=growth(0))


def test_an_allocation_in_json_has_the_quantities_that_exist_in_order():
    record = allocation_json(allocation(EASY, HARD), (EASY,))
    assert record == {
        "schedule": "wsd",
        "budget": "data",
        "regimes": [
            {
                "name": "easy",
                "condition": "s > 1 - 1/beta",
                "quantities": {
                    "excess_risk": {"power": "-s", "log_power": "0"},
                    "decay_fraction": {"lower": {"power": "-1", "log_power": "1"}, "upper": None},
                },
            }
        ],
    }


def test_an_allocation_as_text_shows_every_regime_and_quantity():
    text = allocation_text(allocation(EASY, HARD), (EASY, HARD))
    title = "wsd schedule, data-optimal"
    for part in (title, "easy: s > 1 - 1/beta", "at least D^(-1) (log D)", "hard: s < 1 - 1/beta"):
        assert part in text


def test_a_quantity_without_a_name_is_not_dropped_silently():
    with pytest.raises(ValueError, match="temperature"):
        allocation_text(allocation(), (regime("easy", s > 0, temperature=growth(1)),))


def test_the_table_has_a_row_for_every_regime_in_every_format():
    allocations = [allocation(EASY, HARD), allocation(HARD)]
    assert [row["regime"] for row in table_json(allocations)["rows"]] == ["easy", "hard", "hard"]
    assert len(table(allocations, "text").splitlines()) == 2 + 3
    assert len(table(allocations, "markdown").splitlines()) == 2 + 3
    assert table(allocations, "latex").count(r"\\") == 1 + 3
    with pytest.raises(ValueError, match="'html'"):
        table(allocations, "html")


def test_the_place_of_a_function_is_found_through_wrappers():
    from functools import partial

    assert source_place(None) is None
    assert source_place(partial(growth, 1)) == source_place(growth)
    assert source_place(growth)["name"] == "growth"
