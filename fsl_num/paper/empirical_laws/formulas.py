"""What the paper states about loss curves and schedules, as symbolic values, with what each statement assumes.

>>> print(FIRST_RATE_ORDER)
Integral((sigma**2 + e(x_0))*K(T - x_0), (x_0, 0, T)) ~ sigma**2 + T**(-s)
"""

from __future__ import annotations

from typing import Any, Final

from sympy import (
    Derivative,
    Expr,
    Function,
    Integer,
    Integral,
    Max,
    Min,
    Piecewise,
    Rational,
    Sum,
    Symbol,
    cos,
    oo,
    pi,
    sqrt,
)

from fsl_num.paper.model.formulas import continuous
from fsl_sym.ansatz import batch, c, clock, drop, end, gone, i, k, kernel, left, past, phi, rate, source, u, v, whole, x
from fsl_sym.proof import (
    AllOf,
    Formula,
    Hypothesis,
    at_most,
    equals,
    everywhere,
    less,
    same_order,
    tends,
    within,
)
from fsl_sym.symbols import HALF, B, C, D, E, K, M, T, a, beta, lam, r, s, sigma, t, z

Stated = tuple[Formula | AllOf, tuple[Hypothesis | str, ...]]
"""A formula, and what it assumes."""

POWER: Final = 1 - 1 / beta
_j = Symbol("j", integer=True, positive=True)
_r = Symbol("r", nonnegative=True)


# ---- the functional over the steps: T(u) is the clock, T_end = T(k) its last value, g = sigma^2 + e ------------------

_GAIN = "g(t) is sigma^2 + e(t)"
_CLOCK: Final[tuple[Hypothesis | str, ...]] = (
    everywhere(equals(Derivative(clock(v), v), phi(v)), v),
    equals(clock(0), 0),
    equals(clock(end), whole),
    *continuous("T", "phi", "K", "g"),
)
_SMOOTH: Final[tuple[Hypothesis | str, ...]] = (*_CLOCK, *continuous(slopes=("phi",)), _GAIN)


def _held(time: Any) -> Expr:
    """K(T(k) - T(u)) g(T(u)) at the time u."""
    return kernel(whole - clock(time)) * source(clock(time))


def _from(start: Any) -> Integral:
    """The integral of K(T(k) - t) g(t) from an intrinsic time to T(k)."""
    return Integral(kernel(whole - past) * source(past), (past, start, whole))


def _physical() -> Stated:
    """Over intrinsic time, and over the steps with the learning rate squared."""
    step, effective = Symbol("h", positive=True), Function("gamma", real=True)
    stated = equals(
        Integral(kernel(whole - past) * source(past) * effective(past), (past, 0, whole)),
        Integral(_held(u) * step * phi(u) ** 2 / batch(u), (u, 0, end)),
    )
    strength = everywhere(equals(effective(clock(v)), step * phi(v) / batch(v)), v)
    return stated, (*_CLOCK, strength, *continuous("gamma", positive=("b",)), _GAIN)


PHYSICAL_TIME: Final = _physical()
FIRST_RATE: Final[Stated] = (
    equals(phi(0) * Integral(_held(u) * phi(u), (u, 0, end)), phi(0) * _from(0)), (*_CLOCK, _GAIN)
)  # fmt: skip
FIRST_RATE_PRINTED: Final = equals(
    phi(0) * Integral(kernel(whole - clock(u)) * source(whole) * phi(u), (u, 0, end)), phi(0) * _from(0)
)
_e = Function("e")
_FIRST_NOISE = Integral(kernel(T - z) * (sigma**2 + _e(z)), (z, 0, T))
FIRST_RATE_ORDER: Final = same_order(_FIRST_NOISE, sigma**2 + T**-s)
FIRST_RATE_EVERY_S: Final = same_order(_FIRST_NOISE, sigma**2 + T ** -Min(s, 2 - 1 / beta))

_LEARNED = whole**-s + M ** (-s * beta)
LOSS_PRINTED: Final = same_order(E, _LEARNED - Symbol("LRD"))
_LAST_LINE = -Integral(Derivative(phi(_r), _r) * _from(clock(_r)), (_r, 0, end)) / B
LOSS: Final[Stated] = (
    equals(
        _LEARNED + Integral(_held(u) * phi(u) ** 2, (u, 0, end)) / B,
        _LEARNED + (phi(0) * _from(0) + Integral(Derivative(phi(_r), _r) * _from(clock(_r)), (_r, 0, end))) / B,
    ),
    _SMOOTH,
)


