r"""The Neumann series of the equation, and how far its first order, the functional scaling law, is from the solution.

With (T phi)(t) = int_0^t K_M(t - z) gamma(z) phi(z) dz and g = delta_M + e_M + sigma^2 the equation reads
f + sigma^2 = g + T (f + sigma^2), hence

    f = delta_M + e_M + T g + T^2 g + ...

The functional scaling law keeps T g (the paper writes e_M + sigma^2 for g in it: what delta_M adds there is at most
gamma_max tr(H)/2 times the delta_M outside). All terms are positive, so with r_n = sup_t (T^(n+1) g / T^n g)(t), which
cannot grow with n, what is left out after T^n g is at most r_(n-1)/(1 - r_(n-1)) T^n g. In the supremum norm T shrinks
by gamma_max tr(H)/2 at least; the pointwise ratios may be larger, for g falls with t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.results import Result
from fsl_num.validation import Array, times, whole_count
from fsl_num.volterra.panels import collocation_points, halved, panel_ends, problem_modes, radau_rule
from fsl_num.volterra.problem import Problem

_MOST_TERMS = 1000
_RATIO = 1.35
_ROUNDING = 1e-12  # of a term, relative to the solution; measured against closed forms and 20 digits in the tests


@dataclass(frozen=True, eq=False)
class NeumannSeries(Result):
    """The series at the sorted times ``t``, in units of the excess risk E = f/2.

    ``forcing``: (delta + e)/2. ``terms``: row n - 1 holds T^n g/2. ``ratios``: entry n - 1 is sup (T^(n+1) g / T^n g)
    over all 0 < t <= horizon of a fine grid. ``largest``: entry n - 1 is sup T^n g/2, of which each is at most
    gamma_max tr(H)/2 times the one before. ``law_excess``: sup over the same grid of (2E - law)/T g for the law
    delta + e + T g; the truth lies between it and ``law_excess`` + ``law_excess_error`` (inf where the ratios do not
    bound the terms that were not computed).
    ``error``: estimated error of every term, relative to the excess risk at its time.
    """

    t: Array
    forcing: Array
    terms: Array
    ratios: Array
    largest: Array
    law_excess: float
    law_excess_error: float
    error: float

    @property
    def contraction(self) -> float:
        """sup T^2 g / T g: where it is r < 1 the law misses at most r/(1 - r) of its noise term."""
        return float(self.ratios[0])

    @property
    def partial_sums(self) -> Array:
        """Row n holds (delta + e + T g + ... + T^n g)/2, row 0 (delta + e)/2; row 1 is the functional scaling law."""
        return np.asarray(self.forcing + np.concatenate([np.zeros((1, self.t.size)), np.cumsum(self.terms, axis=0)]))

    @property
    def remainder(self) -> Array:
        """A bound for E minus the last partial sum at each time (inf where the last ratio is not below 1)."""
        return np.asarray(self.terms[-1] * _geometric(float(self.ratios[-1])))


def _geometric(ratio: float) -> float:
    return ratio / (1.0 - ratio) if ratio < 1.0 else float("inf")


def _apply(problem: Problem, ends: Array, remaining: Array, count: int) -> Array:
    """Return T^n g, n = 1 .. count, at the Radau points of all panels: an array (count, panels, points)."""
    modes, radau = problem_modes(problem), radau_rule()
    widths, t, gamma = collocation_points(problem, ends, remaining)
    source = problem.model.forcing(t.ravel()).reshape(t.shape) + problem.model.noise
    rates, weights = 2.0 * modes.rates, modes.kernel_weights
    ones, last = radau.inverse.sum(axis=1), radau.vectors[-1]
    state = np.zeros((count, rates.size))
    terms = np.empty((count, *t.shape))
    for i, h in enumerate(widths):
        turn = h * radau.eigenvalues
        damp = 1.0 / (1.0 + turn[:, None] * rates)
        faded = (state * rates) @ damp.T
        history = state.sum(axis=1)[:, None] - ((faded * (turn * ones)) @ radau.vectors.T).real
        response = ((radau.vectors * (turn * (damp @ weights))) @ radau.inverse).real
        injected, lost = source[i], rates * ((last * turn * ones) @ damp).real
        for n in range(count):
            driven = gamma[i] * injected
            injected = terms[n, i] = history[n] + response @ driven
            gain = ((last * turn * (radau.inverse @ driven)) @ damp).real
            state[n] += gain * weights - lost * state[n]
    return terms


def neumann_series(problem: Problem, t: Any, *, terms: int = 12) -> NeumannSeries:
    """Return the first ``terms`` >= 2 terms of the Neumann series at the times ``t`` in [0, horizon], sorted.

    Any schedule, size and spectrum, closure "volterra", in float64; at most 1000 terms. Raises ValueError for another
    closure, unstable problems (:class:`~fsl_num.volterra.problem.UnstableProblemError`), gamma = 0 (there is no term
    to compare) and times outside the range. Source: the operator T of equation labelled eqn: volterra-equation.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=100, noise=1.0), gamma=0.1, horizon=1000.0)
    >>> series = neumann_series(problem, [10.0, 1000.0])
    >>> series.contraction < problem.stability * 2
    True
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.closure != "volterra":
        raise ValueError(f"the Neumann series is that of the closure 'volterra', got {problem.closure!r}")
    problem.require_stable()
    if not problem.peak_gamma > 0.0:
        raise ValueError("gamma must be positive somewhere: at gamma = 0 all terms of the series vanish")
    count = whole_count("terms", terms, least=2)
    if count > _MOST_TERMS:
        raise ValueError(f"terms must be at most {_MOST_TERMS}, got {count}: they fall like powers of the contraction")
    array, _ = times("t", t, upper=problem.end * (1 + 1e-12))
    at_times = np.unique(np.minimum(array.ravel(), problem.end))
    if at_times.size == 0:
        raise ValueError("t must hold at least one time, got none")
    forcing = problem.model.forcing(at_times)
    previous, error = None, float("inf")
    ends, remaining = panel_ends(problem, at_times, _RATIO)
    for refinement in range(4):
        if refinement:
            ends, remaining = halved(problem, ends, remaining)
        series = _apply(problem, ends, remaining, count)
        at_ends = np.concatenate([np.zeros((count, 1)), series[:, :, -1]], axis=1)
        late = np.searchsorted(-remaining, -(problem.end - at_times))
        fine = at_ends[:, np.where(at_times < 0.5 * problem.end, np.searchsorted(ends, at_times), late)]
        if previous is not None:
            error = _ROUNDING + float((np.abs(fine - previous) / (forcing + fine.sum(axis=0))).max())
            if error <= 2.0 * _ROUNDING:
                break
        previous = fine
    grid = series.reshape(count, -1)
    # Early terms are powers of t: below 1e-200 they have no digits left, and they are far from any supremum there.
    seen = (grid > 1e-200).all(axis=0)
    if not seen.any():
        raise ValueError(f"gamma is so small that {count} terms underflow; ask for fewer terms")
    grid = grid[:, seen]
    # T is positive, so the true suprema fall with n; on the first panels, where T^n g is a high power of t that the
    # collocation cannot hold, computed ones may not.
    ratios = np.minimum.accumulate((grid[1:] / grid[:-1]).max(axis=1))
    above = grid[1:].sum(axis=0) / grid[0]
    tail = float((grid[-1] / grid[0]).max()) * _geometric(float(ratios[-1]))
    half, terms_of_risk, largest = (0.5 * part for part in (forcing, fine, grid.max(axis=1)))  # of f = 2E
    return NeumannSeries(at_times, half, terms_of_risk, ratios, largest, float(above.max()), tail, error)
