"""Schedules off the paper: their noise, its order from the end of the rate, laws and allocations."""

import pytest
from sympy import Eq, Function, Integer, Min, Piecewise, Rational, Symbol, cos, exp, floor, log, pi, sin, sqrt, true

from fsl_sym import after_stable_phase, optimal_allocation, own_schedule, scaling_law, schedule_with_end
from fsl_sym.allocation import table
from fsl_sym.integrals import noise_integral
from fsl_sym.integrals.vanishing_end import noise_orders
from fsl_sym.order import Order
from fsl_sym.schedules import SCHEDULES, schedule
from fsl_sym.schedules.own import end_power
from fsl_sym.symbols import C, K, M, T, a, b, beta, p, s, sigma, tau

SHAPES = {
    "linear": (a * (1 - tau / K), Integer(1)),
    "parabola": (a * (1 - (tau / K) ** 2), Integer(1)),
    "quarter cosine": (a * cos(pi * tau / (2 * K)), Integer(1)),
    "half cosine": (a * (1 + cos(pi * tau / K)) / 2, Integer(2)),
    "cube": (a * (1 - tau / K) ** 3, Integer(3)),
    "root": (a * sqrt(1 - tau / K), Rational(1, 2)),
    "1-sqrt": (a * (1 - sqrt(tau / K)), Integer(1)),
    "hyperbola": (a / (1 + tau / K), Integer(0)),
    "any power": (a * (1 - tau / K) ** p, p),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_end_of_a_rate_is_found_and_its_integrals_are_verified(name):
    phi, power = SHAPES[name]
    found = own_schedule(phi)
    assert end_power(found.phases[0]) == power and found.end_exponent == power / (power + 1)
    assert all(derivation.verify().holds for derivation in found.derivation())
    assert noise_integral(found).derivation.verify().holds
    assert [order.expression for order in noise_orders(found)][-1] == a * T ** -(power / (power + 1))


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_catalogue_name_has_an_exact_noise_and_a_law(name):
    assert noise_integral(name).derivation.verify().holds
    for case in scaling_law(name).cases:
        assert case.expression.free_symbols >= {s, beta, M, sigma}
        assert case.in_hyperparameters(C).free_symbols.isdisjoint({sigma, a, T})


@pytest.mark.parametrize(
    ("phi", "text"),
    [
        (a * exp(-tau), "K is left"),
        (1 - tau, r"and write tau/K, from 0 to 1: a\*\(1 - tau/K\)"),
        (a * (1 - tau), "write tau/K for tau, which runs from 0 to K"),
        (a * (1 - Symbol("x") / K), "x is none of the symbols a "),
        (Symbol("a") * (1 - Symbol("tau") / Symbol("K")), "K, a, tau must be the symbol of that name in fsl_sym"),
        (b + (a - b) * (1 - tau / K), "a last rate is a share of the peak here: a"),
        (a * (1 - 2 * tau / K), "positive and finite"),
        (a * sqrt(K / tau), "positive and finite"),
        (a * exp(1 - K / (K - tau)), "does not end like a power"),
        (a * Min(1, 5 * (1 - tau / K)), "made of pieces, and only its end counts: type the last piece alone"),
        (a * Piecewise((1, tau < K / 2), (2 * (1 - tau / K), True)), "after_stable_phase"),
        (a * (1 - tau / K) * log(2 * K / (K - tau)), "does not end like a power"),
        (a * (1 - tau / K) / log(2 * K / (K - tau)), "does not end like a power"),
        (a * (2 + sin(log(1 - tau / K))), "does not end like a power"),
        (a * (1 - floor(2 * tau / K) / 4), "made of pieces"),
        (a * ((tau / K - Rational(1, 16)) ** 2 - Rational(1, 10**4)), "-0.0001 times a near tau/K = 0.0625"),
        (a * (1 + cos(48 * pi * tau / K)), "positive and finite"),
        (a / (tau / K - Rational(1, 7)) ** 2, "positive and finite"),
        (a * (1 - tau / K) ** p * (1 + tau / K * (1 - tau / K) * (10 - p)), "with p = 20"),
    ],
)
def test_what_has_no_noise_order_is_refused(phi, text):
    with pytest.raises(ValueError, match=text):
        own_schedule(phi)


def test_a_rate_may_begin_at_0_and_always_has_an_intrinsic_time():
    warmed = own_schedule(a * tau / K)
    assert (warmed.total, warmed.end_exponent) == (a * K / 2, 0)
    half_circle = own_schedule(a * sqrt(tau / K * (1 - tau / K)))
    assert half_circle.end_exponent == Rational(1, 3)
    assert abs(half_circle.total.subs({a: 1, K: 1}).evalf() - pi / 8) < 1e-9


def test_what_is_no_expression_or_has_no_numbers_is_no_rate():
    for wrong in (Eq(a, tau), true):
        with pytest.raises(TypeError, match="give one expression in a, tau and K"):
            own_schedule(wrong)
    with pytest.raises(ValueError, match="no number between"):
        own_schedule(a * Function("f", positive=True)(tau / K))


def test_a_float_is_no_exact_exponent():
    with pytest.raises(TypeError, match=r"holds the float 1.50*: exponents are exact, so write Rational\(3, 2\)"):
        own_schedule(a * (1 - tau / K) ** 1.5)


def test_an_end_exponent_stands_for_every_rate_with_that_end():
    assert schedule_with_end("1/2").phi == schedule("linear").phi and schedule_with_end(0).end_exponent == 0
    for wrong, error in ((1, ValueError), (-1, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="must lie in|float"):
            schedule_with_end(wrong)
    assert after_stable_phase("linear") == after_stable_phase(schedule("linear"))
    with pytest.raises(ValueError, match="one phase that begins at the peak rate"):
        after_stable_phase(schedule("wsd"))
    with pytest.raises(ValueError, match="no shape of its own at b = 0"):
        scaling_law(after_stable_phase(schedule("exp-decay")))
    with pytest.raises(ValueError, match="3 forms"):
        scaling_law("linear").in_hyperparameters(C)


@pytest.mark.slow
@pytest.mark.parametrize("budget", ["data", "compute"])
def test_equal_ends_have_equal_risks(budget):
    """Linear, the parabola and a stable phase before either differ in constants alone."""
    plans = ["linear", own_schedule(SHAPES["parabola"][0]), after_stable_phase(schedule("linear"))]
    plans += ["cyclic", "1-sqrt"] if budget == "data" else []
    risks = [[regime.excess_risk for regime in optimal_allocation(plan, budget).regimes] for plan in plans]
    assert len(risks[0]) == 9
    assert all(mine.equals(theirs) for other in risks[1:] for mine, theirs in zip(risks[0], other, strict=True))


@pytest.mark.parametrize(
    ("difficulty", "capacity"), [("1/5", 4), ("1/2", 4), (2, 4), ("1/4", "3/2"), (2, "3/2"), (1, 3)]
)
def test_the_risks_by_hand(difficulty, capacity):
    """D^-min(s, s/(1 + s - q)) with q = min(p/(p+1), 1 - 1/beta): T^-s = gamma T^-q with T = gamma D, gamma <= 1."""
    s_value, beta_value = Rational(difficulty), Rational(capacity)
    for name, power in (("linear", 1), ("cosine-to-zero", 2), ("8-1-1", 0)):
        q = min(Rational(power, power + 1), 1 - 1 / beta_value)
        resonant = beta_value == power + 1
        found = optimal_allocation(name, "data").at(s_value, beta_value).excess_risk
        easy = s_value / (1 + s_value - q)
        log_power = easy if resonant and s_value >= q else 0
        assert found == Order(-min(s_value, easy), log_power)


def test_power_decay_with_a_symbol_is_power_decay_with_a_number():
    for budget in ("data", "compute"):
        symbolic = optimal_allocation("power-decay", budget)
        for point in (("1/5", 4), (2, 4), ("1/4", "3/2"), (1, 2), ("1/2", 2)):
            mine = symbolic.at(*point, p=1).quantities
            theirs = optimal_allocation("linear", budget).at(*point).quantities
            assert list(mine) == list(theirs)
            for name, ends in mine.items():
                for left, right in ((ends.lower, theirs[name].lower), (ends.upper, theirs[name].upper)):
                    assert (left is None) == (right is None) and (left is None or left.equals(right))
    with pytest.raises(ValueError, match="is a symbol"):
        symbolic.at(1, 2)
    with pytest.raises(ValueError, match="no symbol"):
        optimal_allocation("linear", "data").at(1, 2, p=1)


@pytest.mark.parametrize("name", ["power-decay", "linear", "multi-step", "inverse-sqrt"])
def test_the_optima_are_theorems_of_the_kernel(name):
    allocation = optimal_allocation(name, "compute")
    theorems = [derivation.prove() for derivation in allocation.derivations]
    optima = [theorem.conclusion for theorem in theorems if theorem.conclusion.relation == "optimum"]
    conditions = [regime.condition for regime in allocation.regimes]
    assert len(optima) == len(conditions)
    assert all(optimum.where in conditions for optimum in optima)


@pytest.mark.parametrize(("name", "edge"), [("cosine", 3), ("1-sqrt", 2)])
def test_a_regime_is_one_region(name, edge):
    """Easy, edge and hard on both sides of the capacity at which the end of the rate and the spectrum remember alike,
    and there: a region that is not as large as its formula holds would cut one of the nine, and is refused."""
    conditions = [regime.condition for regime in optimal_allocation(name, "data").regimes]
    assert len(conditions) == 9 and sum(condition.subs(beta, edge) != False for condition in conditions) == 3  # noqa: E712


def test_one_drop_of_choice_is_an_end_of_its_own():
    """q = (beta - 1)/(2 beta - 1): between no decay and any power, and less than what the spectrum remembers."""
    law = scaling_law("multi-step").cases[0]
    q = law.noise_exponent
    found = optimal_allocation("multi-step", "data").regime("easy").excess_risk
    assert found.equals(Order(-s / (1 + s - q)))
    assert optimal_allocation("inverse-sqrt", "data").regime("hard").excess_risk.equals(Order(-s / (1 + s)))


def test_the_table_takes_any_schedule():
    rows = table(["linear", own_schedule(a * (1 - tau / K) ** 2, "square")])
    assert [data.schedule for data, _ in rows] == ["linear", "square"]
