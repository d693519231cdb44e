"""Logs that begin after the warmup: what the rate was before is found from the losses, and said."""

import json

import numpy as np
import pytest

from fsl_num.cli import main
from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.forecast import forecast
from fsl_num.curves.laws import law
from fsl_num.curves.logs import curve_from
from fsl_num.curves.plan import Plan
from fsl_num.curves.result import FitResult
from fsl_num.design.schedule import design_schedule
from fsl_num.schedules import step_rates

STEPS, FIRST, PEAK = 8000, 800, 1e-3
THETA = {"L0": 2.5, "A": 0.6, "B": 0.3, "E": 0.02, "s": 0.7, "c": 60.0, "gamma": 0.7, "c_e": 40.0, "p": 0.9}


def losses(rates, noise=3e-4):
    """The rows of a log that begins at FIRST, of a run with these rates."""
    step = np.arange(FIRST, STEPS + 1, 50)
    exact = law("fsl-full").predict(Plan(rates, step, FIRST), THETA)
    return step, exact * np.exp(noise * np.random.default_rng(0).normal(size=step.size))


def shape(warm, name="wsd"):
    """The rates of a run, with or without a linear warmup of FIRST updates before the same rates."""
    rates = step_rates(name, peak=PEAK, steps=STEPS)
    rates[:FIRST] = PEAK * np.arange(FIRST) / FIRST if warm else PEAK
    return rates


def log(rates, noise=3e-4, **known):
    step, loss = losses(rates, noise)
    return LossCurve(step, loss, lr=np.append(rates, rates[-1])[step], **known)


@pytest.mark.parametrize("warm", [True, False])
def test_the_losses_tell_what_came_before_the_first_row(warm):
    quiet = 3e-5  # of losses that scatter ten times as much neither fits twice as well
    curve = log(shape(warm), quiet, name="late")
    found = fit(curve, intervals=False)
    assert curve.unseen == FIRST and curve.warmup == 0 and found.warmed is warm
    (warning,) = found.warnings
    taken = "a linear warmup fits" if warm else "the rate of the first row fits"
    assert warning.startswith("late: begins late") and taken in warning and "--warmup N" in warning
    # as if it had been said
    said = fit(log(shape(warm), quiet, warmup=FIRST if warm else 0), intervals=False)
    assert said.warnings == () and said.objective == pytest.approx(found.objective, rel=1e-6)
    assert found.as_fitted(curve).plan.rates[:FIRST] == pytest.approx(shape(warm)[:FIRST], rel=1e-9)


def test_a_warmup_is_taken_unless_the_losses_speak_against_it():
    """A cosine with a warmup, whose first row's rate fits a little better by chance."""
    curve = log(shape(True, "cosine"), name="late")
    found = fit(curve, intervals=False)
    assert found.warmed and "better than a linear warmup, which is taken as most runs" in found.warnings[0]
    truth = fit(log(shape(True, "cosine"), warmup=FIRST), intervals=False)
    constant = step_rates("constant", peak=PEAK, steps=STEPS)
    assert found.predict(constant, None).final == pytest.approx(truth.predict(constant, None).final, rel=1e-6)


def test_a_log_that_begins_behind_a_tenth_of_its_steps_is_no_warmup_by_default():
    """A branch of a run at a constant rate: what fits better is taken, by however little."""
    step = np.arange(2000, STEPS + 1, 50)
    loss = law("fsl-full").predict(Plan(np.full(STEPS, PEAK), step, 0), THETA)
    noise = np.random.default_rng(0).normal(size=step.size)
    found = fit(LossCurve(step, loss * np.exp(3e-4 * noise), lr=np.full(step.size, PEAK)), intervals=False)
    assert not found.warmed and "than a linear warmup, and is taken" in found.warnings[0]


def test_what_was_found_holds_for_every_other_run_that_begins_late():
    found = fit(log(shape(True)), intervals=False)
    late, truth = log(shape(True, "linear")), log(shape(True, "linear"), warmup=FIRST)
    again = FitResult.from_json(found.to_json())
    for result in (found, again):
        assert result.warmed and result.warnings
        assert result.predict(late, None).loss == pytest.approx(result.predict(truth, None).loss, rel=1e-9)
    assert design_schedule(found, 2 * STEPS, run=late, from_step=6000).rates[:6000] == pytest.approx(
        truth.plan.rates[:6000]
    )
    ends = [forecast(run, 2 * STEPS, intervals=False).main.plan.times[-1] for run in (late, truth)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)
    # what is known is not asked for: a warmup that was said, a schedule, rows from the start
    assert truth.unseen == 0 == LossCurve(late.step, late.loss, schedule=shape(True)).unseen
    assert LossCurve(np.arange(50, STEPS, 50), np.ones(159), lr=[PEAK] * 159).unseen == 0


