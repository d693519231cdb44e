"""One run as many kinds of logs write it, each in the exact shape of its source: names, separators, sparse rows, units.

``TRUTH`` is the run. Every entry of ``SHAPES`` writes it into a folder and returns what a user would type (a path, or
several) and what else must be said, together with the rows by which the loss must come out.
"""

import csv
import io
import json
from dataclasses import dataclass, field, replace

import numpy as np

PEAK, LAST, WARMUP = 6e-4, 2000, 100
BATCH = 32_768  # tokens of an update


def rate(step):
    """The rate of the next update: a linear warmup, then a half cosine to a tenth."""
    step = np.asarray(step, dtype=float)
    phase = np.clip((step - WARMUP) / (LAST - WARMUP), 0, 1)
    return PEAK * np.where(step < WARMUP, step / WARMUP, 0.55 + 0.45 * np.cos(np.pi * phase))


def train_loss(step):
    return 2.7 + 8 * (np.asarray(step, dtype=float) + 10) ** -0.45


def validation_loss(step):
    return train_loss(step) + 0.02


TRAIN = np.arange(20, LAST + 1, 20)
VALIDATION = np.arange(100, LAST + 1, 100)


@dataclass(frozen=True)
class Shape:
    paths: list
    steps: np.ndarray = field(default_factory=lambda: VALIDATION)
    loss: object = validation_loss
    options: dict = field(default_factory=dict)
    scale: float = 1.0  # of the rates
    digits: float = 1e-6  # to which the file gives rates and losses
    batch: float | None = None


