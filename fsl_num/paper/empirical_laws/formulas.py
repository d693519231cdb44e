"""What the statements about loss curves and schedules have in common, as symbolic values.

>>> print(GAIN)
g(t) is sigma^2 + e(t)
"""

from __future__ import annotations

from typing import Any, Final

from sympy import Derivative, Expr, Function, Integral, Sum, Symbol

from fsl_num.claims.words import Where
from fsl_num.paper.empirical_laws.measurements import noise_source
from fsl_num.paper.model.formulas import continuous
from fsl_sym.ansatz import c, clock, end, k, kernel, past, phi, rate, source, v, whole
from fsl_sym.proof import AllOf, Formula, Hypothesis, equals, everywhere
from fsl_sym.symbols import beta

Stated = tuple[Formula | AllOf, tuple[Hypothesis | str, ...]]
"""A formula, and what it assumes."""
POWER: Final = 1 - 1 / beta
j = Symbol("j", integer=True, positive=True)
r = Symbol("r", nonnegative=True)
GAIN = Where(
    "g(t) is sigma^2 + e(t)",
    lambda sample: {
        "g": noise_source(sample.point[0], 9.0), "e": noise_source(sample.point[0], 0.0), "sigma": 3.0, "t": 2.0
    },
)  # fmt: skip
CLOCK: Final[tuple[Hypothesis | str, ...]] = (
    everywhere(equals(Derivative(clock(v), v), phi(v)), v),
    equals(clock(0), 0),
    equals(clock(end), whole),
    *continuous("T", "phi", "K", "g"),
)
SMOOTH: Final[tuple[Hypothesis | str, ...]] = (*CLOCK, *continuous(slopes=("phi",)), GAIN)
e = Function("e")
L, L0, A, A1, A2, kappa, kappa1, kappa2 = (
    Symbol(name, positive=True) for name in ("L", "L_0", "A", "A_1", "A_2", "kappa", "kappa_1", "kappa_2")
)
GONE_BY = Sum(rate(j), (j, 1, k))
peak, rho = Symbol("eta_max", positive=True), Symbol("rho", positive=True)
share, best, best_known = Symbol("w", positive=True), Symbol("L_opt", real=True), Symbol("L_known", real=True)


def injected(time: Any) -> Expr:
    """K(T(k) - T(u)) g(T(u)) at the time u."""
    return kernel(whole - clock(time)) * source(clock(time))


def noise_from(start: Any) -> Integral:
    """The integral of K(T(k) - t) g(t) from an intrinsic time to T(k)."""
    return Integral(kernel(whole - past) * source(past), (past, start, whole))


def power_kernel_at(time: Any) -> Expr:
    """(1 + c time)^-(2 - 1/beta)."""
    return (1 + c * time) ** (1 / beta - 2)
