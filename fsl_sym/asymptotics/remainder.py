"""What a harmonic sum differs from its expansion by at most, in closed form; nothing here rests on the transform.

The summands of ``sum_j j^-w f(j^-beta x)`` are powers, of which the expansion leaves nothing out, and
``v^h F(c x v)`` with ``v = j^-beta``, ``h = k + w/beta``, F one of ``exp(-y)`` and ``Gamma(q, y)``. Such a summand
rises with j to one peak, or to a constant, so that Euler and Maclaurin's formula bounds the difference of sum and
integral.
"""

from __future__ import annotations

from sympy import Add, Expr, Integer, S, Symbol, gamma, oo

from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.asymptotics.mellin_transform import Piece
from fsl_sym.values import as_expression


def remainder_bound(parts: tuple[Piece, ...], w: Expr, beta: Expr, x: Symbol) -> Expr:
    """What the sum over all modes differs from its terms by at most, at every x > 0.

    For h > 0 a summand falls to 0 on both sides of its peak: sum and integral, continued in w, differ by the peak at
    most. For h = 0 it rises to a constant, half of which stands in the terms; as its slope has one extreme, or two for
    h > 0, Euler and Maclaurin's formula leaves an eighth of the variation of the slope, ``x^(-1/beta)`` smaller.

    Raises
    ------
    ValueError
        A summand has h < 0, or its sign is not known: it grows without bound in j.

    Examples
    --------
    >>> from sympy import exp
    >>> from fsl_sym.asymptotics.mellin_transform import pieces
    >>> from fsl_sym.symbols import beta, t
    >>> u = Symbol("u", positive=True)
    >>> remainder_bound(pieces(exp(-2 * u), u), 2 * beta, beta, t)
    exp(-2)/t**2
    """
    fading = [(piece, piece.power + w / beta) for piece in parts if piece.rate is not None]
    signs = [sign(height) for _, height in fading]
    if not set(signs) <= {0, 1}:
        f = Add(*[piece.value(x) for piece in parts])
        raise ValueError(
            f"no bound in closed form: each u^k exp(-c u) and u^k lowergamma(q, c u) of {f}, "
            f"times j^-{w} at u = j^-{beta} {x}, must be shown not to grow with j"
        )
    bound = _peak if all(known == 1 for known in signs) else _slopes
    return simplified(Add(*[abs(piece.coefficient) * x**piece.power * bound(piece, h, beta, x) for piece, h in fading]))


def tail_bound(parts: tuple[Piece, ...], w: Expr, beta: Expr, x: Symbol, size: Expr) -> Expr:
    """What the modes beyond the first ``size`` add at most, at every x > 0: 0 where ``size`` is infinite.

    The integrals of j^-w times the bounds ``u^k`` of ``u^k exp(-c u)``, and ``c^q u^(k + q)/q`` of
    ``u^k lowergamma(q, c u)``.

    Raises
    ------
    ValueError
        ``size`` is not known to be positive; or such an integral diverges, or may.

    Examples
    --------
    >>> from sympy import exp
    >>> from fsl_sym.asymptotics.mellin_transform import pieces
    >>> from fsl_sym.symbols import M, beta, t
    >>> u = Symbol("u", positive=True)
    >>> tail_bound(pieces(exp(-2 * u), u), 2 * beta, beta, t, M), tail_bound((), beta, beta, t, oo)
    (M**(1 - 2*beta)/(2*beta - 1), 0)
    """
    size = as_expression(size)
    if size == oo:
        return Integer(0)
    if sign(size) != 1:
        raise ValueError(
            f"size must be a number of modes: positive, oo, or a letter that is known to be positive, not {size}"
        )
    beyond: Expr = Integer(0)
    for piece in parts:
        factor, power = abs(piece.coefficient), piece.power
        if piece.rate is not None and piece.order is not None:
            factor, power = factor * piece.rate**piece.order / piece.order, power + piece.order
        falls = simplified(w + beta * power - 1)
        if sign(falls) != 1:
            raise ValueError(f"beyond {size} modes the bound is a sum of j^-({falls + 1}), not known to converge")
        beyond += factor * x**power * size**-falls / falls
    return simplified(beyond)


def _highest(power: Expr) -> Expr:
    """The peak of ``y^power exp(-y)``."""
    return (power / S.Exp1) ** power


def _peak(piece: Piece, height: Expr, beta: Expr, x: Symbol) -> Expr:
    """The peak of ``v^height F(c x v)``; y^h Gamma(q, y) is at most Gamma(q + h), as t^h rises under the integral."""
    top = _highest(height) if piece.order is None else gamma(piece.order + height)
    return top * (piece.rate * x) ** -height


def _slopes(piece: Piece, height: Expr, beta: Expr, x: Symbol) -> Expr:
    """An eighth of the variation of the slope of ``v^height F(c x v)`` in j, which has at most two extremes.

    The slope is ``-beta v^(1/beta)`` times ``height F - (c x v)^q exp(-c x v)``, q = 1 for the exponential: one part
    falls and one rises, each at most its own peak, and the variation is at most twice their sum.
    """
    step = 1 / beta
    order = S.One if piece.order is None else piece.order
    falling = _highest(height + step) if piece.order is None else gamma(order + height + step)
    steepest = height * falling + _highest(height + order + step)
    return beta / 4 * steepest * (piece.rate * x) ** (-height - step)
