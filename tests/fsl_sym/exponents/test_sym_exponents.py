"""The exponent engine against an oracle: random laws, and laws whose regions are awkward."""

from fractions import Fraction

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from notebook_views import as_latex
from sym_random_laws import PARAMETERS, VARIABLES, Group, Monomial, N, RandomLaw, laws, number
from sympy import And, Eq, Integer, Max, Min, Rational, Symbol, log, symbols

from fsl_sym.domain import Domain
from fsl_sym.exponents.certificate import check
from fsl_sym.exponents.law import Law
from fsl_sym.exponents.solve import ExponentSolution, optimal_exponents, optimal_exponents_at
from fsl_sym.order import Order, OrderRange

FEW = examples(20)
"""Each example is a law solved from scratch, some hundredths of a second."""

RANGES = ((0, None), (0, 1), (None, 2), (Fraction(-1, 2), None))
M, D, gamma, r, fifth = VARIABLES
alpha, lam, S = PARAMETERS


def fractions_of(order):
    if order is None:
        return None
    return tuple(Fraction(int(exponent.p), int(exponent.q)) for exponent in (order.power, order.log_power))


def found_at(region, variables):
    ranges = [region.variables[variable] for variable in variables]
    return fractions_of(region.loss), [(fractions_of(ends.lower), fractions_of(ends.upper)) for ends in ranges]


def compare(law, ask, point):
    """The engine's answer at one point, or its refusal, against the oracle's; the region where there is one."""
    value, ranges = law.oracle(point)
    try:
        region = ask()
    except ValueError as error:
        told = str(error)
        assert (value is None and "no choice of the variables" in told) or (
            value == "unbounded" and "as small as one likes" in told
        ), (value, told)
        return None
    assert found_at(region, law.variables) == (value, ranges)
    return region


@FEW
@given(laws())
def test_a_random_law_without_parameters_agrees_with_the_oracle(law):
    def ask():
        solution = optimal_exponents(law.loss(), law.variables, N, law.constraints())
        assert solution.complete
        (region,) = solution.regions
        return region

    region = compare(law, ask, {})
    if region is not None:
        assert region.conditions == ()
        assert check(region.certificate, {})


@FEW
@given(laws(PARAMETERS[:2], most=3), st.tuples(st.sampled_from(RANGES), st.sampled_from(RANGES)), st.integers(0, 9))
def test_a_random_law_with_parameters_agrees_with_the_oracle_at_points(law, ranges, seed):
    domain = Domain(dict(zip(PARAMETERS, ranges, strict=False)))
    solution = ExponentSolution(Law(law.loss(), law.variables, N, tuple(law.constraints()), domain), (), False)
    points = domain.sample(4, seed)
    # On a line where two exponents often tie, and where a basis met before may have a pole.
    points.append({**points[0], alpha: points[0][lam]})
    for point in points:
        if domain.contains(point):
            region = compare(law, lambda point=point: solution.at(point), point)
            if region is not None:
                assert check(region.certificate, {symbol: number(value) for symbol, value in point.items()})


# ---- laws whose walls are awkward ------------------------------------------------------------------------------------


def monomial(power=0, log_power=0, **exponents):
    """Exponents by variable name: a number, a symbol, or a pair (number, symbol)."""
    entries = []
    for variable in VARIABLES:
        entry = exponents.get(variable.name, 0)
        if isinstance(entry, Symbol):
            entry = (1, entry)
        entries.append(entry if isinstance(entry, tuple) else (Fraction(entry), None))
    return Monomial(tuple((Fraction(value), symbol) for value, symbol in entries), Fraction(power), Fraction(log_power))


def plain(*monomials):
    return tuple((monomial, ()) for monomial in monomials)


def least_one(*names):
    return tuple((monomial(**{name: -1}), False) for name in names)


ONE = monomial(power=1)
# Variables that a law does not name are free: the oracle and the engine have to say so.
TIED = {
    "model and data": RandomLaw(
        5, plain(monomial(M=(-1, alpha)), monomial(D=(-1, lam))), ((monomial(M=1, D=1, power=-1), True),), ()
    ),
    "one bound becomes active": RandomLaw(
        5,
        plain(monomial(M=(-1, alpha)), monomial(D=(-1, lam)), monomial(gamma=(-1, S), log_power=1)),
        ((monomial(M=1, D=1, gamma=1, power=-1), True), (monomial(D=1, M=-2), False)),
        (),
    ),
    "five variables and a minimum": RandomLaw(
        5,
        (
            (monomial(M=(-1, alpha)), ()),
            (monomial(gamma=(-1, lam), D=(-1, lam)), ()),
            (monomial(gamma=1, x_5=-1), (Group("min", (monomial(M=1), monomial(D=Fraction(1, 2))), Fraction(1)),)),
        ),
        (
            (monomial(M=1, D=1, power=-1), True),
            (monomial(gamma=1), False),
            (monomial(x_5=1, r=-1), False),
            (monomial(r=1, power=Fraction(-1, 4)), False),
            *least_one("M", "D", "r", "x_5"),
        ),
        (),
    ),
    "parts of a whole": RandomLaw(
        5,
        plain(monomial(gamma=(-1, alpha), D=(-1, alpha)), monomial(r=(-1, lam), D=-1, log_power=2), monomial(M=-1)),
        ((monomial(D=1, M=1, power=-1), True),),
        (Group("sum", (monomial(gamma=1), monomial(r=1)), Fraction(1)),),
    ),
}
PARAMETERS_OF = {"one bound becomes active": 3}


