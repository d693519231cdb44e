"""Outcomes are found again exactly when nothing changed that they depend on, and never where a file is broken."""

import importlib
import json
import math
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from fsl_num.claims import runner
from fsl_num.claims.cache import KEPT, Cache, default_folder, versions
from fsl_num.claims.records import (
    Curve,
    DerivationRecord,
    MutantOutcome,
    Outcome,
    PointOutcome,
    RegimeOutcome,
    Verdict,
)
from fsl_num.claims.registry import claim
from fsl_num.claims.sources import Sources, modules_of, parts_of

ROOT = Path(__file__).resolve().parents[3]
QUICK = claim("approximation-error")
"""Checked in a third of a second."""


def made_up(**changes):
    point = PointOutcome("1/2", "4", True, (0.1, 1 / 3), None, "detail", (Curve("c", (0.0, 1.5), (-math.inf, 2.0)),))
    mutants = (MutantOutcome("m", True, "why"),)
    regime = RegimeOutcome("hard", 1, True, (0.1, math.inf), 1e-3, mutants, {"power": 0.01}, "d", (point,))
    derivations = (DerivationRecord("d", 3, 3),)
    outcome = Outcome(QUICK.id, "t", Verdict.SUPPORTED, True, (regime,), derivations, 0.125, "é", "other")
    return replace(outcome, **changes)


@pytest.fixture
def kept(tmp_path):
    cache = Cache(tmp_path / "outcomes")
    cache.put(QUICK, "quick", 0, made_up())
    return cache


def file_of(cache):
    (path,) = cache.folder.rglob("*.json")
    return path


def test_the_previous_result_is_the_one_used_last(kept):
    refuted = made_up(verdict=Verdict.REFUTED, passes=False)
    assert Cache(kept.folder / "empty").previous(QUICK, "quick") is None
    os.utime(file_of(kept), (1, 1))
    kept.put(QUICK, "quick", 1, refuted)
    assert kept.previous(QUICK, "quick") == refuted
    newest = next(path for path in kept.folder.rglob("*.json") if path.stat().st_mtime > 1)
    os.utime(newest, (2, 2))
    assert kept.get(QUICK, "quick", 0) == made_up() == kept.previous(QUICK, "quick")
    assert kept.previous(QUICK, "full") is None


def test_the_tests_have_a_cache_of_their_own(cache_of_the_session):
    assert default_folder() == cache_of_the_session
    assert Path.home() / ".cache" not in cache_of_the_session.parents


def test_the_place_for_caches_of_each_platform(monkeypatch):
    name = "functional-scaling-laws"
    monkeypatch.setattr(sys, "platform", "linux")
    assert default_folder({}) == Path.home() / ".cache" / name
    assert default_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / name
    assert default_folder({"XDG_CACHE_HOME": str(ROOT)}) == ROOT / name
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_folder({}) == Path.home() / "Library" / "Caches" / name
    monkeypatch.setattr(sys, "platform", "win32")
    assert default_folder({"LOCALAPPDATA": "local"}) == Path("local") / name / "Cache"


# ---- records ---------------------------------------------------------------------------------------------------------


def test_a_record_is_read_back_exactly():
    outcome = made_up()
    text = json.dumps(outcome.to_exact_json(), allow_nan=False)
    assert Outcome.from_json(json.loads(text)) == outcome
    checked = runner.verify(QUICK)
    assert Outcome.from_json(json.loads(json.dumps(checked.to_exact_json(), allow_nan=False))) == checked
    assert Outcome.from_json(json.loads(json.dumps(checked.to_json(), allow_nan=False))) == checked


@pytest.mark.parametrize(
    "changes",
    [{"verdict": "MAYBE"}, {"passes": "yes"}, {"regimes": [1]}, {"regimes": {}}, {"seconds": "soon"}, {"title": None}],
)
def test_a_record_that_is_none_is_refused(changes):
    with pytest.raises((ValueError, TypeError)):
        Outcome.from_json(made_up().to_exact_json() | changes)
    for record in ({}, [], None, "text"):
        with pytest.raises((ValueError, TypeError)):
            Outcome.from_json(record)


