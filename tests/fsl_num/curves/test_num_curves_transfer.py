"""Whether curves tell the loss under other schedules, and laws side by side."""

import numpy as np
import pytest
from curves_runs import NOISY, run

from fsl_num.curves.compare import compare
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import law
from fsl_num.curves.misfit import Misfit, States
from fsl_num.curves.plan import Plan
from fsl_num.curves.posterior import Posterior
from fsl_num.curves.search import Residuals
from fsl_num.curves.solve import Pull, Target, descend
from fsl_num.curves.transfer import ENOUGH, USUAL, like_longest, transfer, transfer_words

RESIDUALS = Residuals(1e-4, 50.0, 150)


def test_the_usual_schedules_have_the_length_and_peak_of_the_longest_curve():
    plans = {name: like_longest([NOISY[0], NOISY[1]], name) for name in USUAL}
    for plan in plans.values():
        assert plan.rates.size == NOISY[1].plan.rates.size
        assert plan.peak == pytest.approx(NOISY[1].plan.peak, rel=0.01)
    assert plans["cosine"].rates[-1] < 0.11 * plans["wsd"].rates[-1] < 0.02 * plans["constant"].rates[-1]


def test_what_is_not_told_of_other_schedules_is_said():
    chosen = law("fsl")
    theta = chosen.vector({"L0": 2.6, "A": 2.5, "B": 0.2, "s": 0.5, "c": 60.0, "gamma": 0.6, "c_e": 40.0, "p": 0.7})
    samples = np.tile(theta, (4, 1))
    samples[:, 7] = [0.1, 0.5, 0.9, 1.5]  # the exponent of the noise is not known: a low rate is not told
    states = States.of(chosen, [curve.plan.at(curve.plan.recorded[::20]) for curve in NOISY], theta)
    exact = Misfit.drawn(1e-9, states, 4)
    widths = transfer(chosen, NOISY, theta, Posterior(samples, RESIDUALS, exact))
    assert widths["cosine"] > ENOUGH > widths["constant"]
    assert "do not determine" in transfer_words(widths) and "cosine" in transfer_words(widths)
    sure = transfer(chosen, NOISY, theta, Posterior(np.tile(theta, (4, 1)), RESIDUALS, exact))
    assert transfer_words(sure).startswith("As far as the law holds, the curves determine")


def test_a_single_constant_run_is_no_basis_for_other_schedules():
    alone = fit(run("constant", noise=5e-4), starts=1)
    assert any("do not determine the final loss" in note for note in alone.notes)
    # a constant rate does not tell the exponent of the noise: it wanders over what is expected of it
    assert np.ptp(alone.posterior.samples[:, alone.law.names.index("p")]) > 0.5
    widths = transfer(alone.law, alone.curves, alone.theta, alone.posterior)
    assert widths["constant"] < ENOUGH < 0.02 < widths["cosine"]
    truth = {kind: run(kind) for kind in ("cosine", "wsd")}
    assert all(alone.predict(curve).score(curve).coverage > 0.9 for curve in truth.values())


def test_springs_hold_what_the_curves_do_not_tell():
    chosen, plan = law("momentum"), Plan([0.1] * 60, np.arange(5, 61))
    seen = chosen.predict(plan, [2.0, 0.5, 0.3, 0.5, 0.8])  # a constant rate: neither C nor the decay acts
    bound, chart = chosen.bind([plan]), chosen.chart([plan])
    start = np.array([1.0, 1.0, 0.1, 0.3, 0.7])
    centre = chart.forward(np.array([5.0, 3.0, 0.7, 2.0, 0.95]))
    weak = descend(bound, Target(seen, np.ones(seen.size)), chart, start, pull=Pull(centre, np.full(5, 1e-12)))
    assert weak.theta == pytest.approx([2.0, 0.5, 0.7, 0.5, 0.95], rel=1e-3)
    strong = descend(bound, Target(seen, np.ones(seen.size)), chart, start, pull=Pull(centre, np.full(5, 1e6)))
    assert strong.theta == pytest.approx(chart.back(centre), rel=1e-4)


def test_laws_are_compared_on_the_same_curves():
    found = compare(NOISY, [run("wsd")], ["fsl-simplified", "momentum"], starts=2)
    assert list(found.means) == ["fsl-simplified", "momentum"]
    assert len(found.table().splitlines()) == 3
    assert found.means["fsl-simplified"].rmse < found.means["momentum"].rmse  # the curves were made by its family
    with pytest.raises(ValueError, match="one name each"):
        compare(NOISY, [NOISY[0], NOISY[0]])
