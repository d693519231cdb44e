"""Parts of schedules, spectra and laws at exact points, against their definitions written out by hand.

Numbers are rational or evaluated to 30 digits from exact values; ``DIGITS_KEPT`` leaves five of them to rounding.
"""

from __future__ import annotations

import mpmath
import pytest
from sympy import Eq, Expr, Gt, Integer, Rational, Symbol, cos, exp, lambdify, log, oo, pi, sin

from fsl_sym.functional import change_of_time, physical_noise
from fsl_sym.integrals import GrowthOrder
from fsl_sym.integrals.closed_form import PrintedLine
from fsl_sym.integrals.exponential_decay import crossover, i1_sum, i2_sum, remaining
from fsl_sym.integrals.power_decay import power_sum
from fsl_sym.integrals.stable_phase import finite_stable, finite_stable_phase_noise, stable_sum
from fsl_sym.laws import STABLE_FRACTION, scaling_law
from fsl_sym.schedules import SCHEDULES, Schedule, schedule
from fsl_sym.spectrum import (
    approximation_error,
    approximation_error_asymptotics,
    eigenvalue,
    finite_kernel,
    finite_signal,
    forgetting_kernel,
    signal,
    signal_gap,
    target_square,
    trace,
)
from fsl_sym.symbols import K1, K2, T1, T2, B, C, D, K, M, N, T, a, b, beta, gamma, j, p, r, s, sigma, t, tau

DIGITS_KEPT = Rational(1, 10**25)
HALF = Rational(1, 2)
TWO = Integer(2)
PEAK, LAST = TWO, HALF
LENGTHS = {K: Integer(6), K1: Integer(4), K2: Integer(6)}
FOLD = 2 * log(2)
"""log(a/b) at a = 2, b = 1/2."""

LAWS = {name: scaling_law(name) for name in ("constant", "exp-decay", "wsd")}


def by_hand(name: str) -> tuple[list[Expr], list[Expr], list[Expr], Expr]:
    """Times, learning rates and intrinsic times along a schedule with a = 2, b = 1/2, p = 3, and its whole length."""
    x = [Integer(0), HALF, Integer(1)]
    six = [6 * each for each in x]
    decay = [PEAK * Rational(1, 4) ** each for each in x]
    gathered = [PEAK * 6 / FOLD * (1 - Rational(1, 4) ** each) for each in x]
    if name == "constant":
        return six, [PEAK] * 3, [2 * each for each in six], Integer(6)
    if name == "exponential decay":
        return six, decay, gathered, Integer(6)
    if name == "WSD-like":
        times = [Integer(0), Integer(3), Integer(4), *(4 + each for each in six[1:])]
        return (
            times,
            [PEAK] * 3 + decay[1:],
            [Integer(0), Integer(6), Integer(8), *(8 + each for each in gathered[1:])],
            10,
        )
    if name == "stable":
        return (
            [Integer(0), Integer(3), Integer(7), Integer(10)],
            [PEAK] * 4,
            [Integer(2) * each for each in (0, 3, 7, 10)],
            10,
        )
    if name == "power decay":
        return six, [PEAK * (1 - each) ** 3 for each in x], [3 * (1 - (1 - each) ** 4) for each in x], Integer(6)
    if name == "linear decay":
        return six, [PEAK * (1 - each) for each in x], [6 * (1 - (1 - each) ** 2) for each in x], Integer(6)
    floor = LAST if name == "cosine" else Integer(0)
    mean, swing = (PEAK + floor) / 2, (PEAK - floor) / 2
    rates = [mean + swing * cos(pi * each) for each in x]
    return six, rates, [6 * (mean * each + swing * sin(pi * each) / pi) for each in x], Integer(6)


