"""The functional scaling law against integrals that are known or computed another way."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.functional import (
    FunctionalScalingLaw,
    batch_noise_functional,
    functional_scaling_law,
    integrate_graded,
    noise_functional,
    scaling_functional,
)
from fsl_num.model import Model
from fsl_num.schedules import Constant, Discrete, Schedule, StableDecay, schedule
from fsl_num.spectrum import approximation_error, forgetting_kernel, kernel_integral, signal
from fsl_num.validation import Array


def _model(beta: float, size: float = math.inf, s: float = 1.0, noise: float = 0.0) -> Model:
    return Model(s=s, beta=beta, size=size, noise=noise)


SCHEDULES = [
    ("exp-decay", {"final": 1e-6}),
    ("wsd", {"final": 1e-3, "decay_fraction": 0.2}),
    ("cosine", {}),
    ("linear", {"final": 0.1}),
    ("power-decay", {"power": 0.3}),
    ("power-decay", {"power": 4.0}),
]


@examples(30)
@given(st.floats(1.05, 6), st.one_of(st.just(math.inf), st.floats(0, 30)), st.floats(-3, 30), st.floats(0.01, 0.99))
def test_constant_phases_are_kernel_integrals(beta: float, log_size: float, log_t: float, share: float) -> None:
    size = math.inf if math.isinf(log_size) else float(int(10.0**log_size))
    peak, steps = 0.25, 4.0 * 10.0**log_t
    exact = peak * kernel_integral(0.0, peak * steps, beta, size)
    model = _model(beta, size)
    found = noise_functional(model, Constant(peak=peak, steps=steps, batch_size=3))
    # the reported error is the tolerance: it must cover the truth and stay below what was asked for (1e-10)
    assert abs(found.value - exact) <= found.error <= 2e-10 * exact
    flat = StableDecay(peak=peak, final=peak * (1 - 1e-15), steps=steps, decay_fraction=share)
    again = noise_functional(model, flat)
    assert abs(again.value - exact) <= again.error + 2e-15 * exact


@pytest.mark.parametrize(("name", "parameters"), SCHEDULES)
@pytest.mark.parametrize("size", [3])
def test_against_arbitrary_precision_in_physical_time(name: str, parameters: dict[str, float], size: int) -> None:
    """int K(T - t) phi dt = int K(T - T(tau)) phi(tau)^2 dtau: no inverse of the intrinsic time is needed there."""
    plan = schedule(name, peak=0.5, steps=300.0, **parameters)
    mp = mpmath.mp.clone()
    mp.dps = 20

    def integrand(rho: Any) -> Any:  # rho: steps left
        left = plan.remaining_intrinsic_time(float(rho))
        rate = plan.learning_rate(max(300.0 - float(rho), 0.0))
        return mp.fsum(mp.mpf(j) ** -3 * mp.exp(-2 * mp.mpf(j) ** -1.5 * left) for j in range(1, size + 1)) * rate**2

    cuts = sorted({300.0, *(300.0 - b for b in plan.physical_breaks), *(300.0 * 0.25**k for k in range(1, 25)), 0.0})
    exact = mp.quad(integrand, cuts, method="gauss-legendre", maxdegree=5)
    found = noise_functional(_model(1.5, size), plan)
    # 1e-13: the reference takes the schedule in float64 (300 steps, rounding 1e-14 in the exponent)
    assert abs(found.value - exact) <= found.error + 1e-13 * exact


def test_integrate_graded_reports_what_it_misses() -> None:
    # A spike far from 0 is not resolved by panels graded towards 0; the error must say so.
    spike = integrate_graded(lambda x: 1 / ((x - 0.7) ** 2 + 1e-6), 1.0)
    exact = 1e3 * (math.atan(0.3e3) + math.atan(0.7e3))
    assert abs(spike.value - exact) <= spike.error
    power = integrate_graded(lambda x: x**0.75, 1e20)
    assert abs(power.value - 1e35 / 1.75) <= power.error < 1e-10 * power.value


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda plan: noise_functional(_model(2.0), plan, rtol=1e-15), "rtol must lie in"),
        (lambda plan: batch_noise_functional(_model(2.0), plan, rtol=1.0), "rtol must lie in"),
        (lambda plan: scaling_functional(_model(2.0, 10), plan, rtol=-1.0), "rtol must be positive"),
        (lambda plan: functional_scaling_law(_model(2.0, 10), plan, rtol=math.nan), "rtol must be a number"),
    ],
)
def test_bad_input_is_refused_in_words(call: Any, text: str) -> None:
    plan: Schedule = Constant(peak=0.1, steps=10)
    with pytest.raises(ValueError, match=text):
        call(plan)


ONE = Model(s=0.5, beta=2.0, size=1, noise=2.0)
WIDE = Model(s=0.5, beta=2.0, size=math.inf, noise=1.0)


def test_what_is_below_the_first_panel_is_part_of_the_error():
    # all of it lies within 1e-14, 1e-4 of the tolerance: no node sees it
    found = integrate_graded(lambda x: np.where(x < 5e-15, 1e14, 0.0), 1.0)
    assert found.error >= abs(found.value - 0.5) and found.error <= 3.0
    # the relative error of the integrand itself
    flat = integrate_graded(np.ones_like, 2.0)
    assert flat.value == pytest.approx(2.0, rel=1e-14, abs=0.0)
    assert 6e-14 <= flat.error <= 1.2e-13


def test_panels_end_at_breaks_and_are_refined_until_two_rules_agree():
    step = integrate_graded(lambda x: np.where(x < 0.3, 1.0, 2.0), 1.0, breaks=(0.3, 0.0, 1.0, 7.0))
    assert step.value == pytest.approx(1.7, rel=1e-13, abs=0.0) and step.error < 1e-12
    # about 24 panels by 26 nodes, and two at the ends; a rough tolerance has fewer, wider ones
    smooth, rough, sharp = (integrate_graded(np.sqrt, 1.0, rtol=rtol) for rtol in (1e-10, 1e-2, 1e-13))
    assert 26 * 20 < smooth.evaluations < 26 * 30
    assert rough.evaluations < 26 * 8 and abs(rough.value - 2 / 3) <= rough.error < 1e-2
    wave = integrate_graded(lambda x: 1.0 + np.cos(150.0 * x), 1.0, rtol=1e-12)
    assert wave.evaluations > 2 * smooth.evaluations
    assert abs(wave.value - 1.0 - math.sin(150.0) / 150.0) <= wave.error
    jump = integrate_graded(lambda x: np.where(x < 1 / 3, 0.0, 1.0), 1.0)
    assert abs(jump.value - 2 / 3) <= jump.error and jump.error > 1e-6
    assert jump.evaluations > 3 * smooth.evaluations and sharp.evaluations >= smooth.evaluations


def test_the_functional_of_one_mode():
    # K = exp(-2 t): int_0^T exp(-2 (T - t)) dt is (1 - exp(-2 T))/2; the rate is the peak, whatever the batch size
    plan = Constant(peak=0.3, steps=10.0, batch_size=4.0)
    noise = noise_functional(ONE, plan)
    exact = 0.3 * 0.5 * (1.0 - math.exp(-6.0))
    assert abs(noise.value - exact) <= noise.error < 1e-12
    # e = exp(-2 t) too: their convolution is T exp(-2 T), by gamma
    batch = batch_noise_functional(ONE, plan)
    assert abs(batch.value - 0.3 / 4.0 * 3.0 * math.exp(-6.0)) <= batch.error < 1e-12
    # and the law is half of each
    law = functional_scaling_law(ONE, plan)
    assert law.approximation == approximation_error(0.5, 2.0, 1) / 2
    assert law.signal == pytest.approx(math.exp(-6.0) / 2, rel=1e-9, abs=0.0)
    assert law.label_noise == pytest.approx(2.0 / 4.0 * exact / 2, rel=1e-9, abs=0.0)
    assert law.batch_noise == pytest.approx(batch.value / 2, rel=1e-9, abs=0.0)
    assert law.total == pytest.approx(
        law.approximation + law.signal + law.label_noise + law.batch_noise, rel=1e-9, abs=0.0
    )
    simple = scaling_functional(ONE, plan)
    assert simple.batch_noise == 0.0 and law.error > simple.error > 0.0
    # of the sums 3e-14, of the functional its own error by sigma^2/(2B)
    mode_error = 3e-14 * (law.approximation + law.signal)
    assert simple.error == pytest.approx(2.0 / 4.0 / 2 * noise.error + mode_error, rel=1e-6, abs=0.0)
    assert law.error == pytest.approx(simple.error + batch.error / 2, rel=1e-6, abs=0.0)
    assert FunctionalScalingLaw(1.0, 2.0, 3.0, 4.0, 0.0).total == 10.0


@examples(10)
@given(st.integers(0, 2**32), st.integers(1, 20_000), st.floats(0, 2), st.sampled_from([1.0, 4.0]))
def test_every_step_counts_and_none_costs_a_point(seed: int, steps: int, jitter: float, batch_size: float) -> None:
    """Rates that jump from step to step, some of them 0, against each step's own integral of the kernel."""
    rates = np.maximum(0.3 + jitter * np.random.default_rng(seed).uniform(-0.3, 0.3, steps), 0.0)
    rates[-1] = 0.2
    sums = np.cumsum(rates[::-1], dtype=np.longdouble)[::-1]
    remaining = np.concatenate([sums, [0.0]]).astype(np.float64)
    own = np.array(kernel_integral(remaining[1:], remaining[:-1], 2.0, 100))
    model = replace(WIDE, size=100)
    found = noise_functional(model, Discrete(rates=rates, batch_sizes=batch_size))
    exact = math.fsum(rates * own)
    # 1e-10 is asked for; a schedule knows where its rate jumps to the rounding of the whole time
    jumps = np.abs(np.diff(rates)) @ np.asarray(forgetting_kernel(remaining[1:-1], 2.0, 100))
    rounding = 2.0**-52 * remaining[0] * jumps + 1e-14 * exact
    assert abs(found.value - exact) <= found.error + rounding < 3e-10 * exact
    assert found.evaluations < 25_000
    nodes, weights = np.polynomial.legendre.leggauss(12)
    left = remaining[1:, None] + 0.5 * rates[:, None] * (1.0 + nodes)
    injected = forgetting_kernel(left, 2.0, 100) * signal(remaining[0] - left, 0.5, 2.0, 100)
    total = math.fsum((0.5 * rates**2 / batch_size) * (injected @ weights))
    batch = batch_noise_functional(model, Discrete(rates=rates, batch_sizes=batch_size))
    assert abs(batch.value - total) <= batch.error + rounding * signal(0.0, 0.5, 2.0, 100) + 1e-13 * total
    assert batch.error < 3e-10 * total


