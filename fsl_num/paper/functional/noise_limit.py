"""How much the law with K_infinity overstates the risk once a burst of label noise has been forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Equivalent, Ray
from fsl_num.paper.functional.instrument import Array
from fsl_num.paper.functional.laws import INFINITE, exponents, law
from fsl_num.paper.functional.measurements import BEYOND, CLOSURES, Run, moderate_size, records, sizes
from fsl_num.paper.functional.rays import balance

EXCESS = 1e12
"""sigma^2 is at least this multiple of M^(beta-1-s beta) and of M^-beta, below which the signal's own noise decides
(for s > 2 - 1/beta), and small enough for the finite model to have forgotten it."""


@lru_cache(maxsize=64)
def measured(sample: Sample) -> tuple[Ray, ...]:
    """Law with K_infinity over the loss, along M (sigma^2 = 1e12 M^(1/2) times the least) and along sigma^2."""
    s, beta = sample.point
    least = max(balance(sample), -beta)
    found = []
    by_size = [
        records(s, beta, float(size), BEYOND.multiple * float(size) ** beta,
                [Run("burst then zero", EXCESS, 1.0, least + 0.5)])[0]
        for size in _sizes(sample)
    ]  # fmt: skip
    size = moderate_size(beta)
    start = EXCESS * size**least
    runs = [Run("burst then zero", start * 10.0**power) for power in np.linspace(0.0, 20.0, 9)]
    by_noise = records(s, beta, size, BEYOND.multiple * size**beta, runs)
    for name, scale, points in (("M", "M", by_size), ("sigma^2", "sigma^2", by_noise)):
        found += _rays(sample, name, scale, points)
    return tuple(found)


def _sizes(sample: Sample) -> Array:
    """As long as it takes: what M features lack of the trace fades like M^-(beta-1), to 1e-4 at the end."""
    usual = sizes(sample, BEYOND)
    last = 10.0 ** min(4.0 / (sample.point[1] - 1.0), 60.0)
    return usual if last <= usual[-1] else np.floor(np.geomspace(usual[0], last, usual.size))


def _rays(sample: Sample, name: str, scale: str, points: Sequence[Mapping[str, float]]) -> list[Ray]:
    logs = {key: np.array([point[key] for point in points]) for key in points[0]}
    wide = law(sample, INFINITE)(exponents(sample), logs)
    grows = logs[scale] - logs[scale][0] + 1.0
    return [Ray(f"{closure}: along {name}", grows, logs, wide - logs[closure]) for closure in CLOSURES]


def statement(sample: Sample) -> Equivalent:
    """sigma^2 M^(s beta - beta + 1)."""
    s, beta = sample.point

    def power(given: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        return given["sigma^2"] * logs["sigma^2"] + given["M"] * logs["M"]

    return Equivalent(power, {"sigma^2": 1.0, "M": s * beta - beta + 1.0})
