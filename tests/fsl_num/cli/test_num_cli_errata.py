"""fsl errata with the real ledger: complete, in the order of the paper, readable at 80 columns, strict about ids."""

import json
import re

import pytest
from rich.cells import cell_len

from fsl_num.claims.errata import errata
from fsl_num.claims.records import FALLS, KINDS, Erratum
from fsl_num.claims.registry import all_claims
from fsl_num.cli import main
from fsl_num.cli.inputs import InputError, known
from fsl_num.report.claims import errata_about
from fsl_num.report.errata import card, ledger, markdown
from fsl_num.report.plain import plain
from fsl_num.report.tables import rendered

FIELDS = [
    "id", "label", "line", "kind", "as_printed", "wrong", "corrected", "evidence", "depends", "file", "falls", "repeat",
]  # fmt: skip
TEXTS = ("as_printed", "wrong", "corrected", "evidence")


def answer(capsys, *words):
    """The status of fsl errata, what it printed, and what it complained of."""
    status = main(["errata", *words])
    return status, *capsys.readouterr()


def in_json(capsys, *words):
    status, text, _ = answer(capsys, *words, "--json")
    assert status == 0
    return json.loads(text)["errata"]


def gravest_first():
    return sorted(errata(), key=lambda erratum: erratum.severity)


@pytest.fixture
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_json_is_the_whole_ledger_with_the_gravest_first(capsys):
    status, text, _ = answer(capsys, "--json")
    record = json.loads(text)
    assert status == 0
    assert list(record) == ["errata"]
    assert all(list(entry) == FIELDS for entry in record["errata"])
    places = [(KINDS.index(entry["kind"]), FALLS.index(entry["falls"]), entry["line"]) for entry in record["errata"]]
    assert places == sorted(places)
    assert {entry["id"] for entry in record["errata"]} == {erratum.id for erratum in errata()}


def test_the_list_fits_and_says_of_every_erratum_what_is_wrong(capsys, eighty_columns):
    _, text, _ = answer(capsys)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert all(f"{erratum.line} {erratum.id} {' '.join(plain(erratum.wrong).split())}" in words for erratum in errata())
    assert f"{len(errata())} errata: " in text
    for kind, falls in {(erratum.kind, erratum.falls) for erratum in errata()}:
        assert text.splitlines().count(f"{kind}; with it falls {falls}") == 1


def test_an_id_shows_one_erratum_whole(capsys, eighty_columns):
    for erratum in errata():
        _, text, _ = answer(capsys, erratum.id.upper())
        words = " ".join(text.split())
        assert erratum.id in text
        assert erratum.file in words
        assert all(" ".join(plain(getattr(erratum, part)).split()) in words for part in TEXTS)
        assert erratum.command in words
        longest = max((len(word) for word in words.split()), default=0)
        # a path and a command are left whole
        lines = [line for line in text.splitlines() if not line.startswith(("  file ", "  repeat it "))]
        assert max(map(cell_len, lines)) <= max(80, longest + 12)


def test_several_ids_show_each_erratum(capsys):
    assert main(["errata", "cosine-without-pi", "const-noise-proof", "--json"]) == 0
    shown = [entry["id"] for entry in json.loads(capsys.readouterr().out)["errata"]]
    assert sorted(shown) == ["const-noise-proof", "cosine-without-pi"]
    assert main(["errata", "cosine-without-pi", "nobody"]) == 2
    assert "'cosine-without-pi nobody'" in capsys.readouterr().err


def test_the_filters_choose(capsys):
    for kind in {erratum.kind for erratum in errata()}:
        ids_chosen = [erratum.id for erratum in gravest_first() if erratum.kind == kind]
        assert [entry["id"] for entry in in_json(capsys, "--kind", kind)] == ids_chosen
        assert [entry["id"] for entry in in_json(capsys, "--kind", kind.replace(" ", "-"))] == ids_chosen
    label = errata()[0].label
    ids_chosen = [erratum.id for erratum in gravest_first() if erratum.label == label]
    assert [entry["id"] for entry in in_json(capsys, "--label", label.replace(" ", ""))] == ids_chosen
    absent = next(kind for kind in KINDS if kind != errata()[0].kind)
    assert in_json(capsys, errata()[0].id, "--kind", absent) == []
    assert answer(capsys, errata()[0].id, "--kind", absent)[:2] == (0, "no erratum\n")


