"""Whether what is measured lies where a claim's hypotheses hold: they are read as relations between its letters.

A hypothesis that is a formula is one relation, a text such as "0 < s <= 2 - 1/beta" two. They are compared with the
letters that a measurement names: those of a ray, of the points of a sharp statement, and of :class:`Located`; so is
"sigma the same along a ray".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Expr, Integer, Sum, Symbol, lambdify
from sympy.core.alphabets import greeks

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import compiled
from fsl_num.claims.ranges import NO_END, ROUNDING, Reached, varies
from fsl_num.claims.texts import CONSTRAINT, relations_of, same_along
from fsl_num.validation import Array
from fsl_sym.proof import Formula
from fsl_sym.symbols import beta, s

NOTHING: Final = -700.0
"""The logarithm by which rays name 0, near that of the smallest number in double precision; others may be below it."""
_LETTER: Final = re.compile(rf"(?:[A-Za-z]|{'|'.join(greeks)})(?:_\w+)?")


@dataclass(frozen=True, eq=False)
class Located:
    """A measurement, with the values that letters of the hypotheses had where it was taken: for what names none itself.

    ``letters``: name -> a number, 0 and infinity allowed, or an array of as many as the other arrays; a list of
    matrices; or, of a thing that a hypothesis names in words, its kind or kinds.

    >>> from fsl_num.claims.registry import claim
    >>> from sympy import sympify
    >>> subject = claim("sec: experiments/wsd-against-cosine")
    >>> sorted(subject.measure(Sample("hard", *map(sympify, ("1/2", "4")))).letters)
    ['B', 'K', 'M', 'N', 'eta_max', 'sigma']
    >>> Located([], {"features": "gaussian", "A": [np.eye(2)]}).words
    {'features': ('gaussian',)}
    """

    values: Any
    letters: Mapping[str, Any]

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The kinds of things that are named in words."""
        texts = {name: value for name, value in self.letters.items() if isinstance(np.ravel(value)[0], str)}
        return {name: (text,) if isinstance(text, str) else tuple(text) for name, text in texts.items()}

    @property
    def matrices(self) -> dict[str, Sequence[Array]]:
        """The matrices that letters are."""
        lists = {name: value for name, value in self.letters.items() if isinstance(value, list)}
        return {name: value for name, value in lists.items() if np.ndim(value[0]) == 2}

    @property
    def logs(self) -> dict[str, Array]:
        """The logarithms of the letters that are numbers, all of one length."""
        numbers = {name: value for name, value in self.letters.items() if name not in {**self.words, **self.matrices}}
        arrays = np.broadcast_arrays(*map(logarithm, numbers.values()))
        return dict(zip(numbers, map(np.atleast_1d, arrays), strict=True))


def logarithm(values: Any) -> Array:
    """The natural logarithm as rays name it: :data:`NOTHING` for 0, and below 0 nan, for which no relation holds.

    >>> logarithm([0.0, 1.0, -1.0]).tolist()
    [-700.0, 0.0, nan]
    """
    numbers = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numbers == 0.0, NOTHING, np.log(numbers))


def bare(measured: Any) -> Any:
    """What a statement judges: a measurement without the values of letters that stand beside it, or beside its parts.

    >>> bare(Located({"risk": Located([1.0], {"K": 10})}, {"sigma": 3}))
    {'risk': [1.0]}
    """
    if isinstance(measured, Located):
        return bare(measured.values)
    if isinstance(measured, list | tuple) and any(isinstance(part, Located) for part in measured):
        return [bare(part) for part in measured]
    return {name: bare(part) for name, part in measured.items()} if isinstance(measured, Mapping) else measured


def violated(claim: Claim, sample: Sample, measured: Any, reached: Reached | None = None) -> str:
    """The first hypothesis of a claim that does not hold for something measured, and where; "" where all hold.

    So is a relation between letters that nothing measured names together: whether it holds is not known. ``reached``
    takes what is measured of the ranges.
    """
    every = list(named(measured))
    read = relations_assumed(claim)
    if reached is not None:
        reached.add(every)
    constraints = {
        relation for text in claim.hypotheses if str(text).startswith(CONSTRAINT) for relation in relations_of(text)
    }
    known = _of_letters(read, every)
    for relation, letters_beside, point, rays, holds, gaps in _comparisons(claim, sample, every, known):
        if reached is not None and letters_beside and relation not in constraints:
            reached.come(
                relation, gaps, any(varies(logs[name]) for logs in rays for name in letters_beside & logs.keys())
            )
        if not holds:
            return f"{relation} does not hold where the claim is measured, at s = {point[0]}, beta = {point[1]}"
    for hypothesis in claim.hypotheses:
        for letter in same_along(hypothesis):
            along = [_letter(letter, logs) for logs in every if letter in _known(logs)]
            if not along or any(np.ptp(log) > ROUNDING for log in along):
                said = "varies along one" if along else "is named by nothing measured"
                return f"{hypothesis} is assumed, and {letter} {said}"
    judged = [relation for relation, _ in known]
    unknown = next((relation for relation in read if relation not in judged), None)
    return f"{unknown} is assumed, and nothing measured names all of its letters" if unknown is not None else ""


