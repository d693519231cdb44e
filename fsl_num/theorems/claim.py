"""A claim of the paper as one object: what it says, under which hypotheses, how it is derived, measured and refuted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from fsl_num.theorems.statements import Statement
from fsl_sym.domain import REGIMES, Regime

Role = Literal["printed", "corrected", "argument", "stronger", "own"]
"""Where a claim comes from: the paper as printed; the paper corrected; a step of a proof of the paper, heard apart from
what it proves; a statement of ours that is stronger than a printed one; one of ours that the paper does not make."""

Words = str | Callable[[], str]
"""A text, or what makes it when it is asked for: the registry is read without deriving what only a report shows."""

ALL_REGIMES = tuple(regime.name for regime in REGIMES)


@dataclass(frozen=True)
class Sample:
    """One exact point (s, beta) at which a claim is heard; the regime's name, and how much effort to spend.

    ``effort`` is 0 for the quick profile, 1 for the full one, 2 for the deep one; ``seed`` is for what is drawn.
    """

    regime: str
    s: Any
    beta: Any
    effort: int = 0
    seed: int = 0

    @property
    def point(self) -> tuple[float, float]:
        """(s, beta) as floats."""
        return float(self.s), float(self.beta)


@dataclass(frozen=True)
class Claim:
    """One claim, as printed in the paper or as corrected here.

    ``id`` is the paper's label (a slug where it has none; variants carry a suffix), ``line`` its line in the paper's
    source, ``statement(sample)`` the claim in numbers, ``measure(sample)`` what is measured without knowing the claim,
    ``mutants(sample)`` wrong versions beyond those a statement makes of itself, ``derive`` the symbolic derivation.
    ``exact`` says that the derivation proves the whole claim (the verdict is then PROVED, not SUPPORTED).
    Claims of one ``family`` share a measurement and are heard in one process (its own id unless given).
    ``corrected_by`` is the id of the claim that replaces this one where the paper's version fails; ``role`` says where
    the claim comes from (:data:`Role`), ``strengthens`` which printed claim a stronger one implies. ``probability`` is
    for claims about random draws: what is asserted with which probability, the sample size, and the error of the test.
    """

    id: str
    label: str
    line: int
    title: str
    text: Words
    latex: Words
    hypotheses: tuple[str, ...]
    measure: Callable[[Sample], Any]
    statement: Callable[[Sample], Statement]
    mutants: Callable[[Sample], Mapping[str, Statement]] = lambda sample: {}
    derive: Callable[[], Any] | None = None
    regimes: tuple[str, ...] = ALL_REGIMES
    depends: tuple[str, ...] = ()
    corrected_by: str | None = None
    exact: bool = False
    family: str = ""
    role: Role = "printed"
    strengthens: str | None = None
    probability: str = ""
    extra_points: Mapping[str, tuple[tuple[Any, Any], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = set(self.regimes) - set(ALL_REGIMES)
        if unknown or not self.regimes:
            raise ValueError(f"claim {self.id}: regimes must be among {ALL_REGIMES} and not empty, not {self.regimes}")
        if self.role not in get_args(Role) or (self.role == "stronger") != (self.strengthens is not None):
            raise ValueError(
                f"claim {self.id}: the role must be one of {get_args(Role)}, and a stronger claim (no other) "
                f"says which claim it strengthens; not {self.role!r} with strengthens = {self.strengthens!r}"
            )
        if not self.hypotheses:
            raise ValueError(f"claim {self.id} has no hypotheses: say at least 's > 0, beta > 1'")

    @property
    def wording(self) -> str:
        """The claim in words."""
        return self.text if isinstance(self.text, str) else self.text()

    @property
    def formula(self) -> str:
        """The claim in LaTeX, without delimiters."""
        return self.latex if isinstance(self.latex, str) else self.latex()

    def regime_objects(self) -> tuple[Regime, ...]:
        """The regimes in which the claim is heard."""
        return tuple(regime for regime in REGIMES if regime.name in self.regimes)
