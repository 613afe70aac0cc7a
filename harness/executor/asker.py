"""The person, as the executor sees one: someone who can be asked."""

from typing import Literal, Protocol

from harness.events import LoopAsked, LoopChoice, PermissionAsked, WaitOffered
from harness.permissions import Answer, PermissionRequest

WaitChoice = Literal["wait", "switch", "stop"]


class Asker(Protocol):
    """Answers questions. A front end implements this; a question may be cancelled while it waits."""

    @property
    def present(self) -> bool:
        """Somebody is there to answer."""
        ...

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """May this tool call run?"""
        ...

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """The server wants a long wait: sleep it, use another model, or stop?"""
        ...

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """The agent goes in circles: let it, switch the mechanism off, go back, or stop?"""
        ...


class Nobody:
    """Answers for a program that runs alone: no, and stop."""

    present = False

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """No."""
        return Answer("no", f"nobody is there to ask; {request.tool} can be allowed with --yolo", by="default")

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Stop."""
        return "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Stop."""
        return LoopChoice.STOP
