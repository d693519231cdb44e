"""Runs of several peak rates under one law: steps that shorten with the largest rate of a run."""

import numpy as np
import pytest
from curves_evidence import branches, folder
from curves_networks import judged, networks, summary
from curves_runs import PEAK, run
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import FunctionalLaw
from fsl_num.curves.peaks import at_peak
from fsl_num.curves.plan import Plan
from fsl_num.design.best import Past, optimum
from fsl_num.design.schedule import design_schedule

LAW = FunctionalLaw(signal_noise=True, peaks=True, reference_peak=PEAK)
TRUTH = {
    "L0": 2.0, "A": 1.5, "B": 0.1, "E": 0.1, "s": 0.6, "c": 60.0, "gamma": 0.6, "c_e": 40.0, "p": 0.8,
    "P_c": 1.5 * PEAK,
}  # fmt: skip
STEPS = 1500
SHAPES = {
    "constant": np.ones(STEPS),
    "linear": np.linspace(1.0, 0.0, STEPS),
    "wsd": np.minimum(1.0, np.linspace(5.0, 0.0, STEPS)),
}


def curve(shape, peak):
    recorded = np.arange(50, STEPS + 1, 50)
    plan = Plan(peak * SHAPES[shape], recorded, name=f"{shape} at {peak:g}")
    return LossCurve(recorded, LAW.predict(plan, TRUTH), schedule=plan, name=plan.name)


@given(st.floats(0.1, 10.0), st.floats(0.05, 50.0), st.sampled_from(sorted(SHAPES)))
def test_a_run_of_another_peak_is_one_of_shorter_or_longer_steps(times, fastest, shape):
    """The definition, by a way of its own: a law without P_c of the rates eta ((1 + P_ref/P_c)/(1 + P/P_c))^2."""
    peak, truth = times * PEAK, {**TRUTH, "P_c": fastest * PEAK}
    pace = ((1 + 1 / fastest) / (1 + times / fastest)) ** 2
    plain = FunctionalLaw(signal_noise=True)
    without_peak = {name: value for name, value in TRUTH.items() if name != "P_c"}
    expected = plain.predict(Plan(peak * SHAPES[shape] * pace, [500, STEPS]), without_peak)
    rates = Plan(peak * SHAPES[shape], [500, STEPS])
    np.testing.assert_allclose(LAW.predict(rates, truth), expected, rtol=1e-12)
    law_there, theta = at_peak(LAW, LAW.vector(truth), peak)
    np.testing.assert_allclose(law_there.predict(rates, theta), expected, rtol=1e-12)


@pytest.mark.parametrize("batches", [False, True])
def test_its_derivatives_are_those_of_differences(batches):
    law = FunctionalLaw(signal_noise=True, peaks=True, reference_peak=3 * PEAK, batches=batches, reference_batch=16.0)
    plan = Plan(PEAK * SHAPES["wsd"], [100, 900, STEPS], batch_sizes=np.where(np.arange(STEPS) < 700, 8, 32))
    theta = {name: {**TRUTH, "q": 0.9, "r": 0.4}[name] for name in law.names}
    exact = law.jacobian(plan, theta)
    for place, name in enumerate(law.names):
        step = 1e-5 * theta[name]
        up, down = (law.predict(plan, {**theta, name: theta[name] + sign * step}) for sign in (1, -1))
        # a central difference: rounding of 1e-16/1e-5, and a third derivative times 1e-10
        np.testing.assert_allclose((up - down) / (2 * step), exact[:, place], atol=1e-8 * np.abs(exact[:, place]).max())


def test_runs_of_two_peaks_tell_it_and_runs_of_one_say_that_they_do_not():
    two = fit([curve("constant", PEAK), curve("wsd", PEAK), curve("constant", PEAK / 4), curve("wsd", PEAK / 4)])
    low, high = two.report.intervals["P_c"]
    assert low < TRUTH["P_c"] < high < low * np.exp(0.25 * 2 * 1.645 * 0.8)  # a quarter of what is expected
    assert not any(line.startswith("Of P_c") for line in two.report.sentences)
    alike = fit([curve("constant", PEAK), curve("wsd", PEAK)])
    assert alike.parameters["P_c"] == pytest.approx(2.5 * PEAK) and alike.task.s is not None
    assert any(line.startswith("Of P_c the curves say nothing") for line in alike.report.sentences)
    far, near = curve("linear", PEAK / 4), curve("linear", PEAK)
    assert alike.predict(far).mean_half_width > 3 * alike.predict(near).mean_half_width  # what is expected is in it
    error = abs(np.log(alike.predict(far).final / far.loss[-1]))
    assert error < np.log1p(alike.predict(far).mean_half_width)
    plain = fit([curve("constant", PEAK), curve("wsd", PEAK)], "fsl-full")
    assert abs(np.log(plain.predict(far).final / far.loss[-1])) > 2 * error


