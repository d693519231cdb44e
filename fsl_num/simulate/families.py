r"""Families of features phi(x) with covariance H = diag(lambda): how they are drawn, and their fourth moments.

phi_j = sqrt(lambda_j) xi_j with E[xi_j xi_k] = delta_jk. A family with independent, symmetric coordinates is known by
its kurtosis E[xi^4] alone:

    E[(phi'A phi) phi phi'] = tr(HA) H + 2 HAH + (kurtosis - 3) diag(lambda_j^2 A_jj)    (A symmetric).

The trigonometric functions of one uniform point are a family with dependent coordinates: those of the periodic
Sobolev kernels (:mod:`fsl_num.simulate.sobolev`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.validation import Array, one_of


@dataclass(frozen=True)
class Family(ABC):
    """A distribution of the standardised features xi, of mean 0 and covariance I."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called on the command line."""

    @property
    @abstractmethod
    def kurtosis(self) -> float | None:
        """E[xi^4] where the coordinates are independent and symmetric, None where they are not."""

    @abstractmethod
    def draw(self, generator: np.random.Generator, count: int, size: int, dtype: Any = np.float64) -> Any:
        """Return ``count`` independent draws of the first ``size`` standardised features, shape (count, size)."""

    def fourth_moment(self, eigenvalues: Array, matrix: Array) -> Array:
        """Return E[(phi'A phi) phi phi'] for a symmetric ``matrix`` A, shape (N, N), exactly."""
        kurtosis = self.kurtosis
        if kurtosis is None:
            raise NotImplementedError(f"the family {self.name!r} must give its own fourth moment")
        moment = 2.0 * eigenvalues[:, None] * matrix * eigenvalues
        index = np.arange(eigenvalues.size)
        diagonal = matrix[index, index]
        moment[index, index] += eigenvalues * (eigenvalues @ diagonal) + (kurtosis - 3.0) * eigenvalues**2 * diagonal
        return np.asarray(moment)


@dataclass(frozen=True)
class Gaussian(Family):
    """Normal features.

    >>> Gaussian().fourth_moment(np.array([1.0, 0.5]), np.eye(2)).tolist()
    [[3.5, 0.0], [0.0, 1.25]]
    """

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return "gaussian"

    @property
    def kurtosis(self) -> float:
        """E[xi^4]."""
        return 3.0

    def draw(self, generator: np.random.Generator, count: int, size: int, dtype: Any = np.float64) -> Any:
        """Return draws, shape (count, size)."""
        return generator.standard_normal((count, size), dtype=dtype)


@dataclass(frozen=True)
class Rademacher(Family):
    """Features +1 or -1 with equal probability, times sqrt(lambda_j).

    >>> np.unique(np.abs(Rademacher().draw(np.random.default_rng(1), 3, 4))).tolist()
    [1.0]
    """

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return "rademacher"

    @property
    def kurtosis(self) -> float:
        """E[xi^4]."""
        return 1.0

    def draw(self, generator: np.random.Generator, count: int, size: int, dtype: Any = np.float64) -> Any:
        """Return draws, shape (count, size)."""
        signs = generator.integers(0, 2, (count, size), dtype=np.int8)
        return (2 * signs - 1).astype(dtype)


@dataclass(frozen=True)
class Uniform(Family):
    """Features uniform on [-sqrt(3), sqrt(3)], times sqrt(lambda_j).

    >>> bool(np.abs(Uniform().draw(np.random.default_rng(1), 3, 4)).max() <= 3**0.5)
    True
    """

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return "uniform"

    @property
    def kurtosis(self) -> float:
        """E[xi^4]."""
        return 1.8

    def draw(self, generator: np.random.Generator, count: int, size: int, dtype: Any = np.float64) -> Any:
        """Return draws, shape (count, size)."""
        uniform = generator.random((count, size), dtype=dtype)
        uniform -= 0.5
        uniform *= 2.0 * math.sqrt(3.0)
        return uniform


