"""Capacity, source and the spaces of the kernel: every step holds, and a wrong one is refused."""

from dataclasses import replace

import pytest
from sympy import ZeroMatrix

from fsl_sym import kernel_spaces
from fsl_sym.proof import MatrixIdentity

DERIVATIONS = [name for name in dir(kernel_spaces) if name.endswith("_derivation")]


@pytest.mark.parametrize("name", DERIVATIONS)
def test_every_step_of_a_derivation_holds(name):
    verdict = getattr(kernel_spaces, name)().verify()
    assert verdict.holds, verdict.detail


@pytest.mark.parametrize("name", DERIVATIONS)
def test_a_step_with_a_wrong_factor_does_not_hold(name):
    for step in getattr(kernel_spaces, name)():
        if isinstance(step.justification, MatrixIdentity) and not isinstance(step.after, ZeroMatrix):
            assert not replace(step, after=2 * step.after).verify().holds, step.why
            assert not replace(step, after=-step.after).verify().holds, step.why


def test_wrong_exponents_are_refuted():
    coefficient, source = kernel_spaces.coefficient_derivation()[0], kernel_spaces.source_derivation()[0]
    j, beta, s = kernel_spaces.j, kernel_spaces.beta, kernel_spaces.s
    assert not replace(coefficient, after=j ** (-s * beta) / j ** (1 / 2)).verify().holds
    assert not replace(source, after=j ** (-1 - beta * (s - kernel_spaces.DELTA))).verify().holds
