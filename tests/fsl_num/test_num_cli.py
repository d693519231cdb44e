"""The fsl command: exit statuses, JSON, and one sentence for what cannot be used.

The failure paths meet a small court made here, for the real one has nothing to fail.
"""

import json
import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational, sympify

import fsl_num.__main__
import fsl_num.theorems
from fsl_num.cli import exponents, main
from fsl_num.cli.inputs import InputError, exact_rational, parameter_point
from fsl_num.theorems.records import Erratum, Hearing, MutantHearing, RegimeHearing, Verdict
from fsl_sym.allocation import optimal_allocation
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.symbols import beta, s


def hearing(claim_id, verdict=Verdict.SUPPORTED, passes=True, refuted=True):
    mutants = (MutantHearing("exponent + 0.05", refuted), MutantHearing("log power + 0.25", True))
    regime = RegimeHearing("easy", 5, passes, (0.5, 1.5), 0.01, mutants, {"power": 0.02})
    return Hearing(claim_id, "A title", verdict, passes, (regime,), (), 1.25, message="it was heard")


def claim(claim_id):
    return SimpleNamespace(
        id=claim_id, label=claim_id, line=7, title="A title", wording="words", formula="x^2", regimes=("easy",),
        hypotheses=("beta > 1",), depends=(), corrected_by=None, derive=None, measure=hearing, role="printed",
        strengthens=None, probability="", family="",
    )  # fmt: skip


@pytest.fixture
def small_court(monkeypatch):
    """Replace the court by one that knows two claims; its ``hearings`` are what it will say."""
    import_module("fsl_num.theorems.cache")  # which asks the registry for more than the one here knows
    court = SimpleNamespace(hearings={"thm:one": hearing("thm:one"), "thm:two": hearing("thm:two")}, calls=[])

    def hear_all(ids, *, profile, seed, executor, progress, cache=None):
        court.calls.append({"ids": tuple(ids), "profile": profile, "seed": seed, "executor": executor})
        heard = tuple(court.hearings[claim_id] for claim_id in ids)
        for one in heard:
            if progress is not None:
                progress(one)
        return heard

    def find(claim_id):
        if claim_id not in court.hearings:
            raise ValueError(f"there is no claim {claim_id!r}; the closest are thm:one")
        return claim(claim_id)

    mistake = Erratum("err:1", "thm:two", 12, "typo", "D^-1", "D^-2", "measured")
    court.hear_all = hear_all
    modules = {
        "court": court,
        "registry": SimpleNamespace(claim=find, claims=lambda: tuple(claim(name) for name in court.hearings)),
        "errata": SimpleNamespace(errata=lambda: (mistake,)),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, f"fsl_num.theorems.{name}", module)
        monkeypatch.setattr(fsl_num.theorems, name, module, raising=False)
    return court


# ---- verify ----------------------------------------------------------------------------------------------------------


