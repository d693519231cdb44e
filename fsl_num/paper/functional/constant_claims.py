"""The constants between the risk and the law: best ones known, limits, the threshold, the closure and the series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sympy import Function, Gt, Integral, Lt, Rational, Sum, Symbol, oo, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Equivalent, Joint, Sharp
from fsl_num.paper.functional import constants, enclosed
from fsl_num.paper.functional.formulas import GAMMA, functional
from fsl_num.paper.functional.formulas import MODEL as MODEL_PAIR
from fsl_num.paper.functional.gap_claims import power_of_size
from fsl_num.paper.functional.measurements import moderate_size
from fsl_num.paper.functional.statements import Between
from fsl_num.spectrum import approximation_error
from fsl_sym.best_constants import best_constant_derivations, resolvent_limit, supersolutions
from fsl_sym.proof import AllOf, at_most, equals, order_at_most, same_order, tends
from fsl_sym.spectrum import forgetting_kernel, signal
from fsl_sym.symbols import E, M, beta, j, s, sigma, t, z

BEST, C_MAX, G_MAX = (Symbol(name, positive=True) for name in ("A", "c", "gamma_max"))
"""sup_u R(u)/(gamma_max K_M(u)), R the resolvent of gamma_max K_M; gamma tr(H)/2; the largest rate."""
LABEL_RATIO, SIGNAL_RATIO = (Function(name, positive=True) for name in ("ratio_label", "ratio_signal"))
"""2 E over the law at an intrinsic time, with label noise alone and with the signal alone."""
RISK, LOSS, POWER = (Function(name, positive=True) for name in ("E", "f", "T^k g"))
"""Expected excess risk, the solution f of f = g + T f, and the k-th power of T applied to g, at an intrinsic time."""
k = Symbol("k", integer=True, nonnegative=True)
LAW = functional(MODEL_PAIR)
SUMS = LAW - M ** (-s * beta) + Sum(j ** (-1 - s * beta), (j, M + 1, oo))
"""The functional scaling law with the exact approximation error."""
EQUATION = (
    Sum(j ** (-1 - s * beta), (j, M + 1, oo)) + signal(t)
    + Integral(forgetting_kernel(t - z) * GAMMA(z) * (RISK(z) + sigma**2), (z, 0, t))
)  # fmt: skip
"""The right side of the Volterra equation."""
MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
MESH = 0.03
"""Slack of the adversary's ratios: the mesh is good to 1e-2 of 2 E/law - 1, and A - 1 is up to 7 (measured)."""


def _best(sample: Sample) -> Between:
    beta = sample.point[1]
    size = moderate_size(beta)
    bounds, halved, lower = {}, {}, {}
    for stability in constants.RATES:
        for horizon in constants.spots(beta):
            name = constants.names(stability, horizon)
            high = constants.resolvent_supremum(beta, size, stability, horizon)
            bounds[name] = (1.0, high)
            halved[name] = (1.0, 1.0 / (1.0 - 0.5 * stability))
            lower[name] = (1.0 + 2.0 * MESH, high)
    return Between(bounds, MESH, {"half of c in the upper constant": halved, "a lower constant above 1": lower})


def _factor(sample: Sample, source: str, c: float) -> float:
    edge = sample.s - (2 - 1 / sample.beta)
    if source == "label noise":
        return 1.0 / (1.0 - c)
    if edge == 0:
        return 1.0 / ((1.0 - c) ** 2 * (1.0 + 2.0 * c))
    return 1.0 / (1.0 - c * c) if edge < 0 else 1.0 / (1.0 - c) ** 2


def _limit(sample: Sample) -> Sharp:
    s, beta = sample.point
    label = 1.0 - 1.0 / beta
    powers = {"label noise": [label], "signal": [label, abs(s - 2.0 + 1.0 / beta) or 1.0]}

    def remainder(point: dict[str, Any]) -> float:
        # The next terms fall like these powers of t, with constants that grow like powers of 1/(1 - c).
        scale = 10.0 / (1.0 - point["c"]) ** 3
        return float(1e-8 + scale * sum(constants.HORIZON**-power for power in powers[point["source"]]))

    def wrong(change: Callable[[float], float]) -> Callable[[dict[str, Any]], float]:
        return lambda point: change(_factor(sample, point["source"], point["c"]))

    return Sharp(
        lambda point: _factor(sample, point["source"], point["c"]), remainder,
        {"the square root of each": wrong(lambda value: value**0.5),
         "the square of each": wrong(lambda value: value**2),
         "1/(1 - c) for every source": lambda point: 1.0 / (1.0 - point["c"])},
    )  # fmt: skip


def _power_of_gap(power: float) -> Equivalent:
    return Equivalent(lambda given, logs: given["1 - c"] * logs["1 - c"], {"1 - c": power})


