"""Fits as JSON text."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fsl_num.curves.identify import Identifiability
from fsl_num.curves.laws import (
    AnsatzLaw,
    ChinchillaLaw,
    FunctionalLaw,
    Law,
    MomentumLaw,
    MultiPowerLaw,
    PhysicalTimeLaw,
)
from fsl_num.curves.posterior import Posterior
from fsl_num.curves.search import Residuals, Settings
from fsl_num.validation import positive

if TYPE_CHECKING:
    from fsl_num.curves.result import FitResult

FORMAT: Final = "functional scaling law fit, version 2"
"""What the first entry of the file says."""

_BEFORE: Final = "functional scaling law fit, version 1"

_KINDS: Final = {
    kind.__name__: kind
    for kind in (AnsatzLaw, ChinchillaLaw, FunctionalLaw, MomentumLaw, MultiPowerLaw, PhysicalTimeLaw)
}


def to_json(result: FitResult) -> str:
    """Return the fit as JSON text."""
    drawn = None
    if result.drawn is not None:
        drawn = {**asdict(result.drawn), "samples": result.drawn.samples.tolist()}
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
        "curves": [curve.name for curve in result.curves],
    }
    return json.dumps(content, indent=1, allow_nan=False)


def from_json(text: str) -> FitResult:
    """Return the fit written by :func:`to_json`, without its curves; ValueError where the text is anything else."""
    from fsl_num.curves.result import FitResult

    try:
        content = json.loads(text)
    except ValueError as error:
        raise ValueError(f"this is no saved fit: not JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") not in (FORMAT, _BEFORE):
        raise ValueError(f"this is no saved fit: its format must be {FORMAT!r}; write one with FitResult.to_json()")
    try:
        law = _law(content["law"])
        values = law.vector(content["parameters"])
        report = content["report"]
        before = content["format"] == _BEFORE
        notes = tuple(content["notes"])
        if before:
            notes += ("Saved by an earlier version, whose intervals are not read: fit again to have them.",)
        return FitResult(
            law,
            tuple(values.tolist()),
            (),
            Settings() if before else Settings(**content["settings"]),
            float(content["objective"]),
            Identifiability(
                math.inf if report["condition"] is None else float(report["condition"]),
                MappingProxyType({str(k): float(v) for k, v in report["weakest"].items()}),
                tuple(report["on_bounds"]),
                MappingProxyType({name: (float(a), float(b)) for name, (a, b) in report["intervals"].items()}),
                tuple(report["sentences"]),
                tuple(report.get("unidentified", report.get("untold", ()))),
            ),
            None if before else _posterior(content["posterior"], values.size),
            notes,
            float(content["reach"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this saved fit is damaged: {error!r}; save the fit again") from error


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


def _posterior(content: Any, size: int) -> Posterior | None:
    if content is None:
        return None
    samples = np.array(content["samples"], dtype=np.float64)
    if samples.ndim != 2 or samples.shape[1] != size or not np.isfinite(samples).all():
        raise ValueError(f"this saved fit is damaged: samples of shape {samples.shape} for {size} parameters")
    peaks = tuple(positive("peaks", each) for each in content["peaks"])
    scatter = positive("scatter", content["scatter"], zero=True)
    return Posterior(samples, Residuals(**content["residuals"]), peaks, scatter)
