r"""Identities between matrices of any size: an expression becomes a linear combination of words, which are compared.

A word is a product of matrix symbols and their transposes. Two expressions are equal for matrices of every conformable
shape where their words agree, after relations such as Q'Q = I. Shapes are checked by sympy when a product is formed.
Scalars are traces: a word is cut where a dimension is 1, and a trace is read cyclically and in either direction.

>>> from sympy import MatrixSymbol, Symbol, Trace
>>> n = Symbol("n", integer=True, positive=True)
>>> X, Y = MatrixSymbol("X", n, n), MatrixSymbol("Y", n, n)
>>> MatrixIdentity().check(Trace(X * Y.T), Trace(X.T * Y)).holds, MatrixIdentity().check(X * Y, Y * X).holds
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

from sympy import (
    Add,
    Expr,
    Identity,
    Integer,
    MatAdd,
    MatMul,
    MatPow,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Pow,
    Trace,
    ZeroMatrix,
    cancel,
    expand,
    preorder_traversal,
    srepr,
)
from sympy import Transpose as Transposed

from fsl_sym.proof.formulas import Hypothesis, Property, equals
from fsl_sym.proof.rules.base import StepVerdict, accept, refuse
from fsl_sym.values import as_expression

Word = tuple[Any, ...]
Words = dict[Word, Expr]


class Mean(MatrixExpr):  # type: ignore[misc]
    """The expectation of a matrix over the features and the label noise, not yet taken.

    >>> Mean(MatrixSymbol("X", 2, 3)).shape
    (2, 3)
    """

    def __new__(cls, argument: Any) -> Any:
        """Return the expectation of ``argument``."""
        return super().__new__(cls, as_expression(argument))

    @property
    def shape(self) -> tuple[Any, Any]:
        """The shape of the argument."""
        rows, columns = self.args[0].shape
        return rows, columns

    def _latex(self, printer: Any) -> str:
        return rf"\mathbb{{E}}\left[{printer._print(self.args[0])}\right]"


class Rate(Mean):
    """The derivative of a matrix in time, not yet taken.

    >>> Rate(MatrixSymbol("X", 2, 3)).shape
    (2, 3)
    """

    def _latex(self, printer: Any) -> str:
        return rf"\frac{{d}}{{dz}}\left[{printer._print(self.args[0])}\right]"


class TraceOf(Expr):  # type: ignore[misc]
    """The trace of a product, by its letters in a fixed order."""

    is_commutative = True


@dataclass(frozen=True, slots=True)
class MatrixIdentity:
    """Both sides are the same matrix, or the same scalar, for all matrices of the shapes given.

    ``symmetric`` letters equal their transposes. ``relations`` are pairs (word, matrix) of which the first may be
    replaced by the second. For :class:`Mean`: ``random`` are the random letters, ``moments`` pairs (word, mean) of the
    whole random part of a product, and ``scalar_moments`` pairs (scalar, its mean), independent of the letters. For
    :class:`Rate`: ``derivatives`` are pairs (letter, derivative); every other letter is constant.
    """

    symmetric: tuple[Any, ...] = ()
    relations: tuple[tuple[Word, Any], ...] = ()
    random: tuple[Any, ...] = ()
    moments: tuple[tuple[Word, Any], ...] = ()
    scalar_moments: tuple[tuple[Expr, Expr], ...] = ()
    derivatives: tuple[tuple[Any, Any], ...] = ()
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the words of both sides."""
        if isinstance(before, MatrixExpr) != isinstance(after, MatrixExpr):
            return refuse("one side is a matrix and the other a scalar")
        if isinstance(before, MatrixExpr) and before.shape != after.shape:
            return refuse(f"the shapes {before.shape} and {after.shape} differ")
        for known in (self.relations, self.moments, self.scalar_moments, self.derivatives):
            if len(dict(known)) != len(known):
                return refuse(f"of {known} one is about the same as another: it would hold unsaid")
        words = [word for word, _ in (*self.relations, *self.moments)]
        letters = [*self.symmetric, *self.random, *(letter for letter, _ in self.derivatives)]
        letters += [part.arg if isinstance(part, Transposed) else part for word in words for part in word]
        # of anything else a hypothesis would be said in other words than it is used in, or not at all
        if not all(words) or not all(type(letter) is MatrixSymbol for letter in letters):
            return refuse(f"words are made of matrix symbols and their transposes, and {letters} are not all these")
        for power, _ in self.scalar_moments:
            base, exponent = power.as_base_exp()
            if not (base.is_Symbol and exponent.is_positive and exponent.is_number) or base.is_integer:
                return refuse(f"{power} is no power of a letter that may be random")
        left, right = (self._sides(side) for side in (before, after))
        for word in sorted(set(left) | set(right), key=str):
            difference = cancel(expand(left.get(word, Integer(0)) - right.get(word, Integer(0))))
            if difference != 0:
                return refuse(f"the coefficient of {' '.join(map(str, word)) or '1'} differs by {difference}")
        return accept(f"{len(left)} words agree, for matrices of every size", self._given(before, after))

    def _given(self, *sides: Expr) -> tuple[Hypothesis, ...]:
        """What the rule was given about the letters of the sides, and used or could have used, as hypotheses."""
        relations = {reduce(lambda left, right: left * right, word): value for word, value in self.relations}
        moments = {Mean(reduce(lambda left, right: left * right, word)): value for word, value in self.moments}
        used: set[Any] = set(sides)
        while True:  # what a relation brings in may make room for another
            letters = {letter for expression in used for letter in expression.atoms(MatrixSymbol)}
            known = relations | (moments if _any_holds(used, Mean) else {})
            known |= self.derivatives_of(letters) if _any_holds(used, Rate) else {}
            values = {value for word, value in known.items() if word.atoms(MatrixSymbol) <= letters} - used
            if not values:
                break
            used |= values
        hypotheses: list[Hypothesis] = [
            equals(word, known[word]) for word in known if word.atoms(MatrixSymbol) <= letters
        ]
        sides = tuple(used)
        scalars = {letter for side in sides for letter in side.free_symbols if not letter.is_integer}
        if _any_holds(sides, Mean):
            noise = {letter for power, _ in self.scalar_moments for letter in power.free_symbols}
            hypotheses += [
                Property(str(letter), "not random") for letter in (letters | scalars) - {*self.random, *noise}
            ]
        for power, value in self.scalar_moments:
            if power.free_symbols & scalars:
                hypotheses.append(Property(str(power), f"of mean {value} and independent of the features"))
        hypotheses += [Property(str(letter), "symmetric") for letter in self.symmetric if letter in letters]
        if _any_holds(sides, Rate):
            moving = dict(self.derivatives)
            still = {item for item in scalars | letters if item not in moving}
            hypotheses += [Property(str(item), "constant in time") for item in still]
        return tuple(hypotheses)

    def derivatives_of(self, letters: set[Any]) -> dict[Any, Any]:
        """The derivatives that were given of some letters."""
        return {Rate(letter): slope for letter, slope in self.derivatives if letter in letters}

    def _sides(self, side: Expr) -> Words:
        if isinstance(side, MatrixExpr):
            return _collected(self._cut(word, scale) for word, scale in self.words(side).items())
        return {(): expand(self._scalar(side))}

    def words(self, expression: Any) -> Words:
        """The words of a matrix with their coefficients. Raises ValueError for what is no product or sum of letters."""
        if isinstance(expression, Identity):
            return {(): Integer(1)}
        if isinstance(expression, ZeroMatrix):
            return {}
        if isinstance(expression, Rate):
            return self._rate(expression.args[0])
        if isinstance(expression, Mean):
            return self._mean(self.words(expression.args[0]))
        if isinstance(expression, MatrixSymbol):
            return self._reduced((expression,), Integer(1))
        if isinstance(expression, Transposed):
            turned = self.words(expression.arg)
            return _collected(
                item for word, scale in turned.items() for item in self._reduced(self._turned(word), scale).items()
            )
        if isinstance(expression, MatAdd):
            return _collected(item for part in expression.args for item in self.words(part).items())
        if isinstance(expression, MatMul):
            scalars = [part for part in expression.args if not isinstance(part, MatrixExpr)]
            factors = [self.words(part) for part in expression.args if isinstance(part, MatrixExpr)]
            words = reduce(self._product, factors, {(): Integer(1)})
            scale = Mul(*(self._scalar(part) for part in scalars))
            return {word: expand(scale * coefficient) for word, coefficient in words.items()}
        if isinstance(expression, MatPow) and expression.exp.is_Integer and expression.exp >= 0:
            return reduce(self._product, [self.words(expression.base)] * int(expression.exp), {(): Integer(1)})
        raise ValueError(f"{expression} is no sum or product of matrix symbols")

    def _product(self, left: Words, right: Words) -> Words:
        return _collected(
            item
            for first, coefficient in left.items()
            for second, factor in right.items()
            for item in self._reduced(first + second, coefficient * factor).items()
        )

    def _reduced(self, word: Word, scale: Expr) -> Words:
        """The word after the first relation that applies, and so on."""
        for pattern, value in self.relations:
            for place in range(len(word) - len(pattern) + 1):
                if word[place : place + len(pattern)] == pattern:
                    ends = ({word[:place]: scale}, self.words(value), {word[place + len(pattern) :]: Integer(1)})
                    return reduce(self._product, ends)
        return {word: scale}

    def _turned(self, word: Word) -> Word:
        return tuple(letter if letter in self.symmetric else letter.T for letter in reversed(word))

    def _mean(self, words: Words) -> Words:
        # a term that is odd in the label noise is gone before the mean of its features is asked for
        letters = {*self.random, *(letter.T for letter in self.random)}
        for scale in words.values():
            if any(letters & set(trace.args) for trace in scale.atoms(TraceOf)):
                raise ValueError(f"{scale} holds a trace of random letters: its mean is not that of its factors")
        scalars = {word: self._scalar_mean(scale) for word, scale in words.items()}
        return _collected(
            (word_of_mean, expand(scale * factor))
            for word, scale in scalars.items()
            if scale != 0
            for word_of_mean, factor in self._word_mean(word).items()
        )

    def _word_mean(self, word: Word) -> Words:
        letters = {*self.random, *(letter.T for letter in self.random)}
        places = [place for place, letter in enumerate(word) if letter in letters]
        if not places:
            return {word: Integer(1)}
        low, high = places[0], places[-1] + 1
        for pattern, value in self.moments:
            if word[low:high] == pattern:
                ends = ({word[:low]: Integer(1)}, self.words(value), {word[high:]: Integer(1)})
                return reduce(self._product, ends)
        raise ValueError(f"the mean of {' '.join(map(str, word[low:high]))} is not given")

    def _scalar_mean(self, scale: Expr) -> Expr:
        total: Expr = Integer(0)
        bases = {power.as_base_exp()[0] for power, _ in self.scalar_moments}
        for term in Add.make_args(expand(scale)):
            used = bases & term.free_symbols
            for power, value in self.scalar_moments:
                base, exponent = power.as_base_exp()
                if term.as_powers_dict().get(base, 0) == exponent:
                    term = term / power * value
            if bases & term.free_symbols or len(used) > 1:
                raise ValueError(f"the mean of {term} is not given")
            total += term
        return total

    def _rate(self, argument: Any) -> Words:
        known = dict(self.derivatives)
        products: list[tuple[Word, Expr]] = []
        for word, scale in self.words(argument).items():
            moving = {*known, *(letter.T for letter in known)}
            if any(moving & set(trace.args) for trace in scale.atoms(TraceOf)):
                raise ValueError(f"{scale} holds a trace that moves: its rate is not taken")
            for place, letter in enumerate(word):
                if letter in known:
                    slope = self.words(known[letter])
                elif letter.T in known and letter not in self.symmetric:
                    slope = self.words(Transposed(known[letter.T]))
                else:
                    continue
                ends = ({word[:place]: scale}, slope, {word[place + 1 :]: Integer(1)})
                products += reduce(self._product, ends).items()
        return _collected(products)

    def _cut(self, word: Word, scale: Expr) -> tuple[Word, Expr]:
        """Cut a word where a dimension is 1: the segments between two cuts are scalars."""
        places = [place + 1 for place in range(len(word) - 1) if word[place].shape[1] == 1]
        if len(places) < 2:
            return word, scale
        inner = (word[low:high] for low, high in zip(places, places[1:], strict=False))
        return word[: places[0]] + word[places[-1] :], scale * Mul(*(self._cyclic(part) for part in inner))

    def _trace(self, word: Word) -> Expr:
        if not word:
            raise ValueError("the trace of the identity is not known; give it as a number")
        places = [place + 1 for place in range(len(word)) if word[place].shape[1] == 1]
        if not places:
            return self._cyclic(word)
        turned = word[places[0] :] + word[: places[0]]
        ends = [0, *(place - places[0] for place in places[1:]), len(word)]
        parts = (turned[low:high] for low, high in zip(ends, ends[1:], strict=False))
        return Mul(*(self._cyclic(part) for part in parts))

    def _cyclic(self, word: Word) -> Expr:
        """One value for a trace, whichever letter it begins with and whichever way it is read."""
        readings = (word, self._turned(word))
        turns = [reading[place:] + reading[:place] for reading in readings for place in range(len(word))]
        return TraceOf(*min(turns, key=lambda letters: tuple(map(srepr, letters))))

    def _scalar(self, expression: Any) -> Expr:
        """A scalar with its traces as symbols."""
        scalar = as_expression(expression)
        if isinstance(scalar, Trace):
            is_scalar = isinstance(scalar.arg, MatrixExpr) and scalar.arg.shape == (1, 1)
            words = self.words(scalar.arg)
            return Add(
                *(
                    scale * (Integer(1) if is_scalar and not word else self._trace(word))
                    for word, scale in words.items()
                )
            )
        if isinstance(scalar, (Add, Mul)):
            return scalar.func(*(self._scalar(part) for part in scalar.args))
        if isinstance(scalar, Pow) and scalar.base.has(Trace):
            return self._scalar(scalar.base) ** scalar.exp
        if scalar.has(Trace) or scalar.has(MatrixSymbol):
            raise ValueError(f"{scalar} holds a trace where it cannot be read")
        return scalar


def _any_holds(sides: Iterable[Any], kind: type[Any]) -> bool:
    return any(type(item) is kind for side in sides for item in preorder_traversal(side))


def _collected(items: Any) -> Words:
    scales: Words = {}
    for word, scale in items:
        scales[word] = scales.get(word, Integer(0)) + scale
    return {word: scale for word, scale in scales.items() if expand(scale) != 0}
