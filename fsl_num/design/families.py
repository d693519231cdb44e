"""Families of schedules with a few parameters: the best member under a law, the usual baselines, names of shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.design.objectives import Objective
from fsl_num.validation import Array, one_of

_EVALUATIONS: Final = 160
_BLOCKS: Final = 400
_STEPS: Final = 100_000  # of more steps members are compared as if each of so many were longer
_LAST: Final = 1e-6  # of the steps: the last block
_SAME: Final = 0.02  # of the peak: a decay so near to a shape is called by its name
_LEVELS: Final = 5  # of rates after the peak: drops, not a decay


def _towards_the_end(blocks: int) -> Array:
    left = np.append(np.geomspace(1.0, _LAST, blocks // 2), 0.0)
    return np.unique(np.concatenate([1.0 - left, np.linspace(0.0, 1.0, blocks // 2)]))


@dataclass(frozen=True)
class Family:
    """A family: names of parameters with their ranges, values to try first, and the rates over the peak.

    ``shape``: (share of the steps gone, its parameters, number of steps) to rates over the peak, before the floor.
    ``ends``: (its parameters, a number of blocks) to shares gone between which the rate changes by little, from 0 to 1.
    """

    ranges: Mapping[str, tuple[float, float]]
    tried: tuple[tuple[float, ...], ...]
    shape: Callable[[Array, tuple[float, ...], float], Array]
    ends: Callable[[tuple[float, ...], int], Array] = lambda choices, blocks: _towards_the_end(blocks)


def decay(gone: Array, fraction: float, power: float, final: float) -> Array:
    """Return 1, then final + (1 - final)(1 - z)^power over the last ``fraction``, of which z has gone.

    >>> decay(np.array([0.0, 0.5, 0.75]), 0.5, 1.0, 0.0).tolist()
    [1.0, 1.0, 0.5]
    """
    left = np.minimum((1.0 - gone) / max(fraction, 1e-12), 1.0)
    return np.asarray(final + (1.0 - final) * left**power)


def _of_decay(gone: Array, fraction: float) -> Array:
    """The share of the decay that is gone; the root of what rounding leaves at its start would be a rate's 1e-8."""
    share = (gone - 1.0 + fraction) / fraction
    return np.where(share < 1e-12, 0.0, share)


def _multi_step(gone: Array, choices: tuple[float, ...], steps: float) -> Array:
    first, between, factor, further = choices
    second = first + between * (1.0 - first)
    return np.where(gone < first, 1.0, np.where(gone < second, factor, factor * further))


_END: Final = "final"
_FRACTION, _FINAL, _POWER = (0.01, 1.0), (0.0, 1.0), (0.25, 8.0)
_FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        "wsd": Family(
            {"decay_fraction": _FRACTION, "power": _POWER, _END: _FINAL},
            tuple(product(_FRACTIONS, (0.5, 1.0, 2.0, 4.0), (0.0, 0.1))),
            lambda gone, choices, steps: decay(gone, *choices),
        ),
        "linear": Family(
            {"decay_fraction": _FRACTION, _END: _FINAL},
            tuple(product(_FRACTIONS, (0.0, 0.1))),
            lambda gone, choices, steps: decay(gone, choices[0], 1.0, choices[1]),
        ),
        "power-decay": Family(
            {"power": (0.05, 8.0), _END: _FINAL},
            tuple(product((0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 0.1))),
            lambda gone, choices, steps: decay(gone, 1.0, *choices),
        ),
        "cosine": Family(
            {_END: _FINAL},
            ((0.0,), (0.1,), (0.3,)),
            lambda gone, choices, steps: choices[0] + (1.0 - choices[0]) * 0.5 * (1.0 + np.cos(np.pi * gone)),
        ),
        "1-sqrt": Family(
            {"decay_fraction": _FRACTION, _END: _FINAL},
            tuple(product(_FRACTIONS, (0.0, 0.1))),
            lambda gone, choices, steps: 1.0 - (1.0 - choices[1]) * np.sqrt(_of_decay(gone, choices[0])),
        ),
        "inverse-sqrt": Family(
            {"timescale": (1e-4, 100.0)},
            ((0.001,), (0.01,), (0.1,), (1.0,), (10.0,)),
            lambda gone, choices, steps: 1.0 / np.sqrt(1.0 + gone / choices[0]),
        ),
        "multi-step": Family(
            {"first": (0.0, 1.0), "between": (0.0, 1.0), "factor": (0.0, 1.0), "further": (0.0, 1.0)},
            tuple(product((0.5, 0.7, 0.8, 0.9), (0.3, 0.5, 0.8), (0.1, 0.3, 0.5), (0.1, 0.3, 1.0))),
            _multi_step,
        ),
    }
)  # fmt: skip
"""Name -> family. ``decay_fraction`` and ``timescale`` are shares of the steps, ``final`` of the peak; the steps of
multi-step come at ``first`` and at ``between`` of what is left then, each multiplying the rate."""

