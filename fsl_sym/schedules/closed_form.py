"""What a schedule in closed form is: a sequence of phases, each with its own clock, tau and t starting at 0 in each.

Nothing is taken on trust: :meth:`Schedule.derivation` verifies that T is the integral of phi, that the inverse inverts
it, and gamma.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final

from sympy import Expr, Integer, Integral, Piecewise, Symbol
from sympy.logic.boolalg import Boolean

from fsl_sym.algebra.printing import latex
from fsl_sym.proof import Antiderivative, Derivation, Identity, Limit, Step, chains
from fsl_sym.symbols import t, tau, z
from fsl_sym.values import assigned, instance_of

FRACTION: Final = Symbol("y", positive=True)
"""What is left of the intrinsic time of a phase, in (0, 1): t = total (1 - y)."""

RATIO: Final = Symbol("h", positive=True)
"""log(a/b): the decay of the learning rate in e-folds."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase: rates in units of the learning rate, ``0 <= tau <= length``, ``0 <= t <= total``.

    ``inverse`` (tau as a function of t) and ``gamma`` are None where they have no closed form. ``end_exponent`` is the
    q in ``gamma(t) ~ (total - t)^q`` at the end of the phase: 0 where the rate does not vanish. ``open_ended``: the
    closed forms hold for every tau > 0 and t > 0, and need no end to be positive.
    """

    name: str
    length: Expr
    phi: Expr
    intrinsic_time: Expr
    total: Expr
    inverse: Expr | None
    gamma: Expr | None
    end_exponent: Expr
    open_ended: bool = False

    def steps(self) -> tuple[Step, ...]:
        """The steps that prove intrinsic time, total, inverse and gamma."""
        primitive = self.intrinsic_time.subs(tau, z)
        place = self.length * (FRACTION if self.open_ended else 1 - FRACTION)
        steps = [
            Step(
                Integral(self.phi.subs(tau, z), (z, 0, tau)),
                self.intrinsic_time,
                Antiderivative(primitive, ((tau, place),)),
                f"intrinsic time of the {self.name} is the integral of the learning rate, from T(0) = 0",
            ),
            Step(
                self.intrinsic_time.subs(tau, self.length),
                self.total,
                Identity(),
                f"intrinsic time at the end of the {self.name}",
            ),
        ]
        if self.inverse is not None and self.gamma is not None:
            inside = Identity() if self.open_ended else Identity(((t, self.total * (1 - FRACTION)),))
            steps += [
                Step(self.intrinsic_time.subs(tau, self.inverse), t, inside, "the inverse"),
                Step(self.phi.subs(tau, self.inverse), self.gamma, inside, "the learning rate at intrinsic time t"),
            ]
        return tuple(steps)


@dataclass(frozen=True, slots=True)
class Singularity:
    """Where a closed form is 0/0, and what it tends to there: the schedule that ``becomes`` makes."""

    where: Boolean
    path: Expr
    simplified: Expr
    limit: Expr
    becomes: Callable[[], Schedule] = field(repr=False)

    def steps(self) -> tuple[Step, ...]:
        """The total intrinsic time along the path, and its limit as the path reaches the singularity (h -> 0)."""
        return (
            Step(self.path, self.simplified, Identity(), "a = b exp(h)"),
            Step(self.simplified, self.limit, Limit(RATIO, Integer(0)), "h -> 0: the singularity is removable"),
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule in closed form.

    Attributes
    ----------
    name
        Name in :data:`fsl_sym.schedules.SCHEDULES`.
    phases
        One or more phases; the total intrinsic time is the sum of theirs.
    parameters, ranges
        The symbols of the schedule and their conditions.
    singularities
        Where the closed forms need a limit.
    remark
        Why an inverse is missing, if it is.
    source
        Where the paper defines it.

    Examples
    --------
    >>> from fsl_sym.schedules import schedule
    >>> exponential = schedule("exp-decay")
    >>> exponential.total
    K*(a - b)/log(a/b)
    >>> all(derivation.verify().holds for derivation in exponential.derivation())
    True
    """

    name: str
    phases: tuple[Phase, ...]
    parameters: tuple[Symbol, ...]
    ranges: tuple[Boolean, ...]
    singularities: tuple[Singularity, ...] = ()
    remark: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        instance_of("name", self.name, str)
        if not self.phases:
            raise ValueError(f"the schedule {self.name!r} has no phase; give at least one")
        if not self.remark and any(phase.gamma is None for phase in self.phases):
            raise ValueError(f"the schedule {self.name!r} has no closed inverse and no remark that says why")

    def __str__(self) -> str:
        """The learning rate over the steps, and the intrinsic time.

        >>> from fsl_sym.schedules import schedule
        >>> print(schedule("linear"))
        linear: learning rate a*(1 - tau/K) at step tau of K, intrinsic time K*a/2 in all
        """
        return f"{self.name}: learning rate {self.phi} at step tau of {self.length}, intrinsic time {self.total} in all"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle \varphi(\tau) = {latex(self.phi)},\quad T = {latex(self.total)}$"

    @property
    def length(self) -> Expr:
        """The number of steps."""
        return sum((phase.length for phase in self.phases), Integer(0))

    @property
    def total(self) -> Expr:
        """The total intrinsic time."""
        return sum((phase.total for phase in self.phases), Integer(0))

    def _assembled(self, clock: Symbol, values: list[Expr], spans: list[Expr]) -> Expr:
        if len(values) == 1:
            return values[0]
        start: Expr = Integer(0)
        pieces = []
        for value, span in zip(values, spans, strict=True):
            pieces.append((value.subs(clock, clock - start), clock <= start + span))
            start += span
        return Piecewise(*pieces)

    @property
    def phi(self) -> Expr:
        """The learning rate at physical time tau."""
        return self._assembled(tau, [phase.phi for phase in self.phases], [phase.length for phase in self.phases])

    @property
    def intrinsic_time(self) -> Expr:
        """T(tau)."""
        before: Expr = Integer(0)
        values = []
        for phase in self.phases:
            values.append(before + phase.intrinsic_time)
            before += phase.total
        return self._assembled(tau, values, [phase.length for phase in self.phases])

    @property
    def inverse(self) -> Expr | None:
        """tau(t), or None with a :attr:`remark` that says why."""
        before: Expr = Integer(0)
        values = []
        for phase in self.phases:
            if phase.inverse is None:
                return None
            values.append(before + phase.inverse)
            before += phase.length
        return self._assembled(t, values, [phase.total for phase in self.phases])

    @property
    def gamma(self) -> Expr | None:
        """phi(tau(t)), or None with a :attr:`remark` that says why."""
        values = [phase.gamma for phase in self.phases]
        if any(value is None for value in values):
            return None
        return self._assembled(t, values, [phase.total for phase in self.phases])

    @property
    def end_exponent(self) -> Expr:
        """q in ``gamma(t) ~ (T - t)^q`` at the end."""
        return self.phases[-1].end_exponent

    def at(self, values: Mapping[Symbol, Expr]) -> Schedule:
        """The schedule with parameters set; at a singularity, the schedule that it becomes there.

        Examples
        --------
        >>> from fsl_sym.schedules import schedule
        >>> from fsl_sym.symbols import a, b
        >>> schedule("exp-decay").at({b: a}).name
        'constant'
        """
        instance_of("values", values, Mapping)
        values = assigned(values)
        for symbol, value in values.items():
            if symbol not in self.parameters or value.is_positive is False:
                raise ValueError(
                    f"{symbol} = {value} cannot be set in the schedule {self.name!r}: "
                    f"its parameters are {self.parameters}, all positive"
                )
        for singularity in self.singularities:
            if singularity.where.subs(values, simultaneous=True) == True:  # noqa: E712
                simpler = singularity.becomes()
                return simpler.at({key: value for key, value in values.items() if key in simpler.parameters})

        def put(phase: Phase) -> Phase:
            forms = {field.name: getattr(phase, field.name) for field in fields(phase)}
            moved = {name: e.subs(values, simultaneous=True) for name, e in forms.items() if isinstance(e, Expr)}
            return replace(phase, **moved)

        phases = tuple(map(put, self.phases))
        ranges = tuple(condition.subs(values) for condition in self.ranges)
        if any(condition == False for condition in ranges):  # noqa: E712
            raise ValueError(
                f"{dict(values)} is outside the range of the schedule {self.name!r}; it needs {self.ranges}"
            )
        left = tuple(symbol for symbol in self.parameters if symbol not in values)
        return Schedule(self.name, phases, left, ranges, (), self.remark, self.source)

    def derivation(self) -> tuple[Derivation, ...]:
        """T' = phi, T(0) = 0, the total, the inverse, gamma and the removable singularities, each verified."""
        steps = [step for phase in self.phases for step in phase.steps()]
        steps += [step for singularity in self.singularities for step in singularity.steps()]
        title = f"The {self.name} schedule in closed form"
        return chains(f"schedule {self.name}", title, tuple(steps), self.source)
