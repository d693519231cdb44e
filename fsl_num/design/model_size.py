"""The best schedule under a compute budget, model size times samples: the size of the model is chosen with the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np

from fsl_num.design.theory import TheoryDesign, design_for_model, least_risk
from fsl_num.model import Model
from fsl_num.validation import entries, flag, instance_of, positive

_A_DECADE: Final = 3  # sizes tried before the best is refined
_LARGEST: Final = 1e100  # compute: the search takes 5 s there, and longer beyond
_ALL: Final = 40  # so many sizes are tried one by one
_NEAR: Final = 1.02  # risks whose ratio is less are compared step by step: of few steps cells tell them to a per cent


def design_for_compute(
    model: Model, compute: float, *, model_sizes: Sequence[float] = (), gamma: float | None = None,
    falling: bool = False, family: str | None = None,
) -> TheoryDesign:  # fmt: skip
    """Return the best model size, data, horizon, peak and shape of gamma for ``compute``, model size times samples.

    Parameters
    ----------
    model
        The task with its label noise; of any size, in whose place the best one is put.
    compute
        Model size times samples, at least 1.
    model_sizes
        To choose from; default: all whole numbers up to ``compute``.
    gamma
        The largest gamma allowed, below 2/tr(H) of the largest of these models; by default half of 2/tr(H), of each.
    falling
        Whether gamma must never rise.
    family
        As for :func:`~fsl_num.design.theory.design_for_model`; the size is then the best for the family.

    Returns
    -------
    TheoryDesign
        Of the best size, with ``compute`` set; its ``gap`` is to other schedules of that size.

    Raises
    ------
    ValueError
        For a budget below one feature and one sample, a size that leaves less than a sample, and a gamma at
        which training is unstable.

    Notes
    -----
    Source: eqn: fsl, eqn: FSL-optimization, with the compute budget of Table 1.

    Examples
    --------
    >>> found = design_for_compute(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0), 1e6)
    >>> found.model.size * found.data == 1e6, min(found.baselines.values()) > found.excess_risk
    (True, True)
    """
    instance_of("model", model, Model)
    budget = positive("compute", compute)
    if budget < 1.0:
        raise ValueError(f"compute must be at least 1, one feature and one sample, got {compute!r}")
    if budget > _LARGEST:
        raise ValueError(f"compute must be at most {_LARGEST:g}, where the search still takes seconds, got {compute!r}")
    falling = flag("falling", falling)
    models = [replace(model, size=size) for size in entries("model_sizes", model_sizes)]
    for model_tried in models:
        if model_tried.size > budget:
            raise ValueError(
                f"model sizes must be at most the compute, {budget:g}: of {model_tried.size:g} features it leaves"
                f" {budget / model_tried.size:.3g} samples, less than one"
            )
    largest = max(models, key=lambda model_tried: model_tried.size) if models else replace(model, size=float("inf"))
    if gamma is not None and positive("gamma", gamma) >= 2.0 / largest.trace:
        raise ValueError(
            f"gamma must be below 2/tr(H) = {2.0 / largest.trace:.6g}, where the largest of the models to choose from"
            f" ({largest.size:g} features) becomes unstable, got {gamma!r}"
        )

    @cache
    def risk(size: float) -> float:
        return least_risk(replace(model, size=size), budget / size, gamma, falling, family)

    sizes = [model_tried.size for model_tried in models] or _sizes_near_best(risk, np.floor(budget))
    risks = [risk(size) for size in sizes]
    designs = [
        design_for_model(replace(model, size=size), budget / size, gamma=gamma, falling=falling, family=family)
        for size, least in zip(sizes, risks, strict=True)
        if least <= _NEAR * min(risks)
    ]
    return replace(min(designs, key=lambda design_of_size: design_of_size.excess_risk), compute=budget)


def _sizes_near_best(risk: Any, largest: float) -> list[float]:
    """Whole numbers up to ``largest``, among them that of the least risk: a grid, and what lies around its best."""
    from scipy.optimize import minimize_scalar

    grid = np.unique(np.round(np.geomspace(1.0, largest, 2 + int(_A_DECADE * np.log10(largest)))))
    place = int(np.argmin([risk(size) for size in grid.tolist()]))
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, grid.size - 1)]
    if high - low <= _ALL:
        return [float(size) for size in np.arange(low, high + 1.0)]
    minimum: Any = minimize_scalar(
        lambda x: risk(float(np.round(np.exp(x)))), bounds=(np.log(low), np.log(high)), method="bounded",
        options={"xatol": 1e-3},
    )  # fmt: skip
    return [min((float(np.round(np.exp(minimum.x))), float(grid[place])), key=risk)]
