"""The ladder from SGD to the scaling law: every approximation on the way, measured for one problem and schedule.

SGD -> its expected risk -> the SDE in physical time -> in intrinsic time -> the Volterra equation -> the functional
scaling law -> the asymptotic law.
"""

from __future__ import annotations

import json
import math
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fsl_num.results import Result, axes_to_draw_on, html_table
from fsl_num.schedules import batch_sizes_of, step_rates
from fsl_num.simulate.curve import RiskCurve
from fsl_num.simulate.ladder_breaking import BreakingRate, breaking_rates, relative_distance
from fsl_num.simulate.ladder_rungs import RUNGS, rung_curve, rung_steps, rungs_of
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde_grid import checked_steps
from fsl_num.validation import entries, instance_of, known_executor, whole_count, whole_seed

_SAMPLED = 100  # records of simulated rungs, by default


@dataclass(frozen=True)
class Gap:
    """The relative distance of two rungs: its ``largest`` value over time, ``at`` which step, and the ``end`` value.

    ``noise``: twice the largest relative standard error of the two curves, 0 where neither was simulated; a distance
    below it tells nothing.
    """

    rung: str
    next_rung: str
    largest: float
    at: int
    end: float
    noise: float


@dataclass(frozen=True, eq=False)
class Ladder(Result):
    """The rungs of one problem and schedule as curves, from SGD down.

    ``curves``: one for each rung, in order, the method being its name. ``samples``: simulated paths of the two SDEs
    where there are, beside their exact expectations among the curves. ``breaking``: the learning rates at which each
    approximation breaks, for this shape of schedule.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=32, noise=1.0))
    >>> found = ladder(model, "cosine", peak=0.1, steps=1000, thresholds=())
    >>> [gap.next_rung for gap in found.table]
    ['sde-physical', 'sde-intrinsic', 'volterra', 'fsl', 'asymptotic']
    """

    curves: tuple[RiskCurve, ...]
    samples: tuple[RiskCurve, ...] = ()
    breaking: tuple[BreakingRate, ...] = ()

    def curve(self, name: str) -> RiskCurve:
        """Return the rung called ``name``; raise ValueError where the ladder has none such."""
        for curve in self.curves:
            if curve.method == name:
                return curve
        raise ValueError(f"the ladder has no rung {name!r}; it has {', '.join(curve.method for curve in self.curves)}")

    def gap(self, name: str, other: str) -> Gap:
        """Return the distance of any two rungs."""
        return _gap(self.curve(name), self.curve(other))

    @property
    def table(self) -> tuple[Gap, ...]:
        """The distance of each rung to the next; behind them that of each simulated SDE to its exact expectation."""
        steps = [_gap(first, following) for first, following in zip(self.curves, self.curves[1:], strict=False)]
        return (*steps, *(_gap(curve, self.curve(curve.method)) for curve in self.samples))

    def as_dict(self) -> dict[str, Any]:
        """Return the curves by rung, the ``table``, and the ``breaking`` rates, as dictionaries and lists."""
        broken = [{**asdict(breaking), "message": breaking.message} for breaking in self.breaking]
        for row in broken:
            row["below"] = None if row["below"] == math.inf else row["below"]  # JSON has no infinity; the message tells
        return {
            "rungs": {curve.method: curve.as_dict() for curve in self.curves},
            "samples": {curve.method: curve.as_dict() for curve in self.samples},
            "table": [asdict(gap) for gap in self.table],
            "breaking": broken,
        }

    def to_json(self) -> str:
        """Return :meth:`as_dict` as JSON."""
        return json.dumps(self.as_dict())

    def plot(self, ax: Any = None, *, risks: bool = False) -> Any:
        """Draw the distance of each rung to the next over the steps, or with ``risks`` the risks; return the axes."""
        ax = axes_to_draw_on(ax)
        if risks:
            for curve in self.curves:
                # dashed, for it lies on the curve before it
                style = "--" if curve.method in ("sde-intrinsic", "asymptotic") else "-"
                curve.plot(ax, label=RUNGS[curve.method], linestyle=style)
        else:
            for curve, following in zip(self.curves, self.curves[1:], strict=False):
                step, first, second = _shared(curve, following)
                apart = relative_distance(curve.excess_risk[first], following.excess_risk[second])
                seen = (step > 0) & (apart > 0.0)  # a logarithmic axis has no place for 0
                if seen.any():
                    ax.loglog(step[seen], apart[seen], label=f"{RUNGS[curve.method]} – {RUNGS[following.method]}")
            ax.set_xlabel("step")
            ax.set_ylabel("relative distance")
        ax.legend(fontsize="small")
        return ax

    def _repr_html_(self) -> str:
        thresholds = sorted({breaking.threshold for breaking in self.breaking}, reverse=True)
        titles = ["rung", "next", "largest distance", "at step", "at the end", "noise of sampling"]
        titles += [f"{100 * threshold:g}% apart" for threshold in thresholds]
        broken = {(rate.rung, rate.next_rung, rate.threshold): rate.message for rate in self.breaking}
        rows = []
        for gap in self.table:
            first = RUNGS[gap.rung] + (", simulated" if gap.rung == gap.next_rung else "")
            noise = f"{gap.noise:.3g}" if gap.noise else ""
            rows.append([first, RUNGS[gap.next_rung], f"{gap.largest:.3g}", str(gap.at), f"{gap.end:.3g}", noise])
            rows[-1] += [broken.get((gap.rung, gap.next_rung, threshold), "") for threshold in thresholds]
        return html_table(titles, rows)


