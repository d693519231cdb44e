"""The printed end s = 0 of a hypothesis, which the source condition excludes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sympy import Sum, log

from fsl_num.claims.claim import Claim
from fsl_num.claims.statements import Direction, Equivalent, Ray
from fsl_num.paper.functional.instrument import Array
from fsl_sym.proof import AllOf, equals, same_order
from fsl_sym.symbols import E, M, N, j

MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), beta > 1"


def zero_rays() -> tuple[Ray, ...]:
    """2 E at t = 0 for s = 0 and N = 2^M, harmonic: log N + 0.577...; with "law", log(1 + e_M(0))."""
    sizes = np.geomspace(8.0, 1e15, 12)
    risk = np.log(sizes * np.log(2.0) + float(np.euler_gamma))
    law = np.log(1.0 + np.log(sizes) + float(np.euler_gamma) + 0.5 / sizes)
    return (Ray("t = 0, N = 2^M", np.log(sizes), {"M": np.log(sizes), "law": law}, risk),)


def _zero(given: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return logs["law"]


def _zero_exact(given: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return given["N"] * logs["M"]


def _bounded(direction: Direction) -> Equivalent:
    return Equivalent(_zero, {}, direction=direction)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm:fsl-zero-noise/zero-difficulty", "thm:fsl-zero-noise", 611, "the printed end s = 0",
        "The theorem is stated for s in [0, 2 - 1/beta]; at s = 0 and t = 0 it says that the risk is of the order "
        "1 + e_M(0) whenever N - M >= c M.",
        same_order(E, 1 + Sum(1 / j, (j, 1, M))),
        (MODEL, "s = 0, which the source condition excludes", "N = 2^M"), lambda sample: zero_rays(),
        lambda sample: _bounded("both"), regimes=("hard",), corrected_by="thm:fsl-zero-noise/zero-difficulty-risk",
    ),
    Claim(
        "thm:fsl-zero-noise/zero-difficulty-risk", "thm:fsl-zero-noise", 611, "the risk at s = 0 grows with N",
        "At s = 0 the risk at t = 0 is of the order log N, whatever M: for N = 2^M of the order M, for N infinite it "
        "is infinite. The theorem needs s > 0, as its source condition says.",
        AllOf((equals(2 * E, Sum(1 / j, (j, 1, N))), same_order(E, log(N)))),
        (MODEL, "s = 0", "N = 2^M"), lambda sample: zero_rays(),
        lambda sample: Equivalent(_zero_exact, {"N": 1.0}),
        lambda sample: {"bounded by the law of the theorem": _bounded("upper")}, regimes=("hard",), role="corrected",
    ),
)  # fmt: skip
