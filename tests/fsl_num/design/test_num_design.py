"""The objectives of schedules, their minimisers, and the closed form of one."""

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from fsl_num.design import (
    ansatz_objective,
    best_falling_rates,
    best_rates,
    blocks,
    closed_form,
    functional_objective,
)
from fsl_num.design.objectives import NOISE


@pytest.mark.parametrize("s, beta", [(0.5, 4.0), (1.2, 2.0)])
def test_the_gradient_of_the_functional_is_its_derivative(s, beta):
    steps = blocks(1e4, 4)
    rates = np.exp(-np.random.default_rng(1).random(steps.size))
    objective = functional_objective(s, beta)
    _, gradient = objective(rates, steps)
    moves = 1e-6 * np.eye(steps.size)
    central = [(objective(rates + e, steps)[0] - objective(rates - e, steps)[0]) / 2e-6 for e in moves]
    # central differences: third derivatives times 1e-12, and rounding of the loss over 1e-6
    assert np.abs(gradient - central).max() < 1e-8 * np.abs(gradient).max()


def test_the_functional_of_blocks_is_that_of_their_steps():
    steps, beta = np.array([5.0, 3.0, 2.0]), 2.5
    rates = np.array([0.9, 0.4, 0.1])
    expanded = [rate for rate, count in zip(rates, steps, strict=True) for _ in range(int(count))]
    left, power = np.append(np.cumsum(expanded[::-1])[::-1], 0.0), 1.0 - 1.0 / beta
    # step by step, by quadrature
    noise = sum(
        rate * quad(lambda x: power * (1.0 + x) ** (-1.0 - power), stop, start)[0]
        for rate, start, stop in zip(expanded, left[:-1], left[1:], strict=True)
    )
    expected = sum(expanded) ** -0.5 + NOISE * noise
    assert abs(functional_objective(0.5, beta)(rates, steps)[0] - expected) < 1e-12


@examples(20)
@given(seed=st.integers(0, 10**6), s=st.floats(0.2, 2.0), beta=st.floats(1.4, 5.0))
def test_no_schedule_of_as_many_steps_is_below_the_closed_form(seed, s, beta):
    steps = blocks(1e5, 6)
    least = closed_form(s, beta, 1e5).loss
    generator = np.random.default_rng(seed)
    falls = np.exp(-np.cumsum(generator.exponential(0.2, steps.size)))
    for rates in (falls, generator.random(steps.size) + 1e-9, np.full(steps.size, generator.random() + 1e-9)):
        assert functional_objective(s, beta)(np.minimum(rates, 1.0), steps)[0] >= least


def test_the_closed_form_is_met_as_blocks_get_finer():
    steps = 2e4
    least = closed_form(0.5, 4.0, steps)
    coarse, fine = (best_rates(functional_objective(0.5, 4.0), blocks(steps, n))
                    for n in (6, 24))  # fmt: skip
    assert least.loss < fine.loss < coarse.loss < 1.05 * least.loss
    assert 10 < (coarse.loss / least.loss - 1) / (fine.loss / least.loss - 1) < 24  # second order: 16
    assert fine.rates.max() == 1.0 and abs(fine.decaying - least.decay_steps / steps) < 0.1
    assert np.all(np.diff(fine.rates) <= 1e-6)  # not asked for: rates were free to rise


def test_a_short_training_keeps_the_bound_to_its_end():
    found = closed_form(0.5, 2.0, 1.0)
    assert (found.last, found.peak, found.decay_steps) == (1.0, 1.0, 0.0)
    assert closed_form(1.2, 2.0, 1e9).peak < 1e-2


def test_a_decay_that_never_ends_beats_wsd_in_the_easy_regime():
    losses = []
    for decade in (6, 18):
        steps = blocks(10.0**decade, 20)
        gone = 1.0 - np.cumsum(steps[::-1])[::-1] / steps.sum()
        objective = functional_objective(1.2, 2.0)
        wsd = min(
            objective(peak * np.where(gone < 1 - share, 1.0, end ** ((gone - 1 + share) / share)), steps)[0]
            for peak in np.geomspace(10.0 ** (-0.6 * decade), 1.0, 25)
            for end in (1e-2, 1e-3, 1e-5, 1e-8, 1e-12)
            for share in (0.3, 0.5, 0.7, 0.9)
        )
        losses.append(wsd / closed_form(1.2, 2.0, 10.0**decade).loss)
    assert losses[1] > 1.15 * losses[0] > 1.15


@pytest.mark.parametrize("at", ["the drop", "the end"])
def test_the_gradient_of_the_ansatz_is_its_derivative_and_falling_rates_never_rise(at):
    steps, falling = blocks(1e3, 4), np.linspace(1.0, 0.2, blocks(1e3, 4).size)
    law = ansatz_objective(0.5, 2.0, scale=0.1, power=0.5, signal=3.0, gain=0.5, at=at)
    _, gradient = law(falling, steps)
    moves = 1e-6 * np.eye(steps.size)
    central = [(law(falling + e, steps)[0] - law(falling - e, steps)[0]) / 2e-6 for e in moves]
    assert np.abs(gradient - central).max() < 1e-7 * np.abs(gradient).max()  # as above, the loss is larger
    best = best_falling_rates(law, steps, falling)
    assert best.loss <= law(falling, steps)[0] and np.diff(best.rates).max() <= 1e-9 and best.rates.max() <= 1.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: functional_objective(0.0, 2.0), "s must be positive"),
        (lambda: functional_objective(0.5, 1.0), "beta must lie"),
        (lambda: functional_objective(0.5, 2.0, noise=-1.0), "noise must be at least 0"),
        (lambda: ansatz_objective(0.5, 1.0, scale=1.0, power=0.5, signal=1.0, gain=1.0, at="once"), "'the drop'"),
        (lambda: blocks(1.0, 8), "must exceed shortest"),
        (lambda: blocks(float("nan"), 8), "nan"),
        (lambda: best_rates(functional_objective(0.5, 2.0), np.array([1.0, 0.0])), "positive numbers"),
        (lambda: best_falling_rates(functional_objective(0.5, 2.0), np.array([]), np.array([])), "positive numbers"),
        (lambda: closed_form(0.5, 2.0, 1e101), "at most 1e100"),
        (lambda: closed_form(0.5, 2.0, -1.0), "steps must be positive"),
    ],
)
def test_what_has_no_meaning_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
