"""The theorem on random features, and the lemmas of its proof."""

from __future__ import annotations

from fsl_num.theorems.claim import Claim
from fsl_num.theorems.random_features.errata import RANDOM_ERRATA
from fsl_num.theorems.random_features.matrix_claims import CLAIMS as MATRIX_CLAIMS
from fsl_num.theorems.random_features.risk_claims import CLAIMS as RISK_CLAIMS
from fsl_num.theorems.records import Erratum

CLAIMS: tuple[Claim, ...] = (*RISK_CLAIMS, *MATRIX_CLAIMS)
ERRATA: tuple[Erratum, ...] = RANDOM_ERRATA
