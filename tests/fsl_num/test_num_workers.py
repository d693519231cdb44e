"""Worker processes: none outlives its maker, and a lost one is replaced once."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future

import pytest

import fsl_num
from fsl_num.claims import runner
from fsl_num.workers import LostWorkersError, Processes

posix = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="signals and processes are those of Linux")
ROOT = os.path.dirname(os.path.dirname(fsl_num.__file__))
PATIENCE = 30.0  # seconds: a process of this project starts in one or two, on a busy machine in more


def die(*work):
    os.kill(os.getpid(), signal.SIGKILL)


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@posix
def test_work_that_is_lost_again_is_given_up_and_the_rest_is_done():
    with Processes(2) as executor:
        lost, fine = executor.submit(die), [executor.submit(abs, -k) for k in range(5)]
        with pytest.raises(LostWorkersError, match="lost 2 times over the same work"):
            lost.result()
        assert [future.result() for future in fine] == list(range(5))


def test_an_exception_comes_back_with_its_place_and_what_cannot_travel_is_named():
    with Processes(1) as executor:
        with pytest.raises(ZeroDivisionError) as raised:
            executor.submit(divmod, 1, 0).result()
        assert "in a worker process" in raised.value.__notes__[0]
        with pytest.raises(TypeError, match="cannot be sent"):
            executor.submit(eval, "lambda: 0").result()
        with pytest.raises(Exception, match="pickle|local object"):  # pickle's own words, which versions change
            executor.submit(lambda: 0).result()
        assert executor.submit(abs, -1).result() == 1


@posix
def test_left_by_an_exception_the_processes_are_gone_at_once():
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Processes(1) as executor:
        pid = executor.submit(os.getpid).result()
        executor.submit(time.sleep, 10 * PATIENCE)
        raise KeyboardInterrupt
    assert not lives(pid) and time.monotonic() - begun < PATIENCE


PARENT = """
import os, sys, time
from fsl_num.workers import Processes
if __name__ == "__main__":
    with Processes(2) as executor:
        print(*[each.result() for each in [executor.submit(os.getpid) for _ in range(2)]], flush=True)
        for _ in range(2):
            executor.submit(time.sleep, 600)
        time.sleep(600)
"""


@posix
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_busy_processes_end_with_their_maker(number, tmp_path):
    (tmp_path / "parent.py").write_text(PARENT, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "parent.py")]
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

    def interruptible():  # what a shell runs in the background ignores SIGINT, and its children inherit that
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(command, env=environment, preexec_fn=interruptible, **pipes) as run:
        workers = [int(word) for word in run.stdout.readline().split()]
        assert workers and all(map(lives, workers))
        run.send_signal(getattr(signal, number))
        run.communicate(timeout=PATIENCE)
    assert until(lambda: not any(map(lives, workers)))


class Losing(Executor):
    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_exception(LostWorkersError("lost"))
        return future


def test_a_claim_whose_worker_is_lost_is_unknown_and_says_so():
    (outcome,) = runner.verify_all(["ass:fsl"], executor=Losing())
    assert (outcome.verdict, outcome.message, outcome.passes) == ("UNKNOWN", runner.LOST, False)


def test_a_worker_that_is_ended_at_a_progress_bar_leaves_nothing_behind(tmp_path):
    script = tmp_path / "bar.py"
    script.write_text(
        "import time\n"
        "from pathlib import Path\n"
        "from tqdm import tqdm\n"
        "from fsl_num.workers import Processes\n"
        "def work():\n"
        "    with tqdm(total=1, disable=True):\n"
        "        tqdm.get_lock()\n"
        "        Path('begun').touch()\n"
        "        time.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    executor = Processes(1)\n"
        "    executor.submit(work)\n"
        "    while not Path('begun').exists():\n"
        "        time.sleep(0.05)\n"
        "    executor.abandon()\n",
        encoding="utf-8",
    )
    ended = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=os.environ | {"PYTHONPATH": ROOT}, capture_output=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
