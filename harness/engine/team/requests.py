"""Requests between agents, carried out: journalled, brought by mail, and watched until they have an end.

The table of `policies.protocols` decides. A request waits in the journal and nowhere else; in memory there are a timer
for its next deadline, and its question while the user is asked.
"""

import asyncio
from collections.abc import Coroutine, Iterable
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
    MemberStarted,
    Notice,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestState,
    SessionStarted,
    TurnStarted,
)
from harness.model import notices
from harness.policies.protocols.requests import Request, RequestFold, RequestRefused, digest_of, move, role_of
from harness.policies.protocols.table import EFFECTS, Deadlines, RequestEffect, RequestMessage, Role, word
from harness.policies.team.mail import LEAD, PROGRAM, USER, MailDraft, MailLimits, MailRefused
from harness.tools.output import shorten

LEAD_BOX, USER_BOX, PROGRAM_BOX = Address(LEAD, 1), Address(USER, 1), Address(PROGRAM, 1)
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

    def there(self, address: Address) -> bool:
        """It is the lead, or a member that has not ended."""
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
        """All requests as they stand."""
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._questions: dict[str, asyncio.Task[None]] = {}
        self._earlier: tuple[Request, ...] = ()
        """What an earlier run left to do, until the first prompt."""

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
        if len(self.fold.asked_by(asker)) >= MOST_OPEN:
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
        elif refused := await self._bring(request, recipient):
            self._emit(RequestChanged(id, RequestState.WITHDRAWN, PROGRAM, refused))
            raise HarnessError(f"Not asked. {refused}")
        self._watch(self._known(id))  # it may have an answer already
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
        done = await shielded(self._apply(request, message, role_of(request, sender), sender.name, text, digest=digest))
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
            of_it = [self._known(made.id)]
        request = of_it[0]
        idle = message is RequestMessage.IDLE
        role, by = (Role.PROGRAM, PROGRAM) if idle else (role_of(request, asker), asker.name)
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
        counts: str = "",
    ) -> RequestRefused | None:
        """`digest`: of the plan that an approval is for; `counts`: of what the user made of it."""
        if (known := self.fold.get(before.id)) is None:
            return RequestRefused(f"{before.id} is gone.")
        before = known  # another answer may have come meanwhile
        done = move(before, message, role, digest)
        if isinstance(done, RequestRefused):
            return done
        self._emit(RequestChanged(before.id, done.to, by, why, counts))
        request = self._known(before.id)
        self._watch(request)
        await self._do(request)
        return None

    async def _do(self, request: Request) -> None:
        """Carry out the effects of the state of a request. All of them follow from the journal."""
        for effect in EFFECTS[request.kind, request.state]:
            await self._carry_out(effect, request)

    async def _carry_out(self, effect: RequestEffect, request: Request) -> None:
        text = f"{notices.request_changed(request.id, word(request.kind), word(request.state))} {request.by}"
        text = f"{text}: {request.why}" if request.why else text
        text, _ = shorten(text, MailLimits().characters - 1_000, self._core.outputs / f"request-{request.id}.txt")
        match effect:
            case RequestEffect.TELL_ASKER:
                sender = {LEAD: LEAD_BOX, USER: USER_BOX}.get(request.by, request.recipient)
                await self._mail(sender, request.asker, MailKind.ANSWER, text, request.key)
            case RequestEffect.TELL_RECIPIENT:
                text = f"{text}. Nothing is left to do."
                await self._mail(request.asker, request.recipient, MailKind.NOTE, text, request.key)
            case RequestEffect.REMIND:
                await self._bring(request, request.recipient)
            case RequestEffect.TELL_LEAD:
                await self._bring(request, LEAD_BOX)
            case RequestEffect.ASK_USER:
                self._ask_user(request)
            case RequestEffect.END_RECIPIENT:
                forced = request.state is RequestState.FORCED
                await self._team.shut_down(request.recipient, request.text, forced=forced)

    async def _bring(self, request: Request, to: Address, *, again: bool = False) -> str:
        """Send a request to whoever may answer it; returns why that was not possible."""
        text = notices.request_text(*_said(request))
        return await self._mail(request.asker, to, MailKind.REQUEST, text, "" if again else request.key)

    async def _mail(self, sender: Address, to: Address, kind: MailKind, text: str, key: str) -> str:
        """Send what a request says; returns why that was not possible."""
        if sender.name == to.name:  # the program speaks for a lead that was asked by itself
            return ""
        if not self._team.there(to):  # a later life of that name was not meant
            return f"{to.name} has ended."
        try:
            sent = await self._team.send(MailDraft(sender, (to.name,), text, kind, key))
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
        settings = self._core.settings
        deadlines = Deadlines(settings.request_deadline_s, settings.shutdown_deadline_s)
        seconds = deadlines.after(request.kind, request.state)
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
        edited = given.plan if message is RequestMessage.AGREE else None
        counts = digest_of(self._core.conversation.masking.text(edited.text)) if edited else ""
        await self._apply(*(request, message, Role.USER, USER, why), digest=request.digest, counts=counts)

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
        if isinstance(event, SessionStarted | MemberStarted):
            for tasks in (self._timers, self._questions):
                for id in [one for one in tasks if one and self.fold.get(one) is None]:
                    tasks.pop(id).cancel()
        if self._earlier and isinstance(event, TurnStarted) and event.prompt:
            earlier, self._earlier = self._earlier, ()
            self._timers[""] = self._begin(self._go_on(earlier), "requests of an earlier run")

    def recall(self, events: Iterable[Event]) -> None:
        """Restore the requests of an earlier run. With the first prompt open ones are sent once more, and ends that a
        crash left unreported are reported."""
        for event in events:
            self.fold.on_event(event)
        self._earlier = (*self.fold.waiting, *self.fold.unreported)

    async def _go_on(self, earlier: Iterable[Request]) -> None:
        await self._team.open()
        for before in earlier:
            request = self.fold.get(before.id)
            if request is None or request.state is not before.state:
                continue  # it has moved in this run, with its effects
            if request.unreported:
                await self._do(request)
            elif request.state is RequestState.WITH_USER:
                self._ask_user(request)
            elif request.waits:
                to = LEAD_BOX if request.state is RequestState.WITH_LEAD else request.recipient
                if not self._team.unread(to, notices.request_head(request.id)):
                    await self._bring(request, to, again=request.state.value in request.reported)
                self._watch(self._known(request.id))

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
