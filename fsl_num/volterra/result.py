"""What a solver returns to whoever asked: the excess risk with its error, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.results import Result, axes_to_draw_on, first_and_last, html_table
from fsl_num.validation import Array, path_like


@dataclass(frozen=True, eq=False)
class Solution(Result):
    """The excess risk E at intrinsic times ``t``.

    ``excess_risk``: E = risk - sigma^2/2, half of the f of the equation; floats, or mpf where digits were asked for.
    ``error``: absolute error estimate for each value. ``method``: the one used. ``modes``: how many exponentials stood
    for the forgetting kernel, 0 where none were needed. ``evaluations``: how often the equation was evaluated (points
    of collocation, of a grid or of a contour). ``message``: why this method, what the run took, and a warning where the
    tolerance was missed. ``digits``: those asked for, or None. ``success``: False where the tolerance was missed.

    >>> from fsl_num.model import Model
    >>> from fsl_num.volterra import Problem, solve
    >>> solution = solve(Problem(Model(s=0.5, beta=2.0, size=10, noise=1.0), gamma=0.1, horizon=9.0), [1.0, 9.0])
    >>> solution.method, solution.excess_risk.shape
    ('secular', (2,))
    >>> print(solution.as_csv().splitlines()[0], [row[0] for row in solution.texts()])
    t,excess_risk,error ['1.0', '9.0']
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     solution.to_csv(Path(folder) / "risk.csv")
    ...     (Path(folder) / "risk.csv").read_text() == solution.as_csv()
    True
    >>> solution.plot(ax=None).get_xlabel()
    'intrinsic time t'
    """

    t: Array
    excess_risk: Any
    error: Array
    method: str
    modes: int
    evaluations: int
    message: str
    digits: int | None = None
    success: bool = True

    def texts(self) -> tuple[tuple[str, str, str], ...]:
        """Return (time, value, error) of every time in order, as text: floats shortest that read back, mpf in full."""
        rows = []
        for t, value, error in zip(self.t.flat, self.excess_risk.flat, self.error.flat, strict=True):
            shown = repr(float(value)) if self.digits is None else str(value)
            rows.append((repr(float(t)), shown, repr(float(error))))
        return tuple(rows)

    def as_csv(self) -> str:
        """Return the columns t, excess_risk and error as CSV."""
        return "\n".join(["t,excess_risk,error", *(",".join(row) for row in self.texts())]) + "\n"

    def to_csv(self, path: Any) -> None:
        """Write :meth:`as_csv` to ``path``, whole or not at all (OSError where it cannot be)."""
        from fsl_num.writing import write_atomically

        write_atomically(path_like("path", path), self.as_csv())

    def plot(self, ax: Any = None) -> Any:
        """Draw the excess risk against t on logarithmic axes (matplotlib, imported here) and return the axes."""
        ax = axes_to_draw_on(ax)
        order = np.argsort(self.t, axis=None)
        t, values = self.t.ravel()[order], np.asarray(self.excess_risk, dtype=np.float64).ravel()[order]
        drawn = t > 0  # a logarithmic axis has no place for t = 0
        ax.loglog(t[drawn], values[drawn], marker="o" if np.count_nonzero(drawn) < 20 else None)
        ax.set_xlabel("intrinsic time t")
        ax.set_ylabel("excess risk E(t)")
        return ax

    def _repr_html_(self) -> str:
        rows = [(t, value, f"{float(error):.2g}") for t, value, error in self.texts()]
        return html_table(("t", "excess risk", "error"), first_and_last(rows), caption=f"{self.method}: {self.message}")
