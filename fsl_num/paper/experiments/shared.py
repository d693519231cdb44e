"""What the claims about the paper's experiments on kernel regression share: sizes, point and symbols."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from sympy import Function, Symbol

from fsl_num.claims.points import PAPER_POINT
from fsl_num.experiments.final_loss import peak_parameters
from fsl_num.gauss_rules import legendre_rule
from fsl_num.schedules import schedule as make_schedule
from fsl_num.simulate.regression import Regression

Numbers = tuple[tuple[str, float], ...]
SIZE, NOISE, STEPS = 128, 9.0, 10_000
POINT = (0.5, 4.0)
"""(s, beta) of the first figure."""
RISK, RATE, CLOCK, FUNCTIONAL, RUN, DEVIATION = (
    Function(name, positive=True) for name in ("E", "eta", "T", "F", "R", "deviation")
)
"""The risk after a step, the rate at a step, intrinsic time, the functional law, one run, its standard error."""
FINAL_RISK = {name: Symbol(f"E_{name}", positive=True) for name in ("wsd", "exponential", "constant", "cosine")}
k, i, r = (Symbol(name, integer=True, positive=True) for name in "kir")
CLOSE = 0.1
"""What counts as a close fit at a step: a tenth of the risk."""
PEAK_RATE = Symbol("eta_max", positive=True)
HARD = ("s = 0.5, beta = 4, sigma = 3, B = 1",)


def setting_of(problem: Regression) -> dict[str, float]:
    """The letters of a regression that hypotheses name; the batch is one sample."""
    assert problem.features is not None
    size, features = problem.model.size, problem.features
    return {"M": size, "N": features, "sigma": math.sqrt(problem.model.noise), "B": 1.0}


def at_its_point(s: Any, beta: Any) -> tuple[Any, Any]:
    """The paper's own task, whatever is drawn."""
    return PAPER_POINT


def law_by_pieces(problem: Regression, name: str, peak: float, budget: float) -> float:
    """The functional law at the end, half of e(T) + int K(T - t) gamma(t) (e(t) + sigma^2) dt, from break to break.

    For intrinsic times so short that each piece is smooth on the scale of the kernel.
    """
    plan = make_schedule(name, peak=peak, steps=budget, **peak_parameters(name, peak, budget))
    model, end = problem.model, plan.total_intrinsic_time
    points, weights = legendre_rule(200)
    total, cuts = float(model.signal(end)), [0.0, *(cut for cut in plan.breaks if 0.0 < cut < end), end]
    for low, high in pairwise(cuts):
        times = low + 0.5 * (high - low) * (points + 1.0)
        noise = model.kernel(end - times) * plan.gamma(times) * (model.signal(times) + float(model.noise))
        total += 0.5 * (high - low) * float(weights @ noise)
    return 0.5 * total
