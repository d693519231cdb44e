"""Noise integrals of learning-rate schedules in closed form.

Examples
--------
>>> from fsl_sym.integrals import noise_integral
>>> noise_integral("constant").order[0].expression
a
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from fsl_sym.integrals.by_phases import noise_by_phases
from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder, PrintedLine
from fsl_sym.integrals.exponential_decay import constant_noise, exponential_decay_noise
from fsl_sym.integrals.exponential_decay import i1 as I1
from fsl_sym.integrals.exponential_decay import i2 as I2
from fsl_sym.integrals.power_decay import linear_decay_noise, power_decay_noise
from fsl_sym.integrals.stable_phase import stable_phase_noise
from fsl_sym.integrals.warmup_stable_decay import warmup_stable_decay_noise
from fsl_sym.schedules import Schedule, schedule
from fsl_sym.schedules.own import as_schedule

NOISE: Final[Mapping[str, Callable[[], ClosedForm]]] = MappingProxyType(
    {
        "constant": constant_noise,
        "exp-decay": exponential_decay_noise,
        "wsd": warmup_stable_decay_noise,
        "power-decay": power_decay_noise,
        "linear": linear_decay_noise,
    }
)
"""Schedule -> closed form of its noise integral."""


def noise_integral(known: str | Schedule) -> ClosedForm:
    """N = int_0^T K_M(T - t) gamma(t) dt of a schedule.

    Source: the convolution in the equation labelled eqn: fsl.

    Parameters
    ----------
    known
        A name in :data:`fsl_sym.schedules.SCHEDULES`, or a schedule such as
        :func:`fsl_sym.schedules.own.own_schedule` makes.

    Returns
    -------
    ClosedForm
        Exact for every M, with its derivation and growth order. Where gamma has no elementary form the exact value is
        an integral over the steps in each mode.

    Raises
    ------
    ValueError
        If there is no such schedule.

    Examples
    --------
    >>> noise_integral("exp-decay").order[1].expression
    Min(T**(-1 + 1/beta)*(a - b), M*(a - b)/T)
    >>> [order.expression for order in noise_integral("cosine-to-zero").order][-1]
    a/T**(2/3)
    """
    plan = as_schedule(known)
    named = plan.name in NOISE and plan == schedule(plan.name)
    return NOISE[plan.name]() if named else noise_by_phases(plan)


__all__ = [
    "I1",
    "I2",
    "NOISE",
    "ClosedForm",
    "GrowthOrder",
    "PrintedLine",
    "noise_integral",
    "stable_phase_noise",
]
