"""The theorems on the functional scaling law of the first M features."""

from __future__ import annotations

from fsl_num.theorems.claim import Claim
from fsl_num.theorems.functional.gap_claims import CLAIMS as GAPS
from fsl_num.theorems.functional.theorem_claims import CLAIMS as THEOREMS
from fsl_num.theorems.records import Erratum

CLAIMS: tuple[Claim, ...] = (*THEOREMS, *GAPS)
ERRATA: tuple[Erratum, ...] = ()
