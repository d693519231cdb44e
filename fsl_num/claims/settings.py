"""Hypotheses that are no relations, and what of them is compared with what is measured.

A list of values, "M = 2, 8 and 24", says all that its letters are where the claim is measured; a :class:`Setting`,
"normal and uniform features", all kinds of a thing; "A is positive semidefinite" is tried at the matrices that the
claim is measured at. A :class:`~fsl_num.claims.words.Where` is no hypothesis: it says what a letter stands for, and is
tried by :mod:`~fsl_num.claims.definitions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from sympy import Expr
from sympy.core.function import AppliedUndef

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.definitions import tried
from fsl_num.claims.hypotheses import Located, letters_along, log_along, named
from fsl_num.claims.instances import holds_at
from fsl_num.claims.ranges import ROUNDING, Reached
from fsl_num.claims.texts import OF_ORDER, Listed, lists_of, of_order_one
from fsl_num.claims.words import Setting, joined
from fsl_num.validation import Array
from fsl_sym.proof import Formula, Hypothesis, Property
from fsl_sym.symbols import beta, s

ENTRIES: Final = 1e-10
"""Of the entries of a matrix, relative to the largest: what products leave of a symmetry or of an eigenvalue 0."""


def _symmetric(matrix: Array) -> bool:
    return bool(np.abs(matrix - matrix.T).max() <= ENTRIES * np.abs(matrix).max())


def _positive(matrix: Array) -> bool:
    return _symmetric(matrix) and bool(np.linalg.eigvalsh(matrix)[0] >= -ENTRIES * np.abs(matrix).max())


ORDER_ONE: Final = math.log(10.0)
"""Of the logarithm of a quantity of order 1."""

PREDICATES: Final[Mapping[str, Callable[[Array], bool]]] = {
    "symmetric": _symmetric,
    "positive semidefinite": _positive,
    "of full rank": lambda matrix: bool(np.linalg.matrix_rank(matrix) == min(matrix.shape)),
    "diagonal": lambda matrix: bool(np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0),
}
"""What a matrix may be assumed to be: the words of a :class:`~fsl_sym.proof.Property`, and how it is tried."""


def unlike_measured(claim: Claim, sample: Sample, measured: Any, reached: Reached | None = None) -> str:
    """The first hypothesis in words that something measured at a sample contradicts, and how; "" where none.

    ``reached`` takes what is measured of them.
    """
    return next((why for _, why in _contradicted(claim, sample, measured, reached, or_unnamed=True)), "")


def contradicted(claim: Claim, sample: Sample, measured: Any) -> tuple[str, ...]:
    """The hypotheses in words that something measured contradicts; what it does not name it leaves as it is elsewhere.

    >>> from sympy import Integer
    >>> from fsl_num.claims.registry import claim
    >>> subject, sample = claim("lem:4th_moment_estim"), Sample("easy", Integer(1), Integer(2))
    >>> contradicted(subject, sample, subject.measure(sample))
    ()
    >>> contradicted(subject, sample, Located([], {"A": [np.diag([1.0, -1.0])], "features": "gaussian"}))
    ('A is positive semidefinite',)
    """
    every = _contradicted(claim, sample, measured, None, or_unnamed=False)
    return tuple(dict.fromkeys(str(hypothesis) for hypothesis, _ in every))


def unmeasured(claim: Claim, reached: Reached) -> str:
    """The first value or kind that a claim says and nothing measured has; "" where all are measured.

    >>> from fsl_num.claims.registry import claim
    >>> subject = claim("ass:fsl")
    >>> unmeasured(subject, Reached(said={"normal features": {"gaussian"}, "M = 2, 8 and 24": {"2", "8"}}))
    'M = 2, 8 and 24 is said, and nothing is measured at 24'
    """
    for hypothesis in claim.hypotheses:
        for said in (hypothesis,) if isinstance(hypothesis, Setting) and hypothesis.whole else lists_of(hypothesis):
            values = said.kinds if isinstance(said, Setting) else map(str, said.values)
            missing = [value for value in values if value not in reached.said.get(str(said), ())]
            if missing:
                return f"{said} is said, and nothing is measured at {missing[0]}"
    return ""


def _contradicted(
    claim: Claim, sample: Sample, measured: Any, reached: Reached | None, *, or_unnamed: bool
) -> Iterator[tuple[str | Hypothesis | Listed, str]]:
    """What is contradicted, and how; ``or_unnamed``: also what nothing measured names."""
    logs, names = list(named(measured)), list(_names(measured))
    words: dict[str, Sequence[str]] = {}
    matrices: dict[str, list[Array]] = {}
    for located in _located(measured):
        words |= located.words
        matrices |= {letter: list(every) for letter, every in located.matrices.items()}
    instances = claim.put_in(sample)
    for letter, value in (pair for instance in instances for pair in instance.items()):
        if np.ndim(value) == 2:
            matrices.setdefault(str(letter), []).append(value)
    for definition, holds in tried(claim, sample, instances).items():
        if holds is False:
            why = "is something else where the claim is measured than its definition says"
            yield definition.text, f"{definition.names[0]} {why}"
    settled = {hypothesis.of.name for hypothesis in claim.hypotheses if isinstance(hypothesis, Setting)}
    for name, kinds in words.items():
        if name not in settled:
            yield name, f"{name}: {joined(kinds)} is what is measured, and no hypothesis says so"
    for hypothesis in claim.hypotheses:
        if isinstance(hypothesis, Setting):
            kinds = words.get(hypothesis.of.name) or hypothesis.named(names)
            other = [kind for kind in kinds if kind not in hypothesis.kinds]
            if other or (or_unnamed and hypothesis.kinds and not kinds):
                yield hypothesis, f"{hypothesis} is said, and measured is {other[0] if other else 'none of them'}"
            if reached is not None:
                reached.said.setdefault(str(hypothesis), set()).update(kinds)
        for listed in lists_of(hypothesis):
            values, other_value = _values(listed, sample, logs)
            if other_value or (or_unnamed and not values):
                yield listed, f"{listed} is said, and measured is {other_value or 'none of them'}"
            if reached is not None:
                reached.said.setdefault(str(listed), set()).update(values)
        for quantity in of_order_one(hypothesis):
            sizes = [along for logs in logs if (along := _along(quantity, sample, logs)) is not None]
            if (or_unnamed and not sizes) or any(np.abs(along).max() > ORDER_ONE for along in sizes):
                yield hypothesis, f"{hypothesis} is assumed, and measured is {'another' if sizes else 'none of them'}"
            if reached is not None:
                reached.said.setdefault(f"{quantity}{OF_ORDER}", set())
        if not _holds(hypothesis, matrices, instances, or_unnamed=or_unnamed):
            yield hypothesis, f"{hypothesis} is assumed, and is another for what is put in where the claim is measured"


def _holds(
    hypothesis: str | Hypothesis,
    matrices: Mapping[str, Sequence[Array]],
    instances: Sequence[Any],
    *,
    or_unnamed: bool,
) -> bool:
    """Whether an equation holds at instances, a property for matrices; with ``or_unnamed`` there have to be some.

    A bound of a function is the end of no range that rays come to: it holds at instances, and is attained at one.
    """
    if isinstance(hypothesis, Formula):
        if hypothesis.relation == "<=" and hypothesis.left.has(AppliedUndef):
            return holds_at(hypothesis, instances) is not False
        functions = hypothesis.left.atoms(AppliedUndef) | hypothesis.right.atoms(AppliedUndef)
        indices = {letter: 2 for function in functions for letter in function.free_symbols if letter.is_integer}
        return hypothesis.relation != "=" or all(
            holds_at(hypothesis, [{**indices, **instance}]) is not False for instance in instances
        )
    if not isinstance(hypothesis, Property) or hypothesis.says not in PREDICATES:
        return True
    tried = matrices.get(hypothesis.letter, ())
    # symmetry is of proofs, whose letters need not be measured
    known = bool(tried) or not or_unnamed or hypothesis.says == "symmetric"
    return known and all(PREDICATES[hypothesis.says](np.asarray(matrix)) for matrix in tried)


def _values(listed: Listed, sample: Sample, every: Sequence[Mapping[str, Array]]) -> tuple[list[str], str]:
    """Those of the values listed that something measured has, and the first other value."""
    ends = [log_along(value, {s: sample.s, beta: sample.beta}, {}, 1) for value in listed.values]
    values: list[str] = []
    for logs in every:
        along = _along(listed.quantity, sample, logs)
        if along is None:
            continue
        near = [np.zeros(len(along), dtype=bool) if end is None else _same(along, end[0]) for end in ends]
        other = ~np.logical_or.reduce(near)
        if other.any():
            return values, f"{listed.quantity} = {np.exp(along[other][0]):.6g}"
        values += [str(value) for value, places in zip(listed.values, near, strict=True) if places.any()]
    return values, ""


def _along(quantity: Expr, sample: Sample, logs: Mapping[str, Array]) -> Array | None:
    """The logarithm of a quantity where its letters are named."""
    known = letters_along(logs)
    if not {letter.name for letter in quantity.free_symbols - {s, beta}} <= set(known):
        return None
    return log_along(quantity, {s: sample.s, beta: sample.beta}, known, max(len(log) for log in logs.values()))


def _same(along: Array, end: float) -> Array:
    return np.asarray(along == end if np.isinf(end) else np.abs(along - end) <= ROUNDING * max(1.0, abs(end)))


def _names(measured: Any) -> Iterator[str]:
    """The names of all rays and numbers of a measurement, and the words that stand beside it."""
    name = measured if isinstance(measured, str) else getattr(measured, "name", None)
    if isinstance(name, str):
        yield name
    elif isinstance(measured, Located):
        for word in measured.words.values():
            yield from word
        yield from _names(measured.values)
    elif isinstance(measured, Mapping):
        for key, part in measured.items():
            yield str(key)
            yield from _names(part)
    elif isinstance(measured, list | tuple):
        for part in measured:
            yield from _names(part)


def _located(measured: Any) -> Iterator[Located]:
    """What letters and things are, wherever in a measurement it stands."""
    if isinstance(measured, Located):
        yield measured
        yield from _located(measured.values)
    elif isinstance(measured, Mapping):
        for part in measured.values():
            yield from _located(part)
