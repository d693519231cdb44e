"""The usual schedules beside each other under a fit."""

from itertools import product
from pathlib import Path

import pytest
from curves_runs import NOISY, PEAK, run
from notebook_views import as_html

from fsl_num import fit, read_curve, rivals
from fsl_num.curves.transfer import USUAL


def test_the_usual_schedules_stand_beside_each_other_and_the_least_is_told_from_those_it_can_be():
    """The fit knows a drop, a cosine and a constant rate: a late decay forgets many intervals of noise."""
    found = rivals(fit(NOISY, "fsl", starts=1))
    assert list(found.predictions) == ["constant", "cosine", "linear", "wsd"]
    for plan in (prediction.plan for prediction in found.predictions.values()):
        assert plan.rates.size == 1500 and plan.peak == pytest.approx(PEAK) and plan.warmup == 100
    # the noise of single rows is 5e-4
    assert found.predictions["constant"].final == pytest.approx(run("constant").observed[-1], rel=1e-3)
    losses = {name: prediction.final for name, prediction in found.predictions.items()}
    assert found.best == min(losses, key=losses.get) != "constant"
    assert "constant" not in found.alike and found.best not in found.alike
    assert found.sentences[0].startswith(f"Try {found.best}:") and repr(found).startswith("Rivals(constant ")
    longer = rivals(fit(NOISY, "fsl", starts=1), 3000, 2 * PEAK)
    assert longer.head == "After 3000 steps at the peak 0.002" and "peak rate is 2 times off" in str(longer.sentences)


def test_what_a_fit_cannot_tell_apart_is_said():
    """One run at a constant rate says nothing of what a decay brings, and without draws nothing is said of it."""
    alone = fit([NOISY[1]], starts=1)
    found = rivals(alone)
    assert "constant" in found.alike and found.best != "constant"
    assert found.advice.startswith(f"Try {found.best}: the least loss predicted, though the fit cannot tell it from")
    blind = rivals(fit([NOISY[1]], "momentum", starts=1, intervals=False))
    assert blind.alike is None and "without an interval" in blind.advice
    assert all(row[2:] == ("", "") for row in blind.as_rows())


def test_a_notebook_shows_and_draws_them():
    found = rivals(fit(NOISY, "fsl", starts=1))
    shown = as_html(found)
    assert shown.count("<tr>") == 5 and "cosine to 0" in shown and "<li>Try " in shown
    pytest.importorskip("matplotlib")
    axes = found.plot()
    assert len(axes.lines) == len(NOISY) + 4 and len(axes.collections) == 4


def test_schedules_for_which_a_law_gives_no_loss_are_named_and_the_others_stand():
    fitted = fit(NOISY, "fsl", starts=1)
    found = rivals(fitted, steps=1000, peak=2e-6)  # below a thousandth of the intrinsic time fitted, where it falls
    assert (
        set(found.reasons) == {"cosine", "linear"}
        and "constant" in found.predictions
        and "too short" in found.reasons["cosine"]
    )
    assert any(sentence.startswith("cosine is not predicted: ") for sentence in found.sentences)
    kinds = enumerate(("constant", "cosine", "drop", "wsd", "constant"), 1)
    sized = [run(kind).replaced(run(kind).step, run(kind).loss, model_size=1e6 * k) for k, kind in kinds]
    only = fit(sized, "chinchilla", intervals=False)
    bad = [({"level": 2}, "level"), ({"steps": 0}, "steps"), ({"peak": -1.0}, "peak")]
    for wrong, words in [*bad, ({"peak": 1e9}, "in one unit"), ({"steps": 10**12}, "fewer"), ({"runs": []}, "runs")]:
        with pytest.raises(ValueError, match=words):
            rivals(fitted, **wrong)
    with pytest.raises(TypeError, match="fit must be a FitResult"):
        rivals(NOISY)
    with pytest.raises(ValueError, match="knows no schedules"):
        rivals(only)


FAMILIES = ("language/{}_3400_1.csv", "networks/convolutions_{}_4000_1.csv", "networks/perceptron_{}_8000_1.csv",
            "networks/transformer_{}_3000_1.csv")  # fmt: skip
PAIRS = (("constant", "8-1-1"), ("constant", "cosine"), ("drop", "constant"), ("constant",), ("wsd", "cosine-to-tenth"))
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.slow
def test_the_best_of_runs_that_were_made_is_advised_or_not_told_from_the_advice():
    """Twenty fits to runs of four families, of which the four schedules were trained too.

    The best is among those that the advice leaves open, none that it sets apart below it is better, and of the mean
    final losses (of the last three rows, which scatter by less than the intervals) four in five lie in their intervals:
    80 of 90 % expected, less two standard deviations of 80 that come in twenty groups.
    """
    inside, apart = [], 0
    for family, pair in product(FAMILIES, PAIRS):
        runs = {name: read_curve(EXAMPLES / family.format(name)) for name in {*pair, *USUAL}}
        found = rivals(fit([runs[name] for name in pair]))
        measured = {name: runs[name].loss[-3:].mean() for name in USUAL}
        best = min(measured, key=measured.get)
        assert best in (found.best, *found.alike), (family, pair)
        below = [name for name in found.predictions if name not in (found.best, *found.alike)]
        assert all(measured[name] > measured[found.best] for name in below), (family, pair)
        apart += len(below)
        inside += [
            abs(measured[name] / prediction.final - 1.0) <= prediction.mean_half_width
            for name, prediction in found.predictions.items()
        ]
    assert len(inside) == 80 and apart > 20  # it does set schedules apart
    assert sum(inside) >= 0.8 * 80
