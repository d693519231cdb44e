"""The scaling laws of schedules beyond the paper's, as they are derived: a drop, a wave, an inverse root, a parabola.

Ours. The law of each is that which :func:`fsl_sym.laws.scaling_law` derives for it; what is measured is the sum of the
parts of eqn: fsl-simplified along rays, with schedules that know no law. Two of the laws end somewhere: beyond
T_2 = M^beta the noise of the first of two constant rates is forgotten like exp(-2 T_2 M^-beta), and a timescale K_0 far
below 1/a adds a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, Final, Self

import numpy as np
from sympy import Eq, Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_mutants, order_statement
from fsl_num.claims.points import along_edge
from fsl_num.claims.statements import Ray, Statement
from fsl_num.paper.block_constants import PERIOD, UP_TO_CONSTANTS, whole_periods
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.scaling_laws.laws import NOISE, STABLE
from fsl_num.paper.scaling_laws.training import (
    LONGEST,
    SILENT,
    Training,
    even_grid,
    functional_rays,
    functional_risk,
    long_after,
    peak_rate,
    repeating_size,
    risk_ray,
    silent,
    whole,
)
from fsl_num.schedules import Consecutive, Constant, InverseSqrt, Linear, Schedule
from fsl_num.schedules.phases import Backwards
from fsl_num.validation import Array
from fsl_sym.laws import scaling_law
from fsl_sym.proof import Formula, all_of, at_least, at_most, equals
from fsl_sym.schedules.own import own_schedule
from fsl_sym.symbols import K0, T1, T2, E, K, M, T, a, b, beta, tau

NEVER: Final = 1e-200
"""A last rate over the peak that decides nothing."""
APART: Final = Rational(1, 2)
"""By so much beta is away from 2, where the law of a rate that vanishes linearly has a logarithm."""
OWN: Final = a * (1 - (tau / K) ** 2)
"""A schedule of one's own: a parabola, which vanishes like 2 a (1 - tau/K)."""


@dataclass(frozen=True, kw_only=True)
class Parabola(Schedule):
    """peak (1 - (tau/steps)^2), in numbers: nothing but its rate and the integrals of it."""

    def _rate(self, remaining: Array) -> Array:
        left = remaining / self.steps
        return self.peak * left * (2.0 - left)

    def _elapsed(self, tau: Array) -> Array:
        return self.peak * tau * (1.0 - (tau / self.steps) ** 2 / 3.0)

    def _left(self, remaining: Array) -> Array:
        left = remaining / self.steps
        return self.peak * self.steps * left**2 * (1.0 - left / 3.0)


def _drop(run: Training, rate: float) -> Schedule:
    """A constant rate over T_1, then the last rate over T_2."""
    final = run.final_over_peak * rate
    return Consecutive(
        of=(Constant(peak=rate, steps=run.stable / rate), Constant(peak=final, steps=run.decay / final)),
        batch_size=run.batch,
    )


def _wave(run: Training, rate: float) -> Schedule:
    """Up from the last rate over T_1, and down to it over T_2."""
    final = run.final_over_peak * rate
    up, down = (Linear(peak=rate, final=final, steps=2.0 * area / (rate + final)) for area in (run.stable, run.decay))
    return Consecutive(of=(Backwards(of=up), down), batch_size=run.batch)


def _parabola(run: Training, rate: float) -> Schedule:
    return Parabola(peak=rate, steps=1.5 * run.decay / rate, batch_size=run.batch)


@dataclass(frozen=True)
class Shaped(Training):
    """A run of one of these shapes; T_1 is ``stable``, T_2 (or the whole T) ``decay``."""

    shape: Callable[[Training, float], Schedule] = _parabola

    def schedule(self, beta: float) -> Schedule:
        """The schedule with these intrinsic times."""
        return self.shape(self, self.peak * peak_rate(beta))

    def repeating(self, beta: float) -> Self:
        """That of every run; T_1 keeps its ratio to T_2 where both are of one order.

        The T_2 of a drop stays at most M^beta, which is a little below a whole period where M is rounded down.
        """
        moved = super().repeating(beta)
        log_edge = beta * math.log(moved.size)
        if self.shape is _drop and math.log(moved.decay) > log_edge:
            moved = replace(moved, decay=math.exp(log_edge))
        ratio = self.stable / self.decay
        return replace(moved, stable=moved.decay * ratio) if 1.0 / PERIOD < ratio < PERIOD else moved


