"""All claims checked over any executor, what was checked before taken from a cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from dataclasses import replace
from functools import cache as cached
from typing import Any, Final

from fsl_num.claims.cache import Cache
from fsl_num.claims.claim import Claim
from fsl_num.claims.records import Outcome, Verdict
from fsl_num.claims.registry import all_claims
from fsl_num.claims.registry import claim as claim_of
from fsl_num.claims.verdict import STRENGTH
from fsl_num.claims.verification import SAMPLES
from fsl_num.claims.verification import verify as verify_claim
from fsl_num.validation import entries, instance_of, known_executor, one_of, whole_seed
from fsl_num.workers import LostWorkersError

__all__ = ["LOST", "settle", "verify", "verify_all"]

LOST: Final = "its worker was lost again and again, killed perhaps for want of memory: try fewer processes"
"""The message of a claim of which nothing is known for that reason."""


def verify(
    claim: str | Claim, profile: str = "quick", seed: int = 0, *, at: Sequence[tuple[Any, Any]] | None = None
) -> Outcome:
    """One claim checked in all its regimes, or at the points given.

    Parameters
    ----------
    claim
        Its id, or what :func:`fsl_num.claims.registry.claim` gives.
    profile
        "quick" (one point a regime, and the paper's own), "full" (six points a regime, more effort, and where a
        hypothesis may not hold, so that one that is left out is noticed) or "deep" (24 points a regime, most effort;
        for the night).
    seed
        Draws the points, and what the claim itself draws.
    at
        Exact points (s, beta) in the place of those that the profile draws.

    Returns
    -------
    Outcome
        The outcome; a check that breaks is UNKNOWN with its message, never passed over.

    Raises
    ------
    ValueError
        If there is no claim of that id, with the nearest; or no such profile.

    Examples
    --------
    >>> print(verify("lemma: N-exp-decay"))
    lemma: N-exp-decay: PROVED (passes); 18 of 18 wrong versions refuted; constants [1, 1]
    """
    return verify_claim(claim_of(claim) if isinstance(claim, str) else claim, profile, seed, at=at)


def verify_all(
    ids: Sequence[str] | None = None,
    *,
    profile: str = "quick",
    seed: int = 0,
    executor: Executor | None = None,
    progress: Callable[[Outcome], None] | None = None,
    cache: Cache | None = None,
) -> tuple[Outcome, ...]:
    """All claims (or those named, with those that they rest on or that correct them), in the order of the registry.

    A claim that is refuted passes when the claim that corrects it passes. Any other is at most as strong as the weakest
    claim on which it depends, and UNKNOWN where one of these does not pass. What comes out depends on the profile and
    the seed alone, not on the executor nor on the order; a claim whose worker was lost is UNKNOWN (:data:`LOST`).

    Parameters
    ----------
    ids
        Of the claims, at least one; None for all.
    profile
        "quick", "full" or "deep", see :func:`verify`.
    seed
        Of every draw.
    executor
        Any ``concurrent.futures.Executor``; this process by default. Families of claims that share a
        measurement go to it whole, and those that took longest (known from the cache) go first.
    progress
        Called with each outcome as it ends, from the cache or not.
    cache
        Where outcomes are kept as soon as they end, and found again.

    Examples
    --------
    >>> [(outcome.claim_id, outcome.passes) for outcome in verify_all(["sec: effect-lrs/data-over-model"])]
    [('sec: effect-lrs/data-over-model', True), ('sec: effect-lrs/data-over-model-derived', True)]
    """
    ids = None if ids is None else entries("ids", ids, str, least=1, needed="a list of claims")
    one_of("profile", profile, SAMPLES, f"unknown profile {profile!r}: choose {', '.join(SAMPLES)}")
    seed, executor = whole_seed(seed), known_executor(executor)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of an outcome, or None, got {progress!r}")
    if cache is not None:
        instance_of("cache", cache, Cache)
    needed = _with_what_they_need(ids)
    outcomes: dict[str, Outcome] = {}
    for outcome in _checked(needed, profile, seed, executor, cache):
        outcomes[outcome.claim_id] = outcome
        if progress is not None:
            progress(outcome)
    settled = settle(outcomes)
    return tuple(settled[claim_id] for claim_id in needed)


def settle(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Each outcome with the verdict that the other ones leave it; what is not among them weakens nothing.

    A claim that is refuted passes when the claim that corrects it passes, and is replaced by it where others rest on
    it. Any other is at most as strong as the weakest claim on which it depends, and UNKNOWN where one of these does not
    pass.

    >>> verified = verify_all(["eqn: sgd"])
    >>> [outcome.verdict.value for outcome in settle({outcome.claim_id: outcome for outcome in verified}).values()]
    ['PROVED']
    """

    @cached
    def settled(claim_id: str) -> Outcome:
        outcome, claim = outcomes[claim_id], claim_of(claim_id)
        if outcome.verdict is Verdict.REFUTED and (right := claim.corrected_by or "") in outcomes:
            return replace(outcome, passes=settled(right).passes)
        for name in claim.depends if outcome.verdict in STRENGTH else ():
            if name not in outcomes:
                continue
            basis = standing(name)
            if basis.verdict not in STRENGTH:
                message = f"it depends on {name}, which is {basis.verdict}"
                return replace(outcome, verdict=Verdict.UNKNOWN, passes=False, message=message)
            if STRENGTH.index(basis.verdict) < STRENGTH.index(outcome.verdict):
                message = f"{outcome.verdict} under {basis.claim_id}, on which it depends and which is {basis.verdict}"
                outcome = replace(outcome, verdict=basis.verdict, message=message)
        return outcome

    def standing(claim_id: str) -> Outcome:
        """The outcome of a claim; of one that is refuted that of the claim that corrects it, where there is one."""
        outcome, right = settled(claim_id), claim_of(claim_id).corrected_by or ""
        return standing(right) if outcome.verdict is Verdict.REFUTED and right in outcomes else outcome

    return {claim_id: settled(claim_id) for claim_id in outcomes}


