"""A hypothesis that is left out of a claim where it is written is noticed: the claim is refuted outside it.

By day at claims that are measured quickly; all of them, in some minutes, and which hypotheses nothing needs,

    HYPOTHESIS_PROFILE=nightly python -m pytest tests/paper/test_left_out.py
"""

from dataclasses import replace

import pytest
from hypothesis import settings

from fsl_num.claims.outside import contradiction, elsewhere
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import all_claims, claim
from fsl_num.claims.texts import relations_of
from fsl_num.claims.verification import verify

NIGHT = settings.default is settings.get_profile("nightly")
HELD = [subject.id for subject in all_claims() if subject.corrected_by is None]
SAMPLE = {
    # those of the fourth blind test
    "weight-decay/law": 3, "lemma:convolution-kernel/attained": 2, "multi-step/law": 3, "inverse-sqrt/law": 2,
    "lemma:ke-power/signal-window": 2, "critical-time": 2, "exp-decay/I2-early": 1, "thm:chinchilla": 1,
}  # fmt: skip
"""Claims tried by day, and how many of their hypotheses are needed."""


def without(subject, relation):
    """The claim without a relation; of a text that holds several the others stay."""
    kept = []
    for hypothesis in subject.hypotheses:
        every = relations_of(hypothesis)
        kept += [part for part in every if str(part) != relation] if relation in map(str, every) else [hypothesis]
    return replace(subject, hypotheses=tuple(kept) or ("s > 0",))


def left_out(subject):
    """The hypotheses without which a claim fails in one of its regimes."""
    failing = [place for place in elsewhere(subject) if place.regime and place.judged and not place.judged.holds]
    return {str(*place.broken) for place in failing if len(place.broken) == 1}


@pytest.mark.parametrize("claim_id", HELD if NIGHT else [
    pytest.param(claim_id, marks=pytest.mark.slow if needed > 2 or "convolution" in claim_id else ())
    for claim_id, needed in SAMPLE.items()
])  # fmt: skip
def test_a_hypothesis_that_is_left_out_is_noticed(claim_id):
    subject = claim(claim_id)
    needed = left_out(subject)
    assert len(needed) == SAMPLE.get(claim_id, len(needed))
    assert contradiction(subject) == ""
    for relation in needed:
        shorter = without(subject, relation)
        assert contradiction(shorter) != "", relation


@pytest.mark.parametrize(("claim_id", "relation"), [
    ("lemma:ke-power/kernel-window", "1 <= t"), ("lemma:convolution-kernel/attained", "1 <= t"),
    ("approximation-error", "N >= 2 M"),
])  # fmt: skip
def test_what_is_measured_beyond_a_hypothesis_refutes_a_claim_without_it_at_once(claim_id, relation):
    subject = claim(claim_id)
    assert verify(subject).passes
    outcome = verify(replace(subject, hypotheses=tuple(kept for kept in subject.hypotheses if str(kept) != relation)))
    assert outcome.verdict is Verdict.REFUTED and "fails though its hypotheses hold" in outcome.message


def test_a_claim_without_it_is_refuted():
    outcome = verify(without(claim("weight-decay/law"), "s != 2"), "full")
    assert outcome.verdict is Verdict.REFUTED and "fails though its hypotheses hold" in outcome.message


@pytest.mark.parametrize(
    ("claim_id", "relation", "letter"),
    [("weight-decay/law", "M = oo", "M"), ("cor: contraction/sharp", "M = oo", "M"),
     ("sec: experiments/wsd-against-cosine", "sigma = 3", "sigma"), ("batch-switch/time-to-noise", "B = 1", "B"),
     ("data-quality/late-share", "sigma_0 = 0", "sigma_0")],
)  # fmt: skip
def test_a_value_that_is_left_out_is_noticed_without_measuring_elsewhere(claim_id, relation, letter):
    outcome = verify(without(claim(claim_id), relation))
    assert outcome.verdict is Verdict.UNKNOWN
    assert f"{letter} has the value" in outcome.message and "no hypothesis says so" in outcome.message


@pytest.mark.parametrize(
    ("claim_id", "range_of_s", "wider", "where"),
    [
        ("eq:numerical_const_term/order", "s <= 1 - 1/beta", "s <= 3", "s = 2, beta = 2"),
        pytest.param("thm:fsl-zero-noise/batch-term", "0 < s <= 2 - 1/beta", "0 < s <= 11/5 - 1/beta",
                     "s = 17/10, beta = 2", marks=pytest.mark.slow),
        pytest.param("lem:bias_upper_bound/corrected", "s < 1", "s < 11/10", "s = 1, beta = 2", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_range_of_s_wider_than_what_is_measured_is_noticed(claim_id, range_of_s, wider, where):
    """Checked on hard tasks and on the edge alone, or at points that are moved back into the right range."""
    subject = claim(claim_id)
    assert contradiction(subject) == ""
    hypotheses = tuple(wider if str(hypothesis) == range_of_s else hypothesis for hypothesis in subject.hypotheses)
    assert hypotheses != subject.hypotheses
    assert contradiction(replace(subject, hypotheses=hypotheses)).startswith(where)
