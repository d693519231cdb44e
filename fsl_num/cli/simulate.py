"""``fsl simulate``: the excess risk of one-pass SGD along a run, exactly or by sampled runs."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Final

from fsl_num.cli.executors import check_executor, executor_at
from fsl_num.cli.inputs import InputError, model_size, real_number, whole_number
from fsl_num.cli.rates import add_schedule_options, named_parameters
from fsl_num.cli.targets import PICTURES, check_targets, unwritable, write_picture

if TYPE_CHECKING:
    from fsl_num.simulate.curve import RiskCurve
    from fsl_num.simulate.regression import Regression

SDES: Final = ("physical", "intrinsic")

MOST_STEPS: Final = 10**8
"""Each step takes some 60 bytes while the recursion runs."""

_DRAWN = 200  # points of a picture
_ROWS = 24  # rows of the table shown on a terminal


def register(subcommands: Any) -> None:
    """Add ``simulate`` to the command."""
    parser: argparse.ArgumentParser = subcommands.add_parser(
        "simulate",
        help="run one-pass SGD, exactly or by sampling",
        description="The excess risk E = (1/2)||W'v - theta*||_H^2 of one-pass SGD on power-law kernel regression with "
        "the first M of N features: its exact expectation, or the mean of sampled runs. Numbers are integers, "
        "fractions p/q or decimals.",
    )
    number: Any = {"metavar": "X", "type": real_number}
    parser.add_argument("--s", required=True, **number, help="relative task difficulty s > 0")
    parser.add_argument("--beta", required=True, **number, help="capacity exponent beta > 1")
    parser.add_argument("--model-size", required=True, metavar="M", type=model_size, help="a whole number, or inf")
    parser.add_argument("--features", metavar="N", type=model_size, help="at least M, or inf (default: M)")
    parser.add_argument("--noise", required=True, **number, help="variance sigma^2 of the labels")
    parser.add_argument("--family", metavar="NAME", help="distribution of the features (default: gaussian)")
    rate = parser.add_argument_group("the learning rate")
    add_schedule_options(rate, required=True)
    rate.add_argument("--batch", metavar="B", type=whole_number(1), default=1, help="batch size (default: 1)")
    how = parser.add_argument_group("how: --exact or --runs")
    how.add_argument("--exact", action="store_true", help="the exact expectation, nothing is sampled")
    how.add_argument("--runs", metavar="R", type=whole_number(2), help="the mean of so many sampled runs")
    how.add_argument("--sde", choices=SDES, help="sample this stochastic differential equation in place of SGD")
    how.add_argument("--seed", metavar="SEED", type=whole_number(0), help="of the random numbers (default: 0)")
    how.add_argument("--executor", metavar="WHERE", help="processes, or dask://HOST:PORT (default: this process)")
    how.add_argument("--checkpoint", metavar="FILE", help="save the state there now and then, and resume from it")
    parser.add_argument(
        "--record",
        metavar="EVERY",
        type=whole_number(1),
        help="record after every so many steps (default: start and end only, with --plot about 200 points)",
    )
    parser.add_argument("--out", metavar="FILE", help="also write step, excess_risk and standard_error as CSV")
    parser.add_argument("--plot", metavar="FILE", help=f"also draw the risk ({', '.join(PICTURES)})")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check everything, run, print and write."""
    _check_method(arguments)
    parameters = named_parameters(arguments)
    check_targets({"--out": arguments.out, "--plot": arguments.plot, "--checkpoint": arguments.checkpoint})
    try:
        from fsl_num.schedules.steps import step_rates

        problem = _problem(arguments)
        rates = step_rates(arguments.schedule, peak=float(arguments.peak_lr), steps=arguments.steps, **parameters)
        curve = _curve(arguments, problem, rates)
    except (ValueError, TypeError, ArithmeticError, ImportError, RuntimeError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(" ".join(str(error).split())) from error
    if arguments.json:
        print(json.dumps(curve.as_dict(), indent=2))
    else:
        print(risk_text(curve))
    if arguments.out is not None:
        try:
            curve.to_csv(arguments.out)
        except OSError as error:
            raise unwritable("--out", arguments.out, error) from error
    if arguments.plot is not None:
        write_picture("--plot", arguments.plot, _figure(arguments, curve))
    return 0


def risk_text(curve: RiskCurve) -> str:
    """A table of at most some twenty rows, then how the risk was found.

    >>> import numpy as np
    >>> from fsl_num.simulate.curve import RiskCurve
    >>> print(risk_text(RiskCurve(np.array([0, 9]), np.array([0.5, 0.25]), np.zeros(2), "exact")))
    step  excess risk  standard error
    0     0.5          0
    9     0.25         0
    <BLANKLINE>
    method exact
    """
    import numpy as np

    count = curve.step.size
    shown = range(count) if count <= _ROWS else np.unique(np.linspace(0, count - 1, _ROWS).round().astype(int))
    rows = [("step", "excess risk", "standard error")]
    rows += [(str(curve.step[k]), f"{curve.excess_risk[k]:.10g}", f"{curve.standard_error[k]:.2g}") for k in shown]
    sizes = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, sizes, strict=True)).rstrip() for row in rows]
    note = f"method {curve.method}" + (f": {curve.message}" if curve.message else "")
    if len(shown) < count:
        note += f"; {len(shown)} of {count} recorded steps shown, --json and --out give all"
    return "\n".join([*lines, "", note])


