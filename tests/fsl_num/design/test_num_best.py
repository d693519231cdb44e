"""Optimal schedules of fitted laws: certificates that an independent checker accepts, from any start."""

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from fsl_num.curves.laws import FunctionalLaw, law
from fsl_num.design.best import Past, least_loss, optimum
from fsl_num.design.families import BASELINES, FAMILIES, best_member, family_rates, shape_words, step_blocks
from fsl_num.design.final_loss import MOST, final_loss
from fsl_num.design.newton import linear_gap, newton
from fsl_num.design.water_filling import never_rising, water_filling
from fsl_num.schedules import SCHEDULES, step_rates

PEAK = 1e-3
THETA = {"L0": 2.7, "A": 0.7, "B": 0.3, "E": 0.05, "s": 0.5, "c": 20.0, "gamma": 0.9, "c_e": 15.0, "p": 0.7}
parameters = st.fixed_dictionaries(
    {
        "L0": st.just(2.7), "A": st.floats(0.05, 1.0), "B": st.floats(0.03, 0.5),
        "E": st.sampled_from([0.0, 0.05, 0.5]), "s": st.floats(0.2, 1.2), "c": st.floats(1.0, 200.0),
        "gamma": st.floats(0.3, 3.0), "c_e": st.floats(1.0, 200.0), "p": st.floats(0.3, 1.6),
    }
)  # fmt: skip


def vector(values):
    return np.array([values[name] for name in law("fsl-full").names])


def past(steps, warmup=None):
    warmup = steps // 20 if warmup is None else warmup
    return Past(PEAK * np.arange(warmup) / max(warmup, 1), warmup)


def accepted(rates, gradient, low, high, falling, tolerance):
    """Ten lines that know no optimiser: bounds, order, and no schedule allowed that the gradient calls better."""
    inside = (rates >= low).all() and (rates <= high).all()
    ordered = not falling or (np.diff(rates) <= 0.0).all()
    if falling:  # the extreme points are high for the first k steps and low after them
        corners = [gradient @ np.where(np.arange(rates.size) < k, high, low) for k in range(rates.size + 1)]
        better = gradient @ rates - min(corners)
    else:
        better = gradient @ rates - gradient @ np.where(gradient < 0.0, high, low)
    return inside and ordered and better <= tolerance


@pytest.mark.parametrize("falling", [True, False])
@pytest.mark.parametrize("floor", [0.0, 5e-5])
def test_the_conditions_of_kuhn_and_tucker_hold(falling, floor):
    chosen, family = law("fsl-full"), "non-increasing" if falling else "free"
    found = optimum(chosen, vector(THETA), past(1000), 950, floor, PEAK, family)
    loss = past(1000).objective(chosen, vector(THETA))
    gradient = loss(found.rates, np.ones(950))[1]
    assert accepted(found.rates, gradient, floor, PEAK, falling, 1e-9)
    assert abs(found.kkt_residual) < 1e-9
    worse = np.where(np.arange(950) >= 800, np.maximum(0.9 * found.rates, floor), found.rates)
    assert not accepted(worse, loss(worse, np.ones(950))[1], floor, PEAK, falling, 1e-9)


