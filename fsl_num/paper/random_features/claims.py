"""The theorem on random features, and the lemmas of its proof."""

from __future__ import annotations

from fsl_num.claims.claim import Claim
from fsl_num.paper.random_features.matrix_claims import CLAIMS as MATRIX_CLAIMS
from fsl_num.paper.random_features.risk_claims import CLAIMS as RISK_CLAIMS

CLAIMS: tuple[Claim, ...] = (*RISK_CLAIMS, *MATRIX_CLAIMS)
