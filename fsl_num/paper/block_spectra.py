"""Spectra that are powers only up to constants: eigenvalues c_j j^-beta, targets d_j j^-1 lambda_j^(s-1).

The eigenvalues of a block of features are equal: c_j then runs through a whole range in each block, and a model of
1e100 features has a few hundred different eigenvalues, summed as they are. Blocks have one length in log j, and their
further constants repeat, so that every quantity oscillates for ever with the logarithm of t and of M; rays take whole
periods.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from fsl_num.paper.block_constants import PERIOD, Constants
from fsl_num.spectrum import kernel_integral, signal
from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes

_UNMOVED = 1e-9
"""Modes with lambda t below this are one: their spread counts as its square."""
_FROZEN = 1e10
"""Of infinitely many features those are listed that move by a share of this, over the horizon."""
_SMOOTH = 1e4
"""Beyond so many features the sum of 1/j over a block is its logarithm, to 1e-4 of it."""


@lru_cache(maxsize=256)
def block_modes(constants: Constants, s: float, beta: float, size: float, horizon: float) -> tuple[LinearModes, float]:
    """The modes of the first ``size`` features (finite) up to an intrinsic time, delta_M included, and tr(H_M).

    >>> from fsl_num.paper.block_constants import given_constants
    >>> modes, trace = block_modes(given_constants(0)[0], 1.0, 2.0, 100.0, 1e3)
    >>> modes.rates[:3].tolist(), trace < 2 * 1.645
    ([4.0, 1.0, 0.25], True)
    """
    from scipy.special import digamma

    period, edges, eigenvalues = _blocks(constants, beta, max(size, _SMOOTH))
    targets = _in_turn(constants.targets, eigenvalues.size) * eigenvalues**s
    inside = np.minimum(edges, size)
    counts, energies = np.diff(inside), np.diff(digamma(inside + 1.0)) * targets
    beyond = np.diff(digamma(np.maximum(edges, size) + 1.0)) * targets
    # the blocks that follow: whole periods, each PERIOD^-s of the one before
    delta = float(beyond.sum() + beyond[-period:].sum() / math.expm1(s * math.log(PERIOD)))
    trace = float(eigenvalues @ counts)
    weights = counts * eigenvalues**2
    kept = (counts > 0) & (eigenvalues * horizon > _UNMOVED)
    slow = (counts > 0) & ~kept
    rates, weights, start = (
        np.append(array[kept], collected)
        for array, collected in (
            (2.0 * eigenvalues, _mean(2.0 * eigenvalues[slow], energies[slow])),
            (weights, weights[slow].sum()), (energies, energies[slow].sum()),
        )
    )  # fmt: skip
    return LinearModes(rates, weights, start, delta, 0.0, 0.0), trace


@lru_cache(maxsize=64)
def infinite_modes(constants: Constants, s: float, beta: float, horizon: float) -> tuple[Array, Array, Array]:
    """Of infinitely many features: the rates 2 lambda of their modes, their weights in K, and lambda theta^2.

    What no time up to the horizon moves is in the signal of the last.

    >>> from fsl_num.paper.block_constants import given_constants
    >>> rates, weights, signals = infinite_modes(given_constants(0)[0], 1.0, 2.0, 1e6)
    >>> bool(0.0 < rates[-1] < 1e-14 and 0.5 < signals.sum() < 10.0)
    True
    """
    modes, _ = block_modes(constants, s, beta, (_FROZEN * horizon) ** (1.0 / beta), horizon)
    return modes.rates, modes.weights, np.append(modes.start[:-1], modes.start[-1] + modes.delta)


def infinite_signal(constants: Constants | None, s: float, beta: float, time: float) -> float:
    """What infinitely many features have not learned at an intrinsic time; without constants: of exact powers."""
    if constants is None:
        return float(signal(time, s, beta))
    rates, _, signals = infinite_modes(constants, s, beta, time)
    return float(np.exp(-rates * time) @ signals)


def infinite_integral(constants: Constants | None, beta: float, start: float, end: float) -> float:
    """The integral of K from ``start`` to ``end``, of infinitely many features; without constants: of exact powers.

    >>> from fsl_num.paper.block_constants import given_constants
    >>> steps = given_constants(0)[0]
    >>> periods = [infinite_integral(steps, 2.0, 256.0**power, 256.0 ** (power + 1)) for power in (1, 2)]
    >>> round(periods[0] / periods[1], 1)  # 256^(1 - 1/2)
    16.0
    """
    if constants is None:
        return float(kernel_integral(start, end, beta))
    rates, weights, _ = infinite_modes(constants, 1.0, beta, end)
    return float((np.exp(-rates * start) * -np.expm1(-rates * (end - start)) / rates) @ weights)


@lru_cache(maxsize=256)
def kernel_beyond(constants: Constants, beta: float, size: float, time: float) -> tuple[Array, Array, float]:
    """The features beyond the first ``size``: their rates 2 lambda and weights in K, and the sum of their lambda.

    Of the rates those are kept that move up to an intrinsic time; the sum is of all of them.

    >>> from fsl_num.paper.block_constants import given_constants
    >>> rates, weights, trace = kernel_beyond(given_constants(0)[0], 2.0, 100.0, 1e4)
    >>> bool(rates[0] < 4e-4 and float(weights @ (1.0 / rates)) < 0.5 * trace < 1.0 / 100.0)
    True
    """
    last = max(size, _SMOOTH, (time / _UNMOVED) ** (1.0 / beta))
    period, edges, eigenvalues = _blocks(constants, beta, last)
    counts = np.diff(np.maximum(edges, size))
    trace = counts * eigenvalues
    # the blocks that follow: whole periods, each PERIOD^-(1 - 1/beta) of the one before
    following = trace[-period:].sum() / math.expm1((1.0 - 1.0 / beta) * math.log(PERIOD))
    kept = counts > 0
    return 2.0 * eigenvalues[kept], (trace * eigenvalues)[kept], float(trace.sum() + following)


def _blocks(constants: Constants, beta: float, size: float) -> tuple[int, Array, Array]:
    """Blocks in a period; the edges of the blocks up to a period beyond ``size``, and the eigenvalue of each block."""
    period = round(math.log(PERIOD, constants.factor))
    width = math.log(constants.factor) / beta
    last = math.ceil(math.log(size) / width) + period
    blocks = np.arange(-1.0, last)
    edges = np.floor(np.exp(width * np.arange(-1, last + 1)) * (1.0 + 1e-12))
    return period, edges, constants.factor ** -(blocks + 0.5) * _in_turn(constants.eigenvalues, blocks.size)


def _in_turn(values: tuple[float, ...], count: int) -> Array:
    return np.resize(np.array(values), count)


def _mean(values: Array, weights: Array) -> float:
    """The mean, and the least number where there is nothing to average."""
    total = float(weights.sum())
    return max(float(values @ weights) / total, 1e-300) if total > 0.0 else 1e-300