@examples(15)
@given(values=parameters, steps=st.integers(500, 2000))
def test_one_price_of_a_step_proves_the_optimum(values, steps):
    """Independent of the search: the best of all intrinsic times, each passed at the price of a step that suits it.

    For E = 0 the least noise of an intrinsic time S, min over the rates w of int_0^S K(R) B (r w)^-p dR, is where all
    steps have one price, p K(R) B r^p w^(1 + p) below the peak: convex for each S, though S need not be.
    """
    values = {**values, "E": 0.0}
    found = optimum(law("fsl-full"), vector(values), Past(np.array([]), 0), steps, 0.0, PEAK, "free")
    c, gamma, p = values["c"], values["gamma"], values["p"]
    time = np.append(0.0, np.geomspace(1e-9, 1.0, 20_001) * steps * PEAK)
    mean = values["B"] * 1000**p * -np.diff((1 + c * time) ** -gamma) / np.diff(time)

    def least(price):
        """The loss at the intrinsic time that takes all steps at this price."""
        spent = np.maximum((p * mean / price) ** (1 / (1 + p)), 1 / PEAK)
        taken, noise = (np.append(0.0, np.cumsum(density * np.diff(time))) for density in (spent, mean * spent**-p))
        end, noise = (np.interp(steps, taken, values_at) for values_at in (time, noise))
        return values["L0"] + noise + values["A"] * (1 + values["c_e"] * end) ** -values["s"]

    prices = p * mean[0] * (PEAK * np.geomspace(1e-7, 1.0, 141)) ** (1 + p)
    losses = [least(price) for price in prices]
    middle = prices[int(np.argmin(losses))]
    bound = min(least(price) for price in middle * np.geomspace(0.5, 2.0, 141))
    # 20,000 cells and a per cent of the price, below 3e-5; whole steps in the place of rates that change at any time:
    # of second order, (decay of the rate within a step)^2 of the noise, below 1e-4 from 500 steps on
    assert bound - 3e-5 <= found.loss <= bound + 1e-4


@examples(15)
@given(values=parameters, steps=st.integers(50, 1500), falling=st.booleans(), seed=st.integers(0, 10**6))
def test_no_schedule_lies_below_the_bound_nor_below_the_optimum(values, steps, falling, seed):
    fixed = past(steps)
    count = steps - fixed.warmup
    found = optimum(law("fsl-full"), vector(values), fixed, count, 0.0, PEAK, "non-increasing" if falling else "free")
    loss = fixed.objective(law("fsl-full"), vector(values))
    draw = np.random.default_rng(seed)
    rivals = [family_rates(family, choices, count, 0.0, PEAK) for family, choices in BASELINES.values()]
    rivals += [
        family_rates(name, member, count, 0.0, PEAK) for name in FAMILIES for member in FAMILIES[name].tried[::7]
    ]
    rivals += [PEAK * np.sort(draw.random(count))[::-1] ** draw.integers(1, 5)]
    rivals += [np.minimum(found.rates * np.exp(0.1 * draw.normal()), PEAK)]
    least = min(loss(rival, np.ones(count))[0] for rival in rivals)
    assert found.loss <= least + 1e-9  # Newton's method ends at 1e-12 nats of the linear gap
    assert found.gap is not None and found.loss - found.gap <= least + 1e-9
    assert found.rates.max() <= PEAK and (not falling or np.diff(found.rates).max() <= 0.0)


@pytest.mark.parametrize("values", [THETA, {**THETA, "E": 0.0, "p": 1.0}, {**THETA, "gamma": 2.5, "p": 0.5, "c": 5.0}])
def test_ten_starts_of_another_method_end_at_the_same_loss(values):
    fixed = past(60)
    found = optimum(law("fsl-full"), vector(values), fixed, 57, 0.0, PEAK, "free")
    loss, draw = fixed.objective(law("fsl-full"), vector(values)), np.random.default_rng(3)

    def at(logs):
        value, gradient = loss(PEAK * np.exp(logs), np.ones(57))
        return value, gradient * PEAK * np.exp(logs)

    for _ in range(10):
        start = np.log(draw.random(57) + 1e-3)
        end = minimize(at, np.minimum(start, 0.0), jac=True, method="L-BFGS-B", bounds=[(-20.0, 0.0)] * 57,
                       options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-16, "gtol": 1e-12})  # fmt: skip
        assert abs(end.fun - found.loss) < 1e-8
        near = np.clip(found.rates * np.exp(0.01 * draw.normal(size=57)), 0.0, PEAK)
        again = newton(law("fsl-full"), vector(values), fixed.rates, loss, near, 0.0, PEAK, False)
        assert loss(again, np.ones(57))[0] < found.loss + 1e-8


@pytest.mark.parametrize(("power", "convex"), [(0.5, False), (0.7, False), (1.4, True)])
def test_the_loss_is_not_convex_in_the_rates(power, convex):
    """Of constant rates whose signal is learnt the loss is about L0 + B eta^p: concave for p < 1.

    So no linear problem in the rates bounds it; the bound is that of water filling, convex in 1/eta.
    """
    loss = Past(np.array([]), 0).objective(law("fsl-full"), vector({**THETA, "p": power}))

    def of(rate):
        return loss(np.full(34_000, rate), np.ones(34_000))[0]

    assert (of(0.75 * PEAK) < 0.5 * (of(PEAK) + of(0.5 * PEAK))) is convex


