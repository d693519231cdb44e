"""What most claims of the paper assume, and measurements that say so."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from itertools import product
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.words import Assumed, Kinds, Where

SPECTRUM = Where("lambda_j = j^-beta with beta > 1")
TARGET = Where("theta_j^2 = j^-1 lambda_j^(s-1) with s > 0")
MODEL = Where("lambda_j = j^-beta with beta > 1; theta_j^2 = j^-1 lambda_j^(s-1) with s > 0")
LABELS = "sigma and B the same along a ray"
ORDER_OF_LAW = Assumed(
    "the excess risk is of the order of its law, and the logarithms in that are of the order of the budget's",
    "the optimum is one of orders: that they are the risk's is what the claims about the laws measure",
)
"""Of claims whose numbers are least values of a law."""
INFINITE = "M = oo"
"""Infinitely many features: compared with the M that the measurement names."""


FEATURES = Kinds("features", {"gaussian": "normal", "uniform": "uniform", "rademacher": "sign", "laplace": "Laplace"})
"""The laws of independent features, as measurements call them."""
SCHEDULES = Kinds("schedules", {
    "constant": "constant", "cosine": "cosine", "linear": "linear", "exp-decay": "exponential", "wsd": "WSD",
    "8-1-1": "8-1-1", "cyclic": "cyclic", "early drop": "early-dropping", "step down": "stepwise falling",
    "linear-wsd": "WSD (linear in the last fifth, to a tenth)",
    "oscillation": "oscillating", "burst then zero": "early ending", "adversary": "adversarial",
})  # fmt: skip
"""Learning-rate schedules, as measurements call them."""
PROJECTIONS = Kinds("projections W", {"all": "identical", "first": "first-feature", "random": "normal"})
"""What maps all features to those of a model: all, the first M, or as many normal mixtures."""
Letters = Mapping[str, Any] | Callable[[Sample], Mapping[str, Any]]


def located(letters: Letters) -> Callable[[Callable[[Sample], Any]], Callable[[Sample], Located]]:
    """What makes of a measurement one that names letters of the hypotheses, or kinds of things.

    >>> located({"M": (2, 3)})(lambda sample: [1.0])(None)
    Located(values=[1.0], letters={'M': (2, 3)})
    """

    def of(measure: Callable[[Sample], Any]) -> Callable[[Sample], Located]:
        @wraps(measure)  # the measurement is where it is written, for those who look it up
        def beside(sample: Sample) -> Located:
            return Located(measure(sample), letters(sample) if callable(letters) else letters)

        return beside

    return of


def of_family(measure: Callable[[str, Sample], Any], family: str) -> Callable[[Sample], Located]:
    """A measurement of the features of one law, which names the law."""
    return located({FEATURES.name: family})(partial(measure, family))


def every(values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Letters of which each value is measured with each of the others.

    >>> every({"M": (2, 3), "c": (0.1, 0.2)})["M"].tolist()
    [2, 2, 3, 3]
    """
    return dict(zip(values, map(np.array, zip(*product(*values.values()), strict=True)), strict=True))


of_infinite_size = located({"M": math.inf})
"""A measurement of infinitely many features, which names their number."""
of_unit_noise = located({"M": math.inf, "sigma": 1.0, "B": 1.0})
"""One of infinitely many features with label noise of variance 1, a sample at a time."""
of_constant_rate = located({SCHEDULES.name: "constant"})
"""A measurement at a constant rate."""
