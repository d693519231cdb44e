"""``fsl simulate``: the excess risk of one-pass SGD along a run, exactly or by sampled runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from fsl_num.cli.executors import check_executor, executor_at
from fsl_num.cli.inputs import STANDARD, InputError, model_size, refused
from fsl_num.cli.options import (
    Arguments,
    Command,
    Option,
    Read,
    json_option,
    model_options,
    schedule_options,
    whole,
)
from fsl_num.cli.output import PICTURE_HELP, Outputs, model_title, show_json
from fsl_num.cli.rates import named_parameters
from fsl_num.schedules.catalogue import BYTES_OF_A_STEP
from fsl_num.validation import MOST_BYTES

if TYPE_CHECKING:
    from fsl_num.simulate.curve import RiskCurve
    from fsl_num.simulate.regression import Regression

MOST_STEPS: Final = MOST_BYTES // BYTES_OF_A_STEP
"""Every step is kept in memory."""

_DRAWN = 200  # points of a picture


def run(arguments: Arguments) -> int:
    """Check everything, run, print and write."""
    _check_method(arguments)
    parameters = {name: value for name, value in named_parameters(arguments).items() if name != "batch_size"}
    if arguments.checkpoint == STANDARD:
        raise InputError("--checkpoint needs the name of a file, for it is read again")
    files = {"--csv": arguments.csv, "--plot": arguments.plot, "--checkpoint": arguments.checkpoint}
    outputs = Outputs(files, json=arguments.json)
    with refused(RuntimeError, OSError):
        from fsl_num.schedules import step_rates

        problem = _problem(arguments)
        rates = step_rates(arguments.schedule, **parameters)
        curve = _curve(arguments, problem, rates)
    from fsl_num.report import losses as report

    outputs.write("--csv", lambda: curve.as_csv(rates))
    outputs.draw("--plot", lambda: report.risk_figure(curve, _title(arguments, curve)))
    if arguments.json:
        show_json(curve.as_dict())
    else:
        represented = arguments.features is None and arguments.model_size != float("inf")
        outputs.show(*report.risk_text(curve, represented))
    return 0


def _check_method(arguments: Arguments) -> None:
    """Refuse what does not say how to find the risk, and every option that has no use then."""
    if arguments.exact == (arguments.runs is not None):
        raise InputError("the risk is found by --exact or by --runs R, by exactly one of the two")
    sampling = {"--sde": arguments.sde, "--seed": arguments.seed, "--executor": arguments.executor}
    sampling["--checkpoint"] = arguments.checkpoint
    typed = [option for option, value in sampling.items() if value is not None]
    if arguments.exact and typed:
        raise InputError(f"--exact has no use for {' and '.join(typed)}: nothing is sampled")
    if arguments.sde is not None and arguments.checkpoint is not None:
        raise InputError("--sde has no use for --checkpoint: only runs of SGD itself can be resumed")
    if arguments.runs is not None and float("inf") in (arguments.model_size, arguments.features):
        raise InputError("--runs needs a finite --model-size and --features: give --exact for infinitely many features")
    if arguments.steps > MOST_STEPS:
        raise InputError(
            f"--steps must be at most {MOST_STEPS:,} (every step is kept in memory), not {arguments.steps:,}"
        )
    if arguments.record is not None and arguments.record > arguments.steps:
        raise InputError(f"--record {arguments.record} is more than the {arguments.steps} steps there are")
    check_executor(arguments.executor)


def _problem(arguments: Arguments) -> Regression:
    from fsl_num.model import Model
    from fsl_num.simulate.regression import Regression

    chosen = {} if arguments.family is None else {"family": arguments.family}
    model = Model(float(arguments.s), float(arguments.beta), arguments.model_size, float(arguments.noise))
    return Regression(model, features=arguments.features, **chosen)


def _curve(arguments: Arguments, problem: Regression, rates: Any) -> RiskCurve:
    every = arguments.record
    if every is None and arguments.plot is not None:
        every = -(-arguments.steps // _DRAWN)
    if arguments.exact:
        from fsl_num.simulate.recursion import exact_risk

        return exact_risk(problem, rates, arguments.batch_size, every=every)
    seed = 0 if arguments.seed is None else arguments.seed
    with executor_at(arguments.executor) as executor:
        common: dict[str, Any] = {"runs": arguments.runs, "seed": seed, "every": every, "executor": executor}
        if arguments.sde is not None:
            from fsl_num.simulate.sde import simulate_sde

            return simulate_sde(problem, rates, arguments.batch_size, time=arguments.sde, **common)
        from fsl_num.simulate.monte_carlo import simulate_sgd

        return simulate_sgd(problem, rates, arguments.batch_size, checkpoint=arguments.checkpoint, **common)


def _title(arguments: Arguments, curve: RiskCurve) -> str:
    return f"{model_title(arguments)}, {arguments.schedule}, {curve.method}"


_HOW = "how: --exact or --runs"
COMMANDS = {
    "simulate": Command(
        "simulate",
        run,
        [
            *model_options(),
            Option("--features", type=Read("N", model_size), help="at least M, or inf (default: M)"),
            Option("--family", metavar="NAME", help="distribution of the features (default: gaussian)"),
            *schedule_options(required=True, steps=whole(1, "K")),
            Option("--batch-size", former="--batch", type=whole(1, "B"), default=1, help="batch size (default: 1)",
                   section="the learning rate"),
            Option("--exact", is_flag=True, help="the exact expectation, nothing is sampled", section=_HOW),
            Option("--runs", type=whole(2, "R"), help="the mean of so many sampled runs", section=_HOW),
            Option("--sde", type=click.Choice(["physical", "intrinsic"]), section=_HOW,
                   help="sample this stochastic differential equation in place of SGD"),
            Option("--seed", type=whole(0, "SEED"), help="of the random numbers (default: 0)", section=_HOW),
            Option("--executor", metavar="WHERE", help="processes, or dask://HOST:PORT (default: this process)",
                   section=_HOW),
            Option("--checkpoint", metavar="FILE", help="save the state there now and then, and resume from it",
                   section=_HOW),
            Option("--record", type=whole(1, "EVERY"), help="record after every so many steps (default: start and end "
                   "only, with --plot about 200 points)"),
            Option("--csv", former="--out", metavar="FILE", help="also write step, excess_risk, its standard_error and "
                   "lr: a log that `fsl fit` reads"),
            Option("--plot", metavar="FILE", help=f"also draw the risk {PICTURE_HELP}"),
            json_option(),
        ],
        "The excess risk E = (1/2)||W'v - theta*||_H^2 of one-pass SGD on power-law kernel regression with the first M "
        "of N features: its exact expectation, or the mean of sampled runs. Numbers are integers, fractions p/q or "
        "decimals.",
    )
}  # fmt: skip
