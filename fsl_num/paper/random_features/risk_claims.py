"""The theorem on random features, its Volterra equation, what random features leave of the target, and easier tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sympy import Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Sharp, Statement
from fsl_num.paper.model.statements import Trend
from fsl_num.paper.random_features import forcing, identities, laws, risks
from fsl_num.paper.random_features import formulas as said
from fsl_num.paper.random_features.statements import (
    FINITE_SIZE,
    Between,
    DrawnRay,
    Law,
    OverDraws,
    RareFailures,
    SharpOverDraws,
)
from fsl_sym.proof import at_most
from fsl_sym.random_features import sign_derivation
from fsl_sym.symbols import beta, s

SPECTRUM = "lambda_j = j^-beta, beta > 1"
TARGET = "theta_j^2 = j^-1 lambda_j^(s-1)"
RANDOM = ("entries of W normal of variance 1/M", "N = 4M")
TRAINING = (
    "normal features",
    "gamma tr(W H W') = 1/2, up to t or up to t/2",
    "t = (M/2)^beta and (2M)^beta",
    "sigma^2 = 0, such that noise and floor are of one order, and at t = (M/2)^beta M times that",
)
ENDPOINT = "s of the point where it is below 1 - 1/beta or at it; in the easy regime s = 1, the end of the range"
DRAWN = (
    "probability at least 1 - exp(-Omega(M)) over W; measured are means of logarithms over the signs of the target "
    "(equal in law to those of W) for {draws} draws of W at M = 16, 32, 64, 128, conditional on W exactly; the slope "
    "in log M may be 0.03 (0.06 at beta = 3/2) and three of its standard errors"
)
RISKS = DRAWN.format(draws="32, 24, 20, 16 (quick) or 40, 32, 24, 20 (full)")
LEFT = DRAWN.format(draws="120, 100, 80, 48 (quick) or 160, 120, 100, 64 (full)") + (
    "; the fixed target in 120 draws at M = 16, 32, 64 leaves the bounds of 200 draws at M = 8 with a probability that "
    "is shown, at 99.9 %, to be at most exp(-0.03 M)"
)
RATE = 0.03
ONE = Rational(1)
AT_ONE = {"easy": ((ONE, Rational(2)), (ONE, Rational(4)))}
STEEPER = AT_ONE | {"edge": ((Rational(3, 4), Rational(4)),)}
EASIER = {"easy": ((ONE, Rational(2)), (Rational(9, 10), Rational(2)), (Rational(6, 5), Rational(5)))}
STEEP = {"edge": ((Rational(3, 4), Rational(4)),)}
EARLY = {"t = 1": 0.1}
"""At t = 1 the floor and the turned eigenvectors are terms of the relative order M^-(s beta) and 1/M."""


def endpoint(sample: Sample) -> float:
    """The source exponent at which a claim about s <= 1 is tested: 1 in the easy regime."""
    return 1.0 if sample.regime == "easy" else sample.point[0]


def finite_size(sample: Sample) -> float:
    """The slope that counts as none: the kernel's integral reaches its limit like t^-(1-1/beta), as M^-(beta-1)."""
    return float(FINITE_SIZE + 0.15 * 32.0 ** (1.0 - sample.point[1]))


def _risks_to_one(sample: Sample) -> list[DrawnRay]:
    return risks.rays(sample, s=endpoint(sample))


def _printed(integral: str, sample: Sample) -> OverDraws:
    law = laws.printed(sample.point[1], integral)
    return OverDraws(law, {laws.SOURCE: endpoint(sample)}, finite_size=finite_size(sample))


def _corrected(integral: str, sample: Sample) -> OverDraws:
    law = laws.corrected(sample, integral)
    return OverDraws(law, laws.corrected_exponents(sample), finite_size=finite_size(sample))


def _corrected_mutants(integral: str, sample: Sample) -> dict[str, Statement]:
    statement = _corrected(integral, sample)
    if sample.point[0] <= 1.0:
        return {"no noise returns": replace(statement, law=laws.corrected(sample))}
    first = laws.corrected(sample, integral, floor="top", with_leak=False)
    return {"the law of the first M features": replace(statement, law=first)}


def _hard(sample: Sample) -> OverDraws:
    return OverDraws(laws.hard(sample), laws.hard_exponents(sample), finite_size=finite_size(sample))


def _history(*parts: str) -> Law:
    return lambda exponents, logs: laws.total(*(logs[name] for name in parts))


