"""The grid of problems on which the solvers of the Volterra equation are compared: a Latin hypercube, and corners.

Every problem is drawn from a seeded generator, so that the grid is the same everywhere. The size of gamma is drawn as
the stability number gamma_max tr(H)/2, for above 1 there is no bounded solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from models import problem_of

from fsl_num.schedules import Discrete, schedule
from fsl_num.spectrum import trace
from fsl_num.volterra import Problem

KINDS = ("constant", "exp-decay", "wsd", "power-decay", "cosine", "linear", "jumps", "discrete")
SIZES = (1, 2, 7, 64, 100, 400, 1e6, math.inf)
NOISES = (0.0, 1.0, 9.0)
EACH = 14  # problems of every kind in the hypercube

_SEED = 20
_SHARES = (0.02, 0.3, 0.9, 1.0)  # of the horizon: the times at which the loss is compared


@dataclass(frozen=True)
class Jumps:
    """A gamma with two jumps: constant, then falling like 1/t, then growing to three quarters of the peak.

    Of arrays of floats and of mpf alike; ``ends`` are the breaks.
    """

    peak: float
    end: float

    @property
    def ends(self) -> tuple[float, float]:
        return 0.25 * self.end, 0.625 * self.end

    def _piece(self, t: Any, number: int) -> Any:
        if number == 0:
            return self.peak + 0 * t
        if number == 1:
            return self.peak / (1 + 8 * t / self.end)
        return self.peak * t * t / self.end / self.end * 3 / 4

    def __call__(self, t: Any) -> Any:
        first, second = self.ends
        if isinstance(t, np.ndarray):
            early = np.where(t <= first, self._piece(t, 0), self._piece(t, 1))
            return np.where(t <= second, early, self._piece(t, 2))
        return self._piece(t, 0 if t <= first else 1 if t <= second else 2)


@dataclass(frozen=True)
class Case:
    """One problem, the kind of its gamma, and the times at which the loss is wanted."""

    name: str
    kind: str
    problem: Problem
    times: tuple[float, ...]


def _discrete(peak: float, horizon: float, steps: int, rng: np.random.Generator) -> Discrete:
    """Random lengths and random gammas below a falling envelope; a tenth of the steps takes no intrinsic time."""
    lengths = rng.uniform(0.2, 1.8, steps)
    lengths[rng.permutation(steps)[: steps // 10]] = 0.0
    lengths *= horizon / lengths.sum()
    gammas = peak * rng.uniform(0.3, 1.0, steps) * np.linspace(1.0, 0.2, steps)
    gammas[int(np.argmax(lengths))] = peak
    batches = np.where(lengths > 0.0, lengths, 1.0) / gammas
    return Discrete(rates=lengths, batch_sizes=batches)


def _gamma(kind: str, peak: float, horizon: float, draw: float, rng: np.random.Generator) -> Any:
    """Return a gamma of the ``kind`` whose largest value is ``peak`` and whose horizon is ``horizon`` (nearly)."""
    if kind == "constant":
        return peak
    if kind == "jumps":
        return Jumps(peak, horizon)
    if kind == "discrete":
        # few long steps with large batches, and steps of the size of learning rates
        return _discrete(peak, horizon, 30, rng) if draw < 0.5 else _discrete(peak, min(horizon, 200.0), 1000, rng)
    parameters = {"exp-decay": {"final": 1e-3 * peak}, "power-decay": {"power": 0.25 + 4.0 * draw}}.get(kind, {})
    if kind == "wsd":
        parameters = {"final": 10.0 ** (-6.0 * draw) * peak, "decay_fraction": 0.1 + 0.8 * draw}
    if kind in ("linear", "cosine") and draw < 0.5:
        parameters = {"final": 0.1 * draw * peak}
    # the learning rate is ten times gamma: a batch of ten
    parameters = {
        name: value if name in ("power", "decay_fraction") else 10.0 * value for name, value in parameters.items()
    }
    unit = schedule(kind, peak=10.0 * peak, steps=1.0, batch_size=10.0, **parameters)
    return schedule(kind, peak=10.0 * peak, steps=horizon / unit.total_intrinsic_time, batch_size=10.0, **parameters)


def _case(
    number: int,
    kind: str,
    s: float,
    beta: float,
    size: float,
    noise: float,
    stability: float,
    horizon: float,
    draw: float,
) -> Case:
    rng = np.random.default_rng([_SEED, number])
    gamma = _gamma(kind, 2.0 * stability / trace(beta, size), horizon, draw, rng)
    breaks = gamma.ends if isinstance(gamma, Jumps) else ()
    own = {} if kind not in ("constant", "jumps") else {"horizon": horizon}
    problem = problem_of(s=s, beta=beta, size=size, noise=noise, gamma=gamma, breaks=breaks, **own)
    end = problem.end
    times = tuple(share * end for share in _SHARES[:-1]) + (end,)
    if kind == "discrete":
        # within steps: at a jump of gamma the rounding of its place, and not a solver, decides the last three digits
        ends = np.unique(np.concatenate([[0.0], np.cumsum(gamma.rates)]))
        index = [int(share * (ends.size - 2)) for share in _SHARES[:-1]]
        times = (*(float(0.6 * ends[i] + 0.4 * ends[i + 1]) for i in index), end)
    shown = "inf" if math.isinf(size) else f"{size:g}"
    name = f"{number:03d} {kind} s={s:.3g} beta={beta:.3g} M={shown} noise={noise:g} T={end:.3g} stab={stability:.2g}"
    return Case(name, kind, problem, times)


@cache
def cases() -> tuple[Case, ...]:
    """The hypercube: every kind EACH times, and every factor spread evenly over its range; then the corners."""
    count = EACH * len(KINDS)
    rng = np.random.default_rng(_SEED)
    strata = {name: (rng.permutation(count) + 0.5) / count for name in ("s", "beta", "stability", "horizon", "draw")}
    size, noise = rng.permutation(count) % len(SIZES), rng.permutation(count) % len(NOISES)
    found = []
    for i in range(count):
        found.append(
            _case(
                i,
                KINDS[i % len(KINDS)],
                0.05 * 60.0 ** strata["s"][i],
                1.05 + 4.95 * strata["beta"][i],
                SIZES[size[i]],
                NOISES[noise[i]],
                0.05 + 0.85 * strata["stability"][i],
                2.0 ** (20.0 * strata["horizon"][i]),
                strata["draw"][i],
            )
        )
    corners = product((0.05, 3.0), (1.0501, 6.0), (1, math.inf), (1.0, 2.0**20))
    for i, (s, beta, size_at, horizon) in enumerate(corners):
        kind = ("constant", "wsd")[(i // 2 + i) % 2]
        found.append(_case(count + i, kind, s, beta, size_at, NOISES[i % 3], 0.9, horizon, 0.5))
    return tuple(found)
