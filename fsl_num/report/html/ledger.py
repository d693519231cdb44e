"""The errata as a section: what is printed beside what is right, and how it is known."""

from __future__ import annotations

from fsl_num.report.errata import counts
from fsl_num.report.html.context import Context
from fsl_num.report.html.elements import Html, element
from fsl_num.theorems.records import Erratum


def errata_section(context: Context) -> Html:
    """All errata, in the order given."""
    said = counts(context.errata)
    return element(
        "section", element("h2", "Errata", id="errata-title"),
        element("p", f"{said[:1].upper()}{said[1:]}, in the order of the paper.", class_="measure"),
        *(_entry(context, each) for each in context.errata), id="errata", aria_labelledby="errata-title",
    )  # fmt: skip


def _entry(context: Context, erratum: Erratum) -> Html:
    anchor = context.erratum_anchors[erratum.id]
    pair = [
        element(
            "div",
            element("dt", "As printed"),
            element("dd", context.prose.sentence(erratum.as_printed), class_="wrong"),
        ),
        element(
            "div", element("dt", "Corrected"), element("dd", context.prose.sentence(erratum.corrected), class_="right")
        ),
    ]
    place = element("span", element("code", erratum.label), f", line {erratum.line}")
    where = element("p", element("span", erratum.kind), " ", place, class_="where")
    claims = element("p", "Claims: ", context.claim_links(erratum.depends), class_="kind") if erratum.depends else None
    return element(
        "article", element("h3", element("code", erratum.id), id=f"{anchor}-title"), where,
        element("dl", *pair, class_="pair"),
        element("p", context.prose.sentence(erratum.evidence), class_="measure"), claims,
        id=anchor, class_="erratum", aria_labelledby=f"{anchor}-title",
    )  # fmt: skip
