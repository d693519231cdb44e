"""I1 of exponential decay: the noise of a rate of 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sympy import Rational, gamma, oo, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import Point, sharp, smooth_sum_error
from fsl_num.claims.statements import Equivalent, Joint, Ray, Sharp
from fsl_num.functional import integrate_graded
from fsl_num.paper.block_constants import OSCILLATE, UP_TO_CONSTANTS, Constants, exact_powers
from fsl_num.paper.block_spectra import block_modes, kernel_beyond
from fsl_num.paper.hypotheses import INFINITE, SPECTRUM, of_infinite_size
from fsl_num.paper.kernel.rays import Quantity, decades
from fsl_num.paper.scaling_laws.decay_integrals import I1, QUADRATURE, crossing_rays, repeating_crossing_rays
from fsl_num.paper.statements import power_law
from fsl_num.spectrum import exponential_sum, forgetting_kernel, kernel_integral
from fsl_num.validation import Array
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.integrals.exponential_decay import i1_finite, i1_sum
from fsl_sym.proof import AllOf, Formula, at_least, same_order
from fsl_sym.symbols import M, T, beta

Logs = Mapping[str, Array]
FLAT = same_order(i1_sum(), 1), same_order(zeta(beta) / 2 - i1_sum(), T ** (1 / beta - 1) + M ** (1 - beta))


def flat_integral(time: float, beta: float, size: float) -> float:
    """I1 = int_0^T K_M(r) dr: the noise of a rate of 1, r the remaining time."""
    return integrate_graded(lambda r: np.asarray(forgetting_kernel(r, beta, size)), time).value


def flat_rays(sample: Sample) -> dict[str, list[Ray]]:
    """I1 itself, and what is missing to tr(H)/2: features beyond M, and noise that is not yet forgotten."""
    beta = sample.point[1]

    def missing(time: float, size: float) -> float:
        unseen = exponential_sum(beta, 0.0, beta, start=int(size) + 1)
        return 0.5 * float(unseen) + float(kernel_integral(time, math.inf, beta, size))

    def of_spectrum(constants: Constants) -> Quantity:
        def value(time: float, size: float) -> float:
            modes, _ = block_modes(constants, 1.0, beta, size, time)
            return float(-np.expm1(-modes.rates * time) @ (modes.weights / modes.rates))

        return value

    def missing_of_spectrum(constants: Constants) -> Quantity:
        def value(time: float, size: float) -> float:
            modes, _ = block_modes(constants, 1.0, beta, size, math.inf)
            unseen = kernel_beyond(constants, beta, size, time)[2]
            return 0.5 * unseen + float(np.exp(-modes.rates * time) @ (modes.weights / modes.rates))

        return value

    parts = {
        "I1": [*crossing_rays(sample, lambda time, size: flat_integral(time, beta, size)),
               *repeating_crossing_rays(sample, of_spectrum)],
        "rest": [*crossing_rays(sample, missing, decades(1.0)),
                 *repeating_crossing_rays(sample, missing_of_spectrum, decades(1.0))],
    }  # fmt: skip
    return {
        name: [replace(ray, logs={**ray.logs, "T": ray.logs["t"]}) for ray in along] for name, along in parts.items()
    }


def _sums(sample: Sample) -> list[dict[Any, Any]]:
    """Both left sides at a time, for three features."""
    value, trace = flat_integral(2.0, sample.point[1], 3), float(zeta(sample.point[1]))
    return [{FLAT[0].left: value, FLAT[1].left: trace / 2 - value, T: 2.0, M: 3}]


def infinite_flat(sample: Sample) -> list[tuple[Any, Any]]:
    """I1 for M infinite."""
    return [({"T": time}, flat_integral(time, sample.point[1], math.inf)) for time in (1e4, 1e8)]


def _missing_law(power: Mapping[str, float], logs: Logs) -> Array:
    return np.asarray(np.logaddexp(power["T"] * logs["t"], power["M"] * logs["M"]))


def _flat(sample: Sample) -> Joint:
    capacity = sample.point[1]
    trends = {"T": 1.0 / capacity - 1.0, "M": 1.0 - capacity}
    return Joint({"I1": power_law(t=0.0, M=0.0), "rest": Equivalent(_missing_law, trends)})


def _infinite_flat(sample: Sample) -> Sharp:
    second = gamma(1 - 1 / beta) / (2 * beta) * (2 * T) ** (1 / beta - 1)
    right = I1().expression
    wrong = {
        "tr(H) for its half": right + zeta(beta) / 2,
        "next term dropped": right + second,
        "next term with the other sign": right + 2 * second,
        "Gamma argument off by 1/2": right + second * (1 - gamma(Rational(3, 2) - 1 / beta) / gamma(1 - 1 / beta)),
    }

    def allowed(point: Point) -> float:
        # I1 is at least half its limit, tr(H)/2 >= 1/2.
        return QUADRATURE + 2.0 * smooth_sum_error(sample.point[1], point["T"], sample.point[1])

    return sharp(right, {"beta": sample.beta}, allowed, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "exp-decay/I1", "sub:proof_for_the_exponential_decay_lrs", 3157, "I1 tends to a constant",
        AllOf(FLAT), (SPECTRUM, at_least(T, 1), at_least(M, 1), UP_TO_CONSTANTS), flat_rays, _flat,
        derive=lambda: i1_finite().derivation, instances=_sums,
        quoted=r"I_1 = C_\beta + o_{T,M}(1)",
    ),
    Claim(
        "exp-decay/I1-sharp", "sub:proof_for_the_exponential_decay_lrs", 3157, "I1 with its next term",
        Formula(
            i1_sum(size=oo), "expands",
            zeta(beta) / 2 - 2 ** (1 / beta - 2) * T ** (1 / beta - 1) * gamma(1 - 1 / beta) / beta, T, oo,
        ), (SPECTRUM, INFINITE, exact_powers(OSCILLATE)), of_infinite_size(infinite_flat), _infinite_flat,
        derive=lambda: expansion_derivation("I1", "I1 for M infinite", I1(), "exp-decay/I1", i1_sum(size=oo)),
        role="own",
        remark="Of a spectrum up to constants it may go on oscillating with the logarithm of time.",
    ),
)  # fmt: skip
