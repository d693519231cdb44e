"""What a command gives out: nothing is lost, no input is destroyed, and the exit status says what happened."""

import io
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from importlib import import_module

import pytest
from typed import refusal

from fsl_num.cli import COMMANDS, STATUSES, main
from fsl_num.cli.streams import printable

ROOT = os.getcwd()
SOLVE = ["solve", "--s", "1", "--beta", "2", "--model-size", "2", "--noise", "1", "--schedule", "constant"]
SOLVE += ["--gamma", ".1", "--time", "1"]
TABLE = "t,excess_risk,error\n"
LOG = "step,lr,loss\n" + "".join(f"{10 * k},0.001,{2 + 3 * k**-0.3}\n" for k in range(1, 100))
FIT = ["--law", "momentum", "--no-intervals", "--starts", "1"]

posix = pytest.mark.skipif(os.name != "posix", reason="pipes, links and signals are those of POSIX")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.csv").write_text(LOG, encoding="utf-8")
    return tmp_path


def interruptible():
    """Let SIGINT interrupt: a shell has processes in the background ignore it, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def process(words, **settings):
    environment = os.environ | {"PYTHONPATH": ROOT} | settings.pop("env", {})
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    command = [sys.executable, "-m", "fsl_num", *words]
    return subprocess.Popen(command, text=True, env=environment, preexec_fn=interruptible, **pipes)


def ended(words, **settings):
    with process(words, **settings) as run:
        out, err = run.communicate(timeout=120)
    return run.returncode, out, err


# ---- what would be destroyed -----------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fit", "run.csv", *FIT, "--save", "run.csv"], "--save would replace 'run.csv', which TRAIN reads"),
        (["fit", "run.csv", *FIT, "--save", "link"], "which TRAIN reads"),
        (["fit", "run.csv", *FIT, "--save", "hard"], "which TRAIN reads"),
        (["fit", "run.csv", *FIT, "--save", "same.png", "--plot", "./same.png"], "which --save writes"),
        (["verify", "approximation-error", "--report", "a.out", "--html", "./a.out"], "which --report writes"),
        ([*SOLVE[:-2], "--times", "times", "--csv", "times"], "which --times reads"),
        ([*SOLVE, "--csv", "-", "--json"], "--csv - and --json both need standard output"),
        ([*SOLVE, "--csv", "-", "--plot", "-"], "both need standard output"),
        (["fit", "run.csv", "link", *FIT], "'link' is named twice"),
        (["fit", "", *FIT], "a file has an empty name"),
        (["fit", "lr.csv+", *FIT], "a file is missing beside the + of 'lr.csv+'"),
        (["fit", "/", *FIT], "a folder of more than"),
        (["fit", "/", "run.csv", *FIT], "a folder of more than"),
    ],
    ids=lambda value: " ".join(value[-4:]) if isinstance(value, list) else "",
)
def test_an_output_never_replaces_an_input_nor_another_output(words, said, here, capsys):
    (here / "link").symlink_to("run.csv")
    os.link(here / "run.csv", here / "hard")
    (here / "times").write_text("1\n", encoding="utf-8")
    assert said in refusal(words, capsys)
    assert (here / "run.csv").read_text(encoding="utf-8") == LOG and (here / "times").read_text() == "1\n"


@posix
def test_the_file_to_which_standard_output_goes_is_no_other_output(here):
    for path in ("out", "/dev/stdout"):
        with open("out", "w", encoding="utf-8") as out:
            status, _, said = ended([*SOLVE, "--csv", path], stdout=out)
        assert status == 2 and "which standard output goes to (give - in its place)" in said


# ---- pipes, devices, "-" ---------------------------------------------------------------------------------------------


@posix
def test_a_dash_is_standard_output_and_nothing_else_goes_there(here, capfdbinary):
    assert main([*SOLVE, "--csv", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(TABLE.encode())
    assert main([*SOLVE, "--plot", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"\x89PNG")
    assert main(["fit", "run.csv", *FIT, "--save", "-"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["law"]["kind"] == "MomentumLaw"
    assert not (here / "-").exists()


def test_a_dash_is_standard_input(here, monkeypatch, capsys):
    def answered(name, *words):
        with open(name, encoding="utf-8") as typed:
            monkeypatch.setattr(sys, "stdin", typed)
            assert main(list(words)) == 0
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out

    (here / "fit.json").write_text(answered("run.csv", "fit", "-", *FIT, "--save", "-"), encoding="utf-8")
    schedule = ["--schedule", "wsd", "--peak-lr", "0.001", "--steps", "900", "--json"]
    predicted = answered("fit.json", "predict", "--fit", "-", *schedule)
    assert 2.0 < json.loads(predicted)["final"] < 5.0


@posix
def test_outputs_go_through_pipes_and_devices(here):
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as pipe:
        status, shown, _ = ended([*SOLVE, "--csv", f"/dev/fd/{writing}"], pass_fds=[writing])
        os.close(writing)
        assert status == 0 and pipe.read().startswith(TABLE) and shown.startswith("intrinsic time")


# ---- files first -----------------------------------------------------------------------------------------------------


@posix
def test_files_are_written_although_nobody_reads_standard_output(here):
    reading, writing = os.pipe()
    os.close(reading)
    status, _, said = ended([*SOLVE, "--csv", "written"], stdout=writing)
    os.close(writing)
    assert (status, said) == (4, "") and (here / "written").stat().st_size > 50


@posix
@pytest.mark.parametrize(
    "words",
    [
        ["simulate", *SOLVE[1:11], "--peak-lr", ".1", "--steps", "9", "--exact", "--csv", "written"],
        ["fit", "run.csv", *FIT, "--save", "written"],
        ["verify", "approximation-error", "--jobs", "1", "--report", "written"],
    ],
    ids=lambda words: words[0],
)
def test_files_are_written_although_a_stream_is_broken(words, here, monkeypatch, capsys):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert (main(words), capsys.readouterr().err) == (4, "")
    assert (here / "written").stat().st_size > 50


@posix
def line_of(stream, beginning):
    """The next line of a stream that begins so."""
    return next(line for line in stream if line.startswith(beginning))


@posix
def test_a_run_is_watched_until_it_is_interrupted(here):
    words = ["forecast", "run.csv", "--to", "2000", "--watch", "--no-intervals", "--starts", "1"]
    with process(words) as run:
        try:
            first = line_of(run.stdout, "hold: final loss")
            with open("run.csv", "a", encoding="utf-8") as log:
                log.write("1000,0.001,2.5\n1010,0.001,2.5\n")
            assert line_of(run.stdout, "hold: final loss") != first
            os.rename("run.csv", "moved.csv")
            assert "looking again when the file changes" in line_of(run.stderr, "fsl: ")
            os.rename("moved.csv", "run.csv")
            line_of(run.stdout, "hold: final loss")
            run.send_signal(signal.SIGINT)
            assert (run.wait(timeout=60), run.stderr.read()) == (130, "fsl: interrupted\n")
        finally:
            run.kill()


@pytest.mark.parametrize("words", [["--help"], SOLVE], ids=" ".join)
def test_a_full_disk_or_a_closed_output_is_one_sentence_and_status_4(words):
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            status, _, said = ended(words, stdout=full)
        assert status == 4 and "No space left" in said and said.count("\n") == 1
    command = 'exec "$@" >&-'
    arguments = ["sh", "-c", command, "sh", sys.executable, "-m", "fsl_num", *words]
    closed = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if "--help" not in words:  # click says nothing where there is nothing to say it to
        assert (closed.returncode, closed.stderr) == (4, "fsl: standard output is closed\n")
    assert "Traceback" not in closed.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk is full as Linux shows it")
@pytest.mark.parametrize("words", [["solve", "--help"], [*SOLVE, "--json"]], ids=" ".join)
def test_help_and_json_on_a_full_disk_are_one_sentence_too(words, monkeypatch, capsys):
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(words) == 4
    said = capsys.readouterr().err
    assert "No space left" in said and said.count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("words", [["errata"], ["show", "ass:fsl", "--no-verdict"], ["errata", "--json"]], ids=" ".join)
def test_every_encoding_of_standard_output_will_do(encoding, words, monkeypatch, capsys):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert (main(words), capsys.readouterr().err) == (0, "")
    text = stream.buffer.getvalue().decode(encoding)
    assert json.loads(text)["errata"] if "--json" in words else text  # what is not of the encoding is not decoded


def test_what_an_encoding_lacks_is_spelled_out():
    assert printable("β^(1/2) ─ Γ x² M₁ é", "ascii") == "beta^(1/2) - Gamma x^2 M_1 e"
    assert printable("β é \udcff", "latin-1") == "beta é \\udcff"
    assert printable("a\x1b[31mb\x1b]0;c\x07\x9b", "utf-8") == "a\\x1b[31mb\\x1b]0;c\\x07\\x9b"
    assert printable("a\x1b[31mb\x1b]0;", "utf-8", coloured=True) == "a\x1b[31mb\\x1b]0;"


# ---- signals ---------------------------------------------------------------------------------------------------------


def fields(pid):
    """State and parent of a process; those of a dead one where there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            state, parent = file.read().rpartition(")")[2].split()[:2]
            return state, int(parent)
    except OSError:
        return "Z", 0


