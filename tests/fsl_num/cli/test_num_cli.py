"""The fsl command: exit statuses, JSON, and one sentence for what cannot be used."""

import json
import shlex
import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy
import pytest
from cli_outcomes import ONE, TWO, Run, record
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational, sympify

import fsl_num.__main__
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import all_claims, claim
from fsl_num.cli import COMMANDS, EXAMPLES, main
from fsl_num.cli.inputs import InputError, exact_rational, parameter_point
from fsl_sym.allocation import optimal_allocation
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.symbols import beta, s


@pytest.fixture
def run(monkeypatch):
    return Run(monkeypatch)


# ---- without arguments -----------------------------------------------------------------------------------------------


def test_the_command_alone_tells_what_it_can_do(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown and text in shown for name, (_, text) in COMMANDS.items())
    assert all(f"\n    {line}\n" in shown for _, line in EXAMPLES)


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_work_as_they_are_typed(line, run, capsys):
    program, *words = shlex.split(line)
    assert program == "fsl" and main(words) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json(name, capsys):
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert main([name, "-h"]) == 0 and capsys.readouterr().out == shown
    assert shown.startswith(f"Usage: fsl {name}") and "--json" in shown and "--no-color" in shown
    assert ("--plot" in shown) == ("extra plot" in " ".join(shown.split())) or name == "figure"


@pytest.mark.parametrize("words", [[], ["fit"]])
def test_help_may_be_asked_for_in_front(words, capsys):
    assert main(["help", *words]) == 0
    shown = capsys.readouterr().out
    assert main([*words, "--help"]) == 0 and capsys.readouterr().out == shown
    assert main(["help", "fitt"]) == 2 and "choose fit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("ne", ["next-run"]), ("schedule --ex", ["--export"]), ("fi", ["figure", "fit"]), ("--vers", ["--version"])],
)
def test_tab_completes_commands_and_options(typed, offered, monkeypatch, capsys):
    *before, last = typed.split()
    for name, value in {
        "_FSL_COMPLETE": "bash_complete",
        "COMP_WORDS": f"fsl {typed}",
        "COMP_CWORD": str(1 + len(before)),
    }.items():
        monkeypatch.setenv(name, value)
    assert main([]) == 0
    assert [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()] == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_learns_how_to_complete(shell, monkeypatch, capsys):
    monkeypatch.setenv("_FSL_COMPLETE", f"{shell}_source")
    assert main([]) == 0 and f"_FSL_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_a_command_that_is_nearly_one_is_named(capsys):
    assert main(["verfy"]) == 2
    assert "there is no command 'verfy': choose verify" in capsys.readouterr().err


# ---- verify ----------------------------------------------------------------------------------------------------------


