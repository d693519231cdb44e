"""``fsl design``: the schedule with the least predicted final loss, from a saved fit."""

from __future__ import annotations

from typing import Any

from fsl_num.cli.curve_files import curve_options, files_of, read_files
from fsl_num.cli.fit import level_of, level_option, saved_fit
from fsl_num.cli.inputs import InputError, real_number, refused
from fsl_num.cli.options import REAL, Arguments, Command, Names, Option, Read, flag, json_option, whole
from fsl_num.cli.output import PICTURE_HELP, Outputs, show_json


def run_design(arguments: Arguments) -> int:
    """The design from a fit, or in the theory."""
    theory = {name: getattr(arguments, name) for name in ("s", "beta", "noise", "data")}
    given = [name for name, value in theory.items() if value is not None]
    if (arguments.fit is None) == (not given):
        raise InputError("a design needs either --fit, or the theory by --s, --beta, --noise and --data")
    if arguments.fit is not None:
        if arguments.steps is None:
            raise InputError("--fit needs --steps, the updates of the schedule")
        return _from_fit(arguments)
    missing = [f"--{name}" for name in theory if name not in given]
    if missing:
        raise InputError(f"the theory needs {' and '.join(missing)} too")
    return _in_theory(arguments)


def _in_theory(arguments: Arguments) -> int:
    """The best schedule of a model under a data budget."""
    outputs = Outputs({"--out": arguments.out}, json=arguments.json)
    from fsl_num.design.theory import design_for_model
    from fsl_num.model import Model
    from fsl_num.report import designs as report

    size = next((float(each) for each in arguments.model_size), float("inf"))
    with refused():
        model = Model(float(arguments.s), float(arguments.beta), size, float(arguments.noise))
        bound = None if arguments.gamma is None else float(arguments.gamma)
        if arguments.batches_at is not None and bound is None:
            bound = min(float(arguments.batches_at), 1.0 / model.trace)
        design = design_for_model(
            model, float(arguments.data), gamma=bound, falling=arguments.family == "non-increasing"
        )
        batches = None if arguments.batches_at is None else design.as_batches(float(arguments.batches_at))
    outputs.write("--out", lambda: report.theory_csv(design) if batches is None else report.batches_csv(batches))
    if arguments.json:
        sizes = {} if batches is None else {"lr": float(batches.rates[0]), "batch_sizes": batches.batch_sizes.tolist()}
        show_json(design.as_dict() | sizes)
    else:
        outputs.show(*([] if batches is None else report.batches_text(design, batches)), *report.theory_text(design))
    return 0


def _from_fit(arguments: Arguments) -> int:
    """Read the fit and the run under way, design, print, write."""
    log = [] if arguments.log is None else files_of([arguments.log])
    inputs = {"--fit": [arguments.fit], "--second-fit": [arguments.second_fit], "--log": log}
    outputs = Outputs({"--out": arguments.out, "--plot": arguments.plot}, inputs=inputs, json=arguments.json)
    level = level_of(arguments)
    fit = saved_fit(arguments.fit, "--fit")
    second = None if arguments.second_fit is None else saved_fit(arguments.second_fit, "--second-fit")
    run = _run_under_way(arguments)
    size = next((float(each) for each in arguments.model_size), None)
    from fsl_num.design.schedule import design_schedule
    from fsl_num.report import designs as report
    from fsl_num.schedules.export import export

    with refused():
        design = design_schedule(
            fit,
            arguments.steps,
            peak=arguments.peak_lr if arguments.peak_lr in (None, "free") else float(arguments.peak_lr),
            family=arguments.family,
            floor=float(arguments.min_lr),
            warmup=arguments.warmup if run is None else None,
            run=run,
            from_step=arguments.from_step,
            batch_size=1.0 if arguments.batch_size is None else float(arguments.batch_size),
            model_size=size,
            level=level,
            over_draws=arguments.over_draws,
            second=second,
        )
        made = arguments.export and export(design.rates, arguments.export, title="a designed schedule")
        outputs.write("--out", lambda: made.text.rstrip("\n") + "\n" if made else report.design_csv(design))
        outputs.draw("--plot", lambda: design.plot()[0].figure)
        if arguments.json:
            show_json(design.as_dict() | ({"export": made.text} if made else {}))
        else:
            shown = ["", made.text.rstrip("\n")] if made and arguments.out is None else []
            outputs.show(*report.design_text(design), *shown)
    return 0


def _run_under_way(arguments: Arguments) -> Any:
    """The curve of ``--log``; None of a fresh run."""
    if arguments.log is None:
        if arguments.from_step is not None:
            raise InputError("--from-step says from where a run goes on: --log names the file of that run")
        return None
    (curves,) = read_files(arguments, [arguments.log])
    if len(curves) != 1:
        raise InputError(f"{arguments.log!r} holds {len(curves)} runs; a design goes on from one")
    (curve,) = curves.values()
    return curve


def _peak(text: str) -> Any:
    """A rate, or "free"."""
    return text if text == "free" else real_number(text)


def _theory_options() -> list[Option]:
    """A model and a budget in the place of a fit."""
    section = "in the theory, in the place of --fit (--model-size: inf by default)"
    options: list[tuple[str, str]] = [
        ("--s", "relative task difficulty s > 0"),
        ("--beta", "capacity exponent beta > 1"),
        ("--noise", "variance sigma^2 of the labels"),
        ("--data", "samples in all"),
        ("--gamma", "the largest learning rate over batch size (default: 1/tr(H), half of what is stable)"),
        ("--batches-at", "the design as batch sizes at this constant learning rate, in the place of rates"),
    ]
    return [Option(name, type=REAL, help=text, section=section) for name, text in options]


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
                   default="non-increasing", help="(default: non-increasing)"),
            Option("--min-lr", type=REAL, default=0, help="the least rate after warmup (default: 0)"),
            Option("--log", metavar="RUN", help="the log of a run under way, whose steps are fixed"),
            Option("--from-step", type=whole(1), help="its update from which the schedule is open (default: its last)"),
            flag("--over-draws", "the least mean loss over the draws of the fit, not that of the best fit"),
            Option("--second-fit", metavar="FIT.json",
                   help="a fit of another law to the same runs, under which the design is scored too"),
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
        "run under way (--log) when and how to decay. --warmup without --log is that of the design.",
    ),
}  # fmt: skip
