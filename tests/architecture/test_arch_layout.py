"""R5: short files, every module tested in its mirror, no test that cannot fail."""

from pathlib import Path

import pytest
from project import ROOT, files_of_tests, modules
from scan_layout import ELSEWHERE, LIMIT, is_empty, mirrors, places_of_test, too_long, toothless_tests


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [*modules(), *files_of_tests()], ids=str)
def test_a_file_is_short(path):
    assert not too_long(read(path))


def test_a_long_file_is_seen():
    assert too_long("x = 1\n" * (LIMIT + 1))
    assert not too_long("x = 1\n" * LIMIT)


@pytest.mark.parametrize("path", [path for path in modules() if not is_empty(read(path))], ids=str)
def test_a_module_has_its_test(path):
    found = [test for test in places_of_test(path) if (ROOT / test).is_file()]
    assert found, f"write one of {places_of_test(path)}"
    package = path.parts[0]
    assert any(package in read(test) for test in found), f"{found} never mentions {package}"


def test_an_untested_module_is_seen():
    assert mirrors(Path("fsl_num/volterra/fast.py")) == [
        "tests/fsl_num/test_num_volterra_fast.py",
        "tests/fsl_num/test_num_volterra.py",
    ]
    assert not any((ROOT / test).exists() for test in places_of_test(Path("fsl_num/never_written.py")))
    assert is_empty('"""Only words."""\nimport math\n__all__ = ["a"]\n')
    assert not is_empty("def f():\n    pass\n")


def test_the_list_of_tests_elsewhere_is_true():
    for module, test in ELSEWHERE.items():
        assert (ROOT / module).exists(), module
        assert (ROOT / test).exists(), test


@pytest.mark.parametrize("path", files_of_tests(), ids=str)
def test_every_test_can_fail(path):
    assert not toothless_tests(read(path))


def test_a_test_that_cannot_fail_is_seen():
    source = "def compare(a, b):\n    return a == b\n\ndef test_it():\n    compare(1, 2)\n"
    assert toothless_tests(source) == ["test_it"]
    assert not toothless_tests(source.replace("return", "assert"))


def test_no_two_test_files_share_a_name():
    names = [path.name for path in files_of_tests()]
    assert len(names) == len(set(names))
