"""The ``fsl`` command: one file a subcommand, imported when it is asked for."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click
from click.shell_completion import CompletionItem, shell_complete

from fsl_num.cli.inputs import InputError, one_line
from fsl_num.cli.output import terminal_width
from fsl_num.cli.streams import OutputError, complain, discard_output, emit
from fsl_num.workers import LostWorkersError

STATUSES: Final = MappingProxyType(
    {
        0: "all is well",
        1: "a claim did not pass (of compare: no law could be fitted)",
        2: "what was typed, or a file that was named, cannot be used",
        3: "a fault: of the program, of a worker, or too little memory",
        4: "the output was closed by its reader, or there was no room for it",
        130: "interrupted (143: by SIGTERM)",
    }
)
"""Exit status -> what it says. With 2 to 4 one sentence on standard error says more."""

TRACEBACK: Final = "FSL_TRACEBACK"
"""The variable of the environment with which a fault shows its whole traceback."""

_UNWRITTEN: Final = (errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EDQUOT)

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
        "design": ("design", "the schedule with the least predicted final loss"),
        "explore": ("explore", "write a web page on which to move everything"),
        "compare": ("fit", "compare laws: fit some runs, predict others"),
        "plan": ("plan", "what to train under a budget: peak, size, data, batch, schedule, decay"),
        "sizes": ("sizes", "a law of final losses over model size, batch size and steps"),
        "next-run": ("next_run", "which schedule to train next, for the sake of a prediction"),
        "schedule": ("schedule", "show a schedule step by step, or write it for a training framework"),
    }
)
"""Name of a command -> its module, and what it does."""

_TASK: Final = "--s 1/2 --beta 2 --model-size 100 --noise 1 --schedule wsd --peak-lr 0.1 --steps 1000"
COMMAND_EXAMPLES: Final = MappingProxyType(
    {
        "verify": '"thm: wsd" --report report.json',
        "list": "--labels",
        "show": '"thm: wsd" --no-verdict',
        "errata": "hard-regime-any-noise",
        "exponents": "--schedule exp-decay --budget data --s 1/2 --beta 4",
        "table": "--format markdown",
        "solve": f"{_TASK} --csv risk.csv",
        "simulate": f"{_TASK} --exact --record 100",
        "figure": "ladder --quick --out ladder.png",
        "fit": "run.csv --warmup 200 --save fit.json --plot fit.png",
        "predict": "--fit fit.json --schedule wsd --peak-lr 0.003 --steps 16000 --warmup 200",
        "forecast": "run.csv --warmup 200 --to 16000 --target 2.5",
        "design": "--fit fit.json --steps 16000 --warmup 200 --out schedule.csv --plot design.png",
        "explore": "--html explorer.html",
        "compare": "run.csv --predict other.csv --laws fsl multi-power",
        "plan": "--s 1/2 --beta 4 --compute 1e12",
        "sizes": "runs.csv --predict 1e9 512 20000 --compute 1e16",
        "next-run": "--fit fit.json --predict wsd --peak-lr 0.003 --steps 64000 --warmup 200 --budget 16000",
        "schedule": "cosine --peak-lr 0.003 --steps 16000 --warmup 200 --export transformers",
    }
)
"""Name of a command -> what to type behind it, as its help shows."""

EXAMPLES: Final = (
    ("You have a theory: the optimal exponents of a schedule, derived", "fsl exponents --schedule wsd --budget data"),
    ("You want to verify: a theorem of the paper, derived and measured", 'fsl verify "thm: wsd"'),
    (
        "You train models: a schedule written for your framework (fsl fit --help: predicted from your logs)",
        'fsl schedule "linear(decay_fraction=0.2)" --peak-lr 0.003 --steps 8000 --export torch',
    ),
)
"""What ``fsl`` alone shows: each works as it is typed."""


COMPLETION: Final = "_FSL_COMPLETE"
"""A variable of the environment by which a shell asks for what Tab completes."""


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
        command.epilog = f"fsl {cmd_name} {COMMAND_EXAMPLES[cmd_name]}".rstrip()
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without importing them."""
        named = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, each on a line that can be copied."""
        with formatter.section("Examples"):
            for purpose, line in EXAMPLES:
                formatter.write(f"  {purpose}:\n    {line}\n")
        with formatter.section("Exit status"):
            formatter.write_dl([(str(status), text) for status, text in STATUSES.items()])
        formatter.write("\nfsl COMMAND --help says more about one of them.\n")
        formatter.write(f'Completion by Tab: eval "$({COMPLETION}=bash_source fsl)", or zsh_source, fish_source.\n')


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``fsl`` command and return its exit status, one of :data:`STATUSES`.

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
    >>> main(["exponents", "--schedule", "wsd", "--budget", "data", "--s", "half", "--beta", "4"])
    2
    """
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        with _terminable(), warnings.catch_warnings():
            warnings.showwarning = _one_warning
            status = _run(words)
            emit("")  # what click has written goes out, or is known not to
            return status
    except InputError as error:
        complain(f"fsl: {one_line(error)}")
        return 2
    except (KeyboardInterrupt, click.Abort) as error:
        complain(f"fsl: {error if isinstance(error, Terminated) else 'interrupted'}")
        return 143 if isinstance(error, Terminated) else 130
    except Exception as error:
        if isinstance(error, OSError) and (isinstance(error, OutputError) or error.errno in _UNWRITTEN):
            discard_output()
            if str(error) and not isinstance(error, BrokenPipeError):
                complain(f"fsl: {one_line(error.strerror or error)}")
            return 4
        if os.environ.get(TRACEBACK):
            raise
        complain(f"fsl: {_fault(error)}")
        return 3


