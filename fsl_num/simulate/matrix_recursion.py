r"""The exact expected risk of one-pass SGD from the whole second-moment matrix: any family, any projection.

With u = W'v - theta* and P = W'W the matrix C = E[uu'] closes for every family whose fourth moments are known:

    C <- C - eta (PHC + CHP) + eta^2 P ((1 - 1/B) HCH + (1/B) (E[(phi'C phi) phi phi'] + sigma^2 H)) P.

It is kept in whitened coordinates x = H^(1/2) u = V y + rho, V the right singular vectors of W H^(1/2) and rho what no
weights reach (V'rho = 0). There, with d the eigenvalues of W H W', phi = H^(1/2) xi, and T = E[yy'], m = E[y],

    T_ij <- (1 - eta d_i)(1 - eta d_j) T_ij + (eta^2/B) d_i d_j ((V' F(X) V)_ij - T_ij + sigma^2 delta_ij),
    m_i <- (1 - eta d_i) m_i,   X = E[xx'] = VTV' + V m rho' + rho m'V' + rho rho',   F(X) = E[(xi'X xi) xi xi'],

and 2E = tr T + |rho|^2: M dimensions where the family allows it, and no loss of digits to small eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.schedules.discrete import steps_and_batches
from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.families import Family
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array, instance_of

_MOST = 4096  # features: a matrix of that size is 134 MB
_PATIENCE = 2.0  # seconds before a progress bar appears


@dataclass(frozen=True, eq=False)
class Whitened:
    """A problem in whitened coordinates.

    ``eigenvalues`` d of W H W'; ``basis`` V, shape (N, M), or None where the modes are the first M coordinates;
    ``aim`` V'H^(1/2) theta*; ``unlearned`` rho, shape (N,); ``tail`` what belongs to |rho|^2 besides ``unlearned``.
    """

    eigenvalues: Array
    basis: Array | None
    aim: Array
    unlearned: Array
    tail: float


def whitened(problem: Regression) -> Whitened:
    """Return ``problem`` in whitened coordinates; raise ValueError where it has too many features to be listed.

    >>> from fsl_num.model import Model
    >>> whitened(Regression(Model(s=0.5, beta=2.0, size=2, noise=1.0))).eigenvalues.tolist()
    [1.0, 0.25]
    """
    kind = problem.family
    assert isinstance(kind, Family) and problem.features is not None
    alone = problem.projection is None and kind.kurtosis is not None  # independent features: the tail is one number
    listed = problem.model.size if alone else problem.features
    if listed > _MOST:
        name = "model_size" if alone else "features"
        raise ValueError(
            f"{name} must be at most {_MOST} for the second-moment matrix, got {listed:g}; for independent or Gaussian"
            " features the closed recursion takes any size"
        )
    if alone:
        kept = int(listed)
        index = np.arange(1.0, kept + 1.0)
        eigenvalues = index**-problem.model.beta
        if problem.target is None:
            aim = index ** (-0.5 * (1.0 + problem.model.s * problem.model.beta))
        else:
            aim = np.sqrt(eigenvalues) * problem.theta[:kept]
        return Whitened(eigenvalues, None, aim, np.zeros(kept), problem.tail)
    root = np.sqrt(problem.eigenvalues)
    aim = root * problem.theta
    kept = int(problem.model.size)
    weights = np.eye(kept, aim.size) if problem.projection is None else problem.projection
    scales = weights[np.arange(kept), np.arange(kept)]
    if np.count_nonzero(weights) == kept and scales.all():  # rescaled first features
        unlearned = -aim
        unlearned[:kept] = 0.0
        return Whitened(scales**2 * problem.eigenvalues[:kept], None, aim[:kept], unlearned, 0.0)
    _, singular, rows = np.linalg.svd(weights * root, full_matrices=False)
    learned = rows @ aim
    return Whitened(singular**2, rows.T.copy(), learned, rows.T @ learned - aim, 0.0)


def _seen_noise(system: Whitened, kind: Family) -> Callable[[Array, Array], Array]:
    """Return the function of (T, m) whose value is V' F(X) V."""
    basis, unlearned = system.basis, system.unlearned
    fixed = float(unlearned @ unlearned) + system.tail
    size = system.eigenvalues.size
    index = np.arange(size)
    kurtosis = kind.kurtosis
    if kurtosis is not None:
        excess = kurtosis - 3.0

        def independent(second: Array, mean: Array) -> Array:
            # F(X) = tr(X) I + 2 X + (kurtosis - 3) diag(X_jj)
            image = 2.0 * second
            diagonal = second[index, index]
            image[index, index] += diagonal.sum() + fixed
            if excess != 0.0 and basis is None:
                image[index, index] += excess * diagonal
            elif excess != 0.0 and basis is not None:
                own = np.einsum("ij,ij->i", basis @ second, basis) + (2.0 * (basis @ mean) + unlearned) * unlearned
                image += excess * ((basis.T * own) @ basis)
            return image

        return independent

    ones = np.ones(unlearned.size)
    outer = np.outer(unlearned, unlearned)

    def dependent(second: Array, mean: Array) -> Array:
        if basis is None:
            whole = outer.copy()
            whole[:size, :size] += second
            cross = np.multiply.outer(mean, unlearned)
            whole[:size] += cross
            whole[:, :size] += cross.T
            return kind.fourth_moment(ones, whole)[:size, :size]
        cross = np.multiply.outer(basis @ mean, unlearned)
        whole = basis @ second @ basis.T + cross + cross.T + outer
        return np.asarray(basis.T @ kind.fourth_moment(ones, whole) @ basis)

    return dependent


