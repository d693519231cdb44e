"""What ``fsl verify`` ends with: the counts of verdicts, what fails and what is new, and where to look next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from fsl_num.claims.labels import NOT_CHECKABLE, OPEN
from fsl_num.claims.records import Erratum, Outcome, Verdict
from fsl_num.report.errata import counts
from fsl_num.report.tables import fields, table

HEADINGS = ("claim", "verdict", "regimes", "constants", "resolution", "mutants", "seconds")
STYLES = {
    Verdict.PROVED: "blue",
    Verdict.ENCLOSED: "cyan",
    Verdict.SUPPORTED: "green",
    Verdict.REFUTED: "red",
    Verdict.UNKNOWN: "magenta",
    Verdict.VACUOUS: "yellow",
}
GOALS = {"power": 0.02, "log_power": 0.25}
"""The errors of an exponent and of a log power that every check should refute under the full profile."""
ROUNDING = 1e-2
"""How far beyond its goal, relative, a resolution may lie that is found by bisection."""
_MOST = 8
"""So many claims of a kind are named on the screen; the others are counted."""


def verification(
    records: Sequence[Outcome],
    errata: Sequence[Erratum],
    previous: Mapping[str, Outcome],
    notes: Sequence[str] = (),
    *,
    whole: bool = True,
    places: Mapping[str, str] | None = None,
    named: Sequence[str] = (),
) -> list[Any]:
    """One screen about all records: texts and tables.

    Parameters
    ----------
    records
        What was found of each claim.
    errata
        The mistakes of the paper that these claims show.
    previous
        What an earlier run found, by claim; empty where there was none.
    notes
        Said before the sum.
    whole
        Whether these are all claims: then a claim that fails gets two lines, else with all its objections.
    places
        Of all places of the paper that make a claim the verdict on what is printed; counted, if given.
    named
        The claims that were asked for; the others are those that they rest on.
    """
    failures = [record for record in records if not record.passes]
    parts: list[Any] = [_counts(records, Counter(places.values()) if places else None)] if records else []
    if failures:
        parts += ["", Text(f"Not passing ({len(failures)})", style="bold red")]
        parts += [line for record in failures[:_MOST] for line in failure(record, 1 if whole else None)]
        parts += _remainder_words(len(failures), "of these")
    parts += _changes(records, previous) if previous else []
    parts += ["", *(Text(note) for note in notes), Text(summary(records))]
    return [*parts, "", Text("Where to look next", style="bold"), _next(records, errata, failures, named)]


def records_table(records: Sequence[Outcome]) -> Table:
    """One row a claim, in the order given."""
    return table(HEADINGS, map(_row, records), right=(5, 6))


def failure(record: Outcome, most: int | None = None) -> Iterator[Any]:
    """Why a claim did not pass: its message, and what each regime and derivation says that did not hold."""
    objections = list(_objections(record))
    yield Text(f"{record.claim_id}: {record.verdict}. {record.message}".rstrip())
    if objections[:most]:
        yield fields([("", objection) for objection in objections[:most]])


def summary(records: Sequence[Outcome]) -> str:
    """One sentence: how many claims pass, how many mutants were refuted, how long it took."""
    if not records:
        return "no claim was checked"
    refuted = sum(record.mutants_refuted for record in records)
    mutants = sum(record.mutants_total for record in records)
    seconds = sum(record.seconds for record in records)
    passing = sum(record.passes for record in records)
    return (
        f"{passing} of {len(records)} claims pass; {refuted} of {mutants} mutants refuted; "
        f"{seconds:.1f} seconds of processor time"
    )


def unresolved(records: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Claim -> its resolutions that miss the goal; claims without exponents, and those refuted, are not among them."""
    missed = {
        record.claim_id: {
            kind: size for kind, size in record.resolution.items() if size > GOALS.get(kind, size) * (1 + ROUNDING)
        }
        for record in records
        if record.verdict is not Verdict.REFUTED
    }
    return {claim_id: sizes for claim_id, sizes in missed.items() if sizes}


def resolution_note(records: Sequence[Outcome]) -> str:
    """One sentence: whether every exponent is resolved as well as it should be, and which are not."""
    goals = " and ".join(f"every {kind.replace('_', ' ')} to {size:g}" for kind, size in GOALS.items())
    missed = "; ".join(f"{claim_id} ({resolution_text(sizes)})" for claim_id, sizes in unresolved(records).items())
    return f"Resolution, {goals}: " + (f"missed by {missed}" if missed else "all checks reach it")


def interval_text(constants: tuple[float, float] | None) -> str:
    """Two-sided constants to three digits, a dash where none were measured.

    >>> interval_text((0.51234, 12345.0)), interval_text(None)
    ('[0.512, 1.23e+04]', '-')
    """
    return "-" if constants is None else f"[{constants[0]:.3g}, {constants[1]:.3g}]"


