"""Panels part by part: a march against one dense system, refinement of a known sequence, points beside jumps."""

import math

import numpy as np
import pytest

from fsl_num.model import Model
from fsl_num.schedules import Discrete, schedule
from fsl_num.volterra import Problem, Spectrum, panels
from fsl_num.volterra.panels import (
    _end_at_a_jump,
    _march,
    _nudge,
    collocation_points,
    jump_error,
    panel_ends,
    problem_modes,
    radau_rule,
    refined,
)

SMALL = Problem(
    Model(noise=0.6, spectrum=Spectrum([1.0, 0.4, 0.1], [0.3, 0.2, 0.7], tail=0.05)),
    gamma=lambda t: 0.3 + 0.5 * np.cos(3.0 * t) ** 2,
    horizon=4.0,
)


def dense(problem, times):
    """u_k' = -2 lambda_k u_k + lambda_k^2 gamma (f + sigma^2) at the Radau points of each panel, all at once."""
    rule = radau_rule()
    lam, state = problem.model.spectrum.eigenvalues, np.zeros(3)
    found = [problem.model.spectrum.tail + problem.model.spectrum.signals.sum()]
    for low, high in zip(times[:-1], times[1:], strict=True):
        points = low + (high - low) * rule.nodes
        forcing, gamma = problem.model.forcing(points), problem.gamma(points)
        system, right = np.zeros((3, 6, 3, 6)), np.zeros((3, 6))
        for k, x in enumerate(lam.tolist()):
            coupling = (high - low) * rule.matrix
            system[k, :, k, :] += np.eye(6) + 2.0 * x * coupling
            for other in range(3):
                system[k, :, other, :] -= x**2 * coupling * gamma
            right[k] = state[k] + x**2 * coupling @ (gamma * (forcing + problem.model.noise))
        modes = np.linalg.solve(system.reshape(18, 18), right.ravel()).reshape(3, 6)
        state = modes[:, -1]
        found.append(forcing[-1] + state.sum())
    return np.array(found)


def test_the_modes_are_eliminated_as_from_a_dense_system():
    for times in ([0.0, 0.7], [0.0, 0.1, 0.5, 2.0], [0.0, 1.5, 2.5, 4.0]):
        ends = np.array(times)
        found = _march(SMALL, problem_modes(SMALL), ends, 4.0 - ends)
        # the eigenvectors cost up to a factor 100 of rounding
        assert found == pytest.approx(dense(SMALL, ends), rel=2e-13, abs=0.0)


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
    sizes = [each.size - 1 for each in calls]
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
    calls.clear()
    refined(SMALL, lambda times, rest: march(np.where(times > 0.0, 9.0, 0.11), rest), np.array([4.0]), 1e-6, 0.0, 3)
    assert len(calls) == 2  # before the first probe, a tenth of the fastest mode's time, nothing is compared
    ends = calls and panel_ends(SMALL, np.geomspace(0.1, 4.0, 32), 1.35)[0]
    calls.clear()
    refined(SMALL, lambda times, rest: calls.append(times) or np.ones_like(times), np.array([4.0]), 1e-6, 0.0, 3)
    assert np.array_equal(calls[0], ends)
    short = Problem(Model(noise=0.0, spectrum=SMALL.model.spectrum), gamma=0.2, horizon=0.5)
    calls.clear()
    refined(short, lambda times, rest: calls.append(times) or np.ones_like(times), np.array([0.5]), 1e-6, 0.0, 3)
    # a tenth of a horizon shorter than the fastest mode's time
    assert 0.05 == calls[0][calls[0] > 0.0][0]


def asked(problem, times, remaining, monkeypatch):
    seen = []
    monkeypatch.setattr(type(problem), "gamma_on", lambda self, t, rest: seen.append((t, rest)) or np.ones_like(t))
    collocation_points(problem, times, remaining)
    monkeypatch.undo()
    (inside, rest), shape = seen[0], (times.size - 1, 6)
    return inside.reshape(shape), rest.reshape(shape)


