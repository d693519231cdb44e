"""The loss where gamma is constant on every stretch of time, by exponentials of the whole matrix: shares no solver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mpmath
import numpy as np

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.spectrum import approximation_error
from fsl_num.volterra import Problem


def stretches_of(problem: Problem, mp: Any) -> list[tuple[Any, Any]] | None:
    """(length, gamma) of every stretch, not rounded: a break that rounding moves would move 13 digits of f."""
    if isinstance(problem.gamma, Discrete):
        batches = np.broadcast_to(problem.gamma.batch_sizes, problem.gamma.rates.shape).tolist()
        pairs = zip(problem.gamma.rates.tolist(), batches, strict=True)
        return [(mp.mpf(length), mp.mpf(length) / batch) for length, batch in pairs if length > 0.0]
    return [(mp.mpf(problem.end), problem.number("gamma", mp))] if problem.is_constant else None


def losses(
    model: Model, stretches: Iterable[tuple[Any, Any]], times: Any = (), closure: str = "volterra", digits: int = 50
) -> list[Any]:
    """f at rising times, and at the end of the last stretch."""
    mp = mpmath.mp.clone()
    mp.dps = digits + 40  # the guard digits cover what the powers of the matrix grow by
    if model.spectrum is None:
        size, s, beta = int(model.size), model.number("s", mp), model.number("beta", mp)
        eigenvalues = [mp.mpf(j) ** -beta for j in range(1, size + 1)]
        start = [mp.mpf(j) ** -(1 + s * beta) for j in range(1, size + 1)]
        delta = mp.mpf(approximation_error(s, beta, size, digits=digits + 30))
    else:
        eigenvalues, start = ([mp.mpf(x) for x in row.tolist()] for row in (model.eigenvalues, model.spectrum.signals))
        size, delta = len(eigenvalues), mp.mpf(model.approximation_error)
    state, now, end = mp.matrix([*start, mp.mpf(1)]), mp.mpf(0), mp.mpf(0)
    asked, found = [mp.convert(t) for t in times], []
    for length, gamma in stretches:
        system = mp.matrix(size + 1, size + 1)
        for j, x in enumerate(eigenvalues):
            push = mp.convert(gamma) * x**2
            for k in range(size):
                system[j, k] = push
            system[j, j] += (push if closure == "gaussian" else 0) - 2 * x
            system[j, size] = push * (delta + model.number("noise", mp))
        end += mp.convert(length)
        for stop in [*(t for t in asked[len(found) :] if t <= end), end]:
            if stop > now:
                state, now = _exponential(mp, system * (stop - now)) * state, stop
            if len(found) < len(asked) and stop == asked[len(found)]:
                found.append(delta + mp.fsum(state[j] for j in range(size)))
    return [*found, delta + mp.fsum(state[j] for j in range(size))]


def exact_losses(problem: Problem, times: Any, digits: int = 50) -> list[Any]:
    """f at rising times of a problem; the float of its end stands for the sum of the lengths."""
    mp = mpmath.mp.clone()
    mp.dps = digits + 40
    stretches = stretches_of(problem, mp)
    assert stretches is not None
    before = [t for t in times if t != problem.end]
    found = losses(problem.model, stretches, before, problem.closure, digits)
    return found if len(before) < len(times) else found[:-1]


def _exponential(mp: Any, matrix: Any) -> Any:
    """exp(matrix) by scaling and squaring of its Taylor series."""
    squarings = max(0, int(mp.log(max(mp.norm(matrix, mp.inf), 1), 2)) + 8)
    small = matrix / mp.mpf(2) ** squarings
    total = term = mp.eye(matrix.rows)
    for k in range(1, 4 * mp.dps):
        term = term * small / k
        total = total + term
        if mp.norm(term, mp.inf) < mp.eps:
            break
    for _ in range(squarings):
        total = total * total
    return total
