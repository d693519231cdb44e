"""Final losses over sizes, batches and lengths: a fit, its rivals, a prediction and the best size, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from fsl_num.report.tables import table
from fsl_num.results import as_loss

if TYPE_CHECKING:
    from fsl_num.curves.size_result import BestSize, FinalLosses, FinalLossFit


def sizes_text(
    fits: Mapping[str, FinalLossFit],
    held_out: Mapping[str, float],
    predicted: FinalLosses | None,
    best: BestSize | None,
    run: tuple[float, float, float] | None = None,
) -> list[Any]:
    """The answers first, that for the ``run`` (size, batch size, steps) predicted with how far it lies outside;
    then the law asked for (the first of ``fits``), then the others beside it."""
    fitted = next(iter(fits.values()))
    share = f"{100 * fitted.level:g} %"
    parts: list[Any] = []
    if predicted is not None:
        loss, low, high = (float(value) for value in (predicted.loss, predicted.lower, predicted.upper))
        parts.append(Text(f"final loss {_interval(loss, low, high, share)}"))
        parts += _outside(fitted, run) if run is not None else []
    if best is not None:
        edge = " (the end of the sizes looked at: the loss falls on)" if best.at_edge else ""
        parts.append(
            Text(
                f"best: {best.model_size:.4g} parameters{edge}, batch size {best.batch_size:.4g}, {best.steps:.4g}"
                f" steps, final loss {_interval(best.loss, best.lower, best.upper, share)}"
            )
        )
        parts += _outside(fitted, (best.model_size, best.batch_size, best.steps))
    intervals, known = fitted.intervals, fitted.identifiable
    rows = [
        (name, f"{value:.4g}", f"{intervals[name][0]:.4g} .. {intervals[name][1]:.4g}", "yes" if known[name] else "no")
        for name, value in fitted.parameters.items()
    ]
    heading = f"{fitted.law}: {fitted.definition.formula}, fitted to {fitted.loss.size} runs"
    parts += [*([""] if parts else []), Text(heading), ""]
    parts += [table(("parameter", "value", share, "identifiable"), rows, right=(1, 2))]
    sentences = [*fitted.sentences, *_better(fitted.law, held_out)]
    parts += ["", *(Text(line) for line in sentences)] if sentences else []
    errors = [(name, f"{fit.scatter:.5f}", _error(held_out.get(name))) for name, fit in fits.items()]
    return [
        *parts,
        "",
        table(("law", "scatter of log loss", "error on the largest size, unseen"), errors, right=(1, 2)),
    ]


def _interval(loss: float, low: float, high: float, share: str) -> str:
    """A loss and the ends of its interval, with the digits that it leaves."""
    loss_, low_, high_ = (as_loss(value, loss, high - loss) for value in (loss, low, high))
    return f"{loss_}, {share} between {low_} and {high_}"


def _outside(fitted: FinalLossFit, run: tuple[float, float, float]) -> list[Text]:
    words = fitted.extrapolated(*run)
    return [Text(words)] if words else []


def sizes_json(
    fits: Mapping[str, FinalLossFit],
    held_out: Mapping[str, float],
    predicted: FinalLosses | None,
    best: BestSize | None,
) -> dict[str, Any]:
    """The same as JSON-ready values."""
    fitted = next(iter(fits.values()))
    rivals = {name: {"scatter": fit.scatter, "held_out": held_out.get(name)} for name, fit in fits.items()}
    record = fitted.as_dict() | {"laws": rivals}
    if predicted is not None:
        record["predicted"] = {name: float(value) for name, value in vars(predicted).items()}
    return record | ({"best": asdict(best)} if best is not None else {})


def _better(law: str, held_out: Mapping[str, float]) -> list[str]:
    """A sentence where another law predicts the size that it did not see better."""
    best = min(held_out, key=held_out.__getitem__, default=law)
    if best == law or law not in held_out:
        return []
    return [
        f"{best} predicts the largest size, unseen, better: {100 * held_out[best]:.2g} % off, {law}"
        f" {100 * held_out[law]:.2g} % (--law {best})."
    ]


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.5f}"
