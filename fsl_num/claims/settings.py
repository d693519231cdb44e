"""Hypotheses that are no relations, and what of them is compared with what is measured.

A list of values, "M = 2, 8 and 24", says all that its letters are where the claim is measured; a :class:`Setting`,
"normal and uniform features", all kinds of a thing; "A is positive semidefinite" is tried at the matrices that the
claim is measured at. A :class:`~fsl_num.claims.words.Where` is no hypothesis: it says what a letter stands for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from sympy import Expr
from sympy.core.function import AppliedUndef

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.equations import value_of
from fsl_num.claims.hypotheses import Located, letters_along, log_along, named
from fsl_num.claims.instances import SAME, holds_at
from fsl_num.claims.ranges import ROUNDING, Reached
from fsl_num.claims.texts import OF_ORDER, Listed, lists_of, of_order_one
from fsl_num.claims.words import Setting, Where, joined
from fsl_num.model import Model
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array
from fsl_sym.proof import Formula, Hypothesis, Property
from fsl_sym.symbols import beta, s

ENTRIES: Final = 1e-10
"""Of the entries of a matrix, relative to the largest: what products leave of a symmetry or of an eigenvalue 0."""


def _symmetric(matrix: Array) -> bool:
    return bool(np.abs(matrix - matrix.T).max() <= ENTRIES * np.abs(matrix).max())


def _positive(matrix: Array) -> bool:
    return _symmetric(matrix) and bool(np.linalg.eigvalsh(matrix)[0] >= -ENTRIES * np.abs(matrix).max())


_EIGENVALUES: Final = "the eigenvalues of "
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
    if letter := _unlike_defined(claim, instances, sample):
        yield letter, f"{letter} is something else where the claim is measured than its definition says"
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


def _of_model(sample: Sample) -> dict[str, float]:
    """The third feature of the model: lambda_j, and as theta_j what definitions call theta_j^2; no task has s = 0."""
    if sample.s == 0:
        return {}
    problem = Regression(Model(*sample.point, 3, 0.0), features=3)
    own = {"lambda_j": float(problem.eigenvalues[2]), "theta_j": float(problem.theta[2] ** 2)}
    return {"j": 3.0, "s": sample.point[0], "beta": sample.point[1], **own}


def _unlike_defined(claim: Claim, instances: Sequence[Mapping[Any, Any]], sample: Sample) -> str:
    """The first letter whose definition is an equation that an instance contradicts; "" where there is none."""
    every = [known for known in claim.hypotheses if isinstance(known, Where)]
    model = _of_model(sample)
    for instance in (*instances, *({**model, **where.measured(sample)} for where in every)):
        known = {str(letter).replace("\\", ""): value for letter, value in instance.items()}
        for where in every:
            for names, meaning in where.defined:
                if len(names) == 1 and not _is_defined(where, names[0], meaning.partition(" with ")[0], known):
                    return names[0]
    return ""


def _is_defined(where: Where, name: str, meaning: str, known: dict[str, Any]) -> bool:
    """Whether a letter has the value that its definition says, as far as that is known; what is defined is known."""
    given, argument = known.get(name), re.search(rf"(?<!\w){name}\((\w)\) (?:is|are|=)", where)
    places: tuple[Any, ...] = (1, 2, 3) if meaning.startswith(_EIGENVALUES) else (0.5, 2.0, 30.0)
    if callable(given) and argument is not None:
        values = [_value_at(meaning, known, argument[1], place) for place in places]
        return None in values or bool(np.allclose([float(given(place)) for place in places], values, SAME))
    value = value_of(meaning, known)
    if value is None:
        return True
    given = known.setdefault(name, value)
    return callable(given) or (
        np.shape(given) == np.shape(value) and bool(np.allclose(given, value, SAME, SAME * np.abs(value).max()))
    )


def _value_at(meaning: str, known: Mapping[str, Any], argument: str, place: Any) -> Any:
    """What a function is at a place; of a matrix the eigenvalue of that number, None where it is not known."""
    if not meaning.startswith(_EIGENVALUES):
        return value_of(meaning, {**known, argument: place})
    matrix = value_of(meaning.removeprefix(_EIGENVALUES), known)
    return None if matrix is None or len(matrix) < place else float(np.linalg.eigvalsh(matrix)[-place])


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
