"""Command lines at random: options that belong together, with values from the ordinary to the absurd."""

from fsl_num import schedules

NUMBERS = ["1/2", "1", "2", "3/2", "0.3", "4", "1e-3", "0.1", "10"]
ODD_NUMBERS = [
    "0",
    "-1",
    "1e-320",
    "1e-30",
    "1e30",
    "1e300",
    "1e308",
    "1e400",
    "nan",
    "inf",
    "-0",
    "1/0",
    "1/3",
    "",
    " ",
    "1_0",
    "１",
    "0x10",
    "1e999",
    "9" * 40,
    "9" * 5000,
    "0." + "3" * 60,
    "1e-999",
    "1000",
    "120",
    "400",
    "__import__('os')",
    "$(id)",
    "1,5",
    "1e99",
]
COUNTS = ["1", "2", "3", "10", "16", "100", "1000"]
ODD_COUNTS = ["0", "-1", "1.5", "1e3", "10000000000", "99999999999999999", "999999999999999999999", "", "one", "１"]
SCHEDULES = [
    *schedules.SCHEDULES,
    "hf:warmup_stable_decay(num_warmup_steps=2, num_decay_steps=3)",
    "torch:CosineAnnealingLR(T_max=9)",
    "olmo:WSD(warmup=1)",
    "megatron:WSD(",
]
NAMES = ["", "-", "nope", "WSD", "wsd-like", "\x1b[31m", "a b", "$x$", "..", "/", "thm: wsd"]
FILES = [
    "run.csv",
    "gz.csv.gz",
    "bomb.gz",
    "tokens.csv",
    "huge_cell.csv",
    "nested.json",
    "records.jsonl",
    "empty.csv",
    "binary.bin",
    "_run.csv",
    "$run$.csv",
    "nan.csv",
    "underscore.csv",
    "one.csv",
    "dup.csv",
    "missing.csv",
    "/",
    "",
    ".",
    "fit.json",
    "fit_bad.json",
    "fit_nan.json",
    "rates.txt",
    "times.txt",
    "bad_rates.txt",
    "-",
    "long.json",
    "reverse.csv",
    "sizes.csv",
]
OUTPUTS = [
    "out.csv",
    "out.png",
    "out.svg",
    "out.json",
    "/dev/null",
    "run.csv",
    "./run.csv",
    "nowhere/x.png",
    ".",
    "",
    "-",
    "fit.json",
    "out.doc",
    "link.png",
    "n" * 300 + ".png",
    "a\x00b",
]
LOGS = ["run.csv", "_run.csv", "$run$.csv", "gz.csv.gz", "records.jsonl"]
PLAIN_OUTPUTS = {
    "--csv": ["out.csv", "/dev/null", "-"],
    "--out": ["schedule.csv", "out.py", "-"],
    "--report": ["out.json", "-"],
    "--html": ["out.html"],
    "--save": ["out.json", "-"],
    "--plot": ["out.png", "out.svg", "-"],
    "--checkpoint": ["new.npz"],
}
LAWS = ["momentum", "fsl", "fsl-simplified", "multi-power", "chinchilla", "auto", "none"]
COLUMNS = ["step=0,lr=1,loss=2", "step=0,lr=1", "step=" + "9" * 5000, "loss=loss", "lr=lr", "x", "=", "step=-1"]
CLAIMS = ["approximation-error", "thm: wsd", "ass:fsl", "lemma:ke-power"]


def pick(draw, fine, odd, times=1.0):
    """One of the fine values, or with the oddness of the case (``times`` more often) one of the odd ones."""
    return draw.choice(odd if draw.random() < times * draw.oddness else fine)


def number(draw, times=1.0):
    return pick(draw, NUMBERS, ODD_NUMBERS, times)


def count(draw, times=1.0):
    return pick(draw, COUNTS, ODD_COUNTS, times)


def log_file(draw):
    return pick(draw, LOGS, FILES, 2.0)


def maybe(draw, share, *words):
    return list(words) if draw.random() < share else []


def model(draw):
    size = pick(draw, ["1", "4", "16", "100", "inf"], ODD_COUNTS)
    words = {"--s": number(draw), "--beta": draw.choice(["2", "3/2", "4"]) if draw.random() < 0.8 else number(draw)}
    words |= {"--model-size": size, "--noise": number(draw)}
    return [word for name, value in words.items() if draw.random() > 0.1 * draw.oddness for word in (name, value)]


