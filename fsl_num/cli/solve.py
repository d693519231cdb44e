"""``fsl solve``: the loss of a learning-rate schedule at given intrinsic times, with its error."""

from __future__ import annotations

import argparse
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsl_num.cli.inputs import InputError, model_size, real_number, whole_number
from fsl_num.cli.rates import numbers_of_file, rates_of_file
from fsl_num.cli.targets import check_targets, unwritable, write_picture

if TYPE_CHECKING:
    from fsl_num.volterra import Problem, Solution

SCHEDULES = ("constant", "exp-decay", "wsd", "power-decay", "cosine", "linear")
METHODS = ("auto", "panels", "discrete", "secular", "constant", "laplace", "high_precision", "enclosure", "reference")
CLOSURES = ("volterra", "gaussian")

_PARAMETERS = {
    "peak": "peak_lr",
    "steps": "steps",
    "batch_size": "batch",
    "final": "final_lr",
    "decay_fraction": "decay_fraction",
    "power": "power",
}
"""Field of a schedule -> option."""


def register(subcommands: Any) -> None:
    """Add ``solve`` to the command."""
    parser: argparse.ArgumentParser = subcommands.add_parser(
        "solve",
        help="solve the Volterra equation of the loss",
        description="The loss f (twice the excess risk) at intrinsic times, the integrals of the learning rate. "
        "Numbers are integers, fractions p/q or decimals; with --digits s, beta, noise, gamma and times are used as "
        "typed, and the parameters of a schedule (and the rows of a file) as the nearest double.",
    )
    number = {"metavar": "X", "type": real_number}
    parser.add_argument("--s", required=True, **number, help="relative task difficulty s > 0")  # type: ignore[arg-type]
    parser.add_argument("--beta", required=True, **number, help="capacity exponent beta > 1")  # type: ignore[arg-type]
    parser.add_argument("--model-size", required=True, metavar="M", type=model_size, help="a whole number, or inf")
    parser.add_argument("--noise", required=True, **number, help="variance sigma^2 of the labels")  # type: ignore[arg-type]
    parser.add_argument("--closure", choices=CLOSURES, default=CLOSURES[0], help="which second moments (see README)")
    rate = parser.add_argument_group("the learning rate")
    rate.add_argument("--schedule", choices=SCHEDULES, help="a named schedule")
    rate.add_argument("--schedule-file", metavar="FILE", help="one learning rate a row, each for one step")
    rate.add_argument("--gamma", **number, help="constant: learning rate over batch size")  # type: ignore[arg-type]
    rate.add_argument("--peak-lr", **number, help="learning rate at the start")  # type: ignore[arg-type]
    rate.add_argument("--final-lr", **number, help="learning rate at the end")  # type: ignore[arg-type]
    rate.add_argument("--steps", **number, help="number of steps")  # type: ignore[arg-type]
    rate.add_argument("--decay-fraction", **number, help="share of the steps that decay")  # type: ignore[arg-type]
    rate.add_argument("--power", **number, help="power of power-decay")  # type: ignore[arg-type]
    rate.add_argument("--batch", **number, help="batch size (default: 1)")  # type: ignore[arg-type]
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--time", **number, help="one intrinsic time (default: the schedule's end)")  # type: ignore[arg-type]
    when.add_argument("--times", metavar="FILE", help="one intrinsic time a row, rising")
    parser.add_argument("--digits", type=whole_number(15), metavar="N", help="from 15 on (default: double precision)")
    parser.add_argument("--method", choices=METHODS, default="auto", help="how to solve (auto says why)")
    parser.add_argument("--allow-unstable", action="store_true", help="also solve where the loss grows without bound")
    parser.add_argument("--json", action="store_true", help="as JSON, numbers as text at full precision")
    parser.add_argument("--csv", metavar="FILE", help="also write the columns t, f and error")
    parser.add_argument("--plot", metavar="FILE", help="also draw the loss (.png, .svg or .pdf)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check everything, solve, print and write."""
    from fsl_num.volterra import UnstableProblemError, solve

    check_targets({"--csv": arguments.csv, "--plot": arguments.plot})
    times = _times(arguments)
    try:
        problem = _problem(arguments, times)
        if times is None:
            times = [Fraction(problem.end)]
        if not arguments.allow_unstable:
            problem.require_stable()
        solution = solve(
            problem,
            times,
            method=arguments.method,
            digits=arguments.digits,
            allow_unstable=arguments.allow_unstable,
        )
    except UnstableProblemError as error:
        reason = str(error).partition(":")[0]
        raise InputError(
            f"{reason}: beyond it the loss may grow without bound; lower the learning rate, or give --allow-unstable"
        ) from error
    except (ValueError, TypeError, ArithmeticError, ImportError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(" ".join(str(error).split())) from error
    from fsl_num.report import losses as report

    if arguments.json:
        print(json.dumps(report.loss_json(solution), indent=2))
    else:
        print(report.loss_text(solution, shutil.get_terminal_size((100, 24)).columns))
    if arguments.csv is not None:
        try:
            solution.to_csv(arguments.csv)
        except OSError as error:
            raise unwritable("--csv", arguments.csv, error) from error
    if arguments.plot is not None:
        _draw(arguments, problem, solution)
    return 0


def _problem(arguments: argparse.Namespace, times: list[Fraction] | None) -> Problem:
    """The problem that was typed; every option that it has no use for is refused."""
    from fsl_num.volterra import Problem

    model = {"s": arguments.s, "beta": arguments.beta, "model_size": arguments.model_size, "noise": arguments.noise}
    model["closure"] = arguments.closure
    given = {field for field, option in _PARAMETERS.items() if getattr(arguments, option) is not None}
    if (arguments.schedule is None) == (arguments.schedule_file is None):
        raise InputError("the learning rate is given by --schedule or by --schedule-file, by exactly one of the two")
    if arguments.gamma is not None:
        if given or arguments.schedule != "constant":
            other = _option(min(given)) if given else f"--schedule {arguments.schedule or 'from a file'}"
            raise InputError(
                f"--gamma is the whole of a constant rate in intrinsic time, but {other} was given too: gamma would be"
                " given both ways"
            )
        if times is None:
            raise InputError("--time or --times is needed with --gamma, which has no end of its own")
        if times[-1] == 0:
            raise InputError("the last time must be above 0 with --gamma, for it is the horizon")
        return Problem(**model, gamma=arguments.gamma, horizon=float(times[-1]))
    problem = _from_file(arguments, model, given) if arguments.schedule is None else _named(arguments, model, given)
    if times is not None and float(times[-1]) > problem.end * (1 + 1e-12):
        raise InputError(
            f"the times reach {float(times[-1])!r}, beyond the schedule, whose learning rates add up to the intrinsic"
            f" time {problem.end!r}"
        )
    return problem


def _named(arguments: argparse.Namespace, model: dict[str, Any], given: set[str]) -> Problem:
    from dataclasses import MISSING, fields

    from fsl_num.schedules import SCHEDULES as KNOWN
    from fsl_num.volterra import Problem

    name = arguments.schedule
    taken = {field.name: field.default is MISSING for field in fields(KNOWN[name])}
    unused = [_option(field) for field in _PARAMETERS if field in given - set(taken)]
    if unused:
        raise InputError(f"--schedule {name} has no use for {' and '.join(unused)}")
    missing = [_option(field) for field in _PARAMETERS if taken.get(field) and field not in given]
    if missing:
        instead = ", or --gamma in their place" if name == "constant" and not given else ""
        raise InputError(f"--schedule {name} needs {' and '.join(missing)}{instead}")
    values = {field: float(getattr(arguments, _PARAMETERS[field])) for field in given}
    return Problem(**model, gamma=KNOWN[name](**values))


def _from_file(arguments: argparse.Namespace, model: dict[str, Any], given: set[str]) -> Problem:
    """gamma is constant within a step: the learning rate of its row over the batch size."""
    from fsl_num.schedules import Discrete
    from fsl_num.volterra import Problem

    unused = [_option(field) for field in _PARAMETERS if field in given - {"batch_size"}]
    if unused:
        raise InputError(f"--schedule-file has no use for {' and '.join(unused)}: the file says everything but --batch")
    rates = rates_of_file(arguments.schedule_file, "--schedule-file")
    batch = float(arguments.batch) if arguments.batch is not None else 1.0
    if batch <= 0:
        raise InputError(f"--batch must be above 0, not {batch!r}")
    return Problem(**model, gamma=Discrete(rates=rates, batch_sizes=batch))


def _times(arguments: argparse.Namespace) -> list[Fraction] | None:
    """The times that were typed, None where there are none."""
    if arguments.time is not None:
        times = [arguments.time]
    elif arguments.times is not None:
        times = numbers_of_file(arguments.times, "--times", "a time", real_number)
    else:
        return None
    name = "--time" if arguments.time is not None else "--times"
    if times[0] < 0:
        raise InputError(f"{name} must be at least 0, not {float(times[0])!r}")
    for row, (before, after) in enumerate(zip(times[:-1], times[1:], strict=True), 2):
        if after <= before:
            raise InputError(f"--times must rise, but row {row} holds {float(after)!r} after {float(before)!r}")
    return times


def _option(field: str) -> str:
    return "--" + _PARAMETERS[field].replace("_", "-")


def _draw(arguments: argparse.Namespace, problem: Problem, solution: Solution) -> None:
    from fsl_num.report.losses import loss_figure

    size = r"\infty" if arguments.model_size == float("inf") else f"{arguments.model_size}"
    rate = arguments.schedule or Path(arguments.schedule_file).name
    if arguments.gamma is not None:
        rate += rf" $\gamma$ = {float(arguments.gamma):g}"
    title = rf"$s$ = {arguments.s}, $\beta$ = {arguments.beta}, $M = {size}$, $\sigma^2$ = {arguments.noise}, {rate}"
    if arguments.closure != "volterra":
        title += f", {arguments.closure} closure"
    figure = loss_figure(problem, solution, title, allow_unstable=arguments.allow_unstable)
    write_picture("--plot", arguments.plot, figure)
