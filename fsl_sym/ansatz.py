"""From the functional scaling law to the ansatz for loss curves: which steps are exact, and what they leave out.

The noise functional of a schedule is ``N = int K(T(k) - t) g(t) gamma(t) dt`` with ``g = sigma^2 + e``. Integration by
parts (continuous schedules) and Abel summation (schedules given step by step) turn it into the noise of the constant
schedule less a loss reduction by decay, with nothing left over. With the power kernel and ``g = sigma^2`` the reduction
is the Multi-Power Law itself.

>>> abel_summation().verify().holds
True
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sympy import Derivative, Dummy, Expr, Function, Integer, Integral, Sum, Symbol, diff, expand, oo, sqrt
from sympy.core.function import AppliedUndef

from fsl_sym.derivation import Derivation, Step
from fsl_sym.justifications import Antiderivative, Identity, Limit, StepVerdict, Substitution, Termwise, refuse
from fsl_sym.limits import is_continuous
from fsl_sym.symbols import C, T, a, beta, lam, s, t
from fsl_sym.verification import equal

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


@dataclass(frozen=True, slots=True)
class Induction:
    """Two expressions in sums up to ``index`` agree: they do at ``base``, and they grow alike from n to n + 1."""

    index: Symbol
    base: int = 0
    rule: str = field(default="sum", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare both sides at the base, and their increments summand by summand."""
        start = equal(*(side.subs(self.index, self.base).doit() for side in (before, after)))
        if not start.proved:
            return refuse(f"at {self.index} = {self.base}: {start.detail}", start.method)
        growth = [expand(self._advanced(side) - side) for side in (before, after)]
        verdict = Termwise().check(*growth)
        return StepVerdict(verdict.holds, verdict.method, f"base and increments: {verdict.detail}")

    def _advanced(self, side: Expr) -> Expr:
        """The side at n + 1, each sum up to n + 1 split into the sum up to n and its last term."""
        following = self.index + 1
        side = side.subs(self.index, following)
        while found := [each for each in side.atoms(Sum) if each.limits[-1][2] == following]:
            *inner, (running, first, _) = found[0].limits
            last = found[0].function.subs(running, following)
            last = (
                Sum(last, *[tuple(part.subs(running, following) for part in limits) for limits in inner])
                if inner
                else last
            )
            side = side.xreplace({found[0]: Sum(found[0].function, *inner, (running, first, self.index)) + last})
        return side


