"""``fsl list`` and ``fsl show``: claims found by their words, and one of them whole."""

import json

import pytest
from cli_outcomes import ONE, TWO, Run, record
from typed import refusal

from fsl_num.claims.records import Verdict
from fsl_num.claims.registry import all_claims, claim
from fsl_num.cli import main
from fsl_num.cli.claims import claims_named


@pytest.fixture
def run(monkeypatch):
    return Run(monkeypatch)


def test_list_names_every_claim(capsys):
    assert main(["list", "--json"]) == 0
    assert [record["id"] for record in json.loads(capsys.readouterr().out)] == [listed.id for listed in all_claims()]
    assert main(["list"]) == 0
    assert TWO in capsys.readouterr().out


def test_list_finds_claims_by_their_words(capsys):
    assert main(["list", "KERNEL", "sharp", "--json"]) == 0
    found = [record["id"] for record in json.loads(capsys.readouterr().out)]
    assert "lemma:ke-power/kernel-sharp" in found and len(found) < len(all_claims()) / 10


def test_claims_are_found_by_section_and_by_line(capsys):
    assert main(["list", "section", "c.2", "--json"]) == 0
    lines = {claim(record["id"]).line for record in json.loads(capsys.readouterr().out)}
    assert lines == {listed.line for listed in all_claims() if 1947 <= listed.line < 2047}
    assert main(["list", "section", "9.9"]) == 2
    assert main(["show", "line", "739", "--no-verdict", "--json"]) == 0
    assert "lem: half-scale" in [record["id"] for record in json.loads(capsys.readouterr().out)]
    assert main(["show", "1", "--no-verdict"]) == 0
    assert "nothing is claimed at line 1 " in capsys.readouterr().err
    assert main(["show", "1035", "--no-verdict"]) == 0
    assert "but `fsl errata wsd-data-peak-rate-sign` shows a mistake there" in capsys.readouterr().err


def test_show_names_every_mutant_and_what_refutes_it(run, capsys):
    assert main(["show", *ONE.split(), "--mutants"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["exponent", "+", "0.05", "easy"] in rows and ["log", "power", "+", "0.25", "easy"] in rows


def test_show_says_which_hypotheses_a_claim_needs(run, capsys):
    assert main(["show", "lemma:convolution-kernel/attained", "--no-verdict", "--needs"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("needed, it fails outside") == 2


def test_show_verifies_a_claim_and_says_where_it_is_checked(run, capsys):
    assert main(["show", ONE, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["measured"]["name"] == claim(ONE).measure.__qualname__
    assert shown["outcome"]["verdict"] == "SUPPORTED"


def test_show_answers_1_for_a_claim_that_fails_unless_it_is_not_verified(run, capsys):
    run.outcome[ONE] = record(ONE, Verdict.UNKNOWN, passes=False)
    assert main(["show", ONE]) == 1
    assert "UNKNOWN (FAILED)" in capsys.readouterr().out
    assert main(["show", ONE, "--no-verdict"]) == 0
    assert "UNKNOWN" not in capsys.readouterr().out


def test_a_label_shows_all_of_its_claims(run, capsys):
    ids_of_label = [listed.id for listed in all_claims() if listed.label == "lemma:ke-power"]
    assert len(ids_of_label) > 1
    assert main(["show", "lemma: ke-power", "--json"]) == 0
    assert [record["id"] for record in json.loads(capsys.readouterr().out)] == ids_of_label
    assert main(["show", "lemma:ke-power"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{name}: " in shown for name in ids_of_label) and shown.count("\n\n") == len(ids_of_label) - 1
    run.outcome[ids_of_label[-1]] = record(ids_of_label[-1], Verdict.UNKNOWN, passes=False)
    assert main(["show", "lemma:ke-power"]) == 1
    capsys.readouterr()


def test_a_claim_is_shown_in_eighty_columns_but_for_what_is_left_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("thm: wsd", "thm: fsl-hard-regime", "lemma:ke-power", "tab: optimal-scaling", "thm:chinchilla"):
        assert main(["show", name, "--no-verdict"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(len(line) for line in lines if not line.startswith(("  LaTeX ", "  erratum "))) <= 80
        assert all(any(line.startswith(f"  {place} ") for line in lines) for place in ("formula", "measured", "test"))


def test_the_formula_of_a_claim_is_left_whole_to_be_copied(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    for listed in all_claims()[::40]:  # tests/test_theorems.py typesets the formulas of all
        assert main(["show", listed.id, "--no-verdict"]) == 0
        assert listed.latex in capsys.readouterr().out


def test_a_number_shows_its_claims_where_both_ways_to_count_agree(capsys):
    assert main(["show", "theorem 5.1", "--no-verdict"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("thm:chinchilla: ") and "thm:chinchilla, counting each kind" in shown.err
    assert main(["show", "theorem", "5.4", "--no-verdict"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("thm: wsd: ") and "all statements of a section together" in shown.err
    sentence = refusal(["show", "theorem 5.3"], capsys)
    assert "thm: wsd if each kind is counted by itself, thm:geometric if all statements" in sentence
    assert "fsl list section 5" in refusal(["show", "theorem 5.9"], capsys)
    assert "one of theorem, lemma" in refusal(["show", "axiom 5.1"], capsys)


def test_capitals_and_the_kind_of_a_statement_find_its_claims(capsys):
    assert main(["show", "THM:WSD", "--no-verdict"]) == 0
    assert capsys.readouterr().out.startswith("thm: wsd: ")
    assert main(["list", "WSD", "theorem", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == "thm: wsd"


def test_what_shows_a_claim_verifies_it(capsys):
    """By line, by number in one word or two, by label and by id, each claim once; at one point, which is quick."""
    for words in (["739"], ["lem:half-scale", "lem: half-scale"]):
        assert main(["verify", *words, "--json", "--no-cache", "--jobs", "1"]) == 0
        checked = [outcome["claim_id"] for outcome in json.loads(capsys.readouterr().out)["outcomes"]]
        assert "lem: half-scale" in checked and len(set(checked)) == len(checked)
        assert ("lem: half-scale/beyond" in checked) is (words == ["739"])
    named = {" ".join(words): [claim.id for claim in claims_named(words)] for words in
             (["theorem", "5.4"], ["Theorem 5.4", "theorem", "5.4"])}  # fmt: skip
    assert "thm: wsd" in named["theorem 5.4"] and len(set(map(tuple, named.values()))) == 1
    said = capsys.readouterr().err
    assert said.count("theorem 5.4 is thm: wsd") == 3
    for command in ("show", "verify"):
        assert "say which (theorem 5.1, or lemma" in refusal([command, "5.1"], capsys)
        assert "'theorem 99' has no section: the paper counts" in refusal([command, "theorem 99"], capsys)
        assert "'nothing-here'" in refusal([command, "nothing-here"], capsys)
