"""What a law needs to know of a run: the learning rate of every step, and after which steps the loss is wanted."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fsl_num.results import Result
from fsl_num.schedules import Discrete, Schedule
from fsl_num.schedules.discrete import running_sums, step_values, steps_and_batches
from fsl_num.validation import Array, as_array, instance_of, positive, whole_count

Steps = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """A schedule step by step, and the steps after which its loss is wanted.

    ``rates``: eta_0 .. eta_{n-1} >= 0, the learning rate of every update, warmup included. ``recorded``: numbers of
    updates done, whole, increasing, in [1, n]; default: after every update from the first one with a positive rate on.
    ``warmup``: how many of the first updates are warmup (0), at most all of them. ``batch_sizes``: in the same unit for
    all plans (tokens or sequences), one number or one an update. ``model_size``: number of parameters M, None where it
    is unknown. Raises ValueError or TypeError otherwise.

    >>> plan = Plan(rates=[0.1, 0.3, 0.2], recorded=[1, 3])
    >>> plan.intrinsic_time.round(12).tolist()
    [0.1, 0.6]
    """

    rates: Any
    recorded: Any = None
    warmup: int = 0
    batch_sizes: Any = 1.0
    model_size: float | None = None
    name: str = "schedule"
    times: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rates, batches = steps_and_batches(self.rates, self.batch_sizes)
        if not rates.any():
            raise ValueError("rates must hold a positive one: with all of them 0 there is no training")
        size = rates.size
        kept = np.arange(1, size + 1) if self.recorded is None else _recorded(self.recorded, size)
        times = running_sums(rates)
        if self.recorded is None:  # every update after which there is a loss to predict
            kept = kept[times[kept] > 0.0]
        if times[kept[0]] <= 0.0:
            raise ValueError(_untrained(int(kept[0])))
        instance_of("name", self.name, str)
        warmup = _warmup(self.warmup, size)
        size_of_model = None if self.model_size is None else positive("model_size", self.model_size)
        for name, value in (
            ("rates", rates),
            ("recorded", kept),
            ("warmup", warmup),
            ("batch_sizes", batches),
            ("model_size", size_of_model),
            ("times", times),
        ):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @cached_property
    def sums(self) -> tuple[Array, Array, Array]:
        """Running sums, from 0: of the changes |eta_k - eta_{k-1}|, of them times T(k), and of them times k.

        >>> Plan([0.1, 0.3]).sums[0].round(12).tolist()
        [0.0, 0.1, 0.3]
        """
        with np.errstate(over="ignore"):  # what is beyond floats makes no finite loss, and is refused as such
            step = np.abs(np.diff(self.rates, prepend=0.0))
            parts = step, step * self.times[:-1], step * np.arange(step.size)
            total, moment, place = (np.concatenate([[0.0], np.cumsum(part)]) for part in parts)
        return total, moment, place

    @property
    def intrinsic_time(self) -> Array:
        """T after each recorded step: the sum of the learning rates of all updates before it."""
        return np.asarray(self.times[self.recorded])

    @property
    def data(self) -> Array:
        """How much data each recorded step has seen, in the unit of ``batch_sizes``."""
        seen = np.cumsum(np.broadcast_to(self.batch_sizes, self.rates.shape))
        return np.asarray(seen[self.recorded - 1])

    @property
    def peak(self) -> float:
        """The largest learning rate."""
        return float(self.rates.max())

    @property
    def batches_unsaid(self) -> bool:
        """Whether all batch sizes are 1, as they are where nothing is said of them."""
        return bool((self.batch_sizes == 1.0).all())

    def new_batches(self, share: float = 0.0) -> npt.NDArray[np.bool_]:
        """Return before which updates the batch size changes, by more than ``share`` of it.

        >>> Plan([0.1] * 4, batch_sizes=[8, 8, 16, 16]).new_batches().tolist()
        [False, False, True, False]
        """
        share, sizes = positive("share", share, zero=True), self.batch_sizes
        if sizes.size == 1:
            return np.zeros(self.rates.size, dtype=bool)
        return np.asarray(np.abs(np.diff(sizes, prepend=sizes[0])) > share * sizes)

    def plot(self, ax: Any = None) -> Any:
        """Draw the learning rate of every update; return the axes (needs matplotlib).

        The line bears the name of the plan, for ``ax.legend()``.

        >>> Plan([0.1, 0.3]).plot().get_xlabel()
        'step'
        """
        axes = Discrete(rates=self.rates).plot(ax)
        axes.lines[-1].set_label(self.name)
        return axes

    def at(self, recorded: Any) -> Plan:
        """Return the same schedule with other steps recorded.

        >>> Plan([0.1, 0.3]).at([2]).intrinsic_time.tolist()
        [0.4]
        """
        return self.first(self.rates.size, recorded)

    def first(
        self,
        updates: int,
        recorded: Any,
        *,
        warmup: int | None = None,
        model_size: float | None = None,
        name: str | None = None,
    ) -> Plan:
        """Return the first ``updates`` of the schedule, with other steps recorded; nothing of it is computed again.

        ``warmup``, ``model_size`` and ``name``: where they are to differ; None keeps those of the schedule.

        >>> Plan([0.1, 0.3, 0.2]).first(2, [1, 2]).intrinsic_time.round(12).tolist()
        [0.1, 0.4]
        """
        sums = self.sums  # of a million updates: shared by all plans made from this one
        part = copy.copy(self)
        updates = whole_count("updates", updates)
        if updates > self.rates.size:
            raise ValueError(f"updates must be at most {self.rates.size}, as many as the schedule has, got {updates}")
        kept = _recorded(recorded, updates)
        if self.times[kept[0]] <= 0.0:
            raise ValueError(_untrained(int(kept[0])))
        kept.setflags(write=False)
        fields: dict[str, Any] = {
            "rates": self.rates[:updates],
            "recorded": kept,
            "batch_sizes": self.batch_sizes[:updates],
            "times": self.times[: updates + 1],
            "warmup": min(self.warmup, updates) if warmup is None else _warmup(warmup, updates),
        }
        if model_size is not None:
            fields["model_size"] = positive("model_size", model_size)
        if name is not None:
            instance_of("name", name, str)
            fields["name"] = name
        for field_name, value in fields.items():
            object.__setattr__(part, field_name, value)
        part.__dict__["sums"] = tuple(total[: updates + 1] for total in sums)
        return part


def _warmup(warmup: Any, updates: int) -> int:
    """The number of updates of a warmup, checked."""
    count = whole_count("warmup", warmup, least=0)
    if count > updates:
        raise ValueError(f"warmup must be at most the {updates} updates of the schedule, got {count}")
    return count


def _recorded(recorded: Any, size: int) -> Steps:
    """The recorded steps, checked."""
    kept = np.atleast_1d(as_array("recorded", recorded))
    numeric = kept.ndim == 1 and kept.size > 0 and kept.dtype.kind in "iuf"
    if not numeric or not (np.isfinite(kept) & (kept == np.floor(kept))).all():
        raise ValueError(f"recorded must be a list of whole numbers of updates, got {recorded!r}")
    kept = kept.astype(np.int64)
    if kept[0] < 1 or kept[-1] > size or (np.diff(kept) <= 0).any():
        raise ValueError(
            f"recorded must increase within [1, {size}] (rates has {size} updates), got a list from {kept[0]}"
            f" to {kept[-1]}; sort it, drop what comes twice, and give a learning rate for every update"
        )
    return kept


def _untrained(step: int) -> str:
    return f"no intrinsic time has passed after {step} updates: all learning rates so far are 0"


def as_plan(schedule: Any, *, warmup: int | None = None, model_size: float | None = None, recorded: Any = None) -> Plan:
    """Return a Plan for a Plan, a curve (its ``plan``), a :class:`~fsl_num.schedules.Schedule`, or an array of rates.

    ``warmup`` (0) and ``model_size`` (unknown) say what an array or a Schedule does not: a Plan or a curve has its own.
    ``recorded``: every update, of a Plan or a curve its own. Raises TypeError for anything else.

    >>> as_plan([0.1, 0.2]).recorded.tolist()
    [1, 2]
    """
    own = schedule if isinstance(schedule, Plan) else getattr(schedule, "plan", None)
    if isinstance(own, Plan):
        vain = [name for name, value in (("warmup", warmup), ("model_size", model_size)) if value is not None]
        if vain:
            raise TypeError(
                f"a {type(schedule).__name__} has its own {' and '.join(vain)}: say it where it is made, or pass its"
                " rates, an array, instead"
            )
        return own if recorded is None else own.at(recorded)
    warmup = 0 if warmup is None else warmup
    if isinstance(schedule, Discrete):
        return Plan(schedule.rates, recorded, warmup, schedule.batch_sizes, model_size)
    if isinstance(schedule, Schedule):
        count = whole_count("steps", schedule.steps)
        rates = schedule.learning_rate(np.arange(count, dtype=np.float64))
        return Plan(rates, recorded, warmup, schedule.batch_size, model_size, type(schedule).__name__)
    if isinstance(schedule, str):
        raise TypeError(
            f"{schedule!r} is a name and no schedule: schedule({schedule!r}, peak=..., steps=...) makes it one"
        )
    return Plan(step_values("rates", schedule, zero=True), recorded, warmup, 1.0, model_size)
