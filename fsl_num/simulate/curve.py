"""The excess risk along a run: what every simulator and every exact recursion returns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.results import Result, axes_to_draw_on, first_and_last, html_table
from fsl_num.validation import Array, finite_array, path_like, whole_count


def record_steps(steps: int, every: int | None) -> Any:
    """Return after how many steps the risk is recorded: 0, every, 2 every, ... and ``steps``.

    ``every``: a whole number of at least 1; None for the start and the end only. Raises ValueError otherwise.

    >>> record_steps(10, 4).tolist()
    [0, 4, 8, 10]
    """
    count = whole_count("steps", steps)
    gap = count if every is None else whole_count("every", every)
    return np.unique(np.append(np.arange(0, count, gap), count))


@dataclass(frozen=True, eq=False)
class RiskCurve(Result):
    """The excess risk E = (1/2)||W'v - theta*||_H^2 after ``step`` steps of training.

    ``excess_risk``: its expectation, or the mean over runs. ``standard_error``: of that mean; 0 where nothing was
    sampled. ``method``: how it was found. ``message``: what is worth knowing about the run.

    >>> from fsl_num import Model, Regression, exact_risk
    >>> curve = exact_risk(Regression(Model(s=0.5, beta=2.0, size=4, noise=0.1)), [0.1] * 20, every=10)
    >>> print(curve.as_csv(rates=[0.1] * 20).splitlines()[0])
    step,excess_risk,standard_error,lr
    >>> curve.as_dict()["step"], len(curve.to_json()) > 100
    ([0, 10, 20], True)
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     curve.to_csv(Path(folder) / "risk.csv")
    ...     (Path(folder) / "risk.csv").read_text() == curve.as_csv()
    True
    >>> curve.plot(ax=None).get_xlabel()
    'step'
    """

    step: Any
    excess_risk: Array
    standard_error: Array
    method: str
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the lists ``step``, ``excess_risk`` and ``standard_error``, and the ``method``."""
        return {
            "step": self.step.tolist(),
            "excess_risk": self.excess_risk.tolist(),
            "standard_error": self.standard_error.tolist(),
            "method": self.method,
        }

    def to_json(self) -> str:
        """Return :meth:`as_dict` as JSON; numbers are the shortest that read back."""
        return json.dumps(self.as_dict())

    def _rows(self) -> list[tuple[str, str, str]]:
        columns = (self.step.tolist(), self.excess_risk.tolist(), self.standard_error.tolist())
        return [(repr(a), repr(b), repr(c)) for a, b, c in zip(*columns, strict=True)]

    def as_csv(self, rates: Any = None) -> str:
        """Return the columns step, excess_risk and standard_error as CSV.

        ``rates``: the learning rate of every update; with it there is a column lr of those of the next updates (behind
        the last one, of the last), so that the text is a training log.
        """
        lines = ["step,excess_risk,standard_error", *(",".join(row) for row in self._rows())]
        if rates is not None:
            every = finite_array("rates", rates)
            if every.ndim != 1 or not every.size:
                raise ValueError(f"rates must be a list with the rate of every update, got the shape {every.shape}")
            following = every[np.minimum(self.step, every.size - 1)]
            lines = [f"{line},{lr}" for line, lr in zip(lines, ["lr", *map(repr, following.tolist())], strict=True)]
        return "\n".join(lines) + "\n"

    def to_csv(self, path: Any, rates: Any = None) -> None:
        """Write :meth:`as_csv` to ``path``, whole or not at all (OSError where it cannot be)."""
        from fsl_num.writing import write_atomically

        write_atomically(path_like("path", path), self.as_csv(rates))

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the excess risk against the step on logarithmic axes, with two standard errors; return the axes."""
        ax = axes_to_draw_on(ax)
        drawn = self.step > 0  # a logarithmic axis has no place for step 0
        step, risk, error = self.step[drawn], self.excess_risk[drawn], self.standard_error[drawn]
        (line,) = ax.loglog(step, risk, **{"label": self.method, **style})
        if error.any():
            low = np.maximum(risk - 2.0 * error, 0.1 * risk)
            ax.fill_between(step, low, risk + 2.0 * error, color=line.get_color(), alpha=0.25, linewidth=0)
        ax.set_xlabel("step")
        ax.set_ylabel("excess risk")
        return ax

    def _repr_html_(self) -> str:
        head, caption = ("step", "excess risk", "standard error"), f"{self.method} {self.message}".strip()
        return html_table(head, first_and_last(self._rows()), caption=caption)
