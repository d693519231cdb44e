"""How many modes a short sum takes and why it stops; rules of pieces, of small and of distant measures."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from fsl_num import compression
from fsl_num.compression import Modes, _compress, _Rules, _Scale, compress
from fsl_num.gauss_rules import block_remainders, block_rules, gauss_rule, jacobi_matrix
from fsl_num.mode_errors import PowerLawSums
from fsl_num.validation import Array

MP = mpmath.mp.clone()
MP.dps = 40


def asked_points(monkeypatch: pytest.MonkeyPatch, errors: list[float]) -> tuple[list[int], list[_Rules]]:
    """The points of every rule that is tried, and the rules; the proofs give the listed relative errors in turn."""
    points: list[int] = []
    seen: list[_Rules] = []
    plain = _Rules.rule

    def rule(self: _Rules, size: int) -> Any:
        points.append(size)
        seen.append(self)
        return plain(self, size)

    monkeypatch.setattr(_Rules, "rule", rule)
    if errors:
        left = iter(errors)
        monkeypatch.setattr(PowerLawSums, "error", lambda self, rates, weights: np.full(2, next(left)))
    return points, seen


@pytest.mark.parametrize(
    ("errors", "best"),
    # The goal is three quarters of 1e-3; where a trial leaves more than 0.7 of the last error rounding is all there is.
    [
        ([0.749e-3], 0),
        ([0.751e-3, 0.2e-3], 1),
        ([0.1, 0.0701], 1),
        ([0.1, 0.2], 0),
        ([0.1, 0.0699, 0.06], 2),
        ([0.1, 0.06, 0.035, 0.02, 0.013, 0.001], 4),
    ],
)
def test_trials_end_at_the_goal_or_where_they_help_no_more(
    monkeypatch: pytest.MonkeyPatch, errors: list[float], best: int
) -> None:
    points, _ = asked_points(monkeypatch, errors)
    modes = _compress.__wrapped__(0.5, 2.0, math.inf, 1e12, 1e-3)
    assert modes.error == errors[best] and len(points) == min(len(errors), 5)
    # six indices at the head, the points of the best trial, six for each tail
    assert len(modes.rates) == 6 + points[best] + 12
    assert (np.diff(points) >= 2).all()


def test_the_first_trial_is_that_of_the_strip_and_the_next_adds_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points, seen = asked_points(monkeypatch, [0.1, 0.05, 1e-9] * 2)
    for rtol in (1e-3, 1e-5):
        points.clear()
        _compress.__wrapped__(0.5, 2.0, math.inf, 1e12, rtol)
        # exp(-pi^2 n/length), ten times smaller than asked for, and fourteen for the ends of the interval
        per_point = math.pi**2 / seen[-1].length
        assert points[0] == math.ceil(math.log(10.0 / rtol) / per_point) + 14
        for k, error in enumerate((0.1, 0.05)):
            assert points[k + 1] - points[k] == 1 + math.ceil(math.log(error / (0.75 * rtol)) / per_point)


@pytest.mark.parametrize(("beta", "head"), [(1.2, 4), (2.0, 6), (2.5, 8)])
def test_the_first_indices_are_kept(monkeypatch: pytest.MonkeyPatch, beta: float, head: int) -> None:
    """Three for each unit of beta: from there on neighbours are closer than 1/3 in the log of the rate."""
    heads = []
    plain = _Rules.__init__

    def start(self: _Rules, sums: PowerLawSums, kept: int) -> None:
        heads.append(kept)
        plain(self, sums, kept)

    monkeypatch.setattr(_Rules, "__init__", start)
    modes = _compress.__wrapped__(0.5, beta, math.inf, 1e9, 1e-6)
    assert heads == [head] and beta * math.log((head + 1.0) / head) < 0.35
    assert modes.rates[:head] == pytest.approx(np.arange(1.0, head + 1.0) ** -beta, rel=1e-15, abs=0.0)


def test_a_rule_is_no_longer_than_what_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first trial has as many points as there are indices behind the head, all are kept."""
    points, _ = asked_points(monkeypatch, [])
    kept = []
    for size in range(20, 45):
        points.clear()
        modes = _compress.__wrapped__(0.5, 2.0, float(size), 1.0, 1e-3)
        sums = PowerLawSums((4.0, 2.0), 2.0, float(size), 1.0)
        if not sums.resolved:
            continue
        rules = _Rules(sums, 6)
        first = math.ceil(math.log(1e4) * max(rules.length, 5.0) / math.pi**2) + 14
        assert bool(points) is (first < len(sums.positions) - 6)
        kept.append(first - (len(sums.positions) - 6))
        if not points:
            assert modes.rates == pytest.approx(np.arange(1.0, size + 1.0) ** -2.0, rel=1e-14, abs=0.0)
    assert {-1, 0, 1} <= set(kept)


