"""Every notebook runs from its first cell to its last in a fresh kernel, and prints and asserts what it shows."""

import ast
import copy

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbclient.exceptions import CellExecutionError
from notebook_outputs import FOLDER, NOTEBOOKS, execute, stale


def assertions(notebook):
    """How many assert statements its code cells hold."""
    # As Python, which a line such as %matplotlib inline is not yet.
    sources = [TransformerManager().transform_cell(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    return sum(isinstance(node, ast.Assert) for source in sources for node in ast.walk(ast.parse(source)))


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_asserts(path):
    notebook = nbformat.read(path, as_version=4)
    assert assertions(notebook) >= 3, "a notebook that asserts nothing shows nothing"
    written = copy.deepcopy(notebook)
    execute(notebook)
    found = stale(written, notebook)
    assert not found, "\n".join(
        f"{before}\nprints now (python tests/notebook_outputs.py):\n{now}" for before, now in found
    )
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    # A warning or a traceback on standard error is no output that a reader should meet.
    assert not [output for output in outputs if output.output_type == "stream" and output.name == "stderr"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_kept_executed_and_clean(path):
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert notebook.metadata.kernelspec.name == "python3" and not any(cell.metadata for cell in notebook.cells)
    assert path.stat().st_size < 400_000


@pytest.fixture
def one_cell():
    """Make a notebook of one cell of code."""
    return lambda source: nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])


def test_a_notebook_sees_the_packages_of_this_tree(one_cell, tmp_path):
    notebook = one_cell("import fsl_sym; print(fsl_sym.__file__)")
    execute(notebook, tmp_path)
    assert notebook.cells[0].outputs[0].text.strip() == str(FOLDER.parent / "fsl_sym" / "__init__.py")


def test_a_number_that_grew_old_is_seen(one_cell, tmp_path):
    written = one_cell("print(2 + 2)\nprint(3)")
    execute(written, tmp_path)
    now = copy.deepcopy(written)
    now.cells[0].outputs[:] = [nbformat.v4.new_output("stream", text=text) for text in ("4\n", "3\n")]
    assert not stale(written, now)
    now.cells[0].outputs[0].text = "4.1\n"
    assert stale(written, now) == [("4\n3\n", "4.1\n3\n")]
    tables = [nbformat.v4.new_output("display_data", {"text/html": f"<td>{number}</td>"}) for number in (1, 2)]
    written.cells[0].outputs[:], now.cells[0].outputs[:] = tables[:1], tables[1:]
    assert stale(written, now)


def test_a_failing_cell_is_seen(one_cell, tmp_path):
    notebook = one_cell("%matplotlib inline\nassert 1 + 1 == 3")
    assert assertions(notebook) == 1
    with pytest.raises(CellExecutionError, match="AssertionError"):
        execute(notebook, tmp_path)