def _reduction() -> Stated:
    """The first line of the reduction by decay is the second, and the third."""
    gained = Integral(Derivative(phi(_r), _r), (_r, 0, u))
    first = -Integral(_held(u) * phi(u) * gained, (u, 0, end)) / B
    inner = Integral(_held(u) * phi(u), (u, _r, end))
    second = -Integral(Derivative(phi(_r), _r) * inner, (_r, 0, end)) / B
    given = tuple(each for each in _SMOOTH if each != equals(clock(0), 0))
    return AllOf((equals(first, second), equals(first, _LAST_LINE))), given


REDUCTION: Final = _reduction()
_AFTER = ("G(i) is the integral of K(T(k) - t) g(t) from T(i) to T(k)", _GAIN)
STEPS: Final[Stated] = (
    equals(
        rate(0) * gone(0) - Sum(rate(i) * (gone(i - 1) - gone(i)), (i, 1, k)),
        Sum((rate(i - 1) - rate(i)) * gone(i - 1), (i, 1, k)),
    ),
    (equals(gone(k), 0), *_AFTER),
)
DISCRETISED: Final[Stated] = (
    same_order(1 - Sum((rate(i - 1) - rate(i)) * gone(i), (i, 1, k)) / (B * Symbol("LRD")), 1 / K),
    ("LRD is the reduction of the same steps, exactly", *_AFTER),
)

# ---- the kernel ------------------------------------------------------------------------------------------------------


def _power_kernel(time: Any) -> Expr:
    return (1 + c * time) ** (1 / beta - 2)


_SINCE = c * POWER * Integral(_power_kernel(T - past), (past, T - x, T))
KERNEL_PRINTED: Final = equals(_SINCE, c * POWER * Integral(_power_kernel(past), (past, T - x, T)))
KERNEL_INTEGRAL: Final = equals(
    Integral(c * POWER * _power_kernel(T - past), (past, T - x, T)), 1 - (1 + c * x) ** -POWER
)
"""x is T(k) - T(i), and T is T(k)."""
_model = Function("K")
_time = Symbol("x", positive=True)
_SHARE = Integral(_model(z), (z, 0, _time)) / Integral(_model(z), (z, 0, oo))
MODEL_KERNEL: Final = AllOf((same_order(_SHARE, _time), same_order(1 - _SHARE, _time**-POWER)))
"""For x <= 1 and for x >= 1."""
_early, _late = Symbol("t_i", positive=True), Symbol("t_k", positive=True)
_FROZEN = Integral(kernel(_late - z) * _e(z), (z, _early, _late)) / Integral(kernel(_late - z), (z, _early, _late))
AT_THE_DROP, AT_THE_END = (same_order(_FROZEN, time**-s) for time in (_early, _late))

# ---- the laws that are fitted ----------------------------------------------------------------------------------------

_L, _L0, _A, _A1, _A2, _kappa, _kappa1, _kappa2 = (
    Symbol(name, positive=True) for name in ("L", "L_0", "A", "A_1", "A_2", "kappa", "kappa_1", "kappa_2")
)
FINAL_LOSS: Final = same_order(E, M ** (-s * beta) + D ** (-s / (1 + s)))
CHINCHILLA: Final = equals(_L, _L0 + _A1 * M**-_kappa1 + _A2 * D**-_kappa2)
DROP = "d(j) is the drop eta_(j-1) - eta_j"
_GONE_BY = Sum(rate(_j), (_j, 1, k))
_DOUBLE = Sum(Sum(drop(_j) * lam ** (i - _j), (_j, 2, i)), (i, 2, k))
MOMENTUM: Final = equals(_L, _L0 + _A * _GONE_BY**-_kappa - C * _DOUBLE)
MOMENTUM_DROPS: Final = equals(_DOUBLE, Sum(drop(_j) * (1 - lam ** (k - _j + 1)) / (1 - lam), (_j, 2, k)))


def _forgotten(time: Any, power: Expr = POWER) -> Expr:
    return 1 - (1 + c * time) ** -power


