"""Designs from a fit: requests, results, baselines, draws, a second law, a run under way."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from conftest import examples
from curves_runs import NOISY, PEAK, WARMUP, noisy_fit, run
from hypothesis import example, given
from hypothesis import strategies as st
from notebook_views import as_html

from fsl_num.curves.fit import fit
from fsl_num.curves.laws import MomentumLaw
from fsl_num.curves.misfit import OWN
from fsl_num.curves.plan import Plan
from fsl_num.curves.posterior import half_width
from fsl_num.curves.result import FitResult
from fsl_num.design.best import SHAPES, Past
from fsl_num.design.design import Baseline, SecondLaw
from fsl_num.design.draws import final_loss_of, half_width_of_difference, losses_of_draws
from fsl_num.design.families import FAMILIES, family_rates
from fsl_num.design.schedule import design_schedule
from fsl_num.schedules.export import export

STEPS = 1500


@cache
def design(**asked):
    return design_schedule(noisy_fit(), STEPS, warmup=WARMUP, **asked)


def test_a_design_is_a_whole_schedule_that_the_law_prefers():
    found = design()
    assert found.rates.size == found.steps == STEPS and found.peak == PEAK
    assert found.rates[:WARMUP].tolist() == (PEAK * np.arange(WARMUP) / WARMUP).tolist()
    assert np.diff(found.rates[WARMUP:]).max() <= 0.0 and found.final == found.rates[-1] > 0.0
    # what it predicts is what the fit predicts, whose memory is carried by modes to 1e-6 of the noise
    assert abs(found.loss - found.fit.predict(found.plan, None).final) < 1e-6
    assert found.optimum.gap < 1e-4 and abs(found.kkt_residual) < 1e-9
    assert all(baseline.regret > 0.0 for baseline in found.baselines.values())
    assert found.baselines["constant"].distinct and found.interval[0] < found.loss < found.interval[1]
    assert 0.0 < found.stable_fraction < 1.0 and found.decay_shape.startswith("power")


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_is_below_the_rates_that_never_rise_nor_these_below_free_ones(family):
    member, falling, free = (design(family=family) for family in (family, "non-increasing", "free"))
    assert free.loss <= falling.loss + 1e-9 and falling.loss <= member.loss + 1e-9
    assert set(member.optimum.parameters) == set(FAMILIES[family].ranges) and np.isnan(member.kkt_residual)


@examples(12)
@given(
    floor=st.floats(0.0, 0.5), peak=st.floats(0.3, 3.0), warmup=st.integers(0, 300), steps=st.integers(400, 3000),
    family=st.sampled_from([*SHAPES, "wsd", "cosine"]),
)  # fmt: skip
def test_bounds_are_kept_and_no_baseline_is_better(floor, peak, warmup, steps, family):
    top = peak * PEAK
    asked = {"floor": floor * top, "peak": top, "warmup": warmup, "family": family}
    found = design_schedule(noisy_fit(intervals=False), steps, **asked, second=None)
    decayed = found.rates[warmup:]
    assert floor * top * (1 - 1e-12) <= decayed.min() <= decayed.max() <= top and found.interval is None
    best = min(baseline.regret for baseline in found.baselines.values())
    assert best >= -1e-9 or family in FAMILIES  # a member of a family may be worse than one of another
    if family == "cosine":
        assert min(found.baselines[name].regret for name in ("cosine to 0", "cosine to 10 %")) >= -1e-7
    assert ("binds" in " ".join(found.notes)) == (floor > 0.0 and (decayed <= floor * top * (1 + 1e-6)).any())


def test_a_run_under_way_keeps_its_past_and_its_last_losses_count():
    under_way = run("constant", noise=5e-4, size=900)
    found = design_schedule(noisy_fit(), STEPS, run=under_way)
    done = under_way.plan.rates.size
    assert found.done == done and (found.rates[:done] == under_way.plan.rates).all() and found.plan.warmup == WARMUP
    higher = under_way.replaced(under_way.step, under_way.loss * 1.01)
    lifted = design_schedule(noisy_fit(), STEPS, run=higher)
    assert (lifted.rates == found.rates).all() and 1.002 < lifted.loss / found.loss < 1.01
    assert abs(lifted.loss / lifted.fit.predict(lifted.plan, None, after=higher).final - 1.0) < 1e-6
    earlier = design_schedule(noisy_fit(), STEPS, run=under_way, from_step=500)
    assert earlier.done == 500 and earlier.optimum.loss <= found.optimum.loss + 1e-9  # more is open
    fallen = Plan(np.append(under_way.plan.rates, np.full(100, 0.2 * PEAK)), None, WARMUP)
    assert design_schedule(noisy_fit(), STEPS, run=fallen).rates[fallen.rates.size :].max() <= 0.2 * PEAK
    assert design_schedule(noisy_fit(), STEPS, run=fallen, family="free").rates[fallen.rates.size :].max() > 0.2 * PEAK


def test_a_free_peak_is_sought_among_those_fitted():
    found = design_schedule(noisy_fit(), 400, peak="free", warmup=20)
    rivals = [design_schedule(noisy_fit(), 400, peak=share * PEAK, warmup=20).loss for share in (0.2, 0.4, 0.7, 1.0)]
    assert found.loss <= min(rivals) + 1e-6 and 0.1 * PEAK <= found.allowed <= PEAK
    assert any("largest that was fitted" in note for note in found.notes) == (found.allowed > 0.999 * PEAK)
    assert any(
        "No run was fitted at the peak" in note for note in design_schedule(noisy_fit(), 400, peak=5 * PEAK).notes
    )


def test_a_floor_at_the_peak_is_a_constant_rate_and_a_free_peak_stays_above_its_floor():
    found = design(floor=PEAK)
    assert (found.rates[WARMUP:] == PEAK).all() and found.decay_shape == "constant"
    said = " ".join(found.sentences)
    assert "The floor is the peak, 0.001: no other schedule is allowed." in said
    assert "lower bound" not in said and "binds" not in said and "cannot separate" not in said
    assert design(peak="free", floor=PEAK).peak == PEAK and design(peak="free", floor=0.4 * PEAK).final >= 0.4 * PEAK


def test_a_peak_above_that_from_which_on_it_does_harm_is_said():
    fitted = noisy_fit("auto", intervals=False)
    fastest = float(fitted.theta[fitted.law.names.index("P_c")])
    for share, said in ((0.9, False), (1.1, True)):
        found = design_schedule(fitted, 400, peak=share * fastest, warmup=20)
        assert any("is above the P_c of the fit" in note for note in found.notes) is said


def test_a_member_of_a_family_says_what_is_better_outside_and_is_not_compared_with_itself():
    found = design(family="cosine")
    better = [name for name, baseline in found.baselines.items() if baseline.regret < 0.0 and baseline.distinct]
    said = " ".join(found.sentences)
    assert better
    assert f"Predicted to be better, outside of this family: {'; '.join(better)}." in said
    assert not set(better) & set(said.partition("prefers ")[2].partition(":")[0].split("; "))
    assert "Predicted to be better" not in " ".join(design().sentences)
    itself = replace(found)
    itself.__dict__["baselines"] = {"itself": Baseline(found.rates, found.loss, 0.0, (0.0, 0.0))}
    assert "itself" not in " ".join(itself.sentences)


def test_the_best_over_the_draws_is_best_in_their_mean():
    plain, averaged = design(), design(over_draws=True)
    samples = noisy_fit().posterior.samples
    past = Past(plain.rates[:WARMUP], WARMUP)
    of_one, of_other = (
        losses_of_draws(noisy_fit().law, samples, past, design_.rates[WARMUP:]).mean() for design_ in (plain, averaged)
    )
    assert averaged.regret_of_fit >= 0.0 and of_other <= of_one
    assert abs(of_one - of_other - averaged.regret_of_fit) < 1e-12
    assert averaged.loss >= plain.loss - 1e-9  # under the best fit the other is the optimum
    with pytest.raises(ValueError, match="no intervals"):
        design_schedule(noisy_fit(intervals=False), STEPS, over_draws=True)


def test_the_log_of_a_run_that_is_not_of_the_model_fitted_is_named():
    own = run("constant").between_steps(1, 600)
    another = own.replaced(own.step, 1.5 * own.loss)
    words = [
        " ".join(design_schedule(noisy_fit(), STEPS, run=curve, second=None).sentences) for curve in (own, another)
    ]
    assert "another model" not in words[0]
    assert "run under way lie 50 % above what the fit predicts" in words[1] and "another model? Fit it too" in words[1]


def test_baselines_are_distinct_where_their_interval_leaves_out_zero():
    same = np.ones(10)
    assert Baseline(same, 2.0, 0.1, (-0.1, 0.3)).distinct is False and Baseline(same, 2.0, 0.1, None).distinct is None


members = st.one_of(
    st.tuples(st.just("linear"), st.tuples(st.floats(0.02, 1.0), st.floats(0.0, 1.0))),
    st.tuples(st.just("cosine"), st.tuples(st.floats(0.0, 1.0))),
    st.tuples(st.just("1-sqrt"), st.tuples(st.floats(0.02, 1.0), st.floats(0.0, 0.5))),
)


@examples(20)
@given(first=members, second=members, count=st.integers(1, 3), level=st.floats(0.5, 0.99))
@example(("linear", (0.2, 0.0)), ("linear", (0.21, 0.0)), 3, 0.9)
def test_intervals_of_differences_are_those_of_predictions(first, second, count, level):
    """Standard deviations of a difference and of its two parts are sides of a triangle, under any correlation.

    However alike, two runs differ by the chance of each.
    """
    known, warm = noisy_fit(count=count), PEAK * np.arange(WARMUP) / WARMUP
    past = Past(warm, WARMUP)
    ends, alone = [], []
    for family, given_ in (first, second):
        rates = family_rates(family, given_, STEPS - WARMUP, 0.0, PEAK)
        ends.append(final_loss_of(known, past, rates))
        prediction = known.predict(Plan(np.append(warm, rates), [STEPS], WARMUP), level)
        assert ends[-1].loss == pytest.approx(prediction.final, rel=2e-4)  # blocks of steps
        alone.append(np.log1p(prediction.mean_half_width) * ends[-1].loss)
    half = half_width_of_difference(known, *ends, level)
    assert abs(alone[0] - alone[1]) - 1e-3 * max(alone) <= half <= (1.0 + 1e-3) * sum(alone)
    assert half == pytest.approx(half_width_of_difference(known, *ends[::-1], level), rel=1e-9)
    assert half_width_of_difference(known, ends[0], ends[0], level) == 0.0
    if np.abs(ends[0].rates - ends[1].rates).max() <= 1e-9 * PEAK:
        assert half < 1e-6
    else:
        assert half >= half_width(np.array([np.sqrt(OWN) * np.hypot(*(end.loss for end in ends))]), level)[0]


def test_the_next_run_is_named_where_schedules_cannot_be_separated():
    found = design_schedule(noisy_fit(count=2), STEPS, warmup=WARMUP)
    unseparated = {name: baseline.interval for name, baseline in found.baselines.items() if not baseline.distinct}
    widths = {name: high - low for name, (low, high) in unseparated.items()}
    assert len(widths) == 2
    (words,) = (sentence for sentence in found.sentences if "cannot separate" in sentence)
    assert f"The next run to decide: {max(widths, key=widths.get)}, " in words
    assert "constant" not in words  # the worst of them, which the fit does separate


def test_a_second_law_scores_the_design():
    found = design()
    second_law = found.second_law
    assert second_law.name == "multi-power" and set(second_law.baselines) == set(found.baselines)
    again = design_schedule(noisy_fit(), STEPS, warmup=WARMUP, second=noisy_fit("momentum", intervals=False)).second_law
    assert again.name == "momentum"
    assert abs(again.loss - noisy_fit("momentum", intervals=False).predict(found.plan, None).final) < 1e-9
    saved = design_schedule(FitResult.from_json(noisy_fit().to_json()), STEPS, warmup=WARMUP)
    assert saved.second_law == second_law
    assert design_schedule(noisy_fit(), STEPS, second=None).second_law is None
    assert SecondLaw("x", 2.0, {"a": 1.9, "b": 2.1}).better == ("a",)


def test_a_design_as_json_as_html_and_as_a_picture():
    found = json.loads(design().to_json())
    assert {"steps", "peak_lr", "final_lr", "stable_fraction", "decay_shape", "predicted_loss", "interval", "baselines",
            "kkt_residual", "second_law_loss"} <= set(found)  # fmt: skip
    assert all({"loss", "regret"} <= set(baseline) for baseline in found["baselines"].values())
    assert "<table>" in as_html(design()) and "cosine to 10 %" in as_html(design())
    figure = pytest.importorskip("matplotlib.figure").Figure()
    above = design().plot()
    assert above.figure.axes[0] is above
    below = above.figure.axes[1]
    assert len(above.lines) == len(below.lines) == 1 + len(found["baselines"])
    assert above.lines[0].get_ydata().tolist() == design().rates.tolist()
    own = figure.subplots()
    assert design().plot(own) is own and own.figure.axes == [own] and len(own.lines) == len(above.lines)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"steps": 0}, "at least 1, got 0"),
        ({"steps": 1}, "steps must be more than 1: their intrinsic time"),
        ({"floor": 2 * PEAK}, "floor must be at most the peak, 0.001, got 0.002"),
        ({"warmup": STEPS}, "warmup must be less than the steps, 1500"),
        ({"peak": -1.0}, "peak must be positive"),
        ({"peak": "best"}, "a rate or 'free'"),
        ({"family": "zigzag"}, "there is no family 'zigzag'; choose free, non-increasing"),
        ({"from_step": 5}, "give the run too"),
        ({"run": Plan([PEAK] * STEPS)}, "steps must exceed the 1500 updates that are done"),
        ({"run": Plan([PEAK] * 100), "from_step": 200}, "at most the 100 updates"),
        ({"run": Plan([PEAK] * 100), "warmup": 5}, "had a warmup of 0"),
        ({"run": Plan([PEAK] * 100), "peak": 2 * PEAK}, "rates that never rise cannot reach"),
        ({"run": Plan([PEAK] * 100 + [0.0])}, "the last rate of the run is 0"),
        ({"family": "wsd", "over_draws": True}, "not of 'wsd'"),
    ],
)
def test_what_no_schedule_meets_is_refused_with_the_bound(asked, said):
    with pytest.raises(ValueError, match=said):
        design_schedule(noisy_fit(), **{"steps": STEPS, **asked})


def test_a_run_that_is_none_is_refused():
    with pytest.raises(TypeError, match="run must be a LossCurve, .* or a Plan, got str"):
        design_schedule(noisy_fit(intervals=False), STEPS, run="run.csv")


def test_what_names_no_second_law_is_refused():
    with pytest.raises(TypeError, match="law must be a text, one of .*multi-power.*, got array"):
        design_schedule(noisy_fit(intervals=False), STEPS, second=np.ones(2))


def test_a_second_law_that_cannot_be_fitted_is_said():
    curve = run("cosine", every=300)  # five rows, and six parameters of the Multi-Power law
    short = fit(curve, MomentumLaw(), intervals=False, starts=1)
    found = design_schedule(short, STEPS)
    assert found.second_law is None and any("No second law was fitted (" in sentence for sentence in found.sentences)


def test_a_second_law_is_fitted_to_the_runs_of_the_same_model_size():
    sized = [replace(curve, model_size=size) for curve, size in zip(NOISY, (1e6, 1e6, 2e6), strict=True)]
    fit_of_sizes = replace(noisy_fit(intervals=False), curves=tuple(sized))
    found = design_schedule(fit_of_sizes, STEPS, model_size=1e6, peak=PEAK)
    alone = fit(sized[:2], "multi-power", intervals=False)
    assert found.second_law.loss == pytest.approx(alone.predict(found.plan, None).final, abs=1e-9)
    without_law = design_schedule(fit_of_sizes, STEPS, model_size=3e6, peak=PEAK)
    assert without_law.second_law is None and "no run has the model size" in " ".join(without_law.sentences)


def test_a_design_is_exported_as_a_short_table_that_loses_nothing():
    """The rates are the best, so that others near them lose the square of how far off they are."""
    found = design()
    made = found.export("torch")
    assert len(made.text) < 5000 and np.abs(made.rates - found.rates).max() <= 1e-4 * PEAK
    space = {}
    exec(made.text, space)
    pasted = np.array([space["learning_rate"](step) for step in range(STEPS)])
    assert np.abs(pasted - made.rates).max() <= 1e-12 * PEAK
    assert abs(found.fit.predict(replace(found.plan, rates=made.rates), None).final - found.loss) < 1e-6
    with pytest.raises(ValueError, match="within must lie in"):
        export(found.rates, "torch", within=1.0)


@pytest.mark.parametrize(
    "family, given",
    [("linear", (0.3, 0.1)), ("power-decay", (2.0, 0.0)), ("power-decay", (0.6, 0.1)), ("wsd", (0.25, 1.7, 0.03)),
     ("cosine", (0.1,)), ("1-sqrt", (0.2, 0.0)), ("1-sqrt", (0.3, 0.07)), ("inverse-sqrt", (0.01,)),
     ("multi-step", (0.5, 0.5, 0.3, 0.3))],
)  # fmt: skip
def test_a_member_of_a_family_of_the_catalogue_is_exported_short(family, given):
    """By its formula or its few corners, not as a table of its rates, which has over 20 kB."""
    rates = np.append(PEAK * np.arange(WARMUP) / WARMUP, family_rates(family, given, 4000, 0.0, PEAK))
    assert len(export(rates, "torch").text) < 1000


def test_the_decay_fractions_that_the_fit_cannot_separate():
    """They are those whose regret may be 0: the next one of the grid on either side is separated, those within not."""
    assert design().as_good is None and design(family="cosine").as_good is None
    found = design_schedule(noisy_fit(), 500, warmup=WARMUP, family="linear")
    low, high = found.as_good
    best = found.optimum.parameters["decay_fraction"]
    assert 0.02 <= low <= best <= high <= 1.0 and low < high
    final, steps = found.optimum.parameters["final"] / PEAK, 500 - WARMUP
    assert final > 0.1  # a share of the peak, no rate
    assert family_rates("linear", (best, final), steps, 0.0, PEAK) == pytest.approx(found.rates[WARMUP:])
    past, designed, grid = Past(found.rates[:WARMUP], WARMUP), found.rates[WARMUP:], np.geomspace(0.02, 1.0, 16)

    def separated(fraction):
        rates = family_rates("linear", (fraction, final), steps, 0.0, PEAK)
        ends = [final_loss_of(found.fit, past, rates_tried) for rates_tried in (rates, designed)]
        regret = past.objective(found.fit.law, found.fit.theta)(rates, np.ones(steps))[0] - found.loss
        return regret > half_width_of_difference(found.fit, *ends, found.level)

    assert not any(separated(fraction_tried) for fraction_tried in grid[(grid >= low) & (grid <= high)])
    beyond = [*grid[grid < low][-1:], *grid[grid > high][:1]]
    assert beyond and all(separated(fraction_tried) for fraction_tried in beyond)
    assert json.loads(found.to_json())["as_good"] == {"decay_fraction": [low, high]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"level": 7}, "level must lie in"), ({"second": "nonsense"}, "unknown law 'nonsense'")],
)
def test_what_is_asked_only_of_a_finished_design_is_checked_before_the_search(wrong, said):
    with pytest.raises(ValueError, match=said):
        design_schedule(noisy_fit(), STEPS, warmup=WARMUP, **wrong)
