"""`harness -p` against scripts on a real socket: as a process where the process matters, else in this one."""

import asyncio
import io
import json
import logging
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import SettingsError
from harness.practice.rule_model import RuleModel
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening
from harness.settings import load
from harness.ui.plain.headless import MOST_ARRIVALS, OutputFormat, headless
from harness.ui.plain.streams import PATIENCE_S
from tests.agent.stage import calls, fails, says
from tests.agent.test_agents import of_subagent, task
from tests.ui.program import Finished, Place, end_of, run, start

pytestmark = pytest.mark.anyio

HELLO = '[[reply]]\ntext = "Hello, 世界."\n'
OVERLOADED = "[[reply]]\nstatus = 529\n"
STALL = '[[reply]]\ntext = "The first words, and then silence."\nchunk = 5\nfault = { kind = "stall", at = 5 }\n'


@pytest.fixture
def own_umask() -> Iterator[None]:
    """A user who shares everything."""
    before = os.umask(0)
    yield
    os.umask(before)


def server(script: str, after: str = "error") -> PracticeServer:
    return PracticeServer(script=Script.parse(f'after = "{after}"\n{script}'))


def at(place: Place, standing: PracticeServer) -> Place:
    return Place(place.folder, standing.base_url)


def journal(place: Place) -> str:
    (path,) = place.state.glob("sessions/*/*.jsonl")
    return path.read_text()


async def answered(
    place: Place, prompt: str, form: str = "text", opening: Opening | None = None, **flags: object
) -> Finished:
    """Run the front end in this process."""
    environment = place.environment
    loaded = load(flags, environment, place.folder)
    out, err = io.StringIO(), io.StringIO()
    code = await headless(
        loaded,
        prompt,
        opening or Opening(),
        OutputFormat(form),
        out,
        err,
        reread=lambda: load(flags, environment, place.folder).settings,
        log=logging.getLogger("tests"),
    )
    return Finished(code, out.getvalue(), err.getvalue())


async def test_text_is_the_answer_and_nothing_else(place: Place) -> None:
    async with server(HELLO) as standing:
        ended = await run(at(place, standing), "-p", "hi", stdin="piped lines\n")
    assert (ended.code, ended.out, ended.err) == (0, "Hello, 世界.\n", "")
    (request,) = standing.requests
    assert request.body["messages"][0]["content"][-1]["text"] == "hi\n\npiped lines"


async def test_a_retry_is_one_line_on_stderr(place: Place) -> None:
    async with server(OVERLOADED + HELLO) as standing:
        ended = await answered(at(place, standing), "hi")
    assert (ended.code, ended.out) == (0, "Hello, 世界.\n")
    (line,) = ended.err.splitlines()
    assert line.startswith("↻ retry 1 of 10 in 0.")
    assert "overloaded (529)" in line


async def test_json_is_one_result_object(place: Place) -> None:
    async with server(HELLO) as standing:
        ended = await answered(at(place, standing), "hi", "json")
    result = json.loads(ended.out)
    assert (result["type"], result["subtype"], result["is_error"]) == ("result", "success", False)
    assert (result["result"], result["num_turns"], result["transition"]) == ("Hello, 世界.", 1, "completed")
    assert result["usage"]["output_tokens"] > 0
    assert f'"{result["session_id"]}"' in journal(place)


async def test_stream_json_is_every_event_and_the_result_last(place: Place) -> None:
    async with server('[[reply]]\nstatus = 401\nmessage = "invalid x-api-key"\n') as standing:
        ended = await answered(at(place, standing), "hi", "stream-json")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 1
    assert [line["type"] for line in lines][:4] == ["turn_started", "message_added", "step_started", "request_sent"]
    assert [line["type"] for line in lines][-2:] == ["turn_ended", "result"]
    assert (lines[-1]["is_error"], lines[-1]["transition"], lines[-1]["exit_code"]) == (True, "api_error", 1)
    (sentence,) = ended.err.splitlines()
    assert "ANTHROPIC_API_KEY" in sentence


