"""``fsl verify``: hear the claims, show the verdicts, answer with the exit status."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fsl_num.cli.executors import check_executor, cores, executor_at
from fsl_num.cli.inputs import InputError, parameter_point, whole_number
from fsl_num.cli.targets import check_targets, write_content

if TYPE_CHECKING:
    from fsl_num.theorems.cache import Cache
    from fsl_num.theorems.records import Hearing

PROFILES = ("quick", "full", "deep")


def register(subcommands: Any) -> None:
    """Add ``verify`` to the command."""
    parser: argparse.ArgumentParser = subcommands.add_parser(
        "verify",
        help="hear the claims of the paper and judge them",
        description="Hear every claim (or those named): derive it, measure it, and refute its mutants. "
        "Exit status 0 only if every claim heard passes. Hearings are kept under the content of claim and code, and "
        "found again: a run that was killed goes on where it was, and only what changed is heard anew.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="claims to hear, by id (see fsl list); all by default")
    parser.add_argument("--profile", choices=PROFILES, default="quick", help="how much to measure (default: quick)")
    parser.add_argument(
        "--deep", action="store_const", const="deep", dest="profile", help="the same as --profile deep; for the night"
    )
    parser.add_argument("--json", metavar="PATH", help="also write the record as JSON; - writes only it, to stdout")
    parser.add_argument("--html", metavar="PATH", help="also write the report as one web page that needs no network")
    parser.add_argument("--jobs", type=whole_number(1), metavar="N", help="processes to use (default: one a core)")
    parser.add_argument("--executor", metavar="WHERE", help="processes (the default), or dask://HOST:PORT")
    keeping = parser.add_mutually_exclusive_group()
    keeping.add_argument("--cache", metavar="DIR", help="keep hearings there (default: the place for caches)")
    keeping.add_argument("--no-cache", action="store_true", help="hear everything anew and keep nothing")
    parser.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="seed of every draw (default: 0)")
    parser.add_argument("--at", metavar="S,BETA", help="judge the claims named at this one point, as in --at 1/2,4")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Hear, report, and return 0 if all passed, else 1."""
    _check_targets(arguments)
    if arguments.cache == "":
        raise InputError("--cache needs the name of a folder")
    where = _place_of_work(arguments)
    from fsl_num.cli.claims import known_claim
    from fsl_num.theorems import court, registry
    from fsl_num.theorems.errata import errata

    ids = tuple(dict.fromkeys(arguments.ids))  # a claim named twice is heard once
    for claim_id in ids:
        known_claim(claim_id)
    point = _point(arguments.at, ids)
    ids = ids or tuple(claim.id for claim in registry.claims())
    cache = None if point else _cache(arguments)
    jobs = min(arguments.jobs or cores(), len(ids))
    if jobs <= 1 and where == "processes":
        where = None
    with executor_at(where, jobs) as executor, _progress(len(ids)) as progress:
        hearings = (
            tuple(court.hear(registry.claim(each), arguments.profile, arguments.seed, at=[point]) for each in ids)
            if point
            else court.hear_all(
                ids, profile=arguments.profile, seed=arguments.seed, executor=executor, progress=progress, cache=cache
            )
        )
    # No claim heard is no proof of anything, so it does not pass.
    passed = bool(hearings) and all(hearing.passes for hearing in hearings)
    heard = {hearing.claim_id for hearing in hearings}
    mistakes = tuple(each for each in errata() if not arguments.ids or heard & set(each.depends))
    record = {
        "profile": arguments.profile,
        "seed": arguments.seed,
        "passed": passed,
        "from_cache": 0 if cache is None else cache.hits,
        "hearings": [hearing.to_json() for hearing in hearings],
        "errata": [mistake.to_json() for mistake in mistakes],
    }
    if arguments.html is not None:
        from fsl_num.cli.web_page import web_page

        write_content(
            "--html", arguments.html, web_page(hearings, mistakes, profile=arguments.profile, seed=arguments.seed)
        )
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if arguments.json == "-":
        sys.stdout.write(text)
        return 0 if passed else 1
    from fsl_num.report.terminal import verification

    width = shutil.get_terminal_size((120, 24)).columns
    print(verification(hearings, mistakes, width=width, notes=_notes(arguments.profile, hearings, cache)))
    if arguments.json is not None:
        write_content("--json", arguments.json, text)
    return 0 if passed else 1


def _point(typed: str | None, ids: Sequence[str]) -> tuple[Fraction, Fraction] | None:
    """The point of ``--at``, None where it is not given; refused where a claim named says nothing about it."""
    if typed is None:
        return None
    from fsl_num.theorems.hearing import sample_at
    from fsl_num.theorems.registry import claim

    if not ids:
        raise InputError("--at judges claims at one point: name at least one claim (fsl list shows them all)")
    s, comma, beta = typed.partition(",")
    if not comma:
        raise InputError(f"--at needs a point S,BETA, as in --at 1/2,4, not {typed!r}")
    point = parameter_point(s, beta)
    assert point is not None
    for claim_id in ids:
        try:
            sample_at(claim(claim_id), *point)
        except ValueError as error:
            raise InputError(f"--at: {error}") from error
    return point


def _check_targets(arguments: argparse.Namespace) -> None:
    """Refuse a file that cannot be written before the work whose result is to be written."""
    if arguments.html == "-":
        raise InputError("--html needs the name of a file: - is for --json alone")
    check_targets({"--json": arguments.json, "--html": arguments.html}, pictures=())


def _place_of_work(arguments: argparse.Namespace) -> str | None:
    check_executor(arguments.executor)
    if arguments.executor not in (None, "processes") and arguments.jobs is not None:
        raise InputError("--jobs is for processes of this machine: a Dask cluster has the workers that it has")
    return arguments.executor or "processes"


def _cache(arguments: argparse.Namespace) -> Cache | None:
    if arguments.no_cache:
        return None
    from fsl_num.theorems.cache import Cache, default_folder

    return Cache(arguments.cache or default_folder())


def _notes(profile: str, hearings: Sequence[Hearing], cache: Cache | None) -> list[str]:
    """What the report says beside the hearings: how sharp the checks are, and what came from where."""
    from fsl_num.report.terminal import resolution_note

    notes = [] if profile == "quick" else [resolution_note(hearings)]
    if cache is not None:
        notes.append(f"{cache.hits} of {len(hearings)} hearings came from the cache in {str(cache.folder)!r}")
        notes += [cache.trouble] if cache.trouble else []
    return notes


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Hearing], None]]:
    """A live bar on standard error; it moves with every claim heard and is wiped when all are."""
    from tqdm import tqdm

    with tqdm(total=total, unit="claim", desc="hearing", file=sys.stderr, leave=False, dynamic_ncols=True) as bar:

        def heard(hearing: Hearing) -> None:
            # A claim that the paper has wrong brings the claim that corrects it, so more may be heard than were named.
            bar.total = max(bar.total or 0, bar.n + 1)
            bar.set_postfix_str(f"{hearing.claim_id}: {hearing.verdict}")
            bar.update()

        yield heard
