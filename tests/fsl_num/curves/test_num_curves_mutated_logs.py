"""Some five hundred damaged logs: each is read right as far as it goes, or refused, or what is odd is said."""

import gzip
import random

import numpy as np
import pytest

from fsl_num import read_curves
from fsl_num.curves.columns import meaning
from fsl_num.curves.curve import CurveError
from tests.fsl_num.log_shapes import LAST, SHAPES, WARMUP, rate, train_loss


class OneLine(Exception):
    """The file has no lines that could be lost."""


def lines_of(text):
    lines = text.splitlines(keepends=True)
    if len(lines) < 10:
        raise OneLine
    return lines


def cut(text, chance):
    lines = lines_of(text)
    kept = "".join(lines[: chance.randrange(2 * len(lines) // 3, len(lines))])
    return kept[: -chance.randrange(2, 12)]


def cut_at_a_line(text, chance):
    lines = lines_of(text)
    return "".join(lines[: chance.randrange(2 * len(lines) // 3, len(lines))])


def block_again(text, chance):
    lines = lines_of(text)
    at = chance.randrange(len(lines) // 3, len(lines) // 2)
    return "".join([*lines[: at + 9], *lines[at:]])


def end_again(text, chance):
    lines = lines_of(text)
    return "".join([*lines, *lines[-5:]])


def whole_twice(text, chance):
    return text + text


def shuffled(text, chance):
    head, *rows = lines_of(text)
    chance.shuffle(rows)
    return "".join([head, *rows])


def row_lost(text, chance):
    lines = lines_of(text)
    del lines[chance.randrange(len(lines) // 2, len(lines) - 1)]
    return "".join(lines)


def head_lost(text, chance):
    return "".join(lines_of(text)[1:])


def cell(replacement):
    def mutation(text, chance):
        lines = lines_of(text)
        at = chance.randrange(len(lines) // 2, len(lines) - 1)
        for mark in (",", "\t", "|", " "):
            cells = lines[at].rstrip("\n").split(mark)
            if len(cells) > 1:
                cells[chance.randrange(len(cells))] = replacement
                lines[at] = mark.join(cells) + "\n"
                break
        return "".join(lines)

    return mutation


def semicolons(text, chance):
    if "\t" in text or "{" in text or "|" in text:
        return text
    return text.replace(",", ";").replace(".", ",")


def windows(text, chance):
    return text.replace("\n", "\r\n")


def byte_order_mark(text, chance):
    return "\ufeff" + text


def compressed(text, chance):
    return gzip.compress(text.encode())


def half_compressed(text, chance):
    return gzip.compress(text.encode())[:-200]


def swapped(text, chance):
    """The names of the rate and of the loss exchanged in the header."""
    head, *rows = lines_of(text)
    for mark in (",", "\t"):
        names = head.strip("\n").split(mark)
        roles = [means.role if (means := meaning(name.strip('"'))) else "" for name in names]
        if "lr" in roles and "loss" in roles:
            i, j = roles.index("lr"), roles.index("loss")
            names[i], names[j] = names[j], names[i]
            return "".join([mark.join(names) + "\n", *rows])
    return text


def another_run_behind(text, chance):
    """The same columns once more, of a run that ended earlier and differed."""
    head, *rows = lines_of(text)
    return "".join([head, *rows, *[line.replace("3.", "4.") for line in rows[: len(rows) // 2]]])


MUTATIONS = [
    cut, cut_at_a_line, block_again, end_again, whole_twice, shuffled, row_lost, head_lost, cell(""), cell("nan"),
    cell("diverged"), cell("-1"), semicolons, windows, byte_order_mark, compressed, half_compressed, swapped,
    another_run_behind,
]  # fmt: skip
NAMES = [f"{mutation.__name__}{at}" if mutation.__name__ == "mutation" else mutation.__name__
         for at, mutation in enumerate(MUTATIONS)]  # fmt: skip
HARMLESS = (windows, byte_order_mark, compressed)
WRITTEN = {name: shape for name, shape in SHAPES.items() if name != "wandb_parquet"}


@pytest.mark.parametrize("shape", WRITTEN.values(), ids=WRITTEN)
def test_a_damaged_log_is_read_right_or_refused(shape, tmp_path):
    wrong = {}
    for name, mutation in zip(NAMES, MUTATIONS, strict=True):
        folder = tmp_path / name
        folder.mkdir()
        try:
            read_damaged(shape, mutation, folder)
        except OneLine:
            continue
        except AssertionError as error:
            wrong[name] = error
    assert wrong == {}


def read_damaged(shape, mutation, folder):
    said = shape(folder)
    chance = random.Random(f"{shape.__name__} {mutation.__name__}")
    inside = [file for path in said.paths for file in ([path] if path.is_file() else path.rglob("*"))]
    files = sorted(file for file in inside if file.is_file())
    target = chance.choice(files)
    changed = mutation(target.read_text(), chance)
    if isinstance(changed, str):
        target.write_text(changed, newline="")
    else:
        target.write_bytes(changed)
    try:
        curve = read_curves(said.paths, **said.options)[0]
    except CurveError as error:
        assert mutation not in HARMLESS, "the same numbers, written in another way, are read"
        assert str(folder) in str(error)
        return
    assert_right(curve, said)


def assert_right(curve, said):
    notes = " ".join(curve.notes)
    half = 10 if "mean since" in notes else 0
    loss = train_loss if "of training" in notes else said.loss
    rows = slice(None, -1) if "may be cut" in notes else slice(None)
    assert len(curve.loss[rows]) > 10
    np.testing.assert_allclose(curve.loss[rows], loss(curve.step[rows] + half), rtol=2 * said.digits)
    if "in units of its own" in notes:
        return  # the column of rates holds something else, and its largest value was said
    last = curve.plan.rates.size - (150 if "may be cut" in notes else 0)
    steps = np.arange(WARMUP + 100, last)
    gap = 600  # the longest gap that a lost row leaves between two rates
    bend = 0.45 * (np.pi / (LAST - WARMUP)) ** 2 * gap**2 / 8
    np.testing.assert_allclose(curve.plan.rates[steps], said.scale * rate(steps), rtol=0, atol=said.scale * 6e-4 * bend)
