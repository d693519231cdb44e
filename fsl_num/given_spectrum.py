r"""A spectrum given as a list, in place of the power laws of the model: random features give one.

The equation needs only the eigenvalues lambda_j, the signal lambda_j theta_j^2 of each mode and delta, the part of the
target that no mode reaches; the excess risk before training is half of delta and all signals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fsl_num.validation import Array, as_array, give_back, positive, times

_LARGEST = 1e150
_CHUNK = 2_000_000  # numbers at once: 16 MB


@dataclass(frozen=True)
class Spectrum:
    """Finitely many modes.

    ``rates``: the eigenvalues lambda_j > 0, in any order, repetitions allowed. ``weights_signal``: lambda_j theta_j^2
    >= 0, as many. ``tail``: delta >= 0, the error that no training removes (default 0). All finite. Raises ValueError
    or TypeError for anything else.

    >>> spectrum = Spectrum(rates=[1.0, 0.25], weights_signal=[1.0, 0.25], tail=0.1)
    >>> spectrum.size, spectrum.trace
    (2, 1.25)
    >>> spectrum.signal([0.0]).tolist(), spectrum.forgetting_kernel([0.0]).tolist()
    ([1.25], [1.0625])
    """

    rates: Iterable[float]
    weights_signal: Iterable[float]
    tail: float = 0.0

    def __post_init__(self) -> None:
        for name in ("rates", "weights_signal"):
            array = as_array(name, getattr(self, name))
            if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiu":
                raise TypeError(f"{name} must be a list of real numbers, at least one, got {getattr(self, name)!r}")
            array = array.astype(np.float64)
            bad = ~np.isfinite(array) | (array < 0 if name == "weights_signal" else array <= 0)
            if bad.any():
                bound = "at least 0" if name == "weights_signal" else "positive"
                raise ValueError(
                    f"{name} must be finite and {bound}, got {float(array[bad][0])!r} ({int(bad.sum())} such values)"
                )
            if array.max() > _LARGEST:
                raise ValueError(f"{name} must be at most {_LARGEST:g} (squares overflow), got {float(array.max())!r}")
            object.__setattr__(self, name, tuple(array.tolist()))
        object.__setattr__(self, "tail", positive("tail", self.tail, zero=True))
        if len(self.eigenvalues) != len(self.signals):
            raise ValueError(
                "rates and weights_signal must be of one length, for each mode has one of each,"
                f" got {len(self.eigenvalues)} and {len(self.signals)}"
            )

    @cached_property
    def eigenvalues(self) -> Array:
        """The eigenvalues as an array."""
        return np.array(self.rates)

    @cached_property
    def signals(self) -> Array:
        """The signal of each mode as an array."""
        return np.array(self.weights_signal)

    @property
    def size(self) -> int:
        """The number of modes."""
        return len(self.eigenvalues)

    @property
    def trace(self) -> float:
        """tr H, the sum of the eigenvalues."""
        return math.fsum(self.rates)

    def signal(self, t: Any) -> Any:
        """Return sum_j lambda_j theta_j^2 exp(-2 lambda_j t), t >= 0 a number or an array."""
        return self._sum(t, self.signals)

    def forgetting_kernel(self, t: Any) -> Any:
        """Return sum_j lambda_j^2 exp(-2 lambda_j t), t >= 0 a number or an array."""
        return self._sum(t, self.eigenvalues**2)

    def _sum(self, t: Any, weights: Array) -> Any:
        array, scalar = times("t", t)
        flat = array.ravel()
        rows = max(1, _CHUNK // self.size)
        parts = [
            np.exp(np.multiply.outer(flat[i : i + rows], -2.0 * self.eigenvalues)) @ weights
            for i in range(0, flat.size, rows)
        ]
        return give_back((np.concatenate(parts) if parts else flat).reshape(array.shape), scalar)
