"""How the best rates fall, and what they leave, with constants. Ours, not the paper's.

Uncut, gamma is in proportion to 1/sqrt(K(R)) with an intrinsic time R left, so that 2 beta T/D is its peak and its
fall over the samples left, y, a power decay: y^(2 beta - 1). In the easy regime the least of A T^-s and of the noise
4 beta^2 k sigma^2 T^(1/beta)/D decides T, A and k being the constants of the signal and of the kernel. In the hard one
the rate leaves its bound g where a sample costs what it teaches, sigma^2 g K(R) = s A (g D)^(-1-s).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Expr, Float, Function, Integer, Rational, Symbol, oo, sqrt, zeta
from sympy import gamma as gamma_function

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import number, sharp
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Joint, Ray, Sharp
from fsl_num.claims.words import Where
from fsl_num.design.model_water import model_water
from fsl_num.paper.block_constants import DESIGNED, OSCILLATE, exact_powers
from fsl_num.paper.hypotheses import INFINITE, LABELS, MODEL, of_infinite_size
from fsl_num.paper.scaling_laws.optimal_rates import (
    BEST,
    FAMILY,
    LARGEST,
    Optimum,
    data_designs,
    letters_of_design,
    of_noise,
)
from fsl_num.validation import Array
from fsl_sym.ansatz import optimal_rate
from fsl_sym.domain import HARD
from fsl_sym.optimal_rates import DECAY, least_of_decay
from fsl_sym.proof import AllOf, Formula, equals, same_order, tends
from fsl_sym.symbols import K2, D, E, T, a, b, beta, s, sigma

_GRID: Final = 2e-3
"""Relative error of a design's quantities: 20 to 40 cells to a decade of the time left, their means in the place of K,
and a last cell of a thousandth of intrinsic time."""
_ROUNDING: Final = float(np.finfo(float).eps)
_OFF: Final = 0.1
"""Relative, of the decay; up to half of it is what the next order still allows at the largest budget."""
_OFF_SHAPE: Final = 0.2
"""Of the shape: half of it is what the next order allows at the largest budget where beta is 6."""
_SHARES: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
_z: Final = Symbol("z", positive=True)
_gamma: Final = Function("gamma")
SHAPE: Final = tends(_gamma(_z * K2) / a, D, oo, _z ** (2 * beta - 1))
_bound, _late = Symbol("g", positive=True), Symbol("R", positive=True)
_time, _A, _k = Symbol("T_opt", positive=True), Symbol("A", positive=True), Symbol("k", positive=True)
_K0: Final = zeta(2 * beta)
DEFINED: Final[Mapping[Symbol, Expr]] = {
    _time: (s * _A * D / (4 * beta * _k * sigma**2)) ** (beta / (1 + s * beta)),
    _late: (sigma**2 * _bound * _k * (_bound * D) ** (1 + s) / (s * _A)) ** (beta / (2 * beta - 1)),
    _A: gamma_function(s) / (beta * 2**s),
    _k: gamma_function(2 - 1 / beta) / (beta * 2 ** (2 - 1 / beta)),
}
"""The best intrinsic time of the easy regime, what is left of it where the rate leaves its bound in the hard one, and
the constants of the signal A t^-s and of the kernel k t^-(2 - 1/beta)."""


def _last(peak: Expr, left: Expr) -> Expr:
    """The last rate, of a peak that is left with an intrinsic time ``left`` to go."""
    return peak * sqrt(_k / _K0) * left ** (1 / (2 * beta) - 1)


EASY_CONSTANTS: Final[Mapping[str, tuple[Symbol, Expr]]] = {
    "loss": (E, (1 + s * beta) * _A * _time**-s / 2),
    "horizon": (T, _time),
    "peak": (a, 2 * beta * _time / D),
    "end": (b, _last(2 * beta * _time / D, _time)),
}
HARD_CONSTANTS: Final[Mapping[str, tuple[Symbol, Expr]]] = {
    "loss": (E, _A * (_bound * D) ** -s / 2),
    "decay": (K2, 2 * beta * _late / _bound),
    "end": (b, _last(_bound, _late)),
}
_least: Final = D ** (-(1 + s) * (beta - 1) / (2 * beta - 1))


def _written_out(expression: Expr) -> Expr:
    """Without the letters that are defined."""
    for letter, meaning in DEFINED.items():
        expression = expression.subs(letter, meaning)
    return expression


def _what_decay_leaves(sample: Sample) -> tuple[Ray, ...]:
    """The noise of the designs: their excess risk above the signal of their intrinsic time."""
    logs, left = [], []
    for design in data_designs(sample):
        water = model_water(design.model, design.data, None, falling=True)
        logs.append(math.log(design.data))
        left.append(math.log(design.loss - water.past(design.quantities["horizon"])))
    return (Ray("D to infinity", np.array(logs), {"D": np.array(logs)}, np.array(left)),)


def _point(design: Optimum, sample: Sample) -> dict[str, Any]:
    """The data and the noise, and the largest gamma allowed, which on easy tasks is never taken.

    Where gamma(s) is a whole number they are exact: sympy does not end powers of products of exact and rounded numbers.
    """
    written = Rational if sample.regime == "easy" and sample.s.is_integer else Float
    letters = {"D": written(design.data), "sigma": written(math.sqrt(design.model.noise))}
    bound = model_water(design.model, design.data, None).high
    return letters if sample.regime == "easy" else letters | {"g": Float(bound)}


def _with_left(design: Optimum, left: Any) -> Array:
    """The gamma of a design with so many samples left."""
    edges = np.append(0.0, np.cumsum(design.samples[::-1]))
    places, gammas = np.log(0.5 * (edges[1:] + edges[:-1])), np.log(design.gammas[::-1])
    return np.asarray(np.exp(np.interp(np.log(left), places, gammas)))


def _shares(sample: Sample) -> list[tuple[Any, Any]]:
    """Gamma over its peak with a share z left of the samples of the decay."""
    measured = []
    for design in data_designs(sample):
        left = np.array(_SHARES) * design.quantities["decay"] * design.data
        gammas = (_with_left(design, left) / design.gammas.max()).tolist()
        point = _point(design, sample)
        measured += [({"z": Float(z), **point}, gamma) for z, gamma in zip(_SHARES, gammas, strict=True)]
    return measured


def _falling(sample: Sample) -> list[dict[Any, Any]]:
    """The design of the largest budget with nine tenths of the samples of the decay left, where it is nearest."""
    design = data_designs(sample)[-1]
    letters = {D: design.data, K2: design.quantities["decay"] * design.data, a: float(design.gammas.max())}
    share = float(_with_left(design, _SHARES[-1] * letters[K2])) / letters[a]
    return [{**letters, _z: _SHARES[-1], _gamma: lambda left: float(_with_left(design, left)), SHAPE.left: share}]


def _points(sample: Sample, names: Sequence[str]) -> dict[str, list[tuple[Any, Any]]]:
    """The quantities of the designs at their data, noise and largest gamma allowed."""
    listed = [(_point(design, sample), {**design.quantities, "decay": design.quantities["decay"] * design.data})
             for design in data_designs(sample)]  # fmt: skip
    return {name: [(point, quantities[name]) for point, quantities in listed] for name in names}


def _short(sample: Sample, point: Mapping[str, Any]) -> float:
    """By which share the integral of sqrt(K) over the R of the decay falls short of its power: the part of R = 1.

    On the edge R is a share of all intrinsic time; a hundredth of it is taken.
    """
    late = _written_out({"easy": _time, "edge": _bound * D / 100, "hard": _late}[sample.regime])
    return math.exp(-0.5 / sample.point[1] * math.log(number(late, {"s": sample.s, "beta": sample.beta, **point})))


def _shape(sample: Sample) -> Sharp:
    """The power of the shape; what the integral falls short is as good as samples left."""
    power = 2.0 * sample.point[1] - 1.0

    def remainder(point: Mapping[str, Any]) -> float:
        return float((1.0 + _short(sample, point) * (1.0 / float(point["z"]) - 1.0)) ** power - 1.0 + power * _GRID)

    wrong = {f"{share} of the power": SHAPE.right**share for share in (Rational(3, 4), Rational(5, 4))}
    return replace(sharp(SHAPE.right, {"beta": sample.beta}, remainder, wrong), off=_OFF_SHAPE)


def _constants(sample: Sample, constants: Mapping[str, tuple[Symbol, Expr]]) -> Joint:
    """Each quantity, to what the next order allows.

    What the integral of sqrt(K) falls short of its power enters twice in the easy regime, where R = T; on hard tasks
    once, in the decay alone. There the time given away is a share R/(g D) of the order of that of the decay, which
    counts with powers of up to 1 + s, and is searched by losses that it changes in the second order; what is left of
    the signal adds to the noise.
    """
    exact = {"s": sample.s, "beta": sample.beta}
    s, beta = sample.point
    decay_share = _written_out(HARD_CONSTANTS["decay"][1] / D)
    relative_signal = _written_out(2 * HARD_CONSTANTS["loss"][1] / sigma**2)

    def allowed(name: str, point: Mapping[str, Any]) -> float:
        short = _short(sample, point)
        grid = 2.0 * _GRID if name == "end" else _GRID  # of the last cell, and of that where the rate leaves its peak
        if sample.regime == "easy":
            return grid + 2.0 * max(1.0, beta / (1.0 + s * beta)) * short
        at = {**exact, **point}
        share = float(number(decay_share, at))
        given_away = 2.0 * (1.0 + s) * (1.0 + 0.5 / (beta - 1.0)) * share + math.sqrt(_ROUNDING / share)
        noisier = float(number(relative_signal, at))
        return grid + given_away + noisier + (short if name == "decay" else 0.0)

    def wrong(expression: Expr) -> dict[str, Expr]:
        noisier = expression.subs(sigma, sqrt(2) * sigma)
        return {"half as much": expression / 2} | ({} if noisier == expression else {"twice the noise": noisier})

    parts = {
        name: sharp(written, exact, partial(allowed, name), wrong(written), scale="D")
        for name, (_, expression) in constants.items()
        for written in [_written_out(expression)]
    }
    return Joint(parts | {name: replace(part, off=_OFF) for name, part in parts.items() if name == "decay"})


def _constants_claim(name: str, constants: Mapping[str, tuple[Symbol, Expr]], *hypotheses: str) -> Claim:
    regime = name.rpartition("-")[2]
    letters = set().union(*(expression.free_symbols for _, expression in constants.values())) & {_time, _late}
    defined = [equals(letter, DEFINED[letter]) for letter in (*letters, _A, _k)]
    limits = [tends(letter / expression, D, oo, Integer(1)) for letter, expression in constants.values()]
    return Claim(
        name, "eqn: FSL-optimization", 1583,
        f"the best schedule of a data budget with its constants, {regime} regime", AllOf((*limits, *defined)),
        (MODEL, f"s {'>' if regime == 'easy' else '<'} 1 - 1/beta", INFINITE,
         BEST, LARGEST if regime == "easy" else Where("b is the last of gamma", letters_of_design),
         exact_powers(OSCILLATE), *hypotheses),
        of_infinite_size(lambda sample: _points(sample, tuple(constants))),
        lambda sample: _constants(sample, constants),
        regimes=(regime,), role="own", family=FAMILY,
        depends=(f"optimal-schedule/data-{regime}", "lemma:ke-power/signal-sharp", "lemma:ke-power/kernel-sharp"),
    )  # fmt: skip


_law, *_program = DECAY
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "optimal-schedule/decay", "eqn: FSL-optimization", 1583, "what a late decay leaves, hard regime",
        Formula(_law, "optimum", _least, program=tuple(_program), where=HARD.condition),
        (MODEL, LABELS, INFINITE,
         Where("R is the time left when the rate leaves its bound, to follow one over the root of the kernel"),
         exact_powers(DESIGNED)),
        of_noise(of_infinite_size(_what_decay_leaves)), lambda sample: order_statement(same_order(E, _least), sample),
        derive=least_of_decay, regimes=("hard",), role="own", family=FAMILY,
        depends=("optimal-schedule/data-hard", "lemma:ke-power/kernel-window"),
        remark="A late decay gives away some of the signal for less noise; this is the least of both.",
    ),
    Claim(
        "optimal-schedule/shape", "eqn: FSL-optimization", 1583, "how the best rate falls",
        SHAPE, (MODEL, LABELS, INFINITE, Where("gamma(y) is the best with y samples left, never rising"),
                exact_powers(OSCILLATE)),
        of_noise(of_infinite_size(_shares)), _shape, derive=optimal_rate, role="own", family=FAMILY,
        instances=_falling,
        depends=("optimal-schedule/data", "eqn: FSL-optimization/closed-form"),
        remark="Of the samples after the peak it falls like a power decay in every regime.",
    ),
    _constants_claim(
        "optimal-schedule/constants-easy",
        EASY_CONSTANTS, "sigma = 1",
    ),
    _constants_claim(
        "optimal-schedule/constants-hard",
        HARD_CONSTANTS, Where("K_2 is the number of samples after the rate has left its bound"),
        Where("g is the largest of gamma", letters_of_design),
    ),
)  # fmt: skip
