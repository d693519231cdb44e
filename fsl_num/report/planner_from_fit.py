"""What to train under a budget, from a fit to the runs at hand: what the law fitted to them predicts to be best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from sympy import lambdify

from fsl_num.curves.batches import asked_batch, batch_range, knows_batches
from fsl_num.curves.plan import Plan
from fsl_num.curves.result import FitResult
from fsl_num.report.planner import Recommendation, TrainingPlan
from fsl_num.schedules import step_rates
from fsl_num.validation import Array, entries, instance_of, positive, proper_share, whole_count
from fsl_sym.allocation import optimal_allocation
from fsl_sym.order import OrderRange
from fsl_sym.symbols import beta as beta_symbol
from fsl_sym.symbols import s as s_symbol

_FRACTIONS: Final = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_PEAKS: Final = 5
_BATCHES: Final = 7
_SIZES: Final = 17
_LONGEST: Final = 2_000_000  # updates: a minute of work
_SHORTEST: Final = 10  # updates behind the warmup
_NOTHING: Final = 1e-300  # of a loss
_PEAK, _MODEL, _SHARE, _STEPS, _BATCH = range(5)  # columns of the choices


def plan_from_fit(
    fit: FitResult,
    *,
    data: Any = None,
    compute: Any = None,
    batch_size: Any = None,
    model_sizes: Sequence[float] = (),
    warmup: int = 0,
    level: float = 0.9,
) -> TrainingPlan:
    """Return what to train under a budget, from a fit to runs at hand: a stable phase and a 1-sqrt decay.

    ``data``: samples or tokens in the unit of ``batch_size`` (of an update, positive; default 1, or the best between
    the smallest and the largest fitted, for a law that knows batch sizes), or ``compute``: model size times data, for a
    law with a term for the model size. ``model_sizes``: those to choose from (default: about those of the
    curves fitted, which a saved fit does not hold). ``warmup``: updates of it. ``level``: of the intervals, over the
    fit's draws of the parameters; without draws they are the values themselves.

    The peaks asked are those between the lowest and the highest fitted, for a law says little of others. Raises
    ValueError for a budget that leaves no update behind the warmup, or a compute budget for a law without model size.

    >>> from fsl_num.curves.curve import LossCurve
    >>> from fsl_num.curves.fit import fit
    >>> from fsl_num.curves.laws import law
    >>> run = Plan(step_rates("8-1-1", peak=0.01, steps=400), range(20, 401, 5))
    >>> loss = law("momentum").predict(run, [2.0, 0.3, 0.5, 0.5, 0.95])
    >>> found = plan_from_fit(fit(LossCurve(run.recorded, loss, schedule=run), "momentum", starts=1), data=800)
    >>> found["steps"].value, round(found["peak_lr"].value, 6)
    (800.0, 0.01)
    """
    instance_of("fit", fit, FitResult)
    if (data is None) == (compute is None):
        raise ValueError("give one budget: data=, samples or tokens, or compute=, model size times these")
    level, warmup = proper_share("level", level), whole_count("warmup", warmup, least=0)
    budget, amount = ("data", data) if compute is None else ("compute", compute)
    size, batches = positive(budget, amount), _batches(fit, batch_size)
    draws = fit.theta[None] if fit.drawn is None else np.vstack([fit.theta, fit.drawn.samples])
    known = fit.peaks[-1:] if fit.drawn is None else fit.peaks  # between several only where draws tell them apart
    if not known:
        raise ValueError("this fit has neither intervals nor curves: fit again with intervals to have its peak rates")
    peaks = np.unique(np.geomspace(min(known), max(known), _PEAKS)) if _several(known) else np.array([max(known)])
    task = fit.task
    asked = _Asked(fit, draws, budget, size, warmup, level, _orders(task.regime, budget))
    choices = asked.choices(_model_sizes(fit, budget, model_sizes), batches, peaks)
    losses = asked.losses(choices)
    at = losses.argmin(axis=0)  # the best choice under each draw, that of the fit first
    least, best = losses[at, np.arange(at.size)], choices[at]
    excess = least - draws[:, fit.law.names.index(_level(fit))]
    power = asked.spread(asked.powers(choices, at))
    label = "the law fitted to the runs"
    recommendations = [
        asked.recommended("loss", least, f"the final loss that {label} predicts, what cannot be learnt included"),
        asked.recommended("excess_risk", excess, _excess_words(_level(fit), budget, power)),
        asked.recommended("peak_lr", best[:, _PEAK], _peak_words(label, known)),
    ]
    if budget == "compute":
        at_least = f"where {label}, with its term for the size, is least"
        recommendations.append(asked.recommended("model_size", best[:, _MODEL], at_least))
    shrinks = f"where {label} is least; thm: wsd says how it may shrink"
    between = f"where {label} is least, between the smallest and the largest batch of the runs"
    batch = between if len(batches) > 1 else _batch_words(fit, batch_size is not None)
    recommendations += [
        asked.recommended("data_size", best[:, _STEPS] * best[:, _BATCH], "the updates times the batch"),
        asked.recommended("decay_fraction", best[:, _SHARE], shrinks),
        asked.recommended("steps", best[:, _STEPS], "the budget over the batch (and the model size)"),
        asked.recommended("batch_size", best[:, _BATCH], batch),
    ]
    but_share = [_PEAK, _STEPS, _BATCH]
    same = np.flatnonzero((choices[:, but_share] == best[0, but_share]).all(axis=1))
    by_share = {f"decay of {choices[k, _SHARE]:g}": float(losses[k, 0]) for k in same}
    prediction = fit.predict(_plan(best[0], int(best[0, _STEPS]), warmup), None if fit.drawn is None else level)
    notes = (*prediction.sentences, task.sentence)
    return TrainingPlan(budget, size, "1-sqrt", task.regime, tuple(recommendations), MappingProxyType(by_share), notes)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a plan is made for: a budget of that ``size``, under each of the ``draws``, that of the fit first.

    ``orders``: how each quantity grows, in the regime of the fit, or in both where it is not known.
    """

    fit: FitResult
    draws: Array
    budget: str
    size: float
    warmup: int
    level: float
    orders: Mapping[str, Mapping[str, OrderRange]]

    def choices(self, models: Sequence[float | None], batches: Sequence[float], peaks: Array) -> Array:
        """All choices within the budget, a row each, in the columns _PEAK .. _BATCH; nan for a model without a size."""
        options: list[tuple[float, ...]] = []
        for model, batch in product(models, batches):
            steps = int(self.size / batch / (model or 1.0))
            if steps < self.warmup + _SHORTEST:
                continue
            if steps > _LONGEST:
                raise ValueError(
                    f"the {self.budget} budget of {self.size:g} has {steps:,} updates of {batch:g}: at most"
                    f" {_LONGEST:,} are planned; give the batch size, in the budget's unit (batch_size=, --batch-size)"
                )
            options += [
                (float(peak), model or math.nan, share, float(steps), batch) for peak in peaks for share in _FRACTIONS
            ]
        if not options:
            raise ValueError(
                f"a {self.budget} budget of {self.size:g} with updates of {min(batches):g} leaves fewer than"
                f" {_SHORTEST} updates behind the warmup of {self.warmup}: raise it, or make the updates smaller"
            )
        return np.array(options)

    def losses(self, choices: Array) -> Array:
        """The final loss of each of the choices, a row, under each draw, a column."""
        rows = []
        for choice in choices:
            steps = int(choice[_STEPS])
            bound = self.fit.law.bind([_plan(choice, steps, self.warmup)], "coarse")
            rows.append([float(bound.losses(theta)[0]) for theta in self.draws])
        return np.array(rows)

    def powers(self, choices: Array, at: Array) -> Array:
        """The power of the budget with which the excess risk falls between half and twice the budget, under each draw.

        ``at``: which of the choices is best under each draw. All of it but the steps is kept: about an optimum other
        choices change little.
        """
        powers, level = np.empty(len(self.draws)), self.fit.law.names.index(_level(self.fit))
        for best in np.unique(at):
            steps = float(choices[best, _STEPS])
            ends = [max(int(0.5 * steps), self.warmup + _SHORTEST), int(2 * steps)]
            bound = self.fit.law.bind([_plan(choices[best], end, self.warmup) for end in ends], "fit")
            for draw in np.flatnonzero(at == best):
                early, late = np.maximum(bound.losses(self.draws[draw]) - self.draws[draw, level], _NOTHING)
                powers[draw] = math.log(late / early) / math.log(ends[1] / ends[0])
        return powers

    def spread(self, values: Array) -> tuple[float, float, float]:
        """The value of the fit, and an interval about it from those under the draws."""
        tail = 0.5 * (1.0 - self.level)
        low, high = np.quantile(values[1:], [tail, 1.0 - tail]) if values.size > 1 else (values[0], values[0])
        return float(values[0]), float(min(low, values[0])), float(max(high, values[0]))

    def recommended(self, name: str, values: Array, basis: str) -> Recommendation:
        """What is recommended of one quantity, from its values under the draws."""
        known_order = next(iter(self.orders.values())).get(name) if len(self.orders) == 1 else None
        constants = values / _growths(self.fit, self.draws, known_order, self.size)
        constant = self.spread(constants) if np.isfinite(constants).all() else None
        return Recommendation(name, *self.spread(values), _order_words(name, self.orders, self.budget), constant, basis)


