"""The identities behind the constants: each is verified, and a wrong neighbour of each is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Integer, simplify

from fsl_sym import best_constants
from fsl_sym.best_constants import CONTRACTION, SUBCONVOLUTION, constant_source_factor, limit_factor, signal_factor
from fsl_sym.proof import Derivation

EVERY = (
    best_constants.supersolutions,
    best_constants.pair_of_modes,
    best_constants.tilted_mass,
    best_constants.resolvent_limit,
    best_constants.tail_mass,
)


@pytest.mark.parametrize("derivation", [each() for each in EVERY], ids=lambda each: each.name)
def test_every_step_is_verified_and_none_that_is_off_by_a_factor(derivation: Derivation) -> None:
    assert derivation.verify().holds
    for step in derivation:
        assert not replace(step, after=2 * step.after).verify().holds


def test_the_factors_are_fixed_points_of_their_inequalities() -> None:
    assert simplify(1 + CONTRACTION * constant_source_factor() - constant_source_factor()) == 0
    assert simplify(1 + SUBCONVOLUTION * signal_factor() - signal_factor()) == 0


def test_to_first_order_the_bound_on_the_signal_is_its_limit() -> None:
    """q = 2 c in the limit of large times: 1/(1 - 2 c) and 1/(1 - c)^2 differ in the order c^2 only."""
    difference = signal_factor().subs(SUBCONVOLUTION, 2 * CONTRACTION) - limit_factor()
    assert [simplify(difference.diff(CONTRACTION, order).subs(CONTRACTION, 0)) for order in (0, 1, 2)] == [0, 0, 2]


def test_the_lists_for_the_claims_hold_together() -> None:
    derivations = [*best_constants.all_times_derivations(), *best_constants.best_constant_derivations()]
    assert all(each.verify().holds for each in derivations)
    assert Integer(len({each.name for each in derivations})) == 4
