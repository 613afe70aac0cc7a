"""Learns from the loops of a conversation, and hands on to the next one what was learnt."""

import asyncio

from harness.base.shielded import uninterrupted
from harness.engine.conversation import Conversation
from harness.events import Notice
from harness.policies.loops.experience import Experience, Learner
from harness.policies.loops.ladder import Preferences
from harness.settings.loop_experience_file import ExperienceError, ExperienceFile


class Remembering:
    """What the project has taught, and what this conversation adds to it."""

    def __init__(self, conversation: Conversation, file: ExperienceFile) -> None:
        self._conversation = conversation
        self._file = file
        self._trouble = ""
        try:
            known = file.read()
        except ExperienceError as error:
            known, self._trouble = Experience(), str(error)
        self._learner = Learner(known)
        conversation.observe(self._learner.see)

    @property
    def preferences(self) -> Preferences:
        """Which of two equally mild rungs comes first, by what was learnt."""
        return self._learner.experience.preferences()

    def tell(self) -> None:
        """Say, once, that the file could not be used."""
        if self._trouble:
            self._warn(f"what was learnt about loops is not used: {self._trouble}")
            self._trouble = ""

    async def keep(self) -> None:
        """Write what was learnt since the last time; nothing is written where there is nothing."""
        if not (news := self._learner.take()):
            return
        try:
            aside = await uninterrupted(asyncio.to_thread(self._file.add, news))
        except ExperienceError as error:
            self._warn(f"what was learnt about loops is not kept: {error}")
            return
        if aside is not None:
            self._conversation.emit(Notice("info", f"{self._file.path} begins anew; what stood there is now {aside}"))

    def _warn(self, text: str) -> None:
        self._conversation.emit(Notice("warning", text))