def _plan(choice: Array, steps: int, warmup: int) -> Plan:
    """The plan of a row of choices, of that many steps; only the loss after the last is asked for."""
    peak, model, share, _, batch = choice.tolist()
    rising = {"warmup": warmup} if warmup else {}
    rates = step_rates("1-sqrt", peak=peak, steps=steps, decay_fraction=share, **rising)
    return Plan(rates, [steps], warmup, batch, None if math.isnan(model) else model)


def _level(fit: FitResult) -> str:
    """The name of the loss that neither training nor model size removes."""
    return fit.law.size_term[0] if fit.law.size_term else "L0"


def _excess_words(level: str, budget: str, power: tuple[float, float, float]) -> str:
    """What the excess risk is, and with which power of the budget it falls."""
    value, low, high = (f"{exponent:.2f}" for exponent in power)
    near = f"{value} ({low} .. {high})" if low != high else value
    return f"the final loss above {level}; from half to twice the budget it falls as the {budget} to the power {near}"


def _model_sizes(fit: FitResult, budget: str, sizes: Sequence[float]) -> list[float | None]:
    """The sizes asked: under a compute budget those given, or about the ones fitted."""
    asked = [positive("model_sizes", size) for size in entries("model_sizes", sizes)]
    if asked and fit.law.size_term:
        return list(asked)
    if asked and budget == "data":
        raise ValueError(
            "model_sizes has no use: this fit has no term for the size of a model; fit runs of several sizes"
        )
    known = sorted({curve.plan.model_size for curve in fit.curves if curve.plan.model_size is not None})
    if budget == "data":
        return [known[-1] if known and fit.law.size_term else None]
    if not fit.law.size_term:
        raise ValueError(
            "a compute budget is shared out between model size and data, and this fit says nothing of other sizes: fit"
            " runs of several model sizes (--model-size), or give a data budget"
        )
    if not known:
        raise ValueError("a saved fit has no model sizes of its runs: say which to choose from (--model-size)")
    return [float(size) for size in np.geomspace(0.25 * known[0], 16.0 * known[-1], _SIZES)]


