"""Where the paper's optimal allocations are misprinted, inconsistent or false, and how it is known."""

from __future__ import annotations

from fsl_num.claims.records import Erratum

ALLOCATION_ERRATA = (
    Erratum(
        "wsd-data-peak-rate-sign",
        "thm: wsd",
        1035,
        "typo",
        "gamma_opt ~ D^-((1+s beta-beta)/(1+s beta)) (log D)^(+(beta-1)/(1+s beta))",
        "gamma_opt ~ D^-((1+s beta-beta)/(1+s beta)) (log D)^(-(beta-1)/(1+s beta)), as the appendix prints",
        "balance (gamma D)^-s = gamma^(1/beta) (D/log D)^(1/beta-1); at s = 1, beta = 2 the two differ by (log "
        "D)^(2/3), "
        "and brute force over log D from 4e6 to 1.6e7 follows the appendix to 0.01 in the log power",
        ("thm: wsd/data",),
    ),
    Erratum(
        "wsd-compute-copied-allocation",
        "thm: wsd",
        1050,
        "false as stated",
        "easy: gamma_opt, M_opt and D_opt with the logarithms of exponential decay: M_opt ~ (C/log C)^(1/(2+s "
        "beta)), "
        "D_opt ~ C^((1+s beta)/(2+s beta)) (log C)^(1/(2+s beta))",
        "M_opt ~ C^(1/(2+s beta)) (log C)^(-(1-1/beta)/(2+s beta)), "
        "D_opt ~ C^((1+s beta)/(2+s beta)) (log C)^((1-1/beta)/(2+s beta)), "
        "gamma_opt ~ C^-((1+s beta-beta)/(2+s beta)) (log C)^(-(beta^2-1)/(beta (2+s beta)))",
        "M_opt as printed gives M^-(s beta) = (C/log C)^(-s beta/(2+s beta)), larger than the risk printed beside "
        "it by "
        "(log C)^(s/(2+s beta)); the linear programme and brute force agree on the corrected orders",
        ("thm: wsd/compute",),
    ),
    Erratum(
        "wsd-compute-appendix-theorem",
        "sub:proof_for_the_wsd_like_lrs",
        3656,
        "false as stated",
        "the appendix theorem repeats gamma_opt, M_opt, D_opt of the main text, against the second case of its "
        "own proof",
        "as in wsd-compute-copied-allocation",
        "the second case of the proof derives M_opt and D_opt with (log C)^(-+(1-1/beta)/(2+s beta))",
        ("thm: wsd/compute",),
    ),
    Erratum(
        "wsd-compute-first-case",
        "sub:proof_for_the_wsd_like_lrs",
        3713,
        "gap in the argument",
        "E_opt ~ D2^(s - s beta/(1+s beta)) D^-s, hence E_opt ~ (C/log C)^(-s beta/(2+s beta)) (log C)^s",
        "E_opt ~ M^-(s beta) = D2^(-s beta/(1+s beta)), hence (C/log C)^(-s beta/(2+s beta)) in this case",
        "only (gamma D)^-s is kept, while M^-(s beta), balanced three lines above, exceeds it by (D/D2)^s; the "
        "log in the "
        "last line also has the sign of (D2/D)^-s instead of (D2/D)^s",
        ("thm: wsd/compute-first-case",),
    ),
    Erratum(
        "wsd-compute-first-case-hard",
        "sub:proof_for_the_wsd_like_lrs",
        3738,
        "gap in the argument",
        "hard, first case: M_opt ~ D2^(1/beta) with D2 ~ D/log C, yet M_opt ~ C^(1/(1+beta)) and E_opt ~ D^-s",
        "with M ~ D2^(1/beta) the risk is M^-(s beta) = D2^-s, larger by (log C)^s; M_opt ~ D^(1/beta) needs the "
        "other case",
        "M = (D/log C)^(1/beta) and M D = C give M ~ (C/log C)^(1/(1+beta)), not C^(1/(1+beta))",
        (),
    ),
    Erratum(
        "wsd-compute-second-case-peak-rate",
        "sub:proof_for_the_wsd_like_lrs",
        3774,
        "false as stated",
        "gamma_opt ~ C^-((1+s beta-beta)/(2+s beta)) (log C)^(-(beta-1)/(1+s beta))",
        "gamma_opt ~ C^-((1+s beta-beta)/(2+s beta)) (log C)^(-(beta^2-1)/(beta (2+s beta)))",
        "gamma_opt ~ D^-((1+s beta-beta)/(1+s beta)) (log D)^(-(beta-1)/(1+s beta)) and D_opt carries a logarithm "
        "of its "
        "own, which the printed line forgets; at s = 1, beta = 2 the log powers are -1/3 and -3/8",
        ("thm: wsd/compute-second-case",),
    ),
    Erratum(
        "wsd-edge-regime",
        "sub:proof_for_the_wsd_like_lrs",
        3667,
        "false as stated",
        "the edge s = 1 - 1/beta belongs to the hard regime (theorem for C, both proofs): E_opt ~ D^-s, C^(-s "
        "beta/(1+beta))",
        "it belongs to the easy regime, as the main text files it: E_opt ~ D^-s (log D)^(s^2), and for C likewise "
        "with logs",
        "on the edge the proof needs D2/log K of order D^(s beta/(beta-1)) = D, impossible for D2 <= D; the "
        "derived region "
        "is s beta - beta + 1 >= 0; brute force finds the risk to carry (log D)^(s^2)",
        ("thm: wsd/data-edge-as-hard", "thm: wsd/compute-edge-as-hard"),
    ),
    Erratum(
        "exp-decay-model-size-not-unique",
        "thm:geometric",
        958,
        "inconsistency",
        "easy: M_opt = oo and gamma_opt ~ (D/log D)^-((1+s beta-beta)/(1+s beta))",
        "the optima are two arms: that gamma with any M >~ (D/log D)^(1/(1+s beta)), or M ~ (D/log D)^(1/(1+s "
        "beta)) with "
        "any gamma from there up to order 1",
        "the first case of the paper's proof (gamma ~ 1, M ~ (D/log D)^(1/(1+s beta))) reaches the same risk; "
        "brute force "
        "finds peak rates of order 1 within a factor 2.2 of the least risk",
        ("thm:geometric/data-unique",),
    ),
    Erratum(
        "exp-decay-compute-peak-rate",
        "thm:geometric",
        978,
        "false as stated",
        "easy: gamma_opt ~ (C/log C)^-((1+s beta-beta)/(2+s beta))",
        "every gamma from that order up to order 1 is optimal, with the printed M_opt and D_opt",
        "for M <= (gamma D/log D)^(1/beta) the noise is sigma^2 M log D/D whatever gamma is, and a larger gamma "
        "only lowers "
        "T^-s; the dual certificate leaves gamma free and brute force measures both ends",
        ("thm:geometric/compute",),
    ),
    Erratum(
        "exp-decay-peak-rate-must-decrease",
        "sub:proof_for_the_exponential_decay_lrs",
        1005,
        "false as stated",
        "the optimal gamma_opt decreases with C, and higher-capacity models require smaller gamma_opt",
        "the smallest optimal gamma does; gamma of order 1 is optimal at every C and every beta",
        "as in exp-decay-compute-peak-rate",
        (
            "thm:geometric/compute",
            "sec: effect-lrs/peak-rate-and-capacity",
            "sec: effect-lrs/smallest-peak-rate-and-capacity",
        ),
    ),
    Erratum(
        "exp-decay-batch-size-in-wrong-case",
        "sub:proof_for_the_exponential_decay_lrs",
        3386,
        "typo",
        "hard: as a <~ 1, B <~ D^(1 - beta/(1+s beta))",
        "this bound belongs to the easy case (B <~ 1/gamma_opt); in the hard case gamma_opt ~ 1 forces B ~ 1",
        "for s < 1 - 1/beta the printed exponent 1 - beta/(1+s beta) is negative, a batch size below one",
        ("thm:geometric/steps",),
    ),
    Erratum(
        "wsd-batch-size-in-wrong-case",
        "sub:proof_for_the_wsd_like_lrs",
        3637,
        "typo",
        "hard: as a <~ 1, B <~ D^(1 - beta/(1+s beta)) up to logs",
        "this bound belongs to the easy case; in the hard case gamma_opt ~ 1 forces B ~ 1",
        "for s < 1 - 1/beta the printed exponent is negative, a batch size below one",
        (),
    ),
    Erratum(
        "data-over-model-log",
        "sub:proof_for_the_exponential_decay_lrs",
        1002,
        "inconsistency",
        "D_opt/M_opt ~ C^(alpha/(2+alpha))",
        "D_opt/M_opt ~ C^(alpha/(2+alpha)) (log C)^(2/(2+alpha))",
        "quotient of the D_opt and M_opt printed 20 lines above; without the log the measured ratio drifts",
        ("sec: effect-lrs/data-over-model",),
    ),
)
"""In the order of the paper's claims."""
