"""What is said of the loss and the rate that were taken from a log."""

import numpy as np
import pytest

from fsl_num.curves.curve import CurveError
from fsl_num.curves.logs import curve_from
from fsl_num.curves.reading import read_curve
from fsl_num.schedules import step_rates

STEPS = np.arange(1, 40)
RATE = 1e-3 * np.minimum(1.0, (40 - STEPS) / 8)
RUN = {"step": STEPS, "loss": 2.0 + 1.0 / STEPS}


def notes(**columns):
    return " ".join(curve_from(RUN | columns).notes)


def test_of_groups_of_rates_the_one_that_was_taken_is_named_with_the_share_of_each_other():
    said = notes(**{"lr/pg1": RATE, "lr/pg2": 0.1 * RATE, "lr/pg3": RATE})
    assert "the rate is 'lr/pg1'; that of 'lr/pg2' is 0.1 of it: peaks are meant in its unit" in said
    assert "pg3" not in said  # the same in both
    many = notes(**{f"lr/pg{number}": RATE / number for number in range(1, 7)})
    assert "'lr/pg4' is 0.25 of it and 2 more" in many
    assert "peaks are meant" not in notes(lr=RATE)


@pytest.mark.parametrize(
    ("name", "scale", "words"),
    [
        ("lrm", 1e3, "is a multiplier"),
        ("lr", 1e6, "in units of its own"),
        ("lr", 1.0, ""),
        ("lr (x1e-3)", 1e3, "the name of the rate 'lr (x1e-3)' says a unit, 1e-3"),
        ("lr [10^-4]", 1e4, "says a unit, 10^-4"),
        ("lr %", 1e2, "says a unit, %"),
        ("eta (peak 1e-3)", 1.0, ""),
        ("small-1e-3 - lr", 1.0, ""),
        ("small-1e-3/lr", 1.0, ""),
    ],
)
def test_the_unit_of_a_rate_is_said(name, scale, words):
    said = notes(**{name: scale * RATE})
    assert words in said and bool(words) is ("predict" in said)


def test_other_losses_and_noise_scales_are_named():
    said = notes(**{"lr": RATE, "val/loss": RUN["loss"] + 0.1, "gradient_noise_scale": STEPS * 1.0})
    assert "the loss is 'val/loss', of validation, 39 rows; there too: 'loss'" in said
    assert "the noise scale 'gradient_noise_scale' is not used" in said


def test_a_column_that_counts_batches_is_no_batch_size():
    """Within an epoch it begins anew; a batch size that grows stays for many rows, and is taken as it is."""
    count = curve_from(RUN | {"lr": RATE, "batch": 1 + STEPS % 20})
    assert set(count.batch_size) == {1.0} and "'batch' grows from row to row: taken for a count" in count.notes[0]
    for columns in ({"batch": np.where(STEPS < 20, 64, 128)}, {"batch_size": 8 * STEPS}):
        assert curve_from(RUN | {"lr": RATE} | columns).batch_size.tolist() == list(columns.values())[0].tolist()
    said = curve_from(RUN | {"lr": RATE, "batch": STEPS}, columns={"batch_size": "batch"})
    assert said.batch_size.tolist() == STEPS.tolist()


def test_a_table_of_several_runs_says_how_to_give_one():
    """What reads files is no remedy for what is in memory."""
    runs = {name: np.tile(column, 2) for name, column in (RUN | {"lr": RATE}).items()}
    table = runs | {"run": np.repeat(["a", "b"], len(STEPS))}
    with pytest.raises(CurveError, match=r"the table holds 2 runs \(table: a, table: b\); give the rows of one alone"):
        curve_from(table)


@pytest.mark.parametrize(("most", "said"), [(1.0, True), (0.9995, True), (0.99, False), (1.01, False)])
def test_a_rate_that_almost_reaches_one_is_a_multiplier(most, said):
    """A cosine has lost a little until the first row that is logged."""
    assert ("is a multiplier" in notes(lr=1e3 * most * RATE)) is said


def test_a_rate_that_stands_alone_far_above_all_others_is_refused():
    """Else it is the peak, and every prediction that of another run."""
    wrong = RATE.copy()
    wrong[20] = 1.0
    with pytest.raises(CurveError, match=r"row 20: the rate 1 stands in this row alone, .* others \(up to 0\.001\)"):
        curve_from(RUN | {"lr": wrong})
    wrong[21] = 1.0  # two rows are a schedule, and a first row may be its peak
    assert curve_from(RUN | {"lr": wrong}).plan.peak == 1.0
    assert curve_from(RUN | {"lr": np.append(1.0, RATE[1:])}).plan.peak == 1.0


def test_a_loss_far_above_its_neighbours_is_named():
    loss = RUN["loss"].copy()
    loss[[10, 20]] = 250.0
    assert "row 10: the loss 250 is 120 times those beside it" in notes(loss=loss, lr=RATE)
    assert "(2 such rows)" in notes(loss=loss, lr=RATE) and "such rows" not in notes(lr=RATE)
    scatter = np.exp(0.1 * np.random.default_rng(0).normal(size=loss.size))
    for factor, said in ((1.5, True), (1.2, False)):
        loss = RUN["loss"].copy()
        loss[10] *= factor
        assert (f"is {factor} times those beside it" in notes(loss=loss, lr=RATE)) is said
        assert "times those beside it" not in notes(loss=loss * scatter, lr=RATE)


