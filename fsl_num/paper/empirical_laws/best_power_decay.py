"""eqn: FSL-optimization: the schedule that the functional itself calls optimal, a power decay, in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Function, Max, Min, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Joint, Ray, Sharp
from fsl_num.claims.words import Where
from fsl_num.design import best_rates, blocks, closed_form, functional_objective
from fsl_num.design.objectives import NOISE
from fsl_num.functional import noise_functional
from fsl_num.gauss_rules import legendre_rule
from fsl_num.model import Model
from fsl_num.paper.empirical_laws.formulas import POWER, peak, share
from fsl_num.paper.empirical_laws.measurements import FITTED_STEPS
from fsl_num.paper.hypotheses import INFINITE, located, of_infinite_size
from fsl_num.schedules import PowerDecay
from fsl_num.spectrum import forgetting_kernel
from fsl_sym import ansatz
from fsl_sym.ansatz import c, rate
from fsl_sym.proof import AllOf, equals, less, same_order
from fsl_sym.symbols import HALF, E, K, a, beta, s

_to_go = Symbol("y", nonnegative=True)
BEST_RATE: Final = equals(rate(_to_go), Min(peak, a * (1 + c * a * _to_go / (2 * beta)) ** (2 * beta - 1)))
_easier = 1 + s * beta
SHAPE: Final = {
    "loss": same_order(E, K ** -Min(s, s * beta / _easier)),
    "decaying": same_order(share, K ** -Max(0, (beta - _easier) / (2 * beta - 1))),
    "end": same_order(rate(K), K ** Max(-(1 + s) / 2, HALF / _easier - 1)),
    "peak": same_order(peak, K ** -Max(0, 1 - beta / _easier)),
}
"""The best schedule under a bound on the rate: its loss, the share of decaying steps, its last and largest rate."""
_noise, _p = Function("N"), Symbol("p", positive=True)
POWER_DECAY: Final = same_order(_noise(a, K, _p), a * a**-POWER * K**-POWER)
STEP_DECADES = np.linspace(10.0, 100.0, 19)


def optimised_losses(sample: Sample) -> list[tuple[int, float]]:
    """The least loss of 33,907 steps found numerically under the functional: (blocks a decade, loss)."""
    counts = (8, 32) if sample.effort < 2 else (8, 32, 64)
    objective = functional_objective(*sample.point)
    return [(count, best_rates(objective, blocks(FITTED_STEPS, count)).loss) for count in counts]


def shape_rays(sample: Sample) -> dict[str, list[Ray]]:
    """The closed form along K: loss, share of decaying steps, last rate, largest rate, intrinsic time."""
    shapes = [closed_form(*sample.point, 10.0**decade) for decade in STEP_DECADES]
    scale = STEP_DECADES * math.log(10.0)
    values = {
        "loss": [shape.loss for shape in shapes],
        "decaying": [shape.decay_steps / 10.0**decade for shape, decade in zip(shapes, STEP_DECADES, strict=True)],
        "end": [shape.last for shape in shapes],
        "peak": [shape.peak for shape in shapes],
    }
    return {name: [Ray(name, scale, {"K": scale}, np.log(along))] for name, along in values.items()}


def power_decay_rays(sample: Sample, *, slow: bool = False) -> list[Ray]:
    """The noise that the model itself keeps of a power decay: along K at a fixed peak rate, and along the peak rate.

    ``slow``: for a power below beta - 1.
    """
    beta = sample.point[1]
    rays, model = [], Model(*sample.point, math.inf, 1.0)
    powers = {"2 beta - 1": 2.0 * beta - 1.0, "3 beta": 3.0 * beta}
    for name, power in ({"(beta - 1)/2": 0.5 * (beta - 1.0)} if slow else powers).items():
        paths = {
            "K grows": (np.full(11, -1.0), np.linspace(4.0, 24.0, 11)),
            "a falls": (np.linspace(-1.0, -12.0, 12), np.full(12, 24.0)),
        }
        for path, (peaks, steps) in paths.items():
            plans = [PowerDecay(peak=10.0**a, steps=10.0**K, power=power) for a, K in zip(peaks, steps, strict=True)]
            values = [math.log(noise_functional(model, plan, rtol=1e-6).value) for plan in plans]
            logs = {"a": peaks * math.log(10.0), "K": steps * math.log(10.0), "p": np.full(steps.size, math.log(power))}
            scale = logs["K"] if path == "K grows" else -logs["a"]
            rays.append(Ray(f"power {name}, {path}", scale, logs, np.array(values)))
    return rays


def _optimum(sample: Sample) -> Sharp:
    s, beta = sample.point

    def least(**changed: Any) -> Callable[[int], float]:
        settings = {"s": s, "beta": beta, "steps": FITTED_STEPS} | changed
        return lambda count: closed_form(**settings).loss

    wrong = {
        "s + 0.05": least(s=s + 0.05),
        "twice the noise": least(noise=2.0 * NOISE),
        "a tenth fewer steps": least(steps=0.9 * FITTED_STEPS),
    }
    # A rate held where the best one crosses w = (2 beta - 1) log(10)/n e-folds costs w^2/24 of the noise.
    return Sharp(least(), lambda count: ((2.0 * beta - 1.0) * math.log(10.0) / count) ** 2 / 24.0, wrong, off=0.05)


def _held(sample: Sample) -> dict[str, Any]:
    """At the rate 1 what is made least, and the kernel: how fast its noise grows with the time."""
    objective, (own, capacity) = functional_objective(*sample.point), sample.point

    def loss(time: float) -> float:
        return float(objective(np.ones(1), np.array([time]))[0])

    def kernel(time: float, step: float = 1e-4) -> float:
        ends = (loss(end) - end**-own for end in (time + step, time - step))
        return float(np.subtract(*ends) / (2.0 * step) / (NOISE * (1.0 - 1.0 / capacity)))

    noise = -NOISE * math.expm1((1.0 / capacity - 1.0) * math.log1p(30.0))
    return {"E": loss(30.0), "T": 30.0, "s": own, "the noise of labels alone": noise, "K": kernel, "c": 1.0,
            "beta": capacity}  # fmt: skip


def _shape(sample: Sample) -> dict[str, Any]:
    """The ends of the closed form, and its rates from the first step to the last."""
    form, capacity = closed_form(*sample.point, FITTED_STEPS), sample.point[1]
    left = np.append(np.geomspace(FITTED_STEPS, 1.0, 50), 0.0)
    rates = form.last * (1.0 + form.last * left / (2.0 * capacity)) ** (2.0 * capacity - 1.0)
    below = 2.0 * capacity / form.last * ((form.peak / form.last) ** (1.0 / (2.0 * capacity - 1.0)) - 1.0)
    return {"K": FITTED_STEPS, "eta": lambda step: {FITTED_STEPS: form.last}[step], "eta_max": form.peak,
            "w": form.decay_steps / FITTED_STEPS, "the share of the steps below eta_max": below / FITTED_STEPS,
            "the rates": np.minimum(rates, form.peak)}  # fmt: skip


def _kept(sample: Sample) -> dict[str, Any]:
    """N, and the integral over the steps of which it is one."""
    power, steps, peak_rate = 2.0 * sample.point[1] - 1.0, 1e2, 0.1
    plan = PowerDecay(peak=peak_rate, steps=steps, power=power)
    points, weights = legendre_rule(400)
    share = 0.5 * (points + 1.0)  # of the steps, left
    left, rates = peak_rate * steps / (power + 1.0) * share ** (power + 1.0), peak_rate * share**power
    noise = 0.5 * steps * float(weights @ (forgetting_kernel(left, sample.point[1]) * rates**2))
    value = noise_functional(Model(*sample.point, math.inf, 1.0), plan, rtol=1e-9).value
    return {"N": lambda a, K, p: value, "a": peak_rate, "K": steps, "p": power, "the noise of a (1 - tau/K)^p": noise}


FUNCTIONAL: Final = Where("E is T^-s + (the noise of labels alone); K(t) = (1 + c t)^-(2 - 1/beta)", _held)
KEPT: Final = Where("N(a, K, p) is the noise of a (1 - tau/K)^p", _kept)


def _closed_rates(sample: Sample) -> list[dict[Any, Any]]:
    """The last rate, that at which the decay begins, and the first one, of the shape whose loss is judged."""
    shape = closed_form(*sample.point, FITTED_STEPS)
    ends = {0.0: shape.last, shape.decay_steps: shape.peak, FITTED_STEPS: shape.peak}
    return [{_to_go: left, rate: lambda y: ends[y], a: shape.last, c: 1.0, peak: 1.0}
            for left in ends]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: FSL-optimization/closed-form", "eqn: FSL-optimization", 1583, "the optimal schedule in closed form",
        BEST_RATE,
        (Where("y is the number of steps left; eta(y) is the best rate up to a bound then"), FUNCTIONAL, "K = 33907"),
        located({"K": FITTED_STEPS})(optimised_losses), _optimum,
        derive=ansatz.optimal_rate, role="own", family="optimum", instances=_closed_rates,
        remark="Numerical optimisation over all rates, free to rise, comes down to it as its blocks get finer and "
               "never below.",
    ),
    Claim(
        "eqn: FSL-optimization/regimes", "eqn: FSL-optimization", 1583, "when the optimal schedule is WSD-like",
        AllOf(tuple(SHAPE.values())),
        (Where("w is the share of the steps below eta_max; eta(K) is the last of the rates; "
               "eta_max is the largest of the rates", _shape),
         FUNCTIONAL, "1e10 <= K <= 1e100"),
        shape_rays, lambda sample: Joint({name: order_statement(formula, sample) for name, formula in SHAPE.items()}),
        depends=("eqn: FSL-optimization/closed-form",), role="own", family="optimum",
        remark="In the easy regime there is no stable phase, and no logarithm, which WSD does not reach.",
    ),
    Claim(
        "eqn: FSL-optimization/power-decay", "eqn: FSL-optimization", 1583,
        "the noise of a power decay has no logarithm",
        POWER_DECAY,
        (KEPT, less(beta - 1, _p), Where("lambda_j = j^-beta"), INFINITE,
         "1e-12 <= a <= 0.1", "1e4 <= K <= 1e24"),
        of_infinite_size(power_decay_rays),
        beyond=lambda sample: {"p = (beta - 1)/2": of_infinite_size(partial(power_decay_rays, slow=True))(sample)},
        role="own",
    ),
)  # fmt: skip
