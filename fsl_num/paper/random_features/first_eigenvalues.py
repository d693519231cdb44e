"""lem: random_eigen: every eigenvalue of W H W' beside that of H."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Expr

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import compiled
from fsl_num.claims.statements import Joint
from fsl_num.paper.hypotheses import SPECTRUM
from fsl_num.paper.model.measurements import SIZES
from fsl_num.paper.model.statements import FailureRate
from fsl_num.paper.random_features import forcing
from fsl_num.paper.random_features.draws import FEATURES_PER_MODEL, sizes_of
from fsl_num.paper.random_features.formulas import PROBABLE, RANDOM, RATE, VARIANCE, large, mu, small
from fsl_num.paper.random_features.letters import MODES, UNIT_NORMAL
from fsl_num.paper.random_features.statements import SHIFTS as OVERALL
from fsl_num.paper.random_features.statements import DrawnRay, Law, OverDraws
from fsl_num.simulate.concentration import Concentration, eigenvalue_ratios, ratios_of_draw
from fsl_num.simulate.random_tasks import over_runs
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, at_most, equals
from fsl_sym.symbols import beta, j, s

EIGENVALUE_BOUNDS: Final = (at_most(small * j**-beta, mu(j)), at_most(mu(j), large * j**-beta))
DRAWS = (400, 200, 150, 120)
"""Of the failures: with 120 draws at M = 64 no probability below exp(-0.03 M) can be shown."""
LARGE_SIZES = (64, 128, 256)
LARGE_DRAWS = ((64, 48, 32), (96, 80, 64), (96, 80, 64))
"""Of the slopes, by profile. From M = 8 to 64 the least ratio still falls like M^-0.13 at beta = 6, here M^-0.05."""
SHIFTS: Final = {"least": (0.1, 0.3), "largest": (0.3,)}
"""The largest ratio falls like M^-0.04 to M^-0.06 at these sizes, as fluctuations fade, and three standard errors are
0.03: about M^-0.1 is resolved there, and tried on the mean over j."""


@lru_cache(maxsize=64)
def drawn_ratios(beta: float, effort: int, seed: int) -> tuple[Concentration, Concentration, list[Array]]:
    """mu_j(W H W')/lambda_j with N = 4M: at small sizes, others at the least of them, and logs at large ones.

    The latter are the least, the largest and the mean log over j, a draw a row.
    """
    seeds = [int(word) for word in np.random.SeedSequence([seed, 3]).generate_state(3)]
    first, pilot = (
        eigenvalue_ratios(beta=beta, model_sizes=sizes, runs=runs, seed=own)
        for sizes, runs, own in ((SIZES, DRAWS, seeds[0]), (SIZES[:1], DRAWS[:1], seeds[1]))
    )
    plans = [(beta, size) for size in LARGE_SIZES]
    large = over_runs(_logs_of_draw, plans, LARGE_DRAWS[effort], seed=seeds[2], executor=None, name="eigenvalues")
    return first, pilot, large


def _logs_of_draw(beta: float, size: int, generator: np.random.Generator) -> Array:
    logs = np.log(ratios_of_draw(beta, size, FEATURES_PER_MODEL * size, "model-size", generator))
    return np.array([logs.min(), logs.max(), logs.mean()])


def extreme_ratios(sample: Sample, *, unit: bool = False) -> Mapping[str, Any]:
    """The least and the largest ratio over j <= M along M, and how many draws leave the bounds that M = 8 sets.

    These lie between the tenth and the ninetieth percent of other draws. ``unit``: entries of variance 1, for which
    every eigenvalue is M times as large.
    """
    small_sizes, pilot, large = drawn_ratios(sample.point[1], sample.effort, sample.seed)
    ratios: dict[str, Any] = {}
    logs = sizes_of(LARGE_SIZES)
    scales = tuple(log + np.log(size) for log, size in zip(logs["v"], LARGE_SIZES, strict=True))
    for column, side in enumerate((*SHIFTS, "mean over j")):
        values = tuple(
            part[:, column] + (np.log(size) if unit else 0.0) for size, part in zip(LARGE_SIZES, large, strict=True)
        )
        ratios[side] = [DrawnRay(side, LARGE_SIZES, values, {**logs, "v": scales} if unit else logs)]
    low, high = pilot.quantiles("least", 0.1)[0], pilot.quantiles("largest", 0.9)[0]
    counts = []
    for size, least, largest in zip(SIZES, small_sizes.least, small_sizes.largest, strict=True):
        factor = size / SIZES[0] if unit else 1.0
        outside = (least * factor < low) | (largest * factor > high)
        counts.append((size, int(outside.sum()), outside.size))
    ratios["failures"] = counts
    return ratios


def _over_eigenvalue(bound: Expr, sample: Sample) -> Law:
    """The log of a bound over lambda_j, up to its constant: what is measured are quotients."""
    order = bound.subs({small: 1, large: 1}) / j**-beta
    law, exponents, *_ = compiled(order, {s: sample.s, beta: sample.beta})
    return lambda _, logs: law(exponents, logs)


def _bounded(sample: Sample) -> Joint:
    below, above = EIGENVALUE_BOUNDS
    least, largest = _over_eigenvalue(below.left, sample), _over_eigenvalue(above.right, sample)
    bounds = {
        "least": OverDraws(least, {}, "lower", shifts=SHIFTS["least"], formulas=(below,)),
        # what a finite size adds to the largest it loses as M grows: no growth is allowed but that of the draws
        "largest": OverDraws(
            largest, {}, "upper", finite_size=forcing.SETTLED, shifts=SHIFTS["largest"], formulas=(above,)
        ),
        "mean over j": OverDraws(
            largest, {}, finite_size=forcing.SETTLED, shifts=(0.05, *OVERALL), formulas=EIGENVALUE_BOUNDS
        ),
    }
    return Joint({**bounds, "failures": FailureRate(RATE)})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem: random_eigen", "lem: random_eigen", 635, "the eigenvalues of random features, as printed",
        AllOf(EIGENVALUE_BOUNDS),
        (SPECTRUM, MODES, UNIT_NORMAL,
         equals(VARIANCE, 1), *RANDOM[2:]),
        partial(extreme_ratios, unit=True), _bounded,
        corrected_by="lem: random_eigen/corrected",
        family="random-eigenvalues", probability=PROBABLE,
        quoted=r"it holds that $\widehat{\lambda}_j \eqsim \lambda_j \eqsim j^{-\beta}$ for any $j\in[M]$",
    ),
    Claim(
        "lem: random_eigen/corrected", "lem: random_eigen", 635,
        "the eigenvalues of random features of the right variance",
        AllOf(EIGENVALUE_BOUNDS), (SPECTRUM, MODES, *RANDOM),
        extreme_ratios, _bounded,
        family="random-eigenvalues", probability=f"at least 1 - exp(-{RATE:g} M) over W", role="corrected",
    ),
)  # fmt: skip
