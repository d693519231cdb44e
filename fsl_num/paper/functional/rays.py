"""The rays on which the theorems are checked: every schedule of the paper, the unusual ones and those of the adversary.

The paths cover the window and what lies beyond it; sigma^2 runs from 0 over 1e-6 and 1 to 1e6, and on rays of its own
to 1e60 and to 1e-60; sup gamma goes down to 1e-30 of its bound on rays of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.design.shapes import SHAPES
from fsl_num.paper.functional.runs import (
    AFTER,
    AT_FIRST,
    BEYOND,
    EARLY,
    EDGE,
    INSIDE,
    Path,
    Run,
    model_rays,
    moderate_size,
    rays,
    records,
)
from fsl_num.validation import Array

TINY = 1e-60
"""Share of gamma_max at which the noise does not count: the signal is then seen alone."""
EVERYWHERE: Mapping[Path, tuple[Run, ...]] = {
    AT_FIRST: (Run("constant", 0.0), Run("constant", 1e6)),
    INSIDE: (
        Run("constant", 0.0, TINY), Run("constant", 1.0, TINY), Run("constant", 0.0), Run("cosine", 1.0),
        Run("burst then zero", 1e6), Run("adversary", 0.0),
    ),
    EDGE: (Run("exponential decay", 0.0), Run("constant", 0.0, TINY), Run("step up", 1.0)),
    AFTER: (Run("warmup-stable-decay", 1.0), Run("long zero phase", 1e6), Run("oscillation", 1e6)),
    BEYOND: (
        Run("burst then zero", 1.0), Run("step down", 1e-6), Run("burst at the end", 1.0), Run("adversary", 1e6),
        Run("constant", 0.0), Run("burst then zero", 1e-6), Run("burst then zero", 1e6),
    ),
}  # fmt: skip
LOUDEST = 1e6
"""Label noise of the rays with K_infinity, in units of the M^(beta-1-s beta) that keeps its share of the loss fixed."""
EXCESS = 1e12
"""Label noise far above what keeps its share of the loss, and small enough for the model to have forgotten it."""
FAR = Path(1.0, 1e4)
Rays = Sequence[Ray]


def noise_rays(sample: Sample, runs: Sequence[Run]) -> list[Ray]:
    """Along sigma^2 to infinity and to zero at a fixed model and horizon: sixty decades, so that one term leads."""
    s, beta = sample.point
    size = moderate_size(beta)
    horizon = BEYOND.multiple * size ** (BEYOND.power * beta)
    powers = np.linspace(0.0, 60.0, 13)
    noisy = []
    for run in runs:
        for sign, words in ((1.0, "to infinity"), (-1.0, "to zero")):
            louder = [Run(run.shape, 10.0 ** (sign * power), run.level) for power in powers]
            points = records(s, beta, size, horizon, louder)
            noisy += rays(f"sigma^2 {words}, {BEYOND.name}, {run.shape}", "sigma^2", points, falling=sign < 0)
    return noisy


def rate_rays(sample: Sample, runs: Sequence[Run], size: float, horizon: float) -> list[Ray]:
    """Along sup gamma to zero at a fixed model and horizon."""
    s, beta = sample.point
    by_rate = []
    for run in runs:
        slower = [Run(run.shape, run.noise, 10.0**-power) for power in np.linspace(0.0, 30.0, 10)]
        name = f"sup gamma to zero, M = {size:g}, t = {horizon:.2g}, {run.shape}, sigma^2 = {run.noise:g}"
        by_rate += rays(name, "gamma", records(s, beta, size, horizon, slower), falling=True)
    return by_rate


def time_rays(sample: Sample, runs: Sequence[Run]) -> list[Ray]:
    """Along t at M = 30, from inside the window to 60 M^beta."""
    count = 10 if sample.effort == 0 else 16
    return size_rays(sample, 30.0, np.geomspace(4.0, 60.0 * 30.0 ** sample.point[1], count), runs)


def size_rays(sample: Sample, size: float, horizons: Array, runs: Sequence[Run]) -> list[Ray]:
    """Along t at a fixed model."""
    s, beta = sample.point
    table = [records(s, beta, size, float(horizon), runs) for horizon in horizons]
    name = f"M = {size:g}, t to {horizons[-1]:.2g}"
    return [
        ray for index, run in enumerate(runs)
        for ray in rays(f"{name}, {run.name}", "t", [row[index] for row in table])
    ]  # fmt: skip


def unstable(sample: Sample, noise: float = 1.0) -> dict[str, list[Ray]]:
    """A constant rate 15 times gamma_max, at which the loss grows."""
    return {"15 gamma_max": size_rays(sample, 30.0, np.geomspace(4.0, 400.0, 7), [Run("constant", noise, 15.0)])}


def later(sample: Sample) -> dict[str, list[Ray]]:
    """At M = 30 along t far beyond the times of the other rays."""
    times = 30.0 ** sample.point[1] * np.geomspace(500.0, 5e4, 7)
    return {"t beyond 100 M^beta": size_rays(sample, 30.0, times, [Run("constant", 1.0), Run("constant", 0.0)])}


def balance(sample: Sample) -> float:
    """beta - 1 - s beta: sigma^2 = M^this makes what K_infinity - K_M leaves of the noise as large as delta_M."""
    s, beta = sample.point
    return beta - 1.0 - s * beta


def leading(sample: Sample) -> float:
    """Power of M in sigma^2 with which label noise, once it leads at t = c M^beta, leads along the whole ray.

    It falls like the larger of M^-(s beta) and the mini-batch noise of the signal, t^-(2 - 1/beta); else one would
    slowly take over from the other along the ray, which looks like a drift.
    """
    s, beta = sample.point
    return -min(s * beta, 2.0 * beta - 1.0)


@lru_cache(maxsize=64)
def everywhere(sample: Sample) -> tuple[Ray, ...]:
    """All times and all noises, along M; at the full profile every shape beyond the window as well."""
    measured = [ray for path, runs in EVERYWHERE.items() for ray in model_rays(sample, path, runs)]
    if sample.effort:
        measured += model_rays(sample, EDGE, [Run("adversary", 1.0)]) + model_rays(
            sample, AFTER, [Run("adversary", 0.0)]
        )
        measured += model_rays(sample, BEYOND, [Run(name, 1.0, 0.3) for name in SHAPES])
    return tuple(measured)


@lru_cache(maxsize=64)
def wide(sample: Sample) -> tuple[Ray, ...]:
    """Along t and sup gamma at a size that is as good as infinite: each term leads on one of the rays.

    For small s the times are long, up to 1e150: else t^-s would hardly fall, and label noise never lead.
    """
    s, beta = sample.point
    decades = min(max(12.0, 4.0 / s), 150.0)
    size, last = float(math.floor(10.0 ** max(40.0, (decades + 20.0) / beta))), 10.0**decades
    runs = [Run("constant", 0.0, TINY), Run("constant", 1.0), Run("burst then zero", 1e6)]
    slower = rate_rays(sample, [Run("constant", 0.0)], size, 1e6)
    return (*size_rays(sample, size, np.geomspace(4.0, last, 9), runs), *slower)


@lru_cache(maxsize=64)
def aside(sample: Sample) -> tuple[Ray, ...]:
    """Along sigma^2, along sup gamma and along t at a fixed model."""
    beta = sample.point[1]
    size = moderate_size(beta)
    return (
        *noise_rays(sample, [Run("burst then zero", 1.0), Run("constant", 1.0)]),
        *rate_rays(sample, [Run("constant", 1.0), Run("constant", 0.0)], size, AFTER.multiple * size**beta),
        *time_rays(sample, [Run("burst then zero", 1.0, 0.3), Run("constant", 0.0, 0.3)]),
    )


@lru_cache(maxsize=64)
def window(sample: Sample) -> tuple[Ray, ...]:
    """Inside the window t <= c M^beta (up to c = 0.3, the signal alone up to c = 3), with K_infinity in the law.

    The adversary makes the loss small against that law. On easy tasks the burst is without label noise, which would
    fade so slowly beside the signal that it looked like a drift.
    """
    fading = balance(sample) < -1e-9  # 0 at the edge, but for the rounding
    signal, burst = Run("constant", 0.0, TINY), Run("burst then zero", 0.0 if fading else LOUDEST, 1.0, balance(sample))
    loud = {shape: Run(shape, LOUDEST, 1.0, leading(sample)) for shape in ("constant", "step down", "adversary")}
    runs_by_path = {
        EARLY: (signal, loud["constant"], burst, loud["adversary"]),
        EDGE: (signal, Run("exponential decay", 0.0), loud["step down"], burst),
        AFTER: (signal,),
    }
    measured = (ray for path, runs in runs_by_path.items() for ray in model_rays(sample, path, runs, infinite=True))
    return (*measured, *wide(sample))


def farthest(s: float) -> float:
    """t/M^beta up to which the signal is followed at M = 30: t^-s is then below M^-(s beta) by 1e-6."""
    return float(10.0 ** min(max(30.0, 6.0 / s), 250.0))


@lru_cache(maxsize=64)
def all_times(sample: Sample, noise: float, power: float) -> tuple[Ray, ...]:
    """At t/M^beta from 0.003 to 1e4 (the signal alone to 1e30), with sigma^2 = noise M^power and with sigma^2 = 0.

    Loud noise is seen at t = 1/4 too, the signal not: there e_M comes to e_infinity like M^-(s beta), which for small
    s is a drift.

    The law has K_infinity, and the adversary makes the loss small against it.
    """
    signal, burst = Run("constant", 0.0, TINY), Run("burst then zero", noise, 1.0, power)
    worst, loud = Run("adversary", noise, 1.0, power), Run("constant", LOUDEST, 1.0, leading(sample))
    runs_by_path = {
        AT_FIRST: (Run("constant", LOUDEST),), EARLY: (signal, loud), EDGE: (burst, worst),
        AFTER: (burst, worst, signal), BEYOND: (burst, Run("exponential decay", 0.0), signal), FAR: (burst,),
    }  # fmt: skip
    measured = (ray for path, runs in runs_by_path.items() for ray in model_rays(sample, path, runs, infinite=True))
    s, beta = sample.point
    far = size_rays(sample, 30.0, np.geomspace(4.0, farthest(s) * 30.0**beta, 7), [signal])
    return (*measured, *far, *wide(sample))


def decided(sample: Sample) -> bool:
    """Whether s > 2 - 1/beta by so much that the mini-batch noise of the signal outgrows the signal on the rays."""
    s, beta = sample.point
    return s > 2.0 - 1.0 / beta + 0.2


@lru_cache(maxsize=64)
def loud(sample: Sample) -> Rays:
    """Far beyond the window after a burst of noise so loud that K_infinity, which remembers it, is M^(1/2) too large.

    sigma^2 begins at 1e12 of M^(beta-1-s beta) and of M^-beta, below which the signal's own noise decides.
    """
    run = Run("burst then zero", EXCESS, 1.0, max(balance(sample), -sample.point[1]) + 0.5)
    return tuple(model_rays(sample, BEYOND, [run], infinite=True))


def all_rays(sample: Sample) -> Rays:
    """Every ray: along M, t, sigma^2 and sup gamma."""
    return (*everywhere(sample), *aside(sample))


def balanced(sample: Sample) -> Rays:
    """All times, with label noise as large as :func:`balance` allows."""
    return all_times(sample, 1.0, balance(sample))
