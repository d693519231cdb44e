"""The files of the errata: what is refused, with its place, and that what they quote are words of the paper."""

import re
import shlex
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from tex_labels import labels

from fsl_num.claims.errata import check_claims, errata, parse
from fsl_num.claims.labels import where
from fsl_num.claims.records import FALLS, KINDS, Erratum
from fsl_num.claims.registry import all_claims
from fsl_num.cli import main

FILE = "fsl_num/paper/model/errata/own.md"
GOOD = """---
label: "thm: x"
line: 12
kind: "typo"
falls: "a proof"
claims: ["thm: x", "thm: x/corrected"]
---

## As printed

$D^{-1}$, "as the
theorem says"

## What is wrong

The power is that of `thm: y`.

## Corrected

$D^{-2}$

## Evidence

By `thm: y` it is $D^{-2}$.
"""


def test_a_file_is_read():
    assert parse(GOOD, FILE) == Erratum(
        "own", "thm: x", 12, "typo", '$D^{-1}$, "as the theorem says"', "The power is that of `thm: y`.", "$D^{-2}$",
        "By `thm: y` it is $D^{-2}$.", ("thm: x", "thm: x/corrected"), FILE, "a proof",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("---\nlabel", "label", 1, "begins with front matter"),
        ('claims: ["thm: x", "thm: x/corrected"]\n---', "claims: []", 1, "between two lines '---'"),
        ("line: 12", "place: 12", 3, "'place' is not one of label, line, kind, falls, claims, repeat"),
        ('["thm: x", "thm: x/corrected"]', "[]", 7, "does not say repeat"),
        ("claims:", 'repeat: ""\nclaims:', 6, "repeat must be a text in quotes"),
        ("line: 12", 'label: "thm: y"', 3, "given twice"),
        ("line: 12\n", "", 6, "does not say line"),
        ("line: 12", 'line: "12"', 3, "line must be the number of a line, not '\"12\"'"),
        ("line: 12", "line: 0", 3, "line must be the number of a line"),
        ("line: 12", "line: true", 3, "line must be the number of a line"),
        ('"thm: x"\nline', "thm: x\nline", 2, "label must be a text in quotes, not 'thm: x'"),
        ('["thm: x", "thm: x/corrected"]', "thm: x", 6, "claims must be a list of ids in quotes"),
        ('["thm: x", "thm: x/corrected"]', "[1]", 6, "claims must be a list of ids in quotes"),
        ('"typo"', '"opinion"', 4, "kind must be one of false as stated, gap in the argument, inconsistency, typo,"),
        ('"a proof"', '"the house"', 5, "falls must be one of a statement, a proof, an experiment, nothing"),
        ("## As printed", "words\n\n## As printed", 9, "a text before the first section"),
        ("## What is wrong\n\nThe power is that of `thm: y`.\n\n", "", 14, "## What is wrong, ## Corrected"),
        ("of `thm: y`.\n", "of `thm: y`\n", 24, "must be one sentence with a full stop"),
        ("of `thm: y`.\n", "of `thm: y`. It is.\n", 24, "must be one sentence with a full stop"),
        ("## Corrected", "## Right", 18, "the sections are ## As printed, ## What is wrong, ## Corrected, ## Evidence"),
        ("## Evidence", "## Evidence\n\nyes\n\n## Evidence", 26, "in this order"),
        ("## Evidence\n\nBy `thm: y` it is $D^{-2}$.\n", "", 21, "'## Evidence' is missing or empty"),
        ("$D^{-2}$\n\n## E", "\n\n## E", 24, "'## Corrected' is missing or empty"),
        ('$D^{-1}$, "as the\ntheorem says"', "$D^{-2}$", 23, "must differ from what is printed"),
        ('$D^{-1}$, "as the', "$D^{-1}, as the", 11, "an odd number"),
        ('$D^{-1}$, "as the', "D^{-1}, as the", 11, "'^' outside of a formula"),
        ('$D^{-1}$, "as the', "M <~ 1, as the", 11, "'<' outside of a formula"),
        ('$D^{-1}$, "as the', "`D, as the", 11, "'`' outside of a formula"),
        ('$D^{-1}$, "as the', "2$D$, as the", 11, "'$' outside of a formula"),
        ('$D^{-1}$, "as the', "$f^*$, as the", 11, "would change '*' in $f^*$"),
        ('$D^{-1}$, "as the', r"$\{1\}$, as the", 11, r"would change '\\{'"),
        ('$D^{-1}$, "as the', r"$\mathbf{W}_k$, as the", 11, "would change '_'"),
        ('$D^{-1}$, "as the', "$ D$, as the", 11, "would change ' '"),
    ],
)
def test_what_is_no_erratum_is_refused_with_its_line(old, new, line, said):
    assert GOOD.count(old) == 1
    with pytest.raises(ValueError, match=f"^{re.escape(f'{FILE}:{line}: ')}.*{re.escape(said)}"):
        parse(GOOD.replace(old, new), FILE)


def test_every_file_is_an_erratum_in_the_order_of_the_paper():
    found = [file.name for folder in files("fsl_num.paper").iterdir() if (folder / "errata").is_dir()
             for file in (folder / "errata").iterdir()]  # fmt: skip
    assert sorted(found) == sorted(f"{erratum.id}.md" for erratum in errata())
    assert [erratum.line for erratum in errata()] == sorted(erratum.line for erratum in errata())


def test_a_claim_that_does_not_exist_is_refused_with_the_file():
    known = [name for erratum in errata() for name in erratum.depends]
    check_claims(errata(), known)
    with pytest.raises(ValueError, match=rf"{errata()[0].file} refers to {sorted(errata()[0].depends)[0]}"):
        check_claims(errata(), [])


# ---- quotations ------------------------------------------------------------------------------------------------------

NEAR = 12
"""Lines around that of the erratum in which the words stand that it quotes."""


ONE_NAME = {
    r"\opt": r"\mathrm{opt}", r"\cos": r"\mathrm{cos}", r"\tr": r"\mathrm{tr}", r"\operatorname": r"\mathrm",
    r"\EE": r"\mathbb E", r"\dd": "d", r"\geq": r"\ge", r"\leq": r"\le", r"\lVert": r"\Vert", r"\rVert": r"\Vert",
    r"\bphi": r"\boldsymbol\phi", r"\bSigma": r"\Sigma", r"\bnu": r"\nu", r"\Tilde": r"\tilde",
    r"\boldsymbol{s}": r"\mathbf s",
}  # fmt: skip
"""Macros of the paper, and the names by which errata call the same signs."""


def bare(tex):
    """A text without what TeX writes in more than one way: spaces, braces, bars, alignment, names of letters, 1/2."""
    tex = re.sub(r"\\(?:emph|tiny|tfrac|bar|left|right|Big|quad|qquad)(?![A-Za-z])|\\[(),;!\\]|~|&", " ", tex)
    tex = re.sub(r"\\b([A-Za-z])(?![A-Za-z])", r"\\mathbf \1", re.sub(r"\\c([A-Z])(?![A-Za-z])", r"\\mathcal \1", tex))
    tex = re.sub(r"\\frac\{(\\?\w+)\}\{(\\?\w+)\}", r"\1/\2", tex)
    for name, replacement in ONE_NAME.items():
        tex = re.sub(re.escape(name) + r"(?![A-Za-z])", replacement.replace("\\", r"\\"), tex)
    tex = tex.replace("*", r"\ast")
    tex = re.sub(r"\\(?:\}|rbrace)", ")", re.sub(r"\\(?:\{|lbrace)", "(", tex))
    return re.sub(r"[\s{}$]", "", tex)


def quotations(erratum):
    """What stands between double quotes in the text as printed."""
    return re.findall(r'"([^"]+)"', erratum.as_printed)


def test_what_tex_writes_in_two_ways_is_one():
    assert bare(r"\emph{the} \( \gamma_{\opt} \)~of \bW, \cN and $f^*$") == bare(
        r"the $\gamma_{\mathrm{opt}}$ of \mathbf W, \mathcal N and $f^\ast$"
    )
    assert bare("the law") != bare("a law")


