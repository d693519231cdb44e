"""Batch sizes in the law: runs whose exact risk is known; batches that differ between runs, change in one, or lack."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from curves_networks import of_batches

from fsl_num import Model, Regression, exact_risk
from fsl_num.cli import main
from fsl_num.curves.batches import at_batch, with_batches
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.forecast import continued
from fsl_num.curves.laws import FunctionalLaw
from fsl_num.curves.plan import Plan
from fsl_num.curves.result import FitResult
from fsl_num.design.best import optimum, past_of
from fsl_num.design.draws import losses_of_draws
from fsl_num.design.schedule import design_schedule
from fsl_num.report.planner_from_fit import plan_from_fit

EXAMPLES = Path(__file__).parents[3] / "examples"
STEPS = 4000
CONSTANT = np.full(STEPS, 0.1)
COSINE = 0.1 * (0.55 + 0.45 * np.cos(np.pi * np.arange(STEPS) / STEPS))
RAMP = np.repeat([4.0, 8.0, 16.0, 32.0], STEPS // 4)
ROWS = 1e-3  # the scatter of rows, of log loss


def run(name, rates, batches, said=True):
    """Stochastic gradient descent of power-law regression: its exact risk above a loss of 1, with rows that scatter."""
    risk = exact_risk(Regression(Model(s=0.5, beta=2.0, size=200, noise=1.0)), rates, batches, every=40)
    late = risk.step >= 200
    noise = np.random.default_rng(len(name)).normal(0.0, ROWS, late.sum())
    plan = Plan(rates, None, 0, batches if said else 1.0)
    return LossCurve(risk.step[late], (1.0 + risk.excess_risk[late]) * np.exp(noise), schedule=plan, name=name)


@pytest.fixture(scope="module")
def runs():
    return {
        "constant 4": run("constant 4", CONSTANT, 4.0),
        "constant 16": run("constant 16", CONSTANT, 16.0),
        "cosine 4": run("cosine 4", COSINE, 4.0),
        "ramp": run("ramp", CONSTANT, RAMP),
        "cosine with ramp": run("cosine with ramp", COSINE, RAMP),
    }


def errors(fitted, runs):
    """Of the mean of the last rows of every run, of log loss; and the half-widths of the intervals, nan without."""
    found = []
    for curve in runs.values():
        predicted = fitted.predict(curve, None if fitted.drawn is None else 0.9)
        error = np.log(curve.observed[-5:].mean() / predicted.loss[-5:].mean())
        found.append((abs(float(error)), np.log1p(predicted.mean_half_width or np.nan)))
    return np.array(found)


@pytest.fixture(scope="module")
def fitted(runs):
    return fit([runs["constant 4"], runs["cosine 4"], runs["constant 16"]], "fsl-sgd")


def test_other_batch_sizes_are_predicted(runs, fitted):
    low, high = fitted.report.intervals["q"]
    assert fitted.law.batches and low < 1.0 < high  # 1 in this model, and in the paper
    assert 0.8 < fitted.parameters["q"] < 1.2 and "r" not in fitted.parameters
    found = errors(fitted, runs)
    assert (found[:, 0] <= found[:, 1] + 2 * ROWS / np.sqrt(5)).all()
    blind = errors(fit([runs["constant 4"], runs["cosine 4"], runs["constant 16"]], "fsl-full", intervals=False), runs)
    assert found[:, 0].max() < 2e-3 and blind[:, 0].max() > 5e-3  # the mutant: a law that knows no batch sizes


def test_one_run_whose_batches_grow_tells_of_other_rates(runs):
    found = errors(fit(runs["ramp"], "fsl-sgd"), runs)
    assert (found[:, 0] <= found[:, 1] + 2 * ROWS / np.sqrt(5)).all() and found[:, 1].max() < 0.02
    assert errors(fit(runs["ramp"], "fsl-full", intervals=False), runs)[:, 0].max() > 0.02


def test_a_schedule_that_says_no_batch_size_is_taken_at_the_reference(fitted):
    assert any("noise falls as (B/4)^-q; a schedule that says none is taken at 4" in note for note in fitted.notes)
    assert not any("over 1 - r" in parameter.meaning for parameter in fitted.law.parameters)  # plain descent has no r
    plain = fitted.predict(CONSTANT)
    assert plain.loss[-1] == pytest.approx(fitted.predict(Plan(CONSTANT, batch_sizes=4.0)).loss[-1], rel=1e-12)
    larger = fitted.predict(Plan(CONSTANT, batch_sizes=64.0))
    assert larger.loss[-1] < plain.loss[-1] and larger.other_batch == 4.0 and "batch" in larger.trust
    assert plain.other_batch == 1.0 and "batch" not in plain.trust


def test_batch_sizes_that_only_some_runs_say_are_not_used(runs):
    silent = run("silent", COSINE, 4.0, said=False)
    fitted = fit([runs["constant 16"], silent], intervals=False)
    assert not getattr(fitted.law, "batches", False)
    assert any("No batch size is known of silent" in warning for warning in fitted.warnings)


def test_runs_of_one_batch_size_leave_the_noise_of_another_to_theory(runs):
    single = fit([runs["constant 4"], runs["cosine 4"]], "fsl-sgd")
    assert single.law.batches and not any("atch" in text for text in (*single.warnings, *single.notes))
    kept, unseen = single.predict(runs["constant 4"]), single.predict(runs["constant 16"])
    assert unseen.mean_half_width > 2 * kept.mean_half_width  # measured 2.6; 1 for a law that knows no batch sizes
    assert "batches are 4 times off" in unseen.trust and "batch" not in kept.trust
    found = errors(single, {"constant 16": runs["constant 16"], "ramp": runs["ramp"]})
    assert (found[:, 0] <= found[:, 1]).all()
    blind = errors(fit([runs["constant 4"], runs["cosine 4"]], "fsl-full"), {"constant 16": runs["constant 16"]})
    assert (blind[:, 0] > blind[:, 1]).all()  # the mutant


def test_a_law_of_one_batch_size_equals_that_of_all_there(fitted):
    for batch in (4.0, 16.0):
        single = fitted.at_batch(batch)
        assert "q" not in single.parameters and single.at_batch(batch) is single
        here, there = single.predict(COSINE), fitted.predict(Plan(COSINE, batch_sizes=batch))
        assert here.loss == pytest.approx(there.loss, rel=1e-12) and here.upper == pytest.approx(there.upper, rel=1e-9)


def test_the_slopes_are_those_of_differences():
    law = FunctionalLaw(signal_noise=True, sizes=True, batches=True, reference_batch=8.0)
    plan = Plan(np.append(COSINE, 0.0), [100, 2000, STEPS + 1], 0, np.append(RAMP, 32.0), 1e6)
    theta = np.array([2.0, 0.5, 0.1, 0.05, 3.0, 0.6, 0.3, 0.7, 5.0, 0.9, 0.8, 0.4, 0.5])
    slopes = law.jacobian(plan, theta)
    for place, value in enumerate(theta):
        step = np.eye(theta.size)[place] * 1e-5 * value
        difference = (law.predict(plan, theta + step) - law.predict(plan, theta - step)) / (2e-5 * value)
        # of central differences: a third of the third derivative times 1e-10, and rounding of 1e-16/1e-5
        assert slopes[:, place] == pytest.approx(difference, rel=1e-6, abs=1e-9)


def test_longer_steps_of_larger_batches_are_in_the_definition():
    """Update by update: time passes by eta (B/B_ref)^r, and the noise falls with the power q (1 - r)."""
    law = FunctionalLaw(signal_noise=True, batches=True, reference_batch=8.0)
    known = {"L0": 2.0, "A": 0.5, "B": 0.1, "E": 0.05, "s": 0.6, "c": 3.0, "gamma": 0.5, "c_e": 0.7, "p": 0.8, "q": 0.9}
    for r in (0.0, 0.5):
        time = np.append(0.0, np.cumsum(COSINE * (RAMP / 8.0) ** r))
        signal = (1.0 + 0.7 * time) ** -0.6
        level = (COSINE / 1e-3) ** 0.8 * (RAMP / 8.0) ** (-0.9 * (1.0 - r)) * (0.1 + 0.05 * signal[1:])
        for k in (500, 2500, STEPS):
            kept = (1.0 + 3.0 * (time[k] - time[: k + 1])) ** -0.5
            expected = 2.0 + 0.5 * signal[k] + level[:k] @ np.diff(kept)
            predicted = law.predict(Plan(COSINE, [k], 0, RAMP), {**known, "r": r})
            assert predicted == pytest.approx([expected], rel=3e-6)  # as of the other laws: what the modes leave


@pytest.mark.parametrize("adaptive", [True, False])
def test_batches_that_vary_at_every_update_enter_a_fit_by_their_mean(adaptive):
    """A fit merges updates: of each group it must not take the last batch size for all."""
    law = FunctionalLaw(batches=True, reference_batch=8.0, adaptive=adaptive)
    theta = np.array([2.0, 0.6, 0.05, 0.5, 2.0, 0.6, 1.0, 0.7, 0.9, 0.4][: len(law.names)])
    steps = 150_000
    batches = 8.0 * np.random.default_rng(0).uniform(0.5, 1.5, steps)
    plan = Plan(np.full(steps, 1e-3), np.arange(750, steps + 1, 750), 0, batches)
    merged, exact = (law.bind([plan], detail)(theta)[0] for detail in ("fit", "exact"))
    # as if all were forgotten but one group of 73 updates: the noise of .05 over the root of 73, times what the noise
    # of one update varies by, .3 q (1 - r); with the last batch size of every group it is off by up to .3 q (1 - r)
    power = 0.9 * (0.6 if adaptive else 1.0)
    assert np.abs(merged - exact).max() < 0.05 * 0.3 * power / np.sqrt(73)


@pytest.mark.parametrize("batches", [np.tile([4.0, 32.0], 300), np.tile([1.0, 1.0, 1e9], 200), RAMP[::4][:600]])
def test_the_slopes_of_merged_updates_are_those_of_differences(batches):
    law = FunctionalLaw(signal_noise=True, batches=True, reference_batch=8.0)
    plan = Plan(np.append(COSINE[:550], np.zeros(50)), [50, 600], 0, batches)
    bound = law.bind([plan], "coarse")
    theta = np.array([2.0, 0.5, 0.1, 0.05, 0.6, 0.3, 0.7, 5.0, 0.9, 0.8, 0.4])
    slopes = bound(theta)[1]
    for place, value in enumerate(theta):
        step = np.eye(theta.size)[place] * 1e-5 * value
        difference = (bound(theta + step)[0] - bound(theta - step)[0]) / (2e-5 * value)
        assert slopes[:, place] == pytest.approx(difference, rel=1e-6, abs=1e-9)  # as above


@pytest.mark.parametrize(("kind", "most"), [("convolutions", 0.012), ("transformer", 0.06)])
def test_small_networks_under_adam_are_predicted_at_other_batch_sizes(kind, most):
    """From a constant rate and two decays: mean errors of ten other runs, and of plain descent beside them."""
    runs_left = of_batches(kind)
    known = [runs_left.pop(name) for name in ("constant", "wsd", "wsd_fourfold")]
    adaptive, plain = errors(fit(known), runs_left), errors(fit(known, "fsl-sgd", intervals=False), runs_left)
    assert adaptive[:, 0].mean() < most and adaptive[:, 0].mean() < 0.7 * plain[:, 0].mean()
    assert (adaptive[:, 0] <= adaptive[:, 1]).mean() >= 0.5


def test_a_design_is_for_its_batch_size(fitted):
    small, large = (design_schedule(fitted, 2000, batch_size=batch, second=None) for batch in (4.0, 16.0))
    assert small.loss > large.loss  # with less noise to forget
    expected = fitted.predict(Plan(large.rates, batch_sizes=16.0)).final
    assert large.loss == pytest.approx(expected, rel=1e-6)


def test_a_run_under_way_goes_on_with_its_batches_unless_others_are_asked_for(fitted):
    run = Plan(np.full(500, 1e-3), batch_sizes=8.0)
    for asked, last in ((None, 8.0), (16.0, 16.0)):
        design = design_schedule(fitted, 2000, run=run, batch_size=asked, second=None)
        assert design.plan.batch_sizes[-1] == last and (design.plan.batch_sizes[:500] == 8.0).all()


@pytest.mark.parametrize("falling", [True, False])
def test_the_steps_done_keep_their_batches_in_a_design(falling):
    """The law itself, step by step, is the judge; a past taken at the batch size that follows misleads."""
    law = FunctionalLaw(signal_noise=True, batches=True, reference_batch=8.0, peaks=True, reference_peak=0.1)
    theta = law.vector({
        "L0": 2.0, "A": 0.5, "B": 0.2, "E": 0.1, "s": 0.6, "c": 3.0, "gamma": 0.7, "c_e": 1.0, "p": 0.8, "q": 0.9,
        "r": 0.5, "P_c": 0.2,
    })  # fmt: skip
    done, batches = np.full(300, 0.1), np.repeat([8.0, 128.0, 16.0], [100, 200, 400])

    def loss(rates):
        return law.predict(Plan(np.append(done, rates), [700], 0, batches), theta)[-1]

    past = past_of(Plan(np.append(done, done[:1]), batch_sizes=batches[:301]), 300)
    shape = "non-increasing" if falling else "free"
    best = optimum(law, theta, past, 400, 0.0, 0.1, shape)
    assert best.loss == pytest.approx(loss(best.rates), rel=1e-7) and best.kkt_residual < 1e-9
    assert 0.0 <= best.gap < 1e-3
    assert losses_of_draws(law, theta[None], past, best.rates)[0] == pytest.approx(best.loss, rel=1e-4)
    misled = optimum(law, theta, replace(past, batch_sizes=None), 400, 0.0, 0.1, shape)
    assert loss(misled.rates) > best.loss + 1e-4 and abs(misled.loss - loss(misled.rates)) > 0.01
    rng = np.random.default_rng(0)
    for size in (0.01, 0.1, 0.3):
        moved = np.clip(best.rates * np.exp(size * np.cumsum(rng.normal(size=400)) / 20.0), 0.0, 0.1)
        assert loss(np.minimum.accumulate(moved) if falling else moved) > best.loss


def test_a_design_says_how_far_its_batches_lie_off_and_asks_a_second_law_of_like_runs(fitted):
    """The second law knows no batch sizes: runs of others would mislead it."""
    far, near = (design_schedule(fitted, 2000, batch_size=batch) for batch in (64.0, 16.0))
    assert "batches are 4 times off" in far.prediction.trust and "batch" not in near.prediction.trust
    alone = fit([curve for curve in fitted.curves if curve.name == "constant 16"], "multi-power", intervals=False)
    assert near.second_law.loss == pytest.approx(alone.predict(near.plan, None).final, abs=1e-9)
    assert far.second_law is None and "no run has the batch size 64 throughout" in " ".join(far.sentences)


def test_a_design_on_the_command_line_goes_on_from_the_batches_of_its_log(fitted, runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("fit.json").write_text(fitted.to_json())
    grown = runs["ramp"]
    table = np.column_stack([grown.step, 0.1 + 0 * grown.step, grown.loss, grown.plan.batch_sizes[grown.step - 1]])
    np.savetxt("log.csv", table, delimiter=",", header="step,lr,loss,batch_size", comments="")
    words = ["design", "--fit", "fit.json", "--steps", "5000", "--log", "log.csv", "--warmup", "0", "--json"]
    for batch in (32.0, 4.0):  # its last, and another
        assert main([*words, *([] if batch == 32.0 else ["--batch-size", "4"])]) == 0
        said = json.loads(capsys.readouterr().out)
        own = design_schedule(fitted, 5000, run=grown, batch_size=batch)
        assert said["predicted_loss"] == pytest.approx(own.loss, rel=1e-3)
        assert not any("run of another model" in note for note in said["notes"])
    Path("blind.json").write_text(fit(runs["constant 4"], "fsl-full", intervals=False).to_json())
    assert main([*words[:2], "blind.json", *words[3:], "--batch-size", "4"]) == 2
    assert "this fit knows no batch sizes" in capsys.readouterr().err


def test_a_plan_chooses_among_the_batch_sizes_fitted(fitted):
    plan = plan_from_fit(fitted, data=16_000)
    batch = plan["batch_size"].value
    assert 4.0 <= batch <= 16.0 and plan["steps"].value == int(16_000 / batch)
    losses = [plan_from_fit(fitted, data=16_000, batch_size=size)["loss"].value for size in (4, 16)]
    assert plan["loss"].value <= min(losses)
    assert "between the smallest and the largest batch" in plan["batch_size"].basis
    basis = plan_from_fit(fitted, data=16_000, batch_size=8)["batch_size"].basis
    assert basis == "as given; without it the best of those fitted is taken"


def test_a_batch_size_of_1_says_none_and_is_refused_where_one_is_asked_for(fitted, tmp_path, monkeypatch, capsys):
    """It would be taken for the law's reference, 4: a plan would have four times the data that it may have."""
    with pytest.raises(ValueError, match="must not be 1, which says none: this fit would take it for its reference, 4"):
        plan_from_fit(fitted, data=16_000, batch_size=1)
    with pytest.raises(ValueError, match="must not be 1, which says none"):
        design_schedule(fitted, 2000, batch_size=1.0)
    monkeypatch.chdir(tmp_path)
    Path("fit.json").write_text(fitted.to_json())
    named = ["predict", "--fit", "fit.json", "--schedule", "constant", "--peak-lr", "0.1", "--steps", "100"]
    assert main([*named, "--batch-size", "1"]) == 2 and "--batch-size must not be 1" in capsys.readouterr().err


