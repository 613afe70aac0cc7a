"""Which requests an entry of a script, or its faults at random, are for."""

from dataclasses import dataclass

from harness.events import Json
from harness.practice.requests import Purpose, last_text, purpose, tool_names


@dataclass(frozen=True, slots=True)
class When:
    """Which requests something is for. All that is given must fit."""

    text: str | None = None
    """Must be part of the last user message: of its text, or of its tool results where it has no text."""
    purpose: Purpose | None = None
    model: str | None = None
    """Must be part of the model's name."""
    offers: str | None = None
    """The name of a tool that the request must offer. The agent of a session offers `task`, which its agents lack."""
    lacks: str | None = None
    """The name of a tool that the request must not offer."""

    def fits(self, body: Json) -> bool:
        """Whether it is for this request."""
        return (
            (self.text is None or self.text in last_text(body))
            and (self.purpose is None or self.purpose is purpose(body))
            and (self.model is None or self.model in str(body.get("model")))
            and (self.offers is None or self.offers in tool_names(body))
            and (self.lacks is None or self.lacks not in tool_names(body))
        )
