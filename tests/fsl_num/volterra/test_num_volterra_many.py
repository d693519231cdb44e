"""Many schedules at once, against each of them alone."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, UnstableProblemError
from fsl_num.volterra.steps.discrete import losses_of_steps
from fsl_num.volterra.steps.many import risks_of_schedules

MODEL = Model(s=0.5, beta=2.0, size=math.inf, noise=1.0)


def _alone(model, rates, batches, rtol, closure="volterra"):
    """Excess risks and their errors, by the march of one schedule."""
    plan = Discrete(rates=rates, batch_sizes=batches)
    losses, errors, _ = losses_of_steps(Problem(model, gamma=plan, closure=closure), rtol)
    return 0.5 * losses, 0.5 * errors


@examples(8)
@given(st.integers(0, 2**31), st.sampled_from([1, 5, math.inf]), st.sampled_from([1e-4, 1e-8, 1e-11]), st.booleans())
def test_each_schedule_as_if_it_were_alone(seed, size, rtol, shared):
    generator = np.random.default_rng(seed)
    model = Model(s=0.8, beta=1.7, size=size, noise=float(generator.integers(0, 3)))
    rates = generator.uniform(0.0, 0.4, 90 if shared else (4, 90))
    rates[..., 7] = 1.7  # longer than one part
    batches = generator.uniform(2.0, 5.0, (4, 90))
    batches[:, 7] = 40.0
    found = risks_of_schedules(model, rates, batches, at=[0, 8, 90], rtol=rtol)
    assert ("shared" in found.message) == shared
    for k in range(4):
        risks, error = _alone(model, rates if shared else rates[k], batches[k], rtol)
        at = found.at
        assert (np.abs(found.excess_risk[k] - risks[at]) <= found.error[k] + error[at]).all()
        assert found.excess_risk[k] == pytest.approx(risks[at], rel=3.0 * rtol)
        assert (found.error[k] < 3.0 * rtol * risks[at]).all()


def test_more_schedules_than_columns_and_a_common_batch_size():
    found = risks_of_schedules(MODEL, np.full(20, 0.1), np.linspace(1.0, 9.0, 600)[:, None])
    assert found.excess_risk.shape == (600, 1) and (np.diff(found.excess_risk[:, 0]) < 0.0).all()
    alone, _ = _alone(MODEL, np.full(20, 0.1), 9.0, 1e-8)
    assert found.excess_risk[-1, 0] == pytest.approx(alone[-1], rel=2e-8)


def test_any_executor_gives_the_same_bits():
    rates = np.random.default_rng(3).uniform(0.0, 0.3, (3, 30))
    with ThreadPoolExecutor(2) as executor:
        side_by_side = risks_of_schedules(MODEL, rates, executor=executor)
    assert np.array_equal(side_by_side.excess_risk, risks_of_schedules(MODEL, rates).excess_risk)


def test_the_gaussian_closure_is_solved_too():
    model, rates = Model(s=0.5, beta=2.0, size=4, noise=1.0), np.full(30, 0.3)
    (found,) = risks_of_schedules(model, rates, 1.0, closure="gaussian").excess_risk[:, 0]
    risks, _ = _alone(model, rates, 1.0, 1e-8, closure="gaussian")
    assert found == risks[-1]
    assert found > risks_of_schedules(model, rates, 1.0).excess_risk[0, 0]


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"rates": [0.1, -1.0]}, ValueError, "rates"),
        ({"rates": np.ones((2, 2, 2))}, ValueError, "shape"),
        ({"rates": [0.1, 0.2], "batch_sizes": [1.0, 2.0, 3.0]}, ValueError, "do not fit"),
        ({"rates": [0.1, 0.2], "batch_sizes": 0.0}, ValueError, "positive"),
        ({"rates": [0.1, 0.2], "at": [3]}, ValueError, "rising whole numbers"),
        ({"rates": [0.1, 0.2], "at": [0.5]}, ValueError, "rising whole numbers"),
        ({"rates": [0.1, 0.2], "rtol": 0.0}, ValueError, "rtol"),
        ({"closure": "other", "rates": [0.1]}, ValueError, "closure must be one of"),
        ({"rates": [9.0, 0.2]}, UnstableProblemError, "must be below 1"),
        ({"rates": [[9.0, 0.2], [0.1, 0.1]]}, UnstableProblemError, "must be below 1"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, kind, text):
    with pytest.raises(kind, match=text):
        risks_of_schedules(MODEL, **arguments)


def test_an_unstable_one_is_solved_where_that_is_asked_for():
    found = risks_of_schedules(MODEL, [2.0] * 30, allow_unstable=True)
    assert found.excess_risk[0, 0] > 0.5