async def test_stream_json_has_the_output_of_a_running_command_and_the_journal_only_its_result(place: Place) -> None:
    line = "printf '10%%\\r20%%\\n'; sleep 0.8"
    call = f"{{ name = 'bash', input = {{ command = {json.dumps(line)} }} }}"
    async with server(calls(call) + says("Done.")) as standing:
        ended = await answered(at(place, standing), "hi", "stream-json", permission_mode="yolo")
    events = [json.loads(line) for line in ended.out.splitlines()]
    kinds = [event["type"] for event in events if event["type"] in ("tool_started", "output_delta", "tool_ended")]
    assert kinds == ["tool_started", "output_delta", "tool_ended"]
    (delta,) = (event for event in events if event["type"] == "output_delta")
    assert (delta["lines"], delta["open_line"], delta["skipped"]) == (["20%"], "", 0)
    kept = journal(place)
    assert "output_delta" not in kept
    assert '"detail":"20%\\n"' in kept
    assert "10%" not in kept.replace("10%%", ""), "frames of a progress bar are not kept"


async def test_a_model_that_ends_is_named_on_standard_error(place: Place) -> None:
    async with server(HELLO) as standing:
        ended = await answered(at(place, standing), "hi", model="claude-opus-4-0")
    assert (ended.out, ended.code) == ("Hello, 世界.\n", 0)
    assert ended.err.startswith("claude-opus-4-0 was to be retired on 2026-06-15")


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("see @gone.png", "gone.png does not exist; name an image or PDF behind the @."),
        ("see @text.pdf", "text.pdf is neither an image nor a PDF."),
        ('see "@my.png"', ""),
    ],
)
async def test_a_file_that_cannot_be_attached_is_bad_usage_and_nothing_is_sent(
    place: Place, prompt: str, sentence: str
) -> None:
    (place.folder / "text.pdf").write_text("no PDF")
    async with server(HELLO) as standing:
        ended = await run(at(place, standing), "-p", prompt)
    assert (ended.code, len(standing.requests)) == ((2, 0) if sentence else (0, 1))
    assert sentence in ended.err


async def test_a_limit_keeps_the_text_and_exits_with_3(place: Place) -> None:
    call = 'text = "Looking."\ntools = [ { name = "glob", input = { pattern = "*" } } ]'
    async with server(f"[[reply]]\n{call}\n", "repeat") as standing:
        ended = await answered(at(place, standing), "hi", max_steps=2)
    assert ended.code == 3
    assert "--max-steps 2" in ended.err
    assert len(standing.requests) == 2


async def test_many_agents_are_few_lines_and_every_failure_has_one(place: Place) -> None:
    asked = calls(*(task(f"part {number}") for number in range(12)))
    agents = of_subagent(fails(400)) + of_subagent(says("Done.", times='"forever"'))
    async with server(asked + agents + says("All asked."), "error") as standing:
        ended = await answered(at(place, standing), "hi", fan_out="allow")
    lines = ended.err.splitlines()
    assert ended.out.endswith("All asked.\n")
    assert sum(line.startswith("→") for line in lines) == sum(line.startswith("✓") for line in lines) == 10
    (failed,) = (line for line in lines if line.startswith("✗"))
    assert "did not finish" in failed
    assert lines[-1] == "· 12 agents: 11 answered, 1 did not finish"


@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGINT, 130, marks=pytest.mark.stories), (signal.SIGTERM, 143)]
)
async def test_a_signal_ends_the_turn_and_keeps_what_arrived(place: Place, number: signal.Signals, code: int) -> None:
    async with server(STALL) as standing:
        process = await start(at(place, standing), "-p", "hi", "--output-format", "stream-json")
        process.stdin.close()
        async with asyncio.timeout(60):
            while b"text_delta" not in await process.stdout.readline():
                pass
        process.send_signal(number)
        ended = await end_of(process)
    assert ended.code == code
    assert json.loads(ended.out.splitlines()[-1])["result"] != ""
    assert "Traceback" not in ended.err
    assert '"turn_ended"' in journal(place)


