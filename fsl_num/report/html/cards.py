"""The cards of claims and errata: what their templates need, for one page that holds them all or for many pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment

from fsl_num.claims.claim import Claim
from fsl_num.claims.definitions import not_compared, standard_letters
from fsl_num.claims.labels import where
from fsl_num.claims.optima import optima
from fsl_num.claims.records import Erratum, Outcome, Verdict
from fsl_num.report.html import drawings
from fsl_num.report.html.texts import Texts, anchors, exponential, interval, number, templates
from fsl_num.report.mathml import display
from fsl_num.report.places import Place, places
from fsl_sym.algebra.printing import latex
from fsl_sym.named_sums import written
from fsl_sym.proof import Derivation
from fsl_sym.proof.formulas import RELATIONS


@dataclass(frozen=True)
class Sign:
    """How a verdict is shown, so that colour is never the only sign: its mark, and what it means in a sentence."""

    mark: str
    meaning: str


SIGNS = {
    Verdict.PROVED: Sign("■", "a theorem of the proof kernel is its formula, under hypotheses that the claim has"),
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


def environment(
    records: Sequence[Outcome],
    errata: Sequence[Erratum],
    claims: Sequence[Claim],
    address: Callable[[str, str], str] = lambda _, anchor: f"#{anchor}",
    source: Callable[[Place], str] = lambda _: "",
    *,
    lemmas: bool = False,
) -> Environment:
    """The templates, and as their globals all that a card shows.

    Parameters
    ----------
    records
        The verdicts that are shown.
    errata
        The mistakes of the paper that are shown.
    claims
        The claims of the records.
    address
        The link to a claim or an erratum from its id and the id of its element; by default within one page.
    source
        The link to a place in the sources; empty where they are not shown.
    lemmas
        Whether derivations show their lemmas with all steps; else they name them.
    """
    shown = {claim.id: claim for claim in claims}
    anchor = anchors("claim", shown) | anchors("erratum", (erratum.id for erratum in errata))
    href = {name: address(name, identifier) for name, identifier in anchor.items()}
    text = Texts(href)
    made = templates("fsl_num.report.html")
    made.tests["contains"] = lambda whole, part: part in whole
    made.globals |= dict(
        signs=SIGNS, roles=ROLES, records=records, errata=errata, claims=shown, anchor=anchor, href=href,
        by_id={record.claim_id: record for record in records},
        text=text, formula=display, number=number, interval=interval, remark=_remark,
        relations=lambda claim: _relations(claim, claims), where=where, evidence=_evidence, source=source,
        maps=drawings.constants_map, drifts_of=drawings.drift_plot, width=drawings.WIDTH, height=drawings.HEIGHT,
        tables=lambda record: _tables(record, text), survivors_of=_survivors, mutants_of=_mutants,
        optima_of=lambda claim: optima(claim.formula), written=written, letters_of=standard_letters,
        not_compared=not_compared,
        derivations_of=lambda claim: tuple(map(_chain, claim.derivations())), lemmas=lemmas,
    )  # fmt: skip
    return made


_STATIONS: Mapping[str, str] = {
    "stated": "Stated", "formula": "Formula", "proof": "Derivation", "measured": "Measurement", "test": "Test",
}  # fmt: skip
"""What :func:`~fsl_num.report.places.places` finds, as a card names it."""


def _evidence(claim: Claim) -> list[tuple[str, Place]]:
    places_of = places(claim)
    return [(name, place) for key, name in _STATIONS.items() if (place := places_of[key]) and place["line"]]


@dataclass(frozen=True)
class Step:
    """One step of a derivation in LaTeX: relation and right side, and why; ``lemmas`` are what it rests on."""

    formula: str
    why: str
    lemmas: tuple[Chain, ...]


@dataclass(frozen=True)
class Chain:
    """A derivation in LaTeX: where it starts, and its steps."""

    title: str
    start: str
    steps: tuple[Step, ...]


def _chain(derivation: Derivation) -> Chain:
    steps = tuple(
        Step(
            f"{RELATIONS[step.relation][0]} {latex(step.after)}",
            step.why,
            tuple(_chain(lemma) for lemma in getattr(step.rule, "lemmas", ()) if isinstance(lemma, Derivation)),
        )
        for step in derivation
    )
    return Chain(derivation.title, latex(derivation.steps[0].before), steps)


def _remark(record: Outcome) -> str:
    """What must be added to the verdict for a reader to know whether all is well."""
    if record.verdict is Verdict.REFUTED and record.passes:
        return "its correction stands"
    return "" if record.passes else "open"


def _relations(claim: Claim, claims: Sequence[Claim]) -> Iterator[tuple[str, list[str]]]:
    """How a claim stands to others, in both directions: a name and the ids."""
    yield "Rests on", list(claim.depends)
    yield "Used by", [dependent.id for dependent in claims if claim.id in dependent.depends]
    yield "Corrected by", [claim.corrected_by] if claim.corrected_by else []
    yield "Corrects", [corrected.id for corrected in claims if corrected.corrected_by == claim.id]
    yield "Strengthens", [claim.strengthens] if claim.strengthens else []
    yield "Strengthened by", [stronger.id for stronger in claims if stronger.strengthens == claim.id]


def _tables(record: Outcome, text: Texts) -> Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]], set[int]]]:
    """What lies behind a verdict: caption, headings, rows, and the indices of columns of numbers."""
    holds = {True: "holds", False: "fails"}
    rows: list[tuple[object, ...]] = [
        (part.regime, holds[part.holds], part.samples, interval(part.constants), number(part.drift), text(part.detail))
        for part in record.regimes
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
    return [f"{part.regime}: {mutant.name}" for part in record.regimes for mutant in part.mutants if not mutant.refuted]


def _mutants(record: Outcome) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Every wrong version once: its name, and what rejected it in which regimes."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for regime in record.regimes:
        for mutant in regime.mutants:
            why = mutant.detail or mutant.excuse or ("rejected" if mutant.refuted else "accepted")
            by_name.setdefault(mutant.name, {}).setdefault(why, []).append(regime.regime)
    for name, reasons in by_name.items():
        yield name, [(", ".join(regimes), why) for why, regimes in reasons.items()]


def _once(name: str) -> str:
    """A name without a prefix that says the same.

    >>> _once("excess risk: excess risk"), _once("upper: t to infinity")
    ('excess risk', 'upper: t to infinity')
    """
    prefix, _, suffix = name.partition(": ")
    return prefix if prefix == suffix else name
