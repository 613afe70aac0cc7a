"""Activity: the line above the prompt, the title of the terminal, and the bell."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.events import AppBlur, AppFocus

from harness.events import (
    CompactionStarted,
    Event,
    PermissionAsked,
    SilenceHint,
    TextDelta,
    ThinkingDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.ui.app.activity import activity, joins, title
from harness.ui.app.app import HERE_S
from harness.ui.app.status_line import line
from harness.ui.panel.state import Panel
from tests.agent.stage import calls, fails, says
from tests.ui.app.test_conversation import opened
from tests.ui.panel.situations import FAILED, MODEL, RETRY, after
from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = pytest.mark.anyio
BASH = ToolStarted("a", "bash", "npm test\n--all", {})
NO_WORDS = ToolStarted("a", "ask", "", {})
WAITS = "until [ -e go ]; do sleep 0.05; done"


@pytest.mark.parametrize(
    ("events", "wide", "narrow", "titled"),
    [
        ([], f"asking {MODEL} · 5 s", f"asking {MODEL}", "asking"),
        (
            [SilenceHint("streaming", 20.0, 60.0)],
            f"asking {MODEL} · 5 s · silent for 20 s",
            f"asking {MODEL}",
            "asking",
        ),
        ([ThinkingDelta("x" * 41)], "thinking · 5 s · about 11 tokens", "thinking · 5 s", "thinking"),
        ([TextDelta("x" * 40_000)], "answering · 5 s · about 10k tokens", "answering · 5 s", "answering"),
        ([NO_WORDS], "running ask · 5 s", "running ask · 5 s", "running ask"),
        ([BASH], "running bash: npm test --all · 5 s", "running bash: npm test -…   Esc stop", "running bash"),
        (
            [BASH, ToolStarted("b", "grep", "x", {}), ToolStarted("c", "grep", "y", {})],
            "running bash, grep · 3 calls · 5 s",
            "running bash, grep",
            "running bash",
        ),
        ([BASH, ToolEnded("a", "bash", ToolOutcome.OK, "", 1.0)], "working", "working", "working"),
        ([FAILED, RETRY], "529 overloaded · next try in 3 s · 3 of 10", "529 overloaded", "waits (529 overloaded)"),
        ([CompactionStarted("auto", 9)], "compacting · 5 s", "compacting · 5 s", "compacting"),
    ],
)
def test_the_line_and_the_title_say_what_runs(events: Sequence[Event], wide: str, narrow: str, titled: str) -> None:
    panel = after(*events)
    at = RETRY.retry_at - 3 if RETRY in events else panel.model.since + 5.5
    assert line(activity(panel, at, ()), 100).plain.split("    ")[0] == wide
    assert line(activity(panel, at, ()), 100).plain.endswith("    Esc stop")
    assert line(activity(panel, at, ()), 36).plain.startswith(narrow)
    assert line(activity(panel, at, [("Alt+R", "retry now"), ("Esc", "stop")]), 100).plain.endswith(
        "    Alt+R retry now   Esc stop"
    )
    assert title(panel, "shop", running=True) == f"harness · {titled}"
    assert title(panel, "shop", running=False) == "harness · shop"


@pytest.mark.parametrize(
    ("events", "place"),
    [
        ([], "after this reply"),
        ([BASH], "after npm test --all, 1:02"),
        ([BASH, ToolStarted("b", "grep", "x", {})], "after 2 calls, 1:02"),
        ([BASH, ToolEnded("a", "bash", ToolOutcome.OK, "", 1.0)], "the next request"),
        ([FAILED, RETRY], "the next try"),
        ([CompactionStarted("auto", 9)], "after the compaction"),
        ([PermissionAsked("a", "bash", "x", "y")], "after your answer"),
    ],
)
def test_a_waiting_text_says_where_it_joins(events: Sequence[Event], place: str) -> None:
    panel = after(*events)
    assert joins(panel, panel.model.since + 62.5, running=True) == f"joins {place}"
    assert joins(panel, panel.model.since, running=False) == "joins your next prompt"


def test_a_question_needs_no_seconds_and_no_key() -> None:
    panel = after(PermissionAsked("a", "bash", "x", "y"))
    assert line(activity(panel, panel.at + 50, ()), 60).plain.rstrip() == "waiting for your answer"
    assert title(panel, "shop", running=True) == "harness · asks you"
    paused = after()
    assert activity(paused, paused.at, (), asks=True).facts == ("waiting for your answer",)
    assert title(paused, "shop", running=True, asks=True) == "harness · asks you"


def test_nothing_is_claimed_of_an_empty_panel() -> None:
    assert activity(Panel(), 0.0, ()).facts == ("working",)
    assert title(Panel(), "shop", running=True) == "harness · working"


async def test_the_line_is_there_while_something_runs_also_without_the_panel(tmp_path: Path) -> None:
    retries = fails(529, headers='{ retry-after = "50" }', times="1") + says("An answer.")
    async with opened(tmp_path, retries) as here:
        assert not here.app.activity.display
        await here.pilot.press("f2")
        await here.says(f"!{WAITS}")
        await here.sees("running bash: until")
        (tmp_path / "workspace" / "go").touch()
        await here.rests()
        await here.pilot.pause()
        assert not here.app.activity.display
        await here.says("hello")
        seen = await here.sees("529 overloaded · next try in")
        row = next(number for number, row in enumerate(seen) if "529 overloaded · next try in" in row)
        await here.pilot.click(offset=(seen[row].index("retry now"), row))
        await here.sees("An answer.")
        await here.rests()


@pytest.mark.parametrize("kind", ["bell", "osc9", "off"])
async def test_the_user_is_called_unless_the_user_is_here(tmp_path: Path, kind: str) -> None:
    asks = calls('{ name = "bash", input = { command = "touch made" } }', when='{ text = "make it" }')
    async with opened(tmp_path, asks + says("Well."), permission_mode="ask", notification=kind) as here:
        app, rung = here.app, list[str]()
        app.bell = lambda: rung.append("bell")  # type: ignore[method-assign]
        await here.says("make it")
        await here.sees("touch made")
        assert rung == []  # typed a moment ago
        await here.pilot.press("escape")
        await here.rests()
        app._typed_at -= HERE_S
        app.notify_user("x")
        assert rung == ["bell"] * (kind == "bell")
        app.post_message(AppFocus())
        await here.pilot.pause()
        app.notify_user("x")
        assert rung == ["bell"] * (kind == "bell")
        app.post_message(AppBlur())
        await here.pilot.pause()
        app.notify_user("x")
        assert rung == ["bell"] * (kind == "bell") * 2


@pytest.mark.skipif(TMUX is None, reason=REASON)
async def test_the_title_of_a_terminal_is_set_and_restored(place: Place) -> None:
    async with Tmux(place, "--practice", "--yolo") as terminal:
        await terminal._run("set-option", "-g", "set-titles", "on")
        await terminal.sees("asks nothing")

        async def titled(text: str) -> None:
            async with asyncio.timeout(60):
                while (await terminal._run("display-message", "-p", "#{pane_title}")).strip() != text:  # noqa: ASYNC110 (tmux sends no event)
                    await asyncio.sleep(0.05)

        await titled(f"harness · {place.folder.name}")
        await terminal.say(f"!{WAITS}")
        await titled("harness · running bash")
        (place.folder / "go").touch()
        await titled(f"harness · {place.folder.name}")
        before = await terminal._run("display-message", "-p", "#{host}")
        await terminal.press("C-d")
        await titled(before.strip())
