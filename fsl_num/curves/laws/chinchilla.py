r"""The Chinchilla law of Hoffmann et al. (2022): final losses over model size and data.

    L(M, D) = L0 + A1 M^-kappa1 + A2 D^-kappa2.

It says nothing of the way there: only the last recorded step of a curve counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear, power
from fsl_num.curves.laws.shared import size_column
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array


@dataclass(frozen=True)
class ChinchillaLaw(Law):
    """The Chinchilla law; the data of a plan are its batch sizes summed.

    >>> final = Plan([0.1] * 100, [100], batch_sizes=1e4, model_size=1e6)
    >>> ChinchillaLaw().predict(final, {"L0": 1, "A1": 1000, "A2": 1000, "kappa1": 0.5, "kappa2": 0.5}).tolist()
    [3.0]
    """

    name: ClassVar[str] = "chinchilla"
    title: ClassVar[str] = "Chinchilla law"
    formula: ClassVar[str] = r"L_0 + A_1 M^{-\kappa_1} + A_2 D^{-\kappa_2}"
    source: ClassVar[str] = "Hoffmann et al. 2022, as quoted in the related work of the paper"
    final_only: ClassVar[bool] = True

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """L0, A1, A2, kappa1, kappa2."""
        return (
            linear("L0", "L_0", "loss of an infinite model after infinite data"),
            linear("A1", "A_1", "what a model of one parameter lacks"),
            linear("A2", "A_2", "what one unit of data lacks"),
            Parameter("kappa1", r"\kappa_1", "1", "exponent of the model size", 0.01, 3.0, scale="log"),
            Parameter("kappa2", r"\kappa_2", "1", "exponent of the data", 0.01, 3.0, scale="log"),
        )

    @property
    def size_term(self) -> tuple[str, ...]:
        """L0, its coefficient and its exponent."""
        return "L0", "A1", "kappa1"

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts."""
        return np.array([(a, b) for a in (0.3, 0.15, 0.6, 0.05, 1.2) for b in (0.3, 0.6)])

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        sizes, data = size_column(plans), np.concatenate([plan.data for plan in plans])

        def columns(theta: Array) -> tuple[Array, Array]:
            x, slopes = np.ones((data.size, 3)), np.zeros((data.size, 2, 3))
            x[:, 1], slopes[:, 0, 1] = power(sizes, theta[0])
            x[:, 2], slopes[:, 1, 2] = power(data, theta[1])
            return x, slopes

        return Bound(columns, 3)