def _threshold(sample: Sample) -> Joint:
    edge = sample.s - (2 - 1 / sample.beta)
    return Joint({"label noise": _power_of_gap(-1.0), "signal": _power_of_gap(-1.0 if edge < 0 else -2.0)})


def _closure(sample: Sample) -> Between:
    name = "E/right side"
    # The mesh errs by at most 1e-2 of what the noise adds (measured), the bounds are exact.
    wrong = {"at least 1, as for 2 E": {name: (1.0, 2.0)}, "at most 1, as for rho_+ = 1": {name: (0.5, 1.0)}}
    return Between({name: (0.5, 2.0)}, 0.01, wrong)


def _series(sample: Sample) -> Sharp:
    sums, stability = constants.partial_sums(sample)
    first = float(sums[1] - sums[0])
    # of f = 2E sup g = delta + e(0) + sigma^2 = zeta(1 + s beta) + 1, of E half of it
    largest = 0.5 * float(approximation_error(*sample.point, 1)) + 1.0

    def remainder(point: dict[str, Any]) -> float:
        # T^n g <= c^n sup g, so the terms after the n-th add at most c^(n+1)/(1 - c) sup g; 1e-9 for the solver.
        rest = stability ** (point["terms"] + 1) / (1.0 - stability) * largest
        return float(rest / sums[-1] + 1e-9)

    def partial(point: dict[str, Any]) -> float:
        return float(sums[point["terms"]])

    return Sharp(
        partial, remainder,
        {"without its first term": lambda point: partial(point) - first,
         "one term twice": lambda point: partial(point) + 0.5 * first},
    )  # fmt: skip


def _sketch(sample: Sample) -> Equivalent:
    return power_of_size(0.0, "upper")


