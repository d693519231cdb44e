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

from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder, PrintedLine
from fsl_sym.integrals.exponential_decay import constant_noise, exponential_decay_noise
from fsl_sym.integrals.exponential_decay import i1 as I1
from fsl_sym.integrals.exponential_decay import i2 as I2
from fsl_sym.integrals.power_decay import linear_decay_noise, power_decay_noise
from fsl_sym.integrals.stable_phase import stable_phase_noise
from fsl_sym.integrals.warmup_stable_decay import warmup_stable_decay_noise
from fsl_sym.schedules import schedule

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


def noise_integral(name: str) -> ClosedForm:
    """N = int_0^T K_M(T - t) gamma(t) dt for the schedule of that name.

    Parameters
    ----------
    name
        A name in :data:`fsl_sym.schedules.SCHEDULES` whose gamma has a closed form.

    Returns
    -------
    ClosedForm
        Exact for every M, with its derivation and growth order.

    Raises
    ------
    ValueError
        If there is no such schedule, or its noise integral has no closed form.

    Examples
    --------
    >>> noise_integral("exp-decay").order[1].expression
    Min(T**(-1 + 1/beta)*(a - b), M*(a - b)/T)
    """
    if name in NOISE:
        return NOISE[name]()
    found = schedule(name)
    same = "its noise is that of the constant schedule" if name == "stable" else "none is derived"
    reason = found.remark or same
    raise ValueError(f"no closed form of the noise integral of {name!r}: {reason}; known are {', '.join(NOISE)}")


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
