"""Logs as people write and join them: nothing of them ends, mixes or changes its unit without a word."""

import json

import numpy as np
import pytest

from fsl_num.curves.columns import meaning
from fsl_num.curves.curve import CurveError
from fsl_num.curves.logs import curve_from
from fsl_num.curves.loss_units import in_nats
from fsl_num.curves.reading import read_curve, read_curves
from fsl_num.curves.reshape import by_split
from fsl_num.curves.runs import Series
from fsl_num.curves.tables import Table


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("step {0:,} loss {1} lr {2}", None),
        ("step {0:,}/30,000: loss={1}, lr={2}", None),
        ("step={0:_} loss={1} lr={2}", None),
        ("Epoch [1/9], Step [{0}/3000], Loss: {1}, LR: {2}", None),
        ("step {0} ({3:.0%}) loss tensor({1}, device='cuda:0', grad_fn=<MeanBackward0>) lr {2}", None),
        ("step {0} loss {1} lr {2:%}", None),
        ("step {0} loss {1} lr [{2}]", None),
        ("step={0}, skipped=0, loss={1}, lr=[{2}, {2}], mom=[[0.9, 0.95], [0.9, 0.95]]", None),
        ("completed step: {0}, seconds: 1.2, total_weights: 65536, loss: {1}, lr: {2}", None),
        ("s:{0} trl:{1} lr:{2} norm:0.9", None),
        ("[rank0]:[titan] - INFO - \x1b[31mstep: {0:2}  \x1b[32mloss: {1:7}  \x1b[33mlr: {2}\x1b[39m", None),
        ("step {0} loss {1} lr {2}", "step 3000 loss nan lr 3e-4"),
        ("step {0} loss: {1}, lr {2}", "step 3000 loss: -Infinity, lr 3e-4"),
    ],
)
def test_printed_lines_are_read_to_the_last(line, row, tmp_path):
    """A way to write a number that begins late in a run, such as 1,000, must not end the log there without a word."""
    lines = [line.format(step, 3 - step / 10_000, 3e-4, step / 3000) for step in range(500, 3000, 500)]
    path = tmp_path / "run.log"
    path.write_text("\n".join([*lines, *([row] if row else []), ""]))
    if row is not None:
        with pytest.raises(CurveError, match=r"row 6: loss must be finite, got (nan|-inf)"):
            read_curve(path)
        return
    curve = read_curve(path)
    assert curve.step.tolist() == list(range(500, 3000, 500))
    assert curve.loss.tolist() == [3 - step / 10_000 for step in curve.step]
    assert curve.lr.tolist() == pytest.approx([3e-4] * 5)


def test_groups_of_parameters_with_rates_of_their_own_are_told_apart(tmp_path):
    (tmp_path / "run.log").write_text("".join(f"step {k} loss {3 - k / 100} lr [0.2, 0.1]\n" for k in (10, 20, 30)))
    curve = read_curve(tmp_path / "run.log")
    assert curve.lr.tolist() == [0.2] * 3
    assert "that of 'lr/1' is 0.5 of it" in " ".join(curve.notes)


@pytest.mark.parametrize("late", [0, 1, -1])
def test_a_long_warmup_is_known_whichever_update_a_row_gives_the_rate_of(late):
    """A fifth of the steps: a straight line from 0, but for one update."""
    step = np.arange(10, 1001, 10)
    rate = np.minimum((step + late) / 200, 1.0) * (1.0 - step / 2000)
    rate[step < 200] = (step[step < 200] + late) / 200
    curve = curve_from({"step": step, "lr": 0.1 * rate, "loss": 3 - step / 2000})
    assert abs(curve.warmup - 190) <= 2


@pytest.mark.parametrize("last", [1000, 40])
def test_the_warmup_of_rates_that_are_given_is_that_of_rates_in_the_log(last):
    step, rates = np.arange(10, last + 1, 10), 0.1 * np.minimum(np.arange(1001) / 50, 1.0)
    table = {"step": step, "loss": 3 - step / 2000}
    given = curve_from(table, schedule=rates[:-1])
    assert given.warmup == curve_from(table | {"lr": rates[step]}).warmup == (50 if last == 1000 else 0)
    assert any("taken for warmup" in note for note in given.notes) is (last == 1000)
    assert curve_from(table, schedule=rates[:-1], warmup=0).warmup == 0


def test_a_data_frame_of_polars_is_a_table():
    class Cells(list):
        def to_numpy(self):
            return np.array(self)

        def is_null(self):
            return [cell is None for cell in self]

    class Frame(dict):
        columns = property(list)
        to_numpy = None

        def __len__(self):
            return 3

    frame = Frame(
        step=Cells([1, 2, 3]), lr=Cells([0.1] * 3), loss=Cells([3.0, 2.5, 2.0]), val_loss=Cells([None, None, 2.0])
    )
    assert curve_from(frame).loss.tolist() == [3.0, 2.5, 2.0]


