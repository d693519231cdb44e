"""Independent methods agree on the grid of problems, and none claims less than its true error.

By default a few problems of every kind are compared, with HYPOTHESIS_PROFILE=nightly the whole grid; as tables:
python tests/fsl_num/volterra_evidence.py
"""

import math
import os
import statistics
from dataclasses import replace

import numpy as np
import pytest
import volterra_evidence as evidence
from conftest import chosen_profile
from models import loss_of
from volterra_grid import EACH, KINDS, NOISES, SIZES, cases
from volterra_outside import relative

from fsl_num.model import Model
from fsl_num.volterra import Problem

WHOLE = chosen_profile(os.environ) == "nightly"

# The implicit integrator and the contour for large models take seconds a problem.
SLOW = {"Radau", "high_precision"}
CHEAP = {
    "constant": (0, 64, 112, 120),
    "exp-decay": (49, 89),
    "wsd": (34, 106),
    "power-decay": (67, 75),  # the second with 1e6 modes
    "cosine": (84,),
    "linear": (21,),
    "jumps": (14, 22),  # the first with infinitely many modes
    "discrete": (15, 111),
}
LARGEST = math.inf if WHOLE else 7  # of the models whose truth is computed with digits


def chosen(kind):
    return [case for number, case in enumerate(cases()) if case.kind == kind and (WHOLE or number in CHEAP[kind])]


def test_the_grid_is_as_wide_as_it_says():
    grid = cases()
    assert len({case.name for case in grid}) == len(grid) >= EACH * len(KINDS)
    problems = [case.problem for case in grid]
    assert {problem.model.size for problem in problems} == set(SIZES)
    assert {problem.model.noise for problem in problems} == set(NOISES)
    assert min(p.end for p in problems) <= 1.0 + 1e-9 and max(p.end for p in problems) >= 2.0**20 * (1 - 1e-9)
    assert all(0.04 < problem.stability < 0.91 for problem in problems)
    assert all(case.times[-1] == case.problem.end and len(case.times) >= 3 for case in grid)


@pytest.mark.parametrize("kind", KINDS)
def test_methods_agree_to_what_they_promise_and_none_lies_about_its_error(kind, record_property):
    names = [name for name in evidence.ways() if WHOLE or name not in SLOW]
    outcomes = [evidence.verify(case, names, LARGEST) for case in chosen(kind)]
    worst = max((*evidence.worst_pair(outcome), outcome.case.name) for outcome in outcomes)
    assert worst[0] <= evidence.GOAL, worst
    loose = [
        (max(outcome.differences(name)) / evidence.LOOSE[name], name, outcome.case.name)
        for outcome in outcomes
        for name in outcome.answers
        if name in evidence.LOOSE
    ]
    assert max(loose)[0] <= 1.0, max(loose)
    assert evidence.lies(outcomes) == []
    judged = [
        (outcome, name, answer)
        for outcome in outcomes
        for name, answer in outcome.answers.items()
        if outcome.digits >= evidence.TRUTH and answer.errors is not None
    ]
    ratios = [ratio for outcome, name, _ in judged for ratio in outcome.ratios(name)]
    assert len(ratios) >= 8
    record_property("worst disagreement", worst)
    record_property("true/claimed, median and maximum", (statistics.median(ratios), max(ratios)))
    # 2e-12: stability 0.9 multiplies the rounding of 2e-13 by ten
    assert all(answer.sharp(2e-12) for _, name, answer in judged if name in ("panels", "secular", "discrete"))


@pytest.mark.parametrize("digits", [30, 50] if WHOLE else [30])
def test_methods_with_digits_agree_to_two_digits_less(digits, record_property):
    worst, pairs = (0.0, "", ""), set()
    for number, case in enumerate(cases()):
        few = number in ((0, 49, 89, 120) if digits == 30 else (49, 120))  # one and two modes, constant and not
        if not few and not (WHOLE and case.problem.model.size <= 64):
            continue
        found = evidence.precise_answers(case, digits)
        first = next(iter(found), None)
        for name in found:
            if name != first:
                differences = [relative(x, y) for x, y in zip(found[name].values, found[first].values, strict=True)]
                worst = max(worst, (max(differences), f"{name} / {first}", case.name))
                pairs |= {name, first}
    record_property("worst disagreement", worst)
    assert worst[0] <= 10.0 ** (2 - digits), worst
    assert pairs >= {*evidence.OUTSIDE, *evidence.PRECISE}


def test_a_wrong_method_is_seen():
    case = next(case for case in cases() if case.kind == "constant" and case.problem.model.size <= 7)
    outcome = evidence.verify(case, ["panels", "LSODA"])
    assert evidence.worst_pair(outcome)[0] <= evidence.GOAL and not evidence.lies([outcome])
    outcome.answers["panels"].values[-1] *= 1 + 1e-10
    assert math.isclose(evidence.worst_pair(outcome)[0], 1e-10, rel_tol=0.01)
    assert "panels" in evidence.lies([outcome])[0]


def test_a_loss_that_hardly_stays_bounded_is_solved_honestly():
    peak = 2.0 * (1.0 - 1e-7) / sum(j**-2.0 for j in range(1, 8))
    problem = Problem(Model(s=0.5, beta=2.0, size=7, noise=1.0), gamma=peak, horizon=1e5)
    truth = loss_of(problem, [1.0, 1e5], method="constant", digits=30).values
    found = loss_of(problem, [1.0, 1e5], rtol=1e-13)
    assert all(abs(x - y) <= error for x, y, error in zip(found.values, truth, found.error, strict=True))


def hidden_jumps(t):
    """Twenty jumps between two values, none of them named to the solver."""
    return np.where((0.37 * np.asarray(t)) % 1.0 < 0.5, 0.5, 0.1)


def test_jumps_that_nobody_named_are_found():
    end = 27.0
    hidden = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=hidden_jumps, horizon=end)
    cuts = np.arange(0.5, 0.37 * end, 0.5) / 0.37
    truth, found = loss_of(replace(hidden, breaks=tuple(cuts.tolist())), end), loss_of(hidden, end)
    assert "misses" not in truth.message and "misses" not in found.message
    assert abs(found.values[0] - truth.values[0]) <= found.error[0] < 1e-12 * found.values[0]


@pytest.mark.parametrize("name", ["panels", "discrete"])
def test_no_method_lies_at_the_end_of_a_long_step(name):
    case = cases()[111]
    ends = np.cumsum(case.problem.gamma.rates)
    at = {*(float(t) for t in ends[[0, 8, 26]]), float(np.unique(ends)[int(0.9 * (np.unique(ends).size - 1))])}
    outcome = evidence.verify(replace(case, times=tuple(sorted({*at, case.problem.end}))), [name])
    assert evidence.lies([outcome]) == []
