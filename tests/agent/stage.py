"""Where an agent is tried out: the real one, the real client, a practice server on a socket, tools in a folder.

Only time is not real: a wait for a retry is noted and over at once.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import psutil

from harness.agent import Agent
from harness.engine.build.from_settings import loop_limits
from harness.engine.conversation import Conversation
from harness.engine.loops.event_fold import BehaviourFold, LoopFold
from harness.engine.permissions.asker import Asker, NoAsker
from harness.events import (
    ATTACHMENT,
    BreakerChanged,
    CascadeChanged,
    Dispatched,
    Event,
    FailureCharged,
    Json,
    LateResult,
    LoopFound,
    LoopLeft,
    Message,
    MessageAdded,
    Origin,
    PartialDiscarded,
    RequestSent,
    StepStarted,
    TextDelta,
    ToolEnded,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
)
from harness.hooks import Hook
from harness.journal import read
from harness.model.history import violations
from harness.policies.breakers.availability import LastResults
from harness.policies.breakers.decisions import DispatchDecision
from harness.policies.breakers.dispatcher import BreakerReplay
from harness.policies.breakers.registry import BreakerRegistry, RegistryState
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.loops.observations import Poll
from harness.practice.checks.request import check
from harness.practice.requests import messages as messages_of
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.practice.wire.recorded import RecordedRequest
from harness.processes.outcome import MARK
from harness.session import Opening, Session, open_session
from harness.settings import LoadedSettings, Settings, load
from harness.tools.tool import Tool

KEY = "sk-ant-recognisable-key-0123456789"
MODEL = "claude-sonnet-4-6"
STARTED = 1_800_000_000.0

E = TypeVar("E", bound=Event)


class VirtualClock:
    """A clock that records waits and ends them at once."""

    def __init__(self) -> None:
        self.time = STARTED
        self.waits: list[float] = []

    def now(self) -> float:
        """Unix time in seconds."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Let everybody else have a turn, then be `seconds` later."""
        self.waits.append(seconds)
        await asyncio.sleep(0)
        self.time += seconds


@dataclass(frozen=True)
class Played:
    """The events of one turn, and what they say."""

    events: list[Event]

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def end(self) -> TurnEnded:
        """The last event."""
        assert isinstance(self.events[-1], TurnEnded), self.events[-1]
        return self.events[-1]

    @property
    def codes(self) -> list[TransitionCode]:
        """The reason for each further step of the loop, and for its end."""
        return [event.code for event in self.of(Transition)]

    @property
    def results(self) -> list[Json]:
        """The results of its tool calls, in the order of the history."""
        blocks = (block for event in self.of(MessageAdded) for block in event.message.content)
        return [block for block in blocks if block.get("type") == "tool_result"]


async def played(events: AsyncGenerator[Event, None], on_event: Callable[[Event], None] | None = None) -> Played:
    """Take all events of a turn; `on_event` sees each one when a front end would."""
    seen: list[Event] = []
    async with aclosing(events):
        async for event in events:
            seen.append(event)
            if on_event is not None:
                on_event(event)
    return Played(seen)


@dataclass
class Stage:
    """An agent and the server it talks to."""

    agent: Agent
    server: PracticeServer
    clock: VirtualClock
    workspace: Path

    recorded: list[Event]
    """What a journal would hold."""
    agents: Path | None = None
    """Where the journals of its agents are."""

    def __post_init__(self) -> None:
        self.events: list[Event] = []

    async def turn(
        self, prompt: str = "What is the answer?", on_event: Callable[[Event], None] | None = None
    ) -> Played:
        """One prompt and all that comes of it."""
        return await self._taken(self.agent.run(prompt), on_event)

    async def retry(self) -> Played:
        """Retry with the present history."""
        return await self._taken(self.agent.retry())

    async def compact(self, focus: str = "") -> Played:
        """Compact the history on request."""
        return await self._taken(self.agent.parts.user_commands.compact(focus))

    async def _taken(
        self, events: AsyncGenerator[Event, None], on_event: Callable[[Event], None] | None = None
    ) -> Played:
        turn = await played(events, on_event)
        self.events += turn.events
        return turn

    @property
    def posts(self) -> list[RecordedRequest]:
        """The requests for messages, as the server saw them."""
        return [request for request in self.server.requests if request.path == "/v1/messages"]

    @property
    def bodies(self) -> list[Json]:
        """Their bodies."""
        return [request.body for request in self.posts]

    @staticmethod
    def of_agent(path: Path) -> list[Event]:
        """What the journal of an agent holds."""
        return [record.event for record in read(path).records]

    def ran(self) -> Counter[str]:
        """How often each command ran, by what it left in the file ran.txt."""
        return ran_in(self.workspace)

    def check(self) -> None:
        """What holds whatever happened."""
        check_requests(self.posts)
        of_agents = [self.of_agent(path) for path in sorted(self.agents.glob("*.jsonl"))] if self.agents else []
        for events in of_agents:
            check_rounds(events)
        check_rounds(self.events)
        sent = [event for events in (self.events, *of_agents) for event in events if isinstance(event, RequestSent)]
        assert len(sent) == len(self.posts)
        check_dispatch(self.recorded, self.agent)
        check_escape(self.recorded, self.agent)


