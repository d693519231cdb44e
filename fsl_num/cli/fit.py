"""``fsl fit``, ``fsl predict`` and ``fsl compare``: laws of loss curves, from training logs to unseen schedules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsl_num.cli.curve_files import curve_options, files_of, read_files
from fsl_num.cli.inputs import InputError, one_line, real_number, refused, text_of
from fsl_num.cli.options import (
    REAL,
    Arguments,
    Command,
    Names,
    Option,
    Read,
    flag,
    json_option,
    schedule_options,
    whole,
)
from fsl_num.cli.output import PICTURE_HELP, Outputs, progress_bar, show_json
from fsl_num.cli.rates import (
    given_parameters,
    named_parameters,
    refuse_two_rates,
    refuse_unused,
    updates_of_file,
)

if TYPE_CHECKING:
    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.plan import Plan
    from fsl_num.curves.result import FitResult
    from fsl_num.curves.score import Score


def run_fit(arguments: Arguments) -> int:
    """Check, read, fit, predict, print, write."""
    from fsl_num.schedules import is_name

    with refused():
        named = [name for name in arguments.predict if is_name(name)]
    files = [name for name in arguments.predict if name not in named]
    inputs = {"TRAIN": files_of(arguments.train), "--predict": files_of(files)}
    outputs = Outputs({"--save": arguments.save, "--plot": arguments.plot}, inputs=inputs, json=arguments.json)
    level = level_of(arguments)
    from fsl_num.curves.fit import fit
    from fsl_num.curves.transfer import like_longest
    from fsl_num.design.rivals import rivals
    from fsl_num.report import fits as report

    fitted, predicted = read_files(arguments, arguments.train, files)
    train, test = list(fitted.values()), list(predicted.values())
    with refused():
        result = fit(train, arguments.law, **fit_settings(arguments))
        train = [result.as_fitted(curve) for curve in train]
        scores = result.scores(test, level) if test else {}
        level_drawn = level if result.drawn is not None else None
        steps, peak = arguments.steps, _peak(arguments)
        asked = {name: like_longest(train, name, steps, peak) for name in named}
        predictions = {name: result.predict(plan, level_drawn) for name, plan in asked.items()}
        predictions |= {curve.name: result.predict(curve, level_drawn) for curve in test}
        usual = None if result.law.final_only else rivals(result, steps, peak, level, runs=train)
        outputs.write("--save", lambda: result.to_json() + "\n")
        outputs.draw("--plot", lambda: result.plot(test or None, level).figure)
        if arguments.json:
            own = {} if result.law.final_only else result.scores()
            tables = (_by_path(fitted, own), _by_path(predicted, scores))
            show_json(report.fit_json(result, *tables, predictions, usual))
        else:
            outputs.show(*report.fit_text(result, scores, level, predictions, usual, arguments.verbose))
    return 0


def refuse_unknown_to(fit: FitResult, model_size: Any = None, batch_size: Any = None) -> None:
    """Refuse a model size or a batch size that the law of a fit has no term for."""
    if model_size not in (None, (), []) and not fit.law.size_term:
        raise InputError(
            "--model-size: this fit has no term for the size of a model; fit runs of several sizes, and say them"
            " (--model-size, one a file)"
        )
    if batch_size is not None and not getattr(fit.law, "batches", False):
        raise InputError(
            "--batch-size: this fit knows no batch sizes; fit runs that all say theirs (a column, --batch-size), by the"
            " law auto or fsl-sgd"
        )
    if batch_size is not None:
        from fsl_num.curves.batches import asked_batch

        with refused():
            asked_batch(fit.law, float(batch_size))


def run_predict(arguments: Arguments) -> int:
    """Read the fit, build the schedule, predict, print, write."""
    files = {"--fit": [arguments.fit], "--schedule-file": [arguments.schedule_file]}
    outputs = Outputs({"--csv": arguments.csv, "--plot": arguments.plot}, inputs=files, json=arguments.json)
    level = level_of(arguments)
    result = saved_fit(arguments.fit)
    refuse_unknown_to(result, arguments.model_size, arguments.batch_size)
    from fsl_num.report import fits as report

    with refused():
        plan, unseen = planned(arguments, result)
        prediction = replace(result.predict(plan, level if result.drawn is not None else None), unseen=unseen)
    outputs.write("--csv", lambda: report.prediction_csv(prediction))
    outputs.draw("--plot", lambda: prediction.plot().figure)
    if arguments.json:
        show_json(report.prediction_json(result, prediction))
    else:
        outputs.show(*report.prediction_text(result, prediction))
    return 0


def run_compare(arguments: Arguments) -> int:
    """Fit every law, score it on the runs to predict, draw, print the table."""
    inputs = {"TRAIN": files_of(arguments.train), "--predict": files_of(arguments.predict)}
    outputs = Outputs({"--plot": arguments.plot}, inputs=inputs, json=arguments.json)
    level = level_of(arguments)
    fitted, predicted = read_files(arguments, arguments.train, arguments.predict)
    train, test = list(fitted.values()), list(predicted.values())
    from fsl_num.curves.compare import COMPARED, compare
    from fsl_num.report import fits as report

    with refused(), _progress("law") as progress:
        laws = arguments.laws or COMPARED
        result = compare(train, test, laws, level=level, progress=progress, **fit_settings(arguments))
    if result.fits:
        outputs.draw("--plot", lambda: result.plot().figure)
    if arguments.json:
        paths = {curve.name: path for path, curve in predicted.items()}
        show_json(report.comparison_json(result, paths))
    else:
        outputs.show(*report.comparison_text(result, [curve.name for curve in test], level))
    return 0 if result.fits else 1


def _peak(arguments: Arguments) -> float | None:
    return None if arguments.peak_lr is None else float(arguments.peak_lr)


def level_of(arguments: Arguments) -> float:
    """The nominal level of intervals that was typed."""
    level = float(arguments.level)
    if not 0.0 < level <= 0.99:
        meant = f"; {level:g} % is {level / 100:g}" if 1.0 < level <= 99.0 else ""
        raise InputError(
            f"--level must be above 0 and at most 0.99, not {level:g}: the rows of a fit carry no more{meant}"
        )
    return level


def _by_path(curves: Mapping[str, LossCurve], scores: Mapping[str, Score]) -> dict[str, Score]:
    """Scores under the paths as they were typed; {} where there are none."""
    return {path: scores[curve.name] for path, curve in curves.items() if curve.name in scores}


@contextmanager
def _progress(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for what takes seconds."""
    with progress_bar("fitting", unit) as bar:

        def update(done: int, whole: int) -> None:
            bar.total, bar.n = whole, done
            bar.refresh()

        yield update


