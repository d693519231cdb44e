"""``fsl exponents``: the optimal exponents of one schedule under one budget, with their log powers and regimes."""

from __future__ import annotations

import argparse
import json
from typing import Any

from fsl_num.cli.inputs import parameter_point

SCHEDULES = ("constant", "exp-decay", "wsd")
BUDGETS = ("data", "compute")


def register(subcommands: Any) -> None:
    """Add ``exponents`` to the command."""
    parser: argparse.ArgumentParser = subcommands.add_parser(
        "exponents",
        help="derive the optimal exponents of a schedule",
        description="Derive how excess risk, peak learning rate, model size, data size and decay fraction grow with "
        "the budget when they are chosen best.",
    )
    parser.add_argument("--schedule", required=True, choices=SCHEDULES, help="the learning-rate schedule")
    parser.add_argument("--budget", required=True, choices=BUDGETS, help="what is fixed: data D or compute C = M D")
    parser.add_argument("--s", metavar="P/Q", help="relative task difficulty s > 0, exact; with --beta, one regime")
    parser.add_argument("--beta", metavar="P/Q", help="capacity exponent beta > 1, exact; with --s, one regime")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON; every power is an expression in s and beta")
    form.add_argument("--latex", action="store_true", help="as LaTeX")
    parser.add_argument("--derive", action="store_true", help="show the derivation, step by step")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Derive and print."""
    point = parameter_point(arguments.s, arguments.beta)
    from fsl_num.report import allocations as report
    from fsl_sym.allocation import optimal_allocation

    allocation = optimal_allocation(arguments.schedule, arguments.budget)
    regimes = allocation.regimes
    if point is not None:
        regimes = (allocation.at(*point),)
    if arguments.json:
        record = report.allocation_json(allocation, regimes)
        if arguments.derive:
            record["derivation"] = report.derivation_json(allocation.derivation)
        print(json.dumps(record, indent=2))
        return 0
    if arguments.latex:
        print(report.allocation_latex(allocation, regimes))
    else:
        print(report.allocation_text(allocation, regimes))
    if arguments.derive:
        print()
        print(
            allocation.derivation._repr_latex_() if arguments.latex else report.derivation_text(allocation.derivation)
        )
    return 0
