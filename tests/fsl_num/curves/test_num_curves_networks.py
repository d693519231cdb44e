"""Small networks of four kinds: what two runs say of fifteen others, and how much of it their intervals hold."""

from functools import cache

import numpy as np
import pytest
from curves_networks import KINDS, guessed, judged, over_pairs, summary


@cache
def found(kind):
    return over_pairs(kind)


@pytest.mark.slow
def test_two_runs_say_more_of_the_others_than_that_they_end_alike():
    """Other schedules, three times the steps, peaks from a third to twice: errors of the mean final losses.

    Measured: 1.1, 3.7, 1.7 and 3.2 %; of the guess that all end as the two did 2.8, 5.6, 5.8 and 6.9 %; of the momentum
    law, the best of the published ones here, 3.9, 9.8, 8.1 and 16 %.
    """
    error = {kind: summary(found(kind))[0] for kind in KINDS}
    guess = {kind: summary(over_pairs(kind, guessed))[0] for kind in KINDS}
    assert all(error[kind] < guess[kind] for kind in KINDS), (error, guess)
    assert np.mean([error[kind] / guess[kind] for kind in KINDS]) < 0.7


@pytest.mark.slow
def test_intervals_hold_most_of_what_they_should():
    """Nominal are 90 %; measured .90, .92, 1 and .85; without what the law misses .69, .62, .65 and .51."""
    held = {kind: summary(found(kind))[1] for kind in KINDS}
    assert np.mean(list(held.values())) > 0.8 and min(held.values()) > 0.7, held


def test_an_expectation_that_outweighs_rows_that_scatter_is_seen():
    """The perceptron's error is 3.7 %, and 5.1 % were expectations not scaled by how much rows that scatter count."""
    assert summary(over_pairs("perceptron", judged, "auto", False))[0] < 0.045
