"""``fsl forecast``: a run under way, where it ends and what decaying now would give."""

from __future__ import annotations

import os
import time

import click

from fsl_num.cli.curve_files import read_files
from fsl_num.cli.fit import fit_options, fit_settings
from fsl_num.cli.inputs import InputError, refused
from fsl_num.cli.options import REAL, Arguments, Command, Names, Option, ScheduleNames, flag, json_option, whole
from fsl_num.cli.output import PICTURES, check_targets, show, show_json, write_picture

_SECONDS = 10.0  # between two looks at a file


def run_forecast(arguments: Arguments) -> int:
    """Read, forecast, print, draw; again whenever the file has grown."""
    check_targets({"--plot": arguments.plot})
    if arguments.watch and arguments.json:
        raise InputError("--watch writes one forecast after the other: it does not go with --json")
    while True:
        size = os.path.getsize(arguments.run) if os.path.exists(arguments.run) else 0
        _once(arguments)
        if not arguments.watch:
            return 0
        while os.path.getsize(arguments.run) == size:
            time.sleep(_SECONDS)


def _once(arguments: Arguments) -> None:
    curves = read_files(arguments, [arguments.run, *arguments.others])
    target = None if arguments.target is None else float(arguments.target)
    from fsl_num.curves.forecast import forecast
    from fsl_num.curves.pictures import draw_forecast
    from fsl_num.report import fits as report

    with refused():
        found = forecast(curves[0], arguments.to, arguments.schedule, curves[1:], **fit_settings(arguments))
    if arguments.json:
        show_json(report.forecast_json(found, target))
    else:
        show(*report.forecast_text(found, target))
    if arguments.plot is not None:
        write_picture("--plot", arguments.plot, draw_forecast(curves[0], found).figure)


class _Endings(ScheduleNames):
    """How a run may go on: an ending, or a named schedule for the whole of it."""

    @property
    def names(self) -> list[str]:
        """All names that are taken."""
        return [*Names("fsl_num.curves.forecast:ENDINGS").names, *super().names]


COMMANDS = {
    "forecast": Command(
        "forecast",
        run_forecast,
        [
            click.Argument(["run"], required=True, metavar="RUN"),
            Option("--to", type=whole(1, "STEPS"), required=True, help="the last step that is planned"),
            Option("--schedule", type=_Endings("fsl_num.schedules:SCHEDULES"), default="hold",
                   help="how it is meant to go on (default: hold, the last rate)"),
            Option("--others", several=True, metavar="FILE...", help="other runs, which tell what a falling rate does"),
            Option("--target", type=REAL, help="a loss: when is it reached?"),
            flag("--watch", "again whenever the file has grown, until interrupted"),
            Option("--plot", metavar="FILE", help=f"draw the run and its endings ({', '.join(PICTURES)})"),
            *fit_options(),
            json_option(),
        ],
        "Where a run under way (file RUN) ends: with its rate held, decayed from now on, or decayed late; each with "
        "its interval, conditioned on the last losses of the run; and whether it is on track.",
    ),
}  # fmt: skip