BASELINES: Final[Mapping[str, tuple[str, tuple[float, ...]]]] = MappingProxyType(
    {
        "constant": ("linear", (1e-9, 1.0)),
        "cosine to 10 %": ("cosine", (0.1,)),
        "cosine to 0": ("cosine", (0.0,)),
        "linear to 0": ("linear", (1.0, 0.0)),
        "wsd, 20 % linear": ("linear", (0.2, 0.0)),
        "wsd, 20 % 1-sqrt": ("1-sqrt", (0.2, 0.0)),
    }
)
"""What a design is compared with: name -> family and parameters."""


def family_rates(name: str, choices: tuple[float, ...], steps: int, floor: float, peak: float) -> Array:
    """Return the rate of every step of one member of a family; ValueError for an unknown name.

    A decay ends at the floor, where its own end is below it; families without an end are cut there.

    >>> family_rates("linear", (0.5, 0.0), 4, 0.1, 1.0).tolist()
    [1.0, 1.0, 1.0, 0.55]
    """
    unknown = f"there is no family {name!r}; choose free, non-increasing, {', '.join(FAMILIES)}"
    family = FAMILIES[one_of("family", name, FAMILIES, unknown)]
    if _END in family.ranges:
        at = list(family.ranges).index(_END)
        choices = (*choices[:at], max(choices[at], floor / peak), *choices[at + 1 :])
    return np.clip(peak * family.shape(np.arange(steps) / steps, choices, steps), floor, peak)


def best_member(
    name: str, objective: Objective, steps: int, floor: float, peak: float
) -> tuple[Array, dict[str, float]]:
    """Return the rates of the best member of a family, and its parameters by name, ``final`` as a rate.

    All of a table of members are tried on blocks of steps, and from the two best a simplex descends (Nelder and Mead);
    the best of these under the law of all steps is returned.
    """
    from scipy.optimize import minimize

    family, ones = FAMILIES[name], np.ones(steps)
    low, high = np.array(list(family.ranges.values())).T

    few = min(steps, _STEPS)
    starts, lengths = step_blocks(few, _BLOCKS)

    def member(choices: Any, count: int = steps) -> Array:
        return family_rates(name, tuple(np.clip(choices, low, high)), count, floor, peak)

    def rough(choices: Any) -> float:
        return objective(np.add.reduceat(member(choices, few), starts) / lengths, lengths * (steps / few))[0]

    ranked = sorted(family.tried, key=rough)[:2]
    ends = list(ranked)
    for start in ranked:
        corners = np.array([start, *np.where(np.eye(low.size, dtype=bool), _moved(np.array(start), low, high), start)])
        minimum = minimize(rough, start, method="Nelder-Mead", bounds=list(zip(low, high, strict=True)),
                         options={"maxfev": _EVALUATIONS, "xatol": 1e-5, "fatol": 1e-10, "initial_simplex": corners}
                         )  # fmt: skip
        ends.append(tuple(np.clip(minimum.x, low, high)))
    best = min(ends, key=lambda end: objective(member(end), ones)[0])
    if "decay_fraction" in family.ranges:  # of whole steps, as the schedulers of frameworks have it
        at = list(family.ranges).index("decay_fraction")
        best = (*best[:at], max(round(best[at] * steps), 1) / steps, *best[at + 1 :])
    parameters = {name: float(value) for name, value in zip(family.ranges, best, strict=True)}
    if _END in parameters:
        parameters[_END] = max(parameters[_END] * peak, floor)
    return member(best), parameters


