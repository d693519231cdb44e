"""The tables in a file: CSV with any delimiter, JSON, Parquet, printed lines; compressed or not; faults named by line.

Whatever can be read in one way only is read: a byte-order mark, UTF-16, Windows and old Macintosh line ends, comments,
blank lines, quotes, decimal commas between semicolons, gzip, bzip2 and xz. What could be read in two ways is refused.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import os
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final

from fsl_num.curves.columns import EVERY_RATE, NO_STEP, meaning, plain
from fsl_num.curves.curve import CurveError
from fsl_num.curves.gathered import Gathered
from fsl_num.curves.records import flat, record_in, tables_of
from fsl_num.curves.tables import Table, number_of
from fsl_num.curves.text_logs import looks_printed, table_of_lines

LARGEST: Final = 2**30
"""Bytes of text, after decompression, that are read at most: about thirty million rows."""

MOST_EXPANDED: Final = 200
"""Times its size to which a compressed file may unfold; numbers that differ unfold to ten."""

LONGEST: Final = 2**17
"""Characters of a line, and so of a cell, at most: what the reader of CSV takes."""

_MILLISECONDS: Final = 1e11  # since 1970: an earlier time is no time of training
_SCALARS: Final = ({"walltime", "step", "value"}, {"timestamp", "step", "value"}, {"step", "value"})
_BLOCK: Final = 2**22  # bytes read at once
PIECE: Final = 2**20  # characters that are cut into lines at once
ROWS: Final = 20_000  # rows whose cells are held as text at once

_COMPRESSED: Final[Mapping[bytes, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_FOREIGN: Final[Mapping[bytes, str]] = {
    b"PK\x03\x04": "a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV",
    b"\x93NUMPY": "a NumPy array: load it and pass its columns to LossCurve",
    b"\x28\xb5\x2f\xfd": "a file compressed with Zstandard: decompress it first",
    b"\x89HDF": "an HDF5 file: read it with pandas and pass the DataFrame to curve_from",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet: save the sheet as CSV",
    b"%PDF": "a PDF document: export the numbers as CSV",
    b'\x18\0\0\0\0\0\0\0\xa3\x7fK"': "a file of TensorBoard events: download its scalars as CSV, a tag a file",
    b":W&B": "a run as Weights & Biases keeps it: export its charts or its history as CSV",
    b"SQLite format 3": "a database: export the table as CSV",
}
_CUT: Final = "the line is cut short, or a delimiter stands within a cell: put the cell in quotation marks"
_NO_LOG: Final = (
    "this is no table, for its lines have different numbers of cells, and no printed log, whose lines give a step and a"
    " loss or a rate, as 'step 10 loss 2.5 lr 1e-3'; give the metrics as a table with a header"
)
_BESIDE: Final = dict.fromkeys(map(ord, ' \t\r"\ufeff'))  # what may stand otherwise in a header that is the same
_DELIMITERS: Final = ("\t", ";", ",", "|", " ")
_MARKS: Final[Mapping[bytes, str]] = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_tables(path: str | Path, *, header: bool = True, name: str | None = None, rates: bool = False) -> list[Table]:
    """Return the tables of a file, column by column, with the number of the line of each row.

    Columns in which every cell is a number are arrays, the others lists of cells as they stand. A file is taken in
    piece by piece, so that it needs little more memory than its text and these columns.

    ``header``: whether the first row must name the columns (else a first row of numbers is data, and the columns are
    called "0", "1", ...). ``name``: of the tables, by default that of the file. ``rates``: whether one number a row is
    the learning rate of every update. Raises CurveError as :func:`~fsl_num.curves.reading.read_curve` does.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "run.csv").write_text("# a comment\\nstep;loss\\n1;2,5\\n")
    ...     [table] = read_tables(Path(folder) / "run.csv")
    >>> table.columns["step"].tolist(), table.columns["loss"], table.rows.tolist()
    ([1.0], ['2,5'], [3])
    """
    place = Path(path)
    bare = place.name.removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")
    stem = name or Path(bare).stem or bare
    content = _bytes_of(place)
    if content.startswith(b"PAR1"):
        return [_table_of_parquet(place, stem, content)]
    text = _text_of(place, content)
    first = next(_lines(text), None)
    if first is None:
        raise CurveError(f"{place}: the file is empty, or holds comments alone; it needs a header and a row a step")
    if rates and _is_number(first[1].strip()):
        return [_table_of_rates(stem, _lines(text))]
    begin = first[1].lstrip()[:1]
    if begin == "<":
        raise CurveError(f"{place}: this looks like a web page, not like a table; download the file itself", first[0])
    unfinished = text[-1] not in "\r\n"
    if begin == "{" and not _whole_object(text, first[1]):
        return [_table_of_records(place, stem, _lines(text))]
    if begin in "{[" and not looks_printed(_lines(text)):
        return _scalar(_tables_of_json(place, stem, text), stem)
    if looks_printed(_lines(text)):
        return [replace(table_of_lines(_lines(text), stem), unfinished=unfinished)]
    return _scalar([replace(_table_of_cells(place, stem, _lines(text), header), unfinished=unfinished)], stem)


def _scalar(tables: list[Table], stem: str) -> list[Table]:
    """Tables of one quantity, which the name of the file tells: the column "Value" takes that name."""
    tag = stem.rsplit("-tag-", 1)[-1]
    if meaning(tag) is None:
        return tables
    named = []
    for table in tables:
        scalar = {plain(name) for name in table.columns} in _SCALARS
        new = {name: tag if scalar and plain(name) == "value" else name for name in table.columns}
        named.append(replace(table, columns={new[name]: cells for name, cells in table.columns.items()}))
    return named


def _table_of_parquet(path: Path, stem: str, content: bytes) -> Table:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise CurveError(
            f"{path} is a Parquet file, which needs pyarrow (pip install 'functional-scaling-laws[data]'); or save it"
            " as CSV"
        ) from error
    try:
        described = parquet.ParquetFile(io.BytesIO(content)).metadata
        size = sum(described.row_group(group).total_byte_size for group in range(described.num_row_groups))
        if size > LARGEST:
            raise CurveError(f"{path} holds more than {LARGEST // 2**20} MiB; keep every tenth row, or fewer")
        columns = parquet.read_table(io.BytesIO(content)).to_pydict()
    except (OSError, ValueError) as error:
        raise CurveError(f"{path} begins like a Parquet file but is none, or is damaged ({error})") from error
    return Table(columns, range(1, described.num_rows + 1), stem)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that count, with their numbers, a piece of the text at a time: a million of them at once are heavy."""
    number, start = 0, 0
    while start < len(text):
        end = text.find("\n", start + PIECE) + 1 or len(text)
        for line in text[start:end].splitlines():
            number += 1
            ruled = "|" in line and "---" in line and not line.strip(" \t|:-")  # below a header in Markdown
            if line.strip() and not line.lstrip().startswith(("#", "%")) and not ruled:
                yield number, line
        start = end


