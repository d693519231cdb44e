"""The functional scaling law as symbolic values: with the sums of the model, with powers of 1 + t, and its parts.

>>> from fsl_num.paper.functional.formulas import functional, POWERS
>>> functional(POWERS).has(Integral)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sympy import Expr, Function, Integral, oo

from fsl_sym.proof import Formula
from fsl_sym.spectrum import forgetting_kernel, signal
from fsl_sym.symbols import E, M, beta, s, sigma, t, z

GAMMA: Final = Function("gamma", nonnegative=True)
"""The effective learning rate at intrinsic time."""


@dataclass(frozen=True)
class Pair:
    """A signal and a forgetting kernel, as functions of intrinsic time."""

    signal: str
    kernel: str

    def at(self, time: Expr) -> tuple[Expr, Expr]:
        """(signal, kernel) at a time."""
        sums = {"M": (signal(time), forgetting_kernel(time))}
        sums["infinity"] = (signal(time, oo), forgetting_kernel(time, oo))
        sums["powers"] = ((1 + time) ** -s, (1 + time) ** (1 / beta - 2))
        return sums[self.signal][0], sums[self.kernel][1]


MODEL_PAIR, INFINITE_PAIR, POWERS = Pair("M", "M"), Pair("infinity", "infinity"), Pair("powers", "powers")
MIXED_PAIR: Final = Pair("M", "infinity")


def noise(pair: Pair, *, label: bool = True, signal_too: bool = True) -> Integral:
    """int_0^t K(t - z) [e(z) + sigma^2] gamma(z) dz, or one of its two parts."""
    parts = ([pair.at(z)[0]] if signal_too else []) + ([sigma**2] if label else [])
    return Integral(pair.at(t - z)[1] * sum(parts[1:], parts[0]) * GAMMA(z), (z, 0, t))


def functional(pair: Pair, *, label: bool = True, signal_too: bool = True) -> Expr:
    """M^-(s beta) + e(t) and the noise."""
    learned = M ** (-s * beta) + pair.at(t)[0]
    return learned + noise(pair, label=label, signal_too=signal_too) if label or signal_too else learned


def risk_is(order: Expr, relation: str = "~") -> Formula:
    """The expected excess risk is of an order, or of at most it."""
    return Formula(E, relation, order)


LAW = functional(MODEL_PAIR)

_SUFFIXES: Final = ((MODEL_PAIR, "", ""), (INFINITE_PAIR, "_inf", "_inf"), (POWERS, "_inf", "_inf"),
                    (MIXED_PAIR, "_inf", "_mixed"))  # fmt: skip
MEASURED: Final[Mapping[Expr, str]] = {
    M ** (-s * beta): "delta",
    **{pair.at(t)[0]: "e" if pair.signal == "M" else "e_inf" for pair, _, _ in _SUFFIXES},
    **{noise(pair, signal_too=False): f"label{suffix}" for pair, suffix, _ in _SUFFIXES},
    **{noise(pair, label=False): f"batch{suffix}" for pair, _, suffix in _SUFFIXES},
}
"""The terms of a law, and their names along rays; powers of 1 + t are measured as the sums of which they are orders."""
