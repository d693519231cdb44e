"""A switch from a small batch to a large one: how fast the loss catches up with the large batch throughout. Ours.

Both runs have one constant rate a, one label noise and one horizon T; one takes the batch B up to the time T_1 and the
large one over the last T_2 = T - T_1. What it has lost by then is the noise of its first part that the kernel still
remembers, (1/B - 1/B_2) sigma^2 a int_0^T_1 K(T_2 + t) dt, the same integral as that of a stable phase: it falls like
T_2^(1/beta - 1), whatever T_1. Followers of the paper call this the fast catch-up, from which a late switch follows.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from sympy import Integral, Rational, Symbol, log

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.statements import Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.functional import integrate_graded
from fsl_num.paper.block_constants import (
    MODE_BY_MODE,
    PERIOD,
    TWO_CLOCKS,
    UP_TO_CONSTANTS,
    Constants,
    exact_powers,
    given_constants,
)
from fsl_num.paper.block_spectra import block_modes, infinite_integral, infinite_signal
from fsl_num.paper.hypotheses import INFINITE, MODEL, of_infinite_size
from fsl_num.paper.scaling_laws.decay_integrals import QUADRATURE
from fsl_num.paper.scaling_laws.laws import NOISE, STABLE, other_orders
from fsl_num.paper.scaling_laws.training import LONGEST, even_grid, peak_rate, whole
from fsl_num.spectrum import forgetting_kernel as forgetting
from fsl_num.spectrum import kernel_integral, signal, trace
from fsl_num.validation import Array
from fsl_num.volterra.mesh import MeshEquation, mesh_equation
from fsl_sym.integrals.stable_phase import finite_stable_order, finite_stable_phase_noise, stable_sum
from fsl_sym.proof import at_least, at_most, equals, less, order_at_most, same_order
from fsl_sym.spectrum import LAM, decay, forgetting_kernel, over_modes
from fsl_sym.symbols import T1, T2, B, T, a, beta, s, sigma, t

EXCESS: Final = Symbol("excess", positive=True)
"""The excess risk after a switch less that of the large batch throughout, at one horizon."""
LARGE: Final = Symbol("B_2", positive=True)
FORGOTTEN: Final = same_order(EXCESS, a * sigma**2 / B * T2 ** (1 / beta - 1))
TO_SIGNAL: Final = same_order(T2, T ** (s * beta / (beta - 1)))
TO_NOISE: Final = same_order(T2, (LARGE / B) ** (beta / (beta - 1)))
_MEMORY: Final = over_modes(a * LAM * (decay(T2) - decay(T1 + T2)) / 2)
SHARE: Final = 0.1
"""B/B_2 where only the orders count."""
_BEYOND: Final = "T_2 to 100 M^beta"
_FAR: Final = 120.0
"""Longest runs, in decades."""
_LOUD: Final = 1e200
"""sigma^2 beside which the signal is nothing, and a batch that leaves no noise."""


def lost(equation: MeshEquation, node: int, rate: float, small: float, large: float, noise: float) -> float:
    """The excess risk at the end, less that of the large batch throughout, where the batch grows at a node of the mesh.

    ``small`` and ``large`` are batch sizes. The difference of both losses is solved for itself, so that nothing
    cancels: where L and S are the operators of both schedules and u = 2 E + sigma^2, it is (1 - S)^-1 (S - L) u_L.

    >>> equation = mesh_equation(0.5, 2.0, 100.0, 1e3)
    >>> lost(equation, 0, 0.1, 1.0, 10.0, 1.0), lost(equation, 9, 0.1, 1.0, 10.0, 1.0) > 0.0
    (0.0, True)
    """
    from scipy.linalg import solve_triangular

    cells = np.arange(equation.mesh.lengths.size)
    throughout = equation.operator(np.full(cells.size, rate / large))
    added = equation.operator(np.where(cells < node, rate / small - rate / large, 0.0))
    identity = np.eye(cells.size + 1)
    u = solve_triangular(
        identity - throughout, equation.signal + equation.delta + noise, lower=True, check_finite=False
    )
    difference = solve_triangular(identity - throughout - added, added @ u, lower=True, check_finite=False)
    return 0.5 * float(difference[-1])


def _excess_rays(sample: Sample) -> list[Ray]:
    s, beta = sample.point
    count, full, end = 7 + 3 * sample.effort, peak_rate(beta), 1e16
    horizons, powers = np.geomspace(1e4, end, count), np.linspace(0.0, 20.0, count)
    # the signal at the start is of the order 1/s, and its noise fades as slowly as it does
    least = 10.0 / s

    def run(
        horizon: float, remaining: float, rate: float = full, small: float = 1.0, noise: float = least
    ) -> dict[str, float]:
        """A switch at the node whose remaining time is nearest to one wanted."""
        equation = mesh_equation(s, beta, math.inf, horizon)
        node = int(np.argmin(np.abs(np.log(equation.mesh.remaining[:-1] / remaining))))
        numbers = {"T_1": equation.mesh.t[node], "T_2": equation.mesh.remaining[node], "a": rate, "B": small,
                   "sigma^2": noise, "excess": lost(equation, node, rate, small, small / SHARE, noise)}  # fmt: skip
        return {name: math.log(value) for name, value in numbers.items()}

    runs = {
        "T_2 alone": ("T_2", [run(end, float(left)) for left in np.geomspace(2.0, 1e8, count)]),
        "T_1, T_2 = 100": ("T_1", [run(time, 100.0) for time in horizons.tolist()]),
        "T_2 = T/10": ("T_2", [run(time, 0.1 * time) for time in horizons.tolist()]),
        "T_2 = T/2": ("T_2", [run(time, 0.5 * time) for time in horizons.tolist()]),
        "a alone": ("a", [run(end, 100.0, rate=full * 10.0**-power) for power in powers]),
        "B alone": ("B", [run(end, 100.0, small=10.0**power) for power in powers]),
        "sigma^2 alone": ("sigma^2", [run(end, 100.0, noise=least * 10.0**power) for power in powers]),
    }
    rays = []
    for name, (growing, measured) in runs.items():
        logs = {key: np.array([record[key] for record in measured]) for key in measured[0]}
        values = logs.pop("excess")
        scale = -logs[growing] if growing == "a" else logs[growing]
        rays.append(Ray(name, scale - scale[0] + 1.0, logs, values))
    return rays + _block_rays(sample)


def _memory_measured(sample: Sample) -> list[tuple[dict[str, Any], float]]:
    """int_0^T_1 K_M(T_2 + t) dt at a = 1 by quadrature, for switches early and late."""
    beta = sample.point[1]
    measured = []
    for size, first, later in ((1, 3.0, 0.5), (7, 40.0, 4.0), (30, 0.25, 9.0), (30, 1e3, 64.0)):

        def kernel(t: Array, later: float = later, size: int = size) -> Array:
            return np.asarray(forgetting(later + t, beta, size))

        point = {"M": size, "T_1": first, "T_2": later, "a": 1}
        measured.append((point, integrate_graded(kernel, first).value))
    return measured


def _forgotten_rays(sample: Sample) -> list[Ray]:
    """The same along T_2 before the model has forgotten, with M at that edge, and along T_1 and a alone."""
    beta = sample.point[1]
    steps = np.linspace(0.0, 1.0, 9)

    ones, most, period = np.ones(9), LONGEST / beta, math.log10(PERIOD)
    runs = {
        "T_2 alone": (LONGEST * steps, 2.0 * most * ones, 0.5 + LONGEST * steps, 60.0 * ones, -ones),
        "T_2 = M^beta": (most * steps, 1.0 + most * steps, beta * (1.0 + most * steps), 60.0 * ones, -ones),
        "T_1 alone": (LONGEST * steps, 2.0 * most * ones, 2.0 * ones, LONGEST * steps, -ones),
        "a alone": (LONGEST * steps, 2.0 * most * ones, 2.0 * ones, 60.0 * ones, -LONGEST * steps),
        _BEYOND: (2.0 * steps, ones, beta * ones + 2.0 * steps, 60.0 * ones, -ones),
        "a grows": (LONGEST * steps, 2.0 * most * ones, 2.0 * ones, 60.0 * ones, LONGEST * steps),
    }

    def ray(
        name: str, decades: Array, size: Array, later: Array, first: Array, rate: Array,
        constants: Constants | None = None,
    ) -> Ray:  # fmt: skip
        """Of arrays of logs to the base 10; ``decades`` is what grows. Blocks repeat at whole periods of T_2."""
        if constants is not None:
            later, size = (period * np.maximum(np.round(decade / period), 1.0) for decade in (later, beta * size))
            size = size / beta + 1e-12
        size = np.floor(10.0**size)
        pairs = zip(10.0**later, 10.0**later + 10.0**first, size, strict=True)
        values = [_remembered(start, end, beta, features, constants) for start, end, features in pairs]
        ten = math.log(10.0)
        logs = {"M": np.log(size), "T_2": ten * later, "T_1": ten * first, "a": ten * rate}
        return Ray(name, ten * decades + 1.0, logs, np.log(values) + ten * rate)

    repeating = [
        ray(f"{name}, {constants.name}", *arguments, constants)
        for constants in given_constants(sample.seed)
        for name, arguments in runs.items()
        if name != _BEYOND  # where lambda_M is twice M^-beta nothing is left there
    ]
    return [*(ray(name, *arguments) for name, arguments in runs.items()), *repeating]


def _remembered(start: float, end: float, beta: float, size: float, constants: Constants | None) -> float:
    """The integral of K_M between two times, of exact powers or of a spectrum up to constants."""
    if constants is None:
        return float(kernel_integral(start, end, beta, size))
    modes, _ = block_modes(constants, 1.0, beta, size, end)
    left = np.exp(-modes.rates * start) * -np.expm1(-modes.rates * (end - start))
    return float(left @ (modes.weights / modes.rates))


def _memory_says(sample: Sample) -> Statement:
    wrong = {
        "without the half": 2 * _MEMORY,
        "for ever": a * stable_sum(),
        "forgotten from the start on": a * (stable_sum(T1) - stable_sum(T1 + T2)),
    }
    return sharp(_MEMORY, {"beta": sample.beta}, QUADRATURE, wrong)


def _block_rays(sample: Sample) -> list[Ray]:
    """By the functional law over spectra up to constants: T_2 in whole periods, T_1 a period longer."""
    s, beta = sample.point
    late = PERIOD ** np.arange(0.0, 9.0)
    rate, rays = peak_rate(beta), []
    for constants in given_constants(sample.seed):
        values = []
        for later in late.tolist():
            modes, _ = block_modes(constants, s, beta, whole(30.0), later * PERIOD)
            left = np.exp(-modes.rates * later) * -np.expm1(-modes.rates * later * PERIOD)
            values.append(0.5 * rate * (1.0 - SHARE) * float(left @ (modes.weights / modes.rates)))
        logs = {"T_2": np.log(late), "T_1": np.log(PERIOD * late), "a": np.full(late.size, math.log(rate))}
        logs |= {"B": np.zeros(late.size), "sigma^2": np.zeros(late.size)}
        rays.append(Ray(f"T_2, {constants.name}", logs["T_2"], logs, np.log(values)))
    return rays


def catch_up(
    s: float, beta: float, horizon: float, large: float, noise: float, constants: Constants | None = None
) -> float:
    """The time T_2 over which a run with the batch 1, then a large one, comes to twice the risk of the large one.

    By the functional law of infinitely many features, at the peak rate: its noise is what the kernel still remembers.
    ``constants``: those of the spectrum, if it is no exact power.

    >>> catch_up(0.2, 2.0, 1e12, 1e100, 1.0) < 1e-4 * 1e12
    True
    """
    from scipy.optimize import brentq

    rate, whole = noise * peak_rate(beta), infinite_integral(constants, beta, 0.0, horizon)
    risk = infinite_signal(constants, s, beta, horizon) + rate / large * whole

    def over(log_time: float) -> float:
        left = infinite_integral(constants, beta, min(math.exp(log_time), horizon), horizon)
        return math.log(max(rate * (1.0 - 1.0 / large) * left, 1e-300)) - math.log(risk)

    return math.exp(float(brentq(over, math.log(1e-3), math.log(horizon), xtol=1e-12)))


def _to_signal(sample: Sample) -> list[Ray]:
    s, beta = sample.point
    # T_2/T falls like a power of T^-(1 - 1/beta - s): so far that this is small
    longest = min(max(LONGEST, 8.0 / (1.0 - 1.0 / beta - s)), _FAR)
    logs = math.log(10.0) * (even_grid(longest - 2.0, sample) + 2.0)
    # Label noise that, unforgotten, is four times the signal at T = 1, which is of the order 1/s; or so much that T_2
    # comes to 10^beta half-way, when ten modes decide: between the first few modes it moves in steps.
    steps = max(0.0, beta - 1.0 - s * 0.5 * longest)
    noise = 4.0 * 10.0**steps * float(signal(1.0, s, beta)) / (peak_rate(beta) * 0.5 * trace(beta))
    times = [catch_up(s, beta, math.exp(log_horizon), _LOUD, noise) for log_horizon in logs]
    noises = np.full(logs.size, math.log(noise))
    return [Ray("T to infinity", logs, {"T": logs, "sigma^2": noises}, np.log(times))]


def _to_noise(sample: Sample) -> list[Ray]:
    s, beta = sample.point
    # T_2 up to the square root of T
    most = 0.5 * LONGEST * (1.0 - 1.0 / beta)
    batches = np.linspace(0.3, 1.0, 9) * most
    horizons = np.linspace(0.6, 1.0, 9) * LONGEST

    def ray(name: str, scale: Array, large: Array, horizon: Array, constants: Constants | None = None) -> Ray:
        """Logs to the base 10 of what grows, of B_2/B and of T."""
        pairs = zip(large.tolist(), horizon.tolist(), strict=True)
        times = [catch_up(s, beta, 10.0**time, 10.0**batch, _LOUD, constants) for batch, time in pairs]
        ratio = math.log(10.0) * large
        logs = {"B_2/B": ratio, "B_2": ratio, "B": np.zeros(ratio.size), "T": math.log(10.0) * horizon}
        return Ray(name, math.log(10.0) * (scale - scale[0]) + 1.0, logs, np.log(times))

    runs = {
        "B_2 to infinity": (batches, batches, np.full(9, LONGEST)),
        "T to infinity": (horizons, np.full(9, 0.5 * most), horizons),
    }
    repeating = [
        ray(f"{name}, {constants.name}", *arguments, constants)
        for constants in given_constants(sample.seed)
        for name, arguments in runs.items()
    ]
    return [*(ray(name, *arguments) for name, arguments in runs.items()), *repeating]


_UNIT: Final = a * sigma**2 / B
NOT_TOO_LATE: Final = at_most(LARGE / B, T ** ((1 - 1 / beta) / 2))
"""T_2 of the order of sqrt(T) at most."""
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "batch-switch/memory", "eqn: fsl-simplified", 883, "what the kernel remembers of the small batch",
        equals(Integral(a * forgetting_kernel(T2 + t), (t, 0, T1)), _MEMORY),
        (MODEL, "T_1 > 0, T_2 > 0, M < oo", exact_powers(MODE_BY_MODE)), _memory_measured, _memory_says,
        derive=lambda: finite_stable_phase_noise().derivation, role="own", depends=("lem: wsd-stable-noise/identity",),
        remark="The noise that a small batch has left is the integral of a stable phase: each mode forgets at its "
               "own rate.",
    ),
    Claim(
        "batch-switch/forgotten", "eqn: fsl-simplified", 883, "how fast the kernel forgets the small batch",
        order_at_most(Integral(a * forgetting_kernel(T2 + t), (t, 0, T1)), a * T2 ** (1 / beta - 1)),
        (MODEL, less(1, T2), less(0, log(T2)), "T_1 > 0, M < oo", UP_TO_CONSTANTS), _forgotten_rays,
        derive=finite_stable_order, role="own", depends=("lem: wsd-stable-noise", "batch-switch/memory"),
        remark="Whatever the small batch has left fades like this after the switch.",
    ),
    Claim(
        "batch-switch/excess", "eqn: fsl-simplified", 883, "what a run has lost some time after its batch grew",
        FORGOTTEN,
        (MODEL, INFINITE, Where("excess is the risk over that of the larger batch throughout"), at_least(T2, 1),
         at_most(T2, T1), NOISE, STABLE, UP_TO_CONSTANTS),
        of_infinite_size(_excess_rays),
        mutants=other_orders(FORGOTTEN, all_of_it_remembered=_UNIT, no_memory=_UNIT / T2,
                              the_kernel_itself=_UNIT * T2 ** (1 / beta - 2),
                              the_longer_the_worse=T1 ** Rational(1, 20) * FORGOTTEN.right),
        role="own", depends=("eqn: fsl-simplified", "batch-switch/memory"),
        remark="It does not matter how long the run was before its batch grew. Followers of the paper call this "
               "the fast catch-up after a switch.",
    ),
    Claim(
        "batch-switch/time-to-signal", "eqn: fsl-simplified", 883, "the time in which a late switch catches up, hard",
        TO_SIGNAL, (MODEL, INFINITE, "s < 1 - 1/beta", "sigma the same along a ray", "constraint: sigma^2 >= 1/s",
                    exact_powers(f"{TWO_CLOCKS}batch-switch/excess")),
        of_infinite_size(_to_signal), regimes=("hard",),
        mutants=other_orders(TO_SIGNAL, a_share_of_the_run=T, no_memory=T**s, a_time_of_its_own=T ** (s / 20)),
        role="own", depends=("eqn: fsl-simplified", "batch-switch/excess"),
        remark="It is a vanishing share of the run, so that the switch may come late.",
    ),
    Claim(
        "batch-switch/time-to-noise", "eqn: fsl-simplified", 883, "the time in which a switch catches up with noise",
        TO_NOISE, (MODEL, INFINITE, "B = 1", NOT_TOO_LATE, UP_TO_CONSTANTS),
        of_infinite_size(_to_noise),
        mutants=other_orders(TO_NOISE, the_ratio_itself=LARGE / B,
                              the_longer_the_later=T ** Rational(1, 20) * TO_NOISE.right,
                              the_kernel_itself=(LARGE / B) ** (beta / (2 * beta - 1))),
        role="own", depends=("eqn: fsl-simplified", "batch-switch/excess"),
        remark="In that time the kernel forgets all but the share of the noise that the larger batch makes itself.",
    ),
)  # fmt: skip
