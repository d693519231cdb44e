"""R4: no module changes the state of a library, and none draws unseeded numbers."""

import ast

import pytest
from project import modules, offenders
from scan_state import global_state


def test_a_module_leaves_no_trace():
    assert offenders(modules(), lambda path, source: global_state(source)) == {}


def changeable(source):
    """Public dataclasses whose fields can be assigned to."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for decorator in map(ast.unparse, node.decorator_list):
                if decorator.split("(")[0] in ("dataclass", "dataclasses.dataclass") and "frozen=True" not in decorator:
                    yield node.name


def test_values_cannot_be_changed():
    assert offenders(modules(), lambda path, source: changeable(source)) == {}


def test_the_scanner_finds_values_that_can_be_changed():
    source = "@dataclass\nclass A: ...\n@dataclass(frozen=False)\nclass B: ...\n@dataclass(frozen=True)\nclass C: ..."
    assert list(changeable(source)) == ["A", "B"]


@pytest.mark.parametrize(
    "source",
    [
        "import mpmath\nmpmath.mp.dps = 50",
        "from mpmath import mp\nmp.prec += 10",
        "import mpmath as m\nm.mp.dps = 50",
        "import flint\nflint.ctx.dps = 50",
        "import numpy as np\nnp.seterr(all='ignore')",
        "import numpy as np\nnp.random.seed(0)",
        "import numpy as np\nx = np.random.normal(size=3)",
        "import numpy as np\nrng = np.random.default_rng()",
        "from numpy.random import default_rng\nrng = default_rng()",
        "import random\nx = random.random()",
        "import random\nx = random.Random()",
        "import warnings\nwarnings.simplefilter('ignore')",
        "def f():\n    global x\n    x = 1",
    ],
)
def test_the_scanner_sees_global_state(source):
    assert len(global_state(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import mpmath\nmp = mpmath.mp.clone()\nmp.dps = 50",
        "import numpy as np\nwith np.errstate(all='raise'):\n    pass",
        "import numpy as np\nrng = np.random.default_rng(seed)",
        "import random\nx = random.Random(3).random()",
    ],
)
def test_the_scanner_lets_local_state_pass(source):
    assert not global_state(source)
