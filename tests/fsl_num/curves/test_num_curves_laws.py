"""The laws: against the formulas written as plain sums, their Jacobians against differences, merged against exact."""

import tracemalloc

import numpy as np
import pytest

from fsl_num.curves.laws import LAWS, AnsatzLaw, FunctionalLaw, WeightsLaw, law
from fsl_num.curves.laws.memory import DETAILS, Memory, changes, mode_rates, power_memory
from fsl_num.curves.plan import Plan

WARMUP, SIZE = 20, 260
K = np.arange(SIZE)
COSINE = np.where(K < WARMUP, 0.02 * K / WARMUP, 0.002 + 0.009 * (1 + np.cos(np.pi * (K - WARMUP) / (SIZE - WARMUP))))
DROP = np.where(K < WARMUP, 0.02 * K / WARMUP, np.where(K < 150, 0.02, np.where(K < 200, 0.006, 0.0)))
RECORDED = np.array([25, 60, 61, 149, 150, 151, 180, 260])
PLANS = [Plan(rates, RECORDED, WARMUP, 8.0, 1e6) for rates in (COSINE, DROP)]

GIVEN = {
    "fsl": {"L0": 2.5, "A": 0.4, "B": 0.3, "s": 0.6, "c": 7.0, "gamma": 0.5, "c_e": 4.0, "p": 0.7},
    "fsl-simplified": {"L0": 2.5, "A": 0.4, "B": 0.3, "s": 0.6, "c": 7.0, "gamma": 0.5, "c_e": 4.0},
    "fsl-convolution": {"L0": 2.5, "A": 0.4, "B": 0.3, "E": 0.1, "s": 0.6, "c": 7.0, "gamma": 0.5, "c_e": 4.0},
    "fsl-full": {"L0": 2.5, "A": 0.4, "B": 0.3, "E": 0.1, "s": 0.6, "c": 7.0, "gamma": 0.5, "c_e": 4.0, "p": 0.7},
    "fsl-sgd": {"L0": 2.5, "A": 0.4, "B": 0.3, "E": 0.1, "s": 0.6, "c": 7.0, "gamma": 0.5, "c_e": 4.0, "p": 0.9},
    "fsl-weights": {"L0": 2.5, "A": 0.4, "B": 0.3, "s": 0.6, "c": 7.0, "gamma": 0.5, "c_e": 4.0, "p": 0.7, "m": 0.04,
                    "x": 0.8},
    "fsl-sizes": {"L0": 2.5, "A": 0.4, "B": 0.3, "D": 9.0, "s": 0.6, "c": 7.0, "gamma": 0.5, "c_e": 4.0, "p": 0.7,
                  "beta": 0.4},
    "fsl-ansatz": {"L0": 2.5, "c1": 0.4, "c23": 5.0, "c2": 2.0, "s": 0.6, "c4": 7.0, "gamma": 0.5},
    "fsl-ansatz-sizes": {
        "L0": 2.5, "c1": 0.4, "c23": 5.0, "c2": 2.0, "c5": 9.0, "s": 0.6, "c4": 7.0, "gamma": 0.5, "beta": 0.4
    },
    "fsl-physical": {"L0": 2.5, "c1": 0.4, "c2": 10.0, "c3": 20.0},
    "multi-power": {"L0": 2.5, "A": 0.4, "C": 9.0, "kappa": 0.6, "C1": 1.0, "kappa1": 0.5, "kappa2": 0.4},
    "momentum": {"L0": 2.5, "A": 0.4, "C": 0.5, "kappa": 0.6, "decay": 0.98},
    "chinchilla": {"L0": 2.5, "A1": 9.0, "A2": 7.0, "kappa1": 0.3, "kappa2": 0.4},
}  # fmt: skip


