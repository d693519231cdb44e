"""Panels: where they end, the rule on them, and refinement until two solutions agree."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.model import Model
from fsl_num.schedules import Discrete, schedule
from fsl_num.volterra import Problem, Spectrum, solve
from fsl_num.volterra.panels import (
    collocation_points,
    jump_error,
    panel_ends,
    radau_rule,
    refined,
    relative_floor,
    solve_panels,
)

VARYING = Problem(Model(noise=1.0, spectrum=Spectrum([2.0, 0.1], [1.0, 1.0])), gamma=np.cos, horizon=1.5, breaks=(0.4,))


def test_panels_grow_from_breaks_and_shrink_towards_the_end():
    asked = np.array([0.123, 0.77, 1.4999])
    times, remaining = panel_ends(VARYING, asked, 1.35)
    assert times[0] == 0.0 and times[-1] == 1.5 and remaining[-1] == 0.0 and remaining[0] == 1.5
    assert times + remaining == pytest.approx(np.full(times.size, 1.5), rel=1e-15, abs=0.0)
    assert set(asked.tolist()) <= set(np.round(times, 15).tolist())
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
    flat, _ = panel_ends(replace(VARYING, gamma=0.3, breaks=()), asked, 1.35)
    assert np.diff(flat).min() > 1e-5  # a constant does not vanish at the end
    assert np.isin(0.125 * 1.35 ** np.arange(6), flat).any()


def test_a_short_segment_has_four_panels_and_a_short_step_one():
    short = replace(VARYING, breaks=(0.4, 0.5))
    times, _ = panel_ends(short, np.empty(0), 1.35)
    assert times[(times > 0.4 - 1e-9) & (times < 0.5 + 1e-9)] == pytest.approx([0.4, 0.425, 0.45, 0.475, 0.5])
    steps = Problem(Model(noise=1.0, spectrum=Spectrum([2.0], [1.0])), gamma=Discrete(rates=[0.1] * 15))
    times, _ = panel_ends(steps, np.empty(0), 1.35)
    assert times[times < 1.4 + 1e-9] == pytest.approx(0.1 * np.arange(15))


def test_all_evaluations_are_counted():
    _, _, facts = solve_panels(replace(VARYING, breaks=()), np.array([0.7]), 1e-10)
    # on so many panels, half as many, and so on: at six points each
    levels = [facts["panels"] // 2**k for k in range(4)]
    assert facts["evaluations"] in [6 * sum(levels[:k]) for k in (2, 3, 4)] and facts["modes"] == 2


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


SMALL = Problem(
    Model(noise=0.6, spectrum=Spectrum([1.0, 0.4, 0.1], [0.3, 0.2, 0.7], tail=0.05)),
    gamma=lambda t: 0.3 + 0.5 * np.cos(3.0 * t) ** 2,
    horizon=4.0,
)


def test_a_rule_is_its_own_eigenvectors():
    rule = radau_rule()
    assert (rule.vectors * rule.eigenvalues @ rule.inverse).real == pytest.approx(rule.matrix, abs=1e-13)
    # Radau IIA: exact for polynomials of degree 5 at its points and 10 at its end, the last point
    for power in range(6):
        assert rule.matrix @ rule.nodes**power == pytest.approx(rule.nodes ** (power + 1) / (power + 1.0), abs=1e-14)
    for power in range(11):
        assert rule.matrix[-1] @ rule.nodes**power == pytest.approx(1.0 / (power + 1.0), rel=1e-13, abs=0.0)


def known(errors, calls):
    """A march that is off by a given share at each level, from the middle of the horizon on by ten times as much."""

    def march(times, remaining):
        calls.append(times)
        share = errors[len(calls) - 1]
        # an error that is large early, and smaller later
        return (2.0 + times) * (1.0 + share * np.where(times < 1.0, 1.0, 0.1))

    return march


@pytest.mark.parametrize(
    ("errors", "rtol", "levels"),
    [
        ([1e-3, 1e-6, 0.0, 0.0, 0.0], 1e-5, 3),
        ([1e-3, 1e-6, 1e-6 - 2.9e-9, 0.0, 0.0], 1e-8, 3),
        ([1e-3, 1e-6, 1e-6 - 3.1e-9, 0.0, 0.0], 1e-8, 5),
        ([1e-1, 1e-2, 1e-3, 1e-4, 1e-5], 1e-13, 5),  # never
        ([1e-14, 0.0], 1e-15, 2),  # what agrees to 2e-13 is not refined
        ([0.0, 3e-13, 6e-13, 6e-13, 6e-13], 1e-15, 4),
    ],
)
def test_panels_are_halved_until_two_solutions_agree(errors, rtol, levels):
    calls = []
    t = np.array([0.3, 0.9, 3.0])
    values, error, facts = refined(SMALL, known(errors, calls), t, rtol, 1e-7, 9)
    assert len(calls) == levels and all(np.array_equal(b[::2], a) for a, b in zip(calls[:-1], calls[1:], strict=True))
    sizes = [ends_of.size - 1 for ends_of in calls]
    assert facts == {"panels": sizes[-1], "modes": 9, "evaluations": 6 * sum(sizes)}
    last, before = errors[levels - 1], errors[levels - 2]
    exact = (2.0 + t) * (1.0 + last * np.array([1.0, 1.0, 0.1]))
    assert values == pytest.approx(exact, rel=1e-15, abs=0.0)
    # an early difference counts at all later times
    difference = abs((1.0 + last) / (1.0 + before) - 1.0)
    assert error == pytest.approx((difference + 1e-7) * exact, rel=1e-6, abs=0.0)


def test_solutions_are_compared_at_probes_over_the_whole_range():
    calls = []

    def march(times, remaining):
        calls.append(times)
        # two solutions differ only where nobody has asked
        return 1.0 + 1e-3 * (len(calls) == 1) * ((times > 0.1) & (times < 0.12))

    _, error, _ = refined(SMALL, march, np.array([4.0]), 1e-6, 0.0, 3)
    assert len(calls) == 3 and error[0] <= 1e-15


def test_two_jumps_closer_than_the_nudge_are_both_seen():
    place, high = 1000.0, 1000.0 + 2.0**-37
    problem = Problem(
        Model(noise=1.0, spectrum=Spectrum([0.5], [1.0])),
        gamma=lambda t: np.where((t > place) & (t < high), 0.9, 0.1),
        horizon=1024.0,
        breaks=(place, high),
    )
    assert high - place < 64.0 * np.spacing(1024.0)  # as far as the places of jumps may be from their floats
    stable = 1.0 - problem.stability
    found = jump_error(problem, np.array([999.0, 1024.0]), np.array([0.0]), np.array([0.25]))
    # each of height 0.8, misplaced by a rounding, and never forgotten
    assert found[0] == 0.0
    assert found[1] == pytest.approx(2.0 * 0.8 * np.spacing(1000.0) * 0.25 / stable, rel=1e-12, abs=0.0)


LAW = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=0.3, horizon=20.0)


def test_what_no_refinement_shows():
    short, long = replace(LAW, horizon=1e-9), replace(LAW, horizon=1e30)
    stable = 1.0 - LAW.stability
    assert relative_floor(short, 1e-15, 1e-14) == pytest.approx((1e-15 + 1e-14) / stable, rel=1e-9, abs=0.0)
    # longer panels are worse conditioned, up to ten times
    assert relative_floor(long, 1e-15, 0.0) == pytest.approx(1e-14 / stable, rel=1e-9, abs=0.0)
    assert relative_floor(replace(LAW, horizon=0.5), 1e-15, 0.0) == pytest.approx(
        (1.0 + math.log(2.0)) * 1e-15 / stable, rel=1e-9, abs=0.0
    )
    assert relative_floor(replace(LAW, gamma=5.0), 0.0, 1e-14) == pytest.approx(1e-11, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("waves", [50])
def test_a_gamma_that_turns_often_needs_no_breaks(waves):
    def gamma(t):
        return 0.3 + 0.2 * np.sin(2 * np.pi * waves * t / 100.0)

    model = Model(0.5, 2.0, 20, 1.0)
    found = solve(Problem(model, gamma=gamma, horizon=100.0), [30.0, 100.0])
    breaks = tuple(np.arange(1, 2 * waves) * 50.0 / waves)
    truth = solve(Problem(model, gamma=gamma, horizon=100.0, breaks=breaks), [30.0, 100.0])
    assert found.success
    # without panels halved where gamma turns, 50 waves miss by 7e-13 and claim 2e-7, 200 waves by 2e-6 and .02
    np.testing.assert_allclose(found.excess_risk, truth.excess_risk, rtol=1e-12)
    assert (found.error < 1e-12 * found.excess_risk).all()
