"""What the letters of a claim stand for: each letter of a formula has a meaning, and each definition a letter.

A meaning is one of :data:`~fsl_sym.symbols.MEANINGS` and of :data:`NOTATION`, or a
:class:`~fsl_num.claims.words.Where` of the claim; a hypothesis that is a formula says what its letters are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final

from sympy import Basic, MatrixSymbol, Symbol
from sympy.core.function import AppliedUndef

from fsl_num.claims.claim import Claim
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.texts import lists_of, relations_of
from fsl_num.claims.words import Where
from fsl_sym.algebra.printing import latex
from fsl_sym.proof import Formula, Property
from fsl_sym.symbols import MEANINGS

NOTATION: Final = MappingProxyType({
    r"\phi": "features of a sample", r"\theta": "weights of the target", r"\theta_1": "those of the first M features",
    r"\theta_2": "those of the others", "v": "weights of the model", "nu": "weights in intrinsic time",
    "u": "residual W'v - theta at the start", "H": "covariance of the features", "W": "projection to M features",
    "d": "a direction", "e_j": "unit vector of a coordinate", "dR": "gradient of the risk",
    r"\Sigma": "covariance of the gradient of one sample", "Sigma": "covariance of the gradient of one sample",
    r"\rho_-": "lower constant of hypercontractivity", r"\rho_+": "upper constant of hypercontractivity",
    "phi": "learning rate in physical time", "eta": "learning rate of a step", "eta_max": "largest learning rate",
    "gamma_max": "largest learning rate over batch size", "gamma_opt": "best learning rate over batch size",
    "h": "physical time between two steps", "k": "number of a step, or an index", "J": "number of terms",
    **dict.fromkeys(("delta", "x", "y", "A"), "a positive number"),
    "c": "a positive constant", **{f"c_{n}": "a constant" for n in range(6)},
    "q": "share of the steps or of the horizon in the decay", "rho": "last over largest rate",
    "alpha": "s beta", "sigma_0": "standard deviation of the label noise of clean data",
    "delta_M": "what M features leave of the signal", "T^k g": "the k-th power of the Volterra operator on its source",
    "T_end": "total intrinsic time", "tau_end": "total physical time", "L": "loss", "L_0": "least loss",
    **{name: "a constant of a law of losses" for name in ("A_1", "A_2", "kappa", "kappa_1", "kappa_2")},
    **{f"E_{name}": f"final risk, {name}" for name in ("constant", "cosine", "exponential", "wsd")},
})  # fmt: skip
"""Letters of the paper that are no symbols of :mod:`fsl_sym.symbols`: name -> what it stands for."""
MODEL: Final = frozenset({"E", "K", "e", "lambda_j", "theta_j", "epsilon", "rho_-", "rho_+"})
"""What a claim may say of the model though no letter of its formula is it: sums are made of the first two."""


def undefined(claim: Claim) -> str:
    """The first letter of a formula that nothing defines, or definition of no letter of the claim; "" where none."""
    parts = parts_of(claim.formula)
    stated = [known for known in claim.hypotheses if isinstance(known, Formula)]
    read = [*stated, *(relation for known in claim.hypotheses for relation in relations_of(known))]
    definitions = [known for where in claim.hypotheses if isinstance(where, Where) for known in where.defined]
    defined = {name.replace("~", "tilde") for names, _ in definitions for name in names}
    said = {_plain(name) for relation in read for name in _letters(relation)}
    said |= {known.letter for known in claim.hypotheses if isinstance(known, Property)}
    said |= {str(listed.quantity) for known in claim.hypotheses for listed in lists_of(known)}
    said |= {str(part.left) for part in parts if part.relation == "=" and isinstance(part.left, Symbol)}
    standard = {str(letter) for letter in MEANINGS} | NOTATION.keys()
    for name in sorted({name for part in parts for name in _letters(part)} - standard):
        if _plain(name) not in defined | said:
            return f"{name} stands in the formula, and nothing says what it is"
    used = {_plain(name) for relation in (*parts, *stated) for name in _letters(relation, bound=True)} | said | MODEL
    used |= {name for _, meaning in definitions for name in re.findall(r"[A-Za-z]\w*", meaning)}
    return next((f"{name} is defined, and is no letter of the claim" for name in sorted(defined - used)), "")


def standard_letters(claim: Claim) -> list[str]:
    """What the letters of a formula mean that the claim does not define: those of the paper, as texts.

    >>> from fsl_num.claims.registry import claim
    >>> standard_letters(claim("lemma:convolution-kernel/mass"))
    ['$M$, model size: number of features', '$\\\\beta$, capacity exponent: lambda_j = j^-beta']
    """
    definitions = [known for where in claim.hypotheses if isinstance(where, Where) for known in where.defined]
    defined = {name for names, _ in definitions for name in names}
    defined |= {str(known.left.func) for known in claim.hypotheses
                if isinstance(known, Formula) and known.relation == "=" and isinstance(known.left, AppliedUndef)}
    meanings = {**NOTATION, **{letter.name: meaning for letter, meaning in MEANINGS.items()}}
    names = sorted({name for part in parts_of(claim.formula) for name in _letters(part)} & meanings.keys())
    return [f"${latex(Symbol(name))}$, {meanings[name]}" for name in names if _plain(name) not in defined]


def _plain(name: str) -> str:
    return re.sub(r"\\|(?<=\w)\(.*", "", name)


def _letters(formula: Formula, *, bound: bool = False) -> Iterator[str]:
    """The names of the letters and functions of a formula; also of ``bound`` ones, such as indices of sums."""
    for side in (formula.left, formula.right, formula.error, *((formula.where, formula.variable) if bound else ())):
        if isinstance(side, Basic):
            letters: set[Any] = side.atoms(Symbol, MatrixSymbol) if bound else side.free_symbols
            yield from map(str, letters)
            yield from (str(function.func) for function in side.atoms(AppliedUndef))
