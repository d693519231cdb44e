"""LaTeX of a claim as MathML, in pieces that may be broken where a line ends.

>>> print(formula("e_M(t) \\\\asymp t^{-s}").count("<math"))
1
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from xml.etree import ElementTree

from fsl_num.report.html.elements import Html, element, escape, joined

_ALPHABETS = {
    "script": "SCRIPT",
    "bold": "BOLD",
    "bold-italic": "BOLD ITALIC",
    "double-struck": "DOUBLE-STRUCK",
    "fraktur": "FRAKTUR",
}
_FUNCTIONS = frozenset({"log", "exp", "min", "max", "sup", "inf", "lim", "ln", "tr"})
_OPERATORS = {"~": "∼", ":": ":", "^": "^"}
_NEWLINE = re.compile(r"\\\\")
_SPACE = re.compile(r"(?<=,)\s*\\(?:quad|qquad|\s)|\\qquad\b|\\quad\b")
_RELATION = re.compile(
    r"=|\\(?:preceq|succeq|lesssim|gtrsim|asymp|eqsim|simeq|sim|leq?|geq?|leftarrow|rightarrow|to)(?![A-Za-z])"
)
_PLUS = re.compile(r"\+")
_ALIGNED = re.compile(r"\\(?:begin|end)\{(?:aligned|align\*?|split|gathered)\}")
_BRACES = frozenset({r"\{", r"\}"})
_WORD = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_DEPTH = {mark: 1 for mark in ("{", "(", "[", r"\left", r"\begin", r"\{", r"\bigl")}
_DEPTH |= {mark: -1 for mark in ("}", ")", "]", r"\right", r"\end", r"\}", r"\bigr")}
_UNSEEN = re.compile(r"\\(?:mathrm|mathbf|mathcal|mathbb|text|left|right)(?![A-Za-z])|[{}_^ ]")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_LONG = 30
"""Formulas of more signs may be broken before a relation: so many fit on a phone."""
_SPACED = frozenset("⪯⪰")
"""Relations to which browsers give no space by themselves."""


def formula(latex: str) -> Html:
    """The formula, a row for each of its lines, each row in pieces; its source as code where it cannot be typeset."""
    try:
        flat = _ALIGNED.sub("", latex).replace("&", "") if _ALIGNED.search(latex) else latex
        rows = [[_math(piece) for piece in _pieces(line)] for line in _split(flat, _NEWLINE)]
    except Exception:  # whatever the converter meets: a formula in its source is better than a page that fails
        code = element("code", latex, role="math", aria_label=f"formula in LaTeX: {latex}")
        return element("div", code, class_="formula source")
    lines = (element("div", joined(row, " "), class_="row") for row in rows if row)
    return element("div", *lines, class_="formula")


def _pieces(line: str) -> list[str]:
    """The parts of a line between which it may be broken: after commas; before relations and plus where it is long."""
    parts = list(_split(line, _SPACE))
    for mark in (_RELATION, _PLUS):
        nested = [list(_split(part, mark, keep=True)) if _length(part) > _LONG else [part] for part in parts]
        parts = [part for group in nested for part in group]
    return parts


def _length(latex: str) -> int:
    """About how many signs a formula shows.

    >>> _length(r"\\mathrm{tr}(\\mathbf H_M^2)")
    7
    """
    return len(_COMMAND.sub("x", _UNSEEN.sub("", latex)))


def _split(latex: str, mark: re.Pattern[str], *, keep: bool = False) -> Iterator[str]:
    """Parts at the marks that stand outside all brackets; with ``keep`` a mark stays, at the head of its part."""
    depth, start, place = 0, 0, 0
    while place < len(latex):
        found = mark.match(latex, place) if depth == 0 else None
        if found is not None:
            if latex[start:place].strip():
                yield latex[start:place].strip()
                start = place
            place = found.end()
            start = start if keep else place
            continue
        word = _WORD.match(latex, place)
        token = word.group() if word else latex[place]
        depth += _DEPTH.get(token, 0)
        place += len(token)
    if latex[start:].strip():
        yield latex[start:].strip()


def _math(latex: str) -> Html:
    from latex2mathml.converter import convert

    tree = ElementTree.fromstring(convert(latex, display="block"))
    for node in tree.iter():
        node.tag = node.tag.rpartition("}")[2]
        if node.text in _BRACES:  # as the converter leaves them after \\Big
            node.text = node.text[1:]
        if node.tag == "merror" or "\\" in (node.text or ""):
            raise ValueError(f"cannot be typeset: {latex}")
    _mend(tree)
    if _RELATION.match(latex) or _PLUS.match(latex):
        first = next(node for node in tree.iter() if node.tag == "mo")
        first.attrib.update(form="infix", lspace="0", rspace="0.28em")
    body = Html("".join(ElementTree.tostring(child, encoding="unicode") for child in tree))
    # The source goes with the formula, for whoever copies it.
    note = element("annotation", latex, encoding="application/x-tex")
    apart = ' class="apart"' if latex.endswith(",") else ""
    return Html(f'<math displaystyle="true"{apart}><semantics>{body}{escape(note)}</semantics></math>')


def _mend(parent: ElementTree.Element) -> None:
    """What browsers need otherwise: letters of other alphabets, operators as operators, space after functions."""
    for index, node in reversed(list(enumerate(parent))):
        _mend(node)
        text = (node.text or "").strip()
        if node.tag == "mi" and text in _OPERATORS:
            node.tag, node.text = "mo", _OPERATORS[text]
        if node.tag == "mo" and text == "/":
            node.set("lspace", "0.05em")
            node.set("rspace", "0.05em")
        if node.tag in {"mo", "mi"} and text in _SPACED:
            node.tag = "mo"
            node.set("lspace", "0.28em")
            node.set("rspace", "0.28em")
        variant = node.get("mathvariant")
        if variant in _ALPHABETS and len(text) == 1:
            node.text = _letter(text, _ALPHABETS[variant])
            del node.attrib["mathvariant"]
        if node.tag == "mrow" and len(node) > 1 and all(_is_upright(child) for child in node):
            # A word such as tr is one identifier, not a product of letters.
            word = "".join(child.text or "" for child in node)
            node.clear()
            node.tag, node.text = "mi", word
        if node.tag == "mo" and text in _FUNCTIONS:
            node.tag = "mi"
            node.attrib.clear()
        if node.tag in {"mi", "msub", "msup"} and _name(node) in _FUNCTIONS and index + 1 < len(parent):
            following = parent[index + 1]
            if following.tag not in {"mo", "mspace"} and parent.tag in {"mrow", "math", "mstyle"}:
                parent.insert(index + 1, ElementTree.Element("mspace", width="0.17em"))
        if node.tag == "mover" and len(node) == 2 and (node[1].text or "") in {"^", "¯", "~"}:
            node.set("accent", "true")
            node[1].tag = "mo"
            node[1].set("stretchy", "false")


def _name(node: ElementTree.Element) -> str:
    first = node[0] if node.tag in {"msub", "msup"} and len(node) else node
    return (first.text or "").strip()


def _is_upright(node: ElementTree.Element) -> bool:
    return node.tag == "mi" and node.get("mathvariant") == "normal" and len(node) == 0 and bool(node.text)


def _letter(text: str, alphabet: str) -> str:
    """The letter of a mathematical alphabet; browsers no longer take an attribute for it.

    >>> _letter("K", "SCRIPT"), _letter("E", "DOUBLE-STRUCK"), _letter("E", "SCRIPT")
    ('𝒦', '𝔼', 'ℰ')
    """
    plain = unicodedata.name(text, "")
    case = "CAPITAL" if " CAPITAL LETTER " in plain else "SMALL" if " SMALL LETTER " in plain else "DIGIT"
    letter = plain.rpartition(" ")[2]
    for name in (f"MATHEMATICAL {alphabet} {case} {letter}", f"{alphabet} {case} {letter}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return text
