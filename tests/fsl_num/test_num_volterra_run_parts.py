"""Runs of steps and stretches part by part: claims, layouts, cuts, panels, columns, records, and rough errors."""

import math
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pkgutil import walk_packages

import mpmath
import numpy as np
import pytest
from numpy.polynomial import Polynomial

import fsl_num.schedules
import fsl_num.volterra
from fsl_num.schedules import Discrete, schedule
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.panels import collocation_points, halved, panel_ends, radau_rule, solve_panels
from fsl_num.volterra.reference import solve_reference, trapezoid
from fsl_num.volterra.secular import secular_zeros
from fsl_num.volterra.steps import discrete, smooth_columns
from fsl_num.volterra.steps.column_march import _solve_block
from fsl_num.volterra.steps.discrete import cut_steps, losses_of_steps, rounding_floor, stretch_growth
from fsl_num.volterra.steps.many import _batches, _records, losses_of_schedules
from fsl_num.volterra.steps.mixed_march import Gap, halves, layout, stretch_error
from fsl_num.volterra.steps.smooth_steps import DEGREE, Scales, Stretch
from fsl_num.volterra.steps.stretches import panel_places


def stretch(low=0, high=64, **given):
    flat = np.zeros(DEGREE + 1)
    return replace(Stretch(low, high, 1.0, flat, flat, 0.0, 0.0, 0.0, 1.0, 0.01, 0.0, 0.0, None), **given)


# What a stretch may add


def test_a_gamma_that_is_missed_is_claimed_about_as_it_counts_where_noise_prevails():
    # one mode at rest, x = w gamma (x + sigma^2)/r: gamma (1 + m) makes x larger by m/(1 - w gamma/r)
    missed, weight, rate, gamma, noise = 1e-6, 1.0, 2.0, 0.8, 1e3

    def rest(strength):
        share = weight * strength / rate
        return share * noise / (1.0 - share)

    exact = rest(gamma * (1.0 + missed)) / rest(gamma) - 1.0
    scales = Scales(weight, rate, 1.0, 1.0 / (1.0 - weight * gamma / rate))
    claim = stretch_error(scales, stretch(misfit=missed), np.array([rest(gamma)]), noise, 1.0)
    assert exact < claim < 2.0 * exact


def test_an_error_grows_while_the_loss_falls():
    scales = Scales(1.5, 2.0, 0.5, 3.0)
    of = stretch(misfit=1e-6, joint=1e-5, slope=0.3, longest=0.02, bend=0.1, change=1e-3, uneven=1e-4)
    f = np.array([[0.5, 0.2], [0.4, 0.3]])
    stairs = scales.staircase(of)

    def claim(joint=1e-5, misfit=1e-6, noise=0.6, start=7.0):
        return stretch_error(scales, replace(of, joint=joint, misfit=misfit), f, noise, start)

    # u falls from 7.6 to 0.8; what a staircase does to u counts for f by u/f
    grows = 3.0 * (1.0 + math.log(7.6 / 0.8))
    assert claim(joint=0.0, misfit=0.0) == pytest.approx(grows * stairs * (1.0 + 0.6 / 0.2), rel=1e-9, abs=0.0)
    assert claim() - claim(joint=0.0) == pytest.approx(grows * 1e-5, rel=1e-9, abs=0.0)
    assert claim() - claim(misfit=0.0) == pytest.approx(grows * 1.5e-6, rel=1e-9, abs=0.0)
    # a loss that rises lets no error shrink
    assert claim(start=0.1) == claim(start=0.2) == pytest.approx(claim() * 3.0 / grows, rel=1e-9, abs=0.0)
    with_columns = replace(of, misfit=np.array([1e-6]), joint=np.array([1e-5]))
    panels = smooth_columns._Panels(f.reshape(2, 2, 1) - 0.05, None)
    system = LinearModes(np.ones(1), np.ones(1), np.ones(1), 0.05, 0.6, 0.0)
    (found,) = smooth_columns._claims(system, scales, [Gap(0, 3), [with_columns]], [None, [panels]], 7.0)
    assert found == pytest.approx([claim()], rel=1e-9, abs=0.0)


