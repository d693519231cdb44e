"""The places of the paper that make claims or could, in order: label, first and last line, kind, covering claims.

And its sections: the line of the heading, the number, and a title in our words.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "theorem",
    "lemma",
    "proposition",
    "corollary",
    "assumption",
    "definition",
    "formula",  # that has a number or a label
    "box",  # that holds no other place
    "table",
    "text",  # a claim that the paper makes in a sentence
)


@dataclass(frozen=True)
class Place:
    """A place of the paper that makes a claim, or could: where it stands, who verifies it, or why nobody can.

    ``label`` is the LaTeX label, or where there is none that of the section, a colon and the line. ``also`` are the ids
    of claims that verify it beside those that bear its label or stand in its lines; ``excuse`` says why it is not
    checkable.
    """

    label: str
    line: int
    last: int
    kind: str
    also: tuple[str, ...] = ()
    excuse: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not 1 <= self.line <= self.last:
            raise ValueError(f"{self.label}: {self.kind!r} in lines {self.line} to {self.last} is no place of {KINDS}")


@dataclass(frozen=True)
class Section:
    """A section of the paper: the line of its heading, its number ("" of the abstract), its name here."""

    line: int
    number: str
    title: str

    def __str__(self) -> str:
        return f"section {self.number}" if self.number else "the abstract"


SECTIONS = (
    Section(92, "", "Abstract"),
    Section(110, "1", "Introduction"),
    Section(155, "1.1", "The contribution"),
    Section(233, "1.2", "Related work"),
    Section(250, "1.3", "Notation"),
    Section(265, "2", "Power-law kernel regression"),
    Section(312, "2.1", "Capacity and difficulty"),
    Section(382, "3", "One-pass SGD and its equation in intrinsic time"),
    Section(465, "4", "The functional scaling laws"),
    Section(480, "4.1", "The hard regime"),
    Section(523, "4.2", "The first M features"),
    Section(619, "4.3", "Random features"),
    Section(645, "4.4", "Steps of the proof"),
    Section(873, "5", "Learning-rate schedules"),
    Section(898, "5.1", "The constant schedule"),
    Section(936, "5.2", "Exponential decay"),
    Section(1011, "5.3", "Warmup, stable phase, decay"),
    Section(1071, "6", "Experiments"),
    Section(1074, "6.1", "Kernel regression"),
    Section(1091, "6.2", "Language models"),
    Section(1127, "7", "Conclusion"),
    Section(1161, "A", "Miscellanea"),
    Section(1164, "A.1", "Fits to loss curves of language models"),
    Section(1201, "A.2", "Schedules in use"),
    Section(1214, "A.3", "Connections to kernel regression"),
    Section(1324, "A.4", "The stochastic differential equation"),
    Section(1356, "B", "Details of the experiments"),
    Section(1361, "B.1", "Kernel regression"),
    Section(1439, "B.2", "Language models"),
    Section(1743, "C", "Proofs for section 4"),
    Section(1746, "C.1", "The Volterra equation of the loss"),
    Section(1947, "C.2", "Power-law decay of signal and kernel"),
    Section(2047, "C.3", "Proofs for the first M features"),
    Section(2449, "C.4", "Proofs for random features"),
    Section(2977, "D", "Proofs for section 5"),
    Section(2988, "D.1", "Proofs for the constant schedule"),
    Section(3101, "D.2", "Proofs for exponential decay"),
    Section(3484, "D.3", "Proofs for warmup, stable phase, decay"),
    Section(3807, "E", "Auxiliary lemmas"),
)

PLACES = (
    Place("eqn: scaling-law", 116, 118, "formula"),
    Place("eqn:fsl-intro", 165, 171, "formula"),
    Place("sec:intro:184", 184, 184, "text"),
    Place("tab: optimal-scaling", 194, 228, "table"),
    Place("assumption: hypercontractivity", 275, 286, "assumption"),
    Place("ass:diagonal", 291, 293, "assumption"),
    Place("subsec:source-capacity:316", 316, 316, "text"),
    Place("ass:capacity", 318, 323, "assumption"),
    Place(
        "subsec:source-capacity:344",
        344,
        354,
        "box",
        excuse="a remark on the choice of features: it asserts nothing about the model",
    ),
    Place("ass:source", 356, 358, "assumption"),
    Place("eqn: pop-risk", 390, 395, "formula"),
    Place("eqn: sgd", 398, 402, "formula"),
    Place("eqn: sgd2", 408, 412, "formula"),
    Place("eqn: sde", 433, 435, "formula"),
    Place("sec:proof_sketch:447", 447, 449, "formula", excuse="the definition of intrinsic time"),
    Place("eqn: sde-instrinc", 456, 458, "formula"),
    Place("ass:fsl", 472, 476, "assumption"),
    Place("thm: fsl-hard-regime", 483, 491, "theorem"),
    Place("eqn: fsl0", 487, 489, "formula"),
    Place(
        "sec:main_results:540",
        540,
        543,
        "formula",
        also=("lemma:ke-power/signal-window", "lemma:ke-power/kernel-window"),
    ),
    Place("thm: fsl-general-noise", 548, 572, "theorem"),
    Place("eqn: fsl", 558, 562, "formula"),
    Place("eqn: fsl-general", 564, 570, "formula"),
    Place("thm:fsl-const-noise", 589, 601, "theorem"),
    Place("thm:fsl-zero-noise", 606, 617, "theorem"),
    Place("thm: fsl-random", 626, 632, "theorem"),
    Place("lem: random_eigen", 634, 637, "lemma"),
    Place("lemma: noise-covariance-main", 652, 663, "lemma"),
    Place("sec: proof_sketch:669", 669, 669, "text"),
    Place("eqn: pop-risk-top-M", 679, 681, "formula"),
    Place("sec: proof_sketch:688", 688, 688, "text"),
    Place("sec: proof_sketch:696", 696, 696, "text"),
    Place("eqn: 123", 700, 703, "formula"),
    Place("eqn: volterra-equation", 711, 714, "formula", also=("thm:volterra-topm",)),
    Place("ineq: inf_sum", 731, 734, "formula"),
    Place("lem: half-scale", 738, 741, "lemma"),
    Place("cor: contraction", 768, 771, "corollary"),
    Place("sec: proof_sketch:792", 792, 792, "text"),
    Place("sec: proof_sketch:804", 804, 810, "formula", also=("thm: fsl-general-noise",)),
    Place("sec: proof_sketch:844", 844, 846, "formula"),
    Place("sec: proof_sketch:848", 848, 850, "formula", also=("lemma:ke-power/signal-window",)),
    Place("equ: forgetting-kernel-power-law", 852, 861, "formula", also=("lemma:ke-power/kernel-window",)),
    Place("sec: proof_sketch:864", 864, 871, "box", also=("lemma:ke-power/signal-window", "lemma:ke-power/infinite")),
    Place("assump: task-difficulty", 876, 878, "assumption", also=("eqn: fsl-simplified",)),
    Place("eqn: fsl-simplified", 882, 888, "formula"),
    Place("sec: effect-lrs:890", 890, 890, "text"),
    Place("thm:chinchilla", 901, 907, "theorem"),
    Place("eqn: scaling-law-const", 904, 906, "formula"),
    Place("eqn: data-optim-scaling-const-lrs", 916, 918, "formula"),
    Place(
        "sec: effect-lrs:923", 923, 925, "formula", also=("thm:chinchilla/compute", "thm:chinchilla/compute-derived")
    ),
    Place("sec: effect-lrs:929", 929, 929, "text"),
    Place("thm:geometric", 944, 950, "theorem"),
    Place("eqn: exp-decay-scaling-law", 946, 948, "formula"),
    Place("sec: effect-lrs:1000", 1000, 1000, "text"),
    Place("sec: effect-lrs:1002", 1002, 1002, "text"),
    Place("sec: effect-lrs:1005", 1005, 1005, "text"),
    Place("sec: effect-lrs:1009", 1009, 1009, "text"),
    Place("eqn: wsd-1", 1013, 1018, "formula", excuse="the definition of a schedule: its law is thm: wsd"),
    Place("thm: wsd", 1022, 1029, "theorem"),
    Place("eqn: wsd-1:1025", 1025, 1027, "formula"),
    Place("sub:empirical_fitting_of_llm_pre_training_loss_trajectory:1169", 1169, 1169, "text"),
    Place("sub:empirical_fitting_of_llm_pre_training_loss_trajectory:1178", 1178, 1178, "text"),
    Place("sub:empirical_fitting_of_llm_pre_training_loss_trajectory:1182", 1182, 1182, "text"),
    Place("sub:empirical_fitting_of_llm_pre_training_loss_trajectory:1188", 1188, 1192, "formula"),
    Place("sub:empirical_fitting_of_llm_pre_training_loss_trajectory:1195", 1195, 1195, "text"),
    Place("sec:CLRS:1207", 1207, 1207, "text"),
    Place("sec:CLRS:1211", 1211, 1211, "text"),
    Place("appendix_rkhs:1224", 1224, 1233, "definition"),
    Place("appendix_rkhs:1235", 1235, 1241, "definition", excuse="a standard definition"),
    Place("appendix_rkhs:1280", 1280, 1280, "text"),
    Place("assump:source-kernel", 1286, 1289, "assumption"),
    Place("assump:capacity-kernel", 1291, 1294, "assumption"),
    Place("appendix_rkhs:1314", 1314, 1314, "text"),
    Place("appendix_rkhs:1320", 1320, 1320, "text"),
    Place("sub:the_sde_modeling:1342", 1342, 1342, "text"),
    Place("sub:the_sde_modeling:1351", 1351, 1351, "text"),
    Place("sub:the_kernel_teacher_student_setup:1367", 1367, 1367, "text"),
    Place("sec: experiments", 1371, 1371, "text"),
    Place("sub:the_kernel_teacher_student_setup:1375", 1375, 1375, "text"),
    Place("sub:the_kernel_teacher_student_setup:1383", 1383, 1383, "text"),
    Place("appendix:experiment_details", 1429, 1429, "text"),
    Place("eq:numerical_const_term", 1455, 1461, "formula"),
    Place("eq:numerical_LRD_form", 1470, 1474, "formula"),
    Place("appendix:llm_pre-training:1476", 1476, 1476, "text"),
    Place("appendix:llm_pre-training:1486", 1486, 1486, "text"),
    Place("appendix:llm_pre-training:1498", 1498, 1498, "text"),
    Place("appendix:llm_pre-training:1505", 1505, 1505, "text"),
    Place("eqn: fsl-ansatz", 1517, 1527, "formula"),
    Place("appendix:llm_pre-training:1568", 1568, 1568, "text"),
    Place("eqn: FSL-optimization", 1582, 1586, "formula"),
    Place("fig:different-step-fit-lrs:1699", 1699, 1699, "text"),
    Place("eq:sde_raw", 1752, 1756, "formula"),
    Place("sub:Analysis of SDE:1769", 1769, 1779, "lemma"),
    Place("eq:sde_u", 1771, 1776, "formula"),
    Place("lemma: noise-covariance", 1816, 1823, "lemma", also=("lemma: noise-covariance-main",)),
    Place("pro:evolution-pro", 1862, 1875, "proposition"),
    Place("eq:risk-recursion", 1864, 1871, "formula"),
    Place("lemma:ke-power", 1950, 1962, "lemma"),
    Place("lemma:em-gap", 2026, 2036, "lemma"),
    Place("thm:volterra-topm", 2086, 2102, "theorem"),
    Place("eq:volterra-topm", 2090, 2095, "formula"),
    Place("eq:Ke-def", 2097, 2101, "formula"),
    Place("lemma:convolution-kernel", 2128, 2142, "lemma"),
    Place("prop:fsl-weak-upper-bound", 2211, 2219, "proposition"),
    Place("sub:Analysis of SDE:2214", 2214, 2218, "formula"),
    Place("sub:Analysis of SDE:2300", 2300, 2306, "formula", also=("prop:fsl-weak-upper-bound",)),
    Place("sub:Analysis of SDE:2347", 2347, 2354, "lemma"),
    Place("eq:Ke-gap", 2349, 2353, "formula"),
    Place("sub:Analysis of SDE:2399", 2399, 2406, "lemma"),
    Place("eq:Ksigma-gap", 2401, 2405, "formula"),
    Place("prop:volterra-random", 2472, 2490, "proposition"),
    Place("appendix:proof_random:2477", 2477, 2483, "formula"),
    Place(
        "lem:eig_concentration_appendix", 2530, 2538, "lemma", also=("lem: random_eigen", "lem: random_eigen/corrected")
    ),
    Place("lem:eig_ratio", 2540, 2551, "lemma"),
    Place("lem:trace_analysis_appendix", 2556, 2565, "lemma"),
    Place("lem:bias_upper_bound", 2586, 2593, "lemma"),
    Place("lem:bias_lower_bound", 2662, 2671, "lemma"),
    Place("lm:matrix_analysis", 2783, 2794, "lemma"),
    Place("lem:T_estimate", 2853, 2863, "lemma"),
    Place("appendix:proof_random:2945", 2945, 2951, "formula"),
    Place("eq: simplified_fsl_sec_5", 2981, 2984, "formula", also=("eqn: fsl-simplified",)),
    Place("thm:const_lrs_law", 2993, 3004, "theorem"),
    Place(
        "sub:Proofs for The Constant LRS:3028",
        3028,
        3035,
        "theorem",
        also=("eqn: data-optim-scaling-const-lrs", "thm:chinchilla/data-derived"),
    ),
    Place("eqn: data-optim-scaling-const-lrs-1", 3032, 3034, "formula"),
    Place(
        "sub:Proofs for The Constant LRS:3067",
        3067,
        3074,
        "theorem",
        also=("thm:chinchilla/compute", "thm:chinchilla/compute-derived"),
    ),
    Place("sub:proof_for_the_exponential_decay_lrs:3108", 3108, 3108, "text"),
    Place("lemma: N-exp-decay", 3125, 3135, "lemma"),
    Place("sub:proof_for_the_exponential_decay_lrs:3157", 3157, 3163, "lemma"),
    Place(
        "sub:proof_for_the_exponential_decay_lrs:3231",
        3231,
        3236,
        "lemma",
        also=("exp-decay/I2/printed-integral", "exp-decay/I2/integral"),
    ),
    Place("sub:proof_for_the_exponential_decay_lrs:3283", 3283, 3297, "theorem"),
    Place(
        "sub:proof_for_the_exponential_decay_lrs:3317",
        3317,
        3325,
        "theorem",
        also=("thm:geometric/data", "thm:geometric/data-unique", "thm:geometric/data-derived", "thm:geometric/steps"),
    ),
    Place(
        "sub:proof_for_the_exponential_decay_lrs:3396",
        3396,
        3424,
        "theorem",
        also=("thm:geometric/compute", "thm:geometric/compute-derived"),
    ),
    Place("lem: wsd-stable-noise", 3488, 3495, "lemma"),
    Place("thm:wsd_decay_app", 3515, 3522, "theorem", also=("thm: wsd",)),
    Place(
        "sub:proof_for_the_wsd_like_lrs:3553",
        3553,
        3565,
        "theorem",
        also=("thm: wsd/data-appendix", "thm: wsd/data-edge-as-hard", "thm: wsd/data-derived"),
    ),
    Place(
        "sub:proof_for_the_wsd_like_lrs:3647",
        3647,
        3678,
        "theorem",
        also=(
            "thm: wsd/compute",
            "thm: wsd/compute-first-case",
            "thm: wsd/compute-second-case",
            "thm: wsd/compute-edge-as-hard",
            "thm: wsd/compute-derived",
        ),
    ),
    Place("lem:4th_moment_estim", 3808, 3822, "lemma"),
    Place("lem:spd_matrix_trace", 3856, 3863, "lemma"),
)
"""Claims that bear the label of a place, or stand in its lines, need not be named there."""
