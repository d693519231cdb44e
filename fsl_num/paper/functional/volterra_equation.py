"""thm:volterra-topm: the risk and the right side of the Volterra equation."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Function, Integral, Rational, Sum, Symbol, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.words import Where
from fsl_num.design.shapes import shape
from fsl_num.paper.block_constants import UP_TO_CONSTANTS, given_constants
from fsl_num.paper.functional.formulas import GAMMA
from fsl_num.paper.functional.laws import DELTA
from fsl_num.paper.functional.runs import equation_up_to_constants
from fsl_num.paper.hypotheses import FEATURES, MODEL
from fsl_num.paper.statements import Between, multiple_of
from fsl_num.spectrum import approximation_error
from fsl_num.validation import Array
from fsl_num.volterra.mesh import gaussian_march, mesh_equation
from fsl_sym.proof import AllOf, at_most
from fsl_sym.spectrum import forgetting_kernel, signal
from fsl_sym.symbols import M, beta, j, s, sigma, t, z

RISK = Function("E", positive=True)
"""Expected excess risk at an intrinsic time."""
EQUATION = (
    Sum(j ** (-1 - s * beta), (j, M + 1, oo)) + signal(t)
    + Integral(forgetting_kernel(t - z) * GAMMA(z) * (RISK(z) + sigma**2), (z, 0, t))
)  # fmt: skip
"""The right side of the Volterra equation."""
CLOSURE = (at_most(EQUATION / 2, RISK(t)), at_most(RISK(t), 2 * EQUATION))

_LARGEST = 0.8
"""gamma tr(H) of the largest rate of several features."""


@lru_cache(maxsize=64)
def closure_ratios(sample: Sample) -> Located:
    """E over delta_M + e_M + int K_M gamma (E + sigma^2) for Gaussian features, E the measured risk itself.

    Several models, M = 1 among them (where rho_+ = 2 is reached), rates up to the edge of stability and noises.
    """
    s, beta = sample.point
    ratios, letters = [], []
    # The upper constant 2 is reached by one mode near its edge of stability, x = gamma lambda: 2/(4 - 3 x) in the end.
    runs = ((None, 1.0, 1e4), (None, 30.0, 3.0 * 30.0**beta), (None, 1000.0, 1e3))
    up_to_constants = ((constants, 30.0, 3.0 * 30.0**beta) for constants in given_constants(sample.seed))
    for constants, size, horizon in (*runs, *up_to_constants):
        equation = equation_up_to_constants(constants, s, beta, size, horizon)
        # Stable: sum gamma lambda_j/(2 - gamma lambda_j) < 1 (0.998 for M = 1, at most 0.7 for the others).
        for gamma in (1e-6, 0.1, (0.999 if size == 1.0 else _LARGEST) / equation.trace):
            for name in ("constant", "burst then zero"):
                gammas = gamma * shape(name, equation)
                march = gaussian_march(equation, [gammas])[:, 0, :]
                for noise in (0.0, 1.0, 1e6):
                    ratio = _closure_ratio(equation.operator(gammas)[-1], march, equation.delta, noise, equation.signal)
                    place = f"M = {size:g}, gamma = {gamma:.3g}, {name}, sigma^2 = {noise:g}"
                    place += f", {constants.name}" if constants else ""
                    ratios.append(("E/right side", place, ratio))
                    letters.append((size, gamma * equation.trace, noise))
    named = dict(zip(("M", "c", "sigma^2"), np.transpose(letters), strict=True))
    return Located(tuple(ratios), {**named, FEATURES.name: "gaussian"})


def _last_rate(sample: Sample) -> dict[str, Any]:
    """The largest rate of 30 features, and its c."""
    equation, eigenvalues = mesh_equation(*sample.point, 30.0, 1.0), np.arange(1.0, 31.0) ** -sample.point[1]
    return {"c": _LARGEST, "gamma": _LARGEST / equation.trace, "H": np.diag(eigenvalues)}


def _closure_ratio(row: Array, march: Array, delta: float, noise: float, signal: Array) -> float:
    total = march[:, 0] + (delta + noise) * march[:, 1]
    risk = 0.5 * (total - noise)
    # The last node holds the modes alone, without the constant source: what is left there may be 1e-15 of the noise.
    risk[-1] = 0.5 * (total[-1] + delta)
    return float(risk[-1] / (delta + signal[-1] + row @ (risk + noise)))


def _one_mode(sample: Sample) -> list[dict[Any, Any]]:
    """Both bounds of one feature at a constant rate, in closed form.

    Its x = 2 E - delta_1 has x' = -2 x + gamma (2 x + delta_1 + sigma^2) for normal features.
    """
    time, rate, noise = 0.8, 0.3, 0.7
    left, fall = float(approximation_error(*sample.point, 1)), 2.0 - 2.0 * rate
    last = rate * (left + noise) / fall
    held, gone = 0.5 * (last + left) + noise, 0.5 * (1.0 - last)
    forgotten = math.exp(-2.0 * time)
    injected = 0.5 * rate * held * (1.0 - forgotten) + 0.5 * gone * forgotten * math.expm1(2.0 * rate * time)
    right = left + forgotten + injected
    return [{t: time, M: 1, sigma: math.sqrt(noise), GAMMA: lambda z: rate + 0.0 * z, EQUATION / 2: right / 2,
             2 * EQUATION: 2 * right, RISK: lambda z: 0.5 * (left + last) + gone * np.exp(-fall * z)}]  # fmt: skip


def _closure(sample: Sample) -> Between:
    name = "E/right side"
    # The mesh errs by at most 1e-2 of what the noise adds (measured), the bounds are exact.
    wrong = {
        "at least 1, as for 2 E": {name: (1.0, 2.0)},
        "at most 1, as for rho_+ = 1": {name: (0.5, 1.0)},
        "the lower constant 5 % larger": {name: (0.525, 2.0)},
        "the upper constant 2.5 % smaller": {name: (0.5, 1.95)},
    }
    low, high = CLOSURE[0].left, CLOSURE[1].right
    bounds = {name: (multiple_of(low, EQUATION), multiple_of(high, EQUATION))}
    return Between(bounds, 0.01, wrong, formulas=CLOSURE)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm:volterra-topm", "thm:volterra-topm", 2086, "the risk and the right side of the Volterra equation",
        AllOf(CLOSURE),
        (MODEL, FEATURES("gaussian"), DELTA, Where("c is gamma tr(H)", _last_rate),
         "M = 1, 30, 1000", at_most(Symbol("c", positive=True), Rational(999, 1000)),
         UP_TO_CONSTANTS),
        closure_ratios, _closure, instances=_one_mode, depends=("approximation-error",),
        quoted=r"\mathbb{E}[\mathcal{E}_t] \eqsim M^{-s\beta} + e_M(t) +"
               r" \int_{0}^{t} \mathcal{K}_M(t - \tau) \gamma_\tau (\mathbb{E}[\mathcal{E}_\tau] + \sigma^2) \dd \tau",
    ),
)  # fmt: skip
