"""The experiments: the law's sums are exact, the fits find what was planted, the claims can fail."""

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.experiments.final_loss import (
    PRINTED_POWERS,
    PeakRule,
    final_losses,
    final_risk,
    functional_risk,
    risks_by_peak_power,
)
from fsl_num.experiments.fitting import fit_law
from fsl_num.experiments.loss_dynamics import FITS, GRID, fit_grid, loss_dynamics
from fsl_num.experiments.physical_time import FORMS, Exponentials, accumulated, law_terms, power_as_exponentials
from fsl_num.model import Model
from fsl_num.schedules import step_rates
from fsl_num.simulate.curve import RiskCurve
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression

CONSTANT = PeakRule("constant", 1 / 3, 0.0, 1 / 3, 0.0)
DECAY = PeakRule("exp-decay", 0.0, 0.0, 0.5, 0.5)
WSD = PeakRule("wsd", 0.0, 0.0, 0.5, 0.0)


# ---- the law in physical time ----------------------------------------------------------------------------------------


@given(st.floats(0.3, 2.0), st.floats(1e-3, 1e9))
@examples(60)
def test_a_power_is_a_sum_of_exponentials(power, horizon):
    t = np.concatenate([[0.0], np.geomspace(1e-6 * horizon, horizon, 50)])
    found = power_as_exponentials(power, horizon)(t)
    # the rule itself errs below 5e-15; the sum of some hundred terms rounds, each term by up to 36 + log T ulps
    assert np.abs(found * (1.0 + t) ** power - 1.0).max() < 1e-13


def test_a_power_out_of_range_is_refused():
    with pytest.raises(ValueError, match="power must lie in"):
        power_as_exponentials(5.0, 1.0)


@pytest.mark.parametrize("form", FORMS)
def test_the_terms_are_the_sums_of_the_definition(form):
    problem = Regression(Model(s=0.7, beta=2.5, size=9, noise=4.0), features=12)
    rates = step_rates("cyclic", peak=0.3, steps=60, final=0.01)
    batches = np.arange(1, 61)
    found = law_terms(problem, rates, batches, form=form)
    time = np.cumsum(rates)
    eigen, theta = problem.eigenvalues, problem.theta

    def kernel(t):
        if form != "modes":
            return (1.0 + t) ** -(2.0 - 1.0 / 2.5)
        return sum(eigen[j] ** 2 * math.exp(-2 * eigen[j] * t) for j in range(9))

    def signal(t):
        if form != "modes":
            return (1.0 + t) ** -0.7
        unreached = sum(eigen[j] * theta[j] ** 2 for j in range(9, 12))
        return unreached + sum(eigen[j] * theta[j] ** 2 * math.exp(-2 * eigen[j] * t) for j in range(9))

    for k in (0, 1, 30, 59):
        weights = [kernel(time[k] - time[i]) * rates[i] ** 2 / batches[i] for i in range(k + 1)]
        expected = [
            time[k] ** -0.7 if form == "printed" else signal(time[k]),
            sum(w * signal(time[i]) for i, w in enumerate(weights)),
            4.0 * sum(weights),
        ]
        assert found[k] == pytest.approx(expected, rel=1e-12)  # far above the rounding of 60 terms


def test_terms_that_have_no_value_are_refused():
    problem = Regression(Model(s=0.5, beta=2.0, size=4, noise=1.0))
    with pytest.raises(ValueError, match="form must be one of"):
        law_terms(problem, [0.1], form="power")
    with pytest.raises(ValueError, match="first learning rate must be above 0"):
        law_terms(problem, [0.0, 0.1])
    with pytest.raises(ValueError, match="no intrinsic time"):
        law_terms(problem, [0.0, 0.0], form="modes")
    assert np.isfinite(law_terms(problem, [0.0, 0.1], form="modes")).all()


def test_accumulated_noise_decays_between_the_steps():
    kernel = Exponentials(np.array([1.0, 3.0]), np.array([2.0, 5.0]))
    found = accumulated(kernel, np.array([0.2, 0.0, 0.4]), np.array([[1.0, 0.0, 0.0]]))
    expected = [7.0, 7.0, 2 * math.exp(-0.4) + 5 * math.exp(-1.2)]
    assert found[0] == pytest.approx(expected, rel=1e-14)