def schedule(draw, steps=None):
    name = pick(draw, SCHEDULES, NAMES)
    peak = pick(draw, ["0.1", "0.01", "0.3", "1/4"], ODD_NUMBERS)
    words = ["--schedule", name, "--peak-lr", peak, "--steps", steps or count(draw)]
    extra = {
        "wsd": ["--decay-fraction", "--final-lr"],
        "1-sqrt": ["--decay-fraction", "--final-lr"],
        "linear": ["--decay-fraction", "--final-lr"],
        "cosine": ["--decay-fraction", "--final-lr"],
        "power-decay": ["--power", "--decay-fraction", "--final-lr"],
        "inverse-sqrt": ["--timescale"],
        "exp-decay": ["--final-lr"],
    }.get(name, [])
    for option in [*extra, "--warmup", "--floor-lr", *maybe(draw, 0.05, "--power", "--cycles")]:
        if draw.random() < 0.25:
            words += [option, count(draw) if option in ("--warmup", "--cycles") else number(draw, 3.0)]
    if name == "cyclic":
        words += maybe(draw, 0.5, "--cycles", count(draw, 3.0))
    if name == "multi-step":
        words += maybe(draw, 0.3, "--milestones", number(draw), number(draw))
    return words


def outputs(draw, *options):
    return [
        word for option in options for word in maybe(draw, 0.12, option, pick(draw, PLAIN_OUTPUTS[option], OUTPUTS))
    ]


def schedule_file(draw):
    words = ["--schedule-file", pick(draw, ["rates.txt", "run.csv"], FILES)]
    return words + maybe(draw, 0.2, "--columns", draw.choice(COLUMNS))


def solve(draw):
    words = ["solve", *model(draw)]
    kind = draw.random()
    if kind < 0.4:
        words += ["--schedule", "constant", "--gamma", number(draw), "--time", number(draw)]
    elif kind < 0.85:
        words += schedule(draw)
    else:
        words += schedule_file(draw)
    words += maybe(draw, 0.1, "--times", pick(draw, ["times.txt"], FILES))
    words += maybe(draw, 0.1, "--closure", pick(draw, ["volterra", "gaussian"], NAMES))
    words += maybe(draw, 0.12, "--digits", pick(draw, ["15", "20", "30"], ["5", "100000", "1e3", "0"]))
    words += maybe(draw, 0.1, "--method", pick(draw, ["secular", "panels", "discrete", "constant", "laplace"], NAMES))
    words += maybe(draw, 0.1, "--allow-unstable")
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--csv", "--plot")]


def simulate(draw):
    steps = pick(draw, ["1", "5", "50", "300"], ODD_COUNTS)
    words = ["simulate", *model(draw), *schedule(draw, steps)]
    words += ["--exact"] if draw.random() < 0.6 else ["--runs", pick(draw, ["2", "5", "20"], ODD_COUNTS)]
    words += maybe(draw, 0.1, "--sde", pick(draw, ["physical", "intrinsic"], NAMES))
    words += maybe(draw, 0.2, "--batch-size", count(draw)) + maybe(draw, 0.1, "--features", count(draw))
    words += maybe(draw, 0.15, "--family", pick(draw, ["gaussian", "rademacher", "uniform", "trigonometric"], NAMES))
    words += maybe(draw, 0.2, "--record", count(draw)) + maybe(draw, 0.1, "--seed", count(draw))
    words += maybe(draw, 0.15, "--checkpoint", pick(draw, ["new.npz"], ["bad.npz", *OUTPUTS]))
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--csv", "--plot")]


def reading(draw):
    words = maybe(draw, 0.2, "--warmup", count(draw)) + maybe(draw, 0.1, "--smooth", count(draw))
    words += maybe(draw, 0.1, "--columns", draw.choice(COLUMNS))
    words += maybe(draw, 0.1, "--first-step", count(draw)) + maybe(draw, 0.1, "--last-step", count(draw))
    words += maybe(draw, 0.1, "--tokens-per-step", number(draw)) + maybe(draw, 0.1, "--model-size", number(draw))
    words += maybe(draw, 0.1, "--between", pick(draw, ["auto", "hold", "straight"], NAMES)) + maybe(
        draw, 0.1, "--drop-missing"
    )
    words += maybe(draw, 0.1, "--loss-unit", pick(draw, ["nats", "bits"], NAMES))
    words += maybe(draw, 0.1, "--batch-size", number(draw)) + maybe(draw, 0.1, "--horizon-weight", number(draw))
    words += maybe(draw, 0.1, "--max-rows", count(draw)) + maybe(draw, 0.1, "--level", number(draw, 3.0))
    return words + ["--no-intervals", "--starts", pick(draw, ["1", "2"], ODD_COUNTS)]


def fit(draw):
    names = draw.sample(FILES, draw.choice([1, 1, 2]))
    files = ["run.csv"] if draw.random() < 0.4 else names
    words = ["fit", *files, "--law", pick(draw, ["momentum"], LAWS, 2.0), *reading(draw)]
    words += maybe(draw, 0.2, "--predict", draw.choice(FILES))
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--save", "--plot")]


