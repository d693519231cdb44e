"""How long a computation may take, and who is informed while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

SEARCH = 0.8
"""The part of the time after which the search ends; the rest is for putting regions together."""


class OutOfTime(Exception):
    """The time that was given is over."""


@dataclass(frozen=True)
class Progress:
    """How far the search for regions has come.

    ``share`` runs from 0 to 1 and never falls (it is a share of the search, not of the time), ``certified`` counts the
    cells with a certificate, ``unresolved`` those without, ``seconds`` is the time since the beginning.

    >>> from sympy import symbols
    >>> from fsl_sym import optimal_exponents
    >>> x, N = symbols("x N", positive=True)
    >>> reports = []
    >>> _ = optimal_exponents(x + N / x, [x], N, progress=reports.append)
    >>> reports[-1].share, reports[-1].unresolved
    (1.0, 0)
    """

    share: float
    certified: int
    unresolved: int
    seconds: float


class Clock:
    """The time since it was made, against the seconds allowed (None: no limit).

    The search may take the part ``SEARCH`` of the time; :meth:`end_of_search` opens the rest to what makes regions.
    """

    def __init__(self, max_time: float | None = None, progress: Callable[[Progress], object] | None = None) -> None:
        self.max_time, self.progress = max_time, progress
        self._part = SEARCH
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self._start

    def check(self) -> None:
        """Raise :class:`OutOfTime` where the time is over."""
        if self.max_time is not None and self.seconds > self._part * self.max_time:
            raise OutOfTime

    def end_of_search(self) -> None:
        """Allow all of the time from now on."""
        self._part = 1.0

    def report(self, share: float, certified: int, unresolved: int) -> None:
        """Inform the callback, where there is one."""
        if self.progress is not None:
            self.progress(Progress(share, certified, unresolved, self.seconds))
