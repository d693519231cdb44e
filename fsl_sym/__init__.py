"""fsl_sym derives: exact symbolic mathematics of functional scaling laws.

Nothing is imported until a name is used, so that ``import fsl_sym`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME: dict[str, str] = {
    "Allocation": "allocation",
    "AllocationRegime": "allocation",
    "Certificate": "exponents.certificate",
    "ClosedForm": "integrals",
    "Derivation": "proof",
    "Domain": "domain",
    "Expansion": "asymptotics.mellin",
    "ExponentSolution": "exponents.solve",
    "Formula": "proof",
    "FunctionalScalingLaw": "functional",
    "I1": "integrals",
    "I2": "integrals",
    "Order": "order",
    "OrderRange": "order",
    "Progress": "exponents.clock",
    "REGIMES": "domain",
    "Regime": "domain",
    "Region": "exponents.solve",
    "ScalingLaw": "laws",
    "Schedule": "schedules",
    "Step": "proof",
    "Theorem": "proof",
    "after_stable_phase": "schedules.own",
    "approximation_error_asymptotics": "spectrum",
    "approximation_error_expansion": "spectrum",
    "change_of_time": "functional",
    "check": "exponents.certificate",
    "convert": "notations",
    "decide": "domain",
    "dominant": "order",
    "functional_scaling_law": "functional",
    "harmonic_sum_asymptotics": "asymptotics.mellin",
    "kernel_asymptotics": "spectrum",
    "noise_integral": "integrals",
    "notation": "notations",
    "optimal_allocation": "allocation",
    "optimal_exponents": "exponents.solve",
    "optimal_exponents_at": "exponents.solve",
    "own_schedule": "schedules.own",
    "physical_noise": "functional",
    "regime_of": "domain",
    "scaling_law": "laws",
    "schedule": "schedules",
    "schedule_with_end": "schedules.own",
    "signal_asymptotics": "spectrum",
    "stable_phase_noise": "integrals",
    "table": "allocation",
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