@dataclass(frozen=True, slots=True)
class SameDerivative:
    """Two functions of ``variable`` > 0 agree: they do at ``at``, and their derivatives are the same.

    ``given`` holds pairs (expression, value) that are known: T' = phi, the intrinsic time at the end. Both must be
    shown to be continuous, for two functions with one derivative may jump against each other.
    """

    variable: Symbol
    at: Expr
    given: tuple[tuple[Expr, Expr], ...] = ()
    rule: str = field(default="identity", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the values at the one place and the derivatives everywhere."""
        if not self.variable.is_nonnegative:
            return refuse(f"{self.variable} is not declared to be nonnegative: where the functions live is not known")
        for side in (before, after):
            if not _is_continuous_with_integrals(side, self.variable):
                return refuse(f"{side} is not shown to be continuous for all {self.variable} > 0")
        start = equal(*(self._known(side.subs(self.variable, self.at)).doit() for side in (before, after)))
        if not start.proved:
            return refuse(f"at {self.variable} = {self.at}: {start.detail}", start.method)
        slopes = [self._known(expand(self._known(diff(side, self.variable)))) for side in (before, after)]
        verdict = equal(*slopes)
        return StepVerdict(verdict.proved, verdict.method, f"derivatives: {verdict.detail}")

    def _known(self, side: Expr) -> Expr:
        for expression, value in self.given:
            side = side.subs(expression, value)
        return side


def _is_continuous_with_integrals(side: Expr, variable: Symbol) -> bool:
    """Whether a function is shown to be continuous for ``variable`` > 0, as integrals of continuous functions are.

    Derivatives of functions without a name of their own are taken to be continuous like these.
    """

    def some_function(item: Expr) -> Expr:
        # each with a name of its own: two of one name could cancel, and with them the pole of a common factor
        return Function(Dummy().name)(*sorted(item.free_symbols, key=str))

    def is_slope(item: Expr) -> bool:
        return isinstance(item, Derivative) and isinstance(item.expr, AppliedUndef)

    side = side.replace(is_slope, some_function)
    while inmost := [item for item in side.atoms(Integral) if not item.function.has(Integral)]:
        for item in inmost:
            (running, lower, upper), *others = item.limits
            inside = is_continuous(item.function, running, lower, upper)
            if others or not inside or not is_continuous(item.function, variable, Integer(0), oo):
                return False
            if not all(is_continuous(end, variable, Integer(0), oo) for end in (lower, upper)):
                return False
        side = side.xreplace({item: some_function(item) for item in inmost})
    return is_continuous(side, variable, Integer(0), oo)


@dataclass(frozen=True, slots=True)
class Known:
    """``after`` is ``before`` with a value put in that holds by definition."""

    expression: Expr
    value: Expr
    rule: str = field(default="identity", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare after putting the value in."""
        if not before.has(self.expression):
            return refuse(f"{self.expression} does not stand there")
        verdict = equal(before.subs(self.expression, self.value), after)
        return StepVerdict(verdict.proved, verdict.method, verdict.detail)


def power_kernel(time: Expr) -> Expr:
    """The power kernel (1 + c t)^-(2 - 1/beta).

    >>> power_kernel(t).subs(t, 0)
    1
    """
    return (1 + c * time) ** (-KERNEL_POWER)


def kernel_integral() -> Derivation:
    """The share of the noise that is gone after an intrinsic time x under the power kernel, exactly.

    c (1 - 1/beta) is one over the integral of the kernel over all times.

    >>> kernel_integral().conclusion
    1 - (c*x + 1)**(-1 + 1/beta)
    """
    scale = c * (1 - 1 / beta)
    early = Integral(scale * power_kernel(T - t), (t, T - x, T))
    left = Integral(scale * power_kernel(u), (u, 0, x))
    steps = (
        Step(early, left, "substitution", "u = T - t, the time left", Substitution(t, u, T - u)),
        Step(left, FORGOTTEN, "integral", "antiderivative", Antiderivative(-((1 + c * u) ** (-(1 - 1 / beta))))),
    )
    return Derivation(
        "kernel integral", "The power kernel over the time since a drop", steps, ("beta > 1", "x >= 0"),
        "eqn: fsl-ansatz",
    )  # fmt: skip


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
    step = Step(intrinsic, physical, "identity", why, SameDerivative(v, end, given))
    return Derivation(
        "physical time", "The noise functional in physical time", (step,), ("T' = phi",),
        "sub:the_kernel_teacher_student_setup",
    )  # fmt: skip


def integration_by_parts() -> Derivation:
    """The noise of an absolutely continuous schedule from v to the end, with the boundary term, nothing neglected.

    At v = 0 it is phi(0) int K g dt, the noise of the constant schedule, plus int phi' G: the reduction by decay is
    minus that integral. The boundary term at the end vanishes because nothing is forgotten in no time.
    """
    noise = Integral(_injected(u) * phi(u), (u, v, end))
    parts = phi(v) * _reduction(clock(v)) + Integral(diff(phi(u), u) * _reduction(clock(u)), (u, v, end))
    inner = Integral(_injected(u), (u, v, end))
    steps = (
        Step(inner, _reduction(clock(v)), "identity", "t = T(u): both vanish at the end and have one derivative",
             SameDerivative(v, end, _CLOCK)),
        Step(noise, parts, "identity", "both vanish at the end and have one derivative in v",
             SameDerivative(v, end, _CLOCK), begins=True),
    )  # fmt: skip
    return Derivation(
        "integration by parts", "The loss reduction by decay", steps, ("phi absolutely continuous", "T' = phi"),
        "eq:numerical_LRD_form",
    )  # fmt: skip


def abel_summation() -> Derivation:
    """The exact discrete form: a drop at step i acts from T(i-1) on, where step i begins.

    G(i) is the integral of K(T(k) - t) g(t) over [T(i), T(k)]; step i injects eta_i (G(i-1) - G(i)). eta_0 is free.
    """
    gone = Function("G", real=True)
    noise = Sum(rate(i) * (gone(i - 1) - gone(i)), (i, 1, n))
    drops = Sum((rate(i - 1) - rate(i)) * gone(i - 1), (i, 1, n))
    summed = rate(0) * gone(0) - rate(n) * gone(n) - drops
    ended = summed.subs(n, k)
    steps = (
        Step(noise, summed, "sum", "induction over the steps", Induction(n)),
        Step(ended, ended.subs(gone(k), 0), "identity", "at the last step nothing is forgotten: G(k) = 0",
             Known(gone(k), Integer(0)), begins=True),
    )  # fmt: skip
    return Derivation(
        "Abel summation", "The loss reduction by decay, step by step", steps,
        ("eta_i is the rate on [T(i-1), T(i)]",), "eq:numerical_LRD_form",
    )  # fmt: skip


def momentum_kernel() -> Derivation:
    """S2 of the Momentum Law as one sum over the drops: each weighs (1 - lambda^(k-j+1))/(1 - lambda)."""
    j = Symbol("j", integer=True, positive=True)
    double = Sum(Sum(drop(j) * lam ** (i - j), (j, 2, i)), (i, 2, m))
    single = Sum(drop(j) * (1 - lam ** (m - j + 1)) / (1 - lam), (j, 2, m))
    step = Step(double, single, "sum", "induction over the steps", Induction(m, 1))
    return Derivation(
        "Momentum Law", "S2 as a sum over the drops", (step,), ("lambda in (0, 1)",),
        "sub:empirical_fitting_of_llm_pre_training_loss_trajectory",
    )  # fmt: skip


def multi_power_limit() -> Derivation:
    """One drop in the ansatz as its c_3 grows with c_2 c_3 = C held: one drop in the Multi-Power Law with kappa' = 0.

    x is the intrinsic time since the drop, sum_{j=i}^k eta_j in the Multi-Power Law.
    """
    ratio, power = Symbol("c_3", positive=True), Symbol("kappa", positive=True)
    forgotten = 1 - (1 + c * x) ** (-power)
    weight = C / ratio * (ratio + t ** (-s)) * forgotten
    opened = C * forgotten + C * t ** (-s) * forgotten / ratio
    steps = (
        Step(weight, opened, "identity", "open the bracket", Identity()),
        Step(opened, C * forgotten, "limit", "c_3 grows and c_2 c_3 = C", Limit(ratio, oo)),
    )
    return Derivation(
        "Multi-Power Law", "The ansatz without its signal", steps, ("c_2 c_3 = C", "c_4 = C', kappa' = 0"),
        "eqn: fsl-ansatz",
    )  # fmt: skip


def _price(chosen: Expr) -> Expr:
    """The noise that a rate injects at intrinsic time x before the end, plus its steps at the price mu."""
    return power_kernel(x) * chosen + mu / chosen


def optimal_rate() -> Derivation:
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
        Step(_price(chosen), square, "identity", "complete the square", Identity()),
        Step(_price(best), 2 * sqrt(mu * power_kernel(x)), "identity", "the square vanishes at sqrt(mu/K)",
             Identity(), begins=True),
        Step(Integral(1 / rate_at, (u, 0, x)), steps_left, "integral", "steps left at intrinsic time x before the end",
             Antiderivative(2 * beta / (c * a) * (1 + c * u) ** (1 / (2 * beta))), begins=True),
        Step(rate_at.subs(u, along), a * (1 + c * a * left / (2 * beta)) ** (2 * beta - 1), "identity",
             "the rate over the steps left", Identity(), begins=True),
    )  # fmt: skip
    return Derivation(
        "optimal rate", "The schedule that injects least noise", steps, ("power kernel", "label noise alone"),
        "eqn: FSL-optimization",
    )  # fmt: skip
