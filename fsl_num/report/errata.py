"""The ledger of errata for a terminal and as Markdown: where, as printed, corrected, and how it is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.console import Group
from rich.text import Text

from fsl_num.claims.labels import where
from fsl_num.claims.records import KINDS, Erratum
from fsl_num.report.plain import plain
from fsl_num.report.tables import fields, markdown_table, whole_field

PLURALS = {
    "typo": "typos",
    "inconsistency": "inconsistencies",
    "gap in the argument": "gaps in the argument",
    "remark": "remarks",
}
"""The kinds of errata that have a plural."""

_LATEX = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb}
\usepackage[a4paper,margin=1in]{geometry}
\setlength{\parindent}{0pt}
\raggedright\frenchspacing
\title{Functional Scaling Laws in Kernel Regression: errata}
\author{}
\begin{document}
\maketitle"""

_FIELDS = ("as printed", "what is wrong", "corrected", "evidence")


def ledger(errata: Sequence[Erratum]) -> list[Any]:
    """The errata in the order given, under what they are and what falls with them, and their counts.

    Each has its line, its id, and what is wrong in a sentence.

    >>> ledger([])
    ['no erratum']
    """
    if not errata:
        return [counts(errata)]
    parts: list[Any] = []
    for (kind, falls), members in groupby(errata, lambda erratum: (erratum.kind, erratum.falls)):
        entries = (
            (f"{erratum.line:>4}", Text.assemble((erratum.id, "bold"), f"\n{plain(erratum.wrong)}"))
            for erratum in members
        )
        parts += [Text(f"{kind}; with it falls {falls}", style="bold"), fields(entries), ""]
    return [*parts, Text(counts(errata))]


def counts(errata: Sequence[Erratum]) -> str:
    """How many errata there are, and of which kinds, in one line.

    >>> counts([])
    'no erratum'
    """
    if not errata:
        return "no erratum"
    numbers = Counter(erratum.kind for erratum in errata)
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
    place = ("where", f"{erratum.label}: {where(erratum.label, erratum.line)}")
    parts = fields([place, *texts, ("what falls", erratum.falls)])
    whole = (("repeat it", erratum.command), ("file", erratum.file))
    lines = [whole_field(name, value, max(map(len, _FIELDS)) + 2) for name, value in whole if value]
    return Group(Text(f"{erratum.id} ({erratum.kind})", style="bold"), parts, *lines)


def markdown(errata: Sequence[Erratum]) -> str:
    """The ledger as a document: the counts, then a section an erratum, by kind and in the order given."""
    numbers = Counter(erratum.kind for erratum in errata)
    rows = [(kind, str(numbers[kind])) for kind in KINDS if numbers[kind]]
    parts = ["# Errata", f"{_sentence(counts(errata))}"]
    if rows:
        parts.append(markdown_table(("kind", "errata"), rows, right=(1,)))
    for kind in KINDS:
        members = [erratum for erratum in errata if erratum.kind == kind]
        if members:
            parts.append(f"## {_sentence(kind, '')}")
            parts += [_section(member) for member in members]
    return "\n\n".join(parts) + "\n"


def latex(errata: Sequence[Erratum]) -> str:
    """The ledger as a LaTeX document that compiles by itself, in the order given.

    >>> latex([]).splitlines()[0]
    '\\\\documentclass{article}'
    """
    parts = [_LATEX, f"{_sentence(counts(errata))} The gravest come first; lines are those of the paper's source."]
    for erratum in errata:
        heading = f"{erratum.id} ({erratum.kind})"
        parts.append(f"\\subsection*{{{_tex(heading)}}}")
        place = where(erratum.label, erratum.line)
        parts.append(f"{_typewriter(erratum.label)}: {place}; with it falls {erratum.falls}.")
        named = zip(_FIELDS, _texts(erratum), strict=True)
        parts += [f"\\paragraph*{{{_sentence(name)}}} {_tex_of_markdown(text)}" for name, text in named]
        if erratum.command:
            parts.append(f"\\paragraph*{{Repeat it.}} {_typewriter(erratum.command)}")
    return "\n\n".join([*parts, "\\end{document}"]) + "\n"


def _typewriter(text: str) -> str:
    """Typewriter letters that may break inside of long names, and in which two hyphens are no dash.

    >>> print(_typewriter("a_b --c"))
    \\texttt{a\\_\\allowbreak{}b -{}-c}
    """
    broken = re.sub(r"(?<=\w)(\\_|[/:.-])(?=\w)", r"\1\\allowbreak{}", _tex(text))
    return f"\\texttt{{{broken.replace('--', '-{}-')}}}"


def _tex_of_markdown(text: str) -> str:
    """Markdown of an erratum as LaTeX: formulas as they stand, names in typewriter letters."""
    pieces = re.split(r"(\$[^$]+\$|`[^`]+`)", text)
    quoted = 0
    done = []
    for piece in pieces:
        if piece.startswith("$"):
            done.append(piece)
        elif piece.startswith("`"):
            done.append(_typewriter(piece[1:-1]))
        else:
            for mark in re.split('(")', piece):
                quoted += mark == '"'
                done.append(("``" if quoted % 2 else "''") if mark == '"' else _tex(mark))
    return "".join(done)


def _tex(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text)


def _section(erratum: Erratum) -> str:
    falls = f"`{erratum.label}`: {where(erratum.label, erratum.line)} of the source; with it falls {erratum.falls}."
    parts = [f"### {erratum.id}", falls]
    parts += [f"**{_sentence(name)}** {text}" for name, text in zip(_FIELDS, _texts(erratum), strict=True)]
    if erratum.command:
        parts.append(f"**Repeat it.** `{erratum.command}`")
    return "\n\n".join(parts)


def _texts(erratum: Erratum) -> tuple[str, str, str, str]:
    return erratum.as_printed, erratum.wrong, erratum.corrected, erratum.evidence


def _sentence(text: str, end: str = ".") -> str:
    return f"{text[:1].upper()}{text[1:]}{end}"
