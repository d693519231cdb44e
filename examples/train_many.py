"""Train a family of small language models at once on one GPU, and write the curves of examples/language again.

    pip install torch==2.11.0 sympy numpy
    python examples/train_many.py --out examples/again
    python examples/train_many.py --out examples/again --sizes
    python examples/train_many.py --out examples/again --schedule design.csv

The text is the Python source of all packages that are installed, byte by byte; every fiftieth file is held out. The
models are decoder-only transformers (pre-norm, learned positions, tied embedding) trained with AdamW. Those of one size
are stacked: one matrix product does the same layer of all of them, each on batches of its own, and a place that becomes
free takes the next run. So thirty runs of five million parameters took five minutes on one H200. With ``--sizes``
models of three sizes are trained for three batch sizes and three amounts of data, and their final losses written.

On the CPU the same works, for a handful of short runs (``--steps``). torch is needed for nothing else in this project.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from train_language_models import write_curve
from train_networks import SCHEDULES, WARMUP, shape

CONTEXT, WINDOWS, HELD_OUT, HELD_OUT_EVERY, EVERY = 256, 32, 256, 50, 25
"""Bytes of a window, windows of a usual batch and of the text held out, files to one held out, updates to one row."""
WIDTH, LAYERS, HEAD, PLACES = 256, 6, 64, 11
PEAK, STEPS, BETAS, WEIGHT_DECAY, CLIP = 2e-3, 3400, (0.9, 0.95), 0.1, 1.0
SIZES, SIZES_LAYERS, SIZES_PLACES = (128, 256, 384), 4, 5
BATCH_PEAKS = {1: 1.5e-3, 4: 2.5e-3, 16: 4e-3}
"""Batches over the usual one, and the peak rate of a model 256 wide."""
WINDOWS_SEEN = (1200, 4000, 8000)  # in usual batches
FIRST_WEIGHTS, ORDER, HELD_OUT_PLACES = 1000, 100, 7
"""Seeds."""

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NUMBERS = torch.bfloat16 if DEVICE == "cuda" else torch.float32


@dataclass
class Run:
    """The rate of every update, how many usual batches each takes, a seed, and the curve: step, rate, loss, windows."""

    name: str
    rates: np.ndarray
    batches: np.ndarray
    seed: int = 0
    rows: list[tuple[int, float, float, int]] = field(default_factory=list)

    @cached_property
    def turns(self) -> np.ndarray:
        """Of every usual batch, shape (4, batches): its weight, whether an update ends, its rate, updates with it."""
        update = np.repeat(np.arange(len(self.rates)), self.batches)
        ends = np.append(np.diff(update), 1)
        return np.stack([1.0 / self.batches[update], ends, self.rates[update], update + 1.0]).astype(np.float32)


def shapes(width: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The parameters of one model."""
    parts: dict[str, tuple[int, ...]] = {"token": (256, width), "place": (CONTEXT, width), "last": (2, width)}
    for i in range(layers):
        parts |= {
            f"norms{i}": (4, width), f"mix{i}": (width, 3 * width), f"out{i}": (width, width),
            f"wide{i}": (width, 4 * width), f"narrow{i}": (4 * width, width), f"bias{i}": (9 * width,),
        }  # fmt: skip
    return parts


def first_weights(width: int, layers: int, seed: int) -> torch.Tensor:
    """All parameters of one model in a row, before training."""
    stream = torch.Generator().manual_seed(FIRST_WEIGHTS + seed)
    parts = []
    for name, size in shapes(width, layers).items():
        value = torch.zeros(size)
        if name.startswith(("token", "place", "mix", "wide")):
            value = 0.02 * torch.randn(size, generator=stream)
        elif name.startswith(("out", "narrow")):
            value = 0.02 / math.sqrt(2 * layers) * torch.randn(size, generator=stream)
        elif name.startswith(("norms", "last")):
            value[0::2] = 1.0
        parts.append(value.flatten())
    return torch.cat(parts)


