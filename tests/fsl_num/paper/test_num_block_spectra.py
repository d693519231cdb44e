"""Spectra up to constants: their sums against sums over features, and the constants in [1/2, 2]."""

from __future__ import annotations

import numpy as np
import pytest

from fsl_num.functional import integrate_graded
from fsl_num.paper.block_constants import PERIOD, Constants, given_constants, whole_periods
from fsl_num.paper.block_spectra import block_modes, kernel_beyond
from fsl_num.paper.functional.kernel_gaps import block_noise_gap, block_signal_gap
from fsl_num.paper.kernel.rays import repeating_sizes

S, BETA, SIZE = 0.7, 1.8, 300


@pytest.mark.parametrize("constants", given_constants(0), ids=lambda law: law.name)
def test_sums_over_blocks_are_sums_over_features_whose_constants_are_bounded(constants: Constants) -> None:
    found = [block_modes(constants, S, BETA, float(size), np.inf) for size in range(1, SIZE + 1)]
    # one feature more: what it adds to the trace is its eigenvalue, what delta_M loses its energy
    eigenvalues = np.diff([trace for _, trace in found])
    energies = -np.diff([modes.delta for modes, _ in found])
    index = np.arange(2.0, SIZE + 1.0)
    c, d = eigenvalues * index**BETA, energies * index / eigenvalues**S
    for constants_drawn in (c, d):
        # differences of sums of order 1 and of parts of 1e-5: 1e-9 is a hundred times their rounding
        assert 0.5 - 1e-9 <= constants_drawn.min() < 0.8 and 1.3 < constants_drawn.max() <= 2.0 + 1e-9
    (first, _), (last, _) = found[0], found[-1]
    for t in (0.0, 1.0, 1e4):
        left = np.exp(-2.0 * t * eigenvalues)
        faded = np.exp(-first.rates * t)
        decay = np.exp(-last.rates * t)
        assert decay @ last.weights == pytest.approx(faded @ first.weights + left @ eigenvalues**2, rel=1e-9)
        assert decay @ last.start == pytest.approx(faded @ first.start + left @ energies, rel=1e-9)


@pytest.mark.parametrize("constants", given_constants(1), ids=lambda law: law.name)
def test_a_whole_period_changes_no_constant(constants: Constants) -> None:
    beta, times = 2.0, whole_periods(1e8)
    values = []
    for stretch in (1.0, PERIOD):
        modes, _ = block_modes(constants, S, beta, np.sqrt(1e3 * times * stretch) // 1, times * stretch)
        values.append(float(np.exp(-modes.rates * times * stretch) @ modes.start) * (times * stretch) ** S)
    # M and edges of blocks are whole numbers: 1e-4 of the features at t
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_modes_that_have_not_moved_are_merged() -> None:
    constants = given_constants(0)[0]
    every, _ = block_modes(constants, S, BETA, 1e60, 1e200)
    few, _ = block_modes(constants, S, BETA, 1e60, 1e6)
    assert few.rates.size < every.rates.size / 3
    times = np.array([0.0, 10.0, 1e6])[:, None]
    for kind in ("weights", "start"):
        short, long = (np.exp(-modes.rates * times) @ getattr(modes, kind) for modes in (few, every))
        np.testing.assert_allclose(short, long, rtol=1e-12)  # second order in 1e-9


@pytest.mark.parametrize("constants", given_constants(0), ids=lambda law: law.name)
@pytest.mark.parametrize("size", [1.0, 37.0])
def test_the_features_beyond_are_those_of_a_larger_model(constants: Constants, size: float) -> None:
    time = 1e3
    rates, weights, trace = kernel_beyond(constants, BETA, size, time)
    sums = {}
    for model in (size, 1e12):
        modes, total = block_modes(constants, S, BETA, model, np.inf)
        sums[model] = np.array([total, modes.weights.sum(), modes.weights @ np.exp(-modes.rates * time)])
    beyond = sums[1e12] - sums[size]
    # of the trace 1e12 features lack M^(1 - beta) = 1e-9.6, the kernel 1e-31
    assert trace == pytest.approx(beyond[0], rel=1e-8)
    assert weights.sum() == pytest.approx(beyond[1], rel=1e-12)
    assert weights @ np.exp(-rates * time) == pytest.approx(beyond[2], rel=1e-9)


@pytest.mark.parametrize("constants", given_constants(0), ids=lambda law: law.name)
def test_the_gaps_of_the_kernels_are_their_integrals(constants: Constants) -> None:
    size, time = 12.0, 3.0 * 12.0**BETA
    rates, weights, _ = kernel_beyond(constants, BETA, size, time)
    modes, _ = block_modes(constants, S, BETA, size, time)

    def kernel(left: np.ndarray) -> np.ndarray:
        return np.exp(-np.multiply.outer(left, rates)) @ weights

    def product(left: np.ndarray) -> np.ndarray:
        signal = np.exp(-np.multiply.outer(np.maximum(time - left, 0.0), modes.rates)) @ modes.start
        return kernel(left) * signal

    # the quadrature is graded towards rest = 0, and the signal is steep at the other end: both halves apart
    early = integrate_graded(lambda z: product(time - z), 0.5 * time, rtol=1e-9).value
    late = integrate_graded(product, 0.5 * time, rtol=1e-9).value
    assert block_signal_gap(constants, time, S, BETA, size) == pytest.approx(early + late, rel=1e-8)
    noise = integrate_graded(kernel, time, rtol=1e-9).value
    assert block_noise_gap(constants, time, BETA, size) == pytest.approx(noise, rel=1e-8)


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5])
def test_the_smaller_of_both_clocks_takes_whole_periods(power: float) -> None:
    beta, end = 1.25, 60.0
    sizes = repeating_sizes(beta, power, end)
    periods = np.log(sizes[1:]) * beta * min(power, 1.0) / np.log(PERIOD)
    # sizes are whole numbers: 84 for 256^(1/1.25) = 84.4
    np.testing.assert_allclose(periods, periods.round(), atol=2e-3)
    assert sizes.size >= 5 and np.all(np.log(sizes) * power * beta <= end)
