r"""Laws for the final losses of runs over model size N, batch size B and number of steps K.

``regression``: loss = L0 + A E(M, B, K), where E is the expected excess risk of power-law regression under one-pass SGD
at a constant learning rate, with M = N/N0 features. It is exact for Gaussian features: the second moments close (see
:mod:`fsl_num.simulate.recursion`), one step multiplies them by a diagonal matrix plus one of rank one, and its
eigenvalues give any number of steps at once. ``chinchilla``: L0 + a N^-x + b D^-y with D = B K samples.
``three-term``: L0 + a N^-x + b K^-y + c B^-z.

Each is linear, with coefficients >= 0, in L0 and a few columns that the other parameters bend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np
from scipy.special import zeta

from fsl_num.results import Result
from fsl_num.validation import Array

_HEAD = 24  # first features, which are kept one by one
_TAIL = 24  # Gauss-Legendre nodes in log j that stand for all others
_AT_ONCE = 1024  # runs, so that their matrices stay small
_LARGEST = 100.0  # of the log of what a diverging mode grows to


@dataclass(frozen=True, eq=False)
class Runs(Result):
    """Runs that ended, an entry each: ``model_size``, ``batch_size``, ``steps``, and ``peak``, the learning rate (1
    where it is not known: the same for all)."""

    model_size: Array
    batch_size: Array
    steps: Array
    peak: Array

    def at(self, rows: Array) -> Runs:
        """The runs of some rows."""
        return Runs(self.model_size[rows], self.batch_size[rows], self.steps[rows], self.peak[rows])

    @property
    def unit(self) -> Runs:
        """One run: the smallest size, the middle of batch sizes and steps, the largest peak."""
        middles = (np.exp(np.median(np.log(values))) for values in (self.batch_size, self.steps))
        return Runs(*(np.array([float(number)]) for number in (self.model_size.min(), *middles, self.peak.max())))

    def distinct(self, column: str) -> int:
        """How many different values a column has; ``samples`` are batch size times steps."""
        values = self.batch_size * self.steps if column == "samples" else getattr(self, column)
        return int(np.unique(values).size)


@dataclass(frozen=True)
class SizeLaw:
    """A law of final losses: loss = L0 + sum_i exp(c_i) columns_i(theta).

    ``formula``; ``parameters``: the names, bent ones, coefficients, then L0; ``centres`` and ``widths``: the normal
    prior of each bent coordinate; ``bounds``: of the same; ``columns(theta, runs, unit)``: (rows, coefficients), with
    ``unit`` a run in whose units sizes, batches and steps are counted; ``reported(theta, unit)``: log of each parameter
    (less its ``offsets``) in plain units, and L0 itself; ``needs``: column of a table -> (distinct values that the law
    needs, the parameters that hang on it).
    """

    formula: str
    parameters: tuple[str, ...]
    centres: tuple[float, ...]
    widths: tuple[float, ...]
    bounds: tuple[tuple[float, float], ...]
    columns: Callable[[Array, Runs, Runs], Array]
    reported: Callable[[Array, Runs], Array]
    needs: Mapping[str, tuple[int, tuple[str, ...]]]
    offsets: Mapping[str, float] = field(default_factory=dict)

    @property
    def coefficients(self) -> int:
        """How many columns it has."""
        return len(self.parameters) - len(self.centres) - 1

    def losses(self, theta: Array, runs: Runs, unit: Runs) -> Array:
        """Return the losses of runs at the coordinates: bent ones, logs of the coefficients, L0."""
        bent = len(self.centres)
        return np.asarray(theta[-1] + self.columns(theta[:bent], runs, unit) @ np.exp(theta[bent:-1]))


def regression_risk(
    s: float, beta: float, size: Array, rate: Array, batch_size: Array, noise: float, steps: Array
) -> Array:
    """Return the expected excess risk of one-pass SGD at constant learning rates, an entry a run.

    ``s`` > 0 and ``beta`` > 1: exponents; ``size``: features M >= 1, any real number; ``rate``: learning rate, at most
    1 (the largest eigenvalue is 1); ``batch_size``, ``steps`` > 0; ``noise``: variance of the labels. Agrees with
    :func:`fsl_num.exact_risk` to 1e-4: sums over features behind the first 24 are integrals. Where training diverges
    the risk is huge. Source: the recursion of :mod:`fsl_num.simulate.recursion`.

    >>> ones = np.ones(1)
    >>> regression_risk(0.5, 2.0, 100 * ones, 0.1 * ones, ones, 1.0, 1000 * ones).round(4).tolist()
    [0.0809]
    """
    if size.size > _AT_ONCE:
        parts = [slice(low, low + _AT_ONCE) for low in range(0, size.size, _AT_ONCE)]
        risks = [regression_risk(s, beta, size[k], rate[k], batch_size[k], noise, steps[k]) for k in parts]
        return np.concatenate(risks)
    machines, of = np.unique(np.stack([size, batch_size, rate], axis=1), axis=0, return_inverse=True)
    of = of.ravel()  # some versions of numpy give it another shape
    features, batches, rates = (machines[:, [k]] for k in range(3))
    nodes, weights = np.polynomial.legendre.leggauss(_TAIL)
    head = np.arange(1.0, _HEAD + 1.0)
    length = np.log(np.maximum(features + 0.5, _HEAD + 0.5) / (_HEAD + 0.5))
    tail = (_HEAD + 0.5) * np.exp(0.5 * length * (1.0 + nodes))
    index = np.concatenate([np.broadcast_to(head, (len(machines), _HEAD)), tail], axis=1)
    counts = np.concatenate([np.clip(features - head + 1.0, 0.0, 1.0), 0.5 * length * weights * tail], axis=1)
    eigenvalues = index**-beta
    # In the units sqrt(count) lambda of each feature the matrix of one step is symmetric.
    start, gain = np.sqrt(counts) * index ** (beta - 1.0 - s * beta), np.sqrt(counts) * eigenvalues
    turn, kick = rates * eigenvalues, rates**2 / batches
    decay = -(kick * gain)[:, :, None] * gain[:, None, :]
    decay[:, np.arange(index.shape[1]), np.arange(index.shape[1])] += turn * (2.0 - turn * (1.0 + 1.0 / batches))
    lost, vectors = np.linalg.eigh(decay)
    begun, seen = (np.einsum("gij,gi->gj", vectors, part) for part in (start, gain))
    missed = zeta(1.0 + s * beta, features + 1.0)
    power = np.minimum(steps[:, None] * np.log1p(-lost)[of], _LARGEST)
    tiny = np.where(np.abs(lost) > 1e-300, lost, 1e-300)
    injected = (kick * (missed + noise) * seen**2 / tiny)[of] * -np.expm1(power)
    return np.asarray(0.5 * (missed[of, 0] + ((begun * seen)[of] * np.exp(power) + injected).sum(axis=1)))


def _regression_columns(theta: Array, runs: Runs, unit: Runs) -> Array:
    s, above, features, rate, noise = np.exp(theta)
    size = np.maximum(features * runs.model_size / unit.model_size, 1.0)
    batch, rates = runs.batch_size, np.minimum(rate * runs.peak / unit.peak, 1.0)
    return regression_risk(s, 1.0 + above, size, rates, batch, noise * unit.batch_size[0], runs.steps)[:, None]


def _regression_reported(theta: Array, unit: Runs) -> Array:
    size, batch, peak = (np.log(values[0]) for values in (unit.model_size, unit.batch_size, unit.peak))
    s, above, features, rate, noise, amplitude, floor = theta
    return np.array([s, above, size - features, rate - peak, noise + batch, amplitude, floor])


def _powers(*quantities: Callable[[Runs], Array]) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """The columns quantity^-exponent, and the parameters in plain units."""

    def columns(theta: Array, runs: Runs, unit: Runs) -> Array:
        pairs = zip(quantities, np.exp(theta), strict=True)
        return np.stack([(power(runs) / power(unit)) ** -exponent for power, exponent in pairs], axis=1)

    def reported(theta: Array, unit: Runs) -> Array:
        values, terms = np.array(theta), len(quantities)
        values[terms:-1] += np.exp(theta[:terms]) * [np.log(quantity(unit)[0]) for quantity in quantities]
        return values

    return columns, reported


def _size(runs: Runs) -> Array:
    return runs.model_size


def _steps(runs: Runs) -> Array:
    return runs.steps


def _batch(runs: Runs) -> Array:
    return runs.batch_size


def _samples(runs: Runs) -> Array:
    return runs.batch_size * runs.steps


_EXPONENT: Final = (float(np.log(0.5)), 1.0, (-5.0, 2.0))
"""Centre, width and bounds of the log of an exponent."""


def _power_law(formula: str, terms: Mapping[str, tuple[str, str, Callable[[Runs], Array]]]) -> SizeLaw:
    centre, width, bounds = _EXPONENT
    count = len(terms)
    columns, reported = _powers(*(power for _, _, power in terms.values()))
    names = (*(exponent for _, exponent, _ in terms.values()), *(factor for factor, _, _ in terms.values()), "L0")
    needs = {column: (3, (factor, exponent, "L0")) for column, (factor, exponent, _) in terms.items()}
    return SizeLaw(formula, names, (centre,) * count, (width,) * count, (bounds,) * count, columns, reported, needs)


SIZE_LAWS: Final[Mapping[str, SizeLaw]] = MappingProxyType(
    {
        "regression": SizeLaw(
            "L0 + A E(N/N0, B, K)",
            ("s", "beta", "N0", "rate", "noise", "A", "L0"),
            (float(np.log(0.5)), 0.0, float(np.log(30.0)), float(np.log(0.1)), 0.0),
            (1.0, 1.0, 4.0, 4.0, 6.0),
            ((-4.0, 2.0), (-4.0, 2.0), (0.0, 18.0), (-16.0, 0.0), (-20.0, 20.0)),
            _regression_columns,
            _regression_reported,
            {
                "model_size": (3, ("N0", "beta", "L0")),
                "steps": (3, ("s", "rate", "L0")),
                "batch_size": (2, ("noise", "L0")),
            },
            {"beta": 1.0},
        ),
        "chinchilla": _power_law(
            "L0 + a N^-x + b D^-y", {"model_size": ("a", "x", _size), "samples": ("b", "y", _samples)}
        ),
        "three-term": _power_law(
            "L0 + a N^-x + b K^-y + c B^-z",
            {"model_size": ("a", "x", _size), "steps": ("b", "y", _steps), "batch_size": ("c", "z", _batch)},
        ),
    }
)
"""Name -> law. ``regression``: s relative difficulty, beta capacity exponent, N0 parameters a feature, rate the
learning rate (of a unit of the peak, where that is given) times the largest eigenvalue, noise the variance of the
labels, A the loss of a unit of excess risk."""
