"""One quantity has one name: the table of CONTRIBUTING.md against every public signature and every option."""

import inspect
import re
from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest
from project import ROOT

import fsl_num
import fsl_sym
from fsl_num.cli import COMMANDS

ROW = re.compile(r"\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|")


def table():
    """Quantity -> the names in Python, the options, and the names that it does not have."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| quantity |")[2]
    rows = [ROW.fullmatch(line) for line in text.splitlines()[2:]]
    cells = [row.groups() for row in rows[: rows.index(None)]]
    return {
        quantity.strip(): [re.findall(r"`([^`]+)`", cell) for cell in (python, option, wrong)]
        for quantity, python, option, _, wrong in cells
    }


def parameters(value):
    """The names of what a public function, class or method takes, and of the fields of a class."""
    if inspect.isclass(value):
        own = {field.name for field in fields(value)} if is_dataclass(value) else set()
        public = [member for name, member in vars(value).items() if not name.startswith("_")]
        return own.union(*map(parameters, filter(inspect.isfunction, public)))
    return set(inspect.signature(value).parameters) if callable(value) else set()


def public():
    """Public name -> what it takes."""
    return {
        f"{package.__name__}.{name}": parameters(getattr(package, name))
        for package in (fsl_sym, fsl_num)
        for name in package.__all__
    }


def options():
    """The options of every command."""
    return {
        option
        for name, (module, _) in COMMANDS.items()
        for parameter in import_module(f"fsl_num.cli.{module}").COMMANDS[name].params
        for option in parameter.opts
    }


TABLE = table()


def test_the_table_is_read():
    assert len(TABLE) > 15
    assert TABLE["label noise, sigma^2"] == [["noise"], ["--noise"], ["sigma", "sigma2", "variance"]]


@pytest.mark.parametrize("quantity", TABLE)
def test_a_quantity_has_the_name_of_the_table_and_no_other(quantity):
    python, typed, wrong = TABLE[quantity]
    taken, known = public(), options()
    everywhere = set().union(*taken.values())
    assert [name for name in python if name not in everywhere and not hasattr(fsl_num, name)] == []
    assert [option for option in typed if option not in known] == []
    used = {name: sorted(set(wrong) & found) for name, found in taken.items() if set(wrong) & found}
    assert used == {} and sorted(set(wrong) & known) == []


def test_another_name_is_noticed():
    def solve_again(sigma2):
        """A function with a name of its own for the noise."""

    assert parameters(solve_again) & set(TABLE["label noise, sigma^2"][2])
