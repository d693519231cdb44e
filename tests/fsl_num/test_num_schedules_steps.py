"""Learning rates step by step."""

import math

import numpy as np
import pytest

from fsl_num.schedules import Discrete, schedule
from fsl_num.schedules.steps import STEP_SCHEDULES, parameters_of, step_rates


@pytest.mark.parametrize("name", STEP_SCHEDULES)
def test_every_name_gives_as_many_rates_as_steps(name):
    rates = step_rates(name, peak=0.3, steps=100)
    assert rates.shape == (100,) and rates.max() <= 0.3 * (1 + 1e-15) and (rates >= 0.0).all()
    # triangular waves of 25 steps miss their top by half a step
    assert rates.max() == pytest.approx(0.3, rel=0.05)


def test_the_rate_of_a_step_is_that_at_its_start():
    rates = step_rates("cosine", peak=0.5, steps=8)
    assert rates == pytest.approx(0.25 * (1.0 + np.cos(np.pi * np.arange(8) / 8)), rel=1e-15)
    plan = schedule("exp-decay", peak=0.5, final=0.05, steps=10)
    assert step_rates("exp-decay", peak=0.5, steps=10, final=0.05).tolist() == plan.learning_rate(range(10)).tolist()


def test_eight_one_one_falls_at_eighty_and_ninety_percent():
    rates = step_rates("8-1-1", peak=1.0, steps=1000)
    assert (rates[:800] == 1.0).all() and (rates[900:] == 0.1).all()
    assert (rates[800:900] == math.sqrt(0.1)).all()


def test_cycles_start_low_and_reach_the_peak():
    rates = step_rates("cyclic", peak=1.0, steps=40, final=0.2, cycles=2)
    assert rates[0] == rates[20] == 0.2 and rates[10] == rates[30] == 1.0
    assert (np.diff(rates[:11]) > 0).all() and (np.diff(rates[10:20]) < 0).all()


@pytest.mark.parametrize(
    ("name", "parameters", "kind", "text"),
    [
        ("sawtooth", {}, ValueError, "unknown schedule"),
        ("8-1-1", {"final": 0.1}, TypeError, "has no final"),
        ("cyclic", {"final": 2.0}, ValueError, "at most peak"),
        ("cyclic", {"cycles": 1.5}, ValueError, "cycles"),
        ("constant", {"peak": 0.0}, ValueError, "peak"),
        ("constant", {"steps": 2.5}, ValueError, "steps"),
    ],
)
def test_what_cannot_be_is_refused(name, parameters, kind, text):
    with pytest.raises(kind, match=text):
        step_rates(name, **{"peak": 1.0, "steps": 10, **parameters})


def test_parameters_are_those_of_the_schedule():
    assert parameters_of("wsd") == ("final", "decay_fraction")
    assert parameters_of("cyclic") == ("final", "cycles")


def test_intrinsic_times_of_steps_are_reached_by_the_first_of_them():
    plan = Discrete(rates=[0.0, 0.5, 0.0, 0.25])
    assert plan.physical_time(0.0) == 0.0
    assert plan.physical_time([0.25, 0.5, 0.625, 0.75]).tolist() == [1.5, 2.0, 3.5, 4.0]
