"""fsl solve: what was asked is solved, at full precision; what cannot be solved is refused in one sentence."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from models import problem_of
from typed import answer, refusal

from fsl_num.cli import main
from fsl_num.model import Model
from fsl_num.schedules import SCHEDULES, schedule
from fsl_num.volterra import METHODS, Problem, solve
from fsl_num.writing import write_atomically

MODEL = ["solve", "--s", "1/2", "--beta", "2", "--model-size", "6", "--noise", "1"]
CONSTANT = [*MODEL, "--schedule", "constant", "--gamma", "0.3"]
RATES = ["--peak-lr", "0.4", "--final-lr", "1/100", "--steps", "200", "--decay-fraction", "0.25"]
WSD = [*MODEL, "--schedule", "wsd", *RATES]


def test_constant_gamma_in_double_precision(capsys):
    found = answer([*CONSTANT, "--time", "20"], capsys)
    assert list(found) == ["time", "excess_risk", "error", "method", "digits", "success", "message"]
    assert found["success"] is True
    problem = Problem(Model(s=0.5, beta=2.0, size=6, noise=1.0), gamma=0.3, horizon=20.0)
    assert found["time"] == ["20.0"] and found["digits"] is None and found["method"] == "secular"
    assert float(found["excess_risk"][0]) == solve(problem, 20.0).excess_risk[0]
    assert 0 < float(found["error"][0]) < 1e-11


@pytest.mark.parametrize(("size", "method"), [("6", "constant"), ("inf", "laplace")])
def test_digits_take_every_number_as_it_was_typed(size, method, capsys):
    arguments = [*CONSTANT, "--time", "20", "--digits", "25", "--model-size", size]
    found = answer(arguments, capsys)
    assert (found["method"], found["digits"]) == (method, 25)
    (text,) = found["excess_risk"]
    assert len(text) >= 25
    fields = {"s": 0.5, "beta": 2.0, "size": float(size), "noise": 1.0, "horizon": 20.0}
    truth = solve(problem_of(**fields, gamma=Fraction(3, 10)), 20.0, digits=30).excess_risk[0]
    rounded = solve(problem_of(**fields, gamma=0.3), 20.0, digits=30).excess_risk[0]
    assert abs(Fraction(text) / Fraction(str(truth)) - 1) < Fraction(1, 10**23)
    assert abs(Fraction(text) / Fraction(str(rounded)) - 1) > Fraction(1, 10**20)


def test_every_method_can_be_named(capsys, tmp_path):
    values = []
    for method in METHODS[1:]:
        rate = CONSTANT
        if method == "discrete":
            path = tmp_path / "rates.txt"
            path.write_text("0.3\n" * 10, encoding="utf-8")
            rate = [*MODEL, "--schedule-file", str(path)]
        found = answer([*rate, "--time", "3", "--method", method], capsys)
        assert found["method"] == method
        values.append(float(found["excess_risk"][0]))
    assert values == pytest.approx([values[0]] * len(values), rel=1e-6)  # the reference has a few digits
    proven = answer([*CONSTANT, "--time", "1/3", "--method", "enclosure", "--digits", "30"], capsys)
    assert 0 < float(proven["error"][0]) < 1e-29


def test_a_schedule_ends_where_its_learning_rates_end(capsys):
    plan = schedule("wsd", peak=0.4, final=0.01, steps=200.0, decay_fraction=0.25)
    found = answer(WSD, capsys)
    assert found["time"] == [repr(plan.total_intrinsic_time)]
    problem = Problem(Model(s=0.5, beta=2.0, size=6, noise=1.0), gamma=plan)
    assert float(found["excess_risk"][0]) == solve(problem, plan.total_intrinsic_time).excess_risk[0]
    precise = answer([*WSD, "--digits", "25"], capsys)
    assert precise["method"] == "high_precision" and len(precise["excess_risk"][0]) >= 25
    assert abs(float(precise["excess_risk"][0]) - float(found["excess_risk"][0])) <= float(found["error"][0])
    halved = answer([*WSD, "--batch-size", "2"], capsys)
    assert float(halved["excess_risk"][0]) < float(found["excess_risk"][0])
    moments = answer([*WSD, "--closure", "gaussian"], capsys)
    assert float(moments["excess_risk"][0]) > float(found["excess_risk"][0])


@pytest.mark.parametrize(
    ("name", "words", "parameters"),
    [
        *((name, [], {}) for name in SCHEDULES),
        ("exp-decay", ["--final-lr", "1/1000"], {"final": 0.001}),
        ("power-decay", ["--power", "2"], {"power": 2}),
        ("inverse-sqrt", ["--timescale", "5"], {"timescale": 5}),
        ("multi-step", ["--milestones", "1/4", "0.5", "--factors", "0.5", "0.2"],
         {"milestones": [0.25, 0.5], "factors": [0.5, 0.2]}),
        ("cyclic", ["--cycles", "2", "--floor-lr", "0.1"], {"cycles": 2, "floor": 0.1}),
        ("cosine", ["--warmup", "10"], {"warmup": 10}),
    ],
)  # fmt: skip
def test_every_schedule_is_solved(name, words, parameters, capsys):
    found = answer([*MODEL, "--schedule", name, "--peak-lr", "0.3", "--steps", "50", *words], capsys)
    plan = schedule(name, peak=0.3, steps=50, **parameters)
    exact = solve(Problem(Model(s=0.5, beta=2.0, size=6, noise=1.0), gamma=plan), plan.total_intrinsic_time)
    assert float(found["excess_risk"][0]) == pytest.approx(exact.excess_risk[0], rel=1e-12)


def test_a_file_of_learning_rates_is_constant_within_each_step(tmp_path, capsys):
    rates = tmp_path / "rates.txt"
    rates.write_text("0.3\n" * 40 + "0\n" + "1/10\n" * 7 + "0.02\n" * 5, encoding="utf-8")
    arguments = [*MODEL, "--schedule-file", str(rates), "--batch-size", "2"]
    found = answer(arguments, capsys)
    total = 40 * 0.3 + 7 * 0.1 + 5 * 0.02
    assert float(found["time"][0]) == pytest.approx(total, rel=1e-14)
    # the same piece by piece, by the matrix exponential: of f = 2E
    eigen = np.arange(1.0, 7.0) ** -2.0
    delta = Problem(Model(s=0.5, beta=2.0, size=6, noise=1.0), gamma=0.1, horizon=1.0).model.approximation_error
    from scipy.linalg import expm

    state = np.append(np.arange(1.0, 7.0) ** -2.0, 1.0)
    for gamma, length in ((0.15, 12.0), (0.05, 0.7), (0.01, 0.1)):
        system = np.zeros((7, 7))
        system[:6, :6] = np.diag(-2 * eigen) + gamma * np.outer(eigen**2, np.ones(6))
        system[:6, 6] = gamma * eigen**2 * (delta + 1.0)
        state = expm(system * length) @ state
    assert float(found["excess_risk"][0]) == pytest.approx((delta + state[:6].sum()) / 2, rel=1e-12)


def test_times_from_a_file_and_the_table_of_them(tmp_path, capsys):
    times, target = tmp_path / "times.txt", tmp_path / "loss.csv"
    times.write_text("0\n1/2\n\n3.5\n", encoding="utf-8")
    found = answer([*CONSTANT, "--times", str(times), "--csv", str(target)], capsys)
    assert found["time"] == ["0.0", "0.5", "3.5"]
    head, *rows = target.read_text(encoding="utf-8").splitlines()
    assert head == "t,excess_risk,error"
    columns = [list(column) for column in zip(*(row.split(",") for row in rows), strict=True)]
    assert columns == [found["time"], found["excess_risk"], found["error"]]
    assert main([*CONSTANT, "--times", str(times)]) == 0
    shown = capsys.readouterr().out
    assert found["excess_risk"][2] in shown and "method secular: gamma is constant" in shown


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_plot_is_a_whole_picture(suffix, start, tmp_path, capsys):
    target = tmp_path / f"loss{suffix}"
    assert main([*WSD, "--plot", str(target)]) == 0
    assert target.read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert "method panels" in capsys.readouterr().out


def test_a_plot_shows_the_risk_and_what_no_noise_would_leave():
    from fsl_num.report.losses import loss_figure

    plan = schedule("wsd", peak=0.4, final=0.01, steps=200.0, decay_fraction=0.25)
    problem = Problem(Model(s=0.5, beta=2.0, size=6, noise=1.0), gamma=plan)
    (axes,) = loss_figure(problem, solve(problem, problem.end), "a title").axes
    risk, floor, asked = axes.lines
    assert (risk.get_ydata() > floor.get_ydata()).all()
    assert risk.get_ydata()[-1] == pytest.approx(asked.get_ydata()[0], rel=1e-8)
    in_decay = risk.get_xdata() > plan.breaks[0]
    assert in_decay.sum() > 20  # the decay is a curve, not a step
    assert axes.get_title() == "a title"


def test_unstable_problems_are_solved_when_asked_for(capsys):
    unstable = [*MODEL, "--schedule", "constant", "--gamma", "1.9", "--time", "9"]
    assert "gamma_max tr(H)/2 = 1.41" in refusal(unstable, capsys)
    assert float(answer([*unstable, "--allow-unstable"], capsys)["excess_risk"][0]) > 0.5
    assert "sum over j of gamma_max" in refusal([*unstable, "--closure", "gaussian"], capsys)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (CONSTANT, "--time or --times is needed with --gamma"),
        ([*CONSTANT, "--time", "-1"], "--time must be at least 0"),
        ([*CONSTANT, "--time", "0"], "the last time must be above 0"),
        ([*CONSTANT, "--time", "nan"], "must be a number"),
        ([*CONSTANT, "--time", "9", "--peak-lr", "0.1"], "gamma would be given both ways"),
        ([*WSD, "--gamma", "0.1"], "gamma would be given both ways"),
        ([*MODEL, "--schedule", "constant", "--gamma", "nan", "--time", "1"], "must be a number"),
        ([*MODEL, "--schedule", "constant", "--gamma", "-0.1", "--time", "1"], "gamma must be at least 0"),
        (
            [*WSD, "--digits", "101", "--model-size", "inf", "--method", "high_precision"],
            "digits must be at most 100",
        ),
        ([*MODEL, "--time", "1"], "by --schedule or by --schedule-file"),
        ([*MODEL, "--schedule", "constant", "--time", "1"], "needs --peak-lr and --steps, or --gamma"),
        ([*MODEL, "--schedule", "WSD-like", "--peak-lr", "0.1", "--steps", "9"], "is called wsd"),
        ([*MODEL, "--schedule", "wsd", "--peak-lr", "0.1"], "needs --steps"),
        ([*MODEL, "--schedule", "cosine", "--peak-lr", "1", "--steps", "9", "--power", "2"], "no use for --power"),
        ([*WSD, "--time", "1000"], "beyond the schedule"),
        ([*WSD, "--peak-lr", "-0.1"], "must be above 0, not '-0.1'"),
        ([*CONSTANT, "--time", "9", "--beta", "1"], "beta must lie in (1, inf)"),
        ([*CONSTANT, "--time", "9", "--s", "0"], "s must be positive"),
        ([*CONSTANT, "--time", "9", "--noise", "-1"], "noise must be at least 0"),
        ([*CONSTANT, "--time", "9", "--model-size", "2.5"], "must be a whole number of at least 1, or inf"),
        ([*CONSTANT, "--time", "9", "--digits", "3"], "whole number of at least 15"),
        ([*CONSTANT, "--time", "9", "--plot", "loss.doc"], "--plot must name a file that ends in"),
        ([*CONSTANT, "--time", "9", "--csv", "nowhere/loss.csv"], "--csv cannot write to"),
        ([*CONSTANT, "--times", "no-such-file"], "--times cannot read"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(arguments, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert text in refusal(arguments, capsys)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "content", "text"),
    [
        ("--times", "1\n3\n2\n", "must rise, but row 3 holds 2.0 after 3.0"),
        ("--times", "1\n1\n", "must rise"),
        ("--times", "1\nnan\n", "row 2"),
        ("--times", "\n", "holds no rows"),
        ("--times", "-1\n2\n", "at least 0"),
        ("--schedule-file", "0.1\n-0.1\n", "row 2 holds -0.1, but none may be negative"),
        ("--schedule-file", "0.1\nnan\n", "should hold a learning rate, but it must be a number"),
        ("--schedule-file", "0\n0\n", "no learning rate above 0"),
        ("--schedule-file", "9\n", "must be below 1"),
    ],
)
def test_files_that_cannot_be_used_are_refused(option, content, text, tmp_path, capsys):
    path = tmp_path / "rows.txt"
    path.write_text(content, encoding="utf-8")
    base = CONSTANT if option == "--times" else MODEL
    assert text in refusal([*base, option, str(path)], capsys)


def test_jumps_of_gamma_late_in_the_horizon_are_met_from_their_own_side(tmp_path, capsys):
    # A panel that ends at a jump needs the learning rate before it, and those near the end are counted from there.
    generator = np.random.default_rng(7)
    rates = generator.uniform(0.01, 0.3, 30)
    path = tmp_path / "rates.txt"
    path.write_text("\n".join(map(repr, rates.tolist())), encoding="utf-8")
    arguments = [*MODEL, "--schedule-file", str(path), "--model-size", "1"]
    found = float(answer(arguments, capsys)["excess_risk"][0])
    delta = Problem(Model(s=0.5, beta=2.0, size=1, noise=1.0), gamma=0.1, horizon=1.0).model.approximation_error
    x = 1.0
    for rate in rates:  # x' = (gamma - 2) x + gamma (delta + 1) for a time gamma
        limit = rate * (delta + 1.0) / (2.0 - rate)
        x = limit + (x - limit) * math.exp((rate - 2.0) * rate)
    assert found == pytest.approx((x + delta) / 2, rel=1e-12)


def test_bytes_are_written_as_they_are(tmp_path):
    write_atomically(tmp_path / "a", b"\x00\xff")
    assert (tmp_path / "a").read_bytes() == b"\x00\xff"


def test_a_former_spelling_still_works_and_says_so(capsys):
    assert main([*WSD, "--batch=2", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "fsl: --batch is called --batch-size now\n"
    assert json.loads(shown.out) == answer([*WSD, "--batch-size", "2"], capsys)


def test_files_may_begin_with_a_byte_order_mark_and_numbers_have_long_exponents(tmp_path, capsys):
    path = tmp_path / "rates.txt"
    path.write_bytes(b"\xef\xbb\xbf0.1\n0.2\n1e-320\n")
    found = answer([*MODEL, "--model-size", "2", "--schedule-file", str(path)], capsys)
    assert float(found["time"][0]) == pytest.approx(0.3, rel=1e-15)
    path.write_text("0.1\n1e400\n", encoding="utf-8")
    assert "below 1.8e308" in refusal([*MODEL, "--model-size", "2", "--schedule-file", str(path)], capsys)
