"""Small networks of three kinds: what two runs say of fifteen others, and how much of it their intervals hold."""

import numpy as np
import pytest
from curves_networks import KINDS, guessed, over_pairs, summary

from fsl_num.curves import misfit
from fsl_num.curves.search import Task


def pooled():
    return {kind: over_pairs(kind) for kind in KINDS}


@pytest.fixture(scope="module")
def found():
    return pooled()


@pytest.mark.slow
def test_two_runs_say_more_of_the_others_than_that_they_end_alike(found):
    """Other schedules, three times the steps, peaks from a third to twice: errors of the mean final losses.

    Measured: 1.0, 4.7 and 2.4 %; of the guess that all end as the two did 2.8, 5.6 and 5.8 %; of the momentum law, the
    best of the published ones here, 4.0, 9.6 and 8.0 %.
    """
    error = {kind: summary(rows)[0] for kind, rows in found.items()}
    guess = {kind: summary(over_pairs(kind, guessed))[0] for kind in KINDS}
    assert all(error[kind] < guess[kind] for kind in KINDS), (error, guess)
    assert np.mean([error[kind] / guess[kind] for kind in KINDS]) < 0.7


@pytest.mark.slow
def test_intervals_hold_most_of_what_they_should_and_less_without_what_the_law_misses(found, monkeypatch):
    """Nominal are 90 %; measured .94, .92 and .92. Without what the law misses .67, .58 and .25."""
    held = {kind: summary(rows)[1] for kind, rows in found.items()}
    assert np.mean(list(held.values())) > 0.8 and min(held.values()) > 0.6, held
    monkeypatch.setattr(misfit, "HIDDEN", 1e-3)
    assert np.mean([summary(rows)[1] for rows in pooled().values()]) < 0.6


def test_an_expectation_that_outweighs_rows_that_scatter_is_seen(found, monkeypatch):
    """The perceptron's error is 6.6 % where the expectations are not scaled by how much the rows that scatter count."""
    monkeypatch.setattr(Task, "counted", lambda self, theta: 1.0)
    assert summary(over_pairs("perceptron"))[0] > 1.3 * summary(found["perceptron"])[0]
