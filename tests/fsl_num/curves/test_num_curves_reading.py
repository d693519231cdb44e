"""Files as they come: read right, or refused with the row and the remedy."""

import bz2
import gzip
import json
import lzma
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.curves import columns, contents
from fsl_num.curves.curve import CurveError
from fsl_num.curves.logs import curve_from
from fsl_num.curves.reading import read_curve

STEP, LR, LOSS = [100, 200, 300], [1e-3, 1e-3, 5e-4], [3.0, 2.5, 2.25]
GOOD = "step,lr,loss\n100,1e-3,3.0\n200,1e-3,2.5\n300,5e-4,2.25\n"


def joined(delimiter, rows):
    return "".join(delimiter.join(row) + "\n" for row in rows)


ROWS = [line.split(",") for line in GOOD.splitlines()]

RECORDS = [{"step": s, "lr": r, "loss": x} for s, r, x in zip(STEP, LR, LOSS, strict=True)]
PERPLEXITIES = "".join(f"{s},{r},{float(np.exp(x))!r}\n" for s, r, x in zip(STEP, LR, LOSS, strict=True))

READABLE = {
    "plain": GOOD,
    "byte-order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "UTF-16": GOOD.encode("utf-16"),
    "UTF-16, big end first": b"\xfe\xff" + GOOD.encode("utf-16-be"),
    "UTF-16 without a mark": GOOD.encode("utf-16-le"),
    "UTF-16 without a mark, big end first": GOOD.encode("utf-16-be"),
    "latin-1 in a comment": "# Läufe\n".encode("latin-1") + GOOD.encode(),
    "Windows line ends": GOOD.replace("\n", "\r\n"),
    "old Macintosh line ends": GOOD.replace("\n", "\r"),
    "no last line end": GOOD.rstrip("\n"),
    "blank lines": GOOD.replace("\n", "\n\n"),
    "comments": "# a run\n% of mine\n" + GOOD,
    "semicolons": joined(";", ROWS),
    "tabs": joined("\t", ROWS),
    "bars": joined(" | ", ROWS),
    "spaces": joined("   ", ROWS),
    "decimal commas": "step;lr;loss\n100;0,001;3,0\n200;0,001;2,5\n300;0,0005;2,25\n",
    "another order": "loss,step,lr\n3.0,100,1e-3\n2.5,200,1e-3\n2.25,300,5e-4\n",
    "another case": GOOD.replace("step,lr,loss", "Step,Learning Rate,Train/Loss"),
    "more columns": joined(",", [[*row, extra] for row, extra in zip(ROWS, ["note", "a", "b", ""], strict=True)]),
    "quotes": joined(",", [[f'"{cell}"' for cell in row] for row in ROWS]),
    "delimiters at the ends": GOOD.replace("\n", ",\n"),
    "spaces around cells": GOOD.replace(",", " , "),
    "steps as floats": GOOD.replace("100,", "100.0,").replace("200,", "2e2,"),
    "gzip": gzip.compress(GOOD.encode()),
    "bzip2": bz2.compress(GOOD.encode()),
    "xz": lzma.compress(GOOD.encode()),
    "JSON lines": "".join(json.dumps(record) + "\n" for record in RECORDS),
    "JSON list": json.dumps(RECORDS),
    "dicts as Python prints them": "".join(f"{record | {'note': None, 'norm': float('nan')}}\n" for record in RECORDS),
    "dicts of numpy and torch": "".join(
        f"{{'step': {s}, 'lr': np.float64({r}), 'loss': tensor({x}, device='cuda:0')}}\n"
        for s, r, x in zip(STEP, LR, LOSS, strict=True)
    ),
    "the header again, where a run was resumed": GOOD.replace("\n300", "\nstep,lr,loss\n300"),
    "perplexity by name": "step,lr,ppl\n" + PERPLEXITIES,
}  # fmt: skip


