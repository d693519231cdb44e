"""The three scaling laws: the theorems' right-hand sides, read at numbers, before and after the change of variables."""

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from notebook_views import as_latex
from sympy import Eq, Integer, Rational, log

from fsl_sym.laws import SCHEDULES, STABLE_FRACTION, scaling_law
from fsl_sym.symbols import T1, T2, B, C, D, K, M, T, a, b, beta, gamma, r, s, sigma

SIZES = st.integers(1, 60)


def noise(time, model, peak, final, batch, exponent):
    """b/B + (a - b) min(M, T^(1/beta))/(B T), sigma = 1; exact where T is a perfect power."""
    return final / batch + (peak - final) * min(model, time**exponent) / (batch * time)


@examples(12)
@given(model=SIZES, root=st.integers(1, 9), batch=SIZES, peak=SIZES)
def test_the_right_hand_sides_are_the_theorems(model, root, batch, peak):
    """s = 1, beta = 2, times that are squares: everything is rational."""
    time, exponent = Integer(root) ** 2, Rational(1, 2)
    numbers = {s: 1, beta: 2, M: model, B: batch, sigma: 1, a: Rational(peak, 61), b: Rational(1, 100), T: time}
    head = Rational(1, model**2)
    noise_part = noise(time, model, numbers[a], numbers[b], Integer(batch), exponent)
    assert scaling_law("constant").expression.subs(numbers) == head + 1 / time + numbers[a] / batch
    assert scaling_law("exp-decay").expression.subs(numbers) == head + 1 / time + noise_part
    numbers_of_phases = {**numbers, T1: 5, T2: time}
    assert scaling_law("wsd").expression.subs(numbers_of_phases) == head + 1 / (time + 5) + noise_part


@examples(8)
@given(model=SIZES, batch=SIZES, steps=st.integers(2, 60), decay=st.integers(1, 60))
def test_hyperparameters_are_put_in_up_to_a_factor(model, batch, steps, decay):
    """The law in gamma, D, K, r is within constants of the theorem with b = a/K, a - b <= a <= 2 (a - b)."""
    numbers = {s: Rational(3, 4), beta: 3, M: model, sigma: 1, a: Rational(1, 2), b: Rational(1, 2) / steps, B: batch}
    lengths = {gamma: Rational(1, 2) / batch, D: batch * steps, K: steps}
    fraction = Rational(decay, 60)
    drop = numbers[a] - numbers[b]
    times = {
        "constant": {T: numbers[a] * steps},
        "exp-decay": {T: drop * steps / log(steps)},
        "wsd": {T1: numbers[a] * (1 - fraction) * steps, T2: drop * fraction * steps / log(steps)},
    }
    for schedule in SCHEDULES:
        law = scaling_law(schedule)
        theorem = law.expression.subs({**numbers, **times[schedule]})
        values = {**numbers, **lengths, r: fraction, STABLE_FRACTION: 1 - fraction}
        chosen = law.in_hyperparameters(C).subs(log(C), log(steps)).subs(values)
        # Every time and a - b change by a factor of at most 2, every term by at most 2 to the power of at most 2.
        assert 0.25 <= float(theorem / chosen) <= 4


def test_what_ties_the_hyperparameters():
    for schedule in SCHEDULES:
        law = scaling_law(schedule)
        assert Eq(M * D, C) in law.constraints(C)
        assert (gamma <= 1) in law.constraints(C) and (M >= 1) in law.constraints(C)
        assert set(law.variables) >= {gamma, M, D}
    assert Eq(r + STABLE_FRACTION, 1) in scaling_law("wsd").constraints(C)


def test_labels_and_names():
    assert [scaling_law(name).label for name in SCHEDULES] == ["thm:chinchilla", "thm:geometric", "thm: wsd"]
    assert scaling_law("cosine").label == ""
    with pytest.raises(ValueError, match="unknown schedule 'sine'.*cosine"):
        scaling_law("sine")


def test_a_law_shows_itself_as_latex():
    assert r"\asymp" in as_latex(scaling_law("constant"))
