"""fsl_num measures: solvers, quadrature and brute force that know the model and no derived formula.

Nothing is imported until a name is used, so that ``import fsl_num`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME: dict[str, str] = {
    "Constant": "schedules",
    "Cosine": "schedules",
    "Discrete": "schedules",
    "ExponentialDecay": "schedules",
    "Linear": "schedules",
    "Modes": "compression",
    "PowerDecay": "schedules",
    "Problem": "volterra",
    "Schedule": "schedules",
    "Solution": "volterra",
    "Spectrum": "volterra",
    "StableDecay": "schedules",
    "UnstableProblemError": "volterra",
    "approximation_error": "spectrum",
    "batch_noise_functional": "functional",
    "claim": "theorems.registry",
    "claims": "theorems.registry",
    "compress": "compression",
    "eigenvalues": "spectrum",
    "errata": "theorems.errata",
    "exponential_sum": "spectrum",
    "forgetting_kernel": "spectrum",
    "functional_scaling_law": "functional",
    "growth_exponents": "growth",
    "final_loss_gradient": "volterra.gradient",
    "hear": "theorems.court",
    "hear_all": "theorems.court",
    "kernel_integral": "spectrum",
    "losses_of_schedules": "volterra.many",
    "losses_of_steps": "volterra.discrete",
    "minimise_law": "minimise",
    "near_optimal_interval": "minimise",
    "neumann_series": "volterra.neumann",
    "noise_functional": "functional",
    "scaling_functional": "functional",
    "schedule": "schedules",
    "signal": "spectrum",
    "solve": "volterra",
    "trace": "spectrum",
}
"""Public name -> module that defines it."""

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; public names: {', '.join(sorted(_HOME))}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
