r"""Loss dynamics: the risk of SGD along a run under several schedules, and the functional scaling law fitted to it.

The setting of the first figure (left) and of the appendix figure: s = 0.5, beta = 4, or a grid of (s, beta) in
[0.5, 1] x [1.5, 5]; M = N = 128, sigma = 3, batch size 1, 10,000 steps. The peak learning rate of these runs is not
printed; 0.05 is what the appendix takes for its scaling experiment.

The law holds for intrinsic times T >= 1 only (T^-s has no limit at 0), while the appendix fits every step from the
first on: both fits are made, and a third one with the sums e_M and K_M that the powers stand for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.experiments.fitting import LawFit, fit_law
from fsl_num.experiments.physical_time import law_terms
from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.schedules import SCHEDULES, Schedule, batch_sizes_of, step_rates
from fsl_num.simulate.curve import RiskCurve
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.streams import child
from fsl_num.validation import Array, entries, known_executor, seed_sequence, whole_count

SHOWN: Final = ("cosine", "wsd", "cyclic")
"""The schedules of the first figure."""

ALL_SHOWN: Final = (*SHOWN, "8-1-1", "exp-decay")
"""The schedules of the appendix figure, and two more."""

GRID: Final = tuple((s, beta) for s in (0.5, 0.75, 1.0) for beta in (1.5, 2.0, 3.0, 5.0))
"""The points (s, beta) of the appendix figure: on both sides of s = 1 - 1/beta, and on it at (0.5, 2)."""

FITS: Final[Mapping[str, tuple[str, float]]] = MappingProxyType(
    {
        "printed": ("printed", 0.0),
        "printed, T >= 1": ("printed", 1.0),
        "shifted": ("shifted", 0.0),
        "shifted, T >= 1": ("shifted", 1.0),
        "modes": ("modes", 0.0),
    }
)
"""Name of a fit -> the form of the law, and the intrinsic time from which on steps are fitted."""


@dataclass(frozen=True, eq=False)
class ScheduleRun:
    """One schedule: its ``name``, ``rates``, the ``exact`` curve after every step, the ``averaged`` curve of sampled
    runs (None where none were asked for), and the ``fits`` of its own constants to the exact curve, by name.

    ``unfitted``: the least and the largest ratio, over all steps, of the exact risk to half of the terms of the form
    "modes": the law with the constants of the theory and nothing fitted. ``averaged_fit``: the printed form, from T = 1
    on, fitted to the averaged curve. ``together``: the fits whose constants are common to all schedules.
    """

    name: str
    rates: Array
    exact: RiskCurve
    averaged: RiskCurve | None
    fits: Mapping[str, LawFit]
    together: Mapping[str, LawFit]
    averaged_fit: LawFit | None
    unfitted: tuple[float, float]

    @property
    def scatter(self) -> tuple[float, float] | None:
        """How far the averaged curve is from the exact one, in standard errors: root mean square, and the largest."""
        if self.averaged is None:
            return None
        sampled = self.averaged.standard_error > 0
        away = (self.averaged.excess_risk - self.exact.excess_risk[self.averaged.step])[sampled]
        away = away / self.averaged.standard_error[sampled]
        return float(np.sqrt((away**2).mean())), float(np.abs(away).max())

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers of the fits."""
        record: dict[str, Any] = {
            "schedule": self.name,
            "final_excess_risk": float(self.exact.excess_risk[-1]),
            "unfitted_ratio": list(self.unfitted),
            "fits": {name: fit.as_dict() for name, fit in self.fits.items()},
            "fits_together": {name: fit.as_dict() for name, fit in self.together.items()},
        }
        if self.averaged is not None and self.averaged_fit is not None:
            record["averaged_fit"] = self.averaged_fit.as_dict()
            record["deviation_in_standard_errors"] = dict(zip(("rms", "largest"), self.scatter or (), strict=True))
        return record


