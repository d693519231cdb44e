"""What most claims of the paper assume, and measurements that say so."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import Located

MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
INFINITE = "M = oo"
"""Infinitely many features: compared with the M that the measurement names."""


def of_infinite_size(measure: Callable[[Sample], Any]) -> Callable[[Sample], Located]:
    """A measurement of infinitely many features, which names their number.

    >>> of_infinite_size(lambda sample: [1.0])(None).letters
    {'M': inf}
    """

    @wraps(measure)  # the measurement is where it is written, for those who look it up
    def located(sample: Sample) -> Located:
        return Located(measure(sample), {"M": math.inf})

    return located
