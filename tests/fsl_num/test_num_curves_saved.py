"""Fits as JSON text."""

import json

import pytest
from curves_runs import NOISY, run

from fsl_num.curves.fit import fit
from fsl_num.curves.result import FitResult
from fsl_num.curves.saved import FORMAT


def test_a_fit_survives_being_written_and_read():
    found = fit(NOISY[:2], "momentum", starts=2)
    assert json.loads(found.to_json())["format"] == FORMAT
    again = FitResult.from_json(found.to_json())
    assert again.parameters == found.parameters
    assert again.report.sentences == found.report.sentences
    for level in (None, 0.9):
        left, right = found.predict(run("wsd"), level), again.predict(run("wsd"), level)
        assert (left.loss == right.loss).all()
        assert level is None or (left.lower == right.lower).all()
    with pytest.raises(ValueError, match="holds no curves"):
        again.profile("kappa")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda text: "{", "not JSON"),
        (lambda text: "[]", "format"),
        (lambda text: json.dumps({**json.loads(text), "reach": None}), "damaged"),
        (lambda text: json.dumps({**json.loads(text), "law": {"kind": "os", "options": {}}}), "unknown kind"),
        (lambda text: json.dumps({**json.loads(text), "parameters": {"L0": 1.0}}), "missing"),
    ],
)
def test_a_damaged_fit_is_refused(spoil, told):
    text = fit(run("cosine"), "momentum", starts=1, intervals=False).to_json()
    with pytest.raises(ValueError, match=told):
        FitResult.from_json(spoil(text))


def test_a_fit_saved_before_is_read_without_its_intervals():
    found = fit(run("cosine"), "momentum", starts=1, intervals=False)
    content = json.loads(found.to_json())
    del content["posterior"]
    settings = {"loss": "log-huber", "delta": 0.001, "horizon_weight": 0.0, "starts": 10, "max_rows": 1000}
    before = {"format": "functional scaling law fit, version 1", "settings": settings, "uncertainty": {"samples": []}}
    again = FitResult.from_json(json.dumps({**content, **before}))
    assert again.parameters == found.parameters
    assert again.predict(run("wsd"), None).final == found.predict(run("wsd"), None).final
    assert any("earlier version" in note for note in again.notes)
    with pytest.raises(ValueError, match="no intervals"):
        again.predict(run("wsd"))