def test_modes_of_two_sums_are_two_things() -> None:
    one, other = (Modes(np.ones(1), np.ones(1), 0.0) for _ in range(2))
    assert len({one, other}) == 2 and one == one and (one == other) is False
    modes = compress(0.5, 2.0, 30, 10.0)
    for array in (modes.rates, modes.kernel_weights, modes.signal_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2.0
    assert modes.horizon == 10.0 and compress(0.5, 2.0, 30).horizon == math.inf


def test_integrals_have_the_shape_of_their_ends() -> None:
    modes = compress(0.5, 2.0, 5, 10.0)
    for lower, upper, shape in ((1.0, [2.0], (1,)), ([1.0], 2.0, (1,)), (1, np.array([[2], [3]]), (2, 1))):
        assert modes.kernel_integral(lower, upper).shape == shape
    assert type(modes.kernel_integral(1, 2)) is float
    assert modes.kernel_integral(1, 2) == modes.kernel_integral(1.0, 2.0)
    assert modes.kernel_integral([1, 2], [3, 4])[1] == pytest.approx(modes.kernel_integral(2.0, 4.0), rel=1e-15)
    assert modes.kernel_integral(10.0, 10.0) == 0.0
    assert modes.kernel_integral([], []).shape == (0,) and modes.kernel([]).shape == (0,)


def test_a_slow_mode_has_its_integral_to_infinity() -> None:
    for rate in (1e-3, 1e-250, 1.0):
        modes = Modes(np.array([rate, 1.0]), np.array([2.0, 1.0]), 0.0, np.array([1.0, 0.0]))
        assert modes.kernel_integral(0.0, math.inf) == pytest.approx(1.0 / rate + 0.5, rel=1e-14)
        assert modes.signal_integral(1.0, math.inf) == pytest.approx(math.exp(-2.0 * rate) * 0.5 / rate, rel=1e-14)


def indices(x: Array) -> Any:
    """As much of sums as rules behind the head need: positions with masses of one and without a last index."""
    return SimpleNamespace(positions=x, counts=np.ones(len(x)), beta=2.0, size=math.inf, end=1.0, resolved=False)


@pytest.mark.parametrize(("length", "pieces"), [(0.5, 1), (44.9, 1), (45.1, 2), (89.9, 2), (90.1, 3)])
def test_a_piece_is_at_most_forty_five_long(length: float, pieces: int) -> None:
    x = np.exp(np.linspace(0.0, 0.5 * length, 200))
    rules = _Rules(indices(x), 0)
    assert len(rules.pieces) == pieces and rules.length == pytest.approx(length / pieces, rel=1e-12, abs=0.0)
    # every index is in one piece, the last one too
    assert [len(y) for _, y, _ in rules.pieces] == pytest.approx([200 / pieces] * pieces, abs=2)
    assert sum(len(y) for _, y, _ in rules.pieces) == 200
    for centre, y, masses in rules.pieces:
        assert np.abs(y - centre).max() <= 0.5 * rules.length * (1.0 + 1e-12) and len(masses) == len(y)
    # the sine: half a wave at most, and straight where the interval is as short as the strip is wide
    assert 0.0 < rules.bend < 0.5 * math.pi
    image = math.sinh(0.7 * math.pi / max(0.5 * rules.length, 2.5))
    assert math.sin(rules.bend) ** 2 + image**2 == pytest.approx(1.0, rel=1e-12) or (
        math.sin(rules.bend) ** 2 == pytest.approx(0.05, rel=1e-12) and image**2 >= 0.95
    )


def test_rules_are_exact_for_polynomials_in_the_sine() -> None:
    x = np.exp(np.linspace(0.0, 6.0, 300))
    rules = _Rules(indices(x), 3)
    rules.prepare(9)
    assert rules.prepared == 9
    found, counts, rates = rules.rule(7)
    (centre, y, _), half = rules.pieces[0], 0.5 * rules.length

    def sine(position: Array) -> Array:
        return np.asarray(np.sin(rules.bend * (2.0 * np.log(position) - centre) / half))

    assert len(y) == 297 and rates == pytest.approx(found**-2.0, rel=1e-12)
    for degree in range(14):
        # mass times dy/dx = 2/x at the node, as at the indices; fourteen powers, rounded
        assert (counts * 2.0 / found) @ sine(found) ** degree == pytest.approx(
            (2.0 / x[3:]) @ sine(x[3:]) ** degree, rel=1e-11, abs=1e-11
        )


@pytest.mark.parametrize("size", [1e3, 1e8])
def test_newton_stops_when_it_stands(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    scale = _Scale(2.0, size, 0.5 * 30.0 * size**2)
    x = np.geomspace(1.0, size, 50)
    y, _ = scale.forward(x)
    steps = []
    plain = np.abs
    monkeypatch.setattr(compression.np, "abs", lambda each: (steps.append(1), plain(each))[1])
    back, _ = scale.backward(y)
    assert len(steps) <= 40 and back == pytest.approx(x, rel=1e-12)


# Gauss rules


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e-20), (1e15, 8.0), (-1e15, 8.0), (0.0, 1e200), (3.0, 1.0)])
def test_a_rule_moves_with_its_measure(shift: float, scale: float) -> None:
    nodes, weights = np.array([0.0, 0.25, 0.5, 1.0]), np.array([1.0, 2.0, 1.0, 3.0])
    plain, masses = gauss_rule(nodes, weights, 2)
    found, moved = gauss_rule(shift + scale * nodes, weights, 2)
    # 1e-13 of the length, and the rounding of a place
    assert np.abs(found - (shift + scale * plain)).max() <= 1e-13 * scale + 2.0**-52 * abs(shift)
    assert moved == pytest.approx(masses, rel=1e-1 if shift > 10.0 else 1e-12) and moved.sum() == pytest.approx(7.0)


