"""A file is written whole or not at all, and what is no ordinary file stays what it is."""

import os
import stat
import threading

import pytest

from fsl_num.writing import check_writable, identity, write_atomically

links = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")


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

    monkeypatch.setattr("os.fsync", die)
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


@links
def test_a_link_stays_a_link_to_the_new_content(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/target")  # names nothing yet
    for content in ("first", "second"):
        check_writable(tmp_path / "link")
        write_atomically(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "folder" / "target").read_text() == content


@links
def test_all_names_of_a_file_get_the_new_content(tmp_path):
    write_atomically(tmp_path / "one", "a long old content")
    os.link(tmp_path / "one", tmp_path / "other")
    write_atomically(tmp_path / "one", "new")
    assert (tmp_path / "other").read_text() == "new" and (tmp_path / "one").samefile(tmp_path / "other")


@links
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    check_writable(pipe)
    write_atomically(pipe, "through")
    reader.join(10)
    assert read == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)


@links
def test_a_device_takes_what_is_written_and_stays_a_device(tmp_path):
    device = tmp_path / "null"  # never the system's own: root would lose it were this wrong
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.stat(os.devnull).st_rdev)
        device.write_bytes(b"")
    except OSError:
        if os.geteuid() == 0:
            pytest.skip("no device can be made here")
        device = os.devnull
    (tmp_path / "link").symlink_to(device)
    for path in (device, tmp_path / "link"):
        check_writable(path)
        write_atomically(path, "nothing")
        assert stat.S_ISCHR(os.stat(device).st_mode)
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path):
    write_atomically(tmp_path / "kept", "old")
    (tmp_path / "kept").chmod(0o444)
    for attempt in (check_writable, lambda path: write_atomically(path, "new")):
        with pytest.raises(PermissionError):
            attempt(tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "old"


def test_the_longest_name_that_a_file_may_have_can_be_written(tmp_path):
    write_atomically(tmp_path / ("n" * 255), "long")
    assert (tmp_path / ("n" * 255)).read_text() == "long"


@links
def test_one_file_has_one_identity_however_it_is_spelled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert identity("a") == identity(tmp_path / "x" / ".." / "a") != identity("b")
    (tmp_path / "a").write_text("")
    os.link("a", "hard")
    os.symlink("a", "soft")
    assert identity("a") == identity("hard") == identity("soft") == identity("./a")
    assert identity(os.devnull) is None
