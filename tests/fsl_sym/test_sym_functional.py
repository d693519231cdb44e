"""The law assembled from a schedule, and the two clocks."""

from __future__ import annotations

import pytest
from sympy import Integer, Integral, Rational

from fsl_sym.functional import change_of_time, functional_scaling_law, physical_noise
from fsl_sym.integrals import NOISE, noise_integral
from fsl_sym.schedules import SCHEDULES, schedule
from fsl_sym.schedules.own import own_schedule
from fsl_sym.symbols import K1, K2, T1, T2, B, K, M, T, a, b, beta, p, s, sigma, tau


@pytest.mark.parametrize("name", ["exp-decay"])
def test_the_integral_over_the_steps_is_the_closed_form(name: str) -> None:
    values = {a: Rational(3, 2), b: Rational(1, 4), K: Integer(8), M: Integer(2), beta: Rational(3, 2)}
    law = functional_scaling_law(name)
    numeric = physical_noise(name).subs(values).doit(integrals=False).evalf(15)
    exact = noise_integral(name).exact.subs(T, law.intrinsic_times[T]).subs(values).doit().evalf(15)
    # tanh-sinh quadrature asked for 15 digits; a few are left to rounding
    assert abs(numeric / exact - 1) < Rational(1, 10**10)


@pytest.mark.parametrize("name", sorted(NOISE))
def test_the_law_is_its_three_parts(name: str) -> None:
    law = functional_scaling_law(name)
    assert (law.expression - law.approximation - law.signal - law.injected_noise) == 0
    assert law.approximation == M ** (-s * beta)
    assert law.orders[0].alternatives[0] == {M: -s * beta}
    # noise is linear in sigma^2/B
    assert (law.injected_noise.subs({sigma: 2, B: 1}) - 4 * law.noise.exact).expand() == 0
    assert (law.injected_noise.subs({sigma: 1, B: 3}) - law.noise.exact / 3).expand() == 0
    for order in law.orders[2:]:
        assert all(item[sigma] == 2 and item[B] == -1 for item in order.alternatives)


def test_a_law_prints_as_its_formula() -> None:
    law = functional_scaling_law("cosine")
    assert str(law) == str(law.expression) and repr(law) == "<FunctionalScalingLaw of the cosine schedule>"


def test_the_law_of_the_wsd_like_schedule_has_two_times() -> None:
    law = functional_scaling_law("wsd")
    assert law.signal == (T1 + T2) ** (-s)
    assert law.intrinsic_times[T1] == a * K1
    assert (
        law.intrinsic_times[T2].subs({a: 2, b: 1, K2: 5}).evalf()
        == functional_scaling_law("exp-decay").intrinsic_times[T].subs({a: 2, b: 1, K: 5}).evalf()
    )


def test_the_noise_order_of_exponential_decay_is_the_theorems() -> None:
    first, second = functional_scaling_law("exp-decay").orders[2:]
    assert first.alternatives == ({b: 1, sigma: 2, B: -1},)
    assert second.alternatives[0] == {a - b: 1, M: 1, T: -1, sigma: 2, B: -1}


def test_schedules_without_a_closed_inverse_say_so_and_still_have_their_integral() -> None:
    for name in ("cosine", "cosine-to-zero"):
        assert functional_scaling_law(name).noise.exact.has(Integral)
        with pytest.raises(ValueError, match="Kepler"):
            change_of_time(name)
    with pytest.raises(ValueError, match="a schedule of one's own is not looked for"):
        change_of_time(own_schedule(a * (1 - (tau / K) ** 2)))
    for name in SCHEDULES:
        assert physical_noise(name).has(beta)
    assert p not in functional_scaling_law("constant").expression.free_symbols


@pytest.mark.parametrize("name", ["inverse-sqrt", "8-1-1", "cyclic"])
def test_both_clocks_give_the_same_noise_in_every_phase(name: str) -> None:
    found = change_of_time(name)
    assert found == change_of_time(schedule(name))
    assert len(found) == len(schedule(name).phases)
    assert all(derivation.verify().holds for derivation in found)
