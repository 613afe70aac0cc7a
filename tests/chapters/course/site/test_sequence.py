"""The map of a run, and the highlighted lines of a step."""

import re
from dataclasses import replace
from types import MappingProxyType
from xml.etree import ElementTree

from chapters.course import CodeExcerpt, LessonStep, LocalizedText, LocatedStep, Moment, WireExchange
from chapters.course.site.chapter_page import marked_lines
from chapters.course.site.sequence import Arrow, Lane, arrows_of, sequence_svg
from harness.events import Event, Notice, TurnStarted


def request(number: int, answer: str, calls: str = "") -> WireExchange:
    return WireExchange(number, "practice-1", 8, 1, 0, answer, "end_turn", "", calls, {}, ())


def moments(*facts: Event | WireExchange) -> list[Moment]:
    return [Moment(number, float(number), fact) for number, fact in enumerate(facts)]


def test_each_fact_is_an_arrow_between_its_participants_and_other_facts_need_a_step() -> None:
    facts = (
        TurnStarted(1, "hi"),
        request(1, "529 overloaded_error"),
        Notice("info", "a"),
        Notice("info", "b"),
        request(2, "200", "bash"),
    )
    assert arrows_of(moments(*facts), {1: 1, 3: 2}) == (
        Arrow(Lane.USER, Lane.AGENT, "hi"),
        Arrow(Lane.AGENT, Lane.MODEL, "1 → 529 overloaded_error", failed=True, returns=True, step=1),
        Arrow(Lane.AGENT, Lane.AGENT, "Notice", step=2),
        Arrow(Lane.AGENT, Lane.MODEL, "2 → bash", returns=True),
    )


def test_the_drawing_is_valid_escaped_and_linked() -> None:
    arrows = (Arrow(Lane.USER, Lane.AGENT, "<b>&\x1b"), Arrow(Lane.AGENT, Lane.TOOLS, "x" * 99, returns=True, step=3))
    drawn = sequence_svg(arrows, "ja", 'a "map"')
    root = ElementTree.fromstring(drawn)
    texts = [text.text for text in root.iter("text")]
    assert "<b>&\\x1b" in texts
    assert "エージェント" in texts
    assert max(len(text or "") for text in texts) == 34
    assert re.findall(r'href="([^"]*)"', drawn) == ["#step-3"]


def test_highlighted_are_lines_that_name_the_event_or_its_values_else_the_definition() -> None:
    code = CodeExcerpt("harness/x.py:f", "harness/x.py", 7, "@cache\ndef f():\n    Kind.RATE_LIMIT\n    rates\n")
    step = LessonStep("FaultOccurred", MappingProxyType({"kind": "rate_limit"}), LocalizedText("", ""), code.place)
    located = LocatedStep(step, Moment(0, 0.0, Notice("info", "")))
    assert marked_lines(code, located) == (9,)
    assert marked_lines(code, replace(located, step=replace(step, where=MappingProxyType({})))) == (8,)
    whole = replace(code, place="harness/x.py", text="import os\n")
    assert marked_lines(whole, located) == ()
