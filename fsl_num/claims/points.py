"""The exact points (s, beta) at which a claim is checked: drawn, moved to where it says something, on every side.

>>> from fsl_num.claims.registry import claim
>>> subject = claim("own-schedule/law")
>>> {regime: [str(beta) for _, beta in chosen] for regime, chosen in points(subject, 1, 0).items()}
{'easy': ['71/12'], 'edge': ['5/2'], 'hard': ['4', '3/2']}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sympy import Eq, Rational

from fsl_num.claims.borders import Point
from fsl_num.claims.claim import Claim
from fsl_sym.domain import regime_of
from fsl_sym.symbols import beta, s

PAPER_POINT: Final = (Rational(1, 2), Rational(4))
"""The paper's own setting s = 0.5, beta = 4: checked in its regime under every profile."""
SEARCHED: Final = 24
"""So many draws of each regime are searched for the sides of a formula: the points of the deep profile."""


def along_edge(difficulty: Any, capacity: Any, other: Any) -> Any:
    """The s that lies at another capacity where the difficulty does at its own: s/(1 - 1/beta) stays.

    >>> along_edge(Rational(1, 4), Rational(2), Rational(4))
    3/8
    """
    return difficulty * (1 - 1 / other) / (1 - 1 / capacity)


def points(claim: Claim, count: int, seed: int) -> dict[str, tuple[Point, ...]]:
    """Regime -> the points at which a claim is checked, ``count`` of them drawn.

    Each side of its formula that :data:`SEARCHED` draws of its regimes reach has a point, and where more than one are
    drawn each line between two sides on which the formula has a form of its own. A point drawn for a side takes the
    place of another where the regime has two on one side; else it comes beside them.
    """
    chosen: dict[str, list[Point]] = {}
    drawn: dict[str, list[Point]] = {}
    for regime in claim.regime_objects():
        known = [PAPER_POINT] if regime.contains(*PAPER_POINT) else []
        known += [extra for extra in claim.extra_points.get(regime.name, ()) if regime.contains(*extra)]
        chosen[regime.name] = [claim.moved(*point) for point in known]
        drawn[regime.name] = [claim.moved(*point) for point in regime.samples(count, seed)]
    if claim.sides.conditions or claim.sides.borders:
        _complete(claim, chosen, drawn, seed)
        for line in claim.sides.lines() if count > 1 else ():
            _on_line(line, chosen, drawn)
    return {name: tuple(dict.fromkeys((*chosen[name], *drawn[name]))) for name in chosen}


def _complete(claim: Claim, chosen: dict[str, list[Point]], drawn: dict[str, list[Point]], seed: int) -> None:
    """Draw points on the sides that have none."""
    reached = _reached(claim, [point for lists in (chosen, drawn) for some in lists.values() for point in some])
    forms = {str(condition) for condition in claim.sides.conditions if condition not in claim.sides.lines()}
    if not claim.sides.borders and forms <= {form for side in reached for form in side}:
        return
    # The hard regime first: it has the paper's point beside the one drawn.
    for regime in reversed(claim.regime_objects()):
        mine = drawn[regime.name]
        for point in (claim.moved(*point_drawn) for point_drawn in regime.samples(SEARCHED, seed)):
            new = {
                claim.sides.at(own) for own in claim.own(*point)
                if not (claim.sides.between(own) or claim.sides.silent(own))
            }  # fmt: skip
            if new <= reached:
                continue
            reached |= new
            spare = [
                point for k, point in enumerate(mine)
                if _reached(claim, [point]) <= _reached(claim, [*chosen[regime.name], *mine[:k], *mine[k + 1 :]])
            ]  # fmt: skip
            if spare:
                mine[mine.index(spare[-1])] = point
            else:
                mine.append(point)


def _reached(claim: Claim, chosen: Sequence[Point]) -> set[tuple[str, ...]]:
    """The sides of the points that are measured in the place of those chosen."""
    return {claim.sides.at(own) for point in chosen for own in claim.own(*point)}


def _on_line(line: Any, chosen: dict[str, list[Point]], drawn: dict[str, list[Point]]) -> None:
    """A point on a line between two sides, found from those drawn, where there is none."""
    every = [point for lists in (chosen, drawn) for some in lists.values() for point in some]
    if any(line.subs({s: point[0], beta: point[1]}) for point in every):
        return
    fixed = {equation.lhs: equation.rhs for equation in line.atoms(Eq)}
    for point in every:
        values = {s: point[0], beta: point[1]}
        on = tuple(fixed.get(letter, letter).subs(fixed).subs(values) for letter in (s, beta))
        if line.subs({s: on[0], beta: on[1]}) and regime_of(*on).name in drawn:
            drawn[regime_of(*on).name].append(on)
            return
