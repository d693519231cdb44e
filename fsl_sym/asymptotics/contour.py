"""The residues of an expansion against contour integrals, which know nothing of Laurent series."""

from __future__ import annotations

from typing import Final

from sympy import Add, Expr, Float, I, Integer, Rational, exp, pi, re, zeta

from fsl_sym.algebra.equality import sample_points, simplified
from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.symbols import j

_CIRCLE: Final = 16
"""Points of the trapezoidal rule on the circle around a pole; the error falls like 32^-16 < 1e-24."""

_CIRCLE_RADIUS: Final = Rational(1, 32)
"""In units of the distance to the next singularity, at most 1; a pole of order n costs 1.5 (n - 1) of the digits."""

_CIRCLE_AGREEMENT: Final = Float("1e-20", 40)


def contour_disagreement(expansion: Expansion) -> str | None:
    """Compare the terms with contour integrals of the Mellin integrand around each pole; None if all agree.

    It evaluates Gamma and zeta functions on a circle.
    """
    unknowns = set().union(*[e.free_symbols for e in (expansion.w, expansion.beta, expansion.expression)])
    unknowns |= expansion.sum.free_symbols
    checked = 0
    for point in sample_points(unknowns - {j}, 2):
        if not all(condition.subs(point) == True for condition in expansion.conditions):  # noqa: E712
            continue
        checked += 1
        w, power, x = (e.subs(point) for e in (expansion.w, expansion.beta, expansion.x))
        scale = expansion.prefactor.subs(point)
        parts = [piece.at(point) for piece in expansion.parts]
        special = [piece for piece in parts if piece.rate is not None]
        starts = [e for piece in special for e in (piece.power, piece.power + (piece.order or 0))]
        singular = [-start - n for start in starts for n in range(8)] + [(w - 1) / power]
        for pole in dict.fromkeys(term.pole for term in expansion.terms):
            centre = simplified(pole.subs(point))
            near = [abs(singularity - centre) for singularity in singular if simplified(singularity - centre) != 0]
            radius = _CIRCLE_RADIUS * min([Rational(1), *near])
            total: Expr = Integer(0)
            # All parameters are real: the lower half of the circle holds the conjugates of the upper half.
            for k in range(_CIRCLE // 2 + 1):
                offset = (radius * exp(2 * pi * I * k / _CIRCLE)).evalf(40)
                at = centre + offset
                value = Add(*[piece.transform(at) for piece in parts]) * zeta(w - power * at) * x**-at
                total -= re((value * offset).evalf(40)) * (1 if k in (0, _CIRCLE // 2) else 2)
            claimed = Add(*[t.expression(expansion.x) for t in expansion.terms if t.pole == pole]).subs(point).evalf(40)
            integral = (total * scale / _CIRCLE).evalf(40)
            if abs(integral - claimed) > _CIRCLE_AGREEMENT * abs(claimed):
                return f"residue at {pole}: {claimed.n(12)} claimed, {integral.n(12)} by contour integration"
    return None if checked else "no sample point meets the conditions, so nothing was checked"
