"""A run under way: where it ends, when it reaches a loss, what decaying now would give, whether it is on track."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.curves.batches import last_batch
from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.plan import Plan
from fsl_num.curves.predict import Prediction, said_once
from fsl_num.curves.result import FitResult
from fsl_num.results import Result, how_well, html_table
from fsl_num.schedules import SCHEDULES, as_schedule, parameters_of, step_rates
from fsl_num.schedules.catalogue import BYTES_OF_A_STEP
from fsl_num.validation import affordable, entries, instance_of, positive, proper_share, whole_count

ENDINGS: Final = ("hold", "decay now", "decay late")
"""How the rest of the run may go: the last rate held, a linear decay to 0 from now on, and one over the last fifth of
the run."""

SO_FAR: Final = "as so far"
"""The ending of a run whose learning rates so far are those of a schedule up to the last step planned."""

EARLY: Final = 0.15
"""The share of the steps planned whose rows weigh less, at most half of the run (see
:class:`~fsl_num.curves.search.Settings`). What matters is how the run goes on, and the beginning, much of what is known
of it, moves the exponent of a law by several standard deviations.
``tests/fsl_num/curves_intervals.py beginnings`` chose it."""

_SHAPES: Final = ("cosine", "linear", "1-sqrt", "wsd")  # but for the last, a last rate and a multiple of one shape
_ALIKE = 5e-3  # of the peak: rates of rows that differ by less are those of one schedule
_FALLEN = 0.02  # of the peak: less says nothing of a shape
_FEWEST = 3  # rows of a decay
_STARTS = 81  # of a decay, tried between rows
_AS_GOOD = 1e-3  # of the peak: by so much better must a schedule be that needs a stable phase
_NOTHING = 1e-4  # of the peak: a last rate of 0, but for the rounding of the log
_LATE = 0.2
_HIDDEN = 0.75  # of the rows after warmup are fitted to see whether the rest was as expected
_ROWS = 200


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Result):
    """The predictions of a run's end by the name of its ending, the one asked for first.

    ``fitted``: the fit to the run so far and to the others. ``last``: the last step of the run. ``surprise``: the error
    of what the first three quarters of the run predict of its last rows, in half-widths of the 90 % interval; above 1
    it is off track, nan where the run is too short to tell. ``followed``: the schedule of which the run's rates are the
    beginning, in words; "" where none was found or looked for. :func:`forecast` makes one.
    """

    fitted: FitResult
    predictions: Mapping[str, Prediction]
    last: int
    surprise: float
    followed: str = ""

    def __repr__(self) -> str:
        endings = "; ".join(f"{name}: {prediction.final_words()}" for name, prediction in self.predictions.items())
        return f"Forecast(after {self.main.step[-1]} steps, {endings})"

    @property
    def main(self) -> Prediction:
        """The ending that was asked for."""
        return next(iter(self.predictions.values()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which schedule it follows, whether it is on track, and how far to trust the predictions."""
        said = []
        if self.followed:
            said.append(f"Its rates so far are those of a {self.followed} over {self.main.plan.rates.size} steps.")
        if math.isfinite(self.surprise):
            state = "on track" if self.surprise <= 1.0 else "off track"
            said.append(
                f"The run is {state} at step {self.last}: its last quarter lies"
                f" {float(f'{self.surprise:.2g}'):g} half-widths of the interval from what the rows before predict."
            )
        return (*said, *said_once({name: prediction.sentences for name, prediction in self.predictions.items()}))

    def plot(self, target: float | None = None, ax: Any = None) -> Any:
        """Draw the run and its endings with their intervals; return the axes (needs matplotlib).

        ``target``: a loss to be reached, drawn with the steps at which it is.
        """
        from fsl_num.curves.pictures import draw_forecast

        return draw_forecast(self, None if target is None else positive("target", target), ax)

    def _repr_html_(self) -> str:
        rows = [
            (name, end.in_digits(end.final), "" if (half := end.mean_half_width) is None else how_well(half))
            for name, end in self.predictions.items()
        ]
        head = ("ending", f"loss after {int(self.main.step[-1])} steps", "known to")
        return html_table(head, rows, items=(*self.fitted.warnings, *self.sentences))

    def reaches(self, target: float) -> dict[str, int | None]:
        """Return for each ending the first predicted step with a loss of at most ``target``, or None."""
        target = positive("target", target)
        first_steps: dict[str, int | None] = {}
        for name, prediction in self.predictions.items():
            low = np.flatnonzero(prediction.loss <= target)
            first_steps[name] = int(prediction.step[low[0]]) if low.size else None
        return first_steps