def ran_in(workspace: Path) -> Counter[str]:
    """How often each command ran, by what it left in the file ran.txt."""
    file = workspace / "ran.txt"
    return Counter(file.read_text().split()) if file.exists() else Counter()


def check_requests(posts: Sequence[RecordedRequest]) -> None:
    """F1: every request that went out is one that the API takes, by our check and by the server's."""
    for number, request in enumerate(posts, 1):
        assert violations(messages_of(request.body)) == (), f"request {number}"
        refused = check(request.headers, request.body, Script().rules, None)
        assert refused is None or refused.type == "not_found_error", f"request {number}: {refused}"


def check_events(events: Sequence[Event], posts: int) -> None:
    """One event a request, and what `check_rounds` looks at."""
    assert len(Played(list(events)).of(RequestSent)) == posts
    check_rounds(events)


def check_rounds(events: Sequence[Event]) -> None:
    """One transition a step, one start (G4) and one end a call."""
    turn = Played(list(events))
    assert [event.step for event in turn.of(Transition)] == [event.step for event in turn.of(StepStarted)]
    started = Counter(event.call_id for event in turn.of(ToolStarted))
    ended = Counter(event.call_id for event in turn.of(ToolEnded))
    assert set(started.values()) <= {1}
    assert set(ended.values()) <= {1}
    assert started.keys() <= ended.keys()


def check_dispatch(recorded: Sequence[Event], agent: Agent) -> None:
    """What ran was let through, once, and the recorded events lead to the same breakers again."""
    let_through = Counter(
        event.call_id for event in recorded if isinstance(event, Dispatched) and event.dispatch in ("call", "probe")
    )
    calls = [event.call_id for event in recorded if isinstance(event, ToolStarted)]
    assert Counter(call for call in calls if not call.startswith(ATTACHMENT)) <= let_through
    registry = agent.parts.breakers.registry
    differing: list[tuple[Dispatched, DispatchDecision]] = []
    replay = BreakerReplay(BreakerRegistry(registry.tools, registry.capabilities), lambda *pair: differing.append(pair))
    replayed = [one for event in recorded for one in replay.on_event(event)]
    assert differing == []
    assert replayed == [event for event in recorded if isinstance(event, TOLD) and not is_of_a_model(event)]
    assert without_moments(replay.registry) == without_moments(registry)


def check_escape(recorded: Sequence[Event], agent: Agent) -> None:
    """The recorded events lead to the same loops and the same places on the ladder again."""
    reported = [event for event in recorded if isinstance(event, LoopFound | LoopLeft)]
    fold = LoopFold(LoopMonitor(loop_limits(agent.parts.core.settings)), BehaviourFold(agent.toolbox.get, Poll()))
    assert reported == [found for event in recorded for found in fold.see(event, STARTED)]
    status = agent.parts.loops.status
    assert fold.monitor.status() == status


TOLD = (BreakerChanged, CascadeChanged, FailureCharged, LateResult)
"""What the registry itself says."""


def is_of_a_model(event: Event) -> bool:
    """The event is about the breaker of a model."""
    return isinstance(event, BreakerChanged) and event.key.startswith("model:")


def without_moments(registry: BreakerRegistry) -> RegistryState:
    """All that decides anything; moments in time do not."""
    state = registry.saved()
    rows = ((tool, breaker, LastResults(message=seen.message)) for tool, breaker, seen in state.breakers)
    return replace(state, breakers=tuple(rows))


def shown_text(events: Sequence[Event]) -> str:
    """The text of the answers that a user saw, without discarded parts."""
    shown = ""
    for event in events:
        match event:
            case TextDelta(text=text):
                shown += text
            case PartialDiscarded(characters=characters):
                shown = shown[: len(shown) - characters]
    return shown


def kept_text(events: Sequence[Event]) -> str:
    """What joined the history of the answers."""
    added = Played(list(events)).of(MessageAdded)
    return "".join(event.message.text for event in added if event.origin is Origin.REPLY)


