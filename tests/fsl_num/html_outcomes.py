"""A small runner for the page: claims and records of every verdict, with texts that try to break out."""

import math

from fsl_num.claims.claim import Claim
from fsl_num.claims.records import (
    Curve,
    DerivationRecord,
    Erratum,
    MutantOutcome,
    Outcome,
    PointOutcome,
    RegimeOutcome,
    Verdict,
)
from fsl_num.claims.words import Assumed

ROLES = ("printed", "corrected", "argument", "stronger", "own")
WILD = """<script>alert("1")</script> & 'x' <b> ]]> -->"""

WIDE = f"$({' + '.join(f'x_{{{number}}}' for number in range(30))})$"
"""A formula that no line of it may end in."""


def claim(number, **changes):
    """The claim of that number; every fifth is stronger than the first."""
    role = ROLES[number % 5]
    fields = {
        "id": f"thm: claim/{number}", "label": "thm: claim", "line": 100 + number,
        "title": f"the claim number {number}",
        "stated": r"e_M(t) \asymp t^{-(2-1/\beta)}",
        "hypotheses": ("s > 0", "beta > 1"), "measure": regime, "statement": len, "mutants": dict, "role": role,
        "quoted": "words of the paper",
        "strengthens": "thm: claim/0" if role == "stronger" else None,
    }  # fmt: skip
    return Claim(**(fields | changes))


def regime(name, number=0, holds=True, curves=True):
    drawn = (
        Curve("t to infinity", (0.0, 50.0, 100.0), (0.1 + number, 0.2, 0.2)),
        Curve("upper: D", (1.0, 2.0, 9.0), (0.0, -1.0, -1e5)),
    )
    points = tuple(
        PointOutcome(s, beta, holds, pair, 0.001, "drift 1e-03 on t", drawn if curves and at == 0 else ())
        for at, (s, beta, pair) in enumerate(
            [("1/2", "4", (0.5, 2.0)), ("29/60", "35/6", (1e-12, 3.0)), ("2", "3", None), ("1/4", "4/3", (-1e-16, 1.0))]
        )
    )
    mutants = (MutantOutcome("power + 0.05", True), MutantOutcome("log power - 0.25", holds, "drift 0.001"))
    return RegimeOutcome(name, 4, holds, (0.5, math.inf), 0.001, mutants, {"power": 0.01}, "s = 1/2, beta = 4", points)


def record(claim_id, verdict=Verdict.SUPPORTED, passes=True, **changes):
    fields = {
        "regimes": tuple(regime(name, at, passes) for at, name in enumerate(("easy", "edge", "hard"))),
        "derivations": (DerivationRecord("forgetting kernel", 5, 5),), "seconds": 1.5, "message": "it was measured",
    }  # fmt: skip
    return Outcome(claim_id=claim_id, title="t", verdict=verdict, passes=passes, **(fields | changes))


def erratum(number, **changes):
    fields = {
        "id": f"erratum-{number}", "label": "thm: claim", "line": 110 + number, "kind": "typo", "as_printed": "D^-1",
        "wrong": "the power is another", "corrected": "D^-2",
        "evidence": "see thm: claim/1 and erratum-0", "depends": ("thm: claim/1",),
    }  # fmt: skip
    return Erratum(**(fields | changes))


def runner(size=12):
    """Claims, records and errata: every verdict, wild texts, a claim with nothing to show, one without a formula."""
    claims = [claim(number, depends=(f"thm: claim/{number - 1}",) if number % 3 == 2 else ()) for number in range(size)]
    verdicts = list(Verdict)
    records = [
        record(claim.id, verdicts[at % len(verdicts)], verdicts[at % len(verdicts)].passes)
        for at, claim in enumerate(claims)
    ]
    claims[9] = claim(9, title="what thm: claim/1 leaves", corrected_by="thm: claim/1")
    long = "a title of many words that goes on and on " * 8
    claims[4] = claim(
        4,
        title="""alert("1") & 'x' ]]""",
        hypotheses=(Assumed(WILD, WILD),),
        probability=WILD,
        stated=WILD,
        role="own",
        strengthens=None,
    )
    claims[5] = claim(5, title=long, stated=r"\nosuchcommand{x}", role="printed", corrected_by="thm: claim/6")
    wide = f"$({' + '.join(f'x_{{{at}}}' for at in range(40))})$"  # one that no line break divides
    claims[6] = claim(
        6, role="corrected", quoted=wide, stated=r"\text{" + "very long words without any break " * 9 + "}"
    )
    claims[7] = claim(7, id="thm: a_name_without_any_space/" + "and_more_of_it_" * 6, role="own")
    records[7] = record(claims[7].id, Verdict.SUPPORTED)
    records[4] = record(claims[4].id, Verdict.UNKNOWN, False, regimes=(), derivations=(), message=WILD)
    records[5] = record(claims[5].id, Verdict.REFUTED, True, corrected_by="thm: claim/6")
    errata = [
        erratum(0, corrected=WIDE),
        erratum(1, as_printed=WILD, evidence=WILD * 3, kind="gap in the argument", depends=()),
    ]
    return claims, records, errata
