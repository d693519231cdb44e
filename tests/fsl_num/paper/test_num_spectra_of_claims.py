"""Which claims on the functional law and on scaling laws are measured over spectra up to constants, and why the others
are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from fsl_num.claims.claim import Claim
from fsl_num.claims.hypotheses import bare
from fsl_num.claims.registry import all_claims, file_of
from fsl_num.claims.statements import Ray
from fsl_num.claims.verification import samples_of
from fsl_num.paper.block_constants import EXACT_POWERS, UP_TO_CONSTANTS, given_constants
from fsl_num.paper.block_spectra import block_modes

NAMES = tuple(constants.name for constants in given_constants(0))
CLAIMS = [claim for claim in all_claims() if file_of(claim.id).split(".")[2] in ("functional", "scaling_laws")]


def of(claim: Claim, opening: str) -> list[str]:
    """Its hypotheses that begin with some words."""
    return [
        hypothesis for hypothesis in claim.hypotheses if isinstance(hypothesis, str) and hypothesis.startswith(opening)
    ]


MEASURED = [claim for claim in CLAIMS if of(claim, UP_TO_CONSTANTS)]


def names_in(measured: Any) -> Iterator[str]:
    """The names of all rays and numbers of a measurement."""
    if isinstance(measured, Ray | str):
        yield measured.name if isinstance(measured, Ray) else measured
    elif isinstance(measured, Mapping | list | tuple):
        parts = measured.values() if isinstance(measured, Mapping) else measured
        yield from (name for part in parts for name in names_in(part))


def test_each_claim_is_measured_over_spectra_up_to_constants_or_says_why_not() -> None:
    assert len(MEASURED) > 40
    for claim in CLAIMS:
        assert len(of(claim, UP_TO_CONSTANTS)) + len(of(claim, EXACT_POWERS)) == 1, claim.id
        assert all(len(reason) > len(EXACT_POWERS) + 20 for reason in of(claim, EXACT_POWERS)), claim.id


@pytest.mark.parametrize("claim", MEASURED, ids=lambda claim: claim.id)
def test_what_says_so_is_measured_over_both(claim: Claim) -> None:
    samples = samples_of(claim, "quick", 0)
    (first, *_) = next(iter(samples.values()))
    names = list(names_in(bare(claim.measure(first))))
    for kind in NAMES:
        assert any(kind in name for name in names), (kind, names)
    assert any(not any(kind in name for kind in NAMES) for name in names), names


@pytest.mark.parametrize("constants", given_constants(0), ids=lambda law: law.name)
def test_equal_last_eigenvalues_end_the_contraction_earlier(constants: Any) -> None:
    """Long after M^beta (K_M * K_M)/K_M is t times what the last eigenvalue weighs: of the order t M^(1 - 2 beta)."""
    beta, shares = 2.0, []
    for size in (16.0, 256.0, 4096.0):
        modes, _ = block_modes(constants, 1.0, beta, size, size ** (2.0 * beta))
        slowest = modes.rates == modes.rates[modes.weights > 0.0].min()
        shares.append(float(modes.weights[slowest].sum() * size ** (2.0 * beta - 1.0)))
    assert np.ptp(np.log(shares)) < 0.1 and 0.2 < shares[0] < 5.0
