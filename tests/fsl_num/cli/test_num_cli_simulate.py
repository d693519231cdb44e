"""fsl simulate: what was asked is what the simulators return; what cannot be run is refused in one sentence."""

import socket
import sys

import numpy as np
import pytest
from typed import answer, refusal

from fsl_num.cli import main
from fsl_num.model import Model
from fsl_num.schedules import step_rates
from fsl_num.simulate.monte_carlo import simulate_sgd
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde import simulate_sde

MODEL = ["simulate", "--s", "1/2", "--beta", "2", "--model-size", "6", "--noise", "0.5"]
RATE = ["--schedule", "wsd", "--peak-lr", "0.2", "--steps", "50"]
EXACT = [*MODEL, *RATE, "--exact"]
SAMPLED = [*MODEL, *RATE, "--runs", "20"]
PROBLEM = Regression(Model(s=0.5, beta=2.0, size=6, noise=0.5))
RATES = step_rates("wsd", peak=0.2, steps=50)


def test_the_exact_risk_is_recorded_as_asked(capsys):
    found = answer([*EXACT, "--record", "20"], capsys)
    assert list(found) == ["step", "excess_risk", "standard_error", "method"]
    assert found == exact_risk(PROBLEM, RATES, every=20).as_dict()
    assert found["step"] == [0, 20, 40, 50] and found["method"] == "exact"
    # E(0) = (1/2) sum_j lambda_j theta_j^2 with lambda_j theta_j^2 = j^-(1 + s beta)
    assert found["excess_risk"][0] == pytest.approx(0.5 * sum(j**-2.0 for j in range(1, 7)))
    assert answer(EXACT, capsys)["step"] == [0, 50]


def test_infinitely_many_features_are_exact(capsys):
    found = answer([*EXACT, "--features", "inf"], capsys)
    unbounded = Regression(Model(s=0.5, beta=2.0, size=6, noise=0.5), features=float("inf"))
    assert found["excess_risk"] == exact_risk(unbounded, RATES).excess_risk.tolist()
    whole = answer([*EXACT, "--model-size", "inf"], capsys)
    # what the larger model learns more is less than what the first 6 features leave, sum_{j>6} j^-2/2
    assert 0 < found["excess_risk"][-1] - whole["excess_risk"][-1] < 0.5 * sum(j**-2.0 for j in range(7, 10**5))


@pytest.mark.parametrize(
    ("options", "name", "parameters"),
    [
        (["constant"], "constant", {}),
        (["exp-decay", "--final-lr", "0.001"], "exp-decay", {"final": 0.001}),
        (["wsd", "--final-lr", "0.01", "--decay-fraction", "1/2"], "wsd", {"final": 0.01, "decay_fraction": 0.5}),
        (["power-decay", "--power", "2"], "power-decay", {"power": 2.0}),
        (["cosine", "--final-lr", "0"], "cosine", {"final": 0.0}),
        (["linear"], "linear", {}),
        (["cyclic", "--final-lr", "0.05", "--cycles", "3"], "cyclic", {"final": 0.05, "cycles": 3}),
        (["8-1-1"], "8-1-1", {}),
        (["1-sqrt", "--warmup", "10", "--floor-lr", "0.01"], "1-sqrt", {"warmup": 10, "floor": 0.01}),
        (
            ["multi-step", "--milestones", "0.5", "--factors", "0.1"],
            "multi-step",
            {"milestones": [0.5], "factors": [0.1]},
        ),
    ],
)
def test_every_schedule_takes_its_parameters(options, name, parameters, capsys):
    found = answer([*MODEL, "--peak-lr", "0.2", "--steps", "40", "--exact", "--schedule", *options], capsys)
    rates = step_rates(name, peak=0.2, steps=40, **parameters)
    assert found["excess_risk"] == exact_risk(PROBLEM, rates).excess_risk.tolist()


@pytest.mark.parametrize("family", ["rademacher", "uniform"])
def test_families_and_batches_reach_the_recursion(family, capsys):
    found = answer([*EXACT, "--family", family, "--batch-size", "3"], capsys)
    problem = Regression(Model(s=0.5, beta=2.0, size=6, noise=0.5), family=family)
    assert found["excess_risk"] == exact_risk(problem, RATES, 3).excess_risk.tolist()
    assert found["excess_risk"][-1] != answer(EXACT, capsys)["excess_risk"][-1]


def test_sampled_runs_are_those_of_the_simulator(capsys):
    found = answer([*SAMPLED, "--seed", "4", "--record", "25", "--batch-size", "2"], capsys)
    curve = simulate_sgd(PROBLEM, RATES, 2, runs=20, seed=4, every=25)
    assert found == curve.as_dict()
    assert found["standard_error"][-1] > 0
    assert answer(SAMPLED, capsys) == answer([*SAMPLED, "--seed", "0"], capsys)


def test_a_sampled_risk_has_the_digits_of_its_error(capsys):
    words = ["simulate", "--s", "1/2", "--beta", "2", "--model-size", "20", "--noise", "1", "--schedule", "constant",
             "--peak-lr", "0.1", "--steps", "100"]  # fmt: skip
    assert main([*words, "--runs", "20"]) == 0
    *_, row = (line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("100"))
    assert float(row[2]) > 0.0 and 0.1 <= float(row[2]) * 10 ** (len(row[1].split(".")[1]) - 2) < 1.0
    assert main([*words, "--exact"]) == 0
    *_, row = (line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("100"))
    assert len(row[1]) > 9


