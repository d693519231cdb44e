"""Compiled functions: the machine code is kept where that can be written, and nothing fails where it cannot."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = """
from fsl_num.compiled import compiled

@compiled
def half(x: float) -> float:
    return 0.5 * x
"""


def run(folder, code):
    known = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", code], cwd=folder, env=known, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(("beside", "in_home"), [(True, False), (False, True), (False, False)])
def test_machine_code_is_kept_where_it_can_be(tmp_path, monkeypatch, beside, in_home):
    package, home = tmp_path / "package", tmp_path / "home"
    package.mkdir()
    (package / "halves.py").write_text(SOURCE)
    # a file stands where a folder would have to be made: nobody can write there, root neither
    if not beside:
        (package / "__pycache__").touch()
    if in_home:
        home.mkdir()
    else:
        home.touch()
    for place in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(place, str(home))
    spec = spec_from_file_location("halves", package / "halves.py")
    halves = module_from_spec(spec)
    spec.loader.exec_module(halves)
    assert halves.half(3.0) == 1.5
    kept = [path for path in tmp_path.rglob("*.nbi")]
    assert [path.is_relative_to(package) for path in kept] == ([True] if beside else [False] if in_home else [])


def test_a_compiled_function_of_another_file_is_refused(tmp_path):
    # a change of it would go unnoticed: the machine code kept for the caller contains it, and knows its own file alone
    (tmp_path / "halves.py").write_text(SOURCE)
    head = "from fsl_num.compiled import compiled\nfrom halves import half\n"
    quarter = head + "@compiled\ndef quarter(x):\n    return half(half(x))\n"
    (tmp_path / "quarters.py").write_text(quarter)
    told = run(tmp_path, "try:\n    import quarters\nexcept ValueError as error:\n    print(error)")
    assert " ".join(told) == "quarter calls half of halves: both must stand in one file"


def test_the_compiler_is_loaded_where_a_discrete_problem_is_solved_and_not_before(tmp_path):
    code = """
import sys
import numpy as np
from fsl_num import Discrete, Model, Problem, Regression, exact_risk, risks_of_schedules, solve
from fsl_num.volterra.steps.discrete import losses_of_steps
model = Model(s=0.5, beta=2.0, size=10, noise=1.0)
solve(Problem(model, gamma=0.1, horizon=9.0), 9.0)
solve(Problem(model, gamma=lambda t: 0.1 / (1.0 + t), horizon=9.0), 9.0)
plan = Discrete(rates=[0.1] * 3)
print("numba" in sys.modules)
losses_of_steps(Problem(model, gamma=plan))
print("numba" in sys.modules)
"""
    assert run(tmp_path, code) == ["False", "True"]