# ---- hits and misses -------------------------------------------------------------------------------------------------


def test_what_was_kept_is_found(kept):
    assert kept.get(QUICK, "quick", 0) == made_up()
    assert Cache(kept.folder).get(QUICK, "quick", 0) == made_up()
    assert (kept.hits, kept.trouble) == (1, "")
    assert kept.seconds(QUICK, "quick") == 0.125
    assert kept.seconds(QUICK, "full") is None


def test_another_seed_profile_or_claim_misses(kept):
    assert kept.get(QUICK, "quick", 1) is None
    assert kept.get(QUICK, "full", 0) is None
    for field in ("title", "remark"):
        assert kept.get(replace(QUICK, **{field: "another"}), "quick", 0) is None
    weaker = replace(QUICK.stated, relation="<~")
    assert kept.get(replace(QUICK, stated=weaker), "quick", 0) is None
    assert kept.get(replace(QUICK, extra_points={"hard": ((1, 9),)}), "quick", 0) is None
    assert kept.hits == 0


def test_other_functions_or_what_they_hold_on_to_miss(kept):
    def maker(power):
        return lambda sample: power

    first, second = (replace(QUICK, measure=maker(power)) for power in (1, 2))
    assert kept.key(first, "quick", 0) != kept.key(second, "quick", 0)
    assert kept.key(first, "quick", 0) == kept.key(replace(QUICK, measure=maker(1)), "quick", 0)
    third, fourth = (replace(QUICK, measure=partial(made_up, power)) for power in (1, 2))
    assert kept.key(third, "quick", 0) != kept.key(fourth, "quick", 0)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a library of another version before the one that is installed, as far as its metadata say."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(name):
        folder = tmp_path / f"{name.replace('-', '_')}-99.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99\n", encoding="utf-8")
        importlib.invalidate_caches()
        versions.cache_clear()

    yield put
    monkeypatch.undo()
    versions.cache_clear()


