"""Identities of the stochastic equations: every step holds, and a wrong one is refused."""

from dataclasses import replace

import pytest
from sympy import ZeroMatrix

from fsl_sym import stochastic_identities
from fsl_sym.proof import MatrixIdentity

DERIVATIONS = [name for name in dir(stochastic_identities) if name.endswith("_derivation")]


@pytest.mark.parametrize("name", DERIVATIONS)
def test_every_step_of_a_derivation_holds(name):
    verdict = getattr(stochastic_identities, name)().verify()
    assert verdict.holds, verdict.detail


@pytest.mark.parametrize("name", DERIVATIONS)
def test_a_step_with_a_wrong_factor_does_not_hold(name):
    for step in getattr(stochastic_identities, name)():
        if isinstance(step.justification, MatrixIdentity) and not isinstance(step.after, ZeroMatrix):
            assert not replace(step, after=2 * step.after).verify().holds, step.why
            assert not replace(step, after=-step.after).verify().holds, step.why


def test_a_wrong_rate_is_refuted():
    rate, printed = stochastic_identities.coordinate_derivation().steps[:2]
    for step in (rate, printed):
        assert not replace(step, after=step.after / 2).verify().holds
        assert not replace(step, after=step.after + 1).verify().holds
    clock = stochastic_identities.change_of_clock_derivation().steps[2]
    assert not replace(clock, after=clock.after / stochastic_identities.STEP).verify().holds
