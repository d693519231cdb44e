"""Talbot's contour part by part: one pole, the working digits, what is claimed, and times that are refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits import laplace, laplace_sums
from fsl_num.volterra.digits.laplace import _at_start, _growth, _invert, approximation_error_at, solve_laplace
from fsl_num.volterra.digits.laplace_sums import DIRECT, TransferSums

MP = private_context(60)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 1, "noise": 1.0, "gamma": 0.25, "horizon": 10.0}
    return problem_of(**(values | changes))


class OnePole:
    """Khat = 1/(p + 2) and E = 3/(p + 1/2)."""

    def at(self, p: Any) -> tuple[Any, Any]:
        return 1 / (p + 2), 3 / (p + MP.mpf("0.5"))


@pytest.mark.parametrize("t", ["0.1", "1", "40"])
@pytest.mark.parametrize("growth", ["0", "0.125"])
def test_one_pole_is_inverted_with_the_digits_of_its_points(t: str, growth: str) -> None:
    time, delta = MP.mpf(t), MP.mpf("0.125")
    # F = (delta/p + 3/(p + 1/2) + 1/(4 p (p + 2)))/(1 - 1/(4 (p + 2))), poles 0, -1/2 and -7/4
    parts = [(MP.mpf(0), (2 * delta + MP.mpf("0.25")) / MP.mpf("1.75"))]
    parts.append((MP.mpf("-0.5"), 3 * MP.mpf("1.5") / MP.mpf("1.25")))
    p = MP.mpf("-1.75")
    parts.append((p, (delta / p + 3 / (p + MP.mpf("0.5"))) * (p + 2) + 1 / (4 * p)))
    exact = MP.fsum(r * MP.exp(p * time) for p, r in parts)
    misses = []
    for points in (10, 20, 30, 40):
        found = _invert(MP, _problem(), OnePole(), delta, MP.mpf(growth), time, points)
        misses.append(float(-MP.log10(abs(found / exact - 1))))
        if growth == "0":
            # exp(-1.358 N), and a few times that
            assert misses[-1] >= 0.58 * points - 1.5
    if growth == "0":
        assert all(4.0 <= b - a <= 9.0 for a, b in zip(misses[:-1], misses[1:], strict=True))
    else:  # the contour around another point is as good where exp(growth t) is no large number
        assert misses[-1] >= 0.58 * 40 - 2.0 - 2.0 * 0.125 * float(time)


@pytest.mark.parametrize("digits", [10, 15, 40, 100])
def test_points_and_working_digits(monkeypatch: pytest.MonkeyPatch, digits: int) -> None:
    asked: list[int] = []

    def known(mp: Any, problem: Problem, sums: Any, delta: Any, growth: Any, t: Any, points: int) -> Any:
        asked.append(points)
        return mp.mpf(2) + (mp.mpf(10) ** -5 if len(asked) % 2 else 0)

    monkeypatch.setattr(laplace, "_invert", known)
    values, errors, facts = solve_laplace(_problem(), [1.0, 2.0, 0.0], digits)
    coarse, fine = asked[:2]
    assert asked == [coarse, fine] * 2 and coarse % 2 == fine % 2 == 0
    # 1.358/log(10) digits a point, two digits to spare, and a fifth more points
    assert digits + 2 <= coarse * 0.58977 <= digits + 2 + 4 * 0.59 and 1.2 * coarse <= fine < 1.2 * coarse + 2
    # exp(z) is as large as exp(0.171 N) at the right end of the contour
    least = digits + 15 + 0.171 * fine / math.log(10.0)
    assert least - 0.1 <= facts["working digits"] <= least + 1.1
    assert facts["contour points"] == fine and facts["evaluations"] == coarse + fine
    assert values[0] == 2 and float(errors[0]) == pytest.approx(1e-5 + 2.0 * 10.0**-digits, rel=1e-4, abs=0.0)
    assert float(errors[2]) == pytest.approx(float(values[2]) * 10.0**-digits, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("bad", [-1e-30, math.inf, math.nan])
def test_times_that_are_none_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="times must be finite and at least 0"):
        solve_laplace(_problem(), [bad], 12)


def test_what_is_not_learned() -> None:
    given = Problem(Model(noise=0.0, spectrum=Spectrum([1.0, 0.5], [0.25, 0.5], tail=0.125)), gamma=0.1, horizon=9.0)
    assert approximation_error_at(MP, given) == MP.mpf("0.125")
    assert approximation_error_at(MP, _problem(size=math.inf)) == 0
    assert abs(approximation_error_at(MP, _problem(size=2)) - (MP.zeta(2) - MP.mpf(5) / 4)) < MP.mpf(10) ** -57
    assert abs(_at_start(MP, _problem(size=7)) - MP.zeta(2)) < MP.mpf(10) ** -57


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize(("gamma", "rate"), [(2.5, 1.0), (9.0, 1.0), (9.0, 0.5), (100.0, 0.03125)])
def test_the_growth_of_one_mode(closure: str, gamma: float, rate: float) -> None:
    """f' = -(2 lambda - gamma lambda^2) f, twice gamma lambda^2 where the mode feeds itself."""
    fed = gamma * rate**2 * (2.0 if closure == "gaussian" else 1.0)
    exact = fed - 2.0 * rate
    problem = Problem(Model(noise=1.0, spectrum=Spectrum([rate], [1.0])), gamma=gamma, horizon=9.0, closure=closure)
    for latest in (1.0, 1e3, 1e9):
        found = MP.mpf(_growth(problem, latest))
        # from above, and by so little that exp(c t) changes by a thousandth
        assert 0 <= found - MP.mpf(exact) <= MP.mpf("1.001e-3") / latest
    assert _growth(_problem(gamma=0.9), 1e3) == 0


def test_small_models_and_given_spectra_are_summed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    mp = private_context(20)  # tails would begin at 60
    asked: list[int] = []
    exact = laplace_sums.tails
    monkeypatch.setattr(laplace_sums, "tails", lambda *given: asked.append(given[2]) or exact(*given))
    many = Spectrum([1.0 / (1.0 + k) for k in range(301)], [1.0] * 301)
    for problem, starts in (
        (_problem(size=DIRECT), []),
        (Problem(Model(noise=1.0, spectrum=many), gamma=0.1, horizon=9.0), []),
        (_problem(size=DIRECT + 1), [60, 302]),
    ):
        asked.clear()
        kernel, _ = TransferSums(mp, problem, mp.mpf(0)).at(mp.mpc(2))
        assert asked == starts
        rates = many.rates if problem.model.spectrum is many else [float(j) ** -2.0 for j in range(1, 302)]
        size = int(problem.model.size)
        assert float(kernel.real) == pytest.approx(
            sum(x**2 / (2.0 + 2.0 * x) for x in rates[:size]), rel=1e-12, abs=0.0
        )
