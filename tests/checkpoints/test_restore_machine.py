"""Any sequence of file operations, keeps and restores, beside an oracle that keeps everything in a dict."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.checkpoints.places import State, checkpoints, repository, state_of, write

RULES = ("", "*.log\n", "d/\n", "*.log\nd/\n")
PATHS = st.sampled_from(
    ["a", "b.log", "d", "d/a", "d/b.log", "d/e/c", "f/g/h", "f/g", "new\nline", "\udcff", "x" * 200]
)
CONTENTS = st.binary(max_size=3) | st.sampled_from([b"\r\n", b"x" * 70_000])

Operation = Callable[[Path], None]


def place(workspace: Path, path: str, *, link_itself: bool = False) -> Path:
    """Where an operation may work. Raises OSError for whatever a link would lead away from there."""
    whole = workspace / path
    parents = [parent for parent in whole.parents if parent.is_relative_to(workspace) and parent != workspace]
    if any(part.is_symlink() for part in (parents if link_itself else [whole, *parents])):
        raise OSError("only through a link")
    return whole


def _create(path: str, content: bytes) -> Operation:
    return lambda workspace: void(write(place(workspace, path), content))


def _remove(path: str) -> Operation:
    return lambda workspace: place(workspace, path, link_itself=True).unlink()


def _remove_folder(path: str) -> Operation:
    return lambda workspace: shutil.rmtree(place(workspace, path))


def _rename(path: str, other: str) -> Operation:
    return lambda workspace: void(
        place(workspace, path, link_itself=True).rename(place(workspace, other, link_itself=True))
    )


def _permit(path: str, mode: int) -> Operation:
    def permit(workspace: Path) -> None:
        found = place(workspace, path)
        if found.is_file():
            found.chmod(mode)

    return permit


def _link(path: str, target: str) -> Operation:
    return lambda workspace: place(workspace, path, link_itself=True).symlink_to(target)


def void(_: object) -> None:
    """Nothing, whatever was given."""


@dataclass(frozen=True)
class Keep:
    """Make a checkpoint."""


@dataclass(frozen=True)
class Restore:
    """Restore an earlier checkpoint, counted from the newest, and optionally undo the restore."""

    back: int
    undo: bool


OPERATIONS = st.one_of(
    st.builds(_create, PATHS, CONTENTS),
    st.builds(_create, st.just(".gitignore"), st.sampled_from([rules.encode() for rules in RULES])),
    st.builds(_remove, PATHS),
    st.builds(_remove_folder, PATHS),
    st.builds(_rename, PATHS, PATHS),
    st.builds(_permit, PATHS, st.sampled_from([0o644, 0o755, 0o600, 0o444])),
    st.builds(_link, PATHS, st.sampled_from(["a", "d", "no/where", "..", "/no/where/at/all"])),
)
MIXED = st.one_of(OPERATIONS, OPERATIONS, st.builds(Keep), st.builds(Restore, st.integers(0, 3), st.booleans()))
SEQUENCES = st.builds(
    lambda first, then: [*first, Keep(), *then, Restore(0, undo=True)],
    st.lists(OPERATIONS, max_size=8),
    st.lists(MIXED, max_size=15),
)


def is_ignored(path: str, rules: str) -> bool:
    """The four sets of rules above, in words of our own."""
    in_folder = any(path.startswith(f"{name}/") or f"/{name}/" in path for name in ("d",))
    logs = any(part.endswith(".log") for part in path.split("/"))
    return ("d/" in rules.split() and in_folder) or ("*.log" in rules.split() and logs)


@dataclass(frozen=True)
class Memory:
    """What the oracle knows of a checkpoint."""

    id: str
    kept: State
    ignored: set[str]


def seen(workspace: Path) -> tuple[State, set[str]]:
    """The state to keep now, and the ignored paths."""
    state = state_of(workspace)
    file = workspace / ".gitignore"
    rules = file.read_text() if file.is_file() and not file.is_symlink() else ""
    ignored = {path for path in state if is_ignored(path, rules)}
    return {path: held for path, held in state.items() if path not in ignored}, ignored


def expected_after(memory: Memory, workspace: Path) -> tuple[State, bool]:
    """What a restore has to leave, and whether something cannot be put back because an ignored file is in the way."""
    present = state_of(workspace)
    _, ignored_now = seen(workspace)
    # A folder that was ignored as a whole is left out as a whole, including files added since.
    folders = {path[: path.index("/") + 1] for path in memory.ignored if path.startswith("d/")}
    whole = {"d/"} & folders if not any(path.startswith("d/") for path in memory.kept) else set()
    whole = {folder for folder in whole if is_ignored("d/x", memory.kept.get(".gitignore", ("", 0, b""))[2].decode())}
    stays = {
        path: held
        for path, held in present.items()
        if path not in memory.kept
        and (path in memory.ignored or path in ignored_now or any(path.startswith(folder) for folder in whole))
    }
    blocked = {
        path
        for path in memory.kept
        if any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in stays)
    }
    return {**stays, **{path: held for path, held in memory.kept.items() if path not in blocked}}, bool(blocked)


async def played(sequence: list[Operation | Keep | Restore], workspace: Path, folder: Path) -> None:
    kept = checkpoints(workspace, folder)
    memories: list[Memory] = []
    for operation in sequence:
        match operation:
            case Keep():
                memories.append(Memory((await kept.keep()).id, *seen(workspace)))
            case Restore(back=back, undo=undo) if back < len(memories):
                memory = memories[-1 - back]
                before = state_of(workspace)
                expected, blocked = expected_after(memory, workspace)
                changes = await kept.changes_since(memory.id)
                assert state_of(workspace) == before
                restored = await kept.restore(memory.id)
                assert state_of(workspace) == expected
                if not blocked:
                    assert len(changes) == len({*restored.written, *restored.removed})
                    assert {change.path for change in changes} == {*restored.written, *restored.removed}
                if undo:
                    await kept.restore(restored.undo)
                    assert state_of(workspace) == before
            case Restore():
                continue
            case _:
                with suppress(OSError):
                    operation(workspace)


@pytest.mark.parametrize("in_git", [True, False])
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(sequence=SEQUENCES)
def test_a_restore_leaves_what_the_oracle_says(in_git: bool, sequence: list[Operation | Keep | Restore]) -> None:
    with tempfile.TemporaryDirectory() as place:
        workspace = Path(place, "workspace")
        workspace.mkdir()
        if in_git:
            repository(workspace)
        asyncio.run(played(sequence, workspace, Path(place, "session")))
