"""Many digits: gamma, the panels towards a singular end, a second method, and the evidence that is kept in files."""

import json
from dataclasses import replace

import mpmath
import pytest
import volterra_digits as evidence
from models import loss_of, with_model
from volterra_grid import cases
from volterra_interpolated import interpolated
from volterra_outside import relative

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.schedules import Cosine
from fsl_num.volterra import Problem
from fsl_num.volterra.digits.gamma import exact_gamma


@pytest.mark.parametrize("final", [0.0, 1e-9, 0.003, 0.29999])
@pytest.mark.parametrize("dps", [40, 130])
def test_the_cosine_rate_is_that_of_the_angle_of_which_the_intrinsic_time_was_made(final, dps):
    plan = Cosine(peak=0.3, final=final, steps=1e5)
    problem = Problem(Model(s=0.5, beta=2.0, size=2, noise=1.0), gamma=plan)
    gamma = exact_gamma(private_context(dps), problem, 0)
    mp = private_context(2 * dps + 140)  # x - sin x loses twice the digits of a small x
    low, half = mp.mpf(final), (mp.mpf(0.3) - mp.mpf(final)) / 2
    for power in (0, 0.03, 0.4, 1.7, 2.1, 6, 19, 40):
        angle = mp.pi * mp.mpf(10) ** -power
        left = mp.mpf(1e5) / mp.pi * (low * angle + half * (angle - mp.sin(angle)))
        rate = low + 2 * half * mp.sin(angle / 2) ** 2
        # the time left is rounded, and x - sin x loses four digits where the series has not begun
        assert abs(gamma.value(None, left) / rate - 1) < mp.mpf(10) ** (5 - dps)


def test_panels_that_stop_early_leave_nothing_out_that_is_seen():
    # gamma vanishes like r^(2/3): the panels end where r gamma(r) is below the digits, far from where r is
    problem = Problem(Model(s=0.5, beta=2.0, size=2, noise=9.0), gamma=Cosine(peak=0.3, steps=40.0))
    few = loss_of(problem, problem.end, digits=15)
    many = loss_of(problem, problem.end, digits=18)
    assert relative(few.values[0], many.values[0]) < 1e-15
    # with 1.45 between neighbours down to r = 1e-17 there are more than 100
    assert int(few.message.split(" panels")[0].split()[-1]) < 45


@pytest.mark.parametrize("number", [12, 45, 67, 54])  # cosine, linear, power decay, jumps: short horizons
def test_interpolated_gammas_give_the_same_digits(number):
    pytest.importorskip("flint")
    case = cases()[number]
    few = replace(case, problem=with_model(case.problem, size=min(case.problem.model.size, 3)))
    others = loss_of(few.problem, few.times, method="high_precision", digits=15)
    values = interpolated(few, 15)
    # both promise 15 digits
    assert max(relative(x, y) for x, y in zip(values, others.values, strict=True)) < 1e-14


def _answers(path, **methods):
    path.write_text(
        json.dumps({"name": cases()[0].name, "kind": "constant", "digits": 30, "most": 9, "methods": methods})
    )


def test_answers_are_kept_and_found_again(tmp_path, monkeypatch):
    asked = []

    def ask(case, digits, most):
        asked.append((case.name, digits))
        return {"laplace": {"values": ["1.0"] * 4, "errors": [1e-30] * 4, "seconds": 0.1}}

    monkeypatch.setattr(evidence, "ask", ask)
    for _ in range(2):
        evidence.gather(cases()[:2], [30], tmp_path, 9.0)
    assert asked == [(case.name, 30) for case in cases()[:2]]
    evidence.gather(cases()[:1], [30], tmp_path, 10.0)  # more time than before: asked again
    assert len(asked) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000-30.json", "001-30.json"]
    assert "one method only: 2" in evidence.report(cases()[:2], 30, tmp_path)


def test_what_takes_too_long_is_said_and_does_not_stop_the_run(monkeypatch):
    def endless(case, digits):
        while True:
            mpmath.mpf(1) / 3

    monkeypatch.setattr(evidence.outside, "matrix_exponentials", endless)
    monkeypatch.setattr(evidence, "SOLVERS", ("constant",))
    said = evidence.ask(cases()[0], 20, 1.0)
    assert "out of time" in said["matrix exponentials"]["nothing"]
    assert said["constant"]["values"]


def test_lies_and_disagreements_are_reported(tmp_path):
    path = tmp_path / "000-30.json"
    good = {"values": ["1.0"] * 4, "errors": [1e-31] * 4, "seconds": 1.0}
    _answers(path, constant=good, laplace=good)
    assert "lies: 0" in evidence.report(cases()[:1], 30, tmp_path)
    off = {**good, "values": ["1.0", "1.0", "1.0", "1.000000000000000000000000001"]}
    _answers(path, constant=good, laplace=off)
    told = evidence.report(cases()[:1], 30, tmp_path)
    assert "worst disagreement 1.00e-27" in told and "lies: 2" in told
    _answers(path, constant=good, laplace={"nothing": "out of time after 9 s", "seconds": 9.0})
    told = evidence.report(cases()[:1], 30, tmp_path)
    assert "one method only: 1" in told and "nothing said: 1" in told