def broken(claim: Claim, sample: Sample, measured: Any) -> tuple[Formula, ...]:
    """The relations of a claim that do not hold for something measured at a sample.

    >>> from fsl_num.claims.registry import claim
    >>> subject = claim("thm:fsl-zero-noise")
    >>> [str(relation) for relation in broken(subject, Sample("easy", Integer(2), Integer(2)), [])]
    ['s <= 2 - 1/beta']
    """
    every = list(named(measured))
    compared = _comparisons(claim, sample, every, _of_letters(relations_assumed(claim), every))
    return tuple(dict.fromkeys(relation for relation, *_, holds, _ in compared if not holds))


def relations_assumed(claim: Claim) -> tuple[Formula, ...]:
    """All relations among the hypotheses of a claim, each once."""
    return tuple(dict.fromkeys(relation for hypothesis in claim.hypotheses for relation in relations_of(hypothesis)))


def letters_of(relation: Formula) -> set[Symbol]:
    """The letters of both sides of a relation."""
    return set(relation.left.free_symbols | relation.right.free_symbols)


def _comparisons(
    claim: Claim, sample: Sample, every: Sequence[Mapping[str, Array]], known: Sequence[tuple[Formula, set[Symbol]]]
) -> Iterator[tuple[Formula, set[str], Sequence[Any], Sequence[Mapping[str, Array]], bool, Array]]:
    """Each relation known with its letters, those beside s and beta, at each point and along the rays that name them;
    whether it holds there, and how near what is measured comes to its end, and of what size the end is there."""
    own, alone = claim.own(sample.s, sample.beta), {"": np.zeros(1)}
    same: dict[frozenset[str], list[Mapping[str, Array]]] = {}
    for ray in every:
        same.setdefault(frozenset(ray), []).append(ray)
    joined = [(rays, {name: np.concatenate([ray[name] for ray in rays]) for name in rays[0]}) for rays in same.values()]
    for relation, letters in known:
        beside = {letter.name for letter in letters - {s, beta}}
        places = {tuple(number for letter, number in zip((s, beta), point, strict=True) if letter in letters)
                  for point in own}  # fmt: skip
        if beside and len(places) > 1:  # which of its points a ray belongs to is not known
            continue
        for point in own:
            values = {letter: number for letter, number in zip((s, beta), point, strict=True) if letter in letters}
            for rays, logs in joined if beside else [([alone], alone)]:
                if beside <= _known(logs):
                    whole = _compared(relation, values, logs)  # None: rays that have logarithms count alone
                    parts = [whole] if whole else [_compared(relation, values, ray) or (True, NO_END) for ray in rays]
                    gaps = np.concatenate([part[1] for part in parts], axis=1)
                    yield relation, beside, point, rays, all(part[0] for part in parts), gaps


def unvaried(claim: Claim, reached: Reached) -> str:
    """The first letter with one value in all that is measured, which no hypothesis fixes; "" where there is none.

    >>> from fsl_num.claims.registry import claim
    >>> unvaried(claim("thm:fsl-zero-noise"), Reached(values={"t": None, "sigma^2": NOTHING, "M": 0.0}))
    'M has the value 1 in all that is measured, and no hypothesis says so'
    """
    fixed = {letter.name for relation in relations_assumed(claim) if relation.relation == "="
             for letter in letters_of(relation)}  # fmt: skip
    fixed |= {re.split(" = | of order |[*]", text)[0] for text in reached.said}
    fixed |= {letter for hypothesis in claim.hypotheses for letter in same_along(hypothesis)}
    for name, value in reached.values.items():
        letter = name.removesuffix("^2")
        if value is not None and _LETTER.fullmatch(letter) and letter not in fixed:
            known = 0.0 if value <= NOTHING else math.exp(value)
            return f"{name} has the value {known:.3g} in all that is measured, and no hypothesis says so"
    return ""


def _of_letters(
    relations: Sequence[Formula], every: Sequence[Mapping[str, Array]]
) -> list[tuple[Formula, set[Symbol]]]:
    """The relations whose letters something measured names, with those letters."""
    beside = [{"s", "beta"} | _known(logs) for logs in every] or [{"s", "beta"}]
    return [
        (relation, letters)
        for relation in relations
        for letters in [letters_of(relation)]
        if any({letter.name for letter in letters} <= names for names in beside)
    ]


def _known(logs: Mapping[str, Array]) -> set[str]:
    return set(logs) | ({"sigma"} if "sigma^2" in logs else set())


def _letter(name: str, logs: Mapping[str, Array]) -> Array:
    return logs[name] if name in logs else logs[f"{name}^2"] / 2


