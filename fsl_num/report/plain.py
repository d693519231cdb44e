r"""Formulas of a text as signs of one line, for a terminal.

>>> plain(r"`thm: x` has $\frac{\sigma^2}{B}\int_0^t \mathcal K_M(t-r)dr$ for $M^{-s\beta}$.")
'thm: x has (σ²/B) ∫_0^t K_M(t − r)dr for M^(−sβ).'
>>> plain(r"$\frac{e_M(t)}{K_M(t)}$, $\frac{1}{M (t + 1)}$")
'e_M(t)/K_M(t), 1/(M(t+1))'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from fsl_num.report.mathml import formula_tree

_RAISED = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_ACCENTS = {"^": "\N{COMBINING CIRCUMFLEX ACCENT}", "~": "\N{COMBINING TILDE}", "∼": "\N{COMBINING TILDE}"}
_SPACED = frozenset("=≤≥<>∼≲≳≂≍≃≈⪯⪰→⇒∈×∓+−")
"""Signs with a space on either side, but not in indices and powers, nor as the sign of a number."""
_OPENING = frozenset("([{,:") | _SPACED
"""Signs after which + and − are signs of what follows."""


def plain(text: str) -> str:
    """The text with its formulas in signs of one line, and names without the marks of code."""
    return re.sub(r"\$([^$]+)\$|`([^`]+)`", lambda match: _formula(match[1]) if match[1] else match[2], text)


def _formula(latex: str) -> str:
    try:
        shown = _run(list(formula_tree(latex)), tight=False)
    except Exception:  # whatever the converter meets: a formula in its source is better than no text
        return f"${latex}$"
    return re.sub(r"(?<=[([/]) ", "", re.sub(" +", " ", shown)).replace(" : = ", " := ").strip()


def _run(nodes: Sequence[Element], tight: bool) -> str:
    """The signs of a row; a ``tight`` one is an index, a power or a part of a fraction, and has no spaces."""
    parts: list[str] = []
    for at, node in enumerate(nodes):
        before, after = (_sign(nodes[at - 1]) if at else "("), (_sign(nodes[at + 1]) if at + 1 < len(nodes) else ")")
        text = _node(node, tight)
        if node.tag == "mfrac" and not (before in _OPENING and (after in _SPACED or after in {")", "]", ","})):
            text = f"({text})"
        elif node.tag == "mo" and text == ",":
            text = "," if tight else ", "
        elif node.tag == "mo" and (text in _SPACED or text == ":") and not tight:
            is_sign = text in "+−∓" and before in _OPENING
            text = text if is_sign else f" {text} "
        elif node.tag == "mi" and len(text) > 1 and text.isalpha() and not tight:
            text = f" {text}"  # the name of a function
        if parts and re.search(r"[_^]\w+$", parts[-1]) and text[:1].isalnum():
            text = f" {text}"  # or the index would seem to go on
        parts.append(text)
    return "".join(parts)


def _node(node: Element, tight: bool) -> str:
    children = list(node)
    if node.tag in {"msub", "msup", "msubsup", "munder", "mover", "munderover"}:
        return _with_scripts(node, tight)
    if node.tag == "mfrac":
        above, below = (_run(_unwrapped(child), tight=True) for child in children)
        is_one = len(_unwrapped(children[1])) == 1 or re.fullmatch(r"\w(_[\w∞]+)?\([\w,/]+\)", below)
        return f"{_enclosed(above, _is_sum(above))}/{_enclosed(below, not is_one)}"
    if node.tag == "msqrt":
        inside = _run([grandchild for child in children for grandchild in _unwrapped(child)], tight=True)
        return f"√{_enclosed(inside, len(inside) > 1)}"
    if node.tag == "mspace":
        return " "
    return _run(children, tight) if children else "".join(map(_letter, node.text or ""))


def _with_scripts(node: Element, tight: bool) -> str:
    base, *scripts = node
    text = _node(base, tight)
    if node.tag == "mover":
        return unicodedata.normalize("NFC", f"{text}{_ACCENTS.get(scripts[0].text or '', scripts[0].text)}")
    shown = [_run(_unwrapped(script), tight=True) for script in scripts]
    if node.tag != "msup":
        below = shown.pop(0)
        text += f"_{_enclosed(below, len(_unwrapped(scripts[0])) > 1 or '/' in below)}"
    if _sign(base) in {"∑", "∫"}:
        return f" {text}{''.join(f'^{_enclosed(script, len(script) > 1)}' for script in shown)} "
    return text + "".join(map(_power, shown))


def _power(power: str) -> str:
    if re.fullmatch("−?[0-9]+", power):
        return power.translate(_RAISED)
    if power in {"⊤", "*"} or not power.strip("′″‴"):
        return power.replace("⊤", "ᵀ")
    return f"^{_enclosed(power, len(power) > 1)}"


def _enclosed(text: str, enclose: bool) -> str:
    return f"({text})" if enclose else text


def _unwrapped(node: Element) -> list[Element]:
    return list(node) if node.tag == "mrow" else [node]


def _is_sum(text: str) -> bool:
    """Whether a + or − stands outside of brackets, behind the beginning.

    >>> _is_sum("−a+b"), _is_sum("−(a+b)")
    (True, False)
    """
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if at and depth == 0 and sign in "+−":
            return True
    return False


def _letter(letter: str) -> str:
    """The letter itself for one of a mathematical alphabet that many terminals have no font for."""
    return chr(int(unicodedata.decomposition(letter).split()[1], 16)) if ord(letter) > 0xFFFF else letter


def _sign(node: Element) -> str:
    """The sign that an operator is, and "" for any other node."""
    return node.text or "" if node.tag == "mo" else ""
