"""One user and one terminal for any number of agents."""

import asyncio
from collections.abc import Callable

import pytest

from harness.engine.permissions.asker import PASSING_S, NoAsker, SerialAsker, SubagentAsker, UserAnswer, WaitChoice
from harness.events import LoopAsked, PermissionAsked, QuestionAsked, WaitOffered
from harness.permissions import Mode, PermissionAnswer, PermissionRequest, Permissions
from harness.tools.tool import Effect
from tests.engine.hand_clock import HandClock, quiet

pytestmark = pytest.mark.anyio


LONG = WaitOffered(600.0, 1.0, can_switch=False, detail="long")


class ScriptedUser(NoAsker):
    """Answers when the test says so."""

    present = True

    def __init__(self) -> None:
        self.asked: list[PermissionAsked | WaitOffered | LoopAsked | QuestionAsked] = []
        self.answers: list[asyncio.Future[PermissionAnswer]] = []
        self.change = asyncio.Event()
        """Set when the mode or a rule has changed."""

    async def changed(self) -> None:
        await self.change.wait()
        self.change.clear()

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Thinks."""
        self.asked.append(asked)
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Waits."""
        self.asked.append(offered)
        return "wait"

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """Answers with the question."""
        self.asked.append(asked)
        return UserAnswer("text", asked.question)


def request(
    number: int, command: str = "make", why: str = "it runs a program"
) -> tuple[PermissionAsked, PermissionRequest]:
    """A question about a command."""
    call = f"call{number}"
    return (
        PermissionAsked(call, "bash", command, why),
        PermissionRequest(call, "bash", Effect.RUN, command, "", {"command": command}),
    )


def asking(
    user: ScriptedUser, mode: Mode = Mode.ASK, clock: HandClock | None = None
) -> tuple[Permissions, Callable[[int, str], "asyncio.Task[PermissionAnswer]"], SerialAsker]:
    """The permissions, a function that asks as an agent, and the shared asker."""
    permissions = Permissions(mode)
    serial = SerialAsker(user, permissions.decide, user.changed, clock or HandClock())

    async def ask(number: int, command: str) -> PermissionAnswer:
        asked, wanted = request(number, command)
        answer = await SubagentAsker(serial, f"a{number}").permission(asked, wanted)
        permissions.remember(wanted, answer)
        return answer

    return permissions, lambda number, command: asyncio.create_task(ask(number, command)), serial


async def test_questions_come_one_after_the_other_and_say_whose_they_are() -> None:
    user = ScriptedUser()
    _, ask, _ = asking(user)
    tasks = [ask(number, f"make {number}") for number in (1, 2, 3)]
    await quiet()
    for number in (1, 2, 3):
        assert [asked.agent for asked in user.asked if isinstance(asked, PermissionAsked)][number - 1 :] == [
            f"a{number}"
        ]
        user.answers[-1].set_result(PermissionAnswer("once"))
        await quiet()
    assert [task.result().choice for task in tasks] == ["once"] * 3


async def test_what_is_always_allowed_is_not_asked_for_those_who_wait_with_the_same() -> None:
    user = ScriptedUser()
    _, ask, _ = asking(user)
    tasks = [ask(1, "make"), ask(2, "make"), ask(3, "rm -rf .")]
    await quiet()
    user.answers[0].set_result(PermissionAnswer("always"))
    await quiet()
    assert len(user.asked) == 2
    user.answers[1].set_result(PermissionAnswer("no"))
    await quiet()
    assert [task.result().choice for task in tasks] == ["always", "once", "no"]


@pytest.mark.parametrize(("mode", "choice"), [(Mode.YOLO, "once"), (Mode.DENY, "no")])
async def test_a_change_of_the_mode_decides_the_open_question(mode: Mode, choice: str) -> None:
    user, clock = ScriptedUser(), HandClock()
    permissions, ask, _ = asking(user, clock=clock)
    tasks = [ask(1, "make"), ask(2, "make all")]
    await quiet()
    for now in (Mode.YOLO, Mode.DENY, Mode.EDITS, mode):  # the first ones are passed through
        clock.move(PASSING_S / 2)
        permissions.mode = now
        user.change.set()
        await quiet()
        assert not user.answers[0].cancelled()
    clock.move(PASSING_S)
    await quiet()
    assert [(task.result().choice, task.result().by) for task in tasks] == [(choice, "mode")] * 2
    assert len(user.asked) == 1
    assert user.answers[0].cancelled()


