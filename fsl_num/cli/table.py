"""``fsl table``: Table 1 of the paper, derived, and that of every schedule of the catalogue."""

from __future__ import annotations

from fsl_num.cli.options import Arguments, Command, Names, Option, flag, json_option
from fsl_num.cli.output import counted, show, show_json


def run(arguments: Arguments) -> int:
    """Derive two allocations a schedule and print their excess risks."""
    from fsl_num.report import table as report
    from fsl_num.schedules import SCHEDULES as ALL
    from fsl_sym.allocation import table
    from fsl_sym.laws import SCHEDULES

    rows = table(counted("deriving optima", "schedule", tuple(ALL if arguments.all else SCHEDULES)))
    if arguments.json:
        show_json(report.table_json(rows))
    else:
        show(report.FORMATS[arguments.format](rows))
    return 0


COMMANDS = {
    "table": Command(
        "table",
        run,
        [
            Option("--format", type=Names("fsl_num.report.table:FORMATS"), default="text", help="how to print it",
                   show_default=True, choice="form"),
            json_option(choice="form"),
            flag("--all", "every schedule of the catalogue, not the paper's three alone"),
        ],
        "The optimal excess risk of three schedules, or of all, under a data and a compute budget, in every regime.",
    )
}  # fmt: skip
