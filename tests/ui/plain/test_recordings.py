"""`harness watch` and `harness replay` in lines: real sessions, followed and played by real processes."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from harness.events import (
    Event,
    Message,
    MessageAdded,
    Notice,
    Origin,
    PermissionAsked,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.journal import Journal, read, session_folder
from tests.ui.program import Finished, Place, end_of, run, start
from tests.ui.terminals import Terminal
from tests.ui.warm import Piped

pytestmark = pytest.mark.anyio

SLOW = """
[[reply]]
text = "I look."
tools = [{ name = "bash", input = { command = "sleep 0.3; echo done" } }]

[[reply]]
text = "It is done."
"""
LIMIT_S = 60


def reply(text: str) -> MessageAdded:
    return MessageAdded(Message("assistant", ({"type": "text", "text": text},)), Origin.REPLY)


def ended(code: TransitionCode = TransitionCode.COMPLETED) -> TurnEnded:
    return TurnEnded(1, code, "the reason", "", Usage(), 0.0, 2, 2, 3.0)


STORY: tuple[tuple[float, Event], ...] = (
    (0.0, TurnStarted(1, "look around")),
    (0.0, StepStarted(1)),
    (0.1, reply("I look.")),
    (0.0, PermissionAsked("1", "bash", "ls", "it runs a program")),
    (3600.0, ToolStarted("1", "bash", "ls", {})),
    (0.1, ToolEnded("1", "bash", ToolOutcome.OK, "3 lines", 0.1)),
    (0.0, StepStarted(2)),
    (0.1, reply("There are \x1b[31mthree files.")),
    (0.0, ended()),
)
TOLD = """\
> look around
I look.
? may it run bash ls (it runs a program)
○ bash ls … ✓ ok, 3 lines, 0.1 s
There are \\x1b[31mthree files.
· 3.0 s, 2 requests

"""


def written(place: Place, name: str = "20261121-0345-aaaaaa", story: tuple[tuple[float, Event], ...] = STORY) -> Path:
    """A journal among the sessions of the folder."""
    now = 1_795_234_000.0
    folder = session_folder(place.folder, place.state)
    clock = iter([now := now + gap for gap, _ in story])
    with Journal.create(folder, name, clock=lambda: next(clock)) as journal:
        for _, event in story:
            journal.append(event)
    return journal.path


async def until(process: Piped, text: str) -> str:
    """What a process writes up to the line that holds `text`."""
    seen = ""
    async with asyncio.timeout(LIMIT_S):
        while text not in seen:
            line = await process.stdout.readline()
            assert line, f"{text!r} did not come:\n{seen}"
            seen += line.decode()
    return seen


async def interrupted(process: Piped, number: signal.Signals = signal.SIGINT) -> Finished:
    process.send_signal(number)
    return await end_of(process)


async def read_up_to(text: str, place: Place, *arguments: str) -> int:
    """The exit code of the command when its output is a pipe whose reader leaves after it has seen `text`."""
    process = await start(place, *arguments)
    await until(process, text)
    process.stop_reading()
    end = await end_of(process)
    assert end.err == ""
    return end.code


# ── watching ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.stories
async def test_a_running_session_is_watched_from_beside_it(tmp_path: Path, place: Place) -> None:
    script = tmp_path / "slow.toml"
    script.write_text(SLOW)
    path = written(place)
    watching = await start(place, "watch")
    assert (await until(watching, "end of the record so far")).startswith(TOLD)
    answering = await start(place, "--yolo", "--continue", "--practice", str(script))
    seen = await until(watching, f"· process {answering.pid} continues it\n")
    finished = asyncio.create_task(end_of(answering, "again\n"))
    seen += await until(watching, "the session was closed")
    assert (await finished).code == 0
    told = [line for line in seen.splitlines() if line.startswith(("> ", "I look", "○ ", "It is"))]
    assert told[:2] == ["> again", "I look."]
    assert told[2].startswith("○ bash sleep 0.3; echo done … ✓ ok")
    assert told[3:] == ["It is done."]
    end = await interrupted(watching)
    assert (end.code, end.out, end.err) == (130, f"resume with: harness --resume {path.stem}\n", "")


async def test_without_a_name_the_running_session_is_watched_and_not_a_later_one(place: Place) -> None:
    written(place, "20261121-0345-bbbbbb")
    with Journal.create(
        session_folder(place.folder, place.state), "20261121-0345-aaaaaa", clock=lambda: 1.0
    ) as running:
        running.append(Notice("info", "here I am"))
        watching = await start(place, "watch", "--plain")
        seen = await until(watching, "end of the record so far")
        assert seen.splitlines()[0] == "· here I am"
        assert f"process {os.getpid()} writes it" in seen
        await interrupted(watching)


async def test_sigterm_ends_watching(place: Place) -> None:
    written(place)
    watching = await start(place, "watch", "latest")
    await until(watching, "no process writes it now")
    assert (await interrupted(watching, signal.SIGTERM)).code == 143


@pytest.mark.parametrize(("form", "last"), [("text", "Ctrl-C stops watching\n"), ("stream-json", "turn_ended")])
async def test_watching_ends_when_its_reader_has_left_although_nothing_happens(
    place: Place, form: str, last: str
) -> None:
    written(place)
    assert await read_up_to(last, place, "watch", "--output-format", form) == 141


async def test_as_json_each_record_is_a_line(place: Place) -> None:
    path = written(place)
    with path.open("ab") as file:
        file.write(b"rubbish\n")
    watching = await start(place, "watch", str(path), "--output-format", "stream-json")
    seen = await until(watching, "turn_ended")
    assert [json.loads(line) for line in seen.splitlines()] == [
        json.loads(line) for line in path.read_text().splitlines()[: len(STORY)]
    ]
    end = await interrupted(watching)
    assert (end.code, end.out, end.err) == (130, "", "line 10 of the journal is skipped: not JSON\n")


async def test_a_journal_that_is_cut_ends_watching_with_a_sentence(place: Place) -> None:
    path = written(place)
    watching = await start(place, "watch")
    await until(watching, "end of the record so far")
    path.write_bytes(b"")
    end = await end_of(watching)
    assert end.code == 1
    assert end.err.startswith(f"harness: The journal {path} was cut while it was followed")


async def test_a_session_that_there_is_not_is_bad_usage(place: Place) -> None:
    for command in ("watch", "replay"):
        end = await run(place, command)
        assert end.code == 2
        assert "There is no session for this folder yet" in end.err


@pytest.mark.stories
async def test_ctrl_c_in_a_terminal_ends_watching(place: Place) -> None:
    """Here `harness watch` is started cold."""
    written(place)
    async with Terminal(place, "watch", "--plain", cold=True) as terminal:
        await terminal.sees("end of the record so far")
        terminal.type("\x03")
        await terminal.sees("resume with: harness --resume 20261121-0345-aaaaaa")
        assert await terminal.ends() == 130


# ── replaying ───────────────────────────────────────────────────────────────────────────────────

GO_ON = "resume with: harness --resume 20261121-0345-aaaaaa\n"


async def test_without_pauses_a_session_is_printed_as_it_was(place: Place) -> None:
    written(place)
    end = await run(place, "replay", "--speed", "0")
    assert (end.code, end.out, end.err) == (0, TOLD + GO_ON, "")


async def test_with_pauses_a_long_silence_is_shortened_and_reported(place: Place) -> None:
    written(place)
    begun = asyncio.get_running_loop().time()
    end = await run(place, "replay", "--speed", "8")
    assert asyncio.get_running_loop().time() - begun >= 2.3 / 8
    first, *rest = end.out.splitlines(keepends=True)
    assert first == "· replay at speed 8; silences of more than 2.0 s are shortened. Ctrl-C stops\n"
    rest.remove("… 60 min pass\n")
    assert "".join(rest) == TOLD + GO_ON


async def test_it_can_begin_with_a_later_step(place: Place) -> None:
    written(place)
    end = await run(place, "replay", "20261121", "--speed", "0", "--from", "2")
    assert end.out == TOLD[TOLD.index("There are") :] + GO_ON
    end = await run(place, "replay", "--from", "3")
    assert (end.code, end.out) == (1, "")
    assert end.err == "harness: The session has no step 3; its steps are 1 to 2.\n"


@pytest.mark.parametrize("speed", ["0.1", "nan"])
async def test_a_speed_that_does_not_exist_is_bad_usage(place: Place, speed: str) -> None:
    end = await run(place, "replay", f"--speed={speed}")
    assert (end.code, end.err) == (2, "harness: --speed must be from 0.25 to 32, or 0 for no pauses.\n")


async def test_a_journal_from_elsewhere_is_replayed_without_a_way_to_continue(place: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "sent by somebody.jsonl"
    elsewhere.write_bytes(written(place).read_bytes() + b"rubbish\n")
    end = await run(place, "replay", str(elsewhere), "--speed", "0")
    assert (end.code, end.out) == (0, TOLD)
    assert end.err == "1 line of sent by somebody.jsonl could not be read\n"


async def test_ctrl_c_and_a_reader_that_leaves_end_replaying(place: Place) -> None:
    path = written(place, story=((0.0, Notice("info", "begin")), *[(1.9, Notice("info", "more"))] * 200))
    replaying = await start(place, "replay")
    await until(replaying, "begin")
    end = await interrupted(replaying)
    assert (end.code, end.out) == (130, f"resume with: harness --resume {path.stem}\n")
    assert await read_up_to("begin", place, "replay") == 141
    assert len(read(path).records) == 201
