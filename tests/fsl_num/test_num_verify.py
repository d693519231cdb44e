"""fsl verify with the real court: processes change nothing but the time, and the record says what the table says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fsl_num.cli import main
from fsl_num.cli.executors import executor_at
from fsl_num.theorems.registry import claims

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def ids():
    """Two claims that are heard in different processes, and quickly: each is heard three times here."""
    first = next(each for each in claims() if each.id == "approximation-error")
    other = next(each for each in claims() if each.id == "sec: effect-lrs/data-over-model")
    assert (other.family or other.id) != (first.family or first.id)
    return [first.id, other.id]


def verify(ids, *words):
    """Run fsl verify in a process of its own; its status, its JSON and its standard error."""
    command = [sys.executable, "-m", "fsl_num", "verify", *ids, "--json", "-", *words]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.returncode, json.loads(result.stdout), result.stderr


def without_seconds(record):
    return [{key: value for key, value in one.items() if key != "seconds"} for one in record["hearings"]]


def test_processes_change_nothing_but_the_time(ids):
    status_of_one, one, _ = verify(ids, "--jobs", "1", "--seed", "7")
    status_of_two, two, bar = verify(ids, "--jobs", "2", "--seed", "7")
    assert without_seconds(one) == without_seconds(two)
    assert {hearing["claim_id"] for hearing in one["hearings"]} >= set(ids)
    assert one["passed"] is two["passed"] is (status_of_one == 0) is (status_of_two == 0)
    assert "hearing" in bar  # the live bar, on standard error


def test_a_claim_is_shown_with_the_places_of_its_proof(ids, capsys):
    for claim_id in ids:
        assert main(["show", claim_id, "--no-verdict", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        for place in (shown["check"], shown["test"], shown["derivation"]):
            if place is not None:
                assert 1 <= place["line"] <= len((ROOT / place["file"]).read_text(encoding="utf-8").splitlines())
        assert shown["check"] is not None


def test_work_is_done_here_or_in_processes():
    with executor_at(None) as executor:
        assert executor is None
    with executor_at("processes", 2) as executor:
        assert executor.submit(abs, -3).result() == 3
