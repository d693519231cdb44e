"""What the exponent engine refuses, and in which words."""

import pytest
from notebook_views import as_latex
from sym_random_laws import VARIABLES, N
from sympy import And, Eq, Float, Ge, I, Le, Min, Ne, Rational, Symbol, exp, log, nan, oo, sqrt, symbols

from fsl_sym.domain import EASY, Domain, decide
from fsl_sym.exponents.certificate import check
from fsl_sym.exponents.solve import optimal_exponents
from fsl_sym.order import Order

M, D, _, r, _ = VARIABLES
a, b = symbols("a b")
TIE = [Eq(M * D, N)]
POSITIVE = {a: (0, None)}


def refused(error, text, loss, variables=(M, D), budget=N, constraints=TIE, parameters=None):
    with pytest.raises(error, match=text):
        optimal_exponents(loss, variables, budget, constraints, parameters)


@pytest.mark.parametrize(
    ("loss", "constraints", "parameters", "exact"),
    [
        (M**-0.5 + 1 / D, TIE, None, "-1, 2"),
        (M ** (-0.5 * a) + 1 / D, TIE, POSITIVE, "-1, 2"),
        (log(N) ** 0.5 / M + 1 / D, TIE, None, "1, 2"),
        ((M + D) ** -1.5, TIE, None, "-3, 2"),
        (1 / M + 1 / D, [*TIE, M <= N**0.3], None, "-?3, 10"),
        (1 / M + D ** Float("0.25", 30), TIE, None, "1, 4"),
    ],
)
def test_a_float_in_an_exponent_is_refused(loss, constraints, parameters, exact):
    words = rf"contains a float: .* exact exponents.*Rational\({exact}\)"
    refused(TypeError, words, loss, (M, D), N, constraints, parameters)


def test_a_float_as_a_constant_is_only_a_constant():
    (region,) = optimal_exponents(2.5 / M + 1 / D, [M, D], N, TIE).regions
    assert region.loss.power == Rational(-1, 2)


def test_a_float_as_a_range_is_refused():
    refused(
        ValueError,
        r"range of a must be .* exact rationals or None, not \(0.5, None\)",
        M**-a,
        parameters={a: (0.5, None)},
    )


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (1 / M - 1 / D, "the term -1/D is negative: differences have no growth order"),
        (M * (1 - r), r"the term -r is negative.*for 1 - r take a new variable q with the constraint Eq\(q \+ r, 1\)"),
        (1 - 2 * M, r"the term -2\*M is negative"),
        (log(M) / D, r"log\(M\) has no growth order: .*; of a power of N it is log\(N\) up to constants"),
        (log(2 / N) / D, r"log\(2/N\) has no growth order"),
        (log(log(N)) / D, r"log\(log\(N\)\) has no growth order"),
        (log(M * N) / D, r"log\(M\*N\) has no growth order"),
        (exp(-M), r"exp\(-M\) has an exponent that varies.*exponentials grow or fall faster"),
        (1 - exp(-M / D), r"exp\(-M/D\) has an exponent that varies.*only power laws have a growth order"),
        (M ** -Min(a, b) + 1 / D, r"-Min\(a, b\) is not a rational function.*N\*\*Min\(a, b\) is Min\(N"),
        (N**M, r"N\*\*M has an exponent that varies with the budget"),
        (M**-b + 1 / D, r"the exponent -b is not a rational function of the parameters \(\).*declare every symbol"),
        (M ** -sqrt(2) + 1 / D, r"the exponent -sqrt\(2\) is not a rational function"),
        (b / M + 1 / D, "the coefficient b is not known to be positive.*declare the symbol positive"),
        (oo * M, "the coefficient oo is not known to be positive"),
        (I * M + D, "the coefficient I is not known to be positive"),
        (0, "the coefficient 0 is not known to be positive"),
    ],
)
def test_a_law_without_growth_order_is_refused(loss, text):
    refused(ValueError, text, loss, (M, D, r) if loss != 0 and r in getattr(loss, "free_symbols", ()) else (M, D))


def test_what_is_no_number_is_no_law():
    refused(TypeError, "nan is no number", nan, (M, D))


