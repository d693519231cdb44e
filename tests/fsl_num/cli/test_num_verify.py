"""fsl verify with the real runner: processes change nothing but the time, and the record says what the table says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fsl_num.claims import runner
from fsl_num.claims.registry import all_claims, claim
from fsl_num.cli import main
from fsl_num.cli.executors import executor_at

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def ids():
    """Two claims that are checked in different processes, and quickly."""
    first = next(known for known in all_claims() if known.id == "approximation-error")
    second = next(known for known in all_claims() if known.id == "sec: effect-lrs/data-over-model")
    assert (second.family or second.id) != (first.family or first.id)
    return [first.id, second.id]


def verify(ids, *words):
    """Run fsl verify in a process of its own; its status, its JSON and its standard error."""
    command = [sys.executable, "-m", "fsl_num", "verify", *ids, "--json", *words]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.returncode, json.loads(result.stdout), result.stderr


def without_seconds(record):
    return [{key: value for key, value in entry.items() if key != "seconds"} for entry in record]


@pytest.mark.slow
def test_neither_processes_nor_the_order_change_an_outcome(ids):
    status, record, bar = verify(ids, "--jobs", "2", "--seed", "7", "--no-cache")
    shared = {entry["claim_id"]: entry for entry in without_seconds(record["outcomes"])}
    assert set(shared) > set(ids)  # with what corrects them
    backwards = [runner.verify(claim(claim_id), "quick", 7) for claim_id in reversed(shared)]
    told = json.loads(json.dumps([outcome.to_json() for outcome in reversed(backwards)]))
    # Whether a claim that fails passes is settled by the verification, once the claim that corrects it was checked.
    here = [entry | {"passes": shared[entry["claim_id"]]["passes"]} for entry in without_seconds(told)]
    assert here == list(shared.values())
    assert (status, record["passed"], record["from_cache"]) == (0, True, 0)
    assert bar == ""  # the live bar is for terminals


def test_the_report_says_what_came_from_the_cache(ids, tmp_path, capsys):
    words = ["verify", ids[0], "--jobs", "1", "--cache", str(tmp_path / "outcomes")]
    for count in (0, 1):
        assert main(words) == 0
        assert f"{count} of 1 results came from the cache in" in capsys.readouterr().out
    assert main([*words[:-2], "--no-cache"]) == 0
    assert "cache" not in capsys.readouterr().out


def test_a_cache_that_cannot_be_written_is_told_and_not_fatal(ids, tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["verify", ids[0], "--jobs", "1", "--cache", str(tmp_path / "file")]) == 0
    assert "outcomes are not kept" in capsys.readouterr().out


def test_a_claim_is_shown_with_the_places_of_its_proof(ids, capsys):
    for claim_id in ids:
        assert main(["show", claim_id, "--no-verdict", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        for place in (shown["stated"], shown["proof"], shown["measured"], shown["test"]):
            if place is not None:
                assert 1 <= place["line"] <= len((ROOT / place["file"]).read_text(encoding="utf-8").splitlines())
        assert shown["stated"] is not None and shown["measured"] is not None


def test_work_is_done_here_or_in_processes():
    with executor_at(None) as executor:
        assert executor is None
    with executor_at("processes", 2) as executor:
        assert executor.submit(abs, -3).result() == 3


def test_processes_use_one_thread_each_unless_told_otherwise(monkeypatch):
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    with executor_at("processes", 1) as pool:
        assert [pool.submit(os.getenv, name).result() for name in names] == ["1", "3", "1"]
    assert [os.environ.get(name) for name in names] == [None, "3", None]


# ---- one point -------------------------------------------------------------------------------------------------------


def test_one_point_is_judged_alone(capsys):
    assert main(["verify", "approximation-error", "--at", "1/3,3/2", "--json"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)["outcomes"]
    (regime,) = outcome["regimes"]
    assert [(point["s"], point["beta"]) for point in regime["points"]] == [("1/3", "3/2")]
    assert (regime["regime"], outcome["mutants_refuted"]) == ("edge", outcome["mutants_total"])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--at", "1/2,4"], "name at least one claim"),
        (["approximation-error", "--at", "1/2"], "needs a point S,BETA"),
        (["approximation-error", "--at", "half,4"], "must be a number"),
        (["approximation-error", "--at", "1/2,1"], "fsl: --at: beta must be greater than 1"),
        (["thm: fsl-hard-regime/corrected", "--at", "3,4"], "is about edge and hard alone"),
    ],
)
def test_a_point_that_cannot_be_judged_is_refused(words, reason, capsys):
    assert main(["verify", *words]) == 2
    assert reason in capsys.readouterr().err
