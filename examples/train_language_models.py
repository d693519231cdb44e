"""Train the small language models whose loss curves lie in examples/curves, and write the curves again.

    pip install torch==2.13.0 sympy==1.14.0
    python examples/train_language_models.py --out examples/curves

The text is the Python source of sympy, as it is installed: bytes are the tokens, every twentieth file is held out.
The models are decoder-only transformers (pre-norm, learned positions, tied embedding) trained with AdamW in one
process on one CPU thread. All runs of one size share the first weights and the order of the batches; the runs that
begin with a constant rate share that part of the training too, so that they differ by their decay alone.

A run that was interrupted goes on from its last checkpoint. torch is needed for nothing else in this project.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sympy
import torch
from torch import nn
from torch.nn import functional

STEPS, WARMUP, PEAK, FINAL = 8_000, 200, 3e-3, 0.1
"""Steps of every run, of the linear warmup that is part of them, the peak rate, the last rate over the peak."""
BATCH, CONTEXT = 16, 64
RECORD_EVERY = 50
HELD_OUT_EVERY = 20
HELD_OUT_WINDOWS = 512
SEED = 2025


@dataclass(frozen=True)
class Size:
    """A model: its width, its number of blocks, and its number of heads."""

    width: int
    blocks: int
    heads: int


SIZES = {"small": Size(40, 2, 2), "large": Size(96, 2, 4)}
SCHEDULES = ("constant", "wsd", "8-1-1", "cosine")


def rate(schedule: str, step: int) -> float:
    """The learning rate of step 1, 2, ..., STEPS."""
    if step <= WARMUP:
        return PEAK * step / WARMUP
    done = (step - WARMUP) / (STEPS - WARMUP)
    if schedule == "cosine":
        return PEAK * (FINAL + (1 - FINAL) * 0.5 * (1 + math.cos(math.pi * done)))
    part = step / STEPS
    if schedule == "wsd" and part > 0.8:
        return PEAK * FINAL ** ((part - 0.8) / 0.2)
    if schedule == "8-1-1" and part > 0.8:
        return PEAK * (10**-0.5 if part <= 0.9 else 0.1)
    return PEAK


class Block(nn.Module):
    """Attention and a two-layer perceptron, each behind a layer norm."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.before, self.behind = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.mix, self.out = nn.Linear(size.width, 3 * size.width), nn.Linear(size.width, size.width)
        self.wide, self.narrow = nn.Linear(size.width, 4 * size.width), nn.Linear(4 * size.width, size.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, time, width) -> the same."""
        batch, time, width = x.shape
        parts = self.mix(self.before(x)).view(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, time, width))
        return x + self.narrow(functional.gelu(self.wide(self.behind(x))))


class LanguageModel(nn.Module):
    """Bytes to the logits of the next byte."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(256, size.width), nn.Embedding(CONTEXT, size.width)
        self.blocks = nn.Sequential(*(Block(size) for _ in range(size.blocks)))
        self.last = nn.LayerNorm(size.width)
        self.apply(self._initialise)
        for block in self.blocks:
            for layer in (block.out, block.narrow):
                nn.init.normal_(layer.weight, std=0.02 / math.sqrt(2 * size.blocks))

    @staticmethod
    def _initialise(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """(batch, CONTEXT) -> (batch, CONTEXT, 256)."""
        x = self.blocks(self.token(tokens) + self.place.weight[: tokens.shape[1]])
        return functional.linear(self.last(x), self.token.weight)


def text() -> tuple[torch.Tensor, torch.Tensor, dict[str, object]]:
    """Bytes to train on, bytes held out, and where they are from."""
    home = Path(sympy.__file__).parent
    paths = sorted(home.rglob("*.py"), key=lambda path: path.relative_to(home).as_posix())
    parts: dict[bool, list[bytes]] = {False: [], True: []}
    for index, path in enumerate(paths):
        parts[index % HELD_OUT_EVERY == 0].append(path.read_bytes())
    training, held_out = (b"\n".join(parts[key]) for key in (False, True))
    origin = {
        "text": f"the Python files of sympy {sympy.__version__}, in the order of their paths",
        "held_out": f"every {HELD_OUT_EVERY}th file, the first included",
        "training_bytes": len(training),
        "training_sha256": hashlib.sha256(training).hexdigest(),
        "held_out_bytes": len(held_out),
        "held_out_sha256": hashlib.sha256(held_out).hexdigest(),
    }
    return _tensor(training), _tensor(held_out), origin


def _tensor(content: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8).long()


def windows(content: torch.Tensor, starts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and next bytes of the windows that begin at ``starts``."""
    index = starts[:, None] + torch.arange(CONTEXT + 1)
    chosen = content[index]
    return chosen[:, :-1], chosen[:, 1:]


def loss_of(model: LanguageModel, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Mean cross entropy in nats a byte."""
    return functional.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())


class Run:
    """One training run: its model, optimiser, place in the batches and its curve so far."""

    def __init__(self, name: str, content: tuple[torch.Tensor, torch.Tensor], place: Path) -> None:
        self.name, self.checkpoint = name, place / f"{name}.pt"
        self.content = content
        torch.manual_seed(SEED)
        self.model = LanguageModel(SIZES[name.split("_")[0]])
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=PEAK, betas=(0.9, 0.95), weight_decay=0.1)
        self.batches = torch.Generator().manual_seed(SEED + 1)
        places = torch.Generator().manual_seed(SEED + 2)
        starts = torch.randint(len(content[1]) - CONTEXT - 1, (HELD_OUT_WINDOWS,), generator=places)
        self.held_out = windows(content[1], starts)
        self.step, self.rows = 0, []

    def save(self, path: Path) -> None:
        """Write everything that the rest of the run needs, beside and then in place."""
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "batches": self.batches.get_state(),
            "step": self.step,
            "rows": self.rows,
        }
        torch.save(state, path.with_suffix(".part"))
        os.replace(path.with_suffix(".part"), path)

    def load(self, path: Path) -> None:
        """Go on from a file written by save."""
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.batches.set_state(state["batches"])
        self.step, self.rows = state["step"], state["rows"]

    def train(self, schedule: str, until: int) -> None:
        """Steps up to ``until``, with a checkpoint every 500."""
        while self.step < until:
            self.step += 1
            for group in self.optimiser.param_groups:
                group["lr"] = rate(schedule, self.step)
            starts = torch.randint(len(self.content[0]) - CONTEXT - 1, (BATCH,), generator=self.batches)
            loss = loss_of(self.model, windows(self.content[0], starts))
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimiser.step()
            if self.step % RECORD_EVERY == 0:
                with torch.no_grad():
                    self.rows.append((self.step, rate(schedule, self.step), loss_of(self.model, self.held_out).item()))
            if self.step % 500 == 0:
                self.save(self.checkpoint)
                print(f"{self.name}: step {self.step}, loss {self.rows[-1][2]:.4f}", flush=True)


