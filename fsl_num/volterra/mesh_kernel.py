r"""The sums over the cells of a mesh, compiled: all of them run forward, or back, through lower triangles.

``left`` and ``right`` are the weights of u at the two ends of every cell, one row a node, 0 from the node on.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from fsl_num.compiled import compiled
from fsl_num.validation import Array


@compiled
def weights_of(turn: float) -> tuple[float, float]:
    """int_0^1 exp(-x y) y dy and int_0^1 exp(-x y) (1 - y) dy at x = ``turn`` >= 0."""
    if turn < 1e-2:  # the next term of the two series is below 1e-9
        left = 0.5 - turn * (1.0 / 3.0 - turn * (1.0 / 8.0 - turn / 30.0))
        return left, 0.5 - turn * (1.0 / 6.0 - turn * (1.0 / 24.0 - turn / 120.0))
    share = -math.expm1(-turn) / turn
    return (share - math.exp(-turn)) / turn, (1.0 - share) / turn


@compiled
def fill_cell_weights(turns: Array, left: Array, right: Array) -> None:
    """Fill ``left`` and ``right`` with the two weights at ``turns``, all of one length."""
    for place in range(turns.size):
        left[place], right[place] = weights_of(turns[place])


@partial(compiled, reordered=True)
def fill_weights(parts: Array, crossed: Array, weights: Array, sums: Array) -> None:
    """Fill ``sums`` (2, nodes, cells) with what is left of both ``parts`` (2, cells, modes) of each cell at each node.

    The parts fade as each later cell is ``crossed`` (cells, modes): no difference of times is ever formed.
    """
    for last in range(crossed.shape[0]):
        fading = crossed[last]
        for end in range(2):
            for cell in range(last):
                part, total = parts[end, cell], 0.0
                for k in range(weights.size):
                    part[k] *= fading[k]
                    total += part[k] * weights[k]
                sums[end, last + 1, cell] = total
            sums[end, last + 1, last] = (parts[end, last] * weights).sum()


@partial(compiled, reordered=True)
def solved(left: Array, right: Array, gammas: Array, source: Array) -> Array:
    """u at the nodes, where u = source + int K gamma u."""
    u = np.empty(source.size)
    u[0] = source[0]
    started, ended = np.empty(gammas.size), np.empty(gammas.size)
    for node in range(1, source.size):
        last = node - 1
        started[last] = gammas[last] * u[last]
        total = source[node] + left[node, last] * started[last]
        for cell in range(last):
            total += left[node, cell] * started[cell] + right[node, cell] * ended[cell]
        u[node] = total / (1.0 - right[node, last] * gammas[last])
        ended[last] = gammas[last] * u[node]
    return u


@partial(compiled, reordered=True)
def slopes(left: Array, right: Array, gammas: Array, u: Array) -> Array:
    """The derivatives of u at the last node by gamma on every cell: of what is solved, back from that node."""
    from_left, from_right = np.zeros(gammas.size), np.zeros(gammas.size)
    share = 1.0
    for node in range(gammas.size, 0, -1):
        last = node - 1
        if node < gammas.size:
            share = gammas[node] * from_left[node] + gammas[last] * from_right[last]
        share /= 1.0 - right[node, last] * gammas[last]
        for cell in range(node):
            from_left[cell] += share * left[node, cell]
            from_right[cell] += share * right[node, cell]
    return from_left * u[:-1] + from_right * u[1:]


@partial(compiled, reordered=True)
def march(lengths: Array, gammas: Array, rates: Array, weights: Array, start: Array, values: Array) -> None:
    """Fill ``values`` (nodes, schedules, 2) with u of the modes, for the sources of ``start`` and 1; see the caller.

    ``gammas`` (cells, schedules). At the last node stands what the modes hold, without the 1.
    """
    cells, schedules = gammas.shape
    state = np.empty((2, start.size))
    held = np.empty(2)
    added = np.empty(start.size)
    for schedule in range(schedules):
        state[0], state[1] = start, 0.0
        values[0, schedule, 0], values[0, schedule, 1] = start.sum(), 1.0
        for cell in range(cells):
            gamma, own = gammas[cell, schedule], 1.0
            now, held[:] = values[cell, schedule], 0.0
            for k in range(start.size):
                turn = (rates[k] - 0.25 * gamma * rates[k] ** 2) * lengths[cell]
                left, right = weights_of(turn)
                scale = lengths[cell] * gamma * weights[k]
                decay = math.exp(-turn)
                added[k] = right * scale
                own -= added[k]
                for source in range(2):
                    state[source, k] = decay * state[source, k] + left * scale * now[source]
                    held[source] += state[source, k]
            for source in range(2):
                u = (source + held[source]) / own
                more = 0.0
                for k in range(start.size):
                    state[source, k] += added[k] * u
                    more += state[source, k]
                values[cell + 1, schedule, source] = more if cell == cells - 1 else u
