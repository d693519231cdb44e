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

_ALPHABETS = {"script": "SCRIPT", "bold": "BOLD", "double-struck": "DOUBLE-STRUCK", "fraktur": "FRAKTUR"}
_FUNCTIONS = frozenset({"log", "exp", "min", "max", "sup", "inf", "lim", "ln", "tr"})
_OPERATORS = {"~": "∼", ":": ":", "^": "^"}


def formula(latex: str) -> Html:
    """The formula, a row for each of its lines, each row in pieces; its source as code where it cannot be typeset."""
    try:
        rows = [[_math(piece) for piece in _pieces(line)] for line in _split(latex, re.compile(r"\\\\"))]
    except Exception:  # whatever the converter meets: a formula in its source is better than a page that fails
        code = element("code", latex, aria_label="formula in LaTeX")
        return element("div", code, class_="formula source")
    lines = (element("div", joined(row, " "), class_="row") for row in rows if row)
    return element("div", *lines, class_="formula")


def _pieces(line: str) -> list[str]:
    """The parts of a line between which it may be broken, each with the comma that ends it."""
    return list(_split(line, re.compile(r"(?<=,)\s*\\(?:quad|qquad|\s)|\\qquad\b|\\quad\b")))


def _split(latex: str, mark: re.Pattern[str]) -> Iterator[str]:
    """Parts at the marks that stand outside all braces and all \\left ... \\right."""
    depth, start, place = 0, 0, 0
    while place < len(latex):
        found = mark.match(latex, place)
        if found and depth == 0 and found.end() > place:
            if latex[start:place].strip():
                yield latex[start:place].strip()
            place = start = found.end()
            continue
        word = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL).match(latex, place)
        token = word.group() if word else latex[place]
        depth += {"{": 1, "}": -1, r"\left": 1, r"\right": -1, r"\begin": 1, r"\end": -1}.get(token, 0)
        place += len(token)
    if latex[start:].strip():
        yield latex[start:].strip()


def _math(latex: str) -> Html:
    from latex2mathml.converter import convert

    tree = ElementTree.fromstring(convert(latex, display="block"))
    for node in tree.iter():
        node.tag = node.tag.rpartition("}")[2]
        if node.tag == "merror" or "\\" in (node.text or ""):
            raise ValueError(f"cannot be typeset: {latex}")
    _mend(tree)
    body = Html("".join(ElementTree.tostring(child, encoding="unicode") for child in tree))
    # The source goes with the formula, for whoever copies it.
    note = element("annotation", latex, encoding="application/x-tex")
    return Html(f'<math displaystyle="true"><semantics>{body}{escape(note)}</semantics></math>')


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
