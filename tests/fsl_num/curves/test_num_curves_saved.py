"""Fits as JSON text."""

import json
from functools import cache

import numpy as np
import pytest
from curves_runs import noisy_fit, run

from fsl_num import LossCurve, Plan, step_rates
from fsl_num.curves.fit import fit
from fsl_num.curves.result import FitResult
from fsl_num.curves.saved import FORMAT


@cache
def saved():
    """The text of one fit, which tests damage."""
    return fit(run("cosine"), "momentum", starts=1, intervals=False).to_json()


def test_a_fit_survives_being_written_and_read():
    found = noisy_fit("momentum", 2)
    assert json.loads(found.to_json())["format"] == FORMAT
    again = FitResult.from_json(found.to_json())
    assert again.parameters == found.parameters
    assert again.report.sentences == found.report.sentences
    for level in (None, 0.9):
        left, right = found.predict(run("wsd"), level), again.predict(run("wsd"), level)
        assert (left.loss == right.loss).all()
        assert level is None or (left.lower == right.lower).all()
    for curve, kept in zip(found.curves, again.curves, strict=True):
        assert kept.plan == curve.plan and (kept.name, kept.scatter) == (curve.name, curve.scatter)
        assert (kept.step == curve.step).all() and (kept.loss == curve.loss).all()
    assert again.to_json() == found.to_json() and again.summary() == found.summary()
    assert again.profile("kappa", [0.5])[1] == found.profile("kappa", [0.5])[1]


def test_the_runs_of_a_fit_take_little_room():
    """Long logs are saved as they were averaged, and rates of smooth schedules by what a line through them misses."""
    steps, rates = np.arange(1, 50_001), step_rates("cosine", peak=1e-3, steps=50_000, warmup=500)
    batches = np.where(steps < 20_000, 32.0, 64.0)
    loss = 2.0 + steps**-0.4
    long = LossCurve(steps, loss, schedule=Plan(rates, None, 500, batches, 1e6), warmup=500, name="long")
    found = fit(long, "momentum", starts=1, intervals=False)
    text = found.to_json()
    assert len(text) < 200_000  # as text, 17 digits each, the rates alone would be 1.1 MB
    (kept,) = FitResult.from_json(text).curves
    assert kept.plan == found.curves[0].plan and len(kept) <= 200 and (kept.counts == found.curves[0].counts).all()


@pytest.mark.parametrize(
    "spoilt",
    [
        {"rates": "zzz"}, {"rates": "~"}, {"rates": 3}, {"updates": 10}, {"updates": 10**15}, {"loss": [1.0]},
        {"name": 7}, {"batch_sizes": -1.0}, {"step": ["a"]}, {"scatter": None}, {"warmup": -1}, {"counts": [0.0]},
    ],
)  # fmt: skip
def test_damaged_runs_are_refused(spoilt):
    content = json.loads(saved())
    content["runs"][0] |= spoilt
    with pytest.raises(ValueError, match="damaged in its field 'runs'"):
        FitResult.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda text: "{", "not JSON"),
        (lambda text: "[]", "format"),
        (lambda text: json.dumps({**json.loads(text), "reach": None}), "damaged"),
        (lambda text: json.dumps({**json.loads(text), "runs": []}), "'runs': no runs"),
        (lambda text: text.replace("version 5", "version 4"), "saved by an earlier version .* fit the runs again"),
        (lambda text: json.dumps({**json.loads(text), "law": {"kind": "os", "options": {}}}), "unknown kind"),
        (lambda text: json.dumps({**json.loads(text), "parameters": {"L0": 1.0}}), "missing"),
    ],
)
def test_a_damaged_fit_is_refused(spoil, told):
    with pytest.raises(ValueError, match=told):
        FitResult.from_json(spoil(saved()))
