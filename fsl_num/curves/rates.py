"""The learning rate of every update, rebuilt from the rows of a log and from what is said of the warmup."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from fsl_num.curves.plan import Steps
from fsl_num.validation import Array, affordable

WARMUP_SHAPES: Final = ("linear", "cosine", "constant")
"""How the learning rate rises to its first recorded value: linearly from 0, as half a cosine, or at once."""

BETWEEN: Final = ("auto", "hold", "straight")
"""What the rate does between two rows: "hold" keeps that of the row before, "straight" goes straight to the next one,
"auto" holds where the rate jumps and goes straight where it glides."""

MEANT_TOKENS: Final = "if the steps are tokens, say how many make an update: tokens_per_step=N (--tokens-per-step N)"
_BYTES_OF_AN_UPDATE = 96  # a dozen arrays of all updates at once
_WARMUP = 0.1  # of the steps: a rise that takes longer is the schedule itself
_STRAIGHT = 0.25  # unless it is a straight line from 0
_LATE_ROWS, _LATE = 3.0, 0.01
_JUMP = 0.1  # of the largest rate
_NEIGHBOURS = 3.0  # a jump is so many times larger, for each update, than the change on either side of it


def jumps(step: Steps, lr: Array) -> Any:
    """Return, for each gap between two rows, whether the rate jumps there rather than glides.

    >>> jumps(np.arange(5) * 10, np.array([1.0, 1.0, 0.3, 0.3, 0.3])).tolist()
    [False, True, False, False]
    >>> jumps(np.arange(5) * 10, np.array([1.0, 0.75, 0.5, 0.25, 0.0])).tolist()
    [False, False, False, False]
    """
    change = np.abs(np.diff(lr))
    if change.size == 0:
        return np.zeros(0, dtype=bool)
    speed = change / np.diff(step)
    left = np.concatenate([[0.0], speed[:-1]])
    right = np.concatenate([speed[1:], [0.0]])
    # next to the first and the last gap there is one neighbour only
    beside = np.maximum(left, right)
    return (change > _JUMP * lr.max()) & (speed / _NEIGHBOURS > beside)


def rates_of_rows(
    step: Steps, lr: Array, *, warmup: int = 0, warmup_shape: str = "linear", between: str = "auto"
) -> Array:
    """Return eta_0 .. eta_{n-1} for a log whose last row is after n updates; n is at least 1.

    ``step``: updates done at each row, increasing. ``lr``: the rate of the next update at each row. ``warmup``: how
    many updates of it there are; where the log begins within it, it rises from row to row, and to the rate of the next
    row by its end. ``warmup_shape``: one of :data:`WARMUP_SHAPES`. ``between``: one of :data:`BETWEEN`.

    >>> rates_of_rows(np.array([4, 6]), np.array([0.4, 0.2]), warmup=4, between="hold").tolist()
    [0.0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.4]
    >>> rates_of_rows(np.array([2, 6]), np.array([0.2, 0.4]), warmup=4).tolist()
    [0.0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.4]
    """
    total = max(int(step[-1]), 1)
    affordable("updates up to the last step", total, _BYTES_OF_AN_UPDATE, MEANT_TOKENS)
    within = between == "auto" and warmup_shape != "constant" and step[0] < warmup < step[-1]
    if within and warmup not in step:
        end = int(np.searchsorted(step, warmup))
        step, lr = np.insert(step, end, warmup), np.insert(lr, end, lr[end])
    k = np.arange(total)
    row = np.clip(np.searchsorted(step, k, side="right") - 1, 0, step.size - 1)
    held = lr[row]
    rates = held
    if between != "hold" and step.size > 1:
        straight = np.interp(k, step, lr)
        if between == "auto":
            gap = np.minimum(row, step.size - 2)
            straight = np.where(jumps(step, lr)[gap] & ~(within & (k < warmup)), held, straight)
        rates = straight
    length = min(warmup, int(step[0]))
    early = k < length
    if warmup_shape == "linear":
        rates = np.where(early, lr[0] * k / max(length, 1), rates)
    elif warmup_shape == "cosine":
        rates = np.where(early, lr[0] * np.sin(0.5 * np.pi * k / max(length, 1)) ** 2, rates)
    return np.asarray(rates, dtype=np.float64)


def unseen_updates(step: Any) -> int:
    """Return how many updates precede the first row where a log begins so late that their learning rates matter.

    Later than three of its spacings and than a hundredth of its length; else 0.

    >>> unseen_updates([2000, 2100, 2200, 24000]), unseen_updates([100, 200, 300])
    (2000, 0)
    """
    step = np.asarray(step, dtype=np.float64)
    late = (
        step.size > 1
        and np.isfinite(step).all()
        and step[0] > max(_LATE_ROWS * float(np.median(np.diff(step))), _LATE * step[-1])
    )
    return int(step[0]) if late else 0


def warmup_in(rates: Array) -> int:
    """Return the warmup, as :func:`warmup_of` sees it, in a schedule with a rate for every update.

    >>> warmup_in(np.array([0.0, 0.1, *[0.2] * 20]))
    2
    """
    return warmup_of(np.arange(rates.size + 1), np.append(rates, rates[-1]))


def warmup_of(step: Any, lr: Any) -> int:
    """Return over how many updates the rate rises at the start of a log, 0 where it does not.

    It is a warmup where the rate never falls until it is at its largest, within the first tenth of the steps, or the
    first quarter where it rises in a straight line from 0. Then its end is where that line meets the largest rate, else
    the first row that has it.

    >>> warmup_of(np.array([200, 400, 9000]), np.array([0.2, 0.3, 0.3]))
    300
    >>> warmup_of(np.array([200, 400, 9000]), np.array([0.3, 0.3, 0.1]))
    0
    >>> warmup_of(np.array([50, 100, 150, 200, 1000]), np.array([0.1, 0.2, 0.3, 0.4, 0.1]))
    200
    """
    lr, step = np.asarray(lr, dtype=np.float64), np.asarray(step, dtype=np.float64)
    if lr.size < 3 or not np.isfinite(lr).all() or not np.isfinite(step).all():
        return 0
    top = int(np.argmax(lr >= (1.0 - 1e-3) * lr.max()))  # a thousandth: what a cosine loses until its first row
    if top == 0 or (np.diff(lr[: top + 1]) < 0.0).any() or step[top] > _STRAIGHT * step[-1]:
        return 0
    rising, within = lr[:top] > 0.0, step[top] <= _WARMUP * step[-1]
    if not rising.any():
        return int(step[top]) if within else 0
    # the rate of the next update at each row, or of the last one, or of that before
    lines = [lr[:top][rising] / np.maximum(step[:top][rising] + late, 1.0) for late in (0, 1, -1)]
    late, slopes = min(zip((0, 1, -1), lines, strict=True), key=lambda line: np.ptp(line[1]) / line[1].mean())
    straight = np.ptp(slopes) <= 0.02 * slopes.mean()
    if straight and (within or rising.sum() > 2):
        return int(min(round(float(lr[top] / slopes.mean())) - late, step[top]))
    return int(step[top]) if within else 0
