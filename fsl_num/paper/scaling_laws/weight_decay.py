"""Decoupled weight decay: exponential forgetting, of noise and of what was learned. Ours.

With w <- w - rate (gradient + omega w) a mode forgets like exp(-(lambda + omega) t), and the kernel is K(t) times
exp(-2 omega t). What is learned is shrunk by lambda/(lambda + omega) and keeps a bias as of ridge regression, which
saturates at s = 2. At a constant rate the noise of the last steps decides, and there omega changes no order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from sympy import Integer, Integral, Min, Rational, Symbol, exp, oo, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_mutants, order_statement
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.paper.block_constants import PERIOD, UP_TO_CONSTANTS, Constants, given_constants
from fsl_num.paper.block_spectra import infinite_modes
from fsl_num.paper.hypotheses import INFINITE, MODEL, SPECTRUM, of_infinite_size
from fsl_num.paper.scaling_laws.training import LONGEST, even_grid
from fsl_num.spectrum import trace
from fsl_num.validation import Array
from fsl_sym.proof import at_least, at_most, less, same_order
from fsl_sym.spectrum import forgetting_kernel
from fsl_sym.symbols import E, T, beta, gamma, s, sigma, t

OMEGA: Final = Symbol("omega", positive=True)
OLDER: Final = Symbol("R", positive=True)
LAW: Final = same_order(E, T**-s + OMEGA ** Min(s, 2) + gamma * sigma**2)
FORGOTTEN: Final = same_order(
    Integral(forgetting_kernel(t, oo) * exp(-2 * OMEGA * (t - OLDER)), (t, OLDER, oo)),
    OLDER ** (1 / beta - 1) * Min(1, 1 / (OMEGA * OLDER)),
)
"""What is left of the noise that is older than R, times exp(2 omega R)."""
_APART: Final = Rational(1, 4)
"""By so much tasks are away from s = 2, where the bias has a logarithm."""
_LATER: Final = 1e40
"""Of noise that is older than R, what the kernel holds at R times this is below what counts, over blocks too."""
_LISTED: Final = 512
"""Modes that are summed one by one; the others by the integral from half a mode on, good to _LISTED^-2 relative."""


def over_modes(summand: Callable[[Array], Array], end: float) -> float:
    """The sum of a function of log j over all j, which from log j = ``end`` on is below what counts."""
    from scipy.integrate import simpson

    head = summand(np.log(np.arange(1.0, _LISTED + 1.0)))
    logs = np.linspace(math.log(_LISTED + 0.5), max(end, 10.0), 3001)
    return float(head.sum() + simpson(summand(logs) * np.exp(logs), logs))


def decayed_risk(
    s: float, beta: float, omega: float, time: float, noise: float, constants: Constants | None = None
) -> float:
    """The excess risk at the time T for the noise gamma sigma^2 and weight decay ``omega``, M infinite.

    ``constants``: those of the spectrum, if it is no exact power.
    """

    def signal_and_noise(eigenvalue: Array) -> tuple[Array, Array]:
        """What is left of a mode's signal, and the noise over lambda^2."""
        kept = np.exp(-np.minimum((eigenvalue + omega) * time, 700.0))
        left = (omega + eigenvalue * kept) / (eigenvalue + omega)
        return np.asarray(left**2), np.asarray(noise * (1.0 - kept**2) / (2.0 * (eigenvalue + omega)))

    if constants is not None:
        rates, weights, signals = infinite_modes(constants, s, beta, min(time, 1.0 / omega))
        left, injected = signal_and_noise(0.5 * rates)
        return 0.5 * float(signals @ left + weights @ injected)

    def summand(logs: Array) -> Array:
        eigenvalue = np.exp(-beta * logs)
        left, injected = signal_and_noise(eigenvalue)
        return np.asarray(np.exp(-(1.0 + s * beta) * logs) * left + eigenvalue**2 * injected)

    return 0.5 * over_modes(summand, math.log(min(1.0 / omega, time)) / beta + 30.0 / min(s * beta, beta - 1.0))


