"""Logs that begin where another run was are branches of it; others are not taken for one."""

import numpy as np
import pytest

from fsl_num import FitResult, fit, read_curve, read_curves
from fsl_num.cli import main
from fsl_num.curves.branches import with_branches
from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.curves.laws import law

STEPS, WARMUP, EVERY = 2000, 100, 20
TRUTH = {"L0": 2.0, "A": 0.6, "B": 0.03, "E": 0.0, "s": 0.5, "c": 5.0, "gamma": 0.7, "c_e": 5.0, "p": 1.0}


def rates(fraction=0.0, peak=0.01, root=False):
    """A warmup, a constant rate, and a decay to 0 over the last ``fraction``."""
    k = np.arange(STEPS + 1)
    left = np.clip((STEPS - k) / max(fraction * STEPS, 1e-9), 0, 1)
    decay = 1 - np.sqrt(1 - left) if root else left
    return peak * np.minimum((k + 1) / WARMUP, 1) * (decay if fraction else 1.0)


def write(folder, name, rate, first=EVERY, last=STEPS, loss=None):
    """A log of the law's own losses from a step on."""
    step = np.arange(first, last + 1, EVERY)
    values = law("fsl-full").predict(rate[:-1], list(TRUTH.values())) if loss is None else np.full(STEPS, loss)
    values = values * np.exp(5e-4 * np.random.default_rng(1).normal(size=STEPS))
    rows = (f"{k},{rate[k]},{values[k - 1]}\n" for k in step)
    (folder / f"{name}.csv").write_text("step,lr,loss\n" + "".join(rows))
    return folder / f"{name}.csv"


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("options", [{}, {"warmup": WARMUP}])
@pytest.mark.parametrize("last", [STEPS, 1600])  # the other run may have ended where this one begins
def test_a_decay_from_a_checkpoint_has_the_rates_of_the_run_before_it(tmp_path, root, options, last):
    decay = write(tmp_path, "decay", rates(0.2, root=root), first=1620)
    trunk = write(tmp_path, "trunk", rates(), last=last)
    branch, whole = read_curves([decay, trunk], **options)
    np.testing.assert_allclose(branch.plan.rates[1:1600], whole.plan.rates[1:1600], rtol=1e-9)
    assert branch.unseen == 0
    assert branch.warmup == whole.warmup
    assert "begins where trunk was at step 1620" in branch.notes[-1]
    assert not any("begins where" in note for note in whole.notes)


def test_the_first_loss_of_a_branch_may_be_off_by_as_much_as_its_rows_scatter(tmp_path):
    trunk, decay = write(tmp_path, "trunk", rates()), write(tmp_path, "decay", rates(0.2), first=1620)
    rows = [row.split(",") for row in decay.read_text().splitlines()]
    for at, row in enumerate(rows[1:]):
        row[2] = str(float(row[2]) * (1.035 if at == 0 else 1.02 if at % 2 == 0 else 0.98))
    decay.write_text("\n".join(map(",".join, rows)))
    assert read_curves([decay, trunk])[0].unseen == 0


def test_of_runs_at_several_peaks_each_has_its_own_branch(tmp_path):
    files = [write(tmp_path, f"decay_{peak}", rates(0.2, peak), first=1620) for peak in (0.01, 0.005)]
    trunks = [write(tmp_path, f"trunk_{peak}", rates(peak=peak)) for peak in (0.01, 0.005)]
    branches = read_curves([*files, *trunks])[:2]
    assert [branch.plan.rates[800] for branch in branches] == [0.01, 0.005]


def test_what_was_elsewhere_is_no_branch(tmp_path):
    trunk = write(tmp_path, "trunk", rates())
    of_rate = write(tmp_path, "of_rate", rates(0.2, peak=0.009), first=1620)
    of_loss = write(tmp_path, "of_loss", rates(0.2), first=1620, loss=2.0)
    for other in (of_rate, of_loss):
        late = read_curves([other, trunk])[0]
        assert late.unseen == 1620
        with pytest.raises(CurveError, match="read it together with that run"):
            fit([late], starts=1, intervals=False)
    held = read_curves([write(tmp_path, "decay", rates(0.2), first=1620), trunk], warmup=0)[0]
    assert held.plan.rates[10] == held.plan.rates[1600] < 0.01  # said: the first rate from the first update on
    dropped = write(tmp_path, "dropped", np.where(np.arange(STEPS + 1) < 1600, 1.0, 0.1) * rates(), first=1620)
    assert read_curves([dropped, trunk])[0].unseen == 1620


