"""What an outcome leaves behind: plain frozen records that reports render and JSON carries.

>>> from fsl_num.claims.records import Verdict
>>> Verdict.SUPPORTED.passes, Verdict.VACUOUS.passes
(True, False)
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any


class Verdict(StrEnum):
    """What was concluded about a claim; only the first three pass by themselves.

    A claim of the paper that is REFUTED passes only when the claim that corrects it passes.
    """

    PROVED = "PROVED"
    ENCLOSED = "ENCLOSED"
    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    UNKNOWN = "UNKNOWN"
    VACUOUS = "VACUOUS"

    @property
    def passes(self) -> bool:
        """Whether the verdict passes without a correction."""
        return self in (Verdict.PROVED, Verdict.ENCLOSED, Verdict.SUPPORTED)


@dataclass(frozen=True)
class Curve:
    """The ratio measured / claimed along one path: ``scale`` and ``ratio`` in natural logarithms, at most 24 places."""

    name: str
    scale: tuple[float, ...]
    ratio: tuple[float, ...]


@dataclass(frozen=True)
class Judgement:
    """What one statement scores against one measurement.

    ``constants`` is the measured two-sided [c, C] of measured / claimed; ``excess`` is how far the decisive quantity
    lies beyond its tolerance, as a multiple of that tolerance (at most 1 when the statement holds); ``draw`` gives the
    ratios along the paths that drift most, reach lowest and reach highest: few judgements are ever drawn.
    ``rigorous``: proven enclosures decide it.
    """

    holds: bool
    excess: float
    constants: tuple[float, float] | None = None
    drift: float | None = None
    detail: str = ""
    draw: Callable[[], tuple[Curve, ...]] = tuple
    rigorous: bool = False


def beside(value: float, limit: float) -> str:
    """A number in as many digits, at least two, as show on which side of a limit it lies.

    >>> beside(0.0101, 0.01), beside(0.012, 0.01), beside(0.00996, 0.01)
    ('0.0101', '0.012', '0.00996')
    """
    texts = (f"{value:.{digits}g}" for digits in range(2, 17))
    return next(
        (text for text in texts if (float(text) > limit) == (value > limit) and float(text) != limit), f"{value}"
    )


@dataclass(frozen=True)
class PointOutcome:
    """A claim checked at one exact point: ``s`` and ``beta`` as exact text ("1/2"), and what was measured there."""

    s: str
    beta: str
    holds: bool
    constants: tuple[float, float] | None
    drift: float | None
    detail: str
    curves: tuple[Curve, ...] = ()


@dataclass(frozen=True)
class MutantOutcome:
    """One wrong version of a claim and whether the claim's own check refuted it.

    ``excuse`` says why it cannot be refuted at the one point at which it was judged, where that is known.
    """

    name: str
    refuted: bool
    detail: str = ""
    excuse: str = ""


@dataclass(frozen=True)
class RegimeOutcome:
    """A claim checked in one regime over ``samples`` exact points: ``points``, witnesses that the regime exists.

    ``resolution``: kind -> the smallest error refused, of single exponents ("power", "log_power"), of those that are
    least resolved together ("combination"), of sharp constants and exact numbers, relative ("constant");
    ``combinations``: of how many independent combinations of exponents the rays show an error, and how many there are.
    """

    regime: str
    samples: int
    holds: bool
    constants: tuple[float, float] | None
    drift: float | None
    mutants: tuple[MutantOutcome, ...]
    resolution: dict[str, float] = field(default_factory=dict, hash=False)
    detail: str = ""
    points: tuple[PointOutcome, ...] = ()
    rigorous: bool = False
    combinations: tuple[int, int] | None = None


@dataclass(frozen=True)
class DerivationRecord:
    """A derivation's name, its steps and how many of them the machine verified."""

    name: str
    steps: int
    verified: int
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether every step was verified."""
        return self.steps > 0 and self.verified == self.steps


@dataclass(frozen=True)
class Outcome:
    """Everything that is known of one claim after its checks; ``unproved`` is why it is not PROVED where it passes."""

    claim_id: str
    title: str
    verdict: Verdict
    passes: bool
    regimes: tuple[RegimeOutcome, ...]
    derivations: tuple[DerivationRecord, ...]
    seconds: float
    message: str = ""
    corrected_by: str | None = None
    unproved: str = ""

    def __str__(self) -> str:
        """The verdict, and what it rests on, in a line."""
        said = [f"{self.claim_id}: {self.verdict} ({'passes' if self.passes else 'fails'})"]
        if self.corrected_by is not None:
            said.append(f"corrected by {self.corrected_by}")
        if self.mutants_total:
            said.append(f"{self.mutants_refuted} of {self.mutants_total} wrong versions refuted")
        if self.constants is not None:
            said.append("constants [{:.3g}, {:.3g}]".format(*self.constants))
        return "; ".join([*said, *filter(None, [self.message])])

    @property
    def mutants_total(self) -> int:
        """How many mutants were checked, all regimes together."""
        return sum(len(regime.mutants) for regime in self.regimes)

    @property
    def mutants_refuted(self) -> int:
        """How many of them the check refuted."""
        return sum(mutant.refuted for regime in self.regimes for mutant in regime.mutants)

    @property
    def constants(self) -> tuple[float, float] | None:
        """The widest [c, C] over the regimes, None where no ratio was measured."""
        pairs = [regime.constants for regime in self.regimes if regime.constants is not None]
        return (min(low for low, _ in pairs), max(high for _, high in pairs)) if pairs else None

    @property
    def resolution(self) -> dict[str, float]:
        """The worst (largest) resolution of each kind over the regimes."""
        worst: dict[str, float] = {}
        for regime in self.regimes:
            for kind, size in regime.resolution.items():
                worst[kind] = max(size, worst.get(kind, 0.0))
        return worst

    def to_json(self) -> dict[str, Any]:
        """The record as JSON-ready values; a number that is not finite becomes None."""
        record = asdict(self) | {
            "verdict": str(self.verdict),
            "mutants_total": self.mutants_total,
            "mutants_refuted": self.mutants_refuted,
            "constants": self.constants,
            "resolution": self.resolution,
        }
        return {key: _finite(value, None) for key, value in record.items()}

    def to_exact_json(self) -> dict[str, Any]:
        """The fields alone as JSON-ready values that lose nothing: a number that is not finite is a text ("inf")."""
        return {key: _finite(value, str) for key, value in (asdict(self) | {"verdict": str(self.verdict)}).items()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Outcome:
        """The outcome of which this is the record; exactly, if :meth:`to_exact_json` made it.

        Fields that are computed (the sums of :meth:`to_json`) are left out, and None for a number reads as nan. Raises
        ValueError or TypeError where the record is not that of an outcome.

        >>> outcome = Outcome("thm:x", "t", Verdict.SUPPORTED, True, (), (), 0.5)
        >>> Outcome.from_json(outcome.to_exact_json()) == Outcome.from_json(outcome.to_json()) == outcome
        True
        """
        read: Outcome = _read(cls, record)
        return read


KINDS = ("false as stated", "gap in the argument", "inconsistency", "typo", "remark")
"""What can be wrong with a line of the paper, the gravest first; a missing hypothesis makes a line false as stated.