def set_up(name: str) -> Schedule:
    found = schedule(name)
    values = {a: PEAK, b: LAST, p: Integer(3), **LENGTHS}
    return found.at({key: value for key, value in values.items() if key in found.parameters})


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_at_points_is_its_definition(name: str) -> None:
    found = set_up(name)
    times, rates, clocks, length = by_hand(name)
    assert found.length == length and found.parameters == () and found.name == name
    assert abs((found.total - clocks[-1]).evalf(30)) < DIGITS_KEPT
    for time, rate, clock in zip(times, rates, clocks, strict=True):
        assert abs((found.phi.subs(tau, time) - rate).evalf(30)) < DIGITS_KEPT, time
        assert abs((found.intrinsic_time.subs(tau, time) - clock).evalf(30)) < DIGITS_KEPT, time
        if found.inverse is None or found.gamma is None:
            assert "Kepler" in found.remark
            continue
        # the end as the schedule writes it: 1/log(2) is not compared with 2/log(4)
        inside = found.total if time == length else clock
        assert abs((found.inverse.subs(t, inside) - time).evalf(30)) < DIGITS_KEPT, time
        assert abs((found.gamma.subs(t, inside) - rate).evalf(30)) < DIGITS_KEPT, time


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_noise_over_the_steps_has_the_kernel_of_what_is_left_and_the_rate_squared(name: str) -> None:
    found = physical_noise(name)
    assert found.limits == ((tau, 0, schedule(name).length),)
    times, rates, clocks, _ = by_hand(name)
    values = {a: PEAK, b: LAST, p: Integer(3), **LENGTHS, M: Integer(2), beta: Integer(2)}
    for time, rate, clock in zip(times, rates, clocks, strict=True):
        left = clocks[-1] - clock
        expected = (exp(-2 * left) + exp(-left / 2) / 16) * rate**2
        value = found.function.subs({**values, tau: time}).doit()
        assert abs((value - expected).evalf(30)) < DIGITS_KEPT, time
    # beyond the end the last phase goes on: nothing is left undefined by rounding there
    assert found.function.subs({**values, tau: times[-1] + Rational(1, 10**9)}).doit().evalf(5).is_finite


def test_the_noise_of_two_phases_over_the_steps_is_the_closed_form() -> None:
    values = {a: PEAK, b: LAST, **LENGTHS, M: Integer(2), beta: Integer(2)}
    law = LAWS["wsd"].functional
    closed = law.noise.exact.subs(law.intrinsic_times).subs(values).doit().evalf(20)
    integrand = lambdify(tau, physical_noise("WSD-like").function.subs(values).doit(), modules="mpmath")
    # tanh-sinh quadrature in double precision on each phase, where the integrand is analytic
    total = mpmath.quad(integrand, [0, 4, 10])
    assert abs(total / float(closed) - 1) < 1e-13


def test_both_clocks_are_compared_phase_by_phase() -> None:
    for name, phases in (("constant", 1), ("stable", 2)):
        derivation = change_of_time(name)
        assert len(derivation) == 2 * phases
        assert all(step.begins for step in derivation)
        assert derivation.verify().holds


def test_both_clocks_start_from_the_definition_of_the_noise() -> None:
    """j = 2, beta = 2: lambda_j^2 exp(-2 lambda_j (T - t)) gamma, and the same with T(tau) and the rate squared."""
    at = {j: TWO, beta: TWO, **LENGTHS, a: PEAK, b: LAST}
    for name, gathered, rate in (("constant", TWO, PEAK), ("exponential decay", 12 / FOLD * HALF, Integer(1))):
        intrinsic, physical = (step.before.function for step in change_of_time(name))
        # tau = 1 of 6 steps, or half of the decay
        time, total = (1, 12) if name == "constant" else (3, 12 / FOLD * Rational(3, 4))
        damped = exp(-(total - gathered) / 2) / 16
        found = intrinsic.function.subs({**at, t: gathered}), physical.function.subs({**at, tau: time})
        assert [each.limits[0][1] for each in (intrinsic, physical)] == [0, 0]
        for value, power in zip(found, (1, 2), strict=True):
            assert abs((value - damped * rate**power).evalf(30)) < DIGITS_KEPT


def test_the_law_names_its_clocks() -> None:
    for name, total in (("constant", T), ("exp-decay", T), ("wsd", T1 + T2)):
        law = LAWS[name].functional
        assert law.total == total and law.signal == total**-s
        assert law.orders[1].alternatives == ({total: -s},)
        assert set(law.intrinsic_times) == total.free_symbols
        assert law.noise.exact.free_symbols <= {a, b, M, beta, *total.free_symbols}


