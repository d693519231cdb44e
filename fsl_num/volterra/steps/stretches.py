r"""The loss over stretches of many steps, by collocation in time with a smooth gamma in place of the staircase.

Over a step of length eta the staircase differs from a smooth gamma^ by zigzags. With gamma^ = g + g'' eta^2/24 +
g' (eta^2)'/12, where g is the polynomial through gamma at the middles of the steps, each zigzag and its first integrals
D1, D2, D3 have the mean 0 (the formula of Euler and Maclaurin): D1 = -g' eta^2 B2(x)/2, D2 = -g' eta^3 B3(x)/6,
D3 = -g' eta^4 B4(x)/24 with the Bernoulli polynomials of the place x in the step. To first order in them the modes X of
gamma^ and the modes of the staircase, x' = (A + gamma B) x, differ by

    (D1 B + D2 [A, B] + D3 [A + gamma B, [A, B]]) X,

and D2 is 0 at the ends of steps. What is left is of the order D1^2 and D1 (rate eta)^4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.panels import radau_rule
from fsl_num.volterra.steps.smooth_steps import DEGREE, Stretch, polynomial

_CHUNK = 64  # panels whose matrices are made at once


@dataclass(frozen=True)
class _Tables:
    """Of the six Radau points: ``full``, ``row_sums``, ``last``: what the real and imaginary parts of
    alpha/(1 + alpha z), alpha an eigenvalue, give (I + z A)^-1 A, its row sums, and its last row; ``places``: the
    start of the panel and its points, in [-1, 1]; ``coefficients``: from values there to rising powers; ``slopes``:
    from values there to derivatives there."""

    eigenvalues: Any
    full: Array
    row_sums: Array
    last: Array
    places: Array
    coefficients: Array
    slopes: Array


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    radau = radau_rule()
    upper = np.flatnonzero(radau.eigenvalues.imag > 0.0)
    products = 2.0 * radau.vectors[:, upper].T[:, :, None] * radau.inverse[upper][:, None, :]
    size = radau.nodes.size
    full = np.concatenate([products.real, -products.imag])
    places = np.concatenate([[-1.0], 2.0 * radau.nodes - 1.0])
    powers = np.vander(places, increasing=True)
    coefficients = np.linalg.inv(powers)
    rising = np.zeros_like(powers)
    rising[:, 1:] = powers[:, :-1] * np.arange(1.0, size + 1)
    return _Tables(
        radau.eigenvalues[upper],
        full.reshape(-1, size * size),
        full.sum(axis=2),
        np.ascontiguousarray(full[:, -1]),
        places,
        coefficients,
        rising @ coefficients,
    )


def panel_places(parts: int) -> Array:
    """Return the start and the points of each of ``parts`` equal panels of a stretch, shape (parts, 7), in [-1, 1]."""
    return np.asarray((_tables().places + 1.0 + 2.0 * np.arange(parts)[:, None]) / parts - 1.0)


@dataclass(frozen=True, eq=False)
class Staircase:
    """Of some stretches, at their :func:`panel_places`, shape (stretches, parts, 7): the smooth ``gamma``, ``zigzag``
    g' eta^2, and the length ``eta`` of a step there."""

    gamma: Array
    zigzag: Array
    eta: Array


def smooth_staircase(stretches: Sequence[Stretch], parts: int) -> Staircase:
    """Return gamma without its zigzags."""
    g, eta = (np.stack([getattr(one, name) for one in stretches]).T for name in ("gamma", "length"))
    found = staircase_of(g, eta, np.array([2.0 / one.time for one in stretches]), parts)
    return Staircase(*(np.moveaxis(each, -1, 0) for each in (found.gamma, found.zigzag, found.eta)))


def staircase_of(g: Array, eta_of: Array, by_time: Any, parts: int) -> Staircase:
    """Return gamma without its zigzags, shape (parts, 7, n), for n columns of coefficients ``g`` and ``eta_of``.

    ``by_time``: 2 by the length of the stretch.
    """
    places = panel_places(parts)
    powers = places[..., None] ** np.arange(DEGREE + 1)
    order = np.arange(DEGREE)[:, None] + 1.0
    lower = powers[..., :-1]
    first = order * g[1:]
    slope = lower @ first * by_time
    bend = lower[..., :-1] @ (order[:-1] * first[1:]) * by_time**2
    eta = powers @ eta_of
    eta_slope = lower @ (order * eta_of[1:]) * by_time
    return Staircase(powers @ g + bend * eta**2 / 24.0 + slope * eta * eta_slope / 6.0, slope * eta**2, eta)


@dataclass(frozen=True, eq=False)
class PanelMaps:
    """Of panels: ``history`` (n, 6, modes) from the modes to their part of u at the points; ``response`` (n, 6, 6) from
    gamma u to u; ``left`` (n, 6, modes) from gamma u to the modes at the end."""

    history: Array
    response: Array
    left: Array


