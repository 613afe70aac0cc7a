"""The breakers on the screen: commands, pause and continuation, headless and in a real terminal."""

import json
from pathlib import Path

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio

SEARCH = '[[reply]]\ntools = [ { name = "grep", input = { pattern = "First" } } ]\n'
ANSWER = '[[reply]]\ntext = "It stands in notes.md."\n'
ALWAYS = '[[fault]]\ntool = "grep"\nkind = "transport"\nmessage = "connection refused"\nlast = 3\n'


def faults(place: Place, text: str = ALWAYS) -> str:
    """A file of tool faults beside the folder."""
    file = place.folder.parent / "faults.toml"
    file.write_text(text)
    return str(file)


def playing(*replies: str) -> PracticeServer:
    """A server that plays these and then refuses."""
    return PracticeServer(script=Script.parse("\n".join(('after = "error"', *replies))))


async def test_a_pause_ends_the_headless_command_with_3_and_the_report(place: Place) -> None:
    async with playing(*[SEARCH] * 3) as server:
        served = Place(place.folder, server.base_url)
        flags = ("-p", "Where is First?", "--yolo", "--tool-faults", faults(place))
        ended = await run(served, *flags, env={"HARNESS_FAILURE_BUDGET": "3"})
    assert (ended.code, ended.out) == (3, "")
    for part in (
        "tools fail as",
        "✗ grep is paused: it failed 3 times in a row (connection refused)",
        "PAUSED: the failure budget of this turn is used up",
        "Failure budget: 3 of 3 used",
        "(failure_budget_paused); to continue: harness -p --resume ",
    ):
        assert part in ended.err
    assert "/reset" not in ended.err


@pytest.mark.stories
async def test_the_pause_of_a_program_that_reads_json_is_whole(place: Place) -> None:
    async with playing(*[SEARCH] * 3) as server:
        served = Place(place.folder, server.base_url)
        flags = ("-p", "Where?", "--yolo", "--output-format", "stream-json", "--tool-faults", faults(place))
        ended = await run(served, *flags, env={"HARNESS_FAILURE_BUDGET": "3"})
    lines = [json.loads(line) for line in ended.out.splitlines()]
    (report,) = (line["report"] for line in lines if line["type"] == "pause_reported")
    assert (report["consumed"], report["budget"]) == (3, 3)
    assert [entry["tool"] for entry in report["log"]] == ["grep"] * 3
    result = lines[-1]
    assert (result["subtype"], result["transition"], result["exit_code"]) == (
        "error_failure_budget",
        "failure_budget_paused",
        3,
    )


@pytest.mark.stories
async def test_breakers_survive_a_resume(place: Place) -> None:
    async with playing(*[SEARCH] * 3, ANSWER, SEARCH, ANSWER) as server:
        served = Place(place.folder, server.base_url)
        first = await run(served, "-p", "Where is First?", "--yolo", "--tool-faults", faults(place))
        assert first.code == 0
        again = await run(served, "-p", "And now?", "--yolo", "-c", "--output-format", "stream-json")
    lines = [json.loads(line) for line in again.out.splitlines()]
    (decided,) = (line for line in lines if line["type"] == "dispatched")
    # Steps 1 to 3 failed, 4 answered: step 5 is two after the opening, so it is not probed yet.
    assert (decided["dispatch"], decided["reason"]) == ("skip", "open")
    shown = await run(served, "breakers")
    assert ["grep", "3"] in [line.split()[:3:2] for line in shown.out.splitlines()]


async def test_the_commands_of_the_breakers(place: Place) -> None:
    typed = [
        "/breakers",
        "/trip grep",
        "/alternatives grep",
        "/isolate bash",
        "/breakers",
        "/release bash",
        "/reset all",
        "/confirm",
        "/report",
        "/budget 7",
        "/breakers threshold=2 cascade=confirm",
        "/breakers threshold=0",
        "/breakers threshhold=2",
        "/breakers cascade=maybe",
        "/breakers nonsense",
        "/budget none",
        "/trip",
        "/alternatives",
        "/trip greb",
        "/trip bash:npm",
        "/alternatives bash:npm",
    ]
    ended = await run(place, "--plain", stdin="".join(f"{line}\n" for line in typed))
    assert ended.code == 1  # some lines are wrong
    parts = [
        "grep is paused.",
        "1. bash: rg -n",
        "bash is disabled.",
        "isolated by hand",
        "bash is enabled; its next call is a probe.",
        "Every breaker is reset.",
        "Confirmed",
        "State of this turn",
        "0 of 7 used",
        "opens after 2 failures in a row",
        "threshold is 0; use a whole number of at least 1",
        "There is no number called threshhold",
        "cascade is 'maybe'",
        "'nonsense' is not name=value",
        "'none' is not a number",
        "Which tool? Type /trip",
        "Which tool? Type /alternatives",
        "There is no tool called greb; did you mean grep?",
        "bash:npm is paused.",
        "1. bash: reach the same end without npm",
    ]
    rest = ended.out
    for part in parts:
        assert part in rest, part
        rest = rest.partition(part)[2]


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        (("--tool-faults", "nowhere.toml"), "there is no such file of faults"),
        (("--tool-faults", "{bad}"), "fault 1: kind is missing"),
        (("--tool-faults", "{unknown}"), "there is no tool 'gerp'"),
    ],
)
async def test_faults_that_cannot_be_used_end_the_command_at_once(
    place: Place, flags: tuple[str, str], part: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.toml").write_text('[[fault]]\ntool = "grep"\n')
    (tmp_path / "unknown.toml").write_text('[[fault]]\ntool = "gerp"\nkind = "error"\n')
    named = [flag.format(bad=tmp_path / "bad.toml", unknown=tmp_path / "unknown.toml") for flag in flags]
    ended = await run(place, "-p", "hi", *named)
    assert (ended.code, ended.out) == (2, "")
    assert part in ended.err
    assert "Traceback" not in ended.err


async def test_a_folder_may_not_break_the_tools_of_its_user(place: Place) -> None:
    (place.folder / ".harness").mkdir()
    (place.folder / ".harness" / "settings.toml").write_text('tool_faults = "grep-dies"\n')
    ended = await run(place, "-p", "hi")
    assert ended.code == 2
    assert "must not break your tools" in ended.err


@pytest.mark.parametrize("flag", ["--practice", "--tool-faults"])
async def test_a_name_that_is_too_long_for_a_file_is_reported_as_one(place: Place, flag: str) -> None:
    ended = await run(place, "-p", "hi", flag, "a" * 300)
    assert ended.code == 2
    assert "name too long" in ended.err
    assert "internal error" not in ended.err
