"""The account of the paper: who verifies what, and that it is the account of the source wherever that is at hand."""

import json
import re
from types import SimpleNamespace

import pytest
from tex_labels import labels, places

from fsl_num.claims.label_table import PLACES, SECTIONS, Place
from fsl_num.claims.labels import (
    covering_claims,
    numbers,
    open_places,
    orphans,
    place_verdicts,
    statements_numbered,
)
from fsl_num.claims.records import Outcome, Verdict
from fsl_num.claims.registry import all_claims
from fsl_num.cli import main

PARSED = ("theorem", "lemma", "proposition", "corollary", "assumption", "definition", "formula", "box")

SOURCE = r"""
\section{One}\label{sec:one}
\begin{theorem}[Named] % \label{no}
\label{thm:a}
\begin{equation}\label{eqn: b}
x % \nonumber
\end{equation}
\end{theorem}
% \begin{lemma}\label{lem: gone}
% \end{lemma}
\begin{align}
a \nonumber \\
b
\end{align}
\begin{align} a \nonumber \\ b \notag \end{align}
\begin{equation*} x \end{equation*}
\begin{tcolorbox}
\begin{corollary} c \end{corollary}
\end{tcolorbox}
\subsection{Two}
\begin{tcolorbox} alone \end{tcolorbox}
"""


def test_the_places_of_a_source_are_found():
    assert places(SOURCE) == [
        (3, 8, "theorem", "thm:a"),
        (5, 7, "formula", "eqn: b"),
        (11, 14, "formula", "sec:one:11"),
        (18, 18, "corollary", "sec:one:18"),
        (21, 21, "box", "sec:one:21"),
    ]
    assert labels(SOURCE) == {"sec:one", "thm:a", "eqn: b"}


def test_the_account_is_that_of_the_paper(paper):
    told = [(place.line, place.last, place.kind, place.label) for place in PLACES if place.kind in PARSED]
    assert told == places(paper)


def test_the_other_places_of_the_account_are_in_the_paper(paper):
    known, length = labels(paper), len(paper.splitlines())
    for place in PLACES:
        assert place.last <= length
        assert {place.label, place.label.rpartition(":")[0]} & known, place


def test_no_place_is_listed_twice():
    assert len({(place.line, place.kind) for place in PLACES}) == len(PLACES)
    assert len({place.label for place in PLACES}) == len(PLACES)
    assert [place.line for place in PLACES] == sorted(place.line for place in PLACES)


@pytest.mark.parametrize(
    ("label", "counted"),
    [
        ("assumption: hypercontractivity", ("2.1", "2.1")),
        ("thm: fsl-hard-regime", ("4.1", "4.2")),
        ("cor: contraction", ("4.1", "4.10")),
        ("thm: wsd", ("5.3", "5.4")),
        ("lem:spd_matrix_trace", ("E.2", "E.2")),
    ],
)
def test_statements_are_counted_in_two_ways(label, counted):
    assert numbers()[label] == counted
    kind = next(place.kind for place in PLACES if place.label == label)
    for way, number in enumerate(counted):
        assert statements_numbered(kind, number)[way].label == label
    assert statements_numbered(kind, "7.1") == (None, None)


# ---- a small account -------------------------------------------------------------------------------------------------

THEOREM = Place("thm:a", 3, 8, "theorem", ("far",))
FORMULA = Place("eqn: b", 5, 7, "formula")
ALONE = Place("sec:one:11", 11, 14, "formula")
EXCUSED = Place("sec:one:21", 21, 21, "box", excuse="a remark")
FEW = (THEOREM, FORMULA, ALONE, EXCUSED)


def claim(claim_id, label, line):
    return SimpleNamespace(id=claim_id, label=label, line=line)


