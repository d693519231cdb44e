"""The final loss of every law by the rates: against the law itself, and its gradient against many digits."""

import mpmath
import numpy as np
import pytest

from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan
from fsl_num.curves.sizes import constant_loss
from fsl_num.design.final_loss import final_loss

SIZE = 1e8
PARAMETERS = {
    "fsl-full": [2.7, 0.7, 0.3, 0.05, 0.5, 20.0, 0.9, 15.0, 0.7],
    "fsl": [2.7, 0.7, 0.3, 0.5, 20.0, 0.9, 15.0, 0.7],
    "fsl-simplified": [2.7, 0.7, 0.3, 0.5, 20.0, 0.9, 15.0],
    "fsl-convolution": [2.7, 0.7, 0.3, 0.4, 0.5, 2.0, 1.9, 5.0],
    "fsl-sizes": [2.7, 0.7, 0.3, 10.0, 0.5, 20.0, 0.9, 15.0, 0.7, 1.0],
    "fsl-ansatz": [2.7, 0.7, 200.0, 3.0, 0.5, 20.0, 0.9],
    "fsl-ansatz-sizes": [2.7, 0.7, 200.0, 3.0, 10.0, 0.5, 20.0, 0.9, 1.0],
    "multi-power": [2.7, 0.7, 400.0, 0.5, 2.0, 0.5, 0.4],
    "momentum": [2.7, 0.7, 0.5, 0.5, 0.99],
}


def schedule(steps=200, warmup=50):
    drawn = np.random.default_rng(0).random(steps)
    return 1e-3 * np.arange(warmup) / warmup, 1e-3 * np.sort(drawn)[::-1] + 1e-6


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("warmup", [50, 30])  # 30: twenty steps of a run under way are fixed too
def test_it_is_the_loss_that_the_law_predicts(name, warmup):
    before, rates = schedule()
    theta = np.array(PARAMETERS[name])
    plan = Plan(np.append(before, rates), [250], warmup, 1.0, SIZE)
    found = final_loss(law(name), theta, before, warmup, SIZE)(rates, np.ones(rates.size))[0]
    # the law carries the memory by modes, to 2e-6 of the noise at worst (here 0.1), as its module says
    assert abs(found - law(name).predict(plan, theta)[-1]) < 1e-8


def plain(name, theta, rates, warmup):
    """The final loss of a law in many digits, a loop over the steps, from its printed formula."""
    theta = [mpmath.mpf(value) for value in theta]
    total, ends = mpmath.fsum(rates), [mpmath.fsum(rates[: k + 1]) for k in range(len(rates))]
    starts = [mpmath.mpf(0), *ends[:-1]]
    drops = [rates[0], *(b - a for a, b in zip(rates[:-1], rates[1:], strict=True))]
    if name == "fsl-full":
        l0, a, b, e, s, c, g, speed, p = theta
        noise = [
            (rates[k] * 1000) ** p * (b + e * (1 + speed * ends[k]) ** -s)
            * ((1 + c * (total - ends[k])) ** -g - (1 + c * (total - starts[k])) ** -g)
            for k in range(len(rates)) if rates[k] > 0
        ]  # fmt: skip
        return l0 + a * (1 + speed * total) ** -s + mpmath.fsum(noise)
    sources = range(warmup + 1, len(rates))
    if name == "fsl-ansatz":
        l0, a, c23, c2, s, c, g = theta
        parts = [drops[k] * (c23 + c2 * starts[k] ** -s) * (1 - (1 + c * (total - starts[k])) ** -g) for k in sources]
    elif name == "multi-power":
        l0, a, strength, s, c, k1, k2 = theta
        parts = [strength * drops[k] * (1 - (1 + c * rates[k] ** -k1 * (total - starts[k])) ** -k2) for k in sources]
    else:
        l0, a, strength, s, decay = theta
        parts = [strength * drops[k] * (1 - decay ** (len(rates) - k)) / (1 - decay) for k in sources]
    return l0 + a * total**-s + mpmath.fsum(parts)


@pytest.mark.parametrize("name", ["fsl-full", "fsl-ansatz", "multi-power", "momentum"])
def test_value_and_gradient_in_many_digits(name):
    before, rates = schedule(12, 5)
    value, gradient = final_loss(law(name), np.array(PARAMETERS[name]), before, 5)(rates, np.ones(12))
    with mpmath.workdps(50):
        typed = [mpmath.mpf(rate) for rate in (*before, *rates)]
        assert abs(plain(name, PARAMETERS[name], typed, 5) - value) < 1e-14 * value
        for step in range(12):
            moved = [typed[: 5 + step] + [typed[5 + step] + shift] + typed[6 + step :] for shift in (1e-20, -1e-20)]
            up, down = (plain(name, PARAMETERS[name], rates_moved, 5) for rates_moved in moved)
            # second differences of 1e-20 leave 1e-30; the gradient itself is summed in floats
            assert abs((up - down) / mpmath.mpf(2e-20) - gradient[step]) < 1e-11 * np.abs(gradient).max()


@pytest.mark.parametrize("name", ["fsl", "fsl-ansatz", "multi-power", "momentum"])
def test_blocks_of_steps_stand_for_their_steps(name):
    before, lengths = schedule()[0], np.array([5.0, 3.0, 2.0])
    rates = np.array([9e-4, 4e-4, 1e-4])
    loss = final_loss(law(name), np.array(PARAMETERS[name]), before, 50)
    whole = loss(np.repeat(rates, lengths.astype(int)), np.ones(10))
    blocks = loss(rates, lengths)
    assert abs(blocks[0] - whole[0]) < 1e-13
    assert np.abs(blocks[1] - np.add.reduceat(whole[1], [0, 5, 8])).max() < 1e-10 * np.abs(whole[1]).max()


def test_what_no_rate_changes():
    theta = np.array(PARAMETERS["fsl-sizes"])
    assert constant_loss(law("fsl-sizes"), theta, SIZE) == 2.7 + 10.0 * SIZE**-0.5
    with pytest.raises(ValueError, match="model size"):
        constant_loss(law("fsl-sizes"), theta)
    with pytest.raises(ValueError, match="no gradient by the learning rates"):
        final_loss(law("chinchilla"), np.ones(len(law("chinchilla").names)), np.array([]), 0)
