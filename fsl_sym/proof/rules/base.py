"""What every rule shares: the verdict on one step, and how a rule refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sympy import Dummy, Expr, Symbol

from fsl_sym.algebra.equality import RANGED, equal, sign
from fsl_sym.proof.formulas import Hypothesis


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """``holds`` only where an exact method succeeded; ``method`` is ``exact`` or ``numeric``; ``detail`` says how.

    ``hypotheses`` is what the step holds under, besides the assumptions of its letters: all that the rule was given.
    ``puts`` are the letters of lemmas for which the rule put a value, or which it let run over a range (None): what the
    lemmas assume of these letters, the kernel asks of the values.
    """

    holds: bool
    method: str
    detail: str
    hypotheses: tuple[Hypothesis, ...] = ()
    puts: tuple[tuple[Symbol, Expr | None], ...] = ()


class Rule(Protocol):
    """One of the rules of :data:`fsl_sym.proof.rules.RULES`.

    A rule is a frozen value that holds what its kind of step needs. ``lemmas``, where a rule has them, are derivations
    that the kernel proves first; ``check`` then gets what they conclude, and nothing else of them. ``numbers``, where a
    rule has them, are what lemmas are multiplied by or put to: none may be infinite, and that they have a value becomes
    a hypothesis. ``where``, where a rule has it, is the part of the (s, beta) plane that its formula is about.
    """

    @property
    def relation(self) -> str:
        """How ``before`` stands to ``after``: a key of :data:`fsl_sym.proof.formulas.RELATIONS`."""
        ...

    def check(self, before: Expr, after: Expr, *lemmas: Any) -> StepVerdict:
        """Whether ``before`` and ``after`` stand to each other as the rule says."""
        ...


def refuse(detail: str, method: str = "exact") -> StepVerdict:
    """The verdict that a step does not hold, with the reason."""
    return StepVerdict(False, method, detail)


def accept(
    detail: str, hypotheses: tuple[Hypothesis, ...] = (), puts: tuple[tuple[Symbol, Expr | None], ...] = ()
) -> StepVerdict:
    """The verdict that a step holds, and under what."""
    return StepVerdict(True, "exact", detail, hypotheses, puts)


def compare(left: Expr, right: Expr, hypotheses: tuple[Hypothesis, ...] = (), said: str = "") -> StepVerdict:
    """The verdict on whether two expressions are the same function; its detail begins with what is ``said``."""
    verdict = equal(left, right)
    detail = f"{said}: {verdict.detail}" if said else verdict.detail
    return StepVerdict(verdict.proved, verdict.method, detail, hypotheses if verdict.proved else ())


def first_difference(*pairs: tuple[Expr, Expr, str]) -> StepVerdict | None:
    """The verdict on the first of some (left, right, what is said if they differ) that differ; None where none do."""
    verdicts = (compare(left, right, said=said) for left, right, said in pairs)
    return next((verdict for verdict in verdicts if not verdict.holds), None)


@dataclass(frozen=True, slots=True)
class FromLemma:
    """What the rules share that carry one lemma: a derivation or a theorem."""

    lemma: Any

    @property
    def lemmas(self) -> tuple[Any, ...]:
        """The lemma."""
        return (self.lemma,)


def is_any_positive(letter: Symbol) -> bool:
    """Whether a letter is declared to be positive, and nothing more is known of it."""
    if not isinstance(letter, Symbol) or letter in RANGED:
        return False
    return bool(letter.assumptions0 == Symbol(letter.name, positive=True).assumptions0)


def freely_positive(letter: Symbol, *expressions: Expr) -> tuple[Any, ...]:
    """A new letter, of which no more is known than that it is positive, and the expressions with it in place of one.

    What is shown for the new letter holds for the old one if that is positive. Raises ValueError where it is not
    declared to be, or is one of the letters whose range the paper narrows.
    """
    if not isinstance(letter, Symbol) or not letter.is_positive or letter in RANGED:
        raise ValueError(f"{letter} is not declared to range over all positive numbers")
    new = Dummy(letter.name, positive=True)
    return new, *(expression.xreplace({letter: new}) for expression in expressions)


def may_be(letter: Symbol, value: Expr) -> bool:
    """Whether all that is declared of the letter is shown of the value."""
    kinds = {1: {"positive": True}, 0: {"zero": True}, -1: {"negative": True}}
    decided = sign(value)
    follow = Symbol("value", **kinds[decided]).assumptions0 if decided is not None else {}
    return all(
        follow.get(name) == declared or getattr(value, f"is_{name}") == declared
        for name, declared in letter.assumptions0.items()
    )
