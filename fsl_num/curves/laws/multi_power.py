r"""The Multi-Power Law of Luo et al. (2024).

    L(k) = L0 + A T(k)^-kappa - C sum_{i<=k} (eta_{i-1} - eta_i) (1 - (1 + C' eta_i^-kappa' (T(k) - T(i-1)))^-kappa'')

with T(k) - T(i-1) the learning rates from update i to update k. The related-work section of the paper prints S_i, the
sum from the start to i, in the place of that sum, which would forget nothing; its authors use the sum from i to k.
Changes during warmup are no sources, unless ``warmup_sources`` (the authors' numbers are without).
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
class MultiPowerLaw(Law):
    """The Multi-Power Law; see the module.

    >>> law = MultiPowerLaw()
    >>> given = {"L0": 3, "A": 0.5, "C": 400, "kappa": 0.5, "C1": 2, "kappa1": 0.5, "kappa2": 0.4}
    >>> float(law.predict([1e-2] * 100, given)[-1])
    3.5
    """

    warmup_sources: bool = False

    name: ClassVar[str] = "multi-power"
    title: ClassVar[str] = "Multi-Power Law"
    formula: ClassVar[str] = (
        r"L_0 + A\,S(k)^{-\kappa} - C \sum_{i\le k} (\eta_{i-1}-\eta_i)"
        r"\,(1 - (1 + C'\eta_i^{-\kappa'} \textstyle\sum_{j=i}^{k}\eta_j)^{-\kappa''})"
    )
    source: ClassVar[str] = "Luo et al. 2024, as quoted in the related work of the paper"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """L0, A, C, kappa, C1 (C'), kappa1 (kappa'), kappa2 (kappa'')."""
        return (
            LIMIT,
            LEARNT,
            linear("C", "C", "loss that a unit drop of the learning rate removes in the end", "loss/rate"),
            SUM_EXPONENT,
            Parameter("C1", "C'", "rate^(kappa' - 1)", "speed of the annealing", 1e-8, 1e8, scale="log"),
            Parameter("kappa1", r"\kappa'", "1", "how a small rate speeds the annealing up", 0.0, 2.0),
            Parameter("kappa2", r"\kappa''", "1", "tail of the annealing", 0.02, 5.0, scale="log"),
        )

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts."""
        peak, longest = max(plan.peak for plan in plans), max(float(plan.times[-1]) for plan in plans)
        grid = [
            (0.5, 100.0, 0.5, 0.5),
            (0.5, 300.0, 0.5, 0.4),
            (0.3, 30.0, 0.7, 0.7),
            (0.8, 100.0, 0.3, 0.5),
            (0.5, 10.0, 0.5, 1.0),
            (0.3, 1000.0, 0.5, 0.3),
            (0.2, 100.0, 0.2, 0.5),
            (0.5, 30.0, 0.9, 0.5),
            (1.0, 30.0, 0.5, 0.8),
            (0.4, 3.0, 0.5, 1.0),
        ]
        # the speed is given in units of 1/T at the peak
        return np.array([(a, speed / longest * peak**k, k, g) for a, speed, k, g in grid])

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        log_time = np.log(np.concatenate([plan.intrinsic_time for plan in plans]))
        parts = []
        low = 0
        for plan in plans:
            rows = slice(low, low + plan.recorded.size)
            low = rows.stop
            first = 0 if self.warmup_sources else plan.warmup + 1
            past = changes(plan, first, detail)
            change = past.of(plan.rates)
            changed = change != 0.0
            rates = plan.rates[past.after[changed]]
            # the rate after the change: where a group of changes ends at 0, the annealing there is immediate
            at = Pairs(plan.intrinsic_time, past.time[changed])
            parts.append((rows, at, change[changed], np.maximum(rates, 1e-30)))

        def columns(theta: Array) -> tuple[Array, Array]:
            kappa, c, k1, k2 = theta
            x, slopes = np.zeros((log_time.size, 3)), np.zeros((log_time.size, 4, 3))
            x[:, 0], x[:, 1] = 1.0, np.exp(-kappa * log_time)
            slopes[:, 0, 1] = -x[:, 1] * log_time
            for rows, pairs, change, rate in parts:
                log_rate = np.log(rate)
                speed = c * np.exp(-k1 * log_rate)

                def kernel(
                    age: Array, part: slice, change: Array = change, speed: Array = speed, log_rate: Array = log_rate
                ) -> Array:
                    reach = speed[part] * age
                    base = np.log1p(reach)
                    value = np.expm1(-k2 * base)  # -(1 - (1 + reach)^-k2)
                    share = -k2 * (value + 1.0) * reach / (1.0 + reach)  # c d/dc of the value
                    return np.stack(
                        [
                            -change[part] * value,
                            -change[part] * share / c,
                            change[part] * share * log_rate[part],
                            change[part] * (value + 1.0) * base,
                        ]
                    )

                sums = pairs.summed(kernel, 4)
                x[rows, 2], slopes[rows, 1, 2], slopes[rows, 2, 2], slopes[rows, 3, 2] = sums
            return x, slopes

        return Bound(columns, 3)
