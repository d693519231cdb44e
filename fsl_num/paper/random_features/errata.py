"""Where the proof for random features errs, beyond what stands with the claims about the model."""

from __future__ import annotations

from fsl_num.claims.records import Erratum

RANDOM_ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "volterra-random-at-s-one",
        "prop:volterra-random",
        2474,
        "false as stated",
        "for 0 < s <= 1 the excess risk is of the order of M^-(s beta) + e^_M(t) + the integral of the noise, as in "
        "thm: fsl-random",
        "for every s > 0 with F + e~(t) for M^-(s beta) + e^_M(t): F = kappa sum_j lambda_j theta_j^2/(lambda_j + "
        "kappa), sum_j lambda_j/(lambda_j + kappa) = M, and e~ with theta_j^2 + (1/M) sum_{i<=j} theta_i^2 for "
        "theta_j^2",
        "For s < 1 both are of one order; at s = 1 F is of the order of M^-beta log M. At s = 1, beta = 2, N = 4M "
        "what is never learned is 6.0, 7.3, 8.6, 9.9, 11.2 times the printed law at M = 16, 32, 64, 128, 256, and "
        "1.09, 1.05, 1.02, 1.02, 1.00 times F, in the mean. For s > 1 the printed law misses by "
        "M^(beta(s-1)): at s = 3/2, beta = 2 by 49 at M = 16 and 800 at M = 256.",
        ("prop:volterra-random", "thm: fsl-random", "prop:volterra-random/corrected", "thm: fsl-random/corrected"),
    ),
    Erratum(
        "bias-series-range",
        "lem:bias_upper_bound",
        2657,
        "typo",
        "min{t^-s, 1} + M^-(s beta) ~ e^_oo(t) + M^-(s beta), with a hat on e_oo",
        "~ e_oo(t) + M^-(s beta), and from there e^_M(t) + M^-(s beta) by mu_j ~ lambda_j",
        "e^_oo is not defined: W H W' has M eigenvalues. With mu_j between c_1 lambda_j and c_2 lambda_j e^_M(t) lies "
        "between multiples of e_M(c_2 t) and e_M(c_1 t), and lemma:em-gap does the rest.",
        ("lem:bias_upper_bound",),
    ),
    Erratum(
        "woodbury-extra-factor",
        "lem:T_estimate",
        2886,
        "typo",
        "(W H W')^-1 W_0:k H_0:k = (A_k^-1 - A_k^-1 W_0:k [...]^-1 W_0:k'A_k^-1 W_0:k) W_0:k H_0:k",
        "the same without the last W_0:k inside the bracket",
        "As printed the bracket subtracts a matrix with k columns from one with M, and multiplies by one with M rows. "
        "The next line has it right, and the result is an identity: (A_k + U C U') A_k^-1 U D^-1 = U C for D = C^-1 + "
        "U'A_k^-1 U.",
        ("lem:T_estimate/first-columns",),
    ),
    Erratum(
        "t-estimate-range-of-k",
        "lem:T_estimate",
        2909,
        "inconsistency",
        "no range of k in the lemma; k <= M/2 where T_1 and T_2 are defined and at first in the proof",
        "k <= M/3, or any k <= c M with c < 1/2",
        "The proof bounds the sum of s_i s_i' over i <= M/2 from below by c I_k. At k = M/2 these are k vectors in "
        "dimension k: the matrix is square, and its least eigenvalue of the order of 1/M^2.",
        ("lem:T_estimate/corrected",),
    ),
    Erratum(
        "t-estimate-eigenvalue-index",
        "lem:T_estimate",
        2911,
        "typo",
        "the sum over i = 1 .. M of s_i s_i'/lambda^_(M-i)",
        "the sum over i = 1 .. M of s_i s_i'/lambda^_(M+1-i)",
        "At i = M the printed index is 0, and lambda^_M, the least eigenvalue, does not appear.",
        ("lem:T_estimate/corrected",),
    ),
)
"""In the order of the paper."""
