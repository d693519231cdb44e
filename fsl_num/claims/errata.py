r'''Where the paper is wrong: each erratum is a Markdown file in ``fsl_num/paper/<section>/errata``.

The name of the file is the id of the erratum. Front matter says where it is, and four sections what and why:

>>> own = parse("""---
... label: "thm: x"
... line: 12
... kind: "typo"
... falls: "nothing"
... claims: []
... repeat: "sed -n 12p functional_scaling_laws.tex"
... ---
...
... ## As printed
...
... $D^{-1}$ "as the theorem says"
...
... ## What is wrong
...
... The power is that of another theorem.
...
... ## Corrected
...
... $D^{-2}$
...
... ## Evidence
...
... The proof has $D^{-2}$.
... """, "fsl_num/paper/model/errata/wrong-power.md")
>>> own.id, own.line, own.corrected
('wrong-power', 12, '$D^{-2}$')

Formulas stand between dollar signs, each within one line, names of labels and claims between backticks, and what is
between double quotes in "As printed" are words of the paper near that line. An erratum that rests on no claim says
which command repeats its evidence: of ``fsl``, a test of a clone, or what shows the lines of the paper's source.
'''

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, NoReturn

from fsl_num.claims.records import FALLS, KINDS, Erratum

_KEYS: dict[str, type] = {"label": str, "line": int, "kind": str, "falls": str, "claims": list, "repeat": str}
_SECTIONS = ("As printed", "What is wrong", "Corrected", "Evidence")
_MARKED = re.compile(r"(?<![A-Za-z0-9])\$(?P<formula>[^$]+)\$(?![A-Za-z0-9])|`[^`]+`")
_ONE_SENTENCE = re.compile(r"[^.]*(?:\.\d[^.]*)*\.")
_SIGN_OF_A_FORMULA = re.compile(r"[$`\\^_*<>=~|{}\[\]]")
_SPOILT = re.compile(r"^ | $|\*|\\[^A-Za-z]|(?<![A-Za-z0-9])_")
"""What Markdown changes in a formula before it is typeset: emphasis and escapes; and dollar signs beside a space."""


@cache
def errata() -> tuple[Erratum, ...]:
    """Every erratum, ordered by its line in the paper's source.

    Whether the claims exist that errata name is asked by :func:`check_claims`: no claim is needed to read errata.

    Raises
    ------
    ValueError
        A file is not in the form of an erratum, or two errata share an id.

    Examples
    --------
    >>> all(erratum.evidence for erratum in errata())
    True
    """
    entries = []
    for section in files("fsl_num.paper").iterdir():
        folder = section / "errata"
        if folder.is_dir():
            for file in folder.iterdir():
                name = f"fsl_num/paper/{section.name}/errata/{file.name}"
                entries.append(parse(file.read_text(encoding="utf-8"), name))
    ids = [entry.id for entry in entries]
    doubled = sorted({claim_id for claim_id in ids if ids.count(claim_id) > 1})
    if doubled:
        raise ValueError(f"these ids stand for more than one erratum: {', '.join(doubled)}")
    return tuple(sorted(entries, key=lambda erratum: (erratum.line, erratum.file)))


def check_claims(errata: Iterable[Erratum], known: Collection[str]) -> None:
    """Raise ValueError where an erratum names a claim whose id is not among the ``known``.

    >>> check_claims([Erratum("own", "thm: x", 12, "typo", "a", "not so", "b", "c", ("thm: y",))], ["thm: x"])
    Traceback (most recent call last):
    ValueError: erratum own refers to thm: y, which is no claim
    """
    for erratum in errata:
        unknown = sorted(set(erratum.depends) - set(known))
        if unknown:
            raise ValueError(
                f"{erratum.file or f'erratum {erratum.id}'} refers to {', '.join(unknown)}, which is no claim"
            )


