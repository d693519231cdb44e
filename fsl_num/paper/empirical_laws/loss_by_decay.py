"""eq:numerical_LRD_form: the loss in physical time, and as signal and first rate less the reduction by decay."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sympy import Derivative, Function, Integral, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Sharp, WithoutExponents
from fsl_num.claims.words import Where
from fsl_num.paper.empirical_laws import measurements
from fsl_num.paper.empirical_laws.formulas import CLOCK, GAIN, SMOOTH, Stated, injected, noise_from, r
from fsl_num.paper.hypotheses import INFINITE, of_infinite_size
from fsl_num.paper.model.formulas import continuous
from fsl_sym import ansatz
from fsl_sym.ansatz import batch, clock, end, kernel, past, phi, source, u, v, whole
from fsl_sym.proof import equals, everywhere, same_order
from fsl_sym.symbols import B, E, M, beta, s

REDUCTION = Symbol("LRD")
_LEARNED = whole**-s + M ** (-s * beta)
LOSS_PRINTED: Final = same_order(E, _LEARNED - REDUCTION)
LOSS: Final[Stated] = (
    equals(
        _LEARNED + Integral(injected(u) * phi(u) ** 2, (u, 0, end)) / B,
        _LEARNED + (phi(0) * noise_from(0) + Integral(Derivative(phi(r), r) * noise_from(clock(r)), (r, 0, end))) / B,
    ),
    SMOOTH,
)


@dataclass(frozen=True)
class SameOrder(WithoutExponents):
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


def _loss(sample: Sample) -> measurements.Measured:
    return [
        (
            point,
            measurements.named_value("signal", *point, *sample.point)
            + measurements.named_value("noise over intrinsic time", *point, *sample.point),
        )
        for point in measurements.schedules_and_noises()
    ]


def _loss_as_printed(sample: Sample) -> SameOrder:
    def claimed(point: Any) -> float:
        return measurements.named_value("signal", *point, *sample.point) - measurements.named_value(
            "reduction by parts", *point, *sample.point
        )

    return SameOrder(claimed, 1e6)


def _printed_letters(sample: Sample) -> list[dict[Any, Any]]:
    """The reduction and the intrinsic time of one schedule, and the right side as it is judged."""
    point = ("cosine", 9.0)
    reduction = measurements.named_value("reduction by parts", *point, *sample.point)
    return [{M: math.inf, REDUCTION: reduction, LOSS_PRINTED.right: _loss_as_printed(sample).claimed(point),
             whole: measurements.plan("cosine", measurements.STEPS).total_intrinsic_time}]  # fmt: skip


def _by_decay(sample: Sample) -> dict[str, Any]:
    """The reduction as it is judged, integrated by parts, and as it is defined."""
    defined = measurements.named_value("reduction as defined", "cosine", 9.0, *sample.point)
    return {"LRD": _printed_letters(sample)[0][REDUCTION], "the reduction by decay of the schedule": defined}


def _loss_corrected(sample: Sample) -> Sharp:
    right = {"signal": 1.0, "held at the first rate": 1.0, "reduction by parts": -1.0}
    wrong = {
        "without the noise of the first rate": {name: right[name] for name in ("signal", "reduction by parts")},
        "the reduction added": right | {"reduction by parts": 1.0},
        "the reduction halved": right | {"reduction by parts": -0.5},
        "without the signal": right | {"signal": 0.0},
    }
    return measurements.exactly(right, wrong, sample)


def _physical() -> Stated:
    """Over intrinsic time, and over the steps with the learning rate squared."""
    step, effective = Symbol("h", positive=True), Function("gamma", real=True)
    stated = equals(
        Integral(kernel(whole - past) * source(past) * effective(past), (past, 0, whole)),
        Integral(injected(u) * step * phi(u) ** 2 / batch(u), (u, 0, end)),
    )
    strength = everywhere(equals(effective(clock(v)), step * phi(v) / batch(v)), v)
    return stated, (*CLOCK, strength, *continuous("gamma", positive=("b",)), GAIN)


PHYSICAL_TIME: Final = _physical()


def _physical_time(sample: Sample) -> Sharp:
    wrong = {"the rate once": {"rate once": 1.0}, "the rate cubed": {"rate cubed": 1.0}}
    return measurements.exactly(
        {"noise over steps": 1.0}, wrong | {"the batch twice": {"noise over steps": 0.25}}, sample
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sub:the_kernel_teacher_student_setup/physical-time", "sub:the_kernel_teacher_student_setup", 1367,
        "the functional scaling law in physical time",
        PHYSICAL_TIME[0], (measurements.POWERS, measurements.ALL_SMOOTH, *PHYSICAL_TIME[1]),
        lambda sample: measurements.measured_at("noise over intrinsic time", sample), _physical_time,
        derive=ansatz.physical_time, family="ansatz-quadrature",
        quoted=r"(e(T(u))+\sigma^2)\frac{h\varphi(u)^2}{b(u)}\dd u",
        remark="The learning rate comes squared.",
    ),
    Claim(
        "eq:numerical_LRD_form", "eq:numerical_LRD_form", 1471, "the loss as signal less the reduction by decay",
        LOSS_PRINTED,
        (measurements.POWERS, measurements.ALL_SMOOTH,
         Where("LRD is the reduction by decay of the schedule", _by_decay), INFINITE),
        of_infinite_size(_loss), _loss_as_printed,
        corrected_by="eq:numerical_LRD_form/corrected", family="ansatz-quadrature", instances=_printed_letters,
        quoted=r"\cE_k \eqsim \frac{1}{T(k)^s} + M^{-s\beta} - \mathrm{LRD}(k)",
        remark="The noise of the first rate is dropped as bounded, and what is left is negative.",
    ),
    Claim(
        "eq:numerical_LRD_form/corrected", "eq:numerical_LRD_form", 1471,
        "the loss as signal and noise of the first rate, less the reduction by decay",
        LOSS[0], (measurements.POWERS, measurements.ALL_SMOOTH, "M = oo", *LOSS[1]),
        of_infinite_size(_loss), _loss_corrected,
        derive=ansatz.loss_by_parts, role="corrected", family="ansatz-quadrature",
        remark="The noise of the first rate stays, and is the larger part of the constant that a fit calls "
               "irreducible.",
    ),
)  # fmt: skip