def _planned(run: Plan, steps: int) -> int:
    """The steps that are planned, where they are more than the run has and not too many."""
    total = whole_count("steps", steps)
    if total <= run.rates.size:
        raise ValueError(f"the run has {run.rates.size} updates already: forecast to more than that, not to {total}")
    affordable("steps", total, (1 + len(ENDINGS)) * BYTES_OF_A_STEP, "forecast to fewer")  # the plans of all endings
    return total


def schedule_so_far(run: Plan, steps: int) -> tuple[str, Any] | None:
    """Return which schedule over ``steps`` updates begins with the rates of a run, in words, and its rates.

    A cosine, a linear decay, 1 - sqrt or an exponential decay, to any last rate, from the warmup on or after a stable
    phase; None where none does, or where the rate has not fallen yet. Raises ValueError where the run is longer.

    >>> words, rates = schedule_so_far(Plan(step_rates("cosine", peak=1.0, steps=100, final=0.1)[:50]), 100)
    >>> words, round(float(rates[-1]), 3)
    ('cosine to 0.1', 0.1)
    >>> schedule_so_far(Plan(step_rates("linear", peak=1.0, steps=100, decay_fraction=0.4)[:80]), 100)[0]
    'linear to 0 from step 60 on'
    """
    steps = _planned(run, steps)
    at = run.recorded[(run.recorded >= run.warmup) & (run.recorded < run.rates.size)]
    # Some decay from the peak, some from the first step on; a log may begin where the warmup ends.
    begins = [(warmup, warmup) for warmup in dict.fromkeys((run.warmup, int(run.recorded[0]), 0)) if warmup < steps]
    begins += [(run.warmup, start) for start in _ends_of_stable_phase(run, at)]
    candidates: list[tuple[float, str, Callable[[Any], Any]]] = []
    for warmup, start in begins:
        rows = at[at >= start]
        if rows.size < _FEWEST or run.rates[rows[0]] - run.rates[rows[-1]] < _FALLEN * run.peak:
            continue
        lengths = {"steps": steps, "warmup": warmup, "decay_fraction": (steps - start) / (steps - warmup)}
        for name in _SHAPES if run.rates[rows[-1]] > 0.0 else _SHAPES[:-1]:
            last, rate = _through(name, rows, run, lengths)
            off = float(np.abs(rate(at) - run.rates[at]).max()) / run.peak
            if off <= _ALIKE:
                called = "exp-decay" if name == "wsd" and start == warmup else name
                words = f"{called} to {last:.2g}" + f" from step {start} on" * (start > warmup)
                candidates.append((off + _AS_GOOD * (start > warmup), words, rate))
    if not candidates:
        return None
    _, words, rate = min(candidates, key=lambda candidate: candidate[0])
    return words, rate(np.arange(steps))


def _ends_of_stable_phase(run: Plan, at: Any) -> list[int]:
    """Steps, after the warmup, at which a decay may have begun: between the last two rows at the peak and the next one.

    The last one may already be on the way: a cosine begins flat.
    """
    top = np.flatnonzero(run.rates[at] >= (1.0 - _NOTHING) * run.peak)
    if not top.size or top[-1] + 1 == at.size:
        return []
    between = np.unique(np.linspace(at[top[-2:][0]], at[top[-1] + 1], _STARTS).astype(int))
    return [int(start) for start in between if start > run.warmup]


def _through(name: str, rows: Any, run: Plan, lengths: Mapping[str, Any]) -> tuple[float, Callable[[Any], Any]]:
    """The last rate of the schedule that goes through the rates at ``rows``, and its rate at any step."""
    known = run.rates[rows]
    if name == "wsd":
        slope = float(np.polyfit(rows, np.log(known), 1)[0])
        fallen = math.exp(min(slope * (lengths["steps"] - lengths["warmup"]) * lengths["decay_fraction"], 0.0))
        last = run.peak * max(fallen, _NOTHING)
        return last, as_schedule(name, peak=run.peak, final=last, **lengths).learning_rate
    shape = as_schedule(name, peak=1.0, **lengths).learning_rate
    fall, last = (float(coefficient) for coefficient in np.polyfit(shape(rows), known, 1))
    last = last if last > _NOTHING * run.peak else 0.0
    return last, lambda step: last + fall * shape(step)


