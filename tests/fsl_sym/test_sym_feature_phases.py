"""The phases of random features against the table of the followers, in their letters."""

import pytest
from sympy import Rational, simplify, symbols

from fsl_sym.feature_phases import EASIER, phase_optimum, phases, solution
from fsl_sym.notations import convert
from fsl_sym.symbols import M, beta, s

ALPHA, BETA = symbols("alpha beta", real=True)
TABLE = {
    "Ia": ((2 * ALPHA + 2 * BETA - 1) / (2 * ALPHA + 1), 1 / (2 * ALPHA + 1)),
    "II": ((2 * ALPHA + 2 * BETA - 1) / (2 * (ALPHA + BETA)), BETA / (ALPHA + BETA)),
    "III": (1 - 1 / (4 * ALPHA), Rational(1, 2)),
}
"""Phase -> the exponents of the least loss and of the best size in the compute, as the followers state them."""
INSIDE = {
    "Ia": ((Rational(3, 4), 0), (1, Rational(1, 4)), (3, Rational(-1, 2))),
    "II": ((Rational(3, 4), Rational(5, 8)), (2, 1), (3, Rational(5, 2))),
    "III": ((Rational(3, 4), 1), (1, 2), (2, 3)),
}
"""Points (alpha, beta) of the followers: beta < 1/2, between 1/2 and alpha, above alpha; all with 2 alpha > 1."""


def ours(alpha, theirs):
    found = convert({"alpha": alpha, "beta": theirs}, "features", "fsl")
    return {s: found["s"], beta: found["beta"]}


@pytest.mark.parametrize("name", TABLE)
def test_the_engine_gives_the_exponents_of_the_table(name):
    phase, (least, size) = phases()[name], TABLE[name]
    translated = {s: (2 * ALPHA + 2 * BETA - 1) / (2 * ALPHA), beta: 2 * ALPHA}
    assert simplify(phase.least.power.subs(translated, simultaneous=True) + least) == 0
    best = phase.region.variables[M]
    assert best.is_point and simplify(best.order.power.subs(translated, simultaneous=True) - size) == 0
    assert phase.least.log_power == 0


@pytest.mark.parametrize("name", INSIDE)
def test_the_phases_lie_where_the_followers_draw_them(name):
    for point in INSIDE[name]:
        at = ours(*point)
        assert [each for each, phase in phases().items() if phase.condition.subs(at)] == [name]
        assert phases()[name].region.contains(at)


def test_the_law_of_easier_tasks_changes_where_two_phases_meet():
    """Beyond s = 1 two regions, and none but them; at their border the exponents agree."""
    there = [each for each in solution(EASIER).regions if each.contains({s: Rational(5, 4), beta: 2})
             or each.contains({s: 2, beta: 2})]  # fmt: skip
    assert len(there) == 2
    border = [phases()[name].least.power.subs(s, 2 - 1 / beta) for name in ("II", "III")]
    assert simplify(border[0] - border[1]) == 0


@pytest.mark.parametrize("name", ["Ia", "III"])
def test_a_phase_with_one_end_is_proved(name):
    (derivation,) = phase_optimum(name)
    assert derivation.prove().conclusion == phases()[name].formula


def test_a_strip_is_not_proved():
    assert phase_optimum("II") == ()
