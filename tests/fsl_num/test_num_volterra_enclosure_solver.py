"""What stands around the proof: times, stages, digits and radii; panels and their defects, one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from models import problem_of
from numpy.polynomial import legendre

from fsl_num.exponential_sums_digits import private_context
from fsl_num.schedules import Constant, schedule
from fsl_num.volterra import Problem
from fsl_num.volterra.enclosure import solver
from fsl_num.volterra.enclosure.bounds import ErrorBounds
from fsl_num.volterra.enclosure.collocation import collocation
from fsl_num.volterra.enclosure.gamma import Piece
from fsl_num.volterra.enclosure.modes import BallModes, Remainder
from fsl_num.volterra.enclosure.panels import March, Panel, cut
from fsl_num.volterra.enclosure.secular import _starts, _zero, secular_values

flint = pytest.importorskip("flint")
WSD = schedule("wsd", peak=0.4, final=0.01, steps=30.0, decay_fraction=0.3)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 4, "noise": 1.0, "gamma": 0.3, "horizon": 100.0}
    return problem_of(**(values | changes))


def _exact(x: Any) -> Fraction:
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@pytest.mark.parametrize("digits", [15, 30])
def test_radii_hold_the_rounding_of_the_midpoints(digits: int) -> None:
    mp = private_context(digits)
    with flint.ctx.workprec(500):
        balls = [flint.arb(1 + k) / 7 for k in range(30)] + [flint.arb(k, 1e-40) / 3 for k in range(1, 30)]
        values, radii = solver._midpoints(flint, mp, balls)
        for total, value, radius in zip(balls, values, radii, strict=True):
            mantissa, exponent = value.man_exp
            seen = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
            mantissa, exponent = radius.man_exp
            held = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
            needed = abs(seen - _exact(total.mid())) + _exact(total.rad().mid())
            # never below, and above only by the roundings upwards of the radius
            assert needed <= held <= needed * (1 + Fraction(1, 10**7)) + Fraction(1, 10**140)


def test_relative_radii_and_the_digits_they_leave() -> None:
    assert solver._relative(flint.arb(3)) == 0.0
    assert solver._relative(flint.arb(4, 1)) == pytest.approx(1.0 / 3.0, rel=1e-6, abs=0.0)  # a radius has 30 bits
    assert solver._relative(flint.arb(1, 1)) == solver._relative(flint.arb(-4, 1)) == math.inf
    assert solver._reached(1e-20, 20) == solver._reached(1e-30, 20) == 20
    assert solver._reached(2e-20, 20) == 19 and solver._reached(0.9e-12, 20) == 12
    assert solver._reached(0.5, 20) == solver._reached(1.0, 20) == solver._reached(math.inf, 20) == 0


def test_times_are_what_they_say_and_the_end_of_a_schedule_is_its_end() -> None:
    mp = private_context(40)
    varying = _problem(gamma=WSD, horizon=None)
    found = solver._exact_times(flint, varying, [0, 0.1, Fraction(1, 3), mp.mpf("0.1"), varying.end], mp)
    assert [Fraction(int(x.p), int(x.q)) for x in found[:3]] == [0, Fraction(0.1), Fraction(1, 3)]
    assert found[3] != found[1] and abs(Fraction(int(found[3].p), int(found[3].q)) - Fraction(1, 10)) < Fraction(
        1, 10**40
    )
    assert found[4] is None
    constant = _problem(gamma=Constant(peak=0.25, steps=8.0), horizon=None)
    assert [int(x.p) for x in solver._exact_times(flint, constant, [2.0], mp)] == [2]
    assert not solver._varies(constant) and not solver._varies(_problem()) and solver._varies(varying)


@pytest.mark.parametrize("digits", [15, 30, 60])
def test_short_pieces_need_few_stages(digits: int) -> None:
    for turn in (1e-3, 0.1, 3.0, 1e4):
        parts = [Piece(0, turn / 4.0, [1, 2]), Piece(0, turn / 8.0, [1, 2, 3])]
        stages = solver._stages(parts, 2.0, digits) - 2  # two more for a gamma of degree two

        def missed(s: int, turn: float = turn) -> float:
            return s * math.log10(turn / 4.0) - math.lgamma(s + 1) / math.log(10.0)

        # the fewest, from three on, for which (u/4)^s/s! is small enough, and never more than a stage a digit and two
        assert 3 <= stages <= digits + 2
        assert stages == digits + 2 or missed(stages) < 3 - digits
        assert stages == 3 or not missed(stages - 1) < 3 - digits


# Panels


@pytest.mark.parametrize("wanted", [[], ["1/2"], ["1/100", "7/2"]])
def test_panels_grow_and_end_where_they_are_wanted(wanted: list[str]) -> None:
    marks = [flint.fmpq(*(int(x) for x in each.split("/"))) for each in wanted]
    piece = Piece(flint.fmpq(3), flint.fmpq(5), [flint.fmpq(2), flint.fmpq(-1, 4), flint.fmpq(1, 8)])
    found = cut(flint, piece, marks, 0.02, 1.6)
    ends = [x.time - 3 for x in found]
    assert all(mark in ends for mark in marks) and ends[-1] == 5 and ends == sorted(ends)
    widths = [float(x.width) for x in found]
    assert sum(widths) == pytest.approx(5.0, rel=1e-14, abs=0.0) and widths[0] <= 0.0200001
    floats = [float(x.p) / float(x.q) for x in ends]
    assert all(b / a < 1.6001 or a < 0.02 for a, b in zip(floats[:-1], floats[1:], strict=True))
    # log(5/0.02)/log(1.6) = 11.7: twelve, one for the beginning, and one for each time that is none of them
    assert 13 <= len(found) <= 13 + len(marks)
    for panel, high, width in zip(found, floats, widths, strict=True):
        for x in (-1.0, 0.3, 1.0):
            t = high - width + 0.5 * width * (1.0 + x)
            gamma = sum(float(c) * x**i for i, c in enumerate(panel.gamma))
            assert gamma == pytest.approx(2.0 - t / 4.0 + t**2 / 8.0, rel=1e-13, abs=0.0)
        assert float(panel.end) == pytest.approx(3.0 + high, rel=1e-14, abs=0.0)
    # a piece shorter than the first panel is one
    assert len(cut(flint, Piece(flint.fmpq(0), flint.fmpq(1, 100), [flint.fmpq(1)]), [], 0.02, 1.6)) == 1
    # an end that is no rational number is none to be asked for
    open_end = cut(flint, Piece(flint.fmpq(0), flint.arb(2).sqrt(), [flint.fmpq(0)]), [], 9.0, 1.6)
    assert [x.time for x in open_end] == [None] and [float(c) for c in open_end[0].gamma] == [0.0]


@pytest.mark.parametrize(("width", "stages"), [(0.01, 4), (1.0, 6), (50.0, 5)])
def test_defects_are_bounded_from_above_and_not_far(width: float, stages: int) -> None:
    rates, weights, signals = [2.0, 0.5], [1.0, 0.0625], [0.7, 0.3]
    arbs = [[flint.arb(x) for x in row] for row in (rates, weights, signals)]
    with flint.ctx.workprec(200):
        march = March(flint, BallModes(*arbs, flint.arb(0.1), flint.arb(0.5), None, [1, 1]), collocation(stages, 200))
        gamma = [0.2, -0.05]
        panel = Panel(flint.arb(width), [flint.arb(x) for x in gamma], flint.arb(width), None)
        rows = march._collocate(panel)
        sizes, slopes = march._defects(panel, rows)
    assert len(rows) == stages + 1
    y = np.linspace(0.0, 1.0, 2001)
    modes = np.array([[float(x) for x in row] for row in rows])
    total = modes.sum(axis=1) + 0.6 * (np.arange(stages + 1) == 0)
    for k in range(2):
        # R' = u' + h (r u - w gamma g), and R from 0
        driven = legendre.legmul(legendre.poly2leg(gamma), total)
        inner = legendre.legsub(rates[k] * modes[:, k], weights[k] * driven)
        slope = legendre.legadd(2.0 * legendre.legder(modes[:, k]), width * inner)
        values = np.abs(legendre.legval(2.0 * y - 1.0, slope))
        integrated = legendre.legint(slope, lbnd=-1.0) / 2.0
        largest = np.abs(legendre.legval(2.0 * y - 1.0, integrated)).max()
        size, most = float(sizes[k]), float(slopes[k])
        noise = 1e-13 * width * (1.0 + np.abs(modes).sum())  # float64 against balls
        assert largest <= size + noise and values.max() <= most * (1.0 + 1e-9) + noise * stages**2
        # every coefficient counts, that of the constant too, which R(0) = 0 fixes
        assert size == pytest.approx(np.abs(integrated).sum(), rel=1e-6, abs=10.0 * noise)
        # each of few coefficients is at most the largest value times 2n + 1
        assert size <= 20.0 * largest + noise
        if rates[k] * width > stages:
            assert most <= 10.0 * values.max()
        else:  # of a polynomial of degree n the derivative is at most 2 n^2 of it
            degree = stages + 2
            assert 2.0 * (degree - 1) ** 2 * size <= most <= 2.0 * (degree + 2) ** 2 * size
    begins = legendre.legval(-1.0, modes)
    assert begins == pytest.approx(signals, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("part", ["kernel", "signal"])
def test_what_is_left_out_is_fed_back_through_the_modes(part: str) -> None:
    """One mode that is exact but for theta, which grows like t: e' = -r e + w gamma (e + theta)."""
    rate, weight, gamma, loss, sizes = 1.0, 1.0, 0.5, 3.0, {"kernel": 0.0, "signal": 0.0} | {part: 1e-3}
    remainder = Remainder(flint.arb(sizes["kernel"]), flint.arb(sizes["signal"]), flint.arb(1), 1)
    modes = BallModes(
        [flint.arb(rate)], [flint.arb(weight)], [flint.arb(1)], flint.arb(0), flint.arb(0), remainder, [1]
    )
    bounds, zero = ErrorBounds(flint, modes), [flint.arb(0)]
    for end in (1.0, 2.0, 3.0):
        bounds.advance(
            width=flint.arb(1), end=flint.arb(end), gamma=flint.arb(gamma), loss=flint.arb(loss), jumps=zero,
            sizes=zero, slopes=zero,
        )  # fmt: skip
        # at least theta = signal t + kernel t int_0^t gamma |g|, |g| = 3, driven through the mode
        x = np.linspace(0.0, end, 2001)
        theta = sizes["signal"] * x + sizes["kernel"] * x * gamma * loss * x
        driven = weight * gamma * theta * np.exp(-(rate - gamma * weight) * (end - x))
        error = 0.5 * float((driven[1:] + driven[:-1]) @ np.diff(x)) + theta[-1]
        # theta at its end is taken for all of the past, and its feedback for an infinite time: 1/(1 - 1/2)
        assert error <= float(bounds.radius) <= 2.1 * (1.0 + 1.5 / end) * error


