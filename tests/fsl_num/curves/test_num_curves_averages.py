"""Long logs: averaged over ranges of updates, predicted at every row, their noise and their jumps kept in mind."""

import numpy as np
import pytest
from curves_runs import PEAK, TRUTH
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.curves.averages import FEWEST, averaged, ranges
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan
from fsl_num.curves.result import FitResult
from fsl_num.curves.score import score

SIZE, WARMUP, NOISE = 30_000, 1_000, 0.05
K = np.arange(SIZE)
SHAPE = np.where(K < 0.5 * SIZE, 1.0, np.where(K < 0.8 * SIZE, 0.3, 0.3 * (1 - 0.9 * (K - 0.8 * SIZE) / (0.2 * SIZE))))
PLAN = Plan(PEAK * np.where(K < WARMUP, K / WARMUP, SHAPE), np.arange(WARMUP, SIZE + 1), WARMUP)
CLEAN = law("fsl").predict(PLAN, TRUTH)
SPARSE = PLAN.at(np.geomspace(WARMUP, SIZE, 200).astype(int))


def log(noise, seed=0):
    drawn = np.random.default_rng(seed).normal(size=CLEAN.size)
    return LossCurve(PLAN.recorded, CLEAN * (1 + noise * drawn), schedule=PLAN, warmup=WARMUP, name="log")


@pytest.mark.parametrize(("noise", "rows", "said"), [(0.1, 150, True), (0.01, 24, False)])
def test_rows_that_scatter_are_said_to_and_those_of_a_steep_fall_are_not(noise, rows, said):
    """Two dozen validation losses from the first update on: the first few lie far above each other, and on the law."""
    some = np.linspace(0, CLEAN.size - 1, rows).astype(int)
    losses = log(noise).loss[some] * (1.0 + 3.0 * np.exp(-np.arange(rows)))
    curve = LossCurve(PLAN.recorded[some], losses, schedule=PLAN.rates, warmup=WARMUP, name="log")
    warnings = fit(curve, "fsl", starts=1, intervals=False).warnings
    assert any("consider smoothed" in warning for warning in warnings) is said


def test_an_average_is_the_mean_of_the_rows_of_its_range():
    curve = log(NOISE)
    short = averaged(curve, 200)
    assert 100 < len(short) <= 200
    assert short.counts.sum() == len(curve)
    label = ranges(PLAN, curve.step, 200)
    place = int(np.argmax(short.counts))
    inside = label == place
    assert inside.sum() == short.counts[place] > 100
    assert short.step[place] == round(float(curve.step[inside].mean()))
    # no row lies four spreads of 5 % away for certain; those that do are moved by little
    assert short.loss[place] == pytest.approx(curve.loss[inside].mean(), rel=1e-4)
    assert short.scatter == pytest.approx(NOISE, rel=0.03)  # 29,000 rows: its standard error is 0.7 %
    assert "averages of 29001 rows" in short.smoothing
    assert short.plan.rates.tolist() == PLAN.rates[: short.step[-1]].tolist()
    assert averaged(short, 200) is short


def test_averages_lie_on_the_curve():
    short = averaged(log(0.0), 300)
    error = short.loss / CLEAN[short.step - WARMUP] - 1
    # the noise of an average of 97 rows is 5e-3; what the bending within a range adds, weighed by rows, is far below
    assert np.sqrt((short.counts * error**2).sum() / short.counts.sum()) < 5e-5
    assert np.abs(error).max() < 1e-3


@given(st.lists(st.tuples(st.integers(60, 1900), st.floats(0.1, 1.0)), max_size=6), st.integers(30, 300))
def test_no_range_crosses_a_jump(drops, count):
    rates = np.full(2000, 0.1)
    for place, factor in drops:
        rates[place:] *= factor
    plan = Plan(rates, np.arange(50, 2001, 3), 20)
    label = ranges(plan, plan.recorded, count)
    assert label[0] == 0 and label[-1] < count and set(np.diff(label)) <= {0, 1}
    for number in range(label[-1] + 1):
        steps = plan.recorded[label == number]
        # the losses after steps[0] .. steps[-1] updates: no update between them has another rate by more than a jump
        assert np.abs(np.diff(rates[steps[0] - 1 : steps[-1]])).max(initial=0.0) <= 0.01 * plan.peak


def test_a_first_row_at_the_end_of_the_warmup_takes_no_ranges_from_the_others():
    """Between two rows lie no ranges, however young the run is there."""
    step = np.arange(2176, 72000, 128)
    short = [
        LossCurve(step, np.linspace(4.0, 3.0, step.size), lr=np.full(step.size, 3e-4), warmup=warmup).averaged(200)
        for warmup in (2048, 2176)
    ]
    assert len(short[1]) >= 0.9 * len(short[0])


def test_a_rate_that_jumps_all_the_time_is_thinned_and_the_fit_says_so():
    rates = np.where(np.arange(400) % 2 == 0, 0.01, 0.005)
    plan = Plan(rates, np.arange(10, 401))
    assert ranges(plan, plan.recorded, 100) is None
    loss = law("momentum").predict(plan, [2.0, 0.5, 0.3, 0.5, 0.8])
    found = fit(LossCurve(plan.recorded, loss, schedule=plan), "momentum", starts=1, intervals=False, max_rows=100)
    assert found.curves[0].counts is None
    assert any("100 of 391 rows are used, evenly spaced" in note for note in found.notes)
    assert averaged(found.curves[0], FEWEST - 1).step.size == FEWEST - 1


