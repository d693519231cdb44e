"""How the verdict of a claim follows from the evidence about it; :func:`fsl_num.claims.runner.settle` goes on from
there to the claims on which it rests."""

from __future__ import annotations

from dataclasses import dataclass

from fsl_num.claims.records import Verdict

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
    unproved: str = "no proof by machine"
    rigorous: bool = False


def verdict_of(evidence: Evidence) -> tuple[Verdict, str]:
    """The verdict that the evidence about one claim leaves, and the reason where it does not pass.

    Whatever counts against the claim or its check decides before what counts for it, in this order:

    >>> worst_first = ("fault", "nothing", "fails", "broken", "accepts", "unreached", "unvaried", "contradicted")
    >>> for name in worst_first:
    ...     print(f"{name:12} {verdict_of(Evidence(**{name: 'why'}))[0]}")
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

    >>> proved = Evidence(unproved=""), Evidence(unproved="", unvaried="why")
    >>> for passing in (*proved, Evidence(rigorous=True), Evidence()):
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
