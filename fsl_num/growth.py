"""Growth exponents measured from values at several budgets: a power of the budget and a power of its logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.validation import Array, finite_array, real_number


@dataclass(frozen=True)
class Growth:
    """The fit log v = constant + power L + log_power log L over budgets with logarithm L.

    ``residual``: largest deviation of a point from the fit, in log units. ``power_uncertainty``,
    ``log_power_uncertainty``: largest change of the exponent when any one point, or the lower half of the budgets, is
    left out (so a drift with the budget shows up here); inf where too few points are left for that.
    """

    power: float
    log_power: float
    constant: float
    residual: float
    power_uncertainty: float
    log_power_uncertainty: float


def _fit(logs: Array, values: Array, power: float | None) -> Array:
    """Return (constant, power, log_power) by least squares on centred, scaled columns."""
    columns = [np.log(logs)] if power is not None else [logs, np.log(logs)]
    target = values if power is None else values - power * logs
    design = np.stack(columns, axis=1)
    middle, centre = design.mean(axis=0), target.mean()
    scale = np.abs(design - middle).max(axis=0)
    slopes = np.linalg.lstsq((design - middle) / scale, target - centre, rcond=None)[0] / scale
    constant = centre - float(slopes @ middle)
    exponents = slopes if power is None else np.array([power, slopes[0]])
    return np.array([constant, *exponents])


def growth_exponents(log_budgets: Any, log_values: Any, *, power: float | None = None) -> Growth:
    """Fit log v = c + p L + q log L to values at budgets with natural logarithms L > 0.

    ``log_budgets``: at least 3 different positive numbers (2 if ``power`` is given, which then holds p);
    ``log_values``: the logs of the values there. Spread the budgets over many decades: p L and q log L are separated
    only by the curvature of log L. Returns :class:`Growth`. Raises ValueError for too few or unfit points.

    >>> L = np.array([1e2, 1e3, 1e4, 1e5])
    >>> fit = growth_exponents(L, 1.0 - 0.5 * L + 2.0 * np.log(L))
    >>> round(fit.power, 9), round(fit.log_power, 6)
    (-0.5, 2.0)
    """
    try:
        logs, values = finite_array("log_budgets", log_budgets), finite_array("log_values", log_values)
    except OverflowError as error:
        raise ValueError("log_budgets and log_values must be below 1.8e308: they are used as floats") from error
    if logs.ndim != 1 or logs.shape != values.shape:
        raise ValueError(f"log_budgets and log_values must be lists of one length, got {logs.shape} and {values.shape}")
    if not (np.isfinite(logs).all() and np.isfinite(values).all() and (logs > 0).all()):
        raise ValueError("log_budgets must be positive and all numbers finite; drop the points that are not")
    fixed = None if power is None else real_number("power", power, infinite=False)
    least = 3 if fixed is None else 2
    if len(np.unique(logs)) < least:
        raise ValueError(f"at least {least} different budgets are needed, got {len(np.unique(logs))}")
    order = np.argsort(logs)
    logs, values = logs[order], values[order]
    constant, slope, log_slope = (float(x) for x in _fit(logs, values, fixed))
    residual = float(np.abs(values - constant - slope * logs - log_slope * np.log(logs)).max())
    subsets = [np.delete(np.arange(len(logs)), i) for i in range(len(logs))]
    subsets.append(np.arange(len(logs) // 2 if len(logs) // 2 + least <= len(logs) else len(logs) - least, len(logs)))
    changes = np.array(
        [
            np.abs(_fit(logs[keep], values[keep], fixed)[1:] - (slope, log_slope))
            if len(keep) < len(logs) and len(np.unique(logs[keep])) >= least
            else np.array([np.inf, np.inf])
            for keep in subsets
        ]
    ).max(axis=0)
    return Growth(slope, log_slope, constant, residual, float(changes[0]) if fixed is None else 0.0, float(changes[1]))
