"""The public tables of both packages: every name is there, documented, with an example."""

import ast
from functools import cache
from importlib import import_module
from inspect import isclass

import pytest
from project import PACKAGES, ROOT
from scan_public import lacks, not_called

import fsl_num
import fsl_sym


@cache
def homes(package):
    """The module of each public name, as the stub of the package says."""
    stub = ast.parse((ROOT / package / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in imports for alias in node.names)
    return {alias.name: node.module for node in imports for alias in node.names}


PUBLIC = [(package.__name__, name) for package in (fsl_sym, fsl_num) for name in package.__all__]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_a_public_table(package):
    module = import_module(package)
    assert module.__all__
    assert dir(module) == sorted(module.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


def test_a_public_name_is_documented_with_an_example():
    lacking = {}
    for package, name in PUBLIC:
        home, value = import_module(homes(package)[name]), getattr(import_module(package), name)
        assert value is getattr(home, name), name
        lacking[name] = lacks(name, value, home.__doc__)
    assert {name: faults for name, faults in lacking.items() if faults} == {}


def test_every_public_method_is_called_in_an_example_of_its_class():
    classes = [value for package, name in PUBLIC if isclass(value := getattr(import_module(package), name))]
    assert {kind: missing for kind in classes if (missing := not_called(kind))} == {} and len(classes) > 40


def test_a_method_that_no_example_calls_is_seen():
    class Shown:
        """One is called, one is only named.

        >>> Shown().called(), Shown().named
        """

        def called(self):
            """Do it."""

        def named(self):
            """Do it: not called."""

        @classmethod
        def own(cls):
            """Do it.

            >>> Shown.own()
            """

        @property
        def value(self):
            """No method."""

    assert not_called(Shown) == ["named"]


def test_a_name_without_documentation_is_seen():
    def bare():
        pass

    def told():
        """Do it."""

    def shown():
        """Do it.

        >>> shown()
        """

    def elsewhere():
        """Do it.

        Returns:
            Nothing.

        >>> elsewhere()
        """

    def untitled():
        """Do it.

        Returns
        -------
        None

        >>> untitled()
        """

    class Heir(dict):
        pass

    def prose(size):
        """Do it.

        Parameters
        ----------
        size
            How much.

        Raises ValueError for none.

        Examples
        --------
        >>> prose(1)
        """

    assert lacks("prose", prose, None) == ["parameters called Raises ValueError for none."]
    assert lacks("bare", bare, None) == ["a docstring", "an example"]
    assert lacks("told", told, None) == ["an example"]
    assert lacks("shown", shown, None) == []
    assert lacks("elsewhere", elsewhere, None) == ["sections as numpydoc has them"]
    assert lacks("untitled", untitled, None) == ["the heading Examples"]
    assert lacks("Heir", Heir, None) == ["a docstring", "an example"]  # its parent's docstring is not its own
    assert lacks("LIMIT", 3, "The module.\n\n>>> LIMIT\n3\n") == []
    assert lacks("LIMIT", 3, "The module.") == ["a docstring", "an example"]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_stub_of_a_package_has_its_public_names(package):
    """What an IDE reads in __init__.pyi; that it is what is imported when a name is used is tested with each name."""
    assert sorted(homes(package)) == sorted(import_module(package).__all__)
