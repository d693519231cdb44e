"""Claims about allocations: how ends, points and ranges become statements that can fail."""

import numpy as np
import pytest
from sympy import Rational

from fsl_num.claims.claim import Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.registry import theorem_files
from fsl_num.claims.statements import Ray
from fsl_num.paper.allocation.forms import End, Vanishes, at_least, point, printed_claim, statement_of
from fsl_sym.allocation import optimal_allocation

SCALE = np.array([1e4, 5e4, 2.5e5, 1e6])

CLAIMS = [claim for file, claims in theorem_files().items() if ".allocation." in file for claim in claims]


def ray(power, log_power):
    return (Ray("made", SCALE, {"N": SCALE}, power * SCALE + log_power * np.log(SCALE)),)


def test_an_end_must_be_there_or_not_as_claimed():
    assert End(None).judge(None).holds
    assert not End(None).judge(ray(1, 0)).holds
    assert not End(growth(1.0, 0.0)).judge(None).holds
    assert End(growth(0.5, -1.0)).judge(ray(0.5, -1)).holds
    assert all(not mutant.judge(None).holds for mutant in End(None).mutants().values())
    assert all(not mutant.judge(ray(0.5, -1)).holds for mutant in End(growth(0.5, -1.0)).mutants().values())


def test_a_range_is_checked_at_both_ends():
    statement = statement_of({"excess_risk": point(-1), "model_size": at_least(Rational(1, 2))}, "data")
    measured = {"excess_risk": ray(-1, 0), "model_size lower": ray(0.5, 0), "model_size upper": None}
    assert statement.judge(measured).holds
    assert not statement.judge({**measured, "model_size upper": ray(1, 0)}).holds
    assert not statement.judge({**measured, "model_size lower": ray(0.5, 0.25)}).holds
    assert all(not mutant.judge(measured).holds for mutant in statement.mutants().values())


def test_a_ratio_must_vanish_to_be_better():
    assert Vanishes(growth(0.0, -0.5)).judge(ray(0, -0.5)).holds
    assert not Vanishes(growth(0.0, 0.5)).judge(ray(0, 0.5)).holds
    assert not Vanishes(growth(0.0, 0.0)).judge(ray(0, 0)).holds
    assert all(not mutant.judge(ray(0, -0.5)).holds for mutant in Vanishes(growth(0.0, -0.5)).mutants().values())


def test_the_other_regimes_formula_is_a_mutant_only_where_it_differs():
    claim = printed_claim(
        "made", "made", 1, "made", ("constant", "data"), lambda s, b: {"excess_risk": point(-s)},
        lambda s, b: {"excess_risk": point(1 / b - 1)}, role="own",
    )  # fmt: skip
    assert claim.mutants(Sample("easy", Rational(1), Rational(2)))
    assert not claim.mutants(Sample("edge", Rational(1, 2), Rational(2)))


DERIVED = [claim for claim in CLAIMS if claim.id.endswith(("/data-derived", "/compute-derived"))]


@pytest.mark.parametrize("claim", DERIVED, ids=lambda claim: claim.id)
def test_derived_claims_say_what_the_allocation_says(claim):
    schedule, budget = claim.measure.args[:2]
    for regime, s, beta in (
        ("easy", Rational(1), Rational(2)),
        ("edge", Rational(1, 2), Rational(2)),
        ("hard", Rational(1, 2), Rational(4)),
    ):
        statement = claim.statement(Sample(regime, s, beta))
        risk = optimal_allocation(schedule, budget).at(s, beta).excess_risk
        assert statement.parts["excess_risk"].exponents == {
            "power": float(risk.power),
            "log power": float(risk.log_power),
        }


def test_every_refutable_claim_names_its_correction():
    by_id = {claim.id: claim for claim in CLAIMS}
    for claim in by_id.values():
        if claim.corrected_by:
            assert by_id[claim.corrected_by].corrected_by is None
