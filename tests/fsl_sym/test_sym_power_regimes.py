"""The regimes of rates that vanish like a power: they cover the plane once, and their signs are proved."""

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer, Rational, oo, simplify

from fsl_sym.power_regimes import PowerRegime, Side, Threshold, sides
from fsl_sym.symbols import beta, p, s
from fsl_sym.values import exact

ROOT = st.fractions(0, 8, max_denominator=24)
POWERS = [Integer(0), Rational(1, 2), Integer(1), Integer(2), p]


@pytest.mark.parametrize("power", POWERS, ids=str)
@examples(60)
@given(difficulty=ROOT, above=ROOT, value=ROOT)
def test_every_point_lies_in_one_regime(power, difficulty, above, value):
    if min(difficulty, above, value) <= 0:
        return
    point = [exact(difficulty), 1 + exact(above), *([exact(value)] if power == p else [])]
    homes = [regime for side in sides(power) for regime in side.regimes if regime.contains(*point)]
    assert len(homes) == 1
    values = dict(zip((s, beta, p), point, strict=False))
    assert homes[0].condition.subs(values) == True  # noqa: E712  (sympy's true)


@pytest.mark.parametrize("regime", [regime for power in POWERS for side in sides(power) for regime in side.regimes],
                         ids=lambda regime: regime.name)  # fmt: skip
def test_samples_lie_inside_and_signs_are_those_at_samples(regime):
    gap = s - regime.side.edge
    assert regime.sign_of(gap) == regime.sign
    for point in regime.points(5):
        values = {beta: Integer(2), **regime.side.where, **point}
        full = {s: point[s], beta: point.get(beta, values[beta])}
        value = [p.subs(regime.side.where).subs(point)] if regime.side.power == p else []
        assert regime.contains(full[s], full[beta], *value)
    if regime.sign == 1:
        assert regime.sign_of(s - Rational(11, 10)) is None


@pytest.mark.parametrize("side", sides(p), ids=lambda side: str(side.condition))
def test_what_is_replaced_comes_back(side):
    if side.sign:
        assert simplify(side.where[p].subs(side.back) - p) == 0


def test_the_exponent_is_the_smaller_of_the_end_and_the_memory():
    below, at, above = sides(Integer(3))
    assert (below.exponent, at.exponent, above.exponent) == (1 - 1 / beta, Rational(3, 4), Rational(3, 4))
    assert above.exponent.subs(beta, 9) < 1 - Rational(1, 9) and below.exponent.subs(beta, 2) < Rational(3, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Side(Integer(-1), 1),
        lambda: Side(Integer(0), -1),
        lambda: Side(Integer(1), 2),
        lambda: Side(oo, 1),
        lambda: PowerRegime(Side(Integer(0), 1), -1),
        lambda: PowerRegime("beta > 2", 1),
        lambda: Threshold(beta - 2, Integer(0)),
        lambda: PowerRegime(Side(p, 1), 1).contains(1, 2),
        lambda: Side(Integer(1), 1).implies(s > 1),
    ],
)
def test_what_is_no_regime_is_refused(wrong):
    with pytest.raises(ValueError, match="must|needs|one regime|not shown|symbol|no relation"):
        wrong()
