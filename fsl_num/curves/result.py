"""The outcome of a fit: a law with its parameters, how well they are known, and predictions with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.curves.batches import at_batch
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.identify import Identifiability, TaskReading, profile, read_task
from fsl_num.curves.laws.base import Law
from fsl_num.curves.posterior import Posterior, draw
from fsl_num.curves.predict import Prediction, predict, said_once
from fsl_num.curves.score import Score, table
from fsl_num.curves.search import Settings, task
from fsl_num.curves.unseen import as_fitted
from fsl_num.curves.usual import HEADINGS, as_rows, head, predicted
from fsl_num.results import Result, html_table
from fsl_num.validation import Array, entries, finite_array, instance_of, one_of, positive, proper_share, whole_count


@dataclass(frozen=True, eq=False, repr=False)
class FitResult(Result):
    """A law fitted to curves.

    ``law``, ``values`` (the parameters in its order), ``curves`` (those fitted, as they were averaged),
    ``settings``, ``objective`` (what was minimised), ``report`` (what the curves tell
    of the parameters), ``drawn`` (the :class:`~fsl_num.curves.posterior.Posterior`, None where it was not asked for),
    ``notes``, ``reach`` (intrinsic time of the longest curve), ``warmed`` (whether the ``unseen`` first updates of
    curves were found to be a linear warmup; None where no curve has any), ``warnings`` (what a reader of any prediction
    should know of the curves).

    >>> from fsl_num.curves.fit import fit
    >>> curve = LossCurve(range(1, 9), [3, 2.5, 2.3, 2.2, 2.15, 2.1, 2.08, 2.06], lr=[0.1] * 8)
    >>> result = fit(curve, "momentum", starts=1)
    >>> decayed = result.predict([0.1] * 8 + [0.05] * 4, level=0.9)
    >>> round(decayed.final, 2), result.predict(curve, level=None).lower is None
    (2.03, True)
    >>> result.scores(curve, level=0.9)["curve"].coverage, result.profile("L0", [1.8, 1.9])[0].tolist()
    (1.0, [1.8, 1.9])
    >>> print(result.summary().splitlines()[0])
    Momentum law (momentum), fitted to 1 curve(s)
    >>> FitResult.from_json(result.to_json()).parameters == result.parameters
    True
    >>> result.plot(curve, level=0.9).get_ylabel()
    'loss'
    """

    law: Law
    values: tuple[float, ...]
    curves: tuple[LossCurve, ...]
    settings: Settings
    objective: float
    report: Identifiability
    drawn: Posterior | None
    notes: tuple[str, ...]
    reach: float
    warmed: bool | None = None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.parameters.items())
        return f"FitResult({self.law.name}: {values})"

    @property
    def theta(self) -> Array:
        """The parameters as an array."""
        return np.array(self.values)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name."""
        return dict(zip(self.law.names, self.values, strict=True))

    @property
    def posterior(self) -> Posterior:
        """What intervals are made of; ValueError where the fit was made without."""
        if self.drawn is None:
            raise ValueError("this fit has no intervals: predict(..., level=None), or fit again with intervals=True")
        return self.drawn

    @property
    def peaks(self) -> tuple[float, ...]:
        """The peak rates of the runs fitted, rising."""
        return tuple(sorted({curve.plan.peak for curve in self.curves}))

    @property
    def task(self) -> TaskReading:
        """s, beta and the learning regime with intervals, or that they are not identifiable."""
        return read_task(self.law, None if self.drawn is None else self.drawn.samples, self.report)

    def as_fitted(self, curve: LossCurve) -> LossCurve:
        """Return the curve with the rates of its ``unseen`` first updates as this fit takes them.

        >>> from fsl_num import fit
        >>> curve = LossCurve(range(1, 9), [3, 2.5, 2.3, 2.2, 2.15, 2.1, 2.08, 2.06], lr=[0.1] * 8)
        >>> fit(curve, "momentum", starts=1, intervals=False).as_fitted(curve) is curve  # it has no such updates
        True
        """
        instance_of("curve", curve, LossCurve)
        return as_fitted(self, curve)

    def at_batch(self, batch_size: float = 1.0) -> FitResult:
        """Return this fit as one of a law without batch sizes, for runs with this one; 1 is the law's reference.

        A fit whose law knows no batch sizes is returned as it is. The report on the parameters is that of this fit.

        >>> from fsl_num import fit
        >>> loss = [3, 2.5, 2.3, 2.2, 2.15, 2.1, 2.08, 2.06]
        >>> runs = [LossCurve(range(1, 9), loss, lr=[0.1] * 8, batch_size=size) for size in (8, 16)]
        >>> result = fit(runs, starts=1, intervals=False)
        >>> "r" in result.parameters, "r" in result.at_batch(32).parameters
        (True, False)
        """
        batch_size = positive("batch_size", batch_size)
        law, values = at_batch(self.law, self.theta, batch_size)
        if law is self.law:
            return self
        drawn = self.drawn
        if drawn is not None:
            drawn = replace(drawn, samples=at_batch(self.law, drawn.samples, batch_size)[1])
        return replace(self, law=law, values=tuple(values.tolist()), drawn=drawn)

    def redrawn(self, count: int) -> FitResult:
        """Return this fit with ``count`` draws of what the curves leave open, where few of them are chance.

        Raises ValueError for a fit without intervals, and where ``count`` is no whole number of at least 1.

        >>> from fsl_num import fit
        >>> curve = LossCurve(range(1, 9), [3, 2.5, 2.3, 2.2, 2.15, 2.1, 2.08, 2.06], lr=[0.1] * 8)
        >>> len(fit(curve, "momentum", starts=1).redrawn(200).posterior.samples)
        200
        """
        few, count = self.posterior, whole_count("count", count)
        fitted = task(self.law, self.curves, self.settings, coarse=True)
        samples, misfit, residuals = draw(fitted, self.theta, few.residuals, count=count)
        return replace(self, drawn=replace(few, samples=samples, misfit=misfit, residuals=residuals))

    def predict(
        self, schedule: Any, level: float | None = 0.9, *, after: LossCurve | None = None, **known: Any
    ) -> Prediction:
        """Return the predicted losses of a schedule, with intervals of nominal ``level`` (None: without).

        ``after``: a run that goes on with this schedule; by how much its last losses lie off the law, those that follow
        do too, less and less as intrinsic time passes.

        ``schedule``: a curve (its own rows are predicted), a Plan, a :class:`~fsl_num.schedules.Schedule`, or an array
        with the learning rate of every update, warmup included. ``known``: ``recorded``, the updates after which the
        loss is wanted, and for the last two ``warmup`` and ``model_size``. Raises TypeError for these of a curve or a
        Plan, ValueError for a schedule so far off that no positive loss comes out.
        """
        return predict(self, schedule, level, after=after, **known)

    def scores(self, curves: Any = None, level: float = 0.9) -> dict[str, Score]:
        """Return the score on each curve, by name; default: on those fitted."""
        level = proper_share("level", level)
        level_drawn = level if self.drawn is not None else None
        return {curve.name: self.predict(curve, level_drawn).score(curve) for curve in self._given(curves)}

    def _given(self, curves: Any) -> Sequence[LossCurve]:
        """The curves that are asked for: one, several, or by default those fitted."""
        if curves is None:
            return self.curves
        return [curves] if isinstance(curves, LossCurve) else entries("curves", curves, LossCurve, least=1)

    def profile(self, name: str, values: Any = None) -> tuple[Array, Array]:
        """Return values of one parameter and the least objective with it held there: its profile likelihood.

        ``values``: default eleven, from a third to three times the fitted one (within its bounds).
        """
        names = ", ".join(self.law.names)
        one_of("name", name, self.law.names, f"no parameter {name!r}; the law {self.law.name} has {names}")
        parameter = self.law.parameters[self.law.names.index(name)]
        centre = self.parameters[name]
        grid = np.geomspace(1 / 3, 3, 11) * centre if values is None else finite_array("values", values)
        grid = np.unique(np.clip(grid, parameter.lower, parameter.upper))
        return grid, profile(task(self.law, self.curves, self.settings), self.theta, name, grid)

    def plot(self, curves: Any = None, level: float = 0.9, ax: Any = None) -> Any:
        """Draw measured and predicted losses of curves (default: those fitted); return the axes.

        With None in a new figure with the residuals below: ``axes.figure.axes[1]``.
        """
        from fsl_num.curves.pictures import draw_fit

        chosen = self._given(curves)
        predictions = [self.predict(curve, level if self.drawn is not None else None) for curve in chosen]
        return draw_fit([(c, p.loss, p.lower, p.upper) for c, p in zip(chosen, predictions, strict=True)], ax)

    def summary(self) -> str:
        """Return the fit in words and numbers."""
        lines = [f"{self.law.title} ({self.law.name}), fitted to {len(self.curves) or 'unknown'} curve(s)"]
        lines.append("")
        for parameter, value in zip(self.law.parameters, self.values, strict=True):
            low, high = self.report.intervals[parameter.name]
            span = f"  [{low:.4g}, {high:.4g}]" if self.drawn is not None else ""
            lines.append(f"  {parameter.name:<7} {value:>11.5g}{span:<26} {parameter.meaning} ({parameter.unit})")
        lines += ["", *self.warnings, *self.report.sentences, self.task.sentence, *self.notes]
        if not self.law.final_only:
            lines += ["", table(self.scores())]
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.law.formula}$"

    def _repr_html_(self) -> str:
        """What the usual schedules would give, how far to trust it, and only then the parameters."""
        answer, beside = "", self.warnings
        if not self.law.final_only:
            predictions, reasons = predicted(self, self.curves)
            trust = said_once({name: prediction.sentences for name, prediction in predictions.items()})
            missing = (f"{name} is not predicted: {reason}" for name, reason in reasons.items())
            items, beside = (*self.warnings, *trust, *missing), ()
            answer = html_table(HEADINGS, as_rows(predictions), title=head(predictions), items=items)
        rows = [
            (parameter.name, f"{value:.5g}", f"{low:.4g} .. {high:.4g}", parameter.meaning)
            for parameter, value in zip(self.law.parameters, self.values, strict=True)
            for low, high in [self.report.intervals[parameter.name]]
        ]
        return answer + html_table(
            ("parameter", "value", "90 % of draws", "meaning"), rows, title=self.law.title,
            items=(*beside, *self.report.sentences, self.task.sentence),
        )  # fmt: skip

    def to_json(self) -> str:
        """Return the fit as JSON: all that predictions need, and the curves with the rows that were fitted."""
        from fsl_num.curves.saved import to_json

        return to_json(self)

    @staticmethod
    def from_json(text: str) -> FitResult:
        """Return the fit that :meth:`to_json` wrote; ValueError or TypeError for anything else."""
        instance_of("text", text, str)
        from fsl_num.curves.saved import fields_of

        return FitResult(**fields_of(text))