def test_a_sum_under_a_power_of_unknown_sign_is_refused():
    for ranges in ((None, None), (-1, 1)):
        refused(
            ValueError,
            r"the sign of the exponent a of the sum or minimum D \+ M is not known.*narrow the ranges",
            (M + D) ** a + 1 / D,
            parameters={a: ranges},
        )
    assert optimal_exponents((M + D) ** a, [M, D], N, TIE, {a: (0, 1)}).regions[0].loss.power == a / 2


def test_an_exponent_that_may_be_infinite_is_refused():
    refused(
        ValueError, r"may be infinite.*narrow them so that a - 1 has one sign", M ** (-1 / (a - 1)), parameters=POSITIVE
    )


def test_a_loss_without_a_least_value_is_refused():
    refused(
        ValueError,
        "1/M can be made as small as one likes.* ties the variables .* is missing, or one that bounds them .as M >= 1:",
        1 / M + 0 * D,
        constraints=(),
    )
    refused(ValueError, "at a = ", M**-a * D, constraints=[D <= N], parameters=POSITIVE)


def test_constraints_that_contradict_each_other_are_refused():
    refused(
        ValueError,
        "no choice of the variables satisfies the constraints .* at all points: drop one",
        1 / M,
        constraints=[M <= 1 / N, M >= N],
    )
    refused(
        ValueError,
        "at a = .* or narrow the ranges of the parameters",
        1 / M,
        constraints=[M <= 1, M >= N**a],
        parameters=POSITIVE,
    )


@pytest.mark.parametrize("constraint", [Ne(M, D), M * D, False, 3])
def test_what_is_no_relation_is_refused(constraint):
    refused(TypeError, "not a constraint", 1 / M, constraints=[constraint])


def test_text_is_refused_and_never_evaluated(tmp_path):
    refused(TypeError, "'1/M' is text", "1/M")
    trace = tmp_path / "trace"
    command = f"__import__('pathlib').Path({str(trace)!r}).touch()"
    refused(TypeError, "is text", command)
    for constraint in ("M <= N", command):
        refused(TypeError, "is text", 1 / M, constraints=[constraint])
    refused(TypeError, "is not a sympy Symbol", 1 / M, [command])
    refused(ValueError, "range of a must be", 1 / M, parameters={a: (command, None)})
    solution = optimal_exponents(M**-a, [M], N, [M <= N], {a: (0, None)})
    for ask in (solution.at, solution.regions[0].contains, lambda point: check(solution.regions[0].certificate, point)):
        with pytest.raises(TypeError, match="not an exact rational number"):
            ask({a: command})
    with pytest.raises(TypeError, match="is text"):
        Domain({a: (0, 1)}).sign(command)
    with pytest.raises(TypeError, match="is text"):
        decide(command, EASY)
    assert not trace.exists()


def test_logarithms_of_multiples_and_powers_of_the_budget_are_its_logarithm():
    plain = optimal_exponents(log(N) / M + 1 / D, [M, D], N, TIE).regions
    for argument in (N**2, 3 * N, sqrt(N) / 7, N + 1, N**a, Min(N, N**2), N * log(N)):
        assert optimal_exponents(log(argument) / M + 1 / D, [M, D], N, TIE, POSITIVE).regions[0].loss == plain[0].loss
    refused(ValueError, "has no growth order", log(N**a) / M, parameters={a: (None, 1)})


def test_what_has_an_order_is_positive():
    """sympy writes |log N| for the square root of a square of the logarithm, whose sign it does not know."""
    whole = optimal_exponents((log(N) ** 2 * M) ** Rational(2, 3) + N / M, [M], N).regions[0]
    assert whole.loss == Order("2/5", "4/5")
    letter = Symbol("x")
    assert optimal_exponents(abs(letter) + N / abs(letter), [letter], N).regions[0].loss == Order("1/2")
    refused(ValueError, "coefficient -1 is not known to be positive", abs(M - 1) + N / M)


