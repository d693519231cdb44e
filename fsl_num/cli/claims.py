"""``fsl list`` and ``fsl show ID``: what the paper claims, and where each claim is derived, measured and tested."""

from __future__ import annotations

import argparse
import json
import shutil
from typing import TYPE_CHECKING, Any

from fsl_num.cli.inputs import InputError

if TYPE_CHECKING:
    from fsl_num.theorems.claim import Claim


def register(subcommands: Any) -> None:
    """Add ``list`` and ``show`` to the command."""
    listing: argparse.ArgumentParser = subcommands.add_parser("list", help="list the claims")
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.add_argument(
        "--labels", action="store_true", help="every statement and numbered formula of the paper, and who hears it"
    )
    listing.set_defaults(run=run_list)
    show: argparse.ArgumentParser = subcommands.add_parser(
        "show", help="show one claim: hypotheses, derivation, check, test and verdict"
    )
    show.add_argument("id", metavar="ID", help="the id of the claim (see fsl list)")
    show.add_argument("--json", action="store_true", help="as JSON")
    show.add_argument("--no-verdict", action="store_true", help="do not hear the claim")
    show.set_defaults(run=run_show)


def known_claim(claim_id: str) -> Claim:
    """The claim of that id, or an :class:`InputError` that names the closest ids."""
    from fsl_num.theorems import registry

    try:
        return registry.claim(claim_id)
    except ValueError as error:
        raise InputError(str(error)) from error


def run_list(arguments: argparse.Namespace) -> int:
    """Print every claim of the registry."""
    from fsl_num.report import claims as report
    from fsl_num.theorems import registry

    found = registry.claims()
    width = shutil.get_terminal_size((120, 24)).columns
    if arguments.labels:
        from fsl_num.theorems.labels import account_json

        places = account_json(found)
        print(_json(places) if arguments.json else report.labels_listing(places, width=width))
    elif arguments.json:
        print(_json([report.summary_json(claim) for claim in found]))
    else:
        print(report.listing(found, width=width))
    return 0


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def run_show(arguments: argparse.Namespace) -> int:
    """Print one claim, and hear it unless told not to. The status is 1 if it was heard and does not pass."""
    claim = known_claim(arguments.id)
    from fsl_num.report import claims as report

    hearing = None
    if not arguments.no_verdict:
        from fsl_num.theorems import court
        from fsl_num.theorems.cache import Cache, default_folder

        # With a claim come those that correct it.
        cache = Cache(default_folder())
        heard = court.hear_all((claim.id,), profile="quick", seed=0, executor=None, progress=None, cache=cache)
        (hearing,) = (one for one in heard if one.claim_id == claim.id)
    if arguments.json:
        print(_json(report.card_json(claim, hearing)))
    else:
        print(report.card(claim, hearing, width=shutil.get_terminal_size((120, 24)).columns))
    return 0 if hearing is None or hearing.passes else 1
