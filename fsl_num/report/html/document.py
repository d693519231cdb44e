"""The whole page: what it is, the summary, the graph, every claim and the errata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from fsl_num.report.errata import kind_of
from fsl_num.report.html.articles import article
from fsl_num.report.html.context import Context
from fsl_num.report.html.elements import Html, element, joined, number
from fsl_num.report.html.graph import graph
from fsl_num.report.html.ledger import errata_section
from fsl_num.report.html.prose import Prose
from fsl_num.report.html.script import SCRIPT
from fsl_num.report.html.style import style
from fsl_num.report.html.verdicts import ROLES, SIGNS, badge, css_class
from fsl_num.theorems.claim import Claim
from fsl_num.theorems.records import KINDS, Erratum, Hearing

TITLE = "Functional scaling laws: every claim, heard"
PAPER = "Functional Scaling Laws in Kernel Regression: Loss Dynamics and Learning Rate Schedules"


def page(
    hearings: Sequence[Hearing],
    errata: Sequence[Erratum],
    *,
    profile: str,
    seed: int,
    claims: Sequence[Claim] | None = None,
    date: str = "",
    versions: Mapping[str, str] | None = None,
) -> str:
    """The report as one HTML document that loads nothing.

    Args:
        hearings: what the court found, in the order in which the page shows it.
        errata: the mistakes found in the paper, in the order in which the page shows them.
        profile: the profile under which the claims were heard.
        seed: the seed of every draw.
        claims: where to find what was heard; the registry by default.
        date: when the claims were heard, as it is to be shown.
        versions: names and versions of what was used, as they are to be shown.

    Raises:
        ValueError: something was heard that is no claim.

    >>> page([], [], profile="quick", seed=0, claims=[]).startswith("<!DOCTYPE html>")
    True
    """
    if claims is None:
        from fsl_num.theorems.registry import claims as registered

        claims = registered()
    known = {claim.id: claim for claim in claims}
    missing = [hearing.claim_id for hearing in hearings if hearing.claim_id not in known]
    if missing:
        raise ValueError(f"these hearings are of no claim known here: {', '.join(missing)}; pass `claims` with them")
    context = Context([known[hearing.claim_id] for hearing in hearings], hearings, errata)
    made = {"profile": profile, "seed": str(seed), **({"heard": date} if date else {}), **(versions or {})}
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        # An icon in the page itself, or the browser asks the server for one.
        element("link", rel="icon", href="data:,"),
        element("title", TITLE),
        element("meta", name="description", content=f"What is proved, measured and wrong in the paper {PAPER}."),
        element("style", Html(style())),
    )
    body = element(
        "body",
        element("a", "Skip to the claims", href="#claims", class_="skip"),
        element("div", _top(context, made), class_="wrap"),
        element(
            "main", _summary(context), _graph(context), _claims(context), errata_section(context),
            class_="wrap", id="main",
        ),
        element("div", _foot(), class_="wrap"),
        element("script", Html(SCRIPT)),
    )  # fmt: skip
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _top(context: Context, made: Mapping[str, str]) -> Html:
    passing = sum(hearing.passes for hearing in context.hearings)
    lead = joined(
        [
            "The claims of the paper ",
            element("cite", PAPER),
            ", one by one: what is derived step by step, what is measured by an independent route, how tight it is, "
            "and what is wrong. A check counts only if it also refuses wrong versions of the claim.",
        ]
    )
    links = (("#summary", "Summary"), ("#graph", "Graph"), ("#claims", "Claims"), ("#errata", "Errata"))
    nav = element(
        "nav", element("ul", *(element("li", element("a", name, href=to)) for to, name in links)), aria_label="Contents"
    )
    said = joined((element("span", f"{name} {value}") for name, value in made.items()), " ")
    heard = len(context.hearings)
    counted = f"{passing} of {heard} claims pass: they hold, or they fail as printed and their correction holds."
    return element(
        "header", element("h1", TITLE), element("p", lead, class_="lead"), element("p", counted, class_="lead"),
        element("p", said, class_="made ui"), nav, class_="top",
    )  # fmt: skip


def _summary(context: Context) -> Html:
    found = Counter(hearing.verdict for hearing in context.hearings)
    rows = [
        element(
            "tr", element("th", badge(verdict), scope="row"), element("td", str(found[verdict]), class_="n"),
            element("td", sign.meaning),
        )
        for verdict, sign in SIGNS.items()
    ]  # fmt: skip
    head = element("tr", *(element("th", name, scope="col", class_=kind) for name, kind in _SUMMARY_HEADINGS))
    table = element(
        "table", element("caption", "Claims by verdict"), element("thead", head), element("tbody", *rows),
        class_="summary",
    )  # fmt: skip
    return element(
        "section", element("h2", "Summary", id="summary-title"),
        element("p", _totals(context), class_="measure"), element("div", table, class_="scroll"),
        _named(context, "Open", [each for each in context.hearings if not each.passes]),
        _named(
            context, "What does not hold as it stands",
            [each for each in context.hearings if each.passes and not each.verdict.passes],
        ),
        id="summary", aria_labelledby="summary-title",
    )  # fmt: skip


def _named(context: Context, title: str, hearings: Sequence[Hearing]) -> Html | None:
    """A short list of claims by their titles, each with the claim that corrects it."""
    if not hearings:
        return None
    # Without the links that a title may hold: it becomes a link itself.
    titles = {claim.id: Prose().sentence(claim.title) for claim in context.claims}

    def link(claim_id: str) -> Html:
        return element("a", titles[claim_id], href=f"#{context.claim_anchors[claim_id]}")

    items = []
    for each in hearings:
        other = each.corrected_by if each.corrected_by in titles else None
        then = joined([element("br"), element("span", "instead: ", class_="kind"), link(other)]) if other else None
        items.append(element("li", link(each.claim_id), then))
    return joined([element("h3", title, class_="listed"), element("ul", *items, class_="columns titles")])


_SUMMARY_HEADINGS = (("verdict", None), ("claims", "n"), ("what it means", None))


def _totals(context: Context) -> str:
    refuted = sum(hearing.mutants_refuted for hearing in context.hearings)
    mutants = sum(hearing.mutants_total for hearing in context.hearings)
    seconds = sum(hearing.seconds for hearing in context.hearings)
    kinds = Counter(erratum.kind for erratum in context.errata)
    wrong = ", ".join(f"{kinds[kind]} {kind_of(kind, kinds[kind])}" for kind in KINDS if kinds[kind])
    corrected = sum(hearing.passes and not hearing.verdict.passes for hearing in context.hearings)
    parts = [
        f"{refuted:,} of {mutants:,} wrong versions were refuted in {number(seconds, 3)} seconds of hearings.",
        "One claim fails as it stands while its correction holds." if corrected == 1 else "",
        f"{corrected} claims fail as they stand while their corrections hold." if corrected > 1 else "",
        f"Errata of the paper listed here: {wrong}." if context.errata else "",
    ]
    return " ".join(part for part in parts if part)


def _graph(context: Context) -> Html:
    hearings = {hearing.claim_id: hearing for hearing in context.hearings}
    return element(
        "section", element("h2", "What rests on what", id="graph-title"),
        graph(context.claims, hearings, context.claim_anchors) if hearings else element("p", "No claim was heard."),
        id="graph", aria_labelledby="graph-title",
    )  # fmt: skip


def _claims(context: Context) -> Html:
    pairs = list(zip(context.claims, context.hearings, strict=True))
    index = element(
        "details", element("summary", f"All {len(pairs)} claims by name"),
        element("ul", *(_index_entry(context, hearing) for _, hearing in pairs), class_="columns"),
    )  # fmt: skip
    return element(
        "section", element("h2", "Claims", id="claims-title"), _filter(context), index,
        *(article(context, claim, hearing) for claim, hearing in pairs),
        id="claims", aria_labelledby="claims-title", tabindex=-1,
    )  # fmt: skip


def _index_entry(context: Context, hearing: Hearing) -> Html:
    mark = element("span", SIGNS[hearing.verdict].mark, class_=f"mark {css_class(hearing.verdict)}", aria_hidden="true")
    said = element("span", f" {hearing.verdict.value.lower()}", class_="kind")
    return element("li", mark, " ", context.claim_link(hearing.claim_id), said)


def _filter(context: Context) -> Html:
    verdicts: dict[str, str] = {hearing.verdict.value: hearing.verdict.value.lower() for hearing in context.hearings}
    roles: dict[str, str] = {claim.role: ROLES.get(claim.role, claim.role) for claim in context.claims}
    return element(
        "form", _choice("verdict", "Verdict", verdicts), _choice("role", "Role", roles),
        element(
            "label", "Words", element("input", type="search", name="words", autocomplete="off"), class_="grow"
        ),
        element("button", "Show all", type="reset"),
        element("output", id="shown", aria_live="polite"),
        # The script shows the form: without it the form could do nothing.
        id="filter", hidden=True, role="search", aria_label="Filter the claims",
    )  # fmt: skip


def _choice(name: str, label: str, values: Mapping[str, str]) -> Html:
    options = [element("option", "any", value="")]
    options += [element("option", shown, value=value) for value, shown in values.items()]
    return element("label", label, element("select", *options, name=name))


def _foot() -> Html:
    words = (
        "Constants [c, C] bound measured over claimed. A drift is the slope of that ratio over the last half of a "
        "path, on logarithmic scales. A check refuses errors from a size on when it fails with any one of the "
        "exponents of its kind moved by that much."
    )
    return element("footer", element("p", words))
