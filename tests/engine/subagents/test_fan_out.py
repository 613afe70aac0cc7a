"""The question before many subagents are started: one for a reply, with an estimate, and one answer for all of them."""

import asyncio
from pathlib import Path

import pytest

from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import NoAsker, UserAnswer
from harness.engine.subagents.fan_out import ASSUMED, FanOutQuestions, FanOutRefused
from harness.events import (
    AgentEnd,
    AgentEnded,
    Event,
    FanOut,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    TurnStarted,
    Usage,
)
from harness.policies.admission.fan_out import Mode
from tests.engine.cores import core_in
from tests.engine.hand_clock import quiet

pytestmark = pytest.mark.anyio
PRICE = 0.25


class User(NoAsker):
    """Answers when the test says so."""

    present = True

    def __init__(self) -> None:
        self.asked: list[QuestionAsked] = []
        self.answers: list[asyncio.Future[UserAnswer]] = []

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """Thinks."""
        self.asked.append(asked)
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    def says(self, answer: str) -> None:
        """Give the last question its answer: yes, no, or words."""
        yes, no = self.asked[-1].options
        known = {"yes": UserAnswer("option", yes.label), "no": UserAnswer("option", no.label)}
        self.answers[-1].set_result(known.get(answer) or UserAnswer("text", answer))


class Scene:
    """A conversation whose model wants subagents."""

    def __init__(
        self,
        folder: Path,
        asker: NoAsker,
        mode: Mode = "ask",
        *,
        free: int = 10,
        model: str = "priced",
    ) -> None:
        self.events: list[Event] = []
        self.conversation = Conversation(self.events.append)
        self.started = 0
        each = PRICE * 1e6 / ASSUMED.prompt
        core = core_in(
            folder,
            self.conversation,
            asker=asker,
            fan_out=mode,
            fan_out_subagents=free,
            max_subagents=100,
            model=model,
            prices={
                "priced": {"input": each, "output": 0, "cache_read": 1},
            },
        )
        self.questions = FanOutQuestions(core)
        self.conversation.subscribe(self.questions.on_event)

    def reply(self, new: int, again: int = 0) -> list["asyncio.Task[str]"]:
        """A reply that asks for this many new subagents, and for as many to continue."""
        calls = [{"type": "tool_use", "name": "agent", "id": f"t{n}", "input": {"prompt": "p"}} for n in range(new)]
        calls += [{"type": "tool_use", "name": "agent", "id": f"o{n}", "input": {"agent": "a1"}} for n in range(again)]
        calls += [{"type": "tool_use", "name": "bash", "id": "b", "input": {"command": "agent"}}]
        self.conversation.add("assistant", calls, Origin.REPLY)
        return [asyncio.create_task(self._start(f"t{n}", self.started)) for n in range(new)]

    async def _start(self, call: str, before: int) -> str:
        try:
            await self.questions.admit(call, before)
        except FanOutRefused as refusal:
            return str(refusal)
        self.started += 1
        return "started"

    def prompt(self) -> None:
        """The user types one."""
        self.conversation.emit(TurnStarted(1, "go on"))

    def ended(self, tokens: int, cost_usd: float, unpriced: int = 0) -> None:
        """A subagent has ended."""
        usage = Usage(input=tokens - 1, output=1)
        self.conversation.emit(AgentEnded("a1", AgentEnd.ANSWERED, "", 1, 1, usage, cost_usd, 1.0, unpriced=unpriced))


async def results(tasks: list["asyncio.Task[str]"]) -> set[str]:
    return set(await asyncio.gather(*tasks))


async def test_forty_are_one_question_and_none_starts_before_its_answer(tmp_path: Path) -> None:
    user = User()
    scene = Scene(tmp_path, user)
    tasks = scene.reply(40, again=5)
    await quiet()
    (asked,) = user.asked
    tokens = 40 * (ASSUMED.prompt + ASSUMED.output)
    assert asked.fan_out == FanOut(40, 0, 40, 100, tokens, 40 * PRICE, measured=0)
    assert (scene.started, asked.call_id) == (0, "t0")
    assert asked.question.splitlines() == [
        "The model wants to start 40 subagents.",
        "Estimate: about 4,160,000 tokens, about $10.00, assuming 104,000 tokens each.",
        "A yes holds for up to 40 in this session; max_subagents is 100.",
    ]
    user.says("yes")
    assert await results(tasks) == {"started"}
    assert scene.started == 40
    assert isinstance(scene.events[-1], QuestionAnswered)


