"""What the learner looks at: which part of the screen is active, and what stands in the one for code."""

from enum import Enum

from harness.ui.lessons.screen.panes import Part

ORDER = (Part.TEXT, Part.CODE, Part.TALK)


class Kind(Enum):
    """What the part for code shows."""

    CODE = "code"
    DIFFERENCE = "difference"
    WIRE = "wire"


class Look:
    """Changes with keys and with the place in the chapter."""

    def __init__(self) -> None:
        self.active = Part.TALK
        """What is scrolled, and what is shown where there is room for one part only."""
        self.reading = True
        """The text alone."""
        self.kind = Kind.CODE
        self.piece = 0
        """Which piece of code; the first is that of the beat."""

    def arrive(self, *, at_beginning: bool) -> None:
        """Another place: its own code, or its own part of the wire; at the beginning there is only text to read."""
        self.reading = at_beginning
        self.piece = 0
        if self.kind is Kind.DIFFERENCE:
            self.kind = Kind.CODE
        if self.active is Part.TEXT:
            self.active = Part.TALK

    def code(self, *, in_sight: bool) -> None:
        """The code of the beat; when it is shown already, the next piece."""
        if in_sight and self.kind is Kind.CODE:
            self.piece += 1
        self.turn_to(Kind.CODE)

    def turn_to(self, kind: Kind) -> None:
        """Show this in the part for code."""
        self.kind, self.active, self.reading = kind, Part.CODE, False

    def read(self) -> None:
        """The text alone, or everything again."""
        self.reading = not self.reading

    def cycle(self, by: int) -> None:
        """Another part is active."""
        self.reading = False
        self.active = ORDER[(ORDER.index(self.active) + by) % len(ORDER)]

    def back(self) -> None:
        """Back to the conversation and the code of the beat."""
        self.kind, self.active, self.reading = Kind.CODE, Part.TALK, False

    @property
    def scrolled(self) -> Part:
        """What keys scroll."""
        return Part.TEXT if self.reading else self.active
