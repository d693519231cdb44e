"""fsl verify --html: the page of what was checked, written whole, and refused before any work where it cannot be."""

import os
import subprocess

import pytest
from html_reading import Reader

from fsl_num.cli import main
from fsl_num.cli.verify import commit_of, versions

CLAIM = "sec: effect-lrs/data-over-model"
"""A claim that the paper has wrong, so that it is checked with its correction; both quickly."""


def test_the_page_shows_what_was_checked(tmp_path, capsys):
    target = tmp_path / "report.html"
    assert main(["verify", CLAIM, "--jobs", "1", "--no-cache", "--seed", "5", "--html", str(target)]) == 0
    root = Reader(target.read_text(encoding="utf-8")).root
    articles = {node.attributes["id"]: node for node in root.find("article")}
    assert "claim-sec-effect-lrs-data-over-model" in articles
    assert "claim-sec-effect-lrs-data-over-model-derived" in articles
    assert "erratum-data-over-model-log" in articles
    header = next(root.find("header")).text
    assert "seed 5" in header
    assert f"Python {versions()['Python']}" in header
    assert "2 of 2 claims pass" in capsys.readouterr().out + header
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--html", "missing/report.html"], "--html cannot write to 'missing/report.html': No such file or directory"),
        (["--html", "."], "--html cannot write to '.': Is a directory"),
        (["--html", "-", "--json"], "--html - and --json both need standard output"),
        (["--html", "a", "--report", "./a"], "--html would replace 'a', which --report writes"),
        (["--report", "missing/record.json"], "--report cannot write to 'missing/record.json'"),
    ],
)
def test_a_target_that_cannot_be_written_is_refused_before_any_work(
    words, reason, tmp_path_factory, tmp_path, monkeypatch, capsys
):
    kept = tmp_path_factory.mktemp("kept")
    monkeypatch.chdir(tmp_path)
    assert main(["verify", CLAIM, *words, "--cache", str(kept)]) == 2
    assert reason in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
    assert not list(kept.rglob("*.json"))  # where an outcome would be, had the claim been checked


def test_the_versions_are_those_of_what_runs():
    import numpy
    import sympy

    assert versions()["numpy"] == numpy.__version__
    assert versions()["sympy"] == sympy.__version__


def test_an_installation_names_the_commit_of_its_clone_while_both_are_alike(tmp_path):
    clone, installed = tmp_path / "a clone", tmp_path / "site-packages"
    for folder in (clone, installed):
        (folder / "fsl_num").mkdir(parents=True)
        (folder / "fsl_num" / "one.py").write_text("1\n", encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert commit_of(clone) == commit_of(installed, clone.as_uri()) == head
    assert commit_of(installed) is commit_of(installed, "https://there/a.whl") is None
    (clone / "fsl_num" / "one.py").write_text("2\n", encoding="utf-8")
    assert commit_of(installed, clone.as_uri()) is None and commit_of(clone) == f"{head}-dirty"
