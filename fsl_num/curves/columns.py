"""What the column of a log means: the step, the learning rate, a loss of training or validation; known by its name.

Every framework has names of its own (``train/loss``, ``RUN - lr``, ``optim/LR (group 0)``, ``lr-AdamW/pg1``,
``metrics/eval/LanguageCrossEntropy``). They are made of the same few words, and by these words they are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

EVERY_RATE = "rate of every update"
"""The column of a file that is nothing else: whoever names it beside a log means it, not the rates in the log."""

NO_STEP = "; an epoch is no step: transformers keeps the steps in trainer_state.json"
"""What to do with a log that counts epochs alone."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "step": ("trainglobalstep", "trainerglobalstep", "globalstep", "optimizerstep", "optimstep", "updatestep",
             "completedstep", "completedsteps", "step", "steps", "trainstep", "trainingstep", "numupdates", "update",
             "updates", "iteration", "iterations", "iterationstep", "timebatch", "iter", "iters"),
    "lr": ("rateofeveryupdate", "lr", "learningrate", "lrs", "learningrates", "trainlr", "trainlearningrate",
           "currentlearningrate", "eta"),
    "loss": ("loss", "losses", "excessrisk"),
    "batch_size": ("globalbatchsize", "batchsize", "batchsizeintokens", "batch", "bs"),
    "tokens": ("tokens", "tokensseen", "ntokens", "numtokens", "consumedtokens", "totaltokens", "timetoken",
               "samples", "samplesseen", "consumedsamples"),
    "run": ("runname", "runid", "run", "runs", "experiment", "experimentname", "trial", "seed", "name"),
}  # fmt: skip
"""Names by which a column is known, without case, spaces, dots, slashes or underscores; the first found counts."""

UNITS = ("auto", "nats", "bits", "perplexity")

_HELD_OUT = frozenset({"val", "valid", "validation", "eval", "evaluation", "test", "dev", "heldout", "holdout"})
_TRAINED_ON = frozenset({"train", "training", "trn"})
_LOSS = frozenset({"loss", "losses", "ce", "crossentropy", "nll", "perplexity", "ppl", "bpb", "bpt", "bpc"})
_UNIT = {"perplexity": "perplexity", "ppl": "perplexity", "bpb": "bits", "bpt": "bits", "bpc": "bits", "bits": "bits"}
_NO_LOSS = frozenset(
    {"scale", "scaler", "z", "aux", "auxiliary", "balance", "balancing", "router", "grad", "max", "min", "std", "var",
     "weight", "count", "spike", "spikes", "skipped", "vs", "delta", "diff", "difference", "change", "improvement",
     "ratio", "best", "lowest", "target", "predicted", "pred"}
)  # fmt: skip
_SMOOTHED = frozenset({"ema", "smoothed", "smooth", "running", "moving"})
_NO_RATE = frozenset({"momentum", "decay", "wd", "beta", "scale", "weight", "grad", "gradient", "norm", "ratio"})
_SETTING = re.compile(r"\b(?:initial|init|base|peak|max|min|final|end|target) (?:lr|learning rate)\b")
"""A rate that is one number a run."""
_GLUED = re.compile(r"\b(train|training|val|valid|validation|eval|test)(loss|ppl|perplexity|bpb)\b")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_RUN = re.compile(r"(?P<run>.*\S) - (?P<name>\S.*)")


@dataclass(frozen=True)
class Meaning:
    """What a column is.

    ``role``: "step", "lr", "loss", "batch_size", "tokens" (or samples) or "run". ``rank``: the lower, the surer the
    name. For a loss, ``held_out``: whether it is measured on data that is not trained on; ``unit``: "nats", "bits" or
    "perplexity".
    """

    role: str
    rank: int
    held_out: bool = False
    unit: str = "nats"


