"""Every claim holds, and rejects its wrong versions, at points (s, beta) that hypothesis draws from its hypotheses.

Claims that the paper has wrong are not drawn: those that correct them are. By day each claim is tried at a few points;
HYPOTHESIS_PROFILE=nightly tries many.
"""

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from paper_strategies import points, seeds

from fsl_num.theorems.hearing import hear_at
from fsl_num.theorems.registry import claims

SLOW = frozenset()
"""Claims whose measurement at one point takes half a second or more: tried at fewer points."""

HELD = [each for each in claims() if each.corrected_by is None]


def parameters_of(found):
    return [pytest.param(each, id="".join(each.id.split())) for each in found]


def check(claim, data):
    (s, beta), seed = data.draw(points(claim), "(s, beta)"), data.draw(seeds, "seed")
    again = f"to see it again: fsl verify '{claim.id}' --at {s},{beta} --seed {seed}"
    heard = hear_at(claim, s, beta, seed=seed)
    assert heard.holds, f"the claim fails, {heard.detail}; {again}"
    assert heard.mutants, f"nothing wrong was tried; {again}"
    accepted = [mutant.name for mutant in heard.mutants if not (mutant.refuted or mutant.excuse)]
    assert not accepted, f"wrong versions pass: {accepted}; {again}"


@pytest.mark.parametrize("claim", parameters_of(each for each in HELD if each.id not in SLOW))
@examples(3)
@given(data=st.data())
def test_a_claim_holds_where_its_hypotheses_do(claim, data):
    check(claim, data)


@pytest.mark.parametrize("claim", parameters_of(each for each in HELD if each.id in SLOW))
@examples(1)
@given(data=st.data())
def test_a_claim_that_is_slow_to_measure_holds_where_its_hypotheses_do(claim, data):
    check(claim, data)
