"""thm: wsd: the scaling law of a stable phase followed by exponential decay."""

from __future__ import annotations

from functools import lru_cache

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Ray
from fsl_num.paper.block_constants import UP_TO_CONSTANTS
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.scaling_laws.laws import NOISE, STABLE, decay_law, derivations
from fsl_num.paper.scaling_laws.training import (
    LONGEST,
    SILENT,
    Training,
    decay_rays,
    even_grid,
    functional_risk,
    risk_ray,
    whole,
)
from fsl_sym.proof import at_least, at_most, equals
from fsl_sym.symbols import T1, T2, T, a, b

WSD = decay_law(T2)


@lru_cache(maxsize=64)
def stable_decay_rays(sample: Sample) -> tuple[Ray, ...]:
    """A stable phase first: the same, with T_1 >> T_2 and T_1 << T_2, and T_2 = 1."""
    beta = sample.point[1]
    grid, model = even_grid(LONGEST / 1.4, sample), even_grid(LONGEST / (1.5 * beta), sample)
    further = {
        "T_1 decides": (
            grid, [Training(whole(5.6 * u / beta), 10 ** (1.4 * u), 10**u, 1e-3, 10**SILENT) for u in grid],
        ),
        "noise, T_1 = T_2^1.4, M large": (
            grid, [Training(whole(2 * u / beta), 10 ** (1.4 * u), 10**u, 1e-200, noise=10**SILENT) for u in grid],
        ),
        "noise, T_1 = M^(2 beta) > T_2 = M^(3 beta/2)": (
            model, [Training(m, m ** (2 * beta), m ** (1.5 * beta), 1e-200, noise=10**SILENT)
                    for m in map(whole, model)],
        ),
        "noise, T_2 = 1, T_1 grows": (grid, [Training(1e6, 10**u, 1.0, 1e-3, noise=10**SILENT) for u in grid]),
    }  # fmt: skip
    return decay_rays(sample, lambda decay: decay**0.6, further)


def _short_phases(sample: Sample) -> dict[str, tuple[Ray, ...]]:
    """A decay far shorter than 1, where its noise no longer grows; and a stable phase far shorter than 1."""
    grid = even_grid(8.0, sample)
    runs = {
        "T_2 to 0": [Training(1e6, 1.0, 10**-u, 1e-3, noise=10**SILENT) for u in grid],
        "T_1 to 0": [Training(1e6, 10**-u, 1.0, 1e-3, noise=10**SILENT) for u in grid],
    }
    return {name: (risk_ray(name, grid, run, sample, functional_risk),) for name, run in runs.items()}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: wsd", "thm: wsd", 1023, "the scaling law of a stable phase followed by exponential decay",
        WSD,
        (MODEL, equals(T, T1 + T2), at_least(T1, 1), at_least(T2, 1), at_most(b, a), NOISE, STABLE, UP_TO_CONSTANTS),
        stable_decay_rays,
        mutants=lambda sample: {"T_1 + T_2 for T_2 in the noise": order_statement(decay_law(T), sample)},
        derive=lambda: derivations("wsd"),
        depends=("eqn: fsl-simplified", "lem: wsd-stable-noise", "thm:geometric"), family="wsd", beyond=_short_phases,
        quoted=r"\cE_K \eqsim M^{-s\beta} + (T_1+T_2)^{-s} + \sigma^2 \left(\frac{b}{B}+(a-b)\frac{\min\{M,"
               r" T_2^{1/\beta}\}}{B T_2}\right)",
    ),
)  # fmt: skip
