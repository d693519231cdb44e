"""Commands and calls made up at random, but of the right structure: what comes of each is counted by kind.

    python tests/fuzz/fuzz.py --commands 5000 --calls 5000 --seed 0 --table tests/fuzz/OUTCOMES.md

runs them in processes (``--jobs``). Everything is drawn from the seed: ``--only command:17`` repeats one case and shows
what it prints. The exit status is 1 where an outcome is a defect.

A case is a defect if a library's traceback or a fault of the program comes out (exit status 3 included), a number that
is not finite with status 0, a Python warning, more than one line of complaint, more than ten seconds of work, or more
memory than ``fsl_num.validation.MOST_BYTES``.
"""

import argparse
import contextlib
import dis
import io
import json
import os
import random
import re
import resource
import shlex
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from itertools import islice
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # as the command itself does, before numpy is imported

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]

from fuzz_calls import CALLS  # noqa: E402
from fuzz_commands import COMMANDS  # noqa: E402
from fuzz_files import write_files  # noqa: E402
from fuzz_public import hostile_call  # noqa: E402

from fsl_num.cli import main  # noqa: E402
from fsl_num.validation import MOST_BYTES  # noqa: E402
from fsl_num.workers import Processes  # noqa: E402

LONGEST = 10.0  # seconds of processor time of one case
NOTES = (" now", " turned into nats")  # lines that say what was made of what was typed, and complain of nothing
GIVEN_UP = 60  # seconds of processor time, or ten times as many by the clock, after which a case is ended
BATCH = 100  # cases of one process: files that they damage do not reach the others

ANSWERED, REFUSED = "answered", "refused in one sentence"
DEFECTS = (
    "fault or traceback",
    "warning of Python",
    "no finite number, and no word of it",
    "more than one sentence",
    "longer than 10 s",
    "more memory than the bound",
    "raised outside the packages",
    "refused, and a file changed",
)


class OverTime(BaseException):
    """A case took so long that it is given up."""


def no_finite_number(text):
    """Whether a text holds nan or inf as a number; in JSON also where Python would read one."""
    try:
        json.loads(text, parse_constant=lambda name: (_ for _ in ()).throw(OverflowError(name)))
    except OverflowError:
        return True
    except (ValueError, RecursionError):
        words = text.replace(",", " ").split()
        return any(word.strip("[]()").lstrip("+-").lower() in ("nan", "inf") for word in words)
    return False


def outcome_of_command(words):
    """The kind of outcome of a command, and what it said."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except (Exception, SystemExit) as error:
            return "fault or traceback", f"{type(error).__name__}: {error}"
    out.flush()
    said, shown = err.getvalue(), out.buffer.getvalue().decode("utf-8", "replace")
    if status not in (0, 1, 2):
        return "fault or traceback", f"status {status}: {said}"
    if "warning: " in said:
        return "warning of Python", said
    if status == 2:
        sentences = [line for line in said.splitlines() if not line.endswith(NOTES)]
        if said.startswith("fsl: ") and len(sentences) == 1 and not shown:
            return REFUSED, said
        return "more than one sentence", said + shown
    if no_finite_number(shown) and not any(name in words for name in ("list", "show", "errata", "-h", "--help")):
        return "no finite number, and no word of it", shown
    return ANSWERED, shown


def raised_here(error):
    """Whether a statement ``raise`` of the packages made the error, and no library or operation of Python."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    instruction = next((step for step in dis.get_instructions(code) if step.offset == last.tb_lasti), None)
    here = any(f"/{package}/" in code.co_filename for package in ("fsl_num", "fsl_sym"))
    return here and instruction is not None and instruction.opname == "RAISE_VARARGS"


def files_here():
    """The files of the present folder, as they are: the cache is free to grow."""
    return {(file.path, file.stat().st_mtime_ns, file.stat().st_size) for file in os.scandir() if file.is_file()}


def outcome_of_call(call):
    """The kind of outcome of a call of the Python interface: refusals are ValueError and TypeError of the packages."""
    before = files_here()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = call()
        except (ValueError, TypeError, OverflowError) as error:  # the last where training diverges
            if not str(error) or not raised_here(error):
                return "raised outside the packages", f"{type(error).__name__}: {error}"
            return (REFUSED, str(error)) if files_here() == before else ("refused, and a file changed", str(error))
        except OSError as error:  # of a file that was named: the sentence of the system
            named = error.filename is not None and files_here() == before
            return REFUSED if named else "fault or traceback", f"{type(error).__name__}: {error}"
        except Exception as error:
            return "fault or traceback", f"{type(error).__name__}: {error}"
    if caught:
        return "warning of Python", str(caught[0].message)
    text = repr(value)
    shown = text.replace("s=nan, beta=nan, ", "")  # a model of a given spectrum says that it has no exponents
    return ("no finite number, and no word of it", text) if re.search(r"\bnan\b", shown) else (ANSWERED, text)


def case(kind, number, seed):
    """A case from its number: its text and what runs it."""
    draw = random.Random(f"{kind} {seed} {number}")
    draw.oddness = draw.choice([0.0, 0.0, 0.02, 0.1, 0.3])  # of its values: many odd ones hide each other
    if kind == "command":
        name = draw.choice(list(COMMANDS))
        words = COMMANDS[name](draw)
        return name, shlex.join(words), lambda: outcome_of_command(words)
    if kind == "public":
        name, text, call = hostile_call(draw)
        return name, text, lambda: outcome_of_call(call)
    name = draw.choice(list(CALLS))
    text, call = CALLS[name](draw)
    return name, text, lambda: outcome_of_call(call)


