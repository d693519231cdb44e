"""Texts among the hypotheses of a claim that are more than their words.

>>> FEATURES = Kinds("features", {"gaussian": "normal", "uniform": "uniform"})
>>> FEATURES("gaussian", "uniform"), FEATURES("gaussian").kinds
('normal and uniform features', ('gaussian',))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


class Where(str):
    """What a letter stands for, "E is the excess risk at v": no hypothesis, and nothing that could fail."""

    __slots__ = ()


class Setting(str):
    """A hypothesis in words that says which kinds of a thing are measured; made by :class:`Kinds`."""

    of: Kinds
    kinds: tuple[str, ...]

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

    def none(self, text: str) -> Setting:
        """The hypothesis, in these words, that no kind is measured."""
        return self._setting(text, ())

    def _setting(self, text: str, kinds: tuple[str, ...]) -> Setting:
        setting = Setting(text)
        setting.of, setting.kinds = self, kinds
        return setting


def joined(values: Sequence[object]) -> str:
    """Values as a list in words.

    >>> joined([2, 8, 24])
    '2, 8 and 24'
    """
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}" if first else last
