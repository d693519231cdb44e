"""Limits at 0 and infinity, maxima and continuity of products of powers, exponentials and incomplete gamma functions.

Nothing is guessed: where the sign of an exponent or of a leading coefficient is not decided over its whole range, there
is no answer.
"""

from __future__ import annotations

from typing import Final

from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    Poly,
    Pow,
    Symbol,
    cos,
    erf,
    exp,
    expand,
    factorial,
    gamma,
    log,
    lowergamma,
    oo,
    powsimp,
    preorder_traversal,
    sin,
    uppergamma,
)
from sympy.core.function import AppliedUndef

from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.values import as_expression


def _split(term: Expr, x: Symbol) -> tuple[Expr, Expr, list[Expr]]:
    """A product as (constant, exponent of x, other factors that hold x)."""
    constant: Expr = Integer(1)
    power: Expr = Integer(0)
    factors: list[Expr] = []
    for item in Mul.make_args(powsimp(expand(term, power_base=True), combine="exp")):
        base, exponent = item.as_base_exp()
        if not item.has(x):
            constant *= item
        elif base == x and not exponent.has(x):
            power += exponent
        else:
            factors.append(item)
    return constant, power, factors


def _leading_sign(argument: Expr, x: Symbol) -> int | None:
    """The sign of a polynomial of x for large x; None for other functions and for constants."""
    if not argument.is_polynomial(x) or not argument.has(x):
        return None
    return sign(Poly(argument, x).LC())


def _limit_at_infinity(term: Expr, x: Symbol) -> Expr | None:
    constant, power, factors = _split(term, x)
    value, decays = constant, False
    for item in factors:
        growth = _leading_sign(item.args[-1], x) if item.args and isinstance(item.args[-1], Expr) else None
        if isinstance(item, exp) and growth == -1:
            decays = True
        elif isinstance(item, uppergamma) and growth == 1 and not item.args[0].has(x):
            decays = True
        elif isinstance(item, lowergamma) and growth == 1 and not item.args[0].has(x):
            value *= gamma(item.args[0])
        else:
            return None
    growth = sign(power)
    if decays or growth == -1:
        return Integer(0)
    return value if growth == 0 else None


_TAYLOR: Final = 4
"""Order to which an exponential is expanded at zero; the remainder is one order higher."""


def _limit_at_zero(expression: Expr, x: Symbol) -> Expr | None:
    expression = expand(expression, power_base=True)
    collected: Expr = Integer(0)
    for term in Add.make_args(expression):
        constant, power, factors = _split(term, x)
        for item in factors:
            argument = item.args[-1]
            if not isinstance(argument, Expr):
                return None
            if isinstance(item, exp) and argument.subs(x, 0) == 0 and argument.is_polynomial(x):
                if sign(power + _TAYLOR + 1) != 1:
                    return None
                constant *= sum((argument**n / factorial(n) for n in range(_TAYLOR + 1)), Integer(0))
            elif isinstance(item, uppergamma) and sign(item.args[0]) == 1 and argument.subs(x, 0) == 0:
                if sign(power) not in (0, 1):
                    return None
                constant *= gamma(item.args[0])
            elif isinstance(item, lowergamma) and sign(item.args[0]) == 1 and not simplified(argument / x).has(x):
                # between 0 and its leading term argument^order / order; a later term of the series is smaller
                power += item.args[0]
                if sign(power) not in (0, 1):
                    return None
                constant *= simplified(argument / x) ** item.args[0] / item.args[0]
            else:
                return None
        collected += constant * x**power
    total: Expr = Integer(0)
    for term in Add.make_args(expand(powsimp(expand(collected, power_base=True)), power_base=True)):
        constant, power, factors = _split(term, x)
        growth = sign(power)
        if factors or growth is None or growth == -1:
            return None
        total += constant if growth == 0 else 0
    return total


