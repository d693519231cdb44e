"""What the claims about empirical laws, the ansatz and optimal schedules rest on."""

import math

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.claims.claim import Sample
from fsl_num.paper.empirical_laws import (
    accuracy,
    ansatz_claims,
    best_schedule,
    claims,
    loops,
    measurements,
    schedule_claims,
)
from fsl_num.paper.empirical_laws.ansatz_claims import SameOrder
from fsl_num.paper.empirical_laws.schedule_claims import Ranges

HARD, EASY = Sample("hard", 0.5, 4.0), Sample("easy", 1.2, 2.0)


def test_claims_are_gathered_once_each():
    assert len(claims.CLAIMS) == len({each.id for each in claims.CLAIMS}) > 30


def test_the_same_order_needs_the_same_sign():
    points = [("a", 2.0), ("b", -3.0)]
    assert SameOrder(lambda point: {"a": 1.0, "b": -30.0}[point], 100.0).judge(points).holds
    assert not SameOrder(lambda point: {"a": 1.0, "b": 3.0}[point], 100.0).judge(points).holds
    assert not SameOrder(lambda point: {"a": 1.0, "b": -3000.0}[point], 100.0).judge(points).holds
    assert (
        SameOrder(lambda point: 1.0, 2.0).mutants() == {} and SameOrder(lambda point: 1.0, 2.0).neighbours("", 1) == ()
    )


def test_ranges_compare_what_bears_their_names():
    shape = Ranges({"end": (0.0, 0.1)}, {"ends high": {"end": (0.5, 1.0)}})
    assert shape.judge([("25M end", 0.05), ("25M gain", 7.0)]).holds
    assert not shape.judge([("25M end", 0.05), ("100M end", 0.2)]).holds
    assert not shape.mutants()["ends high"].judge([("25M end", 0.05)]).holds
    assert shape.neighbours("power", 0.1) == ()
    with pytest.raises(ValueError, match="nothing can be judged"):
        shape.judge([("gain", 1.0)])


def test_gauss_with_eight_nodes_is_exact_to_degree_fifteen():
    assert abs(loops.gauss(lambda t: 16 * t**15, 0.0, 2.0) / 2.0**16 - 1) < 1e-13  # rounding of sums of eight
    assert abs(loops.gauss(lambda t: 17 * t**16, 0.0, 2.0) / 2.0**17 - 1) > 1e-11


def test_the_drop_of_an_early_step_is_seen_from_its_beginning_on():
    decay = loops.power_kernel(2.0, 1.0)
    gone = loops.forgotten([0.5, 0.25], decay, lambda t: 1.0)
    assert abs(gone[1] - loops.gauss(decay, 0.0, 0.25)) < 1e-15 and gone[2] == 0.0
    noise = loops.step_noise([0.5, 0.25], decay, lambda t: 1.0)
    assert abs(0.5 * gone[0] - loops.reduction([0.5, 0.25], 0.5, gone) - noise) < 1e-15
    assert loops.reduction([0.5, 0.25], 0.5, gone, shift=0) == 0.0


def test_the_laws_by_hand():
    rates = [1.0, 0.5, 0.5]
    assert loops.momentum_sum(rates, 0.5) == 0.5 * (1 + 0.5)
    assert loops.multi_power(rates, 1.0, 1.0) == 0.5 * (1 - 1 / (1 + 1.0))
    assert loops.multi_power(rates, 1.0, 1.0, since="the start") == 0.5 * (1 - 1 / (1 + 1.5))
    assert loops.ansatz_reduction(rates, 1.0, 2.0, 1.0, 1.0, 1.0) == 0.5 * (2 + 1 / 1.5) * (1 - 1 / 1.5)
    assert loops.ansatz_reduction(rates, 1.0, 2.0, 1.0, 1.0, 1.0, at="the end") == 0.5 * (2 + 1 / 2) * (1 - 1 / 1.5)


def test_integration_by_parts_is_measured_two_ways():
    each, gain = measurements.plan("cosine", 300.0), measurements.source(0.5, 2.0)
    as_defined = measurements.reduction_as_defined(each, 3.0, gain)
    by_parts = measurements.reduction_by_parts(each, 3.0, gain)
    assert abs(by_parts / as_defined - 1) < ansatz_claims.QUADRATURE
    assert abs(measurements.reduction_by_parts(each, 3.0, gain, from_zero=True) / as_defined - 1) > 1e-2


def test_the_printed_cosine_ends_near_four_fifths_of_the_peak():
    last = schedule_claims.cosine("last", turn=1.0)
    assert all(abs(value - (0.55 + 0.45 * math.cos(1.0))) < 1e-12 for _, value in last)


@pytest.mark.parametrize("s, beta", [(0.5, 4.0), (1.2, 2.0)])
def test_the_gradient_of_the_functional_is_its_derivative(s, beta):
    steps = best_schedule.blocks(1e4, 4)
    rates = np.exp(-np.random.default_rng(1).random(steps.size))
    objective = best_schedule.functional(s, beta)
    _, gradient = objective(rates, steps)
    moves = 1e-6 * np.eye(steps.size)
    central = [(objective(rates + e, steps)[0] - objective(rates - e, steps)[0]) / 2e-6 for e in moves]
    # central differences: third derivatives times 1e-12, and rounding of the loss over 1e-6
    assert np.abs(gradient - central).max() < 1e-8 * np.abs(gradient).max()


