"""README.md says only what is true: its commands are the ones that are checked, its examples run, its paths exist.

The commands that it shows with their output are run with those of the documentation.
"""

import doctest
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def readme_command(name, folder=ROOT):
    """A marked command of README.md, read by the very function of .ci/run that reads it there."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = re.search(r"^readme_command\(\) \{\n.*?^\}\n", script, re.DOTALL | re.MULTILINE)[0]
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{function}\nreadme_command {name}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("verify", ["python3 -m venv .venv", ".venv/bin/pip install .", ".venv/bin/fsl verify"]),
        ("tests", ["python3 -m venv .venv", '.venv/bin/pip install ".[test]"', ".venv/bin/python -m pytest"]),
    ],
)
def test_a_marked_command_is_whole(name, parts):
    result = readme_command(name)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip().split(" && ") == parts
    assert "for name in verify tests; do" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_a_command_that_is_missing_is_an_error(tmp_path):
    (tmp_path / "README.md").write_text("<!-- command: verify -->\nno fence here\n", encoding="utf-8")
    assert readme_command("tests", tmp_path).returncode == 1


def test_the_script_of_the_whole_check_can_be_run():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=False).returncode == 0


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_examples_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / page), module_relative=False)
    assert result.attempted >= 5
    assert result.failed == 0


def test_it_fits_two_screens():
    assert len(README.splitlines()) <= 92


def test_the_claims_named_exist(capsys):
    from fsl_num.claims.registry import all_claims

    named = set(re.findall(r'fsl (?:show|verify) "([^"]+)"', README))
    assert named
    assert named <= {claim.id for claim in all_claims()}


def test_the_files_named_exist():
    named = set(re.findall(r"`([\w./]+/[\w./]*)`", README)) | set(re.findall(r"\]\((?!http)([^)#]+)\)", README))
    named -= {name for name in named if name.startswith(".venv/")}
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_the_extras_named_exist():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"\.\[(\w+)\]", README)) <= set(project["optional-dependencies"])
    assert project["scripts"] == {"fsl": "fsl_num.__main__:main"}


def test_the_hosted_check_is_the_script_and_knows_the_supported_versions():
    import tomllib

    hosted = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    assert re.findall(r"^ *- run: (.*)$", hosted, re.MULTILINE) == ["bash .ci/run"]
    assert "secrets" not in hosted
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = re.search(r'python: \["([\d.]+)"', hosted)[1]
    assert project["requires-python"] == f">={oldest}"


def test_a_source_distribution_has_what_its_tests_read():
    import tomllib
    from fnmatch import fnmatch

    builds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    taken = [*builds["sdist"]["include"], "/pyproject.toml"]  # that one always is
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    read = {name for text in sources for name in re.findall(r'\bROOT / "([\w.-]+)"', text) if (ROOT / name).exists()}
    read.discard(".git")  # asked for, and done without
    assert {".github", "docs"} <= read
    assert [name for name in sorted(read) if not any(fnmatch(f"/{name}", pattern) for pattern in taken)] == []
