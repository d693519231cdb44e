r"""The modes in which the SDE is simulated, and one step of the scheme of Euler and Maruyama in them.

In x = H^(1/2) (v - theta), for a projection in the eigenbasis of W H W', the noise covariance of Gaussian features is
H^(1/2) ((2E + sigma^2) I + x x') H^(1/2) on H^(1/2) x, and 2E = |x|^2 + delta. With c^2 = 2E + sigma^2 its exact
factor is diagonal plus rank one, for (c I + x x'/(c + r))^2 = c^2 I + x x' where r^2 = c^2 + |x|^2. So

    dx = H (-x dt + sqrt(gamma) (c dB + x (x'dB)/(c + r))).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde_moments import problem_spectrum, require_gaussian
from fsl_num.validation import Array


@dataclass(frozen=True, eq=False)
class System:
    """``eigenvalues`` of the model's covariance, ``start`` x(0), ``tail`` delta and ``noise`` sigma^2."""

    eigenvalues: Array
    start: Array
    tail: float
    noise: float


def sde_system(problem: Regression) -> System:
    """Return the modes in which the SDE is simulated.

    Raises ValueError for features that are not Gaussian and for models too large to list.

    >>> from fsl_num.model import Model
    >>> sde_system(Regression(Model(s=1.0, beta=2.0, size=2, noise=1.0))).start.round(3).tolist()
    [-1.0, -0.354]
    """
    require_gaussian(problem)
    spectrum = problem_spectrum(problem)
    if spectrum is None:
        raise ValueError(
            f"model_size must be finite and at most 1e6 for a simulation, got {problem.model.size:g}; its exact"
            " expectation exact_sde_risk takes any size"
        )
    # the sign of x_j(0) does not matter: mirroring a mode and its Brownian motion gives the same equation
    return System(spectrum.eigenvalues, -np.sqrt(spectrum.signals), spectrum.tail, problem.model.noise)


def advance(system: System, x: Array, length: float, increment: Array) -> None:
    """Take one step of the scheme of ``length`` dt in place: x, shape (runs, M), with int sqrt(gamma) dB given.

    ``increment`` has the shape of x and is overwritten.

    >>> system = System(np.array([1.0]), np.array([1.0]), 0.0, 3.0)
    >>> x = np.ones((1, 1))
    >>> advance(system, x, 0.1, np.ones((1, 1)))  # c = 2, c I + x x'/(c + r) = sqrt(c^2 + x^2)
    >>> bool(abs(x[0, 0] - (0.9 + 5**0.5)) < 1e-15)
    True
    """
    squares = np.einsum("ij,ij->i", x, x)
    along = np.einsum("ij,ij->i", x, increment)
    base = squares + (system.tail + system.noise)
    strength = np.sqrt(base)
    # where there is no noise at all x is 0 too, and any positive number serves
    along /= np.maximum(strength + np.sqrt(base + squares), 1e-300)
    along -= length
    increment *= strength[:, None]
    increment += x * along[:, None]
    increment *= system.eigenvalues
    x += increment
