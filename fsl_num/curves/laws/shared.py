"""What laws share: parameters, and bounds and starts of those with a memory 1 - (1 + c t)^-gamma."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from fsl_num.curves.laws.base import Law, Parameter, linear
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

FASTEST: Final = 10.0
"""The fastest memory, in units of 1/peak: within a tenth of an update it is gone, like any faster one."""

_SLOWEST = 0.05  # in units of 1/T: a slower memory looks the same with another strength

LIMIT: Final = linear("L0", "L_0", "loss that no training of this model removes")
LEARNT: Final = linear("A", "A", "loss still to be learnt when the rates sum to 1")
SUM_EXPONENT: Final = Parameter("kappa", r"\kappa", "1", "exponent of the sum of rates", 0.02, 4.0, scale="log")
SIGNAL_EXPONENT: Final = Parameter(
    "s", "s", "1", "difficulty of the task: the signal falls like T^-s", 0.02, 4.0, scale="log"
)
SPEED: Final = Parameter(
    "c", "c", "1/intrinsic time", "how fast noise begins to be forgotten", 0.0, np.inf, scale="log"
)
SIGNAL_SPEED: Final = Parameter(
    "c_e", "c_e", "1/intrinsic time", "how fast the signal begins to fall", 0.0, np.inf, scale="log"
)
GAMMA: Final = Parameter("gamma", r"\gamma", "1", "tail of the memory, 1 - 1/beta", 0.001, 20.0, scale="log")
FASTEST_PEAK: Final = Parameter(
    "P_c", "P_c", "learning rate", "largest rate of runs that learn the most a step", 0.0, np.inf, scale="log"
)


def memory_bounds(parameters: Sequence[Parameter], plans: Sequence[Plan], *speeds: str) -> tuple[Array, Array]:
    """Return the bounds of the parameters, those of the ``speeds`` (names) from the plans.

    >>> low, high = memory_bounds([SPEED, SIGNAL_SPEED], [Plan([0.1] * 10)], "c", "c_e")
    >>> low.round(9).tolist(), high.round(9).tolist()
    ([0.05, 0.05], [100.0, 100.0])
    """
    longest = max(float(plan.times[-1]) for plan in plans)
    fastest = FASTEST / min(plan.peak for plan in plans)
    low = np.array([_SLOWEST / longest if parameter.name in speeds else parameter.lower for parameter in parameters])
    high = np.array([fastest if parameter.name in speeds else parameter.upper for parameter in parameters])
    return low, high


def peak_bounds(reference: float) -> tuple[float, float]:
    """Return the bounds of P_c from the reference of the peak rates.

    >>> peak_bounds(0.5)
    (0.01, 500.0)
    """
    return 0.02 * reference, 1e3 * reference


def shortened(peak: Any, fastest: Any, reference: float) -> tuple[Any, Any]:
    """Return the logarithm of what divides the rates of runs with such a largest rate, and its derivative by P_c.

    ``fastest``: P_c; ``reference``: P_ref.

    >>> [round(float(length), 3) for length in shortened(0.3, 0.1, 0.1)]
    [1.386, -5.0]
    """
    of_peak, of_reference = (rate / (fastest + rate) for rate in (peak, reference))
    return 2.0 * (np.log1p(-of_reference) - np.log1p(-of_peak)), 2.0 * (of_reference - of_peak) / fastest


def memory_starts(plans: Sequence[Plan]) -> Array:
    """Return ten starts of (s, c, gamma): c in units of 1/T.

    >>> memory_starts([Plan([0.1] * 10)]).shape
    (10, 3)
    """
    longest = max(float(plan.times[-1]) for plan in plans)
    grid = [
        (0.5, 300.0, 0.5),
        (0.5, 1000.0, 0.4),
        (0.3, 100.0, 0.7),
        (0.8, 300.0, 0.5),
        (0.5, 30.0, 1.0),
        (0.3, 3000.0, 0.3),
        (0.2, 300.0, 0.5),
        (0.5, 10.0, 0.5),
        (1.0, 30.0, 0.8),
        (0.4, 3.0, 1.0),
    ]
    fastest = 0.5 * FASTEST / min(plan.peak for plan in plans)
    return np.array([(s, min(c / longest, fastest), g) for s, c, g in grid])


def size_column(plans: Sequence[Plan]) -> Array:
    """Return the model size of every recorded step; raise ValueError where a plan has none.

    >>> size_column([Plan([0.1], model_size=10.0)]).tolist()
    [10.0]
    """
    for plan in plans:
        if plan.model_size is None:
            raise ValueError(
                f"the law needs the model size of every curve, and {plan.name!r} has none: give model_size="
                " (--model-size M)"
            )
    return np.concatenate([np.full(plan.recorded.size, plan.model_size, dtype=np.float64) for plan in plans])


def rescaled(law: Law, theta: Array, noise: Any, speed: Any, *without: str) -> Array:
    """Return parameters, shape (..., parameters), of more noise and faster time, and ``without`` some of them.

    ``noise`` and ``speed``: logarithms of the factors of B and E, and of c and c_e, one for all or shape (...).

    >>> from fsl_num.curves.laws import FunctionalLaw
    >>> law = FunctionalLaw(peaks=True)
    >>> rescaled(law, np.array([2, 0.5, 0.4, 0.5, 8, 0.5, 4, 1.0, 0.1]), np.log(0.5), np.log(2.0), "P_c").tolist()
    [2.0, 0.5, 0.2, 0.5, 16.0, 0.5, 8.0, 1.0]
    """
    scaled, place = np.array(theta, dtype=np.float64), {name: index for index, name in enumerate(law.names)}
    for name, factor in {"B": noise, "E": noise, "c": speed, "c_e": speed}.items():
        if name in place:
            scaled[..., place[name]] *= np.exp(factor)
    return np.delete(scaled, [place[name] for name in without if name in place], axis=-1)
