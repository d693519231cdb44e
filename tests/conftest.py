"""Hypothesis profiles: HYPOTHESIS_PROFILE chooses one; else `ci` where CI is set, and `dev` on a desk.

No profile has a deadline: the machines are slow and shared, and a slow example is no wrong example.
"""

import gc
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before numpy and sympy are loaded, as `fsl` does it: the workers fill the cores already, and with as many threads each
# matrix products take three times as long.
for _threads in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")

# Expressions are many objects and hardly any cycles: as `verify` does, they are looked for a hundred times more seldom.
gc.set_threshold(100 * gc.get_threshold()[0], *gc.get_threshold()[1:])

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# Said for each: where CI is set, hypothesis would derandomise every profile that does not say.
settings.register_profile("dev", max_examples=10, derandomize=False, **_COMMON)
settings.register_profile("ci", max_examples=30, derandomize=True, database=None, print_blob=True, **_COMMON)
settings.register_profile("nightly", max_examples=2000, derandomize=False, print_blob=True, **_COMMON)


def chosen_profile(environment):
    """The name of the profile that the environment asks for."""
    return environment.get("HYPOTHESIS_PROFILE") or ("ci" if environment.get("CI") else "dev")


settings.load_profile(chosen_profile(os.environ))


def examples(number):
    """The settings of a property test that tries ``number`` examples under `ci`; under the other profiles it tries as
    many times more or fewer as other property tests do."""
    usual = settings.get_profile("ci").max_examples
    return settings(max_examples=max(1, number * settings.default.max_examples // usual))


def pytest_collection_modifyitems(items):
    """What is marked slow is left to `ci` and `nightly`: on a desk the whole is to take a few minutes."""
    if chosen_profile(os.environ) == "dev":
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: CI=true pytest runs it"))


class OfOneClaim:
    """Reads only the test files that know the claims: all others take half a minute to read, and none tests a claim."""

    def pytest_ignore_collect(self, collection_path):
        of_claims = collection_path.is_dir() or (
            collection_path.name.startswith("test_") and "claims.registry" in collection_path.read_text("utf-8")
        )
        return None if of_claims else True


def pytest_configure(config):
    """``-k thm:wsd``, the id of a claim without its spaces, runs in seconds."""
    if re.fullmatch(r"[a-z]+:[\w:/-]+", config.option.keyword):
        config.pluginmanager.register(OfOneClaim())


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory):
    """Outcomes of this run are kept in a folder of this run, shared by its workers: never where the user keeps them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "outcomes"
    before = os.environ.get("FSL_CACHE")
    os.environ.pop("COLUMNS", None)  # the workers of pytest-xdist say 80: what is printed would depend on their number
    os.environ["FSL_CACHE"] = str(folder)  # processes that tests start inherit it
    yield folder
    if before is None:
        del os.environ["FSL_CACHE"]
    else:
        os.environ["FSL_CACHE"] = before


@pytest.fixture(scope="session")
def paper():
    """The source of the paper that FSL_PAPER names."""
    if not os.environ.get("FSL_PAPER"):
        pytest.skip("FSL_PAPER does not name the TeX source of the paper")
    return Path(os.environ["FSL_PAPER"]).read_text(encoding="utf-8")
