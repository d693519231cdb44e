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
    return sorted(errata(), key=lambda each: each.severity)


@pytest.fixture
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_json_is_the_whole_ledger_with_the_gravest_first(capsys):
    status, text, _ = answer(capsys, "--json")
    record = json.loads(text)
    assert status == 0
    assert list(record) == ["errata"]
    assert all(list(each) == FIELDS for each in record["errata"])
    places = [(KINDS.index(each["kind"]), FALLS.index(each["falls"]), each["line"]) for each in record["errata"]]
    assert places == sorted(places)
    assert {each["id"] for each in record["errata"]} == {each.id for each in errata()}


def test_the_list_fits_and_says_of_every_erratum_what_is_wrong(capsys, eighty_columns):
    _, text, _ = answer(capsys)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert all(f"{each.line} {each.id} {' '.join(plain(each.wrong).split())}" in words for each in errata())
    assert f"{len(errata())} errata: " in text
    for kind, falls in {(each.kind, each.falls) for each in errata()}:
        assert text.splitlines().count(f"{kind}; with it falls {falls}") == 1


def test_an_id_shows_one_erratum_whole(capsys, eighty_columns):
    for each in errata():
        _, text, _ = answer(capsys, each.id.upper())
        words = " ".join(text.split())
        assert each.id in text
        assert each.file in words
        assert all(" ".join(plain(getattr(each, part)).split()) in words for part in TEXTS)
        assert each.command in words
        longest = max((len(word) for word in words.split()), default=0)
        # a path and a command are left whole
        lines = [line for line in text.splitlines() if not line.startswith(("  file ", "  repeat it "))]
        assert max(map(cell_len, lines)) <= max(80, longest + 12)


def test_several_ids_show_each_erratum(capsys):
    assert main(["errata", "cosine-without-pi", "const-noise-proof", "--json"]) == 0
    shown = [each["id"] for each in json.loads(capsys.readouterr().out)["errata"]]
    assert sorted(shown) == ["const-noise-proof", "cosine-without-pi"]
    assert main(["errata", "cosine-without-pi", "nobody"]) == 2
    assert "'cosine-without-pi nobody'" in capsys.readouterr().err


