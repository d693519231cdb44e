"""``fsl sizes``: a law of final losses over model size, batch size and steps."""

from __future__ import annotations

from typing import Any

import click

from fsl_num.cli.fit import level_of, level_option
from fsl_num.cli.inputs import InputError, real_number, refused
from fsl_num.cli.options import REAL, Arguments, Command, Names, Option, Read, columns_option, json_option
from fsl_num.cli.output import PICTURE_HELP, Outputs, counted, show_json
from fsl_num.cli.rates import columns_of


def run_sizes(arguments: Arguments) -> int:
    """Read the table, fit every law that it allows, print and draw the one asked for."""
    if arguments.predict and len(arguments.predict) != 3:
        raise InputError(f"--predict takes model size, batch size and steps, not {len(arguments.predict)} numbers")
    read = {"TABLE": [arguments.table]}
    outputs = Outputs({"--plot": arguments.plot}, inputs=read, json=arguments.json)
    level = level_of(arguments)
    from fsl_num.curves.contents import read_tables
    from fsl_num.curves.size_fit import AUTO, best_law, fit_final_losses, held_out_errors
    from fsl_num.curves.size_laws import SIZE_LAWS
    from fsl_num.report import sizes as report

    with refused(OSError):
        tables = read_tables(arguments.table)
        if len(tables) != 1:
            raise InputError(f"{arguments.table!r} holds {len(tables)} tables; the runs must stand in one, a row each")
        laws = [law for law in SIZE_LAWS if law != "regression" or arguments.law in (AUTO, law)]  # it takes seconds
        columns = columns_of(arguments.columns)
        errors = held_out_errors(tables[0], counted("fitted without the largest size", "law", laws), columns=columns)
        asked = best_law(errors) if arguments.law == AUTO else arguments.law
        fits: dict[str, Any] = {}
        for law in counted("fitted", "law", [asked, *(law for law in laws if law != asked)]):
            try:
                fits[law] = fit_final_losses(tables[0], law, columns=columns, level=level)
            except ValueError:
                if law == asked:
                    raise
                continue  # too few runs for that law, which was not asked for
        fitted = fits[asked]
        run: Any = tuple(map(float, arguments.predict)) if arguments.predict else None
        predicted = None if run is None else fitted.predict(*run)
        budget = {name: float(value) for name in ("compute", "data") if (value := getattr(arguments, name)) is not None}
        best = fitted.best(**budget) if budget else None
        answers = (fits, errors, predicted, best)
    outputs.draw("--plot", lambda: fitted.plot().figure)
    if arguments.json:
        show_json(report.sizes_json(*answers))
    else:
        outputs.show(*report.sizes_text(*answers, run))
    return 0


COMMANDS = {
    "sizes": Command(
        "sizes",
        run_sizes,
        [
            click.Argument(["table"], required=True, metavar="TABLE"),
            Option("--law", type=Names("fsl_num.curves.size_laws:SIZE_LAWS", "auto"), default="auto",
                   help="(default: auto, the one that predicts the largest size, unseen, best)"),
            Option("--predict", several=True, type=Read("N B K", real_number),
                   help="the final loss of a run with N parameters, batch size B, K steps"),
            Option("--compute", type=REAL, choice="budget", help="the best size, batch size and steps for N B K = X"),
            Option("--data", type=REAL, choice="budget",
                   help="the best batch size and steps for B K = X, at the largest size"),
            columns_option("model_size=A,loss=B", of="the table"),
            level_option(),
            Option("--plot", metavar="FILE", help=f"draw the losses and the law {PICTURE_HELP}"),
            json_option(),
        ],
        "Fit a law of final losses over model size, batch size and steps to a table of runs, a row each (columns "
        "model_size, batch_size, steps, loss; peak_lr where peaks differ); with Chinchilla's law and the three-term "
        "law beside it, each tried on the largest size unseen.",
    )
}  # fmt: skip
