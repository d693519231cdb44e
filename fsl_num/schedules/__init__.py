"""Learning-rate schedules, each defined by its learning rate in physical time, with intrinsic time and its inverse.

>>> from fsl_num.schedules import schedule
>>> wsd = schedule("wsd", peak=0.5, final=0.005, steps=1000, decay_fraction=0.2)
>>> round(wsd.gamma(wsd.breaks[0]), 12)
0.5
"""

from __future__ import annotations

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.catalogue import (
    SCHEDULES,
    as_schedule,
    batch_sizes_of,
    is_name,
    parameters_of,
    schedule,
    spelling,
    step_rates,
)
from fsl_num.schedules.compose import Warmup, with_floor, with_warmup
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.cosine import Cosine
from fsl_num.schedules.cyclic import Cyclic
from fsl_num.schedules.discrete import Discrete
from fsl_num.schedules.exponential import ExponentialDecay, StableDecay
from fsl_num.schedules.function import from_function
from fsl_num.schedules.linear import Linear
from fsl_num.schedules.multi_step import EightOneOne, MultiStep
from fsl_num.schedules.phases import Consecutive, Phased
from fsl_num.schedules.power import PowerDecay
from fsl_num.schedules.square_root import InverseSqrt, OneMinusSqrt

__all__ = [
    "SCHEDULES",
    "Consecutive",
    "Constant",
    "Cosine",
    "Cyclic",
    "Discrete",
    "EightOneOne",
    "ExponentialDecay",
    "InverseSqrt",
    "Linear",
    "MultiStep",
    "OneMinusSqrt",
    "Phased",
    "PowerDecay",
    "Schedule",
    "StableDecay",
    "Warmup",
    "as_schedule",
    "batch_sizes_of",
    "from_function",
    "is_name",
    "parameters_of",
    "schedule",
    "spelling",
    "step_rates",
    "with_floor",
    "with_warmup",
]
