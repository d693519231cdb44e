"""The report as one web page that needs nothing but itself: no network, and no script to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import groupby

from markupsafe import Markup

from fsl_num.claims.claim import Claim
from fsl_num.claims.labels import in_reading_order, section_of
from fsl_num.claims.records import Erratum, Outcome
from fsl_num.report.errata import counts
from fsl_num.report.html.cards import ROLES, environment
from fsl_num.report.html.graph import graph
from fsl_num.report.html.texts import capital, number

__all__ = ["page"]

STYLES = ("colours.css", "cards.css", "page.css")
SCRIPTS = ("page.js", "graph.js", "scrolled.js")
Table = tuple[tuple[str, ...], list[tuple[str, ...]]]

TITLE = "Functional scaling laws: every claim, checked"
PAPER = "Functional Scaling Laws in Kernel Regression: Loss Dynamics and Learning Rate Schedules"


def page(
    records: Sequence[Outcome],
    errata: Sequence[Erratum],
    *,
    profile: str,
    seed: int,
    claims: Sequence[Claim] | None = None,
    date: str = "",
    versions: Mapping[str, str] | None = None,
    optima: Table | None = None,
) -> str:
    """The report as one HTML document that loads nothing.

    Parameters
    ----------
    records
        The verdicts; the page shows them in the order of the paper.
    errata
        The mistakes found in the paper, in the order in which the page shows them.
    profile, seed
        Under which profile the claims were checked, and the seed of every draw.
    claims
        Where to find what was checked; the registry by default.
    date
        When the claims were checked, as it is to be shown.
    versions
        Names and versions of what was used, as they are to be shown.
    optima
        Headings and rows of Table 1 (:func:`~fsl_num.report.table.paired`); not shown where it is None.

    Returns
    -------
    str
        The document.

    Raises
    ------
    ValueError
        A record is of no claim.

    Examples
    --------
    >>> page([], [], profile="quick", seed=0, claims=[]).startswith("<!DOCTYPE html>")
    True
    """
    if claims is None:
        from fsl_num.claims.registry import all_claims as registered

        claims = registered()
    known = {claim.id: claim for claim in claims}
    missing = [record.claim_id for record in records if record.claim_id not in known]
    if missing:
        raise ValueError(f"these records are of no claim known here: {', '.join(missing)}; pass `claims` with them")
    records = sorted(records, key=lambda record: in_reading_order(known[record.claim_id]))
    shown = {record.claim_id: known[record.claim_id] for record in records}
    folder = files("fsl_num.report.html")
    document = environment(records, errata, tuple(shown.values())).get_template("page.html.j2").render(
        title=TITLE, paper=PAPER,
        made={"profile": profile, "seed": seed} | ({"checked": date} if date else {}) | dict(versions or {}),
        totals=_totals(records, errata), counts=capital(counts(errata)), graph=graph(list(shown.values())),
        verdicts_present=list(dict.fromkeys((outcome.verdict.value, outcome.verdict.lower()) for outcome in records)),
        roles_present=list(dict.fromkeys((claim.role, ROLES.get(claim.role, claim.role)) for claim in shown.values())),
        optima=optima, sections=_by_section(records, shown),
        style=Markup("".join((folder / name).read_text(encoding="utf-8") for name in STYLES)),
        script=Markup("".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)),
    )  # fmt: skip
    return f"{document.strip()}\n"


def _by_section(records: Sequence[Outcome], claims: Mapping[str, Claim]) -> list[tuple[str, str, list[Outcome]]]:
    """The records by the section of the paper in which their claims stand: its number, its title, the records."""
    by_section = groupby(records, key=lambda record: section_of(claims[record.claim_id].line))
    return [(section.number, section.title, list(members)) for section, members in by_section]


def _totals(records: Sequence[Outcome], errata: Sequence[Erratum]) -> str:
    refuted = sum(record.mutants_refuted for record in records)
    mutants = sum(record.mutants_total for record in records)
    seconds = sum(record.seconds for record in records)
    corrected = sum(record.passes and not record.verdict.passes for record in records)
    parts = [
        f"{refuted:,} of {mutants:,} wrong versions were refuted in {number(seconds, 3)} seconds of processor time.",
        "One claim fails as it stands while its correction holds." if corrected == 1 else "",
        f"{corrected} claims fail as they stand while their corrections hold." if corrected > 1 else "",
        f"{capital(counts(errata))}." if errata else "",
    ]
    return " ".join(part for part in parts if part)
