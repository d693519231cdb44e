"""lem: wsd-stable-noise: what the decay phase leaves of the noise of the stable phase."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sympy import Integral, Min, Sum, exp, gamma, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import DIGITS, sharp
from fsl_num.claims.statements import Equivalent, Joint, Statement
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.kernel import rays
from fsl_num.paper.kernel.expansions import STABLE, TIMES, point_with_digits, sharp_sum
from fsl_num.paper.statements import power_law
from fsl_num.spectrum import exponential_sum, kernel_integral
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.integrals.stable_phase import stable_order, stable_phase_noise, stable_sum
from fsl_sym.proof import Formula, equals, order_at_most
from fsl_sym.spectrum import eigenvalue, forgetting_kernel
from fsl_sym.symbols import T2, M, beta, t

LEFT_OVER = order_at_most(stable_sum(), Min(M / T2, T2 ** (1 / beta - 1)))


def stable_phase_integral(sample: Sample) -> list[tuple[Any, Any]]:
    """int_0^infinity K_M(T_2 + t) dt by quadrature up to t = 60 M^beta."""
    pairs = ((1, 0.5), (7, 4.0), (30, 0.25), (30, 64.0))
    return [({"M": size, "T_2": time}, rays.kernel_from(time, sample.point[1], size)) for size, time in pairs]


def stable_phase(sample: Sample) -> rays.Quantity:
    """int_0^infinity K_M(T_2 + t) dt."""
    beta = sample.point[1]
    return lambda t, size: float(kernel_integral(t, math.inf, beta, size))


def _stable_measured(sample: Sample) -> list[tuple[Any, Any]]:
    capacity = point_with_digits(sample)[1]
    return [({"T_2": time}, exponential_sum(capacity, time, capacity, digits=DIGITS) / 2) for time in TIMES]


def _bounds(sample: Sample) -> Mapping[str, Equivalent]:
    capacity = sample.point[1]
    model = power_law("upper", M=1.0, t=-1.0)
    return {"M/T_2": model, "T_2^(1/beta - 1)": power_law("upper", t=1.0 / capacity - 1.0)}


def _attained(sample: Sample) -> dict[str, Statement]:
    """Each of the two bounds claimed to be attained everywhere: they take turns at T_2 = M^beta."""
    parts = _bounds(sample)
    return {f"{name}, of that order": Joint({name: replace(part, direction="both")}) for name, part in parts.items()}


def _stable_order_measured(sample: Sample) -> dict[str, Any]:
    capacity, quantity = sample.point[1], stable_phase(sample)
    end = rays.decades(1.0)
    measured = {
        "M/T_2": [rays.joined_ray(quantity, capacity, power, 1.0, end, clock="M") for power in (1.0, 0.5)],
        "T_2^(1/beta - 1)": rays.everywhere_rays(quantity, sample, 1.0),
    }
    return {name: [replace(ray, logs={**ray.logs, "T_2": ray.logs["t"]}) for ray in part]
            for name, part in measured.items()}  # fmt: skip


def _stable_identity(sample: Sample) -> Statement:
    total = stable_sum()
    wrong = {
        "without the half": 2 * total,
        "lambda_j^2 for lambda_j": Sum(eigenvalue() * total.function, *total.limits),
        "the rate lambda_j": total.replace(exp, lambda exponent: exp(exponent / 2)),
    }
    return sharp(total, {"beta": sample.beta}, rays.QUADRATURE, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem: wsd-stable-noise", "lem: wsd-stable-noise", 3489, "what the decay phase leaves of the stable phase",
        LEFT_OVER, (MODEL, "T_2 > 0"),
        _stable_order_measured, lambda sample: Joint(_bounds(sample)), _attained, derive=stable_order,
        instances=lambda sample: rays.at_places(LEFT_OVER, stable_phase(sample), T2),
        quoted=r"\int_{0}^{\infty} \mathcal{K}_M(T_2 + t)\dd t \lesssim"
               r" \frac{\min\{M,T_2^{\frac{1}{\beta}}\}}{T_2}",
    ),
    Claim(
        "lem: wsd-stable-noise/identity", "lem: wsd-stable-noise", 3499, "the stable phase as a sum over modes",
        equals(Integral(forgetting_kernel(T2 + t), (t, 0, oo)), stable_sum()),
        (MODEL, "T_2 > 0, M < oo"), stable_phase_integral, _stable_identity,
        derive=lambda: stable_phase_noise().derivation,
        role="argument",
    ),
    Claim(
        "lem: wsd-stable-noise/sharp", "lem: wsd-stable-noise", 3489, "the constant of the stable phase",
        Formula(stable_sum(size=oo), "expands",
                2 ** (1 / beta - 2) * T2 ** (1 / beta - 1) * gamma(1 - 1 / beta) / beta, T2, oo),
        (MODEL,), _stable_measured,
        lambda sample: sharp_sum(sample, STABLE().expression, 1 - 1 / beta, sample.beta, 0.5, "T_2"),
        derive=lambda: expansion_derivation("stable phase", "stable phase", STABLE(), "lem: wsd-stable-noise"),
        role="own",
    ),
)  # fmt: skip
