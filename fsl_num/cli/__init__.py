"""The ``fsl`` command: one file a subcommand, imported when it is asked for.

Exit status: 0 all is well, 1 a claim did not pass, 2 what was typed cannot be used (one sentence on standard error).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import Final

import click

from fsl_num.cli.inputs import InputError, one_line

COMMANDS: Final = MappingProxyType(
    {
        "verify": ("verify", "check the claims of the paper and judge them"),
        "list": ("claims", "list the claims"),
        "show": ("claims", "show one claim: hypotheses, derivation, check, test and verdict"),
        "errata": ("errata", "show the mistakes found in the paper"),
        "exponents": ("exponents", "derive the optimal exponents of a schedule"),
        "table": ("table", "derive Table 1 of the paper"),
        "solve": ("solve", "solve the Volterra equation of the excess risk"),
        "simulate": ("simulate", "run one-pass SGD, exactly or by sampling"),
        "figure": ("figure", "draw one of the paper's figures, computed anew"),
        "fit": ("fit", "fit a law to training logs, and predict others"),
        "predict": ("fit", "predict the loss of a schedule from a saved fit"),
        "forecast": ("forecast", "where a run under way ends, and what decaying now would give"),
        "compare": ("fit", "compare laws: fit some runs, predict others"),
    }
)
"""Name of a command -> its module, and what it does."""

EXAMPLES: Final = (
    ("You have a theory: the optimal exponents of a schedule, derived", "fsl exponents --schedule wsd --budget data"),
    ("You want to verify: a theorem of the paper, derived and measured", 'fsl verify "thm: wsd"'),
    (
        "You train models: the loss of a schedule, with its error",
        "fsl solve --s 1/2 --beta 2 --model-size 100 --noise 1 --schedule cosine --peak-lr 0.3 --steps 10000",
    ),
)
"""What ``fsl`` alone shows: each works as it is typed."""


class Commands(click.Group):
    """The whole command; a subcommand is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of that name; an error that names the closest where there is none."""
        if cmd_name not in COMMANDS:
            near = get_close_matches(cmd_name, COMMANDS, 3, 0.5) or list(COMMANDS)
            ctx.fail(f"there is no command {cmd_name!r}: choose {' or '.join(near)}")
        module = import_module(f"fsl_num.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.COMMANDS[cmd_name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, each on a line that can be copied."""
        with formatter.section("Examples"):
            for what, line in EXAMPLES:
                formatter.write(f"  {what}:\n    {line}\n")
        formatter.write("\nfsl COMMAND --help says more about one of them.\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``fsl`` command and return its exit status.

    Parameters
    ----------
    argv
        The words after ``fsl``; those of the process by default.

    Returns
    -------
    int
        The exit status.

    Examples
    --------
    >>> main(["exponents", "--schedule", "wsd", "--budget", "data", "--s", "0.5", "--beta", "4"])
    2
    """
    words = sys.argv[1:] if argv is None else list(argv)
    root = Commands("fsl", help="Functional scaling laws: derived, measured and judged.")
    try:
        with root.make_context("fsl", words or ["--help"], help_option_names=["-h", "--help"]) as context:
            status: int = root.invoke(context)
        sys.stdout.flush()
        return status
    except click.exceptions.Exit as end:  # of --help
        return end.exit_code
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        more = f" (see {where.command_path} --help)" if where is not None else ""
        print(f"fsl: {one_line(error.format_message())}{more}", file=sys.stderr)
        return 2
    except InputError as error:
        print(f"fsl: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output left, as `head` does; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, click.Abort):
        print("fsl: interrupted", file=sys.stderr)
        return 130
