"""What the errata say as evidence, for the tests that measure its numbers again."""

from fsl_num.claims.errata import errata

EVIDENCE = {erratum.id: erratum.evidence for erratum in errata()}


def assert_said(erratum, *numbers):
    """Each number, as text, stands in the evidence."""
    assert [number for number in numbers if number not in EVIDENCE[erratum]] == []


def scientific(value, digits):
    """A number with so many digits after the point, as LaTeX sets it."""
    mantissa, _, power = f"{value:.{digits}e}".partition("e")
    return rf"{mantissa} \times 10^{{{int(power)}}}"
