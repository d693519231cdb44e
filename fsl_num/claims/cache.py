"""Outcomes kept on disk under the content of claim and code: what did not change is not checked again.

>>> import tempfile
>>> from fsl_num.claims.verification import verify
>>> from fsl_num.claims.registry import claim
>>> subject = claim("approximation-error")
>>> with tempfile.TemporaryDirectory() as folder:
...     cache = Cache(folder)
...     before = cache.get(subject, "quick", 0)
...     checked = verify(subject)
...     cache.put(subject, "quick", 0, checked)
...     before, cache.get(subject, "quick", 0) == checked, cache.get(subject, "quick", 1)
(None, True, None)
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fsl_num.claims.claim import Claim
from fsl_num.claims.records import Outcome, Verdict
from fsl_num.claims.registry import file_of
from fsl_num.claims.sources import LOADED, Sources, parts_of
from fsl_num.writing import check_writable, write_atomically

FORMAT = 1
"""Of the files; another one is not read."""
CHECKER = "fsl_num.claims.verification"
"""The module that verifies claims: its sources and all that they import count for every claim."""
LIBRARIES = ("numpy", "scipy", "sympy", "mpmath")
EXTRAS = {"flint": "python-flint"}
"""Packages that count for the claims whose code imports them, and what installs them."""
KEPT = 8
"""Outcomes of one claim and profile that are kept; the oldest go."""
NAME = "functional-scaling-laws"


def default_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where outcomes are kept unless said otherwise: FSL_CACHE, or else the place for caches of the platform.

    >>> default_folder({"FSL_CACHE": "outcomes"}).as_posix()
    'outcomes'
    >>> default_folder({"XDG_CACHE_HOME": "/somewhere"}).as_posix()
    '/somewhere/functional-scaling-laws'
    """
    if environment.get("FSL_CACHE"):
        return Path(environment["FSL_CACHE"])
    chosen = environment.get("XDG_CACHE_HOME")
    if chosen and Path(chosen).is_absolute():  # the convention: a relative one does not count
        return Path(chosen) / NAME
    if sys.platform == "win32" and environment.get("LOCALAPPDATA"):
        return Path(environment["LOCALAPPDATA"]) / NAME / "Cache"
    home = Path.home()
    return (home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache") / NAME


class Cache:
    """A folder of outcomes, one file each, written whole or not at all, so that any number of processes may share it.

    ``folder`` is made if need be; ``trouble`` says in a sentence why nothing is written there, or is empty.
    ``hits`` counts what was found. ``home`` is the folder of the packages whose sources count, by default of these. A
    worker gets a copy that makes no folder: on another machine nothing is left behind; all its tasks share it, as it
    has read the sources.
    """

    def __init__(self, folder: str | os.PathLike[str], home: Path | None = None, make: bool = True) -> None:
        self.folder = Path(folder).absolute()
        self.hits = 0
        self.trouble = ""
        self._home = home
        self._sources = Sources() if home is None else Sources(home)
        self._parts: dict[int, tuple[Claim, tuple[tuple[str, str], ...]]] = {}
        try:
            if make:
                self.folder.mkdir(parents=True, exist_ok=True)
            check_writable(self.folder / "probe")
        except (OSError, ValueError) as error:
            self._troubled(error)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_worker, (self.folder, self._home)

    def key(self, claim: Claim, profile: str, seed: int) -> str:
        """SHA-256 of all that an outcome depends on: sources, the claim's fields, profile, seed and versions."""
        parts = self._parts_of(claim)
        modules = _modules(claim, parts)
        extras = [library for package, library in EXTRAS.items() if self._sources.uses(package, modules)]
        content = [
            str(FORMAT),
            self._sources.digest(modules),
            *(text for kind, text in parts if kind == "value"),
            profile,
            str(seed),
            *versions(*LIBRARIES, *extras),
        ]
        return hashlib.sha256("\0".join(content).encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, claim: Claim, profile: str, seed: int) -> Outcome | None:
        """The outcome kept for this claim, code, profile and seed; None where there is none that can be trusted."""
        place = self._place(claim, profile)
        if not place.is_dir():  # nothing of it was ever kept, and no source need be read to know
            return None
        try:
            key = self.key(claim, profile, seed)
        except OSError:  # sources that cannot be read (an archive of modules): nothing is known of them
            return None
        path = place / f"{key}.json"
        outcome = _read(path, key)
        if outcome is None or outcome.claim_id != claim.id:
            return None
        with suppress(OSError):  # a folder that cannot be written may still be read
            os.utime(path)  # the newest is the one that was used last
        self.hits += 1
        return outcome

    def put(self, claim: Claim, profile: str, seed: int, outcome: Outcome) -> None:
        """Keep an outcome, unless it is kept already or there is no place to write.

        A check that broke (UNKNOWN) is not kept: what broke it, a lack of memory say, may be gone the next time. Nor is
        one of code that was changed while this process ran: it would count as the outcome of the new code.
        """
        if self.trouble or outcome.verdict is Verdict.UNKNOWN:
            return
        try:
            changed = self._sources.written_since(LOADED, _modules(claim, self._parts_of(claim)))
            if changed:
                self.trouble = f"outcomes are not kept, the source of {changed} was changed while this process ran"
                return
            key = self.key(claim, profile, seed)
            place = self._place(claim, profile)
            target = place / f"{key}.json"
            if _read(target, key) is None:
                for folder in (place.parent, place):  # not the folder itself: on another machine it is not there
                    folder.mkdir(exist_ok=True)
                write_atomically(target, _file_text(key, outcome))
                _prune(place)
        except OSError as error:
            self._troubled(error)

    def previous(self, claim: Claim, profile: str) -> Outcome | None:
        """What was last found for the claim under the profile, whatever the code was; None if nothing."""
        for path in _newest_first(self._place(claim, profile)):
            outcome = _read(path, path.stem)
            if outcome is not None:
                return outcome
        return None

    def seconds(self, claim: Claim, profile: str) -> float | None:
        """How long the claim took when it was last checked under the profile, whatever the code was; None if never."""
        outcome = self.previous(claim, profile)
        return None if outcome is None else outcome.seconds

    def _parts_of(self, claim: Claim) -> tuple[tuple[str, str], ...]:
        """What the claim is made of, read once; the claim is held, so that no other is taken for it."""
        if id(claim) not in self._parts:
            self._parts[id(claim)] = claim, parts_of(claim)
        return self._parts[id(claim)][1]

    def _place(self, claim: Claim, profile: str) -> Path:
        slug = re.sub(r"[^a-z0-9]+", "-", claim.id.lower()).strip("-")
        return self.folder / profile / f"{slug}-{hashlib.sha256(claim.id.encode()).hexdigest()[:8]}"

    def _troubled(self, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or str(error)
        self.trouble = f"outcomes are not kept, {str(self.folder)!r} cannot be written to: {reason}"


@cache
def _of_worker(folder: Path, home: Path | None) -> Cache:
    return Cache(folder, home, make=False)


def _modules(claim: Claim, parts: Iterable[tuple[str, str]]) -> set[str]:
    """The modules whose sources count for a claim made of these parts, apart from what they import.

    The file of its theorem is one, too: what it gave to a maker of claims need not be found in the claim.
    """
    return {CHECKER, file_of(claim.id), *(text for kind, text in parts if kind == "module")}


def _file_text(key: str, outcome: Outcome) -> str:
    content = json.dumps(outcome.to_exact_json(), ensure_ascii=False, allow_nan=False)
    checksum = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    record = {"format": FORMAT, "key": key, "checksum": checksum, "outcome": content}
    return json.dumps(record) + "\n"


def _read(path: Path, key: str) -> Outcome | None:
    """The outcome in a file; None if there is no such file, or it is broken, foreign or another claim's."""
    try:
        record = json.loads(path.read_bytes())
        content = record["outcome"]
        checksum = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        if (record["format"], record["key"], record["checksum"]) != (FORMAT, key, checksum):
            return None
        return Outcome.from_json(json.loads(content))
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _newest_first(folder: Path) -> list[Path]:
    try:
        aged = [(path.stat().st_mtime, path) for path in folder.glob("*.json")]
    except OSError:  # another process is just clearing up
        return []
    return [path for _, path in sorted(aged, reverse=True)]


def _prune(folder: Path) -> None:
    for path in _newest_first(folder)[KEPT:]:
        path.unlink(missing_ok=True)


@cache
def versions(*libraries: str) -> tuple[str, ...]:
    """Whatever else decides the digits of a measurement: the machine, the interpreter and these libraries."""
    names = [sys.platform, platform.machine(), sys.version]
    for name in libraries:
        try:
            names.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            names.append(f"no {name}")
    return tuple(names)
