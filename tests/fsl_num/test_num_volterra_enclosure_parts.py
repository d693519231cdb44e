"""Enclosures part by part: the bounds of their heads written out for two modes, rounds, rules, and their limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from models import problem_of
from numpy.polynomial import legendre

from fsl_num.model import Model
from fsl_num.schedules import Constant, schedule
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.enclosure import panels as enclosure_panels
from fsl_num.volterra.enclosure import secular, solver
from fsl_num.volterra.enclosure.bounds import ErrorBounds
from fsl_num.volterra.enclosure.collocation import collocation
from fsl_num.volterra.enclosure.gamma import Piece
from fsl_num.volterra.enclosure.gauss import gauss_rule_of_moments
from fsl_num.volterra.enclosure.modes import BallModes, Remainder
from fsl_num.volterra.enclosure.panels import March, Panel, _horner, _slope
from fsl_num.volterra.enclosure.solver import solve_enclosure

flint = pytest.importorskip("flint")
WSD = schedule("wsd", peak=0.4, final=0.01, steps=30.0, decay_fraction=0.3)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 4, "noise": 1.0, "gamma": WSD, "horizon": None}
    return problem_of(**(values | changes))


def _balls(row: Any) -> list[Any]:
    return [flint.arb(float(x)) for x in row]


@pytest.mark.parametrize(
    "gammas", [[0.3, 0.2, 0.25, 0.1], [0.9, 0.5, 0.1, 0.6], [0.05] * 4, [2.5, 0.3, 0.2, 0.4], [0.3, 99.0, 0.1, 0.1]]
)
@pytest.mark.parametrize("widths", [[0.02, 0.03, 0.05, 0.1], [0.5, 2.0, 8.0, 20.0]])
def test_both_bounds_of_two_modes_written_out(gammas: list[float], widths: list[float]) -> None:
    """e_k' = -r_k e_k + w_k gamma e - R_k'/h: bounds from panel to panel, and those of the positive resolvent."""
    rates, weights = np.array([2.0, 0.3]), np.array([0.6, 0.1])
    left = Remainder(flint.arb(1e-4), flint.arb(2e-4), flint.arb(0.25), 3)
    bounds = ErrorBounds(
        flint, BallModes(_balls(rates), _balls(weights), _balls(weights), flint.arb(0), flint.arb(0), left, [1, 1])
    )
    near, plain = np.zeros(2), np.zeros(2)
    injected = highest = driven = end = 0.0
    rng = np.random.default_rng(5)
    for gamma, h in zip(gammas, widths, strict=True):
        end += h
        jumps, sizes, slopes = (x * rng.uniform(0.5, 1.0, 2) for x in (1e-5, 1e-4, 1e-3))
        loss = 2.0
        fade = np.exp(-rates * h)
        length = (1.0 - fade) / rates  # int_0^h exp(-r x) dx
        # R and R' add at most: R(h) and what has faded of it, or the slope over the panel
        added = np.minimum(sizes * (1.0 + np.minimum(rates * h, 1.0)), slopes * length / h)
        near, plain = near + jumps, plain + jumps
        kernel, signal = (size * (0.25 * end) ** 3 for size in (1e-4, 2e-4))
        # what the modes leave out: the signal, and the kernel times all that was injected, with the error itself
        beyond = signal + kernel * (injected + gamma * h * loss)
        highest = max(highest, gamma)
        within = 1.0 - gamma * (weights @ length) - kernel * gamma * h
        always = 1.0 - highest * (weights / rates).sum() - kernel * gamma * h
        here = (near.sum() + added.sum() + beyond) / within if within > 0.0 else math.inf
        everywhere = max(driven, plain.sum() + added.sum() + beyond) / always if always > 0.0 else math.inf
        arguments = {
            "width": flint.arb(h), "end": flint.arb(end), "gamma": flint.arb(gamma), "loss": flint.arb(loss),
            "jumps": _balls(jumps), "sizes": _balls(sizes), "slopes": _balls(slopes),
        }  # fmt: skip
        error = min(here, everywhere)
        if error == math.inf:
            with pytest.raises(ArithmeticError, match="no bound follows"):
                bounds.advance(**arguments)
            return
        bounds.advance(**arguments)
        injected += gamma * h * (loss + error)
        beyond = signal + kernel * injected
        driven = max(driven, plain.sum() + added.sum() + beyond)
        plain, near = fade * plain + added, fade * near + added + gamma * weights * length * error
        if everywhere < math.inf:
            near = np.minimum(near, plain + highest * weights / rates * everywhere)
        # rounded upwards at 64 bits
        assert float(bounds.radius) == pytest.approx(near.sum() + beyond, rel=1e-12, abs=0.0)
    assert highest < 9.0


@pytest.mark.parametrize(
    "coefficients", [[0.4], [0.3, -0.2], [0.3, 0.0, 0.7], [0.1, -0.2, 0.4, 0.3], [0.1, 2.0, 0.4, 3.0, 5.0]]
)
def test_multiplication_by_gamma_is_that_at_the_nodes(coefficients: list[float]) -> None:
    """Modulo P_s - P_(s-1), whose zeros are the nodes, the product has its values there."""
    size = 5
    with flint.ctx.workprec(200):
        table = collocation(size, 200)
        found = _horner(flint, _balls(coefficients), table)
    matrix = np.array([[float(x) for x in row] for row in found.tolist()])
    nodes = legendre.legroots([0.0] * (size - 1) + [-1.0, 1.0])
    assert nodes.size == size
    for n in range(size):
        unit = np.eye(size)[n]
        exact = legendre.legval(nodes, unit) * np.polyval(coefficients[::-1], nodes)
        assert legendre.legval(nodes, matrix @ unit) == pytest.approx(exact, rel=1e-11, abs=1e-11)


def test_the_slope_of_a_series_is_the_sum_of_its_coefficients() -> None:
    series = [0.3, -0.2, 0.7, 0.1, -0.4]
    # x = 2y - 1: twice the derivative by x
    exact = 2.0 * np.abs(legendre.legder(series)).sum()
    assert float(_slope(flint, _balls(series))) == pytest.approx(exact, rel=1e-14, abs=0.0)


class Rounds:
    """Balls of known relative radii in place of panels, and the digits and stages that were asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, radii: list[float]) -> None:
        self.asked: list[tuple[int, int, int]] = []
        self.radii = radii
        monkeypatch.setattr(solver, "_marched", self._marched)

    def _marched(
        self, of: Any, problem: Problem, parts: Any, times: list[Any], digits: int, stages: int
    ) -> tuple[list[Any], dict[str, Any]]:
        self.asked.append((digits, stages, of.ctx.prec))
        radius = self.radii[min(len(self.asked), len(self.radii)) - 1]
        # a ball around 1 with a relative radius of about that, against its smallest number
        ball = of.arb(1, radius) if radius < math.inf else of.arb(0, 1)
        return [of.arb(1), ball], {"round": len(self.asked)}