@pytest.mark.parametrize("time", ["physical", "intrinsic"])
def test_both_differential_equations_are_sampled(time, capsys):
    found = answer([*SAMPLED, "--sde", time, "--seed", "2"], capsys)
    assert found == simulate_sde(PROBLEM, RATES, time=time, runs=20, seed=2).as_dict()
    assert time in found["method"]


def test_processes_give_the_same_numbers(capsys):
    assert answer([*SAMPLED, "--executor", "processes"], capsys) == answer(SAMPLED, capsys)


def test_a_checkpoint_is_kept_and_taken_up(tmp_path, capsys):
    path = tmp_path / "runs.state"
    arguments = [*SAMPLED, "--checkpoint", str(path)]
    first = answer(arguments, capsys)
    assert path.exists() and answer(arguments, capsys) == first
    # the state of other arguments is not taken for theirs
    assert "checkpoint" in refusal([*arguments, "--seed", "9"], capsys)


def test_table_csv_and_picture(tmp_path, capsys):
    table, picture = tmp_path / "risk.csv", tmp_path / "risk.svg"
    assert main([*EXACT, "--record", "1", "--csv", str(table), "--plot", str(picture)]) == 0
    shown = capsys.readouterr().out
    assert "24 of 51 recorded steps shown" in shown and "method exact" in shown
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    assert head == "step,excess_risk,standard_error,lr" and len(rows) == 51
    assert float(rows[-1].split(",")[1]) == exact_risk(PROBLEM, RATES).excess_risk[-1]
    assert picture.read_bytes().startswith(b"<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["risk.csv", "risk.svg"]


def test_a_picture_records_by_itself(tmp_path, capsys):
    picture = tmp_path / "risk.png"
    found = answer([*EXACT, "--steps", "1000", "--plot", str(picture)], capsys)
    assert found["step"] == list(range(0, 1001, 5)) and picture.read_bytes().startswith(b"\x89PNG")
    found = answer([*EXACT, "--steps", "30", "--plot", str(picture)], capsys)
    assert np.diff(found["step"]).max() == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([*MODEL, *RATE], "by --exact or by --runs R, by exactly one"),
        ([*SAMPLED, "--exact"], "by exactly one"),
        ([*EXACT, "--sde", "physical"], "--exact has no use for --sde"),
        ([*EXACT, "--seed", "1", "--executor", "processes"], "no use for --seed and --executor"),
        ([*EXACT, "--checkpoint", "state"], "no use for --checkpoint"),
        ([*SAMPLED, "--sde", "physical", "--checkpoint", "state"], "--sde has no use for --checkpoint"),
        ([*SAMPLED, "--model-size", "inf"], "give --exact for infinitely many"),
        ([*SAMPLED, "--features", "inf"], "give --exact for infinitely many"),
        ([*SAMPLED, "--executor", "threads"], "must be processes or dask://HOST:PORT"),
        ([*SAMPLED, "--runs", "1"], "whole number of at least 2"),
        ([*EXACT, "--cycles", "2"], "--schedule wsd has no use for --cycles"),
        ([*EXACT, "--power", "2"], "has no use for --power"),
        ([*EXACT, "--schedule", "8-1-1", "--final-lr", "0.1"], "8-1-1 has no use for --final-lr"),
        ([*EXACT, "--final-lr", "0.3"], "--final-lr must be at most peak"),
        ([*EXACT, "--peak-lr", "-0.1"], "must be above 0, not '-0.1'"),
        ([*EXACT, "--peak-lr", "3", "--steps", "1000"], "training diverges"),
        ([*EXACT, "--steps", "1e-3"], "whole number of at least 1"),
        ([*EXACT, "--steps", "1000000000"], "--steps must be at most 67,108,864"),
        ([*EXACT, "--record", "51"], "more than the 50 steps"),
        ([*EXACT, "--record", "0"], "whole number of at least 1"),
        ([*EXACT, "--beta", "1"], "beta must lie in (1, inf)"),
        ([*EXACT, "--s", "0"], "s must be positive"),
        ([*EXACT, "--noise", "-1"], "noise must be at least 0"),
        ([*EXACT, "--features", "5"], "--features must be at least --model-size"),
        ([*EXACT, "--batch-size", "0"], "whole number of at least 1"),
        ([*EXACT, "--family", "cauchy"], "unknown family of features 'cauchy'"),
        ([*EXACT, "--schedule", "step"], "is none of constant"),
        ([*EXACT, "--csv", "nowhere/a.csv"], "--csv cannot write to"),
        ([*EXACT, "--plot", "a.doc"], "--plot must name a file that ends in"),
        ([*EXACT, "--csv", "a.png", "--plot", "a.png"], "which --csv writes"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(arguments, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert text in refusal(arguments, capsys)
    assert not list(tmp_path.iterdir())


def test_a_dask_scheduler_that_does_not_answer_is_told(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # a port that nobody listens on
        where = f"dask://127.0.0.1:{taken.getsockname()[1]}"
        assert "no Dask scheduler answers" in refusal([*SAMPLED, "--executor", where], capsys)
    assert "must be processes or dask://HOST:PORT" in refusal([*SAMPLED, "--executor", "dask://nowhere"], capsys)


def test_without_dask_the_extra_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "install the extra `dask`" in refusal([*SAMPLED, "--executor", "dask://localhost:1"], capsys)