def panel_maps(system: LinearModes, lengths: Array) -> PanelMaps:
    """Return the maps of panels of the ``lengths``."""
    tables = _tables()
    count, points, size = lengths.size, tables.places.size - 1, system.rates.size
    history, left = np.empty((count, points, size)), np.empty((count, points, size))
    response = np.empty((count, points, points))
    for low in range(0, count, _CHUNK):
        rows = slice(low, min(low + _CHUNK, count))
        turns = np.multiply.outer(lengths[rows], system.rates)
        inner = tables.eigenvalues[:, None, None] / (1.0 + tables.eigenvalues[:, None, None] * turns)
        inner = np.concatenate([inner.real, inner.imag])
        scaled = lengths[rows, None] * system.weights
        response[rows] = (np.einsum("cnk,nk->nc", inner, scaled) @ tables.full).reshape(-1, points, points)
        flat = inner.reshape(inner.shape[0], -1)
        for table, into in ((tables.row_sums, history), (tables.last, left)):
            into[rows] = (table.T @ flat).reshape(points, -1, size).transpose(1, 0, 2)
        history[rows] *= -turns[:, None]
        history[rows] += 1.0
        left[rows] *= scaled[:, None]
    return PanelMaps(history, response, left)


@dataclass(frozen=True)
class Moments:
    """K(0), and minus and plus the next two derivatives of K at 0."""

    zeroth: float
    first: float
    second: float

    @staticmethod
    def of(system: LinearModes) -> Moments:
        """Return those of a system."""
        return Moments(*(float(system.weights @ system.rates**power) for power in range(3)))


def zigzag_of_modes(system: LinearModes, moments: Moments, state: Any, gamma: Any, zigzag: Any, eta: Any) -> Any:
    """Return by how much the modes of the staircase differ from those ``state`` of the smooth gamma, at an end of a
    step. ``state``: shape (modes,) or (modes, schedules), the others numbers or of shape (schedules,)."""
    r, w = system.rates, system.weights
    if state.ndim > 1:
        r, w = r[:, None], w[:, None]
    u = system.delta + system.noise + state.sum(axis=0)
    fast = r * state
    c, c2 = -fast.sum(axis=0), (r * fast).sum(axis=0)
    k0, k1 = moments.zeroth, moments.first
    third = (r * w) * (r * u + 2.0 * c + gamma * k0 * u) + w * (c2 - gamma * (2.0 * k1 * u + k0 * c))
    return w * (-zigzag / 12.0 * u) + third * (zigzag * eta**2 / 720.0)


@dataclass(frozen=True, eq=False)
class Curve:
    """The sum of the modes on panels: at the start and the points, shape (panels, 7), for the ``smooth`` gamma, and
    what D1, D2 and D3 add to it, but for -B2(x)/2, -B3(x)/6 and -B4(x)/24."""

    smooth: Array
    first: Array
    second: Array
    third: Array

    def on(self, panels: slice) -> Curve:
        """Return the curve on some of the panels."""
        return Curve(self.smooth[panels], self.first[panels], self.second[panels], self.third[panels])

    def at_ends(self) -> Array:
        """Return the coefficients, by rising powers, at the ends of steps, shape (panels, 7)."""
        return np.asarray((self.smooth - self.first / 12.0 + self.third / 720.0) @ _tables().coefficients.T)


def curve(
    moments: Moments, modes: Array, base: float, lengths: Array, gamma: Array, zigzag: Array, eta: Array
) -> Curve:
    """Return the curve for sums of ``modes`` on panels of the ``lengths``; gamma, zigzag and eta at the same places.

    ``base``: delta + sigma^2.
    """
    u = modes + base
    slopes = _tables().slopes.T
    by_time = (2.0 / lengths)[:, None]
    k0, k1, k2 = moments.zeroth, moments.first, moments.second
    c = modes @ slopes * by_time - k0 * gamma * u
    c2 = c @ slopes * by_time + k1 * gamma * u
    third = k2 * u + 2.0 * k1 * c + k0 * c2 - gamma * k0 * (k1 * u + k0 * c)
    return Curve(modes, zigzag * k0 * u, -zigzag * eta * (k1 * u + k0 * c), zigzag * eta**2 * third)


def values_at(of: Curve, parts: int, time: float, places: Array, inside: Array | None) -> Array:
    """Return the sum of the modes at rising ``places`` in [0, ``time``] of one stretch of ``parts`` panels.

    ``inside``: where in their steps the places are, in [0, 1]; None where all are ends of steps.
    """
    found = np.empty(places.size)
    cuts = np.searchsorted(places, np.arange(1, parts) * (time / parts), side="right")
    edges = [0, *cuts.tolist(), places.size]
    coefficients = of.at_ends() if inside is None else None
    for part in range(parts):
        rows = slice(edges[part], edges[part + 1])
        x = places[rows] * (2.0 * parts / time)
        x -= 2.0 * part + 1.0
        if coefficients is not None:
            found[rows] = polynomial(coefficients[part], x)
            continue
        y = inside[rows] if inside is not None else x
        total = polynomial(_tables().coefficients @ of.smooth[part], x)
        bernoulli = (y * y - y + 1.0 / 6.0, y * (y - 0.5) * (y - 1.0), (y * y - y) ** 2 - 1.0 / 30.0)
        for each, shape, factor in zip((of.first, of.second, of.third), bernoulli, (2.0, 6.0, 24.0), strict=True):
            total -= polynomial(_tables().coefficients @ each[part], x) * shape / factor
        found[rows] = total
    return found
