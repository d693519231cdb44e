"""appendix:llm_pre-training: the integral of the kernel, and where the signal of the mean value is taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Expr, Function, Integral, Symbol, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Ray, Sharp
from fsl_num.claims.words import Where
from fsl_num.functional import integrate_graded
from fsl_num.paper.empirical_laws import measurements
from fsl_num.paper.empirical_laws.formulas import POWER, e, power_kernel_at
from fsl_num.paper.hypotheses import INFINITE, of_infinite_size
from fsl_num.spectrum import forgetting_kernel, kernel_integral
from fsl_sym import ansatz
from fsl_sym.ansatz import c, kernel, past, x
from fsl_sym.proof import AllOf, Formula, at_least, at_most, equals, same_order
from fsl_sym.symbols import T, beta, s, z

LABEL = "appendix:llm_pre-training"
_SINCE = c * POWER * Integral(power_kernel_at(T - past), (past, T - x, T))
KERNEL_PRINTED: Final = equals(_SINCE, c * POWER * Integral(power_kernel_at(past), (past, T - x, T)))
KERNEL_INTEGRAL: Final = equals(
    Integral(c * POWER * power_kernel_at(T - past), (past, T - x, T)), 1 - (1 + c * x) ** -POWER
)
"""x is T(k) - T(i), and T is T(k)."""
_model = Function("K")
_soon, _long = Symbol("x_1", positive=True), Symbol("x_2", positive=True)


def _gone(time: Symbol) -> Expr:
    return Integral(_model(z), (z, 0, time)) / Integral(_model(z), (z, 0, oo))


MODEL_KERNEL: Final = AllOf((same_order(_gone(_soon), _soon), same_order(1 - _gone(_long), _long**-POWER)))
_early, _late = Symbol("t_i", positive=True), Symbol("t_k", positive=True)
_FROZEN = Integral(kernel(_late - z) * e(z - 1), (z, _early, _late)) / Integral(kernel(_late - z), (z, _early, _late))
AT_THE_DROP, AT_THE_END = (same_order(_FROZEN, time**-s) for time in (_early, _late))


def model_kernel_rays(sample: Sample) -> dict[str, Any]:
    """The kernel of the model with M infinite: what is forgotten after short times, and what is left after long "
    "ones."""
    beta = sample.point[1]
    whole = float(kernel_integral(0.0, math.inf, beta))
    short, long = np.linspace(0.0, -8.0, 17), np.linspace(0.0, 14.0, 29)
    gone = [float(kernel_integral(0.0, 10.0**x, beta)) / whole for x in short]
    left = [float(kernel_integral(10.0**x, math.inf, beta)) / whole for x in long]
    return {
        "forgotten at once": [
            Ray("x -> 0", -short * measurements.LOG10, {"x_1": short * measurements.LOG10}, np.log(gone))
        ],
        "left for long": [Ray("x -> oo", long * measurements.LOG10, {"x_2": long * measurements.LOG10}, np.log(left))],
    }


def _exchanged(sample: Sample) -> dict[str, Located]:
    """Each law where the other holds: what is gone after long times, and what is left after short ones."""
    measured = model_kernel_rays(sample)
    (gone,), (left,) = measured["forgotten at once"], measured["left for long"]
    late, early = (np.log1p(-np.exp(ray.values)) for ray in (left, gone))
    rays = {
        "forgotten at once": replace(left, logs={"x_1": left.scale}, values=late),
        "left for long": Ray("x -> 0", gone.scale, {"x_2": gone.logs["x_1"]}, early),
    }
    return {f"{name}, elsewhere": Located({name: [ray]}, {"M": math.inf}) for name, ray in rays.items()}


def _kernel_points(sample: Sample) -> measurements.Measured:
    decay = measurements.decay_kernel(sample.point[1])
    normal = measurements.SCALE * (1.0 - 1.0 / sample.point[1])
    pairs = [(start, start + length) for start in (0.0, 3.0, 50.0) for length in (0.1, 7.0, 400.0)]
    return [(pair, normal * measurements.integral(lambda t, e=pair[1]: decay(e - t), *pair)) for pair in pairs]  # type: ignore[misc]


