"""The identities of random features hold step by step, and do not with a wrong sign, factor, order or missing term."""

from dataclasses import replace

import pytest
from sympy import Identity, MatrixSymbol, Trace, symbols

from fsl_sym import random_features as derivations
from fsl_sym.proof import Derivation
from fsl_sym.random_features import WithPowers

NAMES = ("trace", "matrix_analysis", "lost_term", "woodbury", "trace_order", "sign")
N = symbols("N", integer=True, positive=True)
A, B = MatrixSymbol("A", N, N), MatrixSymbol("B", N, N)


def derivation(name) -> Derivation:
    return getattr(derivations, f"{name}_derivation")()


@pytest.mark.parametrize("name", NAMES)
def test_every_step_holds(name):
    found = derivation(name).verify()
    assert found.holds, found.detail


@pytest.mark.parametrize("name", NAMES)
def test_no_step_holds_with_twice_its_result(name):
    for step in derivation(name):
        assert not replace(step, after=2 * step.after).verify().holds, str(step)


def test_without_its_first_term_the_series_is_wrong():
    *_, last = derivation("lost_term")
    learned = derivations._R * derivations._P.T * derivations._K * derivations._G * derivations._P * derivations._R
    assert not replace(last, after=learned).verify().holds


def test_the_first_columns_need_the_inverse_of_h():
    (step,) = derivation("woodbury")
    bare = tuple(
        (word, value if len(word) < 3 else MatrixSymbol("D", derivations.ORDER, derivations.ORDER))
        for word, value in step.justification.relations
    )
    assert bare != step.justification.relations
    assert not replace(step, justification=replace(step.justification, relations=bare)).verify().holds


def test_powers_are_products_and_do_not_commute():
    rules = WithPowers()
    assert rules.check(A**3, A * A * A).holds
    assert not rules.check(A**2, A).holds
    assert not rules.check(A * B, B * A).holds
    assert rules.check(Trace(A**2 * B), Trace(A * B * A)).holds
    assert WithPowers(relations=(((A, A), Identity(N)),)).check(A**3, A).holds
