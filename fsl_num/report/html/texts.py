"""Texts of the page: formulas between dollar signs, code between backticks, links to names, the rest escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fsl_num.report.html.signs import typeset
from fsl_num.report.mathml import inline, paper_words

_MARKED = re.compile(r"\$([^$]+)\$|`([^`]+)`")
_NOT_WORDS = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi log exp min max tr int sum "
    "du dt".split()
)
"""Names of quantities and functions: no capital where a sentence begins with one."""


@dataclass(frozen=True)
class Texts:
    """Sets texts; ``links`` maps names (ids of claims and errata) to addresses, to be linked in texts and as code.

    >>> print(Texts({"thm: x": "#claim-x"})("$s$ < 1 by thm: x, `code`"))
    <math><mrow><mi>s</mi></mrow></math> &lt; 1 by <a href="#claim-x"><code>thm: x</code></a>, <code>code</code>
    """

    links: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> Markup:
        """The text as HTML: formulas as MathML, those in plain letters with indices and powers, all else as written."""
        parts, place = [], 0
        for marked in _MARKED.finditer(text):
            formula, code = marked.groups()
            parts += [self._linked(text[place : marked.start()])]
            parts += [inline(formula) if formula else self._code(code)]
            place = marked.end()
        return Markup("").join([*parts, self._linked(text[place:])])

    def sentence(self, text: str) -> Markup:
        """The text with a capital at its beginning, if it begins with a word and not with a name of a formula."""
        first = re.match(r"[a-z]{2,}(?=[ ,:;-])|a(?= [a-z]{2})", text)
        return self(capital(text) if first and first[0] not in _NOT_WORDS else text)

    def quoted(self, words: str) -> Markup:
        """Words of the paper: its formulas, between dollar signs or alone, with the meaning of its own commands.

        >>> print(Texts().quoted(r"\\cE \\eqsim 1"))
        <math><mrow><mi>ℰ</mi><mo>≂</mo><mn>1</mn></mrow></math>
        """
        shown = paper_words(words)
        if re.fullmatch(r"\$[^$]+\$", shown):
            return self(shown)
        return Markup("“{}”").format(self(shown) if "$" in shown else shown)

    def unlinked(self, text: str) -> Markup:
        """As :meth:`sentence`, without links: for what becomes a link itself."""
        return Texts().sentence(text)

    def _code(self, text: str) -> Markup:
        code = Markup("<code>{}</code>").format(text)
        return Markup('<a href="{}">{}</a>').format(self.links[text], code) if text in self.links else code

    def _linked(self, text: str) -> Markup:
        parts = self._names.split(text) if self.links else [text]
        return Markup("").join(self._code(part) if at % 2 else typeset(part) for at, part in enumerate(parts))

    @cached_property
    def _names(self) -> re.Pattern[str]:
        longest_first = sorted(self.links, key=len, reverse=True)
        # A name is not linked inside a longer one: thm:x in thm:x/y, nor a-b in a-b-c.
        return re.compile(rf"(?<![\w/:-])({'|'.join(map(re.escape, longest_first))})(?![\w/-])")


def capital(text: str) -> str:
    """The text with its first letter as a capital.

    >>> capital("one claim of M")
    'One claim of M'
    """
    return text[:1].upper() + text[1:]


def templates(package: str) -> Environment:
    """The Jinja templates of a package; what they show is escaped, and a name that they lack is an error."""
    return Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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


def exponential(logarithm: float) -> str:
    """The exponential of a number, also where no float holds it.

    >>> exponential(0.0), exponential(4e6)
    ('1', 'exp(4 × 10⁶)')
    """
    return number(math.exp(logarithm)) if abs(logarithm) < 650 else f"exp({number(logarithm)})"


def interval(constants: tuple[float, float] | None) -> str:
    """Two-sided constants.

    >>> interval((0.5, 12345.0))
    '[0.5, 1.23 × 10⁴]'
    """
    return "–" if constants is None else f"[{number(constants[0])}, {number(constants[1])}]"


def anchors(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """A different id of an element for each name.

    >>> anchors("claim", ["thm: x", "thm:x"])
    {'thm: x': 'claim-thm-x', 'thm:x': 'claim-thm-x-2'}
    """
    ids: dict[str, str] = {}
    for name in names:
        stem = f"{prefix}-{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-') or 'x'}"
        candidate, count = stem, 1
        while candidate in ids.values():
            count += 1
            candidate = f"{stem}-{count}"
        ids[name] = candidate
    return ids
