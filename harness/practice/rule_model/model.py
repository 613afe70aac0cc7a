"""The rule-based model: from a request body to a reply."""

import json
import re
from collections.abc import Generator, Sequence
from itertools import groupby

from harness.events import Json
from harness.practice.replies import Part, ScriptedReply, TextPart, ToolUse
from harness.practice.rule_model.conversation import (
    AnsweredCall,
    Arrival,
    ModelCall,
    PastConversation,
    PastTurn,
    ReturnedResult,
    read_request,
    summarise,
)
from harness.practice.rule_model.intents import Sentence, refusal, understand
from harness.practice.rule_model.patterns import prepared
from harness.practice.rule_model.plans import (
    PHRASES,
    PendingCalls,
    Plan,
    PlanContext,
    PlanStoppedError,
    Results,
    agent_answer,
    fenced,
    report_on_subagents,
)
from harness.practice.rule_model.tools import Ability, NoToolError, offered_tools

CHARACTERS_A_TOKEN = 4
"""Roughly; decides only where an answer is cut."""
MOST_STEPS = 64
SKIP_STEPS = 8
"""Steps of a plan for which a skipped tool is not called again."""


class RuleModel:
    """A model made of rules: a pure function of the request, without state or network."""

    def answer(self, request: Json) -> ScriptedReply:
        """The reply to a body of the Messages API. Never raises for a body that is JSON."""
        conversation = read_request(request)
        if conversation.wants_summary:
            return within_limit(summarise(conversation), (), conversation.max_tokens)
        if conversation.wants_title:
            return within_limit(_title(conversation), (), conversation.max_tokens)
        context = PlanContext(conversation.language, offered_tools(conversation.tools))
        text, calls = _answer(conversation, context)
        if conversation.asked_again is not None:
            text = remaining(text, conversation.kept) if conversation.kept.strip() or calls else ""
            if not text.strip() and not calls:
                text = context.say("nothing_left")
        return within_limit(text, calls, conversation.max_tokens)


def _answer(conversation: PastConversation, context: PlanContext) -> tuple[str, Sequence[ModelCall]]:
    """The whole answer to the last turn."""
    turn = conversation.turn
    prompt = prepared(turn.prompt)
    sentences = understand(prompt, context) if prompt else None
    if sentences is None and (tasks := _tasks(context, turn)):  # a script delegated them, not this model
        return _report(conversation, context, report_on_subagents(context, tasks)), ()
    if sentences is None:
        known = bool(turn.media) or (not turn.prompt and bool(turn.arrivals))
        return _report(conversation, context, "" if known else refusal(context), introduce=known), ()
    outcome = _replayed(with_alternatives(context, _plan(context, sentences)), turn.valid_calls)
    if isinstance(outcome, str):
        introduce = sentences[0][0].example[0] != "help"
        return _report(conversation, context, outcome, introduce=introduce), ()
    words = outcome.words
    if turn.resumed:
        words = f"{context.say('resumed')} {words}"
    return words, outcome.calls


def _tasks(context: PlanContext, turn: PastTurn) -> list[AnsweredCall]:
    tool = context.tools.abilities.get(Ability.DELEGATE)
    return [one for one in turn.calls if tool is not None and one.call.name == tool.name]


def _report(conversation: PastConversation, context: PlanContext, report: str, *, introduce: bool = True) -> str:
    """The report with its additions: arrivals, attached media, and the introduction, once in a conversation."""
    turn = conversation.turn
    parts = [report, *(_arrived(context, arrival) for arrival in turn.arrivals)]
    if turn.media:
        parts.append(f"{context.say('attached')}\n\n{context.bullets(turn.media)}")
    earlier = any(one.answered for one in conversation.turns[:-1]) or any(
        text in conversation.said for text in PHRASES["introduction"]
    )
    if introduce and not earlier:
        parts.insert(0, context.say("introduction"))
    return "\n\n".join(part for part in parts if part.strip())


def _arrived(context: PlanContext, arrival: Arrival) -> str:
    source, (head, _, rest) = arrival.source, arrival.text.partition("\n")
    match arrival.kind:
        case "agent_ended":
            task = re.search(r'background to "(.*?)"', head)
            answer = agent_answer(context, task[1] if task else source, rest.strip() or head)
            return f"{context.say('agent_arrived', source=source)}\n\n{answer}"
        case "command_quiet":
            head = context.say("quiet")
    first = context.say("arrived", source=source, what=head)
    return f"{first}\n\n{fenced(rest.strip())}" if rest.strip() else first


def _title(conversation: PastConversation) -> str:
    """The first words of the prompt, for a client that wants a title."""
    words = conversation.turn.prompt.strip("\"'` \n").split("\n")[0].split()
    return " ".join(words[:8])[:50].rstrip(" ,.;:、。") or "Practice"


# ── plans, replayed on the results there are ────────────────────────────────────────────────────────