def _kernel_share(sample: Sample, change: float = 0.0) -> Callable[[Any], float]:
    power = 1.0 - 1.0 / sample.point[1] + change
    return lambda pair: -math.expm1(-power * math.log1p(measurements.SCALE * (pair[1] - pair[0])))


def _kernel_as_printed(sample: Sample) -> Callable[[Any], float]:
    """The printed middle: the integral of (1 + c t)^-(2 - 1/beta) over [T(i), T(k)]."""
    power = 1.0 - 1.0 / sample.point[1]
    return lambda pair: (1.0 + measurements.SCALE * pair[0]) ** -power - (1.0 + measurements.SCALE * pair[1]) ** -power


def _kernel_corrected(sample: Sample) -> Sharp:
    wrong = {"as printed": _kernel_as_printed(sample), "the power of K": _kernel_share(sample, 1.0)}

    def moved(kind: str, size: float) -> list[Callable[[Any], float]]:
        return [_kernel_share(sample, size), _kernel_share(sample, -size)] if kind == "power" else []

    return Sharp(_kernel_share(sample), lambda pair: measurements.QUADRATURE, wrong, moved)


def _model_kernel(sample: Sample) -> Joint:
    parts = zip(("forgotten at once", "left for long"), MODEL_KERNEL.parts, strict=True)
    return Joint({name: order_statement(part, sample) for name, part in parts if isinstance(part, Formula)})


@lru_cache(maxsize=64)
def frozen_rays(sample: Sample) -> tuple[Ray, ...]:
    """int_{T(i)}^{T(k)} K(T(k) - t) e(t) dt over the kernel's integral: the signal that the mean value stands for.

    Logs: "early" is 1 + T(i), "late" 1 + T(k). Along the rays T(i) is fixed, or a share of T(k), or near it.
    """
    s, beta = sample.point
    rays = []
    paths: dict[str, Callable[[float], tuple[float, float]]] = {
        "T(i) = 10": lambda x: (10.0, x),
        "T(i) = T(k)/2": lambda x: (0.5 * x, 0.5 * x),
        "T(k) - T(i) = 10": lambda x: (x, 10.0),
        "T(i) = T(k)^(1/2)": lambda x: (math.sqrt(x), x),
    }
    for name, path in paths.items():
        pairs = [path(10.0**decade) for decade in measurements.DECADES]
        values = [math.log(_mean_signal(low, length, s, beta)) for low, length in pairs]
        logs = {
            "t_i": np.log1p([low for low, _ in pairs]),
            "t_k": np.log1p([low + length for low, length in pairs]),
        }
        rays.append(Ray(name, measurements.DECADES * measurements.LOG10, logs, np.array(values)))
    return tuple(rays)


def _mean_signal(low: float, length: float, s: float, beta: float) -> float:
    half, decay, signal = 0.5 * length, measurements.decay_kernel(beta), measurements.noise_source(s, 0.0)
    late = integrate_graded(lambda r: decay(r) * signal(low + (length - r)), half, rtol=1e-8).value
    early = integrate_graded(lambda x: decay(length - x) * signal(low + x), half, rtol=1e-8).value
    whole = integrate_graded(lambda r: decay(r), length, rtol=1e-8).value
    return (late + early) / whole


_FIRST, _LAST = 1.0, 5.0
"""T(i) and T(k) of an instance."""


def _times(sample: Sample) -> dict[str, Any]:
    """Those of the ray where T(i) is T(k)/2, as far as its first place says."""
    ray = frozen_rays(sample)[1]
    early, late = (math.exp(ray.logs[name][0]) for name in ("t_i", "t_k"))
    whole = 10.0 ** measurements.DECADES[0]
    return {"t_i": early, "t_k": late, "T(i)": whole / 2.0, "T(k)": whole}


def _length(sample: Sample) -> dict[str, Any]:
    """x of which the kernel's share is the one measured."""
    (first, last), share = _kernel_points(sample)[4]
    power = 1.0 - 1.0 / sample.point[1]
    x_of_share = math.expm1(-math.log1p(-share) / power) / measurements.SCALE
    return {"x": x_of_share, "T(i)": first, "T(k)": last}


