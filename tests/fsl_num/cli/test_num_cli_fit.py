"""``fsl fit``, ``fsl predict`` and ``fsl compare``: from files to predictions, and what they refuse."""

import json

import numpy as np
import pytest
from typed import refusal

from fsl_num.cli import curve_files, main
from fsl_num.curves.compare import COMPARED, compare
from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan
from fsl_num.curves.reading import read_curve
from fsl_num.schedules import step_rates

TRUTH = {"L0": 2.0, "A": 0.5, "B": 0.05, "s": 0.6, "c": 20.0, "gamma": 0.8, "c_e": 15.0}
WARMUP, STEPS, EVERY = 50, 1200, 5
"""Rows lie on the steps at which 8-1-1 drops: a log does not tell where between two rows a drop lies."""


def rates_of(name, steps=STEPS):
    return np.concatenate([0.01 * np.arange(WARMUP) / WARMUP, step_rates(name, peak=0.01, steps=steps - WARMUP)])


def write_run(place, name, noise=2e-4, seed=0):
    rates = rates_of(name)
    recorded = np.arange(WARMUP + EVERY, STEPS + 1, EVERY)
    loss = law("fsl-simplified").predict(Plan(rates, recorded, WARMUP), TRUTH)
    loss = loss * np.exp(noise * np.random.default_rng(seed).standard_normal(loss.size))
    # the rate of a row is that of the next update; behind the last one it stays
    lr = np.append(rates, rates[-1])[recorded]
    rows = "".join(
        f"{k},{eta!r},{x!r}\n" for k, eta, x in zip(recorded.tolist(), lr.tolist(), loss.tolist(), strict=True)
    )
    place.write_text("step,lr,loss\n" + rows)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for seed, name in enumerate(("constant", "8-1-1", "wsd", "cosine")):
        write_run(folder / f"{name}.csv", name, seed=seed)
    return folder


@pytest.fixture(scope="module")
def saved(runs):
    """One fit with intervals, saved; what it printed as JSON comes with it."""
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        train = [str(runs / f"{name}.csv") for name in ("constant", "8-1-1")]
        test = [str(runs / f"{name}.csv") for name in ("wsd", "cosine")]
        options = ["--law", "fsl-simplified", "--warmup", str(WARMUP), "--json"]
        targets = ["--save", str(runs / "fit.json"), "--plot", str(runs / "fit.png")]
        status = main(["fit", *train, "--predict", *test, *options, *targets])
    assert status == 0
    return json.loads(out.getvalue())


def test_a_fit_predicts_other_runs(saved, runs):
    found = saved["predictions"]
    assert list(found) == [str(runs / "wsd.csv"), str(runs / "cosine.csv")]
    for measures in found.values():
        assert {"r2", "mae", "rmse", "mean_relative_error", "worst_relative_error", "coverage"} <= set(measures)
        # the noise of the losses is 2e-4, of mean absolute value 1.6e-4; the fit may add as much
        assert measures["mean_relative_error"] < 4e-4 and measures["r2"] > 0.999
        assert 0.5 < measures["coverage"] <= 1.0
    assert saved["law"] == "fsl-simplified" and saved["parameters"]["L0"] == pytest.approx(2.0, rel=0.02)
    assert set(saved["intervals"]) == set(saved["parameters"])
    assert (runs / "fit.png").read_bytes()[:4] == b"\x89PNG"