def _recursion(sample: Sample) -> Between:
    wrong = {
        "nothing is left of the target": _history("volterra"),
        "no noise returns": _history("left"),
        "twice the noise": _history("left", "volterra", "volterra"),
    }
    return Between(_history("left", "volterra"), 1.0, 2.0, wrong)


def _left(sample: Sample) -> dict[str, Any]:
    s, beta = sample.point
    return {"equivalence": forcing.rays(sample), "failures": forcing.fixed_grid(s, beta, sample.seed)}


def _left_law(sample: Sample, **options: Any) -> Joint:
    exponents = laws.corrected_exponents(sample, share=True)
    law = laws.corrected(sample, **options)
    return Joint(
        {
            "equivalence": OverDraws(law, exponents, slack=EARLY),
            "failures": RareFailures(laws.corrected(sample), exponents, RATE),
        }
    )


def _left_mutants(sample: Sample) -> dict[str, Statement]:
    s, beta = sample.point
    found: dict[str, Statement] = {
        "entries of variance 1": _left_law(sample, signal="unit signal"),
    }
    if abs(1.0 + beta * (s - 1.0)) > 0.5:  # near s = 1 - 1/beta all coordinates are alike
        found["the target in reverse order"] = _left_law(sample, signal="reversed signal")
    if s > 1.0:
        found["no leak"] = _left_law(sample, with_leak=False)
        found["the floor of the first M features"] = _left_law(sample, floor="top")
    return found


def _against_top(sample: Sample) -> list[DrawnRay]:
    """Risk of random over risk of the first M features, without noise, when all is learned."""
    (ray,) = forcing.rays(sample, forcing.END)
    pairs = zip(ray.values, ray.logs["top"], strict=True)
    return [replace(ray, values=tuple(values - top for values, top in pairs))]


def _easier(sample: Sample) -> OverDraws:
    s, _ = sample.point
    excess = max(0.0, s - 1.0)

    def law(exponents: laws.Exponents, logs: laws.Logs) -> Any:
        return logs["floor"] - logs["top"] - (exponents["max(s - 1, 0)"] - excess) * logs["kappa"]

    return OverDraws(law, {"max(s - 1, 0)": excess})


def _easier_mutants(sample: Sample) -> dict[str, Statement]:
    if sample.point[0] <= 1.0:
        return {}
    alike: Callable[..., Any] = lambda exponents, logs: 0.0 * logs["M"]  # noqa: E731
    return {"random features are like the first": replace(_easier(sample), law=alike)}


def _sharp(sample: Sample) -> SharpOverDraws:
    def law(exponents: laws.Exponents, logs: laws.Logs) -> Any:
        return logs["floor"] + (exponents[laws.SATURATED] - min(1.0, sample.point[0])) * logs["kappa"]

    wrong = {
        "the first M features": lambda exponents, logs: logs["top"],
        "three halves of it": lambda exponents, logs: logs["floor"] + np.log(1.5),
    }
    return SharpOverDraws(law, laws.corrected_exponents(sample), 2.0 * sample.point[1], wrong)


CONCENTRATED = Trend(-0.5, 0.2, "upper")
"""Finite sizes leave up to 0.17 of the slope of a spread, draws 0.05."""


def concentration(sample: Sample) -> float:
    """1/(1 + beta (s - 1)) for s > 1, and 1: the modes before the leak are as many as this power of M."""
    s, beta = sample.point
    return 1.0 / (1.0 + beta * max(0.0, s - 1.0))


def _spread(sample: Sample) -> Trend:
    if sample.regime != "easy":
        return Trend(-0.5, 0.2)
    # From below alone: where few modes decide the spread still grows at these sizes (slope 0.3 to 0.4 at s = 2.5).
    # Finite sizes leave up to 0.19 (s just above 1), draws 0.06.
    return Trend(-0.5 * concentration(sample), 0.25, "lower")


