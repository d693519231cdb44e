"""The solvers of the Volterra equation against exact solutions, an ODE library and each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import loss_of
from scipy.integrate import solve_ivp

from fsl_num.compression import kernel_modes
from fsl_num.functional import functional_scaling_law
from fsl_num.model import Model
from fsl_num.schedules import SCHEDULES, StableDecay, schedule
from fsl_num.spectrum import approximation_error, forgetting_kernel, signal, trace
from fsl_num.volterra import Problem, Spectrum, UnstableProblemError, solve

CASES = [
    # s, beta, M, gamma, horizon, noise
    (0.5, 2.0, 1, 0.3, 30.0, 1.0),
    (0.3, 3.0, 20, 0.5, 1e3, 1.0),
    (0.1, 1.1, 15, 0.15, 1e5, 1e-6),
    (2.5, 5.0, 6, 1.5, 1e2, 0.0),
]


@pytest.mark.parametrize("case", CASES)
def test_panels_agree_with_the_secular_equation_within_their_error(case: tuple[float, ...]) -> None:
    s, beta, size, gamma, horizon, noise = case
    problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=gamma, horizon=horizon)
    t = np.concatenate([[0.0], np.geomspace(1e-4 * horizon, horizon, 17)])
    exact = np.array([float(x) for x in loss_of(problem, t, digits=20).values])
    for rtol in (1e-12, 1e-6):
        found = loss_of(problem, t, method="panels", rtol=rtol)
        assert (np.abs(found.values - exact) <= found.error + 1e-16 * exact).all()
    sharp = loss_of(problem, t, method="panels")
    assert (np.abs(sharp.values / exact - 1) < 1e-12).all()  # the stated goal; measured at most 1.3e-13
    assert (sharp.error < 2e-12 * exact).all() and "misses" not in sharp.message


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("exp-decay", {"final": 1e-4}),
        ("wsd", {"final": 1e-3, "decay_fraction": 0.25}),
        ("cosine", {}),
        ("power-decay", {"power": 0.3}),
    ],
)
@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_schedules_agree_with_an_ode_library_in_physical_time(
    closure: str, name: str, parameters: dict[str, float]
) -> None:
    plan = schedule(name, peak=0.6, steps=400.0, batch_size=2.0, **parameters)
    s, beta, size, noise = 0.5, 1.6, 8, 0.5
    rates = np.arange(1, size + 1.0) ** -beta
    delta = approximation_error(s, beta, size)

    def motion(tau: float, x: Any) -> Any:
        rate = plan.learning_rate(min(tau, plan.steps))
        own = x if closure == "gaussian" else 0.0
        return -2 * rate * rates * x + rates**2 * rate**2 / plan.batch_size * (x.sum() + delta + noise + own)

    cuts = [0.0, *plan.physical_breaks, plan.steps]
    x = np.arange(1, size + 1.0) ** -(1 + s * beta)
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        x = solve_ivp(motion, (low, high), x, method="DOP853", rtol=1e-12, atol=1e-15).y[:, -1]
    problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=plan, closure=closure)
    found = loss_of(problem, plan.total_intrinsic_time)
    # The library's local tolerance 1e-12 adds up over some hundred steps: 1e-10.
    assert found.values[0] == pytest.approx(x.sum() + delta, rel=1e-10)
    assert found.error[0] < 2e-12 * found.values[0]


@examples(6)
@given(
    st.sampled_from(sorted(SCHEDULES)),
    st.floats(1.05, 6.0),
    st.floats(0.05, 3.0),
    st.sampled_from([1.0, 40.0, 1e4, 1e12, math.inf]),
    st.floats(0.0, 8.0),
    st.floats(0.01, 0.9),
    st.sampled_from([0.0, 1e-8, 1.0]),
)
def test_loose_solutions_keep_their_promise(
    name: str, beta: float, s: float, size: float, log_time: float, stability: float, noise: float
) -> None:
    peak = 2 * stability / trace(beta, size)
    parameters = {"final": 1e-7 * peak, "decay_fraction": 0.01, "power": 0.7}
    known = SCHEDULES[name].__dataclass_fields__
    plan = schedule(
        name, peak=peak, steps=10.0**log_time / peak, **{key: x for key, x in parameters.items() if key in known}
    )
    problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=plan)
    t = plan.total_intrinsic_time * np.array([1e-4, 0.3, 0.999, 1.0])
    sharp, loose = solve(problem, t), solve(problem, t, rtol=1e-4)
    assert (np.abs(sharp.excess_risk - loose.excess_risk) <= sharp.error + loose.error).all()
    assert (sharp.error <= 1e-10 * sharp.excess_risk).all()
    # f >= delta + e in the convolution, so the risk lies above the functional scaling law, which has only e there.
    law = functional_scaling_law(problem.model, plan)
    assert law.total - law.error - sharp.error[-1] <= sharp.excess_risk[-1]


@pytest.mark.parametrize("beta", [1.05, 1.5, 2.0, 4.0, 6.0])
@pytest.mark.parametrize("size", [1e3, 1e6, 1e30, math.inf])
@pytest.mark.parametrize("horizon", [1.0, 2.0**20, 1e14])
def test_compressed_kernel_between_its_own_check_points(beta: float, size: float, horizon: float) -> None:
    modes = kernel_modes(beta, size, horizon)
    t = np.geomspace(1e-3, horizon, 97)
    exact = forgetting_kernel(t, beta, size)
    value = np.exp(-2 * np.outer(t, modes.rates)) @ modes.kernel_weights
    seen = exact > 1e-40
    # The check is made on other times; 3e-14 is the rounding of two sums of positive terms with exponents up to 92.
    assert (np.abs(value[seen] / exact[seen] - 1) < 2 * modes.error + 3e-14).all()
    assert modes.error < 1e-12 and (modes.kernel_weights > 0).all()
    assert 2 * (modes.kernel_weights / (2 * np.maximum(modes.rates, 1e-300))).sum() <= trace(beta, size) * 1.01


def test_compression_does_not_change_the_solution() -> None:
    plan = StableDecay(peak=0.3, final=0.001, steps=1e4, decay_fraction=0.3)
    model = Model(s=0.5, beta=1.8, size=500, noise=1.0)
    rates, signals = (np.arange(1.0, 501.0) ** -power for power in (1.8, 1.0 + 0.5 * 1.8))
    written_out = Model(noise=1.0, spectrum=Spectrum(rates, signals, tail=model.approximation_error))
    t = plan.total_intrinsic_time * np.array([0.01, 0.5, 0.9, 1.0])
    short, full = (loss_of(Problem(model_of, gamma=plan), t) for model_of in (model, written_out))
    assert "500 modes" in full.message and "500 modes" not in short.message
    assert (np.abs(short.values - full.values) <= short.error + full.error).all()


def test_small_learning_rates_reduce_to_the_functional_scaling_law() -> None:
    # f - (delta + e + K*gamma(e + sigma^2)) is K*gamma(f - e) : between 0 and gamma_max tr(H)/2 times the sup of f - e.
    plan = schedule("cosine", peak=1e-4, steps=1e7)
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=plan)
    risk = solve(problem, plan.total_intrinsic_time).excess_risk[0]
    law = functional_scaling_law(problem.model, plan).total
    assert 0 < risk / law - 1 < 2 * problem.stability


def test_results_keep_order_shape_and_monotone_facts() -> None:
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=0.0), gamma=0.2, horizon=1e4)
    t = np.array([[1e4, 1.0], [10.0, 1.0]])
    found = loss_of(problem, t)
    assert found.values.shape == (2, 2) and found.values[0, 1] == found.values[1, 1]
    assert (found.values >= problem.model.forcing(t)).all() and found.values[0, 0] < found.values[1, 0] < found.values[
        0, 1
    ]
    assert loss_of(problem, 0.0).values[0] == pytest.approx(signal(0.0, 0.5, 2.0), rel=1e-14)
    axes = found.plot()
    assert axes.get_xlabel() == "intrinsic time t"


def test_unstable_problems_are_refused_with_the_number() -> None:
    problem = Problem(Model(s=0.5, beta=2.0, size=1, noise=1.0), gamma=2.5, horizon=10.0)
    with pytest.raises(UnstableProblemError, match=r"gamma_max tr\(H\)/2 = 1.25"):
        loss_of(problem, 1.0)
    found = loss_of(problem, 10.0, allow_unstable=True)
    delta = approximation_error(0.5, 2.0, 1)  # x' = 0.5 x + 2.5 (delta + 1), x(0) = 1: grows like exp(t/2)
    exact = delta + math.exp(5.0) + 5.0 * (delta + 1.0) * math.expm1(5.0)
    assert found.values[0] == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=0.1), ValueError, "horizon is needed"),
        (lambda p: loss_of(p, 1e9), ValueError, "t must be finite and in"),
        (lambda p: loss_of(p, []), ValueError, "at least one time"),
        (lambda p: loss_of(p, 1.0, method="magic"), ValueError, "method must be one of"),
        (lambda p: loss_of("problem", 1.0), TypeError, "problem must be a Problem"),
    ],
)
def test_bad_input_is_refused_in_words(call: Any, error: type[Exception], text: str) -> None:
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.1, horizon=100.0)
    with pytest.raises(error, match=text):
        call(problem)
