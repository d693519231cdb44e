"""From the functional scaling law to the ansatz for loss curves: which steps are exact, and what they leave out.

The noise functional of a schedule is ``N = int K(T(k) - t) g(t) gamma(t) dt`` with ``g = sigma^2 + e``. Integration by
parts (continuous schedules) and Abel summation (schedules given step by step) turn it into the noise of the constant
schedule less a loss reduction by decay, with nothing left over. With the power kernel and ``g = sigma^2`` the reduction
is the Multi-Power Law itself.

>>> [each.verify().holds for each in abel_summation()]
[True, True]
"""

from __future__ import annotations

from typing import Final

from sympy import Derivative, Expr, Function, Integer, Integral, Sum, Symbol, diff, oo, sqrt

from fsl_sym.proof import (
    Antiderivative,
    Defined,
    Derivation,
    Identity,
    Induction,
    Limit,
    SameDerivative,
    Step,
    Substitution,
    chains,
)
from fsl_sym.symbols import C, T, a, beta, lam, s, t

c: Final = Symbol("c", positive=True)
"""The time scale of the power kernel (1 + c t)^-(2 - 1/beta)."""
x: Final = Symbol("x", nonnegative=True)
"""Intrinsic time left, or gone by since a drop of the learning rate."""
u: Final = Symbol("u", nonnegative=True)
v: Final = Symbol("v", nonnegative=True)
mu: Final = Symbol("mu", positive=True)
"""The price of a training step in units of the loss."""
i: Final = Symbol("i", integer=True, positive=True)
k: Final = Symbol("k", integer=True, positive=True)
m: Final = Symbol("m", integer=True, positive=True)
n: Final = Symbol("n", integer=True, nonnegative=True)
end: Final = Symbol("tau_end", positive=True)
whole: Final = Symbol("T_end", positive=True)
"""T(k), the intrinsic time at the end of training."""
clock: Final = Function("T", positive=True)
phi: Final = Function("phi", positive=True)
batch: Final = Function("b", positive=True)
kernel: Final = Function("K", positive=True)
source: Final = Function("g", positive=True)
rate: Final = Function("eta", positive=True)
drop: Final = Function("d", real=True)

KERNEL_POWER: Final = 2 - 1 / beta
FORGOTTEN: Final = 1 - (1 + c * x) ** (-(1 - 1 / beta))
"""The share of the noise injected over a whole past that is gone after an intrinsic time x."""


def power_kernel(time: Expr) -> Expr:
    """The power kernel (1 + c t)^-(2 - 1/beta).

    >>> power_kernel(t).subs(t, 0)
    1
    """
    return (1 + c * time) ** (-KERNEL_POWER)


def kernel_integral() -> Derivation:
    """The share of the noise that is gone after an intrinsic time x under the power kernel, exactly.

    c (1 - 1/beta) is one over the integral of the kernel over all times.

    >>> kernel_integral().conclusion.right
    1 - (c*x + 1)**(-1 + 1/beta)
    """
    scale = c * (1 - 1 / beta)
    past = Symbol("r", real=True)
    early = Integral(scale * power_kernel(T - past), (past, T - x, T))
    left = Integral(scale * power_kernel(u), (u, 0, x))
    steps = (
        Step(early, left, Substitution(past, u, T - u), "u = T - t, the time left"),
        Step(left, FORGOTTEN, Antiderivative(-((1 + c * u) ** (-(1 - 1 / beta)))), "antiderivative"),
    )
    return Derivation("kernel integral", "The power kernel over the time since a drop", steps, "eqn: fsl-ansatz")


_CLOCK: Final = ((Derivative(clock(v), v), phi(v)), (clock(end), whole))


def _injected(time: Symbol) -> Expr:
    return kernel(whole - clock(time)) * source(clock(time)) * phi(time)


def _reduction(start: Expr) -> Integral:
    return Integral(kernel(whole - t) * source(t), (t, start, whole))


def physical_time() -> Derivation:
    """The noise functional over the steps: the learning rate comes squared, once from gamma and once from dt.

    gamma(T(u)) = h phi(u)/b(u); T is the integral of phi.
    """
    h = Symbol("h", positive=True)
    effective = Function("gamma", positive=True)
    intrinsic = Integral(kernel(whole - t) * source(t) * effective(t), (t, clock(v), whole))
    physical = Integral(_injected(u) * h * phi(u) / batch(u), (u, v, end))
    given = (*_CLOCK, (effective(clock(v)), h * phi(v) / batch(v)))
    why = "both vanish at the end, and T' = phi, gamma(T(u)) = h phi(u)/b(u)"
    step = Step(intrinsic, physical, SameDerivative(v, end, given), why)
    return Derivation(
        "physical time", "The noise functional in physical time", (step,), "sub:the_kernel_teacher_student_setup"
    )


def integration_by_parts() -> tuple[Derivation, ...]:
    """The noise of an absolutely continuous schedule from v to the end, with the boundary term, nothing neglected.

    At v = 0 it is phi(0) int K g dt, the noise of the constant schedule, plus int phi' G: the reduction by decay is
    minus that integral. The boundary term at the end vanishes because nothing is forgotten in no time.
    """
    noise = Integral(_injected(u) * phi(u), (u, v, end))
    parts = phi(v) * _reduction(clock(v)) + Integral(diff(phi(u), u) * _reduction(clock(u)), (u, v, end))
    inner = Integral(_injected(u), (u, v, end))
    steps = (
        Step(
            inner,
            _reduction(clock(v)),
            SameDerivative(v, end, _CLOCK),
            "t = T(u): both vanish at the end and have one derivative",
        ),
        Step(noise, parts, SameDerivative(v, end, _CLOCK), "both vanish at the end and have one derivative in v"),
    )
    return chains("integration by parts", "The loss reduction by decay", steps, "eq:numerical_LRD_form")


