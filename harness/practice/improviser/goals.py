"""What a person may want: one small class for each."""

from dataclasses import dataclass
from enum import Enum


class Aspect(Enum):
    """What is wanted of a file."""

    SHOW = "its text"
    HEADINGS = "its headings"
    SUMMARY = "a summary"
    FIRST = "its first lines"
    LAST = "its last lines"
    LENGTH = "how many lines it has"
    FUNCTIONS = "its functions"
    CLASSES = "its classes"


class Topic(Enum):
    """What can be answered without any tool."""

    GREETING = "hello"
    THANKS = "thank you"
    GOODBYE = "goodbye"
    IDENTITY = "who are you"
    HELP = "what can you do"
    TOOLS = "which tools are there"
    NOT_UNDERSTOOD = "anything else"
    NO_REFERENT = "which file do you mean"


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that a person wants."""

    @property
    def changes(self) -> bool:
        """Whether reaching it writes or runs something, so that the order matters."""
        return False


@dataclass(frozen=True, slots=True)
class Changing(Goal):
    """A goal that writes or runs something."""

    @property
    def changes(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Talk(Goal):
    """An answer in words."""

    topic: Topic


@dataclass(frozen=True, slots=True)
class Calculate(Goal):
    """The value of an arithmetic expression."""

    expression: str


@dataclass(frozen=True, slots=True)
class ListFiles(Goal):
    """What is in a folder."""

    folder: str | None = None


@dataclass(frozen=True, slots=True)
class FindFiles(Goal):
    """The files whose name fits."""

    pattern: str
    folder: str | None = None
    count_only: bool = False


@dataclass(frozen=True, slots=True)
class ReadFile(Goal):
    """A file, or an aspect of it."""

    path: str
    aspect: Aspect = Aspect.SHOW
    lines: int = 10
    """For the first or last lines: how many."""


@dataclass(frozen=True, slots=True)
class SearchText(Goal):
    """Where a word stands."""

    text: str
    folder: str | None = None
    include: str | None = None


@dataclass(frozen=True, slots=True)
class CompareFiles(Goal):
    """How two files differ."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class AboutProject(Goal):
    """What the project in this folder is."""


@dataclass(frozen=True, slots=True)
class CreateFile(Changing):
    """A new file with this content."""

    path: str
    content: str
    replace: bool = False
    """The person said that an old file of this name may be overwritten."""


@dataclass(frozen=True, slots=True)
class SaveReport(Changing):
    """What other goals bring, written to a file."""

    path: str
    goals: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class AppendText(Changing):
    """A text at the end of a file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplaceText(Changing):
    """One text in place of another in a file."""

    path: str
    old: str
    new: str
    setting: bool = False
    """`old` may be the name of a setting and `new` its value: "change timeout to 30"."""


@dataclass(frozen=True, slots=True)
class RunCommand(Changing):
    """A command line."""

    command: str
    background: bool = False


@dataclass(frozen=True, slots=True)
class RunTests(Changing):
    """The project's tests, however it runs them."""

    background: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """Work for one agent."""

    title: str
    prompt: str
    agent: str | None = None
    """An agent that has worked before and is to go on; None: a new one."""
    background: bool = False


@dataclass(frozen=True, slots=True)
class Delegate(Changing):
    """Work for agents, side by side."""

    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class DelegateEach(Changing):
    """The same work for one agent per file, with each file that fits a pattern."""

    pattern: str
    folder: str | None
    prompt: str
    background: bool = False


@dataclass(frozen=True, slots=True)
class ListBackground(Goal):
    """What runs in the background."""


@dataclass(frozen=True, slots=True)
class ShowBackground(Goal):
    """What a command in the background wrote."""

    id: str


@dataclass(frozen=True, slots=True)
class StopBackground(Changing):
    """The end of a command in the background."""

    id: str


@dataclass(frozen=True, slots=True)
class ReadSkill(Goal):
    """A skill, or a list of them."""

    name: str | None = None


@dataclass(frozen=True, slots=True)
class Remember(Changing):
    """A fact to keep for later sessions."""

    fact: str


@dataclass(frozen=True, slots=True)
class AskUser(Goal):
    """A question to the user."""

    question: str
    options: tuple[str, ...] = ()
    """Answers to choose from; empty: free text."""


@dataclass(frozen=True, slots=True)
class Recall(Goal):
    """What is remembered about something, or all of it."""

    about: str | None = None


@dataclass(frozen=True, slots=True)
class Forget(Changing):
    """Something not to be remembered any longer."""

    about: str


@dataclass(frozen=True, slots=True)
class SearchWeb(Goal):
    """What the web says about something."""

    query: str


@dataclass(frozen=True, slots=True)
class FetchPage(Goal):
    """A web page."""

    url: str


@dataclass(frozen=True, slots=True)
class UseTool(Changing):
    """A tool that is not one of the usual ones."""

    name: str
    values: tuple[tuple[str, str], ...] = ()
    """The arguments, each with its name; "" where it has none."""
