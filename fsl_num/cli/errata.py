"""``fsl errata``: the ledger of what is wrong in the paper, what is right, and how it is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from fsl_num.cli.claims import line_of, numbered_place
from fsl_num.cli.inputs import known
from fsl_num.cli.options import Arguments, Command, Option, flag, json_option
from fsl_num.cli.output import show, show_json
from fsl_num.cli.streams import complain

if TYPE_CHECKING:
    from fsl_num.claims.records import Erratum


def run(arguments: Arguments) -> int:
    """Print the errata asked for, the gravest first."""
    from fsl_num.claims.errata import errata
    from fsl_num.report import errata as report

    chosen = _chosen(sorted(errata(), key=lambda erratum: erratum.severity), arguments)
    if arguments.json:
        show_json({"errata": [erratum.to_json() for erratum in chosen]})
    elif arguments.markdown:
        show(report.markdown(chosen).rstrip("\n"))
    elif arguments.latex:
        show(report.latex(chosen).rstrip("\n"))
    elif arguments.id and chosen:
        show(*map(report.card, chosen))
    else:
        show(*report.ledger(chosen))
    return 0


def _chosen(errata: Sequence[Erratum], arguments: Arguments) -> Sequence[Erratum]:
    from fsl_num.claims.records import KINDS

    kind = label = None
    if arguments.kind is not None:
        kind = known(arguments.kind, KINDS, "kind of erratum")
    if arguments.label is not None:
        label = known(arguments.label, [erratum.label for erratum in errata], "label with an erratum")
    if arguments.id:
        errata = _named(errata, arguments.id)
    return [erratum for erratum in errata if kind in (None, erratum.kind) and label in (None, erratum.label)]


def _named(errata: Sequence[Erratum], words: Sequence[str]) -> Sequence[Erratum]:
    """The errata at a line of the paper's source, of an id, at a label, or about a claim, or of several of these."""
    from fsl_num.claims.registry import all_claims
    from fsl_num.report.claims import errata_about

    typed = " ".join(words)
    if (line := line_of(typed)) is not None:
        return _at_line(errata, line)
    if (numbered := numbered_place(typed)) is not None:
        typed = numbered.label
    about: dict[str, Collection[str]] = {}  # what can be named -> the ids of its errata
    for erratum in errata:
        about[erratum.label] = {*about.get(erratum.label, ()), erratum.id}
    for claim in all_claims():
        errata_ids = {erratum.id for erratum in errata_about(claim)}
        about[claim.id] = errata_ids
        about[claim.label] = {*about.get(claim.label, ()), *errata_ids}
    about |= {erratum.id: {erratum.id} for erratum in errata}
    several = typed not in about and all(word in about for word in words)  # labels have spaces
    ids = {erratum_id for name in (words if several else [known(typed, about, "erratum, label or claim")])
           for erratum_id in about[name]}  # fmt: skip
    return [erratum for erratum in errata if erratum.id in ids]


def _at_line(errata: Sequence[Erratum], line: int) -> Sequence[Erratum]:
    """The errata at a line, or that name it; without any, those of the nearest line, and it is said."""
    words = re.compile(rf"\bline {line}\b(?!\.\d)")  # and not the line 0.5
    named = [
        erratum
        for erratum in errata
        if erratum.line == line or words.search(f"{erratum.as_printed} {erratum.evidence}")
    ]
    if named:
        return named
    nearest = min((erratum.line for erratum in errata), key=lambda place: abs(place - line))
    complain(f"fsl: no erratum is at line {line} of the paper's source; the nearest is at line {nearest}")
    return [erratum for erratum in errata if erratum.line == nearest]


COMMANDS = {
    "errata": Command(
        "errata",
        run,
        [
            click.Argument(["id"], nargs=-1, metavar="[ID...|LINE|LABEL|CLAIM]"),
            Option(
                "--kind", help="only this kind: false as stated, gap in the argument, inconsistency, typo or remark"
            ),
            Option("--label", help="only those at this label of the paper's source"),
            json_option(choice="form"),
            flag("--markdown", "as a document in Markdown, by kind", choice="form"),
            flag("--latex", "as a document in LaTeX, to be sent to the authors", choice="form"),
        ],
        "The errata of the paper, the gravest first: where, as printed, corrected, how it is known, what falls. "
        "With an ID that erratum alone, whole; with a LINE of the paper's source those at that line or the nearest; "
        "with a LABEL of the source or a CLAIM those that touch it.",
    )
}
