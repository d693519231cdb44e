"""All claims, gathered from the files of their theorems, each id once.

>>> from fsl_num.claims.registry import all_claims
>>> len({known.id for known in all_claims()}) == len(all_claims())
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pkgutil import iter_modules

from fsl_num.claims.claim import Claim
from fsl_num.claims.label_table import PLACES
from fsl_num.claims.labels import section_of
from fsl_num.validation import instance_of

SECTIONS = (
    "model", "kernel", "functional", "random_features", "scaling_laws", "allocation", "experiments", "empirical_laws",
)  # fmt: skip
"""The folders of ``fsl_num.paper``, in the order of the paper."""


@cache
def theorem_files() -> dict[str, tuple[Claim, ...]]:
    """The dotted name of every file of a theorem, and its CLAIMS: by section, then by the line of the first claim.

    >>> list(theorem_files())[0].rpartition(".")[0]
    'fsl_num.paper.model'
    """
    claims_of: dict[str, tuple[Claim, ...]] = {}
    for section in SECTIONS:
        folder = import_module(f"fsl_num.paper.{section}").__path__
        modules = [import_module(f"fsl_num.paper.{section}.{module.name}") for module in iter_modules(folder)]
        files = {module.__name__: module.CLAIMS for module in modules if hasattr(module, "CLAIMS")}
        claims_of |= sorted(files.items(), key=lambda file: min(claim.line for claim in file[1]))
    return claims_of


@cache
def all_claims() -> tuple[Claim, ...]:
    """Every claim, in the order of the paper.

    >>> "tab: optimal-scaling" in [known.id for known in all_claims()]
    True
    """
    return consistent(claim for claims in theorem_files().values() for claim in claims)


def consistent(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """These claims, where every id is that of one and every claim that they name is among them.

    Raises ValueError where two claims share an id, one refers to a claim that does not exist, or one rests on itself.

    >>> consistent(all_claims()) == all_claims()
    True
    """
    claims_in_order = tuple(claims)
    ids = [claim.id for claim in claims_in_order]
    doubled = sorted({claim_id for claim_id in ids if ids.count(claim_id) > 1})
    if doubled:
        raise ValueError(f"these ids stand for more than one claim: {', '.join(doubled)}")
    for claim in claims_in_order:
        for named in (*claim.depends, claim.corrected_by, claim.strengthens):
            if named is not None and named not in ids:
                raise ValueError(f"claim {claim.id} refers to {named!r}, which is no claim")
    _without_circles({claim.id: (*claim.depends, *filter(None, [claim.corrected_by])) for claim in claims_in_order})
    return claims_in_order


def _without_circles(needed: Mapping[str, tuple[str, ...]]) -> None:
    """Raises ValueError where a claim rests on itself, directly or by others."""
    try:
        tuple(TopologicalSorter(needed).static_order())
    except CycleError as error:
        raise ValueError(f"these claims rest on each other: {' -> '.join(error.args[1])}") from error


def file_of(claim_id: str) -> str:
    """The dotted name of the file of the claim's theorem; "" for a claim of none.

    >>> file_of("tab: optimal-scaling")
    'fsl_num.paper.allocation.comparisons'
    """
    return next((name for name, claims in theorem_files().items() if claim_id in [claim.id for claim in claims]), "")


def claim(claim_id: str) -> Claim:
    """The claim with this id (spaces and capitals do not count); ValueError with the nearest ids where there is none.

    >>> claim("tab:optimal-scaling").line
    194
    """
    instance_of("claim_id", claim_id, str)
    spaceless = spaceless_lower(claim_id)
    if (known := _by_spaceless_id().get(spaceless)) is not None:
        return known
    ids = [claim.id for claim in all_claims()]
    holding = sorted((name for name in ids if spaceless in spaceless_lower(name)), key=len) if spaceless else []
    if not holding and (said := [claim.id for claim in saying(claim_id.split())] if spaceless else []):
        raise ValueError(f"there is no claim {claim_id!r}, but `fsl list {claim_id}` finds {', '.join(said[:3])}")
    near = holding[:3] or get_close_matches(claim_id, ids, 3, 0.4)
    hint = (
        f": did you mean {' or '.join(near)}?"
        if near
        else ": `fsl list` shows them all, `fsl list section 4.1` those of one section"
    )
    raise ValueError(f"there is no claim {claim_id!r}{hint}")


@cache
def _by_spaceless_id() -> dict[str, Claim]:
    return {spaceless_lower(claim.id): claim for claim in all_claims()}


def saying(words: Sequence[str]) -> tuple[Claim, ...]:
    """The claims that have every one of these words, capitals or not, in their id, label, title, hypotheses, remark or
    the words that they quote, or as the kind of statement that they are about (theorem, lemma, formula, ...).

    The words "section" and its number mean the claims that stand in it.

    >>> [known.id for known in saying(["stable", "noise"])][0], saying(["WSD", "theorem"])[0].id
    ('lem: wsd-stable-noise', 'thm: wsd')
    >>> sorted({section_of(known.line).number for known in saying(["section", "5"])})
    ['5', '5.1', '5.2', '5.3']
    """
    if len(words) == 2 and words[0].lower() == "section":
        begin = f"{words[1].rstrip('.').upper()}."
        return tuple(claim for claim in all_claims() if f"{section_of(claim.line).number}.".startswith(begin))
    claims = []
    kinds = {place.label: place.kind for place in PLACES}
    for claim in all_claims():
        texts = (claim.id, kinds.get(claim.label, ""), claim.label, claim.title, claim.quoted, claim.remark)
        text = " ".join((*texts, *map(str, claim.hypotheses))).lower()
        if all(word.lower() in text for word in words):
            claims.append(claim)
    return tuple(claims)


def spaceless_lower(text: str) -> str:
    """A name as it is compared: spaces and capitals do not count.

    >>> spaceless_lower("THM: wsd")
    'thm:wsd'
    """
    return "".join(text.split()).lower()
