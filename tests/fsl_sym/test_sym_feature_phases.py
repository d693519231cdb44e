"""The phases of random features against the table of the followers, in their letters."""

import pytest
from sympy import Rational, simplify, symbols

from fsl_sym.feature_phases import EASIER, TUNED_BUDGET, phase_optimum, phases, solution
from fsl_sym.notations import convert
from fsl_sym.symbols import C, D, M, beta, gamma, s

ALPHA, BETA = symbols("alpha beta", real=True)
TABLE = {
    "Ia": ((2 * ALPHA + 2 * BETA - 1) / (2 * ALPHA + 1), 1 / (2 * ALPHA + 1)),
    "II": ((2 * ALPHA + 2 * BETA - 1) / (2 * (ALPHA + BETA)), BETA / (ALPHA + BETA)),
    "III": (1 - 1 / (4 * ALPHA), Rational(1, 2)),
    "Ib": (ALPHA + BETA - Rational(1, 2), Rational(1, 2)),
    "Ic": (
        -ALPHA * (2 * ALPHA + 2 * BETA - 1) / (ALPHA * (2 * BETA - 3) - 2 * BETA + 1),
        (1 - 2 * ALPHA - 2 * BETA) / (2 * (ALPHA * (2 * BETA - 3) - 2 * BETA + 1)),
    ),
    "IVa": (ALPHA, Rational(1, 2)),
    "IVb": (
        -(1 - 2 * ALPHA) * (2 * ALPHA + 2 * BETA - 1) / (2 * (2 * ALPHA * BETA + ALPHA - 2 * BETA)),
        (ALPHA - BETA) / (2 * ALPHA * BETA + ALPHA - 2 * BETA),
    ),
}
"""Phase -> the exponents of the least loss and of the best size in the compute, as the followers state them."""
INSIDE = {
    "Ia": ((Rational(3, 4), 0), (1, Rational(1, 4)), (3, Rational(-1, 2))),
    "II": ((Rational(3, 4), Rational(5, 8)), (2, 1), (3, Rational(5, 2))),
    "III": ((Rational(3, 4), 1), (1, 2), (2, 3)),
    "Ib": ((Rational(1, 4), Rational(3, 8)), (Rational(2, 5), 0), (Rational(1, 8), Rational(7, 16))),
    "Ic": ((Rational(1, 8), 1), (Rational(1, 5), 3), (Rational(1, 16), Rational(9, 16))),
    "IVa": ((Rational(3, 10), Rational(3, 4)), (Rational(2, 5), 1), (Rational(9, 20), 4)),
    "IVb": ((Rational(13, 50), Rational(3, 4)), (Rational(27, 100), 1), (Rational(29, 100), 4)),
}
"""Points (alpha, beta) of the followers: beta < 1/2, between 1/2 and alpha, above alpha, with 2 alpha > 1; then, with
2 alpha < 1, beta < 1/2, and beta > 1/2 with alpha below 1/4, above 1 - 1/sqrt(2), between these."""


def ours(alpha, theirs):
    """s and beta of ours; the dictionary of notations stops at 2 alpha = 1."""
    if 2 * alpha > 1:
        found = convert({"alpha": alpha, "beta": theirs}, "features", "fsl")
        assert found == {"s": (2 * alpha + 2 * theirs - 1) / (2 * Rational(alpha)), "beta": 2 * alpha}
    return {s: (2 * alpha + 2 * theirs - 1) / (2 * Rational(alpha)), beta: 2 * Rational(alpha)}


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
        holding = [key for key, phase in phases().items() if phase.contains(at) and "tuned" not in key]
        assert holding == [name]
        assert phases()[name].region.contains(at)


def test_the_law_of_easier_tasks_changes_where_two_phases_meet():
    """Beyond s = 1 two regions, and none but them; at their border the exponents agree."""
    there = [region for region in solution(EASIER).regions if region.contains({s: Rational(5, 4), beta: 2})
             or region.contains({s: 2, beta: 2})]  # fmt: skip
    assert len(there) == 2
    border = [phases()[name].least.power.subs(s, 2 - 1 / beta) for name in ("II", "III")]
    assert simplify(border[0] - border[1]) == 0


@pytest.mark.parametrize("name", ["Ia", "III"])
def test_a_phase_with_one_end_is_proved(name):
    (derivation,) = phase_optimum(name)
    assert derivation.prove().conclusion == phases()[name].formula


@pytest.mark.parametrize("name", ["II", "Ib", "IVb"])
def test_a_strip_is_not_proved(name):
    assert phase_optimum(name) == ()


def test_a_tuned_rate_is_the_largest_but_where_the_kernel_remembers_and_the_trace_diverges():
    found = phases()
    for name, law in (("Ib", M ** (-s * beta) + (gamma * D) ** -s), ("Ic", M**-beta + (gamma * D) ** -s)):
        (region,) = solution(law, TUNED_BUDGET, finite_trace=False).regions
        assert simplify(region.loss.power - found[name].least.power) == 0
        gap = region.variables[gamma].order.power - (beta - 1) * region.variables[M].order.power
        assert simplify(gap) == 0
    tuned = found["IV, tuned"]
    assert tuned.region.variables[gamma].order.power.subs({s: 2, beta: Rational(3, 4)}) < (
        (beta - 1) * tuned.region.variables[M].order.power
    ).subs({s: 2, beta: Rational(3, 4)})
    for name in ("IVa", "IVb"):
        for point in INSIDE[name]:
            at = ours(*point)
            assert tuned.contains(at) and tuned.least.power.subs(at) < found[name].least.power.subs(at)
    with_leak = M**-beta + (gamma * D) ** -s + (gamma * D) ** (1 / beta - 1) / M + gamma * (gamma * D) ** (1 / beta - 2)
    free = solution(with_leak, ((M, D, gamma), C, (M * D <= C, gamma <= 1)))
    for name in ("II", "III"):
        at = ours(*INSIDE[name][1])
        (region,) = (region for region in free.regions if region.contains(at))
        assert region.loss.power.subs(at) == found[name].least.power.subs(at)
        assert region.variables[gamma].order.power == 0
