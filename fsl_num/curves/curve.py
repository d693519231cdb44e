"""A measured loss curve: the rows of a training log, checked, with what is known of the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fsl_num.curves.plan import Plan, Steps, as_plan
from fsl_num.curves.rates import BETWEEN, MEANT_TOKENS, WARMUP_SHAPES, rates_of_rows, unseen_updates
from fsl_num.results import Result, as_loss, first_and_last, html_table
from fsl_num.validation import Array, as_array, instance_of, one_of, positive, real_number, whole_count, whole_size

_POSITIVE = (
    "loss must be positive, got {}; drop the row, undo the logarithm, or add a constant to all losses that may go below"
    " 0, as minus the log-likelihood of a density does"
)
_AGAIN = (
    "step {} does not come after the one before it: where a resumed run did steps again, keep the last of them with"
    " restarts='keep-last' (--restarts keep-last); where it went on and only counts anew, add the steps done before;"
    " else sort the rows and drop duplicates"
)


class CurveError(ValueError):
    """What is wrong with a curve, with the row it sits on; ``row`` is None where it is no single row.

    >>> CurveError("loss must be positive", 3).row
    3
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message if row is None else f"row {row}: {message}")
        self.row = row


@dataclass(frozen=True, eq=False, repr=False)
class LossCurve(Result):
    """Steps, learning rates and losses of one run.

    ``step``: updates done when the loss was measured, whole, increasing. ``loss``: nats (or any unit), positive.
    ``lr``: learning rate of the next update at each row; None where ``schedule`` is given: a
    :class:`~fsl_num.schedules.Schedule`, a :class:`~fsl_num.curves.plan.Plan` or an array with the rate of every
    update. ``batch_size``: one number or one a row, up to the next row (default 1). ``warmup``: number of warmup
    updates, None where it is not known; the rows within it are not fitted. Where the rows begin after it, its rates are
    rebuilt with ``warmup_shape`` ("linear" from 0, "cosine", "constant"). ``unseen``: the first updates, whose rates
    nothing tells (default: where the warmup is not known, those before rows that begin late); they are taken to be that
    of the first row, until a fit finds that :meth:`warmed` agrees better with the losses. ``between``: "auto", "hold"
    or "straight", see :mod:`~fsl_num.curves.rates`. ``model_size``: number of parameters. ``rows``: numbers by which
    errors name the rows (lines of a file; default 0, 1, ...). ``smoothing``: what was done to the losses, in words.
    ``counts``: of how many measured losses each row is the mean (default 1), ``scatter`` their spread about it, of log
    loss: see :mod:`~fsl_num.curves.averages`. ``notes``: what was decided when it was read from a log, in sentences.

    Raises CurveError, which names the row, or TypeError.

    >>> curve = LossCurve([100, 200, 300], [3.0, 2.5, 2.4], lr=[1e-3, 1e-3, 5e-4], warmup=100)
    >>> curve.plan.intrinsic_time.round(6).tolist()
    [0.0495, 0.1495, 0.2495]
    """

    step: Any
    loss: Any
    lr: Any = None
    schedule: Any = None
    batch_size: Any = 1.0
    warmup: Any = None
    warmup_shape: str = "linear"
    between: str = "auto"
    model_size: float | None = None
    name: str = "curve"
    rows: Any = None
    smoothing: str = "none"
    counts: Any = None
    scatter: float = 0.0
    notes: tuple[str, ...] = ()
    unseen: int | None = None

    def __post_init__(self) -> None:
        for text in ("name", "smoothing"):
            instance_of(text, getattr(self, text), str)
        loss = _column("loss", self.loss, None)
        rows = np.arange(loss.size) if self.rows is None else as_array("rows", self.rows)
        if loss.size == 0:
            raise CurveError(f"{self.name}: no rows; a curve needs at least one step with its loss")
        if rows.shape != loss.shape:
            raise CurveError(f"rows must number every row, got {rows.size} numbers for {loss.size} rows")
        if rows.dtype.kind not in "iu":
            raise TypeError(f"rows must be whole numbers, one a row, got dtype {rows.dtype}")
        step = _column("step", self.step, rows, loss.size)
        loss = _column("loss", self.loss, rows, loss.size)
        _first(loss <= 0.0, rows, _POSITIVE, loss)
        _first(step < 0, rows, "step must be at least 0, got {}", step)
        _first(step > 2.0**53, rows, f"step {{}} is beyond 2^53: {MEANT_TOKENS}", step)
        _first(step != np.floor(step), rows, "step must be a whole number of updates, got {}", step)
        falls = np.concatenate([[False], np.diff(step) <= 0.0])
        _first(falls, rows, _AGAIN, step)
        if (self.lr is None) == (self.schedule is None):
            raise CurveError(f"{self.name}: give the learning rates either as lr, one a row, or as a schedule")
        batch = _column("batch_size", self.batch_size, rows, loss.size, single=True)
        _first(batch <= 0.0, rows, "batch_size must be positive, got {}", batch)
        counts = None
        if self.counts is not None:
            counts = _column("counts", self.counts, rows, loss.size)
            _first(counts <= 0.0, rows, "counts must be positive, got {}", counts)
        lr = None
        if self.lr is not None:
            lr = _column("lr", self.lr, rows, loss.size)
            _first(lr < 0.0, rows, "lr must be at least 0, got {}", lr)
            if not lr.any():
                raise CurveError(f"{self.name}: lr is 0 in every row: nothing was trained; is it the right column?")
        for name, allowed in (("warmup_shape", WARMUP_SHAPES), ("between", BETWEEN)):
            if not isinstance(value := getattr(self, name), str) or value not in allowed:
                raise CurveError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
        size = None if self.model_size is None else positive("model_size", self.model_size)
        warmup = 0 if self.warmup is None else whole_count("warmup", self.warmup, least=0)
        if self.unseen is not None:
            unseen = whole_count("unseen", self.unseen, least=0)
        else:
            unseen = unseen_updates(step) if self.warmup is None and self.schedule is None else 0
        values = {"step": step.astype(np.int64), "loss": loss, "lr": lr, "batch_size": batch, "rows": rows.copy()}
        scatter = positive("scatter", self.scatter, zero=True)
        for name, value in {
            **values,
            "counts": counts,
            "scatter": scatter,
            "warmup": warmup,
            "unseen": unseen,
            "model_size": size,
        }.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)
        _ = self.plan  # a schedule that does not reach the last row is refused here, not later

    def __repr__(self) -> str:
        return f"LossCurve({self.name!r}, {self.loss.size} rows, steps {self.step[0]} to {self.step[-1]})"

    def __len__(self) -> int:
        return int(self.loss.size)

    @cached_property
    def used(self) -> Any:
        """Which rows a fit uses: those after warmup, and after the first update whose rate is not 0."""
        return self.step >= self.plan.recorded[0]

    @cached_property
    def plan(self) -> Plan:
        """The learning rate of every update, and the steps of the rows that a fit uses."""
        steps: Steps = self.step[self.step >= max(self.warmup, 1)]
        if steps.size == 0:
            raise CurveError(
                f"{self.name}: no row lies after the warmup of {self.warmup} updates (the last step is"
                f" {self.step[-1]}); give a shorter warmup"
            )
        last = int(steps[-1])
        if self.schedule is None:
            try:
                rates = self.rates(self.warmup)
            except ValueError as error:
                raise CurveError(f"{self.name}: {error}", int(self.rows[-1])) from error
        else:
            whole = as_plan(self.schedule)
            if whole.rates.size < last:
                raise CurveError(
                    f"{self.name}: the schedule has {whole.rates.size} updates, but the last row is after {last}",
                    int(self.rows[-1]),
                )
            rates = whole.rates
        trained = steps[steps > np.argmax(rates > 0.0)]  # many a warmup begins with a rate of 0
        steps = trained if trained.size else steps[-1:]  # Plan refuses a run that never trained
        batch = self.batch_size
        size = self.model_size
        if self.schedule is not None and self.batch_size.size == 1 and self.batch_size[0] == 1.0:
            batch = whole.batch_sizes[:last]  # what the schedule says, unless the curve says more
            size = whole.model_size if size is None else size
        elif batch.size > 1:
            row = np.clip(np.searchsorted(self.step, np.arange(last), side="right") - 1, 0, None)
            batch = batch[row]
        try:
            if isinstance(self.schedule, Plan) and batch is not self.batch_size:
                return whole.first(last, steps, warmup=self.warmup, model_size=size, name=self.name)
            return Plan(rates[:last], steps, self.warmup, batch, size, self.name)
        except ValueError as error:
            raise CurveError(f"{self.name}: {error}") from error

    @property
    def updates(self) -> int:
        """How many updates the run has: those of its schedule where it is known beyond the last row.

        >>> LossCurve([1, 3], [3.0, 2.5], schedule=[0.1] * 9).updates, LossCurve([1, 3], [3, 2], lr=[0.1, 0.1]).updates
        (9, 3)
        """
        known = self.plan if self.schedule is None else as_plan(self.schedule)
        return int(max(known.rates.size, self.plan.rates.size))

    def rates(self, warmup: int) -> Array:
        """Return the learning rate of every update up to the last row, from those of the rows, after such a warmup.

        >>> LossCurve([1, 3], [3.0, 2.5], lr=[0.1, 0.1]).rates(0).tolist()
        [0.1, 0.1, 0.1]
        """
        whole_size("warmup", warmup, infinite=False, least=0)
        if self.lr is None:
            raise CurveError(f"{self.name}: no row has a rate of its own, its schedule says them: take plan.rates")
        return rates_of_rows(self.step, self.lr, warmup=warmup, warmup_shape=self.warmup_shape, between=self.between)

    @property
    def observed(self) -> Array:
        """The losses of the rows that a fit uses."""
        return np.asarray(self.loss[self.used])

    def keep(self, wanted: Any, **changed: Any) -> LossCurve:
        """Return the curve with some of its rows (a mask or a list of positions) and the schedule of all.

        >>> curve = LossCurve([1, 2, 3], [3.0, 2.5, 2.4], lr=[0.1, 0.1, 0.1])
        >>> curve.keep([0, 2]).step.tolist()
        [1, 3]
        """
        chosen = as_array("wanted", wanted)
        if not chosen.size or (chosen.dtype.kind == "b" and not chosen.any()):
            raise ValueError("wanted must keep at least one row, and keeps none")
        if chosen.dtype.kind not in "biu":
            raise TypeError(f"wanted must be a mask or a list of positions, got an array of dtype {chosen.dtype}")
        size = self.step.size
        inside = chosen.size == size if chosen.dtype.kind == "b" else ((-size <= chosen) & (chosen < size)).all()
        if chosen.ndim != 1 or not inside:
            raise ValueError(f"wanted must be a mask of {size} rows or a list of positions in them, got {chosen}")
        counts = None if self.counts is None else self.counts[chosen]
        return self.replaced(
            self.step[chosen], self.loss[chosen], rows=self.rows[chosen], **{"counts": counts, **changed}
        )

    def replaced(self, step: Any, loss: Any, **changed: Any) -> LossCurve:
        """Return a curve with other rows, under the same schedule.

        >>> LossCurve([1, 2], [3.0, 2.5], lr=[0.1, 0.1]).replaced([2], [2.4], rows=[2]).loss.tolist()
        [2.4]
        """
        known = {"schedule": self.plan, "lr": None, "batch_size": 1.0, "rows": None, "counts": None}
        return replace(self, step=step, loss=loss, **{**known, **changed})

    def branched(self, parent: LossCurve, at: int | None = None) -> LossCurve:
        """Return the curve as that of a run which went on from a checkpoint of another.

        The rates before it are those of ``parent``. ``at``: the update at which it branched; default: its first row.
        Where its steps begin before, they count from there. Raises CurveError where the parent was not so long.

        >>> parent = LossCurve([1, 2, 3], [3.0, 2.5, 2.4], lr=[0.2, 0.2, 0.2])
        >>> branch = LossCurve([1, 2], [2.3, 2.2], lr=[0.1, 0.0]).branched(parent, 3)
        >>> branch.step.tolist(), branch.plan.rates.tolist()
        ([4, 5], [0.2, 0.2, 0.2, 0.1, 0.1])
        """
        instance_of("parent", parent, LossCurve)
        before, first = parent.plan.rates, int(self.step[0])
        begin = first if at is None else whole_count("at", at)
        if not 0 < begin <= before.size:
            raise CurveError(
                f"{self.name}: it would branch at update {begin}, and {parent.name} has {before.size}; say at which"
                " update it branched (--branch-of FILE@STEP)"
            )
        shift = begin if first < begin else 0
        own = self.plan.rates if shift else self.plan.rates[begin:]
        note = f"a branch of {parent.name} at update {begin}: the rates before are those of that run"
        return replace(
            self,
            step=self.step + shift,
            lr=None,
            schedule=np.append(before[:begin], own),
            warmup=parent.warmup,
            unseen=parent.unseen,
            notes=(*self.notes, note),
        )

    def warmed(self, longest: int | None = None) -> LossCurve:
        """Return the curve as if its ``unseen`` first updates were a linear warmup; itself where there are none.

        ``longest``: the rate rises over at most so many of them, and stays.

        >>> curve = LossCurve([4, 5, 6], [3.0, 2.5, 2.4], lr=[0.4] * 3, unseen=4)
        >>> curve.warmed().plan.rates.round(3).tolist(), curve.warmed(2).plan.rates.round(3).tolist()
        ([0.0, 0.1, 0.2, 0.3, 0.4, 0.4], [0.0, 0.2, 0.4, 0.4, 0.4, 0.4])
        """
        count = min(self.unseen or 0, self.plan.rates.size)
        if longest is not None:
            count = min(count, whole_count("longest", longest, least=0))
        if not count:
            return self
        rates = np.array(self.plan.rates)
        rates[:count] *= np.arange(count) / count
        plan = replace(self.plan, rates=rates, recorded=None)
        return replace(self, lr=None, schedule=plan, batch_size=1.0, warmup=count, unseen=0)

    def averaged(self, rows: int) -> LossCurve:
        """Return at most ``rows`` rows, each the mean of the losses in a range of updates that no jump of the rate parts.

        See :func:`fsl_num.curves.averages.averaged`.

        >>> len(LossCurve(range(1, 101), [3.0, 2.0] * 50, lr=[0.1] * 100).averaged(20)) <= 20
        True
        """  # noqa: E501
        from fsl_num.curves.averages import averaged

        return averaged(self, rows)

    def between_steps(self, first: Any, last: Any) -> LossCurve:
        """Return the rows with first <= step <= last.

        >>> LossCurve([1, 2, 3], [3.0, 2.5, 2.4], lr=[0.1, 0.1, 0.1]).between_steps(2, 9).step.tolist()
        [2, 3]
        """
        lowest, highest = real_number("first", first), real_number("last", last)
        chosen = (self.step >= lowest) & (self.step <= highest)
        if not chosen.any():
            raise CurveError(f"{self.name}: no row with {first} <= step <= {last}")
        return self.keep(chosen)

    def thinned(self, rows: int) -> LossCurve:
        """Return at most ``rows`` rows, evenly spaced, the last one included; the losses kept are unchanged.

        >>> LossCurve([1, 2, 3], [3.0, 2.5, 2.4], lr=[0.1, 0.1, 0.1]).thinned(2).step.tolist()
        [1, 3]
        """
        count = whole_count("rows", rows)
        if count >= len(self):
            return self
        return self.keep(np.unique(np.round(np.linspace(len(self) - 1, 0, count)).astype(int)))

    def smoothed(self, span: int, *, centre: str = "median") -> LossCurve:
        """Return the curve with every loss replaced by the median (or "mean") of the ``span`` rows around it.

        ``span`` is odd. The window is centred and shrinks at both ends, so that it does not lag behind the curve; it
        blurs a drop of the loss over half its length all the same. Fit and score on the same smoothing.

        >>> LossCurve([1, 2, 3], [3.0, 9.0, 2.0], lr=[0.1, 0.1, 0.1]).smoothed(3).loss.tolist()
        [3.0, 3.0, 2.0]
        """
        width = whole_count("span", span)
        if width % 2 == 0:
            raise ValueError(f"span must be odd, so that it has a middle row, got {span!r}")
        half = width // 2
        middle = np.median if one_of("centre", centre, ("median", "mean")) == "median" else np.mean
        reach = [min(half, i, len(self) - 1 - i) for i in range(len(self))]
        loss = np.array([middle(self.loss[i - r : i + r + 1]) for i, r in enumerate(reach)])
        window = f"centred {centre} of {width} rows"
        return replace(self, loss=loss, smoothing=window if self.smoothing == "none" else f"{self.smoothing}; {window}")

    def plot(self, ax: Any = None) -> Any:
        """Draw the losses and the learning rate over the steps; return the axes of the losses (needs matplotlib).

        >>> LossCurve([1, 2, 3], [3.0, 2.5, 2.4], lr=[0.1, 0.1, 0.1]).plot(ax=None).get_xlabel()
        'step'
        """
        from fsl_num.curves.pictures import draw_curve

        return draw_curve(self, ax)

    def _repr_html_(self) -> str:
        rates = np.append(self.plan.rates, self.plan.rates[-1])[self.step]  # of the next update, as logs have them
        measured = zip(self.step, rates, self.loss, strict=True)
        rows = first_and_last([(str(step), f"{rate:.4g}", as_loss(loss)) for step, rate, loss in measured])
        title = f"{self.name}: {len(self)} rows, steps {self.step[0]} to {self.step[-1]}"
        return html_table(("step", "learning rate", "loss"), rows, title=title, items=self.notes)


