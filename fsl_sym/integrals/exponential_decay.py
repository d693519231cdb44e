"""The noise integral of exponential decay: N = b I1 + (a - b) I2, exactly, and what I1 and I2 are.

``gamma(t) = a - zeta t`` with ``zeta = (a - b)/T`` is linear in intrinsic time, so every mode integrates in closed
form.
"""

from __future__ import annotations

from sympy import Expr, Integer, Integral, Max, Min, Sum, Symbol, exp, gamma, log, oo, uppergamma, zeta

from fsl_sym.bounds import IntegralTest, Monotone, SumToIntegral
from fsl_sym.derivation import Derivation, Step
from fsl_sym.integrals.closed_form import Bound, ClosedForm, GrowthOrder, PrintedLine
from fsl_sym.integrals.stable_phase import LAM, finite_stable
from fsl_sym.justifications import Antiderivative, Identity, Interchange, Limit, Substitution, Termwise
from fsl_sym.mellin import Expansion, harmonic_sum_asymptotics
from fsl_sym.schedules import schedule
from fsl_sym.spectrum import FiniteSize, X, forgetting_kernel
from fsl_sym.symbols import K, M, T, a, b, beta, j, lam, t
from fsl_sym.symbols import zeta_rate as rate

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_Y = Symbol("y_M", positive=True)


def remaining(u: Expr) -> Expr:
    """g(u) = 1 - (1 + 2 u) exp(-2 u): what a linear decay leaves of a mode that forgets u e-folds."""
    return 1 - (1 + 2 * u) * exp(-2 * u)


def i1_sum(time: Expr = T, size: Expr = M) -> Sum:
    """I1 = sum_{j<=M} (1 - exp(-2 lambda_j T)) lambda_j/2."""
    return Sum((1 - exp(-2 * LAM * time)) * LAM / 2, (j, 1, size))


def i2_sum(time: Expr = T, size: Expr = M) -> Sum:
    """I2 = sum_{j<=M} (-lambda_j exp(-2 lambda_j T)/2 + (1 - exp(-2 lambda_j T))/(4 T))."""
    return Sum(-LAM * exp(-2 * LAM * time) / 2 + (1 - exp(-2 * LAM * time)) / (4 * time), (j, 1, size))


def noise_steps(time: Symbol = T) -> tuple[Step, ...]:
    """From int_0^T K_M(T - t) (a - (a - b) t/T) dt to b I1 + (a - b) I2, mode by mode."""
    linear = a - (a - b) * t / time
    mode = j ** (-2 * beta) * exp(-2 * LAM * (time - t)) * linear
    # by parts once: the derivative of the rate is the constant -(a - b)/T
    primitive = exp(-2 * LAM * (time - t)) * (LAM * linear / 2 + (a - b) / (4 * time))
    whole = Integral(forgetting_kernel(time - t) * linear, (t, 0, time))
    by_mode = Sum(Integral(mode, (t, 0, time)), (j, 1, M))
    fade = exp(-2 * LAM * time)
    value = Sum(LAM * (b - a * fade) / 2 + (a - b) * (1 - fade) / (4 * time), (j, 1, M))
    return (
        Step(whole, by_mode, "interchange", "the integral of a finite sum", Interchange(), begins=True),
        Step(by_mode, value, "integral", "by parts in each mode", Antiderivative(primitive)),
        Step(value, b * i1_sum(time) + (a - b) * i2_sum(time), "sum", "collected in b and a - b", Termwise()),
    )


def gamma_step(length: Symbol = K, time: Symbol = T) -> Step:
    """gamma(t) of the schedule, written with the total intrinsic time instead of the number of steps."""
    found = schedule("exponential decay").gamma
    assert found is not None
    shown = found.subs(K, length)
    linear = a - (a - b) * t / time
    return Step(
        shown.subs(length, time * log(a / b) / (a - b)), linear, "identity", "K = T log(a/b)/(a - b)", Identity()
    )


