"""A schedule for a training framework: its own arguments where they give the same rates, else a function to paste."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import numpy as np

from fsl_num.results import Result
from fsl_num.schedules.base import Schedule
from fsl_num.schedules.catalogue import as_schedule, step_rates
from fsl_num.schedules.discrete import Discrete
from fsl_num.schedules.frameworks import FRAMEWORKS, called, written
from fsl_num.schedules.frameworks.arguments import EXACT, Match, matches, tidy
from fsl_num.schedules.recognise import recognised
from fsl_num.schedules.source import knots, source
from fsl_num.validation import Array, finite_array, give_back, instance_of, one_of, real_number

FUNCTIONS: Final = {"torch": "math", "optax": "jnp"}
"""Frameworks that take a function of the step, and what it is written for."""

_NEAR: Final = 0.1  # of the peak: a scheduler that far off may be meant

EXPORTS: Final = tuple(FRAMEWORKS)
"""The frameworks that :func:`export` writes for."""


class ExportError(ValueError):
    """A framework has no arguments that give the rates of the schedule at every step.

    >>> issubclass(ExportError, ValueError)
    True
    """


@dataclass(frozen=True, eq=False, repr=False)
class Export(Result):
    """A schedule in the words of a ``framework``, equal to its ``rates`` (one an update) to 1e-12 of the peak.

    ``text``: what a user pastes: a small Python file for torch and optax, else arguments. ``name``: the framework's
    scheduler with its ``arguments``, which every ``schedule`` here reads back, at the base rate that the text gives as
    peak; "" where the text is a function.
    """

    framework: str
    text: str
    rates: Array
    name: str = ""
    arguments: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """The text to paste."""
        return self.text

    def __repr__(self) -> str:
        return f"Export({self.framework}: {self.name or f'a function of {self.rates.size} steps'})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text, quote=False)}</pre>"

    def learning_rate(self, step: Any) -> Any:
        """Return the rate of update ``step``, counted from 0; behind the last one, that of the last.

        It is a schedule of optax: a number, a list or array of them, and arrays of jax, traced ones included. Within
        an update its rate stays. Raises TypeError or ValueError for what are no finite numbers.

        >>> export([0.1, 0.05], "optax").learning_rate(1), export([0.1, 0.05], "optax").learning_rate([0, 1.5]).tolist()
        (0.05, [0.1, 0.05])
        """
        last = self.rates.size - 1
        if hasattr(step, "__array_namespace__") and not isinstance(step, (np.ndarray, np.generic)):
            space = step.__array_namespace__()
            return space.take(space.asarray(self.rates), space.clip(step, 0, last).astype(int))
        steps = finite_array("step", step)
        return give_back(self.rates[steps.clip(0, last).astype(int)], steps.ndim == 0)

    def multiplier(self, step: Any) -> Any:
        """Return the rate as a share of the largest, as ``torch.optim.lr_scheduler.LambdaLR`` takes it.

        >>> export([0.1, 0.05], "torch").multiplier(1)
        0.5
        """
        return self.learning_rate(step) / float(self.rates.max())


def export(
    schedule: Any,
    framework: str,
    *,
    steps: Any = None,
    peak: Any = None,
    title: str = "",
    within: float = EXACT,
    **parameters: Any,
) -> Export:
    """Return a schedule as a training framework takes it, equal at every step.

    ``schedule``: whatever :func:`~fsl_num.schedules.as_schedule` takes, with its ``steps``, ``peak`` and parameters: a
    name, a Schedule, a function, or an array with the rate of every update. ``framework``: one of :data:`EXPORTS`;
    torch (a function for LambdaLR) and optax (a function of the step) take every schedule, the others those that
    their own schedulers reproduce. ``title``: what the file says the schedule is. ``within``: how far off, as a
    share of the peak, a function may be where the rates have no closed form: its table is as short as that allows.

    Raises ExportError, with the closest scheduler of the framework and how far it is off, where none gives the same
    rates; ValueError for an unknown framework, and what the schedule itself raises.

    >>> print(export("cosine", "transformers", peak=0.01, steps=1000, warmup=100))
    TrainingArguments(
        learning_rate=0.01,
        max_steps=1000,
        lr_scheduler_type="cosine",
        warmup_steps=100,
    )
    <BLANKLINE>
    >>> export("wsd", "megatron", peak=0.01, steps=1000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fsl_num.schedules.export.ExportError: megatron has no scheduler with these rates: ...
    """
    instance_of("title", title, str)
    one_of("framework", framework, EXPORTS, f"there is no export to {framework!r}: choose {', '.join(EXPORTS)}")
    if not EXACT <= (share := real_number("within", within)) < 1.0:
        raise ValueError(f"within must lie in [{EXACT:g}, 1), a share of the peak, got {within}")
    rates = step_rates(schedule, peak=peak, steps=steps, **parameters)
    call = called(schedule) if isinstance(schedule, str) else None
    write = FRAMEWORKS[framework].write
    if write is None:
        plan = _plan(schedule, rates, peak=peak, steps=steps, **parameters)
        if isinstance(plan, Discrete) and share > EXACT:
            rates = _thinned(rates, share)
        return Export(framework, source(plan, rates, FUNCTIONS[framework], title), rates)
    if call is not None and call[0] == framework:
        match: Match | None = Match(call[1].name, call[1].arguments, float(peak), 0.0, 0)
    else:
        match = next(matches(FRAMEWORKS[framework], rates, tidy(float(rates.max()))), None)
    if match is None or not match.exact:
        raise ExportError(_refusal(framework, match, rates.size))
    text = write(match.name, match.arguments, match.base, rates.size)
    return Export(framework, text, rates, written(framework, match.name, match.arguments), match.arguments)


def _thinned(rates: Array, within: float) -> Array:
    """Rates on few straight lines between numbers of few digits, within a share of the peak of those given."""
    places = knots(rates, 0.99 * within)  # the rest is for the digits that are left out
    digits = 3 + math.ceil(-math.log10(within))
    ends = [float(f"{rate:.{digits}g}") for rate in rates[places]]
    return np.interp(np.arange(rates.size), places, ends)


def _plan(schedule: Any, rates: Array, **parameters: Any) -> Schedule:
    """The schedule with its closed forms; where none came with it, the one of the catalogue that has these rates."""
    by_itself = callable(schedule) and not isinstance(schedule, Schedule)
    plan = Discrete(rates=rates) if by_itself else as_schedule(schedule, **parameters)
    return (recognised(rates) or plan) if isinstance(plan, Discrete) else plan


def _refusal(framework: str, closest: Match | None, steps: int) -> str:
    said = f"{framework} has no scheduler with these rates"
    instead = f"choose a shape that {framework} has (fsl design --family linear)"
    if closest is not None and np.isfinite(closest.off):
        name = written(framework, closest.name, closest.arguments)
        said += (
            f": the closest, {name}, is off by up to {closest.off:.2g} of the peak (update {closest.step}), where"
            f" {EXACT:g} is asked for"
        )
        if closest.off <= _NEAR:
            asked = f'"{name}" --peak-lr {closest.base:g} --steps {steps} --export {framework}'
            instead = f"train with that one, which fsl schedule {asked} writes"
    return (
        f"{said}; export to torch (a function for LambdaLR) or optax, which take every schedule, write the rates as a"
        f" table (without --export), or {instead}"
    )
