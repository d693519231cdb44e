"""Simulations that are killed, run out of disk, or find a checkpoint that is not theirs."""

import errno
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from models import regression_of

from fsl_num.simulate.checkpoint import Checkpoint, digest
from fsl_num.simulate.families import Uniform
from fsl_num.simulate.monte_carlo import simulate_sgd
from fsl_num.simulate.runs import Finished, Moments

ROOT = Path(__file__).resolve().parents[3]
SETTING = {"s": 0.5, "beta": 2.0, "size": 1100, "noise": 1.0}  # chunks of 16 runs
CALL = {"rates": np.full(40, 0.2), "runs": 75, "seed": 5, "every": 1, "progress": False}  # five chunks


def simulate(file=None, **change):
    return simulate_sgd(regression_of(**SETTING), **{**CALL, "checkpoint": file, **change})


def bits(curve):
    return curve.excess_risk.tobytes() + curve.standard_error.tobytes()


def in_a_process(code, file):
    """Run ``code`` with the call above as ``call(checkpoint=...)`` in a process of its own."""
    start = f"""
    import os, resource, signal, sys, warnings
    import numpy as np
    from fsl_num.simulate import checkpoint
    from fsl_num.simulate.monte_carlo import simulate_sgd
    from fsl_num.model import Model
    from fsl_num.simulate.regression import Regression

    checkpoint.SHARE = 1e9  # every chunk is written
    FILE = {str(file)!r}

    def call():
        call = dict(runs=75, seed=5, every=1, progress=False)
        return simulate_sgd(Regression(Model(**{SETTING!r})), np.full(40, 0.2), checkpoint=FILE, **call)
    """
    source = textwrap.dedent(start) + textwrap.dedent(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", source], env=environment, cwd=file.parent, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("write", [1, 5])
def test_a_killed_simulation_ends_with_the_same_bits(tmp_path, write):
    """Killed in the middle of its ``write``-th write, when the new content is there and the old file still stands."""
    file = tmp_path / "runs.npz"
    killed = in_a_process(
        f"""
        writes, fsync = [], os.fsync

        def last_words(handle):
            fsync(handle)
            writes.append(handle)
            if len(writes) == {write}:
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = last_words
        call()
        """,
        file,
    )
    assert killed.returncode == -9, killed.stderr
    assert file.exists() == (write > 1)
    curve = simulate(file)
    told = re.search(r"(\d) of 5 chunks from the checkpoint", curve.message)
    # the first write is the empty one
    assert (int(told[1]) if told else 0) == max(write - 2, 0)
    assert bits(curve) == bits(simulate())


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be limited in size")
def test_a_full_disk_in_the_middle_leaves_a_whole_file(tmp_path):
    """The system itself refuses files over 3,300 bytes: the empty checkpoint fits, one with 41 risks does not."""
    file = tmp_path / "runs.npz"
    full = in_a_process(
        """
        resource.setrlimit(resource.RLIMIT_FSIZE, (3300, 3300))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            curve = call()
        sys.stdout.write("|".join([
            (curve.excess_risk.tobytes() + curve.standard_error.tobytes()).hex(),
            curve.message,
            str([str(one.message) for one in told]),
        ]))
        """,
        file,
    )
    assert full.returncode == 0, full.stderr
    found, message, told = full.stdout.split("|")
    assert found == bits(simulate()).hex()
    assert "could not be brought up to date (File too large)" in message
    assert told.count("could not be brought up to date") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["runs.npz"]
    empty = file.stat().st_size
    assert empty <= 3300
    curve = simulate(file)
    assert "chunks from" not in curve.message
    assert bits(curve).hex() == found
    assert empty + 100 < 3300 < file.stat().st_size - 100  # the limit above does what it is for


def test_a_full_disk_at_the_start_is_an_error(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"cannot be written \(No space left on device\); nothing was simulated") as told:
        simulate(tmp_path / "runs.npz")
    assert told.value.errno == errno.ENOSPC
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match="nothing was simulated"):
        simulate(tmp_path / "no" / "runs.npz")


