"""Every derivation of the package is proved; a changed sign, constant, exponent or rule of any of its steps is refused.

By day a few of them are drawn, always the same; by night it is all of them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest
from conftest import chosen_profile
from sym_derivations import TINY, changes, every, is_false, makers, swapped
from sympy import Integer, Integral, Sum

from fsl_sym.proof import Defined, Derivation, Identity, Limit, Smaller, Step, Theorem

SLOW = {"fsl_sym.allocation.table", "fsl_sym.integrals.power_decay.power_decay_limits"}
ALL = chosen_profile(dict(os.environ)) == "nightly"
NAMES = sorted(makers()) if ALL else Random(7).sample(sorted(set(makers()) - SLOW), 30)
SABOTAGED = 10**9 if ALL else 50


@pytest.fixture(scope="module")
def derivations() -> dict[str, Derivation]:
    return every(NAMES)


@pytest.fixture(scope="module")
def steps(derivations: dict[str, Derivation]) -> list[tuple[str, Step]]:
    return [(name, step) for name, derivation in derivations.items() for step in derivation]


def test_every_derivation_is_proved(derivations: dict[str, Derivation]) -> None:
    assert len(derivations) > 20
    for name, derivation in derivations.items():
        verdict = derivation.verify()
        assert verdict.holds, f"{name}: {verdict.detail}"
        assert {step.method for step in verdict.steps} == {"exact"}, name
        theorem = derivation.prove()
        assert isinstance(theorem, Theorem) and theorem.conclusion == derivation.conclusion


def test_a_changed_step_is_refused_unless_it_still_says_what_is_true(steps: list[tuple[str, Step]]) -> None:
    wrong = []
    for name, step in steps:
        # the sign of a difference with an exponent of 1e-9 is asked of polynomials of degree 1e9
        tiny = Integer(1) if isinstance(step.rule, Smaller) else TINY
        # another sign of nothing is no change
        changed_sides = [(fault, change) for fault, change in changes(step.after, tiny).items() if change != step.after]
        wrong += [(name, step, fault, changed) for fault, changed in changed_sides]
    Random(1).shuffle(wrong)
    refused = 0
    for name, step, fault, changed in wrong[:SABOTAGED]:
        if not replace(step, after=changed).verify().holds:
            refused += 1
        else:
            assert is_false(step, changed) is False or step.relation in ("~", "<~"), f"{name}, {fault}: {changed}"
    assert refused > 0.8 * min(len(wrong), SABOTAGED)


def test_the_rule_of_another_step_proves_nothing_false(steps: list[tuple[str, Step]]) -> None:
    """A rule that also fits must come to the same relation: what the step says then is what was proved of it."""
    draws = Random(2)
    pairs = [(step, source) for step in steps for source in draws.sample(steps, min(3, len(steps)))]
    draws.shuffle(pairs)
    refused = 0
    for (name, step), (_, source) in pairs[:SABOTAGED]:
        # an identity, or a limit, is tried at numbers, and to add up an endless sum or integral takes minutes
        by_numbers = isinstance(source.rule, Identity | Defined | Limit) and step.before.has(Sum, Integral)
        if step.rule == source.rule or by_numbers:
            continue
        again = swapped(step, source)
        if not again.verify().holds:
            refused += 1
        else:
            weaker = {"=": {"=", "<=", ">=", "within", "->"}, "<": {"<", "<="}}.get(step.relation, {step.relation})
            assert again.relation in weaker, f"{name}: {again}"
            # what equals a limit tends to it only when nothing of it moves
            assert not isinstance(again.rule, Limit) or not again.after.has(again.rule.variable), f"{name}: {again}"
    assert refused > 0
