"""Plan mode: the model only looks and proposes a plan, and the user decides what follows.

What the model reads about the mode is a text behind the newest prompt or results. System prompt and tools stay as they
are, so that the prompt cache holds (docs/permissions.md#plan-mode).
"""

from collections.abc import Mapping
from types import MappingProxyType

from harness.engine.core import AgentCore
from harness.engine.permissions.asker import UserAnswer
from harness.events import (
    Block,
    PlanHandedOver,
    PlanItem,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    ToolCall,
    ToolOutcome,
)
from harness.model import notices
from harness.permissions import Mode
from harness.tools.tool import Effect, Tool, ToolContext, ToolResult, shorten_line

QUESTION = "Carry out this plan?"
APPROVALS: Mapping[Mode, tuple[str, str]] = MappingProxyType(
    {
        Mode.ASK: ("yes, ask before each edit", "the user is asked before each change"),
        Mode.EDITS: ("yes, and write files without asking", "files are written without a question"),
        Mode.YOLO: ("yes, everything without asking, as before", "nothing is asked"),
    }
)
"""By the mode in which the plan is carried out: the answer, and what the model reads of it."""
HAND_OVER = "yes, in a new conversation"
LEAVE = "leave plan mode without this plan"


class PlanMode:
    """Tells one agent when plan mode begins and ends, and puts its plans to the user."""

    def __init__(self, core: AgentCore) -> None:
        self._conversation = core.conversation
        self._rules = core.shared.rules
        self._asker = core.asker
        self._seat = core.seat
        self.proposes = not core.is_subagent and (
            core.asker.present or self.on or core.conversation.state.planning is not None
        )
        """The agent has the tool propose_plan."""
        self._announced = True
        """The history may say that plan mode is on."""
        self._asked = False
        """A plan was proposed in this step."""
        self._ends = ""
        self._handed_over: PlanHandedOver | None = None

    @property
    def on(self) -> bool:
        """Plan mode is on."""
        return self._rules.mode is Mode.PLAN

    def notice(self) -> str:
        """What the model has to read about the mode; empty: the history says it, or there is nothing to say."""
        if not self.on and not self._announced:
            return ""
        texts = (
            str(block.get("text", ""))
            for message in reversed(self._conversation.messages)
            for block in reversed(message.content)
        )
        said = next((text for text in texts if text.startswith(notices.PLAN_MODE)), notices.PLAN_MODE_OVER)
        now = notices.plan_mode_on(proposes=self.proposes) if self.on else notices.PLAN_MODE_OVER
        self._announced = self.on
        return "" if said == now else now

    def after_step(self) -> tuple[Block, ...]:
        """The notice as a block beside the results of a step."""
        return ({"type": "text", "text": text},) if (text := self.notice()) else ()

    def end(self) -> str:
        """Why the turn ends after this step; empty: it goes on. Called once, when the results are in the history."""
        ends, self._ends, self._asked = self._ends, "", False
        handed_over, self._handed_over = self._handed_over, None
        if handed_over is not None:
            self._conversation.emit(handed_over)
        return ends

    def veto(self, call: ToolCall, tool: Tool | None) -> ToolResult | None:
        """The result of a call that must not run: one behind a proposal in the same reply, whose answer may contradict
        it, or one that changes something before the plan of a member is approved. None: it may run."""
        if self._asked:
            return ToolResult(notices.BEHIND_PLAN, ToolOutcome.CANCELLED, "not run")
        changes = tool is not None and (tool.changes or tool.effect is not Effect.READ)
        if changes and self._seat is not None and (why := self._seat.blocked):
            return ToolResult(notices.plan_first(call.name, why), ToolOutcome.DENIED, "its plan is not approved")
        return None

    async def propose(self, context: ToolContext, plan: ProposedPlan) -> ToolResult:
        """Ask whether to carry it out, and return the answer for the model. A cancellation takes the question back."""
        if not self.on:
            return ToolResult(notices.NO_PLAN_MODE, ToolOutcome.ERROR, "plan mode is off")
        asked = QuestionAsked(context.call_id, QUESTION, tuple(map(QuestionOption, self._answers())), plan=plan)
        self._conversation.emit(asked)
        self._asked = True
        given = await self._asker.question(asked)
        if given is None:
            self._conversation.emit(QuestionAnswered(context.call_id, "declined", "", "setting"))
            self._ends = "the plan waits for your approval"
            return ToolResult(notices.PLAN_UNANSWERED, summary="not approved: no user is present")
        self._conversation.emit(QuestionAnswered(context.call_id, given.how, given.text, plan=given.plan))
        return self._decided(given, plan)

    def _answers(self) -> tuple[str, ...]:
        """The answers on offer; the one that restores the mode of before comes first."""
        before = self._rules.before_plan
        modes = [mode for mode in APPROVALS if mode is not Mode.YOLO or before is Mode.YOLO]
        return (*(APPROVALS[mode][0] for mode in sorted(modes, key=lambda mode: mode is not before)), HAND_OVER, LEAVE)

    def _decided(self, given: UserAnswer, proposed: ProposedPlan) -> ToolResult:
        plan, edited = given.plan or proposed, given.plan.text if given.plan else ""
        answer, before = given.text if given.how == "option" else "", self._rules.before_plan
        for mode, (label, how) in APPROVALS.items():
            if answer == label:
                self._rules.set_mode(mode)
                items = tuple(map(PlanItem, plan.steps)) or None
                return ToolResult(notices.plan_approved(edited, plan.steps, how), summary=answer, plan=items)
        if answer == HAND_OVER:
            self._rules.set_mode(before)
            prompt = notices.plan_to_carry_out(plan.text, plan.steps, self._request())
            self._handed_over = PlanHandedOver(prompt, plan.steps, Mode.ASK if before is Mode.DENY else before)
            self._ends = "a new conversation carries out the plan"
            return ToolResult(notices.PLAN_HANDED_OVER, summary=answer)
        if answer == LEAVE:
            self._rules.set_mode(before)
            self._ends = "plan mode was left"
            return ToolResult(notices.PLAN_LEFT, summary=answer)
        reason = given.text.strip()
        return ToolResult(
            notices.plan_refused(edited, reason), summary=shorten_line(f"not approved: {reason}".rstrip(": "))
        )

    def _request(self) -> str:
        """The prompts that the plan answers."""
        state = self._conversation.state
        since = [point.prompt for point in state.rewind_points if point.turn > (state.planning or 0)]
        return "\n\n".join(since) or state.last_prompt