@pytest.mark.parametrize("content", READABLE.values(), ids=READABLE.keys())
def test_what_can_be_read_in_one_way_is_read(tmp_path, content):
    place = tmp_path / "run.csv"
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    curve = read_curve(place)
    assert curve.step.tolist() == STEP
    np.testing.assert_allclose(curve.lr, LR, rtol=1e-15)
    np.testing.assert_allclose(curve.loss, LOSS, rtol=1e-14)  # of log(exp(x)): a few roundings
    assert curve.name == "run"


def test_commas_between_the_thousands_of_steps_are_read_where_nothing_else_is_meant(tmp_path):
    place = tmp_path / "run.csv"
    place.write_text('step,lr,loss\n"900",0.1,3.0\n"1,000",0.1,2.5\n"1,250,000",0.1,2.25\n')
    assert read_curve(place).step.tolist() == [900, 1000, 1250000]
    for cell in ("1,00", "0,100", "1,0000"):
        place.write_text(f'step,lr,loss\n"{cell}",0.1,3.0\n')
        with pytest.raises(CurveError, match="not a number"):
            read_curve(place)
    place.write_text('step,lr,loss\n900,0.1,"3,000"\n')  # of a loss it may be a decimal comma
    with pytest.raises(CurveError, match="not a number"):
        read_curve(place)


PADDING = 8 * ("#" * (contents.LONGEST - 1) + "\n")
"""A comment as long as a piece of a file that is cut into lines at once."""


@pytest.mark.parametrize("name", [name for name, content in READABLE.items() if isinstance(content, str)])
def test_lines_that_lie_in_pieces_of_their_own_are_the_same(tmp_path, name):
    content = READABLE[name]
    end = next(end for end in ("\r\n", "\n", "\r", "") if end in content)
    if end and not name.startswith("JSON"):
        content = PADDING + content.replace(end, end + PADDING)
    test_what_can_be_read_in_one_way_is_read(tmp_path, content)


def changed(line, text):
    lines = GOOD.splitlines()
    lines[line - 1] = text
    return "\n".join(lines) + "\n"


