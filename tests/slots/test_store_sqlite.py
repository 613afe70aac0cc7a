"""The file that all sessions share: who may read it, what damage does, and who may be in the way."""

import fcntl
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Barrier, Event

import pytest

from harness.slots.store import (
    APPLICATION,
    FORMER_NAME,
    ProcessOwner,
    SlotClaim,
    SlotsError,
    SqliteSlotStore,
    slots_file,
    this_process,
)

NOW = 1_800_000_000.0
HERE = this_process("20261121-0345-7f3a9c")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return slots_file(tmp_path / "state")


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def store(file: Path, told: list[str]) -> Iterator[SqliteSlotStore]:
    store = SqliteSlotStore(file, report=told.append, patience_s=10.0)
    yield store
    store.close()


def takes(store: SqliteSlotStore, id: str, now: float = NOW) -> bool:
    return store.ask(SlotClaim(id, HERE, f"agent {id}"), 1, now).started


def ids(store: SqliteSlotStore) -> list[str]:
    return [entry.claim.id for entry in store.entries(NOW)]


def test_only_its_user_may_read_the_file_and_what_lies_beside_it(store: SqliteSlotStore, file: Path) -> None:
    takes(store, "a")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert modes == {"slots.sqlite": 0o600, "slots.sqlite-journal": 0o600, "slots.sqlite.lock": 0o600}


def test_nothing_is_made_before_it_is_needed(store: SqliteSlotStore, file: Path) -> None:
    assert not file.parent.exists()
    store.close()
    assert not file.parent.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_a_closed_store_holds_no_file_open(store: SqliteSlotStore, file: Path) -> None:
    takes(store, "a")
    store.close()
    held = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]  # noqa: PTH115
    assert not [path for path in held if path.startswith(str(file))]


@pytest.mark.parametrize(
    "damage", [b"no database at all, but long enough to be one " * 40, b"SQLite format 3\x00" + b"\xff" * 4096]
)
def test_a_damaged_file_is_set_aside_and_begun_afresh(
    store: SqliteSlotStore, file: Path, told: list[str], damage: bytes
) -> None:
    file.parent.mkdir()
    file.write_bytes(damage)
    file.with_name("slots.sqlite-journal").write_bytes(b"of the damaged one")
    assert takes(store, "a")
    assert ids(store) == ["a"]
    (sentence,) = told
    assert "slots.sqlite was damaged" in sentence
    assert file.with_name("slots.sqlite.unusable-1").read_bytes() == damage


def test_damage_while_it_is_open_is_found_and_the_other_session_follows(
    store: SqliteSlotStore, file: Path, told: list[str]
) -> None:
    other = SqliteSlotStore(file)
    assert takes(store, "a")
    assert not takes(other, "b")
    with file.open("r+b") as opened:
        opened.write(b"\xff" * os.fstat(opened.fileno()).st_size)
    assert takes(store, "a", NOW + 1)
    assert len(told) == 1
    assert not takes(other, "b", NOW + 1)
    assert ids(other) == ["a", "b"]
    other.close()


@pytest.mark.parametrize("name", ["slots.sqlite", "slots.sqlite.lock"])
def test_a_link_in_its_place_is_not_followed(store: SqliteSlotStore, file: Path, tmp_path: Path, name: str) -> None:
    file.parent.mkdir()
    file.with_name(name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SlotsError, match=r"slots\.sqlite"):
        takes(store, "a")
    assert not (tmp_path / "elsewhere").exists()


def test_another_programs_database_is_kept_and_not_written_to(
    store: SqliteSlotStore, file: Path, told: list[str]
) -> None:
    file.parent.mkdir()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (value)")
    connection.close()
    assert takes(store, "a")
    kept = sqlite3.connect(file.with_name("slots.sqlite.unusable-1"))
    assert kept.execute("SELECT name FROM sqlite_schema").fetchall() == [("theirs",)]
    kept.close()
    assert told


