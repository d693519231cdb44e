"""Rules of few modes: their bound written out, plans around their limits, and the precision of Newton's steps."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem
from fsl_num.volterra.digits import modes as few
from fsl_num.volterra.digits import moment_rules
from fsl_num.volterra.digits.moment_rules import _node, _recurrence, _starts, positive_rule, power_moments, zeta_tails

MP = private_context(40)


@pytest.mark.parametrize("gamma", [1.8, 1.95])
def test_a_fast_mode_is_slowest_at_the_right_end_where_gamma_is_large(gamma: float) -> None:
    law = few._Law(0.5, 2.0, math.inf, 7.0, gamma)
    _, right, growth, integral = few._ellipses(law, 1, 0.2)
    left = 1.2 - right  # both ends lie around the middle of [0.2, 1]
    slowest = np.maximum(-left * (2.0 - gamma * left), -right * (2.0 - gamma * right))
    assert (slowest > -left * (2.0 - gamma * left)).all()
    assert growth == pytest.approx(7.0 * np.maximum(slowest, 0.0), rel=1e-12, abs=0.0)
    # exp(-c t) up to 7 has the integral 1/c at most, or 7
    length = np.where(slowest < -1.0 / 7.0, -1.0 / slowest, 7.0)
    assert integral - growth == pytest.approx(np.log(length), rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("first", "after", "which"), [(3, math.inf, (0,)), (3, math.inf, (1,)), (2, 60.0, (0, 1))])
@pytest.mark.parametrize("end", [0.5, 300.0])
def test_the_bound_of_a_rule_is_the_least_of_its_ellipses(
    first: int, after: float, which: tuple[int, ...], end: float
) -> None:
    """4 mass F rho^(1 - 2n)/(rho - 1), F the most that a function has on the ellipse of sum rho of its half axes."""
    law, n = few._Law(1.5, 2.0, math.inf, end, 0.0), 7
    left = ((after - 1.0) / first) ** -2.0 if len(which) == 2 else 0.0
    assert few._left(2.0, first, after, which) == left
    powers = (4.0, 4.0)
    assert law.powers == powers
    for i in which:
        law = few._Law(0.5 if i else 1.5, 2.0, math.inf, end, 0.0)  # powers 2 and 4, or 4 and 4
        shape = (law.powers[i] - min(law.powers[k] for k in which)) / 2.0
        rho, right, growth, integral = few._ellipses(law, first, left)
        bounds = np.array([growth, integral])[i]
        least = math.exp((bounds + np.log(4.0 * right**shape / (rho - 1.0)) + (1 - 2 * n) * np.log(rho)).min())
        found = few._remainder(MP, law, first, after, n, i, which, MP.mpf(2), MP.mpf(0))
        assert float(found) == pytest.approx(2.0 * least, rel=1e-8, abs=0.0) and found > 2.0 * least * (1.0 - 1e-12)
        # a defect adds itself at each time
        more = few._remainder(MP, law, first, after, n, i, which, MP.mpf(2), MP.mpf("0.25"))
        assert float(more - found) == pytest.approx(0.25 * (end if i else 1.0), rel=1e-9, abs=0.0)
    assert few._remainder(MP, law, first, after, n, 0, which, MP.mpf(0), MP.mpf(1)) == 0


@pytest.mark.parametrize(("first", "after", "which"), [(3, math.inf, (0,)), (3, math.inf, (1,)), (2, 60.0, (0, 1))])
def test_what_a_rule_misses_is_below_its_bound_and_not_far(first: int, after: float, which: tuple[int, ...]) -> None:
    end, n, beta = 40.0, 6, 2.0
    law = few._Law(0.5, beta, math.inf, end, 0.0)
    of_signal, left_open = 0 in which, math.isinf(after)
    nodes, weights, mass, defect = few._rule(25, 0.5, beta, first, after, n, of_signal)
    q = 2 if of_signal else 4
    last = 20000 if math.isinf(after) else int(after)
    x = (first / np.arange(float(first), float(last))) ** beta
    unit = float(first) ** -beta
    for i in which:
        shape = ((2.0, 4.0)[i] - q) / beta
        worst = 0.0
        missed = []
        for t in np.linspace(0.0, end, 41):
            rule = sum(
                float(w) * float(y) ** shape * math.exp(-2.0 * unit * float(y) * t)
                for y, w in zip(nodes, weights, strict=True)
            )
            # what is left of 1/j^q behind the last index, which has not decayed at all
            rest = last * (first / last) ** q / (q - 1.0) if math.isinf(after) else 0.0
            full = float((x ** (q / beta) * x**shape * np.exp(-2.0 * unit * x * t)).sum()) + rest
            missed.append(abs(rule - full))
            worst = max(worst, missed[-1])
        bound = float(few._remainder(MP, law, first, after, n, i, which, mass, defect))
        if i == 0:
            # ellipses of blocks keep right of 0, where the exponential does not need it
            assert worst <= bound + 1e-9 and bound <= (1e6 if left_open else 1e9) * worst
        else:
            assert sum(missed) - 0.5 * (missed[0] + missed[-1]) <= bound + 1e-7


def test_gamma_counts_in_the_gaussian_closure_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(few, "_built", lambda *given: asked.append(given))
    for closure in ("volterra", "gaussian"):
        problem = Problem(Model(s=0.5, beta=2.0, size=9, noise=1.0), gamma=0.3, horizon=7.0, closure=closure)
        few.few_modes(problem, 20, 0.75)
    assert asked == [(0.5, 2.0, 9.0, 7.0, 0.0, 20), (0.5, 2.0, 9.0, 7.0, 0.75, 20)]


def test_a_block_has_the_nodes_that_its_bound_asks_for_or_its_indices() -> None:
    law = few._Law(0.5, 1.2, math.inf, 2.0**16, 0.0)
    plan = few._plan(law, 25, 3.0)
    assert len(plan.blocks) > 3
    for low, high, size in plan.blocks:
        assert high == math.ceil(low * 3.0 ** (1.0 / 1.2))
        # the slowest rate of the block is that of its last index
        need = few._nodes(law, low, ((high - 1) / low) ** -1.2, 25)[0] if high - low > 4 else 5
        assert size == min(need, high - low)
    # blocks begin where they first save a mode
    low = plan.blocks[0][0]
    assert plan.blocks[0][2] < plan.blocks[0][1] - low and low == plan.kept + 1
    for first in range(1, low):
        after = math.ceil(first * 3.0 ** (1.0 / 1.2))
        assert after - first <= 4 or few._nodes(law, first, ((after - 1) / first) ** -1.2, 25)[0] >= after - first


@pytest.mark.parametrize("bits", [60, 128, 200, 1000])
def test_a_node_is_refined_with_twice_the_bits_each_time(bits: int) -> None:
    mp = private_context(320)
    a, b = _recurrence([1 / mp.mpf(k + 1) for k in range(8)])
    levels: list[int] = []

    class Watched:
        """The context, which notes the precisions that are asked for."""

        def __getattr__(self, name: str) -> Any:
            return getattr(mp, name)

        @contextmanager
        def workprec(self, level: int) -> Any:
            levels.append(level)
            with mp.workprec(level):
                yield

    x = _node(Watched(), a, b, _starts(a, b)[1], bits)
    exact = (1 - mp.sqrt(mp.mpf(3) / 7 - mp.mpf(2) / 7 * mp.sqrt(mp.mpf(6) / 5))) / 2
    assert abs(x / exact - 1) < mp.mpf(2) ** (3 - bits)
    # floats have 53 bits, a step gives 106 of the 128 of the first level; from there on one step a level, or two
    ladder = [128 * 2**k for k in range(5) if 128 * 2**k < bits] + [bits]
    assert sorted(set(levels)) == ladder and levels == sorted(levels)
    assert all(levels.count(level) <= 2 for level in ladder)


def test_a_node_that_is_not_found_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mp = private_context(60)
    a, b = _recurrence([1 / mp.mpf(k + 1) for k in range(8)])
    monkeypatch.setattr(moment_rules, "_NEWTON", 1)
    with pytest.raises(ArithmeticError, match=r"node near 0\.33001 did not converge"):
        _node(mp, a, b, _starts(a, b)[1], 1000)


def test_rules_near_one_node_and_tails_that_do_not_converge() -> None:
    mp = private_context(40)
    # a single point 1/4 of mass 3
    nodes, weights, defect = positive_rule(mp, [mp.mpf(3), mp.mpf("0.75")], 30)
    assert nodes == [mp.mpf("0.25")] and weights == [3] and defect == 0
    # 1/3 and 1 with weights 1 and 2, from four moments
    found, shares, defect = positive_rule(mp, [2 + mp.mpf(3) ** -k for k in range(4)], 30)
    assert abs(found[0] * 3 - 1) < mp.mpf(10) ** -33 and abs(found[1] - 1) < mp.mpf(10) ** -33
    assert abs(shares[0] - 1) + abs(shares[1] - 2) < mp.mpf(10) ** -32 and defect < mp.mpf(10) ** -32
    moments = power_moments(mp, mp.mpf(2), mp.mpf(2), 4, math.inf, 3)
    tails = zeta_tails(mp, mp.mpf(2), mp.mpf(2), 4, 3)
    assert moments == tails


@pytest.mark.parametrize("digits", [15, 40])
def test_a_block_has_one_rule_for_both_sums_and_the_last_piece_one_for_each(digits: int) -> None:
    """The fewest n for which 4 mass F rho^(1 - 2n)/(rho - 1) is below 10^-digits for one of the ellipses."""
    law = few._Law(0.1, 3.0, math.inf, 1e6, 0.0)  # powers 1.3 and 6
    for first, left in ((60, 0.0), (90, 0.0), (2, 0.3), (200, 0.3)):
        rho, right, *bounds = few._ellipses(law, first, left)
        need = []
        for (mass, power), bound in zip(few._log_masses(law, first, left > 0.0), bounds, strict=True):
            for n in range(1, 9000):
                logs = math.log(4.0) + mass + power * np.log(right) + bound - np.log(rho - 1.0)
                if (logs + (1 - 2 * n) * np.log(rho)).min() <= -digits * math.log(10.0):
                    need.append(n)
                    break
        assert need[0] != need[1]
        assert few._nodes(law, first, left, digits) == ((max(need),) * 2 if left else tuple(need))


@pytest.mark.parametrize(("first", "after", "n"), [(1, math.inf, 12), (20, 60.0, 10)])
def test_a_rule_is_taken_where_its_moments_are_met_to_five_digits_more(
    monkeypatch: pytest.MonkeyPatch, first: int, after: float, n: int
) -> None:
    left = ((after - 1.0) / first) ** -2.0 if math.isfinite(after) else 0.0
    # the moduli of the coefficients of T_(2n-1) on [c, 1] sum to its value at -1; twice, and cosh x < e^x/2 + 1/2
    moduli = MP.cosh((2 * n - 1) * MP.acosh((3 + MP.mpf(left)) / (1 - MP.mpf(left))))
    mass = power_moments(MP, MP.mpf(2), MP.mpf(2), first, after, 1)[0]
    limit = mass * MP.mpf(10) ** -25 / (4 * moduli)
    calls: list[tuple[int, int, int]] = []

    def known(mp: Any, moments: list[Any], digits: int) -> tuple[list[Any], list[Any], Any]:
        calls.append((mp.dps, len(moments), digits))
        return [mp.mpf(1)] * n, [mp.mpf(1)] * n, limit * share[min(len(calls), len(share)) - 1]

    monkeypatch.setattr(few, "positive_rule", known)
    lost = (2 * n - 1) * math.acosh((3.0 + left) / (1.0 - left)) / math.log(10.0)
    for share, tries in (([0.999], 1), ([1.001, 0.999], 2), ([1.001, 1.001, 1.001, 0.5], 4)):
        calls.clear()
        _, _, found, counted = few._rule(20, 0.5, 2.0, first, after, n, True)
        assert len(calls) == tries and abs(found / mass - 1) < MP.mpf(10) ** -30
        assert abs(counted / (limit * share[-1] * 4 * moduli) - 1) < 1e-9
        for (working, count, digits), loss in zip(calls, (1.0, 1.5, 3.0, 6.0), strict=False):
            # twenty digits more than asked for, those that the polynomial loses, and those that the algorithm does
            assert count == 2 * n and digits == 30 + math.ceil(lost) and working == 40 + math.ceil((1.0 + loss) * lost)
    share = [1.001]
    with pytest.raises(ArithmeticError, match=f"no rule of {n} nodes was found"):
        few._rule(20, 0.5, 2.0, first, after, n, True)