A remark finds nothing wrong: it says where a true sentence, or an observation of one experiment, ends to hold.
"""

FALLS = ("a statement", "a proof", "an experiment", "nothing")
"""What an erratum takes with it, the gravest first: a result as printed, a proof of one that stands, what is said of an
experiment, or nothing that a reader would not mend in passing."""


@dataclass(frozen=True)
class Erratum:
    """A place where the paper is wrong, what is wrong there, what is right, and how it is known.

    ``kind`` is one of :data:`KINDS`, ``falls`` one of :data:`FALLS`, ``wrong`` is one sentence, ``depends`` are the ids
    of the claims that it rests on, ``file`` is where it is written, ``repeat`` is a command where the claims have none.
    The texts are Markdown, with formulas as LaTeX between dollar signs.
    """

    id: str
    label: str
    line: int
    kind: str
    as_printed: str
    wrong: str
    corrected: str
    evidence: str
    depends: tuple[str, ...] = ()
    file: str = ""
    falls: str = "nothing"
    repeat: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"erratum {self.id}: the kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.falls not in FALLS:
            raise ValueError(f"erratum {self.id}: what falls must be one of {', '.join(FALLS)}, not {self.falls!r}")
        if not self.evidence or self.as_printed == self.corrected:
            raise ValueError(f"erratum {self.id} needs evidence, and a correction that differs from what is printed")
        if not self.wrong:
            raise ValueError(f"erratum {self.id} must say what is wrong, in one sentence")

    def __str__(self) -> str:
        """Where, what is wrong, and what is right, as they are written."""
        where = f"{self.id} ({self.kind}; {self.label}, line {self.line})"
        return f"{where}\nas printed: {self.as_printed}\n{self.wrong}\ncorrected: {self.corrected}"

    def _repr_markdown_(self) -> str:
        head = f"**{self.id}** ({self.kind}), `{self.label}`, line {self.line}"
        return f"{head}\n\nAs printed: {self.as_printed}\n\n{self.wrong}\n\nCorrected: {self.corrected}"

    @property
    def severity(self) -> tuple[int, int, int]:
        """The place of the erratum in a list that begins with the gravest: by kind, by what falls, by line."""
        return KINDS.index(self.kind), FALLS.index(self.falls), self.line

    @property
    def command(self) -> str:
        """What repeats the evidence: ``repeat``, else the command that verifies the claims; "" without any."""
        return self.repeat or " ".join(
            ["fsl verify", *(f'"{claim_id}"' for claim_id in self.depends)] if self.depends else []
        )

    def to_json(self) -> dict[str, Any]:
        """The erratum as JSON-ready values; ``repeat`` is its command, whole."""
        return asdict(self) | {"repeat": self.command}


@cache  # annotations are texts, compiled each time
def _hints(kind: type) -> Mapping[str, Any]:
    """The kinds of the fields of a record."""
    return typing.get_type_hints(kind)


def _finite(value: Any, substitute: Any) -> Any:
    """The value with ``substitute`` (or what it makes of them) in the place of numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return substitute(value) if substitute else None
    if isinstance(value, dict):
        return {key: _finite(item, substitute) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item, substitute) for item in value]
    return value


def _read(kind: Any, value: Any) -> Any:
    """A value of the annotated kind from what JSON made of it; ValueError or TypeError where it is none."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise TypeError(f"a record of {kind} must be an object, not {value!r}")
        hints = _hints(kind)
        names = [field.name for field in fields(kind) if field.name in value]
        made: Any = kind
        return made(**{name: _read(hints[name], value[name]) for name in names})
    if origin in (typing.Union, types.UnionType):
        return (
            None
            if value is None
            else _read(next(argument for argument in arguments if argument is not types.NoneType), value)
        )
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise TypeError(f"{value!r} must be a list")
        kinds = [arguments[0]] * len(value) if arguments[-1] is ... else list(arguments)
        return tuple(_read(kind, item) for kind, item in zip(kinds, value, strict=True))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise TypeError(f"{value!r} must be an object")
        return {_read(arguments[0], key): _read(arguments[1], item) for key, item in value.items()}
    if kind is float and (value is None or isinstance(value, str)):
        return float("nan" if value is None else value)
    if kind is float and type(value) is int or kind is Verdict:
        return kind(value)
    if type(value) is not kind:
        raise TypeError(f"{value!r} must be of type {kind}")
    return value
