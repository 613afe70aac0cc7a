"""A prompt with a key of its caller: however often the caller asks, for example because its own step was taken again,
the prompt is run once (docs/headless.md#as-a-step-of-something-bigger).
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256

from harness.base.errors import SettingsError
from harness.events import Event, MessageAdded, Origin, PromptKeyed, TransitionCode, TurnEnded, TurnStarted
from harness.journal import find, read, session_folder
from harness.session import Session
from harness.settings import Settings


@dataclass(slots=True)
class KeyedPrompt:
    """What a journal holds of the prompt with a key: the fold of its events."""

    key: str
    digest: str
    """Of the prompt."""
    submitted: bool = False
    """The history has the prompt."""
    ends: list[TurnEnded] = field(default_factory=list)
    """Of its last turn, and of those that results of background work began, oldest first."""
    _running: bool = False

    def on_event(self, event: Event) -> None:
        """Raises SettingsError where the key belongs to another prompt."""
        match event:
            case PromptKeyed(key=self.key, digest=digest) if digest != self.digest:
                raise SettingsError(f"The key {self.key!r} was given with another prompt before; choose a new one.")
            case PromptKeyed(key=key):
                self._running = key == self.key
                self.ends = [] if self._running else self.ends
            case TurnStarted(prompt=typed) if typed and self.submitted:
                self._running = False
            case MessageAdded(origin=Origin.PROMPT) if self._running:
                self.submitted = True
            case TurnEnded() if self._running:
                self.ends.append(event)

    @property
    def answered(self) -> bool:
        """Its turn has come to an answer, so that nothing is left to run."""
        return bool(self.ends) and self.ends[-1].code is TransitionCode.COMPLETED

    async def turn(self, session: Session, run: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """The turn that is still to run: `run`, or the rest of one that was cut off or failed."""
        session.conversation.emit(PromptKeyed(self.key, self.digest))
        if self.submitted:
            await run.aclose()
            run = session.retry()
        async with aclosing(run) as events:
            async for event in events:
                yield event


def keyed_prompt(settings: Settings, resume: str | None, key: str, prompt: str) -> tuple[KeyedPrompt, str]:
    """What the session holds of the prompt with this key, and the id of the session. Raises HarnessError."""
    if resume is None:
        raise SettingsError("--idempotency-key needs --resume ID, the session that remembers the key.")
    path = find(session_folder(settings.workspace, settings.state_dir), resume)
    found = KeyedPrompt(key, sha256(prompt.encode(errors="surrogatepass")).hexdigest()[:16])
    for record in read(path).records:
        found.on_event(record.event)
    return found, path.stem
