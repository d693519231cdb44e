"""Small networks of six kinds: what two runs say of fifteen others, and how much of it their intervals hold."""

from functools import cache

import numpy as np
import pytest
from curves_networks import KINDS, guessed, judged, networks, over_pairs, summary


@cache
def found(kind):
    return over_pairs(kind)


@pytest.mark.slow
def test_two_runs_say_more_of_the_others_than_that_they_end_alike():
    """Other schedules, three times the steps, peaks from an eighth to four times: errors of the mean final losses.

    Measured: 1.1, 3.7, 1.7, 2.9, 7.8 and 4.8 %; of the guess that all end as the two did 2.8, 5.6, 5.8, 6.9, 7.9 and
    7.2 %; of the best of the published laws, 3.9, 9.8, 8.1, 16, 42 and 28 %.
    """
    error = {kind: summary(found(kind))[0] for kind in KINDS}
    guess = {kind: summary(over_pairs(kind, guessed))[0] for kind in KINDS}
    assert all(error[kind] < guess[kind] for kind in KINDS), (error, guess)
    assert np.mean([error[kind] / guess[kind] for kind in KINDS]) < 0.7


@pytest.mark.slow
def test_intervals_hold_most_of_what_they_should():
    """Nominal are 90 %; measured .92, .92, 1, .89, .90 and .91; without what the law misses .7 to .5."""
    held = {kind: summary(found(kind))[1] for kind in KINDS}
    assert np.mean(list(held.values())) > 0.8 and min(held.values()) > 0.7, held


def test_an_expectation_that_outweighs_rows_that_scatter_is_seen():
    """The perceptron's error is 3.7 %, and 5.1 % were expectations not scaled by how much rows that scatter count."""
    assert summary(over_pairs("perceptron", judged, "auto", False))[0] < 0.045


def test_a_warmup_of_an_eighth_of_the_steps_is_not_fitted():
    """Fitted, its rows made all that was left noise: the decayed run was predicted at .54 where .92 was measured."""
    known = networks("small-language")
    assert known["constant"].plan.warmup == 200 and known["constant"].plan.recorded[0] == 200
    ((_, error, _),) = judged({name: known[name] for name in ("constant", "wsd")}, ("constant",))
    assert abs(error) < 0.15  # of log loss: one constant rate says little of a decay; measured .12
