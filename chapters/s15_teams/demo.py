"""s15: programs that write to a mailbox and are killed; then a lead with two members, who write to each other."""

import asyncio
import json
import sys
from collections import Counter

from chapters.course import DemoSession
from chapters.s15_teams.team_run import TeamRun
from harness.events import Notice

WRITERS = ("ann", "ben", "cleo", "dan")
EACH = 250
"""Messages of each writer."""
READ = 40
"""Messages after which the reader is killed."""
HOURS, LAST = 10, "End ben, and start another one."
"""How long the team is idle, and after which prompt."""


class Post:
    """The programs of one mailbox of the workspace."""

    def __init__(self, session: DemoSession, module: str) -> None:
        self._module = module
        self._folder = session.workspace

    async def program(self, act: str, *words: str) -> asyncio.subprocess.Process:
        """Start `post.py`."""
        pipe = asyncio.subprocess.PIPE
        command = sys.executable, "post.py", self._module, act, "lead", *words
        return await asyncio.create_subprocess_exec(*command, cwd=self._folder, stdin=pipe, stdout=pipe, stderr=pipe)

    async def said(self, act: str, *words: str) -> str:
        """Run `post.py`; what it writes, in one line."""
        out, err = await (await self.program(act, *words)).communicate()
        return " · ".join((out + err).decode().splitlines()) or "nothing"

    async def killed(self, act: str, *words: str, after: int) -> None:
        """Run `post.py`, and kill it when it has written so many lines."""
        program = await self.program(act, *words)
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(b"\n" * after)
        for _ in range(after):
            await program.stdout.readline()
        program.kill()
        await program.communicate()

    async def exchange(self) -> str:
        """Four programs write at the same time; the first of two readers is killed. What is in the history then?"""
        writers = [await self.program("send", name, str(EACH)) for name in WRITERS]
        tasks = [asyncio.create_task(writer.communicate(b"go\n")) for writer in writers]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await self.killed("step", after=READ)
        outputs = await asyncio.gather(*tasks)
        await self.said("read")
        sent = [(name, int(line)) for name, (out, _) in zip(WRITERS, outputs, strict=True) for line in out.split()]
        lines = (self._folder / "lead.history").read_text("utf-8").splitlines()
        history = [(one["from"], one["text"]) for one in map(json.loads, filter(None, lines))]
        lost, twice = len(set(sent) - set(history)), sum(count > 1 for count in Counter(history).values())
        order = "in order" if sorted(history, key=lambda one: WRITERS.index(one[0])) == sorted(history) else "mixed up"
        return f"{len(sent):,} messages sent, {lost:,} lost, {twice} read twice, those of each writer {order}"


async def by_hand(session: DemoSession) -> None:
    """Four programs write, first to a mailbox that is emptied, then to one with a cursor."""

    def show(text: str) -> None:
        session.show(Notice("info", text))

    for module in ("naive", "mailbox"):
        post = Post(session, module)
        show(f"{module}.py: {await post.exchange()}")
        (session.workspace / "lead.history").unlink()
    (session.workspace / "lead.mail").unlink()
    await post.killed("half", "ben", "The pier is", after=1)
    await post.said("send", "ann", "The storm is over.")
    show(f"ben is killed in mid-sentence, ann writes; the lead reads: {await post.said('read')}")
    show(f"there is room for half a message; cleo reads: {await post.said('full', 'cleo', 'Two boats are adrift.')}")
    await post.said("send", "dan", "Both are back.")
    show(f"dan writes; the lead reads: {await post.said('read')}")


async def demo(session: DemoSession) -> None:
    """Mailboxes by hand; then a team, which is idle for ten hours at the end."""
    await by_hand(session)
    team = TeamRun(session)
    async with team.agent as agent:
        async for prompt in session.prompts():
            await team.turn(agent.run(prompt))
            await team.settle()
            if prompt == LAST:
                team.clock.forward(HOURS * 3_600)
                await team.settle()
                session.show(Notice("info", f"{HOURS} hours later"))
