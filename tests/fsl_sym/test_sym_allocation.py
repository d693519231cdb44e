"""The six optimal allocations against programmes written by hand and solved by an independent method."""

from fractions import Fraction

import pytest
import sym_oracle_laws as oracle
from notebook_views import as_latex
from scipy.optimize import linprog
from sym_oracle_lp import EQUAL, Face
from sympy import Gt, Rational

from fsl_sym.allocation import QUANTITIES, optimal_allocation, table
from fsl_sym.domain import EASINESS, EASY, EDGE, HARD, PLANE, REGIMES
from fsl_sym.exponents.certificate import check
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.order import Order, OrderRange
from fsl_sym.symbols import D, beta, s
from fsl_sym.values import exact

PROBLEMS = [(schedule, budget) for schedule in SCHEDULES for budget in BUDGETS]
POINTS = oracle.points(200, seed=20)


def pair(order):
    if order is None:
        return None
    return tuple(Fraction(int(exponent.p), int(exponent.q)) for exponent in (order.power, order.log_power))


def as_pairs(quantities):
    return {name: (pair(ends.lower), pair(ends.upper)) for name, ends in quantities.items()}


def test_the_points_of_the_comparison_meet_every_regime():
    signs = [EASINESS.subs({s: exact(point[0]), beta: exact(point[1])}) for point in POINTS]
    assert len(POINTS) == 200
    assert sum(sign == 0 for sign in signs) >= 60
    assert min(sum(bool(sign > 0) for sign in signs), sum(bool(sign < 0) for sign in signs)) >= 20
    assert any(0 < abs(sign) < Rational(1, 10**4) for sign in signs)


@pytest.mark.slow
@pytest.mark.parametrize(("schedule", "budget"), PROBLEMS)
def test_every_quantity_agrees_with_the_oracle_at_200_points(schedule, budget):
    allocation = optimal_allocation(schedule, budget)
    for s_value, beta_value in POINTS:
        found = as_pairs(allocation.at(s=s_value, beta=beta_value).quantities)
        assert found == oracle.allocation(schedule, budget, s_value, beta_value), (s_value, beta_value)


@pytest.mark.parametrize(("schedule", "budget"), PROBLEMS)
def test_the_solution_solved_afresh_agrees_with_its_regions(schedule, budget):
    solution = optimal_allocation(schedule, budget).solution
    assert solution.complete
    for s_value, beta_value in POINTS[:5]:
        point = {s: s_value, beta: beta_value}
        exact_point = {s: exact(s_value), beta: exact(beta_value)}
        afresh = solution.at(point)
        (home,) = [region for region in solution.regions if region.contains(point)]
        assert home.loss.subs(exact_point).equals(afresh.loss)
        for symbol, ends in home.variables.items():
            assert as_pairs({"": ends.subs(exact_point)}) == as_pairs({"": afresh.variables[symbol]})
        assert any(check(certificate, exact_point) for certificate in home.certificates)
        assert check(afresh.certificate, exact_point)


@pytest.mark.parametrize(("schedule", "budget"), PROBLEMS)
@pytest.mark.parametrize("index", [0, 1, 5, 6])
def test_the_oracle_agrees_with_a_floating_point_solver(schedule, budget, index):
    """With N^p (log N)^q read as p + q/1000 a pair is one number; a log power off by 0.25 would move it by 2.5e-4."""
    expected = oracle.allocation(schedule, budget, *POINTS[index])
    branches = oracle.branches_of(schedule, budget, *POINTS[index])
    loss = least(branches, oracle.vector(loss=1))
    quantities = {"peak_lr": oracle.PEAK_LR, "model_size": oracle.MODEL, "data_size": oracle.DATA}
    found = {"excess_risk": (loss, loss)}
    for name, weights in quantities.items():
        lower = least(branches, weights, loss)
        upper = least(branches, [-weight for weight in weights], loss)
        found[name] = (lower, None if upper is None else -upper)
    for name, ends in found.items():
        for mine, theirs in zip(expected[name], ends, strict=True):
            # HiGHS: feasible and optimal to 1e-7, magnified by multipliers that stay below 10 in these problems.
            assert (mine is None and theirs is None) or as_number(mine) == pytest.approx(theirs, abs=5e-6), name


