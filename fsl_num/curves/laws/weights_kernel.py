"""The passes over a schedule of the law whose weights grow with the rate, compiled."""

from __future__ import annotations

from functools import partial

import numpy as np

from fsl_num.compiled import compiled
from fsl_num.validation import Array


@compiled
def relaxed(lengths: Array, rates: Array, speed: float, first: float) -> Array:
    """Squared weights at the end of every group of updates and on average over it, and their derivatives by ``speed``.

    ``lengths``: of the groups, in intrinsic time; ``rates``: over the reference; ``first``: weights before them all.
    Shape (2, 2, groups).
    """
    weights = np.empty((2, 2, lengths.size))
    now, slope = first, 0.0
    for group in range(lengths.size):
        reach = speed * lengths[group]
        left = np.exp(-reach)
        if reach < 1e-4:
            mean, falls = 1.0 - 0.5 * reach + reach**2 / 6.0, -0.5 + reach / 3.0
        else:
            mean, falls = (1.0 - left) / reach, (left * (1.0 + reach) - 1.0) / reach**2
        off = now - rates[group]
        weights[1, 0, group] = rates[group] + off * mean
        weights[1, 1, group] = slope * mean + off * falls * lengths[group]
        slope = (slope - off * lengths[group]) * left
        now = rates[group] + off * left
        weights[0, 0, group], weights[0, 1, group] = now, slope
    return weights


@partial(compiled, reordered=True)
def advance(
    early: Array,
    late: Array,
    noise: Array,
    fed: Array,
    sources: Array,
    moved: Array,
    clock: Array,
    memory: Array,
    rates: Array,
    level: Array,
    states: Array,
    sums: Array,
    first: int,
    losses: Array,
) -> None:
    """Write the losses at the end of some groups of changes, from ``first`` on; ``states`` and ``sums`` go on.

    Channels: the losses over A and over B; then, if there are more, the derivatives of the loss with the ``level`` A, B
    by s, c, gamma, c_e, p, m, x, and by P_c but for the time. Each obeys the same linear equation with other
    ``sources``, (channels, groups), and other noise: that of a group is ``noise`` B + fed[0] f. ``fed``: (3, groups),
    that share and its derivatives by the noise and by m; ``moved``: (channels, groups), derivatives of the noise.
    ``early``, ``late``: of these groups, (some, modes), what modes keep up to the change, and from it to the end.
    ``clock``: (2, groups), the derivatives by x of the intrinsic time there. ``memory``: (3, modes), weights and their
    derivatives by c and gamma; ``rates``: (modes). ``states``: (channels + 1, modes); ``sums``: (2, channels), of all
    changes so far, and the noise at the end.
    """
    channels, modes = states.shape[0] - 1, states.shape[1]
    whole = np.array([memory[0].sum(), memory[1].sum(), memory[2].sum()])
    together = np.empty(modes)
    for place in range(early.shape[0]):
        group, kept = first + place, 0.0
        for mode in range(modes):
            kept += memory[0, mode] * late[place, mode]
        share = fed[0, group]
        own = 1.0 / (1.0 - share * (whole[0] - kept))  # the loss at the end is a part of the change in the group
        change, total, by_c, by_gamma, strength, loss = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for channel in range(channels):
            explicit, extra = noise[group] * channel, sources[channel, group]
            if channel == 2:
                loss = level[0] * losses[0, group] + level[1] * losses[1, group]
                strength = level[1] + fed[1, group] * loss
                total = level[0] * sums[0, 0] + level[1] * sums[0, 1]
                for mode in range(modes):
                    together[mode] = level[0] * states[0, mode] + level[1] * states[1, mode]
                    by_c += memory[1, mode] * together[mode]
                    by_gamma += memory[2, mode] * together[mode]
            if channel >= 2:
                explicit = moved[channel, group] * strength
            if channel == 3:
                extra += whole[1] * total - by_c
            elif channel == 4:
                extra += whole[2] * total - by_gamma
            elif channel == 7:
                explicit += fed[2, group] * loss
            elif channel == 8:
                source, last = change * clock[0, group], clock[1, group]
                for mode in range(modes):
                    state = (states[channels, mode] * early[place, mode] + source) * late[place, mode]
                    states[channels, mode] = state
                    extra += memory[0, mode] * rates[mode] * (last * together[mode] - state)
            known = explicit - sums[1, channel]
            held = 0.0
            for mode in range(modes):
                state = (states[channel, mode] * early[place, mode] + known) * late[place, mode]
                states[channel, mode] = state
                held += memory[0, mode] * state
            value = (extra + whole[0] * (sums[0, channel] + known) - held) * own
            for mode in range(modes):
                states[channel, mode] += share * value * late[place, mode]
            sums[0, channel] += known + share * value
            sums[1, channel] = explicit + share * value
            losses[channel, group] = value
            if channel < 2:
                change += level[channel] * (known + share * value)
