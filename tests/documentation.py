"""The commands of the documentation with their output: read, run, compared, and written anew.

``python tests/documentation.py`` writes the output of every command into its block.
"""

import contextlib
import io
import os
import re
import shlex
import tempfile
from pathlib import Path

from fsl_num.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"(\.py:)\d+")
SPACE = re.compile(r"([ ─])\1+")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
WIDTH = "84"


def commands(block):
    """The commands of a block, each with the output that stands below it; a command may go on after a backslash."""
    found = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif found and found[-1][0].endswith("\\\n"):
            found[-1][0] += line
        else:
            found[-1][1] += line
    return found


def run(command):
    """What a command prints, as on a terminal of 84 columns; AssertionError where it fails."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main(shlex.split(command.replace("\\\n", " "))[1:])
    assert status == 0, f"{command}: exit status {status}"
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@contextlib.contextmanager
def workplace():
    """A folder that has the examples of the clone, and the width at which the output was written."""
    before, width = Path.cwd(), os.environ.get("COLUMNS")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
        os.chdir(folder)
        os.environ["COLUMNS"] = WIDTH
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.pop("COLUMNS") if width is None else os.environ.update(COLUMNS=width)


def same(written, printed, within=2e-3):
    """Whether two outputs have the same words, and numbers that differ by at most ``within`` of their size.

    Times and folders are written as ``...``, which stands for anything. Numbers differ in their last digits between
    machines; draws of an interval in the third. Lines of the sources and widths of columns may differ.
    """
    written, printed = (SPACE.sub(r"\1", LINE.sub(r"\1", text)) for text in (written, printed))
    parts = written.split("...")
    patterns = [f"({NUMBER.pattern})".join(map(re.escape, NUMBER.split(part))) for part in parts]
    found = re.fullmatch(".*?".join(patterns), printed, re.DOTALL)
    numbers = [number for part in parts for number in NUMBER.findall(part)]
    return found is not None and all(
        abs(float(number) - float(matched)) <= within * abs(float(number)) + 1e-12
        for number, matched in zip(numbers, found.groups(), strict=True)
    )


def rewritten(page):
    """The text of a page with the output of every command as it is now."""

    def block(found):
        text = ""
        for command, written in commands(found[1]):
            printed = run(command)
            text += f"$ {command}" + (written if written and same(written, printed) else printed)
        return f"```console\n{text}```"

    with workplace():
        return BLOCK.sub(block, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rewritten(page), encoding="utf-8")
