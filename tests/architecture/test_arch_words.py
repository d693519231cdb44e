"""No file of the project speaks of one machine, a registry's host or a workplace."""

import json
import re
from pathlib import Path

import pytest
from project import offenders, text_files
from scan_words import forbidden_words, guessed_words, names_that_say_nothing


def test_the_project_has_files():
    assert {"pyproject.toml", "README.md"} <= {str(path) for path in text_files()}


def test_a_file_speaks_only_of_the_project():
    assert offenders(text_files(), lambda path, text: forbidden_words(text)) == {}


# Written in two parts, so that this file itself passes.
@pytest.mark.parametrize(
    "text",
    [
        "see /wor" + "k/main/x.py",
        "open('/ho" + "me/someone/data')",
        "/tm" + "p/x",
        "C:" + "\\Users",
        "index = https://py" + "pi.org/simple",
        "as iss" + "ue 12 asks",
        "../shar" + "ed/design.md",
    ],
)
def test_the_scanner_sees_forbidden_words(text):
    assert len(forbidden_words(text)) == 1


@pytest.mark.parametrize(
    "text", ["a framework/library", "#!/usr/bin/env bash", "T/tmax", "the issue is open", "1/roots/2"]
)
def test_the_scanner_lets_other_words_pass(text):
    assert not forbidden_words(text)


def test_nothing_has_to_be_guessed():
    pages = [path for path in text_files() if path.suffix in (".py", ".md", ".j2") and path.parts[0] != "tests"]
    assert offenders(pages, guessed_words) == {}


def test_a_word_that_has_to_be_guessed_is_seen():
    source = Path("x.py")
    assert guessed_words(source, "# what the law speaks of\nfound = [told for told in (1, 2)]") == [
        "found",
        "speaks",
        "told",
    ]
    assert guessed_words(source, "# it is found\nroots = [1]\nhearth = 2") == []
    assert guessed_words(Path("x.md"), "found = 1, as was Heard") == ["Heard"]


def test_a_name_says_what_it_holds():
    files = [path for path in text_files() if path.suffix in (".py", ".md", ".ipynb")]
    assert offenders(files, names_that_say_nothing) == {}


@pytest.mark.parametrize(
    "source",
    [
        "one = 1",
        "roots = [each for each in (1, 2)]",
        "def f(*, rest): ...",
        "def thing(): ...",
        "class it: ...",
        "self.rest: int = 1",
        "first, *rest = 1, 2",
        "lambda which: 1",
        "if both := 1: ...",
        "with f() as what: ...",
        "import sys as one",
        "try: ...\nexcept ValueError as how: ...",
        "match 1:\n    case [1, *rest]: ...",
        "match 1:\n    case {'a': 1, **rest}: ...",
        "match 1:\n    case int() as one: ...",
    ],
)
def test_a_name_that_says_nothing_is_seen(source):
    cells = {"cells": [{"cell_type": "code", "source": ["%time\n", *source.splitlines(keepends=True)]}]}
    example = ">>> " + source.replace("\n", "\n... ")
    (name,) = names_that_say_nothing(Path("x.py"), source)
    assert re.search(rf"\b{name}\b", source)
    assert names_that_say_nothing(Path("x.ipynb"), json.dumps(cells)) == [name]
    assert names_that_say_nothing(Path("x.md"), example) == [name]
    assert names_that_say_nothing(Path("x.py"), f'"""\n{example}\n"""') == [name]
    assert names_that_say_nothing(Path("x.md"), source) == []


def test_there_is_no_lock_file():
    assert not [path for path in text_files() if path.name in {"uv.lock", "poetry.lock", "Pipfile.lock"}]
