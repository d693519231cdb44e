"""How well predicted losses agree with measured ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from fsl_num.validation import Array

COLUMNS: Final = (
    "r2",
    "mae",
    "rmse",
    "mean_relative_error",
    "worst_relative_error",
    "final_error",
    "coverage",
)
"""The columns of a table of scores."""


@dataclass(frozen=True)
class Score:
    """Measures of a prediction, over the rows of a curve.

    ``r2``: share of the variance of the losses explained; nan where they do not vary. ``mae``, ``rmse``: mean absolute
    and root mean square error. ``mean_relative_error``, ``worst_relative_error``: of |predicted - measured|/measured.
    ``final_error``: predicted - measured at the last row, its noise included. ``coverage``: share of the rows inside
    the interval, nan without one. ``rows``: how many rows.

    >>> round(score([2.0, 1.0], [2.0, 1.1]).mae, 3)
    0.05
    """

    r2: float
    mae: float
    rmse: float
    mean_relative_error: float
    worst_relative_error: float
    final_error: float
    coverage: float
    rows: int

    def as_dict(self) -> dict[str, float]:
        """Return the measures by name."""
        return asdict(self)


def score(measured: Any, predicted: Any, lower: Any = None, upper: Any = None, weights: Any = None) -> Score:
    """Return the :class:`Score` of predicted losses, with the coverage of [lower, upper] where they are given.

    ``weights``: of the rows in the means (default: alike), as where rows are averages of unequal numbers of losses; the
    worst error is then that among rows of at least a tenth of the mean weight.

    Raises ValueError where the lists differ in length, are empty or hold numbers that are not finite, for weights that
    are negative or all 0, and for one end of an interval without the other.

    >>> score([2.0, 1.0], [2.0, 1.0], [1.9, 1.1], [2.1, 1.2]).coverage
    0.5
    """
    loss, fitted = np.asarray(measured, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if loss.shape != fitted.shape or loss.ndim != 1 or loss.size == 0:
        raise ValueError(f"measured and predicted must be lists of one length, got {loss.shape} and {fitted.shape}")
    if not (np.isfinite(loss).all() and np.isfinite(fitted).all()):
        raise ValueError("measured and predicted must be finite; look for nan or inf in either")
    weight = np.ones(loss.size) if weights is None else np.asarray(weights, dtype=np.float64)
    if weight.shape != loss.shape or not ((weight >= 0.0) & np.isfinite(weight)).all() or not weight.any():
        raise ValueError("weights must be finite and at least 0, one a row, not all of them 0")
    if (lower is None) != (upper is None):
        raise ValueError("an interval has two ends: give both lower and upper, or neither")

    def mean(values: Array) -> float:
        return float((weight * values).mean() / weight.mean())

    error = fitted - loss
    relative = np.abs(error) / np.abs(loss)
    spread = mean((loss - mean(loss)) ** 2)
    inside = math.nan
    if lower is not None and upper is not None:
        covered = (np.asarray(lower) <= loss) & (loss <= np.asarray(upper))
        inside = mean(covered.astype(np.float64))
    return Score(
        1.0 - mean(error**2) / spread if spread > 0.0 else math.nan,
        mean(np.abs(error)),
        math.sqrt(mean(error**2)),
        mean(relative),
        float(relative[weight >= 0.1 * weight.mean()].max()),
        float(error[-1]),
        inside,
        int(loss.size),
    )


def mean_score(scores: Iterable[Score]) -> Score:
    """Return the mean of every measure, each curve counting once; ``rows`` are summed.

    The worst relative error is averaged over curves too, as in the published table of the Multi-Power Law; the final
    error is the mean of its absolute values.

    >>> single = score([2.0, 1.0], [2.0, 1.1])
    >>> mean_score([single, single]).rmse == single.rmse
    True
    """
    rows = [score.as_dict() for score in scores]
    if not rows:
        raise ValueError("no scores to average")
    means = {name: float(np.mean([row[name] for row in rows])) for name in COLUMNS}
    means["final_error"] = float(np.mean([abs(row["final_error"]) for row in rows]))
    return Score(**means, rows=sum(int(row["rows"]) for row in rows))


def table(scores: Mapping[str, Score]) -> str:
    """Return a table in plain text, one line a name, with all columns of :data:`COLUMNS`.

    >>> print(table({"fsl": score([2.0, 1.0], [2.0, 1.1])}).splitlines()[0].split()[:2])
    ['r2', 'mae']
    """
    width = max(len(name) for name in scores) if scores else 4
    lines = [" " * width + "".join(f"  {name.replace('_relative_error', '_rel'):>11}" for name in COLUMNS)]
    for name, score in scores.items():
        cells = "".join(f"  {cell(value):>11}" for value in (getattr(score, column) for column in COLUMNS))
        lines.append(f"{name:<{width}}{cells}")
    return "\n".join(lines)


def cell(value: float) -> str:
    """Return a measure of a score as a table shows it, "-" where it is not defined.

    >>> cell(0.993891), cell(-2.0446e-06), cell(float("nan"))
    ('0.99389', '-2.04e-06', '-')
    """
    if math.isnan(value):
        return "-"
    return f"{value:.5f}" if abs(value) >= 1e-4 or value == 0.0 else f"{value:.3g}"


def residual_spread(residual: Array) -> float:
    """Return a robust standard deviation: 1.4826 times the median of |residual|, at least a tenth of the plain one.

    >>> residual_spread(np.array([1.0, -1.0, 1.0, -1.0]))
    1.4826
    """
    plain = math.sqrt(float((residual**2).mean()))
    return max(1.4826 * float(np.median(np.abs(residual))), 0.1 * plain)
