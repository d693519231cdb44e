"""The laws of loss curves by name.

>>> from fsl_num.curves.laws import LAWS, law
>>> law("multi-power").title
'Multi-Power Law'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from fsl_num.curves.laws.ansatz import AnsatzLaw
from fsl_num.curves.laws.base import Bound, Law, Parameter
from fsl_num.curves.laws.chinchilla import ChinchillaLaw
from fsl_num.curves.laws.functional import FunctionalLaw
from fsl_num.curves.laws.momentum import MomentumLaw
from fsl_num.curves.laws.multi_power import MultiPowerLaw
from fsl_num.curves.laws.physical_time import PhysicalTimeLaw
from fsl_num.curves.laws.weights import WeightsLaw
from fsl_num.validation import one_of

LAWS: Final[Mapping[str, Callable[[], Law]]] = MappingProxyType(
    {
        "fsl": FunctionalLaw,
        "fsl-simplified": lambda: FunctionalLaw(free_amplitude=False),
        "fsl-convolution": lambda: FunctionalLaw(free_amplitude=False, signal_noise=True),
        "fsl-full": lambda: FunctionalLaw(signal_noise=True),
        "fsl-sgd": lambda: FunctionalLaw(signal_noise=True, adaptive=False),
        "fsl-weights": WeightsLaw,
        "fsl-sizes": lambda: FunctionalLaw(sizes=True),
        "fsl-ansatz": AnsatzLaw,
        "fsl-ansatz-sizes": lambda: AnsatzLaw(sizes=True),
        "fsl-physical": PhysicalTimeLaw,
        "multi-power": MultiPowerLaw,
        "momentum": MomentumLaw,
        "chinchilla": ChinchillaLaw,
    }
)
"""Name -> law, the names that :func:`law` accepts."""

__all__ = [
    "LAWS",
    "AnsatzLaw",
    "Bound",
    "ChinchillaLaw",
    "FunctionalLaw",
    "Law",
    "MomentumLaw",
    "MultiPowerLaw",
    "Parameter",
    "PhysicalTimeLaw",
    "WeightsLaw",
    "law",
]


def law(name: str | Law) -> Law:
    """Return the law called ``name`` (a key of :data:`LAWS`), or the law given; raise ValueError for an unknown name.

    >>> law("fsl").names
    ('L0', 'A', 'B', 's', 'c', 'gamma', 'c_e', 'p')
    """
    if isinstance(name, Law):
        return name
    return LAWS[one_of("law", name, LAWS, f"unknown law {name!r}; the names are {', '.join(LAWS)}")]()
