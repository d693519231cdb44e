"""approximation-error and lemma:em-gap: what the features beyond M carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from sympy import Sum, exp, oo

import fsl_num.spectrum as spectrum
from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import DIGITS, sharp
from fsl_num.claims.hypotheses import Located, logarithm
from fsl_num.claims.printed_terms import measured_terms
from fsl_num.claims.statements import Equivalent, Joint, Law, Ray, Sharp, Statement
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.kernel.expansions import point_with_digits
from fsl_num.paper.kernel.rays import DECADES, SMALLEST, whole_sizes
from fsl_num.paper.statements import power_law
from fsl_num.spectrum import approximation_error, exponential_sum
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, Derivation, at_most, equals, order_at_most, same_order
from fsl_sym.spectrum import approximation_error_asymptotics, signal, signal_gap
from fsl_sym.symbols import M, N, beta, j, s, t


def approximation_bounds() -> tuple[Derivation, ...]:
    """delta_M from below and from above, for N infinite."""
    bounds = approximation_error_asymptotics()
    return bounds.from_below, bounds.from_above


def approximation_rays(sample: Sample) -> list[Located]:
    """delta_M for N infinite, N = 2 M and N = M^(3/2) (N - M >= M once M >= 4)."""
    s, beta = sample.point
    log_size = np.linspace(math.log(4.0), math.log(10.0) * min(60.0, 200.0 / (1 + s * beta)), 20)
    sizes = np.floor(np.exp(log_size))
    every: dict[str, Callable[[float], float]] = {
        "N infinite": lambda size: math.inf,
        "N = 2 M": lambda size: 2.0 * size,
        "N = M^(3/2)": lambda size: math.floor(size**1.5),
    }
    rays = []
    for name, features in every.items():
        numbers = [features(size) for size in sizes]
        errors = [approximation_error(s, beta, m, features=n) for m, n in zip(sizes, numbers, strict=True)]
        ray = Ray(name, np.log(sizes), {"M": np.log(sizes)}, np.log(errors))
        rays.append(Located(ray, {"M": sizes, "N": numbers}))
    return rays


def one_feature_more_rays(sample: Sample) -> list[Ray]:
    """delta_M for N = M + 1, where N - M is not of the order of M."""
    s, beta = sample.point
    sizes = np.floor(np.logspace(2.0, 12.0, 20))
    values = np.log([approximation_error(s, beta, size, features=size + 1) for size in sizes])
    return [Ray("N = M + 1", np.log(sizes), {"M": np.log(sizes), "N": np.log(sizes + 1)}, values)]


def _approximation_measured(sample: Sample) -> list[tuple[Any, Any]]:
    return [
        ({"M": size}, approximation_error(*point_with_digits(sample), size, digits=DIGITS))
        for size in (10**3, 5 * 10**4)
    ]


def _approximation(sample: Sample) -> Sharp:
    leading = approximation_error_asymptotics().leading
    alpha = sample.point[0] * sample.point[1]
    wrong = {
        "half of it": leading / 2,
        "1/beta dropped": leading * beta,
        "1/(1 + s beta) for 1/(s beta)": leading * s * beta / (1 + s * beta),
    }
    # The two integrals differ by the factor (1 + 1/M)^-(s beta) >= 1 - s beta/M.
    parameters = {"s": sample.s, "beta": sample.beta}
    return sharp(leading, parameters, lambda point: alpha / point["M"], wrong, scale="M")


BEYOND: Final = same_order(Sum(j ** (-1 - s * beta), (j, M + 1, N)), M ** (-s * beta))
NEXT: Final = same_order(Sum(j ** (-1 - s * beta), (j, M + 1, M + 1)), M ** (-1 - s * beta))
GAP: Final = order_at_most(Sum(j ** (-1 - s * beta) * exp(-2 * j**-beta * t), (j, M + 1, oo)), M ** (-s * beta))
COMPLETED: Final = same_order(signal() + M ** (-s * beta), signal(size=oo) + M ** (-s * beta))
"""The signal of M features and their approximation error, which is measured where its power is printed."""
COMPLETED_TERMS: Final = {signal(): "e_M", signal(size=oo): "e_infinity", M ** (-s * beta): "M^-(s beta)"}


def gap_rays(sample: Sample) -> list[Ray]:
    """e_infinity(t) - e_M(t), summed from M + 1 on, at t = 0, at multiples of M^beta and at M^(2 beta)."""
    s, beta = sample.point
    end = math.log(10.0) * min(DECADES / beta, SMALLEST / (1 + s * beta))
    rays = []
    for multiple, power in ((0.0, 1.0), (0.1, 1.0), (1.0, 1.0), (10.0, 1.0), (1.0, 2.0)):
        sizes = whole_sizes(end / power, 24)
        times = multiple * sizes ** (power * beta)
        gaps = [
            exponential_sum(1 + s * beta, time, beta, start=int(m) + 1) for time, m in zip(times, sizes, strict=True)
        ]
        name = f"t = {multiple:g} M^({power:g} beta)"
        rays.append(Ray(name, np.log(sizes), {"M": np.log(sizes), "t": logarithm(times)}, np.log(gaps)))
    return rays


def _sums(sample: Sample) -> list[dict[Any, Any]]:
    """All of these sums for three features, of seven and of infinitely many, at a time."""
    task, size, time = sample.point, 3, 2.0
    gap = exponential_sum(1 + task[0] * task[1], time, task[1], start=size + 1)
    seen = float(spectrum.signal(time, *task, size)) + size ** (-task[0] * task[1])
    return [{M: size, N: 7, t: time, BEYOND.left: approximation_error(*task, size, features=7), GAP.left: gap,
             NEXT.left: approximation_error(*task, size, features=size + 1),
             COMPLETED.left: seen, COMPLETED.right: seen + gap}]  # fmt: skip


def completed_signal_rays(sample: Sample) -> list[Ray]:
    """e_M(t) + delta_M against t from inside the window to far beyond; the variables are M and e_infinity(t)."""
    s, beta = sample.point
    # Far beyond the window e_infinity must be small against M^-(s beta): below it by (t/M^beta)^s, t up to 1e260. For
    # small s that takes t = M^(4 beta); for large s M would stay so small that delta_M shows its next term.
    far = 4.0 if s < 0.3 else 2.0
    end = math.log(10.0) * SMALLEST / (s + 1.0)
    rays = []
    for power in (0.5, 1.0, far):
        sizes = whole_sizes(min(end / (power * beta), math.log(10.0) * DECADES), 24)
        t = sizes ** (power * beta)
        measured = {
            "e_M": [spectrum.signal(a, s, beta, m) for a, m in zip(t, sizes, strict=True)],
            "M^-(s beta)": [approximation_error(s, beta, m) for m in sizes],
        }
        completed = np.sum([measured[term] for term in measured_terms(COMPLETED.left, COMPLETED_TERMS)], axis=0)
        logs = {"M": np.log(sizes), "t": np.log(t), "e_infinity": np.log(spectrum.signal(t, s, beta))}
        rays.append(Ray(f"t = M^({power:g} beta)", np.log(sizes), logs, np.log(completed)))
    return rays


def _completed_law() -> Law:
    terms = measured_terms(COMPLETED.right, COMPLETED_TERMS)

    def law(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        known = {**logs, "M^-(s beta)": exponents["M"] * logs["M"]}
        return np.asarray(np.logaddexp.reduce([known[term] for term in terms]))

    return law


def _only_signal(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return exponents["M"] * 0.0 * logs["M"] + logs["e_infinity"]


def _gap(sample: Sample) -> Joint:
    s, capacity = sample.point
    completed = Equivalent(_completed_law(), {"M": -s * capacity}, formulas=(COMPLETED,))
    return Joint({"gap": power_law("upper", M=-s * capacity), "consequence": completed})


def _gap_mutants(sample: Sample) -> dict[str, Statement]:
    statement = _gap(sample)
    wrong: dict[str, tuple[str, Statement]] = {
        "consequence without M^-(s beta)": ("consequence", Equivalent(_only_signal, {"M": 0.0})),
        "a gap of that order at every t": ("gap", power_law(M=-sample.point[0] * sample.point[1])),
    }
    return {name: Joint({**statement.parts, part: mutant}) for name, (part, mutant) in wrong.items()}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "approximation-error", "approximation-error", 845, "the order of the approximation error",
        BEYOND, (MODEL, "N >= 2 M"), approximation_rays, derive=approximation_bounds, instances=_sums,
        beyond=lambda sample: {"N = M + 1": one_feature_more_rays(sample)},
        quoted=r"\eqsim M^{-s\beta}, \text{ if } N - M \gtrsim M",
    ),
    Claim(
        "approximation-error/one-more", "approximation-error", 845,
        "one feature more than the model has: another order",
        NEXT, (MODEL, equals(N, M + 1)), one_feature_more_rays,
        instances=lambda sample: [{**known, N: known[M] + 1} for known in _sums(sample)],
        beyond=lambda sample: {"N from 2 M on": approximation_rays(sample)},
        mutants=lambda sample: {"M^-(s beta)": power_law(M=-sample.point[0] * sample.point[1])},
        role="own",
        remark="So the hypothesis on what lies beyond M is needed.",
    ),
    Claim(
        "lemma:em-gap", "lemma:em-gap", 2027, "what the features beyond the model carry of the signal",
        AllOf((GAP, COMPLETED)), (MODEL, "t >= 0"),
        lambda sample: {"gap": gap_rays(sample), "consequence": completed_signal_rays(sample)},
        _gap, _gap_mutants, derive=lambda: (signal_gap(), *approximation_bounds()),
        depends=("approximation-error",), instances=_sums,
        quoted=r"e_\infty(t) - e_M(t) \lesssim M^{-s\beta}",
    ),
    Claim(
        "approximation-error/sharp", "approximation-error", 845, "the constant of the approximation error",
        AllOf((at_most((M + 1) ** (-s * beta) / (s * beta), Sum(j ** (-1 - s * beta), (j, M + 1, oo))),
               at_most(Sum(j ** (-1 - s * beta), (j, M + 1, oo)), M ** (-s * beta) / (s * beta)))),
        (MODEL,), _approximation_measured, _approximation,
        derive=lambda: (approximation_error_asymptotics().from_below, approximation_error_asymptotics().from_above),
        role="stronger", strengthens="approximation-error",
    ),
)  # fmt: skip