def test_steps_are_laid_out_in_gaps_and_runs():
    one, two, three = stretch(3, 8), stretch(8, 20), stretch(25, 30)
    found = layout([one, two, three], 40)
    assert found == [Gap(0, 3), [one, two], Gap(20, 25), [three], Gap(30, 40)]
    assert layout([stretch(0, 5)], 5)[0][0].high == 5 and len(layout([stretch(0, 5)], 5)) == 1


def test_halves_of_a_panel():
    of = Polynomial(np.random.default_rng(1).uniform(-1.0, 1.0, 7))
    both = of(panel_places(1)[0]) @ halves()
    assert both.reshape(2, 7) == pytest.approx(of(panel_places(2)), abs=1e-13)  # degree 6, condition 1e2


@pytest.mark.parametrize("accuracy", [1e-4, 1e-8, 1e-12])
def test_stretches_grow_so_that_polynomials_hold_the_loss(accuracy):
    growth = stretch_growth(accuracy)
    # from 1 to 1 + g: the break, 0, lies on the ellipse of the half axes' sum rho
    x = 1.0 + 2.0 / growth
    rho = x + math.sqrt(x * x - 1.0)
    assert 15.0 * rho**-7 == pytest.approx(accuracy, rel=1e-9, abs=0.0)


def test_the_rounding_of_many_steps():
    # measured for a million smooth steps: 1.4e-12, of which at least that and at most four times is claimed
    assert 1.4e-12 < rounding_floor(10**6) < 5.6e-12
    # and 1e-15 for 60,000 of others
    assert 1e-15 < rounding_floor(60_000) < 5e-13
    assert rounding_floor(10**6) - rounding_floor(0) == pytest.approx(4e-14 + 3e-12, rel=1e-9, abs=0.0)


# Cuts


def test_steps_are_cut_at_times_and_divided():
    rates = np.array([0.3, 0.0, 0.5, 2.5, 0.2])
    plan = Discrete(rates=rates, batch_sizes=np.array([3.0, 1.0, 2.0, 5.0, 0.5]))
    t = np.array([0.0, 0.1, 0.2, 0.3, 0.55, 0.8, 2.0, 3.3 - 1e-16, 3.4, 3.5])
    found = cut_steps(plan, 2.0, t)
    ends = np.concatenate([[0.0], np.cumsum(found.lengths)])
    assert ends[found.wanted + 1] == pytest.approx(t, abs=1e-14)  # sums of some ten numbers of 3.5
    assert ends[found.steps + 1] == pytest.approx(np.cumsum(rates), abs=1e-14)
    assert found.lengths.max() <= 0.5 * (1.0 + 1e-12) and (found.lengths >= 0.0).all()
    gammas = plan.gamma(np.clip(0.5 * (ends[1:] + ends[:-1]), 1e-9, 3.5))
    moving = found.lengths > 0.0
    assert found.gammas[moving] == pytest.approx(gammas[moving], rel=1e-9, abs=0.0)
    # no more pieces than that takes: 0.3 in three, 0.5 in two, 2.5 in 1.2 and 1.3 of three each, 0.2 in two, and 0.0
    assert found.lengths.size == 3 + 1 + 2 + 3 + 3 + 2
    assert found.wanted[0] == -1
    # a time is one of an end of a step, but for the rounding of its place
    near = 8.0 * np.spacing(3.5)
    assert found.blur.tolist() == [0.0] + [near] * 9


def test_a_bound_of_the_slope_at_the_ends_of_pieces():
    values, lengths = np.array([4.0, 3.0, 2.5, 2.5, 1.0]), np.array([0.5, 1.0, 0.0, 0.25])
    # mean slopes 2, 1/2, none and 6: twice the larger of the two beside an end
    assert discrete._slopes(values, lengths).tolist() == [4.0, 4.0, 1.0, 12.0, 12.0]


