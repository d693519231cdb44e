"""The steps that lead to the ansatz hold, and their neighbours do not."""

from dataclasses import replace

import pytest
from sympy import Derivative, Integer, Integral, Rational, Sum, diff

from fsl_sym import ansatz
from fsl_sym.proof import Derivation
from fsl_sym.symbols import T, beta, t

ALL = [
    ansatz.kernel_integral,
    ansatz.physical_time,
    ansatz.integration_by_parts,
    ansatz.abel_summation,
    ansatz.momentum_kernel,
    ansatz.multi_power_limit,
    ansatz.optimal_rate,
]


@pytest.mark.parametrize("make", ALL)
def test_every_step_holds_and_none_holds_with_a_wrong_end(make):
    derivation = make()
    assert derivation.verify().holds, derivation.verify().detail
    for step in derivation:
        assert not replace(step, after=step.after + 1).verify().holds


def test_the_kernel_integral_is_that_of_the_numbers():
    at = {T: Integer(7), ansatz.x: Integer(3), ansatz.c: Rational(1, 2), beta: Rational(5, 2)}
    first, last = ansatz.kernel_integral()[0].before, ansatz.kernel_integral().conclusion
    assert abs(first.subs(at).evalf(20) - last.subs(at).evalf(20)) < 1e-15  # both to 20 digits
    elsewhere = last.subs(ansatz.x, ansatz.x + 1)
    assert abs(first.subs(at).evalf(20) - elsewhere.subs(at).evalf(20)) > 1e-3


def test_a_drop_acts_from_the_start_of_its_step_on():
    step = ansatz.abel_summation()[0]
    shifted = step.after.replace(
        lambda each: isinstance(each, Sum),
        lambda each: Sum(each.function.subs(ansatz.i - 1, ansatz.i), each.limits[0]),
    )
    assert shifted != step.after and not replace(step, after=shifted).verify().holds


def test_the_boundary_term_of_the_parts_is_needed():
    step = ansatz.integration_by_parts()[1]
    boundary = next(each for each in step.after.args if not isinstance(each, Integral))
    assert not replace(step, after=step.after - boundary).verify().holds


def test_the_steps_of_the_change_of_time_need_the_rate_squared():
    (step,) = ansatz.physical_time()
    once = step.after.replace(ansatz.phi(ansatz.u) ** 2, ansatz.phi(ansatz.u))
    assert once != step.after and not replace(step, after=once).verify().holds


def test_induction_needs_its_base_and_its_increments():
    n, i = ansatz.n, ansatz.i
    odd = Sum(2 * i - 1, (i, 1, n))
    rule = ansatz.Induction(n)
    assert rule.check(odd, n**2).holds
    assert "at n = 0" in rule.check(odd, n**2 + 1).detail
    assert not rule.check(odd, n**2 + n).holds


def test_one_derivative_is_not_enough_and_neither_is_one_value():
    v = ansatz.v
    rule = ansatz.SameDerivative(v, Integer(1))
    assert rule.check(v**2 - 1, (v - 1) * (v + 1)).holds
    assert "at v = 1" in rule.check(v**2, v**2 - 1).detail
    assert "derivatives" in rule.check(v**2, v).detail


def test_what_is_known_must_stand_there():
    rule = ansatz.Known(ansatz.clock(t), T)
    assert rule.check(ansatz.clock(t) ** 2, T**2).holds
    assert "does not stand there" in rule.check(t**2, T**2).detail


def test_the_rate_is_never_taken_for_constant():
    assert ansatz.integration_by_parts()[1].after.has(Derivative)
    assert diff(ansatz.phi(ansatz.u), ansatz.u) != 0
    assert isinstance(ansatz.abel_summation(), Derivation)


def test_two_sums_grow_each_by_its_own_last_term():
    n, k, m = ansatz.n, ansatz.k, ansatz.m
    both = Sum(k, (k, 1, n)) + Sum(m**2, (m, 1, n))
    closed = n * (n + 1) / 2 + n * (n + 1) * (2 * n + 1) / 6
    assert ansatz.Induction(n).check(both, closed).holds
    assert not ansatz.Induction(n).check(both, closed + n).holds
