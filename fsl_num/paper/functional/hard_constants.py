r"""thm: fsl-hard-regime: the law of infinitely many features bounds the loss of M, both sides with their constants.

Let f = 2E be the loss of M features, L the functional law 2E of infinitely many, tau_M the trace of the modes beyond M
and T the operator of the Volterra equation f = delta_M + e_M + T(f + sigma^2).

From below: e_infinity <= delta_M + e_M <= f at all times, and the kernel of the modes beyond M has the integral
tau_M/2, so that L <= f + gamma_max tau_M (e_infinity(0) + sigma^2)/2; then f >= delta_M divides.

From above: T delta_M <= c delta_M and T(T sigma^2) <= c T sigma^2, with c = gamma_max tr(H_M)/2, so that what delta_M
and sigma^2 leave is at most 1/(1-c) of its part of delta_M + L. For what the signal leaves this is measured: on hard
tasks it falls too slowly for what was injected early to count. On the easiest tasks it is false.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from sympy import Expr, S, Sum, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.printed_values import PrintedBound
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import NothingCompared
from fsl_num.claims.words import Kinds
from fsl_num.design.shapes import SHAPES, shape
from fsl_num.design.worst import worst_schedule
from fsl_num.paper.block_constants import exact_powers
from fsl_num.paper.functional.formulas import INFINITE_PAIR, functional
from fsl_num.paper.functional.hard_tasks import HARD, LARGEST
from fsl_num.paper.functional.runs import VOLTERRA, bound
from fsl_num.paper.hypotheses import MODEL, located
from fsl_num.validation import Array
from fsl_num.volterra.mesh import MeshEquation, infinite_parts, mesh_equation
from fsl_sym.proof import AllOf, at_most
from fsl_sym.symbols import E, M, beta, j, s, sigma, t

RATES = (0.05, 0.9)
"""c = gamma_max tr(H_M)/2."""
SIZES, HORIZONS = (1.0, 30.0, 1e8), (1e-2, 1.0, 100.0)
"""Model sizes, and horizons as multiples of M^beta (at least 1)."""
TRIED = Kinds("schedules", {"usual": "usual", "nothing": "early ending", "the": "adversarial"})
"""As the first words of their names say."""
GAPS = (2.0, 8.0, 16.0)
"""So many times M^beta the noise has stopped before the end: M features have forgotten it, those beyond have not."""
NOISES, LEVELS = (0.0, 1.0, 1e12, 1e30), (1.0, 1e-20)
"""sigma^2, and shares of gamma_max."""
ROUNDING = 1e-9
"""Relative: sums of some hundred terms on the mesh, on which both sides hold exactly."""
COMPARED = "constant, M = 1, t = 0.01 M^beta, c = 0.9, sigma^2 = 1"
"""The case, at t = 1, in which the formula is compared with what is judged."""
MESH = 0.002
"""Relative, of the law on the mesh, where noise is injected at the middles of cells: 8e-4 at beta = 6."""


def _trace(first: Expr, last: Expr) -> Sum:
    return Sum(j**-beta, (j, first, last))


UNLEARNED = Sum(j ** (-1 - s * beta), (j, M + 1, oo))
ENDLESS = functional(INFINITE_PAIR) - M ** (-s * beta)
"""The law of infinitely many features, for which nothing is left unlearned."""
BEYOND = LARGEST * _trace(M + 1, oo) * (INFINITE_PAIR.at(S.Zero)[0] + sigma**2) / (2 * UNLEARNED)
STABILITY = LARGEST * _trace(S.One, M) / 2
STATED = AllOf((at_most(ENDLESS / (1 + BEYOND), 2 * E), at_most(2 * E, (UNLEARNED + ENDLESS) / (1 - STABILITY))))


@dataclass(frozen=True, eq=False)
class Cases:
    """The loss 2E of some schedules, the law of infinitely many features, and what is known of each, at its ``places``.

    ``numbers`` (9, cases): loss, law, gamma_max, gamma_max tr(H_M)/2, sigma^2, M, delta_M, the trace of the modes
    beyond M, e_infinity(0).
    """

    places: tuple[str, ...]
    numbers: Array
    times: Array


@dataclass(frozen=True)
class Constants:
    """lower * law/(1 + tail * B) <= loss <= upper * (delta_M + law)/(1 - c): see the module.

    B has the ``powers`` of gamma_max, sigma^2 and M beyond those of the claim; ``halved`` is a factor of c, ``floor``
    one of delta_M.
    """

    lower: float = 1.0
    tail: float = 1.0
    upper: float = 1.0
    floor: float = 1.0
    halved: float = 1.0
    powers: Mapping[str, float] = field(default_factory=dict)

    def judge(self, measured: Cases) -> Judgement:
        """The case that comes nearest to a bound, or lies furthest beyond one."""
        loss, law = measured.numbers[:2]
        if not loss.size:
            raise NothingCompared("no case was measured")
        low, high = self._sides(measured.numbers)
        over = {"lower": low / loss, "upper": loss / high}
        name = max(over, key=lambda case: float(over[case].max()))
        worst, at = float(over[name].max()), int(np.argmax(over[name]))
        detail = f"{worst:.9g} of the {name} bound at {measured.places[at]}"
        constants = float((loss / law).min()), float((loss / law).max())
        return Judgement(worst <= 1.0 + ROUNDING, worst, constants, None, detail)

    def _sides(self, numbers: Array) -> tuple[Array, Array]:
        """The lower and the upper bound of cases."""
        _, law, peak, stability, noise, size, unlearned, beyond, start = numbers
        letters = {"gamma_max": peak, "sigma^2": np.maximum(noise, 1.0), "M": size}
        second = self.tail * peak * beyond * (start + noise) / (2.0 * unlearned)
        for name, power in self.powers.items():
            second = second * letters[name] ** power
        low = self.lower * law / (1.0 + second)
        return low, self.upper * (self.floor * unlearned + law) / (1.0 - self.halved * stability)

    def printed_bounds(self, sample: Sample) -> PrintedBound:
        """Both sides for one feature, t = 1 and a constant rate."""
        measured, (value, exponent) = cases(sample), sample.point
        numbers = measured.numbers[:, measured.places.index(COMPARED)]
        low, high = (float(side) / 2.0 for side in self._sides(numbers))
        peak, noise, size = (float(value) for value in numbers[[2, 4, 5]])
        letters = {s: value, beta: exponent, M: size, sigma: math.sqrt(noise), LARGEST: peak, t: 1.0}
        return PrintedBound(letters, peak, (low, high), MESH)

    def mutants(self) -> Mapping[str, Constants]:
        """Constants and terms that make a bound stricter, and powers of B that do so at one end of the range."""
        return {
            "the lower bound 2 % larger": replace(self, lower=1.02),
            "the lower bound without its second term": replace(self, tail=0.0),
            "a twentieth of the second term": replace(self, tail=0.05),
            "the upper bound 2 % smaller": replace(self, upper=0.98),
            "the upper bound without delta_M": replace(self, floor=0.0),
            "the upper bound with half of c": replace(self, halved=0.5),
            **{f"{name} {step:+g} in the second term": self._moved(name, step)
               for name, step in (("gamma_max", 0.1), ("sigma^2", -0.1), ("M", -0.2))},
        }  # fmt: skip

    def neighbours(self, kind: str, size: float) -> Sequence[Constants]:
        """Powers of the second term moved, sharp constants off, or the second term smaller, the way that is wrong."""
        if kind == "power":
            return [self._moved(name, sign * size) for name, sign in (("gamma_max", 1), ("sigma^2", -1), ("M", -1))]
        if kind == "constant":
            return [replace(self, lower=self.lower * (1 + size)), replace(self, upper=self.upper / (1 + size))]
        return [replace(self, tail=self.tail / (1 + size))] if kind == "bound" else ()

    def _moved(self, name: str, step: float) -> Constants:
        return replace(self, powers={**self.powers, name: self.powers.get(name, 0.0) + step})


@lru_cache(maxsize=64)
def cases(sample: Sample) -> Cases:
    """Usual schedules, those that end long before, and the adversary's, over sizes, horizons, rates and noises."""
    from scipy.special import zeta

    s, beta = sample.point
    places, numbers, times = list[str](), list[tuple[float, ...]](), list[float]()
    for size, horizon in product(SIZES, HORIZONS):
        equation = mesh_equation(s, beta, size, max(1.0, horizon * size**beta))
        signal = 1.0 + s * beta
        known = [float(zeta(*arguments)) for arguments in ((signal, size + 1.0), (beta, size + 1.0), (signal, 1.0))]
        for stability in RATES:
            peak = bound(equation, stability)
            for (name, share), level in product(_shares(equation, peak), LEVELS):
                gammas = peak * level * share
                terms, wide = equation.parts(gammas), infinite_parts(equation, gammas)
                for noise in NOISES:
                    loss = terms["loss_e"] + terms["delta"] * terms["loss_one"] + noise * terms["noise_one"]
                    law = wide["e_inf"] + wide["batch_inf"] + noise * wide["label_inf"]
                    numbers.append((loss, law, float(gammas.max()), stability * level, noise, size, *known))
                    where = f"M = {size:g}, t = {horizon:g} M^beta, c = {stability * level:g}, sigma^2 = {noise:g}"
                    places.append(f"{name}, {where}")
                    times.append(float(equation.mesh.t[-1]))
    return Cases(tuple(places), np.array(numbers).T, np.array(times))


