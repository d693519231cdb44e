"""Statements judge made-up measurements whose truth is known."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Min, sqrt

from fsl_num.claims.formula_laws import growth, order_statement
from fsl_num.claims.statements import (
    CONSTANTS,
    LOG_DRIFT,
    LOG_MUTATION,
    POWER_DRIFT,
    POWER_MUTATION,
    Equivalent,
    Joint,
    Ray,
    Sharp,
)
from fsl_sym.proof import Formula, same_order
from fsl_sym.symbols import E, T, a, s

POWERS = st.floats(-3, 3)


def power_law(exponents, logs):
    return exponents["N"] * logs["N"]


def ray(power, log_power=0.0, constant=0.0, name="to infinity", start=1.0):
    scale = np.linspace(start, 200.0, 30)
    return Ray(name, scale, {"N": scale}, constant + power * scale + log_power * np.log(scale))


def far_ray(power, log_power):
    scale = np.geomspace(1e4, 1e6, 9)
    return Ray("far", scale, {"N": scale}, power * scale + log_power * np.log(scale))


# ---- equivalence up to constants -------------------------------------------------------------------------------------


@given(power=POWERS, constant=st.floats(-20, 20))
def test_a_power_law_is_equivalent_to_itself_whatever_the_constant(power, constant):
    statement = Equivalent(power_law, {"N": power})
    judgement = statement.judge([ray(power, constant=constant)])
    assert judgement.holds
    # the arithmetic of the logarithms, values up to 600
    assert judgement.drift == pytest.approx(0.0, abs=1e-12)
    assert judgement.constants == pytest.approx((np.exp(constant), np.exp(constant)), rel=1e-10)


@given(power=POWERS)
def test_every_mutant_of_a_true_power_law_is_refuted(power):
    mutants = Equivalent(power_law, {"N": power}).mutants()
    moved = [f"N + {POWER_MUTATION}", f"N - {POWER_MUTATION}"]
    assert sorted(mutants) == [*moved, "N over sqrt(log)", "N times sqrt(log)"]
    assert not any(mutant.judge([ray(power)]).holds for mutant in mutants.values())


@given(off=st.floats(-0.2, 0.2).filter(lambda off: abs(abs(off) - POWER_DRIFT) > 1e-9))
def test_the_drift_is_the_error_of_the_exponent(off):
    judgement = Equivalent(power_law, {"N": 1.0 + off}).judge([ray(1.0)])
    assert judgement.drift == pytest.approx(abs(off), abs=1e-12)
    assert not judgement.holds or abs(off) <= POWER_DRIFT


@pytest.mark.parametrize("off", [0.0101, 0.010004, -0.0100001])
def test_a_drift_is_printed_with_the_digits_that_show_that_it_exceeds_the_limit(off):
    scale = np.linspace(1.0, 8.0, 30)  # too short for log log to be what decides
    judgement = Equivalent(power_law, {"N": 1.0 + off}).judge([Ray("short", scale, {"N": scale}, scale)])
    assert not judgement.holds and "log log" not in judgement.detail
    assert float(judgement.detail.split()[1]) > POWER_DRIFT


@given(power=POWERS, log_power=st.floats(0.2, 2).flatmap(lambda p: st.sampled_from([p, -p])), length=st.floats(7, 700))
def test_a_logarithm_is_seen_on_rays_of_any_length(power, log_power, length):
    scale = np.linspace(1.0, length, 30)
    wrong = Ray("with a logarithm", scale, {"N": scale}, power * scale + log_power * np.log(scale))
    judgement = Equivalent(power_law, {"N": power}).judge([wrong])
    assert not judgement.holds
    assert judgement.excess > 1
    # on the longest rays the drift in powers alone would let it pass
    bound = Equivalent(power_law, {"N": power}, direction="upper")
    assert bound.judge([wrong]).holds == (log_power < 0)


def test_constants_of_an_equivalence_are_bounded_over_all_rays_together():
    rays = [ray(1.0), ray(1.0, constant=np.log(CONSTANTS) + 0.1, name="the other")]
    judgement = Equivalent(power_law, {"N": 1.0}).judge(rays)
    assert not judgement.holds
    assert "constants" in judgement.detail
    assert judgement.drift == pytest.approx(0.0, abs=1e-12)
    assert Equivalent(power_law, {"N": 1.0}).judge([ray(1.0), ray(1.0, constant=np.log(CONSTANTS) - 0.1)]).holds
    # a bound may be reached on one ray and be far away on another
    assert Equivalent(power_law, {"N": 1.0}, direction="upper").judge(rays).holds


@pytest.mark.parametrize(("direction", "sign"), [("upper", 1), ("lower", -1)])
def test_a_bound_forbids_one_way_and_its_mutant_is_the_tighter_one(direction, sign):
    statement = Equivalent(power_law, {"N": 1.0}, direction=direction)
    assert statement.judge([ray(1.0 - 0.5 * sign)]).holds
    assert not statement.judge([ray(1.0 + 0.5 * sign)]).holds
    tighter = [f"N {'-' if sign > 0 else '+'} {POWER_MUTATION}", f"N {'over' if sign > 0 else 'times'} sqrt(log)"]
    assert list(statement.mutants()) == tighter
    assert not any(mutant.judge([ray(1.0)]).holds for mutant in statement.mutants().values())


def paths(*, rate_varies):
    """Of E ~ T^-1 + a: each term decides in turn, and where T does a varies too, or not."""
    u = np.linspace(1.0, 40.0, 9)
    rate = -60.0 - (u if rate_varies else 0.0 * u)
    return [
        Ray("T decides", u, {"T": u, "a": rate}, np.logaddexp(-u, rate)),
        Ray("a decides", u, {"T": 99.0 + 0.0 * u, "a": -u}, np.logaddexp(-99.0, -u)),
    ]


@pytest.mark.parametrize("rate_varies", [True, False])
def test_a_letter_in_a_term_that_lacks_it_is_refused_where_it_varies_there(rate_varies):
    law = order_statement(same_order(E, 1 / T + a), SimpleNamespace(s=1, beta=2))
    measured = paths(rate_varies=rate_varies)
    assert law.judge(measured).holds
    wrong = {
        name: not mutant.judge(measured).holds for name, mutant in law.mutants().items() if name.startswith("a in 1/T")
    }
    assert wrong == {"a in 1/T + 0.05": rate_varies, "a in 1/T - 0.05": rate_varies}
    names = [name for name in law.mutants() if name.startswith(("a in a", "T in 1/T"))]
    own = [law.mutants()[name].judge(measured).holds for name in names]
    assert own == 8 * [False]


def test_sums_and_minima_in_exponents_are_no_terms():
    law = order_statement(same_order(E, T ** (-s / (1 + s)) + a ** Min(2, s)), SimpleNamespace(s=1, beta=2))
    assert sorted(law.absent) == ["T in a^Min(2, s)", "a in T^(-s/(s + 1))"]
    nested = order_statement(same_order(E, 1 / T + a * (1 + 1 / T)), SimpleNamespace(s=1, beta=2))
    assert "T in a*(1 + 1/T)" not in nested.absent


def test_the_terms_of_a_bound_are_not_asked_for_letters_that_they_lack():
    law = order_statement(Formula(E, "<~", 1 / T + a), SimpleNamespace(s=1, beta=2))
    assert sorted(law.absent) == ["T in a", "a in 1/T"]
    assert not any(name.startswith(tuple(law.absent)) for name in law.mutants())


def test_constants_of_a_product_are_one_number():
    """Powers of 2 gathered are 2**(3/2), which is a product again: 2 times 2**(1/2)."""
    law = order_statement(same_order(E, 2 * sqrt(2) * T**3), SimpleNamespace(s=1, beta=2))
    assert law.exponents == {"T": 3.0}
    assert law.law(law.exponents, {"T": np.arange(2.0)}) == pytest.approx(1.5 * np.log(2.0) + np.array([0.0, 3.0]))


def test_one_ray_of_several_is_enough_to_fail_and_is_named():
    judgement = Equivalent(power_law, {"N": 1.0}).judge([ray(1.0), ray(0.9, name="the other")])
    assert not judgement.holds
    assert "the other" in judgement.detail


def test_what_fades_before_the_last_half_of_a_ray_is_no_drift():
    scale = np.linspace(1.0, 200.0, 30)
    early = Ray("early", scale, {"N": scale}, scale + 5.0 * np.exp(1.0 - scale))
    judgement = Equivalent(power_law, {"N": 1.0}).judge([early])
    assert judgement.holds
    # but it counts in the constants, which are those of the whole ray
    assert judgement.constants == pytest.approx((1.0, np.exp(5.0)))
    logarithmic = Equivalent(power_law, {"N": 1.0}, logarithmic=True).judge([early])
    assert logarithmic.constants == pytest.approx((1.0, 1.0))  # of the last half, where exp(-100) is left


def test_a_logarithm_looks_like_a_power_only_where_it_does_not_matter():
    assert not Equivalent(power_law, {"N": 1.0}).judge([ray(1.0, log_power=3.0)]).holds
    assert growth(1.0, 0.5).judge([far_ray(1.0, 0.5)]).holds


@given(power=POWERS, log_power=POWERS)
def test_every_mutant_of_a_true_growth_is_refuted(power, log_power):
    mutants = growth(power, log_power).mutants()
    assert f"log power + {LOG_MUTATION}" in mutants
    assert len(mutants) == 4
    assert not any(mutant.judge([far_ray(power, log_power)]).holds for mutant in mutants.values())


def test_a_growth_is_resolved_to_its_tolerance():
    assert growth(1.0, 0.5 + 0.9 * LOG_DRIFT).judge([far_ray(1.0, 0.5)]).holds
    assert not growth(1.0, 0.5 + 1.1 * LOG_DRIFT).judge([far_ray(1.0, 0.5)]).holds


def test_neighbours_move_one_kind_of_exponent():
    statement = growth(1.0, 2.0)
    assert [neighbour.exponents["power"] for neighbour in statement.neighbours("power", 0.1)] == [1.1, 0.9]
    assert [neighbour.exponents["log power"] for neighbour in statement.neighbours("log_power", 0.1)] == [2.1, 1.9]


@pytest.mark.parametrize(
    ("scale", "values"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        ([1.0, 2.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]),
        ([1.0, 2.0, 3.0, 4.0], [1.0, np.nan, 3.0, 4.0]),
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0]),
    ],
)
def test_a_ray_refuses_what_it_cannot_judge(scale, values):
    with pytest.raises(ValueError, match="ray 'bad'"):
        Ray("bad", np.array(scale), {}, np.array(values))


# ---- sharp constants -------------------------------------------------------------------------------------------------


def test_a_sharp_statement_holds_to_its_remainder():
    statement = Sharp(lambda x: 2.0 * x, lambda x: 1.0 / x, {"no factor": lambda x: x})
    measured = [(x, 2.0 * x * (1 + 0.9 / x)) for x in (10.0, 1e3, 1e6)]
    assert statement.judge(measured).holds
    assert not statement.judge([*measured, (1e9, 2e9 * (1 + 1.1e-9))]).holds
    assert not statement.mutants()["no factor"].judge(measured).holds


def test_the_worst_point_of_a_sharp_statement_speaks():
    judgement = Sharp(lambda x: x, 1e-3).judge([(1.0, 1.0), (2.0, 2.2), (3.0, 3.0)])
    assert judgement.excess == pytest.approx(100.0)
    assert "at 2.0" in judgement.detail
    assert judgement.constants == pytest.approx((1.0, 1.1))


def test_the_far_end_of_a_ball_decides():
    flint = pytest.importorskip("flint")
    statement = Sharp(flint.arb, 1e-3, rigorous=True)
    near, wide = statement.judge([(2, flint.arb(2, 1.9e-3))]), statement.judge([(2, flint.arb(2, 2.1e-3))])
    assert near.holds and near.rigorous and not wide.holds
    assert not Sharp(float, 1e-3).judge([(2, 2.0)]).rigorous


# ---- joint statements ------------------------------------------------------------------------------------------------


def test_a_joint_statement_fails_with_any_part_and_mutates_each():
    limit = Sharp(lambda x: x, 1e-6, {"2 x": lambda x: 2 * x})
    statement = Joint({"order": Equivalent(power_law, {"N": 1.0}), "limit": limit})
    good = {"order": [ray(1.0)], "limit": [(1.0, 1.0)]}
    assert statement.judge(good).holds
    assert not statement.judge({**good, "order": [ray(1.1)]}).holds
    failed = statement.judge({**good, "limit": [(1.0, 1.1)]})
    assert not failed.holds
    assert failed.detail.startswith("limit: ")
    mutants = statement.mutants()
    assert "limit: 2 x" in mutants
    assert len(mutants) == 7
    assert not any(mutant.judge(good).holds for mutant in mutants.values())
    assert len(statement.neighbours("power", 0.1)) == 2


@pytest.mark.parametrize("place", [0, 1])
def test_a_law_that_is_not_a_number_is_neither_agreement_nor_refutation(place):
    def broken(exponents, logs):
        return np.where(logs["N"] == 2.125, np.nan, exponents["N"] * logs["N"])  # a law is asked for all rays at once

    rays = [ray(1.0), ray(1.0)]
    rays[place] = ray(1.0, name="broken", start=2.125)
    with pytest.raises(ValueError, match="broken"):
        Equivalent(broken, {"N": 1.0}).judge(rays)


@pytest.mark.parametrize(("claimed", "allowed"), [(np.nan, 0.1), (np.inf * 0, 0.1), (1.0, 0.0), (1.0, np.nan)])
def test_a_sharp_statement_about_no_number_is_not_judged(claimed, allowed):
    with pytest.raises(ValueError, match="nothing can be judged"):
        Sharp(lambda point: claimed, allowed).judge([(1, 1.0), (2, 1.0)])
