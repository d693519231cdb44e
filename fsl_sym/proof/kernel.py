"""Theorems, and the only way to make one.

A :class:`Step` goes from one expression to another by one of the rules of :data:`fsl_sym.proof.rules.RULES`. A
:class:`Derivation` is a chain of steps, each beginning where the one before it ended; :meth:`Derivation.prove` checks
every step and makes the :class:`Theorem` that its first and its last expression stand to each other as the steps say
together. What a rule was given (a definition, a relation between matrices, a range) is a hypothesis of the theorem, and
so is what the letters are declared to be: nothing is trusted that the theorem does not print.

>>> from fsl_sym.proof import Derivation, Identity, Step
>>> from fsl_sym.symbols import a
>>> theorem = Derivation("double", "Twice a number", (Step(a + a, 2 * a, Identity(), "add"),)).prove()
>>> print(theorem.conclusion)
2*a = 2*a
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, overload

from sympy import Basic, Expr, Tuple
from sympy.polys.polyerrors import BasePolynomialError

from fsl_sym.proof.formulas import NEEDS, AllOf, Formula, Hypothesis, Statement, all_of, joined
from fsl_sym.proof.language import foreign, strange
from fsl_sym.proof.letters import (
    carried,
    evaluated,
    misdeclared,
    of_letters,
    of_numbers,
    restrained,
    two_of_one_name,
    unneeded_left_out,
)
from fsl_sym.proof.rendering import as_latex, as_text
from fsl_sym.proof.rules import HELD, RULES
from fsl_sym.proof.rules.base import Rule, StepVerdict, refuse
from fsl_sym.values import entries, instance_of

_SEAL: Final = object()

_UNABLE: Final = (
    *(ValueError, TypeError, AttributeError, LookupError, RecursionError),
    *(NotImplementedError, BasePolynomialError),  # sympy, unable to evaluate
)
"""What a rule may raise where it does not apply."""


class ProofError(ValueError):
    """A derivation does not prove what it says; the message names the step and the reason."""


class _Final:
    """A class that nothing may be derived from: what it says of itself, the kernel believes."""

    __slots__ = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        if _Final not in cls.__bases__:
            raise TypeError(f"{cls.__bases__[0].__name__} is closed: nothing may be derived from it")
        super().__init_subclass__(**keywords)


class Theorem(_Final):
    """A conclusion that holds under hypotheses; made by :meth:`Derivation.prove` and :func:`together` alone.

    Attributes
    ----------
    hypotheses
        A set of formulas and properties.
    conclusion
        A :class:`~fsl_sym.proof.formulas.Formula`, or several as one.
    proof
        The derivations behind it. Pickling keeps these and proves them anew.

    Raises
    ------
    TypeError
        If it is called: only a checked derivation makes a theorem.

    Examples
    --------
    >>> from fsl_sym.integrals.orders import i2_order
    >>> theorem = i2_order().prove()
    >>> print(theorem.conclusion.relation, theorem.conclusion.right)
    ~ Min(M, T**(1/beta))/T
    """

    __slots__ = ("conclusion", "hypotheses", "proof")
    hypotheses: frozenset[Hypothesis]
    conclusion: Statement
    proof: tuple[Derivation, ...]

    def __init__(
        self, seal: object, hypotheses: frozenset[Hypothesis], conclusion: Statement, proof: tuple[Derivation, ...]
    ) -> None:
        if seal is not _SEAL:
            raise TypeError("a theorem is made by a derivation that was checked: call its prove()")
        for name, value in (("hypotheses", hypotheses), ("conclusion", conclusion), ("proof", proof)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a theorem cannot be changed: derive another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a theorem cannot be changed: derive another one")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Theorem) and self.conclusion == other.conclusion and self.hypotheses == other.hypotheses
        )

    def __hash__(self) -> int:
        return hash((self.conclusion, self.hypotheses))

    def __reduce__(self) -> Any:
        return (together, self.proof)

    def __repr__(self) -> str:
        return f"<Theorem: {self.conclusion}>"

    def __str__(self) -> str:
        hypotheses = ", ".join(sorted(map(str, self.hypotheses)))
        return f"{self.conclusion}" + (f"  [{hypotheses}]" if hypotheses else "")

    def _repr_latex_(self) -> str:
        hypotheses = r",\ ".join(hypothesis.latex() for hypothesis in sorted(self.hypotheses, key=str))
        tail = rf"\qquad ({hypotheses})" if hypotheses else ""
        return rf"$\displaystyle {self.conclusion.latex()}{tail}$"


@dataclass(frozen=True, slots=True)
class Step(_Final):
    """One step from ``before`` to ``after``: ``why`` says it in words, ``rule`` holds what is checked.

    >>> from fsl_sym.proof import Identity
    >>> from fsl_sym.symbols import a
    >>> Step(a + a, 2 * a, Identity(), "add").verify().holds
    True
    """

    before: Expr
    after: Expr
    rule: Rule
    why: str

    def __post_init__(self) -> None:
        instance_of("why", self.why, str)
        if not callable(getattr(self.rule, "check", None)):
            raise TypeError(f"rule must be one of the rules of fsl_sym.proof, not {self.rule!r}")
        if not self.why.strip():
            raise ValueError("a step needs a reason: give `why`")
        for side in (self.before, self.after):
            if not isinstance(side, Basic) or not isinstance(side, Expr):
                raise TypeError(f"a side of a step must be a sympy expression, not {side!r}")

    @property
    def relation(self) -> str:
        """How ``before`` stands to ``after``."""
        return self.rule.relation

    @property
    def formula(self) -> Formula:
        """What the step states."""
        about = {name: getattr(self.rule, name) for name in NEEDS.get(self.relation, ())}
        return Formula(self.before, self.relation, self.after, **about, where=getattr(self.rule, "where", None))

    def verify(self) -> StepVerdict:
        """Check the step by its own rule, its lemmas first."""
        if type(self.rule) not in RULES:
            return refuse(f"{type(self.rule).__name__} is none of the rules of this kernel")
        fault = strange(self.rule, _KNOWN) or foreign(Tuple(self.before, self.after))
        fault = fault or misdeclared(self.before) or misdeclared(self.after)
        if fault:
            return refuse(fault)
        try:
            proved = [lemma if type(lemma) is Theorem else lemma.prove() for lemma in getattr(self.rule, "lemmas", ())]
            verdict = self.rule.check(
                evaluated(self.before), evaluated(self.after), *(theorem.conclusion for theorem in proved)
            )
            if not verdict.holds:
                return verdict
            hypotheses = set(verdict.hypotheses) | of_letters(self.formula)
            hypotheses |= of_numbers(getattr(self.rule, "numbers", ()))
            own, values = self.formula.free_symbols, dict(verdict.puts)
            for theorem in proved:
                # a letter that a lemma alone has stands for any value that it may have
                gone = {letter for letter in theorem.conclusion.free_symbols - own - set(values) if letter.is_Symbol}
                hypotheses |= carried(unneeded_left_out(theorem.hypotheses, gone), values)
        except ProofError as error:
            return refuse(f"a lemma does not hold: {error}")
        except _UNABLE as error:
            return refuse(f"the rule could not be applied: {error}")
        return StepVerdict(True, verdict.method, verdict.detail, tuple(sorted(hypotheses, key=str)))

    def __str__(self) -> str:
        return f"{self.before}\n  {self.relation} {self.after}\n    [{self.why}]"


@dataclass(frozen=True, slots=True)
class DerivationVerdict:
    """The verdicts of all steps; ``holds`` if every step holds and the chain is unbroken."""

    holds: bool
    steps: tuple[StepVerdict, ...]
    detail: str


@dataclass(frozen=True, repr=False)
class Derivation(_Final, Sequence[Step]):
    """A named chain of steps, with its source in the paper; behaves like a tuple of steps.

    Attributes
    ----------
    name, title
        For those who look it up, and for those who read it.
    steps
        Each begins where the one before it ended.
    source
        The label of the paper that it belongs to.

    Examples
    --------
    >>> from sympy import Integral, exp
    >>> from fsl_sym.proof import Antiderivative
    >>> from fsl_sym.symbols import lam, t, T
    >>> whole = Integral(exp(-2 * lam * t), (t, 0, T))
    >>> value = (1 - exp(-2 * lam * T)) / (2 * lam)
    >>> step = Step(whole, value, Antiderivative(-exp(-2 * lam * t) / (2 * lam)), "antiderivative")
    >>> print(Derivation("mode", "One mode", (step,)).prove())
    Integral(exp(-2*lambda*x_0), (x_0, 0, T)) = (1 - exp(-2*T*lambda))/(2*lambda)  [0 < T, 0 < lambda]
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("name", "title", "source"):
            instance_of(name, getattr(self, name), str)
        object.__setattr__(self, "steps", entries("steps", self.steps))
        if not self.steps:
            raise ValueError(f"the derivation {self.name!r} has no steps; give at least one")
        if not all(type(step) is Step for step in self.steps):
            raise TypeError(f"the derivation {self.name!r} holds something that is no Step")

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @property
    def conclusion(self) -> Formula:
        """What the steps say together, not yet checked: first expression, composed relation, last expression.

        Raises
        ------
        ProofError
            If a step does not begin where the one before it ended, or two relations say nothing together.
        """
        formula = self.steps[0].formula
        for place, step in enumerate(self.steps[1:], 1):
            further = joined(formula, step.formula)
            if further is None:
                raise ProofError(
                    f"{self.name}: step {place} ({step.relation}) does not continue step {place - 1}, "
                    f"which ended with {self.steps[place - 1].after}"
                )
            formula = further
        return formula

    @cached_property
    def _checked(self) -> tuple[DerivationVerdict, Formula | None]:
        # what is stated is kept beside what was checked: neither is asked for again at another time
        conclusion = None
        verdicts = tuple(step.verify() for step in self.steps)
        faults = [f"step {place}: {verdict.detail}" for place, verdict in enumerate(verdicts) if not verdict.holds]
        try:
            held = {item for verdict in verdicts for item in verdict.hypotheses}
            if not faults:
                conclusion = self.conclusion
                faults += restrained(conclusion, held)
                if name := two_of_one_name(conclusion, held):
                    faults.append(f"two letters are named {name}: give one of them another name")
        except ProofError as error:
            faults.append(str(error))
        return DerivationVerdict(not faults, verdicts, "; ".join(faults) or "every step holds"), conclusion

    def verify(self) -> DerivationVerdict:
        """Check every step, and that each begins where the one before it ended.

        >>> from fsl_sym import noise_integral
        >>> print(noise_integral("constant").derivation.verify().detail)
        every step holds
        """
        return self._checked[0]

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the steps hold under, as far as they hold."""
        return tuple(sorted({item for step in self.verify().steps for item in step.hypotheses}, key=str))

    def prove(self) -> Theorem:
        """The theorem.

        Raises
        ------
        ProofError
            If a step does not hold, or the chain is broken.
        """
        verdict, conclusion = self._checked
        if not verdict.holds or conclusion is None:
            raise ProofError(f"the derivation {self.name!r} proves nothing: {verdict.detail}")
        hypotheses = frozenset(item for step in verdict.steps for item in step.hypotheses)
        return Theorem(_SEAL, hypotheses, conclusion, (self,))

    def __reduce__(self) -> Any:
        return (Derivation, (self.name, self.title, self.steps, self.source))

    def __repr__(self) -> str:
        return f"<Derivation {self.title!r}: {len(self.steps)} steps>"

    def __str__(self) -> str:
        return as_text(self)

    def _repr_latex_(self) -> str:
        return as_latex(self)


def lemma(before: Expr, after: Expr, rule: Rule, why: str) -> Derivation:
    """A derivation of one step, named by its reason: what most rules carry.

    >>> from fsl_sym.proof import Identity
    >>> from fsl_sym.symbols import a
    >>> print(lemma(a + a, 2 * a, Identity(), "add").prove())
    2*a = 2*a  [0 < a]
    """
    return Derivation(why, why, (Step(before, after, rule, why),))


def chains(name: str, title: str, steps: Sequence[Step], source: str = "") -> tuple[Derivation, ...]:
    """Several derivations under one heading: a step that does not continue the one before begins another.

    >>> from fsl_sym.proof import Identity
    >>> from fsl_sym.symbols import a, b
    >>> twice = [Step(x + x, 2 * x, Identity(), f"add {x}") for x in (a, b)]
    >>> [derivation.name for derivation in chains("double", "Twice a number", twice)]
    ['double, 1', 'double, 2']
    """
    parts: list[list[Step]] = []
    for step in steps:
        if parts and parts[-1][-1].after == step.before:
            parts[-1].append(step)
        else:
            parts.append([step])
    return tuple(
        Derivation(f"{name}, {place}", f"{title}: {part[0].why}", tuple(part), source)
        for place, part in enumerate(parts, 1)
    )


def together(*derivations: Derivation) -> Theorem:
    """The theorem that all derivations prove, as one conjunction; of one derivation, its theorem.

    Raises
    ------
    ProofError
        If one of them proves nothing.
    """
    if not all(type(derivation) is Derivation for derivation in derivations):
        raise TypeError("only derivations prove something together")
    proved = [derivation.prove() for derivation in derivations]
    hypotheses = frozenset(item for theorem in proved for item in theorem.hypotheses)
    return Theorem(_SEAL, hypotheses, all_of(theorem.conclusion for theorem in proved), tuple(derivations))


_KNOWN: Final = RULES | HELD | {AllOf, Derivation, Formula, Step, Theorem}
"""What a rule may hold besides expressions, numbers and names."""
