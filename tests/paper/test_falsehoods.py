"""Statements that differ a little from the paper's, written without its checks at hand, are refused by these checks.

The account stands in falsehoods.md, the statements in :mod:`falsehoods`. By day only those falsehoods are judged whose
claims are measured quickly; all of them, in a minute or two,

    HYPOTHESIS_PROFILE=nightly python -m pytest tests/paper/test_falsehoods.py
"""

import re
from pathlib import Path

import pytest
from falsehoods import FALSEHOODS, NOT_EXPRESSED, OWN_MEASUREMENTS
from hypothesis import settings
from own_falsehoods import OWN_FALSEHOODS

from fsl_num.claims.registry import claim

ACCOUNT = Path(__file__).with_name("falsehoods.md").read_text(encoding="utf-8")
WRITTEN = re.findall(r"^\| ([ELMRQCS]\d+) \|", ACCOUNT, re.MULTILINE)
SLOW = (
    "lem: random_eigen", "lem:bias_", "lem:eig_ratio", "lem:T_estimate", "prop:fsl", "tab:", "thm: fsl", "thm: wsd",
    "thm:fsl", "thm:geometric/", "ass:fsl",
)  # fmt: skip
"""How the ids of claims begin whose measurement at the points of the quick profile takes half a second or more."""
NIGHT = settings.default is settings.get_profile("nightly")
JUDGED = [falsehood for falsehood in (*FALSEHOODS, *OWN_FALSEHOODS) if NIGHT or not falsehood.claim.startswith(SLOW)]


def parameters_of(chosen):
    return [pytest.param(falsehood, id=f"{falsehood.name}-{''.join(falsehood.claim.split())}") for falsehood in chosen]


@pytest.mark.parametrize("false", parameters_of(falsehood for falsehood in JUDGED if not falsehood.true))
def test_a_falsehood_is_refused(false):
    assert false.refused("quick") is not None


@pytest.mark.parametrize("changed", parameters_of((*OWN_MEASUREMENTS, *(truth for truth in JUDGED if truth.true))))
def test_what_is_true_after_all_is_not_refused(changed):
    assert changed.refused("quick") is None


def test_falsehoods_are_refused_by_claims_that_hold():
    # That these hold at the points of the quick profile is tested with all claims.
    assert [falsehood.name for falsehood in FALSEHOODS if claim(falsehood.claim).corrected_by is not None] == []


def test_every_falsehood_written_is_judged_or_excused():
    assert sorted(WRITTEN) == sorted([*(falsehood.name for falsehood in FALSEHOODS), *NOT_EXPRESSED])


def test_no_kind_of_falsehood_is_rare():
    assert min(sum(name.startswith(kind) for name in WRITTEN) for kind in "ELMRQCS") >= 8