def text(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def table(path, rows, names, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text(path, out.getvalue())


def merged(step, train, validation, rates, **columns):
    """Records of training and of evaluation, sparse, in the order of the steps."""
    records = []
    for k in TRAIN:
        own = {name: value(k) for name, value in columns.items()}
        records.append({step: int(k), train: float(train_loss(k)), rates: float(rate(k)), **own})
        if validation and k in VALIDATION:
            records.append({step: int(k), validation: float(validation_loss(k))})
    return records


def columns_of(records):
    return list(dict.fromkeys(key for record in records for key in record))


def tokens(k):
    return int(k) * BATCH


def trainer_state(folder, evaluations=VALIDATION):
    log = [
        {"epoch": k / 1000, "grad_norm": 0.5, "learning_rate": float(rate(k)), "loss": float(train_loss(k)),
         "step": int(k)}
        for k in TRAIN
    ]  # fmt: skip
    for k in evaluations:
        log.append({"epoch": k / 1000, "eval_loss": float(validation_loss(k)), "eval_runtime": 3.2, "step": int(k)})
    log.sort(key=lambda record: record["step"])
    log.append({"epoch": 2.0, "step": LAST, "total_flos": 1e15, "train_loss": 3.3, "train_runtime": 900.0})
    state = {"best_metric": None, "global_step": LAST, "max_steps": LAST, "train_batch_size": 8, "log_history": log}
    return Shape([text(folder / "trainer_state.json", json.dumps(state, indent=2))])


def trainer_state_without_evaluation(folder):
    """Each loss is a mean since the record before, and the last record sums up the run."""
    return replace(trainer_state(folder, evaluations=[]), steps=TRAIN, loss=train_loss)


def wandb_chart(folder):
    def chart(name, metric, values, steps):
        rows = [{"Step": k, f"base - {metric}": v, f"base - {metric}__MIN": v, f"base - {metric}__MAX": v}
                for k, v in zip(steps.tolist(), values.tolist(), strict=True)]  # fmt: skip
        return table(folder / f"{name}.csv", rows, list(rows[0]), quoting=csv.QUOTE_ALL)

    return Shape(
        [chart("loss", "train/loss", train_loss(TRAIN), TRAIN), chart("rates", "lr", rate(TRAIN), TRAIN)],
        TRAIN,
        train_loss,
    )


def wandb_history(folder):
    records = merged("train/global_step", "train/loss", "eval/loss", "train/learning_rate")
    records = [
        {"_step": at, "_runtime": at * 1.5, "_timestamp": 1.7e9 + at, **record} for at, record in enumerate(records)
    ]
    return Shape([table(folder / "history.csv", records, columns_of(records))])


def wandb_parquet(folder):
    import pandas

    records = merged("_step", "train/loss", "val/loss", "lr")
    path = folder / "history.parquet"
    pandas.DataFrame(records).to_parquet(path)
    return Shape([path])


def tensorboard_csv(folder):
    def tag(name, values, steps):
        rows = [{"Wall time": 1.7e9 + k, "Step": int(k), "Value": float(v)} for k, v in zip(steps, values, strict=True)]
        return table(folder / f"run-base-tag-{name}.csv", rows, ["Wall time", "Step", "Value"])

    return Shape([tag("val_loss", validation_loss(VALIDATION), VALIDATION), tag("lr", rate(TRAIN), TRAIN)])


def tensorboard_json(folder):
    def tag(name, values, steps):
        points = [[1.7e9 + int(k), int(k), float(v)] for k, v in zip(steps, values, strict=True)]
        return text(folder / f"{name}.json", json.dumps(points))

    return Shape([tag("train_loss", train_loss(TRAIN), TRAIN), tag("learning_rate", rate(TRAIN), TRAIN)],
                 TRAIN, train_loss)  # fmt: skip


def lightning(folder):
    rows = []
    for k in TRAIN:
        rows.append({"epoch": 0, "step": int(k), "train_loss_step": float(train_loss(k))})
        rows.append({"epoch": "", "step": int(k), "lr-AdamW/pg1": rate(k), "lr-AdamW/pg2": rate(k)})
        if k in VALIDATION:
            rows.append({"epoch": 0, "step": int(k), "val_loss": float(validation_loss(k))})
    rows.append({"epoch": 0, "step": LAST, "train_loss_epoch": 3.3})
    return Shape([table(folder / "metrics.csv", rows, columns_of(rows))])


def mlflow_folder(folder):
    for name, values, steps in (("train/loss", train_loss(TRAIN), TRAIN), ("lr", rate(TRAIN), TRAIN)):
        lines = [f"{1_700_000_000_000 + int(k)} {float(v)!r} {int(k)}\n" for k, v in zip(steps, values, strict=True)]
        text(folder / "mlruns" / "0" / "8a1f" / "metrics" / name, "".join(lines))
    text(folder / "mlruns" / "0" / "8a1f" / "params" / "lr", "0.0006")
    text(folder / "mlruns" / "0" / "8a1f" / "meta.yaml", "artifact_uri: x\nstatus: 3\n")
    return Shape([folder / "mlruns" / "0" / "8a1f" / "metrics"], TRAIN, train_loss)


def mlflow_rest(folder):
    rows = [{"key": key, "value": float(value(k)), "timestamp": 1_700_000_000_000 + int(k), "step": int(k)}
            for key, value in (("val_loss", validation_loss), ("lr", rate)) for k in VALIDATION]  # fmt: skip
    return Shape([table(folder / "metrics.csv", rows, ["key", "value", "timestamp", "step"])], digits=1e-2)


def dvclive(folder):
    def metric(name, value):
        rows = [{"timestamp": 1_700_000_000_000 + int(k), "step": int(k), name: float(value(k))} for k in TRAIN]
        return table(folder / "plots" / "metrics" / "train" / f"{name}.tsv", rows, list(rows[0]), delimiter="\t")

    metric("lr", rate), metric("loss", train_loss)
    return Shape([folder / "plots" / "metrics"], TRAIN, train_loss)


def megatron_log(folder):
    lines = ["using world size: 8, data-parallel size: 8\n", "> building train, validation, and test datasets ...\n"]
    for k in TRAIN:
        lines.append(
            f" [2024-05-01 12:00:00] iteration {k:8d}/{LAST:8d} | consumed samples: {k * 256:12d} | elapsed time per"
            f" iteration (ms): 1234.5 | learning rate: {rate(k):.6E} | global batch size:   256 | lm loss:"
            f" {train_loss(k):.6E} | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   0 | number of"
            " nan iterations:   0 |\n"
        )
        if k in VALIDATION:
            v = validation_loss(k)
            lines.append(
                f" validation loss at iteration {k} | lm loss value: {v:.6E} | lm loss PPL: {np.exp(v):.6E} |\n"
            )
    return Shape([text(folder / "megatron.log", "".join(lines))], batch=256)


def megatron_table(folder):
    rows = [{"step": int(k), "learning-rate": float(rate(k)), "lm loss": float(train_loss(k)), "batch-size": 256}
            for k in TRAIN]  # fmt: skip
    return Shape([table(folder / "run.csv", rows, list(rows[0]))], TRAIN, train_loss, batch=256)


def olmo_core(folder):
    records = merged("_step", "train/CE loss", "eval/lm/c4_en/CE loss", "optim/LR (group 0)",
                     **{"throughput/total tokens": tokens, "train/global batch size": lambda k: BATCH})  # fmt: skip
    return Shape([table(folder / "olmo.csv", records, columns_of(records))], batch=BATCH)


def olmo_ladder(folder):
    rows = [
        {"_step": int(k), "optim/learning_rate_group0": float(rate(k)), "throughput/total_tokens": tokens(k),
         "batch_size_in_tokens": BATCH, "eval/c4_en-validation/CrossEntropyLoss": float(validation_loss(k))}
        for k in VALIDATION
    ]  # fmt: skip
    return Shape([table(folder / "ladder.csv", rows, list(rows[0]))], batch=BATCH, digits=1e-2)


def torchtitan(folder):
    records = merged("step", "loss_metrics/global_avg_loss", "validation_metrics/loss", "lr",
                     **{"loss_metrics/global_max_loss": lambda k: 9.0, "grad_norm": lambda k: 0.3})  # fmt: skip
    return Shape([table(folder / "titan.csv", records, columns_of(records))])


def nanogpt(folder):
    records = [
        {"iter": int(k), "train/loss": float(train_loss(k)), "val/loss": float(validation_loss(k)),
         "lr": float(rate(k)), "mfu": 30.1}
        for k in VALIDATION
    ]  # fmt: skip
    return Shape([table(folder / "nanogpt.csv", records, columns_of(records))], digits=1e-2)


def nanogpt_log(folder):
    lines = ["number of parameters: 123.59M\n", "using fused AdamW: True\n"]
    for k in TRAIN:
        lines.append(f"iter {k}: loss {train_loss(k):.4f}, time 342.10ms, mfu 33.53%\n")
        if k in VALIDATION:
            lines.append(f"step {k}: train loss {train_loss(k):.4f}, val loss {validation_loss(k):.4f}\n")
    return Shape([text(folder / "out.log", "".join(lines))], options={"schedule": rate(np.arange(LAST))}, digits=1e-4)


def nanochat(folder):
    per_byte = 0.3 / np.log(2)  # bits a byte for a nat a token, at some three bytes a token
    records = [
        {"step": int(k), "train/loss": float(train_loss(k)), "val/bpb": float(validation_loss(k) * per_byte),
         "train/lrm": float(rate(k) / PEAK)}
        for k in VALIDATION
    ]  # fmt: skip
    path = text(folder / "nanochat.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    return Shape([path], loss=lambda k: validation_loss(k) * 0.3, scale=1 / PEAK, digits=1e-2)


def tqdm_bar(folder):
    shown = [
        f"{k * 100 // LAST}%|## | {k}/{LAST} [01:12<03:00, 9.1it/s, loss={train_loss(k):.5f}, lr={rate(k):.5e}]"
        for k in TRAIN
    ]
    drawn = "\r".join(bar for bar in shown for _ in range(2))  # drawn anew while it stands still
    return Shape([text(folder / "run.log", f"Loading\n{drawn}\n")], steps=TRAIN, loss=train_loss, digits=1e-5)


def modded_nanogpt(folder):
    lines = ["import os\n", "with open(sys.argv[0]) as f:\n", "====\n", "Running Python 3.12\n"]
    for k in VALIDATION:
        lines.append(f"step:{k}/{LAST} val_loss:{validation_loss(k):.4f} train_time:{k * 90}ms step_avg:90.12ms\n")
    return Shape([text(folder / "a1b2.txt", "".join(lines))], options={"schedule": rate(np.arange(LAST))}, digits=1e-4)


def litgpt(folder):
    records = []
    for k in TRAIN:
        held_out = {"val_loss": float(validation_loss(k))} if k in VALIDATION else {}
        records.append({"epoch": 0, "iter": int(k) * 4, "step": int(k), "loss": float(train_loss(k)), **held_out,
                        "learning_rate": float(rate(k)), "total_tokens": tokens(k)})  # fmt: skip
    return Shape([table(folder / "metrics.csv", records, columns_of(records))], batch=BATCH)


def nanotron(folder):
    lines = ["05/05/2024 10:00:00 [INFO|DP=0]: Start training\n"]
    for k in TRAIN:
        lines.append(
            f"05/05/2024 10:00:00 [INFO|DP=0|PP=0|TP=0]: iteration: {k} / {LAST} |"
            f" consumed_tokens: {tokens(k) / 1e6:.4g}M | elapsed_time_per_iteration_ms: 1.2K | tokens_per_sec: 27.3K |"
            f" global_batch_size: 32.8K | lm_loss: {train_loss(k):.5g} | lr: {rate(k):.5g} | grad_norm: 0.4\n"
        )
    return Shape([text(folder / "nanotron.log", "".join(lines))], TRAIN, train_loss, digits=1e-4, batch=32_800)


def composer(folder):
    records = merged("time/batch", "loss/train/total", "metrics/eval/LanguageCrossEntropy", "lr-DecoupledAdamW/group0",
                     **{"time/token": tokens})  # fmt: skip
    return Shape([table(folder / "composer.csv", records, columns_of(records))], batch=BATCH)


def maxtext(folder):
    records = merged("step", "learning/loss", "", "learning/current_learning_rate",
                     **{"learning/grad_norm": lambda k: 0.3, "perf/step_time_seconds": lambda k: 1.2})  # fmt: skip
    path = text(folder / "metrics.txt", "".join(json.dumps(record) + "\n" for record in records))
    return Shape([path], TRAIN, train_loss)


def levanter(folder):
    records = merged("global_step", "train/loss", "eval/loss", "optim/learning_rate",
                     **{"throughput/total_tokens": tokens})  # fmt: skip
    return Shape([table(folder / "levanter.csv", records, columns_of(records))], batch=BATCH)


def fairseq(folder):
    lines = ["2024-05-01 12:00:00 | INFO | fairseq_cli.train | {'_name': None}\n"]
    for k in TRAIN:
        record = {"epoch": 1, "train_loss": f"{train_loss(k) / np.log(2):.6f}", "train_num_updates": str(int(k)),
                  "train_lr": f"{rate(k):.9g}", "train_ppl": "12.1"}  # fmt: skip
        record["train_ppl"] = f"{np.exp(train_loss(k)):.6g}"
        lines.append(f"2024-05-01 12:00:00 | INFO | train | {json.dumps(record)}\n")
        if k in VALIDATION:
            held_out = {
                "epoch": 1,
                "valid_loss": f"{validation_loss(k) / np.log(2):.6f}",
                "valid_num_updates": str(int(k)),
            }
            lines.append(f"2024-05-01 12:00:00 | INFO | valid | {json.dumps(held_out)}\n")
    return Shape([text(folder / "fairseq.log", "".join(lines))])


def algoperf(folder):
    records = [{"global_step": int(k), "train/loss": float(train_loss(k)), "validation/loss": float(validation_loss(k)),
                "test/loss": float(validation_loss(k)) + 0.1, "score": 30.0} for k in VALIDATION]  # fmt: skip
    return Shape([table(folder / "measurements.csv", records, columns_of(records))],
                 options={"schedule": rate(np.arange(LAST)), "columns": {"loss": "validation/loss"}})  # fmt: skip


def research_json(folder):
    history = {
        "train": {"iter": TRAIN.tolist(), "train_loss": train_loss(TRAIN).tolist(), "train_lr": rate(TRAIN).tolist()},
        "val": {"iter": VALIDATION.tolist(), "val_loss": validation_loss(VALIDATION).tolist()},
    }
    content = {"config": {"lr": 6e-4, "layers": 12, "betas": [0.9, 0.95]}, "history": history}
    return Shape([text(folder / "summary.json", json.dumps(content))])


def wandb_sweep(folder):
    rows = [
        {"run_name": run, "_step": int(k), "lr": float(rate(k)), "val/loss": float(validation_loss(k)) + shift}
        for run, shift in (("base", 0.0), ("other", 0.5))
        for k in VALIDATION
    ]
    return Shape([table(folder / "sweep.csv", rows, list(rows[0]))], digits=1e-2)


SHAPES = {
    shape.__name__: shape
    for shape in (
        trainer_state, trainer_state_without_evaluation, wandb_chart, wandb_history, wandb_parquet, tensorboard_csv,
        tensorboard_json, lightning, mlflow_folder, mlflow_rest, dvclive, megatron_log, megatron_table, olmo_core,
        olmo_ladder, torchtitan, nanogpt, nanogpt_log, nanochat,
        modded_nanogpt, litgpt, nanotron, composer, maxtext, levanter, fairseq, algoperf,
        research_json, tqdm_bar, wandb_sweep,
    )
}  # fmt: skip