def resolution_text(resolution: Mapping[str, float]) -> str:
    """The smallest error of each kind that the check refutes.

    >>> resolution_text({"power": 0.0125, "log_power": 0.25})
    'power 0.013, log power 0.25'
    """
    return ", ".join(f"{kind.replace('_', ' ')} {size:.2g}" for kind, size in resolution.items()) or "-"


def _counts(records: Sequence[Outcome], places: Mapping[str, int] | None) -> Table:
    counted = Counter(record.verdict for record in records)
    failed = Counter(record.verdict for record in records if not record.passes)
    notes = {verdict: f"{number} do not pass" for verdict, number in failed.items()}
    if counted[Verdict.REFUTED] > failed[Verdict.REFUTED]:
        corrected = f"{counted[Verdict.REFUTED] - failed[Verdict.REFUTED]} pass: what corrects them holds"
        notes[Verdict.REFUTED] = ", ".join(filter(None, [notes.get(Verdict.REFUTED), corrected]))
    rows = [
        (Text(verdict, style=STYLES[verdict]), str(counted[verdict]), notes.get(verdict, ""))
        for verdict in Verdict
        if counted[verdict]
    ]
    if places is None:
        return table(("verdict", "claims", ""), rows, right=(1,))
    shown = [(name, count, str(places.get(str(name), 0)), note) for name, count, note in rows]
    shown += [(Text(name), "", str(places[name]), "") for name in (NOT_CHECKABLE, OPEN) if places.get(name)]
    return table(("verdict", "claims", "places of the paper", ""), shown, right=(1, 2))


def _changes(records: Sequence[Outcome], previous: Mapping[str, Outcome]) -> list[Any]:
    """What is new, and which verdicts are not those of the run before."""
    before = {claim_id: record.verdict for claim_id, record in previous.items()}
    moved = [outcome for outcome in records if before.get(outcome.claim_id, outcome.verdict) is not outcome.verdict]
    new = [outcome for outcome in records if outcome.claim_id not in before]
    if not moved and not new:
        return ["", "No verdict differs from that of the run before."]
    lines = [f"{outcome.claim_id}: {before[outcome.claim_id]} before, {_verdict(outcome)} now" for outcome in moved]
    if len(new) <= len(before):  # else hardly anything was verified before
        lines += [f"{outcome.claim_id}: new, {_verdict(outcome)}" for outcome in new]
    head = Text(f"Since the run before: {len(moved)} changed, {len(new)} verified for the first time", style="bold")
    return ["", head, *(Text(f"  {line}") for line in lines[:_MOST]), *_remainder_words(len(lines), "of these")]


def _remainder_words(count: int, kind: str) -> list[str]:
    return [f"  and {count - _MOST} more {kind}"] if count > _MOST else []


def _next(
    records: Sequence[Outcome], errata: Sequence[Erratum], failures: Sequence[Outcome], named: Sequence[str]
) -> Table:
    refuted = [record for record in records if record.verdict is Verdict.REFUTED]
    asked = [record for record in records if record.claim_id in named]
    some = (failures or refuted or asked or records)[:1]
    rows = [(f'fsl show "{record.claim_id}"', "everything about one claim") for record in some]
    if errata:
        argument = f" {errata[0].id}" if len(errata) == 1 else ""
        rows.append((f"fsl errata{argument}", f"what is wrong in the paper: {counts(errata)}"))
    rows.append(("fsl verify --html report.html", "all claims on one page, with constants, drifts and the graph"))
    if len(records) > _MOST:
        rows.append(("fsl verify --table", "a row for each claim"))
    return fields(rows)


def _row(record: Outcome) -> tuple[str | Text, ...]:
    return (
        record.claim_id,
        Text(_verdict(record), style=STYLES[record.verdict]),
        " ".join(regime.regime for regime in record.regimes) or "-",
        interval_text(record.constants),
        resolution_text(record.resolution),
        f"{record.mutants_refuted}/{record.mutants_total}",
        f"{record.seconds:.1f}",
    )


def _verdict(record: Outcome) -> str:
    if record.passes:
        return f"{record.verdict}, corrected" if record.verdict is Verdict.REFUTED else str(record.verdict)
    return f"{record.verdict}, FAILED"


def _objections(record: Outcome) -> Iterator[str]:
    for derivation in record.derivations:
        if not derivation.holds:
            verified = f"{derivation.verified} of {derivation.steps} steps verified"
            yield f"derivation {derivation.name}: {verified}. {derivation.detail}"
    for regime in record.regimes:
        if not regime.holds:
            yield f"{regime.regime}: does not hold, constants {interval_text(regime.constants)}. {regime.detail}"
        for mutant in regime.mutants:
            if not mutant.refuted:
                yield f"{regime.regime}: the mutant '{mutant.name}' was not refuted. {mutant.detail}"