def _check_method(arguments: argparse.Namespace) -> None:
    """Refuse what does not say how to find the risk, and every option that has no use then."""
    if arguments.exact == (arguments.runs is not None):
        raise InputError("the risk is found by --exact or by --runs R, by exactly one of the two")
    sampling = {"--sde": arguments.sde, "--seed": arguments.seed, "--executor": arguments.executor}
    sampling["--checkpoint"] = arguments.checkpoint
    given = [option for option, value in sampling.items() if value is not None]
    if arguments.exact and given:
        raise InputError(f"--exact has no use for {' and '.join(given)}: nothing is sampled")
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


def _problem(arguments: argparse.Namespace) -> Regression:
    from fsl_num.simulate.regression import Regression

    chosen = {} if arguments.family is None else {"family": arguments.family}
    return Regression(
        s=float(arguments.s),
        beta=float(arguments.beta),
        model_size=arguments.model_size,
        noise=float(arguments.noise),
        features=arguments.features,
        **chosen,
    )


def _curve(arguments: argparse.Namespace, problem: Regression, rates: Any) -> RiskCurve:
    every = arguments.record
    if every is None and arguments.plot is not None:
        every = -(-arguments.steps // _DRAWN)
    if arguments.exact:
        from fsl_num.simulate.recursion import exact_risk

        return exact_risk(problem, rates, arguments.batch, every=every)
    seed = 0 if arguments.seed is None else arguments.seed
    with executor_at(arguments.executor) as executor:
        common: dict[str, Any] = {"runs": arguments.runs, "seed": seed, "every": every, "executor": executor}
        found: RiskCurve
        if arguments.sde is not None:
            from fsl_num.simulate.sde import simulate_sde

            found = simulate_sde(problem, rates, arguments.batch, time=arguments.sde, **common)
        else:
            from fsl_num.simulate.monte_carlo import simulate_sgd

            found = simulate_sgd(problem, rates, arguments.batch, checkpoint=arguments.checkpoint, **common)
    return found


def _figure(arguments: argparse.Namespace, curve: RiskCurve) -> Any:
    from fsl_num.report.loss_dynamics import plain_decimals
    from fsl_num.report.plots import new_figure

    figure = new_figure((6.4, 4.4))
    ax = curve.plot(figure.subplots(), linewidth=1.6, color="#1f5f8b")
    size = r"\infty" if arguments.model_size == float("inf") else f"{arguments.model_size}"
    ax.set_title(
        rf"$s$ = {arguments.s}, $\beta$ = {arguments.beta}, $M = {size}$, $\sigma^2$ = {arguments.noise},"
        f" {arguments.schedule}, {curve.method}",
        fontsize=10,
    )
    ax.grid(alpha=0.25, which="major")
    if curve.excess_risk.max() < 100.0 * curve.excess_risk.min():
        plain_decimals(ax)
    return figure