def test_quotes_are_closed():
    assert [erratum.id for erratum in errata() if erratum.as_printed.count('"') % 2] == []
    assert sum(map(len, map(quotations, errata()))) > 20


def near(paper, line):
    """The lines of the paper about one of them, bare."""
    return bare("\n".join(paper.splitlines()[max(0, line - NEAR) : line + NEAR]))


def test_what_is_quoted_are_words_of_the_paper(paper):
    for erratum in errata():
        about = near(paper, erratum.line)
        assert [words for words in quotations(erratum) if bare(words) not in about] == [], erratum.file


def test_every_erratum_has_words_or_a_formula_as_the_paper_prints_them(paper):
    """Nine signs at least, as $s \\in (0,1]$ has."""
    for erratum in errata():
        printed = [*quotations(erratum), *re.findall(r"\$([^$]+)\$", erratum.as_printed)]
        about = near(paper, erratum.line)
        assert any(len(bare(words)) >= 9 and bare(words) in about for words in printed), erratum.file


# ---- what repeats the evidence ---------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[3]


def repeats(command, erratum, paper):
    """Whether a command is one that can be typed: fsl with its ids, a test of this clone, or lines of the source."""
    match shlex.split(command):
        case "fsl", "verify", *ids:
            return ids == list(erratum.depends) != []
        case "fsl", *arguments:
            return main([*arguments, "--json"]) == 0
        case "python", "-m", "pytest", file, "-k", name:
            test = f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
            return test and f'"{erratum.id}"' in (ROOT / file).read_text(encoding="utf-8")
        case "sed", "-n", places, "functional_scaling_laws.tex":
            ranges = [re.fullmatch(r"(\d+)(?:,(\d+))?p", place).groups() for place in places.split(";")]
            lines = paper.splitlines()
            shown = bare("\n".join(line for a, b in ranges for line in lines[int(a) - 1 : int(b or a)]))
            printed = [*quotations(erratum), *re.findall(r"\$([^$]+)\$", erratum.as_printed)]
            return any(len(bare(words)) >= 9 and bare(words) in shown for words in printed)
    return False


def test_every_erratum_is_complete(paper, capsys):
    for erratum in errata():
        assert str(erratum.line) in where(erratum.label, erratum.line)
        assert all((erratum.as_printed, erratum.wrong, erratum.corrected, erratum.evidence)), erratum.file
        assert erratum.kind in KINDS and erratum.falls in FALLS
        assert repeats(erratum.command, erratum, paper), f"{erratum.file}: {erratum.command!r}"


@pytest.mark.parametrize(
    "command",
    [
        "", "fsl verify", 'fsl verify "thm: wsd/nothing"', "python -m pytest tests/test_theorems.py -k test_nothing",
        "sed -n '1p' functional_scaling_laws.tex", "fsl exponents --schedule nothing --budget data", "look again",
    ],
)  # fmt: skip
def test_a_command_that_repeats_nothing_is_noticed(command, paper, capsys):
    erratum = next(erratum for erratum in errata() if erratum.id == "norm-without-square")
    assert repeats(erratum.command, erratum, paper)
    assert not repeats(command, erratum, paper)


# ---- quotations of claims --------------------------------------------------------------------------------------------


def test_what_printed_claims_quote_are_words_of_the_paper(paper):
    lines = paper.splitlines()
    for claim in all_claims():
        near = bare("\n".join(lines[max(0, claim.line - NEAR - 1) : claim.line + NEAR]))
        assert bare(claim.quoted) in near, (
            f"{claim.id} quotes {claim.quoted!r}, which does not stand near line {claim.line}"
        )


def test_a_printed_claim_must_quote():
    printed = next(claim for claim in all_claims() if claim.role == "printed")
    with pytest.raises(ValueError, match="quote its words"):
        replace(printed, quoted="")
    assert all(len(claim.quoted) > 10 for claim in all_claims() if claim.role == "printed")


def test_labels_are_those_of_the_paper(paper):
    assert {erratum.label for erratum in errata()} <= labels(paper)
