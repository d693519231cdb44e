"""Designs of laws that are evaluated, without a gradient: families alone, with intervals, for a run under way too."""

import json
from functools import cache

import numpy as np
import pytest
from curves_runs import PEAK, WARMUP, noisy_fit, rates

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import PhysicalTimeLaw, WeightsLaw, law
from fsl_num.curves.plan import Plan
from fsl_num.design.best import Past
from fsl_num.design.draws import final_loss_of
from fsl_num.design.families import FAMILIES, family_rates
from fsl_num.design.final_loss import evaluated
from fsl_num.design.rivals import rivals
from fsl_num.design.schedule import design_schedule

STEPS = 1500
TRUTH = {"L0": 2.6, "A": 2.5, "B": 0.2, "s": 0.5, "c": 60.0, "gamma": 0.6, "c_e": 40.0, "p": 0.7, "m": 0.1, "x": 2.0}


@cache
def of_weights():
    """A fit of fsl-weights to two runs that it made, with noise."""
    runs, noise = [], np.random.default_rng(0)
    for name in ("constant", "wsd"):
        plan = Plan(rates(name), np.arange(WARMUP, 1501, 25), WARMUP)
        loss = WeightsLaw(reference_rate=PEAK).predict(plan, TRUTH) * np.exp(5e-4 * noise.normal(size=57))
        runs.append(LossCurve(plan.recorded, loss, schedule=plan, warmup=WARMUP, name=name))
    return fit(runs, "fsl-weights")


@cache
def design(**asked):
    return design_schedule(of_weights(), STEPS, warmup=WARMUP, second=None, **asked)


@pytest.mark.parametrize(("family", "others"), [("linear", ()), ("wsd", (1.0,))])
def test_no_member_of_a_grid_is_below_the_design(family, others):
    found = design(family=family)

    def predicted(fraction, final):
        following = family_rates(family, (fraction, *others, final), STEPS - WARMUP, 0.0, PEAK)
        return found.fit.predict(Plan(np.append(found.rates[:WARMUP], following), [STEPS], WARMUP), None).final

    grid = [predicted(fraction, final) for fraction in np.linspace(0.05, 1.0, 20) for final in (0.0, 0.02, 0.1, 0.3)]
    assert found.loss <= min(grid) + 1e-7 and found.loss == found.fit.predict(found.plan, None).final
    assert found.baselines["constant"].distinct and found.as_good[0] <= found.optimum.parameters["decay_fraction"]


def test_a_design_without_a_gradient_is_of_a_family_and_says_that_nothing_proves_it():
    found = design()
    assert found.family == "linear" and found.rates.tolist() == design(family="linear").rates.tolist()
    told = json.loads(found.to_json())
    assert told["gap"] is None and told["kkt_residual"] is None and told["interval"][0] < told["predicted_loss"]
    assert any("nothing proves that no other schedule is better" in sentence for sentence in found.sentences)


@pytest.mark.parametrize("shape", ["free", "non-increasing"])
def test_rates_of_no_family_are_refused_with_what_to_do(shape):
    with pytest.raises(ValueError, match=f"choose one .*{', '.join(FAMILIES)}.*functional law .*for {shape} rates"):
        design(family=shape)


def test_a_free_peak_is_the_best_of_those_fitted_as_the_law_predicts():
    found = design_schedule(of_weights(), 400, peak="free", warmup=20, family="cosine")
    given = [design_schedule(of_weights(), 400, peak=share * PEAK, warmup=20, family="cosine").loss
             for share in (0.2, 0.4, 0.7, 1.0)]  # fmt: skip
    assert found.loss <= min(given) + 1e-6 and 0.1 * PEAK <= found.allowed <= PEAK


@pytest.mark.parametrize("done", [0, 900])
def test_errors_of_a_schedule_are_those_that_the_draws_predict(done):
    """Of a fresh run and of one under way; steps merged into blocks move a loss by 2e-4 of what the noise leaves."""
    found = design(family="linear") if not done else design_schedule(
        of_weights(), STEPS, family="linear", run=of_weights().curves[0], from_step=done
    )  # fmt: skip
    plan, fitted = found.plan.at([STEPS]), found.fit
    first = found.done
    assert first == (done or WARMUP) and (found.rates[WARMUP:first] == PEAK).all()
    others = np.append(found.rates[:first], family_rates("cosine", (0.1,), STEPS - first, 0.0, PEAK))
    past = Past(found.rates[:first], WARMUP)
    ends = [final_loss_of(fitted, past, whole[first:]) for whole in (found.rates, others)]
    samples = fitted.posterior.samples
    moved = [
        np.array([fitted.law.predict(other, sample)[-1] for sample in samples])
        for other in (plan, Plan(others, [STEPS], WARMUP))
    ]
    differences = moved[1] - moved[0]
    gained = ends[1].loss - ends[0].loss
    low, high = found.baselines["cosine to 10 %"].interval
    assert gained == pytest.approx(differences.mean(), abs=2 * differences.std()) and low < gained < high
    elsewhere = [fitted.posterior.misfit.elsewhere(end.states)[:, 0] for end in ends]
    for end, losses, missed in zip(ends, moved, elsewhere, strict=True):
        assert end.drawn == pytest.approx(end.loss * (np.log(losses / end.loss) - missed), abs=2e-4)


def test_a_design_of_another_law_is_scored_by_it():
    found = design_schedule(noisy_fit(), STEPS, warmup=WARMUP, second=of_weights())
    assert found.second_law.loss == of_weights().predict(found.plan, None).final


def test_schedules_alike_are_told_from_others():
    advice = rivals(of_weights())
    assert advice.alike is not None and "constant" not in advice.alike and advice.best != "constant"


def test_an_evaluated_loss_is_that_of_blocks_of_the_past_of_its_batches_and_of_no_training():
    physical, theta = PhysicalTimeLaw(), np.array([2.0, 1.0, 0.5, 0.3])
    before, sizes, counts = np.array([0.1, 0.3, 0.2]), np.array([2.0, 4.0, 8.0]), np.array([1.0, 4.0, 5.0])
    loss = evaluated(physical, theta, before, 1, lengths=counts, batch_sizes=sizes, batch_size=16.0)
    every, batches = np.repeat(np.append(before, 0.05), [1, 4, 5, 9]), np.repeat(np.append(sizes, 16.0), [1, 4, 5, 9])
    value, gradient = loss(np.array([0.05]), np.array([9.0]))
    assert value == physical.predict(Plan(every, batch_sizes=batches), theta)[-1] and np.isnan(gradient).all()
    merged = Past(before, 1, None, counts, 16.0, sizes).objective(physical, theta)
    assert merged(np.array([0.05]), np.array([9.0]))[0] == value
    weights = WeightsLaw(reference_rate=PEAK)
    untrained = evaluated(weights, weights.vector(TRUTH), np.array([]), 0)(np.zeros(5), np.ones(5))[0]
    assert untrained == pytest.approx(TRUTH["L0"] + TRUTH["A"], rel=1e-12)
    with pytest.raises(ValueError, match="one of final losses: it knows no schedules"):
        evaluated(law("chinchilla"), np.ones(5), np.array([]), 0)
