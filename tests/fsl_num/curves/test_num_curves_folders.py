"""Logs that stand beside others: halves of runs in a folder, and rows that a resumed run did again."""

import json

import pytest

from fsl_num.curves.curve import CurveError
from fsl_num.curves.reading import read_curve, read_curves, read_rates

GOOD = "step,lr,loss\n100,1e-3,3.0\n200,1e-3,2.5\n300,5e-4,2.25\n"
LOSSES_ALONE = "step,loss\n100,3.1\n200,2.6\n300,2.3\n"
RATES_ALONE = "step,lr\n100,1e-3\n200,1e-3\n300,5e-4\n"


def folder_of(place, **logs):
    place.mkdir()
    for name, text in logs.items():
        (place / f"{name}.csv").write_text(text)
    return place


@pytest.mark.parametrize(("alone", "lacking"), [(LOSSES_ALONE, "learning rates"), (RATES_ALONE, "losses")])
def test_a_log_that_lacks_half_is_left_out_of_a_folder_of_whole_runs_and_is_named(tmp_path, alone, lacking):
    runs = folder_of(tmp_path / "runs", one=GOOD, two=GOOD, half=alone)
    curves = read_curves(runs)
    assert [curve.name for curve in curves] == ["one", "two"]
    for curve in curves:
        assert any(f"left out of the folder: half, with no {lacking}" in note for note in curve.notes)
    folder = folder_of(tmp_path / "others", three=GOOD, half=alone)
    assert [curve.name for curve in read_curves([runs, folder])] == ["one", "two", "three"]


def test_what_could_be_one_run_with_a_log_left_out_is_not_left_out(tmp_path):
    """Neither a log that was named itself, nor two that lack different halves, nor all of a folder."""
    runs = folder_of(tmp_path / "runs", one=GOOD, losses=LOSSES_ALONE)
    (tmp_path / "own.csv").write_text(LOSSES_ALONE)
    with pytest.raises(CurveError, match="no column for lr"):
        read_curves([runs, tmp_path / "own.csv"])
    with pytest.raises(CurveError, match="stands in several of the files"):
        read_curves(folder_of(tmp_path / "halves", one=LOSSES_ALONE, two=LOSSES_ALONE))
    whole = read_curves(folder_of(tmp_path / "parts", one=GOOD, losses=LOSSES_ALONE, rates=RATES_ALONE))
    assert sorted(curve.loss[0] for curve in whole) == [3.0, 3.1] and not any("left out" in str(c.notes) for c in whole)


def test_rates_of_a_resumed_run_are_read_as_its_losses_are(tmp_path):
    (tmp_path / "again.csv").write_text("step,lr\n1,0.3\n2,0.2\n3,0.2\n2,0.25\n3,0.15\n4,0.1\n")
    with pytest.raises(CurveError, match=r"row 5: .*--restarts keep-last"):
        read_rates(tmp_path / "again.csv")
    said = read_rates(tmp_path / "again.csv", restarts="keep-last")
    (tmp_path / "once.csv").write_text("step,lr\n1,0.3\n2,0.25\n3,0.15\n4,0.1\n")
    assert said.rates.tolist() == read_rates(tmp_path / "once.csv").rates.tolist()
    assert "2 rows that a resumed run did again: the last ones kept" in said.notes
    with pytest.raises(ValueError, match="restarts must be one of refuse, keep-last"):
        read_rates(tmp_path / "again.csv", restarts="first")


def test_a_file_beside_a_log_may_hold_the_rate_of_every_update(tmp_path):
    (tmp_path / "run.csv").write_text("step,loss\n2,3.0\n4,2.5\n6,2.2\n")
    (tmp_path / "rates.txt").write_text("0.1\n0.2\n0.3\n0.2\n0.1\n0.05\n")
    curve = read_curve([tmp_path / "run.csv", tmp_path / "rates.txt"], warmup=0)
    assert curve.plan.rates.tolist() == [0.1, 0.2, 0.3, 0.2, 0.1, 0.05]
    with pytest.raises(CurveError, match="is one cell"):  # alone it says nothing
        read_curve(tmp_path / "rates.txt")
    (tmp_path / "rates.txt").write_text("0.1\n0.2\nhalf\n")
    with pytest.raises(CurveError, match=r"rates\.txt: row 3: column 'rate of every update' holds 'half'"):
        read_curve([tmp_path / "run.csv", tmp_path / "rates.txt"])


def test_single_records_among_logs_are_left_out_and_named(tmp_path):
    """Configurations and summaries that name a rate and a loss: they were runs of one row, or refused the folder."""
    runs = folder_of(tmp_path / "runs", one=GOOD, two=GOOD)
    records = [f"summary-{at}" for at in range(6)]
    for at, name in enumerate(records):
        record = {"lr": 1e-3, "loss": 2.0} | ({"_step": 300} if at else {})
        (runs / f"{name}.json").write_text(json.dumps(record))
    (runs / "half.csv").write_text(RATES_ALONE)
    curves = read_curves(runs)
    assert [curve.name for curve in curves] == ["one", "two"]
    for curve in curves:
        first, second = (note for note in curve.notes if note.startswith("left out of the folder"))
        assert first.endswith(f": {', '.join(records[:4])} and 2 more, with a single record")
        assert second.endswith(": half, with no losses")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "one.json").write_text(json.dumps({"step": 9, "lr": 1e-3, "loss": 2.0}))
    assert len(read_curve(tmp_path / "alone")) == 1