def as_number(pair_of_powers):
    return float(pair_of_powers[0] + pair_of_powers[1] / 1000)


def least(branches, objective, ceiling=None):
    """The least value over all branches (None: unbounded) with the loss at most ``ceiling``."""
    values = []
    for rows in branches:
        above = [
            ([-float(number) for number in left], -as_number(right)) for left, sense, right in rows if sense != EQUAL
        ]
        equal = [
            ([float(number) for number in left], as_number(right)) for left, sense, right in rows if sense == EQUAL
        ]
        if ceiling is not None:
            # Twice the feasibility tolerance of HiGHS, so that the optimal face is not cut off by rounding.
            above.append(([1.0] + [0.0] * (len(objective) - 1), ceiling + 2e-7))
        left, right = (list(part) for part in zip(*above, strict=True))
        equal_left, equal_right = (list(part) for part in zip(*equal, strict=True))
        weights = [float(number) for number in objective]
        result = linprog(weights, left, right, equal_left, equal_right, bounds=(None, None))
        if result.status == 0:
            values.append(result.fun)
        elif result.status == 3:
            return None
        else:
            assert result.status == 2  # infeasible
    return min(values)


def test_the_oracle_knows_infeasible_and_unbounded_programmes():
    unit = Fraction(1)
    at_least_one = ([unit], ">=", (unit, Fraction(0)))
    at_most_zero = ([-unit], ">=", (Fraction(0), Fraction(0)))
    almost_one = ([-unit], ">=", (-unit, unit))  # x <= 1 - e
    assert Face([at_least_one], [unit]).value == (1, 0)
    assert not Face([at_least_one, at_most_zero], [unit]).feasible
    assert not Face([at_least_one, almost_one], [unit]).feasible
    assert not Face([at_most_zero], [unit]).bounded
    assert Face([at_least_one], [Fraction(0)]).extremes([unit]) == ((1, 0), None)


@pytest.mark.parametrize(("schedule", "budget"), PROBLEMS)
def test_an_allocation_names_its_regimes_and_quantities(schedule, budget):
    allocation = optimal_allocation(schedule, budget)
    assert (allocation.schedule, allocation.budget, allocation.base) == (schedule, budget, BUDGETS[budget])
    assert [regime.name for regime in allocation.regimes] == ["easy", "edge", "hard"]
    names = ["excess_risk", "peak_lr", "model_size", "data_size"] + ["decay_fraction"] * (schedule == "wsd")
    names += ["steps", "batch_size"]
    for regime in allocation.regimes:
        assert list(regime.quantities) == names
        assert allocation.regime(regime.name) is regime
        assert regime.excess_risk is regime.quantities["excess_risk"].lower
        assert regime.excess_risk.power == regime.quantities["excess_risk"].power
        assert regime.excess_risk.log_power == regime.quantities["excess_risk"].log_power
        for ends in regime.quantities.values():
            for end in (ends.lower, ends.upper):
                assert end is None or (end.power.free_symbols | end.log_power.free_symbols) <= {s, beta}
    assert set(names[1:]) <= set(QUANTITIES)


@pytest.mark.parametrize(("schedule", "budget"), PROBLEMS)
def test_both_neighbours_meet_on_the_edge(schedule, budget):
    """The least loss is continuous in (s, beta) in its power, and here in its power of the logarithm as well."""
    allocation = optimal_allocation(schedule, budget)
    on_the_edge = {s: 1 - 1 / beta}
    edge = allocation.regime("edge").excess_risk.subs(on_the_edge)
    for name in ("easy", "hard"):
        limit = allocation.regime(name).excess_risk.subs(on_the_edge)
        assert limit.power.equals(edge.power)
    assert allocation.regime("easy").excess_risk.subs(on_the_edge).equals(edge)


def test_wsd_gains_a_logarithm_in_the_hard_regime_and_jumps_on_the_edge():
    """In the hard regime the loss has no log power; on the edge it has (beta - 1)^2/beta^2 under a data budget."""
    allocation = optimal_allocation("wsd", "data")
    assert allocation.regime("hard").excess_risk.log_power == 0
    assert allocation.regime("edge").excess_risk.log_power.equals((beta - 1) ** 2 / beta**2)


