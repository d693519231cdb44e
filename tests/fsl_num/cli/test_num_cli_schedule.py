"""fsl schedule: a schedule step by step, and for a training framework; names of frameworks in the other commands."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typed import refusal

from fsl_num.cli import main
from fsl_num.report.schedules import facts
from fsl_num.schedules import step_rates

CURVES = Path(__file__).parents[3] / "examples" / "curves"
COSINE = ["schedule", "cosine", "--peak-lr", "0.01", "--steps", "1000", "--warmup", "100"]
HF = "hf:warmup_stable_decay(num_warmup_steps=100, num_decay_steps=300, decay_type='linear')"
NAMED = ["schedule", HF, "--peak-lr", "0.01", "--steps", "1000"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_says_what_the_schedule_is(here, capsys):
    assert main([*COSINE, "--csv", "s.csv", "--plot", "s.png"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "1000 updates, peak 0.01" in shown and "100 updates before the peak" in shown
    rates = step_rates("cosine", peak=0.01, steps=1000, warmup=100)
    rows = list(csv.DictReader((here / "s.csv").read_text().splitlines()))
    assert [float(row["lr"]) for row in rows] == rates.tolist() and rows[-1]["step"] == "999"
    assert (here / "s.png").stat().st_size > 1000


def test_its_json_has_the_rates_and_the_export(capsys):
    assert main([*COSINE, "--json", "--export", "megatron"]) == 0
    found = json.loads(capsys.readouterr().out)
    rates = step_rates("cosine", peak=0.01, steps=1000, warmup=100)
    assert found["lr"] == rates.tolist() and found["warmup"] == 100 and found["steps"] == 1000
    assert found["intrinsic_time"] == pytest.approx(rates.sum(), rel=1e-12)
    assert found["export"]["name"] == "megatron:cosine(lr_warmup_iters=100, min_lr=0.0)"
    assert found["export"]["arguments"] == {"lr_warmup_iters": 100, "min_lr": 0.0}


def test_an_export_is_printed_or_written(here, capsys):
    assert main([*COSINE, "--export", "torch"]) == 0
    text = capsys.readouterr().out
    assert main([*COSINE, "--export", "torch", "--out", "schedule.py"]) == 0
    assert (here / "schedule.py").read_text() == text and "1000 updates" in capsys.readouterr().out
    space = {}
    exec(text, space)
    rates = step_rates("cosine", peak=0.01, steps=1000, warmup=100)
    assert np.abs([space["learning_rate"](step) for step in range(1000)] - rates).max() <= 1e-14


def test_a_table_is_read_by_its_steps(here, capsys):
    """A row for each step is that step's rate; rows for some steps leave none out, nor move any."""
    (here / "every.csv").write_text("step,lr\n0,0.2\n1,0.1\n2,0.1\n")
    (here / "some.csv").write_text("step,lr\n\n0,0.3\n100,0.2\n200,0.1\n")
    assert main(["schedule", "every.csv", "--csv", "one.csv"]) == 0
    assert [float(row.split(",")[1]) for row in (here / "one.csv").read_text().split()[1:4]] == [0.2, 0.1, 0.1]
    assert main(["schedule", "some.csv", "--csv", "two.csv"]) == 0
    rates = [float(row["lr"]) for row in csv.DictReader((here / "two.csv").read_text().splitlines())]
    assert len(rates) == 200 and [rates[k] for k in (0, 50, 100, 150)] == pytest.approx([0.3, 0.25, 0.2, 0.15])


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("step,lr\n0,0.1\n0,0.2\n", "row 3 of 's.csv' is for step 0, but the row before for 0"),
        ("step,lr\n0,0.1\n1\n", "row 3 of 's.csv' should hold a step and a learning rate"),
        ("step,lr\n0,0.1\n0.5,0.1\n", "row 3 of 's.csv' should hold a step, but it must be a whole number"),
        ("step,lr\n\n0,0.1\n1,-1\n", "row 4 holds -1.0, but none may be negative"),
        ("step,lr\n", "'s.csv' holds no rows"),
        ("step,loss\n0,3.0\n1,2.9\n", "nor is it a log with learning rates: s.csv: s: no column for lr"),
    ],
)
def test_a_table_that_is_no_schedule_is_refused_with_its_row(rows, text, here, capsys):
    (here / "s.csv").write_text(rows)
    assert main(["schedule", "s.csv"]) == 2
    assert text in capsys.readouterr().err


def test_the_schedule_of_a_training_log(here, capsys):
    assert main([*COSINE, "--csv", "s.csv"]) == 0
    rates = step_rates("cosine", peak=0.01, steps=1000, warmup=100)
    rows = [f"{k},{3.0 + 1.0 / (1 + k)},{np.append(rates, 0.0)[k]}" for k in range(0, 1001, 20)]
    (here / "log.csv").write_text("\n".join(["step,train_loss,lr", *rows]))
    assert main(["schedule", "log.csv", "--csv", "again.csv"]) == 0
    assert "taken for warmup" in capsys.readouterr().err
    again = [float(row["lr"]) for row in csv.DictReader((here / "again.csv").read_text().splitlines())]
    # straight between rows 20 updates apart: 20^2/8 times the largest second derivative of the cosine
    assert np.abs(np.array(again) - rates).max() < 50.0 * 0.005 * (np.pi / 900) ** 2


