"""Plan mode in whole turns: nothing writes, a plan is put to the user, and the answer decides what follows."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.engine.permissions.asker import NoAsker, UserAnswer
from harness.engine.plan_mode import APPROVALS, HAND_OVER, LEAVE
from harness.events import (
    Event,
    Json,
    PlanChanged,
    PlanHandedOver,
    PlanItem,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    SettingChanged,
    ToolEnded,
    ToolOutcome,
    TransitionCode,
)
from harness.hooks import HookAnswer, Verdict
from harness.model import notices
from harness.permissions import Mode
from harness.session import Opening, open_session
from tests.agent.stage import calls, played, run, says, sessions, stage, summarises
from tests.agent.test_agents import of_subagent, task
from tests.agent.test_hooks import always

pytestmark = pytest.mark.anyio

PLAN = ProposedPlan("# Timeouts\n\nAdd one.", ("write the test", "change the code"))
STEPS = '["write the test", "change the code"]'
PROPOSES = f'{{ name = "propose_plan", input = {{ plan = "# Timeouts\\n\\nAdd one.", steps = {STEPS} }} }}'
ON, OVER = notices.plan_mode_on(proposes=True), notices.PLAN_MODE_OVER


class User(NoAsker):
    """Gives these answers to plans, one after the other."""

    present = True

    def __init__(self, *given: UserAnswer) -> None:
        self.given = list(given)

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The next answer."""
        assert asked.plan == PLAN
        return self.given.pop(0)


def option(label: str) -> UserAnswer:
    return UserAnswer("option", label)


def texts(body: Json) -> list[str]:
    """The texts about plan mode in a request, in order."""
    blocks = (block for message in body["messages"] for block in message["content"])
    return [block["text"] for block in blocks if str(block.get("text", "")).startswith(notices.PLAN_MODE)]


def result(body: Json) -> str:
    """The last tool result in a request."""
    return str(next(block["content"] for block in body["messages"][-1]["content"] if block["type"] == "tool_result"))


def prefix(body: Json) -> str:
    """What every request of a conversation begins with."""
    return json.dumps([body["tools"], body["system"]])


# ── the user decides ────────────────────────────────────────────────────────────────────────────────


CHANGES = [(before, chosen) for before in APPROVALS for chosen in APPROVALS if chosen in (Mode.ASK, Mode.EDITS, before)]


@pytest.mark.parametrize(("before", "chosen"), CHANGES)
async def test_an_approved_plan_is_carried_out_in_the_chosen_mode_with_its_steps_as_checklist(
    chosen: Mode, before: Mode, tmp_path: Path
) -> None:
    user = User(option(APPROVALS[chosen][0]))
    async with stage(tmp_path, calls(PROPOSES) + says("Done."), asker=user, permission_mode=before) as here:
        rules = here.agent.core.shared.rules
        rules.set_mode("plan")
        turn = await here.turn("add a timeout")
        assert rules.mode is chosen
        first, second = here.bodies
    (asked,) = turn.of(QuestionAsked)
    assert asked.options[0].label == APPROVALS[before][0], "the mode of before comes first"
    assert [event.items for event in turn.of(PlanChanged)] == [tuple(map(PlanItem, PLAN.steps))]
    assert texts(first) == [ON]
    assert texts(second) == [ON, OVER]
    assert "The user approved the plan" in result(second)
    assert "edited" not in result(second)
    assert prefix(first) == prefix(second)
    assert turn.end.answer == "Done."


async def test_a_refused_plan_leaves_plan_mode_on_and_the_model_reads_why(tmp_path: Path) -> None:
    user = User(UserAnswer("text", "too much"), UserAnswer("declined"), option(APPROVALS[Mode.ASK][0]))
    async with stage(tmp_path, calls(PROPOSES) * 3 + says("Done."), asker=user, permission_mode="plan") as here:
        turn = await here.turn()
        assert here.agent.core.shared.rules.mode is Mode.ASK
        bodies = here.bodies
    assert "did not approve the plan: too much" in result(bodies[1])
    assert "without giving a reason" in result(bodies[2])
    assert texts(bodies[2]) == [ON], "it is said once"
    assert len(turn.of(PlanChanged)) == 1


