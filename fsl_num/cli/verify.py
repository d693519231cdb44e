"""``fsl verify``: check the claims, show the verdicts, answer with the exit status."""

from __future__ import annotations

import filecmp
import json
import platform
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import click

from fsl_num.cli.executors import check_executor, cores, executor_at
from fsl_num.cli.inputs import InputError, parameter_point
from fsl_num.cli.options import Arguments, Command, Names, Option, flag, json_option, whole
from fsl_num.cli.output import Outputs, as_json, progress_bar, show_json

if TYPE_CHECKING:
    from fsl_num.claims.cache import Cache
    from fsl_num.claims.records import Erratum, Outcome

_FARTHEST: Final = 1000
_PACKAGES: Final = ("functional-scaling-laws", "numpy", "scipy", "sympy", "mpmath")


def run(arguments: Arguments) -> int:
    """Verify, report, and return 0 if all passed, else 1."""
    outputs = Outputs({"--report": arguments.report, "--html": arguments.html}, pictures=(), json=arguments.json)
    if arguments.cache == "":
        raise InputError("--cache needs the name of a folder")
    where = _place_of_work(arguments)
    from fsl_num.claims import registry, runner
    from fsl_num.claims.errata import errata
    from fsl_num.claims.labels import place_verdicts
    from fsl_num.cli.claims import claims_named

    ids = tuple(claim.id for claim in claims_named(arguments.ids))
    point = _point(arguments.at, ids)
    ids = tuple(dict.fromkeys(ids)) or tuple(claim.id for claim in registry.all_claims())
    profile = "deep" if arguments.deep else arguments.profile
    cache = None if point else _cache(arguments)
    before = {claim.id: cache.previous(claim, profile) for claim in registry.all_claims()} if cache is not None else {}
    known = runner.settle({claim_id: record for claim_id, record in before.items() if record is not None})
    if point is not None:
        claims = map(registry.claim, ids)
        records = tuple(runner.verify(claim, profile, arguments.seed, at=[point]) for claim in claims)
    else:
        records = _verified(ids, profile, arguments, where, cache)
    # No claim checked is no proof of anything, so it does not pass.
    passed = bool(records) and all(record.passes for record in records)
    checked = {record.claim_id for record in records}
    mistakes = tuple(erratum for erratum in errata() if not arguments.ids or checked & set(erratum.depends))
    places = place_verdicts(registry.all_claims(), {outcome.claim_id: outcome for outcome in records})
    now = datetime.now(UTC)
    content = {
        "profile": profile,
        "seed": arguments.seed,
        "date": now.isoformat(timespec="seconds"),
        "versions": versions(),
        "passed": passed,
        "from_cache": 0 if cache is None else cache.hits,
        "outcomes": [record.to_json() for record in records],
        "errata": [mistake.to_json() for mistake in mistakes],
        "places": places,
    }
    made = {name: content[name] for name in ("profile", "seed", "versions")} | {"date": f"{now.day} {now:%B %Y}"}
    outputs.write("--html", lambda: _page(records, mistakes, made, whole=not arguments.ids))
    outputs.write("--report", lambda: as_json(content) + "\n")
    if arguments.json:
        show_json(content)
    else:
        from fsl_num.report.verification import records_table, verification

        if records and (arguments.table or arguments.ids):
            outputs.show(records_table(records), "")
        notes = _notes(profile, records, cache)
        named, account = (ids, None) if arguments.ids else ((), places)
        outputs.show(
            *verification(records, mistakes, known, notes, whole=not arguments.ids, places=account, named=named)
        )
    if any(record.message == runner.LOST for record in records):
        return 3
    return 0 if passed else 1


def _verified(
    ids: Sequence[str], profile: str, arguments: Arguments, where: str | None, cache: Cache | None
) -> tuple[Outcome, ...]:
    """The outcomes of claims and of those that correct them, checked side by side, with a bar that says how far."""
    from fsl_num.claims import runner

    jobs = min(arguments.jobs or cores(), len(ids))
    if jobs <= 1 and where == "processes":
        where = None
    with executor_at(where, jobs) as executor, progress_bar("verifying", "claim", len(ids)) as bar:

        def progress(record: Outcome) -> None:
            # A claim that the paper has wrong brings the claim that corrects it: there may be more than were named.
            bar.total = max(bar.total or 0, bar.n + 1)
            bar.set_postfix_str(f"{record.claim_id}: {record.verdict}")
            bar.update()

        return runner.verify_all(
            ids, profile=profile, seed=arguments.seed, executor=executor, progress=progress, cache=cache
        )


def _page(records: Sequence[Outcome], mistakes: Sequence[Erratum], made: dict[str, Any], *, whole: bool) -> str:
    """The report as a page; ``whole``: of all claims, with the optima of every schedule."""
    from fsl_num.report.html import page
    from fsl_num.report.table import paired
    from fsl_sym.allocation import table

    return page(records, mistakes, optima=paired(table()) if whole else None, **made)