def test_verify_shows_the_table_and_the_errata(small_court, capsys):
    assert main(["verify", "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    for text in ("thm:one", "SUPPORTED", "easy", "[0.5, 1.5]", "power 0.02", "2/2", "err:1", "2 of 2 claims pass"):
        assert text in shown
    assert small_court.calls == [{"ids": ("thm:one", "thm:two"), "profile": "quick", "seed": 0, "executor": None}]


def test_verify_hears_only_the_claims_named_once_each(small_court):
    assert main(["verify", "thm:two", "thm:two", "--profile", "full", "--seed", "3", "--jobs", "1"]) == 0
    assert small_court.calls == [{"ids": ("thm:two",), "profile": "full", "seed": 3, "executor": None}]


@pytest.mark.parametrize("words", [["--deep"], ["--profile", "deep"]], ids=" ".join)
def test_the_deep_profile_has_two_spellings(words, small_court, capsys):
    assert main(["verify", "thm:one", *words, "--jobs", "1", "--no-cache"]) == 0
    assert [call["profile"] for call in small_court.calls] == ["deep"]
    assert "all checks reach it" in capsys.readouterr().out


def test_verify_answers_1_if_one_claim_fails(small_court, capsys):
    small_court.hearings["thm:two"] = hearing("thm:two", Verdict.VACUOUS, passes=False, refuted=False)
    assert main(["verify", "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert "FAILED thm:two: VACUOUS. it was heard" in shown
    assert "the mutant 'exponent + 0.05' was not refuted" in shown
    assert "1 of 2 claims pass" in shown
    assert main(["verify", "thm:one", "--jobs", "1"]) == 0


def test_verify_of_nothing_does_not_pass(small_court, capsys):
    small_court.hearings.clear()
    assert main(["verify", "--jobs", "1"]) == 1
    assert "no claim was heard" in capsys.readouterr().out


def test_verify_writes_only_json_to_stdout(small_court, capsys):
    assert main(["verify", "--json", "-", "--jobs", "1"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert set(record) == {"hearings", "errata", "profile", "seed", "passed", "from_cache"}
    assert [one["claim_id"] for one in record["hearings"]] == ["thm:one", "thm:two"]
    assert record["hearings"][0]["mutants_refuted"] == 2
    assert record["passed"] is True
    assert record["errata"][0]["corrected"] == "D^-2"


def test_verify_writes_json_to_a_file_and_leaves_nothing_beside_it(small_court, capsys, tmp_path):
    small_court.hearings["thm:two"] = hearing("thm:two", Verdict.REFUTED, passes=False)
    target = tmp_path / "report.json"
    assert main(["verify", "--json", str(target), "--jobs", "1"]) == 1
    assert json.loads(target.read_text(encoding="utf-8"))["passed"] is False
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert "thm:one" in capsys.readouterr().out


# ---- bad input -------------------------------------------------------------------------------------------------------

EXPONENTS = ["exponents", "--schedule", "wsd", "--budget", "data"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "COMMAND"),
        (["frobnicate"], "frobnicate"),
        (["verify", "--profile", "slow"], "slow"),
        (["verify", "--jobs", "0"], "at least 1"),
        (["verify", "--jobs", "two"], "two"),
        (["verify", "--executor", "threads"], "must be processes or dask://HOST:PORT"),
        (["verify", "--executor", "dask://somewhere:80", "--jobs", "2"], "--jobs"),
        (["verify", "--cache", ""], "--cache"),
        (["verify", "--cache", "here", "--no-cache"], "--no-cache"),
        (["verify", "--seed", "-1"], "--seed"),
        (["verify", "--seed", "1.5"], "1.5"),
        (["verify", "thm:unheard-of"], "thm:one"),
        (["verify", "--json", "no-such-folder/report.json"], "no-such-folder"),
        (["verify", "--json", "."], "directory"),
        (["verify", "--json", ""], "--json"),
        (["show", "thm:unheard-of"], "thm:one"),
        (["table", "--format", "html"], "html"),
        (["exponents", "--schedule", "cosine", "--budget", "data"], "cosine"),
        (["exponents", "--schedule", "wsd", "--budget", "time"], "time"),
        (["exponents", "--schedule", "wsd"], "--budget"),
        ([*EXPONENTS, "--s", "1/2"], "--beta"),
        ([*EXPONENTS, "--beta", "4"], "--s"),
        ([*EXPONENTS, "--s", "0", "--beta", "4"], "greater than 0"),
        ([*EXPONENTS, "--s=-1/2", "--beta", "4"], "greater than 0"),
        ([*EXPONENTS, "--s", "1/2", "--beta", "1"], "greater than 1"),
        ([*EXPONENTS, "--s", "0.5", "--beta", "4"], "write 1/2"),
        ([*EXPONENTS, "--s", "1/2", "--beta", "4e0"], "write 4"),
        ([*EXPONENTS, "--s", "1/0", "--beta", "4"], "divides by zero"),
        ([*EXPONENTS, "--s", "half", "--beta", "4"], "half"),
        ([*EXPONENTS, "--s", "nan", "--beta", "4"], "nan"),
        ([*EXPONENTS, "--s", "-1/2", "--beta", "4"], "greater than 0, not -1/2"),
        ([*EXPONENTS, "--s", "1", "--beta", "-3"], "greater than 1, not -3"),
        ([*EXPONENTS, "--s", "1/2/3", "--beta", "4"], "1/2/3"),
        ([*EXPONENTS, "--s", "", "--beta", "4"], "--s"),
        ([*EXPONENTS, "--json", "--latex"], "--json"),
    ],
    ids=" ".join,
)
def test_bad_input_gets_one_sentence_and_status_2(words, said, small_court, capsys):
    assert main(words) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("fsl: ")
    assert output.err.count("\n") == 1
    assert said in output.err
    assert not small_court.calls


def test_bad_input_leaves_no_traceback_in_a_process():
    command = [sys.executable, "-m", "fsl_num", *EXPONENTS, "--s", "0.1", "--beta", "2"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "fsl: --s must be exact, an integer or a fraction p/q, not '0.1': write 1/10\n"


@given(st.fractions())
def test_a_fraction_is_read_exactly(value):
    assert exact_rational(str(value), "--s") == value


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_float_is_never_taken(value):
    with pytest.raises(InputError, match="must be exact"):
        exact_rational(repr(value), "--s")


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        value = exact_rational(text, "--s")
    except InputError as error:
        assert str(error)
    else:
        assert exact_rational(str(value), "--s") == value


def test_no_point_is_no_point():
    assert parameter_point(None, None) is None


# ---- list and show ---------------------------------------------------------------------------------------------------


def test_list_names_every_claim(small_court, capsys):
    assert main(["list"]) == 0
    assert "thm:two" in capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == ["thm:one", "thm:two"]


def test_show_says_where_the_check_lives_and_hears_it(small_court, capsys):
    assert main(["show", "thm:one", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    path, line = shown["check"]["file"], shown["check"]["line"]
    assert path == "tests/fsl_num/test_num_cli.py"
    with open(__file__, encoding="utf-8") as stream:
        assert stream.readlines()[line - 1].startswith("def hearing(")
    assert shown["hearing"]["verdict"] == "SUPPORTED"
    assert shown["derivation"] is None


def test_show_answers_1_for_a_claim_that_fails_unless_it_is_not_heard(small_court, capsys):
    small_court.hearings["thm:one"] = hearing("thm:one", Verdict.UNKNOWN, passes=False)
    assert main(["show", "thm:one"]) == 1
    assert "UNKNOWN (FAILED)" in capsys.readouterr().out
    assert main(["show", "thm:one", "--no-verdict"]) == 0
    assert "UNKNOWN" not in capsys.readouterr().out


# ---- exponents and the table -----------------------------------------------------------------------------------------

ALL = [(schedule, budget) for schedule in SCHEDULES for budget in BUDGETS]


def output_of(capsys, *words):
    assert main(words) == 0
    return capsys.readouterr().out


def parsed(text, **values):
    return sympify(text, {"s": s, "beta": beta}).subs({s: values["s"], beta: values["beta"]})


def at_point(quantity, **values):
    """A quantity of the general answer with numbers put in, in the JSON of the answer at the point."""
    if "lower" in quantity:
        return {end: order and at_point(order, **values) for end, order in quantity.items()}
    return {name: str(parsed(text, **values)) for name, text in quantity.items()}


def test_the_words_of_the_command_are_those_of_the_theory():
    assert exponents.SCHEDULES == SCHEDULES
    assert exponents.BUDGETS == tuple(BUDGETS)


@pytest.mark.parametrize(("schedule", "budget"), ALL)
@pytest.mark.parametrize(("where", "point"), [("easy", ("2", "3/2")), ("edge", ("3/4", "4")), ("hard", ("1/2", "4"))])
def test_exponents_at_a_point_are_the_general_ones_with_numbers(schedule, budget, where, point, capsys):
    words = ("exponents", "--schedule", schedule, "--budget", budget, "--json")
    general = json.loads(output_of(capsys, *words))
    assert (general["schedule"], general["budget"]) == (schedule, budget)
    assert [regime["name"] for regime in general["regimes"]] == ["easy", "edge", "hard"]
    here = json.loads(output_of(capsys, *words, "--s", point[0], "--beta", point[1]))
    (regime,) = here["regimes"]
    assert regime["name"] == where
    values = {"s": Rational(point[0]), "beta": Rational(point[1])}
    (same,) = [one for one in general["regimes"] if parsed(one["condition"], **values) == True]  # noqa: E712
    names = ["excess_risk", "peak_lr", "model_size", "data_size", *(["decay_fraction"] if schedule == "wsd" else [])]
    names += ["steps", "batch_size"]
    assert list(regime["quantities"]) == names
    assert regime["quantities"] == {name: at_point(quantity, **values) for name, quantity in same["quantities"].items()}


def test_exponents_as_text_latex_and_derived(capsys):
    assert "C^(-2/5)" in output_of(capsys, *WSD_COMPUTE, "--s", "1/2", "--beta", "4")
    assert r"C^{- \frac{2}{5}}" in output_of(capsys, *WSD_COMPUTE, "--s", "1/2", "--beta", "4", "--latex")
    plain = output_of(capsys, *WSD_COMPUTE)
    derived = output_of(capsys, *WSD_COMPUTE, "--derive")
    assert derived.startswith(plain)
    assert str(optimal_allocation("wsd", "compute").derivation) in derived
    assert derived.rstrip().endswith("steps verified: every step holds")
    record = json.loads(output_of(capsys, *WSD_COMPUTE, "--derive", "--json"))["derivation"]
    assert record["verified"] and all(step["verified"] for step in record["steps"])
    assert len(record["steps"]) == len(optimal_allocation("wsd", "compute").derivation)
    assert r"\begin{aligned}" in output_of(capsys, *WSD_COMPUTE, "--derive", "--latex")


WSD_COMPUTE = ("exponents", "--schedule", "wsd", "--budget", "compute")


def test_table_agrees_with_exponents(capsys):
    rows = json.loads(output_of(capsys, "table", "--json"))["rows"]
    assert len(rows) == 3 * len(ALL)
    general = json.loads(output_of(capsys, *WSD_COMPUTE, "--json"))
    for regime in general["regimes"]:
        (row,) = [r for r in rows if (r["schedule"], r["budget"], r["regime"]) == ("wsd", "compute", regime["name"])]
        assert row["excess_risk"] == regime["quantities"]["excess_risk"]
    assert output_of(capsys, "table").startswith("schedule")
    assert output_of(capsys, "table", "--format", "markdown").startswith("| schedule")
    assert output_of(capsys, "table", "--format", "latex").startswith(r"\begin{tabular}")


def test_the_module_runs_as_the_command():
    assert fsl_num.__main__.main is main


def test_help_is_no_failure(capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["exponents", "--help"])
    assert exit_.value.code == 0
    assert "--schedule" in capsys.readouterr().out
