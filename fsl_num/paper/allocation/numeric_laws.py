"""The scaling laws of the paper's theorems as printed, in logarithms, ready for brute force over hyperparameters.

They are typed from the theorems labelled thm:chinchilla, thm:geometric and thm: wsd, with b = a/K, gamma = a/B and
D = B K, and share nothing with the symbolic laws: log(a/b) is log K here, not the log of the budget. So is the law of
the power decay (1 - tau/K)^p, typed from the orders that the claims about its noise check, with log M and log T. The
drop of the rate ("multi-step") and the inverse square root are typed for all lengths of their parts, where the derived
laws are of that order or bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fsl_num.claims.statements import Ray
from fsl_num.minimise import Minimum, minimise_law, near_optimal_intervals
from fsl_num.validation import Array

if TYPE_CHECKING:
    from fsl_num.paper.law_kernel import Numbers

LOG_BUDGETS = (1e5, 1e6, 4e6, 1.6e7)
"""Natural logarithms of the budgets: at these scales log N is large enough to tell (log N)^b from (log N)^(b + 1/4)."""
SETTLED = 2
"""The first budget at which all is judged; the ones before it show, under the full profile, how it came there."""
NEAR_OPTIMAL, NEAR_OPTIMAL_STEPS = 2.2, 8.0
"""Hyperparameters whose tuned risk is within this factor of the least are optimal "up to constants". Any fixed factor
measures the same orders. Above 2 the set is connected: where two arms of it meet, one bias term counts twice, and
min(2 v^-p + v) = 2^(1/(1+p)) min(v^-p + v). A small factor lets a branch worse by a log power leave the set early.
Where the number of steps is free, log K instead of log D changes the risk by up to a factor s + 1/beta: the set must
hold that constant too."""


@dataclass(frozen=True)
class BudgetedLaw:
    """A law at one budget: variables searched, their bounds in units of the log budget, and log risk of log variables.

    ``power`` is the p of "power-decay", 1 for "cyclic" (one wave, whose fall is the fraction ``decay_fraction`` of it);
    ``free_steps`` searches the number of steps K as well (otherwise the batch size is 1 and K = D), ``free_final`` the
    last rate b over the peak rate a (otherwise 1/K). ``noise``: sigma^2. ``capped``: a is at most 1.
    ``last_power``: the power of 1/K that b over a is where it is not free.
    """

    schedule: str
    budget: str
    s: float
    beta: float
    log_budget: float
    free_steps: bool = False
    infinite_model: bool = False
    noise: float = 1.0
    power: float | None = None
    free_final: bool = False
    capped: bool = True
    last_power: float = 1.0

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the searched hyperparameters, in the order of a point."""
        names = ["peak_lr"]
        names += [] if self.infinite_model else ["model_size"]
        names += ["decay_fraction"] if self.schedule in ("wsd", "multi-step", "cyclic") else []
        names += ["final_over_peak"] if self.free_final or self.schedule == "multi-step" else []
        names += ["timescale_fraction"] if self.schedule == "inverse-sqrt" else []
        return (*names, "steps") if self.free_steps else tuple(names)

    @property
    def near_optimal(self) -> float:
        """The factor within which a risk counts as optimal."""
        return NEAR_OPTIMAL_STEPS if self.free_steps else NEAR_OPTIMAL

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of the searched hyperparameters; the upper of M under a data budget and the lower of b are made up."""
        model = 3.0 if self.budget == "data" else 1.0
        largest = 0.0 if self.capped else 1.0
        every = {"peak_lr": (-1.0, largest), "model_size": (0.0, model), "decay_fraction": (-1.0, 0.0),
                 "steps": (0.0, 1.0), "final_over_peak": (-1.5, 0.0), "timescale_fraction": (-1.0, 0.0)}  # fmt: skip
        return [every[name] for name in self.variables]

    def rates(self, point: Array) -> dict[str, float]:
        """Logs of the peak rate a, of the steps K and, where the schedule ends at b, of b, at one point."""
        values = dict(zip(self.variables, point.tolist(), strict=True))
        data = self.log_budget - (values["model_size"] if self.budget == "compute" else 0.0)
        steps = values.get("steps", data)
        peak = values["peak_lr"] + data - steps  # gamma = a/B and D = B K
        if self.schedule == "power-decay":
            assert self.power is not None
            return {"a": peak, "K": steps, "p": float(np.log(self.power))}
        if self.schedule not in ("exp-decay", "wsd"):
            return {"a": peak, "K": steps}
        return {"a": peak, "K": steps, "b": peak + values.get("final_over_peak", -self.last_power * steps)}

    @cached_property
    def numbers(self) -> Numbers:
        """The law as its kernel takes it."""
        from fsl_num.paper.law_kernel import SCHEDULES, Numbers

        names = ("model_size", "decay_fraction", "final_over_peak", "timescale_fraction", "steps")
        return Numbers(
            SCHEDULES.index(self.schedule), self.s, self.beta, self.log_budget, float(self.budget == "compute"),
            self.capped, math.nan if self.power is None else self.power, self.last_power, math.log(self.noise),
            *(self.variables.index(name) if name in self.variables else -1 for name in names),
        )  # fmt: skip

    def log_risk(self, point: Array) -> Array:
        """Log of the right-hand side of the theorem; +inf where a hypothesis fails (a > 1, B < 1, T < 1)."""
        from fsl_num.paper.law_kernel import fill_log_risks

        risks = np.empty(point.shape[:-1])
        fill_log_risks(self.numbers, np.ascontiguousarray(point).reshape(-1, point.shape[-1]), risks.reshape(-1))
        return risks


def _optima(
    schedule: str, budget: str, s: float, beta: float, *, settled: bool, **fields: Any
) -> list[tuple[BudgetedLaw, Minimum]]:
    """The laws at the budgets, and their minima."""
    budgets = LOG_BUDGETS[SETTLED:] if settled else LOG_BUDGETS
    laws = [BudgetedLaw(schedule, budget, s, beta, log_budget, **fields) for log_budget in budgets]
    return [(law, _optimum(law)) for law in laws]


@lru_cache(maxsize=1024)  # an allocation and the comparisons of its least risk ask for one law
def _optimum(law: BudgetedLaw) -> Minimum:
    return minimise_law(law.log_risk, law.bounds, log_budget=law.log_budget)


def _ray(name: str, optima: Sequence[tuple[BudgetedLaw, Minimum]], values: Sequence[float]) -> Ray:
    scale = np.array([law.log_budget for law, _ in optima])
    least = [law.rates(optimum.log_point) for law, optimum in optima]
    logs = {
        "N": scale,
        "sigma^2": np.log([law.noise for law, _ in optima]),
        **{name: np.array([rates[name] for rates in least]) for name in least[0]},
    }
    return Ray(name, scale, logs, np.array(values), len(optima) - len(LOG_BUDGETS[SETTLED:]))


def measure_risk(
    schedule: str, budget: str, s: float, beta: float, *, settled: bool = False, power: float | None = None,
    capped: bool = True, last_power: float = 1.0,
) -> Ray:  # fmt: skip
    """The brute-force least risk over growing budgets, as a ray along "N", with the rates and steps of the best.

    ``settled`` leaves out the budgets that are not judged; where not ``capped``, a may be larger than 1;
    b is a K^-``last_power``.
    """
    optima = _optima(schedule, budget, s, beta, settled=settled, power=power, capped=capped, last_power=last_power)
    return _ray("excess_risk", optima, [optimum.log_value for _, optimum in optima])


@lru_cache(maxsize=256)
def measure_allocation(
    schedule: str,
    budget: str,
    s: float,
    beta: float,
    *,
    free_steps: bool = False,
    infinite_model: bool = False,
    settled: bool = False,
    power: float | None = None,
    free_final: bool = False,
    only: tuple[str, ...] = (),
) -> Mapping[str, tuple[Ray, ...] | None]:
    """Brute-force optima over growing budgets; ``settled`` leaves out the budgets that are not judged.

    ``only``: the hyperparameters whose ends are looked for, all by default.

    Returns rays along "N" (the log budget), with the rates and steps of the best: "excess_risk", and for every
    hyperparameter x "x lower" and "x upper", the ends of its near-optimal set; None where that end is the artificial
    search bound.
    """
    values: dict[str, list[float]] = {}
    unbounded: set[str] = set()
    optima = _optima(
        schedule, budget, s, beta, settled=settled, free_steps=free_steps, infinite_model=infinite_model, power=power,
        free_final=free_final,
    )  # fmt: skip
    laws = [law for law, _ in optima]
    for law, optimum in optima:
        values.setdefault("excess_risk", []).append(optimum.log_value)
        names = only or law.variables
        places = [law.variables.index(name) for name in names]
        intervals = near_optimal_intervals(
            law.log_risk, law.bounds, places, log_budget=law.log_budget, factor=law.near_optimal, optimum=optimum
        )
        for name, interval in zip(names, intervals, strict=True):
            values.setdefault(f"{name} lower", []).append(interval.log_low)
            values.setdefault(f"{name} upper", []).append(interval.log_high)
            if budget == "data" and name == "model_size" and interval.hits_upper_bound:
                unbounded.add(f"{name} upper")
            if name == "final_over_peak" and interval.hits_lower_bound:
                unbounded.add(f"{name} lower")
    if "model_size lower" in values and budget == "compute":
        for end, opposite in (("lower", "upper"), ("upper", "lower")):
            sizes = values[f"model_size {opposite}"]
            values[f"data_size {end}"] = [law.log_budget - size for law, size in zip(laws, sizes, strict=True)]
    return {name: None if name in unbounded else (_ray(name, optima, logs),) for name, logs in values.items()}
