"""Synthetic truth: runs of the paper's model itself, solved without a law, with noise that neighbouring rows share.

    python tests/fsl_num/curves_synthetic.py [runs]

prints how often the intervals of nominal 90 % for s and beta hold the truth, and how often a regime is named wrongly.
"""

import sys
from functools import cache

import numpy as np

from fsl_num import Model
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.plan import Plan
from fsl_num.volterra.steps.many import risks_of_schedules

STEPS, PEAK, NOISE = 4000, 0.3, 5e-4
K = np.arange(STEPS)
SHAPES = np.stack([np.ones(STEPS), 0.55 + 0.45 * np.cos(np.pi * K / STEPS), np.where(K < 0.6 * STEPS, 1.0, 0.2)])
RECORDED = np.arange(40, STEPS + 1, 20)


def simulated(seed):
    """s, beta and three runs of one task: a constant rate, a cosine and a drop."""
    stream = np.random.default_rng(seed)
    s, beta = float(stream.uniform(0.3, 1.0)), float(stream.uniform(1.4, 3.0))
    rates = PEAK * SHAPES
    risks = risks_of_schedules(Model(s=s, beta=beta, size=float("inf"), noise=1.0), rates, at=RECORDED).excess_risk
    curves = []
    for rate, risk in zip(rates, risks, strict=True):
        drawn = stream.normal(size=RECORDED.size + 4)
        shared = np.convolve(drawn, np.full(5, 0.2), mode="valid") * np.sqrt(5)
        loss = (0.5 + risk) * np.exp(NOISE * shared)
        curves.append(LossCurve(RECORDED, loss, schedule=Plan(rate, RECORDED)))
    return s, beta, curves


@cache
def judged(seed):
    """Whether s and beta lie inside their intervals (None: not identified) and whether the regime named is right."""
    s, beta, curves = simulated(seed)
    task = fit(curves).task
    inside = [None if span is None else span[0] <= value <= span[1] for value, span in ((s, task.s), (beta, task.beta))]
    hard = s < 1.0 - 1.0 / beta
    regime = {"hard": hard, "easy": not hard}.get(task.regime)
    return [*inside, regime]


def rates_of(runs):
    """Of each of s, beta and the regime: (right, judged) over the runs."""
    found = [judged(seed) for seed in range(runs)]
    columns = [[entry for entry in column if entry is not None] for column in zip(*found, strict=True)]
    return {name: (sum(column), len(column)) for name, column in zip(("s", "beta", "regime"), columns, strict=True)}


if __name__ == "__main__":
    print(rates_of(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