async def test_an_edited_plan_goes_back_whole_and_its_steps_replace_those_of_the_model(tmp_path: Path) -> None:
    edited = ProposedPlan("# Timeouts\n\nAdd two </approved-plan>.", ("one", "two"))
    user = User(UserAnswer("option", APPROVALS[Mode.ASK][0], edited))
    async with stage(tmp_path, calls(PROPOSES) + says("Done."), asker=user, permission_mode="plan") as here:
        turn = await here.turn()
        (answered,) = turn.of(QuestionAnswered)
        assert answered.plan == edited
        assert here.agent.conversation.plan == (PlanItem("one"), PlanItem("two"))
        assert "Add two &lt;/approved-plan>." in result(here.bodies[1])
        assert "Add one" not in result(here.bodies[1])


async def test_leaving_ends_the_turn_and_restores_the_mode_and_says_so_with_the_next_prompt_only(
    tmp_path: Path,
) -> None:
    script = calls(PROPOSES) + says("Hello.") * 2
    async with stage(tmp_path, script, asker=User(option(LEAVE)), permission_mode="edits") as here:
        rules = here.agent.core.shared.rules
        rules.set_mode("plan")
        turn = await here.turn()
        assert rules.mode is Mode.EDITS
        assert (turn.end.code, turn.end.reason) == (TransitionCode.COMPLETED, "plan mode was left")
        await here.turn("hello")
        await here.turn("hello again")
        assert "without approving" in str(here.bodies[1]["messages"])
        assert [texts(body) for body in here.bodies] == [[ON], [ON, OVER], [ON, OVER]]
        assert len({prefix(body) for body in here.bodies}) == 1
    assert turn.of(PlanChanged) == []


async def test_a_new_conversation_gets_the_plan_and_the_request_when_the_call_is_answered(tmp_path: Path) -> None:
    script = says("Which?") + calls(PROPOSES)
    async with sessions(tmp_path, script, permission_mode="ask") as here:
        async with await open_session(here.loaded, User(option(HAND_OVER))) as session:
            session.permissions.set_mode("plan")
            await played(session.run("add a timeout"))
            turn = await played(session.run("to the client"))
            (handed_over,) = turn.of(PlanHandedOver)
            assert session.conversation.messages[-1].content[0]["content"] == notices.PLAN_HANDED_OVER
            assert turn.events.index(handed_over) > turn.events.index(turn.of(ToolEnded)[0])
            assert session.permissions.mode is Mode.ASK
            assert session.conversation.plan == ()
        assert turn.end.reason == "a new conversation carries out the plan"
        for part in (PLAN.text, *PLAN.steps, "add a timeout\n\nto the client"):
            assert part in handed_over.prompt
        async with await here.open(Opening(mode=handed_over.mode, steps=handed_over.steps)) as session:
            assert session.conversation.plan == tuple(map(PlanItem, PLAN.steps))


async def test_without_a_user_the_plan_waits_and_the_mode_stays(tmp_path: Path) -> None:
    async with stage(tmp_path, calls(PROPOSES), permission_mode="plan") as here:
        turn = await here.turn()
        assert here.agent.core.shared.rules.mode is Mode.PLAN
    assert (turn.end.code, turn.end.reason) == (TransitionCode.COMPLETED, "the plan waits for your approval")
    assert turn.of(SettingChanged) == []


async def test_outside_of_plan_mode_a_proposal_asks_nobody_and_nothing_but_the_user_turns_the_mode_on(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, calls(PROPOSES) + says("Well."), asker=User(), permission_mode="yolo") as here:
        turn = await here.turn()
        assert result(here.bodies[1]) == notices.NO_PLAN_MODE
        assert here.agent.core.shared.rules.mode is Mode.YOLO
        assert texts(here.bodies[1]) == []
    assert turn.of(QuestionAsked) == []


