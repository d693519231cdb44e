"""The best schedule of a model under a data budget: it rediscovers the exponents and the shape of the theory."""

from functools import cache

import numpy as np
import pytest

from fsl_num import Discrete, Model, Spectrum, as_schedule, functional_scaling_law
from fsl_num.design.batches import batches_at
from fsl_num.design.families import FAMILIES
from fsl_num.design.model_water import model_water
from fsl_num.design.theory import best_gammas, design_for_model, least_risk
from fsl_num.schedules import step_rates

designed = cache(design_for_model)
"""Designs, each made once."""


def model(s, beta, size=float("inf"), noise=1.0):
    return Model(s=s, beta=beta, size=size, noise=noise)


def rates_of(design, steps):
    """The gamma of every sample, from the blocks of the design."""
    place = np.searchsorted(np.cumsum(design.samples), np.arange(steps) + 0.5)
    return design.gammas[np.minimum(place, design.gammas.size - 1)]


def test_the_best_gammas_are_those_of_the_design():
    task = model(0.5, 2.0, 50)
    found = designed(task, 2000.0)
    risk, gammas, samples = best_gammas(task, 2000.0)
    assert risk == pytest.approx(found.excess_risk, rel=1e-4)  # blocks at their middle
    assert np.array_equal(gammas, found.gammas) and np.array_equal(samples, found.samples)
    plan = batches_at(found.peak, "constant", {}, found.gammas, found.samples, 2.0)
    assert plan == found.as_batches(found.peak)


@pytest.mark.parametrize("size", [float("inf"), 50])
def test_its_excess_risk_is_that_of_the_functional_law(size):
    found = designed(model(0.5, 2.0, size), 2000.0)
    law = functional_scaling_law(model(0.5, 2.0, size), as_schedule(rates_of(found, 2000)))
    assert found.excess_risk == pytest.approx(law.total, rel=1e-4)  # 1,500 points of K and e, blocks cut to samples
    assert found.samples.sum() == pytest.approx(2000.0, rel=1e-9) and found.peak <= found.allowed


@pytest.mark.parametrize("s, beta", [(0.3, 1.5), (0.5, 2.0), (1.2, 2.0), (1.0, 3.0)])
def test_the_exponents_of_the_theory_are_found(s, beta):
    """Hard: D^-s, the peak at its bound. Easy: D^(-s beta/(1 + s beta)), the peak falls. The decay: power 2 beta - 1"""
    small, large = (designed(model(s, beta), data) for data in (1e10, 1e12))
    slope = np.log(large.excess_risk / small.excess_risk) / np.log(100.0)
    expected = s if s <= 1.0 - 1.0 / beta else s * beta / (1.0 + s * beta)
    assert abs(slope + expected) < 0.02
    assert (large.peak < 0.9 * small.peak) == (s > 1.0 - 1.0 / beta)
    left = np.cumsum(large.samples[::-1])[::-1] - large.samples / 2
    stable = left[large.gammas > 0.9 * large.peak].min()  # free rates also rise early, while the signal makes noise
    inside = (left < stable) & (large.gammas < 0.3 * large.peak) & (large.gammas > 1e-3 * large.peak)
    # (1 + y/y_0)^q: the q at which the q-th root is most nearly straight in the samples left y

    def bend(q):
        root, y = (large.gammas[inside] / large.peak) ** (1.0 / q), left[inside] / stable
        return np.abs(np.polyval(np.polyfit(y, root, 1), y) - root).max()

    powers = np.linspace(0.5, 1.5, 101) * (2.0 * beta - 1.0)
    assert abs(min(powers, key=bend) / (2.0 * beta - 1.0) - 1.0) < 0.06


@pytest.mark.parametrize("data", [1e3, 1e6])
def test_no_shape_is_better_and_the_bound_is_close(data):
    for problem in (model(0.4, 2.0), model(1.5, 1.5, noise=0.01), model(0.5, 2.0, 100)):
        found = designed(problem, data)
        assert 0.0 <= found.gap < 0.02 * found.excess_risk
        assert min(found.baselines.values()) > found.excess_risk * (1.0 - 1e-6)
        falling = designed(problem, data, falling=True)
        assert np.diff(falling.gammas).max() <= 1e-12 * falling.peak
        assert falling.excess_risk >= found.excess_risk * (1.0 - 1e-5)  # 8,000 cells against each other


