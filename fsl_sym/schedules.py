"""Learning-rate schedules in closed form: phi(tau), intrinsic time T(tau), its inverse, and gamma(t) = phi(T^-1(t)).

A schedule is a sequence of phases, each with its own clock: tau and t start at 0 in every phase. Nothing is taken on
trust: :meth:`Schedule.derivation` verifies that T is the integral of phi, that the inverse inverts it, and gamma.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from sympy import (
    Eq,
    Expr,
    Gt,
    Integer,
    Integral,
    Piecewise,
    Rational,
    Symbol,
    cos,
    exp,
    log,
    pi,
    sin,
    sympify,
)
from sympy.logic.boolalg import Boolean

from fsl_sym.proof import Antiderivative, Derivation, Identity, Limit, Step, chains
from fsl_sym.symbols import K1, K2, K, a, b, p, t, tau, z

FRACTION: Final = Symbol("y", positive=True)
"""What is left of the intrinsic time of a phase, in (0, 1): t = total (1 - y)."""

RATIO: Final = Symbol("h", positive=True)
"""log(a/b): the decay of the learning rate in e-folds."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase: rates in units of the learning rate, ``0 <= tau <= length``, ``0 <= t <= total``.

    ``inverse`` (tau as a function of t) and ``gamma`` are None where they have no closed form. ``end_exponent`` is the
    q in ``gamma(t) ~ (total - t)^q`` at the end of the phase: 0 where the rate does not vanish.
    """

    name: str
    length: Expr
    phi: Expr
    intrinsic_time: Expr
    total: Expr
    inverse: Expr | None
    gamma: Expr | None
    end_exponent: Expr

    def steps(self) -> tuple[Step, ...]:
        """The steps that prove intrinsic time, total, inverse and gamma."""
        primitive = self.intrinsic_time.subs(tau, z)
        found = [
            Step(
                Integral(self.phi.subs(tau, z), (z, 0, tau)),
                self.intrinsic_time,
                Antiderivative(primitive, ((tau, self.length * (1 - FRACTION)),)),
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
            inside = Identity(((t, self.total * (1 - FRACTION)),))
            found += [
                Step(self.intrinsic_time.subs(tau, self.inverse), t, inside, "the inverse"),
                Step(self.phi.subs(tau, self.inverse), self.gamma, inside, "the learning rate at intrinsic time t"),
            ]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Singularity:
    """Where a closed form is 0/0, and what it tends to there: the schedule named ``becomes``."""

    where: Boolean
    path: Expr
    simplified: Expr
    limit: Expr
    becomes: str

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
        Name in :data:`SCHEDULES`.
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
    >>> exponential = schedule("exponential decay")
    >>> exponential.total
    K*(a - b)/log(a/b)
    >>> all(each.verify().holds for each in exponential.derivation())
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
        if not self.phases:
            raise ValueError(f"the schedule {self.name!r} has no phase; give at least one")
        if not self.remark and any(phase.gamma is None for phase in self.phases):
            raise ValueError(f"the schedule {self.name!r} has no closed inverse and no remark that says why")

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
        >>> schedule("exponential decay").at({b: a}).name
        'constant'
        """
        for symbol, value in values.items():
            if symbol not in self.parameters or sympify(value).is_positive is False:
                raise ValueError(
                    f"{symbol} = {value} cannot be set in the schedule {self.name!r}: "
                    f"its parameters are {self.parameters}, all positive"
                )
        for singularity in self.singularities:
            if singularity.where.subs(values, simultaneous=True) == True:  # noqa: E712
                simpler = schedule(singularity.becomes)
                return simpler.at({key: value for key, value in values.items() if key in simpler.parameters})

        def put(e: Expr | None) -> Expr | None:
            return None if e is None else e.subs(values, simultaneous=True)

        phases = tuple(
            Phase(
                x.name,
                put(x.length),
                put(x.phi),
                put(x.intrinsic_time),
                put(x.total),
                put(x.inverse),
                put(x.gamma),
                put(x.end_exponent),
            )
            for x in self.phases
        )
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


def _constant_phase(length: Symbol, name: str) -> Phase:
    return Phase(name, length, a, a * tau, a * length, t / a, a, Integer(0))


def _exponential_phase(length: Symbol) -> Phase:
    rate = log(a / b) / length
    return Phase(
        "exponential decay",
        length,
        a * exp(-rate * tau),
        a / rate * (1 - exp(-rate * tau)),
        (a - b) * length / log(a / b),
        -log(1 - rate * t / a) / rate,
        a - rate * t,
        Integer(0),
    )


