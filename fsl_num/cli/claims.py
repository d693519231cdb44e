"""``fsl list`` and ``fsl show ID``: what the paper claims, and where each claim is derived, measured and tested."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from fsl_num.cli.inputs import InputError, refused
from fsl_num.cli.options import Arguments, Command, flag, json_option
from fsl_num.cli.output import progress_bar, show, show_json
from fsl_num.cli.streams import complain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsl_num.claims.claim import Claim
    from fsl_num.claims.label_table import Place
    from fsl_num.claims.records import Outcome


_NUMBERED: Final = re.compile(r"([a-z]+)([a-e]|[1-9])\.([1-9]\d?)", re.ASCII)
"""``theorem 5.3``, without the space."""
_PLAIN_NUMBER: Final = re.compile(r"([a-z]+?)([a-e]|\d+)", re.ASCII)
_BARE_NUMBER: Final = re.compile(r"([a-e]|[1-9])\.([1-9]\d?)", re.ASCII)


def known_claim(claim_id: str) -> Claim:
    """The claim of that id, or an :class:`InputError` that names the closest ids."""
    from fsl_num.claims import registry

    with refused():
        return registry.claim(claim_id)


def run_list(arguments: Arguments) -> int:
    """Print every claim of the registry, or those that say the words asked for."""
    from fsl_num.claims import registry
    from fsl_num.report import claims as report

    claims = registry.saying(arguments.words)
    if not claims:
        raise InputError(f"no claim says {' '.join(arguments.words)!r}: `fsl list` shows all of them")
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
    """Print one claim, or all of a label, verified unless that is not wanted. The status is 1 if one does not pass."""
    claims = claims_of(" ".join(arguments.id))
    from fsl_num.report import claims as report

    records: dict[str, Outcome] = {}
    if not arguments.no_verdict:
        from fsl_num.claims import runner
        from fsl_num.claims.cache import Cache, default_folder

        with progress_bar("verifying", "claim") as bar:  # with a claim come those that it rests on, or that correct it

            def progress(record: Outcome) -> None:
                bar.set_postfix_str(f"{record.claim_id}: {record.verdict}")
                bar.update()

            cache = Cache(default_folder())
            verified = runner.verify_all([claim.id for claim in claims], progress=progress, cache=cache)
        records = {outcome.claim_id: outcome for outcome in verified}
    if arguments.json:
        cards = [report.card_json(claim, records.get(claim.id)) for claim in claims]
        show_json(cards if len(cards) > 1 else cards[0])
    else:
        for at, claim in enumerate(claims):
            tables = {"mutants": arguments.mutants, "needs": arguments.needs}
            show(*[""] * min(at, 1), report.card(claim, records.get(claim.id), **tables))
    return 0 if all(records[claim.id].passes for claim in claims if records) else 1


def claims_named(names: Sequence[str]) -> list[Claim]:
    """The claims of such ids, labels, numbers (one word or two, ``theorem 5.3``) and lines, each once.

    >>> [claim.id for claim in claims_named(["thm:wsd", "lem: half-scale", "thm: wsd"])]
    ['thm: wsd', 'lem: half-scale']
    """
    joined: list[str] = []
    for name in names:
        if joined and _BARE_NUMBER.fullmatch(name.lower()) and joined[-1].isalpha():
            joined[-1] += f" {name}"
        else:
            joined.append(name)
    return list({claim.id: claim for name in joined for claim in claims_of(name)}.values())


def claims_of(name: str) -> Sequence[Claim]:
    """The claim with that id, or else all that bear that label, or those of the place at that line of the paper."""
    from fsl_num.claims.registry import all_claims, spaceless_lower

    if (line := line_of(name)) is not None:
        return _claims_at(line)
    if (numbered := numbered_place(name)) is not None:
        return _claims_at(numbered.line)
    for key in ("id", "label"):
        if claims := [claim for claim in all_claims() if spaceless_lower(getattr(claim, key)) == spaceless_lower(name)]:
            return claims
    return [known_claim(name)]


def line_of(name: str) -> int | None:
    """The line of the paper's source that is named ``739`` or ``line 739``; None of anything else.

    >>> line_of("line 739"), line_of("739"), line_of("thm: wsd")
    (739, 739, None)
    """
    line = "".join(name.split()).lower().removeprefix("line")
    return int(line) if line.isascii() and line.isdigit() else None


def numbered_place(name: str) -> Place | None:
    """The statement with a number (``theorem 5.3``), None of what has none; :class:`InputError` where there is none."""
    from fsl_num.claims.labels import STATEMENTS
    from fsl_num.claims.registry import spaceless_lower

    spaceless = spaceless_lower(name)
    if numbered := _NUMBERED.fullmatch(spaceless):
        return _place_numbered(numbered[1], f"{numbered[2].upper()}.{numbered[3]}")
    if (plain := _PLAIN_NUMBER.fullmatch(spaceless)) and plain[1] in STATEMENTS:
        raise InputError(
            f"{name!r} has no section: the paper counts its statements as {plain[1]} 5.1; `fsl list section 5` lists"
            " the claims of a section"
        )
    if _BARE_NUMBER.fullmatch(spaceless):
        raise InputError(
            f"{name!r} is the number of a statement or of a section: say which (theorem {name}, or lemma, "
            f"proposition, ...); `fsl list section {name}` lists the claims of a section"
        )
    return None


def _place_numbered(kind: str, number: str) -> Place:
    from fsl_num.claims.labels import STATEMENTS, statements_numbered

    if kind not in STATEMENTS:
        raise InputError(f"a statement with a number is one of {', '.join(STATEMENTS)}, not {kind!r}")
    by_kind, together = statements_numbered(kind, number)
    unknown = "the paper's source does not say how its statements are counted"
    if by_kind and together and by_kind != together:
        raise InputError(
            f"{kind} {number} is {by_kind.label} if each kind is counted by itself, {together.label} if all statements "
            f"of a section are together; {unknown}: name the one that you mean"
        )
    if (place := by_kind or together) is None:
        raise InputError(f"there is no {kind} {number}: `fsl list section {number[0]}` shows what is claimed there")
    way = "each kind" if by_kind else "all statements of a section together"
    complain(f"fsl: {kind} {number} is {place.label}, counting {way}; {unknown}")
    return place


def _claims_at(line: int) -> Sequence[Claim]:
    from fsl_num.claims.errata import errata
    from fsl_num.claims.label_table import PLACES
    from fsl_num.claims.labels import covering_claims, place_at
    from fsl_num.claims.registry import all_claims

    place = place_at(line)
    covering = covering_claims(place, all_claims(), PLACES)
    if not covering:
        raise InputError(f"line {line} of the paper's source: {place.label} is not checked; {place.excuse}")
    if not place.line <= line <= place.last:
        wrong = " and ".join(f"`fsl errata {erratum.id}`" for erratum in errata() if line == erratum.line)
        printed = f", but {wrong} shows a mistake there" if wrong else ""
        nearest = f"the nearest claim is at line {place.line}"
        complain(f"fsl: nothing is claimed at line {line} of the paper's source{printed}; {nearest}")
    return [known_claim(claim_id) for claim_id in covering]


COMMANDS = {
    "list": Command(
        "list",
        run_list,
        [
            click.Argument(["words"], nargs=-1, metavar="[WORD]..."),
            json_option(),
            flag("--labels", "every statement and numbered formula of the paper, and which claims cover it"),
        ],
        "List the claims, or those that have every WORD in their id, title or statement, or stand in section NUMBER "
        "(fsl list section 4.1).",
    ),
    "show": Command(
        "show",
        run_show,
        [
            click.Argument(["id"], metavar="ID", nargs=-1, required=True),
            json_option(choice="form"),
            flag("--mutants", "every wrong version of the claim, and what refutes it", choice="form"),
            flag("--needs", "which of its hypotheses the claim needs, measured outside them", choice="form"),
            flag("--no-verdict", "do not verify the claim"),
        ],
        "Show one claim (ID as fsl list shows it), or all that bear a label or number (fsl show theorem 5.1), or stand "
        "at a line of the paper's source: hypotheses, verdict, and where formula, proof, measurement, test and errata "
        "stand.",
    ),
}