@dataclass(frozen=True)
class Root(Training):
    """A run of the inverse square root over ``steps``, with the timescale K_0, both over the default rate."""

    steps: float = 1.0
    timescale: float = 1.0

    def schedule(self, beta: float) -> Schedule:
        """a/sqrt(1 + tau/K_0)."""
        base = peak_rate(beta)
        peak, steps, timescale = self.peak * base, self.steps / base, self.timescale / base
        return InverseSqrt(peak=peak, steps=steps, timescale=timescale, batch_size=self.batch)

    def repeating(self, beta: float) -> Self:
        """So much longer that spectra repeat themselves at its intrinsic time, K/K_0 being what it is."""
        time = self.schedule(beta).total_intrinsic_time
        longer = whole_periods(math.sqrt(PERIOD) * time) / time
        size = repeating_size(self.size, beta)
        return replace(self, size=size, steps=longer * self.steps, timescale=longer * self.timescale)

    def logs(self, beta: float) -> dict[str, float]:
        """Those of every run, the intrinsic time of its own, and of K and K_0."""
        base = peak_rate(beta)
        own = replace(self, decay=self.schedule(beta).total_intrinsic_time)
        lengths = {"K": np.log(self.steps / base), "K_0": np.log(self.timescale / base)}
        return {**Training.logs(own, beta), **lengths}


def _rays(sample: Sample, runs: Mapping[str, tuple[Array, Sequence[Training]]]) -> tuple[Ray, ...]:
    return tuple(risk_ray(name, scale, trainings, sample, functional_risk) for name, (scale, trainings) in runs.items())


def _alone(sample: Sample, base: Training, name: str) -> dict[str, tuple[Array, list[Training]]]:
    """The peak rate, the batch size and sigma^2, each alone: far from where two terms of a minimum are alike."""
    near, time = even_grid(8.0, sample), even_grid(LONGEST, sample)
    runs = {
        "a": (near, [replace(base, peak=10**-u) for u in near]),
        "B": (near, [replace(base, batch=10**u) for u in near]),
        "sigma^2": (time, [replace(base, noise=10 ** (12 + u)) for u in time]),
    }
    return {f"{name}, {letter} alone": run for letter, run in runs.items()}


@lru_cache(maxsize=16)
def _two_phases(sample: Sample, shape: Callable[[Training, float], Schedule]) -> tuple[Ray, ...]:
    """Each term decides in turn, each letter alone; of a drop T_2 <= T_1 and T_2 <= M^beta, of a wave beyond too."""
    beta, loud, ends = sample.point[1], 10**SILENT, shape is not _drop
    time, model = even_grid(LONGEST, sample), even_grid(LONGEST / (1.5 * beta), sample)
    gap = (1.0 - 1.0 / beta) if not ends else min(0.5, 1.0 - 1.0 / beta)
    final = even_grid(min(10.0, 0.5 * LONGEST * gap), sample)

    def run(size: float, first: float, last: float, ratio: float = NEVER, **settings: float) -> Training:
        return Shaped(size, first, last, ratio, shape=shape, **settings)

    # from two features on: what one lacks of easy tasks, 2^-(s beta), is far from the power
    alone = even_grid(LONGEST / beta, sample) + math.log10(2.01)
    near, long = even_grid(8.0, sample)[::2], 2 * final[-1] / gap
    runs: dict[str, tuple[Array, list[Training]]] = {
        "M decides": (alone, [run(m, long_after(m, sample), m**beta, batch=loud) for m in map(whole, alone)]),
        "T decides": (time, [run(whole(4 * u / beta), 10**u, 10 ** (0.5 * u), batch=loud) for u in time]),
        "b decides, b alone": (
            final, [run(whole(long / beta) + 1.0, 10**long, 10**long, 0.5 * 10**-u, noise=loud) for u in final],
        ),
        "b decides; T, T_2 and M vary": (
            near, [run(whole(long / beta + 0.7 * u) + 1.0, 10 ** (long + 1.3 * u), 10 ** (long + 0.6 * u), 0.5,
                       noise=loud) for u in near],
        ),
        "M decides; a, b, B and sigma^2 vary": silent(run(10.0, long_after(10.0, sample), 10.0**beta), sample),
        "T decides; a, b, B and sigma^2 vary": silent(run(whole(40.0 / beta), 1e10, 1e5), sample),
        "a decides, T_2 alone": (time, [run(1e250, 10 ** (u + 1), 10**u, noise=loud) for u in time]),
        "a decides, T_2 = M^beta": (model, [run(m, m**beta, m**beta, noise=loud) for m in map(whole, model + 1)]),
        **_alone(sample, run(1e250, 1e6, 1e6, noise=loud), "a decides"),
        **_alone(sample, run(1e6, 1e6, 1e6, 0.5, noise=loud), "b decides"),
    }  # fmt: skip
    if ends:
        runs["a decides, T_2 = M^(3 beta/2)"] = (
            model, [run(m, 1.0, m ** (1.5 * beta), noise=loud) for m in map(whole, model)],
        )  # fmt: skip
        runs["a decides, T_2 alone, M = 10"] = (
            time, [run(10.0, 1.0, 10 ** (1.5 * beta + u), noise=loud) for u in time],
        )  # fmt: skip
        runs |= _alone(sample, run(10.0, 1.0, 10 ** (1.5 * beta + 3), noise=loud), "a decides, M = 10")
    return functional_rays(runs, sample)