TYPED = re.compile(r"(?<![\w.~])/[a-z]+\b|\bEsc\b|Ctrl-|/mode")
"""What only a conversation has."""
BAD_ENDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "server": (fails(500, times='"forever"'), {"max_retries": 1}, "gave up after 1 retry; try again later"),
    "overloaded": (
        fails(529, times='"forever"'),
        {"max_retries": 0},
        "gave up after 0 retries; try again later, or use",
    ),
    "model": (fails(404, type='"not_found_error"', message='"model: x"'), {}, "choose another model"),
    "too long": (
        fails(400, message='"prompt is too long: 210000 tokens > 200000 maximum"', times='"forever"'),
        {},
        "begin a new session, or ask for less at once",
    ),
    "too long, not shortened": (
        fails(400, message='"prompt is too long: 210000 tokens > 200000 maximum"'),
        {"auto_compact": False},
        "compaction is off: switch auto_compact on",
    ),
    "refusal": (says("No.", stop_reason='"refusal"'), {}, "put the request differently"),
    "limit": (calls('{ name = "glob", input = { pattern = "*" } }'), {"max_steps": 1}, "after 1 model call with tools"),
    "pause": (
        calls('{ name = "bash", input = { command = "kill -9 $$" } }'),
        {"permission_mode": "yolo", "failure_budget": 1},
        "paused",
    ),
    "loop": (
        calls('{ name = "glob", input = { pattern = "*" } }', times='"forever"'),
        {},
        "ask for a smaller part of the task",
    ),
}


@pytest.mark.parametrize("name", BAD_ENDS)
async def test_a_bad_end_advises_only_what_there_is_without_a_conversation(place: Place, name: str) -> None:
    script, flags, advice = BAD_ENDS[name]
    async with server(script) as standing:
        ended = await answered(at(place, standing), "hi", **flags)
    assert ended.code in (1, 3)
    assert advice in ended.err
    assert TYPED.findall(ended.err.replace(str(place.folder), "")) == []
    session = Path(next(place.state.glob("sessions/*/*.jsonl"))).stem
    goes_on = f'; to continue: harness -p --resume {session} "go on"'
    assert (goes_on in ended.err) is not name.startswith("too long")


async def test_a_refused_call_names_the_flag_that_allows_it(place: Place) -> None:
    async with server(
        calls('{ name = "write_file", input = { path = "x", content = "y" } }') + says("No.")
    ) as standing:
        await answered(at(place, standing), "hi")
    told = str(standing.requests[-1].body["messages"])
    assert (
        "no user is present to ask; --yolo, or a rule in permissions_allow of the settings, allows write_file" in told
    )


async def test_output_need_not_be_read_to_the_end(place: Place) -> None:
    slow = HELLO.replace("\n", "\nchunk = 1\nevent_delay = 0.05\n", 1)
    async with server(slow) as standing:
        process = await start(at(place, standing), "-p", "hi", "--output-format", "stream-json")
        process.stdin.close()
        await process.stdout.readline()
        process.stop_reading()
        async with asyncio.timeout(60):
            code = await process.wait()
        assert await process.stderr.read() == b""
    assert code == 141


async def test_without_a_key_the_practice_model_answers_and_says_so(place: Place) -> None:
    ended = await answered(place, "read notes.md and tell me its headings")
    assert ended.code == 0
    assert "First" in ended.out
    assert "practice model" in ended.out
    (line,) = ended.err.splitlines()
    assert "ANTHROPIC_API_KEY" in line


