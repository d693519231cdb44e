"""A schedule given as a function of physical time: Chebyshev polynomials on panels, halved until two of them agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.inverse import invert_increasing
from fsl_num.schedules.phases import Phased
from fsl_num.validation import Array, positive, real_number

_DEGREE = 15  # of the polynomial that is compared with one of degree 31, which is kept
_AGREE = 1e-13  # of the largest rate: where both agree so well
_NARROW = 1e-15  # of the area of the largest rate and all steps: or where their difference has so small an area
_LEVELS = 60
_PANELS = 20_000
_NOISE = 2e-15  # relative: smaller coefficients are rounding, which adds up at the ends of a panel
_SAMPLES = 257  # of each polynomial, for the largest rate


def values_of(phi: Callable[[Any], Any], tau: Array) -> Array:
    """Return phi at an array of times: finite and at least 0. Raises TypeError or ValueError otherwise.

    >>> values_of(lambda tau: 0.5, np.arange(2.0)).tolist()
    [0.5, 0.5]
    """
    raw = np.asarray(phi(tau))
    if raw.dtype.kind not in "fiu" or raw.shape not in ((), tau.shape):
        raise TypeError(
            f"a schedule must map an array of times to as many real numbers, got the shape {raw.shape} and dtype"
            f" {raw.dtype} for {tau.shape}; a function of one number is made one of arrays by numpy.vectorize"
        )
    values: Array = np.broadcast_to(raw.astype(np.float64), tau.shape)
    bad = ~(np.isfinite(values) & (values >= 0.0))
    if bad.any():
        raise ValueError(
            f"a learning rate must be finite and at least 0, got {float(values[bad][0])!r} at step"
            f" {float(tau[bad][0])!r}"
        )
    return values


@dataclass(frozen=True, kw_only=True, eq=False)
class _Panel(Schedule):
    """A polynomial on one panel: its Chebyshev ``coefficients``, and of its integrals from the start and to the end."""

    coefficients: Array
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __post_init__(self) -> None:
        """Nothing to check: a panel of rate 0 is a panel too."""

    @cached_property
    def _antiderivative(self) -> Array:
        return np.asarray(0.5 * self.steps * chebyshev.chebint(self.coefficients, lbnd=-1))

    def _place(self, tau: Array) -> Array:
        return np.clip(2.0 * (tau / self.steps) - 1.0, -1.0, 1.0)

    def _rate(self, remaining: Array) -> Array:
        return np.maximum(chebyshev.chebval(-self._place(remaining), self.coefficients), 0.0)

    def _rate_after(self, tau: Array) -> Array:
        return np.maximum(chebyshev.chebval(self._place(tau), self.coefficients), 0.0)

    def _elapsed(self, tau: Array) -> Array:
        return np.maximum(chebyshev.chebval(self._place(tau), self._antiderivative), 0.0)

    def _left(self, remaining: Array) -> Array:
        return np.maximum(chebyshev.chebval(self._place(remaining), self._antiderivative_left), 0.0)

    @cached_property
    def _antiderivative_left(self) -> Array:
        signs = (-1.0) ** np.arange(self.coefficients.size)
        return np.asarray(0.5 * self.steps * chebyshev.chebint(self.coefficients * signs, lbnd=-1))

    @property
    def _bound(self) -> float:
        return float(np.abs(self.coefficients).sum())

    def _steps_after(self, elapsed: Array) -> Array:
        return invert_increasing(self._elapsed, self._rate_after, elapsed, self._bound, self.steps)

    def _steps_left(self, remaining: Array) -> Array:
        return invert_increasing(self._left, self._rate, remaining, self._bound, self.steps)


@dataclass(frozen=True, kw_only=True)
class FromFunction(Phased):
    """The schedule phi(tau) of a Python function, as polynomials on panels that :func:`from_function` finds.

    ``error``: of its intrinsic time, absolute, as far as polynomials of two degrees can tell. ``function`` and
    ``edges``: phi, and where the panels begin and end; ``coefficients``: of the Chebyshev polynomials, a row a panel.
    """

    function: Callable[[Any], Any]
    edges: Array = field(repr=False, compare=False)
    coefficients: Array = field(repr=False, compare=False)
    error: float

    @cached_property
    def phases(self) -> tuple[Schedule, ...]:
        """One polynomial a panel."""
        widths = np.diff(self.edges).tolist()
        return tuple(
            _Panel(peak=self.peak, steps=width, coefficients=row)
            for width, row in zip(widths, self.coefficients, strict=True)
        )


def _interpolated(values: Array) -> Array:
    """Return the Chebyshev coefficients of rows of values at the points of the first kind."""
    count = values.shape[1]
    table = chebyshev.chebvander(chebyshev.chebpts1(count), count - 1)
    scale = np.where(np.arange(count) == 0, 1.0, 2.0) / count
    interpolated = (values @ table) * scale
    return np.where(np.abs(interpolated) > _NOISE * np.abs(interpolated).max(axis=1, keepdims=True), interpolated, 0.0)


def from_function(
    phi: Callable[[Any], Any], *, steps: Any, breaks: Sequence[float] = (), batch_size: Any = 1.0
) -> FromFunction:
    """Return the schedule of a function phi(tau) of physical time on [0, ``steps``].

    ``phi`` maps an array of times to the array of learning rates, finite and at least 0. ``breaks``: times inside
    (0, steps) where it jumps or has kinks; others are closed in on, at the cost of more panels. Panels are halved until
    the polynomials of degree 15 and 31 agree to 1e-13 of the largest rate, or their difference has an area below
    1e-15 of the whole; the attribute ``error`` says what that leaves of T. Raises TypeError or ValueError for rates
    that are negative or not finite, and for a function that varies too fast for 20,000 panels.

    >>> plan = from_function(lambda tau: 0.1 / np.sqrt(1.0 + tau), steps=1000)
    >>> abs(plan.total_intrinsic_time - 0.2 * (np.sqrt(1001.0) - 1.0)) < 1e-12 > plan.error
    True
    """
    end = positive("steps", steps)
    cuts = sorted({real_number("breaks", cut) for cut in breaks})
    if cuts and not (cuts[0] > 0.0 and cuts[-1] < end):
        raise ValueError(f"breaks must lie strictly inside (0, steps={end!r}), got {cuts}")
    edges = np.array([0.0, *cuts, end])
    low, high = edges[:-1], edges[1:]
    few, many = chebyshev.chebpts1(_DEGREE + 1), chebyshev.chebpts1(2 * _DEGREE + 2)
    peak, error = 0.0, 0.0
    kept: list[tuple[Array, Array]] = []
    for _ in range(_LEVELS):
        middle, half = 0.5 * (low + high)[:, None], 0.5 * (high - low)[:, None]
        first, second = (values_of(phi, (middle + half * nodes).ravel()).reshape(len(low), -1) for nodes in (few, many))
        peak = max(peak, float(first.max()), float(second.max()))
        coarse = _interpolated(first)
        apart = np.abs(chebyshev.chebval(many, coarse.T) - second).max(axis=1)
        missed = apart * (high - low)
        good = (apart <= _AGREE * peak) | (missed <= _NARROW * peak * end)
        kept.append((low[good], _interpolated(second[good])))
        error += float(missed[good].sum())
        low, high = low[~good], high[~good]
        if not low.size:
            break
        middle = 0.5 * (low + high)
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        if sum(len(starts) for starts, _ in kept) + low.size > _PANELS:
            break
    if low.size:
        raise ValueError(
            f"the schedule varies too fast for {_PANELS:,} panels of degree 31, about step {float(low[0])!r}: give"
            " breaks= where it is not smooth, or the rates step by step as an array"
        )
    if peak == 0.0:
        raise ValueError("the learning rate must be positive somewhere: with 0 everywhere there is no training")
    starts, rows = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
    order = np.argsort(starts)
    peak = max(peak, float(chebyshev.chebval(np.linspace(-1.0, 1.0, _SAMPLES), rows.T).max()))
    return FromFunction(
        function=phi,
        peak=peak,
        steps=end,
        batch_size=batch_size,
        edges=np.append(starts[order], end),
        coefficients=rows[order],
        error=error + 1e-15 * peak * end,
    )
