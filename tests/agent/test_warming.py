"""A session can be opened before anything heavy is loaded or started."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from harness.agent import Agent
from harness.base.errors import HarnessError
from harness.engine.conversation import Conversation
from harness.events import Event, Notice, StepStarted, TransitionCode
from harness.practice.checks.rules import ServedModel, ServerRules
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, open_session
from harness.settings import LoadedSettings, load
from harness.ui.lines.reports import greeting
from tests.agent.stage import KEY, played, settings_of
from tests.processes.traces import until

pytestmark = pytest.mark.anyio

COLD = """
import asyncio, sys
from pathlib import Path
from harness.session import NoAsker, Opening, open_session
from harness.settings import load

async def main():
    folder = Path(sys.argv[1])
    loaded = load({"practice": True, "workspace": folder, "state_dir": folder / "state"}, {}, folder)
    async with await open_session(loaded, NoAsker(), warm=False) as session:
        print("anthropic" in sys.modules, "harness.practice.server" in sys.modules, session.connection.address)

asyncio.run(main())
"""


def practising(folder: Path, **values: object) -> LoadedSettings:
    """Settings with which the practice model answers."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    flags = {"practice": True, "workspace": workspace, "state_dir": folder / "state", "permission_mode": "yolo"}
    return load(flags | values, {}, workspace, user_file=folder / "no-settings.toml")


def listening() -> int:
    """Sockets on which this process waits for connections."""
    return sum(one.status == psutil.CONN_LISTEN for one in psutil.Process().net_connections("tcp"))


def test_a_cold_session_has_neither_the_sdk_nor_the_practice_server(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", COLD, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False False the built-in practice model"


async def test_a_session_is_opened_warm_unless_asked_otherwise(tmp_path: Path) -> None:
    before = listening()
    async with await open_session(practising(tmp_path), NoAsker()):
        assert listening() == before + 1


async def test_warming_starts_the_server_once_however_often_it_is_asked_for(tmp_path: Path) -> None:
    before = listening()
    async with await open_session(practising(tmp_path), NoAsker(), warm=False) as session:
        assert listening() == before
        await asyncio.gather(session.warm(), session.warm())
        assert listening() == before + 1
        assert session.connection.address.startswith("http://127.0.0.1:")
    assert listening() == before


async def test_a_turn_need_not_wait_for_the_warming_and_may_come_during_it(tmp_path: Path) -> None:
    async with await open_session(practising(tmp_path), NoAsker(), warm=False) as session:
        assert (await played(session.run("Hello"))).end.code is TransitionCode.COMPLETED
    before = listening()
    async with await open_session(practising(tmp_path), NoAsker(), warm=False) as session:
        _, turn = await asyncio.gather(session.warm(), played(session.run("Hello")))
        assert turn.end.code is TransitionCode.COMPLETED
        assert listening() == before + 1


async def test_a_session_that_is_closed_while_it_warms_leaves_nothing_behind(tmp_path: Path) -> None:
    before = listening()
    session = await open_session(practising(tmp_path), NoAsker(), warm=False)
    warming = asyncio.create_task(session.warm())
    await asyncio.sleep(0)
    await session.aclose()
    await warming
    assert listening() == before


async def test_a_session_that_cannot_be_resumed_leaves_nothing_behind(tmp_path: Path) -> None:
    before = listening()
    async with await open_session(practising(tmp_path), NoAsker()) as session:
        for step in (1, 2):
            session.conversation.emit(StepStarted(step))
    lines = session.path.read_bytes().splitlines(keepends=True)
    session.path.write_bytes(b"".join(reversed(lines)))
    with pytest.raises(HarnessError, match="out of order"):
        await open_session(practising(tmp_path), NoAsker(), Opening("latest"))
    assert listening() == before


async def test_settings_that_cannot_be_used_are_refused_before_any_warming(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[[reply]]\ntext = 1\n")
    with pytest.raises(HarnessError, match=r"broken\.toml"):
        await open_session(practising(tmp_path, practice_script=broken), NoAsker(), warm=False)
    with pytest.raises(HarnessError, match="base_url"):
        await open_session(settings_of(tmp_path, f"http://me:{KEY}@localhost"), NoAsker(), warm=False)


async def test_a_session_lists_the_files_of_its_workspace_without_what_git_ignores(tmp_path: Path) -> None:
    loaded = settings_of(tmp_path, "http://127.0.0.1:9")
    root = loaded.settings.workspace
    for name in ("notes.md", "src/天気.py", "src/deep/loop.py", "build/out.o", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / ".gitignore").write_text("build/\n")
    async with await open_session(loaded, NoAsker()) as session:
        files = session.files()
        assert {".gitignore", "notes.md", "src/天気.py", "src/deep/loop.py"} <= set(files)
        assert not [file for file in files if file.startswith(("build/", ".git/"))]
        assert session.files(limit=2) == files[:2]


# ── models that end ─────────────────────────────────────────────────────────────────────────────────


SAYS = '[[reply]]\ntext = "Hello."\ntimes = "forever"\n'


def notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def test_a_session_begins_with_the_models_that_end(tmp_path: Path) -> None:
    loaded = settings_of(
        tmp_path, "http://127.0.0.1:1", model="claude-opus-4-0", fallback_models=("claude-sonnet-4-6",)
    )
    async with await open_session(loaded) as session:
        (text,) = session.retirements
        greeted = [line.text for line in greeting(session, loaded)]
    assert text.startswith(
        "claude-opus-4-0 was to be retired on 2026-06-15 and may stop at any time; use -m claude-opus-"
    )
    assert text in greeted


async def test_what_the_server_says_about_an_end_is_said_once_also_with_several_turns(tmp_path: Path) -> None:
    ends = datetime.now(UTC) + timedelta(days=20)
    model = ServedModel("newcomer", 100_000, 8_000, retires_at=ends.isoformat())
    seen: list[Event] = []
    async with PracticeServer(script=replace(Script.parse(SAYS), rules=ServerRules(models=(model,)))) as server:
        settings = settings_of(tmp_path, server.base_url, model="newcomer").settings
        async with Agent(settings, conversation=Conversation(seen.append)) as agent:
            for _ in range(3):
                await played(agent.run("hello"))
    (text,) = notices(seen)
    assert text.startswith(f"newcomer will be retired on {ends.date()}, in ")


async def test_closing_an_agent_ends_its_question_about_the_models(tmp_path: Path) -> None:
    asked: list[bytes] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Agent(settings_of(tmp_path, f"http://127.0.0.1:{port}", model="newcomer").settings) as agent:
            turn = asyncio.create_task(played(agent.run("hello")))
            await until(lambda: any(b"/v1/models" in line for line in asked))
            agent.interrupt()
            await turn
        names = [str(task.get_coro()) for task in asyncio.all_tasks()]
        assert not [name for name in names if "_update_catalogue" in name]
