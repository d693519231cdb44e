"""The parts of the solvers at many digits: panels, times, stages, bounds, ellipses, arithmetic and the contour."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from fsl_num.exponential_sums_digits import exponential_sum_digits, private_context
from fsl_num.schedules import Cosine, Discrete, schedule
from fsl_num.volterra import Problem, Spectrum, solve
from fsl_num.volterra.digits import modes as few
from fsl_num.volterra.digits.arithmetic import arithmetic
from fsl_num.volterra.digits.gamma import ExactGamma, _float_angle, exact_gamma
from fsl_num.volterra.digits.high_precision import (
    _checked,
    _first_stages,
    _gamma_table,
    _least,
    _left_out,
    _panels,
    _peak,
    _running_difference,
)
from fsl_num.volterra.digits.laplace import _at_start, _growth, solve_laplace
from fsl_num.volterra.digits.laplace_sums import TransferSums
from fsl_num.volterra.digits.modes import DigitModes, few_modes

MP = private_context(40)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {
        "s": 0.5,
        "beta": 2.0,
        "model_size": math.inf,
        "noise": 1.0,
        "gamma": 0.3,
        "horizon": 100.0,
    }
    return Problem(**(values | changes))


# Panels


def _smooth(end: float, depth: Any = None, breaks: tuple[float, ...] = (), steps: bool = False) -> ExactGamma:
    return ExactGamma(lambda t, r: MP.mpf(r), MP.mpf(end), [MP.mpf(x) for x in breaks], depth, steps)


def test_panels_grow_from_every_break_and_have_every_time() -> None:
    gamma = _smooth(100.0, breaks=(10.0, 30.0))
    wanted = [MP.mpf("0.1"), MP.mpf(77)]
    ends = _panels(MP, gamma, wanted, 4.0)
    t = [float(x) for x, _ in ends]
    assert t == sorted(t) and {0.0, 0.1, 10.0, 30.0, 77.0, 100.0} <= set(t)
    assert all(abs(x + left - 100) < MP.mpf(10) ** -37 for x, left in ends)
    for low, high in ((0.0, 10.0), (10.0, 30.0), (30.0, 100.0)):
        inside = [x - low for x in t if low < x <= high and x not in (0.1, 77.0)]
        # a quarter of the fastest decay first, and then 1.3 times as far each time
        assert inside[0] == pytest.approx(0.0625, rel=1e-12, abs=0.0)
        assert inside[:-1] == pytest.approx([0.0625 * 1.3**k for k in range(len(inside) - 1)], rel=1e-12, abs=0.0)
        assert inside[-1] == high - low
        count = 1 + math.ceil(math.log(16.0 * (high - low)) / math.log(1.3))
        assert len(inside) == pytest.approx(count, abs=1)
    # a short piece has four panels at least, and one where gamma is constant on it
    assert float(_panels(MP, _smooth(0.04), [], 1.0)[1][0]) == pytest.approx(0.01)
    assert len(_panels(MP, _smooth(0.04, steps=True), [], 1.0)) == 2


def test_panels_shrink_towards_a_singular_end() -> None:
    depth = MP.mpf(10) ** -12
    ends = _panels(MP, _smooth(100.0, depth), [], 4.0)
    left = [x for t, x in ends if t > 50 and x > 0]
    assert left[0] > left[-1] and left[-1] <= depth < left[-2]
    for a, b in zip(left[:-1], left[1:], strict=True):
        # halves meet in the middle; 1.45 while a mode is faster than the panel is long, 3 behind
        assert float(a / b) == pytest.approx(1.45 if a * 4 > 1 else 3.0, rel=1e-12, abs=0.0) or a > 49
    # where gamma(r) = r injects at most r^2, which is unseen below 1e-12 gamma(50) = 5e-11
    early = [x for t, x in _panels(MP, _smooth(100.0, depth), [], 4.0, least=depth) if x > 0]
    assert early[-1] ** 2 <= depth * 50 < early[-2] ** 2


def test_gamma_at_a_break_is_taken_from_the_side_of_the_panel() -> None:
    gamma = ExactGamma(lambda t, r: MP.mpf(1 if t < 3 else 2), MP.mpf(10), [MP.mpf(3)], None)
    ends = [(MP.mpf(x), MP.mpf(10) - x) for x in (0, 3, 8, 10)]
    table = _gamma_table(MP, gamma, ends, [MP.mpf("0.25"), MP.mpf(1)])
    assert [float(width) for width, _ in table] == [3.0, 5.0, 2.0]
    assert [[int(x) for x in row] for _, row in table] == [[1, 1], [2, 2], [2, 2]]
    seen: list[tuple[Any, Any]] = []
    _gamma_table(
        MP, replace(gamma, value=lambda t, r: seen.append((t, r)) or MP.mpf(1)), ends, [MP.mpf("0.25"), MP.mpf(1)]
    )
    assert [float(t) for t, _ in seen] == pytest.approx([0.75, 3.0, 4.25, 8.0, 8.5, 10.0])
    assert all(abs(t + r - 10) < MP.mpf(10) ** -37 for t, r in seen) and seen[1][0] < 3


def test_the_width_of_a_late_panel_comes_from_the_time_that_is_left() -> None:
    gamma = _smooth(1.0)
    tiny = MP.mpf(10) ** -60
    ends = [(MP.mpf(0), MP.mpf(1)), (MP.mpf(1), 3 * tiny), (MP.mpf(1), tiny)]
    assert abs(_gamma_table(MP, gamma, ends, [MP.mpf(1)])[1][0] / tiny - 2) < MP.mpf(10) ** -37


def test_times_are_checked_and_the_end_is_the_exact_end() -> None:
    problem = _problem(gamma=schedule("wsd", peak=0.4, steps=30.0, final=0.01, decay_fraction=0.3), horizon=None)
    gamma = exact_gamma(MP, problem, MP.mpf(0))
    assert _checked(MP, problem.end, problem, gamma) == gamma.end != MP.mpf(problem.end)
    assert _checked(MP, gamma.end * (1 + MP.mpf(10) ** -13), problem, gamma) == gamma.end
    assert _checked(MP, 0.5, problem, gamma) == 0.5 and _checked(MP, 0, problem, gamma) == 0
    for bad in (-1e-30, gamma.end * (1 + MP.mpf(10) ** -11), math.inf):
        with pytest.raises(ValueError, match="times must lie"):
            _checked(MP, bad, problem, gamma)


def test_differences_are_the_largest_so_far() -> None:
    found = _running_difference(MP, [MP.mpf(2), MP.mpf(4), MP.mpf(-8)], [MP.mpf(2), MP.mpf(5), MP.mpf(-9)])
    assert [float(x) for x in found] == [0.0, 0.25, 0.25]


@pytest.mark.parametrize("digits", [15, 40, 100])
def test_how_many_stages_to_begin_with(digits: int) -> None:
    most = max(6, min(math.ceil(0.9 * digits), 57))
    assert _first_stages(_problem(), digits) == most
    assert _first_stages(_problem(), 15) == 14 and _first_stages(_problem(), 100) == 57
    for rate in (1e-3, 0.1, 1.0, 100.0):
        stages = _first_stages(
            _problem(gamma=Discrete(rates=[rate, rate / 2.0], batch_sizes=[9.0]), horizon=None), digits
        )

        def missed(s: int, turn: float = 2.0 * rate) -> float:
            """log10 of about (s!/(2s)! turn^s)^2, what a rational exponential of that degree misses."""
            return 2.0 * (s * math.log10(turn) + (math.lgamma(s + 1) - math.lgamma(2 * s + 1)) / math.log(10.0))

        assert 6 <= stages <= most and (stages == most or missed(stages) <= -digits)
        assert stages == 6 or missed(stages - 1) > -digits


def test_the_largest_gamma_and_the_least_loss() -> None:
    problem = _problem(gamma=schedule("exp-decay", peak=0.5, steps=40.0, final=0.01), horizon=None, noise=0.3)
    gamma = exact_gamma(MP, problem, MP.mpf(0))
    ends = _panels(MP, gamma, [], problem.fastest)
    table = _gamma_table(MP, gamma, ends, [MP.mpf("0.3"), MP.mpf(1)])
    peak = _peak(gamma, ends, table)
    assert 0.5 < peak < 0.52
    found = solve(problem, [0.4 * problem.end, problem.end])
    least = _least(problem, ends, table, [0.4 * problem.end, problem.end])
    # what noise adds again through the loss is left out, and of each panel the least gamma and kernel are taken
    assert 0.2 * found.values.min() < least < found.values.min()
    noisy = replace(problem, noise=1e3)
    assert 0.2 * solve(noisy, problem.end).values[0] < _least(noisy, ends, table, [problem.end])
    assert _least(problem, ends, table, []) == 1.0


def test_what_few_modes_leave_out_is_fed_back() -> None:
    found = DigitModes((MP.mpf(1), MP.mpf("0.5")), (MP.mpf(1), MP.mpf("0.25")), (MP.mpf(1),) * 2, MP.mpf(3), MP.mpf(5))
    problem = _problem(noise=2.0)
    # q = gamma (1/2 + 1/4) = 3/8: (3 + gamma (7 + 2) 5)/(1 - q)
    assert float(_left_out(MP, problem, found, 0.5, MP.mpf(7))) == pytest.approx(
        (3.0 + 0.5 * 9.0 * 5.0) / (1.0 - 0.375)
    )
    # the rates 2 - gamma and 1 - gamma/4: q = 0.5 (1/1.5 + 0.25/0.875)
    noisy = replace(problem, closure="gaussian")
    back = 0.5 * (1.0 / 1.5 + 0.25 / 0.875)
    assert float(_left_out(MP, noisy, found, 0.5, MP.mpf(7))) == pytest.approx((3.0 + 22.5) / (1.0 - back))
    # unstable problems have no bound: q = 1 at gamma = 1 with a weight 3/2 for 1, and a mode that grows at gamma = 2
    assert float(_left_out(MP, problem, found, 1.33, MP.mpf(7))) > 0.0
    edge = replace(found, kernel=(MP.mpf("1.5"), MP.mpf("0.25")))
    assert _left_out(MP, problem, edge, 1.0, MP.mpf(7)) == _left_out(MP, problem, found, 1.5, MP.mpf(7)) == 0
    assert _left_out(MP, noisy, found, 2.0, MP.mpf(7)) == _left_out(MP, noisy, found, 3.0, MP.mpf(7)) == 0


# gamma


@pytest.mark.parametrize("final", [0.0, 1e-6, 0.1])
def test_angles_of_the_cosine_schedule_in_floats(final: float) -> None:
    half = 0.15
    for angle in (1e-9, 1e-4, 0.009, 0.011, 0.5, 2.0, 3.1, math.pi):
        x = MP.mpf(angle)
        level = float(final * x + half * (x - MP.sin(x)))
        # near pi for final = 0 the slope is 2 half, and for small x the level of x^3 is rounded: 1e-9 is far below 1e-6
        assert _float_angle(level, final, half) == pytest.approx(angle, rel=1e-9, abs=0.0)


def test_how_close_to_the_end_gamma_is_singular() -> None:
    depth = MP.mpf(10) ** -20

    def found(name: str, horizon: float | None = None, **numbers: float) -> ExactGamma:
        return exact_gamma(MP, _problem(gamma=schedule(name, peak=0.5, steps=40.0, **numbers), horizon=horizon), depth)

    assert found("wsd", final=0.1, decay_fraction=0.5).depth is None
    assert found("linear").depth == depth and found("power-decay", power=2.0).depth == depth
    assert found("cosine").depth == depth
    # gamma^2 = final^2 + slope r, slope = 2 (0.5 - 0.1)/40, vanishes behind the end
    assert float(found("linear", final=0.1).depth) == pytest.approx(0.1**2 / 0.02)
    # there the angle is i y with final cosh-like rate 0: final + half (1 - cosh y) = 0
    y = math.acosh(1.0 + 0.1 / 0.2)
    assert float(found("cosine", final=0.1).depth) == pytest.approx(
        40.0 / math.pi * abs(0.1 * y - 0.2 * (math.sinh(y) - y))
    )
    # a horizon before the end keeps its distance from it
    total = 10.0
    assert float(found("linear", horizon=7.0).depth) == pytest.approx(total - 7.0)
    early = found("wsd", horizon=6.0, final=0.1, decay_fraction=0.5)
    assert early.breaks == [] and not early.steps and early.end == 6
    assert len(found("wsd", final=0.1, decay_fraction=0.5).breaks) == 1


def test_a_function_is_asked_just_before_its_end() -> None:
    asked: list[Any] = []
    gamma = exact_gamma(MP, _problem(gamma=lambda t: asked.append(t) or 0.25, breaks=(3.0,)), None)
    asked.clear()
    assert gamma.value(MP.mpf(100), MP.mpf(0)) == 0.25 and gamma.value(MP.mpf(5), MP.mpf(95)) == 0.25
    assert 0 < 100 - asked[0] < MP.mpf(10) ** -36 and asked[1] == 5
    assert gamma.breaks == [3] and gamma.end == 100 and not gamma.steps
    with pytest.raises(FrozenInstanceError):
        gamma.end = 3  # type: ignore[misc]


def test_a_schedule_by_steps_is_constant_between_its_breaks() -> None:
    problem = _problem(gamma=Discrete(rates=[0.5, 0.25, 0.25], batch_sizes=[1.0]), horizon=None)
    gamma = exact_gamma(MP, problem, None)
    assert gamma.steps and gamma.breaks == [MP.mpf("0.5")] and gamma.end == 1
    assert [float(gamma.value(MP.mpf(t), None)) for t in (0.1, 0.5, 0.6, 1.0, 1.1)] == [0.5, 0.5, 0.25, 0.25, 0.25]
    assert (
        exact_gamma(MP, _problem(), None).steps
        and not exact_gamma(MP, _problem(gamma=Cosine(peak=0.3, steps=9.0), horizon=None), 0).steps
    )


# Few modes


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
    for digits in (15, 30):
        found = few_modes(_problem(), digits, 0.3)
        for error in (found.signal_error, found.kernel_error):
            # of each piece at most 10^-digits, and of the last one not much less
            assert MP.mpf(10) ** (-digits - 4) < error < 3 * MP.mpf(10) ** -digits
    with pytest.raises(FrozenInstanceError):
        found.kernel_error = 0  # type: ignore[misc]


# The contour


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_the_contour_stands_right_of_the_growth(closure: str) -> None:
    assert _growth(_problem(closure=closure, gamma=0.1), 100.0) == 0
    problem = _problem(model_size=3, gamma=2.5, closure=closure)
    sums = TransferSums(MP, problem, MP.mpf(2.5))
    for latest in (1.0, 1e6):
        growth = MP.mpf(_growth(problem, latest))
        # gamma Khat(p) = 1 at the pole, above it left of the contour; an error of c is worth 0.001 in the exponent
        assert 2.5 * sums.at(MP.mpc(growth))[0].real <= 1
        assert 2.5 * sums.at(MP.mpc(growth - MP.mpf("1.01e-3") / latest))[0].real > 1


def test_the_start_is_the_whole_sum_and_facts_are_counted() -> None:
    assert abs(_at_start(MP, _problem(model_size=3)) - MP.zeta(2)) < MP.mpf(10) ** -38  # 1 + s beta = 2
    given = Problem(spectrum=Spectrum([1.0, 0.5], [0.25, 0.5], tail=0.125), noise=0.0, gamma=0.1, horizon=9.0)
    assert _at_start(MP, given) == MP.mpf("0.875")
    values, errors, facts = solve_laplace(given, [0.0, 1.0, 9.0], 15)
    assert values[0] == MP.mpf("0.875") and 0 < errors[0] <= MP.mpf(10) ** -15
    points = facts["contour points"]
    assert points % 2 == 0 and facts["working digits"] > 15 + 15 and facts["evaluations"] % 2 == 0
    # two contours of 0.59 digits a point, seventeen digits and 1.2 times as many; half of the points by symmetry
    coarse = 2 * math.ceil(17.0 / 0.5898 / 2.0) + 2
    assert coarse <= points / 1.2 + 2 and points <= 1.2 * coarse + 2
    assert facts["evaluations"] == coarse + points


# Arithmetic


@pytest.mark.parametrize("name", ["flint", "mpmath"])
def test_matrices_of_both_libraries(name: str) -> None:
    if name == "flint":
        pytest.importorskip("flint")
    kind = arithmetic(MP, name)
    assert kind.name == name
    with kind.working():
        rows = [[MP.mpf(2), MP.mpf(1)], [MP.mpf(1), MP.mpf(3)]]
        matrix = kind.real(rows)
        solved = kind.solve(matrix, kind.real([[MP.mpf(1)], [MP.mpf(2)]]))
        inverse = kind.inverse(matrix)
        turned = kind.real_part(kind.complex([[MP.mpc(1, 2)]]) * kind.complex([[MP.mpc(3, 4)]]))
        third = kind.number(MP.mpf(1) / 3)
        trimmed = kind.trim(matrix)
        found = [kind.back(x) for x in (solved[0, 0], solved[1, 0], inverse[0, 1], inverse[1, 1], turned[0, 0], third)]
        assert kind.back(trimmed[1, 1]) == 3
    for value, exact in zip(found, (0.2, 0.6, -0.2, 0.4, -5.0, 1.0 / 3.0), strict=True):
        assert abs(float(value) - exact) < 1e-15
    assert abs(found[0] * 5 - 1) < MP.mpf(10) ** -37 and abs(found[5] * 3 - 1) < MP.mpf(10) ** -37
    with pytest.raises(FrozenInstanceError):
        kind.name = "other"  # type: ignore[misc]


def test_without_a_name_the_faster_library_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    pytest.importorskip("flint")
    assert arithmetic(MP).name == "flint"
    monkeypatch.setitem(sys.modules, "flint", None)
    assert arithmetic(MP).name == "mpmath"
    with pytest.raises(ImportError):
        arithmetic(MP, "flint")
