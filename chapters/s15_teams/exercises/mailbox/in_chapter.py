"""The learner's mailbox carries the mail of a lead, on files that are killed in the middle."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType

from chapters.course import DemoSession
from chapters.s14_schedule.demo import inbox_of
from harness.events import ArrivalKind, Notice
from harness.model.notices import mail_text

NAME = "lead"


class Killed(Exception):  # noqa: N818
    """The program was killed."""


class Disk:
    """Files in memory; a program is killed when it has written so many bytes."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.left: int | None = None

    def append(self, name: str, data: bytes) -> None:
        """Add to the end of a file."""
        written = data[: self.left]
        self.files[name] = self.files.get(name, b"") + written
        if self.left is not None:
            self.left -= len(written)
            if not self.left:
                raise Killed

    def read(self, name: str, start: int = 0) -> bytes:
        """A file from a position to its end."""
        return self.files.get(name, b"")[start:]

    def remove(self, name: str) -> None:
        """Delete a file."""
        self.files.pop(name, None)


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Ann and ben write, a writer and the reader are killed, and the lead reads what is in the history."""
    disk = Disk()

    def send(disk: Disk, sender: str, key: int, text: str) -> None:
        work.Mailbox(disk, NAME).send({"from": sender, "key": key, "text": text})

    def read(disk: Disk) -> None:
        work.Mailbox(disk, NAME).read()

    def killed(who: str, act: Callable[[Disk], None]) -> None:
        whole = Disk(disk.files)
        act(whole)
        written = sum(max(0, len(data) - len(disk.read(name))) for name, data in whole.files.items())
        disk.left = written // 2
        with suppress(Killed):
            act(disk)
        disk.left = None
        session.show(Notice("info", f"{who} is killed after half of what it writes"))

    async for _ in session.prompts():
        send(disk, "ann", 1, "The tide is high.")
        killed("ben", lambda disk: send(disk, "ben", 1, "The pier is closed."))
        send(disk, "ben", 1, "The pier is closed.")
        send(disk, "ann", 2, "Two boats are adrift.")
        killed("the lead", read)
        read(disk)
        read(disk)
        async with session.agent(session.settings(permission_mode="yolo")) as agent:
            for id, one in enumerate(work.history(disk, NAME), 1):
                sender = str(one["from"])
                text = mail_text(id, sender, "message", str(one["text"]))
                inbox_of(agent).arrive(ArrivalKind.MAIL, sender, text)
            await session.watch(agent.deliver())
