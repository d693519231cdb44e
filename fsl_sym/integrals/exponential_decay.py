"""The noise integral of exponential decay: N = b I1 + (a - b) I2, exactly, and what I1 and I2 are.

``gamma(t) = a - zeta t`` with ``zeta = (a - b)/T`` is linear in intrinsic time, so every mode integrates in closed
form.
"""

from __future__ import annotations

from sympy import Expr, Integer, Integral, Min, Sum, Symbol, exp, gamma, log, oo, uppergamma, zeta

from fsl_sym.asymptotics.mellin import Expansion, harmonic_sum_asymptotics
from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder, PrintedLine
from fsl_sym.integrals.stable_phase import LAM, finite_stable
from fsl_sym.proof import (
    Antiderivative,
    AtMostBoth,
    Counted,
    Derivation,
    FirstTerm,
    HeadOfSum,
    Identity,
    Instance,
    IntegralTest,
    Interchange,
    Limit,
    Linear,
    Monotone,
    MoreTerms,
    OrderBetween,
    Rises,
    Smaller,
    Step,
    Substitution,
    SumOfBounds,
    SumToIntegral,
    Termwise,
    Turned,
    ZetaSeries,
    chains,
)
from fsl_sym.schedules import schedule
from fsl_sym.spectrum import FiniteSize, X, forgetting_kernel
from fsl_sym.symbols import K, M, T, a, b, beta, j, lam, t
from fsl_sym.symbols import zeta_rate as rate

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_W = Symbol("w", positive=True)
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
        Step(whole, by_mode, Interchange(), "the integral of a finite sum"),
        Step(by_mode, value, Antiderivative(primitive), "by parts in each mode"),
        Step(value, b * i1_sum(time) + (a - b) * i2_sum(time), Termwise(), "collected in b and a - b"),
    )


def gamma_derivation(length: Symbol = K, time: Symbol = T) -> Derivation:
    """gamma(t) of the schedule, written with the total intrinsic time instead of the number of steps.

    >>> str(gamma_derivation().conclusion.right)
    'a - t*(a - b)/T'
    """
    along = schedule("exponential decay").gamma
    assert along is not None
    shown = along.subs(K, length).subs(length, time * log(a / b) / (a - b))
    step = Step(shown, a - (a - b) * t / time, Identity(), "K = T log(a/b)/(a - b)")
    return Derivation("gamma of exponential decay", "The rate falls linearly in intrinsic time", (step,))


def exponential_decay_noise() -> ClosedForm:
    """N = b I1 + (a - b) I2, exact for every M and T.

    Examples
    --------
    >>> exponential_decay_noise().derivation.verify().holds
    True
    """
    steps = noise_steps()
    derivation = Derivation("exponential decay noise", "Noise of exponential decay", steps, "lemma: N-exp-decay")
    second = i2().order[0].times(a - b)
    return ClosedForm(
        "exponential decay",
        steps[-1].after,
        derivation,
        (GrowthOrder(({b: Integer(1)},)), second),
        printed=printed_lines(),
    )


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


def third_line_derivation() -> Derivation:
    """The noise integral as the corrected third line of the proof, with zeta = (a - b)/T, summed over the modes.

    >>> third_line_derivation().verify().holds
    True
    """
    line = corrected_third_line().printed.subs(rate, (a - b) / T).subs(lam, LAM)
    steps = noise_steps()
    collected = Step(steps[-1].after, Sum(line, (j, 1, M)), Termwise(), "mode by mode, as b = a - zeta T")
    return Derivation("third line", "The third line, corrected", (*steps, collected), "lemma: N-exp-decay")


def i1_asymptotics() -> Expansion:
    """I1 for M infinite: tr(H)/2 - Gamma(1 - 1/beta)/(2 beta) (2 T)^(1/beta - 1), and nothing algebraic after it."""
    return harmonic_sum_asymptotics((1 - exp(-2 * _U)) / 2, _U, beta, beta, T)


