"""Whether the theorem of a proof is what a claim says, under hypotheses that the claim has."""

from __future__ import annotations

from collections.abc import Sequence

from fsl_num.claims.claim import Claim
from fsl_num.claims.formula_laws import parts_of
from fsl_sym.proof import AllOf, Derivation, Formula, Hypothesis, ProofError, together


def unproved(claim: Claim, proof: Sequence[Derivation] | None = None) -> str:
    """Why a proof does not prove a claim; "" where the theorem is the formula, under hypotheses that the claim has.

    ``proof`` are derivations, those of the claim by default.

    >>> from fsl_num.claims.registry import claim
    >>> unproved(claim("lemma: N-exp-decay"))
    ''
    >>> unproved(claim("lemma: N-exp-decay"), claim("ass:source").derivations())
    'the proof ends in another formula'
    """
    steps = claim.derivations() if proof is None else tuple(proof)
    if not isinstance(claim.formula, Formula | AllOf):
        return "the claim has no symbolic formula"
    if not steps:
        return "no proof by machine"
    try:
        theorem = together(*steps)
    except ProofError as error:
        return str(error)
    if theorem.conclusion != claim.formula:
        return "the proof ends in another formula"
    if any(part.is_true_by_notation for part in parts_of(claim.formula)):
        return "the formula says nothing: both of its sides are written the same way"
    lacking = sorted(str(hypothesis) for hypothesis in theorem.hypotheses if not follows(hypothesis, claim.given))
    return f"the proof assumes what the claim does not: {', '.join(lacking)}" if lacking else ""


def follows(hypothesis: Hypothesis, hypotheses: frozenset[Hypothesis]) -> bool:
    """Whether a hypothesis is among those given, or a weaker bound of the same letter by a number."""
    if hypothesis in hypotheses:
        return True
    if not isinstance(hypothesis, Formula) or hypothesis.relation not in ("<", "<=") or not hypothesis.left.is_number:
        return False
    return any(
        isinstance(known, Formula)
        and known.right == hypothesis.right
        and known.left.is_number
        and (
            (known.relation in ("<", "<=") and bool(known.left > hypothesis.left))
            or (known.relation == "<" and known.left == hypothesis.left)
        )
        for known in hypotheses
    )
