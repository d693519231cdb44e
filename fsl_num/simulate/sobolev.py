r"""Periodic Sobolev kernels: a kernel whose Mercer expansion is known, as an example of capacity and source exponents.

For inputs uniform on the circle [0, 1) and a whole smoothness m the kernel of the functions of mean zero with
||f||_K^2 = (2 pi)^(-2m) int |f^(m)|^2 is

    K(x, y) = sum_k k^(-2m) 2 cos(2 pi k (x - y)) = (-1)^(m+1) (2 pi)^(2m) B_2m({x - y})/(2m)!,

B_n the Bernoulli polynomials. Its eigenfunctions are sqrt(2) cos(2 pi k x) and sqrt(2) sin(2 pi k x) with the same
eigenvalue: lambda_{2k-1} = lambda_{2k} = k^(-2m), so that beta = 2m. Bernoulli polynomials are targets as well: the
coefficients of order p are k^(-p), hence f* lies in H^r exactly for r < s = (2p - 1)/beta (the section on connections
to kernel regression).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fsl_num.model import Model
from fsl_num.simulate.families import Trigonometric
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array, affordable, finite_array, positive, whole_count

_HIGHEST = 20  # orders beyond lose digits to factorials and serve nothing here


def bernoulli_polynomial(order: int, points: Any) -> Array:
    """Return B_order({x}), the Bernoulli polynomial of the fractional part of x, for ``order`` 1 .. 20.

    Raises ValueError for another order or points that are not finite.

    >>> bernoulli_polynomial(2, [0.0, 0.5, 1.25]).round(6).tolist()
    [0.166667, -0.083333, -0.020833]
    """
    degree = _order(order)
    x = np.asarray(points, dtype=np.float64)
    if not np.isfinite(x).all():
        raise ValueError("points must be finite")
    numbers = _bernoulli_numbers(degree)
    # About 1/2 every other coefficient vanishes and what is left hardly cancels: B_k(1/2) = (2^(1-k) - 1) B_k.
    middle = [(Fraction(2, 2**k) - 1) * numbers[k] for k in range(degree + 1)]
    value = np.zeros_like(x)
    for k in range(degree + 1):
        value = value * (x % 1.0 - 0.5) + float(math.comb(degree, k) * middle[k])
    return np.asarray(value)


def _bernoulli_numbers(order: int) -> list[Fraction]:
    numbers = [Fraction(1)]
    for n in range(1, order + 1):
        total = sum((math.comb(n + 1, k) * numbers[k] for k in range(n)), Fraction(0))
        numbers.append(-total / (n + 1))
    return numbers


def _order(order: Any) -> int:
    degree = whole_count("order", order)
    if degree > _HIGHEST:
        raise ValueError(f"order must be at most {_HIGHEST}, got {order!r}")
    return degree


@dataclass(frozen=True)
class PeriodicSobolev:
    """The periodic Sobolev kernel of whole ``smoothness`` m, 1 .. 10. Raises ValueError or TypeError for another.

    >>> kernel = PeriodicSobolev(1)
    >>> kernel.beta, kernel.eigenvalues(4).tolist()
    (2.0, [1.0, 1.0, 0.25, 0.25])
    >>> kernel.eigenfunctions([0.125], 2).round(6).tolist()
    [[1.0, 1.0]]
    >>> bool(abs(kernel(0.3, 0.3) - kernel.trace) < 1e-14)
    True
    """

    smoothness: int

    def __post_init__(self) -> None:
        size = whole_count("smoothness", self.smoothness)
        _order(2 * size)
        object.__setattr__(self, "smoothness", size)

    @property
    def beta(self) -> float:
        """The capacity exponent, 2m: (j/2)^-beta >= lambda_j >= ((j + 1)/2)^-beta."""
        return 2.0 * self.smoothness

    @property
    def trace(self) -> float:
        """The sum of all eigenvalues, K(x, x)."""
        return float(self(0.0, 0.0))

    def __call__(self, x: Any, y: Any) -> Any:
        """Return K(x, y), the arguments broadcast."""
        order = 2 * self.smoothness
        factor = (-1) ** (self.smoothness + 1) * (2.0 * math.pi) ** order / math.factorial(order)
        value = factor * bernoulli_polynomial(order, np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64))
        return value if value.ndim else float(value)

    def eigenvalues(self, size: int) -> Array:
        """Return the first ``size`` eigenvalues, largest first, each twice."""
        count = whole_count("size", size)
        affordable("eigenvalues", count, 24, "take fewer")
        return np.asarray(((np.arange(count) + 2) // 2).astype(np.float64) ** -self.beta)

    def eigenfunctions(self, points: Any, size: int) -> Array:
        """Return the first ``size`` eigenfunctions at ``points`` of shape (n,), shape (n, size)."""
        count, places = whole_count("size", size), finite_array("points", points)
        if places.ndim != 1:
            raise ValueError(f"points must be a list, got the shape {places.shape}")
        affordable("values of eigenfunctions", float(count) * places.size, 24, "take fewer")
        return Trigonometric().values(places, count)

    def regression(
        self, *, model_size: int, features: int, noise: float, s: float | None = None, order: int | None = None
    ) -> Regression:
        """Return the regression with this kernel cut off after ``features`` eigenfunctions, learned by the first M.

        The target is the power law a_j^2 = j^-1 lambda_j^s of the given ``s``, or the Bernoulli polynomial of ``order``
        p with its source exponent; give one of the two. As a :class:`Regression` has lambda_j = j^-beta, its projection
        is diagonal: it turns these eigenvalues into the pairs k^-beta, and its target belongs to them. Raises
        ValueError or TypeError where an argument does not fit.

        >>> problem = PeriodicSobolev(1).regression(model_size=4, features=10, noise=0.0, order=1)
        >>> problem.model.s, problem.spectrum.eigenvalues.round(12).tolist()
        (0.5, [1.0, 1.0, 0.25, 0.25])
        """
        if (s is None) == (order is None):
            raise ValueError("give either s or the order of a Bernoulli polynomial, and not both")
        kept = whole_count("model_size", model_size)
        total = whole_count("features", features)
        if total < kept:
            raise ValueError(f"features must be at least model_size = {kept}, got {features!r}")
        affordable("entries of the projection", float(kept) * total, 8, "take fewer features")
        own = self.eigenvalues(total)
        if order is None:
            source = positive("s", s)
            amplitudes = np.arange(1.0, total + 1.0) ** -0.5 * own ** (0.5 * source)
        else:
            source = source_exponent(order, self.beta)
            amplitudes = bernoulli_amplitudes(order, total)
        power = np.arange(1.0, total + 1.0) ** (-0.5 * self.beta)
        projection = np.zeros((kept, total))
        index = np.arange(kept)
        projection[index, index] = np.sqrt(own[:kept]) / power[:kept]
        return Regression(
            Model(s=source, beta=self.beta, size=kept, noise=noise),
            features=total,
            family=Trigonometric(),
            projection=projection,
            target=amplitudes / power,
        )


def bernoulli_amplitudes(order: int, size: int) -> Array:
    """Return the first ``size`` amplitudes a_j, k^-p in size, of -(2 pi)^p/(sqrt(2) p!) B_p({x}) in the eigenfunctions.

    Order 1 is the sawtooth, 2 is made of parabolas, and so on: p - 2 continuous derivatives.

    >>> bernoulli_amplitudes(1, 4).tolist()
    [0.0, 1.0, 0.0, 0.5]
    """
    degree = _order(order)
    count = whole_count("size", size)
    pair = ((np.arange(count) + 2) // 2).astype(np.float64)
    sign = (1.0, 1.0, -1.0, -1.0)[degree % 4]  # cos(p pi/2) of even orders, sin(p pi/2) of odd ones
    used = (np.arange(count) % 2 == 1) == (degree % 2 == 1)
    return np.where(used, sign * pair**-degree, 0.0)


def source_exponent(order: int, beta: float) -> float:
    """Return the s of a Bernoulli target of order p for eigenvalues of exponent beta: (2p - 1)/beta.

    sum_k k^(-2p + beta r), the squared norm in H^r, is finite for r < s and infinite for r = s.

    >>> source_exponent(1, 2.0), source_exponent(2, 2.0)
    (0.5, 1.5)
    """
    return (2.0 * _order(order) - 1.0) / positive("beta", beta)


def measured_source_exponent(amplitudes: Any, beta: float) -> float:
    """Return the s read off amplitudes a_j: the energy in the octave 2^q < j <= 2^(q+1) falls like 2^(-q s beta).

    The last two whole octaves decide, with a relative error of the order of 2^-q: give as many amplitudes as there are.
    Raises ValueError for fewer than 8, or where the last octaves hold no energy.

    >>> round(measured_source_exponent(np.arange(1.0, 4097.0) ** -1.5, 2.0), 3)
    1.0
    """
    values = _amplitudes(amplitudes)
    octaves = int(math.log2(values.size)) if values.size else 0
    if octaves < 3:
        raise ValueError(f"amplitudes must be at least 8, got {values.size}: two octaves past the first are compared")
    energy = [float((values[2**q : 2 ** (q + 1)] ** 2).sum()) for q in (octaves - 2, octaves - 1)]
    if min(energy) <= 0.0:
        raise ValueError("the last two octaves of amplitudes hold no energy: the function is a finite sum")
    return math.log2(energy[0] / energy[1]) / positive("beta", beta)


def _amplitudes(value: Any) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"amplitudes must be a list of finite numbers, got the shape {array.shape}")
    return array
