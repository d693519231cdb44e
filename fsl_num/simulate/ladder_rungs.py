"""The rungs between SGD and the asymptotic law as curves of the excess risk, and the learning rates that they bear."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.schedules.discrete import Discrete
from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.families import Gaussian
from fsl_num.simulate.ladder_laws import asymptotic_of_steps, law_of_steps
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde_moments import exact_sde_risk, volterra_problem
from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.steps.discrete import losses_of_steps

RUNGS: Final = MappingProxyType(
    {
        "sgd": "SGD, simulated",
        "expected": "SGD, expected risk",
        "sde-physical": "SDE in physical time",
        "sde-intrinsic": "SDE in intrinsic time",
        "volterra": "Volterra equation",
        "fsl": "functional scaling law",
        "asymptotic": "asymptotic law",
    }
)
"""Name -> what the rung is, from the algorithm down to the law."""


def rungs_of(problem: Regression) -> tuple[str, ...]:
    """Return the rungs that ``problem`` has without sampling: no SDE but for Gaussian features, and no asymptotic law
    without power laws.

    >>> from fsl_num.model import Model
    >>> rungs_of(Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0), family="uniform"))
    ('expected', 'volterra', 'fsl', 'asymptotic')
    """
    left_out = {"sgd"}
    if not isinstance(problem.family, Gaussian):
        left_out |= {"sde-physical", "sde-intrinsic"}
    if problem.projection is not None or problem.target is not None:
        left_out |= {"asymptotic"}
    return tuple(name for name in RUNGS if name not in left_out)


def rung_steps(steps: int, every: int | None) -> Any:
    """Return the steps at which a ladder is compared: those of ``every``; where it is None about 150, closer together
    early, where the risks change fastest.

    >>> rung_steps(10, None).tolist(), rung_steps(10, 4).tolist()
    ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0, 4, 8, 10])
    """
    if every is not None:
        return record_steps(steps, every)
    early = np.round(np.geomspace(1.0, steps, 80)).astype(np.int64)
    return np.union1d(record_steps(steps, max(1, steps // 100)), early)


def rung_curve(name: str, problem: Regression, rates: Array, batches: Array, recorded: Any) -> RiskCurve:
    """Return the rung ``name`` of :func:`rungs_of` after the steps ``recorded``, without sampling.

    The two SDEs are equal in law and share one expectation. Raises UnstableProblemError for the SDEs and the Volterra
    equation where their risk grows, OverflowError where that of SGD grows beyond the range of floats.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0))
    >>> rung_curve("volterra", model, np.full(4, 0.1), np.ones(4), np.array([0, 4])).step.tolist()
    [0, 4]
    """
    if name == "expected":
        risk = exact_risk(problem, rates, batches, every=1).excess_risk[recorded]
    elif name.startswith("sde-"):
        risk = exact_sde_risk(problem, rates, batches, every=1).excess_risk[recorded]
    else:
        plan = Discrete(rates=rates, batch_sizes=batches)
        if name == "asymptotic":
            losses = asymptotic_of_steps(problem, rates, plan.gammas, recorded)
        else:
            equation = volterra_problem(problem, plan, "volterra")
            if name == "volterra":
                equation.require_stable()
                losses = losses_of_steps(equation, 1e-9)[0][recorded]
            else:
                losses = law_of_steps(linear_modes(equation, plan.total_intrinsic_time), rates, plan.gammas)[recorded]
        risk = 0.5 * losses
    return RiskCurve(recorded, risk, np.zeros(recorded.size), name)


def largest_rate(name: str, problem: Regression, batch_size: float = 1.0) -> float:
    """Return the constant learning rate from which on the risk of the rung ``name`` grows without bound.

    SGD: sum_j (eta lambda_j/B)/(2 - eta lambda_j (kappa - 1 + (B - 1))/B) = 1 with kappa the fourth moment of the
    features; the SDE: sum_j gamma lambda_j/(2 - gamma lambda_j) = 1; the Volterra equation: gamma tr(H)/2 = 1, all with
    gamma = eta/B. The laws are linear and never grow: inf.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=1, noise=1.0))
    >>> [round(largest_rate(name, model), 9) for name in ("expected", "sde-intrinsic", "volterra", "fsl")]
    [0.666666667, 1.0, 2.0, inf]
    """
    if name in ("fsl", "asymptotic"):
        return math.inf
    if name == "volterra":
        return 2.0 * batch_size / _trace(problem)
    if name.startswith("sde-"):
        return batch_size * _root(problem, 1.0)
    kind = problem.family
    kurtosis = kind.kurtosis  # type: ignore[union-attr]
    if kurtosis is None or (problem.projection is not None and not isinstance(kind, Gaussian)):
        raise ValueError(f"the largest learning rate is known for independent features, not for {problem.family!r}")
    # With the sum S of x_j = lambda_j m_j in a steady state: x_j (2 eta lambda_j - c eta^2 lambda_j^2) = (eta^2/B)
    # lambda_j^2 S, c = 1 + (kappa - 2)/B. In rho = c eta that is (1/(c B)) sum_j rho lambda_j/(2 - rho lambda_j) = 1.
    c = 1.0 + (kurtosis - 2.0) / batch_size
    if c <= 0.0:
        return 2.0 * batch_size / _trace(problem)  # Rademacher features, B = 1: the denominator is 2
    return _root(problem, c * batch_size) / c


def _trace(problem: Regression) -> float:
    equation = volterra_problem(problem, 1.0, "volterra", 1.0)
    return 2.0 * equation.stability


def _root(problem: Regression, level: float) -> float:
    """Return rho with sum_j rho lambda_j/(2 - rho lambda_j) = ``level``, which rises from 0 to inf at 2/lambda_1."""
    from scipy.optimize import brentq

    equation = volterra_problem(problem, 1.0, "gaussian", 1.0)
    top = 2.0 / equation.model.fastest

    def excess(rho: float) -> float:
        number = replace(equation, gamma=rho).stability
        return math.atan(number) - math.atan(level)

    return float(brentq(excess, 1e-12 * top, top, xtol=1e-15 * top, rtol=1e-13))