def test_the_functional_of_blocks_is_that_of_their_steps():
    steps, beta = np.array([5.0, 3.0, 2.0]), 2.5
    rates = np.array([0.9, 0.4, 0.1])
    decay = loops.power_kernel(beta, 1.0)
    each = [rate for rate, count in zip(rates, steps, strict=True) for _ in range(int(count))]
    normal = 1.0 - 1.0 / beta
    noise = loops.step_noise(each, lambda x: normal * decay(x), lambda t: 1.0)
    expected = sum(each) ** -0.5 + best_schedule.NOISE * noise
    assert abs(best_schedule.functional(0.5, beta)(rates, steps)[0] - expected) < 1e-12


@examples(20)
@given(seed=st.integers(0, 10**6), s=st.floats(0.2, 2.0), beta=st.floats(1.4, 5.0))
def test_no_schedule_of_as_many_steps_is_below_the_closed_form(seed, s, beta):
    steps = best_schedule.blocks(1e5, 6)
    least = best_schedule.closed_form(s, beta, 1e5).loss
    generator = np.random.default_rng(seed)
    falls = np.exp(-np.cumsum(generator.exponential(0.2, steps.size)))
    for rates in (falls, generator.random(steps.size) + 1e-9, np.full(steps.size, generator.random() + 1e-9)):
        assert best_schedule.functional(s, beta)(np.minimum(rates, 1.0), steps)[0] >= least


def test_the_closed_form_is_met_as_blocks_get_finer():
    steps = 2e4
    least = best_schedule.closed_form(0.5, 4.0, steps)
    coarse, fine = (best_schedule.best_rates(best_schedule.functional(0.5, 4.0), best_schedule.blocks(steps, n))
                    for n in (6, 24))  # fmt: skip
    assert least.loss < fine.loss < coarse.loss < 1.05 * least.loss
    assert 10 < (coarse.loss / least.loss - 1) / (fine.loss / least.loss - 1) < 24  # second order: 16
    assert fine.rates.max() == 1.0 and abs(fine.decaying - least.decay_steps / steps) < 0.1
    assert np.all(np.diff(fine.rates) <= 1e-6)  # not asked for: rates were free to rise
    assert 0.5 < fine.last_unit / least.last < 3.0


def test_a_short_training_keeps_the_bound_to_its_end():
    found = best_schedule.closed_form(0.5, 2.0, 1.0)
    assert (found.last, found.peak, found.decay_steps) == (1.0, 1.0, 0.0)
    assert best_schedule.closed_form(1.2, 2.0, 1e9).peak < 1e-2


def test_a_decay_that_never_ends_beats_wsd_in_the_easy_regime():
    losses = []
    for decade in (6, 18):
        steps = best_schedule.blocks(10.0**decade, 20)
        gone = 1.0 - np.cumsum(steps[::-1])[::-1] / steps.sum()
        objective = best_schedule.functional(1.2, 2.0)
        wsd = min(
            objective(peak * np.where(gone < 1 - share, 1.0, end ** ((gone - 1 + share) / share)), steps)[0]
            for peak in np.geomspace(10.0 ** (-0.6 * decade), 1.0, 25)
            for end in (1e-2, 1e-3, 1e-5, 1e-8, 1e-12)
            for share in (0.3, 0.5, 0.7, 0.9)
        )
        losses.append(wsd / best_schedule.closed_form(1.2, 2.0, 10.0**decade).loss)
    assert losses[1] > 1.15 * losses[0] > 1.15


def test_the_rivals_end_at_a_tenth():
    steps = np.ones(1000)
    for rates in best_schedule.rivals(steps).values():
        assert rates[0] == 1.0 and rates[-1] == pytest.approx(0.1, abs=6e-3)  # one step before the end


def test_an_early_drop_is_paid_without_end():
    (ray,) = best_schedule.early_drop_ray(HARD)
    slope = (ray.values[-1] - ray.values[-2]) / (ray.scale[-1] - ray.scale[-2])
    assert abs(slope - 0.5) < 1e-3


def test_the_ansatz_with_its_signal_at_the_end_is_below_the_functional_and_near_it():
    below = accuracy.ansatz(HARD, at="the end")
    printed = accuracy.ansatz(HARD, at="the drop")
    ratios = {point: (below(point) / value, printed(point) / value) for point, value in accuracy.functionals(HARD)}
    # e falls, so that its last value is its least: a lower bound but for rounding
    assert all(0.95 < ratio <= 1 + 1e-12 for ratio, _ in ratios.values())
    assert ratios["early drop", 16384, 0.0][1] < -2.0 and ratios["early drop", 16384, 0.0][0] > 0.99
    assert 0.8 < ratios["cosine", 16384, 0.0][1] < 0.9
