"""The project's own files, as the scanners see them."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("fsl_sym", "fsl_num")


@cache
def modules():
    """Every Python file of both packages, seen from the root of the project."""
    return sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def offenders(paths, faults):
    """The files in which ``faults``, a function of the path and the source, finds any; and which."""
    found = {path.as_posix(): list(faults(path, (ROOT / path).read_text(encoding="utf-8"))) for path in paths}
    return {path: faults_found for path, faults_found in found.items() if faults_found}


@cache
def files_of_tests():
    """Every test file, seen from the root of the project."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))


@cache
def text_files():
    """Every text file that belongs to the project: those git tracks, or without git all but the hidden and made."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
        paths = [ROOT / name for name in listed.split("\0") if name]
    else:
        paths = [
            path for path in ROOT.rglob("*") if not any(part.startswith(".") for part in path.parts[len(ROOT.parts) :])
        ]
    return sorted(path.relative_to(ROOT) for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8192])


def module_name(path):
    """The dotted name of a module's file."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
