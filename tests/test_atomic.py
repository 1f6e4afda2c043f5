"""Outputs: all or none, never the input, never over what is there without force."""

import errno
import os

import pytest

from localmap.files import Outputs, TableError, atomic_file, check_output


def test_all_appear_together(tmp_path):
    one, two = tmp_path / "a.csv", tmp_path / "b.png"
    with Outputs([one, two]) as outputs:
        outputs.file(one).write_text("1")
        outputs.file(two).write_text("2")
        assert not one.exists()
        assert not two.exists()
    assert (one.read_text(), two.read_text()) == ("1", "2")
    assert sorted(tmp_path.iterdir()) == [one, two]


@pytest.mark.parametrize("force", [False, True])
def test_an_error_leaves_everything_as_it_was(tmp_path, force):
    one, two = tmp_path / "a.csv", tmp_path / "b.png"
    if force:
        one.write_text("before")

    def write():
        with Outputs([one, two], force=force) as outputs:
            outputs.file(one).write_text("1")
            outputs.file(two).write_text("2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"] * force


@pytest.mark.parametrize("existing", [False, True])
def test_what_cannot_be_moved_takes_the_others_back(tmp_path, existing):
    one, two = tmp_path / "a.csv", tmp_path / "b.png"
    if existing:
        one.write_text("before")

    def write():
        with Outputs([one, two], force=True) as outputs:
            outputs.file(one).write_text("1")
            outputs.file(two).write_text("2")
            two.mkdir()
            (two / "full").write_text("")

    with pytest.raises(TableError, match=r"cannot write .*b\.png"):
        write()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == ({"a.csv", "b.png"} if existing else {"b.png"})
    assert not existing or one.read_text() == "before"


def test_what_exists_is_replaced_only_with_force(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("before")
    with pytest.raises(TableError, match="it exists; the option force replaces it"):
        Outputs([path])
    with Outputs([path], force=True) as outputs:
        outputs.file(path).write_text("after")
    assert path.read_text() == "after"


def test_what_appears_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "a.csv"

    def write():
        with Outputs([path]) as outputs:
            outputs.file(path).write_text("ours")
            path.write_text("theirs")

    with pytest.raises(TableError, match="cannot write"):
        write()
    assert path.read_text() == "theirs"


@pytest.mark.parametrize("link", ["same", "symbolic", "hard", "folder"])
def test_the_input_is_never_the_output(tmp_path, link):
    source = tmp_path / "x.csv"
    source.write_text("a,b")
    output = tmp_path / "y.csv"
    if link == "same":
        output = tmp_path / "." / "x.csv"
    elif link == "symbolic":
        output.symlink_to(source)
    elif link == "hard":
        os.link(source, output)
    else:
        (tmp_path / "there").symlink_to(tmp_path)
        output = tmp_path / "there" / "x.csv"
    with pytest.raises(TableError, match="it is the input"):
        Outputs([output], inputs=[source], force=True)
    with pytest.raises(TableError, match="two outputs have this name"):
        Outputs([source, output], force=True)


def test_places_that_take_no_file_are_refused_before_any_work(tmp_path):
    with pytest.raises(TableError, match="there is no folder"):
        check_output(tmp_path / "no" / "a.csv")
    with pytest.raises(TableError, match="it is a folder"):
        check_output(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    with pytest.raises(TableError, match="a link to a file that is not there"):
        check_output(tmp_path / "dangling")


def test_one_file_keeps_its_rights_and_leaves_no_trace(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("before")
    path.chmod(0o640)
    with atomic_file(path) as aside:
        aside.write_text("after")
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    target, link = tmp_path / "folder" / "a.csv", tmp_path / "link.csv"
    target.parent.mkdir()
    target.write_text("before")
    link.symlink_to(target)
    with atomic_file(link) as aside:
        aside.write_text("once")
    assert target.read_text() == "once"
    with Outputs([link], force=True) as outputs:
        outputs.file(link).write_text("twice")
    assert target.read_text() == "twice"
    assert link.is_symlink()
    assert sorted(tmp_path.rglob("*")) == [target.parent, target, link]


def test_what_is_no_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with (
            pytest.raises(OSError, match=f"no regular file.*{place}"),
            atomic_file(place) as aside,
        ):
            aside.write_text("lost")
    assert pipe.is_fifo()


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    def write(path):
        with atomic_file(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*/a\.csv'"):
        write(tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError, match=r"'.*/nowhere/a\.csv'"):
        write(tmp_path / "nowhere" / "a.csv")

    def write_two():
        one, two = tmp_path / "a.csv", tmp_path / "b.csv"
        with Outputs([one, two]) as outputs:
            outputs.file(one)
            with outputs.file(two).open("x"):
                pass

    with pytest.raises(FileExistsError, match=r"'.*/b\.csv'"):
        write_two()
