"""thm:geometric: the scaling law of exponential decay."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray
from fsl_num.paper.block_constants import UP_TO_CONSTANTS
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.scaling_laws.laws import NOISE, STABLE, decay_law, derivations
from fsl_num.paper.scaling_laws.training import SILENT, Training, decay_rays, risk_ray, volterra_risk
from fsl_sym.proof import at_least, at_most
from fsl_sym.symbols import T, a, b

GEOMETRIC = decay_law(T)


@lru_cache(maxsize=64)
def exponential_rays(sample: Sample) -> tuple[Ray, ...]:
    """Exponential decay: every term decides in turn; the crossover T = M^beta, b near a and T = 1 included."""
    return decay_rays(sample, lambda decay: 0.0, {})


@lru_cache(maxsize=64)
def short_decay_rays(sample: Sample) -> tuple[Ray, ...]:
    """Exponential decay at intrinsic times from 1 down to 1e-12, by the Volterra equation; the noise is negligible."""
    times = np.linspace(0.0, 12.0, 7)
    runs = [Training(100.0, 0.0, 10**-u, 1e-3, batch=10**SILENT) for u in times]
    return (risk_ray("T tends to 0", times, runs, sample, volterra_risk),)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm:geometric", "thm:geometric", 944, "the scaling law of exponential decay",
        GEOMETRIC,
        (MODEL, at_least(T, 1), at_most(b, a), NOISE, STABLE, UP_TO_CONSTANTS), exponential_rays,
        derive=lambda: derivations("exp-decay"), beyond=lambda sample: {"T to 0": short_decay_rays(sample)},
        depends=("eqn: fsl-simplified", "lemma: N-exp-decay", "exp-decay/I1", "exp-decay/I2"), family="geometric",
        quoted=r"\cE_K \eqsim  M^{-s\beta} + T^{-s} + \sigma^2"
               r" \left(\frac{b}{B}+(a-b)\frac{\min\{M, T^{1/\beta}\}}{B T}\right)",
    ),
    Claim(
        "thm:geometric/restated", "thm:geometric", 3283, "the law of exponential decay as restated, for short runs too",
        GEOMETRIC,
        (MODEL, at_most(b, a), NOISE, STABLE, UP_TO_CONSTANTS),
        lambda sample: [*exponential_rays(sample), *short_decay_rays(sample)],
        corrected_by="thm:geometric", family="geometric",
        quoted=r"\cE_K \eqsim M^{-s\beta} + T^{-s} + \frac{\sigma^2}{B}"
               r" \left(b+(a-b)\frac{\min\{M, T^{1/\beta}\}}{T}\right)",
        remark="As the intrinsic time vanishes the risk tends to a constant, and the printed signal to infinity.",
    ),
)  # fmt: skip