@pytest.mark.parametrize("rtol", [0.0, 9.9e-14, 1.0, math.nan])
def test_tolerances_out_of_range_are_refused(rtol):
    with pytest.raises(ValueError, match="rtol"):
        noise_functional(WIDE, Constant(peak=0.3, steps=10.0), rtol=rtol)
    assert noise_functional(WIDE, Constant(peak=0.3, steps=10.0), rtol=1e-13).value > 0.0


@pytest.mark.parametrize(("share", "times"), [(1.01, 1), (0.99, 2)])
def test_panels_are_refined_until_two_rules_agree_to_the_tolerance(share: float, times: int) -> None:
    """The second rule, of 16 nodes after the 10 of the first, is off by 1e-6 at the first trial, never after it."""
    calls = []

    def function(x: Array) -> Array:
        calls.append(len(x))
        nodes = np.arange(len(x)) % 26
        return np.where((nodes >= 10) & (len(calls) == 1), -1.0 - 1e-6, -1.0)

    found = integrate_graded(function, 1.0, rtol=share * 1e-6 / (1.0 + 1e-6))
    assert len(calls) == times
    # the error is reported as it is at the end, with the first panel, 1e-4 of the tolerance, twice
    assert found.error == pytest.approx(1e-6 if times == 1 else 2e-10, rel=0.05)


