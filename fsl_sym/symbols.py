"""Every symbol of the paper once, with its assumptions, its range and its meaning.

The assumptions that sympy can hold (positivity) are on the symbols; the ranges that it cannot hold (``beta > 1``) are
in :data:`RANGES`, from which :mod:`fsl_sym.domain` reads them.

>>> from fsl_sym.symbols import MEANINGS, beta
>>> beta.is_positive
True
>>> MEANINGS[beta]
'capacity exponent: lambda_j = j^-beta'
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from sympy import Integer, Rational, Symbol

s: Final = Symbol("s", positive=True)
beta: Final = Symbol("beta", positive=True)
M: Final = Symbol("M", positive=True)
N: Final = Symbol("N", positive=True)
D: Final = Symbol("D", positive=True)
C: Final = Symbol("C", positive=True)
B: Final = Symbol("B", positive=True)
E: Final = Symbol("E", positive=True)
K: Final = Symbol("K", positive=True)
K0: Final = Symbol("K_0", positive=True)
K1: Final = Symbol("K_1", positive=True)
K2: Final = Symbol("K_2", positive=True)
a: Final = Symbol("a", positive=True)
b: Final = Symbol("b", positive=True)
p: Final = Symbol("p", positive=True)
r: Final = Symbol("r", positive=True)
t: Final = Symbol("t", positive=True)
z: Final = Symbol("z", positive=True)
T: Final = Symbol("T", positive=True)
T1: Final = Symbol("T_1", positive=True)
T2: Final = Symbol("T_2", positive=True)
tau: Final = Symbol("tau", nonnegative=True)
zeta_rate: Final = Symbol("zeta", positive=True)
lam: Final = Symbol("lambda", positive=True)
gamma: Final = Symbol("gamma", positive=True)
sigma: Final = Symbol("sigma", nonnegative=True)
j: Final = Symbol("j", integer=True, positive=True)

MEANINGS: Final = MappingProxyType(
    {
        s: "relative task difficulty: theta_j^2 = j^-1 lambda_j^(s-1)",
        beta: "capacity exponent: lambda_j = j^-beta",
        M: "model size: number of features",
        N: "number of features of the target, or a budget that grows",
        D: "data size: D = B K",
        C: "compute: C = M D",
        B: "batch size",
        E: "excess risk, half of the loss above that of the target",
        K: "number of training steps (the step of the schedule, h = 1)",
        K0: "timescale of the inverse square root a/sqrt(1 + tau/K_0), in steps",
        K1: "number of steps of the stable phase",
        K2: "number of steps of the decay phase",
        a: "peak learning rate",
        b: "final learning rate",
        p: "exponent of the power decay a (1 - tau/K)^p",
        r: "fraction of the training steps spent in the decay phase",
        t: "intrinsic time",
        z: "intrinsic time at which noise is injected",
        T: "total intrinsic time",
        T1: "intrinsic time of the stable phase",
        T2: "intrinsic time of the decay phase",
        tau: "physical time",
        zeta_rate: "rate of the exponential decay",
        lam: "one eigenvalue",
        gamma: "effective learning rate: learning rate over batch size",
        sigma: "standard deviation of the label noise",
        j: "index of an eigenvalue",
    }
)

RANGES: Final = MappingProxyType({s: (Integer(0), None), beta: (Integer(1), None)})
"""Open ranges (lower, upper) of the two parameters of the theory; None is no bound."""

HALF: Final = Rational(1, 2)
