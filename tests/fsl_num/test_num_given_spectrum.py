"""Spectra given as lists: their sums, and the numbers that no spectrum has."""

import math

import numpy as np
import pytest

from fsl_num.given_spectrum import Spectrum

GIVEN = Spectrum([1.0, 0.5, 0.1], [0.5, 0.2, 0.3], 0.05)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0])
@pytest.mark.parametrize("name", ["rates", "weights_signal", "tail"])
def test_numbers_that_no_spectrum_has_are_refused(name, bad):
    fields = {"rates": [1.0, 0.5], "weights_signal": [1.0, 0.5], "tail": 0.1}
    with pytest.raises(ValueError, match=name):
        Spectrum(**(fields | {name: bad if name == "tail" else [1.0, bad]}))


def test_zeros_of_a_spectrum():
    with pytest.raises(ValueError, match=r"rates must be finite and positive, got 0.0 \(1 such values\)"):
        Spectrum([1.0, 0.0], [1.0, 1.0])
    assert Spectrum([1.0, 0.5], [0.0, 0.0]).signal(np.ones(2)).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"weights_signal must be finite and at least 0, got -1.0 \(2 such values\)"):
        Spectrum([1.0, 0.5], [-1.0, -2.0])
    for wrong in (1.0, [], [[1.0]], ["a"]):
        with pytest.raises(TypeError):
            Spectrum(wrong, [1.0])
    with pytest.raises(ValueError, match="got 2 and 1"):
        Spectrum([1.0, 0.5], [1.0])


def test_sums_over_a_spectrum_at_more_times_than_are_summed_at_once():
    t = np.linspace(0.0, 3.0, 1_000_002).reshape(2, -1)  # three modes: more than the two million numbers of a table
    signal = 0.5 * np.exp(-2.0 * t) + 0.2 * np.exp(-t) + 0.3 * np.exp(-0.2 * t)
    kernel = np.exp(-2.0 * t) + 0.25 * np.exp(-t) + 0.01 * np.exp(-0.2 * t)
    # sums of three numbers
    assert np.abs(GIVEN.signal(t) / signal - 1.0).max() < 1e-14
    assert np.abs(GIVEN.forgetting_kernel(t) / kernel - 1.0).max() < 1e-14
    assert GIVEN.signal(np.empty((0, 2))).shape == (0, 2)
