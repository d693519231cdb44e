"""What the statements and the measured constants of the functional law refuse, and two limits in closed form."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from sympy import Rational

from fsl_num.claims.claim import Sample
from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import claim
from fsl_num.claims.verification import verify
from fsl_num.paper.functional.balls import enclosed_risk, enclosed_sums, exact_problem
from fsl_num.paper.functional.best_constants import resolvent_supremum
from fsl_num.paper.functional.kernel_gaps import noise_gap, total_gap
from fsl_num.paper.functional.label_noise import past_two, up_to_two, zero_rays
from fsl_num.paper.functional.laws import exponents, functional_law, printed_exponents
from fsl_num.paper.functional.longer_contraction import scaled_ratio
from fsl_num.paper.statements import Between


def test_between_refuses_what_lies_outside_and_what_is_no_number() -> None:
    statement = Between({"x": (1.0, 2.0)}, 0.01)
    assert statement.judge([("x", "here", 2.01)]).holds
    assert not statement.judge([("x", "here", 1.5), ("x", "there", 2.1)]).holds
    assert not statement.judge([("x", "here", 0.9)]).holds
    with pytest.raises(ValueError, match="nothing can be judged"):
        statement.judge([("x", "here", math.nan)])
    with pytest.raises(ValueError, match="no number"):
        statement.judge([])


def test_the_sums_of_the_series_in_balls() -> None:
    """For one mode T g in closed form; for three the sums come to the enclosed risk, as fast as c^n/(1 - c) sup g."""
    flint = pytest.importorskip("flint")
    sample = Sample("edge", Rational(1, 2), Rational(2))
    with flint.ctx.workprec(300):
        alone = exact_problem(sample, 1, 0.2, 3, 2.0)
        begin, first = enclosed_sums(flint, alone, Fraction(2), 1)
        faded, delta = flint.arb(-4).exp(), flint.arb(2).zeta() - 1
        noise = alone.peak_gamma * ((delta + 3) * (1 - faded) / 2 + 2 * faded)
        assert begin.overlaps((delta + faded) / 2) and (first - begin).overlaps(noise / 2) and first.rad() < 1e-60
        problem = exact_problem(sample, 3, 0.2, 3, 2.0)
        (risk,) = enclosed_risk(flint, problem, [Fraction(2)])
        for terms, total in enumerate(enclosed_sums(flint, problem, Fraction(2), 25)):
            remainder = 0.2 ** (terms + 1) / 0.8 * 0.5 * (flint.arb(2).zeta() + 3)
            assert total < risk < total + 1.0001 * remainder


@pytest.mark.parametrize("name", ["ineq: inf_sum", "best-constants/law-below"])
def test_balls_enclose_and_floats_support(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flint")
    assert verify(claim(name), seed=0).verdict is Verdict.ENCLOSED
    monkeypatch.setitem(sys.modules, "flint", None)
    assert verify(claim(name), seed=23).verdict is Verdict.SUPPORTED  # of other points: those of a seed are remembered


def test_the_supremum_of_the_resolvent_has_its_first_order_and_its_limit() -> None:
    """1 + 2 c kappa at small c, kappa the supremum of (K*K)/(K tr H); at large times 1/(1 - c)^2, for beta = 3/2."""
    small = resolvent_supremum(1.5, 1e6, 1e-4, 1e4)
    assert 1.0 < small < 1.0 + 2.2e-4
    # t^(1/beta - 1) = 0.01 is what is missing at t = 1e6.
    assert resolvent_supremum(1.5, 1e12, 0.2, 1e6) == pytest.approx(1.5625, rel=0.02)


def test_pairs_of_modes_add_up_to_the_trace_and_the_time() -> None:
    # tr(H_M) + t M^(-2 beta), M = 300 and beta = 2: what is missing is of the order log(M)/M.
    assert scaled_ratio(5.0, 2.0, 300) == pytest.approx(math.pi**2 / 6 + 5.0, rel=5e-3)


def test_the_gap_of_the_noise_is_its_quadrature() -> None:
    # rtol 1e-10 is asked of the quadrature; the gap differs by t^(1/beta-1) at t = 1e60 M^beta, below 1e-30.
    sample = Sample("hard", Rational(1, 4), Rational(2))
    point, value = total_gap(sample)[1]
    assert value == pytest.approx(noise_gap(1e60 * 7.0**2, 2.0, float(point["M"])), rel=1e-9)


def test_the_harmonic_risk_is_what_the_sum_gives() -> None:
    ray = zero_rays()[0]
    harmonic = math.fsum(1.0 / j for j in range(1, 2**8 + 1))
    # H_N = log N + 0.577... + 1/(2 N) + ...
    assert math.exp(float(ray.values[0])) == pytest.approx(harmonic, rel=1e-3)


def test_points_are_moved_to_the_range_that_is_checked() -> None:
    inside, outside = ((Rational(value), Rational(2)) for value in (1, 3))
    assert up_to_two(*inside) == inside and up_to_two(*outside) == (Rational(3, 2), 2)
    assert past_two(*outside) == outside and past_two(*inside) == (2, 2)


def test_the_law_that_is_judged_has_the_exponents_that_are_printed() -> None:
    """Its terms are measured as sums; an exponent of the formula that is off tilts them."""
    sample = Sample("easy", Rational(6, 5), Rational(2))
    assert printed_exponents(sample) == pytest.approx(exponents(sample), rel=1e-12)
    stated, rays = functional_law(sample), claim("thm:fsl-const-noise").measure(sample)
    assert dict(stated.exponents) == printed_exponents(sample) and stated.judge(rays).holds
    for name in stated.exponents:
        wrong = {**printed_exponents(sample), name: stated.exponents[name] + 0.03}
        assert not replace(stated, exponents=wrong).judge(rays).holds