def test_a_file_of_another_version_is_left_alone(store: SqliteSlotStore, file: Path, told: list[str]) -> None:
    file.parent.mkdir()
    connection = sqlite3.connect(file)
    connection.executescript(
        f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 2; CREATE TABLE new (value)"
    )
    connection.close()
    before = file.read_bytes()
    with pytest.raises(SlotsError, match="another version of harness"):
        takes(store, "a")
    assert (file.read_bytes(), told) == (before, [])


def test_a_file_that_was_removed_is_made_again(store: SqliteSlotStore, file: Path) -> None:
    other = SqliteSlotStore(file)
    takes(store, "a")
    takes(other, "b")
    for path in list(file.parent.iterdir()):
        path.unlink()
    assert takes(store, "c")
    assert not takes(other, "d")
    assert ids(store) == ids(other) == ["c", "d"]
    other.close()


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(file: Path, store: SqliteSlotStore) -> None:
    file.parent.write_text("no folder")
    with pytest.raises(
        SlotsError, match=r"slots\.sqlite, which your sessions share, cannot be used .*SHARED_ADMISSION=off"
    ):
        takes(store, "a")
    file.parent.unlink()
    assert takes(store, "a")


def test_a_full_disk_is_said_and_leaves_the_file_whole(file: Path, store: SqliteSlotStore) -> None:
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from harness.slots.store import SqliteSlotStore\n"
        "from harness.slots.store import SlotsError\n"
        "store = SqliteSlotStore(Path(sys.argv[1]))\n"
        "store.change('small', lambda _: 'fits')\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "try: store.change('large', lambda _: 'x' * 100_000)\n"
        "except SlotsError: print(store.cells())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, check=True)
    assert ended.stdout == "{'small': 'fits'}\n"
    assert store.cells() == {"small": "fits"}


def test_a_process_that_stopped_with_the_lock_does_not_block_the_others(store: SqliteSlotStore, file: Path) -> None:
    takes(store, "a")
    with closing(SqliteSlotStore(file, patience_s=0.3)) as hasty:
        lock = os.open(file.with_name("slots.sqlite.lock"), os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for _ in range(2):
            with pytest.raises(SlotsError, match="does not let go"):
                takes(hasty, "b")
        os.close(lock)
        assert answered_within(60.0, hasty)
    assert ids(store) == ["a", "b"]  # the abandoned request was granted anyway and ends with its lease


def answered_within(seconds: float, store: SqliteSlotStore) -> bool:
    until, pause = time.monotonic() + seconds, Event()
    while time.monotonic() < until:
        with suppress(SlotsError):
            store.cells()
            return True
        pause.wait(0.01)
    return False


def test_a_child_that_was_forked_off_cannot_use_the_store_and_leaves_it_whole(
    store: SqliteSlotStore, file: Path
) -> None:
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from harness.slots.store import SqliteSlotStore\n"
        "from harness.slots.store import SlotsError\n"
        "store = SqliteSlotStore(Path(sys.argv[1]))\n"
        "store.change('name', lambda _: 'parent')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try: store.change('name', lambda _: 'child')\n"
        "    except SlotsError as error: print(error, flush=True)\n"
        "    store.close()\n"
        "    del store\n"
        "    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "print(store.change('name', lambda text: text + ' goes on'))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, check=True)
    refusal, went_on = ended.stdout.splitlines()
    assert "was opened before this process was forked off" in refusal
    assert (went_on, ended.stderr) == ("parent goes on", "")
    assert store.cells() == {"name": "parent goes on"}


def test_killed_in_the_middle_of_a_change_nothing_of_it_is_left(store: SqliteSlotStore, file: Path) -> None:
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from harness.slots.store import this_process\n"
        "from harness.slots.store import SqliteSlotStore\n"
        "from harness.slots.store import SlotClaim\n"
        "store = SqliteSlotStore(Path(sys.argv[1]))\n"
        "store.ask(SlotClaim('dead', this_process('dead'), 'agent'), 1, 1_800_000_000.0)\n"
        "store.change('name', lambda _: 'before')\n"
        "store.change('name', lambda _: os.kill(os.getpid(), 9))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, file], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert store.cells() == {"name": "before"}
    assert takes(store, "a", NOW + 0.25)


