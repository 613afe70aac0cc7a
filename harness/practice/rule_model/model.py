"""The rule-based model: from a request body to a reply.

A prompt must fit one form of the table of intents as a whole, or several joined by "and", "then" or new lines.
Anything else is refused, and nothing is done.
"""

import json
import re
from collections.abc import Sequence

from harness.events import Json
from harness.practice.rule_model.command_prompts import command_plan
from harness.practice.rule_model.conversation import (
    AnsweredCall,
    CallOutcome,
    ModelCall,
    PastConversation,
    ReturnedResult,
    read_request,
    summarise,
)
from harness.practice.rule_model.intents import INTENTS, Intent
from harness.practice.rule_model.patterns import PreparedPrompt, SentenceMatch, prepared
from harness.practice.rule_model.plans import (
    PHRASES,
    PendingCalls,
    Plan,
    PlanContext,
    PlanStoppedError,
    agent_answer,
    fenced,
    report_on_subagents,
)
from harness.practice.rule_model.tools import Ability, NoToolError, offered_tools
from harness.practice.wire.replies import Part, ScriptedReply, TextPart, ToolUse

CHARACTERS_A_TOKEN = 4
"""Roughly; decides only where an answer is cut."""
MOST_SENTENCES = 12
MOST_STEPS = 64
Sentence = tuple[Intent, SentenceMatch]


class RuleModel:
    """A model made of rules: a pure function of the request, without state or network."""

    def answer(self, request: Json) -> ScriptedReply:
        """The reply to a body of the Messages API. Never raises for a body that is JSON."""
        conversation = read_request(request)
        if conversation.wants_summary:
            return within_limit(summarise(conversation), (), conversation.max_tokens)
        if conversation.wants_title:
            words = conversation.turn.prompt.strip("\"'` \n").split("\n")[0].split()
            title = " ".join(words[:8])[:50].rstrip(" ,.;:、。") or "Practice"
            return within_limit(title, (), conversation.max_tokens)
        context = PlanContext(offered_tools(conversation.tools), conversation.japanese)
        text, calls = _answer(conversation, context)
        if conversation.asks_for_more:
            text = remaining(text, conversation.kept) if conversation.kept.strip() or calls else ""
            if not text.strip() and not calls:
                text = context.say("nothing_left")
        return within_limit(text, calls, conversation.max_tokens)


def _answer(conversation: PastConversation, context: PlanContext) -> tuple[str, Sequence[ModelCall]]:
    """The whole answer to the last turn: its report, or the calls that it needs besides those that have results."""
    turn = conversation.turn
    if (of_command := command_plan(context, turn)) is not None:
        outcome = _replayed(_reported(context, of_command), turn.valid_calls)
        return (outcome.words, outcome.calls) if isinstance(outcome, PendingCalls) else (outcome, ())
    prompt = prepared(turn.prompt)
    sentences = understand(prompt, context) if prompt else None
    agent = context.tools.abilities.get(Ability.DELEGATE)
    tasks = [one for one in turn.calls if agent is not None and one.call.name == agent.name]
    if sentences is not None:
        outcome = _replayed(_with_alternatives(context, _plan(context, sentences)), turn.valid_calls)
        if isinstance(outcome, PendingCalls):
            resumed = turn.paused_after == len(turn.calls)
            return f"{context.say('resumed')} {outcome.words}" if resumed else outcome.words, outcome.calls
        report, introduced = outcome, sentences[0][0].plan is None
    elif tasks:  # a script delegated them, not this model
        report, introduced = report_on_subagents(context, tasks), False
    else:
        introduced = not turn.media and (bool(turn.prompt) or not turn.arrivals)
        report = examples(context, "refusal", INTENTS[:8]) if introduced else ""
    parts = [report, *(_arrived(context, *arrival) for arrival in turn.arrivals)]
    if turn.media:
        parts.append(f"{context.say('attached')}\n\n{context.bullets(turn.media)}")
    earlier = any(
        one.answered or any(text in one.said for text in PHRASES["introduction"]) for one in conversation.turns[:-1]
    )
    if not introduced and not earlier:
        parts.insert(0, context.say("introduction"))
    return "\n\n".join(part for part in parts if part.strip()), ()


def understand(prompt: PreparedPrompt, context: PlanContext, most: int = MOST_SENTENCES) -> list[Sentence] | None:
    """The intents of a prompt, in order; None where a part of it fits none."""
    own = {"", *(tool.name.lower() for tool in context.tools.own)}
    for intent in INTENTS:
        for form in intent.forms if not (intent.changes and prompt.is_question) else ():
            match = prompt.match(form)
            if match is not None and match["tool"].lower() in own:
                return [(intent, match)]
    for first, rest in prompt.splits() if most > 1 else ():
        one = understand(first, context, 1)
        others = understand(rest, context, most - 1) if one else None
        if one and others:
            return [*one, *others]
    return None


