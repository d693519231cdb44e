r"""LaTeX as MathML: what latex2mathml makes of it, with a few nodes of its tree put right for browsers.

>>> print(inline(r"t^{-s}"))
<math><mrow><msup><mi>t</mi><mrow><mo>−</mo><mi>s</mi></mrow></msup></mrow></math>
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from xml.etree.ElementTree import Element, fromstring, tostring

from latex2mathml.converter import convert
from markupsafe import Markup

_ALPHABETS = {"script": "SCRIPT", "bold": "BOLD", "bold-italic": "BOLD ITALIC", "double-struck": "DOUBLE-STRUCK"}
_RELATIONS = frozenset("=≤≥<>∼≲≳≍≂≃≈⪯⪰→←↔⇒⟹⊂⊊≪≫+")
"""Signs before which a line may end (where they stand outside brackets)."""
_OPERATORS = frozenset("∼⪯⪰~:^/") | _RELATIONS
"""Signs that the converter makes identifiers, and browsers then set without space."""
_ALIGNED = re.compile(r"\\(?:begin|end)\{(?:aligned|align\*?|split|gathered)\}")
_LINE_SPACE = re.compile(r"(?<=\\\\)\[[\d.]+[a-z]+\]")
"""How far below a line the next one is to stand: its rows have their own distance."""
_SHARE = re.compile(r"\^\{(-? ?)\\frac\{(\w|\\[a-z]+)\}\{(\w|\\[a-z]+)\}\}")
"""An exponent that is one sign over another: set in one line, for stacked its signs are too small to read."""
_LONG = 30
"""Parts of more signs may be broken before a relation: so many fit on a phone."""
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


_COMMANDS = tuple(
    (re.compile(command), meaning)
    for command, meaning in (
        (r"\\emph\{([^{}]*)\}", r"\1"),
        (r"\\operatorname", r"\\mathrm"),
        (r"\\(?:c([A-Z])|cal ([A-Z]))(?![A-Za-z])", r"\\mathcal{\1\2}"),
        (r"\\b([A-Zuvxz])(?![A-Za-z])", r"\\mathbf{\1}"),
        (r"\\b(Sigma|xi|nu|theta)(?![A-Za-z])", r"\\boldsymbol{\\\1}"),
        (r"\\bm(?![A-Za-z])", r"\\boldsymbol"),
        (r"\\([EN])\1(?![A-Za-z])", r"\\mathbb{\1}"),
        (r"\\dd(?![A-Za-z])", r"\\,\\mathrm{d}"),
        (r"\\(tr|opt)(?![A-Za-z])", r"\\mathrm{\1}"),
        (r"\\hlambda(?![A-Za-z])", r"\\hat{\\lambda}"),
        (r"\\st(?![A-Za-z])", r"\\mathrm{s.t.}"),
        (r"\\\((.*?)\\\)", r"$\1$"),
        (r"\\\^\{o\}", "ô"),
        (r"\\!|&", ""),
    )
)
"""Commands that the paper defines, or that the converter does not know, and what they mean."""


def paper_words(words: str) -> str:
    r"""Words of the paper with the meaning of its own commands, formulas between dollar signs.

    >>> paper_words(r"\cE \eqsim 1"), paper_words("for all")
    ('$\\mathcal{E} \\eqsim 1$', 'for all')
    """
    for command, meaning in _COMMANDS:
        words = command.sub(meaning, words)
    return f"${words}$" if "\\" in words and "$" not in words else words


@lru_cache(maxsize=16384)  # of the formulas of a page of claims most are there several times
def inline(latex: str) -> Markup:
    """A formula within a text, a long one in pieces; its source as code where it cannot be typeset."""
    try:
        return Markup(" ").join(_math([_mrow(piece)]) for piece in _pieces(list(formula_tree(latex))))
    except Exception:  # whatever the converter meets: a formula in its source is better than no page
        return _source(latex)


@lru_cache(maxsize=16384)
def display(latex: str) -> Markup:
    r"""A formula of its own: a row for each of its lines, each in pieces between which a narrow screen may break it.

    >>> print(display(r"a \sim b \\ c").count('<div class="row">'))
    2
    """
    try:
        rows = [
            Markup(" ").join(_math([_mrow(piece)], display=True) for piece in _pieces(line))
            for line in _lines(formula_tree(latex))
        ]
    except Exception:  # as above
        return Markup('<div class="formula source">{}</div>').format(_source(latex))
    shown = Markup("").join(Markup('<div class="row">{}</div>').format(row) for row in rows)
    return Markup('<div class="formula" data-tex="{}">{}</div>').format(latex, shown)


def _source(latex: str) -> Markup:
    return Markup('<code role="math" aria-label="formula in LaTeX: {0}">{0}</code>').format(latex)


def formula_tree(latex: str) -> Element:
    """The outermost row of a formula; ValueError where a command is unknown to the converter."""
    latex = _LINE_SPACE.sub("", latex)  # the converter would print it
    if _ALIGNED.search(latex):  # not known to the converter; its lines are rows of their own here
        latex = _ALIGNED.sub("", latex).replace("&", "")
    tree = fromstring(convert(_SHARE.sub(r"^{\1\2/\3}", latex)))
    for node in tree.iter():
        node.tag = node.tag.rpartition("}")[2]
        node.text = (node.text or "").strip().removeprefix("\\") if node.text in {r"\{", r"\}"} else node.text
        if node.tag == "merror" or "\\" in (node.text or ""):
            raise ValueError(f"cannot be typeset: {latex}")
    _mend(tree)
    return tree[0]


def _mend(parent: Element) -> None:
    """Letters of other alphabets as such, words as one identifier, signs as operators, a space after functions."""
    for index, node in reversed(list(enumerate(parent))):
        _mend(node)
        text = node.text or ""
        if len(text) == 1 and (alphabet := _ALPHABETS.get(node.get("mathvariant", ""))):
            node.text = _letter(text, alphabet)
            del node.attrib["mathvariant"]
        elif node.tag == "mi" and text in _OPERATORS:
            node.tag, node.text = "mo", {"~": "∼"}.get(text, text)
        elif node.tag == "mo" and len(text) > 1 and text.isalpha():  # max and min, which the converter spaces as signs
            node.tag = "mi"
            node.attrib.clear()
        elif node.tag == "mrow" and len(node) > 1 and all(_is_upright(child) for child in node):
            node.tag, node.text = "mi", "".join(child.text or "" for child in node)  # \mathrm{tr} is one name
            node[:] = []
        if node.tag == "mo" and node.text in {"/", "⪯", "⪰"}:
            space = "0.05em" if node.text == "/" else "0.28em"
            node.attrib.update(lspace=space, rspace=space)
        if node.tag == "mover" and len(node) == 2 and (node[1].text or "") in {"^", "¯", "~", "∼"}:
            node.set("accent", "true")
            node[1].tag = "mo"
            node[1].set("stretchy", "false")
        follows = parent[index + 1].tag if index + 1 < len(parent) and parent.tag in {"mrow", "math", "mstyle"} else ""
        if _is_function(node) and follows not in {"", "mo", "mspace"}:
            parent.insert(index + 1, Element("mspace", width="0.17em"))


def _is_upright(node: Element) -> bool:
    return node.tag == "mi" and node.get("mathvariant") == "normal" and bool(node.text) and len(node) == 0


def _is_function(node: Element) -> bool:
    name = node[0] if node.tag in {"msub", "msup", "munder"} and len(node) else node
    return name.tag == "mi" and len(name.text or "") > 1 and (name.text or "").isalpha()


def _letter(text: str, alphabet: str) -> str:
    """The letter of a mathematical alphabet: browsers do not take it from an attribute.

    >>> _letter("K", "SCRIPT"), _letter("E", "DOUBLE-STRUCK"), _letter("E", "SCRIPT")
    ('𝒦', '𝔼', 'ℰ')
    """
    words = unicodedata.name(text, "").split()
    case = next((word for word in words if word in {"CAPITAL", "SMALL"}), "DIGIT")
    for name in (f"MATHEMATICAL {alphabet} {case} {words[-1]}", f"{alphabet} {case} {words[-1]}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return text


def _lines(row: Element) -> Iterator[list[Element]]:
    line: list[Element] = []
    for node in row:
        if node.tag == "mspace" and node.get("linebreak") == "newline":
            yield line
            line = []
        else:
            line.append(node)
    yield line


def _pieces(line: Sequence[Element]) -> Iterator[list[Element]]:
    """The parts of a line, cut after commas that a space follows, and long ones before relations, outside brackets."""
    for part in _cut(line, lambda node, last: _is_space(node) and (last.text or "").endswith(","), keep=True):
        if sum(len((descendant.text or "").strip()) for node in part for descendant in node.iter()) <= _LONG:
            yield part
            continue
        for number, piece in enumerate(_cut(part, lambda node, _: node.tag == "mo" and node.text in _RELATIONS)):
            if number:
                piece[0].attrib.update(form="infix", lspace="0", rspace="0.28em")
            yield piece


def _is_space(node: Element) -> bool:
    return node.tag == "mspace" or (node.tag == "mtext" and not (node.text or "").strip())


def _cut(
    nodes: Sequence[Element], is_cut: Callable[[Element, Element], bool], *, keep: bool = False
) -> Iterator[list[Element]]:
    """The runs of nodes between cuts; a node that is one begins the next run, or with ``keep`` ends its own."""
    run: list[Element] = []
    depth = 0
    for node in nodes:
        if depth == 0 and run and is_cut(node, run[-1]):
            yield [*run, node] if keep else run
            run = [] if keep else [node]
            continue
        base = node[0] if node.tag in {"msub", "msup", "msubsup"} and len(node) else node  # a bracket with a power
        depth += _DEPTH.get(base.text or "", 0) if base.tag == "mo" else 0
        run.append(node)
    if run:
        yield run


def _mrow(nodes: Sequence[Element]) -> Element:
    row = Element("mrow")
    row.extend(nodes)
    return row


def _math(nodes: Sequence[Element], *, display: bool = False) -> Markup:
    style = Markup(' displaystyle="true"') if display else ""
    # an element that closes itself is none in HTML
    written = (tostring(node, "unicode", short_empty_elements=False) for node in nodes)
    return Markup("<math{}>{}</math>").format(style, Markup("".join(written)))
