"""The pages of the documentation that are made of claims: one a theorem, the errata, Table 1, and the sources.

They are Markdown with the cards of the report inside, all in one folder, so that a link is the name of a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePath

from markupsafe import Markup

from fsl_num.claims.claim import Claim
from fsl_num.claims.label_table import PLACES
from fsl_num.claims.labels import covering_claims, in_reading_order, numbers, section_of, where
from fsl_num.claims.records import Erratum, Outcome
from fsl_num.claims.sources import HOME
from fsl_num.report.errata import PLURALS, counts
from fsl_num.report.html.cards import environment
from fsl_num.report.html.graph import graph
from fsl_num.report.html.texts import Texts, anchors, capital
from fsl_num.report.places import Place, places
from fsl_num.report.table import Row, paired
from fsl_sym.laws import SCHEDULES

Card = Callable[..., str]

INDEX, OPTIMA, ERRATA = "index.md", "table-1.md", "errata.md"
_CARDS = """{% from "cards.html.j2" import article, erratum_article, allocations, graph_figure, badge %}
<div class="cards" markdown="0">
{% if kind == "claim" %}{{ article(claims[it], by_id[it], "h2") }}{% endif %}
{% if kind == "claims" %}<ul class="contents">
{% for id in it %}
<li><a href="{{ href[id] }}">{{ text.unlinked(claims[id].title) }}</a>
<span class="ui">{{ badge(by_id[id].verdict) }}</span></li>
{% endfor %}</ul>{% endif %}
{% if kind == "errata" %}<ul class="contents">
{% for each in it %}<li><a href="{{ href[each.id] }}">line {{ each.line }}</a>: {{ text.unlinked(each.wrong) }}</li>
{% endfor %}</ul>{% endif %}
{% if kind == "erratum" %}{{ erratum_article(it, "h3") }}{% endif %}
{% if kind == "optima" %}{{ allocations(it) }}{% endif %}
{% if kind == "graph" %}{{ graph_figure(it) }}{% endif %}
</div>"""


def names(claims: Sequence[Claim]) -> list[str]:
    """The names of the files of :func:`pages`, which no verdict changes.

    >>> names([])
    ['index.md', 'table-1.md', 'errata.md']
    """
    return [INDEX, *_by_label(sorted(claims, key=in_reading_order)), OPTIMA, ERRATA]


def pages(
    records: Sequence[Outcome], errata: Sequence[Erratum], claims: Sequence[Claim], optima: Sequence[Row]
) -> dict[str, str]:
    """The text of every page by the name of its file, in the order of :func:`names`; :func:`sources` are others.

    Parameters
    ----------
    records
        The verdict of every claim.
    errata
        The mistakes of the paper; the gravest are shown first.
    claims
        The claims, in any order.
    optima
        The allocations of the paper's schedules, and those of others.

    Raises
    ------
    KeyError
        A claim has no record.

    Examples
    --------
    >>> list(pages([], [], [], []))
    ['index.md', 'table-1.md', 'errata.md']
    """
    claims = sorted(claims, key=in_reading_order)
    errata = sorted(errata, key=lambda erratum: erratum.severity)
    theorems = _by_label(claims)
    file_of = {member.id: name for name, members in theorems.items() for member in members}
    file_of |= {erratum.id: ERRATA for erratum in errata}
    made = environment(
        records, errata, claims, lambda name, anchor: f"{_html(file_of[name])}#{anchor}", _source_link, lemmas=True
    )
    template = made.from_string(_CARDS)

    def card(kind: str, subject: object) -> str:
        lines = template.render(kind=kind, it=subject).splitlines()
        return "\n".join(line for line in lines if line.strip())  # a blank line would end the HTML in Markdown

    verdicts = {record.claim_id: record for record in records}
    written = {INDEX: "\n\n".join(_index(theorems, verdicts))}
    written |= {name: "\n\n".join(_theorem(members, claims, errata, card)) for name, members in theorems.items()}
    written[OPTIMA] = (
        "# Table 1, derived\n\nThe order of the least excess risk under a budget of data $D$ or of compute $C$, by "
        "schedule and regime. `fsl table` prints it, `fsl exponents --derive` shows how it comes about.\n\n"
        + card("optima", paired([row for row in optima if row[0].schedule in SCHEDULES]))
        + "\n\n## The other schedules of the catalogue\n\nA rate that vanishes at its end like a power of what remains "
        "has one law on each side of a capacity. `own_schedule` derives the same for a formula of one's own.\n\n"
        + card("optima", paired([row for row in optima if row[0].schedule not in SCHEDULES]))
    )
    written[ERRATA] = "\n\n".join(
        [
            "# What the paper has wrong",
            f"{capital(counts(errata))}, the gravest first. `fsl errata` lists them, `fsl errata LINE` finds them by "
            "the line of the paper's source, `fsl errata --latex` writes them as a paper to send.",
            *(
                part
                for kind, members in groupby(errata, lambda erratum: erratum.kind)
                for part in _kind(kind, [*members], card)
            ),
        ]
    )
    return written


def _theorem(members: Sequence[Claim], claims: Sequence[Claim], errata: Sequence[Erratum], card: Card) -> Iterator[str]:
    """All that is known of one place of the paper."""
    ids = {member.id for member in members}
    first = members[0]
    yield f"---\ntitle: {json.dumps(capital(first.title))}\n---"
    yield f"# {capital(where(first.label, first.line).partition(', ')[0])}: `{first.label}`"
    if len(members) > 1:
        yield card("claims", [member.id for member in members])
    for member in members:
        yield card("claim", member.id)
    mistakes = [erratum for erratum in errata if erratum.label == first.label or ids & {*erratum.depends}]
    if mistakes:
        yield "## What the paper has wrong here"
        yield "\n".join(
            f"- [{mistake.id}]({ERRATA}#erratum-{mistake.id}): {mistake.kind}; with it falls {mistake.falls}"
            for mistake in mistakes
        )
    around = _around(members, claims)
    if len(around) > len(members):
        yield "## What rests on what"
        yield card("graph", graph(around, across=4))


def _kind(kind: str, errata: Sequence[Erratum], card: Card) -> Iterator[str]:
    """The errata of one kind: each in a line, then each whole."""
    yield f"## {capital(PLURALS.get(kind, kind))}"
    yield card("errata", errata)
    for erratum in errata:
        yield card("erratum", erratum)


def _index(theorems: Mapping[str, Sequence[Claim]], verdicts: Mapping[str, Outcome]) -> Iterator[str]:
    yield "# The theorems"
    yield "Every place of the paper that makes a claim, in its order: what it says, and what became of it."
    yield (
        "How the paper numbers its theorems stands in a style file that its source loads, and that is not part of it. "
        "Counted here are the statements of each section, each kind by itself and, in parentheses, all kinds together."
    )
    counted = numbers()
    kinds = {place.label: place.kind for place in PLACES}
    firsts = [(name, members[0]) for name, members in theorems.items()]
    for section, places_in_it in groupby(firsts, key=lambda first: section_of(first[1].line)):
        yield f"## {section.number} {section.title}".replace("##  ", "## ")
        rows = []
        for name, first in places_in_it:
            place = f"{kinds.get(first.label, '')} `{first.label}`"
            if numbered := counted.get(first.label):
                place = f"{kinds[first.label]} {numbered[0]} ({numbered[1]}) `{first.label}`"
            for claim in theorems[name]:
                rows.append(f"| {place} | [{_title(claim)}]({name}) | {verdicts[claim.id].verdict} |")
                place = ""
        yield "\n".join(["| place | claim | verdict |", "| --- | --- | --- |", *rows])
    claims = [claim for members in theorems.values() for claim in members]
    excused = [place for place in PLACES if place.excuse and not covering_claims(place, claims, PLACES)]
    yield "## What no claim can check"
    rows = [f"| `{place.label}`, line {place.line} | {_in_cell(place.excuse)} |" for place in excused]
    yield "\n".join(["| place | why |", "| --- | --- |", *rows])


def sources(claims: Sequence[Claim]) -> dict[str, str]:
    """A page for every file in which something of a claim is written, with a link for each line.

    >>> sources([])
    {}
    """
    files = sorted({place["file"] for claim in claims for place in places(claim).values() if place and place["line"]})
    return {
        _source_file(name): f"---\nsearch:\n  exclude: true\n---\n\n# `{name}`\n\n"
        f'``````python linenums="1"\n{(HOME / name).read_text(encoding="utf-8").rstrip()}\n``````\n'
        for name in files
        if (HOME / name).is_file()
    }


def _source_file(name: str) -> str:
    return f"source-{'-'.join(PurePath(name).with_suffix('').parts)}.md"


def _source_link(place: Place) -> str:
    """Line anchors are those of Pygments as the documentation sets it: one code block a page, number 0.

    Tests are part of a checkout, not of an installation: there is no link to them there.
    """
    if not (HOME / place["file"]).is_file():
        return ""
    return f"{_html(_source_file(place['file']))}#__codelineno-0-{place['line']}"


def _by_label(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    """The claims of each place of the paper by the file of its page: what is printed, corrected and stronger."""
    by_label: dict[str, list[Claim]] = {}
    for claim in claims:
        by_label.setdefault(claim.label, []).append(claim)
    names = anchors("at", by_label)
    return {f"{names[label].removeprefix('at-')}.md": members for label, members in by_label.items()}


def _around(members: Sequence[Claim], claims: Sequence[Claim]) -> list[Claim]:
    """These claims, what they rest on, and what rests on them."""
    ids = {member.id for member in members}
    named = {name for member in members for name in (*member.depends, member.corrected_by, member.strengthens)}
    return [
        claim
        for claim in claims
        if claim.id in ids | named or ids & {*claim.depends, claim.corrected_by, claim.strengthens}
    ]


def _title(claim: Claim) -> str:
    return _in_cell(Texts().sentence(claim.title))


def _in_cell(text: str) -> str:
    """Text that neither ends a cell of a table nor is taken for Markdown; elements stay where it is markup.

    >>> _in_cell("a_b | c")
    'a\\\\_b \\\\| c'
    """
    marks = "|_*[" if isinstance(text, Markup) else "|_*<["
    return "".join(f"\\{sign}" if sign in marks else sign for sign in text)


def _html(name: str) -> str:
    return f"{name.removesuffix('.md')}.html"