def _checked(
    ids: Sequence[str], profile: str, seed: int, executor: Executor | None, cache: Cache | None
) -> Iterator[Outcome]:
    missing = []
    for claim_id in ids:
        kept = None if cache is None else cache.get(claim_of(claim_id), profile, seed)
        if kept is None:
            missing.append(claim_id)
        else:
            yield kept
    if executor is None:
        for claim_id in missing:
            yield from (outcome for outcome, _ in _verify_ids([claim_id], profile, seed, cache))
        return
    families: dict[str, list[str]] = {}
    for claim_id in missing:
        families.setdefault(claim_of(claim_id).family or claim_id, []).append(claim_id)
    ordered = longest_first(list(families.values()), profile, cache)
    futures = {executor.submit(_verify_ids, family, profile, seed, cache): family for family in ordered}
    for future in as_completed(futures):
        try:
            outcomes = future.result()
        except (LostWorkersError, BrokenExecutor):
            for claim in map(claim_of, futures[future]):
                yield Outcome(claim.id, claim.title, Verdict.UNKNOWN, False, (), (), 0.0, message=LOST)
            continue
        for outcome, derived in outcomes:
            claim_of(outcome.claim_id).take(derived)
            if cache is not None:  # a worker on another machine could not keep it there
                cache.put(claim_of(outcome.claim_id), profile, seed, outcome)
            yield outcome


def _verify_ids(
    ids: Sequence[str], profile: str, seed: int, cache: Cache | None = None
) -> list[tuple[Outcome, Mapping[str, Any]]]:
    """Verify these claims, and keep each outcome as soon as it ends, so that a run that is killed is resumed there.

    Beside each is what was derived of the claim, which whoever shows it would derive again.
    """
    outcomes = []
    for claim in map(claim_of, ids):
        outcome = verify_claim(claim, profile, seed)
        if cache is not None:
            cache.put(claim, profile, seed, outcome)
        outcomes.append((outcome, claim.derived))
    return outcomes


def longest_first(families: list[list[str]], profile: str, cache: Cache | None) -> list[list[str]]:
    """The longest first, so that workers end together: those of unknown cost before the others, the largest first."""

    def seconds(family: Sequence[str]) -> float:
        known = [None if cache is None else cache.seconds(claim_of(claim_id), profile) for claim_id in family]
        return math.inf if None in known else sum(duration for duration in known if duration is not None)

    return sorted(families, key=lambda family: (-seconds(family), -len(family)))


def _with_what_they_need(ids: Sequence[str] | None) -> list[str]:
    order = [claim.id for claim in all_claims()]
    if ids is None:
        return order
    needed = set()
    waiting = list(ids)
    while waiting:
        current = claim_of(waiting.pop())
        if current.id not in needed:
            needed.add(current.id)
            waiting += [*current.depends, *([current.corrected_by] if current.corrected_by else [])]
    return [claim_id for claim_id in order if claim_id in needed]