def limit_value(expression: Expr, x: Symbol, point: Expr) -> Expr | None:
    """The limit of a sum of products of powers, exponentials and incomplete gamma functions, at 0+ or at infinity.

    The limit is read off term by term, with exponents decided over their whole range; where one is not decided the
    answer is None. Unlike ``sympy.limit`` it never guesses the sign of a symbolic exponent.

    Examples
    --------
    >>> from sympy import exp, oo, uppergamma
    >>> from fsl_sym.symbols import beta, s, t
    >>> limit_value(1 + t ** (1 / beta - 1), t, oo)
    1
    >>> limit_value(t ** (s - 1), t, oo) is None
    True
    """
    expression, x, point = map(as_expression, (expression, x, point))
    if not expression.has(x):
        return expression
    expression, masks = _mask_constants(expression, x)
    value = _masked_limit(expression, x, point)
    return None if value is None else value.xreplace(masks)


def _mask_constants(expression: Expr, x: Symbol) -> tuple[Expr, dict[Symbol, Expr]]:
    """Constant factors such as 1/(beta - 1) as symbols: expansion would multiply them into other denominators."""
    masks: dict[Symbol, Expr] = {}
    terms = []
    for term in Add.make_args(expression):
        constant, varying = term.as_independent(x, as_Add=False)
        if any(item.is_Pow and item.base.is_Add for item in Mul.make_args(constant)):
            mask = Dummy("constant")
            masks[mask] = constant
            constant = mask
        terms.append(constant * varying)
    return Add(*terms), masks


def _masked_limit(expression: Expr, x: Symbol, point: Expr) -> Expr | None:
    if point == oo:
        total: Expr = Integer(0)
        for term in Add.make_args(expand(expression, power_base=True)):
            value = _limit_at_infinity(term, x)
            if value is None:
                return None
            total += value
        return total
    if point == 0:
        return _limit_at_zero(expression, x)
    raise ValueError(f"the limit is taken at 0 or oo, not at {point}; shift the variable first")


def is_continuous(expression: Expr, x: Symbol, lower: Expr, upper: Expr) -> bool:
    """Whether an expression is shown to be a continuous function of x between two ends, the ends left out.

    Powers that are no whole numbers, logarithms and incomplete gamma functions need a positive base or argument (the
    lower gamma function a positive order too), whole negative powers one that is not 0. Functions without a name of
    their own are taken to be continuous; of all but these, exponentials, sines, cosines and erf, and of series,
    integrals and x^x, nothing is shown.

    Examples
    --------
    >>> from fsl_sym.symbols import t
    >>> is_continuous(1 / (t - 1), t, Integer(1), Integer(2)), is_continuous(1 / (t - 1), t, Integer(0), Integer(2))
    (True, False)
    """
    expression, x, lower, upper = map(as_expression, (expression, x, lower, upper))
    share, distance = Dummy("share", positive=True), Dummy("more", positive=True)
    inside = lower + distance if upper == oo else lower + (upper - lower) * share / (1 + share)
    for item in preorder_traversal(expression):
        if not item.has(x) or isinstance(item, (Symbol, Add, Mul, exp, sin, cos, erf, AppliedUndef)):
            continue
        if isinstance(item, Pow):
            base, exponent = item.args
            if base.has(x) and exponent.has(x):
                return False
            if exponent.is_integer and exponent.is_nonnegative:
                continue
            allowed: tuple[int, ...] = (1, -1) if exponent.is_integer else (1,)
        elif isinstance(item, (log, uppergamma, lowergamma)) and not any(
            argument.has(x) for argument in item.args[:-1]
        ):
            if isinstance(item, lowergamma) and sign(item.args[0]) != 1:
                return False
            base, allowed = item.args[-1], (1,)
        else:
            return False
        if sign(base.subs(x, inside)) not in allowed:
            return False
    return True


def maximum_on_half_line(expression: Expr, v: Symbol) -> Expr | None:
    """The exact maximum over ``v > 0`` of ``c v^A exp(-B v)`` with A, B, c > 0; None for any other function.

    Examples
    --------
    >>> from sympy import exp
    >>> from fsl_sym.symbols import t
    >>> maximum_on_half_line(t * exp(-2 * t), t)
    exp(-1)/2
    """
    constant, power, factors = _split(*map(as_expression, (expression, v)))
    if len(factors) != 1 or not isinstance(factors[0], exp) or sign(constant) != 1 or sign(power) != 1:
        return None
    rate = simplified(-factors[0].args[0] / v)
    if rate.has(v) or sign(rate) != 1:
        return None
    # d log / dv = A/v - B changes sign once, from plus to minus, at v = A/B
    return simplified(constant * Pow(power / rate, power) * exp(-power))
