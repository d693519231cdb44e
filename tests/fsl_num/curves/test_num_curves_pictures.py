"""Pictures of curves and fits."""

import numpy as np
import pytest
from curves_runs import NOISY, PEAK, noisy_fit, run
from notebook_views import as_html

from fsl_num.curves.compare import compare
from fsl_num.curves.fit import fit
from fsl_num.curves.forecast import forecast
from fsl_num.curves.pictures import draw_curve
from fsl_num.curves.plan import Plan
from fsl_num.results import axes_to_draw_on
from fsl_num.schedules import schedule, step_rates


def test_a_fit_is_drawn():
    pytest.importorskip("matplotlib")
    found = noisy_fit("momentum", intervals=False)
    above = found.plot()
    assert above.get_ylabel() == "loss"
    assert len(above.figure.axes[1].lines) == 4  # residuals of three curves and the line at 0
    own = axes_to_draw_on()
    assert found.plot(ax=own) is own and own.figure.axes == [own] and own.get_xlabel() == "step"


def test_errors_of_laws_are_numbered_in_plain_decimals_that_do_not_overlap():
    pytest.importorskip("matplotlib")
    axes = compare(NOISY[:1], NOISY[1:], ["momentum", "chinchilla"], starts=1).plot()
    axes.set_xlim(0.013, 0.8)
    axes.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels(which="both") if label.get_text()]
    boxes = sorted((box for box in boxes if box.width), key=lambda box: box.x0)
    assert len(boxes) > 3 and all(box.x1 < following.x0 for box, following in zip(boxes, boxes[1:], strict=False))


def test_a_curve_is_drawn_with_its_rates():
    pytest.importorskip("matplotlib")
    axes = draw_curve(NOISY[0])
    assert len(axes.lines[0].get_xdata()) == len(NOISY[0])


def test_a_prediction_is_drawn_with_its_interval_the_rows_fitted_and_those_measured():
    pytest.importorskip("matplotlib")
    fitted, unseen = fit(NOISY, "fsl", starts=1), run("wsd", noise=5e-4)
    axes = fitted.predict(unseen).plot()
    rows, measured, line = axes.lines[:3], axes.lines[3], axes.lines[4]
    assert [len(line.get_xdata()) for line in rows] == [len(run) for run in NOISY]
    assert measured.get_ydata().tolist() == unseen.observed.tolist() and len(axes.collections) == 1
    assert line.get_label().startswith("wsd: 3.") and "+-" in line.get_label()
    rate = axes.figure.axes[1]
    assert rate.lines[0].get_ydata().tolist() == unseen.plan.rates.tolist()
    # of a schedule nothing is measured, and of its last step alone a point with its interval
    last = fitted.predict(step_rates("linear", peak=PEAK, steps=900), recorded=[900]).plot()
    assert last.lines[-1].get_marker() == "o" and len(last.lines) == 4 and len(last.collections) == 1
    assert max(line.get_xdata().max() for line in last.lines) == 900  # rows fitted beyond its end are not shown
    alone = fitted.predict(unseen, None).plot(ax=axes_to_draw_on())
    assert not alone.collections


def test_a_picture_shows_the_end_of_a_run_and_no_interval_hides_it():
    pytest.importorskip("matplotlib")
    for step in (np.arange(5, 1501, 5), np.arange(100, 1501, 5)):
        plan = Plan(np.full(1500, PEAK), step)
        prediction = fit(NOISY[1], starts=1).predict(plan)
        low, high = prediction.plot().get_ylim()
        late = prediction.loss[prediction.step >= 150]
        assert low < late.min() and late.max() < high < 2.0 * late.max()


def test_a_forecast_is_drawn_with_the_loss_to_be_reached():
    pytest.importorskip("matplotlib")
    found = forecast(NOISY[1], 3000, others=NOISY[2:], starts=1)
    target = float(found.predictions["decay now"].loss.mean())
    plain, axes = found.plot(), found.plot(target=target)
    assert len(plain.lines) == 4 and len(plain.collections) == 3
    lines = {line.get_label(): line for line in axes.lines}
    assert lines[f"target {target:g}"].get_ydata()[0] == target
    reached = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert reached == [step for step in found.reaches(target).values() if step is not None] != []
    low, high = axes.get_ylim()
    assert low < target < high
    far = found.plot(target=1e3)
    assert far.get_ylim() == plain.get_ylim()
    for ask in (found.plot, found.reaches):
        with pytest.raises(ValueError, match="target must be positive"):
            ask(target=-1.0)
        with pytest.raises(TypeError, match="target must be one real number"):
            ask(target="2")


def test_schedules_are_drawn_with_their_jumps():
    pytest.importorskip("matplotlib")
    steps = schedule("8-1-1", peak=1.0, steps=100).plot().lines[0]
    assert steps.get_drawstyle() == "steps-post" and steps.get_xdata().tolist() == [0.0, 80.0, 90.0, 100.0]
    plan = schedule("wsd", peak=1.0, steps=100, decay_fraction=0.2)
    line = plan.plot().lines[0]
    assert (
        line.get_label() == "StableDecay" and line.get_ydata().max() == pytest.approx(1.0) and 80.0 in line.get_xdata()
    )
    rates = step_rates("cosine", peak=1.0, steps=30)
    own = axes_to_draw_on()
    assert Plan(rates, name="mine").plot(own) is own and own.lines[0].get_label() == "mine"
    assert own.lines[0].get_ydata()[:-1].tolist() == rates.tolist()


def test_a_notebook_shows_results_as_tables():
    fitted = fit(NOISY, "fsl", starts=1)
    shown = as_html(fitted.predict(run("wsd")))
    assert (
        shown.startswith("<h4>wsd: 3.") and "90 % of single rows" in shown and "<li>The runs fitted determine" in shown
    )
    bare = as_html(fitted.predict(run("wsd"), None))
    assert "of single rows" not in bare and bare.count("<th>") == 3
    ends = as_html(forecast(NOISY[1], 3000, starts=1))
    assert "<td>decay late</td>" in ends and "loss after 3000 steps" in ends and "track at step 1500" in ends
    curve = as_html(NOISY[0])
    assert f"<h4>cosine: {len(NOISY[0])} rows, steps 100 to 1500</h4>" in curve and curve.count("<tr>") == 10
    table = as_html(compare(NOISY[:1], NOISY[1:], ["momentum", "chinchilla"], starts=1))
    assert "<td>momentum</td>" in table and "chinchilla: not fitted: " in table
