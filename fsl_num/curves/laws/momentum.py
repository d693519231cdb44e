r"""The momentum law of Tissue et al. (2024).

    L(k) = L0 + A S1(k)^-kappa - C S2(k),   S2(k) = sum_{i<=k} sum_{j<=i} (eta_{j-1} - eta_j) lambda^(i-j).

The inner sums over i are geometric: a change at update j counts (1 - lambda^(k-j+1))/(1 - lambda) after update k.
Changes during warmup are no sources, as in the authors' use of the law after warmup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear
from fsl_num.curves.laws.memory import changes
from fsl_num.curves.laws.pairs import Pairs
from fsl_num.curves.laws.shared import LEARNT, LIMIT, SUM_EXPONENT
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array


@dataclass(frozen=True)
class MomentumLaw(Law):
    """The momentum law; see the module.

    >>> law = MomentumLaw()
    >>> law.predict([0.1, 0.1, 0.05, 0.05], {"L0": 2, "A": 0, "C": 1, "kappa": 0.5, "decay": 0.5}).round(9).tolist()
    [2.0, 2.0, 1.95, 1.925]
    """

    name: ClassVar[str] = "momentum"
    title: ClassVar[str] = "Momentum law"
    formula: ClassVar[str] = r"L_0 + A\,S_1^{-\kappa} - C \sum_{i\le k}\sum_{j\le i} (\eta_{j-1}-\eta_j)\,\lambda^{i-j}"
    source: ClassVar[str] = "Tissue et al. 2024, as quoted in the related work of the paper"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """L0, A, C, kappa, decay (lambda)."""
        return (
            LIMIT,
            LEARNT,
            linear("C", "C", "loss that the annealing area removes", "loss/(rate update)"),
            SUM_EXPONENT,
            Parameter("decay", r"\lambda", "1", "memory of the annealing momentum", 0.1, 0.9999999, scale="gap"),
        )

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts: memories from a hundredth of the longest plan down."""
        longest = max(plan.rates.size for plan in plans)
        spans = np.maximum(longest * np.array([0.02, 0.1, 0.005, 0.5, 0.001]), 2.0)
        return np.array([(kappa, 1.0 - 1.0 / span) for kappa in (0.5, 0.25) for span in spans])

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        log_time = np.log(np.concatenate([plan.intrinsic_time for plan in plans]))
        parts = []
        low = 0
        for plan in plans:
            rows = slice(low, low + plan.recorded.size)
            low = rows.stop
            past = changes(plan, plan.warmup + 1, detail)
            change = past.of(plan.rates)
            changed = change != 0.0
            parts.append((rows, Pairs(plan.recorded.astype(np.float64), past.position[changed]), change[changed]))

        def columns(theta: Array) -> tuple[Array, Array]:
            kappa, decay = theta
            log_decay, gap = np.log(decay), 1.0 - decay
            x, slopes = np.zeros((log_time.size, 3)), np.zeros((log_time.size, 2, 3))
            x[:, 0], x[:, 1] = 1.0, np.exp(-kappa * log_time)
            slopes[:, 0, 1] = -x[:, 1] * log_time
            for rows, pairs, change in parts:

                def kernel(age: Array, part: slice, change: Array = change) -> Array:
                    lost = -np.expm1(age * log_decay)
                    slope = lost / gap - age * (1.0 - lost) / decay
                    return np.asarray(np.stack([change[part] * lost, change[part] * slope]) / gap)

                x[rows, 2], slopes[rows, 1, 2] = pairs.summed(kernel, 2)
            return x, slopes

        return Bound(columns, 3)