def test_who_lives_is_looked_at_now_and_then_by_all_sessions_together(file: Path) -> None:
    looked: list[ProcessOwner] = []

    def lives(owner: ProcessOwner) -> bool:
        looked.append(owner)
        return True

    stores = [SqliteSlotStore(file, lives=lives) for _ in range(2)]
    for tenths in range(10):
        for number, store in enumerate(stores):
            takes(store, str(number), NOW + tenths / 10)
    assert 2 <= len(looked) <= 8
    for store in stores:
        store.close()


# ── the file of a version before ────────────────────────────────────────────────────────────────────


@pytest.fixture
def former(file: Path) -> Iterator[SqliteSlotStore]:
    """The store of a running session of version 0.1.0."""
    with closing(SqliteSlotStore(file.with_name(FORMER_NAME), patience_s=10.0)) as store:
        assert takes(store, "before")
        store.change("endpoint", lambda _: "open")
        yield store


def test_the_file_under_its_former_name_is_taken_over_once_and_the_session_that_used_it_continues(
    store: SqliteSlotStore, former: SqliteSlotStore, file: Path
) -> None:
    assert not takes(store, "a")
    assert (ids(store), store.cells()) == (["before", "a"], {"endpoint": "open"})
    assert takes(former, "again")
    store.close()
    assert (ids(store), ids(former)) == (["before", "a"], ["again"])


def test_sessions_that_begin_at_once_take_it_over_together(former: SqliteSlotStore, file: Path) -> None:
    together = Barrier(8)

    def begin(number: int) -> bool:
        with closing(SqliteSlotStore(file, patience_s=10.0)) as store:
            together.wait()
            former.renew(["before"], NOW)
            return takes(store, f"s{number}")

    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(begin, range(8)))
    with closing(SqliteSlotStore(file)) as store:
        assert sorted(ids(store)) == ["before", *(f"s{number}" for number in range(8))]


def test_what_a_killed_session_had_half_written_under_the_former_name_is_undone(
    store: SqliteSlotStore, former: SqliteSlotStore, file: Path
) -> None:
    path = file.with_name(FORMER_NAME)
    former.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 1; BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO cells VALUES (?, ?)", [(f"n{number}", "x" * 4_000) for number in range(50)])
        files = {one: one.read_bytes() for one in (path, path.with_name(f"{path.name}-journal"))}
    for one, content in files.items():
        one.write_bytes(content)
    assert (ids(store), store.cells()) == (["before"], {"endpoint": "open"})


@pytest.mark.parametrize("broken", [b"no database " * 400, None])
def test_one_that_cannot_be_taken_over_stays_and_is_reported_once(file: Path, broken: bytes | None) -> None:
    path, reports = file.with_name(FORMER_NAME), list[str]()
    file.parent.mkdir()
    path.mkdir() if broken is None else path.write_bytes(broken)
    for name in ("a", "b"):
        with closing(SqliteSlotStore(file, report=reports.append)) as store:
            assert takes(store, name) is (name == "a")
    assert path.is_dir() if broken is None else path.read_bytes() == broken
    assert reports == [f"{path} cannot be read (file is not a database) and stays where it is; {file} begins anew."] * (
        broken is not None
    )


def test_one_that_another_program_holds_is_named(former: SqliteSlotStore, file: Path) -> None:
    path = file.with_name(FORMER_NAME)
    with closing(sqlite3.connect(path)) as holder, closing(SqliteSlotStore(file)) as store:
        holder.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        with pytest.raises(SlotsError, match=re.escape(f"{path} is held by another program; ")):
            takes(store, "a")
        assert time.monotonic() - began < 30
    assert not file.exists()
