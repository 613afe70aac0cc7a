"""`harness loops demo`: what a person sees of it, what a program reads, and what is refused."""

import json
from pathlib import Path

import pytest

from chapters.s22_loops.graph_agents.worlds import LARGEST, SMALLEST
from harness.cli.main import main
from harness.events import Event, Intervened, LoopFound, WalkEnded, decode
from tests.ui.program import Place, run


def demo(*arguments: str) -> int:
    return main(["loops", "demo", *arguments])


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = demo(*arguments)
    out, err = capsys.readouterr()
    assert err == ""
    return code, out.splitlines()


def events(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Event]:
    _, lines = shown(capsys, "--json", *arguments)
    return [decode(json.loads(line)) for line in lines]


def test_where_nothing_fails_there_is_the_walk_to_the_goal_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = shown(capsys, "--fail-rate", "0")
    assert code == 0
    assert lines[2:] == [
        "",
        "step  at    calls     outcome",
        "   1  A     ToolB     ✓ B is ready  → B",
        "   2  B     ToolC     ✓ C is ready  → C",
        "   3  C               → D",
        "   4  D               → E",
        "",
        "✓ the goal is reached, at E",
        "  4 steps, 2 calls (0 failed), 0 interventions, 0.0 s waited",
    ]


def test_the_walk_that_is_shown_first_shows_a_loop_and_how_it_was_left(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = shown(capsys)
    assert code == 0
    text = "\n".join(lines)
    for words in (
        "⟲ loop found (interaction): 3 × ToolB(place=B), failing",
        "▸ retry      1/3  ToolB again after",
        "✓ loop left",
        "✗ serv",
    ):
        assert words in text


def test_a_hopeless_walk_is_stopped_with_a_report_and_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = shown(capsys, "--fail-rate", "1")
    assert code == 3
    text = "\n".join(lines)
    for words in (
        "▸ stop",
        "what a person can do:",
        "○ not called: breaker open",
        "■ stopped: nothing freed",
    ):
        assert words in text


def test_a_person_who_is_asked_can_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = shown(capsys, "--fail-rate", "1", "--person", "stop")
    assert code == 3
    assert any("a person says: stop" in line for line in lines)
    assert any(line.startswith("■ a person ended it") for line in lines)


def test_the_steps_can_be_used_up(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = shown(capsys, "--fail-rate", "1", "--steps", "2")
    assert code == 3
    assert "■ the steps are used up, at A" in lines


@pytest.mark.parametrize("seed", ["0", "1", "4", "9"])
@pytest.mark.parametrize("more", [[], ["--graph", "random", "--size", "30"], ["--fail-rate", "0.7"]], ids=str)
def test_no_line_is_wider_than_a_terminal(capsys: pytest.CaptureFixture[str], seed: str, more: list[str]) -> None:
    _, lines = shown(capsys, "--seed", seed, *more)
    assert max(map(len, lines)) < 80
    assert not any(line != line.rstrip() for line in lines)


def test_json_is_a_line_for_each_event_as_in_a_journal(capsys: pytest.CaptureFixture[str]) -> None:
    _, lines = shown(capsys, "--json")
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    moments = [json.loads(line)["at"] for line in lines]
    assert moments == sorted(moments)
    told = events(capsys)
    assert any(isinstance(event, LoopFound) for event in told)
    assert any(isinstance(event, Intervened) for event in told)
    assert isinstance(told[-1], WalkEnded)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fail-rate", "1.5"], "'1.5' is not a number from 0 to 1"),
        (["--fail-rate", "nan"], "'nan' is not a number from 0 to 1"),
        (["--fail-rate", "often"], "'often' is not a number from 0 to 1"),
        (["--size", str(SMALLEST - 1)], f"from {SMALLEST} to {LARGEST}"),
        (["--size", str(LARGEST + 1)], f"from {SMALLEST} to {LARGEST}"),
        (["--steps", "-1"], "'-1' is not a number from 0"),
        (["--seed", "x"], "invalid int value: 'x'"),
        (["--graph", "star"], "invalid choice: 'star'"),
        (["--user", "maybe"], "invalid choice: 'maybe'"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        demo(*arguments)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    (sentence,) = err.splitlines()
    assert out == ""
    assert words in sentence


def test_the_group_asks_for_one_of_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["loops"])
    assert ended.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.anyio
async def test_the_real_command_ends_with_the_code_of_the_walk(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert (await run(place, "loops", "demo")).code == 0
    stopped = await run(place, "loops", "demo", "--fail-rate", "1")
    assert (stopped.code, stopped.err) == (3, "")
