"""How far along the ranges that a claim is about something is measured: each is to be measured to its end.

Ends are those of relations such as t <= M^beta, which measurements come near to: within a factor of 4, and not only
where the letters are small. An end of counts that belongs to the range is measured itself. A range that were printed
with another power of M would end elsewhere where M is large.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from fsl_num.validation import Array
from fsl_sym.proof import Formula

ROUNDING: Final = 1e-9
"""Of logarithms of letters that were computed from each other in double precision: 1e-16 of up to a few hundred."""
REACHED: Final = math.log(4.0)
"""So near, as a logarithm, a measurement comes to each end of the ranges that a claim is about."""
FAR: Final = 0.5
"""Up to this share of the largest logarithm of its sides an end is reached: where t <= M^beta is measured up to 1e80,
the range t <= M^(beta + d) is refused from d/beta = log 4/(0.5 log 1e80) = 0.015 on."""
COUNTS: Final = frozenset("BDJKMNkn")
"""Letters of whole numbers: a range of these alone has an end that is one of them, and 2 is not near to 1."""
NO_END: Final = np.empty((2, 0))
"""Of a relation that is the end of no range."""


@dataclass(frozen=True)
class Reached:
    """How far measurements have come, all points of a claim together.

    ``ends``: relation -> the differences of the logarithms of its sides and the smaller size of these, place by place,
    and whether any of its letters varies along something measured; ``values``: letter -> the logarithm that it always
    has, None where it varies; ``said``: list or setting of a claim -> those of its values that were measured.
    """

    ends: dict[Formula, tuple[Array, bool]] = field(default_factory=dict)
    values: dict[str, float | None] = field(default_factory=dict)
    said: dict[str, set[str]] = field(default_factory=dict)

    def add(self, every: Sequence[Mapping[str, Array]]) -> None:
        """Take in the values of letters along what is measured at one more point."""
        for logs in every:
            for name in logs.keys() - {name for name, value in self.values.items() if value is None}:
                first = float(logs[name].flat[0])
                alike = self.values.setdefault(name, first) == first and not varies(np.ravel(logs[name]))
                self.values[name] = first if alike else None

    def come(self, relation: Formula, gaps: Array, varying: bool) -> None:
        """Take in how near something measured comes to the end of a range, and whether a letter varies along it."""
        before, varied = self.ends.get(relation, (NO_END, False))
        self.ends[relation] = np.concatenate([before, gaps], axis=1), varied or varying


def varies(along: Array) -> bool:
    """Whether a letter varies along a ray; the logarithms of 0 and of infinity are values like others.

    >>> varies(np.array([1.0, 2.0])), varies(np.array([np.inf, np.inf]))
    (True, False)
    """
    return bool((along != along[0]).any())


def unreached(reached: Reached) -> str:
    """The first range of a claim whose end nothing measured comes near to; "" where all are measured to their ends.

    Letters that never vary along something measured have a few values: an end that belongs to their range is one. So is
    one of counts.

    >>> from fsl_sym.proof import at_least, at_most
    >>> from fsl_sym.symbols import M, T, t
    >>> near, far = ({at_least(T, 1): (np.log([[factor], [1.0]]), True)} for factor in (3.0, 100.0))
    >>> unreached(Reached(near)), unreached(Reached(far))
    ('', '1 <= T is claimed, and nothing is measured nearer to its end than by a factor 1e+02')
    >>> unreached(Reached({at_most(t, M**2): (np.array([[0.0, 30.0], [1.0, 90.0]]), True)}))
    't <= M**2 is claimed, and its end is measured where it is 2.72 alone, other places up to 1.22e+39'
    """
    for relation, ((gaps, sizes), varied) in reached.ends.items():
        if not gaps.size:
            continue
        whole = {letter.name for letter in relation.left.free_symbols | relation.right.free_symbols} <= COUNTS
        near = gaps <= (REACHED if relation.relation == "<" or (varied and not whole) else ROUNDING)
        if not near.any():
            factor = math.exp(min(float(gaps.min()), 700.0))
            return f"{relation} is claimed, and nothing is measured nearer to its end than by a factor {factor:.2g}"
        end, largest = float(sizes[near].max()), float(sizes.max())
        if end < FAR * largest - REACHED:
            return (f"{relation} is claimed, and its end is measured where it is {_shown(end)} alone, "
                    f"other places up to {_shown(largest)}")  # fmt: skip
    return ""


def _shown(log: float) -> str:
    return f"{math.exp(log):.3g}" if log < 700.0 else f"e^{log:.0f}"
