"""What the claims about empirical laws, the ansatz and optimal schedules rest on."""

import math

import numpy as np
import pytest

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import NothingCompared
from fsl_num.paper.empirical_laws import loops, measurements
from fsl_num.paper.empirical_laws.ansatz import ansatz_reduction
from fsl_num.paper.empirical_laws.ansatz_accuracy import ansatz_value, functionals
from fsl_num.paper.empirical_laws.loss_by_decay import SameOrder
from fsl_num.paper.empirical_laws.momentum_law import momentum_sum
from fsl_num.paper.empirical_laws.multi_power_law import multi_power
from fsl_num.paper.empirical_laws.optimal_schedule import early_drop_ray, rivals
from fsl_num.paper.empirical_laws.reduction_by_decay import forgotten, reduction
from fsl_num.paper.empirical_laws.schedules_in_use import COSINE_PRINTED, ends_of
from fsl_num.paper.statements import Ranges

HARD, EASY = Sample("hard", 0.5, 4.0), Sample("easy", 1.2, 2.0)


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
        shape.judge([("25M end", 0.05), ("100M end", math.nan)])
    with pytest.raises(NothingCompared, match="'gain'"):  # one range without a number is not judged by the other's
        Ranges({"end": (0.0, 0.1), "gain": (0.0, 9.0)}).judge([("25M end", 0.05)])


def test_gauss_with_eight_nodes_is_exact_to_degree_fifteen():
    assert abs(loops.gauss(lambda t: 16 * t**15, 0.0, 2.0) / 2.0**16 - 1) < 1e-13  # rounding of sums of eight
    assert abs(loops.gauss(lambda t: 17 * t**16, 0.0, 2.0) / 2.0**17 - 1) > 1e-11


def test_the_drop_of_an_early_step_is_seen_from_its_beginning_on():
    decay = loops.power_kernel(2.0, 1.0)
    gone = forgotten([0.5, 0.25], decay, lambda t: 1.0)
    assert abs(gone[1] - loops.gauss(decay, 0.0, 0.25)) < 1e-15 and gone[2] == 0.0
    noise = loops.step_noise([0.5, 0.25], decay, lambda t: 1.0)
    assert abs(0.5 * gone[0] - reduction([0.5, 0.25], 0.5, gone) - noise) < 1e-15
    assert reduction([0.5, 0.25], 0.5, gone, shift=0) == 0.0


def test_the_laws_by_hand():
    rates = [1.0, 0.5, 0.5]
    assert momentum_sum(rates, 0.5) == 0.5 * (1 + 0.5)
    assert multi_power(rates, 1.0, 1.0) == 0.5 * (1 - 1 / (1 + 1.0))
    assert multi_power(rates, 1.0, 1.0, since="the start") == 0.5 * (1 - 1 / (1 + 1.5))
    assert ansatz_reduction(rates, 1.0, 2.0, 1.0, 1.0, 1.0) == 0.5 * (2 + 1 / 1.5) * (1 - 1 / 1.5)
    assert ansatz_reduction(rates, 1.0, 2.0, 1.0, 1.0, 1.0, at="the end") == 0.5 * (2 + 1 / 2) * (1 - 1 / 1.5)


def test_integration_by_parts_is_measured_two_ways():
    plan, gain = measurements.plan("cosine", 300.0), measurements.noise_source(0.5, 2.0)
    as_defined = measurements.reduction_as_defined(plan, 3.0, gain)
    by_parts = measurements.reduction_by_parts(plan, 3.0, gain)
    assert abs(by_parts / as_defined - 1) < measurements.QUADRATURE
    assert abs(measurements.reduction_by_parts(plan, 3.0, gain, from_zero=True) / as_defined - 1) > 1e-2


def test_the_printed_cosine_ends_near_four_fifths_of_the_peak():
    last = ends_of(COSINE_PRINTED)[1::2]
    assert all(abs(value - (0.55 + 0.45 * math.cos(1.0))) < 1e-12 for _, value in last)


def test_the_rivals_end_at_a_tenth():
    steps = np.ones(1000)
    for rates in rivals(steps).values():
        assert rates[0] == 1.0 and rates[-1] == pytest.approx(0.1, abs=6e-3)  # one step before the end


def test_an_early_drop_is_paid_without_end():
    (ray,) = early_drop_ray(HARD)
    slope = (ray.values[-1] - ray.values[-2]) / (ray.scale[-1] - ray.scale[-2])
    assert abs(slope - 0.5) < 1e-3


def test_the_ansatz_with_its_signal_at_the_end_is_below_the_functional_and_near_it():
    below = ansatz_value(HARD, at="the end")
    printed = ansatz_value(HARD, at="the drop")
    ratios = {point: (below(point) / value, printed(point) / value) for point, value in functionals(HARD)}
    # e falls, so that its last value is its least: a lower bound but for rounding
    assert all(0.95 < ratio <= 1 + 1e-12 for ratio, _ in ratios.values())
    assert ratios["early drop", 16384, 0.0][1] < -2.0 and ratios["early drop", 16384, 0.0][0] > 0.99
    assert 0.8 < ratios["cosine", 16384, 0.0][1] < 0.9