def i1_finite() -> FiniteSize:
    """I1 for finite M: tr(H)/2 less the missing trace and the incomplete-gamma form of the stable phase.

    The missing trace lies between the integrals from M + 1 and from M, which differ by less than M^-beta.
    """
    stable = finite_stable(T)
    missing = M ** (1 - beta) / (2 * (beta - 1))
    trace, tail = Sum(LAM / 2, (j, 1, M)), Sum(LAM / 2, (j, M + 1, oo))
    outer = Integral(_Y**-beta / 2, (_Y, M, oo))
    split = Derivation(
        "split",
        "The trace less what has not been forgotten",
        (Step(i1_sum(), trace - stable.exact, Termwise(), "mode by mode"),),
    )
    kept = Derivation("kept", "The trace of the first modes", (Step(trace, trace, Identity(), "as it is"),))
    smooth = Derivation(
        "I1 finite M",
        "I1 for finite M",
        (
            *split.steps,
            Step(
                trace - stable.exact,
                trace - stable.approximation,
                Linear(((Integer(1), kept), (-Integer(1), stable.derivation))),
                "what is left as an integral",
            ),
        ),
        "lemma: N-exp-decay",
    )
    rest = Derivation(
        "missing trace",
        "The trace beyond M",
        (
            Step(tail, outer, IntegralTest(), "the eigenvalues fall"),
            Step(outer, missing, Antiderivative(-(_Y ** (1 - beta)) / (2 * (beta - 1))), "a power"),
        ),
    )
    approximation = zeta(beta) / 2 - missing - stable.approximation
    error = stable.error + M**-beta / 2
    return FiniteSize(i1_sum(), approximation, error, stable.window, smooth, (rest,))


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
    reduced = Sum(remaining(T * LAM), (j, 1, M))
    smooth = Integral(remaining(T * _Y**-beta), (_Y, 0, M))
    closed = M * remaining(T * M**-beta) + (2 * T) ** (1 / beta) * uppergamma(2 - 1 / beta, 2 * T * M**-beta)
    rises = Monotone(_V, 4 * T**2 * _V * exp(-2 * T * _V))
    steps = (
        Step(4 * T * i2_sum(), reduced, Termwise(), "4 T I2 is a sum of g(lambda_j T)"),
        Step(
            reduced,
            smooth,
            SumToIntegral(remaining(T * _V), _V, _Y**-beta, rises, Integer(1)),
            "g rises from 0 to 1, so the summand falls",
        ),
        *_to_crossover(smooth, closed),
    )
    derivation = Derivation("I2 finite M", "I2 for finite M and its crossover", steps, "exp-decay/I2")
    of_one = Step((closed / M).subs(T, X * M**beta), crossover(), Identity(), "a function of x = T/M^beta alone")
    shape = Derivation("I2 crossover function", "The crossover of I2", (of_one,))
    return FiniteSize(i2_sum(), closed / (4 * T), 1 / (4 * T), finite_stable(T).window, derivation, (shape,))


def _to_crossover(smooth: Expr, closed: Expr) -> tuple[Step, ...]:
    """From int_0^M g(T y^-beta) dy to its closed form."""
    g_tilde = 1 - (1 + _U) * exp(-_U)
    scaled = Integral(g_tilde * (2 * T) ** (1 / beta) * _U ** (-1 / beta - 1) / beta, (_U, 2 * T * M**-beta, oo))
    primitive = -((2 * T) ** (1 / beta)) * (_U ** (-1 / beta) * g_tilde + uppergamma(2 - 1 / beta, _U))
    return (
        Step(smooth, scaled, Substitution(_Y, _U, (_U / (2 * T)) ** (-1 / beta)), "u = 2 T y^-beta"),
        Step(scaled, closed, Antiderivative(primitive), "by parts: the upper incomplete gamma function"),
    )


