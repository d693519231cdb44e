"""R5: short files, every module tested in its mirror, no test that cannot fail."""

from pathlib import Path

import pytest
from project import ROOT, files_of_tests, module_name, modules, offenders
from scan_layout import (
    LIMIT,
    WITHIN,
    folders_of_tests,
    imported_modules,
    is_empty,
    is_tested,
    mirrors,
    too_long,
    toothless_tests,
)

from fsl_num.claims.registry import theorem_files


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_a_file_is_short():
    assert [path for path in (*modules(), *files_of_tests()) if too_long(read(path))] == []


def test_a_long_file_is_seen():
    assert too_long("x = 1\n" * (LIMIT + 1))
    assert not too_long("x = 1\n" * LIMIT)


@pytest.fixture(scope="module")
def sources():
    return {path.as_posix(): read(path) for path in files_of_tests()}


def test_a_module_has_its_test(sources):
    untested = [path for path in modules() if not is_empty(read(path)) and not is_tested(path, sources)]
    assert {path: mirrors(path) for path in untested} == {}, "write one of these"


def test_a_folder_of_sources_has_a_folder_of_tests():
    tests = {path.parent.as_posix() for path in files_of_tests()}
    for path in modules():
        assert tests & set(folders_of_tests(path)), f"no tests in {folders_of_tests(path)}"
    assert folders_of_tests(Path("fsl_num/model.py")) == ["tests/fsl_num"]
    assert folders_of_tests(Path("fsl_num/a/b/c.py")) == ["tests/fsl_num/a/b", "tests/fsl_num/a"]


def test_an_untested_module_is_seen():
    fast = Path("fsl_num/volterra/fast.py")
    assert not is_tested(fast, {"tests/fsl_num/test_num_functional.py": "import fsl_num.volterra.exact\n"})
    assert not is_tested(Path("fsl_num/evolution.py"), {})
    assert is_tested(fast, {"tests/fsl_num/volterra/test_num_volterra_fast.py": ""})
    assert is_tested(fast, {"tests/fsl_num/volterra/test_num_volterra.py": ""})
    assert not is_tested(fast, {"tests/fsl_num/test_num_volterra.py": ""})
    assert is_tested(fast, {"tests/test_theorems.py": "from fsl_num.volterra import fast\n"})
    assert is_tested(fast, {"tests/test_theorems.py": "from fsl_num.volterra.fast import solve\n"})


def test_a_module_with_nothing_to_test_is_seen():
    assert is_empty('"""Only words."""\nimport math\n__all__ = ["a"]\n')
    assert not is_empty("def f():\n    pass\n")


def test_the_modules_tested_within_others_serve_what_is_tested_there(sources):
    imports = {path: imported_modules(read(path)) for path in modules()}
    for place, test in WITHIN.items():
        assert test in sources
        tested = imported_modules(sources[test])
        for inner in (path for path in imports if path.is_relative_to(place) and not is_empty(read(path))):
            name = module_name(inner)
            users = {module_name(path) for path, names in imports.items() if name in names}
            if place in ("fsl_num/claims", "fsl_num/paper"):
                # Claims are gathered from their folders; what serves them is imported by another module.
                assert name in {*theorem_files(), *tested} or users, f"nothing uses {inner}"
            else:
                assert users & tested, f"{test} tests no module that uses {inner}"


def test_every_test_can_fail():
    assert offenders(files_of_tests(), lambda path, source: toothless_tests(source)) == {}


def test_a_test_that_cannot_fail_is_seen():
    source = "def compare(a, b):\n    return a == b\n\ndef test_it():\n    compare(1, 2)\n"
    assert toothless_tests(source) == ["test_it"]
    assert not toothless_tests(source.replace("return", "assert"))


def test_no_two_test_files_share_a_name():
    names = [path.name for path in files_of_tests()]
    assert len(names) == len(set(names))