@contextlib.contextmanager
def folder_of_cases():
    """A folder of its own, with a cache and an empty standard input, where what takes too long is given up."""

    def give_up(*_):
        raise OverTime

    before, stdin, environment = os.getcwd(), sys.stdin, dict(os.environ)
    handlers = {number: signal.signal(number, give_up) for number in (signal.SIGALRM, signal.SIGPROF)}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["FSL_CACHE"] = str(Path(folder) / "cache")
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            os.environ["FSL_CACHE"] = environment.get("FSL_CACHE", "")
            sys.stdin = stdin
            for number, handler in handlers.items():
                signal.signal(number, handler)


def run_batch(kind, numbers, seed):
    """Run cases in a folder of their own; (number, name, text, outcome, what was said, seconds) of each."""
    found = []
    with folder_of_cases() as folder:
        for number in numbers:
            write_files(folder)
            sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"")))
            name, text, run = case(kind, number, seed)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            begun, wall = time.process_time(), time.monotonic()
            signal.alarm(10 * GIVEN_UP)  # what waits, on a machine that others may use too
            signal.setitimer(signal.ITIMER_PROF, GIVEN_UP)
            try:
                outcome, said = run()
            except OverTime:
                outcome, said = "longer than 10 s", f"given up after {GIVEN_UP} s"
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)
            taken = min(time.process_time() - begun, time.monotonic() - wall)
            grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory)
            if outcome in (ANSWERED, REFUSED) and taken > LONGEST:
                outcome = "longer than 10 s"
            if grown > MOST_BYTES:
                outcome, said = "more memory than the bound", f"{grown / 2**30:.1f} GiB; {said}"
            found.append((number, name, text, outcome, said, taken))
    return found


def run(kind, count, seed, jobs):
    """All cases of a kind, in processes; the results as they come."""
    numbers = iter(range(count))
    batches = iter(lambda: list(islice(numbers, BATCH)), [])
    if jobs == 1:
        for batch in batches:
            yield from run_batch(kind, batch, seed)
        return
    with Processes(jobs) as pool:
        for future in [pool.submit(run_batch, kind, batch, seed) for batch in batches]:
            yield from future.result()


def table(results, seed, seconds):
    """The outcomes as Markdown: a row a command or function, a column a kind of outcome that there was.

    Of the public callables, which are many, those alone with a defect have a row.
    """
    columns = [ANSWERED, REFUSED, *(defect for defect in DEFECTS if any(result[4] == defect for result in results))]
    lines = [
        "# What was tried at random, and what came of it",
        "",
        f"Written by `python tests/fuzz/fuzz.py` (seed {seed}, {seconds:.0f} s). A command that is answered may say"
        " that a claim fails; one that is refused gets one sentence and exit status 2, a call a ValueError, TypeError"
        f" or OverflowError that a statement `raise` of the packages made. All else is a defect: {', '.join(DEFECTS)}."
        " Kinds that did not occur have no column.",
    ]
    titles = {"command": "Commands", "call": "Calls", "public": "Examples of the documentation with hostile arguments"}
    for kind, title in titles.items():
        counts = Counter((name, outcome) for kind_of_call, _, name, _, outcome, *_ in results if kind_of_call == kind)
        names = sorted({name for name, _ in counts})
        if not names:
            continue
        shown = [name for name in names if kind != "public" or any(counts[name, defect] for defect in DEFECTS)]
        lines += ["", f"## {title}: {sum(counts.values()):,}", ""]
        lines += ["| | " + " | ".join(columns) + " |", "| --- |" + " --: |" * len(columns)]
        for name in shown:
            lines.append(f"| {name} | " + " | ".join(str(counts[name, column] or "") for column in columns) + " |")
        totals = [sum(counts[name, column] for name in names) for column in columns]
        lines.append("| all | " + " | ".join(map(str, totals)) + " |")
    defects = [result for result in results if result[4] in DEFECTS]
    if defects:
        lines += ["", "## Defects", ""]
        for kind, number, _, text, outcome, said, taken in defects[:50]:
            short = " ".join(said.split())[:160].replace("`", "'")
            lines.append(f"- {kind} {number}: {outcome} ({taken:.1f} s): `{text[:200]}`: {short}")
    return "\n".join(lines) + "\n"


def run_all(arguments):
    """Run what was asked for; the results and the seconds that they took."""
    begun = time.monotonic()
    results = []
    for kind, count in (("call", arguments.calls), ("public", arguments.public), ("command", arguments.commands)):
        for result in run(kind, count, arguments.seed, arguments.jobs):
            if time.monotonic() - begun > arguments.seconds:
                break
            results.append((kind, *result))
            if result[3] in DEFECTS:
                print(f"{kind} {result[0]}: {result[3]} ({result[5]:.1f} s): {result[2][:300]}", file=sys.stderr)
                print("    " + " ".join(result[4].split())[:300], file=sys.stderr, flush=True)
    return results, time.monotonic() - begun


def parsed(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", type=int, default=200)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--public", type=int, default=200, help="calls of the examples with hostile arguments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9, help="end then, and count what was done")
    parser.add_argument("--only", metavar="KIND:NUMBER", help="repeat one case, as command:17")
    parser.add_argument("--table", metavar="FILE", help="write the table of outcomes there (Markdown)")
    return parser.parse_args(words)


def search(words=None):
    """Run what the words ask for, and show it; 1 where an outcome is a defect."""
    chosen = parsed(words)
    if chosen.only:
        kind, _, index = chosen.only.partition(":")
        print(*run_batch(kind, [int(index)], chosen.seed)[0], sep="\n")
        return 0
    outcomes, spent = run_all(chosen)
    shown = table(outcomes, chosen.seed, spent)
    if chosen.table:
        Path(chosen.table).write_text(shown, encoding="utf-8")
    print(shown)
    return int(any(outcome[4] in DEFECTS for outcome in outcomes))


if __name__ == "__main__":
    raise SystemExit(search())