def plain(name, plan, g):
    """The law written as the sums of its definition, update by update (i from 1, T(i) after update i)."""
    eta, time = np.concatenate([[0.0], plan.rates]), np.concatenate([[0.0], np.cumsum(plan.rates)])
    found = []
    for k in plan.recorded:
        i = np.arange(1, k + 1)
        drops, warm = eta[i - 1] - eta[i], i > plan.warmup + 1
        age = time[k] - time[i - 1]  # a change at update i begins to act with update i
        if name.startswith("fsl-ansatz"):
            memory = 1 - (1 + g["c4"] * age) ** -g["gamma"]
            signal = np.where(warm, np.maximum(time[i - 1], 1e-9) ** -g["s"], 0.0)
            value = g["L0"] + g["c1"] * time[k] ** -g["s"]
            value -= np.sum((drops * (g["c23"] + g["c2"] * signal) * memory)[warm])
            value += g.get("c5", 0.0) * plan.model_size ** -(g["s"] * g.get("beta", 1.0))
        elif name == "multi-power":
            with np.errstate(divide="ignore"):
                reach = np.where(age > 0, g["C1"] * np.maximum(eta[i], 1e-30) ** -g["kappa1"] * age, 0.0)
            memory = 1 - (1 + reach) ** -g["kappa2"]
            value = g["L0"] + g["A"] * time[k] ** -g["kappa"] - g["C"] * np.sum((drops * memory)[warm])
        elif name == "momentum":
            double = sum(drops[j - 1] * g["decay"] ** (m - j) for m in i for j in range(1, m + 1) if warm[j - 1])
            value = g["L0"] + g["A"] * time[k] ** -g["kappa"] - g["C"] * double
        elif name == "chinchilla":
            value = g["L0"] + g["A1"] * plan.model_size ** -g["kappa1"] + g["A2"] * (8.0 * k) ** -g["kappa2"]
        elif name == "fsl-weights":
            value = g["L0"] + fed_by_itself(eta[1 : k + 1], g)
        elif name == "fsl-physical":
            kernel, signal = (1 + time[k] - time[i]) ** -1.5, (1 + time[i]) ** -0.5
            noise = kernel * eta[i] ** 2 / 8.0
            value = g["L0"] + g["c1"] * signal[-1] + g["c2"] * np.sum(noise * signal) + g["c3"] * np.sum(noise)
        else:
            amplitude = (eta[i] / 1e-3) ** g.get("p", 1.0)
            faded = [(1 + g["c"] * (time[k] - time[j])) ** -g["gamma"] for j in (i, i - 1)]
            signal = (1 + g["c_e"] * time) ** -g["s"]
            value = g["L0"] + g["A"] * signal[k]
            value += np.sum(amplitude * (g["B"] + g.get("E", 0.0) * signal[i]) * (faded[0] - faded[1]))
            value += g.get("D", 0.0) * plan.model_size ** -(g["s"] * g.get("beta", 1.0))
        found.append(value)
    return np.array(found)


def fed_by_itself(rates, g):
    """The loss f of the law whose weights grow with the rate after the last update: by weights, then by f so far."""
    weight, time, strength, noise, losses = 0.5, [0.0], [], [], []
    for rate in rates:
        own, reach = rate / 1e-3, g["x"] * rate
        mean = own + (weight - own) * (-np.expm1(-reach) / reach if reach else 1.0)
        weight = own + (weight - own) * np.exp(-reach)
        time.append(time[-1] + rate / np.sqrt(mean))
        strength.append((own / np.sqrt(weight)) ** g["p"])
        faded = (1 + g["c"] * (time[-1] - np.array(time))) ** -g["gamma"]
        kernel, fed = np.diff(faded), g["m"] * strength[-1] / (1 + g["m"] * max(strength[-1] - 1.5, 0))
        known = g["A"] * (1 + g["c_e"] * time[-1]) ** -g["s"] + kernel[:-1] @ noise + kernel[-1] * strength[-1] * g["B"]
        losses.append(known / (1 - kernel[-1] * fed))
        noise.append(strength[-1] * g["B"] + fed * losses[-1])
    return losses[-1]


@pytest.mark.parametrize("gamma", [0.5, 4.0])
def test_weights_that_stay_and_noise_that_is_not_fed_give_the_functional_law(gamma):
    """Its rates counted sqrt(2) times: the weights are one half at first."""
    given, more = {**GIVEN["fsl"], "gamma": gamma}, np.sqrt(2.0)
    counted = {**given, "B": given["B"] * more ** given["p"], "c": given["c"] * more, "c_e": given["c_e"] * more}
    for plan in PLANS:
        still = law("fsl-weights").predict(plan, {**given, "m": 0.0, "x": 0.0})
        # up to gamma = 3 every other mode is left out, which moves the memory by less than 1e-7 at gamma = 1/2
        assert still == pytest.approx(law("fsl").predict(plan, counted), rel=1e-12 if gamma > 3.0 else 1e-7)


def test_to_first_order_noise_that_is_fed_by_the_loss_is_that_of_the_whole_functional_law():
    """The functional expands the Volterra equation once: E = m A of the signal, and noise from the noise."""
    plan, small, more = PLANS[0], 1e-6, np.sqrt(2.0)
    given = {**GIVEN["fsl-full"], "B": 0.0, "c": 7.0 * more, "c_e": 4.0 * more}
    given["E"] = small * given["A"] * more ** given["p"]
    weights = {**GIVEN["fsl-weights"], "B": 0.0, "m": small, "x": 0.0}
    fed = law("fsl-weights").predict(plan, weights) - law("fsl-weights").predict(plan, {**weights, "m": 0.0})
    first = law("fsl-full").predict(plan, given) - law("fsl-full").predict(plan, {**given, "E": 0.0})
    assert fed == pytest.approx(first, rel=2e-4)


