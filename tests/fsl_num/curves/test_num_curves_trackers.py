"""Exports of experiment trackers, lines of trainers that count within epochs, numbers of other countries."""

import json

import numpy as np
import pytest

from fsl_num.curves.curve import CurveError
from fsl_num.curves.reading import read_curve, read_curves

STEPS = np.arange(50, 2001, 50)
RATES = np.round(0.01 * (1 - STEPS / 4000), 6)
LOSSES = np.round(2 + 30 / (STEPS + 10), 4)
RUN = list(zip(STEPS.tolist(), RATES.tolist(), LOSSES.tolist(), strict=True))
EPOCH = 500


def written(path, head, row, rows=RUN):
    """A file with a head and, for each row of the run, what ``row`` makes of its step, rate and loss."""
    path.write_text("\n".join([*head, *(row(*cells) for cells in rows), ""]), encoding="utf-8")
    return path


def assert_the_run(curve):
    assert curve.step.tolist() == STEPS.tolist()
    assert curve.loss.tolist() == pytest.approx(LOSSES.tolist())
    assert curve.plan.rates[STEPS[:-1]] == pytest.approx(RATES[:-1])


def comma(number):
    return str(number).replace(".", ",")


def pairs(row):
    """A row each of loss and rate."""
    return lambda *cells: row(cells[0], "loss", cells[2]) + "\n" + row(cells[0], "lr", cells[1])


def abroad(between, thousands):
    """Decimal commas, and a sign that parts thousands."""
    return lambda *cells: between.join((f"{cells[0]:,}".replace(",", thousands), cells[5], cells[6]))


BLOCK = """[step={0}/2000,epoch=0]
    optim/LR (group 0)={1}
    train/CE loss={2}
    throughput/total tokens={3:,}"""


def within(step):
    """The epoch of an update, from 0, and its number there, from 1."""
    return (step - 1) // EPOCH, (step - 1) % EPOCH + 1


