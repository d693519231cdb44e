"""The claims about the model, random features and loss curves are formulas; which are proved, and under what."""

from dataclasses import replace

import pytest

from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.proofs import unproved
from fsl_num.claims.registry import theorem_files
from fsl_sym.proof import AllOf, Formula

SECTIONS = ("model", "random_features", "empirical_laws")
CLAIMS = {
    claim.id: claim for file, claims in theorem_files().items() if file.split(".")[-2] in SECTIONS for claim in claims
}
LOSS_CURVES = "sub:empirical_fitting_of_llm_pre_training_loss_trajectory"
PROVED = {
    "ass:diagonal", "eqn: pop-risk", "eqn: pop-risk-top-M", "eqn: sgd", "lemma: noise-covariance/formula",
    "sec: proof_sketch/single-noise", "eqn: sde", "eq:sde_raw", "eq:sde_u", "eqn: sde-instrinc",
    "sub:the_sde_modeling/grid-corrected", "sec: proof_sketch/coordinate", "ass:source", "appendix_rkhs/kernel",
    "assump:source-kernel", "lem:T_estimate/first-columns", "sub:the_kernel_teacher_student_setup/physical-time",
    "eq:numerical_const_term/corrected", "eq:numerical_LRD_form/corrected", "appendix:llm_pre-training/parts",
    "appendix:llm_pre-training/discretisation-exact", "appendix:llm_pre-training/kernel-integral/corrected",
    f"{LOSS_CURVES}/momentum-drops", f"{LOSS_CURVES}/multi-power/corrected", "feature-phases/Ia", "feature-phases/III",
    "sec: effect-lrs/smallest-peak-rate-and-capacity",
}  # fmt: skip


def test_every_claim_is_a_formula_that_says_something():
    for claim in CLAIMS.values():
        assert isinstance(claim.formula, Formula | AllOf), claim.id
        assert not any(part.is_true_by_notation for part in parts_of(claim.formula)), claim.id


def test_the_proved_claims_are_these():
    assert {name for name, claim in CLAIMS.items() if not unproved(claim)} == PROVED


@pytest.mark.parametrize("name", sorted(PROVED))
def test_no_hypothesis_of_a_proved_claim_is_idle(name):
    claim = CLAIMS[name]
    for hypothesis in (each for each in claim.hypotheses if isinstance(each, Formula) or "every" in str(each)):
        fewer = replace(claim, hypotheses=tuple(each for each in claim.hypotheses if each != hypothesis) or ("none",))
        assert "assumes what the claim does not" in unproved(fewer), f"{name}: {hypothesis}"


@pytest.mark.parametrize("name", sorted(PROVED))
def test_a_proof_of_one_claim_proves_no_other(name):
    other = CLAIMS[min(PROVED - {name})]
    assert unproved(CLAIMS[name], other.derivations()) == "the proof ends in another formula"
