"""``fsl design``: from a saved fit to a schedule, its JSON, its files, and what it refuses."""

import json
from functools import cache

import numpy as np
import pytest
from curves_runs import PEAK, WARMUP, noisy_fit, run
from typed import answer, refusal

from fsl_num.cli import main

STEPS = 1500


@cache
def fits():
    """A fit with draws, and one of a second law without, as JSON."""
    return noisy_fit().to_json(), noisy_fit("multi-power", intervals=False).to_json()


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with both fits, and the log of a run under way."""
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("fit.json", "second.json"), fits(), strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    curve = run("constant", noise=5e-4, size=900)
    rows = zip(curve.step.tolist(), curve.plan.rates[curve.step - 1].tolist(), curve.loss.tolist(), strict=True)
    (tmp_path / "run.csv").write_text(
        "step,lr,loss\n" + "".join(f"{step},{PEAK},{loss!r}\n" for step, _, loss in rows), encoding="utf-8"
    )
    return tmp_path


DESIGN = ["design", "--fit", "fit.json", "--steps", str(STEPS)]
FRESH = [*DESIGN, "--warmup", str(WARMUP)]
NEXT = ["next-run", "--fit", "fit.json", "--predict", "wsd", "--peak-lr", str(PEAK), "--steps", str(STEPS)]


def test_a_design_as_json_and_in_files(here, capsys):
    pytest.importorskip("matplotlib")
    outputs = ["--out", "schedule.csv", "--plot", "design.png", "--second-fit", "second.json"]
    found = answer([*FRESH, *outputs], capsys)
    assert (found["steps"], found["peak_lr"]) == (STEPS, PEAK)
    assert 0.0 < found["final_lr"] < 0.2 * PEAK and 0.0 < found["stable_fraction"] < 1.0
    assert found["interval"][0] < found["predicted_loss"] < found["interval"][1]
    assert abs(found["kkt_residual"]) < 1e-9 and 0.0 <= found["gap"] < 1e-4
    assert found["second_law"] == "multi-power" and found["second_law_loss"] > 0.0
    for baseline in found["baselines"].values():
        assert (
            baseline["regret"] == pytest.approx(baseline["loss"] - found["predicted_loss"], abs=1e-12)
            and baseline["regret"] > 0.0
        )
    table = np.loadtxt("schedule.csv", delimiter=",", skiprows=1)
    assert table[:, 0].tolist() == list(range(STEPS)) and table[-1, 1] == found["final_lr"]
    assert (here / "design.png").read_bytes().startswith(b"\x89PNG")
    again = answer(["predict", "--fit", "fit.json", "--schedule-file", "schedule.csv", "--warmup", str(WARMUP)], capsys)
    assert again["final"] == pytest.approx(found["predicted_loss"], abs=1e-6)  # memory by modes


def test_the_answer_stands_first(here, capsys):
    assert main(FRESH) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{STEPS} steps: ") and "predicted final loss" in shown.splitlines()[1]
    assert "cosine to 10 %" in shown and "multi-power" in shown
    assert main([*FRESH, "--family", "linear"]) == 0
    shown = capsys.readouterr().out
    assert "of the family linear: decay_fraction" in shown
    assert main([*FRESH, "--steps", "20000", "--family", "cosine"]) == 0
    assert " down to 0\n" in capsys.readouterr().out  # less than a millionth of the peak


def test_a_run_under_way_goes_on(here, capsys):
    words = ["--log", "run.csv", "--warmup", str(WARMUP), "--out", "schedule.csv"]
    late = answer([*DESIGN, *words], capsys)
    rates = np.loadtxt("schedule.csv", delimiter=",", skiprows=1)[:, 1]
    assert (rates[WARMUP:875] == PEAK).all() and rates[-1] < 0.2 * PEAK
    free = answer([*DESIGN, *words, "--from-step", "300", "--family", "free", "--peak-lr", str(PEAK)], capsys)
    assert free["predicted_loss"] <= late["predicted_loss"] + 1e-9


def test_floor_peak_and_draws(here, capsys):
    floor = answer([*FRESH, "--floor-lr", "2e-4"], capsys)
    assert floor["final_lr"] == 2e-4 and any("binds" in note for note in floor["notes"])
    assert answer([*FRESH, "--min-lr", "2e-4"], capsys) == floor  # as it was spelled once
    peak = answer([*FRESH, "--peak-lr", "free"], capsys)
    assert peak["predicted_loss"] <= answer(FRESH, capsys)["predicted_loss"] + 1e-9
    assert "Best in the mean over the draws" in " ".join(answer([*FRESH, "--over-draws"], capsys)["notes"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--floor-lr", "0.01"], "--floor-lr must be at most the peak, 0.001"),
        (["--warmup", "1500"], "--warmup must be less than the steps, 1500"),
        (["--steps", "0"], "at least 1"),
        (["--steps", "99999999999"], "GiB of memory"),
        (["--peak-lr", "high"], "must be a number"),
        (["--family", "zigzag"], "is none of non-increasing, free, wsd"),
        (["--from-step", "10"], "--log names the file of that run"),
        (["--log", "run.csv", "--steps", "500"], "steps must exceed the"),
        (["--fit", "run.csv"], "--fit 'run.csv': this is no saved fit"),
        (["--second-fit", "missing.json"], "--second-fit cannot read 'missing.json'"),
        (["--out", "fit.json"], "--out would replace 'fit.json'"),
        (["--level", "1"], "--level must be above 0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_no_schedule_meets_is_refused(words, said, here, capsys):
    assert said in refusal([*DESIGN, *words], capsys)


def test_a_fit_without_draws_has_no_intervals(here, capsys):
    (here / "bare.json").write_text(noisy_fit(intervals=False).to_json(), encoding="utf-8")
    found = answer(["design", "--steps", str(STEPS), "--fit", "bare.json"], capsys)
    assert found["peak_lr"] == PEAK and found["second_law"] == "multi-power"
    assert found["interval"] is None and json.dumps(found).count('"interval": null') == 1 + len(found["baselines"])


THEORY = ["design", "--s", "1/2", "--beta", "2", "--noise", "1"]


def test_a_design_in_the_theory(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = answer([*THEORY, "--data", "1e6", "--out", "gamma.csv"], capsys)
    assert found["decay_shape"].startswith("power 2.") and all(
        baseline["ratio"] > 1.0 for baseline in found["baselines"].values()
    )
    table = np.loadtxt("gamma.csv", delimiter=",", skiprows=1)
    assert table[:, 0].sum() == pytest.approx(1e6) and table[:, 1].max() == found["peak_gamma"]
    assert main([*THEORY, "--data", "1e6", "--model-size", "100"]) == 0
    assert "the largest allowed" in capsys.readouterr().out


@pytest.mark.parametrize("budget", ["data", "compute"])
def test_a_budget_is_named_in_one_option_too(budget, capsys):
    words = ["design", "--s", "1/2", "--beta", "2"]  # the noise is 1 where nothing is said
    short = answer([*words, "--budget", budget, "1e3"], capsys)
    assert short == answer([*THEORY, f"--{budget}", "1e3"], capsys) and short[budget] == 1e3


@pytest.mark.slow
def test_the_volterra_equation_has_an_optimum_of_its_own(capsys):
    words = [*THEORY, "--budget", "data", "1e4", "--volterra"]
    found = answer(words, capsys)["volterra"]
    assert found["kkt_residual"] < 1e-6 and 0.9 < found["excess_risk"] / found["of_design"] < 0.97
    assert main(words) == 0
    assert f"the best rates there {found['excess_risk']:.5g}" in " ".join(capsys.readouterr().out.split())


def test_a_family_and_a_mean_of_the_weights_in_the_theory(capsys):
    words = [*THEORY, "--data", "1e3"]
    free = answer([*words, "--family", "free"], capsys)
    found = answer([*words, "--family", "linear", "--with-average"], capsys)
    assert found["free_excess_risk"] == free["excess_risk"] < found["excess_risk"]
    assert found["with_average"]["excess_risk"] < min(found["average"]["excess_risk"], free["excess_risk"])
    assert main([*words, "--family", "linear", "--with-average"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of the family linear: decay_fraction" in said and "Schedule and mean chosen together: gamma" in said
    assert f"{found['excess_risk'] / free['excess_risk']:.4f} times the excess risk of the best gamma of all" in said


def test_a_design_as_batch_sizes_is_written_and_said(here, capsys):
    words = [*THEORY, "--data", "2000", "--batches-at", "0.5"]
    found = answer([*words, "--out", "batches.csv"], capsys)
    table = np.loadtxt("batches.csv", delimiter=",", skiprows=1)
    assert table[:, 2].tolist() == found["batch_sizes"] and table[:, 2].sum() == 2000
    assert set(table[:, 1]) == {found["lr"]} and found["peak_gamma"] <= 0.5
    assert main(words) == 0
    said = capsys.readouterr().out
    assert f"grows to {max(found['batch_sizes']):g}" in said and "excess risk by the Volterra equation" in said


def test_a_compute_budget_chooses_the_model_size(here, capsys):
    pytest.importorskip("matplotlib")
    words = [*THEORY, "--compute", "1e5"]
    found = answer([*words, "--plot", "gamma.png"], capsys)
    assert found["model_size"] * found["data"] == pytest.approx(1e5)
    assert found["exponents"]["model_size"] == pytest.approx(1 / 3)
    assert (here / "gamma.png").read_bytes().startswith(b"\x89PNG")
    chosen = answer([*words, "--model-size", "10", "200"], capsys)
    assert chosen["model_size"] in (10, 200) and chosen["excess_risk"] > found["excess_risk"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"compute 100000: {found['model_size']} features") and "C^0.333" in said


def test_a_design_as_batch_sizes_under_a_schedule(here, capsys):
    words = [*THEORY, "--data", "10000", "--gamma", "0.5", "--batches-at", "cosine", "--peak-lr", "1.5"]
    found = answer([*words, "--floor-lr", "0.5", "--out", "batches.csv"], capsys)
    table = np.loadtxt("batches.csv", delimiter=",", skiprows=1)
    assert table[:, 1].tolist() == found["rates"] and table[:, 2].tolist() == found["batch_sizes"]
    assert found["lr"] == max(found["rates"]) and table[:, 2].sum() == 10000
    assert main([*words, "--floor-lr", "0.5"]) == 0
    assert "at learning rates from 0.5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["design"], "either --fit, or the theory"),
        ([*THEORY], "the theory needs a budget, --data or --compute"),
        ([*THEORY, "--data", "1e6", "--compute", "1e6"], "--compute is not allowed with --data"),
        ([*THEORY, "--data", "1e6", "--model-size", "10", "20"], "one size with --data"),
        ([*THEORY, "--compute", "1e3", "--model-size", "10000"], "of 10000 features it leaves 0.1 samples"),
        ([*THEORY, "--compute", "1e3", "--gamma", "1.3"], "below 2/tr(H) = 1.21585"),
        ([*THEORY, "--data", "1e4", "--batches-at", "cosine"], "needs --peak-lr, its largest rate"),
        ([*THEORY, "--data", "1e4", "--batches-at", "0"], "--batches-at must be positive, got 0"),
        ([*THEORY, "--data", "1e4", "--batches-at", "cosine", "--peak-lr", "-1"], "--peak-lr must be positive, got -1"),
        ([*THEORY, "--data", "1e300"], "no design is found for data=1e+300 and noise=1"),
        ([*THEORY, "--data", "1e5", "--noise", "1e20"], "ask for fewer samples, or less noise"),
        ([*THEORY, "--data", "1e4", "--batches-at", "cosine", "--peak-lr", "1.5"], "below one sample"),
        ([*THEORY, "--data", "1e4", "--batches-at", "sawtooth"], "'sawtooth' is none of constant"),
        ([*THEORY, "--data", "1e6", "--fit", "fit.json"], "--s belongs to a design in the theory, without --fit"),
        ([*FRESH, "--data", "1e9"], "--steps says how long: the tokens or samples over the batch"),
        ([*FRESH, "--batch-size", "512"], "--batch-size: this fit knows no batch sizes"),
        ([*FRESH, "--model-size", "1e6"], "--model-size: this fit has no term for the size of a model"),
        ([*NEXT, "--model-size", "1e6"], "--model-size: this fit has no term for the size of a model"),
        (["plan", "--fit", "fit.json", "--data", "1e4", "--model-size", "1e6"], "no term for the size of a model"),
        ([*THEORY, "--data", "1e6", "--gamma", "2"], "below 2/tr(H) = 1.21585"),
        ([*THEORY, "--data", "1e6", "--gamma", "0.5", "--batches-at", "1e-6"], "design again with gamma at most that"),
        ([*THEORY, "--data", "1e6", "--batches-at", "2"], "below 2 over the largest eigenvalue, 2, got 2"),
        (["design", "--fit", "fit.json"], "--fit needs --steps"),
        (["design", "--s", "1", "--budget", "data", "10"], "the theory needs --beta too"),
        ([*THEORY, "--budget", "time", "10"], "'time' is not one of 'data', 'compute'"),
        ([*THEORY, "--budget", "data", "10", "--data", "10"], "--data is not allowed with --budget"),
        ([*THEORY, "--data", "1e4", "--steps", "100"], "--steps has no use without --fit"),
        ([*THEORY, "--data", "1e4", "--floor-lr", "0.1"], "--floor-lr has no use without --fit"),
        ([*THEORY, "--data", "1e4", "--peak-lr", "0.1", "--batches-at", "0.5"], "--peak-lr has no use without --fit"),
        ([*THEORY, "--data", "1e4", "--export", "torch"], "--export has no use without --fit"),
        ([*THEORY, "--data", "1e4", "--level", "0.9"], "--level has no use without --fit"),
        ([*THEORY, "--data", "1e4", "--batch-size", "8"], "--batch-size has no use without --fit"),
        ([*THEORY, "--data", "1e4", "--tokens-per-step", "8"], "--tokens-per-step has no use without --fit"),
        ([*FRESH, "--gamma", "0.1"], "--gamma has no use with --fit"),
        ([*FRESH, "--first-step", "100"], "--first-step has no use without --log"),
        ([*FRESH, "--restarts", "refuse"], "--restarts has no use without --log"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_half_a_request_is_refused(words, said, here, capsys):
    assert said in refusal(words, capsys)


def test_a_design_in_the_words_of_a_framework(here, capsys):
    found = answer([*FRESH, "--export", "torch", "--out", "schedule.py"], capsys)
    names = {}
    exec((here / "schedule.py").read_text(encoding="utf-8"), names)
    rates = answer(FRESH, capsys)
    assert names["learning_rate"](STEPS - 1) == pytest.approx(rates["final_lr"], abs=1e-4 * PEAK)
    assert found["export"].strip() == (here / "schedule.py").read_text(encoding="utf-8").strip()
    assert main([*FRESH, "--export", "torch"]) == 0  # as typed before > schedule.py
    printed = capsys.readouterr()
    assert printed.out == (here / "schedule.py").read_text(encoding="utf-8") and "predicted final loss" in printed.err
    assert "both need standard output" in refusal([*FRESH, "--export", "torch", "--plot", "-"], capsys)
    assert "closest" in refusal([*FRESH, "--export", "megatron"], capsys)
    for framework in ("megatron", "torchtitan", "olmo"):
        at_once = ["design", "--fit", "fit.json", "--steps", str(STEPS), "--family", "linear"]  # each warms up its way
        assert answer([*at_once, "--export", framework], capsys)["export"]


@pytest.mark.parametrize("peak", ["1e5", "1e-12"])
def test_a_peak_of_which_no_run_says_anything_is_refused(here, peak, capsys):
    assert "times away from those of the runs fitted" in refusal([*FRESH, "--peak-lr", peak], capsys)
    target = ["--predict", "1-sqrt", "--peak-lr", peak, "--steps", "1000"]
    assert "of the runs fitted" in refusal(["next-run", "--fit", "fit.json", *target], capsys)
