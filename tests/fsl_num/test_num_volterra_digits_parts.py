"""The parts of the solvers at many digits: panels, times, stages, bounds, gamma, the contour and arithmetic."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from models import loss_of, problem_of, with_model

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.schedules import Cosine, Discrete, schedule
from fsl_num.volterra import Problem, Spectrum
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
    solve_high_precision,
)
from fsl_num.volterra.digits.laplace import _at_start, _growth, solve_laplace
from fsl_num.volterra.digits.laplace_sums import TransferSums
from fsl_num.volterra.digits.modes import DigitModes

MP = private_context(40)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {
        "s": 0.5,
        "beta": 2.0,
        "size": math.inf,
        "noise": 1.0,
        "gamma": 0.3,
        "horizon": 100.0,
    }
    return problem_of(**(values | changes))


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


def test_panels_shrink_from_the_middle_of_the_last_piece() -> None:
    depth = MP.mpf(10) ** -6
    ends = _panels(MP, _smooth(100.0, depth, breaks=(60.0,)), [], 4.0)
    left = [float(x) for t, x in ends if t > 60 and x > 0]
    # the panels that grow from the break end at 80, where those that shrink towards the end begin
    assert any(x == pytest.approx(20.0) for x in left) and max(left) < 40.0
    late = [x for x in left if x <= 20.0000001]
    for a, b in zip(late[:-1], late[1:], strict=True):
        assert a / b == pytest.approx(1.45 if a * 4.0 > 1.0 else 3.0, rel=1e-9)
    # gamma at 80 is 20: unseen is what r^2 = 1e-3 20 would inject
    early = [
        x
        for x in (r for _, r in _panels(MP, _smooth(100.0, depth, breaks=(60.0,)), [], 4.0, least=MP.mpf("1e-3")))
        if x > 0
    ]
    assert early[-1] ** 2 <= 0.02 < early[-2] ** 2


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
    ends = _panels(MP, gamma, [], problem.model.fastest)
    table = _gamma_table(MP, gamma, ends, [MP.mpf("0.3"), MP.mpf(1)])
    peak = _peak(gamma, ends, table)
    assert 0.5 < peak < 0.52
    found = loss_of(problem, [0.4 * problem.end, problem.end])
    least = _least(problem, ends, table, [0.4 * problem.end, problem.end])
    # what noise adds again through the loss is left out, and of each panel the least gamma and kernel are taken
    assert 0.2 * found.values.min() < least < found.values.min()
    noisy = with_model(problem, noise=1e3)
    assert 0.2 * loss_of(noisy, problem.end).values[0] < _least(noisy, ends, table, [problem.end])
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


def test_schedules_end_at_their_final_rate() -> None:
    for name in ("cosine", "linear", "exp-decay"):
        plan = schedule(name, peak=0.5, steps=40.0, final=0.125, batch_size=2.0)
        gamma = exact_gamma(MP, _problem(gamma=plan, horizon=None), MP.mpf(0))
        assert abs(gamma.value(gamma.end, MP.mpf(0)) - MP.mpf(1) / 16) < MP.mpf(10) ** -38


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


# The contour


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_the_contour_stands_right_of_the_growth(closure: str) -> None:
    assert _growth(_problem(closure=closure, gamma=0.1), 100.0) == 0
    problem = _problem(size=3, gamma=2.5, closure=closure)
    sums = TransferSums(MP, problem, MP.mpf(2.5))
    for latest in (1.0, 1e6):
        growth = MP.mpf(_growth(problem, latest))
        # gamma Khat(p) = 1 at the pole, above it left of the contour; an error of c is worth 0.001 in the exponent
        assert 2.5 * sums.at(MP.mpc(growth))[0].real <= 1
        assert 2.5 * sums.at(MP.mpc(growth - MP.mpf("1.01e-3") / latest))[0].real > 1


def test_the_start_is_the_whole_sum_and_facts_are_counted() -> None:
    assert abs(_at_start(MP, _problem(size=3)) - MP.zeta(2)) < MP.mpf(10) ** -38  # 1 + s beta = 2
    given = Problem(Model(noise=0.0, spectrum=Spectrum([1.0, 0.5], [0.25, 0.5], tail=0.125)), gamma=0.1, horizon=9.0)
    assert _at_start(MP, given) == MP.mpf("0.875")
    values, errors, facts = solve_laplace(given, [0.0, 1.0, 9.0], 15)
    assert values[0] == MP.mpf("0.875") and 0 < errors[0] <= MP.mpf(10) ** -15
    points = facts["contour points"]
    assert points % 2 == 0 and facts["working digits"] > 15 + 15 and facts["evaluations"] % 2 == 0
    # two contours of 0.59 digits a point, seventeen digits and 1.2 times as many; half of the points by symmetry
    coarse = 2 * math.ceil(17.0 / 0.5898 / 2.0) + 2
    assert coarse <= points / 1.2 + 2 and points <= 1.2 * coarse + 2
    assert facts["evaluations"] == coarse + points


def test_digits_are_asked_for_in_their_range() -> None:
    assert solve_laplace(_problem(size=1), [1.0], 10)[0][0] > 0
    with pytest.raises(ValueError, match="digits"):
        solve_laplace(_problem(size=1), [1.0], 9)
    for digits in (14, 101):
        with pytest.raises(ValueError, match="digits"):
            solve_high_precision(_problem(size=1), [1.0], digits)
    # the start has an error of its own, wherever it stands
    values, errors, _ = solve_laplace(_problem(size=2), [1.0, 0.0], 15)
    assert float(errors[1]) == pytest.approx(float(values[1]) * 1e-15, rel=1e-12) and values[1] > values[0]


def test_evaluations_are_counted() -> None:
    problem = _problem(size=1, horizon=2.0, gamma=lambda t: 0.3 / (1 + t))
    _, _, facts = solve_high_precision(problem, [2.0], 15)
    # fourteen stages, and then a quarter more
    assert facts["stages"] == 18 and facts["evaluations"] == (14 + 18) * facts["panels"] and facts["modes"] == 1


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
