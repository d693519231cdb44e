"""The model: its sums, what it keeps exactly, what it equals, and that one excess risk is meant everywhere."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from notebook_views import as_latex

from fsl_num import (
    Discrete,
    Problem,
    Regression,
    Spectrum,
    approximation_error,
    exact_risk,
    forgetting_kernel,
    functional_scaling_law,
    scaling_functional,
    signal,
    solve,
    trace,
)
from fsl_num.model import Model

TIMES = np.array([0.0, 0.3, 7.0, 400.0])
SPECTRUM = Spectrum([0.25, 1.5], [0.1, 0.5], tail=0.05)


def listed(model: Model) -> Model:
    """The same model, its modes one by one."""
    index = np.arange(1.0, model.size + 1.0)
    signals = index ** -(1.0 + model.s * model.beta)
    return Model(noise=model.noise, spectrum=Spectrum(index**-model.beta, signals, model.approximation_error))


@pytest.mark.parametrize(("s", "beta", "size"), [(0.5, 2.0, 40), (1.3, 1.2, 1), (0.2, 4.5, 1e6), (2.0, 1.5, math.inf)])
def test_the_sums_are_those_of_the_spectrum(s: float, beta: float, size: float) -> None:
    model = Model(s, beta, size, 0.7)
    assert model.signal(TIMES).tolist() == signal(TIMES, s, beta, size).tolist()
    assert model.kernel(TIMES).tolist() == forgetting_kernel(TIMES, beta, size).tolist()
    assert model.approximation_error == approximation_error(s, beta, size)
    assert model.trace == trace(beta, size) and model.fastest == 1.0
    assert model.forcing(TIMES).tolist() == (model.approximation_error + model.signal(TIMES)).tolist()
    # of one time or of several, a sum is rounded once more
    assert model.initial_risk == pytest.approx(0.5 * model.forcing(TIMES)[0], rel=1e-15)
    assert isinstance(model.signal(7.0), float) and model.kernel(0.0) == forgetting_kernel(0.0, beta, size)


def test_a_spectrum_that_lists_the_modes_is_the_same_model() -> None:
    model = Model(s=0.5, beta=2.0, size=40, noise=0.7)
    spectrum_model = listed(model)
    # forty positive terms, the rounding of exponents up to 800 apart: those of the late times are 1e-14 of exp(-0.5)
    for name in ("signal", "kernel", "forcing"):
        assert getattr(spectrum_model, name)(TIMES) == pytest.approx(getattr(model, name)(TIMES), rel=1e-13, abs=0.0)
    for name in ("approximation_error", "trace", "initial_risk", "size", "fastest", "noise"):
        assert getattr(spectrum_model, name) == pytest.approx(getattr(model, name), rel=1e-14, abs=0.0)
    assert spectrum_model.eigenvalues == pytest.approx(model.eigenvalues, rel=1e-15, abs=0.0)
    assert spectrum_model != model and math.isnan(spectrum_model.s) and math.isnan(spectrum_model.beta)


def test_a_spectrum_answers_for_all_that_a_model_knows() -> None:
    model = Model(noise=1.0, spectrum=SPECTRUM)
    assert (model.size, model.trace, model.fastest, model.approximation_error) == (2.0, 1.75, 1.5, 0.05)
    assert model.initial_risk == pytest.approx(0.5 * 0.65, rel=1e-15)
    assert float(model.signal(2.0)) == pytest.approx(0.1 * math.exp(-1.0) + 0.5 * math.exp(-6.0), rel=1e-15)
    assert float(model.kernel(2.0)) == pytest.approx(0.0625 * math.exp(-1.0) + 2.25 * math.exp(-6.0), rel=1e-15)
    assert model.eigenvalues.tolist() == [0.25, 1.5]


def test_fractions_are_kept_exactly_until_they_are_changed() -> None:
    model = Model(Fraction(1, 3), Fraction(11, 5), 9, Fraction(1, 10))
    assert (model.s, model.beta, model.noise) == (1 / 3, 2.2, 0.1)
    assert model.exact == {"s": Fraction(1, 3), "beta": Fraction(11, 5), "noise": Fraction(1, 10)}
    mp = mpmath.mp.clone()
    mp.dps = 50
    assert model.number("s", mp) == mp.mpf(1) / 3 != mp.mpf(1 / 3)
    rounded = Model(1 / 3, 2.2, 9, 0.1)
    assert rounded.number("s", mp) == mp.mpf(1 / 3) and rounded.exact == {}
    assert model != rounded
    assert replace(model, size=10).exact == model.exact
    assert replace(model, noise=0.2).exact == {"s": Fraction(1, 3), "beta": Fraction(11, 5)}
    assert replace(model, s=Fraction(1, 7)).number("s", mp) == mp.mpf(1) / 7


@pytest.mark.parametrize(
    "make",
    [
        lambda: Model(s=0.5, beta=2.0, size=math.inf, noise=1.0),
        lambda: Model(Fraction(1, 3), 2.0, 9, 1.0),
        lambda: Model(noise=1.0, spectrum=Spectrum([0.25, 1.5], [0.1, 0.5], tail=0.05)),
    ],
)
def test_equal_models_are_one_key_also_after_pickling(make: Any) -> None:
    first, two = make(), make()
    _ = first.trace, first.signal(TIMES)  # what was computed is no part of what a model is
    read = pickle.loads(pickle.dumps(first))
    assert first == two == read and hash(first) == hash(two) == hash(read)
    assert {first: 1}[read] == 1 and read.exact == first.exact
    assert replace(read, noise=2.0) != first and replace(read, noise=2.0) == replace(two, noise=2.0)
    with pytest.raises(FrozenInstanceError):
        first.noise = 2.0


def test_what_is_left_out_may_be_said_to_be_nan() -> None:
    assert Model(float("nan"), float("nan"), 2, 1.0, spectrum=SPECTRUM) == Model(noise=1.0, spectrum=SPECTRUM)


def test_a_notebook_shows_it_as_a_formula() -> None:
    assert as_latex(Model(0.5, 2, 100, 1)) == r"$s = 0.5,\ \beta = 2,\ M = 100,\ \sigma^2 = 1$"
    assert as_latex(Model(0.5, 2, math.inf, 0)) == r"$s = 0.5,\ \beta = 2,\ M = \infty,\ \sigma^2 = 0$"
    assert as_latex(Model(noise=0.25, spectrum=SPECTRUM)) == r"$M = 2,\ \sigma^2 = 0.25$"


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"beta": 2.0, "size": 9, "noise": 1.0}, ValueError, "needs s, beta and size, or a spectrum, but s is missing"),
        ({"noise": 1.0}, ValueError, "but s, beta, size is missing or nan$"),
        (
            {"s": 1.0, "beta": 2.0, "noise": 1.0},
            ValueError,
            "but size is missing or nan; size=math.inf is the infinite",
        ),
        ({"s": 0.5, "beta": 2.0, "size": 9}, ValueError, "needs noise, the variance"),
        ({"s": 0.0, "beta": 2.0, "size": 9, "noise": 1.0}, ValueError, "s must be positive, got 0.0"),
        ({"s": math.inf, "beta": 2.0, "size": 9, "noise": 1.0}, ValueError, "s must be finite"),
        ({"s": 0.5, "beta": 1.0, "size": 9, "noise": 1.0}, ValueError, r"beta must lie in \(1, inf\)"),
        ({"s": 0.5, "beta": 2.0, "size": 2.5, "noise": 1.0}, ValueError, "size must be a whole number"),
        ({"s": 0.5, "beta": 2.0, "size": 0, "noise": 1.0}, ValueError, "size must be"),
        ({"s": 0.5, "beta": 2.0, "size": 9, "noise": -1.0}, ValueError, "noise must be at least 0"),
        ({"s": 0.5, "beta": 2.0, "size": 9, "noise": math.inf}, ValueError, "noise must be finite"),
        ({"s": "1/2", "beta": 2.0, "size": 9, "noise": 1.0}, TypeError, "s must be one real number"),
        ({"s": 0.5, "beta": 2.0, "size": 9, "noise": True}, TypeError, "noise must be one real number"),
        ({"noise": 1.0, "spectrum": [1.0, 0.5]}, TypeError, "spectrum must be a Spectrum, got list"),
        ({"s": 0.5, "noise": 1.0, "spectrum": SPECTRUM}, ValueError, "but both were given"),
        ({"size": 3, "noise": 1.0, "spectrum": SPECTRUM}, ValueError, "but both were given"),
        ({"spectrum": SPECTRUM}, ValueError, "needs noise"),
    ],
)
def test_what_is_no_model_is_refused_in_words(given: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        Model(**given)


@pytest.mark.parametrize(
    ("size", "options"),
    [(math.inf, {}), (5, {"method": "panels"}), (math.inf, {"method": "reference"}), (5, {"digits": 25})],
)
def test_without_gradient_noise_the_excess_risk_is_half_of_the_forcing(size: float, options: dict[str, Any]) -> None:
    model = Model(s=0.5, beta=2.0, size=size, noise=1.0)
    t = np.array([0.0, 3.5, 7.0])  # of every grid of the reference
    found = solve(Problem(model, gamma=0.0, horizon=7.0), t, **options)
    # no equation is left to solve: 1e-13 are the few modes of an infinite model
    assert found.excess_risk.astype(float) == pytest.approx(0.5 * model.forcing(t), rel=1e-13, abs=0.0)
    assert found.excess_risk[0] == pytest.approx(model.initial_risk, rel=1e-13)


@pytest.mark.parametrize("label_noise", [False, True])
def test_sgd_the_equation_and_the_law_tend_to_one_excess_risk(label_noise: bool) -> None:
    """Where labels are noisy sigma^2 = 1/eta, so that the noise stays as large as the signal."""
    apart = []
    for steps in (20, 200, 2000):
        rate = 2.0 / steps  # the intrinsic time 2
        model = Model(s=0.5, beta=2.0, size=math.inf, noise=1.0 / rate if label_noise else 0.0)
        plan = Discrete(rates=[rate] * steps)
        problem = Problem(model, gamma=plan)
        sgd = exact_risk(Regression(model), plan.rates).excess_risk[-1]
        equation = solve(problem, problem.end).excess_risk[0]
        law = functional_scaling_law(model, plan)
        simple = scaling_functional(model, plan).total
        risks = np.array([sgd, law.total, simple])
        # SGD and the law differ from the equation by terms of the next order in gamma: a few stability numbers
        assert (np.abs(risks / equation - 1.0) < 4.0 * problem.stability).all()
        assert (law.label_noise > 0.2 * law.total) == label_noise
        apart.append(np.abs(risks / equation - 1.0))
    # and that is the first order, which ten times smaller rates divide by ten
    assert (np.array(apart[2]) < 0.15 * np.array(apart[1])).all()
    assert (np.array(apart[1]) < 0.2 * np.array(apart[0])).all()


@pytest.mark.parametrize(
    ("name", "context", "said"),
    [
        ("size", mpmath.mp, "name must be one of s, beta, noise"),
        ("s", 30, "mp must be a context of mpmath, such as mpmath.mp, got 30"),
        ("gamma", None, "name must be one of s, beta, noise"),
    ],
)
def test_a_number_with_digits_has_a_name_and_a_context(name, context, said):
    with pytest.raises((TypeError, ValueError), match=said):
        Model(s=0.5, beta=2.0, size=10, noise=1.0).number(name, context)


def test_a_spectrum_has_no_exponents_with_digits():
    with pytest.raises(ValueError, match="s is not known: the model was given by its spectrum"):
        Model(spectrum=Spectrum([1.0, 0.25], [0.5, 0.1]), noise=0.0).number("s", mpmath.mp)


def test_a_table_in_the_place_of_a_number_is_shown_in_a_line():
    with pytest.raises(TypeError, match=r"s must be one real number, got .*\.\.\., of type ndarray$") as refusal:
        Model(s=np.zeros((99, 9)), beta=2.0, size=9, noise=1.0)
    assert len(str(refusal.value)) < 120
