"""Losses and the terms of the functional scaling law along rays: in M, in sigma^2, in sup gamma and in t.

Measured with piecewise-constant schedules on a mesh (:mod:`fsl_num.volterra.mesh`), under two closures: the Volterra
equation of the paper, and the exact second moments of the SDE for Gaussian features, for which the constants of the
noise are rho_- = 1 and rho_+ = 2. Nothing here knows what is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Rational

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import NOTHING
from fsl_num.claims.statements import Ray
from fsl_num.claims.words import Where
from fsl_num.design.shapes import SHAPES, shape
from fsl_num.design.worst import worst_schedule
from fsl_num.model import Model
from fsl_num.paper.block_constants import PERIOD, Constants, given_constants
from fsl_num.paper.block_spectra import block_modes
from fsl_num.validation import Array
from fsl_num.volterra import Problem, Spectrum, solve
from fsl_num.volterra.mesh import MeshEquation, equation_of_modes, gaussian_parts, infinite_parts, mesh_equation

STABILITY = 0.05
"""gamma_max tr(H)/2 on the rays: the hypothesis "sup gamma sufficiently small". Loss/law then lies between 1 and about
1.2, so that a slow change of which term leads cannot be mistaken for a drift; larger rates are checked apart."""
LAST_DECADES = 20.0
"""Rays in M end where T reaches this many decades, or M six."""
TAKEN_OVER = 7.0
"""Decades by which the mini-batch noise of the signal outgrows it on rays where it takes over. Loss over law goes from
the constant of the one to that of the other meanwhile: where they differ, as over spectra up to constants, by 0.7."""
SLOWEST, HARDLY = Rational(1, 20), Rational(1, 100)
"""Of s - (2 - 1/beta): from the one on the noise takes over within what double precision holds; up to the other so
slowly that no ray shows it."""
CLOSURES = ("volterra", "gaussian")


@dataclass(frozen=True)
class Run:
    """One schedule of one family: its ``shape`` (or "adversary"), its ``level`` (share of gamma_max), sigma^2.

    ``noise_power``: sigma^2 = noise M^noise_power.
    """

    shape: str
    noise: float
    level: float = 1.0
    noise_power: float = 0.0

    def noise_at(self, size: float) -> float:
        """sigma^2 for a model of M features."""
        return self.noise * float(size**self.noise_power)

    @property
    def name(self) -> str:
        """The run in words."""
        power = f" M^{self.noise_power:.3g}" if self.noise_power else ""
        rate = f", rate x {self.level:g}" if self.level != 1.0 else ""
        return f"{self.shape}, sigma^2 = {self.noise:g}{power}{rate}"


@dataclass(frozen=True)
class Path:
    """Intrinsic times T = multiple M^(power beta) along which M grows; at one time where the power is 0."""

    power: float
    multiple: float

    @property
    def name(self) -> str:
        """The path in words."""
        of_size = {0.0: "", 1.0: " M^beta"}.get(self.power, f" M^({self.power:g} beta)")
        return f"t = {self.multiple:g}{of_size}"


INSIDE, EARLY, EDGE = Path(0.5, 4.0), Path(1.0, 0.003), Path(1.0, 0.3)
AFTER, BEYOND = Path(1.0, 3.0), Path(1.0, 100.0)
AT_FIRST = Path(0.0, 0.25)
"""Before it signal, kernel and risk are those at 0 but for a share of it: the mesh begins with cells of 0.05."""


def bound(equation: MeshEquation, stability: float = STABILITY) -> float:
    """gamma_max with gamma_max tr(H)/2 = stability."""
    return 2.0 * stability / equation.trace


def stability_and_rate(sample: Sample) -> dict[str, Any]:
    """A stability c, and the rate that :func:`bound` takes for it, of ten features."""
    beta, size = sample.point[1], 10
    equation = mesh_equation(*sample.point, float(size), 1.0)
    return {"c": STABILITY, "gamma_max": bound(equation), "H_M": np.diag(np.arange(1.0, size + 1.0) ** -beta)}


def _feedback(sample: Sample) -> dict[str, Any]:
    """rho_- and rho_+ of the equation solved: f' = (gamma rho - 2) f for one feature of lambda = 1 without noise."""
    gamma, times = 0.1, np.array([1.0, 2.0])
    problem = Problem(Model(noise=0.0, spectrum=Spectrum([1.0], [1.0], 0.0)), gamma=gamma, horizon=2.0)
    slopes = np.log(2.0 * solve(problem, times, rtol=1e-10).excess_risk) / times
    return dict(zip(("rho_-", "rho_+"), (slopes + 2.0) / gamma, strict=True))


