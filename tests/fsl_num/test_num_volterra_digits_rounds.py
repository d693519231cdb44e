"""Collocation at many digits: one march against a dense system, and when the number of stages grows no more."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits import high_precision
from fsl_num.volterra.digits.arithmetic import arithmetic
from fsl_num.volterra.digits.gamma import ExactGamma
from fsl_num.volterra.digits.high_precision import _gamma_table, _march, _system, solve_high_precision
from fsl_num.volterra.digits.modes import DigitModes
from fsl_num.volterra.radau import radau_table

MP = private_context(40)
SMALL = Problem(Model(s=0.5, beta=2.0, size=1, noise=1.0), gamma=0.3, horizon=10.0)


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize("gammas", [[[0.4] * 3, [0.7] * 3], [[0.4, 0.3, 0.25], [0.2, 0.6, 0.1]]])
def test_a_march_is_a_dense_system_on_each_panel(closure: str, gammas: list[list[float]]) -> None:
    eigen, weights, start = [1.0, 0.5, 0.1], [0.9, 0.3, 0.02], [0.3, 0.2, 0.7]
    delta, noise, widths = 0.125, 0.5, [0.3, 4.0]
    squares = [x**2 for x in eigen]
    rows = {"rates": [2.0 * x for x in eigen], "squares": squares, "weights": weights, "start": start}
    system = {name: [MP.mpf(x) for x in row] for name, row in rows.items()}
    system |= {"delta": MP.mpf(delta), "noise": MP.mpf(noise), "gaussian": closure == "gaussian"}
    kind, table = arithmetic(MP, "mpmath"), radau_table(3, 40)
    found = _march(
        kind, system, [(MP.mpf(h), [MP.mpf(g) for g in row]) for h, row in zip(widths, gammas, strict=True)], table
    )
    # Radau IIA of three stages as it stands in books
    root = math.sqrt(6.0)
    radau = np.array(
        [
            [(88.0 - 7.0 * root) / 360.0, (296.0 - 169.0 * root) / 1800.0, (-2.0 + 3.0 * root) / 225.0],
            [(296.0 + 169.0 * root) / 1800.0, (88.0 + 7.0 * root) / 360.0, (-2.0 - 3.0 * root) / 225.0],
            [(16.0 - root) / 36.0, (16.0 + root) / 36.0, 1.0 / 9.0],
        ]
    )
    state, exact = np.array(start), [delta + sum(start)]
    for h, row in zip(widths, gammas, strict=True):
        gamma = np.array(row)
        whole, right = np.zeros((3, 3, 3, 3)), np.zeros((3, 3))
        for k in range(3):
            own = gamma * squares[k] if closure == "gaussian" else 0.0
            whole[k, :, k, :] += np.eye(3) + h * radau * (2.0 * eigen[k] - own)
            for other in range(3):
                whole[k, :, other, :] -= h * weights[k] * radau * gamma
            right[k] = state[k] + h * weights[k] * radau @ (gamma * (delta + noise))
        state = np.linalg.solve(whole.reshape(9, 9), right.ravel()).reshape(3, 3)[:, -1]
        exact.append(delta + state.sum())
    # a system of nine numbers in floats
    assert [float(x) for x in found] == pytest.approx(exact, rel=1e-13, abs=0.0)


def test_systems_hold_what_the_problem_says() -> None:
    few = DigitModes(*[(MP.mpf(x), MP.mpf(y)) for x, y in ((1, 0.5), (0.9, 0.3), (0.7, 0.6))], MP.mpf(0), MP.mpf(0))
    large = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=0.25), gamma=0.3, horizon=10.0)
    given = Problem(
        Model(noise=0.25, spectrum=Spectrum([1.0, 0.5], [0.3, 0.2], tail=0.125)),
        gamma=0.3,
        horizon=10.0,
        closure="gaussian",
    )
    law = Problem(Model(s=0.5, beta=2.0, size=2, noise=0.25), gamma=0.3, horizon=10.0)
    behind = math.pi**2 / 6.0 - 1.25
    for problem, modes, eigen, weights, start, delta in (
        (large, few, [1.0, 0.5], [0.9, 0.3], [0.7, 0.6], 0.0),
        (given, None, [1.0, 0.5], [1.0, 0.25], [0.3, 0.2], 0.125),
        (law, None, [1.0, 0.25], [1.0, 0.0625], [1.0, 0.25], behind),
    ):
        found = _system(MP, problem, modes)
        assert found["gaussian"] == (problem is given)
        doubled, squares = [2.0 * x for x in eigen], [x**2 for x in eigen]
        for name, row in {"rates": doubled, "squares": squares, "weights": weights, "start": start}.items():
            assert [float(x) for x in found[name]] == pytest.approx(row, rel=1e-15, abs=0.0)
        assert float(found["delta"]) == pytest.approx(delta, rel=1e-14, abs=0.0) and found["noise"] == 0.25


def test_widths_are_taken_from_the_smaller_of_both_times() -> None:
    gamma = ExactGamma(lambda t, r: MP.mpf(1), MP.mpf(1), [], None)
    tiny = MP.mpf(10) ** -39
    places = [tiny, 3 * tiny, MP.mpf("0.25")]
    ends = [(x, 1 - x) for x in places] + [(1 - x, x) for x in reversed(places)]
    widths = [width for width, _ in _gamma_table(MP, gamma, ends, [MP.mpf(1)])]
    for found, exact in zip(widths, (2 * tiny, MP.mpf("0.25") - 3 * tiny, MP.mpf("0.5")), strict=False):
        assert abs(found / exact - 1) < MP.mpf(10) ** -37
    assert abs(widths[-1] / (2 * tiny) - 1) < MP.mpf(10) ** -37


class Rounds:
    """Solutions of which the k-th is off by a known share at all ends but the start, and what they were asked with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, shares: list[float]) -> None:
        self.stages: list[int] = []
        self.panels: list[int] = []
        self.shares = shares
        monkeypatch.setattr(high_precision, "radau_table", self._table)
        monkeypatch.setattr(high_precision, "_march", self._march)

    def _table(self, stages: int, digits: int) -> Any:
        self.stages.append(stages)
        return SimpleNamespace(nodes=[MP.mpf("0.5"), MP.mpf(1)])

    def _march(self, kind: Any, system: Any, table: Any, radau: Any) -> Any:
        self.panels.append(len(table))
        share = self.shares[len(self.stages) - 1] if len(self.stages) <= len(self.shares) else self.shares[-1]
        return [kind.number(MP.mpf(2) * (1 + MP.mpf(share if k else 0))) for k in range(len(table) + 1)]