def write_curve(path: Path, rows: Sequence[tuple[Any, ...]]) -> None:
    """The curve as CSV: step, lr, loss, and the batch size where the rows have it."""
    with path.with_suffix(".part").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("step", "lr", "loss", "batch_size")[: len(rows[0])])
        writer.writerows((step, f"{lr:.6g}", f"{loss:.6f}", *batch_size) for step, lr, loss, *batch_size in rows)
    os.replace(path.with_suffix(".part"), path)


def main() -> None:
    """All schedules at the sizes asked for."""
    parser = argparse.ArgumentParser(description="Train small language models and write their loss curves.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "curves", help="folder of the curves")
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"), help="folder of the checkpoints")
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES), help="which models (default: all)")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for folder in (chosen.out, chosen.checkpoints):
        folder.mkdir(parents=True, exist_ok=True)
    *content, origin = text()
    counts = {}
    for size in chosen.sizes:
        trunk = chosen.checkpoints / f"{size}_stable.pt"
        for schedule in SCHEDULES:
            run = Run(f"{size}_{schedule}", (content[0], content[1]), chosen.checkpoints)
            counts[size] = sum(parameter.numel() for parameter in run.model.parameters())
            if run.checkpoint.is_file():
                run.load(run.checkpoint)
            elif schedule in ("wsd", "8-1-1"):
                run.load(trunk)
            run.train(schedule, STEPS * 4 // 5)
            if schedule == "constant" and not trunk.is_file():
                run.save(trunk)
            run.train(schedule, STEPS)
            write_curve(chosen.out / f"{size}_{schedule}.csv", run.rows)
    provenance = origin | {
        "torch": torch.__version__,
        "sizes": {name: asdict(size) | {"parameters": counts.get(name)} for name, size in SIZES.items()},
        "steps": STEPS, "warmup": WARMUP, "peak": PEAK, "final_over_peak": FINAL, "batch": BATCH, "context": CONTEXT,
        "record_every": RECORD_EVERY, "held_out_windows": HELD_OUT_WINDOWS, "seed": SEED,
        "optimiser": "AdamW, betas 0.9 and 0.95, weight decay 0.1, gradients clipped to norm 1",
        "loss": "nats a byte on the held-out windows",
    }  # fmt: skip
    part = chosen.out / "provenance.part"
    part.write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")
    os.replace(part, chosen.out / "provenance.json")


if __name__ == "__main__":
    main()
