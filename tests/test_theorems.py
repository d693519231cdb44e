"""Every claim of the registry is heard; there is one body for all of them."""

import json

import pytest

from fsl_num.theorems import court
from fsl_num.theorems.errata import errata
from fsl_num.theorems.records import Verdict
from fsl_num.theorems.registry import claim, claims
from fsl_sym.domain import REGIMES

IDS = [each.id for each in claims()]
# Without spaces, so that `pytest -k thm:wsd` runs one claim.
PARAMETERS = [pytest.param(each, id="".join(each.split())) for each in IDS]


@pytest.fixture(scope="session")
def hearing_of():
    """Claim id -> its hearing, each claim heard once."""
    found = {}

    def hear(claim_id):
        if claim_id not in found:
            found[claim_id] = court.hear(claim(claim_id))
        return found[claim_id]

    return hear


@pytest.mark.parametrize("claim_id", PARAMETERS)
def test_a_claim_is_heard(claim_id, hearing_of):
    heard, subject = hearing_of(claim_id), claim(claim_id)
    if heard.verdict is Verdict.REFUTED and subject.corrected_by:
        assert hearing_of(subject.corrected_by).passes, hearing_of(subject.corrected_by).message
    else:
        assert heard.passes, f"{heard.verdict}: {heard.message}"
        assert all(regime.mutants for regime in heard.regimes)
        assert [m.name for regime in heard.regimes for m in regime.mutants if not m.refuted] == []
    assert [regime.regime for regime in heard.regimes] == [each.name for each in subject.regime_objects()]
    assert all(regime.samples >= 1 for regime in heard.regimes)
    assert [record.name for record in heard.derivations if not record.holds] == []
    assert json.loads(json.dumps(heard.to_json(), allow_nan=False))["claim_id"] == claim_id


@pytest.mark.parametrize("claim_id", PARAMETERS)
def test_a_claim_is_heard_where_its_hypotheses_hold(claim_id):
    subject = claim(claim_id)
    for regime in subject.regime_objects():
        for sample in court.samples_of(subject, regime, "full", 1):
            assert regime.contains(sample.s, sample.beta)
            assert sample.s > 0 and sample.beta > 1


@pytest.mark.parametrize("claim_id", PARAMETERS)
def test_a_correction_is_another_claim_that_needs_none(claim_id):
    corrected_by = claim(claim_id).corrected_by
    assert corrected_by is None or (corrected_by != claim_id and claim(corrected_by).corrected_by is None)


def test_no_id_stands_for_two_claims():
    assert len(set(IDS)) == len(IDS)
    assert len({"".join(each.split()) for each in IDS}) == len(IDS)


def test_every_regime_is_heard():
    assert {name for each in claims() for name in each.regimes} == {regime.name for regime in REGIMES}


def test_an_erratum_points_to_claims_and_gives_evidence():
    found = errata()
    assert len({each.id for each in found}) == len(found)
    for each in found:
        assert set(each.depends) <= set(IDS)
        assert each.evidence and each.as_printed != each.corrected
        json.dumps(each.to_json(), allow_nan=False)