def _letters(sample: Sample) -> dict[str, Any]:
    measured = cases(sample)
    named = dict(zip(("c", "sigma^2", "M"), measured.numbers[3:6], strict=True))
    kinds = ["usual" if place.split(",")[0] in SHAPES else place.split()[0] for place in measured.places]
    return {**named, "t": measured.times, TRIED.name: kinds}


def _shares(equation: MeshEquation, peak: float) -> list[tuple[str, Array]]:
    """Names of schedules and their rates over gamma_max."""
    mesh, forgotten = equation.mesh, equation.size**equation.beta
    late = 0.5 * (mesh.remaining[:-1] + mesh.remaining[1:])
    shares = [(name, shape(name, equation)) for name in SHAPES]
    shares += [
        (f"nothing in the last {gap:g} M^beta", np.asarray(late > gap * forgotten, dtype=np.float64))
        for gap in GAPS if gap * forgotten < mesh.t[-1]
    ]  # fmt: skip
    # a search takes longer than all the others
    for noise in (0.0, 1.0) if mesh.t[-1] == forgotten and equation.size == SIZES[1] else ():
        worst = worst_schedule(equation, peak, noise, infinite=True, searches=1, steps=10)
        shares.append((f"the adversary's at sigma^2 = {noise:g}", worst.gammas / peak))
    return shares


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: fsl-hard-regime/constants", "thm: fsl-hard-regime", 484, "hard tasks: both bounds with their constants",
        STATED,
        (MODEL, *VOLTERRA, "s <= 1 - 1/beta",
         "c = 0.05, 0.9, 5e-22, 9e-21", "sigma^2 = 0, 1, 1e12, 1e30", "M = 1, 30, 1e8",
         "t >= 1, t <= 100 M^beta", TRIED(*TRIED.words),
         exact_powers("how near the bounds come is found for these; up to constants it is any-noise")),
        located(_letters)(cases), lambda sample: Constants(), regimes=HARD, role="own",
        depends=("thm: fsl-hard-regime/any-noise",),
    ),
)  # fmt: skip
