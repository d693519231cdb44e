"""Whether the numbers that a claim is judged by are those of its formula.

A statement that is made from the formula cannot differ from it. One that is written for itself could: the formula that
is printed would be another than the one that is measured. A statement that is read from formulas judges those and no
other. Orders are compared at letters drawn at random, and an order from both sides is judged from both. Bounds are
compared with their constants at a problem that the statement names (``printed_bounds``). Where a claim gives instances,
its equations hold there as they are printed, its bounds are attained and its limits near; of a refuted claim one fails
there, and is the printed one where it holds once what it ``mends`` is put right, or where both its sides are measured.
An order of sums and integrals is that of the numbers measured for these there. An identity between numbers, or a limit,
is put to the test at some that are drawn, a limit of a quotient is compared by what a letter of it tends to. A part
that is none of these nothing compares: a claim that has one is refused, unless a theorem is its formula.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, get_args

import numpy as np
from sympy import Expr, Integral, MatrixExpr, Min, Mul, Pow, S, Sum, Symbol, oo, powdenest
from sympy.core.function import AppliedUndef

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import compiled, parts_of
from fsl_num.claims.hypotheses import letters_of, relations_assumed
from fsl_num.claims.instances import holds_at, is_whole, made_sides, measured_at, mended
from fsl_num.claims.printed_values import value_of
from fsl_num.claims.proofs import unproved
from fsl_num.claims.statements import Direction, Joint
from fsl_num.validation import Array
from fsl_sym.proof import Formula, Mean, Rate, equals
from fsl_sym.proof.bound_letters import canonical
from fsl_sym.proof.formulas import NEAR_OPTIMAL
from fsl_sym.symbols import T2, E, T, beta, s, t

_ALPHA: Final = Symbol("alpha", positive=True)
_BUDGETS: Final = ("N", "C", "D")
"""Names of a budget: a law under one calls it N, whatever it is a budget of."""
_ORDERS: Final = ("~", "<~", "optimum", *NEAR_OPTIMAL)
_ANY: Final = frozenset(get_args(Direction))
_FROM: Final[Mapping[str, tuple[Set[Direction], Set[Direction]]]] = {
    "~": ({"both"}, {"both"}),
    "<~": ({"both", "upper"}, {"both", "lower"}),
}
"""From which sides the right and the left of an order have to be judged."""
_LATER: Final = Symbol("1 + t", positive=True)
"""As rays name it."""
_DRAWS: Final = 4
"""Of the letters of an identity."""
_SAME: Final = 1e-6
"""Of logarithms up to a few thousand, in double precision."""


@dataclass(frozen=True)
class Agreement:
    """Which parts of a formula are judged, which are not, and which could not be compared."""

    same: tuple[Formula, ...] = ()
    other: tuple[Formula, ...] = ()
    unknown: tuple[Formula, ...] = ()


def agreement(claim: Claim, sample: Sample, statement: Any) -> Agreement:
    """Compare the orders in the formula of a claim, or its bounds, with what it says in numbers at a sample.

    >>> from sympy import Integer
    >>> from fsl_num.claims.registry import claim
    >>> subject, sample = claim("thm:chinchilla"), Sample("easy", Integer(1), Integer(2))
    >>> agreement(subject, sample, subject.says(sample)).other
    ()
    """
    if claim.statement is None and claim.instances is None:
        return Agreement()
    if hasattr(statement, "printed_bounds"):
        return _bounds(parts_of(claim.formula), sample, statement)
    leaves = list(_leaves(statement))
    laws = [_Judged(values, leaf.direction) for leaf in leaves if (values := _law_values(leaf)) is not None]
    read = [(getattr(leaf, "formulas", ()), getattr(leaf, "direction", "both")) for leaf in leaves]
    instances = claim.put_in(sample)
    parts: dict[bool | None, list[Formula]] = {True: [], False: [], None: []}
    held: dict[bool, list[Formula]] = {True: [], False: []}
    limits = dict(_limits(parts_of(claim.formula), [known for formulas, _ in read for known in formulas]))
    for part in parts_of(claim.formula):
        agrees = measured_at(part, instances) if part.relation in _FROM else None
        if agrees is False or (part.relation in _FROM and instances and made_sides(part) and not agrees):
            parts[agrees].append(part)
            continue
        if part in limits:
            parts[limits[part]].append(part)
            continue
        # where it is measured what a quotient comes to, what it tends to is read: instances are only near it
        measured = measured_at(replace(part, right=S.Zero), instances) if part.relation == "->" else None
        if measured is not None:
            parts[measured and any({part, part.right} & set(formulas) for formulas, _ in read)].append(part)
            continue
        directions = {side for formulas, side in read if _is_read(part, formulas)}
        # what is mended is compared whole; what is read as an equivalence is not judged from one side alone
        if directions and not claim.mends:
            # of a bound or a limit that is read its constant is, and what sums and integrals are in it is measured
            made = part.relation not in _ORDERS and made_sides(part)
            whole = measured_at(part, instances) if made else True
            whole = holds_at(part, instances) if whole is None else whole
            parts[whole and (part.relation != "~" or bool(directions & {"both"}))].append(part)
            continue
        if part.relation == "->" and any(_has_a_side_of(part, stated) for formulas, _ in read for stated in formulas):
            parts[False].append(part)
            continue
        if (holds := _holds(claim, sample, part, instances)) is not None:
            held[holds].append(part)
            continue
        if part.relation in _ORDERS and part.right not in (0, oo):
            places = [{s: own_s, beta: own_beta} for own_s, own_beta in claim.own(sample.s, sample.beta)]
            # a relation of sympy, of other letters where it is neither true nor false
            inside = [place for place in places if part.where is None or part.where.subs(place) != False]  # noqa: E712
            if not inside:
                continue
            by_law = _order(part, claim, inside, laws)
            whole = bool(agrees) and is_whole(part, instances)
            agrees = (True if whole else None) if by_law is None else by_law
        other = agrees is None and any(_has_a_side_of(part, stated) for formulas, _ in read for stated in formulas)
        parts[False if other else agrees].append(part)
    if claim.corrected_by is not None and held[False]:  # what is refuted fails as it is printed, and in nothing else
        unlike_printed = [part for part in held[False] if not _fails_as_printed(claim, sample, part, instances)]
        held[True] += [part for part in held[False] if part not in unlike_printed]
        held[False] = unlike_printed
    elif claim.corrected_by is not None and len(held[True]) == len(parts_of(claim.formula)):
        held = {True: [], False: held[True]}
    parts[True] += held[True]
    parts[False] += held[False]
    return Agreement(*(tuple(parts[key]) for key in (True, False, None)))


def _is_read(part: Formula, formulas: Sequence[Any]) -> bool:
    """Whether a part is among what a statement is read from, or a side of it that a mere name is said to be.

    What is read of one side says nothing of another that is made of letters, nor of an error.
    """
    sides = ((part.left, part.right), (part.right, part.left)) if part.error is None else ()
    return part in formulas or any(
        side in formulas and isinstance(other, Symbol | AppliedUndef) for side, other in sides
    )


def _holds(claim: Claim, sample: Sample, part: Formula, instances: Sequence[Mapping[Any, Any]]) -> bool | None:
    """Whether a part holds at instances, or at numbers that are drawn; None where it has no values at either."""
    if (holds := holds_at(part, instances)) is not None:
        return holds
    return holds_at(equals(part.left, part.right), _drawn(claim, sample, part))


def _fails_as_printed(claim: Claim, sample: Sample, part: Formula, instances: Sequence[Mapping[Any, Any]]) -> bool:
    """Whether a part that fails holds once it is mended, or has the sides that are measured where nothing is mended."""
    if claim.mends:
        return bool(_holds(claim, sample, mended(part, claim.mends), instances))
    return bool(measured_at(part, instances)) and is_whole(part, instances)


def _drawn(claim: Claim, sample: Sample, part: Formula) -> Sequence[Mapping[Any, Any]]:
    """Numbers for the letters of an identity where it has values and nothing ties them; none of another formula."""
    sides = (part.left, part.right)
    letters = part.left.free_symbols | part.right.free_symbols
    tied = any(known.relation == "=" and letters_of(known) & letters for known in relations_assumed(claim))
    if (part.relation not in ("=", "->") or isinstance(part.left, Symbol) or tied
            or not letters or any(side.has(AppliedUndef, MatrixExpr, Mean, Rate) for side in sides)):  # fmt: skip
        return ()
    limit = part.relation == "->"
    if limit and (part.where is not None or part.right == 0):  # how near it is at some number is not known
        return ()
    others = sorted(letters - {s, beta, part.variable}, key=str)
    numbers = np.random.default_rng(len(others)).integers(1, 9, (_DRAWS, len(others))).tolist()
    drawn = [{s: sample.point[0], beta: sample.point[1], **dict(zip(others, row, strict=True))} for row in numbers]
    if limit:
        return [{**drawn[0], part.variable: 1e15 if part.point == oo else 1e-15}]
    return [known for known in drawn if all(_has_a_value(equals(side, side), known) for side in sides)]


def _has_a_value(same: Formula, known: Mapping[Any, Any]) -> bool:
    try:
        with np.errstate(all="ignore"):
            return holds_at(same, [known]) is True
    except (TypeError, ValueError):  # a root of a negative number, a sum up to no whole one, an integral that is slow
        return False


def _limits(parts: Sequence[Formula], read: Sequence[Any]) -> Iterator[tuple[Formula, bool]]:
    """The limits of quotients of a letter and what it tends to, and the definitions in these: whether that is read."""
    defined = {part.left: part for part in parts if part.relation == "=" and isinstance(part.left, Symbol)}
    values = {letter: part.right for letter, part in defined.items()}
    for part in parts:
        if part.relation != "->" or not part.right.is_number or part.right == 0 or not read:
            continue
        used: set[Any] = set()
        for letter in part.left.free_symbols - values.keys():
            expression = part.right * letter / part.left
            entering = set(expression.free_symbols)
            for _ in values:
                expression = expression.subs(values)
                entering |= expression.free_symbols
            if letter not in entering:
                used = entering
                if canonical(expression) in read:
                    yield from ((known, True) for known in (part, *(defined[name] for name in used & defined.keys())))
                    break
        else:
            if used:
                yield part, False


def _has_a_side_of(part: Formula, stated: Any) -> bool:
    """Whether a formula that is read says of the same side another thing."""
    return isinstance(stated, Formula) and (part.left == stated.left or part.right == stated.right)


def unlike(claim: Claim, sample: Sample, statement: Any) -> str:
    """The first part of a claim's formula that is not judged, or that nothing compares, in words; "" where none.

    A theorem needs no numbers, and an order in it may be judged by another law, which the claim says (``judged_by``).
    """
    compared = agreement(claim, sample, statement)
    here = f"at s = {sample.s}, beta = {sample.beta}"
    if compared.other and (not claim.judged_by or unproved(claim)):
        return f"{compared.other[0]} is what the claim says, and {here} no law judged is it"
    if compared.unknown and unproved(claim):
        return (f"{compared.unknown[0]} is what the claim says, and {here} nothing measured is compared with it: give "
                "instances with values of all its letters, or state what is measured")  # fmt: skip
    return ""


def _bounds(parts: Sequence[Formula], sample: Sample, statement: Any) -> Agreement:
    """Whether the sides of a formula's inequalities are, as numbers, the bounds that its statement judges."""
    judged = statement.printed_bounds(sample)
    if len(judged.bounds) != len(parts):
        return Agreement(other=tuple(parts))
    split: dict[bool, list[Formula]] = {True: [], False: []}
    for part, bound in zip(parts, judged.bounds, strict=True):
        left, right = (value_of(side, {**judged.letters, E: 1.0}, judged.rate) for side in (part.left, part.right))
        value = right / left if part.left.has(E) else left / right
        split[part.relation == "<=" and abs(value / bound - 1.0) <= judged.rtol].append(part)
    return Agreement(tuple(split[True]), tuple(split[False]))