def norm(x: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """A layer norm of every model."""
    return (functional.layer_norm(x.float(), x.shape[-1:]) * gain[:, None] + shift[:, None]).to(NUMBERS)


def losses(w: dict[str, torch.Tensor], tokens: torch.Tensor, layers: int) -> torch.Tensor:
    """The mean loss of every model on windows of its own, shape (models, windows, CONTEXT + 1), in nats a byte."""
    models, count, _ = tokens.shape
    width = w["token"].shape[-1]
    heads = max(1, width // HEAD)
    inputs, targets = tokens[..., :-1].reshape(models, -1), tokens[..., 1:].reshape(-1)
    index = inputs + 256 * torch.arange(models, device=tokens.device)[:, None]
    x = functional.embedding(index, w["token"].reshape(models * 256, width)).float()
    x = (x.view(models, count, CONTEXT, width) + w["place"][:, None].float()).view(models, -1, width)
    for i in range(layers):
        norms = w[f"norms{i}"].float()
        mix, out, wide, narrow = w[f"bias{i}"][:, None].split([3 * width, width, 4 * width, width], dim=2)
        mixed = torch.baddbmm(mix, norm(x, norms[:, 0], norms[:, 1]), w[f"mix{i}"])
        parts = mixed.view(models * count, CONTEXT, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + torch.baddbmm(out, seen.transpose(1, 2).reshape(models, -1, width), w[f"out{i}"])
        hidden = torch.baddbmm(wide, norm(x, norms[:, 2], norms[:, 3]), w[f"wide{i}"])
        x = x + torch.baddbmm(narrow, functional.gelu(hidden, approximate="tanh"), w[f"narrow{i}"])
    last = w["last"].float()
    logits = torch.bmm(norm(x, last[:, 0], last[:, 1]), w["token"].transpose(1, 2)).float()
    return functional.cross_entropy(logits.view(-1, 256), targets, reduction="none").view(models, -1).mean(1)


def update(state: Sequence[torch.Tensor], turn: torch.Tensor) -> None:
    """AdamW of the models whose update ends; ``state``: parameters, both moments and the gradient, a row a model."""
    master, first, second, grad = state
    ends, rate, count = turn[1, :, None] > 0, turn[2, :, None], turn[3, :, None]
    g = grad * torch.clamp(CLIP / (grad.square().sum(1, keepdim=True).sqrt() + 1e-6), max=1.0)
    first.copy_(torch.where(ends, BETAS[0] * first + (1 - BETAS[0]) * g, first))
    second.copy_(torch.where(ends, BETAS[1] * second + (1 - BETAS[1]) * g * g, second))
    step = (first / (1 - BETAS[0] ** count)) / ((second / (1 - BETAS[1] ** count)).sqrt() + 1e-8)
    master.copy_(torch.where(ends, master * (1 - rate * WEIGHT_DECAY) - rate * step, master))
    grad.copy_(torch.where(ends, 0.0, grad))


class Stack:
    """Places for models of one size, which train beside each other."""

    def __init__(self, places: int, width: int, layers: int, text: tuple[torch.Tensor, torch.Tensor], most: int):
        self.width, self.layers = width, layers
        sizes = shapes(width, layers)
        self.sizes = [math.prod(size) for size in sizes.values()]
        self.state = [torch.zeros(places, sum(self.sizes), device=DEVICE) for _ in range(4)]
        self.weights = {
            name: torch.zeros(places, *size, device=DEVICE, dtype=NUMBERS, requires_grad=True)
            for name, size in sizes.items()
        }
        self.text, reach = text[0], torch.arange(CONTEXT + 1)
        draw = torch.Generator().manual_seed(HELD_OUT_PLACES)
        starts = torch.randint(len(text[1]) - CONTEXT - 1, (HELD_OUT,), generator=draw)
        self.held_out = text[1][(starts[:, None] + reach).to(DEVICE)].long()
        self.reach = reach.to(DEVICE)
        streams = (torch.Generator().manual_seed(ORDER + seed) for seed in (0, 1))
        last = len(text[0]) - CONTEXT - 1
        orders = [torch.randint(last, (most, WINDOWS), generator=stream) for stream in streams]
        self.order = torch.stack(orders).to(DEVICE)
        self.losses, self.update = (
            torch.compile(function, dynamic=False) if DEVICE == "cuda" else function for function in (losses, update)
        )

    @torch.no_grad()
    def begin(self, place: int, seed: int) -> None:
        """A new model at a place."""
        self.state[0][place] = first_weights(self.width, self.layers, seed).to(DEVICE)
        for moment in self.state[1:]:
            moment[place] = 0.0
        self._copy()

    def _copy(self) -> None:
        for weight, part in zip(self.weights.values(), self.state[0].split(self.sizes, dim=1), strict=True):
            weight.copy_(part.view_as(weight))

    def step(self, seeds: torch.Tensor, at: torch.Tensor, turn: torch.Tensor) -> None:
        """One usual batch of every model; ``at``: its place in the order of the batches."""
        tokens = self.text[self.order[seeds, at][..., None] + self.reach].long()
        loss = self.losses(self.weights, tokens, self.layers).sum()
        gradients = torch.autograd.grad(loss, list(self.weights.values()))
        with torch.no_grad():
            flat = torch.cat([gradient.reshape(len(seeds), -1) for gradient in gradients], 1)
            self.state[3].add_(flat.float() * turn[0, :, None])
            self.update(self.state, turn)
            self._copy()

    @torch.no_grad()
    def held_out_losses(self) -> list[float]:
        """The mean loss of every model on the text held out."""
        parts = self.held_out.split(WINDOWS)
        places = len(self.state[0])
        whole = sum(self.losses(self.weights, part.repeat(places, 1, 1), self.layers) for part in parts)
        return [float(loss) / len(parts) for loss in whole]


def train(stack: Stack, runs: Sequence[Run]) -> None:
    """Train all runs, the longest first."""
    waiting, places = sorted(runs, key=lambda run: -run.turns.shape[1]), len(stack.state[0])
    inside: list[Run | None] = [None] * places
    at, turns = [0] * places, 0
    while True:
        if turns % EVERY == 0:
            for place, run in enumerate(inside):
                if run is None or at[place] >= run.turns.shape[1]:
                    inside[place], at[place] = (waiting.pop(0) if waiting else None), 0
                    if (begun := inside[place]) is not None:
                        stack.begin(place, begun.seed)
        if all(run is None for run in inside):
            return
        turn, seeds = np.zeros((4, places), dtype=np.float32), np.zeros(places, dtype=np.int64)
        turn[3] = 1.0
        for place, run in enumerate(inside):
            if run is not None and at[place] < run.turns.shape[1]:
                turn[:, place], seeds[place] = run.turns[:, at[place]], run.seed
        where = torch.tensor([k if run and k < run.turns.shape[1] else 0 for k, run in zip(at, inside, strict=True)])
        stack.step(*(tensor.to(DEVICE) for tensor in (torch.from_numpy(seeds), where, torch.from_numpy(turn))))
        turns, at = turns + 1, [k + 1 for k in at]
        if turns % EVERY == 0:
            for place, (run, loss) in enumerate(zip(inside, stack.held_out_losses(), strict=True)):
                if run is not None and at[place] <= run.turns.shape[1] and run.turns[1, at[place] - 1]:
                    done = int(run.turns[3, at[place] - 1])
                    if done % EVERY == 0 or done == len(run.rates):
                        run.rows.append((done, float(run.rates[done - 1]), loss, WINDOWS * int(run.batches[done - 1])))


def decay(share: float, steps: int) -> np.ndarray:
    """Rates over the peak: a stable phase, then a linear decay over the last share of the steps behind the warmup."""
    return np.minimum(shape("constant", steps), shape("linear", steps) / share)


def family(steps: int) -> Iterator[Run]:
    """The runs of one size: schedules, peaks, a longer run, batches, another seed."""
    usual_size, usual = np.ones(steps, dtype=int), ("constant", "cosine", "wsd")
    yield from (Run(f"{name}_{steps}_1", PEAK * shape(name, steps), usual_size) for name in SCHEDULES)
    yield from (Run(f"decay-{share}_{steps}_1", PEAK * decay(share, steps), usual_size) for share in (0.1, 0.4, 0.7))
    for factor in (0.25, 0.5):
        yield from (Run(f"{name}_{steps}_{factor}", factor * PEAK * shape(name, steps), usual_size) for name in usual)
    yield Run(f"cosine_{steps}_2", 2 * PEAK * shape("cosine", steps), usual_size)
    for name in usual:
        yield Run(f"{name}_{3 * steps}_1", PEAK * shape(name, 3 * steps), np.ones(3 * steps, dtype=int))
    yield from (
        Run(f"{name}_{steps}_1_fourfold", PEAK * shape(name, steps), 4 * usual_size) for name in ("constant", "wsd")
    )
    later = np.where(np.arange(steps) < steps // 2, 1, 4)
    yield Run(f"constant_{steps}_1_later-fourfold", PEAK * shape("constant", steps), later)
    yield from (Run(f"{name}_{steps}_1_seed", PEAK * shape(name, steps), usual_size, 1) for name in ("constant", "wsd"))


def runs_of_size(width: int) -> Iterator[Run]:
    """Batch sizes and amounts of data of one model size; the last quarter of each run decays linearly to 0."""
    for times, peak in BATCH_PEAKS.items():
        for seen in WINDOWS_SEEN:
            steps = seen // times
            k, warmup = np.arange(steps), min(WARMUP, steps // 5)
            rates = np.minimum(1.0, (k + 1) / warmup) * np.minimum(1.0, (steps - k) / (0.25 * steps))
            rates *= peak * (256 / width) ** 0.5
            yield Run(f"{width}_{times}_{steps}", rates, np.full(steps, times))


def text() -> tuple[tuple[torch.Tensor, torch.Tensor], dict[str, object]]:
    """Bytes to train on and bytes held out, and where they are from."""
    home, known = Path(sysconfig.get_paths()["purelib"]), set()
    parts: dict[bool, list[bytes]] = {False: [], True: []}
    for path in sorted(home.rglob("*.py"), key=lambda path: path.relative_to(home).as_posix()):
        content = path.read_bytes()
        if len(content) >= 500 and content not in known and max(map(len, content.splitlines())) <= 2000:
            parts[len(known) % HELD_OUT_EVERY == 0].append(content)
            known.add(content)
    joined = [b"\n".join(parts[key]) for key in (False, True)]
    origin = {
        "text": "the Python files of all packages installed, each once, in the order of their paths",
        "packages": sorted(path.name.removesuffix(".dist-info") for path in home.glob("*.dist-info")),
        "bytes": [len(part) for part in joined],
        "sha256": [hashlib.sha256(part).hexdigest() for part in joined],
        "torch": torch.__version__,
    }
    training, held_out = (torch.frombuffer(bytearray(part), dtype=torch.uint8).to(DEVICE) for part in joined)
    return (training, held_out), origin


def main() -> None:
    """The family of one size, other schedules for it, or final losses of several sizes."""
    parser = argparse.ArgumentParser(description="Train many small language models at once.")
    parser.add_argument("--out", type=Path, required=True, help="folder of the curves")
    parser.add_argument("--sizes", action="store_true", help="final losses of three sizes, in place of the family")
    parser.add_argument("--schedule", type=Path, nargs="*", default=[], help="CSV with step, lr: these alone")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"updates of a usual run (default: {STEPS})")
    chosen = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    chosen.out.mkdir(parents=True, exist_ok=True)
    content, origin = text()
    (chosen.out / "provenance.json").write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
    if chosen.sizes:
        rows = []
        for width in SIZES:
            stack, trained = (
                Stack(SIZES_PLACES, width, SIZES_LAYERS, content, max(WINDOWS_SEEN)),
                [*runs_of_size(width)],
            )
            train(stack, trained)
            size = stack.state[0].shape[1]
            rows += [(size, run.rows[-1][3], len(run.rates), f"{run.rows[-1][2]:.6f}") for run in trained]
        with (chosen.out / "sizes.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([("model_size", "batch_size", "steps", "loss"), *rows])
        return
    runs = []
    for path in chosen.schedule:
        rates = np.genfromtxt(path, delimiter=",", names=True)["lr"]
        runs.append(Run(path.stem, rates, np.ones(len(rates), dtype=int)))
    runs = runs or list(family(chosen.steps))
    train(Stack(PLACES, WIDTH, LAYERS, content, max(run.turns.shape[1] for run in runs)), runs)
    for run in runs:
        write_curve(chosen.out / f"{run.name}.csv", run.rows)


if __name__ == "__main__":
    main()
