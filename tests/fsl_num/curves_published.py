"""The published table of the Multi-Power Law: what parameters rounded to two decimals can say of it.

    FSL_LOSS_CURVES=folder python tests/fsl_num/curves_evidence.py published

The article prints its parameters with two decimals, and these are taken from memory of it. Three questions. How far can
each measure of the table move while every parameter stays within half a unit of its last digit? Where does the table
lie in these intervals? And what do the training curves alone make of the parameters inside that box? The same is asked
of other readings of the law, to see which one the printed parameters belong to.
"""

from itertools import product

import numpy as np

from fsl_num.curves.laws.memory import changes
from fsl_num.curves.score import mean_score, score

PRINTED = {
    "25M": {"L0": 3.17, "A": 0.51, "C": 446.40, "kappa": 0.53, "C1": 2.07, "kappa1": 0.52, "kappa2": 0.41},
    "100M": {"L0": 2.79, "A": 0.59, "C": 521.40, "kappa": 0.46, "C1": 0.24, "kappa1": 0.65, "kappa2": 0.60},
}
HALF_UNIT = 0.005
ROWS = 120  # of each test curve in the search for the least and the greatest of every measure
MEASURES = ("r2", "mae", "rmse", "mean_relative_error", "worst_relative_error")
READINGS = {
    "as fitted here": {},
    "loss of row k after update k": {"inclusive": True},
    "a change acts one update later": {"late": True},
    "the rate before the change": {"before": True},
    "time from the end of warmup": {"from_warmup": True},
    "warmup as a source": {"warmup_sources": True},
}
"""Readings of the law: which sums run to which update, which rate a change goes with, what warmup counts for."""


class Reading:
    """The Multi-Power Law read in one way, on one curve; called with its seven parameters it gives the losses."""

    def __init__(
        self, curve, inclusive=False, late=False, before=False, from_warmup=False, warmup_sources=False, detail="fit"
    ):
        plan = curve.plan
        rates = np.append(plan.rates, plan.rates[-1])
        self.observed = curve.observed
        past = changes(plan, 0 if warmup_sources else plan.warmup + 1, detail)
        past = past.only(past.of(plan.rates) != 0.0)
        self.drops = -past.of(plan.rates)
        now = plan.intrinsic_time + inclusive * rates[plan.recorded]
        self.log_rate = np.log(np.maximum(plan.rates[np.maximum(past.before if before else past.after, 0)], 1e-30))
        age = now[:, None] - past.time - late * plan.rates[past.after]
        self.age = np.where(np.arange(past.time.size) < past.seen[:, None], np.maximum(age, 0.0), 0.0)
        warm = plan.times[plan.warmup] if from_warmup else 0.0
        # the first row lies at the end of warmup: a time of 0 there would be an infinite loss
        self.time = np.maximum(now - warm, plan.rates.max())

    def __call__(self, theta):
        base, signal, drop, kappa, speed, kappa1, kappa2 = theta
        memory = 1.0 - (1.0 + speed * np.exp(-kappa1 * self.log_rate) * self.age) ** -kappa2
        return base + signal * self.time**-kappa - drop * (memory @ self.drops)


def measured(readings, theta):
    """The measures of the table, as a mean over curves."""
    found = mean_score([score(reading.observed, reading(theta)) for reading in readings])
    return np.array([getattr(found, name) for name in MEASURES])


def refined(readings, theta, loss):
    """The parameters inside the box that fit the curves best: by the log-Huber loss of the article, or by the RMSE."""
    from scipy.optimize import minimize

    def objective(place):
        total = 0.0
        for reading in readings:
            values = reading(theta + HALF_UNIT * place)
            if loss == "log-huber":
                size = np.abs(np.log(values / reading.observed))
                total += np.where(size < 1e-3, 0.5 * size**2, 1e-3 * (size - 5e-4)).sum()
            else:
                total += ((values - reading.observed) ** 2).mean()
        return 1e4 * total

    starts = [np.zeros(7), *np.random.default_rng(0).uniform(-1, 1, (2, 7))]
    ends = [minimize(objective, start, method="L-BFGS-B", bounds=[(-1, 1)] * 7) for start in starts]
    return theta + HALF_UNIT * min(ends, key=lambda end: end.fun).x


def intervals(readings, theta):
    """The least and the greatest value of every measure that was found in the box: the true interval is no narrower.

    Greatest: over the corners. Least: by descents from the middle and from others' ends. (R2 the other way round.)
    """
    from scipy.optimize import minimize

    corners = np.array(list(product((-1.0, 1.0), repeat=7)))
    values = np.array([measured(readings, theta + HALF_UNIT * corner) for corner in corners])
    signs = np.array([-1.0, 1.0, 1.0, 1.0, 1.0])
    worst, least = (signs * values).max(axis=0), np.empty(5)
    starts = [np.zeros(7)]
    for index in (2, 1, 0, 3, 4):  # the smoothest first: where it is least, the others are small too

        def objective(place, index=index):
            return 1e3 * signs[index] * measured(readings, theta + HALF_UNIT * place)[index]

        ends = [minimize(objective, start, method="L-BFGS-B", bounds=[(-1, 1)] * 7, options={"maxiter": 30})
                for start in starts]  # fmt: skip
        best = min(ends, key=lambda end: end.fun)
        least[index] = best.fun / 1e3
        starts = [np.zeros(7), *starts[1:2], best.x]
    return np.sort(np.stack([signs * least, signs * worst]), axis=0)


def line(name, values):
    digits = (4, 5, 5, 5, 5)
    return f"{name:<50}" + "  ".join(f"{value:.{n}f}" for value, n in zip(values, digits, strict=True))


def published(size, training, tests, table):
    """Print all of that for one model size."""
    theta = np.array(list(PRINTED[size].values()))
    print(f"\n{size}: mean over the six test curves of {', '.join(MEASURES)}")
    print(line("table of the article", table))
    for name, options in READINGS.items():
        known, unseen = ([Reading(curve, **options) for curve in curves] for curves in (training, tests))
        print(line(f"{name}: as printed", measured(unseen, theta)))
        for loss in ("log-huber", "rmse"):
            print(line(f"    in the box, {loss} of the training curves", measured(unseen, refined(known, theta, loss))))
    unseen = [Reading(curve.thinned(ROWS)) for curve in tests]
    print(line(f"as fitted here, {ROWS} rows a curve: as printed", measured(unseen, theta)))
    low, high = intervals(unseen, theta)
    print(line("    least in the box", low))
    print(line("    greatest in the box", high))
    inside = [name for name, a, b, value in zip(MEASURES, low, high, table, strict=True) if a <= value <= b]
    print(f"inside these intervals: {', '.join(inside) or 'none'} of the table")