def _plan(context: PlanContext, sentences: Sequence[Sentence]) -> Plan:
    """One plan for all sentences: what only reads runs side by side, the rest in order."""
    reports: list[str] = []
    for changes, group in groupby(sentences, key=lambda sentence: sentence[0].changes):
        plans = [_guarded(context, sentence) for sentence in group]
        for batch in [[plan] for plan in plans] if changes else [plans]:
            reports += yield from _together(batch)
    return "\n\n".join(dict.fromkeys(filter(None, reports)))


def _guarded(context: PlanContext, sentence: Sentence) -> Plan:
    """A plan that reports a failed call or a missing tool."""
    intent, match = sentence
    try:
        return (yield from intent.plan(context, match))
    except PlanStoppedError as stopped:
        return str(stopped)
    except NoToolError as missing:
        return context.say("no_tool", ability=missing)


def _together(plans: Sequence[Plan]) -> Generator[PendingCalls, Results, list[str]]:
    """The reports of plans that run side by side: their calls are made at once."""
    reports = [""] * len(plans)
    waiting: dict[int, PendingCalls] = {}
    results: dict[int, Results | None] = dict.fromkeys(range(len(plans)))
    while results:
        for number, given in results.items():
            try:
                waiting[number] = next(plans[number]) if given is None else plans[number].send(given)
            except StopIteration as end:
                reports[number] = end.value
        if not waiting:
            break
        calls = {call.key: call for pending in waiting.values() for call in pending.calls}
        words = " ".join(dict.fromkeys(pending.words for pending in waiting.values()))
        given = yield PendingCalls(words, tuple(calls.values()))
        by_key = dict(zip(calls, given, strict=True))
        results = {number: tuple(by_key[call.key] for call in pending.calls) for number, pending in waiting.items()}
        waiting = {}
    return reports


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


def with_alternatives(context: PlanContext, plan: Plan) -> Plan:
    """The plan, with alternatives in the place of skipped calls, and stopped where the turn pauses."""
    alternatives = _Alternatives(context)
    try:
        pending = next(plan)
        while True:
            results = yield from alternatives.results(pending)
            if left := [str(call) for call, result in zip(pending.calls, results, strict=True) if result.paused]:
                return context.say("paused", left=", ".join(left))
            pending = plan.send(results)
    except StopIteration as end:
        return "\n\n".join((str(end.value), *dict.fromkeys(alternatives.notes)))
    finally:
        plan.close()


class _Alternatives:
    """The skipped tools of one plan and what replaces them."""

    def __init__(self, context: PlanContext) -> None:
        self._context = context
        self._step = 0
        self._skipped: dict[str, tuple[int, ReturnedResult]] = {}
        self.notes: list[str] = []
        """Losses, for the report."""

    def results(self, pending: PendingCalls) -> Generator[PendingCalls, Results, Results]:
        """The results of calls, some by an alternative. A call that has none left keeps its skip."""
        self._step += 1
        results: dict[str, ReturnedResult] = {}
        words = pending.words
        while waiting := [call for call in pending.calls if call.key not in results]:
            chosen = [(call, *self._chosen(call)) for call in waiting]
            results |= {call.key: skip for call, _, _ in chosen if (skip := self._skip(call.name)) is not None}
            chosen = [one for one in chosen if one[1] is not one[0] or one[0].key not in results]
            if not chosen:
                break
            given = yield PendingCalls(words, tuple(other for _, other, _ in chosen))
            for (call, other, loses), result in zip(chosen, given, strict=True):
                results.pop(call.key, None)
                if result.skipped:
                    self._skipped[other.name] = self._step, result
                elif other is not call and result.denied:
                    results[call.key] = self._skipped[call.name][1]
                else:
                    results[call.key] = result
                    if other is not call and not result.not_run:
                        self.notes.append(
                            self._context.say("lost", tool=call.name, other=other.name, loses=loses.rstrip("."))
                        )
            left = ((call, self._chosen(call)[0]) for call, _, _ in chosen if call.key not in results)
            words = " ".join(dict.fromkeys(self._words(call, other) for call, other in left if other is not call))
        return tuple(results[call.key] for call in pending.calls)

    def _words(self, call: ModelCall, other: ModelCall) -> str:
        return self._context.say("will_replace", tool=call.name, other=other.name)

    def _skip(self, tool: str) -> ReturnedResult | None:
        since, skip = self._skipped.get(tool, (0, None))
        return skip if self._step - since < SKIP_STEPS else None

    def _chosen(self, call: ModelCall) -> tuple[ModelCall, str]:
        """The call to make in the place of a call, and its loss."""
        skip = self._skip(call.name)
        for tool, loses in skip.alternatives if skip else ():
            other = self._context.tools.alternative(call, tool) if self._skip(tool) is None else None
            if other is not None:
                return other, loses
        return call, ""


# ── the output limit ────────────────────────────────────────────────────────────────────────────────


def remaining(answer: str, kept: str) -> str:
    """The rest of an answer after `kept`, whose whitespace may have been trimmed."""
    if answer.startswith(kept):
        return answer[len(kept) :]
    compact, seen = "".join(kept.split()), 0
    for index, char in enumerate(answer):
        if seen == len(compact):
            return answer[index:]
        if not char.isspace():
            if char != compact[seen]:
                return answer[index:]
            seen += 1
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