def test_a_side_without_an_order_is_refused_with_what_to_write():
    for constraint in (Eq(M * D - N, 0), Ge(M, 0, evaluate=False), Le(M, oo, evaluate=False)):
        refused(ValueError, r"write Eq\(M\*D, N\) for", 1 / M + 1 / D, constraints=[constraint])
    refused(ValueError, "put a parameter in the place of an irrational number", M ** -sqrt(2))


def test_one_variable_or_one_constraint_needs_no_list():
    expected = optimal_exponents(1 / M, [M], N, [M >= 1, M <= N]).regions
    assert optimal_exponents(1 / M, M, N, And(M >= 1, M <= N)).regions == expected
    assert optimal_exponents(1 / M, M, N, M <= N).regions[0].loss == expected[0].loss
    refused(TypeError, "variables must be a list, not 3", 1 / M, 3)
    refused(TypeError, "constraints must be a list, not 3", 1 / M, constraints=3)


def test_odd_laws_are_noted():
    floor = optimal_exponents(Rational(169, 100) + M**-a + 1 / D, [M, D], N, TIE, POSITIVE)
    (note,) = floor.notes
    assert "the constant term 169/100" in note and note in str(floor) and "169/100" in as_latex(floor)
    forgotten = optimal_exponents(1 / M + 1 / D, [M], N, TIE)
    assert any("D stands with the budget in Eq(D*M, N)" in note for note in forgotten.notes)
    assert optimal_exponents(1 / M + 1 / D, [M, D], N, TIE).notes == ()
    assert "note" not in str(optimal_exponents(1 / M + 1 / D, [M, D], N, TIE))


def test_a_constraint_that_always_holds_is_none():
    assert optimal_exponents(1 / M, [M], N, [M <= N, M > 0]).regions[0].loss.power == -1


def test_what_is_no_symbol_is_refused():
    refused(TypeError, "'M' is not a sympy Symbol: variables and budget must be symbols", 1 / M, ("M",))
    refused(TypeError, "'N' is not a sympy Symbol", 1 / M, (M,), "N")
    refused(TypeError, "a parameter must be a sympy Symbol, not 'a'", 1 / M, parameters={"a": (0, 1)})
    refused(TypeError, "parameters must be a mapping symbol -> ", 1 / M, parameters=[a])
    refused(ValueError, "no variables given", 1 / N, ())
    refused(ValueError, "used twice", 1 / M, (M, M))
    refused(ValueError, "used twice", 1 / M, (M, D), M)


def test_a_symbol_made_twice_is_refused():
    """Without this the other M would be taken for a constant, and the answer would be silently wrong."""
    homonym = Symbol("M")
    refused(
        ValueError,
        "uses a symbol M that is not the M among variables.*make it once",
        1 / M + 1 / D,
        (homonym, D),
        N,
        [D <= N],
    )
    refused(ValueError, "uses a symbol a", M**-a, parameters={Symbol("a", positive=True): (0, None)})
    refused(ValueError, "uses a symbol N", 1 / M, constraints=[M <= Symbol("N")])


def test_at_needs_every_parameter_and_no_other():
    solution = optimal_exponents(M**-a + D**-b, [M, D], N, TIE, {a: (0, None), b: (0, 1)})
    good = {a: Rational(1, 3), b: Rational(1, 2)}
    assert solution.at(good).loss.power == Rational(-1, 5)
    for point in (None, {}, {a: 1}, {**good, Symbol("c"): 1}, {"a": 1, "b": Rational(1, 2)}):
        with pytest.raises(ValueError, match=r"must give a value to each of the parameters \(a, b\)"):
            solution.at(point)
    with pytest.raises(TypeError, match="0.5 is a float"):
        solution.at({a: 1, b: 0.5})
    with pytest.raises(ValueError, match="lies outside the ranges"):
        solution.at({a: 1, b: 1})


def test_whether_a_region_contains_a_point_needs_every_parameter():
    solution = optimal_exponents(M**-a + M**b / N, [M], N, [M <= N], {a: (0, None), b: (0, None)})
    region = solution.regions[0]
    assert region.contains(dict(region.witness))
    for point in ({a: 1}, {}, {"a": 1, "b": 1}):
        with pytest.raises(ValueError, match="gives no value to"):
            region.contains(point)
