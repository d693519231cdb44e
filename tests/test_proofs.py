"""A proof proves its own claim: offered to another, it is turned away unless both state the same formula."""

from __future__ import annotations

import os
from itertools import islice
from random import Random

from conftest import chosen_profile
from proved_claims import PROVED

from fsl_num.claims.proofs import unproved
from fsl_num.claims.registry import all_claims, file_of
from fsl_sym.proof import AllOf, Formula

ALL = chosen_profile(dict(os.environ)) == "nightly"


def test_a_proof_is_accepted_for_its_own_formula_alone() -> None:
    # by day without the formulas of optimal allocations, each of which takes a second to derive
    claims = [claim for claim in all_claims() if ALL or not file_of(claim.id).startswith("fsl_num.paper.allocation")]
    stated = [claim for claim in claims if isinstance(claim.formula, Formula | AllOf)]
    derived = sorted((claim for claim in stated if claim.derive is not None), key=lambda claim: claim.id)
    drawn = derived if ALL else Random(3).sample(derived, 10)
    proofs = {claim.id: claim.derivations() for claim in drawn}
    own = [claim for claim in drawn if claim.id in PROVED]
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
    # the first three: the formulas of optimal allocations, which come later, take a second each to derive
    proved = (claim for claim in all_claims() if claim.id in PROVED)
    several = list(islice((claim for claim in proved if isinstance(claim.formula, AllOf)), 3))
    assert len(several) == 3
    for claim in several:
        proof = claim.derivations()
        assert len(proof) > 1
        for wrong in (proof[1:], proof[:-1], proof[::-1], (*proof, proof[0])):
            assert unproved(claim, wrong) == "the proof ends in another formula"
    assert unproved(several[0], ()) == "no proof by machine"
