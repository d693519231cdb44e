"""What a law of loss curves is: its formula, its parameters, and columns that are linear in some of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fsl_num.curves.laws.chart import Chart
from fsl_num.curves.plan import Plan, as_plan
from fsl_num.validation import Array, real_number

Columns = Callable[[Array], tuple[Array, Array]]
"""Nonlinear parameters -> columns X, shape (n, linear), and their derivatives, shape (n, nonlinear, linear)."""


@dataclass(frozen=True)
class Parameter:
    """One number of a law: ``name`` in code, ``symbol`` in LaTeX, ``unit``, ``meaning``, and its range.

    ``linear``: the law is linear in it once the nonlinear ones are given. ``scale``: how a fit moves it: "linear",
    "log", or "gap" (the log of 1 minus it).

    >>> Parameter("s", "s", "1", "difficulty of the task", 0.01, 5.0, scale="log").inside(7.0)
    5.0
    """

    name: str
    symbol: str
    unit: str
    meaning: str
    lower: float
    upper: float
    linear: bool = False
    scale: str = "linear"

    def inside(self, value: float) -> float:
        """Return the nearest value within the bounds."""
        return min(max(value, self.lower), self.upper)


def linear(name: str, symbol: str, meaning: str, unit: str = "loss") -> Parameter:
    """Return a linear parameter that is at least 0.

    >>> linear("L0", "L_0", "loss that no training removes").lower
    0.0
    """
    return Parameter(name, symbol, unit, meaning, 0.0, np.inf, linear=True)


@dataclass(frozen=True)
class Bound:
    """A law bound to plans, ready to be evaluated many times: the recorded steps of all plans, one after another.

    ``columns``: see :data:`Columns`. ``linear``: how many parameters are linear; these come first. ``without_slopes``:
    the columns alone, where they cost much less than with their derivatives.
    """

    columns: Columns
    linear: int
    without_slopes: Callable[[Array], Array] | None = None

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """Return the losses and their Jacobian, shape (n,) and (n, parameters)."""
        weights = theta[: self.linear]
        x, slopes = self.columns(theta[self.linear :])
        return x @ weights, np.concatenate([x, slopes @ weights], axis=1)

    def losses(self, theta: Array) -> Array:
        """Return the losses alone, shape (n,)."""
        x = (self.without_slopes or (lambda bent: self.columns(bent)[0]))(theta[self.linear :])
        return np.asarray(x @ theta[: self.linear])


class Law(ABC):
    """A formula for the loss after every step of a schedule.

    Class attributes: ``name`` (short, in code), ``title``, ``formula`` (LaTeX), ``source``. ``final_only``: the law
    is about the end of training alone. ``late``: the share of the intrinsic time of a run before which the law does not
    hold, as for T^-s, which has no limit at 0. The linear parameters come first in ``parameters``.

    >>> from fsl_num.curves.laws import law
    >>> law("fsl-ansatz").names
    ('L0', 'c1', 'c23', 'c2', 's', 'c4', 'gamma')
    """

    name: ClassVar[str]
    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    final_only: ClassVar[bool] = False
    late: ClassVar[float] = 0.08

    @property
    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, linear ones first."""

    @abstractmethod
    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans; ``detail``: a key of :data:`fsl_num.curves.laws.memory.DETAILS`."""

    @abstractmethod
    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Return starting points of the nonlinear parameters, the most likely first, shape (starts, nonlinear)."""

    def bounds(self, plans: Sequence[Plan]) -> tuple[Array, Array]:
        """Return the lowest and highest values of all parameters that these plans can tell apart."""
        return (
            np.array([parameter.lower for parameter in self.parameters]),
            np.array([parameter.upper for parameter in self.parameters]),
        )

    def chart(self, plans: Sequence[Plan], level: float = 1.0) -> Chart:
        """Return the coordinates in which a fit to these plans moves; ``level``: a loss of theirs."""
        return Chart(self.parameters, *self.bounds(plans))

    def with_peaks(self, largest: float) -> Law:
        """Return the law with steps that shorten with the peak of a run, from ``largest``, its reference, on.

        Where all peaks are equal the losses do not say by how much; what is expected does, so that another peak is
        predicted in an interval that knows it. A law that knows no peaks is returned as it is.

        >>> from fsl_num.curves.laws import law
        >>> law("fsl").with_peaks(0.4).names[-1], law("momentum").with_peaks(0.4) == law("momentum")
        ('P_c', True)
        """
        return self

    @property
    def size_term(self) -> tuple[str, ...]:
        """Names of the level, the coefficient and the exponent in L0 + D M^-x; empty where the size does not enter."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def linear_count(self) -> int:
        """How many of the parameters are linear."""
        return sum(parameter.linear for parameter in self.parameters)

    def vector(self, parameters: Mapping[str, Any] | Sequence[float] | Array) -> Array:
        """Return the parameters, by name or in order, as a checked array.

        Raises ValueError where one is missing, unknown, or outside its bounds.
        """
        if isinstance(parameters, Mapping):
            missing, unknown = set(self.names) - set(parameters), set(parameters) - set(self.names)
            if missing or unknown:
                raise ValueError(
                    f"the law {self.name!r} has the parameters {', '.join(self.names)};"
                    f" missing: {sorted(missing)}, unknown: {sorted(unknown)}"
                )
            values = [parameters[name] for name in self.names]
        else:
            values = list(parameters)
        if len(values) != len(self.names):
            raise ValueError(f"the law {self.name!r} has {len(self.names)} parameters, got {len(values)}")
        theta = np.array([real_number(name, value) for name, value in zip(self.names, values, strict=True)])
        for parameter, value in zip(self.parameters, theta, strict=True):
            if not parameter.lower <= value <= parameter.upper or not np.isfinite(value):
                raise ValueError(
                    f"{parameter.name} of the law {self.name!r} must be finite and in [{parameter.lower:g},"
                    f" {parameter.upper:g}], got {float(value)!r}"
                )
        return theta

    def predict(self, schedule: Any, parameters: Mapping[str, Any] | Sequence[float] | Array) -> Array:
        """Return the loss at the recorded steps of a plan, a curve, a schedule or an array of learning rates."""
        return self.bind([as_plan(schedule)]).losses(self.vector(parameters))

    def jacobian(self, schedule: Any, parameters: Mapping[str, Any] | Sequence[float] | Array) -> Array:
        """Return the derivatives of :meth:`predict` by the parameters, shape (recorded, parameters)."""
        return self.bind([as_plan(schedule)])(self.vector(parameters))[1]


def power(base: Array, exponent: float) -> tuple[Array, Array]:
    """Return base^-exponent and its derivative by the exponent.

    >>> [part.tolist() for part in power(np.array([1.0]), 2.0)]
    [[1.0], [-0.0]]
    """
    value = base**-exponent
    return value, -value * np.log(base)
