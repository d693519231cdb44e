"""The ``fsl`` command: one file a subcommand, nothing heavy imported before a subcommand runs.

Exit status: 0 all is well, 1 a claim did not pass, 2 what was typed cannot be used (one sentence on standard error).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from fsl_num.cli import claims, errata, exponents, figure, fit, simulate, solve, table, verify
from fsl_num.cli.inputs import InputError, Parser, signed_values_joined

COMMANDS = (verify, claims, errata, exponents, table, solve, simulate, figure, fit)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``fsl`` command and return its exit status.

    Args:
        argv: the words after ``fsl``; those of the process by default.

    >>> main(["exponents", "--schedule", "wsd", "--budget", "data", "--s", "0.5", "--beta", "4"])
    2
    """
    parser = build_parser()
    try:
        arguments = parser.parse_args(signed_values_joined(sys.argv[1:] if argv is None else argv))
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        print(f"fsl: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output left, as `head` does; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("fsl: interrupted", file=sys.stderr)
        return 130


def build_parser() -> Parser:
    """The parser of the whole command."""
    parser = Parser(
        prog="fsl", description="Functional scaling laws: derived, measured and judged.", allow_abbrev=False
    )
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for command in COMMANDS:
        command.register(subcommands)
    return parser