@pytest.mark.parametrize("batch_size", [1.0, 4.0])
def test_both_halves_of_the_batch_noise_count(batch_size: float) -> None:
    """Two rates, one in each half: one mode gives exp(-2 T) times the integral of gamma."""
    plan = Discrete(rates=[0.5, 0.25], batch_sizes=batch_size)
    model = Model(s=0.5, beta=2.0, size=1, noise=0.0)
    found = batch_noise_functional(model, plan)
    gammas = (0.25 + 0.0625) / batch_size
    assert found.value == pytest.approx(math.exp(-1.5) * gammas, rel=1e-12, abs=0.0)
    assert abs(found.value - math.exp(-1.5) * gammas) <= found.error <= 1e-12
    noise = noise_functional(model, plan)
    # in front of the end 0.25 lies the second step: B gamma is the rate
    expected = 0.25 * 0.5 * -math.expm1(-0.5) + 0.5 * 0.5 * (math.exp(-0.5) - math.exp(-1.5))
    assert noise.value == pytest.approx(expected, rel=1e-12, abs=0.0)
    whole = Constant(peak=0.5, steps=3.0, batch_size=batch_size)
    whole_noise = batch_noise_functional(model, whole)
    assert whole_noise.evaluations == 2 * 2 + 2 * 26 * (1 + math.ceil(math.log(0.75e14) / math.log(4.0)))


