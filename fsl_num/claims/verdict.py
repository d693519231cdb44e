"""How verdicts are reached: from the evidence about a claim alone, then from the claims on which it rests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from fsl_num.claims.records import Outcome, Verdict
from fsl_num.claims.registry import claim as claim_of

STRENGTH = (Verdict.SUPPORTED, Verdict.ENCLOSED, Verdict.PROVED)
"""The verdicts that pass by themselves, weakest first."""


@dataclass(frozen=True)
class Evidence:
    """What the check of one claim has shown; each text is a sentence, "" where there is nothing to say.

    ``fault`` is what broke the check, ``nothing`` that it compared nothing; ``fails`` is where the measurement
    disagrees, ``broken`` a step of a derivation that does not verify, ``accepts`` the mutants that are not refuted;
    ``unreached`` is an end of a range that nothing measured comes near to, ``unvaried`` a letter with one value in all
    that is measured; ``contradicted`` is where the claim fails beside the points of its profile though its hypotheses
    hold. ``unproved`` is why no theorem is the formula of the claim, and ``rigorous`` whether proven enclosures decide.
    """

    fault: str = ""
    nothing: str = ""
    fails: str = ""
    broken: str = ""
    accepts: str = ""
    unreached: str = ""
    unvaried: str = ""
    contradicted: str = ""
    unproved: str = ""
    rigorous: bool = False


def verdict_of(evidence: Evidence) -> tuple[Verdict, str]:
    """The verdict that the evidence about one claim leaves, and the reason where it does not pass.

    Whatever speaks against the claim or its check decides before what speaks for it, in this order:

    >>> worst_first = ("fault", "nothing", "fails", "broken", "accepts", "unreached", "unvaried", "contradicted")
    >>> for name in worst_first:
    ...     print(f"{name:12} {verdict_of(Evidence(**{name: 'why'}, unproved='no proof by machine'))[0]}")
    fault        UNKNOWN
    nothing      VACUOUS
    fails        REFUTED
    broken       UNKNOWN
    accepts      VACUOUS
    unreached    UNKNOWN
    unvaried     UNKNOWN
    contradicted REFUTED

    What passes is as strong as what shows it; what is proved is proved for all values of its letters, so that one which
    does not vary is no objection:

    >>> for passing in (Evidence(), Evidence(unvaried="why"), Evidence(unproved="why", rigorous=True),
    ...                 Evidence(unproved="why")):
    ...     print(verdict_of(passing)[0])
    PROVED
    PROVED
    ENCLOSED
    SUPPORTED
    """
    against = (
        (Verdict.UNKNOWN, evidence.fault),
        (Verdict.VACUOUS, evidence.nothing),
        (Verdict.REFUTED, evidence.fails),
        (Verdict.UNKNOWN, evidence.broken),
        (Verdict.VACUOUS, evidence.accepts),
        (Verdict.UNKNOWN, evidence.unreached),
        (Verdict.UNKNOWN, evidence.unvaried if evidence.unproved else ""),
        (Verdict.REFUTED, evidence.contradicted),
    )
    for verdict, reason in against:
        if reason:
            return verdict, reason
    if not evidence.unproved:
        return Verdict.PROVED, ""
    return (Verdict.ENCLOSED if evidence.rigorous else Verdict.SUPPORTED), ""


def settle(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Each outcome with the verdict that the other ones leave it; what is not among them weakens nothing.

    A claim that is refuted passes when the claim that corrects it passes, and is replaced by it where others rest on
    it. Any other is at most as strong as the weakest claim on which it depends, and UNKNOWN where one of these does not
    pass.

    >>> from fsl_num.claims.runner import verify_all
    >>> [each.verdict.value for each in settle({each.claim_id: each for each in verify_all(["eqn: sgd"])}).values()]
    ['PROVED']
    """

    @cache
    def settled(claim_id: str) -> Outcome:
        outcome, claim = outcomes[claim_id], claim_of(claim_id)
        if outcome.verdict is Verdict.REFUTED and (right := claim.corrected_by or "") in outcomes:
            return replace(outcome, passes=settled(right).passes)
        for name in claim.depends if outcome.verdict in STRENGTH else ():
            if name not in outcomes:
                continue
            other = standing(name)
            if other.verdict not in STRENGTH:
                message = f"it depends on {name}, which is {other.verdict}"
                return replace(outcome, verdict=Verdict.UNKNOWN, passes=False, message=message)
            if STRENGTH.index(other.verdict) < STRENGTH.index(outcome.verdict):
                message = f"{outcome.verdict} under {other.claim_id}, on which it depends and which is {other.verdict}"
                outcome = replace(outcome, verdict=other.verdict, message=message)
        return outcome

    def standing(claim_id: str) -> Outcome:
        """The outcome of a claim; of one that is refuted that of the claim that corrects it, where there is one."""
        outcome, right = settled(claim_id), claim_of(claim_id).corrected_by or ""
        return standing(right) if outcome.verdict is Verdict.REFUTED and right in outcomes else outcome

    return {each: settled(each) for each in outcomes}
