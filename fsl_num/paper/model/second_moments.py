"""eqn: sgd/second-moments: the expected risk of SGD by a closed recursion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import Where
from fsl_num.model import Model
from fsl_num.paper.hypotheses import FEATURES, SPECTRUM, TARGET, located
from fsl_num.paper.model.formulas import ETA, KURTOSES, KURTOSIS, own_eigenvalue, step_number, x
from fsl_num.paper.model.measurements import cloud
from fsl_num.simulate.random_features import random_projection
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_sym.proof import equals
from fsl_sym.symbols import B, E, beta, j, sigma

SECOND_MOMENTS: Final = equals(
    x(j, step_number + 1),
    ((1 - ETA * own_eigenvalue) ** 2 + (KURTOSIS - 2) * ETA**2 * own_eigenvalue**2 / B) * x(j, step_number)
    + ETA**2 / B * own_eigenvalue**2 * (2 * E + sigma**2),
)
"""x(j, k) is lambda_j E[(v_j - theta_j)^2] after k steps, E the excess risk then."""
Plan = tuple[str, str, tuple[float, ...], tuple[int, ...]]
PLANS: tuple[Plan, ...] = tuple(
    (family, kind, rates, batches)
    for family in ("gaussian", "uniform", "rademacher")
    for kind, rates, batches in (
        ("first features", (0.3, 0.1, 0.2), (1, 1, 1)),
        ("first features", (0.4, 0.2), (2, 1)),
        ("random features", (0.3, 0.2), (1, 1)),
    )
)
"""Family, projection, learning rates and batch sizes of the runs that are taken over all of their paths."""
PATH_ROUNDING = 1e-11
"""Sums over up to 157,464 paths of positive terms, with the rounding of each path."""


def small_problem(plan: Plan, sample: Sample) -> Regression:
    """Two weights and three features, with labels of noise 1."""
    s, beta = sample.point
    projection = None if plan[1] == "first features" else random_projection(2, 3, sample.seed)
    return Regression(Model(s=s, beta=beta, size=2, noise=1.0), features=3, family=plan[0], projection=projection)


@lru_cache(maxsize=64)
def risks_over_all_paths(sample: Sample) -> tuple[tuple[Plan, float], ...]:
    """The mean excess risk after the last step, with every value that the samples of every step can take.

    The weights after k steps are of degree 2 in each sample's features and the risk of degree 4: the rules are exact.
    """
    risks = []
    for plan in PLANS:
        family, _, rates, batches = plan
        problem = small_problem(plan, sample)
        xi, chance = cloud(family, 3)
        phi = xi * np.sqrt(problem.eigenvalues)
        seen = phi[:, :2] if problem.projection is None else phi @ problem.projection.T
        labels = phi @ problem.theta
        target = np.concatenate([labels - 1.0, labels + 1.0])
        seen, chance = np.concatenate([seen, seen]), np.concatenate([chance, chance]) / 2.0
        weights, masses = np.zeros((1, 2)), np.ones(1)
        for rate, batch in zip(rates, batches, strict=True):
            # the mean gradient of a batch: one sample after the other, all at the weights before the step
            pulls, chances = np.zeros((weights.shape[0], 1, 2)), np.ones(1)
            for _ in range(batch):
                gradient = ((weights @ seen.T) - target)[:, :, None] * seen
                pulls = (pulls[:, :, None] + gradient[:, None]).reshape(weights.shape[0], -1, 2)
                chances = np.multiply.outer(chances, chance).ravel()
            weights = (weights[:, None] - rate / batch * pulls).reshape(-1, 2)
            masses = np.multiply.outer(masses, chances).ravel()
        risks.append((plan, float(masses @ problem.excess_risk(weights))))
    return tuple(risks)


def _one_step(sample: Sample) -> list[dict[Any, Any]]:
    """The moments after one step of one sample from 0, with every value that it can take; two features, both fitted."""
    instances = []
    for family in ("gaussian", "uniform", "rademacher"):
        problem = replace(small_problem((family, "first features", (), ()), sample), features=2)
        xi, chance = cloud(family, 2)
        phi, eigenvalues, theta = xi * np.sqrt(problem.eigenvalues), problem.eigenvalues, problem.theta
        before = eigenvalues * theta**2
        after = np.zeros(2)
        for noise in (-1.0, 1.0):
            weights = 0.3 * ((phi @ theta) + noise)[:, None] * phi
            after += eigenvalues * (chance @ (weights - theta) ** 2) / 2.0
        moments = (before, after)
        known = {ETA: 0.3, B: 1, KURTOSIS: KURTOSES[family], E: 0.5 * before.sum(), sigma: 1.0, step_number: 0}
        known |= {beta: sample.point[1], x: lambda mode, step, moments=moments: moments[step][mode - 1]}
        instances += [{**known, j: mode} for mode in (1, 2)]
    return instances


def _after(sample: Sample) -> dict[str, Any]:
    """The second moment after the step: the square of its mean and its variance."""
    known, problem = _one_step(sample)[-1], small_problem(("rademacher", "first features", (), ()), sample)
    mode, xi, chance = int(known[j]), *cloud("rademacher", 2)
    phi, theta = xi * np.sqrt(problem.eigenvalues[:2]), problem.theta[:2]
    steps = np.concatenate([0.3 * ((phi @ theta) + noise) * phi[:, mode - 1] for noise in (-1.0, 1.0)])
    mean, variance = steps.mean(), steps.var()  # signs have one probability
    moment, fourth = (mean - theta[mode - 1]) ** 2 + variance, float(chance @ phi[:, mode - 1] ** 4)
    return {"x": known[x], "j": mode, "k": 1, "kappa": known[KURTOSIS],
            "theta_j": float(theta[mode - 1]), "lambda_j": float(problem.eigenvalues[mode - 1]),
            "E[(v_j - theta_j)^2] after k steps": moment, "E[phi_j^4]": fourth}  # fmt: skip


def _before(sample: Sample) -> dict[str, Any]:
    problem = small_problem(("rademacher", "first features", (), ()), sample)
    return {"E": _one_step(sample)[-1][E], "the excess risk after k steps": replace(problem, features=2).initial_risk}


AFTER: Final = Where(
    "x(j, k) is lambda_j (E[(v_j - theta_j)^2] after k steps); kappa is E[phi_j^4]/lambda_j^2", _after
)
BEFORE: Final = Where("E is the excess risk after k steps", _before)


def _risk(sample: Sample, plan: Plan, *, family: str = "", noise: float = 1.0, batch: int = 0) -> float:
    rates, batches = plan[2], plan[3]
    problem = small_problem(plan, sample)
    problem = replace(problem, model=replace(problem.model, noise=noise), family=family or plan[0])
    return float(exact_risk(problem, rates, batch or batches).excess_risk[-1])


def _moments(sample: Sample) -> Sharp:
    neighbours = {"gaussian": "rademacher", "uniform": "gaussian", "rademacher": "uniform"}
    wrong: dict[str, Callable[[Plan], float]] = {
        "the kurtosis of another family": lambda plan: _risk(sample, plan, family=neighbours[plan[0]]),
        "labels without noise": lambda plan: _risk(sample, plan, noise=0.0),
        "batches of one": lambda plan: _risk(sample, plan, batch=1),
        "one step less": lambda plan: _risk(sample, (plan[0], plan[1], plan[2][:-1], plan[3][:-1])),
    }
    return Sharp(partial(_risk, sample), lambda plan: PATH_ROUNDING, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: sgd/second-moments", "eqn: sgd", 398, "the expected risk of SGD by a closed recursion",
        SECOND_MOMENTS,
        (SPECTRUM, TARGET, AFTER, BEFORE,
         FEATURES("gaussian", "uniform", "rademacher"),
         "M = 2, N = 3", "K = 2 and 3"),
        located({"M": 2, "N": 3, "K": [len(rates) for _, _, rates, _ in PLANS]})(risks_over_all_paths),
        _moments, family="paths", instances=_one_step,
        role="own",
        remark="The mean over all paths of SGD is the other way to the same risk.",
    ),
)  # fmt: skip
