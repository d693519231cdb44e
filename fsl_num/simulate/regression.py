r"""Power-law kernel regression: the features, the target, the label noise, and a model of width M.

Labels are y = <phi(x), theta*> + epsilon with E phi phi' = H = diag(lambda), lambda_j = j^-beta, theta*_j^2 =
j^-1 lambda_j^(s-1), epsilon ~ N(0, sigma^2). The model is <v, W phi(x)>, W of shape (M, N), and its excess risk

    E(v) = (1/2) ||W'v - theta*||_H^2

(equations labelled eqn: pop-risk and eqn: pop-risk-top-M).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fsl_num.given_spectrum import Spectrum
from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.simulate.families import Family, Gaussian, family
from fsl_num.spectrum import approximation_error
from fsl_num.validation import Array, finite_array, whole_size

MOST_LISTED = 10**6
"""Models up to this size are kept mode by mode."""


@dataclass(frozen=True, eq=False)
class Regression(Result):
    """One regression problem and a model for it.

    ``model``: a :class:`~fsl_num.model.Model` of power laws, of any size where the projection is the first M features.
    ``features``: N >= M; by default M, which leaves no approximation error; inf for the first M features.
    ``family``: the distribution of the features, a name ("gaussian", "rademacher", "uniform") or a
    :class:`~fsl_num.simulate.families.Family`. ``projection``: W, shape (M, N), finite, of full rank; by default the
    first M features. ``target``: theta*, shape (N,), in place of the power law (then the model's s only names it).
    Raises ValueError or TypeError for anything else.

    >>> problem = Regression(Model(s=0.5, beta=2.0, size=4, noise=1.0))
    >>> bool(abs(problem.excess_risk(np.zeros(4)) - problem.initial_risk) < 1e-15)
    True
    """

    model: Model
    _: KW_ONLY
    features: float | None = None
    family: Family | str = Gaussian()
    projection: Any = None
    target: Any = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        if not isinstance(self.model, Model):
            raise TypeError(f"model must be a Model(s, beta, size, noise), got {type(self.model).__name__}")
        if self.model.spectrum is not None:
            raise ValueError("a regression needs a model of power laws (s, beta, size), not one of a given spectrum")
        set_field(self, "family", family(self.family))
        size = self.model.size
        total = size if self.features is None else whole_size("features", self.features)
        if total < size:
            raise ValueError(f"features must be at least model_size = {size:g}, got {self.features!r}")
        set_field(self, "features", total)
        if self.projection is not None:
            set_field(self, "projection", _matrix(self.projection, size, total))
        if self.target is not None:
            theta = finite_array("target", self.target)
            if theta.shape != (total,) or not np.isfinite(theta).all():
                raise ValueError(f"target must be {total:g} finite numbers, one a feature, got the shape {theta.shape}")
            set_field(self, "target", theta)

    @property
    def listed_features(self) -> int:
        """N as an int; raises ValueError where there are too many to list."""
        assert self.features is not None
        if self.features > MOST_LISTED:
            raise ValueError(
                f"features must be at most {MOST_LISTED} to be listed one by one, got {self.features:g}; the exact"
                " recursion takes any number of them"
            )
        return int(self.features)

    @cached_property
    def eigenvalues(self) -> Array:
        """lambda_1 .. lambda_N."""
        return np.arange(1.0, self.listed_features + 1.0) ** -self.model.beta

    @cached_property
    def theta(self) -> Array:
        """theta*_1 .. theta*_N, positive unless another target was given."""
        if self.target is not None:
            return np.asarray(self.target)
        index = np.arange(1.0, self.listed_features + 1.0)
        return np.asarray(index ** (-0.5 * (1.0 + self.model.beta * (self.model.s - 1.0))))

    @cached_property
    def tail(self) -> float:
        """delta = sum_{M<j<=N} lambda_j theta_j^2: no v on the first M features has a risk below delta/2."""
        if self.target is not None:
            beyond = slice(int(self.model.size), None)
            return float(self.eigenvalues[beyond] @ self.theta[beyond] ** 2)
        return float(approximation_error(self.model.s, self.model.beta, self.model.size, features=self.features))

    @property
    def initial_risk(self) -> float:
        """E(0), where training starts."""
        if self.features is not None and self.features <= MOST_LISTED:
            return 0.5 * float(self.eigenvalues @ self.theta**2)
        return 0.5 * float(approximation_error(self.model.s, self.model.beta, 1, features=self.features) + 1.0)

    def excess_risk(self, v: Any) -> Any:
        """Return E(v) for weights ``v`` of shape (..., M)."""
        weights = finite_array("v", v, int(self.model.size))
        if self.projection is not None:
            return 0.5 * ((weights @ self.projection - self.theta) ** 2 @ self.eigenvalues)
        kept = int(self.model.size)
        squares = (weights - self.theta[:kept]) ** 2
        return 0.5 * (squares @ self.eigenvalues[:kept] + self.tail)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The modes of W H W' with the signal that each learns, and what none of them reaches.

        For the first M features these are lambda_j theta_j^2 and :attr:`tail`. For a projection: the eigenvalues of
        W H W', and in their basis the best weights v*, the signal being the eigenvalue times v*_j^2.
        """
        if self.projection is None:
            # the features beyond M, which may be infinitely many, are in the tail
            first = self if self.target is not None else replace(self, features=self.model.size)
            kept = min(first.listed_features, self.model.size)
            eigenvalues, theta = first.eigenvalues[: int(kept)], first.theta[: int(kept)]
            return Spectrum(eigenvalues.tolist(), (eigenvalues * theta**2).tolist(), self.tail)
        # With Y = W H^(1/2) = U D V': the eigenvalues are D^2, the signals (V' H^(1/2) theta)_j^2, and what is left of
        # H^(1/2) theta outside the rows of V' is never learned.
        whitened = np.sqrt(self.eigenvalues)
        _, singular, rows = np.linalg.svd(self.projection * whitened, full_matrices=False)
        aim = whitened * self.theta
        learned = rows @ aim
        unlearned = aim - rows.T @ learned
        return Spectrum((singular**2).tolist(), (learned**2).tolist(), float(unlearned @ unlearned))


def _matrix(value: Any, size: float, total: float) -> Array:
    matrix = finite_array("projection", value)
    if matrix.shape != (size, total):
        raise ValueError(
            f"projection must have the shape (model_size, features) = ({size:g}, {total:g}), got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("projection must be finite")
    if np.linalg.matrix_rank(matrix) < size:
        raise ValueError("projection must have full rank: some of its rows are combinations of the others")
    return matrix
