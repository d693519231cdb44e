"""``fsl solve``: the excess risk of a learning-rate schedule at given intrinsic times, with its error."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsl_num.cli.inputs import InputError, real_number, refused
from fsl_num.cli.options import REAL, Arguments, Command, Names, Option, flag, model_options, schedule_options, whole
from fsl_num.cli.output import PICTURE_HELP, Outputs, model_title, show_json
from fsl_num.cli.rates import (
    given_parameters,
    named_parameters,
    numbers_of_file,
    option_of,
    rates_of_file,
    refuse_two_rates,
    refuse_unused,
)

if TYPE_CHECKING:
    from fsl_num.schedules import Schedule
    from fsl_num.volterra import Problem


def run(arguments: Arguments) -> int:
    """Check everything, solve, print and write."""
    from fsl_num.volterra import UnstableProblemError, solve

    files = {"--times": [arguments.times], "--schedule-file": [arguments.schedule_file]}
    outputs = Outputs({"--csv": arguments.csv, "--plot": arguments.plot}, inputs=files, json=arguments.json)
    times = _times(arguments)
    try:
        with refused():
            problem = _problem(arguments, times)
            times = times or [Fraction(problem.end)]
            stable = {"allow_unstable": arguments.allow_unstable}
            if not arguments.allow_unstable:
                problem.require_stable()
            solution = solve(problem, times, method=arguments.method, digits=arguments.digits, **stable)
    except InputError as error:
        if not isinstance(error.__cause__, UnstableProblemError):
            raise
        reason = str(error).partition(":")[0]
        raise InputError(
            f"{reason}: beyond it the loss may grow without bound; lower the learning rate, or give --allow-unstable"
        ) from error
    from fsl_num.report import losses as report

    outputs.write("--csv", solution.as_csv)
    outputs.draw("--plot", lambda: report.loss_figure(problem, solution, _title(arguments), **stable))
    if arguments.json:
        show_json(report.loss_json(solution))
    else:
        outputs.show(*report.loss_text(solution))
    return 0


def _problem(arguments: Arguments, times: list[Fraction] | None) -> Problem:
    """The problem that was typed; every option that it has no use for is refused."""
    from fsl_num.model import Model
    from fsl_num.volterra import Problem

    model, closure = Model(arguments.s, arguments.beta, arguments.model_size, arguments.noise), arguments.closure
    typed = given_parameters(arguments)
    refuse_two_rates(arguments)
    if arguments.gamma is not None:
        if typed or arguments.schedule != "constant":
            option = option_of(min(typed)) if typed else f"--schedule {arguments.schedule or 'from a file'}"
            raise InputError(
                f"--gamma is the whole of a constant rate in intrinsic time, but {option} was given too: gamma would be"
                " given both ways"
            )
        if times is None:
            raise InputError("--time or --times is needed with --gamma, which has no end of its own")
        if times[-1] == 0:
            raise InputError("the last time must be above 0 with --gamma, for it is the horizon")
        return Problem(model, gamma=arguments.gamma, horizon=float(times[-1]), closure=closure)
    gamma = _from_file(arguments, typed) if arguments.schedule is None else _named(arguments)
    problem = Problem(model, gamma=gamma, closure=closure)
    if times is not None and float(times[-1]) > problem.end * (1 + 1e-12):
        raise InputError(
            f"the times reach {float(times[-1])!r}, beyond the schedule, whose learning rates add up to the intrinsic"
            f" time {problem.end!r}"
        )
    return problem


def _named(arguments: Arguments) -> Schedule:
    from fsl_num.schedules import schedule

    name, parameters = arguments.schedule, named_parameters(arguments)
    missing = [option_of(parameter) for parameter in ("peak", "steps") if parameter not in parameters]
    if missing:
        instead = ", or --gamma in their place" if name == "constant" and not parameters else ""
        raise InputError(f"--schedule {name} needs {' and '.join(missing)}{instead}")
    return schedule(name, **parameters)


def _from_file(arguments: Arguments, typed: Mapping[str, Any]) -> Schedule:
    """gamma is constant within a step: the learning rate of its row over the batch size."""
    from fsl_num.schedules import Discrete

    refuse_unused("--schedule-file", typed, ["batch_size"], ": the file says everything but --batch-size")
    rates = rates_of_file(arguments.schedule_file, columns=arguments.columns, restarts=arguments.restarts)
    batch = float(arguments.batch_size) if arguments.batch_size is not None else 1.0
    if batch <= 0:
        raise InputError(f"--batch-size must be above 0, not {batch!r}")
    return Discrete(rates=rates, batch_sizes=batch)


def _times(arguments: Arguments) -> list[Fraction] | None:
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


def _title(arguments: Arguments) -> str:
    from fsl_num.curves.pictures import as_drawn

    rate = arguments.schedule or as_drawn(Path(arguments.schedule_file).name)
    if arguments.gamma is not None:
        rate += rf" $\gamma$ = {float(arguments.gamma):g}"
    closure = "" if arguments.closure == "volterra" else f", {arguments.closure} closure"
    return f"{model_title(arguments)}, {rate}{closure}"


_RATE = "the learning rate"
COMMANDS = {
    "solve": Command(
        "solve",
        run,
        [
            *model_options(),
            Option("--closure", type=Names("fsl_num.volterra.problem:CLOSURES"), default="volterra",
                   help="the paper's equation, or the exact second moments of Gaussian features (default: volterra)"),
            *schedule_options(required=False, steps=REAL, file=True),
            Option("--gamma", type=REAL, help="constant: learning rate over batch size", section=_RATE),
            Option("--batch-size", former="--batch", type=REAL, help="batch size (default: 1)", section=_RATE),
            Option("--time", type=REAL, help="one intrinsic time (default: the schedule's end)", choice="when"),
            Option("--times", metavar="FILE", help="one intrinsic time a row, rising", choice="when"),
            Option("--digits", type=whole(15), help="from 15 on (default: double precision)"),
            Option("--method", type=Names("fsl_num.volterra.solution:METHODS"), default="auto",
                   help="how to solve (auto says why)"),
            flag("--allow-unstable", "also solve where the loss grows without bound"),
            flag("--json", "as JSON, numbers as text at full precision"),
            Option("--csv", metavar="FILE", help="also write the columns t, excess_risk and error"),
            Option("--plot", metavar="FILE", help=f"also draw the excess risk {PICTURE_HELP}"),
        ],
        "The excess risk at intrinsic times, the integrals of the learning rate. Numbers are integers, "
        "fractions p/q or decimals; with --digits s, beta, noise, gamma and times are used as typed, and the "
        "parameters of a schedule (and the rows of a file) as the nearest double.",
    )
}  # fmt: skip