def test_a_claim_that_is_named_gets_a_row(run, capsys):
    assert main(["verify", ONE, "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    for text in (ONE, "SUPPORTED", "easy", "[0.5, 1.5]", "power 0.02", "2/2", "1 of 1 claims pass"):
        assert text in shown
    assert run.asked == [{"ids": (ONE,), "profile": "quick", "seed": 0, "executor": None}]


def test_all_claims_end_with_one_screen(run, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FSL_CACHE", str(tmp_path / "kept"))  # of no run before
    assert main(["verify", "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    count = len(all_claims())
    assert len(shown.splitlines()) <= 24
    assert f"{count} of {count} claims pass" in shown and "fsl errata" in shown
    assert main(["verify", "--jobs", "1", "--table"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > count


def test_a_claim_is_verified_once_however_it_is_spelled(run):
    assert main(["verify", TWO, "thm:wsd", "--profile", "full", "--seed", "3", "--jobs", "1"]) == 0
    assert run.asked == [{"ids": (TWO,), "profile": "full", "seed": 3, "executor": None}]


@pytest.mark.parametrize("words", [["--deep"], ["--profile", "deep"]], ids=" ".join)
def test_the_deep_profile_has_two_spellings(words, run, capsys):
    assert main(["verify", ONE, *words, "--jobs", "1", "--no-cache"]) == 0
    assert [call["profile"] for call in run.asked] == ["deep"]
    assert "all checks reach it" in capsys.readouterr().out


def test_verify_answers_1_if_one_claim_fails_and_says_why(run, capsys):
    run.outcome[TWO] = record(TWO, Verdict.VACUOUS, passes=False, refuted=False)
    assert main(["verify", ONE, TWO, "--jobs", "1"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{TWO}: VACUOUS. it was measured" in shown
    assert "the mutant 'exponent + 0.05' was not refuted" in shown
    assert "1 of 2 claims pass" in shown
    assert f'fsl show "{TWO}"' in shown
    assert main(["verify", ONE, "--jobs", "1"]) == 0


def test_verify_of_nothing_does_not_pass(run, capsys):
    run.outcome.clear()
    assert main(["verify", "--jobs", "1"]) == 1
    assert "no claim was checked" in capsys.readouterr().out


def test_verify_writes_only_json_to_stdout(run, capsys):
    printed = []
    for words in (["--json"], ["--report", "-"]):
        assert main(["verify", ONE, TWO, *words, "--jobs", "1"]) == 0
        printed.append(capsys.readouterr().out)
    content, again = map(json.loads, printed)
    assert content | {"date": ""} == again | {"date": ""}
    keys = {"outcomes", "errata", "profile", "places", "seed", "passed", "from_cache", "date", "versions"}
    assert set(content) == keys
    assert content["versions"]["numpy"] == numpy.__version__ and content["date"].startswith("20")
    assert [outcome["claim_id"] for outcome in content["outcomes"]] == [ONE, TWO]
    assert content["outcomes"][0]["mutants_refuted"] == 2
    assert content["passed"] is True
    assert all({ONE, TWO} & set(erratum["depends"]) for erratum in content["errata"])


def test_verify_writes_json_to_a_file_and_leaves_nothing_beside_it(run, capsys, tmp_path):
    run.outcome[TWO] = record(TWO, Verdict.REFUTED, passes=False)
    target = tmp_path / "report.json"
    assert main(["verify", ONE, TWO, "--report", str(target), "--jobs", "1"]) == 1
    assert json.loads(target.read_text(encoding="utf-8"))["passed"] is False
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert ONE in capsys.readouterr().out


def test_a_changed_verdict_is_named_in_the_next_run(run, capsys, tmp_path):
    from fsl_num.claims.cache import Cache

    words = ["verify", ONE, TWO, "--jobs", "1", "--cache", str(tmp_path)]
    cache = Cache(tmp_path)
    for claim_id in (ONE, TWO):
        cache.put(claim(claim_id), "quick", 0, run.outcome[claim_id])
    assert main(words) == 0
    assert "No verdict differs from that of the run before." in capsys.readouterr().out
    run.outcome[TWO] = record(TWO, Verdict.VACUOUS, passes=False)
    assert main(words) == 1
    assert f"{TWO}: SUPPORTED before, VACUOUS, FAILED now" in capsys.readouterr().out


# ---- bad input -------------------------------------------------------------------------------------------------------

EXPONENTS = ["exponents", "--schedule", "wsd", "--budget", "data"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["frobnicate"], "frobnicate"),
        (["verify", "--profile", "slow"], "slow"),
        (["verify", "--jobs", "0"], "at least 1"),
        (["verify", "--jobs", "two"], "two"),
        (["verify", "--executor", "threads"], "must be processes or dask://HOST:PORT"),
        (["verify", "--executor", "dask://somewhere:80", "--jobs", "2"], "--jobs"),
        (["verify", "--cache", ""], "--cache"),
        (["verify", "--cache", "here", "--no-cache"], "not allowed with --cache"),
        (["verify", "--seed", "-1"], "--seed"),
        (["verify", "--seed", "1.5"], "1.5"),
        (["verify", "thm: wds"], "did you mean"),
        (["verify", "--report", "no-such-folder/report.json"], "no-such-folder"),
        (["verify", "--report", "."], "directory"),
        (["verify", "--report", ""], "--report"),
        (["show", "thm: wds"], "did you mean"),
        (["show", "sharp", "kernel"], "`fsl list sharp kernel` finds lemma:ke-power/kernel-sharp"),
        (["list", "zqx"], "no claim says 'zqx'"),
        (["show", TWO, "--json", "--mutants"], "--mutants is not allowed with --json"),
        (["table", "--format", "html"], "html"),
        (["exponents", "--schedule", "sine", "--budget", "data"], "sine"),
        (["exponents", "--schedule", "wsd", "--budget", "time"], "time"),
        (["exponents", "--schedule", "wsd"], "--budget"),
        ([*EXPONENTS, "--s", "1/2"], "--beta"),
        ([*EXPONENTS, "--beta", "4"], "--s"),
        ([*EXPONENTS, "--s", "0", "--beta", "4"], "greater than 0"),
        ([*EXPONENTS, "--s=-1/2", "--beta", "4"], "greater than 0"),
        ([*EXPONENTS, "--s", "1/2", "--beta", "1"], "greater than 1"),
        ([*EXPONENTS, "--s", "1/0", "--beta", "4"], "divides by zero"),
        ([*EXPONENTS, "--s", "half", "--beta", "4"], "half"),
        ([*EXPONENTS, "--s", "nan", "--beta", "4"], "nan"),
        ([*EXPONENTS, "--s", "-1/2", "--beta", "4"], "greater than 0, not -1/2"),
        ([*EXPONENTS, "--s", "1", "--beta", "-3"], "greater than 1, not -3"),
        ([*EXPONENTS, "--s", "1/2/3", "--beta", "4"], "1/2/3"),
        ([*EXPONENTS, "--s", "", "--beta", "4"], "--s"),
        ([*EXPONENTS, "--json", "--latex"], "--json"),
        ([*EXPONENTS, "--s", "0,5", "--beta", "4"], "not '0,5': write 0.5"),
        ([*EXPONENTS, "--s", "50%", "--beta", "4"], "not '50%': write 0.5"),
        (["verify", "--jobs", "2k"], "not '2k': write 2e3"),
        (["exponents", "--sched", "wsd"], "there is no option --sched: did you mean --schedule?"),
        (["predict", "--fit", "fit.json", "--lr", "1"], "did you mean --peak-lr or --final-lr or --floor-lr?"),
        (["plan", "--steps", "9"], "there is no option --steps (see"),
        (["predict", "--fit", "fit.json", "wsd"], "'wsd' is one argument too many: is it --schedule wsd?"),
        (["errata", "zqx"], "choose one of "),
    ],
    ids=" ".join,
)
def test_bad_input_gets_one_sentence_and_status_2(words, said, run, capsys):
    assert main(words) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("fsl: ")
    assert output.err.count("\n") == 1
    assert said in output.err
    assert not run.asked


def test_bad_input_leaves_no_traceback_in_a_process():
    command = [sys.executable, "-m", "fsl_num", *EXPONENTS, "--s", "tenth", "--beta", "2"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "fsl: --s must be a number, for example 1/2 or 0.5, not 'tenth'\n"


@given(st.fractions())
def test_a_fraction_is_read_exactly(value):
    assert exact_rational(str(value), "--s") == value


@pytest.mark.parametrize(("s", "beta"), [("0.5", "4"), ("1/2", "4e0")])
def test_a_point_in_decimals_is_that_in_fractions(s, beta, capsys):
    printed = []
    for point in ((s, beta), ("1/2", "4")):
        assert main([*EXPONENTS, "--s", point[0], "--beta", point[1]]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != ""


@given(st.floats(-1e300, 1e300))
def test_a_decimal_is_taken_as_typed(value):
    assert exact_rational(repr(value), "--s") == Fraction(repr(value))


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1/0", "1e400", ""])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(InputError, match="--s must be a number"):
        exact_rational(text, "--s")


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
    (same,) = [regime for regime in general["regimes"] if parsed(regime["condition"], **values) == True]  # noqa: E712
    names = ["excess_risk", "peak_lr", "model_size", "data_size", *(["decay_fraction"] if schedule == "wsd" else [])]
    names += ["steps", "batch_size"]
    assert list(regime["quantities"]) == names
    assert regime["quantities"] == {name: at_point(quantity, **values) for name, quantity in same["quantities"].items()}


def test_exponents_as_text_latex_and_derived(capsys):
    assert "C^(-2/5)" in output_of(capsys, *WSD_COMPUTE, "--s", "1/2", "--beta", "4")
    assert r"C^{- \frac{2}{5}}" in output_of(capsys, *WSD_COMPUTE, "--s", "1/2", "--beta", "4", "--latex")
    shortest = ["exponents", "--schedule", "constant", "--budget", "data"]
    known = optimal_allocation("constant", "data").derivations
    plain = output_of(capsys, *shortest)
    derived = output_of(capsys, *shortest, "--derive")
    assert derived.startswith(plain) and all(str(derivation) in derived for derivation in known)
    assert derived.rstrip().endswith("steps verified: every step holds")
    records = json.loads(output_of(capsys, *shortest, "--derive", "--json"))["derivations"]
    assert all(record["verified"] and all(step["verified"] for step in record["steps"]) for record in records)
    assert [len(record["steps"]) for record in records] == [len(derivation) for derivation in known]
    assert r"\begin{aligned}" in output_of(capsys, *shortest, "--derive", "--latex")


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


def test_the_module_runs_as_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fsl", "table"])
    assert fsl_num.__main__.main() == 0 and "wsd" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "fsl_num.cli", SimpleNamespace(main=interrupted))
    assert fsl_num.__main__.main() == 130 and capsys.readouterr().err == "fsl: interrupted\n"


def interrupted():
    raise KeyboardInterrupt


def test_colours_are_for_terminals(capsys):
    assert main(["table"]) == 0
    assert "\x1b" not in capsys.readouterr().out
