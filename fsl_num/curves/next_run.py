r"""The next run: which schedule, if trained next, would narrow a prediction the most.

The fit's draws of the parameters and of what the law misses say how the errors at a candidate and at the loss that is
asked for vary together. With D these errors, of log losses, one row a draw, M the covariance of what more the law may
miss, and N the noise of the candidate's rows, the variance of the prediction falls by the linear-Gaussian update

    v - g' (C + N)^-1 g,   C = D_c' D_c + M_cc,  g = D_c' D_t + M_ct,  v = D_t' D_t + M_tt,

which needs no outcome: how much is learnt does not depend on what is measured. Few draws explain each other by chance:
each is predicted from the others alone.

Runs are priced by their updates: the one that is proposed narrows the interval the most for each of them.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from fsl_num.curves.misfit import OWN, States
from fsl_num.curves.plan import Plan, as_plan
from fsl_num.curves.posterior import half_width
from fsl_num.curves.predict import check_peak, predict
from fsl_num.curves.result import FitResult
from fsl_num.results import Result, percent
from fsl_num.schedules import step_rates
from fsl_num.validation import Array, instance_of, proper_share, whole_size

CANDIDATE_SCHEDULES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "constant": ("constant", {}),
    "cosine": ("cosine", {}),
    "linear": ("linear", {}),
    "decay of the last half": ("1-sqrt", {"decay_fraction": 0.5}),
    "decay of the last fifth": ("1-sqrt", {"decay_fraction": 0.2}),
    "drop to 0.3": ("multi-step", {"milestones": (0.5,), "factors": (0.3,)}),
    "8-1-1": ("8-1-1", {}),
}
"""What a candidate is called -> the named schedule that it is."""

LENGTHS: Final = (0.25, 0.5, 1.0)
"""Lengths of the candidates, as shares of the longest target."""
LEAST: Final = 0.05
"""Of the longest target, and twice its warmup: shorter runs are not proposed. What no run fitted resolved, their first
steps, would be all that they show."""

_DRAWS = 96  # with the few that an interval needs, which of the candidates is the best is chance
_ROWS = 16  # of a candidate, at which its losses are compared with the target's
_USELESS = 0.9  # of the interval before
_SAME_PEAK = 0.01
_SHORTEST = 2  # updates of a candidate
_FAR = 1e-12  # of the peak: rates so close are the same


@dataclass(frozen=True, eq=False)
class Candidate(Result):
    """A run that might be trained next.

    ``cost``: its updates. ``half_width``: of the interval of the target's mean final loss after it (the noise of single
    rows apart, which no run takes away), relative to the loss. ``learnt``: the
    share in [0, 1] of the variance of the target, which it takes away.

    >>> Candidate("short", Plan([0.1]), 1, 0.01, 0.5).gain(0.02)
    0.01
    """

    name: str
    plan: Plan
    cost: float
    half_width: float
    learnt: float

    def gain(self, before: float) -> float:
        """Return by how much the half-width falls for each update."""
        return (before - self.half_width) / self.cost


@dataclass(frozen=True, eq=False, repr=False)
class NextRun(Result):
    """What training each of the candidates would tell.

    ``candidates`` are sorted by the half-width that they leave. ``targets``: the schedules whose final losses are asked
    for; ``before``: the half-width of the interval now, relative to the loss (of several targets the
    root mean square); ``level``: nominal, of the interval. ``extrapolated``: in which ways the targets lie beyond the
    runs fitted; what the candidates would leave is what the law says of it there.
    """

    targets: tuple[Plan, ...]
    before: float
    level: float
    candidates: tuple[Candidate, ...]
    extrapolated: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"NextRun({self.sentence})"

    @property
    def proposed(self) -> Candidate:
        """The run that narrows the prediction the most for each of its updates."""
        return max(self.candidates, key=lambda candidate: candidate.gain(self.before))

    @property
    def sentence(self) -> str:
        """What to train next, or that it would tell little."""
        if self.candidates[0].half_width > _USELESS * self.before:
            return (
                f"None of the candidates narrows the prediction (+-{percent(self.before)} now) by a tenth: what is"
                " left is what the law misses of every run."
            )
        best, wide = self.proposed, self.candidates[0]
        said = (
            f"Train next: {best.name}. The final loss would be known to +-{percent(best.half_width)} instead of"
            f" +-{percent(self.before)}"
        )
        if wide is best:
            return f"{said}; no other candidate leaves less."
        return f"{said}, the most for each update; {wide.name} leaves the least, +-{percent(wide.half_width)}."

    def as_rows(self) -> list[dict[str, Any]]:
        """Return one mapping a candidate: name, steps, peak_lr, half_width, gain_per_step and learnt."""
        return [
            {
                "name": candidate.name,
                "steps": int(candidate.plan.rates.size),
                "peak_lr": candidate.plan.peak,
                "half_width": candidate.half_width,
                "gain_per_step": candidate.gain(self.before),
                "learnt": candidate.learnt,
            }
            for candidate in self.candidates
        ]

    def plot(self, ax: Any = None) -> Any:
        """Draw the half-width that each candidate leaves over its updates; return the axes.

        With None in a new figure with the proposed rates below: ``axes.figure.axes[1]``.
        """
        from fsl_num.curves.pictures import draw_next_run

        return draw_next_run(self, ax)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{html.escape(row['name'])}</td><td>{row['steps']}</td><td>{row['peak_lr']:.3g}</td>"
            f"<td>+-{percent(row['half_width'])}</td><td>{row['gain_per_step']:.2g}</td></tr>"
            for row in self.as_rows()
        )
        words = html.escape(" ".join((self.sentence, *self.extrapolated)))
        return (
            f"<p>{words}</p><table><tr><th>next run</th><th>steps</th><th>peak</th>"
            f"<th>interval after it</th><th>gain a step</th></tr>{cells}</table>"
        )


def next_run(
    fit: FitResult,
    target: Any,
    candidates: Mapping[str, Any] | None = None,
    budget: int | None = None,
    *,
    level: float = 0.9,
) -> NextRun:
    """Return which run, if it were trained next, would narrow a prediction the most.

    ``fit``: of the curves at hand, with intervals. ``target``: the schedule whose final loss matters, as
    :func:`~fsl_num.curves.plan.as_plan` takes it, or a mapping of several by name. ``candidates``: schedules by name;
    by default those of :data:`CANDIDATE_SCHEDULES` in the :data:`LENGTHS`, with the peaks of the target and of the runs
    fitted.
    ``budget``: the most updates that a candidate may have. ``level``: nominal, of the interval.

    Raises ValueError for a fit without intervals, and where no candidate is within the budget.

    >>> from fsl_num.curves.curve import LossCurve
    >>> from fsl_num.curves.fit import fit
    >>> from fsl_num.curves.laws import law
    >>> plan = Plan([0.01] * 400, range(20, 401, 5))
    >>> known = fit(LossCurve(plan.recorded, law("momentum").predict(plan, [2.0, 0.3, 0.5, 0.5, 0.95]), schedule=plan))
    >>> target = Plan(step_rates("linear", peak=0.01, steps=800), [800])
    >>> found = next_run(known, target, {"again": plan, "decayed": step_rates("linear", peak=0.01, steps=400)})
    >>> found.proposed.name
    'decayed'
    """
    instance_of("fit", fit, FitResult)
    targets = _targets(target)
    for plan in targets:
        check_peak(plan.peak, fit.peaks)
    level = proper_share("level", level)
    limit = np.inf if budget is None else whole_size("budget", budget, infinite=False)
    named = usual_candidates(fit, targets, limit) if candidates is None else _plans(candidates)
    longest = max(plan.rates.size for plan in targets)
    if candidates is None and longest < _SHORTEST:
        raise ValueError(
            f"a schedule of {longest} update leaves no run that might be trained before it: ask for at least"
            f" {_SHORTEST} (steps=, --steps), or name the candidates (candidates=, --candidates)"
        )
    affordable = {name: plan for name, plan in named.items() if plan.rates.size <= limit}
    if not affordable:
        least = min((plan.rates.size for plan in named.values()), default=0)
        raise ValueError(
            f"a budget of {budget} updates is below the shortest candidate, which has {least}: raise it"
            if least
            else "there is no candidate: name at least one schedule that might be trained next"
        )
    fit = _redrawn(fit)
    errors = [fit.posterior.errors(fit.law, plan, fit.theta) for plan in targets]

    def width(variances: list[float]) -> float:
        return float(np.sqrt(np.mean([np.expm1(half_width(np.sqrt(variance), level)) ** 2 for variance in variances])))

    now = [float((drawn**2).sum() + unexplained.sum()) for drawn, unexplained, _ in errors]
    measured = []
    for name, plan in affordable.items():
        plan = plan.at([plan.rates.size]) if fit.law.final_only else plan
        left = _left(fit, plan, errors)
        measured.append(Candidate(name, plan, float(plan.rates.size), width(left), 1.0 - sum(left) / sum(now)))
    measured.sort(key=lambda candidate: (candidate.half_width, candidate.cost))
    beyond = dict.fromkeys(sentence for plan in targets for sentence in predict(fit, plan, None).extrapolated)
    return NextRun(tuple(targets), width(now), level, tuple(measured), tuple(beyond))


@lru_cache(maxsize=1)
def _redrawn(fit: FitResult) -> FitResult:
    """The fit with draws enough; they are kept for the next question about the same fit."""
    return fit.redrawn(_DRAWS)


def usual_candidates(fit: FitResult, targets: Sequence[Plan], budget: float = np.inf) -> dict[str, Plan]:
    """Return the :data:`CANDIDATE_SCHEDULES` by name: with the warmup of the longest target, within the budget.

    The lengths are those of :data:`LENGTHS`, and the budget where it lies below the longest, but for those shorter than
    :data:`LEAST` allows; the peaks are those of the target and of the runs fitted. A schedule that is itself a target
    is left out.
    """
    longest = max(targets, key=lambda plan: plan.rates.size)
    sizes = sorted({int(share * longest.rates.size) for share in LENGTHS} | {int(min(budget, longest.rates.size))})
    least = min(max(2 * longest.warmup, LEAST * longest.rates.size), longest.rates.size)
    peaks = [longest.peak]
    peaks += [own for own in fit.peaks if all(abs(own - peak) > _SAME_PEAK * peak for peak in peaks)]
    plans: dict[str, Plan] = {}
    for size in (size for size in sizes if size >= max(least, _SHORTEST)):
        warmup = min(longest.warmup, size // 2)
        for peak in peaks:
            for name, (kind, parameters) in CANDIDATE_SCHEDULES.items():
                rates = step_rates(kind, peak=peak, steps=size, warmup=warmup, **parameters)
                at = f" at {peak:.3g}" if len(peaks) > 1 else ""
                plan = Plan(rates, _places(rates, warmup), warmup, 1.0, longest.model_size, name)
                if not any(_same(plan, target) for target in targets):
                    plans[f"{name}, {size} steps{at}"] = plan
    return plans


def _targets(target: Any) -> list[Plan]:
    """The plans whose last losses are asked for."""
    plans = [as_plan(plan) for plan in target.values()] if isinstance(target, Mapping) else [as_plan(target)]
    if not plans:
        raise ValueError("a target is needed: the schedule whose final loss matters")
    return [plan.at([plan.recorded[-1]]) for plan in plans]


def _plans(candidates: Mapping[str, Any]) -> dict[str, Plan]:
    instance_of("candidates", candidates, Mapping)
    plans = {name: as_plan(plan) for name, plan in candidates.items()}
    return {name: plan.at(_places(plan.rates, plan.warmup)) for name, plan in plans.items()}


def _places(rates: Array, warmup: int) -> Any:
    """Steps of a run at which it is compared: evenly in intrinsic time, the last one included."""
    times = np.cumsum(rates)
    if warmup >= rates.size:
        raise ValueError(f"a candidate of {rates.size} updates ends within its warmup of {warmup}: give a longer one")
    first = times[warmup - 1] if warmup else 0.0
    even_times = np.linspace(first, times[-1], _ROWS + 1)[1:]
    return np.unique(np.minimum(np.searchsorted(times, even_times) + 1, rates.size))


def _same(plan: Plan, rival: Plan) -> bool:
    same = plan.rates.size == rival.rates.size
    return same and float(np.abs(plan.rates - rival.rates).max()) <= _FAR * plan.peak


def _left(fit: FitResult, plan: Plan, errors: Sequence[tuple[Array, Array, States]]) -> list[float]:
    """The variance that is left of each target once the candidate is measured."""
    posterior, residuals, rows = fit.posterior, fit.posterior.residuals, plan.recorded.size
    seen, missed, states = posterior.errors(fit.law, plan, fit.theta)
    # a run is logged more often than at these rows: together they say as much as all of its own
    few = rows * residuals.curves / residuals.rows
    unseen = missed + residuals.seeds + few * np.diag(posterior.noise(plan) ** 2)
    left = []
    for drawn, unexplained, there in errors:
        covariances = posterior.misfit.conditional(states, there)
        weights = np.linalg.solve(seen.T @ seen + unseen, np.hstack([seen.T, covariances]))
        own = np.diag(seen @ weights[:, :-1])  # how far each draw explains itself
        slopes = weights[:, :-1] @ drawn[:, 0] + weights[:, -1]
        wrong = (drawn[:, 0] - seen @ slopes) / (1.0 - own)
        of_draws = wrong @ wrong + slopes @ unseen @ slopes - 2.0 * slopes @ covariances[:, 0]
        variance = float(of_draws + unexplained[0, 0])
        left.append(min(max(variance, OWN), float((drawn**2).sum() + unexplained.sum())))
    return left