async def test_a_no_refuses_all_of_the_reply_and_the_words_reach_the_model(tmp_path: Path) -> None:
    user = User()
    scene = Scene(tmp_path, user)
    tasks = scene.reply(11)
    await quiet()
    user.says("three are enough")
    (text,) = await results(tasks)
    assert text == (
        'Not started, like all 11 of this reply: the user declined, and says: "three are enough". '
        "Do the work yourself, or with fewer subagents."
    )
    (text,) = await results(scene.reply(12))  # not asked again in this turn
    assert "declined as many in this turn" in text
    assert await results(scene.reply(3)) == {"started"}
    scene.prompt()
    tasks = scene.reply(11)
    await quiet()
    user.says("no")
    assert len(user.asked) == 2
    (text,) = await results(tasks)
    assert "the user declined. Do" in text


async def test_the_estimate_is_the_average_of_those_that_have_ended(tmp_path: Path) -> None:
    user = User()
    scene = Scene(tmp_path, user, free=0)
    scene.ended(1_000, 0.5)
    scene.ended(3_000, 1.0)
    scene.reply(4)
    await quiet()
    asked = user.asked[-1]
    assert asked.fan_out == FanOut(4, 0, 4, 100, 8_000, 3.0, measured=2)
    assert (
        "about 8,000 tokens, about $3.00, at 2,000 tokens each, the average of the 2 subagents so far" in asked.question
    )


@pytest.mark.parametrize("measured", [True, False])
async def test_an_unknown_price_is_unknown_and_never_nothing(tmp_path: Path, *, measured: bool) -> None:
    user = User()
    scene = Scene(tmp_path, user, free=0, model="unknown")
    if measured:
        scene.ended(500, 0.0, unpriced=1)
        scene.ended(500, 1.0)
    scene.reply(1)
    await quiet()
    assert user.asked[-1].fan_out is not None
    assert user.asked[-1].fan_out.cost_usd is None
    assert "tokens, cost unknown, " in user.asked[-1].question


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("ask", 'no user is present to agree; fan_out = "allow" in the settings (HARNESS_FAN_OUT=allow) starts them'),
        ("refuse", 'fan_out is "refuse"; fan_out = "allow" in the settings'),
        ("allow", "started"),
    ],
)
async def test_without_a_user_the_setting_decides_and_a_refusal_says_how_to_allow_it(
    tmp_path: Path, mode: Mode, said: str
) -> None:
    scene = Scene(tmp_path, NoAsker(), mode)
    (text,) = await results(scene.reply(11))
    assert said in text
    if mode != "allow":
        assert await results(scene.reply(11)) == {text}
    assert await results(scene.reply(10)) == {"started"} or mode == "allow"


async def test_an_interrupted_question_starts_nothing_and_is_asked_anew(tmp_path: Path) -> None:
    user = User()
    scene = Scene(tmp_path, user)
    tasks = scene.reply(11)
    await quiet()
    for task in tasks:
        task.cancel()
    assert all(isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*tasks, return_exceptions=True))
    assert user.answers[-1].cancelled()
    assert not [event for event in scene.events if isinstance(event, QuestionAnswered)]
    tasks = scene.reply(11)
    await quiet()
    user.says("yes")
    assert await results(tasks) == {"started"}


async def test_what_was_agreed_and_measured_is_known_again_after_a_resume(tmp_path: Path) -> None:
    user = User()
    before = Scene(tmp_path, user)
    tasks = before.reply(15)
    await quiet()
    user.says("yes")
    await results(tasks)
    before.ended(2_000, 0.5)
    after = Scene(tmp_path, user)
    after.questions.recall(before.events)
    after.started = 15
    assert await results(after.reply(5)) == {"started"}  # up to 20 are agreed on
    after.reply(1)
    await quiet()
    asked = user.asked[-1].fan_out
    assert asked is not None
    assert (asked.started, asked.allowed, asked.tokens, asked.cost_usd, asked.measured) == (20, 40, 2_000, 0.5, 1)