VOLTERRA = (
    Where("rho_- and rho_+ are 1", _feedback),
    Where("c is gamma_max tr(H_M)/2", stability_and_rate),
)
"""The equation for one constant of hypercontractivity, at rates up to gamma_max."""


def decades_until_taken_over(s: float, beta: float) -> float:
    """Decades of T until the mini-batch noise of the signal leads alone, t^-(2 - 1/beta) against t^-s; 0 for never.

    >>> round(decades_until_taken_over(2.0, 5.0)), decades_until_taken_over(1.0, 5.0)
    (35, 0.0)
    """
    faster = s - (2.0 - 1.0 / beta)
    return TAKEN_OVER / faster if faster > 0.9 * SLOWEST else 0.0


def led(s: Any, beta: Any) -> tuple[Any, Any]:
    """A point, moved where signal and mini-batch noise would be alike along all of a ray but not of one power.

    >>> led(Rational(2), 5), led(Rational(11, 6), 5)
    ((2, 5), (181/100, 5))
    """
    even = 2 - 1 / Rational(beta)
    return (even + HARDLY, beta) if HARDLY < s - even < SLOWEST else (s, beta)


def sizes(sample: Sample, path: Path) -> Array:
    """Model sizes of a ray: from 8 on, and from t = 4 on where t grows with them."""
    beta = sample.point[1]
    first = max(8.0, math.ceil((4.0 / path.multiple) ** (1.0 / (beta * path.power)))) if path.power else 8.0
    rate = beta * (path.power or 1.0)
    last = max(min(6.0, LAST_DECADES / rate), math.log10(first) + 2.0)
    last = max(last, decades_until_taken_over(*sample.point) / rate)
    count = 6 if sample.effort == 0 else 8
    return np.unique(np.floor(np.geomspace(first, 10.0**last, count)))


@lru_cache(maxsize=256)
def _block_equation(constants: Constants, s: float, beta: float, size: float, horizon: float) -> MeshEquation:
    return equation_of_modes(s, beta, size, horizon, *block_modes(constants, s, beta, size, horizon))


def equation_up_to_constants(
    constants: Constants | None, s: float, beta: float, size: float, horizon: float
) -> MeshEquation:
    """The equation of a spectrum up to constants, or of exact powers where there are none.

    >>> equation_up_to_constants(None, 0.5, 2.0, 100.0, 1e3) is mesh_equation(0.5, 2.0, 100.0, 1e3)
    True
    """
    if constants is None:
        return mesh_equation(s, beta, size, horizon)
    return _block_equation(constants, s, beta, size, horizon)


@lru_cache(maxsize=4096)
def _gammas(
    s: float, beta: float, size: float, horizon: float, run: Run, infinite: bool, constants: Constants | None
) -> Array:
    equation = equation_up_to_constants(constants, s, beta, size, horizon)
    if run.shape != "adversary":
        return bound(equation) * run.level * shape(run.shape, equation)
    noise = run.noise_at(size)
    # Bang-bang from every shape: fifteen steps from one shape cost more, and end at some sizes in a schedule that is
    # worse by 3 % than at the next (at s = 3/2, beta = 5), which looks like a drift. A step from every shape ends in
    # the same schedules.
    worst = worst_schedule(
        equation, bound(equation), noise, largest=not infinite, infinite=infinite, searches=len(SHAPES), steps=0
    )
    return worst.gammas


