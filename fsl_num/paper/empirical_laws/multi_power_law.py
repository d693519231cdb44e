"""The Multi-Power Law: its definition, and that it is the label noise of steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from sympy import Expr, Integral, Sum

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import Where
from fsl_num.curves.laws import law
from fsl_num.paper.empirical_laws import measurements
from fsl_num.paper.empirical_laws.formulas import GONE_BY, L0, POWER, A, L, j, kappa, kappa1, kappa2, power_kernel_at
from fsl_num.paper.empirical_laws.measurements import STEPPED
from fsl_num.paper.hypotheses import located
from fsl_num.paper.model.formulas import continuous
from fsl_sym import ansatz
from fsl_sym.ansatz import c, i, k, left, rate, u
from fsl_sym.proof import Hypothesis, equals
from fsl_sym.symbols import C

LABEL = "sub:empirical_fitting_of_llm_pre_training_loss_trajectory"
_SHARES = c * POWER * power_kernel_at(u)
_LABEL_NOISE = rate(0) * Integral(_SHARES, (u, 0, left(0))) - Sum(
    rate(i) * Integral(_SHARES, (u, left(i), left(i - 1))), (i, 1, k)
)
"""The reduction of label noise, times c (1 - 1/beta): what the rate eta_0, held, injects, less what the steps do."""
LEFT: Final[tuple[Hypothesis | str, ...]] = (
    equals(left(k), 0),
    *continuous("R", "eta"),
    Where("R(i) is eta(i + 1) + R(i + 1)", lambda sample: _step_instances(sample)[0]),
    Where("eta_0 is free: with eta_0 = eta_1 the sum begins at 2"),
)
_SINCE_STEP = Sum(rate(j), (j, i, k))


def _forgotten(time: Any, power: Expr = POWER) -> Expr:
    return 1 - (1 + c * time) ** -power


MULTI_POWER: Final = equals(_LABEL_NOISE, Sum((rate(i - 1) - rate(i)) * _forgotten(left(i - 1)), (i, 1, k)))
MULTI_POWER_PRINTED: Final = equals(
    _LABEL_NOISE, Sum((rate(i - 1) - rate(i)) * _forgotten(Sum(rate(j), (j, 1, i))), (i, 1, k))
)
MULTI_POWER_LAW: Final = equals(
    L,
    L0
    + A * GONE_BY**-kappa
    - C * Sum((rate(i - 1) - rate(i)) * _forgotten(rate(i) ** -kappa1 * _SINCE_STEP, kappa2), (i, 2, k)),
)


def multi_power(
    rates: Sequence[float],
    scale: float,
    power: float,
    *,
    since: str = "the drop",
    rate_power: float = 0.0,
    shift: int = 0,
) -> float:
    """sum_{i=2}^k (eta_{i-1} - eta_i) G(eta_i^-rate_power S_i), G(x) = 1 - (scale x + 1)^-power.

    ``since``: S_i = sum_{j=i}^k eta_j ("the drop"), or sum_{j=1}^i eta_j as printed ("the start"); ``shift`` moves i.
    """
    total = 0.0
    for step in range(2, len(rates) + 1):
        elapsed = math.fsum(rates[step + shift - 1 :] if since == "the drop" else rates[:step])
        argument = rates[step - 1] ** -rate_power * elapsed
        total += (rates[step - 2] - rates[step - 1]) * (1.0 - (scale * argument + 1.0) ** -power)
    return total


def _label_noise(sample: Sample) -> measurements.Measured:
    """The reduction by decay under label noise alone, times c (1 - 1/beta): noise of the first rate less that of "
    "all."""
    normal = measurements.SCALE * (1.0 - 1.0 / sample.point[1])
    return [(point, normal * value) for point, value in measurements.step_measurements(sample, False)]


def _multi_power(sample: Sample, change: float = 0.0, **options: Any) -> measurements.Value:
    power = 1.0 - 1.0 / sample.point[1] + change

    def value(point: Any) -> float:
        rates = measurements.step_plan(point[0], 60)[: point[1]]
        return multi_power(rates, measurements.SCALE, power, **options)

    return value