def abel_summation() -> tuple[Derivation, ...]:
    """The exact discrete form: a drop at step i acts from T(i-1) on, where step i begins.

    G(i) is the integral of K(T(k) - t) g(t) over [T(i), T(k)]; step i injects eta_i (G(i-1) - G(i)). eta_0 is free.
    """
    gone = Function("G", real=True)
    noise = Sum(rate(i) * (gone(i - 1) - gone(i)), (i, 1, n))
    drops = Sum((rate(i - 1) - rate(i)) * gone(i - 1), (i, 1, n))
    summed = rate(0) * gone(0) - rate(n) * gone(n) - drops
    ended = summed.subs(n, k)
    steps = (
        Step(noise, summed, Induction(n), "induction over the steps"),
        Step(
            ended,
            ended.subs(gone(k), 0),
            Defined(((gone(k), Integer(0)),)),
            "at the last step nothing is forgotten: G(k) = 0",
        ),
    )
    return chains("Abel summation", "The loss reduction by decay, step by step", steps, "eq:numerical_LRD_form")


def momentum_kernel() -> Derivation:
    """S2 of the Momentum Law as one sum over the drops: each weighs (1 - lambda^(k-j+1))/(1 - lambda)."""
    j = Symbol("j", integer=True, positive=True)
    double = Sum(Sum(drop(j) * lam ** (i - j), (j, 2, i)), (i, 2, m))
    single = Sum(drop(j) * (1 - lam ** (m - j + 1)) / (1 - lam), (j, 2, m))
    step = Step(double, single, Induction(m, 1), "induction over the steps")
    return Derivation(
        "Momentum Law",
        "S2 as a sum over the drops",
        (step,),
        "sub:empirical_fitting_of_llm_pre_training_loss_trajectory",
    )


def multi_power_limit() -> Derivation:
    """One drop in the ansatz as its c_3 grows with c_2 c_3 = C held: one drop in the Multi-Power Law with kappa' = 0.

    x is the intrinsic time since the drop, sum_{j=i}^k eta_j in the Multi-Power Law.
    """
    ratio, power = Symbol("c_3", positive=True), Symbol("kappa", positive=True)
    forgotten = 1 - (1 + c * x) ** (-power)
    weight = C / ratio * (ratio + t ** (-s)) * forgotten
    opened = C * forgotten + C * t ** (-s) * forgotten / ratio
    steps = (
        Step(weight, opened, Identity(), "open the bracket"),
        Step(opened, C * forgotten, Limit(ratio, oo), "c_3 grows and c_2 c_3 = C"),
    )
    return Derivation("Multi-Power Law", "The ansatz without its signal", steps, "eqn: fsl-ansatz")


def _price(chosen: Expr) -> Expr:
    """The noise that a rate injects at intrinsic time x before the end, plus its steps at the price mu."""
    return power_kernel(x) * chosen + mu / chosen


def optimal_rate() -> tuple[Derivation, ...]:
    """The learning rate that injects least noise for its steps, under the power kernel, and its shape over the steps.

    At intrinsic time x before the end, ``K(x) gamma + mu/gamma`` is noise plus steps at the price mu: a square above
    ``2 sqrt(mu K)``, so the best rate is ``sqrt(mu/K)``. At steps left y it is ``a (1 + c a y/(2 beta))^(2 beta - 1)``
    with ``a = sqrt(mu)`` the last rate: a power decay that a bound on the rate turns into a stable phase.
    """
    best = sqrt(mu / power_kernel(x))
    chosen = Symbol("gamma", positive=True)
    square = (sqrt(power_kernel(x) * chosen) - sqrt(mu / chosen)) ** 2 + 2 * sqrt(mu * power_kernel(x))
    left = Symbol("y", nonnegative=True)
    rate_at = a * (1 + c * u) ** (1 - 1 / (2 * beta))
    steps_left = 2 * beta / (c * a) * ((1 + c * x) ** (1 / (2 * beta)) - 1)
    along = ((1 + c * a * left / (2 * beta)) ** (2 * beta) - 1) / c
    steps = (
        Step(_price(chosen), square, Identity(), "complete the square"),
        Step(_price(best), 2 * sqrt(mu * power_kernel(x)), Identity(), "the square vanishes at sqrt(mu/K)"),
        Step(
            Integral(1 / rate_at, (u, 0, x)),
            steps_left,
            Antiderivative(2 * beta / (c * a) * (1 + c * u) ** (1 / (2 * beta))),
            "steps left at intrinsic time x before the end",
        ),
        Step(
            rate_at.subs(u, along),
            a * (1 + c * a * left / (2 * beta)) ** (2 * beta - 1),
            Identity(),
            "the rate over the steps left",
        ),
    )
    return chains("optimal rate", "The schedule that injects least noise", steps, "eqn: FSL-optimization")
