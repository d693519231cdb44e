"""``fsl errata``: the ledger of what is wrong in the paper, what is right, and how it is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from fsl_num.cli.inputs import known
from fsl_num.cli.options import Arguments, Command, Option, flag, json_option
from fsl_num.cli.output import show, show_json

if TYPE_CHECKING:
    from fsl_num.claims.records import Erratum


def run(arguments: Arguments) -> int:
    """Print the errata asked for, in the order of the paper."""
    from fsl_num.claims.errata import errata
    from fsl_num.report import errata as report

    chosen = _chosen(sorted(errata(), key=lambda each: each.line), arguments)
    if arguments.json:
        show_json({"errata": [each.to_json() for each in chosen]})
    elif arguments.markdown:
        show(report.markdown(chosen).rstrip("\n"))
    elif arguments.id is not None and chosen:
        show(*map(report.card, chosen), width=80)
    else:
        show(*report.ledger(chosen), width=80)
    return 0


def _chosen(errata: Sequence[Erratum], arguments: Arguments) -> Sequence[Erratum]:
    from fsl_num.claims.records import KINDS

    if arguments.id is not None:
        wanted = known(arguments.id, [each.id for each in errata], "erratum")
        errata = [each for each in errata if each.id == wanted]
    if arguments.kind is not None:
        kind = known(arguments.kind, KINDS, "kind of erratum")
        errata = [each for each in errata if each.kind == kind]
    if arguments.label is not None:
        label = known(arguments.label, [each.label for each in errata], "label with an erratum")
        errata = [each for each in errata if each.label == label]
    return errata


COMMANDS = {
    "errata": Command(
        "errata",
        run,
        [
            click.Argument(["id"], required=False, metavar="[ID]"),
            Option("--kind", help="only this kind: typo, inconsistency, gap in the argument or false as stated"),
            Option("--label", help="only those at this label of the paper's source"),
            json_option(choice="form"),
            flag("--markdown", "as a document in Markdown, by kind", choice="form"),
        ],
        "The errata of the paper in the order of its lines: where, as printed, corrected, and how it is known. With an "
        "ID that erratum alone, whole.",
    )
}
