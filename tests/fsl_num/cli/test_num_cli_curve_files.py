"""Files of curves as they are typed: each run counts once."""

import json

import numpy as np
import pytest

from fsl_num.cli import main
from fsl_num.curves.laws import law
from fsl_num.schedules import step_rates


def test_a_run_that_is_fitted_is_not_predicted_as_one_of_a_folder(tmp_path, capsys):
    """Else a law is scored on what it was fitted to."""
    folder, link = tmp_path / "runs", tmp_path / "link.csv"
    folder.mkdir()
    for name in ("wsd", "cosine", "constant"):
        rates = np.append(step_rates(name, peak=0.01, steps=400), 0.0)
        losses = law("momentum").predict(rates, [2.0, 0.3, 0.5, 0.5, 0.95])
        rows = (f"{step},{rates[step]},{losses[step - 1]}\n" for step in range(20, 401, 20))
        (folder / f"{name}.csv").write_text("step,lr,loss\n" + "".join(rows))
    link.symlink_to(folder / "cosine.csv")
    words = [
        "compare",
        str(folder / "wsd.csv"),
        str(link),
        "--laws",
        "momentum",
        "--warmup",
        "0",
        "--no-intervals",
        "--predict",
    ]
    assert main([*words, str(folder), "--json"]) == 0
    shown = capsys.readouterr()
    [scored] = json.loads(shown.out)["laws"]
    assert [name.rpartition("/")[2] for name in scored["predictions"]] == ["constant"]
    assert "wsd: left out of its folder: it is named itself, and counts once" in shown.err
    (folder / "constant.csv").unlink()
    assert main([*words, str(folder)]) == 2
    assert "holds no run but those that are named themselves" in capsys.readouterr().err


def test_a_forecast_of_several_runs_names_them(tmp_path, capsys):
    rows = "".join(f"{run},{step},0.1,{2 + 1 / step}\n" for run in "abcd" for step in range(1, 30))
    (tmp_path / "runs.csv").write_text("run,step,lr,loss\n" + rows)
    assert main(["forecast", str(tmp_path / "runs.csv"), "--to", "60"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "holds 4 runs (runs: a, runs: b, runs: c, ...); a forecast is of one: put its rows into a file" in said


def test_rates_from_a_file_are_those_of_logs_that_hold_none_or_of_one_log_beside_it(tmp_path, capsys):
    step, place = np.arange(20, 401, 20), {}
    for name in ("wsd", "constant"):
        rates = np.append(step_rates(name, peak=0.01, steps=400), 0.0)
        losses = law("momentum").predict(rates, [2.0, 0.3, 0.5, 0.5, 0.95])[step - 1]
        columns = {"step": step, "lr": rates[step], "loss": losses, "held": np.full(step.size, 0.01)}
        for role, lr in (("", "lr"), ("-loss", None), ("-lr", "lr"), ("-held", "held")):
            kept = ["step", *([lr] if lr else []), *(["loss"] if role != "-lr" else [])]
            lines = [",".join(kept).replace("held", "lr")]
            lines += [",".join(repr(float(columns[key][at])) for key in kept) for at in range(step.size)]
            place[name + role] = str(tmp_path / f"{name}{role}.csv")
            (tmp_path / f"{name}{role}.csv").write_text("\n".join([*lines, ""]))
        (tmp_path / f"{name}.txt").write_text("".join(f"{float(rate)!r}\n" for rate in rates[:-1]))

    def parameters(*words):
        quick = ["--law", "momentum", "--no-intervals", "--starts", "1", "--json", "--warmup", "0"]
        assert main(["fit", *words, *quick]) == 0
        return json.loads(capsys.readouterr().out)["parameters"]

    given = parameters(place["constant"], place["wsd-loss"], "--rates", str(tmp_path / "wsd.txt"))
    assert given["C"] == pytest.approx(0.5, rel=1e-3)  # the truth
    beside = parameters(f"{place['wsd-held']}+{place['wsd-lr']}")
    assert beside == pytest.approx(parameters(place["wsd"]), rel=1e-3)
    assert beside != pytest.approx(parameters(place["wsd-held"]), rel=1e-3)
    assert main(["fit", place["wsd"], "--rates", str(tmp_path / "wsd.txt")]) == 2
    assert "each log holds its own learning rates; LOG+FILE puts" in " ".join(capsys.readouterr().err.split())
