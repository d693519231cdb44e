"""Solutions of the Volterra equation that owe nothing to the package's solvers: other libraries, other formulations.

Each takes a case of the grid and returns the loss at its times (floats or mpf), or None where it does not apply.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

import mpmath
import numpy as np
from volterra_exponential import exact_losses
from volterra_grid import Case, Jumps

from fsl_num.schedules import Discrete, ExponentialDecay, Schedule, StableDecay
from fsl_num.spectrum import approximation_error, forgetting_kernel
from fsl_num.volterra import Problem

# The largest model and the longest horizon that an ODE library is given: an explicit rule cannot take long steps, and
# an implicit one of order five takes many.
_REACH = {"DOP853": (64, 600.0), "Radau": (2, 2.0**20), "LSODA": (64, 2.0**20)}
_SHARP = 1e-13  # relative tolerance asked of the ODE libraries
_MOST_PIECES = 60


def relative(x: Any, y: Any) -> float:
    """|x/y - 1| of floats or of mpf, without a rounding to floats before the difference."""
    mp = _context()
    return float(abs(mp.convert(x) / mp.convert(y) - 1))


@cache
def _context() -> Any:
    mp = mpmath.mp.clone()
    mp.dps = 120
    return mp


def modes(problem: Problem) -> tuple[Any, Any]:
    """Return eigenvalues and signals of a finite power-law model, one by one."""
    index = np.arange(1.0, problem.model.size + 1.0)
    return index**-problem.model.beta, index ** -(1.0 + problem.model.s * problem.model.beta)


def _constant_pieces(problem: Problem) -> list[tuple[float, float]] | None:
    """Return (length, gamma) of every piece of a piecewise constant gamma, else None."""
    if isinstance(problem.gamma, float):
        return [(problem.end, problem.gamma)]
    if isinstance(problem.gamma, Discrete):
        pairs = zip(problem.gamma.rates.tolist(), problem.gamma.gammas.tolist(), strict=True)
        return [pair for pair in pairs if pair[0] > 0.0]
    return None


def ode_library(case: Case, name: str, rtol: float = _SHARP) -> Any:
    """x' = phi (-2 Lambda x + lambda^2 gamma (delta + sum x + sigma^2)) by scipy, started afresh at every break.

    For a schedule the variable is physical time, phi the learning rate: gamma then needs no inverse of the intrinsic
    time, and is smooth at the end. Otherwise it is intrinsic time, and phi = 1.
    """
    from scipy.integrate import solve_ivp

    problem, plan = case.problem, case.problem.gamma
    most, longest = _REACH[name]
    pieces = _constant_pieces(problem)
    if (
        problem.model.size > most
        or problem.end > longest
        or len(pieces or ()) > (_MOST_PIECES if name == "LSODA" else 1)
    ):
        return None
    eigenvalues, state = modes(problem)
    constant = problem.model.approximation_error + problem.model.noise
    breaks, times = np.array(problem.breaks), np.array(case.times)
    physical = pieces is None and isinstance(plan, Schedule)
    if physical:
        breaks, times = np.array(plan.physical_breaks), plan.physical_time(times)
    cuts = [0.0, *sorted({*breaks.tolist(), *times.tolist()})]

    def speed_and_gamma(x: float, high: float, known: float | None) -> tuple[float, float]:
        if known is not None:
            return 1.0, known
        if not physical:
            return 1.0, float(plan(min(x, np.nextafter(high, 0.0))))  # at a break, gamma from the piece's own side
        rate = plan.learning_rate(min(max(x, 0.0), plan.steps))
        return rate, rate / plan.batch_size

    def slope(x: float, y: Any, high: float, known: float | None) -> Any:
        speed, gamma = speed_and_gamma(x, high, known)
        return speed * (-2.0 * eigenvalues * y + eigenvalues**2 * (gamma * (y.sum() + constant)))

    def jacobian(x: float, y: Any, high: float, known: float | None) -> Any:
        speed, gamma = speed_and_gamma(x, high, known)
        return speed * (np.diag(-2.0 * eigenvalues) + gamma * (eigenvalues**2)[:, None])

    options = {} if name == "DOP853" else {"jac": jacobian}
    found = {}
    # every time asked for is the end of a run: the dense output of a library is less accurate than its steps
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        known = None if pieces is None else pieces[int(np.searchsorted(breaks, high))][1]
        # atol: the modes are compared relative to their sum, which never falls below 1e-30 on the grid
        run = solve_ivp(slope, (low, high), state, name, (high,), args=(high, known), rtol=rtol, atol=1e-30, **options)
        if not run.success:
            return None
        state = run.y[:, -1]
        found[high] = problem.model.approximation_error + state.sum()
    return [found[x] for x in times.tolist()]


def matrix_exponentials(case: Case, digits: int) -> Any:
    """Few modes and a gamma of few constant pieces: a product of matrix exponentials, at ``digits`` digits."""
    pieces = _constant_pieces(case.problem)
    if pieces is None or case.problem.model.size > 7 or len(pieces) > _MOST_PIECES:
        return None
    return exact_losses(case.problem, case.times, digits)


def one_mode(case: Case, digits: int) -> Any:
    """M = 1 by variation of constants, where the integral of gamma is known: one quadrature at ``digits`` digits."""
    problem, plan = case.problem, case.problem.gamma
    if problem.model.size != 1:
        return None
    mp = mpmath.mp.clone()
    mp.dps = digits + 15
    end = mp.mpf(problem.end)
    if isinstance(plan, Jumps):
        peak, (first, second) = mp.mpf(plan.peak), (mp.mpf(x) for x in plan.ends)
        cuts = [first, second]

        def passed(t: Any) -> Any:
            total = peak * min(t, first)
            if t > first:
                total += peak * end / 8 * mp.log((1 + 8 * min(t, second) / end) / (1 + 8 * first / end))
            return total + (peak * (t**3 - second**3) / end**2 / 4 if t > second else 0)

        gamma = plan
    elif isinstance(plan, (ExponentialDecay, StableDecay)):
        peak, final, steps = (mp.mpf(x) for x in (plan.peak, plan.final, plan.steps))
        share = mp.mpf(plan.decay_fraction) if isinstance(plan, StableDecay) else mp.mpf(1)
        zeta = mp.log(peak / final) / (steps * share)
        flat = peak * steps * (1 - share)
        end = flat + (peak - final) / zeta
        cuts = [flat] if flat > 0 else []

        def gamma(t: Any) -> Any:
            return (peak - zeta * max(t - flat, 0)) / plan.batch_size

        def passed(t: Any) -> Any:
            return (peak * t - zeta * max(t - flat, 0) ** 2 / 2) / plan.batch_size
    elif isinstance(plan, float):
        cuts = []

        def gamma(t: Any) -> Any:
            return plan

        def passed(t: Any) -> Any:
            return plan * t
    else:
        return None
    delta = mp.mpf(approximation_error(problem.model.s, problem.model.beta, 1, digits=digits + 10))
    found = []
    for time in case.times:
        t = end if time == problem.end else mp.mpf(time)
        until = passed(t)

        def past(u: Any, t: Any = t, until: Any = until) -> Any:
            return mp.exp(-2 * u + until - passed(t - u)) * gamma(t - u)

        # what is left of an impulse after the time u falls at least like exp(-0.2 u): stability is at most 0.9
        farthest = min(t, mp.mpf(12) * (digits + 10))
        grid = [mp.mpf(0), *(t - cut for cut in cuts if t - farthest < cut < t)]
        width = mp.mpf("0.5")
        while width < farthest:
            grid.append(width)
            width += 4
        value = mp.quad(past, sorted({*grid, farthest}))
        found.append(delta + mp.exp(-2 * t + until) + (delta + problem.model.noise) * value)
    return found


_NODES, _GROWTH, _DEPTH = 16, 1.6, 1e-13


@lru_cache(maxsize=1)
def _rules() -> tuple[Any, Any, Any, Any]:
    """Radau points in (0, 1] with their barycentric weights, and Gauss points with weights on [0, 1]."""
    from scipy.special import roots_jacobi

    points = np.append(0.5 * (1.0 + roots_jacobi(_NODES - 1, 1.0, 0.0)[0]), 1.0)
    gaps = points[:, None] - points[None, :] + np.eye(_NODES)
    gauss, weights = np.polynomial.legendre.leggauss(_NODES)
    return points, 1.0 / np.prod(4.0 * gaps, axis=1), 0.5 * (1.0 + gauss), 0.5 * weights


@cache
def _kernel(beta: float, size: float, horizon: float) -> Any:
    """K_M as interpolating polynomials of log K in log(1 + u), on pieces of width 1/2: a copy that costs little."""
    pieces = max(1, math.ceil(2.0 * math.log1p(horizon)))
    nodes = np.cos(np.pi * (np.arange(24) + 0.5) / 24)
    x = (np.arange(pieces)[:, None] + 0.5 * (1.0 + nodes)) * (math.log1p(horizon) / pieces)
    values = forgetting_kernel(np.minimum(np.expm1(x), horizon), beta, size)
    gone = values <= 1e-250
    logs = np.log(np.where(gone, 1e-250, values))
    coefficients = np.linalg.solve(np.polynomial.chebyshev.chebvander(nodes, 23), logs.T)
    step = math.log1p(horizon) / pieces

    def evaluate(u: Any) -> Any:
        at = np.log1p(u) / step
        piece = np.minimum(at.astype(int), pieces - 1)
        y = 2.0 * (at - piece) - 1.0
        found = np.exp(np.polynomial.chebyshev.chebval(y, coefficients[:, piece], tensor=False))
        return np.where(gone.any(axis=1)[piece], forgetting_kernel(u, beta, size), found)

    return evaluate


def integral_equation(case: Case) -> Any:
    """Collocation of the integral equation itself, no modes: graded panels, 16 points on each, the kernel as it is."""
    problem = case.problem
    if case.kind == "discrete" or problem.model.size < 100:
        return None
    points, barycentric, gauss, gauss_weights = _rules()
    end, kernel = problem.end, _kernel(problem.model.beta, problem.model.size, problem.end)
    ends = _panel_ends(case)
    lows, highs = ends[:-1], ends[1:]  # pairs (t, end - t), the smaller exact
    widths = np.where(highs[:, 0] <= 0.5 * end, highs[:, 0] - lows[:, 0], lows[:, 1] - highs[:, 1])
    t = lows[:, :1] + widths[:, None] * points
    left = np.where(highs[:, :1] <= 0.5 * end, end - t, lows[:, 1:] - widths[:, None] * points)
    t = np.where(highs[:, :1] <= 0.5 * end, t, end - left)
    t[:, -1], left[:, -1] = highs[:, 0], highs[:, 1]
    inside = t.copy()
    inside[:, -1] = np.nextafter(t[:, -1], 0.0)
    gamma = problem.gamma_on(inside.ravel(), left.ravel()).reshape(t.shape)
    forcing = problem.model.forcing(t.ravel()).reshape(t.shape) + problem.model.noise
    driven = np.zeros_like(t)  # gamma (f + sigma^2)
    values = np.zeros_like(t)
    for i in range(len(widths)):
        own = np.zeros((_NODES, _NODES))
        known = forcing[i].copy()
        for k in range(_NODES):
            # u = t_ik - z at both ends of every earlier panel and of the own panel up to the point
            since = np.where(t[i, k] <= 0.5 * end, t[i, k] - lows[: i + 1, 0], lows[: i + 1, 1] - left[i, k])
            until = np.append(since[1:], 0.0)
            since[-1] = widths[i] * points[k]
            panel, far, near = _split(since, until)
            u = near[:, None] + (far - near)[:, None] * gauss
            share = (since[panel][:, None] - u) / widths[panel][:, None]  # place within the panel, 0 to 1
            gaps = share[:, :, None] - points
            gaps = np.where(gaps == 0.0, 1e-300, gaps)
            shape = barycentric / gaps
            shape /= shape.sum(axis=2, keepdims=True)
            weight = kernel(u) * gauss_weights * (far - near)[:, None]
            earlier = panel < i
            known[k] += np.einsum("ab,abc,ac->", weight[earlier], shape[earlier], driven[panel[earlier]])
            own[k] = np.einsum("ab,abc->c", weight[~earlier], shape[~earlier])
        values[i] = np.linalg.solve(np.eye(_NODES) - own * gamma[i], known)
        driven[i] = gamma[i] * values[i]
    at = {float(time): values[i, -1] for i, time in enumerate(highs[:, 0])}
    return [at[time] - problem.model.noise for time in case.times]


def _split(since: Any, until: Any) -> tuple[Any, Any, Any]:
    """Cut intervals of u so that none is longer than 1/2 plus half its distance from 0; return panel, far and near."""
    panel, far, near = np.arange(len(since)), since, until
    while True:
        long = far - near > 0.5 + 0.5 * near
        if not long.any():
            return panel, far, near
        middle = np.where(near + 0.4 > 0.5 * far, 0.5 * (near + far), np.maximum(near + 0.4, 0.5 * far))
        panel = np.concatenate([panel, panel[long]])
        far, near = (
            np.concatenate([np.where(long, middle, far), far[long]]),
            np.concatenate([near, middle[long]]),
        )


def _panel_ends(case: Case) -> Any:
    """Return the panel ends as rows (t, end - t), graded from every break and, for a gamma that varies, to the end."""
    problem = case.problem
    end = problem.end
    cuts = [0.0, *problem.breaks, end]
    early: set[float] = {0.0}
    late: set[float] = {0.0}

    def add(t: float, left: float) -> None:
        if t <= 0.5 * end:
            early.add(t)
        else:
            late.add(left)

    for time in (*case.times[:-1], *cuts[1:-1]):
        add(time, end - time)
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        width = 0.4
        while width < high - low:
            add(low + width, end - low - width)
            width *= _GROWTH
        for share in (0.25, 0.5, 0.75):
            add(low + share * (high - low), end - low - share * (high - low))
    if not problem.is_constant:
        left = 0.25 * (end - cuts[-2])
        while left > _DEPTH * min(1.0, end):
            add(end - left, left)
            left /= _GROWTH
    first, last = sorted(early), sorted(late, reverse=True)
    return np.array([(t, end - t) for t in first] + [(end - left, left) for left in last])