def _spread_mutants(sample: Sample) -> dict[str, Statement]:
    return {"M^-1/2 for every s": CONCENTRATED} if concentration(sample) < 0.35 else {}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: fsl-hard-regime/random-features", "thm: fsl-hard-regime", 491,
        "the hard regime, with random features",
        "For s <= 1 - 1/beta the excess risk with random features is of the order of M^(-s beta) + (1+t)^-s + the "
        "integral of (1+t-z)^-(2-1/beta) [(1+z)^-s + sigma^2] gamma, before and after t = M^beta.",
        said.HARD, (SPECTRUM, TARGET, at_most(s, 1 - 1 / beta), *RANDOM, *TRAINING),
        risks.rays, _hard, regimes=("edge", "hard"),
        depends=("lem: random_eigen/corrected", "prop:volterra-random/corrected"), family="random-risks",
        probability=RISKS, extra_points=STEEP,
    ),
    Claim(
        "thm: fsl-random", "thm: fsl-random", 627, "the law of random features, s in (0, 1]",
        "For 0 < s <= 1 the excess risk is of the order of M^(-s beta) + e^(t) + the integral of K^(t-z) [e^(z) + "
        "sigma^2] gamma, e^ and K^ with the eigenvalues of W H W'. It fails at s = 1, where a log M is missing.",
        said.PRINTED_LAW, (SPECTRUM, TARGET, at_most(s, 1), said.HATS, ENDPOINT, *RANDOM, *TRAINING),
        _risks_to_one, partial(_printed, "functional"),
        depends=("prop:volterra-random",), corrected_by="thm: fsl-random/corrected", family="random-risks",
        probability=RISKS, extra_points=AT_ONE,
    ),
    Claim(
        "thm: fsl-random/corrected", "thm: fsl-random", 627, "the law of random features, every s > 0",
        "For every s > 0 the excess risk is of the order of F + e~(t) + the integral of K^(t-z) [e~(z) + sigma^2] "
        "gamma, where e~ has theta_j^2 + (1/M) sum_{i<=j} theta_i^2 for theta_j^2, and F = kappa sum_j lambda_j "
        "theta_j^2/(lambda_j + kappa), of the order of M^-beta min(s,1), M^-beta log M at s = 1. For s < 1 this is the "
        "paper's law.",
        said.LAW, (SPECTRUM, TARGET, said.HATS, said.LEFT, "s > 0", *RANDOM, *TRAINING),
        risks.rays,
        partial(_corrected, "functional with leak"), partial(_corrected_mutants, "functional with leak"),
        depends=("prop:volterra-random/corrected",), family="random-risks", role="corrected", probability=RISKS,
        extra_points=STEEPER,
    ),
    Claim(
        "thm: fsl-random/easier-tasks", "thm: fsl-random", 642, "random and first features on easier tasks",
        "The risk that random features leave, over that of the first M features, is of the order of 1 for s < 1, log M "
        "at s = 1 and M^(beta (s-1)) for s > 1: there they diverge. Before that, for M^(1/(s - 1 + 1/beta)) << t << "
        "M^beta, the risk falls like t^-(1-1/beta)/M and no longer like t^-s.",
        said.EASIER,
        (SPECTRUM, TARGET, "s != 1 (log M at s = 1)", "R_random and R_top are the risks that stay",
         "no label noise, t infinite", *RANDOM),
        _against_top, _easier, _easier_mutants,
        depends=("prop:volterra-random/forcing",), family="random-left", probability=LEFT,
        extra_points=EASIER,
    ),
    Claim(
        "thm: fsl-random/floor", "thm: fsl-random", 628, "what random features never learn, sharply",
        "|rho|^2, what W does not reach of the target, is 1 + O(1/M) times kappa sum_j lambda_j theta_j^2/(lambda_j + "
        "kappa) in the mean, sum_{j<=N} lambda_j/(lambda_j + kappa) = M.",
        said.FLOOR,
        (SPECTRUM, TARGET, "s > 0", "rho is what W does not reach of the target, in the mean", *said.RIDGE, *RANDOM),
        lambda sample: forcing.rays(sample, forcing.END)[0], _sharp,
        family="random-left", role="own", extra_points={"easy": ((ONE, Rational(2)),)},
        probability="means over 120 to 48 (quick) or 160 to 64 (full) draws at M = 16 to 128, five standard errors",
    ),
    Claim(
        "thm: fsl-random/spread", "thm: fsl-random", 628, "how far one draw is from the mean",
        "The logarithm of the risk of one draw, without noise, is within O(M^-1/2) of that of the mean over signs at "
        "every t for s <= 1, as a probability of 1 - exp(-Omega(M)) needs. For s > 1 it is no closer than M^(-a/2), "
        "a = 1/(1 + beta(s-1)): at the time at which the leak takes over, about M^a modes decide. exp(-Omega(M)) is "
        "then too much to ask; up to M = 128 the spread even grows where s is near 2 or above.",
        said.SPREAD,
        (SPECTRUM, TARGET, "s > 0; the second for s > 1",
         "d(s, M) is the largest standard deviation of log risk over t", "no label noise", *RANDOM),
        forcing.spreads, _spread, _spread_mutants,
        family="random-left", role="own", extra_points={"easy": ((Rational(2), Rational(4)),)},
        probability="120, 120, 80, 48 draws at M = 16, 32, 64, 128; slopes of standard deviations, known to 0.05",
    ),
    Claim(
        "thm: fsl-random/signs", "thm: fsl-random", 628, "a fixed target is one with random signs",
        "The risk of the target S theta under W is that of theta under W S, for every S = diag(+-1): over W with "
        "symmetric columns, a fixed target and one with random signs have risks that are equal in law.",
        said.SIGNS, (SPECTRUM, TARGET, "X is A_t of W and Y is A_t of W S", "S = diag(+-1)", "any W, H diagonal"),
        identities.sign_risks,
        lambda sample: Sharp(identities.sign_claim(sample), lambda point: identities.ROUNDING, {
            "the signs left out": identities.sign_claim(sample, flipped=False)}),
        derive=sign_derivation, family="random-identities", role="own",
    ),
    Claim(
        "prop:volterra-random", "prop:volterra-random", 2473, "the Volterra equation of random features, s in (0, 1]",
        "For 0 < s <= 1 E[E_t] is of the order of M^(-s beta) + e^(t) + the integral of K^(t-z) gamma (E[E_z] + "
        "sigma^2). It fails at s = 1.",
        said.PRINTED_VOLTERRA, (SPECTRUM, TARGET, at_most(s, 1), said.HATS, ENDPOINT, *RANDOM, *TRAINING),
        _risks_to_one, partial(_printed, "volterra"),
        depends=("lem:trace_analysis_appendix", "lem:bias_upper_bound", "lem:bias_lower_bound"),
        corrected_by="prop:volterra-random/corrected", family="random-risks", probability=RISKS,
        extra_points=AT_ONE,
    ),
    Claim(
        "prop:volterra-random/corrected", "prop:volterra-random", 2473, "the Volterra equation, every s > 0",
        "For every s > 0 the same with F + e~(t), of thm: fsl-random/corrected, for M^(-s beta) + e^(t).",
        said.VOLTERRA, (SPECTRUM, TARGET, said.HATS, said.LEFT, "s > 0", *RANDOM, *TRAINING),
        risks.rays, partial(_corrected, "volterra"),
        partial(_corrected_mutants, "volterra"), depends=("prop:volterra-random/forcing",), family="random-risks",
        role="corrected", probability=RISKS, extra_points=STEEPER,
    ),
    Claim(
        "prop:volterra-random/forcing", "prop:volterra-random", 2473, "what random features leave, every s > 0",
        "u_0'A_t'H A_t u_0 is of the order of F + sum_j mu_j (theta_j^2 + (1/M) sum_{i<=j} theta_i^2) exp(-2 mu_j t) "
        "at every t, for the fixed target: mode j of W H W' sees a share 1/M of all coordinates before it.",
        said.FORCING,
        (SPECTRUM, TARGET, said.LEFT, "b(t) is u_0'A_t'HA_t u_0", "s > 0", *RANDOM,
         "failures for s > 1: t >= (M/2)^beta"),
        _left, _left_law, _left_mutants,
        depends=("lem: random_eigen/corrected",), family="random-left", role="own",
        extra_points=EASIER, probability=LEFT,
    ),
    Claim(
        "appendix:proof_random/recursion", "appendix:proof_random", 2945, "the risk by its own history",
        "E[E_t] is of the order of u_0'A_t'H A_t u_0 + the integral of tr(S A'H A S) gamma (E[E_z] + sigma^2), for "
        "every W: for normal features twice the excess risk is between 1 and 2 times this with 2E for E.",
        said.RECURSION,
        (SPECTRUM, TARGET, "b(t) is u_0'A_t'HA_t u_0, G(t) is tr(S A_t'HA_t S)", "s > 0", *RANDOM, *TRAINING),
        risks.rays, _recursion,
        depends=("lem:trace_analysis_appendix",), family="random-risks",
        probability="certain: constants 1 and 2 for every W; tested for all draws of thm: fsl-random",
    ),
)  # fmt: skip