SLOW = [11.0**-k for k in range(12)]


@pytest.mark.parametrize(
    ("digits", "shares", "stages", "difference"),
    [
        (20, [0.0, 0.0], [18, 23], 0.0),
        (20, [1e-5, 0.0, 1e-9, 1e-9], [18, 23, 29, 37], 0.0),
        (20, [1e-5, 0.0, 1.1e-6], [18, 23, 29], -1.1e-6),  # a tenth at least must be gained
        (20, [1e-5, 0.0, 0.9e-6, 0.9e-6], [18, 23, 29, 37], 0.0),
        (15, SLOW, [14, 18, 23, 29, 37, 47, 59, 74], None),
        (56, SLOW, [51, 64, 80], None),  # eighty stages, and no more
        (100, [3e-5, 0.0], [57, 72], -3e-5),
    ],
)
def test_stages_grow_until_two_solutions_agree(
    monkeypatch: pytest.MonkeyPatch, digits: int, shares: list[float], stages: list[int], difference: float | None
) -> None:
    rounds = Rounds(monkeypatch, shares)
    values, errors, facts = solve_high_precision(SMALL, [0.0, 10.0], digits, library="mpmath")
    assert rounds.stages == stages and facts["stages"] == stages[-1]
    last, before = (shares[min(len(stages) - k, len(shares) - 1)] for k in (1, 2))
    if difference is None:
        difference = (1.0 + before) / (1.0 + last) - 1.0
    # where the solutions have not come together ten times their difference is claimed
    missed = 10.0 * abs(difference)
    assert float(values[1]) == pytest.approx(2.0 * (1.0 + last), rel=1e-14, abs=0.0) and values[0] == 2
    for value, error, share in zip(values, errors, (0.0, missed), strict=True):
        assert float(error) == pytest.approx(float(value) * (share + 10.0**-digits), rel=1e-5, abs=0.0)
    assert facts["digits reached"] == (digits if not missed else int(-math.log10(missed)))
    assert facts["panels"] == rounds.panels[-1] == rounds.panels[0]
    assert facts["evaluations"] == sum(stages) * facts["panels"] and facts["modes"] == 1


