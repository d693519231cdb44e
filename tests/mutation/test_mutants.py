"""The mutants drawn are wrong versions that compile, at places where a test could see them."""

import ast
import json
from pathlib import Path

import pytest
from mutants import FAMILIES, draw, files, places
from score import nearest_tests, report, run_tests

ROOT = Path(__file__).resolve().parents[2]
SOURCE = '''"""Words with 3 numbers."""
from __future__ import annotations
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    A = 1 + 1

Either = int | None


@cache
def f(x: int | None, *, y: int = 2) -> int | None:
    for a, b in zip([1], [2], strict=True):
        if a < b and not x:
            return a + b * y
    z = x.reshape(-1, y)
    raise ValueError(f"got {x * 3}")


@dataclass(frozen=True, slots=True)
class Kept:
    x: int
'''


def test_places_are_where_a_mistake_can_be_seen():
    found = {kind: {line for name, (line, _) in places("f.py", SOURCE) if name == kind} for kind in FAMILIES}
    assert found["arithmetic"] == {16} and found["comparison"] == {15}
    assert found["number"] == {13, 14} and found["decorator"] == {21} and found["loop"] == {14}
    assert found["truth"] == {15, 21}  # frozen, but neither strict nor slots


def test_a_mutant_compiles_and_differs():
    for group in places("f.py", SOURCE).values():
        for mutant in group:
            changed = mutant.source(SOURCE)
            if changed is not None:
                assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
                assert sum(a != b for a, b in zip(SOURCE.splitlines(), changed.splitlines(), strict=False)) >= 1


def test_all_sources_are_drawn_from():
    drawn, total = draw(ROOT, 5, 3)
    assert len(drawn) == 5 and total > 5000


def test_the_same_seed_draws_the_same_mutants_from_a_part_of_the_sources():
    part = ["fsl_sym/order.py", "fsl_num/volterra/steps"]
    drawn, total = draw(ROOT, 5, 3, part)
    assert len(drawn) == 5 and 100 < total < 5000
    assert all(
        mutant.path == "fsl_sym/order.py" or mutant.path.startswith("fsl_num/volterra/steps/") for mutant in drawn
    )
    places = [
        [(mutant.path, mutant.occurrence) for mutant in mutants]
        for mutants in (drawn, draw(ROOT, 5, 3, part)[0], draw(ROOT, 5, 4, part)[0])
    ]
    assert places[0] == places[1] != places[2]


def test_the_tests_nearest_to_a_module_are_asked_first():
    assert "fsl_num/volterra/steps/discrete.py" in files(ROOT)
    asked = nearest_tests("fsl_num/spectrum.py", ROOT)
    assert asked[:2] == ["fsl_num/spectrum.py", "tests/fsl_num/test_num_spectrum.py"]
    assert asked[-1] == "tests/test_theorems.py" and len(set(asked)) == len(asked)
    # it walks through the package and looks at the dataclasses of every module
    assert "tests/fsl_sym/test_sym_values.py" in nearest_tests("fsl_sym/exponents/solve.py", ROOT)[:12]


def test_the_report_gives_the_reasons_of_the_survivors(capsys):
    known = json.loads((Path(__file__).parent / "survivors.json").read_text(encoding="utf-8"))
    records = [
        {"path": fault["path"], "line": 1, "kind": "number", "change": change, "killed": False}
        for fault in known
        for change in [[fault["before"], fault["after"]]]
    ]
    survivor = {"path": "f.py", "line": 1, "kind": "number", "change": ["a", "b"], "killed": False}
    assert report([*records, survivor, {"killed": True}], 100, 0.5) == 1
    told = capsys.readouterr().out
    different = sum(not entry.get("same", False) for entry in known) + 2
    assert told.startswith(f"1 of {len(known) + 2} mutants killed") and f"\n1 of {different} (" in told
    assert all(entry["reason"] in told for entry in known) and told.count("a test is missing") == 1
    assert report([{"killed": True}], 100, 0.9) == 0


def test_reasons_are_kept_for_lines_that_are_there_and_once():
    known = json.loads((Path(__file__).parent / "survivors.json").read_text(encoding="utf-8"))
    lines = {
        path: {line.strip() for line in (ROOT / path).read_text(encoding="utf-8").splitlines()} for path in files(ROOT)
    }
    assert [entry["before"] for entry in known if entry["before"] not in lines.get(entry["path"], set())] == []
    assert len({(entry["path"], entry["before"], entry["after"]) for entry in known}) == len(known)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("def test_b(): pass", (None, "passed")),
        ("def test_b(): assert 1 == 2", ("test_two.py", "failed")),
        ("import nothing_of_this_name", ("test_two.py", "failed")),
        ("import time\ndef test_b(): time.sleep(60)", ("test_two.py", "too slow")),
        ("import os\ndef test_b(): os._exit(3)", ("test_two.py", "failed")),
    ],
)
def test_files_are_run_up_to_the_first_that_fails(tmp_path, body, outcome):
    (tmp_path / "test_one.py").write_text("def test_a(): pass")
    (tmp_path / "test_two.py").write_text(body)
    assert run_tests(["test_one.py", "test_two.py"], tmp_path, 30.0, longest=4.0) == outcome