def test_a_saved_fit_predicts_a_schedule(saved, runs, capsys):
    words = ["predict", "--fit", str(runs / "fit.json"), "--schedule", "wsd", "--peak-lr", "0.01", "--steps", "1200",
             "--warmup", "50", "--record", "10"]  # fmt: skip
    assert main([*words, "--json", "--csv", str(runs / "p.csv"), "--plot", str(runs / "p.svg")]) == 0
    found = json.loads(capsys.readouterr().out)
    recorded = np.arange(60, 1201, 10)
    truth = law("fsl-simplified").predict(Plan(rates_of("wsd"), recorded, WARMUP), TRUTH)
    assert found["step"] == recorded.tolist() and found["level"] == 0.9
    assert np.abs(np.array(found["loss"]) / truth - 1).max() < 1e-3  # five times the noise of the losses fitted
    assert (np.array(found["lower"]) < found["loss"]).all() and (np.array(found["upper"]) > found["loss"]).all()
    lines = (runs / "p.csv").read_text().splitlines()
    assert lines[0] == "step,lr,loss,lower,upper" and [float(x) for x in lines[-1].split(",")][2] == found["final"]
    assert "<svg" in (runs / "p.svg").read_text()
    assert main(words) == 0
    assert (
        f"final loss {found['final']:.4f} +-{100 * found['mean_half_width']:.2g} %, 90 % of single rows between"
        in " ".join(capsys.readouterr().out.split())
    )


def test_a_schedule_of_a_file_is_that_schedule(saved, runs, capsys):
    (runs / "rates.txt").write_text("\n".join(repr(float(rate)) for rate in rates_of("cosine")))
    words = ["predict", "--fit", str(runs / "fit.json"), "--json", "--warmup", "50", "--record", "100"]
    assert main([*words, "--schedule-file", str(runs / "rates.txt")]) == 0
    from_file = json.loads(capsys.readouterr().out)
    assert main([*words, "--schedule", "cosine", "--peak-lr", "0.01", "--steps", "1200"]) == 0
    assert from_file["loss"] == json.loads(capsys.readouterr().out)["loss"]


