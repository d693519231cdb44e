"""``fsl schedule``: what a schedule is, step by step, and how training frameworks spell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fsl_num.cli.inputs import InputError, refused
from fsl_num.cli.options import (
    Arguments,
    Command,
    Names,
    Option,
    columns_option,
    json_option,
    restarts_option,
    schedule_options,
    whole,
)
from fsl_num.cli.output import PICTURE_HELP, Outputs, show_json
from fsl_num.cli.rates import (
    given_parameters,
    named_parameters,
    rates_of_file,
    refuse_export_as_table,
    refuse_unused,
    schedule_name,
)

if TYPE_CHECKING:
    from fsl_num.schedules.export import Export
    from fsl_num.validation import Array


def run(arguments: Arguments) -> int:
    """Make the schedule, export it, print and write."""
    schedule, parameters = _schedule(arguments)
    read = [] if parameters else [arguments.name]
    targets = {"--csv": arguments.csv, "--plot": arguments.plot, "--out": arguments.out}
    outputs = Outputs(targets, inputs={"NAME|FILE": read}, json=arguments.json)
    refuse_export_as_table(arguments)
    if arguments.out is not None and arguments.export is None:
        raise InputError("--out takes what --export writes: say for which framework, --export torch say")
    from fsl_num.report import schedules as report
    from fsl_num.schedules import step_rates
    from fsl_num.schedules.export import export

    made: Export | None = None
    with refused():
        rates: Array = step_rates(schedule, **parameters)
        if arguments.export is not None:
            made = export(schedule, arguments.export, title=arguments.name, **parameters)
    outputs.write("--csv", lambda: report.schedule_csv(rates))
    outputs.draw("--plot", lambda: report.schedule_figure(rates, arguments.name))
    if made is not None:
        outputs.write("--out", lambda: made.text.rstrip("\n") + "\n")
    if arguments.json:
        show_json(report.schedule_json(rates, arguments.name, made))
    elif made is not None and arguments.out is None:
        outputs.show(made.text.rstrip("\n"))
    else:
        outputs.show(*report.schedule_text(rates, arguments.name, made))
    return 0


def _schedule(arguments: Arguments) -> tuple[Any, dict[str, Any]]:
    """What was named, with its parameters; the rates of a file, without any."""
    arguments.schedule = schedule_name(arguments.name)
    if arguments.schedule is None:
        refuse_unused("a file of rates", given_parameters(arguments), (), ": it says every rate")
        return rates_of_file(arguments.name, "NAME|FILE", arguments.columns, arguments.restarts), {}
    if arguments.peak_lr is None or arguments.steps is None:
        raise InputError(f"the schedule {arguments.name} needs --peak-lr and --steps")
    return arguments.schedule, named_parameters(arguments)


COMMANDS = {
    "schedule": Command(
        "schedule",
        run,
        [
            click.Argument(["name"], required=True, metavar="NAME|FILE"),
            *(option for option in schedule_options(required=False, steps=whole(1, "K")) if option.name != "schedule"),
            columns_option("step=A,lr=B"),
            restarts_option(),
            Option("--export", type=Names("fsl_num.schedules.export:EXPORTS"), help="print what this framework takes"),
            Option("--out", metavar="FILE", help="write what --export gives there, and print the schedule"),
            Option("--csv", metavar="FILE", help="write step and lr"),
            Option("--plot", metavar="FILE", help=f"draw the learning rate {PICTURE_HELP}"),
            json_option(),
        ],
        "What a schedule is, step by step: NAME, one of the catalogue or of a framework, as in "
        "'hf:warmup_stable_decay(num_warmup_steps=200, num_decay_steps=900)', or a FILE of rates, one a row, or a log. "
        "With --export the same rates in the words of a training framework, to 1e-12 of the peak at every step.",
    )
}  # fmt: skip
