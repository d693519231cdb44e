"""A derivation is a chain of steps, and every step is verified by the machine.

A :class:`Step` says what stood before, what stands after, by which rule and why. Its justification (from
:mod:`fsl_sym.justifications`) carries what the rule needs and checks it. A step that is wrong by a sign, a factor or a
term is refuted or left unproved; it never holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, overload

from sympy import Expr, latex

from fsl_sym.justifications import Justification, StepVerdict, refuse

RELATIONS: Final[Mapping[str, str]] = {
    "identity": "=",
    "sum": "=",
    "interchange": "=",
    "integral": "=",
    "substitution": "=",
    "limit": "->",
    "bound": "<=",
    "comparison": "~",
    "residue": "~",
    "order": "~",
    "optimum": "~",
}
"""How ``before`` stands to ``after`` under each rule."""

_LATEX_RELATIONS: Final[Mapping[str, str]] = {
    "=": "=",
    "->": r"\longrightarrow",
    "<=": r"\le",
    "~": r"\simeq",
    "<~": r"\lesssim",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``begins`` marks the first step of a sub-derivation, which need not continue the step before it.

    >>> from fsl_sym.justifications import Identity
    >>> from fsl_sym.symbols import a
    >>> Step(a + a, 2 * a, "identity", "add", Identity()).verify().holds
    True
    """

    before: Expr
    after: Expr
    rule: str
    why: str
    justification: Justification
    begins: bool = False

    def __post_init__(self) -> None:
        if self.rule not in RELATIONS:
            raise ValueError(f"unknown rule {self.rule!r}; the rules are {', '.join(sorted(RELATIONS))}")
        if not self.why.strip():
            raise ValueError("a step needs a reason: give `why`")

    @property
    def relation(self) -> str:
        """``=``, ``<=``, ``->``, ``~``, or ``<~`` where the justification bounds an order from above only."""
        return str(getattr(self.justification, "relation", RELATIONS[self.rule]))

    def verify(self) -> StepVerdict:
        """Check the step by its own rule."""
        if self.justification.rule != self.rule:
            return refuse(f"the rule is {self.rule!r} but its justification proves {self.justification.rule!r}")
        try:
            return self.justification.check(self.before, self.after)
        except (ValueError, TypeError) as error:  # what sympy raises where it cannot evaluate a side
            return refuse(f"the rule could not be applied: {error}")

    def __str__(self) -> str:
        return f"{self.before}\n  {self.relation} {self.after}\n    [{self.rule}] {self.why}"


@dataclass(frozen=True, slots=True)
class DerivationVerdict:
    """The verdicts of all steps; ``holds`` if every step holds and the chain is unbroken."""

    holds: bool
    steps: tuple[StepVerdict, ...]
    detail: str


