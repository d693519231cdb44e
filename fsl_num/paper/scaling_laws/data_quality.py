"""The quality of data as a noise sigma^2(t): where in a run the clean data belong, and how few are enough. Ours.

At a constant rate the label noise enters as the convolution of K with gamma sigma^2(t). K falls, so that clean data
leave the least at the end (rearrangement): with noise sigma_0^2 over the last intrinsic time R and sigma^2 before, what
is left is gamma (sigma_0^2 + sigma^2 R^-(1 - 1/beta)). Followers of the paper ask when to spend clean data, by regime.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Symbol, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.model import Model
from fsl_num.paper.block_constants import PERIOD, TWO_CLOCKS, UP_TO_CONSTANTS, Constants, exact_powers, given_constants
from fsl_num.paper.block_spectra import infinite_integral, infinite_signal
from fsl_num.paper.hypotheses import INFINITE, LABELS, MODEL, located, of_infinite_size, of_unit_noise
from fsl_num.paper.scaling_laws.training import LONGEST, even_grid
from fsl_num.schedules import Constant
from fsl_num.spectrum import kernel_integral, signal, trace
from fsl_num.validation import Array
from fsl_num.volterra import Problem, solve
from fsl_sym.proof import at_least, at_most, equals, less, same_order
from fsl_sym.symbols import E, T, beta, gamma, s, sigma

CLEAN: Final = Symbol("R", positive=True)
CLEAN_NOISE: Final = Symbol("sigma_0", positive=True)
LAW: Final = same_order(E, T**-s + gamma * (CLEAN_NOISE**2 + sigma**2 * CLEAN ** (1 / beta - 1)))
SHARE: Final = same_order(CLEAN / T, T ** (s / (1 - 1 / beta) - 1))
"""The share of the run whose data have to be clean."""
_RATE: Final = 0.1
_LONG: Final = 1e13
"""The rate and the length of the runs whose Volterra equation is solved."""


def functional_risk(
    s: float, beta: float, time: float, clean: float, noise: float, clean_noise: float,
    constants: Constants | None = None,
) -> float:  # fmt: skip
    """Half of e(T) + int K(T - t) sigma^2(t) dt, gamma in the noises, M infinite; ``constants`` of the spectrum."""
    early, late = (infinite_integral(constants, beta, *span) for span in ((clean, time), (0.0, clean)))
    return 0.5 * (infinite_signal(constants, s, beta, time) + noise * early + clean_noise * late)


@lru_cache(maxsize=64)
def volterra_risks(s: float, beta: float, time: float, noise: float) -> tuple[Array, Array]:
    """Times to a ten-thousandth of ``time`` and that; the excess risks by the Volterra equation, M infinite."""
    problem = Problem(Model(s, beta, math.inf, noise), gamma=Constant(peak=_RATE, steps=time / _RATE))
    times = np.append(np.geomspace(1e-9 * time, 1e-4 * time, 7), time)
    return times, solve(problem, times, rtol=1e-12).excess_risk


Runs = list[tuple[float, float, float, float, float]]
"""log10 of T, R, gamma, sigma^2 and sigma_0^2."""


def _ray(sample: Sample, name: str, scale: Array, runs: Runs, constants: Constants | None = None) -> Ray:
    columns = [np.array(column) for column in zip(*runs, strict=True)]
    names = ("T", "R", "gamma", "sigma^2", "sigma_0^2")
    logs = {letter: math.log(10.0) * column for letter, column in zip(names, columns, strict=True)}
    values = [functional_risk(*sample.point, 10.0**t, 10.0**r, 10.0 ** (g + dirty), 10.0 ** (g + clean), constants)
              for t, r, g, dirty, clean in runs]  # fmt: skip
    return Ray(name, math.log(10.0) * scale, logs, np.log(values))


def _outside(sample: Sample) -> dict[str, Any]:
    """Hardly any clean data, where the noise before no longer grows; and hardly any before them."""
    near = even_grid(8.0, sample)
    all_clean = [(9.0, 9.0 + math.log10(1.0 - 10.0 ** (-1.0 - 0.6 * u)), -1.0, 100.0, -100.0) for u in near]
    runs = {"R to 0": [(9.0, -u, -1.0, 100.0, -100.0) for u in near], "R to T": all_clean}
    return {name: Located((_ray(sample, name, near, runs_near),), {"M": math.inf}) for name, runs_near in runs.items()}


def _rays(sample: Sample) -> tuple[Ray, ...]:
    """Each term decides in turn, over every spectrum; R alone also by the Volterra equation, linear in sigma^2(t)."""
    s, beta = sample.point
    time, near = even_grid(LONGEST, sample), even_grid(8.0, sample)
    most = math.log10(1.9 / trace(beta)) - math.log10(2.0)  # the trace of a spectrum up to constants is twice that
    runs: dict[str, tuple[Array, Runs]] = {
        "signal, T alone": (time, [(u + 1, 0.0, -150.0, 0.0, 0.0) for u in time]),
        "signal, all but T": (near, [(20.0, u, -150.0 - 0.4 * u, 1.7 * u, 0.6 * u) for u in near]),
        "noise before, R alone": (time, [(LONGEST + 10, u, -1.0, 100.0, -100.0) for u in time]),
        "noise before, T alone": (time, [(u + 3, 2.0, -1.0, 100.0, -100.0) for u in time]),
        "noise before, gamma and sigma_0^2": (
            near, [(9.0, 3.0, most - u, 100.0, -100.0 + 0.6 * u) for u in near],
        ),
        "noise before, sigma^2 alone": (time, [(9.0, 3.0, -1.0, 12.0 + u, -100.0) for u in time]),
        "clean noise, sigma_0^2 alone": (time, [(LONGEST, LONGEST - 0.31, -1.0, 0.0, 12.0 + u) for u in time]),
        "clean noise, all but sigma_0^2": (
            near, [(12.0 + 1.7 * u, 11.0 - u, -1.0 - u, -100.0 + 0.6 * u, 100.0) for u in near],
        ),
    }  # fmt: skip
    exact = [_ray(sample, name, *run) for name, run in runs.items()]
    repeating = [
        _ray(sample, f"{name}, {constants.name}", scale, [_repeating(run) for run in along], constants)
        for constants in given_constants(sample.seed)
        for name, (scale, along) in runs.items()
    ]
    return (*exact, *repeating, _volterra_ray(s, beta))


def _repeating(run: tuple[float, float, float, float, float]) -> tuple[float, float, float, float, float]:
    """T and R in whole periods, T not the first, R at most half of T."""
    period = math.log10(PERIOD)
    time, clean = (period * max(round(length / period), least) for length, least in zip(run, (1, 0), strict=False))
    return time, min(clean, time - math.log10(2.0)), *run[2:]


def _volterra_ray(s: float, beta: float) -> Ray:
    """R alone: the noise of all of the run less that of its last R, at a constant rate that of a run of length R."""
    noise = 1e100
    times, silent = volterra_risks(s, beta, _LONG, 0.0)
    response = volterra_risks(s, beta, _LONG, 1.0)[1] - silent
    clean = np.log(times[:-1])
    letters = {"T": math.log(_LONG), "gamma": math.log(_RATE), "sigma^2": math.log(noise), "sigma_0^2": -200.0}
    logs = {"R": clean, **{name: np.full(clean.size, value) for name, value in letters.items()}}
    values = np.log(noise * (response[-1] - response[:-1]) + silent[-1])
    return Ray("Volterra, R alone", clean, logs, values)


def _shares(sample: Sample) -> tuple[Ray, ...]:
    """The least share of clean data without noise that leaves no more noise, at gamma sigma^2 = 1, than signal."""
    from scipy.optimize import brentq

    s, beta = sample.point
    logs = math.log(10.0) * np.linspace(LONGEST, 3.0 * LONGEST, 5 + 4 * sample.effort)

    def excess(log_clean: float, log_time: float) -> float:
        time = math.exp(log_time)
        noise = kernel_integral(math.exp(log_clean), time, beta)
        return math.log(noise / float(signal(time, s, beta)))

    shares = [brentq(excess, 0.0, log_risk - math.log(2.0), args=(log_risk,)) - log_risk for log_risk in logs]
    return (Ray("T to infinity", logs, {"T": logs}, np.array(shares), 0),)


def _mutants(sample: Sample) -> dict[str, Statement]:
    before, after = gamma * sigma**2, gamma * CLEAN_NOISE**2
    wrong = {
        "clean data at the start": T**-s + before + after * T ** (1 / beta - 1),
        "clean data anywhere": T**-s + before + after,
        "no memory": T**-s + after + before / CLEAN,
        "without the signal": LAW.right - T**-s,
        "without the noise before": T**-s + after,
        "without the clean noise": LAW.right - after,
    }
    return {name: order_statement(same_order(E, order.expand()), sample) for name, order in wrong.items()}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "data-quality/law", "eqn: fsl-simplified", 883, "label noise that changes along the run",
        LAW, (MODEL, INFINITE, at_least(CLEAN, 1), at_most(2 * CLEAN, T), less(gamma * zeta(beta), 2),
              Where("E is that of eqn: fsl-simplified, of the noise that of the labels alone"), UP_TO_CONSTANTS),
        of_infinite_size(_rays), lambda sample: order_statement(LAW, sample), _mutants,
        beyond=_outside, role="own", depends=("eqn: fsl-simplified",),
        remark="The clean data belong at the end; at the start they would count as if there were none.",
    ),
    Claim(
        "data-quality/late-share", "eqn: fsl-simplified", 883, "the share of the data that has to be clean",
        SHARE, (MODEL, INFINITE, less(s, 1 - 1 / beta), Where("R is the least at which noise and signal are equal"),
                LABELS, equals(CLEAN_NOISE, 0),
                exact_powers(f"{TWO_CLOCKS}data-quality/law")),
        located({"sigma_0": 0.0})(of_unit_noise(_shares)),
        lambda sample: order_statement(SHARE, sample),
        lambda sample: {
            "no memory": order_statement(same_order(CLEAN / T, T ** (s - 1)), sample),
            "the exponent of the kernel": order_statement(same_order(CLEAN / T, T ** (s / (2 - 1 / beta) - 1)), sample),
        },
        regimes=("hard",), role="own", depends=("data-quality/law",),
        remark="In the hard regime a vanishing share of clean data is enough, as a vanishing decay of the rate is.",
    ),
)  # fmt: skip
