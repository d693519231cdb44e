r"""Monte Carlo of the SDEs of one-pass SGD, in physical and in intrinsic time, by the scheme of Euler and Maruyama.

    d v = -phi grad R(v) d tau + phi sqrt((h/b) Sigma(v)) dB          (eqn: sde)
    d nu = -grad R(nu) dt + sqrt(gamma Sigma(nu)) dB                  (eqn: sde-instrinc)

Runs go in chunks of a size that depends on the model alone, each with random numbers of its own, and are merged in
order: so the result does not depend on who computed them.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.runs import Moments, checked_runs
from fsl_num.simulate.sde_grid import Grid, checked_clock, checked_steps, scheme_grid
from fsl_num.simulate.sde_moments import exact_sde_risk, grid_risk
from fsl_num.simulate.sde_paths import System, advance, sde_system
from fsl_num.simulate.streams import child
from fsl_num.validation import Array, flag, instance_of, known_executor, seed_sequence
from fsl_num.volterra.problem import UnstableProblemError

_NUMBERS = 16384  # numbers in the state of a chunk: some 128 kB, which stay in a core's cache
_MOST_RUNS = 1024


def simulate_chunk(system: System, grid: Grid, runs: int, seed: np.random.SeedSequence) -> Moments:
    """Return the mean of E over the runs at each record, and the sum of squares around it.

    >>> system = System(np.array([1.0]), np.array([1.0]), 0.0, 1.0)
    >>> grid = Grid(np.full(2, 0.1), np.full(2, 0.01), np.array([0, 2]))
    >>> float(simulate_chunk(system, grid, 3, np.random.SeedSequence(1)).mean[0])
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
            means[row] = risk[0] + np.mean(risk - risk[0])  # so that equal risks have no spread
            squares[row] = ((risk - means[row]) ** 2).sum()
    return Moments(runs, means, squares)


def simulate_sde(
    problem: Regression,
    rates: Any,
    batch_sizes: Any = 1,
    *,
    time: str = "physical",
    runs: int,
    seed: int | np.random.SeedSequence,
    every: int | None = None,
    substeps: int = 4,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> RiskCurve:
    """Return the mean excess risk of ``runs`` independent paths of the SDE, with its standard error.

    ``problem``: with Gaussian features, the first M of them or any projection, M finite. ``rates``: eta_0 .. eta_{K-1}
    >= 0, one of them positive; ``batch_sizes``: positive, one number or one a step. ``time``: "physical" or
    "intrinsic", the clock that the scheme cuts into equal parts: ``substeps`` parts a step of training, or parts of at
    most the largest rate over ``substeps``. ``runs`` >= 2; ``seed``: a whole number of at least 0 or a SeedSequence, of
    which the result is a function to the last bit, whatever the ``executor`` (any ``concurrent.futures.Executor``; None
    runs here). ``every``: record after so many steps. ``progress``: True or False for a bar or none, None for one on a
    terminal after two seconds.

    The message of the result tells the bias of the scheme, which is known exactly
    (:func:`~fsl_num.simulate.sde_moments.euler_maruyama_risk`). Raises ValueError or TypeError for arguments that do
    not fit, ValueError for other features, OverflowError where paths grow beyond the range of floats. Source: equations
    labelled eqn: sde and eqn: sde-instrinc.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=10, noise=1.0))
    >>> curve = simulate_sde(model, [0.1] * 50, time="intrinsic", runs=100, seed=1)
    >>> curve.method, curve.step.tolist(), bool(curve.excess_risk[1] < curve.excess_risk[0])
    ('sde-intrinsic', [0, 50], True)
    """
    instance_of("problem", problem, Regression)
    clock, executor = checked_clock(time), known_executor(executor)
    system = sde_system(problem)
    eta, batches = checked_steps(rates, batch_sizes)
    count = checked_runs(runs)
    recorded = record_steps(eta.size, every)
    grid = scheme_grid(clock, eta, batches, substeps, recorded)
    size = max(1, min(_MOST_RUNS, _NUMBERS // system.eigenvalues.size))
    sizes = [min(size, count - low) for low in range(0, count, size)]
    root = seed_sequence(seed)
    seeds = [child(root, index) for index in range(len(sizes))]
    columns = ([system] * len(sizes), [grid] * len(sizes), sizes, seeds)
    parts = map(simulate_chunk, *columns) if executor is None else executor.map(simulate_chunk, *columns)
    total = Moments(0, np.zeros(0), np.zeros(0))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in _shown(parts, len(sizes), f"sde-{clock}", progress):
            total = total.with_others(part)
    if not (np.isfinite(total.mean) & np.isfinite(total.squares)).all():
        raise OverflowError(
            f"the paths grow beyond all numbers at the largest learning rate {float(eta.max())!r}; lower it, or take"
            " more substeps"
        )
    message = _bias(problem, eta, batches, every, grid, count)
    return RiskCurve(recorded, total.mean, total.standard_error(), f"sde-{clock}", message)


def _shown(parts: Any, count: int, name: str, progress: bool | None) -> Any:
    from tqdm import tqdm

    disable = None if progress is None else not flag("progress", progress)
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
    worst = float((np.abs(scheme - exact) / np.where(exact > 0.0, exact, 1.0)).max())
    return f"{text}; the scheme expects within {worst:.1e} of the equation"