def exponential_decay_noise() -> ClosedForm:
    """N = b I1 + (a - b) I2, exact for every M and T.

    Examples
    --------
    >>> exponential_decay_noise().derivation.verify().holds
    True
    """
    steps = (gamma_step(), *noise_steps())
    derivation = Derivation("exponential decay noise", "Noise of exponential decay", steps, ("a > b", "M finite"),
                            "lemma: N-exp-decay")  # fmt: skip
    second = i2().order[0].times(a - b)
    return ClosedForm("exponential decay", steps[-1].after, derivation, (GrowthOrder(({b: Integer(1)},)), second),
                      printed=printed_lines())  # fmt: skip


def printed_lines() -> tuple[PrintedLine, ...]:
    """The lines of the paper's proof, one mode each, against the mode integral.

    Examples
    --------
    >>> [line.holds for line in printed_lines()]
    [True, False, True]
    """
    fade = exp(-2 * lam * T)
    full = (a - rate * T) * (1 - fade) / 2 * lam + rate * T * (-lam * fade / 2 + (1 - fade) / (4 * T))
    # int_0^T e^{2 lam t} dt and int_0^T t e^{2 lam t} dt
    first = (exp(2 * lam * T) - 1) / (2 * lam)
    second = T * exp(2 * lam * T) / (2 * lam) - (exp(2 * lam * T) - 1) / (4 * lam**2)
    return (
        PrintedLine("second line", lam**2 * fade * (a * first - rate * second), full),
        PrintedLine(
            "third line",
            a * (1 - fade) / 2 * lam - rate * (1 - (1 + 2 * lam * T) * fade) / 4,
            full,
            "a and the minus sign belong to int gamma(T - u); with b for a and plus for minus the line is right",
        ),
        PrintedLine("fourth line", full.subs(a, b + rate * T).expand(), full.subs(a, b + rate * T)),
    )


def corrected_third_line() -> PrintedLine:
    """The third line with b for a and plus for minus."""
    third = printed_lines()[1]
    fade = exp(-2 * lam * T)
    right = (a - rate * T) * (1 - fade) / 2 * lam + rate * (1 - (1 + 2 * lam * T) * fade) / 4
    return PrintedLine("third line, corrected", right, third.right)


def i1_asymptotics() -> Expansion:
    """I1 for M infinite: tr(H)/2 - Gamma(1 - 1/beta)/(2 beta) (2 T)^(1/beta - 1), and nothing algebraic after it."""
    return harmonic_sum_asymptotics((1 - exp(-2 * _U)) / 2, _U, beta, beta, T)


def i1_finite() -> FiniteSize:
    """I1 for finite M: tr(H)/2 less the missing trace and the incomplete-gamma form of the stable phase.

    The missing trace lies between the integrals from M + 1 and from M, which differ by less than M^-beta.
    """
    stable = finite_stable(T)
    missing = M ** (1 - beta) / (2 * (beta - 1))
    split = Step(
        i1_sum(), Sum(LAM / 2, (j, 1, M)) - stable.exact, "sum", "trace less what has not been forgotten", Termwise()
    )
    tail = Sum(LAM / 2, (j, M + 1, oo))
    outer = Integral(_Y**-beta / 2, (_Y, M, oo))
    steps = (
        split,
        *[Step(x.before, x.after, x.rule, x.why, x.justification, i == 0) for i, x in enumerate(stable.derivation)],
        Step(tail, outer, "bound", "the eigenvalues fall", IntegralTest(), begins=True),
        Step(outer, missing, "integral", "the missing trace",
             Antiderivative(-(_Y ** (1 - beta)) / (2 * (beta - 1)))),
    )  # fmt: skip
    derivation = Derivation("I1 finite M", "I1 for finite M", steps, ("beta > 1", "T > 0"))
    approximation = zeta(beta) / 2 - missing - stable.approximation
    return FiniteSize(i1_sum(), approximation, stable.error + M**-beta / 2, stable.window, derivation)


