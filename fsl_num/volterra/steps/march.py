r"""One pass over many steps with gamma constant on each: blocks of steps as triangular systems of matrix products.

A block of about 64 points has as unknowns v, what the past gives at each point: v = history + (strictly lower
triangular) v, where the points of one step are eliminated beforehand (u = f + sigma^2 = Z v within a step). The
matrix is a product over the few local modes of the block. All of that is done for many blocks at once; one after the
other there remain only, for each block, the history, one triangular solve, and the modes at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.steps.local_modes import LocalBasis, LocalModes
from fsl_num.volterra.steps.step_rules import OwnKernel, Segment, StepRule, radau_step_rule, step_inverses

_BLOCK = 64  # points in a block: below, the loop over blocks costs most, above, the triangular matrices


@dataclass(frozen=True, eq=False)
class Blocks:
    """k blocks of N points each, ready to be applied; ``half``, ``decay``: from their middle to an end, and across."""

    forward: Array  # (k, N, q) from the middle of the block to its points
    columns: Array  # (k, N, q) what v = 1 leaves in the local modes, seen from the middle, with the sign changed
    lower: Array  # (k, N, N) strictly lower triangular, with the sign changed
    inverses: Array  # (k, steps, p, p) from v to u
    half: Array  # (k, q)
    decay: Array  # (k, rates of the system)


def make_blocks(
    system: LinearModes, local: LocalModes, kernel: OwnKernel, rule: StepRule, lengths: Array, gammas: Array
) -> Blocks:
    """Return the blocks for steps of the ``lengths`` and ``gammas``, both of shape (k, steps in a block)."""
    count, steps = lengths.shape
    size, q = steps * rule.size, local.rates.size
    strengths = gammas * lengths
    length_ends = np.cumsum(lengths, axis=1)
    totals = length_ends[:, -1]
    times = (length_ends - lengths)[..., None] + rule.points * lengths[..., None] - 0.5 * totals[:, None, None]
    exponents = np.multiply.outer(times.reshape(count, size), -local.rates)
    half = np.multiply.outer(-0.5 * totals, local.rates)
    decay = np.multiply.outer(-totals, system.rates)
    if system.self_feeding:
        fed = np.cumsum(strengths, axis=1)
        gains = (fed - strengths)[..., None] + rule.points * strengths[..., None] - 0.5 * fed[:, -1:, None]
        exponents += np.multiply.outer(gains.reshape(count, size), 0.25 * local.rates**2)
        half += np.multiply.outer(0.5 * fed[:, -1], 0.25 * local.rates**2)
        decay += np.multiply.outer(fed[:, -1], system.feedback)
    forward = np.exp(exponents, out=exponents)
    columns = 1.0 / forward
    columns *= (-strengths[..., None] * rule.weights).reshape(count, size, 1)
    weights = system.weights @ local.transfer
    own = (count * steps, rule.size, q)
    if system.self_feeding:
        inside = np.matmul(forward.reshape(own) * weights, columns.reshape(own).transpose(0, 2, 1))
        inside *= -rule.coupling
    else:
        inside = kernel.of(rule, lengths.ravel(), gammas.ravel())
    inverses = step_inverses(inside)
    columns = np.matmul(inverses.transpose(0, 2, 1), columns.reshape(own)).reshape(count, size, q)
    lower = np.matmul(forward, columns.transpose(0, 2, 1) * weights[:, None])
    index = np.arange(steps)
    lower.reshape(count, steps, rule.size, steps, rule.size)[:, index, :, index, :] = 0.0
    shape = (count, steps, rule.size, rule.size)
    return Blocks(forward, columns, lower, inverses.reshape(shape), np.exp(half), np.exp(decay))


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass found: ``ends``, u = f + sigma^2 at the end of each step; where asked for, in each segment u at the
    ``points``, shape (steps, points), and ``firsts``, what had come before the step at its first point, shape (steps,);
    the modes at the end in ``state``; and how many floating-point operations its matrix products took."""

    ends: Array
    points: list[Array]
    firsts: list[Array]
    state: Array
    flops: float