def parse(text: str, file: str) -> Erratum:
    """The erratum that a file holds.

    Parameters
    ----------
    text
        Front matter between two lines ``---`` with label, line, kind, falls and claims, each value as JSON, and repeat
        where claims do not say how the evidence is repeated; then the sections "As printed", "What is wrong" (one
        sentence), "Corrected" and "Evidence".
    file
        The file as messages name it; its name is the id of the erratum.

    Raises
    ------
    ValueError
        The text has not that form: the message names the file and the line.
    """
    lines = text.splitlines()
    if lines[:1] != ["---"] or "---" not in lines[1:]:
        _refuse(file, 1, "an erratum begins with front matter between two lines '---'")
    end = lines.index("---", 1)
    front = _front_matter(lines[1:end], file)
    sections: dict[str, str] = {}
    name = ""
    for number, line in enumerate(lines[end + 1 :], end + 2):
        if line.startswith("#"):
            name = line.removeprefix("## ")
            if len(sections) == len(_SECTIONS) or name != _SECTIONS[len(sections)]:
                _refuse(file, number, f"the sections are ## {', ## '.join(_SECTIONS)}, in this order, not {line!r}")
            sections[name] = ""
        elif line.strip():
            if not name:
                _refuse(file, number, "a text before the first section '## As printed'")
            _check_formulas(line, file, number)
            sections[name] = f"{sections[name]} {line.strip()}".lstrip()
    empty = [section for section in _SECTIONS if not sections.get(section)]
    if empty:
        _refuse(file, len(lines), f"the section '## {empty[0]}' is missing or empty")
    printed, wrong, corrected, evidence = (sections[section] for section in _SECTIONS)
    if printed == corrected:
        _refuse(file, len(lines), "the correction must differ from what is printed")
    if not _ONE_SENTENCE.fullmatch(_MARKED.sub("x", wrong)):
        _refuse(file, len(lines), f"'## What is wrong' must be one sentence with a full stop, not {wrong!r}")
    return Erratum(
        PurePosixPath(file).stem, front["label"], front["line"], front["kind"], printed, wrong, corrected, evidence,
        tuple(front["claims"]), file, front["falls"], front.get("repeat", ""),
    )  # fmt: skip


def _front_matter(lines: list[str], file: str) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for number, line in enumerate(lines, 2):
        key, _, text = line.partition(": ")
        if key not in _KEYS or key in entries:
            _refuse(file, number, f"{key!r} is not one of {', '.join(_KEYS)}, or is given twice")
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        fits = type(value) is _KEYS[key] and value not in ("", 0)
        if not fits or (key == "claims" and not all(isinstance(claim_id, str) for claim_id in value)):
            wish = {"line": "the number of a line", "claims": "a list of ids in quotes"}.get(key, "a text in quotes")
            _refuse(file, number, f"{key} must be {wish}, not {text!r}")
        allowed = {"kind": KINDS, "falls": FALLS}.get(key)
        if allowed is not None and value not in allowed:
            _refuse(file, number, f"{key} must be one of {', '.join(allowed)}, not {value!r}")
        entries[key] = value
    missing = [key for key in _KEYS if key not in entries and (key != "repeat" or entries.get("claims") == [])]
    if missing:
        _refuse(file, len(lines) + 2, f"the front matter does not say {', '.join(missing)}")
    return entries


def _check_formulas(line: str, file: str, number: int) -> None:
    """Refuse a formula that is not between dollar signs of this line, or that Markdown would change."""
    if line.count("$") % 2:
        _refuse(file, number, "a formula begins and ends with a dollar sign in one line: here is an odd number of them")
    sign = _SIGN_OF_A_FORMULA.search(_MARKED.sub(" ", line))
    if sign:
        _refuse(file, number, f"{sign[0]!r} outside of a formula $...$ that stands apart from letters, or of `a name`")
    for marked in _MARKED.finditer(line):
        spoilt = _SPOILT.search(marked["formula"] or "")
        if spoilt:
            _refuse(
                file, number, f"Markdown would change {spoilt[0]!r} in ${marked['formula']}$: "
                r"write \ast, \lbrace, \Vert, an index right after a letter, and no space beside a dollar sign"
            )  # fmt: skip


def _refuse(file: str, number: int, why: str) -> NoReturn:
    raise ValueError(f"{file}:{number}: {why}")