def settings_of(folder: Path, base_url: str, **values: object) -> LoadedSettings:
    """Settings for a test: everything lives in `folder`, nothing comes from this machine."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    flags = {
        "base_url": base_url,
        "api_key": KEY,
        "model": MODEL,
        "permission_mode": "yolo",
        "fan_out": "allow",
        "sandbox": "off",  # what the machine offers decides nothing in a test that does not ask for it
        "workspace": workspace,
        "state_dir": folder / "state",
    }
    return load(flags | values, {}, workspace, user_file=folder / "no-settings.toml")


@asynccontextmanager
async def stage(
    folder: Path,
    script: str,
    *,
    asker: Asker | None = None,
    tools: Sequence[Tool] | None = None,
    reread: Callable[[], Settings] | None = None,
    clock: VirtualClock | None = None,
    messages: Sequence[Message] = (),
    hooks: Sequence[Hook] = (),
    reached: Callable[[str], Mapping[str, object]] = lambda base_url: {},
    **values: object,
) -> AsyncIterator[Stage]:
    """An agent with a server that plays `script`; checks the invariants at the end.

    Args:
        folder: where workspace and state folder go.
        tools: the only tools of the agent; None: the standard tools.
        messages: the initial history.
        hooks: functions called at fixed points.
        reached: returns settings for the address of a server that is not reached by `base_url`.
        values: settings by name.
    """
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as server:
        loaded = settings_of(folder, server.base_url, **values, **reached(server.base_url))
        clock = clock or VirtualClock()
        recorded: list[Event] = []
        conversation = Conversation(recorded.append, messages=messages)
        agents = folder / "agents"
        async with Agent(
            loaded.settings,
            tools=tools or (),
            standard=None if tools is None else (),
            asker=asker,
            reread=reread,
            clock=clock,
            conversation=conversation,
            agents=agents,
            hooks=hooks,
        ) as agent:
            here = Stage(agent, server, clock, loaded.settings.workspace, recorded, agents)
            yield here
            here.check()
    assert left_running(loaded.settings) == []


def left_running(settings: Settings, within_s: float = 20.0) -> list[str]:
    """The running commands of agents with these settings.

    A killed process may stay listed until it is reaped, so found ones are checked again until `within_s` has passed.
    """
    deadline = time.monotonic() + within_s
    while (found := _marked(settings.workspace)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _marked(workspace: Path) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            ours = Path(process.cwd()).is_relative_to(workspace) and MARK in process.environ()
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def run(marker: str) -> str:
    """A tool call, for a script, that leaves `marker` in the file ran.txt."""
    return f'{{ name = "bash", input = {{ command = "echo {marker} >> ran.txt" }} }}'


def calls(*calls: str, text: str = "", **more: str) -> str:
    """An entry of a script that asks for tools; `more` are further keys in TOML."""
    extra = "\n".join(f"{key} = {value}" for key, value in more.items())
    words = f'text = "{text}"\n' if text else ""
    return f"\n[[reply]]\n{words}tools = [{', '.join(calls)}]\n{extra}\n"


def says(text: str, **more: str) -> str:
    """An entry of a script that answers; `more` are further keys in TOML."""
    extra = "\n".join(f"{key} = {value}" for key, value in more.items())
    return f"\n[[reply]]\ntext = '''{text}'''\n{extra}\n"


def fails(status: int, **more: str) -> str:
    """An entry of a script that is an HTTP error; `more` are further keys in TOML."""
    extra = "\n".join(f"{key} = {value}" for key, value in more.items())
    return f"\n[[reply]]\nstatus = {status}\n{extra}\n"


def too_long(tokens: int = 210_000, limit: int = 200_000, **more: str) -> str:
    """An entry of a script: the prompt is too long."""
    return fails(400, message=f'"prompt is too long: {tokens} tokens > {limit} maximum"', **more)


def summarises(
    text: str = "Requests: what is the answer. Done: looked. Next: answer.", times: str = '"forever"'
) -> str:
    """An entry of a script, set aside for requests for a summary."""
    return f"\n[[reply]]\nwhen = {{ purpose = \"summary\" }}\ntext = '''{text}'''\ntimes = {times}\n"


# ── sessions ────────────────────────────────────────────────────────────────────────────────────────


class PassingClock(VirtualClock):
    """A virtual clock that reads the real time, for work that runs once a minute."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


@asynccontextmanager
async def sessions(folder: Path, script: str, **values: object) -> AsyncIterator["Sessions"]:
    """Several sessions with these settings, one after the other, before one server."""
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as server:
        yield Sessions(settings_of(folder, server.base_url, **values), server)


class Sessions:
    """Opens them."""

    def __init__(self, loaded: LoadedSettings, server: PracticeServer) -> None:
        self.loaded = loaded
        self.server = server

    async def open(self, opening: Opening | None = None, asker: Asker | None = None, **more: Any) -> Session:
        """A new one, or one that is gone on with; `more`: what `open_session` takes."""
        return await open_session(self.loaded, asker or NoAsker(), opening, clock=PassingClock(), **more)