async def test_continue_and_fork_continue_with_the_conversation(place: Place) -> None:
    async with server(HELLO, "repeat") as standing:
        here = at(place, standing)
        await answered(here, "first prompt")
        await answered(here, "second prompt", opening=Opening("latest"))
        await answered(here, "third prompt", opening=Opening("latest", fork=True))
    prompts = [[m["role"] for m in request.body["messages"]].count("user") for request in standing.requests]
    assert prompts == [1, 2, 3]
    assert len(list(place.state.glob("sessions/*/*.jsonl"))) == 2


async def test_debug_writes_a_log_and_says_where(place: Place) -> None:
    async with server(HELLO) as standing:
        ended = await run(at(place, standing), "-p", "hi", "--debug")
    (line,) = ended.err.splitlines()
    assert line.startswith("log: ")
    log = Path(line.removeprefix("log: "))
    assert log.is_relative_to(place.state)
    assert log.stat().st_mode & 0o077 == 0


async def test_lines_of_the_journal_that_cannot_be_read_are_named(place: Place) -> None:
    async with server(HELLO + HELLO) as standing:
        await answered(at(place, standing), "hi")
        (path,) = place.state.glob("sessions/*/*.jsonl")
        path.write_bytes(path.read_bytes() + b"\xff\n[1]\n{")
        again = await answered(at(place, standing), "hi", opening=Opening("latest"))
    assert (again.code, again.out) == (0, "Hello, 世界.\n")
    assert "3 lines of the journal could not be read" in again.err


async def test_what_a_session_keeps_is_for_its_user_alone(place: Place, own_umask: None) -> None:
    place.state.mkdir(mode=0o755, parents=True)
    script = (
        '[[reply]]\ntools = [{ name = "bash", input = { command = "seq 90000" } },'
        ' { name = "remember", input = { name = "a", description = "b", type = "project", text = "c" } }]\n'
        '[[reply]]\ntools = [{ name = "write_file", input = { path = "new.txt", content = "x" } }]\n'
        '[[reply]]\ntext = "done"\n'
    )
    async with server(script) as standing:
        finished = await answered(at(place, standing), "go", permission_mode="yolo")
    assert finished.code == 0, finished.err
    kept = [file for file in place.state.rglob("*") if file.is_file()]
    assert {file.suffix for file in kept} >= {".jsonl", ".txt", ".md"}
    assert [str(file) for file in kept if file.stat().st_mode & 0o077] == []
    assert (place.folder / "new.txt").stat().st_mode & 0o777 == 0o666  # a file of the project is a file of the project


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
async def test_what_was_not_allowed_is_reported_with_an_exit_code_of_its_own(place: Place, form: str) -> None:
    """Also of a subagent."""
    touch = '{ name = "bash", input = { command = "touch x" } }'
    script = calls(touch, task("look")) + of_subagent(calls(touch) + says("I could not.")) + says("Pushed.")
    async with server(script) as standing:
        ended = await answered(at(place, standing), "push it", form)
    assert ended.code == 4
    assert "2 tool calls not allowed" in ended.err
    assert 'bash {"command": "touch x"}: no user is present to ask; --yolo' in ended.err
    if form == "text":
        assert ended.out == "Pushed.\n"
        return
    result = json.loads(ended.out.splitlines()[-1])
    assert (result["subtype"], result["exit_code"]) == ("success", 4)
    assert [denied["tool_input"] for denied in result["permission_denials"]] == [{"command": "touch x"}] * 2
    async with server(HELLO) as standing:
        allowed = await answered(at(place, standing), "hi", "json")
    assert json.loads(allowed.out)["permission_denials"] == []


async def test_what_background_agents_were_refused_and_cost_between_two_turns_counts(place: Place) -> None:
    async with PracticeServer(RuleModel()) as standing:
        prompt = "use two agents in the background to run `touch x`"
        ended = await answered(at(place, standing), prompt, "json")
    result = json.loads(ended.out)
    assert (ended.code, result["exit_code"]) == (4, 4)
    assert [denied["tool_input"] for denied in result["permission_denials"]] == [{"command": "touch x"}] * 2
    assert result["num_requests"] == len(standing.requests)