def _text_of(path: Path, content: bytes) -> str:
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise CurveError(f"{path}: begins like {encoding} but is not ({error}); save it as UTF-8") from error
    if b"\x00" in content[:4096] or b"\x00" in content:
        raise CurveError(f"{path}: holds zero bytes, so it is no text; save the table as CSV in UTF-8")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # every byte has a meaning there; digits are the same in both


def _bytes_of(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise CurveError(f"{path} is a directory; give the file of one run")
        with _opened(path) as file:
            start = file.peek(16)[:16]  # what is read from a pipe cannot be read again
            for mark, kind in _FOREIGN.items():
                if start.startswith(mark):
                    raise CurveError(f"{path} is {kind}")
            opened = [kind for mark, kind in _COMPRESSED.items() if start.startswith(mark)]
            if opened:
                return _read(path, opened[0](file), _size(file))
            if LARGEST < _size(file) < math.inf:
                raise _too_large(path)
            return _read(path, file)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise CurveError(f"{path} is a link to {path.readlink()}, and there is no such file") from error
        from fsl_num.schedules import SCHEDULES

        siblings = {file.stem: file.name for file in _siblings(path)}  # files of one kind are all alike at their ends
        near = [siblings[stem] for stem in get_close_matches(path.stem, siblings, 3, 0.6)]
        near += [f"the schedule {schedule}" for schedule in get_close_matches(str(path), SCHEDULES, 1, 0.6)]
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        if "=" in str(path):
            hint = "; if it says which column is what, put a comma and no space between the columns"
        raise CurveError(f"there is no file {path}{hint}") from error
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise CurveError(f"{path} is compressed and damaged or cut short ({error}); fetch it again") from error
    except OSError as error:
        hint = "; check its permissions" if isinstance(error, PermissionError) else ""
        raise CurveError(f"{path} cannot be read: {error.strerror or error}{hint}") from error


def _opened(path: Path) -> Any:
    """The file, or standard input for "-"."""
    if str(path) != "-":
        return path.open("rb")
    if sys.stdin is None:
        raise OSError(9, "standard input is closed")
    return sys.stdin.buffer


def _size(file: Any) -> float:
    """The bytes of a file; infinity of a pipe."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else math.inf


def _read(path: Path, reader: Any, compressed: float = math.inf) -> bytes:
    """The content, block by block: one call for all would reserve as much as the file may hold beforehand."""
    blocks: list[bytes] = []
    size = 0
    while block := reader.read(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > LARGEST:
            raise _too_large(path)
        if size > max(MOST_EXPANDED * compressed, 4 * _BLOCK):
            raise CurveError(f"{path} unfolds to more than {MOST_EXPANDED} times its size, as no log of numbers does")
    return b"".join(blocks)


def _too_large(path: Path) -> CurveError:
    return CurveError(f"{path} holds more than {LARGEST // 2**20} MiB of text; keep every tenth row, or fewer")


def _siblings(path: Path) -> Sequence[Path]:
    try:
        return list(path.parent.iterdir())
    except OSError:
        return ()


def _table_of_cells(path: Path, name: str, lines: Iterator[tuple[int, str]], header: bool) -> Table:
    begin = list(islice(lines, 50))
    _check_lengths(path, begin)
    delimiter = _delimiter(path, [line for _, line in begin])
    lines = chain(begin, lines)
    first = next(lines)
    names = _split(path, [first], delimiter)[0]
    numbered = all(_is_number(cell) for cell in names)
    head = None if numbered else first[1].translate(_BESIDE)
    if numbered and len(names) == 3 and _number(names[0]) > _MILLISECONDS:  # a metric as MLflow keeps it
        names, numbered, lines = ["timestamp", "Value", "Step"], False, chain([first], lines)
    if numbered and header:
        raise CurveError(
            f"{path}: the first row holds numbers, not the names of the columns; add a first line such as"
            f" step{delimiter}lr{delimiter}loss, or say the positions: columns={{'step': 0, 'lr': 1, 'loss': 2}}"
            " (--columns step=0,lr=1,loss=2)",
            first[0],
        )
    if numbered:
        names, lines = [str(index) for index in range(len(names))], chain([first], lines)
    doubled = sorted(name for name, count in Counter(names).items() if count > 1 and name)
    if doubled:
        raise CurveError(f"{path}: the header names {doubled[0]!r} twice; rename one of them", first[0])
    least = len(names)
    while least and names[least - 1] == "":
        least -= 1  # a delimiter at the end of the line: there may be cells beneath, or none
    columns, comma = Gathered(names), delimiter != ","
    while part := list(islice(lines, ROWS)):
        if head is not None:  # a run that was resumed writes it again, and files put together have it several times
            part = [line for line in part if line[1].translate(_BESIDE) != head]
        if not part:
            continue
        rows = _split(path, part, delimiter)
        for row, (number, _) in zip(rows, part, strict=True):
            while len(row) > len(names) and row[-1] == "":
                row.pop()
            if not least <= len(row) <= len(names):
                words = f"{len(row)} cells where the header has {len(names)} ({', '.join(names)}); {_CUT}"
                if not any(map(meaning, names)):
                    words = _NO_LOG + NO_STEP * any("'epoch':" in cell for cell in row)
                raise CurveError(f"{path}: {words}", number)
            if len(row) < len(names):
                row += [""] * (len(names) - len(row))
        if not columns.rows:
            comma = comma and not any("." in cell for row in rows[:1000] for cell in row)
        columns.add(dict(enumerate(zip(*rows, strict=True))), [number for number, _ in part])
    return columns.table(name, columns.width(least), comma)


def _table_of_rates(name: str, lines: Iterator[tuple[int, str]]) -> Table:
    """One number a row; a cell that is none is refused where the rates are taken."""
    rows, cells = zip(*((number, line.strip()) for number, line in lines), strict=True)
    return Table({"step": range(len(rows)), EVERY_RATE: cells}, rows, name)


def _split(path: Path, lines: Sequence[tuple[int, str]], delimiter: str) -> list[list[str]]:
    """The cells of lines, without the spaces around them."""
    texts = [" ".join(line.split()) if delimiter == " " else line for _, line in lines]
    _check_lengths(path, lines)
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(texts, delimiter=delimiter, strict=True)]
    except csv.Error as error:
        raise CurveError(f"{path}: a quotation mark is never closed, or stands within a cell ({error})") from error
    if len(rows) != len(lines):
        raise CurveError(f"{path}: a quoted cell runs over several lines; a cell must stay on its line")
    return rows


def _check_lengths(path: Path, lines: Sequence[tuple[int, str]]) -> None:
    number, longest = max(lines, key=lambda line: len(line[1]), default=(0, ""))
    if len(longest) > LONGEST:
        raise CurveError(f"{path}: a line of {len(longest):,} characters; no row of a log is so long", number)


def _delimiter(path: Path, lines: Sequence[str]) -> str:
    """The first delimiter that parts every line into the same number of cells, two at least; else the header's."""
    for delimiter in _DELIMITERS:
        counts = {_cells(line, delimiter) for line in lines}
        if len(counts) == 1 and counts.pop() > 1:
            return delimiter
    for delimiter in _DELIMITERS:
        if _cells(lines[0], delimiter) > 1:
            return delimiter
    raise CurveError(
        f"{path}: the first row, {lines[0][:60]!r}, is one cell; a table needs the columns step, lr and loss with a"
        " comma, semicolon, tab, bar or space between them" + NO_STEP * any("'epoch':" in line for line in lines)
    )


def _cells(line: str, delimiter: str) -> int:
    if delimiter == " ":
        return len(line.split())
    return len(next(csv.reader([line], delimiter=delimiter)))


def _is_number(cell: str) -> bool:
    return not math.isnan(_number(cell)) or cell.lower() == "nan"


def _number(cell: str) -> float:
    try:
        return number_of(cell.replace(",", "."))
    except ValueError:
        return math.nan


def _table_of_records(path: Path, name: str, lines: Iterator[tuple[int, str]]) -> Table:
    """JSON lines."""
    gathered = Gathered([])
    for part in _records(path, lines):
        keys = dict.fromkeys(key for _, record in part for key in record)
        columns = {gathered.place(key): [record.get(key) for _, record in part] for key in keys}
        gathered.add(columns, [number for number, _ in part])
    return gathered.table(name, len(gathered.names), comma=False)


def _records(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    while part := list(islice(lines, ROWS)):
        records = []
        for number, line in part:
            try:
                record = record_in(line)
            except (ValueError, RecursionError) as error:
                raise CurveError(f"{path}: not a JSON record ({error}); the line may be cut short", number) from error
            if not isinstance(record, dict):
                raise CurveError(f"{path}: a record of names and values is needed, not {str(record)[:40]!r}", number)
            records.append((number, flat(record)))
        yield records


def _whole_object(text: str, first: str) -> bool:
    """Whether a text that begins like an object is one object, not one on each line."""
    try:
        record = record_in(first)
    except (ValueError, RecursionError):
        return not first.rstrip().endswith("}")  # a line that ends like a record is one, cut or damaged
    return any(isinstance(cell, (list, dict)) for cell in record.values()) and sum(1 for _ in _lines(text)) == 1


def _tables_of_json(path: Path, stem: str, text: str) -> list[Table]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "a JSON list of records" if text.lstrip().startswith("[") else "a JSON object"
        raise CurveError(f"{path}: begins like {kind} but is none ({error})") from error
    tables = tables_of(value, stem)
    if not tables:
        raise CurveError(f"{path}: this JSON holds neither a list of records nor lists of numbers")
    return tables