@pytest.mark.parametrize(
    "asked, said",
    [({"data": 0.5}, "at least 1 sample"), ({"data": 9.0, "gamma": 2.0}, "training becomes unstable")],
)
def test_what_cannot_be_trained_is_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        design_for_model(model(0.5, 2.0), **asked)


@pytest.mark.parametrize("beta", [1.000001, 1.0000000001])
def test_near_the_least_capacity_exponent_a_design_is_found_too(beta):
    """The trace of H grows without bound, so that the times that can be trained are short: K hardly falls in them."""
    found = designed(model(0.5, beta), 1e4)
    assert found.peak == 1.0 / found.model.trace and 0.0 <= found.gap < 1e-3 * found.excess_risk


def test_a_model_without_s_and_beta_is_refused():
    with pytest.raises(ValueError, match="needs s and beta"):
        design_for_model(Model(spectrum=Spectrum([1.0, 0.25], [0.5, 0.1]), noise=0.0), 100.0)


@pytest.mark.parametrize("s, late", [(0.3, True), (1.2, False)])
def test_batch_sizes_are_another_form_of_the_rates(s, late):
    """Hard: one sample a step until late; easy: growing throughout. Both have the excess risk of the design."""
    task = model(s, 2.0)
    found = designed(task, 1e4, gamma=0.5)
    plan = found.as_batches(0.5)
    sizes = plan.batch_sizes
    assert np.all(sizes == np.round(sizes)) and sizes.min() >= 1 and sizes.sum() == 1e4
    assert np.ptp(plan.rates) == 0.0 and plan.total_intrinsic_time == pytest.approx(found.horizon, rel=1e-12)
    assert (np.mean(sizes < 2 * sizes.min()) > 0.9) == late
    # whole batches and steps of .5 (K falls by a share 2 lambda eta in a step) cost half a per cent here
    assert functional_scaling_law(task, plan).total == pytest.approx(found.excess_risk, rel=0.01)
    flat = Discrete(rates=plan.rates, batch_sizes=1e4 / sizes.size)
    assert functional_scaling_law(task, flat).total > 2 * found.excess_risk


def test_learning_rates_that_no_batches_serve_are_refused():
    found = designed(model(1.2, 2.0), 1e4, gamma=0.5)
    for rate, said in (
        (0.9 * found.peak, "below one sample"),
        (2.0, "single steps diverge"),
        (-1.0, "learning_rate"),
        (float("nan"), "learning_rate"),
    ):
        with pytest.raises(ValueError, match=said):
            found.as_batches(rate)
    long = designed(model(0.3, 2.0), 1e9)
    with pytest.raises(ValueError, match="10,000,000"):
        long.as_batches(long.peak)


@pytest.mark.parametrize(
    "schedule, given",
    [("cosine", {"floor": 0.5}), ("linear", {"floor": 0.6}), ("wsd", {"final": 0.6}),
     ("hf:cosine_with_min_lr(num_warmup_steps=0, min_lr_rate=0.4)", {})],
)  # fmt: skip
def test_batch_sizes_follow_from_scheduled_rates(schedule, given):
    """Rates and batches make the gamma of the design, so that its excess risk is theirs."""
    task = model(0.3, 2.0)
    found = designed(task, 1e4, gamma=0.5)
    plan = found.as_batches(1.5, schedule, **given)
    expected = step_rates(schedule, peak=1.5, steps=int(plan.steps), **given)
    assert np.ptp(plan.rates / expected) < 1e-12 and plan.rates[0] == pytest.approx(expected[0], rel=1.0 / plan.steps)
    assert plan.total_intrinsic_time == pytest.approx(found.horizon, rel=1e-12)
    assert np.all(plan.batch_sizes == np.round(plan.batch_sizes)) and plan.batch_sizes.sum() == 1e4
    # whole batches and steps of up to 1.5, which forget more slowly than time, cost some per cent here
    assert functional_scaling_law(task, plan).total == pytest.approx(found.excess_risk, rel=0.1)


