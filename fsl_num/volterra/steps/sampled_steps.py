r"""Every 32nd step, say, of a schedule, and how far the steps between are from what these tell.

Learning rates and batch sizes are mostly smooth functions of the number of the step. So a few of them, interpolated by
polynomials through eight samples, give all the others but for rounding. Whether they do is checked at every step, once;
afterwards only the samples are looked at. A row is a sample with the steps up to the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.schedules.discrete import step_values
from fsl_num.validation import Array

WINDOW = 8  # samples that a polynomial goes through

INTERPOLATION = 0.02
"""Error of the interpolation by the eighth difference of the samples: the product of the distances to the eight samples
over 8!, which is 0.0011 between the middle two and 0.015 between the first two."""

_BINOMIALS = np.array([1.0, -8.0, 28.0, -56.0, 70.0, -56.0, 28.0, -8.0, 1.0])

APART = 2  # of many schedules every second sample tells the steps between

_CHUNK = 98304  # numbers that are compared at once, which stay in the caches


@lru_cache(maxsize=16)
def _tables(spacing: int, first: int) -> Array:
    """Return what takes eight samples to the ``spacing`` places from ``first`` = 0 or 1 on that follow the sample o,
    counted in steps, shape (7, 8, spacing) for o = 0 ... 6."""
    samples = np.arange(WINDOW)
    places = np.arange(WINDOW - 1)[:, None] + (first + np.arange(spacing)) / spacing
    distances = places[:, None, :] - samples[:, None]
    apart = (samples[:, None] - samples).astype(float)
    np.fill_diagonal(apart, 1.0)
    return np.stack([np.delete(distances, i, axis=1).prod(axis=1) / apart[i].prod() for i in range(WINDOW)], axis=1)


def windows(samples: Array) -> Array:
    """Return all runs of eight neighbours along the last axis, shape (..., n - 7, 8), one after the other in memory."""
    *others, size = samples.shape
    strides = (*samples.strides, samples.strides[-1])
    seen = np.lib.stride_tricks.as_strided(samples, (*others, size - WINDOW + 1, WINDOW), strides, writeable=False)
    return np.ascontiguousarray(seen)


def between_samples(samples: Array, spacing: int, out: Array) -> None:
    """Put a smooth function at the ends of the steps into ``out``, shape (rows, ``spacing``).

    ``samples``: the function where the rows begin, and at the end of the last one, shape (rows + 1,), at least 8.
    """
    tables, rows = _tables(spacing, 1), samples.size - 1
    middle = WINDOW // 2 - 1
    np.matmul(windows(samples), tables[middle], out=out[middle : rows - middle])
    for i in range(middle):
        np.matmul(samples[:WINDOW], tables[i], out=out[i])
        np.matmul(samples[-WINDOW:], tables[-1 - i], out=out[rows - 1 - i])


def eighth_difference(samples: Array, apart: int = 1) -> float:
    """Return the largest eighth difference of ``samples`` that are ``apart``, shape (n,) with n > 8 ``apart``.

    >>> eighth_difference(np.arange(10.0) ** 8) == 40320.0
    True
    """
    found = [np.convolve(samples[first::apart], _BINOMIALS, "valid") for first in range(apart)]
    return max(max(float(each.max()), -float(each.min())) for each in found)


def missed(values: Array, spacing: int) -> Array:
    """Return how much the steps of each row are away from the polynomials through the samples, shape (..., rows).

    ``values``: shape (..., rows spacing). It is the root of the sum of squares over the row, which is at least the
    largest; infinite for the first three rows and the last four, which have too few samples on one side.

    >>> missed(np.linspace(1.0, 2.0, 64), 4).round(12).tolist()[3:-4]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    rows = values.reshape(*values.shape[:-1], values.shape[-1] // spacing, spacing)
    found = np.full(rows.shape[:-1], np.inf)
    if rows.shape[-2] < WINDOW:
        return found
    middle = WINDOW // 2 - 1
    table = _tables(spacing, 0)[middle]
    of = windows(rows[..., 0])
    inner, into = rows[..., middle : middle + of.shape[-2], :], found[..., middle : middle + of.shape[-2]]
    group = max(1, _CHUNK // spacing)
    room = np.empty((*inner.shape[:-2], min(group, inner.shape[-2]), spacing))
    for low in range(0, inner.shape[-2], group):
        part = slice(low, min(low + group, inner.shape[-2]))
        wrong = np.matmul(of[..., part, :], table, out=room[..., : part.stop - low, :])
        wrong -= inner[..., part, :]
        into[..., part] = np.einsum("...rs,...rs->...r", wrong, wrong)
    np.sqrt(found, out=found)
    return found


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of ``spacing`` steps (the last may have fewer): ``starts``: where they begin, and the end of the last, shape
    (rows + 1,); ``index``, ``ends``: the steps that the samples do not tell, counted from the first, and their ends;
    ``ragged``, ``uneven``: how far gamma and the lengths of the others are from what the samples tell."""

    spacing: int
    starts: Array
    index: Any
    ends: Array
    ragged: float
    uneven: float


@dataclass(frozen=True, eq=False)
class SampledSteps:
    """Steps of the ``lengths`` on which gamma is ``gammas``, both of shape (steps,).

    ``spacing`` of the samples; ``blocks``: how long each row of steps is (the last may have fewer steps); ``uneven``,
    ``ragged``: how much the lengths and gamma of each row are away from what the samples tell, infinite where that is
    not known; ``one_batch``: whether the lengths are a multiple of gamma.
    """

    lengths: Array
    gammas: Array
    spacing: int
    one_batch: bool
    blocks: Array
    uneven: Array
    ragged: Array

    @staticmethod
    def of(lengths: Array, gammas: Array, spacing: int, one_batch: bool) -> SampledSteps:
        """Return the samples of positive ``lengths`` and ``gammas``."""
        blocks = np.add.reduceat(lengths, np.arange(0, lengths.size, spacing))
        whole = lengths.size // spacing * spacing
        ragged = np.full(blocks.size, np.inf)
        ragged[: whole // spacing] = missed(gammas[:whole], spacing)
        if one_batch and gammas[0] > 0.0:  # it may be too small for a float
            uneven = ragged * (lengths[0] / gammas[0])
        else:
            uneven = np.full(blocks.size, np.inf)
            uneven[: whole // spacing] = missed(lengths[:whole], spacing)
        return SampledSteps(lengths, gammas, spacing, one_batch, blocks, uneven, ragged)

    def inside(self, low: int, high: int) -> slice:
        """Return the steps of the rows ``low`` to ``high`` (not included)."""
        return slice(low * self.spacing, min(high * self.spacing, self.lengths.size))

    def rows(self, low: int, high: int, allowed: Array) -> Rows:
        """Return the rows ``low`` to ``high`` (not included), with those steps apart where gamma or a length is farther
        from what the samples tell than ``allowed``, shape (2,); lengths add up over a row."""
        blocks = self.blocks[low:high]
        starts = np.concatenate([[0.0], np.cumsum(blocks)])
        starts[-1] = blocks.sum()
        most = np.minimum(allowed, 1e300)
        ragged, uneven = self.ragged[low:high], self.uneven[low:high]
        told = (ragged <= most[0]) & (uneven <= most[1] / self.spacing)
        rough = np.flatnonzero(~told)
        index = (low + rough)[:, None] * self.spacing + np.arange(self.spacing)
        inside = index < self.lengths.size
        ends = np.cumsum(self.lengths[np.minimum(index, self.lengths.size - 1)], axis=1) + starts[rough, None]
        apart = index[inside] - low * self.spacing
        least = float(ragged[told].max(initial=0.0)), float(uneven[told].max(initial=0.0))
        return Rows(self.spacing, starts, apart, ends[inside], *least)


@dataclass(frozen=True, eq=False)
class SampledSchedules:
    """Many schedules of the same ``lengths``, shape (steps,), on which gamma is the length by one of the ``batches``,
    shape (schedules, all steps); ``moving``: which of all steps have a length, None for all.

    ``spacing`` of the samples; ``samples`` of gamma, shape (schedules, rows), and how ``ragged`` it is between every
    second of them, which is half the work; ``largest`` gamma.
    """

    lengths: Array
    batches: Array
    moving: Any
    spacing: int
    samples: Array
    ragged: Array
    largest: float

    @staticmethod
    def of(rates: Array, batches: Array, spacing: int) -> SampledSchedules:
        """Return the samples of schedules with learning ``rates`` of at least 0, in one look at the ``batches``.

        Raises ValueError where these are not all positive and finite.
        """
        moving = None if rates.all() else np.flatnonzero(rates)
        lengths = rates if moving is None else rates[moving]
        rows = -(-lengths.size // spacing)
        wide = APART * spacing
        whole = lengths.size // wide
        samples, ragged = np.empty((batches.shape[0], rows)), np.full((batches.shape[0], rows), np.inf)
        group = max(1, _CHUNK // rates.size)
        room = np.empty((group, rates.size))
        largest = 0.0
        for low in range(0, batches.shape[0], group):
            some = batches[low : low + group]
            with np.errstate(all="ignore"):  # what is not a positive number is refused below
                gammas = np.divide(rates, some, out=room[: some.shape[0]])
            if moving is not None:
                gammas = gammas[:, moving]
            peak = float(gammas.max(initial=0.0))
            if moving is not None or not (gammas.min() > 0.0 and peak < np.inf):
                step_values("batch_sizes", some, zero=False)
            largest = max(largest, peak)
            samples[low : low + group] = gammas[:, ::spacing]
            away = missed(gammas[:, : whole * wide], wide)
            ragged[low : low + group, : APART * whole] = np.repeat(away, APART, axis=1)
        return SampledSchedules(lengths, batches, moving, spacing, samples, ragged, largest)

    def gammas(self, steps: Any) -> Array:
        """Return gamma on some ``steps`` (a slice or whole numbers), shape (schedules, steps)."""
        at = steps if self.moving is None else self.moving[steps]
        return np.asarray(self.lengths[steps] / self.batches[:, at])

    def mean(self, some: Any) -> SampledSteps:
        """Return the steps with the mean gamma of ``some`` schedules."""
        at = slice(None) if self.moving is None else self.moving
        gammas = (self.lengths / self.batches[some][:, at]).mean(axis=0)
        return SampledSteps.of(self.lengths, gammas, self.spacing, False)

    def only(self, chosen: Any) -> SampledSchedules:
        """Return the ``chosen`` schedules."""
        names = ("batches", "samples", "ragged")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})