def test_ranges_are_asked_when_a_schedule_is_set() -> None:
    found = schedule("exponential decay")
    assert found.at({a: Integer(2)}).ranges == (Gt(2, b),)
    assert found.at({a: Integer(2)}).parameters == (b, K)
    assert found.at({a: b}).name == "constant" and found.at({a: b}).total == b * K
    assert found.at({b: Integer(3), a: Integer(3), K: Integer(4)}).total == 12
    with pytest.raises(ValueError, match="outside the range"):
        found.at({b: 2 * a})
    for bad in ({p: Integer(1)}, {a: Integer(0)}, {K: Integer(-1)}):
        with pytest.raises(ValueError, match="cannot be set"):
            found.at(bad)
    assert schedule("WSD-like").at({a: b}).phases[1].name == "second phase"
    # at once, not one after the other: a becomes b where b becomes a number
    assert found.at({a: 2 * b, b: Integer(1), K: Integer(5)}).phi.subs(tau, 0) == 2 * b


def test_the_total_near_equal_rates_goes_to_the_constant_one() -> None:
    (singularity,) = schedule("exponential decay").singularities
    assert singularity.where == Eq(a, b) and singularity.limit == b * K and singularity.becomes == "constant"
    (ratio,) = singularity.path.free_symbols - {b, K}
    near = singularity.simplified.subs({ratio: Rational(1, 10**6), b: 3, K: 5}).evalf(20)
    assert abs(near / 15 - 1) < Rational(1, 10**6)  # (e^h - 1)/h = 1 + h/2 + ...


@pytest.mark.parametrize(("name", "q"), [("constant", 0), ("exponential decay", 0), ("WSD-like", 0), ("cosine", 0),
                                         ("cosine to zero", Rational(2, 3)), ("linear decay", HALF),
                                         ("power decay", Rational(3, 4))])  # fmt: skip
def test_the_rate_at_the_end_is_a_power_of_the_time_left(name: str, q: Expr) -> None:
    """gamma(t) ~ (T - t)^q: doubling the time left multiplies the rate by 2^q in the limit."""
    found = set_up(name)
    assert found.end_exponent == q
    rates, left = [], []
    for back in (Rational(1, 500), Rational(1, 1000)):
        at = found.length - back
        rates.append(found.phi.subs(tau, at).evalf(30))
        left.append((found.total - found.intrinsic_time.subs(tau, at)).evalf(30))
    slope = log(rates[0] / rates[1]) / log(left[0] / left[1])
    assert abs(slope - q) < Rational(1, 200)  # the next term of the rate is smaller by the step 1/500


AT = {beta: Integer(2), s: Integer(3), M: Integer(2)}


def test_the_spectrum_is_made_of_powers() -> None:
    assert eigenvalue().subs({**AT, j: 3}) == Rational(1, 9)
    assert target_square().subs({**AT, j: 3}) == Rational(1, 3) * Rational(1, 81)
    assert eigenvalue(j + 1).subs({**AT, j: 2}) == Rational(1, 9)
    two = exp(-2 * t) + Rational(1, 2**7) * exp(-t / 2)
    assert (signal().subs(AT).doit() - two).expand() == 0
    squares = exp(-2 * t) + Rational(1, 2**4) * exp(-t / 2)
    assert (forgetting_kernel().subs(AT).doit() - squares).expand() == 0
    assert (forgetting_kernel(3 * t, Integer(1)) - exp(-6 * t)).doit().expand() == 0
    # the signal at time 0 is what theta and lambda say: sum of lambda theta^2
    start = sum((eigenvalue() * target_square()).subs({**AT, j: k}) for k in (1, 2))
    assert signal(Integer(0)).subs(AT).doit() == start
    assert approximation_error(Integer(2)).subs(AT).evalf(20) == (
        approximation_error(Integer(0)).subs(AT) - start
    ).evalf(20)
    assert trace(oo).subs(AT) == pi**2 / 6 and trace(M).subs(AT).doit() == Rational(5, 4)


@pytest.mark.parametrize(("form", "order"), [(finite_kernel(), 2 - 1 / beta), (finite_signal(), s),
                                             (finite_stable(t), 1 - 1 / beta)])  # fmt: skip
