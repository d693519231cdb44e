"""A short run of the search at random: no outcome is a defect (a long one: tests/fuzz/fuzz.py)."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "fuzz" / "fuzz.py"
COUNT = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 40


def test_nothing_typed_or_called_at_random_is_a_defect(tmp_path):
    """Seed 36: forty commands of sixteen kinds, half of them answered, without a fit that takes seconds."""
    words = ["--commands", str(COUNT), "--calls", str(COUNT), "--jobs", "1", "--seed", "36"]
    command = [sys.executable, str(SCRIPT), *words, "--table", str(tmp_path / "table.md")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "answered" in (tmp_path / "table.md").read_text(encoding="utf-8")
