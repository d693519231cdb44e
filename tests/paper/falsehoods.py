"""The falsehoods of falsehoods.md as changed statements of claims: a row each, in the order of that table."""

import math
from functools import partial

import numpy as np
from false_statements import (
    Changed,
    as_it_is,
    both_ways,
    claimed,
    every_part,
    having,
    largest,
    law,
    least,
    mixed,
    moved,
    order,
    part,
    right,
    scaled,
    term,
    times,
)
from sympy import Max, Min

from fsl_num.claims.statements import Joint
from fsl_num.paper.empirical_laws.measurements import long_rates
from fsl_num.paper.model.hypercontractivity import trace_bound
from fsl_num.paper.model.population_risk import risk_formula
from fsl_num.paper.random_features.matrix_analysis import split_series
from fsl_num.paper.scaling_laws.training import SILENT, Training, functional_risk, risk_ray
from fsl_sym.symbols import M, T, beta, s

SMOOTH = (("3/2", "2"),)
"""An easy task with s > 1 and s = 2 - 1/beta."""
BETWEEN = (("9/10", "2"),)
"""1 - 1/beta < s < 1."""
KERNEL, SIGNAL = "lemma:ke-power/kernel", "lemma:ke-power/signal"
CONSTANT, EXPONENTIAL, WSD = "thm:chinchilla", "thm:geometric", "thm: wsd"
CONSTANT_DATA = "eqn: data-optim-scaling-const-lrs"
DECAY_DATA, DECAY_COMPUTE = "thm:geometric/data-derived", "thm:geometric/compute-derived"
WSD_DATA, WSD_COMPUTE = "thm: wsd/data-derived", "thm: wsd/compute-derived"
GENERAL = "thm: fsl-general-noise"
MOMENTUM = "sub:empirical_fitting_of_llm_pre_training_loss_trajectory/momentum"
TABLE = "tab: optimal-scaling"


def all_data(s, beta):
    return s * beta / (1 + s * beta)


def all_compute(s, beta):
    return s * beta / (2 + s * beta)


def hard_compute(s, beta):
    return s * beta / (1 + beta)


def steeper_data(s, beta):
    return max(s, all_data(s, beta))


def steeper_compute(s, beta):
    return max(hard_compute(s, beta), all_compute(s, beta))


def minus(power):
    return lambda s, beta: -power(s, beta)


def noiseless(decay, direction, sample):
    """The risk from T = 1 on, towards 0 (-1) or infinity (1), at one model size and without noise that counts."""
    powers = np.linspace(0.0, 10.0, 9)
    runs = [
        Training(1e6, decay=10.0 ** (direction * u), final_over_peak=1e-3, batch=10.0**SILENT)
        if decay
        else Training(1e6, stable=10.0 ** (direction * u), batch=10.0**SILENT)
        for u in powers
    ]
    return [risk_ray("T alone", powers, runs, sample, functional_risk)]


def nothing_else_learned(statement, point, sample):
    """An entry of what W does not reach, whatever the time."""
    number, _, row, column = point
    return float(split_series(sample, number, np.inf)[row, column])


def with_first_rise(statement, point, sample):
    """The Momentum Law with the rise from 0 to the first rate among the drops."""
    name, k, decay = point
    return statement.claimed(point) + long_rates(name)[0] * (1 - decay**k) / (1 - decay)


def slower_second_term(statement, point, sample):
    """The closed form of the noise of exponential decay with 4.2 T for 4 T."""
    modes = np.arange(1.0, point["M"] + 1.0) ** -sample.point[1]
    fade = -np.expm1(-2 * modes * float(point["T"])).sum() / (4 * float(point["T"]))
    return float(statement.claimed(point)) - (point["a"] - point["b"]) * fade * (1 - 1 / 1.05)


def more_label_noise(moment, rho):
    return (rho * moment.size + 1.05 * moment.noise) * moment.base


def half_norm(statement, sample, formula):
    return type(statement)(risk_formula(sample, half=0.525), statement.tolerance)


def printed_sum(maximum):
    """M^-(s beta) + T^-s replaced by their least."""
    return maximum - T**-s - M ** (-s * beta) + Min(T**-s, M ** (-s * beta))


def without_label_noise(logs, s, beta):
    return np.logaddexp.reduce([logs["delta"], logs["e_inf"], logs["batch_inf"]])


def largest_term(logs, s, beta):
    return largest(logs["delta"], np.logaddexp.reduce([logs["e_inf"], logs["label_inf"], logs["batch_inf"]]))


