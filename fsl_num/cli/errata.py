"""``fsl errata``: the ledger of what is wrong in the paper, what is right, and how it is known."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from fsl_num.cli.inputs import InputError

if TYPE_CHECKING:
    from fsl_num.theorems.records import Erratum


def register(subcommands: Any) -> None:
    """Add ``errata`` to the command."""
    parser: argparse.ArgumentParser = subcommands.add_parser(
        "errata",
        help="show the mistakes found in the paper",
        description="The errata of the paper in the order of its lines: where, as printed, corrected, and how it is "
        "known. With an ID that erratum alone, whole.",
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="one erratum, by its id; all by default")
    parser.add_argument(
        "--kind", metavar="KIND", help="only this kind: typo, inconsistency, gap in the argument or false as stated"
    )
    parser.add_argument("--label", metavar="LABEL", help="only those at this label of the paper's source")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--markdown", action="store_true", help="as a document in Markdown, by kind")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the errata asked for, in the order of the paper."""
    from fsl_num.report import errata as report
    from fsl_num.theorems.errata import errata

    chosen = _chosen(sorted(errata(), key=lambda each: each.line), arguments)
    width = shutil.get_terminal_size((80, 24)).columns
    if arguments.json:
        print(json.dumps(report.ledger_json(chosen), indent=2, ensure_ascii=False))
    elif arguments.markdown:
        print(report.markdown(chosen), end="")
    elif arguments.id is not None and chosen:
        print("\n\n".join(report.card(each, width) for each in chosen))
    else:
        print(report.ledger(chosen, width))
    return 0


def _chosen(errata: Sequence[Erratum], arguments: argparse.Namespace) -> Sequence[Erratum]:
    from fsl_num.theorems.records import KINDS

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


def known(typed: str, names: Iterable[str], what: str) -> str:
    """The one of ``names`` that was typed (spaces, hyphens and capitals do not count); an InputError with near names.

    >>> known("false-as-stated", ["typo", "false as stated"], "kind")
    'false as stated'
    >>> known("tipo", ["typo", "false as stated"], "kind")
    Traceback (most recent call last):
    fsl_num.cli.inputs.InputError: there is no kind 'tipo': did you mean 'typo'?
    """
    choices = list(dict.fromkeys(names))
    for name in choices:
        if _bare(name) == _bare(typed):
            return name
    near = get_close_matches(typed, choices, 3, 0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"choose {', '.join(map(repr, choices[:6]))}"
    raise InputError(f"there is no {what} {typed!r}: {hint}")


def _bare(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter not in " -")