def test_the_error_of_a_finite_form_is_the_peak_of_its_summand(form: object, order: Expr) -> None:
    """F(y) = c y^(-1 - beta order) exp(-2 t y^-beta) has its peak at y^-beta = (order + 1/beta)/(2 t)."""
    at = {beta: Rational(3, 2), s: Rational(2, 5), t: Integer(40)}
    peak = ((order + 1 / beta) / (2 * t)) ** (-1 / beta)
    height = form.exact.function.subs(j, Symbol("y", positive=True))  # type: ignore[attr-defined]
    top = height.subs(Symbol("y", positive=True), peak).subs(at).evalf(30)
    assert abs(form.error.subs(at).evalf(30) / top - 1) < DIGITS_KEPT  # type: ignore[attr-defined]
    for factor in (Rational(4, 5), Rational(5, 4)):
        beside = height.subs(Symbol("y", positive=True), factor * peak).subs(at).evalf(30)
        assert beside < top
    window = form.window  # type: ignore[attr-defined]
    sized = {beta: Integer(2), M: Integer(3)}
    assert [bool(window.subs({**sized, t: time})) for time in (HALF, 1, 5, 9, 10)] == [False, True, True, True, False]


def test_bounds_of_the_missing_part_share_their_leading_term() -> None:
    bounds = approximation_error_asymptotics()
    assert bounds.leading == bounds.upper
    at = {s: Integer(1), beta: Integer(2), M: Integer(3)}
    assert bounds.upper.subs(at) == Rational(1, 18) and bounds.lower.subs(at) == Rational(1, 32)
    assert signal_gap().verify().holds


def test_sums_of_one_and_two_modes_are_their_integrals() -> None:
    """Every closed sum against the integral of its definition, mode by mode, at lambda = 1 and lambda = 1/4."""
    at = {beta: Integer(2), M: Integer(2), T: Integer(3), T1: Integer(2), T2: Integer(3), a: Integer(5), p: Integer(2)}
    modes = [(1, Integer(1)), (2, Rational(1, 4))]

    def over(rate: Expr, shift: int = 0, end: int = 3) -> Expr:
        kernel = sum(lam**2 * exp(-2 * lam * (end + shift - t)) for _, lam in modes)
        return mpmath.quad(lambdify(t, kernel * rate, modules="mpmath"), [0, end])

    # tanh-sinh quadrature in double precision: at a branch point at the end rounding leaves about 12 digits
    cases = [
        (i1_sum(), over(Integer(1))),
        (i2_sum(), over(1 - t / 3)),
        (finite_stable_phase_noise().exact, over(Integer(5), shift=3, end=2)),
        (power_sum(), over(5 * (1 - t / 3) ** Rational(2, 3))),
        (power_sum(Integer(1)), over(5 * (1 - t / 3) ** HALF)),
    ]
    for closed, integral in cases:
        assert abs(float(closed.subs(at).doit()) / integral - 1) < 1e-10
    assert (stable_sum().subs(at).doit() - (exp(-6) / 2 + exp(-Rational(3, 2)) / 8)).expand() == 0
    assert remaining(Integer(1)) == 1 - 3 * exp(-2)
    # x large: every mode is gone, Phi = 1; x small: 2^(1/beta) Gamma(2 - 1/beta) x^(1/beta) is below 1
    assert abs(crossover(Integer(40)).subs(beta, 2).evalf(20) - 1) < Rational(1, 10**15)
    assert 0 < crossover(Rational(1, 100)).subs(beta, 2).evalf(20) < Rational(1, 5)


def test_growth_orders_multiply_and_keep_their_condition() -> None:
    order = GrowthOrder(({M: 1, T: -1}, {T: HALF}), Gt(beta, 2))
    raised = order.times(T, 2).times(a)
    assert raised.alternatives == ({M: 1, T: 1, a: 1}, {T: Rational(5, 2), a: 1})
    assert raised.condition == Gt(beta, 2)
    assert order.expression.subs({M: 8, T: 4}) == 2 and order.expression.subs({M: 4, T: 4}) == 1
    assert GrowthOrder(({},)).expression == 1 and GrowthOrder(({},)).condition == True  # noqa: E712
    with pytest.raises(TypeError):
        order.alternatives[0][M] = Integer(2)  # type: ignore[index]


