"""Fits as JSON text, with the runs that were fitted."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.identify import Identifiability
from fsl_num.curves.laws import (
    AnsatzLaw,
    ChinchillaLaw,
    FunctionalLaw,
    Law,
    MomentumLaw,
    MultiPowerLaw,
    PhysicalTimeLaw,
    WeightsLaw,
)
from fsl_num.curves.misfit import Misfit, States
from fsl_num.curves.plan import Plan
from fsl_num.curves.posterior import Posterior
from fsl_num.curves.search import Residuals, Settings
from fsl_num.schedules.catalogue import BYTES_OF_A_STEP
from fsl_num.validation import Array, affordable, positive, whole_count

if TYPE_CHECKING:
    from fsl_num.curves.result import FitResult

FORMAT: Final = "functional scaling law fit, version 5"
"""What the first entry of the file says."""

_BEFORE: Final = tuple(f"functional scaling law fit, version {number}" for number in (1, 2, 3, 4))
_STATES: Final = tuple(field.name for field in fields(States))

_KINDS: Final = {
    kind.__name__: kind
    for kind in (AnsatzLaw, ChinchillaLaw, FunctionalLaw, MomentumLaw, MultiPowerLaw, PhysicalTimeLaw, WeightsLaw)
}


def to_json(result: FitResult) -> str:
    """Return the fit as JSON text."""
    drawn = None
    if result.drawn is not None:
        known = result.drawn
        drawn = {
            "samples": known.samples.tolist(),
            "residuals": asdict(known.residuals),
            "scatter": known.scatter,
            "size": known.misfit.size,
            "rows": known.misfit.states.time.size,
            "states": _packed(np.concatenate([getattr(known.misfit.states, name) for name in _STATES])),
            "normal": _packed(known.misfit.normal.ravel()),
        }
    content = {
        "format": FORMAT,
        "law": _written(result.law),
        "parameters": result.parameters,
        "settings": asdict(result.settings),
        "objective": result.objective,
        "report": {
            "condition": result.report.condition if math.isfinite(result.report.condition) else None,
            "weakest": dict(result.report.weakest),
            "on_bounds": list(result.report.on_bounds),
            "intervals": {name: list(pair) for name, pair in result.report.intervals.items()},
            "sentences": list(result.report.sentences),
            "unidentified": list(result.report.unidentified),
        },
        "posterior": drawn,
        "notes": list(result.notes),
        "reach": result.reach,
        "warmed": result.warmed,
        "warnings": list(result.warnings),
        "curves": [curve.name for curve in result.curves],
        "runs": [_run_written(curve) for curve in result.curves],
    }
    return json.dumps(content, indent=1, allow_nan=False)


def fields_of(text: str) -> dict[str, Any]:
    """Return the fields of the fit that :func:`to_json` wrote, by name; ValueError where the text is anything else.

    Fits of earlier versions are refused: their laws and their intervals were others.
    """
    content = _content(text)
    with _field("law"):
        law = _law(content["law"])
    with _field("parameters"):
        values = law.vector(content["parameters"])
    with _field("settings"):
        settings = Settings(**content["settings"])
    with _field("report"):
        report = content["report"]
        identifiability = Identifiability(
            math.inf if report["condition"] is None else float(report["condition"]),
            MappingProxyType({str(k): float(v) for k, v in report["weakest"].items()}),
            _texts(report["on_bounds"]),
            MappingProxyType({name: (float(a), float(b)) for name, (a, b) in report["intervals"].items()}),
            _texts(report["sentences"]),
            _texts(report["unidentified"]),
        )
        _ = [identifiability.intervals[name] for name in law.names]
    with _field("runs"):
        curves = tuple(_run(run) for run in content["runs"])
        if not curves:
            raise ValueError("no runs")
    with _field("posterior"):
        drawn = _posterior(content["posterior"], values)
    with _field("notes"):
        notes = _texts(content["notes"])
    with _field("objective"):
        objective = float(content["objective"])
    with _field("reach"):
        reach = positive("reach", content["reach"])
    with _field("warmed"):
        if not isinstance(warmed := content["warmed"], bool | None):
            raise TypeError(f"true, false or null is needed, not {str(warmed)[:40]}")
    with _field("warnings"):
        warnings = _texts(content["warnings"])
    return {
        "law": law,
        "values": tuple(values.tolist()),
        "curves": curves,
        "settings": settings,
        "objective": objective,
        "report": identifiability,
        "drawn": drawn,
        "notes": notes,
        "reach": reach,
        "warmed": warmed,
        "warnings": warnings,
    }


def _content(text: str) -> dict[str, Any]:
    """The entries of a fit of this version, not yet checked."""
    advice = "write one with FitResult.to_json() or `fsl fit --save`"
    try:
        content = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no saved fit: not JSON ({error}); {advice}") from error
    if not isinstance(content, dict) or content.get("format") not in (FORMAT, *_BEFORE):
        raise ValueError(f"this is no saved fit: its format must be {FORMAT!r}; {advice}")
    if content["format"] != FORMAT:
        raise ValueError(
            f"this fit was saved by an earlier version ({content['format']!r}), whose laws and intervals were others:"
            " fit the runs again, with `fsl fit --save`"
        )
    return content


@contextmanager
def _field(name: str) -> Iterator[None]:
    """Name the field of a saved fit that cannot be used."""
    try:
        yield
    except (TypeError, AttributeError, ValueError, ArithmeticError, LookupError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"this saved fit is damaged in its field {name!r}: {missing}; save the fit again") from error


def _finite(text: str) -> float:
    """A number of a saved fit: all of them are finite."""
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text[:40]} is no finite number")
    return number


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"texts are needed, not {str(values)[:40]}")
    return tuple(values)


def _written(law: Law) -> dict[str, Any]:
    assert is_dataclass(law) and not isinstance(law, type)
    return {"kind": type(law).__name__, "options": asdict(law)}


def _law(content: Any) -> Law:
    kind = _KINDS.get(content["kind"])
    if kind is None:
        raise ValueError(f"unknown kind of law {content['kind']!r}; known: {', '.join(_KINDS)}")
    known = {field.name for field in fields(kind)}
    if not set(content["options"]) <= known:
        raise ValueError(f"the law {content['kind']} has no options {sorted(set(content['options']) - known)}")
    return kind(**content["options"])


def _posterior(content: Any, theta: Array) -> Posterior | None:
    if content is None:
        return None
    samples = np.array(content["samples"], dtype=np.float64)
    if samples.ndim != 2 or samples.shape[1] != theta.size or not np.isfinite(samples).all():
        raise ValueError(f"samples of shape {samples.shape} for {theta.size} parameters")
    rows = whole_count("rows", content["rows"])
    affordable("rows", rows, 8 * rows, "save the fit again")  # of the covariance of all
    states = States(*_unpacked(content["states"], len(_STATES) * rows).reshape(-1, rows))
    normal = _unpacked(content["normal"], len(samples) * rows).reshape(-1, rows)
    misfit = Misfit(positive("size", content["size"]), states, normal)
    if not np.isfinite(misfit.elsewhere(states)).all():
        raise ValueError("its misfits are no finite numbers")
    scatter = positive("scatter", content["scatter"], zero=True)
    return Posterior(samples, Residuals(**content["residuals"]), misfit, scatter)


_OF_A_RUN: Final = ("warmup", "model_size", "name", "smoothing", "scatter")


def _run_written(curve: LossCurve) -> dict[str, Any]:
    """The rows as they were fitted, and the rate and the batch size of every update."""
    plan = curve.plan
    return {
        **{name: getattr(curve, name) for name in _OF_A_RUN},
        "model_size": plan.model_size,
        "step": curve.step.tolist(),
        "loss": curve.loss.tolist(),
        "counts": None if curve.counts is None else curve.counts.tolist(),
        "updates": plan.rates.size,
        "rates": _packed(plan.rates),
        "batch_sizes": float(plan.batch_sizes[0]) if np.ptp(plan.batch_sizes) == 0.0 else _packed(plan.batch_sizes),
    }


def _run(content: Any) -> LossCurve:
    count = whole_count("updates", content["updates"])
    affordable("updates", count, BYTES_OF_A_STEP, "fit shorter runs")
    batches = content["batch_sizes"]
    batches = _unpacked(batches, count) if isinstance(batches, str) else batches
    plan = Plan(_unpacked(content["rates"], count), None, content["warmup"], batches, content["model_size"])
    fields = {name: content[name] for name in _OF_A_RUN}
    _texts([fields["name"], fields["smoothing"]])
    return LossCurve(content["step"], content["loss"], schedule=plan, counts=content["counts"], **fields)


def _packed(values: Array) -> str:
    """Numbers as text: the second differences of their bits, of which smooth and constant schedules have few."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    for _ in range(2):
        bits = np.diff(bits, prepend=np.uint64(0))  # modulo 2^64
    return base64.b85encode(zlib.compress(bits.astype("<u8").tobytes(), 9)).decode("ascii")


def _unpacked(text: str, count: int) -> Array:
    try:
        content = zlib.decompressobj().decompress(base64.b85decode(text), 8 * count)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(content) != 8 * count:
        raise ValueError(f"{len(content) // 8} numbers for {count} updates")
    bits = np.frombuffer(content, "<u8").astype(np.uint64)
    for _ in range(2):
        bits = np.cumsum(bits, dtype=np.uint64)
    return np.asarray(bits.view(np.float64))
