"""prop:volterra-random: the Volterra equation of random features, and what they leave of the target at every time."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.hypotheses import SPECTRUM, TARGET
from fsl_num.paper.random_features import forcing, formulas, laws
from fsl_num.paper.random_features.formulas import (
    EASIER,
    HATS,
    LEFT,
    OF_SIGNS,
    RANDOM,
    RATE,
    bias,
    e,
    floor_value,
    kernel,
    law,
    leaky,
    returned,
    risk,
)
from fsl_num.paper.random_features.letters import FLOOR, LEAKY, LEFT_AT, RETURNED, SIGNAL
from fsl_num.paper.random_features.risks import rays
from fsl_num.paper.random_features.statements import Between, Law, OverDraws, RareFailures
from fsl_sym.proof import at_most, same_order
from fsl_sym.symbols import M, beta, s, t, z

PRINTED_VOLTERRA: Final = law(M ** (-s * beta), e(t), kernel(t - z), risk(z))
VOLTERRA: Final = law(floor_value, leaky(t), kernel(t - z), risk(z))
RECURSION: Final = law(0, bias(t), returned(t - z), risk(z))
FORCING: Final = same_order(bias(t), floor_value + leaky(t))


def _recursion(sample: Sample) -> Between:
    history = laws.law_of(sample, RECURSION.right)
    wrong: dict[str, Law] = {
        "nothing is left of the target": laws.law_of(sample, RECURSION.right, left=""),
        "no noise returns": laws.law_of(sample, RECURSION.right, volterra=""),
        "twice the noise": lambda exponents, logs: laws.total(history(exponents, logs), logs["volterra"]),
    }
    return Between(history, 1.0, 2.0, wrong, formulas=(RECURSION,))


def _left(sample: Sample) -> dict[str, Any]:
    s, beta = sample.point
    return {"equivalence": forcing.rays(sample), "failures": forcing.fixed_grid(s, beta, sample.seed)}


def _left_law(sample: Sample, **instead: str) -> Joint:
    exponents = laws.corrected_exponents(sample, share=True)
    law = laws.law_of(sample, FORCING.right)
    wrong = laws.law_of(sample, FORCING.right, **instead)
    return Joint(
        {
            "equivalence": OverDraws(wrong, exponents, slack=forcing.EARLY, formulas=(FORCING,)),
            "failures": RareFailures(law, exponents, RATE, formulas=(FORCING,)),
        }
    )


def _left_mutants(sample: Sample) -> dict[str, Statement]:
    s, beta = sample.point
    mutants: dict[str, Statement] = {
        "entries of variance 1": _left_law(sample, signal="unit signal"),
    }
    if abs(1.0 + beta * (s - 1.0)) > 0.5:  # near s = 1 - 1/beta all coordinates are alike
        mutants["the target in reverse order"] = _left_law(sample, signal="reversed signal")
    if s > 1.0:
        mutants["no leak"] = _left_law(sample, leak="")
        mutants["the floor of the first M features"] = _left_law(sample, floor="top")
    return mutants


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "prop:volterra-random", "prop:volterra-random", 2473, "the Volterra equation of random features, as printed",
        PRINTED_VOLTERRA,
        (SPECTRUM, TARGET, at_most(s, 1), *HATS, *formulas.RANDOM,
         *formulas.TRAINING),
        rays, partial(laws.risk_law, PRINTED_VOLTERRA, laws.source_exponent),
        depends=("lem:trace_analysis_appendix", "lem:bias_upper_bound", "lem:bias_lower_bound"),
        corrected_by="prop:volterra-random/corrected", family="random-risks", probability=formulas.OF_SIGNS,
        extra_points=formulas.AT_ONE, moved=laws.to_one,
        quoted=r"Suppose $0 < s \le 1$",
        remark="It fails at the end of its range.",
    ),
    Claim(
        "prop:volterra-random/corrected", "prop:volterra-random", 2473,
        "the Volterra equation of random features, on every task",
        VOLTERRA, (SPECTRUM, TARGET, *HATS, *LEFT, "s > 0", *formulas.RANDOM, *formulas.TRAINING),
        rays, partial(laws.risk_law, VOLTERRA, laws.corrected_exponents),
        partial(laws.corrected_law_mutants, VOLTERRA), depends=("prop:volterra-random/forcing",),
        family="random-risks",
        role="corrected", probability=formulas.OF_SIGNS, extra_points=formulas.STEEPER,
    ),
    Claim(
        "prop:volterra-random/forcing", "prop:volterra-random", 2473, "what random features leave, on every task",
        FORCING,
        (SPECTRUM, TARGET, SIGNAL, LEAKY, FLOOR, LEFT_AT, "s > 0", *RANDOM),
        _left, _left_law, _left_mutants,
        depends=("lem: random_eigen/corrected",), family="random-left", role="own",
        extra_points=EASIER, probability=f"{OF_SIGNS}; for the easier tasks at late times alone",
        remark="Each mode of W H W' sees a share of all coordinates before it.",
    ),
    Claim(
        "appendix:proof_random/recursion", "appendix:proof_random", 2945, "the risk by its own history",
        RECURSION,
        (SPECTRUM, TARGET, LEFT_AT, RETURNED, "s > 0",
         *formulas.RANDOM, *formulas.TRAINING),
        rays, _recursion,
        depends=("lem:trace_analysis_appendix",), family="random-risks",
        probability="certain, for every W",
        quoted=r"\EE[\cE_t] &\eqsim \bu_0^\top\bA_t^\top\bH\bA_t\bu_0"
               r" + \int_{0}^{t} \tr(\bS\bA_{t-\tau}^\top\bH\bA_{t-\tau}\bS) \gamma_\tau (\EE[\cE_\tau]+"
               r" \sigma^2) \dd \tau",
    ),
)  # fmt: skip