@examples(30)
@given(
    st.lists(st.floats(-5, 135), min_size=1, max_size=12), st.floats(1.05, 6), st.floats(0, 4), st.floats(0.05, 3),
    st.sampled_from([1e-10, 1e-4]), st.booleans(),
)  # fmt: skip
def test_rates_of_any_size_leave_a_noise_that_is_known(logs, beta, log_size, s, rtol, falling):
    """After jumps of up to a hundred decades the kernel still falls by hundreds of e-folds: the error stays small."""
    rates = 10.0 ** np.array(sorted(logs, reverse=True) if falling else logs)
    model = _model(beta, float(int(10.0**log_size)), s, noise=1.0)
    plan = Discrete(rates=rates)
    found = noise_functional(model, plan, rtol=rtol)
    left = np.concatenate([[0.0], np.cumsum(rates[::-1])])
    pieces = [kernel_integral(a, b, beta, model.size) for a, b in zip(left[:-1], left[1:], strict=True)]
    exact = math.fsum(rates[::-1] * np.array(pieces))
    # the ends of long steps are known to their rounding, which counts for a kernel that falls by up to 700 e-folds
    assert abs(found.value - exact) <= found.error + 700 * 4e-16 * exact
    assert 0.0 < found.error <= 2.0 * rtol * found.value
    for law in (scaling_functional(model, plan, rtol=rtol), functional_scaling_law(model, plan, rtol=rtol)):
        assert min(law.approximation, law.signal, law.batch_noise) >= 0.0 < law.label_noise
        assert law.error <= 2.0 * rtol * law.total


@examples(30)
@given(st.floats(-320, 308), st.floats(0, 300), st.sampled_from(["constant", "cosine", "wsd", "multi-step"]))
def test_the_law_of_extreme_times_is_known_or_refused(log_peak, log_steps, name):
    model = _model(2.0, 50.0, 0.5, noise=1.0)
    try:
        law = functional_scaling_law(model, schedule(name, peak=10.0**log_peak, steps=10.0**log_steps), rtol=1e-6)
    except ValueError as error:
        assert any(word in str(error) for word in ("floats end", "peak", "steps", "learning rate"))  # noqa: PT017
    else:
        assert 0.0 < law.total < math.inf and law.error <= 1e-5 * law.total


class Hidden(Constant):
    """A rate that jumps by 120 decades while the kernel falls by 87, and no break that says where."""

    is_piecewise_constant = False

    def gamma_before_end(self, remaining: Any) -> Any:
        return np.where(remaining > 100.0, 1e120, 1.0)


def test_what_is_not_known_is_refused():
    one_mode = _model(2.0, 1.0, noise=1.0)
    with pytest.raises(ValueError, match=r"T = 1e\+200 .* between 1e-280 and 1e\+280"):
        scaling_functional(one_mode, Discrete(rates=[1e200]))
    for law in (noise_functional, scaling_functional, functional_scaling_law):
        with pytest.raises(ValueError, match="it is not known"):
            law(one_mode, Hidden(peak=1.0, steps=1e4))
