"""What the parts of the page share: the claims by name, the anchors, and how words are set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fsl_num.report.html.elements import Html, anchors, element, joined
from fsl_num.report.html.prose import Prose
from fsl_num.theorems.claim import Claim
from fsl_num.theorems.records import Erratum, Hearing


@dataclass(frozen=True)
class Context:
    """The claims that were heard, their hearings and the errata, all in the order of the page."""

    claims: Sequence[Claim]
    hearings: Sequence[Hearing]
    errata: Sequence[Erratum]

    @cached_property
    def claim_anchors(self) -> dict[str, str]:
        """The id of the article of each claim."""
        return anchors("claim", (hearing.claim_id for hearing in self.hearings))

    @cached_property
    def erratum_anchors(self) -> dict[str, str]:
        """The id of the article of each erratum."""
        return anchors("erratum", (erratum.id for erratum in self.errata))

    @cached_property
    def prose(self) -> Prose:
        """Sets words, with links to every claim and erratum that they name."""
        return Prose({**self.claim_anchors, **self.erratum_anchors})

    def claim_link(self, claim_id: str) -> Html:
        """A link to a claim, or its id where the claim is not on the page."""
        code = element("code", claim_id)
        anchor = self.claim_anchors.get(claim_id)
        return element("a", code, href=f"#{anchor}") if anchor else code

    def erratum_link(self, erratum_id: str) -> Html:
        """A link to an erratum of the page."""
        return element("a", element("code", erratum_id), href=f"#{self.erratum_anchors[erratum_id]}")

    def claim_links(self, ids: Sequence[str]) -> Html:
        """Links to claims, with commas."""
        return joined((self.claim_link(each) for each in ids), ", ")
