"""Train three kinds of small networks under many schedules and write the loss curves of examples/networks again.

    pip install torch==2.15.0 sympy==1.14.0 numpy
    python examples/train_networks.py --out examples/networks
    python examples/train_networks.py --out examples/batches --batches

A perceptron on a regression (SGD with momentum, at the edge of stability), convolutions on waves in ten directions
(Adam), and a transformer on bytes (AdamW). They are as unlike each other, and unlike large language models, as a core
trains in half an hour: predictions and their intervals are tried on them. Every kind is trained for two lengths, and at
other peak rates; the runs of one kind share the first weights and the order of the batches. With ``--batches`` the
batches are a quarter of the usual ones, or four times as large, from the first update on or from the middle of the run.

A curve that is there already is not trained again. torch is needed for nothing else in this project.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from train_language_models import CONTEXT, LanguageModel, Size, loss_of, text, windows, write_curve

WARMUP, ROWS, HELD_OUT = 200, 160, 4096
FIRST_WEIGHTS, ORDER, HELD_OUT_DRAWS, TEACHER = 0, 1, 99, 5
"""Seeds."""

Batch = tuple[torch.Tensor, torch.Tensor]
Row = tuple[int, float, float] | tuple[int, float, float, int]


class Kind(NamedTuple):
    """A network and its task: what gives batches, the held-out one, the mean loss of one, and how it is trained.

    ``batch``: draws so many samples. ``usual``: how many a batch has. ``clip``: the norm to which gradients are cut.
    """

    network: nn.Module
    batch: Callable[[int, torch.Generator], Batch]
    usual: int
    held_out: Batch
    loss: Callable[[nn.Module, Batch], torch.Tensor]
    optimiser: Callable[..., torch.optim.Optimizer]
    clip: float = math.inf


def shape(schedule: str, steps: int) -> np.ndarray:
    """The learning rates of all steps over the peak."""
    k = np.arange(steps)
    done = np.clip((k - WARMUP) / (steps - WARMUP), 0.0, 1.0)
    third = (3.0 * done) % 1.0
    values = {
        "constant": np.ones(steps),
        "cosine": 0.5 + 0.5 * np.cos(np.pi * done),
        "cosine-to-tenth": 0.55 + 0.45 * np.cos(np.pi * done),
        "linear": 1.0 - done,
        "wsd": np.minimum(1.0, (1.0 - done) / 0.2),
        "wsd-sqrt": 1.0 - np.sqrt(np.clip((done - 0.8) / 0.2, 0.0, 1.0)),
        "8-1-1": np.where(done < 0.8, 1.0, np.where(done < 0.9, 0.316, 0.1)),
        "drop": np.where(done < 1 / 3, 1.0, 0.3),
        "cyclic": 0.1 + 0.9 * np.abs(1.0 - 2.0 * third),
        "restarts": 0.51 + 0.49 * np.cos(np.pi * third),
        "rise": np.where(done < 0.5, 0.3, 1.0),
    }[schedule]
    return values * np.minimum(1.0, (k + 1) / WARMUP)


SCHEDULES = (
    "constant", "cosine", "wsd", "linear", "wsd-sqrt", "cosine-to-tenth", "8-1-1", "drop", "cyclic", "restarts", "rise",
)  # fmt: skip


def runs(short: int, long: int) -> Iterator[tuple[str, int, float]]:
    """Schedule, steps and peak over the usual one of every run of a kind."""
    yield from ((schedule, short, 1.0) for schedule in SCHEDULES)
    yield from ((schedule, short, 1 / 3) for schedule in ("constant", "cosine", "wsd"))
    yield "cosine", short, 2.0
    yield from ((schedule, long, 1.0) for schedule in ("constant", "cosine", "wsd"))


def perceptron() -> Kind:
    """Two hidden layers learn a sum of four hundred ridges from noisy values: 48 inputs of falling variance."""
    fixed = torch.Generator().manual_seed(TEACHER)
    ridges = torch.arange(1.0, 401.0)
    directions = torch.randn(48, 400, generator=fixed) * ridges**-0.1
    heights = torch.randn(400, generator=fixed) * ridges**-0.8
    spread = torch.arange(1.0, 49.0) ** -0.6

    def draw(count: int, stream: torch.Generator) -> Batch:
        x = torch.randn(count, 48, generator=stream) * spread
        return x, torch.tanh(x @ directions) @ heights + 0.3 * torch.randn(count, generator=stream)

    layers = (nn.Linear(48, 192), nn.ReLU(), nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, 1), nn.Flatten(0))
    return Kind(
        nn.Sequential(*layers), draw, 32,
        draw(2 * HELD_OUT, torch.Generator().manual_seed(HELD_OUT_DRAWS)),
        lambda network, batch: functional.mse_loss(network(batch[0]), batch[1]),
        lambda weights: torch.optim.SGD(weights, lr=1.0, momentum=0.9),
    )  # fmt: skip


def convolutions() -> Kind:
    """Two layers of convolutions tell ten directions of waves apart: 12 by 12 pixels with noise."""
    pixels = torch.linspace(-1.0, 1.0, 12)
    across, along = torch.meshgrid(pixels, pixels, indexing="ij")

    def draw(count: int, stream: torch.Generator) -> Batch:
        label = torch.randint(0, 10, (count,), generator=stream)
        turned, wide, moved = torch.rand(count, 3, generator=stream).T[:, :, None, None]
        angle = label[:, None, None] * math.pi / 10 + 0.5 * (turned - 0.5)
        wave = torch.sin((3 + 4 * wide) * (across * angle.cos() + along * angle.sin()) + 2 * math.pi * moved)
        return (wave + 1.5 * torch.randn(count, 12, 12, generator=stream))[:, None], label

    layers = (
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(288, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip
    return Kind(
        nn.Sequential(*layers), draw, 32,
        draw(HELD_OUT, torch.Generator().manual_seed(HELD_OUT_DRAWS)),
        lambda network, batch: functional.cross_entropy(network(batch[0]), batch[1]),
        lambda weights: torch.optim.Adam(weights, lr=1.0),
    )  # fmt: skip


def transformer() -> Kind:
    """The language model of the other example, 64 wide, on the same text."""
    training, held_out, _ = text()
    places = torch.randint(len(held_out) - CONTEXT - 1, (128,), generator=torch.Generator().manual_seed(HELD_OUT_DRAWS))

    def draw(count: int, stream: torch.Generator) -> Batch:
        return windows(training, torch.randint(len(training) - CONTEXT - 1, (count,), generator=stream))

    return Kind(
        LanguageModel(Size(64, 2, 4)), draw, 8, windows(held_out, places), loss_of,
        lambda weights: torch.optim.AdamW(weights, lr=1.0, betas=(0.9, 0.95), weight_decay=0.1), clip=1.0,
    )  # fmt: skip


KINDS = {
    "perceptron": (perceptron, 0.03, (8_000, 24_000)),
    "convolutions": (convolutions, 0.002, (4_000, 10_000)),
    "transformer": (transformer, 0.004, (3_000, 8_000)),
}
"""What makes the network and its task, the usual peak rate, and the two lengths."""


BATCHES = {"quarter": (0.25, 0.25), "fourfold": (4.0, 4.0), "later-fourfold": (1.0, 4.0), "later-quarter": (1.0, 0.25)}
"""Batch sizes over the usual one, in the first half of a run and in the second."""


def batch_runs() -> Iterator[tuple[str, str]]:
    """Schedule and batches of every run of a kind; all have the usual peak and the shorter length."""
    yield from (
        (schedule, batches) for batches in ("quarter", "fourfold") for schedule in ("constant", "cosine", "wsd")
    )
    yield from (("constant", "later-fourfold"), ("constant", "later-quarter"), ("wsd", "later-fourfold"))


def train(make: Callable[[], Kind], rates: np.ndarray, batches: tuple[float, float] | None = None) -> list[Row]:
    """(step, learning rate, held-out loss) after every hundred-and-sixtieth part of the steps; where ``batches`` says
    those of the two halves over the usual one, the batch size besides.
    """
    torch.manual_seed(FIRST_WEIGHTS)
    kind = make()
    optimiser = kind.optimiser(kind.network.parameters())
    stream = torch.Generator().manual_seed(ORDER)
    rows: list[Row] = []
    for step, rate in enumerate(rates.tolist(), 1):
        factor = 1.0 if batches is None else batches[2 * step > len(rates)]
        samples = round(factor * kind.usual)
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss = kind.loss(kind.network, kind.batch(samples, stream))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(kind.network.parameters(), kind.clip)
        optimiser.step()
        if step % (len(rates) // ROWS) == 0:
            with torch.no_grad():
                loss = kind.loss(kind.network, kind.held_out).item()
                rows.append((step, rate, loss) if batches is None else (step, rate, loss, samples))
    return rows


def main() -> None:
    """All runs of the kinds asked for."""
    parser = argparse.ArgumentParser(description="Train small networks and write their loss curves.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "networks", help="folder of the curves")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS), help="which networks (default: all)")
    parser.add_argument(
        "--batches", action="store_true", help="the runs with other batch sizes, in place of the others"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.kinds:
        make, peak, (short, long) = KINDS[name]
        if chosen.batches:
            asked = [(f"{name}_{batches}", name, short, 1.0, BATCHES[batches]) for name, batches in batch_runs()]
        else:
            asked = [
                (f"{name}_{steps}_{factor:.2g}", name, steps, factor, None) for name, steps, factor in runs(short, long)
            ]
        for run, schedule, steps, factor, sizes in asked:
            path = chosen.out / f"{name}_{run}.csv"
            if not path.is_file():
                write_curve(path, train(make, factor * peak * shape(schedule, steps), sizes))
                print(path.name, flush=True)


if __name__ == "__main__":
    main()