def march_tools(system: LinearModes) -> tuple[LocalBasis, OwnKernel]:
    """Return what depends on the rates and weights of ``system`` only."""
    return LocalBasis(system.rates), OwnKernel(system.rates, system.weights)


def march(
    system: LinearModes,
    lengths: Array,
    gammas: Array,
    plan: Sequence[Segment],
    *,
    keep_points: bool = False,
    backwards: bool = False,
    tools: tuple[LocalBasis, OwnKernel] | None = None,
) -> Pass:
    """Return u = f + sigma^2 after every step, by the rules that ``plan`` gives to each run of steps.

    ``lengths`` and ``gammas``: one-dimensional, of one length, at least 0. ``keep_points``: also at all points.
    ``backwards``: with the rules reversed (the adjoint equation; the steps are then given in reverse order).
    ``tools``: what :func:`march_tools` made of the same rates and weights, where they are used again.

    >>> from fsl_num.volterra import Problem
    >>> from fsl_num.volterra.linear_modes import linear_modes
    >>> from fsl_num.volterra.steps.step_rules import segments
    >>> problem = Problem(s=0.5, beta=2.0, model_size=3, noise=1.0, gamma=0.1, horizon=1.0)
    >>> system, lengths = linear_modes(problem, 1.0), np.full(10, 0.1)
    >>> found = march(system, lengths, np.full(10, 0.1), segments(lengths, 2.0, 1e-10))
    >>> found.ends.shape
    (10,)
    """
    from scipy.linalg.blas import dtrsv

    basis, kernel = tools or march_tools(system)
    base = system.delta + system.noise
    state = system.start.copy()
    ends = np.empty(lengths.size)
    kept: list[Array] = []
    firsts: list[Array] = []
    flops = 0.0
    for segment in plan:
        rule = radau_step_rule(segment.points)
        rule = rule.reversed() if backwards else rule
        steps = max(1, _BLOCK // rule.size)
        length = _padded(lengths[segment.low : segment.high], steps)
        gamma = _padded(gammas[segment.low : segment.high], steps)
        local = basis.of(float(length.sum(axis=1).max()))
        to_local = np.ascontiguousarray(local.transfer.T)
        to_global = system.weights[:, None] * local.transfer
        some = make_blocks(system, local, kernel, rule, length, gamma)
        count, size, q = some.forward.shape
        unknown = np.empty((count, size))
        for i in range(count):
            there = to_local @ state
            there *= some.half[i]
            history = some.forward[i] @ there
            history += base
            v = dtrsv(some.lower[i].T, history, lower=0, trans=1, diag=1, overwrite_x=1)
            unknown[i] = v
            left = v @ some.columns[i]
            left *= some.half[i]
            state *= some.decay[i]
            state -= to_global @ left
        flops += count * (2.0 * q * size * (size + 2.0 + rule.size * 2.0) + size**2 + 4.0 * q * state.size)
        unknown = unknown.reshape(count * steps, rule.size)
        number = segment.high - segment.low
        inverses = some.inverses.reshape(count * steps, rule.size, rule.size)
        if not keep_points:
            ends[segment.low : segment.high] = np.einsum("ni,ni->n", inverses[:, -1], unknown)[:number]
            continue
        points = np.matmul(inverses, unknown[..., None])[:number, :, 0]
        ends[segment.low : segment.high] = points[:, -1]
        kept.append(points)
        firsts.append(unknown[:number, 0])
    return Pass(ends, kept, firsts, state, flops)


def _padded(values: Array, steps: int) -> Any:
    """Return the values in rows of ``steps``, the last one filled with steps of no length, which change nothing."""
    rows = -(-values.size // steps)
    return np.concatenate([values, np.zeros(rows * steps - values.size)]).reshape(rows, steps)
