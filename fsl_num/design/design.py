"""A designed schedule: its rates, what is predicted of it, how it compares with the usual ones, what certifies it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from fsl_num.curves.batches import alike_batches, said_batches
from fsl_num.curves.curve import CurveError
from fsl_num.curves.fit import fit as fit_law
from fsl_num.curves.plan import Plan
from fsl_num.curves.predict import Prediction, predict
from fsl_num.curves.result import FitResult
from fsl_num.design.best import Optimum, Past, past_of
from fsl_num.design.draws import FinalLoss, final_loss_of, half_width_of_difference
from fsl_num.design.families import BASELINES, FAMILIES, family_rates, shape_words
from fsl_num.design.objectives import Objective
from fsl_num.results import Result, as_loss, html_table
from fsl_num.schedules.export import Export, export
from fsl_num.validation import Array

_FRACTION: Final = "decay_fraction"
_SHOWN: Final = 200  # recorded steps of a picture
_EXPLOIT: Final = 1e-4  # nats: so much worse than a baseline under the second law is worth a word

_NOTHING: Final = 1e-6  # of the peak: rates so near are the same
_TABLE: Final = 1e-4  # of the peak: how far off its rates the table of an exported design may be


@dataclass(frozen=True, eq=False)
class Baseline(Result):
    """A usual schedule beside a design: its ``rates`` of all steps, final ``loss``, and ``regret``, by how much that lies
    above the design's; ``interval`` of the regret, None without draws.

    >>> Baseline(np.ones(3), 2.5, 0.1, (0.05, 0.15)).distinct
    True
    """  # noqa: E501

    rates: Array
    loss: float
    regret: float
    interval: tuple[float, float] | None

    @property
    def distinct(self) -> bool | None:
        """Whether the fit can tell the two schedules apart: the interval of the regret leaves out 0."""
        return None if self.interval is None else not self.interval[0] <= 0.0 <= self.interval[1]


@dataclass(frozen=True, eq=False)
class SecondLaw(Result):
    """What another law, fitted to the same runs, predicts: the ``loss`` of the design, and those of the ``baselines``.

    >>> SecondLaw("multi-power", 2.5, {"cosine": 2.4}).better
    ('cosine',)
    """

    name: str
    loss: float
    baselines: Mapping[str, float]

    @property
    def better(self) -> tuple[str, ...]:
        """The baselines that this law prefers to the design: the design may exploit a defect of its own law."""
        return tuple(name for name, loss in self.baselines.items() if loss < self.loss - _EXPLOIT)


@dataclass(frozen=True, eq=False, repr=False)
class Design(Result):
    """A schedule of least predicted final loss, as :func:`~fsl_num.design.schedule.design_schedule` finds it.

    ``plan``: the whole schedule. ``done``: how many of its steps were fixed. ``allowed``: the largest rate allowed,
    ``floor`` the least. ``optimum``: with its certificates. ``conditioned``: by how much the last losses of
    the run under way lie off the law, of log loss, and its intrinsic time. ``second``: the law, or fit, of
    :attr:`second_law`. ``regret_of_fit``: where the mean over the draws was made least, by how much the optimum of the
    best fit is above it in that mean. ``notes``: which bounds bind, and what is outside of what was fitted.

    >>> from fsl_num import LossCurve, design_schedule, fit
    >>> curve = LossCurve(range(1, 9), [3, 2.5, 2.3, 2.2, 2.15, 2.1, 2.08, 2.06], lr=[0.1] * 8)
    >>> design = design_schedule(fit(curve, "momentum", starts=1), 20)
    >>> design.predict(design.rates).final == design.predict().final < 2.0
    True
    >>> design.export("torch").framework, design.as_dict()["steps"], design.to_json()[:1]
    ('torch', 20, '{')
    >>> len(design.plot(ax=None).figure.axes)
    2
    """

    fit: FitResult
    plan: Plan
    done: int
    allowed: float
    floor: float
    family: str
    optimum: Optimum
    level: float
    conditioned: tuple[float, float]
    second: FitResult | str | None
    regret_of_fit: float | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Design({self.steps} steps, peak {self.peak:.4g}, {self.decay_shape}, final loss {as_loss(self.loss)})"

    @property
    def rates(self) -> Array:
        """The rate of every update, eta_0 .. eta_{K-1}."""
        return np.asarray(self.plan.rates)

    @property
    def steps(self) -> int:
        """The number of updates in all."""
        return int(self.rates.size)

    @property
    def peak(self) -> float:
        """The largest rate."""
        return self.plan.peak

    @property
    def final(self) -> float:
        """The last rate."""
        return float(self.rates[-1])

    @cached_property
    def _shape(self) -> tuple[float, str]:
        return shape_words(self.rates[self.plan.warmup :])

    @property
    def stable_fraction(self) -> float:
        """The share of the steps after warmup before the rate falls below 99 % of its peak for good."""
        return self._shape[0]

    @property
    def decay_shape(self) -> str:
        """The shape of what follows, by the nearest name: "linear", "cosine", "power 1.8", ..."""
        return self._shape[1]

    @property
    def loss(self) -> float:
        """The predicted final loss."""
        return self._conditioned(self.optimum.loss, float(self.plan.times[-1]))

    @property
    def kkt_residual(self) -> float:
        """How much the loss could still fall if it were linear, in nats; nan for the member of a family."""
        return self.optimum.kkt_residual

    def _conditioned(self, loss: float, horizon: float) -> float:
        off, time = self.conditioned
        return loss * math.exp(off * min(time / horizon, 1.0))

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the final loss, as measured on one row; None for a fit without draws."""
        low, high = self.prediction.lower, self.prediction.upper
        return None if low is None or high is None else (float(low[-1]), float(high[-1]))

    @cached_property
    def prediction(self) -> Prediction:
        """The prediction of the final loss."""
        return self._predicted(self.plan.at([self.steps]))

    @property
    def _past(self) -> Past:
        return past_of(self.plan, self.done)

    @cached_property
    def baselines(self) -> Mapping[str, Baseline]:
        """The usual schedules of the same steps, past and largest rate, floor kept, by name."""
        return {name: self._beside(family, choices) for name, (family, choices) in BASELINES.items()}

    @cached_property
    def _final_loss(self) -> FinalLoss | None:
        return None if self.fit.drawn is None else final_loss_of(self.fit, self._past, self.rates[self.done :])

    @cached_property
    def _objective(self) -> Objective:
        """The predicted loss of the steps designed, and its gradient."""
        return self._past.objective(self.fit.law, self.fit.theta)

    def _beside(self, family: str, choices: tuple[float, ...]) -> Baseline:
        """A member of a family in the place of what was designed."""
        past = self._past
        rates = family_rates(family, choices, self.steps - self.done, self.floor, self.allowed)
        whole = np.append(past.rates, rates)
        loss = self._conditioned(self._objective(rates, np.ones(rates.size))[0], float(whole.sum()))
        interval, regret = None, loss - self.loss
        if self._final_loss is not None:
            half = half_width_of_difference(
                self.fit, final_loss_of(self.fit, past, rates), self._final_loss, self.level
            )
            interval = regret - half, regret + half
        return Baseline(whole, loss, regret, interval)

    @cached_property
    def as_good(self) -> tuple[float, float] | None:
        """The decay fractions that the fit cannot separate from the design's, its other parameters kept.

        The intervals of their regrets hold 0 or less. None for a family without a decay fraction, or a fit without
        draws; ends are those of a grid of 16 to a factor of 50, up to 1.
        """
        parameters = self.optimum.parameters or {}
        if _FRACTION not in parameters or self.fit.drawn is None:
            return None
        best, names = parameters[_FRACTION], list(FAMILIES[self.family].ranges)
        shares = {**parameters, "final": parameters["final"] / self.allowed}

        def last(fractions: Array) -> float:
            reached = best
            for fraction in fractions.tolist():
                choices = tuple(fraction if name == _FRACTION else shares[name] for name in names)
                interval = self._beside(self.family, choices).interval
                if interval is None or interval[0] > 0.0:
                    break
                reached = fraction
            return reached

        tried = np.geomspace(0.02, 1.0, 16)
        return last(tried[tried < best][::-1]), last(tried[tried > best])

    @cached_property
    def _second_fit(self) -> FitResult | str:
        """The fit of the second law, or why there is none."""
        would = "a second fit (second=, --second-fit) would show an exploit of this one."
        if self.second is None:
            return f"No second law was asked: {would}"
        if isinstance(self.second, FitResult):
            return self.second
        size, batch = self.plan.model_size, float(said_batches(self.fit.law, self.plan.batch_sizes)[-1])
        same = [curve for curve in self.fit.curves if size is None or curve.plan.model_size in (None, size)]
        if not same:
            return f"No second law was fitted, for no run has the model size {size:g}: {would}"
        if getattr(self.fit.law, "batches", False):
            same = [curve for curve in same if alike_batches(curve.plan, batch)]
        if not same:
            return f"No second law was fitted, for no run has the batch size {batch:g} throughout: {would}"
        try:
            name = self.second if self.second != self.fit.law.name else "fsl-full"
            return fit_law(same, name, intervals=False)
        except CurveError as error:
            return f"No second law was fitted ({error}): {would}"

    @cached_property
    def second_law(self) -> SecondLaw | None:
        """The design and the baselines under a second law; None where there is none, or no curves to fit it to.

        A name stands for a fit of that law to the same curves, made when this is first asked for.
        """
        fit_of_second = self._second_fit
        if isinstance(fit_of_second, str):
            return None
        losses = {"": self._under(fit_of_second, self.rates)}
        losses |= {name: self._under(fit_of_second, baseline.rates) for name, baseline in self.baselines.items()}
        return SecondLaw(fit_of_second.law.name, losses.pop(""), losses)

    def _under(self, second_fit: FitResult, rates: Array) -> float:
        past = self._past.objective(second_fit.law, second_fit.theta)
        return past(rates[self.done :], np.ones(self.steps - self.done))[0]

    def predict(self, rates: Array | None = None) -> Prediction:
        """Return the predicted losses along the design, or along other ``rates`` for all steps, with their interval."""
        first = max(self.plan.warmup, 1, self.steps // _SHOWN)
        recorded = np.unique(np.linspace(first, self.steps, _SHOWN).astype(np.int64))
        own = self.plan
        plan = Plan(self.rates if rates is None else rates, recorded, own.warmup, own.batch_sizes, own.model_size)
        return self._predicted(plan)

    def _predicted(self, plan: Plan) -> Prediction:
        prediction = predict(self.fit, plan, None if self.fit.drawn is None else self.level)
        factor = np.exp(self.conditioned[0] * np.minimum(self.conditioned[1] / plan.intrinsic_time, 1.0))
        lower, upper = (None if band is None else band * factor for band in (prediction.lower, prediction.upper))
        return replace(prediction, loss=prediction.loss * factor, lower=lower, upper=upper)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What certifies the optimum, what the fit cannot tell, what a second law says, and the notes."""
        optimum, said = self.optimum, []
        if optimum.gap is not None and self.floor < self.allowed:
            said.append(f"No schedule allowed has a predicted loss more than {optimum.gap:.1g} below it (lower bound).")
        better = [name for name, baseline in self.baselines.items() if baseline.regret < 0.0 and baseline.distinct]
        if better:
            said.append(f"Predicted to be better, outside of this family: {'; '.join(better)}.")
        same = _NOTHING * self.peak
        near = {
            name: baseline.interval
            for name, baseline in self.baselines.items()
            if baseline.interval and not baseline.distinct and np.abs(baseline.rates - self.rates).max() > same
        }
        if near:
            least_known = max(near, key=lambda name: near[name][1] - near[name][0])
            said.append(
                f"The fit cannot separate it from {'; '.join(near)}: the intervals of the differences hold 0. The next"
                f" run to decide: {least_known}, whose difference is known least."
            )
        if self.regret_of_fit is not None:
            said.append(
                f"Best in the mean over the draws of the fit; the optimum of the best fit is {self.regret_of_fit:.2g}"
                " worse there."
            )
        second = self.second_law
        if second is None:
            said.append(str(self._second_fit))
        elif preferred := [name for name in second.better if self.baselines[name].regret >= 0.0]:
            said.append(
                f"Another law, {second.name}, fitted to the same runs, prefers {'; '.join(preferred)}: the design may"
                " exploit an error of its own law."
            )
        return (*said, *self.notes, self.prediction.trust)

    def as_dict(self) -> dict[str, Any]:
        """Return the design as JSON-ready values."""
        optimum, second = self.optimum, self.second_law
        baselines = {
            name: {
                "loss": baseline.loss, "regret": baseline.regret,
                "interval": None if baseline.interval is None else list(baseline.interval),
                "distinct": baseline.distinct,
            }
            for name, baseline in self.baselines.items()
        }  # fmt: skip
        return {
            "steps": self.steps,
            "peak_lr": self.peak,
            "final_lr": self.final,
            "stable_fraction": self.stable_fraction,
            "decay_shape": self.decay_shape,
            "predicted_loss": self.loss,
            "interval": None if self.interval is None else list(self.interval),
            "baselines": baselines,
            "kkt_residual": None if math.isnan(optimum.kkt_residual) else optimum.kkt_residual,
            "second_law_loss": None if second is None else second.loss,
            "second_law": None if second is None else second.name,
            "exploit": None if second is None else list(second.better),
            "gap": optimum.gap,
            "family": self.family,
            "parameters": optimum.parameters,
            "as_good": None if self.as_good is None else {_FRACTION: list(self.as_good)},
            "law": self.fit.law.name,
            "level": self.level,
            "notes": list(self.sentences),
        }

    def export(self, framework: str) -> Export:
        """Return the schedule as a training framework takes it: :func:`~fsl_num.schedules.export.export`.

        A function for torch or optax is within 1e-4 of the peak of ``rates`` at every step, so that its table is short;
        what that changes of the final loss is of second order, because the rates are the best.
        """
        return export(self.rates, framework, title="a designed schedule", within=_TABLE)

    def to_json(self) -> str:
        """Return :meth:`as_dict` as JSON text."""
        return json.dumps(self.as_dict(), indent=1, allow_nan=False)

    def plot(self, ax: Any = None) -> Any:
        """Draw the schedule and the baselines on ``ax``; return the axes (needs matplotlib).

        With None a new figure is drawn, with the predicted losses and their interval below: ``axes.figure.axes[1]``.
        """
        from fsl_num.design.pictures import draw_design

        return draw_design(self, ax)

    def _repr_html_(self) -> str:
        def span(pair: tuple[float, float] | None) -> str:
            return "" if pair is None else " .. ".join(as_loss(end, self.loss) for end in pair)

        rows = [("design", as_loss(self.loss), "", span(self.interval))]
        rows += [
            (name, as_loss(baseline.loss), as_loss(baseline.regret, self.loss, sign="+"), span(baseline.interval))
            for name, baseline in self.baselines.items()
        ]
        head = ("schedule", "final loss", "regret", "interval (of the regret)")
        return html_table(head, rows, title=repr(self), items=self.sentences)