def logarithm_in_signal(statement, sample, formula):
    """The law of constant rates with log(1 + T) in its signal."""
    s, beta = sample.point

    def value(exponents, logs):
        terms = (-s * beta * logs["M"], -s * logs["T"] + np.log(np.logaddexp(0, logs["T"])))
        return np.logaddexp.reduce([*terms, logs["a"] + logs["sigma^2"] - logs["B"]])

    return type(statement)(value, {}, constants=statement.constants)


def upper_end_as_lower(name):
    """A range of hyperparameters that is one point: its lower end."""
    return lambda statement, sample, formula: Joint({f"{name} upper": statement.parts[f"{name} lower"]})


EXPONENTS = (
    Changed("E1", f"{SIGNAL}-window", moved(t=-0.02)),
    Changed("E2", f"{KERNEL}-window", moved(t=0.02)),
    Changed("E3", GENERAL, part("window", moved(M=0.02))),
    Changed("E4", "lemma:em-gap", part("gap", moved(M=-0.02))),
    Changed("E5", "eq:Ke-gap", times(lambda logs, s, beta: -0.02 * logs["M"])),
    Changed("E6", "eq:Ksigma-gap", moved(M=-0.02)),
    Changed("E7", CONSTANT, term(-0.02, "T in T^(-s)")),
    Changed("E8", CONSTANT, lambda *arguments: term(-0.02, "B in")(term(0.02, "a in")(*arguments), *arguments[1:])),
    Changed("E9", EXPONENTIAL, term(0.02, "T in the minimum")),
    Changed("E10", WSD, term(-0.02, "T_2 in the minimum")),
    Changed("E11", CONSTANT_DATA, part("excess_risk", moved(power=-0.02))),
    Changed("E12", DECAY_COMPUTE, part("peak_lr lower", moved(power=-0.02)), regime="easy"),
    Changed("E13", WSD_COMPUTE, part("excess_risk", moved(power=-0.02)), regime="hard"),
    Changed("E14", "lem: random_eigen/corrected", part("mean over j", times(lambda logs, s, beta: -0.02 * logs["M"]))),
    Changed("E15", "lem:bias_upper_bound/corrected", term(-0.02, "floor")),
    Changed("E16", TABLE, part("wsd/data", moved(log_power=0.02)), regime="easy"),
    Changed("E17", "approximation-error", moved(M=-0.02)),
    Changed("E18", "exp-decay/I2", moved(T=-0.02)),
)
LOGARITHMS = (
    Changed("L1", CONSTANT_DATA, part("excess_risk", order(log_power=lambda s, beta: s / (s + 1)))),
    Changed("L2", TABLE, part("exp-decay/data", order(log_power=0)), regime="easy"),
    Changed("L3", TABLE, part("exp-decay/data", order(log_power=0)), regime="hard"),
    Changed("L4", TABLE, part("wsd/data", order(log_power=lambda s, beta: s)), regime="hard"),
    Changed("L5", TABLE, part("wsd/data", order(log_power=0)), regime="easy"),
    Changed("L6", DECAY_COMPUTE, part("data_size lower", order(log_power=0)), regime="easy"),
    Changed("L7", DECAY_COMPUTE, part("model_size lower", order(log_power=0)), regime="hard"),
    Changed("L8", WSD_COMPUTE, part("excess_risk", order(log_power=hard_compute)), regime="hard"),
    Changed("L9", "exp-decay/I1", part("I1", times(lambda logs, s, beta: np.log1p(np.maximum(logs["t"], 0))))),
    Changed("L10", "exp-decay/I2", times(lambda logs, s, beta: np.log1p(np.maximum(logs["T"], 0)))),
    Changed("L11", f"{KERNEL}-window", times(lambda logs, s, beta: np.log(np.logaddexp(0, logs["t"])))),
    Changed("L12", "lemma:convolution-kernel", times(lambda logs, s, beta: -np.log(np.logaddexp(1, logs["t"])))),
    Changed(
        "L13", "exp-decay/intrinsic-time",
        part("total intrinsic time", claimed(lambda law, at, sample: (at["a"] - at["b"]) * at["K"])),
    ),
    Changed("L14", CONSTANT, logarithm_in_signal),
    Changed("L15", WSD_COMPUTE, part("excess_risk", order(log_power=all_compute)), regime="easy"),
    Changed("L16", WSD_DATA, part("peak_lr lower", order(log_power=0)), regime="easy"),
)  # fmt: skip

