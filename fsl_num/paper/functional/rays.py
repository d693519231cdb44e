"""The rays on which the theorems are checked: every schedule of the paper, the unusual ones and those of the adversary.

The paths cover the window and what lies beyond it; sigma^2 runs from 0 over 1e-6 and 1 to 1e6, and on rays of its own
to 1e60 and to 1e-60; sup gamma goes down to 1e-30 of its bound on rays of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.paper.functional.measurements import (
    AFTER,
    BEYOND,
    EARLY,
    EDGE,
    INSIDE,
    NOTHING,
    Path,
    Run,
    model_rays,
    moderate_size,
    noise_rays,
    rate_rays,
    size_rays,
    time_rays,
)
from fsl_num.paper.functional.shapes import SHAPES

TINY = 1e-60
"""Share of gamma_max at which the noise does not count: the signal is then seen alone."""

EVERYWHERE: Mapping[Path, tuple[Run, ...]] = {
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
    found = [ray for path, runs in EVERYWHERE.items() for ray in model_rays(sample, path, runs)]
    if sample.effort:
        found += model_rays(sample, EDGE, [Run("adversary", 1.0)]) + model_rays(sample, AFTER, [Run("adversary", 0.0)])
        found += model_rays(sample, BEYOND, [Run(name, 1.0, 0.3) for name in SHAPES])
    return tuple(found)


@lru_cache(maxsize=64)
def silence(sample: Sample) -> tuple[Ray, ...]:
    """The rays of :func:`everywhere` without label noise."""
    silent = {path: [run for run in runs if run.noise == 0.0] for path, runs in EVERYWHERE.items()}
    return tuple(ray for path, runs in silent.items() for ray in (model_rays(sample, path, runs) if runs else ()))


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


def quiet(ray: Ray) -> bool:
    """Whether sigma^2 = 0 along the ray."""
    return bool((ray.logs["sigma^2"] <= NOTHING).all())


def loud(ray: Ray) -> bool:
    """Whether sigma^2 >= 1 along the ray."""
    return bool((ray.logs["sigma^2"] >= -1e-9).all())


def late(ray: Ray) -> bool:
    """Whether t >= 0.3 M^beta along the ray."""
    return any(path.name in ray.name for path in (EDGE, AFTER, BEYOND))


@lru_cache(maxsize=64)
def window(sample: Sample) -> tuple[Ray, ...]:
    """Inside the window t <= c M^beta (up to c = 0.3, the signal alone up to c = 3), with K_infinity in the law.

    The adversary makes the loss small against that law. On easy tasks the burst is without label noise, which would
    fade so slowly beside the signal that it looked like a drift.
    """
    fading = balance(sample) < -1e-9  # 0 at the edge, but for the rounding
    signal, burst = Run("constant", 0.0, TINY), Run("burst then zero", 0.0 if fading else LOUDEST, 1.0, balance(sample))
    loud = {shape: Run(shape, LOUDEST, 1.0, leading(sample)) for shape in ("constant", "step down", "adversary")}
    each = {
        EARLY: (signal, loud["constant"], burst, loud["adversary"]),
        EDGE: (signal, Run("exponential decay", 0.0), loud["step down"], burst),
        AFTER: (signal,),
    }
    found = (ray for path, runs in each.items() for ray in model_rays(sample, path, runs, infinite=True))
    return (*found, *wide(sample))


FAR = Path(1.0, 1e4)


def farthest(s: float) -> float:
    """t/M^beta up to which the signal is followed at M = 30: t^-s is then below M^-(s beta) by 1e-6."""
    return float(10.0 ** min(max(30.0, 6.0 / s), 250.0))


@lru_cache(maxsize=64)
def all_times(sample: Sample, noise: float, power: float) -> tuple[Ray, ...]:
    """At t/M^beta from 0.003 to 1e4 (the signal alone to 1e30), with sigma^2 = noise M^power and with sigma^2 = 0.

    The law has K_infinity, and the adversary makes the loss small against it.
    """
    signal, burst = Run("constant", 0.0, TINY), Run("burst then zero", noise, 1.0, power)
    worst, loud = Run("adversary", noise, 1.0, power), Run("constant", LOUDEST, 1.0, leading(sample))
    each = {
        EARLY: (signal, loud), EDGE: (burst, worst), AFTER: (burst, worst, signal),
        BEYOND: (burst, Run("exponential decay", 0.0), signal), FAR: (burst,),
    }  # fmt: skip
    found = (ray for path, runs in each.items() for ray in model_rays(sample, path, runs, infinite=True))
    s, beta = sample.point
    far = size_rays(sample, 30.0, np.geomspace(4.0, farthest(s) * 30.0**beta, 7), [signal])
    return (*found, *far, *wide(sample))
