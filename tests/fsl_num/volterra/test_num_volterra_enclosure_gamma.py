"""gamma as exact polynomials: pieces against the schedules they come from, and signs that are proven."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.interpolate import PPoly

from fsl_num.model import Model
from fsl_num.schedules import Constant, Discrete, ExponentialDecay, StableDecay
from fsl_num.volterra import Problem
from fsl_num.volterra.enclosure.gamma import pieces, rational

flint = pytest.importorskip("flint")
MP = mpmath.mp.clone()
MP.dps = 40


def _problem(gamma: Any, horizon: Any = None) -> Problem:
    return Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=gamma, horizon=horizon)


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _holds(ball: Any, truth: Any) -> bool:
    """The ball holds the truth, and is as small as thirty digits."""
    found = flint.arb(ball)
    exact = flint.arb(str(truth))
    return bool(found.overlaps(exact)) and float(found.rad()) < 1e-30 * abs(float(truth))


def test_numbers_are_what_they_say() -> None:
    assert _fraction(rational(flint, 0.1)) == Fraction(0.1) != Fraction(1, 10)
    assert _fraction(rational(flint, Fraction(-2, 6))) == Fraction(-1, 3)
    assert rational(flint, 7) == 7


@pytest.mark.parametrize("share", [None, 0.25, 1.0])
def test_decays_are_linear_pieces(share: float | None) -> None:
    numbers = {"peak": 0.4, "final": 0.01, "steps": 300.0, "batch_size": 1.5}
    plan = ExponentialDecay(**numbers) if share is None else StableDecay(**numbers, decay_fraction=share)
    with flint.ctx.workprec(140):
        found = pieces(flint, _problem(plan))
    peak, final, steps, batch = MP.mpf(0.4), MP.mpf(0.01), MP.mpf(300), MP.mpf(1.5)
    decaying = MP.mpf(1 if share is None else share)
    zeta = MP.log(peak / final) / (steps * decaying)
    stable = peak * steps * (1 - decaying)
    *before, last = found
    assert len(before) == (1 if stable > 0 else 0)
    for piece in before:
        assert piece.start == 0 and _fraction(piece.length) == Fraction(0.4) * 300 * Fraction(3, 4)
        assert [_fraction(c) for c in piece.coefficients] == [Fraction(0.4) / Fraction(1.5)]
    assert _fraction(last.start) == Fraction(0.4) * 300 * (1 - Fraction(1 if share is None else share))
    assert _holds(last.length, (peak - final) / zeta)
    assert len(last.coefficients) == 2
    assert _fraction(last.coefficients[0]) == Fraction(0.4) / Fraction(1.5)
    assert _holds(last.coefficients[1], -zeta / batch)


@pytest.mark.parametrize("kind", ["exponential", "stable"])
def test_a_decay_to_the_peak_is_constant(kind: str) -> None:
    numbers = {"peak": 0.3, "final": 0.3, "steps": 20.0, "batch_size": 2.0}
    plan = ExponentialDecay(**numbers) if kind == "exponential" else StableDecay(**numbers, decay_fraction=0.5)
    (piece,) = pieces(flint, _problem(plan))
    assert piece.start == 0 and _fraction(piece.length) == Fraction(0.3) * 20
    assert [_fraction(c) for c in piece.coefficients] == [Fraction(0.3) / 2]


def test_steps_of_one_gamma_are_one_piece() -> None:
    plan = Discrete(
        rates=[0.5, 0.5, 0.0, 0.5, 0.25, 0.5, 0.0, 0.5], batch_sizes=[1.0, 1.0, 4.0, 1.0, 0.5, 2.0, 1.0, 2.0]
    )
    found = [
        (_fraction(x.start), _fraction(x.length), _fraction(*x.coefficients)) for x in pieces(flint, _problem(plan))
    ]
    # 0.5/1 three times and 0.25/0.5 are the same gamma, and 0.5/2 twice
    assert found == [(0, Fraction(7, 4), Fraction(1, 2)), (Fraction(7, 4), 1, Fraction(1, 4))]
    merged = pieces(flint, _problem(Discrete(rates=[0.5, 0.25], batch_sizes=[2.0])))
    assert [_fraction(*x.coefficients) for x in merged] == [Fraction(1, 4), Fraction(1, 8)]


def test_a_constant_gamma_is_what_was_given() -> None:
    (piece,) = pieces(flint, _problem(Fraction(1, 3), 7.0))
    assert piece.start == 0 and piece.length == 7 and _fraction(*piece.coefficients) == Fraction(1, 3)
    (piece,) = pieces(flint, _problem(Constant(peak=0.5, steps=10.0, batch_size=4.0)))
    assert piece.start == 0 and piece.length == 5 and _fraction(*piece.coefficients) == Fraction(1, 8)


def test_a_horizon_cuts_the_pieces() -> None:
    plan = Discrete(rates=[0.5, 1.0, 0.25], batch_sizes=[1.0, 1.0, 1.0])

    def lengths(horizon: float | None) -> list[Fraction]:
        return [_fraction(x.length) for x in pieces(flint, _problem(plan, horizon))]

    whole = [Fraction(1, 2), Fraction(1), Fraction(1, 4)]
    assert lengths(None) == lengths(1.75) == whole
    assert lengths(0.25) == [Fraction(1, 4)] and lengths(0.5) == whole[:1]
    assert lengths(1.5) == whole[:2] and lengths(1.625) == [*whole[:2], Fraction(1, 8)]
    # where the last piece has no rational length it is kept when the horizon lies beyond it
    decay = ExponentialDecay(peak=0.5, final=0.1, steps=10.0)
    end = decay.total_intrinsic_time
    (cut,) = pieces(flint, _problem(decay, 0.5 * end))
    assert _fraction(cut.length) == Fraction(0.5 * end) and len(cut.coefficients) == 2
    (full,) = pieces(flint, _problem(decay, end))
    assert abs(float(full.length) / end - 1.0) < 1e-14 and not isinstance(full.length, flint.fmpq)


def _proved(coefficients: list[Any], length: float) -> bool:
    """Whether a polynomial is known not to be negative up to ``length``; the problem itself has seen another gamma."""
    problem = _problem(PPoly(np.array([[1.0]]), np.array([0.0, length])), length)
    table = np.array([[float(coefficient)] for coefficient in reversed(coefficients)])
    object.__setattr__(problem, "gamma", PPoly(table, np.array([0.0, length])))
    try:
        pieces(flint, problem)
    except ValueError as refused:
        assert "could not be proven" in str(refused)
        return False
    return True


def test_signs_of_polynomials_are_proven() -> None:
    assert _proved([0], 3) and _proved([2], 3) and not _proved([-2], 3)
    assert _proved([1, -1], 1) and not _proved([1, -1], 1.01)  # 1 - x on [0, 1] and a little further
    assert _proved([0, 1], 5) and not _proved([0, -1], 5)
    assert _proved([0, 1, -1], 1) and not _proved([0, 1, -1], 2)  # x (1 - x)
    # 1 - 3 x + 3 x^2 has the Bernstein coefficients 1, -1/2, 1 and its least value 1/4; 1 - 5 x + 5 x^2 has -1/4
    assert _proved([1, -3, 3], 1) and not _proved([1, -5, 5], 1)
    # (x - 1/3)^2 + 1e-5 needs several halvings; 1e-5 lower it is negative in the middle alone
    assert _proved([1 / 9 + 1e-5, -2 / 3, 1], 1) and not _proved([1 / 9 - 1e-5, -2 / 3, 1], 1)
    assert not _proved([0.5, 0, 0, -1], 1) and _proved([1, 0, 0, -1], 1)  # in the second half alone
    # a cubic with two sign changes of its derivative, 1e-3 above 0 at 3/4
    cubic = np.polynomial.polynomial.polymul([0.5625, -1.5, 1.0], [1.0, 2.0]) + [1e-3, 0.0, 0.0, 0.0]
    assert _proved(cubic.tolist(), 1)
    assert not _proved((cubic - [2e-3, 0.0, 0.0, 0.0]).tolist(), 1)


def test_piecewise_polynomials_are_cut_and_moved() -> None:
    # 3 - x on [-1, 1], then (x - 1)^2 + 1 on [1, 3] and 7 on [3, 9]
    table = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [4.0, 1.0, 7.0]])
    function = PPoly(table, np.array([-1.0, 1.0, 3.0, 9.0]))
    found = pieces(flint, _problem(function, 2.5))
    assert [(_fraction(x.start), _fraction(x.length)) for x in found] == [(0, 1), (1, Fraction(3, 2))]
    assert [[_fraction(c) for c in x.coefficients] for x in found] == [[3, -1, 0], [1, 0, 1]]
    assert len(pieces(flint, _problem(function, 3.0))) == 2 and len(pieces(flint, _problem(function, 3.5))) == 3
    assert len(pieces(flint, _problem(function, 9.0))) == 3


@pytest.mark.parametrize(
    ("edges", "table", "text"),
    [
        ([0.5, 3.0], [[1.0]], "must cover"),
        ([0.0, 1.5], [[1.0]], "must cover"),
        ([0.0, 3.0], [[-1.0], [1.5]], "could not be proven"),
        ([0.0, 3.0], [[1.0 + 0.0j]], "real finite coefficients"),
    ],
)
def test_piecewise_polynomials_are_refused_in_words(edges: list[float], table: Any, text: str) -> None:
    plan = PPoly(np.array(table), np.array(edges))
    problem = _problem(PPoly(np.array([[1.0]]), np.array([0.0, 3.0])), 2.0)
    object.__setattr__(problem, "gamma", plan)
    with pytest.raises(ValueError, match=text):
        pieces(flint, problem)


def test_other_functions_are_refused() -> None:
    with pytest.raises(ValueError, match="got function"):
        pieces(flint, _problem(lambda t: 0.1 / (1.0 + t), 2.0))


def test_a_schedule_derived_from_one_that_is_known_is_not_enclosed_as_that_one() -> None:
    class Halved(Constant):
        """A schedule of its own, whatever it is made from."""

    known, derived = (kind(peak=0.2, steps=10.0, batch_size=1.0) for kind in (Constant, Halved))
    assert len(pieces(flint, _problem(known))) == 1
    with pytest.raises(ValueError, match="got Halved"):
        pieces(flint, _problem(derived))
