"""A short run of the search at random: no outcome is a defect (a long one: tests/fuzz/fuzz.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "fuzz" / "fuzz.py"
COUNT = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 40


@pytest.mark.parametrize("kind", ["--commands", "--calls"])
def test_nothing_typed_or_called_at_random_is_a_defect(kind, tmp_path):
    other = {"--commands": "--calls", "--calls": "--commands"}[kind]
    words = [kind, str(COUNT), other, "0", "--jobs", "1", "--seed", "9", "--table", str(tmp_path / "table.md")]
    run = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "answered" in (tmp_path / "table.md").read_text(encoding="utf-8")