def named(measured: Any) -> Iterator[Mapping[str, Array]]:
    """The logarithms of the letters of each ray, and of each point of a sharp statement."""
    logs = getattr(measured, "logs", None)
    if isinstance(measured, Located):
        inner = list(named(measured.values))
        yield from filter(None, (measured.logs,))
        shared = {name: log[0] for name, log in measured.logs.items() if log.size == 1}  # all along what is measured
        for ray in filter(None, inner):
            yield {**{name: np.full(np.shape(next(iter(ray.values()))), log) for name, log in shared.items()}, **ray}
    elif isinstance(logs, Mapping):
        # of random draws there is an array for each model size, or one number for all draws of it
        pieces = [np.broadcast_arrays(*map(np.ravel, parts)) for parts in zip(*logs.values(), strict=True)]
        yield dict(zip(logs, map(np.concatenate, zip(*pieces, strict=True)), strict=True))
    elif isinstance(measured, Mapping):
        for part in measured.values():
            yield from named(part)
    elif isinstance(measured, list | tuple):
        if len(measured) == 2 and isinstance(measured[0], Mapping):
            numbers = {name: number for name, number in measured[0].items() if _positive(number)}
            yield {name: np.array([float(np.log(float(number)))]) for name, number in numbers.items()}
        else:
            for part in measured:
                yield from named(part)


def _positive(value: Any) -> bool:
    try:
        return 0.0 < float(value) < float("inf")
    except (TypeError, ValueError, OverflowError):
        return False


def letters_along(logs: Mapping[str, Array]) -> dict[str, Array]:
    """The logarithms of letters as rays name them, those of 0 minus infinity; of sigma^2 that of sigma too."""
    along = {name: np.where(log == NOTHING, -np.inf, log) for name, log in logs.items()}
    return along | ({"sigma": along["sigma^2"] / 2} if "sigma^2" in along else {})


def _compared(relation: Formula, point: Mapping[Symbol, Any], logs: Mapping[str, Array]) -> tuple[bool, Array] | None:
    """Whether a relation holds at every place, how near it comes to its end, and how large that is; None where one of
    its sides has no logarithm."""
    sizes = {len(log) for log in logs.values()}
    shared = letters_along(logs)
    left, right = (log_along(side, point, shared, max(sizes)) for side in (relation.left, relation.right))
    if left is None or right is None:
        return None
    slack = ROUNDING * np.maximum(1.0, np.minimum(np.abs(right), 1e3))
    if relation.relation == "=":
        return bool(np.all(np.isclose(left, right, rtol=0.0, atol=slack))), NO_END
    if relation.relation == "!=":
        return bool(np.all(left != right)), NO_END
    within = left <= right + slack if relation.relation == "<=" else left < right
    # an end at 0 or at infinity is none that could be reached
    finite = np.isfinite(left) & np.isfinite(right)
    gaps = np.stack([right[finite] - left[finite], np.minimum(np.abs(left[finite]), np.abs(right[finite]))])
    return bool(np.all(within | ((left == -np.inf) & (right > -np.inf)))), gaps


def log_along(side: Any, point: Mapping[Symbol, Any], logs: Mapping[str, Array], size: int) -> Array | None:
    """The logarithm of one side along a ray; None where it has none, being negative."""
    value, law = _law(side, tuple(point.items()))
    if not value.free_symbols:
        return np.full(size, np.log(float(value))) if value > 0 else np.full(size, -np.inf) if value == 0 else None
    try:
        if law is not None:
            return np.asarray(law(logs))
    except (KeyError, ValueError):
        pass
    # with a difference, or a quotient in a power: from the letters themselves
    letters, function = _function(value)
    with np.errstate(all="ignore"):
        numbers = [np.exp(logs[letter.name]) for letter in letters]
        direct = np.log(_summed(function, numbers) if value.has(Sum) else function(*numbers))
    return np.broadcast_to(direct, (size,)) if np.all(np.isfinite(direct)) else None


@lru_cache(maxsize=256)  # a claim is measured along many rays at one point
def _law(side: Any, point: tuple[tuple[Symbol, Any], ...]) -> tuple[Any, Callable[[Mapping[str, Array]], Array] | None]:
    """One side with the point put in, and its logarithm as a function of those of its letters where it is an order."""
    value = side.subs(dict(point))
    if not value.free_symbols:
        return value, None
    try:
        law, exponents, *_ = compiled(value, {s: Integer(0), beta: Integer(0), **dict(point)})
    except ValueError:
        return value, None
    return value, partial(law, exponents)


@lru_cache(maxsize=256)
def _function(value: Expr) -> tuple[list[Symbol], Callable[..., Any]]:
    """An expression as a function of its letters, in the order of their names."""
    letters = sorted(value.free_symbols, key=str)
    return letters, lambdify(letters, value)


def _summed(law: Callable[..., float], numbers: Sequence[Array]) -> Array:
    """A law with a sum up to one of its letters, place by place; numbers that are whole up to rounding are whole."""
    rows, place = np.unique(np.stack(numbers, axis=-1), axis=0, return_inverse=True)
    sums = [law(*(round(number) if abs(number - round(number)) <= ROUNDING * number else number for number in row))
            for row in rows.tolist()]  # fmt: skip
    return np.array(sums)[place.ravel()]  # numpy 2.0 gives the places as a column