@pytest.mark.parametrize(
    ("words", "text_of"),
    [
        (lambda first: [first.id[:-1]], lambda first: first.id),
        (lambda first: ["--kind", "tpyo"], lambda first: "'typo'"),
        (lambda first: ["--label", first.label + "x"], lambda first: first.label),
        (lambda first: ["--label", "zzzz"], lambda first: "choose"),
        (lambda first: ["--json", "--markdown"], lambda first: "not allowed"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is_near(capsys, words, text_of):
    status, text, complaint = answer(capsys, *words(errata()[0]))
    assert (status, text) == (2, "")
    assert complaint.startswith("fsl: ")
    assert text_of(errata()[0]) in complaint
    assert complaint.count("\n") == 1


def test_the_document_has_a_section_for_each_erratum_under_its_kind(capsys):
    _, text, _ = answer(capsys, "--markdown")
    assert text.startswith("# Errata\n\n")
    kind, found = None, {}
    for line in text.splitlines():
        if line.startswith("## "):
            kind = line[3:].lower()
        elif line.startswith("### "):
            found[line[4:]] = kind
    assert found == {erratum.id: erratum.kind for erratum in errata()}
    table = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", text, re.MULTILINE))
    assert table == {kind: str(sum(erratum.kind == kind for erratum in errata())) for kind in table}
    assert sum(map(int, table.values())) == len(errata())


def test_formulas_stay_latex_in_the_document_and_in_json(capsys):
    _, text, _ = answer(capsys, "--markdown")
    told = in_json(capsys)
    for erratum, record in zip(gravest_first(), told, strict=True):
        assert record["repeat"] == erratum.command and f"`{erratum.command}`" in text
        for part in TEXTS:
            assert getattr(erratum, part) in text and record[part] == getattr(erratum, part)
    assert any(r"$M^{-s\beta}$" in record["corrected"] + record["evidence"] for record in told)


def test_a_card_has_no_latex(capsys):
    for erratum in errata():
        _, text, _ = answer(capsys, erratum.id)
        assert not re.search(r"[$\\`{}]", text), erratum.id


def test_an_empty_ledger_and_one_entry():
    erratum = Erratum("a", "thm: x", 1030, "typo", "$D^{-1}$", "Not so.", "$D^{-2}$", "measured", ("thm: x",))
    assert rendered(*ledger([])) == "no erratum"
    assert "1 erratum: 1 typo" in rendered(*ledger([erratum]))
    assert markdown([]) == "# Errata\n\nNo erratum.\n"
    assert "where          thm: x: section 5.3, line 1030" in rendered(card(erratum))
    assert rendered(card(erratum)).splitlines()[-1].split(maxsplit=2) == ["repeat", "it", 'fsl verify "thm: x"']


def test_a_name_is_known_however_it_is_spelled():
    assert known(" Gap-In-The Argument", KINDS, "kind") == "gap in the argument"
    with pytest.raises(InputError, match="there is no kind '': choose 'false as stated'"):
        known("", KINDS, "kind")


def test_a_line_of_the_source_finds_its_errata(capsys):
    assert [entry["id"] for entry in in_json(capsys, "978")] == ["exp-decay-compute-peak-rate"]
    assert [entry["id"] for entry in in_json(capsys, "1005")] == ["exp-decay-compute-peak-rate"], "it names the line"
    assert {entry["line"] for entry in in_json(capsys, "2911")} == {2911}
    assert in_json(capsys, "line", "2911") == in_json(capsys, "Line 2911") == in_json(capsys, "2911")
    assert "nearest is at line 100" in answer(capsys, "0")[2], "the line 0.5 of some evidence is none of the source"


def test_a_number_of_a_statement_finds_its_errata(capsys):
    shown = in_json(capsys, "theorem", "5.4")
    assert shown == in_json(capsys, "thm: wsd") and len(shown) > 1
    status, text, said = answer(capsys, "theorem 5.3")
    assert (status, text) == (2, "") and "thm:geometric if all statements of a section are together" in said


def test_an_answer_and_a_refusal_never_come_together(capsys):
    label = next(erratum.label for erratum in errata() if erratum.line < 99999)
    assert answer(capsys, "99999", "--label", label)[:2] == (0, "no erratum\n")
    status, text, said = answer(capsys, "99999", "--label", "nothing like it")
    assert (status, text) == (2, "") and len(said.splitlines()) == 1


def test_a_line_without_errata_shows_those_of_the_nearest_and_says_so(capsys):
    lines = sorted({erratum.line for erratum in errata()})
    for typed, nearest in ((1, lines[0]), (99999, lines[-1])):
        status, text, said = answer(capsys, str(typed), "--json")
        assert status == 0 and {entry["line"] for entry in json.loads(text)["errata"]} == {nearest}
        assert said == f"fsl: no erratum is at line {typed} of the paper's source; the nearest is at line {nearest}\n"
    assert answer(capsys, str(lines[0]))[2] == ""


def test_a_label_or_a_claim_finds_its_errata_with_or_without_quotes(capsys):
    """A label: those that stand there, and those that rest on a claim of it; a claim: those about it."""
    for words in (["thm: wsd"], ["thm:", "wsd"]):
        found = {entry["id"] for entry in in_json(capsys, *words)}
        assert found >= {
            erratum.id for erratum in errata() if erratum.label == "thm: wsd" or "thm: wsd" in erratum.depends
        }
    resting = next(erratum for erratum in errata() if erratum.depends and erratum.depends[0] != erratum.label)
    assert resting.id in {entry["id"] for entry in in_json(capsys, resting.depends[0])}
    free = next(known.id for known in all_claims() if not errata_about(known))
    assert answer(capsys, free)[1] == "no erratum\n"


def test_the_latex_document_is_whole_and_its_text_is_escaped(capsys):
    _, text, _ = answer(capsys, "--latex")
    assert text.startswith("\\documentclass{article}\n") and text.endswith("\\end{document}\n")
    assert text.count("{") == text.count("}") and text.count("$") % 2 == 0
    assert text.count("\\subsection*") == text.count("{What is wrong.}") == text.count("{Repeat it.}") == len(errata())
    for erratum in errata():
        formulas = re.findall(r"\$[^$]+\$", f"{erratum.as_printed} {erratum.wrong} {erratum.corrected}")
        assert all(formula in text for formula in formulas)
    outside = re.sub(r"\$[^$]+\$|\\[A-Za-z]+", " ", text.split("\\maketitle")[1])
    assert not re.search(r"(?<!\\)[_^&#%]", outside)
    assert outside.count("``") == outside.count("''") > 20
