"""Designs for real runs, where FSL_LOSS_CURVES names their folder: the decay fraction, its measured regret, gains.

The runs to fit are chosen by what they do to the rate, not by what came out: one that keeps it (constant), one that
drops it late and fast (linear over the last 20 %), one whose rate falls throughout (cosine to 0).
"""

from functools import cache

import numpy as np
import pytest
from curves_evidence import branches, folder

from fsl_num.curves.fit import fit
from fsl_num.design.best import Past
from fsl_num.design.draws import final_loss_of, half_width_of_difference
from fsl_num.design.schedule import design_schedule

pytestmark = pytest.mark.skipif(folder() is None, reason="FSL_LOSS_CURVES names no folder with real curves")

PEAKS, LATE, LONG = ("0.0005", "0.001"), ("constant", "linear_0.2"), ("constant", "linear_0.2", "cosine_to_0")
FRACTIONS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.9)


@cache
def known():
    return branches()


@cache
def fitted(names, peaks):
    return fit([known()[f"{name}_peak_{peak}"] for name in names for peak in peaks])


def outcome(names, peaks, peak):
    """The cell chosen, its measured regret, and of each rival the predicted gain, its half-width, the measured gain."""
    result = fitted(names, peaks)

    def of(name):
        curve = known()[f"{name}_peak_{peak}"]
        warmup, rates = curve.plan.warmup, curve.plan.rates
        past, remaining = Past(rates[:warmup], warmup), rates[warmup:]
        point = past.objective(result.law, result.theta)(remaining, np.ones(remaining.size))[0]
        return point, final_loss_of(result, past, remaining), float(curve.loss[-1])

    cells = {fraction: of(f"linear_{fraction}") for fraction in FRACTIONS}
    chosen = min(cells, key=lambda fraction: cells[fraction][0])
    point, end, measured = cells[chosen]
    gains = {}
    for name in ("cosine_to_0", "cosine_to_tenth", "linear_0.9"):
        loss, rival, seen = of(name)
        gains[name] = loss - point, half_width_of_difference(result, rival, end, 0.9), seen - measured
    regret = measured - min(cell[-1] for cell in cells.values())
    print(names, peak, chosen, round(regret, 4), gains)
    return chosen, regret, gains


@pytest.mark.parametrize("peak", PEAKS)
def test_the_decay_fraction_from_three_runs_at_the_peak(peak):
    chosen, regret, gains = outcome(LONG, (peak,), peak)
    # measured: 0.4 and no regret at 5e-4; 0.4 where 0.6 is better by 0.0023 at 1e-3, where the law puts them 2e-4 apart
    assert chosen in (0.4, 0.6) and regret < 0.0025
    for gain, half, seen in gains.values():
        assert abs(gain - seen) <= half


@pytest.mark.parametrize("peak", PEAKS)
def test_the_decay_fraction_from_the_same_runs_at_both_peaks(peak):
    # one law for two peaks: the cell is right at both
    _, regret, gains = outcome(LONG, PEAKS, peak)
    assert regret <= 0.002 and all(abs(gain - seen) <= half for gain, half, seen in gains.values())


@pytest.mark.parametrize("peak", PEAKS)
def test_the_decay_fraction_from_two_runs(peak):
    chosen, regret, gains = outcome(LATE, (peak,), peak)
    assert chosen == 0.4 and regret < 0.0025
    assert all(abs(gain - seen) <= half for gain, half, seen in gains.values())


@pytest.mark.parametrize("peak", PEAKS)
def test_a_linear_design_lies_where_the_measured_losses_are_least(peak):
    result = fitted(LONG, (peak,))
    found = design_schedule(result, 50_000, peak=float(peak), warmup=300, family="linear", second=None)
    assert 0.3 < found.optimum.parameters["decay_fraction"] < 0.7  # the best measured cells are 0.4 and 0.6
    low, high = found.as_good  # they are not separated by three runs, others are
    assert 0.2 < low < 0.4 and 0.59 < high < 0.9  # of the grid .594 is the nearest to .6
    free = design_schedule(result, 50_000, peak=float(peak), warmup=300)
    assert free.optimum.gap < 1e-5 and free.loss < found.loss


def test_the_end_of_a_decay_is_predicted_from_its_beginning():
    """A decayed run taken up half way through its decay: the losses fitted so far, the last one predicted."""
    for peak in PEAKS:
        whole = known()[f"linear_0.4_peak_{peak}"]
        begun = whole.between_steps(2000, 40_000)
        result = fit([begun, *(known()[f"{name}_peak_{peak}"] for name in LONG)], intervals=False)
        error = result.predict(whole.plan, None, after=begun).final - float(whole.loss[-1])
        print(peak, error)
        assert abs(error) < 0.005
