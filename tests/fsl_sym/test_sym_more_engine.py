"""Linear programmes by either rule of pivoting, orders as text, and boxes of cells: proofs and exact readings."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from sympy import Matrix, Rational, Symbol

from fsl_sym.derivation import Derivation, Step
from fsl_sym.domain import EASY, HARD, REGIMES, Domain
from fsl_sym.exponents import simplex
from fsl_sym.exponents.solve import OrderRange
from fsl_sym.justifications import Identity, Limit
from fsl_sym.order import Order
from fsl_sym.symbols import D, a, b, beta, s, t

Triple = tuple[Fraction, Fraction, Fraction]


def programme(seed: int, size: int, rows: int) -> tuple[list[list[Fraction]], list[Triple]]:
    """The box of the method, and rows with small whole entries so that many of them tie."""
    draw = random.Random(seed)
    matrix = [[Fraction(sign * (k == i)) for k in range(size)] for sign in (1, -1) for i in range(size)]
    right: list[Triple] = [(Fraction(-1), Fraction(0), Fraction(0))] * (2 * size)
    for _ in range(rows):
        matrix.append([Fraction(draw.randint(-1, 1)) for _ in range(size)])
        right.append((Fraction(0), Fraction(draw.randint(-1, 1)), Fraction(draw.randint(-1, 1))))
    return matrix, right


def proved(matrix: list[list[Fraction]], right: list[Triple], found: simplex.Optimum, goal: list[int]) -> bool:
    """Whether the basis is feasible and optimal, or the row refutes the programme: multipliers, sums, comparisons."""
    basis = Matrix([[Rational(each.numerator, each.denominator) for each in matrix[row]] for row in found.basis])
    bounds = Matrix([[Rational(str(each)) for each in right[row]] for row in found.basis])
    if found.infeasible_row is not None:
        row = Matrix([[Rational(str(each)) for each in matrix[found.infeasible_row]]])
        weights = row * basis.inv()  # row = weights * basis, all at most 0: the row is at most what the basis allows
        most = tuple(weights * bounds)
        return max(weights) <= 0 and tuple(Rational(str(each)) for each in right[found.infeasible_row]) > most
    point = basis.inv() * bounds
    reached = [tuple(Matrix([[Rational(str(each)) for each in row]]) * point) for row in matrix]
    weights = Matrix([goal]) * basis.inv()
    feasible = all(mine >= tuple(Rational(str(x)) for x in bound) for mine, bound in zip(reached, right, strict=True))
    return feasible and min(weights) >= 0


@pytest.mark.parametrize("greedy", [0, 1, 40])
def test_an_optimum_is_proved_by_its_multipliers_under_either_rule(
    greedy: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No turns, one, or all by the most violated row; what is left goes by the rule that cannot cycle."""
    monkeypatch.setattr(simplex, "GREEDY_TURNS", greedy)
    infeasible = 0
    for seed in range(12):
        size = 2 + seed % 2
        matrix, right = programme(seed, size, 4 + seed % 3)
        for coordinate in range(size):
            for maximise in (False, True):
                found = simplex.solve(matrix, right, coordinate, maximise)
                goal = [(-1 if maximise else 1) * int(k == coordinate) for k in range(size)]
                assert proved(matrix, right, found, goal), (seed, coordinate, maximise)
                infeasible += found.infeasible_row is not None
    assert 0 < infeasible < 48


@pytest.mark.parametrize(
    ("order", "text", "shown"),
    [
        (Order(), "1", "1"),
        (Order(1), "D", "D"),
        (Order(0, 1), "(log D)", r"\log D"),
        (Order(2, 3), "D^2 (log D)^3", r"D^{2} (\log D)^{3}"),
        (Order(-1, 1), "D^(-1) (log D)", r"D^{-1} \log D"),
        (Order("1/2", -2), "D^(1/2) (log D)^(-2)", r"D^{\frac{1}{2}} (\log D)^{-2}"),
        (Order(s), "D^s", "D^{s}"),
        (Order(-s * beta), "D^(-beta*s)", r"D^{- \beta s}"),
    ],
    ids=str,
)
def test_an_order_as_text_and_as_latex(order: Order, text: str, shown: str) -> None:
    assert order.as_text(D) == text and order.as_latex(D) == shown
    size = Rational(7)
    assert order.as_expr(D).subs({s: 2, beta: 3, D: size}) == size ** order.power.subs({s: 2, beta: 3}) * (
        Order(0, order.log_power).as_expr(D).subs(D, size)
    )


