"""Checks of the request: sessions of many turns, where the date, the branch and the tools' order change."""

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from harness.engine.turn_lifecycle import turn_facts
from harness.events import Message
from harness.model.prompt import PromptSection, system_blocks

SESSIONS = 60
Plain = dict[str, Any]
SECTIONS = {"identity": "You are an agent.\n", "workspace": "You work in /home/you.", "skills": "", "memory": " \n"}
TOOLS: tuple[Plain, ...] = tuple(
    {"name": name, "description": f"To {name}.", "input_schema": {}} for name in ("write", "read", "bash", "glob")
)
MONDAY, TUESDAY = (f"<facts>\nToday is 2026-11-{day}.\n</facts>" for day in (23, 24))


def check_the_system_prompt_is_made_of_the_sections(work: ModuleType) -> None:
    some = [SECTIONS, {"identity": "You are an agent."}, {"memory": ""}, {}]
    some.append({"skills": "\n", "memory": "- indentation", "answers": "  Be brief.  "})
    for sections in some:
        got = _request(work, dict(sections))["system"]
        wanted = list(system_blocks([PromptSection(name, text) for name, text in sections.items()]))
        assert got == wanted, f"system of {sections} -> {got}, wanted {wanted}"


def check_the_beginning_keeps_its_bytes(work: ModuleType) -> None:
    first, chance = _request(work, facts=MONDAY), Random(10)
    for facts in (MONDAY, TUESDAY, ""):
        tools = chance.sample(TOOLS, len(TOOLS))
        later = _request(work, tools=tools, facts=facts, prompt="And now?")
        got, wanted = _names(later["tools"]), sorted(_names(TOOLS))
        assert got == wanted, f"tools of {_names(tools)} -> {got}, wanted {wanted}"
        assert all(tool in TOOLS for tool in later["tools"]), f"tools -> {later['tools']}"
        before, now = _bytes(first["system"]), _bytes(later["system"])
        assert now == before, f"system with {facts!r} -> {now}, in the turn before {before}"


def check_what_was_sent_stays_as_it_is(work: ModuleType) -> None:
    history: list[Plain] = []
    for turn, facts in enumerate((MONDAY, TUESDAY, TUESDAY, MONDAY)):
        sections, tools, given = dict(SECTIONS), list(TOOLS), deepcopy(history)
        sent = deepcopy(_request(work, sections, tools, given, facts=facts, prompt=f"prompt {turn}"))
        assert given == history, f"turn {turn}: request has changed its history: {_changed(history, given)}"
        assert tools == list(TOOLS), f"turn {turn}: request has changed its tools: {_names(TOOLS)} -> {_names(tools)}"
        assert sections == SECTIONS, f"turn {turn}: request has changed its sections: {SECTIONS} -> {sections}"
        again = _request(work, sections, tools, given, facts=facts, prompt=f"prompt {turn}")
        assert again == sent, f"turn {turn}: sent once more: {_changed(sent['messages'], again['messages'])}"
        kept = sent["messages"][: len(history)]
        assert kept == history, f"turn {turn}: the history is sent differently: {_changed(history, kept)}"
        history = [*sent["messages"], _said("assistant", f"answer {turn}")]


def check_facts_come_before_the_prompt(work: ModuleType) -> None:
    for facts, wanted in ((MONDAY, [MONDAY, "Begin."]), ("", ["Begin."])):
        messages = _request(work, facts=facts, prompt="Begin.")["messages"]
        shown = [(message["role"], _texts(message)) for message in messages]
        assert shown == [("user", wanted)], f"messages with {facts!r} -> {shown}"


def check_facts_are_sent_when_they_are_new(work: ModuleType) -> None:
    history: list[Plain] = []
    days = ((MONDAY, 1), (MONDAY, 0), (MONDAY, 0), (TUESDAY, 1), (TUESDAY, 0), (MONDAY, 1), ("", 0))
    for turn, (facts, news) in enumerate(days):
        texts = _texts(_request(work, history=history, facts=facts, prompt="Go on.")["messages"][-1])
        wanted = [facts] * news + ["Go on."]
        assert texts == wanted, (
            f"turn {turn}, known until now {_known(history)}: newest message {texts}, wanted {wanted}"
        )
        history += [_said("user", *texts), _said("assistant", "Done.")]
    summary = [_said("user", "(a summary of it all)"), _said("assistant", "Done.")]
    texts = _texts(_request(work, history=summary, facts=MONDAY, prompt="Go on.")["messages"][-1])
    assert texts == [MONDAY, "Go on."], f"after a compaction: newest message {texts}, wanted {[MONDAY, 'Go on.']}"


def check_it_sends_the_facts_where_harness_does(work: ModuleType) -> None:
    head = Path("repository/.git/HEAD").resolve()
    head.parent.mkdir(parents=True)
    for seed in range(SESSIONS):
        chance, history = Random(seed), list[Plain]()
        folder = head.parent.parent
        for turn in range(chance.randint(2, 12)):
            head.write_text(f"ref: refs/heads/{chance.choice(('main', 'drafts'))}\n")
            facts = turn_facts(folder, ())
            sent_facts = turn_facts(folder, [Message(one["role"], tuple(one["content"])) for one in history])
            wanted = [text for text in (sent_facts, f"prompt {turn}") if text]
            sent = _request(work, history=history, facts=facts, prompt=wanted[-1])["messages"]
            got = _texts(sent[-1])
            assert got == wanted, f"known until now {_known(history)}: newest message {got}, wanted {wanted}"
            history = [*sent, _said("assistant", "Done.")]
            if chance.random() < 0.2:
                kept = 2 * chance.randint(0, len(history) // 2)
                history = [_said("user", "(a summary)"), _said("assistant", "Yes."), *history[len(history) - kept :]]


def _request(
    work: ModuleType,
    sections: Plain | None = None,
    tools: list[Plain] | None = None,
    history: list[Plain] | None = None,
    *,
    facts: str = "",
    prompt: str = "Begin.",
) -> Plain:
    """The result of the learner's function for these arguments, or for copies of the usual ones."""
    sections = dict(SECTIONS) if sections is None else sections
    tools = list(TOOLS) if tools is None else tools
    made = work.request(sections, tools, [] if history is None else history, facts, prompt)
    assert isinstance(made, dict), f"request gave {made!r}"
    assert sorted(made) == ["messages", "system", "tools"], f"request gave {sorted(made)}"
    return made


def _said(role: str, *texts: str) -> Plain:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}


def _texts(message: Plain) -> list[str]:
    return [block["text"] for block in message["content"]]


def _known(history: Sequence[Plain]) -> list[str]:
    """The facts in a history."""
    return [text for message in history for text in _texts(message) if text.startswith("<facts>")]


def _names(tools: Sequence[Plain]) -> list[str]:
    return [tool["name"] for tool in tools]


def _bytes(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _changed(before: Sequence[Plain], after: Sequence[Plain]) -> str:
    """Where two lists of messages differ first."""
    for at, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            return f"messages[{at}] {_texts(old)} -> {_texts(new)}"
    return f"{len(before)} -> {len(after)} messages"
