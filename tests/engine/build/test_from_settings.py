"""From settings to the numbers and stores that they configure."""

from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import SettingsError
from harness.engine.build.from_settings import (
    admission_limits,
    board_for,
    capabilities_for,
    command_limits,
    commands_for,
    compact_at,
    dispatch_limits,
    loop_limits,
    memory_for,
    numbers_in,
    outputs_folder,
    prompt_sections,
    recovery_limits,
    require_tools_of_hooks,
    retirements,
    secrets_of,
    skills_for,
    tools_for,
    watch_limits,
)
from harness.engine.permissions.asker import NoAsker
from harness.events import CascadeMode, HookPoint
from harness.hooks import Hook
from harness.memory import MemoryOwner
from harness.policies.recovery import RecoveryLimits
from harness.policies.recovery.compaction import CompactAt
from harness.settings import Settings
from harness.tools.toolbox import Toolbox
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import settings_of
from tests.engine.hand_clock import HandClock


class Waiting(NoAsker):
    """As in `-p`, which lets the model continue with background work."""

    waits_for_work = True


def settings(folder: Path, **values: object) -> Settings:
    return settings_of(folder, "http://127.0.0.1:9", **values).settings


NUMBERS: dict[str, Any] = {
    "max_retries": 3,
    "turn_retries": 5,
    "turn_wait_s": 7.0,
    "long_wait_s": 11.0,
    "max_wait_s": 13.0,
    "overloads_before_switch": 2,
    "max_tokens": 999,
    "continuations": 4,
    "token_budget": 1_000,
    "max_steps": 6,
    "max_budget_usd": 0.5,
}


def test_the_numbers_of_recovery_are_those_of_the_settings(tmp_path: Path) -> None:
    limits = recovery_limits(settings(tmp_path, auto_compact=False, **NUMBERS), interactive=True)
    assert (limits.retries_per_request, limits.retries_per_turn, limits.waiting_per_turn_s) == (3, 5, 7.0)
    assert (limits.long_wait_s, limits.max_wait_s, limits.overloads_before_switch) == (11.0, 13.0, 2)
    assert (limits.user_cap, limits.continuations, limits.token_budget) == (999, 4, 1_000)
    assert (limits.max_steps, limits.max_cost_usd, limits.compaction, limits.interactive) == (6, 0.5, False, True)


@pytest.mark.parametrize("is_subagent", [False, True])
def test_numbers_of_a_program_replace_those_of_the_settings_except_the_limits_of_a_subagent(
    tmp_path: Path, is_subagent: bool
) -> None:
    given = RecoveryLimits(retries_per_request=1, token_budget=5, max_steps=9, max_cost_usd=2.0, interactive=True)
    own = settings(tmp_path, **NUMBERS)
    limits = recovery_limits(own, interactive=False, given=given, is_subagent=is_subagent)
    assert (limits.retries_per_request, limits.interactive) == (1, False)
    expected = (None, 6, 0.5) if is_subagent else (5, 9, 2.0)
    assert (limits.token_budget, limits.max_steps, limits.max_cost_usd) == expected


@pytest.mark.parametrize(("given", "at"), [("60%", CompactAt(share=0.6)), (50_000, CompactAt(tokens=50_000))])
def test_a_history_is_shortened_at_a_share_or_a_number_of_tokens(tmp_path: Path, given: object, at: CompactAt) -> None:
    assert compact_at(settings(tmp_path, compact_at=given)) == at


def test_the_numbers_of_breakers_admission_and_watchdog_are_those_of_the_settings(tmp_path: Path) -> None:
    own = settings(
        tmp_path,
        failure_threshold=2,
        failure_budget=9,
        max_concurrent=3,
        max_background=4,
        max_queue_size=17,
        watch_quiet_bytes_s=5.0,
    )
    breakers = dispatch_limits(own)
    assert (breakers.threshold, breakers.budget, breakers.cascade) == (2, 9, CascadeMode(own.cascade_probes))
    agents, commands = admission_limits(own, "max_concurrent"), admission_limits(own, "max_background")
    assert (agents.max_concurrent, commands.max_concurrent, agents.max_queue_size) == (3, 4, 17)
    assert watch_limits(own).quiet_bytes_s == 5.0


@pytest.mark.parametrize(
    ("attended", "waits", "wait_s", "at_limit", "continues"),
    [
        (True, False, 0.0, None, True),
        (False, True, 5.0, None, True),
        (False, True, 0.0, None, False),
        (False, False, 5.0, None, False),
        (True, False, 0.0, False, False),
        (False, False, 0.0, True, True),
    ],
)
def test_a_command_continues_at_its_limit_where_its_end_can_be_reported(
    tmp_path: Path, attended: bool, waits: bool, wait_s: float, at_limit: bool | None, continues: bool
) -> None:
    own = settings(tmp_path, background_wait_s=wait_s, background_at_limit=at_limit, background_timeout_s=77.0)
    asker = AnsweringUser() if attended else Waiting() if waits else NoAsker()
    limits = command_limits(own, asker)
    assert (limits.time_s, limits.continues, limits.ends_hanging) == (77.0, continues, not attended)


def test_numbers_are_read_by_name_and_one_of_another_form_is_named(tmp_path: Path) -> None:
    assert numbers_in("copies=5, nudges=2  mode=ask") == {"copies": 5, "nudges": 2, "mode": "ask"}
    assert numbers_in("") == {}
    for wrong in ("copies", "copies="):
        with pytest.raises(ValueError, match=f"'{wrong}' is not understood"):
            numbers_in(wrong)
    assert loop_limits(settings(tmp_path, loop_limits="nudges=5")).nudges == 5
    assert not loop_limits(settings(tmp_path, loop_intervention=False)).enabled
    with pytest.raises(SettingsError, match="Cannot use loop_limits = 'copies=x'"):
        loop_limits(settings(tmp_path, loop_limits="copies=x"))