@pytest.mark.parametrize(
    ("point", "error", "text"),
    [
        ({"s": 0.5, "beta": 4}, TypeError, '0.5 is a float: exact rationals are needed.*"1/2"'),
        ({"s": Rational(1, 2), "beta": 1}, ValueError, "beta = 1 is not above 1"),
        ({"s": -1, "beta": 4}, ValueError, "s = -1 is not positive"),
        ({"s": "half", "beta": 4}, TypeError, "'half' is not an exact rational"),
        ({"s": ["half"] * 99, "beta": 4}, TypeError, r"^.{60} is not an exact rational"),
    ],
)
def test_a_bad_point_is_refused(point, error, text):
    with pytest.raises(error, match=text):
        optimal_allocation("wsd", "data").at(**point)


def test_a_bad_name_is_refused():
    with pytest.raises(ValueError, match="'sine'.*constant, exp-decay, wsd"):
        optimal_allocation("sine", "data")
    with pytest.raises(ValueError, match="'time'.*data or compute"):
        optimal_allocation("wsd", "time")
    with pytest.raises(ValueError, match="'border'.*easy, edge, hard"):
        optimal_allocation("wsd", "data").regime("border")


def test_table_1_has_a_row_for_every_schedule():
    assert [[cell.budget for cell in row] for row in table()] == [["data", "compute"]] * 3
    assert [row[0].schedule for row in table()] == list(SCHEDULES)


def test_an_allocation_shows_itself_as_latex():
    text = as_latex(optimal_allocation("wsd", "data"))
    assert text.startswith("$\\begin{array}") and text.count(r"\\") == 1 + len(REGIMES) - 1
    assert OrderRange(None, None).as_latex(D) == r"\text{any}"
    assert OrderRange(None, Order(1)).as_latex(D) == r"\lesssim D"
    assert OrderRange(Order(1), Order(2)).as_latex(D) == r"\text{from } D \text{ to } D^{2}"
    assert OrderRange(Order(1), Order(1)).as_latex(D) == "D"


def test_the_regimes_of_the_allocation_are_those_of_the_plane():
    assert [regime.condition for regime in optimal_allocation("constant", "data").regimes] == [
        regime.condition for regime in (EASY, EDGE, HARD)
    ]
    assert all(Gt(value, 0) for point in PLANE.sample(5) for value in point.values())


def test_a_range_has_no_single_power():
    gamma = optimal_allocation("exp-decay", "compute").at(s=1, beta=2).quantities["peak_lr"]
    for name in ("order", "power", "log_power"):
        with pytest.raises(ValueError, match="range"):
            getattr(gamma, name)


@pytest.mark.parametrize(("name", "budget"), [("exp-decay", "data"), ("wsd", "compute")])
def test_a_free_last_rate_is_worth_nothing(name, budget):
    """b = a/K is among the optimal last rates: the least risk and its theorems are the same, and b/a may be larger."""
    fixed, free = (optimal_allocation(name, budget, free_final=is_free) for is_free in (False, True))
    for mine, theirs in zip(free.regimes, fixed.regimes, strict=True):
        assert mine.excess_risk == theirs.excess_risk
        ratio, rate = mine.quantities["final_over_peak"], mine.quantities["peak_lr"].lower
        assert ratio.lower is None and ratio.upper.equals(mine.excess_risk / rate)
    assert all(derivation.verify().holds for derivation in free.derivations)
    assert len(free.derivations) == len(fixed.derivations)


@pytest.mark.parametrize("name", ["constant", "linear", "multi-step"])
def test_other_schedules_have_no_last_rate_to_free(name):
    with pytest.raises(ValueError, match="free_final is for exp-decay and wsd"):
        optimal_allocation(name, "data", free_final=True)


def test_an_allocation_prints_every_quantity_of_every_regime():
    found = optimal_allocation("exp-decay", "data")
    text = str(found)
    for regime in found.regimes:
        assert regime.as_text(found.base) in text
        assert str(regime).count("\n") == len(regime.quantities)
        assert len(repr(regime)) < 80
