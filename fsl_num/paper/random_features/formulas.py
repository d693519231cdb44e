"""What statements about random features have in common: symbols, words, and points at which they are tested as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sympy import Expr, Function, Identity, Integral, MatrixSymbol, Rational, Symbol

from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import FEATURES as LAWS
from fsl_num.paper.hypotheses import PROJECTIONS, SCHEDULES
from fsl_num.paper.random_features.letters import FLOOR, KERNEL, LEAKY, NORMAL, SIGNAL, STRENGTH_OF
from fsl_num.paper.random_features.risks import NOISES, SIGMAS
from fsl_sym.proof import Formula, equals, same_order
from fsl_sym.random_features import FEATURES
from fsl_sym.symbols import M, beta, s, sigma, t, z

mu, nu, pi, risk, bias, returned, _gamma = (Function(name) for name in ("mu", "nu", "pi", "E", "b", "G", "gamma"))
small, large, most = (Symbol(name, positive=True) for name in ("c_1", "c_2", "c"))
SPLIT: Final = Symbol("k", positive=True)
DECAYED = Where("A_t = exp(-W'W H t)")
u, identity = MatrixSymbol("u", FEATURES, 1), Identity(FEATURES)
e = Function("e")
HATS = (SIGNAL, KERNEL)
LEFT = (FLOOR, LEAKY)
kernel, leaky, floor_value = Function("K"), Function("etilde"), Symbol("F", positive=True)
VARIANCE = Symbol("v", positive=True)
RANDOM = (NORMAL, equals(VARIANCE, 1 / M), "N = 4M")
TRAINING = (
    LAWS("gaussian"),
    STRENGTH_OF,
    "c = 1/2",
    SCHEDULES("constant", "early drop"),
    "(M/2)^beta <= t <= (2M)^beta",
    SIGMAS(*NOISES),
)
PROBABLE = "at least 1 - exp(-Omega(M)) over W"
OF_SIGNS = (
    f"{PROBABLE}; measured are means of logarithms over the signs of the target, which are equal in law to those of W, "
    "conditional on W exactly"
)
RATE = 0.03
ONE = Rational(1)
AT_ONE = {"easy": ((ONE, Rational(2)), (ONE, Rational(4)))}
STEEPER = AT_ONE | {"edge": ((Rational(3, 4), Rational(4)),)}
EASIER = {"easy": ((ONE, Rational(2)), (Rational(9, 10), Rational(2)), (Rational(6, 5), Rational(5)))}
SMALL = (PROJECTIONS("random"), "M = 3, N = 5", "t = 0.3, 2 and 20")
EDGES = 0.1
"""Extreme eigenvalues of samples come to their limits like M^(-2/3). At beta = 6 the logarithm of the slowest ratio
moves by 0.21 per unit of log M from M = 24 to 96, by 0.11 from 64 to 256, by 0.09 from 96 to 384."""


def square(name: str, size: Symbol = FEATURES) -> MatrixSymbol:
    """A square matrix, of as many rows as there are features unless said."""
    return MatrixSymbol(name, size, size)


A, H, S, R = (square(name) for name in ("A_t", "H", "S", "R"))
left_at = A.T * H * A


def injected(kernel: Expr, source: Expr) -> Integral:
    """The noise that a source injects, with the label noise, as far as it is not forgotten."""
    return Integral(kernel * (source + sigma**2) * _gamma(z), (z, 0, t))


def law(left: Expr | int, signal: Expr, kernel: Expr, source: Expr) -> Formula:
    """E(t) of the order of what is left, the signal, and the noise that the source injects."""
    return same_order(risk(t), left + signal + injected(kernel, source))


MEASURED: Final[Mapping[Expr, str]] = {
    M ** (-s * beta): "M^(-s beta)",
    floor_value: "floor",
    (1 + t) ** -s: "(1 + t)^-s",
    e(t): "signal",
    leaky(t): "signal and leak",
    bias(t): "left",
    injected((1 + t - z) ** (1 / beta - 2), (1 + z) ** -s): "power",
    injected(kernel(t - z), e(z)): "functional",
    injected(kernel(t - z), leaky(z)): "functional with leak",
    injected(kernel(t - z), risk(z)): "volterra",
    injected(returned(t - z), risk(z)): "volterra",
}
"""The terms of a law, and their names along rays; tr(S A_t'HA_t S) is K(t) of the eigenvalues of W H W'."""