@pytest.mark.parametrize(
    ("radii", "depths", "best", "reached"),
    [
        ([1e-21], [20], 1, 20),
        ([5e-13, 1e-21], [20, 29], 2, 20),  # eight are missing, and one more
        ([5e-13, 5e-20, 5e-20], [20, 29, 31], 2, 19),
        ([5e-13, 5e-11, 5e-12], [20, 29, 40], 1, 12),  # the best of three
        ([math.inf, 1e-21], [20], 1, 0),  # nothing is known: no digits help
        ([0.4, 1e-21], [20, 41], 2, 20),
    ],
)
def test_more_digits_inside_until_the_radii_fit(
    monkeypatch: pytest.MonkeyPatch, radii: list[float], depths: list[int], best: int, reached: int
) -> None:
    rounds = Rounds(monkeypatch, radii)
    with flint.ctx.workprec(100):
        values, facts = solver._by_panels(flint, _problem(), [], 20)
    assert [depth for depth, _, _ in rounds.asked] == depths
    assert facts["round"] == best and facts["digits reached"] == reached and len(values) == 2
    for depth, stages, bits in rounds.asked:
        # a stage a digit and two, one more for a linear gamma; a digit a stage is lost, and a tenth more
        assert stages <= depth + 3
        assert bits == math.ceil((depth + 25 + 1.1 * stages) / math.log10(2.0))


def test_rounds_use_a_hundred_and_twenty_digits_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds(monkeypatch, [1e-10])
    with flint.ctx.workprec(500):
        solver._by_panels(flint, _problem(), [], 100)
    assert [depth for depth, _, _ in rounds.asked] == [100, 120]
    with pytest.raises(ValueError, match="digits must be at most 100"):
        solver._by_panels(flint, _problem(), [], 101)