def _run(words: list[str]) -> int:
    """The status of the command that was typed."""
    numbered = click.version_option(_version(), message="fsl %(version)s")
    root = numbered(Commands("fsl", help="Functional scaling laws: derived, measured and judged."))
    if instruction := os.environ.get(COMPLETION):
        return shell_complete(root, {}, "fsl", COMPLETION, instruction)
    if words[:1] == ["help"]:  # as of git and cargo
        words = [*words[1:2], "--help"]
    try:
        shown = {"help_option_names": ["-h", "--help"], "terminal_width": terminal_width()}
        with root.make_context("fsl", words or ["--help"], None, **shown) as context:
            status: int = root.invoke(context)
        return status
    except click.exceptions.Exit as end:  # of --help
        return end.exit_code
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        hint = f" (see {where.command_path} --help)" if where is not None else ""
        raise InputError(one_line(_sentence(error)) + hint) from error


def _sentence(error: click.ClickException) -> str:
    """What click complains of; the options that may be meant are those with the word that was typed, or near it."""
    params = error.ctx.command.params if isinstance(error, click.UsageError) and error.ctx else []
    names = [name for option in params if option.name != "help" for name in option.opts if name.startswith("--")]
    if isinstance(error, click.NoSuchOption):
        typed = error.option_name.lstrip("-")
        near = [name for name in names if typed in name[2:].split("-") or name.startswith(f"--{typed}")]
        near = near or [f"--{name}" for name in get_close_matches(typed, [name[2:] for name in names], 3, 0.6)]
        return f"there is no option {error.option_name}" + (f": did you mean {' or '.join(near)}?" if near else "")
    said = error.format_message()
    if extra := re.fullmatch(r"Got unexpected extra argument \((.*)\)", said):
        hint = f": is it --schedule {extra[1]}?" if "--schedule" in names else ""
        return f"{extra[1]!r} is one argument too many{hint}"
    return said


def _version() -> str:
    try:
        return version("functional-scaling-laws")
    except PackageNotFoundError:  # a clone that is used without being installed
        return "of a clone that is not installed"


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM): what was begun is cleared away, as after Ctrl-C."""


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, so that no half-written file and no worker is left behind."""

    def end(number: int, frame: object) -> None:
        raise Terminated("terminated")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _one_warning(message: Warning | str, *where: object, **details: object) -> None:
    complain(f"fsl: warning: {one_line(message)}")


def _fault(error: Exception) -> str:
    """One sentence on what should not have happened, with its place."""
    if isinstance(error, MemoryError):
        return f"there is not memory enough ({one_line(error) or 'no more is given'}); ask for less at once"
    if isinstance(error, LostWorkersError):
        return one_line(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "fsl_" in frame.filename] or frames
    place = f"{Path(own[-1].filename).name}, line {own[-1].lineno}" if own else "an unknown place"
    return (
        f"a fault of the program, {type(error).__name__} in {place}: {one_line(error)[:200]}"
        f" (please report it, with the traceback that {TRACEBACK}=1 shows)"
    )
