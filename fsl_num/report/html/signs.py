"""Formulas that are written in plain letters, as people type them, with Greek letters, indices and powers.

>>> print(typeset("K_infinity(t) t^(2-1/beta) <= C for t >= 1"))
K<sub>∞</sub>(t) t<sup>2−1/β</sup> ≤ C for t ≥ 1
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

_GREEK: Final = {
    name: letter
    for name, letter in zip(
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi omega Gamma "
        "Delta Theta Lambda Sigma Phi Psi Omega".split(),
        "αβγδεζηθκλμνξρστφχψωΓΔΘΛΣΦΨΩ",
        strict=True,
    )
}
_LARGE: Final = {"sum": "∑", "int": "∫", "grad": "∇"}
_RELATIONS: Final = {
    ">~": "≳",
    "<~": "≲",
    ">=": "≥",
    "<=": "≤",
    "!=": "≠",
    ">>": "≫",
    "<<": "≪",
    " - ": " − ",
    " -> ": " → ",
    " ~ N(": " ∼ N(",  # is distributed as
    " ~ ": " ≍ ",
}
_NAME = r"(?:[A-Za-z]|" + "|".join([*_GREEK, *_LARGE, "max", "min", "sup", "inf", "lim", "log"]) + ")"
_SUM = re.compile(rf"(?<!\w)sum(?= (?:(?:[A-Za-z]|{'|'.join(_GREEK)})[_^(]|\())")
_WORD = re.compile(rf"(?<!\w)\\?(?:{'|'.join([*_GREEK, *(_LARGE.keys() - {'sum'})])})(?![A-Za-z0-9])|^\\?sum$")
"""Names that have a sign; ``sum`` is a word, too, but where it has an index or a term behind it."""
_SCRIPT = re.compile(
    rf"(?<![\w.])(?P<name>\\?{_NAME})(?P<hat>\^(?=[_(\s]))?(?P<index>_(?!_))|(?<=[\w)\]}}'|])(?P<power>\^)(?=[-({{\w])"
)
_ATOM = re.compile(r"-?(?:\d+(?:\.\d+)?|[A-Za-z]+)(?![A-Za-z0-9_])|[-+](?=[,; )]|$)")
_PAIRS: Final = {"(": ")", "{": "}"}


def typeset(text: str) -> Markup:
    """A text with its formulas typeset; all else is escaped.

    Names of several letters (``peak_lr``) and what does not read as an index or a power stay as they are.

    >>> print(typeset("sum_{j<=M} lambda_j^(s-1), peak_lr, M^-(s beta)"))
    ∑<sub>j≤M</sub> λ<sub>j</sub><sup>s−1</sup>, peak_lr, M<sup>−s β</sup>
    >>> print(typeset("a finite sum, sum lambda_j"))
    a finite sum, ∑ λ<sub>j</sub>
    """
    parts, place = [], 0
    text = _SUM.sub(_LARGE["sum"], text)
    while match := _SCRIPT.search(text, place):
        script, after = _script(text, match.end())
        if not script:
            parts.append(_letters(text[place : match.end()]))
            place = match.end()
            continue
        parts.append(_letters(text[place : match.start()]))
        if match["power"]:
            parts.append(Markup("<sup>{}</sup>").format(_tight(script)))
        else:
            hat = "\N{COMBINING CIRCUMFLEX ACCENT}" if match["hat"] else ""
            parts.append(Markup("{}{}<sub>{}</sub>").format(_letters(match["name"]), hat, _tight(script)))
        place = after
    return Markup("").join([*parts, _letters(text[place:])])


def _tight(script: str) -> Markup:
    inside = re.sub(r"(?<![A-Za-z])(infinity|oo)(?![A-Za-z])", "∞", script)
    return Markup(str(typeset(inside)).replace("-", "−"))


def _letters(text: str) -> Markup:
    text = _WORD.sub(lambda word: (_GREEK | _LARGE)[word[0].removeprefix("\\")], text)
    text = re.sub(r"(?<=[\w)])\*(?=[^\W\d]|\()", " ", text)
    for typed, sign in _RELATIONS.items():
        text = text.replace(typed, sign)
    return escape(text)


def _script(text: str, start: int) -> tuple[str, int]:
    """What stands as an index or a power from here on, without the brackets around all of it, and where it ends."""
    sign = text[start : start + 1] == "-"
    opening = start + sign
    if (closing := _PAIRS.get(text[opening : opening + 1])) is None:
        atom = _ATOM.match(text, start)
        return (atom[0], atom.end()) if atom else ("", start)
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == text[opening]) - (text[at] == closing)
        if depth == 0:
            inside = text[opening + 1 : at]
            whole = f"({inside})" if sign and re.search("[-+/,]", inside) else inside
            return "-" * sign + whole, at + 1
    return "", start