def _column(name: str, values: Any, rows: Any, size: int | None = None, *, single: bool = False) -> Array:
    """Return a column as finite floats; ``rows`` None: without checks of the values."""
    if np.ma.is_masked(values):
        raise CurveError(f"{name} holds masked numbers: leave their rows out, or fill them")
    array = as_array(name, values)
    if single:
        array = np.atleast_1d(array)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise TypeError(
            f"{name} must be a list of real numbers, one a row, got {type(values).__name__} of dtype {array.dtype}"
            f" and shape {array.shape}"
        )
    column = array.astype(np.float64)
    if rows is None:
        return column
    if column.size != size and not (single and column.size == 1):
        raise CurveError(f"{name} must have one number a row, got {column.size} for {size} rows")
    remedy = "drop the row or repair it"
    if name == "loss":
        remedy += " (drop_missing=True, --drop-missing); where the run diverged, leave its end out (--last-step)"
    _first(~np.isfinite(column), rows, name + " must be finite, got {}; " + remedy, column)
    return column


def _first(bad: Any, rows: Any, message: str, values: Array) -> None:
    """Raise CurveError for the first bad row, saying how many there are."""
    if bad.any():
        at = int(np.argmax(bad))
        count_words = f" ({int(bad.sum())} such rows)" if bad.sum() > 1 else ""
        value, row = values[min(at, values.size - 1)], int(rows[min(at, rows.size - 1)])
        raise CurveError(message.format(f"{value:.10g}") + count_words, row)