@examples(10)
@given(factor=st.floats(0.01, 100.0))
def test_the_unit_of_the_rates_does_not_matter(factor):
    """Rates in another unit: c and c_e take the inverse, B and E what their reference rate asks for."""
    scaled = {**THETA, **{name: THETA[name] * factor ** -THETA["p"] for name in ("B", "E")}}
    scaled |= {name: THETA[name] / factor for name in ("c", "c_e")}
    usual = optimum(law("fsl-full"), vector(THETA), past(400), 380, 0.0, PEAK, "non-increasing")
    fixed = Past(factor * past(400).rates, past(400).warmup)
    rescaled = optimum(law("fsl-full"), vector(scaled), fixed, 380, 0.0, factor * PEAK, "non-increasing")
    assert abs(usual.loss - rescaled.loss) < 1e-9
    # the loss is flat: 1e-12 in it is 1e-6 here
    assert np.abs(rescaled.rates / factor - usual.rates).max() < 1e-4 * PEAK


def test_the_momentum_law_is_convex_and_its_optimum_certified():
    theta = np.array([2.7, 0.7, 0.5, 0.5, 0.99])
    found = optimum(law("momentum"), theta, past(2000), 1900, 0.0, PEAK, "non-increasing")
    gradient = past(2000).objective(law("momentum"), theta)(found.rates, np.ones(1900))[1]
    assert found.gap == pytest.approx(max(found.kkt_residual, 0.0), abs=1e-14) and found.gap < 1e-4
    assert accepted(found.rates, gradient, 0.0, PEAK, True, 1e-4)


@pytest.mark.parametrize("name, theta", [
    ("multi-power", [2.7, 0.7, 400.0, 0.5, 2.0, 0.5, 0.4]),
    ("fsl-ansatz", [2.7, 0.7, 200.0, 1e-4, 0.5, 20.0, 0.9]),
])  # fmt: skip
def test_other_laws_say_how_many_starts_agree(name, theta):
    theta = np.array(theta)
    found = optimum(law(name), theta, past(1000), 950, 1e-5, PEAK, "non-increasing")
    loss = past(1000).objective(law(name), theta)
    assert found.gap is None and 1 <= found.agreed <= found.starts == 5
    assert (np.diff(found.rates) <= 0.0).all() and found.rates.min() >= 1e-5
    for family, given_ in BASELINES.values():
        assert found.loss <= loss(family_rates(family, given_, 950, 1e-5, PEAK), np.ones(950))[0]


def test_a_law_that_free_rates_exploit_is_refused():
    with pytest.raises(ValueError, match="half of its L0"):
        optimum(
            law("multi-power"), np.array([2.7, 0.7, 4000.0, 0.5, 2.0, 0.9, 0.4]), past(1000), 950, 0.0, PEAK, "free"
        )


@examples(20)
@given(st.sampled_from([name for name in FAMILIES if name in SCHEDULES or name == "wsd"]), st.data())
def test_a_family_is_the_schedule_of_its_name(name, data):
    """Power decays after a stable phase are the wsd of designs; shares of steps and peak stand for both."""
    steps, known = 40, FAMILIES[name].ranges
    given_ = {key: data.draw(st.floats(max(low, 0.05), min(high, 0.95)), key) for key, (low, high) in known.items()}
    named = dict(given_)
    if "decay_fraction" in named:
        named["decay_fraction"] = given_["decay_fraction"] = round(named["decay_fraction"] * steps) / steps
    if name == "multi-step":
        first, between, factor, further = given_.values()
        named = {"milestones": [first, first + between * (1 - first)], "factors": [factor, factor * further]}
    for parameter, whole in (("final", PEAK), ("timescale", steps)):
        named |= {parameter: named[parameter] * whole} if parameter in named else {}
    found = family_rates(name, tuple(given_.values()), steps, 0.0, PEAK)
    expected = step_rates({"wsd": "power-decay"}.get(name, name), peak=PEAK, steps=steps, **named)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9 * PEAK)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if "final" in family.ranges])
