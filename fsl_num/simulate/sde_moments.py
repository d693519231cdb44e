r"""What the stochastic differential equation expects, and what its scheme expects: exactly, without a path.

The second moments of the equation close (:mod:`fsl_num.volterra`, closure "gaussian"), and those of the scheme of Euler
and Maruyama too:

    m_j <- (1 - lambda_j dt)^2 m_j + dG (lambda_j (2E + sigma^2) + lambda_j^2 m_j),    dG = int gamma dt,

which is the recursion of SGD with learning rate dt and batch size dt^2/dG. With one part a step they are SGD's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fsl_num.given_spectrum import Spectrum
from fsl_num.model import Model
from fsl_num.schedules.discrete import Discrete
from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.families import Gaussian
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import MOST_LISTED, Regression
from fsl_num.simulate.sde_grid import Grid, checked_clock, checked_steps, scheme_grid
from fsl_num.validation import Array, instance_of
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.steps.discrete import losses_of_steps


def require_gaussian(problem: Regression) -> None:
    """Raise ValueError unless the features are Gaussian: of others the noise covariance is not as simple.

    >>> require_gaussian(Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0)))
    """
    if not isinstance(problem.family, Gaussian):
        raise ValueError(
            "the SDE needs Gaussian features, whose noise covariance is (2E + sigma^2) H + H e e' H with e the error of"
            f" the weights; that of the family {problem.family!r} has fourth moments of its own and no square root of"
            " cost M. Simulate SGD itself for it"
        )


def problem_spectrum(problem: Regression) -> Spectrum | None:
    """Return the modes of the model, or None for one too large to list (the first M features of a power law).

    >>> problem_spectrum(Regression(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0))) is None
    True
    """
    if problem.projection is not None or problem.target is not None:
        return problem.spectrum
    if problem.model.size > MOST_LISTED:
        return None
    index = np.arange(1.0, problem.model.size + 1.0)
    signals = index ** -(1.0 + problem.model.s * problem.model.beta)
    return Spectrum((index**-problem.model.beta).tolist(), signals.tolist(), problem.tail)


_LISTED = 300  # modes up to which a list is at least as fast as their compression


def volterra_problem(problem: Regression, gamma: Any, closure: str, horizon: float | None = None) -> Problem:
    """Return the equation of f = 2E for ``problem``, either closure.

    Raises ValueError for first M features of finitely many N > M where M is too large to list.

    >>> model = Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0))
    >>> volterra_problem(model, 0.1, "gaussian", 5.0).closure
    'gaussian'
    """
    powers = problem.projection is None and problem.target is None and problem.features == np.inf
    if powers and problem.model.size > _LISTED:
        return Problem(problem.model, gamma=gamma, horizon=horizon, closure=closure)
    spectrum = problem_spectrum(problem)
    if spectrum is None:
        raise ValueError(f"model_size must be at most {MOST_LISTED}, or features inf, got {problem.model.size:g}")
    return Problem(Model(noise=problem.model.noise, spectrum=spectrum), gamma=gamma, horizon=horizon, closure=closure)


def exact_sde_risk(problem: Regression, rates: Any, batch_sizes: Any = 1, *, every: int | None = None) -> RiskCurve:
    """Return the expected excess risk of the SDE, the same in physical and in intrinsic time.

    ``problem``: with Gaussian features; ``rates``: eta_0 .. eta_{K-1} >= 0, constant over their steps of physical time;
    ``batch_sizes``: positive, one number or one a step; ``every``: record after so many steps. Accurate to 1e-9 where
    the message says nothing else. Raises ValueError for other features and arguments that do not fit, and
    UnstableProblemError for rates at which the risk of the SDE grows.

    Source: equation labelled eqn: sde-instrinc, with the second moments of Gaussian features.

    >>> curve = exact_sde_risk(Regression(Model(s=0.5, beta=2.0, size=10, noise=1.0)), [0.1] * 100)
    >>> bool(curve.excess_risk[0] > curve.excess_risk[1])
    True
    """
    instance_of("problem", problem, Regression)
    require_gaussian(problem)
    eta, batches = checked_steps(rates, batch_sizes)
    equation = volterra_problem(problem, Discrete(rates=eta, batch_sizes=batches), "gaussian")
    equation.require_stable()
    recorded = record_steps(eta.size, every)
    values, _, facts = losses_of_steps(equation, 1e-9)
    message = "" if facts.success else "the tolerance 1e-9 was missed"
    return RiskCurve(recorded, 0.5 * values[recorded], np.zeros(recorded.size), "sde-exact", message)


def grid_risk(problem: Regression, grid: Grid) -> Array:
    """Return what the scheme expects of the excess risk at the records of ``grid``.

    >>> model, rates = Regression(Model(s=0.5, beta=2.0, size=10, noise=1.0)), np.full(8, 0.1)
    >>> grid = scheme_grid("physical", rates, np.ones(8), 1, np.array([0, 8]))
    >>> bool(np.allclose(grid_risk(model, grid), exact_risk(model, rates).excess_risk))
    True
    """
    used = grid.lengths > 0.0
    before = np.concatenate([[0], np.cumsum(used)])
    lengths, variances = grid.lengths[used], grid.variances[used]
    curve = exact_risk(problem, lengths, lengths**2 / variances, every=1)
    return np.asarray(curve.excess_risk[before[grid.records]])


def euler_maruyama_risk(
    problem: Regression,
    rates: Any,
    batch_sizes: Any = 1,
    *,
    time: str = "physical",
    substeps: int = 1,
    every: int | None = None,
) -> RiskCurve:
    """Return the expected excess risk of the scheme of Euler and Maruyama with ``substeps`` parts a step, exactly.

    Its distance to :func:`exact_sde_risk` is the bias of a simulation, of the first order in 1/``substeps``; with one
    part a step in physical time it is the expected risk of SGD. Arguments and errors as there, and ``time``
    "physical" or "intrinsic" (parts of at most the largest rate over ``substeps``).

    >>> model = Regression(Model(s=0.5, beta=2.0, size=10, noise=1.0))
    >>> sgd, scheme = exact_risk(model, [0.1] * 100), euler_maruyama_risk(model, [0.1] * 100)
    >>> bool(abs(scheme.excess_risk[1] / sgd.excess_risk[1] - 1) < 1e-12)
    True
    """
    require_gaussian(problem)
    clock = checked_clock(time)
    eta, batches = checked_steps(rates, batch_sizes)
    recorded = record_steps(eta.size, every)
    risk = grid_risk(problem, scheme_grid(clock, eta, batches, substeps, recorded))
    return RiskCurve(recorded, risk, np.zeros(recorded.size), f"euler-maruyama-{clock}", f"{substeps} parts a step")
