r"""A schedule given step by step: learning rate eta_k and batch size B_k on the physical time [k, k + 1).

In intrinsic time gamma = eta_k/B_k on an interval of length eta_k, so that a step with eta_k = 0
takes no intrinsic time. At a jump gamma has the value of the step that ends there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.validation import Array, as_array, give_back


def step_values(name: str, value: Any, *, zero: bool) -> Array:
    """Return ``value`` as a float array of its own, finite and positive (at least 0 where ``zero``).

    Raises TypeError for what is not a list of real numbers and ValueError for an empty one or numbers out of range.

    >>> step_values("rates", [0.1, 0.0], zero=True).tolist()
    [0.1, 0.0]
    """
    if np.ma.is_masked(value):
        raise ValueError(f"{name} holds masked numbers: leave them out, or fill them")
    raw = as_array(name, value)
    if raw.ndim == 0 or raw.dtype.kind not in "fiu":
        rates = "; step_rates(it) has a schedule's rate of every update" if isinstance(value, Schedule) else ""
        raise TypeError(
            f"{name} must be an array of real numbers, got {type(value).__name__} of dtype {raw.dtype}{rates}"
        )
    if raw.size == 0:
        raise ValueError(f"{name} must hold at least one step, got none")
    array = raw.astype(np.float64)
    bad = ~np.isfinite(array) | ((array < 0.0) if zero else (array <= 0.0))
    if bad.any():
        bound = "at least 0" if zero else "positive"
        first = int(np.argmax(bad.ravel()))
        raise ValueError(
            f"{name} must be finite and {bound}, got {float(array.ravel()[first])!r} at position {first}"
            f" ({int(bad.sum())} such values)"
        )
    return array


def steps_and_batches(rates: Any, batch_sizes: Any) -> tuple[Array, Array]:
    """Return learning rates eta_k >= 0, shape (steps,), and batch sizes B_k > 0, shape (steps,) or (1,) for all.

    Raises ValueError or TypeError where they are out of range or of another shape.

    >>> [array.tolist() for array in steps_and_batches([0.1, 0.2], 4)]
    [[0.1, 0.2], [4.0]]
    """
    eta = step_values("rates", rates, zero=True)
    batches = step_values("batch_sizes", np.atleast_1d(np.asarray(batch_sizes)), zero=False)
    if eta.ndim != 1 or batches.shape not in ((1,), eta.shape):
        raise ValueError(
            "rates must have one dimension, one number a step, and batch_sizes be one number or one a step, got the"
            f" shapes {eta.shape} and {batches.shape}"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(eta.sum()):
            raise ValueError("the sum of the rates, the intrinsic time, must be below 1.8e308: give smaller rates")
    return eta, batches


def running_sums(values: Any) -> Array:
    """Return 0 and the sums of the first one, two, ... values; a plain sum of a million would lose three digits.

    >>> running_sums([0.5, 0.25]).tolist()
    [0.0, 0.5, 0.75]
    """
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.longdouble)]).astype(np.float64)


def _distinct(values: Array) -> tuple[Array, Any]:
    """Return the distinct values of a non-decreasing array and where each comes first."""
    first = np.flatnonzero(np.concatenate([[True], np.diff(values) > 0.0]))
    return values[first], first


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Discrete(Schedule):
    """A learning rate and a batch size for every step; the rates may rise and fall (warmup, cycles) and may be 0.

    ``rates``: eta_0 ... eta_{K-1}, finite, at least 0, one of them positive. ``batch_sizes``: as many positive numbers,
    or one for all (default 1). ``peak``, ``steps`` and ``batch_size`` follow: the largest rate, K, and the largest rate
    over the largest gamma, which is B where all batches are of one size. Raises ValueError or TypeError otherwise.

    >>> plan = Discrete(rates=[0.1, 0.3, 0.0, 0.2], batch_sizes=2)
    >>> round(plan.total_intrinsic_time, 12), plan.gamma(0.2), round(plan.physical_time(0.25), 12)
    (0.6, 0.15, 1.5)
    """

    rates: Any
    batch_sizes: Any = 1.0
    peak: float = field(init=False, default=0.0)
    steps: float = field(init=False, default=0.0)
    batch_size: float = field(init=False, default=1.0)

    def __post_init__(self) -> None:
        rates, batches = steps_and_batches(self.rates, self.batch_sizes)
        if not rates.any():
            raise ValueError("rates must hold a positive one: with all of them 0 there is no training")
        set_field = object.__setattr__
        starts = running_sums(rates)
        # the same jumps, seen from the end: small steps there are not lost beside huge ones; the total is one number
        left = running_sums(rates[::-1])
        left = np.where(left >= min(left[-1], starts[-1]), starts[-1], left)
        gammas = rates if (batches == 1.0).all() else rates / batches
        arrays = {"rates": rates, "batch_sizes": batches, "_starts": starts, "_rests": left, "_gammas": gammas}
        for name, array in arrays.items():
            array.setflags(write=False)
            set_field(self, name, array)
        set_field(self, "peak", float(rates.max()))
        set_field(self, "steps", float(rates.size))
        set_field(self, "batch_size", float(rates.max() / gammas.max()))
        super().__post_init__()

    def __eq__(self, other: object) -> bool:
        """Whether both have the same rates and the same batch size on every step."""
        if not isinstance(other, Discrete):
            return NotImplemented
        return np.array_equal(self.rates, other.rates) and np.array_equal(self.gammas, other.gammas)

    __hash__ = Schedule.__hash__  # of peak, steps and batch size: the same for equal schedules

    def __repr__(self) -> str:
        return f"Discrete({int(self.steps)} steps, peak={self.peak!r})"

    @property
    def gammas(self) -> Array:
        """gamma on each step, eta_k/B_k."""
        return self._gammas  # type: ignore[attr-defined,no-any-return]

    @property
    def is_piecewise_constant(self) -> bool:
        """It is, by definition."""
        return True

    def _rate(self, remaining: Array) -> Array:
        return np.asarray(self.rates[self._step(remaining)])

    def _step(self, remaining: Array) -> Any:
        return np.clip(int(self.steps) - np.ceil(remaining).astype(np.int64), 0, int(self.steps) - 1)

    def _elapsed(self, tau: Array) -> Array:
        return np.asarray(np.interp(tau, np.arange(self.steps + 1.0), self._starts))  # type: ignore[attr-defined]

    def _left(self, remaining: Array) -> Array:
        return np.asarray(np.interp(remaining, np.arange(self.steps + 1.0), self._rests))  # type: ignore[attr-defined]

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """The steps, which is where the rate may jump."""
        return tuple(np.arange(1.0, self.steps).tolist())

    @property
    def breaks(self) -> tuple[float, ...]:
        """Intrinsic times strictly inside (0, T) where a step ends; steps of rate 0 end where they begin."""
        cuts = np.unique(self._starts)  # type: ignore[attr-defined]
        return tuple(cuts[1:-1].tolist())

    @property
    def breaks_before_end(self) -> tuple[float, ...]:
        """The same times as remaining intrinsic time, in the same order."""
        cuts = np.unique(self._rests)  # type: ignore[attr-defined]
        return tuple(cuts[-2:0:-1].tolist())

    def _steps_after(self, elapsed: Array) -> Array:
        at, first = _distinct(self._starts)  # type: ignore[attr-defined]
        index = np.clip(np.searchsorted(at, elapsed, side="left"), 1, at.size - 1)
        last = first[index]  # the step that reaches it is the one before this
        rate = self.rates[last - 1]
        tau = last - 1 + (elapsed - self._starts[last - 1]) / rate  # type: ignore[attr-defined]
        return np.asarray(np.where(elapsed <= 0.0, 0.0, np.clip(tau, last - 1, last)))

    def physical_time(self, t: Any) -> Any:
        """Return the first physical time at which the intrinsic time t in [0, T] is reached."""
        array, scalar = self._intrinsic("t", t)
        return give_back(self._steps_after(array), scalar)

    def _steps_left(self, remaining: Array) -> Array:
        at, first = _distinct(self._rests)  # type: ignore[attr-defined]
        index = np.clip(np.searchsorted(at, remaining, side="left"), 1, at.size - 1)
        last = first[index]
        rate = self.rates[::-1][last - 1]
        left = last - 1 + (remaining - self._rests[last - 1]) / rate  # type: ignore[attr-defined]
        return np.asarray(np.where(remaining <= 0.0, 0.0, np.clip(left, last - 1, last)))

    def _gamma_after(self, elapsed: Array) -> Array:
        total = self.total_intrinsic_time
        return self._gamma_left(total - elapsed, float(np.spacing(total)))

    def _gamma_left(self, remaining: Array, rounding: float) -> Array:
        at, first = _distinct(self._rests)  # type: ignore[attr-defined]
        # who asks at a jump itself, up to the rounding of its time, means the step that ends there
        near = remaining + 8.0 * np.maximum(np.spacing(remaining), rounding)
        index = np.clip(np.searchsorted(at, near, side="right"), 1, at.size - 1)
        return np.asarray(self.gammas[int(self.steps) - first[index]])