def test_a_decay_ends_at_the_floor_as_schedulers_mean_a_least_rate(name):
    """The shape goes down to it; a shape cut there is none that a framework has."""
    for *given_, final in FAMILIES[name].tried:
        found = family_rates(name, (*given_, final), 40, 0.05 * PEAK, PEAK)
        expected = family_rates(name, (*given_, max(final, 0.05)), 40, 0.0, PEAK)
        np.testing.assert_allclose(found, expected, rtol=1e-14)  # rounding at the floor


@pytest.mark.parametrize("name", FAMILIES)
def test_the_best_member_is_no_worse_than_any_tried(name):
    loss = past(1000).objective(law("fsl"), vector({**THETA, "E": 0.0})[[0, 1, 2, 4, 5, 6, 7, 8]])
    rates, found = best_member(name, loss, 950, 1e-5, PEAK)
    least = loss(rates, np.ones(950))[0]
    for member in FAMILIES[name].tried:
        assert least <= loss(family_rates(name, member, 950, 1e-5, PEAK), np.ones(950))[0] + 1e-7  # blocks choose
    assert set(found) == set(FAMILIES[name].ranges) and rates.min() >= 1e-5 and rates.max() <= PEAK
    if "decay_fraction" in found:  # whole steps, so that a framework's scheduler can have the same
        assert found["decay_fraction"] * 950 == pytest.approx(round(found["decay_fraction"] * 950), abs=1e-9)


def test_shapes_have_words():
    gone = np.arange(2000) / 2000
    assert shape_words(np.append(np.ones(2000), 1 - gone)) == (pytest.approx(0.505, abs=1e-3), "linear")
    assert shape_words(np.append(np.ones(100), 1 - np.sqrt(gone)))[1] == "1-sqrt"
    assert shape_words(0.55 + 0.45 * np.cos(np.pi * gone))[1] == "cosine"
    assert shape_words(0.01**gone)[1] == "exponential"
    assert shape_words((1 - gone) ** 3)[1] == "power 3"
    assert shape_words(np.repeat([1.0, 0.2], 500)) == (0.5, "1 drop")
    assert shape_words(np.repeat([1.0, 0.3, 0.1], 500))[1] == "2 drops"
    assert shape_words(np.array([1.0, 0.9, 0.5, 0.2]))[1] != "3 drops"  # steps of four, no drops
    assert step_blocks(10_000)[1].sum() == 10_000


@examples(20)
@given(values=st.lists(st.floats(0.0, 10.0), min_size=1, max_size=30), seed=st.integers(0, 10**6))
def test_the_nearest_sequence_that_never_rises(values, seed):
    weights = np.random.default_rng(seed).random(len(values)) + 0.1
    given_ = np.array(values)
    found = never_rising(given_, weights)
    assert np.diff(found).max(initial=0.0) <= 1e-12
    # the conditions of the projection on a cone: orthogonal to itself, and no falling sequence gains
    assert abs((weights * (given_ - found)) @ found) < 1e-9 * (1.0 + weights.sum() * 100.0)
    assert np.cumsum(weights * (given_ - found)).max() < 1e-9 * (1.0 + weights.sum() * 10.0)


PEAKED = FunctionalLaw(signal_noise=True, peaks=True, reference_peak=PEAK)