@pytest.mark.stories
async def test_a_prompt_does_not_wait_for_an_open_pipe_without_a_writer(place: Place) -> None:
    async with server(HELLO) as standing:
        process = await start(at(place, standing), "-p", "hi")  # its input stays open
        assert process.stdout is not None
        assert process.stderr is not None
        async with asyncio.timeout(60):
            out, err = await asyncio.gather(process.stdout.read(), process.stderr.read())
        assert await process.wait() == 0
    assert out.decode() == "Hello, 世界.\n"
    assert "nothing came on standard input for 3 s, so the prompt runs without it" in err.decode()


@pytest.mark.stories
async def test_a_slow_writer_that_has_begun_is_read_to_its_end(place: Place) -> None:
    async with server(HELLO) as standing:
        process = await start(at(place, standing), "-p", "hi")
        assert process.stdin is not None
        process.stdin.write(b"one ")
        await process.stdin.drain()
        await asyncio.sleep(PATIENCE_S + 1)  # longer than the patience with a silent one
        ended = await end_of(process, "two")
    assert (ended.code, ended.err) == (0, "")
    assert standing.requests[0].body["messages"][0]["content"][-1]["text"] == "hi\n\none two"


async def test_a_prompt_that_cannot_fit_is_refused_with_numbers_before_anything_is_sent(place: Place) -> None:
    async with server(HELLO) as standing:
        ended = await run(at(place, standing), "-p", "sum up", stdin="many words " * 600_000)
    assert (ended.code, ended.out, standing.requests) == (2, "", [])
    (line,) = ended.err.splitlines()
    assert re.match(r"harness: The prompt has about [\d,]+ tokens, and .* takes [\d,]+ beside its answer", line)


QUESTION = calls('{ name = "ask_user", input = { question = "Which colour?", options = ["red", "blue"] } }')


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({}, "No user is present to answer. Go on by your own judgement"),
        ({"ask_user": "first"}, "No user is present; the settings take the first option: red"),
        ({"ask_user": "first", "permission_mode": "yolo"}, "take the first option: red"),
        ({"ask_user": "off"}, "There is no tool called ask_user"),
    ],
)
async def test_a_question_without_a_user_is_answered_by_the_setting(
    place: Place, flags: dict[str, object], told: str
) -> None:
    async with server(QUESTION + says("Red, then.")) as standing:
        ended = await answered(at(place, standing), "hi", "stream-json", None, **flags)
        bodies = [request.body for request in standing.requests]
    assert ended.code == 0
    assert told in str(bodies[1]["messages"][-1])
    assert ("ask_user" in {tool["name"] for tool in bodies[0]["tools"]}) == (flags.get("ask_user") != "off")
    events = [json.loads(line) for line in ended.out.splitlines()]
    found = [event["by"] for event in events if event.get("type") == "question_answered"]
    assert found == ([] if flags.get("ask_user") == "off" else ["setting"])


@pytest.mark.parametrize(
    ("flags", "started", "told"),
    [
        ({}, 0, 'no user is present to agree; fan_out = "allow" in the settings (HARNESS_FAN_OUT=allow)'),
        ({"fan_out": "refuse"}, 0, 'fan_out is "refuse"; fan_out = "allow" in the settings'),
        ({"fan_out_subagents": 11}, 11, "Done."),
        ({"fan_out": "allow"}, 11, "Done."),
    ],
)
async def test_many_subagents_without_a_user_follow_the_setting(
    place: Place, flags: dict[str, object], started: int, told: str
) -> None:
    asked = calls(*(task(f"part {number}") for number in range(11)))
    async with server(asked + of_subagent(says("Done.", times='"forever"')) + says("All asked.")) as standing:
        ended = await answered(at(place, standing), "hi", "stream-json", None, **flags)
        results = standing.requests[-1].body["messages"][-1]["content"]
    assert ended.code == (0 if started else 4)
    assert [told in str(result) for result in results] == [True] * 11
    events = [json.loads(line)["type"] for line in ended.out.splitlines() if "type" in json.loads(line)]
    assert events.count("agent_created") == started
    assert events.count("question_asked") == (0 if flags else 1)


