"""The claims themselves: the list of them, and one claim's card with the way to its derivation, check and test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fsl_num.claims import outside
from fsl_num.claims.claim import Claim
from fsl_num.claims.definitions import not_compared, standard_letters
from fsl_num.claims.errata import errata
from fsl_num.claims.records import Erratum, Outcome
from fsl_num.claims.registry import all_claims
from fsl_num.claims.words import Assumed, Where
from fsl_num.report.mathml import paper_words
from fsl_num.report.places import Place, places
from fsl_num.report.plain import plain
from fsl_num.report.tables import fields, table, whole_field
from fsl_num.report.verification import interval_text, resolution_text
from fsl_sym.named_sums import written


def listing(claims: Sequence[Claim]) -> Table:
    """Every claim on a line: id, regimes, title."""
    return table(("claim", "regimes", "title"), [(claim.id, " ".join(claim.regimes), claim.title) for claim in claims])


def labels_listing(account: Sequence[Mapping[str, Any]]) -> Table:
    """Every place of the paper on a line: where it stands, and which claims cover it or why none can."""
    rows = []
    for place in account:
        reason = place["not_checkable"]
        covered = ", ".join(place["claims"]) or (f"not checkable: {reason}" if reason else "by no claim")
        rows.append((str(place["line"]), place["kind"], place["label"], covered))
    return table(("line", "kind", "label", "covered by"), rows, right=(0,))


def card(claim: Claim, record: Outcome | None, *, mutants: bool = False, needs: bool = False) -> Group:
    """Everything about one claim; ``mutants``: with every wrong version of it and what refutes that.

    ``needs``: with each hypothesis that is a relation, measured outside it: whether the claim fails there.
    """
    head = [
        ("paper", f"{claim.label}, line {claim.line}"),
        ("role", claim.role + (f", strengthens {claim.strengthens}" if claim.strengthens else "")),
        ("refuted words" if claim.corrected_by else "words printed", plain(paper_words(claim.quoted))),
        ("claim", plain(claim.wording)),
    ]
    lines = [
        ("regimes", ", ".join(claim.regimes)),
        *(("where", plain(letters)) for letters in claim.where),
        ("letters", plain("; ".join(standard_letters(claim)))),
        *(("hypothesis", plain(assumption)) for assumption in claim.assumptions),
        *(("not measured", plain(f"{assumed}: {assumed.why}")) for assumed in claim.assumed),
        *(("not compared", plain(definition)) for definition in not_compared(claim)),
        *(("by others", plain(f"{whose}: {words}")) for whose, words in claim.elsewhere.items()),
        ("remark", claim.remark),
        ("probability", claim.probability),
        ("depends on", ", ".join(claim.depends)),
        ("corrected by", claim.corrected_by or ""),
        *(("would hold", plain(part)) for part in claim.would_hold),
        *((name, _place(place, claim.id)) for name, place in places(claim).items()),
        *(("theorem", plain(f"${derivation.conclusion.latex(written)}$")) for derivation in claim.derivations()),
        *_verdict_fields(record),
    ]
    formula = whole_field("LaTeX", claim.latex, 15)
    wrong = [whole_field("erratum", erratum.file, 15) for erratum in errata_about(claim)]
    parts: list[Any] = [
        Text(f"{claim.id}: {claim.title}", style="bold"),
        fields(head, 15),
        formula,
        fields(lines, 15),
        *wrong,
    ]
    tables = [mutants_table(record)] if mutants and record is not None else []
    return Group(*parts, *tables, *([needs_table(claim)] if needs else []))


def needs_table(claim: Claim) -> Table:
    """Every relation among the hypotheses of a claim, whether the claim needs it, and where that is seen."""
    known = outside.needs(claim, all_claims())
    rows = [(plain(f"${need.relation.latex()}$"), need.need.value, need.detail) for need in known]
    return table(("hypothesis", "needed", "seen at"), rows)


def mutants_table(record: Outcome) -> Table:
    """Every wrong version of a claim: the regime in which it was judged, and what refutes it or why nothing can."""
    rows = [
        (mutant.name, regime.regime, mutant.detail if mutant.refuted else f"not refuted. {mutant.excuse}".rstrip())
        for regime in record.regimes
        for mutant in regime.mutants
    ]
    return table(("mutant", "regime", "refuted by"), rows)


def card_json(claim: Claim, record: Outcome | None) -> dict[str, Any]:
    """Everything about one claim as JSON-ready values."""
    return summary_json(claim) | {
        "quoted": claim.quoted or None,
        "text": claim.wording,
        "formula": str(claim.formula),
        "latex": claim.latex,
        "hypotheses": [str(known) for known in claim.hypotheses if not isinstance(known, Where | Assumed)],
        "assumed": {str(known): known.why for known in claim.assumed},
        "where": list(claim.where),
        "not_compared": not_compared(claim),
        "letters": standard_letters(claim),
        "elsewhere": claim.elsewhere,
        "would_hold": list(claim.would_hold),
        "remark": claim.remark or None,
        "probability": claim.probability or None,
        "depends": list(claim.depends),
        **{"formula_place" if name == "formula" else name: place for name, place in places(claim).items()},
        "errata": [{"id": erratum.id, "kind": erratum.kind, "file": erratum.file} for erratum in errata_about(claim)],
        "outcome": None if record is None else record.to_json(),
    }


def summary_json(claim: Claim) -> dict[str, Any]:
    """What the list says of a claim, as JSON-ready values."""
    return {
        "id": claim.id,
        "label": claim.label,
        "line": claim.line,
        "title": claim.title,
        "regimes": list(claim.regimes),
        "corrected_by": claim.corrected_by,
        "role": claim.role,
        "strengthens": claim.strengthens,
    }


def errata_about(claim: Claim) -> tuple[Erratum, ...]:
    """The errata that rest on a claim or stand at its label.

    >>> from fsl_num.claims.registry import claim
    >>> [erratum.id for erratum in errata_about(claim("eqn: sde"))]
    ['physical-sde-time']
    """
    return tuple(erratum for erratum in errata() if claim.id in erratum.depends or erratum.label == claim.label)


def _place(place: Place | None, claim_id: str) -> str:
    if place is None or not place["line"]:
        return "" if place is None else str(place["file"])
    name = "" if place["name"] == claim_id else f" ({place['name']})"
    return f"{place['file']}:{place['line']}{name}"


def _combinations(ranks: tuple[int, int] | None) -> str:
    return "" if ranks is None else f" ({ranks[0]} of {ranks[1]} combinations of exponents)"


def _verdict_fields(record: Outcome | None) -> Iterator[tuple[str, str]]:
    if record is None:
        return
    why = record.message or (f"not PROVED: {record.unproved}" if record.unproved else "")
    yield "verdict", f"{record.verdict} ({'passes' if record.passes else 'FAILED'}). {why}".rstrip()
    for derivation in record.derivations:
        yield "derived", f"{derivation.name}: {derivation.verified} of {derivation.steps} steps verified"
    for regime in record.regimes:
        yield (
            regime.regime,
            f"{'holds' if regime.holds else 'does not hold'}, constants {interval_text(regime.constants)}, "
            f"resolution {resolution_text(regime.resolution)}{_combinations(regime.combinations)}, "
            f"mutants {sum(mutant.refuted for mutant in regime.mutants)}/{len(regime.mutants)}",
        )
        for point in regime.points:
            holds = "" if point.holds else ": does not hold"
            yield "witness", f"s = {point.s}, beta = {point.beta}{holds}, constants {interval_text(point.constants)}"