async def test_a_yes_in_a_mode_that_refuses_allows_nothing() -> None:
    user = ScriptedUser()
    permissions, ask, _ = asking(user)
    task = ask(1, "make")
    await quiet()
    permissions.mode = Mode.DENY
    user.answers[0].set_result(PermissionAnswer("once"))
    assert (await task).choice == "no"


async def test_what_a_hook_wants_asked_is_asked_whatever_was_answered_before() -> None:
    user = ScriptedUser()
    permissions, _, serial = asking(user, Mode.YOLO)
    permissions.remember(request(1)[1], PermissionAnswer("always"))
    for _ in range(2):
        task = asyncio.create_task(serial.permission(*request(1, why="the hook wants to know")))
        await quiet()
        user.answers[-1].set_result(PermissionAnswer("no"))
        assert (await task).choice == "no"
    assert len(user.asked) == 2


class ScriptedUsers(ScriptedUser):
    """The user of a call is its number, odd or even."""

    def user_of(self, call_id: str) -> str:
        return str(int(call_id.removeprefix("call")) % 2)


async def test_each_of_many_users_has_a_queue_and_the_time_of_all_is_counted_once() -> None:
    user, clock = ScriptedUsers(), HandClock()
    _, ask, serial = asking(user, clock=clock)
    tasks = [ask(number, f"make {number}") for number in (1, 2, 3)]
    await quiet()
    assert [one.call_id for one in user.asked if isinstance(one, PermissionAsked)] == ["call1", "call2"]
    clock.move(30.0)
    for answer in user.answers:
        answer.set_result(PermissionAnswer("once"))
    await quiet()
    assert [task.done() for task in tasks] == [True, True, False]
    clock.move(5.0)
    assert serial.waited_s == 35.0
    user.answers[-1].set_result(PermissionAnswer("no"))
    assert (await tasks[2]).choice == "no"


async def test_giving_up_in_the_queue_or_at_the_question_holds_up_no_other() -> None:
    user = ScriptedUser()
    _, ask, _ = asking(user)
    tasks = [ask(number, f"make {number}") for number in (1, 2, 3)]
    await quiet()
    tasks[1].cancel()
    tasks[0].cancel()
    await quiet()
    user.answers[-1].set_result(PermissionAnswer("once"))
    assert (await tasks[2]).choice == "once"
    assert len(user.asked) == 2


async def test_an_agent_asks_for_nothing_but_permission() -> None:
    user = ScriptedUser()
    _, _, serial = asking(user)
    agent = SubagentAsker(serial, "a1")
    assert not agent.present
    assert await agent.wait(LONG) == "stop"
    assert user.asked == []
    assert await serial.wait(LONG) == "wait"


async def test_a_question_of_a_subagent_waits_for_the_permission_before_it_and_says_whose_it_is() -> None:
    user = ScriptedUser()
    _, ask, serial = asking(user)
    permission = ask(1, "make")
    await quiet()
    question = asyncio.create_task(SubagentAsker(serial, "a2").question(QuestionAsked("call", "Which colour?")))
    await quiet()
    assert [type(asked) for asked in user.asked] == [PermissionAsked]
    user.answers[-1].set_result(PermissionAnswer("once"))
    assert (await permission).choice == "once"
    assert await question == UserAnswer("text", "Which colour?")
    assert user.asked[-1] == QuestionAsked("call", "Which colour?", agent="a2")


async def test_the_time_that_questions_wait_for_the_user_is_measured_once_however_many_wait() -> None:
    user, clock = ScriptedUser(), HandClock()
    _, ask, serial = asking(user, clock=clock)
    clock.move(5.0)
    tasks = [ask(number, f"make {number}") for number in (1, 2)]
    await quiet()
    clock.move(30.0)
    assert serial.waited_s == 30.0
    user.answers[0].set_result(PermissionAnswer("once"))
    await quiet()
    clock.move(10.0)
    tasks[1].cancel()
    await quiet()
    clock.move(7.0)
    assert serial.waited_s == 40.0