def test_a_jacobi_matrix_ends_where_the_measure_has_no_more_points() -> None:
    # two points 1e-13 apart are two, 1e-15 apart are one
    for gap, size in ((1e-12, 2), (1e-15, 1)):
        diagonal, beside = jacobi_matrix(np.array([0.5, 0.5 + gap]), np.ones(2), 2)
        assert (len(diagonal), len(beside)) == (size, size - 1)
        assert diagonal[0] == pytest.approx(0.5, rel=1e-12)


def test_blocks_with_rules_and_without_are_ordered_apart() -> None:
    x, w = block_rules(np.array([1.0, 18.0, 20.0, 60.0]))
    # the two indices that are kept come first, then the two rules of sixteen
    assert x[:2].tolist() == [18.0, 19.0] and w[:2].tolist() == [1.0, 1.0] and len(x) == 34
    for low, high, part in ((1, 18, slice(2, 18)), (20, 60, slice(18, 34))):
        j = np.arange(float(low), float(high))
        centre = j.mean()
        for degree in range(32):
            exact = float(MP.fsum(((MP.mpf(v) - MP.mpf(centre)) / MP.mpf(len(j))) ** degree for v in j.tolist()))
            # thirty-one powers of numbers below one
            assert ((x[part] - centre) / len(j)) ** degree @ w[part] == pytest.approx(exact, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize(("power", "beta"), [(2.0, 1.5), (9.0, 4.0)])
def test_the_rate_of_an_ellipse_is_the_lowest_of_twenty_four_arcs(power: float, beta: float) -> None:
    """On the arc from a to b: modulus at the end that makes it worse, angle of the corner (cos b, the higher sine)."""
    first, count = 1000.0, 301.0
    _, slowest = block_remainders(np.array([first, first + count]), power, beta)
    half, centre = 150.0, 1150.0
    for rho, found in zip((1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0), slowest[0].tolist(), strict=True):
        wide, high = 0.5 * half * (rho + 1.0 / rho), 0.5 * half * (rho - 1.0 / rho)
        theta = np.linspace(0.0, math.pi, 24_001)
        z = centre + wide * np.cos(theta) + 1j * high * np.sin(theta)
        truth = (z**-beta).real.min()
        assert found <= truth * (1.0 + 1e-12)
        # within an arc of pi/24 the logarithm of x^-beta changes by beta |dx/x| at most, both in modulus and in angle
        moved = beta * math.pi / 24.0 * np.hypot(wide, high) / (centre - wide)
        assert found >= truth - 1.5 * moved * (np.abs(z) ** -beta).max()
