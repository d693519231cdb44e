"""The account of the paper: every statement and every numbered formula, and which claims verify it.

>>> from fsl_num.claims.labels import account
>>> next(place for place in account() if place.label == "cor: contraction").line
768
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fsl_num.claims.claim import Claim
from fsl_num.claims.label_table import PLACES, SECTIONS, Place, Section


def section_of(line: int) -> Section:
    """The innermost section in which a line of the paper stands; ValueError for one before the abstract.

    >>> section_of(1022).number, section_of(3000).title
    ('5.3', 'Proofs for the constant schedule')
    """
    around = [section for section in SECTIONS if section.line <= line]
    if not around:
        raise ValueError(f"line {line} stands before the first section, which begins in line {SECTIONS[0].line}")
    return around[-1]


def account() -> tuple[Place, ...]:
    """Every place, in the order of the paper."""
    return PLACES


def covering_claims(place: Place, claims: Sequence[Claim], places: Sequence[Place]) -> tuple[str, ...]:
    """The ids of the claims that verify a place, in the order of the claims.

    These are the claims that bear its label or whose line is one of its own, those that it names, and, for a formula
    inside a statement, those that verify the statement.
    """
    around = [each for each in places if each.line <= place.line and place.last <= each.last]
    named = {name for each in around for name in each.also}
    labels = {each.label for each in around}
    return tuple(
        claim.id
        for claim in claims
        if claim.label in labels or place.line <= claim.line <= place.last or claim.id in named
    )


def place_at(line: int) -> Place:
    """The innermost place that holds a line of the paper's source, or else the nearest one.

    >>> place_at(739).label, place_at(230).label
    ('lem: half-scale', 'tab: optimal-scaling')
    """
    around = [each for each in account() if each.line <= line <= each.last]
    if around:
        return min(around, key=lambda each: each.last - each.line)
    return min(account(), key=lambda each: min(abs(each.line - line), abs(each.last - line)))


def orphans(claims: Sequence[Claim], places: Sequence[Place]) -> tuple[str, ...]:
    """The ids of the claims that verify no place of the account."""
    checked = {name for place in places for name in covering_claims(place, claims, places)}
    return tuple(claim.id for claim in claims if claim.id not in checked)


def open_places(claims: Sequence[Claim], places: Sequence[Place]) -> tuple[Place, ...]:
    """The places that no claim verifies and that have no excuse."""
    return tuple(place for place in places if not place.excuse and not covering_claims(place, claims, places))


def account_json(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """The account as JSON-ready values: label, line, kind, the claims that verify it, and why it is not checkable."""
    places = account()
    return [
        {
            "label": place.label,
            "line": place.line,
            "kind": place.kind,
            "claims": list(covering_claims(place, claims, places)),
            "not_checkable": place.excuse or None,
        }
        for place in places
    ]