def test_as_many_pieces_and_modes_as_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    Rounds(monkeypatch, [1e-30])
    monkeypatch.setattr(solver, "MOST_PIECES", 2)
    assert len(solver.pieces(flint, _problem())) == 2
    solver._by_panels(flint, _problem(), [], 20)
    monkeypatch.setattr(solver, "MOST_PIECES", 1)
    with pytest.raises(ValueError, match="at most 1 pieces of gamma, got 2"):
        solver._by_panels(flint, _problem(), [], 20)
    monkeypatch.setattr(solver, "LARGEST", 3)
    asked: list[tuple[float, bool]] = []
    exact = solver.ball_modes

    def watched(of: Any, problem: Problem, digits: int, *, whole: bool = False) -> Any:
        asked.append((problem.model.size, whole))
        return exact(of, problem, digits, whole=whole)

    monkeypatch.setattr(solver, "ball_modes", watched)
    for size in (3, 4):
        flat = _problem(size=size, gamma=Constant(peak=0.3, steps=40.0))
        facts = solve_enclosure(flat, [1.0], 15)[2]
        assert ("round" in facts) == (size == 4)
    # all modes where the zeros are followed, however many there are
    assert asked == [(3.0, True)]
    for gamma in (0.0, WSD):
        noisy = _problem(gamma=gamma, size=2, closure="gaussian", horizon=5.0)
        with pytest.raises(ValueError, match="closure 'gaussian' need a constant gamma > 0 and at most 3 modes"):
            solve_enclosure(noisy, [1.0], 15)


def test_times_beyond_the_end_by_a_rounding_are_the_end() -> None:
    problem = _problem(size=1)
    end = problem.end
    found, radii, facts = solve_enclosure(problem, [0.0, end, end * (1.0 + 5e-13)], 15)
    assert found[1] == found[2] != found[0] and facts["evaluations"] == facts["stages"] * facts["panels"]
    assert facts["modes"] == 1 and max(r / v for r, v in zip(radii, found, strict=True)) <= 1e-15
    for late in (end * (1.0 + 3e-12), 2.0 * end):
        with pytest.raises(ValueError, match="times must lie in"):
            solve_enclosure(problem, [late], 15)
    for bad in (-1e-30, math.inf, math.nan):
        with pytest.raises(ValueError, match="times must be finite and at least 0"):
            solve_enclosure(problem, [bad], 15)
    function = _problem(size=401, gamma=0.3, horizon=2.0)
    with pytest.raises(ValueError, match="times must lie in"):
        solve_enclosure(function, [2.0 * (1.0 + 5e-13)], 15)


def test_first_panels_are_as_long_as_a_short_piece_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    firsts: list[tuple[float, float]] = []

    def watched(of: Any, piece: Piece, wanted: list[Any], first: float, ratio: float) -> Any:
        firsts.append((first, ratio))
        return enclosure_panels.cut(of, piece, wanted, first, ratio)

    monkeypatch.setattr(solver, "cut", watched)
    problem = Problem(Model(noise=1.0, spectrum=Spectrum([0.5], [0.2])), gamma=WSD)
    with flint.ctx.workprec(150):
        parts = solver.pieces(flint, problem)
        solver._marched(flint, problem, parts, [], 15, 14)
    # (u/4)^s/s! = 1e3 of the rounding, u = 2 lambda times the width
    for first, ratio in firsts:
        assert ratio == 1.6
        assert 14 * math.log10(2.0 * 0.5 * first / 4.0) - math.lgamma(15) / math.log(10.0) == pytest.approx(
            -12.0, rel=1e-6, abs=0.0
        )