def test_the_filters_choose(capsys):
    for kind in {each.kind for each in errata()}:
        wanted = [each.id for each in gravest_first() if each.kind == kind]
        assert [each["id"] for each in in_json(capsys, "--kind", kind)] == wanted
        assert [each["id"] for each in in_json(capsys, "--kind", kind.replace(" ", "-"))] == wanted
    label = errata()[0].label
    wanted = [each.id for each in gravest_first() if each.label == label]
    assert [each["id"] for each in in_json(capsys, "--label", label.replace(" ", ""))] == wanted
    other = next(kind for kind in KINDS if kind != errata()[0].kind)
    assert in_json(capsys, errata()[0].id, "--kind", other) == []
    assert answer(capsys, errata()[0].id, "--kind", other)[:2] == (0, "no erratum\n")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (lambda first: [first.id[:-1]], lambda first: first.id),
        (lambda first: ["--kind", "tpyo"], lambda first: "'typo'"),
        (lambda first: ["--label", first.label + "x"], lambda first: first.label),
        (lambda first: ["--label", "zzzz"], lambda first: "choose"),
        (lambda first: ["--json", "--markdown"], lambda first: "not allowed"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is_near(capsys, words, what):
    status, text, complaint = answer(capsys, *words(errata()[0]))
    assert (status, text) == (2, "")
    assert complaint.startswith("fsl: ")
    assert what(errata()[0]) in complaint
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
    assert found == {each.id: each.kind for each in errata()}
    table = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", text, re.MULTILINE))
    assert table == {kind: str(sum(each.kind == kind for each in errata())) for kind in table}
    assert sum(map(int, table.values())) == len(errata())


def test_formulas_stay_latex_in_the_document_and_in_json(capsys):
    _, text, _ = answer(capsys, "--markdown")
    told = in_json(capsys)
    for each, record in zip(gravest_first(), told, strict=True):
        assert record["repeat"] == each.command and f"`{each.command}`" in text
        for part in TEXTS:
            assert getattr(each, part) in text and record[part] == getattr(each, part)
    assert any(r"$M^{-s\beta}$" in record["corrected"] + record["evidence"] for record in told)


def test_a_card_has_no_latex(capsys):
    for each in errata():
        _, text, _ = answer(capsys, each.id)
        assert not re.search(r"[$\\`{}]", text), each.id


def test_an_empty_ledger_and_one_entry():
    one = Erratum("a", "thm: x", 1030, "typo", "$D^{-1}$", "Not so.", "$D^{-2}$", "measured", ("thm: x",))
    assert rendered(*ledger([])) == "no erratum"
    assert "1 erratum: 1 typo" in rendered(*ledger([one]))
    assert markdown([]) == "# Errata\n\nNo erratum.\n"
    assert "where          thm: x: section 5.3, line 1030" in rendered(card(one))
    assert rendered(card(one)).splitlines()[-1].split(maxsplit=2) == ["repeat", "it", 'fsl verify "thm: x"']


def test_a_name_is_known_however_it_is_spelled():
    assert known(" Gap-In-The Argument", KINDS, "kind") == "gap in the argument"
    with pytest.raises(InputError, match="there is no kind '': choose 'false as stated'"):
        known("", KINDS, "kind")


def test_a_line_of_the_source_finds_its_errata(capsys):
    assert [each["id"] for each in in_json(capsys, "978")] == ["exp-decay-compute-peak-rate"]
    assert [each["id"] for each in in_json(capsys, "1005")] == ["exp-decay-compute-peak-rate"], "it names the line"
    assert {each["line"] for each in in_json(capsys, "2911")} == {2911}


def test_an_answer_and_a_refusal_never_come_together(capsys):
    label = next(each.label for each in errata() if each.line < 99999)
    assert answer(capsys, "99999", "--label", label)[:2] == (0, "no erratum\n")
    status, text, said = answer(capsys, "99999", "--label", "nothing like it")
    assert (status, text) == (2, "") and len(said.splitlines()) == 1


def test_a_line_without_errata_shows_those_of_the_nearest_and_says_so(capsys):
    lines = sorted({each.line for each in errata()})
    for typed, nearest in ((1, lines[0]), (99999, lines[-1])):
        status, text, said = answer(capsys, str(typed), "--json")
        assert status == 0 and {each["line"] for each in json.loads(text)["errata"]} == {nearest}
        assert said == f"fsl: no erratum is at line {typed} of the paper's source; the nearest is at line {nearest}\n"
    assert answer(capsys, str(lines[0]))[2] == ""


def test_a_label_or_a_claim_finds_its_errata_with_or_without_quotes(capsys):
    """A label: those that stand there, and those that rest on a claim of it; a claim: those about it."""
    for words in (["thm: wsd"], ["thm:", "wsd"]):
        found = {each["id"] for each in in_json(capsys, *words)}
        assert found >= {each.id for each in errata() if each.label == "thm: wsd" or "thm: wsd" in each.depends}
    resting = next(each for each in errata() if each.depends and each.depends[0] != each.label)
    assert resting.id in {each["id"] for each in in_json(capsys, resting.depends[0])}
    free = next(each.id for each in all_claims() if not errata_about(each))
    assert answer(capsys, free)[1] == "no erratum\n"


def test_the_latex_document_is_whole_and_its_text_is_escaped(capsys):
    _, text, _ = answer(capsys, "--latex")
    assert text.startswith("\\documentclass{article}\n") and text.endswith("\\end{document}\n")
    assert text.count("{") == text.count("}") and text.count("$") % 2 == 0
    assert text.count("\\subsection*") == text.count("{What is wrong.}") == text.count("{Repeat it.}") == len(errata())
    for each in errata():
        formulas = re.findall(r"\$[^$]+\$", f"{each.as_printed} {each.wrong} {each.corrected}")
        assert all(formula in text for formula in formulas)
    outside = re.sub(r"\$[^$]+\$|\\[A-Za-z]+", " ", text.split("\\maketitle")[1])
    assert not re.search(r"(?<!\\)[_^&#%]", outside)
    assert outside.count("``") == outside.count("''") > 20