def _leaves(statement: Any) -> Iterator[Any]:
    """The single statements of a joint one; that of an end of a range is its order."""
    if isinstance(statement, Joint):
        for part in statement.parts.values():
            yield from _leaves(part)
    else:
        inner = getattr(statement, "order", None)
        yield statement if inner is None else inner


@dataclass(frozen=True)
class _Judged:
    """A law that is judged: its log at the probes, and from which sides."""

    values: Array
    direction: Direction


class _Probe(dict[str, Array]):
    """Logs of letters drawn at random, each when it is asked for: far from 0, in no order of size; b is below a.

    Of half of the probes they are of different orders, so that a term with a large power decides in some of them.
    """

    def __init__(self, place: int) -> None:
        self._place = place
        self.update(dict.fromkeys(_BUDGETS, self["N"]))
        self["b"] = self["a"] - self["b/a"]
        self["a - b"] = self["a"] + np.log1p(-np.exp(self["b"] - self["a"]))

    def __missing__(self, name: str) -> Array:
        if name.startswith("1/"):
            return -self[name[2:]]
        letter, _, square = name.partition("^")
        generator = np.random.default_rng([zlib.crc32(letter.encode()), self._place])
        drawn = generator.uniform(20.0, 400.0, 1) if self._place % 2 else 10.0 ** generator.uniform(0.5, 4.0, 1)
        self[name] = np.asarray(drawn * (2.0 if square == "2" else 1.0))
        return self[name]


