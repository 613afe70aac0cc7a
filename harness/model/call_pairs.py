"""Repair of a history: pair each tool call with exactly one result (docs/design/model-calls.md#history)."""

import re
from collections import Counter, defaultdict
from itertools import count

from harness.events import Block, Message
from harness.model.invariants import IDENTIFIER, SERVER_USES, is_server_result, paused
from harness.model.message_drafts import MessageDraft, Report, key
from harness.model.notices import MISSING_RESULT


def pair_calls(drafts: list[MessageDraft], report: Report) -> None:
    """Make each message after one with calls start with exactly their results. Roles must alternate.

    A late result is moved to its call, a missing one is replaced by an error, a second call with the same id gets a
    new id, and a result without a call is dropped.
    """
    if drafts and drafts[-1].of_type("tool_use"):
        drafts.append(MessageDraft(drafts[-1].number, "user", []))
    pairing = _Pairing(drafts, report)
    asker: MessageDraft | None = None
    for at, draft in enumerate(drafts):
        if draft.role == "user":
            pairing.answer(at, draft, asker)
        asker = draft


class _Pairing:
    def __init__(self, drafts: list[MessageDraft], report: Report) -> None:
        self._report = report
        self._ids = {key(call.get("id")) for draft in drafts for call in draft.of_type("tool_use")}
        self._taken: set[str] = set()
        self._last_number: Counter[str] = Counter()
        self._late = _late_results(drafts)
        self._moved: set[int] = set()

    def answer(self, at: int, draft: MessageDraft, asker: MessageDraft | None) -> None:
        """Make `draft`, message `at`, answer the calls of `asker`, the assistant message before it."""
        own: dict[str, list[Block]] = defaultdict(list)
        for result in draft.of_type("tool_result"):
            if id(result) not in self._moved:
                own[key(result.get("tool_use_id"))].append(result)
        answers: dict[int, Block] = {}
        added: list[Block] = []
        for call in self._distinct_calls(asker) if asker else ():
            old_id, new_id = key(call.get("id")), self._id_of_its_own(call)
            if asker and new_id != old_id:
                asker.blocks = [{**call, "id": new_id} if block is call else block for block in asker.blocks]
                self._report(asker, f"gave a call the id {new_id}, because {old_id} is already used or invalid")
            if own[old_id]:
                result = own[old_id].pop(0)
                answers[id(result)] = result if new_id == old_id else {**result, "tool_use_id": new_id}
            elif late := self._late_result(old_id, at):
                added.append({**late, "tool_use_id": new_id})
                self._report(draft, f"moved the late result of the call {old_id} here")
            else:
                added.append(_missing_result(new_id))
                self._report(draft, f"added an error for the missing result of the call {old_id}")
        for surplus in (result for results in own.values() for result in results):
            self._report(draft, f"dropped a result without a call ({key(surplus.get('tool_use_id'))})")
        self._arrange(draft, answers, added)

    def _arrange(self, draft: MessageDraft, answers: dict[int, Block], added: list[Block]) -> None:
        kept = [answers[id(block)] for block in draft.blocks if id(block) in answers]
        others = [block for block in draft.blocks if block["type"] != "tool_result"]
        firsts = [block["type"] == "tool_result" for block in draft.blocks]
        if firsts != sorted(firsts, reverse=True):
            self._report(draft, "moved the tool results to the front")
        draft.blocks = kept + added + others

    def _distinct_calls(self, draft: MessageDraft) -> list[Block]:
        """The calls of `draft`, after exact duplicates were dropped."""
        calls: list[Block] = []
        for call in draft.of_type("tool_use"):
            if call in calls:
                draft.drop(call)
                self._report(draft, f"dropped a duplicate of the call {key(call.get('id'))}")
            else:
                calls.append(call)
        return calls

    def _late_result(self, id_: str, at: int) -> Block | None:
        """The first result of the call `id_` after message `at`, where it belongs."""
        for found in self._late[id_]:
            place, result = found
            if place > at:
                self._late[id_].remove(found)
                self._moved.add(id(result))
                return result
        return None

    def _id_of_its_own(self, call: Block) -> str:
        own = key(call.get("id"))
        if not IDENTIFIER.fullmatch(own) or own in self._taken:
            base = re.sub(r"[^a-zA-Z0-9_-]+", "_", own) if isinstance(call.get("id"), str) and own else "call"
            fresh = (f"{base}_{number}" for number in count(self._last_number[base] + 1))
            own = next(name for name in fresh if name not in self._taken and name not in self._ids)
            self._last_number[base] = int(own.rpartition("_")[2])
        self._taken.add(own)
        return own


def _missing_result(id: str) -> Block:
    return {"type": "tool_result", "tool_use_id": id, "content": MISSING_RESULT, "is_error": True}


def _late_results(drafts: list[MessageDraft]) -> dict[str, list[tuple[int, Block]]]:
    """The results that do not directly follow their call: (index of draft, block) by id."""
    late: dict[str, list[tuple[int, Block]]] = defaultdict(list)
    asked: Counter[str] = Counter()
    for at, draft in enumerate(drafts):
        for result in draft.of_type("tool_result"):
            id = key(result.get("tool_use_id"))
            if asked[id] > 0:
                asked[id] -= 1
            else:
                late[id].append((at, result))
        asked = Counter(key(call.get("id")) for call in draft.of_type("tool_use"))
    return late


def pair_server_calls(drafts: list[MessageDraft], report: Report) -> None:
    """Drop calls of server tools without a result, and results without a call.

    A result may be in the assistant's next message if only tool results are between.
    """
    seen: set[str] = set()
    waiting: dict[str, Block] = {}
    asker: MessageDraft | None = None
    for at, draft in enumerate(drafts):
        if draft.role == "user":
            continue
        before, waiting = waiting, {}
        for block in draft.blocks:
            if block["type"] in SERVER_USES:
                id = block.get("id")
                if isinstance(id, str) and id and id not in seen:
                    seen.add(id)
                    waiting[id] = block
                else:
                    _drop(draft, block, "a server tool call without an id of its own", report)
            elif is_server_result(block):
                id = key(block.get("tool_use_id"))
                if waiting.pop(id, None) is None and before.pop(id, None) is None:
                    _drop(draft, block, "a server tool result without a call", report)
        unanswered = [(asker, block) for block in before.values()] if asker else []
        if not (_only_results(drafts, at + 1) or _goes_on(drafts, at)):
            unanswered += [(draft, block) for block in waiting.values()]
            waiting = {}
        for owner, block in unanswered:
            _drop(owner, block, "a server tool call without a result", report)
        asker = draft


def _only_results(drafts: list[MessageDraft], at: int) -> bool:
    return at < len(drafts) and all(block["type"] == "tool_result" for block in drafts[at].blocks)


def _goes_on(drafts: list[MessageDraft], at: int) -> bool:
    """The history ends with a message that the server continues."""
    return at == len(drafts) - 1 and paused(Message(drafts[at].role, tuple(drafts[at].blocks)))


def _drop(draft: MessageDraft, block: Block, what: str, report: Report) -> None:
    draft.drop(block)
    report(draft, f"dropped {what}")