def i1() -> ClosedForm:
    """I1, of order 1: half the trace less what has not been forgotten.

    Examples
    --------
    >>> i1().asymptotics.terms[0].coefficient
    zeta(beta)/2
    """
    finite = i1_finite()
    return ClosedForm("I1", i1_sum(), finite.derivation, (GrowthOrder(({},)),), i1_asymptotics(), finite)


def i2_asymptotics() -> Expansion:
    """I2 for M infinite: 2^(1/beta - 2) Gamma(2 - 1/beta) T^(1/beta - 1) - 1/(8 T), and nothing algebraic after it.

    Examples
    --------
    >>> i2_asymptotics().expression
    2**(-2 + 1/beta)*T**(-1 + 1/beta)*gamma(2 - 1/beta) - 1/(8*T)
    """
    return harmonic_sum_asymptotics(remaining(_U), _U, Integer(0), beta, T, 1 / (4 * T))


def crossover(x: Expr = X) -> Expr:
    """Phi(x) with 4 T I2/M -> Phi(T/M^beta): g(x) + (2 x)^(1/beta) Gamma(2 - 1/beta, 2 x)."""
    return remaining(x) + (2 * x) ** (1 / beta) * uppergamma(2 - 1 / beta, 2 * x)


def i2_finite() -> FiniteSize:
    """4 T I2 lies in [M Phi(x) - 1, M Phi(x)] with x = T/M^beta; here as I2 with error 1/(4 T)."""
    lower = 2 * T * M**-beta
    g_tilde = 1 - (1 + _U) * exp(-_U)
    reduced = Sum(remaining(T * LAM), (j, 1, M))
    smooth = Integral(remaining(T * _Y**-beta), (_Y, 0, M))
    scaled = Integral(g_tilde * (2 * T) ** (1 / beta) * _U ** (-1 / beta - 1) / beta, (_U, lower, oo))
    primitive = -((2 * T) ** (1 / beta)) * (_U ** (-1 / beta) * g_tilde + uppergamma(2 - 1 / beta, _U))
    closed = M * remaining(T * M**-beta) + (2 * T) ** (1 / beta) * uppergamma(2 - 1 / beta, lower)
    rises = Monotone(_V, 4 * T**2 * _V * exp(-2 * T * _V))
    steps = (
        Step(4 * T * i2_sum(), reduced, "sum", "4 T I2 is a sum of g(lambda_j T)", Termwise()),
        Step(reduced, smooth, "comparison", "g rises from 0 to 1, so the summand falls: the error is at most 1",
             SumToIntegral(remaining(T * _V), _V, _Y**-beta, rises, Integer(1))),
        Step(smooth, scaled, "substitution", "u = 2 T y^-beta", Substitution(_Y, _U, (_U / (2 * T)) ** (-1 / beta))),
        Step(scaled, closed, "integral", "by parts: the upper incomplete gamma function", Antiderivative(primitive)),
        Step((closed / M).subs(T, X * M**beta), crossover(), "identity", "a function of x = T/M^beta alone",
             Identity(), begins=True),
    )  # fmt: skip
    derivation = Derivation("I2 finite M", "I2 for finite M and its crossover", steps, ("beta > 1", "T > 0"))
    return FiniteSize(i2_sum(), closed / (4 * T), 1 / (4 * T), finite_stable(T).window, derivation)


