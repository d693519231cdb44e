"""What it means for two expressions to be equal, and for one to be positive.

Everything that :mod:`fsl_sym.proof` accepts rests on the functions here. An equality is *proved* only by an exact
rewriting to zero; numbers at exact rational points, evaluated to :data:`DIGITS` digits, can only refute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sympy import (
    Add,
    Derivative,
    Dummy,
    Expr,
    Float,
    Integer,
    Integral,
    Max,
    Min,
    Mul,
    Rational,
    Sum,
    Symbol,
    diff,
    exp,
    expand,
    expand_func,
    expand_log,
    factor,
    factor_list,
    gamma,
    gammasimp,
    log,
    lowergamma,
    nan,
    oo,
    powdenest,
    powsimp,
    simplify,
    sqrt,
    together,
    uppergamma,
    zeta,
    zoo,
)

from fsl_sym import symbols
from fsl_sym.values import as_expression

DIGITS: Final = 40
"""Digits of the numerical necessary condition."""

FEW: Final = 100
"""Terms up to which a sum is written out."""

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


def sample_points(letters: Iterable[Symbol], count: int = 3) -> list[dict[Symbol, Expr]]:
    """Exact rational values for the symbols, inside the ranges of the paper.

    Examples
    --------
    >>> from fsl_sym.symbols import beta
    >>> sample_points([beta], 1)
    [{beta: 5/2}]
    """
    ordered = sorted(letters, key=lambda symbol: symbol.name)
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
    return _evaluated(expression.subs(point, simultaneous=True).doit(integrals=False) if point else expression)


@lru_cache(maxsize=4096)
def _evaluated(value: Expr) -> Expr | None:
    """The number that an expression without letters is: integrals take a second, and stand in several statements."""
    integrals = [integral for integral in value.atoms(Integral) if integral != value and not integral.free_symbols]
    numbers = {integral: number for integral in integrals if (number := _evaluated(integral)) is not None}
    return _finite(value.xreplace(numbers).evalf(DIGITS + 10))


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


def _is_finite(side: Expr) -> bool:
    """Whether no infinity stands in an expression, the ends of its sums and integrals apart."""
    inner = side.replace(lambda item: isinstance(item, Sum | Integral), lambda item: item.function)
    return not inner.has(zoo, nan, oo, -oo)


def worked_out(expression: Expr) -> Expr:
    """The expression with its derivatives taken, sums of a few terms written out and integrals of rational functions
    found, but no others: the search for an antiderivative, and for the value of a sum, may take hours.

    The derivative of an integral or of an endless sum stands: it need not be the integral or the sum of derivatives.
    An integral stands where what it divides by is not shown to keep its sign: through a pole it has no value, and
    sympy one.

    >>> from fsl_sym.symbols import M, T, j, t
    >>> worked_out(Integral(t, (t, 0, T)) + Sum(j, (j, 2, 3)) + Sum(j, (j, 1, M)))
    T**2/2 + Sum(j, (j, 1, M)) + 5
    """

    def written_out(of: Expr, *ranges: Expr) -> Expr:
        *inner, (index, *ends) = ranges
        count = ends[1] - ends[0] + 1 if len(ends) == 2 else None
        if count is None or not count.is_Integer or abs(count) > FEW:
            return Sum(of, *ranges)
        term = Sum(of, *inner) if inner else of
        # a sum that runs downwards, from m to n < m - 1, is minus the sum over what lies between
        direction, first = (1, ends[0]) if count >= 0 else (-1, ends[1] + 1)
        return direction * Add(*(term.subs(index, first + n).replace(Sum, written_out) for n in range(abs(count))))

    known = expression.replace(Derivative, _differentiated)
    known = known.replace(Integral, _integrated)
    return known.replace(Sum, written_out)


def _differentiated(of: Expr, *variables: Any) -> Expr:
    endless = any({oo, -oo} & {*limits} for part in of.atoms(Sum) for limits in part.limits)
    return Derivative(of, *variables) if of.has(Integral) or endless else diff(of, *variables)


def _integrated(of: Expr, *ranges: Expr) -> Expr:
    """The value of an integral of a rational function without a pole inside its range; else the integral as it is."""
    known = Integral(of, *ranges)
    if of.has(Integral) or any(len(limits) != 3 for limits in ranges):
        return known
    inside = {}
    for letter, low, high in ranges:
        distance = Dummy("more", positive=True)
        inside[letter] = low + distance if high == oo else low + (high - low) * distance / (1 + distance)
    below = of.together().as_numer_denom()[1].subs(inside)
    by_table = {"heurisch": False, "manual": False, "meijerg": False, "risch": False}
    return known.doit(**by_table) if sign(below) in (1, -1) else known


@lru_cache(maxsize=4096)
def simplified(expression: Expr) -> Expr:
    """What sympy simplifies the :func:`worked_out` expression to, without looking for further values of its parts."""
    return simplify(worked_out(expression), doit=False)


def _powers(expression: Expr) -> Expr:
    return powsimp(powdenest(expand(expand_log(expression), power_base=True), force=False))


def _incomplete(expression: Expr) -> Expr:
    return expand(expression.replace(lowergamma, lambda order, end: gamma(order) - uppergamma(order, end)))


def _bases(expression: Expr) -> Expr:
    """Sums under a power simplified first, where a symbolic exponent would keep them from being seen."""
    inner = expression.replace(lambda e: e.is_Pow and e.base.is_Add, lambda e: simplified(e.base) ** e.exp)
    return simplified(expand(inner, power_base=True))


def _minima(expression: Expr) -> Expr:
    """Positive factors of a minimum or maximum put into it."""

    def inward(term: Expr) -> Expr:
        inner = [item for item in term.args if isinstance(item, Min | Max)]
        outside = term / Mul(*inner)
        if len(inner) != 1 or sign(outside) != 1:
            return term
        return inner[0].func(*(outside * argument for argument in inner[0].args))

    def opened(item: Expr) -> Expr:
        return item.func(*(powsimp(expand(argument, power_base=True)) for argument in item.args))

    inside = expression.replace(lambda item: item.is_Mul and item.has(Min, Max), inward)
    return simplified(inside.replace(lambda item: isinstance(item, Min | Max), opened))


def _roots(expression: Expr) -> Expr:
    """Square roots of squares of what has a known sign."""

    def root(item: Expr) -> Expr:
        constant, over, under = factor_list(item.base, frac=True)
        factors = [*over, *((base, -times) for base, times in under)]
        if any(times % 2 for _, times in factors):
            return item
        inner = Mul(*(base ** (times // 2) for base, times in factors))
        known = sign(inner)
        return item if known is None else known * inner * sqrt(constant)

    return simplified(expand(expression.replace(lambda power: power.is_Pow and power.exp == Rational(1, 2), root)))


_REWRITINGS: Final[tuple[tuple[str, Callable[[Expr], Expr]], ...]] = (
    ("expansion", lambda e: expand(e)),
    ("powers", _powers),
    ("incomplete gamma functions", lambda e: simplified(_incomplete(e))),
    ("bases of powers", _bases),
    ("factors of minima", lambda e: _minima(e) if e.has(Min, Max) else e),
    ("simplification", lambda e: simplified(expand(expand_log(e), power_base=True))),
    ("recurrence of the gamma function", lambda e: simplified(gammasimp(_powers(_incomplete(e))))),
    ("expansion of special functions", lambda e: simplified(expand_func(e))),
    ("roots of squares", _roots),
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
    return _equal(as_expression(left), as_expression(right))


@lru_cache(maxsize=4096)  # several proofs take the same step
def _equal(left: Expr, right: Expr) -> Equality:
    if not (_is_finite(left) and _is_finite(right)):
        return Equality(False, False, "exact", f"{left} or {right} is no number: infinities are not compared")
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


RANGED: Final = frozenset({symbols.a, symbols.b, symbols.beta})
"""Symbols of the paper whose range is not what their assumptions say: ``beta > 1``, and ``a > b``."""


def in_ranges(expression: Expr) -> Expr:
    """The expression with ``beta = 1 + w`` and ``a = b + w``, w > 0 new, so that sympy's positivity sees the ranges.

    Only the paper's own symbols are meant: a symbol of the same name with other assumptions has no range.
    """
    swaps: dict[Symbol, Expr] = {}
    free = expression.free_symbols
    if symbols.beta in free:
        swaps[symbols.beta] = 1 + Dummy("excess", positive=True)
    if symbols.a in free and symbols.b in free:
        swaps[symbols.a] = symbols.b + Dummy("excess", positive=True)
    ranged = expression.subs(swaps, simultaneous=True)
    # an incomplete gamma function of a positive argument (and, for the lower one, a positive order) is positive
    positive = {
        item: Dummy("incomplete", positive=True)
        for item in ranged.atoms(uppergamma, lowergamma)
        if item.args[1].is_positive
        and (item.args[0].is_real if isinstance(item, uppergamma) else sign(item.args[0]) == 1)
    }
    # so is the zeta function, as a sum of positive terms, where that converges
    positive |= {
        item: Dummy("series", positive=True)
        for item in ranged.atoms(zeta)
        if (item.args[0] - 1).is_positive and (len(item.args) == 1 or item.args[1].is_positive)
    }
    return ranged.xreplace(positive)


def sign(expression: Any) -> int | None:
    """The sign of an expression over all of ``beta > 1, a > b`` and positive symbols; None where it is not decided.

    Examples
    --------
    >>> from fsl_sym.symbols import beta
    >>> sign(1 - 1 / beta), sign(beta - 2)
    (1, None)
    """
    return _sign(as_expression(expression))


@lru_cache(maxsize=4096)
def _sign(expression: Expr) -> int | None:
    ranged = in_ranges(expression)
    rewritings: tuple[Callable[[Expr], Expr], ...] = (
        lambda e: factor(together(e)),
        simplified,
        lambda e: factor(together(_bounded(e))),
    )
    for rewrite in rewritings:
        value = rewrite(ranged)
        if value.is_zero:
            return 0
        if value.is_positive or value.is_negative:
            return 1 if value.is_positive else -1
    return None


def _bounded(expression: Expr) -> Expr:
    """Logarithms and exponentials of arguments with a known sign as any numbers of the range that this leaves them."""
    swaps: dict[Expr, Expr] = {}
    for item in expression.atoms(log, exp):
        beyond = sign(item.args[0] - 1) if isinstance(item, log) else sign(item.args[0])
        if isinstance(item, log) and sign(item.args[0]) != 1:
            continue  # of what may be negative the logarithm is no real number
        if beyond in (1, -1):
            new = Dummy("bounded", positive=True)
            swaps[item] = beyond * new if isinstance(item, log) else (1 + new) ** beyond
    return expression.xreplace(swaps)