def records(
    s: float, beta: float, size: float, horizon: float, runs: Sequence[Run], *, infinite: bool = False,
    constants: Constants | None = None,
) -> list[dict[str, float]]:  # fmt: skip
    """For every run: natural logs of the terms of the law (finite and infinite M) and of the loss of both closures.

    With ``constants`` K_M, e_M, delta_M and the loss are those of such a spectrum; K_infinity and e_infinity, which
    stand for the powers of t in the law, stay those of exact powers.

    Keys: "M", "t", "sigma^2", "gamma", "delta", "e", "label" (with sigma^2), "batch", the same with "_inf", and
    "batch_mixed" (K_infinity with e_M), "volterra", "gaussian" (f, twice the excess risk).
    """
    equation = equation_up_to_constants(constants, s, beta, size, float(horizon))
    schedules = [_gammas(s, beta, size, horizon, run, infinite, constants) for run in runs]
    exact = gaussian_parts(equation, schedules)
    recorded = []
    for run, gammas, moments in zip(runs, schedules, exact, strict=True):
        noise, terms = run.noise_at(size), equation.parts(gammas)
        wide = infinite_parts(equation, gammas)
        logs = {"M": math.log(size), "t": math.log(horizon), "sigma^2": _log(noise), "gamma": _log(gammas.max())}
        logs |= {name: _log(terms[name]) for name in ("delta", "e", "batch")} | {"label": _log(noise * terms["label"])}
        logs |= {name: _log(wide[name]) for name in ("e_inf", "batch_inf", "batch_mixed")}
        logs["label_inf"] = _log(noise * wide["label_inf"])
        for closure, loss in (("volterra", terms), ("gaussian", moments)):
            logs[closure] = _log(loss["loss_e"] + terms["delta"] * loss["loss_one"] + noise * loss["noise_one"])
        recorded.append(logs)
    return recorded


def rays(name: str, scale: str, points: Sequence[dict[str, float]], *, falling: bool = False) -> list[Ray]:
    """One ray for each closure; ``scale`` is the key of the variable that grows (or falls)."""
    values = np.array([point[scale] for point in points])
    grows = (-values if falling else values) - (-values if falling else values)[0] + 1.0
    logs = {key: np.array([point[key] for point in points]) for key in points[0]}
    return [Ray(f"{closure}: {name}", grows, logs, logs[closure]) for closure in CLOSURES]


def model_rays(sample: Sample, path: Path, runs: Sequence[Run], *, infinite: bool = False) -> list[Ray]:
    """Along M on a path, for every run and both closures, and over spectra that are powers only up to constants.

    The adversary searches under the Volterra closure and is checked there: under the other one two schedules that are
    equally bad for the first may differ. The worst one that it finds, the constant rate, is checked under both.
    """
    rays_of_models = []
    kinds = given_constants(sample.seed)
    if sample.effort == 0:  # one on either side of M^beta
        kinds = kinds[:1] if path.multiple < 1.0 else kinds[1:]
    for constants in (None, *kinds):
        kept = [run for run in runs if constants is None or run.shape != "adversary"]
        rays_of_models += _rays_of_spectrum(sample, path, kept, constants, infinite=infinite) if kept else []
    return rays_of_models


def _rays_of_spectrum(
    sample: Sample, path: Path, runs: Sequence[Run], constants: Constants | None, *, infinite: bool
) -> list[Ray]:
    s, beta = sample.point
    table = [
        records(s, beta, float(size), path.multiple * float(size) ** (path.power * beta), runs,
                infinite=infinite, constants=constants)
        for size in (sizes(sample, path) if constants is None else repeating_sizes(sample, path))
    ]  # fmt: skip
    kind = "" if constants is None else f", {constants.name}"
    return [
        ray for index, run in enumerate(runs)
        for ray in rays(f"{path.name}, {run.name}{kind}", "M", [row[index] for row in table])
        if run.shape != "adversary" or ray.name.startswith("volterra")
    ]  # fmt: skip


def repeating_sizes(sample: Sample, path: Path) -> Array:
    """Model sizes of a ray on which spectra up to constants repeat themselves: whole periods of t and of M^beta."""
    power = (path.power or 1.0) * sample.point[1]
    first, last = (math.log(float(size) ** power, PERIOD) for size in sizes(sample, path)[[0, -1]])
    first = math.ceil(first)
    periods = np.unique(np.linspace(first, max(round(last), first + 5), 6).round())
    return np.asarray(np.floor(PERIOD ** (periods / power) * (1.0 + 1e-12)))


def moderate_size(beta: float) -> float:
    """A fixed model size whose window is six decades long (at least 10 features)."""
    return float(max(10.0, math.floor(10.0 ** (6.0 / beta))))


def _log(value: float) -> float:
    return math.log(value) if value > math.exp(NOTHING) else NOTHING
