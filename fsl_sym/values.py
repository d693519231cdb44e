"""Values that can be kept, compared, hashed, copied and sent to another process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar

Key = TypeVar("Key")
Item = TypeVar("Item")


class FrozenMapping(Mapping[Key, Item]):
    """A mapping that cannot change: it hashes, pickles and equals a dict with the same items.

    >>> frozen = FrozenMapping({"a": 1})
    >>> frozen == {"a": 1}, hash(frozen) == hash(FrozenMapping(a=1)), frozen
    (True, True, {'a': 1})
    """

    __slots__ = ("_items",)

    def __init__(self, *items: Any, **named: Any) -> None:
        self._items: dict[Key, Item] = dict(*items, **named)

    def __getitem__(self, key: Key) -> Item:
        try:
            return self._items[key]
        except KeyError:
            raise KeyError(f"there is no {key!r}: there are {', '.join(map(str, self._items))}") from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def fields_only(value: Any) -> dict[str, Any]:
    """The state of a frozen dataclass for pickling: its fields, without what was computed from them and kept.

    Assigned to ``__getstate__`` in the class.
    """
    return {each.name: getattr(value, each.name) for each in fields(value)}
