"""The signs of the verdicts: a mark, a word and what it means, so that colour is never the only sign."""

from __future__ import annotations

from dataclasses import dataclass

from fsl_num.report.html.elements import Html, element
from fsl_num.theorems.records import Hearing, Verdict


@dataclass(frozen=True)
class Sign:
    """How a verdict is shown: its mark, and what it means in a sentence."""

    mark: str
    meaning: str


SIGNS = {
    Verdict.PROVED: Sign("■", "an exact identity: every step of its derivation is verified by machine"),
    Verdict.ENCLOSED: Sign("⊂", "shown by rigorous intervals that enclose the true value"),
    Verdict.SUPPORTED: Sign(
        "✓", "measured by an independent route; the same check refuses every wrong version of the claim put to it"
    ),
    Verdict.REFUTED: Sign("✗", "fails as it stands; the claim that corrects it is linked from it"),
    Verdict.UNKNOWN: Sign("?", "not decided: a check broke, or a step of the derivation does not verify"),
    Verdict.VACUOUS: Sign("∅", "the check also accepts a wrong version of the claim, so that it shows nothing"),
}

ROLES = {
    "printed": "as printed",
    "corrected": "corrected",
    "argument": "step of a proof",
    "stronger": "stronger",
    "own": "ours",
}
"""The roles of claims, in words."""


def css_class(verdict: Verdict) -> str:
    """The class of what has the colour of a verdict."""
    return f"v-{verdict.value.lower()}"


def badge(verdict: Verdict) -> Html:
    """A verdict in words, with its mark and colour."""
    mark = element("span", SIGNS[verdict].mark, class_="mark", aria_hidden="true")
    return element("span", mark, " ", verdict.value, class_=f"badge {css_class(verdict)}")


def remark(hearing: Hearing) -> str:
    """What must be added to the verdict for a reader to know whether all is well."""
    if hearing.verdict is Verdict.REFUTED and hearing.passes:
        return "its correction stands"
    return "" if hearing.passes else "open"