@pytest.mark.parametrize("end", [0.7, 4.0])
def test_gamma_is_asked_for_within_the_panels(end, monkeypatch):
    problem = Problem(Model(noise=0.0, spectrum=SMALL.model.spectrum), gamma=np.cos, horizon=end, breaks=(0.25 * end,))
    times, remaining = panel_ends(problem, np.array([0.9 * end]), 1.35)
    inside, rest = asked(problem, times, remaining, monkeypatch)
    nudge = _nudge(problem)
    assert nudge == 64.0 * np.spacing(end)
    at = int(np.searchsorted(times, 0.25 * end)) - 1
    for i in range(times.size - 1):
        last = inside[i, -1]
        if i == at:
            assert last == pytest.approx(times[i + 1] - nudge, abs=2.0 * np.spacing(end))
            assert rest[i, -1] - remaining[i + 1] == pytest.approx(nudge, abs=2.0 * np.spacing(end))
        else:
            assert last == np.nextafter(times[i + 1], 0.0) and rest[i, -1] == remaining[i + 1]
    assert (inside < end).all() and (inside[:-1] <= times[1:-1, None]).all() and (rest >= 0.0).all()
    # the points of a panel of one rounding are no later than the last float before the end, where gamma may jump
    last = np.array([0.0, 0.5 * end, np.nextafter(end, 0.0), end])
    assert (asked(problem, last, end - last, monkeypatch)[0] < end).all()
    # a panel shorter than the nudge is not left
    short = np.array([0.0, 0.25 * end - 16.0 * np.spacing(end), 0.25 * end, end])
    found, left = asked(problem, short, end - short, monkeypatch)
    assert short[1] < found[1, -1] < short[2] and left[1, -1] < end - short[1]


def test_a_schedule_that_is_cut_at_its_jump_ends_on_the_near_side(monkeypatch):
    plan = Discrete(rates=[0.5, 0.25, 1.0], batch_sizes=[1.0])
    cut = Problem(Model(noise=0.0, spectrum=SMALL.model.spectrum), gamma=plan, horizon=0.75)
    assert _nudge(cut) == 64.0 * np.spacing(1.75)
    assert _end_at_a_jump(cut, np.array([0.3, 0.5, 0.6, 0.75])).tolist() == [False, True, False, True]
    near = 32.0 * np.spacing(1.75)  # half a nudge
    places = 0.5 + np.array([-near - 1e-15, -near, near, near + 1e-15])
    assert _end_at_a_jump(cut, places).tolist() == [False, True, True, False]
    times = np.array([0.0, 0.5, 0.75 - 1e-15, 0.75])
    inside, rest = asked(cut, times, 0.75 - times, monkeypatch)
    # the last panels are shorter than the rounding of the jump's place
    assert (rest >= 64.0 * np.spacing(1.75) * 0.99).all()
    smooth = Problem(
        Model(noise=0.0, spectrum=SMALL.model.spectrum), gamma=schedule("linear", peak=0.1, steps=10.0), horizon=None
    )
    assert not _end_at_a_jump(smooth, times).any()
    _, rest = asked(smooth, np.array([0.0, 0.3, 0.5]), np.array([0.5, 0.2, 0.0]), monkeypatch)
    assert rest[-1, -1] == 0.0


def test_two_jumps_closer_than_the_nudge_are_both_seen():
    place, high = 1000.0, 1000.0 + 2.0**-37
    problem = Problem(
        Model(noise=1.0, spectrum=Spectrum([0.5], [1.0])),
        gamma=lambda t: np.where((t > place) & (t < high), 0.9, 0.1),
        horizon=1024.0,
        breaks=(place, high),
    )
    assert high - place < _nudge(problem)
    stable = 1.0 - problem.stability
    found = jump_error(problem, np.array([999.0, 1024.0]), np.array([0.0]), np.array([0.25]))
    # each of height 0.8, misplaced by a rounding, and never forgotten
    assert found[0] == 0.0
    assert found[1] == pytest.approx(2.0 * 0.8 * np.spacing(1000.0) * 0.25 / stable, rel=1e-12, abs=0.0)


def test_a_claim_is_raised_by_its_jumps_and_its_floor(monkeypatch):
    monkeypatch.setattr(panels, "jump_error", lambda problem, t, decays, weights: np.full(t.shape, 1e-3 * decays[0]))
    monkeypatch.setattr(
        panels,
        "refined",
        lambda problem, march, t, rtol, floor, size: (np.full(t.shape, 3.0), np.full(t.shape, floor), {}),
    )
    values, error, _ = panels.solve_panels(SMALL, np.array([1.0, 2.0]), 1e-9)
    floor = 2e-14 * (1.0 + math.log1p(2.0 * 4.0)) / (1.0 - SMALL.stability)
    # 2 lambda_1 = 2: 2e-3 of f + sigma^2
    assert values.tolist() == [3.0, 3.0] and error == pytest.approx(np.full(2, floor + 2e-3 * 3.6), rel=1e-12, abs=0.0)
