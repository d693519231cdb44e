"""The empirical laws, and the steps that lead to the ansatz."""

from __future__ import annotations

from fsl_num.theorems.claim import Claim
from fsl_num.theorems.records import Erratum

CLAIMS: tuple[Claim, ...] = ()
ERRATA: tuple[Erratum, ...] = ()
