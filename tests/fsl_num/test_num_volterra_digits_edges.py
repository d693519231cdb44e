"""Gamma and constant gamma at many digits, at the limits of what they accept and where one branch meets another."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.schedules import Discrete, schedule
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits import gamma as digits_gamma
from fsl_num.volterra.digits.arithmetic import arithmetic
from fsl_num.volterra.digits.constant import _root, solve_constant
from fsl_num.volterra.digits.gamma import _float_angle, exact_gamma
from fsl_num.volterra.digits.second_moments import OwnSystems
from fsl_num.volterra.radau import radau_table

MP = private_context(40)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 3, "noise": 1.0, "gamma": 0.3, "horizon": 10.0}
    return problem_of(**(values | changes))


@pytest.mark.parametrize("final", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("angle", [1e-7, 0.005, 0.02, 1.0, 3.0])
def test_angles_in_floats_take_the_steps_of_newton(monkeypatch: pytest.MonkeyPatch, final: float, angle: float) -> None:
    level = float(final * MP.mpf(angle) + 0.2 * (MP.mpf(angle) - MP.sin(angle)))
    roots: list[float] = []

    def sin(x: float) -> float:
        roots.append(x)
        return math.sin(x)

    watched = SimpleNamespace(**{name: getattr(math, name) for name in ("cbrt", "pi", "inf")}, sin=sin)
    monkeypatch.setattr(digits_gamma, "math", watched)
    found = _float_angle(level, final, 0.2)
    # the start is less than 50 % too large: six steps of Newton's, with one or two sines each
    assert found == pytest.approx(angle, rel=1e-9, abs=0.0) and len(roots) <= 12


@pytest.mark.parametrize("name", ["constant", "linear", "exp-decay", "wsd", "cosine", "power-decay"])
@pytest.mark.parametrize("flat", [True, False])
def test_gamma_is_the_rate_over_the_batch_size(name: str, flat: bool) -> None:
    """At the step x of K: the rate, and the intrinsic time that is left as its integral over the steps left."""
    peak, final, steps, batch = 0.5, 0.5 if flat else 0.125, 40.0, 4.0
    numbers: dict[str, float] = {"constant": {}, "power-decay": {"power": 0.0 if flat else 1.5}}.get(
        name, {"final": final}
    )
    if name == "wsd":
        numbers = {**numbers, "decay_fraction": 0.25}
    plan = schedule(name, peak=peak, steps=steps, batch_size=batch, **numbers)
    gamma = exact_gamma(MP, _problem(gamma=plan, horizon=None), MP.mpf(10) ** -30)
    share = 0.25 if name == "wsd" else 1.0

    def rate(x: Any) -> Any:
        y = MP.mpf(x) / steps
        if name == "constant" or (flat and name != "power-decay"):
            return MP.mpf(peak)
        if name == "power-decay":
            return peak * (1 - y) ** MP.mpf(numbers["power"])
        if name == "linear":
            return peak + (final - peak) * y
        if name == "cosine":
            return final + (MP.mpf(peak) - final) * (1 + MP.cospi(y)) / 2
        return peak * (MP.mpf(final) / peak) ** (max(y - (1 - share), 0) / share)

    for x in (1.0, 20.0, 33.0, 39.5):
        pieces = [x, max(x, 30.0), steps] if name == "wsd" else [x, steps]
        left = MP.quad(rate, pieces)
        # the quadrature is good to all digits for such functions, a power at the end to ten
        digits = 9 if name == "power-decay" and not flat else 30
        assert abs(gamma.value(gamma.end - left, left) * batch / rate(x) - 1) < MP.mpf(10) ** -digits
    assert abs(gamma.end - MP.quad(rate, [0, 30, 40])) < MP.mpf(10) ** (-9 if name == "power-decay" else -30)
    assert gamma.breaks == ([15] if name == "wsd" and not flat else [])


@pytest.mark.parametrize("bad", [-1e-9, -0.5, math.inf, math.nan])
def test_functions_below_zero_are_refused(bad: float) -> None:
    # the problem itself looks at some times, of which this is none
    problem = _problem(gamma=lambda t: bad if t == 0.123 else 0.25)
    value = exact_gamma(MP, problem, None).value
    assert value(MP.mpf("0.2"), None) == 0.25
    with pytest.raises(ValueError, match="finite and at least 0 on"):
        value(MP.mpf(0.123), None)
    assert exact_gamma(MP, _problem(gamma=lambda t: 0.0 if t == 0.123 else 0.25), None).value(MP.mpf(0.123), None) == 0


@pytest.mark.parametrize(("times", "double"), [(0, True), (900, True), (1020, True), (1030, False), (3000, False)])
def test_how_near_the_edge_of_stability_a_zero_is_taken_for_zero(times: int, double: bool) -> None:
    """Within 2^10 roundings of the edge f is the one at the edge to all digits; beyond, the digits are gone."""
    mp = private_context(20 + 25)
    eps = Fraction(2) ** (1 - mp.prec)
    assert mp.mpf(eps.numerator) / eps.denominator == mp.eps
    found = []
    for gamma in (Fraction(2), 2 - 2 * times * eps):
        # one mode: gamma lambda/2 = 1 at the edge
        problem = Problem(Model(noise=1.0, spectrum=Spectrum([1.0], [0.5], tail=0.125)), gamma=gamma, horizon=9.0)
        found.append(solve_constant(problem, [3.0], 20))
    (edge, sharp, _), (near, error, _) = found
    # u' = 2 (delta + sigma^2) at the edge
    assert abs(edge[0] - (0.625 + 2 * 1.125 * 3)) <= sharp[0] < 1e-18
    assert (error[0] < 1e-18) == double
    if double:
        assert abs(near[0] - edge[0]) <= error[0] + sharp[0]


def test_the_double_zero_of_several_modes() -> None:
    """f grows like (delta + sigma^2)/(gamma sum w/r^2) t, and the constant beside it follows from f(0)."""
    eigen, signals, delta, noise = [1.0, 0.5, 0.5], [0.4, 0.3, 0.2], 0.125, 0.25
    problem = Problem(Model(noise=noise, spectrum=Spectrum(eigen, signals, tail=delta)), gamma=1.0, horizon=1e4)
    values, errors, _ = solve_constant(problem, [0.0, 1000.0, 1001.0], 25)
    rate = (delta + noise) / sum(x**2 / (2.0 * x) ** 2 for x in eigen)
    assert float(values[2] - values[1]) == pytest.approx(rate, rel=1e-12, abs=0.0)
    assert abs(values[0] - (delta + MP.fsum(signals))) <= errors[0]
    first, second = (MP.fsum(MP.mpf(x) ** 2 / (2 * MP.mpf(x)) ** n for x in eigen) for n in (2, 3))
    start = MP.fsum(MP.mpf(v) / (2 * x) for v, x in zip(signals, eigen, strict=True)) - MP.mpf(noise) * first
    level = start / first + (MP.mpf(delta) + noise) * second / first**2
    # at the edge 1 - K(p) = p first - p^2 second + ..., and all else has decayed by 1000
    assert abs(values[1] - level - MP.mpf(rate) * 1000) < 1e-10


def test_a_zero_is_found_in_few_steps() -> None:
    mp = private_context(60)
    rates, weights = [mp.mpf(x) for x in ("0.125", "0.5", "2")], [mp.mpf(x) for x in ("0.004", "0.06", "1")]
    asked: list[Any] = []

    class Counted(list):  # type: ignore[type-arg]
        """The weights, of which the own one is asked for once in every step."""

        def __getitem__(self, index: Any) -> Any:
            asked.append(index)
            return super().__getitem__(index)

    for k in range(3):
        exact = _root(mp, mp.mpf("0.3"), rates, weights, k, 0.0)
        asked.clear()
        found = _root(mp, mp.mpf("0.3"), rates, Counted(weights), k, float(exact))
        assert abs(found / exact - 1) < mp.mpf(10) ** -57
        # 16 digits at first, 32 and 64: the last step is taken as it is
        assert len(asked) <= 4


@pytest.mark.parametrize("ratio", [0.25, 0.125, 0.05, 0.01])
def test_a_series_of_slow_modes_ends_where_two_terms_are_below_rounding(ratio: float) -> None:
    """To look at all entries costs about as much as a term: it is done at every third."""
    mp = private_context(30)
    row = {name: [mp.mpf(1)] for name in ("rates", "squares", "weights")}
    system = OwnSystems(arithmetic(mp, "mpmath"), {**row, "delta": mp.mpf(0), "noise": mp.mpf(1)}, radau_table(2, 30))
    first = mp.matrix([[mp.mpf(ratio), 0], [0, mp.mpf(ratio) / 2]])
    found = system._series(first, first * 0)
    last = next(n for n in range(600) if mp.mpf(ratio) ** n < mp.eps)
    # the terms last and last + 1 are the first two below it
    assert len(found) == 3 * math.ceil((last + 2) / 3)
    # one entry that is large is enough to go on
    corner = system._series(mp.matrix([[0, 0], [0, mp.mpf(ratio)]]), first * 0)
    assert len(corner) == len(found)


def test_steps_of_rate_zero_take_no_time_and_those_of_rate_one_do() -> None:
    plan = Discrete(rates=[1.0, 0.0, 0.5, 1.0, 0.0], batch_sizes=[4.0, 1.0, 1.0, 4.0, 1.0])
    gamma = exact_gamma(MP, _problem(gamma=plan, horizon=None), None)
    assert gamma.breaks == [1, MP.mpf("1.5")] and gamma.end == MP.mpf("2.5")
    found = [float(gamma.value(MP.mpf(t), None)) for t in (0.5, 1.0, 1.2, 1.5, 2.0, 2.5)]
    assert found == [0.25, 0.25, 0.5, 0.5, 0.25, 0.25]


@pytest.mark.parametrize("gamma", ["0.9", "3"])
@pytest.mark.parametrize("start", [0.0, 0.2, 0.37499999])
def test_a_zero_close_to_the_next_pole_keeps_its_distance_from_it(gamma: str, start: float) -> None:
    mp = private_context(50)
    for weight in ("1e-20", "1e-30"):
        rates, weights = [mp.mpf("0.125"), mp.mpf("0.5")], [mp.mpf(weight), mp.mpf(1)]
        x = _root(mp, mp.mpf(gamma), rates, weights, 1, start)
        left = mp.mpf("0.375") - x
        # gamma (1/x - w/left) = 1, x nearly 3/8: all but the digits of w are known of the distance, and some are lost
        exact = mp.mpf(weight) / (1 / mp.mpf("0.375") - 1 / mp.mpf(gamma))
        assert left > 0 and abs(left / exact - 1) < mp.mpf(10) ** -18
