"""What a plan script works with.

Every call of an agent has a position: its number within the script or within its branch of `parallel`. The order in
which agents end does not change positions, so a script that runs again finds the results of its first run by them.
"""

import asyncio
import hashlib
import json
import math
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from harness.base.errors import HarnessError
from harness.events import AgentEnd, Json, ScriptResult

_OWN_TASK = (
    "The script used its plan in a task of its own (asyncio.gather, create_task, a TaskGroup, a thread). What happens "
    "there has no order that --resume could repeat; run branches by `await plan.parallel(…)`."
)


class AgentFailed(Exception):  # noqa: N818 (an end of an agent, which a script may take for a value)
    """An agent ended without an answer, or with one that does not fit its schema."""

    def __init__(self, name: str, end: AgentEnd, reason: str, text: str = "") -> None:
        """`text`: what it had said so far."""
        super().__init__(f"agent {name} did not finish: {reason}")
        self.end = end
        self.reason = reason
        self.text = text


class Unanswered(BaseException):
    """The script needs an answer that there is not yet; ends a run that only counts agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOrder:
    """What a script asks for."""

    position: str
    """ "2", or "2.1.3" within a branch of `parallel`."""
    prompt: str
    name: str
    """The task in a few words."""
    schema: Json | None
    kind: str
    tools: tuple[str, ...] | None
    worktree: bool | str

    @property
    def digest(self) -> str:
        """Of everything that decides about the answer."""
        what = [self.prompt, self.schema, self.kind, self.tools, self.worktree]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


class Runner(Protocol):
    """What carries a plan out, or only counts its agents."""

    async def run(self, order: AgentOrder) -> tuple[ScriptResult, Any]:
        """The result, and the value of an answer: its text, or what the schema describes."""
        ...

    def ask(self, order: AgentOrder) -> None:
        """The script has made a call; it may wait for it later."""
        ...

    def phase(self, name: str) -> None:
        """The script begins another phase."""
        ...

    def budget(self, usd: float) -> None:
        """From now on all agents together may cost so much."""
        ...


@dataclass(slots=True)
class _Branch:
    """The script, or one of the branches that `parallel` runs side by side."""

    position: str
    random: Random
    time: float
    """Of the last result that it has seen; Unix time."""
    calls: int = 0
    task: "asyncio.Task[Any] | None" = None
    """What runs it; None: anything may."""

    def next(self) -> str:
        self.calls += 1
        return f"{self.position}{self.calls}"


_BRANCH: ContextVar[_Branch | None] = ContextVar("branch", default=None)


@dataclass(eq=False)
class AgentCall:
    """A call of an agent. It begins when the script awaits it, and runs once however often that is."""

    order: AgentOrder
    raises: bool
    _runner: Runner
    _branch: _Branch
    _task: "asyncio.Task[Any] | None" = field(default=None, init=False)

    def __await__(self) -> Generator[Any, None, Any]:
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return self._task.__await__()

    async def _run(self) -> Any:
        result, value = await self._runner.run(self.order)
        self._branch.time = max(self._branch.time, result.answered_at)
        if result.end is AgentEnd.ANSWERED:
            return value
        failed = AgentFailed(self.order.name, result.end, result.reason, result.text)
        if self.raises:
            raise failed
        return failed


class Plan:
    """The argument of `main` in a plan script."""

    def __init__(self, runner: Runner, arguments: Sequence[str], *, seed: int, began: float) -> None:
        self.arguments = tuple(arguments)
        """What the command line has behind the name of the script."""
        self._runner = runner
        self._seed = seed
        self._root = self._begun("", began)
        self._misused: HarnessError | None = None

    async def run(self, main: "Main") -> Any:
        """What `main` returns. Raises what it raises, and HarnessError if a task of its own has called the plan."""
        self._root.task = asyncio.current_task()
        answer = await main(self)
        if self._misused is not None:  # nobody may have awaited that task
            raise self._misused
        return answer

    def agent(
        self,
        prompt: str,
        *,
        name: str = "",
        schema: Json | None = None,
        kind: str = "",
        tools: Iterable[str] | None = None,
        worktree: bool | str = False,
        raises: bool = True,
    ) -> AgentCall:
        """A call of an agent; `await` it for the answer.

        Args:
            name: for the screen; empty: the beginning of the prompt.
            schema: JSON schema; the answer is then the value that it describes, not a text.
            kind: one of the agents that files define.
            tools: names of the only tools it may use; None: all.
            worktree: it works in a worktree of its own, with this name or one that the program chooses.
            raises: False: an agent that fails gives its AgentFailed as a value.

        Awaiting it raises AgentFailed. Raises HarnessError for a prompt that is no text, or an empty one.
        """
        if not isinstance(prompt, str) or not prompt.strip():
            raise HarnessError(f"The prompt of an agent is a text with words in it, not {prompt!r}.")
        branch = self._branch
        order = AgentOrder(
            position=branch.next(),
            prompt=prompt,
            name=name or " ".join(prompt.split())[:60],
            schema=schema,
            kind=kind,
            tools=None if tools is None else tuple(tools),
            worktree=worktree,
        )
        self._runner.ask(order)
        return AgentCall(order, raises, self._runner, branch)

    async def parallel(self, *calls: Awaitable[Any] | Iterable[Awaitable[Any]]) -> list[Any]:
        """The answers of calls and of coroutines with several calls, in their order, as soon as all have ended.

        Takes them one by one or in one iterable. Raises the first failure in their order.
        """
        first = calls[0] if len(calls) == 1 else None
        given: Any = calls if first is None or isinstance(first, Awaitable) else first
        outer, position = self._branch, self._branch.next()
        branches = [(self._begun(f"{position}.{at}.", outer.time), call) for at, call in enumerate(given, 1)]
        tasks = [asyncio.create_task(_in(branch, call)) for branch, call in branches]
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        outer.time = max([outer.time, *(branch.time for branch, _ in branches)])
        failures = [end for end, task in zip(ends, tasks, strict=True) if task.exception() is not None]
        if failures:
            raise min(failures, key=lambda one: not isinstance(one, Unanswered))
        return ends

    def phase(self, name: str) -> None:
        """Say on the screen and in the journal what follows."""
        self._runner.phase(name)

    def budget(self, usd: float) -> None:
        """Let all agents together cost so much, in US dollars. Those that run then end, and later ones fail.

        Raises HarnessError for what is no amount.
        """
        if not 0 <= usd < math.inf:
            raise HarnessError(f"A budget is a number of US dollars, 0 or more, not {usd!r}.")
        self._runner.budget(usd)

    @property
    def random(self) -> Random:
        """Random numbers, the same in each run with this seed."""
        return self._branch.random

    def now(self) -> float:
        """Unix time at which this branch got its last answer, or the plan began: the same in each resumed run."""
        return self._branch.time

    @property
    def _branch(self) -> _Branch:
        branch = _BRANCH.get() or self._root
        if branch.task not in (None, _current_task()):
            self._misused = HarnessError(_OWN_TASK)
            raise self._misused
        return branch

    def _begun(self, position: str, time: float) -> _Branch:
        return _Branch(position, Random(f"{self._seed}:{position}"), time)


def _current_task() -> "asyncio.Task[Any] | None":
    try:
        return asyncio.current_task()
    except RuntimeError:  # in another thread
        return None


async def _in(branch: _Branch, call: Awaitable[Any]) -> Any:
    branch.task = asyncio.current_task()
    _BRANCH.set(branch)
    return await call


Main = Callable[[Plan], Awaitable[Any]]
"""The function `main` of a script."""
