"""``fsl list`` and ``fsl show ID``: what the paper claims, and where each claim is derived, measured and tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fsl_num.cli.inputs import refused
from fsl_num.cli.options import Arguments, Command, flag, json_option
from fsl_num.cli.output import show, show_json

if TYPE_CHECKING:
    from fsl_num.claims.claim import Claim


def known_claim(claim_id: str) -> Claim:
    """The claim of that id, or an :class:`InputError` that names the closest ids."""
    from fsl_num.claims import registry

    with refused():
        return registry.claim(claim_id)


def run_list(arguments: Arguments) -> int:
    """Print every claim of the registry."""
    from fsl_num.claims import registry
    from fsl_num.report import claims as report

    claims = registry.all_claims()
    if arguments.labels:
        from fsl_num.claims.labels import account_json

        places = account_json(claims)
        show_json(places) if arguments.json else show(report.labels_listing(places))
    elif arguments.json:
        show_json([report.summary_json(claim) for claim in claims])
    else:
        show(report.listing(claims))
    return 0


def run_show(arguments: Arguments) -> int:
    """Print one claim, and verify it unless that is not wanted. The status is 1 if it was and does not pass."""
    claim = known_claim(arguments.id)
    from fsl_num.report import claims as report

    record = None
    if not arguments.no_verdict:
        from fsl_num.claims import runner
        from fsl_num.claims.cache import Cache, default_folder

        # With a claim come those that correct it.
        records = runner.verify_all((claim.id,), cache=Cache(default_folder()))
        (record,) = (each for each in records if each.claim_id == claim.id)
    if arguments.json:
        show_json(report.card_json(claim, record))
    else:
        show(report.card(claim, record))
    return 0 if record is None or record.passes else 1


COMMANDS = {
    "list": Command(
        "list",
        run_list,
        [
            json_option(),
            flag("--labels", "every statement and numbered formula of the paper, and which claims cover it"),
        ],
        "List the claims.",
    ),
    "show": Command(
        "show",
        run_show,
        [click.Argument(["id"], metavar="ID"), json_option(), flag("--no-verdict", "do not verify the claim")],
        "Show one claim (ID as fsl list shows it): hypotheses, derivation, check, test and verdict.",
    ),
}