def test_nodes_of_a_measure_of_points_are_the_points() -> None:
    with flint.ctx.workprec(300):
        points = [flint.arb(x) for x in (0.125, 0.5, 0.75)]
        shares = [flint.arb(x) for x in (2, 1, 3)]
        # a little of the flat measure, so that the polynomial of the points has a norm
        tiny = flint.arb(2) ** -120
        moments = [
            sum((w * x**i for x, w in zip(points, shares, strict=True)), flint.arb(0)) + tiny / (i + 1)
            for i in range(7)
        ]
        rule = gauss_rule_of_moments(flint, moments)
        for x, w, at, share in zip(rule.nodes, rule.weights, points, shares, strict=True):
            assert abs(x - at) < flint.arb(10) ** -30 and abs(w - share) < flint.arb(10) ** -30
            assert x.rad() < flint.arb(10) ** -40
        # int (x - 1/8)^2 (x - 1/2)^2 (x - 3/4)^2 dx, of so little
        square = np.polynomial.Polynomial.fromroots([0.125, 0.5, 0.75]) ** 2
        assert float(rule.norm / tiny) == pytest.approx(float(square.integ()(1.0)), rel=1e-9, abs=0.0)


def test_a_measure_beside_zero_or_of_few_points_is_refused() -> None:
    with flint.ctx.workprec(200):
        # points 0 and 1/2: the first node is not proven to be positive
        at_zero = [flint.arb(1) + 1, *(flint.arb(2) ** -i for i in range(1, 5))]
        with pytest.raises(ArithmeticError, match="more bits are needed"):
            gauss_rule_of_moments(flint, at_zero)
        with pytest.raises(ArithmeticError, match="for 2 nodes; more bits"):
            gauss_rule_of_moments(flint, [flint.arb(2) ** -i for i in range(5)])
        # the second moment is below the square of the first
        with pytest.raises(ArithmeticError, match="not known well enough for 2 nodes"):
            gauss_rule_of_moments(flint, [flint.arb(x) for x in (1.0, 0.5, 0.2, 0.1, 0.05)])


@pytest.mark.parametrize("gamma", [1e-3, 0.4, 1.5])
def test_zeros_in_floats_are_where_the_equation_holds(gamma: float) -> None:
    rates, weights = np.array([1e-8, 0.3, 0.31, 2.0]), np.array([1e-17, 0.02, 1e-5, 1.0])
    starts = secular._starts(gamma, rates, weights)
    for k, x in enumerate(starts):
        gaps = rates - rates[k]
        distances = np.where(np.arange(4) == k, x, x + gaps)
        terms = gamma * weights / distances
        assert terms.sum() == pytest.approx(1.0, abs=1e-11 * np.abs(terms).sum())
        assert 0.0 < x and (k == 0 or x < rates[k] - rates[k - 1])


@pytest.mark.parametrize("width", [0.3, 40.0])
def test_defects_of_any_guess_are_the_moduli_of_all_coefficients(width: float) -> None:
    """R = u - u(0) + h int_0^y (r u - w gamma g): its coefficient 0 follows from R(0) = 0 and counts as the others."""
    rates, weights, gamma = [2.0, 0.5], [1.0, 0.0625], [0.2, -0.05, 0.1]
    rows = np.random.default_rng(3).normal(size=(5, 2))
    with flint.ctx.workprec(200):
        modes = BallModes(
            _balls(rates), _balls(weights), _balls([0.7, 0.3]), flint.arb(0.1), flint.arb(0.5), None, [1, 1]
        )
        march = March(flint, modes, collocation(4, 200))
        panel = Panel(flint.arb(width), _balls(gamma), flint.arb(width), None)
        sizes, slopes = march._defects(panel, [_balls(row) for row in rows])
    total = rows.sum(axis=1) + np.array([0.6, 0.0, 0.0, 0.0, 0.0])
    for k in range(2):
        driven = legendre.legmul(legendre.poly2leg(gamma), total)
        inner = legendre.legsub(rates[k] * rows[:, k], weights[k] * driven)
        # dx = dy/2 of x = 2y - 1
        slope = legendre.legadd(2.0 * legendre.legder(rows[:, k]), width * inner)
        integrated = legendre.legint(slope, lbnd=-1.0) / 2.0
        assert float(sizes[k]) == pytest.approx(np.abs(integrated).sum(), rel=1e-10, abs=0.0)
        if rates[k] * width > 5.0:
            assert float(slopes[k]) == pytest.approx(np.abs(slope).sum(), rel=1e-10, abs=0.0)
        else:
            # of a polynomial of degree 7 the derivative by y is at most 2 7^2 of it
            assert float(slopes[k]) >= 2.0 * 49.0 * float(sizes[k]) >= np.abs(slope).sum() / 20.0
