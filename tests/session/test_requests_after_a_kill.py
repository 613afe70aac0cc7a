"""Requests between agents after a kill -9 behind any event: nobody waits for an answer in vain, none comes twice."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.engine.team.requests import LEAD_BOX
from harness.events import (
    Address,
    Arrived,
    Event,
    MailSent,
    MemberChanged,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestState,
)
from harness.policies.protocols.table import RequestMessage
from harness.session import Opening
from tests.agent.stage import Sessions, calls, played, says, sessions
from tests.agent.test_team import of_member, start, wait_for
from tests.session.test_team import ANN, mails, told, until_rest

pytestmark = pytest.mark.anyio

BEN = Address("ben", 1)
SCRIPT = calls(start("ann", "Be ann."), start("ben", "Be ben.")) + says("Started.")
SCRIPT += of_member(says("Noted.", times='"forever"')) + says("Yes.", times='"forever"')


@dataclass
class Image:
    """What a kill -9 right behind an event leaves."""

    event: Event
    folder: Path
    before: bool = False
    """Right before it: what it tells of was done, and it was not written."""


class Camera:
    """Copies the state folder, whenever an event was written."""

    def __init__(self, stage: Sessions, folder: Path) -> None:
        self.state = stage.loaded.settings.state_dir or Path()
        self.folder = folder
        self.images: list[Image] = []
        self.on = False

    def __call__(self, event: Event, at: float) -> None:
        if not self.on:
            return
        image = Image(event, self.folder / str(len(self.images)))
        shutil.copytree(self.state, image.folder, ignore=shutil.ignore_patterns("*.sqlite*"))
        for file in self.state.glob("teams/*.sqlite"):
            with (
                closing(sqlite3.connect(file)) as now,
                closing(sqlite3.connect(image.folder / "teams" / file.name)) as to,
            ):
                now.backup(to)
        self.images.append(image)
        if isinstance(event, MailSent):
            self.images.append(Image(event, image.folder, before=True))

    def put_back(self, image: Image, path: Path) -> None:
        """Make it the state of this session."""
        shutil.rmtree(self.state)
        shutil.copytree(image.folder, self.state)
        if image.before:
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(lines[:-1]))


async def played_story(stage: Sessions, camera: Camera) -> Path:
    """A question that is answered, one that is declined to the lead, one that is withdrawn, and the end of a member."""
    async with await stage.open(observer=camera) as session:
        await played(session.run("start"))
        await until_rest(session)
        team, requests = session.background.team, session.background.team.requests
        camera.on = True
        await requests.make(ANN, RequestKind.QUESTION, BEN, "Why?")
        await until_rest(session)
        await requests.say(BEN, "r1", RequestMessage.ANSWER, "Because.")
        await until_rest(session)
        await requests.make(LEAD_BOX, RequestKind.HAND_OVER, BEN, "Take the parser.")
        await until_rest(session)
        await requests.say(BEN, "r2", RequestMessage.DECLINE, "I am busy.")
        await requests.make(ANN, RequestKind.QUESTION, BEN, "Where?")
        await requests.say(ANN, "r3", RequestMessage.WITHDRAW, "")
        await until_rest(session)
        await requests.make(BEN, RequestKind.QUESTION, ANN, "Who?")
        await until_rest(session)
        await team.end("ann", "the user ended it")
        await until_rest(session)
        camera.on = False
        return session.path


def stored(state: Path, text: str) -> int:
    """How often a text stands in the mailboxes."""
    (file,) = state.glob("teams/*.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        question = "SELECT count(*) FROM mail WHERE kind IN ('answer', 'note') AND body LIKE ?"
        return int(connection.execute(question, (f"{text}%",)).fetchone()[0])


NEWS = (
    ("r1", RequestState.ANSWERED, "ann", "Request r1 (question) is answered by ben: Because."),
    ("r2", RequestState.DECLINED, "lead", "Request r2 (hand over) is declined by ben: I am busy."),
    ("r3", RequestState.WITHDRAWN, "ben", "Request r3 (question) is withdrawn by ann. Nothing is left to do."),
    ("r4", RequestState.LAPSED, "ben", "Request r4 (question) is lapsed by program: ann has ended"),
)
"""Of each request of the story: its end, who reads of it, and the text."""


async def goes_on(stage: Sessions, camera: Camera, image: Image, path: Path) -> None:
    """Resume twice after this kill, and check the mail of everybody."""
    camera.put_back(image, path)
    moved = {one.id for one in told(path, RequestChanged) if isinstance(one, RequestChanged)}
    made = {one.id for one in told(path, RequestMade) if isinstance(one, RequestMade)}
    brought = {one.key for one in told(path, MailSent) if isinstance(one, MailSent)}
    for _ in range(2):
        async with await stage.open(Opening(resume=path.stem)) as session:
            await played(session.run("go on"))
            requests = session.background.team.requests
            if (said := requests._timers.get("")) is not None:
                await said
            await until_rest(session)
            waiting, folder = {one.id for one in requests.fold.waiting}, session.agents_folder
    ends = [one for one in told(path, MemberChanged) if isinstance(one, MemberChanged) and one.state == "ended"]
    assert len(ends) == int("r5" in moved), image
    ended = moved | ({"r4"} if "r5" in moved else set())
    assert waiting == made - ended, image
    read = {name: mails(folder / f"{id}.jsonl") for name, id in (("ann", "a1"), ("ben", "a2"))}
    read["lead"] = [line for one in told(path, Arrived) if isinstance(one, Arrived) for line in one.text.splitlines()]
    for id, state, name, text in NEWS:
        times = int(id in ended and (id != "r3" or "r3 open" in brought))
        assert stored(camera.state, text) == times, (image, text)
        times_read = read[name].count(text)
        gone, note = name == "ann" and ends, state is RequestState.WITHDRAWN  # who has ended or is idle reads nothing
        assert times_read <= times if gone or note else times_read == times, (image, text)


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(lambda event: isinstance(event, RequestChanged) and event.id in ("r1", "r5"), id="two"),
        pytest.param(lambda event: True, id="all", marks=pytest.mark.stories),
    ],
)
async def test_after_a_kill_everybody_reads_each_end_once(tmp_path: Path, chosen: Callable[[Event], bool]) -> None:
    async with sessions(tmp_path, SCRIPT, team=True) as stage:
        camera = Camera(stage, tmp_path / "images")
        path = await played_story(stage, camera)
        images = [image for image in camera.images if chosen(image.event)]
        assert len(images) >= 2
        for image in images:
            await goes_on(stage, camera, image, path)


@pytest.mark.stories
async def test_deadlines_go_on_after_a_restart_and_each_is_passed_once(tmp_path: Path) -> None:
    async with sessions(tmp_path, SCRIPT, team=True, request_deadline_s=0.2) as stage:
        camera = Camera(stage, tmp_path / "images")
        async with await stage.open(observer=camera) as session:
            await played(session.run("start"))
            await until_rest(session)
            camera.on = True
            requests, path = session.background.team.requests, session.path
            await requests.make(ANN, RequestKind.QUESTION, BEN, "Why?")
            await wait_for(session._parts, lambda: not requests.fold.waiting)
            await until_rest(session)
            camera.on = False
        whole = states_of(path)
        assert whole[:2] == [RequestState.REMINDED, RequestState.WITH_LEAD]
        assert len(whole) == len(set(whole)) == 4
        for image in [one for one in camera.images if isinstance(one.event, RequestMade | RequestChanged)]:
            camera.put_back(image, path)
            async with await stage.open(Opening(resume=path.stem)) as session:
                await played(session.run("go on"))
                of_ann = session.agents_folder / "a1.jsonl"
                await wait_for(session._parts, lambda of_ann=of_ann: ends_in(of_ann) > 0)  # type: ignore[misc]
                await until_rest(session)
            assert states_of(path) == whole, image
            assert ends_in(of_ann) == 1, image


def states_of(path: Path) -> list[RequestState]:
    return [one.state for one in told(path, RequestChanged) if isinstance(one, RequestChanged)]


def ends_in(path: Path) -> int:
    """How often a member has read that r1 has ended."""
    return sum(line.startswith("Request r1") for line in mails(path))