def test_a_printed_line_is_judged_and_not_believed() -> None:
    right, wrong = PrintedLine("x", (a + b) ** 2, a**2 + 2 * a * b + b**2), PrintedLine("x", a + b, a - b)
    assert right.holds and not right.refuted
    assert wrong.refuted and not wrong.holds


@pytest.mark.parametrize("budget", [N, C])
def test_a_choice_of_hyperparameters_is_allowed_where_the_paper_allows_it(budget: Symbol) -> None:
    """gamma <= 1, M >= 1, one step at least for each sample, a <= 1, r + q = 1, and an intrinsic time of at least 1."""
    total = {N: Integer(1024), C: Integer(4096)}[budget]
    good = {gamma: Rational(1, 8), M: Integer(4), D: Integer(1024), K: Integer(512), r: HALF, STABLE_FRACTION: HALF}

    rules = {
        name: [each.subs(budget, total) for each in LAWS[name].constraints(budget)]
        for name in ("constant", "exp-decay", "wsd")
    }

    def allowed(name: str, **changes: object) -> bool:
        values = {**good, **{key: changes[str(key)] for key in good if str(key) in changes}}
        return all(bool(rule.subs(values)) for rule in rules[name])

    for name in ("constant", "exp-decay", "wsd"):
        assert allowed(name)
        if budget == C:
            assert not allowed(name, M=Integer(3))
        assert not allowed(name, gamma=Integer(2))
        assert not allowed(name, gamma=Rational(1, 10**4))  # an intrinsic time below 1
        assert not allowed(name, D=Integer(1000))
    for name in ("exp-decay", "wsd"):
        assert not allowed(name, K=Integer(2048))  # more steps than samples
        assert not allowed(name, K=Integer(64))  # a learning rate of 2
        assert allowed(name, K=Integer(128)) and allowed(name, K=Integer(1024))  # both limits are allowed
    # an intrinsic time between 1 and 2 is long enough: 3/2, and 12/log(budget) with a budget of 1024 or 4096
    assert allowed("constant", gamma=Rational(3, 2048))
    assert allowed("exp-decay", gamma=Rational(12, 1024)) and allowed("wsd", gamma=Rational(24, 1024))
    assert not allowed("wsd", r=Rational(3, 4))
    assert allowed("wsd", r=Rational(3, 4), q=Rational(1, 4))
    assert not allowed("wsd", r=Rational(1, 10**4), q=1 - Rational(1, 10**4))  # the decay phase is too short


def test_hyperparameters_stand_for_every_base() -> None:
    at = {gamma: Rational(1, 8), M: Integer(4), D: Integer(1024), K: Integer(512), r: Rational(1, 4),
          STABLE_FRACTION: Rational(3, 4)}  # fmt: skip
    # a = gamma D/K = 1/4: T = a K = 128, or a K/log(budget), or for each phase its fraction of it
    assert LAWS["constant"].intrinsic_times(C)[T].subs(at) == 128
    assert (LAWS["exp-decay"].intrinsic_times(C)[T] * log(C)).subs(at) == 128
    times = LAWS["wsd"].intrinsic_times(C)
    assert times[T1].subs(at) == 96 and (times[T2] * log(C)).subs(at) == 32
    law = LAWS["constant"].in_hyperparameters(C).subs({s: 1, beta: 2}).subs(at)
    assert law == Rational(1, 16) + Rational(1, 128) + Rational(1, 8)
    # b sigma^2/B = a/(K B) = gamma/K
    floor = LAWS["exp-decay"].in_hyperparameters(C)
    rest = floor - M ** (-s * beta) - (D * gamma / log(C)) ** -s
    least = gamma * (log(C) / (D * gamma)).subs(at) * 4  # M/T times the peak rate over the batch size
    value = rest.subs({s: 1, beta: 2}).subs(at)
    by_root = Rational(1, 8) * (128 / log(C)) ** -HALF
    for size in (10, 10**12):
        expected = Rational(1, 8) / 512 + min(least.subs(at).subs(C, size), by_root.subs(C, size))
        assert abs((value.subs(C, size) - expected).evalf(30)) < DIGITS_KEPT


def test_the_printed_right_hand_sides_hold_the_label_noise_over_the_batch() -> None:
    noise = LAWS["constant"].expression.coeff(a)
    assert noise == sigma**2 / B
