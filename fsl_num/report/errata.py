"""The ledger of errata for a terminal and as Markdown: where, as printed, corrected, and how it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.text import Text

from fsl_num.claims.records import KINDS, Erratum
from fsl_num.report.plain import plain
from fsl_num.report.tables import fields, markdown_table, table, whole_field

PLURALS = {"typo": "typos", "inconsistency": "inconsistencies", "gap in the argument": "gaps in the argument"}
"""The kinds of errata that have a plural."""

_FIELDS = ("as printed", "corrected", "evidence")


def ledger(errata: Sequence[Erratum]) -> list[Any]:
    """The table of errata, one row each in the order given, and their counts.

    >>> ledger([])
    ['no erratum']
    """
    rows = [(str(each.line), each.id, each.kind, each.label) for each in errata]
    grid = [table(("line", "erratum", "kind", "where"), rows, right=(0,)), ""] if rows else []
    return [*grid, Text(counts(errata)) if rows else counts(errata)]


def counts(errata: Sequence[Erratum]) -> str:
    """How many errata there are, and of which kinds, in one line.

    >>> counts([])
    'no erratum'
    """
    if not errata:
        return "no erratum"
    numbers = Counter(each.kind for each in errata)
    kinds = ", ".join(f"{numbers[kind]} {kind_of(kind, numbers[kind])}" for kind in KINDS if numbers[kind])
    return f"{len(errata)} {'erratum' if len(errata) == 1 else 'errata'}: {kinds}"


def kind_of(kind: str, count: int) -> str:
    """The kind as it is said of ``count`` errata.

    >>> kind_of("typo", 2), kind_of("typo", 1), kind_of("false as stated", 2)
    ('typos', 'typo', 'false as stated')
    """
    return kind if count == 1 else PLURALS.get(kind, kind)


def card(erratum: Erratum) -> Group:
    """One erratum whole."""
    texts = zip(_FIELDS, map(plain, _texts(erratum)), strict=True)
    where = ("where", f"{erratum.label}, line {erratum.line}")
    parts = fields([where, *texts, ("claims", ", ".join(erratum.depends))])
    file = [whole_field("file", erratum.file, len(_FIELDS[0]) + 2)] if erratum.file else []
    return Group(Text(f"{erratum.id} ({erratum.kind})", style="bold"), parts, *file)


def markdown(errata: Sequence[Erratum]) -> str:
    """The ledger as a document: the counts, then a section an erratum, by kind and in the order given."""
    numbers = Counter(each.kind for each in errata)
    rows = [(kind, str(numbers[kind])) for kind in KINDS if numbers[kind]]
    parts = ["# Errata", f"{_sentence(counts(errata))}"]
    if rows:
        parts.append(markdown_table(("kind", "errata"), rows, right=(1,)))
    for kind in KINDS:
        members = [each for each in errata if each.kind == kind]
        if members:
            parts.append(f"## {_sentence(kind, '')}")
            parts += [_section(each) for each in members]
    return "\n\n".join(parts) + "\n"


def _section(erratum: Erratum) -> str:
    parts = [f"### {erratum.id}", f"`{erratum.label}`, line {erratum.line} of the source."]
    parts += [f"**{_sentence(name)}** {text}" for name, text in zip(_FIELDS, _texts(erratum), strict=True)]
    if erratum.depends:
        parts.append(f"**Claims.** {', '.join(f'`{each}`' for each in erratum.depends)}")
    return "\n\n".join(parts)


def _texts(erratum: Erratum) -> tuple[str, str, str]:
    return erratum.as_printed, erratum.corrected, erratum.evidence


def _sentence(text: str, end: str = ".") -> str:
    return f"{text[:1].upper()}{text[1:]}{end}"
