"""Panels and zeros part by part."""

from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pkgutil import walk_packages

import mpmath
import numpy as np
import pytest

import fsl_num.schedules
import fsl_num.volterra
from fsl_num.model import Model
from fsl_num.schedules import Discrete, schedule
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.panels import collocation_points, halved, panel_ends, radau_rule, solve_panels
from fsl_num.volterra.secular import secular_zeros

# Cuts


# Panels


VARYING = Problem(Model(noise=1.0, spectrum=Spectrum([2.0, 0.1], [1.0, 1.0])), gamma=np.cos, horizon=1.5, breaks=(0.4,))

VARYING_ENOUGH = replace(VARYING, breaks=())


def test_panels_grow_from_breaks_and_shrink_towards_the_end():
    wanted = np.array([0.123, 0.77, 1.4999])
    times, remaining = panel_ends(VARYING, wanted, 1.35)
    assert times[0] == 0.0 and times[-1] == 1.5 and remaining[-1] == 0.0 and remaining[0] == 1.5
    assert times + remaining == pytest.approx(np.full(times.size, 1.5), rel=1e-15, abs=0.0)
    assert set(wanted.tolist()) <= set(np.round(times, 15).tolist())
    assert 0.4 in times
    widths = np.where(times[1:] < 0.75, np.diff(times), -np.diff(remaining))
    assert (widths > 0.0).all()
    # from a break: a quarter of the fastest mode's time 1/2 at first, then by the ratio
    for place in (0.0, 0.4):
        ends = times[(times > place) & (times <= place + 0.3)] - place
        assert 0.05 < ends[0] <= 0.125 * (1.0 + 1e-12)
    # no panel is longer than a quarter of its segment
    assert widths.max() <= 0.25 * 1.1 * (1.0 + 1e-12)
    # towards the end by the ratio, down to 1e-12 of the fastest mode's time
    late = remaining[(remaining > 0.0) & (remaining < 0.5 * 1.1)]
    assert (late[:-1] / late[1:]).max() <= 1.35 * (1.0 + 1e-9)
    assert 0.5e-12 / 1.4 <= late[-1] <= 0.5e-12 * (1.0 + 1e-9)
    flat, _ = panel_ends(replace(VARYING, gamma=0.3, breaks=()), wanted, 1.35)
    assert np.diff(flat).min() > 1e-5  # a constant does not vanish at the end
    assert np.isin(0.125 * 1.35 ** np.arange(6), flat).any()


def geometric(first, ratio, below):
    return [each for each in (first * ratio**k for k in range(200)) if each < below]


def test_every_end_of_a_panel_has_its_reason():
    for breaks, flat in (((0.4,), False), ((), False), ((), True)):
        problem = replace(VARYING, breaks=breaks, gamma=0.3 if flat else np.cos)
        times, _ = panel_ends(problem, np.array([0.123, 0.75, 0.77]), 1.35)
        ends = [0.0, 0.123, 0.75, 0.77, 1.5]
        for low, high in ((0.0, 0.4), (0.4, 1.5)) if breaks else ((0.0, 1.5),):
            width = high - low
            # a quarter of the fastest mode's time 1/2, and three that divide the segment in four
            grown = [*geometric(0.125, 1.35, width), 0.0, 0.25 * width, 0.5 * width, 0.75 * width]
            shrunk = []
            if high == 1.5 and not flat:
                grown = [each for each in grown if each <= 0.5 * width]
                shrunk = [each for each in (0.5 * width * 1.35**-k for k in range(200)) if each >= 0.5e-12 / 1.35]
            ends += [low + each for each in grown] + [high - each for each in shrunk]
        # some ends are the same but for rounding
        exact = np.unique(np.array(ends))
        assert np.abs(exact[:, None] - times).min(axis=1).max() < 1e-15
        assert np.abs(times[:, None] - exact).min(axis=1).max() < 1e-15


def test_a_short_segment_has_four_panels_and_a_short_step_one():
    short = replace(VARYING, breaks=(0.4, 0.5))
    times, _ = panel_ends(short, np.empty(0), 1.35)
    assert times[(times > 0.4 - 1e-9) & (times < 0.5 + 1e-9)] == pytest.approx([0.4, 0.425, 0.45, 0.475, 0.5])
    steps = Problem(Model(noise=1.0, spectrum=Spectrum([2.0], [1.0])), gamma=Discrete(rates=[0.1] * 15))
    times, _ = panel_ends(steps, np.empty(0), 1.35)
    assert times[times < 1.4 + 1e-9] == pytest.approx(0.1 * np.arange(15))


