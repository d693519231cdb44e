"""fsl_num measures: solvers, quadrature and brute force that know the model and no derived formula.

Nothing is imported until a name is used, so that ``import fsl_num`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME: dict[str, str] = {
    "Consecutive": "schedules",
    "Constant": "schedules",
    "Cosine": "schedules",
    "Cyclic": "schedules",
    "Design": "design.design",
    "Discrete": "schedules",
    "EightOneOne": "schedules",
    "ExponentialDecay": "schedules",
    "FinalLossFit": "curves.size_result",
    "FitResult": "curves.result",
    "InverseSqrt": "schedules",
    "Linear": "schedules",
    "LossCurve": "curves.curve",
    "Model": "model",
    "Modes": "compression",
    "MultiStep": "schedules",
    "OneMinusSqrt": "schedules",
    "PeriodicSobolev": "simulate.sobolev",
    "Plan": "curves.plan",
    "PowerDecay": "schedules",
    "Problem": "volterra",
    "Regression": "simulate.regression",
    "RiskCurve": "simulate.curve",
    "Schedule": "schedules",
    "Solution": "volterra",
    "Spectrum": "given_spectrum",
    "StableDecay": "schedules",
    "UnstableProblemError": "volterra",
    "approximation_error": "spectrum",
    "as_schedule": "schedules",
    "batch_noise_functional": "functional",
    "bias_ratios": "simulate.random_features",
    "breaking_rates": "simulate.ladder_breaking",
    "claim": "claims.registry",
    "all_claims": "claims.registry",
    "compress": "compression",
    "curve_from": "curves.logs",
    "design_for_compute": "design.model_size",
    "design_for_model": "design.theory",
    "design_schedule": "design.schedule",
    "eigenvalue_ratios": "simulate.concentration",
    "eigenvalues": "spectrum",
    "errata": "claims.errata",
    "exact_risk": "simulate.recursion",
    "exact_risk_matrix": "simulate.matrix_recursion",
    "exact_sde_risk": "simulate.sde_moments",
    "exponential_sum": "spectrum",
    "final_losses": "experiments.final_loss",
    "final_risk_gradient": "volterra.gradient",
    "export": "schedules.export",
    "fit": "curves.fit",
    "fit_final_losses": "curves.size_fit",
    "forecast": "curves.forecast",
    "forgetting_kernel": "spectrum",
    "functional_scaling_law": "functional",
    "growth_exponents": "growth",
    "verify": "claims.runner",
    "verify_all": "claims.runner",
    "held_out_errors": "curves.size_fit",
    "hypercontractivity_constants": "simulate.hypercontractivity",
    "kernel_integral": "spectrum",
    "ladder": "simulate.ladder",
    "loss_dynamics": "experiments.loss_dynamics",
    "minimise_law": "minimise",
    "near_optimal_interval": "minimise",
    "near_optimal_intervals": "minimise",
    "neumann_series": "volterra.neumann",
    "next_run": "curves.next_run",
    "noise_covariance": "simulate.noise_covariance",
    "noise_functional": "functional",
    "plan_from_fit": "report.planner_from_fit",
    "plan_run": "report.planner",
    "plot_formula": "report.formulas",
    "random_projection": "simulate.random_features",
    "read_curve": "curves.reading",
    "read_curves": "curves.reading",
    "risks_of_schedules": "volterra.steps.many",
    "rivals": "design.rivals",
    "scaling_functional": "functional",
    "schedule": "schedules",
    "signal": "spectrum",
    "simulate_sde": "simulate.sde",
    "simulate_sgd": "simulate.monte_carlo",
    "solve": "volterra",
    "step_rates": "schedules",
    "trace": "spectrum",
    "with_floor": "schedules",
    "with_warmup": "schedules",
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