@lru_cache(maxsize=16)
def _roots(sample: Sample) -> tuple[Ray, ...]:
    """The inverse square root: each term decides in turn, each letter alone, K >= K_0 >= 1/a."""
    beta, loud = sample.point[1], 10**SILENT
    half, alone = even_grid(LONGEST / 2, sample), even_grid(LONGEST / beta, sample)

    def run(size: float, steps: float, timescale: float, **settings: float) -> Root:
        return Root(size, steps=steps, timescale=timescale, **settings)

    def slower(base: Root) -> tuple[Array, list[Training]]:
        """Lengths that grow as the rate falls, so that T stands still."""
        grid, slowed = silent(base, sample)
        return grid, [replace(run, steps=run.steps / run.peak, timescale=run.timescale / run.peak) for run in slowed]

    runs: dict[str, tuple[Array, list[Training]]] = {
        "M decides": (alone, [run(m, t, t, batch=loud) for m in map(whole, alone) for t in (long_after(m, sample),)]),
        "T decides": (half, [run(whole(8 * u / beta + 1), 10 ** (3 * u + 1), 10**u, batch=loud) for u in half]),
        "noise, K alone": (half, [run(1e6, 10 ** (u + 9), 1e9, noise=loud) for u in half]),
        "noise, K_0 alone": (half, [run(1e6, 1e40, 10 ** (40 - u), noise=loud) for u in half]),
        "noise, M ~ T^(1/beta)": (alone, [run(m, 2 * m**beta, m**beta, noise=loud) for m in map(whole, alone)]),
        **_alone(sample, run(1e6, 1e20, 1e9, noise=loud), "noise"),
        "M decides; a, B and sigma^2 vary": slower(run(10.0, *2 * [long_after(10.0, sample)])),
        "T decides; a, B and sigma^2 vary": slower(run(whole(60.0 / beta), 1e20, 1e10)),
    }
    return functional_rays(runs, sample)


def _drops_outside(sample: Sample) -> dict[str, tuple[Ray, ...]]:
    """The first rate where T_2 is above M^beta, above T_1, and below 1."""
    grid, model, loud = even_grid(LONGEST / 2, sample), even_grid(2.0, sample) + 0.5, 10**SILENT

    def ray(name: str, scale: Array, runs: list[tuple[float, float, float]]) -> dict[str, tuple[Ray, ...]]:
        """``runs`` are M, T_1 and T_2."""
        shaped = [Shaped(size, first, last, NEVER, noise=loud, shape=_drop) for size, first, last in runs]
        return {name: _rays(sample, {name: (scale, shaped)})}

    beta = sample.point[1]
    return {
        **ray("T_2 beyond M^beta", model, [(m, m ** (2 * beta), m ** (1.5 * beta)) for m in map(whole, model)]),
        **ray("T_2 beyond T_1", grid, [(1e250, 10**u, 10 ** (2 * u)) for u in grid]),
        **_short(sample, _drop, 1.0),
    }


def _short(sample: Sample, shape: Callable[[Training, float], Schedule], first: float) -> dict[str, tuple[Ray, ...]]:
    """The decay shorter than 1, after the intrinsic time ``first``."""
    grid = even_grid(8.0, sample)
    runs = [Shaped(1e6, first, 10**-u, NEVER, noise=10**SILENT, shape=shape) for u in grid]
    return {"T_2 to 0": _rays(sample, {"T_2 to 0": (grid, runs)})}


def _roots_outside(sample: Sample) -> dict[str, tuple[Ray, ...]]:
    """K far below K_0, and K_0 far below 1/a."""
    grid, loud = even_grid(6.0, sample), 10**SILENT
    runs = {
        "K below K_0": [Root(1e250, steps=1e6, timescale=10 ** (6 + u), noise=loud) for u in grid],
        "K_0 below 1/a": [Root(1e250, steps=10 ** (3 * u + 1), timescale=10**-u, noise=loud) for u in grid],
    }
    return {name: _rays(sample, {name: (grid, run)}) for name, run in runs.items()}


