"""The cells of a large table, gathered piece by piece: numbers take eight bytes each, where text takes sixty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fsl_num.curves.tables import Table, number_of


class Gathered:
    """Columns that grow by pieces of rows. A piece that is numbers throughout is kept as an array.

    ``names``: of the columns known so far. ``rows``: how many rows there are.

    >>> found = Gathered(["step", "loss"])
    >>> found.add({0: ["1", "2"], 1: ["3.5", "3.25"]}, [2, 3])
    >>> found.add({0: ["3"], 1: [""]}, [4])
    >>> found.table("run", 2, comma=False).columns["step"].tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.rows = 0
        self._pieces: list[list[Any]] = [[] for _ in self.names]
        self._filled = [0] * len(self.names)
        self._numbers: list[Any] = []

    def place(self, name: str) -> int:
        """Return the position of a column, which is added where it is new."""
        if name not in self.names:
            self.names.append(name)
            self._pieces.append([])
            self._filled.append(0)
        return self.names.index(name)

    def add(self, columns: Mapping[int, Sequence[Any]], numbers: Sequence[int]) -> None:
        """Append rows: the cells of each column by its position (None where a column is left out), and their lines."""
        for place, cells in columns.items():
            self._fill(place)
            self._pieces[place].append(_packed(cells))
            self._filled[place] += len(numbers)
        self.rows += len(numbers)
        self._numbers.append(np.array(numbers, dtype=np.int64))

    def _fill(self, place: int) -> None:
        lacking = self.rows - self._filled[place]
        if lacking:
            self._pieces[place].append([None] * lacking)
            self._filled[place] = self.rows

    def width(self, least: int) -> int:
        """Return how many columns there are without those at the end, from ``least`` on, in which all cells are ""."""
        width = len(self.names)
        while width > least and not any(_holds_any(piece) for piece in self._pieces[width - 1]):
            width -= 1
        return width

    def table(self, name: str, width: int, comma: bool) -> Table:
        """Return the first ``width`` columns as a table; arrays where all cells are numbers, else lists of cells."""
        columns: dict[str, Any] = {}
        for place in range(width):
            self._fill(place)
            pieces = self._pieces[place]
            if pieces and all(isinstance(piece, np.ndarray) for piece in pieces):
                columns[self.names[place]] = np.concatenate(pieces)
            else:
                columns[self.names[place]] = [cell for piece in pieces for cell in _cells(piece)]
            pieces.clear()
        numbers: Any = np.concatenate(self._numbers) if self._numbers else np.zeros(0, dtype=np.int64)
        return Table(columns, numbers, name, comma)


def _cells(piece: Any) -> list[Any]:
    return piece.tolist() if isinstance(piece, np.ndarray) else piece  # type: ignore[no-any-return]


def _holds_any(piece: Any) -> bool:
    return isinstance(piece, np.ndarray) or any(cell != "" for cell in piece)


def _packed(cells: Sequence[Any]) -> Any:
    """The cells as an array, where every one is a number or reads as one; as they are otherwise."""
    if any(isinstance(cell, bool) for cell in cells):
        return list(cells)
    try:
        return np.fromiter(map(number_of, cells), dtype=np.float64, count=len(cells))
    except (TypeError, ValueError, OverflowError):
        return list(cells)
