"""The answer to a call that was not run, read: why, and what could be done instead."""

import re
from dataclasses import dataclass

from harness.practice.improviser.turns import Result

_HEAD = re.compile(r"\A(?P<tool>\S+) was not run: (?P<why>.*?)\.?(?:\nWays round\b|\Z)", re.DOTALL)
_WAY = re.compile(r"^\d+\. (?P<tool>[\w.-]+): (?P<method>.*) \(loses: (?P<degradation>.*)\)$", re.MULTILINE)
_BY_HAND = re.compile(r"^\d+\. by hand: (?P<method>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Way:
    """Another tool that may take the place of the one that was not run."""

    tool: str
    method: str
    degradation: str
    """What is lost by it, as the answer says."""


@dataclass(frozen=True, slots=True)
class Skip:
    """What is known of a tool that was not run."""

    result: Result
    tool: str = ""
    why: str = ""
    ways: tuple[Way, ...] = ()
    """Best first, those that go through a tool."""
    by_hand: str = ""


def skip_of(result: Result) -> Skip:
    """What an answer says that is `skipped`; whatever it leaves out stays empty."""
    head = _HEAD.search(result.text)
    by_hand = _BY_HAND.search(result.text)
    return Skip(
        result,
        head["tool"] if head else "",
        " ".join(head["why"].split()) if head else "",
        tuple(Way(way["tool"], way["method"], way["degradation"]) for way in _WAY.finditer(result.text)),
        by_hand["method"] if by_hand else "",
    )