def versions() -> dict[str, str]:
    """The versions of Python and of what measures and derives, and the commit; what is not installed is left out.

    >>> list(versions())[0]
    'Python'
    """
    numbers = {"Python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):  # the checkout itself, where it is used without being installed
            numbers[name] = version(name)
    origin = None
    with suppress(PackageNotFoundError, ValueError, AttributeError):  # what pip notes of where a package came from
        origin = json.loads(distribution(_PACKAGES[0]).read_text("direct_url.json") or "{}").get("url")
    if commit := commit_of(Path(__file__).resolve().parents[2], origin):
        numbers["commit"] = commit
    return numbers


def commit_of(home: Path, origin: str | None = None) -> str | None:
    """The commit of the sources in a folder, a clone or installed from the one at ``origin``; None if it is not known.

    It is that of ``origin`` only while the sources there are those that were installed.

    >>> commit_of(Path("/nowhere"))
    """
    root = home
    if not (root / ".git").exists() and origin and urlsplit(origin).scheme == "file":
        root = Path(url2pathname(urlsplit(origin).path))
        packages = home / "fsl_num", home / "fsl_sym"
        sources = [str(path.relative_to(home)) for package in packages for path in package.rglob("*.py")]
        if filecmp.cmpfiles(home, root, sources, shallow=False)[0] != sources:
            return None
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def _point(typed: str | None, ids: Sequence[str]) -> tuple[Fraction, Fraction] | None:
    """The point of ``--at``, None where it is not given; refused where a claim named says nothing about it."""
    if typed is None:
        return None
    from fsl_num.claims.registry import claim
    from fsl_num.claims.verification import sample_at

    if not ids:
        raise InputError("--at judges claims at one point: name at least one claim (fsl list shows them all)")
    s, comma, beta = typed.partition(",")
    if not comma:
        raise InputError(f"--at needs a point S,BETA, as in --at 1/2,4, not {typed!r}")
    point = parameter_point(s, beta, ("--at: s", "--at: beta"))
    assert point is not None
    if max(point) > _FARTHEST:
        raise InputError(f"--at: s and beta must be at most {_FARTHEST:,}, beyond which a measurement has no digits")
    for claim_id in ids:
        try:
            sample_at(claim(claim_id), *point)
        except ValueError as error:
            raise InputError(f"--at: {error}") from error
    return point


def _place_of_work(arguments: Arguments) -> str | None:
    check_executor(arguments.executor)
    if arguments.executor not in (None, "processes") and arguments.jobs is not None:
        raise InputError("--jobs is for processes of this machine: a Dask cluster has the workers that it has")
    return arguments.executor or "processes"


def _cache(arguments: Arguments) -> Cache | None:
    if arguments.no_cache:
        return None
    from fsl_num.claims.cache import Cache, default_folder

    return Cache(arguments.cache or default_folder())


def _notes(profile: str, records: Sequence[Outcome], cache: Cache | None) -> list[str]:
    """What the report says beside the verdicts: how sharp the checks are, and what came from where."""
    from fsl_num.report.verification import resolution_note

    notes = [] if profile == "quick" else [resolution_note(records)]
    if cache is not None:
        notes.append(f"{cache.hits} of {len(records)} results came from the cache in {str(cache.folder)!r}")
        notes += [cache.trouble] if cache.trouble else []
    return notes


COMMANDS = {
    "verify": Command(
        "verify",
        run,
        [
            click.Argument(["ids"], nargs=-1, metavar="[ID]..."),
            Option("--profile", type=Names("fsl_num.claims.verification:SAMPLES"), default="quick",
                   help="how much to measure (default: quick)"),
            flag("--deep", "the same as --profile deep; for the night"),
            flag("--table", "also a row for each claim: constants, resolution, mutants, seconds (always with an ID)"),
            json_option(file="--report"),
            Option("--report", metavar="FILE", help="also write what --json prints to a file (-: as --json)"),
            Option("--html", metavar="FILE", help="also write the report as one web page that needs no network"),
            Option("--jobs", type=whole(1), help="processes to use (default: one a core)"),
            Option("--executor", metavar="WHERE", help="processes (the default), or dask://HOST:PORT"),
            Option("--cache", metavar="DIR", help="keep results there (default: the place for caches)",
                   choice="cache"),
            flag("--no-cache", "check everything anew and keep nothing: whoever can write the cache can forge verdicts",
                 choice="cache"),
            Option("--seed", type=whole(0), default=0, help="seed of every draw (default: 0)"),
            Option("--at", metavar="S,BETA", help="judge the claims named at this one point, as in --at 1/2,4"),
        ],
        "Check every claim of the paper, or those with an ID, a label or a number (fsl verify theorem 5.1), or at a "
        "line of its source: derive it, measure it, and refute its mutants. Exit status 0 only if every claim passes. "
        "Results are kept under the content of claim and code, and found again: a run that was killed goes on where it "
        "was, and only what changed is checked anew.",
    )
}  # fmt: skip
