"""What the claims about the paper's experiments on kernel regression share: sizes, point and symbols."""

from __future__ import annotations

import math
from typing import Any

from sympy import Function, Symbol

from fsl_num.claims.points import PAPER_POINT
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
