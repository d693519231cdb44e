"""A law fitted to final losses: its parameters, what it predicts, and what to train under a budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import stdtrit

from fsl_num.curves.size_laws import SIZE_LAWS, Runs, SizeLaw
from fsl_num.results import Result, html_table
from fsl_num.validation import Array, positive

KNOWN: Final = 1.0
"""Standard deviation of the log of a parameter that is identifiable, at most."""

_EXTRAPOLATED = 1.25  # times beyond what was fitted
_ABSURD = 1e30  # no run is so large, none so small as its inverse; sums would leave the range of floats
_FINE = 1e-4  # step of differences, of logs
_ZOOMS, _GRID = 5, (31, 13)  # of the search for the best size and batch
_SIZES = 1e3  # times beyond the sizes fitted, within which the best size is looked for


@dataclass(frozen=True, eq=False)
class FinalLosses(Result):
    """Predicted final losses with the interval in which a measured one lies at the level of the fit.

    >>> FinalLosses(np.array([2.0]), np.array([1.9]), np.array([2.1])).upper.tolist()
    [2.1]
    """

    loss: Array
    lower: Array
    upper: Array


@dataclass(frozen=True, eq=False)
class BestSize(Result):
    """What to train under a budget: model size, batch size, steps, and the loss predicted, with its interval.

    ``beyond``: the model size over the largest one fitted; ``at_edge``: whether the loss still falls at the end of the
    sizes that were looked at.

    >>> BestSize(1e8, 256.0, 1e4, 2.5, 2.4, 2.6, 0.5, False).steps
    10000.0
    """

    model_size: float
    batch_size: float
    steps: float
    loss: float
    lower: float
    upper: float
    beyond: float
    at_edge: bool


@dataclass(frozen=True, eq=False, repr=False)
class FinalLossFit(Result):
    """A law fitted to final losses.

    ``law``: its name; ``runs`` and ``loss``: what was fitted; ``theta``: the coordinates found, ``covariance`` of them;
    ``scatter``: standard deviation of the log losses about the law; ``freedom``: degrees of freedom of that;
    ``level``: nominal, of all intervals; ``weak``: the parameters that are not identifiable.

    >>> from fsl_num import fit_final_losses
    >>> size, steps = np.repeat([1e6, 1e7, 1e8], 3), np.tile([1e3, 1e4, 1e5], 3)
    >>> loss = 1.5 + 80 * size**-0.3 + 90 * (64 * steps) ** -0.4
    >>> table = {"model_size": size, "batch_size": 64 + 0 * size, "steps": steps, "loss": loss}
    >>> found = fit_final_losses(table, "chinchilla")
    >>> found.best(compute=1e13).beyond < 1, found.weak
    (True, ())
    >>> round(float(found.predict(1e8, 64, 1e5).loss), 2), found.as_dict()["law"], found.to_json()[:1]
    (1.99, 'chinchilla', '{')
    >>> found.plot().get_ylabel()
    'final loss'
    """

    law: str
    runs: Runs
    loss: Array
    theta: Array
    covariance: Array
    scatter: float
    freedom: float
    level: float
    weak: tuple[str, ...]

    @property
    def definition(self) -> SizeLaw:
        """The law itself."""
        return SIZE_LAWS[self.law]

    @property
    def unit(self) -> Runs:
        """The run in whose units the coordinates count."""
        return self.runs.unit

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name, in the units of the table."""
        return self._plain(self.definition.reported(self.theta, self.unit))

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The interval of each parameter, at the level of the fit."""
        centre = self.definition.reported(self.theta, self.unit)
        half = self._quantile * np.sqrt(self._variances(lambda theta: self.definition.reported(theta, self.unit)))
        low, high = self._plain(centre - half), self._plain(centre + half)
        low["L0"], high["L0"] = max(low["L0"], 0.0), min(high["L0"], float(self.loss.min()))
        return {name: (low[name], high[name]) for name in low}

    @property
    def identifiable(self) -> dict[str, bool]:
        """Whether the runs say more of each parameter than its prior does, and its order of magnitude in its unit."""
        most = np.exp(2.0 * KNOWN * self._quantile)
        return {
            name: name not in self.weak and (name == "L0" or bool(high <= most * low))
            for name, (low, high) in self.intervals.items()
        }

    def extrapolated(self, model_size: float, batch_size: float, steps: float) -> str:
        """Return in words how far a run lies beyond those fitted, "" where it does not.

        >>> from fsl_num import fit_final_losses
        >>> table = {"model_size": [1e6, 1e7, 1e8, 1e9] * 2, "steps": [1e3] * 4 + [1e4] * 4, "batch_size": [8] * 8}
        >>> fitted = fit_final_losses(table | {"loss": [3, 2.6, 2.3, 2.1, 2.9, 2.5, 2.2, 2.0]}, "chinchilla")
        >>> fitted.extrapolated(1e12, 8, 1e4), fitted.extrapolated(1e8, 8, 5e3)
        ('Extrapolated: model_size 1000 times above those fitted.', '')
        """
        said = []
        for name, value in (("model_size", model_size), ("batch_size", batch_size), ("steps", steps)):
            value, fitted = positive(name, value), getattr(self.runs, name)
            above, below = value / float(fitted.max()), float(fitted.min()) / value
            if max(above, below) > _EXTRAPOLATED:
                side = "above" if above > below else "below"
                said.append(f"{name} {float(f'{max(above, below):.2g}'):.15g} times {side} those fitted")
        return f"Extrapolated: {', '.join(said)}." if said else ""

    def predict(self, model_size: Any, batch_size: Any, steps: Any, peak: Any = None) -> FinalLosses:
        """Return the final losses of other runs, with intervals.

        ``model_size``, ``batch_size``, ``steps``: between 1e-30 and 1e30, numbers or arrays that broadcast; ``peak``:
        learning rate, by default the largest one fitted. Raises ValueError or TypeError for anything else.
        """
        columns = {"model_size": model_size, "batch_size": batch_size, "steps": steps, "peak": peak}
        columns["peak"] = float(self.unit.peak[0]) if peak is None else peak
        arrays = [_positive(name, value) for name, value in columns.items()]
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError as error:
            shapes = ", ".join(
                f"{name} {array.shape}" for name, array in zip(columns, arrays, strict=True) if array.ndim
            )
            raise ValueError(
                f"model_size, batch_size, steps and peak must be numbers or arrays of one shape, or that broadcast, got"
                f" the shapes {shapes}: for every combination of two lists give one as a column (x[:, None])"
            ) from error
        runs = Runs(*(np.broadcast_to(array, shape).ravel() for array in arrays))
        centre = self._log_losses(self.theta, runs)
        spread = self._variances(lambda theta: self._log_losses(theta, runs)) + self.scatter**2
        half = self._quantile * np.sqrt(spread)
        return FinalLosses(
            *(np.exp(np.clip(logs, -700.0, 700.0)).reshape(shape) for logs in (centre, centre - half, centre + half))
        )

    def best(
        self, *, compute: Any = None, data: Any = None, model_size: Any = None, batch_size: Any = None
    ) -> BestSize:
        """Return the size, batch size and steps with the least predicted loss under a budget.

        Either ``compute`` = N B K, where ``model_size`` may be fixed, or ``data`` = B K, at ``model_size`` (default the
        largest fitted). The batch size is looked for within those fitted where ``batch_size`` does not fix it, the
        model size up to 1000 times beyond those fitted. Steps are at least 1. Raises ValueError for no budget or two,
        or one that allows no run.
        """
        if (compute is None) == (data is None):
            raise ValueError("give one budget: compute = N B K, or data = B K")
        budget = positive("compute" if data is None else "data", compute if data is None else data)
        sizes, batches = self.runs.model_size, self.runs.batch_size
        if model_size is None and data is not None:
            model_size = sizes.max()
        wide = (np.log(sizes.min() / _SIZES), np.log(sizes.max() * _SIZES))
        ranges = [
            wide if model_size is None else (np.log(positive("model_size", model_size)),) * 2,
            (np.log(batches.min()), np.log(batches.max()))
            if batch_size is None
            else (np.log(positive("batch_size", batch_size)),) * 2,
        ]
        if self.law == "chinchilla" and batch_size is None:
            ranges[1] = (float(np.log(np.median(batches))),) * 2  # the batch size does not enter
        window, least_at = list(ranges), np.zeros(3)
        for _ in range(_ZOOMS):
            axes = [np.unique(np.linspace(low, high, count)) for (low, high), count in zip(window, _GRID, strict=True)]
            size, batch = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
            steps = np.log(budget) - batch - (size if data is None else 0.0)
            allowed = steps >= 0.0
            if not allowed.any():
                raise ValueError(f"a budget of {budget:g} does not pay one step: allow more, or a smaller run")
            size, batch, steps = size[allowed], batch[allowed], steps[allowed]
            runs = Runs(np.exp(size), np.exp(batch), np.exp(steps), np.full(size.size, self.unit.peak[0]))
            least = int(np.argmin(self._log_losses(self.theta, runs)))
            least_at = np.array([size[least], batch[least], steps[least]])
            near = [2.0 * (high - low) / (count - 1) for (low, high), count in zip(window, _GRID, strict=True)]
            window = [
                (max(at - by, low), min(at + by, high))
                for at, by, (low, high) in zip(least_at[:2], near, ranges, strict=True)
            ]
        size, batch, length = (float(log) for log in np.exp(least_at))
        there = self.predict(size, batch, length)
        edge = model_size is None and bool(min(abs(least_at[0] - end) for end in wide) < 0.01)
        losses = (float(there.loss), float(there.lower), float(there.upper))
        return BestSize(size, batch, length, *losses, size / float(sizes.max()), edge)

    @property
    def sentences(self) -> list[str]:
        """What the runs do not determine, and which end of a range a parameter stands at."""
        said, law = [], self.definition
        for column, (least, names) in law.needs.items():
            if (have := self.runs.distinct(column)) < least:
                said.append(
                    f"{have} different values of {column} do not determine {', '.join(names)}: it takes {least}."
                )
        if self.weak:
            said.append(f"Not identifiable from these runs: {', '.join(self.weak)}; what the prior expects decides.")
        bent = zip(law.parameters, self.theta, law.bounds, strict=False)
        at_bound = [name for name, value, (low, high) in bent if min(value - low, high - value) < 1e-3]
        if at_bound:
            said.append(f"At the end of the range allowed: {', '.join(at_bound)}.")
        return said

    def as_dict(self) -> dict[str, Any]:
        """Return the fit as JSON-ready values."""
        intervals, known = self.intervals, self.identifiable
        return {
            "law": self.law,
            "formula": self.definition.formula,
            "runs": int(self.loss.size),
            "scatter": self.scatter,
            "level": self.level,
            "parameters": {
                name: {"value": value, "interval": list(intervals[name]), "identifiable": known[name]}
                for name, value in self.parameters.items()
            },
            "sentences": self.sentences,
        }

    def to_json(self) -> str:
        """Return the same as text."""
        return json.dumps(self.as_dict(), indent=2, allow_nan=False)

    def plot(self, ax: Any = None) -> Any:
        """Draw the final losses over the steps with the law through them; return the axes."""
        from fsl_num.curves.pictures import draw_final_losses

        return draw_final_losses(self, ax)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.parameters.items())
        return f"FinalLossFit({self.law}: {values}; scatter {self.scatter:.2g})"

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{value:.5g}", "{:.4g} .. {:.4g}".format(*self.intervals[name]),
             "yes" if self.identifiable[name] else "no")
            for name, value in self.parameters.items()
        ]  # fmt: skip
        head = ("parameter", "value", f"{100 * self.level:g} %", "identifiable")
        return html_table(head, rows, title=self.definition.formula, items=self.sentences)

    @property
    def _quantile(self) -> float:
        return float(stdtrit(self.freedom, 0.5 + 0.5 * self.level))

    def _variances(self, function: Callable[[Array], Array]) -> Array:
        """Of what is a function of the coordinates, by its slopes."""
        gradients = slopes(function, self.theta, float(self.loss.min()))
        return np.asarray(np.einsum("ri,ij,rj->r", gradients, self.covariance, gradients))

    def _log_losses(self, theta: Array, runs: Runs) -> Array:
        return np.log(self.definition.losses(theta, runs, self.unit))

    def _plain(self, coordinates: Array) -> dict[str, float]:
        law = self.definition
        logs = zip(law.parameters[:-1], np.exp(np.clip(coordinates[:-1], -700.0, 700.0)), strict=True)
        return {name: float(value) + law.offsets.get(name, 0.0) for name, value in logs} | {
            "L0": float(coordinates[-1])
        }


def slopes(function: Callable[[Array], Array], theta: Array, least: float) -> Array:
    """Return derivatives by the coordinates, logs and last L0, by central differences; ``least``: of the losses.

    >>> slopes(lambda theta: theta[:1] * theta[1:], np.array([3.0, 2.0]), 1.0).round(9).tolist()
    [[2.0, 3.0]]
    """
    widths = _FINE * np.append(np.ones(theta.size - 1), least)
    columns = [(function(theta + step) - function(theta - step)) / (2.0 * step.max()) for step in np.diag(widths)]
    return np.stack(columns, axis=-1)


def _positive(name: str, value: Any) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number or an array of numbers, got {value!r}") from error
    if not ((array > 1.0 / _ABSURD) & (array < _ABSURD)).all():
        raise ValueError(f"{name} must lie between {1.0 / _ABSURD:g} and {_ABSURD:g}, got {value!r}")
    return array
