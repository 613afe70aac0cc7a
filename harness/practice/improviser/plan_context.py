"""What every plan is given: the language to speak and the tools to use."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.practice.improviser import phrases as say
from harness.practice.improviser.language import Language
from harness.practice.improviser.phrases import CANCELLED, DENIED, FAILED, MORE, Phrase
from harness.practice.improviser.results import output_of
from harness.practice.improviser.skips import skip_of
from harness.practice.improviser.toolset import Ability, ToolSet, Wish
from harness.practice.improviser.turns import Call, Result

MOST_LISTED = 60
LONGEST_BLOCK = 6_000
"""Characters of a file or an output that a report shows."""
LONGEST_REASON = 600
MARKDOWN = re.compile(r"__|[*<\[]")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a plan is carried out."""

    language: Language
    tools: ToolSet

    def say(self, phrase: Phrase, **values: object) -> str:
        """A phrase in the language of the conversation."""
        return phrase.in_(self.language, **values)

    def trouble(self, result: Result, call: Call) -> str:
        """What is to be said of a call that failed; "" when it did not."""
        if not result.failed:
            return ""
        if result.denied:
            return self.say(DENIED, what=described(call))
        if result.skipped:
            return self._by_hand(result, call)
        if result.cancelled:
            return self.say(CANCELLED, what=described(call))
        return self.say(FAILED, reason=excerpt(output_of(result) or result.text.strip() or described(call)))

    def _by_hand(self, result: Result, call: Call) -> str:
        """What is left to the person where a call was not run and nothing took its place."""
        skip = skip_of(result)
        parts = [self.say(say.NOT_RUN, tool=skip.tool or call.name, why=excerpt(skip.why))]
        if wish := self.tools.wish(call):
            parts.append(self._asked_of_the_person(wish))
        if skip.by_hand:
            parts.append(self.say(say.BY_HAND, method=skip.by_hand))
        return "\n\n".join(parts)

    def _asked_of_the_person(self, wish: Wish) -> str:
        match wish:
            case Wish(Ability.RUN, {"command": command}):
                return f"{self.say(say.PLEASE_RUN)}\n\n{fenced(command)}"
            case Wish(Ability.READ, {"path": path}):
                return self.say(say.PLEASE_PASTE, path=path)
            case Wish(Ability.WRITE, {"path": path, "content": content}):
                return f"{self.say(say.PLEASE_SAVE, path=path)}\n\n{fenced(content)}"
            case Wish(Ability.EDIT, {"path": path, "old": old, "new": new}):
                removed = [f"-{line}" for line in old.split("\n")]
                added = [f"+{line}" for line in new.split("\n")]
                return f"{self.say(say.PLEASE_CHANGE, path=path)}\n\n{fenced(chr(10).join(removed + added))}"
            case Wish(Ability.SEARCH, {"pattern": pattern}):
                return self.say(say.PLEASE_SEARCH, pattern=pattern)
            case _:
                return self.say(say.PLEASE_LIST, pattern=wish.roles.get("pattern") or wish.roles.get("folder", "*"))

    def unreadable(self, result: Result, call: Call) -> str:
        """What is said of a result whose form is not known: it is shown, and nothing is made of it."""
        return f"{self.say(say.UNREADABLE, tool=call.name)}\n\n{fenced(result.text.strip())}"

    def bullets(self, items: Sequence[str], most: int = MOST_LISTED, *, beyond: int = 0) -> str:
        """A list, its end left out where it is very long; `beyond`: how many there are that are not among the items."""
        lines = [f"- {_literal(item)}" for item in items[:most]]
        if more := max(0, len(items) - most) + beyond:
            lines.append(f"- {self.say(MORE, count=more)}")
        return "\n".join(lines)


def _literal(item: str) -> str:
    """An item as it is to be read, where Markdown would take a part of it for emphasis, a tag or a link."""
    return f"`{item}`" if MARKDOWN.search(item) and "`" not in item and "\n" not in item else item


def described(call: Call) -> str:
    """A call in a few words: the tool and its first argument."""
    first = next((value for value in call.input.values() if isinstance(value, str)), "")
    line = first.strip().splitlines()[0] if first.strip() else ""
    return f"{call.name} {line[:80]}".strip()


def excerpt(text: str, most: int = LONGEST_REASON) -> str:
    """The beginning of a text."""
    return text if len(text) <= most else f"{text[:most].rstrip()} …"


def fenced(text: str, most: int = LONGEST_BLOCK) -> str:
    """Text as a code block, head and tail where it is very long."""
    shown = text if len(text) <= most else f"{text[: most // 2].rstrip()}\n…\n{text[-most // 2 :].lstrip()}"
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{fence}\n{shown}\n{fence}"