def _multi_power_corrected(sample: Sample) -> Sharp:
    wrong = {
        "S_i from the start, as printed": _multi_power(sample, since="the start"),
        "S_i from i + 1, as in the ansatz": _multi_power(sample, shift=1),
        "kappa' = 0.05": _multi_power(sample, rate_power=0.05),
        "kappa'' = 2 - 1/beta": _multi_power(sample, 1.0),
    }

    def moved(kind: str, size: float) -> list[measurements.Value]:
        return [_multi_power(sample, sign * size) for sign in (1, -1)] if kind == "power" else []

    return Sharp(_multi_power(sample), measurements.ONE_PASS, wrong, moved)


RATE_POWERS = (0.0, 0.4)


@lru_cache(maxsize=1)
def _multi_power_curves() -> tuple[tuple[Any, float], ...]:
    values = []
    for name in measurements.STEPWISE:
        for rate_power in RATE_POWERS:
            parameters = {
                "L0": 0.0,
                "A": measurements.SIGNAL,
                "C": 0.5,
                "kappa": 0.5,
                "C1": measurements.SCALE,
                "kappa1": rate_power,
                "kappa2": 0.6,
            }
            curve = law("multi-power").predict(measurements.long_rates(name), parameters)
            values += [((name, k, rate_power), float(curve[k - 1])) for k in (100, measurements.LONG)]
    return tuple(values)


def _multi_power_instances(sample: Sample) -> list[dict[Any, Any]]:
    known = {L0: 0.0, A: measurements.SIGNAL, C: 0.5, kappa: 0.5, c: measurements.SCALE, kappa2: 0.6}
    by_name = {name: measurements.long_rates(name) for name in measurements.STEPWISE}
    return [
        {**known, L: loss, k: count, kappa1: power, rate: measurements.by_step(by_name[name])}
        for (name, count, power), loss in _multi_power_curves() if count < measurements.LONG
    ]  # fmt: skip


def _multi_power_loop(**options: Any) -> measurements.Value:
    def value(point: Any) -> float:
        name, k, rate_power = point
        rates = measurements.long_rates(name)[:k]
        reduced = multi_power(rates, measurements.SCALE, 0.6, rate_power=rate_power, **options)
        return float(measurements.SIGNAL * math.fsum(rates) ** -0.5 - 0.5 * reduced)

    return value


def _multi_power_definition(sample: Sample) -> Sharp:
    wrong = {"S_i from the start": _multi_power_loop(since="the start"), "S_i from i + 1": _multi_power_loop(shift=1)}
    return Sharp(_multi_power_loop(), measurements.ONE_PASS, wrong)


def _step_instances(sample: Sample) -> list[dict[Any, Any]]:
    """Rates and what is left of the intrinsic time, step by step, after a few steps of a cosine, with eta_0 = eta_1;
    the reduction, and what is printed for it."""
    rates, power = measurements.step_plan("cosine", 8), 1.0 - 1.0 / sample.point[1]
    own, printed = (multi_power(rates, measurements.SCALE, power, since=since) for since in ("the drop", "the start"))
    return [{c: measurements.SCALE, k: len(rates), rate: measurements.by_step(rates), _LABEL_NOISE: own,
             MULTI_POWER_PRINTED.right: printed, left: lambda i: math.fsum(rates[int(i):])}]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        f"{LABEL}/multi-power", LABEL, 1195, "the Multi-Power Law, as printed",
        MULTI_POWER_PRINTED, (STEPPED, *LEFT),
        _label_noise,
        lambda sample: Sharp(_multi_power(sample, since="the start"), measurements.ONE_PASS), instances=_step_instances,
        corrected_by=f"{LABEL}/multi-power/corrected", family="steps",
        quoted=r"S_i := \sum_{j=1}^{i}\eta_{j}",
        remark="As printed, a drop counts in full at once and nothing comes after it.",
    ),
    Claim(
        f"{LABEL}/multi-power/corrected", LABEL, 1195, "the Multi-Power Law is the label noise of steps",
        MULTI_POWER, (STEPPED, *LEFT),
        _label_noise, _multi_power_corrected,
        derive=ansatz.multi_power, role="corrected",
        family="steps",
        remark="With the sum as its authors have it the law is exact for the label noise: nothing is approximated.",
    ),
    Claim(
        f"{LABEL}/multi-power-definition", LABEL, 1188, "the Multi-Power Law",
        MULTI_POWER_LAW, (measurements.ALL_STEPWISE, "kappa' = 0 and 0.4"),
        located({"kappa'": RATE_POWERS})(lambda sample: _multi_power_curves()), _multi_power_definition,
        instances=_multi_power_instances, regimes=("easy",), role="own",
        family="laws",
    ),
)  # fmt: skip