@lru_cache(maxsize=16)
def _own(sample: Sample) -> tuple[Ray, ...]:
    """The parabola: each term decides in turn, T, M and the letters alone."""
    beta, loud = sample.point[1], 10**SILENT
    time, model, alone = (even_grid(LONGEST / factor, sample) for factor in (1.0, 1.5 * beta, beta))

    def run(size: float, decay: float, batch: float = 1.0, noise: float = 1.0) -> Training:
        return Shaped(size, 0.0, decay, NEVER, batch, noise)

    return functional_rays({
        "M decides": (alone, [run(m, long_after(m, sample), batch=loud) for m in map(whole, alone)]),
        "T decides": (time, [run(whole(4 * u / beta), 10**u, batch=loud) for u in time]),
        "noise, T alone": (time, [run(1e250, 10**u, noise=loud) for u in time]),
        "noise, T = M^(3 beta/2)": (model, [run(m, m ** (1.5 * beta), noise=loud) for m in map(whole, model)]),
        "noise, T alone, M = 10": (time, [run(10.0, 10 ** (1.5 * beta + u), noise=loud) for u in time]),
        "M decides; a, B and sigma^2 vary": silent(run(10.0, long_after(10.0, sample)), sample),
        "T decides; a, B and sigma^2 vary": silent(run(whole(40.0 / beta), 1e10), sample),
        **_alone(sample, run(1e250, 1e6, noise=loud), "noise"),
        **_alone(sample, run(10.0, 10 ** (1.5 * beta + 3), noise=loud), "noise, M = 10"),
    }, sample)  # fmt: skip


def _off(s: Any, beta: Any) -> tuple[Any, Any]:
    """A point with beta so far from 2 that no logarithm can be taken for a power, in the same regime."""
    moved = min(beta, 2 - APART) if beta < 2 else max(beta, 2 + APART)
    return along_edge(s, beta, moved), moved


@cache
def _typed() -> Any:  # once: its shape is looked for anew each time
    return own_schedule(OWN)


@cache
def laws(known: Any) -> tuple[Formula, ...]:
    """The derived law; where a rate vanishes linearly that of beta < 2 and that of beta > 2."""
    sides = [(case.expression.subs(T1 + T2, T), case.side.condition) for case in scaling_law(known).cases if case.side]
    off = [side for side in sides if not isinstance(side[1], Eq)]
    return tuple(Formula(E, "~", law, where=where if len(off) > 1 else None) for law, where in off)


def law_claim(
    name: str, title: str, known: Callable[[], Any], rays: Any, *hypotheses: Any, **settings: Any
) -> Claim:
    """A law as it is derived for a schedule, measured on its side of beta = 2 where it has two."""

    def here(sample: Sample) -> Formula:
        return next(law for law in laws(known()) if law.where is None or law.where.subs(beta, sample.beta))

    def mutants(sample: Sample) -> Mapping[str, Statement]:
        mine = here(sample)
        rivals = {f"the law where {law.where}": law for law in laws(known()) if law.where != mine.where}
        return {**order_mutants(mine, sample), **{name: order_statement(law, sample) for name, law in rivals.items()}}

    def moved(s: Any, beta: Any) -> tuple[Any, Any]:
        return _off(s, beta) if len(laws(known())) > 1 else (s, beta)

    return Claim(
        name, "eqn: fsl-simplified", 883, title, lambda: all_of(laws(known())),
        (MODEL, *hypotheses, NOISE, STABLE, UP_TO_CONSTANTS), rays,
        lambda sample: order_statement(here(sample), sample), mutants,
        moved=moved, role="own", depends=("eqn: fsl-simplified",), family=name.partition("/")[0], **settings,
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    law_claim(
        "multi-step/law", "the scaling law of one drop of the rate",
        lambda: "multi-step", partial(_two_phases, shape=_drop),
        at_least(T2, 1), at_most(T2, T1), at_most(T2, M**beta), equals(T, T1 + T2), at_most(b, a),
        beyond=_drops_outside,
    ),
    law_claim(
        "cyclic/law", "the scaling law of a triangular wave",
        lambda: "cyclic", partial(_two_phases, shape=_wave), at_least(T2, 1), equals(T, T1 + T2), at_most(b, a),
        beyond=partial(_short, shape=_wave, first=1.0),
        remark="The rise leaves no trace beside the fall.",
    ),
    law_claim(
        "inverse-sqrt/law", "the scaling law of the inverse square root",
        lambda: "inverse-sqrt", _roots,
        at_most(K0, K), at_least(a * K0, 1), "T = 2 a K_0 (sqrt(1 + K/K_0) - 1)",
        beyond=_roots_outside,
        remark="Its noise is that of its last rate.",
    ),
    law_claim(
        "own-schedule/law", "the scaling law of a schedule of one's own: a parabola",
        _typed, _own, at_least(T, 1), beyond=partial(_short, shape=_parabola, first=0.0),
    ),
)  # fmt: skip
