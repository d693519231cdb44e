r"""What every learning-rate schedule can do.

Time is physical time tau in [0, steps] (one unit a training step, h = 1). With the learning rate phi(tau) the intrinsic
time is t = T(tau) = int_0^tau phi, and gamma(t) = phi(T^-1(t)) / batch_size is what drives the noise (equation labelled
eqn: sde-instrinc of the paper). A schedule is given by three functions only: the learning rate, its integral from the
start, and its integral up to the end; T^-1 is found numerically from them where it has no closed form.

At a jump the learning rate is that of the phase that begins there; gamma in intrinsic time that of the one that ends.

Times close to the end are asked for as REMAINING time, because the forgetting kernel varies over intrinsic times of
order 1 before the end, which a float cannot resolve as T - r once T exceeds 1e16.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.results import axes_to_draw_on
from fsl_num.schedules.inverse import invert_increasing
from fsl_num.validation import Array, give_back, positive, real_number, times

_ROUNDING = 1e-12
_DRAWN = 1001  # points of a picture


@dataclass(frozen=True, kw_only=True)
class Schedule(ABC):
    """A learning-rate schedule with a constant batch size.

    ``peak``: the largest learning rate (> 0). ``steps``: the number of training steps K (> 0, need not be whole).
    ``batch_size``: B (> 0), default 1.

    >>> from fsl_num.schedules import Cosine
    >>> plan = Cosine(peak=0.1, steps=100)
    >>> round(plan.learning_rate(50), 6), round(plan.intrinsic_time(50), 6), round(plan.physical_time(4.091549), 3)
    (0.05, 4.091549, 50.0)
    >>> plan.gamma([0.0]).tolist(), round(plan.gamma_before_end(2.5), 6)
    ([0.1], 0.083681)
    >>> round(plan.remaining_intrinsic_time(50), 6), round(plan.remaining_steps(0.908451), 3)
    (0.908451, 50.0)
    >>> plan.plot().get_ylabel()
    'learning rate'
    """

    peak: float
    steps: float
    batch_size: float = 1.0

    def __post_init__(self) -> None:
        for name in ("peak", "steps", "batch_size"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        if not math.isfinite(self.peak * self.steps):
            raise ValueError(f"peak * steps must be below 1.8e308, got peak={self.peak!r}, steps={self.steps!r}")

    # The three functions that define a schedule. They take arrays that are already checked.

    @abstractmethod
    def _rate(self, remaining: Array) -> Array:
        """Return the learning rate when ``remaining`` steps are left."""

    @abstractmethod
    def _elapsed(self, tau: Array) -> Array:
        """Return the integral of the learning rate over [0, tau]."""

    @abstractmethod
    def _left(self, remaining: Array) -> Array:
        """Return the integral of the learning rate over the last ``remaining`` steps."""

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """Physical times strictly inside (0, steps) between which the rate is smooth on the scale of their gap.

        They are its jumps and kinks; at a square root, places that close in on it.
        """
        return ()

    @property
    def is_piecewise_constant(self) -> bool:
        """Whether the rate is known to be constant between the breaks."""
        return False

    @property
    def final_learning_rate(self) -> float:
        """The learning rate at the last step; 0 means that gamma vanishes at the end, where solvers must grade."""
        return float(self._rate(np.zeros(1))[0])

    @property
    def total_intrinsic_time(self) -> float:
        """T(steps), the integral of the learning rate over the whole training."""
        return float(self._left(np.array([self.steps]))[0])

    @property
    def breaks(self) -> tuple[float, ...]:
        """Intrinsic times strictly inside (0, T) between which gamma is smooth on the scale of their gap."""
        return tuple(float(self._elapsed(np.array([tau]))[0]) for tau in self.physical_breaks)

    @property
    def breaks_before_end(self) -> tuple[float, ...]:
        """The same breaks, as remaining intrinsic time T - t."""
        return tuple(float(self._left(np.array([self.steps - tau]))[0]) for tau in self.physical_breaks)

    def learning_rate(self, tau: Any) -> Any:
        """Return phi(tau) for physical times in [0, steps] (number or array)."""
        array, scalar = times("tau", tau, upper=self.steps)
        return give_back(self._rate_after(array), scalar)

    def intrinsic_time(self, tau: Any) -> Any:
        """Return T(tau) = int_0^tau phi for physical times in [0, steps]."""
        array, scalar = times("tau", tau, upper=self.steps)
        return give_back(self._elapsed(array), scalar)

    def remaining_intrinsic_time(self, remaining_steps: Any) -> Any:
        """Return the integral of phi over the last ``remaining_steps`` steps, exact near the end."""
        array, scalar = times("remaining_steps", remaining_steps, upper=self.steps)
        return give_back(self._left(array), scalar)

    def remaining_steps(self, remaining_intrinsic_time: Any) -> Any:
        """Return how many steps before the end ``remaining_intrinsic_time`` is left (inverse of the above)."""
        array, scalar = self._intrinsic("remaining_intrinsic_time", remaining_intrinsic_time)
        return give_back(self._steps_left(array), scalar)

    def physical_time(self, t: Any) -> Any:
        """Return T^-1(t), the physical time at which intrinsic time t in [0, T] is reached."""
        array, scalar = self._intrinsic("t", t)
        total = self.total_intrinsic_time
        early = self._steps_after(np.minimum(array, 0.5 * total))
        late = self.steps - self._steps_left(np.minimum(total - array, 0.5 * total))
        return give_back(np.where(array <= 0.5 * total, early, late), scalar)

    def gamma(self, t: Any) -> Any:
        """Return gamma(t) = phi(T^-1(t)) / batch_size for intrinsic times in [0, T]."""
        array, scalar = self._intrinsic("t", t)
        total = self.total_intrinsic_time
        early = self._gamma_after(np.minimum(array, 0.5 * total))
        late = self._gamma_left(total - array, float(np.spacing(total)))
        return give_back(np.where(array <= 0.5 * total, early, late), scalar)

    def gamma_before_end(self, remaining_intrinsic_time: Any, *, rounding: float = 0.0) -> Any:
        """Return gamma at T - r for remaining intrinsic times r in [0, T]; exact for r however small.

        ``rounding``: by how much r may be off where it was taken from T, beside its own last digit. Within some of it
        of a jump the phase holds that ends there.
        """
        array, scalar = self._intrinsic("remaining_intrinsic_time", remaining_intrinsic_time)
        return give_back(self._gamma_left(array, positive("rounding", rounding, zero=True)), scalar)

    def plot(self, ax: Any = None) -> Any:
        """Draw the learning rate over the steps; return the axes (needs matplotlib).

        The line bears the name of the schedule, for ``ax.legend()``.
        """
        ax, breaks = axes_to_draw_on(ax), np.array(self.physical_breaks)
        if self.is_piecewise_constant:
            at, line = np.concatenate([[0.0], breaks, [self.steps]]), "steps-post"
        else:  # both sides of what may be a jump
            at, line = np.concatenate([np.linspace(0.0, self.steps, _DRAWN), breaks, np.nextafter(breaks, 0.0)]), None
            at = np.unique(at)
        ax.plot(at, self.learning_rate(at), drawstyle=line, label=type(self).__name__)
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel("step")
        ax.set_ylabel("learning rate")
        return ax

    def _rate_after(self, tau: Array) -> Array:
        """Return the learning rate after ``tau`` steps."""
        return self._rate(self.steps - tau)

    def _steps_after(self, elapsed: Array) -> Array:
        """Return the steps that an intrinsic time from the start takes, the inverse of :meth:`_elapsed`."""
        return invert_increasing(self._elapsed, self._rate_after, elapsed, self.peak, self.steps)

    def _steps_left(self, remaining: Array) -> Array:
        """Return the steps that an intrinsic time before the end takes, the inverse of :meth:`_left`."""
        return invert_increasing(self._left, self._rate, remaining, self.peak, self.steps)

    def _gamma_after(self, elapsed: Array) -> Array:
        return self._rate_after(self._steps_after(elapsed)) / self.batch_size

    def _gamma_left(self, remaining: Array, rounding: float) -> Array:
        return self._rate(self._steps_left(remaining)) / self.batch_size

    def _intrinsic(self, name: str, value: Any) -> tuple[Array, bool]:
        """Check intrinsic times; a caller's rounding of T itself is forgiven to a relative 1e-12."""
        total = self.total_intrinsic_time
        array, scalar = times(name, value, upper=total * (1.0 + _ROUNDING))
        return np.minimum(array, total), scalar


def share_of_steps(name: str, value: Any) -> float:
    """Check a share of the steps: a number in (0, 1]."""
    number = real_number(name, value)
    if not 0.0 < number <= 1.0:
        raise ValueError(f"{name} must lie in (0, 1] (share of the steps), got {value!r}")
    return number


def final_rate(final: Any, peak: float, *, zero: bool) -> float:
    """Check a final learning rate: at most the peak, and positive unless ``zero`` is allowed."""
    number = positive("final", final, zero=True)
    if number == 0.0 and not zero:
        raise ValueError(
            "final must be positive, got 0: an exponential decay, that of exp-decay and wsd, never ends at 0; linear,"
            " cosine, power-decay and 1-sqrt do"
        )
    if number > peak:
        raise ValueError(f"final must be at most peak (the schedule decays), got final={final!r}, peak={peak!r}")
    if not zero and number < 1e-250 * peak:
        raise ValueError(f"final must be at least 1e-250 peak (ratios overflow), got final={final!r}, peak={peak!r}")
    return number
