"""The ledger of errata for a terminal, as Markdown and as JSON: where, as printed, corrected, and how it is known."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fsl_num.report.grid import Grid
from fsl_num.theorems.records import KINDS, Erratum

PLURALS = {"typo": "typos", "inconsistency": "inconsistencies", "gap in the argument": "gaps in the argument"}
"""The kinds of errata that have a plural."""

_FIELDS = ("as printed", "corrected", "evidence")


def ledger(errata: Sequence[Erratum], width: int) -> str:
    """The table of errata, one row each in the order given, and their counts, in ``width`` columns where words fit.

    >>> print(ledger([Erratum("a", "thm: x", 7, "typo", "D^-1", "D^-2", "measured")], 80))
    line  erratum  kind  where
    ────  ───────  ────  ──────
       7  a        typo  thm: x
    <BLANKLINE>
    1 erratum: 1 typo
    """
    rows = tuple((str(each.line), each.id, each.kind, each.label) for each in errata)
    table = Grid(("line", "erratum", "kind", "where"), rows, right=(0,), flexible=(1, 2, 3)).text(width)
    return f"{table}\n\n{_filled(counts(errata), width)}" if rows else counts(errata)


def counts(errata: Sequence[Erratum]) -> str:
    """How many errata there are, and of which kinds, in one line.

    >>> counts([])
    'no erratum'
    """
    if not errata:
        return "no erratum"
    found = Counter(each.kind for each in errata)
    kinds = ", ".join(f"{found[kind]} {kind_of(kind, found[kind])}" for kind in KINDS if found[kind])
    return f"{len(errata)} {'erratum' if len(errata) == 1 else 'errata'}: {kinds}"


def kind_of(kind: str, count: int) -> str:
    """The kind as it is said of ``count`` errata.

    >>> kind_of("typo", 2), kind_of("typo", 1), kind_of("false as stated", 2)
    ('typos', 'typo', 'false as stated')
    """
    return kind if count == 1 else PLURALS.get(kind, kind)


def card(erratum: Erratum, width: int) -> str:
    """One erratum whole, for a terminal."""
    lines = [f"{erratum.id} ({erratum.kind})", f"{'where':<12}{erratum.label}, line {erratum.line}"]
    lines += [_filled(f"{name:<12}{text}", width, 12) for name, text in zip(_FIELDS, _texts(erratum), strict=True)]
    if erratum.depends:
        lines.append(_filled(f"{'claims':<12}{', '.join(erratum.depends)}", width, 12))
    return "\n".join(lines)


def markdown(errata: Sequence[Erratum]) -> str:
    """The ledger as a document: the counts, then a section an erratum, by kind and in the order given."""
    found = Counter(each.kind for each in errata)
    rows = tuple((kind, str(found[kind])) for kind in KINDS if found[kind])
    parts = ["# Errata", f"{_sentence(counts(errata))}"]
    if rows:
        parts.append(Grid(("kind", "errata"), rows, right=(1,)).markdown())
    for kind in KINDS:
        members = [each for each in errata if each.kind == kind]
        if members:
            parts.append(f"## {_sentence(kind, '')}")
            parts += [_section(each) for each in members]
    return "\n\n".join(parts) + "\n"


def ledger_json(errata: Sequence[Erratum]) -> dict[str, Any]:
    """The ledger as JSON-ready values: exactly ``{"errata": [...]}``."""
    return {"errata": [each.to_json() for each in errata]}


def _section(erratum: Erratum) -> str:
    parts = [f"### {escaped(erratum.id)}", f"`{erratum.label}`, line {erratum.line} of the source."]
    parts += [f"**{_sentence(name)}** {escaped(text)}" for name, text in zip(_FIELDS, _texts(erratum), strict=True)]
    if erratum.depends:
        parts.append(f"**Claims.** {', '.join(f'`{each}`' for each in erratum.depends)}")
    return "\n\n".join(parts)


def escaped(text: str) -> str:
    """Plain text that Markdown shows as it is: no emphasis, link, tag or table comes out of a formula.

    >>> print(escaped("e_M <= C*t^-s | x[1]"))
    e\\_M \\<= C\\*t^-s \\| x\\[1\\]
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", " ".join(text.split()))


def _texts(erratum: Erratum) -> tuple[str, str, str]:
    return erratum.as_printed, erratum.corrected, erratum.evidence


def _sentence(text: str, end: str = ".") -> str:
    return f"{text[:1].upper()}{text[1:]}{end}"


def _filled(text: str, width: int, indent: int = 0) -> str:
    return textwrap.fill(
        text, max(width, 40), subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )
