"""Requests between agents, carried out: journalled, brought by mail, and watched until they have an end.

The table of `policies.protocols` decides. A request waits in the journal and nowhere else; in memory there are a timer
for its next deadline, and its question while the user is asked.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from harness.base.concurrency import shielded
from harness.base.errors import HarnessError
from harness.engine.core import AgentCore
from harness.engine.permissions.asker import SubagentAsker, UserAnswer
from harness.events import (
    Address,
    Event,
    MailKind,
    Notice,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestState,
    TurnStarted,
)
from harness.model import notices
from harness.policies.protocols.requests import Request, RequestFold, RequestRefused, digest_of, move, role_of
from harness.policies.protocols.table import DEADLINES, RequestEffect, RequestMessage, Role, word
from harness.policies.team.mail import LEAD, USER, MailDraft, MailRefused

LEAD_BOX, USER_BOX = Address(LEAD, 1), Address(USER, 1)
PROGRAM = "program"
MOST_OPEN = 10
"""Requests without an answer that one agent may have."""
YES, NO = "yes", "no"


class RequestTeam(Protocol):
    """What requests need of their team."""

    async def open(self) -> None:
        """Open the mailboxes."""
        ...

    async def send(self, draft: MailDraft) -> Any:
        """Write a message to mailboxes. Raises MailError."""
        ...

    def unread(self, address: Address, text: str) -> bool:
        """A message that holds this text waits to be read."""
        ...

    async def shut_down(self, address: Address, why: str, *, forced: bool) -> None:
        """End a member: at once, or after its present task."""
        ...


class Requests:
    """All requests of a session."""

    def __init__(self, core: AgentCore, team: RequestTeam) -> None:
        self._core = core
        self._emit = core.conversation.emit
        self._team = team
        self.fold = RequestFold()
        """They as they stand."""
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._questions: dict[str, asyncio.Task[None]] = {}
        self._untold = False
        """The session was resumed: what is open is to be said again."""

    # ── what agents and the user do ─────────────────────────────────────────────────────────────

    async def make(self, asker: Address, kind: RequestKind, recipient: Address, text: str) -> Request:
        """Ask for something. Raises HarnessError where that is refused, also by the mailbox."""
        text = self._core.conversation.masking.text(text)
        self._check(asker, kind, recipient, text)
        if kind is RequestKind.PLAN:
            for earlier in [one for one in self.fold.plans(asker) if one.waits]:
                await self._apply(earlier, RequestMessage.WITHDRAW, Role.ASKER, asker.name, "another plan replaces it")
        return await shielded(self._made(asker, kind, recipient, text))

    def _check(self, asker: Address, kind: RequestKind, recipient: Address, text: str) -> None:
        if not text.strip():
            raise HarnessError("The request has no text.")
        if kind is RequestKind.PLAN and asker == LEAD_BOX:
            raise HarnessError("You approve the plans of members; nobody has to approve yours.")
        if asker == recipient:
            raise HarnessError(f"{recipient.name} is you.")
        if sum(one.asker == asker for one in self.fold.waiting) >= MOST_OPEN:
            raise HarnessError(f"You have {MOST_OPEN} requests without an answer; withdraw one, or wait.")
        if kind in (RequestKind.PLAN, RequestKind.SHUTDOWN):
            return
        if cycle := self.fold.cycle(asker.name, recipient.name):
            waits = ", ".join(f"{one.asker.name} waits for {one.with_} ({one.id})" for one in cycle)
            raise HarnessError(
                f"{recipient.name} waits for you already: {waits}. Answer or decline {cycle[-1].id} first, or write to "
                "them with message."
            )

    async def _made(self, asker: Address, kind: RequestKind, recipient: Address, text: str) -> Request:
        id, digest = self.fold.next_id, digest_of(text) if kind is RequestKind.PLAN else ""
        to_user = kind is RequestKind.PLAN and self.fold.to_user(asker)
        state = RequestState.WITH_USER if to_user else RequestState.OPEN
        self._emit(RequestMade(id, kind, asker, recipient, text, digest, state))
        request = self._known(id)
        if to_user:
            self._ask_user(request)
        elif refused := await self._mail(asker, recipient, MailKind.REQUEST, notices.request_text(*_said(request))):
            self._emit(RequestChanged(id, RequestState.WITHDRAWN, PROGRAM, refused))
            raise HarnessError(f"Not asked. {refused}")
        self._watch(request)
        return request

    async def say(self, sender: Address, id: str, message: RequestMessage, text: str, digest: str = "") -> Request:
        """Answer a request, or withdraw one. Raises HarnessError: nothing has changed, and why."""
        if (request := self.fold.get(id)) is None:
            waiting = ", ".join(str(one.id) for one in self.fold.waiting) or "none"
            raise HarnessError(f"There is no request {id!r}; without an answer: {waiting}.")
        if message in (RequestMessage.DECLINE, RequestMessage.ANSWER) and not text.strip():
            raise HarnessError(
                f"{request.id} is unchanged: say in `text` {'why' if message is RequestMessage.DECLINE else 'what'}."
            )
        digest = request.digest if sender == USER_BOX else digest.strip()
        text = self._core.conversation.masking.text(text)
        done = await shielded(
            self._apply(request, message, role_of(request, sender), sender.name, text, digest=digest, sender=sender)
        )
        if done is not None:
            raise HarnessError(done.reason)
        return self._known(request.id)

    async def shutdown(self, asker: Address, recipient: Address, why: str, message: RequestMessage | None) -> Request:
        """Ask a member to end, or end it: `IDLE` by the program, `FORCE` by whoever asks. Raises HarnessError."""
        of_it = [one for one in self.fold.waiting if (one.kind, one.recipient) == (RequestKind.SHUTDOWN, recipient)]
        if message is None:
            return of_it[0] if of_it else await self.make(asker, RequestKind.SHUTDOWN, recipient, why)
        if not of_it:
            made = RequestMade(self.fold.next_id, RequestKind.SHUTDOWN, asker, recipient, why)
            self._emit(made)
        request = of_it[0] if of_it else self._known(made.id)
        role = Role.PROGRAM if message is RequestMessage.IDLE else role_of(request, asker)
        by = PROGRAM if message is RequestMessage.IDLE else asker.name
        await shielded(self._apply(request, message, role, by, why))
        return self._known(request.id)

    async def ended(self, address: Address) -> None:
        """Somebody has ended: what it asked goes away, and what it was asked is answered by the program."""
        for request in self.fold.waiting:
            if address in (request.asker, request.recipient):
                asks = request.asker == address
                message = RequestMessage.ASKER_ENDED if asks else RequestMessage.RECIPIENT_ENDED
                await self._apply(request, message, Role.PROGRAM, PROGRAM, f"{address.name} has ended")

    # ── moves ───────────────────────────────────────────────────────────────────────────────────

    def _known(self, id: str) -> Request:
        request = self.fold.get(id)
        assert request is not None, "it was emitted"
        return request

    async def _apply(
        self,
        before: Request,
        message: RequestMessage,
        role: Role,
        by: str,
        why: str,
        *,
        digest: str = "",
        sender: Address | None = None,
    ) -> RequestRefused | None:
        before = self._known(before.id)  # another answer may have come meanwhile
        done = move(before, message, role, digest)
        if isinstance(done, RequestRefused):
            return done
        self._emit(RequestChanged(before.id, done.to, by, why))
        request = replace(before, state=done.to, by=by, why=why)
        self._watch(request)
        for effect in done.effects:
            await self._do(effect, request, sender or request.recipient)
        return None

    async def _do(self, effect: RequestEffect, request: Request, sender: Address) -> None:
        mail, news = self._mail, notices.request_changed(request.id, word(request.kind), word(request.state))
        text = f"{news} {request.by}: {request.why}" if request.why else f"{news} {request.by}"
        match effect:
            case RequestEffect.TELL_ASKER:
                await mail(sender, request.asker, MailKind.ANSWER, text)
            case RequestEffect.TELL_RECIPIENT:
                await mail(request.asker, request.recipient, MailKind.NOTE, f"{text}. Nothing is left to do.")
            case RequestEffect.REMIND:
                await mail(request.asker, request.recipient, MailKind.REQUEST, notices.request_text(*_said(request)))
            case RequestEffect.TELL_LEAD:
                await mail(request.asker, LEAD_BOX, MailKind.REQUEST, notices.request_text(*_said(request)))
            case RequestEffect.ASK_USER:
                self._ask_user(request)
            case RequestEffect.END_RECIPIENT:
                forced = request.state is RequestState.FORCED
                await self._team.shut_down(request.recipient, request.text, forced=forced)

    async def _mail(self, sender: Address, to: Address, kind: MailKind, text: str) -> str:
        """Send what a request says; returns why that was not possible."""
        if sender.name == to.name:  # the program speaks for a lead that was asked by itself
            return ""
        try:
            sent = await self._team.send(MailDraft(sender, (to.name,), text, kind))
        except HarnessError as error:
            self._emit(Notice("warning", f"A request was not brought to {to.name}: {error}"))
            return str(error)
        return sent.reason if isinstance(sent, MailRefused) else ""

    # ── deadlines and the user ──────────────────────────────────────────────────────────────────

    def _watch(self, request: Request) -> None:
        """Wait for the next deadline of a request; end what waits for one that has an end."""
        if (timer := self._timers.pop(request.id, None)) is not None:
            timer.cancel()
        if request.state is not RequestState.WITH_USER and (asked := self._questions.pop(request.id, None)) is not None:
            asked.cancel()
        seconds = DEADLINES.get((request.kind is RequestKind.SHUTDOWN, request.state))
        if seconds is not None:
            self._timers[request.id] = self._begin(self._later(request, seconds), f"deadline of {request.id}")

    async def _later(self, request: Request, seconds: float) -> None:
        await self._core.clock.sleep(seconds)
        del self._timers[request.id]  # what follows may not cancel this task
        late = RequestMessage.DEADLINE_OF_LEAD if request.of_lead else RequestMessage.DEADLINE
        await self._apply(request, late, Role.PROGRAM, PROGRAM, "no answer in time")

    def _ask_user(self, request: Request) -> None:
        self._questions[request.id] = self._begin(self._asked_user(request), f"question about {request.id}")

    async def _asked_user(self, request: Request) -> None:
        if not self._core.asker.present:
            del self._questions[request.id]
            await self._apply(request, RequestMessage.NO_USER, Role.PROGRAM, PROGRAM, "no user is present to decide")
            return
        text = f"{request.asker.name} asks {request.recipient.name} ({word(request.kind)} {request.id}): "
        plan = ProposedPlan(request.text) if request.kind is RequestKind.PLAN else None
        options = () if request.kind is RequestKind.QUESTION else (QuestionOption(YES), QuestionOption(NO))
        asked = QuestionAsked(
            f"request-{request.id}", text + ("carry out this plan?" if plan else request.text), options, plan=plan
        )
        self._emit(asked)
        try:
            given = await SubagentAsker(self._core.asker, request.asker.name).question(asked)
        except asyncio.CancelledError:
            self._emit(QuestionAnswered(asked.call_id, "withdrawn", ""))
            raise
        given = given or UserAnswer("declined")
        self._emit(QuestionAnswered(asked.call_id, given.how, given.text, plan=given.plan))
        del self._questions[request.id]
        message, why = _meaning(request, given)
        await self._apply(*(request, message, Role.USER, USER, why), digest=request.digest, sender=USER_BOX)

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(partial(self._done, name))
        return task

    def _done(self, name: str, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._core.log.error("%s failed", name, exc_info=error)

    # ── the session ─────────────────────────────────────────────────────────────────────────────

    def on_event(self, event: Event) -> None:
        """An event of the session."""
        self.fold.on_event(event)
        if self._untold and isinstance(event, TurnStarted) and event.prompt:
            self._untold = False
            self._timers[""] = self._begin(self._say_again(), "open requests")

    def recall(self, events: Iterable[Event]) -> None:
        """Restore the requests of an earlier run; open ones are said once more with the first prompt."""
        for event in events:
            self.fold.on_event(event)
        self._untold = bool(self.fold.waiting)

    async def _say_again(self) -> None:
        await self._team.open()
        for request in self.fold.waiting:
            if request.state is RequestState.WITH_USER:
                self._ask_user(request)
                continue
            to = LEAD_BOX if request.state is RequestState.WITH_LEAD else request.recipient
            if not self._team.unread(to, notices.request_head(request.id)):
                await self._mail(request.asker, to, MailKind.REQUEST, notices.request_text(*_said(request)))
            self._watch(request)

    async def aclose(self) -> None:
        """Wait for nothing from now on. Open requests stay in the journal."""
        tasks = (*self._timers.values(), *self._questions.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def lines(self) -> tuple[str, ...]:
        """The requests without an answer, for the model and the user."""
        return tuple(map(str, self.fold.waiting))


def _said(request: Request) -> tuple[str, str, str, str, str, str]:
    """What a message about a request says."""
    state = "" if request.state is RequestState.OPEN else word(request.state)
    names = request.asker.name, request.recipient.name
    return request.id, request.kind.value, f"{names[0]} to {names[1]}", state, request.text, request.digest


def _meaning(request: Request, given: UserAnswer) -> tuple[RequestMessage, str]:
    """What an answer of the user says about a request, and its text."""
    text = given.text.strip()
    if given.how == "option" and text == YES:
        edited = f"with changes; follow this text: {given.plan.text}" if given.plan else ""
        return RequestMessage.AGREE, edited
    if given.how == "text" and text and request.kind is RequestKind.QUESTION:
        return RequestMessage.ANSWER, text
    return RequestMessage.DECLINE, text if given.how == "text" else "the user said no"
