"""The excess risk over intrinsic time and over steps, as text, as JSON and as pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from fsl_num.report.tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsl_num.simulate.curve import RiskCurve
    from fsl_num.volterra import Problem, Solution

_POINTS = 240
_ROWS = 24  # rows of the table shown on a terminal
_FIRST = 0.1  # intrinsic time where the picture begins: the fastest mode decays like exp(-2 t)


def loss_text(solution: Solution) -> list[Any]:
    """A table of times, excess risks and errors, then how they were found.

    >>> from fsl_num.model import Model
    >>> from fsl_num.report.tables import rendered
    >>> from fsl_num.volterra import Problem, solve
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=1, noise=0.0), gamma=0.0, horizon=1.0)
    >>> rendered(*loss_text(solve(problem, 0.0, digits=15))).splitlines()[2].split()
    ['0.0', '0.822467033424113', '8.2e-16']
    """
    # errors are estimates: two digits say all
    rows = [(t, value, f"{float(error):.2g}") for t, value, error in solution.texts()]
    grid = table(("intrinsic time", "excess risk", "error"), rows)
    return [grid, "", Text(f"method {solution.method}: {solution.message}")]


def risk_text(curve: RiskCurve, represented: bool = False) -> list[Any]:
    """A table of at most some twenty rows, then how the risk was found, and whether the target is ``represented``.

    >>> from fsl_num.report.tables import rendered
    >>> from fsl_num.simulate.curve import RiskCurve
    >>> curve = RiskCurve(np.array([0, 9]), np.array([0.5, 0.25]), np.zeros(2), "exact")
    >>> rendered(*risk_text(curve)).splitlines()[-1]
    'method exact'
    >>> curve = RiskCurve(np.array([0, 9]), np.array([0.5, 25.0]), np.zeros(2), "exact")
    >>> rendered(*risk_text(curve)).splitlines()[-1]
    'The excess risk has grown 50 times: the learning rates are unstable; lower them'
    """
    count = curve.step.size
    shown = range(count) if count <= _ROWS else np.unique(np.linspace(0, count - 1, _ROWS).round().astype(int))
    rows = [
        (str(curve.step[k]), _known(curve.excess_risk[k], curve.standard_error[k]), f"{curve.standard_error[k]:.2g}")
        for k in shown
    ]
    note = f"method {curve.method}" + (f": {curve.message}" if curve.message else "")
    if len(shown) < count:
        note += f"; {len(shown)} of {count} recorded steps shown, --json and --csv give all"
    parts = [table(("step", "excess risk", "standard error"), rows), "", Text(note)]
    grown = curve.excess_risk[-1] / curve.excess_risk[0] if curve.excess_risk[0] > 0.0 else 0.0
    if grown > _UNSTABLE:
        parts.append(Text(f"The excess risk has grown {grown:.2g} times: the learning rates are unstable; lower them"))
    return [*parts, Text(_REPRESENTED)] if represented else parts


_UNSTABLE = 10.0
"""Times that the risk grows over a run: noise lifts it a little where the start is near the target."""

_REPRESENTED = (
    "N = M: the model can represent the target, so that no approximation error M^-(s beta) is left; with more features "
    "(--features) there is one, as in `fsl solve`"
)


def risk_figure(curve: RiskCurve, title: str) -> Figure:
    """Draw the risk over the steps. Raises ImportError where matplotlib is not installed."""
    from fsl_num.report.plots import new_figure, plain_decimals

    figure = new_figure((6.4, 4.4))
    ax = curve.plot(figure.subplots(), linewidth=1.6, color="#1f5f8b")
    ax.set_title(title, fontsize=10)
    ax.grid(alpha=0.25, which="major")
    if curve.excess_risk.max() < 100.0 * curve.excess_risk.min():
        plain_decimals(ax)
    return figure


def loss_json(solution: Solution) -> dict[str, Any]:
    """The lists ``time``, ``excess_risk`` and ``error`` (numbers as text, so that none loses a digit), method and
    digits, and ``success``: false where the tolerance was missed, as ``message`` then says.

    >>> from fsl_num.model import Model
    >>> from fsl_num.volterra import Problem, solve
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=1, noise=0.0), gamma=0.0, horizon=1.0)
    >>> loss_json(solve(problem, 0.0, digits=15))["excess_risk"]
    ['0.822467033424113']
    """
    texts = solution.texts()
    return {
        "time": [row[0] for row in texts],
        "excess_risk": [row[1] for row in texts],
        "error": [row[2] for row in texts],
        "method": solution.method,
        "digits": solution.digits,
        "success": solution.success,
        "message": solution.message,
    }


def loss_figure(problem: Problem, solution: Solution, title: str, *, allow_unstable: bool = False) -> Figure:
    """Draw the excess risk up to the horizon, the times asked for, and what training without gradient noise would give.

    Parameters
    ----------
    problem
        The one that was solved.
    solution
        Its excess risk at the times asked for.
    title
        What stands above.
    allow_unstable
        As in :func:`fsl_num.volterra.solve`.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    """
    from fsl_num.report.plots import new_figure
    from fsl_num.volterra import solve

    figure = new_figure((6.4, 4.4))
    ax = figure.subplots()
    t = np.geomspace(min(_FIRST / problem.model.fastest, 1e-3 * problem.end), problem.end, _POINTS)
    # A schedule may decay within the last few percent, which deserve points of their own.
    t = np.unique(np.concatenate([t, problem.end - t[t < 0.5 * problem.end]]))
    curve = solve(problem, t, rtol=1e-8, allow_unstable=allow_unstable).excess_risk
    forcing = 0.5 * problem.model.forcing(t)
    ax.loglog(t, curve, color="#1f5f8b", linewidth=1.8, label="excess risk $E$")
    without = r"without gradient noise, $(\delta_M + e_M)/2$"
    ax.loglog(t, forcing, color="#b3430a", linewidth=1.2, linestyle="dashed", label=without)
    asked = solution.t > 0
    if 0 < np.count_nonzero(asked) <= 40:
        values = np.asarray(solution.excess_risk, dtype=np.float64)
        ax.loglog(
            solution.t[asked], values[asked], "o", color="#1f5f8b", markersize=5, clip_on=False, label="times asked for"
        )
    ax.set_xlabel("intrinsic time $t$")
    ax.set_ylabel("excess risk $E(t)$")
    if curve.max() < 5.0 * forcing.min():
        # Less than a decade: a logarithmic axis would bear one number or none.
        ax.set_yscale("linear")
    ax.set_title(title, fontsize=10)
    ax.grid(alpha=0.25, which="major")
    ax.legend(frameon=False, fontsize=9)
    return figure


def _known(risk: float, error: float) -> str:
    """A risk with two digits of its standard error, or ten of its own."""
    return f"{risk:.{max(1 - math.floor(math.log10(error)), 0)}f}" if 0.0 < error < risk else f"{risk:.10g}"
