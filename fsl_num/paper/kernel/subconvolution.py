"""lem: half-scale, lemma:convolution-kernel and cor: contraction: the kernel at half the time, and with itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sympy import Integral, S, Sum, exp, gamma, log, oo, zeta

import fsl_num.spectrum as spectrum
from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import Point, number, sharp, smooth_sum_error
from fsl_num.claims.statements import Ray, Sharp, Statement
from fsl_num.functional import integrate_graded
from fsl_num.paper.hypotheses import INFINITE, MODEL, of_infinite_size
from fsl_num.paper.kernel.expansions import KERNEL
from fsl_num.paper.kernel.rays import (
    QUADRATURE,
    Quantity,
    alone_ray,
    at_places,
    decades,
    joined_ray,
    kernel_from,
    kernel_power,
    since_one,
    window_rays,
)
from fsl_num.paper.statements import power_law
from fsl_num.validation import Array
from fsl_sym.proof import (
    Antiderivative,
    Derivation,
    OrderBetween,
    at_least,
    at_most,
    equals,
    lemma,
    order_at_most,
    same_order,
    tends,
)
from fsl_sym.spectrum import eigenvalue, forgetting_kernel, kernel_mass
from fsl_sym.symbols import M, beta, j, t, z

CONVOLUTION = Integral(forgetting_kernel(t - z) * forgetting_kernel(z), (z, 0, t))
ITS_CONSTANT = tends(Integral(forgetting_kernel(t - z, oo) * forgetting_kernel(z, oo), (z, 0, t))
                     / forgetting_kernel(t, oo), t, oo, zeta(beta))  # fmt: skip
AT_HALF = same_order(forgetting_kernel(t / 2) / forgetting_kernel(), 1)
OF_HALF = same_order(log(forgetting_kernel(t / 2) / forgetting_kernel()), t * M**-beta)
OF_ONE_FEATURE = Integral(exp(-2 * z) * exp(-2 * (t - z)), (z, 0, t)) / exp(-2 * t)


def ratio_of_one_feature() -> Derivation:
    """With one feature (K_M * K_M)(t)/K_M(t) is t."""
    exact = lemma(OF_ONE_FEATURE, t, Antiderivative(z * exp(-2 * t)), "the integrand does not depend on z")
    return lemma(OF_ONE_FEATURE, t, OrderBetween(exact, exact), "it is t")


def half_scale(sample: Sample) -> Quantity:
    """K_M(t/2)/K_M(t)."""
    beta = sample.point[1]
    return lambda t, size: float(
        spectrum.forgetting_kernel(0.5 * t, beta, size) / spectrum.forgetting_kernel(t, beta, size)
    )


def beyond_window_rays(sample: Sample) -> list[Ray]:
    """log(K_M(t/2)/K_M(t)) for t >> M^beta: t alone at M = 1000, and M alone at t = 250 M^beta."""
    many = np.floor(np.geomspace(30.0, 3e4, 12))
    return _log_ratio_rays(sample, {
        "M = 1000, t to 300 M^beta": (np.full(12, 1e3), np.geomspace(60.0, 300.0, 12)),
        "t = 250 M^beta": (many, np.full(12, 250.0)),
    })  # fmt: skip


def _up_to_the_window(sample: Sample) -> dict[str, list[Ray]]:
    """The same at M = 1000 up to t = M^beta."""
    name = "M = 1000, t up to M^beta"
    return {name: _log_ratio_rays(sample, {name: (np.full(12, 1e3), np.geomspace(1e-3, 1.0, 12))})}


def _log_ratio_rays(sample: Sample, along: Mapping[str, tuple[Array, Array]]) -> list[Ray]:
    """``along``: model sizes, and times over M^beta."""
    beta, ratio = sample.point[1], half_scale(sample)
    rays = []
    for name, (sizes, multiples) in along.items():
        log_t = np.log(multiples) + beta * np.log(sizes)
        values = np.log(np.log([ratio(math.exp(a), m) for a, m in zip(log_t, sizes, strict=True)]))
        scale = log_t if name.startswith("M") else np.log(sizes)
        rays.append(Ray(name, scale, {"t": log_t, "M": np.log(sizes)}, values))
    return rays


def _exponential(ray: Ray) -> Ray:
    return replace(ray, values=np.exp(ray.values))


def self_convolution(t: float, beta: float, size: float) -> float:
    """(K_M * K_M)(t) by graded quadrature of one half, doubled (the integrand is symmetric about t/2)."""

    def integrand(z: Array) -> Array:
        return np.asarray(spectrum.forgetting_kernel(z, beta, size) * spectrum.forgetting_kernel(t - z, beta, size))

    return 2.0 * integrate_graded(integrand, 0.5 * t).value


def convolution_ratio(sample: Sample) -> Quantity:
    """(K_M * K_M)(t)/K_M(t)."""
    beta = sample.point[1]
    return lambda t, size: self_convolution(t, beta, size) / float(spectrum.forgetting_kernel(t, beta, size))


def convolution_rays(sample: Sample, ends: Sequence[tuple[float, float]], *, early: bool = True) -> list[Ray]:
    """The ratio along t = multiple M^(power beta) up to t = 1e40; and, where ``early``, along t to 0."""
    ratio, end = convolution_ratio(sample), math.log(1e40)
    joined = [joined_ray(ratio, sample.point[1], *path, end, count=8) for path in ends]
    return [*joined, alone_ray(ratio, 100.0, 0.0, -20.0, 8)] if early else [since_one(ray) for ray in joined]


def _convolutions(sample: Sample) -> list[dict[Any, Any]]:
    """Both sides at some t and M, as they are measured."""
    capacity = sample.point[1]
    return [{CONVOLUTION: self_convolution(time, capacity, size), t: time, M: size,
             forgetting_kernel(): spectrum.forgetting_kernel(time, capacity, size)}
            for time, size in ((0.3, 2), (2.0, 4))]  # fmt: skip


def single_mode_rays(sample: Sample) -> list[Ray]:
    """(K_1 * K_1)(t)/K_1(t): one feature, t growing far beyond M^beta = 1."""
    ratio = convolution_ratio(sample)
    log_t = np.linspace(0.0, math.log(250.0), 12)
    values = [ratio(math.exp(log), 1.0) for log in log_t]
    return [Ray("M = 1", log_t, {"t": log_t, "M": 0.0 * log_t}, np.log(values))]


def _outside(sample: Sample) -> dict[str, list[Ray]]:
    """The ratio after M^beta, of one feature; and before t = 1."""
    return {"t beyond M^beta": single_mode_rays(sample),
            "t to 0": [alone_ray(convolution_ratio(sample), 100.0, 0.0, -20.0, 8)]}  # fmt: skip


def measured_mass(sample: Sample) -> list[tuple[Any, Any]]:
    """2 int_0^infinity K_M by quadrature up to t = 60 M^beta (the rest is below exp(-120) of it)."""
    return [({"M": size}, 2.0 * kernel_from(0.0, sample.point[1], size)) for size in (1, 7, 200)]


def _infinite_convolution(sample: Sample) -> list[dict[Any, Any]]:
    """The quotient at some time, as it is measured."""
    return [{t: 2.0, ITS_CONSTANT.left: convolution_ratio(sample)(2.0, math.inf)}]


def _convolution_measured(sample: Sample) -> list[tuple[Any, Any]]:
    capacity = sample.point[1]
    ratios = []
    for time in (1e8, 1e12):
        ratio = self_convolution(time, capacity, float("inf")) / spectrum.forgetting_kernel(time, capacity)
        ratios.append(({"t": time}, ratio))
    return ratios


def _convolution(sample: Sample) -> Sharp:
    r"""tr(H) and the next two terms.

    The Laplace transform of K is tr(H)/2 + A p^alpha + p/8 + ..., alpha = 1 - 1/beta, A = kappa Gamma(-alpha) with
    kappa t^-(1+alpha) the limit of K; the coefficient of p is -zeta(0)/4, that of p^2 is zeta(-beta)/8. Its square,
    transformed back term by term and divided by K, is the expression; what is left begins with t^-2 (from p^(2+alpha)).
    """
    alpha = 1 - 1 / beta
    kappa = KERNEL().terms[0].coefficient
    second = kappa * gamma(-alpha) ** 2 / gamma(-2 * alpha) * t**-alpha
    third = -(1 + alpha) / (4 * t)
    capacity = sample.point[1]

    def allowed(point: Point) -> float:
        # Twice |zeta(-beta)|/4 (1 + alpha)(2 + alpha) t^-2 is below 10 t^-2 for beta <= 6; the quadrature asks 1e-10.
        kernel = float(number(KERNEL().expression, {"beta": sample.beta, "t": point["t"]}))
        time = float(point["t"])
        return 10.0 * time**-2 + 1e-10 + smooth_sum_error(2 * capacity, time, capacity) / kernel

    wrong = {
        "half the trace": zeta(beta) / 2 + second + third,
        "the next term dropped": zeta(beta) + third,
        "the next term with the other sign": zeta(beta) - second + third,
    }
    if sample.beta == 2:  # 1/Gamma(-2 alpha) vanishes there, and with it the next term
        wrong = {"half the trace": zeta(beta) / 2 + third, "twice the trace": 2 * zeta(beta) + third}
        second = S.Zero
    near = sharp(ITS_CONSTANT.right + second + third, {"beta": sample.beta}, allowed, wrong, scale="t")
    return replace(near, formulas=(ITS_CONSTANT,))


def _mass(sample: Sample) -> Statement:
    total = Sum(eigenvalue(), (j, 1, M))
    wrong = {"half of it": total / 2, "twice it": 2 * total, "M infinite": zeta(beta) + 0 * M}
    return sharp(total, {"beta": sample.beta}, QUADRATURE, wrong)


def _convolution_bound(sample: Sample) -> Statement:
    return power_law("upper", t=0.0)


def _attained(sample: Sample) -> dict[str, Statement]:
    """That the bound is attained at every t: false as t tends to 0, where K * K vanishes and K does not."""
    return {"of that order": power_law(t=0.0)}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem: half-scale", "lem: half-scale", 739, "the kernel at half the time is of its own order",
        AT_HALF,
        (MODEL, "t <= 4 M^beta"),
        lambda sample: [
            *window_rays(half_scale(sample), sample, kernel_power(sample)),
            joined_ray(half_scale(sample), sample.point[1], 1.0, 4.0, decades(kernel_power(sample))),
            alone_ray(half_scale(sample), 1e6, 0.0, -30.0),
        ],
        lambda sample: power_law(t=0.0), depends=("lemma:ke-power/kernel-window",),
        instances=lambda sample: at_places(AT_HALF, half_scale(sample)),
        beyond=lambda sample: {"t beyond M^beta": [_exponential(ray) for ray in beyond_window_rays(sample)]},
        quoted=r"It holds for any $t \lesssim M^{\beta}$ that  $\tfrac{\cK_M (t/2)}{\cK_M(t)} \simeq 1$",
    ),
    Claim(
        "lem: half-scale/beyond", "lem: half-scale", 739, "beyond the window the ratio grows exponentially",
        OF_HALF, (MODEL, "t >= 60 M^beta"), beyond_window_rays,
        instances=lambda sample: at_places(OF_HALF, lambda *at: math.log(half_scale(sample)(*at))),
        mutants=lambda sample: {"bounded, as inside the window": power_law(t=0.0, M=0.0)},
        beyond=_up_to_the_window, role="own",
        remark="So the hypothesis of the lemma is needed.",
    ),
    Claim(
        "lemma:convolution-kernel", "lemma:convolution-kernel", 2129,
        "the kernel convolved with itself, inside the window",
        order_at_most(CONVOLUTION, forgetting_kernel()), (MODEL, at_most(t, M**beta)),
        lambda sample: convolution_rays(sample, ((0.5, 1.0), (1.0, 1.0))),
        _convolution_bound, _attained, instances=_convolutions, beyond=_outside,
        depends=("lem: half-scale", "lemma:convolution-kernel/mass"),
        quoted=r"\mathcal{K}_M * \mathcal{K}_M(t) \leq C \mathcal{K}_M(t)",
    ),
    Claim(
        "lemma:convolution-kernel/attained", "lemma:convolution-kernel", 2129,
        "the bound of the convolution is attained",
        same_order(CONVOLUTION, forgetting_kernel()), (MODEL, at_least(t, 1), "t <= 8 M^beta"),
        lambda sample: convolution_rays(sample, ((0.5, 1.0), (1.0, 0.25), (1.0, 8.0)), early=False),
        lambda sample: power_law(t=0.0), role="stronger", strengthens="lemma:convolution-kernel", beyond=_outside,
        instances=_convolutions,
        depends=("lem: half-scale",),
        remark="The bound of the lemma is an equivalence there.",
    ),
    Claim(
        "cor: contraction", "cor: contraction", 769, "subconvolution up to multiples of the window",
        order_at_most(CONVOLUTION, forgetting_kernel()),
        (MODEL, "t <= 8 M^beta"),
        lambda sample: convolution_rays(sample, ((1.0, 0.25), (1.0, 8.0))),
        _convolution_bound, _attained, instances=_convolutions, beyond=_outside, depends=("lem: half-scale",),
        quoted=r"For any $t \lesssim M^{\beta}$, it holds $\cK_M*\cK_M(t)\lesssim\cK_M(t)$",
    ),
    Claim(
        "lemma:convolution-kernel/beyond", "lemma:convolution-kernel", 2129, "one feature: the bound fails beyond",
        same_order(OF_ONE_FEATURE, t), (MODEL, "M = 1"), single_mode_rays,
        mutants=lambda sample: {"bounded": _convolution_bound(sample)}, derive=ratio_of_one_feature,
        role="own",
        remark="So the hypothesis of the lemma is needed.",
    ),
    Claim(
        "lemma:convolution-kernel/mass", "lemma:convolution-kernel", 2160, "the mass of the kernel is half the trace",
        equals(Integral(2 * forgetting_kernel(), (t, 0, oo)), Sum(eigenvalue(), (j, 1, M))),
        (MODEL, "M < oo"), measured_mass, _mass,
        derive=kernel_mass,
        role="argument",
    ),
    Claim(
        "cor: contraction/sharp", "cor: contraction", 769, "the constant of the subconvolution is the trace",
        ITS_CONSTANT, (MODEL, INFINITE), of_infinite_size(_convolution_measured), _convolution,
        instances=_infinite_convolution, role="own",
    ),
)  # fmt: skip
