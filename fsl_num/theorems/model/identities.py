"""The identities of the model: rotations, risk, equations of SGD, matrices, kernels."""

from __future__ import annotations

from fsl_num.theorems.claim import Claim
from fsl_num.theorems.records import Erratum

CLAIMS: tuple[Claim, ...] = ()
ERRATA: tuple[Erratum, ...] = ()