@pytest.mark.parametrize("name", TIED)
def test_regions_cover_do_not_overlap_and_hold_what_the_oracle_says(name):
    law = TIED[name]
    parameters = {parameter: (0, None) for parameter in PARAMETERS[: PARAMETERS_OF.get(name, 2)]}
    solution = optimal_exponents(law.loss(), law.variables, N, law.constraints(), parameters)
    points = solution.law.domain.sample(10, seed=3)
    points += [
        {parameter: Fraction(int(value)) for parameter, value in zip(parameters, ends, strict=False)} for ends in ENDS
    ]
    points += [
        {parameter: Fraction(int(value.p), int(value.q)) for parameter, value in region.witness.items()}
        for region in solution.regions
    ]
    for point in points:
        homes = [region for region in solution.regions if region.contains(point)]
        assert len(homes) == 1, (point, [region.condition for region in solution.regions])
        exact_point = {parameter: number(value) for parameter, value in point.items()}
        value, ranges = law.oracle(point)
        (home,) = homes
        assert fractions_of(home.loss.subs(exact_point)) == value
        told = [home.variables[variable].subs(exact_point) for variable in law.variables]
        assert [(fractions_of(ends.lower), fractions_of(ends.upper)) for ends in told] == ranges
        if solution.complete:
            assert any(check(certificate, exact_point) for certificate in home.certificates)


ENDS = ((1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 2, 3))


def test_each_certificate_holds_at_its_witness():
    law = TIED["one bound becomes active"]
    solution = optimal_exponents(
        law.loss(), law.variables, N, law.constraints(), {parameter: (0, None) for parameter in PARAMETERS}
    )
    assert solution.complete
    assert {region.loss.power for region in solution.regions} == {
        -alpha * lam * S / (alpha * lam + lam * S + alpha * S),
        -2 * lam * S / (2 * lam + 3 * S),
    }
    for region in solution.regions:
        for certificate in region.certificates:
            assert check(certificate, certificate.witness)


def test_model_and_data_under_their_product():
    scale, C, a, b = symbols("A C a b", positive=True)
    solution = optimal_exponents(scale * M**-a + 3 * D**-b, [M, D], C, [Eq(M * D, C)], {a: (0, None), b: (0, None)})
    (region,) = solution.regions
    assert solution.complete and region.conditions == ()
    assert region.loss.equals(Order(-a * b / (a + b)))
    assert region.variables[M].lower.equals(Order(b / (a + b))) and region.variables[M].is_point
    assert region.variables[D].upper.equals(Order(a / (a + b))) and region.variables[D].is_point


def test_a_wall_that_is_a_product_of_parameters():
    a, b, c = symbols("a b c")
    loss = M * Min(N ** (-a * b), N**-c)
    solution = optimal_exponents(loss, [M], N, [M >= 1], {parameter: (0, None) for parameter in (a, b, c)})
    assert solution.complete
    assert {region.loss.power for region in solution.regions} == {-a * b, -c}
    for region in solution.regions:
        assert region.condition.free_symbols == {a, b, c}


def test_a_wall_without_rational_points_is_met_from_both_sides():
    a = Symbol("a")
    solution = optimal_exponents(M * Min(N ** (-(a**2)), N**-2), [M], N, [M >= 1], {a: (0, None)})
    assert not solution.complete  # no exact point on the wall itself: what holds there was not seen
    assert {region.loss.power for region in solution.regions} == {-(a**2), -2}
    for value in (Rational(7, 5), Rational(10, 7)):
        (home,) = [region for region in solution.regions if region.contains({a: value})]
        assert home.loss.subs({a: value}).equals(solution.at({a: value}).loss)


def test_three_regions_meet_in_a_point():
    a, b = symbols("a b")
    solution = optimal_exponents(M * (N**a + N**b + N), [M], N, [M >= 1], {a: (None, None), b: (None, None)})
    assert solution.complete
    assert {region.loss.power for region in solution.regions} == {a, b, 1}
    for x in (0, 1, 2):
        for y in (0, 1, 2):
            (home,) = [region for region in solution.regions if region.contains({a: x, b: y})]
            assert home.loss.subs({a: x, b: y}).power == max(x, y, 1)


