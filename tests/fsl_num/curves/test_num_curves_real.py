"""Real curves, where the environment names their folder in FSL_LOSS_CURVES: the default against the published law."""

import re
from functools import cache

import numpy as np
import pytest
from curves_evidence import PUBLISHED, curves, end, families, folder, protocols, split

from fsl_num.curves.fit import fit
from fsl_num.curves.laws import law
from fsl_num.curves.predict import ENOUGH
from fsl_num.curves.reading import read_curves
from fsl_num.curves.score import mean_score

pytestmark = pytest.mark.skipif(folder() is None, reason="FSL_LOSS_CURVES names no folder with real curves")


@cache
def fitted(*training):
    return fit(training)


@pytest.mark.parametrize("size", sorted(PUBLISHED))
def test_the_default_law_beats_the_published_multi_power_law(size):
    training, tests = split(size)
    result = fitted(*training)
    found = mean_score(result.scores(tests).values())
    r2, mae, rmse, mean_relative, worst_relative = PUBLISHED[size]
    assert found.mae < mae
    assert found.rmse < rmse
    assert found.mean_relative_error < mean_relative
    assert found.worst_relative_error < worst_relative
    assert found.coverage >= 0.8  # of nominal 90 %, over six runs whose rows err together
    # sharp enough to count as identified; measured .0085 for 100M, .0075 for 25M, both at three times the steps fitted
    assert max(result.predict(curve).half_width for curve in tests) < ENOUGH


@pytest.mark.parametrize("size", sorted(PUBLISHED))
def test_a_converged_fit_of_the_multi_power_law_is_near_the_published_one(size):
    training, tests = split(size)
    result = fit(training, "multi-power", intervals=False)
    found = mean_score(result.scores(tests).values())
    # fitted to convergence it is somewhat worse than the authors' early stop, by a third at most
    assert 0.9 * PUBLISHED[size][1] < found.mae < 1.35 * PUBLISHED[size][1]
    assert law("multi-power").names == tuple(result.parameters)


PROTOTYPE = {"25M": 0.0044, "100M": 0.0024, "P1": 0.0080, "P2": 0.0025}
"""Mean RMSE over the predicted runs that a first version of the default law reached on each protocol."""


@pytest.mark.parametrize("name", sorted(PROTOTYPE))
def test_the_default_law_is_as_good_as_its_first_version(name):
    training, tests = protocols()[name]
    found = mean_score(fitted(*training).scores(tests).values())
    assert round(found.rmse, 4) <= PROTOTYPE[name]
    assert 0.8 <= found.coverage <= 1.0


@pytest.mark.parametrize(
    ("size", "name", "enough"),
    [
        ("25M", "constant_24000", False),
        ("100M", "constant_24000", False),
        ("25M", "constant_72000", False),
        ("25M", "cosine_24000", None),
        ("100M", "wsdcon_9", None),
        ("100M", "wsd_20000_24000", True),
        ("25M", "wsd_20000_24000", True),
    ],
)
def test_a_fit_to_one_curve_warns_where_the_others_may_come_out_wrong(size, name, enough):
    known = curves(size)
    result = fitted(known[name])
    scores = result.scores([run for key, run in known.items() if key != name]).values()
    warned = any("do not determine the final loss" in note for note in result.notes)
    # identified to one per cent, as the fit says it of the usual schedules, is the mean of the worst rows
    assert warned or mean_score(scores).worst_relative_error < 0.01
    assert enough is None or warned != enough


@pytest.mark.parametrize("count", [1, 2])
def test_intervals_hold_the_mean_final_loss_as_often_as_they_say(count):
    """The last twentieth of every run not fitted, after fits to one run or to two.

    Nominal are 90 %. Four families with four or two sets each, whose runs are near each other, are some 25 independent
    cases: two standard deviations of a share of them are 12 %.
    """
    held = []
    for pairs in families().values():
        for training, tests in (pair for pair in pairs if len(pair[0]) == count):
            found = fitted(*training)
            for curve in tests:
                prediction = found.predict(curve)
                error = end(curve.observed, curve) - end(prediction.loss, curve)
                held.append(abs(error) <= np.log1p(prediction.mean_half_width))
    assert 0.78 <= np.mean(held)


def test_the_protocols_hold_from_the_files_as_they_lie():
    """Decay runs whose files begin at a checkpoint are read as branches; the fit says from which step to take rows.

    Scored on the rows of their own files, from step 2,000: of P1 .0039, of P2 .0027, of P3 .0035. With the constant
    runs as they are before the checkpoints (``protocols``) less: those rows are predicted well.
    """
    known = {curve.name: curve for curve in read_curves(sorted((folder() / "124M").glob("*.csv")))}
    first = {"P1": 0.0040, "P2": 0.0028, "P3": 0.0036}
    for name, bound in first.items():
        training, tests = protocols()[name]
        whole = fit([known[curve.name] for curve in training], intervals=False)
        step = max(
            (int(said[1]) for said in map(re.compile(r"--first-step (\d+)").search, whole.warnings) if said), default=0
        )
        assert name == "P3" or 400 < step <= 1000
        result = fit([known[curve.name].between_steps(1000, 50_000) for curve in training], intervals=False)
        scores = result.scores([known[curve.name].between_steps(2000, 50_000) for curve in tests])
        assert mean_score(scores.values()).rmse < bound