@pytest.mark.parametrize("width", [0.05, 1.5, 10.0])
def test_a_defect_adds_at_most_twice_its_size(width: float) -> None:
    """R = -S on the panel and S at its end adds S + S (1 - exp(-r h)), whatever its slope."""
    rate, size = 2.0, 1e-3
    modes = BallModes([flint.arb(rate)], [flint.arb(1)], [flint.arb(1)], flint.arb(0), flint.arb(0), None, [1])
    bounds = ErrorBounds(flint, modes)
    bounds.advance(
        width=flint.arb(width), end=flint.arb(width), gamma=flint.arb(0), loss=flint.arb(1), jumps=[flint.arb(0)],
        sizes=[flint.arb(size)], slopes=[flint.arb(1e6)],
    )  # fmt: skip
    # of r h the bound takes 1 where that is less; 1e-9: bounds of 64 bits
    most = size * (1.0 + min(rate * width, 1.0))
    assert size * (2.0 - math.exp(-rate * width)) <= float(bounds.radius) <= most * (1.0 + 1e-9)
    # and where the slope is small, the slope decides: int exp(-r (h - x)) R'/h dx
    bounds = ErrorBounds(flint, modes)
    bounds.advance(
        width=flint.arb(width), end=flint.arb(width), gamma=flint.arb(0), loss=flint.arb(1), jumps=[flint.arb(0)],
        sizes=[flint.arb(size)], slopes=[flint.arb(size / 2.0)],
    )  # fmt: skip
    average = -math.expm1(-rate * width) / (rate * width)
    assert float(bounds.radius) == pytest.approx(0.5 * size * average, rel=1e-9, abs=0.0)


