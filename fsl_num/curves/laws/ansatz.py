r"""The paper's ansatz for loss curves of language models, with and without the model size.

    L(k) = L0 + c1 T(k)^-s - c2 sum_{i<=k} (eta_{i-1} - eta_i) (c3 + T(i)^-s) (1 - (1 + c4 (T(k) - T(i)))^-gamma)

It is fitted as linear in c1, c23 = c2 c3 and c2: in the printed form c3 runs off to infinity while c2 goes to 0
wherever the data do not see the term T(i)^-s, and the condition number reaches 1e10. Changes during warmup are no
sources, as T(i)^-s is not bounded there. T(i) is the sum of the rates before update i, the first one with the changed
rate: there the change takes effect, and there summation by parts puts it; the paper prints the time one update later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear, power
from fsl_num.curves.laws.memory import Memory, changes, mode_rates, power_memory
from fsl_num.curves.laws.shared import FASTEST, LIMIT, SIGNAL_EXPONENT, memory_bounds, memory_starts, size_column
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array


@dataclass(frozen=True)
class AnsatzLaw(Law):
    """The practical ansatz of the paper; ``sizes`` adds c5 M^-(s beta).

    >>> AnsatzLaw().predict([0.1] * 3, {"L0": 2, "c1": 0.3, "c23": 1, "c2": 1, "s": 1, "c4": 1, "gamma": 1}).round(9)
    array([5. , 3.5, 3. ])
    """

    sizes: bool = False

    title: ClassVar[str] = "FSL ansatz"
    formula: ClassVar[str] = (
        r"L_0 + c_1 T(k)^{-s} - \sum_{i\le k} (\eta_{i-1}-\eta_i)\,(c_{23} + c_2 T(i)^{-s})"
        r"\,(1 - (1 + c_4(T(k)-T(i)))^{-\gamma}),\quad c_{23} = c_2 c_3"
    )
    source: ClassVar[str] = "eqn: fsl-ansatz"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in the table of laws."""
        return "fsl-ansatz-sizes" if self.sizes else "fsl-ansatz"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """L0, c1, c23, c2, [c5], s, c4, gamma, [beta]."""
        parameters = [
            LIMIT,
            linear("c1", "c_1", "signal at intrinsic time 1"),
            linear("c23", "c_2 c_3", "loss that a unit drop of the learning rate removes in the end", "loss/rate"),
            linear("c2", "c_2", "the same from the signal not yet learnt, at intrinsic time 1", "loss/rate"),
        ]
        if self.sizes:
            parameters.append(linear("c5", "c_5", "what a model of one parameter cannot represent"))
        parameters += [
            SIGNAL_EXPONENT,
            Parameter(
                "c4", "c_4", "1/intrinsic time", "how fast noise begins to be forgotten", 0.0, np.inf, scale="log"
            ),
            Parameter("gamma", r"\gamma", "1", "tail of the memory, 1 - 1/beta", 0.02, 5.0, scale="log"),
        ]
        if self.sizes:
            parameters.append(Parameter("beta", r"\beta", "1", "capacity exponent", 0.01, 20.0, scale="log"))
        return tuple(parameters)

    @property
    def size_term(self) -> tuple[str, ...]:
        """L0, its coefficient and its exponent."""
        return ("L0", "c5", "beta") if self.sizes else ()

    def bounds(self, plans: Sequence[Plan]) -> tuple[Array, Array]:
        """The bounds of the parameters; those of c4 from the length of the plans and their largest rate."""
        return memory_bounds(self.parameters, plans, "c4")

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts."""
        size_start = [1.0] if self.sizes else []
        return np.array([[*start, *size_start] for start in memory_starts(plans)])

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        plans = list(plans)
        mu = mode_rates(plans, FASTEST / min(plan.peak for plan in plans))
        log_time = np.log(np.concatenate([plan.intrinsic_time for plan in plans]))
        parts = []
        low = 0
        for plan in plans:
            past = changes(plan, plan.warmup + 1, detail)
            past = past.only(past.of(plan.rates) != 0.0)
            rows = slice(low, low + plan.recorded.size)
            low = rows.stop
            if past.time.size:
                parts.append((rows, Memory(plan.intrinsic_time, past, mu), past.of(plan.rates), np.log(past.time)))
        count = self.linear_count
        nonlinear = len(self.parameters) - count
        sizes = size_column(plans) if self.sizes else None

        def columns(theta: Array) -> tuple[Array, Array]:
            s, c, gamma = theta[:3]
            weights = power_memory(mu, c, gamma)
            x, slopes = np.zeros((log_time.size, count)), np.zeros((log_time.size, nonlinear, count))
            x[:, 0] = 1.0
            x[:, 1] = np.exp(-s * log_time)
            slopes[:, 0, 1] = -x[:, 1] * log_time
            for rows, memory, change, log_then in parts:
                signal = change * np.exp(-s * log_then)
                responses = memory.response(np.stack([change, signal, -signal * log_then]), weights)
                for column in (2, 3):
                    x[rows, column], slopes[rows, 1, column], slopes[rows, 2, column] = responses[:, column - 2].T
                slopes[rows, 0, 3] = responses[:, 2, 0]
            if sizes is not None:
                value, by_exponent = power(sizes, s * theta[-1])
                x[:, 4], slopes[:, 0, 4], slopes[:, -1, 4] = value, by_exponent * theta[-1], by_exponent * s
            return x, slopes

        return Bound(columns, count)
