"""``fsl forecast``: a run under way, where it ends and what decaying now would give."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import click

from fsl_num.cli.curve_files import files_of, read_files
from fsl_num.cli.fit import fit_options, fit_settings, level_of
from fsl_num.cli.inputs import InputError, one_line, refused
from fsl_num.cli.options import REAL, Arguments, Command, Option, ScheduleNames, flag, json_option, whole
from fsl_num.cli.output import PICTURE_HELP, Outputs, show_json
from fsl_num.cli.streams import complain

_SECONDS = 1.0  # between two looks at a file


def run_forecast(arguments: Arguments) -> int:
    """Read, forecast, print, draw; again whenever the file has grown."""
    inputs = {"RUN": files_of([arguments.run]), "--others": files_of(arguments.others)}
    outputs = Outputs({"--plot": arguments.plot}, inputs=inputs, json=arguments.json)
    if arguments.watch and arguments.json:
        raise InputError("--watch writes one forecast after the other: it does not go with --json")
    if arguments.watch and -1 in (sizes := _sizes(inputs["RUN"])):
        nothing = inputs["RUN"][sizes.index(-1)]
        raise InputError(f"--watch looks at a file that grows, and {nothing!r} is none")
    _once(arguments, outputs)
    while arguments.watch:
        while (now := _sizes(inputs["RUN"])) == sizes:
            time.sleep(_SECONDS)
        sizes = now
        try:
            _once(arguments, outputs)
        except InputError as error:  # half a row is written, or the file is being replaced: that passes
            complain(f"fsl: {one_line(error)} (looking again when the file changes)")
    return 0


def _sizes(files: Sequence[str]) -> list[int]:
    """The bytes of the files of the run, -1 where there is no file."""
    sizes = []
    for file in files:
        try:
            sizes.append(os.path.getsize(file) if os.path.isfile(file) else -1)
        except OSError:  # it vanished in between
            sizes.append(-1)
    return sizes


def _once(arguments: Arguments, outputs: Outputs) -> None:
    runs, others = read_files(arguments, [arguments.run], arguments.others)
    if len(runs) != 1:
        names = ", ".join(curve.name for curve in list(runs.values())[:3]) + ", ..." * (len(runs) > 3)
        raise InputError(
            f"{arguments.run!r} holds {len(runs)} runs ({names}); a forecast is of one: put its rows into a file"
            " of their own"
        )
    (curve,) = runs.values()
    target = _target(arguments.target)
    from fsl_num.curves.forecast import forecast
    from fsl_num.report import fits as report

    settings = fit_settings(arguments) | {"level": level_of(arguments)}
    with refused():
        endings = forecast(curve, arguments.to, arguments.schedule, list(others.values()), **settings)
    outputs.draw("--plot", lambda: endings.plot(target=target).figure)
    if arguments.json:
        show_json(report.forecast_json(endings, target))
    else:
        outputs.show(*report.forecast_text(endings, target))


def _target(typed: Any) -> float | None:
    """The loss to be reached, a positive number."""
    if typed is not None and not 0.0 < float(typed) < float("inf"):
        raise InputError(f"--target is a loss, so it must be positive and finite, not {float(typed):g}")
    return None if typed is None else float(typed)


class _Endings(ScheduleNames):
    """How a run may go on: an ending, or a named schedule for the whole of it."""

    @property
    def names(self) -> list[str]:
        """All names that are taken."""
        from fsl_num.curves.forecast import ENDINGS, SO_FAR

        return [*ENDINGS, SO_FAR, *super().names]


COMMANDS = {
    "forecast": Command(
        "forecast",
        run_forecast,
        [
            click.Argument(["run"], required=True, metavar="RUN"),
            Option("--to", type=whole(1, "STEPS"), required=True, help="the last step that is planned"),
            Option("--schedule", type=_Endings("fsl_num.schedules:SCHEDULES"),
                   help="how it is meant to go on (default: as so far, where its rates are those of a cosine, a "
                        "linear, 1-sqrt or exponential decay up to STEPS; else hold, the last rate)"),
            Option("--others", several=True, metavar="FILE...", help="other runs, which tell what a falling rate does"),
            Option("--target", type=REAL, help="a loss: when is it reached?"),
            flag("--watch", "again whenever the file has grown, until interrupted"),
            Option("--plot", metavar="FILE", help=f"draw the run and its endings {PICTURE_HELP}"),
            *fit_options(early="0.15 of the steps planned, at most half of the run"),
            json_option(),
        ],
        "Where a run under way (file RUN) ends: with its rate held, decayed from now on, or decayed late; each with "
        "its interval, conditioned on the last losses of the run; and whether it is on track.",
    ),
}  # fmt: skip
