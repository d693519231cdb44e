"""Times, errors and rows of the table of the Volterra solvers."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np


@dataclass(frozen=True)
class Row:
    """One line: ``ratio`` is rival over ours, or ours over the limit where ``limit``; ``goal`` in words."""

    case: str
    ours: float
    error: float
    rival: str
    theirs: float
    their_error: float
    goal: str = ""
    limit: bool = False

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.limit else self.theirs / self.ours

    def facts(self) -> dict[str, Any]:
        """All of it by name, for a file; what is not known is None."""
        known = {"case": self.case, "ours": self.ours, "error": self.error, "rival": self.rival, "theirs": self.theirs}
        known |= {"their_error": self.their_error, "ratio": self.ratio, "of_limit": self.limit, "goal": self.goal}
        return {name: None if isinstance(x, float) and math.isnan(x) else x for name, x in known.items()}

    def cells(self) -> list[str]:
        shown = f"{self.ratio:.3g}" + (" (ours/its)" if self.limit else "")
        errors = ["" if math.isnan(x) else f"{x:.1e}" for x in (self.error, self.their_error)]
        return [
            self.case,
            f"{self.ours:.3g} s",
            errors[0],
            self.rival,
            f"{self.theirs:.3g} s",
            errors[1],
            shown,
            self.goal,
        ]


class OutOfTime(BaseException):
    """Not an Exception, which a solver may take for a failure of its own."""


@contextmanager
def limited(most: float) -> Iterator[None]:
    """Raise OutOfTime after so many seconds of the clock, where the system has such an alarm."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


_CLOCK: ContextVar[Callable[[], float]] = ContextVar("clock", default=time.perf_counter)


@contextmanager
def timed_by(clock: Callable[[], float]) -> Iterator[None]:
    """Let :func:`seconds` measure by another clock."""
    token = _CLOCK.set(clock)
    try:
        yield
    finally:
        _CLOCK.reset(token)


HEAD = ("case", "ours", "error", "rival", "its time", "its error", "ratio", "goal")


def seconds(function: Callable[[], Any], runs: int = 3, enough: float = 2.0) -> tuple[float, Any]:
    """The least time of ``runs`` or, where they are short, of up to 25 within half a second; and the last result.

    A long function is not repeated once ``enough`` seconds are spent.
    """
    clock = _CLOCK.get()
    best, total, done, result = math.inf, 0.0, 0, None
    while done < runs or (done < 25 and total < 0.5):
        start = clock()
        result = function()
        once = clock() - start
        best, total, done = min(best, once), total + once, done + 1
        if total > enough:
            break
    return best, result


def worst(values: Any, truth: Any) -> float:
    """The largest relative error of floats or mpf."""
    mp = mpmath.mp.clone()
    mp.dps = 120
    return max(float(abs(mp.convert(x) / mp.convert(y) - 1)) for x, y in zip(values, truth, strict=True))


def matmul_speed(size: int = 1536) -> float:
    """Floating-point operations a second of a product of two square matrices of float64, the best of five."""
    a = np.random.default_rng(0).standard_normal((size, size))
    return 2.0 * size**3 / seconds(lambda: a @ a, 5, 5.0)[0]


def sharpest(run: Callable[[float], Any], truth: Any, largest_error: float, tolerances: Any) -> tuple[float, float]:
    """Time and error of the loosest tolerance with which ``run`` reaches ``largest_error``, else of the best."""
    found = []
    for tolerance in tolerances:
        taken, values = seconds(lambda tolerance=tolerance: run(tolerance))
        found.append((worst(values, truth), taken))
        if found[-1][0] <= largest_error:
            break
    error, taken = found[-1] if found[-1][0] <= largest_error else min(found)
    return taken, error
