"""``fsl fit``, ``fsl predict`` and ``fsl compare``: laws of loss curves, from training logs to unseen schedules."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fsl_num.cli.curve_files import add_curve_options, read_files
from fsl_num.cli.inputs import InputError, real_number, whole_number
from fsl_num.cli.rates import add_schedule_options, named_parameters, rates_of_file
from fsl_num.cli.targets import PICTURES, check_targets, write_content, write_picture

if TYPE_CHECKING:
    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.plan import Plan
    from fsl_num.curves.result import FitResult
    from fsl_num.curves.score import Score

LAWS: Final = (
    "fsl", "fsl-simplified", "fsl-convolution", "fsl-full", "fsl-sizes", "fsl-ansatz", "fsl-ansatz-sizes",
    "fsl-physical", "multi-power", "momentum", "chinchilla",
)  # fmt: skip
COMPARED: Final = ("auto", "fsl", "fsl-convolution", "fsl-ansatz", "multi-power", "momentum")


def register(subcommands: Any) -> None:
    """Add ``fit``, ``predict`` and ``compare`` to the command."""
    fit: argparse.ArgumentParser = subcommands.add_parser(
        "fit",
        help="fit a law to training logs, and predict others",
        description="Fit a law to the loss curves of one or more training runs: how well its parameters are known, "
        "what cannot be told, and, with --predict, how well it predicts other runs.",
    )
    fit.add_argument("train", nargs="+", metavar="TRAIN", help="files of the runs to fit")
    fit.add_argument("--law", choices=("auto", *LAWS), default="auto", help="(default: auto, chosen by the runs alone)")
    fit.add_argument("--predict", nargs="+", metavar="FILE", default=[], help="runs to predict and to score")
    _add_fit_options(fit)
    fit.add_argument("--save", metavar="FILE", help="write the fit as JSON, for `fsl predict --fit`")
    fit.add_argument("--plot", metavar="FILE", help=f"draw measured and predicted losses ({', '.join(PICTURES)})")
    fit.add_argument("--json", action="store_true", help="as JSON")
    fit.set_defaults(run=run_fit)

    predict: argparse.ArgumentParser = subcommands.add_parser(
        "predict",
        help="predict the loss of a schedule from a saved fit",
        description="The loss of an unseen learning-rate schedule, with its interval, from a fit saved by `fsl fit`.",
    )
    predict.add_argument("--fit", required=True, metavar="FIT.json", help="a fit written by `fsl fit --save`")
    rate = predict.add_argument_group("the learning rate")
    add_schedule_options(rate, required=False)
    rate.add_argument("--schedule-file", metavar="FILE", help="the rate of every step, one a row, warmup included")
    rate.add_argument("--warmup", metavar="N", type=whole_number(0), default=0,
                      help="the first N steps; with --schedule the rate rises there linearly from 0")  # fmt: skip
    predict.add_argument("--model-size", metavar="M", type=real_number, help="parameters, for laws with the model size")
    predict.add_argument("--record", metavar="EVERY", type=whole_number(1), help="every so many steps (default: ~200)")
    _add_level(predict)
    predict.add_argument("--csv", metavar="FILE", help="also write step, lr, loss, lower and upper")
    predict.add_argument("--plot", metavar="FILE", help=f"also draw the prediction ({', '.join(PICTURES)})")
    predict.add_argument("--json", action="store_true", help="as JSON")
    predict.set_defaults(run=run_predict)

    compare: argparse.ArgumentParser = subcommands.add_parser(
        "compare",
        help="compare laws: fit some runs, predict others",
        description="Fit each law to the training runs and score it on the others, side by side.",
    )
    compare.add_argument("train", nargs="+", metavar="TRAIN", help="files of the runs to fit")
    compare.add_argument("--predict", nargs="+", required=True, metavar="TEST", help="files of the runs to predict")
    compare.add_argument("--laws", nargs="+", choices=("auto", *LAWS), default=COMPARED, metavar="LAW",
                         help=f"of auto, {', '.join(LAWS)}")  # fmt: skip
    _add_fit_options(compare)
    compare.add_argument("--json", action="store_true", help="as JSON")
    compare.set_defaults(run=run_compare)


def _add_level(parser: Any) -> None:
    parser.add_argument("--level", metavar="P", type=real_number, default=0.9, help="of the intervals (default: 0.9)")


def _add_fit_options(parser: argparse.ArgumentParser) -> None:
    add_curve_options(parser)
    how = parser.add_argument_group("the fit")
    how.add_argument("--starts", metavar="N", type=whole_number(1), default=10, help="(default: 10)")
    how.add_argument("--horizon-weight", metavar="X", type=real_number, default=0, help="weigh late rows (default: 0)")
    how.add_argument(
        "--max-rows", metavar="N", type=whole_number(16), default=1000, help="average longer runs to N (default: 1000)"
    )
    how.add_argument("--thin", action="store_true", help="pick rows of longer runs evenly instead of averaging them")
    how.add_argument("--no-intervals", action="store_true", help="do not measure how well predictions are known")
    how.add_argument("--seed", metavar="N", type=whole_number(0), default=0, help="of the resampling (default: 0)")
    _add_level(how)


def run_fit(arguments: argparse.Namespace) -> int:
    """Check, read, fit, predict, print, write."""
    check_targets({"--save": arguments.save, "--plot": arguments.plot})
    level = _level(arguments)
    curves = read_files(arguments, [*arguments.train, *arguments.predict])
    train, test = curves[: len(arguments.train)], curves[len(arguments.train) :]
    from fsl_num.report import fits as report

    with _progress() as progress:
        result = _fitted(arguments, train, arguments.law, progress)
    try:
        scores = result.scores(test, level) if test else {}
        if arguments.json:
            fitted = {} if result.law.final_only else result.scores()
            content = report.fit_json(
                result, _by_path(arguments.train, train, fitted), _by_path(arguments.predict, test, scores)
            )
            text = json.dumps(content, indent=2, allow_nan=False)
        else:
            text = report.fit_text(result, scores, level)
        figure = result.plot(test or None, level)[0].figure if arguments.plot is not None else None
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error
    print(text)
    if arguments.save is not None:
        write_content("--save", arguments.save, result.to_json() + "\n")
    if figure is not None:
        write_picture("--plot", arguments.plot, figure)
    return 0


def run_predict(arguments: argparse.Namespace) -> int:
    """Read the fit, build the schedule, predict, print, write."""
    check_targets({"--csv": arguments.csv, "--plot": arguments.plot})
    level = _level(arguments)
    result = _saved(arguments.fit)
    from fsl_num.report import fits as report

    plan = _plan(arguments)
    try:
        found = result.predict(plan, level if result.measured is not None else None)
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error
    if arguments.json:
        print(json.dumps(report.prediction_json(result, found), indent=2, allow_nan=False))
    else:
        print(report.prediction_text(result, found))
    if arguments.csv is not None:
        write_content("--csv", arguments.csv, report.prediction_csv(found))
    if arguments.plot is not None:
        write_picture("--plot", arguments.plot, report.prediction_figure(result, found))
    return 0


def run_compare(arguments: argparse.Namespace) -> int:
    """Fit every law, score it on the runs to predict, print the table."""
    level = _level(arguments)
    curves = read_files(arguments, [*arguments.train, *arguments.predict])
    train, test = curves[: len(arguments.train)], curves[len(arguments.train) :]
    from tqdm import tqdm

    from fsl_num.report import fits as report

    rows = []
    for name in tqdm(arguments.laws, unit="law", desc="fitting", file=sys.stderr, leave=False, dynamic_ncols=True):
        try:
            result = _fitted(arguments, train, name)
            rows.append(report.Compared(name, result, result.scores(test, level), ""))
        except (InputError, ValueError) as error:
            rows.append(report.Compared(name, None, {}, " ".join(str(error).split())))
    if arguments.json:
        named = [replace(row, scores=_by_path(arguments.predict, test, row.scores)) for row in rows]
        print(json.dumps(report.comparison_json(named), indent=2, allow_nan=False))
    else:
        print(report.comparison_text(rows, [curve.name for curve in test], level))
    return 0 if any(row.result is not None for row in rows) else 1


def _level(arguments: argparse.Namespace) -> float:
    level = float(arguments.level)
    if not 0.0 < level < 1.0:
        raise InputError(f"--level must be above 0 and below 1, not {level:g}: 0.9 covers nine losses of ten")
    return level


def _by_path(paths: Sequence[str], curves: Sequence[LossCurve], scores: Mapping[str, Score]) -> dict[str, Score]:
    """Scores under the paths as they were typed; {} where there are none."""
    named = zip(paths, curves, strict=True)
    return {path: scores[curve.name] for path, curve in named if curve.name in scores}


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar for the choice of a law and for the intervals, which take seconds; none where nobody sits at a terminal."""
    from tqdm import tqdm

    with tqdm(desc="fitting", unit="part", file=sys.stderr, leave=False, dynamic_ncols=True, disable=None) as bar:

        def told(done: int, whole: int) -> None:
            bar.total, bar.n = whole, done
            bar.refresh()

        yield told