def _equal_rates(length: Symbol, becomes: str) -> Singularity:
    along = _exponential_phase(length).total.subs(a, b * exp(RATIO))
    return Singularity(Eq(a, b), along, b * length * (exp(RATIO) - 1) / RATIO, b * length, becomes)


def constant() -> Schedule:
    """``phi = a``."""
    return Schedule("constant", (_constant_phase(K, "constant phase"),), (a, K), (), source="thm:chinchilla")


def exponential_decay() -> Schedule:
    """``phi = a exp(-zeta tau)`` with ``phi(K) = b``: gamma is linear in intrinsic time."""
    return Schedule(
        "exponential decay",
        (_exponential_phase(K),),
        (a, b, K),
        (Gt(a, b),),
        (_equal_rates(K, "constant"),),
        source="thm:geometric",
    )


def warmup_stable_decay() -> Schedule:
    """The WSD-like schedule: K_1 steps at rate a, then K_2 steps of exponential decay to b."""
    phases = (_constant_phase(K1, "stable phase"), _exponential_phase(K2))
    singular = (_equal_rates(K2, "stable"),)
    return Schedule("WSD-like", phases, (a, b, K1, K2), (Gt(a, b),), singular, source="thm: wsd, eqn: wsd-1")


def stable() -> Schedule:
    """Two constant phases: what the WSD-like schedule becomes at a = b."""
    return Schedule(
        "stable", (_constant_phase(K1, "stable phase"), _constant_phase(K2, "second phase")), (a, K1, K2), ()
    )


def power_decay() -> Schedule:
    """``phi = a (1 - tau/K)^p``: gamma is again a power, of exponent p/(p + 1), in intrinsic time."""
    total = a * K / (p + 1)
    phase = Phase(
        "power decay",
        K,
        a * (1 - tau / K) ** p,
        total * (1 - (1 - tau / K) ** (p + 1)),
        total,
        K * (1 - (1 - t / total) ** (1 / (p + 1))),
        a * (1 - t / total) ** (p / (p + 1)),
        p / (p + 1),
    )
    return Schedule("power decay", (phase,), (a, p, K), ())


def linear_decay() -> Schedule:
    """``phi = a (1 - tau/K)``: the power decay with p = 1."""
    phase = power_decay().at({p: Integer(1)}).phases[0]
    return Schedule("linear decay", (phase,), (a, K), ())


_KEPLER: Final = (
    "t/K = (a + b) x/(2 pi) + (a - b) sin(x)/(2 pi) with x = pi tau/K is Kepler's equation: "
    "its solution is no elementary function; invert it numerically"
)


def _cosine(final: Expr, name: str, parameters: tuple[Symbol, ...], ranges: tuple[Boolean, ...]) -> Schedule:
    phi = final + (a - final) * (1 + cos(pi * tau / K)) / 2
    time = (a + final) * tau / 2 + (a - final) * K * sin(pi * tau / K) / (2 * pi)
    # at the end phi vanishes like (K - tau)^2 where b = 0, so gamma like (T - t)^(2/3): the power decay with p = 2
    end = Rational(2, 3) if final == 0 else Integer(0)
    phase = Phase("cosine", K, phi, time, (a + final) * K / 2, None, None, end)
    return Schedule(name, (phase,), parameters, ranges, (), _KEPLER)


def cosine() -> Schedule:
    """Half a cosine from a down to b."""
    return _cosine(b, "cosine", (a, b, K), (Gt(a, b),))


def cosine_to_zero() -> Schedule:
    """Half a cosine from a down to 0."""
    return _cosine(Integer(0), "cosine to zero", (a, K), ())


SCHEDULES: Final[Mapping[str, Callable[[], Schedule]]] = MappingProxyType(
    {
        "constant": constant,
        "exponential decay": exponential_decay,
        "WSD-like": warmup_stable_decay,
        "stable": stable,
        "power decay": power_decay,
        "linear decay": linear_decay,
        "cosine": cosine,
        "cosine to zero": cosine_to_zero,
    }
)
"""Name -> constructor."""


def schedule(name: str) -> Schedule:
    """The schedule of that name.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> schedule("power decay").gamma
    a*(1 - t*(p + 1)/(K*a))**(p/(p + 1))
    """
    if name not in SCHEDULES:
        raise ValueError(f"unknown schedule {name!r}; the schedules are {', '.join(SCHEDULES)}")
    return SCHEDULES[name]()
