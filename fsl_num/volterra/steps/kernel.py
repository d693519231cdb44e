r"""The march over steps of constant gamma, compiled: a Taylor series for the loss, two polynomials for every mode.

On a step of length h the input u = f + sigma^2 is analytic. With rates of decay rho_k, S_m = sum_k rho_k^m x_k and
kappa_m = sum_k rho_k^m w_k its derivatives are

    u^(m) = (-1)^m S_m + gamma sum_{j<m} (-1)^(m-1-j) kappa_(m-1-j) u^(j),    u^(0) = delta + sigma^2 + S_0,

and each mode ends the step at

    x_k(h) = x_k sum_m (-rho_k h)^m/m! + w_k sum_j (-rho_k h)^j C_j,    C_j = gamma h sum_m h^m u^(m)/(m + j + 1)!.

A power is left out of the modes whose own rate makes it negligible; its coefficients C_j are those of all modes.
Increments are added with compensation, so that a million steps round no worse than a few.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fsl_num.compiled import compiled
from fsl_num.validation import Array

TERMS = 33
"""Room for the terms of a series: a step is at most 1 in units of the fastest change, for which 25 are enough."""


class Tables(NamedTuple):
    """What all steps share; modes from the fastest on, whose rate is ``unit``.

    ``rows[m, k]``: (rate_k/unit)^m; ``sums[m]``: kappa_m/unit^m; ``orders[level]``: how many terms a step of the level
    needs for what it injects; ``reach[level, m]``: how many modes keep the power m, falling with m; ``decay_orders``
    and ``decay_reach``: the same for the decay of the modes; ``inverse[m]``: 1/m!; ``feedback``: what gamma takes from
    each rate, of size 0 for the Volterra closure.
    """

    unit: float
    rates: Array
    weights: Array
    feedback: Array
    rows: Array
    sums: Array
    orders: Any
    reach: Any
    decay_orders: Any
    decay_reach: Any
    inverse: Array


@partial(compiled, reordered=True)
def product(left: Array, right: Array, size: int) -> float:
    """Return the scalar product of the first ``size`` numbers."""
    total = 0.0
    for k in range(size):
        total += left[k] * right[k]
    return total


@partial(compiled, reordered=True)
def total_of(values: Array) -> float:
    """Return the sum of all."""
    total = 0.0
    for k in range(values.size):
        total += values[k]
    return total


@compiled
def add_rows(coefficients: Array, rows: Array, reach: Any, low: int, high: int, out: Array) -> None:
    """Add coefficients[m] rows[m, :reach[m]] to ``out`` for m in [low, high); four rows at once spare memory."""
    m = low
    while m + 3 < high:
        a, b, c, d = coefficients[m], coefficients[m + 1], coefficients[m + 2], coefficients[m + 3]
        for k in range(reach[m + 3]):
            out[k] = out[k] + a * rows[m, k] + b * rows[m + 1, k] + c * rows[m + 2, k] + d * rows[m + 3, k]
        for k in range(reach[m + 3], reach[m + 2]):
            out[k] = out[k] + a * rows[m, k] + b * rows[m + 1, k] + c * rows[m + 2, k]
        for k in range(reach[m + 2], reach[m + 1]):
            out[k] = out[k] + a * rows[m, k] + b * rows[m + 1, k]
        for k in range(reach[m + 1], reach[m]):
            out[k] += a * rows[m, k]
        m += 4
    for last in range(m, high):
        a = coefficients[last]
        for k in range(reach[last]):
            out[k] += a * rows[last, k]


@compiled
def add_columns(coefficients: Array, rows: Array, size: int, out: Array) -> None:
    """Add coefficients[j] rows[j] to ``out`` for j < ``size``, four at once."""
    j = 0
    while j + 3 < size:
        a, b, c, d = coefficients[j], coefficients[j + 1], coefficients[j + 2], coefficients[j + 3]
        for i in range(out.size):
            out[i] = out[i] + a * rows[j, i] + b * rows[j + 1, i] + c * rows[j + 2, i] + d * rows[j + 3, i]
        j += 4
    for last in range(j, size):
        a = coefficients[last]
        for i in range(out.size):
            out[i] += a * rows[last, i]


@compiled
def level_of(turn: float, levels: int) -> int:
    """Return the level of steps with ``turn`` <= 1: the largest for which turn <= 2^(-level/2)."""
    share, exponent = math.frexp(turn)
    return min(max(0, -2 * exponent + (1 if share <= 0.7071067811865475 else 0)), levels - 1)


@compiled
def rates_with_feedback(gamma: float, tables: Tables, rows: Array, sums: Array) -> None:
    """Set the powers of the rates of the Gaussian closure, and their sums."""
    for k in range(tables.rates.size):
        rate = (tables.rates[k] - gamma * tables.feedback[k]) / tables.unit
        for m in range(1, TERMS):
            rows[m, k] = rate * rows[m - 1, k]
    for m in range(TERMS):
        sums[m] = product(rows[m], tables.weights, tables.rates.size)


@compiled
def set_step(
    z: float, level: int, tables: Tables, rows: Array, sums: Array,
    powers: Array, chain: Array, terms: Array, decay: Array,
) -> int:  # fmt: skip
    """Set (-z)^m in ``powers``, (-z)^m kappa_m in ``chain`` and sum_{m>0} (-rho_k h)^m/m! in ``decay``; z = unit h.

    Returns how many terms the step needs for what it injects.
    """
    order, last = tables.orders[level], tables.decay_orders[level]
    powers[0], chain[0] = 1.0, sums[0]
    for m in range(1, max(order, last) + 1):
        powers[m] = -z * powers[m - 1]
        terms[m], chain[m] = powers[m] * tables.inverse[m], powers[m] * sums[m]
    decay[:] = 0.0
    add_rows(terms, rows, tables.decay_reach[level], 1, last + 1, decay)
    return int(order)


@compiled
def march_one(
    lengths: Array, gammas: Array, parts: Any, turns: Array, tables: Tables, state: Array,
    base: float, delta: float, values: Array, slopes: Array, series: Array,
) -> None:  # fmt: skip
    """March one schedule; ``parts``: into how many equal ones each step is divided, of ``turns`` at most 1.

    Fills ``values`` with f at the start and after every step and moves ``state`` to the end. ``slopes`` gets f' at the
    start of each step and at the end, ``series`` h^m u^(m) at the start of
    each part, unless they have the size 0.
    """
    size = state.size
    lost, decay, injected = np.zeros(size), np.zeros(size), np.zeros(size)
    powers, chain, u, push, moved = np.zeros(TERMS), np.zeros(TERMS), np.zeros(TERMS), np.zeros(TERMS), np.zeros(TERMS)
    feeds = tables.feedback.size > 0
    rows = tables.rows.copy() if feeds else tables.rows
    sums = tables.sums.copy() if feeds else tables.sums
    last_length, last_gamma, order, reach, part = -1.0, -1.0, 1, tables.reach[0], 0
    total = total_of(state)
    for i in range(lengths.size):
        values[i] = delta + total
        if lengths[i] == 0.0:
            if slopes.size > 0 and i > 0:
                slopes[i] = slopes[i - 1]
            continue
        gamma, h = gammas[i], lengths[i] / parts[i]
        if h != last_length or (feeds and gamma != last_gamma):
            if feeds:
                rates_with_feedback(gamma, tables, rows, sums)
            level = level_of(turns[i], tables.orders.size)
            reach = tables.reach[level]
            order = set_step(tables.unit * h, level, tables, rows, sums, powers, chain, moved, decay)
            last_length, last_gamma = h, gamma
        if slopes.size > 0:
            slopes[i] = gamma * sums[0] * (base + total) - tables.unit * product(rows[1], state, size)
        for _ in range(parts[i]):
            u[0] = base + total
            for m in range(1, order):
                u[m] = powers[m] * product(rows[m], state, reach[m])
            for j in range(order):
                push[j] = gamma * h * u[j]
                for m in range(j + 1, order):
                    u[m] += chain[m - 1 - j] * push[j]
            if series.size > 0:
                series[part, :order] = u[:order]
            for j in range(order):
                share = 0.0
                for m in range(order - j):
                    share += tables.inverse[m + j + 1] * push[m]
                moved[j] = powers[j] * share
            injected[:] = moved[0]
            add_rows(moved, rows, reach, 1, order, injected)
            for k in range(size):
                change = (state[k] * decay[k] + tables.weights[k] * injected[k]) - lost[k]
                new = state[k] + change
                lost[k] = (new - state[k]) - change
                state[k] = new
            total = total_of(state)
            part += 1
    values[lengths.size] = delta + total
    if slopes.size > 0:
        slopes[lengths.size] = last_gamma * sums[0] * (base + total) - tables.unit * product(rows[1], state, size)


@compiled
def march_columns(
    lengths: Array, gammas: Array, parts: Any, turns: Array, tables: Tables, state: Array,
    base: float, delta: float, at: Any, values: Array, highest: Array,
) -> None:  # fmt: skip
    """March many schedules with the same ``lengths``: ``gammas`` of the shape (steps, schedules), ``state`` (modes,
    schedules), the Volterra closure. Fills ``values``, (records, schedules), with f after ``at`` steps, and
    ``highest`` with the highest until then."""
    size, width = state.shape
    lost, decay, injected = np.zeros((size, width)), np.zeros(size), np.zeros(width)
    powers, chain, backwards, scaled = np.zeros(TERMS), np.zeros(TERMS), np.zeros(TERMS), np.zeros(max(size, TERMS))
    u, push, moved = np.zeros((TERMS, width)), np.zeros((TERMS, width)), np.zeros((TERMS, width))
    by_mode, top = tables.rows.T.copy(), np.zeros(width)
    last_length, order, reach, following = -1.0, 1, tables.reach[0], 0
    for i in range(lengths.size + 1):
        if following < at.size and at[following] == i:
            values[following] = delta
            for k in range(size):
                for c in range(width):
                    values[following, c] += state[k, c]
            for c in range(width):
                highest[following, c] = max(top[c], values[following, c])
            following += 1
        if i == lengths.size or lengths[i] == 0.0:
            continue
        h = lengths[i] / parts[i]
        if h != last_length:
            level = level_of(turns[i], tables.orders.size)
            reach = tables.reach[level]
            order = set_step(tables.unit * h, level, tables, tables.rows, tables.sums, powers, chain, scaled, decay)
            for m in range(order):
                backwards[order - 1 - m] = chain[m]
            last_length = h
        for _ in range(parts[i]):
            for m in range(order):
                for k in range(reach[m]):
                    scaled[k] = powers[m] * tables.rows[m, k]
                u[m] = base if m == 0 else 0.0
                add_columns(scaled, state, reach[m], u[m])
                add_columns(backwards[order - m :], push, m, u[m])
                if m == 0:
                    for c in range(width):
                        top[c] = max(top[c], u[0, c] - base + delta)
                for c in range(width):
                    push[m, c] = h * gammas[i, c] * u[m, c]
            for j in range(order):
                moved[j] = 0.0
                add_columns(tables.inverse[j + 1 :], push, order - j, moved[j])
                for c in range(width):
                    moved[j, c] *= powers[j]
            terms = order
            for k in range(size):
                while reach[terms - 1] <= k:
                    terms -= 1
                injected[:] = 0.0
                add_columns(by_mode[k], moved, terms, injected)
                for c in range(width):
                    change = (state[k, c] * decay[k] + tables.weights[k] * injected[c]) - lost[k, c]
                    new = state[k, c] + change
                    lost[k, c] = (new - state[k, c]) - change
                    state[k, c] = new
