"""The derivations of the six allocations hold, and what is wrong in them is refused."""

from dataclasses import replace

import pytest
from sympy import Rational

from fsl_sym.allocation import optimal_allocation
from fsl_sym.allocation_derivation import Between, i1_bound, proves
from fsl_sym.domain import EASY, HARD, REGIMES
from fsl_sym.integrals.exponential_decay import i2_bound, i2_sum
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.symbols import M, T, beta, s

PROBLEMS = [(schedule, budget) for schedule in SCHEDULES for budget in BUDGETS]


@pytest.mark.parametrize(("schedule", "budget"), PROBLEMS)
def test_every_step_is_verified(schedule: str, budget: str) -> None:
    derivation = optimal_allocation(schedule, budget).derivation
    verdict = derivation.verify()
    assert verdict.holds, verdict.detail
    assert [step.rule for step in derivation].count("optimum") == len(REGIMES)


@pytest.mark.parametrize(("schedule", "budget"), PROBLEMS)
def test_a_wrong_optimum_is_refused(schedule: str, budget: str) -> None:
    for step in optimal_allocation(schedule, budget).derivation:
        if step.rule == "optimum":
            budget_symbol = step.justification.budget
            assert not replace(step, after=step.after * budget_symbol ** Rational(1, 20)).verify().holds


def test_a_certificate_is_not_proved_in_the_other_regime() -> None:
    regions = optimal_allocation("wsd", "compute").solution.regions
    hard = next(region for region in regions if region.contains({s: "1/2", beta: 4}))
    easy = next(region for region in regions if region.contains({s: 1, beta: 2}))
    assert proves(hard.certificate, HARD) and not proves(hard.certificate, EASY)
    assert any(proves(each, EASY) for each in easy.certificates)
    assert not any(proves(each, HARD) for each in easy.certificates)


def test_a_tampered_certificate_is_not_proved() -> None:
    (region,) = optimal_allocation("constant", "compute").solution.regions
    certificate = region.certificate
    lower = (certificate.value[0], certificate.value[1] + Rational(1, 100), certificate.value[2])
    assert not proves(replace(certificate, value=lower), EASY)
    moved = (lower, *certificate.point[1:])
    assert not proves(replace(certificate, value=lower, point=moved), EASY)


def test_an_order_without_its_bound_is_refused() -> None:
    assert Between(i2_bound()).check(i2_sum(), M / T).holds is False
    assert Between(i1_bound()).check(i2_sum(), M / T).holds is False