@pytest.mark.parametrize("rtol", [9e-14, 1.0, math.nan])
def test_tolerances_of_steps_out_of_range(rtol):
    plan = Problem(s=0.5, beta=2.0, model_size=3, noise=1.0, gamma=Discrete(rates=[0.1] * 5))
    with pytest.raises(ValueError, match="rtol"):
        losses_of_steps(plan, rtol)
    with pytest.raises(ValueError, match="rtol"):
        losses_of_schedules(plan, [0.1] * 5, rtol=rtol)


# Panels


VARYING = Problem(spectrum=Spectrum([2.0, 0.1], [1.0, 1.0]), noise=1.0, gamma=np.cos, horizon=1.5, breaks=(0.4,))

VARYING_ENOUGH = replace(VARYING, breaks=())


def test_panels_grow_from_breaks_and_shrink_towards_the_end():
    wanted = np.array([0.123, 0.77, 1.4999])
    times, remaining = panel_ends(VARYING, wanted, 1.35)
    assert times[0] == 0.0 and times[-1] == 1.5 and remaining[-1] == 0.0 and remaining[0] == 1.5
    assert times + remaining == pytest.approx(np.full(times.size, 1.5), rel=1e-15, abs=0.0)
    assert set(wanted.tolist()) <= set(np.round(times, 15).tolist())
    assert 0.4 in times
    widths = np.where(times[1:] < 0.75, np.diff(times), -np.diff(remaining))
    assert (widths > 0.0).all()
    # from a break: a quarter of the fastest mode's time 1/2 at first, then by the ratio
    for place in (0.0, 0.4):
        ends = times[(times > place) & (times <= place + 0.3)] - place
        assert 0.05 < ends[0] <= 0.125 * (1.0 + 1e-12)
    # no panel is longer than a quarter of its segment
    assert widths.max() <= 0.25 * 1.1 * (1.0 + 1e-12)
    # towards the end by the ratio, down to 1e-12 of the fastest mode's time
    late = remaining[(remaining > 0.0) & (remaining < 0.5 * 1.1)]
    assert (late[:-1] / late[1:]).max() <= 1.35 * (1.0 + 1e-9)
    assert 0.5e-12 / 1.4 <= late[-1] <= 0.5e-12 * (1.0 + 1e-9)
    flat, _ = panel_ends(replace(VARYING, gamma=0.3, breaks=()), wanted, 1.35)
    assert np.diff(flat).min() > 1e-5  # a constant does not vanish at the end
    assert np.isin(0.125 * 1.35 ** np.arange(6), flat).any()


def geometric(first, ratio, below):
    return [each for each in (first * ratio**k for k in range(200)) if each < below]


def test_every_end_of_a_panel_has_its_reason():
    for breaks, flat in (((0.4,), False), ((), False), ((), True)):
        problem = replace(VARYING, breaks=breaks, gamma=0.3 if flat else np.cos)
        times, _ = panel_ends(problem, np.array([0.123, 0.75, 0.77]), 1.35)
        ends = [0.0, 0.123, 0.75, 0.77, 1.5]
        for low, high in ((0.0, 0.4), (0.4, 1.5)) if breaks else ((0.0, 1.5),):
            width = high - low
            # a quarter of the fastest mode's time 1/2, and three that divide the segment in four
            grown = [*geometric(0.125, 1.35, width), 0.0, 0.25 * width, 0.5 * width, 0.75 * width]
            shrunk = []
            if high == 1.5 and not flat:
                grown = [each for each in grown if each <= 0.5 * width]
                shrunk = [each for each in (0.5 * width * 1.35**-k for k in range(200)) if each >= 0.5e-12 / 1.35]
            ends += [low + each for each in grown] + [high - each for each in shrunk]
        # some ends are the same but for rounding
        exact = np.unique(np.array(ends))
        assert np.abs(exact[:, None] - times).min(axis=1).max() < 1e-15
        assert np.abs(times[:, None] - exact).min(axis=1).max() < 1e-15


