"""The explorer: one web page that answers at once when difficulty, capacity, size, noise, budget or schedule is moved.

Exponents come from the derived allocations; losses are computed in the page by a small solver (``solver.js``), whose
numbers the tests hold against this package. The page needs no network.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup
from sympy import And, jscode, ordered

from fsl_num.report.allocations import LABELS
from fsl_num.report.html.texts import templates
from fsl_num.report.mathml import inline
from fsl_num.report.table import Row
from fsl_sym.allocation import Allocation

__all__ = ["SCHEDULES", "page"]

SHOWN = ("excess_risk", "peak_lr", "model_size", "decay_fraction", "batch_size")
"""The quantities of an optimum that the page shows."""

SCHEDULES = ("constant", "exp-decay", "wsd", "cosine", "linear", "1-sqrt")
"""The schedules of the page, by their names in the catalogue."""


def page(optima: Sequence[Row]) -> str:
    """The explorer as one HTML document that loads nothing.

    Parameters
    ----------
    optima
        The allocations of each schedule under a data and a compute budget, as :func:`fsl_sym.table` gives them for
        :data:`SCHEDULES`.

    Examples
    --------
    >>> page([]).startswith("<!DOCTYPE html>")
    True
    """
    environment = templates("fsl_num.report.explorer")
    folders = {"own": files("fsl_num.report.explorer"), "cards": files("fsl_num.report.html")}

    def text(folder: str, name: str) -> Markup:
        return Markup(folders[folder].joinpath(name).read_text(encoding="utf-8"))

    table = [_allocation(regime) for row in optima for regime in row]
    document = environment.get_template("explorer.html.j2").render(
        style=text("cards", "colours.css") + text("own", "explorer.css"),
        solver=text("own", "solver.js"), script=text("own", "explorer.js"),
        table=Markup(json.dumps(table).replace("</", "<\\/")),
    )  # fmt: skip
    return f"{document.strip()}\n"


def _allocation(allocation: Allocation) -> dict[str, object]:
    """An allocation as the script reads it: each regime with its formulas; conditions and exponents as JavaScript."""
    return {
        "schedule": allocation.schedule,
        "budget": allocation.budget,
        "regimes": [
            {
                "name": regime.name,
                "where": [
                    [jscode(part.lhs - part.rhs), part.rel_op] for part in ordered(And.make_args(regime.condition))
                ],
                "optimum": [
                    {
                        "name": LABELS[name][0],
                        "formula": str(inline(regime.quantities[name].as_latex(allocation.base))),
                        "lower": _exponents(regime.quantities[name].lower),
                        "upper": _exponents(regime.quantities[name].upper),
                    }
                    for name in SHOWN
                    if name in regime.quantities
                ],
            }
            for regime in allocation.regimes
        ],
    }


def _exponents(order: object) -> list[str] | None:
    """Power and log power as JavaScript in s and beta; None where there is no bound."""
    return None if order is None else [jscode(getattr(order, name)) for name in ("power", "log_power")]
