"""Identities of the model: every step holds, and a wrong factor or sign is refused."""

from dataclasses import replace

import pytest
from sympy import ZeroMatrix

from fsl_sym import model_identities
from fsl_sym.proof import MatrixIdentity

DERIVATIONS = [name for name in dir(model_identities) if name.endswith("_derivation")]


@pytest.mark.parametrize("name", DERIVATIONS)
def test_every_step_of_a_derivation_holds(name):
    verdict = getattr(model_identities, name)().verify()
    assert verdict.holds, verdict.detail


@pytest.mark.parametrize("name", DERIVATIONS)
def test_a_step_with_a_wrong_factor_does_not_hold(name):
    for step in getattr(model_identities, name)():
        if isinstance(step.justification, MatrixIdentity) and not isinstance(step.after, ZeroMatrix):
            assert not replace(step, after=2 * step.after).verify().holds, step.why
            assert not replace(step, after=-step.after).verify().holds, step.why


def test_wrong_versions_of_the_equations_are_refuted():
    first = model_identities.noise_derivation().steps[0]
    w, h, u = model_identities.PROJECTION, model_identities.COVARIANCE, model_identities.RESIDUAL
    for wrong in (first.after + w * h * u * u.T * h * w.T, first.after - w * h * w.T):
        assert not replace(first, after=wrong).verify().holds
