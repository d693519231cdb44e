"""Which changes of several exponents at once a measurement resolves: the drifts that it judges, as functions of them.

Mutants move one exponent at a time. Where two variables move together along every ray, their exponents can be wrong
together and no drift shows it: the matrix of the drifts by the exponents then has a smaller rank than there are
exponents.

>>> import numpy as np
>>> from fsl_num.claims.statements import Equivalent, Ray
>>> law = Equivalent(lambda powers, logs: powers["a"] * logs["a"] + powers["b"] * logs["b"], {"a": 1.0, "b": 1.0})
>>> u = np.linspace(0.0, 10.0, 5)
>>> together = Ray("a = b", u, {"a": u, "b": u}, 2 * u)
>>> alone = Ray("b alone", u, {"a": 0 * u, "b": u}, u)
>>> [found] = resolved([(law, [together])]).values()
>>> (found.rank, found.exponents, {name: round(part, 3) for name, part in found.least.items()})
(1, 2, {'a': 1.0, 'b': -1.0})
>>> [found] = resolved([(law, [together]), (law, [alone])]).values()
>>> found.rank
2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.claims.statements import POWER_MUTATION, Array, Equivalent, Joint, Ray, Statement

STEP = 1e-4
"""Of an exponent, for the derivatives of a law."""
RESOLVED = 0.2
"""The drift per unit of a combination (its largest exponent moved by one) from which the combination counts as
resolved: a change of :data:`~fsl_num.claims.statements.POWER_MUTATION` then drifts by what the judgement allows."""


@dataclass(frozen=True)
class Resolved:
    """How many independent combinations of the exponents the rays resolve, and the one that they resolve least.

    ``least``: exponent -> share, the largest 1; ``drift`` is the largest drift over the rays for a unit of it.
    """

    rank: int
    exponents: int
    least: Mapping[str, float]
    drift: float


def resolved(checked: Sequence[tuple[Statement, Any]]) -> dict[tuple[str, ...], Resolved]:
    """For each part that is an equivalence judged by powers: which combinations of exponents all rays resolve together.

    Parameters
    ----------
    checked
        A statement and what it judges, at each of some points (s, beta): an
        :class:`~fsl_num.claims.statements.Equivalent`, or a joint statement with such parts; others have none.

    Returns
    -------
    dict
        Path to the part, () for a statement without parts -> what is resolved.
    """
    rays: dict[tuple[str, ...], list[tuple[Equivalent, Sequence[Ray]]]] = {}
    for statement, measured in checked:
        for path, part, rays_judged in _equivalences(statement, measured):
            if part.exponents and part.direction == "both" and not part.logarithmic:
                known = rays.setdefault(path, [])
                if not known or known[0][0].exponents.keys() == part.exponents.keys():
                    known.append((part, rays_judged))
    return {path: _resolved(rays_of_part) for path, rays_of_part in rays.items()}


def moved_along(
    statement: Statement, measured: Any, path: tuple[str, ...], least: Mapping[str, float], size: float
) -> Statement | None:
    """The statement with the exponents of one part moved together by ``size`` times their shares.

    None without that part, or where it has other exponents: at some points a power is 0 and not written.
    """
    for mine, part, _ in _equivalences(statement, measured):
        if mine == path and part.exponents.keys() == least.keys():
            moved = {key: value + size * least[key] for key, value in part.exponents.items()}
            mutant: Statement = replace(part, exponents=moved)
            for name in reversed(path):
                mutant = Joint({name: mutant})
            return mutant
    return None


def combined_mutants(statement: Statement, measured: Any) -> dict[str, Statement]:
    """Wrong versions that move several exponents at once, along the combination that the rays resolve least."""
    mutants: dict[str, Statement] = {}
    # A bound is made no stricter by every combination. Drifts of logarithms are all judged by one slope a ray, and a
    # power that is off by 1e-6 makes up for any power of a logarithm there: neither is among those resolved.
    for path, combination in resolved([(statement, measured)]).items():
        if combination.exponents > 1:
            for sign, shown in ((1, "one way"), (-1, "the other way")):
                mutant = moved_along(statement, measured, path, combination.least, sign * POWER_MUTATION)
                assert mutant is not None
                mutants[": ".join((*path, f"the least resolved exponents together, {shown}"))] = mutant
    return mutants


def _equivalences(statement: Statement, measured: Any) -> list[tuple[tuple[str, ...], Equivalent, Sequence[Ray]]]:
    """The equivalences in a statement, each with the names of the parts in which it lies and with what it judges."""
    if isinstance(statement, Equivalent):
        return [((), statement, measured)]
    if isinstance(statement, Joint):
        return [
            ((name, *path), part, rays)
            for name, part_stated in statement.parts.items()
            for path, part, rays in _equivalences(part_stated, measured[name])
        ]
    return []


def _resolved(checked: Sequence[tuple[Equivalent, Sequence[Ray]]]) -> Resolved:
    drifts = np.concatenate([_drifts_by_exponents(statement, rays) for statement, rays in checked])
    _, sizes, directions = np.linalg.svd(drifts)
    sizes = np.concatenate([sizes, np.zeros(directions.shape[0] - sizes.size)])
    units = directions / np.abs(directions).max(axis=1, keepdims=True)
    seen = np.abs(drifts @ units.T).max(axis=0)
    least = units[int(np.argmin(seen))]
    least = least * np.sign(least[int(np.argmax(np.abs(least) > 0.5))])  # of shares of one size, the first is positive
    return Resolved(
        int((seen >= RESOLVED).sum()),
        least.size,
        {name: float(share) for name, share in zip(checked[0][0].exponents, least, strict=True)},
        float(seen.min()),
    )


def _drifts_by_exponents(statement: Equivalent, rays: Sequence[Ray]) -> Array:
    """The derivative of the drift on each ray (rows) by each exponent (columns)."""
    rows = []
    for ray in rays:
        columns = []
        for name, value in statement.exponents.items():
            ends = [statement.law({**statement.exponents, name: value + sign * STEP}, ray.logs) for sign in (1, -1)]
            columns.append(statement.drift(ray, (ends[0] - ends[1]) / (2 * STEP)))
        rows.append(columns)
    return np.array(rows)