def test_all_evaluations_are_counted():
    _, _, facts = solve_panels(VARYING_ENOUGH, np.array([0.7]), 1e-10)
    # on so many panels, half as many, and so on: at six points each
    levels = [facts["panels"] // 2**k for k in range(4)]
    assert facts["evaluations"] in [6 * sum(levels[:k]) for k in (2, 3, 4)] and facts["modes"] == 2


def test_panels_are_halved():
    times, remaining = panel_ends(VARYING, np.array([0.7]), 1.35)
    fine, rest = halved(VARYING, times, remaining)
    assert fine[::2].tolist() == times.tolist() and rest[::2].tolist() == remaining.tolist()
    early = times[1:] < 0.75
    assert fine[1::2][early].tolist() == (0.5 * (times[1:] + times[:-1]))[early].tolist()
    # near the end what is left is exact, however short the panel
    assert rest[1::2][~early].tolist() == (0.5 * (remaining[1:] + remaining[:-1]))[~early].tolist()
    assert fine + rest == pytest.approx(np.full(fine.size, 1.5), rel=1e-15, abs=0.0)


def test_points_of_panels_take_gamma_from_within():
    problem = replace(VARYING, gamma=lambda t: np.where(t < 0.4, 1.0, 0.25) + 0.0 * t)
    times, remaining = panel_ends(problem, np.array([0.7]), 1.35)
    widths, t, gamma = collocation_points(problem, times, remaining)
    assert widths == pytest.approx(np.diff(times), abs=1e-15)
    assert t == pytest.approx(times[:-1, None] + widths[:, None] * radau_rule().nodes, abs=1e-15)
    at = int(np.searchsorted(times, 0.4))
    assert (gamma[:at] == 1.0).all() and (gamma[at:] == 0.25).all()
    plan = schedule("linear", peak=0.4, steps=10.0)
    short = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=plan, horizon=1.2)
    times, remaining = panel_ends(short, np.array([0.7]), 1.35)
    _, t, gamma = collocation_points(short, times, remaining)
    # by time t the rate has fallen from 0.4 like sqrt(0.16 - 0.08 t): the area of a trapezoid
    assert gamma == pytest.approx(np.sqrt(0.16 - 0.08 * t), rel=1e-12, abs=0.0)


# Columns


# Records of many schedules


# Rough errors and zeros


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 1.2])
def test_zeros_of_the_secular_equation_in_thirty_digits(gamma):
    rates = np.array([0.01, 0.0101, 0.4, 2.0])
    weights = np.array([0.5, 1e-3, 0.2, 1.0])
    found, error = secular_zeros(rates, weights, gamma)
    mp = mpmath.mp.clone()
    mp.dps = 30
    r, w = ([mp.mpf(each) for each in of.tolist()] for of in (rates, weights))
    for k in range(4):
        x, wrong = mp.mpf(float(found[k])), mp.mpf(float(error[k]))
        # 1 - gamma sum_j w_j/(p + r_j) changes its sign within the error: there is the zero
        low, high = (
            1 - mp.mpf(gamma) * mp.fsum(a / (place - r[k] + b) for a, b in zip(w, r, strict=True))
            for place in (x - wrong, x + wrong)
        )
        assert low < 0 < high
        assert error[k] <= 1e-13 * found[k]


# Values


def test_results_cannot_be_changed_and_those_with_arrays_are_compared_by_identity():
    compared = {"Found", "NeumannSeries", "Radau", "Problem", "Solution", "_Tables"}  # by all of their fields
    packages = (fsl_num.volterra, fsl_num.schedules)
    found = [each for top in packages for each in walk_packages(top.__path__, f"{top.__name__}.")]
    homes = [each.name for each in found if not each.ispkg]
    for home in (*homes, "fsl_num.functional", "fsl_num.evolution", "fsl_num.growth"):
        for name, each in vars(import_module(home)).items():
            if isinstance(each, type) and is_dataclass(each) and each.__module__ == home:
                assert each.__dataclass_params__.frozen, name
                arrays = any("Array" in str(field.type) and field.compare for field in fields(each))
                assert not arrays or name in compared or each.__eq__ is object.__eq__, name
