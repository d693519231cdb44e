"""The noise integral of exponential decay: N = b I1 + (a - b) I2, exactly, and what I1 and I2 are.

``gamma(t) = a - zeta t`` with ``zeta = (a - b)/T`` is linear in intrinsic time, so every mode integrates in closed
form.
"""

from __future__ import annotations

from sympy import Expr, Integer, Integral, Sum, Symbol, exp, gamma, oo, uppergamma, zeta

from fsl_sym.asymptotics.mellin import Expansion, harmonic_sum_asymptotics
from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder, PrintedLine, cut_order
from fsl_sym.integrals.stable_phase import finite_stable
from fsl_sym.proof import (
    Antiderivative,
    Derivation,
    Identity,
    IntegralTest,
    Interchange,
    Limit,
    Linear,
    Monotone,
    Step,
    Substitution,
    SumToIntegral,
    Termwise,
    chains,
    lemma,
)
from fsl_sym.spectrum import LAM, FiniteSize, X, decay, forgetting_kernel, over_modes
from fsl_sym.symbols import M, T, a, b, beta, j, lam, t
from fsl_sym.symbols import zeta_rate as rate
from fsl_sym.values import as_expression

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_Y = Symbol("y_M", positive=True)


def remaining(u: Expr) -> Expr:
    """g(u) = 1 - (1 + 2 u) exp(-2 u): what a linear decay leaves of a mode that forgets u e-folds."""
    return 1 - (1 + 2 * u) * exp(-2 * u)


def i1_sum(time: Expr = T, size: Expr = M) -> Sum:
    """I1 = sum_{j<=M} (1 - exp(-2 lambda_j T)) lambda_j/2."""
    return over_modes((1 - decay(time)) * LAM / 2, size)


def i2_sum(time: Expr = T, size: Expr = M) -> Sum:
    """I2 = sum_{j<=M} (-lambda_j exp(-2 lambda_j T)/2 + (1 - exp(-2 lambda_j T))/(4 T))."""
    return over_modes(-LAM * decay(time) / 2 + (1 - decay(time)) / (4 * time), size)


def noise_steps(time: Symbol = T) -> tuple[Step, ...]:
    """From int_0^T K_M(T - t) (a - (a - b) t/T) dt to b I1 + (a - b) I2, mode by mode."""
    time = as_expression(time)
    linear = a - (a - b) * t / time
    mode = j ** (-2 * beta) * decay(time - t) * linear
    # by parts once: the derivative of the rate is the constant -(a - b)/T
    primitive = decay(time - t) * (LAM * linear / 2 + (a - b) / (4 * time))
    whole = Integral(forgetting_kernel(time - t) * linear, (t, 0, time))
    by_mode = over_modes(Integral(mode, (t, 0, time)))
    fade = decay(time)
    value = over_modes(LAM * (b - a * fade) / 2 + (a - b) * (1 - fade) / (4 * time))
    return (
        Step(whole, by_mode, Interchange(), "the integral of a finite sum"),
        Step(by_mode, value, Antiderivative(primitive), "by parts in each mode"),
        Step(value, b * i1_sum(time) + (a - b) * i2_sum(time), Termwise(), "collected in b and a - b"),
    )


def exponential_decay_noise() -> ClosedForm:
    """N = b I1 + (a - b) I2, exact for every M and T.

    Examples
    --------
    >>> exponential_decay_noise().derivation.verify().holds
    True
    """
    steps = noise_steps()
    derivation = Derivation("exponential decay noise", "Noise of exponential decay", steps, "lemma: N-exp-decay")
    second = cut_order(T).times(a - b)
    return ClosedForm(
        "exp-decay",
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
    collected = Step(steps[-1].after, over_modes(line), Termwise(), "mode by mode, as b = a - zeta T")
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
    trace, tail = over_modes(LAM / 2), Sum(LAM / 2, (j, M + 1, oo))
    outer = Integral(_Y**-beta / 2, (_Y, M, oo))
    split = lemma(i1_sum(), trace - stable.exact, Termwise(), "mode by mode")
    kept = lemma(trace, trace, Identity(), "the trace of the first modes: as it is")
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
    missing_trace = Derivation(
        "missing trace",
        "The trace beyond M",
        (
            Step(tail, outer, IntegralTest(), "the eigenvalues fall"),
            Step(outer, missing, Antiderivative(-(_Y ** (1 - beta)) / (2 * (beta - 1))), "a power"),
        ),
    )
    approximation = zeta(beta) / 2 - missing - stable.approximation
    error = stable.error + M**-beta / 2
    return FiniteSize(i1_sum(), approximation, error, stable.window, smooth, (missing_trace,))


def i1() -> ClosedForm:
    """I1, of order 1: half the trace less what has not been forgotten.

    Source: lemma labelled lemma: N-exp-decay.

    Examples
    --------
    >>> from fsl_sym import I1
    >>> I1().asymptotics.terms[0].coefficient
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
    reduced = over_modes(remaining(T * LAM))
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
        *to_crossover(smooth, closed),
    )
    derivation = Derivation("I2 finite M", "I2 for finite M and its crossover", steps, "exp-decay/I2")
    of_one = Step((closed / M).subs(T, X * M**beta), crossover(), Identity(), "a function of x = T/M^beta alone")
    shape = Derivation("I2 crossover function", "The crossover of I2", (of_one,))
    return FiniteSize(i2_sum(), closed / (4 * T), 1 / (4 * T), finite_stable(T).window, derivation, (shape,))


def to_crossover(smooth: Expr, closed: Expr) -> tuple[Step, ...]:
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

    >>> [str(derivation.conclusion.relation) for derivation in crossover_derivations()]
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


def i2() -> ClosedForm:
    """I2, of order min{M, T^(1/beta)}/T.

    Source: lemma labelled lemma: N-exp-decay.

    Examples
    --------
    >>> from fsl_sym import I2
    >>> I2().order[0].expression
    Min(T**(-1 + 1/beta), M/T)
    """
    finite = i2_finite()
    return ClosedForm("I2", i2_sum(), finite.derivation, (cut_order(T),), i2_asymptotics(), finite)


def constant_noise() -> ClosedForm:
    """N = a I1: a constant learning rate.

    Examples
    --------
    >>> constant_noise().order[0].expression
    a
    """
    mode = a * j ** (-2 * beta) * decay(T - t)
    by_mode = over_modes(Integral(mode, (t, 0, T)))
    value = a * i1_sum()
    steps = (
        Step(Integral(a * forgetting_kernel(T - t), (t, 0, T)), by_mode, Interchange(), "a finite sum"),
        Step(
            by_mode,
            value,
            Antiderivative(a * LAM * decay(T - t) / 2),
            "each mode forgets at rate 2 lambda_j",
        ),
    )
    derivation = Derivation("constant noise", "Noise of a constant learning rate", steps, "thm:chinchilla")
    return ClosedForm("constant", value, derivation, (GrowthOrder(({a: Integer(1)},)),))