def older_noise(beta: float, omega: float, older: float, constants: Constants | None = None) -> float:
    """The integral of K(t) exp(-2 omega (t - R)) from R on, M infinite; ``constants`` of the spectrum."""
    if constants is not None:
        rates, weights, _ = infinite_modes(constants, 1.0, beta, _LATER * older)
        return float(weights @ (np.exp(-rates * older) / (rates + 2.0 * omega)))

    def summand(logs: Array) -> Array:
        eigenvalue = np.exp(-beta * logs)
        return np.asarray(eigenvalue**2 * np.exp(-2.0 * eigenvalue * older) / (2.0 * (eigenvalue + omega)))

    return over_modes(summand, math.log(older) / beta + 30.0 / (beta - 1.0))


def _parted(s: Any, beta: Any) -> tuple[Any, Any]:
    """A task away from s = 2."""
    return (s if abs(s - 2) >= _APART else 2 + (_APART if s > 2 else -_APART)), beta


Runs = list[tuple[float, float, float, float]]
"""log10 of T, omega, gamma and sigma^2."""


def _ray(sample: Sample, name: str, scale: Array, runs: Runs, constants: Constants | None = None) -> Ray:
    s, beta = sample.point
    columns = [np.array(column) for column in zip(*runs, strict=True)]
    names = ("T", "omega", "gamma", "sigma^2")
    logs = {letter: math.log(10.0) * column for letter, column in zip(names, columns, strict=True)}
    values = [decayed_risk(s, beta, 10.0**w, 10.0**t, 10.0 ** (g + v), constants) for t, w, g, v in runs]
    return Ray(name, math.log(10.0) * scale, logs, np.log(values))


def _outside(sample: Sample) -> dict[str, Located]:
    """T falls below 1, and omega rises above 1."""
    grid = even_grid(8.0, sample)
    rays = {
        "T to 0": _ray(sample, "T alone", grid, [(-u, -250.0, -250.0, 0.0) for u in grid]),
        "omega to infinity": _ray(sample, "omega alone", grid, [(9.0, u, -250.0, 0.0) for u in grid]),
    }
    return {name: Located([ray], {"M": math.inf}) for name, ray in rays.items()}


def _rays(sample: Sample) -> tuple[Ray, ...]:
    """Each term decides in turn, over every spectrum."""
    time, near = even_grid(LONGEST, sample), even_grid(8.0, sample)
    # half of the largest: the trace of a spectrum up to constants is up to twice that
    largest = math.log10(0.95 / trace(sample.point[1]))
    runs: dict[str, tuple[Array, Runs]] = {
        "T alone": (time, [(u, -250.0, -250.0, 0.0) for u in time]),
        "omega alone": (time, [(250.0, -u - 1, -250.0, 0.0) for u in time]),
        "omega = 1/T": (time, [(u + 1, -u - 1, -250.0, 0.0) for u in time]),
        "noise, gamma alone": (near, [(9.0, -9.0, largest - u, 50.0) for u in near]),
        "noise, sigma^2 alone": (time, [(9.0, -9.0, -1.0, u + 12) for u in time]),
        "noise, omega and T": (near, [(20.0 + 0.6 * u, -u, -1.0, 50.0) for u in near]),
        "T decides; gamma and sigma^2": (near, [(20.0, -250.0, -250.0 - u, 0.6 * u) for u in near]),
        "omega decides; gamma and sigma^2": (near, [(250.0, -20.0, -250.0 - u, 0.6 * u) for u in near]),
    }
    exact = [_ray(sample, name, *run) for name, run in runs.items()]
    repeating = [
        _ray(sample, f"{name}, {constants.name}", scale, [(_period(t), _period(w), g, v) for t, w, g, v in along],
             constants)
        for constants in given_constants(sample.seed)
        for name, (scale, along) in runs.items()
    ]  # fmt: skip
    return (*exact, *repeating)


def _period(decades: float) -> float:
    """The nearest whole number of periods, in decades."""
    return math.log10(PERIOD) * round(decades / math.log10(PERIOD))


