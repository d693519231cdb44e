"""What is wrong in the theorems on the functional scaling law and in their proofs."""

from __future__ import annotations

from fsl_num.claims.records import Erratum

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "hard-regime-any-noise",
        "thm: fsl-hard-regime",
        486,
        "false as stated",
        "for any f* with s in (0, 1-1/beta] and any sigma >= 0, for all t >= 0, the excess risk is of the order "
        "M^-(s beta) + e(t) + int K(t-z)[e(z) + sigma^2] gamma(z) dz with e(t) = (1+t)^-s, K(t) = (1+t)^-(2-1/beta)",
        "the same for sigma^2 <= C M^(beta-1-s beta) (sigma^2 <= C is enough), with constants that depend on C; or, "
        "uniformly in every sigma and for every s, with e_M and K_M in place of e and K",
        "The model has M features and forgets at least like exp(-2 lambda_M t); K remembers like a power. Let gamma be "
        "0.06 up to t = 3000 and 0 after, beta = 2, s = 1/2, M = 100, t = 10^6: the excess risk is 0.004975 (half of "
        "delta_M, both for the Volterra equation and for Gaussian features) whether sigma^2 is 1 or 10^12, since "
        "exp(-2 lambda_M (t - 3000)) = exp(-199). The printed right side is 0.011 at sigma^2 = 1, 18 at 10^8 and 1.8e5 "
        "at 10^12: no constant serves every sigma. In general the right side is too large by a factor of the order "
        "sigma^2 M^(s beta-beta+1). If the constants may depend on sigma (the paper says only that they do not depend "
        "on t) the theorem holds, with a constant of the order 1 + sigma^2.",
        ("thm: fsl-hard-regime", "eqn:fsl-intro"),
    ),
    Erratum(
        "hard-regime-last-step",
        "thm: fsl-hard-regime",
        2440,
        "gap in the argument",
        "M^-(s beta) + F_M + M^max(-s beta, -2 beta+1) + sigma^2 M^(-beta+1) <~ M^-(s beta) + F_M, for s <= 1 - 1/beta",
        "the last term is absorbed only for sigma^2 <= C M^(beta-1-s beta); and the law that is reached has e_M and "
        "K_M, while the theorem prints e and K: the way back to K needs the same gap once more",
        "At s = 1 - 1/beta the step reads sigma^2 M^-(s beta) <~ M^-(s beta). For the bound with e_M and K_M no "
        "condition on sigma or s is needed at all: the part of the loss that delta_M and sigma^2 leave is at most "
        "1/(1-c) of its part of the law, c = gamma_max tr(H)/2, because T 1 <= c; and the part of e_M needs only the "
        "subconvolution up to t = M^(2 beta), where it holds.",
        ("thm: fsl-hard-regime",),
    ),
    Erratum(
        "zero-noise-zero-difficulty",
        "thm:fsl-zero-noise",
        609,
        "false as stated",
        "If s in [0, 2 - 1/beta], then for all t >= 0 ...",
        "for every s > 0 (neither end is needed), and not for s = 0, which the source condition s > 0 excludes",
        "At s = 0 every feature carries lambda_j theta_j^2 = 1/j. At t = 0 twice the risk is 1 + 1/2 + ... + 1/N, "
        "about M log 2 for N = 2^M and infinite for N infinite, while the printed right side is 1 + (1 + ... + 1/M), "
        "about log M; N - M >~ M holds. At the other end nothing happens: for s up to 3 and all t the ratio of risk "
        "and law stays in [1, 1.18] at c = 0.05, with adversarial schedules and Gaussian features.",
        (
            "thm:fsl-zero-noise",
            "thm: fsl-random",
            "thm:fsl-zero-noise/zero-difficulty",
        ),
    ),
    Erratum(
        "ke-gap-harmonic-sum",
        "eq:Ke-gap",
        2371,
        "gap in the argument",
        "M^(-2 beta+1) sum_{j<=M} j^(-s beta-1+beta) <~ M^max(-s beta-beta+1, -2 beta+1)",
        "M^(-2 beta+1) sum_{j<=M} j^(-s beta-1+beta) <~ M^max(-s beta-beta+1, -2 beta+1), times log M at s = 1",
        "At s = 1 the sum is 1 + 1/2 + ... + 1/M, about log M, and both exponents are 1 - 2 beta. The gap itself has "
        "this logarithm (measured to t = M^beta = 1e60). The bound that the lemma states is larger by a power of M, "
        "and holds.",
        (
            "eq:Ke-gap",
            "eq:Ke-gap/argument",
        ),
    ),
    Erratum(
        "ksigma-gap-range",
        "eq:Ksigma-gap",
        2420,
        "typo",
        "= gamma_max int_0^infinity sum_{j=1}^M lambda_j^2 exp(-2 lambda_j tau) dtau ~ gamma_max sum_{j=1}^M j^-beta "
        "<~ gamma_max M^(-beta+1)",
        "<= gamma_max int_0^infinity sum_{j>M} lambda_j^2 exp(-2 lambda_j tau) dtau ~ gamma_max sum_{j>M} j^-beta "
        "<~ gamma_max M^(-beta+1)",
        "K_infinity - K_M is the sum over j > M (two lines above), and sum_{j<=M} j^-beta is at least 1, not of the "
        "order M^(1-beta). The first sign is an inequality: gamma varies and t is finite. The condition "
        "s <= 1 - 1/beta of the lemma does not enter.",
        ("eq:Ksigma-gap",),
    ),
    Erratum(
        "const-noise-proof",
        "thm:fsl-const-noise",
        2303,
        "typo",
        "int_0^t K_infinity(t-tau)(e_M(t) + sigma^2) gamma_tau dtau, and int_0^t K_infinity = 1/2 sum_j lambda_j",
        "int_0^t K_infinity(t-tau)(e_M(tau) + sigma^2) gamma_tau dtau, and int_0^t K_infinity <= 1/2 sum_j lambda_j",
        "The proposition that is quoted has e_M(tau). The integral from 0 to t is 0 at t = 0; it is half of the trace "
        "for t = infinity only.",
        ("thm:fsl-const-noise",),
    ),
)