def compare(draw):
    words = ["compare", log_file(draw), "--predict", log_file(draw)]
    return [
        *words,
        "--laws",
        "momentum",
        *maybe(draw, 0.1, draw.choice(LAWS)),
        *reading(draw),
        *maybe(draw, 0.3, "--json"),
    ]


def predict(draw):
    saved = pick(draw, ["fit.json"], ["fit_bad.json", "fit_nan.json", *FILES])
    steps = pick(draw, ["900", "1000", "500"], [*COUNTS, *ODD_COUNTS])
    words = ["predict", "--fit", saved]
    words += schedule(draw, steps) if draw.random() < 0.85 else schedule_file(draw)
    words += maybe(draw, 0.2, "--record", count(draw)) + maybe(draw, 0.2, "--level", number(draw, 3.0))
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--csv", "--plot")]


def next_run(draw):
    words = schedule(draw, pick(draw, ["900", "1000"], [*COUNTS, *ODD_COUNTS]))
    words = ["next-run", "--fit", pick(draw, ["fit.json"], ["fit_bad.json", *FILES]), "--predict", *words[1:]]
    words += maybe(draw, 0.5, "--candidates", pick(draw, [*SCHEDULES, "rates.txt"], NAMES))
    words += maybe(draw, 0.3, "--budget", count(draw)) + maybe(draw, 0.2, "--level", number(draw, 3.0))
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--plot")]


def plan(draw):
    words = ["plan", *maybe(draw, 0.8, draw.choice(["--data", "--compute"]), pick(draw, ["1e6", "1e9"], ODD_NUMBERS))]
    if draw.random() < 0.5:
        words += ["--fit", pick(draw, ["fit.json"], FILES), *maybe(draw, 0.3, "--warmup", count(draw))]
        return words + maybe(draw, 0.3, "--batch-size", number(draw, 2.0)) + maybe(draw, 0.3, "--json")
    words += ["--s", pick(draw, ["1/2", "2"], ODD_NUMBERS), "--beta", pick(draw, ["2", "3/2"], ODD_NUMBERS)]
    return words + maybe(draw, 0.3, "--noise", number(draw, 2.0)) + maybe(draw, 0.3, "--json")


def forecast(draw):
    steps = pick(draw, ["2000", "1500", "3000"], [*COUNTS, *ODD_COUNTS])
    words = ["forecast", log_file(draw), "--to", steps, *reading(draw)]
    words += maybe(draw, 0.3, "--schedule", pick(draw, ["hold", "decay now", *SCHEDULES], NAMES))
    words += maybe(draw, 0.2, "--others", log_file(draw)) + maybe(draw, 0.3, "--target", number(draw, 3.0))
    words += maybe(draw, draw.oddness, "--watch", "--json")  # alone it would go on until it is interrupted
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--plot")]


def design(draw):
    saved = pick(draw, ["fit.json"], ["fit_bad.json", "fit_nan.json", *FILES])
    words = ["design", "--fit", saved, "--steps", pick(draw, ["900", "2000"], [*COUNTS, *ODD_COUNTS])]
    words += maybe(draw, 0.4, "--family", pick(draw, ["free", "wsd", "linear", "cosine"], NAMES))
    words += maybe(draw, 0.9, "--peak-lr", pick(draw, ["0.001", "0.002"], ["free", *ODD_NUMBERS]))
    words += maybe(draw, 0.3, "--floor-lr", number(draw, 3.0)) + maybe(draw, 0.3, "--warmup", count(draw))
    words += maybe(draw, 0.2, "--log", log_file(draw)) + maybe(draw, 0.2, "--from-step", count(draw))
    words += maybe(draw, 0.2, "--second-fit", pick(draw, ["fit.json"], FILES)) + maybe(draw, 0.2, "--over-draws")
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--out", "--plot")]


def sizes(draw):
    words = ["sizes", pick(draw, ["sizes.csv"], FILES)]
    words += maybe(draw, 0.3, "--law", pick(draw, ["chinchilla", "three-term", "regression"], NAMES))
    words += maybe(draw, 0.4, "--predict", number(draw, 2.0), number(draw, 2.0), number(draw, 2.0))
    words += maybe(draw, 0.3, "--compute", pick(draw, ["1e12", "1e15"], ODD_NUMBERS))
    words += maybe(draw, 0.3, "--data", pick(draw, ["1e7", "1e9"], ODD_NUMBERS))
    words += maybe(draw, 0.2, "--level", number(draw, 3.0)) + maybe(draw, 0.3, "--json")
    return words + outputs(draw, "--plot")