@lru_cache(maxsize=4096)
def meaning(name: str) -> Meaning | None:
    """Return what a column of this name is, None where the name does not say.

    >>> meaning("optim/LR (group 0)").role, meaning("metrics/eval/LanguageCrossEntropy").held_out
    ('lr', True)
    >>> meaning("eta (peak 2e-3)").role
    'lr'
    >>> meaning("train/loss__MIN"), meaning("loss scale"), meaning("log2_loss"), meaning("loss_delta")
    (None, None, None, None)
    >>> meaning("initial_lr"), meaning("lr_grad"), meaning("loss_ema").rank > meaning("train_loss").rank
    (None, None, True)
    """
    if name.endswith(("__MIN", "__MAX")):
        return None
    metric = split_run(name)[1]
    if metric == "_step":  # the counter of calls of Weights & Biases: any other counter is surer
        return Meaning("step", len(NAMES["step"]))
    for part in (metric, re.split(r"[/.]", metric)[-1]):
        for role, aliases in NAMES.items():
            if role != "loss" and plain(part) in aliases and (role != "run" or part == metric):
                return Meaning(role, aliases.index(plain(part)))
    words = _words(metric)
    known = set(words)
    if words[-2:] == ["num", "updates"]:
        return Meaning("step", NAMES["step"].index("numupdates"))
    remarked = plain(re.sub(r"\([^()]*\)$", "", metric)) in NAMES["lr"]
    text = " ".join(words)
    setting = _SETTING.search(text)
    if remarked or (_is_rate(words) and not known & _NO_RATE and not setting):
        return Meaning("lr", len(NAMES["lr"]))
    by_name = plain(metric) in NAMES["loss"]
    logarithm = "log 10" in text or "log 2" in text  # "log loss" is another name of the cross-entropy
    if (known & _LOSS or by_name) and not known & _NO_LOSS and not logarithm:
        unit = next((_UNIT[word] for word in words if word in _UNIT), "bits" if "base 2" in text else "nats")
        rank = NAMES["loss"].index(plain(metric)) if by_name else len(NAMES["loss"]) + is_smoothed(metric)
        return Meaning("loss", rank, bool(known & _HELD_OUT), unit)
    return None


def is_smoothed(name: str) -> bool:
    """Return whether a column is named as a running mean of another, behind which it lags.

    >>> is_smoothed("train/loss_ema"), is_smoothed("loss")
    (True, False)
    """
    return bool(set(_words(split_run(name)[1])) & _SMOOTHED)


def of_held_out(word: str) -> bool | None:
    """Return whether a word means data that is not trained on; None where it means neither these nor the others.

    >>> of_held_out("Validation"), of_held_out("train"), of_held_out("step")
    (True, False, None)
    """
    bare = plain(word)
    return True if bare in _HELD_OUT else False if bare in _TRAINED_ON else None


def is_noise_scale(name: str) -> bool:
    """Return whether a column is named for the gradient-noise scale.

    >>> [is_noise_scale(column) for column in ("gradient_noise_scale", "train/GNS", "loss scale")]
    [True, True, False]
    """
    last = plain(re.split(r"[/.]", split_run(name)[1])[-1])
    return last == "gns" or last.endswith("noisescale")


def split_run(name: str) -> tuple[str, str]:
    """Return the run and the metric of a column such as "RUN - train/loss"; the run is "" where none is named.

    >>> split_run("base-124M - train/loss"), split_run("lr")
    (('base-124M', 'train/loss'), ('', 'lr'))
    """
    parts = _RUN.fullmatch(name.strip())
    return (parts["run"], parts["name"]) if parts else ("", name.strip())


def plain(name: str) -> str:
    """Return a name without case, spaces and signs.

    >>> plain("Train Loss")
    'trainloss'
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _is_rate(words: list[str]) -> bool:
    return bool({"lr", "lrm"} & set(words)) or "learning rate" in " ".join(words)


def _words(name: str) -> list[str]:
    """The words of a name, with "cross entropy" as one."""
    text = _GLUED.sub(r"\1 \2", " ".join(_WORD.findall(name)).lower())
    return text.replace("cross entropy", "crossentropy").replace("held out", "heldout").split()
