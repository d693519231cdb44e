"""The identities of the model: rotations, risk, equations of SGD, matrices, kernels; and capacity against one task."""

from __future__ import annotations

from fsl_num.claims.claim import Claim
from fsl_num.paper.model.capacities import CAPACITY_CLAIMS
from fsl_num.paper.model.equation_claims import EQUATION_CLAIMS
from fsl_num.paper.model.space_claims import SPACE_CLAIMS

CLAIMS: tuple[Claim, ...] = (*EQUATION_CLAIMS, *SPACE_CLAIMS, *CAPACITY_CLAIMS)