def fit_settings(arguments: Arguments) -> dict[str, Any]:
    """How to fit, as the library takes it."""
    early = None if arguments.early is None else float(arguments.early)
    if early is not None and not 0 <= early < 1:
        raise InputError(f"--early must be at least 0 and below 1, not {early:g}")
    if float(arguments.prior_width) <= 0:
        raise InputError(f"--prior-width must be above 0, not {arguments.prior_width}: 1 is the usual one")
    return {
        "seed": arguments.seed,
        "intervals": not arguments.no_intervals,
        "starts": arguments.starts,
        "early": early,
        "prior_width": float(arguments.prior_width),
        "max_rows": arguments.max_rows,
        "reduce": "thin" if arguments.thin else "average",
    }


def saved_fit(path: str, option: str = "--fit") -> FitResult:
    """The fit of a file; an InputError that names the option where it is none."""
    from fsl_num.curves.result import FitResult

    text = text_of(path, option)
    try:
        return FitResult.from_json(text)
    except ValueError as error:
        raise InputError(f"{option} {path!r}: {one_line(error)}") from error


def planned(arguments: Arguments, fit: FitResult) -> tuple[Plan, str]:
    """The schedule typed: named, with a linear warmup in its first steps, or the rates of a file.

    And, in words, what was taken for the first rates of a file that begins late: those of the runs fitted.
    """
    import numpy as np

    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.plan import Plan
    from fsl_num.curves.rates import warmup_in
    from fsl_num.curves.unseen import words_of_prediction
    from fsl_num.schedules import parameters_of, step_rates

    warmup, said, unseen = arguments.warmup or 0, 1.0, ""
    refuse_two_rates(arguments)
    if arguments.schedule_file is not None:
        own = ("warmup", "batch_size")
        refuse_unused("--schedule-file", given_parameters(arguments), own, ": the file says every rate")
        file, columns, restarts = arguments.schedule_file, arguments.columns, arguments.restarts
        listed, said, late = updates_of_file(file, "--schedule-file", columns, restarts)
        rates, name = np.array(listed), Path(arguments.schedule_file).name
        if late:
            log = LossCurve([late, rates.size], [1.0, 1.0], schedule=rates, unseen=late)
            say = "Say it where you know it: --warmup N, 0 for none."
            unseen = words_of_prediction(fit, log, say) if arguments.warmup is None else ""
            log = fit.as_fitted(log) if arguments.warmup is None else log.warmed(warmup)
            rates, warmup = log.plan.rates, log.plan.warmup
    else:
        needed = {"--peak-lr": arguments.peak_lr, "--steps": arguments.steps}
        if missing := [option for option, value in needed.items() if value is None]:
            raise InputError(f"the schedule {arguments.schedule} needs {' and '.join(missing)}")
        if warmup >= arguments.steps:
            raise InputError(f"--warmup {warmup} leaves none of the {arguments.steps} steps to the schedule")
        parameters = {key: value for key, value in named_parameters(arguments).items() if key != "batch_size"}
        rates = step_rates(arguments.schedule, **parameters)
        name = arguments.schedule
        if "warmup" not in parameters_of(name):  # the name itself says it
            warmup = warmup_in(rates)
    count = rates.size
    every = getattr(arguments, "record", None) or max(1, math.ceil(count / 200))
    if every > count:
        raise InputError(f"--record {every} is more than the {count} steps there are")
    recorded = np.unique(np.append(np.arange(every, count + 1, every), count))
    recorded = recorded[recorded > warmup] if (recorded > warmup).any() else recorded[-1:]
    size = None if arguments.model_size is None else float(arguments.model_size)
    batch = getattr(arguments, "batch_size", None)
    plan = Plan(rates, recorded, min(warmup, count), said if batch is None else float(batch), size, name)
    return plan, unseen