def design_in_theory(draw):
    words = ["design", "--s", pick(draw, ["1/2", "2"], ODD_NUMBERS), "--beta", pick(draw, ["2", "3/2"], ODD_NUMBERS)]
    budget, sizes = draw.choice([("--data", ["1000", "1e4"]), ("--compute", ["1000", "1e5"])])
    words += maybe(draw, 0.9, budget, pick(draw, sizes, ODD_NUMBERS)) + maybe(draw, 0.5, "--noise", number(draw))
    words += maybe(draw, 0.3, "--model-size", pick(draw, ["10", "100"], ODD_NUMBERS))
    words += maybe(draw, 0.2, "--gamma", pick(draw, ["0.1"], ODD_NUMBERS))
    words += maybe(draw, 0.3, "--batches-at", pick(draw, ["0.5", "cosine", "hf:linear"], [*NAMES, *ODD_NUMBERS]))
    words += maybe(draw, 0.2, "--peak-lr", pick(draw, ["1.5"], ODD_NUMBERS)) + maybe(
        draw, 0.2, "--floor-lr", number(draw)
    )
    return [*words, *maybe(draw, 0.3, "--json"), *outputs(draw, "--out", "--plot")]


def exponents(draw):
    words = ["exponents", "--schedule", pick(draw, ["constant", "exp-decay", "wsd", "linear", "8-1-1"], NAMES)]
    words += ["--budget", pick(draw, ["data", "compute"], NAMES)]
    words += maybe(draw, 0.6, "--s", number(draw, 3.0)) + maybe(draw, 0.6, "--beta", number(draw, 3.0))
    return words + maybe(draw, 0.3, draw.choice(["--json", "--latex", "--derive"]))


def errata(draw):
    words = ["errata", *maybe(draw, 0.5, *draw.choice([*NAMES, *CLAIMS, "1005", "99999"]).split(" "))]
    words += maybe(draw, 0.3, "--kind", pick(draw, ["typo", "inconsistency"], NAMES))
    words += maybe(draw, 0.3, "--label", pick(draw, ["thm: wsd"], NAMES))
    return words + maybe(draw, 0.3, draw.choice(["--json", "--markdown"]))


def show(draw):
    words = ["show", *pick(draw, CLAIMS, NAMES).split(" "), "--no-verdict"]
    return words + maybe(draw, 0.3, draw.choice(["--json", "--mutants"]))


def list_claims(draw):
    return [
        "list",
        *draw.choices(["kernel", "WSD", "noise", *NAMES], k=draw.randint(0, 3)),
        *maybe(draw, 0.3, "--json"),
    ]


def verify(draw):
    words = ["verify", pick(draw, ["approximation-error", "ass:fsl"], NAMES[2:-1])]
    words += maybe(draw, 0.3, "--profile", pick(draw, ["quick"], NAMES)) + maybe(draw, 0.3, "--seed", count(draw, 3.0))
    words += maybe(
        draw, 0.4, "--at", draw.choice(["1/2,4", "1/3,3/2", "0.5,4", "x", "1,1", ",", "1/0,2", "9" * 999 + ",2"])
    )
    words += maybe(draw, 0.1, "--executor", draw.choice(["threads", "dask://localhost:1", "dask://", "x"]))
    words += maybe(draw, 0.2, "--cache", pick(draw, ["cache"], ["run.csv", "", "/dev/null"]))
    return [*words, "--jobs", "1", *maybe(draw, 0.1, "--json"), *outputs(draw, "--report", "--html")]


def anything(draw):
    """Words of all commands, in no order."""
    pool = ["solve", "fit", "predict", "list", "--json", "--help", "-h", "--", "-", "--version", "--no-color", "--x"]
    pool += ["--s=1", "--steps=1e9", "table", "--format", "latex", "figure", "ladder", "--out", "x.png"]
    pool += [*NAMES, *ODD_NUMBERS[:12]]
    words = draw.choices(pool, k=draw.randint(0, 5))
    return ["list"] if "figure" in words and "ladder" in words else words


def show_schedule(draw):
    words = schedule(draw)
    named = words[1] if draw.random() < 0.8 else pick(draw, FILES, NAMES)
    words = ["schedule", "--", named] if draw.random() < 0.1 else ["schedule", named, *words[2:]]
    frameworks = ["torch", "optax", "transformers", "megatron", "torchtitan", "olmo", "nanotron", "maxtext"]
    words += maybe(draw, 0.5, "--export", pick(draw, frameworks, NAMES))
    return words + maybe(draw, 0.3, "--json") + outputs(draw, "--csv", "--plot", "--out")


COMMANDS = {
    command.__name__: command
    for command in (
        solve,
        simulate,
        fit,
        compare,
        predict,
        forecast,
        design,
        show_schedule,
        next_run,
        plan,
        sizes,
        design_in_theory,
        exponents,
        errata,
        show,
        list_claims,
        verify,
        anything,
    )
}
"""Name -> what draws a command line of it. What takes minutes whatever is typed (figures, all claims) is left out."""
