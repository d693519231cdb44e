"""From the functional scaling law to the ansatz for loss curves: which steps are exact, and what they leave out.

The noise functional of a schedule is ``N = int K(T(k) - t) g(t) gamma(t) dt`` with ``g = sigma^2 + e``. Integration by
parts (continuous schedules) and Abel summation (schedules given step by step) turn it into the noise of the constant
schedule less a loss reduction by decay, with nothing left over. With the power kernel and ``g = sigma^2`` the reduction
is the Multi-Power Law itself.

>>> multi_power().verify().holds
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sympy import Derivative, Expr, Function, Integer, Integral, Sum, Symbol, diff, oo, sqrt

from fsl_sym.proof import (
    Antiderivative,
    Defined,
    Derivation,
    Identity,
    Induction,
    Instance,
    Limit,
    Linear,
    Rewrite,
    SameDerivative,
    Step,
    Substitution,
    Turned,
    chains,
    lemma,
)
from fsl_sym.symbols import B, C, M, T, a, beta, lam, s, t
from fsl_sym.values import as_expression

c: Final = Symbol("c", positive=True)
"""The time scale of the power kernel (1 + c t)^-(2 - 1/beta)."""
x: Final = Symbol("x", nonnegative=True)
"""Intrinsic time left, or gone by since a drop of the learning rate."""
past: Final = Symbol("r", real=True)
"""An intrinsic time before the end."""
u: Final = Symbol("u", nonnegative=True)
v: Final = Symbol("v", nonnegative=True)
mu: Final = Symbol("mu", positive=True)
"""The price of a training step in units of the loss."""
i: Final = Symbol("i", integer=True, positive=True)
k: Final = Symbol("k", integer=True, positive=True)
n: Final = Symbol("n", integer=True, nonnegative=True)
end: Final = Symbol("tau_end", positive=True)
whole: Final = Symbol("T_end", positive=True)
"""T(k), the intrinsic time at the end of training."""
clock, phi, kernel, source, rate = (Function(name, real=True) for name in ("T", "phi", "K", "g", "eta"))
"""Intrinsic time and learning rate at a physical time; K; g = sigma^2 + e; the rate of a step."""
batch: Final = Function("b", positive=True)

gone, drop = (Function(name, real=True) for name in "Gd")
left: Final = Function("R", nonnegative=True)

KERNEL_POWER: Final = 2 - 1 / beta
FORGOTTEN: Final = 1 - (1 + c * x) ** (-(1 - 1 / beta))
"""The share of the noise injected over a whole past that is gone after an intrinsic time x."""


def power_kernel(time: Expr) -> Expr:
    """The power kernel (1 + c t)^-(2 - 1/beta).

    >>> power_kernel(t).subs(t, 0)
    1
    """
    return (1 + c * as_expression(time)) ** (-KERNEL_POWER)


def kernel_integral() -> Derivation:
    """The share of the noise that is gone after an intrinsic time x under the power kernel, exactly.

    c (1 - 1/beta) is one over the integral of the kernel over all times.

    >>> kernel_integral().conclusion.right
    1 - (c*x + 1)**(-1 + 1/beta)
    """
    scale = c * (1 - 1 / beta)
    early = Integral(scale * power_kernel(T - past), (past, T - x, T))
    since = Integral(scale * power_kernel(u), (u, 0, x))
    steps = (
        Step(early, since, Substitution(past, u, T - u), "u = T - t, the time left"),
        Step(since, FORGOTTEN, Antiderivative(-((1 + c * u) ** (-(1 - 1 / beta)))), "antiderivative"),
    )
    return Derivation("kernel integral", "The power kernel over the time since a drop", steps, "eqn: fsl-ansatz")


_CLOCK: Final = ((Derivative(clock(v), v), phi(v)), (clock(end), whole))


def injected(time: Symbol) -> Expr:
    """The noise that a unit rate injects at a physical time and that is there at the end."""
    time = as_expression(time)
    return kernel(whole - clock(time)) * source(clock(time)) * phi(time)


def kept(start: Expr) -> Integral:
    """What is there at the end of the noise that a unit of effective rate injects from an intrinsic time on."""
    return Integral(kernel(whole - past) * source(past), (past, as_expression(start), whole))


def _from_the_start(known: Derivation, factor: Expr) -> tuple[Step, ...]:
    """A lemma about the time from v to the end, at v = 0 where T = 0."""
    left, right = (factor * side.subs(v, 0) for side in (known.steps[0].before, known.steps[-1].after))
    whole_time = lemma(left / factor, right / factor, Instance(known, ((v, Integer(0)),)), "v = 0")
    steps = [Step(left, right, Linear(((factor, whole_time),)), "from the start on, v = 0")]
    if right.has(clock(0)):
        steps.append(Step(right, right.subs(clock(0), 0), Defined(((clock(0), Integer(0)),)), "T(0) = 0"))
    return tuple(steps)


def physical_time() -> Derivation:
    """The noise functional over the steps: the learning rate comes squared, once from gamma and once from dt.

    gamma(T(u)) = h phi(u)/b(u); T is the integral of phi.
    """
    h = Symbol("h", positive=True)
    effective = Function("gamma", real=True)
    intrinsic = Integral(kernel(whole - past) * source(past) * effective(past), (past, clock(v), whole))
    physical = Integral(injected(u) * h * phi(u) / batch(u), (u, v, end))
    replacements = (*_CLOCK, (effective(clock(v)), h * phi(v) / batch(v)))
    why = "both vanish at the end, and T' = phi, gamma(T(u)) = h phi(u)/b(u)"
    from_any_time = lemma(physical, intrinsic, SameDerivative(v, end, replacements), why)
    title = "The noise functional in physical time"
    back = Derivation("in physical time", title, _from_the_start(from_any_time, Integer(1)))
    step = Step(back.steps[-1].after, back.steps[0].before, Turned(back), "read from its other end")
    return Derivation("physical time", title, (step,), "sub:the_kernel_teacher_student_setup")


def _unit_rate() -> Derivation:
    why = "t = T(u): both vanish at the end and have one derivative"
    return lemma(Integral(injected(u), (u, v, end)), kept(clock(v)), SameDerivative(v, end, _CLOCK), why)


def first_rate() -> Derivation:
    """The noise that the first rate, held, injects over the steps is that over intrinsic time.

    >>> first_rate().verify().holds
    True
    """
    steps = _from_the_start(_unit_rate(), phi(0))
    return Derivation("first rate", "The noise of the first rate", steps, "eq:numerical_const_term")


def _parts() -> Derivation:
    """The noise of an absolutely continuous schedule from v to the end, with the boundary term, nothing neglected.

    The boundary term at the end vanishes because nothing is forgotten in no time.
    """
    noise = Integral(injected(u) * phi(u), (u, v, end))
    parts = phi(v) * kept(clock(v)) + Integral(diff(phi(u), u) * kept(clock(u)), (u, v, end))
    step = Step(noise, parts, SameDerivative(v, end, _CLOCK), "both vanish at the end and have one derivative in v")
    return Derivation("parts", "The noise by parts", (step,))


def loss_by_parts() -> Derivation:
    """The functional of a schedule: signal, approximation, the noise of its first rate, less the reduction by decay.

    >>> loss_by_parts().verify().holds
    True
    """
    learned = whole**-s + M ** (-s * beta)
    parts = Derivation("noise by parts", "The noise by parts", _from_the_start(_parts(), Integer(1)))
    noise, split = parts.steps[0].before, parts.steps[-1].after
    step = Step(learned + noise / B, learned + split / B, Rewrite(parts), "the noise by parts")
    return Derivation("loss by parts", "The loss less the reduction by decay", (step,), "eq:numerical_LRD_form")


def reduction_by_parts() -> tuple[Derivation, ...]:
    """The three lines of the reduction by decay: as it is defined, its order of integration turned, in intrinsic time.

    >>> all(derivation.verify().holds for derivation in reduction_by_parts())
    True
    """
    slope = Symbol("r", nonnegative=True)
    inner = Integral(diff(phi(slope), slope), (slope, v, u))
    defined = Integral(injected(u) * inner, (u, v, end))
    turned = Integral(diff(phi(slope), slope) * Integral(injected(u), (u, slope, end)), (slope, v, end))
    last = Integral(diff(phi(u), u) * kept(clock(u)), (u, v, end))
    unit, noise = Integral(injected(u), (u, v, end)), Integral(injected(u) * phi(u), (u, v, end))
    same = SameDerivative(v, end, _CLOCK)
    line = lemma(defined, turned, same, "the order of integration: both have one derivative")
    whole_line = Derivation(
        "intrinsic",
        "In intrinsic time",
        (
            Step(defined, noise - phi(v) * unit, same, "what the rate has gained since v"),
            Step(noise - phi(v) * unit, last, Linear(((Integer(1), _parts()), (-phi(v), _unit_rate()))), "by parts"),
        ),
    )
    name, title = "reduction by parts", "The loss reduction by decay"
    return tuple(
        Derivation(f"{name}, {place}", title, _from_the_start(lemma, -1 / B), "appendix:llm_pre-training")
        for place, lemma in enumerate((line, whole_line), 1)
    )


def _by_drops(kept_from: Callable[[Expr], Expr]) -> tuple[Derivation, Instance]:
    """What the first rate, held, injects less what the steps inject, as a sum over the drops: for n steps, and for k.

    Step i injects its rate times what is kept from its beginning, less what is kept from its end.
    """
    reduction = rate(0) * kept_from(Integer(0)) - Sum(rate(i) * (kept_from(i - 1) - kept_from(i)), (i, 1, n))
    drops = Sum((rate(i - 1) - rate(i)) * kept_from(i - 1), (i, 1, n))
    every_n = lemma(reduction, rate(n) * kept_from(n) + drops, Induction(n), "induction over the steps")
    return every_n, Instance(every_n, ((n, k),))


def abel_summation() -> Derivation:
    """The exact discrete form: a drop at step i acts from T(i-1) on, where step i begins.

    G(i) is the integral of K(T(k) - t) g(t) over [T(i), T(k)]; step i injects eta_i (G(i-1) - G(i)). The reduction by
    decay is what the rate eta_0, held, would have injected, less what the steps inject; eta_0 is free.

    >>> abel_summation().verify().holds
    True
    """
    every_n, at_end = _by_drops(gone)
    ended = every_n[0].after.subs(n, k)
    steps = (
        Step(every_n[0].before.subs(n, k), ended, at_end, "after the last step"),
        Step(
            ended,
            ended - rate(k) * gone(k),
            Defined(((gone(k), Integer(0)),)),
            "where nothing is forgotten: G(k) = 0",
        ),
    )
    return Derivation("Abel summation", "The loss reduction by decay, step by step", steps, "eq:numerical_LRD_form")


def momentum_kernel() -> Derivation:
    """S2 of the Momentum Law as one sum over the drops: each weighs (1 - lambda^(k-j+1))/(1 - lambda).

    d(j) is eta_(j-1) - eta_j.
    """
    j = Symbol("j", integer=True, positive=True)
    double = Sum(Sum(drop(j) * lam ** (i - j), (j, 2, i)), (i, 2, k))
    single = Sum(drop(j) * (1 - lam ** (k - j + 1)) / (1 - lam), (j, 2, k))
    step = Step(double, single, Induction(k, 1), "induction over the steps")
    return Derivation(
        "Momentum Law",
        "S2 as a sum over the drops",
        (step,),
        "sub:empirical_fitting_of_llm_pre_training_loss_trajectory",
    )


def multi_power() -> Derivation:
    """The reduction of label noise under the power kernel, times c (1 - 1/beta), is the Multi-Power Law.

    R(i) is the intrinsic time left after step i: step i injects over [R(i), R(i-1)], and R(k) = 0.
    """
    share = c * (1 - 1 / beta) * power_kernel(u)
    power = 1 / beta - 1
    held = Integral(share, (u, 0, left(0)))
    injected = Integral(share, (u, left(i), left(i - 1)))
    by_steps = Sum(rate(i) * injected, (i, 1, k))
    values = Sum(rate(i) * ((1 + c * left(i)) ** power - (1 + c * left(i - 1)) ** power), (i, 1, k))
    primitive = Antiderivative(-((1 + c * u) ** power))
    first = lemma(held, 1 - (1 + c * left(0)) ** power, primitive, "the first rate: a power")
    steps = lemma(by_steps, values, primitive, "the steps: a power, step by step")
    every_n, at_end = _by_drops(lambda place: 1 - (1 + c * left(place)) ** power)
    reduction, ended = (side.subs(n, k) for side in (every_n[0].before, every_n[0].after))
    combination = Linear(((rate(0), first), (Integer(-1), steps)))
    chain = (
        Step(rate(0) * held - by_steps, reduction, combination, "the kernel over each step"),
        Step(reduction, ended, at_end, "after the last step"),
        Step(
            ended,
            ended - rate(k) * (1 - (1 + c * left(k)) ** power),
            Defined(((left(k), Integer(0)),)),
            "no time is left",
        ),
    )
    return Derivation(
        "Multi-Power Law, steps",
        "The reduction of label noise",
        chain,
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
    steps_to_go = Symbol("y", nonnegative=True)
    rate_at = a * (1 + c * u) ** (1 - 1 / (2 * beta))
    steps_left = 2 * beta / (c * a) * ((1 + c * x) ** (1 / (2 * beta)) - 1)
    along = ((1 + c * a * steps_to_go / (2 * beta)) ** (2 * beta) - 1) / c
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
            a * (1 + c * a * steps_to_go / (2 * beta)) ** (2 * beta - 1),
            Identity(),
            "the rate over the steps left",
        ),
    )
    return chains("optimal rate", "The schedule that injects least noise", steps, "eqn: FSL-optimization")
