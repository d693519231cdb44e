"""The stable phase of a WSD-like schedule: what its noise has become after the decay phase.

``int_0^inf K_M(T_2 + t) dt = sum_j (lambda_j/2) exp(-2 lambda_j T_2)``, and the same with a stable phase of finite
length.
"""

from __future__ import annotations

from sympy import Expr, Integer, Integral, Max, Mul, Sum, Symbol, exp, gamma, oo, zeta

from fsl_sym.bounds import IntegralTest, Maximum
from fsl_sym.derivation import Derivation, Step
from fsl_sym.integrals.closed_form import Bound, ClosedForm, GrowthOrder
from fsl_sym.justifications import Antiderivative, Identity, Interchange
from fsl_sym.mellin import Expansion, harmonic_sum_asymptotics
from fsl_sym.spectrum import FiniteSize, exponential_sum, forgetting_kernel
from fsl_sym.symbols import HALF, T1, T2, M, a, beta, j, t

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_Y = Symbol("y_M", positive=True)

LAM = j**-beta


def stable_sum(time: Expr = T2, size: Expr = M) -> Sum:
    """sum_{j<=M} (lambda_j/2) exp(-2 lambda_j time)."""
    return Sum(LAM * exp(-2 * LAM * time) / 2, (j, 1, size))


def stable_asymptotics(time: Symbol = T2) -> Expansion:
    """M infinite: Gamma(1 - 1/beta)/(2 beta) (2 time)^(1/beta - 1), and nothing algebraic after it.

    Examples
    --------
    >>> stable_asymptotics().terms[0].coefficient
    2**(-2 + 1/beta)*gamma(1 - 1/beta)/beta
    """
    return harmonic_sum_asymptotics(exp(-2 * _U) / 2, _U, beta, beta, time)


def finite_stable(time: Symbol = T2) -> FiniteSize:
    """Finite M, with the crossover at time = M^beta and an explicit error 1/(4 e time)."""
    return exponential_sum(1 - 1 / beta, "stable phase", time, HALF, "lem: wsd-stable-noise")


def _identity(upper: Expr, value: Expr, name: str, factor: Expr, t: Symbol = t) -> Derivation:
    kernel = forgetting_kernel(T2 + t)
    factors = (factor, j ** (-2 * beta), exp(-2 * LAM * (T2 + t)))
    mode = Mul(*factors)
    steps = (
        Step(Integral(factor * kernel, (t, 0, upper)), Sum(Integral(mode, (t, 0, upper)), (j, 1, M)),
             "interchange", "the integral of nonnegative terms", Interchange(factors)),
        Step(Sum(Integral(mode, (t, 0, upper)), (j, 1, M)), value, "integral",
             "each mode forgets at rate 2 lambda_j", Antiderivative(-factor * LAM * exp(-2 * LAM * (T2 + t)) / 2)),
    )  # fmt: skip
    return Derivation(name, "Noise of the stable phase", steps, ("T_2 > 0", "M finite"), "lem: wsd-stable-noise")


def stable_phase_noise() -> ClosedForm:
    """int_0^infinity K_M(T_2 + t) dt: the stable phase of infinite length.

    Examples
    --------
    >>> stable_phase_noise().derivation.verify().holds
    True
    """
    order = GrowthOrder(({M: Integer(1), T2: -Integer(1)}, {T2: 1 / beta - 1}))
    derivation = _identity(oo, stable_sum(), "stable phase", Integer(1))
    return ClosedForm("stable phase", stable_sum(), derivation, (order,), stable_asymptotics(), finite_stable())


def finite_stable_phase_noise(clock: Symbol = t) -> ClosedForm:
    """a int_0^T1 K_M(T_2 + t) dt: the exact version, for a stable phase of intrinsic length T_1 at rate a.

    ``clock`` is the variable of integration: the time to the end of the stable phase.
    """
    value = Sum(a * LAM * (exp(-2 * LAM * T2) - exp(-2 * LAM * (T1 + T2))) / 2, (j, 1, M))
    order = GrowthOrder(({a: Integer(1), M: Integer(1), T2: -Integer(1)}, {a: Integer(1), T2: 1 / beta - 1}))
    return ClosedForm("finite stable phase", value, _identity(T1, value, "finite stable phase", a, clock), (order,))


def stable_bound() -> Bound:
    """The stable phase is at most ``C min{M, T_2^(1/beta)}/T_2`` for every M >= 1 and T_2 > 0, with this C.

    Three bounds: each mode is at most 1/(4 e T_2) (the peak of v exp(-2 v)); the sum is at most its integral plus one
    peak, which for T_2 >= 1 is at most a multiple of T_2^(1/beta - 1); and at most tr(H)/2, which covers T_2 < 1.
    """
    peak = exp(-1) / (4 * T2)
    form = finite_stable()
    integral = gamma(1 - 1 / beta) / (2 * beta) * Integer(2) ** (1 / beta - 1)
    upper = Max(integral + exp(-1) / 4, zeta(beta) / 2)
    steps = (
        Step(_V * exp(-2 * _V * T2) / 2, peak, "bound", "one mode's peak: M of them give M/(4 e T_2)", Maximum(_V)),
        Step(form.error, peak, "identity", "the same peak is the error of the integral", Identity(), begins=True),
        *[Step(x.before, x.after, x.rule, x.why, x.justification, i == 0) for i, x in enumerate(form.derivation)],
        Step(Sum(LAM, (j, 2, oo)), Integral(_Y**-beta, (_Y, 1, oo)), "bound", "the trace is finite", IntegralTest(),
             begins=True),
    )  # fmt: skip
    derivation = Derivation(
        "stable bound", "The stable phase is bounded", steps, ("beta > 1",), "lem: wsd-stable-noise"
    )
    return Bound(form.exact / GrowthOrder(({M: 1, T2: -1}, {T2: 1 / beta - 1})).expression, None, upper,
                 ("M >= 1", "T_2 > 0"), derivation)  # fmt: skip
