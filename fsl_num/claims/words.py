"""Texts among the hypotheses of a claim that are more than their words.

>>> FEATURES = Kinds("features", {"gaussian": "normal", "uniform": "uniform"})
>>> FEATURES("gaussian", "uniform"), FEATURES("gaussian").kinds
('normal and uniform features', ('gaussian',))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

_DEFINITION: Final = re.compile("(.+?) (?:is|are|=) (.+)")
_NAME: Final = re.compile(r"([(]?[A-Za-z][\w~'{}]*(?:[-+]|[)]\^\{-1\})?)(?:[(^].*)?")


class Definition(NamedTuple):
    """Letters and what they are: ``names`` of the letters in the ``sides`` that are defined, mu in mu(j); its text."""

    names: tuple[str, ...]
    sides: tuple[str, ...]
    meaning: str
    text: str


class Where(str):
    """What letters stand for, "E is the excess risk at v; R = H^(1/2)": no hypothesis.

    ``defined``: its definitions; ValueError for other words. ``measured``: what its letters are in measurements at a
    sample, numbers, matrices or functions, and what is measured of things that the text names in words.

    >>> for definition in Where("mu(j) and nu are the eigenvalues of A, in turn; R = H^(1/2)").defined:
    ...     print(*definition[:3])
    ('mu', 'nu') ('mu(j)', 'nu') the eigenvalues of A, in turn
    ('R',) ('R',) H^(1/2)
    """

    defined: tuple[Definition, ...]
    measured: Callable[[Any], Mapping[str, Any]]

    def __new__(cls, text: str, measured: Callable[[Any], Mapping[str, Any]] = lambda sample: {}) -> Where:
        """The text, read, and what measures its letters."""
        where = super().__new__(cls, text)
        where.measured = measured
        where.defined = tuple(map(_definition, text.split("; ")))
        return where


def _definition(clause: str) -> Definition:
    read = _DEFINITION.fullmatch(clause)
    sides = re.split(", (?![^(]*[)])| and ", read[1]) if read else []
    letters = [_NAME.fullmatch(side) for side in sides]
    if read is None or None in letters:
        raise ValueError(f"{clause!r} defines no letters: write 'E is the excess risk; R = H^(1/2)'")
    return Definition(tuple(letter[1] for letter in letters if letter), tuple(sides), read[2], clause)


class Assumed(str):
    """What the mathematics idealises, such as a limit taken: nothing measured could show it, for the reason ``why``.

    >>> limit = Assumed("the budget tends to infinity", "budgets are finite")
    >>> limit, limit.why
    ('the budget tends to infinity', 'budgets are finite')
    """

    why: str

    def __new__(cls, text: str, why: str) -> Assumed:
        """The text, and the reason."""
        assumed = super().__new__(cls, text)
        assumed.why = why
        return assumed


class Setting(str):
    """A hypothesis in words that says which kinds of a thing are measured, all of them (``whole``) or some.

    It is made by :class:`Kinds`.
    """

    of: Kinds
    kinds: tuple[str, ...]
    whole: bool

    def named(self, names: Iterable[str]) -> list[str]:
        """The kinds of the thing that occur in names, in the order of its kinds."""
        every = "\n".join(names)
        return [kind for kind in self.of.words if re.search(rf"(?<![\w-]){re.escape(kind)}(?![\w-])", every)]


@dataclass(frozen=True)
class Kinds:
    """The kinds of a thing that measurements choose from.

    ``name`` is the thing in words; ``words``: kind, as it is called where it is measured -> the kind in words.
    """

    name: str
    words: Mapping[str, str]

    def __call__(self, *kinds: str) -> Setting:
        """The hypothesis that these kinds are measured, each of them, and no other.

        Raises KeyError for a kind that is none of the thing.
        """
        return self._setting(f"{joined([self.words[kind] for kind in kinds])} {self.name}", kinds)

    def among(self, *kinds: str) -> Setting:
        """The hypothesis that some of these kinds are measured, and no other."""
        return self._setting(f"some of {self(*kinds)}", kinds, whole=False)

    def none(self, text: str) -> Setting:
        """The hypothesis, in these words, that no kind is measured."""
        return self._setting(text, ())

    def _setting(self, text: str, kinds: tuple[str, ...], *, whole: bool = True) -> Setting:
        setting = Setting(text)
        setting.of, setting.kinds, setting.whole = self, kinds, whole
        return setting


def joined(values: Sequence[object]) -> str:
    """Values as a list in words.

    >>> joined([2, 8, 24])
    '2, 8 and 24'
    """
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}" if first else last