def test_on_a_short_panel_a_jump_feeds_back_once() -> None:
    rate, weight, gamma, width, jump = 2.0, 4.0, 0.25, 0.1, 1e-3
    modes = BallModes([flint.arb(rate)], [flint.arb(weight)], [flint.arb(1)], flint.arb(0), flint.arb(0), None, [1])
    bounds = ErrorBounds(flint, modes)
    zero = [flint.arb(0)]
    bounds.advance(
        width=flint.arb(width), end=flint.arb(width), gamma=flint.arb(gamma), loss=flint.arb(1),
        jumps=[flint.arb(jump)], sizes=zero, slopes=zero,
    )  # fmt: skip
    fed = gamma * weight * -math.expm1(-rate * width) / rate
    # e' = -(r - gamma w) e; the bound takes the largest error for the whole of the panel
    assert jump * math.exp(-(rate - gamma * weight) * width) <= float(bounds.radius)
    assert float(bounds.radius) <= jump * (math.exp(-rate * width) + fed / (1.0 - fed)) * (1.0 + 1e-9)


# The zeros of the secular equation


@pytest.mark.parametrize("gamma", [0.4, 1e-9, 1e-100, 1e-200, 1e-290])
def test_zeros_are_bisected_and_then_enclosed(gamma: float) -> None:
    rates, weights = np.array([0.125, 0.5, 2.0]), np.array([1.0 / 256.0, 1.0 / 16.0, 1.0])
    starts = _starts(gamma, rates, weights)
    for k, start in enumerate(starts):
        gaps = rates - rates[k]
        rest = sum(w / (start + gap) for i, (w, gap) in enumerate(zip(weights, gaps, strict=True)) if i != k)
        # bisection leaves a few units of 2^-53, and the sums beside it; where the product of two distances is no float
        # any more it stops early, and Newton does the rest
        if gamma > 1e-140:
            assert start * (1.0 - gamma * rest) == pytest.approx(gamma * weights[k], rel=1e-13, abs=0.0)
        with flint.ctx.workprec(200):
            x = _zero(
                flint, flint.arb(gamma), [flint.arb(w) for w in weights], [flint.arb(g) for g in gaps], k, start, 200
            )
            assert 0.0 < float(x.rad() / x.mid()) < 2.0**-160
            below, above = x.lower(), x.upper()
            for end, sign in ((below, -1), (above, 1)):
                value = end - sum(
                    (gamma * flint.arb(w) * (end / (end + flint.arb(g))) for w, g in zip(weights, gaps, strict=True)),
                    flint.arb(0),
                )
                assert value * sign > 0


