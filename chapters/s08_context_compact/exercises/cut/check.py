"""Compares the learner's cuts of histories with those of harness."""

from random import Random
from types import ModuleType
from typing import Any

from harness.events import Message
from harness.model import history
from harness.policies.recovery.compaction import tail_length
from harness.policies.recovery.history_cut import joined_end

HISTORIES = 1_500
Plain = dict[str, Any]


def check_calls_and_their_results_stay_together(work: ModuleType) -> None:
    messages = [_said("user", "count"), *_round("a", 50), *_round("b", 50), *_round("c", 50)]
    for budget in range(0, 2_000, 25):
        at = _cut(work, messages, budget)
        results = {block["tool_use_id"] for one in messages[at:] for block in one["content"] if "tool_use_id" in block}
        calls = {block["id"] for one in messages[at:] for block in one["content"] if block["type"] == "tool_use"}
        assert results == calls, f"cut at {at} of {_shape(messages)}: results {sorted(results)}, calls {sorted(calls)}"


def check_unanswered_results_stay(work: ModuleType) -> None:
    notice = _said("user", "a command in the background has ended")
    for end in ([], [notice], [notice, notice]):
        messages = [_said("user", "count"), *_round("a", 50), *_round("b", 9_000), *end]
        at = _cut(work, messages, 100)
        assert at == 3, f"cut at {at} of {_shape(messages)}, wanted 3: the result of b has not been answered"


def check_as_much_stays_as_fits(work: ModuleType) -> None:
    messages = [_said("user", "one"), _said("assistant", "1"), _said("user", "two"), _said("assistant", "2")]
    messages += [_said("user", "three")]
    sizes = [work.size(message) for message in messages]
    for first in (4, 2, 0):
        enough = sum(sizes[first:])
        at = _cut(work, messages, enough)
        assert at == first, f"with room for exactly {len(messages) - first} messages: cut at {at}, wanted {first}"


def check_it_cuts_where_harness_cuts(work: ModuleType) -> None:
    for seed in range(HISTORIES):
        chance = Random(seed)
        messages = _history(chance)
        budget = chance.randint(0, 3_000)
        rounds = joined_end(history.steps([Message(one["role"], tuple(one["content"])) for one in messages]))
        sizes = [sum(sum(len(str(block)) for block in message.content) for message in group) for group in rounds]
        kept = tail_length(sizes, budget)
        wanted = sum(map(len, rounds[: len(rounds) - kept]))
        at = _cut(work, messages, budget)
        assert at == wanted, f"cut at {at}, wanted {wanted}, with a budget of {budget}, of {_shape(messages)}"


def _cut(work: ModuleType, messages: list[Plain], budget: int) -> int:
    at = work.cut(list(messages), budget)
    assert isinstance(at, int), f"cut gave {at!r}, which is no index"
    assert 0 <= at < len(messages), f"cut gave {at} for {len(messages)} messages: something has to stay"
    return at


def _said(role: str, text: str) -> Plain:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _round(name: str, length: int) -> list[Plain]:
    call = {"type": "tool_use", "id": name, "name": "read_file", "input": {"path": name}}
    result = {"type": "tool_result", "tool_use_id": name, "content": "x" * length}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def _history(chance: Random) -> list[Plain]:
    messages: list[Plain] = []
    for number in range(chance.randint(1, 5)):
        messages.append(_said("user", "p" * chance.randint(1, 200)))
        for turn in range(chance.randint(0, 3)):
            messages += _round(f"{number}-{turn}", chance.randint(1, 800))
            if chance.random() < 0.2:
                messages.append(_said("user", "notice"))
        messages.append(_said("assistant", "a" * chance.randint(1, 200)))
    return messages[: chance.randint(1, len(messages))] if chance.random() < 0.7 else messages


def _shape(messages: list[Plain]) -> str:
    names = {"text": "", "tool_use": " call", "tool_result": " result"}
    parts = (f"{at}:{one['role']}{names[one['content'][0]['type']]}" for at, one in enumerate(messages))
    return ", ".join(parts)