@dataclass(frozen=True, eq=False)
class LossDynamics(Result):
    """One problem under several schedules, all with the same ``peak`` and number of ``steps``."""

    problem: Regression
    peak: float
    steps: int
    sampled_runs: int
    runs: tuple[ScheduleRun, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the setting and the numbers of every fit."""
        return {
            "s": self.problem.model.s,
            "beta": self.problem.model.beta,
            "model_size": int(self.problem.model.size),
            "noise": self.problem.model.noise,
            "peak_lr": self.peak,
            "steps": self.steps,
            "runs": self.sampled_runs,
            "schedules": [run.as_dict() for run in self.runs],
        }


def loss_dynamics(
    s: float = 0.5,
    beta: float = 4.0,
    *,
    schedules: Sequence[str] | Mapping[str, Any] = SHOWN,
    peak: float = 0.05,
    steps: int = 10_000,
    model_size: int = 128,
    noise: float = 9.0,
    runs: int = 0,
    seed: Any = 0,
    every: int = 20,
    executor: Any = None,
) -> LossDynamics:
    """Train under each schedule, exactly and in ``runs`` sampled runs (0 for none), and fit the law.

    ``s`` > 0, ``beta`` > 1, ``model_size`` M = N (whole), ``noise`` sigma^2; ``schedules``: names of
    :data:`~fsl_num.schedules.SCHEDULES`, all with the learning rate ``peak``; or a mapping from labels to whatever
    :func:`~fsl_num.schedules.step_rates` takes: names, schedules or arrays of ``steps`` steps and batch size 1,
    functions phi(tau). ``seed``: a whole number or a SeedSequence, of which each schedule takes a stream of its own;
    ``every``: sampled runs are recorded after so many steps. Raises ValueError or TypeError for anything else.

    >>> found = loss_dynamics(schedules=["wsd"], steps=200, model_size=16)
    >>> found.runs[0].fits["modes"].r_squared > 0.99
    True
    """
    problem = Regression(Model(s=s, beta=beta, size=model_size, noise=noise))
    count = whole_count("runs", runs, least=0)
    known_executor(executor)
    labelled = dict(
        schedules if isinstance(schedules, Mapping) else {name: name for name in entries("schedules", schedules, str)}
    )
    if not labelled:
        raise ValueError(f"schedules must name at least one, got {schedules!r}; there are {', '.join(SCHEDULES)}")
    rates = [_rates(label, schedule, peak, steps) for label, schedule in labelled.items()]
    exact = [exact_risk(problem, eta, every=1) for eta in rates]
    seeds = [child(seed_sequence(seed), k) for k in range(len(rates))]
    averaged = [
        _averaged(problem, eta, count, own_seed, every, executor) for eta, own_seed in zip(rates, seeds, strict=True)
    ]
    times = [np.cumsum(eta) for eta in rates]
    terms = {form: [law_terms(problem, eta, form=form) for eta in rates] for form in ("printed", "shifted", "modes")}
    own: list[dict[str, LawFit]] = [{} for _ in rates]
    common: list[dict[str, LawFit]] = [{} for _ in rates]
    for name, (form, since) in FITS.items():
        for k, fit in enumerate(fit_law(exact, terms[form], times, since=since)):
            common[k][name] = fit
            own[k][name] = fit_law([exact[k]], [terms[form][k]], [times[k]], since=since)[0]
    runs_of_schedules = []
    for k, name in enumerate(labelled):
        curve, averaged_fit = averaged[k], None
        if curve is not None:
            averaged_fit = fit_law([curve], [terms["printed"][k]], [times[k]], since=1.0)[0]
        ratio = exact[k].excess_risk[1:] / (0.5 * terms["modes"][k].sum(axis=1))
        unfitted = float(ratio.min()), float(ratio.max())
        runs_of_schedules.append(
            ScheduleRun(name, rates[k], exact[k], curve, own[k], common[k], averaged_fit, unfitted)
        )
    return LossDynamics(problem, float(peak), int(steps), count, tuple(runs_of_schedules))


def fit_grid(points: Sequence[tuple[float, float]] = GRID, **options: Any) -> list[LossDynamics]:
    """Return :func:`loss_dynamics` at every point (s, beta); ``options`` as there, all five schedules unless named.

    >>> [round(cell.problem.model.s, 2) for cell in fit_grid([(0.5, 2.0), (1.0, 3.0)], steps=100, model_size=8)]
    [0.5, 1.0]
    """
    options.setdefault("schedules", ALL_SHOWN)
    seed = options.pop("seed", 0)
    return [
        loss_dynamics(s, beta, seed=np.random.SeedSequence((seed, k)), **options) for k, (s, beta) in enumerate(points)
    ]


def _rates(label: str, schedule: Any, peak: float, steps: int) -> Array:
    """Return the learning rates of one schedule, ``steps`` of them at batch size 1."""
    if np.any(batch_sizes_of(schedule) != 1.0):
        raise ValueError(f"the schedule {label!r} must have batch size 1, got {batch_sizes_of(schedule)}")
    if isinstance(schedule, str):
        rates = step_rates(schedule, peak=peak, steps=steps)
    else:
        is_function = callable(schedule) and not isinstance(schedule, Schedule)
        rates = step_rates(schedule, steps=steps if is_function else None)
    if rates.size != steps:
        raise ValueError(f"the schedule {label!r} must have {steps} steps like the others, got {rates.size}")
    return rates


def _averaged(
    problem: Regression, rates: Array, runs: int, seed: np.random.SeedSequence, every: int, executor: Any
) -> RiskCurve | None:
    if not runs:
        return None
    from fsl_num.simulate.monte_carlo import simulate_sgd

    curve: RiskCurve = simulate_sgd(problem, rates, runs=runs, seed=seed, every=every, executor=executor)
    return curve
