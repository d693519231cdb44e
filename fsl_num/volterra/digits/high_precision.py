r"""Any piecewise smooth gamma to 30, 50 or more digits, for models of any size.

The equation is the linear system y_k' = -2 lambda_k y_k + lambda_k^2 gamma (f + sigma^2), f = delta + sum_k y_k. Panels
grow geometrically from 0 and from every break of gamma, and shrink towards the end where gamma may vanish like a power;
on each, Radau IIA collocation of high order, which is as sharp as it can be only at the panels' ends: every time asked
for is one. The number of stages grows until two solutions agree at all panel ends. Arithmetic is mpmath's, or Arb's
through python-flint where that is installed (the ``rigor`` extra): the same numbers, faster. Up to 100 modes, and those
of a given spectrum, are stepped one by one; larger power laws, infinite ones included, by few modes with a proven bound
of what they leave out (:mod:`fsl_num.volterra.digits.modes`), which is chosen below the digits asked for.

In the closure "gaussian" the rates are 2 lambda_k - gamma lambda_k^2. Where gamma varies over a panel they do not
commute with the Radau matrix, and each mode is a system of its own (:mod:`fsl_num.volterra.digits.second_moments`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fsl_num.compression import ALL_MODES
from fsl_num.exponential_sums_digits import private_context
from fsl_num.schedules import Discrete
from fsl_num.validation import whole_count
from fsl_num.volterra.digits.arithmetic import Arithmetic, arithmetic
from fsl_num.volterra.digits.gamma import ExactGamma, exact_gamma
from fsl_num.volterra.digits.modes import DigitModes, all_modes, few_modes, not_learned
from fsl_num.volterra.digits.second_moments import OwnSystems
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.radau import RadauTable, radau_table

LARGEST = 2000
"""The most modes of a given spectrum."""

MOST_STAGES = 80
_FIRST_STAGES = 57  # two times five quarters of it are within the most

_FIRST = 0.25  # first panel after a break, in units of 1/lambda_1
_RATIO = 1.3  # of the ends of neighbouring panels; with s stages the error falls about like 10^-(1.8 s)
_LATE_RATIO = 1.45  # towards the end only gamma is singular: a fast mode follows it with 1.1 digits a stage,
_LAST_RATIO = 3.0  # and where panels are short for all modes, each stage gives twice the digits
_UNSEEN = 4  # digits below those asked for, of what singular panels may leave out
_GUARD = 15
_MODE_GUARD = 5  # digits by which few modes are better than the solution
_FINER = 3  # and more with each round, so that the difference of two rounds holds what modes leave out


def _panels(mp: Any, gamma: ExactGamma, times: list[Any], fastest: float, least: Any = 0.0) -> list[tuple[Any, Any]]:
    """Return the panel ends as pairs (t, end - t), the smaller of which is exact; every break and wanted t is one.

    ``least``: the length on which gamma at the middle of its last piece injects nothing that would be seen.
    """
    end = gamma.end
    cuts = [mp.mpf(0), *gamma.breaks, end]
    ends = {(t, end - t) for t in (*cuts, *times)}
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        graded = high == end and gamma.depth is not None
        limit = (low + high) / 2 if graded else high
        width = min(mp.mpf(_FIRST) / fastest, (high - low) / (1 if gamma.steps else 4))
        t = low + width
        while t < limit:
            ends.add((t, end - t))
            width *= mp.mpf(_RATIO)
            t = low + width
        if graded:
            left, unseen = (high - low) / 2, least * gamma.value(limit, end - limit)
            # what gamma injects after r is at most r gamma(r): where gamma vanishes, r need not be as small
            while left > gamma.depth and left * gamma.value(end - left, left) > unseen:
                ends.add((end - left, left))
                left /= mp.mpf(_LATE_RATIO if left * fastest > 1 else _LAST_RATIO)
            ends.add((end - left, left))
    middle = end / 2
    return sorted(ends, key=lambda pair: (pair[0] >= middle, pair[0] if pair[0] < middle else -pair[1]))


def _gamma_table(mp: Any, gamma: ExactGamma, ends: list[tuple[Any, Any]], nodes: list[Any]) -> list[tuple[Any, Any]]:
    """Return for every panel its width and gamma at its nodes; at a break, from the panel's own side.

    ``gamma`` is evaluated at the precision of ``mp``, which may be lower than that of the panels and nodes.
    """
    table, breaks = [], set(gamma.breaks)
    for (t, left), (after, left_after) in zip(ends[:-1], ends[1:], strict=True):
        width = after - t if after < gamma.end / 2 else left - left_after
        points = [(t + width * c, left - width * c) for c in nodes[:-1]]
        last = (after * (1 - 2 * mp.eps), left_after + 2 * after * mp.eps) if after in breaks else (after, left_after)
        table.append((width, [gamma.value(mp.mpf(t), mp.mpf(r)) for t, r in (*points, last)]))
    return table


def _march(kind: Arithmetic, system: dict[str, Any], table: list[tuple[Any, Any]], radau: RadauTable) -> list[Any]:
    """Return f = 2E at all panel ends, the start included, as numbers of the arithmetic."""
    number = kind.number
    decays, weights = [number(x) for x in system["rates"]], [number(x) for x in system["weights"]]
    delta, noise = number(system["delta"]), number(system["noise"])
    vectors, inverse = kind.complex(radau.vectors), kind.complex(radau.inverse)
    pairs, stages, size = len(radau.eigenvalues), len(radau.nodes), len(decays)
    alphas = [kind.complex([[x]])[0, 0] for x in radau.eigenvalues]
    ones = [sum((inverse[i, j] for j in range(1, stages)), inverse[i, 0]) for i in range(pairs)]
    last = [vectors[stages - 1, i] for i in range(pairs)]
    squares = [number(x) for x in system["squares"]]
    weight_column = kind.complex([[x] for x in system["weights"]])
    state = [number(x) for x in system["start"]]
    values = [sum(state, delta)]
    own_systems = OwnSystems(kind, system, radau)
    for width, gammas in table:
        h, gamma = number(width), [number(x) for x in gammas]
        rates = decays
        if system["gaussian"]:
            if any(x != gammas[0] for x in gammas):
                state, total = own_systems.step(h, gamma, state)
                values.append(total)
                continue
            rates = [r - gamma[0] * x for r, x in zip(decays, squares, strict=True)]
        turn = [h * alpha for alpha in alphas]
        damp = kind.complex([[1 / (1 + z * r) for r in rates] for z in turn])
        lost = [r * y for r, y in zip(rates, state, strict=True)]
        faded, response = damp * kind.complex([[x] for x in lost]), damp * weight_column
        history = kind.real_part(vectors * kind.complex([[turn[i] * ones[i] * faded[i, 0]] for i in range(pairs)]))
        scaled = kind.complex([[turn[i] * response[i, 0] * inverse[i, j] for j in range(stages)] for i in range(pairs)])
        answer = kind.real_part(vectors * scaled)
        total = sum(state, delta) + noise  # solved for f + sigma^2
        matrix = [[(1 if i == j else 0) - answer[i, j] * gamma[j] for j in range(stages)] for i in range(stages)]
        stage_values = kind.solve(kind.real(matrix), kind.real([[total - history[i, 0]] for i in range(stages)]))
        injected = inverse * kind.complex([[gamma[i] * stage_values[i, 0]] for i in range(stages)])
        factors = [last[i] * turn[i] for i in range(pairs)]
        row = kind.complex(
            [[x * y for x, y in zip(factors, ones, strict=True)], [x * injected[i, 0] for i, x in enumerate(factors)]]
        )
        change = kind.trim(kind.real_part(row * damp))
        state = [state[k] - lost[k] * change[0, k] + weights[k] * change[1, k] for k in range(size)]
        # Arb drops digits that the radii of its balls swamp, and radii grow from panel to panel: only the middles go on
        middles = kind.trim(kind.real([state]))
        state = [middles[0, k] for k in range(size)]
        values.append(sum(state, delta))
    return values


def solve_high_precision(
    problem: Problem, times: list[Any], digits: int
) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return f = 2E at ``times`` (numbers or mpf in [0, horizon]), an absolute error for each, and facts about the run.

    ``digits`` from 15 to 100; any model_size, or a spectrum of at most 2000 modes; both closures. gamma as
    :func:`~fsl_num.volterra.digits.gamma.exact_gamma` takes it: a number, a schedule, or a function of one mpf, smooth
    between the problem's breaks (a schedule of one's own has no digits beyond its floats). The error is the difference
    from the solution with fewer stages (and, where few modes stand for many, with other modes of fewer digits), at
    least 10^-digits relative, and the bound of what few modes leave out, unless the problem is unstable. Where the
    solutions do not come together (gamma is not smooth, or more than 80 stages would be needed) it is ten times the
    difference, and the facts hold the "digits reached".

    Raises ValueError for what it does not support, TypeError where a function gamma cannot take an mpf.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=lambda t: 0.3 / (1 + t), horizon=10.0)
    >>> values, errors, facts = solve_high_precision(problem, [10.0], 20)
    >>> bool(errors[0] < 1e-18 * values[0])
    True
    """
    digits = whole_count("digits", digits, least=15)
    if digits > 100:
        raise ValueError(f"digits must be at most 100 for this method, got {digits!r}")
    if problem.model.spectrum is not None and problem.model.spectrum.size > LARGEST:
        raise ValueError(
            f"this method steps at most {LARGEST} modes of a given spectrum, got {problem.model.size:g};"
            " use 'panels', or 'laplace' where gamma is constant"
        )
    stages = _first_stages(problem, digits)
    previous: list[Any] | None = None
    before, evaluations, rounds = None, 0, 0
    out = private_context(digits)
    while True:
        mp = private_context(digits + _GUARD + stages)  # which products of the table lose
        kind = arithmetic(mp)
        depth = mp.mpf(10) ** -(digits + _UNSEEN) * min(mp.mpf(problem.end), 1 / mp.mpf(problem.model.fastest))
        gamma = exact_gamma(mp, problem, depth)
        exact_times = [_checked(mp, time, problem, gamma) for time in times]
        ends = _panels(mp, gamma, exact_times, problem.model.fastest, depth)
        radau = radau_table(stages, mp.dps)
        # the table's products lose digits before gamma comes in
        rough = private_context(digits + _GUARD)
        table = _gamma_table(rough, replace(gamma, value=exact_gamma(rough, problem, depth).value), ends, radau.nodes)
        peak = 1.01 * float(max(max(gamma.value(*pair) for pair in ends), max(max(row) for _, row in table)))
        modes: DigitModes | None = None
        if problem.model.spectrum is None and problem.model.size > ALL_MODES:
            least = _least(problem, ends, table, [float(t) for t in exact_times])
            spare = max(0, math.ceil(math.log10((1.0 + problem.model.noise) / least)))
            modes = few_modes(problem, digits + spare + _MODE_GUARD + _FINER * rounds, peak)
        system = _system(mp, problem, modes)
        with kind.working():
            solved = [kind.back(x) for x in _march(kind, system, table, radau)]
        evaluations += stages * (len(ends) - 1)
        if previous is not None:
            worst = _running_difference(mp, solved, previous)
            if worst[-1] <= mp.mpf(10) ** -digits or 1.25 * stages > MOST_STAGES:
                break
            # smooth gamma gains at least three digits with each round; where it is not smooth more stages are in vain
            if before is not None and 10 * worst[-1] > before:
                break
            before = worst[-1]
        previous = solved
        stages = math.ceil(1.25 * stages)
        rounds += 1
    if worst[-1] > mp.mpf(10) ** -digits:
        worst = [10 * x for x in worst]  # the differences may not fall fast enough to bound what is left
    if modes is not None:
        missed = _left_out(mp, problem, modes, peak, max(solved))
        worst = [x + missed / value for x, value in zip(worst, solved, strict=True)]
    place = {pair[0]: i for i, pair in enumerate(ends)}
    chosen = [place[t] for t in exact_times]
    values = [out.mpf(solved[i]) for i in chosen]
    errors = [out.mpf(abs(solved[i]) * (worst[i] + mp.mpf(10) ** -digits)) for i in chosen]
    farthest = max(worst[i] for i in chosen) if chosen else worst[-1]
    reached = digits if farthest <= mp.mpf(10) ** -digits else int(-mp.log10(farthest))
    facts = {"panels": len(ends) - 1, "stages": stages, "modes": len(system["rates"]), "evaluations": evaluations}
    return values, errors, {**facts, "arithmetic": kind.name, "digits reached": reached}