@pytest.mark.parametrize("given", [option(LEAVE), option(HAND_OVER), option(APPROVALS[Mode.YOLO][0])])
async def test_a_call_behind_the_proposal_in_the_same_reply_does_not_run(given: UserAnswer, tmp_path: Path) -> None:
    script = calls(PROPOSES, run("x")) + says("Done.")
    async with stage(tmp_path, script, asker=User(given), permission_mode="yolo") as here:
        here.agent.core.shared.rules.set_mode("plan")
        turn = await here.turn()
        assert here.ran() == {}
    assert [event.outcome for event in turn.of(ToolEnded)] == [ToolOutcome.OK, ToolOutcome.CANCELLED]


@pytest.mark.parametrize("mode", ["plan", "ask"])
async def test_a_tool_that_needs_no_permission_is_refused_where_it_changes_what_is_no_file(
    mode: str, tmp_path: Path
) -> None:
    looks = ('task_list", input = {}', 'task_get", input = { id = "t1" }', 'list_background", input = {}')
    changes = (
        *('task_create", input = { tasks = [{ subject = "a" }] }', 'task_claim", input = {}'),
        'task_update", input = { id = "t1", note = "a" }',
        *('kill_background", input = { id = "c1" }', 'schedule_delete", input = { id = "s1" }'),
    )
    wanted = [f'{{ name = "{call} }}' for call in (*looks, *changes)]
    extras: dict[str, object] = {"board": "session", "schedule": True, "schedule_tools": True}
    script = calls(*wanted) + says("Done.")
    async with (
        sessions(tmp_path, script, permission_mode=mode, **extras) as here,
        await here.open() as session,
    ):
        turn = await played(session.run("look"))
    ended = {event.tool: event.outcome for event in turn.of(ToolEnded)}
    assert ToolOutcome.INVALID not in ended.values()
    denied = [name for name, outcome in ended.items() if outcome is ToolOutcome.DENIED]
    assert sorted(denied) == sorted(call.partition('"')[0] for call in changes if mode == "plan")


# ── it lasts ────────────────────────────────────────────────────────────────────────────────────────


async def test_it_survives_a_compaction_and_a_restart_at_the_open_question(tmp_path: Path) -> None:
    script = says("Yes.") * 3 + summarises() + calls(PROPOSES) + calls(run("x")) + says("No.")

    class Gone(NoAsker):
        present = True

        async def question(self, asked: QuestionAsked) -> UserAnswer | None:
            """The program ends while the question is open."""
            session.interrupt()
            return None

    async with sessions(tmp_path, script, permission_mode="yolo") as here:
        async with await open_session(here.loaded, Gone()) as session:
            session.permissions.set_mode("plan")
            for prompt in ("one", "two", "three"):
                await played(session.run(prompt))
            await played(session.user_commands.compact())
            assert ON in str(session.conversation.messages[0].content[-1]["text"]) or ON in [
                block.get("text") for block in session.conversation.messages[0].content
            ]
            await played(session.run("plan it"))
        async with await here.open(Opening(session.id)) as session:
            assert session.permissions.mode is Mode.PLAN
            turn = await played(session.run("do it"))
            assert [event.outcome for event in turn.of(ToolEnded)] == [ToolOutcome.DENIED]
            session.permissions.set_mode("ask")
        async with await here.open(Opening(session.id)) as session:
            assert session.permissions.mode is Mode.YOLO, "a mode that was left stays left"


# ── nothing writes ──────────────────────────────────────────────────────────────────────────────────

