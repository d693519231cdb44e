"""Independent methods agree on the grid of problems.

By default the cheap part of the grid is compared, with HYPOTHESIS_PROFILE=nightly the whole; as tables:
python tests/fsl_num/volterra_evidence.py
"""

import math
import os

import pytest
import volterra_evidence as evidence
from conftest import chosen_profile
from volterra_grid import EACH, KINDS, NOISES, SIZES, cases
from volterra_outside import relative

WHOLE = chosen_profile(os.environ) == "nightly"

# The implicit integrator and the contour for large models take seconds a problem.
SLOW = {"Radau", "high_precision"}
LARGE = (14, 75)  # M infinite and 1e6


def cheap(number, case):
    """Few modes, or one of those large models that take the integral equation a second or two."""
    few = case.problem.model.size <= 7 and case.problem.end < 1e5
    place = number // len(KINDS)
    some = place % 2 == 0 if case.kind == "constant" else place % 3 == (1 if case.kind in ("discrete", "wsd") else 0)
    return WHOLE or (few and some) or number in LARGE


def chosen(kind):
    return [case for number, case in enumerate(cases()) if case.kind == kind and cheap(number, case)]


def test_the_grid_is_as_wide_as_it_says():
    grid = cases()
    assert len(grid) >= 100
    assert len({case.name for case in grid}) == len(grid)
    problems = [case.problem for case in grid]
    for kind in KINDS:
        assert sum(case.kind == kind for case in grid) >= EACH
    assert {problem.model.size for problem in problems} == set(SIZES)
    assert {problem.model.noise for problem in problems} == set(NOISES)
    assert min(p.model.s for p in problems) == 0.05 and max(p.model.s for p in problems) == 3.0
    assert 1.05 < min(p.model.beta for p in problems) < 1.06 and max(p.model.beta for p in problems) == 6.0
    assert min(p.end for p in problems) <= 1.0 + 1e-9 and max(p.end for p in problems) >= 2.0**20 * (1 - 1e-9)
    assert all(0.04 < problem.stability < 0.91 for problem in problems)
    assert all(case.times[-1] == case.problem.end and len(case.times) >= 3 for case in grid)


@pytest.mark.parametrize("kind", KINDS)
def test_sharp_methods_agree_to_12_digits(kind, record_property):
    names = [name for name in evidence.ways() if WHOLE or name not in SLOW]
    worst, loose, checked = (0.0, "", ""), [], 0
    for case in chosen(kind):
        outcome = evidence.verify(case, names, math.inf if WHOLE else 0)
        assert outcome.answers, case.name
        checked += len(outcome.answers)
        worst = max(worst, (*evidence.worst_pair(outcome), case.name))
        loose += [
            (max(outcome.differences(name)) / evidence.LOOSE[name], name, case.name)
            for name in outcome.answers
            if name in evidence.LOOSE
        ]
    record_property("worst disagreement", worst)
    assert checked >= 2
    assert worst[0] <= evidence.GOAL, worst
    # those that promise less keep what they promise
    assert max(loose)[0] <= 1.0, max(loose)


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


@pytest.mark.parametrize("name", sorted({*evidence.ways(), "voles"} - {"Radau"}))
def test_every_method_is_checked(name):
    if name == "voles":
        pytest.importorskip("voles")
    ways = evidence.ways()
    promise = evidence.LOOSE.get(name, evidence.GOAL)
    for case in sorted(cases(), key=lambda case: case.problem.end):
        if case.problem.model.size > 100 and name != "integral equation":
            continue
        answer = ways[name](case)
        if answer is not None:
            other = "DOP853" if name == "LSODA" else "LSODA"
            rival = ways["panels"](case) if name != "panels" else ways[other](case)
            allowed = promise + (evidence.LOOSE[other] if name == "panels" else evidence.GOAL)
            assert max(relative(x, y) for x, y in zip(answer.values, rival.values, strict=True)) <= allowed
            return
    pytest.fail(f"no problem of the grid is for {name}")


def test_a_wrong_method_is_seen():
    case = next(case for case in cases() if case.kind == "constant" and case.problem.model.size <= 7)
    outcome = evidence.verify(case, ["panels", "LSODA"])
    assert evidence.worst_pair(outcome)[0] <= evidence.GOAL and not evidence.lies([outcome])
    outcome.answers["panels"].values[-1] *= 1 + 1e-10
    assert math.isclose(evidence.worst_pair(outcome)[0], 1e-10, rel_tol=0.01)
    assert "panels" in evidence.lies([outcome])[0]
