r"""Paths of both SDEs on one Brownian path: the strong order of the scheme, and the change of time path by path.

In x = H^(1/2) (v - theta), for a projection in the eigenbasis of W H W', the noise covariance of Gaussian features is
H^(1/2) ((2E + sigma^2) I + x x') H^(1/2) on H^(1/2) x, and 2E = |x|^2 + delta. With c^2 = 2E + sigma^2 its exact
factor is diagonal plus rank one, for (c I + x x'/(c + r))^2 = c^2 I + x x' where r^2 = c^2 + |x|^2. So

    dx = H (-x dt + sqrt(gamma) (c dB + x (x'dB)/(c + r))).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde_grid import checked_clock, checked_steps, scheme_grid
from fsl_num.simulate.sde_moments import problem_spectrum, require_gaussian
from fsl_num.validation import Array, whole_count

_GROUPS = 20  # of runs, for the errors of what is measured
_GOLDEN = 0.5 * (1.0 + math.sqrt(5.0))
_NUMBERS = 4_000_000  # normals at once


@dataclass(frozen=True, eq=False)
class System:
    """``eigenvalues`` of the model's covariance, ``start`` x(0), ``tail`` delta and ``noise`` sigma^2."""

    eigenvalues: Array
    start: Array
    tail: float
    noise: float


def sde_system(problem: Regression) -> System:
    """Return the modes in which the SDE is simulated.

    Raises ValueError for features that are not Gaussian and for models too large to list.

    >>> from fsl_num.model import Model
    >>> sde_system(Regression(Model(s=1.0, beta=2.0, size=2, noise=1.0))).start.round(3).tolist()
    [-1.0, -0.354]
    """
    require_gaussian(problem)
    spectrum = problem_spectrum(problem)
    if spectrum is None:
        raise ValueError(
            f"model_size must be finite and at most 1e6 for a simulation, got {problem.model.size:g}; its exact"
            " expectation exact_sde_risk takes any size"
        )
    # the sign of x_j(0) does not matter: mirroring a mode and its Brownian motion gives the same equation
    return System(spectrum.eigenvalues, -np.sqrt(spectrum.signals), spectrum.tail, problem.model.noise)


def advance(system: System, x: Array, length: float, increment: Array) -> None:
    """Take one step of the scheme of ``length`` dt in place: x, shape (runs, M), with int sqrt(gamma) dB given.

    ``increment`` has the shape of x and is overwritten.

    >>> system = System(np.array([1.0]), np.array([1.0]), 0.0, 3.0)
    >>> x = np.ones((1, 1))
    >>> advance(system, x, 0.1, np.ones((1, 1)))  # c = 2, c I + x x'/(c + r) = sqrt(c^2 + x^2)
    >>> bool(abs(x[0, 0] - (0.9 + 5**0.5)) < 1e-15)
    True
    """
    squares = np.einsum("ij,ij->i", x, x)
    along = np.einsum("ij,ij->i", x, increment)
    base = squares + (system.tail + system.noise)
    strength = np.sqrt(base)
    # where there is no noise at all x is 0 too, and any positive number serves
    along /= np.maximum(strength + np.sqrt(base + squares), 1e-300)
    along -= length
    increment *= strength[:, None]
    increment += x * along[:, None]
    increment *= system.eigenvalues
    x += increment


@dataclass(frozen=True)
class StrongErrors:
    """Distances of paths driven by one Brownian motion, at the last step, sqrt(E ||v - v'||_H^2).

    ``substeps``: n of the coarser path; ``distance``: to the other path (for :func:`strong_errors` the one with twice
    as many parts, for :func:`change_of_time` the one in the other clock); ``standard_error`` of each distance;
    ``order``: minus the slope of log distance against log n, ``order_error`` its standard error from groups of runs.
    """

    substeps: tuple[int, ...]
    distance: tuple[float, ...]
    standard_error: tuple[float, ...]
    order: float
    order_error: float


def strong_errors(
    problem: Regression,
    rates: Any,
    batch_sizes: Any = 1,
    *,
    time: str = "physical",
    substeps: tuple[int, ...] = (1, 2, 4, 8, 16),
    runs: int = 400,
    seed: int = 0,
) -> StrongErrors:
    """Return how far the scheme with n parts a step is from that with 2n on the same Brownian path, for each n.

    The noise is multiplicative: of the strong order 1/2 (its part of order 1 is seen first where gamma is small).
    ``problem``, ``rates``, ``batch_sizes`` and ``time`` as in :func:`~fsl_num.simulate.sde.simulate_sde`;
    ``substeps``: at least three rising n, each dividing the next; ``runs``: a multiple of 20; ``seed`` of the paths.
    Raises ValueError for anything else. Source: equations labelled eqn: sde and eqn: sde-instrinc.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0))
    >>> strong_errors(model, [0.5] * 4, substeps=(8, 16, 32), runs=200).order > 0.3
    True
    """
    clock = checked_clock(time)
    eta, batches = checked_steps(rates, batch_sizes)
    ns = _levels(substeps)
    grids = [*_nested(clock, eta, batches, ns), *_nested(clock, eta, batches, (ns[0], *(2 * n for n in ns)))[1:]]
    pairs = [(i, i + len(ns)) for i in range(len(ns))]
    return _measured(problem, eta, batches, grids, pairs, ns, runs, seed)


