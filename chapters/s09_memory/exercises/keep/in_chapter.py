"""An agent whose tool `remember` writes with the learner's `keep`, first in copies that are killed on the way."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from types import ModuleType

from chapters.course import DemoSession
from harness.events import Notice
from harness.tools import Effect, ToolError, tool

FOLDER = "memory"
MOST = 2
"""Old texts that are kept."""
MOST_STEPS = 60


class Killed(BaseException):
    """The program ends here. No Exception, so that nothing that is written for errors catches it."""


class FolderDisk:
    """The `Disk` of the exercise over a folder."""

    def __init__(self, folder: Path, steps: int = -1) -> None:
        """`steps` is how many are left until the program is killed; below 0: it is not killed."""
        self._folder = folder
        self._steps = steps

    def names(self) -> list[str]:
        """All files."""
        files = (file for file in self._folder.rglob("*") if file.is_file())
        return sorted(file.relative_to(self._folder).as_posix() for file in files)

    def read(self, name: str) -> str:
        """The text of a file."""
        return (self._folder / name).read_text("utf-8")

    def write(self, name: str, text: str) -> None:
        """Two steps: the first half, and the whole."""
        self._step()
        file = self._folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text[: len(text) // 2], "utf-8")
        self._step()
        file.write_text(text, "utf-8")

    def rename(self, old: str, new: str) -> None:
        """One step."""
        self._step()
        (self._folder / new).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / old).replace(self._folder / new)

    def remove(self, name: str) -> None:
        """One step."""
        self._step()
        (self._folder / name).unlink()

    def _step(self) -> None:
        if self._steps == 0:
            raise Killed
        self._steps -= 1


def texts_in(folder: Path) -> dict[str, str]:
    """The files that a session would read."""
    disk = FolderDisk(folder)
    return {name: disk.read(name) for name in disk.names() if name.endswith(".md")}


def after_kills(folder: Path, work: ModuleType, name: str, text: str) -> Iterator[dict[str, str]]:
    """What a kill leaves, for each place in turn, in a copy of the folder."""
    with TemporaryDirectory(prefix="harness-kill-") as scratch:
        for steps in range(MOST_STEPS):
            copy = Path(scratch, "memory")
            rmtree(copy, ignore_errors=True)
            copytree(folder, copy)
            try:
                work.keep(FolderDisk(copy, steps), name, text, MOST)
            except Killed:
                yield texts_in(copy)
            else:
                return


def report(folder: Path, work: ModuleType, name: str, text: str) -> str:
    """The number of moments for a kill, and the errors after them."""
    file, before = f"{name}.md", texts_in(folder)
    whole = {*before.values(), text}
    places = missing = halves = lost = 0
    for left in after_kills(folder, work, name, text):
        places += 1
        missing += file in before and file not in left
        halves += any(one not in whole for one in left.values())
        lost += left.get(file) != text and not {*before.values()} <= {*left.values()}
    return f"killed at {places} places: {file} missing {missing} times, half a text {halves}, an old text lost {lost}"


async def demo(session: DemoSession, work: ModuleType) -> None:
    """All turns of one agent; the memories are in its workspace."""
    folder = session.workspace / FOLDER
    folder.mkdir()
    errors: list[Exception] = []

    @tool(effect=Effect.READ)
    async def remember(name: str, text: str) -> str:
        """Write a memory, perhaps over an old one."""
        try:
            if text.strip():
                session.show(Notice("info", report(folder, work, name, text)))
            work.keep(FolderDisk(folder), name, text, MOST)
        except ValueError as error:
            raise ToolError(f"not written: {error}") from error
        except Exception as error:
            errors.append(error)
            raise
        return f"{', '.join(FolderDisk(folder).names())}"

    async with session.agent(tools=[remember], standard=("read_file",)) as agent:
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
            if errors:
                raise errors[0]
