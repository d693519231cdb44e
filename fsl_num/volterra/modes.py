"""The forgetting kernel as a short sum of decaying exponentials, K(t) = sum_k w_k exp(-2 mu_k t) on [0, horizon].

A model of moderate size is its own such sum. A larger or infinite one is shortened by :mod:`fsl_num.compression`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fsl_num.compression import ALL_MODES, Modes, compress

__all__ = ["ALL_MODES", "Modes", "kernel_modes"]


@lru_cache(maxsize=32)
def kernel_modes(beta: float, model_size: float, horizon: float) -> Modes:
    """Return modes of K_M alone on [0, horizon]; its relative error there is proved, 0 where every mode is kept.

    ``beta`` > 1, ``model_size`` M >= 1 or inf, ``horizon`` > 0 an intrinsic time, finite where M is infinite; raises
    ValueError as :func:`fsl_num.compression.compress` does. Source: K_M in equation eqn: fsl of the paper.

    >>> modes = kernel_modes(2.0, float("inf"), 1e6)
    >>> modes.error < 1e-13 and len(modes.rates) < 80
    True
    """
    if model_size <= ALL_MODES:
        rates = np.arange(1, int(model_size) + 1, dtype=np.float64) ** -beta
        return Modes(rates, rates**2, 0.0, horizon=horizon)
    # With this s the signal is the kernel, so that no mode is there for the signal alone.
    modes = compress(2.0 - 1.0 / beta, beta, model_size, horizon)
    used = modes.kernel_weights > 0.0
    return Modes(
        modes.rates[used], modes.kernel_weights[used], modes.error, horizon=horizon, kernel_after=modes.kernel_after
    )
