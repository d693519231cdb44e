r"""Final-loss scaling: the risk at the end of training over data budgets D, under a rule for the peak learning rate.

The setting of the first figure (right): s = 0.5, beta = 4, batch size 1, peak rate 0.05 D^-r. The final rate of the
decaying schedules is the peak over D, the assumption under which the data-optimal laws are derived. The model is taken
infinitely large (data-optimal: M is free), which the exact recursion does at no cost.

A rule eta = 0.05 D^-r (log D)^l and the law E ~ D^-p (log D)^q that is claimed for it are given from outside, as
:class:`PeakRule`: nothing here knows what the theory derives. A claim is judged by the ratio of E to its law, which
must not drift; a fitted slope alone hides a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.functional import functional_scaling_law
from fsl_num.growth import growth_exponents
from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.schedules import schedule as make_schedule
from fsl_num.schedules import step_rates
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.streams import child
from fsl_num.validation import Array, instance_of, known_executor, positive, seed_sequence, whole_count, whole_seed

PEAK: Final = 0.05
"""The constant of the peak learning rate, as the appendix has it."""

PRINTED_POWERS: Final = MappingProxyType({"exp-decay": 1.0, "wsd": 1.0})
"""The r that the appendix prints for the decaying schedules: with r = 1 the intrinsic time never exceeds 0.05."""

DECAYING: Final = ("exp-decay", "wsd")
_DECAY_FRACTION = 0.2  # of wsd, fixed: its order 1 is optimal in every regime


@dataclass(frozen=True)
class PeakRule:
    """The peak rate constant D^-``peak_power`` (log D)^``peak_log_power`` of the schedule called ``schedule``, and the
    law D^-``risk_power`` (log D)^``risk_log_power`` that is claimed for the final excess risk.

    >>> PeakRule("constant", 1.0, 0.0, 0.5, 0.0).peak_rate(100.0, 0.05)
    0.0005
    """

    schedule: str
    peak_power: float
    peak_log_power: float
    risk_power: float
    risk_log_power: float

    def peak_rate(self, budget: float, constant: float = PEAK) -> float:
        """Return the peak learning rate for ``budget`` > 1 steps."""
        return float(constant * budget**-self.peak_power * math.log(budget) ** self.peak_log_power)

    def log_law(self, budgets: Array) -> Array:
        """Return the logarithm of the claimed law."""
        logs = np.log(budgets)
        return np.asarray(-self.risk_power * logs + self.risk_log_power * np.log(logs))


@dataclass(frozen=True, eq=False)
class FinalLosses(Result):
    """What one rule gives.

    ``budgets``, ``exact``: D and the exact excess risk after D steps. ``intrinsic_times``: of these runs.
    ``functional``: half of the functional scaling law there, nothing fitted. ``far_budgets``, ``far_functional``: the
    same law alone, at budgets that no recursion reaches. ``initial``: the risk before training. ``sampled_*``: means of
    sampled runs at some budgets and their standard errors, empty where none were asked for.
    """

    rule: PeakRule
    budgets: Array
    exact: Array
    intrinsic_times: Array
    functional: Array
    far_budgets: Array
    far_functional: Array
    initial: float
    sampled_budgets: Array
    sampled: Array
    sampled_errors: Array

    @property
    def ratio(self) -> Array:
        """The exact risk over the claimed law, scaled to 1 at the last budget."""
        logs = np.log(self.exact) - self.rule.log_law(self.budgets)
        return np.asarray(np.exp(logs - logs[-1]))

    @property
    def drift(self) -> float:
        """By which power of D the exact risk still leaves the claimed law: over the last two decades."""
        return _slope(self.budgets, np.log(self.exact) - self.rule.log_law(self.budgets), decades=2.0)

    @property
    def far_drift(self) -> float:
        """The same of the functional scaling law alone, over the last ten decades of the far budgets."""
        return _slope(self.far_budgets, np.log(self.far_functional) - self.rule.log_law(self.far_budgets), decades=10.0)

    @property
    def slope(self) -> float:
        """The plain fitted exponent d log E/d log D over the last two decades, which knows of no logarithm."""
        return _slope(self.budgets, np.log(self.exact), decades=2.0)

    @property
    def log_power(self) -> float:
        """The fitted power of log D over the last two decades with the power of D held at the claimed one."""
        last = self.budgets >= 0.999e-2 * self.budgets[-1]
        fit = growth_exponents(np.log(self.budgets[last]), np.log(self.exact[last]), power=-self.rule.risk_power)
        return fit.log_power

    def as_dict(self) -> dict[str, Any]:
        """Return the curve, the fitted exponents, and those that were claimed."""
        rule = self.rule
        half = self.far_budgets.size // 2  # the nearer ones still carry what decays beside the law
        far = growth_exponents(np.log(self.far_budgets[half:]), np.log(self.far_functional[half:]))
        record: dict[str, Any] = {
            "schedule": rule.schedule,
            "peak_lr": {"constant": PEAK, "power": -rule.peak_power, "log_power": rule.peak_log_power},
            "claimed": {"power": -rule.risk_power, "log_power": rule.risk_log_power},
            "fitted": {
                "slope": self.slope,
                "log_power_at_claimed_power": self.log_power,
                "drift": self.drift,
                "far": {
                    "drift": self.far_drift,
                    "power": far.power,
                    "log_power": far.log_power,
                    "power_uncertainty": far.power_uncertainty,
                    "log_power_uncertainty": far.log_power_uncertainty,
                    "last_budget": float(self.far_budgets[-1]),
                },
            },
            "initial_risk": self.initial,
            "budget": self.budgets.tolist(),
            "intrinsic_time": self.intrinsic_times.tolist(),
            "excess_risk": self.exact.tolist(),
            "functional_law": self.functional.tolist(),
            "sampled_budget": self.sampled_budgets.tolist(),
            "sampled": self.sampled.tolist(),
            "sampled_standard_error": self.sampled_errors.tolist(),
        }
        return record


def _slope(budgets: Array, values: Array, *, decades: float) -> float:
    last = budgets >= 0.999 * budgets[-1] * 10.0**-decades
    return float(np.polyfit(np.log(budgets[last]), values[last], 1)[0])


def peak_parameters(name: str, peak: float, budget: float) -> dict[str, float]:
    """Return what the schedule called ``name`` takes besides its peak and its ``budget`` of steps.

    >>> peak_parameters("wsd", 0.5, 1000.0)
    {'final': 0.0005, 'decay_fraction': 0.2}
    """
    parameters = {"final": peak / budget} if name in DECAYING else {}
    if name == "wsd":
        parameters["decay_fraction"] = _DECAY_FRACTION
    return parameters


def final_risk(problem: Regression, name: str, peak: float, budget: int) -> tuple[float, float]:
    """Return the exact excess risk after ``budget`` steps of the schedule called ``name``, and the intrinsic time.

    >>> problem = Regression(Model(s=0.5, beta=4.0, size=float("inf"), noise=9.0))
    >>> risk, time = final_risk(problem, "constant", 0.05, 1000)
    >>> round(time, 9), risk < problem.initial_risk
    (50.0, True)
    """
    rates = step_rates(name, peak=peak, steps=budget, **peak_parameters(name, peak, budget))
    return float(exact_risk(problem, rates).excess_risk[-1]), float(rates.sum())


def functional_risk(problem: Regression, name: str, peak: float, budget: float) -> float:
    """Return the functional scaling law at the end of training, by quadrature: any budget of steps.

    >>> problem = Regression(Model(s=0.5, beta=4.0, size=float("inf"), noise=9.0))
    >>> functional_risk(problem, "constant", 0.05, 1e12) > 0
    True
    """
    plan = make_schedule(name, peak=peak, steps=budget, **peak_parameters(name, peak, budget))
    return functional_scaling_law(problem.model, plan, rtol=1e-8).total


def final_losses(
    rule: PeakRule,
    *,
    s: float = 0.5,
    beta: float = 4.0,
    noise: float = 9.0,
    largest: float = 1e7,
    per_decade: int = 2,
    farthest: float = 1e30,
    runs: int = 0,
    seed: int = 0,
    executor: Any = None,
) -> FinalLosses:
    """Train with budgets from 1,000 up to ``largest`` under ``rule``, exactly; evaluate the law up to ``farthest``.

    ``per_decade``: budgets a decade. ``runs``: sampled runs (M = N = 128) at the budgets up to 10,000, 0 for none;
    ``seed``: a whole number, of which each budget takes a stream of its own.
    Raises ValueError where an argument does not fit.

    >>> found = final_losses(PeakRule("constant", 1 / 3, 0.0, 1 / 3, 0.0), largest=1e4, per_decade=1, farthest=1e12)
    >>> found.budgets.tolist(), bool((np.diff(found.exact) < 0).all())
    ([1000.0, 10000.0], True)
    """
    instance_of("rule", rule, PeakRule)
    top, density = positive("largest", largest), whole_count("per_decade", per_decade, most=1000)
    runs, seed = whole_count("runs", runs, least=0), whole_seed(seed)
    known_executor(executor)
    far = positive("farthest", farthest)
    if top < 1e4 or far < top:
        raise ValueError(
            f"largest must be at least 10,000 and farthest at least largest, got {largest!r}, {farthest!r}"
        )
    problem = Regression(Model(s=s, beta=beta, size=math.inf, noise=noise))
    count = round(density * math.log10(top / 1e3)) + 1
    budgets = np.round(np.geomspace(1e3, top, count))
    name = rule.schedule
    trained = [final_risk(problem, name, rule.peak_rate(budget), int(budget)) for budget in budgets]
    functional = [functional_risk(problem, name, rule.peak_rate(budget), float(budget)) for budget in budgets]
    reach = np.geomspace(top, far, max(12, round(math.log10(far / top)) + 1))
    beyond = [functional_risk(problem, name, rule.peak_rate(budget), float(budget)) for budget in reach]
    sampled = budgets[budgets <= 1e4] if runs else budgets[:0]
    streams = [child(seed_sequence(seed), k) for k in range(sampled.size)]  # points of a plot err independently
    means = [
        _sampled_risk(problem, name, rule.peak_rate(b), int(b), runs, stream, executor)
        for b, stream in zip(sampled, streams, strict=True)
    ]
    return FinalLosses(
        rule,
        budgets,
        np.array([risk for risk, _ in trained]),
        np.array([time for _, time in trained]),
        np.array(functional),
        reach,
        np.array(beyond),
        problem.initial_risk,
        sampled,
        np.array([mean for mean, _ in means]),
        np.array([error for _, error in means]),
    )


def risks_by_peak_power(name: str, powers: Sequence[float], *, budget: int = 100_000) -> Array:
    """Return the exact final risk of one budget for the peak rates 0.05 D^-r, r in ``powers``.

    >>> risks = risks_by_peak_power("wsd", [0.0, 1.0], budget=1000)
    >>> bool(risks[0] < 0.2 * risks[1])
    True
    """
    problem = Regression(Model(s=0.5, beta=4.0, size=math.inf, noise=9.0))
    return np.array([final_risk(problem, name, PEAK * float(budget) ** -r, budget)[0] for r in powers])


def _sampled_risk(
    problem: Regression, name: str, peak: float, budget: int, runs: int, seed: np.random.SeedSequence, executor: Any
) -> tuple[float, float]:
    from fsl_num.simulate.monte_carlo import simulate_sgd

    small = Regression(Model(s=problem.model.s, beta=problem.model.beta, size=128, noise=problem.model.noise))
    rates = step_rates(name, peak=peak, steps=budget, **peak_parameters(name, peak, budget))
    curve = simulate_sgd(small, rates, runs=runs, seed=seed, executor=executor)
    return float(curve.excess_risk[-1]), float(curve.standard_error[-1])
