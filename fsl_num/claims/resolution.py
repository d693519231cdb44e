"""The smallest errors of a statement that the measurements at its points refuse, kind by kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from fsl_num.claims.claim import Sample
from fsl_num.claims.directions import moved_along, resolved
from fsl_num.claims.statements import CONSTANT_MUTATION, Statement

Checked = tuple[Sample, Statement, Any]
"""A point, what the claim says there, and what was measured."""
RESOLUTIONS = {"power": 0.05, "log_power": 0.25, "constant": CONSTANT_MUTATION, "bound": 0.05}
"""The mutations that every check must refuse, from which the resolution is bisected down; of a constant, relative.

Of a bound, which may be far from what it bounds, the resolution is the share by which it could be stricter.
"""
FINEST = 1e-9
"""Resolutions are not followed below this."""
LARGEST = 16.0
"""Above this they are not looked for: an error that the check does not refuse at all is infinite."""
STEPS = 2**11
"""Of sizes between FINEST and the first one refused: a step is 1 % of the resolution, read to a digit or two."""


def resolutions(sides: Iterable[Sequence[Checked]]) -> tuple[dict[str, float], tuple[int, int] | None]:
    """The smallest errors that the check refuses on every side of a formula, kind by kind, and the rank.

    Errors are of single exponents, constants and bounds (the kinds of :data:`RESOLUTIONS`), and of the exponents that
    are least resolved together ("combination"). The rank is of how many combinations of exponents the rays of a side
    show a change of 0.05, out of how many, summed over the sides; None where no powers are judged.
    """
    largest: dict[str, float] = {}
    ranks: list[tuple[int, int]] = []
    for checked in sides:
        combined, rank = _combinations(checked)
        ranks += [rank] if rank else []
        sizes = {kind: _of_kind(kind, checked) for kind in RESOLUTIONS} | {"combination": combined}
        for kind, size in sizes.items():
            if size is not None:
                largest[kind] = max(size, largest.get(kind, 0.0))
    return largest, (sum(shown for shown, _ in ranks), sum(total for _, total in ranks)) if ranks else None


def _of_kind(kind: str, checked: Sequence[Checked]) -> float | None:
    """The smallest change of any exponent, constant or bound of the kind that the check refuses; None without such."""

    def moved(size: float) -> list[_Version]:
        by_point = [
            [(neighbour, measured) for neighbour in statement.neighbours(kind, size)]
            for _, statement, measured in checked
        ]
        # a point may have no use for an exponent, as s = 1 for one that a logarithm hides there
        places = range(len(by_point[0]))
        return [[versions[place] for versions in by_point if place < len(versions)] for place in places]

    return _smallest_refused(moved, RESOLUTIONS[kind])


def _combinations(checked: Sequence[Checked]) -> tuple[float | None, tuple[int, int] | None]:
    """The same for the exponents that are least resolved together, and the rank; None where no powers are judged."""
    pairs = [(statement, measured) for _, statement, measured in checked]
    by_path = resolved(pairs)

    def moved(size: float) -> list[_Version]:
        return [
            [(neighbour, measured) for statement, measured in pairs
             if (neighbour := moved_along(statement, measured, path, part.least, sign * size)) is not None]
            for path, part in by_path.items() if part.exponents > 1 for sign in (1, -1)
        ]  # fmt: skip

    ranks = (sum(part.rank for part in by_path.values()), sum(part.exponents for part in by_path.values()))
    return _smallest_refused(moved, RESOLUTIONS["power"]), ranks if by_path else None


_Version = list[tuple[Statement, Any]]
"""A wrong version at each point, with what was measured there: it is refused where it fails at one of them."""


def _smallest_refused(moved: Callable[[float], list[_Version]], high: float) -> float | None:
    """The smallest size at which every one of the versions ``moved`` by it is refused, from ``high`` down or up to 16.

    None where there are no versions. What is refused at one size is refused at every larger one: each version is
    bisected from the size that those before it need, and only where that is too small for it.
    """

    @cache
    def versions(size: float) -> list[_Version]:
        return moved(size)

    def refuses(place: int, size: float) -> bool:
        return any(not version.judge(measured).holds for version, measured in versions(size)[place])

    every = range(len(versions(high)))
    if not every:
        return None
    while not all(refuses(place, high) for place in every):
        high *= 2
        if high > LARGEST:
            return math.inf

    def size(step: int) -> float:
        return float(FINEST * (high / FINEST) ** (step / STEPS))

    needed = 1
    for place in every:
        if not refuses(place, size(needed)):
            low, needed = needed, STEPS
            while needed - low > 1:
                middle = (low + needed) // 2
                low, needed = (low, middle) if refuses(place, size(middle)) else (middle, needed)
    return size(needed)
