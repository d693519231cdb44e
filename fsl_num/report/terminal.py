"""The report of ``fsl verify`` for a terminal: the table of hearings, what failed and why, the errata, the sum."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from fsl_num.report.grid import Grid
from fsl_num.theorems.records import Erratum, Hearing, Verdict

HEADINGS = ("claim", "verdict", "regimes", "constants", "resolution", "mutants", "seconds")


GOALS = {"power": 0.02, "log_power": 0.25}
"""The errors of an exponent and of a log power that every check should refute under the full profile."""
ROUNDING = 1e-3
"""How far beyond its goal, relative, a resolution may lie that is found by bisection."""


def verification(hearings: Sequence[Hearing], errata: Sequence[Erratum], width: int, notes: Sequence[str] = ()) -> str:
    """The whole report, in at most ``width`` columns of text where words allow it; ``notes`` come before the sum."""
    parts = [hearings_grid(hearings).text(width)]
    failures = [hearing for hearing in hearings if not hearing.passes]
    if failures:
        parts.append("\n\n".join(failure_text(hearing, width) for hearing in failures))
    if errata:
        parts.append(errata_text(errata, width))
    parts.append("\n".join(_fill(line, width, "  ") for line in [*notes, summary(hearings)]))
    return "\n\n".join(parts)


def hearings_grid(hearings: Sequence[Hearing]) -> Grid:
    """One row a hearing, in the order given."""
    return Grid(HEADINGS, tuple(_row(hearing) for hearing in hearings), right=(5, 6), flexible=(0, 1, 2, 4))


def failure_text(hearing: Hearing, width: int) -> str:
    """Why a hearing did not pass: its message, and what each regime and derivation says that did not hold."""
    lines = [f"FAILED {hearing.claim_id}: {hearing.verdict}. {hearing.message}".rstrip()]
    lines += [f"  {detail}" for detail in _objections(hearing)]
    return "\n".join(_fill(line, width, "    ") for line in lines)


def errata_text(errata: Sequence[Erratum], width: int) -> str:
    """The mistakes found in the paper: where, as printed, corrected, and how it is known."""
    lines = [f"Errata of the paper ({len(errata)})"]
    for erratum in errata:
        lines.append(f"{erratum.id}, line {erratum.line} ({erratum.kind})")
        lines.append(_fill(f"  printed:   {erratum.as_printed}", width, " " * 13))
        lines.append(_fill(f"  corrected: {erratum.corrected}", width, " " * 13))
        lines.append(_fill(f"  evidence:  {erratum.evidence}", width, " " * 13))
    return "\n".join(lines)


def summary(hearings: Sequence[Hearing]) -> str:
    """One sentence: how many claims pass, by verdict, how many mutants were refuted, how long it took."""
    if not hearings:
        return "no claim was heard"
    passing = [_verdict(hearing) for hearing in hearings if hearing.passes]
    verdicts = [f"{count} {verdict}" for verdict, count in Counter(passing).most_common()]
    verdicts += [f"{len(hearings) - len(passing)} FAILED"] if len(passing) < len(hearings) else []
    refuted = sum(hearing.mutants_refuted for hearing in hearings)
    mutants = sum(hearing.mutants_total for hearing in hearings)
    seconds = sum(hearing.seconds for hearing in hearings)
    return (
        f"{len(passing)} of {len(hearings)} claims pass ({'; '.join(verdicts)}); "
        f"{refuted} of {mutants} mutants refuted; {seconds:.1f} seconds of hearings"
    )


def blunt(hearings: Sequence[Hearing]) -> dict[str, dict[str, float]]:
    """Claim -> its resolutions that miss the goal; claims without exponents, and those refuted, are not among them."""
    found = {}
    for hearing in hearings:
        missed = {
            kind: size for kind, size in hearing.resolution.items() if size > GOALS.get(kind, size) * (1 + ROUNDING)
        }
        if missed and hearing.verdict is not Verdict.REFUTED:
            found[hearing.claim_id] = missed
    return found


def resolution_note(hearings: Sequence[Hearing]) -> str:
    """One sentence: whether every exponent is resolved as well as it should be, and which are not."""
    goals = " and ".join(f"every {kind.replace('_', ' ')} to {size:g}" for kind, size in GOALS.items())
    missed = blunt(hearings)
    told = "; ".join(f"{claim_id} ({resolution_text(sizes)})" for claim_id, sizes in missed.items())
    return f"Resolution, {goals}: " + (f"missed by {told}" if missed else "all checks reach it")


def interval_text(constants: tuple[float, float] | None) -> str:
    """Two-sided constants to three digits, a dash where none were measured.

    >>> interval_text((0.51234, 12345.0)), interval_text(None)
    ('[0.512, 1.23e+04]', '-')
    """
    return "-" if constants is None else f"[{constants[0]:.3g}, {constants[1]:.3g}]"


def resolution_text(resolution: dict[str, float]) -> str:
    """The smallest error of each kind that the check refutes.

    >>> resolution_text({"power": 0.0125, "log_power": 0.25})
    'power 0.013, log power 0.25'
    """
    return ", ".join(f"{kind.replace('_', ' ')} {size:.2g}" for kind, size in resolution.items()) or "-"


def _row(hearing: Hearing) -> tuple[str, ...]:
    return (
        hearing.claim_id,
        _verdict(hearing),
        " ".join(regime.regime for regime in hearing.regimes) or "-",
        interval_text(hearing.constants),
        resolution_text(hearing.resolution),
        f"{hearing.mutants_refuted}/{hearing.mutants_total}",
        f"{hearing.seconds:.1f}",
    )


def _verdict(hearing: Hearing) -> str:
    if hearing.passes:
        return f"{hearing.verdict}, corrected" if hearing.verdict is Verdict.REFUTED else str(hearing.verdict)
    return f"{hearing.verdict}, FAILED"


def _objections(hearing: Hearing) -> Iterator[str]:
    for derivation in hearing.derivations:
        if not derivation.holds:
            counts = f"{derivation.verified} of {derivation.steps} steps verified"
            yield f"derivation {derivation.name}: {counts}. {derivation.detail}"
    for regime in hearing.regimes:
        if not regime.holds:
            yield f"{regime.regime}: does not hold, constants {interval_text(regime.constants)}. {regime.detail}"
        for mutant in regime.mutants:
            if not mutant.refuted:
                yield f"{regime.regime}: the mutant '{mutant.name}' was not refuted. {mutant.detail}"


def _fill(line: str, width: int, indent: str) -> str:
    return textwrap.fill(line.rstrip(), max(width, 40), subsequent_indent=indent, break_on_hyphens=False)
