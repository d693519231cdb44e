"""Rates that vanish like a power: the order of their noise, and with it a scaling law. Ours, not the paper's.

A rate a (1 - tau/K)^p is a (1 - t/T)^q in intrinsic time, q = p/(p + 1). Every claim draws p on its side of the
resonance beta = p + 1. Followers of the paper write g for p and say that such a shape saturates at the capacity
min(beta, g + 1): in our notation the noise falls like T^-(1 - 1/min(beta, p + 1)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
from sympy import Add, Expr, Integer, Min, Rational, log

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp, smooth_sum_error
from fsl_num.claims.formula_laws import order_mutants, order_statement
from fsl_num.claims.statements import Joint, Ray, Sharp, Statement
from fsl_num.functional import noise_functional
from fsl_num.model import Model
from fsl_num.paper.block_constants import OSCILLATE, UP_TO_CONSTANTS, exact_powers
from fsl_num.paper.hypotheses import INFINITE, MODEL, SPECTRUM, of_infinite_size
from fsl_num.paper.scaling_laws.decay_integrals import QUADRATURE
from fsl_num.paper.scaling_laws.laws import LEARNED, NOISE, STABLE
from fsl_num.paper.scaling_laws.training import (
    LONGEST,
    SILENT,
    Training,
    even_grid,
    functional_rays,
    functional_risk,
    long_after,
    noise_up_to_constants,
    peak_rate,
    repeating_runs,
    risk_ray,
    silent,
    whole,
)
from fsl_num.schedules import PowerDecay, Schedule
from fsl_num.validation import Array
from fsl_sym.integrals.power_decay import power_decay_bounds, power_decay_limits, power_sum
from fsl_sym.proof import AllOf, Formula, at_least, equals, less, same_order
from fsl_sym.symbols import B, E, M, T, a, beta, p, sigma

_Q: Final = p / (p + 1)
FAST: Final = T**-_Q
"""The noise over a where the kernel forgets before the rate has vanished: p < beta - 1."""
SLOW: Final = Min(M ** (1 - beta / (p + 1)) * T**-_Q, T ** (1 / beta - 1))
"""The noise over a where the memory of the spectrum decides: p > beta - 1."""
RESONANT: Final = T ** (1 / beta - 1) * Min(log(M), log(T))
"""The noise over a where both do: p = beta - 1, q = 1 - 1/beta; for M and T from 2 on."""
OFF: Final = Formula(beta - p - 1, "!=", 0)
"""That p is not beta - 1, in the form in which the expansion asks for it."""
Powers = Callable[[Any], Mapping[str, Any]]
"""The capacity exponent -> the powers to try, by name."""
PRECISE: Final = 1e-6
"""Relative accuracy of a measured noise: drifts are judged to 1e-2 over tens of units of log(scale)."""


def fast_powers(capacity: Any) -> Mapping[str, Any]:
    """Two powers below beta - 1."""
    return {"p = (beta - 1)/4": (capacity - 1) / Integer(4), "p = (beta - 1)/2": (capacity - 1) / Integer(2)}


def slow_powers(capacity: Any) -> Mapping[str, Any]:
    """Two powers above beta - 1, the first that of the optimal schedule in the easy regime."""
    return {"p = 2 beta - 1": 2 * capacity - 1, "p = 3 beta": 3 * capacity}


def resonant_powers(capacity: Any) -> Mapping[str, Any]:
    """The power at the resonance."""
    return {"p = beta - 1": capacity - 1}


@dataclass(frozen=True)
class PowerRun(Training):
    """A run whose rate falls like (1 - tau/K)^power over the intrinsic time ``decay``."""

    power: float = 1.0

    def logs(self, beta: float) -> dict[str, float]:
        """Those of every run, and of the power."""
        return {**Training.logs(self, beta), "p": math.log(self.power)}

    def schedule(self, beta: float) -> Schedule:
        """The power decay of that intrinsic time."""
        rate = self.peak * peak_rate(beta)
        steps = self.decay * (self.power + 1.0) / rate
        return PowerDecay(peak=rate, steps=steps, power=self.power, batch_size=self.batch)


def _noise(run: PowerRun, s: float, beta: float) -> float:
    """The noise integral at the end of a run."""
    return noise_functional(Model(s, beta, run.size, 1.0), run.schedule(beta), rtol=PRECISE).value


def _noise_rays(sample: Sample, power: float) -> tuple[Ray, ...]:
    """T far below M^beta, at it and above it, and T, M and a alone."""
    beta = sample.point[1]
    time, model, near = even_grid(LONGEST, sample), even_grid(LONGEST / (1.5 * beta), sample), even_grid(8.0, sample)
    early, time, model = time, time[time > 0.5], model[model > 0.5]
    least = 2.0 if math.isclose(power, beta - 1.0) else 1.0  # the logarithm at the resonance begins at two features

    def run(size: float, decay: float, peak: float = 1.0) -> PowerRun:
        return PowerRun(size, 0.0, decay, peak=peak, power=power)

    runs = {
        "T = M^(beta/2)": (time, [run(whole(2 * u / beta + 1), 10**u) for u in time]),
        "T alone, M = 1e250": (time, [run(whole(250), 10**u) for u in time]),
        "M far beyond T = 1e6": (time, [run(whole(u + 6), 1e6) for u in time]),
        "T = M^beta": (model, [run(m, m**beta) for m in map(whole, model + 1)]),
        "T = M^(3 beta/2)": (model, [run(m, m ** (1.5 * beta)) for m in map(whole, model + 1)]),
        "T alone, M = 10": (time, [run(10.0, 10 ** (1.5 * beta + u)) for u in time]),
        "T from 2 on, M = 1e250": (early, [run(whole(250), 2 * 10**u) for u in early]),
        f"T from 2 on, M = {least:g}": (early, [run(least, 2 * 10**u) for u in early]),
        "M alone, T = 1e40": (model, [run(m, 10.0**LONGEST) for m in map(whole, model + 1)]),
        "a alone": (near, [run(1e6, 1e6, 10**-u) for u in near]),
        "a alone, T = M^(3 beta/2)": (near, [run(1e6, 10 ** (9.0 * beta), 10**-u) for u in near]),
    }
    rays = [risk_ray(name, *pair, sample, _noise) for name, pair in runs.items()]  # type: ignore[arg-type]
    far = {name: run for name, run in runs.items() if "from 2 on" not in name}  # in whole periods it begins at 1
    rays += repeating_runs(far, sample, noise_up_to_constants)
    return tuple(replace(ray, logs={name: ray.logs[name] for name in ("M", "T", "a", "p")}) for ray in rays)


def _law_rays(sample: Sample, power: float) -> tuple[Ray, ...]:
    """The excess risk where each term decides in turn, and along T, M, a, B and sigma^2 alone where the noise does."""
    beta, loud = sample.point[1], 10**SILENT
    time, near = even_grid(LONGEST, sample), even_grid(8.0, sample)
    model, alone = even_grid(LONGEST / (1.5 * beta), sample), even_grid(LONGEST / beta, sample)

    def run(size: float, decay: float, batch: float = 1.0, noise: float = 1.0, peak: float = 1.0) -> PowerRun:
        return PowerRun(size, 0.0, decay, batch=batch, noise=noise, peak=peak, power=power)

    runs: dict[str, tuple[Array, Sequence[Training]]] = {
        "M decides, T = 10^(2/s) M^(3 beta)": (
            alone,
            [run(m, long_after(m, sample), 10**SILENT) for m in map(whole, alone)],
        ),
        "T decides, M = T^(4/beta)": (time, [run(whole(4 * u / beta), 10**u, 10**SILENT) for u in time]),
        "noise, M = T^(2/beta)": (time, [run(whole(2 * u / beta), 10**u, noise=loud) for u in time]),
        "noise, T = M^(3 beta/2)": (model, [run(m, m ** (1.5 * beta), noise=loud) for m in map(whole, model)]),
        "noise, T alone, M = 10": (time, [run(10.0, 10 ** (1.5 * beta + u), noise=loud) for u in time]),
        "noise, a alone": (near, [run(1e6, 1e6, noise=loud, peak=10**-u) for u in near]),
        "noise, B alone": (near, [run(1e6, 1e6, 10**u, loud) for u in near]),
        "noise, sigma^2 alone": (time, [run(1e6, 1e6, noise=10 ** (12 + u)) for u in time]),
        "M decides; a, B and sigma^2 vary": silent(run(10.0, long_after(10.0, sample)), sample),
        "T decides; a, B and sigma^2 vary": silent(run(whole(40.0 / beta), 1e10), sample),
        "noise, T = M^(3 beta/2); a, B and sigma^2 vary": (
            near,
            [run(1e6, 10 ** (9.0 * beta), 10 ** (1.7 * u), loud * 10 ** (0.6 * u), 10**-u) for u in near],
        ),
    }
    return functional_rays(runs, sample)


@lru_cache(maxsize=64)
def _measured(sample: Sample, powers: Powers, rays: Callable[[Sample, float], tuple[Ray, ...]]) -> Mapping[str, Any]:
    return {name: rays(sample, float(power)) for name, power in powers(sample.beta).items()}


def _beyond(sample: Sample, powers: Powers, rays: Callable[[Sample, float], tuple[Ray, ...]]) -> dict[str, Any]:
    """One of the parts with a power on the other side of beta - 1, as far from it as resolves the two laws."""
    far = min(0.5, 0.5 * (float(sample.beta) - 1.0))
    side = 1.0 if powers is fast_powers else -1.0
    return {next(iter(powers(sample.beta))): rays(sample, float(sample.beta) - 1.0 + side * far)}


def _short_noise(sample: Sample, power: float) -> tuple[Ray, ...]:
    """The noise of a decay of an intrinsic time below 1."""
    grid = even_grid(8.0, sample)
    ray = risk_ray("T to 0", grid, [PowerRun(1e6, 0.0, 10**-u, power=power) for u in grid], sample, _noise)  # type: ignore[arg-type]
    return (replace(ray, logs={name: ray.logs[name] for name in ("M", "T", "a", "p")}),)


def _short_law(sample: Sample, power: float) -> tuple[Ray, ...]:
    """The excess risk after an intrinsic time below 1."""
    grid = even_grid(8.0, sample)
    runs = [PowerRun(1e6, 0.0, 10**-u, batch=10**SILENT, power=power) for u in grid]
    return (risk_ray("T to 0", grid, runs, sample, functional_risk),)


def noise_order(noise: Expr) -> Formula:
    """The noise integral of the power decay is a times this."""
    return same_order(power_sum(), a * noise)


def _noise_of(powers: Powers) -> Callable[[Sample], list[dict[Any, Any]]]:
    """The noise of three features at the powers, for the sum that stands for it."""

    def instances(sample: Sample) -> list[dict[Any, Any]]:
        capacity, rows = sample.point[1], []
        for power in powers(sample.beta).values():
            schedule = PowerRun(3.0, 0.0, 2.0, power=float(power)).schedule(capacity)
            noise = noise_functional(Model(*sample.point, 3, 1.0), schedule).value
            rows.append({power_sum(): noise, M: 3, T: 2.0, p: float(power), a: peak_rate(capacity)})
        return rows

    return instances


def law_order(noise: Expr) -> Formula:
    """The scaling law with this noise over a."""
    return same_order(E, LEARNED + sigma**2 / B * a * noise)


def power_claim(
    name: str, title: str, formula: Formula, powers: Powers, rays: Any, *hypotheses: Any, **settings: Any
) -> Claim:
    """A claim about orders that holds for each of the powers drawn."""

    def statement(sample: Sample) -> Statement:
        return Joint({name: order_statement(formula, sample, p=power) for name, power in powers(sample.beta).items()})

    def mutants(sample: Sample) -> Mapping[str, Statement]:
        return {
            f"{name}: {wrong}": Joint({name: version})
            for name, power in powers(sample.beta).items()
            for wrong, version in order_mutants(formula, sample, p=power).items()
        }

    return Claim(
        name, "eqn: fsl-simplified", 883, title, formula, hypotheses,
        lambda sample: _measured(sample, powers, rays), statement, mutants, role="own",
        beyond=lambda sample: {
            "T to 0": _measured(sample, powers, _short_law if rays is _law_rays else _short_noise),
            "p beyond": _beyond(sample, powers, rays),
        },
        **settings,
    )  # fmt: skip


def _resonant(sample: Sample, power: float, fewer: Callable[[Any, Any], Any]) -> Joint:
    """The order a T^-q at the resonance times a power of a function of log M and log T."""
    ((name, p_value),) = resonant_powers(sample.beta).items()
    plain = order_statement(noise_order(FAST), sample, p=p_value)

    def law(powers: Mapping[str, float], logs: Mapping[str, Any]) -> Any:
        return plain.law(powers, logs) + power * np.log(fewer(logs["M"], logs["T"]))

    return Joint({name: replace(plain, law=law)})


def _at_resonance(sample: Sample) -> Joint:
    """The order of the claim, with the power at the resonance."""
    ((name, p_value),) = resonant_powers(sample.beta).items()
    return Joint({name: order_statement(noise_order(RESONANT), sample, p=p_value).of("a", "T")})


def resonant_mutants(sample: Sample) -> dict[str, Statement]:
    """Other powers of the logarithm, and one of the two alone: what a ray of forty decades resolves."""
    powers = {"no logarithm": 0.0, "the square root of the logarithm": 0.5, "the logarithm squared": 2.0}
    wrong: dict[str, Statement] = {name: _resonant(sample, exponents, np.minimum) for name, exponents in powers.items()}
    return {**wrong, "log M alone": _resonant(sample, 1.0, lambda size, time: size),
            "log T alone": _resonant(sample, 1.0, lambda size, time: time),
            "the larger logarithm": _resonant(sample, 1.0, np.maximum)}  # fmt: skip


@cache
def expansions() -> tuple[Formula, ...]:
    """The two expansions for M infinite, off the resonance and at it."""
    off, at = power_decay_limits()
    return off.conclusion, at.conclusion


def sharp_noise(sample: Sample) -> dict[str, list[tuple[Any, float]]]:
    """The noise over a for M infinite at T = 1e6, 1e9 and 1e12, off the resonance on both sides and at it."""
    beta = sample.point[1]
    model = Model(*sample.point, math.inf, 1.0)

    def measured(power: Any, decade: int, **letters: Any) -> tuple[Any, float]:
        run = PowerRun(math.inf, 0.0, 10.0**decade, power=float(power))
        value = noise_functional(model, run.schedule(beta)).value / peak_rate(beta)
        return {"T": Integer(10) ** decade, **letters}, value

    off, (at,) = {**fast_powers(sample.beta), **slow_powers(sample.beta)}, resonant_powers(sample.beta).values()
    decades = (6, 9, 12)
    return {"off the resonance": [measured(power, decade, p=power) for power in off.values() for decade in decades],
            "at the resonance": [measured(at, decade) for decade in decades]}  # fmt: skip


def sharp_statement(sample: Sample) -> Joint:
    """Both terms of each expansion; what is left is exponentially small in T^(1/(beta + 1))."""

    def remainder(point: Any) -> float:
        return QUADRATURE + smooth_sum_error(0.0, float(point["T"]), sample.point[1], 2.0)

    def numeric(right: Expr) -> Sharp:
        terms = Add.make_args(right.subs(a, 1))
        first, second = sorted(terms, key=lambda term: term.has(log))
        wrong = {
            "one term alone": first,
            "the other term alone": second,
            "the second term by a tenth": first + Rational(11, 10) * second,
        }
        return sharp(first + second, {"beta": sample.beta}, remainder, wrong, scale="T")

    return Joint(
        dict(zip(("off the resonance", "at the resonance"), (numeric(law.right) for law in expansions()), strict=True))
    )


CLAIMS: tuple[Claim, ...] = (
    power_claim(
        "vanishing-end/fast", "the noise of a rate that vanishes slowly",
        noise_order(FAST), fast_powers, _noise_rays,
        SPECTRUM, less(p, beta - 1), at_least(M, 1), at_least(T, 1), UP_TO_CONSTANTS, derive=power_decay_bounds,
        instances=_noise_of(fast_powers),
        remark="The kernel forgets before the rate has vanished.",
    ),
    power_claim(
        "vanishing-end/slow", "the noise of a rate that vanishes fast",
        noise_order(SLOW), slow_powers, _noise_rays,
        SPECTRUM, less(beta - 1, p), at_least(M, 1), at_least(T, 1), UP_TO_CONSTANTS, instances=_noise_of(slow_powers),
        remark="The noise saturates at the capacity, without a logarithm.",
    ),
    Claim(
        "vanishing-end/resonance", "eqn: fsl-simplified", 883, "the noise at the resonance has a logarithm",
        noise_order(RESONANT), (SPECTRUM, equals(p, beta - 1), at_least(M, 2), at_least(T, 2), UP_TO_CONSTANTS),
        lambda sample: _measured(sample, resonant_powers, _noise_rays),
        _at_resonance, resonant_mutants, role="own", instances=_noise_of(resonant_powers),
        beyond=lambda sample: {"T to 0": _measured(sample, resonant_powers, _short_noise)},
    ),
    power_claim(
        "vanishing-end/law-fast", "the scaling law of a power decay that vanishes slowly",
        law_order(FAST), fast_powers, _law_rays,
        MODEL, less(p, beta - 1), at_least(T, 1), NOISE, STABLE, UP_TO_CONSTANTS,
        depends=("eqn: fsl-simplified", "vanishing-end/fast"),
    ),
    power_claim(
        "vanishing-end/law-slow", "the scaling law of a power decay that vanishes fast",
        law_order(SLOW), slow_powers, _law_rays,
        MODEL, less(beta - 1, p), at_least(T, 1), NOISE, STABLE, UP_TO_CONSTANTS,
        depends=("eqn: fsl-simplified", "vanishing-end/slow"),
        remark="It is the law of exponential decay without its logarithm.",
    ),
    Claim(
        "vanishing-end/sharp", "eqn: fsl-simplified", 883, "the noise of a power decay to its last term",
        lambda: AllOf(expansions()), (SPECTRUM, INFINITE, OFF, exact_powers(OSCILLATE)),
        of_infinite_size(sharp_noise), sharp_statement,
        derive=power_decay_limits, role="own",
        remark="At the resonance the poles of both terms meet in a logarithm.",
    ),
)  # fmt: skip