def test_a_table_in_markdown_is_read_and_a_row_of_dashes_elsewhere_is_none(tmp_path):
    rows = "".join(f"| {k} | 0.1 | {3 - k / 100} |\n" for k in (10, 20, 30))
    (tmp_path / "run.md").write_text("| step | lr | loss |\n| --- | :--: | --: |\n" + rows)
    assert read_curve(tmp_path / "run.md").step.tolist() == [10, 20, 30]
    (tmp_path / "run.csv").write_text("step,lr,loss\n10,0.1,3\n---,---,---\n")
    with pytest.raises(CurveError, match="holds '---', which is not a number"):
        read_curve(tmp_path / "run.csv")


def test_a_rate_named_for_its_optimiser_is_no_multiplier():
    steps, rates = np.arange(1, 9), np.full(8, 0.02)
    for name, multiplier in (("lr_muon", False), ("lrm", True), ("lr_mult", True)):
        notes = curve_from({"step": steps, name: rates, "loss": 2 + 1 / steps}).notes
        assert any("is a multiplier" in note for note in notes) is multiplier


def test_steps_in_per_cent_are_none(tmp_path):
    (tmp_path / "run.log").write_text("".join(f"step {k}% loss {3 - k / 100} lr 0.1\n" for k in (10, 20, 30)))
    with pytest.raises(CurveError, match=r"row 1: step must be a whole number of updates, got 0\.1"):
        read_curve(tmp_path / "run.log")


def test_a_loss_logged_as_a_tensor_is_its_number(tmp_path):
    (tmp_path / "run.csv").write_text("step,lr,loss\n1,0.1,tensor(2.5)\n2,0.1,\"tensor(2.25, device='cuda:0')\"\n")
    assert read_curve(tmp_path / "run.csv").loss.tolist() == [2.5, 2.25]


@pytest.mark.parametrize("again", ["step,lr,loss", " step, lr , loss", '"step","lr","loss"', "\ufeffstep,lr,loss"])
def test_files_put_together_have_their_header_again(again, tmp_path):
    rows = ["step,lr,loss", "1,0.1,3.0", "2,0.1,2.5", again, "3,0.1,2.25"]
    (tmp_path / "run.csv").write_text("\n".join([*rows, ""]), encoding="utf-8-sig")
    assert read_curve(tmp_path / "run.csv").loss.tolist() == [3.0, 2.5, 2.25]
    (tmp_path / "run.csv").write_text("\n".join([*rows, "step,loss,lr", "4,2.0,0.1", ""]))
    with pytest.raises(CurveError, match="row 6: column 'step' holds 'step', .* a second header stands here"):
        read_curve(tmp_path / "run.csv")


def rows_of_both(start):
    """Of training every 10 updates, and of validation every 50, the loss higher by a half."""
    for step in range(10, 1010, 10):
        yield "train", step, 2.0 + 1.0 / step
        if step % 50 == 0:
            yield "val", step + start, 2.5 + 1.0 / step


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize(
    "line",
    [
        '{{"mode": "{0}", "step": {1}, "lr": 0.1, "loss": {2}}}',
        "{0},{1},0.1,{2}",
        "[{0}] step {1} loss {2} lr 0.1",
        "12:00:01 INFO {0} | step {1} | loss {2} | lr 0.1",
        "{0}: step {1} loss {2} lr 0.1",
    ],
)
def test_rows_of_training_and_of_validation_are_told_apart(line, start, tmp_path):
    """In one series every validation would look like a spike of the training loss."""
    head = ["split,step,lr,loss"] if line.startswith("{0},") else []
    path = tmp_path / "run.log"
    path.write_text("\n".join([*head, *(line.format(*row) for row in rows_of_both(start)), ""]))
    validation = read_curve(path)
    assert validation.step.tolist() == [step + start for step in range(50, 1010, 50)]
    assert validation.loss == pytest.approx(2.5 + 1.0 / np.arange(50, 1010, 50))
    assert "'validation loss' in run, of validation, 20 rows; there too: 'loss'" in " ".join(validation.notes)
    training = read_curve(path, columns={"loss": "loss"})
    assert training.loss == pytest.approx(2.0 + 1.0 / np.arange(10, 1010, 10))
    assert set(training.plan.rates) == {0.1}


def test_a_column_of_other_words_parts_nothing_and_validation_alone_keeps_its_rate():
    table = Table({"type": ["train", "checkpoint"], "step": [1, 2], "lr": [0.1, 0.1], "loss": [3.0, 2.5]}, [2, 3])
    assert list(by_split(table)) == [table]
    [alone] = by_split(Table({**table.columns, "type": ["val", "val"]}, [2, 3]))
    assert list(alone.columns) == ["type", "step", "lr", "validation loss"]


@pytest.mark.parametrize(("base", "unit"), [(2.0, "bits"), (np.e, "nats")])
def test_the_perplexity_beside_a_loss_gives_its_unit(base, unit):
    seen = np.array([3.0, 2.5])
    table = Table({"loss": seen, "ppl": base**seen}, [2, 3])
    values, known = in_nats(Series("loss", np.arange(2.0), seen, [2, 3], meaning("loss"), table), "auto")
    assert known == unit and values == pytest.approx(seen * np.log(base))


