"""Every block of Python on a page is a program that runs, without a key, and says what its page promises."""

from collections.abc import Callable

import pytest

from tests.pages.blocks import Block, every_block


def library(said: str) -> None:
    assert "ToolEnded" in said
    assert "It is raining in Oslo" in said


def two_of_three_agents_work_at_once(said: str) -> None:
    lines = said.splitlines()
    assert lines[:2] == ["a1 starts, 1 running", "a2 starts, 2 running"]
    assert sorted(line for line in lines if "answered" in line) == ["a1: answered", "a2: answered", "a3: answered"]
    assert not [line for line in lines if "3 running" in line]


def the_agent_is_watched_and_led_to_another_tool(said: str) -> None:
    lines = said.splitlines()
    assert lines[0].startswith("nudge | You are repeating yourself: fetch(url=http://localhost:1), 3 times in a row")
    assert lines[1].startswith("substitute | ")
    assert lines[2] == "http://localhost:1 as it was last week"
    assert lines[3:] == ["fetch open 3", "archive closed 0"]


def the_stop_hook_objects_once(said: str) -> None:
    assert "Transition stop_hook_blocking" in said
    assert said.endswith("TurnEnded completed\n")


def lines_are_decided(said: str) -> None:
    verdicts = [line.split(" | ")[0] for line in said.splitlines()]
    assert verdicts == ["Allow", "Allow", "Ask", "Deny", "Ask"]
    assert "is about `git push`" in said


def each_call_ends_in_its_own_way(said: str) -> None:
    lines = sorted(said.splitlines())
    assert [line.split(" | ")[0] for line in lines] == ["error", "invalid", "ok"]
    assert lines[2] == "ok | 1812.00 JPY"
    assert "There is no rate for XAU today" in lines[0]
    assert "greater than 0" in lines[1]


def one_retry_and_the_answer(said: str) -> None:
    assert said.splitlines() == ["['overloaded']", "['All is well.']"]


def the_third_overload_changes_the_model(said: str) -> None:
    assert [line.split(" | ")[0] for line in said.splitlines()] == ["Resend", "Resend", "SwitchModel"]


def a_number_is_changed_and_checked(said: str) -> None:
    assert said.splitlines() == ["2 nudges=2 copies=5", "copies must be from 2 to 100, not 1"]


def the_oracle_agrees(said: str) -> None:
    assert said == "the policy and the oracle agree\n"


def a_session_is_resumed_with_all_that_is_ones_own(said: str) -> None:
    assert said.splitlines() == [
        "ok | It is raining in Oslo.",
        "completed",
        "resumed after turn 1",
        "ok | It is raining in Bergen.",
        "completed",
    ]


def tools_are_chosen_by_name(said: str) -> None:
    lines = said.splitlines()
    assert lines[:2] == ["('read_file', 'grep', 'weather')", "('weather',)"]
    assert [line.split(";")[0] for line in lines[2:]] == [
        "There are two tools called weather",
        "upper is a plain function",
    ]


def one_city_is_allowed(said: str) -> None:
    assert said.splitlines() == ["Oslo []", "Bergen [('weather', 'only Oslo')]"]


def an_answer_is_validated(said: str) -> None:
    assert said.splitlines() == ["json_schema", "{'count': 7}"]


def a_text_joins_the_turn(said: str) -> None:
    assert said.splitlines() == ["steered: 1", "delivered: 1", "Rain in Oslo and in Bergen."]


def a_check_says_no_and_the_call_is_skipped(said: str) -> None:
    scored, skipped = said.splitlines()
    assert scored == "convert unavailable"
    assert skipped.startswith("skipped | its check reports it as unavailable (no-such-converter is not installed)")


def the_program_refuses_the_call(said: str) -> None:
    assert said == "success ['not today']\n"


SAYS: dict[tuple[str, str], Callable[[str], None]] = {
    ("README.md", "library"): library,
    ("docs/agents.md", "agents"): two_of_three_agents_work_at_once,
    ("docs/hooks.md", "function"): the_stop_hook_objects_once,
    ("docs/library.md", "all"): a_session_is_resumed_with_all_that_is_ones_own,
    ("docs/library.md", "check"): a_check_says_no_and_the_call_is_skipped,
    ("docs/library.md", "tools"): tools_are_chosen_by_name,
    ("docs/library.md", "steer"): a_text_joins_the_turn,
    ("docs/library.md", "asker"): one_city_is_allowed,
    ("docs/library.md", "json"): an_answer_is_validated,
    ("docs/library.md", "watch"): the_agent_is_watched_and_led_to_another_tool,
    ("docs/permissions.md", "decide"): lines_are_decided,
    ("docs/policies.md", "ask"): the_third_overload_changes_the_model,
    ("docs/policies.md", "change"): a_number_is_changed_and_checked,
    ("docs/policies.md", "write"): the_oracle_agrees,
    ("docs/programs.md", "client"): the_program_refuses_the_call,
    ("docs/scripts.md", "program"): one_retry_and_the_answer,
    ("docs/tools.md", "tool"): each_call_ends_in_its_own_way,
}
"""What the program below a comment on a page says."""
NOT_ALONE = {
    ("docs/plans.md", "plan"): "`harness run` runs it: tests/cli/test_run.py does so",
    ("docs/hooks.md", "command"): "it reads the events on its standard input: test_hooks.py starts it so",
}
"""Blocks that cannot run alone, and where they are run."""
SHOWN = "code: "
"""How the comment begins above code that a program copies from our own (`python -m chapters.course.refresh`)."""

PROGRAMS = [one for one in every_block("python") if not one.name.startswith(SHOWN)]


def key(one: Block) -> tuple[str, str]:
    return one.page, one.name


@pytest.mark.parametrize("one", [one for one in PROGRAMS if key(one) not in NOT_ALONE], ids=lambda one: one.place)
def test_a_program_of_a_page_runs_by_itself(one: Block, run_program: Callable[[str], str]) -> None:
    said = run_program(one.code)
    if key(one) in SAYS:
        SAYS[key(one)](said)


def test_every_program_outside_of_the_chapters_has_a_promise_and_none_is_forgotten() -> None:
    outside = {key(one) for one in PROGRAMS if not one.page.startswith("chapters/")}
    assert outside == SAYS.keys() | NOT_ALONE.keys()


def test_code_that_is_shown_and_not_run_is_in_chapters_only() -> None:
    shown = [one for one in every_block("python") if one.name.startswith(SHOWN)]
    assert {one.page.partition("/")[0] for one in shown} <= {"chapters"}
