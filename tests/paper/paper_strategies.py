"""What hypothesis draws for a claim: exact points (s, beta) of its own regimes, small fractions first.

They shrink to the fractions with the smallest denominators. What is drawn, and why not more:

- 4/3 <= beta <= 6, as in :meth:`fsl_sym.domain.Regime.samples`: below, sums over features settle like M^-(beta-1), and
  the rays of "eqn: fsl-simplified" (refused at beta = 13/12) are too short;
- off the edge s = 1 - 1/beta at least a twelfth of the regime away from its ends, and as far from s = 2 - 1/beta:
  nearer, two powers differ too little for the rays to separate them. The edge itself is drawn.
"""

from functools import cache

from hypothesis import strategies as st
from sympy import Rational

from fsl_num.claims.points import PAPER_POINT
from fsl_num.claims.verification import SAMPLES
from fsl_sym.domain import REGIMES, regime_of

LARGEST_S = 3
DENOMINATORS = range(1, 25)


def _fractions(low, high, denominators):
    """All fractions of [low, high] with these denominators, the simplest first."""
    every = {
        Rational(top, bottom)
        for bottom in denominators
        for top in range(int(low * bottom), int(high * bottom) + 2)
        if low <= Rational(top, bottom) <= high
    }
    return sorted(every, key=lambda value: (value.q, value.p))


CAPACITIES = _fractions(Rational(4, 3), Rational(6), (1, 2, 3, 4, 6, 12))


@cache
def difficulties(regime_name, beta):
    """The values of s that are drawn in a regime at one beta."""
    edge = 1 - 1 / beta
    if regime_name == "edge":
        return [edge]
    width = LARGEST_S - edge if regime_name == "easy" else edge
    start = edge if regime_name == "easy" else Rational(0)
    every = _fractions(start + width / 12, start + width * 11 / 12, DENOMINATORS)
    return [value for value in every if regime_name == "hard" or abs(value - (1 + edge)) >= width / 12]


FIXED = frozenset((PAPER_POINT, *(regime.samples(SAMPLES["quick"], 0)[0] for regime in REGIMES)))
"""Where every claim is measured by default: nothing new is learned there."""


@st.composite
def _any_points(draw, claim):
    # The edge first: the simplest point, which hypothesis tries before all others, is then one of the fixed ones, and
    # what is tried in its place is drawn.
    name = draw(st.sampled_from(sorted(claim.regimes, key=("edge", "hard", "easy").index)))
    beta = draw(st.sampled_from(CAPACITIES))
    s = draw(st.sampled_from(difficulties(name, beta)))
    assert regime_of(s, beta).name == name
    return s, beta


def points(claim):
    """Points (s, beta) about which the claim says something, other than those of the default profile."""
    return _any_points(claim).filter(lambda point: point not in FIXED)


seeds = st.integers(0, 99)
"""Of the claim's own draws."""
