"""Plans: what a law knows of a run."""

import numpy as np
import pytest

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.plan import Plan, as_plan
from fsl_num.schedules import Discrete, schedule


def test_the_loss_of_a_step_comes_after_the_updates_before_it():
    plan = Plan([0.1, 0.2, 0.3], [1, 3], batch_sizes=[1.0, 2.0, 4.0])
    assert plan.intrinsic_time.tolist() == pytest.approx([0.1, 0.6])
    assert plan.data.tolist() == [1.0, 7.0]
    assert plan.peak == 0.3
    assert Plan([0.0, 0.1]).recorded.tolist() == [2]


@pytest.mark.parametrize(
    ("rates", "recorded", "told"),
    [
        ([0.0, 0.0], None, "positive one"),
        ([0.1, -0.1], None, "position 1"),
        ([0.1], [2], "within"),
        ([0.1, 0.1], [2, 1], "increase"),
        ([0.1, 0.1], [1.5], "whole"),
        ([0.0, 0.1], [1, 2], "no intrinsic time"),
        ([], None, "at least one"),
    ],
)
def test_wrong_plans_are_refused(rates, recorded, told):
    with pytest.raises(ValueError, match=told):
        Plan(rates, recorded)


def test_schedules_of_every_kind_become_plans():
    cosine = schedule("cosine", peak=0.1, steps=50, batch_size=4.0)
    plan = as_plan(cosine)
    assert plan.rates.size == 50
    assert plan.rates[0] == 0.1
    assert plan.data[-1] == 200.0
    assert as_plan(Discrete(rates=[0.1, 0.2])).intrinsic_time.tolist() == pytest.approx([0.1, 0.3])
    assert as_plan(plan) is plan
    assert as_plan(plan, recorded=[7]).recorded.tolist() == [7]
    assert as_plan(np.array([0.1, 0.1]), warmup=1).warmup == 1
    with pytest.raises(TypeError):
        as_plan("cosine")


def test_a_plan_and_a_curve_have_their_own_warmup_and_size():
    curve = LossCurve([1, 2], [3.0, 2.5], lr=[0.1, 0.1])
    for source in (curve, curve.plan):
        with pytest.raises(TypeError, match=f"a {type(source).__name__} has its own warmup and model_size: say it"):
            as_plan(source, warmup=1, model_size=5.0)
        assert as_plan(source, recorded=[2]).recorded.tolist() == [2]


def test_rates_beyond_all_reason_make_sums_without_a_warning():
    """A warning is an error in these tests; a prediction for such a plan is refused by the peak of its rates."""
    assert np.isinf(Plan([1e300, 0.0, 1e300]).sums[1][-1])


def test_a_name_is_no_schedule_and_what_makes_it_one_is_said():
    with pytest.raises(TypeError, match=r"schedule\('cosine', peak=..., steps=...\) makes it one"):
        as_plan("cosine")


def test_a_warmup_is_no_longer_than_the_schedule():
    assert Plan([0.1] * 3, warmup=3).warmup == 3
    with pytest.raises(ValueError, match="warmup must be at most the 3 updates"):
        Plan([0.1] * 3, warmup=4)


def test_the_first_part_of_a_plan_takes_nothing_unknown_and_checks_what_it_takes():
    whole = Plan([0.1, 0.2, 0.3], warmup=2, model_size=5.0, name="whole")
    part = whole.first(1, [1])
    assert (part.warmup, part.model_size, part.name) == (1, 5.0, "whole")
    with pytest.raises(TypeError, match="warmpu"):
        whole.first(1, [1], warmpu=1)
    for wrong in ({"warmup": -1}, {"warmup": 2}, {"model_size": -1.0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            whole.first(1, [1], **wrong)
    with pytest.raises(TypeError, match="name must be"):
        whole.first(1, [1], name=5)