def test_a_difference_early_on_counts_later_but_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds(monkeypatch, [0.0])
    march = rounds._march

    def late(kind: Any, system: Any, table: Any, radau: Any) -> Any:
        found = march(kind, system, table, radau)
        middle = len(found) // 2
        return found[:middle] + [x * (1 + MP.mpf(10) ** -9 * (len(rounds.stages) % 2)) for x in found[middle:]]

    monkeypatch.setattr(high_precision, "_march", late)
    values, errors, facts = solve_high_precision(SMALL, [0.0, 10.0], 20, library="mpmath")
    assert float(errors[0]) == pytest.approx(2e-20, rel=1e-6, abs=0.0) and float(errors[1]) == pytest.approx(
        2e-8, rel=1e-6, abs=0.0
    )
    assert facts["digits reached"] == 8  # ten times 1e-9
    assert solve_high_precision(SMALL, [0.0], 20, library="mpmath")[2]["digits reached"] == 20
    assert solve_high_precision(SMALL, [], 20, library="mpmath")[2]["digits reached"] == 8


@pytest.mark.parametrize(("least", "spare"), [(0.02, 2), (0.019, 3), (100.0, 0)])
def test_few_modes_are_better_than_the_digits_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, least: float, spare: int
) -> None:
    asked: list[tuple[int, float]] = []

    def few(problem: Problem, digits: int, gamma_max: float) -> DigitModes:
        asked.append((digits, gamma_max))
        one = (MP.mpf(1),)
        return DigitModes(one, one, one, MP.mpf(0), MP.mpf(0))

    rounds = Rounds(monkeypatch, [1e-3, 1e-6, 0.0, 0.0])
    monkeypatch.setattr(high_precision, "few_modes", few)
    monkeypatch.setattr(high_precision, "_least", lambda *_: least)
    monkeypatch.setattr(high_precision, "_left_out", lambda *_: MP.mpf(10) ** -19)
    problem = Problem(Model(s=0.5, beta=2.0, size=101, noise=1.0), gamma=0.3, horizon=10.0)
    values, errors, facts = solve_high_precision(problem, [10.0], 20, library="mpmath")
    # five digits, those by which the loss falls, and three more with each round
    assert [digits for digits, _ in asked] == [20 + spare + 5 + 3 * k for k in range(4)] and len(rounds.stages) == 4
    assert all(0.3 < gamma < 0.31 for _, gamma in asked)
    assert float(errors[0]) == pytest.approx(1e-19 + 2e-20, rel=1e-9, abs=0.0) and facts["modes"] == 1
    assert facts["digits reached"] == 19  # 5e-20 of the loss is left out
    asked.clear()
    for kept in (
        Problem(Model(s=0.5, beta=2.0, size=100, noise=1.0), gamma=0.3, horizon=10.0),
        Problem(Model(noise=1.0, spectrum=Spectrum([0.1] * 101, [0.1] * 101)), gamma=0.3, horizon=10.0),
    ):
        solve_high_precision(kept, [10.0], 20, library="mpmath")
    assert asked == []


@pytest.mark.parametrize(("horizon", "unit"), [(10.0, 1.0), (0.25, 0.25)])
def test_singular_panels_are_followed_four_digits_below_those_asked_for(
    monkeypatch: pytest.MonkeyPatch, horizon: float, unit: float
) -> None:
    depths: list[Any] = []
    exact, panels = high_precision.exact_gamma, high_precision._panels
    monkeypatch.setattr(
        high_precision, "exact_gamma", lambda mp, problem, depth: depths.append(depth) or exact(mp, problem, depth)
    )
    least: list[Any] = []
    monkeypatch.setattr(high_precision, "_panels", lambda *given: least.append(given[4]) or panels(*given))
    Rounds(monkeypatch, [0.0])
    problem = Problem(Model(s=0.5, beta=2.0, size=1, noise=1.0), gamma=lambda t: 0.3, horizon=horizon)
    solve_high_precision(problem, [horizon], 16, library="mpmath")
    # in units of the fastest mode's time, or the horizon where that is shorter
    assert [float(x) for x in (*depths, *least)] == pytest.approx(
        [unit * 1e-20] * (len(depths) + 2), rel=1e-12, abs=0.0
    )


def test_as_many_modes_of_a_spectrum_as_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(high_precision, "LARGEST", 2)
    Rounds(monkeypatch, [0.0])
    for rates in ([1.0, 0.5], [1.0, 0.5, 0.25]):
        problem = Problem(Model(noise=1.0, spectrum=Spectrum(rates, rates)), gamma=0.3, horizon=10.0)
        if len(rates) == 2:
            assert solve_high_precision(problem, [1.0], 100, library="mpmath")[2]["modes"] == 2
        else:
            with pytest.raises(ValueError, match="at most 2 modes of a given spectrum, got 3"):
                solve_high_precision(problem, [1.0], 20)
