"""``fsl explore``: one web page that answers at once when the task, the run or the schedule is moved."""

from __future__ import annotations

from fsl_num.cli.options import Arguments, Command, Option, json_option
from fsl_num.cli.output import Outputs, counted, show_json


def run(arguments: Arguments) -> int:
    """Write the page and say where it is."""
    outputs = Outputs({"--html": arguments.html}, pictures=(), json=arguments.json)
    from fsl_num.report.explorer import SCHEDULES, page
    from fsl_sym.allocation import table

    rows = table(counted("deriving optima", "schedule", SCHEDULES))
    outputs.write("--html", lambda: page(rows))
    if arguments.json:
        show_json({"html": arguments.html, "schedules": [data.schedule for data, _ in rows]})
    else:
        outputs.show(f"Written to {arguments.html}: a page for a browser, which needs no network.")
    return 0


COMMANDS = {
    "explore": Command(
        "explore",
        run,
        [
            Option("--html", metavar="FILE", required=True, help="where to write the page"),
            json_option(),
        ],
        "One web page: move difficulty, capacity, size, noise, steps, peak and schedule; exponents, losses and the "
        "best schedule follow at once.",
    )
}  # fmt: skip