def crossover_derivation() -> Derivation:
    """Both limits of Phi, and the monotonicity from which the two-sided bound follows."""
    phi = crossover()
    flat = phi * X ** (-1 / beta)
    slope = 2 * (2 * X) ** (1 / beta - 1) * uppergamma(2 - 1 / beta, 2 * X) / beta
    steps = (
        Step(phi, Integer(1), "limit", "T >> M^beta: I2 = M/(4 T)", Limit(X, oo), begins=True),
        Step(phi, Integer(1), "bound", "Phi rises", Monotone(X, slope), begins=True),
        Step(flat, Integer(2) ** (1 / beta) * gamma(2 - 1 / beta), "limit", "T << M^beta: the law for M infinite",
             Limit(X, Integer(0)), begins=True),
        Step(flat, Integer(2) ** (1 / beta) * gamma(2 - 1 / beta), "bound", "Phi x^(-1/beta) falls",
             Monotone(X, -(X ** (-1 / beta - 1)) * remaining(X) / beta, remaining(X)), begins=True),
    )  # fmt: skip
    return Derivation("I2 crossover", "The crossover function of I2", steps, ("beta > 1", "x > 0"))


def i2_bound() -> Bound:
    """I2 T/min{M, T^(1/beta)} between explicit constants, for every M >= 1 and T >= 1.

    Above: the sum of a falling summand is at most its integral M Phi(x), and Phi is at most 1 and at most
    2^(1/beta) Gamma(2 - 1/beta) x^(1/beta). Below: the modes j <= min{M, T^(1/beta)} each have lambda_j T >= 1, hence
    g >= g(1), and there are at least half as many as that minimum (its integer part).
    """
    upper = Max(Integer(1), Integer(2) ** (1 / beta) * gamma(2 - 1 / beta)) / 4
    lower = remaining(Integer(1)) / 8
    reduced = Sum(remaining(T * LAM), (j, 1, M))
    smooth = Integral(remaining(T * _Y**-beta), (_Y, 0, M))
    steps = (
        Step(4 * T * i2_sum(), reduced, "sum", "4 T I2 is a sum of g(lambda_j T)", Termwise(), begins=True),
        Step(reduced, smooth, "bound", "the summand falls", IntegralTest()),
        *crossover_derivation().steps,
        Step(remaining(_U), Integer(1), "bound", "g rises, so g >= g(1) where lambda_j T >= 1",
             Monotone(_U, 4 * _U * exp(-2 * _U)), begins=True),
    )  # fmt: skip
    derivation = Derivation("I2 bound", "I2 is of order min{M, T^(1/beta)}/T", steps, ("beta > 1", "M >= 1", "T >= 1"))
    quantity = i2_sum() * T / Min(M, T ** (1 / beta))
    return Bound(quantity, lower, upper, ("M >= 1", "T >= 1"), derivation)


def i2() -> ClosedForm:
    """I2, of order min{M, T^(1/beta)}/T.

    Examples
    --------
    >>> i2().order[0].expression
    Min(T**(-1 + 1/beta), M/T)
    """
    order = GrowthOrder(({M: Integer(1), T: -Integer(1)}, {T: 1 / beta - 1}))
    finite = i2_finite()
    return ClosedForm("I2", i2_sum(), finite.derivation, (order,), i2_asymptotics(), finite)


def constant_noise() -> ClosedForm:
    """N = a I1: a constant learning rate.

    Examples
    --------
    >>> constant_noise().order[0].expression
    a
    """
    mode = a * j ** (-2 * beta) * exp(-2 * LAM * (T - t))
    by_mode = Sum(Integral(mode, (t, 0, T)), (j, 1, M))
    value = a * i1_sum()
    steps = (
        Step(Integral(a * forgetting_kernel(T - t), (t, 0, T)), by_mode, "interchange", "a finite sum", Interchange()),
        Step(by_mode, value, "integral", "each mode forgets at rate 2 lambda_j",
             Antiderivative(a * LAM * exp(-2 * LAM * (T - t)) / 2)),
    )  # fmt: skip
    derivation = Derivation(
        "constant noise", "Noise of a constant learning rate", steps, ("M finite",), "thm:chinchilla"
    )
    return ClosedForm("constant", value, derivation, (GrowthOrder(({a: Integer(1)},)),))
