"""The same bits on any workers, some of which die."""

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from fsl_num.model import Model
from fsl_num.simulate.families import Uniform
from fsl_num.simulate.monte_carlo import simulate_sgd
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.runs_workers import AHEAD
from fsl_num.workers import LostWorkersError

ROOT = Path(__file__).resolve().parents[3]
PROBLEM = Regression(Model(s=0.5, beta=2.0, size=1100, noise=1.0))  # chunks of 16 runs


def simulate(problem=PROBLEM, **options):
    return simulate_sgd(problem, np.full(6, 0.2), runs=70, seed=11, every=2, progress=False, **options)


def bits(curve):
    return curve.excess_risk.tobytes() + curve.standard_error.tobytes()


@dataclass(frozen=True)
class Deadly(Uniform):
    """Uniform features that end the process that draws them, once for every file in a folder but not the first."""

    folder: str = ""
    main: int = 0

    def draw(self, generator, count, size, dtype=np.float64):
        for path in sorted(Path(self.folder).iterdir()):
            try:
                path.unlink()
            except FileNotFoundError:  # another worker took it
                continue
            assert os.getpid() != self.main
            os._exit(1)
        return super().draw(generator, count, size, dtype)


def deadly(folder, deaths):
    for number in range(deaths):
        (folder / str(number)).touch()
    family = Deadly(folder=str(folder), main=os.getpid())
    return Regression(Model(s=0.5, beta=2.0, size=1100, noise=1.0), family=family)


class Losing(Executor):
    """Computes at once, in reverse of the order of submission; the calls ``lost`` fail as those of a dead worker do."""

    def __init__(self, lost, error):
        self.calls, self.lost, self.error = 0, lost, error

    def submit(self, task, /, *arguments):
        self.calls += 1
        future = Future()
        if self.calls in self.lost:
            if self.error is CancelledError:
                future.cancel()
                future.set_running_or_notify_cancel()
            else:
                future.set_exception(self.error("gone"))
        else:
            future.set_result(task(*arguments))
        return future


def test_the_bits_do_not_depend_on_the_executor():
    alone = bits(simulate())
    with ThreadPoolExecutor(3) as pool:
        assert bits(simulate(executor=pool)) == alone
    sequence = np.random.SeedSequence(11)
    assert bits(simulate_sgd(PROBLEM, np.full(6, 0.2), runs=70, seed=sequence, every=2, progress=False)) == alone
    run = simulate_sgd(PROBLEM, np.full(6, 0.2), runs=70, seed=12, every=2, progress=False)
    assert bits(run) != alone


def test_the_bits_do_not_depend_on_the_threads_of_the_linear_algebra():
    code = """
    import numpy as np
    from fsl_num.simulate.families import Gaussian
    from fsl_num.simulate.runs import Job, run_chunk
    from fsl_num.simulate.streams import Samples

    size, total = 1000, 2000
    matrix = np.random.default_rng(1).standard_normal((size, total)) / total**0.5
    eigenvalues = np.arange(1.0, total + 1) ** -1.5
    samples = Samples(Gaussian(), eigenvalues, np.sqrt(eigenvalues), 1.0, matrix, np.zeros(size), 0.0)
    job = Job(samples, np.full(2, 0.5), np.ones(2, int), np.arange(3), "float64")
    print(run_chunk(job, 64, np.random.SeedSequence(3)).mean.tobytes().hex())
    """
    printed = set()
    for threads in ("1", "2"):
        settings = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        command = [sys.executable, "-c", textwrap.dedent(code)]
        found = subprocess.run(
            command, env={**os.environ, **settings, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
        )
        printed.add(found.stdout)
    assert len(printed) == 1


@pytest.mark.parametrize("error", [ConnectionError, CancelledError, MemoryError])
def test_lost_chunks_are_computed_again(error):
    executor = Losing({1, 4}, error)
    curve = simulate(executor=executor)
    assert bits(curve) == bits(simulate())
    assert "lost" in curve.message and "2 times" in curve.message
    assert executor.calls == 5 + 2


def test_workers_lost_again_and_again_are_given_up():
    executor = Losing(set(range(100)), ConnectionError)
    with pytest.raises(LostWorkersError, match=r"lost 3 times over the same chunk of (16|6) runs.*gone"):
        simulate(executor=executor)
    assert executor.calls <= 5 * 3
    with pytest.raises(LostWorkersError, match="Losing lost a worker and takes no more work"):
        simulate(executor=Losing({1}, BrokenExecutor))


def test_an_executor_that_never_answers_a_cancellation_holds_nobody_up():
    asked = threading.Event()

    class Silent(Future):
        def cancel(self):
            asked.set()
            threading.Event().wait()

    class Failing(Executor):
        answered = False

        def submit(self, task, /, *arguments):
            future = Future() if not self.answered else Silent()
            if not self.answered:
                future.set_result(ArithmeticError("of the task"))
            self.answered = True
            return future

    with pytest.raises(ArithmeticError, match="of the task"):
        simulate(executor=Failing())
    assert asked.is_set()


def test_few_chunks_are_under_way_at_once():
    waiting, most, lock = set(), [0], threading.Lock()

    class Watched(ThreadPoolExecutor):
        def submit(self, task, /, *arguments):
            future = super().submit(task, *arguments)
            with lock:
                waiting.add(future)
                most[0] = max(most[0], len(waiting))
            future.add_done_callback(waiting.discard)
            return future

    with Watched(1) as pool:
        simulate_sgd(PROBLEM, [0.2], runs=16 * (AHEAD + 50), seed=11, progress=False, executor=pool)
    assert AHEAD / 2 < most[0] <= AHEAD


def test_errors_of_the_simulation_itself_are_not_taken_for_lost_workers():
    executor = Losing(set(), ConnectionError)
    with pytest.raises(OverflowError, match="training diverges"):
        simulate_sgd(PROBLEM, np.full(400, 40.0), runs=70, seed=1, executor=executor)


def test_a_pool_that_a_dead_process_broke_is_replaced(tmp_path):
    problem = deadly(tmp_path, 2)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        curve = simulate(problem, executor=pool)
    assert not list(tmp_path.iterdir())
    assert "workers were lost" in curve.message
    assert bits(curve) == bits(simulate(problem))


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Makes local clusters, with their settings for a test machine."""
    distributed = pytest.importorskip("distributed")
    import dask

    monkeypatch.chdir(tmp_path)  # where workers keep their files
    made = []

    def make(**options):
        settings = {"distributed.scheduler.allowed-failures": options.pop("allowed_failures", 3)}
        with dask.config.set(settings):
            cluster = distributed.LocalCluster(dashboard_address=None, threads_per_worker=1, **options)
        client = distributed.Client(cluster)
        made.extend([cluster, client])
        return client

    yield make
    for cluster in reversed(made):
        cluster.close()


@pytest.mark.filterwarnings("default")
def test_a_dask_worker_that_dies_is_survived(cluster, tmp_path):
    folder = tmp_path / "deaths"
    folder.mkdir()
    problem = deadly(folder, 1)
    client = cluster(n_workers=1, processes=True, allowed_failures=0)
    curve = simulate(problem, executor=client.get_executor(pure=True))
    assert not list(folder.iterdir())
    assert "workers were lost" in curve.message
    assert bits(curve) == bits(simulate(problem))