def test_a_place_is_checked_by_label_by_line_by_name_and_through_its_statement():
    claims = [claim("by label", "thm:a", 90), claim("far", "sec:z", 99), claim("by line", "sec:one", 12)]
    assert covering_claims(THEOREM, claims, FEW) == ("by label", "far")
    assert covering_claims(FORMULA, claims, FEW) == ("by label", "far")
    assert covering_claims(ALONE, claims, FEW) == ("by line",)
    assert open_places(claims, FEW) == ()
    assert orphans(claims, FEW) == ()


def test_what_nobody_verifies_and_who_verifies_nothing_is_found():
    claims = [claim("by line in the formula", "sec:one", 6), claim("lost", "sec:one", 50)]
    assert covering_claims(FORMULA, claims, FEW) == ("by line in the formula",)
    assert open_places(claims, FEW) == (ALONE,)
    assert orphans(claims, FEW) == ("lost",)
    assert open_places([], FEW) == (THEOREM, FORMULA, ALONE)


def outcomes(**named):
    """Every claim SUPPORTED, but for those named."""
    found = {claim.id: Outcome(claim.id, claim.title, Verdict.SUPPORTED, True, (), (), 0.0) for claim in all_claims()}
    for claim_id, (verdict, passes) in named.items():
        found[claim_id] = Outcome(claim_id, "", verdict, passes, (), (), 0.0)
    return found


def test_a_place_has_the_weakest_verdict_of_what_is_printed_there():
    some = outcomes(**{
        "lemma: N-exp-decay": (Verdict.PROVED, True),
        "tab: optimal-scaling": (Verdict.REFUTED, True),
        "thm: fsl-hard-regime/corrected": (Verdict.REFUTED, True),
        "approximation-error": (Verdict.UNKNOWN, False),
    })  # fmt: skip
    del some["lem: half-scale"]
    found = place_verdicts(all_claims(), some)
    assert set(found) == {place.label for place in PLACES}
    assert found["cor: contraction"] == "SUPPORTED" and found["lemma: N-exp-decay"] == "PROVED"
    assert found["tab: optimal-scaling"] == "REFUTED"
    assert found["thm: fsl-hard-regime"] == "SUPPORTED"  # what corrects it is not what is printed
    assert found["lem: half-scale"] == "open"
    assert {found[place.label] for place in PLACES if place.line <= 845 <= place.last} == {"open"}
    assert found["appendix_rkhs:1235"] == "not checkable"


@pytest.mark.parametrize(("line", "last", "kind"), [(0, 1, "lemma"), (3, 2, "lemma"), (1, 1, "sermon")])
def test_a_place_that_is_none_is_refused(line, last, kind):
    with pytest.raises(ValueError, match="is no place"):
        Place("x", line, last, kind)


def test_the_account_is_listed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # wide enough that no reason is broken
    assert main(["list", "--labels"]) == 0
    shown = capsys.readouterr().out
    assert "cor: contraction" in shown and "not checkable: a standard definition" in shown
    assert main(["list", "--labels", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [record["line"] for record in told] == [place.line for place in PLACES]
    (corollary,) = [record for record in told if record["label"] == "cor: contraction"]
    assert corollary["kind"] == "corollary" and "cor: contraction" in corollary["claims"]
    assert corollary["not_checkable"] is None


def test_the_sections_are_those_of_the_source(paper):
    """Lines and numbers, counted as LaTeX does; the titles are ours."""
    found, counts, appendix = [], [0, 0], False
    for line, text in enumerate(paper.splitlines(), start=1):
        appendix, counts = (True, [0, 0]) if text.startswith(r"\appendix") else (appendix, counts)
        if text.startswith(r"\begin{abstract}"):
            found.append((line, ""))
        elif heading := re.match(r"\\(sub)?section\{", text):
            counts = [counts[0], counts[1] + 1] if heading[1] else [counts[0] + 1, 0]
            first = chr(64 + counts[0]) if appendix else str(counts[0])
            found.append((line, f"{first}.{counts[1]}" if heading[1] else first))
    assert [(section.line, section.number) for section in SECTIONS] == found