def _first_stages(problem: Problem, digits: int) -> int:
    """Return how many stages to begin with: fewer where all panels are short because gamma is constant on each step."""
    most = max(6, min(math.ceil(0.9 * digits), _FIRST_STAGES))  # stiff modes gain about 1.1 digits a stage
    if not isinstance(problem.gamma, Discrete):
        return most
    turn = 2.0 * problem.model.fastest * float(problem.gamma.rates.max())
    stages = 6
    # what a rational approximation of exp of that degree misses: s! (s-1)!/((2s)! (2s-1)!) turn^(2s)
    while stages < most and 2.0 * (
        stages * math.log(turn) + math.lgamma(stages + 1) - math.lgamma(2 * stages + 1)
    ) > -digits * math.log(10.0):
        stages += 1
    return stages


def _least(
    problem: Problem, ends: list[tuple[Any, Any]], table: list[tuple[Any, list[Any]]], times: list[float]
) -> float:
    """Return about a lower bound of f at the times: no feedback, and of each panel the least gamma and kernel."""
    starts = np.array([float(t) for t, _ in ends[:-1]])
    fed = problem.model.noise * np.array([float(width * min(row)) for width, row in table])
    bounds = []
    for t in times:
        seen = starts < t
        # the panel before t may end later than t by a rounding only
        bounds.append(
            float(problem.model.forcing(np.array([t]))[0]) + float(fed[seen] @ problem.model.kernel(t - starts[seen]))
        )
    return max(min(bounds, default=1.0), 1e-300)


