r"""The functional scaling law in physical time, with the exponents given and only its constants to be found.

    L(k) = L0 + c1 e(T(k)) + c2 sum_{i<=k} K(T(k) - T(i)) e(T(i)) eta_i^2/B_i + c3 sum_{i<=k} K(T(k) - T(i)) eta_i^2/B_i

with K(t) = (1 + x)^-(2 - 1/beta), e(t) = (1 + x)^-s, x = t/unit. All parameters are linear, so that ordinary least
squares has one answer. (The appendix on averaged runs of stochastic gradient descent prints T^-s for the first term,
which has no value at T = 0; L0 is 0 for an excess risk.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear
from fsl_num.curves.laws.memory import Memory, changes, mode_rates, power_memory
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array, capacity_exponent, positive


@dataclass(frozen=True)
class PhysicalTimeLaw(Law):
    """The law for given ``s`` > 0, ``beta`` > 1 and ``unit`` of intrinsic time (1: the largest eigenvalue is 1).

    >>> law = PhysicalTimeLaw(s=1.0, beta=2.0)
    >>> law.predict([0.5, 0.5], {"L0": 0, "c1": 1, "c2": 0, "c3": 0}).round(9).tolist()
    [0.666666667, 0.5]
    """

    s: float = 0.5
    beta: float = 2.0
    unit: float = 1.0

    name: ClassVar[str] = "fsl-physical"
    title: ClassVar[str] = "Functional scaling law in physical time"
    formula: ClassVar[str] = (
        r"L_0 + c_1 e(T(k)) + c_2 \sum_{i\le k} K(T(k)-T(i))\,e(T(i))\,\eta_i^2/B_i"
        r" + c_3 \sum_{i\le k} K(T(k)-T(i))\,\eta_i^2/B_i"
    )
    source: ClassVar[str] = "appendix on averaged runs of stochastic gradient descent"

    def __post_init__(self) -> None:
        object.__setattr__(self, "s", positive("s", self.s))
        object.__setattr__(self, "beta", capacity_exponent(self.beta))
        object.__setattr__(self, "unit", positive("unit", self.unit))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """L0, c1, c2, c3."""
        return (
            linear("L0", "L_0", "loss that no training removes"),
            linear("c1", "c_1", "signal"),
            linear("c2", "c_2", "noise from the signal not yet learnt", "loss batch/rate^2"),
            linear("c3", "c_3", "noise of the labels", "loss batch/rate^2"),
        )

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """One start: nothing is nonlinear."""
        return np.zeros((1, 0))

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        mu = mode_rates(plans, 1.0 / self.unit)
        weights = self._kernel(mu)
        parts = []
        for plan in plans:
            x = np.ones((plan.recorded.size, 4))
            x[:, 1] = (1.0 + plan.intrinsic_time / self.unit) ** -self.s
            past = changes(plan, detail=detail)
            injected = plan.rates**2 / plan.batch_sizes
            signal = (1.0 + plan.times[1:] / self.unit) ** -self.s
            sources = np.stack([self._summed(injected * signal, past), self._summed(injected, past)])
            # an update injects its noise at its own end: T(i) includes eta_i
            ends = np.concatenate([plan.times[1:], plan.times[-1:]])
            late = np.asarray(np.interp(0.5 * (past.before + 1 + past.after), np.arange(ends.size), ends))
            moved = type(past)(past.before, past.after, late, past.position, past.seen)
            x[:, 2:] = Memory(plan.intrinsic_time, moved, mu).held(sources, weights)[:, :, 0]
            parts.append(x)
        table = np.concatenate(parts)
        none = np.zeros((table.shape[0], 0, 4))
        return Bound(lambda theta: (table, none), 4)

    def _kernel(self, mu: Array) -> Array:
        """Weights of (1 + x)^-a for a = 2 - 1/beta > 1, whose sum is 1."""
        return power_memory(mu, 1.0 / self.unit, 2.0 - 1.0 / self.beta)[:1]

    @staticmethod
    def _summed(values: Array, past: object) -> Array:
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[past.after + 1] - total[past.before + 1])  # type: ignore[attr-defined]