REFUSED = {
    "empty": ("", "empty", None),
    "only comments": ("# nothing\n\n", "empty", None),
    "header only": ("step,lr,loss\n", "no rows", None),
    "no header": ("100,1e-3,3.0\n200,1e-3,2.5\n", "first row holds numbers", 1),
    "nan loss": (changed(3, "200,1e-3,nan"), "finite", 3),
    "infinite loss": (changed(3, "200,1e-3,inf"), "finite", 3),
    "infinite rate": (changed(4, "300,-inf,2.25"), "finite", 4),
    "a printed minus": (changed(3, "200,1e\u22123,2.5"), "its minus sign is that of a printed text.*, 1e-3", 3),
    "text for a number": (changed(3, "200,1e-3,diverged"), "'diverged', which is not a number", 3),
    "a missing cell": (changed(3, "200,1e-3,"), "no value", 3),
    "null": (changed(3, "200,null,2.5"), "no value", 3),
    "too few cells": (changed(3, "200,1e-3"), "2 cells where the header has 3", 3),
    "too many cells": (changed(3, "200,1e-3,2.5,9"), "4 cells", 3),
    "cut off": (GOOD + "400,5e-", "2 cells", 5),
    "foreign names": ("Schritt;Rate;Verlust\n1;2;3\n", r"--columns step=NAME,lr=NAME,loss=NAME\)", None),
    "missing loss": ("step,lr\n1,0.1\n2,0.1\n", "no column for loss", None),
    "missing rate": ("step,loss\n1,3\n2,2\n", "no column for lr", None),
    "missing step": ("lr,loss\n1,3\n2,2\n", "no column for step", None),
    "epochs for steps": ("epoch,lr,loss\n1,0.1,3\n2,0.1,2\n", "an epoch is no step.*trainer_state.json", None),
    "a dict that is code": ("{'step': exit(), 'lr': 1, 'loss': 2}\n" * 2, "not a JSON record", 1),
    "swapped columns": ("step,lr,loss\n1,3.0,0.001\n2,0.9,0.001\n", "swapped", None),
    "two losses": ("step,lr,val_a_loss,val_b_loss\n1,0.1,3,3.1\n2,0.1,2,2.1\n", "each be the loss", None),
    "a name twice": ("step,lr,loss,loss\n1,0.1,3,3\n", "twice", 1),
    "a name twice but for case": ("step,lr,loss,Loss\n1,0.1,3,3\n", "but for case", None),
    "the same step twice": (changed(3, "100,1e-3,2.5"), "does not come after", 3),
    "the same row twice": (GOOD + "300,5e-4,2.25\n", "drop duplicates", 5),
    "not sorted": (changed(3, "400,1e-3,2.5"), "sort the rows", 4),
    "a negative step": (changed(2, "-100,1e-3,3.0"), "at least 0", 2),
    "half a step": (changed(2, "100.5,1e-3,3.0"), "whole number", 2),
    "a negative rate": (changed(4, "300,-1e-3,2.25"), "at least 0", 4),
    "all rates zero": ("step,lr,loss\n1,0,3\n2,0,2\n", "nothing was trained", None),
    "a loss of zero": (changed(4, "300,5e-4,0"), "must be positive", 4),
    "a negative loss": (changed(4, "300,5e-4,-2.25"), "must be positive", 4),
    "a perplexity called loss": ("step,lr,loss\n1,0.1,300\n2,0.1,200\n", "perplexity", None),
    "a perplexity below 1": ("step,lr,ppl\n1,0.1,300\n2,0.1,0.9\n", "above 1", 3),
    "a comma in a step": ("step;lr;loss\n1,000;0,1;3,0\n2,000;0,1;2,5\n", "thousands or decimals", 2),
    "one column": ("step\n1\n2\n", "is one cell", None),
    "an open quotation mark": (changed(3, '200,"1e-3,2.5'), "quotation mark", None),
    "lines of no kind": ("Loading model\n[step=1]\n    loss=2.5\n", "no table of .* printed log, whose lines", 2),
    "lines of epochs": ("Loading\n{'loss': 2.5, 'epoch': 0.1}\n" * 2, "an epoch is no step.*trainer_state.json", None),
    "epochs, and more": ("Loading it\n{'loss': 2.5, 'lr': 0.1, 'epoch': 0.1}\n" * 2, "epoch is no step", 2),
    "TensorBoard events": (b"\x18" + bytes(7) + b"\xa3\x7fK\"rest", "download its scalars", None),
    "a run of W&B": (b":W&B\xbe\xef\0rest", "export its charts", None),
    "binary": (b"step,lr,loss\n1,\x00\x00\x01", "zero bytes", None),
    "ZIP": (b"PK\x03\x04rest", "ZIP", None),
    "Parquet": (b"PAR1rest", "Parquet", None),
    "gzip cut short": (gzip.compress(GOOD.encode())[:-12], "damaged or cut short", None),
    "gzip with a wrong byte": (gzip.compress(GOOD.encode())[:20] + b"\xff" * 20, "damaged or cut short", None),
    "a web page": ("<!DOCTYPE html>\n<html></html>\n", "web page", 1),
    "JSON cut short": ('{"step": 1, "lr": 0.1, "loss": 3}\n{"step": 2, "l', "cut short", 2),
    "JSON without names": ("[1, 2, 3]\n", "record", 1),
    "not UTF-16": (b"\xff\xfe\x00", "save it as UTF-8", None),
}  # fmt: skip