def test_a_short_segment_has_four_panels_and_a_short_step_one():
    short = replace(VARYING, breaks=(0.4, 0.5))
    times, _ = panel_ends(short, np.empty(0), 1.35)
    assert times[(times > 0.4 - 1e-9) & (times < 0.5 + 1e-9)] == pytest.approx([0.4, 0.425, 0.45, 0.475, 0.5])
    steps = Problem(spectrum=Spectrum([2.0], [1.0]), noise=1.0, gamma=Discrete(rates=[0.1] * 15))
    times, _ = panel_ends(steps, np.empty(0), 1.35)
    assert times[times < 1.4 + 1e-9] == pytest.approx(0.1 * np.arange(15))


def test_all_evaluations_are_counted():
    _, _, facts = solve_panels(VARYING_ENOUGH, np.array([0.7]), 1e-10)
    # on so many panels, half as many, and so on: at six points each
    levels = [facts["panels"] // 2**k for k in range(4)]
    assert facts["evaluations"] in [6 * sum(levels[:k]) for k in (2, 3, 4)] and facts["modes"] == 2


def test_panels_are_halved():
    times, remaining = panel_ends(VARYING, np.array([0.7]), 1.35)
    fine, rest = halved(VARYING, times, remaining)
    assert fine[::2].tolist() == times.tolist() and rest[::2].tolist() == remaining.tolist()
    early = times[1:] < 0.75
    assert fine[1::2][early].tolist() == (0.5 * (times[1:] + times[:-1]))[early].tolist()
    # near the end what is left is exact, however short the panel
    assert rest[1::2][~early].tolist() == (0.5 * (remaining[1:] + remaining[:-1]))[~early].tolist()
    assert fine + rest == pytest.approx(np.full(fine.size, 1.5), rel=1e-15, abs=0.0)


def test_points_of_panels_take_gamma_from_within():
    problem = replace(VARYING, gamma=lambda t: np.where(t < 0.4, 1.0, 0.25) + 0.0 * t)
    times, remaining = panel_ends(problem, np.array([0.7]), 1.35)
    widths, t, gamma = collocation_points(problem, times, remaining)
    assert widths == pytest.approx(np.diff(times), abs=1e-15)
    assert t == pytest.approx(times[:-1, None] + widths[:, None] * radau_rule().nodes, abs=1e-15)
    at = int(np.searchsorted(times, 0.4))
    assert (gamma[:at] == 1.0).all() and (gamma[at:] == 0.25).all()
    plan = schedule("linear", peak=0.4, steps=10.0)
    short = Problem(s=0.5, beta=2.0, model_size=3, noise=1.0, gamma=plan, horizon=1.2)
    times, remaining = panel_ends(short, np.array([0.7]), 1.35)
    _, t, gamma = collocation_points(short, times, remaining)
    # by time t the rate has fallen from 0.4 like sqrt(0.16 - 0.08 t): the area of a trapezoid
    assert gamma == pytest.approx(np.sqrt(0.16 - 0.08 * t), rel=1e-12, abs=0.0)


# Columns


def test_systems_side_by_side_are_eliminated():
    rng = np.random.default_rng(2)
    response, gamma, known = 0.1 * rng.uniform(0.0, 1.0, (6, 6)), rng.uniform(0.0, 1.0, (6, 5)), rng.normal(size=(6, 5))
    found = smooth_columns._eliminated(response, gamma, known)
    for i in range(5):
        exact = np.linalg.solve(np.eye(6) - response * gamma[:, i], known[:, i])
        assert found[:, i] == pytest.approx(exact, rel=1e-13, abs=1e-14)  # row sums below 0.6: well conditioned


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_blocks_of_many_schedules_are_solved(size):
    rng = np.random.default_rng(size)
    steps, columns = 64 // size, 3
    points = steps * size
    kernel, coupling = rng.uniform(0.0, 1.0 / points, (points, points)), rng.uniform(0.5, 3.0, (size, size))
    history, gammas = rng.uniform(1.0, 2.0, (points, columns)), rng.uniform(0.2, 2.0, (steps, columns))
    kernel *= np.where(np.kron(np.eye(steps), np.ones((size, size))) > 0.0, 6.0 / size, 1.0)  # own steps count
    blocks = np.arange(points) // size
    earlier = np.where(blocks[:, None] > blocks, kernel, 0.0)
    own = np.where(blocks[:, None] == blocks, kernel * np.tile(coupling, (steps, steps)), 0.0)
    of_points = np.repeat(gammas, size, axis=0)
    exact = [np.linalg.solve(np.eye(points) - (earlier + own) * of_points[:, i], history[:, i]) for i in range(columns)]
    found, driven = _solve_block(history.copy(), kernel, gammas, coupling)
    # the condition of these matrices is below 100
    assert found == pytest.approx(np.array(exact).T, rel=1e-13)
    assert driven == pytest.approx(found * of_points, rel=1e-15)


@pytest.mark.parametrize("chunk", [1, 20, 16384])
def test_what_polynomials_miss_is_found_in_parts(monkeypatch, chunk):
    monkeypatch.setattr(smooth_columns, "_CHUNK", chunk)
    rng = np.random.default_rng(3)
    coefficients, x, values = rng.normal(size=(8, 5)), np.linspace(-1.0, 1.0, 9), rng.normal(size=(5, 9))
    exact = [np.abs(Polynomial(coefficients[:, i])(x) - values[i]).max() for i in range(5)]
    assert smooth_columns._missed(coefficients, x, values) == pytest.approx(exact, rel=1e-9, abs=0.0)


def test_pieces_of_a_gap_where_the_loss_is_seen():
    first = np.cumsum([0, 1, 2, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1])  # of the steps
    records = np.array([0, 1, 2, 3, 7, 12])
    asked = smooth_columns._Steps.of(Gap(2, 12), records, first)
    assert (asked.low, asked.high) == (2, 12) and asked.pieces == slice(int(first[2]), int(first[12]))
    # the ends of steps 3, 7 and 12, and of nine places on the way
    ends = [int(first[step] - 1 - first[2]) for step in (3, 7, 12)]
    assert asked.here.tolist() == [3, 4, 5] and asked.seen[asked.rows].tolist() == ends
    assert (np.diff(asked.seen) > 0).all() and 9 <= asked.seen.size <= 10
    assert asked.seen[0] == 0 and asked.seen[-1] == first[12] - 1 - first[2]


# Records of many schedules


def test_after_how_many_steps_is_recorded():
    assert _records(None, 7).tolist() == [7] and _records(0, 7).tolist() == [0]
    assert _records([0, 3, 7], 7).tolist() == [0, 3, 7]
    for wrong in ([3, 3], [4, 2], [-1, 2], [2, 8], [], [1.0, 2.0], [[1, 2]]):
        with pytest.raises(ValueError, match=r"rising whole numbers in \[0, 7\]"):
            _records(wrong, 7)


def test_batch_sizes_are_looked_at_once():
    given = np.array([[1.0, -1.0]])
    assert _batches(given) is given  # later, with all the others
    for wrong in ([[-1.0], [1.0]], -1.0, [[1, -1]], np.array([1.0, -1.0])):
        with pytest.raises(ValueError, match="batch_sizes must be finite and positive"):
            _batches(wrong)


def test_messages_of_many_schedules():
    model = Problem(s=0.5, beta=2.0, model_size=3, noise=1.0, gamma=0.0, horizon=1.0)
    few = losses_of_schedules(model, [0.1] * 5, [[1.0], [2.0]], at=[0, 5])
    assert few.message == "steps of shared lengths, 2 schedules as columns, 3 modes"
    own = losses_of_schedules(model, [[0.1] * 5, [0.2] * 5])
    assert own.message == "steps of their own lengths, one schedule after the other"
    same = losses_of_schedules(model, [[0.1] * 5, [0.1] * 5], [[1.0], [2.0]], at=[0, 5])
    assert same.values.tolist() == few.values.tolist() and few.at.tolist() == [0, 5]
    start = model.approximation + 1.0 + 0.25 + 1.0 / 9.0  # s = 1/2, beta = 2: the signal of a mode is j^-2
    assert few.values[:, 0] == pytest.approx([start, start], rel=1e-9, abs=0.0)
    smooth = losses_of_schedules(model, [0.1] * 900, [[1.0], [2.0]])
    assert smooth.message == "steps of shared lengths, 2 schedules as columns, 3 modes, 2 on stretches of many steps"


# Rough errors and zeros


def test_the_rough_error_beside_a_jump_is_that_of_the_grids():
    problem = Problem(
        s=0.5,
        beta=2.0,
        model_size=3,
        noise=1.0,
        gamma=lambda t: np.where(t < 1.0, 0.8, 0.1),
        horizon=math.pi,
        breaks=(1.0,),
    )
    steps = 64
    grid = np.linspace(0.0, math.pi, steps + 1)
    values, error, facts = solve_reference(problem, grid, steps)
    levels = [trapezoid(problem, level * steps)[::level] for level in (1, 2, 4)]
    assert values == pytest.approx(levels[2], rel=1e-12, abs=0.0)
    for a, b in ((0, 1), (1, 2)):
        apart = np.maximum.accumulate(np.abs(levels[a] - levels[b]))
        assert (error >= apart * (1.0 - 1e-9)).all()
    assert facts == {"steps": 256, "evaluations": 64 + 128 + 256 + 3}
    # without a jump two extrapolations are compared, of the fourth order
    smooth = replace(problem, gamma=0.3, breaks=())
    coarse, fine = (solve_reference(smooth, grid[[16]], size)[1][0] for size in (64, 128))
    assert coarse / fine == pytest.approx(16.0, rel=0.3, abs=0.0)


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 1.2])
def test_zeros_of_the_secular_equation_in_thirty_digits(gamma):
    rates = np.array([0.01, 0.0101, 0.4, 2.0])
    weights = np.array([0.5, 1e-3, 0.2, 1.0])
    found, error = secular_zeros(rates, weights, gamma)
    mp = mpmath.mp.clone()
    mp.dps = 30
    r, w = ([mp.mpf(each) for each in of.tolist()] for of in (rates, weights))
    for k in range(4):
        x, wrong = mp.mpf(float(found[k])), mp.mpf(float(error[k]))
        # 1 - gamma sum_j w_j/(p + r_j) changes its sign within the error: there is the zero
        low, high = (
            1 - mp.mpf(gamma) * mp.fsum(a / (place - r[k] + b) for a, b in zip(w, r, strict=True))
            for place in (x - wrong, x + wrong)
        )
        assert low < 0 < high
        assert error[k] <= 1e-13 * found[k]


# Values


def test_results_cannot_be_changed_and_those_with_arrays_are_compared_by_identity():
    compared = {"Found", "NeumannSeries", "Radau", "Problem", "Solution", "_Tables"}  # by all of their fields
    packages = (fsl_num.volterra, fsl_num.schedules)
    found = [each for top in packages for each in walk_packages(top.__path__, f"{top.__name__}.")]
    homes = [each.name for each in found if not each.ispkg]
    for home in (*homes, "fsl_num.functional", "fsl_num.evolution", "fsl_num.growth"):
        for name, each in vars(import_module(home)).items():
            if isinstance(each, type) and is_dataclass(each) and each.__module__ == home:
                assert each.__dataclass_params__.frozen, name
                arrays = any("Array" in str(field.type) for field in fields(each))
                assert not arrays or name in compared or each.__eq__ is object.__eq__, name
