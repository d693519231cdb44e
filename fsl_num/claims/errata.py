"""Where the paper is wrong: the errata of all groups of claims, in the order of the paper."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from fsl_num.claims.records import Erratum
from fsl_num.claims.registry import GROUPS, all_claims


@cache
def errata() -> tuple[Erratum, ...]:
    """Every erratum, ordered by its line in the paper's source.

    Raises ValueError where two errata share an id, or one refers to a claim that does not exist.

    >>> all(each.evidence for each in errata())
    True
    """
    found = [each for group in GROUPS for each in import_module(f"fsl_num.paper.{group}").ERRATA]
    ids = [each.id for each in found]
    doubled = sorted({each for each in ids if ids.count(each) > 1})
    if doubled:
        raise ValueError(f"these ids stand for more than one erratum: {', '.join(doubled)}")
    known = {each.id for each in all_claims()}
    for each in found:
        unknown = sorted(set(each.depends) - known)
        if unknown:
            raise ValueError(f"erratum {each.id} refers to {', '.join(unknown)}, which is no claim")
    return tuple(sorted(found, key=lambda each: each.line))