@pytest.mark.parametrize("fastest", [0.5 * PEAK, 2.0 * PEAK])
@pytest.mark.parametrize("floor", [0.3 * PEAK, 0.8 * PEAK])
@pytest.mark.parametrize("allowed", [1.5 * PEAK, 4.0 * PEAK])
def test_above_the_fastest_peak_a_floor_counts_for_less(fastest, floor, allowed):
    """Runs of a larger peak learn less a step and are less noisy at their floor: all peaks allowed are looked at."""
    theta = np.array([{**THETA, "P_c": fastest}[name] for name in PEAKED.names])
    found = optimum(PEAKED, theta, Past(np.array([]), 0), 1000, floor, allowed, "non-increasing")
    loss = Past(np.array([]), 0).objective(PEAKED, theta)
    rivals = [
        loss(family_rates(family, choices, 1000, floor, peak), np.ones(1000))[0]
        for peak in np.geomspace(max(floor * 1.001, 0.5 * allowed), allowed, 12)
        for family, choices in BASELINES.values()
    ]  # fmt: skip
    assert found.loss == loss(found.rates, np.ones(1000))[0] <= min(rivals) and found.rates.min() >= floor
    alone = [
        least_loss(PEAKED, theta, Past(np.array([]), 0), 1000, floor, peak, "non-increasing")
        for peak in np.geomspace(floor * 1.001, allowed, 25)
    ]
    assert found.loss - 1e-6 < min(alone) + 1e-5 and found.loss - found.gap < min(alone)


def test_a_floor_that_is_too_high_below_the_peak_is_paid_for_at_that_peak():
    """Where the floor does harm, a run of a larger peak takes shorter steps at it."""
    values = {"L0": 0.7, "A": 2.1, "B": 0.9, "E": 3.0, "s": 1.1, "c": 0.85, "gamma": 4.1, "c_e": 1.6, "p": 1.9}
    theta = np.array([{**values, "P_c": 2.6 * PEAK}[name] for name in PEAKED.names])
    fresh, ones = Past(np.array([]), 0), np.ones(130)
    found, loss = optimum(PEAKED, theta, fresh, 130, 2.7 * PEAK, 6.0 * PEAK, "non-increasing"), fresh.objective
    rival = family_rates("linear", (1.0, 0.0), 130, 2.7 * PEAK, 6.0 * PEAK)
    assert found.loss == loss(PEAKED, theta)(found.rates, ones)[0] < loss(PEAKED, theta)(rival, ones)[0]
    assert found.gap < 0.02 and loss(PEAKED, theta)(2.7 * PEAK * ones, ones)[0] > found.loss + 1.0


@pytest.mark.parametrize("allowed", [0.4, 0.9])
def test_one_step_at_a_peak_below_the_fastest_makes_a_floor_count_for_less(allowed):
    """Where the floor does harm a design is no constant rate at it: a step at the peak shortens all others."""
    theta = np.array([{**THETA, "B": 2.0, "p": 1.5, "P_c": 3.0 * PEAK}[name] for name in PEAKED.names])
    fresh, ones, floor, peak = Past(np.array([]), 0), np.ones(100), 0.9 * PEAK, allowed * 3.0 * PEAK
    found, loss = optimum(PEAKED, theta, fresh, 100, floor, peak, "non-increasing"), fresh.objective(PEAKED, theta)
    rival = np.append(peak, floor * ones[1:])
    assert found.loss <= loss(rival, ones)[0] < loss(floor * ones, ones)[0] - 1e-3
    assert found.loss - found.gap <= loss(rival, ones)[0] and found.rates.min() >= floor


def test_where_training_does_harm_all_rates_are_0():
    theta = np.array([{**THETA, "A": 0.01, "B": 5.0, "P_c": 3.0 * PEAK}[name] for name in PEAKED.names])
    found = optimum(PEAKED, theta, Past(np.array([]), 0), 60, 0.0, PEAK, "non-increasing")
    assert found.rates.max() == 0.0 and found.loss == THETA["L0"] + 0.01 and 0.0 <= found.gap < 1e-4


UNDER_WAY = {
    "a run at a lower rate": Past(np.repeat(PEAK * np.array([1.0, 0.2]), [300, 100]), 0),
    "two steps of warmup": Past(2.0 * PEAK * np.arange(2), 2),
    "sixty of them": Past(4.0 * PEAK * np.arange(60) / 60, 60),
}


