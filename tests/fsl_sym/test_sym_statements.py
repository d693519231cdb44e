"""What the derivations state, read at numbers: a definition that both sides of a step share is not checked by the step.

Every expected value is a definition of the paper or a bound written out by hand; numbers are exact to 30 digits.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from sympy import Expr, Float, Integer, Rational, Sum, Symbol, exp, lambdify, sqrt

from fsl_sym import ansatz, best_constants, capacity_comparison, kernel_spaces
from fsl_sym.allocation_derivation import i1_bound, proves
from fsl_sym.domain import EASY, EDGE, HARD
from fsl_sym.exponents.solve import optimal_exponents
from fsl_sym.integrals.exponential_decay import i1_finite, i2_bound, i2_finite
from fsl_sym.integrals.stable_phase import stable_bound
from fsl_sym.symbols import RANGES, T2, C, D, M, T, a, beta, j, lam, s, t

KEPT = Rational(1, 10**25)
HALF = Rational(1, 2)


def near(left: Expr, right: Expr) -> bool:
    return bool(abs((left - right).evalf(30)) < KEPT)


def test_one_drop_weighs_signal_and_noise_and_what_is_forgotten() -> None:
    """C/c_3 (c_3 + T^-s) (1 - (1 + c x)^-kappa)."""
    step = ansatz.multi_power_limit()[0]
    names = {each.name: each for each in step.before.free_symbols}
    at = {names["c_3"]: 4, names["kappa"]: 2, ansatz.c: 3, ansatz.x: 5, C: 7, t: 2, s: 3}
    assert step.before.subs(at) == Rational(7, 4) * (4 + Rational(1, 8)) * (1 - Rational(1, 16**2))
    assert ansatz.multi_power_limit().conclusion.subs(at) == 7 * (1 - Rational(1, 16**2))


def test_what_the_letters_of_the_ansatz_promise() -> None:
    """Rates, batches, kernels and clocks are positive; the loss may be asked at time 0; a drop may be a rise."""
    for each in (ansatz.clock, ansatz.phi, ansatz.batch, ansatz.kernel, ansatz.source, ansatz.rate):
        assert each(t).is_positive is True
    assert ansatz.drop(t).is_real is True and ansatz.drop(t).is_positive is None
    for each in (ansatz.x, ansatz.u, ansatz.v, ansatz.n):
        assert each.is_nonnegative is True and each.is_positive is None
    for each in (ansatz.c, ansatz.mu, ansatz.i, ansatz.k, ansatz.m, ansatz.end, ansatz.whole):
        assert each.is_positive is True
    for each in (ansatz.i, ansatz.k, ansatz.m, ansatz.n):
        assert each.is_integer is True


def test_the_power_kernel_and_its_integral() -> None:
    at = {beta: Rational(3, 2), ansatz.c: 7, ansatz.x: 1}
    assert ansatz.power_kernel(Integer(1)).subs(at) == Rational(1, 16)  # 8^-(4/3)
    assert ansatz.FORGOTTEN.subs(at) == HALF  # 1 - 8^-(1/3)
    late = ansatz.kernel_integral()[0].before
    assert late.limits[0][1:] == (T - ansatz.x, T)
    assert near(late.function.subs({**at, T: 3, t: 2}), Rational(7, 3) / 16)


def test_the_best_rate_is_the_root_of_the_price_over_the_kernel() -> None:
    """sqrt(mu/K) with a = sqrt(mu): one over it is what is integrated to the steps left."""
    price, least, steps_left, over_steps = ansatz.optimal_rate()
    at = {beta: Rational(3, 2), ansatz.c: 7, ansatz.x: 1, ansatz.mu: 9, a: 3}
    (chosen,) = price.before.free_symbols - set(at)
    assert price.before.subs({**at, chosen: 6}) == Rational(6, 16) + Rational(9, 6)
    assert least.before.subs(at) == 2 * sqrt(Rational(9, 16))
    rate = 1 / steps_left.before.function
    assert near(rate.subs({**at, ansatz.u: 1}), Integer(12))  # sqrt(9 * 16)
    for other in (11, 13):
        assert price.before.subs({**at, chosen: other}) > least.after.subs(at)
    (left,) = over_steps.after.free_symbols - {a, ansatz.c, beta}
    steps = steps_left.after.subs(at)
    assert near(over_steps.after.subs({**at, left: steps}), Integer(12))


def test_the_momentum_of_the_drops_is_a_geometric_sum() -> None:
    (step,) = ansatz.momentum_kernel()
    drops = {2: Integer(3), 3: Integer(-1), 4: Integer(5)}

    i, (place_of, first, _) = ansatz.i, step.after.limits[0]

    def at(side: Expr, place: int, last: int) -> Expr:
        return side.function.subs({i: last, ansatz.m: last, place_of: place, lam: HALF}).replace(
            ansatz.drop, lambda k: drops[int(k)]
        )

    by_hand = 3 * (1 + HALF + HALF**2) - (1 + HALF) + 5
    assert step.before.limits == ((place_of, 2, i), (i, 2, ansatz.m)) and first == 2
    assert sum(at(step.before, place, last) for last in (2, 3, 4) for place in range(2, last + 1)) == by_hand
    assert sum(at(step.after, place, 4) for place in (2, 3, 4)) == by_hand


def test_the_noise_of_a_stepwise_schedule_is_rate_times_what_a_step_forgets() -> None:
    noise, ended = ansatz.abel_summation()
    gone = next(
        iter(noise.before.function.atoms(type(ansatz.clock(t)).__base__) - noise.before.function.atoms(ansatz.rate))
    )
    rates, left = {0: 5, 1: 7, 2: 4, 3: 2}, {0: 11, 1: 6, 2: 1, 3: 0}

    def filled(side: Expr, last: Symbol) -> Expr:
        whole = side.subs(last, 3).doit()
        return whole.replace(ansatz.rate, lambda k: Integer(rates[int(k)])).replace(
            gone.func, lambda k: Integer(left[int(k)])
        )

    assert filled(noise.before, ansatz.n) == 7 * 5 + 4 * 5 + 2 * 1 == filled(noise.after, ansatz.n)
    assert filled(ended.after, ansatz.k) == 57


def test_induction_splits_sums_that_end_at_the_index_alone() -> None:
    i, n = ansatz.i, ansatz.n
    rule = ansatz.Induction(n)
    fixed = Sum(i, (i, 1, ansatz.k))
    assert rule.check(Sum(i**3, (i, 1, n)) + fixed, (n * (n + 1) / 2) ** 2 + fixed).holds
    assert not rule.check(Sum(i**3, (i, 1, n)), n * (n + 1) / 2).holds
    inner = Symbol("l", integer=True, positive=True)
    double = Sum(Sum(inner, (inner, 1, i)), (i, 1, n))
    assert rule.check(double, Sum(inner * (n - inner + 1), (inner, 1, n))).holds
    assert not rule.check(double, Sum(inner * (n - inner + 2), (inner, 1, n))).holds
    later = ansatz.Induction(ansatz.m, 1)
    assert later.check(Sum(i, (i, 2, ansatz.m)), ansatz.m * (ansatz.m + 1) / 2 - 1).holds
    assert "at m = 1" in later.check(Sum(i, (i, 2, ansatz.m)), ansatz.m * (ansatz.m + 1) / 2).detail


def test_pairs_of_modes_and_tilted_modes_at_numbers() -> None:
    two, same = best_constants.pair_of_modes()
    names = {each.name: each for each in two.after.free_symbols}
    at = {names["lambda_i"]: 2, names["d"]: 3, t: 1}
    assert two.after.subs(at) == (exp(-4) - exp(-10)) / 6
    assert same.after.subs(at) == exp(-4)
    (moved, mass, room) = best_constants.tilted_mass()
    names = {each.name: each for each in room.after.free_symbols}
    at = {names["lambda_i"]: 2, names["d"]: 3, names["k"]: 1}
    assert moved.before.subs(at) == 4 == moved.after.subs(at)  # lambda - w lambda_M with w = 1/2
    assert mass.after.subs(at) == Rational(25, 8)
    assert room.before.subs(at) == 5 - Rational(25, 8)  # (lambda/2)/(1 - w) less the tilted mass
    (first, _) = best_constants.resolvent_limit()
    names = {each.name: each for each in first.before.free_symbols}
    at = {names["r"]: HALF, names["gamma_max"]: 2, names["epsilon"]: Rational(1, 8)}
    # gamma K/(1 - gamma K) at gamma m = 1/2 is 1, at gamma (m - epsilon) = 1/4 it is 1/3
    assert first.before.subs(at) == (1 - Rational(1, 3)) / Rational(1, 4)
    summed, kept = best_constants.tail_mass()
    assert summed.before.function.limits[0][1] == M + 1 == kept.after.limits[0][1]
    assert summed.before.function.function.subs({beta: 2, j: 2, t: 4}) == exp(-2) / 16
    assert kept.after.function.subs({beta: 2, j: 2}) == Rational(1, 8)


def test_capacities_are_compared_inside_their_regime() -> None:
    """Hard: beta = 1 + alpha + y; easy: beta + x + y = 1 + alpha; x is the step from one beta to the other."""
    alpha, more, beyond = capacity_comparison.ALPHA, capacity_comparison.MORE, capacity_comparison._BEYOND
    at = capacity_comparison._at
    assert at(beta, "hard", Integer(0)) == 1 + alpha + beyond
    assert at(beta, "hard", more) == 1 + alpha + beyond + more
    assert (at(1 + alpha - beta, "easy", Integer(0)) - more - beyond).expand() == 0
    assert (at(1 + alpha - beta, "easy", more) - beyond).expand() == 0
    strict, equal = capacity_comparison.Smaller(), capacity_comparison.Smaller(strict=False)
    assert strict.check(alpha, alpha + more).holds and equal.check(alpha, alpha + more).holds
    assert equal.check(alpha, alpha).holds and not strict.check(alpha, alpha).holds
    assert not strict.check(alpha + more, alpha).holds and not equal.check(alpha + more, alpha).holds
    assert not equal.check(alpha, more).holds  # not known


def test_the_target_lies_in_every_space_below_s() -> None:
    first, *falling = kernel_spaces.source_derivation()[:4]
    delta = kernel_spaces.DELTA
    assert first.before.subs({s: 3, beta: 2, delta: HALF, kernel_spaces.j: 4}) == Rational(1, 16)  # j^-(1 + beta delta)
    assert falling[-1].after.subs({beta: 2, delta: HALF}) == 1
    assert [str(each) for each in kernel_spaces.trace_derivation()[2].after.free_symbols] == ["beta'"]


def number(value: Expr, at: dict[Symbol, Expr]) -> float:
    """In double precision; sums are added term by term."""
    value = value.subs(at)
    for one in value.atoms(Sum):
        index, first, last = one.limits[0]
        term = lambdify(index, one.function, modules="math")
        value = value.xreplace({one: Float(sum(term(k) for k in range(int(first), int(last) + 1)))})
    return float(value)


def test_bounds_hold_and_are_close_where_that_is_known() -> None:
    """I1 attains its lower bound at M = T = 1; T I2/M tends to 1/4, the upper bound, and starts at twice the lower."""
    one, two, stable = i1_bound(), i2_bound(), stable_bound()
    first = {beta: Integer(2), M: Integer(1), T: Integer(1), T2: Integer(1)}
    late = {**first, T: Integer(400), T2: Integer(400)}
    assert number(one.quantity, first) == pytest.approx(number(one.lower, first), rel=1e-14)  # rounding alone
    assert number(two.quantity, first) == pytest.approx(2 * number(two.lower, first), rel=1e-14)
    assert number(two.quantity, late) == pytest.approx(0.25, rel=1e-12)
    assert number(two.upper, {beta: Integer(2)}) < 1.3 * 0.25  # 2^(1/2) Gamma(3/2) = 1.2533
    many = {**first, M: Integer(300), T: Integer(10**7)}
    assert 0.99 < number(one.quantity, many) / number(one.upper, {beta: Integer(2)}) < 1
    assert stable.lower is None
    # the peak of one mode: T_2 = 1/2 gives M/(4 e T_2), and the bound is at most a few times that
    peak = {**first, T2: HALF}
    assert number(stable.quantity, peak) < number(stable.upper, {beta: Integer(2)}) < 9 * number(stable.quantity, peak)


N = Symbol("N", positive=True)


def test_a_certificate_proves_only_what_it_says_on_the_regime() -> None:
    """M^-s + D^-beta with M D = N has the loss N^-(s beta/(s + beta)) everywhere."""
    (region,) = optimal_exponents(M**-s + D**-beta, [M, D], N, [M * D <= N], dict(RANGES)).regions
    certificate = region.certificate
    (proof,) = certificate.branches
    for regime in (EASY, EDGE, HARD):
        assert proves(certificate, regime)
    for row, weight in enumerate(proof.multipliers):
        for changed in (weight + 1, weight - 1, -weight if weight else Integer(1)):
            others = (*proof.multipliers[:row], changed, *proof.multipliers[row + 1 :])
            assert not proves(replace(certificate, branches=(replace(proof, multipliers=others),)), HARD)
    for place in range(3):
        for k in (1, 2):
            for step in (Rational(1, 50), -Rational(1, 50)):
                triple = list(certificate.point[place])
                triple[k] = triple[k] + step
                point = (*certificate.point[:place], tuple(triple), *certificate.point[place + 1 :])
                assert not proves(replace(certificate, point=point), EASY)
    assert not proves(replace(certificate, branches=(replace(proof, infeasible=True),)), EASY)


def test_the_stated_errors_of_i1_and_i2_are_within_a_factor_of_the_true_ones() -> None:
    """By Euler and Maclaurin half of the last summand is missing: the claims, a whole one, are twice the true gap."""
    late = {beta: Rational(3, 2), M: Integer(20), T: Integer(10**6)}
    soon = {beta: Rational(3, 2), M: Integer(200), T: Integer(10)}
    for form, at in ((i1_finite(), late), (i2_finite(), soon)):
        gap = abs(number(form.exact, at) - float(form.approximation.subs(at).evalf(30)))
        # the next term of the summation formula is a twentieth of the first here
        assert 1.9 < number(form.error, at) / gap < 2.2


def test_the_stable_phase_is_compared_with_the_least_of_its_two_powers():
    quotient = stable_bound().quantity.subs(beta, 2)
    for size, time in ((3, 2), (3, 100), (50, 7)):
        rates = [k**-2.0 for k in range(1, size + 1)]
        # exactly, not up to a constant: the sum over the modes by M/T_2 or T_2^(1/beta - 1), whichever is less
        by_modes = sum(rate * math.exp(-2.0 * rate * time) for rate in rates) / 2.0
        expected = by_modes / min(size / time, time**-0.5)
        assert float(quotient.subs({M: size, T2: time}).doit()) == pytest.approx(expected, rel=1e-12)
