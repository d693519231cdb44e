"""R4: no module changes the state of a library, and none draws unseeded numbers."""

import pytest
from project import ROOT, modules
from scan_state import global_state


@pytest.mark.parametrize("path", modules(), ids=str)
def test_a_module_leaves_no_trace(path):
    assert not global_state((ROOT / path).read_text(encoding="utf-8"))


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
