"""Schedules that are not in the catalogue: typed as phi(tau), known only by their end, or put after a stable phase.

>>> from fsl_sym.symbols import K, a, tau
>>> own_schedule(a * (1 - (tau / K) ** 2)).end_exponent
1/2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

from sympy import (
    AccumBounds,
    Expr,
    Float,
    Heaviside,
    Integer,
    Integral,
    Max,
    Min,
    Mod,
    Piecewise,
    Rational,
    ceiling,
    diff,
    floor,
    frac,
    integrate,
    lambdify,
    limit,
    log,
    nan,
    nsimplify,
    oo,
    sign,
    zoo,
)

from fsl_sym.algebra.equality import simplified
from fsl_sym.schedules import schedule
from fsl_sym.schedules.closed_form import FRACTION, Phase, Schedule
from fsl_sym.schedules.forms import power_decay, stable
from fsl_sym.symbols import K1, K2, K, a, b, p, tau, z
from fsl_sym.values import as_expression, exact

_PROBES = tuple(Rational(place, 24) for place in range(1, 24))
_TURNS, _NEARLY_ZERO = 97, 1e-12
_POWERS = (Rational(1, 3), Integer(2), Integer(20))
_NO_INVERSE = "the inverse of the intrinsic time of a schedule of one's own is not looked for; invert it numerically"


def as_schedule(known: str | Schedule) -> Schedule:
    """The schedule of that name, or the one given.

    Raises
    ------
    TypeError
        If it is neither.

    Examples
    --------
    >>> as_schedule("linear").name
    'linear'
    """
    if isinstance(known, str):
        return schedule(known)
    if not isinstance(known, Schedule):
        raise TypeError(f"a schedule is a name or a Schedule (own_schedule makes one from phi), not {known!r}")
    return known


def end_power(phase: Phase) -> Expr:
    """The p with which the learning rate of a phase vanishes, ``phi ~ (1 - tau/length)^p``, once b = 0; 0 if it stays.

    Raises
    ------
    ValueError
        If the rate does not end like a power: with a logarithm, faster than every power, or growing without bound.

    Examples
    --------
    >>> from fsl_sym.schedules import schedule
    >>> [end_power(schedule(name).phases[-1]) for name in ("linear", "cosine", "1-sqrt", "power-decay", "inverse-sqrt")]
    [1, 2, 1, p, 0]
    """
    return _end_power(phase.phi, phase.length)


def _end_power(phi: Expr, length: Expr) -> Expr:
    rate = phi.subs(b, 0) if phi.has(b) and phi.has(tau) else phi
    shape = simplified(rate.subs(tau, length * (1 - FRACTION)))
    if shape.has(nan, zoo, oo):
        raise ValueError(
            f"the learning rate {phi} has no shape of its own at b = 0, and so no power at its end: its noise is "
            'derived for "exp-decay" and "wsd" alone'
        )
    if not shape.has(FRACTION):
        return Integer(0)
    power = _at_end(simplified(FRACTION * diff(log(shape), FRACTION)))
    front = _at_end(shape / FRACTION**power) if power.is_finite else oo
    if power.is_nonnegative is not True or front.is_positive is not True or not front.is_finite:
        raise ValueError(
            f"the learning rate {phi} does not end like a power c (1 - tau/K)^p with p >= 0 and c > 0 "
            f"(its exponent there is {power}, with the factor {front}): only powers have a noise order here"
        )
    return power


def _at_end(expression: Expr) -> Expr:
    """The limit as nothing is left; nan where there is none, or sympy finds none."""
    try:
        there = limit(expression, FRACTION, 0, "+")
    except (TypeError, ValueError, ArithmeticError, AttributeError, NotImplementedError):
        return nan
    return nan if there.has(AccumBounds) else there


def _misplaced(shape: Expr) -> str:
    """Where a shape is found to be none of a learning rate inside, and what it is there; "" where it is not found.

    Looked for at places close together, and between them at every turn, where it may cross 0 or grow without bound.
    """
    for place in (*_PROBES, Integer(1)):
        value = shape.subs(FRACTION, place)
        if value.is_finite is not True or (value.is_nonnegative if place == 1 else value.is_positive) is not True:
            return f"{value} times a at tau/K = {1 - place}"
    if not shape.has(FRACTION):
        return ""
    places = [place / _TURNS for place in range(1, _TURNS)]
    try:
        rate = lambdify(FRACTION, shape, "mpmath")
        rates = [rate(place) for place in places]
        for here, turn in product(range(1, len(places) - 1), (1, -1)):
            before, value, after = rates[here - 1 : here + 2]
            if turn * value <= min(turn * before, turn * after) and before != after:
                place = _turning_place(rate, turn, places[here - 1], places[here + 1])
                if not _NEARLY_ZERO * value < rate(place) < value / _NEARLY_ZERO:
                    return f"{float(rate(place)):.2g} times a near tau/K = {1 - place:.6g}"
    except (ArithmeticError, TypeError, ValueError, NameError, NotImplementedError) as error:
        return f"no number between tau/K = 0 and 1 ({error})"
    return ""


def _turning_place(rate: Callable[[float], Any], turn: int, low: float, high: float) -> float:
    """Where a rate that turns once is least (``turn`` 1) or largest (-1), by thirds."""
    while high - low > 1e-15:
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if turn * rate(first) < turn * rate(second) else (first, high)
    return low


def own_schedule(phi: Any, name: str = "own") -> Schedule:
    """A schedule of one's own, from its learning rate as a function of ``tau``, ``K`` and the peak ``a``.

    Parameters
    ----------
    phi
        A sympy expression in the symbols of :mod:`fsl_sym.symbols`: ``a`` times a shape that depends on tau/K alone,
        positive for 0 < tau < K; it may begin at 0, and at the end vanish like a power.
    name
        What to call it.

    Returns
    -------
    Schedule
        With its intrinsic time; the law, the noise and the allocations take it in the place of a name.

    Raises
    ------
    TypeError
        If ``phi`` is no expression, or holds floats: exponents are exact.
    ValueError
        If the shape depends on more than tau/K, is made of pieces, is not positive inside, is not bounded, or does not
        end like a power.

    Examples
    --------
    >>> from fsl_sym import scaling_law
    >>> from fsl_sym.symbols import K, a, tau
    >>> [case.noise_exponent for case in scaling_law(own_schedule(a * (1 - tau / K) ** 3)).cases]
    [1 - 1/beta, 3/4, 3/4]
    """
    rate = as_expression(phi)
    if not isinstance(rate, Expr):
        raise TypeError(f"{rate} is no learning rate: give one expression in a, tau and K")
    if floats := sorted(rate.atoms(Float), key=str):
        exact = nsimplify(floats[0], rational=True)
        raise TypeError(
            f"{rate} holds the float {floats[0]}: exponents are exact, so write Rational({exact.p}, {exact.q})"
        )
    if rate.has(Piecewise, Min, Max, floor, ceiling, frac, Mod, Heaviside, sign):
        raise ValueError(
            f"{rate} is made of pieces, and only its end counts: type the last piece alone, over K steps of its own; "
            "after_stable_phase(own_schedule(...)) puts K_1 steps at the peak rate before it"
        )
    shape = simplified((rate / a).subs(tau, K * (1 - FRACTION)))
    strange = shape.free_symbols - {FRACTION, p}
    if strange:
        foreign = sorted(map(str, rate.free_symbols - {a, K, tau, p}))
        if foreign:
            known = "a (peak rate), tau (step), K (steps) and p of fsl_sym.symbols"
            why = f"{', '.join(foreign)} is none of the symbols {known}"
            if set(foreign) <= {"a", "tau", "K", "p"}:
                why = f"{', '.join(foreign)} must be the symbol of that name in fsl_sym.symbols: import it"
            elif "b" in foreign:
                why += "; a last rate is a share of the peak here: a*(r + (1 - r)*(1 - tau/K)) with r = Rational(1, 10)"
        elif a not in rate.free_symbols:
            relative = rate if K in rate.free_symbols else rate.subs(tau, tau / K)
            why = f"multiply it by the peak rate, the symbol a, and write tau/K, from 0 to 1: {a * relative}"
        else:
            why = (
                f"{', '.join(sorted(map(str, strange)))} is left in {shape} at tau = K (1 - y); the law is about "
                "schedules that keep their shape as K grows: write tau/K for tau, which runs from 0 to K"
            )
        raise ValueError(f"{rate} is not a times a shape of tau/K: {why}")
    for power in _POWERS if shape.has(p) else (Integer(1),):
        if fault := _misplaced(shape.subs(p, power)):
            fault += f" with p = {power}" if shape.has(p) else ""
            raise ValueError(f"{rate} is {fault}: a learning rate must be positive and finite there")
    power = _end_power(rate, K)  # before what may take long
    # over what is left, a positive symbol: over the steps roots and logarithms may come out of negative numbers
    primitive = integrate(shape, FRACTION)
    time = simplified(a * K * (primitive.subs(FRACTION, 1) - primitive.subs(FRACTION, 1 - tau / K)))
    if primitive.has(Integral) or time.subs(tau, K).has(nan, zoo, oo):
        time = integrate(simplified(rate).subs(tau, z), (z, 0, tau))
    if time.subs(tau, K).has(nan, zoo, oo):
        time = Integral(rate.subs(tau, z), (z, 0, tau))
    phase = Phase("decay", K, rate, time, simplified(time.subs(tau, K)), None, None, power / (power + 1))
    symbols = (a, K, p) if rate.has(p) else (a, K)
    made = Schedule(name, (phase,), symbols, (), (), _NO_INVERSE)
    if all(derivation.verify().holds for derivation in made.derivation()):
        return made
    # some forms need what is gone to be positive, others what is left
    return replace(made, phases=(replace(phase, open_ended=True),))


def schedule_with_end(exponent: Any) -> Schedule:
    """The schedule that stands for all whose gamma vanishes like ``(T - t)^exponent``: a power decay.

    Parameters
    ----------
    exponent
        q, an exact rational in [0, 1): the learning rate ends like (1 - tau/K)^(q/(1 - q)).

    Raises
    ------
    TypeError
        If it is a float.
    ValueError
        If it is outside [0, 1): with q >= 1 a rate that is to vanish takes infinitely many steps.

    Examples
    --------
    >>> schedule_with_end("2/3").phi
    a*(1 - tau/K)**2
    """
    q = exact(exponent)
    if not 0 <= q < 1:
        raise ValueError(
            f"the end exponent q = {q} must lie in [0, 1): gamma ~ (T - t)^q with q >= 1 takes infinitely many steps"
        )
    plain = power_decay().at({p: q / (1 - q)}) if q else own_schedule(a)
    return replace(plain, name=f"end exponent {q}")


def after_stable_phase(decay: str | Schedule) -> Schedule:
    """K_1 steps at the peak rate, then the decay of a schedule of one phase, or of that name, over K_2 steps.

    Raises
    ------
    ValueError
        If the schedule has several phases, or does not begin at the peak rate a.

    Examples
    --------
    >>> plan = after_stable_phase("linear")
    >>> plan.name, plan.end_exponent, plan.total
    ('stable, then linear', 1/2, K_1*a + K_2*a/2)
    """
    decay = as_schedule(decay)
    if len(decay.phases) != 1 or simplified(decay.phi.subs(tau, 0) - a) != 0:
        raise ValueError(f"the schedule {decay.name!r} must be one phase that begins at the peak rate a")
    last = decay.phases[0]
    moved = replace(
        last,
        **{
            field: value.subs(K, K2)
            for field in ("length", "phi", "intrinsic_time", "total", "inverse", "gamma")
            if (value := getattr(last, field)) is not None
        },
    )
    parameters = tuple(symbol for symbol in decay.parameters if symbol != K)
    return Schedule(
        f"stable, then {decay.name}", (stable().phases[0], moved), (*parameters, K1, K2), decay.ranges, (), decay.remark
    )
