"""``fsl design``: the schedule with the least predicted final loss, from a saved fit or in the theory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from fsl_num.cli.curve_files import curve_options, files_of, read_files
from fsl_num.cli.fit import level_of, level_option, refuse_unknown_to, saved_fit
from fsl_num.cli.inputs import STANDARD, InputError, real_number, refused
from fsl_num.cli.options import (
    REAL,
    Arguments,
    Command,
    Names,
    Option,
    Read,
    ScheduleNames,
    flag,
    is_typed,
    json_option,
    whole,
)
from fsl_num.cli.output import PICTURE_HELP, Outputs, show_json, terminal_width
from fsl_num.cli.rates import refuse_export_as_table
from fsl_num.cli.streams import complain


def run_design(arguments: Arguments) -> int:
    """The design from a fit, or in the theory."""
    if arguments.budget is not None:
        setattr(arguments, *arguments.budget)
    theory = {name: getattr(arguments, name) for name in ("s", "beta", "noise")}
    budget = {name: getattr(arguments, name) for name in ("data", "compute")}
    typed = [name for name, value in (theory | budget).items() if value is not None]
    if arguments.fit is not None and typed:
        raise InputError(
            f"--{typed[0]} belongs to a design in the theory, without --fit; with one --steps says how long: the tokens"
            " or samples over the batch (fsl plan --fit takes --data, or --compute)"
        )
    if arguments.fit is None and not typed:
        raise InputError("a design needs either --fit, or the theory by --s, --beta and a budget")
    _refuse_useless(arguments)
    if arguments.fit is not None:
        if arguments.steps is None:
            raise InputError("--fit needs --steps, the updates of the schedule")
        return _from_fit(arguments)
    missing = [f"--{name}" for name in ("s", "beta") if name not in typed]
    if not set(budget) & set(typed):
        missing.append("a budget, --data or --compute (model size times data),")
    if missing:
        raise InputError(f"the theory needs {' and '.join(missing)} too")
    return _in_theory(arguments)


def _refuse_useless(arguments: Arguments) -> None:
    """What the other kind of design takes is refused, and not passed over."""
    of_log = [option.name or "" for option in curve_options()]
    of_log = [name for name in of_log if name not in ("warmup", "batch_size", "model_size")]
    refusals = []
    if arguments.fit is not None:
        theory = ["gamma", "batches_at", "volterra", "with_average"]
        refusals.append((theory, "with --fit: it belongs to the theory"))
        if arguments.log is None:
            refusals.append((of_log, "without --log, the file of a run under way that is read so"))
    else:
        useless = ["steps", "log", "from_step", "over_draws", "second_fit", "export", "level", "batch_size", *of_log]
        useless += [] if isinstance(arguments.batches_at, str) else ["peak_lr", "floor_lr", "warmup"]
        place = "without --fit: in the theory the law knows gamma alone, up to --gamma, over a budget of samples"
        refusals.append((useless, place))
    for names, place in refusals:
        for name in filter(is_typed, names):
            raise InputError(f"--{name.replace('_', '-')} has no use {place}")


def _in_theory(arguments: Arguments) -> int:
    """The best schedule of a task under a data or a compute budget."""
    outputs = Outputs({"--out": arguments.out, "--plot": arguments.plot}, json=arguments.json)
    from fsl_num.design.best import SHAPES
    from fsl_num.design.model_size import design_for_compute
    from fsl_num.design.theory import design_for_model
    from fsl_num.model import Model
    from fsl_num.report import designs as report

    sizes = [float(size) for size in arguments.model_size]
    if arguments.data is not None and len(sizes) > 1:
        raise InputError("--model-size takes one size with --data; several are to choose from, with --compute")
    with refused():
        noise = 1.0 if arguments.noise is None else float(arguments.noise)
        model = Model(float(arguments.s), float(arguments.beta), (sizes or [float("inf")])[0], noise)
        bound = None if arguments.gamma is None else float(arguments.gamma)
        at = _batches_at(arguments)
        if at is not None and bound is None:
            largest = model if arguments.data is not None else replace(model, size=max(sizes, default=float("inf")))
            bound = min(at[0], 1.0 / largest.trace)
        shape: dict[str, Any] = {"falling": arguments.family in (None, "non-increasing")}
        if arguments.family not in (None, *SHAPES):
            shape["family"] = arguments.family
        if arguments.data is not None:
            design = design_for_model(model, float(arguments.data), gamma=bound, **shape)
        else:
            design = design_for_compute(model, float(arguments.compute), model_sizes=sizes, gamma=bound, **shape)
        batches = None if at is None else design.as_batches(at[0], at[1], **at[2])
        best = design.under_volterra() if arguments.volterra else None
        averaged = design.with_average() if arguments.with_average else None
    outputs.write("--out", lambda: report.theory_csv(design) if batches is None else report.batches_csv(batches))
    outputs.draw("--plot", lambda: design.plot().figure)
    if arguments.json:
        additions = {
            name: variant.as_dict()
            for name, variant in (("volterra", best), ("with_average", averaged))
            if variant is not None
        }
        show_json(design.as_dict() | additions | ({} if batches is None else report.batches_json(batches)))
    else:
        first = [] if batches is None else report.batches_text(design, batches)
        more_text = [] if averaged is None else report.with_average_text(design, averaged)
        more_text += [] if best is None else report.volterra_text(best)
        outputs.show(*first, *report.theory_text(design), *more_text)
    return 0


def _batches_at(arguments: Arguments) -> tuple[float, str, dict[str, Any]] | None:
    """The largest rate, the schedule and its parameters, of ``--batches-at``."""
    if arguments.batches_at is None:
        return None
    named = isinstance(arguments.batches_at, str)
    if named and arguments.peak_lr in (None, "free"):
        raise InputError(f"--batches-at {arguments.batches_at} needs --peak-lr, its largest rate")
    option, largest = ("--peak-lr", arguments.peak_lr) if named else ("--batches-at", arguments.batches_at)
    if not float(largest) > 0.0:
        raise InputError(f"{option} must be positive, got {float(largest):g}: the largest learning rate of the batches")
    if not named:
        return float(largest), "constant", {}
    composed = {"warmup": arguments.warmup, "floor": arguments.floor_lr and float(arguments.floor_lr)}
    return float(largest), arguments.batches_at, {name: value for name, value in composed.items() if value}


def _from_fit(arguments: Arguments) -> int:
    """Read the fit and the run under way, design, print, write."""
    refuse_export_as_table(arguments)
    if arguments.export and arguments.out is None and arguments.plot == STANDARD:
        raise InputError("--export and --plot - both need standard output: name a file for one of them (--out, --plot)")
    log = [] if arguments.log is None else files_of([arguments.log])
    inputs = {"--fit": [arguments.fit], "--second-fit": [arguments.second_fit], "--log": log}
    outputs = Outputs({"--out": arguments.out, "--plot": arguments.plot}, inputs=inputs, json=arguments.json)
    level = level_of(arguments)
    fit = saved_fit(arguments.fit, "--fit")
    refuse_unknown_to(fit, arguments.model_size if arguments.log is None else None, arguments.batch_size)
    second = None if arguments.second_fit is None else saved_fit(arguments.second_fit, "--second-fit")
    run = _run_under_way(arguments)
    size = next((float(size) for size in arguments.model_size), None)
    from fsl_num.design.schedule import design_schedule
    from fsl_num.report import designs as report
    from fsl_num.report.tables import rendered

    with refused():
        design = design_schedule(
            fit,
            arguments.steps,
            peak=arguments.peak_lr if arguments.peak_lr in (None, "free") else float(arguments.peak_lr),
            family=arguments.family,
            floor=float(arguments.floor_lr),
            warmup=arguments.warmup if run is None else None,
            run=run,
            from_step=arguments.from_step,
            batch_size=None if arguments.batch_size is None else float(arguments.batch_size),
            model_size=size,
            level=level,
            over_draws=arguments.over_draws,
            **({} if second is None else {"second": second}),
        )
        made = arguments.export and design.export(arguments.export)
        outputs.write("--out", lambda: made.text.rstrip("\n") + "\n" if made else report.design_csv(design))
        outputs.draw("--plot", lambda: design.plot().figure)
        if arguments.json:
            show_json(design.as_dict() | ({"export": made.text} if made else {}))
        else:
            text = report.design_text(design)
            if made and arguments.out is None:  # so that what is exported can be kept by >
                for line in rendered(*text, width=terminal_width(), coloured=False).splitlines():
                    complain(line)
                text = [made.text.rstrip("\n")]
            outputs.show(*text)
    return 0


def _run_under_way(arguments: Arguments) -> Any:
    """The curve of ``--log``; None of a fresh run."""
    if arguments.log is None:
        if arguments.from_step is not None:
            raise InputError("--from-step says from where a run goes on: --log names the file of that run")
        return None
    asked, arguments.batch_size = arguments.batch_size, None  # of the steps designed: a log keeps its own
    (curves,) = read_files(arguments, [arguments.log])
    arguments.batch_size = asked
    if len(curves) != 1:
        raise InputError(f"{arguments.log!r} holds {len(curves)} runs; a design goes on from one")
    (curve,) = curves.values()
    return curve


def _peak(text: str) -> Any:
    """A rate, or "free"."""
    return text if text == "free" else real_number(text)


class _RateOrSchedule(ScheduleNames):
    """A number, or the name of a schedule."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the name itself."""
        try:
            return real_number(value)
        except InputError:
            return super().convert(value, param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """How the value is called in the help."""
        return "X|NAME"


def _theory_options() -> list[Option]:
    """A task and a budget in the place of a fit."""
    section = "in the theory, in the place of --fit (--model-size: inf by default; with --compute to choose from)"
    options: list[tuple[str, str, dict[str, Any]]] = [
        ("--s", "relative task difficulty s > 0", {}),
        ("--beta", "capacity exponent beta > 1", {}),
        ("--noise", "variance sigma^2 of the labels (default: 1)", {}),
        ("--budget", "--data X or --compute X, in one option",
         {"choice": "budget", "type": (click.Choice(["data", "compute"]), REAL), "metavar": "data|compute X"}),
        ("--data", "the budget: samples in all", {"choice": "budget"}),
        ("--compute", "the budget: model size times data, the size of the model to be chosen", {"choice": "budget"}),
        ("--gamma", "the largest learning rate over batch size (default: 1/tr(H), half of what is stable)", {}),
        ("--batches-at", "the design as batch sizes, at this constant learning rate, or under the schedule NAME with "
         "--peak-lr, --warmup and --floor-lr", {"type": _RateOrSchedule("fsl_num.schedules:SCHEDULES")}),
    ]  # fmt: skip
    flags = [
        flag("--volterra", "the best rates under the Volterra equation itself, too", section=section),
        flag("--with-average", "the best schedule and mean of the weights together, too", section=section),
    ]
    return [
        Option(name, help=text, section=section, **{"type": REAL, **settings}) for name, text, settings in options
    ] + flags


COMMANDS = {
    "design": Command(
        "design",
        run_design,
        [
            Option("--fit", metavar="FIT.json", help="a fit written by `fsl fit --save`"),
            Option("--steps", type=whole(1, "K"), help="updates in all, warmup and those done included"),
            Option("--peak-lr", type=Read("X|free", _peak),
                   help="the largest rate (default: the largest peak fitted, of a run its own)"),
            Option("--family", type=Names("fsl_num.design.families:FAMILIES", "non-increasing", "free"),
                   help="(default: non-increasing; of fits of fsl-weights, which knows families alone, linear)"),
            Option("--floor-lr", former="--min-lr", type=REAL, default=0,
                   help="the least rate after warmup (default: 0)"),
            Option("--log", metavar="RUN", help="the log of a run under way, whose steps are fixed"),
            Option("--from-step", type=whole(1), help="its update from which the schedule is open (default: its last)"),
            flag("--over-draws", "the least mean loss over the draws of the fit, not that of the best fit"),
            Option("--second-fit", metavar="FIT.json",
                   help="another law under which to score the design (default: multi-power, fitted to the same runs)"),
            level_option(),
            Option("--export", type=Names("fsl_num.schedules.export:EXPORTS"),
                   help="the schedule in the words of this training framework (of a fit)"),
            Option("--out", metavar="FILE", help="write the schedule: step, lr; or what --export gives"),
            Option("--plot", metavar="FILE", help=f"draw schedule, baselines and predicted losses {PICTURE_HELP}"),
            json_option(),
            *_theory_options(),
            *curve_options(),
        ],
        "The learning-rate schedule with the least final loss that a fit predicts, beside the usual schedules; for a "
        "run under way (--log) when and how to decay. --warmup without --log is that of the design; --batch-size is "
        "that of the design, and of a log that says none.",
    ),
}  # fmt: skip