METRICS = {
    "sacred": {"train.loss": {"steps": [50, 100], "timestamps": ["2026-01-01T10:00", "2026-01-01T10:01"],
                              "values": [3.0, 2.5]}, "train.lr": {"steps": [50, 100], "values": [0.2, 0.2]}},
    "aim": [{"name": "loss", "context": {"subset": "train"}, "steps": [50, 100], "values": [9.0, 9.0]},
            {"name": "loss", "context": {"subset": "val"}, "steps": [50, 100], "values": [3.0, 2.5]},
            {"name": "lr", "context": {}, "steps": [50, 100], "values": [0.2, 0.2]}],
    "research": {"steps": [50, 100], "values": [7.0, 7.0], "lr": [0.2, 0.2], "loss": [3.0, 2.5]},
}  # fmt: skip


@pytest.mark.parametrize("tracker", METRICS)
def test_metrics_that_are_lists_of_steps_and_values_are_read(tracker, tmp_path):
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps(METRICS[tracker]))
    curve = read_curve(path)
    assert curve.step.tolist() == [50, 100] and curve.loss.tolist() == [3.0, 2.5]
    assert curve.plan.rates.tolist() == [0.2] * 100


def test_blocks_of_composer_are_read(tmp_path):
    block = (
        "[batch={0}/4000]:\n\t Train time/batch: {1}\n\t Train time/token: {2}\n\t Train loss/train/total: {3}\n"
        + ("\t Train lr-DecoupledAdamW/group0: 1.0000e-03\n")
    )
    path = tmp_path / "run.log"
    path.write_text("Starting training...\n" + "".join(block.format(k, k - 1, 99 * k, 3 - k / 1e4) for k in (50, 100)))
    curve = read_curve(path)
    assert curve.step.tolist() == [50, 100] and curve.loss.tolist() == [2.995, 2.99] and curve.lr.tolist() == [1e-3] * 2


def test_what_a_trainer_prints_without_steps_says_where_they_are(tmp_path):
    """A banner made it a table whose header names ***** twice."""
    path = tmp_path / "run.log"
    path.write_text("***** Running training *****\n" + "{'loss': 3.5, 'learning_rate': 1e-3, 'epoch': 0.1}\n" * 3)
    with pytest.raises(CurveError, match=r"transformers keeps the steps in trainer_state\.json"):
        read_curve(path)


def test_a_table_with_steps_is_not_said_to_have_none():
    with pytest.raises(CurveError, match="no column for lr and loss among 'step', 'speed'"):
        curve_from({"step": [1, 2], "speed": [5, 6]})
    with pytest.raises(CurveError, match="no column for step and lr and loss among 'speed'"):
        curve_from({"speed": [5, 6]})


def test_masked_numbers_of_a_table_are_none():
    """They were read as the numbers behind the mask."""
    table = {"step": [1, 2, 3], "lr": [0.1] * 3, "loss": np.ma.masked_equal([3.0, 99.0, 2.5], 99.0)}
    rows = np.ma.array([(1, 0.1, 3.0), (2, 0.1, 99.0), (3, 0.1, 2.5)], dtype=[(name, float) for name in table])
    rows["loss"][1] = np.ma.masked
    for masked in (table, rows):
        with pytest.raises(CurveError, match="row 1: column 'loss' has no value here"):
            curve_from(masked)
        assert curve_from(masked, drop_missing=True).loss.tolist() == [3.0, 2.5]
    assert curve_from(table | {"loss": np.ma.array([3.0, 2.7, 2.5])}).loss.tolist() == [3.0, 2.7, 2.5]
    with pytest.raises(CurveError, match=r"one length, got \{'step': 3, 'lr': 3, 'loss': \(3, 1\)\}"):
        curve_from(table | {"loss": np.ones((3, 1))})


@pytest.mark.parametrize(
    ("head", "row", "tail"),
    [
        ("", 'ts=2026-01-01T10:00:00Z level=info step={0} loss={1} lr=1e-3 msg="train step"\n', ""),
        ("+---+---+---+\n|step|lr|loss|\n+---+---+---+\n", "|{0}|1e-3|{1}|\n", "+---+---+---+\n"),
        ("step,lr,name,loss\n", "{0},1e-3,train,9\n{0},1e-3,eval,{1}\n", ""),
        ('{"step":{"0":50,"1":100},"lr":{"0":1e-3,"1":1e-3},"loss":{"0":3.0,"1":2.5}}', "", ""),
    ],
    ids=["logfmt", "as Spark shows a table", "names of splits", "DataFrame.to_json"],
)
def test_what_other_tools_write_is_read(head, row, tail, tmp_path):
    path = tmp_path / "run.log"
    path.write_text(head + row.format(50, 3.0) + row.format(100, 2.5) + tail)
    [curve] = read_curves(path)
    assert curve.step.tolist() == [50, 100] and curve.loss.tolist() == [3.0, 2.5]
