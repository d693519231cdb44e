"""The theorem on random features, and the lemmas of its proof."""

from __future__ import annotations

from fsl_num.theorems.claim import Claim
from fsl_num.theorems.records import Erratum

CLAIMS: tuple[Claim, ...] = ()
ERRATA: tuple[Erratum, ...] = ()