def _older_rays(sample: Sample) -> tuple[Ray, ...]:
    """R alone far below 1/omega and far beyond, and omega alone there, over every spectrum."""
    beta, time = sample.point[1], even_grid(LONGEST, sample)

    def ray(name: str, runs: list[tuple[float, float]], constants: Constants | None = None) -> Ray:
        """``runs`` are log10 of R and omega."""
        older, omega = (math.log(10.0) * np.array(column) for column in zip(*runs, strict=True))
        values = [older_noise(beta, 10.0**w, 10.0**r, constants) for r, w in runs]
        return Ray(name, math.log(10.0) * time, {"R": older, "omega": omega}, np.log(values))

    runs = {
        "R below 1/omega": [(u, -100.0) for u in time],
        "R beyond 1/omega": [(u + 3, 0.0) for u in time],
        "R = 1/omega": [(u + 3, -u - 3) for u in time],
        "omega beyond 1/R": [(60.0, -u) for u in time],
    }
    exact = [ray(name, run) for name, run in runs.items()]
    repeating = [
        ray(f"{name}, {constants.name}", [(_period(older), _period(omega)) for older, omega in run], constants)
        for constants in given_constants(sample.seed)
        for name, run in runs.items()
    ]
    return (*exact, *repeating)


def _older(sample: Sample) -> list[dict[Any, Any]]:
    """What is left of older noise at some R and omega."""
    return [{FORGOTTEN.left: older_noise(sample.point[1], omega, older), OLDER: older, OMEGA: omega}
            for older, omega in ((1.0, 1.0), (3.0, 0.5))]  # fmt: skip


def _mutants(sample: Sample) -> dict[str, Statement]:
    free = T**-s + gamma * sigma**2
    wrong = {
        "without saturation": free + OMEGA**s,
        "saturation at 1": free + OMEGA ** Min(s, 1),
        "a bias of omega^2": free + OMEGA**2,
        "noise that weight decay takes away": T**-s + OMEGA ** Min(s, 2) + gamma * sigma**2 * OMEGA ** (1 - 1 / beta),
    }
    same = {s: sample.s, beta: sample.beta}
    different = {name: order for name, order in wrong.items() if order.subs(same) != LAW.right.subs(same)}
    return {**order_mutants(LAW, sample),
            **{name: order_statement(same_order(E, order), sample) for name, order in different.items()}}  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "weight-decay/law", "eqn: fsl-simplified", 883, "weight decay at a constant rate",
        LAW, (MODEL, INFINITE, "s != 2", at_least(T, 1), at_most(OMEGA, 1), less(gamma * zeta(beta), 2),
              Where("E is that of eqn: fsl-simplified, of the noise that of the labels alone"), UP_TO_CONSTANTS),
        of_infinite_size(_rays), lambda sample: order_statement(LAW, sample), _mutants, moved=_parted, beyond=_outside,
        extra_points={"easy": ((Rational(5, 2), Integer(3)),)}, role="own", depends=("eqn: fsl-simplified",),
        remark="It forgets the signal too, so that the bias saturates as that of ridge regression does.",
    ),
    Claim(
        "weight-decay/forgetting", "eqn: fsl-simplified", 883, "weight decay forgets old noise exponentially",
        FORGOTTEN, (SPECTRUM, INFINITE, at_least(OLDER, 1), at_most(OMEGA, 1), UP_TO_CONSTANTS),
        of_infinite_size(_older_rays), instances=_older,
        mutants=lambda sample: {
            "the kernel alone": order_statement(same_order(FORGOTTEN.left, OLDER ** (1 / beta - 1)), sample),
            "forgetting at the rate omega alone": order_statement(
                same_order(FORGOTTEN.left, OLDER ** (1 / beta - 1) * Min(1, 1 / OMEGA)), sample
            ),
        },
        role="own", depends=("eqn: fsl-simplified",),
        remark="Noise younger than the inverse of the decay is kept as it was.",
    ),
)  # fmt: skip
