"""What the letters of a claim stand for: each letter of a formula has a meaning, and each definition a letter.

A meaning is one of :data:`~fsl_sym.symbols.MEANINGS` and of :data:`NOTATION`, or a
:class:`~fsl_num.claims.words.Where` of the claim; a hypothesis that is a formula says what its letters are. A
definition is tried where both of its sides are known: at the instances of the claim, and by what it says is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from sympy import Basic, MatrixSymbol, Symbol
from sympy.core.function import AppliedUndef

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.equations import value_of
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.instances import SAME
from fsl_num.claims.texts import lists_of, relations_of
from fsl_num.claims.words import Definition, Where
from fsl_num.model import Model
from fsl_num.simulate.regression import Regression
from fsl_sym.algebra.printing import latex
from fsl_sym.proof import Formula, Property
from fsl_sym.symbols import MEANINGS, beta, s

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
MODEL: Final = frozenset({"E", "K", "e", "lambda_j", "theta_j", "sigma", "rho_-", "rho_+", "W"})
"""What a claim may say of the model though no letter of its formula is it: sums are made of the first two."""


_NAME: Final = "it gives a name, and no value"
BARE: Final[Mapping[str, str]] = MappingProxyType({
    **dict.fromkeys((
        "f is the target", "a(j) are the coefficients of any function", "psi is phi in another order",
        "a(j) are the coefficients of any function on one orthonormal system",
        "c is the vector of the coefficients of f",
        "e_x and e are the standardised features at x and at a random point", "m is the mean of v",
        "xi is the noise of the gradient of a batch", "y is the number of steps left", "N is D, the data", "T is T(k)",
        "eta_0 is free: with eta_0 = eta_1 the sum begins at 2", "R(r, k) is the risk of run r",
        "phi(z) is the learning rate at T^-1(z), and h is 1", "deviation(k) is their standard error",
        "mu is the price of a sample", "k is the noise of a unit of gamma",
        "u_0 and u_1 are |u_0:k| and |u_k:oo|_H of the worst target",
    ), _NAME),
    **dict.fromkeys((
        "R is the time left when the rate leaves its bound, to follow one over the root of the kernel",
        "R is the intrinsic time after the rate has left its bound",
    ), "it is chosen inside of an optimum, and only that is measured"),
    **dict.fromkeys((
        "T is an intrinsic time over which the best rates leave the signal and the noise (int sqrt K)^2/D, "
        "of the order min(M, T^(1/beta))/D",
        "E is that of eqn: fsl-simplified, of the noise that of the labels alone",
        "L_opt is that of c_2 (c_3 + T(k)^-s) sum (eta_(i-1) - eta_i)(1 - (1 + c_4 (T(k) - T(i-1)))^-gamma)",
    ), "it names a law, with whose own least value or order the measurement is compared"),
    **dict.fromkeys((
        "E_opt(s, beta, N) is the least risk over M and gamma at the budget N",
        "eta is the best of rates that never rise", "E is the least risk over g in [0, 1)",
        "gamma_opt(C) is where the risk without noise from the signal is least over M and gamma <= 1",
        "eta_exponential and eta_wsd are the rates eta_max where these are least",
        "E is the least excess risk over constant rates, of the mean", "E is the least risk over peaks up to a bound",
        "gamma(y) is the best with y samples left, never rising", "eta(y) is the best rate up to a bound then",
        "R is the least at which noise and signal are equal",
        "K_2 is the number of samples after the rate has left its bound",
    ), "a search finds it, to fewer digits than definitions are tried to"),
    **dict.fromkeys((
        "E is the excess risk after K steps", "m(t) is the mean of (nu_j - theta_j)^2", "q(t) is that of q_j",
        "q(j, z) is the mean of q_j at z", "excess is the risk over that of the larger batch throughout",
        "N(phi) is the noise over sigma^2", "alpha(f) is its alpha on features of one order",
        "alpha(f, phi) is alpha read off its coefficients on phi", "mu_M is the least eigenvalue of W_0:k H_0:k W_0:k'",
        "e(t) is that with the features beyond M, period by period like the last",
    ), "the measurement has it in one way alone"),
})  # fmt: skip
"""Definitions that nothing is compared with: text -> the reason. All others are tried, or the claim is refused."""
_SIDE: Final = re.compile(r"([^ (]+)(?:\((\w+(?:, \w+)*)\))?")
"""A letter, or a function with its letters."""
_ORDERED: Final[Mapping[str, Any]] = MappingProxyType({
    "<": lambda excess: excess < 0, "<=": lambda excess: excess <= 0, "=": lambda excess: excess == 0,
    "!=": lambda excess: excess != 0,
})  # fmt: skip


def undefined(claim: Claim) -> str:
    """The first letter of a formula that nothing defines, or definition of no letter of the claim; "" where none."""
    parts = parts_of(claim.formula)
    stated = [known for known in claim.hypotheses if isinstance(known, Formula)]
    read = [*stated, *(relation for known in claim.hypotheses for relation in relations_of(known))]
    definitions = [known for where in _of(claim) for known in where.defined]
    defined = {name.replace("~", "tilde") for known in definitions for name in known.names}
    said = {_plain(name) for relation in read for name in _letters(relation)}
    said |= {known.letter for known in claim.hypotheses if isinstance(known, Property)}
    said |= {str(listed.quantity) for known in claim.hypotheses for listed in lists_of(known)}
    said |= {str(part.left) for part in parts if part.relation == "=" and isinstance(part.left, Symbol)}
    standard = {str(letter) for letter in MEANINGS} | NOTATION.keys()
    for name in sorted({name for part in parts for name in _letters(part)} - standard):
        if _plain(name) not in defined | said:
            return f"{name} stands in the formula, and nothing says what it is"
    used = {_plain(name) for relation in (*parts, *stated) for name in _letters(relation, bound=True)} | said | MODEL
    used |= {name for known in definitions for name in re.findall(r"[A-Za-z]\w*", known.meaning)}
    return next((f"{name} is defined, and is no letter of the claim" for name in sorted(defined - used)), "")


def standard_letters(claim: Claim) -> list[str]:
    """What the letters of a formula mean that the claim does not define: those of the paper, as texts.

    >>> from fsl_num.claims.registry import claim
    >>> standard_letters(claim("lemma:convolution-kernel/mass"))
    ['$M$, model size: number of features', '$\\\\beta$, capacity exponent: lambda_j = j^-beta']
    """
    defined = {name for where in _of(claim) for known in where.defined for name in known.names}
    defined |= {str(known.left.func) for known in claim.hypotheses
                if isinstance(known, Formula) and known.relation == "=" and isinstance(known.left, AppliedUndef)}
    meanings = {**NOTATION, **{letter.name: meaning for letter, meaning in MEANINGS.items()}}
    names = sorted({name for part in parts_of(claim.formula) for name in _letters(part)} & meanings.keys())
    return [f"${latex(Symbol(name))}$, {meanings[name]}" for name in names if _plain(name) not in defined]


def not_compared(claim: Claim) -> list[str]:
    """The definitions of a claim that nothing measured is compared with, each with the reason; bare names left out.

    >>> from fsl_num.claims.registry import claim
    >>> not_compared(claim("horizon-free/best-power"))
    ['E is the least risk over g in [0, 1): a search finds it, to fewer digits than definitions are tried to']
    """
    texts = [known.text for where in _of(claim) for known in where.defined]
    return [f"{text}: {BARE[text]}" for text in texts if BARE.get(text, _NAME) != _NAME]


def _plain(name: str) -> str:
    return re.sub(r"\\|(?<=\w)\(.*", "", name)


def _letters(formula: Formula, *, bound: bool = False) -> Iterator[str]:
    """The names of the letters and functions of a formula; also of ``bound`` ones, such as indices of sums."""
    for side in (formula.left, formula.right, formula.error, *((formula.where, formula.variable) if bound else ())):
        if isinstance(side, Basic):
            letters: set[Any] = side.atoms(Symbol, MatrixSymbol) if bound else side.free_symbols
            yield from map(str, letters)
            yield from (str(function.func) for function in side.atoms(AppliedUndef))


def untried(claim: Claim, sample: Sample) -> str:
    """The first definition that nothing at a sample is compared with, and that is no bare name; "" where none is."""
    every = tried(claim, sample, claim.put_in(sample))
    words = (known.text for known, holds in every.items() if holds is None and known.text not in BARE)
    return next((f"{text!r} is said, and nothing measured is compared with it" for text in words), "")


def tried(claim: Claim, sample: Sample, instances: Sequence[Mapping[Any, Any]]) -> dict[Definition, bool | None]:
    """Whether each definition holds at a sample wherever both of its sides are known; None where they nowhere are."""
    wheres = _of(claim)
    outcome: dict[Definition, bool | None] = {known: None for where in wheres for known in where.defined}
    model = _of_model(sample) if wheres else {}
    for instance in (*instances, *({**model, **where.measured(sample)} for where in wheres)):
        given = {str(letter).replace("\\", ""): value for letter, value in instance.items()}
        for definition, holds in outcome.items():
            letters = _Letters(given, tuple(known for known in outcome if known is not definition))
            now = _agrees(definition, given, letters, sample)
            if now is False or (now and holds is None):
                outcome[definition] = now
            for known in letters.used if now else ():  # it is right as far as what it was put into is
                outcome[known] = outcome[known] is not False
    return outcome


def _of(claim: Claim) -> list[Where]:
    return [known for known in claim.hypotheses if isinstance(known, Where)]


def _of_model(sample: Sample) -> dict[str, float]:
    """The third feature of the model; no task has s = 0."""
    if sample.s == 0:
        return {}
    problem = Regression(Model(*sample.point, 3, 0.0), features=3)
    own = {"lambda_j": float(problem.eigenvalues[2]), "theta_j": float(problem.theta[2])}
    return {"j": 3.0, "s": sample.point[0], "beta": sample.point[1], **own}


class _Letters(dict[str, Any]):
    """Values of letters; those that are not given are what ``definitions`` say, and are then ``used``."""

    def __init__(self, given: Mapping[str, Any], definitions: Sequence[Definition]) -> None:
        super().__init__(given)
        self.definitions, self.used = definitions, set[Definition]()

    def at(self, places: Mapping[str, Any]) -> _Letters:
        """The same letters, and some more."""
        letters = _Letters({**self, **places}, self.definitions)
        letters.used = self.used
        return letters

    def __missing__(self, name: str) -> Any:
        known = next((known for known in self.definitions if known.names == (name,)), None)
        side = known and _SIDE.fullmatch(known.sides[0])
        if known is None or not side:
            raise KeyError(name)
        inner = _Letters(self, [other for other in self.definitions if other is not known])
        arguments = _arguments(side)

        def applied(*values: Any) -> Any:
            inner.update(zip(arguments, values, strict=True))
            value = value_of(known.meaning, inner)
            self.used |= {known, *inner.used}
            if value is None:
                raise KeyError(name)
            return value

        return applied if arguments else applied()


def _arguments(side: re.Match[str]) -> list[str]:
    return side[2].split(", ") if side[2] else []


def _agrees(definition: Definition, given: Mapping[str, Any], letters: _Letters, sample: Sample) -> bool | None:
    """Whether all that a definition defines has the value that it says; None where some of it is not known."""
    meaning, _, condition = definition.meaning.partition(" with ")
    within = _within(condition, letters, sample) if condition else True
    if not within:
        return within
    every = [_is(side, meaning, given, letters) for side in definition.sides]
    return False if False in every else None if None in every else True


def _within(condition: str, letters: _Letters, sample: Sample) -> bool | None:
    """Whether a sample, or letters in an order such as "T(i - 1) < t < T(i)", are those that a definition is for."""
    if relations := relations_of(condition):
        here = {s: sample.s, beta: sample.beta}
        return all(_ORDERED[known.relation](known.left.subs(here) - known.right.subs(here)) for known in relations)
    places = [value_of(part, letters) for part in condition.split(" < ")]
    return None if None in places or len(places) < 2 else all(low < high for low, high in pairwise(places))


def _is(side: str, meaning: str, given: Mapping[str, Any], letters: _Letters) -> bool | None:
    """Whether one side of a definition is the other, a function of letters without values at some places."""
    call = _SIDE.fullmatch(side)
    unknown = [letter for letter in (_arguments(call) if call else ()) if letter not in given]
    ranges: list[Sequence[float]] = [(1, 2, 3) if letter in "ijk" else (0.5, 2.0, 30.0) for letter in unknown]
    known = False
    for place in product(*ranges):
        right = value_of(meaning, letters.at(dict(zip(unknown, place, strict=True))))
        if np.ndim(right) == 1 and call is not None and call[2]:  # a list, of which the first letter is the number
            counted = [{**given, _arguments(call)[0]: number} for number in range(1, len(right) + 1)]
            numbered = [value_of(side, places) for places in counted]
            if all(value is None for value in numbered):
                return None
            return None not in numbered and bool(np.allclose(numbered, right, SAME, SAME * np.abs(right).max()))
        left = value_of(side, {**given, **dict(zip(unknown, place, strict=True))})
        if left is None or right is None:
            return None
        if np.ndim(left) and np.shape(left) != np.shape(right):
            return False
        if not np.allclose(left, right, SAME, SAME * np.abs(right).max()):
            return False
        known = True
    return known or None
