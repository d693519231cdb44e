"""R5: no test uses a private name of the packages: what no public name shows is not worth a test."""

import pytest
from project import ROOT, offenders
from scan_private import private_names, replaced_names

REPLACED = {
    # its import lasts a fifth of a second, within which no test interrupts for certain
    "tests/fsl_num/cli/test_num_cli.py": {"fsl_num.cli"},
    # what stands in for two minutes of work
    "tests/fsl_num/cli_outcomes.py": {"fsl_num.claims.runner.verify_all"},
    # a ball must hold the truth whatever the guess was and however little the modes say: no input makes them so bad
    "tests/fsl_num/volterra/test_num_volterra_enclosure_panels.py": {
        "March.collocate", "enclosure.ROUNDS", "enclosure.ball_modes",
    },
}  # fmt: skip
"""What tests may replace in the packages, each because no input reaches it from outside."""


def test_a_test_replaces_nothing_in_the_packages_that_an_input_could_reach():
    found = {}
    for path in (ROOT / "tests").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if path.name != "test_arch_private.py" and "monkeypatch" in source and (names := set(replaced_names(source))):
            found[path.relative_to(ROOT).as_posix()] = names
    assert found == REPLACED


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from fsl_num.volterra import panels\nmonkeypatch.setattr(panels, 'LAST', 3)", {"panels.LAST"}),
        ("from fsl_num.volterra.panels import Radau\nmonkeypatch.setattr(Radau, 'nodes', [])", {"Radau.nodes"}),
        ("monkeypatch.setattr('fsl_num.volterra.panels.LAST', 3)", {"fsl_num.volterra.panels.LAST"}),
        ("monkeypatch.setitem(sys.modules, 'fsl_num.cli', None)", {"fsl_num.cli"}),
        ("monkeypatch.setitem(sys.modules, 'flint', None)", set()),
        ("import os\nmonkeypatch.setattr(os, 'fsync', 3)\nmonkeypatch.setattr('os.fsync', 3)", set()),
    ],
)
def test_the_scanner_sees_what_is_replaced(source, names):
    assert set(replaced_names(source)) == names


def test_a_test_uses_public_names():
    paths = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py")]
    assert offenders(paths, lambda path, source: private_names(source)) == {}


@pytest.mark.parametrize(
    "source",
    [
        "from fsl_num.volterra.panels import _march",
        "from fsl_num._home import march",
        "import fsl_sym._home",
        "from fsl_num.volterra import panels\npanels._march()",
        "import fsl_num.volterra.panels\nfsl_num.volterra.panels._march()",
        "from fsl_num import Problem\nProblem()._end",
        "from fsl_num import Problem\nProblem()._repr_html_()",
        "from fsl_num.compression import compress\ncompress.__globals__['kept']",
        "from fsl_num.volterra import panels\nmonkeypatch.setattr(panels, '_LAST', 3)",
        "from fsl_num.volterra import panels\nmonkeypatch.delattr(panels.Radau, '_nodes')",
        "monkeypatch.setattr('fsl_num.volterra.panels._LAST', 3)",
    ],
)
def test_the_scanner_sees_a_private_name(source):
    assert len(list(private_names(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from fsl_num.volterra import panels\nprint(panels.__name__)",
        "import os\nos._exit(1)",
        "from sympy import Expr\nmonkeypatch.setattr(Expr, '_random', None)",
        "import score\nmonkeypatch.setattr(score, '_LONGEST', 4.0)",
        "class Test:\n    def ask(self):\n        return self._answer",
        "from fsl_num.volterra import panels\nmonkeypatch.setattr(panels, 'solve', '_text')",
    ],
)
def test_the_scanner_lets_other_names_pass(source):
    assert not list(private_names(source))
