"""Wrong versions of the law's idea of a run: each must predict unseen runs worse than the right one.

A version changes what is said of every run, fitted or predicted, or the law. Each has as many free numbers as the right
one, or fewer, and is fitted as well as it can be.
"""

from dataclasses import dataclass

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import FunctionalLaw, Law
from fsl_num.curves.laws.base import Bound, linear
from fsl_num.curves.laws.shared import SIGNAL_EXPONENT
from fsl_num.curves.plan import Plan
from fsl_num.curves.score import mean_score

LATE = 0.05


class StepClock(Plan):
    """A plan whose intrinsic time counts steps: a low rate ages what is remembered as fast as a high one."""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "times", self.peak * np.arange(self.rates.size + 1.0))


@dataclass(frozen=True)
class ConstantNoise(Law):
    """L0 + A T^-s: noise that does not know the rate is a part of L0."""

    name = title = formula = source = "constant-noise"

    @property
    def parameters(self):
        return linear("L0", "L_0", "level"), linear("A", "A", "signal"), SIGNAL_EXPONENT

    def start_grid(self, plans):
        return np.array([[0.3], [0.5], [1.0]])

    def bind(self, plans, detail="exact"):
        log_time = np.log(np.concatenate([plan.intrinsic_time for plan in plans]))

        def columns(theta):
            signal = np.exp(-theta[0] * log_time)
            return (
                np.stack([np.ones_like(signal), signal], axis=1),
                np.stack([np.zeros_like(signal), -signal * log_time], axis=1)[:, None, :],
            )

        return Bound(columns, 2)


def _shuffled(rates, warmup):
    rates[warmup:] = np.random.default_rng(0).permutation(rates[warmup:])
    return rates


def _late(rates, warmup):
    shift = int(LATE * rates.size)
    rates[warmup:] = np.concatenate([np.full(shift, rates[warmup]), rates[warmup:]])[: rates.size - warmup]
    return rates


def _without_warmup(rates, warmup):
    rates[:warmup] = rates[warmup]
    return rates


def _as_it_is(rates, warmup):
    return rates


LAW = FunctionalLaw(signal_noise=True)
MUTANTS = {
    "rates shuffled": (_shuffled, Plan, LAW),
    "rates late": (_late, Plan, LAW),
    "clock of steps": (_as_it_is, StepClock, LAW),
    "noise constant": (_as_it_is, Plan, ConstantNoise()),
    "warmup forgotten": (_without_warmup, Plan, LAW),
}
RIGHT = (_as_it_is, Plan, LAW)


def changed(curve, change, kind):
    """The losses of a run under what is wrongly said of it."""
    plan = curve.plan
    wrong = kind(change(np.array(plan.rates), plan.warmup), plan.recorded, plan.warmup)
    return LossCurve(plan.recorded, curve.observed, schedule=wrong, warmup=plan.warmup, name=curve.name)


def error(training, tests, version=RIGHT):
    """The mean over the predicted runs of the mean relative error, of a version fitted to the training runs."""
    change, kind, law = version
    result = fit([changed(curve, change, kind) for curve in training], law, intervals=False)
    return mean_score(result.scores([changed(curve, change, kind) for curve in tests]).values()).mean_relative_error