def test_what_is_taken_for_a_late_log_that_is_predicted_alone_is_said_and_is_what_the_runs_fitted_have():
    """The runs fitted say their warmup, and the one predicted does not."""
    told = [log(shape(True, name), warmup=FIRST, name=name) for name in ("wsd", "constant")]
    fitted, late, truth = fit(told), log(shape(True, "linear")), log(shape(True, "linear"), warmup=FIRST)
    assert fitted.warnings == () and fitted.warmed is None
    for found in (fitted, FitResult.from_json(fitted.to_json())):
        prediction = found.predict(late)
        assert prediction.loss == pytest.approx(found.predict(truth).loss, rel=1e-9)
        assert prediction.sentences[0].startswith(f"Its log begins at step {FIRST} of {STEPS}, and nothing says")
        assert f"There a linear warmup of {FIRST} updates is taken" in prediction.sentences[0]
        assert len(prediction.sentences) == 1 + len(found.predict(truth).sentences)
        assert prediction.unseen == prediction.sentences[0] and found.predict(truth).unseen == ""
    # a branch that begins far behind: the warmup is as long as theirs, and then the rate of the first row stands
    branch = late.between_steps(2 * FIRST, STEPS)
    branch = LossCurve(branch.step, branch.loss, lr=np.append(branch.plan.rates, 0.0)[branch.step])
    said = fitted.predict(branch, None)
    first = branch.plan.rates[2 * FIRST]
    assert said.plan.rates[FIRST // 2] == pytest.approx(first / 2) and said.plan.rates[FIRST + 1] == first
    assert f"then the rate of its first row up to step {2 * FIRST} is taken" in said.trust


def test_runs_without_a_warmup_and_what_was_found_speak_against_one():
    bare = fit(log(shape(False), warmup=0), intervals=False)
    quiet = fit(log(shape(False), 3e-5), intervals=False)
    late = log(shape(False, "linear"))
    for found in (bare, quiet, FitResult.from_json(quiet.to_json())):
        prediction = found.predict(late, None)
        assert prediction.plan.rates[0] == late.plan.rates[FIRST]
        assert "There the rate of its first row is taken, as of the runs fitted" in prediction.trust


def test_rows_left_out_and_branches_keep_what_is_not_known():
    curve = log(shape(True))
    assert curve.between_steps(4000, STEPS).averaged(20).unseen == FIRST
    late = curve.between_steps(4000, STEPS).warmed()
    assert late.plan.times[-1] == pytest.approx(curve.warmed().plan.times[-1]) and late.warmup == FIRST
    assert curve.between_steps(4000, STEPS).branched(log(shape(True), warmup=FIRST), 4000).unseen == 0
    assert curve.warmed().warmed() is not curve and curve.warmed().unseen == 0


def test_a_table_of_rates_that_begins_late_is_unseen_too():
    rates, (step, loss) = shape(True), losses(shape(True))
    table = {"step": step, "lr": rates[np.minimum(step, STEPS - 1)], "loss": loss}
    assert curve_from(table).unseen == FIRST and curve_from(table, warmup=0).unseen == 0
    sparse = dict(table, loss=[value if k % 4 == 0 else "" for k, value in enumerate(loss)])
    assert curve_from(sparse).unseen == FIRST


def written(file, rates, loss):
    """A log of these rates and losses."""
    step = losses(rates)[0]
    rows = zip(step.tolist(), np.append(rates, rates[-1])[step].tolist(), loss.tolist(), strict=True)
    file.write_text("step,lr,loss\n" + "".join(f"{k},{lr!r},{y!r}\n" for k, lr, y in rows))
    return str(file)


def test_a_missed_measurement_speaks_before_the_fit(tmp_path, capsys):
    fitted, linear = shape(True), shape(True, "linear")
    train = written(tmp_path / "wsd.csv", fitted, losses(fitted)[1])
    right = written(tmp_path / "right.csv", linear, losses(linear)[1])
    wrong = written(tmp_path / "wrong.csv", fitted, losses(linear)[1])  # its log says rates that it did not have
    assert main(["fit", train, "--predict", right, wrong]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "wsd: begins late" in out and "right: Measured, and missed" not in out
    assert "wrong: Measured, and missed: of its losses" in out


def test_commands_say_what_was_taken_for_the_first_rates_of_a_log_that_they_only_predict(tmp_path, capsys):
    """The log fitted is read with its warmup; of the one predicted the first rows are gone."""
    rates = shape(True)
    step = np.arange(50, STEPS + 1, 50)
    loss = law("fsl-full").predict(Plan(rates, step, 1), THETA) * np.exp(
        3e-4 * np.random.default_rng(0).normal(size=step.size)
    )
    rows = zip(step.tolist(), np.append(rates, rates[-1])[step].tolist(), loss.tolist(), strict=True)
    train, saved = tmp_path / "whole.csv", str(tmp_path / "fit.json")
    train.write_text("step,lr,loss\n" + "".join(f"{k},{lr!r},{y!r}\n" for k, lr, y in rows))
    late = written(tmp_path / "late.csv", shape(True, "linear"), losses(shape(True, "linear"))[1])
    quick = ["--starts", "1"]
    for command, law_named in (("fit", ["--law", "auto"]), ("compare", ["--laws", "momentum"])):
        assert main([command, str(train), "--predict", late, *quick, *law_named]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert f"late: Its log begins at step {FIRST} of {STEPS}" in said and "a linear warmup of 800 updates" in said
    assert main(["fit", str(train), "--save", saved]) == 0
    whole = str(tmp_path / "rates.csv")
    (tmp_path / "rates.csv").write_text(
        "step,lr\n" + "".join(f"{k},{r!r}\n" for k, r in enumerate(shape(True).tolist()))
    )
    words = {
        "predict": ["predict", "--fit", saved, "--schedule-file", late, "--json"],
        "next": ["next-run", "--fit", saved, "--predict", late, "--candidates", "constant"],
        "design": ["design", "--fit", saved, "--steps", str(STEPS + 1000), "--log", late, "--from-step", "4000"],
        "schedule": ["schedule", late],
    }
    for command, typed in words.items():
        capsys.readouterr()
        assert main(typed) == 0, command
        said = " ".join(" ".join(capsys.readouterr()).split())
        assert f"egins at step {FIRST}" in said, command
        taken = "that of its first row is taken" if command == "schedule" else "a linear warmup of 800 updates"
        assert taken in said, command
        if command == "predict":  # the warmup of the runs fitted is that of this run, so that its end is as if known
            late_final = json.loads(said)["final"]
            assert "--branch-of" not in said  # which this command does not have
    assert main([*words["predict"][:3], "--schedule-file", whole, "--json"]) == 0
    wsd = json.loads(capsys.readouterr().out)
    assert "begins at step" not in wsd["trust"]
    for warmup in ("0", "800"):
        assert main([*words["predict"], "--warmup", warmup]) == 0
        known = json.loads(capsys.readouterr().out)
        assert "begins at step" not in known["trust"]
        assert (known["final"] == pytest.approx(late_final, rel=1e-9)) is (warmup == "800")


def test_a_run_that_diverged_is_said_and_can_be_cut_before_it_is_read(tmp_path, capsys):
    rates, (step, loss) = shape(True), losses(shape(True))
    exploded, nan = (
        written(tmp_path / f"{name}.csv", rates, np.where(step > 7000, end, loss))
        for name, end in (("exploded", 9.0), ("nan", np.nan))
    )
    known = ["--predict", "linear", "--no-intervals"]
    assert main(["fit", exploded, *known]) == 0
    said = " ".join(capsys.readouterr().out.split())  # before the answer, and with the step up to which to keep it
    assert said.startswith("exploded: its losses end") and "did it diverge, or overfit?" in said
    assert f"(--last-step {step[np.argmin(loss[step <= 7000])]})" in said
    assert main(["fit", nan, *known]) == 2
    assert "where the run diverged, leave its end out (--last-step)" in capsys.readouterr().err
    assert main(["fit", nan, *known, "--last-step", "7000"]) == 0
    assert "did it diverge" not in capsys.readouterr().out


def test_a_run_that_diverged_and_recovered_is_said_with_the_rows_to_drop():
    """Early rows were said to lie off the law, which the rows of the divergence bent."""
    step = np.arange(20, 4001, 20)
    rate = 3e-3 * np.append(np.minimum(1.0, (np.arange(4000) + 1) / 200), 1.0)
    loss = 2.4 + 3.0 / np.sqrt(1 + step / 50)
    rising = np.where((step > 1200) & (step <= 1400), 1.0 + (step - 1200) / 100, 1.0)
    bent, course = (LossCurve(step, values, lr=rate[step], name="run") for values in (loss * rising, loss))
    (said,) = fit(bent, intervals=False).warnings
    assert said.startswith("run: its losses rise by 180 % behind step 1180 and come back, though its rates do not rise")
    assert said.endswith("drop the rows of the steps 1200 to 1420 from its log.")
    restarted = np.where(step > 1200, 3e-3, 3e-4)  # where rates rise losses do
    mended = bent.keep((step < 1200) | (step > 1420))
    for usual in (course, mended, LossCurve(step, bent.loss, lr=restarted)):
        assert not any("come back" in words for words in fit(usual, intervals=False).warnings)


def test_peaks_that_are_hardly_in_one_unit_are_said_to_be():
    """A log of multipliers beside one of rates: they were fitted together without a word."""
    rates, multipliers = (log(shape(True) * unit, warmup=FIRST, name=name) for unit, name in ((1, "a"), (1e3, "b")))
    apart, swept = ([rates, other] for other in (multipliers, log(shape(True) * 50, warmup=FIRST)))
    (said,) = fit(apart, "fsl", starts=1, intervals=False).warnings
    assert said.startswith("The peak rates lie between 0.001 (a) and 1 (b): are they in one unit?")
    assert not fit(swept, "fsl", starts=1, intervals=False).warnings


def test_losses_that_are_all_one_are_said_to_be():
    curve = LossCurve(np.arange(10, 1001, 10), np.full(100, np.float32(2.3)), lr=[1e-3] * 100, name="stuck")
    (warning,) = fit(curve, intervals=False).warnings
    assert warning.startswith("stuck: its losses are all 2.3000: is it the right column")
    moving = LossCurve(curve.step, curve.loss + 1e-3 / curve.step, lr=curve.lr)
    assert fit(moving, intervals=False).warnings == ()


def test_a_short_run_that_ends_at_its_lowest_has_not_diverged(tmp_path, capsys):
    """The last five of ten rows hold a plateau, and then a decay that ends far below it."""
    loss = np.array([2.0, 1.5, 1.4, 1.35, 1.32, 1.3, 1.29, 1.28, 1.0, 0.9])
    curve = LossCurve(np.arange(1, 11) * 100, loss, lr=np.where(loss < 1.2, 1e-4, 1e-3), name="short")
    assert fit(curve, intervals=False).warnings == ()


def test_a_log_of_the_last_steps_alone_is_refused_with_what_settles_it():
    """Of 50,000 updates before the first row no rate is known: no warmup is made up for them."""
    step = np.arange(50010, 51501, 10)
    late = {"step": step, "lr": np.full(step.size, 1e-3), "loss": 1.4 + 0.3 * np.exp(-(step - 50000) / 300)}
    with pytest.raises(CurveError, match="begins at step 50010 of 51500.*subtract the steps done before"):
        fit(curve_from(late), intervals=False)
    for known in (late | {"step": step - 50000}, late):
        assert fit(curve_from(known, warmup=0), intervals=False).predict([1e-3] * 51500, None).final < 1.7


def test_runs_that_share_no_law_are_said_not_to(tmp_path, capsys):
    rates = shape(True)
    step, loss = losses(rates)
    first, second = (written(tmp_path / f"{name}.csv", rates, loss * f) for name, f in (("small", 1.0), ("large", 0.7)))
    quick = ["--no-intervals", "--starts", "1"]
    words = "no law was found that describes this"
    assert main(["fit", first, second, "--predict", "linear", *quick]) == 0
    found = " ".join(capsys.readouterr().out.split())
    assert words in found and "small (" in found and "fit each kind alone" in found
    assert main(["forecast", first, "--others", second, "--to", "12000", *quick]) == 0
    assert words in " ".join(capsys.readouterr().out.split())
    assert main(["fit", first, "--predict", "linear", *quick]) == 0
    assert words not in " ".join(capsys.readouterr().out.split())
    # far off row by row, and described
    scattered = LossCurve(step, loss * np.exp(0.1 * np.random.default_rng(1).normal(size=loss.size)), schedule=rates)
    assert not [warning for warning in fit(scattered, intervals=False).warnings if words in warning]


def test_where_no_law_holds_none_says_that_early_rows_lie_off_it():
    step = np.arange(20, 4001, 20)
    steep, rising = 2.4 + 3.0 / np.sqrt(1 + step / 50), 3e-3 * np.minimum(1.0, step / 200)
    runs = [LossCurve(step, steep * share, lr=rising) for share in (1.0, 1.0001, 1.0002, 0.7)]
    (said,) = fit(runs, intervals=False).warnings
    assert "no law was found that describes this" in said
