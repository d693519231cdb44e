"""Designs from a fit before a judge who knows neither their search nor their gradients: the law written out once more.

Noise of the signal, floor, warmup, steps already trained and batch sizes are in it. Two tests: no schedule allowed is
better to first order (slopes by complex steps), and none at all, by duality at every intrinsic time.
"""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import isotonic_regression, minimize_scalar

from fsl_num.curves.batches import at_batch
from fsl_num.curves.laws import FunctionalLaw
from fsl_num.design.best import Past, optimum

PEAK, STEPS, BATCH, REFERENCE = 1e-3, 400, 32.0, 8.0
LAW = FunctionalLaw(signal_noise=True, batches=True, reference_batch=REFERENCE)
VALUES = {
    "L0": 2.7,
    "A": 0.7,
    "B": 0.6,
    "E": 0.2,
    "s": 0.5,
    "c": 60.0,
    "gamma": 0.9,
    "c_e": 40.0,
    "p": 0.7,
    "q": 0.8,
    "r": 0.4,
}
PACE = (BATCH / REFERENCE) ** VALUES["r"]  # by which c and c_e grow where steps are longer
NOISE = (BATCH / REFERENCE) ** (-VALUES["q"] * (1 - VALUES["r"]))
PASTS = {
    "fresh": Past(np.array([]), 0),
    "warmup": Past(PEAK * np.arange(20) / 20, 20),
    "under way": Past(np.concatenate([PEAK * np.arange(20) / 20, np.full(180, PEAK)]), 20),
}
CASES = [
    (name, floor, falling, noise)
    for name in PASTS for floor in (0.0, 1e-4) for falling in (True, False) for noise in (0.0, 0.2)
]  # fmt: skip


@cache
def designed(name, floor, falling, noise):
    """A design for this batch size, and the values of the law."""
    values = {**VALUES, "E": noise}
    law, theta = at_batch(LAW, np.array([values[name_of] for name_of in LAW.names]), BATCH)
    best = optimum(law, theta, PASTS[name], STEPS, floor, PEAK, "non-increasing" if falling else "free")
    return best, values


def loss(rates, before, values):
    """The law at the last step, as it is printed; rates may be complex."""
    every = np.concatenate([before.rates, rates])
    time = np.cumsum(every)
    left = np.append(time[-1] - np.append(0.0, time[:-1]), 0.0)
    signal = (1 + PACE * values["c_e"] * time) ** -values["s"]
    level = (values["B"] + values["E"] * signal) * NOISE
    kept = (1 + PACE * values["c"] * left) ** -values["gamma"]
    noise = ((every / 1e-3) ** values["p"] * level) @ np.diff(kept)
    return values["L0"] + values["A"] * signal[-1] + noise


def slopes(rates, before, values):
    moved = rates + 1e-30j * np.eye(rates.size)
    return np.array([loss(rates_moved, before, values).imag for rates_moved in moved]) / 1e-30


def first_order(rates, slope, low, high, falling):
    """By how much any schedule allowed is better where the loss is taken for linear."""
    if falling:  # at the peak for some steps, at the floor for the rest
        corners = [slope @ np.where(np.arange(rates.size) < k, high, low) for k in range(rates.size + 1)]
        return slope @ rates - min(corners)
    return slope @ (rates - np.where(slope < 0.0, high, low))


def dual_bound(before, values, low, high, falling):
    """What no schedule goes below: for every intrinsic time, the best price of a step.

    In 1/rate the noise is convex and the steps are linear, so that every price bounds; falling rates pool the kernel.
    """
    s, c, gamma, p = values["s"], PACE * values["c"], values["gamma"], values["p"]
    scale, passed = 1e3**p * NOISE, before.rates.sum()

    def signal(time):
        return (1 + PACE * values["c_e"] * time) ** -s

    times = np.cumsum(before.rates)
    sources = before.rates ** (1 + p) * scale * (values["B"] + values["E"] * signal(times))

    def bound(span):
        left = np.unique(np.concatenate([[0.0], np.geomspace(1e-7, 1, 700), 1 - np.geomspace(1e-5, 1, 300)])) * span
        width = np.diff(left)
        late = passed + span - left[:-1] + high  # a whole step takes the signal at its end
        noise = -np.diff((1 + c * left) ** -gamma) / width * scale * (values["B"] + values["E"] * signal(late))
        if falling:
            noise = isotonic_regression(noise, weights=width, increasing=False).x
        kernel = -np.diff((1 + c * (span + np.append(times[-1:] - np.append(0.0, times[:-1]), 0.0))) ** -gamma)
        earlier = float(-(sources / np.maximum(before.rates, 1e-30)) @ kernel) if times.size else 0.0
        gone = values["L0"] + values["A"] * signal(passed + span) + earlier
        middle = p * np.interp(0.5 * span, left[1:], noise) * (STEPS / span) ** -(1 + p)

        def dual(log_price):  # concave in the price
            price = np.exp(log_price)
            spent = np.clip((p * noise / price) ** (1 / (1 + p)), 1 / high, 1 / max(low, 1e-12))
            return (noise * spent**-p + price * spent) @ width - price * STEPS

        around = np.log(middle) - np.log(1e3), np.log(middle) + np.log(1e3)
        return gone - minimize_scalar(lambda log_price: -dual(log_price), bounds=around, method="bounded").fun

    spans = np.geomspace(max(STEPS * low, 0.02 * STEPS * high), STEPS * high, 24)
    place = int(np.argmin([bound(span) for span in spans]))
    around = spans[max(place - 1, 0)], spans[min(place + 1, spans.size - 1)]
    refined = minimize_scalar(bound, bounds=around, method="bounded", options={"xatol": 1e-7 * around[1]})
    return min(refined.fun, bound(spans[place]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_schedule_is_better_to_first_order(case):
    name, floor, falling, _ = case
    best, values = designed(*case)
    assert best.loss == pytest.approx(loss(best.rates, PASTS[name], values), abs=1e-12)
    slope = slopes(best.rates, PASTS[name], values)
    assert first_order(best.rates, slope, floor, PEAK, falling) < 1e-8
    worse = best.rates.copy()
    worse[-80:] = np.maximum(0.9 * worse[-80:], floor)
    assert first_order(worse, slopes(worse, PASTS[name], values), floor, PEAK, falling) > 1e-6


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_schedule_is_better_at_all(case):
    name, floor, falling, _ = case
    best, values = designed(*case)
    bound = dual_bound(PASTS[name], values, floor, PEAK, falling)
    # whole steps in the place of rates that change at any time
    assert bound - 1e-6 <= best.loss <= bound + 5e-4
    assert best.gap < 5e-4
    linear = np.linspace(PEAK, max(floor, 1e-6), STEPS)
    assert loss(linear, PASTS[name], values) > bound + 5e-4  # the bound tells a usual schedule from the best
