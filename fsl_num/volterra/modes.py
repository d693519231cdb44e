"""The forgetting kernel as a short sum of decaying exponentials, K(t) = sum_k w_k exp(-2 mu_k t) on [0, horizon].

A model of moderate size is its own such sum. A larger or infinite one is shortened by :mod:`fsl_num.compression`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fsl_num.compression import compress
from fsl_num.validation import Array

ALL_MODES = 100
"""Models up to this size keep every mode."""


@dataclass(frozen=True)
class Modes:
    """Rates mu_k and weights w_k > 0; ``error`` is the relative error of K on [0, horizon]."""

    rates: Array
    weights: Array
    error: float


@lru_cache(maxsize=32)
def kernel_modes(beta: float, model_size: float, horizon: float) -> Modes:
    """Return modes of K_M on [0, horizon], with a relative error verified over that range.

    >>> modes = kernel_modes(2.0, float("inf"), 1e6)
    >>> modes.error < 1e-12 and len(modes.rates) < 100
    True
    """
    if model_size <= ALL_MODES:
        rates = np.arange(1, int(model_size) + 1, dtype=np.float64) ** -beta
        return Modes(rates, rates**2, 0.0)
    # With this s the signal is the kernel, so that no mode is there for the signal alone.
    found = compress(2.0 - 1.0 / beta, beta, model_size, horizon)
    used = found.kernel_weights > 0.0
    return Modes(found.rates[used], found.kernel_weights[used], found.error)
