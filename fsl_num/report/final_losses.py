"""The paper's picture of final-loss scaling: the risk at the end of training over data budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text
from sympy import Expr, Float, Rational

from fsl_num.report.loss_dynamics import colour_of, title_of
from fsl_num.report.plots import new_figure, plain_decimals
from fsl_num.report.tables import table
from fsl_num.validation import Array
from fsl_sym.order import Order
from fsl_sym.symbols import D

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fsl_num.experiments.final_loss import FinalLosses, PeakRule

_MARKS = {"constant": "s", "exp-decay": "o", "wsd": "D"}
_BESIDE = {"constant": 1.0, "exp-decay": 0.95, "wsd": 1.05}  # error bars stand beside each other


def loss_scaling_figure(
    derived: Sequence[FinalLosses],
    printed: Sequence[FinalLosses],
    powers: Array,
    by_power: Mapping[str, Array],
    budget: int,
) -> Figure:
    """Draw the first figure (right), the ratio to the derived laws, and the risk against the power of the peak rate.

    ``derived``: under the rules derived; ``printed``: under those rules of the appendix that differ. ``by_power``: name
    of a schedule -> exact risks after ``budget`` steps at the peak rates 0.05 D^-r, r in ``powers``. Raises ImportError
    where matplotlib is not installed.
    """
    figure = new_figure((10.6, 5.6))
    axes = figure.subplot_mosaic([["scaling", "ratio"], ["scaling", "powers"]], width_ratios=[1.45, 1.0])
    _draw_scaling(axes["scaling"], derived, printed)
    _draw_ratios(axes["ratio"], derived)
    _draw_powers(axes["powers"], derived, printed, powers, by_power, budget)
    for ax in axes.values():
        ax.grid(alpha=0.25, which="major")
    return figure


def loss_scaling_text(derived: Sequence[FinalLosses], printed: Sequence[FinalLosses]) -> list[Any]:
    """A table of the fitted exponents beside the claimed ones, then what the printed rules give.

    >>> from fsl_num.experiments.final_loss import PeakRule, final_losses
    >>> rule = PeakRule("constant", 1 / 3, 0.0, 1 / 3, 0.0)
    >>> table, *_ = loss_scaling_text([final_losses(rule, largest=1e4, per_decade=1)], [])
    >>> [column.header for column in table.columns][:3]
    ['schedule', 'peak', 'derived law']
    """
    headings = (
        "schedule", "peak", "derived law", "largest D", "fitted slope", "drift", "log power",
        "drift far out", "SGD/law",
    )  # fmt: skip
    rows = [
        (
            losses.rule.schedule, _peak(losses.rule).as_text(D), _risk(losses.rule).as_text(D),
            f"{losses.budgets[-1]:.0e}", f"{losses.slope:.4f}",
            f"{losses.drift:+.4f}", f"{losses.log_power:+.3f}", f"{losses.far_drift:+.1e}",
            f"{losses.exact[-1] / losses.functional[-1]:.5f}",
        )
        for losses in derived
    ]  # fmt: skip
    lines = [
        Text(
            f"{losses.rule.schedule} with the peak {_peak(losses.rule).as_text(D)} of the appendix: intrinsic time"
            f" {losses.intrinsic_times[0]:.2g} at D = {losses.budgets[0]:.0e}, {losses.intrinsic_times[-1]:.2g} at"
            f" {losses.budgets[-1]:.0e}; excess risk {losses.exact[0]:.4f} and {losses.exact[-1]:.4f}, before training"
            f" {losses.initial:.4f}: nothing is learned"
        )
        for losses in printed
    ]
    return [table(headings, rows, right=range(3, 9)), *lines]


def _draw_scaling(ax: Axes, derived: Sequence[FinalLosses], printed: Sequence[FinalLosses]) -> None:
    for losses in derived:
        name = losses.rule.schedule
        style: dict[str, Any] = {"color": colour_of(name)}
        rule = losses.rule
        peak, law = _peak(rule).as_latex(D), _risk(rule).as_latex(D)
        ax.loglog(
            losses.budgets,
            losses.exact,
            _MARKS[name],
            markersize=5,
            label=rf"{title_of(name)}: $\eta_{{\max}} \propto {peak}$, derived $\mathcal{{E}}_D \propto {law}$",
            **style,
        )
        ax.loglog(losses.budgets, losses.functional, linewidth=1.4, linestyle="dashed", **style)
        constant = np.log(losses.far_functional[-1]) - rule.log_law(losses.far_budgets[-1:])
        ax.loglog(losses.budgets, np.exp(constant + rule.log_law(losses.budgets)), linewidth=3.5, alpha=0.25, **style)
        if losses.sampled.size:
            ax.errorbar(
                losses.sampled_budgets * _BESIDE[name],
                losses.sampled,
                2.0 * losses.sampled_errors,
                fmt="none",
                ecolor=colour_of(name),
                elinewidth=1.1,
                capsize=3,
            )
    for losses in printed:
        name = losses.rule.schedule
        ax.loglog(
            losses.budgets, losses.exact, _MARKS[name], color=colour_of(name), markersize=5, markerfacecolor="white"
        )
        ax.loglog(losses.budgets, losses.functional, color=colour_of(name), linewidth=1.0, linestyle="dashed")
    if printed:
        losses = printed[0]
        power = _peak(losses.rule).as_latex(D)
        ax.text(
            0.97 * derived[0].budgets[-1],
            0.78 * min(float(losses.exact.min()) for losses in printed),
            rf"$\eta_{{\max}} \propto {power}$, as the appendix prints it" + "\nfor exponential decay and WSD",
            ha="right",
            va="top",
            fontsize=9,
        )
    ax.plot([], [], color="black", linestyle="dashed", linewidth=1.4, label="functional scaling law, nothing fitted")
    ax.plot([], [], color="black", linewidth=3.5, alpha=0.25, label="derived law, constant from the far end")
    if any(losses.sampled.size for losses in derived):
        ax.errorbar([], [], [], fmt="none", ecolor="black", capsize=3, label="sampled runs, two standard errors")
    least = min(float(losses.exact.min()) for losses in derived)
    ax.set_ylim(bottom=least / 12.0)  # room for the legend
    ax.set(xlabel="data budget $D$ (steps of batch size 1)", ylabel=r"final excess risk $\mathcal{E}_D$")
    ax.set_title("final loss of SGD, exact expectation (markers)", fontsize=10)
    ax.legend(frameon=False, fontsize=8.5, loc="lower left")


def _draw_ratios(ax: Axes, derived: Sequence[FinalLosses]) -> None:
    for losses in derived:
        name = losses.rule.schedule
        far = np.log(losses.far_functional) - losses.rule.log_law(losses.far_budgets)
        near = np.log(losses.exact) - losses.rule.log_law(losses.budgets)
        ax.semilogx(losses.far_budgets, np.exp(far - far[-1]), color=colour_of(name), linestyle="dashed", linewidth=1.3)
        ax.semilogx(losses.budgets, np.exp(near - far[-1]), _MARKS[name], color=colour_of(name), markersize=4)
    ax.axhline(1.0, color="black", linewidth=0.6)
    ax.set(xlabel="data budget $D$", ylabel="risk over derived law")
    ax.set_title("the ratio to the derived law, 1 at the far end", fontsize=10)


def _draw_powers(
    ax: Axes,
    derived: Sequence[FinalLosses],
    printed: Sequence[FinalLosses],
    powers: Array,
    by_power: Mapping[str, Array],
    budget: int,
) -> None:
    for losses in derived:
        name = losses.rule.schedule
        ax.semilogy(powers, by_power[name], color=colour_of(name), linewidth=1.4)
        _mark(ax, powers, by_power[name], losses.rule, hollow=False)
    for losses in printed:
        _mark(ax, powers, by_power[losses.rule.schedule], losses.rule, hollow=True)
    if max(risks.max() for risks in by_power.values()) < 100.0 * min(risks.min() for risks in by_power.values()):
        plain_decimals(ax)
    exponent = round(float(np.log10(budget)))
    ax.set(xlabel=r"$r$ in the peak rate $0.05\,D^{-r}$", ylabel="final excess risk")
    ax.set_title(rf"$D = 10^{exponent}$: derived $r$ full, printed $r$ hollow", fontsize=10)


def _mark(ax: Axes, powers: Array, risks: Array, rule: PeakRule, *, hollow: bool) -> None:
    at = float(np.exp(np.interp(rule.peak_power, powers, np.log(risks))))
    colour = colour_of(rule.schedule)
    face = "white" if hollow else colour
    ax.plot(
        [rule.peak_power], [at], _MARKS[rule.schedule], color=colour, markerfacecolor=face, markersize=6, clip_on=False
    )


def _peak(rule: PeakRule) -> Order:
    return Order(_simple(-rule.peak_power), _simple(rule.peak_log_power))


def _risk(rule: PeakRule) -> Order:
    return Order(_simple(-rule.risk_power), _simple(rule.risk_log_power))


def _simple(value: float) -> Expr:
    """The fraction that a power is; four digits of one that is no simple fraction."""
    simple = Rational(Fraction(value).limit_denominator(60))
    return simple if abs(float(simple) - value) < 1e-9 else Float(value, 4)
