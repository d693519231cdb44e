"""The report as one web page that needs nothing but itself: no network, and no script to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fsl_num.claims.claim import Claim
from fsl_num.claims.records import Erratum, Outcome, Verdict
from fsl_num.report.errata import counts
from fsl_num.report.html import drawings
from fsl_num.report.html.graph import graph
from fsl_num.report.html.texts import Texts, anchors, exponential, interval, number
from fsl_num.report.mathml import display

__all__ = ["page"]

TITLE = "Functional scaling laws: every claim, checked"
PAPER = "Functional Scaling Laws in Kernel Regression: Loss Dynamics and Learning Rate Schedules"


@dataclass(frozen=True)
class Sign:
    """How a verdict is shown, so that colour is never the only sign: its mark, and what it means in a sentence."""

    mark: str
    meaning: str


SIGNS = {
    Verdict.PROVED: Sign("■", "an exact identity: every step of its derivation is verified by machine"),
    Verdict.ENCLOSED: Sign("⊂", "shown by rigorous intervals that enclose the true value"),
    Verdict.SUPPORTED: Sign(
        "✓", "measured by an independent route; the same check refuses every wrong version of the claim put to it"
    ),
    Verdict.REFUTED: Sign("✗", "fails as it stands; the claim that corrects it is linked from it"),
    Verdict.UNKNOWN: Sign("?", "not decided: a check broke, or a step of the derivation does not verify"),
    Verdict.VACUOUS: Sign("∅", "the check also accepts a wrong version of the claim, so that it shows nothing"),
}
ROLES = {
    "printed": "as printed",
    "corrected": "corrected",
    "argument": "step of a proof",
    "stronger": "stronger",
    "own": "ours",
}
_MANY = 40
"""Above so many points only those that fail say what decided: the page must stay light enough to be sent."""


def page(
    records: Sequence[Outcome],
    errata: Sequence[Erratum],
    *,
    profile: str,
    seed: int,
    claims: Sequence[Claim] | None = None,
    date: str = "",
    versions: Mapping[str, str] | None = None,
) -> str:
    """The report as one HTML document that loads nothing.

    Parameters
    ----------
    records
        The verdicts, in the order in which the page shows them.
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
    shown = {record.claim_id: known[record.claim_id] for record in records}
    claim_anchors = anchors("claim", shown)
    erratum_anchors = anchors("erratum", (erratum.id for erratum in errata))
    text = Texts({**claim_anchors, **erratum_anchors})
    # The files of the page are part of this package.
    environment = Environment(
        loader=PackageLoader("fsl_num.report.html", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.tests["contains"] = lambda whole, part: part in whole
    folder = files("fsl_num.report.html")
    document = environment.get_template("page.html.j2").render(
        title=TITLE, paper=PAPER, signs=SIGNS, roles=ROLES, records=records, errata=errata, claims=shown,
        by_id={record.claim_id: record for record in records},
        claim_anchors=claim_anchors, erratum_anchors=erratum_anchors,
        made={"profile": profile, "seed": seed} | ({"checked": date} if date else {}) | dict(versions or {}),
        totals=_totals(records, errata), counts=_capital(counts(errata)), graph=graph(list(shown.values())),
        verdicts_present=list(dict.fromkeys((each.verdict.value, each.verdict.lower()) for each in records)),
        roles_present=list(dict.fromkeys((each.role, ROLES.get(each.role, each.role)) for each in shown.values())),
        text=text, formula=display, number=number, interval=interval, remark=_remark,
        relations=lambda claim: _relations(claim, list(shown.values())),
        maps=drawings.constants_map, drifts_of=drawings.drift_plot, width=drawings.WIDTH, height=drawings.HEIGHT,
        tables=lambda record: _tables(record, text), survivors_of=_survivors, mutants_of=_mutants,
        style=Markup((folder / "page.css").read_text(encoding="utf-8")),
        script=Markup((folder / "page.js").read_text(encoding="utf-8")),
    )  # fmt: skip
    return f"{document.strip()}\n"


def _remark(record: Outcome) -> str:
    """What must be added to the verdict for a reader to know whether all is well."""
    if record.verdict is Verdict.REFUTED and record.passes:
        return "its correction stands"
    return "" if record.passes else "open"


def _totals(records: Sequence[Outcome], errata: Sequence[Erratum]) -> str:
    refuted = sum(record.mutants_refuted for record in records)
    mutants = sum(record.mutants_total for record in records)
    seconds = sum(record.seconds for record in records)
    corrected = sum(record.passes and not record.verdict.passes for record in records)
    parts = [
        f"{refuted:,} of {mutants:,} wrong versions were refuted in {number(seconds, 3)} seconds.",
        "One claim fails as it stands while its correction holds." if corrected == 1 else "",
        f"{corrected} claims fail as they stand while their corrections hold." if corrected > 1 else "",
        f"{_capital(counts(errata))}." if errata else "",
    ]
    return " ".join(part for part in parts if part)


def _relations(claim: Claim, claims: Sequence[Claim]) -> Iterator[tuple[str, list[str]]]:
    """How a claim stands to others, in both directions: a name and the ids."""
    yield "Rests on", list(claim.depends)
    yield "Carries", [each.id for each in claims if claim.id in each.depends]
    yield "Corrected by", [claim.corrected_by] if claim.corrected_by else []
    yield "Corrects", [each.id for each in claims if each.corrected_by == claim.id]
    yield "Strengthens", [claim.strengthens] if claim.strengthens else []
    yield "Strengthened by", [each.id for each in claims if each.strengthens == claim.id]


def _tables(record: Outcome, text: Texts) -> Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]], set[int]]]:
    """What lies behind a verdict: caption, headings, rows, and the indices of columns of numbers."""
    holds = {True: "holds", False: "fails"}
    rows: list[tuple[object, ...]] = [
        (each.regime, holds[each.holds], each.samples, interval(each.constants), number(each.drift), text(each.detail))
        for each in record.regimes
    ]
    yield "Regime by regime", ("regime", "verdict", "points", "constants", "drift", "what decided"), rows, {2, 3, 4}
    points = [(regime.regime, point) for regime in record.regimes for point in regime.points]
    rows = [
        (
            f"{point.s}, {point.beta}", regime, holds[point.holds], interval(point.constants),
            number(drawings.spread(point)), number(point.drift),
            "" if len(points) > _MANY and point.holds else text(point.detail),
        )
        for regime, point in points
    ]  # fmt: skip
    if rows:
        headings = ("s, β", "regime", "verdict", "[c, C]", "C/c", "drift", "what decided")
        yield "Point by point", headings, rows, {3, 4, 5}
    rows = [
        (
            text(_once(curve.name)),
            regime, f"{exponential(curve.scale[0])} to {exponential(curve.scale[-1])}",
            *map(exponential, (curve.ratio[0], curve.ratio[-1], min(curve.ratio), max(curve.ratio))),
        )
        for regime, curve in drawings.curves(record)
    ]  # fmt: skip
    if rows:
        headings = ("path", "regime", "scale", "first ratio", "last ratio", "least", "greatest")
        yield "Measured over claimed, path by path", headings, rows, {2, 3, 4, 5, 6}


def _survivors(record: Outcome) -> list[str]:
    return [f"{each.regime}: {mutant.name}" for each in record.regimes for mutant in each.mutants if not mutant.refuted]


def _mutants(record: Outcome) -> list[str]:
    return list(dict.fromkeys(mutant.name for each in record.regimes for mutant in each.mutants))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _once(name: str) -> str:
    """A name without a prefix that says the same.

    >>> _once("excess risk: excess risk"), _once("upper: t to infinity")
    ('excess risk', 'upper: t to infinity')
    """
    prefix, _, rest = name.partition(": ")
    return prefix if prefix == rest else name
