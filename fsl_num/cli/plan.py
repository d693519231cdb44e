"""``fsl plan``: what to train under a budget, from the exponents of a task or from a fit."""

from __future__ import annotations

from typing import Any

from fsl_num.cli.fit import level_of, level_option, refuse_unknown_to, saved_fit
from fsl_num.cli.inputs import InputError, parameter_point, refused
from fsl_num.cli.options import REAL, Arguments, Command, Option, ScheduleNames, is_typed, json_option, whole
from fsl_num.cli.output import show, show_json

_OF_A_TASK = ("noise", "schedule")
_OF_A_FIT = ("batch_size", "warmup", "model_size", "level")


def run(arguments: Arguments) -> int:
    """Read what is known, plan, print."""
    point = parameter_point(arguments.s, arguments.beta)
    if (point is None) == (arguments.fit is None):
        raise InputError("the task is known by --s and --beta, or by --fit, by exactly one of the two")
    for name in filter(is_typed, _OF_A_TASK if point is None else _OF_A_FIT):
        raise InputError(f"--{name.replace('_', '-')} has no use {'with' if point is None else 'without'} --fit")
    level = level_of(arguments)
    typed = {name: getattr(arguments, name) for name in ("data", "compute")}
    budget: dict[str, Any] = {name: float(value) for name, value in typed.items() if value is not None}
    if not budget:
        raise InputError("a budget is needed: --data, or --compute (model size times data)")
    from fsl_num.report.planner import plan_run, training_plan_json, training_plan_text
    from fsl_num.report.planner_from_fit import plan_from_fit

    with refused():
        if point is None:
            known: dict[str, Any] = {"warmup": arguments.warmup or 0}
            known["batch_size"] = None if arguments.batch_size is None else float(arguments.batch_size)
            known["model_sizes"] = [float(size) for size in arguments.model_size]
            fit = saved_fit(arguments.fit)
            refuse_unknown_to(fit, arguments.model_size)
            plan = plan_from_fit(fit, level=level, **known, **budget)
        else:
            noise = 1.0 if arguments.noise is None else float(arguments.noise)
            plan = plan_run(s=point[0], beta=point[1], noise=noise, schedule=arguments.schedule, **budget)
    if arguments.json:
        show_json(training_plan_json(plan))
    else:
        show(*training_plan_text(plan))
    return 0


COMMANDS = {
    "plan": Command(
        "plan",
        run,
        [
            Option("--s", metavar="P/Q", help="relative task difficulty s > 0, as typed; with --beta"),
            Option("--beta", metavar="P/Q", help="capacity exponent beta > 1, as typed; with --s"),
            Option("--noise", type=REAL, help="variance of the labels (default: 1)"),
            Option("--schedule", type=ScheduleNames("fsl_sym.laws:SCHEDULES"),
                   help="the schedule (default: whose law has the least value)"),
            Option("--fit", metavar="FIT.json", help="a fit written by `fsl fit --save`, for --s and --beta"),
            Option("--data", type=REAL, choice="budget", help="the budget: samples, or tokens in the batch's unit"),
            Option("--compute", type=REAL, choice="budget", help="the budget: model size times data"),
            Option("--batch-size", type=REAL,
                   help="of an update, with --fit (default: 1, or the best of those fitted)"),
            Option("--model-size", type=REAL, several=True, metavar="M...",
                   help="to choose from, with --fit and --compute"),
            Option("--warmup", type=whole(0), help="updates of warmup, with --fit (default: 0)"),
            level_option(),
            json_option(),
        ],
        "What to train under a budget: peak rate, model size, data, batch size, schedule and decay fraction, each with "
        "how it grows with the budget, the choices that are as good, and what the recommendation rests on.",
    )
}  # fmt: skip