@pytest.mark.parametrize("peak", [0.02, 0.05])
def test_the_derivatives_of_the_law_of_weights_hold_at_random_parameters(peak):
    chosen, stream = WeightsLaw(reference_rate=peak, peaks=True), np.random.default_rng(1)
    bound = chosen.bind(PLANS)
    for _ in range(3):
        theta = np.array([2.5, 0.4, *np.exp(stream.normal(0.0, 0.7, 9))])
        theta[[4, 8]] *= 9.0, 0.1
        losses, jacobian = bound(theta)
        columns, slopes = bound.columns(theta[3:])
        assert bound.losses(theta) == pytest.approx(losses, rel=1e-14)
        assert columns @ theta[:3] == pytest.approx(losses, rel=1e-14)
        assert slopes @ theta[:3] == pytest.approx(jacobian[:, 3:], rel=1e-9, abs=1e-12)
        for column, value in enumerate(theta):
            ends = [bound(np.where(np.arange(theta.size) == column, value * (1 + d), theta))[0] for d in (1e-5, -1e-5)]
            slope = (ends[0] - ends[1]) / (2e-5 * value)
            assert jacobian[:, column] == pytest.approx(slope, rel=1e-5, abs=1e-6 * np.abs(slope).max() + 1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_the_sum_of_its_definition(name):
    # 1e-6 of the memory terms: what the exponentials below the slowest mode and their spacing leave, see memory.py.
    # fsl-physical and both forms of the full law group T(i) by steps, exactly here, where no steps are merged.
    tolerance = 1e-12 if name in {"multi-power", "momentum", "chinchilla"} else 3e-6
    for plan in PLANS:
        # the last drop of DROP is to 0: no time passes and no law changes after it but the momentum law's
        assert law(name).predict(plan, GIVEN[name]) == pytest.approx(plain(name, plan, GIVEN[name]), rel=tolerance)


@pytest.mark.parametrize("name", LAWS)
def test_the_jacobian_is_that_of_differences(name):
    chosen = law(name)
    bound = chosen.bind(PLANS)
    theta = chosen.vector(GIVEN[name])
    jacobian = bound(theta)[1]
    for column, value in enumerate(theta):
        # central differences with a step of 1e-5 err by 1e-10 relative to the curvature and 1e-11 by rounding
        step = 1e-5 * min(max(abs(value), 1e-3), 1.0 - value if chosen.names[column] == "decay" else np.inf)
        moved = [np.array(theta) for _ in range(2)]
        moved[0][column] += step
        moved[1][column] -= step
        slope = (bound(moved[0])[0] - bound(moved[1])[0]) / (2 * step)
        assert jacobian[:, column] == pytest.approx(slope, rel=1e-5, abs=1e-6 * np.abs(slope).max() + 1e-9)


@pytest.mark.parametrize(
    "name", ["fsl", "fsl-convolution", "fsl-ansatz", "multi-power", "momentum", "fsl-physical", "fsl-weights"]
)
def test_merging_steps_changes_little(name):
    size = 30_000
    k = np.arange(size)
    rates = np.where(k < 2000, 3e-4 * k / 2000, 3e-5 + 1.35e-4 * (1 + np.cos(np.pi * (k - 2000) / (size - 2000))))
    rates[24_000:] *= 0.3
    plan = Plan(rates, np.arange(2100, size, 400), 2000)
    parameters = {**GIVEN[name], "c": 100.0, "c4": 100.0, "gamma": 0.5, "c23": 400.0, "C": 400.0, "decay": 0.9995}
    parameters = {key: parameters[key] for key in GIVEN[name]}
    if name == "momentum":
        parameters["C"] = 0.4
    merged, exact = (law(name).bind([plan], detail)(law(name).vector(parameters))[0] for detail in ("fit", "exact"))
    # a fit may merge more than a prediction: a tenth of the rounding of a log with four digits is 1e-5
    assert np.abs(merged - exact).max() < 1e-5


def test_exponentials_make_a_power_law_memory():
    mu = mode_rates([Plan([0.01] * 1000)], 1000.0)
    t = np.concatenate([[0.0], np.geomspace(1e-4, 10.0, 50)])
    for c, g in [(0.05, 0.02), (1.0, 0.5), (1000.0, 0.3), (3.0, 5.0)]:
        found = -np.expm1(-np.outer(t, mu)) @ power_memory(mu, c, g)[0]
        assert found == pytest.approx(1 - (1 + c * t) ** -g, abs=2e-6)  # a millionth below the slowest mode, twice


def test_the_ansatz_without_its_shortcut_is_the_convolution():
    """Summed by parts the convolution with p = 1 is the ansatz with c2 = 0, but for warmup."""
    plan = Plan(COSINE[WARMUP:], RECORDED - WARMUP, 0)
    parameters = {**GIVEN["fsl-simplified"], "c_e": 1e9, "A": 0.4 * 1e9**0.6}  # (1 + c_e t)^-s is t^-s
    ansatz = {"L0": 2.5, "c1": 0.4, "c23": 300.0, "c2": 0.0, "s": 0.6, "c4": 7.0, "gamma": 0.5}
    start = plan.rates[0] / 1e-3 * 0.3 * (1 - (1 + 7.0 * plan.intrinsic_time) ** -0.5)  # the rise at the first step
    left = FunctionalLaw(free_amplitude=False).predict(plan, parameters)
    assert left == pytest.approx(AnsatzLaw().predict(plan, ansatz) + start, rel=3e-6)


def test_a_million_steps_use_bounded_memory():
    size = 1_000_000
    plan = Plan(1e-3 * np.cos(np.arange(size) / size) ** 2, np.arange(5000, size + 1, 5000))
    past = changes(plan, detail="fit")
    assert past.time.size <= DETAILS["fit"][0] + (DETAILS["fit"][1] + 2) * plan.recorded.size
    times, rates = plan.intrinsic_time, mode_rates([plan], 1e4)
    tracemalloc.start()
    memory = Memory(times, past, rates)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    # tables beyond 32 MB are made again for every evaluation instead of being kept
    assert memory is not None and kept < 33e6
    assert np.isfinite(law("fsl").bind([plan], "fit")(law("fsl").vector(GIVEN["fsl"]))[0]).all()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"L0": 2.5}, "missing"),
        ({**GIVEN["fsl"], "q": 1.0}, "unknown"),
        ({**GIVEN["fsl"], "s": float("nan")}, "nan"),
        ({**GIVEN["fsl"], "s": -1.0}, "in \\["),
        ([1.0, 2.0], "8 parameters"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises(ValueError, match=told):
        law("fsl").predict(PLANS[0], given)


def test_an_unknown_law_and_a_missing_size_are_refused():
    with pytest.raises(ValueError, match="names are"):
        law("magic")
    with pytest.raises(ValueError, match="model size"):
        law("fsl-sizes").predict([0.1], GIVEN["fsl-sizes"])


def test_the_coordinates_of_the_functional_law_are_smooth_and_turn_back():
    stream = np.random.default_rng(0)
    plan = Plan([1e-3] * 200, np.arange(20, 201, 20))
    for name in ("fsl", "fsl-full", "fsl-simplified", "fsl-sizes"):
        chart = law(name).chart([plan], 3.0)
        u = np.clip(stream.normal(size=chart.low.size), chart.low + 0.1, chart.high - 0.1)
        theta = chart.back(u)
        assert chart.forward(theta) == pytest.approx(u, rel=1e-9, abs=1e-9)
        moved = [(chart.back(u + step) - chart.back(u - step)) / 2e-6 for step in 1e-6 * np.eye(u.size)]
        assert chart.slopes(u) == pytest.approx(np.transpose(moved), rel=1e-5, abs=1e-5)  # central differences: 1e-9


@pytest.mark.parametrize(("gamma", "kept"), [(20.0, lambda t: -np.expm1(-t)), (1e-3, lambda t: np.log1p(50 * t))])
def test_the_memory_reaches_from_an_exponential_to_a_logarithm(gamma, kept):
    """At the ends of gamma, the noise left of a rate that falls to 0: its shape, whatever its size."""
    plan = Plan([0.01] * 100 + [0.0] + [0.001] * 500, np.arange(101, 602, 20))
    held = {"L0": 1.0, "A": 0.0, "s": 1.0, "p": 2.0, "gamma": gamma, "c_e": 1.0}
    c = 1.0 / gamma if gamma > 1 else 50.0
    loss = law("fsl").predict(plan, {**held, "B": 1.0 if gamma > 1 else 1.0 / gamma, "c": c}) - 1.0
    time = plan.intrinsic_time
    high = kept(time) - kept(time - plan.times[100])
    low = kept(time - plan.times[101])
    expected = 100.0 * high + low
    # (1 + t/20)^-20 is exp(-t) to 1.4 %, (1 - (1 + x)^-g)/g is log(1 + x) to g log(1 + x)/2 < 0.2 %
    assert loss / loss[0] == pytest.approx(expected / expected[0], rel=0.03)
