"""The page of ``fsl verify --html``: the report with the date and the versions that it was made with."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsl_num.theorems.records import Erratum, Hearing

_PACKAGES = ("functional-scaling-laws", "numpy", "scipy", "sympy", "mpmath")


def web_page(hearings: Sequence[Hearing], errata: Sequence[Erratum], *, profile: str, seed: int) -> str:
    """The report as one HTML document, made now and here."""
    from fsl_num.report.html import page

    now = datetime.now(UTC)
    date = f"{now.day} {now:%B %Y}"
    return page(hearings, errata, profile=profile, seed=seed, date=date, versions=versions())


def versions() -> dict[str, str]:
    """The versions of Python and of what measures and derives; a package that is not installed is left out.

    >>> list(versions())[0]
    'Python'
    """
    found = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # the checkout itself, where it is used without being installed
            continue
    return found
