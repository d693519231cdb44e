"""The small trusted kernel: what it means for two expressions to be equal, positive, or to tend to a limit.

Everything that :mod:`fsl_sym.derivation` accepts rests on the functions here. An equality is *proved* only by an exact
rewriting to zero; numbers at exact rational points, evaluated to :data:`DIGITS` digits, can only refute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sympy import (
    Expr,
    Float,
    Integer,
    Integral,
    Rational,
    Sum,
    Symbol,
    expand,
    expand_func,
    expand_log,
    factor,
    gamma,
    gammasimp,
    lowergamma,
    powdenest,
    powsimp,
    simplify,
    sympify,
    together,
    uppergamma,
)

DIGITS: Final = 40
"""Digits of the numerical necessary condition."""

AGREEMENT: Final = Float("1e-30", 50)
"""Relative difference above which numbers refute: ten digits less than :data:`DIGITS`, lost to cancellation at most."""

_SAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "s": ("1/2", "6/5", "2/7"),
    "beta": ("5/2", "3/2", "7/3"),
    "M": ("4", "7", "3"),
    "K": ("11", "7", "23"),
    "K_1": ("5", "17", "8"),
    "K_2": ("6", "3", "9"),
    "a": ("3/10", "7/5", "2"),
    "b": ("1/50", "1/3", "3/4"),
    "p": ("2/3", "3", "5/3"),  # away from the resonance p = beta - 1 at each point
    "tau": ("3/2", "5/4", "2/3"),
    "t": ("3/2", "7/3", "2/5"),
    "T": ("5/2", "9/4", "13/3"),
    "j": ("1", "2", "3"),
    "y": ("1/3", "3/5", "5/7"),
    "z": ("2/7", "3/8", "1/5"),
}
"""Exact rational points inside the ranges of the paper (``a > b``, ``beta > 1``, ``tau < K``)."""


@dataclass(frozen=True, slots=True)
class Equality:
    """The verdict on an equality: ``proved`` by rewriting, ``refuted`` by numbers, or neither."""

    proved: bool
    refuted: bool
    method: str
    detail: str


def sample_points(symbols: Iterable[Symbol], count: int = 3) -> list[dict[Symbol, Expr]]:
    """Exact rational values for the symbols, inside the ranges of the paper.

    Examples
    --------
    >>> from fsl_sym.symbols import beta
    >>> sample_points([beta], 1)
    [{beta: 5/2}]
    """
    ordered = sorted(symbols, key=lambda symbol: symbol.name)
    points: list[dict[Symbol, Expr]] = []
    for k in range(count):
        point: dict[Symbol, Expr] = {}
        for i, symbol in enumerate(ordered):
            known = _SAMPLES.get(symbol.name)
            if known is not None:
                point[symbol] = Rational(known[k % 3])
            elif symbol.is_integer:
                point[symbol] = Integer(2 + k + i)
            else:
                point[symbol] = Rational(2 * i + 3 * k + 2, i + k + 3)
        points.append(point)
    return points


def _finite(value: Expr) -> Expr | None:
    return value if value.is_number and value.is_finite and not value.has(Integral, Sum) else None


def _number(expression: Expr, point: Mapping[Symbol, Expr]) -> Expr | None:
    """The value at a point that is inserted exactly before anything is rounded."""
    value = expression.subs(point, simultaneous=True).doit(integrals=False) if point else expression
    return _finite(value.evalf(DIGITS + 10))


def _quick_number(expression: Expr, point: Mapping[Symbol, Expr]) -> Expr | None:
    """The value in rounded numbers throughout, many times faster; None where there is none, or none to be trusted.

    Sums whose ends are symbols are left alone (some come out as 0), and so is a 0 that may be all cancellation.
    """
    if expression.has(Sum, Integral):
        return None
    return _finite(expression.evalf(DIGITS + 10, subs=dict(point))) or None


def _refutation(left: Expr, right: Expr) -> tuple[int, str | None]:
    """How many points agree, and the first point that disagrees.

    Rounded numbers may confirm; what they do not settle is decided with the point inserted exactly.
    """
    agreed = 0
    for point in sample_points(left.free_symbols | right.free_symbols):
        lhs, rhs = _quick_number(left, point), _quick_number(right, point)
        if lhs is None or rhs is None or _apart(lhs, rhs):
            lhs, rhs = _number(left, point), _number(right, point)
        if lhs is None or rhs is None:
            continue
        if _apart(lhs, rhs):
            shown = ", ".join(f"{key}={value}" for key, value in point.items())
            return agreed, f"at {shown}: {lhs.n(12)} against {rhs.n(12)}"
        agreed += 1
    return agreed, None


def _apart(left: Expr, right: Expr) -> bool:
    return bool(abs(left - right) > AGREEMENT * (abs(left) + abs(right)))


def _powers(expression: Expr) -> Expr:
    return powsimp(powdenest(expand(expand_log(expression), power_base=True), force=False))


def _incomplete(expression: Expr) -> Expr:
    return expand(expression.replace(lowergamma, lambda order, end: gamma(order) - uppergamma(order, end)))


def _bases(expression: Expr) -> Expr:
    """Sums under a power simplified first, where a symbolic exponent would keep them from being seen."""
    inner = expression.replace(lambda e: e.is_Pow and e.base.is_Add, lambda e: simplify(e.base) ** e.exp)
    return simplify(expand(inner, power_base=True))


_REWRITINGS: Final[tuple[tuple[str, Callable[[Expr], Expr]], ...]] = (
    ("expansion", lambda e: expand(e)),
    ("powers", _powers),
    ("incomplete gamma functions", lambda e: simplify(_incomplete(e))),
    ("bases of powers", _bases),
    ("simplification", lambda e: simplify(expand(expand_log(e), power_base=True))),
    ("recurrence of the gamma function", lambda e: simplify(gammasimp(_powers(_incomplete(e))))),
    ("expansion of special functions", lambda e: simplify(expand_func(e))),
)


def equal(left: Expr, right: Expr) -> Equality:
    """Whether two expressions are equal: refuted by numbers, proved by exact rewriting, or undecided.

    Examples
    --------
    >>> from sympy import exp, log
    >>> from fsl_sym.symbols import a, b
    >>> equal(exp(log(a / b)), a / b).proved
    True
    >>> equal(a, 2 * a).refuted
    True
    """
    left, right = sympify(left), sympify(right)
    if left == right:
        return Equality(True, False, "exact", "identical")
    agreed, clash = _refutation(left, right)
    if clash is not None:
        return Equality(False, True, "numeric", clash)
    difference = left - right
    for name, rewrite in _REWRITINGS:
        if rewrite(difference) == 0:
            return Equality(True, False, "exact", f"difference vanishes by {name}; agrees at {agreed} exact points")
    return Equality(False, False, "numeric", f"agrees at {agreed} exact points to 30 digits, not proved")


RANGED: Final = frozenset({"a", "b", "beta"})
"""Names of symbols whose range is not all of (0, oo): ``beta > 1`` and ``a > b``."""


def in_ranges(expression: Expr) -> Expr:
    """The expression with ``beta = 1 + beta'`` and ``a = b + a'``, so that sympy's positivity sees the ranges.

    Any symbol named beta or a is meant: the ranges belong to the names of the paper.
    """
    swaps: dict[Symbol, Expr] = {}
    names = {symbol.name: symbol for symbol in expression.free_symbols}
    if "beta" in names:
        swaps[names["beta"]] = 1 + Symbol("beta'", positive=True)
    if "a" in names and "b" in names:
        swaps[names["a"]] = names["b"] + Symbol("a'", positive=True)
    ranged = expression.subs(swaps, simultaneous=True)
    # an incomplete gamma function of a positive argument (and, for the lower one, a positive order) is positive
    positive = {
        item: Symbol(f"_g{i}", positive=True)
        for i, item in enumerate(sorted(ranged.atoms(uppergamma, lowergamma), key=str))
        if item.args[1].is_positive and (isinstance(item, uppergamma) or sign(item.args[0]) == 1)
    }
    return ranged.xreplace(positive)


def sign(expression: Expr) -> int | None:
    """The sign of an expression over all of ``beta > 1, a > b`` and positive symbols; None where it is not decided.

    Examples
    --------
    >>> from fsl_sym.symbols import beta
    >>> sign(1 - 1 / beta), sign(beta - 2)
    (1, None)
    """
    value = factor(together(in_ranges(sympify(expression))))
    if value.is_zero:
        return 0
    if value.is_positive:
        return 1
    if value.is_negative:
        return -1
    value = simplify(value)
    return 0 if value == 0 else 1 if value.is_positive else -1 if value.is_negative else None
