"""Predicted losses along a schedule, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fsl_num.curves.averages import ranges
from fsl_num.curves.batches import other_batches
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.laws.base import Law
from fsl_num.curves.misfit import EXPECTED, OWN, States
from fsl_num.curves.plan import Plan, as_plan
from fsl_num.curves.posterior import half_width
from fsl_num.curves.score import Score, score
from fsl_num.curves.search import independent_rows
from fsl_num.curves.sizes import sizes_of
from fsl_num.curves.unseen import words_of_prediction
from fsl_num.results import Result, as_loss, first_and_last, how_well, html_table, times
from fsl_num.validation import Array, instance_of, known_options, real_number

if TYPE_CHECKING:
    from fsl_num.curves.result import FitResult

_SPREAD_AT = 400  # steps at which the spread is computed; it is smooth in between
_EVERY = 20_000  # steps at which the loss itself is computed; more of them are interpolated where that is seen to hold
_RANGES = 5_000
FARTHEST_PEAK: Final = 1e4
"""So many times a peak rate that was fitted, or its part, nothing is designed or proposed."""
SHORTEST: Final = 1e-3
"""Of the intrinsic time of the longest curve fitted: what a schedule must have for anything to be said of it."""

_RECENT = 0.9
_OTHER_PEAK = 1.25  # of peaks, of model sizes and of batch sizes
_BEYOND = 1.5
ENOUGH: Final = 0.01
"""Half-widths of 90 % intervals of mean final losses up to one per cent count as identified."""

_NEGLIGIBLE = 1e-5  # relative: a tenth of the rounding of a loss written with four digits


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Result):
    """Losses after ``step`` updates of ``plan``, with the interval [lower, upper] of nominal ``level``.

    ``lower``, ``upper`` and ``level`` are None where no interval was asked for. ``beyond``: how many times longer, in
    intrinsic time, the plan is than the longest curve fitted. ``other_peak``: how many times larger or smaller its peak
    rate is than all that were fitted, at least 1. ``mean_half_width``: of the interval of the mean final loss, about
    which single rows and seeds scatter; relative to it, where ``lower`` and ``upper`` are losses; None without one.
    ``other_size`` and ``other_batch``: how many times larger or smaller its model, or a batch of it, is than all that
    were fitted, at least 1. ``fitted``: the curves that were fitted, as they were averaged. ``measured``: the run that
    is predicted, where it is one. ``unseen``: in words, what was taken for its rates before a late first row.

    >>> found = Prediction(Plan([0.1]), np.array([3.0]), np.array([2.9]), np.array([3.1]), 0.9, 1.0, 1.0, 0.01)
    >>> found.final, found.final_words()
    (3.0, '3.00 +-1 %, 90 % of single rows between 2.90 and 3.10')
    >>> found.plot().get_ylabel()
    'loss'
    """

    plan: Plan
    loss: Array
    lower: Array | None
    upper: Array | None
    level: float | None
    beyond: float
    other_peak: float = 1.0
    mean_half_width: float | None = None
    other_size: float = 1.0
    other_batch: float = 1.0
    fitted: tuple[LossCurve, ...] = field(default=(), compare=False)
    measured: LossCurve | None = field(default=None, compare=False)
    unseen: str = ""

    @property
    def half_width(self) -> float:
        """The relative half-width of the interval of the final loss as one row shows it; nan without one."""
        return math.nan if self.upper is None else float(self.upper[-1] / self.loss[-1]) - 1.0

    @property
    def trust(self) -> str:
        """How far to trust it, in words: the ``sentences`` together."""
        return " ".join(self.sentences)

    @property
    def extrapolated(self) -> tuple[str, ...]:
        """A sentence for each way in which the schedule lies beyond the runs fitted."""
        said = []
        if self.other_peak > _OTHER_PEAK:
            said.append(
                f"Its peak rate is {times(self.other_peak)} times off those of the runs fitted: a law fitted to one"
                " peak says little of another. Fit a run at this peak."
            )
        if self.other_size > _OTHER_PEAK:
            said.append(
                f"Its model is {times(self.other_size)} times off the sizes of those fitted: the law of the size is"
                " extrapolated."
            )
        if self.other_batch > _OTHER_PEAK:
            said.append(
                f"Its batches are {times(self.other_batch)} times off those of the runs fitted: how noise falls with"
                " the batch size is extrapolated."
            )
        if self.beyond > _BEYOND:
            said.append(
                f"It reaches {times(self.beyond)} times the intrinsic time (sum of the learning rates) of the runs"
                " fitted: nothing measured says that the law holds so far out."
            )
        return tuple(said)

    @property
    def sentences(self) -> tuple[str, ...]:
        """How far to trust it: whether the runs fitted determine it, and in which ways it lies beyond them."""
        said, mean = list(self.extrapolated), math.inf if self.mean_half_width is None else self.mean_half_width
        if ENOUGH < mean < math.inf:
            said.insert(
                0,
                "The runs fitted do not determine the final loss under this schedule: fit another run whose learning"
                " rate does what this one does.",
            )
        if not said and self.upper is None:
            said.append(
                "It lies within the reach of the runs fitted; without an interval nothing says how well they tell it."
            )
        if not said:
            said.append(
                f"The runs fitted determine it, as far as the law holds: same peak, at most {_BEYOND:g} times their"
                " intrinsic time (sum of the learning rates), and a narrow interval."
            )
        return (self.unseen, *said) if self.unseen else tuple(said)

    @property
    def step(self) -> Any:
        """The numbers of updates after which the losses are predicted."""
        return self.plan.recorded

    @property
    def final(self) -> float:
        """The loss at the end."""
        return float(self.loss[-1])

    def __repr__(self) -> str:
        return f"Prediction({self.final_words(f' after {int(self.step[-1])} steps')})"

    def in_digits(self, loss: float) -> str:
        """Return a loss near the end with the digits that the interval of the final loss leaves."""
        half_width = 0.0 if self.upper is None else float(self.upper[-1] - self.loss[-1])
        return as_loss(real_number("loss", loss), self.final, half_width)

    def final_words(self, after: str = "") -> str:
        """Return the loss at the end in words: how well its mean is known, and where single rows of a log lie.

        ``after``: words behind the loss, as " after 100 steps".
        """
        instance_of("after", after, str)
        mean = "" if self.mean_half_width is None else f" {how_well(self.mean_half_width)}"
        words = f"{self.in_digits(self.final)}{mean}{after}"
        if self.lower is None or self.upper is None or self.level is None:
            return words
        low, high = (self.in_digits(float(bounds[-1])) for bounds in (self.lower, self.upper))
        return f"{words}, {100 * self.level:g} % of single rows between {low} and {high}"

    def score(self, curve: Any) -> Score:
        """Return how well it agrees with a measured curve whose used rows are the steps predicted.

        Raises ValueError where the steps differ.
        """
        if not np.array_equal(curve.plan.recorded, self.plan.recorded):
            raise ValueError("the curve has other steps than the prediction: predict(curve) predicts at its own steps")
        weights = None if curve.counts is None else curve.counts[curve.used]
        return score(curve.observed, self.loss, self.lower, self.upper, weights)

    def plot(self, ax: Any = None) -> Any:
        """Draw the losses with their interval, the rows fitted, those measured of the run itself, and the rate.

        Return the axes of the losses (needs matplotlib).
        """
        from fsl_num.curves.pictures import draw_prediction

        return draw_prediction(self, ax)

    def _repr_html_(self) -> str:
        head = ["step", "learning rate", "loss"]
        columns = [self.step.tolist(), [f"{rate:.4g}" for rate in self.plan.rates[self.step - 1]]]
        columns.append([as_loss(loss, self.final) for loss in self.loss])
        if self.lower is not None and self.upper is not None and self.level is not None:
            head.append(f"{100 * self.level:g} % of single rows")
            ends = zip(self.lower, self.upper, strict=True)
            columns.append([" .. ".join(as_loss(end, self.final) for end in pair) for pair in ends])
        rows = first_and_last(list(zip(*columns, strict=True)))
        title = f"{self.plan.name}: {self.final_words(f' after {int(self.step[-1])} steps')}"
        return html_table(head, rows, title=title, items=self.sentences)

    def as_rows(self) -> list[dict[str, float]]:
        """Return one mapping a step: step, loss, and lower and upper where there is an interval."""
        rows = [{"step": int(k), "loss": float(y)} for k, y in zip(self.step, self.loss, strict=True)]
        if self.lower is not None and self.upper is not None:
            for row, low, high in zip(rows, self.lower, self.upper, strict=True):
                row |= {"lower": float(low), "upper": float(high)}
        return rows


def predict(
    result: FitResult, schedule: Any, level: float | None = 0.9, *, after: LossCurve | None = None, **known: Any
) -> Prediction:
    """Return the losses that a fit predicts for a schedule; see :meth:`fsl_num.curves.result.FitResult.predict`."""
    known_options("of a prediction", known, ("recorded", "warmup", "model_size"))
    run = result.as_fitted(schedule) if isinstance(schedule, LossCurve) else None
    plan = as_plan(schedule if run is None else run, **known)
    if plan.times[-1] < SHORTEST * result.reach:
        raise ValueError(
            f"the schedule is too short for what the curves fitted show: its intrinsic time is {plan.times[-1]:.3g},"
            f" less than {SHORTEST:g} of theirs ({result.reach:.3g}); are its learning rates in their unit?"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        loss = _losses(result.law, plan, result.theta)
    if after is not None:
        instance_of("after", after, LossCurve)
        after = result.as_fitted(after)
        loss = loss * np.exp(left_over(result, after)[0] * _carried_on(after, plan))
    if not (np.isfinite(loss).all() and (loss > 0.0).all()):
        raise ValueError(
            f"the law {result.law.name} gives no positive loss for this schedule: it is too far from the curves fitted"
            f" (intrinsic time {plan.times[-1]:.3g}, fitted up to {result.reach:.3g})"
        )
    lower = upper = mean_half_width = None
    if level is not None:
        lower, upper, mean_half_width = _interval(result, plan, loss, level, after)
    fitted, peaks = [curve.plan for curve in result.curves], result.peaks or (plan.peak,)
    sizes = sizes_of(fitted) if result.law.size_term else []
    measured = run if run is not None and np.array_equal(plan.recorded, run.plan.recorded) else None
    return Prediction(
        plan,
        loss,
        lower,
        upper,
        level,
        beyond=float(plan.times[-1]) / result.reach,
        other_peak=_times_off(plan.peak, peaks),
        mean_half_width=mean_half_width,
        other_size=1.0 if plan.model_size is None else _times_off(plan.model_size, sizes),
        other_batch=other_batches(result.law, plan, fitted),
        fitted=result.curves,
        measured=measured,
        unseen=words_of_prediction(result, schedule) if isinstance(schedule, LossCurve) else "",
    )


def _interval(
    result: FitResult, plan: Plan, loss: Array, level: float, after: LossCurve | None
) -> tuple[Array, Array, float]:
    """Both ends of the interval of single rows, and the relative half-width of that of the mean final loss."""
    posterior = result.posterior
    few = np.unique(np.round(np.linspace(0, plan.recorded.size - 1, _SPREAD_AT)).astype(int))
    part = plan if few.size == plan.recorded.size else plan.at(plan.recorded[few])
    known = None
    if after is not None:
        share, noise = left_over(result, after)[1:]
        known = after.plan.at(after.plan.recorded[-1:]), share * _carried_on(after, part), noise
    spread = posterior.spread(result.law, part, result.theta, known)
    half = half_width(np.hypot(np.interp(plan.recorded, part.recorded, spread), posterior.noise(plan)), level)
    with np.errstate(over="ignore"):
        lower, upper = loss * np.exp(-half), loss * np.exp(half)
        mean_half_width = float(np.expm1(half_width(spread[-1:], level)[0]))
    if not (np.isfinite(upper).all() and (lower > 0.0).all()):
        raise ValueError(
            f"nothing is known of a schedule so far from the curves fitted (intrinsic time {plan.times[-1]:.3g},"
            f" fitted up to {result.reach:.3g}): its interval has no bound"
        )
    return lower, upper, mean_half_width


def _times_off(value: float, fitted: Sequence[float]) -> float:
    """How many times larger or smaller a value is than all that were fitted, at least 1; 1 where there are none."""
    return max(value / max(fitted), min(fitted) / value, 1.0) if fitted else 1.0


def said_once(sentences: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sentences on several things, each once, behind the names of those for which it holds.

    >>> said_once({"cosine": ["It is far."], "linear": ["It is far.", "It is high."]})
    ['cosine, linear: It is far.', 'linear: It is high.']
    """
    named: dict[str, list[str]] = {}
    for name, said in sentences.items():
        for sentence in said:
            named.setdefault(sentence, []).append(name)
    return [f"{', '.join(names)}: {sentence}" for sentence, names in named.items()]