def test_half_of_the_terms_of_the_model_is_the_risk_to_second_order():
    # At a fixed intrinsic time what is left out is of order eta^2: noise made by noise; and of the discrete steps, for
    # (1 - eta lambda)^2 + eta^2 lambda^2 = exp(-2 eta lambda) + O(eta^3). It falls fourfold as the peak is halved.
    problem = Regression(Model(s=0.5, beta=2.0, size=64, noise=9.0))
    missing = []
    for scale in (1, 2, 4):
        rates = step_rates("cosine", peak=0.04 / scale, steps=500 * scale)
        risk = exact_risk(problem, rates).excess_risk[-1]
        law = 0.5 * law_terms(problem, rates, form="modes")[-1].sum()
        missing.append(risk / law - 1.0)
    assert 0 < missing[0] < 0.1
    assert missing[0] / missing[1] == pytest.approx(4.0, rel=0.2)
    assert missing[1] / missing[2] == pytest.approx(4.0, rel=0.1)


# ---- fits ------------------------------------------------------------------------------------------------------------


def planted(constants, wobble=0.0):
    time = np.linspace(0.1, 20.0, 200)
    terms = np.stack([time**-0.5, 1.0 / (1.0 + time), np.sin(time) + 2.0], axis=1)
    risk = terms @ constants * (1.0 + wobble * np.cos(np.arange(200)))
    return RiskCurve(np.arange(0, 201), np.append(9.0, risk), np.zeros(201), "exact"), terms, time


def test_a_fit_finds_planted_constants_of_any_sign():
    curve, terms, time = planted([0.5, -0.2, 0.1])
    (fit,) = fit_law([curve], [terms], [time])
    assert fit.constants == pytest.approx((0.5, -0.2, 0.1), rel=1e-10)
    assert fit.r_squared == pytest.approx(1.0, abs=1e-12) and fit.worst_error < 1e-10
    assert fit.step[0] == 1 and fit.predicted.size == 200  # step 0 has no law


def test_the_measures_of_a_fit_are_those_of_its_definition():
    curve, terms, time = planted([0.5, 0.2, 0.1], wobble=0.3)
    (fit,) = fit_law([curve], [terms], [time], since=5.0)
    used = time >= 5.0
    risk = curve.excess_risk[1:]
    assert (fit.used == used).all() and fit.as_dict()["first_step"] == int(np.argmax(used)) + 1
    relative = np.abs(terms @ fit.constants / risk - 1.0)[used]
    assert fit.mean_error == pytest.approx(relative.mean()) and fit.worst_error == pytest.approx(relative.max())
    assert relative[fit.worst_step - 1 - int(np.argmax(used))] == relative.max()
    variance = ((risk[used] - risk[used].mean()) ** 2).sum()
    assert fit.r_squared == pytest.approx(1.0 - ((terms @ fit.constants - risk)[used] ** 2).sum() / variance)
    # least squares: any other constants fit worse
    for nudge in np.eye(3) * 1e-3:
        error = terms[used] @ (fit.constants + nudge) - risk[used]
        assert (error**2).sum() > ((terms @ fit.constants - risk)[used] ** 2).sum()


def test_curves_fitted_together_share_their_constants():
    first, terms, time = planted([0.5, 0.2, 0.1])
    second = RiskCurve(first.step, 2.0 * first.excess_risk, first.standard_error, "exact")
    fits = fit_law([first, second], [terms, terms], [time, time])
    assert fits[0].constants == fits[1].constants == pytest.approx((0.75, 0.3, 0.15), rel=1e-9)
    assert fits[0].worst_error == pytest.approx(0.5) and fits[1].worst_error == pytest.approx(0.25)


def test_too_few_steps_are_refused():
    curve, terms, time = planted([0.5, 0.2, 0.1])
    with pytest.raises(ValueError, match="at least 4 recorded steps, but 1 are left"):
        fit_law([curve], [terms], [time], since=19.95)


# ---- loss dynamics ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dynamics():
    return loss_dynamics(steps=2000, runs=400, seed=5, every=100)