@pytest.mark.parametrize("fastest", [0.5 * PEAK, 2.0 * PEAK])
@pytest.mark.parametrize("floor", [0.0, 0.3 * PEAK])
@pytest.mark.parametrize("name", UNDER_WAY)
def test_no_peak_that_a_run_under_way_may_rise_to_is_better(name, floor, fastest):
    """A peak above that of the steps done shortens them, too: which is best, and that no other is, takes all peaks."""
    theta = np.array([{**THETA, "P_c": fastest}[name] for name in PEAKED.names])
    done, allowed = UNDER_WAY[name], 4.0 * PEAK
    found, loss = optimum(PEAKED, theta, done, 500, floor, allowed, "free"), done.objective(PEAKED, theta)
    rivals = [
        loss(np.clip(share * family_rates(family, choices, 500, floor, allowed), floor, allowed), np.ones(500))[0]
        for share in np.geomspace(0.05, 1.0, 20)
        for family, choices in BASELINES.values()
    ]
    assert found.loss == loss(found.rates, np.ones(500))[0] <= min(rivals) + 1e-6
    assert found.loss - found.gap <= min(rivals) and found.gap < 0.015  # measured: at most 0.0112


@pytest.mark.parametrize("name", ["fsl-full", "multi-power", "momentum"])
@pytest.mark.parametrize("family", ["free", "non-increasing", "cosine"])
def test_a_floor_at_the_peak_leaves_one_schedule(name, family):
    chosen = law(name)
    theta = vector(THETA) if name == "fsl-full" else np.array([2.7, 0.7, 0.5, 0.5, 0.99, 0.9, 0.4][: len(chosen.names)])
    found = optimum(chosen, theta, past(100), 95, PEAK, PEAK, family)
    assert (found.rates == PEAK).all() and found.kkt_residual == found.gap == 0.0
    assert found.loss == past(100).objective(chosen, theta)(found.rates, np.ones(95))[0]
    assert least_loss(chosen, theta, past(100), 95, PEAK, PEAK, family) == found.loss


@pytest.mark.parametrize("falling", [True, False])
def test_schedules_of_very_many_steps_are_followed_in_blocks(falling):
    """One by one they lose as much to 1e-8 nats."""
    steps, fixed = MOST + 50_000, past(1000)
    found = optimum(law("fsl-full"), vector(THETA), fixed, steps, 0.0, PEAK, "non-increasing" if falling else "free")
    parts = np.array_split(np.arange(steps), 3)  # the same law, asked for the noise of each part step by step
    lengths = np.concatenate([np.ones(part.size) for part in parts[1:]])
    whole = Past(np.append(fixed.rates, found.rates[: parts[1][0]]), fixed.warmup)
    alone = whole.objective(law("fsl-full"), vector(THETA))(found.rates[parts[1][0] :], lengths)[0]
    assert abs(alone - found.loss) < 1e-8
    assert found.gap < 1e-5 and abs(found.kkt_residual) < 1e-6
    loss = fixed.objective(law("fsl-full"), vector(THETA))
    later = np.concatenate([found.rates[:1000], found.rates[:-1000]])
    assert loss(later, np.ones(steps))[0] > found.loss + 1e-6


def test_a_member_of_a_family_of_very_many_steps_is_that_of_fewer_longer_ones():
    loss = past(1000).objective(law("fsl-full"), vector(THETA))
    rates, chosen = best_member("1-sqrt", loss, 3 * MOST, 0.0, PEAK)
    least, fraction, final = loss(rates, np.ones(rates.size))[0], chosen["decay_fraction"], chosen["final"] / PEAK
    assert 0.2 < fraction < 0.9
    for share in (0.9, 0.99, 1.01, 1.1):
        other = family_rates("1-sqrt", (share * fraction, final), rates.size, 0.0, PEAK)
        assert least <= loss(other, np.ones(rates.size))[0] + 1e-8


def test_noise_that_is_nothing_keeps_the_peak():
    theta = vector({**THETA, "B": 0.0, "E": 0.0})
    assert (water_filling(law("fsl-full"), theta, np.array([]), 50, 0.0, PEAK, True).rates == PEAK).all()
    found = least_loss(law("fsl-full"), theta, past(100), 95, 0.0, PEAK, "free")
    assert (
        abs(found - final_loss(law("fsl-full"), theta, past(100).rates, 5)(np.full(95, PEAK), np.ones(95))[0]) < 1e-12
    )
    assert linear_gap(np.ones(3), -np.ones(3), 0.0, 1.0, True) == 0.0
