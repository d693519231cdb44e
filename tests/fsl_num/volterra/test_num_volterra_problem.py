"""What a problem accepts, and the numbers that it knows about itself."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from models import problem_of, with_model

from fsl_num.model import Model
from fsl_num.schedules import Discrete, schedule
from fsl_num.spectrum import approximation_error
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.problem import UnstableProblemError


def power_law(**changed: Any) -> Problem:
    return problem_of(**({"s": 0.5, "beta": 2.0, "size": 5, "noise": 1.0, "gamma": 0.1, "horizon": 8.0} | changed))


def test_a_schedule_gives_the_horizon_and_the_breaks_before_it() -> None:
    plan = Discrete(rates=[2.0, 1.0, 3.0])
    whole = power_law(gamma=plan, horizon=None)
    assert whole.horizon == whole.end == 6.0 and whole.breaks == (2.0, 3.0)
    assert power_law(gamma=plan, horizon=3.0).breaks == (2.0,)  # a jump at the very end changes nothing before it
    assert power_law(gamma=plan, horizon=3.5).breaks == (2.0, 3.0)


def test_a_horizon_may_miss_the_end_of_a_schedule_by_rounding_alone() -> None:
    plan = Discrete(rates=[2.0, 1.0, 3.0])
    assert power_law(gamma=plan, horizon=6.0 * (1.0 + 5e-13)).horizon == 6.0
    with pytest.raises(ValueError, match=r"at most the schedule's intrinsic time 6\.0, got 6\.00000000001"):
        power_law(gamma=plan, horizon=6.0 * (1.0 + 2e-12))


def test_breaks_are_sorted_each_once_and_inside() -> None:
    assert power_law(gamma=lambda t: t, breaks=(5, 2.0, 5.0)).breaks == (2.0, 5.0)
    for cuts in ((0.0,), (8.0,), (1.0, 8.0), (0.0, 1.0), (-1.0, 2.0), (2.0, 9.0)):
        with pytest.raises(ValueError, match=r"strictly inside \(0, horizon=8\.0\)"):
            power_law(gamma=lambda t: t, breaks=cuts)


def test_exact_numbers_are_kept_until_they_are_changed() -> None:
    problem = power_law(s=Fraction(1, 3), noise=Fraction(1, 10), gamma=Fraction(1, 7))
    assert problem.exact == {"gamma": Fraction(1, 7)}
    assert problem.model.exact == {"s": Fraction(1, 3), "noise": Fraction(1, 10)}
    with mpmath.workdps(40):
        for name, divisor in (("s", 3), ("noise", 10), ("gamma", 7)):
            assert mpmath.almosteq(problem.number(name, mpmath.mp), mpmath.mpf(1) / divisor)
        assert problem.number("beta", mpmath.mp) == 2
        assert power_law(gamma=0.1).number("gamma", mpmath.mp) == mpmath.mpf(0.1) != mpmath.mpf(1) / 10
    longer = replace(problem, horizon=9.0)
    assert longer.exact == problem.exact and longer.model.exact == problem.model.exact
    assert replace(problem, gamma=0.3).exact == {}
    assert with_model(problem, noise=0.3).model.exact == {"s": Fraction(1, 3)}
    assert with_model(problem, noise=0.1).model.exact == problem.model.exact  # the same float
    assert with_model(problem, s=Fraction(1, 9)).model.exact["s"] == Fraction(1, 9)


def test_a_model_is_a_power_law_or_a_spectrum() -> None:
    spectrum = Spectrum([1.0, 0.5], [1.0, 0.25], tail=0.125)
    common: dict[str, Any] = {"noise": 1.0, "gamma": 0.1, "horizon": 8.0}
    problem = problem_of(spectrum=spectrum, **common)
    assert problem.model.size == 2.0 and math.isnan(problem.model.s) and problem.model.approximation_error == 0.125
    assert problem_of(spectrum=spectrum, size=2, **common).model.size == 2.0
    for fields in ({"s": 0.5}, {"beta": 2.0}, {"size": 3}, {"s": 0.5, "beta": 2.0, "size": 2}):
        with pytest.raises(ValueError, match="but both were given"):
            problem_of(spectrum=spectrum, **fields, **common)
    with pytest.raises(ValueError, match="but s, beta, size is missing"):
        problem_of(**common)
    with pytest.raises(ValueError, match="needs noise"):
        Model(s=0.5, beta=2.0, size=9)
    with pytest.raises(TypeError, match="must be a Model"):
        Problem(spectrum, gamma=0.1, horizon=8.0)  # type: ignore[arg-type]
    # a part of a power law is missed by its own name
    for name in ("s", "beta", "size"):
        with pytest.raises(ValueError, match=f"but {name} is missing"):
            power_law(**{name: math.nan})
    with pytest.raises(TypeError, match="must be a Spectrum, got list"):
        problem_of(spectrum=[1.0, 0.5], **common)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="closure must be one of volterra, gaussian, got 'normal'"):
        power_law(closure="normal")


def test_what_is_known_of_gamma() -> None:
    assert power_law().is_constant and power_law(gamma=schedule("constant", peak=0.1, steps=80)).is_constant
    assert not power_law(gamma=lambda t: 0.1).is_constant
    assert not power_law(gamma=schedule("cosine", peak=0.2, final=0.1, steps=80)).is_constant


def test_gamma_at_times_is_asked_within_the_horizon() -> None:
    asked = []

    def gamma(t: Any) -> Any:
        asked.append(t)
        return 0.5 * t

    problem = power_law(gamma=gamma)
    t = np.array([-1e-9, 4.0, 8.0 + 1e-9])
    assert problem.gamma_on(t, 8.0 - t).tolist() == [0.0, 2.0, 4.0]
    assert asked[-1].tolist() == [0.0, 4.0, 8.0]
    # one number is gamma at every time
    assert power_law(gamma=lambda t: 0.25).gamma_on(t, 8.0 - t).tolist() == [0.25] * 3
    assert power_law(gamma=lambda t: [0.0] * 3).gamma_on(t, 8.0 - t).tolist() == [0.0] * 3
    assert power_law(gamma=0.25).gamma_on(t, 8.0 - t).tolist() == [0.25] * 3


def test_gamma_is_asked_at_numbers() -> None:
    with pytest.raises(TypeError, match="t must be real numbers"):
        power_law(gamma=0.1, horizon=1.0).gamma_on("soon", np.zeros(1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mp must be a context of mpmath"):
        power_law(gamma=0.1, horizon=1.0).number("gamma", 30)


def test_gamma_of_a_schedule_is_read_from_its_end() -> None:
    plan = schedule("linear", peak=0.4, final=0.0, steps=50.0, batch_size=2.0)
    total = plan.total_intrinsic_time
    shorter = power_law(gamma=plan, horizon=0.5 * total)
    remaining = np.array([0.5 * total, 1e-3, 0.0, -1e-18])
    exact = plan.gamma(np.minimum(0.5 * total - remaining, 0.5 * total))
    assert shorter.gamma_on(0.5 * total - remaining, remaining) == pytest.approx(exact, rel=1e-14, abs=0.0)
    whole = power_law(gamma=plan, horizon=None)
    # gamma = peak/B sqrt(r/total) at the distance r from the end, however small
    near = np.array([1e-30, 1e-200])
    assert whole.gamma_on(total - near, near) == pytest.approx(0.2 * np.sqrt(near / total), rel=1e-14, abs=0.0)
    assert whole.gamma_on(np.array([total]), np.array([-1e-18])).tolist() == [0.0]


@pytest.mark.parametrize("wrong", [-1e-300, math.nan, math.inf])
def test_a_gamma_that_cannot_be_names_its_first_time(wrong: float) -> None:
    problem = power_law(gamma=lambda t: np.where(t > 3.0, wrong, 0.1))
    with pytest.raises(ValueError, match=r"fails at t = 4\.0$"):
        problem.gamma_on(np.array([1.0, 3.0, 4.0, 5.0]), np.zeros(4))


def test_the_largest_gamma() -> None:
    plan = schedule("cosine", peak=0.4, final=0.1, steps=80, batch_size=4.0)
    assert power_law(gamma=plan, horizon=None).peak_gamma == 0.1
    # a function: at 4001 places of every piece between breaks, its two ends among them
    asked = []

    def tent(t: Any) -> Any:
        asked.append(t)
        return np.where(t <= 2.0, t, 0.25 * t)

    assert power_law(gamma=tent, breaks=(2.0,)).peak_gamma == 2.0
    (places,) = asked
    exact = np.sort(np.concatenate([np.linspace(0.0, 2.0, 4001), np.linspace(2.0, 8.0, 4001)]))
    assert np.sort(places) == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize(("beta", "gamma"), [(1.05, 0.1), (2.0, 1.2), (6.0, 1.9)])
@pytest.mark.parametrize("size", [1, 3, 999, 1000, 1001, 5000])
def test_what_an_impulse_brings_back_is_a_sum_over_modes(size: int, beta: float, gamma: float) -> None:
    rates = np.arange(1.0, size + 1.0) ** -beta
    plain = power_law(size=size, beta=beta, gamma=gamma)
    assert plain.stability == pytest.approx(0.5 * gamma * math.fsum(rates), rel=1e-14)
    exact = math.fsum(gamma * rates / (2.0 - gamma * rates))
    assert replace(plain, closure="gaussian").stability == pytest.approx(exact, rel=1e-14)
    listed = Spectrum(rates, rates)
    for closure, total in (("volterra", 0.5 * gamma * math.fsum(rates)), ("gaussian", exact)):
        problem = Problem(Model(noise=1.0, spectrum=listed), gamma=gamma, horizon=8.0, closure=closure)
        assert problem.stability == pytest.approx(total, rel=1e-14)


@pytest.mark.parametrize(("beta", "gamma"), [(1.05, 0.04), (1.5, 0.5), (3.0, 1.9)])
def test_what_an_impulse_brings_back_for_infinitely_many_modes(beta: float, gamma: float) -> None:
    # sum_j x_j/(1 - x_j) = sum_k sum_j x_j^k, x_j = gamma j^-beta/2, in 40 digits by the zeta function
    with mpmath.workdps(40):
        exact = mpmath.nsum(lambda k: mpmath.mpf(0.5 * gamma) ** k * mpmath.zeta(k * mpmath.mpf(beta)), [1, mpmath.inf])
    problem = power_law(size=math.inf, beta=beta, gamma=gamma, closure="gaussian")
    assert problem.stability == pytest.approx(float(exact), rel=1e-14)


def test_a_mode_that_does_not_forget_brings_back_for_ever() -> None:
    spectrum = Spectrum([0.25, 0.5], [1.0, 1.0])
    for gamma, closure, exact in (
        (4.0, "gaussian", math.inf),
        (5.0, "gaussian", math.inf),
        (3.5, "gaussian", 0.875 / 1.125 + 1.75 / 0.25),
        (4.0, "volterra", 1.5),
    ):
        problem = Problem(Model(noise=1.0, spectrum=spectrum), gamma=gamma, horizon=8.0, closure=closure)
        assert problem.stability == pytest.approx(exact, rel=1e-14)
        assert problem.model.fastest == 0.5
    assert power_law().model.fastest == 1.0


@pytest.mark.parametrize(("closure", "gamma"), [("volterra", 2.0), ("gaussian", 1.0)])
def test_the_edge_of_stability_itself_is_unstable(closure: str, gamma: float) -> None:
    settings = {"size": 1, "closure": closure}
    power_law(gamma=math.nextafter(gamma, 0.0), **settings).require_stable()
    name = r"gamma_max tr\(H\)/2" if closure == "volterra" else "the sum over j of gamma_max lambda_j"
    with pytest.raises(UnstableProblemError, match=rf"^{name}.* = 1 must be below 1 \(gamma_max = {gamma:g}\)"):
        power_law(gamma=gamma, **settings).require_stable()


def test_the_loss_without_noise_and_the_kernel_are_sums_over_modes() -> None:
    j, t = np.arange(1.0, 6.0), np.array([0.0, 0.3, 7.0])
    rates = j**-2.0
    decays = np.exp(-2.0 * np.multiply.outer(t, rates))
    listed = Problem(Model(noise=1.0, spectrum=Spectrum(rates, j**-2.0, tail=0.5)), gamma=0.1, horizon=8.0)
    assert listed.model.forcing(t) == pytest.approx(0.5 + decays @ rates, rel=1e-14)
    assert listed.model.kernel(t) == pytest.approx(decays @ rates**2, rel=1e-14)
    law = power_law().model
    delta = approximation_error(0.5, 2.0, 5)
    assert law.approximation_error == delta
    assert law.forcing(t) == pytest.approx(delta + decays @ rates, rel=1e-14)
    assert law.kernel(t) == pytest.approx(decays @ rates**2, rel=1e-14)