def test_where_two_different_runs_were_neither_is_taken(tmp_path):
    decay = write(tmp_path, "decay", rates(0.2), first=1620)
    trunk = write(tmp_path, "trunk", rates())
    late_start = rates()
    late_start[: STEPS // 10] *= 0.3
    other = write(tmp_path, "other", late_start)
    branch = read_curves([decay, trunk, other])[0]
    assert branch.unseen == 1620
    assert "begins where trunk or other was at step 1620: --branch-of says" in branch.notes[-1]


def test_the_run_that_is_named_has_the_branches_that_are_not_seen_and_no_others(tmp_path, capsys):
    """Where a rate drops at once the log of a branch does not begin at the rate of the run before it."""
    step = np.arange(STEPS + 1)
    trunks = [write(tmp_path, f"trunk_{peak}", rates(peak=peak), first=260) for peak in (0.01, 0.005)]
    drop = write(tmp_path, "drop", np.where(step < 1600, 1.0, 0.1) * rates(), first=1620)
    decay = write(tmp_path, "decay", rates(0.2, peak=0.005), first=1620)
    files = [drop, decay, *trunks]
    parent = read_curve(trunks[0], warmup=WARMUP)
    for options in ({}, {"branch_step": 1600}):
        dropped, decayed, *others = read_curves(files, warmup=WARMUP, branch_of=parent, **options)
        assert (dropped.plan.rates[800], decayed.plan.rates[800]) == (0.01, 0.005)
        np.testing.assert_array_equal(others[1].plan.rates, read_curve(trunks[1], warmup=WARMUP).plan.rates)
        assert dropped.plan.rates[1650] == pytest.approx(0.001)
    anew = (row.split(",", 1) for row in drop.read_text().splitlines()[1:])
    drop.write_text("step,lr,loss\n" + "".join(f"{int(first) - 1600},{cells}\n" for first, cells in anew))
    dropped, decayed, *others = read_curves(files, warmup=WARMUP, branch_of=parent, branch_step=1600)
    assert dropped.step[0] == 1620 and dropped.plan.rates[800] == 0.01
    assert [curve.step[0] for curve in (decayed, *others)] == [1620, 260, 260]
    with pytest.raises(CurveError, match=r"none of the runs is a branch of trunk_0.01 \(--branch-of"):
        read_curves([*trunks, write(tmp_path, "other", rates(0.2), first=1620, loss=9.0)], branch_of=parent)
    words = ["fit", *map(str, files), "--warmup", "100", "--starts", "1", "--no-intervals", "--branch-of"]
    assert main([*words, f"{trunks[0]}@1600"]) == 0
    said = capsys.readouterr().err
    assert said.count("a branch of trunk_0.01 at update 1600") == 1
    assert "drop: a branch" in said and "decay: begins where trunk_0.005 was" in said


def test_a_run_that_is_predicted_alone_branches_from_one_that_was_fitted(tmp_path):
    slow = np.where(np.arange(STEPS + 1) < STEPS // 2, 0.3, 1.0)
    trunk, whole, other, late = (
        read_curve(write(tmp_path, name, slow * rates(fraction), first))
        for name, fraction, first in (("trunk", 0, 20), ("whole", 0.2, 20), ("other", 0.4, 20), ("decay", 0.2, 1620))
    )
    fitted = fit([trunk, other], starts=1)
    for result in (fitted, FitResult.from_json(fitted.to_json())):
        prediction = result.predict(late)
        assert prediction.final == pytest.approx(result.predict(whole).final, rel=1e-4)
        assert prediction.trust.startswith("Its log begins where trunk was at step 1620, in rate and loss: taken for a")
    elsewhere = write(tmp_path, "elsewhere", rates(0.2), first=1620, loss=2.5)
    assert "nothing says what the learning rate was" in fitted.predict(read_curve(elsewhere)).trust
    two = fit([trunk, other, read_curve(write(tmp_path, "third", rates()))], starts=1, intervals=False)
    assert "Its log begins where trunk or third was at step 1620" in two.predict(late, None).trust


def test_runs_with_a_long_warmup_and_cut_runs_are_left_alone(tmp_path):
    runs = [write(tmp_path, f"run{at}", rates(fraction), first=260) for at, fraction in enumerate((0.0, 0.2, 0.9))]
    curves = read_curves(runs, warmup=WARMUP)
    assert not any("begins where" in note for curve in curves for note in curve.notes)
    cut = [curve.between_steps(1620, STEPS) for curve in curves]
    assert with_branches([*curves, *cut])[3:] == cut  # of a cut curve the rates before its rows are known


def test_at_the_command_line_a_branch_may_be_fitted_or_predicted(tmp_path, capsys):
    trunk = write(tmp_path, "trunk", rates())
    files = [
        write(tmp_path, f"decay{fraction}", rates(fraction), first=first)
        for fraction, first in ((0.2, 1620), (0.4, 1220))
    ]
    words = ["fit", str(trunk), str(files[0]), "--predict", str(files[1]), "--first-step", "200", "--starts", "1"]
    assert main(words) == 0
    said = capsys.readouterr().err
    assert "decay0.2: begins where trunk was at step 1620" in said
    assert "decay0.4: begins where trunk was at step 1220" in said
    assert main([*words, "--branch-of", str(trunk)]) == 0
    assert "begins where" not in capsys.readouterr().err


def test_early_rows_off_the_law_are_said_with_the_step_from_which_to_fit():
    rate, step = rates(0.2), np.arange(EVERY, STEPS + 1, EVERY)
    loss = law("fsl-full").predict(rate[:-1], list(TRUTH.values()))[step - 1]
    loss = loss * np.exp(3e-4 * np.random.default_rng(2).normal(size=loss.size))
    usual = LossCurve(step, loss, schedule=rate[:-1], warmup=WARMUP)
    assert not any("Early rows" in words for words in fit(usual, intervals=False).warnings)
    early = usual.replaced(step, loss * np.where(step < 140, 1.15, 1.0))
    [words] = [words for words in fit(early, intervals=False).warnings if "Early rows" in words]
    assert "--first-step 140" in words
    assert not any("Early rows" in words for words in fit(early, intervals=False, early=0.05).warnings)
    assert not any("Early rows" in words for words in fit(early.between_steps(140, STEPS), intervals=False).warnings)
