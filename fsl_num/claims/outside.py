"""Which hypotheses a claim needs: it is judged where one of them does not hold, and has to fail there.

Without a hypothesis a claim says more, and what is measured outside then counts: where it fails, the claim without the
hypothesis is refuted. Restrictions of s and beta are tried at :data:`PLACES` by the claim's own measurement, those of
other letters by what it names as ``beyond``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
from sympy import Rational

from fsl_num.claims.agreement import unlike
from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import bare, broken, letters_of, relations_assumed
from fsl_num.claims.proofs import unproved
from fsl_num.claims.records import Judgement
from fsl_num.claims.settings import contradicted
from fsl_num.claims.statements import Joint, NothingCompared
from fsl_sym.domain import regime_of
from fsl_sym.proof import Formula
from fsl_sym.proof.letters import declared
from fsl_sym.symbols import beta, s

PLACES: Final = tuple(
    (Rational(difficulty), Rational(capacity))
    for difficulty, capacity in (
        ("1/5", "3/2"), ("1/2", "4"), ("1/2", "2"), ("1", "2"), ("3/2", "2"), ("2", "2"), ("3", "3/2"), ("2", "7/2"),
    )
)  # fmt: skip
"""Points (s, beta) of every regime, on both sides of beta = 2, s = 1, s = 2 and s = 2 - 1/beta and on these lines."""


class Need(StrEnum):
    """Whether a claim needs one of its hypotheses."""

    MEASURED = "needed, it fails outside"
    PROOF = "needed by the proof"
    FREE = "not needed as far as measured"
    UNDEFINED = "undefined outside"
    FIXED = "measured at that value alone"
    RESTS = "assumed by what it rests on"
    UNMEASURED = "not measured outside"


@dataclass(frozen=True)
class HypothesisOutcome:
    """A relation among the hypotheses of a claim, whether the claim needs it, and where that was seen."""

    relation: Formula
    need: Need
    detail: str = ""


_ENDS_AT: Final = (Rational(2), Rational(7, 2))
"""Values of beta at which claims are tried at the ends of the ranges of s that their hypotheses say."""
_WITHIN: Final = Rational(9, 10)
"""Of an end that does not belong to its range, as near as that."""
EASIEST: Final = (Rational(3), Rational(3, 2))
"""Where the mini-batch noise of the signal decides beside no other."""


@dataclass(frozen=True)
class Elsewhere:
    """A claim judged where its hypotheses may not hold.

    ``broken`` are the relations among them that do not, ``regime`` whether the claim is about the regime; ``judged`` is
    None where nothing can be judged, for the reason ``detail``.
    """

    where: str
    broken: tuple[Formula | str, ...]
    regime: bool
    judged: Judgement | None
    detail: str

    @property
    def contradicts(self) -> bool:
        """Whether the claim says something there, and it is wrong."""
        return self.regime and not self.broken and self.judged is not None and not self.judged.holds


def elsewhere(claim: Claim, seed: int = 0) -> Iterator[Elsewhere]:
    """A claim at :data:`PLACES` and at the ends of the ranges of s that it says; by what it measures beyond its
    hypotheses in each regime and at :data:`EASIEST`."""
    ranged = any(_ends(claim))
    for point in PLACES:
        sample = Sample(regime_of(*point).name, *point, seed=seed)
        trial = _judged(claim, sample, "", None)
        # a claim that says its range of s is about all of it, wherever it is checked
        yield replace(trial, regime=trial.regime or (ranged and not trial.broken))
    for point, closed in _ends(claim):
        sample = Sample(regime_of(*point).name, *(point if closed else claim.moved(*point)), seed=seed)
        yield replace(_judged(claim, sample, "", None), regime=True)  # its hypotheses say that it is about the point
    yield from _beyond(claim, seed)


def _beyond(claim: Claim, seed: int, *, brief: bool = False) -> Iterator[Elsewhere]:
    """A claim by what it measures beyond its hypotheses; ``brief``: in its first regime alone, and judged only where
    all of them hold after all."""
    if claim.beyond is None:
        return
    points = [regime.samples(1, seed)[0] for regime in claim.regime_objects()]
    for point in points[:1] if brief else [*points, EASIEST]:
        sample = Sample(regime_of(*point).name, *claim.moved(*point), seed=seed)
        for name, measured in claim.beyond(sample).items():
            if not brief or not (broken(claim, sample, measured) or contradicted(claim, sample, measured)):
                yield _judged(claim, sample, name, measured)


def _ends(claim: Claim) -> Iterator[tuple[tuple[Any, Any], bool]]:
    """Points at the ends of the ranges of s among the hypotheses, whatever the regimes are in which it is checked, and
    whether the end belongs to the range: the claim then says something there, wherever it is checked."""
    for relation in relations_assumed(claim):
        if relation.relation not in ("<=", "<") or s not in (relation.left, relation.right):
            continue
        above = relation.left == s
        end = relation.right if above else relation.left
        if end == 0 or not end.free_symbols <= {beta}:
            continue
        closed = relation.relation == "<="
        inside = Rational(1) if closed else _WITHIN if above else 1 / _WITHIN
        yield from (((inside * end.subs(beta, capacity), capacity), closed) for capacity in _ENDS_AT)


def unmeasured_end(claim: Claim, samples: Sequence[Sample]) -> str:
    """The first range of s whose end belongs to it, and where a claim is not measured; "" where there is none.

    >>> from fsl_num.claims.registry import claim
    >>> unmeasured_end(claim("thm:fsl-zero-noise"), [Sample("easy", Rational(1), Rational(2))])
    's <= 2 - 1/beta is claimed, and nothing is measured at its end'
    """
    points = [point for sample in samples for point in claim.own(sample.s, sample.beta)]
    for relation in relations_assumed(claim):
        end = relation.right if relation.left == s else relation.left
        if relation.relation == "<=" and s in (relation.left, relation.right) and end != 0:
            ends = [end.subs(beta, capacity) for _, capacity in points]
            reached = any(point[0] == own_end for point, own_end in zip(points, ends, strict=True))
            if not reached and end.free_symbols <= {beta}:
                return f"{relation} is claimed, and nothing is measured at its end"
    return ""


def _judged(claim: Claim, sample: Sample, name: str, beyond: Any) -> Elsewhere:
    """A claim by what is measured beyond it under a name; without one by its own measurement."""
    where = ", ".join(filter(None, (f"s = {sample.s}, beta = {sample.beta}", name)))
    outside: tuple[Formula | str, ...] = broken(claim, sample, [])
    inside = sample.regime in claim.regimes
    try:
        statement, measured = claim.says(sample), beyond if name else claim.measure(sample)
        outside = (*broken(claim, sample, measured), *contradicted(claim, sample, measured))
        difference = unlike(claim, sample, statement)
        if difference:  # what is judged there is another claim
            return Elsewhere(where, outside, inside, None, difference)
        with np.errstate(all="ignore"):
            judged = (_of_parts(statement, bare(measured)) if name else statement).judge(bare(measured))
    except NothingCompared:  # none of what is measured beyond is a part of the claim
        return Elsewhere("", (), False, None, "")
    except (ValueError, ArithmeticError, StopIteration) as error:  # outside its hypotheses a claim need not be defined
        return Elsewhere(where, outside, inside, None, f"{type(error).__name__}: {error}")
    return Elsewhere(where, outside, inside, judged, judged.detail)


def _of_parts(statement: Any, measured: Any) -> Any:
    """Those parts of a joint statement that are measured."""
    if not isinstance(statement, Joint):
        return statement
    parts = {name: part for name, part in measured.items() if name in statement.parts}
    return Joint({name: _of_parts(statement.parts[name], part) for name, part in parts.items()})


def contradiction(claim: Claim, seed: int = 0, *, brief: bool = False) -> str:
    """Where a claim fails though all of its hypotheses hold, beside the points of a profile; "" where nowhere.

    ``brief``: only by what it measures beyond its hypotheses, in its first regime.
    """
    tried = _beyond(claim, seed, brief=True) if brief else elsewhere(claim, seed)
    return next((f"{trial.where}: {trial.detail}" for trial in tried if trial.contradicts), "")


def needs(claim: Claim, others: Sequence[Claim] = (), seed: int = 0) -> tuple[HypothesisOutcome, ...]:
    """For each relation among the hypotheses of a claim whether the claim needs it, as far as that is known.

    Parameters
    ----------
    claim
        From :func:`fsl_num.claims.registry.claim`.
    others
        Claims among which those are looked for on which it rests, and those that strengthen it.
    seed
        Draws the points of what is measured beyond the hypotheses.

    Returns
    -------
    tuple of HypothesisOutcome
        In the order of the hypotheses.

    Examples
    --------
    >>> from fsl_num.claims.registry import claim
    >>> for hypothesis in needs(claim("lemma:ke-power/kernel-window")):
    ...     print(hypothesis.relation, "is", hypothesis.need)
    1 <= t is needed, it fails outside
    t <= M**beta is needed, it fails outside
    """
    tried = list(elsewhere(claim, seed))
    return tuple(_need(claim, relation, tried, others) for relation in relations_assumed(claim))


def _need(claim: Claim, relation: Formula, tried: list[Elsewhere], claims: Sequence[Claim]) -> HypothesisOutcome:
    lifted = f"without {relation}"  # a constraint that need not bind
    alone = [trial for trial in tried
             if trial.broken == (relation,) or (trial.where.endswith(lifted) and not trial.broken)]  # fmt: skip
    judged = [(trial, trial.judged) for trial in alone if trial.judged is not None]
    failing = [(judgement.excess, trial) for trial, judgement in judged if not judgement.holds]
    if failing:
        _, worst = max(failing, key=lambda pair: pair[0])
        return HypothesisOutcome(relation, Need.MEASURED, f"{worst.where}: {worst.detail}")
    if _is_declared(relation):
        return HypothesisOutcome(relation, Need.UNDEFINED, "its letters have no other values")
    if claim.derive is not None and not unproved(claim):
        fewer = tuple(hypothesis for hypothesis in claim.hypotheses if hypothesis != relation)
        lacking = unproved(replace(claim, hypotheses=fewer or ("s > 0",)), claim.derivations())
        if lacking:
            return HypothesisOutcome(relation, Need.PROOF, lacking)
    if judged:
        wider = [wide.id for wide in claims
                 if wide.strengthens == claim.id and relation not in relations_assumed(wide)]  # fmt: skip
        said = f", which {' and '.join(wider)} says" if wider else ""
        return HypothesisOutcome(relation, Need.FREE, f"holds at {'; '.join(trial.where for trial, _ in judged)}{said}")
    if alone:
        return HypothesisOutcome(relation, Need.UNDEFINED, f"{alone[0].where}: {alone[0].detail}")
    if relation.relation == "=" and (relation.left.is_number or relation.right.is_number):
        return HypothesisOutcome(relation, Need.FIXED, "without it the claim would be UNKNOWN")
    resting = [base.id for base in claims if base.id in claim.depends and relation in relations_assumed(base)]
    return HypothesisOutcome(relation, Need.RESTS if resting else Need.UNMEASURED, ", ".join(resting))


def _is_declared(relation: Formula) -> bool:
    """Whether a relation, or a weaker one, is what its letters are declared to be."""
    declarations = {declaration for letter in letters_of(relation) for declaration in declared(letter)}
    if relation in declarations or replace(relation, relation="<") in declarations and relation.relation == "<=":
        return True
    return relation.relation == "<=" and relation.left == 0 and bool(relation.right.is_nonnegative)
