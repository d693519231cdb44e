"""Logs as the frameworks write them: the loss, the rate of every update and the batch size come out as they were."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsl_num import curve_from, read_curve, read_curves
from fsl_num.curves.curve import CurveError
from fsl_num.curves.logs import LogOptions, curve_of
from fsl_num.curves.records import tables_of
from fsl_num.curves.resumed import kept_last
from fsl_num.curves.runs import series_of
from fsl_num.curves.tables import as_table
from fsl_num.curves.text_logs import record_of
from tests.fsl_num.log_shapes import LAST, SHAPES, WARMUP, rate


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_log_of_this_shape_is_read_unaided(shape, tmp_path):
    if shape.__name__ == "wandb_parquet":
        pytest.importorskip("pyarrow")
    said = shape(tmp_path)
    curve = read_curves(said.paths, **said.options)[0]
    half = 10 if "mean" in " ".join(curve.notes) else 0
    assert curve.step.tolist() == (said.steps - half).tolist()
    np.testing.assert_allclose(curve.loss, said.loss(said.steps), rtol=2 * said.digits)
    # the rate between two rows is that of a straight line, which a cosine leaves by its curvature at most
    rates, steps = curve.plan.rates, np.arange(curve.plan.rates.size)
    later = steps >= WARMUP + 100
    bend = 0.45 * (np.pi / (LAST - WARMUP)) ** 2 * 100**2 / 8
    np.testing.assert_allclose(rates[later], said.scale * rate(steps)[later], rtol=0, atol=said.scale * 6e-4 * bend)
    assert said.batch is None or np.median(curve.batch_size) == pytest.approx(said.batch)


def rows_of(steps, loss="loss", **columns):
    steps = np.asarray(steps)
    return {"step": steps, "lr": rate(steps), loss: 2.0 + 1.0 / steps, **columns}


def records_of(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def notes_of(table, **options):
    return " ".join(curve_from(table, **options).notes)


def test_plain_columns_need_no_words():
    assert curve_from(rows_of(np.arange(200, 400))).notes == ()


def test_validation_is_preferred_and_the_choice_is_said():
    steps = np.arange(100, 200)
    table = rows_of(steps, "train/loss") | {"val/loss": 3.0 + 1.0 / steps}
    assert curve_from(table).loss[0] == 3.01
    assert "of validation, 100 rows; there too: 'train/loss' (--columns loss=...)" in notes_of(table)
    assert curve_from(table, columns={"loss": "train/loss"}).loss[0] == 2.01
    # a handful of evaluations gives way to the training loss
    few = [value if step % 25 == 0 else None for step, value in zip(steps, table["val/loss"], strict=True)]
    seldom = curve_from(records_of(table | {"val/loss": few}))
    assert len(seldom) == 100 and "of training" in seldom.notes[0]


def test_evaluations_between_the_rows_of_training_are_records_of_their_own():
    """Six among a hundred rows, without a rate and a training loss; a row that holds half of them is still refused."""
    steps = np.arange(1, 101)
    records = records_of(rows_of(steps, "train/loss"))
    records += [{"step": step, "val/loss": 3.0 + 1.0 / step} for step in (20, 40, 60, 80, 90, 100)]
    records.sort(key=lambda record: record["step"])
    assert len(curve_from(records)) == 100 and len(curve_from(records).lr) == 100
    half = [record | {"lr": None} if record["step"] in (33, 44) and "lr" in record else record for record in records]
    with pytest.raises(CurveError, match="'lr' has no value here"):
        curve_from(half)


def test_losses_or_rates_of_one_kind_are_a_question():
    table = rows_of(np.arange(1, 30), "val_a/loss")
    with pytest.raises(CurveError, match=r"could each be the loss.*--columns loss=val_a/loss"):
        curve_from(table | {"val_b/loss": table["val_a/loss"]})
    steps = np.arange(1, 30)
    losses = {"step": steps, "loss": 2.0 + 1.0 / steps}
    with pytest.raises(CurveError, match="could each be the learning rate"):
        curve_from(losses | {"lr_b": np.ones(29), "lr_a": np.arange(29.0)})
    groups = losses | {"lr-Adam/pg1": rate(steps), "lr-Adam/pg2": 3 * rate(steps)}
    curve = curve_from(groups)
    np.testing.assert_array_equal(curve.lr, rate(np.arange(1, 30)))
    # peaks are meant in its unit, which is said where the groups differ
    assert "the rate is 'lr-Adam/pg1'; that of 'lr-Adam/pg2' is 3 of it" in " ".join(curve.notes)
    assert "pg1" not in " ".join(curve_from(groups | {"lr-Adam/pg2": rate(steps)}).notes)


def test_a_loss_with_its_perplexity_beside_it_tells_its_unit():
    steps = np.arange(100, 200)
    nats = 3.0 - steps / 1000
    table = {"step": steps, "lr": rate(steps), "loss": nats / np.log(2), "ppl": np.exp(nats)}
    np.testing.assert_allclose(curve_from(table).loss, nats, rtol=1e-15)
    assert "in bits" in notes_of(table)
    np.testing.assert_array_equal(curve_from(table | {"loss": nats}).loss, nats)
    np.testing.assert_array_equal(curve_from(table, loss_unit="nats").loss, nats / np.log(2))


def test_a_perplexity_called_loss_is_noticed_by_its_start():
    steps = np.arange(1, 200)
    table = {"step": steps, "lr": np.full(199, 0.1), "loss": np.exp(2.0 + 9.0 / steps)}
    assert np.median(table["loss"]) < 20
    with pytest.raises(CurveError, match=r"row 0: the loss is 59874.1 at first.*--loss-unit perplexity"):
        curve_from(table)
    assert curve_from(table, loss_unit="perplexity").loss[0] == pytest.approx(11.0)


@pytest.mark.parametrize("name", ["gradient_noise_scale", "train/gns", "scale of the loss"])
def test_a_noise_scale_is_said_not_to_be_used(name):
    step = np.arange(100, 2001, 20)
    table = {
        "step": step,
        "lr": np.full(step.size, 1e-3),
        "loss": 2.0 + step**-0.4,
        name: np.linspace(50.0, 90.0, step.size),
    }
    notes = curve_from(table).notes
    assert any(f"the noise scale {name!r} is not used" in note for note in notes) == (name != "scale of the loss")


def test_rates_in_units_of_their_own_are_said():
    steps = np.arange(200, 300)
    assert "multiplier" in notes_of({"step": steps, "lrm": np.linspace(1, 0, 100), "loss": np.full(100, 2.0)})
    assert "reaches 600" in notes_of({"step": steps, "lr": np.full(100, 600.0), "loss": np.full(100, 2.0)})


def test_a_warmup_in_the_log_is_recognised_and_one_that_is_given_counts():
    steps = np.arange(10, 2001, 10)
    table = {"step": steps, "lr": rate(steps), "loss": 2.0 + 1.0 / steps}
    found = curve_from(table)
    assert found.warmup == WARMUP and "taken for warmup" in found.notes[0]
    np.testing.assert_allclose(found.plan.rates[:WARMUP], rate(np.arange(WARMUP)), rtol=1e-12)
    assert curve_from(table, warmup=50).warmup == 50
    slow = {"step": steps, "lr": np.minimum(steps / 1000, 1.0), "loss": table["loss"]}
    assert curve_from(slow).warmup == 0, "a rise over half of the run is the schedule itself"


def test_steps_of_a_resumed_run_are_refused_or_the_last_ones_kept():
    steps = np.concatenate([np.arange(1, 51), np.arange(31, 81)])
    loss = np.concatenate([np.full(50, 2.5), np.full(50, 2.0)])
    table = {"step": steps, "lr": np.full(100, 0.1), "loss": loss}
    with pytest.raises(CurveError, match=r"row 50: .*--restarts keep-last"):
        curve_from(table)
    curve = curve_from(table, restarts="keep-last")
    assert curve.step.tolist() == list(range(1, 81)) and curve.loss[29:31].tolist() == [2.5, 2.0]
    assert curve.notes == ("20 rows that a resumed run did again: the last ones kept",)


def test_tokens_in_place_of_steps():
    tokens = np.arange(1, 40) * 4096
    table = {"tokens": tokens, "lr": np.full(39, 0.1), "loss": np.full(39, 2.0)}
    with pytest.raises(CurveError, match="--tokens-per-step"):
        curve_from(table)
    assert curve_from(table, tokens_per_step=4096).step.tolist() == list(range(1, 40))
    assert curve_from(table | {"batch_size_in_tokens": np.full(39, 2048)}).step[0] == 2
    assert curve_from(table | {"step": tokens}, tokens_per_step=4096).step[-1] == 39


def test_rounded_counts_of_tokens_are_one_batch_size():
    steps = np.arange(1, 40)
    table = {"step": steps, "lr": np.full(39, 0.1), "loss": np.full(39, 2.0)}
    assert set(curve_from(table | {"tokens": np.round(steps * 1000.4)}).batch_size) == {1000.0}
    assert len(set(curve_from(table | {"tokens": np.cumsum(steps)}).batch_size)) == 38


def test_rates_that_end_before_the_losses_are_refused():
    table = rows_of(np.arange(1, 101)) | {"lr": [0.1 if k < 50 else None for k in range(100)]}
    with pytest.raises(CurveError, match="no value here"):
        curve_from(table)
    losses, rates = (
        {"step": np.arange(1, 101), "loss": np.full(100, 2.0)},
        {"step": np.arange(1, 51), "lr": np.ones(50)},
    )
    with pytest.raises(CurveError, match=r"the learning rates 'lr' end at step 50, the losses 'loss' at 100"):
        single_of(losses, rates)
    assert single_of(losses, {"step": np.arange(9, 100, 10), "lr": np.ones(10)}).plan.rates.size == 100


def single_of(*tables):
    return curve_of([as_table(table) for table in tables], LogOptions())


def test_a_diverged_tail_is_no_seldom_recorded_column():
    rows = [{"step": k, "lr": 0.1, "loss": 2.0 if k < 30 else None} for k in range(1, 101)]
    with pytest.raises(CurveError, match=r"no value here \(71 such rows\)"):
        curve_from(rows)
    diverged = {"step": np.arange(1, 101), "lr": np.ones(100), "loss": np.where(np.arange(100) < 30, 2.0, np.nan)}
    with pytest.raises(CurveError, match="must be finite"):
        curve_from(diverged)


def test_several_runs_in_one_table_and_several_tables_of_one_run(tmp_path):
    path = SHAPES["wandb_sweep"](tmp_path).paths[0]
    assert [curve.name for curve in read_curves(path)] == ["sweep: base", "sweep: other"]
    with pytest.raises(CurveError, match=r"holds 2 runs .*read_curves"):
        read_curve(path)
    loss, lr = SHAPES["wandb_chart"](tmp_path).paths
    with pytest.raises(CurveError, match=r"loss.csv.*no column for lr among 'Step', .*LOG\+RATES"):
        read_curves([loss, path])
    assert [curve.name for curve in read_curves([loss, lr, path])] == ["sweep: base", "sweep: other", "loss"]
    assert len(read_curve([loss, lr])) == 100


def test_a_folder_is_its_runs(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("step,lr,loss\n1,0.1,3\n2,0.1,2\n")
    (tmp_path / "readme.md").write_text("# runs\n")
    assert [len(curve) for curve in read_curves(tmp_path)] == [2, 2]


def test_a_branch_has_the_rates_of_the_run_before_it():
    parent = curve_from(rows_of(np.arange(10, 1001, 10)))
    branch = {"step": np.arange(500, 701, 10), "lr": np.linspace(1e-4, 0, 21), "loss": np.full(21, 2.0)}
    curve = curve_from(branch, branch_of=parent)
    np.testing.assert_array_equal(curve.plan.rates[:500], parent.plan.rates[:500])
    assert curve.plan.rates[500] == 1e-4 and curve.warmup == parent.warmup
    again = curve_from(branch | {"step": branch["step"] - 499}, branch_of=parent, branch_step=500)
    assert again.step.tolist() == (branch["step"] + 1).tolist()
    with pytest.raises(CurveError, match="--branch-of FILE@STEP"):
        curve_from(branch, branch_of=parent, branch_step=5000)
    with pytest.raises(ValueError, match="branch_step needs branch_of"):
        curve_from(branch, branch_step=5)


def test_parquet_that_is_damaged_or_cannot_be_read_is_said(tmp_path, monkeypatch):
    (tmp_path / "run.parquet").write_bytes(b"PAR1rest")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(CurveError, match=r"needs pyarrow.*functional-scaling-laws\[data\]"):
        read_curve(tmp_path / "run.parquet")


def test_nested_json_is_taken_apart():
    tables = tables_of({"steps": [1, 2], "losses": {"train": [3.0, 2.0], "val": [3.1, 2.1]}, "args": {"lr": 1}}, "run")
    assert [sorted(table.columns) for table in tables] == [["steps"], ["losses/train", "losses/val", "steps"]]
    assert tables_of({"log": [{"step": 1, "train": {"loss": 3.0}}]}, "run")[0].columns == {
        "step": [1],
        "train/loss": [3.0],
    }
    assert tables_of({"betas": "0.9"}, "run") == []
    with pytest.raises(CurveError, match="row 2: run: a record of names and values is needed, not '7'"):
        tables_of([{"step": 1}, 7], "run")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("[titan] INFO - step: 10  loss:  7.0123  grad_norm:  1.2 memory: 10.5GiB(20%)",
         {"step": 10, "loss": 7.0123, "grad_norm": 1.2}),
        ("2023-01-01 | INFO | train_inner | epoch 001: 100 / 2000 loss=9.1, ppl=550.1, num_updates=100, lr=6e-06",
         {"loss": 9.1, "ppl": 550.1, "num_updates": 100, "lr": 6e-6}),
        ("iteration: 100 / 500 | consumed_tokens: 409.6K | lm_loss: 7.4 | lr: 0.0003",
         {"iteration": 100, "consumed_tokens": 409_600, "lm_loss": 7.4, "lr": 3e-4}),
        ("[2024-01-01 00:00:00] INFO step 50/8000 | loss 4.39 | lr 7.5e-04", {"step": 50, "loss": 4.39, "lr": 7.5e-4}),
        ("12:00:01 WARNING     iter 5: train loss 4.3", {"iter": 5, "train loss": 4.3}),
        ("validation loss at iteration 9 | lm loss value: 3.1 |", {"iteration": 9, "validation lm loss value": 3.1}),
        ("iter 5: loss nan, time 3ms", {"iter": 5, "loss": np.nan}),
        ("5%|#  | 100/2000 [1:00:09<?, 11.1it/s, loss=2.5, lr=1e-3]", {"step": 100, "loss": 2.5, "lr": 1e-3}),
        ("100/2000 [00:09<02:51,  9.0s/it]", {}),
        ("iter 5: loss: nan", {"iter": 5, "loss": np.nan}),
        ("loss 3,45", {}),
        ("[eval] iter 5: loss 3.5", {"iter": 5, "validation loss": 3.5}),
        ("iter 5 | loss 3.5 | eval: 2s", {"iter": 5, "loss": 3.5}),
        ("[test-run] iter 5: loss 3.5, val: 3.6", {"iter": 5, "loss": 3.5}),
    ],
)  # fmt: skip
def test_numbers_of_a_printed_line_go_by_the_names_before_them(line, found):
    record = record_of(line)
    assert {name: record.get(name) for name in found} == pytest.approx(found, nan_ok=True)
    assert {"time", "memory", "ms"}.isdisjoint(record)


RECORDS = [
    {"trainer": {"step": k}, "loss": 2 + 1 / k, "optim": {"param_groups": [{"lr": 0.1 / k}, {"lr": 0.01 / k}]}}
    for k in range(1, 40)
]


@pytest.mark.parametrize("name", ["lines", "list"])
def test_rates_in_lists_of_groups_are_read(name, tmp_path):
    """As an optimiser has them, one record a group, and as a scheduler returns them, a list of one."""
    alone = [
        {"step": record["trainer"]["step"], "loss": record["loss"], "lr": [0.1 / k]}
        for k, record in enumerate(RECORDS, 1)
    ]
    for records in (RECORDS, alone):
        text = json.dumps(records) if name == "list" else "\n".join(map(json.dumps, records))
        (tmp_path / "run.jsonl").write_text(text)
        curve = read_curve(tmp_path / "run.jsonl")
        assert curve.step.tolist() == list(range(1, 40)) and curve.lr == pytest.approx([0.1 / k for k in range(1, 40)])


def test_a_log_whose_lines_begin_with_a_bracket_is_no_json(tmp_path):
    lines = [f"[00:00:{k}] INFO step {k} | loss {2 + 1 / k:.4f} | lr 1e-3\n" for k in range(10, 40)]
    (tmp_path / "train.log").write_text("".join(lines))
    assert read_curve(tmp_path / "train.log").step.tolist() == list(range(10, 40))


def test_too_many_tokens_an_update_are_refused_where_rows_fall_on_one():
    table = {"step": 4096 * np.arange(1, 40), "lr": np.full(39, 0.1), "loss": 2 + 1 / np.arange(1, 40)}
    assert curve_from(table, tokens_per_step=4096).step.tolist() == list(range(1, 40))
    with pytest.raises(CurveError, match="1e[+]06 tokens .* put rows of 4096 and of 8192 on one update, 0: .* fewer"):
        curve_from(table, tokens_per_step=1e6)


def test_a_run_that_counts_anew_is_told_from_one_that_was_resumed():
    again = np.r_[np.arange(1, 40), np.arange(20, 60)]
    anew = np.r_[np.arange(1, 40), np.arange(1, 60)]
    said = []
    for steps in (again, anew):
        table = {"step": steps, "lr": np.full(steps.size, 0.1), "loss": 2 + 1 / np.arange(1, steps.size + 1)}
        with pytest.raises(CurveError, match="where it went on and only counts anew, add the steps done before"):
            curve_from(table)
        said.append(" ".join(curve_from(table, restarts="keep-last").notes))
    assert "counts anew" not in said[0] and "of the first ones none: where the run went on and counts anew" in said[1]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_what_a_resumed_run_did_again_counts_once(steps):
    series = series_of([as_table({"step": steps, "loss": np.arange(len(steps))})], "run", {}, needs=("loss",))["loss"]
    kept, dropped = kept_last(series)
    assert (np.diff(kept.step) > 0).all() and kept.step.size + dropped == len(steps)
    last = dict(
        zip(series.step, series.values, strict=True)
    )  # rows all from the last step on stand the other way round
    assert all(last[step] == place for step, place in zip(kept.step, kept.values, strict=True))
    assert kept.values[-1] == series.values[-1]