def children(pid):
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and fields(entry)[1] == pid]


def lives(pid):
    return fields(pid)[0] != "Z"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processes are found as Linux lists them")
@pytest.mark.parametrize(
    ("number", "status", "said"), [("SIGTERM", 143, "fsl: terminated\n"), ("SIGINT", 130, "fsl: interrupted\n")]
)
def test_a_signal_ends_the_command_and_its_workers_with_one_line(number, status, said, here):
    command = ["verify", "--jobs", "2", "--no-cache", "--report", "report.json"]
    with process(command, start_new_session=True) as run:
        deadline = time.monotonic() + 60
        while len(children(run.pid)) < 3 and time.monotonic() < deadline:  # two workers and the tracker of resources
            time.sleep(0.1)
        workers = children(run.pid)
        begun = time.monotonic()
        os.killpg(run.pid, getattr(signal, number))  # as a terminal does, to the workers that import too
        err = run.communicate(timeout=60)[1]
    assert len(workers) >= 2 and time.monotonic() - begun < 40  # a family of claims alone takes longer when it is busy
    assert run.returncode == status and err == said
    assert not (here / "report.json").exists()
    deadline = time.monotonic() + 10
    while any(map(lives, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(lives, workers))


def test_a_fault_is_one_sentence_with_its_place(monkeypatch, capsys):
    class Broken(io.StringIO):
        write = {}.__getitem__

    monkeypatch.setattr(sys, "stdout", Broken())
    assert main(["table", "--json"]) == 3
    said = capsys.readouterr().err
    # the innermost line that is ours
    assert said.startswith("fsl: a fault of the program, KeyError in streams.py, line ") and said.count("\n") == 1
    monkeypatch.setenv("FSL_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main(["table", "--json"])


def test_help_tells_the_exit_statuses(capsys):
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{status} {text}" in shown for status, text in STATUSES.items())


def test_the_version_and_near_names(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("fsl ")
    assert main(["show", "WSD"]) == 2
    assert "did you mean thm: wsd or " in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_with_an_example_that_can_be_read(name, capsys):
    assert main([name, "--help"]) == 0
    title, line = capsys.readouterr().out.rstrip().splitlines()[-2:]
    assert title == "Example:" and line.startswith(f"  fsl {name}")
    module = import_module(f"fsl_num.cli.{COMMANDS[name][0]}")
    module.COMMANDS[name].make_context(f"fsl {name}", shlex.split(line)[2:])


# ---- names -----------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("name", [r"$\foo$.csv", "_run.csv", "\x1b[2J.csv", "a\nb.csv", "日本.csv", "%s{0}.csv"])
def test_any_name_of_a_file_can_be_drawn_and_shown(name, here, capsys, recwarn):
    (here / name).write_text(LOG, encoding="utf-8")
    assert main(["fit", name, *FIT, "--plot", "p.png", "--predict", "run.csv"]) == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out and not shown.err and not len(recwarn)
    (here / f"rates{name}").write_text("0.1\n0.2\n", encoding="utf-8")
    assert main([*SOLVE[:9], "--schedule-file", f"rates{name}", "--plot", "q.svg"]) == 0
    assert stat.S_ISREG((here / "q.svg").stat().st_mode) and not capsys.readouterr().err


def test_a_file_behind_json_is_still_written_with_a_hint(tmp_path, capsys):
    target = tmp_path / "report.json"
    assert main(["verify", "approximation-error", "--json", str(target), "--no-cache"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith(f"fsl: --json takes no file now: --report {target}") and "verdict" in said.out
    assert json.loads(target.read_text())["outcomes"][0]["claim_id"] == "approximation-error"
