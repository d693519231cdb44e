"""One outcome: measure a claim in every regime, judge it, refuse its mutants, find what its check resolves."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

from fsl_num.claims.agreement import unlike
from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.definitions import undefined, untried
from fsl_num.claims.directions import combined_mutants
from fsl_num.claims.hypotheses import bare, unvaried, violated
from fsl_num.claims.outside import contradiction, unmeasured_end
from fsl_num.claims.points import points
from fsl_num.claims.proofs import unproved
from fsl_num.claims.ranges import Reached, unreached
from fsl_num.claims.records import (
    DerivationRecord,
    MutantOutcome,
    Outcome,
    PointOutcome,
    RegimeOutcome,
)
from fsl_num.claims.resolution import Checked, resolutions
from fsl_num.claims.settings import unlike_measured, unmeasured
from fsl_num.claims.statements import Joint, NothingCompared, Statement
from fsl_num.claims.verdict import Evidence, verdict_of
from fsl_num.validation import entries, instance_of, one_of, whole_seed
from fsl_sym.domain import regime_of
from fsl_sym.values import exact

SAMPLES = {"quick": 1, "full": 6, "deep": 24}
"""How many points of each regime a profile draws; its place in this order is the effort of its samples."""


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Look for cycles a hundred times more seldom: expressions are many objects and hardly any cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(100 * usual[0], *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def verify(
    claim: Claim, profile: str = "quick", seed: int = 0, *, at: Sequence[tuple[Any, Any]] | None = None
) -> Outcome:
    """One claim checked, as :func:`fsl_num.claims.runner.verify` does, which takes its id too.

    Here nothing is known of other claims: what was found of one is kept until its own code changes.

    >>> from fsl_num.claims.registry import claim
    >>> verify(claim("sec: effect-lrs/data-over-model")).verdict
    <Verdict.REFUTED: 'REFUTED'>
    """
    instance_of("claim", claim, Claim)
    one_of("profile", profile, SAMPLES, f"unknown profile {profile!r}: choose {', '.join(SAMPLES)}")
    seed = whole_seed(seed)
    chosen: dict[str, list[Sample]] | None = None
    if at is not None:
        points = [entries("each of at", point) for point in entries("at", at, needed="a list of pairs (s, beta)")]
        if not points or any(len(point) != 2 for point in points):
            raise ValueError(f"at must hold pairs (s, beta), at least one, or be None for those drawn, got {at!r}")
        chosen = {}
        for point in points:
            sample = sample_at(claim, *point, seed=seed, profile=profile)
            chosen.setdefault(sample.regime, []).append(sample)
    start = time.process_time()
    with _seldom_collected():
        try:
            derivations, regimes, evidence = _checked(claim, profile, seed, chosen)
        except NothingCompared as error:
            derivations, regimes, evidence = (), (), Evidence(nothing=f"the check compared nothing: {error}")
        except Exception as error:
            derivations, regimes, evidence = (), (), Evidence(fault=f"{type(error).__name__}: {error}")
    verdict, message = verdict_of(evidence)
    return Outcome(
        claim.id,
        claim.title,
        verdict,
        verdict.passes,
        regimes,
        derivations,
        time.process_time() - start,
        message,
        claim.corrected_by,
        evidence.unproved if verdict.passes else "",
    )


def _checked(
    claim: Claim, profile: str, seed: int, chosen: Mapping[str, Sequence[Sample]] | None
) -> tuple[tuple[DerivationRecord, ...], tuple[RegimeOutcome, ...], Evidence]:
    """Everything that the checks of a claim show; of points ``chosen``, nothing is asked of the ranges between them."""
    derivations = _derivations(claim)
    samples = samples_of(claim, profile, seed) if chosen is None else chosen
    reached = Reached()
    regimes = tuple(
        _verify_samples(claim, samples[regime.name], reached=reached)
        for regime in claim.regime_objects()
        if samples.get(regime.name)
    )
    failed = [regime for regime in regimes if not regime.holds]
    where = ", ".join(regime.regime for regime in failed)
    evidence = Evidence(
        fails=f"fails in {where}: {failed[0].detail}" if failed else "",
        broken=next(
            (f"the derivation {derivation.name} has a step that does not verify: {derivation.detail}"
             for derivation in derivations if not derivation.holds), ""
        ),
        # An excuse holds for one point; the points of a profile must leave none.
        accepts=_accepted(regimes, excused=chosen is not None),
        unreached=(unreached(reached) or unmeasured(claim, reached)
                   or unmeasured_end(claim, [*chain.from_iterable(samples.values())])) if chosen is None else "",
        unvaried=unvaried(claim, reached) if chosen is None else "",
        unproved=unproved(claim),
        rigorous=all(regime.rigorous for regime in regimes),
    )  # fmt: skip
    # It takes as long as all the rest: it is looked for where nothing else has decided, and not everywhere at first.
    if chosen is None and verdict_of(evidence)[0].passes:
        wrong = contradiction(claim, seed, brief=profile == "quick")
        evidence = replace(evidence, contradicted=f"fails though its hypotheses hold, {wrong}" if wrong else "")
    return derivations, regimes, evidence


def _accepted(regimes: Sequence[RegimeOutcome], *, excused: bool) -> str:
    """Which mutants the check accepts, or where it has none; ``excused`` are those that a measurement cannot refute."""
    mutants = [mutant for regime in regimes for mutant in regime.mutants]
    accepted = [mutant.name for mutant in mutants if not (mutant.refuted or (excused and mutant.excuse))]
    if accepted:
        return f"the check accepts its mutants: {', '.join(accepted[:3])}"
    return next((f"no mutant was made in {regime.regime}" for regime in regimes if not regime.mutants), "")


def samples_of(claim: Claim, profile: str, seed: int) -> dict[str, list[Sample]]:
    """Regime -> the exact points at which a claim is checked under a profile; none where it says nothing there."""
    effort = tuple(SAMPLES).index(profile)
    return {
        name: [Sample(name, *point, effort, seed) for point in chosen]
        for name, chosen in points(claim, SAMPLES[profile], seed).items()
    }


def sample_at(claim: Claim, s: Any, beta: Any, *, seed: int = 0, profile: str = "quick") -> Sample:
    """An exact point (s, beta) as a sample of a claim, moved to where the claim is checked.

    Raises
    ------
    ValueError
        Outside s > 0, beta > 1, and where the claim says nothing about the regime of the point.
    TypeError
        For numbers that are not exact.

    Examples
    --------
    >>> from fsl_num.claims.registry import claim
    >>> sample_at(claim("thm:chinchilla"), "1/2", 4).regime
    'hard'
    """
    regime = regime_of(s, beta)
    if regime.name not in claim.regimes:
        raise ValueError(
            f"(s, beta) = ({s}, {beta}) lies in the {regime.name} regime, and {claim.id} is about "
            f"{' and '.join(claim.regimes)} alone: choose a point there"
        )
    return Sample(regime.name, *claim.moved(exact(s), exact(beta)), tuple(SAMPLES).index(profile), seed)


def verify_at(claim: Claim, s: Any, beta: Any, *, seed: int = 0, profile: str = "quick") -> RegimeOutcome:
    """What a claim's check says at one exact point (s, beta), its derivations and resolutions aside.

    Raises what :func:`sample_at` raises, and what the check itself raises where it breaks.

    >>> from fsl_num.claims.registry import claim
    >>> checked = verify_at(claim("approximation-error"), "1/3", "3/2")
    >>> checked.regime, checked.holds, all(mutant.refuted for mutant in checked.mutants)
    ('edge', True, True)
    """
    return _verify_samples(claim, [sample_at(claim, s, beta, seed=seed, profile=profile)], resolution_too=False)


def _verify_samples(
    claim: Claim, samples: Sequence[Sample], *, resolution_too: bool = True, reached: Reached | None = None
) -> RegimeOutcome:
    """A claim at points of one regime; ``resolution_too``: with the smallest errors that the check refuses there."""
    checked: list[Checked] = []
    for sample in samples:
        statement, measured = claim.says(sample), claim.measure(sample)
        nothing = _empty_part(bare(measured))
        if nothing is not None:
            raise NothingCompared(f"{nothing} has no entries at s = {sample.s}, beta = {sample.beta}")
        fault = violated(claim, sample, measured, reached) or unlike_measured(claim, sample, measured, reached)
        if not fault and reached is not None and sample is samples[0]:  # one point of a regime shows it
            fault = unlike(claim, sample, statement) or undefined(claim) or untried(claim, sample)
        if fault:
            raise ValueError(fault)
        checked.append((sample, statement, bare(measured)))
    judged = [statement.judge(measured) for _, statement, measured in checked]
    place, worst = max(enumerate(judged), key=lambda pair: (not pair[1].holds, pair[1].excess))
    holds = all(judgement.holds for judgement in judged)
    # What is wrong on one side of the formula alone has to be refused there: the sides are judged apart.
    sides: dict[str, list[Checked]] = {}
    for point in checked if holds else ():
        sides.setdefault(_side(claim, samples, point[0]), []).append(point)
    mutants = [_verify_mutants(claim, there, words, excused=len(checked) == 1) for words, there in sides.items()]
    resolution, combinations = resolutions(sides.values()) if resolution_too else ({}, None)
    pairs = [judgement.constants for judgement in judged if judgement.constants is not None]
    return RegimeOutcome(
        samples[0].regime,
        len(samples),
        holds,
        (min(low for low, _ in pairs), max(high for _, high in pairs)) if pairs else None,
        max((judgement.drift for judgement in judged if judgement.drift is not None), default=None),
        tuple(chain.from_iterable(mutants)),
        resolution,
        f"s = {samples[place].s}, beta = {samples[place].beta}: {worst.detail}",
        tuple(
            # The curves of one point a regime are enough for a plot, and keep the record small.
            PointOutcome(
                str(sample.s), str(sample.beta), said.holds, said.constants, said.drift, said.detail,
                said.draw() if sample is samples[0] else (),
            )
            for sample, said in zip(samples, judged, strict=True)
        ),
        all(said.rigorous for said in judged),
        combinations,
    )  # fmt: skip


def _empty_part(measured: Any, name: str = "the measurement") -> str | None:
    """The name of a part of a measurement that has no entries: no statement can compare anything with it."""
    if isinstance(measured, Mapping):
        parts = (_empty_part(part, f"the part {key!r} of the measurement") for key, part in measured.items())
        return name if not measured else next((empty for empty in parts if empty is not None), None)
    return name if isinstance(measured, list | tuple) and not measured else None


def _side(claim: Claim, samples: Sequence[Sample], sample: Sample) -> str:
    """The side of the formula on which a point lies, "" where all points lie on one."""
    sides = {(sample.s, sample.beta): claim.sides.at((sample.s, sample.beta)) for sample in samples}
    common = set.intersection(*map(set, sides.values()))
    return ", ".join(side for side in sides[sample.s, sample.beta] if side not in common)


def _verify_mutants(
    claim: Claim, checked: Sequence[Checked], words: str, *, excused: bool
) -> tuple[MutantOutcome, ...]:
    """Each mutant against the same measurements: the check refutes it when it fails at one of the points checked.

    ``words`` say on which side of the formula these lie; ``excused``: whether measurements may be too few to refute.
    """
    refuted: dict[str, MutantOutcome] = {}
    for sample, statement, measured in checked:
        wrong = {
            **statement.mutants(), **combined_mutants(statement, measured), **claim.wrong_versions(sample)
        }  # fmt: skip
        for mutant_name, mutant in wrong.items():
            name = f"{mutant_name}, {words}" if words else mutant_name
            if name in refuted and refuted[name].refuted:
                continue
            judgement = mutant.judge(measured)
            excuse = _excuse(statement, mutant, measured) if judgement.holds and excused else ""
            refuted[name] = MutantOutcome(name, not judgement.holds, judgement.detail, excuse)
    return tuple(refuted.values())


def _excuse(statement: Statement, mutant: Statement, measured: Any) -> str:
    """Why a wrong version cannot be refused by this measurement; "" where nothing excuses it."""
    if isinstance(mutant, Joint) and isinstance(statement, Joint):
        excuses = (_excuse(statement.parts[name], part, measured[name]) for name, part in mutant.parts.items())
        return next(filter(None, excuses), "")
    unresolved = getattr(statement, "unresolved", None)
    return str(unresolved(mutant, measured)) if unresolved and type(mutant) is type(statement) else ""


def _derivations(claim: Claim) -> tuple[DerivationRecord, ...]:
    if claim.derive is None:
        return ()
    records = []
    for derivation in claim.derivations():
        verdict = derivation.verify()
        steps = len(verdict.steps)
        verified = sum(step.holds for step in verdict.steps)
        # A chain that is broken between two steps counts as one step short, whatever its steps say.
        verified = verified if verdict.holds else min(verified, steps - 1)
        records.append(DerivationRecord(derivation.name, steps, verified, "" if verdict.holds else verdict.detail))
    return tuple(records)