def _batches(fit: FitResult, batch_size: Any) -> list[float]:
    """The batch sizes asked: the one given, or those between the smallest and the largest fitted."""
    if batch_size is None and knows_batches(fit.law) and fit.curves:
        low, high = batch_range([curve.plan for curve in fit.curves])
        return [float(size) for size in np.unique(np.geomspace(low, high, _BATCHES))]
    return [1.0 if batch_size is None else asked_batch(fit.law, batch_size)]


def _batch_words(fit: FitResult, is_given: bool) -> str:
    """Why one batch size alone is planned with."""
    if not knows_batches(fit.law):
        return "as given: the runs fitted say nothing of other batches"
    return "as given; without it the best of those fitted is taken" if is_given else "that of the runs fitted"


def _several(peaks: tuple[float, ...]) -> bool:
    """Whether there is more than one peak rate; a cosine loses a little of it before its first row."""
    return max(peaks) > 1.02 * min(peaks)


def _peak_words(label: str, known: tuple[float, ...]) -> str:
    if not _several(known):
        return "that of the runs fitted, which have one peak rate alone: train a run at another to choose among them"
    return f"where {label} is least, between the lowest and the highest peak of the runs"


def _orders(regime: str, budget: str) -> dict[str, Mapping[str, OrderRange]]:
    """The orders of the optimal warmup-stable-decay in the regime, or in both where it is not known."""
    regimes = {regime.name: regime.quantities for regime in optimal_allocation("wsd", budget).regimes}
    return {regime: regimes[regime]} if regime in regimes else {name: regimes[name] for name in ("hard", "easy")}


def _order_words(name: str, orders: Mapping[str, Mapping[str, OrderRange]], budget: str) -> str:
    base = optimal_allocation("wsd", budget).base
    texts = {regime: ranges[name].as_text(base) for regime, ranges in orders.items() if name in ranges}
    if len(set(texts.values())) <= 1:
        return next(iter(texts.values()), "")
    return "; ".join(f"{regime}: {text}" for regime, text in texts.items())


def _growths(fit: FitResult, draws: Array, order: OrderRange | None, size: float) -> Array:
    """By how much a quantity of that order has grown at the budget, under each draw; nan where a draw has no beta."""
    unknown = np.full(draws.shape[0], math.nan)
    if order is None or not order.is_point or order.lower is None or not {"s", "gamma"} <= set(fit.law.names):
        return unknown
    s, memory = (draws[:, fit.law.names.index(name)] for name in ("s", "gamma"))
    beta = 1.0 / np.where(memory < 1.0, 1.0 - memory, math.nan)
    power, log_power = (
        lambdify((s_symbol, beta_symbol), exponent)(s, beta) for exponent in (order.lower.power, order.lower.log_power)
    )
    return np.broadcast_to(np.asarray(size**power * math.log(size) ** log_power), s.shape)
