"""The loss over intrinsic time, as text, as JSON and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsl_num.volterra import Problem, Solution

_POINTS = 240
_FIRST = 0.1  # intrinsic time where the picture begins: the fastest mode decays like exp(-2 t)


def loss_text(solution: Solution, width: int = 100) -> str:
    """A table of times, losses and errors, then how they were found.

    >>> from fsl_num.volterra import Problem, solve
    >>> problem = Problem(s=0.5, beta=2.0, model_size=1, noise=0.0, gamma=0.0, horizon=1.0)
    >>> print(loss_text(solve(problem, 0.0, digits=15)).splitlines()[1])
    0.0             1.64493406684823                 1.6e-15
    """
    import textwrap

    # errors are estimates: two digits say all
    texts = [(t, value, f"{float(error):.2g}") for t, value, error in solution.texts()]
    rows = [("intrinsic time", "f, twice the excess risk", "error"), *texts]
    sizes = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, sizes, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", *textwrap.wrap(f"method {solution.method}: {solution.message}", width)])


def loss_json(solution: Solution) -> dict[str, Any]:
    """The lists ``time``, ``value`` and ``error`` (numbers as text, so that none loses a digit), method and digits,
    and ``success``: false where the tolerance was missed, as ``message`` then says.

    >>> from fsl_num.volterra import Problem, solve
    >>> problem = Problem(s=0.5, beta=2.0, model_size=1, noise=0.0, gamma=0.0, horizon=1.0)
    >>> loss_json(solve(problem, 0.0, digits=15))["value"]
    ['1.64493406684823']
    """
    texts = solution.texts()
    return {
        "time": [row[0] for row in texts],
        "value": [row[1] for row in texts],
        "error": [row[2] for row in texts],
        "method": solution.method,
        "digits": solution.digits,
        "success": solution.success,
        "message": solution.message,
    }


def loss_figure(problem: Problem, solution: Solution, title: str, *, allow_unstable: bool = False) -> Figure:
    """Draw the loss up to the horizon, the times asked for, and what training without gradient noise would give.

    Args:
        problem: the one that was solved.
        solution: its loss at the times asked for.
        title: what stands above.
        allow_unstable: as in :func:`fsl_num.volterra.solve`.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from fsl_num.report.plots import new_figure
    from fsl_num.volterra import solve

    figure = new_figure((6.4, 4.4))
    ax = figure.subplots()
    t = np.geomspace(min(_FIRST / problem.fastest, 1e-3 * problem.end), problem.end, _POINTS)
    # A schedule may decay within the last few percent, which deserve points of their own.
    t = np.unique(np.concatenate([t, problem.end - t[t < 0.5 * problem.end]]))
    curve = solve(problem, t, rtol=1e-8, allow_unstable=allow_unstable).values
    forcing = problem.forcing(t)
    ax.loglog(t, curve, color="#1f5f8b", linewidth=1.8, label="loss $f$")
    without = r"without gradient noise, $\delta_M + e_M$"
    ax.loglog(t, forcing, color="#b3430a", linewidth=1.2, linestyle="dashed", label=without)
    asked = solution.t > 0
    if 0 < np.count_nonzero(asked) <= 40:
        values = np.asarray(solution.values, dtype=np.float64)
        ax.loglog(
            solution.t[asked], values[asked], "o", color="#1f5f8b", markersize=5, clip_on=False, label="times asked for"
        )
    ax.set_xlabel("intrinsic time $t$")
    ax.set_ylabel("$f(t)$, twice the excess risk")
    if curve.max() < 5.0 * forcing.min():
        # Less than a decade: a logarithmic axis would bear one number or none.
        ax.set_yscale("linear")
    ax.set_title(title, fontsize=10)
    ax.grid(alpha=0.25, which="major")
    ax.legend(frameon=False, fontsize=9)
    return figure
