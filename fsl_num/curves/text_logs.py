"""Logs as a trainer prints them: in each line a step, a loss, a rate, each behind its name, among other words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from fsl_num.curves.columns import meaning, plain, split_run
from fsl_num.curves.records import record_in
from fsl_num.curves.tables import Table, unwrapped

_SHOWN: Final = 2000
"""Lines in which a log that is printed must have shown two of its own: banners come first."""

_GROUPED = r"\d{1,3}(?:[,_]\d{3})+"  # 12,000: of a counter it can mean nothing else
_NUMBER = rf"{_GROUPED}|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:[+-]?(?:nan|inf(?:inity)?))"
# In a text without double spaces, and with names of bounded length: the time is then that of the length of a line.
_PAIR = re.compile(
    rf"(?P<name>[A-Za-z_][A-Za-z0-9_ ./()-]{{0,99}}?)(?: ?[:=] ?| )(?P<value>{_NUMBER})"
    rf"(?P<unit>[KkMBT%](?![A-Za-z]))?(?: ?/ ?(?:{_GROUPED}|\d+))?(?![\w.]|[,:]\d)"
)
_BETWEEN = re.compile(r"[|;]|,(?!\d)")  # pairs; a comma before a digit may be a decimal one
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_LIST = re.compile(rf"([A-Za-z_]\w*)( ?[:=] ?| )\[ ?((?:{_NUMBER})(?: ?, ?(?:{_NUMBER}))*) ?\]")  # lr=[0.1, 0.1]
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_SHORT: Final = {"s:": "step:", " trl:": " train loss:", " tel:": " validation loss:"}  # as llm.c calls them
_REMARK = re.compile(r"\b(Iter)\(train\) *|\((\w+) (\d+)\)(?=[:=])")  # Iter(train) [50/90], LR (group 0)=0.1
_COUNT = re.compile(rf"(?<=[A-Za-z])(:? ?)\[ *({_GROUPED}|\d+) ?/ ?(?:{_GROUPED}|\d+) ?\]")  # Step [10/900]
_UNITS: Final = {"": 1.0, "%": 0.01, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_WHOLE: Final = ("step", "tokens", "batch_size")
_LEVELS = re.compile(  # of the logger; no part of a name
    r"\b(?:level=\w+|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b"
)
_BAR = re.compile(r"\b(\d{1,15})/\d{1,15} \[[\d:]{1,12}<[\d:?]{1,12}, [^],]{1,40}(?P<shown>(?:, [^],]{1,99}){1,50})\]")
"""What tqdm shows behind its bar: the count, times and speed, and what the trainer set as its postfix."""
_MARKED = re.compile(  # a line of validation, by a word before its step
    rf"(?:^[\d\s:.,TZ/-]*|[\[\]|]\s*|{_LEVELS.pattern}[\s:-]*)(?:val|valid|validation|eval|evaluation|test|dev)\s*"
    r"(?:\]|:\s|\|)",
    re.IGNORECASE,
)
_COUNTER = re.compile("step|iter|update", re.IGNORECASE)
_IN_EPOCH = re.compile(  # Train: 0 [ 50/90 (4%)], Epoch: [0][50/90], Epoch 1/9, Step [50/90], epoch 1 | 50/90 batches
    r"\b(?:(?P<timm>train): ?|epoch(?:\(train\))?:? ?)\[?(?P<epoch>\d{1,6})(?: ?/ ?\d+)?\]?[ ,:|]*"
    r"(?:\[|(?:step|iter|iteration|batch|update):? ?\[?|(?=\d+ ?/ ?\d+ batches)) ?"
    r"(?P<count>\d{1,9}) ?/ ?(?P<all>\d{1,9})\b",
    re.IGNORECASE,
)
# of OLMo and of Composer, with a metric in each of the next lines
_BLOCK = re.compile(r"\[(?:step|batch)=(\d+)(?:/\d+)?(?:,[^\[\]]*)?\]:?\s*$")
_IN_BLOCK = re.compile(rf"(?:\d{{4}}-\S+)?\s{{2,}}(?:Train )?(?P<pair>[A-Za-z][^=|:]*(?:=|: )(?:{_NUMBER}))\s*$")
_VALIDATION = re.compile(r"\b(validation|valid|eval|test) loss at\b", re.IGNORECASE)


def looks_printed(lines: Iterable[tuple[int, str]]) -> bool:
    """Return whether lines are a printed log: two of the first ones give a step and a loss or a rate, by their names.

    >>> looks_printed([(1, "Loading"), (2, "step:0/90 val_loss:10.8"), (3, "step:9/90 val_loss:7.1")])
    True
    >>> looks_printed([(1, "step,loss"), (2, "1,3.0"), (3, "2,2.5")])
    False
    """
    count = 0
    for (_, line), _ in zip(_blocks(lines), range(_SHOWN), strict=False):
        roles = {means.role for name in record_of(line) if (means := meaning(name))}
        count += "step" in roles and bool(roles & {"loss", "lr"})
        if count == 2:
            return True
    return False


def table_of_lines(lines: Iterable[tuple[int, str]], name: str) -> Table:
    """Return the numbers of the lines that give a step, as one table; the counter is called "step" in every line.

    >>> lines = [(1, "iter 0: loss 3.5, time 20ms"), (2, "step 10: train loss 3.0, val loss 3.1")]
    >>> table_of_lines(lines, "run").columns
    {'step': [0.0, 10.0], 'loss': [3.5, None], 'train loss': [None, 3.0], 'val loss': [None, 3.1]}
    >>> table_of_lines([(1, "Epoch: [0] [5/9] loss: 3.0"), (2, "Epoch: [1] [5/9] loss: 2.5")], "run").columns
    {'step': [5.0, 14.0], 'Epoch': [0.0, 1.0], 'loss': [3.0, 2.5]}
    """
    records: list[dict[str, Any]] = []
    rows: list[int] = []
    epochs: dict[int, re.Match[str]] = {}
    for number, line in _blocks(lines):
        record = record_of(line)
        known = {key: means.rank for key in record if (means := meaning(key)) and means.role == "step"}
        counters = sorted(known, key=lambda key: known[key])
        if counters and len(record) > len(counters):
            # one counter, whatever a line calls it; that of fairseq keeps its name, which says the unit of its losses
            counter = counters[0] if plain(counters[0]).endswith("numupdates") else "step"
            step = record[counters[0]]
            if (within := _in_epoch(line)) and float(within["count"]) == step:
                epochs[len(records)] = within
            row = {counter: step, **{key: cell for key, cell in record.items() if key not in counters}}
            if records and _BAR.search(line) and records[-1].get(counter) == step:  # a bar is drawn anew until it moves
                records[-1], rows[-1] = row, number
            else:
                records.append(row)
                rows.append(number)
    for at, step in _counted_on(epochs).items():
        records[at]["step"] = step
    names = dict.fromkeys(key for record in records for key in record)
    return Table({column: [record.get(column) for record in records] for column in names}, rows, name)


def record_of(line: str) -> dict[str, Any]:
    """Return the numbers of a line by their names: of the JSON object at its end, or of its pairs "name value".

    >>> record_of("[2024-01-01] iteration 100/ 5000 | learning rate: 1.5E-04 | lm loss: 8.1E+00 | time (ms): 12.3ms")
    {'iteration': 100.0, 'learning rate': 0.00015, 'lm loss': 8.1}
    >>> record_of("12:00:01 INFO step 100/5000 loss 2.5 lr 1e-3")
    {'step': 100.0, 'loss': 2.5, 'lr': 0.001}
    >>> record_of("train:  5%|#    | 100/2000 [00:09<02:51, 11.1it/s, loss=2.5, lr=1e-3]")
    {'step': 100.0, 'loss': 2.5, 'lr': 0.001}
    >>> record_of("step 12,500/90,000 | loss tensor(2.5, device='cuda:0') | lr 0.03% | ppl NaN")
    {'step': 12500.0, 'loss': 2.5, 'lr': 0.0003, 'ppl': nan}
    >>> record_of("s:5 tel:2.5"), record_of("s:5 trl:2.25 lr:1.0e-03 norm:0.5")
    ({'step': 5.0, 'validation loss': 2.5}, {'step': 5.0, 'train loss': 2.25, 'lr': 0.001, 'norm': 0.5})
    >>> record_of("Train: 0 [  50/1251 (  4%)]  Loss: 6.9 (6.9)  LR: 1.000e-03")
    {'step': 50.0, 'Train': 0.0, 'Loss': 6.9, 'LR': 0.001}
    >>> record_of("step 5 loss 2.5 lr [0.1, 0.1]"), record_of("step=5, loss=2.5, lr=[0.1, 0.2]")
    ({'step': 5.0, 'loss': 2.5, 'lr': 0.1}, {'step': 5.0, 'loss': 2.5, 'lr/0': 0.1, 'lr/1': 0.2})
    """
    line = _COLOUR.sub("", line)
    if re.match(r"s:\d+ t[re]l:", line):
        for short, name in _SHORT.items():
            line = line.replace(short, name, 1)
    if bar := _BAR.search(line):
        line = f"step {bar[1]}{bar['shown']}"
    begin = line.find("{")
    if begin >= 0 and line.rstrip().endswith("}"):
        try:
            parsed = record_in(line[begin:])
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            return parsed
    validation, marked = None, False
    if any(word in line.lower() for word in ("val", "test", "dev")):
        validation, mark = _VALIDATION.search(line), _MARKED.search(line)
        marked = mark is not None and _COUNTER.search(line, mark.end()) is not None
    line = _REMARK.sub(r"\1\2\3", _LEVELS.sub("|", line))
    line = _COUNT.sub(r"\1 \2 ", unwrapped(line) if "(" in line else line)
    line = _LIST.sub(_of_groups, line)
    text = " ".join(_BRACKETS.sub(" ", line).split())
    record: dict[str, Any] = {}
    for part in _BETWEEN.split(text):
        for pair in _PAIR.finditer(part):
            name = pair["name"].strip()
            if validation is not None:
                name = name.split()[-1] if name.startswith(validation[0]) else f"validation {name}"
            elif marked and (means := meaning(name)) and means.role == "loss" and not means.held_out:
                name = f"validation {name}"
            metric, value = split_run(name)[1], pair["value"]
            if "," in value:
                if (means := meaning(metric)) is None or means.role not in _WHOLE:
                    continue  # 2,345 may be a decimal one
                value = value.replace(",", "")
            record.setdefault(metric, float(value) * _UNITS[pair["unit"] or ""])
    if within := _in_epoch(line):
        record = {"step": float(within["count"])} | record
    return record


def _in_epoch(line: str) -> re.Match[str] | None:
    """The epoch of a line, and how many of its updates are done, where it says both."""
    if "/" not in line or not any(word in line.lower() for word in ("epoch", "train")):
        return None
    return _IN_EPOCH.search(" ".join(line.split()))


def _counted_on(epochs: Mapping[int, re.Match[str]]) -> dict[int, float]:
    """The updates done since the run began, of records that count them anew in each epoch; of others nothing."""
    places = [(int(line["epoch"]), int(line["count"]), int(line["all"])) for line in epochs.values()]
    turns = [later for place, later in pairwise(places) if later[0] > place[0]]
    goes_on = any(later[0] > place[0] and later[1] > place[1] for place, later in pairwise(places))
    counted_from_0 = any(line["timm"] for line in epochs.values())
    first = 0 if counted_from_0 else min((epoch for epoch, *_ in places), default=0)
    if not turns or goes_on or first > 1 or len({size for *_, size in places}) > 1:
        return {}
    late = any(count == 0 for _, count, _ in places)  # the number of the update, counted from 0
    steps = [float((epoch - first) * size + count + late) for epoch, count, size in places]
    return dict(zip(epochs, steps, strict=True))


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines, those of a block of OLMo (a step, then a metric a line) as one."""
    head, pairs = 0, list[str]()
    for number, line in lines:
        if pairs and (pair := _IN_BLOCK.match(line)):
            pairs.append(pair["pair"])
            continue
        if pairs:
            yield head, " | ".join(pairs)
        begin = _BLOCK.search(line)
        head, pairs = number, [f"step={begin[1]}"] if begin else []
        if not begin:
            yield number, line
    if pairs:
        yield head, " | ".join(pairs)


def _of_groups(listed: re.Match[str]) -> str:
    """The numbers of a list behind a name: one of all groups of parameters, or one of each by its number."""
    name, sign, values = listed[1], listed[2], listed[3].split(",")
    if len({float(value) for value in values}) == 1:
        return f"{name}{sign}{values[0]} "
    return " | ".join(f"{name}/{at}{sign}{value.strip()}" for at, value in enumerate(values)) + " "