def _moved(start: Array, low: Array, high: Array) -> Array:
    """Values a tenth of the range away, towards the farther bound."""
    return np.where(start - low < high - start, start + 0.1 * (high - low), start - 0.1 * (high - low))


def step_blocks(steps: int, count: int = 200) -> tuple[Any, Array]:
    """Return the first steps and the lengths of at most ``count`` blocks, ever shorter towards the end.

    >>> step_blocks(5)[1].tolist()
    [2.0, 1.0, 1.0, 1.0]
    """
    edges = steps - np.unique(np.geomspace(1, steps, min(count, steps)).astype(np.int64))[::-1]
    edges = np.append(edges, steps) if edges[-1] < steps else edges
    return edges[:-1], np.diff(edges).astype(np.float64)


def shape_words(rates: Array) -> tuple[float, str]:
    """Return the share of the steps before the last at 99 % of the peak or more, and the shape of the decay in words.

    The shape is the nearest, in the mean square over the steps of the decay, of those with a name; one that is no nearer
    than a fiftieth of the peak is the power (1 - z)^q nearest to it.

    >>> shape_words(np.append(np.ones(100), 1.0 - np.arange(100) / 100))
    (0.51, 'linear')
    >>> shape_words(np.ones(9)), shape_words((1.0 - np.arange(500) / 500) ** 2.5)[1]
    ((1.0, 'constant'), 'power 2.5')
    >>> shape_words(np.repeat([1.0, 0.3, 0.1], 50))[1]
    '2 drops'
    """  # noqa: E501
    from scipy.optimize import minimize_scalar

    peak = float(rates.max())
    stable = int(np.flatnonzero(rates >= 0.99 * peak)[-1]) + 1
    if stable == rates.size:
        return 1.0, "constant"
    last, first = rates[stable:] / peak, float(rates[stable - 1] / peak)
    levels = np.unique(last)
    if levels.size <= _LEVELS and levels.size < 0.1 * last.size:
        return stable / rates.size, f"{levels.size} drop{'s' if levels.size > 1 else ''}"
    final, gone = float(last[-1]), np.arange(1, last.size + 1) / (last.size + 1)
    # a decay to 0 has its last rate a step before the end
    end = 0.0 if final < 3.0 / (last.size + 1) ** 0.5 and final < 0.05 else final

    def error(shape: Array) -> float:
        return float(np.sqrt(np.mean((end + (first - end) * shape - last) ** 2)))

    whole = 0.5 * (1.0 + np.cos(np.pi * np.arange(rates.size) / rates.size))
    least = float(rates[-1] / peak)
    if np.sqrt(np.mean((least + (1.0 - least) * whole - rates / peak) ** 2)) < 0.25 * _SAME:
        return stable / rates.size, "cosine"
    named = {
        "cosine": 0.5 * (1.0 + np.cos(np.pi * gone)),
        "1-sqrt": 1.0 - np.sqrt(gone),
        "exponential": np.exp(np.log(max(final, 1e-6)) * gone),
        "linear": 1.0 - gone,
    }
    fitted: Any = minimize_scalar(lambda q: error((1.0 - gone) ** np.exp(q)), bounds=(-3.0, 3.0), method="bounded")
    power = float(np.exp(fitted.x))
    nearest = min(named, key=lambda name: error(named[name]))
    share = stable / rates.size
    if abs(power - 1.0) < 0.05 and fitted.fun < _SAME:
        return share, "linear"
    return share, nearest if error(named[nearest]) < min(0.5 * fitted.fun, _SAME) else f"power {power:.2g}"