def _fitted(
    arguments: argparse.Namespace,
    curves: list[LossCurve],
    law: str,
    progress: Callable[[int, int], None] | None = None,
) -> FitResult:
    from fsl_num.curves.fit import fit

    weight = float(arguments.horizon_weight)
    if weight < 0:
        raise InputError(f"--horizon-weight must be at least 0, not {weight:g}")
    try:
        return fit(
            curves,
            law,
            seed=arguments.seed,
            intervals=not arguments.no_intervals,
            progress=progress,
            starts=arguments.starts,
            horizon_weight=weight,
            max_rows=arguments.max_rows,
            reduce="thin" if arguments.thin else "average",
        )
    except (ValueError, TypeError, ArithmeticError) as error:
        raise InputError(" ".join(str(error).split())) from error


def _saved(path: str) -> FitResult:
    from fsl_num.curves.result import FitResult

    try:
        return FitResult.from_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--fit cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error
    except ValueError as error:
        raise InputError(f"--fit {path!r}: {' '.join(str(error).split())}") from error


def _plan(arguments: argparse.Namespace) -> Plan:
    """The schedule typed: named, with a linear warmup in its first steps, or the rates of a file."""
    import numpy as np

    from fsl_num.curves.plan import Plan
    from fsl_num.schedules.steps import step_rates

    warmup = arguments.warmup
    if (arguments.schedule is None) == (arguments.schedule_file is None):
        raise InputError("the learning rate is given by --schedule or by --schedule-file, by exactly one of the two")
    try:
        if arguments.schedule_file is not None:
            named = {"--peak-lr": arguments.peak_lr, "--steps": arguments.steps, "--final-lr": arguments.final_lr}
            unused = [option for option, value in named.items() if value is not None]
            if unused:
                raise InputError(f"--schedule-file has no use for {' and '.join(unused)}: the file says every rate")
            rates = np.array(rates_of_file(arguments.schedule_file, "--schedule-file"))
            name = Path(arguments.schedule_file).name
        else:
            if arguments.peak_lr is None or arguments.steps is None:
                raise InputError(f"--schedule {arguments.schedule} needs --peak-lr and --steps")
            if warmup >= arguments.steps:
                raise InputError(f"--warmup {warmup} leaves none of the {arguments.steps} steps to the schedule")
            peak = float(arguments.peak_lr)
            rest = step_rates(
                arguments.schedule, peak=peak, steps=arguments.steps - warmup, **named_parameters(arguments)
            )
            rates = np.concatenate([peak * np.arange(warmup) / max(warmup, 1), rest])
            name = arguments.schedule
        count = rates.size
        every = arguments.record or max(1, math.ceil(count / 200))
        if every > count:
            raise InputError(f"--record {every} is more than the {count} steps there are")
        recorded = np.unique(np.append(np.arange(every, count + 1, every), count))
        recorded = recorded[recorded > warmup] if (recorded > warmup).any() else recorded[-1:]
        size = None if arguments.model_size is None else float(arguments.model_size)
        return Plan(rates, recorded, min(warmup, count), 1.0, size, name)
    except (ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(" ".join(str(error).split())) from error
