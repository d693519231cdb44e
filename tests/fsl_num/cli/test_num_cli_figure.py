"""fsl figure: a whole picture and the numbers behind it, or one sentence."""

import json
import sys

import pytest
from typed import refusal

from fsl_num.cli import figure as command
from fsl_num.cli import main


def test_loss_dynamics_are_drawn_and_described(tmp_path, capsys):
    target = tmp_path / "dynamics.svg"
    assert main(["figure", "loss-dynamics", "--quick", "--json", "--out", str(target)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["figure"] == "loss-dynamics" and found["file"] == str(target)
    assert (found["s"], found["beta"], found["model_size"], found["noise"]) == (0.5, 4.0, 128, 9.0)
    assert [schedule["schedule"] for schedule in found["schedules"]] == ["cosine", "wsd", "cyclic"]
    assert len(found["schedules"][0]["fits"]["printed"]["constants"]) == 3
    assert target.read_bytes().startswith(b"<?xml")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_the_default_name_is_that_of_the_figure(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["figure", "fit-grid", "--quick"]) == 0
    shown = capsys.readouterr().out
    assert "powers as printed" in shown and "written to fit-grid.png" in shown
    assert (tmp_path / "fit-grid.png").read_bytes().startswith(b"\x89PNG")


def test_loss_scaling_sets_the_printed_rule_beside_the_derived_one(tmp_path, capsys):
    target = tmp_path / "scaling.pdf"
    assert main(["figure", "loss-scaling", "--quick", "--json", "--out", str(target)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert target.read_bytes().startswith(b"%PDF")
    derived = {entry["schedule"]: entry for entry in found["derived_peak"]}
    assert list(derived) == ["constant", "exp-decay", "wsd"]
    assert derived["exp-decay"]["claimed"] == {"power": -0.5, "log_power": 0.5}
    printed = {entry["schedule"]: entry for entry in found["printed_peak"]}
    assert list(printed) == ["exp-decay", "wsd"]  # the printed rule of the constant schedule is the derived one
    for name, entry in printed.items():
        assert entry["peak_lr"]["power"] == -1.0 and max(entry["intrinsic_time"]) < 0.05
        assert entry["excess_risk"][-1] > 10 * derived[name]["excess_risk"][-1]


def test_the_ladder_is_drawn_and_described(tmp_path, capsys):
    target = tmp_path / "ladder.png"
    assert main(["figure", "ladder", "--quick", "--json", "--out", str(target)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert target.read_bytes().startswith(b"\x89PNG")
    assert list(found["rungs"])[0] == "sgd" and list(found["rungs"])[-1] == "asymptotic"
    assert all(len(curve["step"]) == len(curve["excess_risk"]) for curve in found["rungs"].values())
    assert {row["threshold"] for row in found["breaking"]} == {0.1}


def test_rules_are_derived_in_the_easy_regime_too():
    rules = {rule.schedule: rule for rule in command.derived_rules(1, 2)}
    # s = 1, beta = 2: the published exponent s beta/(1 + s beta) of both decaying schedules
    assert rules["exp-decay"].risk_power == rules["wsd"].risk_power == pytest.approx(2 / 3)
    assert rules["exp-decay"].risk_log_power == pytest.approx(2 / 3)
    assert rules["wsd"].risk_log_power == pytest.approx(1 / 3)
    assert rules["constant"].peak_power == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["unknown"], "choose loss-dynamics"),
        (["fit-grid", "--out", "grid.doc"], "--out must name a file that ends in .png, .svg, .pdf"),
        (["fit-grid", "--out", "nowhere/grid.png"], "--out cannot write to"),
        (["fit-grid", "extra"], "one argument too many"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_any_work(arguments, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert text in refusal(["figure", *arguments], capsys)
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_extra_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    assert "install the extra `plot`" in refusal(["figure", "loss-dynamics"], capsys)


def test_a_full_disk_leaves_no_half_written_picture(tmp_path, capsys, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    target = tmp_path / "grid.png"
    target.write_bytes(b"old")
    monkeypatch.setattr("os.fsync", full)
    assert main(["figure", "fit-grid", "--quick", "--out", str(target)]) == 4
    assert "No space left on device" in capsys.readouterr().err
    assert target.read_bytes() == b"old" and [path.name for path in tmp_path.iterdir()] == ["grid.png"]
