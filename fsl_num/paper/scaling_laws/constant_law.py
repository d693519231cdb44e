"""thm:chinchilla: the scaling law of a constant learning rate."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray
from fsl_num.paper.block_constants import UP_TO_CONSTANTS
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.scaling_laws.laws import LEARNED, NOISE, STABLE, derivations
from fsl_num.paper.scaling_laws.training import (
    LONGEST,
    SILENT,
    Training,
    even_grid,
    functional_rays,
    long_after,
    risk_ray,
    silent,
    volterra_risk,
    whole,
)
from fsl_num.validation import Array
from fsl_sym.proof import at_least, equals, same_order
from fsl_sym.symbols import B, E, K, T, a, sigma

CONSTANT = same_order(E, LEARNED + a / B * sigma**2)


@lru_cache(maxsize=64)
def constant_rays(sample: Sample) -> tuple[Ray, ...]:
    """A constant rate: model size, time or noise decide, eta, B and sigma^2 vary each alone; time 1, M = 1 included."""
    beta = sample.point[1]
    model, time = even_grid(LONGEST / beta, sample), even_grid(LONGEST, sample)
    noise = even_grid(20.0, sample)
    runs: dict[str, tuple[Array, list[Training]]] = {
        "M decides, t = 10^(2/s) M^(3 beta)": (
            model,
            [Training(size, long_after(size, sample), batch=10**SILENT) for size in map(whole, model)],
        ),
        "t decides, M = t^(4/beta)": (
            time,
            [Training(whole(4 * u / beta), 10**u, batch=10**SILENT) for u in time],
        ),
        "noise decides: eta, B and sigma^2 vary": (
            noise,
            [Training(1e6, 1e6, batch=10**u, noise=10 ** (SILENT - 2 * u), peak=10 ** (-0.5 * u)) for u in noise],
        ),
        "noise decides, t and M grow": (noise, [Training(whole(u), 10**u, noise=10**SILENT) for u in noise]),
        "noise decides, eta alone varies": (
            noise,
            [Training(1e6, 1e6, noise=10**SILENT, peak=10**-u) for u in noise],
        ),
        "noise decides, B alone varies": (noise, [Training(1e6, 1e6, batch=10**u, noise=10**SILENT) for u in noise]),
        "noise decides, sigma^2 alone varies": (
            noise,
            # from 1e4 on, where the noise leads: on from 1e150 the logarithm of sigma^2 would hardly grow
            [Training(1e6, 1e6, noise=10 ** (4 + 2 * u)) for u in noise],
        ),
        "M decides; eta, B and sigma^2 vary": silent(Training(10.0, long_after(10.0, sample)), sample),
        "t decides; eta, B and sigma^2 vary": silent(Training(whole(40.0 / beta), 1e10), sample),
    }
    return functional_rays(runs, sample)


@lru_cache(maxsize=64)
def short_rays(sample: Sample) -> tuple[Ray, ...]:
    """A constant rate at intrinsic times from 1 down to 1e-12, by the Volterra equation; the noise is negligible."""
    times = np.linspace(0.0, 12.0, 7)
    runs = [Training(100.0, 10**-u, batch=10**SILENT) for u in times]
    return (risk_ray("t tends to 0", times, runs, sample, volterra_risk),)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm:chinchilla", "thm:chinchilla", 902, "the scaling law of a constant learning rate",
        CONSTANT,
        (MODEL, equals(T, a * K), at_least(T, 1), NOISE, STABLE, UP_TO_CONSTANTS), constant_rays,
        derive=lambda: derivations("constant"), depends=("eqn: fsl-simplified",), family="constant",
        beyond=lambda sample: {"T to 0": short_rays(sample)},
        quoted=r"\cE_K \eqsim M^{-s\beta} +(\eta K)^{-s} + \frac{\eta}{B}\sigma^{2}",
    ),
    Claim(
        "thm:const_lrs_law", "thm:const_lrs_law", 2995, "the law of a constant rate as restated, for short runs too",
        CONSTANT,
        (MODEL, equals(T, a * K), NOISE, STABLE, UP_TO_CONSTANTS),
        lambda sample: [*constant_rays(sample), *short_rays(sample)],
        corrected_by="thm:chinchilla", family="constant",
        quoted=r"\EE [\cR_K] - \frac{\sigma^2}{2} \eqsim \frac{1}{(\eta K)^s}"
               r" + \frac{\eta}{B}\sigma^2 + M^{-s\beta}",
        remark="As the intrinsic time vanishes the risk tends to a constant, and the printed signal to infinity.",
    ),
)  # fmt: skip