def test_ranges_as_text() -> None:
    one, two = Order(1), Order(2)
    assert OrderRange(one, one).as_text(D) == "D" and OrderRange(one, two).as_text(D) == "from D to D^2"
    assert OrderRange(None, two).as_text(D) == "at most D^2" and OrderRange(None, None).as_text(D) == "anything"
    ends = OrderRange(Order(s), Order(beta))
    assert not ends.is_point and ends.subs({s: 3, beta: 3}).is_point
    assert ends.subs({s: 3, beta: 3}).power == 3 and OrderRange(Order(1, 2), Order(1, 2)).log_power == 2
    assert not OrderRange(Order(1, 2), Order(1, 3)).is_point


def test_orders_that_cannot_be_compared_in_one_place_are_in_another() -> None:
    half = Rational(1, 2)
    assert Order(-s).compare(Order(-half)) is None
    assert Order(-s, 5).compare(Order(-s, 4)) == 1 and Order(-s, 4).compare(Order(-s, 5)) == -1
    assert Order(-s).compare(Order(-2 * s), EASY) == 1 and Order(-s).compare(Order(-1), HARD) == 1
    assert [Order(0, s).compare(Order(0, 1 - 1 / beta), each) for each in REGIMES] == [1, 0, -1]


@pytest.mark.parametrize(("ranges", "inside"), [
    ((0, 1), (Fraction(1, 2),)), ((2, None), (Fraction(5, 2),)), ((None, -1), (Fraction(-3),)),
    ((None, None), (Fraction(0),)),
])  # fmt: skip
def test_samples_reach_several_scales_inside_the_range(ranges: tuple[object, object], inside: tuple[Fraction]) -> None:
    x = Symbol("x")
    box = Domain({x: ranges})
    values = [point[x] for point in box.sample(200)]
    assert box.contains({x: inside[0]}) and all(box.contains({x: value}) for value in values)
    assert len(set(values)) > 50
    lower, upper = ranges
    if lower is None and upper is None:
        assert min(values) < -1 and max(values) > 1
    elif upper is None or lower is None:
        gaps = [abs(value - Fraction(int(lower if upper is None else upper))) for value in values]  # type: ignore[call-overload]
        assert min(gaps) < Fraction(1, 10) and max(gaps) > 10
    for end in ranges:
        assert end is None or not box.contains({x: Fraction(int(end))})  # type: ignore[call-overload]


@pytest.mark.parametrize("ends", [(1, 2), (-1, 1), (-3, -2), (Fraction(1, 3), Fraction(1, 2))])
def test_signs_are_known_up_to_both_ends_and_no_further(ends: tuple[int, int]) -> None:
    x = Symbol("x")
    box, (lower, upper) = Domain({x: ends}), (Rational(str(end)) for end in ends)
    middle = (lower + upper) / 2
    assert box.sign(x - lower) == 1 and box.sign(upper - x) == 1 and box.sign((x - lower) * (x - upper)) == -1
    for inside in (middle, lower + (upper - lower) / 100, upper - (upper - lower) / 100):
        assert box.sign(x - inside) is None


def test_a_chain_names_the_step_that_breaks_it() -> None:
    first = Step(a + a, 2 * a, "identity", "add", Identity())
    wrong = Step(2 * a, 3 * a, "identity", "a slip", Identity())
    after = Step(3 * a, a * 3, "identity", "the same", Identity())
    verdict = Derivation("x", "X", (first, wrong, after)).verify()
    assert not verdict.holds and verdict.detail.startswith("step 1: ") and "step 2" not in verdict.detail
    assert [each.holds for each in verdict.steps] == [True, False, True]
    broken = Derivation("x", "X", (first, after)).verify()
    assert broken.detail == "step 1 does not begin where step 0 ended" and all(each.holds for each in broken.steps)
    text = str(Derivation("x", "Title", (first, wrong), ("a > 0",), "source"))
    assert text.splitlines() == [
        "Title (x)", "  assumes a > 0", "  2*a", "    = 2*a    [identity: add]", "    = 3*a    [identity: a slip]",
    ]  # fmt: skip
    limit = Step(1 + b / t, 1 + 0 * b, "limit", "t grows", Limit(t, Symbol("x")))
    assert limit.relation == "->" and str(limit).splitlines()[1] == "  -> 1"
    assert repr(Derivation("x", "Title", (first,))) == "<Derivation 'Title': 1 steps>"