def test_the_law_with_the_sums_of_the_model_fits_where_the_printed_powers_do_not(dynamics):
    assert [run.name for run in dynamics.runs] == ["cosine", "wsd", "cyclic"]
    for run in dynamics.runs:
        assert set(run.fits) == set(run.together) == set(FITS)
        best = run.fits["modes"]
        # c1 and c3 of the theory are 1/2; the rest is of the order of the peak rate 0.05
        assert best.constants[0] == pytest.approx(0.5, abs=0.02) and best.constants[2] == pytest.approx(0.5, abs=0.05)
        assert best.r_squared > 0.999 and best.worst_error < 0.03
        # with the constants of the theory and no fit: above 1, and by less than the share gamma tr(H)/2 / (1 - it) that
        # noise of noise adds in the Volterra equation, plus as much for lambda^2 m and the discrete steps
        share = 0.5 * 0.05 * dynamics.problem.eigenvalues.sum()
        assert 1.0 - 1e-9 < run.unfitted[0] and run.unfitted[1] < 1.0 + 2.0 * share / (1.0 - share)
        assert run.fits["printed"].worst_error > 0.2  # measured: 0.35 to 1.8
        assert run.fits["printed"].r_squared < best.r_squared


def test_the_averaged_runs_scatter_around_the_exact_curve(dynamics):
    # 20 records of 400 runs, correlated over some 5 records: the rms of the deviations is 1 +- 0.35 or so. With the
    # noise of the labels a fifth larger the exact curve lies some 3 standard errors off, as is seen below.
    noisier = Regression(Model(s=0.5, beta=4.0, size=128, noise=9.0 * 1.5))
    for run in dynamics.runs:
        rms, largest = run.scatter
        assert 0.4 < rms < 1.8 and rms <= largest < 4.5
        wrong = replace(run, exact=exact_risk(noisier, run.rates, every=1))
        assert wrong.scatter[0] > 2.5
        assert run.averaged_fit is not None and run.averaged.method != "exact"


def test_the_numbers_of_the_dynamics_are_given(dynamics):
    found = dynamics.as_dict()
    assert found["runs"] == 400 and len(found["schedules"]) == 3
    first = found["schedules"][0]
    assert first["fits"]["modes"]["constants"] == list(dynamics.runs[0].fits["modes"].constants)
    assert set(first["deviation_in_standard_errors"]) == {"rms", "largest"}
    bare = loss_dynamics(schedules=["8-1-1"], steps=300, model_size=8)
    assert bare.runs[0].scatter is None and "averaged_fit" not in bare.as_dict()["schedules"][0]


def test_the_grid_reaches_the_corners_and_both_regimes():
    regimes = {np.sign(round(s - 1 + 1 / beta, 12)) for s, beta in GRID}
    assert regimes == {-1, 0, 1}
    assert {(0.5, 1.5), (1.0, 1.5), (0.5, 5.0), (1.0, 5.0)} <= set(GRID)
    cells = fit_grid([(0.5, 2.0), (0.5, 2.0)], steps=50, model_size=4, runs=4, every=5, schedules=["wsd"], seed=1)
    means = [cell.runs[0].averaged.excess_risk for cell in cells]
    assert not np.array_equal(*means)  # every cell has a random stream of its own


# ---- final losses ----------------------------------------------------------------------------------------------------


def test_a_rule_gives_peak_rates_and_a_law():
    rule = PeakRule("wsd", 0.5, -1.0, 0.25, 2.0)
    budget = math.exp(4.0)
    assert rule.peak_rate(budget, 3.0) == pytest.approx(3.0 * math.exp(-2.0) / 4.0)
    assert rule.log_law(np.array([budget]))[0] == pytest.approx(-1.0 + 2.0 * math.log(4.0))


@pytest.mark.parametrize("name", ["constant", "exp-decay", "wsd"])
def test_half_of_the_functional_law_is_the_final_risk_of_sgd(name):
    problem = Regression(Model(s=0.5, beta=4.0, size=math.inf, noise=9.0))
    risk, _ = final_risk(problem, name, 0.05, 10_000)
    law = functional_risk(problem, name, 0.05, 1e4)
    # second order in the peak rate 0.05, relative to the share of noise: measured 0.0007 (exp-decay) to 0.06 (constant)
    assert 1.0 < risk / law < 1.08


