"""Spectra up to constants: their sums against sums over features, and the constants in [1/2, 2]."""

from __future__ import annotations

import numpy as np
import pytest

from fsl_num.paper.block_spectra import PERIOD, Constants, block_modes, given_constants, whole_periods

S, BETA, SIZE = 0.7, 1.8, 300


@pytest.mark.parametrize("constants", given_constants(0), ids=lambda each: each.name)
def test_sums_over_blocks_are_sums_over_features_whose_constants_are_bounded(constants: Constants) -> None:
    found = [block_modes(constants, S, BETA, float(size), np.inf) for size in range(1, SIZE + 1)]
    # one feature more: what it adds to the trace is its eigenvalue, what delta_M loses its energy
    eigenvalues = np.diff([trace for _, trace in found])
    energies = -np.diff([modes.delta for modes, _ in found])
    index = np.arange(2.0, SIZE + 1.0)
    c, d = eigenvalues * index**BETA, energies * index / eigenvalues**S
    for each in (c, d):
        # differences of sums of order 1 and of parts of 1e-5: 1e-9 is a hundred times their rounding
        assert 0.5 - 1e-9 <= each.min() < 0.8 and 1.3 < each.max() <= 2.0 + 1e-9
    (first, _), (last, _) = found[0], found[-1]
    for t in (0.0, 1.0, 1e4):
        left = np.exp(-2.0 * t * eigenvalues)
        one = np.exp(-first.rates * t)
        decay = np.exp(-last.rates * t)
        assert decay @ last.weights == pytest.approx(one @ first.weights + left @ eigenvalues**2, rel=1e-9)
        assert decay @ last.start == pytest.approx(one @ first.start + left @ energies, rel=1e-9)


@pytest.mark.parametrize("constants", given_constants(1), ids=lambda each: each.name)
def test_a_whole_period_changes_no_constant(constants: Constants) -> None:
    beta, times = 2.0, whole_periods(1e8)
    values = []
    for more in (1.0, PERIOD):
        modes, _ = block_modes(constants, S, beta, np.sqrt(1e3 * times * more) // 1, times * more)
        values.append(float(np.exp(-modes.rates * times * more) @ modes.start) * (times * more) ** S)
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
