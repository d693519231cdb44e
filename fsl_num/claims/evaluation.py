"""Derived expressions as numbers: what the symbolic side says at an exact point, and how far the sums may be off it.

>>> from fsl_sym.symbols import beta, t
>>> print(number(t ** (1 / beta), {"t": 16, "beta": 2}))
4.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from sympy import Add, Expr, Float, Function, Rational, Sum, exp, lambdify, sympify

from fsl_num.claims.statements import Sharp
from fsl_num.exponential_sums_digits import private_context
from fsl_sym.proof.bound_letters import canonical

DIGITS = 40
"""Digits of measured and claimed numbers where a claim is sharp."""

Point = Mapping[str, Any]


def number(expression: Any, point: Point, digits: int = DIGITS + 5) -> Any:
    """The expression at a point {name of a symbol: exact value or float}, as an mpf; finite sums are summed.

    Raises ValueError where a symbol has no value.
    """
    return _number(sympify(expression), tuple(sorted(point.items())), digits)


@cache
def _number(expression: Expr, point: tuple[tuple[str, Any], ...], digits: int) -> Any:
    values = {name: Rational(value) if isinstance(value, float) else sympify(value) for name, value in point}
    missing = sorted(str(symbol) for symbol in expression.free_symbols if symbol.name not in values)
    if missing:
        raise ValueError(f"no value for {', '.join(missing)} at the point {dict(point)}")
    evaluated = expression.xreplace({symbol: values[symbol.name] for symbol in expression.free_symbols})
    if evaluated.has(Sum):
        evaluated = evaluated.replace(Sum, lambda *parts: _summed(Sum(*parts), digits))
    return _context(digits).mpf(str(evaluated.evalf(digits + 5)))


_context = cache(private_context)


def _summed(series: Sum, digits: int) -> Expr:
    """A sum over whole numbers term by term, to more digits than are asked for; another one as sympy knows it."""
    (index, first, last), *inner = series.limits
    if inner or not (first.is_Integer and last.is_Integer) or series.function.free_symbols - {index}:
        return series.doit()
    places = range(int(first), int(last) + 1)
    if not {function.func for function in series.function.atoms(Function)} <= {exp}:
        return Add(*(series.function.evalf(digits + 15, subs={index: place}) for place in places))
    context = _context(digits + 15)
    term = lambdify(index, series.function, [{"exp": context.exp, "mpf": context.mpf}, "mpmath"])
    return Float(str(context.fsum(term(context.mpf(place)) for place in places)), digits + 15)


def sharp(
    expression: Any,
    parameters: Point,
    remainder: Callable[[Point], float] | float,
    wrong: Mapping[str, Any],
    *,
    scale: str | None = None,
) -> Sharp:
    """The statement that a measured number is the expression, to the relative remainder, at points {name: value}.

    ``parameters`` (s and beta) join every point; ``wrong`` are expressions that must be refuted; ``scale`` names the
    variable whose power is moved by the mutants of the exponent (none where the value is no power of it).
    """

    def claimed(factor: Any, power: float = 0.0) -> Callable[[Point], Any]:
        def value(point: Point) -> Any:
            constant = number(factor, {**parameters, **point})
            return constant * constant.context.mpf(point[scale]) ** power if power and scale else constant

        return value

    mutants = {name: claimed(expression_wrong) for name, expression_wrong in wrong.items()}
    if scale:
        mutants |= {f"power of {scale} {sign} 0.05": claimed(expression, float(f"{sign}0.05")) for sign in "+-"}
    return Sharp(
        claimed(expression),
        remainder,
        mutants,
        lambda kind, size: [claimed(expression, sign * size) for sign in (1, -1) if kind == "power" and scale],
        formulas=() if sympify(expression).is_number else (canonical(expression),),
    )


def smooth_sum_error(power: float, t: float, beta: float, order: float = 0.0) -> float:
    r"""How far sum_j u_j^order j^-power exp(-u_j), u_j = 2 t j^-beta, is from its integral, for M infinite.

    By Poisson summation the difference is 2 Re sum_k int y^-power u^order exp(-2 t y^-beta + 2 pi i k y) dy. For k = 1
    the saddle point lies at |y| = (beta t/pi)^(1/(beta+1)), angle pi/(2 (beta+1)), with exponent
    2 pi i y (1 + 1/beta) and width sqrt(|y|/(beta+1)); the others are smaller. Twice this leading term is returned, for
    the terms beyond the leading one; it holds where |y| is large against power (a test measures it).
    """
    y = (beta * t / math.pi) ** (1 / (beta + 1))
    exponent = -2 * math.pi * (1 + 1 / beta) * y * math.sin(math.pi / (2 * (beta + 1)))
    u = 2 * math.pi * y / beta
    logarithm = math.log(4.0) - power * math.log(y) + order * math.log(u) + 0.5 * math.log(y / (beta + 1)) + exponent
    return math.exp(max(logarithm, -700.0))


def points(name: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """One point for each value of one variable."""
    return [{name: value} for value in values]