@pytest.mark.parametrize(("content", "told", "row"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_with_its_row_and_a_remedy(tmp_path, content, told, row):
    place = tmp_path / "run.csv"
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CurveError, match=told) as caught:
        read_curve(place)
    assert row is None or str(caught.value).startswith(f"{place}: row {row}: ")
    assert caught.value.row == row
    assert "run.csv" in str(caught.value)
    assert row is None or f"row {row}" in str(caught.value)


def test_there_are_at_least_thirty_kinds_of_broken_files():
    assert len(REFUSED) >= 30


def test_a_directory_a_missing_and_an_unreadable_file(tmp_path, monkeypatch):
    (tmp_path / "curve.csv").write_text(GOOD)
    (tmp_path / "empty").mkdir()
    with pytest.raises(CurveError, match="no log"):
        read_curve(tmp_path / "empty")
    (tmp_path / "empty" / "notes.txt").write_text("nothing measured")
    with pytest.raises(CurveError, match="no log"):
        read_curve(tmp_path / "empty")
    (tmp_path / "empty" / "events").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(CurveError, match=r"no log .*; give the files \(.*events is a ZIP archive"):
        read_curve(tmp_path / "empty")
    with pytest.raises(CurveError, match="put a comma and no space between the columns"):
        read_curve("lr=Lernrate")
    with pytest.raises(CurveError, match="did you mean curve.csv"):
        read_curve(tmp_path / "curves.csv")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(CurveError, match=r"Permission denied; check its permissions"):
        read_curve(tmp_path / "curve.csv")


def test_a_long_file_is_read(tmp_path):
    steps = np.arange(1, 60_001)
    lines = "".join(f"{step},0.1,{2 + 1 / step!r}\n" for step in steps.tolist())
    (tmp_path / "run.csv").write_text("step,lr,loss\n" + lines)
    curve = read_curve(tmp_path / "run.csv")
    assert curve.step[-1] == 60_000 and curve.loss[9] == 2.1
    (tmp_path / "run.csv").write_text("step,lr,loss\n" + lines.replace("50000,0.1,2", "50000,0.1,x2"))
    with pytest.raises(CurveError, match=r"row 50001: .*'x2\.0000"):
        read_curve(tmp_path / "run.csv")


def test_a_long_file_needs_little_more_memory_than_its_text(tmp_path):
    place = tmp_path / "run.csv"
    place.write_text("step,lr,loss\n" + "".join(f"{step},0.1,{2 + 1 / step:.9f}\n" for step in range(1, 60_001)))
    tracemalloc.start()
    [table] = contents.read_tables(place)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.columns["step"][-1] == 60_000.0 and table.rows[-1] == 60_001
    # bytes and text are 2.6 MB, four arrays and their pieces 3.8 MB, the cells of a third of the rows at once 8 MB, and
    # those of all rows would be 25 MB
    assert peak < 20e6


def test_cells_missing_in_one_piece_are_known_by_their_line(tmp_path):
    """Rows are taken in by twenty thousand: the second piece lacks a loss, has notes, and a metric of its own."""
    steps, gap = list(range(1, 20_005)), 20_002
    text = "".join(f"{k},0.1,{'' if k == gap else 3 / k},{'x' * (k > 20_000)}\n" for k in steps)
    (tmp_path / "run.csv").write_text("step,lr,loss,note\n" + text)
    with pytest.raises(CurveError, match=r"row 20003: .*no value here \(1 such rows\)"):
        read_curve(tmp_path / "run.csv")
    curve = read_curve(tmp_path / "run.csv", drop_missing=True)
    assert curve.step.tolist() == [k for k in steps if k != gap]
    assert curve.rows.tolist() == [k + 1 for k in steps if k != gap]
    records = [{"step": k, "lr": 0.1, "loss": 3 / k} | ({"acc": k} if k > 20_001 else {}) for k in steps]
    (tmp_path / "run.csv").write_text("".join(json.dumps(record) + "\n" for record in records))
    [table] = contents.read_tables(tmp_path / "run.csv")
    assert table.columns["acc"] == [None] * 20_001 + [20_002.0, 20_003.0, 20_004.0]
    assert read_curve(tmp_path / "run.csv").step.tolist() == steps


def test_an_unnamed_column_at_the_end_is_left_out_only_where_it_is_empty(tmp_path):
    (tmp_path / "run.csv").write_text("step,lr,loss,\n1,0.1,3,\n2,0.1,2\n3,0.1,1,\n")
    assert list(contents.read_tables(tmp_path / "run.csv")[0].columns) == ["step", "lr", "loss"]
    (tmp_path / "run.csv").write_text("step,lr,loss,\n1,0.1,3,\n2,0.1,2\n3,0.1,1,7\n")
    assert contents.read_tables(tmp_path / "run.csv")[0].columns[""] == ["", "", "7"]


def test_true_is_no_number(tmp_path):
    (tmp_path / "run.csv").write_text('{"step": 1, "lr": 0.1, "loss": true}\n')
    with pytest.raises(CurveError, match="'True', which is not a number"):
        read_curve(tmp_path / "run.csv")


def test_rows_without_a_loss_are_left_out_on_purpose_only(tmp_path):
    (tmp_path / "run.csv").write_text("step,lr,loss\n1,0.1,3\n2,0.1,\n3,0.1,2\n4,0.1,nan\n")
    with pytest.raises(CurveError, match=r"no value here \(1 such rows\).*--drop-missing"):
        read_curve(tmp_path / "run.csv")
    curve = read_curve(tmp_path / "run.csv", drop_missing=True)
    assert curve.step.tolist() == [1, 3] and curve.rows.tolist() == [2, 4]
    (tmp_path / "run.csv").write_text("step,lr,loss\n1,0.1,\n2,0.1,\n")
    with pytest.raises(CurveError, match="every row lacks"):
        read_curve(tmp_path / "run.csv", drop_missing=True)


def test_columns_can_be_said_by_name_and_by_position(tmp_path):
    (tmp_path / "run.csv").write_text("1,9,3.0,0.1\n2,9,2.5,0.1\n")
    curve = read_curve(tmp_path / "run.csv", columns={"step": 0, "loss": 2, "lr": 3})
    assert curve.loss.tolist() == [3.0, 2.5] and curve.lr.tolist() == [0.1, 0.1]
    (tmp_path / "run.csv").write_text("step,lr,train_loss,val_loss\n1,0.1,3,3.1\n2,0.1,2,2.1\n")
    assert read_curve(tmp_path / "run.csv", columns={"loss": "val_loss"}).loss.tolist() == [3.1, 2.1]
    with pytest.raises(CurveError, match="did you mean 'val_loss'"):
        read_curve(tmp_path / "run.csv", columns={"loss": "valloss_"})
    with pytest.raises(CurveError, match="no column 7"):
        read_curve(tmp_path / "run.csv", columns={"loss": 7})
    with pytest.raises(ValueError, match="columns may name"):
        read_curve(tmp_path / "run.csv", columns={"losses": "val_loss"})
    with pytest.raises(CurveError, match="named for two things"):
        read_curve(tmp_path / "run.csv", columns={"loss": "lr", "lr": "lr"})


def test_units_of_the_loss(tmp_path):
    table = {"step": [1, 2], "lr": [0.1, 0.1], "loss": [8.0, 4.0]}
    np.testing.assert_allclose(curve_from(table, loss_unit="bits").loss, np.array([8, 4]) * np.log(2), rtol=1e-15)
    np.testing.assert_allclose(curve_from(table, loss_unit="perplexity").loss, np.log([8, 4]), rtol=1e-15)
    large = {**table, "loss": [300.0, 200.0]}
    assert curve_from(large, loss_unit="nats").loss.tolist() == [300.0, 200.0]
    with pytest.raises(ValueError, match="loss_unit"):
        curve_from(table, loss_unit="dits")


def test_a_schedule_stands_in_for_the_column_of_rates():
    curve = curve_from({"step": [1, 3], "loss": [3.0, 2.0]}, schedule=[0.1, 0.2, 0.3])
    assert curve.plan.intrinsic_time.tolist() == pytest.approx([0.1, 0.6])


def test_tokens_seen_give_the_batch_size_between_rows():
    table = {"step": [10, 20, 30], "lr": [0.1] * 3, "loss": [3.0, 2.5, 2.0], "tokens": [100, 200, 400]}
    assert curve_from(table).batch_size.tolist() == [10.0, 20.0, 20.0]
    with pytest.raises(CurveError, match="must grow"):
        curve_from({**table, "tokens": [100, 100, 100]})


def test_tables_of_other_kinds():
    structured = np.array(list(zip(STEP, LR, LOSS, strict=True)), dtype=[("step", int), ("lr", float), ("loss", float)])
    for table in (RECORDS, structured, {"step": STEP, "lr": LR, "loss": LOSS}):
        assert curve_from(table).loss.tolist() == LOSS
    with pytest.raises(TypeError, match="read_curve"):
        curve_from("run.csv")
    with pytest.raises(CurveError, match="one length"):
        curve_from({"step": [1, 2], "lr": [0.1], "loss": [1.0, 2.0]})
    with pytest.raises(CurveError, match="row 1: column 'loss' has no value"):
        curve_from([{"step": 1, "lr": 0.1, "loss": 2.0}, {"step": 2, "lr": 0.1}])


def test_a_table_in_memory_is_led_to_what_reads_it():
    with pytest.raises(TypeError, match=r"read by curve_from\(table\)"):
        read_curve({"step": [1, 2], "lr": [0.1, 0.1], "loss": [3.0, 2.0]})


def test_a_data_frame_is_a_table():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"step": STEP, "lr": LR, "loss": LOSS}, index=[7, 8, 9])
    assert curve_from(frame).loss.tolist() == LOSS
    assert curve_from(frame.set_index("step")).step.tolist() == STEP
    assert curve_from(frame.assign(run="a").set_index(["run", "step"])).step.tolist() == STEP
    with pytest.raises(CurveError, match="two columns of one name"):
        curve_from(pandas.concat([frame, frame], axis=1))


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(tmp_path_factory, content):
    place = tmp_path_factory.mktemp("bytes") / "run.csv"
    place.write_bytes(content)
    try:
        read_curve(place)
    except CurveError as error:
        assert str(place) in str(error)


