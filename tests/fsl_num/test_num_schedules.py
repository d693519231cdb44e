"""Schedules: the intrinsic time against quadrature of the learning rate, the inverse against the intrinsic time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.schedules import SCHEDULES, Constant, ExponentialDecay, Schedule, StableDecay, schedule

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


@st.composite
def schedules(draw: Any, largest: float = 12.0) -> Schedule:
    name = draw(st.sampled_from(sorted(SCHEDULES)))
    peak = 10.0 ** draw(st.floats(-4, 2))
    parameters = {
        "peak": peak,
        "steps": 10.0 ** draw(st.floats(0, largest)),
        "batch_size": draw(st.sampled_from([1.0, 7.0])),
        "final": peak * 10.0 ** draw(st.floats(-8, 0)),
        "decay_fraction": draw(st.floats(0.01, 1.0)),
        "power": draw(st.floats(0.0, 8.0)),
    }
    fields = SCHEDULES[name].__dataclass_fields__
    return schedule(name, **{key: value for key, value in parameters.items() if key in fields})


def quadrature(rate: Any, low: float, high: float) -> float:
    """Gauss-Legendre on panels that halve towards ``high``, the end where a power decay is not smooth."""
    edges = high - (high - low) * np.concatenate([0.5 ** np.arange(60), [0.0]])
    half = 0.5 * np.diff(edges)
    points = edges[:-1, None] + half[:, None] * (1 + NODES)
    return math.fsum(half * (rate(points) @ WEIGHTS))


@examples(60)
@given(schedules(), st.floats(0.0, 1.0))
def test_intrinsic_time_is_the_integral_of_the_learning_rate(plan: Schedule, share: float) -> None:
    tau = share * plan.steps
    cuts = [0.0, *(b for b in plan.physical_breaks if b < tau), tau]
    integral = sum(quadrature(plan.learning_rate, a, b) for a, b in zip(cuts[:-1], cuts[1:], strict=True))
    # 60 nodes on halving panels integrate every family to rounding; the sum of 60 panels loses a few digits more.
    assert plan.intrinsic_time(tau) == pytest.approx(integral, rel=2e-13, abs=1e-300)
    rest = plan.remaining_intrinsic_time(plan.steps - tau)
    assert plan.intrinsic_time(tau) + rest == pytest.approx(plan.total_intrinsic_time, rel=2e-14)


@examples(60)
@given(schedules(30.0), st.floats(-30.0, 0.0))
def test_the_inverse_returns_near_both_ends(plan: Schedule, log_share: float) -> None:
    r = plan.total_intrinsic_time * 10.0**log_share
    steps = plan.remaining_steps(r)
    # rounding of exp(log) at |log| < 140, times the slope d log T / d log tau <= power + 1 = 9
    assert plan.remaining_intrinsic_time(steps) == pytest.approx(r, rel=1e-12)
    assert plan.intrinsic_time(plan.physical_time(r)) == pytest.approx(r, rel=1e-12)
    gamma = plan.gamma_before_end(r)
    rate = plan.remaining_intrinsic_time(min(plan.steps, steps * (1 + 1e-6))) - r  # int of phi over 1e-6 steps
    if steps * (1 + 1e-6) < plan.steps and not plan.physical_breaks:
        # one-sided difference: relative error 1e-6 (power) / 2 in the slope, 1e-12 / 1e-6 / 9 from the rounding above
        assert gamma * plan.batch_size == pytest.approx(rate / (1e-6 * steps), rel=2e-5)


@examples(30)
@given(schedules())
def test_ends_and_monotonicity(plan: Schedule) -> None:
    total = plan.total_intrinsic_time
    assert plan.physical_time(0.0) == 0.0 and plan.physical_time(total) == pytest.approx(plan.steps, rel=1e-12)
    assert plan.gamma(0.0) * plan.batch_size == pytest.approx(plan.peak, rel=1e-12)
    assert plan.gamma_before_end(0.0) == plan.final_learning_rate / plan.batch_size
    grid = np.linspace(0.0, total, 50)
    values = plan.gamma(grid)
    assert values.shape == grid.shape and (np.diff(values) <= 1e-9 * values[0]).all()
    assert all(0 < t < total for t in plan.breaks)
    assert all(a + b == pytest.approx(total) for a, b in zip(plan.breaks, plan.breaks_before_end, strict=True))


def test_definitions_at_points_worked_out_by_hand() -> None:
    assert schedule("cosine", peak=2.0, steps=8.0, final=1.0).learning_rate(2.0) == pytest.approx(
        1.5 + 0.5 * math.sqrt(0.5), rel=1e-15
    )
    assert schedule("power-decay", peak=2.0, steps=4.0, power=0.5).learning_rate(3.0) == 1.0
    assert schedule("exp-decay", peak=4.0, final=1.0, steps=2.0).learning_rate([0, 1, 2]) == pytest.approx([4, 2, 1])
    wsd = StableDecay(peak=4.0, final=1.0, steps=4.0, decay_fraction=0.5)
    assert wsd.learning_rate([0, 2, 3, 4]) == pytest.approx([4, 4, 2, 1], rel=1e-15)
    whole = StableDecay(peak=4.0, final=1.0, steps=4.0, decay_fraction=1.0)
    plain = ExponentialDecay(peak=4.0, final=1.0, steps=4.0)
    assert whole.breaks == () and whole.total_intrinsic_time == plain.total_intrinsic_time
    assert Constant(peak=0.3, steps=10, batch_size=3).gamma(1.0) == pytest.approx(0.1, rel=1e-15)


def test_resolution_before_the_end_of_a_very_long_training() -> None:
    plan = schedule("linear", peak=1.0, steps=1e30)
    # gamma^2 = 2 peak r / steps for a line that ends at 0: worked out by hand from the triangle
    assert plan.gamma_before_end(1e-3) == pytest.approx(math.sqrt(2e-33), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: schedule("warmup", peak=1, steps=1), ValueError, "unknown schedule 'warmup'"),
        (lambda: schedule("wsd", peak=1, steps=1, final=0.1), TypeError, "missing parameters"),
        (lambda: schedule("cosine", peak=1, steps=1, power=2), TypeError, "unknown parameters"),
        (lambda: Constant(peak=0.0, steps=1), ValueError, "peak must be positive"),
        (lambda: Constant(peak=1.0, steps=math.inf), ValueError, "steps must be finite"),
        (lambda: Constant(peak=True, steps=1), TypeError, "peak must be one real number"),
        (lambda: ExponentialDecay(peak=1.0, steps=1, final=2.0), ValueError, "final must be at most peak"),
        (lambda: ExponentialDecay(peak=1.0, steps=1, final=0.0), ValueError, "final must be positive"),
        (lambda: StableDecay(peak=1.0, steps=1, final=0.1, decay_fraction=0.0), ValueError, "decay_fraction must lie"),
        (lambda: Constant(peak=1.0, steps=1).learning_rate(2.0), ValueError, "tau must be finite and in"),
        (lambda: Constant(peak=1.0, steps=1).gamma(math.nan), ValueError, "t must be finite and in"),
    ],
)
def test_bad_input_is_refused_in_words(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
