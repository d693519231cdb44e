"""Few modes with a proven bound: ellipses, masses, plans, and what rounding of the moments counts for."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from fsl_num.exponential_sums_digits import exponential_sum_digits, private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem
from fsl_num.volterra.digits import modes as few
from fsl_num.volterra.digits.modes import few_modes

MP = private_context(40)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.3])
@pytest.mark.parametrize("left", [0.0, 0.2])
def test_ellipses_bound_the_exponential_and_its_integral(gamma: float, left: float) -> None:
    law = few._Law(0.5, 2.0, math.inf, 30.0, gamma)
    first = 3
    rho, right, growth, integral = few._ellipses(law, first, left)
    theta = np.linspace(0.0, math.pi, 721)
    half = 0.5 * (1.0 - left)
    for k in range(0, len(rho), 7):
        z = 1.0 - half + 0.5 * half * (rho[k] * np.exp(1j * theta) + np.exp(-1j * theta) / rho[k])
        assert z.real.max() == pytest.approx(right[k], rel=1e-9, abs=0.0) and (left == 0.0 or 0.0 < z.real.min() < left)
        rates = z / 9.0
        # the exponent is linear in G, so that it is largest at G = 0 or gamma tau, and in tau at one of its ends
        exponents = np.maximum((-2.0 * rates).real, (-2.0 * rates + gamma * rates**2).real)
        most = exponents.max()
        assert max(most, 0.0) * 30.0 <= growth[k] + 1e-9 * (1.0 + abs(growth[k]))
        size = -math.expm1(30.0 * most) / -most if most < 0 else 30.0
        assert integral[k] >= math.log(size) - 1e-9 if most < 0 else integral[k] >= growth[k] + math.log(30.0) - 1e-9
        # and it is met where the closure does not bend it; exp(-u x) over [0, T] is 1/u or T up to 1 - 1/e
        if gamma == 0.0:
            assert growth[k] == pytest.approx(max(most, 0.0) * 30.0, rel=1e-6, abs=1e-9)
            if most < 0.0:
                assert integral[k] <= math.log(size) + 0.46


@pytest.mark.parametrize("shared", [True, False])
def test_masses_are_bounded(shared: bool) -> None:
    law = few._Law(0.5, 2.0, math.inf, 30.0, 0.0)
    for first in (1, 4, 100):
        for (log, shape), power in zip(few._log_masses(law, first, shared), (2.0, 4.0), strict=True):
            q = 2.0 if shared else power
            assert shape == pytest.approx((power - q) / 2.0)
            mass = float(exponential_sum_digits(q, 0, 2, math.inf, first, 20)) * first**q * first**-power
            # a decreasing sum lies between its integral and that and its first term
            assert mass <= math.exp(log) * (1.0 + 1e-12) and math.exp(log) <= mass + float(first) ** -power


def test_plans_are_the_cheapest_of_their_kind() -> None:
    law = few._Law(0.5, 2.0, math.inf, 2.0**14, 0.0)
    for digits in (20, 40):
        plan = few._plan(law, digits, 3.0)
        assert plan.last is not None
        first, *nodes = plan.last
        after = [1 + plan.kept, *(block[1] for block in plan.blocks)]
        assert [block[0] for block in plan.blocks] + [first] == after
        assert plan.count == plan.kept + sum(block[2] for block in plan.blocks) + sum(nodes)
        assert nodes == list(few._nodes(law, first, 0.0, digits))
        for low, high, size in plan.blocks:
            assert high == math.ceil(low * math.sqrt(3.0)) and size <= high - low
        # one bound for each node more: the next power of rho is above what is asked for
        rho, right, *growths = few._ellipses(law, first, 0.0)
        for which, (count, (mass, power)) in enumerate(zip(nodes, few._log_masses(law, first, False), strict=True)):
            bound = math.log(4.0) + mass + power * np.log(right) + growths[which] + np.log(rho / (rho - 1.0))
            wanted = -digits * math.log(10.0)
            assert (bound - 2 * count * np.log(rho)).min() <= wanted + 1e-9
            assert count == 1 or (bound - 2 * (count - 1) * np.log(rho)).min() > wanted
    small = few._plan(few._Law(0.5, 2.0, 5.0, 2.0**14, 0.0), 20, 3.0)
    assert small.last is None and small.count == small.kept + sum(block[2] for block in small.blocks) == 5


def test_the_error_of_few_modes_is_what_was_asked_for() -> None:
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.3, horizon=100.0)
    for digits in (15, 30):
        found = few_modes(problem, digits, 0.3)
        for error in (found.signal_error, found.kernel_error):
            # of each piece at most 10^-digits, and of the last one not much less
            assert MP.mpf(10) ** (-digits - 4) < error < 3 * MP.mpf(10) ** -digits
    with pytest.raises(FrozenInstanceError):
        found.kernel_error = 0  # type: ignore[misc]


@pytest.mark.parametrize(("first", "after", "n"), [(1, math.inf, 3), (4, 60.0, 4), (2, 9.0, 2)])
def test_what_moments_miss_counts_as_often_as_the_polynomial_has_coefficients(
    monkeypatch: pytest.MonkeyPatch, first: int, after: float, n: int
) -> None:
    defect = MP.mpf(10) ** -90

    def known(mp: Any, moments: list[Any], digits: int) -> tuple[list[Any], list[Any], Any]:
        return [mp.mpf(1)] * n, [mp.mpf(1)] * n, defect

    monkeypatch.setattr(few, "positive_rule", known)
    _, _, mass, counted = few._rule(20, 0.5, 2.0, first, after, n, True)
    left = ((after - 1.0) / first) ** -2.0 if math.isfinite(after) else 0.0
    # T_(2n-1) on [c, 1], whose coefficients alternate: their moduli sum to its value at -1
    moved = np.polynomial.Polynomial([-(1.0 + left) / (1.0 - left), 2.0 / (1.0 - left)])
    shifted = np.polynomial.Polynomial(np.polynomial.chebyshev.cheb2poly([0.0] * (2 * n - 1) + [1.0]))(moved)
    moduli = np.abs(shifted.coef).sum()
    # twice, for the rule and the sum, and cosh x < e^x/2 + 1/2
    assert 2.0 * moduli <= float(counted / defect) <= 4.0 * moduli
    last = math.inf if math.isinf(after) else int(after) - 1
    assert float(mass) == pytest.approx(float(exponential_sum_digits(2, 0, 2, last, first, 20)) * first**2, rel=1e-12)


def test_a_rule_of_as_many_nodes_as_indices_is_the_indices() -> None:
    nodes, weights, mass, defect = few._rule(20, 0.5, 2.0, 3, 8.0, 5, False)
    assert [float(x) for x in nodes] == pytest.approx([(3.0 / j) ** 2 for j in range(3, 8)], rel=1e-15)
    assert [float(x) for x in weights] == pytest.approx([(3.0 / j) ** 4 for j in range(3, 8)], rel=1e-15)
    assert mass == defect == 0
    assert float(few._rule(20, 0.5, 2.0, 3, 8.0, 5, True)[1][-1]) == pytest.approx((3.0 / 7.0) ** 2, rel=1e-15)
    assert len(few._rule(20, 0.5, 2.0, 3, 8.0, 4, True)[0]) == 4


def test_a_rule_has_a_node_at_least() -> None:
    # what is behind the millionth index is below a tenth by itself
    assert few._nodes(few._Law(0.5, 2.0, math.inf, 1e-3, 0.0), 10**6, 0.0, 1) == (1, 1)
    assert few._nodes(few._Law(0.5, 2.0, math.inf, 1e-3, 0.0), 10**6, 0.3, 1) == (1, 1)


def test_what_rounding_of_the_moments_counts_for_grows_with_the_time_in_the_integral_alone() -> None:
    law = few._Law(0.5, 2.0, math.inf, 1e6, 0.0)
    nothing, defect = MP.mpf(10) ** -4000, MP.mpf(3)
    counted = [few._remainder(MP, law, 3, math.inf, 20, i, (i,), nothing, defect) for i in (0, 1)]
    # a weight is at most itself in the signal, and times the length of time in the integral of the kernel
    assert [float(each) for each in counted] == pytest.approx([3.0, 3e6], rel=1e-12)