def _left_out(mp: Any, problem: Problem, modes: DigitModes, peak: float, largest: Any) -> Any:
    """Return a bound of what few modes do to f up to the end: their errors, fed back; 0 where the problem is unstable.

    The resolvent is positive, with integral at most 1/(1 - q), q the most that an impulse brings back.
    """
    gamma = mp.mpf(peak)
    own = gamma if problem.closure == "gaussian" else mp.mpf(0)
    if max(modes.eigenvalues) * own >= 2:
        return mp.mpf(0)
    back = gamma * mp.fsum(w / (x * (2 - own * x)) for w, x in zip(modes.kernel, modes.eigenvalues, strict=True))
    if back >= 1:
        return mp.mpf(0)
    return (modes.signal_error + gamma * (largest + mp.mpf(problem.model.noise)) * modes.kernel_error) / (1 - back)


def _running_difference(mp: Any, values: list[Any], finer: list[Any]) -> list[Any]:
    """Return the largest relative difference up to each panel end."""
    worst, largest = [], mp.mpf(0)
    for value, better in zip(values, finer, strict=True):
        largest = max(largest, abs(mp.mpf(better) / value - 1))
        worst.append(largest)
    return worst


def _checked(mp: Any, time: Any, problem: Problem, gamma: ExactGamma) -> Any:
    """Return the time at the precision of ``mp``; the float of the horizon stands for the exact end."""
    t = mp.convert(time)
    if not (mp.isfinite(t) and 0 <= t <= gamma.end * (1 + mp.mpf(10) ** -12)):
        raise ValueError(f"times must lie in [0, horizon={problem.end!r}], got {time!r}")
    return gamma.end if t >= gamma.end or float(t) == problem.end else t


def _system(mp: Any, problem: Problem, modes: DigitModes | None) -> dict[str, Any]:
    """Return rates 2 lambda, squares lambda^2, kernel weights and start values of the modes, delta and sigma^2."""
    if modes is None:
        eigen, start = all_modes(mp, problem)
        squares = weights = [x**2 for x in eigen]
    else:
        eigen, weights, start = ([mp.mpf(x) for x in row] for row in (modes.eigenvalues, modes.kernel, modes.signals))
        squares = [x**2 for x in eigen]
    system = {"rates": [2 * x for x in eigen], "squares": squares, "weights": weights, "start": start}
    system |= {"delta": not_learned(mp, problem), "noise": problem.number("noise", mp)}
    return {**system, "gaussian": problem.closure == "gaussian"}
