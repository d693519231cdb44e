"""Risk curves: what is recorded when, and how it is written and drawn."""

import json

import numpy as np
import pytest
from notebook_views import as_html

from fsl_num.simulate.curve import RiskCurve, record_steps

CURVE = RiskCurve(np.array([0, 5, 10]), np.array([0.5, 0.2, 0.1]), np.array([0.0, 0.01, 0.02]), "monte-carlo")


def test_the_start_every_gap_and_the_end_are_recorded():
    assert record_steps(10, 3).tolist() == [0, 3, 6, 9, 10]
    assert record_steps(10, 20).tolist() == [0, 10]
    assert record_steps(10, None).tolist() == [0, 10]
    with pytest.raises(ValueError, match="every"):
        record_steps(10, 0)


def test_json_and_csv_keep_every_digit(tmp_path):
    assert json.loads(CURVE.to_json()) == {
        "step": [0, 5, 10],
        "excess_risk": [0.5, 0.2, 0.1],
        "standard_error": [0.0, 0.01, 0.02],
        "method": "monte-carlo",
    }
    CURVE.to_csv(tmp_path / "risk.csv")
    assert (tmp_path / "risk.csv").read_text().splitlines()[1:3] == ["0,0.5,0.0", "5,0.2,0.01"]


def test_the_picture_leaves_out_step_zero():
    axes = CURVE.plot()
    assert axes.lines[0].get_xdata().tolist() == [5, 10] and len(axes.collections) == 1
    assert as_html(CURVE).count("<tr>") == 4