def _twice(sample: Sample) -> Between:
    # The mesh errs by up to 1.2e-2 here (measured by refining it); the next term of the limit is t^(1/beta - 1).
    slack = 0.02 + 8.0 * 1e6 ** (1.0 / sample.point[1] - 1.0)
    return Between({"ratio": (1.0, 1.0)}, slack, {"gamma tr(H)/2, as in the largest norm": {"ratio": (0.5, 0.5)}})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "best-constants", "ineq: inf_sum", 787, "the best constants between the risk and the law",
        "With law = delta_M + e_M + int K_M gamma (e_M + sigma^2): law <= 2 E <= A law for every schedule "
        "with gamma <= gamma_max, A = sup_u R(u)/(gamma_max K_M(u)), R the resolvent of gamma_max K_M. The lower "
        "constant is reached as gamma tends to 0; A for a signal that ends at once and constant gamma_max.",
        AllOf((at_most(LAW, 2 * E), at_most(2 * E, BEST * LAW))),
        (MODEL, "rho_- = rho_+ = 1 (the Volterra equation)",
         "0 <= gamma <= gamma_max, c = gamma_max tr(H)/2 = 0.2, 0.45",
         "adversarial schedules, sigma^2 = 0 and 1e6"),
        constants.adversary, _best, derive=best_constant_derivations, role="own", depends=("ineq: inf_sum",),
    ),
    Claim(
        "best-constants/law-below", "ineq: inf_sum", 787, "the law is at most 2 E, with the constant 1",
        "The functional scaling law, with delta_M for M^-(s beta), is at most twice the expected excess risk: the "
        "first two terms of a series of positive terms. Decided in rigorous balls, rates up to 0.9 of the limit of "
        "stability.",
        at_most(SUMS, 2 * E),
        (MODEL, "gamma constant, c = gamma tr(H_M)/2 = 0.2 and 0.9", "M = 4 and 12", "sigma^2 = 0, 1, 100",
         "t = 1/1000, 1 and M^beta"),
        enclosed.quotients, lambda sample: enclosed.NotBelow(1.0), role="own",
    ),
    Claim(
        "best-constants/limits", "ineq: inf_sum", 787, "the risk over the law at constant rates, to many digits",
        "For constant gamma, M infinite and t to infinity 2 E/law tends to 1/(1-c) for label noise, to 1/(1-c^2) for "
        "the signal when s < 2 - 1/beta, and to 1/(1-c)^2 when s > 2 - 1/beta; c = gamma tr(H)/2.",
        AllOf((tends(LABEL_RATIO(t), t, oo, 1 / (1 - C_MAX)),
               replace(tends(SIGNAL_RATIO(t), t, oo, 1 / (1 - C_MAX**2)), where=Lt(s, 2 - 1 / beta)),
               replace(tends(SIGNAL_RATIO(t), t, oo, 1 / (1 - C_MAX) ** 2), where=Gt(s, 2 - 1 / beta)))),
        (MODEL, "M infinite", "gamma constant, c = 0.1, 0.5, 0.8", "t = 1e24",
         "s not within 1/8 of 2 - 1/beta (else tested there + 1/4)"),
        lambda sample: constants.limits(_parted(sample)), lambda sample: _limit(_parted(sample)),
        derive=resolvent_limit, role="own",
    ),
    Claim(
        "ass:fsl/threshold", "ass:fsl", 472, "how small the learning rate has to be",
        "For constant gamma and M infinite the law holds for every c = gamma tr(H)/2 < 1; its constant grows like "
        "1/(1-c) for label noise and for s < 2 - 1/beta, like 1/(1-c)^2 for s > 2 - 1/beta. 'Sufficiently small' is "
        "c < 1; at c = 1 the risk is no longer bounded by the law.",
        AllOf((same_order(LABEL_RATIO(oo), 1 / (1 - C_MAX)),
               replace(same_order(SIGNAL_RATIO(oo), 1 / (1 - C_MAX)), where=Lt(s, 2 - 1 / beta)),
               replace(same_order(SIGNAL_RATIO(oo), (1 - C_MAX) ** -2), where=Gt(s, 2 - 1 / beta)))),
        (MODEL, "M infinite", "gamma constant", "t = 1e40", "s not within 1/8 of 2 - 1/beta (else tested there + 1/4)"),
        lambda sample: constants.threshold_rays(_parted(sample)), lambda sample: _threshold(_parted(sample)),
        derive=resolvent_limit, role="own",
    ),
    Claim(
        "thm:volterra-topm", "thm:volterra-topm", 2086, "the risk and the right side of the Volterra equation",
        "For Gaussian features E lies between 1/2 and 2 times delta_M + e_M + int K_M gamma (E + sigma^2), at every t "
        "and for every rate, small or not: the constants are those of rho_- = 1, rho_+ = 2 and of E for 2 E.",
        AllOf((at_most(EQUATION / 2, RISK(t)), at_most(RISK(t), 2 * EQUATION))),
        (MODEL, "Gaussian features", "delta_M for M^-(s beta)", "M = 1, 30, 1000; gamma up to 0.95/tr(H)"),
        constants.closure_ratios, _closure, depends=("approximation-error",),
    ),
    Claim(
        "ineq: inf_sum", "ineq: inf_sum", 787, "the solution as a series of powers of T",
        "f is the sum of the series g + T g + T^2 g + ...; what the terms after T^n g add is at most c^(n+1)/(1-c) "
        "sup g, c = gamma_max tr(H)/2.",
        equals(LOSS(t), Sum(POWER(k, t), (k, 0, oo))),
        (MODEL, "gamma constant, c = 0.2", "t = 1000, M = 50", "2, 4 and 8 terms"),
        constants.series, _series, derive=supersolutions,
    ),
    Claim(
        "sec: proof_sketch/neumann", "sec: proof_sketch", 792, "higher powers of T against the first",
        "For t <= M^beta T^(k+1) g is at most C gamma_max T^k g for k = 1, 2, uniformly in M.",
        order_at_most(POWER(k + 1, t), G_MAX * POWER(k, t)),
        (MODEL, "t = M^beta and t = 4", "schedules up and down, with and without label noise"),
        constants.sketch_rays, _sketch, role="argument", depends=("cor: contraction",),
    ),
    Claim(
        "sec: proof_sketch/contraction-constant", "sec: proof_sketch", 792, "the pointwise contraction is gamma tr(H)",
        "Without label noise, for s >= 5/2 - 1/beta and constant gamma, T^2 g/T g tends to gamma tr(H), twice the "
        "factor gamma tr(H)/2 by which T shrinks the largest value: the sketch needs the constant of "
        "the subconvolution.",
        tends(POWER(2, t) / POWER(1, t), t, oo, G_MAX * zeta(beta)),
        (MODEL, "sigma = 0", "s >= 5/2 - 1/beta", "gamma constant", "beta >= 3/2 (smaller ones are tested there)",
         "M = 1e40, t = 1e6"),
        lambda sample: constants.second_over_first(_steep(sample)), lambda sample: _twice(_steep(sample)), role="own",
        depends=("cor: contraction/sharp",),
    ),
)  # fmt: skip


def _steep(sample: Sample) -> Sample:
    raised = max(sample.beta, Rational(3, 2))
    return replace(sample, beta=raised, s=max(sample.s, Rational(5, 2) - 1 / raised))


def _parted(sample: Sample) -> Sample:
    edge = 2 - 1 / sample.beta
    return sample if abs(sample.s - edge) >= Rational(1, 8) else replace(sample, s=edge + Rational(1, 4))
