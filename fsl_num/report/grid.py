"""A table of text cells, laid out for a terminal, for Markdown or for LaTeX.

>>> print(Grid(("claim", "seconds"), (("thm:wsd", "1.5"), ("lem:half-scale", "12.0")), right=(1,)).text(80))
claim           seconds
──────────────  ───────
thm:wsd             1.5
lem:half-scale     12.0
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_GAP = "  "
_NARROWEST = 8


@dataclass(frozen=True)
class Grid:
    """Headings and rows of plain text cells.

    Args:
        headings: one a column.
        rows: each as long as ``headings``; a ValueError says which is not.
        right: the indices of the columns that are flush right.
        flexible: the indices of the columns whose cells may be wrapped when the whole is too wide.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()
    flexible: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.headings):
                raise ValueError(
                    f"row {number} has {len(row)} cells, but there are {len(self.headings)} headings: {row}"
                )

    def text(self, width: int) -> str:
        """The table in at most ``width`` columns of text, wider only where words that cannot be broken ask for it."""
        widths = self._widths(width)
        lines = [*self._lines(self.headings, widths), _GAP.join("─" * wide for wide in widths)]
        for row in self.rows:
            lines += self._lines(row, widths)
        return "\n".join(lines)

    def markdown(self) -> str:
        """The table in Markdown (pipes in cells are escaped)."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

        rule = ["--:" if column in self.right else "---" for column in range(len(self.headings))]
        return "\n".join([line(self.headings), line(rule), *(line(row) for row in self.rows)])

    def latex(self) -> str:
        """The table as a LaTeX ``tabular``; the cells must already be LaTeX."""
        columns = "".join("r" if column in self.right else "l" for column in range(len(self.headings)))
        body = [" & ".join(cells) + r" \\" for cells in (self.headings, *self.rows)]
        return "\n".join(
            [rf"\begin{{tabular}}{{{columns}}}", r"\hline", body[0], r"\hline", *body[1:], r"\hline", r"\end{tabular}"]
        )

    def _widths(self, width: int) -> list[int]:
        natural = [max(len(cell) for cell in column) for column in zip(self.headings, *self.rows, strict=True)]
        excess = sum(natural) + len(_GAP) * (len(natural) - 1) - width
        # Take from the widest flexible column, one by one, so that the table stays as even as it can be; words are
        # broken only where that does not suffice.
        whole = [max(map(_longest_word, column)) for column in zip(self.headings, *self.rows, strict=True)]
        for floors in (whole, [_NARROWEST] * len(natural)):
            while excess > 0:
                candidates = [column for column in self.flexible if natural[column] > floors[column]]
                if not candidates:
                    break
                natural[max(candidates, key=lambda column: natural[column])] -= 1
                excess -= 1
        return natural

    def _lines(self, row: Sequence[str], widths: Sequence[int]) -> list[str]:
        cells = [_wrapped(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        height = max(len(cell) for cell in cells)
        lines = []
        for number in range(height):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            aligned = [
                part.rjust(wide) if column in self.right else part.ljust(wide)
                for column, (part, wide) in enumerate(zip(parts, widths, strict=True))
            ]
            lines.append(_GAP.join(aligned).rstrip())
        return lines


def _longest_word(cell: str) -> int:
    """The length of the longest piece that wrapping keeps whole."""
    return max(map(len, re.split(r"\s|(?<=-)", cell)))


def _wrapped(cell: str, width: int) -> list[str]:
    return textwrap.wrap(cell, width, break_long_words=True, break_on_hyphens=True) or [""]
