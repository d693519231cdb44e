"""The claims about the model itself: features, gradient noise, the moments of SGD, random features, peak rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Equivalent, Joint, Sharp, Statement
from fsl_num.paper.model import formulas as said
from fsl_num.paper.model import measurements as measured
from fsl_num.paper.model.measurements import DECAYING, FEATURES, INDEPENDENT, Plan
from fsl_num.paper.model.statements import (
    CONFIDENCE,
    Bracket,
    FailureRate,
    Trend,
    base_bound,
    halved_noise_bound,
    matrix_bound,
    noise_bound,
)
from fsl_num.simulate.recursion import exact_risk
from fsl_sym.allocation import optimal_allocation

Array = NDArray[np.float64]

KURTOSIS = {"gaussian": 3.0, "uniform": 1.8, "rademacher": 1.0, "laplace": 6.0}
SPECTRUM = "lambda_j = j^-beta, beta > 1"
TARGET = "theta_j^2 = j^-1 lambda_j^(s-1), s > 0"
NORMAL = "normal features of covariance H"
RANDOM = ("entries of W normal of variance 1/M", "N = 4M", "M = 8 to 64, many draws")
ENTRY_ROUNDING = 1e-8
"""Entries are sums of 81 terms, each at most lambda_4^-1 < 5e3 times as large as the entry, and then some."""
PATH_ROUNDING = 1e-11
"""Sums over up to 157,464 paths of positive terms, with the rounding of each path."""
FINAL = "E(D) is the final risk with the peak rate eta_max, E_opt(D) the data-optimal order"
FLAT = 0.4
"""Largest slope of medians over M = 8 to 64 that counts as none: finite sizes leave up to 0.15 and the draws 0.1."""
RATE = 0.03
"""The failure probability is shown to be below exp(-0.03 M): with 120 draws at M = 64 no faster rate can be shown."""


def _drawn(asserted: str, draws: tuple[int, ...], error: str) -> str:
    """What a claim about random W asserts with which probability, from how many draws, and how sure the test is."""
    counts = ", ".join(f"{count} at M = {size}" for count, size in zip(draws, measured.SIZES, strict=True))
    return f"{asserted}; draws of W at each point: {counts}; {error}"


EIGENVALUES_DRAWN = partial(
    _drawn,
    draws=measured.DRAWS,
    error=f"failure rates by Clopper-Pearson bounds at {CONFIDENCE:.1%}, medians by a slope of at most {FLAT:g}",
)
BIASES_DRAWN = _drawn(
    "with probability at least 1 - exp(-Omega(M)) over W (tested: the median)",
    measured.BIAS_DRAWS,
    f"a slope of at most {FLAT:g} the wrong way, of which the draws can make up 0.1",
)


def best_constants(kurtosis: float, size: int = FEATURES) -> tuple[float, float]:
    """rho_- and rho_+ of ``size`` >= 2 independent symmetric features: min(1, (k-1)/2) and max(k-1, 2-(3-k)/size).

    >>> best_constants(3.0), best_constants(1.0, 4)
    ((1.0, 2.0), (0.0, 1.5))
    """
    return min(1.0, 0.5 * (kurtosis - 1.0)), max(kurtosis - 1.0, 2.0 - (3.0 - kurtosis) / size)


def _corrected(sample: Sample) -> Bracket:
    return Bracket(*best_constants(KURTOSIS["gaussian"]), wrong={"A where H stands outside": matrix_bound})


def _independent(sample: Sample) -> Joint:
    return Joint({name: Bracket(*best_constants(KURTOSIS[name])) for name in INDEPENDENT})


def _independent_mutants(sample: Sample) -> dict[str, Statement]:
    normal = Bracket(*best_constants(KURTOSIS["gaussian"]))
    parts = _independent(sample).parts
    return {f"{name}: the constants of normal features": Joint({**parts, name: normal}) for name in INDEPENDENT}


def _entry(wanted: Callable[[Array, Array], Array], sample: Sample) -> Callable[[Any], float]:
    eigenvalues = np.arange(1.0, FEATURES + 1.0) ** -sample.point[1]
    tables = {name: wanted(np.diag(eigenvalues), matrix) for name, matrix in measured.dense_matrices().items()}
    return lambda point: float(tables[point[0]][point[1], point[2]])


def _fourth_moment(sample: Sample) -> Joint:
    wrong: dict[str, Callable[[Array, Array], Array]] = {
        "HAH twice": lambda h, a: np.trace(h @ a) * h + 2 * h @ a @ h,
        "half of HAH": lambda h, a: np.trace(h @ a) * h + 0.5 * h @ a @ h,
        "tr(A) for tr(HA)": lambda h, a: np.trace(a) * h + h @ a @ h,
    }
    identity = Sharp(
        _entry(lambda h, a: np.trace(h @ a) * h + h @ a @ h, sample),
        lambda point: ENTRY_ROUNDING,
        {name: _entry(each, sample) for name, each in wrong.items()},
    )
    return Joint({"identity": identity, "bounds": Bracket(1.0, 2.0)})


def _noise(sample: Sample) -> Joint:
    wrong = {"E for 2E": halved_noise_bound, "without the labels' noise": base_bound}
    families = ("gaussian", "uniform", "rademacher")
    return Joint({name: Bracket(*best_constants(KURTOSIS[name]), noise_bound, wrong=wrong) for name in families})


def _noise_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _noise(sample).parts
    wrong = {
        "the term H e e'H dropped": (1.0, 1.0),
        "constants of signs": best_constants(KURTOSIS["rademacher"]),
        "constants of uniform features": best_constants(KURTOSIS["uniform"]),
    }
    return {
        f"normal features: {name}": Joint({**parts, "gaussian": Bracket(*pair, noise_bound)})
        for name, pair in wrong.items()
    }


def _risk(sample: Sample, plan: Plan, *, family: str = "", noise: float = 1.0, batch: int = 0) -> float:
    rates, batches = plan[2], plan[3]
    problem = measured.small_problem(plan, sample)
    problem = replace(problem, model=replace(problem.model, noise=noise), family=family or plan[0])
    return float(exact_risk(problem, rates, batch or batches).excess_risk[-1])


def _moments(sample: Sample) -> Sharp:
    others = {"gaussian": "rademacher", "uniform": "gaussian", "rademacher": "uniform"}
    wrong: dict[str, Callable[[Plan], float]] = {
        "the kurtosis of another family": lambda plan: _risk(sample, plan, family=others[plan[0]]),
        "labels without noise": lambda plan: _risk(sample, plan, noise=0.0),
        "batches of one": lambda plan: _risk(sample, plan, batch=1),
        "one step less": lambda plan: _risk(sample, (plan[0], plan[1], plan[2][:-1], plan[3][:-1])),
    }
    return Sharp(partial(_risk, sample), lambda plan: PATH_ROUNDING, wrong)


def _eigenvalues(sample: Sample) -> Joint:
    return Joint({"least": Trend(0.0, FLAT), "largest": Trend(0.0, FLAT), "failures": FailureRate(RATE)})


def _eigenvalue_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _eigenvalues(sample).parts
    return {f"{side}: entries of variance 1": Joint({**parts, side: Trend(1.0, FLAT)}) for side in ("least", "largest")}


def _biases(side: str, targets: tuple[str, ...], sample: Sample) -> Mapping[str, Any]:
    return {target: measured.bias_trend(side, target, sample) for target in targets}


def _final(exponents: Mapping[str, float], logs: Mapping[str, Array], log_power: float = 0.0) -> Array:
    return exponents["D"] * logs["D"] + log_power * np.log(logs["D"])


def _final_risks(sample: Sample) -> Joint:
    parts = {}
    for name in DECAYING:
        order = optimal_allocation(name, "data").at(sample.s, sample.beta).excess_risk
        law = partial(_final, log_power=float(order.log_power))
        parts[name] = Equivalent(law, {"D": float(order.power)})
    return Joint(parts)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "assumption: hypercontractivity", "assumption: hypercontractivity", 277, "hypercontractivity as printed",
        "rho_- tr(HA) A <= E[(phi'A phi) phi phi'] - HAH <= rho_+ tr(HA) A for every positive semidefinite A, with "
        "rho_- = 1 and rho_+ = 2 for normal features. The outer terms are of degree 2 in A and the middle of degree 1, "
        "so that no constants serve A and its multiples; at A = e_1 e_1' the upper one misses all other directions.",
        said.HYPERCONTRACTIVITY_PRINTED, (SPECTRUM, NORMAL),
        lambda sample: measured.fourth_moments("gaussian", sample),
        lambda sample: Bracket(1.0, 2.0, matrix_bound, attained=False),
        corrected_by="assumption: hypercontractivity/corrected", family="fourth-moments",
    ),
    Claim(
        "assumption: hypercontractivity/corrected", "assumption: hypercontractivity", 277,
        "hypercontractivity with H outside",
        "tr(HA) H <= E[(phi'A phi) phi phi'] - HAH <= 2 tr(HA) H for every positive semidefinite A and normal "
        "features, and both constants are attained.",
        said.HYPERCONTRACTIVITY, (SPECTRUM, NORMAL),
        lambda sample: measured.fourth_moments("gaussian", sample), _corrected,
        family="fourth-moments",
        role="corrected",
    ),
    Claim(
        "assumption: hypercontractivity/independent-features", "assumption: hypercontractivity", 277,
        "the best constants of independent features",
        "Independent symmetric features of kurtosis k satisfy the assumption (with H outside) with the best constants "
        "rho_- = min(1, (k-1)/2) and rho_+ = max(k-1, 2-(3-k)/N). Signs have rho_- = 0 and do not satisfy it.",
        said.BEST_CONSTANTS, (SPECTRUM, "independent symmetric features", "N = 4, uniform, signs and Laplace"),
        lambda sample: {name: measured.fourth_moments(name, sample) for name in INDEPENDENT},
        _independent, _independent_mutants, family="fourth-moments",
        role="own",
    ),
    Claim(
        "eqn: sgd/second-moments", "eqn: sgd", 398, "the expected risk of SGD by a closed recursion",
        "The expected excess risk of one-pass SGD is that of its second moments, exactly: for independent features x_j "
        "<- ((1 - eta lambda_j)^2 + (k-2) eta^2 lambda_j^2/B) x_j + (eta^2/B) lambda_j^2 (2E + sigma^2), x_j = "
        "lambda_j E[(v_j - theta_j)^2], and the recursion of the whole matrix for random features. Tested against the "
        "mean over all paths of SGD.",
        said.SECOND_MOMENTS,
        (SPECTRUM, TARGET, "x(j, k) is lambda_j E[(v_j - theta_j)^2] after k steps, E the risk then",
         "independent symmetric features of kurtosis kappa", "M = 2, N = 3, two or three steps"),
        measured.risks_over_all_paths, _moments, family="paths",
        role="own",
    ),
    Claim(
        "lemma: noise-covariance-main", "lemma: noise-covariance-main", 652, "the covariance of the gradient noise",
        "(2 rho_- E + sigma^2) W H W' <= Sigma(v) <= (2 rho_+ E + sigma^2) W H W' for every v and W, with the "
        "constants of the features, which are attained.",
        said.NOISE_BOUNDS, (SPECTRUM, TARGET, "E is the excess risk at v", "rho_-, rho_+ the constants of the features",
         "normal, uniform and sign features", "first and random features, N = 4"),
        lambda sample: {name: measured.gradient_noises(name, sample) for name in ("gaussian", "uniform", "rademacher")},
        _noise, _noise_mutants, depends=("assumption: hypercontractivity/corrected",), family="gradient-noise",
    ),
    Claim(
        "lem: random_eigen", "lem: random_eigen", 635, "random features with w_j ~ N(0, I_N), as printed",
        "With the projection of the main text, w_j ~ N(0, I_N), the eigenvalues mu_j of W H W' are of the order of "
        "lambda_j for all j <= M with probability at least 1 - exp(-Omega(M)).",
        said.EIGENVALUES,
        (SPECTRUM, "mu(j) is the eigenvalue number j of W H W', j <= M", "entries of W normal of variance 1",
         *RANDOM[1:]),
        partial(measured.eigenvalue_trends, unit=True), _eigenvalues, corrected_by="lem: random_eigen/corrected",
        family="random-eigenvalues",
        probability=EIGENVALUES_DRAWN("with probability at least 1 - exp(-Omega(M)) over W"),
    ),
    Claim(
        "lem: random_eigen/corrected", "lem: random_eigen", 635, "random features with w_j ~ N(0, I_N/M)",
        "With w_j ~ N(0, I_N/M) and N - M >~ M the ratios mu_j/lambda_j, j <= M, do not drift with M, and bounds that "
        "a fifth of the draws leave at M = 8 are left with a probability of at most exp(-0.03 M).",
        said.EIGENVALUE_BOUNDS, (SPECTRUM, "mu(j) is the eigenvalue number j of W H W', j <= M", *RANDOM),
        measured.eigenvalue_trends, _eigenvalues, _eigenvalue_mutants,
        family="random-eigenvalues",
        probability=EIGENVALUES_DRAWN(f"with probability at least 1 - exp(-{RATE:g} M) over W"),
        role="corrected",
    ),
    Claim(
        "appendix:experiment_details/peak-rate", "appendix:experiment_details", 1429,
        "the peak rates of the scaling experiment",
        "With the peak rate 0.05 D^-1, as printed for exponential decay and WSD, the final risk falls like the "
        "data-optimal law. The intrinsic time is at most 0.05 for every D: nothing is learned.",
        said.AT_PEAK,
        (SPECTRUM, TARGET, said.PRINTED_PEAK, FINAL, "M infinite", "sigma = 3, B = 1", "final rate 1/D of the peak",
         "D up to 1e52"),
        partial(measured.final_risks, measured.printed_peak), _final_risks,
        corrected_by="appendix:experiment_details/peak-rate-derived", family="peak-rates",
    ),
    Claim(
        "appendix:experiment_details/peak-rate-derived", "appendix:experiment_details", 1429,
        "the derived peak rates reach the law",
        "With 0.05 times the derived order of the data-optimal peak rate (in the hard regime, where the experiment is, "
        "the constant 0.05) the final risk follows the data-optimal law, with its logarithms.",
        said.AT_PEAK,
        (SPECTRUM, TARGET, said.DERIVED_PEAK, FINAL, "M infinite", "sigma = 3, B = 1", "final rate 1/D of the peak",
         "D up to 1e52"),
        partial(measured.final_risks, measured.derived_peak), _final_risks, family="peak-rates",
        role="corrected",
    ),
    Claim(
        "lem:bias_upper_bound", "lem:bias_upper_bound", 2587, "what random features leave, from above",
        "u_0'A_t'H A_t u_0 <= C (M^-(s beta) + e^_M(t)) at every t; tested for s < 1.",
        said.BIAS_ABOVE, (SPECTRUM, TARGET, said.BIAS_LETTERS, "s < 1", *RANDOM),
        partial(_biases, "upper", ("fixed",)),
        lambda sample: Joint({"fixed": Trend(0.0, FLAT, "upper")}),
        regimes=("edge", "hard"), depends=("lem: random_eigen/corrected",), family="random-bias",
        probability=BIASES_DRAWN,
    ),
    Claim(
        "lem:bias_lower_bound", "lem:bias_lower_bound", 2663, "what random features leave, from below",
        "u_0'A_t'H A_t u_0 >= c max{M^-(s beta), e^_M(t)} at every t, for the fixed target and for normal ones. The "
        "paper's argument does not show it.",
        said.BIAS_BELOW, (SPECTRUM, TARGET, said.BIAS_LETTERS, *RANDOM),
        partial(_biases, "lower", ("fixed", "normal")),
        lambda sample: Joint({target: Trend(0.0, FLAT, "lower") for target in ("fixed", "normal")}),
        depends=("lem: random_eigen/corrected",), family="random-bias",
        probability=BIASES_DRAWN,
    ),
    Claim(
        "lem:4th_moment_estim", "lem:4th_moment_estim", 3808, "the fourth moments of normal features",
        "tr(HA) H <= E[x x'A x x'] - HAH = tr(HA) H + HAH <= 2 tr(HA) H for x ~ N(0, H).",
        said.FOURTH_MOMENTS, (SPECTRUM, NORMAL, "A positive semidefinite"),
        lambda sample: {"identity": measured.fourth_moment_entries(sample),
                        "bounds": measured.fourth_moments("gaussian", sample)},
        _fourth_moment, family="fourth-moments",
    ),
)  # fmt: skip