def check_peak(peak: float, fitted: Sequence[float]) -> None:
    """Raise ValueError for a peak rate of which no run that was fitted with those ``fitted`` says anything.

    >>> check_peak(0.1, (0.05, 0.2))
    """
    if fitted and not min(fitted) / FARTHEST_PEAK <= peak <= max(fitted) * FARTHEST_PEAK:
        raise ValueError(
            f"the peak rate {peak:.3g} is more than {FARTHEST_PEAK:,.0f} times away from those of the runs fitted"
            f" ({min(fitted):.3g} to {max(fitted):.3g}): are they in one unit?"
        )


def _carried_on(run: LossCurve, plan: Plan) -> Array:
    """The share of what a run is off by at its end that it is still off by at the recorded steps of a plan."""
    return np.asarray(np.minimum(run.plan.intrinsic_time[-1] / plan.intrinsic_time, 1.0))


def left_over(result: FitResult, run: LossCurve) -> tuple[float, float, float]:
    """What the last tenth of a run, in intrinsic time, lies off the law, of log loss: as far as it is no noise.

    Then the share of their mean that it is, and the variance of that mean by noise.
    """
    time = run.plan.intrinsic_time
    residual = np.log(run.observed) - np.log(result.law.bind([run.plan], "fit").losses(result.theta))
    last = residual[time >= _RECENT * time[-1]]
    left = float(States.of(result.law, [run.plan.at(run.plan.recorded[-1:])], result.theta).left[0])
    noise, missed = float(residual.var()), OWN + (EXPECTED * left) ** 2
    rows = independent_rows(last - last.mean())
    share = missed / (missed + noise / rows)
    return float(last.mean()) * share, share, noise / rows


def _losses(law: Law, plan: Plan, theta: Array) -> Array:
    """The losses at the recorded steps; those of very many steps from some of them, if that errs negligibly.

    The steps kept are both ends of ranges which no jump of the learning rate parts, so that nothing is interpolated
    across one. Whether it holds is seen in the middle of every range: there the law and the straight line between the
    ends must agree, and the line is then drawn through the middle as well.
    """
    size = plan.recorded.size
    label = ranges(plan, plan.recorded, _RANGES) if size > _EVERY else None
    if label is not None:
        first = np.flatnonzero(np.diff(label, prepend=-1))
        last = np.append(first[1:], size) - 1
        middle = (first + last) // 2
        some = np.unique(np.concatenate([first, middle, last]))
        few = plan.at(plan.recorded[some])
        loss = law.bind([few]).losses(theta)
        ends = np.isin(some, first) | np.isin(some, last)
        line = np.interp(few.recorded, few.recorded[ends], loss[ends])
        if np.abs(line - loss).max() <= _NEGLIGIBLE * np.abs(loss).min():
            return np.asarray(np.interp(plan.recorded, few.recorded, loss))
    return law.bind([plan]).losses(theta)
