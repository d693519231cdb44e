r"""The loss and the functional scaling law of one model at one horizon, for many piecewise-constant schedules.

The equation is collocated on a mesh that is graded towards both ends of [0, T]; u = f + sigma^2 is linear on a cell and
gamma constant. With K_M a short sum of exponentials the weights of the cells are exact, so that

    u = source + (L shifted + R) gamma u,    L, R >= 0 lower triangular:

one triangular solve a schedule, one more for the gradient with respect to gamma on every cell. Loss and law come from
the same weights, and the weights are positive: law <= loss holds on the mesh as it does in truth. The mesh error of
loss/law (a few 1e-3 of the excess over 1) is measured in the tests against the solvers of the package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fsl_num.compression import compress
from fsl_num.spectrum import approximation_error, trace
from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes

FIRST_CELL = 0.05
"""Length of the cells at the two ends, in units of 1/lambda_1, the fastest scale of the kernel."""
GROWTH = 1.35
"""Each cell is this much longer than its neighbour nearer to the end."""
ACCURACY = 1e-8
"""Relative error of K_M and e_M as sums of exponentials: far below the mesh error, with half the modes of 1e-13."""
DECADES = 6.0
"""One such sum serves all horizons up to the next multiple of this many decades."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Nodes of [0, T] as times ``t`` and as ``remaining`` = T - t; ``lengths`` of the cells between them."""

    t: Array
    remaining: Array
    lengths: Array

    @property
    def middles(self) -> Array:
        """Middle of every cell as a share of the horizon."""
        return np.asarray(0.5 * (self.t[:-1] + self.t[1:]) / self.t[-1])


def graded_mesh(horizon: float) -> Mesh:
    """The mesh of [0, horizon], symmetric about its middle; ValueError unless it is longer than four first cells.

    >>> float(graded_mesh(100.0).t[-1])
    100.0
    """
    if not horizon > 4.0 * FIRST_CELL:
        raise ValueError(f"the horizon must exceed four first cells, {4.0 * FIRST_CELL}, not {horizon}")
    count = math.ceil(math.log(1.0 + 0.5 * horizon / FIRST_CELL * (GROWTH - 1.0)) / math.log(GROWTH))
    half = np.cumsum(GROWTH ** np.arange(count))
    half *= 0.5 * horizon / half[-1]
    edges = np.concatenate([[0.0], half])
    remaining = np.concatenate([horizon - edges, edges[-2::-1]])
    t = np.concatenate([edges, horizon - edges[-2::-1]])
    lengths = np.diff(edges)
    return Mesh(t, remaining, np.concatenate([lengths, lengths[::-1]]))


def cell_weights(turns: Array) -> tuple[Array, Array]:
    """int_0^1 exp(-x y) y dy and int_0^1 exp(-x y) (1 - y) dy at x = ``turns`` >= 0.

    >>> [float(weight[0]) for weight in cell_weights(np.array([0.0]))]
    [0.5, 0.5]
    """
    from fsl_num.volterra.mesh_kernel import fill_cell_weights

    left, right = np.empty(turns.shape), np.empty(turns.shape)
    fill_cell_weights(turns.ravel(), left.ravel(), right.ravel())
    return left, right