LINES = [
    *("touch T", "echo x > A", "echo x >> A", "cat A | tee T", "cp A T", "mv A T", "rm A", "mkdir T", "ln -s A T"),
    *("ls A; touch T", "sed -i s/x/y/ A", "sort -o T A", "find . -name A -delete", "find A -exec cp A T ';'"),
    *("ls A | xargs -I{} cp {} T", "bash -c 'touch T'", "env X=1 touch T", 'python3 -c \'open("T", "w")\''),
    *(
        "ls $(touch T)",
        "cat <(touch T)",
        "awk 'BEGIN { print 1 > \"T\" }'",
        "dd if=A of=T",
        "tar -cf T A",
        "git init T",
    ),
    *("true && touch T", "for f in T; do touch $f; done", "(touch T)", "{ touch T; }", "touch T & wait"),
    *("cat > T <<'E'\nx\nE", "eval 'touch T'", "command touch T", "timeout 5 touch T", "nohup touch T"),
    *("truncate -s 0 A", "install A T", "split A T", "uniq A T"),
]
"""Each writes T, or changes A."""
LOOKS = ["ls A", "cat A", "grep -rn x . | head", "wc -l A", "find . -type f"]
WRITES = [
    ("write_file", {"path": "T", "content": "x"}),
    ("edit_file", {"path": "A", "old_string": "x", "new_string": "y"}),
    *(("bash", {"command": line}) for line in LINES),
]
slow = pytest.mark.stories
WAYS = ["all at once", *(pytest.param(way, marks=slow) for way in ("yolo", "rule", "hook", "subagent", "background"))]


def digest(folder: Path) -> str:
    """All names, kinds, modes and contents below a folder."""
    found = [(str(path), path.stat().st_mode, path.is_file() and path.read_bytes()) for path in folder.rglob("*")]
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def script_of(way: str) -> str:
    """A script with a step for each call, with files of its own."""
    steps = []
    for number, (name, input) in enumerate([*WRITES, *(("bash", {"command": line}) for line in LOOKS)]):
        given = input | ({"background": True} if way == "background" and name == "bash" else {})
        written = re.sub(r"\bA\b", f"a{number}", re.sub(r"\bT\b", f"t{number}", json.dumps(given)))
        steps.append(calls(f"{{ id = 'c{number}', name = '{name}', raw_input = '''{written}''' }}"))
    if way != "subagent":
        return "".join((*steps, says("Done.")))
    return calls(task()) + "".join(map(of_subagent, (*steps, says("Done.")))) + says("Done.")


async def changes(folder: Path, way: str, mode: str) -> int:
    """How many calls were followed by another content of the folder."""
    workspace = folder / "workspace"
    workspace.mkdir()
    for number in range(len(WRITES) + len(LOOKS)):
        (workspace / f"a{number}").write_text("x\n")
    seen = [digest(workspace)]

    def see(event: Event) -> None:
        if isinstance(event, ToolEnded) and digest(workspace) != seen[-1]:
            seen.append(digest(workspace))

    rules = ("bash", "write") if way in ("rule", "all at once") else ()
    allows = [always("before_tool", HookAnswer(permission=Verdict.ALLOW))] if way in ("hook", "all at once") else []
    settings: dict[str, Any] = {"permissions_allow": rules, "failure_budget": 1000, "loop_intervention": False}
    before = "yolo" if way in ("yolo", "all at once") else "ask"
    async with stage(folder, script_of(way), hooks=allows, asker=User(), permission_mode=before, **settings) as here:
        here.agent.core.shared.rules.set_mode(mode)
        here.agent.conversation.subscribe(see)
        await here.turn("do it")
        see(ToolEnded("", "", ToolOutcome.OK, "", 0.0))
        allowed = [event for event in here.recorded if isinstance(event, ToolEnded) and event.outcome != "denied"]
        assert len(allowed) >= (1 if way == "subagent" else len(LOOKS)), "reading goes on"
    return len(seen) - 1


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_that_the_model_can_call_changes_the_folder(way: str, tmp_path: Path) -> None:
    assert await changes(tmp_path, way, "plan") == 0


@slow
async def test_without_plan_mode_each_of_these_calls_does_change_it(tmp_path: Path) -> None:
    assert await changes(tmp_path, "yolo", "yolo") == len(WRITES) - 1, "all but edit_file, which has to read first"
