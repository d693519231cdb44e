"""Every side on which a formula has a form of its own has a point at which its claim is checked."""

from dataclasses import replace

import numpy as np
from sympy import Eq, Gt, Lt, Min, Rational

from fsl_num.claims.borders import Sides
from fsl_num.claims.claim import Claim
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.points import PAPER_POINT, points
from fsl_num.claims.registry import claim
from fsl_num.claims.statements import Ray
from fsl_num.claims.verification import verify
from fsl_sym.proof import Formula, all_of, same_order
from fsl_sym.symbols import E, N, beta, p, s

SIZES = np.linspace(1.0, 100.0, 20)


def halves(wrong_below=0.0):
    """A law with a form on each side of beta = 2, and the truth, which may be another for beta < 2."""
    below, above = Formula(E, "~", N**-s, where=Lt(beta, 2)), Formula(E, "~", N ** (-2 * s), where=Gt(beta, 2))

    def measure(sample):
        power = float(sample.s) + wrong_below if sample.beta < 2 else 2 * float(sample.s)
        return [Ray("N", SIZES, {"N": SIZES}, -power * SIZES)]

    def says(sample):
        return order_statement(below if sample.beta < 2 else above, sample)

    return Claim(
        "own/halves", "eqn: fsl-simplified", 883, "two forms", all_of((below, above)), ("beta != 2",),
        measure, says, role="own", moved=lambda s, beta: (s, Rational(5, 2)) if beta == 2 else (s, beta),
    )  # fmt: skip


def test_a_side_without_a_draw_gets_one_in_the_place_of_a_second_on_another():
    chosen = points(halves(), 1, 0)
    assert [len(drawn) for drawn in chosen.values()] == [1, 1, 2]
    assert PAPER_POINT in chosen["hard"]
    assert min(capacity for drawn in chosen.values() for _, capacity in drawn) < 2


def test_what_is_wrong_on_one_side_alone_is_refused():
    assert verify(halves()).passes
    assert not verify(halves(wrong_below=0.05)).passes


def test_wrong_versions_of_both_sides_are_tried():
    (hard,) = (regime for regime in verify(halves()).regimes if regime.regime == "hard")
    assert {mutant.name.rpartition(", ")[2] for mutant in hard.mutants} == {"beta < 2", "beta > 2"}
    assert all(mutant.refuted for mutant in hard.mutants)


def test_a_formula_of_one_form_is_checked_where_it_was():
    plain = replace(halves(), stated=same_order(E, N**-s), moved=lambda s, beta: (s, beta))
    assert all(len(drawn) == (2 if regime == "hard" else 1) for regime, drawn in points(plain, 1, 0).items())


def test_letters_with_values_part_the_plane_too():
    sides = Sides.of(same_order(E, N ** -Min(beta, p + 1)), {p: (1, 2)})
    assert len({sides.at((1, capacity)) for capacity in (Rational(3, 2), Rational(5, 2), 4)}) == 3


def test_a_condition_that_holds_nowhere_is_silent():
    sides = Sides.of(Formula(E, "~", N**-s, where=Lt(s, 1)))
    assert sides.silent((2, 3)) and not sides.silent((Rational(1, 2), 3))


def test_lines_between_sides_are_checked_in_the_full_profile():
    chosen = [point for drawn in points(claim("inverse-sqrt/allocation"), 6, 0).values() for point in drawn]
    assert any(Eq(s, 1).subs(s, point[0]) for point in chosen)
