r"""Monte Carlo of the SDEs of one-pass SGD, in physical and in intrinsic time, by the scheme of Euler and Maruyama.

    d v = -phi grad R(v) d tau + phi sqrt((h/b) Sigma(v)) dB          (eqn: sde)
    d nu = -grad R(nu) dt + sqrt(gamma Sigma(nu)) dB                  (eqn: sde-instrinc)

Runs go in chunks of a size that depends on the model alone, each with random numbers of its own, and are merged in
order: so the result does not depend on who computed them.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any

import numpy as np

from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde_grid import Grid, checked_clock, checked_steps, scheme_grid
from fsl_num.simulate.sde_moments import exact_sde_risk, grid_risk
from fsl_num.simulate.sde_paths import System, advance, sde_system
from fsl_num.validation import Array, whole_size
from fsl_num.volterra.problem import UnstableProblemError

_NUMBERS = 16384  # numbers in the state of a chunk: some 128 kB, which stay in a core's cache
_MOST_RUNS = 1024


def _chunk_size(modes: int) -> int:
    return max(1, min(_MOST_RUNS, _NUMBERS // modes))


def simulate_chunk(system: System, grid: Grid, runs: int, seed: np.random.SeedSequence) -> tuple[int, Array, Array]:
    """Return the number of runs, and at each record the mean of E over them and the sum of squares around it.

    >>> system = System(np.array([1.0]), np.array([1.0]), 0.0, 1.0)
    >>> grid = Grid(np.full(2, 0.1), np.full(2, 0.01), np.array([0, 2]))
    >>> float(simulate_chunk(system, grid, 3, np.random.SeedSequence(1))[1][0])
    0.5
    """
    generator = np.random.default_rng(seed)
    x = np.tile(system.start, (runs, 1))
    noise = np.empty_like(x)
    scales = np.sqrt(grid.variances)
    means, squares = np.empty(grid.records.size), np.empty(grid.records.size)
    done = 0
    with np.errstate(over="ignore", invalid="ignore"):  # what grows beyond floats is refused by the caller
        for row, upto in enumerate(grid.records):
            for step in range(done, upto):
                generator.standard_normal(out=noise)
                noise *= scales[step]
                advance(system, x, float(grid.lengths[step]), noise)
            done = upto
            risk = 0.5 * (np.einsum("ij,ij->i", x, x) + system.tail)
            means[row] = risk.mean()
            squares[row] = ((risk - means[row]) ** 2).sum()
    return runs, means, squares


def merged(parts: Iterable[tuple[int, Array, Array]]) -> tuple[int, Array, Array]:
    """Return the number, the mean and the sum of squares around it of all ``parts`` together, taken in their order.

    >>> one, two = (1, np.array([1.0]), np.array([0.0])), (1, np.array([3.0]), np.array([0.0]))
    >>> merged([one, two])
    (2, array([2.]), array([2.]))
    """
    found: tuple[int, Array, Array] | None = None
    for count, mean, squares in parts:
        if found is None:
            found = count, mean, squares
            continue
        before, middle, spread = found
        total, shift = before + count, mean - middle
        found = total, middle + shift * (count / total), spread + squares + shift**2 * (before * count / total)
    assert found is not None, "there is at least one chunk"
    return found


def simulate_sde(
    problem: Regression,
    rates: Any,
    batch_sizes: Any = 1,
    *,
    time: str = "physical",
    runs: int,
    seed: int,
    every: int | None = None,
    substeps: int = 4,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> RiskCurve:
    """Return the mean excess risk of ``runs`` independent paths of the SDE, with its standard error.

    ``problem``: with Gaussian features, the first M of them or any projection, M finite. ``rates``: eta_0 .. eta_{K-1}
    >= 0, one of them positive; ``batch_sizes``: positive, one number or one a step. ``time``: "physical" or
    "intrinsic", the clock that the scheme cuts into equal parts: ``substeps`` parts a step of training, or parts of at
    most the largest rate over ``substeps``. ``runs`` >= 2; ``seed``: a whole number, of which the result is a function
    to the last bit, whatever the ``executor`` (any ``concurrent.futures.Executor``; None runs here). ``every``: record
    after so many steps. ``progress``: True or False for a bar or none, None for one on a terminal after two seconds.

    The message of the result tells the bias of the scheme, which is known exactly
    (:func:`~fsl_num.simulate.sde_moments.euler_maruyama_risk`). Raises ValueError for arguments that do not fit, for
    other features, and where paths grow beyond the range of floats. Source: equations labelled eqn: sde and
    eqn: sde-instrinc.

    >>> model = Regression(s=0.5, beta=2.0, model_size=10, noise=1.0)
    >>> curve = simulate_sde(model, [0.1] * 50, time="intrinsic", runs=100, seed=1)
    >>> curve.method, curve.step.tolist(), bool(curve.excess_risk[1] < curve.excess_risk[0])
    ('sde-intrinsic', [0, 50], True)
    """
    clock = checked_clock(time)
    system = sde_system(problem)
    eta, batches = checked_steps(rates, batch_sizes)
    count = int(whole_size("runs", runs, infinite=False, least=2))
    wanted = record_steps(eta.size, every)
    grid = scheme_grid(clock, eta, batches, substeps, wanted)
    size = _chunk_size(system.eigenvalues.size)
    sizes = [min(size, count - low) for low in range(0, count, size)]
    # a number, not a sequence that was spawned from before: those count how often
    seeds = np.random.SeedSequence(int(whole_size("seed", seed, infinite=False, least=0))).spawn(len(sizes))
    columns = ([system] * len(sizes), [grid] * len(sizes), sizes, seeds)
    parts = map(simulate_chunk, *columns) if executor is None else executor.map(simulate_chunk, *columns)
    _, mean, squares = merged(_shown(parts, len(sizes), f"sde-{clock}", progress))
    if not (np.isfinite(mean) & np.isfinite(squares)).all():
        raise ValueError(
            f"the paths grow beyond all numbers at the largest learning rate {float(eta.max())!r}; lower it, or take"
            " more substeps"
        )
    error = np.sqrt(squares / (count - 1) / count)
    return RiskCurve(wanted, mean, error, f"sde-{clock}", _bias(problem, eta, batches, every, grid, count))


def _shown(parts: Any, count: int, name: str, progress: bool | None) -> Any:
    from tqdm import tqdm

    disable = None if progress is None else not progress
    return tqdm(parts, total=count, desc=name, delay=0.0 if progress else 2.0, leave=False, disable=disable)


def _bias(problem: Regression, rates: Array, batches: Array, every: int | None, grid: Grid, runs: int) -> str:
    """Return the sentence about the scheme: what it expects against what the equation expects."""
    text = f"{runs} runs"
    try:
        exact = exact_sde_risk(problem, rates, batches, every=every).excess_risk
    except UnstableProblemError:
        return f"{text}; at these learning rates the expected risk of the equation may grow without bound"
    try:
        scheme = grid_risk(problem, grid)
    except OverflowError:
        return f"{text}; the expected risk of the scheme grows without bound, not that of the equation: more substeps"
    worst = float(np.abs(scheme / np.where(exact > 0.0, exact, 1.0) - 1.0).max())
    return f"{text}; the scheme expects within {worst:.1e} of the equation"