_SHARES = c * POWER * _power_kernel(u)
_LABEL_NOISE = rate(0) * Integral(_SHARES, (u, 0, left(0))) - Sum(
    rate(i) * Integral(_SHARES, (u, left(i), left(i - 1))), (i, 1, k)
)
"""The reduction of label noise, times c (1 - 1/beta): what the rate eta_0, held, injects, less what the steps do."""
LEFT: Final[tuple[Hypothesis | str, ...]] = (
    equals(left(k), 0),
    *continuous("R", "eta"),
    "R(i) = eta_(i+1) + ... + eta_k is the intrinsic time left after step i",
    "eta_0 is free: with eta_0 = eta_1 the sum begins at 2",
)
MULTI_POWER: Final = equals(_LABEL_NOISE, Sum((rate(i - 1) - rate(i)) * _forgotten(left(i - 1)), (i, 1, k)))
MULTI_POWER_PRINTED: Final = equals(
    _LABEL_NOISE, Sum((rate(i - 1) - rate(i)) * _forgotten(Sum(rate(_j), (_j, 1, i))), (i, 1, k))
)
_SINCE_STEP = Sum(rate(_j), (_j, i, k))
MULTI_POWER_LAW: Final = equals(
    _L,
    _L0
    + _A * _GONE_BY**-_kappa
    - C * Sum((rate(i - 1) - rate(i)) * _forgotten(rate(i) ** -_kappa1 * _SINCE_STEP, _kappa2), (i, 2, k)),
)
_c0, _c1, _c2, _c3, _c4, _c5 = (Symbol(f"c_{place}", positive=True) for place in range(6))
_gamma = Symbol("gamma", positive=True)
ANSATZ: Final = equals(
    _L,
    _c0
    + _c1 * clock(k) ** -s
    + _c2 * M ** (-s * beta)
    - _c3
    * Sum(
        (rate(i - 1) - rate(i)) * (_c4 + clock(i) ** -s) * (1 - (1 + _c5 * (clock(k) - clock(i))) ** -_gamma), (i, 1, k)
    ),
)
_of_one_drop = 1 - (1 + c * x) ** -_kappa
NEARLY_ALL: Final = same_order(1 - Symbol("LRD") / Symbol("LD"), 1 / K)
NEARLY: Final = AllOf((tends(C / _c3 * (_c3 + t**-s) * _of_one_drop, _c3, oo, C * _of_one_drop), NEARLY_ALL))
"""One drop of the ansatz with c_2 c_3 = C; and all drops, against the Multi-Power Law."""

# ---- schedules -------------------------------------------------------------------------------------------------------

_peak, _rho = Symbol("eta_max", positive=True), Symbol("rho", positive=True)


def _cosine(angle: Expr) -> AllOf:
    """The cosine schedule, and that it ends at rho times the peak."""
    shape = (1 + _rho) / 2 * _peak + (1 - _rho) / 2 * _peak * cos(angle)
    return AllOf((equals(rate(k), shape), equals(rate(1), _peak), equals(rate(K), _rho * _peak)))


COSINE_PRINTED, COSINE = _cosine((k - 1) / (K - 1)), _cosine(pi * (k - 1) / (K - 1))
EIGHT_ONE_ONE: Final = equals(
    rate(k),
    Piecewise((_peak, k <= K * Rational(4, 5)), (_peak / sqrt(10), k <= K * Rational(9, 10)), (_peak / 10, True)),
)
_share, _best, _others = Symbol("w", positive=True), Symbol("L_opt", real=True), Symbol("L_known", real=True)
WSD_LIKE: Final[Stated] = (
    AllOf((at_most(rate(K), _peak / 20), at_most(_share, Rational(7, 20)), less(_best, _others))),
    (
        "eta is the minimiser, w the share of its steps below the peak, L_opt its loss",
        "L_known is the least loss of cosine, WSD and 8-1-1 that end at a tenth",
    ),
)
_of_rate = Function("L")
UNBOUNDED: Final = same_order(-_of_rate(r), r**-s)
"""L(r) is the ansatz with a first step at rate r."""
_to_go = Symbol("y", nonnegative=True)
BEST_RATE: Final = equals(rate(_to_go), Min(_peak, a * (1 + c * a * _to_go / (2 * beta)) ** (2 * beta - 1)))
_easier = 1 + s * beta
SHAPE: Final = {
    "loss": same_order(E, K ** -Min(s, s * beta / _easier)),
    "decaying": same_order(_share, K ** -Max(0, (beta - _easier) / (2 * beta - 1))),
    "end": same_order(rate(K), K ** Max(-(1 + s) / 2, HALF / _easier - 1)),
    "peak": same_order(_peak, K ** -Max(0, 1 - beta / _easier)),
}
"""The best schedule under a bound on the rate: its loss, the share of decaying steps, its last and largest rate."""
_noise, _p = Function("N"), Symbol("p", positive=True)
POWER_DECAY: Final = same_order(_noise(a, K, _p), a * a**-POWER * K**-POWER)
_length = Symbol("L", positive=True)
TOKENS: Final[Stated] = (
    within(D, K * B * _length, 2 * B * _length),
    (equals(D, 2 * 10**10), equals(K, 33907), equals(B, 288), equals(_length, 2048), "two steps are left for counting"),
)


def token_steps(last: int) -> AllOf:
    """Steps of 10B, 20B, 40B and 80B tokens, to 500 steps."""
    pairs = ((10, 17000), (20, 34000), (40, 68000), (80, last))
    return AllOf(
        tuple(within(Integer(tokens) * 10**9 / (B * _length), Integer(steps), Integer(500)) for tokens, steps in pairs)
    )
