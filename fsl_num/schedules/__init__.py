"""Learning-rate schedules, each defined by its learning rate in physical time, with intrinsic time and its inverse.

>>> from fsl_num.schedules import schedule
>>> wsd = schedule("wsd", peak=0.5, final=0.005, steps=1000, decay_fraction=0.2)
>>> round(wsd.gamma(wsd.breaks[0]), 12)
0.5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any, Final

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.cosine import Cosine
from fsl_num.schedules.discrete import Discrete
from fsl_num.schedules.exponential import ExponentialDecay, StableDecay
from fsl_num.schedules.linear import Linear
from fsl_num.schedules.power import PowerDecay

SCHEDULES: Final[Mapping[str, type[Schedule]]] = MappingProxyType(
    {
        "constant": Constant,
        "exp-decay": ExponentialDecay,
        "wsd": StableDecay,
        "power-decay": PowerDecay,
        "cosine": Cosine,
        "linear": Linear,
    }
)
"""Name -> class, the names that :func:`schedule` accepts."""

__all__ = [
    "SCHEDULES",
    "Constant",
    "Cosine",
    "Discrete",
    "ExponentialDecay",
    "Linear",
    "PowerDecay",
    "Schedule",
    "StableDecay",
    "schedule",
]


def schedule(name: str, **parameters: Any) -> Schedule:
    """Return the schedule called ``name`` (constant, exp-decay, wsd, power-decay, cosine, linear).

    ``parameters`` are the fields of its class: ``peak`` and ``steps`` always, ``batch_size`` (default 1), and
    ``final``, ``decay_fraction`` or ``power`` where the class has them. Raises ValueError for an unknown name and
    TypeError for missing or unknown parameters.

    >>> schedule("linear", peak=0.1, steps=10).learning_rate(5)
    0.05
    """
    kind = SCHEDULES.get(name)
    if kind is None:
        raise ValueError(f"unknown schedule {name!r}; the names are {', '.join(SCHEDULES)}")
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    unknown, missing = sorted(set(parameters) - known), sorted(needed - set(parameters))
    if unknown or missing:
        problem = f"unknown parameters {unknown}" if unknown else f"missing parameters {missing}"
        raise TypeError(f"schedule {name!r}: {problem}; it takes {sorted(known)}")
    return kind(**parameters)
