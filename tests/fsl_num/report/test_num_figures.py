"""The pictures of the experiments: what they show are the numbers that were computed, and all of them."""

import numpy as np
import pytest

from fsl_num.experiments.final_loss import PeakRule, final_losses, risks_by_peak_power
from fsl_num.experiments.loss_dynamics import fit_grid, loss_dynamics
from fsl_num.model import Model
from fsl_num.report import final_losses as scaling_report
from fsl_num.report import ladder as ladder_report
from fsl_num.report import loss_dynamics as dynamics_report
from fsl_num.report.tables import rendered
from fsl_num.simulate.ladder import ladder
from fsl_num.simulate.ladder_rungs import RUNGS
from fsl_num.simulate.regression import Regression

RULES = (PeakRule("constant", 1 / 3, 0.0, 1 / 3, 0.0), PeakRule("wsd", 0.0, 0.0, 0.5, 0.0))


@pytest.fixture(scope="module")
def dynamics():
    return loss_dynamics(steps=300, model_size=16, runs=10, every=5)


@pytest.fixture(scope="module")
def scaling():
    found = [final_losses(rule, largest=1e4, per_decade=1, farthest=1e8) for rule in RULES]
    printed = [final_losses(PeakRule("wsd", 1.0, 0.0, 0.5, 0.0), largest=1e4, per_decade=1, farthest=1e8)]
    return found, printed


def curves(ax):
    return [np.asarray(line.get_ydata(), dtype=np.float64) for line in ax.lines]


def is_shown(values, ax):
    return any(shown.shape == values.shape and np.array_equal(shown, values) for shown in curves(ax))


def drawn(figure):
    figure.savefig(__import__("io").BytesIO(), format="svg")  # a figure that cannot be laid out warns, which fails
    return figure


def test_the_dynamics_show_sgd_and_both_fits(dynamics):
    figure = drawn(dynamics_report.loss_dynamics_figure(dynamics))
    loss, rate, error = figure.axes
    for run in dynamics.runs:
        printed, modes = run.fits["printed, T >= 1"], run.fits["modes"]
        for values in (run.exact.excess_risk, run.averaged.excess_risk, modes.predicted):
            assert is_shown(values, loss)
        used = printed.used & (printed.predicted > 0)
        assert is_shown(printed.predicted[used], loss)
        assert is_shown(run.rates, rate)
        assert is_shown(modes.predicted / run.exact.excess_risk[1:] - 1.0, error)
    texts = {text.get_text() for legend in loss.findobj(type(loss.get_legend())) for text in legend.get_texts()}
    assert {"cosine", "WSD", "cyclic", "SGD, mean of 10 runs"} <= texts
    assert loss.get_ylim()[0] < min(run.exact.excess_risk.min() for run in dynamics.runs)


def test_dynamics_without_sampled_runs_speak_of_none():
    figure = drawn(dynamics_report.loss_dynamics_figure(loss_dynamics(schedules=["wsd"], steps=200, model_size=8)))
    assert not any("mean of" in text.get_text() for text in figure.axes[0].get_legend().get_texts())


def test_the_grid_has_a_panel_for_every_point():
    points = [(0.5, 1.5), (0.5, 2.0), (0.5, 5.0), (1.0, 1.5), (1.0, 2.0)]
    cells = fit_grid(points, steps=200, model_size=8, schedules=["cosine", "8-1-1"])
    figure = drawn(dynamics_report.fit_grid_figure(cells))
    rate, _, *panels = figure.get_axes()
    assert len(rate.lines) == 2
    titles = [ax.get_title() for ax in panels if ax.lines]
    assert len(titles) == len(points)
    assert [title.split("(")[1] for title in titles] == ["easy)", "edge)", "hard)", "easy)", "easy)"]
    for ax, cell in zip(panels, cells, strict=False):
        assert all(is_shown(run.exact.excess_risk, ax) for run in cell.runs)
        worst = max(run.fits["printed, T >= 1"].worst_error for run in cell.runs)
        assert f"worst {worst:.0%}" in ax.texts[0].get_text()
    with pytest.raises(ValueError, match="at least one point"):
        dynamics_report.fit_grid_figure([])


def test_the_texts_bear_the_constants(dynamics):
    text = rendered(*dynamics_report.loss_dynamics_text(dynamics))
    for run in dynamics.runs:
        for fit in run.fits.values():
            assert f"{fit.constants[1]:.3f}" in text and f"{fit.r_squared:.5f}" in text
    grid = rendered(*dynamics_report.fit_grid_text([dynamics]))
    assert len(grid.splitlines()) == 2 + 2 * len(dynamics.runs)
    assert f"{dynamics.runs[0].fits['modes'].constants[2]:.3f}" in grid


def test_the_scaling_shows_every_budget(scaling):
    found, printed = scaling
    powers = np.array([0.0, 1 / 3, 1.0])
    by_power = {rule.schedule: risks_by_peak_power(rule.schedule, powers, budget=1000) for rule in RULES}
    figure = drawn(scaling_report.loss_scaling_figure(found, printed, powers, by_power, 1000))
    main, ratio, by_rate = figure.axes
    for losses in (*found, *printed):
        assert is_shown(losses.exact, main) and is_shown(losses.functional, main)
    for losses in found:
        log_ratio = np.log(losses.far_functional) - losses.rule.log_law(losses.far_budgets)
        assert is_shown(np.exp(log_ratio - log_ratio[-1]), ratio)
        assert is_shown(by_power[losses.rule.schedule], by_rate)
    # the marks of the derived rules lie on the curves
    assert by_rate.lines[1].get_xydata()[0] == pytest.approx([1 / 3, by_power["constant"][1]])


def test_the_scaling_text_has_both_exponents(scaling):
    found, printed = scaling
    text = rendered(*scaling_report.loss_scaling_text(found, printed), width=200)
    assert "D^(-1/3)" in text and "D^(-1/2)" in text and f"{found[0].slope:.4f}" in text
    assert f"{printed[0].intrinsic_times[-1]:.2g}" in text and "nothing is learned" in text


@pytest.mark.parametrize("thresholds", [(), (0.1,)])
def test_the_ladder_shows_every_rung_and_every_distance(thresholds):
    problem = Regression(Model(s=0.5, beta=2.0, size=8, noise=1.0))
    found = ladder(problem, "cosine", peak=0.1, steps=60, runs=20, thresholds=thresholds)
    figure = drawn(ladder_report.ladder_figure(found, "the title"))
    risks, gaps, *breaking = figure.axes
    assert risks.get_title() == "the title" and len(breaking) == len(thresholds)
    for curve in found.curves:
        assert is_shown(curve.excess_risk[curve.step > 0], risks)
    between = [text.get_text() for text in gaps.get_legend().get_texts()]
    apart = [gap for gap in found.table[: len(found.curves) - 1] if gap.largest > 0]
    assert between == [f"{RUNGS[gap.rung]} – {RUNGS[gap.next_rung]}" for gap in apart]
    for gap, line in zip(apart, gaps.lines, strict=True):
        assert max(line.get_ydata()) == pytest.approx(gap.largest)
    for ax in breaking:
        marks = {float(line.get_xdata()[0]) for line in ax.lines if len(line.get_xdata()) == 1}
        assert {rate.above for rate in found.breaking if rate.above is not None} <= marks
    text = rendered(*ladder_report.ladder_text(found), width=400)
    assert all(f"{gap.largest:.2e}" in text for gap in found.table)
    assert all(rate.message in text for rate in found.breaking)