def level_option(section: str = "") -> Option:
    """``--level``."""
    return Option("--level", type=Read("P", real_number), default=0.9, help="of the intervals (default: 0.9)",
                  section=section)  # fmt: skip


def fit_options(early: str = "0 for laws that hold there") -> list[Option]:
    """What is said of the files and of the fit; ``early``: the default of that option, in words."""
    section = "the fit"
    return [
        *curve_options(),
        Option("--starts", type=whole(1), default=3, help="of the search for parameters (default: 3)", section=section),
        Option("--early", type=REAL,
               help=f"share of a run, in intrinsic time, whose rows weigh less (default: {early})", section=section),
        Option("--prior-width", type=REAL, default=1,
               help="widen what the theory expects of the parameters, times X (default: 1)", section=section),
        Option("--max-rows", type=whole(16), default=200, help="average longer runs to N (default: 200)",
               section=section),
        flag("--thin", "pick rows of longer runs evenly instead of averaging them", section=section),
        flag("--no-intervals", "do not measure how well predictions are known", section=section),
        Option("--seed", type=whole(0), default=0, help="of the draws (default: 0)", section=section),
        level_option(section),
    ]  # fmt: skip


_TRAIN = click.Argument(["train"], nargs=-1, required=True, metavar="TRAIN...")
_LAWS = Names("fsl_num.curves.laws:LAWS", "auto")
COMMANDS = {
    "fit": Command(
        "fit",
        run_fit,
        [
            _TRAIN,
            Option("--law", type=_LAWS, default="auto", help="(default: auto, the functional law)"),
            Option("--predict", several=True, metavar="NAME|FILE...",
                   help="schedules, as long as the longest run, such as cosine or 'linear(decay_fraction=0.2)', or "
                   "runs: to predict and score"),
            Option("--steps", type=whole(1), help="of the schedules predicted (default: of the longest run)"),
            Option("--peak-lr", type=REAL, help="of the schedules predicted (default: of the longest run)"),
            flag("--verbose", "the parameters too, and how well they are known"),
            *fit_options(),
            Option("--save", metavar="FILE", help="write the fit as JSON, for `fsl predict --fit`"),
            Option("--plot", metavar="FILE", help=f"draw measured and predicted losses {PICTURE_HELP}"),
            json_option(),
        ],
        "Fit a law to the loss curves of one or more training runs (files TRAIN), and predict what other schedules "
        "would give (the usual ones, unless --predict names some), or, where FILEs of --predict hold runs, how well "
        "these are predicted.",
    ),
    "predict": Command(
        "predict",
        run_predict,
        [
            Option("--fit", required=True, metavar="FIT.json", help="a fit written by `fsl fit --save`"),
            *schedule_options(required=False, steps=whole(1, "K"), file=True),
            Option("--model-size", type=Read("M", real_number), help="parameters, for laws with the model size"),
            Option("--batch-size", type=REAL, help="of an update, for fits that know batch sizes (default: those of "
                   "the log that --schedule-file is, or the median of the runs fitted)"),
            Option("--record", type=whole(1, "EVERY"), help="every so many steps (default: ~200)"),
            level_option(),
            Option("--csv", metavar="FILE", help="also write step, lr, loss, lower and upper"),
            Option("--plot", metavar="FILE", help=f"also draw the prediction {PICTURE_HELP}"),
            json_option(),
        ],
        "The loss of an unseen learning-rate schedule, with its interval, from a fit saved by `fsl fit`.",
    ),
    "compare": Command(
        "compare",
        run_compare,
        [
            _TRAIN,
            Option("--predict", several=True, required=True, metavar="TEST...", help="files of the runs to predict"),
            Option("--laws", several=True, type=_LAWS, help="the laws to compare"),
            *fit_options(),
            Option("--plot", metavar="FILE", help=f"draw the errors run by run {PICTURE_HELP}"),
            json_option(),
        ],
        "Fit each law to the training runs (files TRAIN) and score it on the others, side by side.",
    ),
}  # fmt: skip