@given(st.lists(st.text(st.sampled_from("0123456789.,;e-+\"'\n \tnaif"), max_size=30), max_size=8))
def test_no_text_behind_a_header_gives_anything_but_finite_numbers(tmp_path_factory, lines):
    place = tmp_path_factory.mktemp("text") / "run.csv"
    place.write_text("step,lr,loss\n" + "\n".join(lines))
    try:
        curve = read_curve(place)
    except CurveError:
        return
    assert np.isfinite(curve.loss).all() and (curve.loss > 0).all() and (np.diff(curve.step) > 0).all()


def test_names_are_known_in_one_role_only():
    every = [alias for aliases in columns.NAMES.values() for alias in aliases]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("log10_loss", None),
        ("loss_delta", None),
        ("loss/difference", None),
        ("log_loss", "loss"),
        ("train loss", "loss"),
    ],
)
def test_what_is_made_of_losses_is_no_loss(name, found):
    known = columns.meaning(name)
    assert (known and known.role) == found


def test_samples_over_the_batch_are_steps_and_updates_are_not_micro_steps():
    samples = np.array([2560, 5120, 7680])
    run = {"lr": [0.1] * 3, "loss": [3.0, 2.5, 2.2]}
    read = curve_from(run | {"consumed_samples": samples, "batch_size": [256] * 3})
    assert read.step.tolist() == [10, 20, 30] and set(np.atleast_1d(read.plan.batch_sizes)) == {256.0}
    with pytest.raises(CurveError, match="one of tokens or samples; say how many one update takes"):
        curve_from(run | {"samples": samples})  # without a batch size, or one in tokens
    with pytest.raises(CurveError, match="one of tokens or samples; say how many one update takes"):
        curve_from(run | {"samples": samples, "batch_size_in_tokens": [2**20] * 3})
    assert curve_from(run | {"step": [40, 80, 120], "optimizer_step": [10, 20, 30]}).step.tolist() == [10, 20, 30]
    beside = curve_from(run | {"step": [10, 20, 30], "samples": [500] * 3})  # those of the validation
    assert beside.step.tolist() == [10, 20, 30] and np.all(beside.plan.batch_sizes == 1.0)
    curve = curve_from(run | {"step": [10, 20, 30], "tokens": 2**10 * samples, "consumed_samples": samples})
    assert set(np.atleast_1d(curve.plan.batch_sizes)) == {2.0**18}
