r"""Fit a law to the final losses of runs of several sizes, batch sizes and lengths.

Least squares on log loss under weak normal priors on the logs of the parameters, from the best of many random starts;
the spread of the losses about the law is learnt with them. What the priors and the runs leave open (the inverse of J^T
J, with quantiles of Student's t) makes the intervals. A parameter is identifiable where the runs halve, at least, the
width that the prior gives it and tell it up to a factor of e, and where there are as many different sizes, batch sizes
or lengths as it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from scipy.optimize import least_squares, nnls

from fsl_num.curves.curve import CurveError
from fsl_num.curves.runs import said_column
from fsl_num.curves.size_laws import SIZE_LAWS, Runs, SizeLaw
from fsl_num.curves.size_result import KNOWN, FinalLossFit, slopes
from fsl_num.curves.tables import Table, as_table, filled, numbers
from fsl_num.validation import Array, entries, known_options, one_of, proper_share, whole_seed

AUTO: Final = "auto"
"""The law that predicts the largest size, unseen, best."""

_TRIED = 96  # random starts
_FOLLOWED = 3  # of them
_COEFFICIENT = 5.0  # width of the prior of the log of a coefficient, about the range of the losses
_LEAST_SCATTER = 1e-6  # of log loss: what a recorded loss is rounded to
_ENOUGH = 0.5  # of the width of its prior: a parameter that is known so well is identifiable


def fit_final_losses(
    table: Any, law: str = "auto", *, columns: Mapping[str, Any] | None = None, level: float = 0.9, seed: int = 0
) -> FinalLossFit:
    """Return the law of final losses that fits a table of runs, a row each.

    Parameters
    ----------
    table
        A mapping of columns, a DataFrame, a structured array or a list of records, with the columns
        ``model_size``, ``batch_size``, ``steps``, ``loss``, all positive, and ``peak_lr`` where the peaks differ.
    columns
        Which column is what where it is called otherwise, {"model_size": "N"}, by name or by position from 0.
    law
        One of :data:`~fsl_num.curves.size_laws.SIZE_LAWS`; ``regression`` means runs at a constant learning rate,
        or under one schedule whose shape is the same for all. ``auto``: that which predicts the largest size,
        unseen, best (:func:`held_out_errors`), or ``regression`` where the other sizes determine none.
    level
        Nominal, of the intervals.
    seed
        Of the random starts.

    Returns
    -------
    FinalLossFit
        The fit: parameters with intervals, which of them the runs determine, predictions, the best size.

    Raises
    ------
    CurveError
        Naming the row, for values that are not positive numbers; where there are not more runs than
        parameters, or all have one size, one length or one batch size that the law needs, with the parameters that
        are then not identifiable.
    ValueError
        For an unknown law.

    Examples
    --------
    >>> import itertools
    >>> rows = [(n, b, k) for n, b, k in itertools.product((1e6, 1e7, 1e8), (64, 256), (1e3, 1e4))]
    >>> n, b, k = np.array(rows).T
    >>> table = {"model_size": n, "batch_size": b, "steps": k, "loss": 1.5 + 80 * n**-0.3 + 90 * (b * k) ** -0.4}
    >>> found = fit_final_losses(table, "chinchilla")
    >>> round(found.parameters["x"], 2), bool(abs(found.predict(1e9, 256, 1e5).loss - 1.757) < 0.01)
    (0.3, True)
    """
    share, seed = proper_share("level", level), whole_seed(seed)
    if one_of("law", law, (AUTO, *SIZE_LAWS)) == AUTO:
        law = best_law(held_out_errors(table, columns=columns, seed=seed))
    runs, loss = _runs_of(as_table(table), columns)
    definition = SIZE_LAWS[law]
    _check_enough(law, definition, runs)
    problem = _Problem(definition, runs, loss)
    theta, scatter = problem.solve(np.random.default_rng(seed))
    slopes = problem.weighted_slopes(theta, scatter)
    covariance = _inverse(slopes.T @ slopes + np.diag(problem.widths**-2.0))
    used = float(np.trace(slopes @ covariance @ slopes.T))
    known = np.sqrt(np.diag(covariance)) < np.minimum(_ENOUGH * problem.widths, [*[KNOWN] * (theta.size - 1), np.inf])
    weak = {name for name, enough in zip(definition.parameters, known, strict=True) if not enough}
    for column, (least, names) in definition.needs.items():
        weak |= set(names) if runs.distinct(column) < least else set()
    ordered = tuple(name for name in definition.parameters if name in weak)
    freedom = max(loss.size - used, 1.0)
    return FinalLossFit(law, runs, loss, theta, covariance, scatter, freedom, share, ordered)


def best_law(errors: Mapping[str, float]) -> str:
    """Return the law with the least of the :func:`held_out_errors`.

    >>> best_law({"regression": 0.02, "chinchilla": 0.01}), best_law({})
    ('chinchilla', 'regression')
    """
    return min(errors, key=errors.__getitem__, default=next(iter(SIZE_LAWS)))


def held_out_errors(
    table: Any, laws: Iterable[str] = tuple(SIZE_LAWS), *, columns: Mapping[str, Any] | None = None, seed: int = 0
) -> dict[str, float]:
    """Return the root mean square error of log loss on the largest model size, which the fit of each law did not see.

    Arguments as in :func:`fit_final_losses`; a law that the other sizes cannot determine is left out.

    >>> sizes = np.repeat([1e6, 1e7, 1e8, 1e9], 4)
    >>> steps = np.tile([1e3, 3e3, 1e4, 3e4], 4)
    >>> loss = 1.5 + 80 * sizes**-0.3 + 90 * (64 * steps) ** -0.4
    >>> table = {"model_size": sizes, "batch_size": 64.0 + 0 * sizes, "steps": steps, "loss": loss}
    >>> held_out_errors(table)["chinchilla"] < 0.01
    True
    """
    runs, loss = _runs_of(as_table(table), columns)
    large = runs.model_size == runs.model_size.max()
    if large.all():
        return {}
    smaller = runs.at(~large)
    names = ("model_size", "batch_size", "steps", "peak_lr")
    of_smaller = dict(zip(names, (smaller.model_size, smaller.batch_size, smaller.steps, smaller.peak), strict=True))
    errors = {}
    for law in entries("laws", laws, str, least=1):
        try:
            fitted = fit_final_losses(of_smaller | {"loss": loss[~large]}, law, seed=seed)
        except CurveError:
            continue
        unseen = runs.at(large)
        predicted = fitted.predict(unseen.model_size, unseen.batch_size, unseen.steps, unseen.peak)
        errors[law] = float(np.sqrt(np.mean(np.log(loss[large] / predicted.loss) ** 2)))
    return errors


class _Problem:
    """Least squares on log loss, and the priors."""

    def __init__(self, law: SizeLaw, runs: Runs, loss: Array) -> None:
        self.law, self.runs, self.loss, self.unit = law, runs, loss, runs.unit
        least = float(loss.min())
        self.range = max(float(np.ptp(loss)), 1e-6 * least)
        count, middle = law.coefficients, float(np.log(self.range))
        self.centres = np.array([*law.centres, *[middle] * count, 0.5 * least])
        self.widths = np.array([*law.widths, *[_COEFFICIENT] * count, 0.5 * least])
        free = (middle - 8.0 * _COEFFICIENT, middle + 8.0 * _COEFFICIENT)
        self.bounds = np.array([*law.bounds, *[free] * count, (0.0, 0.9999 * least)]).T

    def weighted(self, theta: Array, scatter: float) -> Array:
        """The residuals of log loss over their scatter."""
        predicted = self.law.losses(theta, self.runs, self.unit)
        return np.asarray(np.log(predicted / self.loss) / scatter)

    def weighted_slopes(self, theta: Array, scatter: float) -> Array:
        """Their derivatives."""
        return slopes(lambda bent: self.weighted(bent, scatter), theta, float(self.loss.min()))

    def descend(self, start: Array, scatter: float, steps: int) -> Any:
        """Least squares from a start."""
        low, high = self.bounds
        inside = 1e-9 * (high - low)

        def misses(theta: Array) -> Array:
            return np.concatenate([self.weighted(theta, scatter), (theta - self.centres) / self.widths])

        def derivatives(theta: Array) -> Array:
            return np.concatenate([self.weighted_slopes(theta, scatter), np.diag(1.0 / self.widths)])

        begin = np.clip(start, low + inside, high - inside)
        return least_squares(
            misses, begin, derivatives, bounds=(low, high), x_scale=self.widths, max_nfev=steps, ftol=1e-5, xtol=1e-5
        )

    def solve(self, stream: np.random.Generator) -> tuple[Array, float]:
        """The coordinates, and the scatter of the log losses about the law."""
        scatter = 0.01
        best = min((self.descend(start, scatter, 25) for start in self.starts(stream)), key=lambda end: float(end.cost))
        for _ in range(3):
            weighted = best.fun[: self.loss.size]
            inverse = _inverse(best.jac.T @ best.jac)
            slopes = best.jac[: self.loss.size]
            used = float(np.trace(slopes @ inverse @ slopes.T))
            scatter *= float(np.sqrt(weighted @ weighted / max(self.loss.size - used, 1.0)))
            scatter = max(scatter, _LEAST_SCATTER)
            best = self.descend(best.x, scatter, 30)
        return np.asarray(best.x, dtype=np.float64), scatter

    def starts(self, stream: np.random.Generator) -> list[Array]:
        """The best of many draws of the bent coordinates from their priors, with the coefficients that fit then."""
        bent = len(self.law.centres)
        drawn = self.centres[:bent] + self.widths[:bent] * stream.standard_normal((_TRIED, bent))
        drawn = np.clip(drawn, *self.bounds[:, :bent])
        drawn[0] = self.centres[:bent]
        missed = []
        for coordinates in drawn:
            columns = np.column_stack([self.law.columns(coordinates, self.runs, self.unit), np.ones(self.loss.size)])
            scale = np.maximum(np.abs(columns).max(axis=0), 1e-300)
            values, miss = nnls(columns / scale / self.loss[:, None], np.ones(self.loss.size))
            values = values / scale
            logs = np.log(np.maximum(values[:-1], 1e-3 * self.range / scale[:-1]))
            theta = np.concatenate([coordinates, logs, values[-1:]])
            missed.append((float(miss), theta))
        return [theta for _, theta in sorted(missed, key=lambda pair: pair[0])[:_FOLLOWED]]


def _inverse(matrix: Array) -> Array:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _runs_of(table: Table, said: Mapping[str, Any] | None) -> tuple[Runs, Array]:
    needed = ("model_size", "batch_size", "steps", "loss")
    known_options("of a table of runs", said or {}, (*needed, "peak_lr"))
    names = {name: name for name in (*needed, "peak_lr") if name in table.columns}
    names |= {role: said_column([table], role, column, "the table") for role, column in (said or {}).items()}
    missing = [name for name in needed if name not in names]
    if missing:
        raise CurveError(
            f"the table lacks {', '.join(missing)}; it has {', '.join(table.columns) or 'no columns'}: say which they"
            f" are, for example columns={dict.fromkeys(missing, 'NAME')} (--columns {'=NAME,'.join(missing)}=NAME)"
        )
    if "peak_lr" in names and not filled(table.columns[names["peak_lr"]]).any():
        del names["peak_lr"]
    columns = {role: numbers(table, name, role) for role, name in names.items()}
    for name, values in columns.items():
        bad = np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))
        if bad.size:
            row = int(bad[0])
            raise CurveError(f"{name} must be a positive number, got {values[row]:g}", table.rows[row])
    loss = columns["loss"]
    return Runs(
        columns["model_size"], columns["batch_size"], columns["steps"], columns.get("peak_lr", np.ones(loss.size))
    ), loss


def _check_enough(name: str, law: SizeLaw, runs: Runs) -> None:
    count, needed = runs.steps.size, len(law.parameters) + 1
    for column, (_, names) in law.needs.items():
        if count and runs.distinct(column) == 1:
            raise CurveError(
                f"all runs have one value of {column}, which leaves {', '.join(names)} not identifiable: add runs with"
                " others, or fit a law that does not need it"
            )
    if count < needed:
        raise CurveError(
            f"the law {name} has {len(law.parameters)} parameters ({', '.join(law.parameters)}) and takes at least"
            f" {needed} runs, got {count}: add runs, or fit a law with fewer parameters"
        )
