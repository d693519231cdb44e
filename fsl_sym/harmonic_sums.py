"""Derivations of asymptotic expansions: one step from a sum to its residues."""

from __future__ import annotations

from sympy import Expr

from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.proof import Derivation, Residues, Step, Termwise


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