def test_the_schedule_of_a_log_with_names_of_its_own(here, capsys):
    """No loss is needed, and what a name does not say is said, the same for each command that takes a schedule file."""
    (here / "log.csv").write_text("it,eta (peak 0.2),speed\n0,0.2,9\n10,0.1,9\n20,0,9\n")
    assert main(["schedule", "log.csv", "--json"]) == 2
    assert "(--columns step=NAME)" in capsys.readouterr().err
    assert main(["schedule", "log.csv", "--columns", "step=it", "--csv", "s.csv"]) == 0
    rates = [float(row["lr"]) for row in csv.DictReader((here / "s.csv").read_text().splitlines())]
    assert rates == pytest.approx(np.linspace(0.2, 0.0, 21)[:-1])
    capsys.readouterr()
    task = ["--s", "1/2", "--beta", "2", "--model-size", "50", "--noise", "1", "--json"]
    risks = []
    for words in (["--schedule-file", "log.csv", "--columns", "step=it"], ["--schedule-file", "s.csv"]):
        assert main(["solve", *task, *words]) == 0
        risks.append(json.loads(capsys.readouterr().out)["excess_risk"])
    assert risks[0] == risks[1]


def test_a_file_of_rates_is_a_schedule_too(here, capsys):
    (here / "rates.txt").write_text("".join(f"{rate!r}\n" for rate in step_rates(HF, peak=0.01, steps=1000).tolist()))
    assert main(["schedule", "rates.txt", "--export", "transformers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["export"]["name"].startswith("transformers:warmup_stable_decay(")
    assert main(["schedule", "rates.txt", "--steps", "5"]) == 2
    assert "a file of rates has no use for --steps: it says every rate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["schedule", "cosin", "--peak-lr", "1", "--steps", "9"], "'cosin' is no file, and none of constant, "),
        (["schedule", "keras:X", "--peak-lr", "1", "--steps", "9"], "no framework 'keras' is known; choose torch, "),
        (["schedule", "linear(0.2)", "--peak-lr", "1", "--steps", "9"], "as in linear(decay_fraction=0.2)"),
        (["schedule", "wds", "--peak-lr", "1", "--steps", "9"], "cyclic: did you mean wsd?"),
        (["schedule", "wsd", "--peak-lr=-1", "--steps", "9"], "'--peak-lr': must be above 0, not '-1'"),
        (
            ["schedule", "wsd", "--peak-lr", "1e-400", "--steps", "9"],
            "'--peak-lr': must be at least 1e-323, not '1e-400'",
        ),
        (["schedule", "wsd", "--peak-lr", "1", "--steps", "9", "--warmup", "10"], "got 10 of 9: none is left"),
        ([*COSINE, "--export", "torch", "--out", "s.csv"], "--out s.csv would hold what torch takes, and no table"),
        (["schedule", "WSD-like", "--peak-lr", "1", "--steps", "9"], "'WSD-like' is called wsd"),
        (["schedule", "hf:zigzag", "--peak-lr", "1", "--steps", "9"], "transformers has no scheduler 'zigzag'"),
        (["schedule", "cosine", "--steps", "9"], "needs --peak-lr and --steps"),
        ([*NAMED, "--warmup", "9"], "has no use for --warmup"),
        ([*NAMED, "--out", "x.py"], "--out takes what --export writes"),
        ([*NAMED, "--export", "olmo"], "olmo has no scheduler with these rates"),
        ([*NAMED[:4], "--steps", "300"], "the decay would begin at step 0, within the 100 steps of the warmup"),
        ([*COSINE, "--export", "keras"], "'keras' is none of torch, optax"),
        (["exponents", "--schedule", HF, "--budget", "data"], "is none of"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(here, words, says, capsys):
    assert main(words) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_other_commands_take_the_names_of_frameworks(here, capsys):
    task = ["--s", "1/2", "--beta", "2", "--model-size", "50", "--noise", "1", "--peak-lr", "0.1", "--steps", "200"]
    assert main(["solve", *task, "--schedule", "megatron:WSD(lr_wsd_decay_iters=50)", "--json"]) == 0
    named = json.loads(capsys.readouterr().out)
    rates = step_rates("megatron:WSD(lr_wsd_decay_iters=50)", peak=0.1, steps=200)
    (here / "rates.txt").write_text("".join(f"{rate!r}\n" for rate in rates.tolist()))
    assert main(["solve", *task[:8], "--schedule-file", "rates.txt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == named
    steps = np.arange(50, 1001, 25)
    losses = 2.0 + 3.0 * steps**-0.4
    (here / "run.csv").write_text(
        "step,lr,loss\n" + "".join(f"{k},0.01,{y!r}\n" for k, y in zip(steps, losses.tolist(), strict=True))
    )
    fast = ["--law", "momentum", "--starts", "1", "--no-intervals"]
    assert main(["fit", "run.csv", *fast, "--predict", HF, "--save", "fit.json", "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["schedules"][HF]
    assert main(["predict", "--fit", "fit.json", "--schedule", HF, "--peak-lr", "0.01", "--steps", "1000",
                 "--json"]) == 0  # fmt: skip
    again = json.loads(capsys.readouterr().out)
    assert again["final"] == pytest.approx(predicted["final"], rel=1e-9)
    assert again["step"][0] > 100  # its warmup is the one that its name says
    assert main(["forecast", "run.csv", "--to", "2000", "--schedule", "torch:StepLR(step_size=1500)", "--json",
                 "--starts", "1", "--no-intervals"]) == 0  # fmt: skip
    assert "torch:StepLR(step_size=1500)" in capsys.readouterr().out


def test_the_facts_of_a_constant_rate():
    assert facts(np.full(4, 0.5)) == {
        "steps": 4,
        "peak_lr": 0.5,
        "final_lr": 0.5,
        "warmup": 0,
        "stable_fraction": 1.0,
        "decay_fraction": 0.0,
        "intrinsic_time": 2.0,
        "share_of_constant": 1.0,
        "half_of_intrinsic_time": 2,
    }


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["cosine(final=1)"], "'cosine(final=1)': final must be at most peak"),
        (["cosine(warmup=2000)"], "'cosine(warmup=2000)': warmup must be less than the steps"),
        (["linear(decay_fraction=0)"], "'linear(decay_fraction=0)': decay_fraction must lie in (0, 1]"),
        (["cosine", "--final-lr", "1"], "--final-lr must be at most peak"),
        (["cosine(floor=0.001)", "--warmup", "2000"], "--warmup must be less than the steps"),
        (["cosine", "--floor-lr", "1"], "--floor-lr must be at most the peak"),
    ],
)
def test_what_is_wrong_is_named_as_it_was_typed(typed, sentence, capsys):
    assert refusal(["schedule", *typed, "--peak-lr", "0.01", "--steps", "1000"], capsys).startswith(f"fsl: {sentence}")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["schedule", "cosine(final=1e\u22123)", "--peak-lr", "1", "--steps", "9"], "write 'cosine(final=1e-3)'"),
        (["schedule", "hf:linear(num_warmup_steps=\u20132)", "--peak-lr", "1", "--steps", "9"], "num_warmup_steps=-2"),
        (["schedule", "cosine", "--peak-lr", "1e\u22123", "--steps", "9"], "write 1e-3"),
        (["verify", "lem: half-scale", "--at", "3/5,\u22127/3"], "write -7/3"),
        (["exponents", "--schedule", "wsd", "--budget", "data", "--s", "\u22121/2", "--beta", "2"], "write -1/2"),
    ],
)
def test_a_printed_minus_sign_is_refused_with_that_of_the_keyboard(typed, meant, capsys):
    assert meant in refusal(typed, capsys)


def test_a_resumed_log_is_a_schedule_once_it_is_said_which_rows_count(tmp_path, capsys):
    lines = (CURVES / "small_wsd.csv").read_text().splitlines(keepends=True)
    again, fit = tmp_path / "again.csv", tmp_path / "fit.json"
    again.write_text("".join([*lines[:80], *lines[60:]]))
    train = ["fit", str(CURVES / "small_constant.csv"), "--warmup", "200", "--first-step", "1000", "--starts", "1"]
    assert main([*train, "--no-intervals", "--save", str(fit)]) == 0
    asked = ["predict", "--fit", str(fit), "--json", "--schedule-file"]
    for key, command in (("intrinsic_time", ["schedule", str(again), "--json"]), ("loss", [*asked, str(again)])):
        capsys.readouterr()
        assert main(command) == 2 and "--restarts keep-last" in capsys.readouterr().err
        assert main([*command, "--restarts", "keep-last"]) == 0
        resumed = json.loads(capsys.readouterr().out)
        assert main([str(CURVES / "small_wsd.csv") if word == str(again) else word for word in command]) == 0
        assert resumed[key] == json.loads(capsys.readouterr().out)[key]


@pytest.mark.parametrize(
    ("option", "typed", "meant"),
    [
        ("--steps", "1,000", "write 1000 ("),
        ("--steps", "1,000,000", "write 1000000 ("),
        ("--steps", "2,5k", "write 2.5e3 ("),
        ("--peak-lr", "0,003", "write 0.003 ("),
        ("--peak-lr", "1,500", "write 1500 or 1.500 ("),
    ],
)
def test_a_comma_that_parts_thousands_is_not_taken_for_one_of_decimals(option, typed, meant, capsys):
    words = ["schedule", "cosine", "--peak-lr", "1", "--steps", "9", option, typed]
    assert meant in refusal(words, capsys)
