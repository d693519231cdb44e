"""Results as values: they compare by what they hold, hash, and go to other processes and into files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np

from fsl_num.validation import described


def percent(share: float) -> str:
    """Return a share in percent with two significant digits, never as a power of ten.

    >>> [percent(share) for share in (0.0046, 0.019, 2.44, 1234.0)]
    ['0.46 %', '1.9 %', '240 %', '120000 %']
    """
    return f"{float(f'{100 * share:.2g}'):.15g} %"


def as_loss(value: float, like: float | None = None, half_width: float = 0.0, sign: str = "") -> str:
    """Return a loss, or a difference of losses as large as ``like``, with the decimals that it deserves.

    Four, more below a tenth, and fewer where ``half_width`` says that it is not known so well: its second digit is the
    last, of one that is not even known to a factor of two its own second digit. ``sign``: "+" to show one always.

    >>> as_loss(1.82136, half_width=0.0084), as_loss(1.51136, half_width=0.45), as_loss(1.2796e-4)
    ('1.8214', '1.51', '0.0001280')
    >>> as_loss(0.0171, like=6.0, half_width=2e3)
    '0.017'
    >>> as_loss(-2e-6, like=1.8, sign="+")
    '+0.0000'
    """
    size = abs(value if like is None else like)
    if half_width > size:
        return f"{float(f'{value:.2g}'):{sign}.15g}"
    places = 4 if not 0.0 < size < 0.1 else min(3 - math.floor(math.log10(size)), 12)
    if 0.0 < half_width < math.inf:
        places = min(places, max(1 - math.floor(math.log10(half_width)), 0))
    return f"{round(value, places) + 0.0:{sign}.{places}f}"


def how_well(share: float) -> str:
    """Return a relative half-width in words: in percent, or as a factor where it is more than the value itself.

    >>> how_well(0.019), how_well(365.0)
    ('+-1.9 %', 'known to a factor of 370')
    """
    return f"+-{percent(share)}" if share <= 1.0 else f"known to a factor of {float(f'{1.0 + share:.2g}'):.15g}"


def times(factor: float) -> str:
    """Return a factor with two significant digits, never as a power of ten.

    >>> times(1.5), times(511.3), times(1e6)
    ('1.5', '510', '1,000,000')
    """
    return f"{float(f'{factor:.2g}'):,.15g}"


def html_table(
    head: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "", items: Iterable[str] = (), caption: str = ""
) -> str:
    """Return a table for a notebook, below a title and above a list; texts are escaped.

    >>> html_table(["M"], [[1], ["<2"]], caption="sizes")
    '<table><caption>sizes</caption><tr><th>M</th></tr><tr><td>1</td></tr><tr><td>&lt;2</td></tr></table>'
    """

    def row(cells: Iterable[Any], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(str(cell), quote=False)}</{kind}>" for cell in cells) + "</tr>"

    above = f"<h4>{escape(title)}</h4>" if title else ""
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in items)
    body = (row(head, "th") if head else "") + "".join(row(cells, "td") for cells in rows)
    return f"{above}<table>{named}{body}</table>" + (f"<ul>{lines}</ul>" if lines else "")


def first_and_last(rows: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Return the rows that a notebook shows: all, or of more than eight the first and the last four.

    >>> [row for (row,) in first_and_last([(str(number),) for number in range(20)])]
    ['0', '1', '2', '3', '…', '16', '17', '18', '19']
    """
    return rows if len(rows) <= 8 else [*rows[:4], ("…",) * len(rows[0]), *rows[-4:]]


def axes_to_draw_on(ax: Any = None, rows: int = 1) -> Any:
    """Return the axes that were given, or those of a new figure of its own, an array of them where ``rows`` > 1.

    Raises TypeError for what are no axes of matplotlib.

    >>> axes_to_draw_on("abc")
    Traceback (most recent call last):
    TypeError: ax must be axes of matplotlib, as figure.subplots() makes them, or None, got 'abc', of type str
    """
    if ax is not None:
        if not (hasattr(ax, "get_xlabel") and hasattr(ax, "loglog")):
            needed = "axes of matplotlib, as figure.subplots() makes them, or None"
            raise TypeError(f"ax must be {needed}, got {described(ax)}")
        return ax
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 2.0 + 2.5 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots(rows, sharex=rows > 1)


class Result:
    """What a frozen dataclass of results inherits from: equality by its fields, arrays by their numbers; a hash; and a
    state for pickling of the fields alone.

    >>> import pickle
    >>> @dataclass(frozen=True, eq=False)
    ... class Curve(Result):
    ...     rates: np.ndarray
    >>> first, second = Curve(np.array([0.1, 0.2])), Curve(np.array([0.1, 0.2]))
    >>> first == second, hash(first) == hash(second), first == Curve(np.array([0.1]))
    (True, True, False)
    """

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self) if field.compare)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        """Whether both are of one class and have the same in every field."""
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Result)
        return all(_same(own, another) for own, another in zip(self._values(), other._values(), strict=True))

    def __hash__(self) -> int:
        """The same for equal results."""
        return hash((type(self), *map(_key, self._values())))

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without what was computed from them and kept."""
        return {field.name: _packed(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the fields."""
        for name, value in state.items():
            object.__setattr__(self, name, value.restored() if isinstance(value, _Packed) else value)


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        if np.asarray(first).dtype == object:
            return np.array_equal(first, second)
        return np.array_equal(first, second, equal_nan=np.asarray(first).dtype.kind in "fc")
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second)


def _key(value: Any) -> Any:
    """What hashes alike for values that are the same."""
    if isinstance(value, np.ndarray):
        numbers = value.astype(np.float64) if value.dtype.kind in "biuf" else np.zeros(1)
        return value.shape, float(np.nan_to_num(numbers).sum())
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return frozenset((name, _key(item)) for name, item in value.items()) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class _Packed:
    """What pickle does not take by itself: a read-only mapping, or numbers of many digits."""

    items: Any
    shape: tuple[int, ...] | None = None
    binary_digits: int = 0

    def restored(self) -> Any:
        if self.shape is None:
            return MappingProxyType(self.items)
        import mpmath

        context = mpmath.mp.clone()
        context.prec = self.binary_digits
        numbers = [context.make_mpf(number) for number in self.items]
        return np.array([*numbers, None], dtype=object)[:-1].reshape(self.shape)


def _packed(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return _Packed(dict(value))
    if isinstance(value, np.ndarray) and value.dtype == object and value.size:
        return _Packed([number._mpf_ for number in value.flat], value.shape, value.flat[0].context.prec)
    return value
