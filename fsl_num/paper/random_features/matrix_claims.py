"""The lemmas of the proof for random features: eigenvalues of tails, identities, the two quadratic forms, the steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Sharp, Statement
from fsl_num.paper.model.statements import FailureRate
from fsl_num.paper.random_features import bias_steps, identities, laws, matrices
from fsl_num.paper.random_features import formulas as said
from fsl_num.paper.random_features.statements import DrawnRay, OverDraws, Within
from fsl_sym import random_features as derivations
from fsl_sym.proof import at_most, less
from fsl_sym.symbols import M, N

SPECTRUM = "lambda_j = j^-beta, beta > 1"
TARGET = "theta_j^2 = j^-1 lambda_j^(s-1)"
RANDOM = ("entries of W normal of variance 1/M", "N = 4M")
SMALL = ("M = 3, N = 5, three W, three times", "beta at most 3 in the numbers")
EDGES = 0.25
"""Extreme eigenvalues of samples come to their limits like M^(-2/3): so fast their logarithms move at M = 24 to 96."""
RATE = 0.03
TAILS = (
    "probability at least 1 - exp(-Omega(M)); 150, 120, 120, 140 draws of W at M = 12, 24, 48, 96, conditional on W "
    "exactly; above the largest at M = 12 later ones lie with a probability shown, at 99.9 %, to be below exp(-0.03 M)"
)
STEPS = "24 to 12 (quick) or 48 to 24 (full) draws of W at M = 16 to 128"


def _power(exponents: laws.Exponents, logs: laws.Logs) -> Any:
    return 0.0 * logs["M"]


def _root(exponents: laws.Exponents, logs: laws.Logs) -> Any:
    return -0.5 * logs["M"]


def _tails(sample: Sample) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: [ray] for name, ray in matrices.eigenvalue_ratios(sample).items() if name != matrices.SQUARE
    }
    return found | {"failures": matrices.ratio_failures(sample)}


def _tail_law(sample: Sample) -> Joint:
    bounded = OverDraws(_power, {}, "upper", {"falls like M^-1/2": _root}, EDGES)
    return Joint({**dict.fromkeys(matrices.SHARES, bounded), "failures": FailureRate(RATE)})


def _square(sample: Sample) -> list[DrawnRay]:
    return [matrices.eigenvalue_ratios(sample)[matrices.SQUARE]]


def _columns(power: float, exponents: laws.Exponents, logs: laws.Logs) -> Any:
    return power * logs["t"] + 2.0 * logs["ratio"]


def _two_forms(sample: Sample) -> Joint:
    first = OverDraws(partial(_columns, -1.0), {}, "upper", {"t^(-5/4)": partial(_columns, -1.25)}, finite_size=EDGES)
    return Joint({"first": first, "failures": FailureRate(RATE), "second": Within(0.0, 1.0, attained=0.99)})


def _sharp(claimed: Any, wrong: Mapping[str, Any]) -> Sharp:
    return Sharp(claimed, lambda point: identities.ROUNDING, wrong)


def _traces(sample: Sample) -> Sharp:
    kernel = partial(identities.kernel_of, sample)
    wrong = {"mu_j once": kernel(1.0), "exp(-mu_j t)": kernel(2.0, 1.0), "eigenvalues of H": kernel(own=False)}
    return _sharp(kernel(), wrong)


def _split(sample: Sample) -> Joint:
    split = partial(identities.split, sample)
    wrong = {
        "nothing is never learned": identities.entry(partial(split, never=0.0)),
        "half of it": identities.entry(partial(split, never=0.5)),
        "the printed series": identities.entry(partial(split, printed_series=True)),
    }
    return Joint(
        {"identity": _sharp(identities.entry(split), wrong), "inequality": Within(0.0, np.inf, rounding=1e-12)}
    )


def _split_measured(sample: Sample) -> dict[str, Any]:
    return {"identity": identities.left_entries(sample), "inequality": identities.least_surplus(sample)}


def _first_columns(sample: Sample) -> Sharp:
    columns = partial(identities.split_columns, sample)
    wrong = {
        "without H^-1": identities.entry(partial(columns, inverse=0.0)),
        "A_k with the first columns": identities.entry(partial(columns, tail=False)),
    }
    return _sharp(identities.entry(columns), wrong)


def _trace_gap(sample: Sample) -> Sharp:
    norm = partial(identities.squared_norm, sample)
    return _sharp(norm(), {"the other way round": norm(swapped=True), "without U": norm(unweighted=True)})


def _printed_bias(sample: Sample) -> Sharp:
    return _sharp(identities.entry(partial(identities.split, sample, never=0.0)), {})


def _averaged(sample: Sample) -> Joint:
    def law(exponents: laws.Exponents, logs: laws.Logs) -> Any:
        return logs["signal"] - (exponents["s"] - sample.point[0]) * sample.point[1] * logs["M"]

    return Joint({"e(t)": OverDraws(law, {"s": sample.point[0]}), "floor": Within(_least_floor(sample), np.inf)})


def _least_floor(sample: Sample) -> float:
    """The least of delta_M M^(s beta) over the sizes measured, from an integral below the sum."""
    power = sample.point[0] * sample.point[1]
    ends = [(size + 1.0, 4.0 * size + 1.0, size) for size in bias_steps.SIZES[:2]]
    return float(min((low**-power - high**-power) / power * size**power for low, high, size in ends))


def _averaged_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _averaged(sample).parts
    return {"twice the floor": Joint({**parts, "floor": Within(2.0 * _least_floor(sample), np.inf)})}


def _one_target(sample: Sample) -> OverDraws:
    return OverDraws(lambda exponents, logs: logs["signal"], {}, "lower")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem:eig_concentration_appendix", "lem:eig_concentration_appendix", 2530, "eigenvalues of W H W', any N",
        "c_1 lambda_j <= mu_j(W H W') <= c_2 lambda_j for all j <= M, as printed without a condition on N: with N = M "
        "the least ratio falls like M^-2.",
        said.EIGENVALUES, (SPECTRUM, "entries of W normal of variance 1/M", "N = M", said.MU),
        lambda sample: [matrices.least_eigenvalues(sample, 1)],
        lambda sample: OverDraws(_power, {}, "lower", finite_size=EDGES),
        corrected_by="lem: random_eigen/corrected", family="random-tails",
        probability="probability at least 1 - exp(-Omega(M)); 150, 120, 120, 140 draws at M = 12, 24, 48, 96",
    ),
    Claim(
        "lem:eig_ratio", "lem:eig_ratio", 2540, "eigenvalues of the tails of W, every k",
        "mu_{M/2}(A_k)/mu_M(A_k) <= c for A_k = W_k:oo H_k:oo W_k:oo' and every k >= 1: at k = N - M, where W_k:oo is "
        "square, the ratio grows like M^2, and beyond mu_M(A_k) is 0.",
        said.TAIL_RATIO, (SPECTRUM, *RANDOM, said.MU_TAIL, "k = N - M"),
        _square, lambda sample: OverDraws(_power, {}, "upper", finite_size=EDGES),
        corrected_by="lem:eig_ratio/corrected", family="random-tails", probability=TAILS,
    ),
    Claim(
        "lem:eig_ratio/corrected", "lem:eig_ratio", 2540, "eigenvalues of the tails of W, N - k >= 2M",
        "mu_{M/2}(A_k)/mu_M(A_k) <= c for every k with N - k - M >~ M; tested at k = 1, M/3, M and 2M with N = 4M.",
        said.TAIL_RATIO, (SPECTRUM, *RANDOM, said.MU_TAIL, at_most(said.SPLIT, N - 2 * M)),
        _tails, _tail_law, family="random-tails", role="corrected",
        probability=TAILS,
    ),
    Claim(
        "lem:trace_analysis_appendix", "lem:trace_analysis_appendix", 2556, "what one mode returns of its noise",
        "tr(S A_t'H A_t S) = sum_j mu_j^2 exp(-2 mu_j t), for every W: no probability is needed.",
        said.TRACE,
        ("any W and positive definite H", said.DECAYED, "S = W'W", "mu(j) are the eigenvalues of W H W'", *SMALL),
        identities.noise_traces, _traces,
        derive=derivations.trace_derivation, family="random-identities",
        probability="certain: an identity for every W",
    ),
    Claim(
        "lem:bias_upper_bound/argument", "lem:bias_upper_bound", 2600, "the series of the bias without its first term",
        "A_t'H A_t = H W'(W H W')^-1 M_t (W H W')^-1 W H, as the proof has it: the term a = b = 0, which is H, is "
        "replaced by its part that W reaches.",
        said.PRINTED_SERIES, ("W of rank M", said.DECAYED, said.LEARNED, *SMALL),
        identities.left_entries, _printed_bias,
        corrected_by="lem:bias_upper_bound/first-term", family="random-identities", role="argument",
    ),
    Claim(
        "lem:bias_upper_bound/first-term", "lem:bias_upper_bound", 2600, "the series of the bias with its first term",
        "A_t'H A_t is the printed product plus H - H W'(W H W')^-1 W H, what W never learns.",
        said.SERIES, ("W of rank M", said.DECAYED, said.LEARNED, *SMALL),
        identities.left_entries, lambda sample: _split(sample).parts["identity"],
        derive=derivations.lost_term_derivation, family="random-identities", role="corrected",
    ),
    Claim(
        "lem:bias_lower_bound/argument", "lem:bias_lower_bound", 2725, "the trace inequality for one target",
        "sum_i exp(-2 t mu_i)/mu_i mu_i(WH u_0u_0'HW') >~ e^(t), from mu_j(WH u_0u_0'HW') ~ j^(-1-beta-s beta). For "
        "one target that matrix has rank one, and the sum is exp(-2 t mu_1)/mu_1 |WH u_0|^2.",
        said.ONE_TARGET, (SPECTRUM, TARGET, said.WEIGHTED, *RANDOM),
        partial(bias_steps.trace_bounds, "one target"), _one_target,
        corrected_by="lem:bias_lower_bound/averaged", family="random-steps", role="argument", probability=STEPS,
    ),
    Claim(
        "lem:bias_lower_bound/argument-floor", "lem:bias_lower_bound", 2760, "the trace inequality for what is left",
        "sum_i mu_i(I - Pi) mu_{N+1-i}(H^(1/2)u_0u_0'H^(1/2)) >~ M^-(s beta), from mu_i = i^(-1-s beta). For one "
        "target the matrix has rank one and the sum is 0.",
        said.ONE_TARGET_FLOOR,
        (SPECTRUM, TARGET, "mu(i) are the eigenvalues of I - Pi, nu(i) those of H^(1/2)u_0u_0'H^(1/2)", *RANDOM),
        partial(bias_steps.floor_bounds, mean=False),
        lambda sample: Within(_least_floor(sample), np.inf),
        corrected_by="lem:bias_lower_bound/averaged", family="random-steps", role="argument",
        probability="certain: the matrix has rank one for every W",
    ),
    Claim(
        "lem:bias_lower_bound/averaged", "lem:bias_lower_bound", 2725, "both trace inequalities for the mean target",
        "Averaged over the signs of u_0, E[u_0u_0'] = diag(theta_j^2), the first sum is of the order of e^(t) and the "
        "second at least delta_M: the proof holds for the mean over targets with uncorrelated coordinates.",
        said.AVERAGED,
        (SPECTRUM, TARGET, said.WEIGHTED, "mean over the signs of the target: diag(theta_j^2) for u_0u_0'",
         "nu(i) are the eigenvalues of H^(1/2) diag(theta_j^2) H^(1/2), pi(i) those of I - Pi", *RANDOM),
        lambda sample: {"e(t)": bias_steps.trace_bounds("mean", sample),
                        "floor": bias_steps.floor_bounds(sample, mean=True)},
        _averaged, _averaged_mutants, family="random-steps", role="corrected", probability=STEPS,
    ),
    Claim(
        "lm:matrix_analysis", "lm:matrix_analysis", 2783, "what W does not reach is a lower bound",
        "A_t'H A_t = H^(1/2) [(I - Pi) + Pi exp(-2 t P'P) Pi] H^(1/2) >= H^(1/2) (I - Pi)^2 H^(1/2), P = W H^(1/2) and "
        "Pi the projection on its rows.",
        said.NOT_REACHED,
        ("W of rank M", said.DECAYED, "R = H^(1/2), E = exp(-t P'P), P = W R, Pi the projection on the rows of P",
         *SMALL),
        _split_measured, _split, derive=derivations.matrix_analysis_derivation,
        family="random-identities",
    ),
    Claim(
        "lem:T_estimate", "lem:T_estimate", 2855, "the quadratic form of the first k coordinates, as printed",
        "T_1 <= c |u_0:k|^2/t (mu_{M/2}/mu_M)^2 with the eigenvalues of W_0:k H_0:k W_0:k', k <= M/3. Both are 0: the "
        "matrix has rank k, and the bound says nothing.",
        less(0, said.COLUMN_EIGENVALUE),
        (SPECTRUM, *RANDOM, "mu_M is the least eigenvalue of W_0:k H_0:k W_0:k'", "k = M/3"),
        matrices.column_ratio_rounding, lambda sample: Within(1e-6, np.inf),
        corrected_by="lem:T_estimate/corrected", family="random-columns",
        probability="certain: the rank is k for every W",
    ),
    Claim(
        "lem:T_estimate/corrected", "lem:T_estimate", 2855, "the two quadratic forms, with the tail of W",
        "T_1 <= c |u_0:k|^2/t (mu_{M/2}(A_k)/mu_M(A_k))^2 and T_2 <= |u_k:oo|_H^2 (for every W) for k = M/3. The "
        "largest constant c over the draws falls with M.",
        said.TWO_FORMS,
        (SPECTRUM, *RANDOM, said.MU_TAIL, "u_0 and u_1 are |u_0:k| and |u_k:oo|_H", "k = M/3", "the worst target",
         "t = (M/2)^beta"),
        matrices.column_bounds, _two_forms,
        depends=("lem:eig_ratio/corrected",), family="random-columns", role="corrected",
        probability="probability at least 1 - exp(-Omega(M)) for T_1, certain for T_2; 150, 120, 120, 140 draws "
        "of W at M = 12, 24, 48, 96: above the largest at M = 12 later ones lie with a probability shown, at 99.9 %, "
        "to be at most exp(-0.03 M)",
    ),
    Claim(
        "lem:T_estimate/first-columns", "lem:T_estimate", 2884, "the inverse with the first k columns split off",
        "(W H W')^-1 W_0:k H_0:k = A_k^-1 W_0:k [H_0:k^-1 + W_0:k'A_k^-1 W_0:k]^-1; the first line of the display has "
        "a factor W_0:k too many.",
        said.FIRST_COLUMNS[0],
        ("A_k invertible", "(WHW')^{-1} inverts W H W' = A_k + U C U', U = W_0:k, C = H_0:k, D = C^-1 + U'A_k^-1 U",
         *said.FIRST_COLUMNS[1], *SMALL),
        identities.first_columns, _first_columns, derive=derivations.woodbury_derivation,
        family="random-identities", role="argument",
    ),
    Claim(
        "lem:spd_matrix_trace", "lem:spd_matrix_trace", 3856, "a trace grows with its matrix",
        "tr(P^(1/2) U P^(1/2)) <= tr(Q^(1/2) U Q^(1/2)) for 0 <= P <= Q and U >= 0: the difference is "
        "|(Q - P)^(1/2) U^(1/2)|_F^2.",
        said.TRACE_ORDER,
        ("R_1, R_2, L, V are the roots of P, Q, Q - P, U", "P <= Q and U positive semidefinite", *said.ROOTS,
         "4 x 4, six triples"),
        identities.trace_gaps, _trace_gap,
        derive=derivations.trace_order_derivation, family="random-identities",
    ),
)  # fmt: skip
