"""The six allocation problems, written again by hand from the three scaling laws, as linear programmes at a point.

The choices are the raw ones of a training run, log base budget: peak learning rate a, batch size B, steps K, model size
M and (for a stable phase) the intrinsic times of both phases; gamma = a/B, D = B K, final learning rate a/K, hence
log(a/b) = log K. All sizes are at least 1 and learning rates at most 1.
"""

from __future__ import annotations

from fractions import Fraction

from sym_oracle_lp import AT_LEAST, EQUAL, optimum

NAMES = ("loss", "a", "B", "K", "M", "T1", "T2")
SIZE = len(NAMES)
ONE, LOG = (1, 0), (0, 1)


def vector(**entries):
    return [Fraction(entries.get(name, 0)) for name in NAMES]


def row(left, sense, right=(0, 0)):
    return (left, sense, tuple(Fraction(part) for part in right))


def above(left, right=(0, 0)):
    """The loss is at least the monomial ``left`` times N^p (log N)^q."""
    return row([ours - theirs for ours, theirs in zip(vector(loss=1), left, strict=True)], AT_LEAST, right)


PEAK_LR, MODEL, DATA = vector(a=1, B=-1), vector(M=1), vector(B=1, K=1)
# r = K_2/K with T_2 = a K_2/log K: the power of the logarithm is shifted afterwards.
DECAY = vector(T2=1, a=-1, K=-1)


def budget_row(budget):
    left = DATA if budget == "data" else [d + m for d, m in zip(DATA, MODEL, strict=True)]
    return row(left, EQUAL, ONE)


def shared(budget):
    return [
        budget_row(budget),
        row(vector(a=-1), AT_LEAST),
        row(vector(B=1), AT_LEAST),
        row(vector(K=1), AT_LEAST),
        row(vector(M=1), AT_LEAST),
    ]


def constant(s, beta, budget):
    """M^(-s beta) + (a K)^-s + a/B with a K >= 1; the two times are unused and put to 1."""
    rows = [
        *shared(budget),
        above(vector(M=-s * beta)),
        above(vector(a=-s, K=-s)),
        above(PEAK_LR),
        row(vector(a=1, K=1), AT_LEAST),
        row(vector(T1=1), EQUAL),
        row(vector(T2=1), EQUAL),
    ]
    return [rows]


def noise_of_decay(beta):
    """gamma/K + gamma min(M, T2^(1/beta))/T2: the two ways to read the minimum."""
    final = above(vector(a=1, B=-1, K=-1))
    return [
        [final, above(vector(a=1, B=-1, M=1, T2=-1))],
        [final, above(vector(a=1, B=-1, T2=1 / beta - 1))],
    ]


def exponential(s, beta, budget):
    """M^(-s beta) + T^-s + noise with T = a K/log K >= 1; T is called T2, and T1 is put to 1."""
    rows = [
        *shared(budget),
        above(vector(M=-s * beta)),
        above(vector(T2=-s)),
        row(vector(T2=1, a=-1, K=-1), EQUAL, (0, -1)),
        row(vector(T2=1), AT_LEAST),
        row(vector(T1=1), EQUAL),
    ]
    return [rows + noise for noise in noise_of_decay(beta)]


def stable_then_decay(s, beta, budget):
    """M^(-s beta) + (T1 + T2)^-s + noise, T1 = a K_1 >= 1, T2 = a K_2/log K >= 1, K_1 + K_2 = K.

    (T1 + T2)^-s is the lesser of both; of K_1 and K_2 one is of the order of K, the other at most.
    """
    rows = [*shared(budget), above(vector(M=-s * beta)), row(vector(T1=1), AT_LEAST), row(vector(T2=1), AT_LEAST)]
    at_most_first = row(vector(a=1, K=1, T1=-1), AT_LEAST)
    at_most_second = row(vector(a=1, K=1, T2=-1), AT_LEAST, (0, 1))
    ties = [
        [row(vector(a=1, K=1, T1=-1), EQUAL), at_most_second],
        [at_most_first, row(vector(a=1, K=1, T2=-1), EQUAL, (0, 1))],
    ]
    times = [above(vector(T1=-s)), above(vector(T2=-s))]
    return [rows + [time] + tie + noise for time in times for tie in ties for noise in noise_of_decay(beta)]


LAWS = {"constant": constant, "exp-decay": exponential, "wsd": stable_then_decay}


def branches_of(schedule, budget, s, beta):
    """The linear programmes of one problem at an exact point."""
    return LAWS[schedule](Fraction(s), Fraction(beta), budget)


def allocation(schedule, budget, s, beta):
    """Quantity -> (lower, upper), each a pair (power, log power) or None."""
    quantities = {"peak_lr": PEAK_LR, "model_size": MODEL, "data_size": DATA}
    if schedule == "wsd":
        quantities["decay_fraction"] = DECAY
    quantities |= {"steps": vector(K=1), "batch_size": vector(B=1)}
    value, ranges = optimum(branches_of(schedule, budget, s, beta), vector(loss=1), list(quantities.values()))
    found = dict(zip(quantities, ranges, strict=True))
    if schedule == "wsd":
        found["decay_fraction"] = tuple(
            None if end is None else (end[0], end[1] + 1) for end in found["decay_fraction"]
        )
    return {"excess_risk": (value, value), **found}


def points(count, seed):
    """Rational (s, beta): 2 in 5 anywhere, 2 in 5 on the edge s = 1 - 1/beta, 1 in 5 a little off it on either side."""
    from random import Random

    generator = Random(seed)
    drawn = []
    for index in range(count):
        beta = 1 + Fraction(generator.randint(1, 400), generator.randint(40, 100))
        edge = 1 - 1 / beta
        if index % 5 < 2:
            s = Fraction(generator.randint(1, 300), generator.randint(50, 100))
        elif index % 5 < 4:
            s = edge
        else:
            s = edge * (1 + generator.choice((-1, 1)) * Fraction(1, generator.choice((50, 1000, 10**6))))
        drawn.append((s, beta))
    return drawn
