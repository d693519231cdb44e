"""A claim as an article: what it says, under which hypotheses, and what was found."""

from __future__ import annotations

from collections.abc import Iterator

from fsl_num.report.html.constants_map import constants_map
from fsl_num.report.html.context import Context
from fsl_num.report.html.drift_plot import drift_plot
from fsl_num.report.html.elements import Html, element, interval, joined, number
from fsl_num.report.html.formula import formula
from fsl_num.report.html.record_tables import mutants, tables
from fsl_num.report.html.verdicts import ROLES, badge, remark
from fsl_num.theorems.claim import Claim
from fsl_num.theorems.records import Hearing


def article(context: Context, claim: Claim, hearing: Hearing) -> Html:
    """The whole article of a claim."""
    anchor = context.claim_anchors[hearing.claim_id]
    title = element("h3", context.prose.sentence(claim.title), id=f"{anchor}-title")
    verdict = element("span", badge(hearing.verdict), _after(remark(hearing)), class_="ui")
    drawings = [each for each in (constants_map(hearing), drift_plot(hearing)) if each is not None]
    body = element(
        "div",
        formula(claim.formula),
        element("p", context.prose.sentence(claim.wording), class_="measure"),
        _probability(context, claim),
        _message(context, hearing),
        element("div", *drawings, class_="drawings") if drawings else None,
        tables(context, hearing),
        mutants(context, hearing),
    )
    facts = element(
        "dl", *(joined([element("dt", name), element("dd", value)]) for name, value in _facts(context, claim, hearing)),
        class_="facts",
    )  # fmt: skip
    return element(
        "article", element("div", title, verdict, class_="title"), _where(claim),
        element("div", body, facts, class_="two"),
        id=anchor, aria_labelledby=f"{anchor}-title", data_verdict=hearing.verdict.value, data_role=claim.role,
    )  # fmt: skip


def _where(claim: Claim) -> Html:
    place = (
        f"line {claim.line}"
        if claim.label == claim.id
        else joined([element("code", claim.label), f", line {claim.line}"])
    )
    return element(
        "p", element("span", element("code", claim.id)), " ", element("span", place), " ",
        element("span", ROLES.get(claim.role, claim.role)), class_="where",
    )  # fmt: skip


def _probability(context: Context, claim: Claim) -> Html | None:
    if not claim.probability:
        return None
    name = element("span", "With what probability: ", class_="kind")
    return element("p", name, context.prose(claim.probability), class_="measure note")


def _message(context: Context, hearing: Hearing) -> Html | None:
    if not hearing.message:
        return None
    return element("p", context.prose.sentence(hearing.message), ".", class_="measure ui where")


def _facts(context: Context, claim: Claim, hearing: Hearing) -> Iterator[tuple[str, Html]]:
    yield (
        "Hypotheses",
        element("ul", *(element("li", context.prose(each)) for each in claim.hypotheses), class_="hypotheses"),
    )
    if hearing.derivations:
        lines = (_derivation(context, each.name, each.verified, each.steps) for each in hearing.derivations)
        yield "Derived", joined(lines, "<br>")
    if hearing.constants is not None:
        yield "Constants", joined([element("span", f"[c, C] = {interval(hearing.constants)}", class_="numbers")])
    drifts = [regime.drift for regime in hearing.regimes if regime.drift is not None]
    if drifts:
        yield "Largest drift", joined([number(max(drifts))])
    if hearing.resolution:
        sizes = (f"{kind.replace('_', ' ')} {number(size, 2)}" for kind, size in hearing.resolution.items())
        yield "Refuses errors from", joined(sizes, ", ")
    if hearing.mutants_total:
        yield "Mutants refuted", joined([f"{hearing.mutants_refuted} of {hearing.mutants_total}"])
    yield "Heard in", joined([f"{number(hearing.seconds, 2)} s"])
    yield from _links(context, claim)


def _links(context: Context, claim: Claim) -> Iterator[tuple[str, Html]]:
    if claim.depends:
        yield "Rests on", context.claim_links(claim.depends)
    above = [each.id for each in context.claims if claim.id in each.depends]
    if above:
        yield "Carries", context.claim_links(above)
    if claim.corrected_by:
        yield "Corrected by", context.claim_link(claim.corrected_by)
    wrong = [each.id for each in context.claims if each.corrected_by == claim.id]
    if wrong:
        yield "Corrects", context.claim_links(wrong)
    if claim.strengthens:
        yield "Strengthens", context.claim_link(claim.strengthens)
    stronger = [each.id for each in context.claims if each.strengthens == claim.id]
    if stronger:
        yield "Strengthened by", context.claim_links(stronger)
    errata = [each.id for each in context.errata if claim.id in each.depends]
    if errata:
        yield "Errata", joined((context.erratum_link(each) for each in errata), "<br>")


def _derivation(context: Context, name: str, verified: int, steps: int) -> Html:
    return joined([context.prose(name), f": {verified} of {steps} steps verified"])


def _after(text: str) -> Html | None:
    return element("span", f" · {text}", class_="kind") if text else None
