"""thm:fsl-const-noise and thm:fsl-zero-noise: label noise that does not vanish, and none; the printed end s = 0."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Integer, Rational, Sum, log

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import NOTHING
from fsl_num.claims.statements import Direction, Equivalent, Ray
from fsl_num.claims.words import Where
from fsl_num.paper.block_constants import exact_powers
from fsl_num.paper.functional.formulas import LAW, MODEL_PAIR, functional, risk_is
from fsl_num.paper.functional.laws import FAMILY, GIVEN, dropped, functional_law
from fsl_num.paper.functional.rays import EVERYWHERE, all_rays, decided, rate_rays, unstable
from fsl_num.paper.functional.runs import AFTER, EARLY, Run, model_rays, moderate_size
from fsl_sym.proof import AllOf, equals, same_order
from fsl_sym.symbols import E, M, N, j

IS_LAW = risk_is(LAW)
SILENT = risk_is(functional(MODEL_PAIR, label=False))
AT_START = 1 + Sum(1 / j, (j, 1, M))
"""1 + e_M(0) at s = 0."""
RISK_AT_START = same_order(E, log(N))
ONLY_LEARNED = risk_is(functional(MODEL_PAIR, label=False, signal_too=False))
MODEL_AT_ZERO = Where("lambda_j = j^-beta with beta > 1; theta_j^2 = j^-1 lambda_j^(s-1)")


@lru_cache(maxsize=64)
def silence(sample: Sample) -> tuple[Ray, ...]:
    """The rays of :func:`everywhere` without label noise; and along sup gamma, inside the window and beyond."""
    silent = {path: [run for run in runs if run.noise == 0.0] for path, runs in EVERYWHERE.items()}
    beta = sample.point[1]
    size = moderate_size(beta)
    slower = [
        ray for path in (EARLY, AFTER)
        for ray in rate_rays(sample, [Run("constant", 0.0)], size, path.multiple * size**beta)
    ]  # fmt: skip
    return (
        *(ray for path, runs in silent.items() for ray in (model_rays(sample, path, runs) if runs else ())),
        *slower,
    )


def zero_rays() -> tuple[Ray, ...]:
    """2 E at t = 0 for s = 0 and N = 2^M, harmonic: log N + 0.577...; with "law", log(1 + e_M(0))."""
    from scipy.special import digamma

    sizes = np.geomspace(8.0, 1e15, 12)
    risk = np.log(sizes * np.log(2.0) + float(np.euler_gamma))
    law = np.log(1.0 + digamma(sizes + 1.0) + float(np.euler_gamma))
    return (Ray("t = 0, N = 2^M", np.log(sizes), {"M": np.log(sizes), "N": sizes * np.log(2.0), "law": law}, risk),)


def _bounded(direction: Direction) -> Equivalent:
    return Equivalent(lambda _, logs: logs["law"], {}, direction=direction)


def _without_source(s: Any, beta: Any) -> list[tuple[Any, Any]]:
    return [(Integer(0), beta)]


def up_to_two(s: Any, beta: Any) -> tuple[Any, Any]:
    """The point itself where s <= 2 - 1/beta, else that with s = 2 - 1/beta: the printed range and its end."""
    return min(s, 2 - 1 / beta), beta


AT_ITS_END = {"easy": ((Rational(7, 4), 4),)}
"""s = 2 - 1/beta."""


def past_two(s: Any, beta: Any) -> tuple[Any, Any]:
    """The point itself where s >= 5/2 - 1/beta, else that with s = 5/2 - 1/beta: outside the printed range."""
    return max(s, Rational(5, 2) - 1 / beta), beta


def loud(ray: Ray) -> bool:
    """Whether sigma^2 >= 1 along the ray."""
    return bool((ray.logs["sigma^2"] >= -1e-9).all())


def noisy(sample: Sample) -> dict[str, list[Ray]]:
    """The rays of every label noise but 0; and without, a rate at which the loss grows."""
    loud_rays = [ray for ray in all_rays(sample) if (ray.logs["sigma^2"] > NOTHING).any()]
    return {"sigma^2 > 0": loud_rays, **unstable(sample, 0.0)}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm:fsl-const-noise", "thm:fsl-const-noise", 591, "label noise that is bounded below: the law, all times",
        IS_LAW, (*GIVEN, "1 <= sigma^2 <= 1e60", "t >= 0"),
        lambda sample: [ray for ray in all_rays(sample) if loud(ray)], functional_law, dropped("delta", "e", "label"),
        beyond=lambda sample: {"sigma^2 below 1": [ray for ray in all_rays(sample) if not loud(ray)],
                               **unstable(sample)},
        depends=("prop:fsl-weak-upper-bound",), family=FAMILY,
        quoted=r"Then, for any $s > 0$ and all $t \ge 0$",
    ),
    Claim(
        "thm:fsl-const-noise/any-noise", "thm:fsl-const-noise", 591, "the same for label noise as small as you like",
        IS_LAW, (*GIVEN, "0 <= sigma^2 <= 1", "t >= 0"),
        lambda sample: [ray for ray in all_rays(sample) if not loud(ray) or "to zero" in ray.name],
        lambda sample: functional_law(sample, kernel=decided(sample)), dropped("delta", "e"), role="stronger",
        beyond=lambda sample: {"sigma^2 from 1 on": [ray for ray in all_rays(sample) if loud(ray)]},
        strengthens="thm:fsl-const-noise", depends=("thm: fsl-general-noise/all-times",), family=FAMILY,
        remark="The hypothesis that the noise is bounded below is not needed.",
    ),
    Claim(
        "thm:fsl-zero-noise", "thm:fsl-zero-noise", 607, "no label noise: the law, all times",
        SILENT,
        (*GIVEN, "sigma = 0", "0 < s <= 2 - 1/beta", "t >= 0"),
        silence, lambda sample: functional_law(sample, SILENT, kernel=False),
        dropped("delta", "e"), moved=up_to_two, extra_points=AT_ITS_END, beyond=noisy, depends=("eq:Ke-gap",),
        family=FAMILY,
        quoted=r"If $s \in [0, 2 - 1/\beta]$, then for all $t \ge 0$",
    ),
    Claim(
        "thm:fsl-zero-noise/any-difficulty", "thm:fsl-zero-noise", 607,
        "no label noise: the same beyond the printed range",
        SILENT,
        (*GIVEN, "sigma = 0", "s > 2 - 1/beta", "t >= 0"), silence,
        lambda sample: functional_law(sample, SILENT), dropped("delta", "e", "batch"), moved=past_two,
        beyond=noisy,
        regimes=("easy",), role="stronger",
        strengthens="thm:fsl-zero-noise", depends=("thm: fsl-general-noise/all-times",), family=FAMILY,
        remark="The hypothesis on s is not needed; here the mini-batch noise of the signal leads.",
    ),
    Claim(
        "thm:fsl-zero-noise/batch-term", "thm:fsl-zero-noise", 607,
        "no label noise: where the convolution is not needed",
        ONLY_LEARNED,
        (*GIVEN, "sigma = 0", "0 < s <= 2 - 1/beta", "t >= 0"),
        silence, lambda sample: functional_law(sample, ONLY_LEARNED, kernel=False), dropped("delta", "e"),
        beyond=noisy, moved=up_to_two, extra_points=AT_ITS_END, role="stronger",
        strengthens="thm:fsl-zero-noise", family=FAMILY,
        remark="The convolution adds no order.",
    ),
    Claim(
        "thm:fsl-zero-noise/zero-difficulty", "thm:fsl-zero-noise", 611, "the printed end of the range of s",
        same_order(E, AT_START),
        (MODEL_AT_ZERO, "s = 0", "N = 2^M",
         exact_powers("one spectrum is enough to refute it")), lambda sample: zero_rays(),
        lambda sample: _bounded("both"), regimes=("hard",), own=_without_source,
        corrected_by="thm:fsl-zero-noise/zero-difficulty-risk",
        instances=lambda sample: [{M: 8, AT_START: math.exp(zero_rays()[0].logs["law"][0])}],
        quoted=r"$s \in [0, 2 - 1/\beta]$",
    ),
    Claim(
        "thm:fsl-zero-noise/zero-difficulty-risk", "thm:fsl-zero-noise", 611,
        "the risk at that end grows with the number of features",
        AllOf((equals(2 * E, Sum(1 / j, (j, 1, N))), RISK_AT_START)),
        (MODEL_AT_ZERO, "s = 0", "N = 2^M",
         exact_powers("targets up to constants change the sum by these alone")), lambda sample: zero_rays(),
        lambda sample: order_statement(RISK_AT_START, sample),
        lambda sample: {"bounded by the law of the theorem": _bounded("upper")},
        instances=lambda sample: [{E: 0.5 * float(np.sum(1.0 / np.arange(1.0, 257.0))), N: 256}],
        regimes=("hard",), own=_without_source,
        role="corrected",
        remark="The theorem needs a positive s, as its source condition says.",
    ),
)  # fmt: skip
