"""The parts of which short sums are made: the stretched variable, the rules behind the head, the tail, integrals."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import mpmath
import numpy as np
import pytest

from fsl_num import compression
from fsl_num.compression import Modes, _Rules, _Scale, _tail, compress
from fsl_num.exponential_sums_digits import exponential_sum_digits
from fsl_num.mode_errors import PowerLawSums

MP = mpmath.mp.clone()
MP.dps = 40

SCALES = [(1.05, 1e6, math.inf), (2.0, 1e3, 3e6), (6.0, 1e30, math.inf), (1.5, 100.0, 1e3), (2.0, 50.0, 1.0)]


@pytest.mark.parametrize(("beta", "size", "horizon"), SCALES)
def test_the_stretched_variable_is_a_logarithm_that_bends_near_the_last_index(
    beta: float, size: float, horizon: float
) -> None:
    scale = _Scale(beta, size, horizon)
    decayed = min(2.0 * horizon * size**-beta, 700.0)
    # exp(-u z) is smooth for all u up to 1/eps
    assert scale.eps == pytest.approx(1.0 / (beta * max(decayed, 1.0)), rel=1e-12, abs=0.0)
    x = np.unique(np.concatenate([np.geomspace(1.0, size, 60), size * (1.0 - np.geomspace(1e-12, 0.4, 20))]))
    y, slope = scale.forward(x)
    for place, found, rise in zip(x.tolist(), y.tolist(), slope.tolist(), strict=True):
        z, eps = MP.log(MP.mpf(size) / MP.mpf(place)), MP.mpf(scale.eps)
        # two logarithms, each rounded; near the last index log1p keeps the digits of z itself
        assert abs(found - (-beta * z - MP.log(z + eps))) <= 5e-16 * (2 + abs(found) + beta * z)
        assert abs(rise - (beta + 1 / (z + eps)) / MP.mpf(place)) <= 4e-15 * rise


@pytest.mark.parametrize(("beta", "size", "horizon"), SCALES)
def test_the_stretched_variable_is_inverted_as_lambert_would(beta: float, size: float, horizon: float) -> None:
    scale = _Scale(beta, size, horizon)
    y, _ = scale.forward(np.concatenate([np.geomspace(1.0, size, 50), size * (1.0 - np.geomspace(1e-6, 0.4, 10))]))
    r = beta * scale.eps - y
    assert (r > beta).any() and (beta > 1e3 or (r < beta).any())  # both starts
    x, rates = scale.backward(y)
    for found, rate, given in zip(x.tolist(), rates.tolist(), y.tolist(), strict=True):
        eps, b = MP.mpf(scale.eps), MP.mpf(beta)
        # q = log(z + eps): beta e^q + q = r, so that beta e^q = W(beta e^r)
        z = MP.lambertw(b * MP.exp(b * eps - MP.mpf(given))).real / b - eps
        # the rounding of r, 2^-53 |r|, and that of z times beta
        spread = 4.0 * 2.0**-53 * (abs(given) + beta * float(z) + 2.0)
        assert abs(found / (size * MP.exp(-z)) - 1) <= 2.0 * spread
        assert abs(rate / (MP.mpf(size) ** -b * MP.exp(b * z)) - 1) <= 2.0 * spread * beta + 2e-16


def test_without_a_last_index_the_variable_is_the_logarithm_of_the_rate() -> None:
    scale = _Scale(2.0)
    x = np.array([1.0, 7.0, 1e9])
    y, slope = scale.forward(x)
    assert y == pytest.approx([0.0, 2.0 * math.log(7.0), 18.0 * math.log(10.0)], rel=1e-15, abs=0.0)
    assert slope == pytest.approx(2.0 / x, rel=1e-15, abs=0.0)
    back, rates = scale.backward(y)
    assert back == pytest.approx(x, rel=1e-14, abs=0.0) and rates == pytest.approx(x**-2.0, rel=1e-14, abs=0.0)


@pytest.mark.parametrize(("beta", "size", "horizon"), SCALES)
def test_newton_starts_close_to_the_root_and_on_its_right(
    monkeypatch: pytest.MonkeyPatch, beta: float, size: float, horizon: float
) -> None:
    """From log(r/beta), or r below it, quadratic convergence needs seven steps at most (measured: six and seven)."""
    scale = _Scale(beta, size, horizon)
    y, _ = scale.forward(np.geomspace(1.0, size, 300))
    steps = []
    exact = np.exp

    def counted(x: object) -> object:
        steps.append(1)
        return exact(x)

    monkeypatch.setattr(compression.np, "exp", counted)
    scale.backward(y)
    assert 2 * 3 < len(steps) <= 2 * 7 + 3  # two exponentials for each step, and a few at the end


@pytest.mark.parametrize(("size", "horizon"), [(math.inf, 1e5), (1e12, 1e5), (3000.0, 2e4)])
@pytest.mark.parametrize("power", [1.6, 4.0])
def test_the_tail_has_the_moments_of_the_indices_it_stands_for(size: float, horizon: float, power: float) -> None:
    sums = PowerLawSums((4.0, 1.6), 2.0, size, horizon)
    assert sums.has_tail and 2.0 * horizon * sums.knee**-2.0 <= 1.0
    rates, weights = _tail(sums, power)
    assert len(rates) == 6 and (rates >= 0.0).all() and (weights > 0.0).all() and rates.max() <= sums.knee**-2.0
    last = math.inf if math.isinf(size) else int(size)
    for k in range(12):
        exact = exponential_sum_digits(power + 2.0 * k, 0, 2, last, int(sums.knee), 20)
        found = MP.fsum(MP.mpf(w) * MP.mpf(r) ** k for r, w in zip(rates.tolist(), weights.tolist(), strict=True))
        # the mass itself to rounding; what is far behind is one point, which is 1e-17 of the first two moments
        assert abs(found / exact - 1) < (3e-15 if k < 2 else 1e-13)


@pytest.mark.parametrize(("size", "horizon"), [(math.inf, 1e7), (1e4, math.inf)])
def test_rules_behind_the_head_keep_the_number_of_indices(size: float, horizon: float) -> None:
    sums = PowerLawSums((4.0, 2.0), 2.0, size, horizon)
    rules = _Rules(sums, 6)
    rules.prepare(40)
    x, counts, rates = rules.rule(40)
    assert len(x) == len(counts) == len(rates) == 40 * len(rules.pieces)
    behind = sums.positions[6:]
    assert (counts > 0.0).all() and behind.min() <= x.min() <= x.max() <= behind.max() * (1.0 + 1e-12)
    assert rates == pytest.approx(x**-2.0, rel=1e-11, abs=0.0)  # y near M is rounded to 2^-53 of 40
    # 1/j is smooth in the variable of the rule: exp(-pi^2 40/30) of it at most are missed
    for power in (0.8, 1.0, 1.6):
        assert counts @ x**-power == pytest.approx(sums.counts[6:] @ behind**-power, rel=1e-4 if power < 1.0 else 1e-6)
    fewer = rules.rule(10)
    assert len(fewer[0]) == 10 * len(rules.pieces)
    # a piece is at most 45 long, and the pieces follow each other
    assert rules.length <= 45.0 and len(rules.pieces) == math.ceil(rules.length * len(rules.pieces) / 45.0)


@pytest.mark.parametrize(
    ("s", "beta", "size", "horizon", "rtol", "most"),
    # One for each of the first 3 beta indices, six for each tail, and log(10/rtol)/pi^2 for each factor e of the rates
    # between them, of which the sine saves up to a third.
    [
        (0.5, 2.0, math.inf, 2.0**20, 1e-13, 70),
        (0.5, 2.0, math.inf, 1e12, 1e-13, 119),
        (0.5, 2.0, math.inf, 1e12, 1e-6, 75),
        (0.05, 1.05, 1e6, math.inf, 1e-13, 93),
        (2.0, 4.0, 1000.0, math.inf, 1e-13, 117),
        (3.0, 6.0, math.inf, 1e12, 1e-13, 84),
        (0.5, 1.5, 1e6, 1e12, 1e-6, 67),
        (1.0, 2.0, 300.0, 1e6, 1e-6, 43),
    ],
)
def test_modes_are_few(s: float, beta: float, size: float, horizon: float, rtol: float, most: int) -> None:
    modes = compress(s, beta, size, horizon, rtol=rtol)
    assert len(modes.rates) <= most  # measured three fewer: what one more trial would add is more
    assert modes.error <= rtol + 2.0 * 2.0**-53 * 700.0


@pytest.mark.parametrize("rate", [0.0, 1e-310, 1e-200, 1e-9, 1.0, 1e5])
def test_integrals_of_one_mode(rate: float) -> None:
    modes = Modes(np.array([rate, 2.0]), np.array([3.0, 0.0]), 0.0, np.array([5.0, 0.0]))
    for low, high in ((0.0, 1.0), (0.5, 1e3), (2.0, 2.0 + 1e-9), (1e7, 2e7), (4.0, 4.0)):
        exact = MP.mpf(high) - MP.mpf(low)
        if rate > 0.0:
            turn = 2 * MP.mpf(rate)
            exact = MP.exp(-turn * MP.mpf(low)) * -MP.expm1(-turn * exact) / turn
        # the exponent is rounded, and an integral below the smallest float is 0
        allowed = (4e-16 + 4e-16 * 2.0 * rate * low) * exact + 1e-307
        assert abs(modes.kernel_integral(low, high) - 3 * exact) <= 3 * allowed
        assert abs(modes.signal_integral(low, high) - 5 * exact) <= 5 * allowed


def test_the_integral_to_infinity_has_what_comes_after_the_horizon() -> None:
    modes = Modes(
        np.array([0.5]), np.array([2.0]), 0.0, np.array([4.0]), horizon=3.0, kernel_after=7.0, signal_after=9.0
    )
    left = math.exp(-1.0) - math.exp(-3.0)
    assert modes.kernel_integral(1.0, math.inf) == pytest.approx(2.0 * left + 7.0, rel=1e-15, abs=0.0)
    assert modes.signal_integral(1.0, math.inf) == pytest.approx(4.0 * left + 9.0, rel=1e-15, abs=0.0)
    assert modes.kernel_integral(3.0, math.inf) == 7.0 and modes.kernel_integral(3.0, 3.0) == 0.0
    assert type(modes.kernel_integral(1.0, 2.0)) is float and type(modes.kernel_integral(1.0, math.inf)) is float
    mixed = modes.kernel_integral(1.0, np.array([math.inf, 3.0, 1.0]))
    assert mixed == pytest.approx([2.0 * left + 7.0, 2.0 * left, 0.0], rel=1e-15, abs=0.0)
    with pytest.raises(ValueError, match="upper must be"):
        modes.kernel_integral(1.0, 3.1)
    # a mode that stands still does not stop an integral that ends at a horizon
    still = Modes(np.array([0.0]), np.array([2.0]), 0.0, horizon=3.0, kernel_after=1.0)
    assert still.kernel_integral(1.0, math.inf) == 5.0
    # nor does one without weight
    empty = Modes(np.array([0.0, 1.0]), np.array([0.0, 2.0]), 0.0)
    assert empty.kernel_integral(0.0, math.inf) == pytest.approx(1.0, rel=1e-15, abs=0.0)


@pytest.mark.parametrize(("name", "value"), [("kernel_after", -1.0), ("signal_after", math.nan), ("error", math.inf)])
def test_numbers_of_modes_are_checked(name: str, value: float) -> None:
    given = {"rates": np.ones(1), "kernel_weights": np.ones(1), "error": 0.0}
    assert math.isinf(Modes(**given, kernel_after=math.inf).kernel_after)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=name):
        Modes(**(given | {name: value}))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one list of as many numbers as rates"):
        Modes(np.zeros(0), np.zeros(0), 0.0)
    with pytest.raises(ValueError, match="kernel_weights must be one list"):
        Modes(np.ones(2), np.ones((2, 2)), 0.0)


@pytest.mark.parametrize("size", [1.0, 6.0, 14.0, 15.0, 17.0])
def test_small_models_keep_their_modes(size: float) -> None:
    # the head of a model with beta = 2 has six modes, and up to eight more are no fewer as a rule
    modes = compress(0.5, 2.0, size, 10.0)
    if size <= 14.0:
        assert modes.rates == pytest.approx(np.arange(1.0, size + 1.0) ** -2.0, rel=1e-15, abs=0.0)
        assert modes.kernel_weights == pytest.approx(np.arange(1.0, size + 1.0) ** -4.0, rel=1e-15, abs=0.0)
    assert len(modes.rates) <= size
    t = np.array([0.0, 10.0])
    exact = np.exp(-2.0 * np.multiply.outer(t, np.arange(1.0, size + 1.0) ** -2.0)) @ np.arange(1.0, size + 1.0) ** -4.0
    assert modes.kernel(t) == pytest.approx(exact, rel=modes.error + 1e-15)


def test_the_tolerance_is_asked_for_in_its_range() -> None:
    for rtol in (1e-13, 1e-3):
        modes = compress(1.0, 2.0, 1000.0, 1e3, rtol=rtol)
        assert modes.error <= rtol
    for rtol in (0.99e-13, 1.01e-3):
        with pytest.raises(ValueError, match=r"rtol must lie in \[1e-13, 1e-3\]"):
            compress(1.0, 2.0, 1000.0, 1e3, rtol=rtol)


def test_modes_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Modes(np.ones(1), np.ones(1), 0.0).error = 1.0  # type: ignore[misc]