@dataclass(frozen=True, slots=True, repr=False)
class Derivation(Sequence[Step]):
    """A named chain of steps with its assumptions and its source in the paper; behaves like a tuple of steps.

    Examples
    --------
    >>> from sympy import Integral, exp
    >>> from fsl_sym.justifications import Antiderivative
    >>> from fsl_sym.symbols import lam, t, T
    >>> whole = Integral(exp(-2 * lam * t), (t, 0, T))
    >>> value = (1 - exp(-2 * lam * T)) / (2 * lam)
    >>> step = Step(whole, value, "integral", "antiderivative", Antiderivative(-exp(-2 * lam * t) / (2 * lam)))
    >>> Derivation("mode", "One mode", (step,)).verify().holds
    True
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    assumptions: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError(f"the derivation {self.name!r} has no steps; give at least one")

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
    def conclusion(self) -> Expr:
        """What the last step arrives at."""
        return self.steps[-1].after

    def verify(self) -> DerivationVerdict:
        """Check every step and that each begins where the one before it ended."""
        verdicts = tuple(step.verify() for step in self.steps)
        faults = [f"step {i}: {verdict.detail}" for i, verdict in enumerate(verdicts) if not verdict.holds]
        for i in range(1, len(self.steps)):
            if not self.steps[i].begins and self.steps[i].before != self.steps[i - 1].after:
                faults.append(f"step {i} does not begin where step {i - 1} ended")
        return DerivationVerdict(not faults, verdicts, "; ".join(faults) or "every step holds")

    def __repr__(self) -> str:
        return f"<Derivation {self.title!r}: {len(self.steps)} steps>"

    def __str__(self) -> str:
        lines = [f"{self.title} ({self.name})"]
        lines += [f"  assumes {item}" for item in self.assumptions]
        for i, step in enumerate(self.steps):
            if i == 0 or step.begins:
                lines.append(f"  {step.before}")
            lines.append(f"    {step.relation} {step.after}    [{step.rule}: {step.why}]")
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        body = f"& {words_latex(self.title, 'textbf')}"
        if self.assumptions:
            body += " \\\\\n& \\text{assuming }" + r",\ ".join(words_latex(item) for item in self.assumptions)
        for i, step in enumerate(self.steps):
            before, after = latex(step.before), latex(step.after)
            why = rf"\qquad {{\small {words_latex(step.why)}}}"
            line = rf"& \quad {_LATEX_RELATIONS[step.relation]} {after} {why}"
            if before == after:
                body += f" \\\\[6pt]\n& {before} {why}"
            elif i == 0 or (step.begins and step.before != self.steps[i - 1].before):
                body += f" \\\\[6pt]\n& {before} \\\\[2pt]\n{line}"
            else:
                body += f" \\\\[2pt]\n{line}"
        return f"$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$"


_GREEK: Final = r"\b(beta|gamma|lambda|sigma|tau|theta|zeta|phi|Phi|Gamma)(?![a-z])"
_FORMULA: Final = re.compile(rf"[_^=<>~*/+{{}}]|^-$|{_GREEK}|\w\(|^\(?(?:[B-HJ-Z]|I[12]|d(?:t|tau))\)?$")
_SMALL: Final = re.compile(r"\(?-?(?:[a-zA-Z]|\d+)\)?")
_SIGN: Final = re.compile(r"[-=<>~*/+]+")
_REWRITE: Final = (
    (r"([{}])", r"\\\1"),
    (r"\bI([12])\b", r"I_\1"),
    (r"\^\(([^()]*)\)", r"^{\1}"),
    (r"\^(-?\w+)", r"^{\1}"),
    (r"_(\w+)", r"_{\1}"),
    (r"\bd(t|tau)\b", r"d\1"),
    (rf"(?<![\\a-z]){_GREEK}", r"\\\1 "),
    (r"(?<![\\a-z])(exp|log|min|max)\b", r"\\\1 "),
    (r"\bd(tau)\b", r"d\\\1"),
    ("->", r"\\to "),
    ("<=", r"\\le "),
    (">=", r"\\ge "),
    ("<<", r"\\ll "),
    (">>", r"\\gg "),
    ("~", r"\\sim "),
)


def words_latex(text: str, style: str = "text") -> str:
    r"""A sentence in LaTeX: its words as text (or ``textbf``), what stands in it as a formula (``T_1``) as formula.

    >>> words_latex("each mode forgets at rate 2 lambda_j")
    '\\text{each mode forgets at rate}\\ 2 \\lambda _{j}'
    """
    words = text.split(" ")
    cores = [word.rstrip(",:;") for word in words]
    known = [bool(_FORMULA.search(core)) for core in cores]
    for place in range(len(words) - 1):
        known[place] &= cores[place : place + 2] != ["gamma", "function"]
    for place in (*range(len(words)), *reversed(range(len(words)))):
        # A letter or a number beside a formula belongs to it; "a" is an article unless a sign stands beside it.
        ends = [k for k in (place - 1, place + 1) if 0 <= k < len(words) and known[k]]
        joined = [k for k in ends if words[min(k, place)] == cores[min(k, place)]]
        if _SMALL.fullmatch(cores[place]) and (cores[place] != "a" or any(_SIGN.fullmatch(cores[k]) for k in joined)):
            known[place] |= bool(joined)
    groups = groupby(zip(words, known, strict=True), key=lambda pair: pair[1])
    pieces = [(formula, " ".join(word for word, _ in group)) for formula, group in groups]
    return r"\ ".join(_formula_latex(piece) if formula else rf"\{style}{{{piece}}}" for formula, piece in pieces)


def _formula_latex(formula: str) -> str:
    for pattern, replacement in _REWRITE:
        formula = re.sub(pattern, replacement, formula)
    return formula
