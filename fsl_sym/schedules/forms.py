"""The closed forms of every schedule: phi(tau), intrinsic time T(tau), its inverse, and gamma(t) = phi(T^-1(t))."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sympy import Eq, Expr, Gt, Integer, Rational, Symbol, cos, exp, log, pi, sin, sqrt
from sympy.logic.boolalg import Boolean

from fsl_sym.schedules.closed_form import RATIO, Phase, Schedule, Singularity
from fsl_sym.symbols import K0, K1, K2, K, a, b, p, t, tau


def _constant_phase(length: Expr, name: str, rate: Expr = a) -> Phase:
    return Phase(name, length, rate, rate * tau, rate * length, t / rate, rate, Integer(0))


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


def _equal_rates(length: Symbol, becomes: Callable[[], Schedule]) -> Singularity:
    along = _exponential_phase(length).total.subs(a, b * exp(RATIO))
    return Singularity(Eq(a, b), along, b * length * (exp(RATIO) - 1) / RATIO, b * length, becomes)


def constant() -> Schedule:
    """``phi = a``."""
    return Schedule("constant", (_constant_phase(K, "constant phase"),), (a, K), (), source="thm:chinchilla")


def exponential_decay() -> Schedule:
    """``phi = a exp(-zeta tau)`` with ``phi(K) = b``: gamma is linear in intrinsic time."""
    return Schedule(
        "exp-decay",
        (_exponential_phase(K),),
        (a, b, K),
        (Gt(a, b),),
        (_equal_rates(K, constant),),
        source="thm:geometric",
    )


def warmup_stable_decay() -> Schedule:
    """Warmup-stable-decay without its warmup: K_1 steps at rate a, then K_2 steps of exponential decay to b."""
    phases = (_constant_phase(K1, "stable phase"), _exponential_phase(K2))
    singular = (_equal_rates(K2, stable),)
    return Schedule("wsd", phases, (a, b, K1, K2), (Gt(a, b),), singular, source="thm: wsd, eqn: wsd-1")


def stable() -> Schedule:
    """Two constant phases: what "wsd" becomes at a = b."""
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
    return Schedule("power-decay", (phase,), (a, p, K), ())


def linear_decay() -> Schedule:
    """``phi = a (1 - tau/K)``: the power decay with p = 1."""
    phase = power_decay().at({p: Integer(1)}).phases[0]
    return Schedule("linear", (phase,), (a, K), ())


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
    return _cosine(Integer(0), "cosine-to-zero", (a, K), ())


_CUBIC: Final = (
    "t/(a K_2) = x^2 - 2 x^3/3 with x = sqrt(tau/K_2) is a cubic with three real roots: its inverse takes arccosines "
    "or complex numbers, x = 1/2 - cos(pi/3 + arccos(1 - 6 t/(a K_2))/3), which the rules do not verify"
)


def one_minus_square_root() -> Schedule:
    """K_1 steps at rate a, then ``a (1 - sqrt(tau/K_2))`` over K_2 steps."""
    time = a * (tau - 2 * tau ** Rational(3, 2) / (3 * sqrt(K2)))
    # what is left of the intrinsic time is the same cubic in phi/a, so gamma vanishes like a square root at the end
    fall = Phase("square root fall", K2, a * (1 - sqrt(tau / K2)), time, a * K2 / 3, None, None, Rational(1, 2),
                 open_ended=True)  # fmt: skip
    return Schedule("1-sqrt", (_constant_phase(K1, "stable phase"), fall), (a, K1, K2), (), (), _CUBIC)


def inverse_square_root() -> Schedule:
    """``phi = a/sqrt(1 + tau/K_0)``: gamma is a hyperbola in intrinsic time."""
    grown = 1 + t / (2 * a * K0)
    phase = Phase(
        "inverse square root",
        K,
        a / sqrt(1 + tau / K0),
        2 * a * K0 * (sqrt(1 + tau / K0) - 1),
        2 * a * K0 * (sqrt(1 + K / K0) - 1),
        K0 * (grown**2 - 1),
        a / grown,
        Integer(0),
        open_ended=True,
    )
    return Schedule("inverse-sqrt", (phase,), (a, K, K0), ())


def multi_step() -> Schedule:
    """K_1 steps at rate a, then K_2 steps at rate b: one milestone; more of them are more constant phases."""
    phases = (_constant_phase(K1, "first step"), _constant_phase(K2, "second step", b))
    return Schedule("multi-step", phases, (a, b, K1, K2), ())


def eight_one_one() -> Schedule:
    """Eight tenths of the steps at rate a, a tenth at a/sqrt(10), a tenth at a/10."""
    phases = (
        _constant_phase(4 * K / 5, "first step"),
        _constant_phase(K / 10, "second step", a / sqrt(10)),
        _constant_phase(K / 10, "third step", a / 10),
    )
    return Schedule("8-1-1", phases, (a, K), (), source="sec:CLRS")


def _line(first: Expr, last: Expr, length: Expr, name: str) -> Phase:
    """A straight line; b is not 0, so that it vanishes at neither end."""
    slope = (last - first) / length
    root = sqrt(first**2 + 2 * slope * t)
    time = first * tau + slope * tau**2 / 2
    return Phase(name, length, first + slope * tau, time, (first + last) * length / 2, (root - first) / slope, root,
                 Integer(0), open_ended=first == b)  # fmt: skip


def cyclic() -> Schedule:
    """One triangular wave, K_1 steps from b up to a and K_2 down again; more waves repeat its phases."""
    return Schedule("cyclic", (_line(b, a, K1, "rise"), _line(a, b, K2, "fall")), (a, b, K1, K2), (Gt(a, b),))
