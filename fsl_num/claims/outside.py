"""Which hypotheses a claim needs: it is judged where one of them does not hold, and has to fail there.

Without a hypothesis a claim says more, and what is measured outside then counts: where it fails, the claim without the
hypothesis is refuted. Restrictions of s and beta are tried at :data:`PLACES` by the claim's own measurement, those of
other letters by what it names as ``beyond``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from sympy import Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import bare, broken, letters_of, relations_assumed
from fsl_num.claims.proofs import unproved
from fsl_num.claims.records import HypothesisOutcome, Judgement, Need
from fsl_num.claims.statements import Joint
from fsl_sym.domain import regime_of
from fsl_sym.proof import Formula
from fsl_sym.proof.letters import declared

PLACES: Final = tuple(
    (Rational(difficulty), Rational(capacity))
    for difficulty, capacity in (
        ("1/5", "3/2"), ("1/2", "4"), ("1/2", "2"), ("1", "2"), ("3/2", "2"), ("2", "2"), ("3", "3/2"), ("2", "7/2"),
    )
)  # fmt: skip
"""Points (s, beta) of every regime, on both sides of beta = 2, s = 1, s = 2 and s = 2 - 1/beta and on these lines."""


@dataclass(frozen=True)
class Elsewhere:
    """A claim judged where its hypotheses may not hold.

    ``broken`` are the relations among them that do not, ``regime`` whether the claim is about the regime; ``judged`` is
    None where nothing can be judged, for the reason ``detail``.
    """

    where: str
    broken: tuple[Formula, ...]
    regime: bool
    judged: Judgement | None
    detail: str

    @property
    def contradicts(self) -> bool:
        """Whether the claim says something there, and it is wrong."""
        return self.regime and not self.broken and self.judged is not None and not self.judged.holds


def elsewhere(claim: Claim, seed: int = 0) -> Iterator[Elsewhere]:
    """A claim at each of :data:`PLACES`, and at its own points along what it measures beyond its hypotheses."""
    for point in PLACES:
        sample = Sample(regime_of(*point).name, *point, seed=seed)
        yield _judged(claim, sample, "", claim.measure)
    if claim.beyond is not None:
        for regime in claim.regime_objects():
            sample = Sample(regime.name, *claim.moved(*regime.samples(1, seed)[0]), seed=seed)
            for name in claim.beyond(sample):
                yield _judged(claim, sample, name, lambda given, name=name: claim.beyond(given)[name])


def _judged(claim: Claim, sample: Sample, name: str, measure: Any) -> Elsewhere:
    where = ", ".join(filter(None, (f"s = {sample.s}, beta = {sample.beta}", name)))
    outside: tuple[Formula, ...] = broken(claim, sample, [])
    inside = sample.regime in claim.regimes
    try:
        statement, measured = claim.says(sample), measure(sample)
        outside = broken(claim, sample, measured)
        judged = (_of_parts(statement, bare(measured)) if name else statement).judge(bare(measured))
    except Exception as error:  # of whatever kind: outside its hypotheses a claim need not be defined
        return Elsewhere(where, outside, inside, None, f"{type(error).__name__}: {error}")
    return Elsewhere(where, outside, inside, judged, judged.detail)


def _of_parts(statement: Any, measured: Any) -> Any:
    """Those parts of a joint statement that are measured."""
    if not isinstance(statement, Joint):
        return statement
    return Joint({name: _of_parts(statement.parts[name], part) for name, part in measured.items()})


def contradiction(claim: Claim, seed: int = 0) -> str:
    """Where a claim fails though all of its hypotheses hold, beside the points of a profile; "" where nowhere."""
    return next((f"{each.where}: {each.detail}" for each in elsewhere(claim, seed) if each.contradicts), "")


def needs(claim: Claim, seed: int = 0) -> tuple[HypothesisOutcome, ...]:
    """For each relation among the hypotheses of a claim whether the claim needs it, as far as that is known.

    Parameters
    ----------
    claim
        From :func:`fsl_num.claims.registry.claim`.
    seed
        Draws the points of what is measured beyond the hypotheses.

    Returns
    -------
    tuple of HypothesisOutcome
        In the order of the hypotheses.

    Examples
    --------
    >>> from fsl_num.claims.registry import claim
    >>> for each in needs(claim("lemma:ke-power/kernel-window")):
    ...     print(each.relation, "is", each.need)
    1 <= t is needed, it fails outside
    t <= M**beta is needed, it fails outside
    """
    tried = list(elsewhere(claim, seed))
    return tuple(_need(claim, relation, tried) for relation in relations_assumed(claim))


def _need(claim: Claim, relation: Formula, tried: list[Elsewhere]) -> HypothesisOutcome:
    lifted = f"without {relation}"  # a constraint that need not bind
    alone = [each for each in tried
             if each.broken == (relation,) or (each.where.endswith(lifted) and not each.broken)]  # fmt: skip
    judged = [(each, each.judged) for each in alone if each.judged is not None]
    failing = [(judgement.excess, each) for each, judgement in judged if not judgement.holds]
    if failing:
        _, worst = max(failing, key=lambda pair: pair[0])
        return HypothesisOutcome(str(relation), Need.MEASURED, f"{worst.where}: {worst.detail}")
    if _is_declared(relation):
        return HypothesisOutcome(str(relation), Need.UNDEFINED, "its letters have no other values")
    if claim.derive is not None and not unproved(claim):
        shorter = replace(claim, hypotheses=tuple(each for each in claim.hypotheses if each != relation) or ("none",))
        lacking = unproved(shorter, claim.derivations())
        if lacking:
            return HypothesisOutcome(str(relation), Need.PROOF, lacking)
    if judged:
        return HypothesisOutcome(str(relation), Need.FREE, f"holds at {'; '.join(each.where for each, _ in judged)}")
    if alone:
        return HypothesisOutcome(str(relation), Need.UNDEFINED, f"{alone[0].where}: {alone[0].detail}")
    return HypothesisOutcome(str(relation), Need.UNMEASURED, "")


def _is_declared(relation: Formula) -> bool:
    """Whether a relation, or a weaker one, is what its letters are declared to be."""
    given = {each for letter in letters_of(relation) for each in declared(letter)}
    if relation in given or replace(relation, relation="<") in given and relation.relation == "<=":
        return True
    return relation.relation == "<=" and relation.left == 0 and bool(relation.right.is_nonnegative)
