"""``fsl exponents``: the optimal exponents of one schedule under one budget, with their log powers and regimes."""

from __future__ import annotations

from fsl_num.cli.inputs import parameter_point
from fsl_num.cli.options import Arguments, Command, Names, Option, ScheduleNames, flag, json_option
from fsl_num.cli.output import show, show_json


def run(arguments: Arguments) -> int:
    """Derive and print."""
    point = parameter_point(arguments.s, arguments.beta)
    from fsl_num.report import allocations as report
    from fsl_sym.allocation import optimal_allocation

    allocation = optimal_allocation(arguments.schedule, arguments.budget)
    regimes = allocation.regimes if point is None else (allocation.at(*point),)
    derivations = allocation.derivations if arguments.derive else ()
    if arguments.json:
        record = report.allocation_json(allocation, regimes)
        show_json(
            record | ({"derivations": [report.derivation_json(each) for each in derivations]} if derivations else {})
        )
        return 0
    if arguments.latex:
        parts = [report.allocation_latex(allocation, regimes)]
        parts += [part for each in derivations for part in ("", each._repr_latex_())]
    else:
        parts = report.allocation_text(allocation, regimes)
        parts += [part for each in derivations for part in ("", report.derivation_text(each))]
    show(*parts)
    return 0


COMMANDS = {
    "exponents": Command(
        "exponents",
        run,
        [
            Option("--schedule", required=True, type=ScheduleNames("fsl_sym.laws:SCHEDULES"),
                   help="the learning-rate schedule"),
            Option("--budget", required=True, type=Names("fsl_sym.laws:BUDGETS"), help="what is fixed: D, or C = M D"),
            Option("--s", metavar="P/Q", help="relative task difficulty s > 0, exact; with --beta, one regime"),
            Option("--beta", metavar="P/Q", help="capacity exponent beta > 1, exact; with --s, one regime"),
            json_option(choice="form"),
            flag("--latex", "as LaTeX", choice="form"),
            flag("--derive", "show the derivation, step by step"),
        ],
        "Derive how excess risk, peak learning rate, model size, data size and decay fraction grow with the budget "
        "when they are chosen best.",
    )
}  # fmt: skip
