r"""Discrete schedules: exponential time differencing on few modes, in blocks of matrix products.

With x' = -2 mu x + w gamma (f + sigma^2), f = delta + sum x, gamma = eta_k/B_k on a step of length eta_k, the decay of
a mode is integrated exactly and f is taken as linear over a step (or over equal parts of it): second order in the step,
and, from the solutions on parts and on half parts, fourth. A jump of gamma between steps does no harm.

64 steps at a time are one triangular system whose matrix is a product over the modes; only the history of a block has
to be carried on to the next one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.compression import compress
from fsl_num.schedules.discrete import Discrete
from fsl_num.validation import Array, positive
from fsl_num.volterra.problem import Problem

_BLOCK = 64
_SPREAD = 200.0  # largest exponent within a block: its rounding is 200 * 1.1e-16 = 2e-14
_NUMBERS = 400_000  # numbers at once in an array over steps and modes: 3 MB
_ROUNDING = 2e-13  # relative; the floor of the panels, which the tests compare with
_MOST_PARTS = 16


@dataclass(frozen=True)
class LinearModes:
    """The system: ``rates`` 2 mu_k, ``weights`` of the kernel, ``start`` x_k(0), ``delta``, ``noise``, and the relative
    ``error`` of the two sums."""

    rates: Array
    weights: Array
    start: Array
    delta: float
    noise: float
    error: float


def linear_modes(problem: Problem, horizon: float) -> LinearModes:
    """Return the modes of ``problem`` for intrinsic times up to ``horizon`` (a given spectrum keeps all of its own).

    >>> linear_modes(Problem(s=0.5, beta=2.0, model_size=3, noise=1.0, gamma=0.1, horizon=9.0), 9.0).rates.size
    3
    """
    if problem.closure != "volterra":
        raise ValueError(f"discrete schedules need the closure 'volterra', got {problem.closure!r}; use 'panels'")
    if problem.spectrum is not None:
        rates = problem.spectrum.eigenvalues
        return LinearModes(2.0 * rates, rates**2, problem.spectrum.signals, problem.approximation, problem.noise, 0.0)
    modes = compress(problem.s, problem.beta, problem.model_size, horizon)
    delta = problem.approximation
    return LinearModes(2.0 * modes.rates, modes.kernel_weights, modes.signal_weights, delta, problem.noise, modes.error)


def _shares(turn: Array, decay: Array) -> tuple[Array, Array]:
    """Return int_0^1 exp(-z(1-s)) (1-s) ds and int_0^1 exp(-z(1-s)) s ds for z = ``turn``, exp(-z) = ``decay``."""
    small = turn < 0.1
    z = np.maximum(turn, 0.1)
    whole = (1.0 - decay) / z
    second = (1.0 - whole) / z
    first = whole - second
    if small.any():
        z = turn[small]
        late, early = np.zeros_like(z), np.zeros_like(z)
        for n in range(9, -1, -1):  # the first term left out is 0.1^10/12! of the sum
            late = late * -z + 1.0 / math.factorial(n + 2)
            early = early * -z + (n + 1.0) / math.factorial(n + 2)
        second[small], first[small] = late, early
    return first, second


@dataclass(frozen=True)
class Blocks:
    """Blocks of L steps, ready to be applied to the modes: leading dimensions are whatever the rates had."""

    decay: Array  # (..., L, Q) from the start of the block to the end of each step
    known: Array  # (..., L) what f + noise = 1 at the start of the block gives at the end of each step
    inverse: Array  # (..., L, L) of the triangular system
    columns: Array  # (..., L + 1, Q) what f at each point has left in the modes at the end of the block


def blocks(system: LinearModes, lengths: Array, gammas: Array) -> Blocks:
    """Return the blocks for steps of the ``lengths`` (..., L) with ``gammas`` (..., L)."""
    size = lengths.shape[-1]
    passed = np.minimum(np.cumsum(lengths, axis=-1)[..., None] * system.rates, 700.0)
    decay, growth = np.exp(-passed), np.exp(passed)
    turn = lengths[..., None] * system.rates
    first, second = _shares(turn, np.exp(-turn))
    strength = (gammas * lengths)[..., None] * system.weights
    first *= strength
    second *= strength
    diagonal = second.sum(axis=-1)
    columns = np.zeros((*lengths.shape[:-1], size + 1, system.rates.size))
    columns[..., :-1, :] = first * growth
    columns[..., 1:, :] += second * growth
    matrix = decay @ columns.swapaxes(-1, -2)
    known = matrix[..., 0]
    lower = np.tril(matrix[..., 1:], -1)
    index = np.arange(size)
    lower[..., index, index] = diagonal
    inverse = np.linalg.inv(np.eye(size) - lower)
    columns *= decay[..., -1:, :]
    return Blocks(decay, known, inverse, columns)


def block_size(system: LinearModes, lengths: Array) -> int:
    """Return how many steps may share a block without the exponents growing too large: at most 64, a power of 2."""
    longest = float(lengths.max()) * float(system.rates.max())
    size = _BLOCK
    while size > 1 and size * longest > _SPREAD:
        size //= 2
    return size


def march(system: LinearModes, lengths: Array, gammas: Array) -> tuple[Array, Array]:
    """Return f at the start and after each step (n + 1 values), and the modes at the end.

    ``lengths`` and ``gammas``: one-dimensional, of one length, at least 0.
    """
    size = block_size(system, lengths)
    count = -(-lengths.size // size)
    rest = count * size - lengths.size
    # steps of no length change nothing
    lengths = np.concatenate([lengths, np.zeros(rest)]).reshape(count, size)
    gammas = np.concatenate([gammas, np.zeros(rest)]).reshape(count, size)
    state = system.start.copy()
    # u = f + noise is what drives the modes
    base = system.delta + system.noise
    values = np.empty(count * size + 1)
    values[0] = base + state.sum()
    together = max(1, _NUMBERS // (size * system.rates.size))
    for low in range(0, count, together):
        some = blocks(system, lengths[low : low + together], gammas[low : low + together])
        for i in range(some.known.shape[0]):
            at = (low + i) * size
            part = values[at : at + size + 1]
            part[1:] = some.inverse[i] @ (base + some.decay[i] @ state + some.known[i] * part[0])
            state = some.decay[i, -1] * state + part @ some.columns[i]
    return values[: count * size + 1 - rest] - system.noise, state


def divided(values: Array, parts: int) -> Array:
    """Return each step of the last axis ``parts`` times."""
    return np.repeat(values, parts, axis=-1)


def losses_of_steps(problem: Problem, rtol: float = 1e-8) -> tuple[Array, Array, dict[str, Any]]:
    """Return f (TWICE the excess risk) at the start and after every step, its absolute error, and facts.

    ``problem``: one whose gamma is a :class:`~fsl_num.schedules.Discrete`; ``rtol`` in [1e-12, 1): the steps are
    divided into 2, 4, ... 16 parts, and the solutions on parts and on half parts extrapolated, until two successive
    extrapolations agree so well. The error is their difference, which is that of the coarser one. The facts say
    whether the tolerance was reached. Raises ValueError for other problems.

    >>> plan = Discrete(rates=[0.3] * 50)
    >>> problem = Problem(s=0.5, beta=2.0, model_size=10, noise=1.0, gamma=plan)
    >>> values, error, facts = losses_of_steps(problem)
    >>> len(values), bool(values[-1] < values[0])
    (51, True)
    """
    if not isinstance(problem.gamma, Discrete):
        raise ValueError(
            f"the method for discrete schedules needs a Discrete schedule, got {type(problem.gamma).__name__}; use"
            " 'panels'"
        )
    if not 1e-12 <= positive("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [1e-12, 1), got {rtol!r}")
    plan = problem.gamma
    system = linear_modes(problem, plan.total_intrinsic_time)
    floor = (_ROUNDING + system.error) / max(1.0 - problem.stability, 1e-3)
    coarse = march(system, plan.rates, plan.gammas)[0]
    parts, done = 1, plan.rates.size
    previous = coarse
    while True:
        parts *= 2
        lengths = divided(plan.rates / parts, parts)
        fine = march(system, lengths, divided(plan.gammas, parts))[0][::parts].copy()
        done += lengths.size
        values = fine + (fine - coarse) / 3.0
        # by chance two solutions agree at one step: the error is the largest relative one so far
        worst = np.maximum.accumulate(np.abs(values - previous) / np.abs(values))
        reached = bool(worst[-1] <= rtol)
        if reached or parts >= _MOST_PARTS:
            break
        coarse, previous = fine, values
    facts = {"parts": parts, "modes": system.rates.size, "evaluations": done, "tolerance reached": reached}
    return values, (worst + floor) * np.abs(values), facts
