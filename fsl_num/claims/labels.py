"""The account of the paper: every statement and every numbered formula, and which claims verify it.

>>> from fsl_num.claims.label_table import PLACES
>>> next(place for place in PLACES if place.label == "cor: contraction").line
768
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fsl_num.claims.claim import Claim
from fsl_num.claims.label_table import PLACES, SECTIONS, Place, Section
from fsl_num.claims.records import Outcome, Verdict

_HEAD = 2
"""So many lines above the first one a place may begin, as the box around a theorem does."""


def in_reading_order(claim: Claim) -> tuple[int, bool]:
    """The sort key of a claim: its line in the paper; of one line, what is printed there before what is said of it.

    >>> from fsl_num.claims.registry import all_claims
    >>> min((claim for claim in all_claims() if claim.label == "thm: fsl-hard-regime"), key=in_reading_order).role
    'printed'
    """
    return claim.line, claim.role != "printed"


def section_of(line: int) -> Section:
    """The innermost section in which a line of the paper stands; ValueError for one before the abstract.

    >>> section_of(1022).number, section_of(3000).title
    ('5.3', 'Proofs for the constant schedule')
    """
    around = [section for section in SECTIONS if section.line <= line]
    if not around:
        raise ValueError(f"line {line} stands before the first section, which begins in line {SECTIONS[0].line}")
    return around[-1]


def covering_claims(place: Place, claims: Sequence[Claim], places: Sequence[Place]) -> tuple[str, ...]:
    """The ids of the claims that verify a place, in the order of the claims.

    These are the claims that bear its label or whose line is one of its own, those that it names, and, for a formula
    inside a statement, those that verify the statement.
    """
    around = [outer for outer in places if outer.line <= place.line and place.last <= outer.last]
    named = {name for outer in around for name in outer.also}
    labels = {outer.label for outer in around}
    return tuple(
        claim.id
        for claim in claims
        if claim.label in labels or place.line <= claim.line <= place.last or claim.id in named
    )


def where(label: str, line: int) -> str:
    """Where in the paper something stands: the kind of place, where the line is one of it, section and line.

    >>> where("thm: wsd", 1022), where("eqn: fsl", 558)
    ('theorem 3 of section 5, in section 5.3, line 1022', 'formula in section 4.2, line 558')
    """
    kinds = (place.kind for place in PLACES if place.label == label and place.line - _HEAD <= line <= place.last)
    kind, section = next(kinds, ""), section_of(line)
    if kind in STATEMENTS:
        outer, _, count = numbers()[label][0].partition(".")
        inner = "" if section.number == outer else f"in {section}, "
        return f"{kind} {count} of section {outer}, {inner}line {line}"
    return f"{kind} in {section}, line {line}" if kind else f"{section}, line {line}"


STATEMENTS = ("theorem", "lemma", "proposition", "corollary", "assumption", "definition")
"""Kinds of places that LaTeX numbers one after the other. Its remarks are not counted: they claim nothing."""


def numbers() -> dict[str, tuple[str, str]]:
    """Label of each statement -> its number if each kind is counted by itself in each section, and if all are together.

    How the paper counts stands in a style file that its source loads, and that is not part of it.

    >>> numbers()["thm: wsd"]
    ('5.3', '5.4')
    """
    counts: dict[tuple[str, str], int] = {}
    numbered = {}
    for place in PLACES:
        if place.kind in STATEMENTS:
            section = section_of(place.line).number.partition(".")[0]
            for kind in (place.kind, ""):
                counts[section, kind] = counts.get((section, kind), 0) + 1
            numbered[place.label] = (f"{section}.{counts[section, place.kind]}", f"{section}.{counts[section, '']}")
    return numbered


def statements_numbered(kind: str, number: str) -> tuple[Place | None, Place | None]:
    """The statement of that kind with that number, counted in each of the two ways of :func:`numbers`.

    >>> [place and place.label for place in statements_numbered("theorem", "5.3")]
    ['thm: wsd', 'thm:geometric']
    """
    known = numbers()
    of_kind = [place for place in PLACES if place.kind == kind]
    by_kind, together = (
        next((place for place in of_kind if known[place.label][way] == number), None) for way in (0, 1)
    )
    return by_kind, together


def place_at(line: int) -> Place:
    """The innermost place that holds a line of the paper's source, or else the nearest one.

    >>> place_at(739).label, place_at(230).label
    ('lem: half-scale', 'tab: optimal-scaling')
    """
    around = [place for place in PLACES if place.line <= line <= place.last]
    if around:
        return min(around, key=lambda place: place.last - place.line)
    return min(PLACES, key=lambda place: min(abs(place.line - line), abs(place.last - line)))


def orphans(claims: Sequence[Claim], places: Sequence[Place]) -> tuple[str, ...]:
    """The ids of the claims that verify no place of the account."""
    checked = {name for place in places for name in covering_claims(place, claims, places)}
    return tuple(claim.id for claim in claims if claim.id not in checked)


def open_places(claims: Sequence[Claim], places: Sequence[Place]) -> tuple[Place, ...]:
    """The places that no claim verifies and that have no excuse."""
    return tuple(place for place in places if not place.excuse and not covering_claims(place, claims, places))


NOT_CHECKABLE = "not checkable"
OPEN = "open"
"""Verdicts of places: nothing there can be checked; a claim about it was not verified or does not pass."""


def place_verdicts(claims: Sequence[Claim], outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    """Label of each place of the account -> the verdict on what is printed there.

    Of the printed claims that cover the place (where none is, of the arguments; else of all) the weakest verdict:
    REFUTED where one is, with a correction that passes; open where one does not pass or was not verified.

    >>> from fsl_num.claims.registry import all_claims
    >>> place_verdicts(all_claims(), {})["appendix_rkhs:1235"]
    'not checkable'
    """
    known = {claim.id: claim for claim in claims}
    order = (Verdict.REFUTED, Verdict.SUPPORTED, Verdict.ENCLOSED, Verdict.PROVED)
    verdicts = {}
    for place in PLACES:
        covering = [known[claim_id] for claim_id in covering_claims(place, claims, PLACES)]
        roles = ({"printed"}, {"argument"}, {claim.role for claim in covering})
        decisive = next((some for role in roles if (some := [claim for claim in covering if claim.role in role])), [])
        records = [outcomes.get(claim.id) for claim in decisive]
        if all(record is not None and record.passes for record in records) and records:
            verdicts[place.label] = str(min((record.verdict for record in records if record), key=order.index))
        else:
            verdicts[place.label] = NOT_CHECKABLE if place.excuse else OPEN
    return verdicts


def account_json(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """The account as JSON-ready values: label, line, kind, the claims that verify it, and why it is not checkable."""
    return [
        {
            "label": place.label,
            "line": place.line,
            "kind": place.kind,
            "claims": list(covering_claims(place, claims, PLACES)),
            "not_checkable": place.excuse or None,
        }
        for place in PLACES
    ]
