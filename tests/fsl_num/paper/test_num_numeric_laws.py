"""The laws in logarithms against the theorems written out in plain numbers, and what brute force finds on them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsl_num import Model
from fsl_num.functional import scaling_functional
from fsl_num.paper.allocation.numeric_laws import LOG_BUDGETS, BudgetedLaw, measure_allocation, measure_risk
from fsl_num.schedules import Consecutive, Constant, InverseSqrt, Linear
from fsl_num.schedules.phases import Backwards

unit = st.floats(0.02, 0.98)


def theorem(schedule, s, beta, peak, model, data, fraction, steps):
    """The right-hand side of the theorems with b = a/K, sigma = 1, in plain floating point."""
    batch = data / steps
    a = peak * batch
    b = a / steps
    if schedule == "constant":
        return model ** (-s * beta) + (a * steps) ** -s + a / batch
    stable, decay = (0.0, a) if schedule == "exp-decay" else (a * (1 - fraction) * steps, a * fraction)
    decay_time = (decay - decay / steps) * steps / math.log(a / b)
    noise = b / batch + (a - b) * min(model, decay_time ** (1 / beta)) / (batch * decay_time)
    return model ** (-s * beta) + (stable + decay_time) ** -s + noise


@pytest.mark.parametrize("schedule", ["constant", "exp-decay", "wsd"])
@pytest.mark.parametrize("budget", ["data", "compute"])
@given(s=st.floats(0.1, 3), beta=st.floats(1.1, 6), u=unit, v=unit, w=unit, x=unit)
def test_the_law_is_the_theorem(schedule, budget, s, beta, u, v, w, x):
    log_budget = 40.0
    law = BudgetedLaw(schedule, budget, s, beta, log_budget, free_steps=True)
    model = 0.6 * v * log_budget
    data = log_budget - (model if budget == "compute" else 0)
    steps = (0.3 + 0.7 * x) * data
    peak = -u * log_budget
    fraction = -5 * w
    point = {"peak_lr": peak, "model_size": model, "decay_fraction": fraction, "steps": steps}
    found = float(law.log_risk(np.array([[point[name] for name in law.variables]]))[0])
    if not math.isfinite(found):  # a > 1 or T < 1: outside the theorem
        length = math.exp(data + peak) / (1 if schedule == "constant" else steps)
        assert peak + data - steps > 0 or length * (math.exp(fraction) if schedule == "wsd" else 1) < 1 + 1e-9
        return
    expected = theorem(schedule, s, beta, *(math.exp(log_value) for log_value in (peak, model, data, fraction, steps)))
    # 1e-9: the plain formula subtracts b from a and 1 - r, each to about 1e-16 / 1e-7 at the extremes drawn here.
    assert found == pytest.approx(math.log(expected), abs=1e-9)


def test_bounds_belong_to_the_variables():
    law = BudgetedLaw("wsd", "data", 1.0, 2.0, 100.0, free_steps=True)
    assert law.variables == ("peak_lr", "model_size", "decay_fraction", "steps")
    assert len(law.bounds) == 4
    assert BudgetedLaw("wsd", "data", 1.0, 2.0, 100.0, infinite_model=True).variables == ("peak_lr", "decay_fraction")


def test_brute_force_knows_the_constant_schedule():
    # min over gamma of gamma + (gamma D)^-s with s = 1 is 2 D^(-1/2), at gamma = D^(-1/2); M = oo is allowed.
    ray = measure_risk("constant", "data", 1.0, 2.0)
    assert ray.values == pytest.approx(math.log(2) - np.array(LOG_BUDGETS) / 2, abs=1e-6)
    measured = measure_allocation("constant", "data", 1.0, 2.0)
    assert measured["model_size upper"] is None
    (lower,), (upper,) = measured["peak_lr lower"], measured["peak_lr upper"]
    # gamma + 1/(gamma D) <= 2.2 * 2 D^(-1/2) where x = gamma D^(1/2) satisfies x + 1/x <= 4.4.
    half_width = math.acosh(2.2)
    assert upper.values + upper.scale / 2 == pytest.approx(half_width, abs=2e-3)
    assert lower.values + lower.scale / 2 == pytest.approx(-half_width, abs=2e-3)


def run_of(schedule, point, data, peak):
    """The schedule of a point in steps, batch size 1."""
    share = math.exp(point.get("decay_fraction", -math.log(2)))
    first, last = (1 - share) * data, share * data
    if schedule == "multi-step":
        final = peak * math.exp(point["final_over_peak"])
        return Consecutive(of=(Constant(peak=peak, steps=first), Constant(peak=final, steps=last)))
    if schedule == "inverse-sqrt":
        return InverseSqrt(peak=peak, steps=data, timescale=data * math.exp(point["timescale_fraction"]))
    up, down = (Linear(peak=peak, final=peak / data, steps=length) for length in (first, last))
    return Consecutive(of=(Backwards(of=up), down))


# log10 of the parameters: M, and the schedule's own
CORNERS = [
    *(("multi-step", {"model_size": size, "decay_fraction": -0.3, "final_over_peak": last})
      for size in (1.0, 1.3, 2.0, 2.3, 8.0) for last in (-12.0, -9.0, -1.0)),  # T_2 above, at and below M^beta
    *(("multi-step", {"model_size": 8.0, "decay_fraction": -first, "final_over_peak": -6.0})
      for first in (1e-12, 1e-9, 1e-6)),  # T_1 far below T_2 = 1e10
    *(("inverse-sqrt", {"model_size": size, "timescale_fraction": scale})
      for size in (1.0, 3.0, 9.0) for scale in (-16.0, -8.0, 0.0)),
    *(("cyclic", {"model_size": size, "decay_fraction": share})
      for size in (1.0, 3.0, 9.0) for share in (-14.0, -6.0, -0.3)),
]  # fmt: skip


@pytest.mark.parametrize("noise", [1e6, 1e-15])
@pytest.mark.parametrize("beta", [1.5, 3.0])
@pytest.mark.parametrize(("schedule", "own"), CORNERS)
def test_laws_beyond_the_papers_are_of_the_order_of_the_functional(schedule, own, beta, noise):
    """For all lengths of their parts: second rates shorter and longer than the first, and than M^beta."""
    log_budget = 40.0
    power = 1.0 if schedule == "cyclic" else None
    law = BudgetedLaw(schedule, "data", 1.0, beta, log_budget, noise=noise, power=power)
    point = {name: math.log(10) * value for name, value in {"peak_lr": -1.0, **own}.items()}
    claimed = float(law.log_risk(np.array([[point[name] for name in law.variables]]))[0])
    plan = run_of(schedule, point, math.exp(log_budget), math.exp(point["peak_lr"]))
    measured = scaling_functional(Model(1.0, beta, round(math.exp(point["model_size"])), noise), plan, rtol=1e-6).total
    # 1/2 of the functional times the 1/(4 beta) = 1/12 of what the last modes keep, the smallest of the constants
    assert abs(claimed - math.log(measured)) < math.log(24) + 0.1