def test_a_plan_says_what_lies_beyond_the_runs_fitted(fitted):
    near, far = (plan_from_fit(fitted, data=8000 * batch, batch_size=batch).notes for batch in (4.0, 640.0))
    assert "Its batches are 40 times off" in " ".join(far) and "batches" not in " ".join(near)
    assert "times the intrinsic time" in " ".join(near)  # twice as many updates as any run has


def test_a_plan_says_where_its_only_batch_size_comes_from(runs):
    known, blind = (fit(runs["constant 4"], law, intervals=False) for law in ("auto", "fsl-full"))
    assert plan_from_fit(known, data=16_000)["batch_size"].value == 4.0
    assert plan_from_fit(known, data=16_000)["batch_size"].basis == "that of the runs fitted"
    assert "say nothing of other batches" in plan_from_fit(blind, data=16_000)["batch_size"].basis


def test_a_saved_fit_keeps_its_batch_sizes(fitted, runs):
    again = FitResult.from_json(fitted.to_json())
    assert again.law == fitted.law
    assert again.predict(runs["ramp"]).loss == pytest.approx(fitted.predict(runs["ramp"]).loss, rel=1e-12)


def test_a_run_whose_batches_vary_at_random_is_averaged_like_others():
    rates = np.repeat([0.1, 0.01], STEPS // 2)
    varied = 8.0 * np.random.default_rng(0).uniform(0.7, 1.3, STEPS)  # of sequences that vary, counted in tokens
    for batches in (8.0, varied):
        curve = LossCurve(range(1, STEPS + 1), np.linspace(3.0, 2.0, STEPS), schedule=Plan(rates, None, 0, batches))
        assert curve.averaged(100).counts.sum() == STEPS


def test_a_run_whose_batches_vary_goes_on_with_the_usual_one():
    """Not with that of its last row, which is one draw."""
    varied = np.exp(np.random.default_rng(0).uniform(-1.0, 1.0, STEPS))
    varied[-1] = 50.0
    run_on = continued(Plan(CONSTANT, None, 0, 8.0 * varied), 5000, "hold")
    # sixteen draws that each deviate by 1/sqrt(3), and one that was set: four deviations of their mean
    assert abs(np.log(run_on.batch_sizes[-1] / 8.0)) < 4 / np.sqrt(3 * 16) + np.log(50.0) / 16
    assert with_batches(FunctionalLaw(), [Plan(CONSTANT, None, 0, 8.0 * varied)]).reference_batch < 16.0
    for batches in (RAMP, RAMP[::-1], np.repeat([8.0, 16.0, 8.0, 32.0], STEPS // 4), np.linspace(4.0, 32.0, STEPS)):
        assert continued(Plan(CONSTANT, None, 0, batches), 5000, "hold").batch_sizes[-1] == batches[-1]


def test_a_law_without_batch_sizes_is_left_as_it_is():
    law, theta = FunctionalLaw(), np.ones(7)
    assert at_batch(law, theta, 8.0) == (law, theta)


def test_a_prediction_on_the_command_line_is_for_its_batch_size(fitted, runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("fit.json").write_text(fitted.to_json())
    Path("blind.json").write_text(fit(runs["constant 4"], "fsl-full", intervals=False).to_json())
    Path("rates.txt").write_text("\n".join(map(str, CONSTANT)))
    named = ["--schedule", "constant", "--peak-lr", "0.1", "--steps", str(STEPS)]
    for words in (named, ["--schedule-file", "rates.txt"]):
        losses = []
        for batch in ([], ["--batch-size", "4"], ["--batch-size", "64"]):
            assert main(["predict", "--fit", "fit.json", *words, *batch, "--json"]) == 0
            losses.append(json.loads(capsys.readouterr().out)["final"])
        assert losses[0] == losses[1] == pytest.approx(fitted.predict(CONSTANT).final, rel=1e-12)
        assert losses[2] == pytest.approx(fitted.predict(Plan(CONSTANT, batch_sizes=64.0)).final, rel=1e-12)
    Path("log.csv").write_text(f"step,lr,batch_size\n0,0.1,4\n{STEPS // 2},0.1,16\n{STEPS},0.1,16\n")
    assert main(["predict", "--fit", "fit.json", "--schedule-file", "log.csv", "--json"]) == 0
    grown = fitted.predict(Plan(CONSTANT, batch_sizes=np.repeat([4.0, 16.0], STEPS // 2))).final
    assert json.loads(capsys.readouterr().out)["final"] == pytest.approx(grown, rel=1e-12)
    assert main(["predict", "--fit", "blind.json", *named, "--batch-size", "4"]) == 2
    assert "this fit knows no batch sizes" in capsys.readouterr().err
    assert main(["predict", "--fit", "fit.json", *named, "--batch-size", "0"]) == 2
    assert "--batch-size must be positive, got 0" in capsys.readouterr().err


def test_a_comparison_names_the_laws_that_were_fitted(capsys):
    files = [str(EXAMPLES / "batches" / f"convolutions_{name}.csv") for name in ("constant_fourfold", "wsd_fourfold")]
    words = ["--laws", "fsl-sgd", "fsl-full", "--no-intervals", "--warmup", "200"]
    assert main(["compare", files[0], "--predict", files[1], *words]) == 0
    said = capsys.readouterr().out
    assert "fsl-sgd = fsl-sgd-batches" in said and "fsl-full =" not in said


@pytest.fixture(scope="module")
def of_one_run(runs):
    return fit(next(iter(runs.values())), intervals=False, starts=1)


@pytest.mark.parametrize("wrong", [0, -8, float("nan"), float("inf"), "8", None, [8]])
def test_a_batch_size_is_a_positive_number(of_one_run, wrong):
    result = of_one_run
    with pytest.raises((TypeError, ValueError), match="batch_size must be"):
        result.at_batch(wrong)
    with pytest.raises(TypeError, match="curve must be a LossCurve"):
        result.as_fitted(wrong)
