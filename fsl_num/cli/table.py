"""``fsl table``: Table 1 of the paper, derived."""

from __future__ import annotations

from fsl_num.cli.options import Arguments, Command, Names, Option, json_option
from fsl_num.cli.output import show, show_json


def run(arguments: Arguments) -> int:
    """Derive the six allocations and print their excess risks."""
    from fsl_num.report import table as report
    from fsl_sym.allocation import table

    if arguments.json:
        show_json(report.table_json(table()))
    else:
        show(report.FORMATS[arguments.format](table()))
    return 0


COMMANDS = {
    "table": Command(
        "table",
        run,
        [
            Option("--format", type=Names("fsl_num.report.table:FORMATS"), default="text", help="how to print it",
                   show_default=True, choice="form"),
            json_option(choice="form"),
        ],
        "The optimal excess risk of three schedules under a data and a compute budget, in every regime.",
    )
}  # fmt: skip