def continued(run: Plan, steps: int, ending: str) -> Plan:
    """Return the plan of a run with its rates so far and an ``ending`` up to ``steps`` updates.

    ``ending``: one of :data:`ENDINGS`, a named schedule without parameters, which then stands for the whole run, or
    :data:`SO_FAR`; ValueError where no :func:`schedule_so_far` is found.

    >>> continued(Plan([0.1, 0.1]), 4, "decay now").rates.round(3).tolist()
    [0.1, 0.1, 0.1, 0.05]
    """
    instance_of("ending", ending, str)
    done, total = run.rates.size, _planned(run, steps)
    k, last = np.arange(done, total), float(run.rates[-1])
    if ending in ENDINGS:
        begin = {"hold": total, "decay now": done, "decay late": max(done, int(total * (1 - _LATE)))}[ending]
        rates_left = last * np.minimum(1.0, (total - k) / max(total - begin, 1))
    elif ending == SO_FAR:
        followed = schedule_so_far(run, total)
        if followed is None:
            raise ValueError(f"the rates so far are not those of a schedule of {total} updates: name one, or an ending")
        rates_left = followed[1][done:]
    elif ":" not in (name := str(ending).partition("(")[0]) and name not in SCHEDULES:
        raise ValueError(f"no ending is {ending!r}: choose {', '.join((*ENDINGS, SO_FAR))}, or a schedule by its name")
    else:
        known = {"warmup": min(run.warmup, total - 1)} if "warmup" in parameters_of(ending) else {}
        rates_left = step_rates(ending, peak=run.peak, steps=total, **known)[done:]
    recorded = np.unique(np.linspace(done, total, min(_ROWS, total - done + 1)).astype(np.int64))
    batches = np.broadcast_to(run.batch_sizes, run.rates.shape)
    batches = np.concatenate([batches, np.full(total - done, last_batch(run))])
    return Plan(np.concatenate([run.rates, rates_left]), recorded, run.warmup, batches, run.model_size, ending)


def forecast(
    run: LossCurve,
    steps: int,
    ending: str | None = None,
    others: Sequence[LossCurve] = (),
    *,
    level: float = 0.9,
    **settings: Any,
) -> Forecast:
    """Return the :class:`Forecast` of a run to ``steps`` updates.

    ``ending``: how it is meant to go on, see :func:`continued`; by default the :func:`schedule_so_far`, or else the
    last rate held. The :data:`ENDINGS` come along. ``others``: runs that are fitted too, which tell what a falling rate
    does. ``level``: nominal, of the intervals. ``settings``: those of :func:`fsl_num.curves.fit.fit`, ``early`` by
    default as :data:`EARLY` says; with ``intervals=False`` there are no intervals and no ``surprise`` (nan). Every
    prediction is conditioned on the last losses of the run.
    Raises ValueError where the run is longer already.

    >>> from fsl_num.curves.laws import law
    >>> plan = Plan([0.01] * 400, range(20, 401, 5))
    >>> loss = law("momentum").predict(plan, [2.0, 0.3, 0.5, 0.5, 0.95])
    >>> found = forecast(LossCurve(plan.recorded, loss, schedule=plan), 800)
    >>> list(found.predictions), bool(found.main.final < loss[-1])
    (['hold', 'decay now', 'decay late'], True)
    """
    instance_of("run", run, LossCurve)
    if ending is not None:
        instance_of("ending", ending, str)
    followed = schedule_so_far(run.plan, steps) if ending in (None, SO_FAR) else None
    if ending is None:
        ending = ENDINGS[0] if followed is None else SO_FAR
    endings = list(dict.fromkeys([ending, *ENDINGS]))
    _ = continued(run.plan, steps, ending)  # refused before the fit, not after it
    if settings.get("early") is None:
        settings["early"] = min(EARLY * steps / run.plan.rates.size, 0.5)
    others = entries("others", others, LossCurve)
    fitted = fit([run, *others], **settings)
    plans = {name: continued(fitted.as_fitted(run).plan, steps, name) for name in endings}
    level_drawn = proper_share("level", level) if fitted.drawn is not None else None
    predictions = {name: fitted.predict(plan, level_drawn, after=run) for name, plan in plans.items()}
    words = "" if followed is None else followed[0]
    return Forecast(fitted, predictions, int(run.plan.recorded[-1]), _surprise(run, others, settings), words)


def _surprise(run: LossCurve, companions: Sequence[LossCurve], settings: Mapping[str, Any]) -> float:
    steps = run.plan.recorded
    cut = int(np.quantile(steps, _HIDDEN))
    try:
        before = fit([run.between_steps(0, cut), *companions], **settings)
    except CurveError:  # too few rows for the law
        return float("nan")
    if before.drawn is None:
        return float("nan")
    prediction = before.predict(run.between_steps(cut + 1, int(steps[-1])))
    assert prediction.upper is not None
    error = np.log(run.between_steps(cut + 1, int(steps[-1])).observed / prediction.loss)
    return float(np.median(np.abs(error) / np.log(prediction.upper / prediction.loss)))