def examples(context: PlanContext, key: str, intents: Sequence[Intent]) -> str:
    """One example of each intent."""
    lines = [f"- {intent.example[context.japanese]}" for intent in intents]
    return "\n".join((context.say(key), "", *lines, "", context.say(f"{key}_end")))


def _arrived(context: PlanContext, kind: str, source: str, text: str) -> str:
    head, _, rest = text.partition("\n")
    if kind == "agent_ended":
        task = re.search(r'background to "(.*?)"', head)
        answer = agent_answer(context, task[1] if task else source, rest.strip() or head)
        return f"{context.say('agent_arrived', source=source)}\n\n{answer}"
    first = context.say("arrived", source=source, what=context.say("quiet") if kind == "command_quiet" else head)
    return f"{first}\n\n{fenced(rest.strip())}" if rest.strip() else first


# ── plans, replayed on the results there are ────────────────────────────────────────────────────────


def _plan(context: PlanContext, sentences: Sequence[Sentence]) -> Plan:
    """One plan for all sentences, in order. A failed call or a missing tool ends its sentence."""
    reports: list[str] = []
    for intent, match in sentences:
        if intent.plan is None:
            reports.append(examples(context, "help", INTENTS))
        else:
            reports.append((yield from _reported(context, intent.plan(context, match))))
    return "\n\n".join(dict.fromkeys(filter(None, reports)))


def _reported(context: PlanContext, plan: Plan) -> Plan:
    """The plan; where it fails, its report says why."""
    try:
        return (yield from plan)
    except PlanStoppedError as stopped:
        return str(stopped)
    except NoToolError as missing:
        return context.say("no_tool", ability=missing)


def _replayed(plan: Plan, answered: Sequence[AnsweredCall]) -> PendingCalls | str:
    """The report of a plan, or the calls that it needs besides those in the conversation."""
    recorded: dict[str, list[ReturnedResult]] = {}
    for one in answered:
        recorded.setdefault(one.call.key, []).append(one.result)
    try:
        pending = next(plan)
        for _ in range(MOST_STEPS):
            missing = [call for call in pending.calls if not recorded.get(call.key)]
            if missing:
                return PendingCalls(pending.words, tuple(missing))
            pending = plan.send(tuple(recorded[call.key].pop(0) for call in pending.calls))
    except StopIteration as end:
        return str(end.value)
    finally:
        plan.close()
    raise RuntimeError(f"a plan took more than {MOST_STEPS} steps")


def _with_alternatives(context: PlanContext, plan: Plan) -> Plan:
    """The plan, with alternatives in the place of skipped calls, and stopped where the turn pauses."""
    losses: list[str] = []
    try:
        pending = next(plan)
        while True:
            given = yield pending
            results = list(given)
            for number, call in enumerate(pending.calls):
                for name, loses in given[number].alternatives if given[number].outcome is CallOutcome.SKIPPED else ():
                    if (other := context.tools.alternative(call, name)) is None:
                        continue
                    (result,) = yield PendingCalls(context.say("will_replace", tool=call.name, other=name), (other,))
                    if result.outcome is CallOutcome.DENIED:
                        break
                    if result.outcome is not CallOutcome.SKIPPED:
                        results[number] = result
                        losses.append(context.say("lost", tool=call.name, other=name, loses=loses))
                        break
            if left := [
                str(call)
                for call, result in zip(pending.calls, results, strict=True)
                if result.outcome is CallOutcome.PAUSED
            ]:
                return context.say("paused", left=", ".join(left))
            pending = plan.send(tuple(results))
    except StopIteration as end:
        return "\n\n".join((str(end.value), *dict.fromkeys(losses)))
    finally:
        plan.close()


# ── the output limit ────────────────────────────────────────────────────────────────────────────────


def remaining(answer: str, kept: str) -> str:
    """The rest of an answer after `kept`, whose whitespace may have been trimmed."""
    if answer.startswith(kept):
        return answer[len(kept) :]
    compact, seen = "".join(kept.split()), 0
    for index, char in enumerate(answer):
        if seen == len(compact) or not (char.isspace() or char == compact[seen]):
            return answer[index:]
        seen += not char.isspace()
    return ""


def within_limit(text: str, calls: Sequence[ModelCall], max_tokens: int) -> ScriptedReply:
    """The reply, cut in its text or in the input of a call where it reaches the output limit."""
    room = max_tokens * CHARACTERS_A_TOKEN
    if len(text) > room:
        lead = len(text) - len(text.lstrip())
        return ScriptedReply((TextPart(text[: max(room, lead + 1)].rstrip()),), stop_reason="max_tokens")
    room -= len(text)
    parts: list[Part] = [TextPart(text)] if text.strip() else []
    for call in calls:
        raw = json.dumps(call.input, ensure_ascii=False)
        if len(call.name) + len(raw) > room:
            cut = ToolUse(call.name, {}, raw_input=raw[: max(1, room - len(call.name))])
            return ScriptedReply((*parts, cut), stop_reason="max_tokens")
        parts.append(ToolUse(call.name, dict(call.input)))
        room -= len(call.name) + len(raw)
    return ScriptedReply(tuple(parts))
