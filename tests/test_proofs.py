"""A proof proves its own claim: offered to another, it is turned away unless both state the same formula."""

from __future__ import annotations

import os
from itertools import islice
from random import Random

from conftest import chosen_profile

from fsl_num.claims.proofs import unproved
from fsl_num.claims.registry import all_claims, file_of
from fsl_sym.proof import AllOf, Formula

ALL = chosen_profile(dict(os.environ)) == "nightly"


def test_a_proof_is_accepted_for_its_own_formula_alone() -> None:
    # by day without the formulas of optimal allocations, each of which takes a second to derive
    claims = [each for each in all_claims() if ALL or not file_of(each.id).startswith("fsl_num.paper.allocation")]
    stated = [claim for claim in claims if isinstance(claim.formula, Formula | AllOf)]
    derived = sorted((claim for claim in stated if claim.derive is not None), key=lambda claim: claim.id)
    drawn = derived if ALL else Random(3).sample(derived, 10)
    proofs = {claim.id: claim.derivations() for claim in drawn}
    own = [claim for claim in drawn if not unproved(claim, proofs[claim.id])]
    assert own
    for mine in own:
        for claim in stated:
            verdict = unproved(claim, proofs[mine.id])
            if claim.formula != mine.formula:
                assert verdict == "the proof ends in another formula", (mine.id, claim.id)
            elif claim.id == mine.id:
                assert verdict == ""
            else:
                assert verdict == "" or "assumes what the claim does not" in verdict


def test_part_of_a_proof_and_a_proof_and_more_are_not_the_proof() -> None:
    candidates = (claim for claim in all_claims() if isinstance(claim.formula, AllOf) and claim.derive is not None)
    several = list(islice((claim for claim in candidates if not unproved(claim)), 3))
    assert len(several) == 3
    for claim in several:
        proof = claim.derivations()
        assert len(proof) > 1
        for wrong in (proof[1:], proof[:-1], proof[::-1], (*proof, proof[0])):
            assert unproved(claim, wrong) == "the proof ends in another formula"
    assert unproved(several[0], ()) == "no proof by machine"


PARTS = frozenset(
    """
sec:intro/capacity-never-worse
sec: effect-lrs/constant-rate-capacity
sec: effect-lrs/easy-no-gain
sec: effect-lrs/hard-gain
ass:capacity
assump:capacity-kernel
eqn: sgd2
eqn: 123
appendix_rkhs/nesting
eq:risk-recursion
pro:evolution-pro/corrected
lemma:ke-power/signal-window
lemma:ke-power/kernel-window
lemma:ke-power/signal-bound
lemma:ke-power/kernel-bound
approximation-error
lemma:em-gap
lem: wsd-stable-noise
thm: fsl-general-noise/all-times
best-constants
best-constants/limits
ass:fsl/threshold
ineq: inf_sum
cor: contraction/longer
thm: fsl-random/signs
lem:trace_analysis_appendix
lem:spd_matrix_trace
lem:bias_upper_bound/first-term
lm:matrix_analysis
vanishing-end/fast
thm:chinchilla
thm:geometric
thm: wsd
optimal-schedule/decay
optimal-schedule/shape
exp-decay/I1
eqn: fsl-ansatz/nearly-multi-power
eqn: FSL-optimization/closed-form
""".split("\n")[1:-1]
)
"""Claims whose derivations prove steps or parts of what they state; those of all others prove the whole formula."""


def test_what_is_proved_stays_proved() -> None:
    derived = [each for each in all_claims() if each.derive is not None]
    chosen = [each for each in derived if ALL or not file_of(each.id).startswith("fsl_num.paper.allocation")]
    assert {each.id for each in chosen if unproved(each)} == PARTS & {each.id for each in chosen}
