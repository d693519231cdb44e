"""The theorems on the functional scaling law of the first M features."""

from __future__ import annotations

from fsl_num.claims.claim import Claim
from fsl_num.paper.functional.constant_claims import CLAIMS as CONSTANTS
from fsl_num.paper.functional.endpoint_claims import CLAIMS as ENDPOINTS
from fsl_num.paper.functional.gap_claims import CLAIMS as GAPS
from fsl_num.paper.functional.theorem_claims import CLAIMS as THEOREMS

CLAIMS: tuple[Claim, ...] = (*THEOREMS, *ENDPOINTS, *GAPS, *CONSTANTS)