def test_a_zero_of_another_interval_is_refused() -> None:
    rates, weights, gamma = [0.125, 0.5, 2.0], [1.0 / 256.0, 1.0 / 16.0, 1.0], 0.4
    starts = _starts(gamma, np.array(rates), np.array(weights))
    with flint.ctx.workprec(200):
        arbs = [flint.arb(w) for w in weights]
        gaps = [flint.arb(r - rates[1]) for r in rates]
        assert _zero(flint, flint.arb(gamma), arbs, gaps, 1, starts[1], 200) > 0
        # the zeros of the intervals left and right of it, each a change of sign too
        for start in (rates[1] - rates[2] + starts[2], rates[1] - rates[0] + starts[0]):
            with pytest.raises(ArithmeticError, match="next to pole 1 was not enclosed"):
                _zero(flint, flint.arb(gamma), arbs, gaps, 1, start, 200)
    with flint.ctx.workprec(60), pytest.raises(ArithmeticError, match="was not enclosed at 200 bits"):
        _zero(flint, flint.arb(gamma), arbs, gaps, 1, starts[1], 200)


@pytest.mark.parametrize(("eigen", "gamma"), [([1.0, 0.5], 3.0), ([1.0, 0.5], 2.0), ([0.5, 0.5], 0.3)])
def test_rates_that_are_not_positive_and_apart_are_refused(eigen: list[float], gamma: float) -> None:
    """2 - gamma is negative, or 0; or two modes are the same."""
    rates, weights = [flint.arb(2.0 * x) for x in eigen], [flint.arb(x * x) for x in eigen]
    modes = BallModes(rates, weights, [flint.arb(1)] * 2, flint.arb(0), flint.arb(0), None, [1, 1])
    with pytest.raises(ArithmeticError, match="could not be told apart"):
        secular_values(flint, modes, flint.arb(gamma), "gaussian", [flint.arb(1)])


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_one_mode_is_one_exponential(closure: str) -> None:
    gamma, delta, noise = 0.5, 0.25, 0.75
    modes = BallModes([flint.arb(2)], [flint.arb(1)], [flint.arb(3)], flint.arb(delta), flint.arb(noise), None, [1])
    found = secular_values(flint, modes, flint.arb(gamma), closure, [flint.arb(0), flint.arb(2)])
    # u' = -left u + gamma (delta + sigma^2)
    left = 2.0 - gamma * (2.0 if closure == "gaussian" else 1.0)
    rest = gamma * (delta + noise) / left
    for value, t in zip(found, (0.0, 2.0), strict=True):
        assert float(value) == pytest.approx(delta + rest + (3.0 - rest) * math.exp(-left * t), rel=1e-13, abs=0.0)
