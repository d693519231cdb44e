"""The Momentum Law: its definition, and that it is a reduction by decay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Sum

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import joined
from fsl_num.curves.laws import law
from fsl_num.paper.empirical_laws.formulas import GONE_BY, L0, A, L, j, kappa
from fsl_num.paper.empirical_laws.measurements import (
    ALL_STEPWISE,
    LONG,
    ONE_PASS,
    SIGNAL,
    STEPWISE,
    Value,
    by_step,
    long_rates,
)
from fsl_num.paper.hypotheses import located
from fsl_sym import ansatz
from fsl_sym.ansatz import drop, i, k, rate
from fsl_sym.proof import equals
from fsl_sym.symbols import C, lam

LABEL = "sub:empirical_fitting_of_llm_pre_training_loss_trajectory"
DROP: Final = equals(drop(j), rate(j - 1) - rate(j))
_DOUBLE = Sum(Sum(drop(j) * lam ** (i - j), (j, 2, i)), (i, 2, k))
MOMENTUM: Final = equals(L, L0 + A * GONE_BY**-kappa - C * _DOUBLE)
MOMENTUM_DROPS: Final = equals(_DOUBLE, Sum(drop(j) * (1 - lam ** (k - j + 1)) / (1 - lam), (j, 2, k)))
DECAYS = (0.9, 0.99, 0.999)


def momentum_sum(rates: Sequence[float], decay: float, *, start: int = 2, extra: int = 0) -> float:
    """S2 = sum_{i=2}^k sum_{j=2}^i (eta_{j-1} - eta_j) decay^(i-j), by its two loops.

    ``start`` and ``extra`` make wrong versions: another first j, another power of the decay.
    """
    total = 0.0
    for step in range(2, len(rates) + 1):
        for earlier in range(start, step + 1):
            total += (rates[earlier - 2] - rates[earlier - 1]) * decay ** (step - earlier + extra)
    return total


@lru_cache(maxsize=1)
def _momentum() -> tuple[tuple[Any, float], ...]:
    """The law less its constant: A S1^-kappa - C S2 after the last step and in the middle."""
    values = []
    for name in STEPWISE:
        for decay in DECAYS:
            parameters = {"L0": 0.0, "A": SIGNAL, "C": 1.0, "kappa": 0.5, "decay": decay}
            curve = law("momentum").predict(long_rates(name), parameters)
            values += [((name, k, decay), float(curve[k - 1])) for k in (100, LONG)]
    return tuple(values)


def _momentum_instances(sample: Sample) -> list[dict[Any, Any]]:
    known = {L0: 0.0, A: SIGNAL, C: 1.0, kappa: 0.5}
    instances = []
    for (name, count, decay), loss in _momentum():
        if count < LONG:
            rates = long_rates(name)
            own = {rate: by_step(rates), drop: by_step([0.0, *(-np.diff(rates)).tolist()])}
            instances.append({**known, **own, L: loss, k: count, lam: decay})
    return instances


def _momentum_loop(start: int = 2, extra: int = 0, sign: float = 1.0, last: int = 0) -> Value:
    def value(point: Any) -> float:
        name, k, decay = point
        rates = long_rates(name)[:k]
        signal = SIGNAL * math.fsum(rates[: k - last]) ** -0.5
        return float(signal - sign * momentum_sum(rates, decay, start=start, extra=extra))

    return value


def _momentum_statement(sample: Sample) -> Sharp:
    wrong = {
        "lambda^(i-j+1)": _momentum_loop(extra=1),
        "from j = 3": _momentum_loop(start=3),
        "S2 added": _momentum_loop(sign=-1.0),
        "S1 without the last step": _momentum_loop(last=1),
    }
    return Sharp(_momentum_loop(), ONE_PASS, wrong)


def _momentum_single(shift: int = 1) -> Value:
    def value(point: Any) -> float:
        name, k, decay = point
        rates = long_rates(name)[:k]
        drops = [(rates[j - 2] - rates[j - 1]) * (1.0 - decay ** (k - j + shift)) for j in range(2, k + 1)]
        return float(SIGNAL * math.fsum(rates) ** -0.5 - math.fsum(drops) / (1.0 - decay))

    return value


def _momentum_drops(sample: Sample) -> Sharp:
    wrong = {"k - j for k - j + 1": _momentum_single(0), "k - j + 2": _momentum_single(2)}
    return Sharp(_momentum_single(), ONE_PASS, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        f"{LABEL}/momentum", LABEL, 1178, "the Momentum Law",
        MOMENTUM, (ALL_STEPWISE, DROP, f"lambda = {joined(DECAYS)}"),
        located({"lambda": DECAYS})(lambda sample: _momentum()), _momentum_statement, regimes=("easy",), family="laws",
        instances=_momentum_instances,
        quoted=r"\cL_k(\bm{\eta}) &= L_0 + A S_1^{-\kappa} - C S_2",
    ),
    Claim(
        f"{LABEL}/momentum-drops", LABEL, 1182, "the Momentum Law is a reduction by decay",
        MOMENTUM_DROPS, (ALL_STEPWISE, DROP, f"lambda = {joined(DECAYS)}"),
        located({"lambda": DECAYS})(lambda sample: _momentum()), _momentum_drops,
        derive=ansatz.momentum_kernel, regimes=("easy",), role="own", family="laws", instances=_momentum_instances,
        remark="It has an exponential of the steps where the theory has a power of intrinsic time.",
    ),
)  # fmt: skip