def test_another_rate_that_is_no_multiple_is_not_said_to_be_one():
    falling = RATE * np.linspace(1.0, 0.5, RATE.size)
    for other, words in ((RATE, "no multiple of it"), (falling / 2, "0.5 of it")):
        curve = curve_from(RUN | {"lr_0": falling, "lr_1": other}, columns={"lr": "lr_0"})
        assert f"that of 'lr_1' is {words}" in " ".join(curve.notes)


GLIDING, JUMPING = ("cosine", "linear", "wsd", "1-sqrt"), ("8-1-1", "multi-step", "constant")


def written(name, warmup, rows, digits):
    """A log of 4000 updates whose rates are written with so many digits behind the point."""
    rates = step_rates(name, peak=1e-3, steps=4000, **({"warmup": warmup} if warmup else {}))
    at = np.linspace(0, 4000, rows + 1).astype(int)[1:-1]
    return notes(step=at, loss=2.0 + 1.0 / at, lr=rates[at].round(digits))


@pytest.mark.parametrize("warmup", [0, 200])
@pytest.mark.parametrize("name", GLIDING)
@pytest.mark.parametrize(("rows", "digits"), [(40, 3), (400, 3), (400, 4)])
def test_rates_rounded_to_few_digits_are_said(name, warmup, rows, digits):
    """A cosine written as .001 and .000 is a drop to nothing, and every prediction that of another run."""
    assert f"falls by {10.0**-digits:g} at a time" in written(name, warmup, rows, digits)


@pytest.mark.parametrize("warmup", [0, 200])
@pytest.mark.parametrize("name", (*GLIDING, "cyclic", *JUMPING))
@pytest.mark.parametrize("rows", [11, 40, 400])
def test_rates_that_are_not_rounded_are_not_said_to_be(name, warmup, rows):
    assert "rounded" not in written(name, warmup, rows, 12)
    assert name not in JUMPING or "rounded" not in written(name, warmup, rows, 4)  # drops as large as they were


def test_rates_beside_a_log_are_taken_in_place_of_those_in_it(tmp_path):
    rates = step_rates("cosine", peak=1e-3, steps=40)
    rows = [f"{step},{rates[step - 1]:.3f},{2 + 1 / step}" for step in STEPS]
    (tmp_path / "run.csv").write_text("\n".join(["step,lr,loss", *rows]))
    (tmp_path / "rates.txt").write_text("\n".join(map(str, rates)))
    curve = read_curve([tmp_path / "run.csv", tmp_path / "rates.txt"])
    assert np.allclose(curve.plan.rates, rates[: STEPS[-1]], rtol=1e-12)
    assert not any("rounded" in note for note in curve.notes)


def test_a_running_mean_taken_for_the_loss_is_said_and_gives_way_to_the_losses_themselves():
    averaged = {"step": STEPS, "lr": RATE, "loss_ema": RUN["loss"]}
    assert "is a running mean, which lags" in " ".join(curve_from(averaged).notes)
    curve = curve_from(averaged | {"train_loss": RUN["loss"] + 1.0})
    assert curve.loss[0] == 4.0
    assert "running mean" not in " ".join(curve.notes)


@pytest.mark.parametrize("name", ["initial_lr", "lr_grad", "base_lr", "max_learning_rate", "lr_norm"])
def test_what_is_no_rate_of_an_update_is_asked_about(name):
    with pytest.raises(CurveError, match=f"no column for lr among .*'{name}'"):
        curve_from(RUN | {name: RATE})
    assert curve_from(RUN | {name: RATE}, columns={"lr": name}).lr[0] == RATE[0]  # said, it is taken


@pytest.mark.parametrize("name", ["best_loss", "target_loss", "loss_ratio"])
def test_what_is_no_loss_of_a_step_is_asked_about(name):
    with pytest.raises(CurveError, match="no column for loss"):
        curve_from({"step": STEPS, "lr": RATE, name: RUN["loss"]})


@pytest.mark.parametrize(("cell", "words"), [("0.1%", "0.001"), ("1k", "1000"), ("2.5M", "2500000")])
def test_a_cell_with_a_sign_of_its_unit_is_named_for_what_it_looks_like(cell, words):
    column = "lr" if "%" in cell else "step"
    cells = {"step": list(map(str, STEPS)), "lr": list(map(str, RATE)), "loss": RUN["loss"]}
    cells[column][7] = cell
    with pytest.raises(CurveError, match=f"it looks like {words}: write all cells of the column as plain numbers"):
        curve_from(cells)


def test_a_change_of_unit_within_a_log_is_said():
    """Half of a log in bits or perplexities, rates from some row on in percent, a digit too many."""
    late = STEPS > 20
    for other in (RUN["loss"] / np.log(2.0), np.exp(RUN["loss"])):
        assert "from row 20 on the losses stand" in notes(loss=np.where(late, other, RUN["loss"]), lr=RATE)
    assert "from row 20 on the rate is 100 times" in notes(lr=RATE * np.where(late, 100.0, 1.0))
    single = STEPS == 20
    assert "row 19: the rate 0.009999 is more than 5 times" in notes(lr=RATE * np.where(single, 9.999, 1.0))
    assert "the loss 18" in notes(loss=RUN["loss"] * np.where(single, 9.0, 1.0), lr=RATE)
    usual = notes(lr=RATE) + notes(lr=RATE * np.where(late, 0.1, 1.0)) + notes(lr=1e-3 * np.minimum(1.0, STEPS / 30))
    usual += notes(lr=1e-3 * (1 + np.sin(STEPS)))
    assert not any(words in usual for words in ("stand", "times that before", "beside"))
