"""The tables in a file: CSV with any delimiter, JSON, Parquet, printed lines; compressed or not; faults named by line.

Whatever can be read in one way only is read: a byte-order mark, UTF-16, Windows and old Macintosh line ends, comments,
blank lines, quotes, decimal commas between semicolons, gzip, bzip2 and xz. What could be read in two ways is refused.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from fsl_num.curves.columns import EVERY_RATE, NO_STEP, meaning, plain
from fsl_num.curves.curve import CurveError
from fsl_num.curves.decoded import LARGEST, bytes_of, text_of
from fsl_num.curves.gathered import Gathered
from fsl_num.curves.records import flat, record_in, tables_of
from fsl_num.curves.tables import Table, decimal_commas, number_of, without_points
from fsl_num.curves.text_logs import looks_printed, table_of_lines

LONGEST: Final = 2**17
"""Characters of a line, and so of a cell, at most: what the reader of CSV takes."""

_MILLISECONDS: Final = 1e11  # since 1970: an earlier time is no time of training
_SCALARS: Final = ({"step", "value"}, {"", "step", "value", "walltime", "timestamp"})  # least and most: "" of pandas
PIECE: Final = 2**20  # characters that are cut into lines at once
ROWS: Final = 20_000  # rows whose cells are held as text at once

_CUT: Final = "the line is cut short, or a delimiter stands within a cell: put the cell in quotation marks"
_NO_LOG: Final = (
    "this is no table of a header and rows of as many cells, and no printed log, whose lines give a step and a"
    " loss or a rate, as 'step 10 loss 2.5 lr 1e-3'; give the metrics as a table with a header"
)
_BESIDE: Final = dict.fromkeys(map(ord, ' \t\r"\ufeff'))  # what may stand otherwise in a header that is the same
_DELIMITERS: Final = ("\t", ";", ",", "|", " ")


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
    content = bytes_of(place)
    if content.startswith(b"PAR1"):
        return [_table_of_parquet(place, stem, content)]
    text = text_of(place, content)
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
    if re.match(r"\s*\[[^][{}\"]*\]\s*[^]\s,]", first[1]) and not looks_printed(_lines(text)):
        raise CurveError(f"{place}: {_NO_LOG}", first[0])
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
        scalar = _SCALARS[0] <= {plain(name) for name in table.columns} <= _SCALARS[1]
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
            ruled = "---" in line and not line.strip(" \t|:+-")  # about a header, in Markdown or as Spark shows it
            hint = number == 1 and line.strip()[:-1].lower() in ("sep=", "sep")  # for Excel
            if line.strip() and not line.lstrip().startswith(("#", "%")) and not ruled and not hint:
                yield number, line
        start = end


def _table_of_cells(path: Path, name: str, lines: Iterator[tuple[int, str]], header: bool) -> Table:
    begin = list(islice(lines, 50))
    no_log = _NO_LOG + NO_STEP * any("'epoch':" in line for _, line in begin)
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
        words = f"the header names {doubled[0]!r} twice; rename one of them" if any(map(meaning, names)) else no_log
        raise CurveError(f"{path}: {words}", first[0])
    least = len(names)
    while least and names[least - 1] == "":
        least -= 1  # a delimiter at the end of the line: there may be cells beneath, or none
    columns, comma = Gathered(names), False
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
                    words = no_log
                raise CurveError(f"{path}: {words}", number)
            if len(row) < len(names):
                row += [""] * (len(names) - len(row))
        if not columns.rows:
            comma = decimal_commas([cell for row in rows[:1000] for cell in row], among_commas=delimiter == ",")
        if comma:
            rows = [[*map(without_points, row)] for row in rows]
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
    no_step = NO_STEP * any("'epoch':" in line for line in lines)
    if any(_cells(line, delimiter) > 1 for line in lines for delimiter in _DELIMITERS):
        raise CurveError(f"{path}: {_NO_LOG}{no_step}")
    raise CurveError(
        f"{path}: the first row, {lines[0][:60]!r}, is one cell; a table needs the columns step, lr and loss with a"
        f" comma, semicolon, tab, bar or space between them{no_step}"
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
        records: list[tuple[int, dict[str, Any]]] = []
        for number, line in part:
            try:
                record = record_in(line)
            except (ValueError, RecursionError) as error:
                why = NO_STEP * any("epoch" in record and "step" not in record for _, record in records[-1:])
                said = f"not a JSON record ({error}); the line may be cut short{why}"
                raise CurveError(f"{path}: {said}", number) from error
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
