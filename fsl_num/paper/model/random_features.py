"""lem: random_eigen, lem:bias_upper_bound and lem:bias_lower_bound: random features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Ray, Statement
from fsl_num.paper.model.formulas import RANDOM, SPECTRUM, TARGET, bias, e, mu, own_eigenvalue
from fsl_num.paper.model.measurements import SIZES
from fsl_num.paper.model.statements import CONFIDENCE, FailureRate, Trend
from fsl_num.simulate.concentration import Concentration, eigenvalue_ratios
from fsl_num.simulate.random_features import BiasRatios, bias_ratios
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, at_most, order_at_most, same_order
from fsl_sym.symbols import M, beta, j, s, t

FLAT = 0.4
"""Largest slope of medians over M = 8 to 64 that counts as none: finite sizes leave up to 0.15 and the draws 0.1."""
EIGENVALUES: Final = same_order(mu(j), own_eigenvalue)
_least, _most = Symbol("c_1", positive=True), Symbol("c_2", positive=True)
EIGENVALUE_BOUNDS: Final = AllOf((at_most(_least * own_eigenvalue, mu(j)), at_most(mu(j), _most * own_eigenvalue)))
DRAWS = (400, 200, 150, 120)
RATE = 0.03
"""The failure probability is shown to be below exp(-0.03 M): with 120 draws at M = 64 no faster rate can be shown."""
_floor = M ** (-s * beta)
BIAS_ABOVE: Final = order_at_most(bias(t), _floor + e(t))
BIAS_BELOW: Final = AllOf((order_at_most(_floor, bias(t)), order_at_most(e(t), bias(t))))
BIAS_LETTERS = "b(t) is u_0'A_t'HA_t u_0, e(t) is e^_M(t) with the eigenvalues of W H W'"
BIAS_DRAWS = (32, 24, 16, 12)
"""So many at each size that the upper end of the interval of no failure lies well below the bound that is shown."""


def drawn(asserted: str, draws: tuple[int, ...], error: str) -> str:
    """What a claim about random W asserts with which probability, from how many draws, and how sure the test is."""
    counts = ", ".join(f"{count} at M = {size}" for count, size in zip(draws, SIZES, strict=True))
    return f"{asserted}; draws of W at each point: {counts}; {error}"


EIGENVALUES_DRAWN = partial(
    drawn,
    draws=DRAWS,
    error=f"failure rates by Clopper-Pearson bounds at {CONFIDENCE:.1%}, medians by a slope of at most {FLAT:g}",
)
BIASES_DRAWN = drawn(
    "with probability at least 1 - exp(-Omega(M)) over W (tested: the median)",
    BIAS_DRAWS,
    f"a slope of at most {FLAT:g} the wrong way, of which the draws can make up 0.1",
)


@lru_cache(maxsize=64)
def drawn_ratios(sample: Sample) -> tuple[Concentration, Concentration]:
    """mu_j(W H W')/lambda_j with entries of variance 1/M and N = 4M; and draws at the least size to set bounds with."""
    seeds = np.random.SeedSequence([sample.seed, 3]).generate_state(2)
    beta = sample.point[1]
    drawn = eigenvalue_ratios(beta=beta, model_sizes=SIZES, runs=DRAWS, seed=int(seeds[0]))
    return drawn, eigenvalue_ratios(beta=beta, model_sizes=SIZES[:1], runs=DRAWS[0], seed=int(seeds[1]))


def eigenvalue_trends(sample: Sample, *, unit: bool = False) -> Mapping[str, Any]:
    """Medians of the least and of the largest ratio, and how many draws leave the bounds that draws at M = 8 set.

    These lie between the tenth and the ninetieth percent of other draws. ``unit``: entries of variance 1, for which
    every eigenvalue is M times as large.
    """
    drawn, pilot = drawn_ratios(sample)
    low, high = pilot.quantiles("least", 0.1)[0], pilot.quantiles("largest", 0.9)[0]
    scale = np.log(np.array(SIZES, dtype=np.float64))
    larger = scale if unit else np.zeros_like(scale)
    found: dict[str, Any] = {}
    for side in ("least", "largest"):
        values = np.log(drawn.quantiles(side, 0.5)) + larger
        found[side] = Ray(side, scale, {"M": scale}, values)
    counts = []
    for size, least, largest in zip(SIZES, drawn.least, drawn.largest, strict=True):
        factor = size / SIZES[0] if unit else 1.0
        outside = (least * factor < low) | (largest * factor > high)
        counts.append((size, int(outside.sum()), outside.size))
    found["failures"] = counts
    return found


def _eigenvalues(sample: Sample) -> Joint:
    return Joint({"least": Trend(0.0, FLAT), "largest": Trend(0.0, FLAT), "failures": FailureRate(RATE)})


def _eigenvalue_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _eigenvalues(sample).parts
    return {f"{side}: entries of variance 1": Joint({**parts, side: Trend(1.0, FLAT)}) for side in ("least", "largest")}


@lru_cache(maxsize=64)
def drawn_biases(target: str, sample: Sample) -> BiasRatios:
    """What training without noise leaves of the target, against the two lemmas, for random W with N = 4M."""
    seed = int(np.random.SeedSequence([sample.seed, 4]).generate_state(1)[0])
    s, beta = sample.point
    return bias_ratios(s=s, beta=beta, model_sizes=SIZES, runs=BIAS_DRAWS, target=target, seed=seed)


def bias_trend(side: str, target: str, sample: Sample) -> Ray:
    """The median over draws of the ratio of ``side`` "lower" or "upper" as M grows."""
    drawn: Sequence[Array] = getattr(drawn_biases(target, sample), side)
    scale = np.log(np.array(SIZES, dtype=np.float64))
    return Ray(f"{side}, {target}", scale, {"M": scale}, np.log([float(np.median(part)) for part in drawn]))


def _biases(side: str, targets: tuple[str, ...], sample: Sample) -> Mapping[str, Any]:
    return {target: bias_trend(side, target, sample) for target in targets}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem: random_eigen", "lem: random_eigen", 635, "random features with w_j ~ N(0, I_N), as printed",
        "With the projection of the main text, w_j ~ N(0, I_N), the eigenvalues mu_j of W H W' are of the order of "
        "lambda_j for all j <= M with probability at least 1 - exp(-Omega(M)).",
        EIGENVALUES,
        (SPECTRUM, "mu(j) is the eigenvalue number j of W H W', j <= M", "entries of W normal of variance 1",
         *RANDOM[1:]),
        partial(eigenvalue_trends, unit=True), _eigenvalues, corrected_by="lem: random_eigen/corrected",
        family="random-eigenvalues",
        probability=EIGENVALUES_DRAWN("with probability at least 1 - exp(-Omega(M)) over W"),
    ),
    Claim(
        "lem: random_eigen/corrected", "lem: random_eigen", 635, "random features with w_j ~ N(0, I_N/M)",
        "With w_j ~ N(0, I_N/M) and N - M >~ M the ratios mu_j/lambda_j, j <= M, do not drift with M, and bounds that "
        "a fifth of the draws leave at M = 8 are left with a probability of at most exp(-0.03 M).",
        EIGENVALUE_BOUNDS, (SPECTRUM, "mu(j) is the eigenvalue number j of W H W', j <= M", *RANDOM),
        eigenvalue_trends, _eigenvalues, _eigenvalue_mutants,
        family="random-eigenvalues",
        probability=EIGENVALUES_DRAWN(f"with probability at least 1 - exp(-{RATE:g} M) over W"),
        role="corrected",
    ),
    Claim(
        "lem:bias_upper_bound", "lem:bias_upper_bound", 2587, "what random features leave, from above",
        "u_0'A_t'H A_t u_0 <= C (M^-(s beta) + e^_M(t)) at every t; tested for s < 1.",
        BIAS_ABOVE, (SPECTRUM, TARGET, BIAS_LETTERS, "s < 1", *RANDOM),
        partial(_biases, "upper", ("fixed",)),
        lambda sample: Joint({"fixed": Trend(0.0, FLAT, "upper")}),
        regimes=("edge", "hard"), depends=("lem: random_eigen/corrected",), family="random-bias",
        probability=BIASES_DRAWN,
    ),
    Claim(
        "lem:bias_lower_bound", "lem:bias_lower_bound", 2663, "what random features leave, from below",
        "u_0'A_t'H A_t u_0 >= c max{M^-(s beta), e^_M(t)} at every t, for the fixed target and for normal ones. The "
        "paper's argument does not show it.",
        BIAS_BELOW, (SPECTRUM, TARGET, BIAS_LETTERS, *RANDOM),
        partial(_biases, "lower", ("fixed", "normal")),
        lambda sample: Joint({target: Trend(0.0, FLAT, "lower") for target in ("fixed", "normal")}),
        depends=("lem: random_eigen/corrected",), family="random-bias",
        probability=BIASES_DRAWN,
    ),
)  # fmt: skip
