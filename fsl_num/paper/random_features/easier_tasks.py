"""thm: fsl-random on easier tasks: what random features never learn, and how far one draw is from the mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import E, Function, Gt, Le, Max, Rational, Sum, Symbol, log, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import SPECTRUM, TARGET, located
from fsl_num.paper.model.statements import Trend
from fsl_num.paper.random_features.draws import Draw, drawn, features, sizes_of
from fsl_num.paper.random_features.forcing import END, rays
from fsl_num.paper.random_features.formulas import EASIER, OF_SIGNS, ONE, RANDOM
from fsl_num.paper.random_features.laws import SATURATED, Exponents, Logs, corrected_exponents
from fsl_num.paper.random_features.letters import STAYING, UNREACHED
from fsl_num.paper.random_features.statements import DrawnRay, OverDraws, SharpOverDraws
from fsl_num.paper.random_features.tail_eigenvalues import generators
from fsl_num.paper.random_features.terms import floor, kappa, top_tail
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, Formula, equals, order_at_most, same_order
from fsl_sym.symbols import HALF, M, N, beta, j, s

SPREAD_SIZES = (16, 32, 64, 128)
SPREAD_RUNS = (120, 120, 80, 48)
"""Standard deviations are then known to between 6 and 10 %, and their slope to 0.05."""
_random, _top = Symbol("R_random", positive=True), Symbol("R_top", positive=True)
EASIER_TASKS: Final = same_order(_random / _top, M ** (beta * Max(0, s - 1)))
_kappa, _rho = Symbol("kappa", positive=True), Symbol("rho", positive=True)
_theta_square = j ** (-1 - beta * (s - 1))
FLOOR: Final = Formula(
    _rho**2 / (_kappa * Sum(j**-beta * _theta_square / (j**-beta + _kappa), (j, 1, N))), "->", 1, M, oo
)
RIDGE: Final = (equals(Sum(j**-beta / (j**-beta + _kappa), (j, 1, N)), M),)
_deviation = Function("d")
_NEAR: Final = replace(same_order(_deviation(s, M), M**-HALF), where=Le(s, 1))
_FAR: Final = replace(order_at_most(M ** (-1 / (2 * (1 + beta * (s - 1)))), _deviation(s, M)), where=Gt(s, 1))
SPREAD: Final = AllOf((_NEAR, _FAR))
SIZES = (64, 128, 256)
RUNS = (32, 24, 12)
FIRST, REDRAWN = 8, 64
"""For s > 1 what W misses of the first features decides, and scatters: the mean over the columns of these is taken, of
so many. One draw of all columns would leave slopes of up to 0.12 undecided, the mean leaves 0.03 to the draws."""
CONCENTRATED = Trend(-0.5, 0.2, "upper")
"""Finite sizes leave up to 0.17 of the slope of a spread, draws 0.05."""


def _deviations(draws: Sequence[Draw], beta: float) -> Array:
    """At many times the standard deviation of log(left of the fixed target/its mean over signs)."""
    times = np.geomspace(1.0, (4.0 * draws[0].model_size) ** beta, 40)
    logs = np.log([draw.left(times, mean=False) / draw.left(times) for draw in draws])
    return np.asarray(logs.std(axis=0, ddof=1))


@lru_cache(maxsize=64)
def _spreads(s: float, beta: float, seed: int) -> Ray:
    values = []
    for draws in drawn(s, beta, SPREAD_SIZES, SPREAD_RUNS, seed + 3):
        values.append(float(np.log(_deviations(draws, beta).max())))
    scale = np.log(np.array(SPREAD_SIZES, dtype=np.float64))
    named = {name: np.array(sizes) for name, sizes in sizes_of(SPREAD_SIZES).items()}
    return Ray("spread", scale, named, np.array(values))


def spreads(sample: Sample) -> Ray:
    """The standard deviation over draws, at the worst time, of log(left of the fixed target/its mean over signs)."""
    return _spreads(*sample.point, sample.seed)


def never_learned(s: float, beta: float, size: int, generator: np.random.Generator) -> float:
    """What W misses of the mean target: the mean over :data:`REDRAWN` draws of its first columns, the others as drawn.

    With Y = W H^(1/2) = [F, Y_1], Y_1' = Q R and U = R'^-1 F the projection on the rows of Y has the diagonal entries
    1 - ((1 + U'U)^-1)_jj for the first columns and |q_j|^2 - q_j'U (1 + U'U)^-1 U'q_j for the others.
    """
    eigenvalues, squares = features(s, beta, size)
    root, energy = np.sqrt(eigenvalues), eigenvalues * squares
    basis, triangle = np.linalg.qr((random_projection(size, root.size - FIRST, generator) * root[FIRST:]).T)
    columns = generator.standard_normal((size, REDRAWN, FIRST)) / np.sqrt(size) * root[:FIRST]
    turned = np.linalg.solve(triangle.T, columns.reshape(size, -1)).reshape(columns.shape)
    inverse = np.linalg.inv(np.eye(FIRST) + np.einsum("mra,mrb->rab", turned, turned))
    kept = np.einsum("mra,rab->mrb", turned, inverse).reshape(size, -1) @ turned.reshape(size, -1).T / REDRAWN
    missed = 1.0 - (basis**2).sum(axis=1) + np.einsum("jm,mn,jn->j", basis, kept, basis, optimize=True)
    return float(energy[:FIRST] @ np.einsum("raa->a", inverse) / REDRAWN + energy[FIRST:] @ missed)


@lru_cache(maxsize=64)
def _drawn_floor(s: float, beta: float, seed: int) -> DrawnRay:
    values = [
        np.log([never_learned(s, beta, size, generator) for generator in generators(seed, size, runs, 43)])
        for size, runs in zip(SIZES, RUNS, strict=True)
    ]
    logs = sizes_of(SIZES)
    known: dict[str, Callable[[float, int], float]] = {
        "kappa": kappa, "floor": partial(floor, s), "top": partial(top_tail, s)
    }  # fmt: skip
    logs |= {name: tuple(float(np.log(term(beta, size))) for size in SIZES) for name, term in known.items()}
    return DrawnRay(END, SIZES, tuple(values), logs)


def _against_top(sample: Sample) -> list[DrawnRay]:
    """Risk of random over risk of the first M features, without noise, when all is learned."""
    ray = rays(sample, END)[0] if sample.point[0] <= 1.0 else _drawn_floor(*sample.point, sample.seed)
    pairs = zip(ray.values, ray.logs["top"], strict=True)
    return [replace(ray, values=tuple(values - top for values, top in pairs))]


def _easier(sample: Sample) -> OverDraws:
    excess = max(0.0, sample.point[0] - 1.0)
    printed = EASIER_TASKS.right.as_base_exp()[1] / beta

    def law(exponents: Exponents, logs: Logs) -> Any:
        return logs["floor"] - logs["top"] - (exponents["max(s - 1, 0)"] - excess) * logs["kappa"]

    return OverDraws(law, {"max(s - 1, 0)": float(printed.subs(s, sample.s))}, formulas=(EASIER_TASKS,))


def _easier_mutants(sample: Sample) -> dict[str, Statement]:
    if sample.point[0] <= 1.0:
        return {}
    alike: Callable[..., Any] = lambda exponents, logs: 0.0 * logs["M"]  # noqa: E731
    return {"random features are like the first": replace(_easier(sample), law=alike)}


def _sharp(sample: Sample) -> SharpOverDraws:
    def law(exponents: Exponents, logs: Logs) -> Any:
        limit = float(log(FLOOR.right))
        return logs["floor"] + limit + (exponents[SATURATED] - min(1.0, sample.point[0])) * logs["kappa"]

    wrong = {
        "the first M features": lambda exponents, logs: logs["top"],
        "three halves of it": lambda exponents, logs: logs["floor"] + np.log(1.5),
    }
    return SharpOverDraws(law, corrected_exponents(sample), 2.0 * sample.point[1], wrong, formulas=(FLOOR,))


def concentration(sample: Sample) -> float:
    """1/(1 + beta (s - 1)) for s > 1, and 1: the modes before the leak are as many as this power of M."""
    s, beta = sample.point
    return 1.0 / (1.0 + beta * max(0.0, s - 1.0))


def _spread(sample: Sample) -> Trend:
    here = {s: sample.s, beta: sample.beta}
    order = (_FAR.left if sample.s > 1 else _NEAR.right).subs(here)
    power = -float(log(order.subs(M, E**-1)))
    if sample.regime != "easy":
        return Trend(power, 0.2)
    # From below alone: where few modes decide the spread still grows at these sizes (slope 0.3 to 0.4 at s = 2.5).
    # Finite sizes leave up to 0.19 (s just above 1), draws 0.06.
    return Trend(power, 0.25, "lower")


def _floors(sample: Sample) -> list[dict[Any, Any]]:
    """The mean of |rho|^2 over draws, and kappa, size by size."""
    (ray,) = rays(sample, END)[:1]
    return [
        {_rho: float(np.sqrt(np.exp(values).mean())), _kappa: kappa(sample.point[1], size), N: 4 * size,
         M: size}
        for size, values in zip(ray.sizes, ray.values, strict=True)
    ]  # fmt: skip


def _deviation_of(sample: Sample) -> dict[str, Any]:
    """The spread at the least size, and the standard deviations of which it is the largest."""
    s, beta = sample.point
    draws = drawn(s, beta, SPREAD_SIZES, SPREAD_RUNS, sample.seed + 3)[0]
    spread = float(np.exp(spreads(sample).values[0]))
    return {"s": s, "M": SPREAD_SIZES[0], "d": lambda s, size: spread,
            "the standard deviations of log risk over t": _deviations(draws, beta)}  # fmt: skip


SPREADS: Final = Where("d(s, M) is the largest of the standard deviations of log risk over t", _deviation_of)
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: fsl-random/easier-tasks", "thm: fsl-random", 642, "random and first features on easier tasks",
        EASIER_TASKS,
        (SPECTRUM, TARGET, "s != 1", STAYING,
         "sigma = 0, t = oo", *RANDOM),
        located({"sigma": 0.0, "t": math.inf})(_against_top), _easier, _easier_mutants,
        depends=("prop:volterra-random/forcing",), family="random-left",
        probability=f"{OF_SIGNS}; on easier tasks of each draw the mean over many draws of its first columns",
        extra_points={"easy": EASIER["easy"][1:]},
        quoted="the behaviors of random and top feature may diverge",
        remark="On easier tasks random features and the first features diverge.",
    ),
    Claim(
        "thm: fsl-random/floor", "thm: fsl-random", 628, "what random features never learn, sharply",
        FLOOR,
        (SPECTRUM, TARGET, "s > 0", UNREACHED, *RIDGE, *RANDOM),
        lambda sample: rays(sample, END)[0], _sharp, instances=_floors,
        family="random-left", role="own", extra_points={"easy": ((ONE, Rational(2)),)},
        probability="in the mean over W",
    ),
    Claim(
        "thm: fsl-random/spread", "thm: fsl-random", 628, "how far one draw is from the mean",
        SPREAD,
        (SPECTRUM, TARGET, "s > 0",
         SPREADS, "sigma = 0", *RANDOM),
        located({"sigma": 0.0})(spreads), _spread,
        lambda sample: {"M^-1/2 for every s": CONCENTRATED} if concentration(sample) < 0.35 else {},
        family="random-left", role="own", extra_points={"easy": ((Rational(2), Rational(4)),)},
        probability="of the standard deviations over W",
        remark="Where the leak takes over only some modes decide, so that an exponentially small probability is "
               "too much to ask there.",
    ),
)  # fmt: skip
