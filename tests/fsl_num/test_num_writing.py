"""A file is written whole or not at all."""

import os

import pytest

from fsl_num import writing
from fsl_num.writing import check_writable, write_atomically


def test_a_file_is_made_and_replaced(tmp_path):
    target = tmp_path / "report.json"
    write_atomically(target, "first β")
    target.chmod(0o640)
    write_atomically(str(target), "second")
    assert target.read_text(encoding="utf-8") == "second"
    assert target.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_the_old_file_survives_a_writer_that_dies(tmp_path, monkeypatch):
    target = tmp_path / "report.json"
    write_atomically(target, "old")

    def die(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", die)
    with pytest.raises(OSError, match="No space"):
        write_atomically(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_cannot_be_written_is_known_beforehand(tmp_path):
    check_writable(tmp_path / "report.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "missing" / "report.json")
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)


def test_a_new_file_has_the_permissions_that_open_gives(tmp_path):
    write_atomically(tmp_path / "ours", "")
    with open(tmp_path / "theirs", "w", encoding="utf-8"):
        pass
    assert os.stat(tmp_path / "ours").st_mode == os.stat(tmp_path / "theirs").st_mode