def _shared(curve: RiskCurve, following: RiskCurve) -> tuple[Any, Any, Any]:
    """Return the steps that both curves recorded, and where each has them."""
    return np.intersect1d(curve.step, following.step, assume_unique=True, return_indices=True)


def _gap(curve: RiskCurve, following: RiskCurve) -> Gap:
    step, first, second = _shared(curve, following)
    risks = curve.excess_risk[first], following.excess_risk[second]
    apart = relative_distance(*risks)
    where = int(np.argmax(apart))
    scale = np.minimum(*risks)
    error = np.hypot(curve.standard_error[first], following.standard_error[second])
    spread = 2.0 * float((error / np.where(scale > 0.0, scale, np.inf)).max())
    return Gap(curve.method, following.method, float(apart[where]), int(step[where]), float(apart[-1]), spread)


def ladder(
    problem: Regression,
    schedule: Any,
    batch_sizes: Any = None,
    *,
    peak: float | None = None,
    steps: int | None = None,
    every: int | None = None,
    runs: int = 0,
    seed: int = 0,
    thresholds: tuple[float, ...] = (0.1,),
    executor: Executor | None = None,
    **parameters: Any,
) -> Ladder:
    """Return all rungs from SGD to the asymptotic law, without sampling unless ``runs`` > 0.

    ``problem``: any; rungs that it does not have are left out (the SDEs but for Gaussian features, the asymptotic law
    for a projection or another target). ``schedule``: whatever :func:`~fsl_num.schedules.step_rates` takes, a name with
    ``peak``, ``steps`` and its ``parameters``, a Schedule, a function phi(tau) with ``steps``, or learning rates
    eta_0 .. eta_{K-1}. ``batch_sizes``: positive, one number or one a step; by default those of a Schedule, 1 of what
    is none. ``every``: record after so many steps, by default about 150 times, closer together early. With
    ``runs`` >= 2 SGD and both SDEs are simulated too, from ``seed``, by the ``executor`` where one is given.
    ``thresholds``: distances for which the learning rates are searched where each approximation breaks
    (:func:`~fsl_num.simulate.ladder_breaking.breaking_rates`); each takes some twenty ladders, () none.

    Raises ValueError or TypeError for arguments that do not fit, UnstableProblemError for learning rates at which the
    SDE or the Volterra equation grow. Sources: equations labelled eqn: sgd, eqn: sde, eqn: sde-instrinc,
    eqn: volterra-equation and eqn: fsl, and the powers of Lemma lemma:ke-power with their sharp constants.

    >>> from fsl_num.model import Model
    >>> found = ladder(Regression(Model(s=0.5, beta=2.0, size=32, noise=1.0)), "constant", peak=0.01, steps=500)
    >>> all(gap.largest < 0.01 for gap in found.table[:4]), found.breaking[0].message[:5]
    (True, 'above')
    """
    instance_of("problem", problem, Regression)
    if batch_sizes is None:
        batch_sizes = batch_sizes_of(schedule)
    eta, batches = checked_steps(step_rates(schedule, peak=peak, steps=steps, **parameters), batch_sizes)
    recorded = rung_steps(eta.size, every)
    count, seed = whole_count("runs", runs, least=0), whole_seed(seed)
    searched = tuple(entries("thresholds", thresholds))
    known_executor(executor)
    curves: list[RiskCurve] = []
    for name in rungs_of(problem):
        if name == "sde-intrinsic":
            # equal in law to the one before
            curves.append(replace(curves[-1], method=name))
        else:
            curves.append(rung_curve(name, problem, eta, batches, recorded))
    samples: list[RiskCurve] = []
    if count:
        from fsl_num.simulate.monte_carlo import simulate_sgd
        from fsl_num.simulate.sde import simulate_sde

        gap = max(1, eta.size // _SAMPLED) if every is None else every
        options: dict[str, Any] = {"runs": count, "every": gap, "executor": executor}
        curves.insert(0, replace(simulate_sgd(problem, eta, batches, seed=seed, **options), method="sgd"))
        for index, clock in enumerate(("physical", "intrinsic"), 1):
            if f"sde-{clock}" in rungs_of(problem):
                samples.append(simulate_sde(problem, eta, batches, time=clock, seed=seed + index, **options))
    breaking = breaking_rates(problem, eta, searched, batch_sizes=batches, every=every) if searched else ()
    return Ladder(tuple(curves), tuple(samples), breaking)
