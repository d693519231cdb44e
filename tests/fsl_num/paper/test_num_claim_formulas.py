"""The claims about the model, random features and loss curves are formulas; what those need that are proved."""

from dataclasses import replace

import pytest
from proved_claims import PROVED
from sympy import Symbol, log
from sympy.core.function import AppliedUndef

from fsl_num.claims import registry
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.proofs import unproved
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import theorem_files
from fsl_num.claims.verification import verify
from fsl_sym.proof import AllOf, Formula, order_at_most
from fsl_sym.symbols import D, s, t

SECTIONS = ("model", "random_features", "empirical_laws")
CLAIMS = {
    claim.id: claim for file, claims in theorem_files().items() if file.split(".")[-2] in SECTIONS for claim in claims
}
PROVED_HERE = sorted(PROVED.intersection(CLAIMS))


def test_every_claim_is_a_formula_that_says_something():
    for claim in CLAIMS.values():
        assert isinstance(claim.formula, Formula | AllOf), claim.id
        assert not any(part.is_true_by_notation for part in parts_of(claim.formula)), claim.id


@pytest.mark.parametrize("name", PROVED_HERE)
def test_no_hypothesis_of_a_proved_claim_is_idle(name):
    claim = CLAIMS[name]
    for hypothesis in (known for known in claim.hypotheses if isinstance(known, Formula) or "every" in str(known)):
        kept = tuple(known for known in claim.hypotheses if known != hypothesis)
        fewer = replace(claim, hypotheses=kept or ("s > 0",))
        needed = "assumes what the claim does not" in unproved(fewer)
        assert needed or is_definition(hypothesis), f"{name}: {hypothesis}"


def is_definition(hypothesis):
    """Whether it is an equation that says what a function is, d(j) = ..., whatever its letters."""
    left = getattr(hypothesis, "left", None)
    return (isinstance(left, AppliedUndef) and hypothesis.relation == "="
            and all(isinstance(letter, Symbol) for letter in left.args))  # fmt: skip


@pytest.mark.parametrize("name", PROVED_HERE)
def test_a_proof_of_one_claim_proves_no_other(name):
    claim_of_proof = CLAIMS[next(other_name for other_name in PROVED_HERE if other_name != name)]
    assert unproved(CLAIMS[name], claim_of_proof.derivations()) == "the proof ends in another formula"


def test_the_logarithm_of_a_sum_is_judged():
    subject = registry.claim("lemma:ke-power/signal-bound")
    smaller = replace(subject, stated=order_at_most(subject.formula.left, t**-s / log(3 + t)))
    outcome = verify(smaller)
    assert outcome.verdict is Verdict.REFUTED and "drift" in outcome.message


def test_a_letter_that_nothing_measured_names_is_named():
    subject = registry.claim("lemma:ke-power/signal-bound")
    other = replace(subject, stated=order_at_most(subject.formula.left, t**-s / log(3 + D)))
    outcome = verify(other)
    assert (
        outcome.verdict is Verdict.UNKNOWN and "the formula holds D, and along what is measured only" in outcome.message
    )