def crossover_derivations() -> tuple[Derivation, ...]:
    """Both limits of Phi, and the suprema of Phi and of Phi x^(-1/beta), which they are.

    >>> [str(each.conclusion.relation) for each in crossover_derivations()]
    ['->', '<=', '->', '<=']
    """
    phi = crossover()
    flat = phi * X ** (-1 / beta)
    slope = 2 * (2 * X) ** (1 / beta - 1) * uppergamma(2 - 1 / beta, 2 * X) / beta
    small = Integer(2) ** (1 / beta) * gamma(2 - 1 / beta)
    falls = Monotone(X, -(X ** (-1 / beta - 1)) * remaining(X) / beta, remaining(X))
    steps = (
        Step(phi, Integer(1), Limit(X, oo), "T >> M^beta: I2 = M/(4 T)"),
        Step(phi, Integer(1), Monotone(X, slope), "Phi rises"),
        Step(flat, small, Limit(X, Integer(0)), "T << M^beta: the law for M infinite"),
        Step(flat, small, falls, "Phi x^(-1/beta) falls"),
    )
    return chains("I2 crossover", "The crossover function of I2", steps)


def _order_at_least(quantity: Expr, lower: Derivation, upper: Derivation, order: Expr, name: str) -> Derivation:
    step = Step(quantity, order, OrderBetween(upper, lower), "between constants times this")
    return Derivation(f"{name} order", f"The order of {name}", (step,), f"exp-decay/{name}")


def i1_order() -> Derivation:
    """I1 is of order 1 for M >= 1 and T > 1: at least its first mode at T = 1, at most half the trace.

    >>> print(i1_order().prove().conclusion.right)
    1
    """
    fade = (1 - exp(-2 * _U)) / 2
    half = Derivation(
        "mode", "A mode is at most 1/2", (Step(fade, Integer(1) / 2, Monotone(_U, exp(-2 * _U)), "it rises"),)
    )
    mode = i1_sum().function
    term = Derivation(
        "term", "A mode of I1", (Step(mode, LAM / 2, Instance(half, ((_U, LAM * T),), LAM), "u = lambda_j T"),)
    )
    trace, endless = Sum(LAM / 2, (j, 1, M)), Sum(LAM / 2, (j, 1, oo))
    upper = Derivation(
        "I1 upper bound",
        "I1 is at most half the trace",
        (
            Step(i1_sum(), trace, SumOfBounds(term), "each mode is at most lambda_j/2"),
            Step(trace, endless, MoreTerms(), "all modes"),
            Step(endless, zeta(beta) / 2, ZetaSeries(), "half the trace of infinitely many modes"),
        ),
    )
    start = (1 - exp(-Integer(2))) / 2
    grown = Derivation(
        "first mode",
        "The first mode rises with T",
        (Step(start, fade.subs(_U, 1 + _V), Rises(_U, fade, Integer(1), _V), "it rises"),),
    )
    first = (1 - exp(-2 * T)) / 2
    at_time = Derivation(
        "first mode at T",
        "The first mode at T > 1",
        (Step(start, first, Instance(grown, ((_V, T - 1),), ranges=((T, 1 + _W),)), "w = T - 1"),),
    )
    lower = Derivation(
        "I1 lower bound",
        "I1 is at least its first mode",
        (
            Step(i1_sum(), first, FirstTerm(), "the other terms are positive"),
            Step(first, start, Turned(at_time), "and that rises with T"),
        ),
    )
    return _order_at_least(i1_sum(), lower, upper, Integer(1), "I1")