@pytest.fixture(scope="module")
def scaling():
    return {rule.schedule: final_losses(rule, largest=1e5, farthest=1e24) for rule in (CONSTANT, DECAY, WSD)}


def test_the_ratio_to_the_derived_law_does_not_drift(scaling):
    for found in scaling.values():
        assert abs(found.far_drift) < 1e-3  # measured: 4e-9 to 4e-4
        for power, log_power in ((0.05, 0.0), (-0.05, 0.0), (0.0, 1.0)):
            rule = found.rule
            claimed = (rule.risk_power + power, rule.risk_log_power + log_power)
            mutant = replace(found, rule=replace(rule, risk_power=claimed[0], risk_log_power=claimed[1]))
            assert abs(mutant.far_drift) > 0.015
    assert abs(scaling["constant"].drift) < 0.01 and abs(scaling["constant"].slope + 1 / 3) < 0.01


def test_exact_risks_stand_on_the_functional_law(scaling):
    for found in scaling.values():
        assert np.abs(found.exact / found.functional - 1.0).max() < 0.04  # 0.032 for wsd at 1,000 steps
        assert found.ratio[-1] == 1.0
        assert found.as_dict()["excess_risk"] == found.exact.tolist()
    order = [scaling[name].exact[-1] for name in ("wsd", "exp-decay", "constant")]
    assert order == sorted(order)


@pytest.mark.parametrize("rule", [DECAY, WSD])
def test_the_printed_power_of_the_peak_rate_learns_nothing(rule):
    assert PRINTED_POWERS[rule.schedule] == 1.0
    found = final_losses(replace(rule, peak_power=1.0), largest=1e5, farthest=1e12)
    # the learning rates add up to at most peak * D = 0.05
    assert found.intrinsic_times.max() < 0.05
    # e(t) >= e(0) exp(-2 t) since no eigenvalue exceeds 1
    assert (found.exact > found.initial * math.exp(-0.1)).all()
    assert found.drift > 0.4  # the law D^-1/2 is missed by that power
    assert abs(found.slope) < 0.01


def test_the_derived_peak_rates_are_near_the_best(scaling):
    powers = [0.0, 1 / 6, 1 / 3, 1 / 2, 1.0]
    for name, best in (("constant", 2), ("exp-decay", 0), ("wsd", 0)):
        risks = risks_by_peak_power(name, powers, budget=100_000)
        assert int(np.argmin(risks)) == best
        assert risks[best] == pytest.approx(scaling[name].exact[-1], rel=1e-12)
        assert risks[-1] > 30.0 * risks[best]


def test_sampled_runs_meet_the_exact_risk():
    found = final_losses(DECAY, largest=1e4, per_decade=1, farthest=1e6, runs=300, seed=3)
    assert found.sampled_budgets.tolist() == [1000.0, 10000.0]
    away = (found.sampled - found.exact) / found.sampled_errors
    assert np.abs(away).max() < 3.5  # two nearly normal numbers: this fails for one seed in a thousand


def test_every_budget_has_a_random_stream_of_its_own():
    # At rates 0.05/D nothing is forgotten: runs that shared their data would share the sums of their noise, but for the
    # fifth of the steps that one budget has more than the one before; neighbours then differ by 0.2 in the mean square.
    found = final_losses(replace(WSD, peak_power=1.0), largest=1e4, per_decade=10, farthest=1e6, runs=40, seed=1)
    away = (found.sampled - found.exact) / found.sampled_errors
    assert (np.diff(away) ** 2).mean() > 0.8  # 2 for independent ones


def test_a_seed_sequence_gives_the_same_runs_again():
    root = np.random.SeedSequence(4)
    first, again, number = (
        loss_dynamics(schedules=["wsd"], steps=50, model_size=4, runs=4, every=5, seed=seed) for seed in (root, root, 4)
    )
    means = [found.runs[0].averaged.excess_risk.tolist() for found in (first, again, number)]
    assert means[0] == means[1] == means[2]


def test_budgets_out_of_range_are_refused():
    with pytest.raises(ValueError, match="largest must be at least 10,000"):
        final_losses(WSD, largest=100.0)
    with pytest.raises(ValueError, match="farthest at least largest"):
        final_losses(WSD, largest=1e5, farthest=1e4)
