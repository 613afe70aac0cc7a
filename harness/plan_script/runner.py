"""Carries a plan script out with the subagents of a session, or only counts what it would begin."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base.clock import SystemClock
from harness.base.errors import HarnessError
from harness.engine.conversation import Conversation
from harness.engine.subagents.reports import SubagentReport
from harness.engine.subagents.subagents import ScriptTask
from harness.engine.turn_lifecycle import LedEnd
from harness.events import AgentEnd, Event, Notice, PhaseStarted, ScriptResult, TransitionCode
from harness.plan_script.plan import AgentFailed, AgentOrder, Main, Plan, Unanswered
from harness.plan_script.record import ScriptRecord, call_id, ended_unrecorded
from harness.policies.recovery import Stop, TurnState
from harness.session import Session
from harness.session.answer_schema import AnswerSchema, SchemaMismatch
from harness.tools.tool import Tool

_CODES = {
    AgentEnd.LIMIT: TransitionCode.MAX_TURNS,
    AgentEnd.PAUSED: TransitionCode.FAILURE_BUDGET_PAUSED,
    AgentEnd.STUCK: TransitionCode.LOOP_STOPPED,
}
"""How a plan ends whose script does not catch the failure of an agent; else MODEL_ERROR."""


class _PlanSeat:
    """Holds the agents of a plan to the budget of all of them."""

    tools: tuple[Tool, ...] = ()
    waits = False
    blocked = ""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self.usd: float | None = None

    async def deliver(self, conversation: Conversation) -> None:
        """There is no mail."""

    def board(self, refuses: object) -> None:
        """Each agent has its own work on the board."""

    def on_event(self, event: Event) -> None:
        """Nothing depends on it."""

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn of an agent because the money of the plan is spent."""
        spent = self._conversation.spend.cost_usd
        if self.usd is None or spent < self.usd:
            return None
        reason = f"the budget of the plan, ${self.usd:.2f}, is spent (${spent:.2f})"
        return Stop(state, reason, TransitionCode.BUDGET_EXHAUSTED)


class SessionRunner:
    """Has the agents of a script work in a session; what an earlier run of it got is not asked for again."""

    def __init__(self, session: Session, record: ScriptRecord) -> None:
        self._session = session
        self._record = record
        self._seat = _PlanSeat(session.conversation)
        self._unawaited: dict[str, str] = {}
        """Names of calls by position."""

    def ask(self, order: AgentOrder) -> None:
        """Say so where an earlier run asked for something else."""
        self._unawaited[order.position] = order.name
        if self._record.changed(order):
            text = f'agent {order.position} "{order.name}" was asked for something else before; it runs again'
            self._session.conversation.emit(Notice("info", text))

    def phase(self, name: str) -> None:
        """Report it."""
        self._session.conversation.emit(PhaseStarted(name))

    def budget(self, usd: float) -> None:
        """Hold all agents to it together."""
        self._seat.usd = usd

    async def run(self, order: AgentOrder) -> tuple[ScriptResult, Any]:
        """The result that is recorded, or that of a subagent. Raises HarnessError for what cannot be asked for."""
        self._unawaited.pop(order.position)
        schema = _schema_of(order)
        found = self._record.result(order)
        if found is None and (created := self._record.created.get(call_id(order))) is not None:
            found = ended_unrecorded(self._session.path, order, created)
            if found is not None and not _value(schema, found)[1]:
                self._session.conversation.emit(found)
            else:
                found = None
        if found is None:
            found = await self._carried_out(order, schema)
        return found, _value(schema, found)[0]

    def name_unawaited(self) -> None:
        """Name the calls whose agents have not begun because the script did not wait for them."""
        for position, name in self._unawaited.items():
            text = f'agent {position} "{name}" did not begin: the script does not await it'
            self._session.conversation.emit(Notice("warning", text))

    async def _carried_out(self, order: AgentOrder, schema: AnswerSchema | None) -> ScriptResult:
        task = ScriptTask(
            call_id=call_id(order),
            description=order.name,
            prompt=f"{order.prompt}\n\n{schema.instruction()}" if schema else order.prompt,
            tools=order.tools,
            kind=order.kind,
            seat=self._seat,
            workspace=await self._tree(order),
            answer_format=schema.output_format(lazy_sdk=self._session.settings.lazy_sdk) if schema else None,
        )
        carry_out = self._session.subagents.carry_out
        agent, report = await carry_out(task)
        result = _result(order, agent, report)
        if schema is not None and (why := _value(schema, result)[1]):
            _, report = await carry_out(replace(task, prompt=schema.again(why)), agent)
            result = _result(order, agent, report)
            if why := _value(schema, result)[1]:
                result = replace(result, end=AgentEnd.FAILED, reason=f"its answer does not fit the schema: {why}")
        if result.end is not AgentEnd.CANCELLED:
            self._session.conversation.emit(result)
        return result

    async def _tree(self, order: AgentOrder) -> Path | None:
        """The worktree of an agent, made where there is none; None: it works where the session does."""
        if not order.worktree:
            return None
        worktrees = self._session.worktrees
        own = f"plan-{self._session.id[-6:]}-{order.position.replace('.', '-')}"
        return worktrees.workspace_in(await worktrees.enter(own if order.worktree is True else order.worktree))


