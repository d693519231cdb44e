"""Tables for a terminal (by rich), for Markdown and for LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

Cell = str | Text

_WORD = 10
"""Words up to this length are never broken."""


def table(headings: Sequence[str], rows: Iterable[Sequence[Cell]], right: Sequence[int] = ()) -> Table:
    """A table; the columns with the indices in ``right`` are flush right, and no column is given up for lack of room.

    Raises ValueError where a row has not as many cells as there are headings.

    >>> print(rendered(table(("a", "b"), [("one two", "5")], right=[1]), width=7))
    a     b
    ───────
    one   5
    two
    """
    lines = [tuple(row) for row in rows]
    grid = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for number, row in enumerate(lines):
        if len(row) != len(headings):
            raise ValueError(f"row {number} has {len(row)} cells, but there are {len(headings)} headings: {row}")
    for index, heading in enumerate(headings):
        words = " ".join([heading, *(str(line[index]) for line in lines)]).split()
        least = min(max(map(len, words), default=0), _WORD)
        grid.add_column(heading, justify="right" if index in right else "left", overflow="fold", min_width=least)
    for line in lines:
        grid.add_row(*line)
    return grid


def fields(pairs: Iterable[tuple[str, Cell]], least: int = 0) -> Table:
    """Names with their values beside them, which wrap in their own column; pairs without a value are left out.

    ``least`` is the least width of the names, so that several lists have one margin.

    >>> print(rendered(fields([("paper", "thm: x"), ("role", "")])))
      paper  thm: x
    """
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, min_width=least)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            grid.add_row(f"  {name}", value)
    return grid


def whole_field(name: str, value: str, least: int) -> Text:
    """A name with a value that is never broken, so that it can be copied: a formula, a path.

    >>> print(rendered(whole_field("paper", "a/b", 6), width=7))
      paper   a/b
    """
    return Text(f"  {name:<{least}}{value}", no_wrap=True, overflow="ignore")


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """The table in Markdown (pipes in cells are escaped).

    >>> print(markdown_table(("a", "b"), [("x|y", "1")], right=[1]).splitlines()[-1])
    | x\\|y | 1 |
    """

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    rule = ["--:" if column in right else "---" for column in range(len(headings))]
    return "\n".join([line(headings), line(rule), *map(line, rows)])


def latex_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The table as a LaTeX ``tabular``; the cells must already be LaTeX.

    >>> print(latex_table(("a", "b"), [("x", "1")]).splitlines()[0])
    \\begin{tabular}{ll}
    """
    body = [" & ".join(cells) + r" \\" for cells in (headings, *rows)]
    head = rf"\begin{{tabular}}{{{'l' * len(headings)}}}"
    return "\n".join([head, r"\hline", body[0], r"\hline", *body[1:], r"\hline", r"\end{tabular}"])


def rendered(*parts: Any, width: int = 120, coloured: bool = False) -> str:
    """Texts as they are and tables in ``width`` columns, one below the other; colours as a terminal takes them."""
    console = Console(
        file=StringIO(), width=width, force_terminal=coloured, color_system="standard" if coloured else None,
        no_color=None if coloured else True, markup=False, highlight=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    lines: list[str] = []
    for part in parts:
        if isinstance(part, str):
            lines += part.split("\n")
        else:
            with console.capture() as capture:
                console.print(part, crop=False)
            lines += capture.get().removesuffix("\n").split("\n")
    return "\n".join(line.rstrip(" ") for line in lines)