@dataclass(frozen=True, eq=False)
class MeshEquation:
    """One model (``s``, ``beta``, ``size`` M, whole or inf) up to one ``horizon``; see the module.

    ``left`` and ``right``: weights of u at the two ends of every cell, one row a node. ``signal``: e_M at the nodes.
    ``trace``: tr(H) of the model's own features.
    """

    s: float
    beta: float
    size: float
    mesh: Mesh
    modes: LinearModes
    left: Array
    right: Array
    signal: Array
    trace: float

    @property
    def delta(self) -> float:
        """delta_M."""
        return self.modes.delta

    def operator(self, gammas: Array) -> Array:
        """The matrix of the operator T: phi -> int K_M gamma phi at the nodes."""
        matrix = np.zeros((self.mesh.t.size,) * 2)
        matrix[:, :-1] += self.left * gammas
        matrix[:, 1:] += self.right * gammas
        return matrix

    def parts(self, gammas: Array) -> dict[str, float]:
        """The terms of the law at the end, sigma^2 = 1, and of the loss by source; loss = delta + e + ... by linearity.

        ``delta``, ``e``, ``label`` = int K gamma, ``batch`` = int K gamma e; ``loss_e`` and ``loss_one``: the losses
        that the sources e_M and 1 leave, so that f = loss_e + delta loss_one + sigma^2 (loss_one - 1);
        ``noise_one`` = loss_one - 1 without cancellation.
        """
        from fsl_num.volterra.mesh_kernel import solved

        left, right = self.left[-1] * gammas, self.right[-1] * gammas
        sources = self.signal, np.ones_like(self.signal)
        first = [float(left @ source[:-1] + right @ source[1:]) for source in sources]
        solutions = [solved(self.left, self.right, gammas, source) for source in sources]
        again = [float(left @ solution[:-1] + right @ solution[1:]) for solution in solutions]
        return {
            "delta": self.delta, "e": float(self.signal[-1]), "label": first[1], "batch": first[0],
            "loss_e": float(self.signal[-1]) + again[0], "loss_one": 1.0 + again[1], "noise_one": again[1],
        }  # fmt: skip

    def final_risk(self, gammas: Array, noise: float) -> tuple[float, Array]:
        """The excess risk at the end, half of the loss, and its gradient in gamma, the lengths of the cells kept."""
        from fsl_num.volterra.mesh_kernel import slopes, solved

        u = solved(self.left, self.right, gammas, self.signal + self.delta + noise)
        injected = float(self.left[-1] * gammas @ u[:-1] + self.right[-1] * gammas @ u[1:])
        loss = self.delta + float(self.signal[-1]) + injected
        return 0.5 * loss, 0.5 * slopes(self.left, self.right, gammas, u)

    def excess(self, gammas: Array, noise: float, *, infinite: bool = False) -> tuple[float, Array]:
        """log(loss/law) at the end and its gradient in gamma; law = delta + e + int K gamma (e + noise).

        The law is the paper's: sigma^2 = ``noise`` and e_M under the integral, delta_M outside it only; with
        ``infinite`` the law has K_infinity and e_infinity in place of K_M and e_M.
        """
        risk, slope = self.final_risk(gammas, noise)
        loss, slope = 2.0 * risk, 2.0 * slope
        left, right, signal = self.left[-1], self.right[-1], self.signal
        if infinite:
            left, right, signal = infinite_row(self.s, self.beta, float(self.mesh.t[-1]))
        source = signal + noise
        law_slope = left * source[:-1] + right * source[1:]
        law = self.delta + float(signal[-1]) + float(law_slope @ gammas)
        return math.log(loss / law), slope / loss - law_slope / law


@lru_cache(maxsize=256)
def mesh_equation(s: float, beta: float, size: float, horizon: float) -> MeshEquation:
    """The equation of a model up to a horizon (intrinsic time), on its mesh.

    >>> equation = mesh_equation(0.5, 2.0, 100.0, 1e3)
    >>> parts = equation.parts(np.full(equation.mesh.lengths.size, 0.1))
    >>> parts["loss_e"] > parts["e"] + parts["batch"] > 0
    True
    """
    return equation_of_modes(s, beta, size, horizon, few_modes(s, beta, size, horizon), trace(beta, size))


def equation_of_modes(
    s: float, beta: float, size: float, horizon: float, modes: LinearModes, trace: float
) -> MeshEquation:
    """The equation of any modes, whose eigenvalues and targets have the powers s and beta, on its mesh.

    >>> modes = LinearModes(np.array([2.0, 0.5]), np.array([1.0, 0.0625]), np.array([1.0, 0.25]), 0.1, 0.0, 0.0)
    >>> equation_of_modes(1.0, 2.0, 2.0, 1e3, modes, 1.25).delta
    0.1
    """
    mesh = graded_mesh(horizon)
    left, right = kernel_weights(modes, mesh)
    signal = np.exp(-np.multiply.outer(mesh.t, modes.rates)) @ modes.start
    return MeshEquation(s, beta, size, mesh, modes, left, right, signal, trace)


