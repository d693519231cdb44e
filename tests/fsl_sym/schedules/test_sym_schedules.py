"""Every closed form of a schedule is verified, and wrong ones are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer, Integral, Rational, diff, log, pi, series

from fsl_sym.schedules import SCHEDULES, Schedule, schedule
from fsl_sym.symbols import K1, K2, B, K, T, a, b, p, t, tau

NAMES = sorted(SCHEDULES)


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_phase_is_refused(name: str) -> None:
    good = schedule(name)
    phase = good.phases[-1]
    wrong_phases = [replace(phase, intrinsic_time=phase.intrinsic_time + a), replace(phase, total=phase.total * 2)]
    if phase.gamma is not None and phase.inverse is not None:
        wrong_phases += [replace(phase, gamma=phase.gamma + t), replace(phase, inverse=phase.inverse / 2)]
    for wrong in wrong_phases:
        derived = replace(good, phases=(*good.phases[:-1], wrong)).derivation()
        assert not all(derivation.verify().holds for derivation in derived)


def test_exponential_decay_is_the_papers() -> None:
    exponential = schedule("exp-decay")
    rate = log(a / b) / K
    assert (exponential.total - (a - b) * K / log(a / b)).equals(0)
    assert exponential.gamma is not None and (exponential.gamma - (a - rate * t)).equals(0)
    assert (exponential.phi.subs(tau, K) - b).equals(0)


def test_power_decay_in_intrinsic_time() -> None:
    power = schedule("power-decay")
    assert power.gamma is not None
    assert power.gamma.subs(K, T * (p + 1) / a) == a * (1 - t / T) ** (p / (p + 1))
    assert schedule("linear").end_exponent == Rational(1, 2)


def test_the_removable_singularity() -> None:
    assert schedule("exp-decay").at({b: a}).name == "constant"
    assert schedule("exp-decay").at({a: Integer(1), b: Integer(1)}).total == K
    assert schedule("wsd").at({b: a}).total == a * K1 + a * K2


@given(st.fractions(Rational(1, 10), 3), st.fractions(Rational(11, 10), 20), st.integers(2, 1000))
@examples(20)
def test_inverse_and_integral_at_random_parameters(low: object, ratio: object, steps: int) -> None:
    values = {b: Rational(str(low)), a: Rational(str(low)) * Rational(str(ratio)), K: Integer(steps)}
    set_ = schedule("exp-decay").at(values)
    half = set_.intrinsic_time.subs(tau, Rational(steps, 2))
    assert set_.inverse is not None and set_.gamma is not None
    # evaluated to 30 digits; two are lost in log(1 - x)
    assert abs(set_.inverse.subs(t, half).evalf(30) / Rational(steps, 2) - 1) < Rational(1, 10**25)
    assert abs(set_.gamma.subs(t, half).evalf(30) / set_.phi.subs(tau, Rational(steps, 2)).evalf(30) - 1) < 10**-25


def test_a_wsd_like_schedule_is_continuous() -> None:
    values = {a: Integer(3), b: Integer(1), K1: Integer(10), K2: Integer(5)}
    wsd = schedule("wsd").at(values)
    assert wsd.intrinsic_time.subs(tau, 10) == 30
    assert (wsd.intrinsic_time.subs(tau, 15) - wsd.total).equals(0)
    assert (wsd.phi.subs(tau, 15) - 1).equals(0)
    assert wsd.gamma is not None and wsd.gamma.subs(t, 30) == 3
    assert wsd.inverse is not None and wsd.inverse.subs(t, 30) == 10
    assert wsd.length == 15


def test_the_cosine_has_no_inverse_and_says_why() -> None:
    cosine = schedule("cosine")
    assert cosine.gamma is None and cosine.inverse is None and "Kepler" in cosine.remark
    ends = schedule("cosine-to-zero")
    # with x = K - tau, phi ~ c x^2 and T - t ~ c x^3/3: gamma ~ (T - t)^(2/3)
    x = B
    phi = series(ends.phi.subs(tau, K - x), x, 0, 3).removeO()
    assert (phi - a * pi**2 * x**2 / (4 * K**2)).equals(0)
    left = series((ends.total - ends.intrinsic_time).subs(tau, K - x), x, 0, 4).removeO()
    assert (diff(left, x) - phi).equals(0)
    assert ends.end_exponent == Rational(2, 3) == schedule("power-decay").end_exponent.subs(p, 2)


def test_bad_input_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="unknown schedule"):
        schedule("warm restarts")
    with pytest.raises(ValueError, match="outside the range"):
        schedule("exp-decay").at({a: Integer(1), b: Integer(2)})
    with pytest.raises(ValueError, match="cannot be set"):
        schedule("constant").at({b: Integer(1)})
    with pytest.raises(ValueError, match="cannot be set"):
        schedule("constant").at({a: Integer(-1)})
    with pytest.raises(ValueError, match="no phase"):
        Schedule("x", (), (), ())
    with pytest.raises(ValueError, match="no remark"):
        replace(schedule("cosine"), remark="")


def test_phi_integrates_numerically_to_the_total() -> None:
    for name in ("cosine", "power-decay"):
        values = {a: Integer(2), b: Rational(1, 3), p: Rational(3, 2), K: Integer(7)}
        plan = schedule(name)
        set_ = plan.at({key: value for key, value in values.items() if key in plan.parameters})
        number = Integral(set_.phi, (tau, 0, 7)).evalf(25)
        assert abs(number / set_.total.evalf(25) - 1) < Rational(1, 10**15)  # quadrature of a branch point
