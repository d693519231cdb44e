"""``fsl next-run``: which schedule, trained next, would narrow a prediction the most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fsl_num.cli.fit import level_of, level_option, planned, refuse_unknown_to, saved_fit
from fsl_num.cli.inputs import InputError, real_number, refused
from fsl_num.cli.options import Arguments, Command, Option, Read, json_option, schedule_options, whole
from fsl_num.cli.output import PICTURE_HELP, Outputs, show_json
from fsl_num.cli.rates import rates_of_file, schedule_name


def run(arguments: Arguments) -> int:
    """Read the fit, build target and candidates, weigh them, print and draw."""
    from fsl_num.schedules import parameters_of, step_rates

    arguments.schedule = schedule_name(arguments.predict)
    arguments.schedule_file = arguments.predict if arguments.schedule is None else None
    files = [name for name in arguments.candidates if schedule_name(name) is None]
    read = {"--fit": [arguments.fit], "--predict": [arguments.schedule_file], "--candidates": files}
    outputs = Outputs({"--plot": arguments.plot}, inputs=read, json=arguments.json)
    level, fitted = level_of(arguments), saved_fit(arguments.fit)
    refuse_unknown_to(fitted, arguments.model_size)
    from fsl_num.curves.next_run import next_run
    from fsl_num.curves.plan import as_plan
    from fsl_num.report import next_run as report

    with refused():
        target, unseen = planned(arguments, fitted)
        if unseen:
            click.echo(f"fsl: {arguments.schedule_file}: {unseen}", err=True)
        candidates: dict[str, Any] = {}
        for name in arguments.candidates:
            if name in files:
                candidates[Path(name).name] = as_plan(
                    rates_of_file(name, "--candidates", arguments.columns, arguments.restarts), warmup=target.warmup
                )
            else:
                warmup = {"warmup": target.warmup} if target.warmup and "warmup" in parameters_of(name) else {}
                rates = step_rates(name, peak=target.peak, steps=target.rates.size, **warmup)
                candidates[name] = as_plan(rates, warmup=target.warmup)
        if len(candidates) < len(arguments.candidates):
            raise InputError("two of --candidates have one name")
        proposal = next_run(fitted, target, candidates or None, arguments.budget, level=level)
    outputs.draw("--plot", lambda: proposal.plot().figure)
    if arguments.json:
        show_json(report.next_run_json(proposal))
    else:
        outputs.show(*report.next_run_text(proposal))
    return 0


_TARGET = ("schedule", "schedule_file")
COMMANDS = {
    "next-run": Command(
        "next-run",
        run,
        [
            Option("--fit", required=True, metavar="FIT.json", help="a fit written by `fsl fit --save`"),
            Option("--predict", required=True, metavar="NAME|FILE",
                   help="the schedule whose final loss matters: a name, with its options, or a file of rates"),
            Option("--candidates", several=True, metavar="NAME|FILE...",
                   help="what might be trained: names, as long as that schedule and with its peak, or files of rates "
                   "(default: seven families, three lengths, each peak known)"),
            Option("--budget", type=whole(1, "STEPS"), help="the most updates that the next run may have"),
            *(option for option in schedule_options(required=False, steps=whole(1, "K"), file=True)
              if option.name not in _TARGET),
            Option("--model-size", type=Read("M", real_number), help="parameters, for laws with the model size"),
            level_option(),
            Option("--plot", metavar="FILE", help=f"draw the candidates {PICTURE_HELP}"),
            json_option(),
        ],
        "Which run, if it were trained next, would narrow the interval of a predicted final loss the most, and by how "
        "much for each of its updates: from what the fit's draws of the parameters leave open.",
    )
}  # fmt: skip
