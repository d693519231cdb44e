"""Words with formulas in plain letters, set as a reader expects them: Greek, signs, indices and powers.

>>> print(Prose()("e_M(t) is at least t^-(2-1/beta)"))
<i>e</i><sub><i>M</i></sub>(<i>t</i>) is at least <i>t</i><sup>−(2−1/β)</sup>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fsl_num.report.html.elements import Html, element, escape, joined

_GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi varphi chi psi omega "
        "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega infinity oo".split(),
        "αβγδεζηθκλμνξπρστφϕχψωΓΔΘΛΞΠΣΦΨΩ∞∞",
        strict=True,
    )
)
NAMES = frozenset({*_GREEK, "log", "exp", "tr", "min", "max", "sup", "inf", "sum", "int"})
"""Words that are names in formulas, and take no capital where a sentence begins."""

_SIGNS = {
    "<=": "≤", ">=": "≥", "<~": "≲", ">~": "≳", "<<": "≪", ">>": "≫", "~": "∼", "<-": "←", "->": "→", "!=": "≠",
    "sum": "∑", "int": "∫", "*": "∗", "+-": "±", "-+": "∓", "...": "…",
}  # fmt: skip

_LABEL = r"(?:thm|lemma|lem|lm|cor|prop|eqn|eq|ass|assumption|sec|sub|fig|tab|appendix): ?[A-Za-z][\w-]*(?:/[\w/-]+)?"
_TOKEN = re.compile(
    r"(?P<label>(?<![\w-])"
    + _LABEL
    + r"|(?<!\w)(?!(?:"
    + "|".join(_GREEK)
    + r")_)[a-z]{3,}_[a-z]{2,}(?:_[a-z]+)*(?=[\s,.:;)]|$))"
    r"|(?P<script>[_^])"
    r"|(?P<number>\d+(?:-\d+){2,}|\d[\d,]*(?:\.\d+)?e[+-]?\d+(?![\w.])|\d+(?:,\d{3})+|\d+(?:\.\d+)?)"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<sign><=|>=|<~|>~|<<|>>|<-|->|!=|\+-|-\+|\.\.\.|~|\*)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_FEW = frozenset({"a", "A", "I", "H", "W", "P"})
"""Single letters that are words, or matrices and other names that stand upright."""

_DIFFERENTIALS = frozenset({"dt", "du", "dx"})


@dataclass(frozen=True)
class Prose:
    """Sets texts; ``links`` maps names that are linked where they occur (ids of claims and errata) to their anchors."""

    links: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> Html:
        """The text as HTML; nothing is lost, and what is no formula stays as it is."""
        if not self.links:
            return _set(text)
        return joined(self._parts(text))

    def sentence(self, text: str) -> Html:
        """The text with a capital at its beginning, if it begins with a word and not with a formula."""
        first = re.match(r"[A-Za-z]+(?=[ ,.;:]|$)", text)
        is_word = first is not None and first[0] not in NAMES and (first[0] == "a" or len(first[0]) > 1)
        return self(text[:1].upper() + text[1:] if is_word else text)

    def _parts(self, text: str) -> Iterator[Html]:
        place = 0
        for found in self._names.finditer(text):
            yield _set(text[place : found.start()])
            yield element("a", element("code", found.group()), href=f"#{self.links[found.group()]}")
            place = found.end()
        yield _set(text[place:])

    @cached_property
    def _names(self) -> re.Pattern[str]:
        longest_first = sorted(self.links, key=len, reverse=True)
        return _compiled("|".join(map(re.escape, longest_first)))


def _compiled(names: str) -> re.Pattern[str]:
    # A name is not linked inside a longer one: thm:x in thm:x/y, nor a-b in a-b-c.
    return re.compile(rf"(?<![\w/:-])(?:{names})(?![\w/-])")


def _set(text: str) -> Html:
    """One run of text without links."""
    tokens = [(found.lastgroup or "other", found.group()) for found in _TOKEN.finditer(text)]
    return joined(_tokens(tokens, in_script=False))


def _tokens(tokens: list[tuple[str, str]], *, in_script: bool) -> Iterator[Html]:
    place = 0
    while place < len(tokens):
        kind, text = tokens[place]
        if kind == "script":
            size = _reach(tokens, place + 1, text)
            inner = tokens[place + 1 : place + 1 + size]
            if text == "^" and (not size or tokens[place + 1] == ("script", "_")):
                yield Html("\u0302")  # phi^_j: a hat
            elif size:
                name = "sub" if text == "_" else "sup"
                yield element(name, joined(_tokens(_bared(inner), in_script=True)))
            else:
                yield escape(text)
            place += 1 + size
            continue
        if text == " " and _is_tied(tokens, place):
            yield Html("\u00a0")
        else:
            yield _one(kind, text, tokens, place, in_script)
        place += 1


def _reach(tokens: list[tuple[str, str]], start: int, mark: str) -> int:
    """How many tokens after a mark of an index or a power belong to it."""
    place = start
    if place < len(tokens) and tokens[place][1] in "+-" and tokens[place][0] == "other":
        place += 1
        if mark == "_" and (place == len(tokens) or tokens[place][0] not in {"word", "number"}):
            return 1  # rho_-
        if place == len(tokens) or tokens[place][0] not in {"word", "number"} and tokens[place][1] not in "([{":
            return 1 if mark == "_" else 0
    if place == len(tokens):
        return 0
    if tokens[place][1] in "([{" and tokens[place][0] == "other":
        depth = 0
        for end in range(place, len(tokens)):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[end][1], 0)
            if depth == 0:
                return end + 1 - start
        return 0
    if tokens[place][0] in {"word", "number"}:
        # W_k:oo and H_0:k are ranges of columns.
        if mark == "_" and [kind for kind, _ in tokens[place : place + 3]][1:] in (
            ["other", "word"],
            ["other", "number"],
        ):
            if tokens[place + 1][1] == ":":
                return place + 3 - start
        return place + 1 - start
    return 0


def _bared(tokens: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """An index or power without the brackets that only hold it together."""
    if tokens[0][1] == "-" and len(tokens) > 3 and tokens[1][1] == "(" and not _has_sum(tokens[2:-1]):
        return [tokens[0], *tokens[2:-1]]
    first, last = tokens[0], tokens[-1]
    if (first[1], last[1]) == ("{", "}") or ((first[1], last[1]) == ("(", ")") and len(tokens) > 2):
        return tokens[1:-1]
    return tokens


def _has_sum(tokens: list[tuple[str, str]]) -> bool:
    """Whether a plus or minus stands outside all brackets."""
    depth = 0
    for _, text in tokens:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text, 0)
        if depth < 0 or (depth == 0 and text in "+-"):
            return True
    return False


def _one(kind: str, text: str, tokens: list[tuple[str, str]], place: int, in_script: bool) -> Html:
    before = tokens[place - 1] if place else ("", "")
    after = tokens[place + 1] if place + 1 < len(tokens) else ("", "")
    if kind == "label":
        return element("code", text)
    if kind == "number" and "e" in text:
        mantissa, _, power = text.partition("e")
        times = "" if mantissa == "1" else f"{mantissa} × "
        return joined([f"{times}10", element("sup", f"{int(power)}".replace("-", "−"))])
    if kind == "word":
        return _word(text, before, after, tokens[place + 2] if place + 2 < len(tokens) else ("", ""))
    if kind == "sign":
        if text == "*" and (before[0] in {"word", "number"} or before[1] == ")"):
            product = after[0] in {"word", "number"} or after[1] == "("
            return Html("\u2009") if product else element("sup", "∗")
        return escape(_SIGNS[text])
    if text == "-" and _is_minus(before, after, in_script):
        return Html("−")
    if text == "'":
        return Html("’" if _is_apostrophe(before, after) else "′")
    return escape(text)


def _word(text: str, before: tuple[str, str], after: tuple[str, str], then: tuple[str, str]) -> Html:
    hyphenated = before[1] == "-" or (after[1] == "-" and len(text) > 1)
    if text in _GREEK and not (hyphenated and text in {"oo", "infinity"}):
        return Html(_GREEK[text])
    if text == "int" or (text == "sum" and after[1] == "_"):
        return Html(_SIGNS[text])
    if text[:1] == "d" and text[1:] in _GREEK:
        return joined([element("i", "d"), _GREEK[text[1:]]])
    if text in _DIFFERENTIALS:
        return element("i", text)
    # An article stands before a word.
    named = text == "a" and (after[1] != " " or then[0] == "sign" or then[1] in {"=", "<", ">"})
    single = len(text) == 1 and (text not in _FEW or named)
    abbreviation = after[1] == "." and text in {"e", "i"} or before[1] == "."
    if single and not abbreviation and before[1] != "'":
        return element("i", text)
    return escape(text)


def _is_tied(tokens: list[tuple[str, str]], place: int) -> bool:
    """Whether no line may end at a space: before a sign, and between a function and its argument."""
    after = tokens[place + 1] if place + 1 < len(tokens) else ("", "")
    before = tokens[place - 1] if place else ("", "")
    return after[0] == "sign" or after[1] in {"=", "<", ">"} or before[1] in {"log", "exp"}


def _is_minus(before: tuple[str, str], after: tuple[str, str], in_script: bool) -> bool:
    def lone(token: tuple[str, str]) -> bool:
        return token[0] == "number" or (token[0] == "word" and (len(token[1]) == 1 or token[1] in _GREEK))

    if in_script:
        return True
    starts = before[1] in {"", " ", "(", "[", "{", "/", "="} or before[0] in {"sign", "script"}
    if starts:
        return lone(after) or after[1] in {"(", "[", " "} or after[0] == "word" and before[1] != " "
    return (lone(before) or before[1] in {")", "]", "'"}) and (lone(after) or after[1] in {"(", "["})


def _is_apostrophe(before: tuple[str, str], after: tuple[str, str]) -> bool:
    return before[0] == "word" and len(before[1]) > 2 and before[1] not in _GREEK and after[1] in {"s", " ", ""}
