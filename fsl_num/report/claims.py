"""The claims themselves: the list of them, and one claim's card with the way to its derivation, check and test."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fsl_num.claims.claim import Claim
from fsl_num.claims.records import Outcome
from fsl_num.claims.registry import group_of
from fsl_num.report.tables import fields, table
from fsl_num.report.verification import interval_text, resolution_text

_HOME = Path(__file__).resolve().parents[2]
"""The folder that holds the packages: the checkout, or where they were installed."""

_TEST = "tests/test_theorems.py"
"""The one generic test of every claim; it is part of a checkout, not of an installation."""


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


def card(claim: Claim, record: Outcome | None) -> Group:
    """Everything about one claim."""
    content = card_json(claim, record)
    head = [
        ("paper", f"{claim.label}, line {claim.line}"),
        ("role", claim.role + (f", strengthens {claim.strengthens}" if claim.strengthens else "")),
        ("claim", claim.wording),
    ]
    rest = [
        ("regimes", ", ".join(claim.regimes)),
        *(("hypothesis", str(hypothesis)) for hypothesis in claim.hypotheses),
        ("probability", claim.probability),
        ("depends on", ", ".join(claim.depends)),
        ("corrected by", claim.corrected_by or ""),
        *((name, _place(content[name])) for name in ("stated", "proof", "measured", "test")),
        *(("theorem", str(each.conclusion)) for each in claim.derivations()),
        *_verdict_fields(record),
    ]
    # The LaTeX formula is left whole, to be copied.
    formula = Text(f"  {'LaTeX':<14}{claim.latex}", no_wrap=True, overflow="ignore")
    return Group(Text(f"{claim.id}: {claim.title}", style="bold"), fields(head, 14), formula, fields(rest, 14))


def card_json(claim: Claim, record: Outcome | None) -> dict[str, Any]:
    """Everything about one claim as JSON-ready values."""
    return summary_json(claim) | {
        "text": claim.wording,
        "formula": str(claim.formula),
        "latex": claim.latex,
        "hypotheses": [str(each) for each in claim.hypotheses],
        "probability": claim.probability or None,
        "depends": list(claim.depends),
        "stated": stated_place(claim),
        "proof": source_place(claim.derive),
        "measured": source_place(claim.measure),
        "test": generic_test_place((_HOME, Path.cwd())),
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


def stated_place(claim: Claim) -> dict[str, Any] | None:
    """The file and line where a claim is written down: where its id stands as it is, else the file of its group.

    >>> from fsl_num.claims.registry import claim
    >>> stated_place(claim("approximation-error"))["file"].endswith("kernel/claims.py")
    True
    """
    group = group_of(claim.id)
    if not group:
        return None
    home = Path(sys.modules[group].__file__ or "").resolve()
    folder = home.parent
    for path in sorted(folder.glob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.match(rf'\s*(\w+\()?"{re.escape(claim.id)}"', line):
                return {"name": claim.id, "file": path.resolve().relative_to(_HOME).as_posix(), "line": number}
    return {"name": claim.id, "file": home.relative_to(_HOME).as_posix(), "line": 1}


def source_place(function: Any) -> dict[str, Any] | None:
    """Where a function is written: its name, file (seen from the folder of the packages) and line; None for None.

    >>> source_place(source_place)["file"]
    'fsl_num/report/claims.py'
    """
    if function is None:
        return None
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not (inspect.isfunction(function) or inspect.ismethod(function) or inspect.isclass(function)):
        function = type(function)  # an object that is called: its class is where it is written
    path = Path(inspect.getsourcefile(function) or inspect.getfile(function)).resolve()
    line = inspect.getsourcelines(function)[1]
    shown = path.relative_to(_HOME) if path.is_relative_to(_HOME) else path
    return {"name": function.__qualname__, "file": shown.as_posix(), "line": line}


def generic_test_place(folders: Sequence[Path]) -> dict[str, Any]:
    """Where the generic test of all claims stands: its function and line in the first folder that has the tests.

    Without the tests at hand the name and line are None.
    """
    for folder in folders:
        if (folder / _TEST).is_file():
            for node in ast.walk(ast.parse((folder / _TEST).read_text(encoding="utf-8"))):
                over = [ast.unparse(each) for each in node.decorator_list] if isinstance(node, ast.FunctionDef) else []
                if isinstance(node, ast.FunctionDef) and any("all_claims()" in each for each in over):
                    return {"name": node.name, "file": _TEST, "line": node.lineno}
    return {"name": None, "file": _TEST, "line": None}


def _place(place: dict[str, Any] | None) -> str:
    if place is None:
        return ""
    return f"{place['file']}:{place['line']} ({place['name']})" if place["line"] else str(place["file"])


def _verdict_fields(record: Outcome | None) -> Iterator[tuple[str, str]]:
    if record is None:
        return
    why = record.message or (f"not PROVED: {record.unproved}" if record.unproved else "")
    yield "verdict", f"{record.verdict} ({'passes' if record.passes else 'FAILED'}). {why}".rstrip()
    for each in record.derivations:
        yield "derived", f"{each.name}: {each.verified} of {each.steps} steps verified"
    for regime in record.regimes:
        yield (
            regime.regime,
            f"{'holds' if regime.holds else 'does not hold'}, constants {interval_text(regime.constants)}, "
            f"resolution {resolution_text(regime.resolution)}, "
            f"mutants {sum(mutant.refuted for mutant in regime.mutants)}/{len(regime.mutants)}",
        )
        for point in regime.points:
            holds = "" if point.holds else ": does not hold"
            yield "witness", f"s = {point.s}, beta = {point.beta}{holds}, constants {interval_text(point.constants)}"