def test_logs_of_several_files_branches_and_rates_from_a_file(runs, tmp_path, capsys):
    whole = read_curve(runs / "constant.csv", warmup=WARMUP)
    for name, values in (("loss", whole.loss), ("lr", whole.lr)):
        rows = "".join(f"{step},{value!r}\n" for step, value in zip(whole.step, values.tolist(), strict=True))
        (tmp_path / f"{name}.csv").write_text(f"Step,{name}\n{rows}")
    (tmp_path / "rates.txt").write_text("\n".join(map(repr, whole.plan.rates.tolist())))
    late = (runs / "wsd.csv").read_text().splitlines()
    (tmp_path / "late.csv").write_text("\n".join([late[0], *late[len(late) // 2 :]]) + "\n")
    quick = ["--law", "momentum", "--no-intervals", "--starts", "1", "--json", "--warmup", str(WARMUP)]

    def parameters(*words):
        assert main(["fit", *map(str, words), *quick]) == 0
        out, err = capsys.readouterr()
        return json.loads(out)["parameters"], err

    expected, said = parameters(runs / "constant.csv")
    assert said == ""
    for words in (
        [f"{tmp_path}/loss.csv+{tmp_path}/lr.csv"],
        [tmp_path / "loss.csv", tmp_path / "lr.csv"],
        [tmp_path / "loss.csv", "--rates", tmp_path / "rates.txt"],
    ):
        # the rates come by another way, rounding apart
        assert parameters(*words)[0] == pytest.approx(expected, rel=1e-6)
    _, said = parameters(tmp_path / "loss.csv", tmp_path / "lr.csv")
    assert said.startswith("fsl: loss: the rates of 'lr'") and said.count("\n") == 1
    branch, said = parameters(tmp_path / "late.csv", "--branch-of", runs / "cosine.csv")
    assert "a branch of cosine at update" in said
    assert branch != parameters(tmp_path / "late.csv")[0]


def test_far_beyond_the_runs_is_said(saved, runs, capsys):
    words = ["predict", "--fit", str(runs / "fit.json"), "--schedule", "constant", "--peak-lr", "0.01"]
    assert main([*words, "--steps", "6000"]) == 0
    assert "times the intrinsic time" in capsys.readouterr().out
    assert main([*words, "--steps", "1000"]) == 0
    assert "times the intrinsic time" not in capsys.readouterr().out


def test_laws_are_compared(runs, capsys):
    words = ["compare", str(runs / "constant.csv"), str(runs / "8-1-1.csv"), "--predict", str(runs / "wsd.csv"),
             str(runs / "cosine.csv"), "--warmup", "50", "--laws", "fsl-simplified", "momentum", "chinchilla",
             "--no-intervals", "--starts", "3"]  # fmt: skip
    assert main([*words, "--json", "--plot", str(runs / "laws.svg")]) == 0
    found = {row["law"]: row for row in json.loads(capsys.readouterr().out)["laws"]}
    drawn = (runs / "laws.svg").read_text()
    assert all(f"<!-- {law}: {row['mean']['rmse']:.2g} -->" in drawn for law, row in found.items() if row["mean"])
    # the law that made the runs predicts them best, and without sizes there is no law of sizes
    assert found["fsl-simplified"]["mean"]["rmse"] < found["momentum"]["mean"]["rmse"]
    assert found["chinchilla"]["mean"] is None and "model size" in found["chinchilla"]["reason"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert text.index("fsl-simplified") < text.index("momentum") and "chinchilla: not fitted" in text
    assert "cosine" in text and "Root mean square error run by run" in text


def test_the_laws_compared_by_default_are_those_of_the_library(runs, capsys):
    train, test = ([str(runs / f"{name}.csv")] for name in ("8-1-1", "wsd"))
    settings = {"intervals": False, "starts": 1, "max_rows": 60}
    options = ["--warmup", str(WARMUP), "--no-intervals", "--starts", "1", "--max-rows", "60", "--json"]
    assert main(["compare", *train, "--predict", *test, *options]) == 0
    rows = json.loads(capsys.readouterr().out)["laws"]
    curves = [[read_curve(path, warmup=WARMUP, name=path) for path in paths] for paths in (train, test)]
    same = compare(*curves, **settings)
    assert {row["law"]: row["parameters"] for row in rows} == {name: fit.parameters for name, fit in same.fits.items()}
    assert {*same.fits, *same.reasons} == set(COMPARED)


def test_the_words_of_a_fit(runs, capsys):
    words = [
        "fit",
        str(runs / "8-1-1.csv"),
        "--warmup",
        "50",
        "--law",
        "fsl-simplified",
        "--no-intervals",
        "--starts",
        "3",
        "--verbose",
    ]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "fitted to 1 curve(s)" in text and "Fitted to one curve" in text and "8-1-1" in text


def test_the_answer_of_a_fit_stands_first_and_its_parameters_on_request(runs, capsys):
    words = ["fit", str(runs / "constant.csv"), str(runs / "8-1-1.csv"), "--warmup", "50", "--starts", "1"]
    assert main([*words, "--predict", "wsd", str(runs / "cosine.csv")]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("wsd: final loss") and f"after {STEPS} steps, 90 % of single rows between" in first
    assert lines[0].startswith("cosine: final loss") and lines[1].startswith(
        f"After {STEPS} steps at the peak 0.01: constant"
    )
    assert any("The runs fitted determine it" in line for line in lines)
    assert not any("tail of" in line for line in lines)
    truth = law("fsl-simplified").predict(Plan(rates_of("wsd"), [STEPS], WARMUP), TRUTH)[0]
    assert abs(float(first.split()[3]) / truth - 1) < 1e-3  # five times the noise of the losses fitted
    assert main([*words, "--predict", "wsd", "--peak-lr", "0.04", "--verbose"]) == 0
    text = capsys.readouterr().out
    assert "peak rate is 4 times off" in text and "tail of the memory" in text


def test_where_nothing_is_asked_for_the_usual_schedules_are_the_answer(runs, capsys):
    words = ["fit", str(runs / "constant.csv"), str(runs / "8-1-1.csv"), "--warmup", "50", "--starts", "1"]
    assert main(words) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0] == f"After {STEPS} steps at the peak 0.01:" and "tail of" not in said
    rows = {line.split()[0].rstrip(","): line for line in lines[3:7]}
    assert list(rows) == ["constant", "cosine", "linear", "wsd"]
    for name in ("constant", "cosine", "wsd"):
        truth = law("fsl-simplified").predict(Plan(rates_of(name), [STEPS], WARMUP), TRUTH)[0]
        shown = float(rows[name].split("%")[-2 if name == "wsd" else 0].split()[-2].rstrip("+-"))
        assert abs(shown / truth - 1) < 2e-3  # ten times the noise of the losses fitted
        low, high = (float(end) for end in rows[name].split("%")[-1].split(" .. "))
        assert low < shown < high
    assert lines[7].startswith("Try ") and any("The runs fitted determine it" in line for line in lines)
    assert main([*words, "--verbose"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("After") and "tail of the memory" in text
    assert main([*words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert list(content["rivals"]) == list(rows) and content["parameters"] and content["schedules"] == {}
    assert content["best_rival"] == lines[7].split()[1].rstrip(":")
    final = {name: rival["final"] for name, rival in content["rivals"].items()}
    assert content["best_rival"] == min(final, key=final.get) not in content["not_told_from_it"]


@pytest.mark.parametrize(("scale", "places"), [(1.0, 4), (1e-4, 8), (1e-7, 11)])
def test_small_losses_are_printed_with_as_many_digits_as_large_ones(tmp_path, capsys, scale, places):
    for name in ("constant", "8-1-1", "wsd"):
        write_run(tmp_path / f"{name}.csv", name)
        rows = [line.split(",") for line in (tmp_path / f"{name}.csv").read_text().splitlines()]
        (tmp_path / f"{name}.csv").write_text(
            "step,lr,loss\n" + "".join(f"{k},{lr},{float(loss) * scale!r}\n" for k, lr, loss in rows[1:])
        )
    words = [str(tmp_path / f"{name}.csv") for name in ("constant", "8-1-1")]
    fit_file = str(tmp_path / "fit.json")
    assert main(["fit", *words, "--warmup", "50", "--predict", str(tmp_path / "wsd.csv"), "--save", fit_file]) == 0
    said = capsys.readouterr().out.split()
    for after in ("loss", "between", "linear"):  # the answer, its interval and a rival
        shown = said[said.index(after) + 1].rstrip(",")
        assert float(shown) == pytest.approx(2.1 * scale, rel=0.1) and places - 1 <= len(shown.split(".")[1]) <= places
    assert float(said[said.index("coverage") + 4]) > 0.0  # the mean absolute error, however small the losses
    assert main(["design", "--fit", fit_file, "--steps", str(STEPS), "--warmup", "50"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("constant"))
    assert float(row.split()[1]) > 2.0 * scale and float(row.split()[2]) > 0.01 * scale


def test_an_answer_has_no_more_digits_than_its_interval_leaves(tmp_path, capsys):
    """One short run at a constant rate says little of a cosine, and next to nothing where it diverged."""
    step = np.arange(100, 2001, 100)
    for name, loss in (("short", 2 + step**-0.5), ("diverged", 2 * np.exp(np.maximum(step - 1500, 0) / 100))):
        rows = "".join(f"{k},0.01,{y!r}\n" for k, y in zip(step.tolist(), loss.tolist(), strict=True))
        (tmp_path / f"{name}.csv").write_text("step,lr,loss\n" + rows)
        assert main(["fit", str(tmp_path / f"{name}.csv"), "--predict", "cosine"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        if name == "short":
            answer, low, high = (said.split(f"{mark} ")[1].split()[0] for mark in ("loss", "between", "and"))
            half = (float(high) - float(low)) / 2
            assert 10 ** -len(answer.partition(".")[2]) > half / 100
        else:
            assert "known to a factor of" in said and "+-" not in said.partition("cosine:")[2].partition("after")[0]


def test_what_holds_for_many_logs_is_said_once(runs, capsys):
    files = [str(runs / f"{name}.csv") for name in ("constant", "8-1-1", "wsd", "cosine")]
    options = ["--warmup", "50", "--loss-unit", "bits", "--no-intervals", "--starts", "1"]
    assert main(["fit", *files, "--predict", "linear", *options]) == 0
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "turned into nats" in line)
    assert line.startswith("fsl: constant, 8-1-1, wsd and 1 more: ")


def test_a_column_is_quoted_by_its_own_name(tmp_path, capsys):
    (tmp_path / "sizes.csv").write_text("model_size,batch_size,steps,loss\n1e6,8,100,2.0\n1e6,8,200,1.9\n")
    assert main(["fit", str(tmp_path / "sizes.csv"), "--predict", "cosine"]) == 2
    assert "'model_size', 'batch_size'" in capsys.readouterr().err


REFUSED = {
    "no such file": (["fit", "{runs}/constant"], "did you mean constant.csv"),
    "a file twice": (["fit", "{runs}/wsd.csv", "--predict", "{runs}/wsd.csv"], "named twice"),
    "an even window": (["fit", "{runs}/wsd.csv", "--smooth", "4"], "must be odd"),
    "sizes": (["fit", "{runs}/wsd.csv", "--model-size", "1e6", "2e6"], "one for each of the 1 files"),
    "pairs": (["fit", "{runs}/wsd.csv", "--columns", "loss"], "takes pairs"),
    "roles": (["fit", "{runs}/wsd.csv", "--columns", "los=loss"], "columns may name"),
    "level": (["fit", "{runs}/wsd.csv", "--level", "1"], "above 0 and at most 0.99"),
    "level in per cent": (["fit", "{runs}/wsd.csv", "--level", "90"], "90 % is 0.9"),
    "law": (["fit", "{runs}/wsd.csv", "--law", "newton"], "'newton' is none of auto, fsl"),
    "warmup": (["fit", "{runs}/wsd.csv", "--warmup", "5000"], "no row lies after the warmup"),
    "target": (["fit", "{runs}/wsd.csv", "--save", "{runs}/no/fit.json"], "--save cannot write"),
    "picture": (["fit", "{runs}/wsd.csv", "--plot", "{runs}/fit.csv"], "must name a file that ends in"),
    "one file for two": (["fit", "{runs}/wsd.csv", "--plot", "a.png", "--save", "a.png"], "which --save writes"),
    "early": (["fit", "{runs}/wsd.csv", "--early", "1"], "at least 0 and below 1"),
    "width": (["fit", "{runs}/wsd.csv", "--prior-width", "0"], "above 0"),
    "no fit": (["predict", "--fit", "{runs}/none.json", "--schedule", "wsd"], "cannot read"),
    "not a fit": (["predict", "--fit", "{runs}/wsd.csv", "--schedule-file", "{runs}/wsd.csv"], "no saved fit"),
    "both": (["predict", "--fit", "{runs}/fit.json", "--schedule", "wsd", "--schedule-file", "x"], "exactly one"),
    "neither": (["predict", "--fit", "{runs}/fit.json"], "exactly one"),
    "no peak": (["predict", "--fit", "{runs}/fit.json", "--schedule", "wsd"], "needs --peak-lr and --steps"),
    "no peak alone": (
        ["next-run", "--fit", "{runs}/fit.json", "--predict", "wsd", "--steps", "9"],
        "the schedule wsd needs --peak-lr\n",
    ),
    "all warmup": (
        ["predict", "--fit", "{runs}/fit.json", "--schedule", "wsd", "--peak-lr", "1", "--steps", "9", "--warmup", "9"],
        "leaves none",
    ),
    "a size for a law without": (
        ["predict", "--fit", "{runs}/fit.json", "--schedule", "wsd", "--peak-lr", "1", "--steps", "9",
         "--model-size", "1e9"],
        "this fit has no term for the size of a model",
    ),
    "useless": (
        ["predict", "--fit", "{runs}/fit.json", "--schedule", "constant", "--peak-lr", "1", "--steps", "9",
         "--final-lr", "0.1"],
        "no use for --final-lr",
    ),
    "peak of a file": (
        ["predict", "--fit", "{runs}/fit.json", "--schedule-file", "{runs}/wsd.csv", "--peak-lr", "1"],
        "no use for --peak-lr",
    ),
    "seldom": (
        ["predict", "--fit", "{runs}/fit.json", "--schedule", "wsd", "--peak-lr", "1", "--steps", "9",
         "--record", "10"],
        "more than the 9 steps",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("words", "told"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_used_is_refused_in_a_sentence(words, told, runs, saved, capsys):
    assert told in refusal([word.format(runs=runs) for word in words], capsys)


def test_rows_outside_the_steps_asked_for_are_left_out_and_their_rates_kept(runs, capsys):
    words = ["fit", str(runs / "8-1-1.csv"), "--law", "fsl-simplified", "--warmup", "50", "--no-intervals", "--json"]
    assert main([*words, "--first-step", "300", "--last-step", "1100"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["train"][str(runs / "8-1-1.csv")]["rows"] == 161
    # without the rates of the first 300 steps the intrinsic time, and with it A, would be another
    assert found["parameters"]["A"] == pytest.approx(TRUTH["A"], rel=0.2)
    assert "no row with 5000" in refusal([*words, "--first-step", "5000"], capsys)


def test_long_runs_are_averaged_or_thinned_and_that_is_said(runs, capsys):
    command = ["fit", str(runs / "8-1-1.csv"), "--warmup", str(WARMUP), "--law", "momentum", "--starts", "1"]
    command += ["--no-intervals", "--max-rows", "60", "--json"]
    told = []
    for options in ([], ["--thin"]):
        assert main([*command, *options]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert any("230 rows are averaged over" in note for note in told[0]["notes"])
    assert any("60 of 230 rows are used" in note for note in told[1]["notes"])
    counts = [next(iter(content["train"].values()))["rows"] for content in told]
    assert counts[0] <= 60 == counts[1]


def test_a_fault_in_a_file_names_its_row(tmp_path, capsys):
    (tmp_path / "run.csv").write_text("step,lr,loss\n1,0.1,3\n2,0.1,nan\n")
    assert "row 3: loss must be finite" in refusal(["fit", str(tmp_path / "run.csv")], capsys)


def test_a_curve_that_tells_nothing_is_refused(tmp_path, capsys):
    (tmp_path / "one.csv").write_text("step,lr,loss\n1,0.1,3\n")
    assert "parameters, but the curves have 1 rows" in refusal(["fit", str(tmp_path / "one.csv")], capsys)


def test_names_are_as_short_as_they_can_be():
    assert curve_files.short_names(["/a/b/x.csv"]) == ["x"]
    assert curve_files.short_names(["a/x.csv", "a/y.csv"]) == ["x", "y"]
    assert curve_files.short_names(["a/x.csv", "a/x.json"]) == ["x.csv", "x.json"]


def test_what_is_missing_is_named_with_its_remedy(tmp_path, runs, capsys):
    (tmp_path / "empty.json").write_text("{}")
    rows = (runs / "wsd.csv").read_text().split()
    (tmp_path / "nan.csv").write_text("\n".join([*rows[:40], rows[40].rpartition(",")[0] + ",nan", *rows[41:]]))
    assert "there are no columns in it" in refusal(["fit", str(tmp_path / "empty.json")], capsys)
    assert "did you mean the schedule wsd?" in refusal(["fit", str(runs / "wsd.csv"), "--predict", "wsdd"], capsys)
    words = ["fit", str(tmp_path / "nan.csv"), "--law", "fsl-simplified", "--no-intervals", "--warmup", str(WARMUP)]
    assert "drop the row or repair it (drop_missing=True, --drop-missing)" in refusal(words, capsys)
    assert main([*words, "--drop-missing"]) == 0


def test_a_run_is_as_long_as_its_rates_not_as_its_last_evaluation(tmp_path, runs, capsys):
    rows = [line.split(",") for line in (runs / "wsd.csv").read_text().split()[1:]]
    evaluated = {row[0] for row in rows[::10]}
    assert rows[-1][0] not in evaluated
    shown = "".join(f"{k},{lr},{loss},{loss if k in evaluated else ''}\n" for k, lr, loss in rows)
    (tmp_path / "run.csv").write_text("step,lr,train/loss,eval/loss\n" + shown)
    words = ["fit", str(tmp_path / "run.csv"), "--law", "fsl-simplified", "--no-intervals", "--warmup", str(WARMUP)]
    assert main([*words, "--predict", "cosine"]) == 0
    printed = capsys.readouterr()
    assert f"after {STEPS} steps" in printed.out and "of validation" in printed.err
