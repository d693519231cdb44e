"""Where the paper errs about rotations, features as a basis, its equations in two times, and one task's difficulty."""

from __future__ import annotations

from fsl_num.claims.records import Erratum

IDENTITY_ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "rotation-keeps-projection",
        "ass:diagonal",
        296,
        "gap in the argument",
        "SGD is invariant under rotations of the features, so that a diagonal H is the general case",
        "SGD is invariant where W is turned along (W Q'): for the first M features of a general H take its first M "
        "eigenvectors, not its first M coordinates",
        "With all features and for random W (in law) nothing is lost. For M = 1, N = 2, H = diag(1, 1/16), theta* = "
        "(1, +-sqrt 2) the first feature leaves 2E = 0.125; after a rotation by 45 degrees the first coordinate leaves "
        "0.010 or 0.343, as the sign may be. No rate in M holds without the order of the eigenvalues.",
        ("ass:diagonal/first-coordinates", "ass:diagonal"),
    ),
    Erratum(
        "features-not-a-basis",
        "subsec:source-capacity",
        316,
        "false as stated",
        "phi^_1, ..., phi^_N form an orthonormal basis of L^2(D)",
        "they are orthonormal; f* lies in their span, by its definition",
        "For finite N no N functions span an L^2(D) of higher dimension. For normal features, with N infinite as well, "
        "phi^_1 phi^_2 has norm 1 and E[phi^_1 phi^_2 phi^_j] = 0 for every j. Nothing that follows uses more than "
        "orthonormality.",
        ("subsec:source-capacity/basis", "subsec:source-capacity/orthonormal"),
    ),
    Erratum(
        "difficulty-of-the-target-alone",
        "ass:source",
        366,
        "gap in the argument",
        "alpha = s beta depends only on the target function and not on the spectrum of the model",
        "alpha depends on the target and on the eigenfunctions of the model in their order; it is the same for models "
        "that differ in their eigenvalues alone",
        "The coefficients are those on phi^_j: with the same orthonormal functions, e_k at the place k^2, the same "
        "function has alpha/2 (measured 0.9948 for alpha = 2); for a model whose first eigenfunction is f* itself no "
        "alpha is left. Another network, kernel or activation changes the eigenfunctions too.",
        ("ass:source/only-the-target", "ass:source/one-order"),
    ),
    Erratum(
        "accumulated-steps-index",
        "sec:proof_sketch",
        445,
        "typo",
        "the progress after k updates is sum_{j=1}^k eta_j",
        "sum_{j=0}^{k-1} eta_j",
        "The schedule is eta_0, ..., eta_{K-1} (405), and v_k has taken the steps 0 to k - 1; T(kh) is their sum for a "
        "rate that is constant over a step.",
        ("sub:the_sde_modeling/grid-corrected",),
    ),
    Erratum(
        "risk-at-physical-time",
        "sec: effect-lrs",
        890,
        "typo",
        "E_K = E[R(nu_{Kh})] - sigma^2/2, the risk after K steps",
        "E_K = E[R(nu_{T(Kh)})] - sigma^2/2 = E[R(v_{Kh})] - sigma^2/2 with the v of physical time",
        "nu is a function of intrinsic time and Kh is a physical time. At a constant rate eta = 0.1 and h = 1, T(Kh) = "
        "0.1 K: read as printed the bias of thm:chinchilla would be K^-s and not (eta K)^-s.",
        ("sec: effect-lrs/after-k-steps", "eqn: sde-instrinc"),
    ),
    Erratum(
        "simplified-law-without-h",
        "eqn: fsl-simplified",
        888,
        "inconsistency",
        "(sigma^2/B) int K_M(t-r) phi(T^-1(r)) dr",
        "(sigma^2/B) int K_M(t-r) h phi(T^-1(r)) dr, or h = 1, which is only assumed later (940)",
        "gamma = h phi/b by eqn: sde-instrinc. With phi = eta/h the printed term is 1/h times too large.",
        ("assump: task-difficulty",),
    ),
    Erratum(
        "integral-operator-mercer",
        "appendix_rkhs",
        1255,
        "gap in the argument",
        "E K(x,x) < infinity makes the operator compact (Mercer's theorem) and K(x,x') = sum_j lambda_j e_j(x) e_j(x') "
        "with e_j a basis of L^2(D)",
        "it makes the operator of trace class, and the expansion holds in L^2(D x D); at every point it needs a "
        "continuous kernel on a compact set, and a basis an operator without kernel",
        "K(x,x') = 1 for x = x' and 0 otherwise is positive semidefinite with E K(x,x) = 1. For uniform inputs on "
        "[0,1] its operator is 0: all eigenvalues are 0, and the sum misses K on the diagonal.",
        ("appendix_rkhs/kernel",),
    ),
    Erratum(
        "residual-wrong-target",
        "eq:sde_u",
        1785,
        "typo",
        "du = d(W'nu - v*)",
        "du = d(W'nu - theta*)",
        "u is defined as W'nu - theta* seven lines above; no v* is defined, and it would have M entries.",
        ("eq:sde_u",),
    ),
    Erratum(
        "residual-brownian-dimensions",
        "eq:sde_u",
        1789,
        "inconsistency",
        "W' sqrt(gamma Sigma) dB~ with an N-dimensional B~, the same in law as sqrt(gamma W'Sigma W) dB with an "
        "M-dimensional B",
        "the other way round: W' sqrt(gamma Sigma) takes M noises and sqrt(gamma W'Sigma W) takes N",
        "W' sqrt(gamma Sigma) has the shape (N, M) and sqrt(gamma W'Sigma W) the shape (N, N): neither product is "
        "defined as printed unless M = N. In law both are right with the dimensions exchanged.",
        ("eq:sde_u",),
    ),
    Erratum(
        "evolution-c-of-one-time",
        "pro:evolution-pro",
        1874,
        "false as stated",
        "the equation of the risk holds with c_tau in [2 rho_-, 2 rho_+] for any tau",
        "it holds with c = c(t, tau) in [2 rho_-, 2 rho_+]; equivalently the two bounds hold",
        "The proof chooses c for A_{t-tau}, hence for t and tau. One c_tau for all t does not exist: let gamma = 1/2 "
        "up to 0.02 and 0 after it. Then 2E is a sum of exponentials of different rates, each of which fixes a mean "
        "of c_tau over the burst: 3.70 and 2.21 for s = 1/2, beta = 4, M = N/2 = 2, but means of one function differ "
        "by at most 4 %. What is proved from it uses the two bounds alone.",
        ("pro:evolution-pro", "pro:evolution-pro/corrected"),
    ),
)
"""In the order of the paper."""
