"""Designs for small networks: the schedule chosen among those that were trained, its regret, and intervals of gains."""

import numpy as np
import pytest
from curves_networks import KINDS
from design_evidence import cases, row

from fsl_num.design import draws


@pytest.fixture(scope="module")
def families():
    known = cases()
    return {kind: known[kind] for kind in KINDS}


@pytest.mark.slow
def test_the_schedule_chosen_after_two_or_three_runs_is_nearly_the_best_and_intervals_of_gains_hold(
    families, monkeypatch
):
    """Measured: regrets of .27, 0, .46, .25, 0 and .12 % on average where others lose 1.3, 3, 2, 3, 3.3 and 2.3 %,
    1 % at most.

    100, 100, 89, 87, 87 and 81 % are held. Gains of one fit share their error: of as many shares as there are fits the
    mean is at most two standard deviations below 90 %; without what the law misses it is further below.
    """
    outcomes = {kind: row(*family) for kind, family in families.items()}
    for _, mean, largest, _, gain, error, held, _ in outcomes.values():
        assert mean < 0.005 and largest < 0.015 and error < gain and held > 0.7
    usual = draws.final_loss_of

    def without_errors(*arguments):
        found = usual(*arguments)
        return draws.FinalLoss(found.rates, found.loss, 0.0 * found.drawn, found.states)

    held, fits = (np.array([outcome[place] for outcome in outcomes.values()]) for place in (6, 0))
    least = 0.9 - 2.0 * np.sqrt(0.9 * 0.1 / fits.sum())
    assert held.mean() > least
    monkeypatch.setattr("design_evidence.final_loss_of", without_errors)
    assert np.mean([row(*family)[6] for family in families.values()]) < least
