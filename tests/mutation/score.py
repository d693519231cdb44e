"""Mutation testing: how many wrong versions of the symbolic layer and of the solvers do the tests notice?

    python tests/mutation/score.py --count 200 --seed 0 --out score.json

draws mutants (see mutants.py), puts each into a clone of the last commit, and runs the tests nearest to its module
until one fails: the tests of the module itself, then those that import it, then those that import what imports it. A
mutant survives when every test file within the budget of seconds has passed. The file given by --out is written after
every mutant, and what stands in it is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "architecture"), str(Path(__file__).resolve().parent)]

from mutants import draw  # noqa: E402
from scan_layout import imported_modules, mirrors  # noqa: E402

from fsl_num.writing import write_atomically  # noqa: E402

LONGEST = 60.0  # seconds without a word
_FAILED = re.compile(r"^(\S+?)::.* (?:FAILED|ERROR)\b|ERROR collecting (\S+) ", re.MULTILINE)

LAST = "tests/test_theorems.py"
"""The claims: they reach everything, and are asked last."""


def nearest_tests(path, root):
    """The test files that can notice a mistake in the module at ``path``, nearest first, with its own doctests."""
    modules = [file for top in ("fsl_sym", "fsl_num") for file in (root / top).rglob("*.py")]
    tests = [file for file in (root / "tests").rglob("test_*.py") if "architecture" not in file.parts]
    all_names = {_module_name(file.relative_to(root)) for file in modules}
    imports = {file: _imports(file.read_text(encoding="utf-8"), all_names) for file in (*modules, *tests)}
    name = ".".join(part for part in Path(path).with_suffix("").parts if part != "__init__")
    chosen = [path, *(file for file in mirrors(Path(path)) if (root / file).is_file())]
    reached, names = {name}, {name}
    while names:
        users = [file for file in imports if imports[file] & names]
        chosen += sorted(str(file.relative_to(root)) for file in users if file in tests)
        found = {_module_name(file.relative_to(root)) for file in users if file not in tests}
        names = found - reached
        reached |= found
    kept = [file for file in dict.fromkeys(chosen) if file != LAST and "bench" not in file]
    return [*kept, LAST]


def _imports(source, modules):
    """What a file imports, and all ``modules`` of the packages that it walks through."""
    found = imported_modules(source)
    if "walk_packages(" in source:
        found |= {module for module in modules if any(module.startswith(f"{name}.") for name in found)}
    return found


def _module_name(path):
    return ".".join(part for part in path.with_suffix("").parts if part != "__init__")


def verify(mutant, clone, seconds, healthy):
    """Run the tests on one mutant: a record with whether it was killed, by which file, and the changed line.

    A test file counts only where it passes without the mutant, asked when it first kills: ``healthy`` remembers.
    """
    target = clone / mutant.path
    original = target.read_text(encoding="utf-8")
    changed = mutant.source(original)
    record = {
        "path": mutant.path,
        "line": mutant.line,
        "kind": mutant.kind,
        "operator": mutant.operator.__name__,
        "occurrence": mutant.occurrence,
        "change": _changed_lines(original, changed),
    }
    left, waiting = float(seconds), nearest_tests(mutant.path, clone)
    try:
        while waiting and left > 0:
            _put(target, changed)
            start = time.monotonic()
            guilty, outcome = run_tests(waiting, clone, left)
            left -= time.monotonic() - start
            if guilty is None:
                break
            if guilty not in healthy:
                _put(target, original)
                healthy[guilty] = run_tests([guilty], clone, 600.0)[0] is None
            if healthy[guilty]:
                return record | {"killed": True, "by": guilty, "how": outcome}
            waiting = [test for test in waiting if test != guilty]
        return record | {"killed": False, "by": None, "how": "survived"}
    finally:
        _put(target, original)


def _put(path, text):
    path.write_text(text, encoding="utf-8")
    # A time of its own for each version: compiled code is kept by time and size, and a mutant often has the same size.
    _put.clock += 2
    os.utime(path, (_put.clock, _put.clock))


_put.clock = int(time.time()) - 10_000_000


def run_tests(tests, clone, limit, longest=LONGEST):
    """Run test files in their order, for ``limit`` seconds, up to the first that fails: that file and how, or None.

    A test that does not end within ``longest`` seconds fails too: mutants often loop for ever.
    """
    environment = os.environ | {
        "PYTHONPATH": str(clone),
        "PYTHONPYCACHEPREFIX": str(clone.parent / "compiled"),
        "HYPOTHESIS_PROFILE": "ci",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-v", "-n", "0", "-p", "no:cacheprovider", *tests]
    chunks = SimpleQueue()
    with subprocess.Popen(command, cwd=clone, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        reader = Thread(target=_read, args=(run.stdout, chunks))
        reader.start()
        said, end = "", time.monotonic() + limit
        try:
            while (chunk := chunks.get(timeout=longest)) is not None:
                said += chunk
                if guilty := _FAILED.search(said):
                    return next(file for file in guilty.groups() if file), "failed"
                if time.monotonic() > end:
                    return None, "passed so far"
        except Empty:
            # the name of a test is printed before its outcome
            return max(tests, key=lambda test: said.rfind(f"{test}::")), "too slow"
        finally:
            run.kill()
            reader.join()
    if run.wait() in (0, 5):
        return None, "passed"
    return max(tests, key=lambda test: said.rfind(f"{test}::")), "failed"


def _read(stream, chunks):
    while chunk := stream.read1(4096):
        chunks.put(chunk.decode(errors="replace"))
    chunks.put(None)


def _changed_lines(original, changed):
    before, after = original.splitlines(), changed.splitlines()
    pairs = [(a.strip(), b.strip()) for a, b in zip(before, after, strict=False) if a != b]
    return list(pairs[0]) if pairs else ["", ""]


def main(arguments=None):
    """Draw, run, report; 0 where the share of killed mutants reaches the goal."""
    parser = argparse.ArgumentParser(description="Mutation testing of the symbolic layer and the solvers.")
    parser.add_argument("--count", type=int, default=100, help="mutants to draw (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw (default: 0)")
    parser.add_argument(
        "--jobs", type=int, default=1, help="mutants at a time, each in a clone of its own (default: 1)"
    )
    parser.add_argument("--only", nargs="+", default=None, help="files or folders to draw from (default: all targets)")
    parser.add_argument("--seconds", type=float, default=240.0, help="tests a mutant must survive (default: 240 s)")
    parser.add_argument("--goal", type=float, default=0.9, help="share to be killed (default: 0.9)")
    parser.add_argument("--out", type=Path, default=Path("mutation-score.json"), help="the record, read and extended")
    chosen = parser.parse_args(arguments)
    records = json.loads(chosen.out.read_text(encoding="utf-8"))["mutants"] if chosen.out.is_file() else []
    known = {(record["path"], record["operator"], record["occurrence"]) for record in records}
    with tempfile.TemporaryDirectory() as folder:
        clones = SimpleQueue()
        for index in range(chosen.jobs):
            clone = Path(folder) / str(index) / "clone"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            clones.put(clone)
        drawn, total = draw(clone, chosen.count, chosen.seed, chosen.only)
        waiting = [
            mutant for mutant in drawn if (mutant.path, mutant.operator.__name__, mutant.occurrence) not in known
        ]

        healthy: dict[str, bool] = {}

        def run(mutant):
            place = clones.get()
            try:
                return verify(mutant, place, chosen.seconds, healthy)
            finally:
                clones.put(place)

        with ThreadPoolExecutor(chosen.jobs) as pool:
            for record in tqdm(pool.map(run, waiting), total=len(waiting), unit="mutant"):
                records.append(record)
                write_atomically(str(chosen.out), json.dumps({"places": total, "mutants": records}, indent=1) + "\n")
    return report(records, total, chosen.goal)


def report(records, total, goal):
    """Print the score and the survivors, each with the reason why no test notices it where one is known.

    Those that are known to be the same program ("same" in survivors.json) do not count in the second share, which is
    what is called the mutation score and compared with the goal.
    """
    known = json.loads((Path(__file__).resolve().parent / "survivors.json").read_text(encoding="utf-8"))
    reasons = {(entry["path"], entry["before"], entry["after"]): entry["reason"] for entry in known}
    same = {(entry["path"], entry["before"], entry["after"]) for entry in known if entry.get("same")}
    killed = sum(record["killed"] for record in records)
    print(f"{killed} of {len(records)} mutants killed ({killed / max(len(records), 1):.1%}), drawn from {total} places")
    survivors = [record for record in records if not record["killed"]]
    different = len(records) - sum((record["path"], *record["change"]) in same for record in survivors)
    share = killed / max(different, 1)
    print(f"{killed} of {different} ({share:.1%}) without those that are known to be the same program")
    for record in survivors:
        before, after = record["change"]
        why = reasons.get((record["path"], before, after), "no reason known: a test is missing")
        print(f"  survived {record['path']}:{record['line']} ({record['kind']}): {why}\n    - {before}\n    + {after}")
    return 0 if share >= goal else 1


if __name__ == "__main__":
    sys.exit(main())