DROPS = Where("t_i = 1 + T(i); t_k = 1 + T(k)", _times)
LENGTH = Where("x is T(k) - T(i); T is T(k)", _length)


def _frozen(sample: Sample) -> list[dict[Any, Any]]:
    """The mean of the signal between two times, and what it is made of."""
    own, capacity = sample.point
    return [{_FROZEN: _mean_signal(_FIRST, _LAST - _FIRST, own, capacity), _early: 1.0 + _FIRST, _late: 1.0 + _LAST,
             e: measurements.noise_source(own, 0.0), kernel: measurements.decay_kernel(capacity)}]  # fmt: skip


def _shares(sample: Sample) -> list[dict[Any, Any]]:
    """Both shares of the model's kernel, and the kernel."""
    capacity = sample.point[1]
    gone, left, all_of_it = (float(kernel_integral(*ends, capacity)) for ends in (
        (0.0, 0.5), (3.0, math.inf), (0.0, math.inf)))  # fmt: skip
    soon, late = (part.left for part in MODEL_KERNEL.parts if isinstance(part, Formula))
    return [{soon: gone / all_of_it, late: left / all_of_it, _soon: 0.5, _long: 3.0,
             _model: lambda time: float(forgetting_kernel(time, capacity))}]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        f"{LABEL}/signal-at-the-drop", LABEL, 1505, "the signal of the mean value taken at the drop",
        AT_THE_DROP, (measurements.POWERS, at_most(s, 1 - 1 / beta), DROPS, at_most(_late, 10**40)),
        frozen_rays, instances=_frozen,
        regimes=("edge", "hard"), corrected_by=f"{LABEL}/signal-at-the-end", role="argument", family="mean-value",
        remark="The kernel weighs the latest times most, so that the point of the mean moves away from the drop "
               "as training goes on.",
    ),
    Claim(
        f"{LABEL}/signal-at-the-end", LABEL, 1505, "the signal of the mean value taken at the end",
        AT_THE_END, (measurements.POWERS, at_most(s, 1 - 1 / beta), DROPS, at_most(_late, 10**40)),
        frozen_rays, instances=_frozen,
        mutants=lambda sample: {"the signal at the drop": order_statement(AT_THE_DROP, sample)},
        regimes=("edge", "hard"), role="corrected", family="mean-value",
    ),
    Claim(
        f"{LABEL}/kernel-integral", LABEL, 1498, "the integral of the kernel, as printed",
        KERNEL_PRINTED, (measurements.POWERS, LENGTH),
        _kernel_points, lambda sample: Sharp(_kernel_as_printed(sample), lambda pair: measurements.QUADRATURE),
        mends={Integral(power_kernel_at(past), (past, T - x, T)): Integral(power_kernel_at(past), (past, 0, x))},
        corrected_by=f"{LABEL}/kernel-integral/corrected",
        family="kernel-integral",
        quoted=r"\frac{1}{(1+ct)^{2-1/\beta}}\dd t \dd u"
               r" \eqsim 1 - \frac{1}{(1+c(T(k)-T(i))^{1-1/\beta}}",
    ),
    Claim(
        f"{LABEL}/kernel-integral/corrected", LABEL, 1498, "the integral of the kernel",
        KERNEL_INTEGRAL, (measurements.POWERS, LENGTH),
        _kernel_points, _kernel_corrected, derive=ansatz.kernel_integral, role="corrected",
        family="kernel-integral",
    ),
    Claim(
        f"{LABEL}/kernel-of-the-model", LABEL, 1498, "the model's kernel forgets like the power",
        MODEL_KERNEL, (Where("lambda_j = j^-beta"), INFINITE, at_most(_soon, 1), at_least(_long, 1)),
        of_infinite_size(model_kernel_rays), _model_kernel, beyond=_exchanged, role="own", instances=_shares,
        family="kernel-integral",
        remark="The power kernel is right at both ends, up to constants.",
    ),
)  # fmt: skip
