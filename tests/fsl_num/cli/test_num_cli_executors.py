"""A Dask cluster that is empty, or that is lost while it works: one sentence within seconds, and the right status."""

import json
import subprocess
import sys
import threading
import time
from importlib.util import find_spec

import pytest
from hypothesis import settings
from typed import refusal

from fsl_num.cli import main

LONG = "simulate --s 1 --beta 2 --model-size 50 --noise 1 --schedule constant --peak-lr 0.1 --seed 0".split()
LONG += ["--steps", "300000", "--runs", "20000"]  # hours of work: what ends it is the loss
SECONDS = 40.0  # ten without an answer, by the program; the rest to notice and to stop on a slow machine

pytestmark = [
    pytest.mark.skipif(find_spec("distributed") is None, reason="needs distributed"),
    # what distributed and its parts say about themselves while they start and stop
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture
def start(tmp_path):
    """Starts the scheduler or a worker of a cluster, each a process of its own; all are killed afterwards."""
    started = []

    def process(role):
        options = {"scheduler": ["--port", "0", "--no-dashboard"], "worker": ["--nthreads", "1", "--no-nanny"]}[role]
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *options, "--scheduler-file", "scheduler.json"]
        with (tmp_path / f"{role}.log").open("w") as log:
            started.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log))
        return started[-1]

    yield process
    for started_process in started:
        started_process.kill()
        started_process.wait()


def arguments(folder):
    deadline = time.monotonic() + SECONDS
    while not (folder / "scheduler.json").exists():
        assert time.monotonic() < deadline, (folder / "scheduler.log").read_text()
        time.sleep(0.1)
    address = json.loads((folder / "scheduler.json").read_text())["address"]
    return [*LONG, "--executor", address.replace("tcp://", "dask://")]


def test_a_cluster_without_workers_is_refused(start, tmp_path, capsys):
    start("scheduler")
    assert "has no workers; start some" in refusal(arguments(tmp_path), capsys)


by_night = pytest.mark.skipif(
    settings.default is not settings.get_profile("nightly"), reason="ten seconds of waiting: by night"
)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["scheduler", pytest.param("worker", marks=by_night)])
def test_a_cluster_that_is_lost_is_a_fault_and_is_said(lost, start, tmp_path, capsys):
    import distributed

    processes = {"scheduler": start("scheduler")}
    typed = arguments(tmp_path)
    processes["worker"] = start("worker")
    times = []
    with distributed.Client(scheduler_file=tmp_path / "scheduler.json", set_as_default=False) as client:
        client.wait_for_workers(1)

        def lose():
            while not any(client.processing().values()):  # nothing is lost before it has begun
                time.sleep(0.2)
            times.append(time.monotonic())
            processes[lost].kill()

        loser = threading.Thread(target=lose)
        loser.start()
        status = main(typed)
        loser.join()
        took = time.monotonic() - times[0]
    shown = capsys.readouterr()
    assert (status, shown.out) == (3, "")
    assert "the Dask cluster at" in shown.err and "was lost" in shown.err and "Traceback" not in shown.err
    assert took < SECONDS
