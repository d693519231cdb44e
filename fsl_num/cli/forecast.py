"""``fsl forecast``: a run under way, where it ends and what decaying now would give."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import click

from fsl_num.cli.curve_files import files_of, read_files
from fsl_num.cli.fit import fit_options, fit_settings
from fsl_num.cli.inputs import InputError, refused
from fsl_num.cli.options import REAL, Arguments, Command, Names, Option, ScheduleNames, flag, json_option, whole
from fsl_num.cli.output import PICTURES, Outputs, show_json

_SECONDS = 10.0  # between two looks at a file


def run_forecast(arguments: Arguments) -> int:
    """Read, forecast, print, draw; again whenever the file has grown."""
    inputs = {"RUN": files_of([arguments.run]), "--others": files_of(arguments.others)}
    if arguments.watch and arguments.json:
        raise InputError("--watch writes one forecast after the other: it does not go with --json")
    while True:
        outputs = Outputs({"--plot": arguments.plot}, inputs=inputs, json=arguments.json)
        sizes = _sizes(inputs["RUN"])
        _once(arguments, outputs)
        if not arguments.watch:
            return 0
        while _sizes(inputs["RUN"]) == sizes:
            time.sleep(_SECONDS)


def _sizes(files: Sequence[str]) -> list[int]:
    """The bytes of the files of the run, 0 where there is none yet."""
    return [os.path.getsize(file) if os.path.isfile(file) else 0 for file in files]


def _once(arguments: Arguments, outputs: Outputs) -> None:
    runs, others = read_files(arguments, [arguments.run], arguments.others)
    if len(runs) != 1:
        raise InputError(f"{arguments.run!r} holds {len(runs)} runs; a forecast is of one")
    (curve,) = runs.values()
    target = None if arguments.target is None else float(arguments.target)
    from fsl_num.curves.forecast import forecast
    from fsl_num.curves.pictures import draw_forecast
    from fsl_num.report import fits as report

    with refused():
        found = forecast(curve, arguments.to, arguments.schedule, list(others.values()), **fit_settings(arguments))
    outputs.draw("--plot", lambda: draw_forecast(curve, found).figure)
    if arguments.json:
        show_json(report.forecast_json(found, target))
    else:
        outputs.show(*report.forecast_text(found, target))


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
