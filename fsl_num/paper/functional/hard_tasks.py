"""thm: fsl-hard-regime: the functional scaling law with the powers of 1 + t, for hard tasks and all times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from sympy import Rational, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Equivalent, Joint, Ray, Statement
from fsl_num.paper.block_constants import exact_powers
from fsl_num.paper.functional.falling_rate import functionals
from fsl_num.paper.functional.formulas import INFINITE_PAIR, POWERS, functional, risk_is
from fsl_num.paper.functional.laws import EXACT, FAMILY, GIVEN, exponents, functional_law, law, without
from fsl_num.paper.functional.rays import EXCESS, LOUDEST, TINY, all_times, aside, balance, balanced, loud, unstable
from fsl_num.paper.functional.runs import (
    AFTER,
    BEYOND,
    CLOSURES,
    EARLY,
    EDGE,
    Run,
    model_rays,
    moderate_size,
    records,
    sizes,
)
from fsl_num.paper.hypotheses import SCHEDULES
from fsl_num.paper.statements import power_law
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, Formula, at_least
from fsl_sym.symbols import E, M, beta, s, sigma

HARD = ("edge", "hard")
IS_POWERS = risk_is(functional(POWERS))
LARGEST = Symbol("gamma_max", positive=True)
"""The largest learning rate over batch size, sup gamma."""
REMEMBERED = sigma**2 * LARGEST * M ** (s * beta - beta + 1)
"""What K_infinity remembers of a burst of noise that the M features have forgotten, over the risk."""
ATTAINED = Formula(functional(INFINITE_PAIR) / E, "~", REMEMBERED)
AT_MOST = Formula(functional(INFINITE_PAIR) / E, "<~", 1 + REMEMBERED)
LESS = Formula(AT_MOST.left, "<~", sigma ** -Rational(1, 20) + REMEMBERED)
"""The same with less than 1 where sigma is large and its largest rate so small that no noise counts: wrong."""
LOUD = 1e3
"""sigma^2 of a burst that shows what K_infinity remembers of it, sigma^2 M^(s beta - beta + 1) of sizes up to 1e5, from
0.05 beyond s = 1 - 1/beta on."""


@lru_cache(maxsize=64)
def fixed_rays(sample: Sample) -> tuple[Ray, ...]:
    """sigma = 1 along every ray, or 0; and a louder burst that has been forgotten since the window."""
    fixed = (ray for ray in all_times(sample, 1.0, 0.0) if np.ptp(ray.logs["sigma^2"]) == 0.0)
    return (*fixed, *model_rays(sample, AFTER, [Run("burst then zero", LOUD)], infinite=True))


@lru_cache(maxsize=64)
def noise_limit_rays(sample: Sample) -> tuple[Ray, ...]:
    """Law with K_infinity over the loss, along M (sigma^2 = 1e12 M^(1/2) times the least) and along sigma^2."""
    s, beta = sample.point
    least = max(balance(sample), -beta)
    rays = []
    by_size = [
        records(s, beta, float(size), BEYOND.multiple * float(size) ** beta,
                [Run("burst then zero", EXCESS, 1.0, least + 0.5)])[0]
        for size in _long_sizes(sample)
    ]  # fmt: skip
    size = moderate_size(beta)
    start = EXCESS * size**least
    runs = [Run("burst then zero", start * 10.0**power) for power in np.linspace(0.0, 20.0, 9)]
    by_noise = records(s, beta, size, BEYOND.multiple * size**beta, runs)
    for name, scale, points in (("M", "M", by_size), ("sigma^2", "sigma^2", by_noise)):
        rays += _rays_of_quotient(sample, f"{name}, burst then zero", scale, points)
    return tuple(rays)


def _long_sizes(sample: Sample) -> Array:
    """As long as it takes: what M features lack of the trace fades like M^-(beta-1), to 1e-4 at the end."""
    usual = sizes(sample, BEYOND)
    last = 10.0 ** min(4.0 / (sample.point[1] - 1.0), 60.0)
    return usual if last <= usual[-1] else np.floor(np.geomspace(usual[0], last, usual.size))


def _rays_of_quotient(sample: Sample, name: str, scale: str, points: Sequence[Mapping[str, float]]) -> list[Ray]:
    logs = {key: np.array([point[key] for point in points]) for key in points[0]}
    wide = law(sample, functional(INFINITE_PAIR))(exponents(sample), logs)
    grows = np.abs(logs[scale] - logs[scale][0]) + 1.0
    return [Ray(f"{closure}: along {name}", grows, logs, wide - logs[closure]) for closure in CLOSURES]


def noise_limit_law(sample: Sample) -> Equivalent:
    """sigma^2 M^(s beta - beta + 1)."""
    s, beta = sample.point
    return power_law(M=s * beta - beta + 1.0, **{"sigma^2": 1.0})


@lru_cache(maxsize=64)
def excess_rays(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """Law with K_infinity over the loss: after a burst along M, sigma^2 and gamma_max; and for other schedules too.

    Along M the noise of the others is as :func:`balance` has it: the bound stands still there, and a drift is one of
    the quotient.
    """
    s, beta = sample.point
    size, power = moderate_size(beta), balance(sample)
    attained: list[Ray] = list(noise_limit_rays(sample))
    unlike: list[Ray] = []
    # gamma_max grows where the noise is remembered, and falls where it counts for nothing
    for noise, levels, group in ((EXCESS * 1e24, np.linspace(24.0, 0.0, 9), attained), (1.0, np.arange(9.0), unlike)):
        runs = [Run("burst then zero", noise * size**power, 10.0**-level) for level in levels]
        points = records(s, beta, size, BEYOND.multiple * size**beta, runs)
        group += _rays_of_quotient(sample, "gamma_max, burst then zero", "gamma", points)
    # sigma^2 grows where gamma_max is so small that it counts for nothing
    runs = [Run("constant", 10.0**level, TINY) for level in range(0, 36, 4)]
    points = records(s, beta, size, BEYOND.multiple * size**beta, runs)
    unlike += _rays_of_quotient(sample, "sigma^2, constant, gamma_max small", "sigma^2", points)
    quiet, loud = (Run("constant", noise, 1.0, power) for noise in (1.0, LOUDEST))
    runs_by_path = {
        EARLY: (loud,),
        EDGE: (quiet, Run("burst then zero", 1.0, 1.0, power)),
        AFTER: (loud, Run("burst then zero", 1.0, 1.0, power)),
        BEYOND: (loud, Run("constant", 0.0, TINY), Run("step down", LOUDEST, 1.0, power)),
    }
    along = [ray for path, runs in runs_by_path.items() for ray in model_rays(sample, path, runs, infinite=True)]
    wide = law(sample, functional(INFINITE_PAIR))
    unlike += [replace(ray, values=wide(exponents(sample), ray.logs) - ray.values) for ray in along]
    parts = {str(ATTAINED): attained, str(AT_MOST): attained + unlike}
    return {part: tuple(replace(ray, logs=_named(ray.logs)) for ray in rays) for part, rays in parts.items()}


def _named(logs: Mapping[str, Array]) -> dict[str, Array]:
    return {**logs, str(LARGEST): logs["gamma"]}


def _infinite_mutants(sample: Sample) -> dict[str, Statement]:
    return {f"without {term}": without(sample, term, IS_POWERS) for term in ("delta", "e_inf", "label_inf")}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: fsl-hard-regime", "thm: fsl-hard-regime", 484, "hard tasks: the law with powers, all times",
        IS_POWERS, (*GIVEN, "s <= 1 - 1/beta", "sigma >= 0", "t >= 0"),
        lambda sample: (*balanced(sample), *aside(sample)), lambda sample: functional_law(sample, IS_POWERS),
        _infinite_mutants, regimes=HARD,
        corrected_by="thm: fsl-hard-regime/corrected", family=FAMILY,
        quoted=r"$s\in (0,1-1/\beta]$ and any $\sigma \ge 0$, it holds for all $t\geq 0$",
    ),
    Claim(
        "thm: fsl-hard-regime/corrected", "thm: fsl-hard-regime", 484, "hard tasks: as long as the noise is bounded",
        IS_POWERS,
        (*GIVEN, "s <= 1 - 1/beta", f"sigma^2 <= C M^(beta-1-s beta), C = {LOUDEST:.0f}",
         "t >= 0"),
        lambda sample: Located(balanced(sample), {"C": LOUDEST}), lambda sample: functional_law(sample, IS_POWERS),
        _infinite_mutants, regimes=HARD, role="corrected",
        beyond=lambda sample: {"a louder burst": Located(loud(sample), {"C": LOUDEST})},
        depends=("eq:Ksigma-gap/sharp", "thm: fsl-general-noise/all-times"), family=FAMILY,
    ),
    Claim(
        "thm: fsl-hard-regime/fixed-noise", "thm: fsl-hard-regime", 484, "hard tasks: each noise with its constants",
        IS_POWERS,
        (*GIVEN, "s <= 1 - 1/beta", "sigma the same along a ray", "t >= 0"),
        fixed_rays,
        lambda sample: functional_law(sample, IS_POWERS), _infinite_mutants,
        regimes=HARD, beyond=unstable,
        depends=("thm: fsl-hard-regime/corrected",), family=FAMILY,
        quoted=r"\eqsim M^{-s\beta} + e(t) + \int_0^t \cK(t-z)[e(z)+\sigma^2]\gamma(z)\dd z",
        remark="So the theorem reads where its constants may depend on the noise.",
    ),
    Claim(
        "thm: fsl-hard-regime/noise-limit", "thm: fsl-hard-regime", 484, "how the law with K_infinity fails",
        Formula(functional(INFINITE_PAIR) / E, "~", sigma**2 * M ** (s * beta - beta + 1)),
        (*EXACT, SCHEDULES("burst then zero"), "t = 100 M^beta",
         exact_powers("over other spectra the same factor is measured by any-noise, from both sides"),
         at_least(sigma**2, EXCESS / 2 * (M ** (beta - 1 - s * beta) + M**-beta))),
        noise_limit_rays, noise_limit_law,
        lambda sample: {"bounded": replace(noise_limit_law(sample), exponents={"sigma^2": 0.0, "M": 0.0})},
        role="own", family=FAMILY, instances=functionals,
        remark="What M features have forgotten exponentially, the kernel of infinitely many still remembers.",
    ),
    Claim(
        "thm: fsl-hard-regime/any-noise", "thm: fsl-hard-regime", 484, "hard tasks: every noise, with its constant",
        AllOf((ATTAINED, AT_MOST)),
        (*GIVEN, "s <= 1 - 1/beta", "sigma >= 0",
         SCHEDULES("constant", "step down", "burst then zero")),
        excess_rays,
        mutants=lambda sample: {
            "1 over a power of sigma": Joint({str(AT_MOST): order_statement(LESS, sample)})
        },
        regimes=HARD, role="own", instances=functionals,
        depends=("thm: fsl-hard-regime/corrected", "thm: fsl-hard-regime/noise-limit"), family=FAMILY,
        remark="A burst of noise at the largest rate attains it, long after.",
    ),
)  # fmt: skip
