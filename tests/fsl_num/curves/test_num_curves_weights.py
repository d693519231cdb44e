"""The law whose weights grow with the rate: its fits, and what is expected of it."""

import numpy as np
import pytest
from curves_evidence import end
from curves_networks import networks

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import WeightsLaw
from fsl_num.curves.plan import Plan
from fsl_num.curves.result import FitResult

STEPS, PEAK = 2000, 0.01
K = np.arange(STEPS)
SHAPES = {
    "constant": np.ones(STEPS),
    "cosine": 0.5 * (1 + np.cos(np.pi * K / STEPS)),
    "wsd": np.minimum(1, 5 - K / 400),
}
TRUTH = {"L0": 2.0, "A": 1.0, "B": 0.2, "s": 0.5, "c": 20.0, "gamma": 0.6, "c_e": 10.0, "p": 0.8, "m": 0.1, "x": 0.2}


def run(name):
    plan = Plan(PEAK * SHAPES[name], K[39::40] + 1)
    return LossCurve(plan.recorded, WeightsLaw(reference_rate=PEAK).predict(plan, TRUTH), schedule=plan)


def test_two_runs_of_the_law_predict_a_third_one_and_a_saved_fit_is_the_same():
    found = fit([run("constant"), run("wsd")], "fsl-weights", intervals=False)
    assert found.law == WeightsLaw(reference_rate=PEAK, peaks=True)
    predicted = found.predict(run("cosine"), None).loss
    assert predicted == pytest.approx(run("cosine").observed, rel=1e-3)
    again = FitResult.from_json(found.to_json())
    assert again.law == found.law and again.predict(run("cosine"), None).loss.tolist() == predicted.tolist()


@pytest.mark.parametrize(("names", "told"), [(["constant", "wsd"], True), (["wsd"], False), (["constant"] * 2, False)])
def test_what_is_expected_of_weights_is_wide_only_where_runs_tell_of_it(names, told):
    chart = WeightsLaw(reference_rate=PEAK).chart([run(name).plan for name in names])
    widths = dict(zip(WeightsLaw().names, chart.width, strict=True))
    assert (widths["m"] > 1.0, widths["x"] > 0.9) == (told, told)


def test_slopes_of_the_coordinates_are_those_of_differences():
    law = WeightsLaw(reference_rate=0.7 * PEAK, peaks=True)
    chart = law.chart([run("constant").plan, run("wsd").plan], 2.2)
    u = chart.forward(law.vector({**TRUTH, "P_c": 0.03}))
    for column, slope in enumerate(chart.slopes(u).T):
        moved = [chart.back(u + sign * 1e-6 * (np.arange(u.size) == column)) for sign in (1, -1)]
        assert slope == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-7)


def test_two_runs_of_a_language_model_predict_the_others_better_than_by_the_functional_law():
    known = {name: curve for name, curve in networks("language").items() if "_" not in name}
    errors = []
    for law in ("fsl-weights", "auto"):
        found = fit([known["constant"], known["cosine"]], law, intervals=False)
        ends = [end(run.observed, run) - end(found.predict(run, None).loss, run) for run in known.values()]
        errors.append(np.sqrt(np.mean(np.square(ends))))
    assert errors[0] < 0.8 * errors[1]


def test_a_minimum_that_misses_more_does_not_win_by_what_is_expected():
    """With L0 = 0 rows are missed by more and expectations count for less; from six starts that minimum was taken."""
    known = networks("language")
    found = fit([known["constant"], known["wsd"]], "fsl-weights", intervals=False, starts=6)
    error = end(found.predict(known["linear"], None).loss, known["linear"]) - end(
        known["linear"].observed, known["linear"]
    )
    assert abs(error) < 0.03  # of log loss: measured .009, .14 at the other minimum
