"""Derivations of asymptotic expansions: the Mellin transforms of the class, and one step from a sum to its residues."""

from __future__ import annotations

from sympy import Expr, Integral, S, Symbol, exp, lowergamma, oo, uppergamma

from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.asymptotics.mellin_transform import Piece
from fsl_sym.proof import Antiderivative, Derivation, Residues, Step, Termwise, chains


def transform_table() -> tuple[Derivation, ...]:
    """The two entries of the table from their integrals, with k absorbed in z (q = z + k).

    Examples
    --------
    >>> [entry.verify().holds for entry in transform_table()]
    [True, True]
    """
    u, c, q, m = (Symbol(name, positive=True) for name in ("u", "c", "q", "m"))
    exponential = Step(
        Integral(u ** (q - 1) * exp(-c * u), (u, 0, oo)),
        Piece(S.One, S.Zero, c).transform(q),
        Antiderivative(-(c**-q) * uppergamma(q, c * u)),
        "minus the upper incomplete gamma function is an antiderivative",
    )
    # the transform at z = -q < 0 of the function of order m + q, so that the strip -m - q < z < 0 holds z
    order = m + q
    incomplete = Step(
        Integral(u ** (-q - 1) * lowergamma(order, c * u), (u, 0, oo)),
        Piece(S.One, S.Zero, c, order).transform(-q),
        Antiderivative(-(u**-q) * lowergamma(order, c * u) / q + c**q * lowergamma(m, c * u) / q),
        "by parts: both boundary terms vanish inside the strip",
    )
    return chains("Mellin table", "Mellin transforms of the class", (exponential, incomplete))


def expansion_derivation(
    name: str, title: str, expansion: Expansion, source: str = "", begins: Expr | None = None
) -> Derivation:
    """A harmonic sum and its residues; ``begins`` is the sum as it is written elsewhere, where it is.

    >>> from fsl_sym.spectrum import signal_asymptotics
    >>> expansion_derivation("signal", "Signal", signal_asymptotics()).verify().holds
    True
    """
    why = "poles of the Mellin transform right of the fundamental strip"
    step = Step(expansion.sum, expansion.expression, Residues(expansion), why)
    written = () if begins is None else (Step(begins, expansion.sum, Termwise(), "mode by mode"),)
    return Derivation(name, title, (*written, step), source)