def i2_bounds() -> tuple[Derivation, Derivation]:
    """I2 from below and from above by multiples of min{M, T^(1/beta)}/T, for every M >= 1 and T >= 1.

    Above: a sum of a falling summand is at most its integral M Phi(x), and Phi is at most a multiple of x^(1/beta);
    and each of the M terms is at most 1. Below: the modes j <= min{M, T^(1/beta)} each have lambda_j T >= 1, hence
    g >= g(1), and there are at least half as many as that minimum (its integer part).
    """
    reduced = Sum(remaining(T * LAM), (j, 1, M))
    smooth = Integral(remaining(T * _Y**-beta), (_Y, 0, M))
    closed = M * remaining(T * M**-beta) + (2 * T) ** (1 / beta) * uppergamma(2 - 1 / beta, 2 * T * M**-beta)
    g = remaining(_U)
    whole = Derivation("g", "g is at most 1", (Step(g, Integer(1), Monotone(_U, 4 * _U * exp(-2 * _U)), "g rises"),))
    term = Derivation(
        "g at a mode",
        "Each term is at most 1",
        (Step(remaining(T * LAM), Integer(1), Instance(whole, ((_U, T * LAM),)), "u = lambda_j T"),),
    )
    number = Sum(Integer(1), (j, 1, M))
    constant = Integer(2) ** (1 / beta) * gamma(2 - 1 / beta)
    factor = 1 + constant
    by_size = Derivation(
        "4 T I2 by size",
        "M terms, each at most 1",
        (
            Step(reduced, number, SumOfBounds(term), "each term is at most 1"),
            Step(number, M, Counted(), "M terms"),
            Step(M, factor * M, Smaller(), "a larger constant"),
        ),
    )
    flat = crossover_derivations()[3]
    place = T * M**-beta
    spread = M * place ** (1 / beta)
    by_time = Derivation(
        "4 T I2 by time",
        "The sum is at most its integral",
        (
            Step(reduced, smooth, IntegralTest(), "the summand falls"),
            *_to_crossover(smooth, closed),
            Step(closed, constant * T ** (1 / beta), Instance(flat, ((X, place),), spread), "Phi x^(-1/beta) falls"),
            Step(constant * T ** (1 / beta), factor * T ** (1 / beta), Smaller(), "a larger constant"),
        ),
    )
    least = Min(M, T ** (1 / beta))
    both = Derivation(
        "4 T I2 upper bound",
        "4 T I2 is at most a multiple of min{M, T^(1/beta)}",
        (Step(reduced, factor * least, AtMostBoth(by_size, by_time, factor), "both bounds"),),
    )
    rises = Derivation(
        "g rises",
        "g rises from g(1)",
        (Step(remaining(Integer(1)), remaining(1 + _V), Rises(_U, g, Integer(1), _V), "its derivative is positive"),),
    )
    head = Derivation(
        "4 T I2 lower bound",
        "The modes that have decayed",
        (Step(reduced, remaining(Integer(1)) * least / 2, HeadOfSum(rises, _U, g, T, beta), "modes j <= T^(1/beta)"),),
    )
    own = Step(i2_sum(), reduced / (4 * T), Termwise(), "4 T I2 is a sum of g(lambda_j T)")
    share = 1 / (4 * T)
    below, above = (
        Derivation(
            f"I2 {side} bound",
            "I2 against min{M, T^(1/beta)}/T",
            (own, Step(own.after, share * each.conclusion.right, Linear(((share, each),)), "divided by 4 T")),
        )
        for side, each in (("lower", head), ("upper", both))
    )
    return below, above


def i2_order() -> Derivation:
    """I2 is of order min{M, T^(1/beta)}/T for every M >= 1 and T >= 1.

    >>> i2_order().verify().holds
    True
    """
    lower, upper = i2_bounds()
    return _order_at_least(i2_sum(), lower, upper, Min(M, T ** (1 / beta)) / T, "I2")


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
        Step(Integral(a * forgetting_kernel(T - t), (t, 0, T)), by_mode, Interchange(), "a finite sum"),
        Step(
            by_mode,
            value,
            Antiderivative(a * LAM * exp(-2 * LAM * (T - t)) / 2),
            "each mode forgets at rate 2 lambda_j",
        ),
    )
    derivation = Derivation("constant noise", "Noise of a constant learning rate", steps, "thm:chinchilla")
    return ClosedForm("constant", value, derivation, (GrowthOrder(({a: Integer(1)},)),))
