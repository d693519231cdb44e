"""The notebooks with their output: executed, and written anew.

``python tests/notebook_outputs.py`` executes every notebook and writes those whose texts are others now;
``python tests/notebook_outputs.py design`` writes that one, whose pictures alone have changed say.
"""

import base64
import io
import os
import sys
from pathlib import Path

import nbformat
from documentation import same
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

KINDS = ("text/plain", "text/latex", "text/html")

SECONDS = 240
"""For one cell: far above what any needs, so that only a cell that hangs meets it."""


def execute(notebook, folder=FOLDER):
    """Run all cells in a kernel of this interpreter that stands in ``folder`` and sees this tree's packages."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources)
    client.execute(env={**os.environ, "PYTHONPATH": str(FOLDER.parent)})


def texts(notebook):
    """What each cell of code prints and shows as text, LaTeX or HTML, however the kernel cut it into pieces."""
    return [
        "".join(
            output.get("text") or "".join(output.get("data", {}).get(kind, "") for kind in KINDS)
            for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def stale(written, executed):
    """Pairs of what a cell of a notebook shows and what it shows when executed, where they are not the same."""
    pairs = zip(texts(written), texts(executed), strict=True)
    return [(before, now) for before, now in pairs if not same(before, now)]


def shrink(notebook):
    """Keep 256 colours of every picture, all that a plot needs: a third of the bytes."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if picture := output.get("data", {}).get("image/png"):
            small = io.BytesIO()
            Image.open(io.BytesIO(base64.b64decode(picture))).quantize().save(small, "PNG", optimize=True)
            output.data["image/png"] = base64.b64encode(small.getvalue()).decode()


def main(named):
    if unknown := set(named) - {path.stem for path in NOTEBOOKS}:
        raise SystemExit(f"no notebook {', '.join(sorted(unknown))} in {FOLDER}")
    for path in [path for path in NOTEBOOKS if not named or path.stem in named]:
        written, executed = (nbformat.read(path, as_version=4) for _ in range(2))
        execute(executed)
        if named or stale(written, executed):
            for cell in executed.cells:
                cell.metadata = {}  # when a cell was run is no part of it
            shrink(executed)
            nbformat.write(executed, path)


if __name__ == "__main__":
    main(sys.argv[1:])