def test_what_runs_alike_say_nothing_of_leaves_the_exponents_readable():
    alike = [
        LossCurve(run.step, run.loss, schedule=run.plan, batch_size=8, name=run.name)
        for run in (curve("constant", PEAK), curve("wsd", PEAK))
    ]
    found = fit(alike)
    assert found.law.batches and any(
        line.startswith("Of q, r, P_c the curves say nothing") for line in found.report.sentences
    )
    assert np.isfinite(found.report.condition) and found.task.s is not None


def test_the_law_of_plain_descent_knows_no_such_steps():
    assert "P_c" not in fit(run("constant"), "fsl-sgd", intervals=False, starts=1).law.names


def test_a_design_of_another_peak_is_the_best_under_the_law_of_that_peak():
    """No other schedule of its peak, nor the design of the same law at the fitted peak scaled down, is better."""
    known = fit([curve(shape, peak) for shape in ("constant", "wsd") for peak in (PEAK, PEAK / 4)])
    design = design_schedule(known, STEPS, peak=PEAK / 2)
    assert design.loss == pytest.approx(known.predict(Plan(design.rates, [STEPS]), None).final, rel=1e-9)
    assert 0.0 <= design.optimum.gap < 1e-3
    scaled = 0.5 * design_schedule(known, STEPS, peak=PEAK).rates
    for rates in (scaled, 0.5 * PEAK * SHAPES["linear"], 0.5 * PEAK * SHAPES["wsd"]):
        assert known.predict(Plan(rates, [STEPS]), None).final >= design.loss
    free = design_schedule(known, STEPS, peak="free")
    assert free.loss <= min(design.loss, design_schedule(known, STEPS, peak=PEAK).loss) * (1 + 1e-6)


@pytest.mark.parametrize("noise", [1, 12])
def test_a_peak_that_is_too_high_is_not_reached_and_how_high_it_is_does_not_matter(noise):
    """A run of lower rates takes longer steps: the best rates are those of its own peak, not of the peak allowed.

    Little noise asks for the peak P_c, at which a run learns the most; much of it for less.
    """
    noisy = LAW.vector({**TRUTH, "B": noise * TRUTH["B"]})
    fresh = Past(np.array([]), 0)
    low, *high = (
        optimum(LAW, noisy, fresh, STEPS, 0.0, top * TRUTH["P_c"], "non-increasing") for top in (0.1, 1, 4, 64)
    )
    assert low.rates.max() == 0.1 * TRUTH["P_c"] < high[0].rates.max()
    assert (high[0].rates.max() < 0.9 * TRUTH["P_c"]) == (noise == 12)
    for designed in high:
        assert designed.loss < low.loss and designed.loss == pytest.approx(high[0].loss, rel=1e-12)
        np.testing.assert_allclose(designed.rates, high[0].rates, rtol=1e-6, atol=1e-6 * PEAK)
        # a prediction takes the memory as a sum of exponentials, good to 2e-6 of the noise
        assert designed.loss == pytest.approx(LAW.predict(Plan(designed.rates, [STEPS]), noisy)[0], rel=1e-6)
    for factor in (0.8, 0.95, 1.05, 1.25):  # the same shape at other peaks is worse
        assert LAW.predict(Plan(factor * high[0].rates, [STEPS]), noisy)[0] > high[0].loss


def test_a_run_that_goes_on_below_its_peak_keeps_the_steps_of_that_peak():
    done = Past(np.repeat([PEAK, 0.3 * PEAK], [500, 100]), 0)
    noisy = LAW.vector({**TRUTH, "B": 3 * TRUTH["B"]})
    best = optimum(LAW, noisy, done, 600, 0.0, 0.3 * PEAK, "non-increasing")
    assert best.kkt_residual < 1e-12 and 0.0 <= best.gap < 1e-3


@pytest.mark.parametrize("kind", ["language", "small-language"])
def test_language_models_at_other_peaks_are_predicted_by_it(kind):
    """From runs of one peak, those at a quarter to twice of it, and an eighth to four times: errors of final losses.

    Measured 4.2 and 6.8 %, and 12 and 18 % of a law whose intrinsic time is the plain sum of the learning rates.
    """
    known = networks(kind)
    unseen = {name: run for name, run in known.items() if run.plan.peak != known["wsd"].plan.peak}
    chosen = {**unseen, "constant": known["constant"], "wsd": known["wsd"]}
    (error, held, _), (plain, *_) = (summary(judged(chosen, ("constant", "wsd"), law)) for law in ("auto", "fsl-full"))
    assert error < 0.5 * plain and held > 0.9


@pytest.mark.skipif(folder() is None, reason="FSL_LOSS_CURVES names no folder with real curves")
def test_a_real_model_at_another_peak_is_predicted_by_it():
    """124M, from a constant rate and a late decay at one peak the runs at the other.

    Measured .5 and .2 %, and 1.3 and .8 % of the plain sum.
    """
    known = branches()
    for own, peak in (("0.001", "0.0005"), ("0.0005", "0.001")):
        names = [f"constant_peak_{own}", f"linear_0.2_peak_{own}"]
        chosen = {name: run for name, run in known.items() if name in names or name.endswith(peak)}
        error, plain = (summary(judged(chosen, names, law, False))[0] for law in ("auto", "fsl-full"))
        assert error < 0.5 * plain, (error, plain)