def test_every_key_that_the_program_knows_is_one_of_its_secrets(tmp_path: Path) -> None:
    own = settings_of(tmp_path, "https://user:p%40ssword-of-mine@api.example").settings
    environ = {
        "ANTHROPIC_API_KEY": " sk-of-the-environment ",
        "AWS_SECRET_ACCESS_KEY": "of-the-platform-1",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Api-Token: Bearer header-secret-1\nX-Team: plain-name-of-team",
        "MY_DB_PASSWORD": "of-another-program-1",
        "PLAIN": "harmless",
    }
    found = {secret.reveal() for secret in secrets_of(own, environ)}
    assert {"sk-of-the-environment", "of-the-platform-1", "of-another-program-1", "p@ssword-of-mine"} <= found
    assert {"Bearer header-secret-1", "header-secret-1"} <= found
    assert not {"plain-name-of-team", "harmless"} & found
    assert own.api_key in secrets_of(own, {})


def test_models_that_end_are_named_only_where_their_maker_answers(tmp_path: Path) -> None:
    clock = HandClock()
    clock.time = 2_000_000_000.0
    old = "claude-3-opus-20240229"
    (sentence,) = retirements(settings(tmp_path, model=old), clock)
    assert old in sentence
    assert retirements(settings(tmp_path, fallback_models=(old,)), clock) == (sentence,)
    assert retirements(settings(tmp_path, model=old).model_copy(update={"practice": True}), clock) == ()


def test_what_the_settings_switch_off_has_no_store(tmp_path: Path) -> None:
    own = settings(tmp_path, user_dir=tmp_path / "user")
    assert {*memory_for(own, "s").store.folders} == {MemoryOwner.PERSON, MemoryOwner.PROJECT}
    off = own.model_copy(update={"memory": False, "skills": False, "user_dir": None})
    assert not memory_for(off, "s").on
    assert skills_for(off).skills == ()
    assert {*memory_for(own.model_copy(update={"user_dir": None}), "s").store.folders} == {MemoryOwner.PROJECT}


def test_models_of_command_files_hold_only_in_a_trusted_folder(tmp_path: Path) -> None:
    own = settings(tmp_path)
    folder = own.workspace / ".harness" / "commands"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("---\nmodel: claude-opus-4-6\n---\nSay hello.\n")
    trusted = own.model_copy(update={"trust_folder": True})
    models = [{one.name: one.model for one in commands_for(each).commands} for each in (own, trusted)]
    assert [one["greet"] for one in models] == ["", "claude-opus-4-6"]


@pytest.mark.parametrize("known", ["", "named"])
@pytest.mark.parametrize("board", ["off", "session", "project"])
def test_the_board_of_a_journal_goes_before_that_of_the_settings(tmp_path: Path, board: str, known: str) -> None:
    made = board_for(settings(tmp_path, board=board), known, "s1", print)
    if made is None:
        assert (board, known) == ("off", "")
        return
    assert (made.place.stem == known) == bool(known)
    made.close()


def test_two_agents_share_no_folder_for_outputs(tmp_path: Path) -> None:
    own = settings(tmp_path)
    first, second = outputs_folder(own), outputs_folder(own)
    assert first != second
    assert first.parent == second.parent
    assert first.suffix == ".outputs"


def test_a_text_of_the_user_ends_every_prompt(tmp_path: Path) -> None:
    own = settings_of(tmp_path, "http://x", append_system_prompt="Answer in Danish.").settings
    for sections in (prompt_sections(own), prompt_sections(own, is_subagent=True, role="You review.")):
        assert (sections[-1].name, sections[-1].text) == ("appended", "Answer in Danish.")


def test_the_prompt_of_a_subagent_ends_with_its_role(tmp_path: Path) -> None:
    own = settings(tmp_path)
    names = [section.name for section in prompt_sections(own)]
    with_role = prompt_sections(own, is_subagent=True, role="You review.")
    assert "role" not in names
    assert (with_role[-1].name, with_role[-1].text) == ("role", "You review.")
    assert with_role[0].text != prompt_sections(own)[0].text


def test_a_hook_of_an_unknown_tool_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    hook = Hook("guard", HookPoint.BEFORE_TOOL, "true", tools="wether")
    require_tools_of_hooks([hook], ["wether"])
    with pytest.raises(SettingsError, match=r"Cannot use the hook guard: there is no tool 'wether'; .*weather"):
        require_tools_of_hooks([hook], ["weather"])


def test_a_subagent_with_tools_that_its_parent_knows_reads_no_capabilities_again(tmp_path: Path) -> None:
    own = settings(tmp_path)
    toolbox = Toolbox(tools_for(own))
    known = capabilities_for(own, toolbox)
    (own.workspace / ".harness").mkdir(exist_ok=True)
    (own.workspace / ".harness" / "capabilities.toml").write_text("this is not TOML =")
    fewer = Toolbox([tool for tool in tools_for(own) if tool.name == "grep"])
    within = capabilities_for(own, fewer, known)
    assert within.get("grep") is not None
    assert within.get("bash") is None
    with pytest.raises(SettingsError):
        capabilities_for(own, toolbox)