EXPORTS = {
    "comet": ("metricName,metricValue,timestamp,step,epoch", pairs("{1},{2},17,{0},".format)),
    "codeparrot": ("Loading", "Step {3}: {{'lr': {1}, 'completed_steps': {0}, 'loss/train': {2}}}".format),
    "litgpt": ("Loading", "Epoch 1 | iter {3} step {0} | loss train: {2}, lr: {1} | iter time: 9 ms (step)".format),
    "fairseq": ("Loading", '| train | {{"update": 0.1, "nll": "{2}", "ppl": "{4:.5f}", "num_updates": "{0}",'
                ' "lr": "{1}"}}'.format),
    "micro-steps": ("step,update_step,lr,loss", "{3},{0},{1},{2}".format),
    "completed": ("step,completed_steps,lr,loss", "{3},{0},{1},{2}".format),
    "olmo": ("Loading", BLOCK.format),
    "olmo with times": ("Loading", f"2026-01-01T00:00:00Z INFO [train:864] {BLOCK}".format),
    "mmengine": ("Loading", "- INFO - Iter(train) [{0:5d}/2000]  lr: {1}  eta: 1:00:00  loss: {2}".format),
    "hint for Excel": ("sep=;\nstep;lr;loss", abroad(";", "")),
    "points part thousands": ("step;lr;loss", abroad(";", ".")),
    "spaces part thousands": ("step;lr;loss", abroad(";", "\u202f")),
    "apostrophes part thousands": ("step\tlr\tloss", abroad("\t", "'")),
    "quoted decimal commas": ("step,lr,loss", '{0},"{5}","{6}"'.format),
    "a version with points": ("run;step;lr;loss", "v1.2.0;{0};{5};{6}".format),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_what_can_be_read_in_one_way_is(name, tmp_path):
    """Updates, not micro-steps or the time that is left; numbers as they are meant."""
    head, row = EXPORTS[name]
    rows = [(s, lr, loss, 8 * s, np.exp(loss), comma(lr), comma(loss)) for s, lr, loss in RUN]
    assert_the_run(read_curve(written(tmp_path / "run.txt", [head], row, rows)))


def test_series_of_neptune_and_clearml_are_read(tmp_path):
    (tmp_path / "neptune").mkdir()
    for at, name in ((1, "learning_rate"), (2, "loss")):
        rows = [(place, cells[0], cells[at]) for place, cells in enumerate(RUN)]
        written(tmp_path / "neptune" / f"{name}.csv", [",step,value,timestamp"], "{},{}.0,{},2026-01-01".format, rows)
    assert_the_run(read_curve(tmp_path / "neptune"))
    lines = {"lr": RATES.tolist(), "loss": LOSSES.tolist()}
    drawn = {name: {"name": name, "x": STEPS.tolist(), "y": values} for name, values in lines.items()}
    for number, value in enumerate((list(drawn.values()), {name: {"train": line} for name, line in drawn.items()})):
        (tmp_path / f"clearml{number}.json").write_text(json.dumps(value))
        assert_the_run(read_curve(tmp_path / f"clearml{number}.json"))


LINES = {
    "timm": (0, 0, "Train: {0} [{1:>4d}/500 (  9%)]  Loss: {3} ({3})  Time: 0.5s, 9.0/s  (0.5s, 9.0/s)  LR: {2}"),
    "ImageNet": (0, 0, "Epoch: [{0}][{1:>3}/500]\tTime  0.5 ( 0.5)\tLoss {3} ({3})\tlr {2}"),
    "torchvision": (0, 0, "Epoch: [{0}]  [{1:>3}/500]  eta: 0:01:00  lr: {2}  loss: {3} ({3})  time: 0.5"),
    "of a tutorial": (1, 1, "Epoch [{0}/4], Step [{1}/500], Loss: {3}, LR: {2}"),
    "mmengine": (1, 1, "- INFO - Epoch(train)  [{0}][{1}/500]  lr: {2}  eta: 1:00:00  loss: {3}"),
    "of a language model": (1, 1, "| epoch   {0} | {1:>5}/  500 batches | lr {2} | ms/batch 5.22 | loss {3} | ppl 9"),
    "without brackets": (1, 1, "Epoch 0{0}/04 | step {1}/500 | loss {3} | lr {2}"),
}
"""The number of the first epoch, that of the first update of an epoch, and a line."""


@pytest.mark.parametrize("name", LINES)
def test_updates_are_counted_on_from_epoch_to_epoch(name, tmp_path):
    epoch, update, line = LINES[name]
    rows = [(1, 0.01, 3.0), *RUN]
    counted = [(within(s)[0] + epoch, within(s)[1] - 1 + update, lr, loss) for s, lr, loss in rows]
    curve = read_curve(written(tmp_path / "run.log", [], line.format, counted))
    assert curve.step.tolist() == [row[0] for row in rows]
    assert curve.loss.tolist() == [row[2] for row in rows]


@pytest.mark.parametrize("first", [2, 3])
def test_epochs_of_a_resumed_log_are_not_taken_for_the_first(first, tmp_path):
    """How many updates went before cannot be said, but where epochs are always counted from 0."""
    line = "Epoch [{0}/9], Step [{1}/500], Loss: {3}, LR: {2}"
    rows = [(within(s)[0] + first, within(s)[1], lr, loss) for s, lr, loss in RUN]
    with pytest.raises(CurveError, match="step 50 does not come after the one before it"):
        read_curve(written(tmp_path / "run.log", [], line.format, rows))
    timm = "Train: {0} [{1}/500 (9%)]  Loss: {3} ({3})  LR: {2}"
    assert (
        read_curve(written(tmp_path / "run.log", [], timm.format, rows)).step.tolist() == (STEPS + first * 500).tolist()
    )


def test_a_count_of_the_whole_run_goes_on_through_its_epochs(tmp_path):
    line = "Epoch [{0}/4], Step [{1}/2000], Loss: {3}, LR: {2}"
    path = written(tmp_path / "run.log", [], lambda s, lr, loss: line.format(within(s)[0] + 1, s, lr, loss))
    assert_the_run(read_curve(path))


@pytest.mark.parametrize("restarts", ["refuse", "keep-last"])
@pytest.mark.parametrize(("head", "count"), [("epoch,step,lr,loss", 2), ("pass,step,lr,loss", 4)])
def test_steps_that_begin_anew_in_each_epoch_are_no_resumed_run(head, count, restarts, tmp_path):
    """Kept last would be the last epoch alone, said to be the whole run."""
    rows = [(*within(s), lr, loss) for s, lr, loss in RUN[: 10 * count]]
    path = written(tmp_path / "run.csv", [head], "{},{},{},{}".format, rows)
    anew = f"row 12: the steps begin anew {count - 1} times, with each epoch"
    match = "does not come after" if restarts == "refuse" else anew
    with pytest.raises(CurveError, match=match):
        read_curve(path, restarts=restarts)


def test_rows_in_disorder_are_no_resumed_run(tmp_path):
    rows = [RUN[place] for place in np.random.default_rng(0).permutation(len(RUN))]
    path = written(tmp_path / "run.csv", ["step,lr,loss"], "{},{},{}".format, rows)
    with pytest.raises(CurveError, match=r"the steps fall at \d+ of 40 rows, .* sort the rows"):
        read_curve(path, restarts="keep-last")
    assert_the_run(read_curve(written(tmp_path / "run.csv", ["step,lr,loss"], "{},{},{}".format, RUN[::-1])))


@pytest.mark.parametrize(("name", "factor"), [("bpc", np.log(2)), ("loss_base2", np.log(2)), ("log2_loss", None)])
def test_no_loss_to_the_base_2_is_taken_for_nats(name, factor, tmp_path):
    path = written(tmp_path / "run.csv", [f"step,lr,{name}"], "{},{},{}".format)
    if factor is None:
        with pytest.raises(CurveError, match="no column for loss among 'step', 'lr', 'log2_loss'"):
            read_curve(path)
    else:
        assert read_curve(path).loss == pytest.approx(LOSSES * factor)


def test_what_is_no_log_of_steps_says_what_is_missing(tmp_path):
    bar = "{{'loss': {2}, 'learning_rate': {1}, 'epoch': 0.1}}\n  5%|#  | {0}/2000 [00:10<01:00, 1.2it/s]"
    with pytest.raises(
        CurveError, match=r"row 2: .*an epoch is no step: transformers keeps the steps in trainer_state"
    ):
        read_curves(written(tmp_path / "run.log", [], bar.format))
    with pytest.raises(CurveError, match="no column for lr among 'step', 'loss'"):  # eta is the time that is left
        read_curves(written(tmp_path / "run.log", [], "eta: 1:00:00  iter: {0}  loss: {2}".format))
    path = written(tmp_path / "run.csv", ["step,loss,eta"], lambda s, lr, loss: f"{s},{loss},{4000 - s}")
    with pytest.raises(
        CurveError, match="'eta' in run reaches 3950: the time that is left, .* no column names a learning"
    ):
        read_curves(path)
    assert read_curve(path, columns={"lr": "eta"}).lr[0] == 3950.0
    with pytest.raises(CurveError, match="this is no table of a header .* and no printed log"):
        read_curves(written(tmp_path / "run.log", ["Starting"], "[{0}/2000] train_loss={2} lr={1}".format))
    with pytest.raises(CurveError, match="row 1: this is no table of a header .* and no printed log"):
        read_curves(written(tmp_path / "run.log", [], "[{0:06d}] lr={1} loss={2}".format))


def test_tokens_that_are_rounded_give_no_batch_sizes(tmp_path):
    row = "step {0} loss {2} lr {1} tokens {3:.0e}".format
    rows = [(*cells, cells[0] * 1e4) for cells in RUN]
    assert_the_run(read_curve(written(tmp_path / "run.log", [], row, rows)))
    for tokens in (lambda step: 500, lambda step: 1e6 - step):  # of a step, or falling
        rows = [(*cells, tokens(cells[0])) for cells in RUN]
        with pytest.raises(CurveError, match="the tokens seen so far must grow"):
            read_curve(written(tmp_path / "run.csv", ["step,lr,loss,tokens"], "{0},{1},{2},{3}".format, rows))