@pytest.mark.parametrize(
    "schedule, given, said",
    [
        ("cosine", {}, "below one sample"),
        ("linear", {"floor": 0.6, "warmup": 10}, r"below one sample \(0\): give a floor, or no warmup"),
        ("linear", {"floor": 0.6, "warmup": 10**6}, "shorten it"),
        ("constant", {"final": 0.1}, "has no final"),
        ("sawtooth", {}, "unknown schedule"),
        ("multi-step", {"milestones": [1e-9], "factors": [1e-9]}, "10,000,000 are needed"),
    ],
)
def test_schedules_that_no_batches_serve_are_refused(schedule, given, said):
    found = designed(model(0.3, 2.0), 1e4, gamma=0.5)
    with pytest.raises((ValueError, TypeError), match=said):
        found.as_batches(1.5, schedule, **given)


def test_rates_as_much_larger_as_the_refusal_says_are_enough():
    found = designed(model(0.3, 2.0), 1e4, gamma=0.5)
    with pytest.raises(ValueError, match="below one sample") as refused:
        found.as_batches(0.55, "linear", floor=0.45)
    factor = float(str(refused.value).split("or rates ")[1].split(" times")[0])
    assert found.as_batches(1.01 * factor * 0.55, "linear", floor=1.01 * factor * 0.45).batch_sizes.min() >= 1.0


@pytest.mark.parametrize("s, beta", [(0.3, 2.0), (1.0, 2.0), (0.5, 4.0)])
def test_what_each_family_costs(s, beta):
    """None is below the bound, a larger family is no worse, and a stable phase with a power decay is nearly enough."""
    design = designed(Model(s, beta, float("inf"), 1.0), 1e5)
    members = design.best_members()
    assert min(members.values()) > design.excess_risk - design.gap
    small = ("linear", "power-decay")
    assert all(members["wsd"] <= members[name] * (1.0 + 1e-6) for name in small)  # where a simplex ends
    shapes = {
        "cosine to 0": "cosine",
        "linear to 0": "linear",
        "wsd, 20 % linear": "linear",
        "wsd, 20 % 1-sqrt": "1-sqrt",
    }
    for fixed, family in shapes.items():  # blocks close to the end, not even ones: a per cent
        assert members[family] <= design.baselines[fixed] * 1.01
    assert members["wsd"] < 1.05 * design.excess_risk


@pytest.mark.parametrize("family", FAMILIES)
def test_a_design_within_a_family(family):
    """Its blocks are the member of its parameters, its risk that of the law; the price is against the best of all."""
    task = model(1.0, 2.0, 50)
    free, found = designed(task, 3000.0), designed(task, 3000.0, family=family)
    assert found.free == free.excess_risk and found.gap == pytest.approx(
        found.excess_risk - free.excess_risk + free.gap
    )
    assert free.excess_risk - free.gap < found.excess_risk == least_risk(task, 3000.0, family=family)
    law = functional_scaling_law(task, as_schedule(rates_of(found, 3000)))
    assert found.excess_risk == pytest.approx(law.total, rel=2e-3)  # blocks cut to samples
    given_ = {**found.parameters}
    if "final" in given_:
        given_["final"] /= found.peak
    middle = (np.cumsum(found.samples) - 0.5 * found.samples) / 3000.0
    shape = FAMILIES[family].shape(middle, tuple(given_.values()), 3000.0)
    # final is told of the peak, from which the middle of the first block is up to a thousandth away
    np.testing.assert_allclose(found.gammas / found.gammas[0], shape / shape[0], rtol=2e-3, atol=1e-11)
    water = model_water(task, 3000.0, None)
    for factor in (0.9, 1.1):
        assert water.risk(np.minimum(found.gammas * factor, found.allowed), found.samples) >= found.excess_risk * (
            1 - 1e-9
        )
    assert found.exponents is None and found.as_dict()["family"] == family


def test_an_unknown_family_is_refused():
    with pytest.raises(ValueError, match="no family 'zigzag'; choose wsd"):
        designed(model(1.0, 2.0), 1e4, family="zigzag")