@dataclass(eq=False)
class _Run:
    """The recursion of one problem: ``second`` T and ``mean`` m, and the function ``seen`` of both."""

    system: Whitened
    seen: Callable[[Array, Array], Array]
    label_noise: float
    second: Array
    mean: Array

    @classmethod
    def of(cls, problem: Regression) -> _Run:
        kind = problem.family
        assert isinstance(kind, Family)
        system = whitened(problem)
        mean = -system.aim
        return cls(system, _seen_noise(system, kind), problem.model.noise, np.multiply.outer(mean, mean), mean)

    @property
    def risk(self) -> float:
        unlearned = self.system.unlearned
        return 0.5 * (float(np.trace(self.second)) + float(unlearned @ unlearned) + self.system.tail)

    def fit_noise(self) -> Array:
        """V' F(X) V - T: the noise that comes from the error, whitened."""
        noise = self.seen(self.second, self.mean)
        noise -= self.second
        return noise

    def step(self, rate: float, batch: float) -> None:
        eigenvalues = self.system.eigenvalues
        noise = self.fit_noise()
        index = np.arange(eigenvalues.size)
        noise[index, index] += self.label_noise
        noise *= (rate * rate / batch) * eigenvalues[:, None]
        noise *= eigenvalues
        kept = 1.0 - rate * eigenvalues
        self.second *= kept[:, None]
        self.second *= kept
        self.second += noise
        self.mean = self.mean * kept

    def through(self, rates: Array, batches: Array, recorded: Any) -> Iterator[int]:
        """Take the steps; yield the index of each wanted step when it is reached. Raise OverflowError beyond floats."""
        from tqdm import tqdm

        marks = {int(step): index for index, step in enumerate(recorded)}
        with (
            tqdm(total=rates.size, unit="step", desc="exact risk", leave=False, delay=_PATIENCE, disable=None) as bar,
            np.errstate(over="ignore", invalid="ignore"),
        ):
            for k in range(rates.size + 1):
                if k in marks:
                    if not math.isfinite(self.risk):
                        raise OverflowError(
                            f"training diverges: the expected risk is beyond 1.8e308 by step {k}; the largest learning"
                            f" rate is {float(rates.max())!r}, lower it"
                        )
                    yield marks[k]
                if k < rates.size:
                    self.step(float(rates[k]), float(batches[k]))
                    bar.update()


def _plan(rates: Any, batch_sizes: Any, every: int | None) -> tuple[Array, Array, Any]:
    eta, sizes = steps_and_batches(rates, batch_sizes)
    return eta, np.asarray(np.broadcast_to(sizes, eta.shape)), record_steps(eta.size, every)


def exact_risk_matrix(problem: Regression, rates: Any, batch_sizes: Any = 1, *, every: int | None = None) -> RiskCurve:
    """Return the expected excess risk of one-pass SGD, exactly up to rounding, from the whole second-moment matrix.

    For any family and projection; a step costs some M^2 N operations, so up to a few hundred weights. ``rates``:
    eta_0 .. eta_{K-1} >= 0; ``batch_sizes``: positive, one number or one a step; ``every``: record after so many steps
    (by default before the first and after the last only). In a terminal a progress bar appears after two seconds.
    Raises ValueError where an argument does not fit or the features are too many to be listed, and OverflowError where
    training diverges beyond the range of floats. Source: the update labelled eqn: sgd, averaged.

    >>> from fsl_num.model import Model
    >>> problem = Regression(Model(s=0.5, beta=2.0, size=4, noise=1.0), family="trigonometric")
    >>> curve = exact_risk_matrix(problem, [0.1] * 100, every=50)
    >>> curve.step.tolist(), bool(curve.excess_risk[0] > curve.excess_risk[-1])
    ([0, 50, 100], True)
    """
    instance_of("problem", problem, Regression)
    eta, batches, recorded = _plan(rates, batch_sizes, every)
    run = _Run.of(problem)
    risks = np.empty(recorded.size)
    for index in run.through(eta, batches, recorded):
        risks[index] = run.risk
    message = f"second-moment matrix of {run.mean.size} weights"
    return RiskCurve(recorded, risks, np.zeros(recorded.size), "exact", message)
