"""``fsl figure``: the paper's pictures of regression, computed anew and drawn."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from fsl_num.cli.inputs import InputError, refused
from fsl_num.cli.options import Arguments, Command, Option, flag
from fsl_num.cli.output import PICTURE_HELP, Outputs, show_json
from fsl_num.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsl_num.experiments.final_loss import PeakRule

_Drawn = tuple["Figure", dict[str, Any], list[Any]]


def run(arguments: Arguments) -> int:
    """Check where the picture goes, compute, draw and write it."""
    name = arguments.name
    if name not in _FIGURES:
        raise InputError(f"there is no figure {name!r}: choose {', '.join(_FIGURES)}")
    out = arguments.out if arguments.out is not None else f"{name}.png"
    outputs = Outputs({"--out": out}, pictures=("--out",), json=arguments.json)
    with refused():
        figure, numbers, text = _FIGURES[name](arguments.quick)
    outputs.draw("--out", lambda: figure)
    if arguments.json:
        show_json({"figure": name, "file": out, **numbers})
    else:
        outputs.show(*text, f"\nwritten to {out}")
    return 0


def _loss_dynamics(quick: bool) -> _Drawn:
    from fsl_num.experiments.loss_dynamics import loss_dynamics
    from fsl_num.report.loss_dynamics import loss_dynamics_figure, loss_dynamics_text

    dynamics = loss_dynamics(steps=1000, runs=50) if quick else loss_dynamics(runs=1000)
    return loss_dynamics_figure(dynamics), dynamics.as_dict(), loss_dynamics_text(dynamics)


def _fit_grid(quick: bool) -> _Drawn:
    from fsl_num.experiments.loss_dynamics import fit_grid
    from fsl_num.report.loss_dynamics import fit_grid_figure, fit_grid_text

    corners = [(0.5, 1.5), (0.5, 5.0), (1.0, 1.5), (1.0, 5.0)]
    cells = fit_grid(corners, steps=500) if quick else fit_grid(runs=200)
    return fit_grid_figure(cells), {"cells": [cell.as_dict() for cell in cells]}, fit_grid_text(cells)


def derived_rules(s: Any, beta: Any) -> list[PeakRule]:
    """Return the data-optimal peak rate and risk of each schedule, as derived, at one exact point (s, beta).

    >>> [(rule.schedule, rule.peak_power, rule.risk_power) for rule in derived_rules("1/2", 4)]
    [('constant', 0.3333333333333333, 0.3333333333333333), ('exp-decay', 0.0, 0.5), ('wsd', 0.0, 0.5)]
    """
    from fsl_num.experiments.final_loss import PeakRule
    from fsl_sym.allocation import optimal_allocation

    rules = []
    for name in ("constant", "exp-decay", "wsd"):
        quantities = optimal_allocation(name, "data").at(s=s, beta=beta).quantities
        peak, risk = quantities["peak_lr"].lower, quantities["excess_risk"].lower
        assert peak is not None and risk is not None
        rules.append(
            PeakRule(name, 0.0 - float(peak.power), float(peak.log_power), -float(risk.power), float(risk.log_power))
        )
    return rules


def _loss_scaling(quick: bool) -> _Drawn:
    from dataclasses import replace

    import numpy as np

    from fsl_num.experiments.final_loss import PRINTED_POWERS, final_losses, risks_by_peak_power
    from fsl_num.report.final_losses import loss_scaling_figure, loss_scaling_text

    rules = derived_rules("1/2", 4)
    budget = 10_000 if quick else 100_000
    powers = np.linspace(0.0, 1.0, 7 if quick else 25)
    largest, far, runs = (1e4, 1e18, 20) if quick else (1e7, 1e30, 200)
    losses = [final_losses(rule, largest=largest, farthest=far, runs=runs, seed=k) for k, rule in enumerate(rules)]
    printed = [
        final_losses(replace(rule, peak_power=PRINTED_POWERS[rule.schedule]), largest=min(largest, 1e6), farthest=far)
        for rule in rules
        if PRINTED_POWERS.get(rule.schedule, rule.peak_power) != rule.peak_power
    ]
    by_power = {rule.schedule: risks_by_peak_power(rule.schedule, powers.tolist(), budget=budget) for rule in rules}
    numbers = {
        "derived_peak": [loss.as_dict() for loss in losses],
        "printed_peak": [loss.as_dict() for loss in printed],
        "risk_by_peak_power": {
            "budget": budget,
            "power": (-powers).tolist(),
            **{name: risks.tolist() for name, risks in by_power.items()},
        },
    }
    return loss_scaling_figure(losses, printed, powers, by_power, budget), numbers, loss_scaling_text(losses, printed)


def _ladder(quick: bool) -> _Drawn:
    from fsl_num.report.ladder import ladder_figure, ladder_text
    from fsl_num.simulate.ladder import ladder
    from fsl_num.simulate.regression import Regression

    problem = Regression(Model(s=0.5, beta=4.0, size=128, noise=9.0))
    thresholds = (0.1,) if quick else (0.01, 0.03, 0.1, 0.3)
    steps, runs = (300, 50) if quick else (3000, 1000)
    rungs = ladder(problem, "wsd", peak=0.05, steps=steps, runs=runs, thresholds=thresholds)
    title = r"$s = 0.5$, $\beta = 4$, $M = N = 128$, $\sigma^2 = 9$, WSD, peak rate 0.05"
    setting = {"s": 0.5, "beta": 4.0, "model_size": 128, "noise": 9.0, "schedule": "wsd", "peak_lr": 0.05}
    return ladder_figure(rungs, title), {**setting, "steps": steps, "runs": runs, **rungs.as_dict()}, ladder_text(rungs)


_FIGURES: Final[MappingProxyType[str, Callable[[bool], _Drawn]]] = MappingProxyType(
    {"loss-dynamics": _loss_dynamics, "loss-scaling": _loss_scaling, "fit-grid": _fit_grid, "ladder": _ladder}
)

COMMANDS = {
    "figure": Command(
        "figure",
        run,
        [
            click.Argument(["name"], metavar="NAME"),
            Option("--out", metavar="FILE", help=f"a file {PICTURE_HELP}; default: NAME.png here"),
            flag("--quick", "small sizes, in seconds: a preview"),
            flag("--json", "print the numbers behind the picture as JSON"),
        ],
        "Draw a figure. NAME is loss-dynamics: SGD under three schedules and the fitted law (first figure, left); "
        "loss-scaling: final losses over data budgets (first figure, right); fit-grid: the fits over a grid of "
        "(s, beta) (appendix figure); ladder: the distance of each approximation on the way from SGD to the scaling "
        "law.",
    )
}