def test_a_disk_that_is_full_for_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr("time.monotonic", float)  # no time passes: the file is written after every chunk
    calls, fsync = [], os.fsync

    def sometimes(handle):
        calls.append(handle)
        if len(calls) in (3, 4):
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(handle)

    monkeypatch.setattr("os.fsync", sometimes)
    with pytest.warns(RuntimeWarning, match=r"runs.npz could not be brought up to date \(No space left on device\)"):
        curve = simulate(tmp_path / "runs.npz")
    assert "could not" not in curve.message  # it was, at last
    assert "5 of 5 chunks" in simulate(tmp_path / "runs.npz").message


class Interrupted(Uniform):
    """Uniform features, in the drawing of which the user presses Ctrl-C once."""

    left = None

    def draw(self, *arguments):
        if Interrupted.left is not None:
            Interrupted.left -= 1
            if Interrupted.left < 0:
                Interrupted.left = None
                raise KeyboardInterrupt
        return super().draw(*arguments)


def test_an_interrupted_simulation_keeps_its_chunks(tmp_path):
    file, problem = tmp_path / "runs.npz", regression_of(**SETTING, family=Interrupted())
    Interrupted.left = 65  # a chunk draws twenty times: in the fourth
    with pytest.raises(KeyboardInterrupt):
        simulate_sgd(problem, **CALL, checkpoint=file)
    resumed = simulate_sgd(problem, **CALL, checkpoint=file)
    assert "3 of 5 chunks from the checkpoint" in resumed.message
    assert bits(resumed) == bits(simulate_sgd(problem, **CALL))
    again = simulate_sgd(problem, **CALL, checkpoint=file)
    assert "5 of 5" in again.message
    assert bits(again) == bits(resumed)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"seed": 6}, "seed"),
        ({"runs": 76}, "runs"),
        ({"rates": np.full(40, 0.3)}, "rates"),
        ({"batch_sizes": 2}, "batch_sizes"),
        ({"every": 2}, "recorded steps"),
        ({"dtype": "float32"}, "dtype"),
        ({"problem": regression_of(**{**SETTING, "s": 0.6})}, "problem"),
        ({"problem": regression_of(**{**SETTING, "noise": 0.6})}, "problem"),
        ({"problem": regression_of(**SETTING, family="uniform")}, "problem"),
    ],
)
def test_a_checkpoint_of_other_arguments_is_refused(tmp_path, change, name):
    file = tmp_path / "runs.npz"
    simulate(file, runs=75)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another simulation, which differs in {name} ") as told:
        simulate_sgd(**{"problem": regression_of(**SETTING), **CALL, "checkpoint": file, **change})
    assert str(told.value).count(" there, ") == 1
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04 half of one"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path, content):
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="is no checkpoint of a simulation"):
        simulate(file)
    assert file.read_bytes() == content


def test_a_half_checkpoint_is_refused(tmp_path):
    file = tmp_path / "runs.npz"
    simulate(file)
    whole = file.read_bytes()
    for size in range(0, len(whole), 97):
        file.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="is no checkpoint"):
            simulate(file)


def test_chunks_that_wait_for_their_turn_are_kept(tmp_path):
    moments = Moments(3, np.array([1.0, 2.0]), np.array([0.5, 0.25]))
    finished = Finished().with_chunk(0, moments).with_chunk(2, moments).with_chunk(5, moments)
    file = Checkpoint(tmp_path / "runs.npz", {"seed": "1"})
    assert file.load().chunks == 0
    file.save(finished)
    found = Checkpoint(tmp_path / "runs.npz", {"seed": "1"}).load()
    assert (found.merged, found.chunks, [index for index, _ in found.waiting]) == (1, 3, [2, 5])
    assert found.has(0) and found.has(5) and not found.has(1)
    closed = found.with_chunk(1, moments)
    assert (closed.merged, closed.total.count, closed.total.mean.tolist()) == (3, 9, [1.0, 2.0])
    assert digest(np.zeros(2)) != digest(np.zeros(2, np.float32)) != digest(np.zeros((2, 1), np.float32))
