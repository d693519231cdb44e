"""Every recorded step against every change of the learning rate before it, block by block.

For laws whose memory is no average of fixed exponentials. Changes are merged as in :mod:`~fsl_num.curves.laws.memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fsl_num.validation import Array

_BLOCK = 1_000_000  # pairs at once


@dataclass(frozen=True, eq=False)
class Pairs:
    """Ages of changes: ``now`` - ``then`` for recorded steps ``now`` and changes ``then``, both increasing.

    >>> pairs = Pairs(np.array([1.0, 2.0]), np.array([0.5, 1.5]))
    >>> pairs.summed(lambda age, part: age[None], 1).tolist()
    [[0.5, 2.0]]
    """

    now: Array
    then: Array

    def summed(self, kernel: Callable[[Array, slice], Array], outputs: int) -> Array:
        """Return the sums over the changes of ``outputs`` kernels that vanish at age 0, shape (outputs, recorded).

        ``kernel(age, part)`` gives its values, shape (outputs, rows, changes), for the changes of the slice ``part``.
        """
        sums = np.zeros((outputs, self.now.size))
        if not self.then.size:
            return sums
        rows = max(1, _BLOCK // self.then.size)
        for low in range(0, self.now.size, rows):
            now = self.now[low : low + rows]
            last = int(np.searchsorted(self.then, now[-1]))
            if last:
                age = np.maximum(now[:, None] - self.then[:last], 0.0)
                sums[:, low : low + rows] = kernel(age, slice(0, last)).sum(axis=2)
        return sums