@pytest.mark.stories
async def test_a_model_that_starts_one_command_after_another_is_ended(place: Place) -> None:
    """Each result of a background command begins a turn that starts the next command. A story, because it plays the
    maximum number of turns."""
    over = "until [ $(grep -c turn_[e]nded {state}/sessions/*/*.jsonl) -ge {turn} ]; do sleep 0.01; done"
    commands = [over.format(state=place.state, turn=turn) for turn in range(1, MOST_ARRIVALS + 10)]
    bash = '{{ name = "bash", input = {{ command = "{}", background = true }} }}'
    script = "".join(calls(bash.format(command)) + says("Another.") for command in commands)
    async with server(script) as standing:
        ended = await answered(at(place, standing), "hi", "json", permission_mode="yolo", loop_intervention=False)
        assert len(standing.requests) == 2 * (1 + MOST_ARRIVALS)
    assert ended.code == 0
    assert journal(place).count('"turn_started"') == 1 + MOST_ARRIVALS


@pytest.mark.parametrize("prompt", ["/look notes.md", "/etc/hosts names what?"])
async def test_a_command_file_is_run_by_its_name_and_any_other_slash_is_a_prompt(place: Place, prompt: str) -> None:
    folder = place.folder / ".harness" / "commands"
    folder.mkdir(parents=True)
    (folder / "look.md").write_text("---\ndescription: x\n---\nLook at $ARGUMENTS.")
    async with server(HELLO) as standing:
        ended = await answered(at(place, standing), prompt, trust_folder=True)
        (body,) = [request.body for request in standing.requests]
    assert ended.code == 0
    sent = body["messages"][-1]["content"][-1]["text"]
    assert sent == ("Look at notes.md." if prompt.startswith("/look") else prompt)


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("/diff", "/diff works in a conversation only"),
        ("/clear", "/clear works in a conversation only"),
        ("/tokens", "did you mean /context?"),
        ("/nothing-like-it", "Unknown command /nothing-like-it;"),
        ("/review\n\nsome piped text", "/review takes no text from standard input"),
    ],
)
async def test_a_command_that_is_no_turn_is_refused_before_anything_is_sent(
    place: Place, prompt: str, why: str
) -> None:
    async with server(HELLO) as standing:
        with pytest.raises(SettingsError, match=re.escape(why)):
            await answered(at(place, standing), prompt)
        assert standing.requests == []


async def test_a_review_runs_without_a_conversation(place: Place) -> None:
    repository = place.folder
    for line in ("init -q", "add -A", "-c user.name=n -c user.email=e@x commit -qm 1 --allow-empty"):
        subprocess.run(["git", *line.split()], cwd=repository, check=True)  # noqa: ASYNC221  (a moment)
    (repository / "a.js").write_text("debugger;\n")
    async with PracticeServer(RuleModel()) as standing:
        ended = await answered(at(place, standing), "/review")
    assert ended.code == 0
    assert "- `a.js:1`: the program stops in the debugger" in ended.out


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
async def test_init_prints_its_text_and_fails_because_nobody_can_agree(place: Place, form: str) -> None:
    async with PracticeServer(RuleModel()) as standing:
        ended = await answered(at(place, standing), "/init", form)
    assert ended.code == 1
    assert "harness: AGENTS.md is not written: no user is present to agree." in ended.err
    if form == "text":
        assert ended.out.startswith("# ")
    else:
        result = json.loads(ended.out.splitlines()[-1])
        assert (result["is_error"], result["exit_code"], result["subtype"]) == (True, 1, "error_during_execution")
        assert result["result"].startswith("# ")
        assert "not written" in result["reason"]
    assert not (place.folder / "AGENTS.md").exists()