@dataclass(frozen=True)
class Trigonometric(Family):
    """The functions sqrt(2) cos(2 pi k x), sqrt(2) sin(2 pi k x), k = 1, 2, ..., in turn, of x uniform on [0, 1].

    Their coordinates are uncorrelated but dependent. An odd number of them ends with a cosine.

    >>> Trigonometric().fourth_moment(np.ones(2), np.diag([1.0, 0.0])).tolist()
    [[1.5, 0.0], [0.0, 0.5]]
    """

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return "trigonometric"

    @property
    def kurtosis(self) -> None:
        """None: the coordinates are dependent."""
        return None

    def values(self, points: Any, size: int) -> Array:
        """Return the first ``size`` functions at ``points`` of shape (n,), shape (n, size)."""
        frequencies = np.arange(1.0, (size + 1) // 2 + 1.0)
        # a whole turn is taken off before it is multiplied by 2 pi: high frequencies keep their digits
        angle = 2.0 * math.pi * (np.multiply.outer(np.asarray(points, dtype=np.float64), frequencies) % 1.0)
        values = np.empty((angle.shape[0], size))
        values[:, 0::2] = math.sqrt(2.0) * np.cos(angle)
        values[:, 1::2] = math.sqrt(2.0) * np.sin(angle[:, : size // 2])
        return values

    def draw(self, generator: np.random.Generator, count: int, size: int, dtype: Any = np.float64) -> Any:
        """Return draws, shape (count, size)."""
        return self.values(generator.random(count), size).astype(dtype, copy=False)

    def fourth_moment(self, eigenvalues: Array, matrix: Array) -> Array:
        """Return E[(phi'A phi) phi phi'] for a symmetric ``matrix`` A, shape (N, N), exactly.

        Products of two functions have frequencies k - l and k + l only: phi'A phi = sum_m (a_m cos m + b_m sin m) has
        its coefficients from the diagonals and antidiagonals of A, and the result is Toeplitz plus Hankel in them.
        """
        size = eigenvalues.size
        pairs = (size + 1) // 2
        root = np.sqrt(eigenvalues)
        scaled = np.zeros((2 * pairs, 2 * pairs))
        scaled[:size, :size] = root[:, None] * matrix * root
        cosines, mixed, sines = scaled[0::2, 0::2], scaled[0::2, 1::2], scaled[1::2, 1::2]
        k = np.arange(1, pairs + 1)
        plus, minus = np.add.outer(k, k), np.subtract.outer(k, k)
        distance, sign = np.abs(minus), np.sign(minus)

        def gathered(where: Any, weights: Array) -> Array:
            return np.bincount(where.ravel(), weights.ravel(), minlength=2 * pairs + 1).astype(np.float64)

        even = gathered(distance, cosines + sines) + gathered(plus, cosines - sines)
        odd = 2.0 * (gathered(plus, mixed) - gathered(distance, sign * mixed))
        even[1:] *= 0.5  # E[cos^2] = 1/2, and 1 for the constant
        odd *= 0.5
        moment = np.empty_like(scaled)
        moment[0::2, 0::2] = even[distance] + even[plus]
        moment[1::2, 1::2] = even[distance] - even[plus]
        moment[0::2, 1::2] = odd[plus] - sign * odd[distance]
        moment[1::2, 0::2] = moment[0::2, 1::2].T
        return np.asarray(root[:, None] * moment[:size, :size] * root)


FAMILIES: Final[Mapping[str, type[Family]]] = MappingProxyType(
    {"gaussian": Gaussian, "rademacher": Rademacher, "uniform": Uniform, "trigonometric": Trigonometric}
)
"""Name -> class."""


def family(name: str | Family) -> Family:
    """Return the family called ``name`` (a family is returned as it is); raise ValueError for an unknown name.

    >>> family("uniform").kurtosis
    1.8
    """
    if isinstance(name, Family):
        return name
    unknown = f"unknown family of features {name!r}; the names are {', '.join(FAMILIES)}"
    return FAMILIES[one_of("family", name, FAMILIES, unknown)]()