def test_a_variable_that_does_not_matter_is_free():
    solution = optimal_exponents(1 / M, [M, D, gamma], N, [M <= N, D >= 1])
    (region,) = solution.regions
    assert region.variables[gamma] == OrderRange(None, None)
    assert region.variables[D] == OrderRange(Order(0), None)
    assert not region.variables[D].is_point and region.variables[M].is_point


def test_branches_that_tie_on_an_open_set():
    a = Symbol("a")
    loss = Min(M * N**a, D * N**a) + 1 / M
    solution = optimal_exponents(loss, [M, D], N, [Eq(M, D)], {a: (-1, None)})
    assert solution.complete
    (region,) = solution.regions
    assert region.loss.equals(Order(a / 2))
    assert region.variables[M].is_point and region.variables[M].lower.equals(region.variables[D].lower)


def test_a_range_opens_on_a_wall_only():
    """M^(a - 1) does not depend on M at a = 1: a range there, one end on either side."""
    a = Symbol("a")
    solution = optimal_exponents(M ** (a - 1), [M], N, [M >= 1, M <= N], {a: (0, None)})
    assert solution.complete
    ends = {value: solution.at({a: value}).variables[M] for value in (Rational(1, 2), Rational(1), Rational(3, 2))}
    assert ends == {
        Rational(1, 2): OrderRange(Order(1), Order(1)),
        Rational(1): OrderRange(Order(0), Order(1)),
        Rational(3, 2): OrderRange(Order(0), Order(0)),
    }
    for value, expected in ends.items():
        (home,) = [region for region in solution.regions if region.contains({a: value})]
        assert home.variables[M].subs({a: value}) == expected


@pytest.mark.parametrize("name", ["lambda", "I", "E", "S", "N", "no_parameter", "x y", "u", "beta"])
def test_a_parameter_may_have_any_name(name):
    parameter = Symbol(name)
    budget = Symbol("C", positive=True)
    (region,) = optimal_exponents(
        M**-parameter + D**-2, [M, D], budget, [Eq(M * D, budget)], {parameter: (0, 1)}
    ).regions
    assert region.loss.equals(Order(-2 * parameter / (2 + parameter)))


def test_a_region_names_its_own_budget():
    """N is a common letter for parameters: the budget of a law in it must not be printed as N."""
    size, data, compute = symbols("N D C", positive=True)
    law = (size ** Rational(-1, 2) + data ** Rational(-1, 3), [size, data], compute, [Eq(6 * size * data, compute)])
    shown = "everywhere: loss C^(-1/5), N C^(2/5), D C^(3/5)"
    assert str(optimal_exponents(*law).regions[0]) == str(optimal_exponents(*law).at()) == shown
    assert str(optimal_exponents_at(*law)) == shown


def test_log_powers_follow_powers():
    (region,) = optimal_exponents(log(N) / M + log(N) ** -2 / D, [M, D], N, [Eq(M * D, N)]).regions
    assert region.loss.equals(Order(Rational(-1, 2), Rational(-1, 2)))
    assert region.variables[M].lower.equals(Order(Rational(1, 2), Rational(3, 2)))


def test_maxima_and_sums_are_one():
    of_sum = optimal_exponents(1 / M + M / (M + D), [M, D], N, [D <= N]).regions[0]
    of_maximum = optimal_exponents(1 / M + M / Max(M, D), [M, D], N, [D <= N]).regions[0]
    assert of_sum.loss == of_maximum.loss == Order(Rational(-1, 2))


def test_a_solution_shows_itself_as_latex():
    solution = optimal_exponents(1 / M + 1 / D, [M, D, r], N, [Eq(M * D, N), r <= 1])
    text = as_latex(solution)
    assert r"\text{loss}" in text and text.startswith("$") and text.endswith("$")
    assert solution.regions[0].condition == And()


def test_a_basis_met_before_may_be_singular_elsewhere():
    """M^a D^b = N with the loss 1/M + 1/D: bases divide by a, by b or by a + b, and b and a + b vanish."""
    a, b = symbols("a b")
    solution = optimal_exponents(
        1 / M + 1 / D, [M, D], N, [Eq(M**a * D**b, N), M <= N**3, D <= N**3], {a: (Rational(1, 2), 2), b: (-2, 2)}
    )
    for x in (Rational(3, 4), Integer(1), Rational(3, 2)):
        for y in (Integer(0), -x / 2, -x * Rational(999, 1000), Rational(1), -Rational(1, 3), Rational(-1, 2)):
            # The lesser of both exponents, by hand: D = N^d, M = N^((1 - b d)/a).
            corners = [Integer(3), (1 - 3 * x) / y if y else Integer(3), 1 / (x + y) if x + y else Integer(3)]
            values = [min(d, (1 - y * d) / x) for d in corners if d <= 3 and (1 - y * d) / x <= 3]
            value = -max(values)
            assert solution.at({a: x, b: y}).loss.power == value
            (home,) = [region for region in solution.regions if region.contains({a: x, b: y})]
            assert home.loss.subs({a: x, b: y}).power == value
