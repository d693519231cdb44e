"""A claim of the paper as one object: what it says, under which hypotheses, how it is derived, measured and refuted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from fsl_num.claims.borders import Sides
from fsl_num.claims.formula_laws import order_mutants, order_statement, parts_of
from fsl_num.claims.optima import in_words
from fsl_num.claims.statements import Joint, Statement
from fsl_num.claims.texts import compared
from fsl_num.claims.words import Assumed, Where
from fsl_sym.domain import REGIMES, Regime
from fsl_sym.named_sums import definitions, written
from fsl_sym.notations import NOTATIONS, in_notation
from fsl_sym.proof import AllOf, Derivation, Formula, Hypothesis
from fsl_sym.proof.letters import declared, of_letters
from fsl_sym.symbols import beta, s

Role = Literal["printed", "corrected", "argument", "stronger", "own"]
"""Where a claim comes from: the paper as printed; the paper corrected; a step of a proof of the paper, apart from what
it proves; a statement of ours that is stronger than a printed one; one of ours that the paper does not make."""

ALL_REGIMES = tuple(regime.name for regime in REGIMES)


@dataclass(frozen=True)
class Sample:
    """One exact point (s, beta) at which a claim is checked; the regime's name, and how much effort to spend.

    ``effort`` is 0 for the quick profile, 1 for the full one, 2 for the deep one; ``seed`` is for what is drawn.
    """

    regime: str
    s: Any
    beta: Any
    effort: int = 0
    seed: int = 0

    @property
    def point(self) -> tuple[float, float]:
        """(s, beta) as floats."""
        return float(self.s), float(self.beta)


@dataclass(frozen=True)
class Claim:
    """One claim, as printed in the paper or as corrected here.

    ``id`` is the paper's label (a slug where it has none; variants carry a suffix), ``line`` its line in the paper's
    source. ``stated`` is what it states, as one symbolic value (a text in LaTeX where there is no value yet), or what
    makes that when it is asked for as ``formula``; ``hypotheses`` are what it needs: predicates of
    :mod:`fsl_sym.proof`, and sentences for what is none. ``measure(sample)`` is what is measured without knowing the
    claim; ``statement(sample)`` the claim in numbers, made from the formula where it is an order and none is given;
    ``mutants(sample)`` wrong versions beyond those that are made from the formula and those a statement makes of
    itself. ``derive`` gives the derivations that support the claim; it is PROVED where their theorems together are the
    formula, under hypotheses that the claim has.
    Claims of one ``family`` share a measurement and are checked in one process (its own id unless given).
    ``corrected_by`` is the id of the claim that replaces this one where the paper's version fails; ``role`` says where
    the claim comes from (:data:`Role`), ``strengthens`` which printed claim a stronger one implies. ``probability`` is
    for claims about random draws: what is asserted with which probability, the sample size, and the error of the test.
    ``moved`` is the point (s, beta) at which the claim is checked in the place of one that is drawn: where its
    hypotheses hold, and away from borders at which two forms are alike; by default the point itself. ``values`` are
    those that the measurement gives to letters of the formula at every point. ``own`` are the points that it takes
    in the place of one, where it has its own.
    ``also_in`` are notations (of :data:`fsl_sym.notations.NOTATIONS`) in which others state it.
    ``instances(sample)`` puts numbers, matrices and functions that are measured in for all letters of the formula but
    s and beta: at each it holds as it is printed, and its bounds are attained; of an order it gives what the sides are.
    ``mends`` says of a refuted equation or bound what in it is wrong, and what has to stand there: with that it holds
    at the instances, so that no other formula that fails is taken for the printed one.
    ``judged_by`` says by what else than itself an order of a theorem is judged, where the statement has no such law.
    ``beyond(sample)`` is the same measured where a hypothesis may not hold: name -> a measurement, of a joint statement
    some of its parts. With all of its hypotheses but one it shows whether the claim needs that one.
    ``quoted`` are words of the paper, in its LaTeX, near that line: of a printed claim, those that it restates (those
    that are false, where it is refuted); a claim of another role may have none.
    What it says in words, and in LaTeX, is made from the formula. ``remark`` are words beside it, of which nothing is
    measured: what it means, or why it holds.
    """

    id: str
    label: str
    line: int
    title: str
    stated: Formula | AllOf | str | Callable[[], Formula | AllOf | str]
    hypotheses: tuple[str | Hypothesis, ...]
    measure: Callable[[Sample], Any]
    statement: Callable[[Sample], Statement] | None = None
    mutants: Callable[[Sample], Mapping[str, Statement]] = lambda sample: {}
    derive: Callable[[], Any] | None = None
    regimes: tuple[str, ...] = ALL_REGIMES
    depends: tuple[str, ...] = ()
    corrected_by: str | None = None
    family: str = ""
    role: Role = "printed"
    strengthens: str | None = None
    probability: str = ""
    extra_points: Mapping[str, tuple[tuple[Any, Any], ...]] = field(default_factory=dict)
    quoted: str = ""
    moved: Callable[[Any, Any], tuple[Any, Any]] = lambda s, beta: (s, beta)
    values: Mapping[Any, tuple[Any, ...]] = field(default_factory=dict)
    own: Callable[[Any, Any], Sequence[tuple[Any, Any]]] = lambda s, beta: ((s, beta),)
    judged_by: str = ""
    instances: Callable[[Sample], Sequence[Mapping[Any, Any]]] | None = None
    mends: Mapping[Any, Any] = field(default_factory=dict)
    beyond: Callable[[Sample], Mapping[str, Any]] | None = None
    remark: str = ""
    also_in: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = set(self.regimes) - set(ALL_REGIMES)
        if unknown or not self.regimes:
            raise ValueError(f"claim {self.id}: regimes must be among {ALL_REGIMES} and not empty, not {self.regimes}")
        if self.role not in get_args(Role) or (self.role == "stronger") != (self.strengthens is not None):
            raise ValueError(
                f"claim {self.id}: the role must be one of {get_args(Role)}, and a stronger claim (no other) "
                f"says which claim it strengthens; not {self.role!r} with strengthens = {self.strengthens!r}"
            )
        if self.role == "printed" and not self.quoted:
            raise ValueError(f"claim {self.id} is printed in the paper: quote its words, or give it another role")
        orders = self.statement is None and [part.relation in ("~", "<~") for part in parts_of(self.formula)]
        if self.statement is None and not (orders and all(orders)):
            raise ValueError(f"claim {self.id} needs a statement: numbers are made from formulas of orders alone")
        if not self.hypotheses:
            raise ValueError(f"claim {self.id} has no hypotheses: say at least 's > 0, beta > 1'")
        words = next((hypothesis for hypothesis in self.hypotheses if not compared(hypothesis)), None)
        if words is not None:
            raise ValueError(
                f"claim {self.id} assumes {words!r}, and nothing measured is compared with words: write a relation, a "
                "list of values or kinds of a thing; Where for what a letter stands for; Assumed, with the reason, for "
                "what no number shows"
            )
        for kind, text, signs in (("title", self.title, r"[<>=~^*$\\]"), ("remark", self.remark, r"[\d<>=~^*/_$\\]")):
            if re.search(signs, text):
                raise ValueError(
                    f"claim {self.id} has the {kind} {text!r}: nothing measured is compared with a {kind}, so that it "
                    "is of words alone; a relation, a formula or a number belongs to what the claim states"
                )

    def __str__(self) -> str:
        """Its id and place, its title, and what it says."""
        return f"{self.id} ({self.role}, line {self.line}): {self.title}\n{self.wording}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex}$"

    @property
    def wording(self) -> str:
        """What its formula says as a sentence, its expressions between dollar signs."""
        return in_words(self.formula, written)

    @cached_property
    def formula(self) -> Formula | AllOf | str:
        """What the claim states."""
        return self.stated() if callable(self.stated) else self.stated

    @cached_property
    def latex(self) -> str:
        """The claim in LaTeX, without delimiters."""
        return self.formula if isinstance(self.formula, str) else self.formula.latex(written)

    @property
    def would_hold(self) -> tuple[str, ...]:
        """With what in the place of what a refuted formula holds, as texts."""
        return tuple(f"with ${written(new)}$ in the place of ${written(old)}$" for old, new in self.mends.items())

    @property
    def elsewhere(self) -> dict[str, str]:
        """The claim in the notations of others: whose they are, and it as a sentence in their letters."""

        def said(name: str) -> str:
            return in_words(self.formula, lambda expression: written(in_notation(expression, name)))

        return {f"{NOTATIONS[name].used_by} ({NOTATIONS[name].meaning})": said(name) for name in self.also_in}

    @cached_property
    def sides(self) -> Sides:
        """On what sides of the (s, beta) plane the formula has its forms."""
        return Sides.of(self.formula, self.values)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The hypotheses as texts, formulas between dollar signs."""
        return tuple(
            f"${hypothesis.latex(written)}$" if isinstance(hypothesis, Formula) else str(hypothesis)
            for hypothesis in self.hypotheses
            if not isinstance(hypothesis, Where | Assumed)
        )

    @property
    def assumed(self) -> tuple[Assumed, ...]:
        """What it idealises: assumed, and not measured."""
        return tuple(hypothesis for hypothesis in self.hypotheses if isinstance(hypothesis, Assumed))

    @property
    def where(self) -> tuple[str, ...]:
        """What its letters stand for, as texts, and what the paper's names of sums over modes do."""
        sides = [side for part in parts_of(self.formula) for side in (part.left, part.right, *part.program[:1])]
        sums = {name: defined for side in sides for name, defined in definitions(side).items()}
        return (
            *(str(known) for known in self.hypotheses if isinstance(known, Where)),
            *(f"${name} = {defined}$" for name, defined in sums.items()),
        )

    @cached_property
    def given(self) -> frozenset[Hypothesis]:
        """All that the claim assumes: its hypotheses that are predicates, and what its letters are declared to be."""
        stated = {hypothesis for hypothesis in self.hypotheses if not isinstance(hypothesis, str)}
        if isinstance(self.formula, Formula | AllOf):
            stated |= of_letters(self.formula)
            # what tends to 0 or to infinity is positive on the way
            stated |= {
                known
                for part in parts_of(self.formula)
                if part.variable is not None
                for known in declared(part.variable)
            }
        return frozenset(stated)

    def derivations(self) -> tuple[Derivation, ...]:
        """The derivations that support the claim; none where it has no proof by machine."""
        return self._derived

    @cached_property
    def _derived(self) -> tuple[Derivation, ...]:
        derived = () if self.derive is None else self.derive()
        return (derived,) if isinstance(derived, Derivation) else tuple(derived)

    @property
    def derived(self) -> Mapping[str, Any]:
        """What this process has derived of the claim, for another one to :meth:`take`."""
        return {name: vars(self)[name] for name in ("formula", "_derived") if name in vars(self)}

    def take(self, derived: Mapping[str, Any]) -> None:
        """Keep what another process has derived (see :attr:`derived`), so that it is not derived again."""
        vars(self).update(derived)

    def says(self, sample: Sample) -> Statement:
        """The claim in numbers at a sample."""
        if self.statement is not None:
            return self.statement(sample)
        made = {str(part): order_statement(part, sample) for part in parts_of(self.formula)}
        return next(iter(made.values())) if len(made) == 1 else Joint(made)

    def put_in(self, sample: Sample) -> tuple[Mapping[Any, Any], ...]:
        """What is put in for the letters of the formula at a sample: its instances, with s and beta."""
        point = dict(zip((s, beta), sample.point, strict=True))
        return () if self.instances is None else tuple({**point, **values} for values in self.instances(sample))

    def wrong_versions(self, sample: Sample) -> dict[str, Statement]:
        """The mutants at a sample: of the formula, where the numbers are made from it, and those that are given."""
        wrong: dict[str, Statement] = {}
        parts = parts_of(self.formula) if self.statement is None else ()
        for part in parts:
            for name, mutant in order_mutants(part, sample).items():
                wrong[name if len(parts) == 1 else f"{part}: {name}"] = (
                    mutant if len(parts) == 1 else Joint({str(part): mutant})
                )
        return {**wrong, **self.mutants(sample)}

    def regime_objects(self) -> tuple[Regime, ...]:
        """The regimes in which the claim is checked."""
        return tuple(regime for regime in REGIMES if regime.name in self.regimes)