EXTREMES = (
    Changed("M1", EXPONENTIAL, right(lambda side: side.replace(Min, Max))),
    Changed("M2", WSD, right(lambda side: side.replace(Min, Max))),
    Changed("M3", "exp-decay/I2", right(lambda side: side.replace(Min, Max))),
    Changed(
        "M4", "lem: wsd-stable-noise",
        part("M/T_2", law(lambda logs, s, beta: largest(logs["M"], logs["t"] / beta) - logs["t"])), true=True,
    ),
    Changed("M5", "eq:Ke-gap", law(lambda logs, s, beta: min(-s * beta, 1 - 2 * beta) * logs["M"])),
    Changed(
        "M6", "lem:bias_upper_bound/corrected", law(lambda logs, s, beta: least(-s * beta * logs["M"], logs["signal"])),
        rays="M)^beta",
    ),
    Changed("M7", CONSTANT, right(printed_sum)),
    Changed("M8", GENERAL, part("window", law(largest_term)), true=True),
    Changed("M9", DECAY_DATA, part("excess_risk", order(minus(steeper_data), steeper_data))),
    Changed("M10", DECAY_COMPUTE, part("excess_risk", order(minus(steeper_compute), steeper_compute))),
    Changed("M11", WSD_DATA, part("excess_risk", order(minus(steeper_data)))),
    Changed("M12", DECAY_DATA, part("peak_lr lower", order(0, 0)), regime="easy"),
    Changed("M13", "lemma:ke-power/infinite", part("signal", law(lambda logs, s, beta: 0 * next(iter(logs.values()))))),
    Changed(
        "M14", "lemma:em-gap",
        part("consequence", law(lambda logs, s, beta: least(-s * beta * logs["M"], logs["e_infinity"]))),
    ),
    Changed(
        "M15", "lem:bias_lower_bound", law(lambda logs, s, beta: least(-s * beta * logs["M"], logs["signal"])),
        rays="M)^beta", true=True,
    ),
)  # fmt: skip
RANGES = (
    Changed("R1", f"{SIGNAL}-bound", both_ways, rays="M = 100"),
    Changed("R2", f"{KERNEL}-bound", both_ways, rays="M = 100"),
    Changed("R3", f"{SIGNAL}-bound", both_ways, rays="log t to -"),
    Changed("R4", "thm:fsl-zero-noise/any-difficulty", as_it_is, true=True),
    Changed("R5", "thm: fsl-hard-regime/fixed-noise", as_it_is, at=SMOOTH),
    Changed("R6", "thm: fsl-hard-regime/fixed-noise", as_it_is, at=BETWEEN),
    Changed("R7", GENERAL, part("from above", both_ways)),
    Changed("R8", "lem: half-scale/beyond", law(lambda logs, s, beta: 0 * logs["t"])),
    Changed("R9", "lemma:convolution-kernel/beyond", law(lambda logs, s, beta: 0 * logs["t"])),
    Changed("R10", CONSTANT, as_it_is, measure=partial(noiseless, False, -1)),
    Changed("R11", EXPONENTIAL, as_it_is, measure=partial(noiseless, True, -1)),
    Changed(
        "R12", "exp-decay/I2-early", law(lambda logs, s, beta: np.minimum(logs["M"], logs["T"] / beta) - logs["T"])
    ),
    Changed("R13", "lem:bias_lower_bound", having(direction="upper"), at=SMOOTH),
    Changed("R14", WSD_DATA, part("excess_risk", order(lambda s, beta: -s, 0)), at=BETWEEN),
    Changed("R15", DECAY_DATA, part("peak_lr lower", order(0, 0)), at=BETWEEN),
    Changed("R16", "lem:4th_moment_estim/indefinite", having(bound=trace_bound, attained=False)),
    Changed("R17", "eq:Ksigma-gap", as_it_is, at=SMOOTH, true=True),
    Changed("R18", "approximation-error/one-more", moved(M=1)),
    Changed("R19", MOMENTUM, claimed(with_first_rise)),
)
QUANTIFIERS = (
    Changed("Q2", "cor: contraction/sharp", scaled(0.5)),
    Changed("Q3", GENERAL, part("window", law(without_label_noise))),
    Changed("Q4", GENERAL, part("from above", both_ways)),
    Changed(
        "Q5", "assumption: hypercontractivity/independent-features",
        part("rademacher", having(lower=0.01, attained=False)),
    ),
    Changed("Q7", "ass:fsl/threshold", part("label noise", law(lambda logs, s, beta: 0 * next(iter(logs.values()))))),
    Changed("Q8", "thm:fsl-const-noise/any-noise", as_it_is, true=True),
    Changed("Q9", "exp-decay/I1", part("rest", law(lambda logs, s, beta: (1 - beta) * logs["M"]))),
    Changed("Q10", TABLE, lambda joint, sample, formula: Joint({"constant/data": joint.parts["exp-decay/data"]})),
    Changed("Q11", WSD_DATA, part("decay_fraction lower", order(-0.5, 0)), regime="easy"),
    Changed("Q12", CONSTANT_DATA, part("model_size lower", order(0, 0))),
)  # fmt: skip
CONSTANTS = (
    Changed("C1", "lem:4th_moment_estim", part("bounds", having(upper=1.9))),
    Changed("C2", "lem:4th_moment_estim", part("bounds", having(lower=1.05))),
    Changed("C3", "lem:4th_moment_estim", part("identity", mixed(0.95, "HAH twice", 0.05))),
    Changed("C5", "lemma: noise-covariance", part("gaussian", having(upper=1.9))),
    Changed("C6", "lemma: noise-covariance", part("gaussian", having(lower=1.05))),
    Changed("C7", "lemma: noise-covariance", part("gaussian", having(bound=more_label_noise, attained=False))),
    Changed("C8", "lemma: N-exp-decay", mixed(1.025, "minus (a - b) I2", 0.025)),
    Changed("C9", "lemma: N-exp-decay", claimed(slower_second_term)),
    Changed("C10", "exp-decay/I1-sharp", mixed(0.95, "tr(H) for its half", 0.05)),
    Changed("C11", "eqn: pop-risk", half_norm),
    Changed("C12", "exp-decay/intrinsic-time", part("total intrinsic time", scaled(1.05))),
    Changed("C13", "lem: wsd-stable-noise/identity", scaled(1.05)),
    Changed("C14", "pro:evolution-pro/corrected", having(high=3.8, attained=False)),
    Changed("C15", "exp-decay/intrinsic-time", part("learning rate", mixed(1.05, "peak", -0.05))),
    Changed("C16", "lm:matrix_analysis", part("constant", having(lower=1.05, upper=math.inf))),
    Changed("C18", "lem:trace_analysis_appendix", scaled(1.05)),
    Changed("C19", "sec:CLRS/8-1-1", claimed(lambda sharp, at, _: sharp.claimed(at) ** (1 + math.log(1.05, 10**0.5)))),
    Changed("C20", "sub:the_kernel_teacher_student_setup/physical-time", scaled(1.05)),
)
DIRECTIONS = (
    Changed("S1", f"{KERNEL}-bound", both_ways),
    Changed("S2", "lemma:em-gap", part("gap", both_ways)),
    Changed("S3", "lemma:convolution-kernel", both_ways),
    Changed("S4", "eq:Ke-gap", both_ways),
    Changed("S5", "eq:Ksigma-gap", both_ways),
    Changed("S6", "lem: wsd-stable-noise", every_part(both_ways)),
    Changed("S7", "lem:bias_lower_bound", both_ways, at=(("2/3", "6"),), true=True),
    Changed("S8", "lem:bias_lower_bound", both_ways, at=SMOOTH),
    Changed("S9", GENERAL, part("from above", both_ways)),
    Changed("S10", "thm: fsl-general-noise/all-times", as_it_is, true=True),
    Changed("S11", "prop:fsl-weak-upper-bound", both_ways),
    Changed("S12", CONSTANT_DATA, upper_end_as_lower("model_size")),
    Changed("S13", WSD_DATA, upper_end_as_lower("decay_fraction"), regime="hard"),
    Changed("S14", "lem:spd_matrix_trace", scaled(1e-9)),
    Changed("S15", "lm:matrix_analysis", part("identity", claimed(nothing_else_learned))),
    Changed("S16", "lemma: noise-covariance", part("gaussian", having(lower=2.0))),
    Changed("S17", "lem:eig_ratio/corrected", part("k = M", both_ways), true=True),
    Changed("S18", "lem:T_estimate/corrected", part("second", having(lower=1.0))),
)  # fmt: skip

OWN_MEASUREMENTS = (
    Changed("R10 from T = 1 on", CONSTANT, as_it_is, measure=partial(noiseless, False, 1), true=True),
    Changed("R11 from T = 1 on", EXPONENTIAL, as_it_is, measure=partial(noiseless, True, 1), true=True),
)  # fmt: skip
"""What the paper does say, judged by the measurements of this file in the place of those of the claims."""

NOT_EXPRESSED = {
    "Q1": "draws are measured, not every projection",
    "Q6": "a statement speaks at one beta; nothing asks for constants that serve all",
    "Q13": "draws are measured, not every projection",
    "C4": "a step of a proof that no claim states",
    "C17": "the claim is an identity for the difference, which contains it; its cases have P and Q far apart",
}
"""Falsehoods that no claim can put to its measurement: why."""

FALSEHOODS = (*EXPONENTS, *LOGARITHMS, *EXTREMES, *RANGES, *QUANTIFIERS, *CONSTANTS, *DIRECTIONS)
