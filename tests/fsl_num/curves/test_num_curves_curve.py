"""Loss curves: what is refused, with its row; rates rebuilt from rows; rows chosen and smoothed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.curves.rates import jumps, rates_of_rows
from fsl_num.schedules import schedule

STEP, LOSS, RATE = [10, 20, 30, 40], [4.0, 3.5, 3.2, 3.1], [0.1, 0.1, 0.1, 0.05]


@pytest.mark.parametrize(
    ("change", "told", "row"),
    [
        ({"loss": [4.0, float("nan"), 3.2, 3.1]}, "loss must be finite", 1),
        ({"loss": [4.0, 3.5, float("inf"), 3.1]}, "loss must be finite", 2),
        ({"loss": [4.0, 3.5, 0.0, 3.1]}, "loss must be positive", 2),
        ({"step": [10, 20, 20, 40]}, "does not come after", 2),
        ({"step": [10, 30, 20, 40]}, "does not come after", 2),
        ({"step": [-1, 20, 30, 40]}, "at least 0", 0),
        ({"step": [10, 20.5, 30, 40]}, "whole number", 1),
        ({"lr": [0.1, -0.1, 0.1, 0.1]}, "lr must be at least 0", 1),
        ({"lr": [0.1, 0.1, 0.1, float("nan")]}, "lr must be finite", 3),
        ({"lr": [0.0] * 4}, "nothing was trained", None),
        ({"lr": [0.1] * 3}, "one number a row", None),
        ({"lr": None}, "either as lr", None),
        ({"schedule": [0.1] * 40}, "either as lr", None),
        ({"lr": None, "schedule": [0.1] * 39}, "39 updates", 3),
        ({"batch_size": [1, 2, 0, 4]}, "batch_size must be positive", 2),
        ({"warmup": 50}, "no row lies after the warmup", None),
        ({"warmup_shape": "square"}, "warmup_shape", None),
        ({"loss": []}, "no rows", None),
    ],
)
def test_a_broken_curve_is_refused_with_its_row(change, told, row):
    with pytest.raises(CurveError, match=told) as caught:
        LossCurve(**{"step": STEP, "loss": LOSS, "lr": RATE, **change})
    assert caught.value.row == row


def test_a_linear_warmup_rises_from_zero_to_the_first_rate():
    """40 rows every 10 updates begin after a warmup of 100: half of its rates are missing from a constant one."""
    step = np.arange(100, 500, 10)
    curve = LossCurve(step, np.full(40, 3.0), lr=np.full(40, 0.2), warmup=100)
    assert curve.plan.rates[:100].tolist() == pytest.approx([0.2 * k / 100 for k in range(100)])
    held = LossCurve(step, np.full(40, 3.0), lr=np.full(40, 0.2), warmup=100, warmup_shape="constant")
    # the intrinsic time of the warmup: 0.2 (0 + 1 + .. + 99)/100 and 0.2 times 100
    assert curve.plan.intrinsic_time[0] == pytest.approx(9.9)
    assert held.plan.intrinsic_time[0] == pytest.approx(20.0)


def test_errors_name_the_rows_as_the_file_counts_them():
    with pytest.raises(CurveError, match="row 7: loss"):
        LossCurve(STEP, [4.0, 3.5, -1.0, 3.1], lr=RATE, rows=[3, 5, 7, 9])
    with pytest.raises(TypeError, match="loss must be a list of real numbers"):
        LossCurve(STEP, ["a"] * 4, lr=RATE)
    with pytest.raises(TypeError, match="rows must be whole numbers, one a row, got dtype <U1"):
        LossCurve(STEP, LOSS, lr=RATE, rows=list("abcd"))
    with pytest.raises(CurveError, match="step 12345678 does not come after"):
        LossCurve([1, 2, 12_345_679, 12_345_678], LOSS, lr=RATE)


def test_a_drop_is_a_step_and_a_slope_is_straight():
    drop = LossCurve(STEP, LOSS, lr=[0.1, 0.1, 0.01, 0.01]).plan.rates
    assert set(drop.tolist()) == {0.1, 0.01}
    assert int((drop == 0.1).sum()) == 30
    slope = LossCurve(STEP, LOSS, lr=[0.1, 0.08, 0.06, 0.04]).plan.rates
    assert slope[25] == pytest.approx(0.07)
    held = LossCurve(STEP, LOSS, lr=[0.1, 0.08, 0.06, 0.04], between="hold").plan.rates
    assert held[25] == 0.08


def test_rates_of_a_cosine_come_back_from_its_rows():
    true = schedule("cosine", peak=1e-3, steps=10_000).learning_rate(np.arange(10_000.0))
    step = np.arange(0, 10_000, 100)
    found = rates_of_rows(step, true[step])
    # straight lines over gaps of 1/100 of the length: (pi/100)^2/8 of half the peak is 6e-8
    assert np.abs(found - true[: step[-1]]).max() < 1e-7


def test_a_warmup_ends_between_two_rows():
    """A log of every 200 updates of a warmup of 300: the rate rises to its end, not in one jump at the next row."""
    true = np.minimum(np.arange(9000) / 300, 1.0)
    step = np.arange(200, 9001, 200)
    found = rates_of_rows(step, np.minimum(step / 300, 1.0), warmup=300)
    assert np.abs(found - true).max() < 1e-12
    curve = LossCurve(step, np.linspace(5.0, 3.0, step.size), np.minimum(step / 300, 1.0), warmup=300)
    assert curve.plan.rates == pytest.approx(true)
    # said to hold, it holds
    assert rates_of_rows(step, np.minimum(step / 300, 1.0), warmup=300, between="hold")[350] == pytest.approx(2 / 3)


def test_a_schedule_that_falls_to_zero_has_no_jump_at_its_end():
    assert not jumps(np.arange(6), np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0])).any()
    assert jumps(np.array([0, 8]), np.array([1.0, 0.1])).tolist() == [True]


def test_warmup_is_rebuilt_and_its_rows_are_not_used():
    curve = LossCurve([0, 5, 10, 20], [9.0, 6.0, 5.0, 4.0], lr=[0.0, 0.05, 0.1, 0.1], warmup=10)
    assert curve.plan.recorded.tolist() == [10, 20]
    assert curve.plan.rates[:11] == pytest.approx(0.01 * np.arange(11))
    late = LossCurve([20, 30], [4.0, 3.0], lr=[0.1, 0.1], warmup=10, warmup_shape="cosine")
    assert late.plan.intrinsic_time[0] == pytest.approx(0.1 * 10 + 0.1 * 4.5, rel=0.06)  # mean of sin^2 over 10 points
    assert LossCurve([20], [4.0], lr=[0.1], warmup=10, warmup_shape="constant").plan.intrinsic_time[0] == pytest.approx(
        2.0
    )


def test_rows_before_the_first_update_that_trains_are_not_used():
    rates = [0.0, 0.0, 0.1, 0.1, 0.1]
    for columns in ({"lr": rates}, {"schedule": rates}):
        curve = LossCurve([0, 1, 2, 3, 4], [5.0, 5.0, 5.0, 4.0, 3.9], warmup=0, **columns)
        assert curve.plan.recorded.tolist() == [3, 4]
        assert curve.observed.tolist() == [4.0, 3.9]
    with pytest.raises(CurveError, match="with all of them 0 there is no training"):
        LossCurve([1, 2], [5.0, 5.0], schedule=rates)


def test_a_schedule_may_stand_for_the_column():
    curve = LossCurve([10, 20], [3.0, 2.0], schedule=schedule("cosine", peak=0.1, steps=20, batch_size=4.0))
    assert curve.plan.data.tolist() == [40.0, 80.0]
    assert curve.thinned(1).plan.rates.tolist() == curve.plan.rates.tolist()


def test_rows_left_out_leave_the_schedule_and_the_batches():
    curve = LossCurve(STEP, LOSS, lr=RATE, batch_size=[1, 2, 4, 8])
    assert curve.keep([0, 3]).plan.data.tolist() == [curve.plan.data[0], curve.plan.data[3]]
    assert curve.between_steps(15, 30).step.tolist() == [20, 30]
    with pytest.raises(CurveError, match="no row with"):
        curve.between_steps(11, 12)


@given(st.lists(st.floats(0.5, 9.0), min_size=3, max_size=40), st.sampled_from([1, 3, 5, 9]))
def test_smoothing_stays_between_the_losses_and_keeps_the_ends(losses, span):
    curve = LossCurve(np.arange(1, len(losses) + 1), losses, lr=[0.1] * len(losses))
    for centre in ("median", "mean"):
        smooth = curve.smoothed(span, centre=centre)
        assert min(losses) - 1e-12 <= smooth.loss.min() <= smooth.loss.max() <= max(losses) + 1e-12
        assert (smooth.loss[0], smooth.loss[-1]) == (losses[0], losses[-1])
        assert f"{span} rows" in smooth.smoothing


def test_smoothing_does_not_lag():
    line = LossCurve(np.arange(1, 30), np.linspace(4, 2, 29), lr=[0.1] * 29)
    assert line.smoothed(7).loss == pytest.approx(line.loss)
    with pytest.raises(ValueError, match="odd"):
        line.smoothed(4)


def test_a_curve_is_drawn():
    pytest.importorskip("matplotlib")
    axes = LossCurve(STEP, LOSS, lr=RATE).plot()
    assert axes.get_ylabel() == "loss"


@pytest.mark.parametrize("wrong", [-1, 2.5, "two"])
def test_unseen_updates_are_counted_by_a_whole_number(wrong):
    with pytest.raises((TypeError, ValueError), match="unseen must be"):
        LossCurve([4, 5, 6], [3.0, 2.5, 2.4], lr=[0.1] * 3, unseen=wrong)


@pytest.mark.parametrize("none", [[], [False] * 3])
def test_a_curve_keeps_at_least_one_row(none):
    with pytest.raises(ValueError, match="at least one row"):
        LossCurve([1, 2, 3], [3.0, 2.5, 2.4], lr=[0.1] * 3).keep(none)


def test_the_rates_of_a_curve_with_a_schedule_are_those_of_its_plan():
    with pytest.raises(CurveError, match=r"its schedule says them: take plan\.rates"):
        LossCurve(STEP, LOSS, schedule=[0.1] * 40).rates(0)


def test_losses_that_go_below_0_are_refused_with_what_to_do():
    with pytest.raises(CurveError, match="add a constant to all losses that may go below 0"):
        LossCurve(STEP, [1.0, 0.5, -0.2, -0.3], lr=RATE)
