"""The files that command lines made up at random name: logs, fits, schedules, and damaged ones."""

import gzip
import json

_LOG = "step,lr,loss\n" + "".join(f"{10 * k},0.001,{2 + 3 * k**-0.3!r}\n" for k in range(1, 100))
_SIZES = "model_size,batch_size,steps,loss\n" + "".join(
    f"{m:g},{b},{k},{1.7 + 400 * m**-0.34 + 400 * (b * k) ** -0.28!r}\n"
    for m in (1e6, 1e7, 1e8)
    for b in (64, 256)
    for k in (1000, 4000, 16000)
)
_TOKENS = "step,lr,loss\n" + "".join(f"{52428800 * k},0.001,{2 + 3 * k**-0.3!r}\n" for k in range(1, 100))


def _fit():
    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.fit import fit

    steps = range(10, 1000, 10)
    losses = [2 + 3 * (k / 10) ** -0.3 for k in steps]
    return fit(LossCurve(steps, losses, lr=[0.001] * len(losses)), "momentum", starts=1).to_json()


_made = {}


def write_files(folder):
    """The files that commands name, as they were before any command changed them."""
    if not _made:
        saved = _fit()
        damaged = json.loads(saved)
        damaged["parameters"] = {name: "x" for name in damaged["parameters"]}
        _made.update(
            {
                "run.csv": _LOG,
                "_run.csv": _LOG,
                "$run$.csv": _LOG,
                "tokens.csv": _TOKENS,
                "empty.csv": "",
                "gz.csv.gz": gzip.compress(_LOG.encode()),
                "bomb.gz": gzip.compress(b"step,lr,loss\n" + b"0" * 2**26),
                "huge_cell.csv": "step,lr,loss\n1,0.1," + "9" * 200_000 + "\n",
                "nested.json": "[" * 100_000,
                "records.jsonl": "".join(
                    json.dumps({"step": k, "lr": 0.1, "loss": 2 + 1 / k}) + "\n" for k in range(1, 50)
                ),
                "binary.bin": bytes(range(256)),
                "nan.csv": "step,lr,loss\n1,0.1,nan\n2,0.1,inf\n",
                "underscore.csv": "step,lr,loss\n1_0,0.1,2.0\n20,0.1,1.9\n",
                "one.csv": "step,lr,loss\n5,0.1,2.0\n",
                "dup.csv": "step,lr,loss\n5,0.1,2.0\n5,0.1,2.0\n",
                "fit.json": saved,
                "fit_bad.json": json.dumps(damaged),
                "fit_nan.json": saved.replace('"reach": ', '"reach": 1e999, "x": '),
                "rates.txt": "0.1\n0.2\n0.1\n",
                "times.txt": "0.1\n0.2\n",
                "bad_rates.txt": "0.1\n1e400\n",
                "long.json": '[{"step": ' + "9" * 5000 + "}]",
                "reverse.csv": "step,lr,loss\n9,0.1,2.0\n5,0.1,2.0\n",
                "sizes.csv": _SIZES,
                "bad.npz": b"PK\x03\x04 nothing",
            }
        )
    for name, content in _made.items():
        place = folder / name
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        if not place.is_file() or place.stat().st_size != len(data):
            place.write_bytes(data)
    (folder / "new.npz").unlink(missing_ok=True)
