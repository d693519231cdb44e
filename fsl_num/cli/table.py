"""``fsl table``: Table 1 of the paper, derived."""

from __future__ import annotations

import argparse
import json
from typing import Any

FORMATS = ("text", "markdown", "latex")


def register(subcommands: Any) -> None:
    """Add ``table`` to the command."""
    parser: argparse.ArgumentParser = subcommands.add_parser(
        "table",
        help="derive Table 1 of the paper",
        description="The optimal excess risk of three schedules under a data and a compute budget, in every regime.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, default="text", help="how to print it (default: text)")
    form.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Derive the six allocations and print their excess risks."""
    from fsl_num.report import table as report
    from fsl_sym.allocation import table

    rows = table()
    if arguments.json:
        print(json.dumps(report.table_json(rows), indent=2))
    else:
        print(report.table(rows, arguments.format))
    return 0