class CountingRunner:
    """Runs a script as far as it needs no answer that there is not yet, and counts what it asks for."""

    def __init__(self, record: ScriptRecord) -> None:
        self._record = record
        self.known = 0
        """Calls with a result."""
        self.new: list[AgentOrder] = []
        """Calls for which an agent would begin."""

    def ask(self, order: AgentOrder) -> None:
        """Count it."""
        if self._record.result(order) is None:
            self.new.append(order)
        else:
            self.known += 1

    def phase(self, name: str) -> None:
        """Nothing is shown."""

    def budget(self, usd: float) -> None:
        """Nothing is spent."""

    async def run(self, order: AgentOrder) -> tuple[ScriptResult, Any]:
        """The recorded result. Raises Unanswered where there is none."""
        if (found := self._record.result(order)) is None:
            raise Unanswered
        return found, _value(_schema_of(order), found)[0]

    async def count(self, main: Main, plan: Plan) -> bool:
        """Run the script; True: to its end, so that all its agents are counted."""
        with suppress(Exception, SystemExit, Unanswered):  # a mistake in the script shows when it runs
            await plan.run(main)
            return True
        return False


async def led_by(load: Callable[[], Main], plan: Plan, file: Path) -> LedEnd:
    """Run a script and say how it ended, whatever it does."""
    try:
        return TransitionCode.COMPLETED, "the plan has ended", _text(await plan.run(load()))
    except AgentFailed as failed:
        spent = "budget" in failed.reason and failed.end is AgentEnd.LIMIT
        code = TransitionCode.BUDGET_EXHAUSTED if spent else _CODES.get(failed.end, TransitionCode.MODEL_ERROR)
        return code, str(failed), ""
    except HarnessError as error:
        return TransitionCode.MODEL_ERROR, str(error), ""
    except (Exception, SystemExit) as error:  # noqa: BLE001 (the border: the script is the user's)
        return TransitionCode.MODEL_ERROR, where(error, file), ""


def where(error: BaseException, file: Path) -> str:
    """An exception of the script in one line, with the line of the script."""
    trace, line = error.__traceback__, getattr(error, "lineno", None) or 0
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == str(file) else line
        trace = trace.tb_next
    place = f"{file.name}, line {line}" if line else file.name
    return f"{place}: {type(error).__name__}: {error}"


def _text(value: object) -> str:
    """What the script returned, as the answer of the turn. Raises HarnessError for what is neither text nor JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise HarnessError(f"main returned neither a text nor JSON ({error}); return a str or plain data.") from error


def _schema_of(order: AgentOrder) -> AnswerSchema | None:
    if order.schema is None:
        return None
    schema = AnswerSchema(order.schema)
    if problem := schema.problem:
        raise HarnessError(f'The schema of agent "{order.name}" is not a valid JSON schema: {problem}.')
    return schema


def _value(schema: AnswerSchema | None, result: ScriptResult) -> tuple[Any, str]:
    """The value of an answer, and why it does not fit the schema."""
    if schema is None or result.end is not AgentEnd.ANSWERED:
        return result.text, ""
    try:
        return schema.value(result.text), ""
    except SchemaMismatch as misfit:
        return None, misfit.why


def _result(order: AgentOrder, agent: str, report: SubagentReport) -> ScriptResult:
    end = (agent, report.end, report.text, report.reason)
    return ScriptResult(order.position, order.digest, *end, SystemClock().now())