def test_a_spike_does_not_move_its_average():
    curve = log(0.01)
    losses = np.array(curve.loss)
    losses[15_000:15_050:5] *= 10.0
    spiky = averaged(LossCurve(curve.step, losses, schedule=PLAN, warmup=WARMUP), 200)
    # ten rows of about two hundred are moved to four spreads of 1 %, twice a tenth of a per cent
    assert np.abs(spiky.loss / averaged(curve, 200).loss - 1).max() < 4e-3
    assert spiky.scatter == pytest.approx(0.01, rel=0.05)


def test_averages_fit_better_than_rows_by_the_root_of_their_number():
    errors = {"average": [], "thin": []}
    for seed in range(8):
        for kind, found in errors.items():
            # nothing expected: what is known of the parameters is what the rows say
            free = {"reduce": kind, "max_rows": 300, "prior_width": float("inf")}
            result = fit(log(0.02, seed), "fsl", intervals=False, **free)
            error = result.predict(SPARSE, None).loss / CLEAN[SPARSE.recorded - WARMUP] - 1
            found.append(np.mean(error**2))
    ratio = np.sqrt(np.mean(errors["thin"]) / np.mean(errors["average"]))
    # about 97 rows an average: a factor of 10; eight draws of some seven parameters tell it to a factor of two
    assert 5 < ratio < 20


def test_a_fit_to_averages_says_so_and_its_intervals_are_for_single_rows():
    curve = log(NOISE)
    found = fit(curve, "fsl-simplified", max_rows=300, starts=1)
    note = next(note for note in found.notes if "averaged" in note)
    assert "29001 rows" in note and "scatter by 5 %" in note
    assert not any("consider smoothed" in warning for warning in found.warnings)
    thick = found.predict(curve).score(curve)
    assert thick.coverage == pytest.approx(0.9, abs=0.04)
    assert found.scores()["log"].rmse < 0.02 < 0.1 < thick.rmse  # the averages, and the single rows
    again = FitResult.from_json(found.to_json())
    assert again.posterior.scatter == found.posterior.scatter == found.curves[0].scatter


def test_what_was_averaged_is_said_once_for_all_curves():
    step = np.arange(5, 2001, 5)
    curves = [
        LossCurve(step[: 300 + 20 * k], 2.0 + step[: 300 + 20 * k] ** -0.5, lr=[0.01] * (300 + 20 * k), name=f"run{k}")
        for k in range(5)
    ]
    (said,) = (note for note in fit(curves, intervals=False, starts=1).notes if "averaged" in note)
    assert said.startswith("run0, run1, run2, ...: 300 to 380 rows are averaged over ")


def test_the_losses_of_very_many_steps_are_interpolated_unseen():
    found = fit(log(0.0), "fsl-simplified", max_rows=300, starts=1, intervals=False)
    swing = Plan(PEAK * (1 + 0.9 * np.sin(K / 3)) * 0.5, np.arange(1, SIZE + 1))  # faster than can be interpolated
    for plan in (PLAN, swing):
        exact = found.law.bind([plan])(found.theta)[0]
        # a tenth of the rounding of a loss written with four digits
        assert np.abs(found.predict(plan, None).loss / exact - 1).max() < 1e-5


def test_a_part_of_a_plan_is_the_plan_of_the_part():
    whole = Plan([0.1, 0.3, 0.2, 0.0], batch_sizes=[1, 2, 3, 4])
    part, plain = whole.first(3, [1, 3], name="part"), Plan([0.1, 0.3, 0.2], [1, 3], batch_sizes=[1, 2, 3])
    assert part.name == "part" and whole.name == "schedule"
    for left, right in ((part.times, plain.times), (part.data, plain.data), *zip(part.sums, plain.sums, strict=True)):
        assert left.tolist() == right.tolist()
    assert part.rates.base is not None  # shared, not copied
    with pytest.raises(ValueError, match="within"):
        whole.first(2, [3])
    with pytest.raises(ValueError, match="no intrinsic time"):
        Plan([0.0, 0.1]).first(1, [1])


def test_rows_of_many_losses_weigh_more():
    even = score([2.0, 1.0, 1.0], [2.2, 1.0, 1.0])
    short = score([2.0, 1.0], [2.2, 1.0], weights=[1.0, 2.0])
    assert short.mae == pytest.approx(even.mae) and short.r2 == pytest.approx(even.r2)
    assert short.rmse == pytest.approx(even.rmse)
    assert score([2.0, 1.0], [2.2, 1.01], weights=[0.01, 1.0]).worst_relative_error == pytest.approx(0.01)
    with pytest.raises(ValueError, match="counts must be positive"):
        LossCurve([1, 2], [3.0, 2.0], lr=[0.1, 0.1], counts=[1, 0])
    with pytest.raises(ValueError, match="reduce must be"):
        fit(log(0.0), "momentum", reduce="median")