def test_an_extra_counts_for_the_claims_whose_code_imports_it(kept, installed):
    """To install it leaves the others' outcomes: what `fsl verify` found without extras serves the tests, too."""
    rigorous = claim("thm: fsl-hard-regime")
    before = {claim_known.id: kept.key(claim_known, "quick", 0) for claim_known in (QUICK, rigorous)}
    installed("python-flint")
    assert kept.key(QUICK, "quick", 0) == before[QUICK.id]
    assert kept.key(rigorous, "quick", 0) != before[rigorous.id]
    installed("scipy")
    assert kept.key(QUICK, "quick", 0) != before[QUICK.id]
    assert kept.get(QUICK, "quick", 0) is None


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Both packages in another folder, to be changed there."""
    home = tmp_path_factory.mktemp("copy")
    for package in ("fsl_sym", "fsl_num"):
        shutil.copytree(ROOT / package, home / package, ignore=shutil.ignore_patterns("__pycache__"))
    return home


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("fsl_num/paper/kernel/features_beyond.py", True),  # where the claim is written
        ("fsl_num/exponential_sums.py", True),  # two imports away
        ("fsl_sym/symbols.py", True),  # far down
        ("fsl_num/claims/verification.py", True),  # how claims are checked
        ("fsl_num/claims/records.py", True),
        ("fsl_num/paper/kernel/subconvolution.py", False),
        ("fsl_num/claims/registry.py", False),
        ("fsl_num/simulate/recursion.py", False),
        ("fsl_num/report/tables.py", False),
        ("fsl_num/__init__.py", False),  # public names, loaded only if asked for
    ],
)
def test_code_counts_where_the_claim_needs_it(path, counts, copy, tmp_path):
    before = Cache(tmp_path, copy).key(QUICK, "quick", 0)
    assert before == Cache(tmp_path).key(QUICK, "quick", 0)
    with (copy / path).open("a", encoding="utf-8") as stream:
        stream.write("# another line\n")
    try:
        assert (Cache(tmp_path, copy).key(QUICK, "quick", 0) != before) is counts
    finally:
        shutil.copy2(ROOT / path, copy / path)


def test_an_outcome_of_code_that_changed_since_it_was_loaded_is_not_kept(copy, tmp_path):
    # what is loaded is the code before the change, and the key would be that of the code after it
    path = "fsl_num/exponential_sums.py"
    cache = Cache(tmp_path, copy)
    with (copy / path).open("a", encoding="utf-8") as stream:
        stream.write("# another line\n")
    try:
        cache.put(QUICK, "quick", 0, made_up())
        assert Cache(tmp_path, copy).get(QUICK, "quick", 0) is None
        assert "fsl_num.exponential_sums was changed while this process ran" in cache.trouble
    finally:
        shutil.copy2(ROOT / path, copy / path)


def test_imports_are_found_wherever_they_stand(tmp_path):
    folder = tmp_path / "fsl_num"
    (folder / "inner").mkdir(parents=True)
    sources = {
        "a.py": "def f():\n    from fsl_num.inner import b",
        "inner/__init__.py": "import fsl_num.c",
        "inner/b.py": "from importlib import import_module\ndef g(name):\n    import_module(f'fsl_num.late.{name}')",
        "c.py": "import numpy",
        "late/d.py": "",
        "late/e.py": "from fsl_num import public",
        "unrelated.py": "",
        "__init__.py": "from importlib import import_module\nimport_module(f'{__name__}.{home}')",
    }
    for name, text in sources.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    found = Sources(tmp_path)
    assert found.closure(["fsl_num.c"]) == {"fsl_num.c"}
    assert "fsl_num.unrelated" in found.closure(["fsl_num.late.e"])  # a public name may come from anywhere
    (folder / "late" / "e.py").write_text("", encoding="utf-8")
    inner = {"fsl_num.inner", "fsl_num.inner.b", "fsl_num.c", "fsl_num.late.d", "fsl_num.late.e"}
    assert Sources(tmp_path).closure(["fsl_num.a", "numpy"]) == {"fsl_num.a", *inner}


def test_the_parts_of_a_claim_are_found_through_wrappers():
    wrapped = partial(runner.verify, profile="quick")
    assert modules_of((wrapped, lambda: wrapped)) == {"fsl_num.claims.runner", __name__}
    cyclic = []
    cyclic.append(cyclic)
    assert parts_of(cyclic) == ()


# ---- broken files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[" * 100_000,
        lambda text: "[]",
        lambda text: '{"format": 1}',
        lambda text: text.replace("0.125", "0.126"),
        lambda text: text.replace("SUPPORTED", "PROVED"),
        lambda text: text.replace('"format": 1', '"format": 2'),
        lambda text: "\udcff" + text,
    ],
)
def test_a_broken_file_is_checked_again_and_replaced(spoil, kept):
    path = file_of(kept)
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8", errors="surrogateescape")
    assert kept.get(QUICK, "quick", 0) is None
    kept.put(QUICK, "quick", 0, made_up())
    assert kept.get(QUICK, "quick", 0) == made_up()


def test_a_file_of_another_claim_is_not_taken(kept):
    mine = file_of(kept)
    second = claim("approximation-error/one-more")
    kept.put(second, "quick", 0, made_up(claim_id=second.id))
    (theirs,) = set(kept.folder.rglob("*.json")) - {mine}
    mine.write_bytes(theirs.read_bytes())
    assert kept.get(QUICK, "quick", 0) is None


def test_a_check_that_broke_is_checked_again(kept):
    kept.put(QUICK, "full", 0, made_up(verdict=Verdict.UNKNOWN, passes=False))
    assert kept.get(QUICK, "full", 0) is None


def test_old_hearings_go(kept):
    for seed in range(1, KEPT + 4):
        kept.put(QUICK, "quick", seed, made_up())
        os.utime(next(kept.folder.rglob(f"{kept.key(QUICK, 'quick', seed)}.json")), (seed, seed))
    assert len(list(kept.folder.rglob("*.json"))) <= KEPT + 1
    assert kept.get(QUICK, "quick", KEPT + 3) is not None


def test_a_folder_that_cannot_be_written_is_told_and_not_fatal(tmp_path, kept):
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = Cache(tmp_path / "file" / "outcomes")
    assert "cannot be written" in cache.trouble
    cache.put(QUICK, "quick", 0, made_up())
    assert cache.get(QUICK, "quick", 0) is None
    shutil.rmtree(kept.folder)
    kept.folder.write_text("", encoding="utf-8")
    kept.put(QUICK, "quick", 0, made_up())
    assert "cannot be written" in kept.trouble


def test_a_worker_makes_no_folder(kept, tmp_path):
    worker = pickle.loads(pickle.dumps(kept))
    assert worker.get(QUICK, "quick", 0) == made_up()
    shutil.rmtree(kept.folder)
    worker = pickle.loads(pickle.dumps(kept))
    worker.put(QUICK, "quick", 0, made_up())
    assert not kept.folder.exists() and worker.trouble


# ---- the verification with a cache -----------------------------------------------------------------------------------


IDS = ("lemma:convolution-kernel/beyond", "approximation-error", "approximation-error/one-more")


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path):
    seen = []

    def killed(outcome):
        seen.append(outcome)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.verify_all(IDS, cache=Cache(tmp_path), progress=killed)
    cache, again = Cache(tmp_path), Cache(tmp_path)
    resumed = runner.verify_all(IDS, cache=cache)
    assert cache.hits == 2 and resumed[:2] == tuple(seen)  # the seconds too, of those that were not checked anew
    assert runner.verify_all(IDS, cache=again) == resumed and again.hits == len(IDS)


def test_a_claim_that_was_corrected_passes_from_the_cache_too(tmp_path):
    ids = ["exp-decay/I2/printed-integral"]
    first, second = (runner.verify_all(ids, cache=Cache(tmp_path)) for _ in range(2))
    assert first == second
    assert [outcome.passes for outcome in second] == [True, True]


def _started(command, environment):
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_two_processes_share_a_folder_and_know_each_others_keys(tmp_path):
    command = [sys.executable, "-m", "fsl_num", "verify", *IDS, "--jobs", "1", "--cache", str(tmp_path), "--json"]
    processes = [_started(command, {**os.environ, "PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    told = [json.loads(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    cache = Cache(tmp_path)
    kept = runner.verify_all(IDS, cache=cache)
    assert cache.hits == len(IDS)
    for record in told:
        assert [outcome["verdict"] for outcome in record["outcomes"]] == [str(outcome.verdict) for outcome in kept]
        assert [outcome["constants"] for outcome in record["outcomes"]] == [list(outcome.constants) for outcome in kept]
    assert not list(tmp_path.rglob("*.tmp"))


def test_the_longest_families_go_first(tmp_path):
    cache = Cache(tmp_path)
    for claim_id, seconds in zip(IDS[:2], (1.0, 5.0), strict=True):
        cache.put(claim(claim_id), "quick", 9, made_up(claim_id=claim_id, seconds=seconds))
    families = [[claim_id] for claim_id in IDS]
    assert runner.longest_first(families, "quick", cache) == [[IDS[2]], [IDS[1]], [IDS[0]]]
    assert runner.longest_first(families, "quick", None) == families
    large = [IDS[1], IDS[2]]
    # Of families whose cost is not known the largest go first, and all of them before those that are known to be short.
    assert runner.longest_first([[IDS[0]], large], "quick", None) == [large, [IDS[0]]]
