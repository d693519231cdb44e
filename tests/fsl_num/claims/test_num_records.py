"""What claims, outcomes and errata show of themselves."""

import pytest
from notebook_views import as_latex, as_markdown

from fsl_num.claims import registry, runner
from fsl_num.claims.errata import errata


def test_claims_outcomes_and_errata_show_themselves_in_words():
    """In Python what a verifier types first: an id, and print."""
    outcome = runner.verify("lem: half-scale")
    assert outcome.verdict == runner.verify(registry.claim("lem: half-scale")).verdict
    low, high = outcome.constants
    counted = f"{outcome.mutants_refuted} of {outcome.mutants_total} wrong versions refuted"
    words = f"lem: half-scale: {outcome.verdict} (passes); {counted}; constants [{low:.3g}, {high:.3g}]"
    assert str(outcome) == words and outcome.mutants_total > 0
    claim = registry.claim("lem: half-scale")
    assert str(claim) == f"lem: half-scale (printed, line 739): {claim.title}\n{claim.wording}"
    assert as_latex(claim) == rf"$\displaystyle {claim.latex}$"
    (erratum,) = (erratum for erratum in errata() if erratum.id == "cosine-without-pi")
    shown = str(erratum)
    assert shown.startswith("cosine-without-pi (typo; sec:CLRS, line 1207)\nas printed: ")
    assert erratum.wrong in shown and erratum.corrected in shown.splitlines()[-1]
    assert "**cosine-without-pi** (typo)" in as_markdown(erratum)
    with pytest.raises(ValueError, match="there is no claim 'lem: half'"):
        runner.verify("lem: half")
