"""The theorems on the functional scaling law of the first M features: as printed, corrected, and stronger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sympy import Ge, Le, Rational, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Equivalent, Joint, Ray, Statement
from fsl_num.paper.functional import noise_limit, rays
from fsl_num.paper.functional.formulas import INFINITE as INFINITE_PAIR
from fsl_num.paper.functional.formulas import MIXED as MIXED_PAIR
from fsl_num.paper.functional.formulas import MODEL as MODEL_PAIR
from fsl_num.paper.functional.formulas import POWERS, functional, risk_is
from fsl_num.paper.functional.laws import INFINITE, MIXED, TERMS, functional_law, without
from fsl_num.paper.functional.measurements import STABILITY
from fsl_sym import best_constants
from fsl_sym.proof import AllOf, Formula
from fsl_sym.symbols import E, M, beta, s, sigma, t

FAMILY = "functional law of the first M features"
MODEL = (
    "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1, N infinite (M^-(s beta) stands as delta_M)",
    f"0 <= gamma <= gamma_max with gamma_max tr(H)/2 = {STABILITY} (and down to 1e-60 of it)",
)
Rays = Sequence[Ray]


def decided(sample: Sample) -> bool:
    """Whether s > 2 - 1/beta by so much that the mini-batch noise of the signal outgrows the signal on the rays."""
    s, beta = sample.point
    return s > 2.0 - 1.0 / beta + 0.2


def all_rays(sample: Sample) -> Rays:
    """Every ray: along M, t, sigma^2 and sup gamma."""
    return (*rays.everywhere(sample), *rays.aside(sample))


def chosen(keep: Callable[[Ray], bool]) -> Callable[[Sample], Rays]:
    """The rays of a kind."""
    return lambda sample: tuple(ray for ray in all_rays(sample) if keep(ray))


def dropped(*terms: str) -> Callable[[Sample], Mapping[str, Statement]]:
    """Mutants: the law without one of the terms."""
    return lambda sample: {f"without {term}": without(sample, term) for term in terms}


def up_to_two(sample: Sample) -> Sample:
    """The sample itself where s <= 2 - 1/beta, else the point s = 2 - 1/beta: the printed range and its end."""
    end = 2 - 1 / sample.beta
    return sample if sample.s <= end else replace(sample, s=end)


def past_two(sample: Sample) -> Sample:
    """The sample itself where s >= 5/2 - 1/beta, else the point s = 5/2 - 1/beta: outside the printed range."""
    end = Rational(5, 2) - 1 / sample.beta
    return sample if sample.s >= end else replace(sample, s=end)


def _general(sample: Sample) -> Joint:
    return Joint(
        {
            "window": functional_law(sample, INFINITE),
            "from below": functional_law(sample, direction="lower"),
            "from above": functional_law(sample, INFINITE, direction="upper"),
        }
    )


def _general_measured(sample: Sample) -> dict[str, Rays]:
    return {
        "window": rays.window(sample),
        "from below": (*rays.window(sample), *filter(rays.late, rays.everywhere(sample)), *_balanced(sample)),
        "from above": (*rays.window(sample), *_balanced(sample)),
    }


def _general_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _general(sample).parts
    swapped = {
        "from below with K_infinity": ("from below", functional_law(sample, INFINITE, direction="lower")),
        "from above without label noise": ("from above", without(sample, "label_inf", INFINITE, "upper")),
        "window without the signal": ("window", without(sample, "e_inf", INFINITE)),
    }
    if sample.s * sample.beta <= sample.beta - 1:
        # For s <= 1 - 1/beta the law with K_infinity is a lower bound on these rays too: sigma^2 is balanced. (In exact
        # numbers: floats would put a point of the edge on either side.)
        del swapped["from below with K_infinity"]
    return {name: Joint({**parts, part: wrong}) for name, (part, wrong) in swapped.items()}


def _balanced(sample: Sample) -> Rays:
    return rays.all_times(sample, 1.0, rays.balance(sample))


def _hard_uniform(sample: Sample) -> Rays:
    return (*_balanced(sample), *rays.aside(sample))


def _fixed_noise(sample: Sample) -> Rays:
    return rays.all_times(sample, 1.0, 0.0)


def _upper(sample: Sample) -> Rays:
    return (*rays.window(sample), *_balanced(sample))


def _infinite_mutants(sample: Sample) -> dict[str, Statement]:
    return {f"without {term}": without(sample, term, INFINITE) for term in ("delta", "e_inf", "label_inf")}


def _noise_law(sample: Sample) -> Equivalent:
    return noise_limit.statement(sample)


HARD = ("edge", "hard")
CRITICAL = Symbol("c", positive=True)
"""The critical time in units of M^beta."""

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: fsl-hard-regime", "thm: fsl-hard-regime", 484, "hard tasks: the law with the powers of 1 + t, all t",
        "For s <= 1 - 1/beta and any sigma >= 0 the law with K_infinity and e_infinity holds for all t, with constants "
        "that serve every sigma.",
        risk_is(functional(POWERS)), (*MODEL, "s <= 1 - 1/beta", "any sigma >= 0, uniformly", "all t >= 0"),
        _hard_uniform, lambda sample: functional_law(sample, INFINITE), _infinite_mutants, regimes=HARD,
        corrected_by="thm: fsl-hard-regime/corrected", family=FAMILY,
    ),
    Claim(
        "thm: fsl-hard-regime/corrected", "thm: fsl-hard-regime", 484, "hard tasks: as long as the noise is bounded",
        "For s <= 1 - 1/beta the law with K_infinity and e_infinity holds for all t, uniformly in "
        "sigma^2 <= C M^(beta-1-s beta); the power of M is at least 0, so sigma^2 <= C is enough.",
        risk_is(functional(POWERS)),
        (*MODEL, "s <= 1 - 1/beta", "sigma^2 <= C M^(beta-1-s beta)", "all t >= 0 (checked to 1e4 M^beta)"),
        _balanced, lambda sample: functional_law(sample, INFINITE), _infinite_mutants, regimes=HARD, role="corrected",
        depends=("eq:Ksigma-gap/sharp", "thm: fsl-general-noise/all-times"), family=FAMILY,
    ),
    Claim(
        "thm: fsl-hard-regime/fixed-noise", "thm: fsl-hard-regime", 484, "hard tasks: each noise with its constants",
        "For s <= 1 - 1/beta and a fixed sigma (here 1) the law with K_infinity and e_infinity holds for all t: so the "
        "theorem reads where its constants may depend on sigma.",
        risk_is(functional(POWERS)), (*MODEL, "s <= 1 - 1/beta", "sigma = 1", "all t >= 0 (checked to 1e4 M^beta)"),
        _fixed_noise, lambda sample: functional_law(sample, INFINITE), _infinite_mutants, regimes=HARD,
        depends=("thm: fsl-hard-regime/corrected",), family=FAMILY,
    ),
    Claim(
        "thm: fsl-hard-regime/noise-limit", "thm: fsl-hard-regime", 484, "how the law with K_infinity fails",
        "After a burst of noise the law with K_infinity exceeds the risk by a factor of the order "
        "sigma^2 M^(s beta - beta + 1), at t = 100 M^beta and sigma^2 above M^(beta-1-s beta) and M^-beta, for every "
        "s: what the M features have forgotten exponentially, K_infinity still remembers.",
        Formula(functional(INFINITE_PAIR) / E, "~", sigma**2 * M ** (s * beta - beta + 1)),
        (*MODEL, "gamma = gamma_max up to 0.3 M^beta, then 0", "t = 100 M^beta",
         "sigma^2 >> M^(beta-1-s beta) + M^-beta"),
        noise_limit.measured, _noise_law,
        lambda sample: {"bounded": replace(_noise_law(sample), exponents={"sigma^2": 0.0, "M": 0.0})},
        role="own", family=FAMILY,
    ),
    Claim(
        "thm: fsl-general-noise", "thm: fsl-general-noise", 549, "every noise: the law in the window, bounds beyond",
        "For t <= c M^beta the law holds with K_infinity and e_infinity; for t >= c M^beta the risk lies between the "
        "law with K_M and the law with K_infinity, up to constants that do not depend on sigma.",
        AllOf((replace(risk_is(functional(POWERS)), where=Le(t, CRITICAL * M**beta)),
               Formula(functional(MODEL_PAIR), "<~", E, where=Ge(t, CRITICAL * M**beta)),
               replace(risk_is(functional(POWERS), "<~"), where=Ge(t, CRITICAL * M**beta)))),
        (*MODEL, "sigma >= 0", "c = 0.3 (0.003 for the bounds beyond)"), _general_measured, _general, _general_mutants,
        depends=("approximation-error", "lemma:convolution-kernel", "prop:fsl-weak-upper-bound"), family=FAMILY,
    ),
    Claim(
        "thm: fsl-general-noise/all-times", "thm: fsl-general-noise", 549, "the law with K_M: all t, all s, all noise",
        "For every s > 0, every sigma >= 0 and every t >= 0 the risk is of the order of the law with K_M and e_M: one "
        "statement that contains the theorems on general, constant and zero label noise and, with K_M, the hard "
        "regime; no condition on sigma, on s or on t is needed.",
        risk_is(functional(MODEL_PAIR)),
        (*MODEL, "sigma^2 from 0 and 1e-60 to 1e60", "t from 4 to 100 M^beta"), all_rays, functional_law,
        lambda sample: dropped(*TERMS[:3], *(("batch",) if decided(sample) else ()))(sample),
        derive=best_constants.all_times_derivations, role="stronger", strengthens="thm: fsl-general-noise",
        depends=("cor: contraction/longer",), family=FAMILY,
    ),
    Claim(
        "thm:fsl-const-noise", "thm:fsl-const-noise", 591, "label noise of order 1 or more: the law with K_M, all t",
        "For sigma >= c the risk is of the order of the law with K_M and e_M, for every s > 0 and t >= 0.",
        risk_is(functional(MODEL_PAIR)), (*MODEL, "sigma^2 from 1 to 1e60", "all t >= 0"),
        chosen(rays.loud), functional_law, dropped("delta", "e", "label"),
        depends=("prop:fsl-weak-upper-bound",), family=FAMILY,
    ),
    Claim(
        "thm:fsl-const-noise/any-noise", "thm:fsl-const-noise", 591, "the same for label noise as small as you like",
        "The hypothesis sigma >= c is not needed: the law holds for sigma^2 from 1e-60 on, and for sigma = 0.",
        risk_is(functional(MODEL_PAIR)), (*MODEL, "0 <= sigma^2 <= 1", "all t >= 0"),
        chosen(lambda ray: not rays.loud(ray) or "to zero" in ray.name),
        lambda sample: functional_law(sample, kernel=decided(sample)), dropped("delta", "e"), role="stronger",
        strengthens="thm:fsl-const-noise", depends=("thm: fsl-general-noise/all-times",), family=FAMILY,
    ),
    Claim(
        "thm:fsl-zero-noise", "thm:fsl-zero-noise", 607, "no label noise, s <= 2 - 1/beta: the law with K_M, all t",
        "For sigma = 0 and 0 < s <= 2 - 1/beta (samples beyond are checked at the end s = 2 - 1/beta) the risk is of "
        "the order of the law with K_M and e_M for all t.",
        risk_is(functional(MODEL_PAIR, label=False)),
        (*MODEL, "sigma = 0", "0 < s <= 2 - 1/beta", "all t >= 0"),
        lambda sample: rays.silence(up_to_two(sample)),
        lambda sample: functional_law(up_to_two(sample), ("delta", "e", "batch"), kernel=False),
        lambda sample: dropped("delta", "e")(up_to_two(sample)), depends=("eq:Ke-gap",), family=FAMILY,
    ),
    Claim(
        "thm:fsl-zero-noise/any-difficulty", "thm:fsl-zero-noise", 607, "no label noise: the same for every s > 0",
        "The hypothesis s <= 2 - 1/beta is not needed: tested for s >= 5/2 - 1/beta, where the mini-batch noise of the "
        "signal leads.",
        risk_is(functional(MODEL_PAIR, label=False)),
        (*MODEL, "sigma = 0", "s > 2 - 1/beta", "all t >= 0"), lambda sample: rays.silence(past_two(sample)),
        lambda sample: functional_law(past_two(sample), ("delta", "e", "batch")),
        lambda sample: dropped("delta", "e", "batch")(past_two(sample)), role="stronger",
        strengthens="thm:fsl-zero-noise", depends=("thm: fsl-general-noise/all-times",), family=FAMILY,
    ),
    Claim(
        "thm:fsl-zero-noise/batch-term", "thm:fsl-zero-noise", 607,
        "up to s = 2 - 1/beta the convolution is not needed",
        "For sigma = 0 and s <= 2 - 1/beta the term int K_M e_M gamma adds no order: the risk is of the order "
        "M^-(s beta) + e_M(t) for all t and every schedule.",
        risk_is(functional(MODEL_PAIR, label=False, signal_too=False)),
        (*MODEL, "sigma = 0", "0 < s <= 2 - 1/beta", "all t >= 0"),
        lambda sample: rays.silence(up_to_two(sample)),
        lambda sample: functional_law(up_to_two(sample), ("delta", "e"), kernel=False),
        lambda sample: dropped("delta", "e")(up_to_two(sample)), role="stronger",
        strengthens="thm:fsl-zero-noise", family=FAMILY,
    ),
    Claim(
        "prop:fsl-weak-upper-bound", "prop:fsl-weak-upper-bound", 2211, "the upper bound with K_infinity, all t",
        "The risk is at most of the order M^-(s beta) + e_M(t) + int K_infinity (e_M + sigma^2) gamma, for all t.",
        risk_is(functional(MIXED_PAIR), "<~"),
        (*MODEL, "sigma >= 0", "all t > 0"), _upper, lambda sample: functional_law(sample, MIXED, direction="upper"),
        lambda sample: {f"without {term}": without(sample, term, MIXED, "upper") for term in MIXED[:3]},
        depends=("lemma:convolution-kernel",), family=FAMILY,
    ),
    Claim(
        "eqn:fsl-intro", "eqn:fsl-intro", 135, "the law of the introduction, inside the window",
        "The conditions that the introduction leaves open can be t <= c M^beta, for every s and sigma (or, for all t, "
        "those of the corrected theorem on hard tasks).",
        risk_is(functional(POWERS)), (*MODEL, "t <= 0.3 M^beta"), rays.window,
        lambda sample: functional_law(sample, INFINITE),
        lambda sample: {f"without {term}": without(sample, term, INFINITE) for term in ("e_inf", "label_inf")},
        depends=("thm: fsl-general-noise", "thm: fsl-hard-regime/corrected"), family=FAMILY,
    ),
)  # fmt: skip
