"""appendix:llm_pre-training: the reduction by decay, by parts and as a sum over the steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from sympy import Derivative, Integral, Sum, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray, Sharp
from fsl_num.claims.words import Where
from fsl_num.paper.empirical_laws import measurements
from fsl_num.paper.empirical_laws.formulas import GAIN, SMOOTH, Stated, injected, noise_from, r
from fsl_num.paper.empirical_laws.loops import Function, gauss, intrinsic_times, power_kernel
from fsl_num.paper.empirical_laws.measurements import STEPPED
from fsl_num.paper.hypotheses import SCHEDULES, located
from fsl_num.validation import Array
from fsl_sym import ansatz
from fsl_sym.ansatz import clock, end, gone, i, k, phi, rate, u
from fsl_sym.proof import AllOf, equals, same_order
from fsl_sym.symbols import B, K

LABEL = "appendix:llm_pre-training"
_REDUCTION = Symbol("LRD")
_LAST_LINE = -Integral(Derivative(phi(r), r) * noise_from(clock(r)), (r, 0, end)) / B


def _gone(sample: Sample) -> dict[str, Any]:
    """G of ten steps, and of what it is the integral."""
    rates, after, exact, _ = _discretised(10, sample, 9.0)
    steps = {"eta": np.vectorize(measurements.by_step(rates)), "G": np.vectorize(measurements.by_step(after, 0))}
    return {
        **steps, "T": measurements.by_step(np.concatenate([[0.0], np.cumsum(rates)]), 0), "k": 10, "B": 1.0,
        "LRD": exact, "K": measurements.decay_kernel(sample.point[1]),
        "g": measurements.noise_source(sample.point[0], 9.0),
    }  # fmt: skip


_AFTER = (
    equals(gone(i), Integral(ansatz.kernel(clock(k) - u) * ansatz.source(u), (u, clock(i), clock(k)))), GAIN,
)  # fmt: skip
STEPS: Final[Stated] = (
    equals(
        rate(0) * gone(0) - Sum(rate(i) * (gone(i - 1) - gone(i)), (i, 1, k)),
        Sum((rate(i - 1) - rate(i)) * gone(i - 1), (i, 1, k)),
    ),
    (equals(gone(k), 0), *_AFTER),
)
_MISSED = same_order(1 - Sum((rate(i - 1) - rate(i)) * gone(i), (i, 1, k)) / (B * _REDUCTION), 1 / K)
DISCRETISED: Final[Stated] = (
    _MISSED,
    (Where("LRD is the sum over i <= k of (eta(i - 1) - eta(i)) G(i - 1)/B",
           lambda sample: {**_gone(sample), "i": np.arange(1, 11)}), *_AFTER),
)


def _reduction() -> Stated:
    """The first line of the reduction by decay is the second, and the third."""
    gained = Integral(Derivative(phi(r), r), (r, 0, u))
    first = -Integral(injected(u) * phi(u) * gained, (u, 0, end)) / B
    inner = Integral(injected(u) * phi(u), (u, r, end))
    second = -Integral(Derivative(phi(r), r) * inner, (r, 0, end)) / B
    hypotheses = tuple(known for known in SMOOTH if known != equals(clock(0), 0))
    return AllOf((equals(first, second), equals(first, _LAST_LINE))), hypotheses


REDUCTION: Final = _reduction()


def forgotten(rates: Sequence[float], kernel: Function, source: Function) -> list[float]:
    """G(0) .. G(k): the integrals of K(T(k) - t) g(t) over [T(i), T(k)], summed from the end."""
    times = intrinsic_times(rates)
    integrals = [0.0]
    for start, stop in zip(times[-2::-1], times[:0:-1], strict=True):
        integrals.append(integrals[-1] + gauss(lambda t: kernel(times[-1] - t) * source(t), start, stop))
    return integrals[::-1]


def reduction(rates: Sequence[float], first: float, gone: Sequence[float], shift: int = 1) -> float:
    """sum_{i=1}^k (eta_{i-1} - eta_i) G(i - shift): exact with shift 1, as printed with shift 0."""
    before, total = first, 0.0
    for step, now in enumerate(rates, 1):
        total += (before - now) * gone[step - shift]
        before = now
    return total


def _discretised(count: int, sample: Sample, noise: float) -> tuple[Array, Array, float, float]:
    """The rates of so many steps, G after each, the reduction, and the sum over the steps as printed."""
    rates = measurements.linear_wsd(count)
    rates *= measurements.WHOLE / rates.sum()
    gone = measurements.reversed_gone(np.concatenate([[0.0], np.cumsum(rates)]), *sample.point, noise)
    drops = -np.diff(np.concatenate([rates[:1], rates]))
    return rates, gone, float(drops @ gone[:-1]), float(drops @ gone[1:])


def _few_steps(sample: Sample) -> list[dict[Any, Any]]:
    """The share that the sum misses at ten steps, and what it is made of."""
    rates, left, exact, printed = _discretised(10, sample, 1.0)
    functions = {
        rate: measurements.by_step(rates), gone: measurements.by_step(left, 0),
        clock: measurements.by_step(np.cumsum([0.0, *rates]), 0),
        ansatz.kernel: measurements.decay_kernel(sample.point[1]),
        ansatz.source: measurements.noise_source(sample.point[0], 1.0),
    }  # fmt: skip
    return [{_MISSED.left: (exact - printed) / exact, k: 10, B: 1.0, _REDUCTION: exact, **functions}]


def discretised_rays(sample: Sample) -> tuple[Ray, ...]:
    """How far the sum over K steps with T(i) is from the one with T(i-1), relative, at one intrinsic time for all K.

    The schedule is WSD with a linear decay of the last fifth to a tenth, in ever smaller steps.
    """
    counts = np.array([2.0**j for j in range(9, 17)])
    rays = []
    for noise in measurements.NOISES:
        values = []
        for count in counts:
            _, _, exact, printed = _discretised(int(count), sample, noise)
            values.append(abs(printed - exact) / exact)
        rays.append(Ray(f"sigma^2 = {noise:g}", np.log(counts), {"K": np.log(counts)}, np.log(values)))
    return tuple(rays)


def _decaying() -> list[tuple[str, float]]:
    return [point for point in measurements.schedules_and_noises() if point[0] != "constant"]


def _parts(sample: Sample) -> Sharp:
    wrong = {
        "the other sign": {"reduction by parts": -1.0},
        "the inner integral from 0": {"inner integral from 0": 1.0},
        "the slope times the rate": {"slope times rate": 1.0},
    }
    return measurements.exactly({"reduction by parts": 1.0}, wrong, sample)


def _summed(shift: int, sample: Sample) -> Callable[[Any], float]:
    s, beta = sample.point

    def value(point: Any) -> float:
        name, k, noise = point
        rates = measurements.step_plan(name, 60)[:k]
        gone = forgotten(rates, power_kernel(beta, measurements.SCALE), lambda t: noise + (1.0 + t) ** -s)
        return reduction(rates, measurements.PEAK, gone, shift)

    return value


def _abel(sample: Sample) -> Sharp:
    right = _summed(1, sample)
    wrong = {"T(i) for T(i-1), as printed": _summed(0, sample), "the other sign": lambda point: -right(point)}
    return Sharp(right, measurements.QUADRATURE, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        f"{LABEL}/parts", LABEL, 1476, "the reduction by decay, integrated by parts",
        REDUCTION[0], (measurements.POWERS, SCHEDULES(*measurements.SMOOTH[1:]), *REDUCTION[1]),
        lambda sample: measurements.measured_at("reduction as defined", sample, _decaying()), _parts,
        derive=ansatz.reduction_by_parts, family="ansatz-quadrature",
        quoted=r"(\sigma^2 + e(T(u))) \varphi(u) \int_{0}^{u} \varphi'(r)\dd r \dd u",
    ),
    Claim(
        f"{LABEL}/discretisation", LABEL, 1486, "the reduction by decay as a sum over the steps",
        DISCRETISED[0],
        (measurements.POWERS, *DISCRETISED[1], measurements.LINEAR_WSD, "T(k) = 200",
         "512 <= K <= 65536"),
        located({"T(k)": measurements.WHOLE, SCHEDULES.name: "linear-wsd"})(discretised_rays), family="discretisation",
        instances=_few_steps,
        quoted=r"\mathrm{LRD}(k) \approx \frac{1}{B} \sum_{i=1}^{k} (\eta_{i-1}-\eta_i)"
               r" \int_{T(i)}^{T(k)} \mathcal{K}(T(k)-t)(\sigma^2 + e(t))\dd t",
    ),
    Claim(
        f"{LABEL}/discretisation-exact", LABEL, 1486, "the reduction by decay of steps, exactly",
        STEPS[0], (measurements.POWERS, STEPPED, *STEPS[1]),
        lambda sample: measurements.step_measurements(sample, True), _abel,
        derive=ansatz.abel_summation, role="stronger", strengthens=f"{LABEL}/discretisation", instances=_few_steps,
        family="steps",
        remark="The drop of a step acts from the beginning of that step on.",
    ),
)  # fmt: skip