def few_modes(s: float, beta: float, size: float, horizon: float) -> LinearModes:
    """K_M and e_M up to the horizon as sums of few exponentials on shared rates, relative error ACCURACY.

    >>> few_modes(0.5, 2.0, 100.0, 1e3) is few_modes(0.5, 2.0, 100.0, 1e4)
    True
    """
    last = 10.0 ** (DECADES * math.ceil(math.log10(max(horizon, 1.0)) / DECADES))
    # Beyond M^beta a sum that serves all times has few modes more.
    return _few_modes(s, beta, size, math.inf if math.isfinite(size) and last >= size**beta else last)


@lru_cache(maxsize=256)
def _few_modes(s: float, beta: float, size: float, horizon: float) -> LinearModes:
    modes = compress(s, beta, size, horizon, rtol=ACCURACY)
    missed = float(approximation_error(s, beta, size))
    return LinearModes(2.0 * modes.rates, modes.kernel_weights, modes.signal_weights, missed, 0.0, modes.error)


def kernel_weights(modes: LinearModes, mesh: Mesh) -> tuple[Array, Array]:
    """int over each cell of K(t_i - z) times the two hat functions, one row for each node i."""
    from fsl_num.volterra.mesh_kernel import fill_weights

    turns = np.multiply.outer(mesh.lengths, modes.rates)
    parts = np.stack(cell_weights(turns)) * mesh.lengths[:, None]
    sums = np.zeros((2, mesh.t.size, mesh.lengths.size))
    fill_weights(parts, np.exp(-turns), modes.weights, sums)
    return sums[0], sums[1]


def last_row(modes: LinearModes, mesh: Mesh) -> tuple[Array, Array]:
    """The same for the last node alone."""
    turns = np.multiply.outer(modes.rates, mesh.lengths)
    far, near = (modes.weights[:, None] * mesh.lengths * weight for weight in cell_weights(turns))
    decay = np.exp(-np.multiply.outer(modes.rates, mesh.remaining[1:]))
    return (far * decay).sum(axis=0), (near * decay).sum(axis=0)


@lru_cache(maxsize=1024)
def infinite_row(s: float, beta: float, horizon: float) -> tuple[Array, Array, Array]:
    """Weights of the last node for K_infinity, and e_infinity at the nodes."""
    modes = few_modes(s, beta, math.inf, horizon)
    mesh = graded_mesh(horizon)
    left, right = last_row(modes, mesh)
    return left, right, np.exp(-np.multiply.outer(mesh.t, modes.rates)) @ modes.start


def infinite_parts(equation: MeshEquation, gammas: Array) -> dict[str, float]:
    """``e_inf``, ``label_inf`` = int K_inf gamma, ``batch_inf`` = int K_inf gamma e_inf, ``batch_mixed`` with e_M."""
    left, right, signal = infinite_row(equation.s, equation.beta, float(equation.mesh.t[-1]))
    parts = {"e_inf": float(signal[-1])}
    for name, source in (("label_inf", np.ones_like(signal)), ("batch_inf", signal), ("batch_mixed", equation.signal)):
        parts[name] = float((left * source[:-1] + right * source[1:]) @ gammas)
    return parts


def gaussian_march(equation: MeshEquation, schedules: Sequence[Array]) -> Array:
    """u = base + sum of the modes at every node for Gaussian features; shape (nodes, schedules, 2).

    The two columns are the sources e_M (base 0) and 1 (base 1). Each mode loses 2 lambda - gamma lambda^2 in place of
    2 lambda: the exact second moments of the SDE. The input u is linear on a cell, as before.
    """
    from fsl_num.volterra.mesh_kernel import march

    modes, lengths = equation.modes, equation.mesh.lengths
    values = np.empty((equation.mesh.t.size, len(schedules), 2))
    march(lengths, np.stack(schedules, axis=1), modes.rates, modes.weights, modes.start, values)
    return values


def gaussian_parts(equation: MeshEquation, schedules: Sequence[Array]) -> list[dict[str, float]]:
    """``loss_e``, ``loss_one`` and ``noise_one`` of each schedule (:meth:`MeshEquation.parts`), Gaussian features."""
    total = gaussian_march(equation, schedules)[-1]
    return [{"loss_e": float(e), "loss_one": 1.0 + float(noise), "noise_one": float(noise)} for e, noise in total]
