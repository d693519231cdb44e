"""HTML from Python values: every text is escaped unless it says that it is HTML already.

>>> element("p", "a < b", class_="note")
'<p class="note">a &lt; b</p>'
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable
from typing import Any

_VOID = frozenset({"meta", "link", "br", "hr", "input", "img"})


class Html(str):
    """Text that is HTML already, and is put into a page as it stands."""


def escape(text: object) -> Html:
    """Text made safe for a page, between tags and in attributes; what is :class:`Html` already stays as it is.

    >>> escape('"a" & <b>')
    '&quot;a&quot; &amp; &lt;b&gt;'
    """
    return text if isinstance(text, Html) else Html(html.escape(str(text)))


def element(name: str, /, *children: object, **attributes: Any) -> Html:
    """An element: children in order, None left out; attributes by keyword, ``class_`` and ``aria_label`` spelled so.

    An attribute that is None or False is left out, one that is True stands without a value.

    >>> element("input", type="search", disabled=True, aria_label="words")
    '<input type="search" disabled aria-label="words">'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[object], between: str = "") -> Html:
    """Parts one after the other, each escaped, None left out; ``between`` is HTML."""
    return Html(between.join(escape(part) for part in parts if part is not None))


def number(value: float | None, digits: int = 3) -> str:
    """A number to so many digits, with a true minus sign and a power of ten; a dash where there is none.

    >>> number(0.0123456), number(-1.5e-07), number(1e30), number(None)
    ('0.0123', '−1.5 × 10⁻⁷', '10³⁰', '–')
    """
    if value is None or not math.isfinite(value):
        return "–" if value is None or math.isnan(value) else ("∞" if value > 0 else "−∞")
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    text = mantissa.replace("-", "−")
    if not power:
        return text
    ten = f"10{raised(int(power))}"
    return text.replace("1", ten) if text in {"1", "−1"} else f"{text} × {ten}"


def raised(power: int) -> str:
    """A whole number in superscript characters.

    >>> raised(-12)
    '⁻¹²'
    """
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def interval(constants: tuple[float, float] | None) -> str:
    """Two-sided constants.

    >>> interval((0.5, 12345.0))
    '[0.5, 1.23 × 10⁴]'
    """
    return "–" if constants is None else f"[{number(constants[0])}, {number(constants[1])}]"


def slug(text: str) -> str:
    """What may stand in the id of an element.

    >>> slug("thm: wsd/data")
    'thm-wsd-data'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "x"


def anchors(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """A different id of an element for each name.

    >>> anchors("claim", ["thm: x", "thm:x"])
    {'thm: x': 'claim-thm-x', 'thm:x': 'claim-thm-x-2'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = f"{prefix}-{slug(name)}"
        candidate, count = stem, 1
        while candidate in taken:
            count += 1
            candidate = f"{stem}-{count}"
        taken.add(candidate)
        found[name] = candidate
    return found


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