def change_of_time(
    problem: Regression,
    rates: Any,
    batch_sizes: Any = 1,
    *,
    substeps: tuple[int, ...] = (1, 2, 4, 8, 16),
    runs: int = 400,
    seed: int = 0,
) -> StrongErrors:
    """Return how far the path in physical time is from the path in intrinsic time, driven by one Brownian motion.

    With B in intrinsic time, d tilde-B = sqrt(1/phi) dB drives the equation in physical time. The clocks are cut into
    equal parts each of its own (in intrinsic time 1.6 n to the largest rate), so that the two paths agree in the limit
    only: of the strong order 1/2. Arguments and
    errors as in :func:`strong_errors`; rates of 0 are refused here, because there physical time stands still in the
    other clock. Source: equations labelled eqn: sde and eqn: sde-instrinc, and the change of time between them.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0))
    >>> change_of_time(model, [0.5, 0.4, 0.2, 0.1], substeps=(8, 16, 32), runs=200).order > 0.3
    True
    """
    eta, batches = checked_steps(rates, batch_sizes)
    if not (eta > 0.0).all():
        raise ValueError("rates must all be positive for the change of time to be invertible, got a rate of 0")
    ns = _levels(substeps)
    # Cells of nearly one length in both clocks would start together and drift apart as they are halved, which hides
    # the order; in the golden ratio they are as far from that as can be.
    total = float(eta.sum())
    parts = math.ceil(_GOLDEN * total / float(eta.max()) * ns[0])
    intrinsic = [np.linspace(0.0, total, parts * (n // ns[0]) + 1) for n in ns]
    grids = [*_nested("physical", eta, batches, ns), *intrinsic]
    pairs = [(i, i + len(ns)) for i in range(len(ns))]
    return _measured(problem, eta, batches, grids, pairs, ns, runs, seed)


def _levels(substeps: Any) -> tuple[int, ...]:
    ns = tuple(whole_count("substeps", n) for n in substeps)
    if len(ns) < 3 or any(b <= a or b % a for a, b in zip(ns, ns[1:], strict=False)):
        raise ValueError(f"substeps must be at least three rising whole numbers, each dividing the next, got {ns}")
    return ns


def _nested(clock: str, rates: Array, batches: Array, ns: tuple[int, ...]) -> list[Array]:
    """Return the intrinsic times between the steps of the schemes, each grid a refinement of the first: a whole number
    of parts of its own for each n would change the distance of two paths by more than its order can bear."""
    base = scheme_grid(clock, rates, batches, ns[0], np.array([0, rates.size])).lengths
    grids = []
    for n in ns:
        factor = n // ns[0]
        grids.append(np.concatenate([[0.0], np.cumsum(np.repeat(base / factor, factor))]))
    return grids


def _measured(
    problem: Regression,
    rates: Array,
    batches: Array,
    grids: list[Array],
    pairs: list[tuple[int, int]],
    ns: tuple[int, ...],
    runs: Any,
    seed: Any,
) -> StrongErrors:
    count = whole_count("runs", runs)
    if count % _GROUPS:
        raise ValueError(f"runs must be a multiple of {_GROUPS}, the groups that the errors come from, got {count}")
    system = sde_system(problem)
    generators = [np.random.default_rng(one) for one in np.random.SeedSequence(seed).spawn(_GROUPS)]
    squares = np.stack([_distances(system, rates, batches, grids, pairs, count // _GROUPS, one) for one in generators])
    total = squares.mean(axis=0)
    if not (np.isfinite(total) & (total > 0.0)).all():
        raise ValueError("the paths do not differ, or grew beyond all numbers; take other learning rates")
    logs = np.log(np.array(ns, dtype=np.float64))
    slopes = logs - logs.mean()
    slopes /= slopes @ slopes
    # the jackknife over groups: each left out in turn
    left = (squares.sum(axis=0) - squares) / (_GROUPS - 1)
    orders = -0.5 * np.log(left) @ slopes
    scale = math.sqrt((_GROUPS - 1) ** 2 / _GROUPS)
    return StrongErrors(
        ns,
        tuple(np.sqrt(total).tolist()),
        tuple((scale * np.sqrt(left).std(axis=0, ddof=1)).tolist()),
        float(-0.5 * np.log(total) @ slopes),
        float(scale * orders.std(ddof=1)),
    )


def _distances(
    system: System,
    rates: Array,
    batches: Array,
    grids: list[Array],
    pairs: list[tuple[int, int]],
    runs: int,
    generator: np.random.Generator,
) -> Array:
    """Return the mean of ||x - x'||^2 at the end for each pair of grids, all of them driven by one Brownian path."""
    total = float(rates.sum())
    starts = np.concatenate([[0.0], np.cumsum(rates)])
    near = 64.0 * np.spacing(total) * math.sqrt(max(grid.size for grid in grids))
    edges = np.unique(np.concatenate([starts, *grids]))
    edges = edges[np.concatenate([[True], np.diff(edges) > near])]  # ends that only rounding keeps apart are one
    edges[-1] = total
    gammas = (rates / batches)[np.searchsorted(starts, 0.5 * (edges[1:] + edges[:-1]), side="right") - 1]
    scales = np.sqrt(gammas * np.diff(edges))
    after = [np.abs(np.subtract.outer(grid[1:], edges)).argmin(axis=1) for grid in grids]
    size = system.eigenvalues.size
    block = max(1, _NUMBERS // (edges.size * size))
    sums = np.zeros(len(pairs))
    for low in range(0, runs, block):
        number = min(block, runs - low)
        fine = generator.standard_normal((scales.size, number, size))
        fine *= scales[:, None, None]
        finals = []
        for grid, upto in zip(grids, after, strict=True):
            x = np.tile(system.start, (number, 1))
            begin = 0
            for length, end in zip(np.diff(grid), upto, strict=True):
                advance(system, x, float(length), fine[begin:end].sum(axis=0))
                begin = end
            finals.append(x)
        sums += [((finals[i] - finals[j]) ** 2).sum() for i, j in pairs]
    return sums / runs