_AT: Final = [_Probe(place) for place in range(64)]


def _law_values(leaf: Any) -> Array | None:
    """The log of a law at the probes; None where a statement has none, or one of other letters."""
    law, exponents = getattr(leaf, "law", None), getattr(leaf, "exponents", None)
    if law is None or exponents is None or not hasattr(leaf, "direction"):
        return None
    try:
        with np.errstate(all="ignore"):  # far from where the law is measured
            return np.array([float(np.ravel(law(exponents, logs))[0]) for logs in _AT])
    except (KeyError, ValueError, TypeError, IndexError):
        return None


def _order(part: Formula, claim: Claim, places: Sequence[Mapping[Any, Any]], laws: Sequence[_Judged]) -> bool | None:
    """Whether one of the laws is the order at one of the places, up to a constant, and judged from its sides.

    Of a bound by a minimum each of its members is one.
    """
    above, below = _FROM.get(part.relation, (_ANY, _ANY))
    if laws and not any(law.direction in above | below for law in laws):
        return False
    sides = {
        side: [law.values for law in laws if law.direction in directions]
        for side, directions in ((part.right, above), (part.left, below))[: 2 if part.relation == "<~" else 1]
        if isinstance(side, Expr) and not side.has(Integral, Sum, AppliedUndef)
    }
    named = [letter for letter in claim.values if part.right.has(letter) or part.left.has(letter)]
    points = [{**place, _ALPHA: place[s] * place[beta], **dict(zip(named, numbers, strict=True))}
              for place in places for numbers in product(*(claim.values[name] for name in named))]  # fmt: skip
    judged = [_is_judged(side, points, judging) for side, judging in sides.items()]
    if part.relation == "<~" and isinstance(part.right, Min) and True not in judged:
        members = [_is_judged(member, points, sides[part.right]) for member in part.right.args]
        judged = [None not in members and all(members)]
    return True if True in judged else False if False in judged and laws else None


def _is_judged(side: Expr, points: Sequence[Mapping[Any, Any]], laws: Sequence[Array]) -> bool | None:
    """Whether a law is this order at one of the points; None of a letter alone, and where exponents have no value."""
    plain = side.replace(lambda factor: isinstance(factor, Pow) and isinstance(factor.base, Mul), _of_factors)
    compared = False
    for order in dict.fromkeys((plain, plain.subs(T, t), plain.subs(T2, t), plain.subs(1 + t, _LATER))):
        for point in points:
            try:
                law, exponents, *_ = compiled(order, point)
                values = np.array([float(np.ravel(law(exponents, logs))[0]) for logs in _AT])
            except (ValueError, KeyError, TypeError):
                continue
            if any(np.all(np.isfinite(law)) and np.ptp(values - law) < _SAME for law in laws):
                return True
            compared = compared or not isinstance(side, Symbol)
    return False if compared else None


def _of_factors(power: Expr) -> Expr:
    """The power of a product as a product of powers, those of a logarithm's inverse as powers of the logarithm."""
    base, exponent = power.as_base_exp()
    return Mul(*(powdenest(factor**exponent, force=True) for factor in base.args))
