"""Where the paper errs about its model: features, projections, the equations of SGD, and the setting of its runs."""

from __future__ import annotations

from fsl_num.claims.records import Erratum

KERNELS = "appendix_rkhs"
EXPERIMENTS = "appendix:experiment_details"
EQUATIONS = "sub:the_sde_modeling"

MODEL_ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "hypercontractivity-outer-matrix",
        "assumption: hypercontractivity",
        279,
        "false as stated",
        "rho_- tr(HA) A <= E[(phi'A phi) phi phi'] - HAH <= rho_+ tr(HA) A",
        "rho_- tr(HA) H <= E[(phi'A phi) phi phi'] - HAH <= rho_+ tr(HA) H, as the lemma on normal features and the "
        "proof of the noise structure have it",
        "The outer terms are of degree 2 in A, the middle of degree 1: no constants serve A and all its multiples. For "
        "normal features, H = diag(1, 1/2) and A = e_1 e_1' the middle is diag(2, 1/2) and 2 tr(HA) A = diag(2, 0). "
        "With H outside normal features have rho_- = 1 and rho_+ = 2, both attained; signs have rho_- = 0 and fail.",
        ("assumption: hypercontractivity", "assumption: hypercontractivity/corrected"),
    ),
    Erratum(
        "random-projection-variance",
        "sec:problem_setup",
        306,
        "false as stated",
        "random features w_j ~ N(0, I_N), for which mu_j(W H W') is of the order of lambda_j (lem: random_eigen)",
        "w_j ~ N(0, I_N/M)",
        "mu_j is then of the order of M lambda_j. For beta = 2, N = 4M the median of the largest mu_j/lambda_j is "
        "11.2, 21.6, 40.8, 78.5 at M = 8, 16, 32, 64, and with N(0, I_N/M) 1.40, 1.35, 1.27, 1.23. At M = 64 the "
        "printed W has e^_M(0) = 126, where the risk before training is half of 1.64, and SGD with eta = 0.05 "
        "diverges.",
        ("lem: random_eigen", "lem: random_eigen/corrected"),
    ),
    Erratum(
        "random-features-at-s-one",
        "thm: fsl-random",
        628,
        "false as stated",
        "s in (0, 1], as in prop:volterra-random and lem:bias_upper_bound",
        "s in (0, 1), or M^-beta log M for M^-(s beta) at s = 1",
        "What random features never learn is about kappa sum_j lambda_j theta_j^2/(lambda_j + kappa), kappa of the "
        "order of M^-beta: at s = 1 M^-beta log M. For beta = 2, N = 4M, averaged over targets, M^beta B(infinity) is "
        "4.3, 5.8, 7.2, 8.3 at M = 8, 16, 32, 64, and for s = 1/2 M B(infinity) is 1.8, 1.8, 1.9, 1.9. In the proof "
        "(2645) the sum over j <= k of j^-1 is taken for a constant.",
        (
            "lem:bias_upper_bound",
            "thm: fsl-random",
            "thm: fsl-random/corrected",
        ),
    ),
    Erratum(
        "kernel-setting-equivalent",
        KERNELS,
        1302,
        "gap in the argument",
        "the formulation of the problem is equivalent to kernel regression under the capacity and source conditions",
        "it is kernel regression whose features also satisfy assumption: hypercontractivity",
        "The periodic Sobolev kernels satisfy the capacity condition, and their features, trigonometric functions, "
        "have no constants that serve every number of features: rho_+ is at least 3.6 and 9.0 for N = 8 and 16 (about "
        "0.69 N beyond) and rho_- at most 2e-4 for N = 8. In the directions of single features, which the first M "
        "features need, rho_+ < 2 for every N, but rho_- falls to 0 there too.",
    ),
    Erratum(
        "kernel-coefficients",
        KERNELS,
        1314,
        "typo",
        "f* = sum_j j^(-1/2) lambda_j^s phi^_j",
        "f* = sum_j j^(-1/2) lambda_j^(s/2) phi^_j",
        "theta_j phi_j = theta_j lambda_j^(1/2) phi^_j and theta_j^2 = j^-1 lambda_j^(s-1) give a_j^2 = j^-1 "
        "lambda_j^s; the main text has lambda_j^(s/2).",
        (
            "appendix_rkhs/coefficients",
            "ass:source",
        ),
    ),
    Erratum(
        "kernel-source-sum",
        KERNELS,
        1320,
        "typo",
        "sum_j a_j^2/lambda_j^(s-delta) = sum_j j^(-1-beta(s-delta))",
        "sum_j a_j^2/lambda_j^(s-delta) = sum_j j^(-1-beta delta)",
        "The printed sum would converge for delta = 0 too and put f* into H^s. There the sum over j <= J is the "
        "harmonic one, 5.19 at J = 100 and 7.49 at J = 1000: f* is in H^r exactly for r < s. With the printed a_j the "
        "exponent would be -1-beta(s+delta), so that the two lines do not agree either.",
        (
            "appendix_rkhs/source-sum",
            "assump:source-kernel",
        ),
    ),
    Erratum(
        "physical-sde-time",
        EQUATIONS,
        1342,
        "typo",
        "d v_tau = -phi(tau) grad R(v_tau) dt + ...",
        "d v_tau = -phi(tau) grad R(v_tau) dtau + ..., as in eqn: sde",
        "t is the intrinsic time, dt = phi dtau: the printed drift would count the learning rate twice.",
        (
            "sub:the_sde_modeling/physical-drift",
            "eqn: sde",
        ),
    ),
    Erratum(
        "intrinsic-grid-shifted",
        EQUATIONS,
        1351,
        "typo",
        "t_k = sum_{j=0}^k eta_j, with steps Delta t_k = eta_k",
        "t_k = sum_{j=0}^{k-1} eta_j",
        "The printed grid has t_{k+1} - t_k = eta_{k+1} and t_0 = eta_0, while the update takes eta_k from t_0 = 0.",
        (
            "sub:the_sde_modeling/grid",
            "sub:the_sde_modeling/grid-corrected",
        ),
    ),
    Erratum(
        "fit-without-room",
        EXPERIMENTS,
        1380,
        "inconsistency",
        "M = N = 128 for beta from 1.5 to 5, which only removes M^-(s beta), and T(k)^-s is fitted",
        "N - M >~ M as in ass:fsl, or e_M(T) for T^-s where T is not far below M^beta",
        "Without the features beyond M the signal e_M leaves the power law: e_128/e_infinity at T = 500, the end of a "
        "run of 10,000 steps at 0.05, is 0.24 for (s, beta) = (0.5, 1.5) and 0.998 for (0.5, 4).",
        (
            "sec: experiments/own-setting",
            "sub:the_kernel_teacher_student_setup/fit",
        ),
    ),
    Erratum(
        "fit-from-the-first-step",
        EXPERIMENTS,
        1388,
        "inconsistency",
        "E_k = c_1 T(k)^-s + ... fitted to every step k = 1 .. K",
        "only steps with T(k) >= 1, where the law is claimed, or e_M(T) and K_M for their powers",
        "T^-s has no limit at T = 0. At s = 0.5, beta = 4, sigma = 3, peak rate 0.05 and 10,000 steps the worst "
        "relative error of the printed fit to the exact risk is 59 %, 57 % and 177 % (cosine, WSD, cyclic), 30 %, 46 % "
        "and 49 % with the steps T >= 1 alone, and 1.4 %, 1.6 % and 1.1 % over all steps with e_M and K_M.",
    ),
    Erratum(
        "number-of-runs",
        EXPERIMENTS,
        1407,
        "inconsistency",
        "200 runs each (1383, 1417), complementing Figure fig: sgd-fsl (middle and right)",
        "complementing Figure fig: sgd-fsl (left), which averages over 1000 runs",
        "The caption of that figure (148) names 1000 runs for its loss dynamics and 200 for its final losses, and it "
        "has two panels, of which the loss dynamics are the left one.",
    ),
    Erratum(
        "scaling-experiment-peak-rate",
        EXPERIMENTS,
        1429,
        "false as stated",
        "eta_max = 0.05 D^-r with r = 1 for exponential decay and WSD, following the theory (1434 as well)",
        "r = 0 in the hard regime, in which the experiment is (s = 0.5, beta = 4); in the easy regime "
        "r = 1 - beta/(1 + s beta), up to logarithms",
        "With r = 1 the intrinsic time is at most 0.05 for every D and nothing is learned: after D = 10^6 steps the "
        "exact risk is 0.5974 (exponential decay) and 0.5616 (WSD), where training starts at 0.6010. With r = 0 it is "
        "0.0081 and 0.0050 after 10^5 steps.",
        ("appendix:experiment_details/peak-rate", "appendix:experiment_details/peak-rate-derived"),
    ),
    Erratum(
        "norm-without-square",
        "appendix:proof_random",
        2467,
        "typo",
        "||v||_C = v'Cv",
        "||v||_C^2 = v'Cv",
        "lem:T_estimate and line 2642 use ||u||_H^2 for sum_j lambda_j u_j^2, as does the proof of lemma: "
        "noise-covariance; with the printed definition that would be the square of this sum.",
    ),
    Erratum(
        "random-eigen-room",
        "lem:eig_concentration_appendix",
        2533,
        "false as stated",
        "c_1 lambda_j <= mu_j(W H W') <= c_2 lambda_j for j <= M, for any N and no variance of W",
        "the same for N - M >~ M and entries of variance 1/M",
        "With N = M the smallest eigenvalue is of the order of M^-2 lambda_M: for beta = 2 the median of the least "
        "mu_j/lambda_j is 0.0096, 0.0052, 0.0008, 0.0002 at M = 8, 16, 32, 64, against 0.45, 0.44, 0.42, 0.40 with "
        "N = 4M. For the variance see random-projection-variance.",
        (
            "lem: random_eigen/corrected",
            "lem:eig_concentration_appendix",
        ),
    ),
    Erratum(
        "eigenvalue-ratio-every-k",
        "lem:eig_ratio",
        2544,
        "false as stated",
        "for all k >= 1 the ratio of the M/2-th and the M-th eigenvalue of W_k:oo H_k:oo W_k:oo' is at most c",
        "for k with N - k - M >~ M, for instance k <= M/2 and N >= 3M",
        "For N - M < k that matrix has rank N - k < M and its M-th eigenvalue is 0. With N - k = M the remaining W "
        "is square, and the ratio grows with M as in random-eigen-room.",
        (
            "lem:eig_ratio",
            "lem:eig_ratio/corrected",
        ),
    ),
    Erratum(
        "bias-without-unlearned-part",
        "lem:bias_upper_bound",
        2600,
        "gap in the argument",
        "A_t'H A_t = H W'(W H W')^-1 M_t (W H W')^-1 W H",
        "A_t'H A_t = H W'(W H W')^-1 M_t (W H W')^-1 W H + H - H W'(W H W')^-1 W H",
        "The term a = b = 0 of the series is H, and the line replaces it by H W'(W H W')^-1 W H. The printed "
        "right-hand side tends to 0, while what W does not reach stays: for one W with M = 64, N = 256, s = 1/2, beta "
        "= 2 it is 0.2311 at t = 10 and the left-hand side 0.2615, of which 0.0305 is never learned. The upper bound "
        "needs an argument of its own for that part; lm:matrix_analysis has both terms.",
        (
            "lem:bias_upper_bound",
            "lem:bias_upper_bound/argument",
        ),
    ),
    Erratum(
        "bias-lower-bound-rank-one",
        "lem:bias_lower_bound",
        2726,
        "gap in the argument",
        "mu_j(H u_0 u_0'H) = lambda_j^2 theta_j^2, hence mu_j(W H u_0 u_0'H W') ~ j^(-1-beta-s beta)",
        "true of the mean over targets with uncorrelated coordinates, E[u_0 u_0'] = diag(theta_j^2); for one target "
        "the matrix has rank one",
        "All but the first eigenvalue of a matrix of rank one are 0, and von Neumann's inequality pairs that one with "
        "exp(-2 t mu_1)/mu_1: for M = 64, N = 256, s = 1/2, beta = 2 the argument gives 5.2e-12 at t = 10, where the "
        "left-hand side is 0.2615 and e^_M(t) 0.1740. The lemma itself holds in every measurement, for the fixed "
        "target as for normal ones.",
        (
            "lem:bias_lower_bound",
            "lem:bias_lower_bound/argument",
        ),
    ),
    Erratum(
        "bias-floor-rank-one",
        "lem:bias_lower_bound",
        2760,
        "gap in the argument",
        "mu_i(H^(1/2) u_0 u_0'H^(1/2)) = i^(-1-s beta), hence T_3 >~ M^-(s beta)",
        "as above: of the mean over targets; for one target the trace inequality gives T_3 >= 0",
        "The matrix has rank one. Its only eigenvalue other than 0 is paired with the least of the projection, which "
        "is 0. Measured: T_3 M^(s beta) is 1.95 in the case above.",
        (
            "lem:bias_lower_bound",
            "lem:bias_lower_bound/argument-floor",
        ),
    ),
    Erratum(
        "matrix-analysis-exponent",
        "lm:matrix_analysis",
        2812,
        "typo",
        "I + sum_{a+b>=1} (-t)^(a+b)/(a! b!) H^(1/2) W'(W H W')^-1 W H^(1/2)",
        "I + sum_{a+b>=1} (-t)^(a+b)/(a! b!) H^(1/2) W'(W H W')^(a+b-1) W H^(1/2), as the next display has it",
        "For M = 2, N = 4, beta = 2 and t = 1 the printed series misses A_t'H A_t by 0.48 in one entry, the corrected "
        "one by rounding.",
        ("lm:matrix_analysis",),
    ),
    Erratum(
        "t-estimate-columns",
        "lem:T_estimate",
        2858,
        "typo",
        "the ratio of the M/2-th and the M-th eigenvalue of W_0:k H_0:k W_0:k'",
        "the ratio of those of W_k:oo H_k:oo W_k:oo', as the proof has it",
        "W_0:k H_0:k W_0:k' has rank k <= M/3: both its M/2-th and its M-th eigenvalue are 0.",
        (
            "lem:T_estimate",
            "lem:T_estimate/corrected",
        ),
    ),
    Erratum(
        "projection-entries-over-n",
        "lem:T_estimate",
        2911,
        "inconsistency",
        "s_i ~ N(0, I_k/N)",
        "s_i ~ N(0, I_k/M), the variance for which ||W_0:k|| <= c two lines above and the eigenvalues are right",
        "This is a third variance of the entries of W, after 1 (306). With 1/N the sum over i <= M/2 of s_i s_i' is of "
        "the order of M/N, no constant, and mu_j of the order of (M/N) lambda_j: at M = 64 and N = 4M, 16M the median "
        "of the largest mu_j/lambda_j is 0.31 and 0.08. With variance 1 ||W_0:k|| is 4.8, 12, 26 at M = 16, 64, 256, k "
        "= M/3, N = 4M; with 1/M it is 1.2, 1.5, 1.6.",
        ("lem: random_eigen/corrected",),
    ),
    Erratum(
        "fourth-moment-trace-inequality",
        "lem:4th_moment_estim",
        3842,
        "false as stated",
        "HA <= tr(HA), multiplied by H on both sides",
        "H^(1/2) A H^(1/2) <= tr(HA) I, multiplied by H^(1/2) on both sides",
        "HA is not symmetric, and its symmetric part need not be below its trace: for H = diag(1, 1/4) and A all ones "
        "that part has the eigenvalue 1.354, and tr(HA) = 1.25. The conclusion HAH <= tr(HA) H holds.",
        ("lem:4th_moment_estim",),
    ),
)
"""In the order of the paper."""
