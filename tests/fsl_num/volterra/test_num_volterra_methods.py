"""Which method takes what, what a given spectrum is, and how stable a problem is."""

import math
from dataclasses import replace

import numpy as np
import pytest
from models import loss_of, problem_of

from fsl_num.schedules import Constant, Discrete, StableDecay
from fsl_num.volterra import METHODS, Spectrum
from fsl_num.volterra.solution import choose

GIVEN = Spectrum([1.0, 0.5, 0.1], [0.5, 0.2, 0.3], 0.05)
ODD = Spectrum([2.0, 0.5, 0.5, 0.9, 0.01], [1.0, 0.2, 0.3, 0.0, 0.7], 0.05)  # fast, repeated, one without signal


def of_gamma(gamma, **model):
    model = model or {"spectrum": GIVEN}
    horizon = None if isinstance(gamma, (Discrete, StableDecay)) else 3.0
    return problem_of(noise=0.5, gamma=gamma, horizon=horizon, **model)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "auto"])
def test_every_method_takes_a_given_spectrum(name):
    if name == "enclosure":
        pytest.importorskip("flint")
    gamma = Discrete(rates=[0.3] * 10, batch_sizes=1.0) if name == "discrete" else 0.3
    problem = of_gamma(gamma, spectrum=ODD)
    found = loss_of(problem, [0.5, problem.end], method=name)
    exact = loss_of(of_gamma(0.3, spectrum=ODD), [0.5, problem.end], digits=25).values.astype(float)
    assert found.method == name and found.message.startswith("as asked for") and found.evaluations > 0
    # the contour and the trapezoid rule ask for the kernel as a whole
    assert (found.modes == 0) == (name in ("laplace", "reference"))
    assert found.values == pytest.approx(exact, rel=1e-4 if name == "reference" else 1e-11)
    # the reference has a rough error, three times it is allowed
    assert (np.abs(found.values - exact) <= 3.0 * found.error + 4e-16 * exact).all()


def test_which_method_refuses_what_and_why():
    smooth, steps = StableDecay(peak=0.3, final=0.1, steps=9.0, decay_fraction=0.5), Discrete(rates=[0.3, 0.1])
    for name in ("secular", "constant", "laplace"):
        for plan in (smooth, steps):
            with pytest.raises(ValueError, match=f"method '{name}' needs a constant gamma"):
                loss_of(of_gamma(plan), 0.1, method=name)
    for plan, kind in ((0.3, "float"), (smooth, "StableDecay")):
        with pytest.raises(ValueError, match=f"method 'discrete' needs a Discrete schedule, got {kind}; use 'panels'"):
            loss_of(of_gamma(plan), 1.0, method="discrete")
    with pytest.raises(ValueError, match="method 'constant' needs model_size <= 2000, got 2001; use 'panels'"):
        loss_of(of_gamma(0.3, s=0.5, beta=2.0, size=2001), 1.0, method="constant")


def test_digits_are_for_the_methods_that_take_them():
    for name in ("panels", "secular", "reference"):
        with pytest.raises(ValueError, match="digits is only for the methods constant, laplace, high_precision, encl"):
            loss_of(of_gamma(0.3), 1.0, method=name, digits=20)


def test_long_steps_are_left_to_panels():
    # thirty times the fastest mode's time on the average
    for rate, method in ((29.9, "discrete"), (30.0, "discrete"), (30.1, "panels")):
        plan = Discrete(rates=[rate] * 4, batch_sizes=200.0)
        assert choose(of_gamma(plan), None)[0] == method
    fast = Spectrum([2.0, 0.1], [1.0, 1.0])
    assert choose(of_gamma(Discrete(rates=[14.9] * 4, batch_sizes=200.0), spectrum=fast), None)[0] == "discrete"
    assert choose(of_gamma(Discrete(rates=[15.1] * 4, batch_sizes=200.0), spectrum=fast), None)[0] == "panels"


def test_the_choice_depends_on_how_many_modes_there_are():
    for size, method in ((2000, "secular"), (2001, "panels")):
        spectrum = Spectrum(np.linspace(0.001, 0.01, size), np.ones(size))
        assert choose(of_gamma(0.01, spectrum=spectrum), None)[0] == method
    for size, method in ((100, "constant"), (101, "laplace")):
        assert choose(of_gamma(0.1, s=0.5, beta=2.0, size=size), 30)[0] == method
    assert choose(of_gamma(Constant(peak=0.3, steps=30.0), s=0.5, beta=2.0, size=math.inf), None)[0] == "secular"
    assert "gaussian" in choose(replace(of_gamma(np.sqrt), closure="gaussian"), None)[1]


def test_which_problems_are_enclosed_where_digits_are_asked_for():
    pytest.importorskip("flint")
    model = {"s": 0.5, "beta": 2.0, "size": math.inf}
    few, many = (Discrete(rates=[0.1] * steps) for steps in (1000, 1001))
    decay = StableDecay(peak=0.3, final=0.1, steps=9.0, decay_fraction=0.5)
    chosen = {
        "few steps": choose(of_gamma(few, **model), 20)[0],
        "many steps": choose(of_gamma(many, **model), 20)[0],
        "decay": choose(of_gamma(decay, **model), 100)[0],
        "digits": choose(of_gamma(decay, **model), 101)[0],
        "another curve": choose(of_gamma(lambda t: 0.1 + 0.0 * t, **model), 20)[0],
        "few modes": choose(of_gamma(decay, **(model | {"size": 100})), 20)[0],
        "more modes": choose(of_gamma(decay, **(model | {"size": 101})), 20)[0],
        "moments": choose(replace(of_gamma(decay, **model), closure="gaussian"), 20)[0],
        "unstable": choose(of_gamma(Discrete(rates=[2.0]), **model), 20)[0],
    }
    assert {name for name, method in chosen.items() if method == "enclosure"} == {"few steps", "decay", "more modes"}
    assert set(chosen.values()) == {"enclosure", "high_precision"}


def test_rounding_is_claimed_as_it_grows_near_the_edge_of_stability():
    for distance in (1e-2, 2e-3):
        spectrum = Spectrum([1.0, 0.25], [1.0, 0.5], 0.1)
        problem = of_gamma(2.0 * (1.0 - distance) / 1.25, spectrum=spectrum)
        found = loss_of(problem, [1.0, 3.0], method="secular")
        # a relative change of the kernel changes the loss by that over 1 - stability at most
        assert (found.error >= 8.0 * 2.0**-52 / distance * found.values).all()
        assert (found.error <= 1e-12 * found.values).all()
