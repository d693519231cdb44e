"""The steps from the functional scaling law to the ansatz for loss curves, each tested by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Joint, Sharp
from fsl_num.paper.empirical_laws import formulas as said
from fsl_num.paper.empirical_laws import loops
from fsl_num.paper.empirical_laws import measurements as measured
from fsl_num.paper.empirical_laws.measurements import NOISES, PEAK, SCALE, SMOOTH
from fsl_sym import ansatz
from fsl_sym.proof import Formula, at_least, at_most
from fsl_sym.symbols import T, beta, s

Array = NDArray[np.float64]
Measured = list[tuple[Any, float]]

LABEL = "appendix:llm_pre-training"
POWERS = "K(t) = (1 + c t)^-(2 - 1/beta), e(t) = (1 + t)^-s"
NAMED = "constant, cosine, linear, exponential and WSD schedules"
STEPPED = "cosine, WSD, 8-1-1 and cyclic schedules"
QUADRATURE = 1e-8
"""Quadratures are asked for 1e-11; differences of them lose at most two digits and a derivative by differences one."""
STEPS = 400.0
DROPS = "t_i = 1 + T(i), t_k = 1 + T(k)"


@dataclass(frozen=True)
class SameOrder:
    """measured / claimed lies between 1/factor and factor at every point; a claimed value below 0 fails."""

    claimed: Callable[[Any], float]
    factor: float

    def judge(self, measured: Sequence[tuple[Any, float]]) -> Judgement:
        """The point that is furthest off."""
        worst, note, ratios = 0.0, "", []
        for point, value in measured:
            ratio = float(value / self.claimed(point))
            ratios.append(ratio)
            off = abs(math.log(ratio)) / math.log(self.factor) if ratio > 0.0 else math.inf
            if not off < worst:
                worst, note = off, f"measured {value:.3g}, claimed {value / ratio:.3g} at {point}"
        return Judgement(worst <= 1.0, min(worst, 1e300), (min(ratios), max(ratios)), None, note)

    def mutants(self) -> Mapping[str, SameOrder]:
        """None of its own."""
        return {}

    def neighbours(self, kind: str, size: float) -> Sequence[SameOrder]:
        """None: there are no exponents here."""
        return ()


def _schedules() -> list[tuple[str, float]]:
    return [(name, noise) for name in SMOOTH for noise in NOISES]


def _decaying() -> list[tuple[str, float]]:
    return [point for point in _schedules() if point[0] != "constant"]


@lru_cache(maxsize=256)
def _value(quantity: str, name: str, noise: float, s: float, beta: float) -> float:
    each, gain = measured.plan(name, STEPS), measured.source(s, noise)
    whole = each.total_intrinsic_time
    at_end = noise + (1.0 + whole) ** -s
    held = measured.integral(lambda t: measured.kernel(beta)(whole - t) * gain(t), 0.0, whole)
    table: dict[str, Callable[[], float]] = {
        "noise over intrinsic time": lambda: measured.over_intrinsic_time(each, beta, gain),
        "noise over steps": lambda: measured.over_steps(each, beta, gain),
        "rate once": lambda: measured.over_steps(each, beta, gain, power=1),
        "rate cubed": lambda: measured.over_steps(each, beta, gain, power=3),
        "reduction as defined": lambda: measured.reduction_as_defined(each, beta, gain),
        "reduction by parts": lambda: measured.reduction_by_parts(each, beta, gain),
        "inner integral from 0": lambda: measured.reduction_by_parts(each, beta, gain, from_zero=True),
        "slope times rate": lambda: measured.reduction_by_parts(each, beta, gain, slope_power=2),
        "held at the first rate": lambda: each.peak * held / each.batch_size,
        "first rate over steps": lambda: each.peak * measured.over_steps(each, beta, gain, power=1),
        "signal at the end over steps": lambda: (
            each.peak * at_end * measured.over_steps(each, beta, lambda t: np.ones_like(t), power=1)
        ),
        "signal": lambda: whole**-s,
    }
    return table[quantity]()


def _points(quantity: str, points: list[tuple[str, float]], sample: Sample) -> Measured:
    return [(point, _value(quantity, *point, *sample.point)) for point in points]


def _exactly(terms: Mapping[str, float], wrong: Mapping[str, Mapping[str, float]], sample: Sample) -> Sharp:
    """A sum of quantities with factors, and its wrong versions."""

    def total(factors: Mapping[str, float]) -> Callable[[Any], float]:
        return lambda point: math.fsum(factor * _value(name, *point, *sample.point) for name, factor in factors.items())

    return Sharp(total(terms), lambda point: QUADRATURE, {name: total(each) for name, each in wrong.items()})


# ---- physical time, parts ------------------------------------------------------------------------------------------


def _physical_time(sample: Sample) -> Sharp:
    wrong = {"the rate once": {"rate once": 1.0}, "the rate cubed": {"rate cubed": 1.0}}
    return _exactly({"noise over steps": 1.0}, wrong | {"the batch twice": {"noise over steps": 0.25}}, sample)


def _const_term(sample: Sample) -> Sharp:
    wrong = {"the signal at the end": {"signal at the end over steps": 1.0}, "half": {"first rate over steps": 0.5}}
    return _exactly({"held at the first rate": 1.0}, wrong, sample)


def _parts(sample: Sample) -> Sharp:
    wrong = {
        "the other sign": {"reduction by parts": -1.0},
        "the inner integral from 0": {"inner integral from 0": 1.0},
        "the slope times the rate": {"slope times rate": 1.0},
    }
    return _exactly({"reduction by parts": 1.0}, wrong, sample)


def _loss(sample: Sample) -> Measured:
    return [
        (point, _value("signal", *point, *sample.point) + _value("noise over intrinsic time", *point, *sample.point))
        for point in _schedules()
    ]


def _loss_as_printed(sample: Sample) -> SameOrder:
    def claimed(point: Any) -> float:
        return _value("signal", *point, *sample.point) - _value("reduction by parts", *point, *sample.point)

    return SameOrder(claimed, 1e6)


def _loss_corrected(sample: Sample) -> Sharp:
    right = {"signal": 1.0, "held at the first rate": 1.0, "reduction by parts": -1.0}
    wrong = {
        "without the noise of the first rate": {name: right[name] for name in ("signal", "reduction by parts")},
        "the reduction added": right | {"reduction by parts": 1.0},
        "the reduction halved": right | {"reduction by parts": -0.5},
        "without the signal": right | {"signal": 0.0},
    }
    return _exactly(right, wrong, sample)


# ---- steps ---------------------------------------------------------------------------------------------------------


def _summed(shift: int, sample: Sample) -> Callable[[Any], float]:
    s, beta = sample.point

    def value(point: Any) -> float:
        name, k, noise = point
        rates = measured.step_plan(name, 60)[:k]
        gone = loops.forgotten(rates, loops.power_kernel(beta, SCALE), lambda t: noise + (1.0 + t) ** -s)
        return loops.reduction(rates, PEAK, gone, shift)

    return value


def _abel(sample: Sample) -> Sharp:
    right = _summed(1, sample)
    wrong = {"T(i) for T(i-1), as printed": _summed(0, sample), "the other sign": lambda point: -right(point)}
    return Sharp(right, lambda point: QUADRATURE, wrong)


# ---- the kernel's integral and the mean value ----------------------------------------------------------------------


def _kernel_points(sample: Sample) -> Measured:
    decay = measured.kernel(sample.point[1])
    normal = SCALE * (1.0 - 1.0 / sample.point[1])
    pairs = [(start, start + length) for start in (0.0, 3.0, 50.0) for length in (0.1, 7.0, 400.0)]
    return [(pair, normal * measured.integral(lambda t, e=pair[1]: decay(e - t), *pair)) for pair in pairs]  # type: ignore[misc]


def _share(sample: Sample, change: float = 0.0) -> Callable[[Any], float]:
    power = 1.0 - 1.0 / sample.point[1] + change
    return lambda pair: -math.expm1(-power * math.log1p(SCALE * (pair[1] - pair[0])))


def _kernel_as_printed(sample: Sample) -> Callable[[Any], float]:
    """The printed middle: the integral of (1 + c t)^-(2 - 1/beta) over [T(i), T(k)]."""
    power = 1.0 - 1.0 / sample.point[1]
    return lambda pair: (1.0 + SCALE * pair[0]) ** -power - (1.0 + SCALE * pair[1]) ** -power


def _kernel_printed(sample: Sample) -> Sharp:
    return Sharp(_kernel_as_printed(sample), lambda pair: QUADRATURE)


def _kernel_corrected(sample: Sample) -> Sharp:
    wrong = {"as printed": _kernel_as_printed(sample), "the power of K": _share(sample, 1.0)}

    def moved(kind: str, size: float) -> list[Callable[[Any], float]]:
        return [_share(sample, size), _share(sample, -size)] if kind == "power" else []

    return Sharp(_share(sample), lambda pair: QUADRATURE, wrong, moved)


def _model_kernel(sample: Sample) -> Joint:
    parts = zip(("forgotten at once", "left for long"), said.MODEL_KERNEL.parts, strict=True)
    return Joint({name: order_statement(part, sample) for name, part in parts if isinstance(part, Formula)})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sub:the_kernel_teacher_student_setup/physical-time", "sub:the_kernel_teacher_student_setup", 1367,
        "the functional scaling law in physical time",
        "int K(T - t) g(t) gamma(t) dt over intrinsic time is int K(T(tau) - T(u)) g(T(u)) h phi(u)^2/b(u) du over "
        "physical time: the learning rate comes squared. Tested with h = 1 and b = 4, derived for every h and b.",
        said.PHYSICAL_TIME[0], (POWERS, NAMED, *said.PHYSICAL_TIME[1]),
        partial(_points, "noise over intrinsic time", _schedules()), _physical_time,
        derive=ansatz.physical_time, family="ansatz-quadrature",
    ),
    Claim(
        "eq:numerical_const_term", "eq:numerical_const_term", 1457, "the noise of the first rate, as printed",
        "int K(T(k) - T(u)) (sigma^2 + e(T(k))) phi(u) phi(0) du = phi(0) int K(T(k) - t) (sigma^2 + e(t)) dt.",
        said.FIRST_RATE_PRINTED, (POWERS, NAMED),
        partial(_points, "signal at the end over steps", _schedules()), _const_term,
        corrected_by="eq:numerical_const_term/corrected", family="ansatz-quadrature",
    ),
    Claim(
        "eq:numerical_const_term/corrected", "eq:numerical_const_term", 1457, "the noise of the first rate",
        "The same with e(T(u)) on the left: the noise of a constant schedule of rate phi(0) and intrinsic time T(k).",
        said.FIRST_RATE[0], (POWERS, NAMED, *said.FIRST_RATE[1]),
        partial(_points, "first rate over steps", _schedules()), _const_term,
        derive=ansatz.first_rate, role="corrected", family="ansatz-quadrature",
    ),
    Claim(
        "eq:numerical_const_term/order", "eq:numerical_const_term", 1467, "the order of the noise of the first rate",
        "int_0^T K(T - t) (sigma^2 + e(t)) dt is of the order of sigma^2 + e(T), with constants that serve every "
        "sigma, none included; tested where the ansatz is derived, s <= 1 - 1/beta.",
        said.FIRST_RATE_ORDER,
        (POWERS, at_most(s, 1 - 1 / beta), at_least(T, 1), "sigma^2 from 0 to 1e3", "T from 1e2 to 1e40"),
        measured.constant_noise_rays, regimes=("edge", "hard"),
        family="constant-noise",
    ),
    Claim(
        "eq:numerical_const_term/every-difficulty", "eq:numerical_const_term", 1467,
        "the order of the noise of the first rate for every s",
        "For every s > 0 it is of the order of sigma^2 + T^-min(s, 2 - 1/beta): e(T) is right up to s = 2 - 1/beta and "
        "not beyond, where what was injected at the start decides.",
        said.FIRST_RATE_EVERY_S, (POWERS, at_least(T, 1), "sigma^2 from 0 to 1e3", "T from 1e2 to 1e40"),
        measured.constant_noise_rays, role="stronger", strengthens="eq:numerical_const_term/order",
        family="constant-noise",
    ),
    Claim(
        "eq:numerical_LRD_form", "eq:numerical_LRD_form", 1471, "the loss as signal less the reduction by decay",
        "The excess risk is of the order of T(k)^-s + M^-(s beta) - LRD(k); tested for M infinite, with any constants "
        "between 1e-6 and 1e6. The noise of the first rate is dropped as bounded, and what is left is negative.",
        said.LOSS_PRINTED,
        (POWERS, NAMED, "LRD is the reduction by decay of the schedule", "M infinite", "T(k) from 12 to 120"),
        _loss, _loss_as_printed,
        corrected_by="eq:numerical_LRD_form/corrected", family="ansatz-quadrature",
    ),
    Claim(
        "eq:numerical_LRD_form/corrected", "eq:numerical_LRD_form", 1471,
        "the loss as signal and noise of the first rate, less the reduction by decay",
        "The functional is T(k)^-s + M^-(s beta) + (phi(0)/B) int K(T(k) - t) (sigma^2 + e(t)) dt - LRD(k), exactly: "
        "the noise of the first rate stays, and is the larger part of the constant that a fit calls irreducible.",
        said.LOSS[0], (POWERS, NAMED, "M infinite in the numbers", *said.LOSS[1]),
        _loss, _loss_corrected,
        derive=ansatz.loss_by_parts, role="corrected", family="ansatz-quadrature",
    ),
    Claim(
        f"{LABEL}/parts", LABEL, 1476, "the reduction by decay, integrated by parts",
        "The three lines of LRD(k) are equal where phi is absolutely continuous.",
        said.REDUCTION[0], (POWERS, NAMED, *said.REDUCTION[1]),
        partial(_points, "reduction as defined", _decaying()), _parts,
        derive=ansatz.reduction_by_parts, family="ansatz-quadrature",
    ),
    Claim(
        f"{LABEL}/discretisation", LABEL, 1486, "the reduction by decay as a sum over the steps",
        "The sum of (eta_{i-1} - eta_i) int_{T(i)}^{T(k)} K g dt misses the reduction of the same steps by a share "
        "that falls like 1/K at a fixed intrinsic time, neither faster nor slower, for WSD with a linear decay.",
        said.DISCRETISED[0],
        (POWERS, *said.DISCRETISED[1], "WSD, linear decay of the last fifth to a tenth", "T(k) = 200",
         "K from 512 to 65,536"),
        measured.discretised_rays, family="discretisation",
    ),
    Claim(
        f"{LABEL}/discretisation-exact", LABEL, 1486, "the reduction by decay of steps, exactly",
        "With T(i-1) in place of T(i) the sum is exact for every schedule given step by step, rising or falling, with "
        "jumps: the drop of step i acts from its beginning on.",
        said.STEPS[0], (POWERS, STEPPED, *said.STEPS[1]),
        lambda sample: measured.step_measurements(sample, True), _abel,
        derive=ansatz.abel_summation, role="stronger", strengthens=f"{LABEL}/discretisation",
        family="steps",
    ),
    Claim(
        f"{LABEL}/kernel-integral", LABEL, 1498, "the integral of the kernel, as printed",
        "c (1 - 1/beta) int_{T(i)}^{T(k)} K(T(k) - t) dt is the same with (1 + c t)^-(2 - 1/beta) under the integral.",
        said.KERNEL_PRINTED, (POWERS, "T is T(k), x is T(k) - T(i)"),
        _kernel_points, _kernel_printed, corrected_by=f"{LABEL}/kernel-integral/corrected",
        family="kernel-integral",
    ),
    Claim(
        f"{LABEL}/kernel-integral/corrected", LABEL, 1498, "the integral of the kernel",
        "With T(k) - t in the place of t it is 1 - (1 + c (T(k) - T(i)))^-(1 - 1/beta), exactly.",
        said.KERNEL_INTEGRAL, (POWERS, "T is T(k), x is T(k) - T(i)"),
        _kernel_points, _kernel_corrected, derive=ansatz.kernel_integral, role="corrected",
        family="kernel-integral",
    ),
    Claim(
        f"{LABEL}/kernel-of-the-model", LABEL, 1498, "the model's kernel forgets like the power",
        "The share of the model's own kernel that is gone after x grows like x at once, and what is left falls like "
        "x^-(1 - 1/beta): the power kernel is right in both, up to constants.",
        said.MODEL_KERNEL, ("lambda_j = j^-beta", "M infinite", "x <= 1 in the first part, x >= 1 in the second"),
        measured.model_kernel_rays, _model_kernel, role="own",
        family="kernel-integral",
    ),
    Claim(
        f"{LABEL}/signal-at-the-drop", LABEL, 1505, "the signal of the mean value taken at the drop",
        "e(xi_i), the mean of e over [T(i), T(k)] under the kernel, is of the order of e(T(i)). The kernel weighs the "
        "latest times most, so that xi_i moves away from T(i) as training goes on.",
        said.AT_THE_DROP, (POWERS, at_most(s, 1 - 1 / beta), DROPS, "T(k) up to 1e40"),
        measured.frozen_rays,
        regimes=("edge", "hard"), corrected_by=f"{LABEL}/signal-at-the-end", role="argument", family="mean-value",
    ),
    Claim(
        f"{LABEL}/signal-at-the-end", LABEL, 1505, "the signal of the mean value taken at the end",
        "It is of the order of e(T(k)), at least e(T(k)), with constants that serve every T(i) <= T(k).",
        said.AT_THE_END, (POWERS, at_most(s, 1 - 1 / beta), DROPS, "T(k) up to 1e40"),
        measured.frozen_rays,
        mutants=lambda sample: {"the signal at the drop": order_statement(said.AT_THE_DROP, sample)},
        regimes=("edge", "hard"), role="corrected", family="mean-value",
    ),
)  # fmt: skip
