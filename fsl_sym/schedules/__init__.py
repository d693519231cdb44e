"""Learning-rate schedules in closed form: phi(tau), intrinsic time T(tau), its inverse, and gamma(t) = phi(T^-1(t)).

The names are those of :mod:`fsl_num.schedules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from fsl_sym.schedules import forms
from fsl_sym.schedules.closed_form import FRACTION, Phase, Schedule
from fsl_sym.values import instance_of

__all__ = ["FRACTION", "SCHEDULES", "Phase", "Schedule", "schedule", "unknown"]

SCHEDULES: Final[Mapping[str, Callable[[], Schedule]]] = MappingProxyType(
    {
        "constant": forms.constant,
        "exp-decay": forms.exponential_decay,
        "wsd": forms.warmup_stable_decay,
        "power-decay": forms.power_decay,
        "linear": forms.linear_decay,
        "cosine": forms.cosine,
        "1-sqrt": forms.one_minus_square_root,
        "inverse-sqrt": forms.inverse_square_root,
        "multi-step": forms.multi_step,
        "8-1-1": forms.eight_one_one,
        "cyclic": forms.cyclic,
        "stable": forms.stable,
        "cosine-to-zero": forms.cosine_to_zero,
    }
)
"""Name -> constructor; the last two are what others become, and no names of the command line."""

_OLD_SPELLINGS: Final = MappingProxyType(
    {"wsd-like": "wsd", "exponential-decay": "exp-decay", "linear-decay": "linear"}
)


def unknown(name: object) -> str:
    """The sentence that refuses a name of no schedule; of another spelling it says the name.

    Examples
    --------
    >>> unknown("WSD-like")
    "unknown schedule 'WSD-like'; it is called 'wsd'"
    """
    bare = "-".join(str(name).lower().split())
    meant = _OLD_SPELLINGS.get(bare, bare)
    hint = f"it is called {meant!r}" if meant in SCHEDULES else f"the schedules are {', '.join(SCHEDULES)}"
    return f"unknown schedule {name!r}; {hint}"


def schedule(name: str) -> Schedule:
    """The schedule of that name.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> schedule("power-decay").gamma
    a*(1 - t*(p + 1)/(K*a))**(p/(p + 1))
    """
    instance_of("name", name, str)
    if name not in SCHEDULES:
        raise ValueError(unknown(name))
    return SCHEDULES[name]()
